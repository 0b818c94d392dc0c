"""Finer cells: inside each cell, further trees for other columns, down to a floor.

The boxes of the outer cells still hold, so rows keep the leaves of the outer tree; the rules of the other columns are
kept as far as the floor lets the cells go.
"""

from dataclasses import dataclass

import numpy as np

from leafcover.cells import inside
from leafcover.errors import PlanError, ValueOutOfRange
from leafcover.fast.arrays import Codes
from leafcover.split.partition import Partition
from leafcover.split.trees import Leaves, Whole
from leafcover.table.table import Column, Table

NUMBER_GROUPS = 8  # a number is refined for by this many groups of equal size


@dataclass(frozen=True)
class Refine:
    """The cells of ``start``, each split further by trees for the columns ``by``, never below ``floor`` rows."""

    start: Leaves | Whole
    by: tuple[str, ...]
    floor: int = 20

    def __post_init__(self) -> None:
        object.__setattr__(self, "by", tuple(self.by))  # a list from a file is welcome
        if self.floor < 2:
            raise ValueOutOfRange("Refine.floor", self.floor, "a whole number of rows, at least 2")
        if not self.by:
            raise PlanError("Refine names no column to grow trees for. Name at least one in by=...")

    @property
    def needs(self) -> tuple[str, ...]:
        """The columns of the outer cells and those refined for."""
        return (*self.start.needs, *self.by)

    def cells(self, table: Table) -> Partition:
        """Refine for one column after the other."""
        from leafcover.tree.bins import bin_columns
        from leafcover.tree.histogram import refine_labels
        from leafcover.tree.training import attribute_names
        from leafcover.tree.tree import Attribute

        outer = self.start.cells(table)
        names = attribute_names(table, "")
        columns = [table[name] for name in names]
        binned = bin_columns(
            [Attribute(c.name, c.levels, not c.is_category) for c in columns], [c.values for c in columns]
        )
        label, count = outer.cells.label, outer.cells.count
        for name in self.by:
            codes, classes = groups_of(table[name])
            others = np.array([other != name for other in names])
            refined = refine_labels(binned, codes, classes, label, count, floor=self.floor, testable=others)
            label, count = refined.labels, refined.n_labels
        return Partition(inside(outer.cells, label, count), outer.trees, outer.notes)


def groups_of(column: Column) -> tuple[Codes, int]:
    """A column as classes: its levels, or a number's groups of about equal size."""
    from leafcover.tree.bins import quantile_codes

    if column.is_category:
        return column.values, len(column.levels)
    return quantile_codes(column.values, bins=NUMBER_GROUPS)
