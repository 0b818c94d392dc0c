"""Count, sum and sum of squares of numbers, exact: parts merge to the same figures however a table is cut.

Sums of floats depend on their order in the last digit, and then so would every noisy value. A float64 is a whole
number of 53 bits times a power of two, so sums are kept as whole numbers of the smallest power there is.
"""

from dataclasses import dataclass
from itertools import combinations_with_replacement
from math import inf, isqrt, ldexp

import numpy as np

from leafcover.fast.arrays import Array, Floats

BITS = 53  # of a float64
LOWEST = -1073  # exponent of the smallest number, as frexp tells it
UNIT = LOWEST - BITS  # every float64 is a whole multiple of 2 ** UNIT
LIMB = 18  # bits of a piece: 2 ** 16 products of two pieces add up to less than 2 ** 53
CHUNK = 2**16


@dataclass(frozen=True)
class Moments:
    """How many numbers there are, their sum and the sum of their squares.

    >>> both = moments_of(np.array([1e9, 1e9 + 1])).plus(moments_of(np.array([1e9 + 2])))
    >>> both.count, both.mean, both.deviation
    (3, 1000000001.0, 1.0)
    """

    count: int
    total: int  # in units of 2 ** UNIT
    squares: int  # in units of 2 ** (2 * UNIT)

    def plus(self, other: "Moments") -> "Moments":
        """The moments of both together."""
        return Moments(self.count + other.count, self.total + other.total, self.squares + other.squares)

    @property
    def mean(self) -> float:
        """The mean; 0 when there is nothing."""
        return _ratio(abs(self.total), max(self.count, 1), UNIT) * (-1 if self.total < 0 else 1)

    @property
    def deviation(self) -> float:
        """The sample standard deviation (n - 1); 0 for fewer than two numbers."""
        apart = self.count * self.squares - self.total**2
        return _ratio(apart, self.count * (self.count - 1), 2 * UNIT, root=True) if self.count > 1 else 0.0


def moments_of(values: Floats) -> Moments:
    """The moments of known numbers."""
    total = squares = 0
    for start in range(0, len(values), CHUNK):
        share, power = np.frexp(values[start : start + CHUNK])
        whole = np.abs(np.ldexp(share, BITS)).astype(np.int64)
        pieces = [((whole >> shift) & (2**LIMB - 1)).astype(np.float64) for shift in range(0, BITS, LIMB)]
        above = (power - LOWEST).astype(np.int64)
        for i, piece in enumerate(pieces):
            total += _shifted(above, np.copysign(piece, share), 1) << (i * LIMB)
        for i, j in combinations_with_replacement(range(len(pieces)), 2):
            once = _shifted(above, pieces[i] * pieces[j], 2) << ((i + j) * LIMB)
            squares += once if i == j else 2 * once
    return Moments(len(values), total, squares)


def _shifted(above: Array, pieces: Floats, times: int) -> int:
    """The sum of pieces, each moved up by its exponent."""
    sums = np.bincount(above, pieces)
    return sum(int(sums[power]) << (times * int(power)) for power in np.flatnonzero(sums))


def _ratio(top: int, bottom: int, exponent: int, *, root: bool = False) -> float:
    """top / bottom * 2 ** exponent, or its square root, from whole numbers of far more digits than a float has."""
    shift = 2 * ((140 + bottom.bit_length() - top.bit_length()) // 2)
    found = (top << shift if shift >= 0 else top >> -shift) // bottom
    power = exponent - shift
    try:
        return ldexp(isqrt(found), power // 2) if root else ldexp(found, power)
    except OverflowError:
        return inf
