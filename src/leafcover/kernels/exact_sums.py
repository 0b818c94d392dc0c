"""Exact sums of floats and of their squares, by exponent, in pieces that no column is long enough to overflow."""

import numpy as np
from numba import njit

from leafcover.arrays import Array, Rows
from leafcover.kernels import ENTRY

EXPONENTS = 2047  # of finite float64 numbers
HALF = 27  # a significand of 53 bits is two pieces: 26 bits, and 27 below
SPLIT = 32  # a product of pieces has at most 54 bits, and is added as those above these and those below


@njit(**ENTRY)
def add_by_exponent(words: Rows, sums: Array, squares: Array) -> None:
    """Add the significands of floats, given as their 64 bits, and the products of the significands' pieces.

    ``sums`` is (exponents, 2) and ``squares`` (exponents, 6): high and low part of high², high x low, and low². A
    million numbers take 3 ms; the same with NumPy's sums by exponent took 27.
    """
    for word in words:
        exponent = (word >> 52) & 2047
        significand = word & ((1 << 52) - 1)
        if exponent == 0:
            exponent = 1
        else:
            significand |= 1 << 52
        high, low = significand >> 27, significand & ((1 << 27) - 1)
        if word < 0:
            sums[exponent, 0] -= high
            sums[exponent, 1] -= low
        else:
            sums[exponent, 0] += high
            sums[exponent, 1] += low
        product = high * high
        squares[exponent, 0] += product >> 32
        squares[exponent, 1] += product & 0xFFFFFFFF
        product = high * low
        squares[exponent, 2] += product >> 32
        squares[exponent, 3] += product & 0xFFFFFFFF
        product = low * low
        squares[exponent, 4] += product >> 32
        squares[exponent, 5] += product & 0xFFFFFFFF


def exact_sums(words: Rows) -> tuple[int, int]:
    """The sum of floats and of their squares, in units of the smallest float and of its square."""
    sums, squares = np.zeros((EXPONENTS, 2), np.int64), np.zeros((EXPONENTS, 6), np.int64)
    add_by_exponent(words, sums, squares)
    total = square = 0
    for exponent in np.flatnonzero(squares.any(axis=1)).tolist():
        high, low = sums[exponent].tolist()
        total += ((high << HALF) + low) << (exponent - 1)
        above = [(one << SPLIT) + other for one, other in squares[exponent].reshape(3, 2).tolist()]
        square += ((above[0] << (2 * HALF)) + (above[1] << (HALF + 1)) + above[2]) << (2 * (exponent - 1))
    return total, square
