"""Slow, obvious twins of the ways to make groups: they look at every row that remains."""

import numpy as np


def squared_distances(values, point):
    """Added up in the order of columns."""
    total = np.zeros(len(values))
    for c in range(values.shape[1]):
        apart = values[:, c] - point[c]
        total += apart * apart
    return total


def nearest(values, rows, row, count):
    """So many of the rows, without the row itself, by distance, then by number."""
    others = np.array([r for r in rows if r != row], dtype=np.int64)
    far = squared_distances(values[others], values[row])
    return [int(r) for r in others[np.lexsort((others, far))[:count]]]


def farthest(values, rows, point):
    """The first of the rows, which ascend, that is farthest from a point."""
    return int(rows[int(np.argmax(squared_distances(values[rows], point)))])


def mdav(values, k):
    label, rows, sums, group = np.full(len(values), -1), list(range(len(values))), np.zeros(values.shape[1]), 0
    for row in rows:
        sums += values[row]

    def gather(seed):
        for row in (seed, *nearest(values, rows, seed, k - 1)):
            label[row] = group
            rows.remove(row)
            sums[:] -= values[row]

    while len(rows) >= 2 * k:
        pair = len(rows) >= 3 * k
        seed = farthest(values, rows, sums / len(rows))
        gather(seed)
        group += 1
        if pair:
            gather(farthest(values, rows, values[seed]))
            group += 1
    label[rows] = group
    return label
