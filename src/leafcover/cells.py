"""Cells: a partition of the rows, the box each cell's values must stay in, and groups of neighbouring cells."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TypeAlias

import numpy as np

from leafcover.arrays import Array, Bools, Floats, Rows


@dataclass(frozen=True, eq=False)
class Range:
    """The interval a cell allows for a number: above ``low`` and at most ``high``."""

    low: Floats  # (cells,) exclusive: x > low
    high: Floats  # (cells,) inclusive: x <= high


@dataclass(frozen=True, eq=False)
class LevelSet:
    """The levels a cell allows for a category. Cells share sets of levels, so each distinct set is stored once."""

    sets: Bools  # (sets, levels)
    which: Array  # (cells,) index of the set that each cell allows

    @property
    def allowed(self) -> Bools:
        """Which levels each cell allows (cells, levels)."""
        return self.of(np.arange(len(self.which)))

    def of(self, cells: Rows) -> Bools:
        """Which levels the given cells allow (cells, levels)."""
        found: Bools = self.sets[self.which[cells]]
        return found

    def allows(self, cells: Rows, levels: Array) -> Bools:
        """Whether each given cell allows the corresponding level."""
        found: Bools = self.sets[self.which[cells], levels]
        return found


Side: TypeAlias = Range | LevelSet


@dataclass(frozen=True, eq=False)
class Cells:
    """A partition of the rows into disjoint cells.

    A column that ``box`` does not constrain may take any value of its domain. ``groups[d]`` is the group of each
    cell at degree d + 1 (degree 1: leaves of the same parent), or -1 for a cell without a group.
    """

    label: Rows  # (rows,) cell of each row
    count: int
    box: Mapping[str, Side] = field(default_factory=dict)
    groups: tuple[Array, ...] = ()  # per degree: (cells,) int64
    mixed: Bools | None = None  # (cells,) whether the cell holds more than one class of the target
    pooled: Bools | None = None  # (cells,) whether the cell merges leaves that were too small

    @property
    def sizes(self) -> Rows:
        """The number of rows in each cell."""
        return np.bincount(self.label, minlength=self.count)

    @property
    def smallest(self) -> int:
        """The number of rows in the smallest cell."""
        return int(self.sizes.min())

    @property
    def pooled_rows(self) -> int:
        """The number of rows in cells that merge small leaves."""
        return 0 if self.pooled is None else int(self.sizes[self.pooled].sum())

    def take(self, rows: Rows) -> "Cells":
        """The same cells for a subset of the rows."""
        return replace(self, label=self.label[rows])


def one_cell(rows: int) -> Cells:
    """A single cell that holds every row."""
    return Cells(np.zeros(rows, np.int64), 1)


def intersect_labels(label: Rows, other: Array) -> Rows:
    """Labels of the intersection of two partitions: rows share a label if they agree in both.

    >>> intersect_labels(np.array([0, 0, 1, 1]), np.array([5, 7, 5, 5]))
    array([0, 1, 2, 2])
    """
    both = label * (int(other.max(initial=0)) + 1) + other
    return np.unique(both, return_inverse=True)[1].ravel().astype(np.int64)


def refine_cells(cells: Cells, label: Rows, count: int) -> Cells:
    """The cells of a finer partition; each lies inside one of ``cells`` and inherits its box.

    >>> outer = Cells(np.array([0, 0, 1]), 2, {"x": Range(np.array([-np.inf, 3.0]), np.array([3.0, np.inf]))})
    >>> refine_cells(outer, np.array([0, 1, 2]), 3).box["x"].high
    array([ 3.,  3., inf])
    """
    outer = np.empty(count, np.int64)
    outer[label] = cells.label
    box: dict[str, Side] = {}
    for name, side in cells.box.items():
        if isinstance(side, Range):
            box[name] = Range(side.low[outer], side.high[outer])
        else:
            box[name] = LevelSet(side.sets, side.which[outer])
    pooled = None if cells.pooled is None else cells.pooled[outer]
    return Cells(label, count, box, pooled=pooled)
