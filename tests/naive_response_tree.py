"""Slow twins of trees from disguised answers: a counter that weighs every row anew, and ID3 as the paper prints it."""

from dataclasses import dataclass
from math import log2

import numpy as np

from leafcover.randomized_response.estimate import weights


@dataclass
class NaiveTally:
    """For every node the weights of every row for every level and class."""

    each: list  # of arrays (rows, levels, classes)
    branch: list  # of arrays (rows, levels): without the class

    @property
    def counts(self):
        return np.array([one.sum(axis=0) for one in self.each])

    def sizes(self, rows):
        sizes = np.array([one.sum(axis=0) for one in self.branch])
        second = np.array([(one**2).sum(axis=0) for one in self.branch])
        return sizes, np.sqrt(np.maximum(second - sizes**2 / rows, 0))

    def noise(self, shares, classes):
        return np.array([naive_noise(*one) for one in zip(self.each, shares, classes, strict=True)])


def naive_noise(each, p, q):
    """Σ over rows of Σ d² / (p q), d being the row's own table centred by the margins."""
    found = 0.0
    for table in each:
        centred = (
            (np.eye(len(p)) - np.outer(p, np.ones(len(p)))) @ table @ (np.eye(len(q)) - np.outer(np.ones(len(q)), q))
        )
        for a in range(len(p)):
            for c in range(len(q)):
                if p[a] > 0 and q[c] > 0:
                    found += centred[a, c] ** 2 / (p[a] * q[c])
    return found


class NaiveCounter:
    """Nodes as conjunctions; every count is asked of `leafcover.randomized_response.estimate.weights`."""

    def __init__(self, table, scheme, names, literals=({},)):
        self.table, self.scheme, self.names, self.literals = table, scheme, names, literals
        self.levels = [scheme.levels(table, name) for name in names]
        self.nodes, self.rows = len(literals), len(table)
        self.free = np.array([[name not in one for name in names[:-1]] for one in literals])

    def classes(self):
        return self._tally([{}])

    def column(self, column):
        return self._tally([{self.names[column]: text} for text in self.levels[column]])

    def _tally(self, tests):
        labels = [{self.names[-1]: text} for text in self.levels[-1]]
        each = [
            np.array([[self._weights(one | test | label) for label in labels] for test in tests]).transpose(2, 0, 1)
            for one in self.literals
        ]
        branch = [np.array([self._weights(one | test) for test in tests]).T for one in self.literals]
        return NaiveTally(each, branch)

    def _weights(self, literals):
        return weights(self.table, self.scheme, literals)

    def made(self, tested):
        return np.zeros(self.nodes, int)

    def children(self, tested):
        new = [
            one | {self.names[column]: text}
            for one, column in zip(self.literals, tested, strict=True)
            if column >= 0
            for text in self.levels[column]
        ]
        return NaiveCounter(self.table, self.scheme, self.names, new)


def id3(rows, labels, levels, left):
    """ID3(S, AL) as paper 003 prints it: a class, or (attribute, {value: subtree}). Of equal gains the first wins."""
    majority = max(sorted(set(labels)), key=labels.count)
    if len(set(labels)) == 1 or not left:
        return majority
    gain = {a: entropy(labels) - rest(rows, labels, a) for a in left}
    best = next(a for a in left if gain[a] >= max(gain.values()) - 1e-10)
    branches = {}
    for value in range(levels[best]):
        inside = [i for i, row in enumerate(rows) if row[best] == value]
        branches[value] = majority
        if inside:
            others = [a for a in left if a != best]
            branches[value] = id3([rows[i] for i in inside], [labels[i] for i in inside], levels, others)
    return best, branches


def entropy(labels):
    return -sum(labels.count(c) / len(labels) * log2(labels.count(c) / len(labels)) for c in set(labels))


def rest(rows, labels, a):
    found = 0.0
    for value in {row[a] for row in rows}:
        inside = [label for row, label in zip(rows, labels, strict=True) if row[a] == value]
        found += len(inside) / len(labels) * entropy(inside)
    return found


def nested(tree, node=0):
    """A tree in the form of `id3`."""
    if tree.tested[node] < 0:
        return int(tree.label[node])
    children = range(tree.first[node], tree.first[node] + tree.branches[node])
    return int(tree.tested[node]), {value: nested(tree, child) for value, child in enumerate(children)}


def accuracy_of_one_coin(tree, answers, theta, disguised):
    """Paper 003, § 4.3: [θ a - (1 - θ) b] / (2θ - 1), a and b the shares right of reports and complements."""
    turned = {name: [1 - v for v in column] if name in disguised else column for name, column in answers.items()}
    a, b = (_share_right(tree, one) for one in (answers, turned))
    return (theta * a - (1 - theta) * b) / (2 * theta - 1)


def _share_right(tree, answers):
    right = 0
    rows = len(answers[tree.target])
    for i in range(rows):
        node = 0
        while tree.tested[node] >= 0:
            node = tree.first[node] + answers[tree.attributes[tree.tested[node]].name][i]
        right += tree.label[node] == answers[tree.target][i]
    return right / rows
