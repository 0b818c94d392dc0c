"""kd trees, and halving of rows into blocks and at principal components."""

from typing import NamedTuple

import numpy as np
from numba import njit

from leafcover.arrays import Bools, Codes, Floats, Rows, Words
from leafcover.kernels import ALLOCATES, ENTRY, INNER, ZERO
from leafcover.kernels.sorting import select

TIE_TOLERANCE = 1e-9  # variances with a smaller relative difference tie, so that rounding does not choose the column


class ColumnScales(NamedTuple):
    """Scaling of columns: ``value * factor - shift`` is in 0..1, and its variance is multiplied by ``weight``."""

    factor: Floats  # (columns,)
    shift: Floats  # (columns,)
    weight: Floats  # (columns,)
    middle: Floats  # (columns,) midrange over all rows


class KdSettings(NamedTuple):
    """Where nodes are cut, and when to stop."""

    median: bool  # otherwise the midrange
    everywhere: bool  # midrange over all rows, not only the node's
    reuse: bool  # a column may be cut again further down
    left: bool  # values equal to the threshold go left
    leaf_max: int
    min_child: int
    cycle: bool  # columns are cut in turn, by depth, not by variance


class KdNodes(NamedTuple):
    """The tree in breadth-first order. A node has a span of the rows; its children are ``first`` and the next node."""

    tested: Codes  # (nodes,) column, -1 at a leaf
    cut: Floats  # (nodes,) value <= cut goes to the first child; nan at a leaf
    first: Codes  # (nodes,) -1 at a leaf
    parent: Codes  # (nodes,) -1 at the root
    start: Rows  # (nodes,)
    stop: Rows  # (nodes,)


class _KdWorkspace(NamedTuple):
    """Working memory for one node."""

    low: Floats  # (columns,)
    high: Floats  # (columns,)
    mean: Floats  # (columns,) mean of scaled values
    spread: Floats  # (columns,) sum of squared deviations
    open: Bools  # (columns,) whether the column may be cut
    column: Floats  # (rows,) values of one column


@njit(**(ENTRY | ALLOCATES))
def hash_rows(words: Words) -> Words:
    """A 64-bit hash of each row of words; equal rows have equal hashes."""
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


@njit(**ENTRY)
def midpoint(low: float, high: float) -> float:
    """The midpoint of two values, or the lower one if they are adjacent floats."""
    middle = (low + high) / 2.0
    if not np.isfinite(middle):
        middle = low / 2.0 + high / 2.0
    return low if middle >= high else middle


