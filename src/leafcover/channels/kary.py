"""A column of many levels: the true one with chance p, else one of the others, all alike (generalised response).

With q = (1 - p) / (k - 1) the law is M = (p - q) I + q 1 1ᵀ, so M⁻¹ = (I - q 1 1ᵀ) / (p - q) on shares that add up
to 1, and every share is (λ - q) / (p - q).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import exp

import numpy as np

from leafcover.channels.channel import LEAST_DISTANCE, checked_chance, checked_codes, checked_literals, only_column
from leafcover.channels.coins import chosen, heads, numbers
from leafcover.channels.privacy import Privacy, finite, log_ratio, posterior
from leafcover.draws import Draws
from leafcover.errors import ValueOutOfRange
from leafcover.fast.arrays import MISSING, Codes, Floats


@dataclass(frozen=True)
class Kary:
    """One column of ``levels`` levels; the truth with chance ``keep``, each other level with the same smaller chance.

    >>> Kary(0.6, levels=3).unmix(np.array([0.5, 0.3, 0.2])).round(3)
    array([0.75, 0.25, 0.  ])
    """

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
