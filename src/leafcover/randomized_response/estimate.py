"""Which columns are disguised together, by which mechanism; every other column is reported as it is."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import inf, log, prod, sqrt
from typing import Literal, TypeAlias, get_args

import numpy as np

from leafcover.arrays import MISSING, Bools, Codes, Floats
from leafcover.errors import NameUnknown, PlanError, TableError, ValueOutOfRange
from leafcover.randomized_response.mechanism import Mechanism, Privacy
from leafcover.rng import Draws
from leafcover.table.table import Column, Table


@dataclass(frozen=True)
class DisguisedColumns:
    """A mechanism and the columns it covers, each with all of its levels in the order of the mechanism's codes."""

    columns: Mapping[str, tuple[str, ...]]
    mechanism: Mechanism

    def __post_init__(self) -> None:
        levels = tuple(len(levels) for levels in self.columns.values())
        if levels != self.mechanism.shape:
            raise PlanError(
                f"The columns {', '.join(map(repr, self.columns))} have {_listed(levels)} levels, but their mechanism "
                f"takes {_listed(self.mechanism.shape)}. Name as many columns and levels as it has."
            )
        for name, texts in self.columns.items():
            if len(set(texts)) != len(texts):
                raise PlanError(f"Column {name!r} names a level twice. Name each level once.")

    @property
    def names(self) -> tuple[str, ...]:
        """The columns, in the order of the mechanism."""
        return tuple(self.columns)


@dataclass(frozen=True)
class Scheme:
    """The parts of a questionnaire; their coins are independent."""

    parts: tuple[DisguisedColumns, ...]

    def __init__(self, *parts: DisguisedColumns) -> None:
        object.__setattr__(self, "parts", parts)
        names = [name for part in parts for name in part.names]
        if twice := [name for name in names if names.count(name) > 1]:
            raise PlanError(f"Column {twice[0]!r} stands in two parts. Two reports of one answer give more away.")

    def levels(self, table: Table, name: str) -> tuple[str, ...]:
        """The levels of a column in the order of ``codes``: as declared, else as observed."""
        for part in self.parts:
            if name in part.columns:
                return part.columns[name]
        column = table[name]
        if not column.is_category:
            raise PlanError(f"Column {name!r} is a {column.kind}, not a category. Bin it, or ask for another column.")
        return column.levels

    def codes(self, table: Table, name: str) -> Codes:
        """The codes of a column among ``levels``; -1 where it is missing."""
        return recoded(table[name], self.levels(table, name))

    @property
    def privacy(self) -> Privacy:
        """All parts together: the epsilons add up, and one part without any leaves none for the whole."""
        each = [part.mechanism.privacy for part in self.parts]
        known = [one.epsilon for one in each if one.epsilon is not None]
        said = " ".join(f"{', '.join(part.names)}: {one.words}" for part, one in zip(self.parts, each, strict=True))
        rest = "Columns that are in no part are reported as they are."
        return Privacy(sum(known) if len(known) == len(each) else None, f"{said} {rest}".strip())


def disguise(table: Table, scheme: Scheme, draws: Draws, *, start: int = 0) -> Table:
    """The table with every part reported through its mechanism; the first row tosses the coins of row ``start``.

    Coins must never be tossed twice for one answer: two reports of it tell more than one.
    """
    reported = []
    for part in scheme.parts:
        codes = [scheme.codes(table, name) for name in part.names]
        given = codes[0] if len(codes) == 1 else np.stack(codes)
        reports = part.mechanism.apply(given, draws.sub("disguise", *part.names), start)
        for (name, levels), column in zip(part.columns.items(), np.atleast_2d(reports), strict=True):
            # A new column: nothing that was stored of the truth may go with it.
            reported.append(recoded_column(name, column, levels))
    return table.replace(reported)


