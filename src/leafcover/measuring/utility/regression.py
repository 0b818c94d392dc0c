"""Would a regression on the release say the same? The overlap of confidence intervals (Karr and others 2006).

The target is regressed on all other columns in both tables: a number by least squares, a category by logistic
regression of its most common class. Each coefficient has a 95 % interval in each table; the overlap is the mean of the
shares that the common part has of both. Needs no pairs of rows. Internal: coefficients are statistics of the original.
"""

from dataclasses import dataclass
from math import nan

import numpy as np

from leafcover.fast.arrays import Floats
from leafcover.measuring.figures import DEVIATIONS, Estimate
from leafcover.measuring.pair import Pair
from leafcover.measuring.sampling import how, some_rows
from leafcover.measuring.utility.design import MOST_FEATURES, design, independent, part
from leafcover.measuring.utility.differences import worst_mean
from leafcover.measuring.utility.logistic import logistic
from leafcover.measuring.utility.units import in_units, known, mean, unit

MOST_ROWS = 50_000  # of each table
ROWS_A_FEATURE = 5  # at least; a smaller table has fewer features
LEAST_ERROR = 1e-9  # a smaller standard error is rounding


@dataclass(frozen=True)
class Coefficient:
    """What one feature adds, in both tables. Internal."""

    column: str
    level: str  # "" for a number
    before: Estimate
    after: Estimate | None  # None where the release cannot tell it from others
    overlap: float  # below 0 where the intervals lie apart; 0 where there is none after


@dataclass(frozen=True)
class Regression:
    """How well the intervals of a regression agree; nan where there is none to run, and ``reason`` says why."""

    model: str
    target: str
    overlap: float  # the mean over coefficients but the intercept; intervals that lie apart count 0
    worst: float  # the mean of the worst 1 %, at least one
    disjoint: float  # the share of coefficients whose intervals lie apart, lost ones among them
    lost: int  # coefficients the release cannot tell
    coefficients: tuple[Coefficient, ...]
    rows: int  # of each table, used; those without a target are left out of them
    of: int
    how: str
    reason: str = ""


def regression(pair: Pair, *, target: str = "", most: int = MOST_ROWS, features: int = MOST_FEATURES) -> Regression:
    """Regress the target (the pair's unless named) on the other columns in both tables, and compare."""
    name = target or pair.target
    rows = some_rows(len(pair.original), most)
    if not name:
        return _nothing("", len(rows), len(pair.original), "No target was named.")
    taken = pair if len(rows) == len(pair.original) else pair.take(rows)
    model = "logistic regression" if pair.original[name].is_category else "least squares"
    before, after = _outcomes(taken, name)
    ours, theirs = ~np.isnan(before), ~np.isnan(after)
    if not ours.any() or before[ours].min() == before[ours].max():
        return _nothing(name, len(rows), len(pair.original), "The target holds one value.")
    others = [n for n in pair.names if n not in (name, pair.weight)]
    matrix = design(taken, others, most=min(features, int(ours.sum()) // ROWS_A_FEATURE))
    every = range(1 + len(matrix.features))
    kept = independent(part(matrix.before, ours, every))
    if len(kept) < 2:
        return _nothing(name, len(rows), len(pair.original), "No other column varies, or the rows are too few.")
    told = [kept[i] for i in independent(part(matrix.after, theirs, kept))]
    fitted = dict(zip(kept, _fit(model, part(matrix.before, ours, kept), before[ours]), strict=True))
    again = dict(zip(told, _fit(model, part(matrix.after, theirs, told), after[theirs]), strict=False))
    coefficients = []
    for column in kept[1:]:
        feature, second = matrix.features[column - 1], again.get(column)
        shared = 0.0 if second is None else overlap(fitted[column], second)
        coefficients.append(Coefficient(feature.column, feature.level, fitted[column], second, shared))
    shares = np.array([max(0.0, coefficient.overlap) for coefficient in coefficients])
    return Regression(
        model,
        name,
        float(shares.mean()),
        1 - worst_mean(1 - shares),
        float((shares == 0).mean()),
        sum(coefficient.after is None for coefficient in coefficients),
        tuple(coefficients),
        len(rows),
        len(pair.original),
        how(len(rows), len(pair.original)),
    )


def overlap(first: Estimate, second: Estimate) -> float:
    """The mean of the shares that the common part has of both intervals; below 0 where they lie apart.

    >>> overlap(Estimate(1.0, 0.0, 2.0, 9), Estimate(2.0, 1.0, 3.0, 9))
    0.5
    """
    common = min(first.high, second.high) - max(first.low, second.low)
    return (common / (first.high - first.low) + common / (second.high - second.low)) / 2


def _outcomes(pair: Pair, name: str) -> tuple[Floats, Floats]:
    """The target of both tables, nan where missing: in standard deviations, or 1 for the most common class."""
    before, after = pair.original[name], pair.released[name]
    if not before.is_category:
        ours = known(before.values)
        centre, step = mean(ours), unit(ours, known(after.values))
        return in_units(before.values, centre, step), in_units(after.values, centre, step)
    common = (
        int(np.argmax(np.bincount(before.values + 1, minlength=len(before.levels) + 1)[1:])) if before.levels else 0
    )
    ours, theirs = (np.where(c.missing, nan, (c.values == common).astype(np.float64)) for c in (before, after))
    return ours, theirs


def _fit(model: str, matrix: Floats, outcome: Floats) -> list[Estimate]:
    """Each coefficient with its interval; none where the rows are too few or the outcome is always the same."""
    rows, columns = matrix.shape
    if rows <= columns or outcome.min() == outcome.max():
        return []
    if model == "least squares":
        coefficients, errors, width = _least_squares(matrix, outcome)
    else:
        found = logistic(matrix, outcome)
        coefficients, errors, width = found.coefficients, found.errors, DEVIATIONS
    half = width * np.maximum(errors, LEAST_ERROR)
    return [Estimate(float(c), float(c - h), float(c + h), rows) for c, h in zip(coefficients, half, strict=True)]


def _least_squares(matrix: Floats, outcome: Floats) -> tuple[Floats, Floats, float]:
    """Coefficients, standard errors, and Student's quantile for 95 %."""
    from scipy.stats import t

    free = matrix.shape[0] - matrix.shape[1]
    inverse = np.linalg.inv(matrix.T @ matrix)
    coefficients = inverse @ (matrix.T @ outcome)
    left = outcome - matrix @ coefficients
    return coefficients, np.sqrt(np.diag(inverse) * float(left @ left) / free), float(t.ppf(0.975, free))


def _nothing(target: str, rows: int, of: int, reason: str) -> Regression:
    return Regression("", target, nan, nan, nan, 0, (), rows, of, how(rows, of), reason)
