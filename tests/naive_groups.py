"""Slow, obvious twins of the ways to make groups: they look at every row that remains."""

from fractions import Fraction

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
    others = np.setdiff1d(rows, [row])
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


def halves(values, rows, unit, largest):
    """The blocks of fewer than 512 rows, cut in the column of the greatest variance; lower rows stay in the first."""
    if len(rows) <= largest:
        return [rows]
    part = values[rows]
    mean = np.cumsum(part, axis=0)[-1] / len(rows)
    column = part[:, int(np.argmax(np.cumsum((part - mean) ** 2, axis=0)[-1]))]
    half = -(-len(rows) // unit) // 2 * unit
    order = np.argsort(column, kind="stable")
    first, second = (np.sort(rows[order[side]]) for side in (slice(half), slice(half, None)))
    return halves(values, first, unit, largest) + halves(values, second, unit, largest)


def blocked_mdav(values, k, largest):
    label, groups = np.full(len(values), -1), 0
    for rows in halves(values, np.arange(len(values)), k, largest):
        label[rows] = groups + mdav(values[rows], k)
        groups = label.max() + 1
    return label


def vmdav(values, k, gamma):
    label, rows, group = np.full(len(values), -1), list(range(len(values))), 0
    centre = np.zeros(values.shape[1])
    for row in rows:
        centre += values[row]
    centre /= len(values)

    def take(row):
        label[row] = group
        rows.remove(row)

    def to_nearest(row):
        return min(
            ((d, r) for d, r in zip(squared_distances(values[rows], values[row]), rows, strict=True) if r != row)
        )

    while len(rows) >= k:
        seed = farthest(values, rows, centre)
        members = [seed, *nearest(values, rows, seed, k - 1)]
        for row in members:
            take(row)
        while rows and len(members) < 2 * k - 1:
            apart, row = min(to_nearest(member) for member in members)
            other = to_nearest(row)[0] if len(rows) > 1 else np.inf
            if gamma == 0 or np.sqrt(apart) >= gamma * np.sqrt(other):
                break
            members.append(row)
            take(row)
        group += 1
    centroids = np.zeros((max(group, 1), values.shape[1]))
    for row in range(len(values)):
        if label[row] >= 0:
            centroids[label[row]] += values[row]
    centroids /= np.maximum(np.bincount(label[label >= 0], minlength=len(centroids)), 1)[:, None]
    for row in rows:
        label[row] = np.argmin(squared_distances(centroids, values[row]))
    return label


def squares(values):
    """Squared distances of exact numbers from their mean, added up."""
    mean = sum(values) / Fraction(len(values))
    return sum((value - mean) ** 2 for value in values)


def least_squares(values, k):
    """The least squares inside groups over all ways to cut sorted values into groups of at least k (or one group)."""
    found = squares(values)
    for first in range(k, len(values) - k + 1):
        found = min(found, squares(values[:first]) + least_squares(values[first:], k))
    return found
