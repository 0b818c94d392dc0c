"""``cover``, our own recipe: cells refined for many columns, blocks of columns shuffled inside them.

Each value is hidden among at least k rows that obey the same rule; every marginal and every count of every cell stays
exact; no impossible pair is made inside a block.
"""

from collections.abc import Sequence
from typing import Literal

import numpy as np

from leafcover.cells import Cells
from leafcover.errors import NameUnknown, PlanError, ValueOutOfRange
from leafcover.noise.shuffle import Shuffle
from leafcover.releasing.blocks import blocks as found_blocks
from leafcover.releasing.plan import Plan, Step, recipe_called
from leafcover.split.forest import Forest
from leafcover.split.partition import Partition, Split
from leafcover.split.refine import Refine
from leafcover.split.trees import Leaves
from leafcover.table.table import Table, as_table, column_name

MOST_K = 1_000_000
LARGE = 5_000  # rows from which a table can afford the larger k
LEAST_EXPLAINED = 0.01  # share of a column's entropy inside the leaves that its own tree must explain
SAMPLE = 20_000  # rows on which that is tried


@recipe_called("cover")
def cover(
    table: Table,
    *,
    target: str,
    k: int | None = None,
    within: Literal["tree", "forest"] = "tree",
    n_trees: int | None = None,
    blocks: str | None = None,
    refine: str | None = None,
    bins: int | None = None,
    made: dict[Split, Partition] | None = None,
) -> Plan:
    """Cells of the target's tree, refined for other columns, never below k rows; every block shuffled on its own.

    k is 20, or 10 below 5,000 rows. With ``within=forest`` cells begin where the leaves of ``n_trees`` SysFor trees for
    the target meet (60 if not given), instead of with the leaves of one tree: more of its rules are kept, and less is
    left to refine for other columns. ``blocks`` ("a+b,c+d") and ``refine`` ("a,b", or "none") override what is found.
    Cells made on the way are put into ``made``, so that a run need not make them again.
    """
    table, target = as_table(table), column_name("target", target)
    k = (20 if len(table) >= LARGE else 10) if k is None else k
    if not 2 <= k <= MOST_K:
        raise ValueOutOfRange("cover's k", k, f"a whole number of rows from 2 to {MOST_K:,}")
    made = {} if made is None else made
    # Tests that leave 2k rows, cells of 2k to 4k: with k the nearest released row was one's own twice as often.
    leaves = _leaves(target, within, n_trees, k, bins)
    made[leaves] = leaves.cells(table)
    by = _chosen(table, made[leaves].cells, 2 * k) if refine is None else _named(refine, table)
    cells: Leaves | Forest | Refine = leaves
    if by:
        cells = Refine(leaves, by=by, floor=2 * k)
        made[cells] = cells.refined(table, made[leaves])
    names = [n for n in table.names if table.roles.get(n) not in ("unchanged", "unit", "identifier")]
    free = [n for n in names if n != target]
    together = found_blocks(table, free, made[cells].cells, k=k) if blocks is None else _blocks(blocks, free, table)
    if target in names:
        together.append((target,))
    noise = Shuffle(missing="moves")
    return Plan(*(Step(block, within=cells, noise=noise) for block in together))


def _leaves(
    target: str, within: Literal["tree", "forest"], n_trees: int | None, k: int, bins: int | None
) -> Leaves | Forest:
    """The cells to begin with: no test may leave fewer than 2k rows in its branches."""
    if within == "forest":
        return Forest(of=target, n_trees=n_trees or 60, min_cell=k, min_records=max(2 * k, 10), bins=bins)
    if n_trees is not None:
        raise PlanError("n_trees is a setting of within=forest, but within is tree. Leave one out.")
    return Leaves(of=target, min_cell=k, min_records=2 * k, bins=bins)


def _chosen(table: Table, cells: Cells, floor: int) -> tuple[str, ...]:
    """The columns whose own trees explain something of them inside the target's leaves."""
    from leafcover.tree.joint import explained

    every = max(1, -(-len(table) // SAMPLE))
    rows = np.arange(0, len(table), every)
    columns = [c for c in table if table.roles.get(c.name) != "unit"]
    shares = explained([c.take(rows) for c in columns], cells.label[rows], cells.count, floor=floor)
    return tuple(c.name for c, share in zip(columns, shares, strict=True) if share >= LEAST_EXPLAINED)


def _named(text: str, table: Table) -> tuple[str, ...]:
    names = [] if text.strip().lower() == "none" else [name.strip() for name in text.split(",") if name.strip()]
    for name in names:
        if name not in table.names:
            raise NameUnknown("column", name, table.names, "to refine for")
    return tuple(names)


def _blocks(text: str, free: Sequence[str], table: Table) -> list[tuple[str, ...]]:
    """Blocks as the user wrote them; every other column alone."""
    written = [] if text.strip().lower() == "none" else [block.split("+") for block in text.split(",")]
    found = [tuple(name.strip() for name in block if name.strip()) for block in written]
    taken: set[str] = set()
    for name in (name for block in found for name in block):
        if name not in table.names:
            raise NameUnknown("column", name, table.names, "for a block")
        if name not in free:
            raise PlanError(f"Column {name!r} cannot stand in a block: it is the target or stays unchanged.")
        if name in taken:
            raise PlanError(f"Column {name!r} stands in two blocks. Name it once.")
        taken.add(name)
    return [block for block in found if block] + [(name,) for name in free if name not in taken]
