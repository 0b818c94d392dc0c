"""Warner's related question (1965): one yes or no, true with chance θ, turned round otherwise."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import exp, inf
from typing import ClassVar

import numpy as np

from leafcover.arrays import MISSING, Codes, Floats
from leafcover.errors import PlanError, ValueOutOfRange
from leafcover.randomized_response.mechanism import (
    LEAST_DISTANCE,
    Privacy,
    checked_chance,
    checked_codes,
    checked_coin,
    checked_literals,
    chosen,
    finite,
    heads,
    log_ratio,
    numbers,
    only_column,
    posterior,
)
from leafcover.rng import Draws

# A column of many levels: the true one with chance p, else one of the others, all alike (generalised response).
#
# With q = (1 - p) / (k - 1) the law is M = (p - q) I + q 1 1ᵀ, so M⁻¹ = (I - q 1 1ᵀ) / (p - q) on shares that add up
# to 1, and every share is (λ - q) / (p - q).


@dataclass(frozen=True)
class Kary:
    """One column of ``levels`` levels; the truth with chance ``keep``, each other level with the same smaller chance.

    >>> Kary(0.6, levels=3).unmix(np.array([0.5, 0.3, 0.2])).round(3)
    array([0.75, 0.25, 0.  ])
    """

    frozen_id: ClassVar[str] = "Kary"  # of this mechanism in the mark of a survey
    keep: float
    levels: int

    def __post_init__(self) -> None:
        if self.levels < 2:
            raise ValueOutOfRange("Kary.levels", self.levels, "at least 2")
        checked_chance("Kary.keep", self.keep)
        if abs(self.keep - self.other) < LEAST_DISTANCE:
            raise ValueOutOfRange(
                "Kary.keep",
                self.keep,
                f"at least {LEAST_DISTANCE:g} away from {self.other:.4g}, the chance of each other level: "
                "where all are alike nothing can be estimated",
            )

    @staticmethod
    def with_epsilon(epsilon: float, levels: int) -> "Kary":
        """The channel that keeps the most answers at an epsilon: keep = e^ε / (e^ε + k - 1).

        >>> round(Kary.with_epsilon(1.0986123, levels=4).keep, 3)
        0.5
        """
        if not 0 < epsilon < 700:
            raise ValueOutOfRange("An epsilon", epsilon, "above 0 and below 700")
        return Kary(exp(epsilon) / (exp(epsilon) + levels - 1), levels)

    @property
    def other(self) -> float:
        """The chance of each level that is not the true one."""
        return (1 - self.keep) / (self.levels - 1)

    @property
    def shape(self) -> tuple[int, ...]:
        """The levels of the column."""
        return (self.levels,)

    def apply(self, codes: Codes, draws: Draws, start: int = 0) -> Codes:
        """Each answer, or another one; the truth itself is never drawn as another."""
        checked_codes(codes, self.shape)
        rows = len(codes)
        kept = heads(draws.sub("keep"), rows, self.keep, start) | (codes == MISSING)
        others = numbers(draws.sub("other"), rows, self.levels - 1, start)
        others += others >= codes  # the levels without the true one, numbered from 0
        return chosen(kept, codes, others)

    def mix(self, shares: Floats) -> Floats:
        """(p - q) of each level, and q of all together."""
        return (self.keep - self.other) * shares + self.other * shares.sum(axis=0, keepdims=True)

    def unmix(self, shares: Floats) -> Floats:
        """(λ - q) / (p - q), for shares of any sum."""
        return (shares - self.other * shares.sum(axis=0, keepdims=True)) / (self.keep - self.other)

    def mix_back(self, values: Floats) -> Floats:
        """The law is its own transpose."""
        return self.mix(values)

    def weights(self, literals: Mapping[int, int], reports: Codes) -> Floats:
        """(1 - q) / (p - q) where the report is the level asked for, -q / (p - q) at any other, 0 where missing."""
        checked_literals(literals, self.shape)
        column = np.atleast_2d(reports)[0]
        if not literals:
            return np.ones(len(column))
        counted = ((column == literals[0]) - self.other) / (self.keep - self.other)
        return np.where(column == MISSING, 0.0, counted)

    def variance(self, share: float, rows: int) -> float:
        """Of an estimated share π, by the draws alone: (π p(1 - p) + (1 - π) q(1 - q)) / (n (p - q)²).

        A sample from a population adds π(1 - π) / n.
        """
        p, q = self.keep, self.other
        return (share * p * (1 - p) + (1 - share) * q * (1 - q)) / (rows * (p - q) ** 2)

    def on(self, columns: Sequence[int]) -> "Kary":
        """Itself: there is one column."""
        only_column(columns)
        return self

    def posterior(self, report: int, prior: Floats) -> Floats:
        """The chance of each level after a report."""
        return posterior(self.mix(np.eye(self.levels)), report, prior)

    @property
    def privacy(self) -> Privacy:
        """Epsilon = |ln(p / q)|."""
        epsilon = finite(log_ratio(self.keep, self.other))
        if epsilon is None:
            gone = "a report is the truth for certain." if self.keep else "a report rules one level out for certain."
            return Privacy(None, gone)
        return Privacy(
            epsilon, f"each answer is true with chance {self.keep:.3g}, else one of {self.levels - 1} others."
        )


# The unrelated question (Greenberg and others 1969): answer the sensitive one with chance p, else a harmless one.
#
# The share α of yes to the harmless question must be known (a birthday, a draw by the device). The chance of a yes is
# λ = p π + (1 - p) α, so π = (λ - (1 - p) α) / p: nothing is divided by 2p - 1, and p = 1/2 works.


@dataclass(frozen=True)
class UnrelatedQuestion:
    """One column of two levels, answered with chance ``asked``; else level 1 with chance ``alpha``, whatever the truth.

    >>> UnrelatedQuestion(0.5, alpha=0.25).unmix(np.array([0.725, 0.275])).round(3)
    array([0.7, 0.3])
    """

    frozen_id: ClassVar[str] = "Unrelated"  # of this mechanism in the mark of a survey
    asked: float
    alpha: float

    def __post_init__(self) -> None:
        if not LEAST_DISTANCE <= self.asked <= 1:
            allowed = f"a chance from {LEAST_DISTANCE:g} to 1: the estimate divides by it"
            raise ValueOutOfRange("Unrelated.asked", self.asked, allowed)
        checked_chance("Unrelated.alpha", self.alpha)
        if self.alpha in (0, 1):
            allowed = "a chance above 0 and below 1: otherwise one of the two reports proves the truth"
            raise ValueOutOfRange("Unrelated.alpha", self.alpha, allowed)

    @property
    def shape(self) -> tuple[int, ...]:
        """Two levels."""
        return (2,)

    def apply(self, codes: Codes, draws: Draws, start: int = 0) -> Codes:
        """Each answer, or that of the harmless question."""
        checked_codes(codes, self.shape)
        asked = heads(draws.sub("asked"), len(codes), self.asked, start) | (codes == MISSING)
        harmless = heads(draws.sub("harmless"), len(codes), self.alpha, start)
        return chosen(asked, codes, harmless.view(np.int8))

    def mix(self, shares: Floats) -> Floats:
        """P of each level, and the harmless answers of all."""
        return self.asked * shares + self._harmless(shares) * shares.sum(axis=0, keepdims=True)

    def unmix(self, shares: Floats) -> Floats:
        """(λ - (1 - p) α) / p, for shares of any sum."""
        return (shares - self._harmless(shares) * shares.sum(axis=0, keepdims=True)) / self.asked

    def mix_back(self, values: Floats) -> Floats:
        """What a report is worth on average: p of its own, and the harmless answers'."""
        return self.asked * values + (self._harmless(values) * values).sum(axis=0, keepdims=True)

    def weights(self, literals: Mapping[int, int], reports: Codes) -> Floats:
        """(1{report} - (1 - p) α) / p, with 1 - α for level 0; 0 where missing."""
        checked_literals(literals, self.shape)
        column = np.atleast_2d(reports)[0]
        if not literals:
            return np.ones(len(column))
        counted = ((column == literals[0]) - self._chances[literals[0]]) / self.asked
        return np.where(column == MISSING, 0.0, counted)

    def variance(self, share: float, rows: int) -> float:
        """Of an estimated share π of level 1, by the draws alone: (λ(1 - λ) / p² - π(1 - π)) / n.

        A sample from a population adds π(1 - π) / n, which makes it λ(1 - λ) / (n p²).
        """
        reported = self.asked * share + (1 - self.asked) * self.alpha
        return (reported * (1 - reported) / self.asked**2 - share * (1 - share)) / rows

    def on(self, columns: Sequence[int]) -> "UnrelatedQuestion":
        """Itself: there is one column."""
        only_column(columns)
        return self

    def posterior(self, report: int, prior: Floats) -> Floats:
        """The chance of each level after a report."""
        return posterior(self.mix(np.eye(2)), report, prior)

    @property
    def privacy(self) -> Privacy:
        """The larger of the two log ratios: that of a yes and that of a no."""
        no, yes = self._chances
        epsilon = finite(max(log_ratio(self.asked + yes, yes), log_ratio(self.asked + no, no)))
        if epsilon is None:
            return Privacy(None, "the sensitive question is always asked, so the report is the truth.")
        return Privacy(
            epsilon,
            f"the sensitive question is answered with chance {self.asked:g}, else a harmless one with "
            f"{self.alpha:.0%} yes. A person whose harmless answer is known to the collector is protected less.",
        )

    @property
    def _chances(self) -> tuple[float, float]:
        """The chance of each report that comes from the harmless question."""
        return (1 - self.asked) * (1 - self.alpha), (1 - self.asked) * self.alpha

    def _harmless(self, like: Floats) -> Floats:
        return np.array(self._chances).reshape(2, *(1,) * (like.ndim - 1))


