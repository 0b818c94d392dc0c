"""The nodes at the edge of a growing tree, and the counts in each of them.

The weights of the entries in a node add up to the unbiased count of `leafcover.response.estimate`, for all nodes of a
front at once. Without a disguise every entry counts 1 and the counts are plain.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from leafcover.fast.arrays import Array, Bools, Rows
from leafcover.response.tree.entries import Entries, Move, kept, moved, onwards, parted
from leafcover.response.tree.laws import OPEN, Answers
from leafcover.response.tree.merging import merged
from leafcover.response.tree.tally import Axis, Tally, undone
from leafcover.response.tree.weights import Weights, summed


@dataclass(frozen=True, eq=False)
class Front:
    """Nodes numbered from 0, and what has been tested on the way to each."""

    answers: Answers
    nodes: int
    entries: Entries
    touched: Bools  # (nodes, laws) of which a column has been tested
    free: Bools  # (nodes, attributes) that have not been tested

    @staticmethod
    def root(answers: Answers, *, by_row: bool = False) -> "Front":
        """The root alone; ``by_row`` lets entries remember the row they come from."""
        rows = answers.rows
        return Front(
            answers,
            nodes=1,
            entries=Entries(
                np.zeros(rows, np.int64), answers.codes, Weights.ones(rows), np.arange(rows) if by_row else None
            ),
            touched=np.zeros((1, len(answers.laws)), np.bool_),
            free=np.ones((1, answers.attributes), np.bool_),
        )

    @property
    def rows(self) -> int:
        """How many rows the tree grows from."""
        return self.answers.rows

    def classes(self) -> Tally:
        """The count of each class, as those of a column with one level."""
        nothing = Axis(np.ones((1, 1)), np.zeros(self.nodes, np.bool_))
        return self._tally(np.zeros(len(self.entries), np.uint8), 1, nothing, together=False)

    def column(self, column: int) -> Tally:
        """The count of each level of a column with each class; rows where it is missing count nowhere."""
        levels, law = len(self.answers.levels[column]), self.answers.law_of[column]
        shared = law != OPEN and law == self.answers.law_of[-1]
        return self._tally(self.entries.codes[column], levels, self.axis(column), together=shared)

    def made(self, tested: Array) -> Rows:
        """For each node how many entries its test would make of those it holds; 0 where each goes to one branch."""
        held = np.bincount(self.entries.node, minlength=self.nodes + 1)[:-1]
        return np.where(self._fresh(tested), held * self.answers.sizes[tested], 0)

    def children(self, tested: Array) -> "Front":
        """The branches of every node, in order; ``tested`` names the column that a node tests, -1 for a leaf."""
        levels = self.answers.sizes
        branches = np.where(tested >= 0, levels[tested], 0)
        first, nodes = np.cumsum(branches) - branches, int(branches.sum())
        fresh, law = self._fresh(tested), np.array(self.answers.law_of)[tested]
        parent = np.repeat(np.arange(self.nodes), branches)
        touched, free = self.touched[parent], self.free[parent]
        free[np.arange(nodes), tested[parent]] = False
        new = np.flatnonzero(fresh[parent])
        touched[new, law[parent[new]]] = True
        node = onwards(self.entries, np.where(fresh, -1, tested), first, levels, nodes)
        if not fresh.any():
            return Front(self.answers, nodes, kept(self.entries, node, nodes), touched, free)
        on = np.flatnonzero(node < nodes)
        moves = [Move(on, node[on], np.ones(1), np.zeros(len(on), np.uint8))]
        for column in np.unique(tested[fresh]).tolist():
            here = np.where(fresh & (tested == column), first, -1)
            moves += parted(self.entries, column, self.answers.laws[self.answers.law_of[column]], here)
        asked = np.column_stack([free, np.ones(nodes, np.bool_)])  # the class always
        entries = merged(moved(self.entries, moves), self.answers.bins, asked)
        return Front(self.answers, nodes, entries, touched, free)

    def _fresh(self, tested: Array) -> Bools:
        """Which nodes test a column whose law is still to be undone."""
        law = np.where(tested >= 0, np.array(self.answers.law_of)[tested], OPEN)
        fresh = law != OPEN
        fresh[fresh] = ~self.touched[fresh, law[fresh]]
        return fresh

    def rows_of(self, some: Bools) -> Rows:
        """The rows that some entries come from, when the root was told to remember them."""
        if self.entries.row is None:
            raise ValueError("This front does not know its rows. Make its root with by_row=True.")
        return self.entries.row[some]

    def axis(self, column: int) -> Axis:
        """How the answers to a column are read in each node; -1 is the class."""
        law = self.answers.law_of[column]
        if law == OPEN:
            return Axis(np.eye(len(self.answers.levels[column])), np.zeros(self.nodes, np.bool_))
        return Axis(self.answers.laws[law].inverse, ~self.touched[:, law])

    def _tally(self, codes: Array, levels: int, own: Axis, *, together: bool) -> Tally:
        classes, bins = len(self.answers.levels[-1]), levels + 1  # the last for missing answers
        sums = summed(self.entries.weights, self._base, codes, (self.nodes + 1) * classes, bins)
        values, squares = (
            one.reshape(self.nodes + 1, classes, bins)[:-1, :, :levels].transpose(0, 2, 1) for one in sums
        )
        label = self.axis(-1)
        return Tally(undone(values, own, label, together=together), squares, own, label, together)

    @cached_property
    def _base(self) -> Rows:
        """Node, class and kind of each entry in one number: the same for all columns."""
        base = self.entries.node * len(self.answers.levels[-1])
        base += self.entries.codes[-1]
        kind, few = self.entries.weights.kind, self.entries.weights.few
        if kind is not None and few > 1:
            base *= few
            base += kind
        return base