def recoded(column: Column, levels: tuple[str, ...]) -> Codes:
    """The codes of a category among other levels; missing stays missing."""
    if not column.is_category:
        raise PlanError(f"Column {column.name!r} is a {column.kind}. Read it as a category to disguise it.")
    if column.levels == levels:
        return np.asarray(column.values, np.int32)
    places = {text: code for code, text in enumerate(levels)}
    if unknown := [text for text in column.levels if text not in places]:
        raise PlanError(
            f"Column {column.name!r} holds {len(unknown)} levels that its part does not name. Name every level."
        )
    moved = np.array([places[text] for text in column.levels] + [MISSING], np.int32)  # the last serves code -1
    return moved[column.values]


def recoded_column(name: str, codes: Codes, levels: tuple[str, ...]) -> Column:
    """A category of these codes, with its levels in the order a table keeps them."""
    order = tuple(sorted(levels))
    if order == levels:
        return Column(name, "category", codes, levels=levels)
    moved = np.array([order.index(text) for text in levels] + [MISSING], np.int32)
    return Column(name, "category", moved[codes], levels=order)


def code_of(levels: tuple[str, ...], name: str, text: str) -> int:
    """The code of a level that was asked for by its text."""
    if text not in levels:
        raise NameUnknown("level", text, levels, where=f"in column {name!r}")
    return levels.index(text)


def _listed(counts: tuple[int, ...]) -> str:
    return " and ".join(map(str, counts))


# The share of people for whom some answers hold together, from disguised answers, with its error.
#
# Every row counts a weight w whose expectation, over its coins, is 1 when the truth meets the conjunction E and else 0:
# the product of the weights of its mechanisms and of plain indicators for columns that are not disguised. So P(E) is
# estimated by the mean of w without bias. By the coins alone its variance is the mean of E[w²] - 1{E} over n, which
# (mean w² - mean w) / n estimates without bias; for a sample from a population it is (E[w²] - P(E)²) / n.


DEVIATIONS = 1.959964  # of the normal distribution, either side, for 95 %


@dataclass(frozen=True)
class ProportionEstimate:
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
        """How many standard errors the raw estimate lies outside 0 to 1; above 4 the mechanism is not what was said."""
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
    limit of the normal distribution, given that the share is on the right side of the end.

    >>> round(_beyond(2.0), 2), round(_beyond(4.0), 2)
    (1.05, 0.66)
    """
    from scipy.special import log_ndtr, ndtri_exp

    if errors > 30:  # the difference below would lose its digits; the tail is that of an exponential distribution
        return -log(0.05) / errors
    return float(-ndtri_exp(log_ndtr(-errors) + log(0.05)) - errors)


def estimate(table: Table, scheme: Scheme, literals: Mapping[str, str | float | None]) -> ProportionEstimate:
    """The share of rows for which every ``column = value`` holds, over disguised columns and others.

    Rows with a missing answer to one of them are counted apart and not among the rows. A literal None asks for rows
    where the column is missing, which no mechanism disguises.
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
            product *= part.mechanism.weights(own, reports)
    for name, value in left.items():
        product *= _met(table[name], value)
    return product


def of_weights(counted: Floats, missing: int = 0) -> ProportionEstimate:
    """The estimate that the weights of some rows give."""
    rows = len(counted)
    mean, square = float(counted.mean()), float(np.square(counted).mean())
    share = min(max(mean, 0.0), 1.0)  # a raw share outside would make the error of the coins the larger one
    coins, sampled = max(square - share, 0.0), max(square - share**2, 0.0)  # of a few rows, w² can be below w
    return ProportionEstimate(mean, sqrt(coins / rows), sqrt(sampled / rows), rows, missing)


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


# Tables of shares over several columns, from disguised answers.
#
# Reports are counted and the mechanism of each part is undone along its own axes, one after the other: no matrix is made. The
# result of plain inversion is unbiased but may be negative; what is shown is the nearest table that can be (projection
# onto the simplex) or the likeliest one (iterative Bayesian update).


Method: TypeAlias = Literal["likeliest", "nearest"]
MOST_CELLS = 1 << 22  # a table of this many shares takes 32 MB


