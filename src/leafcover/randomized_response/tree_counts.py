"""The fringe of a growing tree: its unfinished nodes, and the estimated counts in each of them, from entries.

The weights of the entries in a node sum to the unbiased count of `leafcover.randomized_response.estimate`, for all
nodes at once. For open answers every weight is 1, and the counts are plain. `depths` sends a test set through a
finished tree.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from leafcover.arrays import Array, Bools, Floats, Rows
from leafcover.errors import PlanError, TableError
from leafcover.randomized_response.estimate import Scheme
from leafcover.randomized_response.tree_entries import (
    Answers,
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
