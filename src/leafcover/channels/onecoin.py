"""One coin for all answers of a record: report the record with chance θ, else its complement (Du and Zhan 2003).

M = θ I + (1 - θ) J, where J exchanges every record with its complement, so M⁻¹ = (θ I - (1 - θ) J) / (2θ - 1).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import exp, inf

import numpy as np

from leafcover.channels.channel import checked_codes, checked_coin, checked_literals
from leafcover.channels.coins import heads
from leafcover.channels.privacy import Privacy, log_ratio
from leafcover.draws import Draws
from leafcover.errors import PlanError, ValueOutOfRange
from leafcover.fast.arrays import MISSING, Codes, Floats


@dataclass(frozen=True)
class OneCoin:
    """All answers true with chance ``theta``, all answers turned round otherwise; every column has two levels.

    >>> from leafcover.draws import Draws
    >>> record = np.array([[0], [1], [1]], np.int32)
    >>> OneCoin(0.0, columns=3).apply(record, Draws(bytes(32))).ravel().tolist()
    [1, 0, 0]
    """

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
