"""The share of people for whom some answers hold together, from disguised answers, with its error.

Every row counts a weight w whose expectation, over its coins, is 1 when the truth meets the conjunction E and else 0:
the product of the weights of its channels and of plain indicators for columns that are not disguised. So P(E) is
estimated by the mean of w without bias. By the coins alone its variance is the mean of E[w²] - 1{E} over n, which
(mean w² - mean w) / n estimates without bias; for a sample from a population it is (E[w²] - P(E)²) / n.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from math import inf, log, sqrt

import numpy as np

from leafcover.errors import PlanError, TableError
from leafcover.fast.arrays import Bools, Floats
from leafcover.response.scheme import Scheme, code_of
from leafcover.table.table import Column, Table

DEVIATIONS = 1.959964  # of the normal law, either side, for 95 %


@dataclass(frozen=True)
class Estimate:
    """A share of the rows that answered, with its errors; ``raw`` is unbiased and may leave 0 to 1, ``share`` cannot.

    >>> print(Estimate(raw=-0.01, error=0.02, sampling_error=0.02, rows=500, missing=3))
    0.000 (0.000 to 0.029) of 500 answers
    """

    raw: float
    error: float  # standard error by the coins alone: about the people who answered
    sampling_error: float  # standard error when they are a sample: about the population they come from
    rows: int  # that answered every column asked for
    missing: int  # that did not

    @property
    def share(self) -> float:
        """The raw estimate moved to the nearest share that can be."""
        return min(max(0.0, self.raw), 1.0)  # 0.0 first: of two zeros max takes it, and -0.0 is never shown

    @property
    def count(self) -> float:
        """How many of the people who answered, never below 0."""
        return self.share * self.rows

    @property
    def raw_count(self) -> float:
        """The sum of weights: over parts that exclude each other these add up exactly."""
        return self.raw * self.rows

    @property
    def interval(self) -> tuple[float, float]:
        """95 % about the people who answered."""
        return self._around(self.error)

    @property
    def sampling_interval(self) -> tuple[float, float]:
        """95 % about the population they are a sample of."""
        return self._around(self.sampling_error)

    @property
    def outside(self) -> float:
        """How many standard errors the raw estimate lies outside 0 to 1; above 4 the law is not what was said."""
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
    """How far a share may lie from an end that its estimate is so many standard errors beyond, in standard errors.

    Nothing is left of the usual interval there, and an interval of nothing would look like certainty. This is the 95 %
    limit of the normal law, given that the share is on the right side of the end.

    >>> round(_beyond(2.0), 2), round(_beyond(4.0), 2)
    (1.05, 0.66)
    """
    from scipy.special import log_ndtr, ndtri_exp

    if errors > 30:  # the difference below would lose its digits; the tail is that of an exponential law
        return -log(0.05) / errors
    return float(-ndtri_exp(log_ndtr(-errors) + log(0.05)) - errors)


def estimate(table: Table, scheme: Scheme, literals: Mapping[str, str | float | None]) -> Estimate:
    """The share of rows for which every ``column = value`` holds, over disguised columns and others.

    Rows with a missing answer to one of them are counted apart and not among the rows. A literal None asks for rows
    where the column is missing, which no channel disguises.
    """
    answered = np.ones(len(table), np.bool_)
    for name, value in literals.items():
        if value is not None:
            answered &= ~table[name].missing
    if not answered.any():
        asked = ", ".join(map(repr, literals))
        raise TableError(f"No row answers all of {asked}. Ask for fewer columns, or wait for answers.")
    return of_weights(weights(table, scheme, literals)[answered], int((~answered).sum()))


def weights(table: Table, scheme: Scheme, literals: Mapping[str, str | float | None]) -> Floats:
    """What each row counts for the conjunction; their sum is an unbiased count, 0 where an answer is missing."""
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
                raise PlanError(f"Column {name!r} has levels of text. Got a number. Name one of its levels.")
        if own:
            reports = np.stack([scheme.codes(table, name) for name in part.names])
            product *= part.channel.weights(own, reports)
    for name, value in left.items():
        product *= _met(table[name], value)
    return product


def of_weights(counted: Floats, missing: int = 0) -> Estimate:
    """The estimate that the weights of some rows give."""
    rows = len(counted)
    mean, square = float(counted.mean()), float(np.square(counted).mean())
    share = min(max(mean, 0.0), 1.0)  # a raw share outside would make the error of the coins the larger one
    coins, sampled = max(square - share, 0.0), max(square - share**2, 0.0)  # of a few rows, w² can be below w
    return Estimate(mean, sqrt(coins / rows), sqrt(sampled / rows), rows, missing)


def _met(column: Column, value: str | float | None) -> Bools:
    if value is None:
        return column.missing
    if column.is_category != isinstance(value, str):
        wanted = "one of its levels" if column.is_category else "a number"
        raise PlanError(f"Column {column.name!r} is a {column.kind}. Ask for {wanted}.")
    if isinstance(value, str):
        if value not in column.levels:
            # The levels of a column that nobody declared are original values: they are not listed.
            raise PlanError(f"Column {column.name!r} holds no such level as was asked for. Ask for one that occurs.")
        return np.asarray(column.values == column.levels.index(value))
    return np.asarray(column.values == value)
