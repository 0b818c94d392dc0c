"""Grow a kd tree: cut each node by the column in which its rows are spread most."""

from typing import NamedTuple

import numpy as np
from numba import njit

from leafcover.fast.arrays import Bools, Codes, Floats, Rows, Words
from leafcover.fast.select import select

ALIKE = 1e-9  # variances that differ by less than this share are equal: rounding must not choose a column


class Scaled(NamedTuple):
    """How columns are compared: a value times ``factor`` less ``shift`` is in 0..1, its variance times ``weight``."""

    factor: Floats  # (columns,)
    shift: Floats  # (columns,)
    weight: Floats  # (columns,)
    middle: Floats  # (columns,) the midrange over all rows


class Rule(NamedTuple):
    """Where nodes are cut, and when no more."""

    median: bool  # else the midrange
    everywhere: bool  # the midrange over all rows, not the node's
    reuse: bool  # a column may be cut again further down
    left: bool  # values equal to a threshold go left
    leaf_max: int
    min_child: int


class Nodes(NamedTuple):
    """The tree, breadth first; a node holds a span of the rows, its children are ``first`` and the one after."""

    tested: Codes  # (nodes,) the column, -1 at a leaf
    cut: Floats  # (nodes,) value <= cut goes to the first child; nan at a leaf
    first: Codes  # (nodes,) -1 at a leaf
    parent: Codes  # (nodes,) -1 at the root
    start: Rows  # (nodes,)
    stop: Rows  # (nodes,)


class _Room(NamedTuple):
    """What is reckoned of one node."""

    low: Floats  # (columns,)
    high: Floats  # (columns,)
    mean: Floats  # (columns,) of scaled values
    spread: Floats  # (columns,) sum of squared deviations
    open: Bools  # (columns,) may be cut
    column: Floats  # (rows,) values of one column


@njit(cache=True)
def marks(words: Words) -> Words:
    """A 64-bit hash of each line of words: equal lines, equal marks."""
    found = np.empty(len(words), np.uint64)
    for i in range(len(words)):
        x = np.uint64(0)
        for c in range(words.shape[1]):
            x = x * np.uint64(0x9E3779B97F4A7C15) + words[i, c]
            x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
            x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
            x ^= x >> np.uint64(31)
        found[i] = x
    return found


@njit(cache=True)
def midpoint(low: float, high: float) -> float:
    """The middle of two values; of neighbours, between which there is none, the lower."""
    middle = (low + high) / 2.0
    if not np.isfinite(middle):
        middle = low / 2.0 + high / 2.0
    return low if middle >= high else middle


