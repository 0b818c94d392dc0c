"""Rows that leave one by one, in blocks of near rows with boxes around them, so that a search looks at few.

Blocks stand in districts, which have boxes too. A box shrinks as rows leave; when many have left, settle anew. Values
are kept in single precision, seen from a centre in units of the greatest distance from it: half the memory to read, and
twice as many rows at a time. They only tell which rows to look at in the matrix.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from leafcover.fast.arrays import Floats, Rows, Singles
from leafcover.fast.halving import halve

PLACES = 64  # rows of a block: measured; 32 cost a tenth more, 16 a quarter
BLOCKS = 64  # blocks of a district: measured; 32 cost a tenth more, 16 a fifth
_ALIKE = 1e-280  # squared distances below it lose digits: such rows are all at the centre, and a search looks at each


class Boxes(NamedTuple):
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
    block: Boxes  # a set for each district
    district: Boxes  # one set


@njit(cache=True)
def settle(matrix: Floats, rows: Rows, centre: Floats) -> Living:
    """Let these rows of a matrix live in blocks."""
    columns, order = matrix.shape[1], halve(matrix, rows, PLACES, PLACES)[0]
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
def _boxes(sets: int, columns: int, boxes: int) -> Boxes:
    """Boxes in which nobody lives."""
    shape = (sets, columns, boxes)
    low, high = np.full(shape, np.inf, np.float32), np.full(shape, -np.inf, np.float32)
    return Boxes(low, high, np.full((sets, boxes), -1.0, np.float32))


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
