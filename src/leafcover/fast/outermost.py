"""The row farthest from a centroid that moves little: distances from where it was bound those from where it is.

Rows are kept by their distance from an old centroid, the farthest first. A row cannot be farther from the new one than
that distance and the way between the two; so a search ends soon, unless the centroid has moved far.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from leafcover.fast.arrays import Floats, Rows
from leafcover.fast.squared import squared_distance

_SLACK = 1.0 + 1e-10  # more than rounding can lift a distance
_WORTH = 12  # so many rows looked at cost about what it costs to sort one anew
_FIRST, _WORK = 0, 1


class Outermost(NamedTuple):
    """Rows by their distance from a centre, the farthest first; some may have left since."""

    centre: Floats  # (columns,)
    distance: Floats  # (rows,)
    row: Rows  # (rows,)
    seen: Rows  # where the first row stands that has not left; how many rows searches have looked at


@njit(cache=True)
def by_distance(values: Floats, rows: Rows, centre: Floats) -> Outermost:
    """Sort rows of a matrix (rows, columns) by their distance from a point."""
    distance = np.empty(len(rows))
    for i in range(len(rows)):
        distance[i] = np.sqrt(squared_distance(values, rows[i], centre))
    order = np.argsort(-distance)
    return Outermost(centre.copy(), distance[order], rows[order], np.zeros(2, np.int64))


@njit(cache=True)
def is_worn(outermost: Outermost, remaining: int) -> bool:
    """Whether searches have cost as much as it costs to sort the remaining rows anew."""
    return outermost.seen[_WORK] > _WORTH * remaining


@njit(cache=True)
def farthest_from(outermost: Outermost, values: Floats, label: Rows, point: Floats) -> int:
    """The farthest row whose label is still -1, the lowest of equally far ones."""
    distance, row, seen = outermost.distance, outermost.row, outermost.seen
    moved = np.sqrt(np.sum((point - outermost.centre) ** 2))
    while label[row[seen[_FIRST]]] >= 0:
        seen[_FIRST] += 1
    farthest, root, who, i = -1.0, -1.0, -1, seen[_FIRST]
    while i < len(row) and (distance[i] + moved) * _SLACK + 1e-150 >= root:
        if label[row[i]] < 0:
            found = squared_distance(values, row[i], point)
            if found > farthest or (found == farthest and row[i] < who):
                farthest, root, who = found, np.sqrt(found), row[i]
        i += 1
    seen[_WORK] += i - seen[_FIRST]
    return who
