"""Groups of at least k neighbours among sorted values: of fixed size, or the best there are.

Hansen & Mukherjee 2003: the groups with the least squares inside have k to 2k - 1 values, so the best last group of the
first n values is among k candidates.
"""

import numpy as np
from numba import njit

from leafcover.fast.arrays import Floats, Rows


def fixed_groups(count: int, k: int) -> Rows:
    """The group of each of so many sorted values: k in each, and the rest in the last."""
    label: Rows = np.minimum(np.arange(count, dtype=np.int64) // k, max(count // k, 1) - 1)
    return label


@njit(cache=True)
def optimal_groups(values: Floats, k: int) -> Rows:
    """The group of each sorted value, such that the squares inside groups are least; fewer than 2k are one group.

    Of equally good last groups the smallest is taken. Squares are added up from the last value of a group, so that
    values far from zero lose no digits.
    """
    size = np.full(len(values) + 1, len(values))  # of the last group among the first so many values
    if len(values) >= 2 * k:
        best = np.full(len(values) + 1, np.inf)
        best[0] = 0.0
        for end in range(k, len(values) + 1):
            if end % (2 * k) == 0:
                # Only differences within reach count: beside the squares of an outlier far behind they would be lost.
                reach = best[end - 2 * k + 1 : end]
                reach -= reach.min()
            best[end], size[end] = _best_last(values, best, end, k)
    return _labels(size)


@njit(cache=True)
def _best_last(values: Floats, best: Floats, end: int, k: int) -> tuple[float, int]:
    """The least squares of the values before ``end``, and the size of the last group that gives them."""
    last, total, squares = values[end - 1], 0.0, 0.0
    for i in range(end - k + 1, end):
        apart = last - values[i]
        total += apart
        squares += apart * apart
    least, size = np.inf, k
    for start in range(end - k, max(end - 2 * k, -1), -1):
        apart = last - values[start]
        total += apart
        squares += apart * apart
        found = best[start] + (squares - total * total / (end - start))
        if found < least:
            least, size = found, end - start
    return least, size


@njit(cache=True)
def _labels(size: Rows) -> Rows:
    """Follow last groups from the end, then number groups from the start."""
    label, end, group = np.zeros(len(size) - 1, np.int64), len(size) - 1, 0
    while end > 0:
        label[end - size[end] : end] = group
        end -= size[end]
        group += 1
    return group - 1 - label
