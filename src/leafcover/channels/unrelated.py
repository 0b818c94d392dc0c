"""The unrelated question (Greenberg and others 1969): answer the sensitive one with chance p, else a harmless one.

The share α of yes to the harmless question must be known (a birthday, a draw by the device). The chance of a yes is
λ = p π + (1 - p) α, so π = (λ - (1 - p) α) / p: nothing is divided by 2p - 1, and p = 1/2 works.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from leafcover.channels.channel import LEAST_DISTANCE, checked_chance, checked_codes, checked_literals, only_column
from leafcover.channels.coins import chosen, heads
from leafcover.channels.privacy import Privacy, finite, log_ratio, posterior
from leafcover.draws import Draws
from leafcover.errors import ValueOutOfRange
from leafcover.fast.arrays import MISSING, Codes, Floats


@dataclass(frozen=True)
class Unrelated:
    """One column of two levels, answered with chance ``asked``; else level 1 with chance ``alpha``, whatever the truth.

    >>> Unrelated(0.5, alpha=0.25).unmix(np.array([0.725, 0.275])).round(3)
    array([0.7, 0.3])
    """

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

    def on(self, columns: Sequence[int]) -> "Unrelated":
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
