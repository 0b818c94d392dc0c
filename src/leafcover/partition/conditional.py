"""Cells for a column given others: the leaves of binary trees that also place rows which are released so far."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from leafcover.cells import Cells
from leafcover.errors import PlanError, ValueOutOfRange
from leafcover.partition.base import Partition, PartitionMethod, column_names, methods, partition
from leafcover.partition.leaves import MOST_ROWS
from leafcover.table.table import Column, Table
from leafcover.tree.binary import NUMBER_GROUPS, stages_of
from leafcover.tree.histogram import Binned, bin_columns
from leafcover.tree.tree import Attribute

PRICE = 0.6  # of a split; 1 is the full cost of choosing it and of fitting its two sides by chance
MOST_GROUPS = 15


@partition("conditional")
@dataclass(frozen=True)
class Conditional(PartitionMethod):
    """The leaves of trees that predict ``of`` from ``given`` alone, each split worth its price.

    The trees are grown from the original and place released rows by their released values, so the columns ``given``
    must be released before. A number is predicted as one of a few groups of neighbouring values, then, inside each
    group, as one of its parts.

    Parameters
    ----------
    of : str
        The column to predict.
    given : str or sequence of str
        The columns that may be tested. A category with more than 1,000 levels is never tested.
    min_cell : int, default 50
        The minimum number of rows in a leaf.
    price : float, default 0.6
        The gain of a split, in bits, must exceed this many times its cost: the bits to choose the split, and what
        fitting both sides gains by chance. 0 splits wherever anything is gained; larger values protect more.
    groups : int, default 8
        The number of groups of a number, and of parts of each group. A category is first predicted as one of twice as
        many levels, the last of which stands for all rarer ones.
    bins : int, optional
        For a numeric target: predict this many groups of about equal size instead.

    Examples
    --------
    >>> import leafcover as lc
    >>> table = lc.read(lc.sample("cps1985"))
    >>> cells = lc.Conditional(of="occupation", given=["education", "gender"], min_cell=40).cells(table).cells
    >>> cells.count, int(cells.sizes.min())
    (7, 40)
    """

    frozen_id: ClassVar[str] = "conditional"
    places_released: ClassVar[bool] = True
    of: str
    given: tuple[str, ...]
    min_cell: int = 50
    price: float = PRICE
    groups: int = NUMBER_GROUPS
    bins: int | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "given", column_names("Conditional.given", self.given))
        if self.of in self.given:
            raise PlanError(f"Conditional.given names {self.of!r}, the column to predict. Leave it out.")
        if not 1 <= self.min_cell <= MOST_ROWS:
            raise ValueOutOfRange("Conditional.min_cell", self.min_cell, f"a whole number from 1 to {MOST_ROWS:,}")
        if not 0 <= self.price <= 1000:
            raise ValueOutOfRange("Conditional.price", self.price, "a number from 0 to 1000")
        if not 2 <= self.groups <= MOST_GROUPS:
            raise ValueOutOfRange("Conditional.groups", self.groups, f"a whole number from 2 to {MOST_GROUPS}")

    def describe(self, *, own: str | None = None) -> str:
        """Which rows share a cell."""
        return methods()("conditional-own" if self.of == own else "conditional", of=self.of, rows=self.min_cell)

    @property
    def min_rows(self) -> int:
        """The minimum number of rows, from the parameters."""
        return self.min_cell

    @property
    def tree_target(self) -> str:
        """The column to predict."""
        return self.of

    @property
    def tree_bins(self) -> int | None:
        """The number of classes of a numeric target, from the parameters."""
        return self.bins

    @property
    def needs(self) -> tuple[str, ...]:
        """The column to predict and those that may be tested."""
        return (self.of, *self.given)

    @property
    def needs_released(self) -> tuple[str, ...]:
        """The columns that must be released before."""
        return self.given

    def cells(self, table: Table) -> Partition:
        """Grow the trees."""
        return self.grown(table[self.of], bin_given([table[name] for name in self.given]))

    def grown(self, column: Column, binned: Binned) -> Partition:
        """Grow the trees from columns that are already binned."""
        stages = stages_of(
            column, binned, given=self.given, floor=self.min_cell, price=self.price, groups=self.groups, bins=self.bins
        )
        leaf = stages[0].leaf
        label = np.unique(leaf, return_inverse=True)[1].ravel().astype(np.int64)
        one = f"A tree with leaves of at least {self.min_cell} rows cannot split: all {len(column)} rows form one cell."
        notes = (one,) if len(column) < 2 * self.min_cell else ()
        return Partition(Cells(label, int(label.max(initial=-1)) + 1), notes=notes, stages=stages)


MOST_LEVELS = 1000  # of a category that is tested


def bin_given(columns: Sequence[Column]) -> Binned:
    """Bin the columns that may be tested; categories with too many levels are left out."""
    tested = [c for c in columns if not c.is_category or len(c.levels) <= MOST_LEVELS]
    return bin_columns([Attribute(c.name, c.levels, not c.is_category) for c in tested], [c.values for c in tested])
