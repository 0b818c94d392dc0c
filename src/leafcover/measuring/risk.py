"""A risk never appears without its interval."""

from dataclasses import dataclass
from math import sqrt


@dataclass(frozen=True)
class Risk:
    """A share of successes among tries, with Wilson's 95 % interval.

    >>> print(wilson(3.0, 200))
    0.015 (0.005 to 0.043)
    """

    value: float
    low: float
    high: float
    tries: int

    def __str__(self) -> str:
        return f"{self.value:.3f} ({self.low:.3f} to {self.high:.3f})"


def wilson(successes: float, tries: int, deviations: float = 1.959964) -> Risk:
    """Wilson's interval: sound near 0 and 1, where the usual one is not. Ties may count as parts of a success."""
    if tries == 0:
        return Risk(0.0, 0.0, 1.0, 0)
    share, z2 = successes / tries, deviations**2
    middle = (share + z2 / (2 * tries)) / (1 + z2 / tries)
    half = deviations * sqrt(share * (1 - share) / tries + z2 / (4 * tries**2)) / (1 + z2 / tries)
    return Risk(share, max(0.0, middle - half), min(1.0, middle + half), tries)
