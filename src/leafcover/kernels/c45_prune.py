"""Prune a tree bottom-up as in C4.5 Release 8: leaf, subtree or largest branch, whichever has the fewest errors.

To evaluate the largest branch with all rows of its node: if every weight is one, only the rows of the other branches
are sent down it and added to its counts. With fractional rows the shares of its branches change too, so all rows of the
node are partitioned again. The error estimate and operations on the shape of trees follow below.
"""

import math
from typing import NamedTuple

import numpy as np
from numba import njit

from leafcover.arrays import Bools, Codes, Floats, Rows, Singles
from leafcover.kernels import ENTRY, INNER
from leafcover.kernels.c45_rows import UNKNOWN, resize

ROUNDING_MARGIN = 0.999  # a 32-bit sum of errors is at least this fraction of the exact count
SLACK = 0.1  # a simpler tree may have this many more estimated errors
UNTOUCHED, TOUCHED = np.float32(-1.0), np.float32(-2.0)  # in place of errors, which are never negative

TESTED, FIRST, BRANCHES, LABEL = range(4)  # columns of PruneState.node
ITEMS, ESTIMATE, COUNTS = range(3)  # columns of PruneState.figures, and of BranchSums.sums with KNOWN for ESTIMATE
KNOWN = ESTIMATE
START, STOP, LARGEST, WHOLE = range(4)  # columns of segments: the rows of a node
SIZE, BEGIN = range(2)  # columns of BranchSums.size


class PruneState(NamedTuple):
    """A tree that is being pruned, modified in place. Every node precedes its children."""

    node: Codes  # (nodes, 4) attribute tested, first child, number of children, class
    figures: Singles  # (nodes, 2 + classes) weight, pessimistic errors, counts by class
    cut: Floats  # (nodes,)
    is_number: Bools  # (attributes,)
    values: Floats  # (attributes, rows) numbers, or codes of levels; nan when missing
    labels: Codes  # (rows,)
    kept: Bools  # (first nodes,) which of the first nodes keep their test; all others may be pruned
    confidence: float
    coefficient: float


class BranchSums(NamedTuple):
    """Sums over the branches of one node, computed when its rows are partitioned."""

    sums: Singles  # (branches, 2 + classes) weight, known weight, counts by class
    size: Rows  # (branches, 2) known rows; start of the segment, -1 for none
    branch: Codes  # (rows,) branch of each row of the node


@njit(**ENTRY)
def branch_of(state: PruneState, node: int, row: int) -> int:
    """The branch of a row at a node, UNKNOWN if its value is missing."""
    attribute = state.node[node, TESTED]
    value = state.values[attribute, row]
    if np.isnan(value):
        return UNKNOWN
    if state.is_number[attribute]:
        return int(value > state.cut[node])
    return int(value)


@njit(**INNER)
def _leaf_errors(state: PruneState, figures: Singles, label: int) -> tuple[int, np.float32]:
    """The class that a leaf with these figures predicts, and its pessimistic errors.

    The previous class is kept unless another is more frequent.
    """
    for c in range(len(figures) - COUNTS):
        if figures[COUNTS + c] > figures[COUNTS + label]:
            label = c
    errors = np.float32(figures[ITEMS] - figures[COUNTS + label])
    extra = extra_errors(np.float64(figures[ITEMS]), np.float64(errors), state.confidence, state.coefficient)
    return label, np.float32(errors + np.float32(extra))


