"""The nodes a histogram grower makes, and what is done with them afterwards: collapse, prune, put in order."""

from typing import NamedTuple

import numpy as np
from numba import njit

from leafcover.fast.arrays import Array, Codes, Floats, Rows
from leafcover.fast.histogram import inner
from leafcover.fast.histogram_gain import EPSILON, SLACK, Rules
from leafcover.fast.pessimism import extra_errors

_ENOUGH = 0.1  # a leaf replaces a subtree that is better by no more than this


TESTED, FIRST, BRANCHES, PARENT, LAST, FOLLOWING, KNOWN = range(7)


class Nodes(NamedTuple):
    """Nodes in the order they were made: a parent before its children, siblings side by side.

    The columns of ``links``: the attribute tested (-1 at a leaf), the first child, the number of branches,
    the parent, the last code of the first side of a cut, the next code that held rows, and how many rows came
    to the node by a known value (kept only once rows are split).
    """

    links: Rows  # (room, 7)
    counts: Floats  # (room, classes) weight of each class
    share: Floats  # (room,) the share of rows of unknown value that came along


@inner
def _room(room: int, classes: int) -> Nodes:
    return Nodes(np.zeros((room, 7), np.int64), np.zeros((room, classes)), np.zeros(room))


@inner
def _with_room(nodes: Nodes, size: int, room: int) -> Nodes:
    """The same nodes with room for more, if it has not got it."""
    if room <= nodes.share.size:
        return nodes
    new = _room(2 * room, nodes.counts.shape[1])
    for node in range(size):
        for j in range(7):
            new.links[node, j] = nodes.links[node, j]
        for k in range(nodes.counts.shape[1]):
            new.counts[node, k] = nodes.counts[node, k]
        new.share[node] = nodes.share[node]
    return new


@inner
def nodes_with_root(target: Codes, classes: int) -> Nodes:
    """A tree that is only a root."""
    nodes = _room(256, classes)
    nodes.links[0, TESTED] = nodes.links[0, FIRST] = nodes.links[0, PARENT] = -1
    for i in range(target.size):
        nodes.counts[0, target[i]] += 1.0
    return nodes


@inner
def rows_of(nodes: Nodes, node: int) -> float:
    """The weight of a node."""
    rows = 0.0
    for k in range(nodes.counts.shape[1]):
        rows += nodes.counts[node, k]
    return rows


@inner
def splittable(nodes: Nodes, node: int, min_records: float) -> bool:
    """Whether a node has two classes and rows for two branches."""
    rows, most = 0.0, 0.0
    for k in range(nodes.counts.shape[1]):
        rows += nodes.counts[node, k]
        most = max(most, nodes.counts[node, k])
    return most < rows and rows >= 2.0 * (min_records - SLACK)


@inner
def add_children(
    nodes: Nodes, size: int, node: int, tested: int, of_one: Array, begin: int, rules: Rules, cut: Codes
) -> tuple[Nodes, int]:
    """Make the children of a node from the counts of the attribute it tests: nodes and their number.

    Rows of unknown value go to every branch that has rows, by its share of the known ones.
    """
    classes, number = rules.classes, rules.is_number[tested]
    branches = 2 if number else rules.sizes[tested] - 1
    nodes = _with_room(nodes, size, size + branches)
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
        nodes.share[child] = rows_of(nodes, child) / total
        for k in range(classes):
            counts[child, k] += of_one[begin + k] * nodes.share[child]
    return nodes, size + branches


@inner
def _sum(values: Floats, start: int, count: int) -> float:
    total = 0.0
    for i in range(start, start + count):
        total += values[i]
    return total


@inner
def _cut_off(nodes: Nodes, node: int) -> None:
    nodes.links[node, TESTED] = nodes.links[node, FIRST] = -1
    nodes.links[node, BRANCHES] = 0


@njit(cache=True)
def close(nodes: Nodes, size: int, prune: bool, confidence: float, coefficient: float) -> tuple[Codes, Floats, Floats]:
    """Collapse and, if asked, prune from the leaves up: the class, errors and estimate of every node.

    A node that becomes a leaf loses its test; its old descendants are left behind.
    """
    counts = nodes.counts
    label = np.zeros(size, np.int32)
    errors, estimate = np.zeros(size), np.full(size, np.nan)
    for node in range(size):
        best = 0
        for k in range(1, counts.shape[1]):
            if counts[node, k] > counts[node, best] + SLACK:  # the first of equal classes, rounding or not
                best = k
        rows = rows_of(nodes, node)
        label[node] = best if rows > 0.0 or node == 0 else label[nodes.links[node, PARENT]]
        errors[node] = rows - counts[node, best]
    for node in range(size - 1, -1, -1):
        first, branches = nodes.links[node, FIRST], nodes.links[node, BRANCHES]
        rows, as_leaf = rows_of(nodes, node), errors[node]
        if branches:
            errors[node] = _sum(errors, first, branches)
            if errors[node] >= as_leaf - EPSILON:
                _cut_off(nodes, node)
                errors[node], branches = as_leaf, 0
        if not prune:
            continue
        estimate[node] = as_leaf + extra_errors(rows, as_leaf, confidence, coefficient) if rows > 0.0 else 0.0
        if branches:
            of_subtree = _sum(estimate, first, branches)
            if estimate[node] <= of_subtree + _ENOUGH:
                _cut_off(nodes, node)
                errors[node] = as_leaf
            else:
                estimate[node] = of_subtree
    return label, errors, estimate


@njit(cache=True)
def breadth_first(nodes: Nodes, size: int) -> Rows:
    """The nodes still reached from the root, level by level."""
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
