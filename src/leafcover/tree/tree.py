"""A decision tree as data: flat arrays of nodes, the root first, the children of a node side by side."""

from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

import numpy as np

from leafcover.arrays import Array, Codes, Floats, Rows


@dataclass(frozen=True, eq=False)
class LeafMembership:
    """The set of leaves each row reaches. Set i is just leaf i, for every leaf of the tree; larger sets follow.

    Leaves are numbered as in ``tree.leaves``: leaf i is node ``tree.leaves[i]``.
    """

    set_of_row: Codes  # (rows,) the number of the row's set
    start: Rows  # (sets + 1,) set s holds leaves[start[s]:start[s + 1]]
    leaves: Codes  # leaf numbers, ascending within each set

    def __len__(self) -> int:
        return len(self.start) - 1

    def leaves_of(self, number: int) -> Codes:
        """The leaves of one set."""
        return self.leaves[self.start[number] : self.start[number + 1]]


@dataclass(frozen=True)
class Attribute:
    """A column a tree may test: a number (no levels) or a category with its levels in order."""

    name: str
    levels: tuple[str, ...] = ()
    is_number: bool = True


@dataclass(frozen=True, eq=False)
class Tree:
    """Nodes in breadth-first order; child b of node i is node ``first[i] + b``.

    A number is tested by ``value <= cut`` (child 0) against ``value > cut`` (child 1); a category has
    one child per level, in level order. A kd tree has no target and the one class "rows".
    """

    target: str
    classes: tuple[str, ...]
    attributes: tuple[Attribute, ...]
    tested: Array  # (nodes,) int32: index of the attribute tested, -1 at a leaf
    cut: Floats  # (nodes,) the cut of a number, nan elsewhere; a value of the data (a kd tree's may stand between two)
    first: Array  # (nodes,) int32: the first child, -1 at a leaf
    branches: Array  # (nodes,) int32: how many children, 0 at a leaf
    parent: Array  # (nodes,) int32: -1 at the root
    counts: Floats  # (nodes, classes) weighted training rows of each class
    label: Array  # (nodes,) int32: the class a leaf answers; an empty leaf answers its parent's
    errors: Floats  # (nodes,) weighted training errors of the node as it stands (its subtree's)
    estimate: Floats  # (nodes,) pessimistic errors of the node as it stands; nan before pruning

    @property
    def size(self) -> int:
        """All nodes, empty leaves included: C4.5's count."""
        return len(self.tested)

    @property
    def answers(self) -> bool:
        """Whether leaves answer a class; those of a kd tree only hold rows together."""
        return bool(self.target)

    @property
    def is_leaf(self) -> Array:
        """Which nodes are leaves."""
        return self.tested < 0

    @property
    def leaves(self) -> Array:
        """The node numbers of the leaves."""
        return np.flatnonzero(self.tested < 0)


# The box of a node: what its path says about each attribute, and who stands beside and above it.
#
# A number must be above ``low`` and at most ``high``; a category must be the one level ``allowed``, or may be any.


ANY_LEVEL = -1  # the path does not test this category
NO_LEVEL = -2  # the leaves of a set ask for different levels: only a row without a value can stand in all of them


@dataclass(frozen=True, eq=False)
class LeafBoxes:
    """One box a line, one attribute of the tree a column."""

    low: Floats  # (boxes, attributes) exclusive: value > low; -inf when open
    high: Floats  # (boxes, attributes) inclusive: value <= high; inf when open
    allowed: Codes  # (boxes, attributes) code of the level, or ANY

    def __len__(self) -> int:
        return len(self.low)

    def take(self, numbers: Array) -> "LeafBoxes":
        """Some of the boxes."""
        return LeafBoxes(self.low[numbers], self.high[numbers], self.allowed[numbers])


@dataclass(frozen=True)
class Test:
    """One condition of a path, in words: ``attribute operator value``."""

    __test__ = False  # not a test case, whatever pytest thinks of the name

    attribute: str
    operator: Literal["<=", ">", "="]
    value: float | str


