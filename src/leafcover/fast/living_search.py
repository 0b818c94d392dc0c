"""Searches among rows that live: the nearest to a row and the farthest from it, as exact as comparing all.

Squared distances are added up in the order of columns, several rows at a time; of equal ones the lower row comes first.
Functions for a block take arrays, not the tuple of them all: handing that over costs twice what the distances cost.
"""

import numpy as np
from numba import njit

from leafcover.fast.arrays import Floats, Rows
from leafcover.fast.living import BLOCKS, PLACES, Living

_NOBODY = np.iinfo(np.int64).max  # comes after every row
_STEEP = 0.5  # half of what is best for a ball without a box: measured; 0.25 and 1 look at up to twice as many blocks
_SLACK = 1e-9  # more than rounding can lift a distance above the greatest that a box allows


@njit(cache=True)
def nearest_living(living: Living, query: Floats, own: int, near: Floats, who: Rows) -> None:
    """As many rows as there is room for in ``near`` (squared distances) and ``who``, nearest first, without ``own``.

    The search begins in the block where row ``own`` lives, or lived.
    """
    near[:], who[:] = np.inf, _NOBODY
    if len(near) == 0:
        return
    values, row, taken = living.values, living.row, living.taken
    low, high, found, bounds = living.block.low, living.block.high, np.empty(PLACES), np.empty(BLOCKS)
    home = living.place[own] // PLACES
    _look(query, values, row, taken, home, own, near, who, found)
    districts = np.empty(living.district.reach.size)
    _least_distances(query, living.district.low, living.district.high, 0, districts)
    while True:
        district = int(np.argmin(districts))
        if districts[district] == np.inf or districts[district] > near[-1]:
            return
        districts[district] = np.inf
        _least_distances(query, low, high, district, bounds)
        start = district * BLOCKS
        for block in range(start, start + BLOCKS):
            if bounds[block - start] <= near[-1] and block != home:
                _look(query, values, row, taken, block, own, near, who, found)


@njit(cache=True)
def _look(
    query: Floats, values: Floats, row: Rows, taken: Rows, block: int, own: int, near: Floats, who: Rows, found: Floats
) -> None:
    """Take up the rows of a block that are among the nearest so far."""
    _distances(query, values, block, found)
    if _count_within(found, near[-1]) == 0:
        return
    for i in range(taken[block]):
        other, distance, place = row[block, i], found[i], len(near) - 1
        if other == own or distance > near[place] or (distance == near[place] and other > who[place]):
            continue
        while place > 0 and (distance < near[place - 1] or (distance == near[place - 1] and other < who[place - 1])):
            near[place], who[place] = near[place - 1], who[place - 1]
            place -= 1
        near[place], who[place] = distance, other


@njit(cache=True)
def _distances(query: Floats, values: Floats, block: int, found: Floats) -> None:
    """Column by column, so that the processor takes several rows at a time."""
    for i in range(len(found)):
        found[i] = 0.0
    for c in range(len(query)):
        value = query[c]
        for i in range(len(found)):
            apart = values[block, c, i] - value
            found[i] += apart * apart


@njit(cache=True)
def _count_within(found: Floats, limit: float) -> int:
    """Counted, not asked for: a loop without a way out takes several rows at a time."""
    count = 0
    for i in range(len(found)):
        count += found[i] <= limit
    return count


@njit(cache=True)
def _count_at_least(found: Floats, limit: float) -> int:
    count = 0
    for i in range(len(found)):
        count += found[i] >= limit
    return count


@njit(cache=True)
def _least_distances(query: Floats, low: Floats, high: Floats, among: int, found: Floats) -> None:
    """No row in the boxes of a set is nearer; added up as in `_distances`, so rounding cannot lift it."""
    for i in range(len(found)):
        found[i] = 0.0
    for c in range(len(query)):
        value = query[c]
        for i in range(len(found)):
            below, above = low[among, c, i] - value, value - high[among, c, i]
            apart = below if below > above else above
            apart = apart if apart > 0.0 else 0.0
            found[i] += apart * apart


@njit(cache=True)
def farthest_living(living: Living, query: Floats) -> int:
    """The row that is farthest from a point."""
    centre, values, row, taken = living.centre, living.values, living.row, living.taken
    low, high, reach = living.block.low, living.block.high, living.block.reach
    shifted, found, bounds = query - centre, np.empty(PLACES), np.empty(BLOCKS)
    wide, districts = living.district, np.empty(living.district.reach.size)
    from_centre, greatest_reach = np.sum(shifted * shifted), wide.reach.max()
    steep = _STEEP * np.sqrt(from_centre / greatest_reach) if from_centre > 0.0 and greatest_reach > 0.0 else 1.0
    _greatest_distances(shifted, centre, steep, wide.low, wide.high, wide.reach, 0, districts)
    farthest, who = -1.0, -1
    while True:
        district = int(np.argmax(districts))
        if districts[district] < max(farthest, 0.0):
            return who
        districts[district] = -1.0
        _greatest_distances(shifted, centre, steep, low, high, reach, district, bounds)
        start = district * BLOCKS
        for block in range(start, start + BLOCKS):
            if bounds[block - start] < farthest:
                continue
            _distances(query, values, block, found)
            if _count_at_least(found[: taken[block]], farthest) == 0:
                continue
            for i in range(taken[block]):
                if found[i] > farthest or (found[i] == farthest and row[block, i] < who):
                    farthest, who = found[i], row[block, i]


@njit(cache=True)
def _greatest_distances(
    shifted: Floats, centre: Floats, steep: float, low: Floats, high: Floats, reach: Floats, among: int, found: Floats
) -> None:
    """No row in the boxes of a set is farther from the query, which is the centre plus ``shifted``; -1: empty.

    A row y, seen from the centre, is in its box, and y² is at most the reach. So for any steepness s >= 0
    (q - y)² = q² + y² - 2qy <= q² + (1 + s) reach - (s y² + 2qy), and the last term is least, column by column, at the
    point of the box next to -q / s. Corners of boxes alone lie far out: a search looks at twice as many blocks.
    """
    for i in range(len(found)):
        found[i] = 0.0
    square = 0.0
    for c in range(len(shifted)):
        value, middle = shifted[c], centre[c]
        best = middle - value / steep
        square += value * value
        for i in range(len(found)):
            least, greatest = low[among, c, i], high[among, c, i]
            point = least if least > best else best
            point = (greatest if greatest < point else point) - middle
            found[i] -= point * (steep * point + 2.0 * value)
    for i in range(len(found)):
        whole = square + (1.0 + steep) * reach[among, i]
        found[i] = whole + found[i] + _SLACK * whole + 1e-300 if reach[among, i] >= 0.0 else -1.0
