"""Nearest-neighbour linkage: how often the released row most like a person is that person's own.

The attacker knows the person's original values of the key columns and takes the nearest released row by Gower's
distance. An attacker who also knows the method can do better; this is the figure other tools report.
"""

from collections.abc import Sequence

import numpy as np

from leafcover.fast.arrays import Rows
from leafcover.measuring.figures import Risk, risk_of
from leafcover.measuring.gower import scaled
from leafcover.measuring.pair import Pair

MOST_COMPARISONS = 100_000_000  # pairs of rows compared at most; beyond that a fixed sample of people is attacked


def linkage(pair: Pair, *, columns: Sequence[str] = (), comparisons: int = MOST_COMPARISONS) -> Risk:
    """The share of people whose own released row is nearest, ties averaged; over the key columns unless named."""
    from leafcover.fast.near import own_among_nearest

    rows = len(pair.original)
    people = attacked(rows, max(1, min(rows, comparisons // max(rows, 1))))
    ours, theirs = scaled([pair.original, pair.released], columns or pair.keys)
    hits = own_among_nearest(ours.numbers[people], ours.codes[people], theirs.numbers, theirs.codes, people)
    return risk_of(hits)


def attacked(rows: int, wanted: int) -> Rows:
    """Evenly spaced rows, so that no draw is needed and every part of the file is met."""
    return np.unique(np.linspace(0, rows - 1, wanted).astype(np.int64))