# One coin for all answers of a record: report the record with chance θ, else its complement (Du and Zhan 2003).
#
# M = θ I + (1 - θ) J, where J exchanges every record with its complement, so M⁻¹ = (θ I - (1 - θ) J) / (2θ - 1).


@dataclass(frozen=True)
class OneCoin:
    """All answers true with chance ``theta``, all answers turned round otherwise; every column has two levels.

    >>> from leafcover.rng import Draws
    >>> record = np.array([[0], [1], [1]], np.int32)
    >>> OneCoin(0.0, columns=3).apply(record, Draws(bytes(32))).ravel().tolist()
    [1, 0, 0]
    """

    frozen_id: ClassVar[str] = "OneCoin"  # of this mechanism in the mark of a survey
    theta: float
    columns: int

    def __post_init__(self) -> None:
        checked_coin("OneCoin.theta", self.theta)
        if self.columns < 1:
            raise ValueOutOfRange("OneCoin.columns", self.columns, "at least 1")

    @property
    def shape(self) -> tuple[int, ...]:
        """Two levels a column."""
        return (2,) * self.columns

    def apply(self, codes: Codes, draws: Draws, start: int = 0) -> Codes:
        """Each record, or its complement."""
        return turned(checked_codes(codes, self.shape), self.theta, draws, start)

    def mix(self, shares: Floats) -> Floats:
        """θ of each record and 1 - θ of its complement."""
        return self.theta * shares + (1 - self.theta) * self._complement(shares)

    def unmix(self, shares: Floats) -> Floats:
        """(θ P* - (1 - θ) P* of the complement) / (2θ - 1)."""
        return (self.theta * shares - (1 - self.theta) * self._complement(shares)) / (2 * self.theta - 1)

    def mix_back(self, values: Floats) -> Floats:
        """The law is its own transpose."""
        return self.mix(values)

    def weights(self, literals: Mapping[int, int], reports: Codes) -> Floats:
        """θ / (2θ - 1) where the report meets E, -(1 - θ) / (2θ - 1) where it meets the complement of E, else 0."""
        checked_literals(literals, self.shape)
        columns = np.atleast_2d(reports)
        met = np.ones(columns.shape[1], np.bool_)
        if not literals:
            return met.astype(np.float64)
        turned_met = met.copy()
        for column, code in literals.items():
            met &= columns[column] == code
            turned_met &= columns[column] == 1 - code
        return (self.theta * met - (1 - self.theta) * turned_met) / (2 * self.theta - 1)

    def variance(self, share: float, complement: float, rows: int) -> float:
        """Of an estimated P(E), by the coins alone: θ(1 - θ)(P(E) + P(complement of E)) / (n (2θ - 1)²).

        A sample from a population adds P(E)(1 - P(E)) / n.
        """
        return self.excess * (share + complement) / rows

    @property
    def excess(self) -> float:
        """θ(1 - θ) / (2θ - 1)²: the variance of one weight about a truth that meets E or its complement."""
        return self.theta * (1 - self.theta) / (2 * self.theta - 1) ** 2

    def on(self, columns: Sequence[int]) -> "OneCoin":
        """The same coin over fewer columns."""
        if len(set(columns)) != len(columns) or not set(columns) <= set(range(self.columns)):
            raise PlanError(f"This channel has columns 0 to {self.columns - 1}. Got {list(columns)}. Name each once.")
        return OneCoin(self.theta, len(columns))

    def odds(self, prior: float, prior_of_complement: float) -> float:
        """The odds that the reported record is the true one, not its complement: θ P(x) / ((1 - θ) P(x̄)).

        >>> round(OneCoin(0.7, columns=5).odds(0.01, 0.0001))  # the complement is implausible: near certainty
        233
        """
        for chance in (prior, prior_of_complement):
            if not 0 <= chance <= 1:
                raise ValueOutOfRange("The prior chance of a record", chance, "from 0 to 1")
        against = (1 - self.theta) * prior_of_complement
        if against == self.theta * prior == 0:
            raise ValueOutOfRange("The prior chances", "none that allow this report", "above 0 for one of the records")
        return inf if against == 0 else self.theta * prior / against

    @property
    def privacy(self) -> Privacy:
        """An epsilon for one column; none for more."""
        epsilon = log_ratio(self.theta, 1 - self.theta)
        if epsilon == inf:
            return Privacy(None, "the coin always falls alike, so the report is as good as the truth.")
        if self.columns == 1:
            return Privacy(epsilon, f"each answer is {_which(self.theta)} with chance {_larger(self.theta):g}.")
        return Privacy(
            None,
            "the truth is the report or its complement, and no other record. A report moves the odds between these two "
            f"by {exp(epsilon):.3g} times, no further; whoever knows one true answer knows them all.",
        )

    def _complement(self, shares: Floats) -> Floats:
        return np.flip(shares, axis=tuple(range(self.columns)))


