"""Which rows stand together, the box they may move in, and the groups their cells belong to."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TypeAlias

import numpy as np

from leafcover.arrays import Array, Bools, Floats, Rows


@dataclass(frozen=True, eq=False)
class Range:
    """What a cell allows of a number: above ``low``, at most ``high``."""

    low: Floats  # (cells,) exclusive: x > low
    high: Floats  # (cells,) inclusive: x <= high


@dataclass(frozen=True, eq=False)
class LevelSet:
    """What a cell allows of a category. A million cells may allow few different sets of levels, each kept once."""

    sets: Bools  # (sets, levels)
    which: Array  # (cells,) the number of the set each cell allows

    @property
    def allowed(self) -> Bools:
        """Which levels each cell allows (cells, levels)."""
        return self.of(np.arange(len(self.which)))

    def of(self, cells: Rows) -> Bools:
        """Which levels some cells, one after the other, allow (cells, levels)."""
        found: Bools = self.sets[self.which[cells]]
        return found

    def allows(self, cells: Rows, levels: Array) -> Bools:
        """Whether each of some cells allows the level beside it."""
        found: Bools = self.sets[self.which[cells], levels]
        return found


Side: TypeAlias = Range | LevelSet


@dataclass(frozen=True, eq=False)
class Cells:
    """A crisp partition of the rows.

    A column without a side in ``box`` may take any value of its domain. ``groups[d]`` gives the number of the
    group of each cell at degree d + 1 (leaves of the same parent first), or -1 for a cell in no group.
    """

    label: Rows  # (rows,) the cell of each row
    count: int
    box: Mapping[str, Side] = field(default_factory=dict)
    groups: tuple[Array, ...] = ()  # per degree: (cells,) int64
    mixed: Bools | None = None  # (cells,) more than one class of the target occurs
    pooled: Bools | None = None  # (cells,) made of leaves too small to stand alone

    @property
    def sizes(self) -> Rows:
        """How many rows each cell has."""
        return np.bincount(self.label, minlength=self.count)

    @property
    def smallest(self) -> int:
        """The rows of the smallest cell."""
        return int(self.sizes.min())

    @property
    def pooled_rows(self) -> int:
        """How many rows stand in a pool of small leaves."""
        return 0 if self.pooled is None else int(self.sizes[self.pooled].sum())

    def take(self, rows: Rows) -> "Cells":
        """The same cells seen from some of the rows."""
        return replace(self, label=self.label[rows])


def one_cell(rows: int) -> Cells:
    """One cell with every row."""
    return Cells(np.zeros(rows, np.int64), 1)


def intersect_labels(label: Rows, other: Array) -> Rows:
    """Labels of rows that are alike in both.

    >>> intersect_labels(np.array([0, 0, 1, 1]), np.array([5, 7, 5, 5]))
    array([0, 1, 2, 2])
    """
    both = label * (int(other.max(initial=0)) + 1) + other
    return np.unique(both, return_inverse=True)[1].ravel().astype(np.int64)


def refine_cells(cells: Cells, label: Rows, count: int) -> Cells:
    """Finer cells that each lie in one of ``cells`` and keep its box.

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
