"""What a split makes of a table: its cells, and the trees they come from."""

from dataclasses import dataclass
from math import nan
from typing import Protocol

import numpy as np

from leafcover.arrays import Floats
from leafcover.cells import Cells, LevelSet, Range
from leafcover.table.table import Column, Table
from leafcover.tree.tree import Tree


@dataclass(frozen=True, eq=False)
class Partition:
    """Cells of a table, the trees whose leaves they keep, and what to tell the user about them."""

    cells: Cells
    trees: tuple[Tree, ...] = ()
    notes: tuple[str, ...] = ()


class PartitionMethod(Protocol):
    """A way to make cells; two equal splits of one table are the same cells."""

    @property
    def needs(self) -> tuple[str, ...]:
        """The columns that must exist."""

    def cells(self, table: Table) -> Partition:
        """The cells of a table, from the original values alone."""


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
