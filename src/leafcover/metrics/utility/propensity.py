"""Propensity scores, and weighted totals, means and counts of a survey.

Propensity (Snoke and others 2018): how well a model distinguishes released rows from original ones. Rows of both tables
are stacked, a model predicts for each the probability of being released, and pMSE is the mean squared distance of that
probability from the share of released rows. It is compared with its expectation by chance: a ratio near or below 1
means that the model sees no difference. A copy gives 0. Needs no pairs of rows.
"""

from dataclasses import dataclass
from math import ceil, nan, sqrt
from typing import NamedTuple

import numpy as np

from leafcover.arrays import Floats, Rows
from leafcover.metrics.models import scikit_learn
from leafcover.metrics.pair import SEED, Pair, coverage_note, sample_rows, say
from leafcover.metrics.utility.regression import design, independent, logistic, part
from leafcover.metrics.utility.univariate import Change, Differences, differences, size_of

MOST_ROWS = 50_000  # of each table
MOST_ROWS_OF_TREES = 5_000
PERMUTATIONS = 10
LEAST_LEAF = 0.01  # of the stacked rows, at least 5 of them


@dataclass(frozen=True)
class Propensity:
    """How well a model distinguishes the two tables."""

    model: str
    value: float  # pMSE: 0 for no difference, c·(1 - c) for a perfect model, c being the share of released rows
    expected: float  # by chance alone
    ratio: float  # value over expected; 0 if the model had no feature
    deviations: float  # (value - expected) in standard deviations of chance
    parameters: int  # of a regression, with the intercept; 0 for a tree
    rows: int  # of each table, used
    of: int
    how: str


class Stacked(NamedTuple):
    """The stacked rows of both tables, and which of them are released."""

    matrix: Floats  # the intercept first
    released: Floats  # 0 and 1
    rows: int  # of each table


def propensity(pair: Pair, *, most: int = MOST_ROWS) -> Propensity:
    """By logistic regression on the columns, without interactions.

    The expectation by chance is (k - 1)·c·(1 - c)·(1 - c·f) / N for k parameters, N rows in both tables and a share f
    of the original's rows used. With all rows this is Snoke's (k - 1)·(1 - c)²·c / N: the release varies, the original
    does not. A sample of the original varies too.
    """
    stacked = _stacked(pair, most)
    every = np.ones(len(stacked.released), bool)
    matrix = part(stacked.matrix, every, independent(stacked.matrix))
    fitted = logistic(matrix, stacked.released)
    total, more = matrix.shape[0], matrix.shape[1] - 1
    share = float(stacked.released.mean())
    value = float(((fitted.probabilities - share) ** 2).mean())
    used = stacked.rows / len(pair.original)
    each = share * (1 - share) * (1 - share * used) / total
    found = (value, more * each, sqrt(2 * more) * each)  # a chi-square of k - 1 degrees of freedom
    return _propensity("logistic regression", found, more + 1, stacked.rows, len(pair.original))


def propensity_of_trees(pair: Pair, *, most: int = MOST_ROWS_OF_TREES, permutations: int = PERMUTATIONS) -> Propensity:
    """By a classification tree, which also sees interactions of columns.

    The expectation by chance comes from the same tree with randomly permuted labels; needs scikit-learn.
    """
    scikit_learn()
    from sklearn.tree import DecisionTreeClassifier

    stacked = _stacked(pair, most)
    total = len(stacked.released)
    leaf = max(5, ceil(LEAST_LEAF * total))
    rng = np.random.default_rng(SEED)

    def error(labels: Floats) -> float:
        tree = DecisionTreeClassifier(min_samples_leaf=leaf, random_state=0).fit(stacked.matrix, labels)
        return float(((tree.predict_proba(stacked.matrix)[:, -1] - labels.mean()) ** 2).mean())

    value = error(stacked.released)
    chance = np.array([error(rng.permutation(stacked.released)) for _ in range(permutations)])
    found = (value, float(chance.mean()), float(chance.std(ddof=1)))
    return _propensity("classification tree", found, 0, stacked.rows, len(pair.original))


def _stacked(pair: Pair, most: int) -> Stacked:
    """The same rows of both tables, so the same people if they are paired."""
    rows = sample_rows(len(pair.original), most)
    taken = pair if len(rows) == len(pair.original) else pair.take(rows)
    found = design(taken, [name for name in pair.names if name != pair.weight])
    released = np.repeat([0.0, 1.0], [len(found.before), len(found.after)])
    return Stacked(np.hstack([found.before.T, found.after.T]).T, released, len(rows))


def _propensity(model: str, found: tuple[float, float, float], parameters: int, rows: int, of: int) -> Propensity:
    value, expected, spread = found
    ratio = value / expected if expected > 0 else 0.0
    away = (value - expected) / spread if spread > 0 else 0.0
    return Propensity(model, value, expected, ratio, away, parameters, rows, of, coverage_note(rows, of))


# Weighted totals, means and counts: the figures of a survey, from the original and from the release.
#
# Each table's own weights are used; if the release has no weights, the original's, given pairs. A missing weight counts
# 0. Internal: these are statistics and levels of the original. Exact.


