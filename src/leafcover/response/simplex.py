"""From shares that may be negative to shares that can be: the nearest ones, or the likeliest ones."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from leafcover.fast.arrays import Floats

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

    Every round multiplies each share by the mean, over reports, of its law's chance against the expected one. The
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
