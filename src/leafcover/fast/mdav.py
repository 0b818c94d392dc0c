"""MDAV: groups of k near rows, made from the outside to the inside.

Domingo-Ferrer & Mateo-Sanz 2002, exactly: the row r farthest from the centroid of the rows that remain makes a group
with its k - 1 nearest, the row farthest from r another, until fewer than 3k rows remain. Squared distances are added up
in the order of columns and the centroid comes from running sums, so that every way to search gives the same groups; of
equally near or far rows the lower one comes first.
"""

import numpy as np
from numba import njit

from leafcover.fast.arrays import Floats, Rows
from leafcover.fast.halving import halve
from leafcover.fast.living import Living, leave, settle
from leafcover.fast.living_search import farthest_living, nearest_living
from leafcover.fast.outermost import by_distance, farthest_from, is_worn

# Rows of a block at most: measured on 1,000,000 rows of ten columns with k = 10. Groups in blocks of 64,000 lose 1.21
# times what exact ones lose, in a fifth of the time; in blocks of 8,000 they lose 1.33 times, in half of that time.
BLOCK = 64_000
_EMPTIED = 0.6  # share of rows that still live when they settle anew: measured; 0.4 to 0.8 cost the same


@njit(cache=True)
def mdav(values: Floats, k: int) -> Rows:
    """The group of each row of a matrix (rows, columns), numbered as they are made; k to 2k - 1 rows in each.

    Fewer than 2k rows are one group.
    """
    label = np.full(len(values), -1)
    remaining, group, settled, rows = len(values), 0, len(values), np.arange(len(values))
    sums = np.zeros(values.shape[1])
    for row in range(len(values)):
        for c in range(len(sums)):
            sums[c] += values[row, c]
    near, who, centre = np.empty(k - 1), np.empty(k - 1, np.int64), sums / remaining
    living, outermost = settle(values, rows, centre), by_distance(values, rows, centre)
    while remaining >= 2 * k:
        centre = sums / remaining
        if remaining < _EMPTIED * settled:
            rows = rows[label[rows] < 0]
            living, settled = settle(values, rows, centre), remaining
        if is_worn(outermost, remaining):
            outermost = by_distance(values, rows[label[rows] < 0], centre)
        seed = farthest_from(outermost, values, label, centre)
        _gather(values, living, seed, label, group, sums, near, who)
        if remaining >= 3 * k:
            opposite = farthest_living(living, values[seed])
            _gather(values, living, opposite, label, group + 1, sums, near, who)
            remaining, group = remaining - k, group + 1
        remaining, group = remaining - k, group + 1
    for row in range(len(label)):
        if label[row] < 0:
            label[row] = group
    return label


@njit(cache=True)
def _gather(
    values: Floats, living: Living, seed: int, label: Rows, group: int, sums: Floats, near: Floats, who: Rows
) -> None:
    """A row and its nearest become a group and leave, in this order."""
    nearest_living(living, values[seed], seed, near, who)
    for i in range(-1, len(who)):
        row = seed if i < 0 else who[i]
        label[row] = group
        leave(living, row)
        for c in range(len(sums)):
            sums[c] -= values[row, c]


@njit(cache=True)
def blocked_mdav(values: Floats, k: int, largest: int) -> Rows:
    """MDAV inside blocks of at most so many near rows, at least 2k - 1: the groups are others, k is kept.

    Blocks are numbers of rows that k divides, but for the last: only its last group is larger than k.
    """
    label, groups = np.empty(len(values), np.int64), 0
    order, starts = halve(values, np.arange(len(values)), k, largest)
    for block in range(len(starts) - 1):
        rows = order[starts[block] : starts[block + 1]]
        label[rows] = mdav(values[rows], k) + groups
        groups += max(1, len(rows) // k)
    return label
