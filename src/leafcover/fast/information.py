"""Information in single precision, as C4.5 Release 8 computes it.

Every partial sum is rounded to 32 bits while logarithms are taken in 64; trees depend on it (spec § 6.1).
"""

import math

import numpy as np
from numba import njit

from leafcover.fast.arrays import Floats, Singles

LN2 = math.log(2.0)


@njit(cache=True)
def term(count: float) -> float:
    """``count * log2(count)``, and 0 for nothing.

    >>> term(8.0)
    24.0
    """
    if count <= 0.0:
        return 0.0
    return count * (math.log(count) / LN2)


@njit(cache=True)
def whole_terms(most: int) -> Floats:
    """``n * log2(n)`` for n = 0..most: rows of weight one need no logarithm while a tree grows."""
    terms = np.empty(most + 1, np.float64)
    for n in range(most + 1):
        terms[n] = term(np.float64(n))
    return terms


@njit(cache=True)
def total_information(counts: Singles) -> np.float32:
    """``N log2 N - sum of n log2 n``: the bits that tell the class of all rows counted.

    >>> float(total_information(np.array([2, 2], np.float32)))
    4.0
    """
    terms = np.float32(0.0)
    total = np.float32(0.0)
    for count in counts:
        terms = np.float32(np.float64(terms) + term(np.float64(count)))
        total = np.float32(total + count)
    return np.float32(term(np.float64(total)) - np.float64(terms))
