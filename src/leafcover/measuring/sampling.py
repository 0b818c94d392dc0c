"""Seeded samples of rows, for measures that cannot look at every row of a large table; each says that it did so."""

import numpy as np

from leafcover.fast.arrays import Rows

SEED = 20_040_401  # measures draw nothing secret: the same tables give the same figures


def some_rows(rows: int, most: int, *, seed: int = SEED) -> Rows:
    """All row numbers, or a sorted random sample of ``most`` of them.

    >>> some_rows(3, 5)
    array([0, 1, 2])
    """
    if rows <= most:
        return np.arange(rows, dtype=np.int64)
    chosen: Rows = np.sort(np.random.default_rng(seed).choice(rows, most, replace=False))
    return chosen


def how(used: int, rows: int) -> str:
    """In words, whether a figure rests on every row.

    >>> how(500, 20000)
    'a sample of 500 of 20,000 rows'
    """
    return "every row" if used >= rows else f"a sample of {used:,} of {rows:,} rows"
