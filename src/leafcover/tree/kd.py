"""kd trees: cut the table along the column with the largest spread, so that similar rows share a leaf.

A kd tree is a `Tree` whose leaves predict nothing and only group rows. The spread of a column is its variance, scaled
so that columns are comparable. A node is cut at the midrange or the median of the column with the largest spread (the
first if columns tie).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np

from leafcover.arrays import Array, Codes, Floats, Rows, Words
from leafcover.errors import TableError
from leafcover.table.table import Column, Table
from leafcover.tree.tree import Attribute, Tree

if TYPE_CHECKING:
    from leafcover.kernels.kd import ColumnScales, KdNodes

Scale = Literal["minmax", "max", "raw", "z"]
Cut = Literal["midrange", "median"]
Scope = Literal["node", "global"]
Tie = Literal["left", "right"]
SCALES: tuple[Scale, ...] = get_args(Scale)

_SMALLEST = 1e-300  # smallest range that is divided by


@dataclass(frozen=True, eq=False)
class KdPartition:
    """A kd tree, and the leaf of each row, numbered as in ``tree.leaves``."""

    tree: Tree
    leaf: Codes  # (rows,)


def grow_kd(
    table: Table, by: Sequence[str], *, scale: Scale = "minmax", cut: Cut = "midrange", scope: Scope = "node",
    reuse: bool = True, leaf_max: int = 3, min_child: int = 1, tie: Tie = "left",
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
    rule = KdSettings(cut == "median", scope == "global", reuse, tie == "left", leaf_max, min_child)
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
