"""Grow C4.5's tree: rows wait in two stacks, and every numeric order is carried from parent to child.

A node's rows are one segment of a stack, once in row order and once more in the order of each number. Its
children are written on top of the other stack, so that one stable pass per order replaces all sorting, and
what a parent held is free again while its children are at work.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from leafcover.fast.arrays import Array, Bools, Codes, Singles
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


class Nodes(NamedTuple):
    """Nodes in the order they were made: children side by side, after their parent."""

    tested: Codes
    cut: Singles
    first: Codes
    branches: Codes
    parent: Codes
    items: Singles  # weight of all rows
    counts: Singles  # (nodes, classes)
    label: Codes


@njit(cache=True)
def longer(array: Array, size: int) -> Array:
    """The same array with room for ``size`` elements."""
    room = np.empty(size, array.dtype)
    room[: len(array)] = array
    return room


@njit(cache=True)
def taller(array: Array, size: int) -> Array:
    """The same matrix with room for ``size`` rows."""
    room = np.empty((size, array.shape[1]), array.dtype)
    room[: len(array)] = array
    return room


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
def _count_levels(codes: Codes, rows: Codes, labels: Codes, weight: Singles, whole: bool, counts: Singles) -> None:
    counts[:] = 0.0
    if whole:
        for row in rows:
            counts[codes[row] + 1, labels[row]] += np.float32(1.0)
    else:
        for row in rows:
            counts[codes[row] + 1, labels[row]] += weight[row]


@njit(cache=True)
def _place_of_cut(inputs: Inputs, attribute: int, order: Codes, place: int, known: int) -> np.float32:
    """The cut behind a place in a node's order: a value of the training data."""
    number = inputs.slot[attribute]
    values = inputs.numbers[number]
    low, high = values[order[place]], values[order[place + 1]]
    middle = np.float32(np.float32(low + high) / np.float32(2.0))
    cut = _largest_below(inputs.orders[number], values, middle)
    # Rounded to 32 bits the middle can be the upper value itself; the last one would leave nobody above.
    return low if cut >= values[order[known - 1]] else cut


@njit(cache=True)
def _branch_rows(
    inputs: Inputs, attribute: int, cut: np.float32, rows: Codes, weight: Singles, whole: bool,
    branch_of: Codes, known: Singles, sizes: Array, items: Singles, counts: Singles,
) -> int:  # fmt: skip
    """Find each row's branch (-1: unknown); weigh and count the branches. Returns how many rows are unknown."""
    labels, slot = inputs.labels, inputs.slot[attribute]
    unknown, total = 0, np.float32(0.0)
    known[:] = 0.0
    sizes[:] = 0
    counts[:] = 0.0
    number = inputs.levels[attribute] == 0
    for row in rows:
        if number:
            value = inputs.numbers[slot, row]
            branch = -1 if np.isnan(value) else int(value > cut)
        else:
            branch = inputs.codes[slot, row]
        branch_of[row] = branch
        if branch < 0:
            unknown += 1
            continue
        share = np.float32(1.0) if whole else weight[row]
        known[branch] += share
        total = np.float32(total + share)
        sizes[branch] += 1
        counts[branch, labels[row]] += share
    items[:] = known
    if unknown == 0:
        return 0
    counts[:] = 0.0
    items[:] = 0.0
    for b in range(len(known)):
        known[b] = np.float32(known[b] / total)  # from here on: the branch's share
    for row in rows:  # once more in row order, unknown rows in every branch by its share
        branch, full = branch_of[row], np.float32(1.0) if whole else weight[row]
        if branch >= 0:
            counts[branch, labels[row]] += full
            items[branch] += full
            continue
        for b in range(len(known)):
            if sizes[b]:
                part = np.float32(full * known[b])
                counts[b, labels[row]] += part
                items[b] += part
    return unknown


@njit(cache=True)
def _deal(order: Codes, branch_of: Codes, target: Codes, ends: Array) -> None:
    """Copy rows to the segments of their branches, in order; a branch whose end is -1 takes none."""
    for row in order:
        branch = branch_of[row]
        if branch >= 0:
            place = ends[branch]
            if place >= 0:
                target[place] = row
                ends[branch] = place + 1
        else:
            for b in range(len(ends)):
                if ends[b] >= 0:
                    target[ends[b]] = row
                    ends[b] += 1


