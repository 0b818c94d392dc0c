"""What a partition is: the cells and trees it gives, what it declares, and the registry of all of them."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from math import nan
from typing import ClassVar, TypeVar

import numpy as np

from leafcover.arrays import Floats
from leafcover.cells import Cells, LevelSet, Range
from leafcover.errors import PlanError
from leafcover.messages import Catalogue, catalogue
from leafcover.registry import Registry
from leafcover.table.table import Column, Table
from leafcover.tree.tree import Tree


@dataclass(frozen=True, eq=False)
class Partition:
    """Cells of a table, the trees whose leaves they keep, and what to tell the user about them."""

    cells: Cells
    trees: tuple[Tree, ...] = ()
    notes: tuple[str, ...] = ()


class PartitionMethod(ABC):
    """A way to group the rows of a table into cells; two equal methods give one table the same cells.

    A subclass is a frozen dataclass whose fields are its parameters. It must define `needs` and `cells`; everything
    else has a default. Register it with `partition`, and plan files, recipes and reports can use it.
    """

    frozen_id: ClassVar[str]  # stands for the class in the derivation of draws: never changes, even if the name does
    groups_similar: ClassVar[bool] = False  # whether cells are groups of similar rows, as in microaggregation

    @property
    @abstractmethod
    def needs(self) -> tuple[str, ...]:
        """The columns that must exist."""

    @abstractmethod
    def cells(self, table: Table) -> Partition:
        """The cells of a table, from the original values alone."""

    def describe(self, *, own: str | None = None) -> str:
        """Which rows share a cell, as the end of a sentence; the tree for column ``own`` is called its own tree."""
        return f"the cells of {PARTITIONS.name_of(type(self)) or type(self).__name__}"

    @property
    def min_rows(self) -> int:
        """The fewest rows a cell should have."""
        return 1

    @property
    def tree_target(self) -> str | None:
        """The column whose tree, or forest, has the leaves that cells start from."""
        return None

    @property
    def tree_bins(self) -> int | None:
        """Into how many classes that tree puts a number."""
        return None

    @property
    def refined_by(self) -> tuple[str, ...]:
        """The columns for which cells were split further."""
        return ()


PARTITIONS: Registry[type[PartitionMethod]] = Registry(
    "partition",
    "leafcover.partition.leaves",
    "leafcover.partition.forest",
    "leafcover.partition.refine",
    "leafcover.partition.microaggregation",
)

Method = TypeVar("Method", bound=type[PartitionMethod])


def partition(name: str) -> Callable[[Method], Method]:
    """Register a partition under the name that plan files use."""

    def register(method: Method) -> Method:
        PARTITIONS.register(name, method)
        return method

    return register


def methods() -> Catalogue:
    """The sentences that describe methods."""
    return catalogue("methods")


def column_names(what: str, names: str | Iterable[str]) -> tuple[str, ...]:
    """One column, or several, by name; at least one.

    >>> column_names("Kd.by", "age"), column_names("Kd.by", ["age", "pay"])
    (('age',), ('age', 'pay'))
    """
    found = (names,) if isinstance(names, str) else tuple(names)
    if not found:
        raise PlanError(f"{what} must name at least one column. Got none.")
    return found


# How much room the boxes of cells leave the values of a table.


@dataclass(frozen=True)
class AllowedRange:
    """The room of a column: 1 when every value may become any other, near 0 when hardly anything is left."""

    column: str
    width: float  # what its box allows of a column's domain, as a mean over known values; nan when none is known


def allowed_ranges(table: Table, cells: Cells) -> tuple[AllowedRange, ...]:
    """The mean width of the allowed range of each column, relative to its domain.

    A number's range is measured by its length, on a grid by its points; a category's by the levels that occur.
    """
    return tuple(AllowedRange(c.name, _mean(_widths(c, cells))) for c in table)


def _widths(column: Column, cells: Cells) -> Floats:
    known = np.flatnonzero(~column.missing)
    side, label = cells.box.get(column.name), cells.label[known]
    if isinstance(side, LevelSet):
        occurring = np.unique(column.values[known])
        shares: Floats = side.sets[:, occurring].mean(axis=1)
        return shares[side.which[label]]
    if isinstance(side, Range) and len(known):
        return _lengths(side, column)[label]
    return np.ones(len(known))


def _lengths(side: Range, column: Column) -> Floats:
    """Per cell; on a grid the low end is one point below, since it is exclusive."""
    bottom, top = column.domain
    low, high = np.clip(side.low, bottom, top), np.clip(side.high, bottom, top)
    if column.grid is not None:
        first, last = (float(end) for end in column.grid.index(np.array([bottom, top])))
        lowest = np.where(side.low < bottom, first - 1, column.grid.index(low))
        return np.asarray((column.grid.index(high) - lowest) / (last - first + 1))
    if top <= bottom:
        return np.ones(len(low))
    return np.asarray((high / 2 - low / 2) / (top / 2 - bottom / 2))  # halves: 1e308 less -1e308 is too much


def _mean(widths: Floats) -> float:
    return float(widths.mean()) if len(widths) else nan
