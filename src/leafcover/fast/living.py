"""Rows that leave one by one, in blocks of near rows with boxes around them, so that a search looks at few.

Blocks stand in districts, which have boxes too. A box shrinks as rows leave; when many have left, settle anew.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from leafcover.fast.arrays import Floats, Rows
from leafcover.fast.halving import halve

PLACES = 32  # rows of a block: measured; 16 and 64 cost up to a quarter more
BLOCKS = 32  # blocks of a district: likewise


class Boxes(NamedTuple):
    """The least and greatest values of blocks or districts; inf and -inf when nobody lives there."""

    low: Floats  # (sets of boxes, columns, boxes): what is read together stands together
    high: Floats  # (sets of boxes, columns, boxes)
    reach: Floats  # (sets of boxes, boxes) the greatest squared distance from the centre, -1 when nobody lives there


class Living(NamedTuple):
    """Where rows live. The first ``taken`` places of a block are taken; the values of the others are inf."""

    centre: Floats  # (columns,) any point amid the rows
    values: Floats  # (blocks, columns, places)
    row: Rows  # (blocks, places)
    reach: Floats  # (blocks, places) squared distance from the centre
    taken: Rows  # (blocks,)
    place: Rows  # (rows,) block * PLACES + place, for rows that live
    block: Boxes  # a set for each district
    district: Boxes  # one set


@njit(cache=True)
def settle(values: Floats, rows: Rows, centre: Floats) -> Living:
    """Let these rows of a matrix (rows, columns) live in blocks."""
    columns, order = values.shape[1], halve(values, rows, PLACES, PLACES)[0]
    districts = max(1, -(-len(rows) // (PLACES * BLOCKS)))
    blocks = districts * BLOCKS
    living = Living(
        centre,
        np.full((blocks, columns, PLACES), np.inf),
        np.full((blocks, PLACES), -1),
        np.full((blocks, PLACES), -1.0),
        np.zeros(blocks, np.int64),
        np.empty(len(values), np.int64),
        _boxes(districts, columns, BLOCKS),
        _boxes(1, columns, districts),
    )
    for start in range(0, len(order), PLACES):
        _move_in(living, values, order[start : start + PLACES], start // PLACES)
        _bound(living, start // PLACES)
    for district in range(districts):
        _bound_district(living, district)
    return living


@njit(cache=True)
def _boxes(sets: int, columns: int, boxes: int) -> Boxes:
    """Boxes in which nobody lives."""
    shape = (sets, columns, boxes)
    return Boxes(np.full(shape, np.inf), np.full(shape, -np.inf), np.full((sets, boxes), -1.0))


@njit(cache=True)
def _move_in(living: Living, values: Floats, rows: Rows, block: int) -> None:
    """Rows take the places of a block."""
    own, centre = living.values[block], living.centre
    living.taken[block] = len(rows)
    for i in range(len(rows)):
        reach = 0.0
        for c in range(len(centre)):
            value = values[rows[i], c]
            own[c, i] = value
            reach += (value - centre[c]) ** 2
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
def _least(values: Floats) -> float:
    least = np.inf
    for value in values:
        least = min(least, value)
    return least


@njit(cache=True)
def _greatest(values: Floats, none: float) -> float:
    greatest = none
    for value in values:
        greatest = max(greatest, value)
    return greatest