@njit(cache=True)
def _deal_weights(
    rows: Codes, branch_of: Codes, weight: Singles, whole: bool, shares: Singles, target: Singles, ends: Array
) -> None:
    """The weights that go with the rows when some are unknown: times the branch's share."""
    for row in rows:
        branch, full = branch_of[row], np.float32(1.0) if whole else weight[row]
        for b in range(len(ends)):
            if ends[b] >= 0 and (branch == b or branch < 0):
                target[ends[b]] = full if branch == b else np.float32(full * shares[b])
                ends[b] += 1


@njit(cache=True)
def _first_largest(counts: Singles) -> int:
    best = 0
    for c in range(1, len(counts)):
        if counts[c] > counts[best]:
            best = c
    return best


@njit(cache=True)
def grow_nodes(inputs: Inputs) -> Nodes:
    """All nodes of the tree before collapse and pruning."""
    labels, classes, least = inputs.labels, inputs.classes, inputs.min_records
    rows_all, attributes, numbers = len(labels), len(inputs.slot), len(inputs.numbers)
    most = max(2, inputs.levels.max()) if attributes else 2
    terms = whole_terms(rows_all)
    weight, branch_of = np.ones(rows_all, np.float32), np.empty(rows_all, np.int32)
    gains, infos = np.empty(attributes, np.float32), np.empty(attributes, np.float32)
    places, knowns = np.empty(attributes, np.int32), np.empty(attributes, np.int64)
    used = np.empty(attributes, np.bool_)
    try_gain, try_low = np.empty(rows_all, np.float32), np.empty(rows_all, np.float32)
    try_place = np.empty(rows_all, np.int32)
    level_counts, level_parts = np.empty((most + 1, classes), np.float32), np.empty(most + 1, np.float32)
    known, sizes, items = np.empty(most, np.float32), np.empty(most, np.int64), np.empty(most, np.float32)
    counts, ends, totals = np.empty((most, classes), np.float32), np.empty(most, np.int64), np.empty(classes, np.int64)
    # the two stacks: row order, weights, and the order of each number
    stack_rows = np.empty((2, rows_all), np.int32)
    stack_weight = np.empty((2, rows_all), np.float32)
    stack_order = np.empty((2, numbers, rows_all), np.int32)
    stack_rows[0] = np.arange(rows_all)
    stack_order[0] = inputs.orders
    top = np.array([rows_all, 0])
    pending = np.empty((1024, 4), np.int64)  # node, stack, start, stop
    pending[0] = np.array([0, 0, 0, rows_all])
    waiting = 1
    tested, first = np.full(1024, -1, np.int32), np.full(1024, -1, np.int32)
    branches, parent = np.zeros(1024, np.int32), np.full(1024, -1, np.int32)
    cut, node_items = np.full(1024, np.nan, np.float32), np.zeros(1024, np.float32)
    node_counts, label = np.zeros((1024, classes), np.float32), np.zeros(1024, np.int32)
    is_whole = np.ones(1024, np.bool_)
    nodes = 1
    for y in labels:
        node_counts[0, y] += np.float32(1.0)
    node_items[0] = np.float32(rows_all)
    label[0] = _first_largest(node_counts[0])
    if node_counts[0, label[0]] == node_items[0] or node_items[0] < 2 * least:
        waiting = 0
    while waiting:
        waiting -= 1
        node, side = pending[waiting, 0], pending[waiting, 1]
        start, stop = pending[waiting, 2], pending[waiting, 3]
        top[side] = start
        rows, whole, total = stack_rows[side, start:stop], is_whole[node], node_items[node]
        if not whole:
            for i in range(stop - start):
                weight[rows[i]] = stack_weight[side, start + i]
        used[:] = False
        above = parent[node]
        while above >= 0:
            used[tested[above]] = True
            above = parent[above]
        for a in range(attributes):
            gains[a], infos[a], places[a] = NO_GAIN, np.float32(0.0), -1
            slot = inputs.slot[a]
            if inputs.levels[a] > 0:
                if not used[a]:
                    into = level_counts[: inputs.levels[a] + 1]
                    _count_levels(inputs.codes[slot], rows, labels, weight, whole, into)
                    if whole:
                        totals[:] = node_counts[node]
                        gains[a], infos[a] = score_category_whole(into, total, least, level_parts, totals, terms)
                    else:
                        gains[a], infos[a] = score_category(into, total, least, level_parts)
                continue
            order, values = stack_order[side, slot, start:stop], inputs.numbers[slot]
            knowns[a] = _known_end(order, values)
            if whole:
                totals[:] = node_counts[node]
                for i in range(knowns[a], len(order)):
                    totals[labels[order[i]]] -= 1
                gains[a], infos[a], places[a] = score_number_whole(
                    order, knowns[a], values, labels, totals, terms, least, try_gain, try_place
                )
            else:
                gains[a], infos[a], places[a] = score_number(
                    order, knowns[a], values, labels, classes, weight, total, least, try_gain, try_low, try_place
                )
        best = choose(gains, infos, inputs.in_average)
        if best < 0:
            continue
        forks = 2
        if inputs.levels[best] > 0:
            forks = inputs.levels[best]
        else:
            order = stack_order[side, inputs.slot[best], start:stop]
            cut[node] = _place_of_cut(inputs, best, order, places[best], knowns[best])
        unknown = _branch_rows(
            inputs, best, cut[node], rows, weight, whole, branch_of,
            known[:forks], sizes[:forks], items[:forks], counts[:forks],
        )  # fmt: skip
        if nodes + forks > len(tested):
            size = 2 * (nodes + forks)
            tested, first, branches, parent = (
                longer(tested, size), longer(first, size), longer(branches, size), longer(parent, size)
            )  # fmt: skip
            cut, node_items, node_counts = longer(cut, size), longer(node_items, size), taller(node_counts, size)
            label, is_whole = longer(label, size), longer(is_whole, size)
        if waiting + forks > len(pending):
            pending = taller(pending, 2 * (waiting + forks))
        tested[node], first[node], branches[node] = best, nodes, forks
        other = 1 - side
        begin = top[other]
        for b in range(forks):
            child = nodes + b
            tested[child], first[child], branches[child], parent[child] = -1, -1, 0, node
            cut[child] = np.nan
            node_items[child], node_counts[child] = items[b], counts[b]
            is_whole[child] = whole and unknown == 0
            label[child] = _first_largest(counts[b]) if sizes[b] else label[node]
            ends[b] = -1
            if sizes[b] == 0 or counts[b, label[child]] == items[b] or items[b] < 2 * least:
                continue  # a leaf: nobody asks for its rows again
            ends[b] = begin
            begin += sizes[b] + unknown
            pending[waiting] = np.array([child, other, ends[b], begin])
            waiting += 1
        nodes += forks
        if begin == top[other]:
            continue
        if begin > stack_rows.shape[1]:
            size = 2 * begin
            wider = np.empty((2, size), np.int32)
            wider[:, : stack_rows.shape[1]] = stack_rows
            heavier = np.empty((2, size), np.float32)
            heavier[:, : stack_rows.shape[1]] = stack_weight
            further = np.empty((2, numbers, size), np.int32)
            further[:, :, : stack_rows.shape[1]] = stack_order
            stack_rows, stack_weight, stack_order = wider, heavier, further
            rows = stack_rows[side, start:stop]
        _deal(rows, branch_of, stack_rows[other], ends[:forks].copy())
        if unknown or not whole:
            _deal_weights(rows, branch_of, weight, whole, known[:forks], stack_weight[other], ends[:forks].copy())
        for j in range(numbers):
            _deal(stack_order[side, j, start:stop], branch_of, stack_order[other, j], ends[:forks].copy())
        top[other] = begin
    return Nodes(
        tested[:nodes], cut[:nodes], first[:nodes], branches[:nodes], parent[:nodes],
        node_items[:nodes], node_counts[:nodes], label[:nodes],
    )  # fmt: skip


@njit(cache=True)
def collapse(nodes: Nodes) -> Singles:
    """Turn every subtree that errs no less than its leaf would into that leaf; errors of each node."""
    errors = np.zeros(len(nodes.tested), np.float32)
    for node in range(len(nodes.tested) - 1, -1, -1):
        alone = np.float32(nodes.items[node] - nodes.counts[node, nodes.label[node]])
        if nodes.tested[node] < 0:
            errors[node] = alone if nodes.items[node] > 0 else np.float32(0.0)
            continue
        below = np.float32(0.0)
        for b in range(nodes.branches[node]):
            below = np.float32(below + errors[nodes.first[node] + b])
        if below >= np.float64(alone) - EPSILON:
            nodes.tested[node], nodes.first[node], nodes.branches[node] = -1, -1, 0
            nodes.cut[node] = np.nan
            below = alone
        errors[node] = below
    return errors
