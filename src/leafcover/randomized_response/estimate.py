"""Schemes of randomised response, and estimates from the reports: shares of answers and joint distributions.

`Scheme` says which columns are randomised together by which mechanism, and `disguise` applies it. `estimate` gives the
share of rows with certain answers, `joint` the joint distribution of several columns.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import inf, log, prod, sqrt
from typing import Literal, TypeAlias, get_args

import numpy as np

from leafcover.arrays import MISSING, Bools, Codes, Floats
from leafcover.errors import NameUnknown, PlanError, TableError, ValueOutOfRange
from leafcover.keyed_random import Draws
from leafcover.randomized_response.mechanism import Mechanism, Privacy
from leafcover.table.table import Column, Table


@dataclass(frozen=True)
class DisguisedColumns:
    """A mechanism and the columns it randomises, each with all its levels in the order of the mechanism's codes."""

    columns: Mapping[str, tuple[str, ...]]
    mechanism: Mechanism

    def __post_init__(self) -> None:
        levels = tuple(len(levels) for levels in self.columns.values())
        if levels != self.mechanism.shape:
            raise PlanError(
                f"The mechanism takes columns with {_listed(self.mechanism.shape)} levels. Got {_listed(levels)} for "
                f"{', '.join(map(repr, self.columns))}. Declare as many columns and levels as it takes."
            )
        for name, texts in self.columns.items():
            if len(set(texts)) != len(texts):
                raise PlanError(f"Column {name!r} has the same level twice. Name each level once.")

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns, in the order of the mechanism."""
        return tuple(self.columns)


@dataclass(frozen=True)
class Scheme:
    """Which columns are randomised by which mechanism; the mechanisms are independent. Other columns are open."""

    parts: tuple[DisguisedColumns, ...]

    def __init__(self, *parts: DisguisedColumns) -> None:
        object.__setattr__(self, "parts", parts)
        names = [name for part in parts for name in part.names]
        if twice := [name for name in names if names.count(name) > 1]:
            raise PlanError(f"Column {twice[0]!r} is in two parts of the scheme. Put it in one part only.")

    def levels(self, table: Table, name: str) -> tuple[str, ...]:
        """The levels of a column in the order of ``codes``: as declared, otherwise as observed."""
        for part in self.parts:
            if name in part.columns:
                return part.columns[name]
        column = table[name]
        if not column.is_category:
            raise PlanError(
                f"Column {name!r} must be a category. Got a {column.kind}. Bin it, or choose another column."
            )
        return column.levels

    def codes(self, table: Table, name: str) -> Codes:
        """The codes of a column among ``levels``; -1 where it is missing."""
        return recoded(table[name], self.levels(table, name))

    @property
    def privacy(self) -> Privacy:
        """What all parts together reveal: their epsilons add up; one part without a bound leaves none for the whole."""
        each = [part.mechanism.privacy for part in self.parts]
        known = [one.epsilon for one in each if one.epsilon is not None]
        texts = " ".join(f"{', '.join(part.names)}: {one.words}" for part, one in zip(self.parts, each, strict=True))
        rest = "All other columns are reported unchanged."
        return Privacy(sum(known) if len(known) == len(each) else None, f"{texts} {rest}".strip())


def disguise(table: Table, scheme: Scheme, draws: Draws, *, start: int = 0) -> Table:
    """The table after every part has gone through its mechanism; the first row uses the coins of row ``start``.

    Never randomise one answer twice: two reports reveal more than one.
    """
    reported = []
    for part in scheme.parts:
        codes = [scheme.codes(table, name) for name in part.names]
        given = codes[0] if len(codes) == 1 else np.stack(codes)
        reports = part.mechanism.apply(given, draws.sub("disguise", *part.names), start)
        for (name, levels), column in zip(part.columns.items(), np.atleast_2d(reports), strict=True):
            # A new column: it must carry nothing over from the true column.
            reported.append(recoded_column(name, column, levels))
    return table.replace(reported)


def recoded(column: Column, levels: tuple[str, ...]) -> Codes:
    """The codes of a category in another order of levels; missing stays missing."""
    if not column.is_category:
        raise PlanError(
            f"Column {column.name!r} must be a category to be randomised. Got a {column.kind}. Read it as a category."
        )
    if column.levels == levels:
        return np.asarray(column.values, np.int32)
    places = {text: code for code, text in enumerate(levels)}
    if unknown := [text for text in column.levels if text not in places]:
        raise PlanError(
            f"Column {column.name!r} has {len(unknown)} levels that the scheme does not declare. Declare every level."
        )
    moved = np.array([places[text] for text in column.levels] + [MISSING], np.int32)  # the last serves code -1
    return moved[column.values]


def recoded_column(name: str, codes: Codes, levels: tuple[str, ...]) -> Column:
    """A category with these codes, and its levels sorted as in every table."""
    order = tuple(sorted(levels))
    if order == levels:
        return Column(name, "category", codes, levels=levels)
    moved = np.array([order.index(text) for text in levels] + [MISSING], np.int32)
    return Column(name, "category", moved[codes], levels=order)


def code_of(levels: tuple[str, ...], name: str, text: str) -> int:
    """The code of a level, given by its text."""
    if text not in levels:
        raise NameUnknown("level", text, levels, where=f"in column {name!r}")
    return levels.index(text)


def _listed(counts: tuple[int, ...]) -> str:
    return " and ".join(map(str, counts))


# The share of rows that satisfy a conjunction of answers, with its standard error.
#
# Every row has a weight w whose expectation over the coins is 1 when the true row satisfies the conjunction E and 0
# otherwise: the product of the weights of its mechanisms and of indicators for open columns. The mean of w estimates
# P(E) without bias. Its variance due to the coins is the mean of E[w²] - 1{E} over n, which (mean w² - mean w) / n
# estimates without bias; for a sample from a population it is (E[w²] - P(E)²) / n.


DEVIATIONS = 1.959964  # standard deviations of the normal distribution for a two-sided 95% interval


@dataclass(frozen=True)
class ProportionEstimate:
    """An estimated share of the rows, with standard errors; ``raw`` is unbiased, ``share`` is clipped to 0 to 1.

    >>> print(ProportionEstimate(raw=-0.01, error=0.02, sampling_error=0.02, rows=500, missing=3))
    0.000 (0.000 to 0.029) of 500 answers
    """

    raw: float
    error: float  # standard error due to the coins: for the people who answered
    sampling_error: float  # standard error with sampling: for the population they come from
    rows: int  # with a value in every requested column
    missing: int  # other rows

    @property
    def share(self) -> float:
        """The raw estimate clipped to 0 to 1."""
        return min(max(0.0, self.raw), 1.0)  # 0.0 comes first, so that max never returns -0.0

    @property
    def count(self) -> float:
        """The estimated number of rows, at least 0."""
        return self.share * self.rows

    @property
    def raw_count(self) -> float:
        """The sum of weights; sums over disjoint conditions add up exactly."""
        return self.raw * self.rows

    @property
    def interval(self) -> tuple[float, float]:
        """The 95% interval for the people who answered."""
        return self._around(self.error)

    @property
    def sampling_interval(self) -> tuple[float, float]:
        """The 95% interval for the population they are a sample of."""
        return self._around(self.sampling_error)

    @property
    def outside(self) -> float:
        """The standard errors by which the raw estimate is outside 0 to 1; above 4 the stated mechanism is wrong."""
        apart = abs(self.raw - self.share)
        if not apart:
            return 0.0
        return apart / self.error if self.error else inf

    def __str__(self) -> str:
        low, high = self.sampling_interval
        return f"{self.share:.3f} ({low:.3f} to {high:.3f}) of {self.rows:,} answers"

    def _around(self, error: float) -> tuple[float, float]:
        low, high = self.raw - DEVIATIONS * error, self.raw + DEVIATIONS * error
        if error and high <= 0:
            return 0.0, min(_beyond(-self.raw / error) * error, 1.0)
        if error and low >= 1:
            return max(0.0, 1.0 - _beyond((self.raw - 1) / error) * error), 1.0
        return min(max(0.0, low), self.share), max(min(high, 1.0), self.share)


def _beyond(errors: float) -> float:
    """The 95% limit of a share, in standard errors from 0 or 1, when its estimate is this many beyond that end.

    Clipping the usual interval would leave a single point, which would look like certainty. This is the 95% limit of
    the normal distribution, truncated to possible shares.

    >>> round(_beyond(2.0), 2), round(_beyond(4.0), 2)
    (1.05, 0.66)
    """
    from scipy.special import log_ndtr, ndtri_exp

    if errors > 30:  # the difference below would lose its digits; the tail is nearly exponential
        return -log(0.05) / errors
    return float(-ndtri_exp(log_ndtr(-errors) + log(0.05)) - errors)


def estimate(table: Table, scheme: Scheme, literals: Mapping[str, str | float | None]) -> ProportionEstimate:
    """The share of rows that satisfy every ``column = value``, for randomised and open columns.

    Rows with a missing value in one of the columns are counted separately. The value None selects rows where the column
    is missing, which no mechanism changes.
    """
    answered = np.ones(len(table), np.bool_)
    for name, value in literals.items():
        if value is not None:
            answered &= ~table[name].missing
    if not answered.any():
        asked = ", ".join(map(repr, literals))
        raise TableError(f"No row has a value in all of {asked}. Choose fewer columns, or wait for answers.")
    return of_weights(weights(table, scheme, literals)[answered], int((~answered).sum()))


def weights(table: Table, scheme: Scheme, literals: Mapping[str, str | float | None]) -> Floats:
    """The weight of each row for a conjunction, 0 where a value is missing; their sum is an unbiased count."""
    product = np.ones(len(table))
    left = dict(literals)
    for part in scheme.parts:
        own = {}
        for place, (name, levels) in enumerate(part.columns.items()):
            if name not in left:
                continue
            value = left.pop(name)
            if value is None:
                product *= table[name].missing
            elif isinstance(value, str):
                own[place] = code_of(levels, name, value)
            else:
                raise PlanError(f"Column {name!r} is a category. Got a number. Name one of its levels.")
        if own:
            reports = np.stack([scheme.codes(table, name) for name in part.names])
            product *= part.mechanism.weights(own, reports)
    for name, value in left.items():
        product *= _met(table[name], value)
    return product


def of_weights(counted: Floats, missing: int = 0) -> ProportionEstimate:
    """The estimate from the weights of some rows."""
    rows = len(counted)
    mean, square = float(counted.mean()), float(np.square(counted).mean())
    share = min(max(mean, 0.0), 1.0)  # otherwise the error of the coins could exceed the sampling error
    coins, sampled = (
        max(square - share, 0.0),
        max(square - share**2, 0.0),
    )  # with a few rows, mean w² can be below mean w
    return ProportionEstimate(mean, sqrt(coins / rows), sqrt(sampled / rows), rows, missing)


def _met(column: Column, value: str | float | None) -> Bools:
    if value is None:
        return column.missing
    if column.is_category != isinstance(value, str):
        wanted = "one of its levels" if column.is_category else "a number"
        raise PlanError(f"Column {column.name!r} is a {column.kind}. Give {wanted}.")
    if isinstance(value, str):
        if value not in column.levels:
            # The levels of an undeclared column are original values, so they are not listed.
            raise PlanError(f"Column {column.name!r} does not have the requested level. Give one that occurs.")
        return np.asarray(column.values == column.levels.index(value))
    return np.asarray(column.values == value)


# Joint distributions of several columns.
#
# Reports are counted, and each mechanism is inverted along its own axes, without building a matrix. Plain inversion is
# unbiased but may give negative shares. The result is therefore the nearest valid distribution (projection onto the
# simplex) or the one of maximum likelihood (iterative Bayesian update).


Method: TypeAlias = Literal["likeliest", "nearest"]
MOST_CELLS = 1 << 22  # this many shares take 32 MB


@dataclass(frozen=True, eq=False)
class JointDistribution:
    """The share of every combination of levels among the rows with a value in all columns."""

    columns: tuple[str, ...]
    levels: tuple[tuple[str, ...], ...]
    shares: Floats  # one axis per column; they sum to 1
    rows: int
    missing: int  # rows with a missing value in one of the columns
    settled: bool = True  # False when the limit of rounds was reached before the maximum likelihood

    @property
    def counts(self) -> Floats:
        """Expected numbers of rows, not rounded."""
        return self.shares * self.rows


def joint(table: Table, scheme: Scheme, columns: Sequence[str], *, method: Method = "likeliest") -> JointDistribution:
    """The estimated joint distribution of some columns, randomised or open; no share is negative.

    >>> from leafcover.randomized_response import Warner
    >>> from leafcover.table.table import Column
    >>> reported = Table((Column("ill", "category", np.repeat(np.array([0, 1], np.int32), [60, 40]), ("no", "yes")),))
    >>> scheme = Scheme(DisguisedColumns({"ill": ("no", "yes")}, Warner(0.75)))
    >>> joint(reported, scheme, ["ill"]).shares.round(2)
    array([0.7, 0.3])
    """
    if method not in get_args(Method):
        raise NameUnknown("method", method, get_args(Method))
    reported = _reported(table, scheme, columns)
    mechanisms = _mechanisms(scheme, columns)
    if method == "nearest":
        shares = nearest(_along(reported.shares, mechanisms, lambda mechanism: mechanism.unmix))
        return _with(reported, shares)
    found = likeliest(
        reported.counts,
        lambda shares: _along(shares, mechanisms, lambda mechanism: mechanism.mix),
        lambda values: _along(values, mechanisms, lambda mechanism: mechanism.mix_back),
    )
    return _with(reported, found.shares, settled=found.settled)


def joint_inverted(table: Table, scheme: Scheme, columns: Sequence[str]) -> JointDistribution:
    """The joint distribution by plain inversion: unbiased and additive, but shares may be negative or above 1."""
    reported = _reported(table, scheme, columns)
    return _with(reported, _along(reported.shares, _mechanisms(scheme, columns), lambda mechanism: mechanism.unmix))


AxesMechanism: TypeAlias = tuple[tuple[int, ...], Mechanism]  # the axes of a table and their mechanism


def _reported(table: Table, scheme: Scheme, columns: Sequence[str]) -> JointDistribution:
    if not columns or len(set(columns)) != len(columns):
        raise PlanError(f"columns must be one or more different columns. Got {list(columns)}.")
    levels = tuple(scheme.levels(table, name) for name in columns)
    shape = tuple(len(texts) for texts in levels)
    if prod(shape) > MOST_CELLS:
        raise ValueOutOfRange("The number of cells of a joint distribution", prod(shape), f"at most {MOST_CELLS}")
    codes = np.stack([scheme.codes(table, name) for name in columns])
    answered = (codes != MISSING).all(axis=0)
    rows = int(answered.sum())
    if not rows:
        raise TableError(f"No row has a value in all of {', '.join(map(repr, columns))}. Choose fewer columns.")
    cell = np.ravel_multi_index(tuple(codes[:, answered]), shape)
    shares = np.bincount(cell, minlength=prod(shape)).reshape(shape) / rows
    return JointDistribution(tuple(columns), levels, shares, rows, len(table) - rows)


def _mechanisms(scheme: Scheme, columns: Sequence[str]) -> list[AxesMechanism]:
    mechanisms: list[AxesMechanism] = []
    for part in scheme.parts:
        places = [place for place, name in enumerate(part.names) if name in columns]
        if places:
            axes = tuple(columns.index(part.names[place]) for place in places)
            mechanisms.append((axes, part.mechanism.on(places)))
    return mechanisms


def _along(
    shares: Floats, mechanisms: list[AxesMechanism], operation: Callable[[Mechanism], Callable[[Floats], Floats]]
) -> Floats:
    """Apply an operation of each mechanism along the axes of its own columns."""
    for axes, mechanism in mechanisms:
        forth, back = _orders(axes, shares.ndim)
        shares = operation(mechanism)(shares.transpose(forth)).transpose(back)
    return shares


@lru_cache(maxsize=256)
def _orders(axes: tuple[int, ...], count: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The order of axes that puts some in front, and the one that puts them back.

    The iteration needs them thousands of times; `numpy.moveaxis` took half of its time.
    """
    forth = (*axes, *(axis for axis in range(count) if axis not in axes))
    return forth, tuple(forth.index(axis) for axis in range(count))