@njit(**INNER)
def _partition_node(
    state: PruneState, node: int, start: int, stop: int, rows: Codes, weights: Singles, top: int,
    parts: BranchSums, leaves: np.int64,
) -> tuple[Codes, Singles, int, bool]:  # fmt: skip
    """Partition the rows of a node; inner children (and leaves, if requested) get segments from ``top`` on.

    Returns the arrays (which may have been reallocated), the new top, and whether all weights were one and all values
    known.
    """
    n_branches, first = state.node[node, BRANCHES], state.node[node, FIRST]
    sums, size, branch = parts.sums, parts.size, parts.branch
    for b in range(n_branches):
        size[b, SIZE] = 0
        for c in range(sums.shape[1]):
            sums[b, c] = 0.0
    unknown, total, whole = 0, np.float32(0.0), True
    for i in range(start, stop):
        taken = branch_of(state, node, rows[i])
        branch[i - start] = taken
        whole &= weights[i] == np.float32(1.0)
        if taken == UNKNOWN:
            unknown += 1
        else:
            sums[taken, KNOWN] += weights[i]
            total = np.float32(total + weights[i])
            size[taken, SIZE] += 1
    need, ends = top, np.empty(n_branches, np.int64)
    for b in range(n_branches):
        size[b, BEGIN] = -1
        if size[b, SIZE] and (leaves == 1 or state.node[first + b, TESTED] >= 0):
            size[b, BEGIN] = need
            need += size[b, SIZE] + unknown
        ends[b] = size[b, BEGIN]
    if need > len(rows):
        rows, weights = resize(rows, 2 * need), resize(weights, 2 * need)
    for i in range(start, stop):
        row, taken = rows[i], branch[i - start]
        label = state.labels[row]
        low, high = (0, n_branches) if taken == UNKNOWN else (taken, taken + 1)
        for b in range(low, high):
            if size[b, SIZE] == 0:
                continue
            part = weights[i]
            if taken == UNKNOWN:
                part = np.float32(part * np.float32(sums[b, KNOWN] / total))
            sums[b, ITEMS] += part
            sums[b, COUNTS + label] += part
            if ends[b] >= 0:
                rows[ends[b]], weights[ends[b]] = row, part
                ends[b] += 1
    return rows, weights, need, whole and unknown == 0


@njit(**INNER)
def _partition_subtree(
    state: PruneState,
    segments: Rows,
    root: int,
    rows: Codes,
    weights: Singles,
    top: int,
    parts: BranchSums,
    queue: Codes,
) -> tuple[Codes, Singles, int, int]:
    """Partition the rows of ``root`` down its whole subtree and recompute every node's figures.

    The inner nodes of the subtree are returned in ``queue``, every parent before its children.
    """
    queue[0], count, done = root, 1, 0
    while done < count:
        node = queue[done]
        done += 1
        start, stop = segments[node, START], segments[node, STOP]
        rows, weights, top, whole = _partition_node(state, node, start, stop, rows, weights, top, parts, np.int64(1))
        rest = stop - start  # will be the number of rows with a missing value
        for b in range(state.node[node, BRANCHES]):
            rest -= parts.size[b, SIZE]
        segments[node, WHOLE], segments[node, LARGEST], most = int(whole), 0, np.float32(0.0)
        for b in range(state.node[node, BRANCHES]):
            child, size = state.node[node, FIRST] + b, parts.size[b, SIZE]
            segments[child, START], segments[child, STOP] = 0, 0
            if size == 0:
                continue
            segments[child, START] = parts.size[b, BEGIN]
            segments[child, STOP] = parts.size[b, BEGIN] + size + rest
            factor = np.float32(parts.sums[b, KNOWN] / state.figures[node, ITEMS])
            if factor >= most:
                segments[node, LARGEST], most = b, factor
            for c in range(parts.sums.shape[1]):
                state.figures[child, c] = parts.sums[b, c]
            label, errors = _leaf_errors(state, state.figures[child], state.node[child, LABEL])
            state.node[child, LABEL], state.figures[child, ESTIMATE] = label, errors
            if state.node[child, TESTED] >= 0:
                queue[count] = child
                count += 1
    return rows, weights, top, count


@njit(**INNER)
def _subtree(state: PruneState, root: int, found: Codes) -> int:
    """All nodes of the subtree at ``root``, every parent before its children."""
    found[0], count, done = root, 1, 0
    while done < count:
        node = found[done]
        done += 1
        for b in range(state.node[node, BRANCHES]):
            found[count] = state.node[node, FIRST] + b
            count += 1
    return count


@njit(**INNER)
def _sum_errors(state: PruneState, nodes: Codes, count: int, errors: Singles) -> np.float32:
    """Errors of a subtree from those of its leaves, added branch by branch as in C4.5."""
    for i in range(count - 1, -1, -1):
        node = nodes[i]
        if state.node[node, TESTED] >= 0:
            total = np.float32(0.0)
            for b in range(state.node[node, BRANCHES]):
                total = np.float32(total + errors[state.node[node, FIRST] + b])
            errors[node] = total
    return errors[nodes[0]]


