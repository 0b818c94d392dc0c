"""What a split makes of a table: its cells, and the trees they come from."""

from dataclasses import dataclass
from typing import Protocol

from leafcover.cells import Cells
from leafcover.table.table import Table
from leafcover.tree.tree import Tree


@dataclass(frozen=True, eq=False)
class Partition:
    """Cells of a table, the trees whose leaves they keep, and what to tell the user about them."""

    cells: Cells
    trees: tuple[Tree, ...] = ()
    notes: tuple[str, ...] = ()


class Split(Protocol):
    """A way to make cells; two equal splits of one table are the same cells."""

    @property
    def needs(self) -> tuple[str, ...]:
        """The columns that must exist."""

    def cells(self, table: Table) -> Partition:
        """The cells of a table, from the original values alone."""
