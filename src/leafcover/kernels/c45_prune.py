"""Prune a tree bottom-up as in C4.5 Release 8: leaf, subtree or largest branch, whichever has the fewest errors.

To evaluate the largest branch with all rows of its node: if every weight is one, only the rows of the other branches
are sent down it and added to its counts. With fractional rows the shares of its branches change too, so all rows of the
node are partitioned again. The error estimate follows below.
"""

import math
from typing import NamedTuple

import numpy as np
from numba import njit

from leafcover.arrays import Bools, Codes, Floats, Rows, Singles
from leafcover.kernels import ALLOCATES, ENTRY, INNER, ZERO
from leafcover.kernels.c45_rows import UNKNOWN, resize

ROUNDING_MARGIN = 0.999  # a 32-bit sum of errors is at least this fraction of the exact count
SLACK = 0.1  # a simpler tree may have this many more estimated errors
UNTOUCHED, TOUCHED = np.float32(-1.0), np.float32(-2.0)  # in place of errors, which are never negative

TESTED, FIRST, BRANCHES, LABEL = range(4)  # columns of PruneState.links
ITEMS, ESTIMATE, COUNTS = range(3)  # columns of PruneState.figures, and of BranchSums.sums with KNOWN for ESTIMATE
KNOWN = ESTIMATE
START, STOP, LARGEST, WHOLE = range(4)  # columns of segments: the rows of a node
SIZE, BEGIN = range(2)  # columns of BranchSums.size


class PruneState(NamedTuple):
    """A tree that is being pruned, modified in place. Every node precedes its children."""

    links: Codes  # (nodes, 4) attribute tested, first child, number of children, class
    figures: Singles  # (nodes, 2 + classes) weight, pessimistic errors, counts by class
    cut: Floats  # (nodes,)
    is_number: Bools  # (attributes,)
    values: Floats  # (attributes, rows) numbers, or codes of levels; nan when missing
    labels: Codes  # (rows,)
    kept: Bools  # (first nodes,) which of the first nodes keep their test; all others may be pruned
    bound: Floats  # (2,) confidence, and its squared deviation


class BranchSums(NamedTuple):
    """Sums over the branches of one node, computed when its rows are partitioned."""

    sums: Singles  # (branches, 2 + classes) weight, known weight, counts by class
    size: Rows  # (branches, 2) known rows; start of the segment, -1 for none
    branch: Codes  # (rows,) branch of each row of the node
    ends: Rows  # (branches,) end of each segment while it is filled


class PruneWorkspace(NamedTuple):
    """Working memory for subtrees."""

    segments: Rows  # (nodes, 4) the rows of each node, its largest branch, and whether all of its rows are whole
    ends: Rows  # (nodes, 2) the rows of each node of a raised branch
    errors: Singles  # (nodes,)
    extra: Singles  # (nodes, 2 + classes) figures with additional rows
    nodes: Codes  # (nodes,)


@njit(**INNER)
def branch_of(state: PruneState, node: int, row: int) -> int:
    """The branch of a row at a node, UNKNOWN if its value is missing."""
    attribute = state.links[node, TESTED]
    value = state.values[attribute, row]
    if np.isnan(value):
        return UNKNOWN
    if state.is_number[attribute]:
        return int(value > state.cut[node])
    return int(value)


@njit(**INNER)
def _leaf_errors(bound: Floats, figures: Singles, at: int, label: int) -> tuple[int, np.float32]:
    """The class that a leaf with the figures in this row predicts, and its pessimistic errors.

    The previous class is kept unless another is more frequent.
    """
    for c in range(figures.shape[1] - COUNTS):
        if figures[at, COUNTS + c] > figures[at, COUNTS + label]:
            label = c
    errors = np.float32(figures[at, ITEMS] - figures[at, COUNTS + label])
    extra = extra_errors(np.float64(figures[at, ITEMS]), np.float64(errors), bound[0], bound[1])
    return label, np.float32(errors + np.float32(extra))