@njit(**INNER)
def _find_leaf(state: PruneState, node: int, row: int) -> int:
    """The leaf that a row reaches from a node, UNKNOWN if a tested value is missing."""
    while state.node[node, TESTED] >= 0:
        taken = branch_of(state, node, row)
        if taken == UNKNOWN:
            return UNKNOWN
        node = state.node[node, FIRST] + taken
    return node


@njit(**INNER)
def _branch_errors_whole(
    state: PruneState, segments: Rows, node: int, rows: Codes, nodes: Codes, errors: Singles, extra: Singles,
    enough: float,
) -> np.float32:  # fmt: skip
    """Errors of the largest branch with all rows of its node, if all weights are one; -1 if a value is missing.

    Pessimistic errors are at least the observed ones, and additional rows never reduce these. So as soon as more than
    ``enough`` errors are observed, the branch cannot win and the search stops early with a larger number.
    """
    first = state.node[node, FIRST]
    root = first + segments[node, LARGEST]
    count = _subtree(state, root, nodes)
    seen = 0.0
    for i in range(count):
        at = nodes[i]
        errors[at] = UNTOUCHED
        if state.node[at, TESTED] < 0:
            seen += state.figures[at, ITEMS] - state.figures[at, COUNTS + state.node[at, LABEL]]
        elif segments[at, WHOLE] == 0:
            return UNTOUCHED
    most = int(min(np.ceil(enough / ROUNDING_MARGIN - seen), 1e18))  # additional errors that decide the comparison
    for sibling in range(first, first + state.node[node, BRANCHES]):
        if sibling == root:
            continue
        for i in range(segments[sibling, START], segments[sibling, STOP]):
            leaf = _find_leaf(state, root, rows[i])
            if leaf == UNKNOWN:
                return UNTOUCHED
            if errors[leaf] == UNTOUCHED:
                errors[leaf] = TOUCHED
                for c in range(extra.shape[1]):
                    extra[leaf, c] = state.figures[leaf, c]
            label, answer = state.labels[rows[i]], state.node[leaf, LABEL]
            extra[leaf, ITEMS] += np.float32(1.0)
            extra[leaf, COUNTS + label] += np.float32(1.0)
            if label != answer and extra[leaf, COUNTS + label] <= extra[leaf, COUNTS + answer]:
                most -= 1
                if most < 0:
                    return np.float32(2 * enough + 1)
    for i in range(count):
        leaf = nodes[i]
        if errors[leaf] == TOUCHED:
            errors[leaf] = _leaf_errors(state, extra[leaf], state.node[leaf, LABEL])[1]
        elif state.node[leaf, TESTED] < 0:
            errors[leaf] = state.figures[leaf, ESTIMATE]
    return _sum_errors(state, nodes, count, errors)


@njit(**INNER)
def _branch_errors_weighted(
    state: PruneState, segments: Rows, node: int, rows: Codes, weights: Singles, top: int, parts: BranchSums,
    nodes: Codes, errors: Singles, ends: Rows,
) -> tuple[Codes, Singles, np.float32]:  # fmt: skip
    """`_branch_errors_whole` with fractional rows: all rows of the node are partitioned down the branch again."""
    root = state.node[node, FIRST] + segments[node, LARGEST]
    if state.node[root, TESTED] < 0:
        return rows, weights, _leaf_errors(state, state.figures[node], state.node[root, LABEL])[1]
    count = _subtree(state, root, nodes)
    for i in range(count):
        errors[nodes[i]], ends[nodes[i], START], ends[nodes[i], STOP] = 0.0, 0, 0
    ends[root, START], ends[root, STOP] = segments[node, START], segments[node, STOP]
    for i in range(count):
        at = nodes[i]
        start, stop = ends[at, START], ends[at, STOP]
        if state.node[at, TESTED] < 0 or start == stop:
            continue
        rows, weights, top, _ = _partition_node(state, at, start, stop, rows, weights, top, parts, np.int64(0))
        rest = stop - start
        for b in range(state.node[at, BRANCHES]):
            rest -= parts.size[b, SIZE]
        for b in range(state.node[at, BRANCHES]):
            child = state.node[at, FIRST] + b
            if parts.size[b, BEGIN] >= 0:
                ends[child, START] = parts.size[b, BEGIN]
                ends[child, STOP] = parts.size[b, BEGIN] + parts.size[b, SIZE] + rest
            elif parts.size[b, SIZE]:
                errors[child] = _leaf_errors(state, parts.sums[b], state.node[child, LABEL])[1]
    return rows, weights, _sum_errors(state, nodes, count, errors)


