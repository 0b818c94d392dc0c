"""Grow C4.5's tree: rows wait in two stacks, and every numeric order is carried from parent to child.

A node's rows are one segment of a stack, once in row order and once more in the order of each number. Its
children are written on top of the other stack, so that one stable pass per order replaces all sorting, and
what a parent held is free again while its children are at work.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from leafcover.fast.arrays import Bools, Codes, Floats, Rows, Singles
from leafcover.fast.dealing import (
    branch_by_level,
    branch_by_number,
    deal,
    deal_weights,
    taller,
    weigh_branches,
    wider,
)
from leafcover.fast.information import whole_terms
from leafcover.fast.score import (
    EPSILON,
    NO_GAIN,
    choose,
    score_category,
    score_category_whole,
    score_number,
    score_number_whole,
)

TESTED, FIRST, BRANCHES, PARENT, LABEL, WHOLE = range(6)  # columns of a node's whole numbers
CUT, ITEMS, COUNTS = range(3)  # columns of its 32-bit figures; the classes' counts from COUNTS on


class Inputs(NamedTuple):
    """The training rows as kernels see them."""

    labels: Codes  # (rows,)
    classes: int
    slot: Codes  # (attributes,) which row of numbers or of codes holds the attribute
    levels: Codes  # (attributes,) how many levels; 0 for a number
    numbers: Singles  # (numbers, rows) nan when missing
    orders: Codes  # (numbers, rows) rows by value, missing last
    codes: Codes  # (categories, rows) -1 when missing
    in_average: Bools  # (attributes,) whether its gain counts for the average
    min_records: float


class Work(NamedTuple):
    """Room that every node uses anew."""

    terms: Floats  # (rows + 1,) n log2 n
    weight: Singles  # (rows,) of the node's rows
    branch_of: Codes  # (rows,)
    gains: Singles  # (attributes,)
    infos: Singles
    places: Codes  # (attributes,) behind which place of its order a number is cut
    knowns: Rows  # (attributes,) rows of the node with a value
    used: Bools  # (attributes,) tested above
    try_gain: Singles  # (rows,) of each cut
    try_low: Singles
    try_place: Codes
    level_counts: Singles  # (levels + 1, classes)
    level_parts: Singles
    totals: Rows  # (classes,)
    shares: Singles  # (branches,)
    sizes: Rows
    items: Singles
    counts: Singles  # (branches, classes)
    begins: Rows
    ends: Rows


@njit(cache=True)
def _work(inputs: Inputs) -> Work:
    rows, attributes, classes = len(inputs.labels), len(inputs.slot), inputs.classes
    most = 2
    for a in range(attributes):
        most = max(most, inputs.levels[a])
    return Work(
        whole_terms(rows), np.ones(rows, np.float32), np.empty(rows, np.int32),
        np.empty(attributes, np.float32), np.empty(attributes, np.float32), np.empty(attributes, np.int32),
        np.empty(attributes, np.int64), np.empty(attributes, np.bool_),
        np.empty(rows, np.float32), np.empty(rows, np.float32), np.empty(rows, np.int32),
        np.empty((most + 1, classes), np.float32), np.empty(most + 1, np.float32), np.empty(classes, np.int64),
        np.empty(most, np.float32), np.empty(most, np.int64), np.empty(most, np.float32),
        np.empty((most, classes), np.float32), np.empty(most, np.int64), np.empty(most, np.int64),
    )  # fmt: skip


@njit(cache=True)
def _known_end(order: Codes, values: Singles) -> int:
    """Where the missing values begin, which stand last."""
    low, high = 0, len(order)
    while low < high:
        middle = (low + high) // 2
        if np.isnan(values[order[middle]]):
            high = middle
        else:
            low = middle + 1
    return low


@njit(cache=True)
def _largest_below(order: Codes, values: Singles, bound: np.float32) -> np.float32:
    """The largest value of the whole training data that is at most ``bound``."""
    low, high = 0, _known_end(order, values)
    while low < high:
        middle = (low + high) // 2
        if values[order[middle]] <= bound:
            low = middle + 1
        else:
            high = middle
    return values[order[low - 1]]


@njit(cache=True)
def _cut_behind(inputs: Inputs, number: int, order: Codes, place: int, known: int) -> np.float32:
    """The cut behind a place in a node's order: a value of the training data."""
    values = inputs.numbers[number]
    low, high = values[order[place]], values[order[place + 1]]
    middle = np.float32(np.float32(low + high) / np.float32(2.0))
    cut = _largest_below(inputs.orders[number], values, middle)
    # Rounded to 32 bits the middle can be the upper value itself; the last one would leave nobody above.
    return low if cut >= values[order[known - 1]] else cut