@njit(**(INNER | ALLOCATES))
def _partition_node(
    state: PruneState, node: int, start: int, stop: int, rows: Codes, weights: Singles, top: int,
    parts: BranchSums, leaves: int,
) -> tuple[Codes, Singles, int, bool]:  # fmt: skip
    """Partition the rows of a node; inner children (and leaves, if requested) get segments from ``top`` on.

    Returns the arrays (which may have been reallocated), the new top, and whether all weights were one and all values
    known.
    """
    links = state.links
    n_branches, first = links[node, BRANCHES], links[node, FIRST]
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
    need, ends = top, parts.ends
    for b in range(n_branches):
        size[b, BEGIN] = -1
        if size[b, SIZE] and (leaves == 1 or links[first + b, TESTED] >= 0):
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


@njit(**(INNER | ALLOCATES))
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
    links, figures, sums, sizes = state.links, state.figures, parts.sums, parts.size
    queue[0], count, done = root, 1, 0
    while done < count:
        node = ZERO + queue[done]
        done += 1
        start, stop = segments[node, START], segments[node, STOP]
        rows, weights, top, whole = _partition_node(state, node, start, stop, rows, weights, top, parts, ZERO + 1)
        rest = stop - start  # will be the number of rows with a missing value
        for b in range(links[node, BRANCHES]):
            rest -= sizes[b, SIZE]
        segments[node, WHOLE], segments[node, LARGEST], most = int(whole), 0, np.float32(0.0)
        for b in range(links[node, BRANCHES]):
            child, size = links[node, FIRST] + b, sizes[b, SIZE]
            segments[child, START], segments[child, STOP] = 0, 0
            if size == 0:
                continue
            segments[child, START] = sizes[b, BEGIN]
            segments[child, STOP] = sizes[b, BEGIN] + size + rest
            factor = np.float32(sums[b, KNOWN] / figures[node, ITEMS])
            if factor >= most:
                segments[node, LARGEST], most = b, factor
            for c in range(sums.shape[1]):
                figures[child, c] = sums[b, c]
            label, errors = _leaf_errors(state.bound, figures, child, ZERO + links[child, LABEL])
            links[child, LABEL], figures[child, ESTIMATE] = label, errors
            if links[child, TESTED] >= 0:
                queue[count] = child
                count += 1
    return rows, weights, top, count


@njit(**INNER)
def _subtree(links: Codes, root: int, found: Codes) -> int:
    """All nodes of the subtree at ``root``, every parent before its children."""
    found[0], count, done = root, 1, 0
    while done < count:
        node = found[done]
        done += 1
        for b in range(links[node, BRANCHES]):
            found[count] = links[node, FIRST] + b
            count += 1
    return count


@njit(**INNER)
def _sum_errors(links: Codes, nodes: Codes, count: int, errors: Singles) -> np.float32:
    """Errors of a subtree from those of its leaves, added branch by branch as in C4.5."""
    for i in range(count - 1, -1, -1):
        node = nodes[i]
        if links[node, TESTED] >= 0:
            total = np.float32(0.0)
            for b in range(links[node, BRANCHES]):
                total = np.float32(total + errors[links[node, FIRST] + b])
            errors[node] = total
    return errors[nodes[0]]


