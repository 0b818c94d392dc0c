"""Cells from a kd tree: its leaves, cut where the rows are spread most, so that near rows stand together.

The perturbation tree of Li and Sarkar (2006) replaces the confidential values of each such cell by their mean.
"""

from dataclasses import dataclass
from typing import ClassVar, get_args

import numpy as np

from leafcover.cells import Cells, Range
from leafcover.errors import PlanError, ValueOutOfRange
from leafcover.fast.arrays import Rows
from leafcover.split.partition import Partition
from leafcover.split.points import at_the_mean
from leafcover.split.trees import MOST_ROWS
from leafcover.table.table import Table
from leafcover.tree.box import leaf_boxes
from leafcover.tree.kd import Cut, Scale, Scope, Tie, grow_kd
from leafcover.tree.tree import Tree


@dataclass(frozen=True)
class Kd:
    """The leaves of the kd tree over the number columns ``by``, none smaller than ``min_child`` rows.

    A node is cut in the column whose variance is largest once columns are divided by ``scale``, at its midrange or
    median, until it has at most ``leaf_max`` rows. ``scope`` is where a midrange comes from, the node's rows or all;
    without ``reuse`` a path tests each column once; ``tie`` is the side of values equal to the threshold. A cut that
    would leave a side too small gives way to the median, then to the next column. A missing value stands at the mean
    of its column.
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
        object.__setattr__(self, "by", tuple(self.by))  # a list from a file is welcome
        if not self.by:
            raise PlanError("Kd names no column to cut by. Name at least one number column in by=...")
        for name, kind in (("scale", Scale), ("cut", Cut), ("scope", Scope), ("tie", Tie)):
            if getattr(self, name) not in get_args(kind):
                raise ValueOutOfRange(f"Kd.{name}", getattr(self, name), f"one of {', '.join(get_args(kind))}")
        for name, rows in (("leaf_max", self.leaf_max), ("min_child", self.min_child)):
            if not 1 <= rows <= MOST_ROWS:
                raise ValueOutOfRange(f"Kd.{name}", rows, f"a whole number of rows from 1 to {MOST_ROWS:,}")

    @property
    def needs(self) -> tuple[str, ...]:
        """The columns that are cut."""
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
        said = []
        large = sizes > max(self.leaf_max, 2 * self.min_child - 1)
        if len(sizes) == 1:
            said.append(f"The kd tree by {', '.join(self.by)} has one cell: all {len(table)} rows stand together.")
        elif large.any():
            said.append(
                f"{sizes[large].sum()} rows stand in cells of the kd tree that are larger than leaf_max "
                f"({self.leaf_max} rows): no further cut leaves {self.min_child} rows on both sides."
            )
        return (*said, *at_the_mean(table, self.by))


def _sides(tree: Tree) -> dict[str, Range]:
    """What each leaf allows of the columns that the tree tests."""
    boxes = leaf_boxes(tree)
    tested = np.unique(tree.tested[tree.tested >= 0]).tolist()
    return {tree.attributes[a].name: Range(boxes.low[:, a], boxes.high[:, a]) for a in tested}
