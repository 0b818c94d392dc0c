"""Nearest rows over mixed columns: Gower's distance, ties counted."""

import numpy as np
from numba import njit

from leafcover.fast.arrays import Codes, Floats, Rows


@njit(cache=True)
def own_among_nearest(numbers: Floats, codes: Codes, others: Floats, other_codes: Codes, own: Rows) -> Floats:
    """For each row the chance to pick its own partner among the nearest other rows, ties averaged.

    Numbers are scaled by their range, nan where missing (distance 1 to anything known, 0 to missing); codes differ
    or not. Arrays are (rows, columns) float32/float64 and int32.
    """
    found = np.zeros(len(own))
    for i in range(len(own)):
        best, ties, hit = np.inf, 0, False
        for j in range(len(others)):
            distance = 0.0
            for c in range(codes.shape[1]):
                if codes[i, c] != other_codes[j, c]:
                    distance += 1.0
            if distance > best + 1e-9:
                continue  # numbers can only add
            for c in range(numbers.shape[1]):
                a, b = numbers[i, c], others[j, c]
                if np.isnan(a) or np.isnan(b):
                    distance += 0.0 if np.isnan(a) and np.isnan(b) else 1.0
                else:
                    distance += abs(a - b)
                if distance > best + 1e-9:
                    break
            if distance < best - 1e-9:
                best, ties, hit = distance, 1, j == own[i]
            elif distance <= best + 1e-9:
                ties += 1
                hit = hit or j == own[i]
        if hit:
            found[i] = 1.0 / ties
    return found