def depths(tree: Tree) -> Array:
    """How many tests stand above each node."""
    depth = np.zeros(tree.size, np.int32)
    for nodes in levels(tree)[1:]:
        depth[nodes] = depth[tree.parent[nodes]] + 1
    return depth


def levels(tree: Tree) -> list[Array]:
    """The nodes of each depth, the root's first; breadth-first numbers make each a range."""
    found, begin, end = [], 0, 1
    while begin < end:
        nodes = np.arange(begin, end)
        found.append(nodes)
        inner = nodes[tree.branches[nodes] > 0]
        begin, end = end, end + int(tree.branches[inner].sum())
    return found


def node_boxes(tree: Tree) -> LeafBoxes:
    """The box of every node."""
    shape = (tree.size, len(tree.attributes))
    low, high = np.full(shape, -np.inf), np.full(shape, np.inf)
    allowed = np.full(shape, ANY_LEVEL, np.int32)
    number = np.array([a.is_number for a in tree.attributes], np.bool_)
    for nodes in levels(tree)[1:]:
        above = tree.parent[nodes]
        low[nodes], high[nodes], allowed[nodes] = low[above], high[above], allowed[above]
        tested, branch = tree.tested[above], nodes - tree.first[above]
        left = number[tested] & (branch == 0)
        high[nodes[left], tested[left]] = tree.cut[above[left]]
        right = number[tested] & (branch == 1)
        low[nodes[right], tested[right]] = tree.cut[above[right]]
        level = ~number[tested]
        allowed[nodes[level], tested[level]] = branch[level]
    return LeafBoxes(low, high, allowed)


def leaf_boxes(tree: Tree) -> LeafBoxes:
    """The box of every leaf, numbered as in ``tree.leaves``."""
    return node_boxes(tree).take(tree.leaves)


def set_boxes(boxes: LeafBoxes, places: LeafMembership) -> LeafBoxes:
    """The box of every set of leaves: where the boxes of its leaves meet.

    Where they do not meet (low >= high, or NONE) no row of the set has a value the tree knows.
    """
    from leafcover.kernels.forest_cells import intersect_boxes

    return LeafBoxes(
        *intersect_boxes(boxes.low, boxes.high, boxes.allowed, places.start, places.leaves, ANY_LEVEL, NO_LEVEL)
    )


def ancestors(tree: Tree, node: int) -> list[int]:
    """The nodes above a node, its parent first, the root last."""
    above, found = int(tree.parent[node]), []
    while above >= 0:
        found.append(above)
        above = int(tree.parent[above])
    return found


def group_of(tree: Tree, degree: int = 1) -> Codes:
    """For each leaf the node number of its ancestor ``degree`` steps up (the root when there are fewer)."""
    nodes = tree.leaves.astype(np.int32)
    for _ in range(degree):
        nodes = np.where(tree.parent[nodes] < 0, nodes, tree.parent[nodes]).astype(np.int32)
    return nodes


def siblings(tree: Tree, leaf: int) -> Codes:
    """The other leaves (numbers) that are children of the same parent, as DETECTIVE asks for."""
    group = group_of(tree)
    same = np.flatnonzero(group == group[leaf])
    return same[same != leaf].astype(np.int32)


def path(tree: Tree, node: int) -> tuple[Test, ...]:
    """The tests from the root to a node, one a step."""
    line = [*reversed(ancestors(tree, node)), node]
    return tuple(_test(tree, above, below) for above, below in pairwise(line))


def _test(tree: Tree, above: int, below: int) -> Test:
    attribute, branch = tree.attributes[tree.tested[above]], below - int(tree.first[above])
    if attribute.is_number:
        return Test(attribute.name, ">" if branch else "<=", float(tree.cut[above]))
    return Test(attribute.name, "=", attribute.levels[branch])


def conditions(tree: Tree, node: int) -> tuple[Test, ...]:
    """The same without what later tests make needless: at most one lower and one upper end per number."""
    tests = path(tree, node)
    last = {(test.attribute, test.operator): test for test in tests}  # a later cut is always the tighter one
    first = dict.fromkeys((test.attribute, test.operator) for test in tests)
    return tuple(last[key] for key in first)
