"""Weighted totals, means and counts: what a survey's figures would be from the release.

Each table's own weights are used; where the release has none, the original's, if pairs say whose row is whose. A
missing weight counts 0. Internal: these are statistics and levels of the original. Exact.
"""

from dataclasses import dataclass
from math import nan

import numpy as np

from leafcover.fast.arrays import Floats
from leafcover.measuring.pair import Pair
from leafcover.measuring.utility.differences import Change, Differences, differences
from leafcover.measuring.utility.units import size_of

MOST_LEVELS = 50  # of each category that are listed, the heaviest first; all are counted


@dataclass(frozen=True)
class Total:
    """The weighted total and mean of one number, over rows with a value. Internal."""

    column: str
    total: Change
    mean: Change  # nan where no row with a value has a weight
    total_difference: float  # (after - before) / |before|; nan where only the original's is 0
    mean_difference: float  # the same


@dataclass(frozen=True)
class LevelCount:
    """The weighted number of rows that show a level. Internal."""

    column: str
    level: str
    count: Change
    difference: float  # (after - before) / before; nan where the original has none


@dataclass(frozen=True)
class Totals:
    """Weighted figures before and after. Without weights everything is empty, and ``reason`` says why. Internal."""

    numbers: tuple[Total, ...]
    levels: tuple[LevelCount, ...]
    totals: Differences  # relative, over numbers
    means: Differences  # relative, over numbers
    counts: Differences  # relative, over all levels of all categories
    weights: str  # whose weights the release is counted with
    rows: int
    reason: str = ""


def totals(pair: Pair) -> Totals:
    """Compare weighted totals and means of numbers, and weighted counts of levels."""
    weights, whose, reason = _weights(pair)
    if weights is None:
        empty = differences(())
        return Totals((), (), empty, empty, empty, "", len(pair.original), reason)
    numbers = tuple(_total(pair, name, *weights) for name in pair.numbers)
    counted = [_counts(pair, name, *weights) for name in pair.categories if name != pair.weight]
    return Totals(
        numbers,
        tuple(level for levels in counted for level in _heaviest(levels)),
        differences(number.total_difference for number in numbers),
        differences(number.mean_difference for number in numbers),
        differences(level.difference for levels in counted for level in levels),
        whose,
        len(pair.original),
    )


def _weights(pair: Pair) -> tuple[tuple[Floats, Floats] | None, str, str]:
    if not pair.weight:
        return None, "", "No column of weights was named."
    if pair.original[pair.weight].is_category:
        return None, "", "The column of weights holds no numbers."
    before = np.nan_to_num(pair.original[pair.weight].values, nan=0.0)
    if pair.weight in pair.released.names and not pair.released[pair.weight].missing.all():
        return (before, np.nan_to_num(pair.released[pair.weight].values, nan=0.0)), "the release's own", ""
    if pair.paired:
        return (before, before), "the original's", ""
    return None, "", "The release has no weights, and no pairs say which row is whose."


def _total(pair: Pair, name: str, weights: Floats, released: Floats) -> Total:
    ours, ours_mean = weighted_total(pair.original[name].values, weights)
    theirs, theirs_mean = weighted_total(pair.released[name].values, released)
    total, mean = Change(ours, theirs), Change(ours_mean, theirs_mean)
    return Total(name, total, mean, relative(total), relative(mean))


def weighted_total(values: Floats, weights: Floats) -> tuple[float, float]:
    """The weighted total and mean of the known values.

    >>> weighted_total(np.array([1.0, 2.0, np.nan]), np.array([3.0, 1.0, 5.0]))
    (5.0, 1.25)
    """
    there = ~np.isnan(values)
    weight = float(weights[there].sum())
    size = size_of(values[there])
    total = float(values[there] / size @ weights[there]) * size
    return total, total / weight if weight else nan


def _counts(pair: Pair, name: str, weights: Floats, released: Floats) -> list[LevelCount]:
    levels = pair.original[name].levels
    before, after = (
        np.bincount(table[name].values + 1, weights=weight, minlength=len(levels) + 1)[1:].tolist()
        for table, weight in ((pair.original, weights), (pair.released, released))
    )
    changes = [Change(a, b) for a, b in zip(before, after, strict=True)]
    return [LevelCount(name, level, change, relative(change)) for level, change in zip(levels, changes, strict=True)]


def _heaviest(levels: list[LevelCount]) -> list[LevelCount]:
    return sorted(levels, key=lambda found: (-found.count.before, found.level))[:MOST_LEVELS]


def relative(change: Change) -> float:
    """The change by the size of what was there: 0 where nothing was and nothing is, nan where only nothing was."""
    if change.before == 0:
        return 0.0 if change.after == 0 else nan
    return change.difference / abs(change.before)
