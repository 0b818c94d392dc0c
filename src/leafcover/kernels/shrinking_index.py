"""Rows that leave one by one, in blocks of near rows with boxes around them, so that a search looks at few.

Blocks stand in districts, which have boxes too. A box shrinks as rows leave; when many have left, settle anew. Values
are kept in single precision, seen from a centre in units of the greatest distance from it: half the memory to read, and
twice as many rows at a time. They only tell which rows to look at in the matrix.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from leafcover.arrays import Floats, Rows, Singles
from leafcover.kernels.kd import halve_into_blocks
from leafcover.kernels.neighbors import squared_distance

PLACES = 64  # rows of a block: measured; 32 cost a tenth more, 16 a quarter
BLOCKS = 64  # blocks of a district: measured; 32 cost a tenth more, 16 a fifth
_ALIKE = 1e-280  # squared distances below it lose digits: such rows are all at the centre, and a search looks at each


class BlockBounds(NamedTuple):
    """The least and greatest values of blocks or districts; inf and -inf when nobody lives there."""

    low: Singles  # (sets of boxes, columns, boxes): what is read together stands together
    high: Singles  # (sets of boxes, columns, boxes)
    reach: Singles  # (sets of boxes, boxes) the greatest squared distance from the centre, -1 when nobody lives there


class Living(NamedTuple):
    """Where rows live. The first ``taken`` places of a block are taken; the values of the others are inf."""

    matrix: Floats  # (rows, columns)
    centre: Floats  # (columns,) any point amid the rows
    unit: float  # 1 over the greatest distance from the centre
    values: Singles  # (blocks, columns, places)
    row: Rows  # (blocks, places)
    reach: Singles  # (blocks, places) squared distance from the centre
    taken: Rows  # (blocks,)
    place: Rows  # (rows,) block * PLACES + place, for rows that live
    block: BlockBounds  # a set for each district
    district: BlockBounds  # one set


@njit(cache=True)
def settle(matrix: Floats, rows: Rows, centre: Floats) -> Living:
    """Let these rows of a matrix live in blocks."""
    columns, order = matrix.shape[1], halve_into_blocks(matrix, rows, PLACES, PLACES)[0]
    districts = max(1, -(-len(rows) // (PLACES * BLOCKS)))
    blocks = districts * BLOCKS
    living = Living(
        matrix,
        centre,
        _unit(matrix, rows, centre),
        np.full((blocks, columns, PLACES), np.inf, np.float32),
        np.full((blocks, PLACES), -1),
        np.full((blocks, PLACES), -1.0, np.float32),
        np.zeros(blocks, np.int64),
        np.empty(len(matrix), np.int64),
        _boxes(districts, columns, BLOCKS),
        _boxes(1, columns, districts),
    )
    for start in range(0, len(order), PLACES):
        _move_in(living, order[start : start + PLACES], start // PLACES)
        _bound(living, start // PLACES)
    for district in range(districts):
        _bound_district(living, district)
    return living


@njit(cache=True)
def _unit(matrix: Floats, rows: Rows, centre: Floats) -> float:
    """1 over the greatest distance from the centre."""
    greatest = 0.0
    for row in rows:
        total = 0.0
        for c in range(len(centre)):
            total += (matrix[row, c] - centre[c]) ** 2
        greatest = max(greatest, total)
    return 1.0 / np.sqrt(greatest) if greatest > _ALIKE else 1.0


@njit(cache=True)
def _boxes(sets: int, columns: int, boxes: int) -> BlockBounds:
    """Boxes in which nobody lives."""
    shape = (sets, columns, boxes)
    low, high = np.full(shape, np.inf, np.float32), np.full(shape, -np.inf, np.float32)
    return BlockBounds(low, high, np.full((sets, boxes), -1.0, np.float32))


@njit(cache=True)
def _move_in(living: Living, rows: Rows, block: int) -> None:
    """Rows take the places of a block."""
    own, matrix, centre, unit = living.values[block], living.matrix, living.centre, living.unit
    living.taken[block] = len(rows)
    for i in range(len(rows)):
        reach = 0.0
        for c in range(len(centre)):
            value = (matrix[rows[i], c] - centre[c]) * unit
            own[c, i] = value
            reach += value * value
        living.row[block, i], living.reach[block, i] = rows[i], reach
        living.place[rows[i]] = block * PLACES + i


@njit(cache=True)
def _bound(living: Living, block: int) -> None:
    """Draw the box of a block."""
    boxes, count, district, box = living.block, living.taken[block], block // BLOCKS, block % BLOCKS
    for c in range(len(living.centre)):
        boxes.low[district, c, box] = _least(living.values[block, c, :count])
        boxes.high[district, c, box] = _greatest(living.values[block, c, :count], -np.inf)
    boxes.reach[district, box] = _greatest(living.reach[block, :count], -1.0)


@njit(cache=True)
def _bound_district(living: Living, district: int) -> None:
    """Draw the box of a district around those of its blocks."""
    small, large = living.block, living.district
    for c in range(len(living.centre)):
        large.low[0, c, district] = _least(small.low[district, c])
        large.high[0, c, district] = _greatest(small.high[district, c], -np.inf)
    large.reach[0, district] = _greatest(small.reach[district], -1.0)


@njit(cache=True)
def leave(living: Living, row: int) -> None:
    """A row leaves: the last of its block takes its place, and boxes that it held open shrink."""
    at = living.place[row]
    block, place = at // PLACES, at % PLACES
    district, box, last = block // BLOCKS, block % BLOCKS, living.taken[block] - 1
    living.taken[block] = last
    small, large = living.block, living.district
    for c in range(len(living.centre)):
        held = living.values[block, c]
        value = held[place]
        held[place], held[last] = held[last], np.inf
        if value == small.low[district, c, box]:
            small.low[district, c, box] = _least(held[:last])
            if value == large.low[0, c, district]:
                large.low[0, c, district] = _least(small.low[district, c])
        if value == small.high[district, c, box]:
            small.high[district, c, box] = _greatest(held[:last], -np.inf)
            if value == large.high[0, c, district]:
                large.high[0, c, district] = _greatest(small.high[district, c], -np.inf)
    held = living.reach[block]
    reach = held[place]
    held[place], held[last] = held[last], -1.0
    if reach == small.reach[district, box]:
        small.reach[district, box] = _greatest(held[:last], -1.0)
        if reach == large.reach[0, district]:
            large.reach[0, district] = _greatest(small.reach[district], -1.0)
    moved = living.row[block, last]
    living.row[block, place], living.place[moved] = moved, at


@njit(cache=True)
def _least(values: Singles) -> np.float32:
    least = np.float32(np.inf)
    for value in values:
        least = min(least, value)
    return least


@njit(cache=True)
def _greatest(values: Singles, none: float) -> np.float32:
    greatest = np.float32(none)
    for value in values:
        greatest = max(greatest, value)
    return greatest


# Searches among rows that live: the nearest to a row and the farthest from it, as exact as comparing all.
#
# Single precision, several rows at a time, finds the few rows whose squared distances are added up in the order of
# columns; of equal ones the lower row comes first. Functions for a block take arrays, not the tuple of them all:
# handing that over costs twice what the distances cost.


_NOBODY = np.iinfo(np.int64).max  # comes after every row
_STEEP = 0.5  # half of what is best for a ball without a box: measured; 0.25 or 1 look at up to twice as many blocks
_ROUNDED = 1e-6  # more than single precision moves a row and a query, which are within one unit of the centre
_ROUNDING = 2e-7  # for each column, more than it changes a sum of squares, of which roots are compared
_ZERO = np.float32(0.0)


@njit(cache=True)
def nearest_living(living: Living, query: Floats, own: int, near: Floats, who: Rows) -> None:
    """As many rows as there is room for in ``near`` (squared distances) and ``who``, nearest first, without ``own``.

    The search begins in the block where row ``own`` lives, or lived.
    """
    near[:], who[:] = np.inf, _NOBODY
    if len(near) == 0:
        return
    matrix, values, row, taken, unit = living.matrix, living.values, living.row, living.taken, living.unit
    low, high = living.block.low, living.block.high
    found, bounds, districts = np.empty(PLACES, np.float32), np.empty(BLOCKS, np.float32), _like(living.district.reach)
    seen, home = _seen(query, living.centre, unit), living.place[own] // PLACES
    limit = _look(query, seen, matrix, values, row, taken, unit, home, own, np.float32(np.inf), near, who, found)
    _least_distances(seen, living.district.low, living.district.high, 0, districts)
    while True:
        district = int(np.argmin(districts))
        if districts[district] == np.inf or districts[district] > limit:
            return
        districts[district] = np.inf
        _least_distances(seen, low, high, district, bounds)
        start = district * BLOCKS
        for block in range(start, start + BLOCKS):
            if bounds[block - start] <= limit and block != home:
                limit = _look(query, seen, matrix, values, row, taken, unit, block, own, limit, near, who, found)


@njit(cache=True)
def _like(reach: Singles) -> Singles:
    return np.empty(reach.size, np.float32)


@njit(cache=True)
def _seen(query: Floats, centre: Floats, unit: float) -> Singles:
    """The query as rows are kept."""
    seen = np.empty(len(query), np.float32)
    for c in range(len(query)):
        seen[c] = (query[c] - centre[c]) * unit
    return seen


@njit(cache=True)
def _look(
    query: Floats, seen: Singles, matrix: Floats, values: Singles, row: Rows, taken: Rows, unit: float, block: int,
    own: int, limit: np.float32, near: Floats, who: Rows, found: Singles,
) -> np.float32:  # fmt: skip
    """Take up the rows of a block that are among the nearest so far; the new limit in single precision."""
    _distances(seen, values, block, found)
    if _count_within(found, limit) == 0:
        return limit
    for i in range(taken[block]):
        if found[i] > limit or row[block, i] == own:
            continue
        other, distance, place = row[block, i], squared_distance(matrix, row[block, i], query), len(near) - 1
        if distance > near[place] or (distance == near[place] and other > who[place]):
            continue
        while place > 0 and (distance < near[place - 1] or (distance == near[place - 1] and other < who[place - 1])):
            near[place], who[place] = near[place - 1], who[place - 1]
            place -= 1
        near[place], who[place] = distance, other
        root = (np.sqrt(near[-1]) * unit + _ROUNDED) * (1.0 + _ROUNDING * (len(query) + 4))
        limit = np.float32(root * root)
    return limit


@njit(cache=True)
def _distances(seen: Singles, values: Singles, block: int, found: Singles) -> None:
    """Column by column, so that the processor takes several rows at a time."""
    for i in range(len(found)):
        found[i] = _ZERO
    for c in range(len(seen)):
        value = seen[c]
        for i in range(len(found)):
            apart = values[block, c, i] - value
            found[i] += apart * apart


@njit(cache=True)
def _count_within(found: Singles, limit: np.float32) -> int:
    """Counted, not asked for: a loop without a way out takes several rows at a time."""
    count = 0
    for i in range(len(found)):
        count += found[i] <= limit
    return count


@njit(cache=True)
def _count_at_least(found: Singles, taken: int, limit: np.float32) -> int:
    count = 0
    for i in range(taken):
        count += found[i] >= limit
    return count


@njit(cache=True)
def _least_distances(seen: Singles, low: Singles, high: Singles, among: int, found: Singles) -> None:
    """No row in the boxes of a set is nearer; added up as in `_distances`, so rounding cannot lift it."""
    for i in range(len(found)):
        found[i] = _ZERO
    for c in range(len(seen)):
        value = seen[c]
        for i in range(len(found)):
            below, above = low[among, c, i] - value, value - high[among, c, i]
            apart = below if below > above else above
            apart = apart if apart > _ZERO else _ZERO
            found[i] += apart * apart


@njit(cache=True)
def farthest_living(living: Living, query: Floats) -> int:
    """The row that is farthest from a point."""
    matrix, values, row, taken, unit = living.matrix, living.values, living.row, living.taken, living.unit
    low, high, reach, wide = living.block.low, living.block.high, living.block.reach, living.district
    found, bounds, districts = np.empty(PLACES, np.float32), np.empty(BLOCKS, np.float32), _like(wide.reach)
    seen, greatest_reach = _seen(query, living.centre, unit), wide.reach.max()
    from_centre = np.sum(seen * seen)
    steep = np.float32(_STEEP * np.sqrt(from_centre / greatest_reach) if from_centre * greatest_reach > 0.0 else 1.0)
    _greatest_distances(seen, steep, wide.low, wide.high, wide.reach, 0, districts)
    farthest, who, limit = -1.0, -1, _ZERO
    while True:
        district = int(np.argmax(districts))
        if districts[district] < limit:
            return who
        districts[district] = -1.0
        _greatest_distances(seen, steep, low, high, reach, district, bounds)
        start = district * BLOCKS
        for block in range(start, start + BLOCKS):
            if bounds[block - start] < limit:
                continue
            _distances(seen, values, block, found)
            if _count_at_least(found, taken[block], limit) == 0:
                continue
            for i in range(taken[block]):
                if found[i] < limit:
                    continue
                distance, other = squared_distance(matrix, row[block, i], query), row[block, i]
                if distance > farthest or (distance == farthest and other < who):
                    farthest, who = distance, other
                    root = np.sqrt(farthest) * unit * (1.0 - _ROUNDING * (len(query) + 4)) - _ROUNDED
                    limit = np.float32(root * root if root > 0.0 else 0.0)


@njit(cache=True)
def _greatest_distances(
    seen: Singles, steep: np.float32, low: Singles, high: Singles, reach: Singles, among: int, found: Singles
) -> None:
    """No row in the boxes of a set is farther from the query; -1: nobody lives there.

    A row y, seen from the centre, is in its box, and y² is at most the reach. So for any steepness s >= 0
    (q - y)² = q² + y² - 2qy <= q² + (1 + s) reach - (s y² + 2qy), and the last term is least, column by column, at the
    point of the box next to -q / s. Corners of boxes alone lie far out: a search looks at twice as many blocks.
    """
    for i in range(len(found)):
        found[i] = _ZERO
    square = _ZERO
    for c in range(len(seen)):
        twice, best = seen[c] + seen[c], -seen[c] / steep
        square += seen[c] * seen[c]
        for i in range(len(found)):
            least, greatest = low[among, c, i], high[among, c, i]
            point = least if least > best else best
            point = greatest if greatest < point else point
            found[i] -= point * (steep * point + twice)
    slack, more = np.float32(1.0 + 4.0 * _ROUNDING * (len(seen) + 4)), np.float32(1.0 + steep)
    for i in range(len(found)):
        whole = square + more * reach[among, i]
        found[i] = whole * slack + found[i] if reach[among, i] >= _ZERO else np.float32(-1.0)