def _with(reported: JointDistribution, shares: Floats, *, settled: bool = True) -> JointDistribution:
    return JointDistribution(reported.columns, reported.levels, shares, reported.rows, reported.missing, settled)


# From shares that may be negative to a valid distribution: the nearest one, or the one of maximum likelihood.


NEAR = 0.01  # of the log likelihood: a difference this small is not meaningful
MOST_ROUNDS = 10_000


def nearest(shares: Floats) -> Floats:
    """The closest distribution in Euclidean distance (projection onto the simplex).

    One number is subtracted from all shares and negative results become 0; sorting finds that number exactly.

    >>> nearest(np.array([0.75, 0.5, -0.25]))
    array([0.625, 0.375, 0.   ])
    """
    down = np.sort(shares, axis=None)[::-1]
    levels = (np.cumsum(down) - 1) / np.arange(1, down.size + 1)
    kept = int(np.flatnonzero(down > levels)[-1])
    found = np.maximum(shares - levels[kept], 0.0)
    return np.asarray(found / found.sum())  # rounding only


@dataclass(frozen=True, eq=False)
class Likeliest:
    """The shares of maximum likelihood, and how close they are to it."""

    shares: Floats
    rounds: int
    gap: float  # the log likelihood is at most this far below its maximum

    @property
    def settled(self) -> bool:
        """Whether the iteration converged before the limit of rounds."""
        return self.gap <= NEAR


def likeliest(
    counts: Floats,
    mix: Callable[[Floats], Floats],
    mix_back: Callable[[Floats], Floats],
    *,
    near: float = NEAR,
    most_rounds: int = MOST_ROUNDS,
) -> Likeliest:
    """The shares of true values with maximum likelihood: iterative Bayesian update, an EM algorithm.

    Every round multiplies each share by the mean, over the reports, of their probability given this true value divided
    by their expected probability. The log likelihood is concave, so the largest factor minus 1, times the rows, bounds
    what it can still gain; the iteration stops when that is below ``near``.
    """
    rows = float(counts.sum())
    reported = counts / rows
    shares = np.full(counts.shape, 1.0 / counts.size)
    rounds, gap = 0, np.inf
    while True:
        expected = mix(shares)
        ratio = np.divide(reported, expected, out=np.zeros_like(reported), where=reported > 0)
        factor = mix_back(ratio)
        gap = rows * float(factor.max() - 1)
        if gap <= near or rounds == most_rounds:
            return Likeliest(shares, rounds, gap)
        shares = shares * factor
        shares /= shares.sum()
        rounds += 1
