"""Leaves of rows in trees: prediction, and cells that intersect the leaves of many trees."""

from typing import NamedTuple

import numpy as np
from numba import njit

from leafcover.arrays import Array, Bools, Codes, Floats, Rows, Singles, Words
from leafcover.kernels import ALLOCATES, ENTRY, INNER, ZERO
from leafcover.kernels.c45_rows import double
from leafcover.kernels.sorting import sort_values

# Cells: the intersections of the leaves of all trees, split tree by tree; small cells are pooled with similar ones.


SAME_CELL = -1  # the row is in the same cell as the previous one


@njit(**(ENTRY | ALLOCATES))
def split_cells(order: Rows, first_difference: Codes, place: Codes, places: int, tree: int) -> None:
    """Split every cell by the leaf sets of its rows in one more tree, in place, by a counting sort.

    ``order`` lists the rows cell by cell. ``first_difference`` is, for each of them, the first tree that separates it
    from the previous row, or SAME_CELL. After all trees, cells are sorted by their leaf sets in the first tree, then in
    the second, and so on. ``place`` is the leaf set of each row and ``places`` the number of leaf sets.
    """
    held, occurring = np.zeros(places, np.int64), np.empty(places, np.int32)
    spare = np.empty_like(order)
    begin = ZERO
    while begin < len(order):
        end = begin + 1
        while end < len(order) and first_difference[end] == SAME_CELL:
            end += 1
        if end - begin > 1 and not _all_equal(order[begin:end], place):
            _split(order, first_difference, place, begin, end, tree, held, occurring, spare)
        begin = end


@njit(**INNER)
def _all_equal(rows: Rows, place: Codes) -> bool:
    first = place[rows[0]]
    for row in rows:  # noqa: SIM110  # numba does not support all()
        if place[row] != first:
            return False
    return True


@njit(**INNER)
def _split(
    order: Rows,
    first_difference: Codes,
    place: Codes,
    begin: int,
    end: int,
    tree: int,
    held: Rows,
    occurring: Codes,
    spare: Rows,
) -> None:
    kinds = 0
    for i in range(begin, end):
        here = place[order[i]]
        if held[here] == 0:
            occurring[kinds] = here
            kinds += 1
        held[here] += 1
    sort_values(occurring[:kinds])
    at = begin
    for k in range(kinds):
        if k:
            first_difference[at] = tree
        size, held[occurring[k]] = held[occurring[k]], at
        at += size
    for i in range(begin, end):
        here = place[order[i]]
        spare[held[here]] = order[i]
        held[here] += 1
    for i in range(begin, end):
        order[i] = spare[i]
    for k in range(kinds):
        held[occurring[k]] = 0


@njit(**ENTRY)
def narrow_ranges(place: Codes, low_of: Floats, high_of: Floats, low: Floats, high: Floats) -> None:
    """Intersect each row's range with the range of its leaf set in one more tree."""
    for row in range(len(place)):
        low[row] = max(low[row], low_of[place[row]])
        high[row] = min(high[row], high_of[place[row]])


@njit(**(ENTRY | ALLOCATES))
def pool_cells(places: Array, rows: Rows, sizes: Rows, first_difference: Codes, min_cell: int, window: int) -> Codes:
    """The pool of each cell; a cell with at least ``min_cell`` rows is a pool of its own.

    ``rows`` gives one row of each cell, ``places`` (rows, trees) the leaf sets of rows, and ``first_difference`` the
    first tree in which a cell differs from the previous one. From the last tree back to the first, smaller cells that
    agree in all earlier trees are pooled as soon as they have ``min_cell`` rows together. The remaining cells join the
    pool of the cell that differs from them in the fewest trees.
    """
    number = np.full(len(rows), -1, np.int32)
    waiting, count, pools = np.empty(len(rows), np.int64), ZERO, ZERO
    depth, begins, open_nodes = np.empty(places.shape[1] + 1, np.int64), np.empty(places.shape[1] + 1, np.int64), 0
    for cell in range(len(rows) + 1):
        if cell:
            tree = first_difference[cell] if cell < len(rows) else -1
            begin = count - int(number[cell - 1] < 0)
            while open_nodes and depth[open_nodes - 1] > tree:  # no later cell agrees in the trees before this one
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
    nearest = np.array([_nearest_pool(places, rows, number, cell) for cell in waiting[:count]], np.int64)
    for i in range(count):
        number[waiting[i]] = number[nearest[i]] if pools else 0
    return number


