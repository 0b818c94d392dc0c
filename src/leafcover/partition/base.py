"""The base class of partitions, their registry, and how much of its domain a cell allows each column."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from math import nan
from typing import Any, ClassVar, TypeGuard, TypeVar

import numpy as np

from leafcover.arrays import Floats
from leafcover.cells import Cells, LevelSet, Range
from leafcover.errors import NameUnknown, PlanError
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

    def plot(self, table: Table, x: str, y: str, *, size: str | None = None) -> Any:
        """Draw rows as points and the boxes of cells as rectangles, by two numbers.

        Boxes by further columns overlap; cells without boxes, such as groups, show as colours alone.

        Parameters
        ----------
        table : Table
            The table whose cells these are.
        x, y : str
            The numbers along the axes.
        size : str, optional
            A number that the size of a point shows.

        Returns
        -------
        matplotlib.figure.Figure
            Save it with ``savefig``.

        Examples
        --------
        >>> import leafcover as lc
        >>> table = lc.read(lc.sample("cps1985")).take(np.arange(30))
        >>> cells = lc.Kd(["age", "wage"], leaf_max=10).cells(table)
        >>> figure = cells.plot(table, "age", "wage", size="education")
        >>> len(figure.axes[0].patches) == cells.cells.count
        True
        """
        return draw_cells(table, self.cells, x, y, size)


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

MARGIN = 0.05  # of a column's range, around a drawing

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


# A picture of cells by two columns.


def draw_cells(table: Table, cells: Cells, x: str, y: str, size: str | None) -> Any:
    """Points of rows, coloured by cell, and rectangles of boxes."""
    try:
        from matplotlib.figure import Figure
        from matplotlib.patches import Rectangle
    except ImportError:
        raise PlanError("A plot needs the package matplotlib. Install leafcover[report].") from None
    for name in (x, y, *((size,) if size else ())):
        if name not in table.names:
            raise NameUnknown("column", name, table.names, "to plot")
        if table[name].is_category:
            raise PlanError(f"A plot of cells needs numbers, but column {name!r} is a category. Name another one.")
    panel = Figure(figsize=(6, 4.5)).add_subplot()
    areas = 40 + 260 * _share_of_range(table[size]) if size else 40
    panel.scatter(table[x].values, table[y].values, s=areas, c=cells.label % 10, cmap="tab10", vmax=9, alpha=0.7)
    sides = [_drawn_side(table[name], cells) for name in (x, y)]
    if set(cells.box) & {x, y}:
        for cell in range(cells.count):
            (left, right), (bottom, top) = ((low[cell], high[cell]) for low, high in sides)
            panel.add_patch(Rectangle((left, bottom), right - left, top - bottom, fill=False, linewidth=0.8))
    panel.set_xlabel(x)
    panel.set_ylabel(y)
    return panel.figure


def _share_of_range(column: Column) -> Floats:
    low, high = column.domain
    return np.nan_to_num((column.values / 2 - low / 2) / max(high / 2 - low / 2, 1e-300))


def _drawn_side(column: Column, cells: Cells) -> tuple[Floats, Floats]:
    """The ends of each cell's box; where it is open, a little outside the values."""
    low, high = column.domain
    low, high = low - MARGIN * (high - low), high + MARGIN * (high - low)
    side = cells.box.get(column.name)
    if not isinstance(side, Range):
        return np.full(cells.count, low), np.full(cells.count, high)
    return np.clip(side.low, low, high), np.clip(side.high, low, high)