def turned(codes: Codes, theta: float, draws: Draws, start: int) -> Codes:
    """Codes of two levels, or the other levels where the coin of a row says so; missing stays missing."""
    turn = ~heads(draws, codes.shape[-1], theta, start)
    return codes ^ (turn & (codes != MISSING))


def _which(theta: float) -> str:
    return "true" if theta > 0.5 else "turned round"


def _larger(theta: float) -> float:
    return max(theta, 1 - theta)


@dataclass(frozen=True)
class Warner:
    """One column of two levels; the truth with chance ``theta``, else the other level.

    >>> Warner(0.75).unmix(np.array([0.4, 0.6]))  # 60 % reported yes
    array([0.3, 0.7])
    """

    frozen_id: ClassVar[str] = "Warner"  # of this mechanism in the mark of a survey
    theta: float

    def __post_init__(self) -> None:
        checked_coin("Warner.theta", self.theta)

    @property
    def shape(self) -> tuple[int, ...]:
        """Two levels."""
        return (2,)

    def apply(self, codes: Codes, draws: Draws, start: int = 0) -> Codes:
        """Each answer, or the other one."""
        return turned(checked_codes(codes, self.shape), self.theta, draws, start)

    def mix(self, shares: Floats) -> Floats:
        """θ of each level and 1 - θ of the other."""
        return self._coin.mix(shares)

    def unmix(self, shares: Floats) -> Floats:
        """(θ P* - (1 - θ)(1 - P*)) / (2θ - 1)."""
        return self._coin.unmix(shares)

    def mix_back(self, values: Floats) -> Floats:
        """The law is its own transpose."""
        return self._coin.mix(values)

    def weights(self, literals: Mapping[int, int], reports: Codes) -> Floats:
        """θ / (2θ - 1) where the report is the level asked for, -(1 - θ) / (2θ - 1) where it is the other."""
        return self._coin.weights(literals, reports)

    def variance(self, rows: int) -> float:
        """Of an estimated share, by the coins alone: θ(1 - θ) / (n (2θ - 1)²), whatever the share.

        A sample from a population adds P(1 - P) / n.
        """
        return self._coin.excess / rows

    def on(self, columns: Sequence[int]) -> "Warner":
        """Itself: there is one column."""
        only_column(columns)
        return self

    def posterior(self, report: int, prior: Floats) -> Floats:
        """The chance of each level after a report."""
        return posterior(self.mix(np.eye(2)), report, prior)

    @property
    def privacy(self) -> Privacy:
        """Epsilon = |ln(θ / (1 - θ))|."""
        return self._coin.privacy

    @property
    def _coin(self) -> OneCoin:
        return OneCoin(self.theta, 1)


