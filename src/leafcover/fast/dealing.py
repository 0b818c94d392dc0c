"""Who goes where: the branch of each row at a node, and the stable copy of rows to the branches.

A row without a value goes to every branch that has rows, weighted by the branch's share of the known rows.
"""

import numpy as np
from numba import njit

from leafcover.fast.arrays import Array, Codes, Rows, Singles

UNKNOWN = -1


@njit(cache=True)
def longer(array: Array, size: int) -> Array:
    """The same array with room for ``size`` elements."""
    room = np.empty(size, array.dtype)
    for i in range(len(array)):
        room[i] = array[i]
    return room


@njit(cache=True)
def taller(array: Array, size: int) -> Array:
    """The same matrix with room for ``size`` rows."""
    room = np.empty((size, array.shape[1]), array.dtype)
    for i in range(array.shape[0]):
        for j in range(array.shape[1]):
            room[i, j] = array[i, j]
    return room


@njit(cache=True)
def wider(array: Array, size: int) -> Array:
    """The same matrix with room for ``size`` columns."""
    room = np.empty((array.shape[0], size), array.dtype)
    for i in range(array.shape[0]):
        for j in range(array.shape[1]):
            room[i, j] = array[i, j]
    return room


@njit(cache=True)
def branch_by_number(values: Singles, cut: np.float32, rows: Codes, branch_of: Codes) -> None:
    """0 for at most the cut, 1 for above, UNKNOWN when missing; ``branch_of`` is by row number."""
    for row in rows:
        value = values[row]
        branch_of[row] = UNKNOWN if np.isnan(value) else int(value > cut)


@njit(cache=True)
def branch_by_level(codes: Codes, rows: Codes, branch_of: Codes) -> None:
    """The code of the level is the branch; missing is -1 in both."""
    for row in rows:
        branch_of[row] = codes[row]


@njit(cache=True)
def weigh_branches(
    rows: Codes, weight: Singles, labels: Codes, branch_of: Codes, forks: int,
    shares: Singles, sizes: Rows, items: Singles, counts: Singles,
) -> int:  # fmt: skip
    """Weight and class counts of each branch, summed in row order; returns how many rows are unknown.

    ``sizes`` counts known rows; ``shares`` is each branch's part of the known weight when some are unknown.
    """
    classes = counts.shape[1]
    for b in range(forks):
        items[b], sizes[b] = 0.0, 0
        for c in range(classes):
            counts[b, c] = 0.0
    unknown, total = 0, np.float32(0.0)
    for row in rows:
        branch, full = branch_of[row], weight[row]
        if branch == UNKNOWN:
            unknown += 1
            continue
        items[branch] += full
        counts[branch, labels[row]] += full
        sizes[branch] += 1
        total = np.float32(total + full)
    if unknown == 0:
        return 0
    for b in range(forks):
        shares[b] = np.float32(items[b] / total)
        items[b] = 0.0
        for c in range(classes):
            counts[b, c] = 0.0
    for row in rows:  # once more, for sums in row order with the unknown rows in their places
        branch, full = branch_of[row], weight[row]
        if branch != UNKNOWN:
            items[branch] += full
            counts[branch, labels[row]] += full
            continue
        for b in range(forks):
            if sizes[b]:
                part = np.float32(full * shares[b])
                items[b] += part
                counts[b, labels[row]] += part
    return unknown


@njit(cache=True)
def deal(order: Codes, branch_of: Codes, begins: Rows, forks: int, target: Codes, ends: Rows) -> None:
    """Copy rows to the segments of their branches, in order; a branch that begins at -1 takes none."""
    for b in range(forks):
        ends[b] = begins[b]
    for row in order:
        branch = branch_of[row]
        if branch != UNKNOWN:
            place = ends[branch]
            if place >= 0:
                target[place] = row
                ends[branch] = place + 1
        else:
            for b in range(forks):
                if ends[b] >= 0:
                    target[ends[b]] = row
                    ends[b] += 1


@njit(cache=True)
def deal_weights(
    rows: Codes, weight: Singles, branch_of: Codes, shares: Singles, begins: Rows, forks: int,
    target: Singles, ends: Rows,
) -> None:  # fmt: skip
    """The weights that go with the rows."""
    for b in range(forks):
        ends[b] = begins[b]
    for row in rows:
        branch, full = branch_of[row], weight[row]
        if branch != UNKNOWN:
            if ends[branch] >= 0:
                target[ends[branch]] = full
                ends[branch] += 1
            continue
        for b in range(forks):
            if ends[b] >= 0:
                target[ends[b]] = np.float32(full * shares[b])
                ends[b] += 1
