"""Cells by halving: the rows parted at the median of their first principal component, again and again.

After Li and Sarkar (Information Systems Research, 2011). A cut along the direction in which the rows vary most keeps
near rows together where a cut of one column, as a kd tree's, parts them. Such cells have no box.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from leafcover.cells import Cells
from leafcover.errors import PlanError, ValueOutOfRange
from leafcover.split.partition import Partition
from leafcover.split.points import at_the_mean
from leafcover.split.trees import MOST_ROWS
from leafcover.table.table import Table
from leafcover.tree.kd import SCALES, Scale, own_order, scales, working


@dataclass(frozen=True)
class Halves:
    """Halve by the number columns ``by`` until a cell has ``fewer_than`` so many rows; each has at least half as many.

    Columns are divided by ``scale`` first: their standard deviation (z), range, largest size or nothing. Rows with the
    same values are never parted, so a cell may hold more of those. A missing value stands at the mean of its column.
    """

    frozen_id: ClassVar[str] = "halves"
    by: tuple[str, ...]
    fewer_than: int = 10
    scale: Scale = "z"

    def __post_init__(self) -> None:
        object.__setattr__(self, "by", tuple(self.by))  # a list from a file is welcome
        if not self.by:
            raise PlanError("Halves names no column to halve by. Name at least one number column in by=...")
        if not 2 <= self.fewer_than <= MOST_ROWS:
            raise ValueOutOfRange(
                "Halves.fewer_than", self.fewer_than, f"a whole number of rows from 2 to {MOST_ROWS:,}"
            )
        if self.scale not in SCALES:
            raise ValueOutOfRange("Halves.scale", self.scale, f"one of {', '.join(SCALES)}")

    @property
    def needs(self) -> tuple[str, ...]:
        """The columns to halve by."""
        return self.by

    def cells(self, table: Table) -> Partition:
        """Halve the rows."""
        from leafcover.fast.halves import halve

        matrix, steps = working(table, self.by)
        order, marks = own_order(matrix)
        values = matrix[order]
        scaled = scales(values, steps, self.scale)
        values *= scaled.factor
        values -= scaled.shift
        values *= np.sqrt(scaled.weight)
        starts = halve(values, order, marks, self.fewer_than)
        label = np.empty(len(table), np.int64)
        label[order] = np.repeat(np.arange(len(starts)), np.diff(starts, append=len(table)))
        return Partition(Cells(label, len(starts)), (), self._notes(table, len(starts)))

    def _notes(self, table: Table, count: int) -> tuple[str, ...]:
        said = []
        if count == 1:
            said.append(f"Halving by {', '.join(self.by)} made one cell: all {len(table)} rows stand together.")
        return (*said, *at_the_mean(table, self.by))
