"""Cells where the leaves of many trees meet: split tree after tree, and small ones pooled with the most alike."""

import numpy as np
from numba import njit

from leafcover.fast.arrays import Array, Bools, Codes, Floats, Rows

TOGETHER = -1  # a row in the cell of the row before it


@njit(cache=True)
def split_cells(order: Rows, apart: Codes, place: Codes, places: int, tree: int) -> None:
    """Split every cell by the places of its rows in one more tree, in place and by counting.

    ``order`` lists the rows cell by cell; ``apart`` says for each of them which tree first parted it from the one
    before, or TOGETHER. After all trees the cells stand in order of their places, the first tree's first.
    """
    held, met = np.zeros(places, np.int64), np.empty(places, np.int32)
    spare = np.empty_like(order)
    begin = 0
    while begin < len(order):
        end = begin + 1
        while end < len(order) and apart[end] == TOGETHER:
            end += 1
        if end - begin > 1 and not _alike(order[begin:end], place):
            _split(order, apart, place, begin, end, tree, held, met, spare)
        begin = end


@njit(cache=True)
def _alike(rows: Rows, place: Codes) -> bool:
    first = place[rows[0]]
    for row in rows:  # noqa: SIM110  # the compiler knows no all()
        if place[row] != first:
            return False
    return True


@njit(cache=True)
def _split(
    order: Rows, apart: Codes, place: Codes, begin: int, end: int, tree: int, held: Rows, met: Codes, spare: Rows
) -> None:
    kinds = 0
    for i in range(begin, end):
        here = place[order[i]]
        if held[here] == 0:
            met[kinds] = here
            kinds += 1
        held[here] += 1
    met[:kinds].sort()
    at = begin
    for k in range(kinds):
        if k:
            apart[at] = tree
        size, held[met[k]] = held[met[k]], at
        at += size
    for i in range(begin, end):
        here = place[order[i]]
        spare[held[here]] = order[i]
        held[here] += 1
    order[begin:end] = spare[begin:end]
    held[met[:kinds]] = 0


@njit(cache=True)
def narrow(place: Codes, low_of: Floats, high_of: Floats, low: Floats, high: Floats) -> None:
    """Keep of each row's range what its place in one more tree leaves."""
    for row in range(len(place)):
        low[row] = max(low[row], low_of[place[row]])
        high[row] = min(high[row], high_of[place[row]])


@njit(cache=True)
def pool_cells(places: Array, rows: Rows, sizes: Rows, apart: Codes, min_cell: int, window: int) -> Codes:
    """For each cell the number of its pool; a cell of ``min_cell`` rows is a pool of its own.

    ``rows`` names a row of each cell, ``places`` (rows, trees) where it stands, ``apart`` the first tree in which a
    cell differs from the one before. Smaller cells wait. From the last tree back to the first, those that are alike in
    all trees before it pool as soon as they have ``min_cell`` rows together. What waits in the end joins the cells
    that differ from it in fewest trees.
    """
    number = np.full(len(rows), -1, np.int32)
    waiting, count, pools = np.empty(len(rows), np.int64), 0, 0
    depth, begins, open_nodes = np.empty(places.shape[1] + 1, np.int64), np.empty(places.shape[1] + 1, np.int64), 0
    for cell in range(len(rows) + 1):
        if cell:
            tree = apart[cell] if cell < len(rows) else -1
            begin = count - int(number[cell - 1] < 0)
            while open_nodes and depth[open_nodes - 1] > tree:  # no later cell is alike in the trees before this one
                open_nodes -= 1
                begin = begins[open_nodes]
                count, pools = _pool(places, rows, sizes, min_cell, window, waiting, begin, count, number, pools)
            if tree >= 0 and (not open_nodes or depth[open_nodes - 1] < tree):
                depth[open_nodes], begins[open_nodes] = tree, begin
                open_nodes += 1
        if cell < len(rows):
            if sizes[cell] >= min_cell:
                number[cell] = pools
                pools += 1
            else:
                waiting[count] = cell
                count += 1
    nearest = np.array([_nearest(places, rows, number, cell) for cell in waiting[:count]], np.int64)
    for i in range(count):
        number[waiting[i]] = number[nearest[i]] if pools else 0
    return number


