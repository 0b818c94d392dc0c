"""C4.5's upper bound on the errors a leaf will make: what pruning compares.

Quinlan, C4.5 Release 8, confidence 0.25 unless asked otherwise.
"""

import math

from numba import njit

# C4.5 interpolates the normal quantile linearly in this table of (confidence, deviation).
_CONFIDENCE = (0.0, 0.001, 0.005, 0.01, 0.05, 0.10, 0.20, 0.40, 1.00)
_DEVIATION = (4.0, 3.09, 2.58, 2.33, 1.65, 1.28, 0.84, 0.25, 0.00)


def squared_deviation(confidence: float) -> float:
    """The squared normal deviation that belongs to a confidence, by the table.

    >>> round(squared_deviation(0.25), 6)
    0.479556
    """
    place = 0
    while confidence > _CONFIDENCE[place]:
        place += 1
    if place == 0:
        return _DEVIATION[0] ** 2
    low, high = _CONFIDENCE[place - 1], _CONFIDENCE[place]
    share = (confidence - low) / (high - low)
    return (_DEVIATION[place - 1] + (_DEVIATION[place] - _DEVIATION[place - 1]) * share) ** 2


@njit(cache=True)
def _from_one_error(records: float, errors: float, coefficient: float) -> float:
    if errors + 0.5 >= records:
        return 0.67 * (records - errors)
    half = errors + 0.5
    spread = math.sqrt(coefficient * (half * (1.0 - half / records) + coefficient / 4.0))
    bound = (half + coefficient / 2.0 + spread) / (records + coefficient)
    return records * bound - errors


@njit(cache=True)
def extra_errors(records: float, errors: float, confidence: float, coefficient: float) -> float:
    """What to add to the errors seen among records to get the pessimistic estimate.

    >>> c = squared_deviation(0.25)
    >>> [round(extra_errors(n, e, 0.25, c), 4) for n, e in [(6.0, 0.0), (16.0, 1.0), (100.0, 10.0)]]
    [1.2378, 1.5069, 2.8147]
    """
    if errors >= 0.9999:
        return _from_one_error(records, errors, coefficient)
    none = records * (1.0 - math.exp(math.log(confidence) / records))
    if errors < 1e-6:
        return none
    return none + errors * (_from_one_error(records, 1.0, coefficient) - none)
