"""Refined cells: one more tree inside each cell, grown for several columns at once, down to a minimum size.

The boxes of the outer cells still apply, so rows keep the leaves of the outer tree. Associations between the other
columns are preserved as far as the minimum size permits.
"""

from dataclasses import dataclass
from typing import ClassVar

from leafcover.cells import refine_cells
from leafcover.errors import ValueOutOfRange
from leafcover.partition.base import Partition, PartitionMethod, column_names, methods, partition
from leafcover.partition.forest import Forest
from leafcover.partition.leaves import MOST_ROWS, Leaves, Whole
from leafcover.table.table import Table
from leafcover.tree.joint import refine_jointly


@partition("refine")
@dataclass(frozen=True)
class Refine(PartitionMethod):
    """The cells of ``start``, each divided further by a tree for the columns ``by``, no part below ``floor`` rows.

    Parameters
    ----------
    start : Leaves, Forest or Whole
        The cells to divide. Rows keep the leaves that these cells preserve.
    by : str or sequence of str
        The columns whose associations the smaller cells preserve.
    floor : int, default 40
        The minimum number of rows in a part. A cell of fewer than twice as many rows is not divided.

    Examples
    --------
    >>> import leafcover as lc
    >>> table = lc.read(lc.sample("cps1985"))
    >>> leaves = lc.Leaves(of="occupation", min_cell=40)
    >>> finer = lc.Refine(leaves, by=["age", "wage", "occupation"], floor=40)
    >>> leaves.cells(table).cells.count < finer.cells(table).cells.count
    True
    """

    frozen_id: ClassVar[str] = "refine"
    start: Leaves | Forest | Whole
    by: tuple[str, ...]
    floor: int = 40

    def __post_init__(self) -> None:
        object.__setattr__(self, "by", column_names("Refine.by", self.by))
        if not 2 <= self.floor <= MOST_ROWS:
            raise ValueOutOfRange("Refine.floor", self.floor, f"a whole number of rows from 2 to {MOST_ROWS:,}")

    def describe(self, *, own: str | None = None) -> str:
        """Which rows share a cell."""
        start = self.start.describe(own=own)
        return methods()("refine", start=start, columns=len(self.by), rows=self.floor)

    @property
    def min_rows(self) -> int:
        """The same as for the outer cells."""
        return self.start.min_rows

    @property
    def tree_target(self) -> str | None:
        """The same as for the outer cells."""
        return self.start.tree_target

    @property
    def tree_bins(self) -> int | None:
        """The same as for the outer cells."""
        return self.start.tree_bins

    @property
    def refined_by(self) -> tuple[str, ...]:
        """The columns refined for, from the parameters."""
        return self.by

    @property
    def needs(self) -> tuple[str, ...]:
        """The columns of the outer cells and those refined for."""
        return (*self.start.needs, *self.by)

    def cells(self, table: Table) -> Partition:
        """Compute the outer cells and refine them."""
        return self.refined(table, self.start.cells(table))

    def refined(self, table: Table, outer: Partition) -> Partition:
        """Refine outer cells that are already computed."""
        columns = [table[name] for name in self.by]
        found = refine_jointly(columns, outer.cells.label, outer.cells.count, floor=self.floor)
        return Partition(refine_cells(outer.cells, found.label, found.count), outer.trees, outer.notes)
