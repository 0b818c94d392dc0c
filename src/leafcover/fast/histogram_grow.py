"""The kernel that grows C4.5's tree from histograms while every row is whole.

Counts of the largest child are the parent's less its siblings'. The smaller children are finished first, each
in a buffer one further, and the largest then takes over what is left in the parent's; since a smaller child
has at most half the rows, log2(rows) buffers are enough at any depth.
"""

import numpy as np
from numba import njit

from leafcover.fast.arrays import Array, Codes, Floats, Rows
from leafcover.fast.histogram import (
    Records,
    count_rows,
    fill,
    inner,
    list_filled,
    list_marked,
    log_table,
    longer,
    move_apart,
    move_into_groups,
)
from leafcover.fast.histogram_gain import TOTAL, Rules, Scratch, choose, look_at_category, look_at_number
from leafcover.fast.histogram_nodes import (
    BRANCHES,
    FIRST,
    LAST,
    Nodes,
    add_children,
    nodes_with_root,
    rows_of,
    splittable,
)

_FRESH = 0  # count the node's rows
_SMALLER = 1  # count the rows and take them from the counts of the parent, which wait for the sibling
_REST = 2  # what is left in the parent's counts is this node's


@inner
def _scratch(rows: int, rules: Rules) -> Scratch:
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


