"""Column by column: what became of means, spreads, quantiles and shares.

Internal: these figures are statistics of the original. Everything is exact and needs no pairs.
"""

from dataclasses import dataclass

import numpy as np

from leafcover.fast.arrays import Array, Floats
from leafcover.measuring.pair import Pair
from leafcover.measuring.utility.differences import Change, Differences, differences
from leafcover.measuring.utility.units import deviation, known, mean, unit
from leafcover.table.table import Column

QUANTILES = tuple(part / 20 for part in range(1, 20))  # 5 % to 95 %: no extremes


@dataclass(frozen=True)
class NumberColumn:
    """One number before and after. Figures over known values; nan for those of a table that has none. Internal."""

    name: str
    mean: Change
    deviation: Change  # standard deviation
    variance: Change
    quantiles: tuple[Change, ...]  # at QUANTILES
    mean_difference: float  # after less before, in standard deviations of the original
    deviation_difference: float  # the same
    quantile_differences: tuple[float, ...]  # the same, at QUANTILES
    distance: float  # of Kolmogorov and Smirnov
    missing: Change  # share of rows


@dataclass(frozen=True)
class CategoryColumn:
    """One category before and after; shares are among rows with a value. Internal."""

    name: str
    distance: float  # total variation
    hellinger: float
    levels: int  # that the original shows
    lost: int  # levels of the original that the release never shows
    new: int  # levels of the release that the original never shows
    missing: Change  # share of rows


@dataclass(frozen=True)
class Columns:
    """Every column before and after, and what the differences come to. Internal."""

    numbers: tuple[NumberColumn, ...]
    categories: tuple[CategoryColumn, ...]
    means: Differences  # over numbers, in standard deviations of the original
    deviations: Differences  # the same
    quantiles: Differences  # over numbers and quantiles, the same
    number_distances: Differences  # Kolmogorov and Smirnov
    category_distances: Differences  # total variation
    missing: Differences  # over all columns, of the share of rows
    rows: int  # of each table: every row is used


def columns(pair: Pair) -> Columns:
    """Compare each column with itself."""
    numbers = tuple(number_column(pair.original[n], pair.released[n]) for n in pair.numbers)
    categories = tuple(category_column(pair.original[n], pair.released[n]) for n in pair.categories)
    return Columns(
        numbers,
        categories,
        differences(n.mean_difference for n in numbers),
        differences(n.deviation_difference for n in numbers),
        differences(d for n in numbers for d in n.quantile_differences),
        differences(n.distance for n in numbers),
        differences(c.distance for c in categories),
        differences([c.missing.difference for c in numbers] + [c.missing.difference for c in categories]),
        len(pair.original),
    )


def number_column(original: Column, released: Column) -> NumberColumn:
    """One number of both tables."""
    before, after = np.sort(known(original.values)), np.sort(known(released.values))
    step = unit(before, after)
    means = Change(mean(before), mean(after))
    spreads = Change(deviation(before), deviation(after))
    cuts = tuple(Change(float(a), float(b)) for a, b in zip(quantiles(before), quantiles(after), strict=True))
    return NumberColumn(
        original.name,
        means,
        spreads,
        Change(spreads.before * spreads.before, spreads.after * spreads.after),
        cuts,
        means.difference / step,
        spreads.difference / step,
        tuple(cut.difference / step for cut in cuts),
        kolmogorov_smirnov(before, after),
        missing_shares(original, released),
    )


def category_column(original: Column, released: Column) -> CategoryColumn:
    """One category of both tables."""
    size = len(original.levels)
    before, after = (np.bincount(c.values + 1, minlength=size + 1)[1:] for c in (original, released))
    return CategoryColumn(
        original.name,
        total_variation(before, after),
        hellinger(before, after),
        int((before > 0).sum()),
        int(((before > 0) & (after == 0)).sum()),
        int(((before == 0) & (after > 0)).sum()),
        missing_shares(original, released),
    )


def missing_shares(original: Column, released: Column) -> Change:
    """The share of rows without a value."""
    return Change(float(original.missing.mean()), float(released.missing.mean()))


def quantiles(ordered: Floats) -> Floats:
    """Quantiles of sorted values at QUANTILES, on a straight line between neighbours; nan of none."""
    if not len(ordered):
        return np.full(len(QUANTILES), np.nan)
    places = np.array(QUANTILES) * (len(ordered) - 1)
    lower = places.astype(np.int64)
    part = places - lower
    upper = np.minimum(lower + 1, len(ordered) - 1)
    found: Floats = ordered[lower] * (1 - part) + ordered[upper] * part
    return found


def kolmogorov_smirnov(before: Floats, after: Floats) -> float:
    """The largest difference of two distribution functions, from known values in order; 1 where one table has none.

    >>> kolmogorov_smirnov(np.array([1.0, 2.0, 3.0, 4.0]), np.array([1.0, 2.0, 5.0, 6.0]))
    0.5
    """
    if not len(before) or not len(after):
        return float(len(before) != len(after))
    both = np.concatenate([before, after])
    order = np.argsort(both, kind="stable")  # two sorted runs: merged, not sorted
    low = np.cumsum(order < len(before))  # values of the original so far
    last = np.append(np.diff(both[order]) > 0, True)
    low, high = low[last], np.flatnonzero(last) + 1 - low[last]
    return float(np.abs(low / len(before) - high / len(after)).max())


def total_variation(before: Array, after: Array) -> float:
    """Half the sum of differences between shares, from counts of each level; 1 where one table has no value.

    >>> total_variation(np.array([5, 5, 0]), np.array([5, 0, 5]))
    0.5
    """
    ours, theirs = before.sum(), after.sum()
    if not ours or not theirs:
        return float(ours != theirs)
    return float(np.abs(before / ours - after / theirs).sum()) / 2


def hellinger(before: Array, after: Array) -> float:
    """Hellinger's distance between shares, from counts of each level; 1 where one table has no value.

    >>> hellinger(np.array([1, 1]), np.array([2, 2])), hellinger(np.array([1, 0]), np.array([0, 1]))
    (0.0, 1.0)
    """
    ours, theirs = before.sum(), after.sum()
    if not ours or not theirs:
        return float(ours != theirs)
    apart = np.sqrt(before / ours) - np.sqrt(after / theirs)
    return float(np.sqrt(min(1.0, (apart @ apart) / 2)))
