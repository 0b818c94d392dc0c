"""What a column is: its kind, its grid, the roles it may play."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from leafcover.fast.arrays import Floats, Rows

Kind: TypeAlias = Literal["number", "category", "date", "time"]
Role: TypeAlias = Literal["target", "identifier", "key", "confidential", "unit", "weight", "unchanged"]

MOST_DECIMALS = 9  # a grid finer than this is a continuous number
FAR = 2.0**62  # the number of a point that no grid has
MOST_POINTS = 2.0**53  # a grid with more points than this cannot be counted in float64


@dataclass(frozen=True)
class Grid:
    """The values a number may take: whole multiples of ``10 ** -decimals``, or of ``every`` so many.

    >>> cents = Grid(2)
    >>> cents.value(cents.index(np.array([0.07, 1.1])))
    array([0.07, 1.1 ])
    >>> Grid(0, every=60).step
    60.0
    """

    decimals: int
    every: int = 1  # more than one for times, which may all stand on whole minutes, hours or days

    @property
    def step(self) -> float:
        """The distance between neighbouring values."""
        return self.every / self._scale

    @property
    def _scale(self) -> float:
        return float(10**self.decimals)

    def index(self, values: Floats) -> Rows:
        """The number of the nearest grid point; of what is not known, or beyond every grid, one beyond every grid."""
        with np.errstate(over="ignore"):  # infinite is far enough
            number = np.rint(values * self._scale / self.every)
        # Without this what a missing value becomes would depend on the processor.
        return np.fmax(np.fmin(number, FAR), -FAR).astype(np.int64)

    def value(self, index: Rows) -> Floats:
        """The grid point as the float64 that its decimal text parses to."""
        # One correctly rounded division of two exact integers: what float(text) gives.
        points: Floats = index.astype(np.float64) * self.every / self._scale
        return points


@dataclass(frozen=True)
class Spelling:
    """How a text file writes the numbers of a column, so that new values look like the old ones."""

    decimals: int = 0  # the most places seen
    fixed: bool = True  # every value has exactly that many places
    width: int = 0  # leading zeros pad the whole part to this many digits
    thousands: bool = False  # 1,234,567
    pattern: str = ""  # strptime form of dates and times
