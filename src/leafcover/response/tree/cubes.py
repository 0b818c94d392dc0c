"""The nodes of a fringe as cubes: where combinations of answers are few, rows are counted once and never read again.

All branches of a node have no more cells than the node, whatever the scheme. Entries would go to every branch of a
test that undoes a law, and so double with each. The counts are those of `Fringe`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod

import numpy as np

from leafcover.fast.arrays import Array, Bools, Floats, Rows
from leafcover.response.tree.cube import Cube, branches, counted, margins
from leafcover.response.tree.entries import Entries
from leafcover.response.tree.fringe import Fringe
from leafcover.response.tree.laws import Answers
from leafcover.response.tree.paths import Paths
from leafcover.response.tree.tally import Tally
from leafcover.response.tree.weights import Weights

MOST_CELLS = 1 << 23  # 128 megabytes for each depth, half a gigabyte in all (measured)
CELLS_A_ROW = 8  # with more, nearly all are empty, and it is faster to count the rows
CELLS_A_ROW_OF_COINS = 32  # the same where several coins would make many entries of each row
CELLS_A_NODE = 2048  # with fewer on average, it is faster to count the entries of all nodes at once


@dataclass(frozen=True, eq=False)
class Cubes:
    """Nodes numbered from 0, and the cube of each."""

    paths: Paths
    cubes: tuple[Cube, ...]

    @staticmethod
    def root(answers: Answers) -> "Cubes":
        """The root alone."""
        return Cubes(Paths.root(answers), (counted(answers),))

    @property
    def nodes(self) -> int:
        """How many nodes."""
        return self.paths.nodes

    @property
    def rows(self) -> int:
        """How many rows the tree grows from."""
        return self.paths.answers.rows

    @property
    def free(self) -> Bools:
        """(nodes, attributes) that have not been tested on the way."""
        return self.paths.free

    def classes(self) -> Tally:
        """The count of each class, as those of a column with one level."""
        sums = np.stack([cube.sums.sum(axis=2, keepdims=True) for cube in self.cubes], axis=1)
        values, squares = sums.swapaxes(2, 3)
        return self.paths.tally(values, squares)

    def column(self, column: int) -> Tally:
        """The count of each level of a column with each class; nothing where it was tested before."""
        values, squares = self._sums[column].swapaxes(2, 3)
        return self.paths.tally(values, squares, column)

    def made(self, tested: Array) -> Rows:
        """Branches never take more memory than their node."""
        return np.zeros(len(tested), np.int64)

    def children(self, tested: Array) -> "Cubes | Fringe":
        """The branches of every node, in order; as entries when cubes would be small."""
        answers, fresh, paths = self.paths.answers, self.paths.fresh(tested), self.paths.branched(tested)
        cubes = tuple(
            branch
            for cube, column, undo in zip(self.cubes, tested.tolist(), fresh.tolist(), strict=True)
            if column >= 0
            for branch in branches(cube, column, answers, answers.laws[answers.law_of[column]] if undo else None)
        )
        if sum(cube.sums[0].size for cube in cubes) < CELLS_A_NODE * len(cubes):
            return Fringe(paths, as_entries(cubes, answers))
        return Cubes(paths, cubes)

    @cached_property
    def _sums(self) -> list[Floats]:
        """For each column those of weights and of squares (2, nodes, classes, levels)."""
        answers = self.paths.answers
        found = [np.zeros((2, self.nodes, len(answers.levels[-1]), len(texts))) for texts in answers.levels[:-1]]
        for node, cube in enumerate(self.cubes):
            for column, sums in zip(cube.columns, margins(cube.sums, cube.bins), strict=True):
                found[column][:, node] = sums[:, :, : found[column].shape[3]]  # a missing answer counts nowhere
        return found


def fits(answers: Answers) -> bool:
    """Whether all combinations of answers are few enough to be counted one by one."""
    most = CELLS_A_ROW_OF_COINS if len(answers.laws) > 1 else CELLS_A_ROW
    return prod(answers.bins) <= min(MOST_CELLS, most * answers.rows)


def as_entries(cubes: Sequence[Cube], answers: Answers) -> Entries:
    """One entry for every cell that rows count in."""
    node, codes, sums = [], [], []
    for number, cube in enumerate(cubes):
        there = cube.sums[1] != 0
        label, cell = np.nonzero(there)
        each = np.zeros((len(answers.names), len(cell)), answers.codes.dtype)
        each[-1] = label
        for column, count in zip(reversed(cube.columns), reversed(cube.bins), strict=True):
            cell, each[column] = np.divmod(cell, count)
        node.append(np.full(len(label), number))
        codes.append(each)
        sums.append(cube.sums[:, there])
    values, squares = np.concatenate(sums, axis=1)
    return Entries(np.concatenate(node), np.concatenate(codes, axis=1), Weights(values, squares, None))
