"""Many differences in a few figures: their mean, the mean of the worst 1 %, and the largest."""

from collections.abc import Iterable
from dataclasses import dataclass
from math import ceil, nan

import numpy as np

from leafcover.fast.arrays import Floats
from leafcover.measuring.figures import WORST


@dataclass(frozen=True)
class Change:
    """A figure of the original, and the same figure of the release."""

    before: float
    after: float

    @property
    def difference(self) -> float:
        """What the release shows more than the original."""
        return self.after - self.before


@dataclass(frozen=True)
class Differences:
    """What many differences come to; everything is nan when there was none to count.

    >>> differences([0.25, -0.75, 0.0, 0.0])
    Differences(signed=-0.125, mean=0.25, worst=0.75, largest=0.75, count=4)
    """

    signed: float  # the mean with signs: a bias to one side
    mean: float  # the mean size
    worst: float  # the mean size of the worst 1 %, at least one
    largest: float  # the largest size
    count: int  # how many differences could be taken


def differences(values: Iterable[float] | Floats) -> Differences:
    """Sum up differences; those that do not exist (nan) are left out and not counted."""
    given: Floats = np.asarray(values if isinstance(values, np.ndarray) else list(values), np.float64)
    given = given[~np.isnan(given)]
    if not len(given):
        return Differences(nan, nan, nan, nan, 0)
    sizes = np.abs(given)
    return Differences(float(given.mean()), float(sizes.mean()), worst_mean(sizes), float(sizes.max()), len(given))


def worst_mean(sizes: Floats, share: float = WORST) -> float:
    """The mean of the largest 1 % of some sizes, at least of one of them.

    >>> worst_mean(np.arange(200.0))
    198.5
    """
    most = ceil(share * len(sizes))
    return float(np.partition(sizes, len(sizes) - most)[-most:].mean()) if most else nan
