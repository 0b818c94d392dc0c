"""The unit in which differences between numbers are told: the original's standard deviation.

Where the original holds one value only, it is the standard deviation of both tables' values together, and 1 where
that is 0 as well, so that every difference is a finite number.
"""

from math import frexp, ldexp, nan

import numpy as np

from leafcover.fast.arrays import Floats

FAR = 1e100  # no value is taken to be further from the mean, in units: its square must stay finite


def known(values: Floats) -> Floats:
    """The numbers that are there."""
    missing = np.isnan(values)
    return values[~missing] if missing.any() else values


def mean(values: Floats) -> float:
    """The mean of known values, exact where all are the same, nan of none; sums of the largest floats stay finite."""
    if not len(values):
        return nan
    if values.min() == values.max():
        return float(values[0])
    size = size_of(values)
    return float((values / size).mean()) * size


def deviation(values: Floats) -> float:
    """The sample standard deviation (n - 1) of known values: exactly 0 where all are the same, nan of none.

    >>> deviation(np.array([0.1] * 10)), deviation(np.array([-1e308, 0.0, 1e308]))
    (0.0, 1e+308)
    """
    if not len(values):
        return nan
    low, high = values.min(), values.max()
    if low == high:
        return 0.0
    size = size_of(values)
    return float((values / size - low / size).std(ddof=1)) * size


def unit(before: Floats, after: Floats) -> float:
    """The unit of a column, from its known values in both tables.

    >>> unit(np.array([1.0, 2.0, 3.0]), np.array([7.0])), unit(np.array([5.0, 5.0]), np.array([5.0]))
    (1.0, 1.0)
    """
    spread = deviation(before) if len(before) else 0.0
    if spread == 0:
        both = np.concatenate([before, after])
        spread = deviation(both) if len(both) else 0.0
    return spread or 1.0


def in_units(values: Floats, centre: float, step: float) -> Floats:
    """Values (missing ones stay nan) as distances from a centre, in units; never further than can be squared."""
    with np.errstate(over="ignore"):
        share: Floats = (values / 2 - centre / 2) / (step / 2)  # halves, since 1e308 less -1e308 is too much
    return np.clip(share, -FAR, FAR, out=share)


def size_of(values: Floats) -> float:
    """A power of two near the largest of known values: division by it loses nothing, and sums stay finite."""
    largest = 0.0 if not len(values) else max(abs(float(values.min())), abs(float(values.max())))
    return ldexp(0.5, max(frexp(largest)[1], -1021)) if largest else 1.0
