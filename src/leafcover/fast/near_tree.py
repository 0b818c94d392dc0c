"""A tree of boxes over rows of numbers and codes, so that a search for near rows looks at few of them.

The distance of two rows is Gower's, summed over columns: the difference of numbers, 1 for codes that differ, and for a
missing number (nan) 0 to a missing one and 1 to a known one. Codes stand behind the numbers, as floats.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from leafcover.fast.arrays import Bools, Floats, Rows

LEAF = 64  # rows compared without a further cut: measured; 8 to 16 cost twice as much, 128 about the same
_TURNS = 8  # columns after which a search asks whether any row is still near enough
_PAIRS = 32  # pairs of rows that show how far apart a column holds the rows of a node


class Boxes(NamedTuple):
    """Rows in the order of leaves; a node holds a span of them, its children are ``child`` and the one after."""

    values: Floats  # leaf after leaf, column after column within it: what a search reads stands together
    numbers: int  # so many of the columns are numbers
    order: Rows  # (rows,) the row that stands at each place
    start: Rows  # (nodes,) the first place of a node
    stop: Rows  # (nodes,) the place after its last
    child: Rows  # (nodes,) its first child, -1 for a leaf
    low: Floats  # (nodes, columns) the least known value
    high: Floats  # (nodes, columns) the greatest
    holes: Bools  # (nodes, columns) whether a number is missing in some row
    depth: int  # of the deepest node


def grow(values: Floats, numbers: int, leaf: int = LEAF) -> Boxes:
    """The tree over a matrix (columns, rows) with at most so many rows in a leaf, except where rows are all alike."""
    columns, rows = values.shape
    order: Rows = np.arange(rows, dtype=np.int64)
    start, stop, child, depth = (np.zeros(2 * rows + 1, np.int64) for _ in range(4))
    count = _split(values, numbers, leaf, order, start, stop, child, depth)
    start, stop, child = start[:count].copy(), stop[:count].copy(), child[:count].copy()
    low, high = np.empty((count, columns)), np.empty((count, columns))
    holes = np.zeros((count, columns), np.bool_)
    packed = np.empty(values.size)
    _bound_boxes(values, order, start, stop, child, low, high, holes, packed)
    return Boxes(packed, numbers, order, start, stop, child, low, high, holes, int(depth.max()))


@njit(cache=True)
def _split(
    values: Floats, numbers: int, leaf: int, order: Rows, start: Rows, stop: Rows, child: Rows, depth: Rows
) -> int:
    """Cut nodes near the middle of the column that holds their rows farthest apart; how many nodes there are."""
    stop[0], count, node = len(order), 1, 0
    while node < count:
        first, last = start[node], stop[node]
        middle = _cut(values, numbers, order[first:last]) if last - first > leaf else 0
        child[node] = count if middle > 0 else -1
        if middle > 0:
            start[count], stop[count] = first, first + middle
            start[count + 1], stop[count + 1] = first + middle, last
            depth[count] = depth[count + 1] = depth[node] + 1
            count += 2
        node += 1
    return count


@njit(cache=True)
def _cut(values: Floats, numbers: int, rows: Rows) -> int:
    """Sort a node's rows into two parts; how many are in the first, 0 when all rows are alike."""
    column = _widest(values, numbers, rows)
    if column < 0:
        return 0
    sample = np.empty(2 * _PAIRS)
    for i in range(len(sample)):
        sample[i] = values[column, rows[i * len(rows) // len(sample)]]
    sample.sort()  # missing ones last
    cut = sample[_PAIRS]
    if np.isnan(cut):
        cut = np.inf
    below, through = 0, 0
    for value in sample:
        below += value < cut
        through += value <= cut
    together = below == 0 or abs(through - _PAIRS) < abs(below - _PAIRS)
    middle = _parted(values[column], rows, cut, together)
    if middle in (0, len(rows)):  # the sample missed the others
        middle = _parted(values[column], rows, cut, not together)
    return middle % len(rows)


@njit(cache=True)
def _parted(column: Floats, rows: Rows, cut: float, together: bool) -> int:
    """Rows below the cut first (with those at it, when together), missing ones behind; how many come first."""
    first, last = 0, len(rows) - 1
    while first <= last:
        value = column[rows[first]]
        if value < cut or (together and value == cut):
            first += 1
        else:
            rows[first], rows[last] = rows[last], rows[first]
            last -= 1
    return first


@njit(cache=True)
def _widest(values: Floats, numbers: int, rows: Rows) -> int:
    """The column that holds some pairs of these rows farthest apart; -1 when all rows are alike."""
    best, column, half = 0.0, -1, len(rows) // 2
    for c in range(len(values)):
        apart = 0.0
        for pair in range(_PAIRS):
            place = pair * half // _PAIRS
            apart += _distance(values[c, rows[place]], values[c, rows[half + place]], c < numbers)
        if apart > best:
            best, column = apart, c
    if column >= 0:
        return column
    for c in range(len(values)):  # the pairs were alike
        for row in rows:
            if _distance(values[c, rows[0]], values[c, row], c < numbers) > 0.0:
                return c
    return -1


@njit(cache=True)
def _distance(one: float, other: float, number: bool) -> float:
    if not number:
        return 1.0 if one != other else 0.0
    apart = abs(one - other)
    if not np.isnan(apart):
        return apart
    return 0.0 if np.isnan(one) and np.isnan(other) else 1.0


@njit(cache=True)
def _bound_boxes(
    values: Floats, order: Rows, start: Rows, stop: Rows, child: Rows, low: Floats, high: Floats, holes: Bools,
    packed: Floats,
) -> None:  # fmt: skip
    """Pack the leaves and find the box of each node; children have higher numbers."""
    for node in range(len(start) - 1, -1, -1):
        below, to = child[node], start[node] * len(values)
        for c in range(len(values)):
            if below >= 0:
                low[node, c] = min(low[below, c], low[below + 1, c])
                high[node, c] = max(high[below, c], high[below + 1, c])
                holes[node, c] = holes[below, c] or holes[below + 1, c]
                continue
            low[node, c], high[node, c] = np.inf, -np.inf
            for place in range(start[node], stop[node]):
                value = values[c, order[place]]
                packed[to] = value
                to += 1
                if np.isnan(value):
                    holes[node, c] = True
                else:
                    low[node, c], high[node, c] = min(low[node, c], value), max(high[node, c], value)


@njit(cache=True)
def least_distance(query: Floats, boxes: Boxes, node: int) -> float:
    """No row of the node is nearer than this.

    Added up in the order of `distances`, so that rounding cannot lift it above the distance of a row.
    """
    low, high, holes = boxes.low[node], boxes.high[node], boxes.holes[node]
    total = 0.0
    for c in range(boxes.numbers, len(query)):
        if query[c] < low[c] or query[c] > high[c]:
            total += 1.0
    for c in range(boxes.numbers):
        apart = max(low[c] - query[c], query[c] - high[c], 0.0)
        if np.isnan(query[c]):
            apart = 0.0 if holes[c] else 1.0
        elif holes[c]:
            apart = min(apart, 1.0)
        total += apart
    return total


@njit(cache=True)
def next_leaf(query: Floats, boxes: Boxes, nodes: Rows, least: Floats, limit: float) -> int:
    """The next leaf to look at, nearer children first, -1 when no node is left within the limit.

    ``nodes`` and ``least`` are the nodes put aside and their least distances; nodes[0] tells how many there are.
    """
    while nodes[0] > 0:
        node, bound = nodes[nodes[0]], least[nodes[0]]
        nodes[0] -= 1
        while bound <= limit:
            child = boxes.child[node]
            if child < 0:
                return node
            node, far = child, child + 1
            bound, other = least_distance(query, boxes, node), least_distance(query, boxes, far)
            if other < bound:
                node, far, bound, other = far, node, other, bound
            if other <= limit:
                nodes[0] += 1
                nodes[nodes[0]], least[nodes[0]] = far, other
    return -1


@njit(cache=True)
def distances(query: Floats, boxes: Boxes, leaf: int, start: int, limit: float, found: Floats) -> int:
    """Distances to a leaf's rows from a place on, as many as there is room for; how many they are.

    Column by column, so that the processor takes several rows at a time; 0 when no row is within the limit.
    """
    rows, count = boxes.stop[leaf] - boxes.start[leaf], min(len(found), boxes.stop[leaf] - start)
    here = boxes.start[leaf] * (len(query) - 1) + start
    for i in range(count):
        found[i] = 0.0
    for turn in range(len(query)):
        c = (turn + boxes.numbers) % len(query)
        column, value = boxes.values[here + c * rows : here + c * rows + count], query[c]
        if c >= boxes.numbers:
            for i in range(count):
                found[i] += 1.0 if column[i] != value else 0.0
        elif np.isnan(value):
            for i in range(count):
                found[i] += 0.0 if np.isnan(column[i]) else 1.0
        else:
            for i in range(count):
                apart = abs(column[i] - value)
                found[i] += 1.0 if np.isnan(apart) else apart
        if turn % _TURNS == _TURNS - 1:
            within = 0
            for i in range(count):
                within += found[i] <= limit
            if within == 0:
                return 0
    return count