@njit(cache=True)
def grow(values: Floats, order: Rows, scaled: Scaled, rule: Rule) -> Nodes:
    """Cut the rows of ``values`` (rows, columns), which are moved, and their numbers ``order`` with them."""
    rows, columns = values.shape
    most = max(1, 2 * (rows // rule.min_child) - 1)
    tested, first, parent = np.full(most, -1, np.int32), np.full(most, -1, np.int32), np.full(most, -1, np.int32)
    cut, start, stop = np.full(most, np.nan), np.zeros(most, np.int64), np.zeros(most, np.int64)
    room = _Room(
        np.empty(columns), np.empty(columns), np.empty(columns), np.empty(columns), np.empty(columns, np.bool_),
        np.empty(rows),
    )  # fmt: skip
    stop[0], count, node = rows, 1, 0
    while node < count:
        begin, end = start[node], stop[node]
        if end - begin > rule.leaf_max and end - begin >= 2 * rule.min_child:
            _close_used(room.open, tested, parent, node, rule.reuse)
            here = values[begin:end]
            column, at = _choose(here, scaled, rule, room)
            if column >= 0:
                left = _part(here, order[begin:end], column, at)
                tested[node], cut[node], first[node] = column, at, count
                start[count], stop[count] = begin, begin + left
                start[count + 1], stop[count + 1] = begin + left, end
                parent[count] = parent[count + 1] = node
                count += 2
        node += 1
    return Nodes(
        tested[:count].copy(), cut[:count].copy(), first[:count].copy(), parent[:count].copy(), start[:count].copy(),
        stop[:count].copy(),
    )  # fmt: skip


@njit(cache=True)
def _close_used(is_open: Bools, tested: Codes, parent: Codes, node: int, reuse: bool) -> None:
    is_open[:] = True
    while not reuse and parent[node] >= 0:
        node = parent[node]
        is_open[tested[node]] = False


@njit(cache=True)
def _choose(values: Floats, scaled: Scaled, rule: Rule, room: _Room) -> tuple[int, float]:
    """The column to cut and where; -1 when no cut leaves enough rows on both sides.

    One far row would else stop its node: of Adult's rows (k = 10) half would stand in leaves that could be cut.
    """
    _measure(values, scaled, room)
    while True:
        top, column = -1.0, -1
        for c in range(len(room.spread)):
            if room.open[c] and room.low[c] < room.high[c]:
                top = max(top, room.spread[c])
        for c in range(len(room.spread) - 1, -1, -1):
            if room.open[c] and room.low[c] < room.high[c] and room.spread[c] >= top * (1.0 - ALIKE):
                column = c
        if column < 0:
            return -1, np.nan
        at = _cut(values, column, scaled.middle[column], rule, room)
        if not np.isnan(at):
            return column, at
        room.open[column] = False  # the column spread next


@njit(cache=True)
def _measure(values: Floats, scaled: Scaled, room: _Room) -> None:
    """Range and spread of every column: the mean first, so that large means cost no digits."""
    low, high, mean, spread = room.low, room.high, room.mean, room.spread
    rows, columns = values.shape
    for c in range(columns):
        low[c], high[c], mean[c], spread[c] = np.inf, -np.inf, 0.0, 0.0
    for i in range(rows):
        for c in range(columns):
            value = values[i, c]
            low[c] = min(low[c], value)
            high[c] = max(high[c], value)
            mean[c] += value * scaled.factor[c] - scaled.shift[c]
    for c in range(columns):
        mean[c] = mean[c] / rows + scaled.shift[c]
    for i in range(rows):
        for c in range(columns):
            away = values[i, c] * scaled.factor[c] - mean[c]
            spread[c] += away * away
    for c in range(columns):
        spread[c] *= scaled.weight[c]


@njit(cache=True)
def _cut(values: Floats, column: int, middle: float, rule: Rule, room: _Room) -> float:
    """The first of midrange and median, or median alone, that leaves enough rows on both sides; else nan.

    Each is tried with equal values on the side asked for, then on the other.
    """
    here = room.column[: len(values)]
    for i in range(len(values)):
        here[i] = values[i, column]
    for attempt in range(1 if rule.median else 0, 2):
        if attempt == 1:
            threshold = _median(here)
        elif rule.everywhere:
            threshold = middle
        else:
            threshold = midpoint(room.low[column], room.high[column])
        below, equal, largest = 0, 0, -np.inf
        for value in here:
            if value < threshold:
                below += 1
                largest = max(largest, value)
            elif value == threshold:
                equal += 1
        for turn in range(2):
            left = rule.left == (turn == 0)
            first = below + equal if left else below
            if min(first, len(here) - first) >= rule.min_child:
                return threshold if left or equal == 0 else largest
    return np.nan


@njit(cache=True)
def _median(values: Floats) -> float:
    """The middle value, or the middle of the two; the values are moved."""
    half = len(values) // 2
    upper = select(values, half)
    if len(values) % 2:
        return upper
    lower = -np.inf
    for i in range(half):
        lower = max(lower, values[i])
    return midpoint(lower, upper)


@njit(cache=True)
def _part(values: Floats, order: Rows, column: int, cut: float) -> int:
    """Rows up to the cut first; how many they are."""
    first, last = 0, len(values) - 1
    while first <= last:
        if values[first, column] <= cut:
            first += 1
        elif values[last, column] > cut:
            last -= 1
        else:
            for c in range(values.shape[1]):
                values[first, c], values[last, c] = values[last, c], values[first, c]
            order[first], order[last] = order[last], order[first]
    return first