@njit(**(ENTRY | ALLOCATES))
def grow(values: Floats, order: Rows, scaled: ColumnScales, rule: KdSettings) -> KdNodes:
    """Grow a kd tree; reorders the rows of ``values`` (rows, columns) and their numbers ``order``."""
    rows, columns = values.shape
    most = max(1, 2 * (rows // rule.min_child) - 1)
    tested, first, parent = np.full(most, -1, np.int32), np.full(most, -1, np.int32), np.full(most, -1, np.int32)
    cut, start, stop = np.full(most, np.nan), np.zeros(most, np.int64), np.zeros(most, np.int64)
    work = _KdWorkspace(
        np.empty(columns), np.empty(columns), np.empty(columns), np.empty(columns), np.empty(columns, np.bool_),
        np.empty(rows),
    )  # fmt: skip
    stop[0], count, node = rows, 1, ZERO
    while node < count:
        begin, end = start[node], stop[node]
        if end - begin > rule.leaf_max and end - begin >= 2 * rule.min_child:
            _exclude_used(work.open, tested, parent, node, rule.reuse)
            here = values[begin:end]
            column, at = _choose(here, scaled, rule, work, _depth(parent, node))
            if column >= 0:
                left = _partition_node(here, order[begin:end], column, at)
                tested[node], cut[node], first[node] = column, at, count
                start[count], stop[count] = begin, begin + left
                start[count + 1], stop[count + 1] = begin + left, end
                parent[count] = parent[count + 1] = node
                count += 2
        node += 1
    return KdNodes(
        tested[:count].copy(), cut[:count].copy(), first[:count].copy(), parent[:count].copy(), start[:count].copy(),
        stop[:count].copy(),
    )  # fmt: skip


@njit(**(INNER | ALLOCATES))
def _exclude_used(is_open: Bools, tested: Codes, parent: Codes, node: int, reuse: bool) -> None:
    is_open[:] = True
    while not reuse and parent[node] >= 0:
        node = parent[node]
        is_open[tested[node]] = False


@njit(**INNER)
def _depth(parent: Codes, node: int) -> int:
    depth = 0
    while parent[node] >= 0:
        node = parent[node]
        depth += 1
    return depth


@njit(**INNER)
def _choose(
    values: Floats, scaled: ColumnScales, rule: KdSettings, work: _KdWorkspace, depth: int
) -> tuple[int, float]:
    """The column to cut and the threshold; -1 if no cut leaves enough rows on both sides.

    Trying further columns matters: otherwise a single outlier would stop its node, and half of the rows of Adult
    (k = 10) would be in leaves that could still be cut.
    """
    _measure_spread(values, scaled, work)
    if rule.cycle:
        for c in range(len(work.spread)):
            work.spread[c] = len(work.spread) - (c - depth) % len(work.spread)
    while True:
        top, column = -1.0, ZERO - 1
        for c in range(len(work.spread)):
            if work.open[c] and work.low[c] < work.high[c]:
                top = max(top, work.spread[c])
        for c in range(len(work.spread) - 1, -1, -1):
            if work.open[c] and work.low[c] < work.high[c] and work.spread[c] >= top * (1.0 - TIE_TOLERANCE):
                column = c
        if column < 0:
            return -1, np.nan
        at = _cut(values, column, scaled.middle[column], rule, work)
        if not np.isnan(at):
            return column, at
        work.open[column] = False  # try the column with the next largest spread


@njit(**INNER)
def _measure_spread(values: Floats, scaled: ColumnScales, work: _KdWorkspace) -> None:
    """Range and spread of every column, with the mean first, so that large means cost no precision."""
    low, high, mean, spread = work.low, work.high, work.mean, work.spread
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


@njit(**ENTRY)
def _cut(values: Floats, column: int, middle: float, rule: KdSettings, work: _KdWorkspace) -> float:
    """The first of midrange and median (or only the median) that leaves enough rows on both sides; otherwise nan.

    Each is tried with ties on the requested side, then on the other.
    """
    here = work.column[: len(values)]
    for i in range(len(values)):
        here[i] = values[i, column]
    for attempt in range(1 if rule.median else 0, 2):
        if attempt == 1:
            threshold = _median(here)
        elif rule.everywhere:
            threshold = middle
        else:
            threshold = midpoint(work.low[column], work.high[column])
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


@njit(**INNER)
def _median(values: Floats) -> float:
    """The median; reorders the values."""
    half = len(values) // 2
    upper = select(values, half)
    if len(values) % 2:
        return upper
    lower = -np.inf
    for i in range(half):
        lower = max(lower, values[i])
    return midpoint(lower, upper)


@njit(**INNER)
def _partition_node(values: Floats, order: Rows, column: int, cut: float) -> int:
    """Move the rows up to the cut to the front; return their number."""
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


# Halving rows into blocks: a kd tree of which only the leaves are kept.
#
# A part is cut along the column with the largest spread. Rows with equal values are divided by row order.


_SAMPLE_ROWS = 256  # minimum sample that determines the widest column; using all rows costs two thirds more per cut


@njit(**(ENTRY | ALLOCATES))
def halve_into_blocks(values: Floats, rows: Rows, unit: int, largest: int) -> tuple[Rows, Rows]:
    """Rows sorted by block, ascending within each block, and the start of each block (and the end of the last).

    ``values`` is (rows, columns). Parts larger than ``largest`` are cut so that the first half is a multiple of
    ``unit``. If ``largest`` is at least 2 * unit - 1, no block is smaller than ``unit`` (given that many rows).
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
        _partition_block(values, order[start:stop], half, keys, second)
        first[waiting], last[waiting] = start + half, stop
        first[waiting + 1], last[waiting + 1] = start, start + half
        waiting += 2
    starts[count] = len(rows)
    return order, starts[: count + 1]


@njit(**(INNER | ALLOCATES))
def _partition_block(values: Floats, rows: Rows, half: int, keys: Floats, second: Rows) -> None:
    """Move the rows with the ``half`` smallest values of the widest column first; both halves keep their order."""
    column = _widest(values, rows)
    for i in range(len(rows)):
        keys[i] = values[rows[i], column]
    cut = select(keys[: len(rows)], half - 1)
    ties_left = half
    for row in rows:
        ties_left -= values[row, column] < cut
    kept, moved = 0, 0
    for row in rows:
        value = values[row, column]
        if value < cut or (value == cut and ties_left > 0):
            ties_left -= value == cut
            rows[kept] = row
            kept += 1
        else:
            second[moved] = row
            moved += 1
    for i in range(moved):
        rows[kept + i] = second[i]


@njit(**(INNER | ALLOCATES))
def _widest(values: Floats, rows: Rows) -> int:
    """The column with the largest variance in a sample of evenly spaced rows; ties go to the first."""
    step, columns = max(1, len(rows) // _SAMPLE_ROWS), values.shape[1]
    mean, spread, shown = np.zeros(columns), np.zeros(columns), -(-len(rows) // step)
    for i in range(0, len(rows), step):
        for c in range(columns):
            mean[c] += values[rows[i], c]
    for c in range(columns):
        mean[c] /= shown
    for i in range(0, len(rows), step):
        for c in range(columns):
            apart = values[rows[i], c] - mean[c]
            spread[c] += apart * apart
    widest = ZERO
    for c in range(1, columns):
        if spread[c] > spread[widest]:
            widest = c
    return widest


# Recursive halving at the median of the first principal component.


_MAX_SQUARINGS = 60
_CONVERGED = 1e-12  # if squaring gains less, the remaining directions explain equal variance


class _HalvingWorkspace(NamedTuple):
    """Working memory for one node."""

    mean: Floats  # (columns,)
    matrix: Floats  # (columns, columns) covariance, then its powers
    square: Floats  # (columns, columns)
    direction: Floats  # (columns,)
    score: Floats  # (rows,) projections
    moved: Floats  # (rows,) the same, in any order
    values: Floats  # (rows, columns) buffer for rows that go right
    order: Rows  # (rows,)
    hashes: Words  # (rows,)


@njit(**(ENTRY | ALLOCATES))
def halve_by_component(values: Floats, order: Rows, hashes: Words, most: int) -> Rows:
    """Halve every span of at least ``most`` rows; reorders all rows and returns the start of each span.

    Rows must be sorted by hash (``hashes``), and equal rows have equal hashes. Equal rows stay together: a cut moves to
    the nearer end of their run if each side keeps ``most // 2`` rows; otherwise the span is not cut.
    """
    rows, columns = values.shape
    least = max(1, most // 2)
    starts = np.zeros(rows // least + 2, np.int64)
    stack = np.zeros((rows // least + 2, 2), np.int64)
    work = _HalvingWorkspace(
        np.empty(columns), np.empty((columns, columns)), np.empty((columns, columns)), np.empty(columns),
        np.empty(rows), np.empty(rows), np.empty((rows, columns)), np.empty(rows, np.int64),
        np.empty(rows, np.uint64),
    )  # fmt: skip
    stack[0, 1], height, count = rows, 1, 0
    while height:
        height -= 1
        start, stop = stack[height, 0], stack[height, 1]
        left = 0
        if stop - start >= max(most, 2):
            left = _halve_span(values[start:stop], order[start:stop], hashes[start:stop], least, work)
        if left == 0:
            starts[count] = start
            count += 1
            continue
        stack[height, 0], stack[height, 1] = start + left, stop
        stack[height + 1, 0], stack[height + 1, 1] = start, start + left
        height += 2
    return starts[:count].copy()


@njit(**(INNER | ALLOCATES))
def _halve_span(values: Floats, order: Rows, hashes: Words, least: int, work: _HalvingWorkspace) -> int:
    """Halve one span; return the number of rows on the left, 0 if it is not cut."""
    _principal_component(values, work)
    score, rows = work.score[: len(values)], len(values)
    for i in range(rows):
        total = 0.0
        for c in range(values.shape[1]):
            total += (values[i, c] - work.mean[c]) * work.direction[c]
        score[i] = work.moved[i] = total
    half = rows // 2
    middle = select(work.moved[:rows], half)
    below, equal = ZERO, ZERO
    for i in range(rows):
        below += score[i] < middle
        equal += score[i] == middle
    left = _end_of_run(score, hashes, middle, below, equal, half, least)
    if left > 0:
        _partition_span(values, order, hashes, middle, left - below, work)
    return left


@njit(**(INNER | ALLOCATES))
def _end_of_run(score: Floats, hashes: Words, middle: float, below: int, equal: int, half: int, least: int) -> int:
    """Where to cut so that equal rows stay together, as close to the half as possible; 0 if impossible.

    Rows are ordered by score, and those with the middle score (``below`` to ``below + equal``) by hash.
    """
    if half == below:
        return half
    tied = np.empty(equal, np.uint64)
    at = 0
    for i in range(len(score)):
        if score[i] == middle:
            tied[at] = hashes[i]
            at += 1
    first = last = half - below
    while first > 0 and tied[first - 1] == tied[first]:
        first -= 1
    while last < equal and tied[last] == tied[first]:
        last += 1
    first, last = below + first, below + last
    if first >= least and (half - first <= last - half or len(score) - last < least):
        return first
    return last if len(score) - last >= least else 0


@njit(**INNER)
def _partition_span(
    values: Floats, order: Rows, hashes: Words, middle: float, ties: int, work: _HalvingWorkspace
) -> None:
    """Move the rows below the middle score, and the first ``ties`` of those at it, left; each side keeps its order."""
    left = right = 0
    for i in range(len(values)):
        goes = work.score[i] < middle
        if work.score[i] == middle and ties > 0:
            goes, ties = True, ties - 1
        if goes:
            _copy_row(values, order, hashes, i, values, order, hashes, left)
            left += 1
        else:
            _copy_row(values, order, hashes, i, work.values, work.order, work.hashes, right)
            right += 1
    for i in range(right):
        _copy_row(work.values, work.order, work.hashes, i, values, order, hashes, left + i)


@njit(**INNER)
def _copy_row(
    values: Floats, order: Rows, hashes: Words, at: int, to_values: Floats, to_order: Rows, to_marks: Words, to: int
) -> None:
    for c in range(values.shape[1]):
        to_values[to, c] = values[at, c]
    to_order[to], to_marks[to] = order[at], hashes[at]


@njit(**INNER)
def _principal_component(values: Floats, work: _HalvingWorkspace) -> None:
    """The first principal component; its largest coefficient (the first if several tie) is positive.

    Repeated squaring turns the covariance matrix into the projection on that direction, or on all directions that
    explain equal variance; then the one closest to a column is taken.
    """
    mean, matrix = work.mean, work.matrix
    rows, columns = values.shape
    for c in range(columns):
        mean[c] = 0.0
        for other in range(columns):
            matrix[c, other] = 0.0
    for i in range(rows):
        for c in range(columns):
            mean[c] += values[i, c]
    for c in range(columns):
        mean[c] /= rows
    for i in range(rows):
        for c in range(columns):
            away = values[i, c] - mean[c]
            for other in range(c + 1):
                matrix[c, other] += away * (values[i, other] - mean[other])
    trace = 0.0
    for c in range(columns):
        trace += matrix[c, c]
        for other in range(c):
            matrix[other, c] = matrix[c, other]
    before = 0.0
    for _ in range(_MAX_SQUARINGS):
        if trace <= 0.0:
            break
        trace = _square(matrix, trace, work.square)
        if trace - before < _CONVERGED:
            break
        before = trace
    largest = 0
    for c in range(columns):
        if matrix[c, c] > matrix[largest, largest] * (1.0 + _CONVERGED):
            largest = c
    for c in range(columns):
        work.direction[c] = matrix[largest, c]


@njit(**INNER)
def _square(matrix: Floats, trace: float, square: Floats) -> float:
    """Divide the matrix by its trace and square it; return the new trace."""
    size = len(matrix)
    for i in range(size):
        for j in range(size):
            matrix[i, j] /= trace
            square[i, j] = 0.0
    for i in range(size):
        for k in range(size):
            for j in range(size):
                square[i, j] += matrix[i, k] * matrix[k, j]
    trace = 0.0
    for i in range(size):
        trace += square[i, i]
        for j in range(size):
            matrix[i, j] = square[i, j]
    return trace
