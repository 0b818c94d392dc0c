"""The fringe of a growing tree: its unfinished nodes, and the estimated counts in each of them, from entries.

The weights of the entries in a node sum to the unbiased count of `leafcover.randomized_response.estimate`, for all
nodes at once. For open answers every weight is 1, and the counts are plain. `depths` sends a test set through a
finished tree.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod

import numpy as np

from leafcover.arrays import Array, Bools, Floats, Rows
from leafcover.errors import PlanError, TableError
from leafcover.randomized_response.estimate import Scheme
from leafcover.randomized_response.tree_entries import (
    Answers,
    ColumnMechanism,
    Entries,
    Move,
    Paths,
    Tally,
    Weights,
    answers,
    branch_moves,
    kept,
    merged,
    moved,
    onwards,
    summed,
)
from leafcover.table.table import Table
from leafcover.tree.tree import Tree, levels


@dataclass(frozen=True, eq=False)
class Fringe:
    """Nodes numbered from 0, and the entries in them."""

    paths: Paths
    entries: Entries

    @staticmethod
    def root(answers: Answers, *, by_row: bool = False) -> "Fringe":
        """The root alone; with ``by_row`` entries keep the number of their row."""
        rows = answers.rows
        entries = Entries(
            np.zeros(rows, np.int64), answers.codes, Weights.ones(rows), np.arange(rows) if by_row else None
        )
        return Fringe(Paths.root(answers), entries)

    @property
    def nodes(self) -> int:
        """The number of nodes."""
        return self.paths.nodes

    @property
    def rows(self) -> int:
        """The number of rows that the tree is grown from."""
        return self.paths.answers.rows

    @property
    def free(self) -> Bools:
        """(nodes, attributes) not yet tested on the path to the node."""
        return self.paths.free

    def classes(self) -> Tally:
        """The count of each class, as for a column with one level."""
        return self.paths.tally(*self._sums(np.zeros(len(self.entries), np.uint8), 1))

    def column(self, column: int) -> Tally:
        """The count of each level of a column with each class; missing values are not counted."""
        levels = len(self.paths.answers.levels[column])
        return self.paths.tally(*self._sums(self.entries.codes[column], levels), column)

    def made(self, tested: Array) -> Rows:
        """For each node the number of entries that its test creates; 0 where every entry goes to one branch."""
        held = np.bincount(self.entries.node, minlength=self.nodes + 1)[:-1]
        return np.where(self.paths.fresh(tested), held * self.paths.answers.sizes[tested], 0)

    def children(self, tested: Array) -> "Fringe":
        """The branches of every node, in order; ``tested`` is the column that a node tests, -1 for a leaf."""
        answers, fresh, paths = self.paths.answers, self.paths.fresh(tested), self.paths.branched(tested)
        branches = np.where(tested >= 0, answers.sizes[tested], 0)
        first, nodes = np.cumsum(branches) - branches, paths.nodes
        node = onwards(self.entries, np.where(fresh, -1, tested), first, answers.sizes, nodes)
        if not fresh.any():
            return Fringe(paths, kept(self.entries, node, nodes))
        on = np.flatnonzero(node < nodes)
        moves = [Move(on, node[on], np.ones(1), np.zeros(len(on), np.uint8))]
        for column in np.unique(tested[fresh]).tolist():
            here = np.where(fresh & (tested == column), first, -1)
            moves += branch_moves(self.entries, column, answers.mechanisms[answers.mechanism_of[column]], here)
        asked = np.column_stack([paths.free, np.ones(nodes, np.bool_)])  # the class always
        return Fringe(paths, merged(moved(self.entries, moves), answers.bins, asked))

    def rows_of(self, some: Bools) -> Rows:
        """The rows of some entries, if the root was created with ``by_row``."""
        if self.entries.row is None:
            raise ValueError("The entries of this fringe have no row numbers. Create its root with by_row=True.")
        return self.entries.row[some]

    def _sums(self, codes: Array, levels: int) -> tuple[Floats, Floats]:
        """The sums of weights and of their squares by node, code and class (nodes, levels, classes)."""
        classes, bins = len(self.paths.answers.levels[-1]), levels + 1  # the last for missing values
        values, squares = (
            one.reshape(self.nodes + 1, classes, bins)[:-1, :, :levels].transpose(0, 2, 1)
            for one in summed(self.entries.weights, self._base, codes, (self.nodes + 1) * classes, bins)
        )
        return values, squares

    @cached_property
    def _base(self) -> Rows:
        """Node, class and kind of each entry as one number, the same for all columns."""
        base = self.entries.node * len(self.paths.answers.levels[-1])
        base += self.entries.codes[-1]
        kind, few = self.entries.weights.kind, self.entries.weights.few
        if kind is not None and few > 1:
            base *= few
            base += kind
        return base


# The rows of a test set in the nodes of a finished tree.


def answers_for(tree: Tree, table: Table, scheme: Scheme) -> Answers:
    """The rows with a known class and known tested values, with the columns and levels of the tree."""
    used = [tree.attributes[number] for number in np.unique(tree.tested[tree.tested >= 0])]
    for attribute in used:
        if attribute.is_number:
            raise PlanError(
                f"The tree must test categories only. It cuts the number {attribute.name!r}. Grow it with grow_tree."
            )
    wanted = {attribute.name: attribute.levels for attribute in used}
    others = tuple(text for text in scheme.levels(table, tree.target) if text not in tree.classes)
    wanted[tree.target] = tree.classes + others  # the tree is wrong on a class it does not know
    found = answers(table, scheme, tuple(wanted), wanted).complete()
    if not found.rows:
        asked = ", ".join(map(repr, wanted))
        raise TableError(f"No row has a value in all of {asked}. Use a test set with such rows.")
    return found


def depths(tree: Tree, found: Answers) -> Iterator[tuple[Array, Fringe]]:
    """The nodes of each depth of a tree, and the fringe of the rows in them."""
    places = np.full(len(tree.attributes) + 1, -1)
    names = [attribute.name for attribute in tree.attributes]
    for place, name in enumerate(found.names[:-1]):
        places[names.index(name)] = place
    fringe = Fringe.root(found, by_row=True)
    for nodes in levels(tree):
        yield nodes, fringe
        tested = places[tree.tested[nodes]]
        if (tested >= 0).any():
            fringe = fringe.children(tested)


def right_answers(fringe: Fringe, labels: Array) -> Floats:
    """For each entry a weight with expectation 1 where the true row is in the node and has its label, else 0."""
    entries, axis = fringe.entries, fringe.paths.axis(-1)
    alone, label = np.append(axis.alone, False)[entries.node], np.append(labels, 0)[entries.node]
    report = entries.codes[-1]
    counted = np.where(alone, axis.inverse[label, report], label == report)
    counted[entries.node >= fringe.nodes] = 0.0
    return counted * entries.weights.each().values


# Counts for small trees: the nodes of a fringe as cubes over all combinations of untested answers. A cell is a class
# and a value of each column that is not yet tested. It holds the sum of the weights of the rows with this report, and
# the sum of their squares. A branch is a linear transformation of its node's cells. `Cubes` gives the same counts as
# `Fringe`; it is faster when the combinations are few, because rows are counted only once.


BLOCK = 1 << 16  # rows whose cells are numbered at once, to fit the cache


@dataclass(frozen=True, eq=False)
class Cube:
    """The cells of a node; the values of the first column are outermost."""

    columns: tuple[int, ...]  # not yet tested, in order
    bins: tuple[int, ...]  # number of codes of each
    sums: Floats  # (2, classes, cells): of weights, and of their squares


def counted(answers: Answers) -> Cube:
    """The cube of all rows, each with weight 1."""
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

    The columns are halved recursively, so that all margins cost little more than two sums over the cells.

    >>> [one[0].tolist() for one in margins(np.arange(1.0, 7.0).reshape(1, 1, 6), [2, 3])]
    [[[6.0, 15.0]], [[5.0, 7.0, 9.0]]]
    """
    if len(bins) < 2:
        return [sums] * len(bins)
    half = len(bins) // 2
    folded = sums.reshape(*sums.shape[:2], prod(bins[:half]), prod(bins[half:]))
    return margins(folded.sum(axis=3), bins[:half]) + margins(folded.sum(axis=2), bins[half:])