@njit(cache=True)
def _count_levels(codes: Codes, rows: Codes, labels: Codes, weight: Singles, levels: int, counts: Singles) -> None:
    """Weights by level and class, missing ones in row 0."""
    for v in range(levels + 1):
        for c in range(counts.shape[1]):
            counts[v, c] = 0.0
    for row in rows:
        counts[codes[row] + 1, labels[row]] += weight[row]


@njit(cache=True)
def _score_all(
    inputs: Inputs, work: Work, figures: Singles, whole: bool, rows: Codes, orders: Codes, start: int, stop: int
) -> None:
    """Gain and split information of every attribute at one node."""
    items, least = figures[ITEMS], inputs.min_records
    for a in range(len(inputs.slot)):
        work.gains[a], work.infos[a], work.places[a] = NO_GAIN, 0.0, -1
        slot, levels = inputs.slot[a], inputs.levels[a]
        for c in range(inputs.classes):
            work.totals[c] = int(figures[COUNTS + c])
        if levels > 0:
            if work.used[a]:
                continue
            counts = work.level_counts[: levels + 1]
            _count_levels(inputs.codes[slot], rows, inputs.labels, work.weight, levels, counts)
            if whole:
                gain, info = score_category_whole(counts, items, least, work.level_parts, work.totals, work.terms)
            else:
                gain, info = score_category(counts, items, least, work.level_parts)
            work.gains[a], work.infos[a] = gain, info
            continue
        order, values = orders[slot, start:stop], inputs.numbers[slot]
        known = _known_end(order, values)
        if whole:
            for i in range(known, len(order)):
                work.totals[inputs.labels[order[i]]] -= 1
            gain, info, place = score_number_whole(
                order, known, values, inputs.labels, work.totals, work.terms, least, work.try_gain, work.try_place
            )
        else:
            gain, info, place = score_number(
                order, known, values, inputs.labels, inputs.classes, work.weight, items, least,
                work.try_gain, work.try_low, work.try_place,
            )  # fmt: skip
        work.gains[a], work.infos[a], work.places[a], work.knowns[a] = gain, info, place, known


@njit(cache=True)
def _write_child(whole: Codes, figures: Singles, work: Work, b: int, parent: int, inherited: int) -> None:
    """A child as a leaf; an empty one answers its parent's class."""
    classes = work.counts.shape[1]
    whole[TESTED], whole[FIRST], whole[BRANCHES], whole[PARENT], whole[LABEL] = -1, -1, 0, parent, inherited
    figures[CUT], figures[ITEMS] = np.nan, work.items[b]
    best = 0
    for c in range(classes):
        figures[COUNTS + c] = work.counts[b, c]
        if work.counts[b, c] > work.counts[b, best]:
            best = c
    if work.sizes[b] > 0:
        whole[LABEL] = best


@njit(cache=True)
def _is_settled(whole: Codes, figures: Singles, min_records: float) -> bool:
    """Nothing to divide: one class only, or too few rows for two branches."""
    return figures[COUNTS + whole[LABEL]] == figures[ITEMS] or figures[ITEMS] < 2 * min_records


