"""Grow C4.5's tree from histograms: first with whole rows, then with fractional rows below tests with missing values.

The counts of the largest child are those of its parent less those of its siblings. The smaller children are processed
first, each in the next buffer, and the largest child then takes over what remains in the parent's buffer. A smaller
child has at most half of the rows, so log2(rows) buffers are enough at any depth.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from leafcover.arrays import Array, Codes, Floats, Rows
from leafcover.kernels import ALLOCATES, ENTRY, INNER, ZERO
from leafcover.kernels.c45_prune import extra_errors
from leafcover.kernels.histogram import (
    EPSILON,
    SLACK,
    TOTAL,
    GrowthSettings,
    Records,
    Scratch,
    choose,
    count_rows,
    fill,
    group_rows,
    list_filled,
    list_marked,
    log_table,
    partition_rows,
    resize_stack,
    score_category,
    score_number,
)

# Nodes, and what happens to them after growing: collapsing, pruning and ordering.


_PRUNE_SLACK = 0.1  # a leaf replaces a subtree unless the subtree has this many fewer estimated errors


TESTED, FIRST, BRANCHES, PARENT, LAST, FOLLOWING, KNOWN = range(7)


class Nodes(NamedTuple):
    """Nodes in order of creation: a parent before its children, siblings adjacent.

    The columns of ``links``: the attribute tested (-1 at a leaf), the first child, the number of branches, the parent,
    the last code on the first side of a cut, the next non-empty code, and the number of rows that reached the node by a
    known value (only for fractional rows).
    """

    links: Rows  # (capacity, 7)
    counts: Floats  # (capacity, classes) weight of each class
    share: Floats  # (capacity,) the share of unknown rows that follow the branch to the node


@njit(**(INNER | ALLOCATES))
def _allocate_nodes(capacity: int, classes: int) -> Nodes:
    return Nodes(np.zeros((capacity, 7), np.int64), np.zeros((capacity, classes)), np.zeros(capacity))


@njit(**(INNER | ALLOCATES))
def _reserve_nodes(nodes: Nodes, size: int, capacity: int) -> Nodes:
    """The same nodes with at least the given capacity."""
    if capacity <= nodes.share.size:
        return nodes
    new = _allocate_nodes(2 * capacity, nodes.counts.shape[1])
    for node in range(size):
        for j in range(7):
            new.links[node, j] = nodes.links[node, j]
        for k in range(nodes.counts.shape[1]):
            new.counts[node, k] = nodes.counts[node, k]
        new.share[node] = nodes.share[node]
    return new


@njit(**(INNER | ALLOCATES))
def nodes_with_root(target: Codes, classes: int) -> Nodes:
    """A tree that consists of a root."""
    nodes = _allocate_nodes(256, classes)
    nodes.links[0, TESTED] = nodes.links[0, FIRST] = nodes.links[0, PARENT] = -1
    for i in range(target.size):
        nodes.counts[0, target[i]] += 1.0
    return nodes


@njit(**INNER)
def node_weight(nodes: Nodes, node: int) -> float:
    """The weight of a node."""
    rows = 0.0
    for k in range(nodes.counts.shape[1]):
        rows += nodes.counts[node, k]
    return rows


@njit(**INNER)
def is_splittable(nodes: Nodes, node: int, min_records: float) -> bool:
    """Whether a node has two classes and enough rows for two branches."""
    rows, most = 0.0, 0.0
    for k in range(nodes.counts.shape[1]):
        rows += nodes.counts[node, k]
        most = max(most, nodes.counts[node, k])
    return most < rows and rows >= 2.0 * (min_records - SLACK)


@njit(**(INNER | ALLOCATES))
def add_children(
    nodes: Nodes, size: int, node: int, tested: int, of_one: Array, begin: int, rules: GrowthSettings, cut: Codes
) -> tuple[Nodes, int]:
    """Add the children of a node from the counts of the attribute it tests; return the nodes and their number.

    Rows with an unknown value go to every non-empty branch, weighted by its share of the known rows.
    """
    classes, number = rules.classes, rules.is_number[tested]
    branches = 2 if number else rules.sizes[tested] - 1
    nodes = _reserve_nodes(nodes, size, size + branches)
    links, counts = nodes.links, nodes.counts
    links[node, TESTED] = tested
    links[node, FIRST] = size
    links[node, BRANCHES] = branches
    if number:
        links[node, LAST] = cut[tested, 0]
        links[node, FOLLOWING] = cut[tested, 1]
    total = 0.0
    for code in range(1, rules.sizes[tested]):
        branch = size + code - 1
        if number:
            branch = size if code <= cut[tested, 0] else size + 1
        for k in range(classes):
            here = of_one[begin + code * classes + k]
            counts[branch, k] += here
            total += here
    for child in range(size, size + branches):
        links[child, TESTED] = links[child, FIRST] = -1
        links[child, PARENT] = node
        nodes.share[child] = node_weight(nodes, child) / total
        for k in range(classes):
            counts[child, k] += of_one[begin + k] * nodes.share[child]
    return nodes, size + branches


@njit(**INNER)
def _sum(values: Floats, start: int, count: int) -> float:
    total = 0.0
    for i in range(start, start + count):
        total += values[i]
    return total


@njit(**(INNER | ALLOCATES))
def _make_leaf(nodes: Nodes, node: int) -> None:
    nodes.links[node, TESTED] = nodes.links[node, FIRST] = -1
    nodes.links[node, BRANCHES] = 0


@njit(**(ENTRY | ALLOCATES))
def finalize_nodes(
    nodes: Nodes, size: int, prune: bool, confidence: float, coefficient: float
) -> tuple[Codes, Floats, Floats]:
    """Collapse and optionally prune bottom-up; return the class, errors and estimate of every node.

    A node that becomes a leaf loses its test; its former descendants stay unreachable in the arrays.
    """
    counts = nodes.counts
    label = np.zeros(size, np.int32)
    errors, estimate = np.zeros(size), np.full(size, np.nan)
    for node in range(size):
        best = 0
        for k in range(1, counts.shape[1]):
            if counts[node, k] > counts[node, best] + SLACK:  # the first of tied classes, allowing for rounding
                best = k
        rows = node_weight(nodes, node)
        label[node] = best if rows > 0.0 or node == 0 else label[nodes.links[node, PARENT]]
        errors[node] = rows - counts[node, best]
    for node in range(size - 1, -1, -1):
        first, branches = nodes.links[node, FIRST], nodes.links[node, BRANCHES]
        rows, as_leaf = node_weight(nodes, node), errors[node]
        if branches:
            errors[node] = _sum(errors, first, branches)
            if errors[node] >= as_leaf - EPSILON:
                _make_leaf(nodes, node)
                errors[node], branches = as_leaf, 0
        if not prune:
            continue
        estimate[node] = as_leaf + extra_errors(rows, as_leaf, confidence, coefficient) if rows > 0.0 else 0.0
        if branches:
            of_subtree = _sum(estimate, first, branches)
            if estimate[node] <= of_subtree + _PRUNE_SLACK:
                _make_leaf(nodes, node)
                errors[node] = as_leaf
            else:
                estimate[node] = of_subtree
    return label, errors, estimate


@njit(**(ENTRY | ALLOCATES))
def breadth_first(nodes: Nodes, size: int) -> Rows:
    """The nodes that can be reached from the root, level by level."""
    order = np.empty(size, np.int64)
    order[0] = 0
    done, found = 0, 1
    while done < found:
        node = order[done]
        done += 1
        for b in range(nodes.links[node, BRANCHES]):
            order[found] = nodes.links[node, FIRST] + b
            found += 1
    return order[:found]


_COUNT = 0  # count the node's rows
_COUNT_AND_SUBTRACT = 1  # count the rows and subtract them from the parent's counts, for the largest sibling
_REMAINDER = 2  # the remainder in the parent's buffer is this node's counts


@njit(**(INNER | ALLOCATES))
def _scratch(rows: int, rules: GrowthSettings) -> Scratch:
    classes, attributes, widest = rules.classes, rules.sizes.size, 1
    for a in range(attributes):
        widest = max(widest, rules.sizes[a])
    return Scratch(
        log_table(rows),
        np.empty(widest + 1, np.int32),
        np.zeros((widest + 63) // 64, np.uint64),
        np.zeros((3, classes), np.int64),
        np.zeros(widest * classes, np.int32),
        np.empty(attributes),
        np.empty(attributes),
        np.empty((attributes, 2), np.int32),
    )


@njit(**INNER)
def _count_few(
    records: Records, start: int, stop: int, attribute: int, size: int, classes: int, scratch: Scratch
) -> int:
    """Count a few rows and list the non-empty bins."""
    codes, target, few_counts, marks = records.codes, records.target, scratch.few_counts, scratch.marks
    for i in range(start, stop):
        code = np.int64(codes[i, attribute])
        few_counts[code * classes + target[i]] += 1
        marks[code >> 6] |= np.uint64(1) << np.uint64(code & 63)
    return list_marked(marks, (size + 63) // 64, scratch.bins)


@njit(**INNER)
def _clear(filled: int, classes: int, bins: Codes, few_counts: Codes) -> None:
    for i in range(filled):
        fill(few_counts, bins[i] * classes, (bins[i] + 1) * classes, 0)


@njit(**(INNER | ALLOCATES))
def _score_few_rows(records: Records, start: int, stop: int, rules: GrowthSettings, scratch: Scratch) -> None:
    """Score every attribute of a node with fewer rows than counters, touching only the counters in use."""
    few_counts, bins, classes, sizes = scratch.few_counts, scratch.bins, rules.classes, rules.sizes
    for i in range(rules.numbers.size):
        a = rules.numbers[i]
        filled = _count_few(records, start, stop, a, sizes[a], classes, scratch)
        score_number(few_counts, ZERO, filled, a, rules, scratch)
        _clear(filled, classes, bins, few_counts)
    for i in range(rules.categories.size):
        a = rules.categories[i]
        filled = _count_few(records, start, stop, a, sizes[a], classes, scratch)
        score_category(few_counts, ZERO, filled, a, rules, scratch)
        _clear(filled, classes, bins, few_counts)


@njit(**(INNER | ALLOCATES))
def _score_counts(counts: Codes, rules: GrowthSettings, scratch: Scratch) -> None:
    """Score every attribute of a node whose rows are counted."""
    classes, bins, sizes, offsets = rules.classes, scratch.bins, rules.sizes, rules.offsets
    for i in range(rules.numbers.size):
        a = rules.numbers[i]
        filled = list_filled(counts, offsets[a], sizes[a], classes, bins)
        score_number(counts, offsets[a], filled, a, rules, scratch)
    for i in range(rules.categories.size):
        a = rules.categories[i]
        filled = list_filled(counts, offsets[a], sizes[a], classes, bins)
        score_category(counts, offsets[a], filled, a, rules, scratch)


@njit(**INNER)
def _count_one(records: Records, start: int, stop: int, attribute: int, classes: int, few_counts: Array) -> None:
    for i in range(start, stop):
        few_counts[records.codes[i, attribute] * classes + records.target[i]] += 1


@njit(**INNER)
def _counts_of_node(
    records: Records, start: int, stop: int, how: int, is_large: bool, here: Codes, above: Codes, rules: GrowthSettings
) -> None:
    """Count a large node's rows, and subtract a smaller child's rows from the counts that its sibling takes over."""
    if is_large and how != _REMAINDER:
        fill(here, 0, here.size, 0)
        count_rows(records, start, stop, rules.tests, rules.offsets, rules.classes, 1, here)
    if how == _COUNT_AND_SUBTRACT and is_large:
        for i in range(here.size):
            above[i] -= here[i]
    elif how == _COUNT_AND_SUBTRACT:
        count_rows(records, start, stop, rules.tests, rules.offsets, rules.classes, -1, above)


@njit(**INNER)
def _partition_node(
    records: Records, nodes: Nodes, node: int, tested: int, begins: Rows, place: Rows, rules: GrowthSettings
) -> int:
    """Group the rows of each branch, starting at ``begins``; return the largest branch."""
    first, branches = nodes.links[node, FIRST], nodes.links[node, BRANCHES]
    largest = 0
    for b in range(branches):
        begins[b + 1] = begins[b] + np.int64(node_weight(nodes, first + b))
        if begins[b + 1] - begins[b] > begins[largest + 1] - begins[largest]:
            largest = b
    if rules.is_number[tested]:
        fill(place, 0, rules.sizes[tested], 0)
        fill(place, 0, nodes.links[node, LAST] + 1, 1)
        partition_rows(records, begins[0], begins[2], tested, place)
    else:
        group_rows(records, tested, branches, begins, place)
    return largest


@njit(**(ENTRY | ALLOCATES))
def grow_counts(records: Records, rules: GrowthSettings) -> tuple[Nodes, int, Rows, Floats]:
    """The tree before pruning: nodes, their number, the unfinished nodes, and the table of n·log2 n.

    A node whose test has rows with unknown values is left unfinished and returned as (node, start, stop).
    """
    rows, classes, attributes = records.target.size, rules.classes, rules.sizes.size
    places = rules.offsets[attributes]
    large = max(places // max(attributes, 1), 64)  # from this size on, counting costs more than scanning the counts
    scratch = _scratch(rows, rules)
    widest = scratch.bins.size
    slots = 2
    while (large << (slots - 2)) < rows:
        slots += 1
    counts = np.zeros((slots, places), np.int32)
    begins, place = np.zeros(widest + 1, np.int64), np.zeros(widest + 1, np.int64)
    nodes, size = nodes_with_root(records.target, classes), ZERO + 1
    unfinished, left_over = np.empty((16, 3), np.int64), 0
    stack, waiting = np.empty((64, 5), np.int64), 0  # node, start, stop, slot, how to count
    if is_splittable(nodes, 0, rules.min_records):
        _push(stack, 0, 0, 0, rows, 0, _COUNT)
        waiting = 1
    while waiting:
        waiting -= 1
        node, start, stop = stack[waiting, 0], stack[waiting, 1], stack[waiting, 2]
        slot, how = stack[waiting, 3], stack[waiting, 4]
        is_large = stop - start >= large
        here, above = counts[slot], counts[max(slot - 1, 0)]
        _counts_of_node(records, start, stop, how, is_large, here, above, rules)
        for k in range(classes):
            scratch.rows[TOTAL, k] = np.int64(nodes.counts[node, k])
        if is_large:
            _score_counts(here, rules, scratch)
        else:
            _score_few_rows(records, start, stop, rules, scratch)
        tested = choose(rules, scratch)
        if tested < 0:
            continue
        of_one, begin = scratch.few_counts, ZERO
        if is_large:
            of_one, begin = here, rules.offsets[tested]
        else:
            _count_one(records, start, stop, tested, classes, of_one)
        unknown = 0
        for k in range(classes):
            unknown += of_one[begin + k]
        if unknown:
            unfinished = resize_stack(unfinished, left_over, left_over + 1)
            unfinished[left_over, 0] = node
            unfinished[left_over, 1] = start
            unfinished[left_over, 2] = stop
            left_over += 1
        else:
            nodes, size = add_children(nodes, size, node, tested, of_one, begin, rules, scratch.cut)
        if not is_large:
            fill(of_one, 0, rules.sizes[tested] * classes, 0)
        if unknown:
            continue
        first, branches = nodes.links[node, FIRST], nodes.links[node, BRANCHES]
        begins[0] = start
        largest = _partition_node(records, nodes, node, tested, begins, place, rules)
        keeps = begins[largest + 1] - begins[largest] >= large
        keeps = keeps and is_splittable(nodes, first + largest, rules.min_records)
        stack = resize_stack(stack, waiting, waiting + branches)
        if keeps:
            _push(stack, waiting, first + largest, begins[largest], begins[largest + 1], slot, _REMAINDER)
            waiting += 1
        for b in range(branches):
            if keeps and b == largest:
                continue
            if is_splittable(nodes, first + b, rules.min_records):
                method = _COUNT_AND_SUBTRACT if keeps else _COUNT
                _push(stack, waiting, first + b, begins[b], begins[b + 1], slot + keeps, method)
                waiting += 1
            elif keeps:
                count_rows(records, begins[b], begins[b + 1], rules.tests, rules.offsets, classes, -1, here)
    return nodes, size, unfinished[:left_over], scratch.table


@njit(**(INNER | ALLOCATES))
def _push(stack: Rows, at: int, node: int, start: int, stop: int, slot: int, how: int) -> None:
    stack[at, 0] = node
    stack[at, 1] = start
    stack[at, 2] = stop
    stack[at, 3] = slot
    stack[at, 4] = how


# Fractional rows: the part of a tree below a test with missing values.
#
# A row with an unknown value enters every branch with a share of its weight. The rows of a node remain one range: the
# unknown rows are placed before a branch while it is grown, and are then moved behind it, before the next branch.


@njit(**(INNER | ALLOCATES))
def _weighted_scratch(table: Floats, rules: GrowthSettings) -> Scratch:
    classes, attributes, widest = rules.classes, rules.sizes.size, 1
    for a in range(attributes):
        widest = max(widest, rules.sizes[a])
    return Scratch(
        table,
        np.empty(widest + 1, np.int32),
        np.zeros((widest + 63) // 64, np.uint64),
        np.zeros((3, classes)),
        np.zeros(widest * classes),
        np.empty(attributes),
        np.empty(attributes),
        np.empty((attributes, 2), np.int32),
    )


@njit(**INNER)
def _count_weights(
    records: Records, start: int, stop: int, attribute: int, rules: GrowthSettings, scratch: Scratch
) -> int:
    """Sum the weights of each bin and class of an attribute; return the number of non-empty bins."""
    codes, target, weight = records.codes, records.target, records.carried
    few_counts, marks, classes = scratch.few_counts, scratch.marks, rules.classes
    for i in range(start, stop):
        code = np.int64(codes[i, attribute])
        few_counts[code * classes + target[i]] += weight[i]
        marks[code >> 6] |= np.uint64(1) << np.uint64(code & 63)
    return list_marked(marks, (rules.sizes[attribute] + 63) // 64, scratch.bins)


@njit(**INNER)
def _clear_weights(filled: int, classes: int, scratch: Scratch) -> None:
    for i in range(filled):
        fill(scratch.few_counts, scratch.bins[i] * classes, (scratch.bins[i] + 1) * classes, 0.0)


@njit(**(INNER | ALLOCATES))
def _choose_weighted(
    records: Records, start: int, stop: int, counts: Floats, node: int, rules: GrowthSettings, scratch: Scratch
) -> int:
    for k in range(rules.classes):
        scratch.rows[TOTAL, k] = counts[node, k]
    for i in range(rules.numbers.size):
        a = rules.numbers[i]
        filled = _count_weights(records, start, stop, a, rules, scratch)
        score_number(scratch.few_counts, ZERO, filled, a, rules, scratch)
        _clear_weights(filled, rules.classes, scratch)
    for i in range(rules.categories.size):
        a = rules.categories[i]
        filled = _count_weights(records, start, stop, a, rules, scratch)
        score_category(scratch.few_counts, ZERO, filled, a, rules, scratch)
        _clear_weights(filled, rules.classes, scratch)
    return choose(rules, scratch)


@njit(**INNER)
def _partition_weighted(
    records: Records, start: int, stop: int, nodes: Nodes, node: int, begins: Rows, place: Rows, rules: GrowthSettings
) -> int:
    """Move rows with unknown values first, then sort the others by branch; return the number of unknown rows."""
    links = nodes.links
    tested, first, last = links[node, TESTED], links[node, FIRST], links[node, LAST]
    number = rules.is_number[tested]
    unknown = 0
    for i in range(start, stop):
        code = np.int64(records.codes[i, tested])
        if code == 0:
            unknown += 1
        elif number:
            links[first + (code > last), KNOWN] += 1
        else:
            links[first + code - 1, KNOWN] += 1
    fill(place, 0, rules.sizes[tested], 0)
    place[0] = 1
    partition_rows(records, start, stop, tested, place)
    if number:
        fill(place, 0, last + 1, 1)
        partition_rows(records, start + unknown, stop, tested, place)
    else:
        begins[0] = start + unknown
        for b in range(links[node, BRANCHES]):
            begins[b + 1] = begins[b] + links[first + b, KNOWN]
        group_rows(records, tested, links[node, BRANCHES], begins, place)
    return unknown


@njit(**INNER)
def _change_weights(records: Records, start: int, rows: int, attribute: int, factor: float) -> None:
    """Multiply the weight of the rows whose value is unknown."""
    for i in range(start, start + rows):
        if records.codes[i, attribute] == 0:
            records.carried[i] *= factor


@njit(**INNER)
def _move_unknown_behind(records: Records, start: int, known: int, unknown: int, attribute: int, place: Rows) -> int:
    """Move the unknown rows behind a finished branch; return their new start."""
    if unknown and known:
        fill(place, 1, place.size, 1)
        place[0] = 0
        partition_rows(records, start, start + known + unknown, attribute, place)
    return start + known


@njit(**(ENTRY | ALLOCATES))
def grow_weighted(
    records: Records, start: int, stop: int, node: int, nodes: Nodes, size: int, rules: GrowthSettings, table: Floats
) -> tuple[Nodes, int]:
    """Grow the tree below a node with the rows from start to stop; return the nodes and their number."""
    scratch = _weighted_scratch(table, rules)
    widest = scratch.bins.size
    begins, place = np.zeros(widest + 1, np.int64), np.zeros(widest, np.int64)
    # node, start (of the unknown rows and the branch after them), stop, current branch (-1: none yet), unknown rows
    path = np.empty((64, 5), np.int64)
    depth = 0
    path[0, 0], path[0, 1], path[0, 2], path[0, 3] = node, start, stop, -1
    while depth >= 0:
        node, start, stop = path[depth, 0], path[depth, 1], path[depth, 2]
        branch, unknown = path[depth, 3], path[depth, 4]
        if branch < 0:
            tested = _choose_weighted(records, start, stop, nodes.counts, node, rules, scratch)
            if tested < 0:
                depth -= 1
                continue
            filled = _count_weights(records, start, stop, tested, rules, scratch)
            nodes, size = add_children(nodes, size, node, tested, scratch.few_counts, ZERO, rules, scratch.cut)
            _clear_weights(filled, rules.classes, scratch)
            unknown = _partition_weighted(records, start, stop, nodes, node, begins, place, rules)
            branch = 0
        else:
            tested = nodes.links[node, TESTED]
            child = nodes.links[node, FIRST] + branch
            known = nodes.links[child, KNOWN]
            _change_weights(records, start, known + unknown, tested, 1.0 / nodes.share[child])
            start = _move_unknown_behind(records, start, known, unknown, tested, place)
            branch += 1
        first, branches = nodes.links[node, FIRST], nodes.links[node, BRANCHES]
        while branch < branches and not is_splittable(nodes, first + branch, rules.min_records):
            start = _move_unknown_behind(records, start, nodes.links[first + branch, KNOWN], unknown, tested, place)
            branch += 1
        if branch == branches:
            depth -= 1
            continue
        rows = nodes.links[first + branch, KNOWN] + unknown
        _change_weights(records, start, rows, tested, nodes.share[first + branch])
        path[depth, 1], path[depth, 3], path[depth, 4] = start, branch, unknown
        depth += 1
        path = resize_stack(path, depth, depth + 1)
        path[depth, 0], path[depth, 1], path[depth, 2] = first + branch, start, start + rows
        path[depth, 3] = -1
    return nodes, size
