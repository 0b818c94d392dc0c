"""Entries that differ in nothing a node will still ask for are one entry, with their weights added up.

A coin for every column sends each entry to all branches, so entries would double with every depth; but each test also
leaves a column less to tell them apart. Merged, they are no more than the combinations of answers that are left.
"""

from collections.abc import Sequence

import numpy as np

from leafcover.fast.arrays import Bools, Floats, Rows
from leafcover.response.tree.entries import Entries
from leafcover.response.tree.weights import Weights

MOST_CELLS = 2.0**62  # that a number of 64 bits can tell apart


def merged(entries: Entries, bins: Sequence[int], asked: Bools) -> Entries:
    """The entries, merged when that surely makes them fewer.

    ``bins`` are the codes that each column may hold, and ``asked`` (nodes, columns) the columns still to be read.
    """
    if entries.row is not None or len(asked) * np.prod(np.array(bins, np.float64)) > MOST_CELLS:
        return entries
    if np.where(asked, np.array(bins, np.float64), 1.0).prod(axis=1).sum() > len(entries):
        return entries
    key = _key(entries, bins, asked)
    order = np.argsort(key)
    starts = np.flatnonzero(np.diff(key[order], prepend=-1))
    weights = entries.weights.each()
    values, squares = (_added(one[order], starts) for one in (weights.values, weights.squares))
    some = order[starts]
    return Entries(entries.node[some], entries.codes.take(some, axis=1), Weights(values, squares, None))


def _key(entries: Entries, bins: Sequence[int], asked: Bools) -> Rows:
    """Node and answers in one number; a column that is not asked in a node tells nothing apart there."""
    key = entries.node.copy()
    for column, count in enumerate(bins):
        if not asked[:, column].any():
            continue
        key *= count
        codes = entries.codes[column]
        # Most columns are asked in all nodes: looking up each entry's would take half of the time.
        key += codes if asked[:, column].all() else codes * asked[:, column].take(entries.node)
    return key


def _added(values: Floats, starts: Rows) -> Floats:
    return np.add.reduceat(values, starts) if len(starts) else values