# Groups of columns with a coin each: between one coin for all answers and a coin for every answer.
#
# Coins are independent, so the law is the Kronecker product of the groups' laws and the estimator the product of
# theirs. Its variance grows like (2θ - 1)⁻² for every group that a question touches.


@dataclass(frozen=True)
class Groups:
    """Columns of two levels in groups; every group tosses its own coin of chance ``theta``.

    >>> Groups(0.8, groups=((0, 2), (1,))).shape
    (2, 2, 2)
    """

    frozen_id: ClassVar[str] = "Groups"  # of this mechanism in the mark of a survey
    theta: float
    groups: tuple[tuple[int, ...], ...]

    def __post_init__(self) -> None:
        placed = sorted(column for group in self.groups for column in group)
        if not placed or placed != list(range(len(placed))) or not all(self.groups):
            raise PlanError(
                f"Groups must hold every column from 0 on once, and none be empty. Got {self.groups}. "
                "Write them like ((0, 2), (1,))."
            )
        for group in self.groups:
            OneCoin(self.theta, len(group))

    @property
    def shape(self) -> tuple[int, ...]:
        """Two levels a column."""
        return (2,) * sum(len(group) for group in self.groups)

    def apply(self, codes: Codes, draws: Draws, start: int = 0) -> Codes:
        """Each group of each record, or its complement."""
        table = np.atleast_2d(checked_codes(codes, self.shape))
        reports = np.empty_like(table)
        for number, group in enumerate(self.groups):
            own = draws.sub("group", str(number))
            reports[list(group)] = OneCoin(self.theta, len(group)).apply(_codes_of(table, group), own, start)
        return reports.reshape(codes.shape)

    def mix(self, shares: Floats) -> Floats:
        """Group by group."""
        return self._each(shares, OneCoin.mix)

    def unmix(self, shares: Floats) -> Floats:
        """Group by group."""
        return self._each(shares, OneCoin.unmix)

    def mix_back(self, values: Floats) -> Floats:
        """The law is its own transpose."""
        return self.mix(values)

    def weights(self, literals: Mapping[int, int], reports: Codes) -> Floats:
        """The product over groups of (θ 1{E} - (1 - θ) 1{complement}) / (2θ - 1)."""
        checked_literals(literals, self.shape)
        table = np.atleast_2d(reports)
        product = np.ones(table.shape[1])
        for group in self.groups:
            own = {place: literals[column] for place, column in enumerate(group) if column in literals}
            if own:
                product *= OneCoin(self.theta, len(group)).weights(own, table[list(group)])
        return product

    def variance(self, shares: Floats, rows: int) -> float:
        """Of an estimated P(E), by the coins alone.

        ``shares`` has an axis of two for every group that E touches: the share of rows whose answers in the group
        are the complement of E's (0) or E's own (1). With t = θ(1 - θ) / (2θ - 1)² a row counts t for every group
        that is turned round and 1 + t for every group that is not, multiplied. Sampling adds P(E)(1 - P(E)) / n.

        >>> round(Groups(0.8, ((0,), (1,))).variance(np.full((2, 2), 0.25), rows=100), 5)
        0.00642
        """
        excess = OneCoin(self.theta, 1).excess
        counted = shares
        for _ in range(shares.ndim):
            counted = np.tensordot(counted, np.array([excess, 1 + excess]), axes=(0, 0))
        return float(counted - shares[(1,) * shares.ndim]) / rows

    def on(self, columns: Sequence[int]) -> "Groups":
        """The coins of some of the columns."""
        if len(set(columns)) != len(columns) or not set(columns) <= set(range(len(self.shape))):
            last = len(self.shape) - 1
            raise PlanError(f"This channel has columns 0 to {last}. Got {list(columns)}. Name each once.")
        left = (tuple(place for place, column in enumerate(columns) if column in group) for group in self.groups)
        return Groups(self.theta, tuple(group for group in left if group))

    @property
    def privacy(self) -> Privacy:
        """The sum of the groups' epsilons where all have one column; else none."""
        each = [OneCoin(self.theta, len(group)).privacy for group in self.groups]
        known = [one.epsilon for one in each if one.epsilon is not None]
        if len(known) == len(each):
            said = f"{len(each)} answers, each with its own coin; the epsilons add up."
            return Privacy(sum(known), said)
        largest = max(self.groups, key=len)
        return Privacy(None, f"in a group of {len(largest)}: {OneCoin(self.theta, len(largest)).privacy.words}")

    def _each(self, shares: Floats, law: Callable[[OneCoin, Floats], Floats]) -> Floats:
        for group in self.groups:
            front = tuple(range(len(group)))
            shares = np.moveaxis(law(OneCoin(self.theta, len(group)), np.moveaxis(shares, group, front)), front, group)
        return shares


def _codes_of(table: Codes, group: tuple[int, ...]) -> Codes:
    return table[group[0]] if len(group) == 1 else table[list(group)]
