"""What counts as a right answer about a value, and the best one answer of somebody who knows how common values are.

An answer about a category is right when it is equal. An answer about a number is right within a tolerance: a share of
the range that holds the middle 90 % of the original values, so that a few far values do not make every answer right.
"""

import numpy as np

from leafcover.errors import ValueOutOfRange
from leafcover.fast.arrays import Bools, Floats
from leafcover.table.table import Column

TOLERANCE = 0.05  # of the range between the 5 % and the 95 % quantile
OUTSIDE = 0.05
ROUNDING = 1e-15  # of the largest value: values that differ by less are equal


def labels_of(column: Column) -> Floats:
    """The values as numbers, codes for a category, nan where missing."""
    values = column.values.astype(np.float64)
    values[column.missing] = np.nan
    return values


def reach_of(column: Column, tolerance: float = TOLERANCE) -> float:
    """How far an answer may lie from the value of this original column; 0 for a category.

    Where the middle 90 % of the values are one, only that very value counts.
    """
    if not 0 <= tolerance <= 0.5:
        raise ValueOutOfRange("tolerance", tolerance, "a share of the range of the values, from 0 to 0.5")
    known = column.values[~column.missing]
    if column.is_category or not len(known):
        return 0.0
    low, high = np.quantile(known, [OUTSIDE, 1 - OUTSIDE], method="inverted_cdf")
    half = high / 2 - low / 2  # halves, since 1e308 less -1e308 is too much
    return float(2 * tolerance * half + ROUNDING * np.abs(known).max())


def right(answers: Floats | float, wanted: Floats, reach: float) -> Floats:
    """1 for each right answer, 0 for the others; no answer (nan) is wrong."""
    with np.errstate(over="ignore"):
        near: Bools = np.abs(answers - wanted) <= reach
    return near.astype(np.float64)


def best_guess(labels: Floats, reach: float) -> float:
    """The answer that is right for most of the labels (the lowest of equals), nan when none is known.

    >>> best_guess(np.array([1.0, 7.0, 8.0, 9.0]), 1.0)
    8.0
    """
    ordered = np.sort(labels[~np.isnan(labels)])
    if not len(ordered):
        return float("nan")
    with np.errstate(over="ignore"):
        last = np.searchsorted(ordered, ordered + 2 * reach, side="right") - 1
    first = int(np.argmax(last - np.arange(len(ordered))))
    return float(ordered[first] / 2 + ordered[last[first]] / 2)


def best_guesses(pools: Floats, reach: float) -> Floats:
    """The same for each line of labels, none of them missing: (people, labels) to (people,)."""
    ordered = np.ascontiguousarray(np.sort(pools, axis=1).T)
    within = np.zeros(ordered.shape, np.int16)  # labels above this one that one answer covers with it
    for step in range(1, len(ordered)):
        with np.errstate(over="ignore"):
            near = ordered[step:] - ordered[:-step] <= 2 * reach
        if not near.any():
            break
        within[:-step] += near
    first = within.argmax(axis=0)
    people = np.arange(ordered.shape[1])
    middle: Floats = ordered[first, people] / 2 + ordered[first + within[first, people], people] / 2
    return middle
