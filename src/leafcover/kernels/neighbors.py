"""Exact nearest-neighbour search with ties, agreement of rows, comparison weights, and squared distances."""

from typing import NamedTuple

import numpy as np
from numba import njit

from leafcover.arrays import Array, Bools, Codes, Floats, Rows, Singles
from leafcover.kernels import ALLOCATES, ENTRY, INNER
from leafcover.kernels.sorting import sort_values

# A tree of bounding boxes over rows of numbers and codes, so that a search examines few rows.
#
# The distance of two rows is Gower's, summed over columns: the absolute difference of numbers, 1 for different codes,
# and for a missing number (nan) 0 to another missing one and 1 to a known one. Codes follow the numbers, as floats.


LEAF = 64  # maximum rows of a leaf (measured: 8 to 16 cost twice as much, 128 about the same)
_CHECK_EVERY = 8  # columns after which a search checks whether any row is still within the limit
_SAMPLE_PAIRS = 32  # pairs of rows that determine the column with the largest distances in a node


class NeighborTree(NamedTuple):
    """Rows in the order of leaves. A node has a span of them; its children are ``child`` and the next node."""

    values: Floats  # by leaf, then by column within the leaf, so that a search reads contiguous memory
    numbers: int  # number of columns that are numbers
    order: Rows  # (rows,) row number at each position
    start: Rows  # (nodes,) first position of a node
    stop: Rows  # (nodes,) position after its last
    child: Rows  # (nodes,) first child, -1 for a leaf
    low: Floats  # (nodes, columns) smallest known value
    high: Floats  # (nodes, columns) largest known value
    holes: Bools  # (nodes, columns) whether a number is missing in some row
    depth: int  # depth of the deepest node


def grow(values: Floats, numbers: int, leaf: int = LEAF) -> NeighborTree:
    """The tree over a matrix (columns, rows) with at most ``leaf`` rows per leaf, except where all rows are equal."""
    columns, rows = values.shape
    order: Rows = np.arange(rows, dtype=np.int64)
    start, stop, child, depth = (np.zeros(2 * rows + 1, np.int64) for _ in range(4))
    count = _split(values, numbers, leaf, order, start, stop, child, depth)
    start, stop, child = start[:count].copy(), stop[:count].copy(), child[:count].copy()
    low, high = np.empty((count, columns)), np.empty((count, columns))
    holes = np.zeros((count, columns), np.bool_)
    packed = np.empty(values.size)
    _bound_boxes(values, order, start, stop, child, low, high, holes, packed)
    return NeighborTree(packed, numbers, order, start, stop, child, low, high, holes, int(depth.max()))


@njit(**(ENTRY | ALLOCATES))
def _split(
    values: Floats, numbers: int, leaf: int, order: Rows, start: Rows, stop: Rows, child: Rows, depth: Rows
) -> int:
    """Cut nodes near the median of the column with the largest distances; return the number of nodes."""
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