def branches(cube: Cube, column: int, answers: Answers, mechanism: ColumnMechanism | None) -> Iterator[Cube]:
    """The branch of each level of a column; ``mechanism`` is that of the column where it is not yet inverted."""
    place, classes = cube.columns.index(column), cube.sums.shape[1]
    columns, bins = (one[:place] + one[place + 1 :] for one in (cube.columns, cube.bins))
    folded = cube.sums.reshape(2, classes, prod(bins[:place]), cube.bins[place], prod(bins[place:]))
    # take is faster than slicing: slices of the last columns are copied in small pieces, three times as slowly.
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
    """For each cell the one with flipped values in the columns of a coin."""
    cells = np.zeros(1, np.int64)
    for column, count in zip(columns, bins, strict=True):
        codes = _turned_codes(count) if column in mechanism.columns else np.arange(count)
        cells = np.add.outer(cells * count, codes).ravel()
    return cells


def _turned_codes(count: int) -> Array:
    """The two levels swapped; missing stays missing."""
    return np.array([1, 0, 2])[:count]


# The nodes of a fringe as cubes.
#
# The branches of a node together have no more cells than the node, whatever the scheme. Entries, in contrast, go to
# every branch of a test that inverts a mechanism, so their number grows with each such test.


MOST_CELLS = 1 << 23  # 128 megabytes for each depth, half a gigabyte in all (measured)
CELLS_A_ROW = 8  # with more, nearly all cells are empty and counting rows is faster
CELLS_A_ROW_OF_COINS = 32  # the same with several coins, which would create many entries per row
CELLS_A_NODE = 2048  # with fewer on average, counting the entries of all nodes at once is faster


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
        """The number of nodes."""
        return self.paths.nodes

    @property
    def rows(self) -> int:
        """The number of rows that the tree is grown from."""
        return self.paths.answers.rows

    @property
    def free(self) -> Bools:
        """(nodes, attributes) not yet tested on the path to the node."""
        return self.paths.free

    def classes(self) -> Tally:
        """The count of each class, as for a column with one level."""
        sums = np.stack([cube.sums.sum(axis=2, keepdims=True) for cube in self.cubes], axis=1)
        values, squares = sums.swapaxes(2, 3)
        return self.paths.tally(values, squares)

    def column(self, column: int) -> Tally:
        """The count of each level of a column with each class; 0 where the column is already tested."""
        values, squares = self._sums[column].swapaxes(2, 3)
        return self.paths.tally(values, squares, column)

    def made(self, tested: Array) -> Rows:
        """Always 0: branches never take more memory than their node."""
        return np.zeros(len(tested), np.int64)

    def children(self, tested: Array) -> "Cubes | Fringe":
        """The branches of every node, in order; as entries when the cubes would be small."""
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
        """For each column the sums of weights and of squares (2, nodes, classes, levels)."""
        answers = self.paths.answers
        found = [np.zeros((2, self.nodes, len(answers.levels[-1]), len(texts))) for texts in answers.levels[:-1]]
        for node, cube in enumerate(self.cubes):
            for column, sums in zip(cube.columns, margins(cube.sums, cube.bins), strict=True):
                found[column][:, node] = sums[:, :, : found[column].shape[3]]  # missing values are not counted
        return found


def fits(answers: Answers) -> bool:
    """Whether the combinations of values are few enough for cubes."""
    most = CELLS_A_ROW_OF_COINS if len(answers.mechanisms) > 1 else CELLS_A_ROW
    return prod(answers.bins) <= min(MOST_CELLS, most * answers.rows)


def as_entries(cubes: Sequence[Cube], answers: Answers) -> Entries:
    """One entry for every cell that is not empty."""
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
