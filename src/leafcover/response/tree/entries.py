"""Rows on their way through a tree: an entry is a node, the answers of a row as they are read there, and a weight.

Where a node tests a column whose coin nothing above it tested, an entry goes to every branch, with what its report
counts for that truth; where a coin is shared, the other answers of the coin are turned with it. From there on the
answers of that coin are read as they stand, and an entry goes to one branch.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from leafcover.fast.arrays import Array, Rows
from leafcover.response.tree.laws import Law
from leafcover.response.tree.weights import Weights, joined

FEW_ALIVE = 0.5  # entries are moved together when no more than this share stands in a node


@dataclass(frozen=True, eq=False)
class Entries:
    """Entries that count in no node stand in a node after the last."""

    node: Rows  # (entries,)
    codes: Array  # (columns, entries) the number of levels where an answer is missing
    weights: Weights
    row: Rows | None = None  # (entries,) where they come from, if somebody asks

    def __len__(self) -> int:
        return len(self.node)

    def take(self, some: Array) -> "Entries":
        """Some of the entries."""
        row = None if self.row is None else self.row[some]
        return Entries(self.node[some], self.codes[:, some], self.weights.take(some), row)


def onwards(entries: Entries, tested: Array, first: Array, levels: Array, nodes: int) -> Entries:
    """Entries that go to one of ``nodes`` branches, by the answer they hold; others count nowhere from here on.

    ``tested`` is the column of each node, -1 where none is, and ``first`` its first branch.
    """
    column = np.append(tested, -1)[entries.node]
    code = entries.codes[column, np.arange(len(column))]
    node = np.append(first, 0)[entries.node] + code
    node[(column < 0) | (code >= levels[column])] = nodes
    alive = np.count_nonzero(node < nodes)
    moved = Entries(node, entries.codes, entries.weights, entries.row)
    return moved.take(np.flatnonzero(node < nodes)) if alive <= FEW_ALIVE * len(node) else moved


def parted(entries: Entries, column: int, law: Law, first: Array) -> Iterator[Entries]:
    """For every truth of a column the entries that count for it, in the nodes that have a first branch here."""
    report = entries.codes[column]
    here = (np.append(first, -1)[entries.node] >= 0) & (report < len(law.inverse))
    for truth, counted in enumerate(law.inverse):
        some = np.flatnonzero(here & (np.append(counted, 0) != 0)[report])
        taken = entries.take(some)
        if len(law.columns) > 1:
            turn = report[some] != truth
            for one in law.columns:
                taken.codes[one] ^= turn & (taken.codes[one] < 2)
        yield Entries(first[taken.node] + truth, taken.codes, taken.weights.times(counted, report[some]), taken.row)


def together(pieces: Sequence[Entries]) -> Entries:
    """All entries of several lists."""
    if len(pieces) == 1:
        return pieces[0]
    rows = [piece.row for piece in pieces if piece.row is not None]
    return Entries(
        np.concatenate([piece.node for piece in pieces]),
        np.concatenate([piece.codes for piece in pieces], axis=1),
        joined([piece.weights for piece in pieces]),
        np.concatenate(rows) if rows else None,
    )
