"""The laws that noise added to a number may follow: symmetric about 0, known by density, cdf and inverse cdf."""

from dataclasses import dataclass
from math import log, sqrt
from typing import Protocol

import numpy as np
from scipy.special import ndtr, ndtri

from leafcover.errors import ValueOutOfRange
from leafcover.fast.arrays import Floats

NOTHING = 1e-5  # of the noise lies further away than its reach, when it has no end


class Law(Protocol):
    """Any symmetric law; give an object with these to use your own."""

    @property
    def spread(self) -> float:
        """The parameter by which the law grows."""
        ...

    @property
    def bounded(self) -> bool:
        """Whether noise never goes further than ``reach``."""
        ...

    @property
    def reach(self) -> float:
        """How far noise goes, but for a chance of ``NOTHING`` on either side."""
        ...

    def density(self, noise: Floats) -> Floats:
        """How dense noise is at each place."""
        ...

    def cdf(self, noise: Floats) -> Floats:
        """The chance of at most so much noise."""
        ...

    def inverse(self, chance: Floats) -> Floats:
        """The noise with that chance of at most so much."""
        ...

    def width(self, confidence: float) -> float:
        """The width of the shortest interval that holds the truth with this chance, for who knows but the report."""
        ...


@dataclass(frozen=True)
class Uniform:
    """Any noise from -spread to spread, all alike.

    >>> Uniform(10.0).width(0.95)
    19.0
    """

    spread: float
    bounded = True

    def __post_init__(self) -> None:
        _checked(self)

    @staticmethod
    def with_width(width: float, confidence: float = 0.95) -> "Uniform":
        """The law whose interval of that confidence is so wide: 2 · spread · confidence."""
        return Uniform(width / (2 * _chance(confidence)))

    @property
    def reach(self) -> float:
        """The spread itself."""
        return self.spread

    def density(self, noise: Floats) -> Floats:
        """1 / (2 · spread) inside."""
        return np.where(np.abs(noise) <= self.spread, 0.5 / self.spread, 0.0)

    def cdf(self, noise: Floats) -> Floats:
        """A straight line inside."""
        return np.clip(noise / (2 * self.spread) + 0.5, 0.0, 1.0)

    def inverse(self, chance: Floats) -> Floats:
        """A straight line."""
        return (chance - 0.5) * (2 * self.spread)

    def width(self, confidence: float) -> float:
        """2 · spread · confidence."""
        return 2 * self.spread * _chance(confidence)


@dataclass(frozen=True)
class Gaussian:
    """The bell, with ``spread`` as its standard deviation.

    >>> [round(Gaussian(1.0).width(confidence), 2) for confidence in (0.5, 0.95, 0.999)]
    [1.35, 3.92, 6.58]
    """

    spread: float
    bounded = False

    def __post_init__(self) -> None:
        _checked(self)

    @staticmethod
    def with_width(width: float, confidence: float = 0.95) -> "Gaussian":
        """The law whose interval of that confidence is so wide."""
        return Gaussian(width / Gaussian(1.0).width(confidence))

    @property
    def reach(self) -> float:
        """4.26 deviations."""
        return -self.spread * float(ndtri(NOTHING))

    def density(self, noise: Floats) -> Floats:
        """The bell."""
        return np.exp(-0.5 * np.square(noise / self.spread)) / (self.spread * sqrt(2 * np.pi))

    def cdf(self, noise: Floats) -> Floats:
        """The chance of at most so much noise."""
        return np.asarray(ndtr(noise / self.spread))

    def inverse(self, chance: Floats) -> Floats:
        """The noise with that chance of at most so much."""
        return np.asarray(ndtri(chance)) * self.spread

    def width(self, confidence: float) -> float:
        """Twice the deviations either side."""
        return 2 * self.spread * float(ndtri(0.5 + _chance(confidence) / 2))


@dataclass(frozen=True)
class Laplace:
    """Two exponentials back to back, each of mean ``spread``; over a bounded range the one law here with an epsilon.

    >>> round(Laplace(10.0).width(0.95), 1)
    59.9
    """

    spread: float
    bounded = False

    def __post_init__(self) -> None:
        _checked(self)

    @staticmethod
    def with_width(width: float, confidence: float = 0.95) -> "Laplace":
        """The law whose interval of that confidence is so wide."""
        return Laplace(width / Laplace(1.0).width(confidence))

    @property
    def reach(self) -> float:
        """10.8 spreads."""
        return -self.spread * log(2 * NOTHING)

    def density(self, noise: Floats) -> Floats:
        """Two exponentials."""
        return np.exp(-np.abs(noise) / self.spread) / (2 * self.spread)

    def cdf(self, noise: Floats) -> Floats:
        """The chance of at most so much noise."""
        tail = 0.5 * np.exp(-np.abs(noise) / self.spread)
        return np.where(noise < 0, tail, 1.0 - tail)

    def inverse(self, chance: Floats) -> Floats:
        """The noise with that chance of at most so much."""
        size = -np.log(2.0 * np.minimum(chance, 1.0 - chance)) * self.spread
        return np.where(chance < 0.5, -size, size)

    def width(self, confidence: float) -> float:
        """Twice the place that a share of 1 - confidence is beyond."""
        return -2 * self.spread * log(1 - _chance(confidence))


def _checked(law: Law) -> None:
    if not 0 < law.spread < np.inf:
        raise ValueOutOfRange(f"{type(law).__name__}.spread", law.spread, "a number above 0")


def _chance(confidence: float) -> float:
    if not 0 < confidence < 1:
        raise ValueOutOfRange("A confidence", confidence, "between 0 and 1")
    return confidence
