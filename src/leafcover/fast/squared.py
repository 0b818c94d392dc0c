"""Squared distances, added up in the order of columns: every search that must give the same groups takes them here."""

import numpy as np
from numba import njit

from leafcover.fast.arrays import Floats


@njit(cache=True)
def squared_distance(values: Floats, row: int, point: Floats) -> float:
    """Of one row of a matrix from a point."""
    total = 0.0
    for c in range(len(point)):
        apart = values[row, c] - point[c]
        total += apart * apart
    return total


@njit(cache=True)
def squared_distances(values: Floats, point: Floats) -> Floats:
    """Of every row from a point."""
    found = np.empty(len(values))
    for row in range(len(values)):
        found[row] = squared_distance(values, row, point)
    return found