@njit(cache=True)
def grow_nodes(inputs: Inputs) -> tuple[Codes, Singles]:
    """All nodes before collapse and pruning, children side by side and after their parent.

    Returns whole numbers (nodes, 6) and 32-bit figures (nodes, 2 + classes); see TESTED and CUT for columns.
    """
    work = _work(inputs)
    rows_all, labels, numbers = len(inputs.labels), inputs.labels, len(inputs.numbers)
    stack_rows, stack_weight = np.empty((2, rows_all), np.int32), np.ones((2, rows_all), np.float32)
    orders_even, orders_odd = inputs.orders.copy(), np.empty((numbers, rows_all), np.int32)
    for i in range(rows_all):
        stack_rows[0, i] = i
        work.branch_of[i] = 0
    top = np.zeros(2, np.int64)
    pending = np.zeros((64, 4), np.int64)  # node, stack, start, stop
    pending[0, 3] = rows_all
    whole, figures = np.empty((64, 6), np.int32), np.empty((64, COUNTS + inputs.classes), np.float32)
    root = int(top[0])  # 0, but no literal: for that numba would compile a second version
    weigh_branches(
        stack_rows[0], work.weight, labels, work.branch_of, root + 1, work.shares, work.sizes, work.items, work.counts
    )
    _write_child(whole[0], figures[0], work, root, root - 1, root)
    whole[0, WHOLE] = 1
    nodes, waiting = 1, 0 if _is_settled(whole[0], figures[0], inputs.min_records) else 1
    while waiting:
        waiting -= 1
        node, side, start, stop = pending[waiting, 0], pending[waiting, 1], pending[waiting, 2], pending[waiting, 3]
        top[side] = start
        rows, is_whole = stack_rows[side, start:stop], whole[node, WHOLE] == 1
        if not is_whole:  # a row of a whole node has never been in another: its weight still is one
            for i in range(stop - start):
                work.weight[rows[i]] = stack_weight[side, start + i]
        for a in range(len(work.used)):
            work.used[a] = False
        above = whole[node, PARENT]
        while above >= 0:
            work.used[whole[above, TESTED]] = True
            above = whole[above, PARENT]
        orders = orders_odd if side else orders_even
        _score_all(inputs, work, figures[node], is_whole, rows, orders, start, stop)
        best = choose(work.gains, work.infos, inputs.in_average)
        if best < 0:
            continue
        forks, slot = max(2, inputs.levels[best]), inputs.slot[best]
        if inputs.levels[best] > 0:
            branch_by_level(inputs.codes[slot], rows, work.branch_of)
        else:
            order = orders[slot, start:stop]
            figures[node, CUT] = _cut_behind(inputs, slot, order, work.places[best], work.knowns[best])
            branch_by_number(inputs.numbers[slot], figures[node, CUT], rows, work.branch_of)
        unknown = weigh_branches(
            rows, work.weight, labels, work.branch_of, forks, work.shares, work.sizes, work.items, work.counts
        )
        if nodes + forks > len(whole):
            whole, figures = taller(whole, 2 * (nodes + forks)), taller(figures, 2 * (nodes + forks))
        if waiting + forks > len(pending):
            pending = taller(pending, 2 * (waiting + forks))
        whole[node, TESTED], whole[node, FIRST], whole[node, BRANCHES] = best, nodes, forks
        other = 1 - side
        begin = top[other]
        for b in range(forks):
            child = nodes + b
            _write_child(whole[child], figures[child], work, b, node, int(whole[node, LABEL]))
            whole[child, WHOLE] = 1 if is_whole and unknown == 0 else 0
            work.begins[b] = -1
            if work.sizes[b] == 0 or _is_settled(whole[child], figures[child], inputs.min_records):
                continue  # a leaf: nobody asks for its rows again
            pending[waiting, 0], pending[waiting, 1], pending[waiting, 2] = child, other, begin
            work.begins[b] = begin
            begin += work.sizes[b] + unknown
            pending[waiting, 3] = begin
            waiting += 1
        nodes += forks
        if begin > stack_rows.shape[1]:
            stack_rows, stack_weight = wider(stack_rows, 2 * begin), wider(stack_weight, 2 * begin)
            orders_even, orders_odd = wider(orders_even, 2 * begin), wider(orders_odd, 2 * begin)
            rows = stack_rows[side, start:stop]
        if begin > top[other]:
            deal(rows, work.branch_of, work.begins, forks, stack_rows[other], work.ends)
            if unknown or not is_whole:
                deal_weights(
                    rows, work.weight, work.branch_of, work.shares, work.begins, forks, stack_weight[other], work.ends
                )
            source, target = (orders_odd, orders_even) if side else (orders_even, orders_odd)
            for j in range(numbers):
                deal(source[j, start:stop], work.branch_of, work.begins, forks, target[j], work.ends)
            top[other] = begin
    return whole[:nodes], figures[:nodes]


@njit(cache=True)
def collapse(whole: Codes, figures: Singles) -> None:
    """Turn every subtree that errs no less than its leaf would into that leaf."""
    errors = np.zeros(len(whole), np.float32)
    for node in range(len(whole) - 1, -1, -1):
        alone = np.float32(figures[node, ITEMS] - figures[node, COUNTS + whole[node, LABEL]])
        errors[node] = alone
        if whole[node, TESTED] < 0:
            continue
        below = np.float32(0.0)
        for b in range(whole[node, BRANCHES]):
            below = np.float32(below + errors[whole[node, FIRST] + b])
        if below >= np.float64(alone) - EPSILON:
            whole[node, TESTED], whole[node, FIRST], whole[node, BRANCHES] = -1, -1, 0
            figures[node, CUT] = np.nan
        else:
            errors[node] = below
