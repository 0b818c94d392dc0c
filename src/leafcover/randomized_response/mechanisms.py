"""The mechanisms of randomised response: which report a true answer leads to, and how estimates invert that.

`Warner` (1965) and `UnrelatedQuestion` (Greenberg and others 1969) take one column with two levels, `Kary` one column
with any number of levels. `OneCoin` (Du and Zhan 2003) randomises several two-level columns with one coin, `Groups`
with one coin per group of columns. Each class has the methods of `Mechanism`.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import exp, inf
from typing import ClassVar

import numpy as np

from leafcover.arrays import MISSING, Codes, Floats
from leafcover.errors import PlanError, ValueOutOfRange
from leafcover.keyed_random import Draws
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


@dataclass(frozen=True)
class Warner:
    """Warner's mechanism: one column with two levels; the true level with probability ``theta``, else the other one.

    >>> Warner(0.75).unmix(np.array([0.4, 0.6]))  # 60 % reported yes
    array([0.3, 0.7])
    """

    frozen_id: ClassVar[str] = "Warner"  # goes into the fingerprint of a survey
    theta: float

    def __post_init__(self) -> None:
        checked_coin("Warner.theta", self.theta)

    @property
    def shape(self) -> tuple[int, ...]:
        """Two levels."""
        return (2,)

    def apply(self, codes: Codes, draws: Draws, start: int = 0) -> Codes:
        """The reported level of each row: the true one or the other."""
        return flipped(checked_codes(codes, self.shape), self.theta, draws, start)

    def mix(self, shares: Floats) -> Floats:
        """Share θ of each level plus share 1 - θ of the other."""
        return self._coin.mix(shares)

    def unmix(self, shares: Floats) -> Floats:
        """(θ P* - (1 - θ)(1 - P*)) / (2θ - 1)."""
        return self._coin.unmix(shares)

    def mix_back(self, values: Floats) -> Floats:
        """The same as ``mix``: the matrix is symmetric."""
        return self._coin.mix(values)

    def weights(self, literals: Mapping[int, int], reports: Codes) -> Floats:
        """θ / (2θ - 1) where the report is the requested level, else -(1 - θ) / (2θ - 1)."""
        return self._coin.weights(literals, reports)

    def variance(self, rows: int) -> float:
        """The variance of an estimated share due to the coins: θ(1 - θ) / (n (2θ - 1)²), independent of the share.

        Sampling the rows from a population adds P(1 - P) / n.
        """
        return self._coin.excess / rows

    def on(self, columns: Sequence[int]) -> "Warner":
        """The mechanism itself: it has one column."""
        only_column(columns)
        return self

    def posterior(self, report: int, prior: Floats) -> Floats:
        """The probability of each true level given a report."""
        return posterior(self.mix(np.eye(2)), report, prior)

    @property
    def privacy(self) -> Privacy:
        """Epsilon = |ln(θ / (1 - θ))|."""
        return self._coin.privacy

    @property
    def _coin(self) -> "OneCoin":
        return OneCoin(self.theta, 1)


# k-ary randomised response: the true level with probability p, else one of the others, each equally likely.
#
# With q = (1 - p) / (k - 1) the matrix is M = (p - q) I + q 1 1ᵀ, so M⁻¹ = (I - q 1 1ᵀ) / (p - q) on shares that add up
# to 1, and every share is (λ - q) / (p - q).


@dataclass(frozen=True)
class Kary:
    """k-ary randomised response: the true level with probability ``keep``, each other level with equal probability.

    >>> Kary(0.6, levels=3).unmix(np.array([0.5, 0.3, 0.2])).round(3)
    array([0.75, 0.25, 0.  ])
    """

    frozen_id: ClassVar[str] = "Kary"  # goes into the fingerprint of a survey
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
                f"at least {LEAST_DISTANCE:g} away from {self.other:.4g}, the probability of each other level: "
                "when all levels are equally likely nothing can be estimated",
            )

    @staticmethod
    def with_epsilon(epsilon: float, levels: int) -> "Kary":
        """The most accurate mechanism for an epsilon: keep = e^ε / (e^ε + k - 1).

        >>> round(Kary.with_epsilon(1.0986123, levels=4).keep, 3)
        0.5
        """
        if not 0 < epsilon < 700:
            raise ValueOutOfRange("epsilon", epsilon, "above 0 and below 700")
        return Kary(exp(epsilon) / (exp(epsilon) + levels - 1), levels)

    @property
    def other(self) -> float:
        """The probability of each level other than the true one."""
        return (1 - self.keep) / (self.levels - 1)

    @property
    def shape(self) -> tuple[int, ...]:
        """The number of levels of the column."""
        return (self.levels,)

    def apply(self, codes: Codes, draws: Draws, start: int = 0) -> Codes:
        """The reported level of each row: the true one, or one drawn from the others."""
        checked_codes(codes, self.shape)
        rows = len(codes)
        kept = heads(draws.sub("keep"), rows, self.keep, start) | (codes == MISSING)
        others = numbers(draws.sub("other"), rows, self.levels - 1, start)
        others += others >= codes  # the levels without the true one, numbered from 0
        return chosen(kept, codes, others)

    def mix(self, shares: Floats) -> Floats:
        """(p - q) times each share plus q times their sum."""
        return (self.keep - self.other) * shares + self.other * shares.sum(axis=0, keepdims=True)

    def unmix(self, shares: Floats) -> Floats:
        """(λ - q) / (p - q), for shares with any sum."""
        return (shares - self.other * shares.sum(axis=0, keepdims=True)) / (self.keep - self.other)

    def mix_back(self, values: Floats) -> Floats:
        """The same as ``mix``: the matrix is symmetric."""
        return self.mix(values)

    def weights(self, literals: Mapping[int, int], reports: Codes) -> Floats:
        """(1 - q) / (p - q) where the report is the requested level, else -q / (p - q); 0 where it is missing."""
        checked_literals(literals, self.shape)
        column = np.atleast_2d(reports)[0]
        if not literals:
            return np.ones(len(column))
        counted = ((column == literals[0]) - self.other) / (self.keep - self.other)
        return np.where(column == MISSING, 0.0, counted)

    def variance(self, share: float, rows: int) -> float:
        """The variance of an estimated share π due to the mechanism: (π p(1 - p) + (1 - π) q(1 - q)) / (n (p - q)²).

        Sampling the rows from a population adds π(1 - π) / n.
        """
        p, q = self.keep, self.other
        return (share * p * (1 - p) + (1 - share) * q * (1 - q)) / (rows * (p - q) ** 2)

    def on(self, columns: Sequence[int]) -> "Kary":
        """The mechanism itself: it has one column."""
        only_column(columns)
        return self

    def posterior(self, report: int, prior: Floats) -> Floats:
        """The probability of each true level given a report."""
        return posterior(self.mix(np.eye(self.levels)), report, prior)

    @property
    def privacy(self) -> Privacy:
        """Epsilon = |ln(p / q)|."""
        epsilon = finite(log_ratio(self.keep, self.other))
        if epsilon is None:
            gone = "every report is the true answer." if self.keep else "every report rules out one level for certain."
            return Privacy(None, gone)
        return Privacy(
            epsilon,
            f"each answer is true with probability {self.keep:.3g}, else one of the {self.levels - 1} others.",
        )


# The unrelated question: with probability p the sensitive question is answered, else an innocuous one.
#
# The share α of yes to the innocuous question must be known (a birthday, or a draw by the device). The probability of a
# yes is λ = p π + (1 - p) α, so π = (λ - (1 - p) α) / p. Unlike Warner's estimate it works at p = 1/2.


@dataclass(frozen=True)
class UnrelatedQuestion:
    """One column with two levels: the true one with probability ``asked``, else level 1 with probability ``alpha``.

    >>> UnrelatedQuestion(0.5, alpha=0.25).unmix(np.array([0.725, 0.275])).round(3)
    array([0.7, 0.3])
    """

    frozen_id: ClassVar[str] = "Unrelated"  # goes into the fingerprint of a survey
    asked: float
    alpha: float

    def __post_init__(self) -> None:
        if not LEAST_DISTANCE <= self.asked <= 1:
            allowed = f"a probability from {LEAST_DISTANCE:g} to 1, because estimates divide by it"
            raise ValueOutOfRange("UnrelatedQuestion.asked", self.asked, allowed)
        checked_chance("UnrelatedQuestion.alpha", self.alpha)
        if self.alpha in (0, 1):
            allowed = "a probability above 0 and below 1; otherwise one of the two reports proves the true answer"
            raise ValueOutOfRange("UnrelatedQuestion.alpha", self.alpha, allowed)

    @property
    def shape(self) -> tuple[int, ...]:
        """Two levels."""
        return (2,)

    def apply(self, codes: Codes, draws: Draws, start: int = 0) -> Codes:
        """The reported level of each row: the true one, or the answer to the innocuous question."""
        checked_codes(codes, self.shape)
        asked = heads(draws.sub("asked"), len(codes), self.asked, start) | (codes == MISSING)
        harmless = heads(draws.sub("harmless"), len(codes), self.alpha, start)
        return chosen(asked, codes, harmless.view(np.int8))

    def mix(self, shares: Floats) -> Floats:
        """p times each share plus the share of innocuous answers."""
        return self.asked * shares + self._innocuous(shares) * shares.sum(axis=0, keepdims=True)

    def unmix(self, shares: Floats) -> Floats:
        """(λ - (1 - p) α) / p, for shares with any sum."""
        return (shares - self._innocuous(shares) * shares.sum(axis=0, keepdims=True)) / self.asked

    def mix_back(self, values: Floats) -> Floats:
        """For each true level the expected value of its report."""
        return self.asked * values + (self._innocuous(values) * values).sum(axis=0, keepdims=True)

    def weights(self, literals: Mapping[int, int], reports: Codes) -> Floats:
        """(1{report} - (1 - p) α) / p, with 1 - α for level 0; 0 where missing."""
        checked_literals(literals, self.shape)
        column = np.atleast_2d(reports)[0]
        if not literals:
            return np.ones(len(column))
        counted = ((column == literals[0]) - self._chances[literals[0]]) / self.asked
        return np.where(column == MISSING, 0.0, counted)

    def variance(self, share: float, rows: int) -> float:
        """The variance of an estimated share π of level 1 due to the mechanism: (λ(1 - λ) / p² - π(1 - π)) / n.

        Sampling the rows from a population adds π(1 - π) / n; the sum is λ(1 - λ) / (n p²).
        """
        reported = self.asked * share + (1 - self.asked) * self.alpha
        return (reported * (1 - reported) / self.asked**2 - share * (1 - share)) / rows

    def on(self, columns: Sequence[int]) -> "UnrelatedQuestion":
        """The mechanism itself: it has one column."""
        only_column(columns)
        return self

    def posterior(self, report: int, prior: Floats) -> Floats:
        """The probability of each true level given a report."""
        return posterior(self.mix(np.eye(2)), report, prior)

    @property
    def privacy(self) -> Privacy:
        """The larger of the log ratios of a yes and of a no."""
        no, yes = self._chances
        epsilon = finite(max(log_ratio(self.asked + yes, yes), log_ratio(self.asked + no, no)))
        if epsilon is None:
            return Privacy(None, "the sensitive question is always answered, so every report is the true answer.")
        return Privacy(
            epsilon,
            f"the sensitive question is answered with probability {self.asked:g}, else an innocuous one with "
            f"{self.alpha:.0%} yes. A respondent whose innocuous answer the collector knows is less protected.",
        )

    @property
    def _chances(self) -> tuple[float, float]:
        """The probability of each report through the innocuous question."""
        return (1 - self.asked) * (1 - self.alpha), (1 - self.asked) * self.alpha

    def _innocuous(self, like: Floats) -> Floats:
        return np.array(self._chances).reshape(2, *(1,) * (like.ndim - 1))


# One coin for a whole record: report the record with probability θ, else its complement (Du and Zhan 2003).
#
# M = θ I + (1 - θ) J, where J swaps every record with its complement, so M⁻¹ = (θ I - (1 - θ) J) / (2θ - 1).


@dataclass(frozen=True)
class OneCoin:
    """Several two-level columns and one coin: all true with probability ``theta``, else all flipped.

    >>> from leafcover.keyed_random import Draws
    >>> record = np.array([[0], [1], [1]], np.int32)
    >>> OneCoin(0.0, columns=3).apply(record, Draws(bytes(32))).ravel().tolist()
    [1, 0, 0]
    """

    frozen_id: ClassVar[str] = "OneCoin"  # goes into the fingerprint of a survey
    theta: float
    columns: int

    def __post_init__(self) -> None:
        checked_coin("OneCoin.theta", self.theta)
        if self.columns < 1:
            raise ValueOutOfRange("OneCoin.columns", self.columns, "at least 1")

    @property
    def shape(self) -> tuple[int, ...]:
        """Two levels per column."""
        return (2,) * self.columns

    def apply(self, codes: Codes, draws: Draws, start: int = 0) -> Codes:
        """The reported record of each row: the true one or its complement."""
        return flipped(checked_codes(codes, self.shape), self.theta, draws, start)

    def mix(self, shares: Floats) -> Floats:
        """Share θ of each record plus share 1 - θ of its complement."""
        return self.theta * shares + (1 - self.theta) * self._complement(shares)

    def unmix(self, shares: Floats) -> Floats:
        """(θ P* - (1 - θ) P* of the complement) / (2θ - 1)."""
        return (self.theta * shares - (1 - self.theta) * self._complement(shares)) / (2 * self.theta - 1)

    def mix_back(self, values: Floats) -> Floats:
        """The same as ``mix``: the matrix is symmetric."""
        return self.mix(values)

    def weights(self, literals: Mapping[int, int], reports: Codes) -> Floats:
        """θ / (2θ - 1) where the report satisfies E, -(1 - θ) / (2θ - 1) where its complement does, else 0."""
        checked_literals(literals, self.shape)
        columns = np.atleast_2d(reports)
        met = np.ones(columns.shape[1], np.bool_)
        if not literals:
            return met.astype(np.float64)
        complement_met = met.copy()
        for column, code in literals.items():
            met &= columns[column] == code
            complement_met &= columns[column] == 1 - code
        return (self.theta * met - (1 - self.theta) * complement_met) / (2 * self.theta - 1)

    def variance(self, share: float, complement: float, rows: int) -> float:
        """The variance of an estimated P(E) due to the coins: θ(1 - θ)(P(E) + P(complement of E)) / (n (2θ - 1)²).

        Sampling the rows from a population adds P(E)(1 - P(E)) / n.
        """
        return self.excess * (share + complement) / rows

    @property
    def excess(self) -> float:
        """θ(1 - θ) / (2θ - 1)²: the variance of the weight of a row that satisfies E or its complement."""
        return self.theta * (1 - self.theta) / (2 * self.theta - 1) ** 2

    def on(self, columns: Sequence[int]) -> "OneCoin":
        """The same coin for some of the columns."""
        if len(set(columns)) != len(columns) or not set(columns) <= set(range(self.columns)):
            raise PlanError(f"OneCoin.on takes different columns from 0 to {self.columns - 1}. Got {list(columns)}.")
        return OneCoin(self.theta, len(columns))

    def odds(self, prior: float, prior_of_complement: float) -> float:
        """The odds of the reported record against its complement: θ P(x) / ((1 - θ) P(x̄)).

        >>> round(OneCoin(0.7, columns=5).odds(0.01, 0.0001))  # the complement is implausible: near certainty
        233
        """
        for chance in (prior, prior_of_complement):
            if not 0 <= chance <= 1:
                raise ValueOutOfRange("The prior probability of a record", chance, "from 0 to 1")
        against = (1 - self.theta) * prior_of_complement
        if against == self.theta * prior == 0:
            raise ValueOutOfRange(
                "The prior probability", "0 for both records", "above 0 for the record or its complement"
            )
        return inf if against == 0 else self.theta * prior / against

    @property
    def privacy(self) -> Privacy:
        """Epsilon for one column; no bound for more columns."""
        epsilon = log_ratio(self.theta, 1 - self.theta)
        if epsilon == inf:
            return Privacy(None, "the coin always lands on the same side, so every report reveals the true answers.")
        if self.columns == 1:
            return Privacy(epsilon, f"each answer is {_which(self.theta)} with probability {_larger(self.theta):g}.")
        return Privacy(
            None,
            "the true record is the report or its complement. A report changes the odds between the two by a factor of "
            f"{exp(epsilon):.3g} at most, but one known true answer reveals all of them.",
        )

    def _complement(self, shares: Floats) -> Floats:
        return shares[(slice(None, None, -1),) * self.columns]


def flipped(codes: Codes, theta: float, draws: Draws, start: int) -> Codes:
    """Codes of two-level columns, flipped in the rows whose coin says so; missing stays missing."""
    turn = ~heads(draws, codes.shape[-1], theta, start)
    return codes ^ (turn & (codes != MISSING))


def _which(theta: float) -> str:
    return "reported truthfully" if theta > 0.5 else "flipped"


def _larger(theta: float) -> float:
    return max(theta, 1 - theta)


# Groups of columns, one coin per group: between one coin per record and one coin per answer.
#
# Coins are independent, so the matrix is the Kronecker product of the groups' matrices and the estimator the product of
# their estimators. Its variance grows by (2θ - 1)⁻² for every group that an estimate involves.


@dataclass(frozen=True)
class Groups:
    """Two-level columns in groups; each group has its own coin with probability ``theta``.

    >>> Groups(0.8, groups=((0, 2), (1,))).shape
    (2, 2, 2)
    """

    frozen_id: ClassVar[str] = "Groups"  # goes into the fingerprint of a survey
    theta: float
    groups: tuple[tuple[int, ...], ...]

    def __post_init__(self) -> None:
        placed = sorted(column for group in self.groups for column in group)
        if not placed or placed != list(range(len(placed))) or not all(self.groups):
            raise PlanError(
                f"Groups.groups must contain every column from 0 upwards exactly once, without empty groups. "
                f"Got {self.groups}. Write them like ((0, 2), (1,))."
            )
        for group in self.groups:
            OneCoin(self.theta, len(group))

    @property
    def shape(self) -> tuple[int, ...]:
        """Two levels per column."""
        return (2,) * sum(len(group) for group in self.groups)

    def apply(self, codes: Codes, draws: Draws, start: int = 0) -> Codes:
        """The reported record of each row: each group as it is, or its complement."""
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
        """The same as ``mix``: the matrix is symmetric."""
        return self.mix(values)

    def weights(self, literals: Mapping[int, int], reports: Codes) -> Floats:
        """The product over the groups of (θ 1{E} - (1 - θ) 1{complement}) / (2θ - 1)."""
        checked_literals(literals, self.shape)
        table = np.atleast_2d(reports)
        product = np.ones(table.shape[1])
        for group in self.groups:
            own = {place: literals[column] for place, column in enumerate(group) if column in literals}
            if own:
                product *= OneCoin(self.theta, len(group)).weights(own, table[list(group)])
        return product

    def variance(self, shares: Floats, rows: int) -> float:
        """The variance of an estimated P(E) due to the coins.

        ``shares`` has an axis of length two for every group with a column in E: the share of rows whose answers in the
        group are the complement of E (0) or E itself (1). With t = θ(1 - θ) / (2θ - 1)² the weight of a row is the
        product, over these groups, of t for the complement and 1 + t for E. Sampling adds P(E)(1 - P(E)) / n.

        >>> round(Groups(0.8, ((0,), (1,))).variance(np.full((2, 2), 0.25), rows=100), 5)
        0.00642
        """
        excess = OneCoin(self.theta, 1).excess
        counted = shares
        for _ in range(shares.ndim):
            counted = np.tensordot(counted, np.array([excess, 1 + excess]), axes=(0, 0))
        return float(counted - shares[(1,) * shares.ndim]) / rows

    def on(self, columns: Sequence[int]) -> "Groups":
        """The same coins for some of the columns."""
        if len(set(columns)) != len(columns) or not set(columns) <= set(range(len(self.shape))):
            last = len(self.shape) - 1
            raise PlanError(f"Groups.on takes different columns from 0 to {last}. Got {list(columns)}.")
        left = (tuple(place for place, column in enumerate(columns) if column in group) for group in self.groups)
        return Groups(self.theta, tuple(group for group in left if group))

    @property
    def privacy(self) -> Privacy:
        """The sum of the epsilons where every group has one column; otherwise there is no bound."""
        each = [OneCoin(self.theta, len(group)).privacy for group in self.groups]
        known = [one.epsilon for one in each if one.epsilon is not None]
        if len(known) == len(each):
            said = f"{len(each)} answers, each with its own coin; their epsilons add up."
            return Privacy(sum(known), said)
        largest = max(self.groups, key=len)
        return Privacy(None, f"in a group of {len(largest)}: {OneCoin(self.theta, len(largest)).privacy.words}")

    def _each(self, shares: Floats, operation: Callable[[OneCoin, Floats], Floats]) -> Floats:
        for group in self.groups:
            front = tuple(range(len(group)))
            shares = np.moveaxis(
                operation(OneCoin(self.theta, len(group)), np.moveaxis(shares, group, front)), front, group
            )
        return shares


def _codes_of(table: Codes, group: tuple[int, ...]) -> Codes:
    return table[group[0]] if len(group) == 1 else table[list(group)]
