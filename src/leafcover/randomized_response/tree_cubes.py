"""One node as sums over all combinations of the answers that it may still ask for.

A cell is a class and an answer to each column that was not tested on the way. It holds the sum of the weights of the
rows that report this, and the sum of their squares. A branch is a linear image of its node's cells.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod

import numpy as np

from leafcover.arrays import Array, Bools, Floats, Rows
from leafcover.randomized_response.tree_counts import Fringe
from leafcover.randomized_response.tree_entries import Answers, ColumnMechanism, Entries, Paths, Tally, Weights

BLOCK = 1 << 16  # rows whose cells are numbered at once: they stay in the cache


@dataclass(frozen=True, eq=False)
class Cube:
    """The cells of a node, the first column's answers outermost."""

    columns: tuple[int, ...]  # that have not been tested, in order
    bins: tuple[int, ...]  # how many answers to each can be told apart
    sums: Floats  # (2, classes, cells) of weights, and of their squares


def counted(answers: Answers) -> Cube:
    """All rows, each with the weight 1."""
    classes, columns = len(answers.levels[-1]), range(answers.attributes)
    cells = np.empty(answers.rows, np.int64)
    for begin in range(0, answers.rows, BLOCK):
        here = cells[begin : begin + BLOCK]
        here[:] = answers.codes[-1, begin : begin + BLOCK]
        for column in columns:
            here *= answers.bins[column]
            here += answers.codes[column, begin : begin + BLOCK]
    bins = answers.bins[:-1]
    found = np.bincount(cells, minlength=classes * prod(bins)).astype(np.float64)
    return Cube(tuple(columns), bins, np.stack([found, found]).reshape(2, classes, -1))


def margins(sums: Floats, bins: Sequence[int]) -> list[Floats]:
    """For every column the sums over all others (2, classes, bins).

    Columns are halved again and again, so that all of them together cost little more than two sums over the cells.

    >>> [one[0].tolist() for one in margins(np.arange(1.0, 7.0).reshape(1, 1, 6), [2, 3])]
    [[[6.0, 15.0]], [[5.0, 7.0, 9.0]]]
    """
    if len(bins) < 2:
        return [sums] * len(bins)
    half = len(bins) // 2
    folded = sums.reshape(*sums.shape[:2], prod(bins[:half]), prod(bins[half:]))
    return margins(folded.sum(axis=3), bins[:half]) + margins(folded.sum(axis=2), bins[half:])


def branches(cube: Cube, column: int, answers: Answers, mechanism: ColumnMechanism | None) -> Iterator[Cube]:
    """The branch of each level of a column; ``mechanism`` is the column's where it is still to be undone."""
    place, classes = cube.columns.index(column), cube.sums.shape[1]
    columns, bins = (one[:place] + one[place + 1 :] for one in (cube.columns, cube.bins))
    folded = cube.sums.reshape(2, classes, prod(bins[:place]), cube.bins[place], prod(bins[place:]))
    # Taken, not sliced: slices of the last columns are copied by twos, which takes three times as long.
    reports = [folded.take(code, axis=3).reshape(2, classes, -1) for code in range(len(answers.levels[column]))]
    if mechanism is None:
        for report in reports:
            yield Cube(columns, bins, report)
        return
    others = reports
    if len(mechanism.columns) > 1:
        turn = _turned(columns, bins, mechanism)
        label = _turned_codes(classes) if answers.attributes in mechanism.columns else np.arange(classes)
        others = [report[:, label].take(turn, axis=2) for report in reports]
    for truth, weights in enumerate(np.stack([mechanism.inverse, mechanism.inverse**2], axis=2)):
        sums = np.zeros_like(reports[0])
        for code, weight in enumerate(weights):
            sums += weight[:, None, None] * (reports if code == truth else others)[code]
        yield Cube(columns, bins, sums)


def _turned(columns: Sequence[int], bins: Sequence[int], mechanism: ColumnMechanism) -> Rows:
    """For each cell the one whose answers to the columns of a coin are the others."""
    cells = np.zeros(1, np.int64)
    for column, count in zip(columns, bins, strict=True):
        codes = _turned_codes(count) if column in mechanism.columns else np.arange(count)
        cells = np.add.outer(cells * count, codes).ravel()
    return cells


def _turned_codes(count: int) -> Array:
    """Two levels change places; a missing answer stays missing."""
    return np.array([1, 0, 2])[:count]


# The nodes of a fringe as cubes: where combinations of answers are few, rows are counted once and never read again.
#
# All branches of a node have no more cells than the node, whatever the scheme. Entries would go to every branch of a
# test that undoes a mechanism, and so double with each. The counts are those of `Fringe`.


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
            for branch in branches(
                cube, column, answers, answers.mechanisms[answers.mechanism_of[column]] if undo else None
            )
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
    most = CELLS_A_ROW_OF_COINS if len(answers.mechanisms) > 1 else CELLS_A_ROW
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
