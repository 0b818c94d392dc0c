"""What a forest answers: its trees are asked one by one, and each has a vote.

A forest is a tuple of trees with the same attributes and classes, so that they can be walked alike. It is never empty.
"""

from collections.abc import Iterator, Sequence
from typing import Literal, TypeAlias

import numpy as np

from leafcover.errors import ValueOutOfRange
from leafcover.fast.arrays import Array, Codes, Floats
from leafcover.table.table import Table
from leafcover.tree.training import Training
from leafcover.tree.tree import Tree
from leafcover.tree.walk import Columns, columns_for, distribution, places, wrong_answers

Forest: TypeAlias = Sequence[Tree]
Voting: TypeAlias = Literal["majority", "most-accurate-leaf", "combined"]

VOTINGS: tuple[Voting, ...] = ("majority", "most-accurate-leaf", "combined")

_BLOCK = 65_536  # rows asked at once: shares of many classes need not stand in memory for all of them


def columns_of(trees: Forest, rows: Table | Training | Columns) -> Columns:
    """One array for each attribute of the trees; of a table they are matched once for all trees."""
    if isinstance(rows, Table):
        tested = set(np.concatenate([tree.tested for tree in trees]).tolist())
        return columns_for(trees[0], rows, tested=tested)
    return rows.columns if isinstance(rows, Training) else rows


def votes(trees: Forest, rows: Table | Training | Columns) -> Floats:
    """How many trees answer each class (rows, classes): one vote a tree, so each row sums to their number."""
    return np.concatenate([_ballots(trees, block)[0] for block in _blocks(trees, rows)])


def classify_forest(trees: Forest, rows: Table | Training | Columns, *, voting: Voting = "majority") -> Codes:
    """The class (code) that the trees answer each row together.

    "majority": the class with most votes. Of classes with equally many, the one whose trees are surer: with the
    larger sum of its shares in the leaves that voted for it (for two classes this is SysFor's own rule); then the
    first. Experimental, for the paper's own rules are known by name only: "most-accurate-leaf", the tree in whose leaf
    the share of its class is largest decides, of equal ones that with more training rows, then the earlier tree;
    "combined", the class with the largest sum of those shares, as in a tie of votes.
    """
    check_voting(voting)
    found = []
    for block in _blocks(trees, rows):
        if voting == "most-accurate-leaf":
            found.append(_surest(trees, block).argmax(axis=1))
            continue
        ballots, sureness = _ballots(trees, block)
        if voting == "majority":
            sureness[ballots < ballots.max(axis=1, keepdims=True)] = -1.0
        found.append(sureness.argmax(axis=1))
    return np.concatenate(found).astype(np.int32)


def forest_shares(trees: Forest, rows: Table | Training | Columns, *, voting: Voting = "majority") -> Floats:
    """For each class what speaks for it (rows, classes), each row summing to one.

    "majority": the share of the votes; "combined": of the summed shares; "most-accurate-leaf": the shares of classes in
    that leaf.
    """
    check_voting(voting)
    found = []
    for block in _blocks(trees, rows):
        if voting == "most-accurate-leaf":
            found.append(_surest(trees, block))
        else:
            chosen = _ballots(trees, block)[0 if voting == "majority" else 1]
            found.append(chosen / chosen.sum(axis=1, keepdims=True))
    return np.concatenate(found)


def forest_errors(trees: Forest, training: Training, *, voting: Voting = "majority") -> int:
    """How many training rows the trees together answer wrongly."""
    return int(np.count_nonzero(classify_forest(trees, training, voting=voting) != training.labels))


def forest_errors_on(trees: Forest, table: Table, *, voting: Voting = "majority") -> int:
    """How many rows of another table with a known target they answer wrongly."""
    return wrong_answers(trees[0], table, classify_forest(trees, table, voting=voting))


def _blocks(trees: Forest, rows: Table | Training | Columns) -> Iterator[list[Array]]:
    """The columns of some thousand rows at a time; one empty block when there are no rows."""
    columns = columns_of(trees, rows)
    if not columns and isinstance(rows, (Table, Training)):
        # no attributes, yet rows to answer: they are counted by a column that no tree tests
        columns = [np.empty(len(rows) if isinstance(rows, Table) else len(rows.labels))]
    count = len(columns[0]) if columns else 0
    for begin in range(0, max(count, 1), _BLOCK):
        yield [column[begin : begin + _BLOCK] for column in columns]


def _ballots(trees: Forest, columns: Columns) -> tuple[Floats, Floats]:
    """For each class its votes, and the sum of its shares where it won the vote (both rows, classes)."""
    shares = distribution(trees[0], columns)
    ballots, sureness, line = np.zeros_like(shares), np.zeros_like(shares), np.arange(len(shares))
    for number, tree in enumerate(trees):
        if number:
            shares = distribution(tree, columns)
        answer = shares.argmax(axis=1)
        ballots[line, answer] += 1
        sureness[line, answer] += shares[line, answer]
    return ballots, sureness


def _surest(trees: Forest, columns: Columns) -> Floats:
    """The shares of classes (rows, classes) in the most accurate leaf that each row reaches."""
    best: Floats = distribution(trees[0], columns)
    support = _support(trees[0], columns)
    for tree in trees[1:]:
        shares, rows = distribution(tree, columns), _support(tree, columns)
        mine, other = shares.max(axis=1), best.max(axis=1)
        better = (mine > other) | ((mine == other) & (rows > support))
        best[better], support[better] = shares[better], rows[better]
    return best


def _support(tree: Tree, columns: Columns) -> Floats:
    """The training rows in the leaves that each row reaches."""
    found = places(tree, columns)
    held = tree.counts[tree.leaves].sum(axis=1)
    sums: Floats = np.add.reduceat(held[found.leaves], found.start[:-1])
    return sums[found.place]


def check_voting(voting: str) -> None:
    """Refuse a voting that there is not."""
    if voting not in VOTINGS:
        raise ValueOutOfRange("voting", voting, " or ".join(repr(name) for name in VOTINGS))
