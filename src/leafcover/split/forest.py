"""Cells from a forest: where the leaves of all its trees meet (the Forest Framework, paper 002)."""

from dataclasses import dataclass, replace

from leafcover.errors import ValueOutOfRange
from leafcover.split.meeting import meeting
from leafcover.split.partition import Partition
from leafcover.split.trees import MOST_ROWS
from leafcover.table.table import Table
from leafcover.tree.sysfor import grow_forest
from leafcover.tree.training import classes_of

MOST_TREES = 1000


@dataclass(frozen=True)
class Forest:
    """The cells where the leaves of a SysFor forest for ``of`` meet, none smaller than ``min_cell`` rows.

    With ``min_cell`` 1 every row keeps its leaf of every tree, but most stand alone as the trees grow many. A larger
    one trades rules for protection: small cells are pooled, and their rows may change their leaf of some trees. The
    other parameters are those of the forest.
    """

    of: str
    n_trees: int = 60
    min_cell: int = 5
    goodness: float = 0.3
    separation: float = 0.3
    min_records: int = 10
    confidence: float = 0.25
    bins: int | None = None

    def __post_init__(self) -> None:
        if not 1 <= self.n_trees <= MOST_TREES:
            raise ValueOutOfRange("Forest.n_trees", self.n_trees, f"a whole number of trees from 1 to {MOST_TREES:,}")
        for name, rows in (("min_cell", self.min_cell), ("min_records", self.min_records)):
            if not 1 <= rows <= MOST_ROWS:
                raise ValueOutOfRange(f"Forest.{name}", rows, f"a whole number of rows from 1 to {MOST_ROWS:,}")
        if not 0 <= self.goodness <= 1:
            raise ValueOutOfRange("Forest.goodness", self.goodness, "a difference of gain ratios from 0 to 1")
        if not 0 <= self.separation <= 1:
            raise ValueOutOfRange("Forest.separation", self.separation, "a share of a number's range from 0 to 1")
        if not 0 < self.confidence <= 1:
            raise ValueOutOfRange("Forest.confidence", self.confidence, "above 0 and at most 1")

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
