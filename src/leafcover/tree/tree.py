"""Decision trees as flat arrays of nodes: leaf boxes, siblings, paths and rules; and the training data of a tree."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Literal

import numpy as np

from leafcover.arrays import MISSING, Array, Codes, Floats, Rows
from leafcover.errors import NameUnknown, TableError, ValueOutOfRange
from leafcover.table.formatting import text_of
from leafcover.table.table import Column, Table


@dataclass(frozen=True, eq=False)
class LeafMembership:
    """The set of leaves that each row reaches.

    A row with a missing value can reach several leaves. Set i contains only leaf i, for every leaf of the tree; sets of
    several leaves follow. Leaves are numbered as in ``tree.leaves``: leaf i is node ``tree.leaves[i]``.
    """

    set_of_row: Codes  # (rows,) the number of the row's set
    start: Rows  # (sets + 1,) set s is leaves[start[s]:start[s + 1]]
    leaves: Codes  # leaf numbers, ascending within each set

    def __len__(self) -> int:
        return len(self.start) - 1

    def leaves_of(self, number: int) -> Codes:
        """The leaves in one set."""
        return self.leaves[self.start[number] : self.start[number + 1]]


@dataclass(frozen=True)
class Attribute:
    """A column that a tree may test: a number (without levels), or a category with its levels in order."""

    name: str
    levels: tuple[str, ...] = ()
    is_number: bool = True


@dataclass(frozen=True, eq=False)
class Tree:
    """A decision tree: nodes in breadth-first order, where child b of node i is node ``first[i] + b``.

    A test of a number has two children, ``value <= cut`` and ``value > cut``. A test of a category has one child per
    level, in level order. A kd tree has no target and a single class, "rows".
    """

    target: str
    classes: tuple[str, ...]
    attributes: tuple[Attribute, ...]
    tested: Array  # (nodes,) int32: index of the attribute tested, -1 at a leaf
    cut: Floats  # (nodes,) cut of a number, otherwise nan; a data value (in a kd tree possibly between two)
    first: Array  # (nodes,) int32: first child, -1 at a leaf
    branches: Array  # (nodes,) int32: number of children, 0 at a leaf
    parent: Array  # (nodes,) int32: -1 at the root
    counts: Floats  # (nodes, classes) weighted training rows of each class
    label: Array  # (nodes,) int32: predicted class; an empty leaf predicts the class of its parent
    errors: Floats  # (nodes,) weighted training errors of the node's subtree
    estimate: Floats  # (nodes,) pessimistic error estimate of the node's subtree; nan before pruning

    @property
    def size(self) -> int:
        """The number of nodes, including empty leaves, as C4.5 counts them."""
        return len(self.tested)

    @property
    def answers(self) -> bool:
        """Whether leaves predict a class; those of a kd tree only group rows."""
        return bool(self.target)

    @property
    def is_leaf(self) -> Array:
        """Which nodes are leaves."""
        return self.tested < 0

    @property
    def leaves(self) -> Array:
        """The node numbers of the leaves."""
        return np.flatnonzero(self.tested < 0)


# Boxes: the constraints that a node's path puts on each attribute.
#
# A number must be above ``low`` and at most ``high``. A category must be the level ``allowed``, or may be any level.


ANY_LEVEL = -1  # the path does not test this category
NO_LEVEL = -2  # the leaves of a set require different levels: only a row with a missing value reaches all of them


@dataclass(frozen=True, eq=False)
class LeafBoxes:
    """Boxes of nodes or leaves: one row per box, one column per attribute of the tree."""

    low: Floats  # (boxes, attributes) exclusive: value > low; -inf when open
    high: Floats  # (boxes, attributes) inclusive: value <= high; inf when open
    allowed: Codes  # (boxes, attributes) code of the level, ANY_LEVEL or NO_LEVEL

    def __len__(self) -> int:
        return len(self.low)

    def take(self, numbers: Array) -> "LeafBoxes":
        """Some of the boxes."""
        return LeafBoxes(self.low[numbers], self.high[numbers], self.allowed[numbers])


@dataclass(frozen=True)
class Test:
    """One condition of a path: ``attribute operator value``."""

    __test__ = False  # tells pytest that this is not a test case

    attribute: str
    operator: Literal["<=", ">", "="]
    value: float | str


def depths(tree: Tree) -> Array:
    """The depth of each node: the number of tests above it."""
    depth = np.zeros(tree.size, np.int32)
    for nodes in levels(tree)[1:]:
        depth[nodes] = depth[tree.parent[nodes]] + 1
    return depth


def levels(tree: Tree) -> list[Array]:
    """The nodes at each depth, starting with the root. Breadth-first order makes each level a range."""
    found, begin, end = [], 0, 1
    while begin < end:
        nodes = np.arange(begin, end)
        found.append(nodes)
        inner = nodes[tree.branches[nodes] > 0]
        begin, end = end, end + int(tree.branches[inner].sum())
    return found


def breadth_first(first: Array, branches: Array) -> tuple[Codes, Codes, Codes]:
    """Breadth-first numbering of the nodes below node 0: the old number of each, its first child and its parent."""
    level, numbered, old, new_first, parent = np.zeros(1, np.int64), 1, [], [], [np.full(1, -1)]
    while len(level):
        children = branches[level].astype(np.int64)
        begins = np.cumsum(children) - children
        old.append(level)
        new_first.append(np.where(children > 0, numbered + begins, -1))
        parent.append(np.repeat(np.arange(numbered - len(level), numbered), children))
        level = np.repeat(first[level] - begins, children) + np.arange(children.sum())
        numbered += len(level)
    return tuple(np.concatenate(part).astype(np.int32) for part in (old, new_first, parent))  # type: ignore[return-value]


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
    """The box of every leaf, in the order of ``tree.leaves``."""
    return node_boxes(tree).take(tree.leaves)


def set_boxes(boxes: LeafBoxes, places: LeafMembership) -> LeafBoxes:
    """The box of every set of leaves: the intersection of the boxes of its leaves.

    Where the intersection is empty (low >= high, or NO_LEVEL), no row that reaches the set has a known value.
    """
    leaves = len(boxes.low)  # the first sets are the single leaves
    first, members = places.start[leaves:-1] - leaves, places.leaves[leaves:]
    low, high, allowed = (np.concatenate([one, one[members[first]]]) for one in (boxes.low, boxes.high, boxes.allowed))
    if not len(first):
        return LeafBoxes(low, high, allowed)
    for a in np.flatnonzero((boxes.low > -np.inf).any(axis=0) | (boxes.high < np.inf).any(axis=0)):
        low[leaves:, a] = np.maximum.reduceat(boxes.low[members, a], first)
        high[leaves:, a] = np.minimum.reduceat(boxes.high[members, a], first)
    for a in np.flatnonzero((boxes.allowed != ANY_LEVEL).any(axis=0)):
        levels = boxes.allowed[members, a]
        largest = np.maximum.reduceat(levels, first)
        smallest = np.minimum.reduceat(np.where(levels == ANY_LEVEL, np.iinfo(np.int32).max, levels), first)
        allowed[leaves:, a] = np.where((largest == ANY_LEVEL) | (largest == smallest), largest, np.int32(NO_LEVEL))
    return LeafBoxes(low, high, allowed)


def ancestors(tree: Tree, node: int) -> list[int]:
    """The nodes above a node, its parent first, the root last."""
    above, found = int(tree.parent[node]), []
    while above >= 0:
        found.append(above)
        above = int(tree.parent[above])
    return found


def group_of(tree: Tree, degree: int = 1) -> Codes:
    """For each leaf, its ancestor ``degree`` levels up (the root if there are fewer levels)."""
    nodes = tree.leaves.astype(np.int32)
    for _ in range(degree):
        nodes = np.where(tree.parent[nodes] < 0, nodes, tree.parent[nodes]).astype(np.int32)
    return nodes


def siblings(tree: Tree, leaf: int) -> Codes:
    """The other leaves with the same parent (siblings, in the terms of DETECTIVE)."""
    group = group_of(tree)
    same = np.flatnonzero(group == group[leaf])
    return same[same != leaf].astype(np.int32)


def path(tree: Tree, node: int) -> tuple[Test, ...]:
    """The tests on the path from the root to a node."""
    nodes = [*reversed(ancestors(tree, node)), node]
    return tuple(_test(tree, above, below) for above, below in pairwise(nodes))


def _test(tree: Tree, above: int, below: int) -> Test:
    attribute, branch = tree.attributes[tree.tested[above]], below - int(tree.first[above])
    if attribute.is_number:
        return Test(attribute.name, ">" if branch else "<=", float(tree.cut[above]))
    return Test(attribute.name, "=", attribute.levels[branch])


def conditions(tree: Tree, node: int) -> tuple[Test, ...]:
    """The path without redundant tests: at most one lower and one upper bound per number."""
    tests = path(tree, node)
    last = {(test.attribute, test.operator): test for test in tests}  # a later cut is always tighter
    first = dict.fromkeys((test.attribute, test.operator) for test in tests)
    return tuple(last[key] for key in first)


# Training data: attributes as arrays, and the target as class codes in code point order.

MAX_NUMERIC_CLASSES = 10  # a numeric target with more distinct values needs bins
NON_ATTRIBUTE_ROLES = ("unit", "weight")  # roles that describe the sampling, not the individual


@dataclass(frozen=True, eq=False)
class Training:
    """The rows with a known target; ``rows`` are their numbers in the table."""

    target: str
    classes: tuple[str, ...]
    labels: Codes  # (rows,) class of each training row, never missing
    attributes: tuple[Attribute, ...]
    columns: tuple[Array, ...]  # per attribute: float64 with nan, or int32 codes with -1
    rows: Rows  # (rows,) row numbers in the table


def training(
    table: Table, target: str, *, attributes: Sequence[str] | None = None, bins: int | None = None
) -> Training:
    """Training data of a tree that predicts ``target`` from ``attributes`` (default: all other columns)."""
    classes, codes = classes_to_predict(table[target], bins=bins)
    rows = np.flatnonzero(codes != MISSING)
    chosen = attribute_names(table, target) if attributes is None else tuple(attributes)
    for name in chosen:
        if name not in table.names:
            raise NameUnknown("column", name, table.names)
    columns = [table[name] for name in chosen if name != target]
    every = len(rows) == len(table)
    return Training(
        target=target,
        classes=classes,
        labels=codes if every else codes[rows],
        attributes=tuple(Attribute(c.name, c.levels, not c.is_category) for c in columns),
        columns=tuple(c.values if every else c.values[rows] for c in columns),
        rows=rows,
    )


def take_rows(training: Training, rows: Rows) -> Training:
    """Some of the training rows."""
    return replace(
        training,
        labels=training.labels[rows],
        columns=tuple(column[rows] for column in training.columns),
        rows=training.rows[rows],
    )


def attribute_names(table: Table, target: str) -> tuple[str, ...]:
    """The columns that a tree for ``target`` may test: all others except unit identifiers and weights."""
    return tuple(name for name in table.names if name != target and table.roles.get(name) not in NON_ATTRIBUTE_ROLES)


def classes_to_predict(column: Column, *, bins: int | None = None) -> tuple[tuple[str, ...], Codes]:
    """The same as `classes_of`; raise an error if there are fewer than two classes."""
    classes, codes = classes_of(column, bins=bins)
    if len(classes) < 2:
        found = f"only {classes[0]!r}" if classes else "no known values"
        raise TableError(f"Target {column.name!r} has {found}, so a tree cannot predict it. Choose another target.")
    return classes, codes


def classes_of(column: Column, *, bins: int | None = None) -> tuple[tuple[str, ...], Codes]:
    """The classes of a target in code point order, and the class code of each row (-1 where missing).

    The values of a number are classes if there are at most ten distinct ones; otherwise ``bins`` is required.
    """
    if column.is_category:
        if bins is not None:
            raise TableError(
                f"Target {column.name!r} is a category, and only numbers can be binned. Leave bins=... out."
            )
        return _observed_levels(column)
    missing = column.missing
    distinct, place = np.unique(column.values[~missing], return_inverse=True)
    if bins is not None:
        names, place = _equal_frequency(column, distinct, place, bins)
    elif len(distinct) > MAX_NUMERIC_CLASSES:
        raise TableError(
            f"Numeric target {column.name!r} has {len(distinct)} distinct values, too many for classes. "
            f"Add bins=N to predict N groups of about equal size."
        )
    else:
        names = text_of(column, distinct)
    order = sorted(range(len(names)), key=lambda i: names[i])
    rank = np.empty(len(names), np.int32)
    rank[order] = np.arange(len(names), dtype=np.int32)
    codes = np.full(len(column), MISSING, np.int32)
    codes[~missing] = rank[place]
    return tuple(names[i] for i in order), codes


def _observed_levels(column: Column) -> tuple[tuple[str, ...], Codes]:
    """The levels that occur, and their codes: an unused level is not a class."""
    known = column.values != MISSING
    seen = np.zeros(len(column.levels), np.bool_)
    seen[column.values[known]] = True
    if seen.all():
        return column.levels, column.values.astype(np.int32)
    new = np.cumsum(seen, dtype=np.int32) - 1
    codes = np.full(len(column), MISSING, np.int32)
    codes[known] = new[column.values[known]]
    return tuple(name for name, there in zip(column.levels, seen, strict=True) if there), codes


def _equal_frequency(column: Column, distinct: Array, place: Array, bins: int) -> tuple[list[str], Array]:
    """Groups of about equal size, separated between distinct values and named by their bounds."""
    if not 2 <= bins <= 255:
        raise ValueOutOfRange("bins", bins, "an integer from 2 to 255")
    below = np.cumsum(np.bincount(place, minlength=len(distinct)))
    wanted = below[-1] * np.arange(1, bins) / bins
    ends = np.unique(np.searchsorted(below, wanted - 1e-9))  # the last distinct value of each bin but one
    ends = ends[ends < len(distinct) - 1]
    bounds = text_of(column, distinct[ends])
    digits = len(str(len(ends) + 1))  # zero-padded, so that code point order is the order of the bins
    lows, highs = ["", *bounds], [*bounds, ""]
    names = [
        f"{i + 1:0{digits}d}: " + (f"<= {high}" if high else f"> {low}")
        for i, (low, high) in enumerate(zip(lows, highs, strict=True))
    ]
    return names, np.searchsorted(ends, place)