@njit(**(INNER | ALLOCATES))
def _pool(
    places: Array, rows: Rows, sizes: Rows, min_cell: int, window: int, waiting: Rows, begin: int, count: int,
    number: Codes, pools: int,
) -> tuple[int, int]:  # fmt: skip
    """Pool the waiting cells from ``begin`` on; returns the number of waiting cells and of pools afterwards."""
    left = sizes[waiting[begin:count]].sum()
    if left < min_cell:
        return count, pools
    agreed, breaks = np.empty(places.shape[1], np.bool_), np.empty(count - begin, np.int64)
    first = begin
    while left >= min_cell:
        end = _window_end(sizes, waiting, first, count, min_cell, window)
        cells = waiting[first:end]
        left -= _gather(places, rows, sizes, min_cell, cells, number, pools, agreed, breaks)
        pools += 1
        first = end  # cells that still wait are moved up to the start of the remaining ones
        for i in range(len(cells) - 1, -1, -1):
            if number[cells[i]] < 0:
                first -= 1
                waiting[first] = cells[i]
    waiting[begin : begin + count - first] = waiting[first:count].copy()
    return begin + count - first, pools


@njit(**INNER)
def _window_end(sizes: Rows, waiting: Rows, first: int, count: int, min_cell: int, window: int) -> int:
    """The end of a window of ``window`` cells from ``first`` on, or of more cells if these have too few rows."""
    end, held = first, 0
    while end < count and (end - first < window or held < min_cell):
        held += sizes[waiting[end]]
        end += 1
    return end


