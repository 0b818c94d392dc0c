"""The models of releases that informed attackers use: the leaf shares of dealing, and the cells of a shuffle.

Counts come from the release. The trees or cells are those of the plan (granted), or those that the recipe grows from
the released table (regrown). Rows that the attacker knows can be subtracted.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from leafcover.arrays import Array, Floats, Rows
from leafcover.partition.base import Partition, PartitionMethod
from leafcover.recipes.plan import Plan, Step
from leafcover.table.table import Column, Table
from leafcover.tree.binary import BinaryTrees, Coding, Stage, codings, no_trees

RARE = 1e-5  # share of a value that the release does not have
WIDE = 300.0  # smoothing of the share that a leaf is compared with, for membership
IMPOSSIBLE = -50.0  # log probability of a value that contradicts its block


@dataclass(frozen=True, eq=False)
class Factor:
    """The counts of one stage: how often each code occurs in each leaf, and in each code of the stage before."""

    columns: tuple[str, ...]  # of the step; the first one is coded
    trees: BinaryTrees
    before: Coding | None  # of the stage before
    coding: Coding
    counts: Floats  # (nodes, codes)

    @property
    def name(self) -> str:
        """The column that is coded."""
        return self.columns[0]

    def starts(self, column: Column) -> Rows:
        """The start cells of a column's values."""
        return np.zeros(len(column), np.int64) if self.before is None else self.before.codes(column)

    def leaves(self, table: Table) -> Rows:
        """The leaf that each row reaches."""
        return self.trees.place(self.trees.codes(table), self.starts(table[self.name]))

    def counted(self, table: Table) -> Floats:
        """The counts of the codes in each leaf of a table."""
        nodes, codes = len(self.trees), self.coding.count
        place = self.leaves(table) * codes + self.coding.codes(table[self.name])
        return np.bincount(place, minlength=nodes * codes).reshape(nodes, codes).astype(np.float64)

    def log_shares(self, leaves: Rows, starts: Rows, codes: Rows, smoothing: float) -> Floats:
        """The log share of each code in its leaf, smoothed by its share in the start cell."""
        roots = self.counts[: self._cells] if len(self.trees) == self._cells else self._root_counts
        prior = (roots[starts, codes] + RARE) / (roots.sum(axis=1)[starts] + RARE * self.coding.count)
        found: Floats = np.log(
            (self.counts[leaves, codes] + smoothing * prior) / (self.counts.sum(axis=1)[leaves] + smoothing)
        )
        return found

    @property
    def _cells(self) -> int:
        return int((self.trees.parent < 0).sum())

    @property
    def _root_counts(self) -> Floats:
        """The counts of every leaf below each root."""
        total, parent = self.counts.copy(), self.trees.parent
        for node in range(len(parent) - 1, self._cells - 1, -1):
            total[parent[node]] += total[node]
        return total[: self._cells]
