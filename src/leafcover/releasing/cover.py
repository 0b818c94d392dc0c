"""``cover``, our own recipe: cells refined for many columns, blocks of columns shuffled inside them."""

from leafcover.noise.shuffle import Shuffle
from leafcover.releasing.plan import Plan, Step
from leafcover.split.refine import Refine
from leafcover.split.trees import Leaves
from leafcover.table.table import Table


def cover(
    table: Table,
    *,
    target: str,
    k: int | None = None,
    blocks: str | None = None,
    refine: str | None = None,
    bins: int | None = None,
) -> Plan:
    """Cells of the target's tree refined for other columns, never below k rows; every block shuffled on its own."""
    k = k or (20 if len(table) >= 5000 else 10)
    by = tuple(n for n in table.names if n != target)
    within = Refine(Leaves(of=target, min_cell=k, bins=bins), by=by, floor=k)
    return Plan(
        *(Step(n, within=within, noise=Shuffle(missing="moves")) for n in table.names), recipe="cover", target=target
    )