@inner
def _count_few(
    records: Records, start: int, stop: int, attribute: int, size: int, classes: int, scratch: Scratch
) -> int:
    """Count a few rows and list the bins that hold them."""
    codes, target, few, marks = records.codes, records.target, scratch.few, scratch.marks
    for i in range(start, stop):
        code = np.int64(codes[i, attribute])
        few[code * classes + target[i]] += 1
        marks[code >> 6] |= np.uint64(1) << np.uint64(code & 63)
    return list_marked(marks, (size + 63) // 64, scratch.bins)


@inner
def _clear(filled: int, classes: int, bins: Codes, few: Codes) -> None:
    for i in range(filled):
        fill(few, bins[i] * classes, (bins[i] + 1) * classes, 0)


@inner
def _look_at_few(records: Records, start: int, stop: int, rules: Rules, scratch: Scratch) -> None:
    """Judge every attribute of a node with fewer rows than places to count in: touch only what is used."""
    few, bins, classes, sizes = scratch.few, scratch.bins, rules.classes, rules.sizes
    for i in range(rules.numbers.size):
        a = rules.numbers[i]
        filled = _count_few(records, start, stop, a, sizes[a], classes, scratch)
        look_at_number(few, 0, filled, a, rules, scratch)
        _clear(filled, classes, bins, few)
    for i in range(rules.categories.size):
        a = rules.categories[i]
        filled = _count_few(records, start, stop, a, sizes[a], classes, scratch)
        look_at_category(few, 0, filled, a, rules, scratch)
        _clear(filled, classes, bins, few)


@inner
def _look_at_counts(counts: Codes, rules: Rules, scratch: Scratch) -> None:
    """Judge every attribute of a node whose rows are counted."""
    classes, bins, sizes, offsets = rules.classes, scratch.bins, rules.sizes, rules.offsets
    for i in range(rules.numbers.size):
        a = rules.numbers[i]
        filled = list_filled(counts, offsets[a], sizes[a], classes, bins)
        look_at_number(counts, offsets[a], filled, a, rules, scratch)
    for i in range(rules.categories.size):
        a = rules.categories[i]
        filled = list_filled(counts, offsets[a], sizes[a], classes, bins)
        look_at_category(counts, offsets[a], filled, a, rules, scratch)


@inner
def _count_one(records: Records, start: int, stop: int, attribute: int, classes: int, few: Array) -> None:
    for i in range(start, stop):
        few[records.codes[i, attribute] * classes + records.target[i]] += 1


@inner
def _counts_of_node(
    records: Records, start: int, stop: int, how: int, is_large: bool, here: Codes, above: Codes, rules: Rules
) -> None:
    """Count a large node's rows, and take a smaller node's rows from the counts its sibling waits for."""
    if is_large and how != _REST:
        fill(here, 0, here.size, 0)
        count_rows(records, start, stop, rules.tests, rules.offsets, rules.classes, 1, here)
    if how == _SMALLER and is_large:
        for i in range(here.size):
            above[i] -= here[i]
    elif how == _SMALLER:
        count_rows(records, start, stop, rules.tests, rules.offsets, rules.classes, -1, above)


@inner
def _move(records: Records, nodes: Nodes, node: int, tested: int, begins: Rows, place: Rows, rules: Rules) -> int:
    """Put the rows of each branch together, starting at begins; return the largest branch."""
    first, branches = nodes.links[node, FIRST], nodes.links[node, BRANCHES]
    largest = 0
    for b in range(branches):
        begins[b + 1] = begins[b] + np.int64(rows_of(nodes, first + b))
        if begins[b + 1] - begins[b] > begins[largest + 1] - begins[largest]:
            largest = b
    if rules.is_number[tested]:
        fill(place, 0, rules.sizes[tested], 0)
        fill(place, 0, nodes.links[node, LAST] + 1, 1)
        move_apart(records, begins[0], begins[2], tested, place)
    else:
        move_into_groups(records, tested, branches, begins, place)
    return largest


@njit(cache=True)
def grow_counts(records: Records, rules: Rules) -> tuple[Nodes, int, Rows, Floats]:
    """The tree before pruning: nodes, children after their parent and side by side, and how many.

    A node is left as it is when its test has rows of unknown value; (node, start, stop) of such nodes follow,
    and the table of n·log2 n.
    """
    rows, classes, attributes = records.target.size, rules.classes, rules.sizes.size
    places = rules.offsets[attributes]
    large = max(places // max(attributes, 1), 64)  # from here on counting costs more than looking through the counts
    scratch = _scratch(rows, rules)
    widest = scratch.bins.size
    slots = 2
    while (large << (slots - 2)) < rows:
        slots += 1
    counts = np.zeros((slots, places), np.int32)
    begins, place = np.zeros(widest + 1, np.int64), np.zeros(widest + 1, np.int64)
    nodes, size = nodes_with_root(records.target, classes), 1
    unfinished, left_over = np.empty((16, 3), np.int64), 0
    stack, waiting = np.empty((64, 5), np.int64), 0  # node, start, stop, slot, how to count
    if splittable(nodes, 0, rules.min_records):
        _push(stack, 0, 0, 0, rows, 0, _FRESH)
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
            _look_at_counts(here, rules, scratch)
        else:
            _look_at_few(records, start, stop, rules, scratch)
        tested = choose(rules, scratch)
        if tested < 0:
            continue
        of_one, begin = scratch.few, np.int64(0)
        if is_large:
            of_one, begin = here, rules.offsets[tested]
        else:
            _count_one(records, start, stop, tested, classes, of_one)
        unknown = 0
        for k in range(classes):
            unknown += of_one[begin + k]
        if unknown:
            unfinished = longer(unfinished, left_over, left_over + 1)
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
        largest = _move(records, nodes, node, tested, begins, place, rules)
        keeps = begins[largest + 1] - begins[largest] >= large
        keeps = keeps and splittable(nodes, first + largest, rules.min_records)
        stack = longer(stack, waiting, waiting + branches)
        if keeps:
            _push(stack, waiting, first + largest, begins[largest], begins[largest + 1], slot, _REST)
            waiting += 1
        for b in range(branches):
            if keeps and b == largest:
                continue
            if splittable(nodes, first + b, rules.min_records):
                method = _SMALLER if keeps else _FRESH
                _push(stack, waiting, first + b, begins[b], begins[b + 1], slot + keeps, method)
                waiting += 1
            elif keeps:
                count_rows(records, begins[b], begins[b + 1], rules.tests, rules.offsets, classes, -1, here)
    return nodes, size, unfinished[:left_over], scratch.table


@inner
def _push(stack: Rows, at: int, node: int, start: int, stop: int, slot: int, how: int) -> None:
    stack[at, 0] = node
    stack[at, 1] = start
    stack[at, 2] = stop
    stack[at, 3] = slot
    stack[at, 4] = how
