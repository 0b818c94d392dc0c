"""The laws a number's noise may follow: mean 0, standard deviation 1, known by cdf and inverse cdf."""

from typing import Literal, Protocol, TypeAlias

import numpy as np
from scipy.special import ndtr, ndtri

from leafcover.errors import NameUnknown
from leafcover.fast.arrays import Floats

LawName: TypeAlias = Literal["normal", "uniform", "laplace"]


class Law(Protocol):
    """Any symmetric law scaled to standard deviation 1; give an object with these two methods to use your own."""

    def cdf(self, x: Floats) -> Floats:
        """The probability of at most x."""

    def inverse(self, u: Floats) -> Floats:
        """The x with probability u of at most x."""


class Normal:
    """The bell of paper 001."""

    def cdf(self, x: Floats) -> Floats:
        """The probability of at most x."""
        return np.asarray(ndtr(x))

    def inverse(self, u: Floats) -> Floats:
        """The x with probability u of at most x."""
        return np.asarray(ndtri(u))


class Uniform:
    """Flat between -sqrt(3) and sqrt(3)."""

    def cdf(self, x: Floats) -> Floats:
        """The probability of at most x."""
        return np.clip(x / (2 * np.sqrt(3.0)) + 0.5, 0.0, 1.0)

    def inverse(self, u: Floats) -> Floats:
        """The x with probability u of at most x."""
        return (u - 0.5) * 2 * np.sqrt(3.0)


class Laplace:
    """Two exponentials back to back."""

    def cdf(self, x: Floats) -> Floats:
        """The probability of at most x."""
        tail = 0.5 * np.exp(-np.abs(x) * np.sqrt(2.0))
        return np.where(x < 0, tail, 1.0 - tail)

    def inverse(self, u: Floats) -> Floats:
        """The x with probability u of at most x."""
        near = np.minimum(u, 1.0 - u)
        with np.errstate(divide="ignore"):
            size = -np.log(2.0 * near) / np.sqrt(2.0)
        return np.where(u < 0.5, -size, size)


_LAWS: dict[str, Law] = {"normal": Normal(), "uniform": Uniform(), "laplace": Laplace()}


def law_named(law: LawName | Law) -> Law:
    """The law of a name, or the law itself."""
    if isinstance(law, str):
        if law not in _LAWS:
            raise NameUnknown("noise law", law, _LAWS)
        return _LAWS[law]
    return law


def between(law: Law, low: Floats, high: Floats) -> Floats:
    """The probability of more than low and at most high, told by the nearer tail, where rounding takes nothing away.

    >>> between(Normal(), np.array([-1.0, 9.0]), np.array([1.0, np.inf]))
    array([6.82689492e-01, 1.12858841e-19])
    """
    upper = low > 0
    return law.cdf(np.where(upper, -low, high)) - law.cdf(np.where(upper, -high, low))
