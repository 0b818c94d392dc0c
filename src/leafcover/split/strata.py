"""Strata: rows with the same values of some columns."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from leafcover.cells import Cells, finer
from leafcover.errors import PlanError, ValueOutOfRange
from leafcover.fast.arrays import Rows
from leafcover.split.partition import Partition
from leafcover.split.trees import MOST_ROWS
from leafcover.table.table import Table


@dataclass(frozen=True)
class Strata:
    """Rows that agree in the columns ``by``; strata of fewer than ``min_cell`` rows stand together.

    When all of these together are still too few, the next smallest stratum joins them.
    """

    frozen_id: ClassVar[str] = "strata"
    by: tuple[str, ...]
    min_cell: int = 3

    def __post_init__(self) -> None:
        object.__setattr__(self, "by", tuple(self.by))  # a list from a file is welcome
        if not self.by:
            raise PlanError("Strata names no column. Name at least one in by=...")
        if not 1 <= self.min_cell <= MOST_ROWS:
            raise ValueOutOfRange("Strata.min_cell", self.min_cell, f"a whole number of rows from 1 to {MOST_ROWS:,}")

    @property
    def needs(self) -> tuple[str, ...]:
        """The columns that rows agree in."""
        return self.by

    def cells(self, table: Table) -> Partition:
        """Number the strata by their values in the order of the columns."""
        label = np.zeros(len(table), np.int64)
        for name in self.by:
            values = np.unique(table[name].values, return_inverse=True)[1].ravel()
            label = finer(label, values)
        sizes = np.bincount(label)
        number, joined = together(sizes, self.min_cell)
        notes: tuple[str, ...] = ()
        if joined:
            rows = int(sizes[number == number.max()].sum())
            notes = (
                f"{joined} strata of {', '.join(self.by)} are smaller than {self.min_cell} rows or needed to fill "
                f"these up; their {rows} rows stand together.",
            )
        cells = Cells(number[label], int(number.max(initial=-1)) + 1)
        return Partition(cells, notes=notes)


def together(sizes: Rows, least: int) -> tuple[Rows, int]:
    """A number for each stratum, small ones sharing the last, and how many share it.

    >>> together(np.array([5, 1, 9, 1, 4]), 3)
    (array([0, 2, 1, 2, 2]), 3)
    """
    order = np.argsort(sizes, kind="stable")
    small = int((sizes < least).sum())
    if small:
        filled = np.cumsum(sizes[order])
        small = max(small, min(int(np.searchsorted(filled, least)) + 1, len(sizes)))
    number = np.full(len(sizes), len(sizes) - small, np.int64)
    alone = np.sort(order[small:])
    number[alone] = np.arange(len(alone))
    return number, small
