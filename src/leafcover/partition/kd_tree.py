"""Partitions by kd trees: their leaves, and repeated halves along principal components.

A kd tree is a `Tree` whose leaves predict nothing and only group rows: it cuts the table along the column with the
largest spread, so that similar rows share a leaf. The spread of a column is its variance, scaled so that columns are
comparable. A node is cut at the midrange or the median of that column (the first if columns tie).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal, get_args

import numpy as np

from leafcover.arrays import Array, Codes, Floats, Rows, Words
from leafcover.cells import Cells, Range
from leafcover.errors import TableError, ValueOutOfRange
from leafcover.partition.base import Partition, PartitionMethod, column_names, methods, partition
from leafcover.partition.leaves import MOST_ROWS
from leafcover.table.table import Column, Table
from leafcover.tree.tree import Attribute, Tree, leaf_boxes

if TYPE_CHECKING:
    from leafcover.kernels.kd import ColumnScales, KdNodes

Scale = Literal["minmax", "max", "raw", "z"]
Cut = Literal["midrange", "median"]
Scope = Literal["node", "global"]
Tie = Literal["left", "right"]
Axes = Literal["variance", "cycle"]
SCALES: tuple[Scale, ...] = get_args(Scale)

_SMALLEST = 1e-300  # smallest range that is divided by


def at_the_mean(table: Table, by: Sequence[str]) -> tuple[str, ...]:
    """A message about rows with missing numbers; empty if no row has any."""
    gone = [table[name].missing for name in by if not table[name].is_category]
    rows = int(np.any(gone, axis=0).sum()) if gone else 0
    if not rows:
        return ()
    of = f"{by[0]}" if len(by) == 1 else f"one of {', '.join(by)}"
    verb = "row has" if rows == 1 else "rows have"
    return (f"{rows} {verb} no value in {of}; the column mean is used to find similar rows.",)


# Cells from a kd tree: its leaves, split along the column with the largest spread, so that nearby rows share a cell.
# The perturbation tree of Li and Sarkar (2006) replaces the sensitive values of each such cell by their mean.


@partition("kd")
@dataclass(frozen=True)
class Kd(PartitionMethod):
    """The leaves of the kd tree over the number columns ``by``, none smaller than ``min_child`` rows.

    A node is split in the column with the largest variance. If a cut would leave a side too small, the median is tried,
    then the next column. A missing value is placed at the mean of its column.

    Parameters
    ----------
    by : str or sequence of str
        The columns that the tree may test: numbers, dates or times.
    scale : {"minmax", "max", "raw", "z"}, default "minmax"
        What a column is divided by before variances are compared: its range, its largest absolute value, nothing, or
        its standard deviation.
    cut : {"midrange", "median"}, default "midrange"
        Where a node is split.
    scope : {"node", "global"}, default "node"
        Whether a midrange is that of the node's rows or of all rows.
    reuse : bool, default True
        Whether a path may test a column more than once.
    leaf_max : int, default 3
        A node of at most this many rows is a leaf.
    min_child : int, default 3
        The minimum number of rows in a leaf.
    tie : {"left", "right"}, default "left"
        The side of values equal to the threshold.
    axes : {"variance", "cycle"}, optional
        Which column is cut: the one with the largest variance, or the columns in turn, as in Bentley's (1975) kd tree.
        Default: variance.

    Examples
    --------
    >>> import leafcover as lc
    >>> table = lc.read(lc.sample("cps1985"))
    >>> cells = lc.Kd(["age", "wage"], leaf_max=9, min_child=5).cells(table).cells
    >>> cells.count, int(cells.sizes.min()), int(cells.sizes.max())
    (85, 5, 9)
    """

    frozen_id: ClassVar[str] = "kd"
    by: tuple[str, ...]
    scale: Scale = "minmax"
    cut: Cut = "midrange"
    scope: Scope = "node"
    reuse: bool = True
    leaf_max: int = 3
    min_child: int = 3
    tie: Tie = "left"
    axes: Axes | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "by", column_names("Kd.by", self.by))
        for name, kind in (("scale", Scale), ("cut", Cut), ("scope", Scope), ("tie", Tie), ("axes", Axes)):
            if getattr(self, name) not in (*get_args(kind), *((None,) if kind is Axes else ())):
                raise ValueOutOfRange(f"Kd.{name}", getattr(self, name), f"one of {', '.join(get_args(kind))}")
        for name, rows in (("leaf_max", self.leaf_max), ("min_child", self.min_child)):
            if not 1 <= rows <= MOST_ROWS:
                raise ValueOutOfRange(f"Kd.{name}", rows, f"a whole number of rows from 1 to {MOST_ROWS:,}")

    def describe(self, *, own: str | None = None) -> str:
        """Which rows share a cell."""
        return methods()("kd", rows=self.min_child)

    @property
    def min_rows(self) -> int:
        """The minimum number of rows, from the parameters."""
        return self.min_child

    @property
    def needs(self) -> tuple[str, ...]:
        """The columns that the tree tests."""
        return self.by

    def cells(self, table: Table) -> Partition:
        """Grow the tree; every leaf is a cell."""
        found = grow_kd(
            table,
            self.by,
            scale=self.scale,
            cut=self.cut,
            scope=self.scope,
            reuse=self.reuse,
            leaf_max=self.leaf_max,
            min_child=self.min_child,
            tie=self.tie,
            axes=self.axes,
        )
        cells = Cells(found.leaf.astype(np.int64), len(found.tree.leaves), box=_sides(found.tree))
        return Partition(cells, (found.tree,), self._notes(table, cells.sizes))

    def _notes(self, table: Table, sizes: Rows) -> tuple[str, ...]:
        notes = []
        large = sizes > max(self.leaf_max, 2 * self.min_child - 1)
        if len(sizes) == 1:
            notes.append(f"The kd tree by {', '.join(self.by)} has one cell with all {len(table)} rows.")
        elif large.any():
            notes.append(
                f"{sizes[large].sum()} rows are in cells of the kd tree that are larger than leaf_max "
                f"({self.leaf_max} rows): no further cut leaves {self.min_child} rows on both sides."
            )
        return (*notes, *at_the_mean(table, self.by))


def _sides(tree: Tree) -> dict[str, Range]:
    """The range each leaf allows of the columns that the tree tests."""
    boxes = leaf_boxes(tree)
    tested = np.unique(tree.tested[tree.tested >= 0]).tolist()
    return {tree.attributes[a].name: Range(boxes.low[:, a], boxes.high[:, a]) for a in tested}


# Cells by halving: rows are split at the median of their first principal component, recursively, after Li and Sarkar
# (Information Systems Research, 2011). A cut along the direction of largest variance keeps nearby rows together where a
# cut of a single column, as in a kd tree, separates them. Such cells have no box.


@partition("halves")
@dataclass(frozen=True)
class Halves(PartitionMethod):
    """Halve by the number columns ``by`` until a cell has fewer than ``fewer_than`` rows, and at least half as many.

    Rows are split at the median of their first principal component. Rows with equal values are never separated, so a
    cell may have more of those. A missing value is placed at the mean of its column.

    Parameters
    ----------
    by : str or sequence of str
        The columns to halve by: numbers, dates or times.
    fewer_than : int, default 10
        A cell of at least this many rows is halved.
    scale : {"minmax", "max", "raw", "z"}, default "z"
        What a column is divided by first: its range, its largest absolute value, nothing, or its standard deviation.

    Examples
    --------
    >>> import leafcover as lc
    >>> table = lc.read(lc.sample("cps1985"))
    >>> sizes = lc.Halves(["age", "wage"], fewer_than=20).cells(table).cells.sizes
    >>> int(sizes.min()), int(sizes.max())
    (16, 17)
    """

    frozen_id: ClassVar[str] = "halves"
    by: tuple[str, ...]
    fewer_than: int = 10
    scale: Scale = "z"

    def __post_init__(self) -> None:
        object.__setattr__(self, "by", column_names("Halves.by", self.by))
        if not 2 <= self.fewer_than <= MOST_ROWS:
            raise ValueOutOfRange(
                "Halves.fewer_than", self.fewer_than, f"a whole number of rows from 2 to {MOST_ROWS:,}"
            )
        if self.scale not in SCALES:
            raise ValueOutOfRange("Halves.scale", self.scale, f"one of {', '.join(SCALES)}")

    def describe(self, *, own: str | None = None) -> str:
        """Which rows share a cell."""
        return methods()("halves", rows=self.fewer_than)

    @property
    def min_rows(self) -> int:
        """The minimum number of rows, from the parameters."""
        return self.fewer_than // 2

    @property
    def needs(self) -> tuple[str, ...]:
        """The columns to halve by."""
        return self.by

    def cells(self, table: Table) -> Partition:
        """Halve the rows."""
        from leafcover.kernels.kd import halve_by_component

        matrix, steps = kd_matrix(table, self.by)
        order, marks = canonical_order(matrix)
        values = matrix[order]
        scaled = column_scales(values, steps, self.scale)
        values *= scaled.factor
        values -= scaled.shift
        values *= np.sqrt(scaled.weight)
        starts = halve_by_component(values, order, marks, self.fewer_than)
        label = np.empty(len(table), np.int64)
        label[order] = np.repeat(np.arange(len(starts)), np.diff(starts, append=len(table)))
        return Partition(Cells(label, len(starts)), (), self._notes(table, len(starts)))

    def _notes(self, table: Table, count: int) -> tuple[str, ...]:
        notes = []
        if count == 1:
            notes.append(f"Halving by {', '.join(self.by)} made one cell with all {len(table)} rows.")
        return (*notes, *at_the_mean(table, self.by))


# Growing a kd tree.


@dataclass(frozen=True, eq=False)
class KdPartition:
    """A kd tree, and the leaf of each row, numbered as in ``tree.leaves``."""

    tree: Tree
    leaf: Codes  # (rows,)


def grow_kd(
    table: Table, by: Sequence[str], *, scale: Scale = "minmax", cut: Cut = "midrange", scope: Scope = "node",
    reuse: bool = True, leaf_max: int = 3, min_child: int = 1, tie: Tie = "left",
    axes: Axes | None = None,
) -> KdPartition:  # fmt: skip
    """Cut the rows along numeric columns until every leaf has at most ``leaf_max`` rows.

    ``scale`` divides a column by its range, its largest absolute value, nothing, or its standard deviation. ``scope``
    determines whether a midrange is computed from the node's rows or from all rows. Without ``reuse`` a path tests each
    column at most once. ``tie`` is the side of values equal to the threshold. If a cut leaves fewer than ``min_child``
    rows on a side, ties are moved to the other side, then the median is tried, then the column with the next largest
    spread. A node that cannot be cut is a leaf, whatever its size. A missing value counts as the mean of its column.
    """
    from leafcover.kernels.kd import KdSettings, grow

    matrix, steps = kd_matrix(table, by)
    order, _ = canonical_order(matrix)
    rule = KdSettings(cut == "median", scope == "global", reuse, tie == "left", leaf_max, min_child, axes == "cycle")
    nodes = grow(matrix[order], order, column_scales(matrix[order], steps, scale), rule)
    leaf = np.empty(len(table), np.int32)
    ends = np.flatnonzero(nodes.tested < 0)
    sizes = (nodes.stop - nodes.start)[ends]
    by_place = np.argsort(nodes.start[ends], kind="stable")
    leaf[order] = np.repeat(by_place, sizes[by_place])
    return KdPartition(_tree(tuple(by), nodes, steps), leaf)


def _tree(names: tuple[str, ...], nodes: "KdNodes", steps: Floats) -> Tree:
    inner = nodes.tested >= 0
    cut = nodes.cut.copy()
    cut[inner] /= steps[nodes.tested[inner]]
    return Tree(
        target="",
        classes=("rows",),
        attributes=tuple(Attribute(name) for name in names),
        tested=nodes.tested,
        cut=cut,
        first=nodes.first,
        branches=np.where(inner, 2, 0).astype(np.int32),
        parent=nodes.parent,
        counts=(nodes.stop - nodes.start).astype(np.float64)[:, None],
        label=np.zeros(len(cut), np.int32),
        errors=np.zeros(len(cut)),
        estimate=np.full(len(cut), np.nan),
    )


def kd_matrix(table: Table, by: Sequence[str]) -> tuple[Floats, Floats]:
    """The columns as a matrix (rows, columns), and the divisor that restores the original values of each column.

    A column with a grid is expressed in grid steps, so that the midpoint of 0.1 and 0.7 is exactly on the grid. Missing
    values are replaced by the mean of the known ones, or by 0 without any.
    """
    matrix, steps = np.empty((len(table), len(by))), np.ones(len(by))
    for c, name in enumerate(by):
        column = table[name]
        if column.is_category:
            raise TableError(
                f"Column {name!r} is a category, but a kd tree needs numbers. Remove it, or read it as a number."
            )
        known = ~column.missing
        values, steps[c] = _in_grid_steps(column, known)
        if len(values) < len(table):
            matrix[~known, c] = _mean(values)
        matrix[known, c] = values
    return matrix, steps


def _in_grid_steps(column: Column, known: Array) -> tuple[Floats, float]:
    values: Floats = column.values[known]
    if column.grid is None or column.grid.every > 1:  # times with every > 1 are integers already
        return values, 1.0
    index = column.grid.index(values)
    if not np.array_equal(column.grid.value(index), values):  # a mean may lie between grid points
        return values, 1.0
    return index.astype(np.float64), float(10**column.grid.decimals)


def _mean(values: Floats) -> float:
    """The mean by exact summation, so that it does not depend on the order of the values."""
    if not len(values):
        return 0.0
    try:
        mean = math.fsum(values.tolist()) / len(values)
    except OverflowError:  # near the largest floats
        mean = math.fsum((values / len(values)).tolist())
    return min(max(mean, float(values.min())), float(values.max()))


def canonical_order(matrix: Floats) -> tuple[Rows, Words]:
    """Row numbers sorted by a hash of the row's values, and the hashes.

    Summing in this order makes rounding independent of the order of rows in the table.
    """
    from leafcover.kernels.kd import hash_rows

    found = hash_rows((matrix + 0.0).view(np.uint64))  # the sum turns -0.0 into 0.0
    order = np.argsort(found, kind="stable")
    return order, found[order]


def column_scales(matrix: Floats, steps: Floats, scale: Scale) -> "ColumnScales":
    """The scaling of the columns of `kd_matrix`."""
    from leafcover.kernels.kd import ColumnScales, midpoint

    low, high = (matrix.min(axis=0), matrix.max(axis=0)) if len(matrix) else np.zeros((2, matrix.shape[1]))
    half = np.maximum(high / 2 - low / 2, _SMALLEST)  # half the range, because the full range may overflow
    factor = np.where(low < high, 0.5 / half, 0.0)
    shift = low * factor
    weight = np.ones(len(low))
    if scale == "max":
        weight = (half / np.maximum(np.maximum(abs(low), abs(high)) / 2, _SMALLEST)) ** 2
    elif scale == "raw":
        real = half / steps
        weight = (real / real.max(initial=_SMALLEST)) ** 2
    elif scale == "z":
        variance = np.array([np.var(matrix[:, c] * factor[c] - shift[c]) for c in range(len(low))])
        weight = 1 / np.where(variance > 0, variance, 1.0)
    middle = np.array([midpoint(*ends) for ends in zip(low, high, strict=True)])
    return ColumnScales(factor, shift, weight, middle)
