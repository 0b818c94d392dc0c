"""The kernel that grows C4.5's tree from histograms while every row is whole.

Counts of the largest child are the parent's less its siblings'. The smaller children are finished first, each
in a buffer one further, and the largest then takes over what is left in the parent's; since a smaller child
has at most half the rows, log2(rows) buffers are enough at any depth.
"""

import numpy as np
from numba import njit

from leafcover.fast.arrays import Array, Codes
from leafcover.fast.histogram import (
    Records,
    count_rows,
    list_filled,
    list_marked,
    log_table,
    move_apart,
    move_into_groups,
)
from leafcover.fast.histogram_gain import Rules, Scratch, choose, look_at
from leafcover.fast.histogram_nodes import Nodes, add_children, nodes_with_root
from leafcover.fast.histogram_weigh import grow_weighted

_FRESH = 0  # count the node's rows
_SMALLER = 1  # count the rows and take them from the counts of the parent, which wait for the sibling
_REST = 2  # what is left in the parent's counts is this node's


@njit(cache=True)
def _look_at_few(records: Records, start: int, stop: int, rules: Rules, scratch: Scratch) -> None:
    """Judge every attribute of a node with fewer rows than places to count in: touch only what is used."""
    codes, target = records.codes, records.target
    classes, few = rules.classes, scratch.few
    for a in range(rules.sizes.size):
        marks = scratch.marks[: (rules.sizes[a] + 63) // 64]
        for i in range(start, stop):
            code = np.int64(codes[i, a])
            few[code * classes + target[i]] += 1
            marks[code >> 6] |= np.uint64(1) << np.uint64(code & 63)
        filled = list_marked(marks, scratch.bins)
        look_at(few, 0, a, filled, rules, scratch)
        for i in range(filled):
            begin = scratch.bins[i] * classes
            few[begin : begin + classes] = 0


@njit(cache=True)
def _look_at_counts(counts: Codes, rules: Rules, scratch: Scratch) -> None:
    """Judge every attribute of a node whose rows are counted."""
    for a in range(rules.sizes.size):
        filled = list_filled(counts, rules.offsets[a], rules.sizes[a], rules.classes, scratch.bins)
        look_at(counts, rules.offsets[a], a, filled, rules, scratch)


@njit(cache=True)
def _count_one(records: Records, start: int, stop: int, attribute: int, classes: int, few: Array) -> None:
    for i in range(start, stop):
        few[records.codes[i, attribute] * classes + records.target[i]] += 1


@njit(cache=True)
def grow_counts(records: Records, rules: Rules) -> tuple[Nodes, int]:
    """The tree before pruning: nodes, children after their parent and side by side, and how many."""
    rows, classes, attributes = records.target.size, rules.classes, rules.sizes.size
    places = rules.offsets[attributes]
    large = max(places // attributes, 64)  # from here on counting costs more than looking through the counts
    widest = rules.sizes.max()
    slots = 2
    while (large << (slots - 2)) < rows:
        slots += 1
    counts = np.zeros((slots, places), np.int32)
    scratch = Scratch(
        log_table(rows),
        np.empty(widest, np.int32),
        np.zeros((widest + 63) // 64, np.uint64),
        np.zeros(classes, np.int64),
        np.zeros(classes, np.int64),
        np.zeros(classes, np.int64),
        np.zeros(widest * classes, np.int32),
        np.empty(attributes),
        np.empty(attributes),
        np.empty(attributes, np.int32),
        np.empty(attributes, np.int32),
    )
    goes_first = np.zeros(widest, np.bool_)
    begins, place = np.zeros(widest + 1, np.int64), np.zeros(widest, np.int64)
    nodes = nodes_with_root(records.target, classes)
    size = 1
    stack = np.empty((64, 5), np.int64)  # node, start, stop, slot, how to count
    waiting = 0
    if _splittable(nodes, 0, rules):
        stack[0] = 0, 0, rows, 0, _FRESH
        waiting = 1
    while waiting:
        waiting -= 1
        node, start, stop, slot, how = stack[waiting]
        is_large = stop - start >= large
        for k in range(classes):
            scratch.totals[k] = np.int64(nodes.counts[node, k])
        if is_large:
            here = counts[slot]
            if how != _REST:
                here[:] = 0
                count_rows(records, start, stop, rules.tests, rules.offsets, classes, 1, here)
            if how == _SMALLER:
                counts[slot - 1] -= here
            _look_at_counts(here, rules, scratch)
        else:
            if how == _SMALLER:
                count_rows(records, start, stop, rules.tests, rules.offsets, classes, -1, counts[slot - 1])
            _look_at_few(records, start, stop, rules, scratch)
        tested = choose(rules, scratch)
        if tested < 0:
            continue
        of_one = scratch.few
        if is_large:
            of_one = counts[slot, rules.offsets[tested] : rules.offsets[tested + 1]]
        else:
            _count_one(records, start, stop, tested, classes, of_one)
        if of_one[:classes].sum() > 0:  # the value is missing somewhere: from here on rows are split
            if not is_large:
                of_one[: rules.sizes[tested] * classes] = 0
            nodes, size = grow_weighted(records, start, stop, node, nodes, size, rules, scratch.table)
            continue
        nodes, size = add_children(nodes, size, node, tested, of_one, rules, scratch)
        if not is_large:
            of_one[: rules.sizes[tested] * classes] = 0
        first, branches = nodes.first[node], nodes.branches[node]
        begins[0] = start
        for b in range(branches):
            begins[b + 1] = begins[b] + np.int64(nodes.counts[first + b].sum())
        if rules.is_number[tested]:
            goes_first[: scratch.last[tested] + 1] = True
            move_apart(records, start, stop, tested, goes_first)
            goes_first[: scratch.last[tested] + 1] = False
        else:
            move_into_groups(records, tested, begins[: branches + 1], place)
        largest = 0
        for b in range(1, branches):
            if begins[b + 1] - begins[b] > begins[largest + 1] - begins[largest]:
                largest = b
        keeps = begins[largest + 1] - begins[largest] >= large and _splittable(nodes, first + largest, rules)
        if waiting + branches > len(stack):
            longer = np.empty((2 * (waiting + branches), 5), np.int64)
            longer[:waiting] = stack[:waiting]
            stack = longer
        if keeps:
            stack[waiting] = first + largest, begins[largest], begins[largest + 1], slot, _REST
            waiting += 1
        for b in range(branches):
            if keeps and b == largest:
                continue
            if _splittable(nodes, first + b, rules):
                stack[waiting] = first + b, begins[b], begins[b + 1], slot + keeps, _SMALLER if keeps else _FRESH
                waiting += 1
            elif keeps:
                count_rows(
                    records, begins[b], begins[b + 1], rules.tests, rules.offsets, classes, -1, counts[slot]
                )
    return nodes, size


@njit(cache=True)
def _splittable(nodes: Nodes, node: int, rules: Rules) -> bool:
    """Whether a node has two classes and rows for two branches."""
    rows, most = 0.0, 0.0
    for k in range(rules.classes):
        rows += nodes.counts[node, k]
        most = max(most, nodes.counts[node, k])
    return most < rows and rows >= 2.0 * rules.min_records
