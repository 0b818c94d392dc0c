"""The base class of partitions, their registry, and how much of its domain a cell allows each column."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from math import nan
from typing import ClassVar, TypeGuard, TypeVar

import numpy as np

from leafcover.arrays import Floats
from leafcover.cells import Cells, LevelSet, Range
from leafcover.errors import PlanError
from leafcover.messages import Catalogue, catalogue
from leafcover.registry import Registry
from leafcover.table.table import Column, Table
from leafcover.tree.binary import Stage
from leafcover.tree.tree import Tree


@dataclass(frozen=True, eq=False)
class Partition:
    """The cells of a table, the trees whose leaves they preserve, and messages for the user."""

    cells: Cells
    trees: tuple[Tree, ...] = ()
    notes: tuple[str, ...] = ()
    stages: tuple[Stage, ...] = ()  # trees that place released rows


class PartitionMethod(ABC):
    """A way to group the rows of a table into cells. Two equal methods give the same table the same cells.

    A subclass is a frozen dataclass whose fields are its parameters. It must define `needs` and `cells`; everything
    else has a default. Register it with `partition`, and plan files, recipes and reports can use it.
    """

    frozen_id: ClassVar[str]  # identifies the class when draws are derived; never changes, even if the class is renamed
    places_released: ClassVar[bool] = False  # whether rows that are released so far can be placed in the cells
    groups_similar: ClassVar[bool] = False  # whether cells are groups of similar rows, as in microaggregation

    @property
    @abstractmethod
    def needs(self) -> tuple[str, ...]:
        """The columns that must exist."""

    @abstractmethod
    def cells(self, table: Table) -> Partition:
        """The cells of a table, computed from the original values only."""

    def describe(self, *, own: str | None = None) -> str:
        """Which rows share a cell, as the end of a sentence; the tree for column ``own`` is called its own tree."""
        return f"the cells of {PARTITIONS.name_of(type(self)) or type(self).__name__}"

    @property
    def min_rows(self) -> int:
        """The minimum number of rows in a cell."""
        return 1

    @property
    def tree_target(self) -> str | None:
        """The target of the tree or forest whose leaves the cells start from."""
        return None

    @property
    def tree_bins(self) -> int | None:
        """The number of classes that tree divides a numeric target into."""
        return None

    @property
    def needs_released(self) -> tuple[str, ...]:
        """The columns that must be released before, or stay unchanged, so that released rows can be placed."""
        return ()

    @property
    def refined_by(self) -> tuple[str, ...]:
        """The columns for which cells were refined."""
        return ()


PARTITIONS: Registry[type[PartitionMethod]] = Registry(
    "partition",
    "leafcover.partition.leaves",
    "leafcover.partition.forest",
    "leafcover.partition.forest",
    "leafcover.partition.kd_tree",
    "leafcover.partition.microaggregation",
    "leafcover.partition.leaves",
)

Method = TypeVar("Method", bound=type[PartitionMethod])


def partition(name: str) -> Callable[[Method], Method]:
    """Register a partition under the name that plan files use."""
    return PARTITIONS.class_decorator(name)


def is_partition(value: object) -> TypeGuard[PartitionMethod]:
    """Whether something is a way to group rows."""
    return isinstance(value, PartitionMethod)


def methods() -> Catalogue:
    """The catalogue of sentences that describe methods."""
    return catalogue("methods")


def column_names(what: str, names: str | Iterable[str]) -> tuple[str, ...]:
    """One or more column names as a tuple.

    >>> column_names("Kd.by", "age"), column_names("Kd.by", ["age", "pay"])
    (('age',), ('age', 'pay'))
    """
    found = (names,) if isinstance(names, str) else tuple(names)
    if not found:
        raise PlanError(f"{what} must name at least one column. Got none.")
    return found


# How much of its domain the box of a cell allows each value.


@dataclass(frozen=True)
class AllowedRange:
    """The allowed range of a column: 1 if every value may become any other, near 0 if values are nearly fixed."""

    column: str
    width: float  # allowed share of the column's domain, mean over known values; nan if no value is known


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
    """The ends of each cell's allowed range. On a grid the low end is one point below, because it is exclusive."""
    bottom, top = column.domain
    low, high = np.clip(side.low, bottom, top), np.clip(side.high, bottom, top)
    if column.grid is not None:
        first, last = (float(end) for end in column.grid.index(np.array([bottom, top])))
        lowest = np.where(side.low < bottom, first - 1, column.grid.index(low))
        return np.asarray((column.grid.index(high) - lowest) / (last - first + 1))
    if top <= bottom:
        return np.ones(len(low))
    return np.asarray((high / 2 - low / 2) / (top / 2 - bottom / 2))  # halved first: 1e308 - (-1e308) overflows


def _mean(widths: Floats) -> float:
    return float(widths.mean()) if len(widths) else nan
