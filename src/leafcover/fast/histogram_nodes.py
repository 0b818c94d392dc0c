"""The nodes a histogram grower makes, and what is done with them afterwards: collapse, prune, put in order."""

from typing import NamedTuple

import numpy as np
from numba import njit

from leafcover.fast.arrays import Array, Codes, Floats, Rows
from leafcover.fast.histogram_gain import EPSILON, Rules, Scratch
from leafcover.fast.pessimism import extra_errors

_SLACK = 0.1  # a leaf replaces a subtree that is better by no more than this


class Nodes(NamedTuple):
    """Nodes in the order they were made: a parent before its children, siblings side by side."""

    tested: Codes  # (room,) attribute, -1 at a leaf
    last: Codes  # (room,) the last code of the first side of a cut
    following: Codes  # (room,) the next code that held rows
    first: Codes  # (room,) first child
    branches: Codes  # (room,)
    parent: Codes  # (room,)
    counts: Floats  # (room, classes) weight of each class
    known: Rows  # (room,) rows that came by their known value
    share: Floats  # (room,) the share of rows of unknown value that came too


@njit(cache=True)
def _room(room: int, classes: int) -> Nodes:
    return Nodes(
        np.full(room, -1, np.int32),
        np.zeros(room, np.int32),
        np.zeros(room, np.int32),
        np.full(room, -1, np.int32),
        np.zeros(room, np.int32),
        np.full(room, -1, np.int32),
        np.zeros((room, classes)),
        np.zeros(room, np.int64),
        np.zeros(room),
    )


@njit(cache=True)
def nodes_with_root(target: Codes, classes: int) -> Nodes:
    """A tree that is only a root."""
    nodes = _room(256, classes)
    for of_class in target:
        nodes.counts[0, of_class] += 1.0
    return nodes


@njit(cache=True)
def add_children(
    nodes: Nodes, size: int, node: int, tested: int, of_one: Array, rules: Rules, scratch: Scratch
) -> tuple[Nodes, int]:
    """Make the children of a node from the counts of the attribute it tests: nodes and their number.

    Rows of unknown value go to every branch that has rows, by its share of the known ones.
    """
    classes = rules.classes
    branches = 2 if rules.is_number[tested] else rules.sizes[tested] - 1
    if size + branches > nodes.tested.size:
        old = nodes
        nodes = _room(2 * (size + branches), classes)
        nodes.tested[:size] = old.tested[:size]
        nodes.last[:size] = old.last[:size]
        nodes.following[:size] = old.following[:size]
        nodes.first[:size] = old.first[:size]
        nodes.branches[:size] = old.branches[:size]
        nodes.parent[:size] = old.parent[:size]
        nodes.counts[:size] = old.counts[:size]
        nodes.known[:size] = old.known[:size]
        nodes.share[:size] = old.share[:size]
    nodes.tested[node] = tested
    nodes.first[node] = size
    nodes.branches[node] = branches
    if rules.is_number[tested]:
        nodes.last[node] = scratch.last[tested]
        nodes.following[node] = scratch.following[tested]
    for code in range(1, rules.sizes[tested]):
        branch = code - 1
        if rules.is_number[tested]:
            branch = 0 if code <= scratch.last[tested] else 1
        for k in range(classes):
            nodes.counts[size + branch, k] += of_one[code * classes + k]
    total = 0.0
    for b in range(branches):
        nodes.parent[size + b] = node
        total += nodes.counts[size + b].sum()
    unknown = of_one[:classes]
    for b in range(branches):
        nodes.share[size + b] = nodes.counts[size + b].sum() / total
        for k in range(classes):
            nodes.counts[size + b, k] += unknown[k] * nodes.share[size + b]
    return nodes, size + branches


@njit(cache=True)
def close(nodes: Nodes, size: int, prune: bool, confidence: float, coefficient: float) -> tuple[Codes, Floats, Floats]:
    """Collapse and, if asked, prune from the leaves up: the class, errors and estimate of every node.

    A node that becomes a leaf loses its test; its old descendants are left behind.
    """
    classes = nodes.counts.shape[1]
    label = np.zeros(size, np.int32)
    errors, estimate = np.zeros(size), np.full(size, np.nan)
    for node in range(size):
        rows, best = 0.0, 0
        for k in range(classes):
            rows += nodes.counts[node, k]
            if nodes.counts[node, k] > nodes.counts[node, best]:
                best = k
        label[node] = best if rows > 0.0 or node == 0 else label[nodes.parent[node]]
        errors[node] = rows - nodes.counts[node, best]
    for node in range(size - 1, -1, -1):
        first, branches = nodes.first[node], nodes.branches[node]
        rows, as_leaf = nodes.counts[node].sum(), errors[node]
        if branches and errors[first : first + branches].sum() >= as_leaf - EPSILON:
            nodes.tested[node], nodes.first[node], nodes.branches[node] = -1, -1, 0
            branches = 0
        if branches:
            errors[node] = errors[first : first + branches].sum()
        if not prune:
            continue
        guess = as_leaf + extra_errors(rows, as_leaf, confidence, coefficient) if rows > 0.0 else 0.0
        if branches:
            of_subtree = estimate[first : first + branches].sum()
            if guess <= of_subtree + _SLACK:
                nodes.tested[node], nodes.first[node], nodes.branches[node] = -1, -1, 0
                errors[node] = as_leaf
            else:
                guess = of_subtree
        estimate[node] = guess
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
        for b in range(nodes.branches[node]):
            order[found] = nodes.first[node] + b
            found += 1
    return order[:found]
