"""V-MDAV: groups of k near rows that take in further ones which are near them and far from all others.

Solanas & Martínez-Ballesté 2006. The centroid is that of all rows; the farthest row from it begins each group.
"""

import numpy as np
from numba import njit

from leafcover.fast.arrays import Floats, Rows
from leafcover.fast.living import Living, leave, settle
from leafcover.fast.living_search import nearest_living
from leafcover.fast.squared import squared_distances

_EMPTIED = 0.6  # share of rows that still live when they settle anew, as in MDAV


@njit(cache=True)
def vmdav(values: Floats, k: int, gamma: float) -> Rows:
    """The group of each row of a matrix (rows, columns), numbered as they are made.

    A group of k rows takes in the row nearest to one of its members while it has fewer than 2k - 1 and the distance is
    below gamma times the distance of that row to the nearest other one (inf when there is none). Fewer than k rows that
    are left over join the group with the nearest centroid each, which may then have more than 2k - 1; fewer than k rows
    in all are one group.
    """
    label, remaining, group, settled = np.full(len(values), -1), len(values), 0, len(values)
    rows, sums = np.arange(len(values)), np.zeros(values.shape[1])
    for row in range(len(values)):
        for c in range(len(sums)):
            sums[c] += values[row, c]
    centre, members = sums / len(values), np.empty(2 * k, np.int64)
    living, seeds = settle(values, rows, centre), np.argsort(-squared_distances(values, centre), kind="mergesort")
    for seed in seeds:
        if label[seed] >= 0:
            continue
        if remaining < k:
            break
        if remaining < _EMPTIED * settled:
            rows = rows[label[rows] < 0]
            living, settled = settle(values, rows, centre), remaining
        size = _group_around(values, living, seed, k, gamma, remaining, members)
        label[members[:size]] = group
        remaining, group = remaining - size, group + 1
    if remaining > 0:
        _join(values, label, group)
    return label


@njit(cache=True)
def _group_around(
    values: Floats, living: Living, seed: int, k: int, gamma: float, remaining: int, members: Rows
) -> int:
    """A row, its nearest, and those that the group takes in leave; how many they are."""
    nearest_living(living, values[seed], seed, np.empty(k - 1), members[1:k])
    members[0] = seed
    for member in members[:k]:
        leave(living, member)
    size, left = k, remaining - k
    next_near, next_row = (
        np.full(2 * k, np.inf),
        np.full(2 * k, -1),
    )  # the nearest row outside of each member, once known
    while size < 2 * k - 1 and left > 0:
        for i in range(size):
            if next_row[i] < 0:
                nearest_living(living, values[members[i]], members[i], next_near[i : i + 1], next_row[i : i + 1])
        first = 0
        for i in range(1, size):
            tied = next_near[i] == next_near[first] and next_row[i] < next_row[first]
            if next_near[i] < next_near[first] or tied:
                first = i
        row, apart = next_row[first], next_near[first]
        nearest_living(living, values[row], row, next_near[size : size + 1], next_row[size : size + 1])
        if gamma == 0.0 or np.sqrt(apart) >= gamma * np.sqrt(next_near[size]):
            break
        leave(living, row)
        for i in range(size):
            if next_row[i] == row:
                next_row[i] = -1
        members[size] = row
        size, left = size + 1, left - 1
    return size


@njit(cache=True)
def _join(values: Floats, label: Rows, groups: int) -> None:
    """Rows without a group join the one with the nearest centroid, the first of equally near ones."""
    centroids, count = np.zeros((max(groups, 1), values.shape[1])), np.zeros(max(groups, 1))
    alone = np.flatnonzero(label < 0)
    for row in range(len(label)):
        if label[row] >= 0:
            count[label[row]] += 1
            for c in range(values.shape[1]):
                centroids[label[row], c] += values[row, c]
    for group in range(groups):
        centroids[group] /= count[group]
    for lone in alone:
        label[lone] = np.argmin(squared_distances(centroids, values[lone]))