@dataclass(frozen=True, eq=False)
class JointDistribution:
    """Shares of every combination of levels among the rows that answered all columns."""

    columns: tuple[str, ...]
    levels: tuple[tuple[str, ...], ...]
    shares: Floats  # one axis a column; they add up to 1
    rows: int
    missing: int  # rows where one of the columns is missing, counted apart
    settled: bool = True  # False when the likeliest table was not reached in the rounds allowed

    @property
    def counts(self) -> Floats:
        """Expected numbers of rows; with whole people in mind, round them last."""
        return self.shares * self.rows


def joint(table: Table, scheme: Scheme, columns: Sequence[str], *, method: Method = "likeliest") -> JointDistribution:
    """The estimated joint table of some columns, disguised or not; no share is negative.

    >>> from leafcover.randomized_response import Warner
    >>> from leafcover.randomized_response.estimate import Part
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
    """The joint table by plain inversion: unbiased and additive, but shares may be negative or above 1."""
    reported = _reported(table, scheme, columns)
    return _with(reported, _along(reported.shares, _mechanisms(scheme, columns), lambda mechanism: mechanism.unmix))


AxesMechanism: TypeAlias = tuple[tuple[int, ...], Mechanism]  # the axes of a table, and the mechanism over them


def _reported(table: Table, scheme: Scheme, columns: Sequence[str]) -> JointDistribution:
    if not columns or len(set(columns)) != len(columns):
        raise PlanError(f"A joint table needs different columns. Got {list(columns)}. Name each column once.")
    levels = tuple(scheme.levels(table, name) for name in columns)
    shape = tuple(len(texts) for texts in levels)
    if prod(shape) > MOST_CELLS:
        raise ValueOutOfRange("The number of cells of a joint table", prod(shape), f"at most {MOST_CELLS}")
    codes = np.stack([scheme.codes(table, name) for name in columns])
    answered = (codes != MISSING).all(axis=0)
    rows = int(answered.sum())
    if not rows:
        raise TableError(f"No row answers all of {', '.join(map(repr, columns))}. Ask for fewer columns.")
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
    """A way through each mechanism, along the axes of its own columns."""
    for axes, mechanism in mechanisms:
        front = tuple(range(len(axes)))
        shares = np.moveaxis(operation(mechanism)(np.moveaxis(shares, axes, front)), front, axes)
    return shares


def _with(reported: JointDistribution, shares: Floats, *, settled: bool = True) -> JointDistribution:
    return JointDistribution(reported.columns, reported.levels, shares, reported.rows, reported.missing, settled)


# From shares that may be negative to shares that can be: the nearest ones, or the likeliest ones.


NEAR = 0.01  # of the logarithm of the likelihood: no data can tell two estimates this near apart
MOST_ROUNDS = 10_000


def nearest(shares: Floats) -> Floats:
    """The shares, none negative and adding up to 1, with the smallest Euclidean distance.

    One number is taken off all of them and what falls below 0 is set to 0; sorting finds that number exactly.

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
    """Shares of the largest likelihood, and how sure that is."""

    shares: Floats
    rounds: int
    gap: float  # the logarithm of the likelihood is at most this far below its largest value

    @property
    def settled(self) -> bool:
        """Whether the rule stopped it, and not the limit of rounds."""
        return self.gap <= NEAR


def likeliest(
    counts: Floats,
    mix: Callable[[Floats], Floats],
    mix_back: Callable[[Floats], Floats],
    *,
    near: float = NEAR,
    most_rounds: int = MOST_ROUNDS,
) -> Likeliest:
    """Shares of truths that make counted reports most likely: iterative Bayesian update, an EM algorithm.

    Every round multiplies each share by the mean, over reports, of its mechanism's chance against the expected one. The
    largest of these factors less 1, times the rows, bounds what the logarithm of the likelihood can still gain, as
    the likelihood is concave; the rounds stop when that is below ``near``.
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