@njit(**INNER)
def _raise_branch(state: PruneState, node: int, raised: int) -> None:
    """Replace a node by one of its branches; the node keeps its rows."""
    label, errors = _leaf_errors(state, state.figures[node], state.node[raised, LABEL])
    for column in range(LABEL):
        state.node[node, column] = state.node[raised, column]
    state.cut[node] = state.cut[raised]
    state.node[node, LABEL], state.figures[node, ESTIMATE] = label, errors


@njit(**ENTRY)
def prune_nodes(state: PruneState) -> None:
    """Prune the tree in place: a pruned node becomes a leaf, a raised branch replaces its parent."""
    count, width, all_rows = len(state.node), state.figures.shape[1], len(state.labels)
    most = 2
    for i in range(count):
        most = max(most, state.node[i, BRANCHES])
    parts = BranchSums(np.empty((most, width), np.float32), np.empty((most, 2), np.int64), np.empty(all_rows, np.int32))
    errors, extra = np.empty(count, np.float32), np.empty((count, width), np.float32)
    segments, ends = np.zeros((count, 4), np.int64), np.empty((count, 2), np.int64)
    rows, weights = np.empty(2 * all_rows, np.int32), np.ones(2 * all_rows, np.float32)
    for i in range(all_rows):
        rows[i] = i
    segments[0, STOP], top = all_rows, all_rows
    label, estimate = _leaf_errors(state, state.figures[0], state.node[0, LABEL])
    state.node[0, LABEL], state.figures[0, ESTIMATE] = label, estimate
    nodes, work, left = np.empty(count, np.int32), np.empty(count, np.int32), 0
    changed = 0 if state.node[0, TESTED] >= 0 else -1  # root of the subtree whose rows must be partitioned again
    while left or changed >= 0:
        if changed >= 0:
            rows, weights, top, found = _partition_subtree(state, segments, changed, rows, weights, top, parts, nodes)
            if left + found > len(work):
                work = resize(work, 2 * (left + found))
            for i in range(found):
                work[left + i] = nodes[i]
            left, changed = left + found, -1
        left -= 1
        node = int(work[left])
        as_leaf = _leaf_errors(state, state.figures[node], state.node[node, LABEL])[1]
        as_tree, as_branch = np.float32(0.0), UNTOUCHED
        for b in range(state.node[node, BRANCHES]):
            as_tree = np.float32(as_tree + state.figures[state.node[node, FIRST] + b, ESTIMATE])
        if node < len(state.kept) and state.kept[node]:
            state.figures[node, ESTIMATE] = as_tree
            continue
        if segments[node, WHOLE]:
            enough = np.float64(as_tree) + SLACK if as_leaf > np.float64(as_tree) + SLACK else np.float64(as_leaf)
            as_branch = _branch_errors_whole(state, segments, node, rows, nodes, errors, extra, enough)
        if as_branch < 0:
            rows, weights, as_branch = _branch_errors_weighted(
                state, segments, node, rows, weights, top, parts, nodes, errors, ends
            )
        if as_leaf <= np.float64(as_branch) + SLACK and as_leaf <= np.float64(as_tree) + SLACK:
            state.node[node, TESTED], state.node[node, FIRST], state.node[node, BRANCHES] = -1, -1, 0
            state.cut[node], state.figures[node, ESTIMATE] = np.nan, as_leaf
        elif as_branch <= np.float64(as_tree) + SLACK:
            _raise_branch(state, node, state.node[node, FIRST] + segments[node, LARGEST])
            changed = node if state.node[node, TESTED] >= 0 else -1
        else:
            state.figures[node, ESTIMATE] = as_tree