@njit(cache=True)
def _pool(
    places: Array, rows: Rows, sizes: Rows, min_cell: int, window: int, waiting: Rows, begin: int, count: int,
    number: Codes, pools: int,
) -> tuple[int, int]:  # fmt: skip
    """Make pools of the cells that wait from ``begin`` on; how many wait afterwards, and how many pools there are."""
    left = sizes[waiting[begin:count]].sum()
    if left < min_cell:
        return count, pools
    agreed, breaks = np.empty(places.shape[1], np.bool_), np.empty(count - begin, np.int64)
    first = begin
    while left >= min_cell:
        end = _enough(sizes, waiting, first, count, min_cell, window)
        cells = waiting[first:end]
        left -= _gather(places, rows, sizes, min_cell, cells, number, pools, agreed, breaks)
        pools += 1
        first = end  # what still waits of these cells moves to where the further ones begin
        for i in range(len(cells) - 1, -1, -1):
            if number[cells[i]] < 0:
                first -= 1
                waiting[first] = cells[i]
    waiting[begin : begin + count - first] = waiting[first:count].copy()
    return begin + count - first, pools


@njit(cache=True)
def _enough(sizes: Rows, waiting: Rows, first: int, count: int, min_cell: int, window: int) -> int:
    """Where ``window`` cells from ``first`` on end, or more where these hold too few rows."""
    end, held = first, 0
    while end < count and (end - first < window or held < min_cell):
        held += sizes[waiting[end]]
        end += 1
    return end


@njit(cache=True)
def _gather(
    places: Array, rows: Rows, sizes: Rows, min_cell: int, cells: Rows, number: Codes, pool: int, agreed: Bools,
    breaks: Rows,
) -> int:  # fmt: skip
    """Pool the first of the cells with others until there are enough rows; how many rows there are.

    Each time the one joins that breaks fewest of the trees in which the pool agrees so far, of equal ones the first.
    """
    seed = places[rows[cells[0]]]
    number[cells[0]], size = pool, sizes[cells[0]]
    agreed[:] = True
    for i in range(1, len(cells)):
        breaks[i] = _differences(places[rows[cells[i]]], seed)
    while size < min_cell:
        best = -1
        for i in range(1, len(cells)):
            if number[cells[i]] < 0 and (best < 0 or breaks[i] < breaks[best]):
                best = i
        if breaks[best] == 0:  # neither it nor any other of this kind breaks anything more
            for i in range(best, len(cells)):
                if size < min_cell and number[cells[i]] < 0 and breaks[i] == 0:
                    number[cells[i]], size = pool, size + sizes[cells[i]]
            continue
        number[cells[best]], size = pool, size + sizes[cells[best]]
        for tree in range(len(seed)):
            if agreed[tree] and places[rows[cells[best]], tree] != seed[tree]:
                agreed[tree] = False
                for i in range(1, len(cells)):
                    breaks[i] -= places[rows[cells[i]], tree] != seed[tree]
    return size


@njit(cache=True)
def _differences(one: Array, other: Array) -> int:
    found = 0
    for tree in range(len(one)):
        found += one[tree] != other[tree]
    return found


@njit(cache=True)
def _nearest(places: Array, rows: Rows, number: Codes, cell: int) -> int:
    """The cell in a pool that differs from this one in fewest trees; -1 when there is no pool."""
    best, least = -1, places.shape[1] + 1
    for other in range(len(rows)):
        if number[other] >= 0:
            apart = _differences(places[rows[other]], places[rows[cell]])
            if apart < least:
                best, least = other, apart
    return best