MOST_LEVELS = 50  # of each category that are listed, by weight; all are counted
MOST_VALUES = 20  # of a number whose values are groups, too
MOST_MOVED = 5  # groups that are named
LEAST_CHANGE = 1e-6  # relative
LEAST_SHARE, LEAST_ROWS = 0.01, 10  # of the weight and of the rows: what a group needs to be named


@dataclass(frozen=True)
class Total:
    """The weighted total and mean of one number, over rows with a value. Internal."""

    column: str
    total: Change
    mean: Change  # nan if no row with a value has a weight
    total_difference: float  # (after - before) / |before|; nan if only the original's is 0
    mean_difference: float  # the same


@dataclass(frozen=True)
class LevelCount:
    """The weighted number of rows with a level. Internal."""

    column: str
    level: str
    count: Change
    difference: float  # (after - before) / before; nan if the original does not have the level


@dataclass(frozen=True)
class Totals:
    """Weighted figures before and after. Without weights everything is empty, and ``reason`` says why. Internal."""

    numbers: tuple[Total, ...]
    levels: tuple[LevelCount, ...]
    totals: Differences  # relative, over numbers
    means: Differences  # relative, over numbers
    counts: Differences  # relative, over all levels of all categories
    moved: tuple[LevelCount, ...]  # groups whose totals moved most: levels, and numbers of few values
    weights: str  # which weights the release uses
    rows: int
    reason: str = ""


def totals(pair: Pair) -> Totals:
    """Compare weighted totals and means of numbers, and weighted counts of levels."""
    weights, whose, reason = _weights(pair)
    if weights is None:
        empty = differences(())
        return Totals((), (), empty, empty, empty, (), "", len(pair.original), reason)
    added = [name for name in pair.numbers if pair.original[name].kind == "number"]  # a sum of dates says nothing
    numbers = tuple(_total(pair, name, *weights) for name in added)
    counted = [_counts(pair, name, *weights) for name in pair.categories if name != pair.weight]
    return Totals(
        numbers,
        tuple(level for levels in counted for level in _heaviest(levels)),
        differences(number.total_difference for number in numbers),
        differences(number.mean_difference for number in numbers),
        differences(level.difference for levels in counted for level in levels),
        _moved(pair, *weights),
        whose,
        len(pair.original),
    )


def _weights(pair: Pair) -> tuple[tuple[Floats, Floats] | None, str, str]:
    if not pair.weight:
        return None, "", say("reason-no-weight")
    if pair.original[pair.weight].is_category:
        return None, "", say("reason-weight-not-numeric")
    before = np.nan_to_num(pair.original[pair.weight].values, nan=0.0)
    if pair.weight in pair.released.names and not pair.released[pair.weight].missing.all():
        return (before, np.nan_to_num(pair.released[pair.weight].values, nan=0.0)), "the release's own", ""
    if pair.paired:
        return (before, before), "the original's", ""
    return None, "", say("reason-no-released-weight")


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


def _moved(pair: Pair, weights: Floats, released: Floats) -> tuple[LevelCount, ...]:
    """The groups whose totals moved most, of those with enough rows and weight."""
    found = []
    for name in (name for name in pair.names if name != pair.weight):
        texts, ours, theirs = _groups(pair, name)
        rows, before = np.bincount(ours, minlength=len(texts)), np.bincount(ours, weights, len(texts))
        after = np.bincount(theirs, released, len(texts))
        for at in np.flatnonzero((rows >= LEAST_ROWS) & (before >= LEAST_SHARE * weights.sum())).tolist():
            change = Change(float(before[at]), float(after[at]))
            if at < len(texts) - 1 and abs(relative(change)) >= LEAST_CHANGE:
                found.append(LevelCount(name, texts[at], change, relative(change)))
    return tuple(sorted(found, key=lambda one: (-abs(one.difference), one.column, one.level))[:MOST_MOVED])


def _groups(pair: Pair, name: str) -> tuple[list[str], Rows, Rows]:
    """The groups of a category, or of a number of few values, and the group of each row; the last is for no group."""
    original, released = pair.original[name], pair.released[name]
    if original.is_category:
        last = len(original.levels)
        ours, theirs = (np.where(one.missing, last, one.values) for one in (original, released))
        return [*original.levels, ""], ours, theirs
    values = np.unique(original.values[~original.missing])
    values = values if len(values) <= MOST_VALUES else values[:0]
    place = (np.searchsorted(values, one.values) for one in (original, released))
    known = np.append(values, np.nan)
    ours, theirs = (
        np.where(known[at] == one.values, at, len(values)) for at, one in zip(place, (original, released), strict=True)
    )
    return [*(f"{value:g}" for value in values), ""], ours, theirs


def _heaviest(levels: list[LevelCount]) -> list[LevelCount]:
    return sorted(levels, key=lambda found: (-found.count.before, found.level))[:MOST_LEVELS]


def relative(change: Change) -> float:
    """The change relative to the original's size: 0 if both are 0, nan if only the original is 0."""
    if change.before == 0:
        return 0.0 if change.after == 0 else nan
    return change.difference / abs(change.before)
