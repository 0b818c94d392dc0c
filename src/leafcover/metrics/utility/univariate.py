"""Column by column: means, standard deviations, quantiles, shares, tails and heaping, before and after.

Internal: these figures are statistics of the original. They are exact and need no pairs.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from math import ceil, frexp, ldexp, nan
from typing import NamedTuple

import numpy as np

from leafcover.arrays import Array, Floats
from leafcover.metrics.estimates import WORST
from leafcover.metrics.pair import Pair
from leafcover.table.table import Column

# The unit of differences between numbers: the original's standard deviation.
#
# If the original has a single value, it is the standard deviation of both tables' values together, and 1 if that is 0
# as well, so that every difference is finite.


FAR = 1e100  # the largest distance from the mean, in units, so that squares stay finite


def known(values: Floats) -> Floats:
    """The values that are not missing."""
    missing = np.isnan(values)
    return values[~missing] if missing.any() else values


def mean(values: Floats) -> float:
    """The mean of known values, exact if all are equal, nan without values; it does not overflow."""
    if not len(values):
        return nan
    if values.min() == values.max():
        return float(values[0])
    size = size_of(values)
    return float((values / size).mean()) * size


def deviation(values: Floats) -> float:
    """The sample standard deviation (n - 1) of known values: exactly 0 if all are equal, nan without values.

    >>> deviation(np.array([0.1] * 10)), deviation(np.array([-1e308, 0.0, 1e308]))
    (0.0, 1e+308)
    """
    if not len(values):
        return nan
    low, high = values.min(), values.max()
    if low == high:
        return 0.0
    size = size_of(values)
    return float((values / size - low / size).std(ddof=1)) * size


def unit(before: Floats, after: Floats) -> float:
    """The unit of a column, from its known values in both tables.

    >>> unit(np.array([1.0, 2.0, 3.0]), np.array([7.0])), unit(np.array([5.0, 5.0]), np.array([5.0]))
    (1.0, 1.0)
    """
    spread = deviation(before) if len(before) else 0.0
    if spread == 0:
        both = np.concatenate([before, after])
        spread = deviation(both) if len(both) else 0.0
    return spread or 1.0


def in_units(values: Floats, centre: float, step: float) -> Floats:
    """Values (missing ones stay nan) as distances from a centre, in units; clipped so that squares stay finite."""
    with np.errstate(over="ignore"):
        share: Floats = (values / 2 - centre / 2) / (step / 2)  # halves, since 1e308 minus -1e308 overflows
    return np.clip(share, -FAR, FAR, out=share)


def size_of(values: Floats) -> float:
    """A power of two near the largest known value: dividing by it is exact, and sums stay finite."""
    largest = 0.0 if not len(values) else max(abs(float(values.min())), abs(float(values.max())))
    return ldexp(0.5, max(frexp(largest)[1], -1021)) if largest else 1.0


# A summary of many differences: their mean, the mean of the worst 1 %, and the largest.


@dataclass(frozen=True)
class Change:
    """A figure of the original, and the same figure of the release."""

    before: float
    after: float

    @property
    def difference(self) -> float:
        """The figure of the release minus that of the original."""
        return self.after - self.before


@dataclass(frozen=True)
class Differences:
    """A summary of many differences; everything is nan if there are no differences.

    >>> differences([0.25, -0.75, 0.0, 0.0])
    Differences(signed=-0.125, mean=0.25, worst=0.75, largest=0.75, count=4)
    """

    signed: float  # the signed mean: a bias to one side
    mean: float  # the mean size
    worst: float  # the mean size of the worst 1 %, at least one
    largest: float  # the largest size
    count: int  # how many differences could be taken


def differences(values: Iterable[float] | Floats) -> Differences:
    """Summarise differences; those that do not exist (nan) are not counted."""
    given: Floats = np.asarray(values if isinstance(values, np.ndarray) else list(values), np.float64)
    given = given[~np.isnan(given)]
    if not len(given):
        return Differences(nan, nan, nan, nan, 0)
    sizes = np.abs(given)
    return Differences(float(given.mean()), float(sizes.mean()), worst_mean(sizes), float(sizes.max()), len(given))


def worst_mean(sizes: Floats, share: float = WORST) -> float:
    """The mean of the largest 1 % of some sizes, at least of one of them.

    >>> worst_mean(np.arange(200.0))
    198.5
    """
    most = ceil(share * len(sizes))
    return float(np.partition(sizes, len(sizes) - most)[-most:].mean()) if most else nan


QUANTILES = tuple(part / 20 for part in range(1, 20))  # 5 % to 95 %: no extremes


@dataclass(frozen=True)
class NumberColumn:
    """One number before and after. Figures over known values; nan for a table without values. Internal."""

    name: str
    mean: Change
    deviation: Change  # standard deviation
    variance: Change
    quantiles: tuple[Change, ...]  # at QUANTILES
    mean_difference: float  # after minus before, in standard deviations of the original
    deviation_difference: float  # the same
    quantile_differences: tuple[float, ...]  # the same, at QUANTILES
    distance: float  # Kolmogorov-Smirnov
    missing: Change  # share of rows


@dataclass(frozen=True)
class CategoryColumn:
    """One category before and after; shares are among rows with a value. Internal."""

    name: str
    distance: float  # total variation
    hellinger: float
    levels: int  # of the original
    lost: int  # levels of the original that are not in the release
    new: int  # levels of the release that are not in the original
    missing: Change  # share of rows


@dataclass(frozen=True)
class Columns:
    """Every column before and after, and a summary of the differences. Internal."""

    numbers: tuple[NumberColumn, ...]
    categories: tuple[CategoryColumn, ...]
    means: Differences  # over numbers, in standard deviations of the original
    deviations: Differences  # the same
    quantiles: Differences  # over numbers and quantiles, the same
    number_distances: Differences  # Kolmogorov-Smirnov
    category_distances: Differences  # total variation
    missing: Differences  # over all columns, of the share of rows
    rows: int  # of each table: every row is used


def columns(pair: Pair) -> Columns:
    """Compare each column of the release with that of the original."""
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
    """The share of rows with a missing value."""
    return Change(float(original.missing.mean()), float(released.missing.mean()))


def quantiles(ordered: Floats) -> Floats:
    """Quantiles of sorted values at QUANTILES, with linear interpolation; nan without values."""
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
    order = np.argsort(both, kind="stable")  # two sorted runs, which are merged
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


# The tails of a number: the mean of its lowest and highest 5 %, before and after.
#
# A single extreme value would disclose and says little; the mean of a tail is robust. Internal: these are statistics of
# the original. Exact; needs no pairs.


SHARE = 0.05  # of the known values, at least one, in each tail


@dataclass(frozen=True)
class Tail:
    """Both tails of one number; nan for a table without values. Internal."""

    column: str
    lowest: Change  # the mean of the lowest 5 %
    highest: Change  # the mean of the highest 5 %
    lowest_difference: float  # after minus before, in standard deviations of the original
    highest_difference: float  # the same


@dataclass(frozen=True)
class Tails:
    """The tails of every number, and a summary of the differences. Internal."""

    columns: tuple[Tail, ...]
    lowest: Differences
    highest: Differences
    rows: int  # of each table: every row is used


def tails(pair: Pair) -> Tails:
    """Compare the tails of every number."""
    found = tuple(tail(pair.original[name], pair.released[name]) for name in pair.numbers)
    return Tails(
        found,
        differences(one.lowest_difference for one in found),
        differences(one.highest_difference for one in found),
        len(pair.original),
    )


def tail(original: Column, released: Column) -> Tail:
    """Both tails of one number."""
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
    partitioned = np.partition(values, sorted({many - 1, len(values) - many}))
    return mean(partitioned[:many]), mean(partitioned[len(values) - many :])


# Heaping: values that many rows share, such as a legal limit, a rounded guess or a code for "not applicable".
#
# Added noise spreads a heap, shuffling keeps it. Internal: heaps are values of the original. Exact; needs no pairs.


LEAST = 0.05  # a value held by a larger share of all rows is a heap


@dataclass(frozen=True)
class Heap:
    """A value of a number that more than 5 % of the rows of either table hold. Internal."""

    column: str
    value: float
    share: Change  # of all rows


@dataclass(frozen=True)
class Heaps:
    """Every heap, and how its share changed. Internal."""

    heaps: tuple[Heap, ...]
    differences: Differences  # of shares; nan if no number has a heap
    gone: int  # heaps of the original that are not heaps in the release
    new: int  # heaps of the release that are not heaps in the original
    rows: int  # of each table: every row is used


def heaps(pair: Pair) -> Heaps:
    """Find the heaps of every number in both tables."""
    found = tuple(heap for name in pair.numbers for heap in heaps_of(pair.original[name], pair.released[name]))
    return Heaps(
        found,
        differences(heap.share.difference for heap in found),
        sum(heap.share.after <= LEAST for heap in found),
        sum(heap.share.before <= LEAST for heap in found),
        len(pair.original),
    )


def heaps_of(original: Column, released: Column) -> tuple[Heap, ...]:
    """The heaps of one number, lowest value first."""
    before, after = Shares.of(original), Shares.of(released)
    values = np.union1d(before.values[before.shares > LEAST], after.values[after.shares > LEAST])
    return tuple(Heap(original.name, value, Change(before.at(value), after.at(value))) for value in values.tolist())


class Shares(NamedTuple):
    """Each value of a column, in order, and its share of all rows."""

    values: Floats
    shares: Floats

    @staticmethod
    def of(column: Column) -> "Shares":
        """Count a column."""
        values, counts = np.unique(known(column.values), return_counts=True)
        return Shares(values, counts / len(column))

    def at(self, value: float) -> float:
        """The share of rows with a value."""
        place = int(np.searchsorted(self.values, value))
        return float(self.shares[place]) if place < len(self.values) and self.values[place] == value else 0.0
