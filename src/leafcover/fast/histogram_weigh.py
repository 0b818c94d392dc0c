"""The kernel for the part of a tree below a test whose value some rows miss: rows are split into shares.

A row of unknown value enters every branch with its share of the weight. The rows of a node stay one range:
the unknown ones stand before a branch while it is grown, and are then moved behind it, before the next.
"""

import numpy as np
from numba import njit

from leafcover.fast.arrays import Floats, Rows
from leafcover.fast.histogram import Records, fill, inner, list_marked, longer, move_apart, move_into_groups
from leafcover.fast.histogram_gain import TOTAL, Rules, Scratch, choose, look_at_category, look_at_number
from leafcover.fast.histogram_nodes import (
    BRANCHES,
    FIRST,
    KNOWN,
    LAST,
    TESTED,
    Nodes,
    add_children,
    splittable,
)


@inner
def _scratch(table: Floats, rules: Rules) -> Scratch:
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


@inner
def _weigh(records: Records, start: int, stop: int, attribute: int, rules: Rules, scratch: Scratch) -> int:
    """Add up the weight of each bin and class of an attribute; return how many bins hold rows."""
    codes, target, weight = records.codes, records.target, records.along
    few, marks, classes = scratch.few, scratch.marks, rules.classes
    for i in range(start, stop):
        code = np.int64(codes[i, attribute])
        few[code * classes + target[i]] += weight[i]
        marks[code >> 6] |= np.uint64(1) << np.uint64(code & 63)
    return list_marked(marks, (rules.sizes[attribute] + 63) // 64, scratch.bins)


@inner
def _clear(filled: int, classes: int, scratch: Scratch) -> None:
    for i in range(filled):
        fill(scratch.few, scratch.bins[i] * classes, (scratch.bins[i] + 1) * classes, 0.0)


@inner
def _choose(records: Records, start: int, stop: int, counts: Floats, node: int, rules: Rules, scratch: Scratch) -> int:
    for k in range(rules.classes):
        scratch.rows[TOTAL, k] = counts[node, k]
    for i in range(rules.numbers.size):
        a = rules.numbers[i]
        filled = _weigh(records, start, stop, a, rules, scratch)
        look_at_number(scratch.few, 0, filled, a, rules, scratch)
        _clear(filled, rules.classes, scratch)
    for i in range(rules.categories.size):
        a = rules.categories[i]
        filled = _weigh(records, start, stop, a, rules, scratch)
        look_at_category(scratch.few, 0, filled, a, rules, scratch)
        _clear(filled, rules.classes, scratch)
    return choose(rules, scratch)


@inner
def _part(
    records: Records, start: int, stop: int, nodes: Nodes, node: int, begins: Rows, place: Rows, rules: Rules
) -> int:
    """Put rows of unknown value first, then branch by branch; return how many are unknown."""
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
    move_apart(records, start, stop, tested, place)
    if number:
        fill(place, 0, last + 1, 1)
        move_apart(records, start + unknown, stop, tested, place)
    else:
        begins[0] = start + unknown
        for b in range(links[node, BRANCHES]):
            begins[b + 1] = begins[b] + links[first + b, KNOWN]
        move_into_groups(records, tested, links[node, BRANCHES], begins, place)
    return unknown


@inner
def _change_weights(records: Records, start: int, rows: int, attribute: int, factor: float) -> None:
    """Multiply the weight of the rows whose value is unknown."""
    for i in range(start, start + rows):
        if records.codes[i, attribute] == 0:
            records.along[i] *= factor


@inner
def _step_over(records: Records, start: int, known: int, unknown: int, attribute: int, place: Rows) -> int:
    """Move the unknown rows behind a finished branch; return where they stand then."""
    if unknown and known:
        fill(place, 1, place.size, 1)
        place[0] = 0
        move_apart(records, start, start + known + unknown, attribute, place)
    return start + known


@njit(cache=True)
def grow_weighted(
    records: Records, start: int, stop: int, node: int, nodes: Nodes, size: int, rules: Rules, table: Floats
) -> tuple[Nodes, int]:
    """Grow the tree below a node whose rows stand between start and stop: nodes and their number."""
    scratch = _scratch(table, rules)
    widest = scratch.bins.size
    begins, place = np.zeros(widest + 1, np.int64), np.zeros(widest, np.int64)
    # node, start (of the unknown rows and the branch behind them), stop, branch at work (-1: none yet), unknown rows
    path = np.empty((64, 5), np.int64)
    depth = 0
    path[0, 0], path[0, 1], path[0, 2], path[0, 3] = node, start, stop, -1
    while depth >= 0:
        node, start, stop = path[depth, 0], path[depth, 1], path[depth, 2]
        branch, unknown = path[depth, 3], path[depth, 4]
        if branch < 0:
            tested = _choose(records, start, stop, nodes.counts, node, rules, scratch)
            if tested < 0:
                depth -= 1
                continue
            filled = _weigh(records, start, stop, tested, rules, scratch)
            nodes, size = add_children(nodes, size, node, tested, scratch.few, 0, rules, scratch.cut)
            _clear(filled, rules.classes, scratch)
            unknown = _part(records, start, stop, nodes, node, begins, place, rules)
            branch = 0
        else:
            tested = nodes.links[node, TESTED]
            child = nodes.links[node, FIRST] + branch
            known = nodes.links[child, KNOWN]
            _change_weights(records, start, known + unknown, tested, 1.0 / nodes.share[child])
            start = _step_over(records, start, known, unknown, tested, place)
            branch += 1
        first, branches = nodes.links[node, FIRST], nodes.links[node, BRANCHES]
        while branch < branches and not splittable(nodes, first + branch, rules.min_records):
            start = _step_over(records, start, nodes.links[first + branch, KNOWN], unknown, tested, place)
            branch += 1
        if branch == branches:
            depth -= 1
            continue
        rows = nodes.links[first + branch, KNOWN] + unknown
        _change_weights(records, start, rows, tested, nodes.share[first + branch])
        path[depth, 1], path[depth, 3], path[depth, 4] = start, branch, unknown
        depth += 1
        path = longer(path, depth, depth + 1)
        path[depth, 0], path[depth, 1], path[depth, 2] = first + branch, start, start + rows
        path[depth, 3] = -1
    return nodes, size
