"""Prune a tree from its leaves up, as C4.5 Release 8 does: leaf, subtree or largest branch, whichever errs least.

What would the largest branch do with all rows of its node? When every weight is one, only the rows of the other
branches walk down it, on top of the counts that already stand there. With fractional rows the shares of its
branches change too, so all rows of the node are dealt again.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from leafcover.fast.arrays import Array, Codes, Floats, Rows, Singles
from leafcover.fast.dealing import longer
from leafcover.fast.pessimism import extra_errors

SLACK = 0.1  # a simpler tree may err this much more
UNKNOWN = -1
UNTOUCHED, TOUCHED = np.float32(-1.0), np.float32(-2.0)  # in place of errors, which are never negative


class Standing(NamedTuple):
    """A tree while it is pruned. Every node comes before its children; changed in place."""

    tested: Codes
    cut: Floats
    first: Codes
    branches: Codes
    label: Codes
    items: Singles
    counts: Singles  # (nodes, classes)
    estimate: Singles
    is_number: Array  # (attributes,)
    values: Floats  # (attributes, rows) numbers, or codes of levels; nan when missing
    labels: Codes  # (rows,)
    confidence: float
    coefficient: float


class Held(NamedTuple):
    """Which rows stand at which node: segments of one growing list."""

    start: Rows
    stop: Rows
    largest: Codes  # the branch with most known weight
    whole: Array  # all rows have weight one and a known value here


@njit(cache=True)
def branch_of(standing: Standing, node: int, row: int) -> int:
    """The branch a row takes at a node, UNKNOWN when its value is missing."""
    attribute = standing.tested[node]
    value = standing.values[attribute, row]
    if np.isnan(value):
        return UNKNOWN
    if standing.is_number[attribute]:
        return int(value > standing.cut[node])
    return int(value)


@njit(cache=True)
def leaf_estimate(standing: Standing, items: np.float32, errors: np.float32) -> np.float32:
    """Errors seen and the pessimistic rest, for a leaf."""
    extra = extra_errors(np.float64(items), np.float64(errors), standing.confidence, standing.coefficient)
    return np.float32(errors + np.float32(extra))


@njit(cache=True)
def best_class(counts: Singles, start: int) -> int:
    """The first class that is more frequent than the one a node already answers."""
    best = start
    for c in range(len(counts)):
        if counts[c] > counts[best]:
            best = c
    return best


@njit(cache=True)
def _spread(
    standing: Standing, node: int, start: int, stop: int, rows: Codes, weights: Singles, top: int,
    known: Singles, sizes: Rows, items: Singles, counts: Singles, begins: Rows, branch: Codes, leaves: bool,
) -> tuple[Codes, Singles, int, bool]:  # fmt: skip
    """Deal the rows of one node to its branches; inner children, and leaves if asked, get segments from ``top`` on.

    Fills known weight, number of known rows, weight and class counts of each branch, and where its segment
    begins (-1 for none). Says whether all was whole.
    """
    forks, first = standing.branches[node], standing.first[node]
    labels = standing.labels
    for b in range(forks):
        known[b], sizes[b], items[b] = 0.0, 0, 0.0
        for c in range(counts.shape[1]):
            counts[b, c] = 0.0
    unknown, total, whole = 0, np.float32(0.0), True
    for i in range(start, stop):
        taken = branch_of(standing, node, rows[i])
        branch[i - start] = taken
        if weights[i] != np.float32(1.0):
            whole = False
        if taken == UNKNOWN:
            unknown += 1
            continue
        known[taken] += weights[i]
        total = np.float32(total + weights[i])
        sizes[taken] += 1
    need = top
    for b in range(forks):
        begins[b] = -1
        if sizes[b] and (leaves or standing.tested[first + b] >= 0):
            begins[b] = need
            need += sizes[b] + unknown
    if need > len(rows):
        rows, weights = longer(rows, 2 * need), longer(weights, 2 * need)
    ends = np.empty(forks, np.int64)
    for b in range(forks):
        ends[b] = begins[b]
    for i in range(start, stop):
        row, taken = rows[i], branch[i - start]
        low, high = (0, forks) if taken == UNKNOWN else (taken, taken + 1)
        for b in range(low, high):
            if sizes[b] == 0:
                continue
            part = weights[i]
            if taken == UNKNOWN:
                part = np.float32(part * np.float32(known[b] / total))
            counts[b, labels[row]] += part
            items[b] += part
            if ends[b] >= 0:
                rows[ends[b]], weights[ends[b]] = row, part
                ends[b] += 1
    return rows, weights, need, whole and unknown == 0


@njit(cache=True)
def _settle(
    standing: Standing, held: Held, root: int, rows: Codes, weights: Singles, top: int, queue: Codes,
    known: Singles, sizes: Rows, items: Singles, counts: Singles, begins: Rows, branch: Codes,
) -> tuple[Codes, Singles, int, int]:  # fmt: skip
    """Deal the rows of ``root`` down its whole subtree and write every node's figures anew.

    The inner nodes of the subtree are left in ``queue``, every parent before its children.
    """
    queue[0], count, done = root, 1, 0
    while done < count:
        node = queue[done]
        done += 1
        rows, weights, top, whole = _spread(
            standing, node, held.start[node], held.stop[node], rows, weights, top,
            known, sizes, items, counts, begins, branch, True,
        )  # fmt: skip
        held.whole[node] = whole
        largest, most = 0, np.float32(0.0)
        rest = held.stop[node] - held.start[node]  # rows without a value here
        for b in range(standing.branches[node]):
            rest -= sizes[b]
        for b in range(standing.branches[node]):
            child = standing.first[node] + b
            held.start[child], held.stop[child] = 0, 0
            if sizes[b] == 0:
                continue
            held.start[child], held.stop[child] = begins[b], begins[b] + sizes[b] + rest
            factor = np.float32(known[b] / standing.items[node])
            if factor >= most:
                largest, most = b, factor
            standing.items[child] = items[b]
            for c in range(counts.shape[1]):
                standing.counts[child, c] = counts[b, c]
            standing.label[child] = best_class(counts[b], standing.label[child])
            errors = np.float32(items[b] - counts[b, standing.label[child]])
            if standing.tested[child] < 0:
                standing.estimate[child] = leaf_estimate(standing, items[b], errors)
            else:
                queue[count] = child
                count += 1
        held.largest[node] = largest
    return rows, weights, top, count


@njit(cache=True)
def _subtree(standing: Standing, root: int, found: Codes) -> int:
    """All nodes under ``root`` and itself, every parent before its children."""
    found[0], count, done = root, 1, 0
    while done < count:
        node = found[done]
        done += 1
        for b in range(standing.branches[node]):
            found[count] = standing.first[node] + b
            count += 1
    return count


@njit(cache=True)
def _sum_up(standing: Standing, nodes: Codes, count: int, errors: Singles) -> np.float32:
    """Errors of a subtree from those of its leaves, branch by branch as C4.5 adds them."""
    for i in range(count - 1, -1, -1):
        node = nodes[i]
        if standing.tested[node] >= 0:
            total = np.float32(0.0)
            for b in range(standing.branches[node]):
                total = np.float32(total + errors[standing.first[node] + b])
            errors[node] = total
    return errors[nodes[0]]


@njit(cache=True)
def _walk(standing: Standing, node: int, row: int) -> int:
    """The leaf that a row reaches from a node, UNKNOWN when a value is missing on the way."""
    while standing.tested[node] >= 0:
        taken = branch_of(standing, node, row)
        if taken == UNKNOWN:
            return UNKNOWN
        node = standing.first[node] + taken
    return node


@njit(cache=True)
def _branch_whole(
    standing: Standing, held: Held, node: int, rows: Codes, nodes: Codes, errors: Singles, extra: Singles
) -> np.float32:
    """Errors of the largest branch with all rows of its node, all weights one; -1 when a value is missing."""
    branch = standing.first[node] + held.largest[node]
    count = _subtree(standing, branch, nodes)
    for i in range(count):
        inner = nodes[i]
        if standing.tested[inner] >= 0:
            if not held.whole[inner]:
                return np.float32(-1.0)
        else:
            errors[inner] = UNTOUCHED
    for sibling in range(standing.first[node], standing.first[node] + standing.branches[node]):
        if sibling == branch:
            continue
        for i in range(held.start[sibling], held.stop[sibling]):
            at = _walk(standing, branch, rows[i])
            if at == UNKNOWN:
                return np.float32(-1.0)
            if errors[at] == UNTOUCHED:
                errors[at] = TOUCHED
                for c in range(extra.shape[1]):
                    extra[at, c] = standing.counts[at, c]
            extra[at, standing.labels[rows[i]]] += np.float32(1.0)
    for i in range(count):
        leaf = nodes[i]
        if errors[leaf] == UNTOUCHED and standing.tested[leaf] < 0:
            errors[leaf] = standing.estimate[leaf]
        elif standing.tested[leaf] < 0:
            items = np.float32(0.0)
            for c in range(extra.shape[1]):
                items = np.float32(items + extra[leaf, c])
            best = best_class(extra[leaf], standing.label[leaf])
            errors[leaf] = leaf_estimate(standing, items, np.float32(items - extra[leaf, best]))
    return _sum_up(standing, nodes, count, errors)


@njit(cache=True)
def _branch_weighted(
    standing: Standing, held: Held, node: int, rows: Codes, weights: Singles, top: int, nodes: Codes, errors: Singles,
    begin: Rows, end: Rows, known: Singles, sizes: Rows, items: Singles, counts: Singles, begins: Rows, branch: Codes,
) -> tuple[Codes, Singles, np.float32]:  # fmt: skip
    """The same with fractional rows: all rows of the node are dealt down the branch again."""
    root = standing.first[node] + held.largest[node]
    if standing.tested[root] < 0:
        best = best_class(standing.counts[node], standing.label[root])
        seen = np.float32(standing.items[node] - standing.counts[node, best])
        return rows, weights, leaf_estimate(standing, standing.items[node], seen)
    count = _subtree(standing, root, nodes)
    for i in range(count):
        errors[nodes[i]], begin[nodes[i]], end[nodes[i]] = 0.0, 0, 0
    begin[root], end[root] = held.start[node], held.stop[node]
    for i in range(count):
        at = nodes[i]
        if standing.tested[at] < 0 or begin[at] == end[at]:
            continue
        rows, weights, top, _ = _spread(
            standing, at, begin[at], end[at], rows, weights, top, known, sizes, items, counts, begins, branch, False
        )
        rest = end[at] - begin[at]
        for b in range(standing.branches[at]):
            rest -= sizes[b]
        for b in range(standing.branches[at]):
            child = standing.first[at] + b
            if begins[b] >= 0:
                begin[child], end[child] = begins[b], begins[b] + sizes[b] + rest
            elif sizes[b]:
                best = best_class(counts[b], standing.label[child])
                errors[child] = leaf_estimate(standing, items[b], np.float32(items[b] - counts[b, best]))
    return rows, weights, _sum_up(standing, nodes, count, errors)


@njit(cache=True)
def prune_nodes(standing: Standing) -> None:
    """Prune the tree in place: a pruned node becomes a leaf, a raised branch takes its parent's place."""
    count, classes = len(standing.tested), standing.counts.shape[1]
    all_rows = len(standing.labels)
    most = max(2, standing.branches.max())
    known, sizes, items = np.empty(most, np.float32), np.empty(most, np.int64), np.empty(most, np.float32)
    counts, begins = np.empty((most, classes), np.float32), np.empty(most, np.int64)
    branch, nodes = np.empty(all_rows, np.int32), np.empty(count, np.int32)
    errors, extra = np.zeros(count, np.float32), np.zeros((count, classes), np.float32)
    begin, end = np.zeros(count, np.int64), np.zeros(count, np.int64)
    held = Held(
        np.zeros(count, np.int64), np.zeros(count, np.int64), np.zeros(count, np.int32), np.ones(count, np.bool_)
    )
    held.stop[0] = all_rows
    rows, weights = np.arange(2 * all_rows).astype(np.int32), np.ones(2 * all_rows, np.float32)
    top = all_rows
    root_errors = np.float32(standing.items[0] - standing.counts[0, standing.label[0]])
    standing.estimate[0] = leaf_estimate(standing, standing.items[0], root_errors)
    if standing.tested[0] < 0:
        return
    work, left = np.empty(2 * count, np.int32), 0
    rows, weights, top, found = _settle(
        standing, held, 0, rows, weights, top, nodes, known, sizes, items, counts, begins, branch
    )
    work[:found], left = nodes[:found], found
    while left:
        left -= 1
        node = work[left]
        alone = np.float32(standing.items[node] - standing.counts[node, standing.label[node]])
        as_leaf = leaf_estimate(standing, standing.items[node], alone)
        as_tree = np.float32(0.0)
        for b in range(standing.branches[node]):
            as_tree = np.float32(as_tree + standing.estimate[standing.first[node] + b])
        as_branch = np.float32(-1.0)
        if held.whole[node]:
            as_branch = _branch_whole(standing, held, node, rows, nodes, errors, extra)
        if as_branch < 0:
            rows, weights, as_branch = _branch_weighted(
                standing, held, node, rows, weights, top, nodes, errors, begin, end,
                known, sizes, items, counts, begins, branch,
            )  # fmt: skip
        if as_leaf <= np.float64(as_branch) + SLACK and as_leaf <= np.float64(as_tree) + SLACK:
            standing.tested[node], standing.first[node], standing.branches[node] = -1, -1, 0
            standing.cut[node], standing.estimate[node] = np.nan, as_leaf
        elif as_branch <= np.float64(as_tree) + SLACK:
            raised = standing.first[node] + held.largest[node]
            standing.tested[node], standing.cut[node] = standing.tested[raised], standing.cut[raised]
            standing.first[node], standing.branches[node] = standing.first[raised], standing.branches[raised]
            standing.label[node] = best_class(standing.counts[node], standing.label[raised])
            standing.estimate[node] = as_branch
            if standing.tested[node] < 0:
                continue
            rows, weights, top, found = _settle(
                standing, held, node, rows, weights, top, nodes, known, sizes, items, counts, begins, branch
            )
            if left + found > len(work):
                work = longer(work, 2 * (left + found))
            work[left : left + found] = nodes[:found]
            left += found
        else:
            standing.estimate[node] = as_tree
