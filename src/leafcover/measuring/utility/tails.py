"""The two ends of a number: the mean of its lowest and highest 5 %, before and after.

A single extreme value may not be shown, and says little; the mean of an end does. Internal: they are statistics of
the original. Exact; needs no pairs.
"""

from dataclasses import dataclass
from math import ceil

import numpy as np

from leafcover.fast.arrays import Floats
from leafcover.measuring.pair import Pair
from leafcover.measuring.utility.differences import Change, Differences, differences
from leafcover.measuring.utility.units import known, mean, unit
from leafcover.table.table import Column

SHARE = 0.05  # of the known values, at least one, at each end


@dataclass(frozen=True)
class Tail:
    """Both ends of one number; nan where a table has no value. Internal."""

    column: str
    lowest: Change  # the mean of the lowest 5 %
    highest: Change  # the mean of the highest 5 %
    lowest_difference: float  # after less before, in standard deviations of the original
    highest_difference: float  # the same


@dataclass(frozen=True)
class Tails:
    """The ends of every number, and what the differences come to. Internal."""

    columns: tuple[Tail, ...]
    lowest: Differences
    highest: Differences
    rows: int  # of each table: every row is used


def tails(pair: Pair) -> Tails:
    """Compare the ends of every number."""
    found = tuple(tail(pair.original[name], pair.released[name]) for name in pair.numbers)
    return Tails(
        found,
        differences(one.lowest_difference for one in found),
        differences(one.highest_difference for one in found),
        len(pair.original),
    )


def tail(original: Column, released: Column) -> Tail:
    """Both ends of one number."""
    before, after = known(original.values), known(released.values)
    step = unit(before, after)
    (low, high), (low_after, high_after) = ends(before), ends(after)
    lowest, highest = Change(low, low_after), Change(high, high_after)
    return Tail(original.name, lowest, highest, lowest.difference / step, highest.difference / step)


def ends(values: Floats) -> tuple[float, float]:
    """The mean of the lowest and of the highest 5 % of known values.

    >>> ends(np.arange(1.0, 41.0))
    (1.5, 39.5)
    """
    many = ceil(SHARE * len(values))
    if not many:
        return mean(values), mean(values)
    parted = np.partition(values, sorted({many - 1, len(values) - many}))
    return mean(parted[:many]), mean(parted[len(values) - many :])
