"""The kernel for the part of a tree below a test whose value some rows miss: rows are split into shares.

A row of unknown value enters every branch with its share of the weight. The rows of a node stay one range:
the unknown ones stand before a branch while it is grown, and are then moved behind it, before the next.
"""

import numpy as np
from numba import njit

from leafcover.fast.arrays import Floats
from leafcover.fast.histogram import Records, list_marked, move_apart, move_into_groups
from leafcover.fast.histogram_gain import Rules, Scratch, choose, look_at
from leafcover.fast.histogram_nodes import Nodes, add_children


@njit(cache=True)
def _weigh(records: Records, start: int, stop: int, attribute: int, classes: int, scratch: Scratch) -> int:
    """Add up the weight of each bin and class of an attribute; return how many bins hold rows."""
    codes, target, weight = records.codes, records.target, records.along
    few, marks = scratch.few, scratch.marks
    for i in range(start, stop):
        code = np.int64(codes[i, attribute])
        few[code * classes + target[i]] += weight[i]
        marks[code >> 6] |= np.uint64(1) << np.uint64(code & 63)
    return list_marked(marks, scratch.bins)


@njit(cache=True)
def _clear(filled: int, classes: int, scratch: Scratch) -> None:
    for i in range(filled):
        begin = scratch.bins[i] * classes
        scratch.few[begin : begin + classes] = 0.0


@njit(cache=True)
def _can_split(counts: Floats, min_records: float) -> bool:
    return (counts > 0.0).sum() > 1 and counts.sum() >= 2.0 * min_records


@njit(cache=True)
def grow_weighted(
    records: Records, start: int, stop: int, node: int, nodes: Nodes, size: int, rules: Rules, table: Floats
) -> tuple[Nodes, int]:
    """Grow the tree below a node whose rows stand between start and stop: nodes and their number."""
    classes, attributes, widest = rules.classes, rules.sizes.size, rules.sizes.max()
    scratch = Scratch(
        table,
        np.empty(widest, np.int32),
        np.zeros((widest + 63) // 64, np.uint64),
        np.zeros(classes),
        np.zeros(classes),
        np.zeros(classes),
        np.zeros(widest * classes),
        np.empty(attributes),
        np.empty(attributes),
        np.empty(attributes, np.int32),
        np.empty(attributes, np.int32),
    )
    goes_first = np.zeros(widest, np.bool_)
    begins, place = np.zeros(widest + 1, np.int64), np.zeros(widest, np.int64)
    # node, start (of the unknown rows and the branch behind them), stop, branch at work (-1: none yet), unknown rows
    path = np.empty((64, 5), np.int64)
    path[0] = node, start, stop, -1, 0
    depth = 0
    while depth >= 0:
        node, start, stop, branch, unknown = path[depth]
        if branch < 0:
            scratch.totals[:] = nodes.counts[node]
            for a in range(attributes):
                filled = _weigh(records, start, stop, a, classes, scratch)
                look_at(scratch.few, 0, a, filled, rules, scratch)
                _clear(filled, classes, scratch)
            tested = choose(rules, scratch)
            if tested < 0:
                depth -= 1
                continue
            filled = _weigh(records, start, stop, tested, classes, scratch)
            nodes, size = add_children(nodes, size, node, tested, scratch.few, rules, scratch)
            _clear(filled, classes, scratch)
            first = nodes.first[node]
            for i in range(start, stop):
                code = np.int64(records.codes[i, tested])
                if code == 0:
                    unknown += 1
                elif rules.is_number[tested]:
                    nodes.known[first + (code > nodes.last[node])] += 1
                else:
                    nodes.known[first + code - 1] += 1
            goes_first[0] = True
            known = move_apart(records, start, stop, tested, goes_first)
            if rules.is_number[tested]:
                goes_first[: nodes.last[node] + 1] = True
                move_apart(records, known, stop, tested, goes_first)
                goes_first[: nodes.last[node] + 1] = False
            else:
                goes_first[0] = False
                begins[0] = known
                for b in range(nodes.branches[node]):
                    begins[b + 1] = begins[b] + nodes.known[first + b]
                move_into_groups(records, tested, begins[: nodes.branches[node] + 1], place)
            branch = 0
        else:
            _change_weights(records, start, nodes.known[nodes.first[node] + branch] + unknown, nodes.tested[node],
                            1.0 / nodes.share[nodes.first[node] + branch])  # fmt: skip
            start = _step_over(records, start, nodes, node, branch, unknown, goes_first)
            branch += 1
        first = nodes.first[node]
        while branch < nodes.branches[node] and not _can_split(nodes.counts[first + branch], rules.min_records):
            start = _step_over(records, start, nodes, node, branch, unknown, goes_first)
            branch += 1
        if branch == nodes.branches[node]:
            depth -= 1
            continue
        path[depth] = node, start, stop, branch, unknown
        rows = nodes.known[first + branch] + unknown
        _change_weights(records, start, rows, nodes.tested[node], nodes.share[first + branch])
        if depth + 1 == len(path):
            longer = np.empty((2 * len(path), 5), np.int64)
            longer[: depth + 1] = path
            path = longer
        depth += 1
        path[depth] = first + branch, start, start + rows, -1, 0
    return nodes, size


@njit(cache=True)
def _change_weights(records: Records, start: int, rows: int, attribute: int, factor: float) -> None:
    """Multiply the weight of the rows whose value is unknown."""
    for i in range(start, start + rows):
        if records.codes[i, attribute] == 0:
            records.along[i] *= factor


@njit(cache=True)
def _step_over(
    records: Records, start: int, nodes: Nodes, node: int, branch: int, unknown: int, goes_first: Floats
) -> int:
    """Move the unknown rows behind a finished branch; return where they stand then."""
    known = nodes.known[nodes.first[node] + branch]
    if unknown and known:
        goes_first[:] = True
        goes_first[0] = False
        move_apart(records, start, start + known + unknown, nodes.tested[node], goes_first)
        goes_first[:] = False
    return start + known