@njit(**INNER)
def _find_leaf(state: PruneState, node: int, row: int) -> int:
    """The leaf that a row reaches from a node, UNKNOWN if a tested value is missing."""
    links = state.links
    while links[node, TESTED] >= 0:
        taken = branch_of(state, node, row)
        if taken == UNKNOWN:
            return UNKNOWN
        node = links[node, FIRST] + taken
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
    links, figures = state.links, state.figures
    first = links[node, FIRST]
    root = first + segments[node, LARGEST]
    count = _subtree(links, root, nodes)
    seen = 0.0
    for i in range(count):
        at = nodes[i]
        errors[at] = UNTOUCHED
        if links[at, TESTED] < 0:
            seen += figures[at, ITEMS] - figures[at, COUNTS + links[at, LABEL]]
        elif segments[at, WHOLE] == 0:
            return UNTOUCHED
    most = int(min(np.ceil(enough / ROUNDING_MARGIN - seen), 1e18))  # additional errors that decide the comparison
    for sibling in range(first, first + links[node, BRANCHES]):
        if sibling == root:
            continue
        for i in range(segments[sibling, START], segments[sibling, STOP]):
            leaf = _find_leaf(state, root, rows[i])
            if leaf == UNKNOWN:
                return UNTOUCHED
            if errors[leaf] == UNTOUCHED:
                errors[leaf] = TOUCHED
                for c in range(extra.shape[1]):
                    extra[leaf, c] = figures[leaf, c]
            label, answer = state.labels[rows[i]], links[leaf, LABEL]
            extra[leaf, ITEMS] += np.float32(1.0)
            extra[leaf, COUNTS + label] += np.float32(1.0)
            if label != answer and extra[leaf, COUNTS + label] <= extra[leaf, COUNTS + answer]:
                most -= 1
                if most < 0:
                    return np.float32(2 * enough + 1)
    for i in range(count):
        leaf = nodes[i]
        if errors[leaf] == TOUCHED:
            errors[leaf] = _leaf_errors(state.bound, extra, leaf, ZERO + links[leaf, LABEL])[1]
        elif links[leaf, TESTED] < 0:
            errors[leaf] = figures[leaf, ESTIMATE]
    return _sum_errors(links, nodes, count, errors)


@njit(**(INNER | ALLOCATES))
def _branch_errors_weighted(
    state: PruneState, segments: Rows, node: int, rows: Codes, weights: Singles, top: int, parts: BranchSums,
    nodes: Codes, errors: Singles, ends: Rows,
) -> tuple[Codes, Singles, np.float32]:  # fmt: skip
    """`_branch_errors_whole` with fractional rows: all rows of the node are partitioned down the branch again."""
    links, size = state.links, parts.size
    root = links[node, FIRST] + segments[node, LARGEST]
    if links[root, TESTED] < 0:
        return rows, weights, _leaf_errors(state.bound, state.figures, node, ZERO + links[root, LABEL])[1]
    count = _subtree(links, root, nodes)
    for i in range(count):
        errors[nodes[i]], ends[nodes[i], START], ends[nodes[i], STOP] = 0.0, 0, 0
    ends[root, START], ends[root, STOP] = segments[node, START], segments[node, STOP]
    for i in range(count):
        at = ZERO + nodes[i]
        start, stop = ends[at, START], ends[at, STOP]
        if links[at, TESTED] < 0 or start == stop:
            continue
        rows, weights, top, _ = _partition_node(state, at, start, stop, rows, weights, top, parts, ZERO)
        rest = stop - start
        for b in range(links[at, BRANCHES]):
            rest -= size[b, SIZE]
        for b in range(links[at, BRANCHES]):
            child = links[at, FIRST] + b
            if size[b, BEGIN] >= 0:
                ends[child, START] = size[b, BEGIN]
                ends[child, STOP] = size[b, BEGIN] + size[b, SIZE] + rest
            elif size[b, SIZE]:
                errors[child] = _leaf_errors(state.bound, parts.sums, b, ZERO + links[child, LABEL])[1]
    return rows, weights, _sum_errors(links, nodes, count, errors)


@njit(**INNER)
def _raise_branch(state: PruneState, node: int, raised: int) -> None:
    """Replace a node by one of its branches; the node keeps its rows."""
    links, figures, cut = state.links, state.figures, state.cut
    label, errors = _leaf_errors(state.bound, figures, node, ZERO + links[raised, LABEL])
    for column in range(LABEL):
        links[node, column] = links[raised, column]
    cut[node] = cut[raised]
    links[node, LABEL], figures[node, ESTIMATE] = label, errors