@njit(**(ENTRY | ALLOCATES))
def _cut(values: Floats, numbers: int, rows: Rows) -> int:
    """Partition a node's rows; return the size of the first part, 0 if all rows are equal."""
    column = _widest(values, numbers, rows)
    if column < 0:
        return 0
    sample, missing = np.empty(2 * _SAMPLE_PAIRS), 0
    for i in range(len(sample)):
        sample[i] = values[column, rows[i * len(rows) // len(sample)]]
        if np.isnan(sample[i]):
            sample[i] = np.inf
            missing += 1
    sort_values(sample)
    cut, below, through = sample[_SAMPLE_PAIRS], 0, 0
    for value in sample:
        below += value < cut
        through += value <= cut
    if cut == np.inf:
        through -= missing
    together = below == 0 or abs(through - _SAMPLE_PAIRS) < abs(below - _SAMPLE_PAIRS)
    middle = _partition_rows(values[column], rows, cut, together)
    if middle in (0, len(rows)):  # the sample did not contain values of the other part
        middle = _partition_rows(values[column], rows, cut, not together)
    return middle % len(rows)


@njit(**INNER)
def _partition_rows(column: Floats, rows: Rows, cut: float, together: bool) -> int:
    """Move rows below the cut (and those at it, if ``together``) first, missing values last; return how many."""
    first, last = 0, len(rows) - 1
    while first <= last:
        value = column[rows[first]]
        if value < cut or (together and value == cut):
            first += 1
        else:
            rows[first], rows[last] = rows[last], rows[first]
            last -= 1
    return first


@njit(**INNER)
def _widest(values: Floats, numbers: int, rows: Rows) -> int:
    """The column with the largest distances in a sample of pairs; -1 if all rows are equal."""
    best, column, half = 0.0, -1, len(rows) // 2
    for c in range(len(values)):
        apart = 0.0
        for pair in range(_SAMPLE_PAIRS):
            place = pair * half // _SAMPLE_PAIRS
            apart += _distance(values[c, rows[place]], values[c, rows[half + place]], c < numbers)
        if apart > best:
            best, column = apart, c
    if column >= 0:
        return column
    for c in range(len(values)):  # the sampled pairs were equal
        for row in rows:
            if _distance(values[c, rows[0]], values[c, row], c < numbers) > 0.0:
                return c
    return -1


@njit(**INNER)
def _distance(one: float, other: float, number: bool) -> float:
    if not number:
        return 1.0 if one != other else 0.0
    apart = abs(one - other)
    if not np.isnan(apart):
        return apart
    return 0.0 if np.isnan(one) and np.isnan(other) else 1.0


@njit(**ENTRY)
def _bound_boxes(
    values: Floats, order: Rows, start: Rows, stop: Rows, child: Rows, low: Floats, high: Floats, holes: Bools,
    packed: Floats,
) -> None:  # fmt: skip
    """Pack the leaves and compute the bounding box of each node; children have higher numbers."""
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


@njit(**INNER)
def least_distance(query: Floats, boxes: NeighborTree, node: int) -> float:
    """A lower bound on the distance to the rows of a node.

    Summed in the same order as in `distances`, so that rounding cannot raise it above the distance of a row.
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


@njit(**INNER)
def next_leaf(query: Floats, boxes: NeighborTree, nodes: Rows, least: Floats, limit: float) -> int:
    """The next leaf to examine, nearer children first; -1 if no node is left within the limit.

    ``nodes`` and ``least`` are the stack of pending nodes and their lower bounds; nodes[0] is the size of the stack.
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


@njit(**ENTRY)
def distances(query: Floats, boxes: NeighborTree, leaf: int, start: int, limit: float, found: Floats) -> int:
    """Distances to a leaf's rows from position ``start`` on, up to the size of ``found``; return their number.

    Computed column by column, so that the loops vectorise; 0 if no row is within the limit.
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
        if turn % _CHECK_EVERY == _CHECK_EVERY - 1:
            within = 0
            for i in range(count):
                within += found[i] <= limit
            if within == 0:
                return 0
    return count


TIE = 1e-9  # distances closer than this are equal up to rounding


@njit(**(ENTRY | ALLOCATES))
def nearest_rows(queries: Floats, boxes: NeighborTree, own: Rows, count: int) -> tuple[Floats, Rows]:
    """The nearest rows of each query, by distance rounded to multiples of TIE, then by row; row ``own`` is excluded.

    They form a heap with the last of them first; inf and -1 if there are fewer.
    """
    near, rows = np.full((len(queries), count), np.inf), np.full((len(queries), count), -1)
    nodes, least, block = np.empty(boxes.depth + 3, np.int64), np.empty(boxes.depth + 3), np.empty(LEAF)
    for i in range(len(queries)):
        query, best, who = queries[i], near[i], rows[i]
        nodes[0], nodes[1], least[1] = 1, 0, 0.0
        while True:
            leaf = next_leaf(query, boxes, nodes, least, best[0] + TIE)
            if leaf < 0:
                break
            for start in range(boxes.start[leaf], boxes.stop[leaf], LEAF):
                for j in range(distances(query, boxes, leaf, start, best[0] + TIE, block)):
                    if block[j] <= best[0] + TIE and boxes.order[start + j] != own[i]:
                        _insert(best, who, block[j], boxes.order[start + j])
    return near, rows


@njit(**INNER)
def _insert(best: Floats, who: Rows, distance: float, row: int) -> None:
    """Replace the last of the nearest rows if the new row precedes it, and restore the heap."""
    if not _before(distance, row, best[0], who[0]):
        return
    place, child = 0, 1
    while child < len(best):
        if child + 1 < len(best) and _before(best[child], who[child], best[child + 1], who[child + 1]):
            child += 1
        if not _before(distance, row, best[child], who[child]):
            break
        best[place], who[place] = best[child], who[child]
        place, child = child, 2 * child + 1
    best[place], who[place] = distance, row


@njit(**INNER)
def _before(distance: float, row: int, other: float, other_row: int) -> bool:
    key, other_key = np.rint(distance / TIE), np.rint(other / TIE)
    return key < other_key or (key == other_key and row < other_row)


@njit(**(ENTRY | ALLOCATES))
def shares_among_nearest(
    queries: Floats, boxes: NeighborTree, own: Rows, wanted: Floats, tolerance: Floats, labels: Floats
) -> Floats:
    """For each query, the share of its nearest rows (with ties) that have the wanted label; row ``own`` is excluded."""
    found = np.zeros(len(queries))
    nodes, least, block = np.empty(boxes.depth + 3, np.int64), np.empty(boxes.depth + 3), np.empty(LEAF)
    for i in range(len(queries)):
        query, best, unclear = queries[i], np.inf, True
        while unclear:
            ties, hits, farthest, unclear = 0, 0, -np.inf, False
            nodes[0], nodes[1], least[1] = 1, 0, 0.0
            while True:
                leaf = next_leaf(query, boxes, nodes, least, best + TIE)
                if leaf < 0:
                    break
                for start in range(boxes.start[leaf], boxes.stop[leaf], LEAF):
                    for j in range(distances(query, boxes, leaf, start, best + TIE, block)):
                        distance, row = block[j], boxes.order[start + j]
                        if distance > best + TIE or row == own[i]:
                            continue
                        if distance < best:
                            if best > distance + TIE:
                                ties, hits, farthest, unclear = 0, 0, distance, False
                            elif farthest > distance + TIE:
                                unclear = True  # some counted rows no longer tie: search again from the new best
                            best = distance
                        farthest = max(farthest, distance)
                        ties += 1
                        hits += _is_match(labels[row], wanted[i], tolerance[i])
        if ties > 0:
            found[i] = hits / ties
    return found


@njit(**INNER)
def _is_match(label: float, wanted: float, tolerance: float) -> bool:
    return label == wanted or abs(label - wanted) <= tolerance or (np.isnan(label) and np.isnan(wanted))


@njit(**(ENTRY | ALLOCATES))
def rows_before_own(queries: Floats, boxes: NeighborTree, own: Rows, enough: int) -> tuple[Floats, Floats]:
    """The number of rows that are nearer than a query's own row, and the number of others that tie with it.

    The search stops at ``enough`` nearer rows; ties are then not counted.
    """
    closer, tied = np.zeros(len(queries)), np.zeros(len(queries))
    nodes, least, block = np.empty(boxes.depth + 3, np.int64), np.empty(boxes.depth + 3), np.empty(LEAF)
    home, place = _leaves_and_positions(boxes)
    for i in range(len(queries)):
        query, before, ties = queries[i], 0, 0
        distances(query, boxes, home[own[i]], place[own[i]], np.inf, block)
        limit = block[0]
        nodes[0], nodes[1], least[1] = 1, 0, 0.0
        while before < enough:
            leaf = next_leaf(query, boxes, nodes, least, limit + TIE)
            if leaf < 0:
                break
            for start in range(boxes.start[leaf], boxes.stop[leaf], LEAF):
                for j in range(distances(query, boxes, leaf, start, limit + TIE, block)):
                    before += block[j] < limit - TIE
                    ties += abs(block[j] - limit) <= TIE
        if before < enough:
            closer[i], tied[i] = before, ties - 1
        else:
            closer[i] = enough
    return closer, tied


@njit(**(INNER | ALLOCATES))
def _leaves_and_positions(boxes: NeighborTree) -> tuple[Rows, Rows]:
    """The leaf of each row, and its position."""
    home, place = np.empty(len(boxes.order), np.int64), np.empty(len(boxes.order), np.int64)
    for node in range(len(boxes.start)):
        if boxes.child[node] < 0:
            for there in range(boxes.start[node], boxes.stop[node]):
                home[boxes.order[there]], place[boxes.order[there]] = node, there
    return home, place


# Rows that agree with a row in most of its columns, weighed by how rarely rows agree.


_BLOCK = 512  # rows whose sums are computed together, so that the loops vectorise


@njit(**(ENTRY | ALLOCATES))
def most_agreeing(
    ranks: Codes, low: Codes, high: Codes, weights: Singles, queries: Rows, count: int
) -> tuple[Singles, Rows]:
    """For each query the largest weights of agreement with other rows, descending, and the first row with the largest.

    A row agrees with a query in a column (all are (columns, rows)) if its rank is between the query's low and high.
    """
    best, who = np.full((len(queries), count), np.float32(-1.0), np.float32), np.full(len(queries), -1)
    rows, block = ranks.shape[1], np.empty(_BLOCK, np.float32)
    for i in range(len(queries)):
        query, near = queries[i], best[i]
        for start in range(0, rows, _BLOCK):
            size = min(_BLOCK, rows - start)
            largest = _add_agreement(ranks, low, high, weights, query, start, block[:size])
            if largest <= near[count - 1]:
                continue
            for j in range(size):
                if block[j] > near[count - 1] and start + j != query:
                    if block[j] > near[0]:
                        who[i] = start + j
                    _insert_weight(near, block[j])
    return best, who


@njit(**INNER)
def _add_agreement(
    ranks: Codes, low: Codes, high: Codes, weights: Singles, query: int, start: int, found: Singles
) -> float:
    """Fill in the weights of agreement of consecutive rows with the query, and return the largest."""
    for j in range(len(found)):
        found[j] = np.float32(0.0)
    for c in range(len(ranks)):
        first, last, weight = low[c, query], high[c, query], weights[c, query]
        column = ranks[c, start : start + len(found)]
        for j in range(len(found)):
            found[j] += weight if first <= column[j] <= last else np.float32(0.0)
    largest = -1.0
    for j in range(len(found)):
        largest = max(largest, float(found[j]))
    return largest


@njit(**INNER)
def _insert_weight(best: Singles, weight: float) -> None:
    """Insert into descending weights; the last one is lost."""
    place = len(best) - 1
    while place > 0 and best[place - 1] < weight:
        best[place] = best[place - 1]
        place -= 1
    best[place] = weight


# Comparison classes of pairs of values, and sums of their weights over many pairs of rows.


MAX_HALVINGS = 30  # halvings of a number's range that are distinguished
COMPARISONS = MAX_HALVINGS + 3  # equal, each halving, and one value missing
_EXPONENT = 1022  # biased exponent of a float64 between one half and one
_INFINITE = 0x7FF0000000000000  # the bits of infinity
_BATCH = 4_096  # distances stored contiguously, so that their bits can be read


@njit(**(ENTRY | ALLOCATES))
def compare_numbers(one: Floats, other: Floats) -> Array:
    """The comparison class of two numbers: 0 if equal, then by halvings of their distance, last if one is missing."""
    found = np.empty(len(one), np.int64)
    bits = np.abs(one - other).view(np.int64)
    for i in range(len(one)):
        found[i] = _comparison(bits[i], one[i], other[i])
    return found


@njit(**(ENTRY | ALLOCATES))
def add_by_distance(total: Floats, ours: Floats, theirs: Floats, weights: Floats) -> None:
    """Add to (ours, theirs) the weight of each comparison of numbers."""
    apart = np.empty(_BATCH)
    bits = apart.view(np.int64)
    for start in range(0, len(theirs), _BATCH):
        some = theirs[start : start + _BATCH]
        for i in range(len(ours)):
            for j in range(len(some)):
                apart[j] = abs(ours[i] - some[j])
            for j in range(len(some)):
                total[i, start + j] += weights[_comparison(bits[j], ours[i], some[j])]


@njit(**ENTRY)
def add_by_level(total: Floats, ours: Array, theirs: Array, weights: Floats) -> None:
    """Add to (ours, theirs) the weight of each pair of codes; a missing code, -1, refers to the last weight."""
    for i in range(len(ours)):
        mine = weights[ours[i]]
        for j in range(len(theirs)):
            total[i, j] += mine[theirs[j]]


@njit(**ENTRY)
def add_by_equality(total: Floats, ours: Array, theirs: Array, weights: Floats) -> None:
    """Add to (ours, theirs) the weight of equal or of different codes."""
    for i in range(len(ours)):
        for j in range(len(theirs)):
            total[i, j] += weights[0] if ours[i] == theirs[j] else weights[1]


@njit(**INNER)
def _comparison(bits: int, one: float, other: float) -> int:
    """The comparison class from the exponent bits of the distance, at a tenth of the cost of a logarithm."""
    if bits == 0:
        return 0
    if bits > _INFINITE:  # nan
        return 0 if np.isnan(one) and np.isnan(other) else MAX_HALVINGS + 2
    return min(max(1 + _EXPONENT - (bits >> 52), 0), MAX_HALVINGS) + 1


# Squared distances, summed in column order. All searches use them, so that they all give the same groups.


@njit(**INNER)
def squared_distance(values: Floats, row: int, point: Floats) -> float:
    """The squared distance of one row of a matrix from a point."""
    total = 0.0
    for c in range(len(point)):
        apart = values[row, c] - point[c]
        total += apart * apart
    return total


@njit(**(INNER | ALLOCATES))
def squared_distances(values: Floats, point: Floats) -> Floats:
    """The squared distances of all rows from a point."""
    found = np.empty(len(values))
    for row in range(len(values)):
        found[row] = squared_distance(values, row, point)
    return found
