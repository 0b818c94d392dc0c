"""Whether groups are as large as was asked: a table with fewer rows than that is one group, and that is said."""

from collections.abc import Mapping

from leafcover.releasing.plan import Plan
from leafcover.split.forest import Forest
from leafcover.split.groups import InOrder, Mdav, VariableMdav
from leafcover.split.kmeans import KMeans
from leafcover.split.partition import Partition, Split
from leafcover.split.refine import Refine
from leafcover.split.trees import Leaves

FEWEST = 5  # a smaller count is not published


def not_reached(plan: Plan, partitions: Mapping[Split, Partition], *, published: bool = False) -> tuple[str, ...]:
    """One sentence for every size that was asked for and that the smallest group has not, or that only all rows have.

    In what is ``published`` a count under five is not told.
    """
    name = "k" if plan.recipe == "cover" else "min_cell"
    said = []
    for split in dict.fromkeys(step.within for step in plan.steps):
        start = split.start if isinstance(split, Refine) else split
        sizes = partitions[split].cells.sizes
        smallest = int(sizes.min())
        if isinstance(start, Leaves | Forest) and smallest < start.min_cell:
            few = f"fewer than {FEWEST}" if published and smallest < FEWEST else str(smallest)
            rows = "1 row" if few == "1" else f"{few} rows"
            all_of_it = ", the whole table" if len(sizes) == 1 else ""
            said.append(f"{name} = {start.min_cell:,} was asked for; the smallest group has {rows}{all_of_it}.")
        if isinstance(split, Mdav | VariableMdav | InOrder | KMeans) and len(sizes) == 1 < split.k:
            said.append(f"All rows are one group of k = {split.k:,}: every average is the column's own.")
    return tuple(dict.fromkeys(said))
