"""Cells from a forest: where the leaves of all its trees meet (the Forest Framework, paper 002)."""

from dataclasses import dataclass, replace
from typing import ClassVar

from leafcover.errors import ValueOutOfRange
from leafcover.split.meeting import meeting
from leafcover.split.partition import Partition
from leafcover.split.trees import MOST_ROWS
from leafcover.table.table import Table
from leafcover.tree.sysfor import check_settings, grow_forest
from leafcover.tree.training import classes_of


@dataclass(frozen=True)
class Forest:
    """The cells where the leaves of a SysFor forest for ``of`` meet, none smaller than ``min_cell`` rows.

    With ``min_cell`` 1 every row keeps its leaf of every tree, but most stand alone as the trees grow many. A larger
    one trades rules for protection: small cells are pooled, and their rows may change their leaf of some trees. The
    other parameters are those of the forest.
    """

    frozen_id: ClassVar[str] = "forest"
    of: str
    n_trees: int = 60
    min_cell: int = 5
    goodness: float = 0.3
    separation: float = 0.3
    min_records: int = 10
    confidence: float = 0.25
    bins: int | None = None

    def __post_init__(self) -> None:
        check_settings(self.n_trees, self.goodness, self.separation, self.min_records, self.confidence)
        if not isinstance(self.min_cell, int) or not 1 <= self.min_cell <= MOST_ROWS:
            raise ValueOutOfRange("min_cell", self.min_cell, f"a whole number of rows from 1 to {MOST_ROWS:,}")

    @property
    def needs(self) -> tuple[str, ...]:
        """The target."""
        return (self.of,)

    def refine(self, min_size: int) -> "Forest":
        """The same forest with cells of at least so many rows: fewer rules kept, more protection.

        >>> Forest(of="income").refine(20).min_cell
        20
        """
        return replace(self, min_cell=min_size)

    def cells(self, table: Table) -> Partition:
        """Grow the forest and let its leaves meet."""
        trees = grow_forest(
            table,
            target=self.of,
            n_trees=self.n_trees,
            goodness=self.goodness,
            separation=self.separation,
            min_records=self.min_records,
            confidence=self.confidence,
            bins=self.bins,
        )
        found = meeting(table, trees, min_cell=self.min_cell, classes=classes_of(table[self.of], bins=self.bins)[1])
        few = f"The forest for {self.of!r} has {len(trees)} of {self.n_trees} trees: there are no more good tests."
        notes = found.notes if len(trees) == self.n_trees else (few, *found.notes)
        return Partition(found.cells, found.trees, notes)
