"""Partitions into groups of similar rows, for microaggregation: strata, kd cells, halves, MDAV, V-MDAV, order, k-means.

With ``start`` the groups are formed inside the cells of another partition, such as strata or the cells of a kd tree. A
table (or a stratum) of fewer than 2k rows is one group.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Literal, TypeAlias

import numpy as np

from leafcover.arrays import MISSING, Floats, Rows
from leafcover.cells import Cells, intersect_labels, refine_cells
from leafcover.errors import PlanError, ValueOutOfRange
from leafcover.partition.base import Partition, PartitionMethod, column_names, methods, partition
from leafcover.partition.kd_tree import Halves, Kd, at_the_mean
from leafcover.partition.leaves import MOST_ROWS, Leaves, Whole
from leafcover.table.table import Column, Table

# Rows become points, so that similarity is a squared Euclidean distance. A number is standardised by its mean and its
# sample standard deviation; a missing one is placed at the mean. A category has one coordinate per level, 1/√2 where
# the row has that level, so that the squared distance is 1 between different levels and 0 between equal ones. A missing
# category is a level of its own.


MOST_LEVELS = 40  # levels of a category with their own coordinate; rarer levels share one
APART = np.sqrt(0.5)  # coordinate of a level; the squared distance between two levels is 1


def points(table: Table, names: Sequence[str]) -> Floats:
    """(rows, coordinates) of some columns; a constant column has no coordinate."""
    found = [one for name in names for one in _coordinates(table[name])]
    return np.ascontiguousarray(np.column_stack(found)) if found else np.zeros((len(table), 1))


def _coordinates(column: Column) -> Iterable[Floats]:
    if not column.is_category:
        standard = standardised(column)
        return [standard] if standard.any() else []
    codes = np.where(column.values == MISSING, len(column.levels), column.values)
    counts = np.bincount(codes, minlength=len(column.levels) + 1)
    common = np.argsort(-counts, kind="stable")[:MOST_LEVELS]
    common = np.sort(common[counts[common] > 0])
    if len(common) < 2:
        return []
    levels = [np.where(codes == code, APART, 0.0) for code in common]
    rare = ~np.isin(codes, common)
    return [*levels, np.where(rare, APART, 0.0)] if rare.any() else levels


def standardised(column: Column) -> Floats:
    """A number standardised by its mean and sample deviation; 0 where it is missing or if the column is constant."""
    known = ~column.missing
    values = column.values[known]
    found = np.zeros(len(column))
    if len(values) < 2 or values.min() == values.max():
        return found
    values = values / np.abs(values).max()  # squares of values above 1e154 overflow
    found[known] = (values - values.mean()) / values.std(ddof=1)
    return found


# Strata: rows with the same values of some columns.


@partition("strata")
@dataclass(frozen=True)
class Strata(PartitionMethod):
    """Rows with equal values in the columns ``by``; strata of fewer than ``min_cell`` rows are merged into one.

    Parameters
    ----------
    by : str or sequence of str
        The columns whose values define the strata.
    min_cell : int, default 3
        The minimum number of rows in a stratum. Smaller strata are merged; if these are still too few together, the
        next smallest stratum is merged with them.

    Examples
    --------
    >>> import leafcover as lc
    >>> table = lc.read(lc.sample("cps1985"))
    >>> lc.Strata(["gender", "married"]).cells(table).cells.count
    4
    """

    frozen_id: ClassVar[str] = "strata"
    by: tuple[str, ...]
    min_cell: int = 3

    def __post_init__(self) -> None:
        object.__setattr__(self, "by", column_names("Strata.by", self.by))
        if not 1 <= self.min_cell <= MOST_ROWS:
            raise ValueOutOfRange("Strata.min_cell", self.min_cell, f"a whole number of rows from 1 to {MOST_ROWS:,}")

    def describe(self, *, own: str | None = None) -> str:
        """Which rows share a cell."""
        return methods()("strata", columns=", ".join(self.by))

    @property
    def min_rows(self) -> int:
        """The minimum number of rows, from the parameters."""
        return self.min_cell

    @property
    def needs(self) -> tuple[str, ...]:
        """The columns that define the strata."""
        return self.by

    def cells(self, table: Table) -> Partition:
        """Number the strata by their values in the order of the columns."""
        label = np.zeros(len(table), np.int64)
        for name in self.by:
            values = np.unique(table[name].values, return_inverse=True)[1].ravel()
            label = intersect_labels(label, values)
        sizes = np.bincount(label)
        number, joined = together(sizes, self.min_cell)
        notes: tuple[str, ...] = ()
        if joined:
            rows = int(sizes[number == number.max()].sum())
            notes = (
                f"{joined} strata of {', '.join(self.by)} are smaller than {self.min_cell} rows or needed to "
                f"reach that size; their {rows} rows are merged into one cell.",
            )
        cells = Cells(number[label], int(number.max(initial=-1)) + 1)
        return Partition(cells, notes=notes)


def together(sizes: Rows, least: int) -> tuple[Rows, int]:
    """A number for each stratum; small ones share the last number. Also returns how many share it.

    >>> together(np.array([5, 1, 9, 1, 4]), 3)
    (array([0, 2, 1, 2, 2]), 3)
    """
    order = np.argsort(sizes, kind="stable")
    small = int((sizes < least).sum())
    if small:
        filled = np.cumsum(sizes[order])
        small = max(small, min(int(np.searchsorted(filled, least)) + 1, len(sizes)))
    number = np.full(len(sizes), len(sizes) - small, np.int64)
    separate = np.sort(order[small:])
    number[separate] = np.arange(len(separate))
    return number, small


Start: TypeAlias = Whole | Strata | Kd | Halves | Leaves
WHOLE = Whole()
EXACT = 100_000  # largest cell, in rows, that MDAV groups exactly by default


@partition("mdav")
@dataclass(frozen=True)
class Mdav(PartitionMethod):
    """Groups of k rows by MDAV on the columns ``by``: numbers standardised, categories compared by level.

    Parameters
    ----------
    by : str or sequence of str
        The columns that define which rows are similar.
    k : int, default 3
        The number of rows in a group. The last group of a cell may have up to 2k - 1.
    start : Whole, Strata, Kd, Halves or Leaves, default Whole()
        No group crosses the cells of this partition.
    block : int, optional
        The maximum number of rows in the kd blocks that a cell is divided into first. By default a cell of up to
        100,000 rows is grouped exactly and a larger one in blocks of up to 64,000 rows. 0 always groups exactly, at
        any cost.

    Examples
    --------
    >>> import leafcover as lc
    >>> table = lc.read(lc.sample("cps1985"))
    >>> sizes = lc.Mdav(["age", "wage"], k=5).cells(table).cells.sizes
    >>> int(sizes.min()), int(sizes.max())
    (5, 9)
    """

    frozen_id: ClassVar[str] = "mdav"
    groups_similar: ClassVar[bool] = True
    by: tuple[str, ...]
    k: int = 3
    start: Start = WHOLE
    block: int | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "by", column_names("Mdav.by", self.by))
        check_k("Mdav", self.k)
        if self.block is not None and self.block and not 2 * self.k <= self.block <= MOST_ROWS:
            raise ValueOutOfRange("Mdav.block", self.block, f"0, or at least 2k = {2 * self.k} rows")

    def describe(self, *, own: str | None = None) -> str:
        """Which rows share a cell."""
        return _describe_groups(self.k, self.start)

    @property
    def min_rows(self) -> int:
        """The minimum number of rows, from the parameters."""
        return self.k

    @property
    def needs(self) -> tuple[str, ...]:
        """The columns that define similarity, and those of the outer cells."""
        return needed(self.start, self.by)

    def cells(self, table: Table) -> Partition:
        """Form the groups inside each outer cell."""
        return grouped(table, self.start, self.by, points(table, self.by), self._labels)

    def _labels(self, some: Floats) -> Rows:
        from leafcover.kernels.microaggregation import MAX_BLOCK_ROWS, blocked_mdav, mdav

        block = (0 if len(some) <= EXACT else max(MAX_BLOCK_ROWS, 2 * self.k)) if self.block is None else self.block
        return blocked_mdav(some, self.k, block) if block else mdav(some, self.k)


@partition("variable-mdav")
@dataclass(frozen=True)
class VariableMdav(PartitionMethod):
    """Groups of k to 2k - 1 rows by V-MDAV: a row joins a group if it is nearer to it than to other rows.

    Remaining rows join the nearest group, which may become larger.

    Parameters
    ----------
    by : str or sequence of str
        The columns that define which rows are similar.
    k : int, default 3
        The minimum number of rows in a group.
    gamma : float, default 0.2
        How readily groups grow: a row joins a group if its distance to it is below ``gamma`` times the distance to its
        nearest other row. About 0.2 suits scattered data, about 1.1 clustered data.
    start : Whole, Strata, Kd, Halves or Leaves, default Whole()
        No group crosses the cells of this partition.

    Examples
    --------
    >>> import leafcover as lc
    >>> table = lc.read(lc.sample("cps1985"))
    >>> many = lc.VariableMdav(["age", "wage"], k=5, gamma=0.2).cells(table).cells
    >>> few = lc.VariableMdav(["age", "wage"], k=5, gamma=1.1).cells(table).cells
    >>> int(many.sizes.min()), few.count < many.count
    (5, True)
    """

    frozen_id: ClassVar[str] = "variable-mdav"
    groups_similar: ClassVar[bool] = True
    by: tuple[str, ...]
    k: int = 3
    gamma: float = 0.2
    start: Start = WHOLE

    def __post_init__(self) -> None:
        object.__setattr__(self, "by", column_names("VariableMdav.by", self.by))
        check_k("VariableMdav", self.k)
        if not 0 <= self.gamma <= 100:
            raise ValueOutOfRange("VariableMdav.gamma", self.gamma, "from 0 to 100")

    def describe(self, *, own: str | None = None) -> str:
        """Which rows share a cell."""
        return _describe_groups(self.k, self.start)

    @property
    def min_rows(self) -> int:
        """The minimum number of rows, from the parameters."""
        return self.k

    @property
    def needs(self) -> tuple[str, ...]:
        """The columns that define similarity, and those of the outer cells."""
        return needed(self.start, self.by)

    def cells(self, table: Table) -> Partition:
        """Form the groups inside each outer cell."""
        from leafcover.kernels.microaggregation import vmdav

        return grouped(table, self.start, self.by, points(table, self.by), lambda some: vmdav(some, self.k, self.gamma))


@partition("in-order")
@dataclass(frozen=True)
class InOrder(PartitionMethod):
    """Groups of neighbours in the order of one number; a missing value is placed at the mean.

    Parameters
    ----------
    by : str
        The column that rows are sorted by: a number, date or time.
    k : int, default 3
        The minimum number of rows in a group.
    sizes : {"optimal", "fixed"}, default "optimal"
        "optimal" forms groups of k to 2k - 1 rows with the least variance, found exactly (Hansen and Mukherjee).
        "fixed" forms groups of k rows.
    start : Whole, Strata, Kd, Halves or Leaves, default Whole()
        No group crosses the cells of this partition.

    Examples
    --------
    >>> import leafcover as lc
    >>> table = lc.read(lc.sample("cps1985"))
    >>> sizes = lc.InOrder("wage", k=5).cells(table).cells.sizes
    >>> int(sizes.min()), int(sizes.max())
    (5, 9)
    """

    frozen_id: ClassVar[str] = "in-order"
    groups_similar: ClassVar[bool] = True
    by: str
    k: int = 3
    sizes: Literal["optimal", "fixed"] = "optimal"
    start: Start = WHOLE

    def __post_init__(self) -> None:
        check_k("InOrder", self.k)

    def describe(self, *, own: str | None = None) -> str:
        """Which rows share a cell."""
        return _describe_groups(self.k, self.start)

    @property
    def min_rows(self) -> int:
        """The minimum number of rows, from the parameters."""
        return self.k

    @property
    def needs(self) -> tuple[str, ...]:
        """The column that rows are sorted by, and those of the outer cells."""
        return needed(self.start, (self.by,))

    def cells(self, table: Table) -> Partition:
        """Form the groups inside each outer cell."""
        from leafcover.kernels.microaggregation import fixed_groups, optimal_groups

        column = table[self.by]
        if column.is_category:
            raise PlanError(f"InOrder sorts rows by {self.by!r}, but it is a category. Name a number.")

        def labels(some: Floats) -> Rows:
            order = np.argsort(some[:, 0], kind="stable")
            found = np.empty(len(order), np.int64)
            values = np.ascontiguousarray(some[order, 0])
            optimal = self.sizes == "optimal"
            found[order] = optimal_groups(values, self.k) if optimal else fixed_groups(len(values), self.k)
            return found

        return grouped(table, self.start, (self.by,), standardised(column)[:, None], labels)


def grouped(
    table: Table, start: Start, by: Sequence[str], where: Floats, labels: Callable[[Floats], Rows]
) -> Partition:
    """Group the points of each outer cell separately; ``by`` names the columns they come from."""
    outer = start.cells(table)
    order = np.argsort(outer.cells.label, kind="stable")
    ends = np.cumsum(outer.cells.sizes)
    label = np.empty(len(table), np.int64)
    count = 0
    for rows in np.split(order, ends[:-1]):
        found = labels(where[rows])
        label[rows] = found + count
        count += int(found.max(initial=-1)) + 1
    cells = refine_cells(outer.cells, label, count)
    if outer.cells.count > 1:  # groups of one outer cell are siblings
        of_group = np.empty(count, np.int64)
        of_group[label] = outer.cells.label
        cells = replace(cells, groups=(of_group,))
    return Partition(cells, outer.trees, (*outer.notes, *at_the_mean(table, by)))


def needed(start: Start, by: tuple[str, ...]) -> tuple[str, ...]:
    """The columns of the outer cells and those that define similarity, each once."""
    return tuple(dict.fromkeys((*start.needs, *by)))


def _describe_groups(k: int, start: Start) -> str:
    """Which rows share a cell of a partition by similarity."""
    if start == WHOLE:
        return methods()("groups", rows=k)
    return methods()("groups-inside", rows=k, start=start.describe())


def check_k(name: str, k: int) -> None:
    """Raise an error for a group size that no table can have."""
    if not 1 <= k <= MOST_ROWS:
        raise ValueOutOfRange(f"{name}.k", k, f"a whole number of rows from 1 to {MOST_ROWS:,}")


# Sub-groups by k-means inside cells that are too large (Roy, Performance Analysis of Clustering in Privacy Preserving
# Data Mining).


ROUNDS = 100  # maximum number of iterations
AT_ONCE = 4_000_000  # differences held in memory


@partition("k-means")
@dataclass(frozen=True)
class KMeans(PartitionMethod):
    """The cells of ``start``; k-means divides a cell of more than ``most`` rows into sub-groups of at least k rows.

    Roy's method allows a sub-group of a single row, whose value is then published unchanged. Here a sub-group of fewer
    than k rows is merged with the one that has the nearest centre, smallest first.

    Parameters
    ----------
    by : str or sequence of str
        The columns that define which rows are similar.
    most : int, default 5
        A cell of more rows than this is divided.
    k : int, default 3
        The minimum number of rows in a sub-group. 1 gives Roy's method.
    start : Whole, Strata, Kd, Halves or Leaves, default Whole()
        The cells to divide.

    Examples
    --------
    >>> import leafcover as lc
    >>> table = lc.read(lc.sample("cps1985"))
    >>> cells = lc.Kd(["age", "wage"], leaf_max=20, min_child=5)
    >>> int(lc.KMeans(["age", "wage"], start=cells).cells(table).cells.sizes.min())
    3
    """

    frozen_id: ClassVar[str] = "k-means"
    groups_similar: ClassVar[bool] = True
    by: tuple[str, ...]
    most: int = 5
    k: int = 3
    start: Start = WHOLE

    def __post_init__(self) -> None:
        object.__setattr__(self, "by", column_names("KMeans.by", self.by))
        check_k("KMeans", self.k)
        if not self.k <= self.most <= MOST_ROWS:
            raise ValueOutOfRange("KMeans.most", self.most, f"at least k = {self.k} rows")

    def describe(self, *, own: str | None = None) -> str:
        """Which rows share a cell."""
        return _describe_groups(self.k, self.start)

    @property
    def min_rows(self) -> int:
        """The minimum number of rows, from the parameters."""
        return self.k

    @property
    def needs(self) -> tuple[str, ...]:
        """The columns that define similarity, and those of the outer cells."""
        return needed(self.start, self.by)

    def cells(self, table: Table) -> Partition:
        """Divide each cell that is too large."""
        return grouped(table, self.start, self.by, points(table, self.by), self._labels)

    def _labels(self, some: Floats) -> Rows:
        if len(some) <= self.most:
            return np.zeros(len(some), np.int64)
        return joined(some, k_means(some, -(-len(some) // self.most)), self.k)


def k_means(where: Floats, count: int) -> Rows:
    """Lloyd's algorithm, started from the point farthest from the mean, then the one farthest from all chosen so far.

    >>> k_means(np.array([[0.0], [0.1], [9.0], [9.2]]), 2)
    array([1, 1, 0, 0])
    """
    centres = where[_far_apart(where, count)]
    label = _nearest(where, centres)
    for _ in range(ROUNDS):
        moved = np.array([where[label == c].mean(axis=0) if (label == c).any() else centres[c] for c in range(count)])
        new_label = _nearest(where, moved)
        centres = moved
        if (new_label == label).all():
            break
        label = new_label
    return label


def joined(where: Floats, label: Rows, least: int) -> Rows:
    """The groups, with those of fewer than ``least`` rows merged into the nearest one by centre, smallest first."""
    number = np.unique(label, return_inverse=True)[1].ravel()
    while True:
        sizes = np.bincount(number)
        if len(sizes) < 2 or sizes.min() >= least:
            return number
        centres = np.array([where[number == c].mean(axis=0) for c in range(len(sizes))])
        small = int(np.argmin(sizes))
        apart = ((centres - centres[small]) ** 2).sum(axis=1)
        apart[small] = np.inf
        number = np.unique(np.where(number == small, int(np.argmin(apart)), number), return_inverse=True)[1].ravel()


def _far_apart(where: Floats, count: int) -> Rows:
    apart = ((where - where.mean(axis=0)) ** 2).sum(axis=1)
    chosen = [int(np.argmax(apart))]
    apart = np.full(len(where), np.inf)
    for _ in range(1, count):
        apart = np.minimum(apart, ((where - where[chosen[-1]]) ** 2).sum(axis=1))
        chosen.append(int(np.argmax(apart)))
    return np.array(chosen)


def _nearest(where: Floats, centres: Floats) -> Rows:
    found = np.empty(len(where), np.int64)
    step = max(1, AT_ONCE // centres.size)
    for begin in range(0, len(where), step):
        some = where[begin : begin + step]
        apart = ((some[:, None, :] - centres[None, :, :]) ** 2).sum(axis=2)
        found[begin : begin + step] = apart.argmin(axis=1)
    return found
