"""Cut rows into blocks by halving: a kd tree of which only the leaves are kept.

A part is cut in the column that spreads most; of rows with equal values the lower ones stay in the first half.
"""

import numpy as np
from numba import njit

from leafcover.fast.arrays import Floats, Rows
from leafcover.fast.select import select

_SHOWN = 256  # rows, at least, that show how far a column spreads in a large part: with all a cut costs two thirds more


@njit(cache=True)
def halve(values: Floats, rows: Rows, unit: int, largest: int) -> tuple[Rows, Rows]:
    """Rows block after block, ascending within a block, and where each block starts (and the last one ends).

    ``values`` is (rows, columns). Parts larger than ``largest`` are cut, the first half always at a multiple of
    ``unit``: with largest of at least 2 * unit - 1 no block has fewer rows than a unit, if there are so many.
    """
    order, keys, second = rows.copy(), np.empty(len(rows)), np.empty_like(rows)
    starts, count = np.empty(len(rows) // unit + 2, np.int64), 0
    first, last, waiting = np.empty(64, np.int64), np.empty(64, np.int64), 1
    first[0], last[0] = 0, len(rows)
    while waiting > 0:
        waiting -= 1
        start, stop = first[waiting], last[waiting]
        if stop - start <= largest:
            starts[count] = start
            count += 1
            continue
        half = ((stop - start + unit - 1) // unit // 2) * unit
        _part(values, order[start:stop], half, keys, second)
        first[waiting], last[waiting] = start + half, stop
        first[waiting + 1], last[waiting + 1] = start, start + half
        waiting += 2
    starts[count] = len(rows)
    return order, starts[: count + 1]


@njit(cache=True)
def _part(values: Floats, rows: Rows, half: int, keys: Floats, second: Rows) -> None:
    """Put the rows with the ``half`` least values of the widest column first; both halves keep their order."""
    column = _widest(values, rows)
    for i in range(len(rows)):
        keys[i] = values[rows[i], column]
    cut = select(keys[: len(rows)], half - 1)
    room = half
    for row in rows:
        room -= values[row, column] < cut
    kept, moved = 0, 0
    for row in rows:
        value = values[row, column]
        if value < cut or (value == cut and room > 0):
            room -= value == cut
            rows[kept] = row
            kept += 1
        else:
            second[moved] = row
            moved += 1
    rows[kept:] = second[:moved]


@njit(cache=True)
def _widest(values: Floats, rows: Rows) -> int:
    """The column of the greatest variance among evenly spaced rows, the first of equal ones."""
    step, columns = max(1, len(rows) // _SHOWN), values.shape[1]
    shown = rows[::step]
    mean, spread = np.zeros(columns), np.zeros(columns)
    for row in shown:
        for c in range(columns):
            mean[c] += values[row, c]
    mean /= len(shown)
    for row in shown:
        for c in range(columns):
            apart = values[row, c] - mean[c]
            spread[c] += apart * apart
    return int(np.argmax(spread))
