"""Partitions by kd trees: their leaves, and repeated halves along principal components."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, get_args

import numpy as np

from leafcover.arrays import Rows
from leafcover.cells import Cells, Range
from leafcover.errors import ValueOutOfRange
from leafcover.partition.base import Partition, PartitionMethod, column_names, methods, partition
from leafcover.partition.leaves import MOST_ROWS
from leafcover.table.table import Table
from leafcover.tree.kd import SCALES, Cut, Scale, Scope, Tie, canonical_order, column_scales, grow_kd, kd_matrix
from leafcover.tree.tree import Tree, leaf_boxes


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

    def __post_init__(self) -> None:
        object.__setattr__(self, "by", column_names("Kd.by", self.by))
        for name, kind in (("scale", Scale), ("cut", Cut), ("scope", Scope), ("tie", Tie)):
            if getattr(self, name) not in get_args(kind):
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
