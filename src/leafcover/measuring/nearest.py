"""Nearest rows by Gower's distance, exactly: who is nearest, who is among the nearest, who is nearer than one's own.

The distance is a sum over columns: the difference of scaled numbers, 1 for codes that differ, and for a missing value
0 to a missing one and 1 to a known one. Distances within a billionth of each other are ties.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from leafcover.fast.arrays import Floats, Rows
from leafcover.measuring.gower import Scaled

TIE = 1e-9  # rounding apart, equal distances
AT_ONCE = 2_000_000  # distances held at a time


class Nearest(NamedTuple):
    """For each person the nearest other rows, nearest first; inf and -1 where there are fewer rows."""

    distance: Floats  # (people, count)
    row: Rows  # (people, count)


def matches_among_nearest(
    people: Scaled,
    others: Scaled,
    wanted: Floats,
    labels: Floats,
    *,
    tolerance: Floats | float = 0.0,
    own: Rows | None = None,
) -> Floats:
    """For each person the share of the nearest other rows (ties together) whose label is the wanted one.

    A label counts when it lies within ``tolerance`` (one for all, or one a person) of the wanted one; nan equals nan.
    ``own`` is a row of the others to leave out for each person, -1 for none. Without any other row the share is 0.
    """
    found = np.zeros(len(people.numbers))
    reach = np.broadcast_to(np.asarray(tolerance, np.float64), found.shape)
    for i, distances in _distances(people, others, own):
        best = distances.min(initial=np.inf)
        if best < np.inf:
            near = labels[distances <= best + TIE]
            found[i] = np.isnan(near).mean() if np.isnan(wanted[i]) else (np.abs(near - wanted[i]) <= reach[i]).mean()
    return found


def nearest(people: Scaled, others: Scaled, *, count: int = 1, own: Rows | None = None) -> Nearest:
    """The nearest other rows of each person, ascending, ties to the lowest row; ``own`` leaves one out for each."""
    found = Nearest(np.full((len(people.numbers), count), np.inf), np.full((len(people.numbers), count), -1, np.int64))
    for i, distances in _distances(people, others, own):
        rows = np.argsort(np.rint(distances / TIE), kind="stable")[:count]
        rows = rows[distances[rows] < np.inf]
        found.distance[i, : len(rows)] = distances[rows]
        found.row[i, : len(rows)] = rows
    return found


def closer_than_own(people: Scaled, others: Scaled, own: Rows) -> tuple[Floats, Floats]:
    """For each person how many other rows are strictly nearer than its own, and how many are tied with it."""
    closer, tied = np.zeros(len(own)), np.zeros(len(own))
    for i, distances in _distances(people, others, None):
        limit = distances[own[i]]
        closer[i] = (distances < limit - TIE).sum()
        tied[i] = (distances <= limit + TIE).sum() - closer[i] - 1
    return closer, tied


def _distances(people: Scaled, others: Scaled, own: Rows | None) -> Iterator[tuple[int, Floats]]:
    """Each person's distances to all others, inf to the row left out."""
    step = max(1, AT_ONCE // max(1, len(others.numbers)))
    for start in range(0, len(people.numbers), step):
        numbers, codes = people.numbers[start : start + step], people.codes[start : start + step]
        total = np.zeros((len(numbers), len(others.numbers)))
        for c in range(numbers.shape[1]):
            apart = np.abs(numbers[:, c, None] - others.numbers[None, :, c])
            lost = np.isnan(numbers[:, c])[:, None] != np.isnan(others.numbers[:, c])
            total += np.where(np.isnan(apart), lost, apart)
        for c in range(codes.shape[1]):
            total += codes[:, c, None] != others.codes[None, :, c]
        for i, distances in enumerate(total, start):
            if own is not None and own[i] >= 0:
                distances[own[i]] = np.inf
            yield i, distances
