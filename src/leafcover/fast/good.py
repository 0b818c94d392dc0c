"""Plain gain ratios, as SysFor weighs tests: of every cut of a number, and of a category.

Sums are double: forests have no program to agree with bit by bit, and rows may have any weight.
"""

import numpy as np
from numba import njit

from leafcover.fast.arrays import Codes, Floats, Singles
from leafcover.fast.information import term

_SLACK = 1e-9  # shares of rows add up to whole rows only nearly


@njit(cache=True)
def cut_ratios(
    values: Singles, labels: Codes, weights: Floats, classes: int, least: float
) -> tuple[Floats, Floats]:  # fmt: skip
    """The middle and the gain ratio of every cut that leaves ``least`` on both sides, from the lowest on.

    The rows stand by value, those without one last: these are one more part of the split information.
    """
    low, high = np.zeros(classes), np.zeros(classes)
    below, above, unknown, known = 0.0, 0.0, 0.0, 0
    for i in range(len(values)):
        if np.isnan(values[i]):
            unknown += weights[i]
            continue
        known += 1
        high[labels[i]] += weights[i]
        above += weights[i]
    before, whole = term(above), term(above + unknown)
    for c in range(classes):
        before -= term(high[c])
    middles, ratios, found = np.empty(known), np.empty(known), 0
    for i in range(known - 1):
        low[labels[i]] += weights[i]
        high[labels[i]] -= weights[i]
        below += weights[i]
        above -= weights[i]
        if values[i + 1] == values[i] or min(below, above) < least - _SLACK:
            continue
        after = term(below) + term(above)
        info = whole - after - term(unknown)
        for c in range(classes):
            after -= term(low[c]) + term(high[c])
        middles[found] = (np.float64(values[i]) + np.float64(values[i + 1])) / 2.0
        ratios[found] = (before - after) / info
        found += 1
    return middles[:found], ratios[:found]


@njit(cache=True)
def level_ratio(counts: Floats, least: float) -> float:
    """The gain ratio of a category, -1 unless two of its levels hold ``least``.

    ``counts`` (levels + 1, classes) are weights; the last line is those of rows without a value.

    >>> level_ratio(np.array([[2.0, 0.0], [0.0, 2.0], [0.0, 0.0]]), 1.0)
    1.0
    """
    levels, classes = counts.shape[0] - 1, counts.shape[1]
    known, after, parts, large = 0.0, 0.0, 0.0, 0
    for b in range(levels + 1):
        size, inside = 0.0, 0.0
        for c in range(classes):
            size += counts[b, c]
            inside += term(counts[b, c])
        parts += term(size)
        if b < levels:
            known += size
            after += term(size) - inside
            large += size >= least - _SLACK
    if large < 2:
        return -1.0
    before = term(known)
    for c in range(classes):
        before -= term(counts[:levels, c].sum())
    return max((before - after) / (term(known + counts[levels].sum()) - parts), 0.0)
