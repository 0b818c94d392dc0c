"""What has been tested on the way to each node of a fringe, and how answers are read there.

A column is tested once on a way. The first test of a column undoes its law; from there on the answers of that law, of
all its columns where they share a coin, are read as they stand.
"""

from dataclasses import dataclass

import numpy as np

from leafcover.fast.arrays import Array, Bools, Floats
from leafcover.response.tree.laws import OPEN, Answers
from leafcover.response.tree.tally import Axis, Tally, undone


@dataclass(frozen=True, eq=False)
class Paths:
    """The ways to nodes that are numbered from 0."""

    answers: Answers
    touched: Bools  # (nodes, laws) of which a column has been tested
    free: Bools  # (nodes, attributes) that have not been tested

    @staticmethod
    def root(answers: Answers) -> "Paths":
        """The way to the root, where nothing has been tested."""
        return Paths(
            answers,
            touched=np.zeros((1, len(answers.laws)), np.bool_),
            free=np.ones((1, answers.attributes), np.bool_),
        )

    @property
    def nodes(self) -> int:
        """How many nodes."""
        return len(self.free)

    def branched(self, tested: Array) -> "Paths":
        """The ways to the branches of every node, in order; ``tested`` names a column, -1 for a leaf."""
        branches = np.where(tested >= 0, self.answers.sizes[tested], 0)
        parent = np.repeat(np.arange(self.nodes), branches)
        touched, free = self.touched[parent], self.free[parent]
        free[np.arange(len(parent)), tested[parent]] = False
        new = np.flatnonzero(self.fresh(tested)[parent])
        touched[new, np.array(self.answers.law_of)[tested[parent[new]]]] = True
        return Paths(self.answers, touched, free)

    def fresh(self, tested: Array) -> Bools:
        """Which nodes test a column whose law is still to be undone."""
        law = np.where(tested >= 0, np.array(self.answers.law_of)[tested], OPEN)
        fresh = law != OPEN
        fresh[fresh] = ~self.touched[fresh, law[fresh]]
        return fresh

    def axis(self, column: int) -> Axis:
        """How the answers to a column are read in each node; -1 is the class."""
        law = self.answers.law_of[column]
        if law == OPEN:
            return Axis(np.eye(len(self.answers.levels[column])), np.zeros(self.nodes, np.bool_))
        return Axis(self.answers.laws[law].inverse, ~self.touched[:, law])

    def tally(self, values: Floats, squares: Floats, column: int | None = None) -> Tally:
        """Counts of truths from sums over reports (nodes, levels, classes) of weights and of their squares.

        Without a column they are those of the classes, as of a column with one level.
        """
        law = OPEN if column is None else self.answers.law_of[column]
        together = law != OPEN and law == self.answers.law_of[-1]
        own = Axis(np.ones((1, 1)), np.zeros(self.nodes, np.bool_)) if column is None else self.axis(column)
        label = self.axis(-1)
        return Tally(undone(values, own, label, together=together), squares, own, label, together)
