"""How much two columns tell of each other inside cells."""

import numpy as np
from numba import njit

from leafcover.fast.arrays import Codes, Floats, Rows


@njit(cache=True)
def bits(codes: Codes, size: int, order: Rows, starts: Rows, growth: Floats) -> float:
    """The sum over cells of n log2 n over the values they hold; ``growth[n]`` is what the n-th row of a value adds."""
    counts = np.zeros(size, np.int64)
    total = 0.0
    for c in range(len(starts) - 1):
        for i in range(starts[c], starts[c + 1]):
            code = codes[order[i]]
            counts[code] += 1
            total += growth[counts[code]]
        for i in range(starts[c], starts[c + 1]):
            counts[codes[order[i]]] = 0
    return total


@njit(cache=True)
def pair_bits(codes: Codes, sizes: Rows, order: Rows, starts: Rows, source: Rows, growth: Floats) -> Floats:
    """For every pair of columns the same sum over their pairs of values, the first column taken from ``source`` rows.

    Codes are (columns, rows); the result is (columns, columns), filled above the diagonal.
    """
    columns = len(codes)
    found = np.zeros((columns, columns))
    counts = np.zeros(sizes.max() * sizes.max(), np.int64)
    for one in range(columns):
        for other in range(one + 1, columns):
            width = sizes[other]
            total = 0.0
            for c in range(len(starts) - 1):
                for i in range(starts[c], starts[c + 1]):
                    at = codes[one, source[order[i]]] * width + codes[other, order[i]]
                    counts[at] += 1
                    total += growth[counts[at]]
                for i in range(starts[c], starts[c + 1]):
                    counts[codes[one, source[order[i]]] * width + codes[other, order[i]]] = 0
            found[one, other] = total
    return found
