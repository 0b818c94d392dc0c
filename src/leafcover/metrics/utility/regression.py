"""Regression on the original and on the release: the overlap of confidence intervals (Karr and others 2006).

The target is regressed on all other columns in both tables: a number by least squares, a category by logistic
regression of its most common class. Each coefficient has a 95 % interval in each table; the overlap is the mean
share of the common part in both. Needs no pairs of rows. Internal: coefficients are statistics of the original.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import nan
from typing import NamedTuple

import numpy as np

from leafcover.arrays import Bools, Floats
from leafcover.metrics.estimates import DEVIATIONS, Estimate
from leafcover.metrics.pair import Pair, coverage_note, sample_rows, say
from leafcover.metrics.utility.univariate import in_units, known, mean, unit, worst_mean
from leafcover.table.table import Column

# Logistic regression by Newton's method, with standard errors.
#
# A tiny ridge (1e-6 for each row) keeps coefficients finite under perfect separation; elsewhere it changes the sixth
# digit. At most 30 steps, halved while they increase the loss.


RIDGE = 1e-6  # times rows: the weight of the squared coefficients, halved
MOST_STEPS = 30
HALVINGS = 20
ROUNDING = 1e-12  # of the loss: equal up to rounding
CLOSE = 1e-7  # a step that changes no coefficient by more ends the search


class Fitted(NamedTuple):
    """A fitted model: coefficients on the log odds, their standard errors, and predicted probabilities."""

    coefficients: Floats
    errors: Floats  # standard errors
    probabilities: Floats  # of each row


def logistic(matrix: Floats, outcome: Floats) -> Fitted:
    """Fit outcomes of 0 and 1 on the columns of a matrix, which holds its own intercept.

    >>> found = logistic(np.ones((4, 1)), np.array([1.0, 1.0, 1.0, 0.0]))
    >>> found.probabilities.round(3).tolist(), found.errors.round(3).tolist()
    ([0.75, 0.75, 0.75, 0.75], [1.155])
    """
    rows, columns = matrix.shape
    ridge = RIDGE * rows
    found = np.zeros(columns)
    line, loss = matrix @ found, rows * float(np.log(2))
    for _ in range(MOST_STEPS):
        chance = _chance(line)
        slope = matrix.T @ (outcome - chance) - ridge * found
        step = np.linalg.solve(_curvature(matrix, chance, ridge), slope)
        for _ in range(HALVINGS):
            tried = matrix @ (found + step)
            new = _loss(tried, outcome, found + step, ridge)
            if new <= loss + ROUNDING * loss:
                break
            step = step / 2
        found, line, loss = found + step, tried, new
        if np.abs(step).max() < CLOSE:
            break
    chance = _chance(line)
    errors = np.sqrt(np.diag(np.linalg.inv(_curvature(matrix, chance, ridge))))
    return Fitted(found, errors, chance)


def _chance(line: Floats) -> Floats:
    chance: Floats = 0.5 + 0.5 * np.tanh(line / 2)
    return chance


def _curvature(matrix: Floats, chance: Floats, ridge: float) -> Floats:
    weights = chance * (1 - chance)
    curvature: Floats = matrix.T @ (matrix * weights[:, None]) + ridge * np.eye(matrix.shape[1])
    return curvature


def _loss(line: Floats, outcome: Floats, found: Floats, ridge: float) -> float:
    return float(np.logaddexp(0.0, line).sum() - outcome @ line + ridge / 2 * (found @ found))


# The design matrix of a regression, with the same features in both tables.
#
# Numbers are standardised by the original, missing ones at 0; categories have an indicator for each level above 1 %
# but the most common one. Missing is a level of its own, for numbers too.


RARE = 0.01  # a level that is rarer in both tables has no feature
MOST_FEATURES = 50
FARTHEST = 1e3  # in standard deviations; no value of a million rows is further from the mean of its table
DEPENDENT = 1e-9  # of a feature's sum of squares: with less left, it depends linearly on those before it
LOST = "missing"  # the level of a missing value


@dataclass(frozen=True)
class Feature:
    """One column of the matrix: a number, or a level of a column."""

    column: str
    level: str = ""  # "" for the number itself


class Filled(NamedTuple):
    """A feature, its variance, and its values in both tables."""

    feature: Feature
    spread: float
    before: Floats
    after: Floats


@dataclass(frozen=True, eq=False)
class DesignMatrix:
    """The same features of both tables, the intercept first. Internal: levels have names."""

    features: tuple[Feature, ...]
    before: Floats  # (rows, 1 + features)
    after: Floats


def design(pair: Pair, columns: Sequence[str], *, most: int = MOST_FEATURES) -> DesignMatrix:
    """Build the matrices, of the ``most`` features that vary most; ties by name."""
    found = [filled for name in sorted(columns) for filled in _features(pair.original[name], pair.released[name])]
    kept = sorted(found, key=lambda filled: -filled.spread)[:most]
    return DesignMatrix(
        tuple(filled.feature for filled in kept),
        _matrix([np.ones(len(pair.original)), *(filled.before for filled in kept)]),
        _matrix([np.ones(len(pair.released)), *(filled.after for filled in kept)]),
    )


def _features(original: Column, released: Column) -> list[Filled]:
    found = []
    before, after = original.values, released.values
    if not original.is_category:
        there, still = known(before), known(after)
        centre, step = mean(there if len(there) else still), unit(there, still)
        ours, theirs = (_bounded(in_units(values, centre, step)) for values in (before, after))
        found.append(Filled(Feature(original.name), float(np.ptp(ours) > 0 or np.ptp(theirs) > 0), ours, theirs))
        before, after = (np.where(np.isnan(values), -1, 0).astype(np.int32) for values in (before, after))
    levels = original.levels if original.is_category else ("",)
    counts, others = (np.bincount(codes + 1, minlength=len(levels) + 1) for codes in (before, after))
    shares = np.array([counts / len(before), others / len(after)])
    spreads = (shares * (1 - shares)).max(axis=0)
    common = int(np.argmax(counts))
    for place in np.flatnonzero(shares.max(axis=0) > RARE):
        if place != common:
            feature = Feature(original.name, levels[place - 1] if place else LOST)
            held = ((codes == place - 1).astype(np.float64) for codes in (before, after))
            found.append(Filled(feature, float(spreads[place]), *held))
    return found


def _bounded(values: Floats) -> Floats:
    return np.nan_to_num(np.clip(values, -FARTHEST, FARTHEST), nan=0.0)


def _matrix(columns: list[Floats]) -> Floats:
    return np.ascontiguousarray(columns).T  # column-major: products of columns take half the time


def part(matrix: Floats, rows: Bools, columns: Sequence[int]) -> Floats:
    """Some rows and columns, column-major; the matrix itself if that is all of it."""
    if len(columns) < matrix.shape[1]:
        matrix = np.ascontiguousarray(matrix.T[columns]).T
    return matrix if rows.all() else np.ascontiguousarray(matrix.T[:, rows]).T


def independent(matrix: Floats) -> list[int]:
    """The columns that do not depend linearly on those before them, in order.

    >>> independent(np.array([[1.0, 2.0, 1.0], [1.0, 2.0, 0.0], [1.0, 2.0, 3.0]]))
    [0, 2]
    """
    left = matrix.T @ matrix
    sizes = np.sqrt(np.diag(left))
    sizes[sizes == 0] = 1.0
    left = left / sizes / sizes[:, None]
    kept = []
    for column in range(len(left)):
        if left[column, column] > DEPENDENT:
            kept.append(column)
            left = left - np.outer(left[:, column], left[column]) / left[column, column]
    return kept


MOST_ROWS = 50_000  # of each table
ROWS_A_FEATURE = 5  # at least; a smaller table has fewer features
LEAST_ERROR = 1e-9  # a smaller standard error is rounding


@dataclass(frozen=True)
class Coefficient:
    """The coefficient of one feature in both tables. Internal."""

    column: str
    level: str  # "" for a number
    before: Estimate
    after: Estimate | None  # None if it cannot be estimated from the release
    overlap: float  # below 0 if the intervals are disjoint; 0 without an estimate after


@dataclass(frozen=True)
class Regression:
    """The overlap of confidence intervals of a regression; nan if it cannot be run, and ``reason`` says why."""

    model: str
    target: str
    overlap: float  # the mean over coefficients but the intercept; disjoint intervals count 0
    worst: float  # the mean of the worst 1 %, at least one
    disjoint: float  # the share of coefficients with disjoint intervals, lost ones included
    lost: int  # coefficients that cannot be estimated from the release
    coefficients: tuple[Coefficient, ...]
    rows: int  # of each table, used; those without a target are dropped from them
    of: int
    how: str
    reason: str = ""


def regression(pair: Pair, *, target: str = "", most: int = MOST_ROWS, features: int = MOST_FEATURES) -> Regression:
    """Regress the target (the pair's unless named) on the other columns in both tables, and compare."""
    name = target or pair.target
    rows = sample_rows(len(pair.original), most)
    if not name:
        return _nothing("", len(rows), len(pair.original), say("reason-no-target"))
    taken = pair if len(rows) == len(pair.original) else pair.take(rows)
    model = "logistic regression" if pair.original[name].is_category else "least squares"
    before, after = _outcomes(taken, name)
    ours, theirs = ~np.isnan(before), ~np.isnan(after)
    if not ours.any() or before[ours].min() == before[ours].max():
        return _nothing(name, len(rows), len(pair.original), say("reason-constant-target"))
    others = [n for n in pair.names if n not in (name, pair.weight)]
    matrix = design(taken, others, most=min(features, int(ours.sum()) // ROWS_A_FEATURE))
    every = range(1 + len(matrix.features))
    kept = independent(part(matrix.before, ours, every))
    if len(kept) < 2:
        return _nothing(name, len(rows), len(pair.original), say("reason-no-feature"))
    estimable = [kept[i] for i in independent(part(matrix.after, theirs, kept))]
    fitted = dict(zip(kept, _fit(model, part(matrix.before, ours, kept), before[ours]), strict=True))
    released = dict(zip(estimable, _fit(model, part(matrix.after, theirs, estimable), after[theirs]), strict=False))
    coefficients = []
    for column in kept[1:]:
        feature, second = matrix.features[column - 1], released.get(column)
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
        coverage_note(len(rows), len(pair.original)),
    )


def overlap(first: Estimate, second: Estimate) -> float:
    """The mean share of the common part in both intervals; below 0 if they are disjoint.

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
    """Each coefficient with its interval; empty if rows are too few or the outcome is constant."""
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
    return Regression("", target, nan, nan, nan, 0, (), rows, of, coverage_note(rows, of), reason)
