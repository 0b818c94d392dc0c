"""Warner's related question (1965): one yes or no, true with chance θ, turned round otherwise."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from leafcover.channels.channel import checked_codes, checked_coin, only_column
from leafcover.channels.onecoin import OneCoin, turned
from leafcover.channels.privacy import Privacy, posterior
from leafcover.draws import Draws
from leafcover.fast.arrays import Codes, Floats


@dataclass(frozen=True)
class Warner:
    """One column of two levels; the truth with chance ``theta``, else the other level.

    >>> Warner(0.75).unmix(np.array([0.4, 0.6]))  # 60 % reported yes
    array([0.3, 0.7])
    """

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
