"""How two values compare, and the weight that a table of weights gives to the comparison; for many pairs of rows."""

import numpy as np
from numba import njit

from leafcover.fast.arrays import Array, Floats

FINEST = 30  # halvings of a number's range that are told apart
COMPARISONS = FINEST + 3  # equal, each halving, and one missing
_EXPONENT = 1022  # of a float64 between a half and one
_INFINITE = 0x7FF0000000000000  # the bits of infinity
_AT_ONCE = 4_096  # distances kept beside each other, so that their bits can be read


@njit(cache=True)
def compared(one: Floats, other: Floats) -> Array:
    """A number for how two numbers compare: 0 equal, then by halvings of their distance, last when one is missing."""
    found = np.empty(len(one), np.int64)
    bits = np.abs(one - other).view(np.int64)
    for i in range(len(one)):
        found[i] = _comparison(bits[i], one[i], other[i])
    return found


@njit(cache=True)
def add_by_distance(total: Floats, ours: Floats, theirs: Floats, weights: Floats) -> None:
    """Add to (ours, theirs) the weight of each comparison of numbers."""
    apart = np.empty(_AT_ONCE)
    bits = apart.view(np.int64)
    for start in range(0, len(theirs), _AT_ONCE):
        some = theirs[start : start + _AT_ONCE]
        for i in range(len(ours)):
            for j in range(len(some)):
                apart[j] = abs(ours[i] - some[j])
            for j in range(len(some)):
                total[i, start + j] += weights[_comparison(bits[j], ours[i], some[j])]


@njit(cache=True)
def add_by_level(total: Floats, ours: Array, theirs: Array, weights: Floats) -> None:
    """Add to (ours, theirs) the weight of each pair of codes; a missing one, -1, stands last."""
    for i in range(len(ours)):
        mine = weights[ours[i]]
        for j in range(len(theirs)):
            total[i, j] += mine[theirs[j]]


@njit(cache=True)
def add_by_sameness(total: Floats, ours: Array, theirs: Array, weights: Floats) -> None:
    """Add to (ours, theirs) the weight of equal codes and of others."""
    for i in range(len(ours)):
        for j in range(len(theirs)):
            total[i, j] += weights[0] if ours[i] == theirs[j] else weights[1]


@njit(cache=True)
def _comparison(bits: int, one: float, other: float) -> int:
    """By the bits of the distance: its exponent is read from them, a tenth of the cost of a logarithm."""
    if bits == 0:
        return 0
    if bits > _INFINITE:  # not a number
        return 0 if np.isnan(one) and np.isnan(other) else FINEST + 2
    return min(max(1 + _EXPONENT - (bits >> 52), 0), FINEST) + 1
