"""Which pairs of columns are compared: all of them, or a fixed choice where there are too many.

A choice rests on the names alone, so neither the order of columns nor of rows can change it.
"""

from collections.abc import Iterable
from itertools import combinations
from math import comb

from leafcover.measuring.sampling import some_rows

MOST = comb(60, 2)  # all pairs of 60 columns


def column_pairs(names: Iterable[str], most: int = MOST) -> tuple[tuple[str, str], ...]:
    """Pairs of names, each in alphabetical order.

    >>> column_pairs(["town", "age", "job"])
    (('age', 'job'), ('age', 'town'), ('job', 'town'))
    """
    every = list(combinations(sorted(names), 2))
    return tuple(every[i] for i in some_rows(len(every), max(most, 1)))