@njit(**(INNER | ALLOCATES))
def _gather(
    places: Array, rows: Rows, sizes: Rows, min_cell: int, cells: Rows, number: Codes, pool: int, agreed: Bools,
    breaks: Rows,
) -> int:  # fmt: skip
    """Pool the first cell with others until there are enough rows; returns the number of rows.

    At each step the cell joins that breaks the agreement of the pool in the fewest trees; ties go to the first.
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
        if breaks[best] == 0:  # neither this cell nor any other with 0 breaks the agreement further
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


@njit(**INNER)
def _differences(one: Array, other: Array) -> int:
    found = 0
    for tree in range(len(one)):
        found += one[tree] != other[tree]
    return found


@njit(**INNER)
def _nearest_pool(places: Array, rows: Rows, number: Codes, cell: int) -> int:
    """The pooled cell that differs from this one in the fewest trees; -1 if there is no pool."""
    best, least = -1, places.shape[1] + 1
    for other in range(len(rows)):
        if number[other] >= 0:
            differences = _differences(places[rows[other]], places[rows[cell]])
            if differences < least:
                best, least = other, differences
    return best


# Prediction: follow rows to their leaf, or down several branches if a value is missing or unknown.


SEVERAL = -1


class TreeArrays(NamedTuple):
    """The arrays of a tree that prediction needs."""

    tested: Codes  # (nodes,) column of the values, -1 at a leaf
    is_number: Array  # (nodes,)
    cut: Floats  # (nodes,)
    first: Codes  # (nodes,)
    branches: Codes  # (nodes,)
    weight: Singles  # (nodes,) weighted training rows


@njit(**INNER)
def child_of(tree: TreeArrays, node: int, value: float) -> int:
    """The child for a value; SEVERAL if the value is missing or has no branch."""
    if np.isnan(value):
        return ZERO + SEVERAL
    if tree.is_number[node]:
        return ZERO + tree.first[node] + (value > tree.cut[node])
    level = int(value)
    if 0 <= level < tree.branches[node]:
        return ZERO + tree.first[node] + level
    return ZERO + SEVERAL


@njit(**ENTRY)
def find_leaves(tree: TreeArrays, values: Floats, leaf: Codes) -> None:
    """The leaf of each row of ``values`` (rows, columns), or SEVERAL."""
    for row in range(len(values)):
        node = ZERO
        while node >= 0 and tree.tested[node] >= 0:
            node = child_of(tree, node, values[row, tree.tested[node]])
        leaf[row] = node


def reachable_leaves(tree: TreeArrays, values: Floats, rows: Rows) -> tuple[Rows, Codes, Words]:
    """All leaves that rows reach through branches with training rows, where each row's leaves end, and a hash.

    The hash is of the leaves of a row in the order in which they are found, which is the same for every row.
    """
    ends, found, marks = np.empty(len(rows), np.int64), np.empty(1024, np.int32), np.empty(len(rows), np.uint64)
    stack, done = np.empty(len(tree.tested), np.int32), 0
    while True:
        done = _reach(tree, values, rows, done, ends, found, marks, stack)
        if done == len(rows):
            return ends, found[: ends[-1]] if done else found[:0], marks
        found = double(found)


@njit(**ENTRY)
def _reach(
    tree: TreeArrays, values: Floats, rows: Rows, done: int, ends: Rows, found: Codes, marks: Words, stack: Codes
) -> int:  # fmt: skip
    """Find the leaves of the rows from ``done`` on; returns how many rows are done when there is no more space."""
    count = ends[done - 1] if done else 0
    for i in range(done, len(rows)):
        stack[0], height = 0, 1
        mark = np.uint64(0)
        while height:
            height -= 1
            node = ZERO + stack[height]
            if tree.tested[node] < 0:
                if count == len(found):
                    return i
                mark = (mark ^ np.uint64(node + 1)) * np.uint64(0xBF58476D1CE4E5B9)
                mark ^= mark >> np.uint64(29)
                found[count] = node
                count += 1
                continue
            child = child_of(tree, node, values[rows[i], tree.tested[node]])
            if child >= 0:
                stack[height] = child
                height += 1
                continue
            for b in range(tree.branches[node] - 1, -1, -1):
                if tree.weight[tree.first[node] + b] > 0:
                    stack[height] = tree.first[node] + b
                    height += 1
        ends[i], marks[i] = count, mark
    return len(rows)


@njit(**(ENTRY | ALLOCATES))
def class_weights(tree: TreeArrays, counts: Singles, label: Codes, values: Floats, rows: Rows) -> Singles:
    """Class weights (rows, classes) of rows that reach several leaves, weighted by branch shares, in 32 bits."""
    sums = np.zeros((len(rows), counts.shape[1]), np.float32)
    stack, share = np.empty(len(tree.tested), np.int32), np.empty(len(tree.tested), np.float32)
    for i in range(len(rows)):
        stack[0], share[0], height = 0, 1.0, 1
        while height:
            height -= 1
            node, part = stack[height], share[height]
            if tree.tested[node] < 0:
                if tree.weight[node] > 0:
                    for c in range(counts.shape[1]):
                        sums[i, c] += np.float32(np.float32(part * counts[node, c]) / tree.weight[node])
                else:
                    sums[i, label[node]] += part
                continue
            child = child_of(tree, node, values[rows[i], tree.tested[node]])
            if child >= 0:
                stack[height], share[height] = child, part
                height += 1
                continue
            for b in range(tree.branches[node] - 1, -1, -1):
                child = tree.first[node] + b
                if tree.weight[child] > 0:
                    stack[height] = child
                    share[height] = np.float32(np.float32(part * tree.weight[child]) / tree.weight[node])
                    height += 1
    return sums