def prune_nodes(state: PruneState) -> None:
    """Prune the tree in place: a pruned node becomes a leaf, a raised branch replaces its parent."""
    count, width, all_rows = len(state.links), state.figures.shape[1], len(state.labels)
    most = int(max(2, state.links[:, BRANCHES].max()))
    parts = BranchSums(
        sums=np.empty((most, width), np.float32),
        size=np.empty((most, 2), np.int64),
        branch=np.empty(all_rows, np.int32),
        ends=np.empty(most, np.int64),
    )
    work = PruneWorkspace(
        segments=np.zeros((count, 4), np.int64),
        ends=np.empty((count, 2), np.int64),
        errors=np.empty(count, np.float32),
        extra=np.empty((count, width), np.float32),
        nodes=np.empty(count, np.int32),
    )
    rows, weights = np.arange(2 * all_rows, dtype=np.int32), np.ones(2 * all_rows, np.float32)
    _prune(state, parts, work, rows, weights, np.empty(count, np.int32))


@njit(**(ENTRY | ALLOCATES))
def _prune(
    state: PruneState, parts: BranchSums, work: PruneWorkspace, rows: Codes, weights: Singles, waiting: Codes
) -> None:
    links, figures = state.links, state.figures
    segments, nodes, all_rows = work.segments, work.nodes, len(state.labels)
    segments[0, STOP], top = all_rows, all_rows
    label, estimate = _leaf_errors(state.bound, figures, ZERO, ZERO + links[0, LABEL])
    links[0, LABEL], figures[0, ESTIMATE] = label, estimate
    left, changed = ZERO, ZERO - 1  # changed: root of a subtree whose rows must be partitioned again
    if links[0, TESTED] >= 0:
        changed = left
    while left or changed >= 0:
        if changed >= 0:
            rows, weights, top, found = _partition_subtree(state, segments, changed, rows, weights, top, parts, nodes)
            if left + found > len(waiting):
                waiting = resize(waiting, 2 * (left + found))
            for i in range(found):
                waiting[left + i] = nodes[i]
            left, changed = left + found, ZERO - 1
        left -= 1
        node = ZERO + waiting[left]
        as_leaf = _leaf_errors(state.bound, figures, node, ZERO + links[node, LABEL])[1]
        as_tree, as_branch = np.float32(0.0), UNTOUCHED
        for b in range(links[node, BRANCHES]):
            as_tree = np.float32(as_tree + figures[links[node, FIRST] + b, ESTIMATE])
        if node < len(state.kept) and state.kept[node]:
            figures[node, ESTIMATE] = as_tree
            continue
        if segments[node, WHOLE]:
            enough = np.float64(as_tree) + SLACK if as_leaf > np.float64(as_tree) + SLACK else np.float64(as_leaf)
            as_branch = _branch_errors_whole(state, segments, node, rows, nodes, work.errors, work.extra, enough)
        if as_branch < 0:
            rows, weights, as_branch = _branch_errors_weighted(
                state, segments, node, rows, weights, top, parts, nodes, work.errors, work.ends
            )
        if as_leaf <= np.float64(as_branch) + SLACK and as_leaf <= np.float64(as_tree) + SLACK:
            links[node, TESTED], links[node, FIRST], links[node, BRANCHES] = -1, -1, 0
            state.cut[node], figures[node, ESTIMATE] = np.nan, as_leaf
        elif as_branch <= np.float64(as_tree) + SLACK:
            _raise_branch(state, node, links[node, FIRST] + segments[node, LARGEST])
            if links[node, TESTED] >= 0:
                changed = node
        else:
            figures[node, ESTIMATE] = as_tree


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


# Sums over subtrees.


@njit(**ENTRY)
def add_to_ancestors(values: Floats, parent: Codes) -> None:
    """Add every node's value to those of its ancestors; every node must precede its children."""
    for node in range(len(values) - 1, 0, -1):
        values[parent[node]] += values[node]