# The pessimistic error estimate of C4.5 Release 8: an upper confidence bound on the errors of a leaf.


# C4.5 interpolates the normal quantile linearly in this table of (confidence, deviation).
_CONFIDENCE = (0.0, 0.001, 0.005, 0.01, 0.05, 0.10, 0.20, 0.40, 1.00)
_DEVIATION = (4.0, 3.09, 2.58, 2.33, 1.65, 1.28, 0.84, 0.25, 0.00)


def squared_deviation(confidence: float) -> float:
    """The squared normal quantile of a confidence level, interpolated in the table.

    >>> round(squared_deviation(0.25), 6)
    0.479556
    """
    place = 0
    while confidence > _CONFIDENCE[place]:
        place += 1
    if place == 0:
        return _DEVIATION[0] ** 2
    low, high = _CONFIDENCE[place - 1], _CONFIDENCE[place]
    share = (confidence - low) / (high - low)
    return (_DEVIATION[place - 1] + (_DEVIATION[place] - _DEVIATION[place - 1]) * share) ** 2


@njit(**INNER)
def _extra_from_one_error(records: float, errors: float, coefficient: float) -> float:
    if errors + 0.5 >= records:
        return 0.67 * (records - errors)
    half = errors + 0.5
    spread = math.sqrt(coefficient * (half * (1.0 - half / records) + coefficient / 4.0))
    bound = (half + coefficient / 2.0 + spread) / (records + coefficient)
    return records * bound - errors


@njit(**ENTRY)
def extra_errors(records: float, errors: float, confidence: float, coefficient: float) -> float:
    """The number to add to the observed errors to get the pessimistic estimate.

    >>> c = squared_deviation(0.25)
    >>> [round(extra_errors(n, e, 0.25, c), 4) for n, e in [(6.0, 0.0), (16.0, 1.0), (100.0, 10.0)]]
    [1.2378, 1.5069, 2.8147]
    """
    if errors >= 0.9999:
        return _extra_from_one_error(records, errors, coefficient)
    none = records * (1.0 - math.exp(math.log(confidence) / records))
    if errors < 1e-6:
        return none
    return none + errors * (_extra_from_one_error(records, 1.0, coefficient) - none)


# Operations on the shape of a tree: breadth-first numbering, sums over subtrees, cuts as original values.


@njit(**ENTRY)
def breadth_first(first: Codes, branches: Codes) -> tuple[Codes, Codes, Codes]:
    """Breadth-first numbering: the old number of each node, its first child and its parent."""
    most = len(first)
    old, new_first, parent = np.empty(most, np.int32), np.full(most, -1, np.int32), np.full(most, -1, np.int32)
    old[0], count, done = 0, 1, 0
    while done < count:
        node = old[done]
        if branches[node]:
            new_first[done] = count
            for b in range(branches[node]):
                old[count], parent[count] = first[node] + b, done
                count += 1
        done += 1
    return old[:count].copy(), new_first[:count].copy(), parent[:count].copy()


@njit(**ENTRY)
def add_to_ancestors(values: Floats, parent: Codes) -> None:
    """Add every node's value to those of its ancestors; every node must precede its children."""
    for node in range(len(values) - 1, 0, -1):
        values[parent[node]] += values[node]


@njit(**ENTRY)
def original_cuts(cuts: Singles, ascending: Singles, order: Codes, column: Floats) -> Floats:
    """For each cut (a value of ``ascending``), the largest value of ``column`` that rounds to it.

    ``order`` lists the rows by single-precision value, missing last, and ``ascending`` their values.
    """
    found = np.empty(len(cuts), np.float64)
    for i in range(len(cuts)):
        low, high = 0, len(order)
        while low < high:
            middle = (low + high) // 2
            if ascending[middle] >= cuts[i] or np.isnan(ascending[middle]):
                high = middle
            else:
                low = middle + 1
        found[i] = column[order[low]]
        while low < len(order) and ascending[low] == cuts[i]:
            found[i] = max(found[i], column[order[low]])
            low += 1
    return found
