"""Rows on their way through a tree: an entry is a node, the answers of a row as they are read there, and a weight.

Where a node tests a column whose coin nothing above it tested, an entry goes to every branch, with what its report
counts for that truth; where a coin is shared, the other answers of the coin are turned with it. From there on the
answers of that coin are read as they stand, and an entry goes to one branch.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from leafcover.fast.arrays import Array, Bools, Floats, Rows
from leafcover.response.tree.laws import Law
from leafcover.response.tree.weights import Weights, tidied

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


@dataclass(frozen=True, eq=False)
class Move:
    """Some entries on their way to a branch."""

    some: Rows  # among the entries
    node: Rows
    factors: Floats  # what they count there, times what they counted
    which: Array  # the number of an entry's factor
    law: Law | None = None
    turned: Bools | None = None  # whose answers to the law's columns are turned round


def onwards(entries: Entries, tested: Array, first: Array, levels: Array, nodes: int) -> Rows:
    """The branch of each entry by the answer it holds; ``nodes`` where nothing is tested or the answer is missing.

    ``tested`` is the column of each node, -1 where none is, and ``first`` its first branch.
    """
    column = np.append(tested, -1)[entries.node]
    code = entries.codes[column, np.arange(len(column))]
    node = np.append(first, 0)[entries.node]
    node += code
    node[(column < 0) | (code >= levels[column])] = nodes
    return node


def parted(entries: Entries, column: int, law: Law, first: Array) -> Iterator[Move]:
    """For every truth of a column the entries that count for it, in the nodes that have a first branch here."""
    here = np.flatnonzero((np.append(first, -1)[entries.node] >= 0) & (entries.codes[column] < len(law.inverse)))
    report, branch = entries.codes[column, here], first[entries.node[here]]
    for truth, counted in enumerate(law.inverse):
        some = slice(None) if counted.all() else np.flatnonzero(counted[report])
        turned = report[some] != truth if len(law.columns) > 1 else None
        yield Move(here[some], branch[some] + truth, counted, report[some], law, turned)


def moved(entries: Entries, moves: Sequence[Move]) -> Entries:
    """All entries where they go; answers are copied once."""
    some = np.concatenate([move.some for move in moves])
    codes, end = entries.codes.take(some, axis=1), 0
    for move in moves:
        begin, end = end, end + len(move.some)
        if move.law is not None and move.turned is not None:
            for column in move.law.columns:
                part = codes[column, begin:end]
                part ^= move.turned & (part < 2)
    return Entries(
        np.concatenate([move.node for move in moves]),
        codes,
        tidied(entries.weights.take(some).times(*_one_table(moves))),
        None if entries.row is None else entries.row[some],
    )


def _one_table(moves: Sequence[Move]) -> tuple[Floats, Array]:
    """All factors once, and the number of each entry's."""
    starts = np.cumsum([0, *(len(move.factors) for move in moves)])
    factors, place = np.unique(np.concatenate([move.factors for move in moves]), return_inverse=True)
    which = np.concatenate(
        [place.astype(np.int32)[start:][move.which] for move, start in zip(moves, starts, strict=False)]
    )
    return factors, which


def kept(entries: Entries, node: Rows, nodes: int) -> Entries:
    """The entries in other nodes; when many stand in none, without these."""
    alive = np.flatnonzero(node < nodes)
    if len(alive) > FEW_ALIVE * len(node):
        return Entries(node, entries.codes, entries.weights, entries.row)
    row = None if entries.row is None else entries.row[alive]
    return Entries(node[alive], entries.codes.take(alive, axis=1), entries.weights.take(alive), row)
