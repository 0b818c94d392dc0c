"""Binary trees for a column given others, grown from histograms, in which every split must pay for itself.

A tree is grown inside each start cell. It can place any rows: those it was grown from, rows that were released so far,
or people whom an attacker asks about.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import comb, log2
from typing import TYPE_CHECKING, Any

import numpy as np

from leafcover.arrays import Array, Bools, Codes, Floats, Rows, Words
from leafcover.table.table import Column, Table
from leafcover.tree.histogram import (
    MAX_BINS,
    Binned,
    FixedSplit,
    FixedSplits,
    code_columns,
    least_value,
    quantile_edges,
    refine_labels,
    sample_values,
)
from leafcover.tree.predict import column_for
from leafcover.tree.tree import Attribute

if TYPE_CHECKING:
    from leafcover.kernels.histogram_refine import Splits


@dataclass(frozen=True, eq=False)
class BinaryTrees:
    """One tree for each start cell; the root of cell c is node c, and the children of a node are neighbours.

    A parent has a smaller number than its children.
    """

    attributes: tuple[Attribute, ...]  # those that are tested
    edges: tuple[Floats, ...]  # upper edges of the bins of each; empty for a category
    tested: Codes  # (nodes,) index of the attribute, -1 at a leaf
    first: Codes  # (nodes,) the child for codes in ``side``; the other child is the next node; -1 at a leaf
    side: Words  # (nodes, words) bit set of the codes that go to the first child
    parent: Codes  # (nodes,) -1 at a root

    def __len__(self) -> int:
        return len(self.tested)

    @property
    def names(self) -> tuple[str, ...]:
        """The columns that are tested."""
        return tuple(attribute.name for attribute in self.attributes)

    @property
    def leaves(self) -> int:
        """The number of leaves."""
        return int((self.tested < 0).sum())

    @property
    def root(self) -> Rows:
        """(nodes,) the start cell of each node."""
        found = np.where(self.parent < 0, np.arange(len(self)), self.parent)
        while (found != (further := found[found])).any():
            found = further
        return found

    def codes(self, table: Table) -> Array:
        """The bins of a table's values, as far as they are tested; an unknown level counts as missing.

        (rows, attributes), in memory column by column.
        """
        columns = [column_for(attribute, table) for attribute in self.attributes]
        return np.asfortranarray(code_columns(self.attributes, self.edges, columns, len(table)))

    def choice_bits(self, given: Table) -> float:
        """The bits that choose the cut or the set of levels of every split, once its column is known.

        A number is cut after one of its bins. A set of levels and the rest are one choice: the size of the smaller one,
        and which of the sets of that size. ``given`` says which levels occur; the rare ones count as one.
        """
        bits = 0.0
        for at, attribute in enumerate(self.attributes):
            nodes = np.flatnonzero(self.tested == at)
            if attribute.is_number:
                bits += len(nodes) * log2(max(len(self.edges[at]), 1))
                continue
            values = _codes_of(attribute, given[attribute.name])
            levels = np.setdiff1d(np.unique(values + 1), _rare_bins(values, len(attribute.levels))[1:])
            on_first = (self.side[nodes][:, levels >> 6] >> (levels & 63).astype(np.uint64)) & np.uint64(1)
            for first in on_first.sum(axis=1).tolist():
                less = min(int(first), len(levels) - int(first))
                sets = comb(len(levels), less) // (2 if 2 * less == len(levels) else 1)
                bits += log2(max(len(levels) // 2, 1)) + log2(sets)
        return bits

    def place(self, codes: Array, start: Array) -> Codes:
        """The leaf that each row reaches, from the `codes` of a table and the start cell of each row."""
        from leafcover.kernels.dealing import find_nodes

        node = start.astype(np.int32, copy=bool(self.attributes))
        if self.attributes:
            find_nodes(self.tested, self.first, self.side, np.ascontiguousarray(codes.T), node)
        return node


def grow_below(
    binned: Binned, target: Codes, classes: int, start: Codes, fixed: FixedSplits, *, given: Sequence[str], floor: int,
    price: float, one_level: bool = False,
) -> tuple[BinaryTrees, Codes, Bools]:  # fmt: skip
    """Grow trees below fixed splits. Returns the trees, the leaf of each row, and which nodes are fixed splits.

    A row's leaf is below the leaf that it has in the fixed splits, even if the tests lead elsewhere.
    """
    offset = np.cumsum(fixed.leaves) - fixed.leaves
    below, leaf = grow_binary(
        binned, np.where(fixed.quiet, 0, target), classes, (offset[start] + fixed.leaf).astype(np.int32),
        int(fixed.leaves.sum()), given=given, floor=floor, price=price, one_level=one_level,
    )  # fmt: skip
    tests = [next(i for i, a in enumerate(binned.attributes) if a.name == one.name) for one in below.attributes]
    waiting: list[tuple[FixedSplit | int, int]] = [
        (tree, int(base)) for tree, base in zip(fixed.trees, offset, strict=True)
    ]
    tested, first, sides = [], [], []
    children: list[tuple[FixedSplit | int, int]]
    parent, number = [-1] * len(waiting), np.full(len(below), -1, np.int32)
    for node, (tree, base) in enumerate(waiting):  # grows as children are found
        if isinstance(tree, int):
            at = base + tree
            number[at] = node
            children = [(0, int(below.first[at])), (0, int(below.first[at]) + 1)] if below.tested[at] >= 0 else []
            tested.append(tests[below.tested[at]] if children else -1)
            sides.append(below.side[at])
        else:
            children = [(tree.first, base), (tree.second, base)]
            tested.append(tree.test)
            sides.append(tree.side)
        first.append(len(waiting) if children else -1)
        waiting += children
        parent += [node] * len(children)
    used, words = sorted({test for test in tested if test >= 0}), max(len(one) for one in sides)
    side = np.stack([np.pad(one, (0, words - len(one))) for one in sides])
    trees = BinaryTrees(
        tuple(binned.attributes[test] for test in used),
        tuple(binned.edges[test] for test in used),
        np.array([used.index(test) if test >= 0 else -1 for test in tested], np.int32),
        np.array(first, np.int32),
        side,
        np.array(parent, np.int32),
    )
    return trees, number[leaf], np.array([not isinstance(tree, int) for tree, _ in waiting])


def no_trees(cells: int) -> BinaryTrees:
    """Start cells that are not split."""
    none = np.full(cells, -1, np.int32)
    return BinaryTrees((), (), none, none, np.zeros((cells, 1), np.uint64), none)


def grow_binary(
    binned: Binned,
    target: Codes,
    classes: int,
    start: Codes,
    cells: int,
    *,
    given: Sequence[str],
    floor: int,
    price: float,
    one_level: bool = False,
) -> tuple[BinaryTrees, Codes]:
    """Grow a tree for the target inside each start cell; no leaf has fewer than ``floor`` rows (smaller cells stay).

    Returns the trees, and the leaf of each row.

    The gain of a split, in bits, must exceed ``price`` times its cost: the bits to choose the split, and what fitting
    the shares of the classes on both sides gains by chance. With ``one_level`` a split of a category separates one
    level from the others, and a branch is kept if all its splits together pay.
    """
    testable = np.array([attribute.name in given for attribute in binned.attributes])
    if not testable.any() or classes < 2:
        return no_trees(cells), start
    least = -np.inf if one_level else 0.0
    grown = refine_labels(
        binned, target, classes, start, cells, floor=floor, testable=testable, price=price, one_level=one_level,
        min_gain_bits=least,
    )  # fmt: skip
    tests, splits = np.flatnonzero(testable), grown.splits
    kept = np.arange(len(splits.test), dtype=np.int32)
    if one_level:
        splits, kept = _pruned(splits, cells)
    inner = np.flatnonzero(splits.test >= 0)
    if not len(inner):
        return no_trees(cells), start
    used = np.unique(splits.test[inner])
    number = np.full(len(tests) + 1, -1, np.int32)  # the last entry is for leaves
    number[used] = np.arange(len(used), dtype=np.int32)
    parent = np.full(len(splits.test), -1, np.int32)
    parent[splits.first[inner]] = parent[splits.first[inner] + 1] = inner
    side = splits.side.copy()
    for at in used if binned.as_one else ():
        _join(side, np.flatnonzero(splits.test == at), binned.as_one[tests[at]])
    trees = BinaryTrees(
        tuple(binned.attributes[tests[at]] for at in used),
        tuple(binned.edges[tests[at]] for at in used),
        number[splits.test],
        splits.first.copy(),
        side,
        parent,
    )
    return trees, grown.leaves(kept)


def _join(side: Words, nodes: Rows, codes: Rows) -> None:
    """Send rows with any of these codes to the side of the first of them."""
    one = np.uint64(1)
    for code in codes[1:].tolist():
        on_first = (side[nodes, codes[0] >> 6] >> np.uint64(codes[0] & 63)) & one
        bit = one << np.uint64(code & 63)
        side[nodes, code >> 6] = np.where(on_first == one, side[nodes, code >> 6] | bit, side[nodes, code >> 6] & ~bit)


def rare_as_one(column: Column) -> tuple[Array, Rows]:
    """The values of a category, its rare levels as one, and the bins of these levels; a number as it is."""
    if not column.is_category:
        return column.values, np.empty(0, np.int64)
    bins = _rare_bins(column.values, len(column.levels))
    if not len(bins):
        return column.values, bins
    number = np.arange(-1, len(column.levels), dtype=np.int32)
    number[bins] = bins[0] - 1
    return number[column.values + 1], bins


def _rows_of_levels(values: Codes, levels: int) -> Rows:
    """The rows of each level; of missing values last."""
    rows = np.bincount(values + 1, minlength=levels + 1)
    return np.append(rows[1:], rows[0])


def _rare_bins(values: Codes, levels: int) -> Rows:
    """The bins of rare levels; missing is the last level, but the first bin, 0."""
    rare = _pool(_rows_of_levels(values, levels))
    found: Rows = np.where(rare == levels, 0, rare + 1)
    return found


def _pool(rows: Rows) -> Rows:
    """The levels of fewer than five rows, with the least common of the others if they have fewer than five together.

    >>> [_pool(np.array(rows)).tolist() for rows in ([500, 3, 40, 0, 1], [500, 3, 40, 2], [500, 30])]
    [[1, 2, 4], [1, 3], []]
    """
    order = np.argsort(rows, kind="stable")
    order = order[rows[order] > 0]
    before = np.cumsum(rows[order]) - rows[order]
    pool = order[before < FEW]
    pool = np.union1d(pool, np.flatnonzero((rows > 0) & (rows < FEW)))
    return pool if len(pool) > 1 and rows[pool].min() < FEW else pool[:0]


def _pruned(splits: "Splits", cells: int) -> tuple["Splits", Codes]:
    """The same trees without branches whose splits together do not pay, and the node there of each node here."""
    first, worth = splits.first.tolist(), splits.net.tolist()
    for node in range(len(first) - 1, -1, -1):  # children come after their parent
        if first[node] >= 0:
            worth[node] += max(worth[first[node]], 0.0) + max(worth[first[node] + 1], 0.0)
    kept, number = list(range(cells)), list(range(cells)) + [-1] * (len(first) - cells)
    is_split = [child >= 0 and net > 0 for child, net in zip(first, worth, strict=True)]
    for node in kept:  # grows as children are found
        if is_split[node]:
            number[first[node] : first[node] + 2] = len(kept), len(kept) + 1
            kept += [first[node], first[node] + 1]
    for node, child in enumerate(first):  # rows of a node that was removed are in the leaf above it
        if child >= 0 and number[child] < 0:
            number[child : child + 2] = number[node], number[node]
    old, numbers = np.array(kept, np.int64), np.array(number, np.int32)
    inner = np.array(is_split)[old]
    pruned = splits._replace(
        test=np.where(inner, splits.test[old], -1).astype(np.int32),
        first=np.where(inner, numbers[splits.first[old]], -1).astype(np.int32),
        side=splits.side[old],
        net=splits.net[old],
    )
    return pruned, numbers


# A column is dealt in stages, from coarse to fine: a number first as one of a few groups of neighbouring ranks, then as
# a part of its group, then as a value; a category with many levels first as a common level or "a rarer one", then as a
# level or "one of few rows", then as that. Each stage but the last has trees of its own, whose splits must pay. So a
# leaf holds the counts of a few groups, not of every value.

NUMBER_GROUPS = 8  # groups of a number in one stage, and parts of a group in the next
MAX_CLASSES = 1000  # of a stage; rarer levels are distinguished only in the last stage
# Rows of a level from which trees are grown for it, its pairs are compared, and its absent pairs are avoided. With
# fewer, released rows with the level would show what its people have: of ten people who have one of two equally
# frequent values, all have the same one time in 500.
COMMON = 10
# Rows of a level from which it is tested by itself, and dealt inside leaves. Rarer ones are one code, which is tested
# and dealt instead; then they are dealt at random among the rows that received the code. Otherwise a side or a leaf
# would show what the few people with the level have.
FEW = 5
TINY = np.finfo(np.float64).tiny
CODES_AT_ONCE = 64  # codes that are counted in every node at a time


@dataclass(frozen=True, eq=False)
class Coding:
    """How the values of a column become codes of a stage. Missing has a code of its own."""

    attribute: Attribute
    edges: Floats  # the largest value of each fine group of a number; empty for a category
    number: Codes  # the code of each fine group or level; the last entry is for missing values
    count: int  # number of codes

    def codes(self, column: Column) -> Codes:
        """The codes of a column, of this table or another; an unknown level counts as missing."""
        if self.attribute.is_number:
            bins = code_columns((self.attribute,), (self.edges,), (column.values,), len(column))
            known = np.minimum(bins[:, 0], len(self.number) - 1)  # a value of a column without values counts as missing
            found: Codes = np.roll(self.number, 1)[known]  # bin 0 is for missing values
        else:
            found = self.number[_codes_of(self.attribute, column)]
        return found


def _codes_of(attribute: Attribute, column: Column) -> Codes:
    return column.values if column.levels == attribute.levels else column_for(attribute, Table((column,)))


@dataclass(frozen=True, eq=False)
class Stage:
    """A stage of dealing a column: trees inside the codes of the stage before, which decide on the next code."""

    coding: Coding
    start: Codes  # (rows,) the code before
    code: Codes  # (rows,) the code afterwards
    trees: BinaryTrees
    leaf: Codes  # (rows,) the leaf of each original row; the same array as ``start`` without splits
    is_final: bool = False  # the values of a code are dealt: no trees are grown and no figures compared
    kept: Bools | None = None  # (nodes,) splits across which no values are exchanged; None without such splits
    is_among: bool = False  # the first split says which rows may have a value: no value is exchanged across it at all

    def bounds(self, *, of_rules: bool = False) -> tuple[Codes, Codes]:
        """The parent and the first child of each node, as far as values may be exchanged between children."""
        parent, first = self.trees.parent, self.trees.first
        cut = np.zeros(len(parent), np.bool_) if self.kept is None or of_rules else self.kept
        cut = cut | (parent < 0) if self.is_among else cut
        return np.where((parent >= 0) & cut[parent], -1, parent), np.where(cut, -1, first)

    @property
    def parameters(self) -> int:
        """The shares that the leaves have beyond those of the start cells: what a release reveals by its trees."""
        if not self.trees.attributes:
            return 0
        return _shares(self.leaf, self.code) - _shares(self.start, self.code)

    def described(self, given: Table, floor: int) -> tuple[float, float]:
        """The bits that describe the trees, and those that describe the counts of codes in their leaves.

        This is the length of a prefix code, from the root down, for a reader who knows the values of each column, the
        columns that may be tested, and ``floor``. A node of at least twice that many rows and two codes takes one bit:
        is it split? A split takes the bits that choose a column and a cut or a set of its levels. Then follow the
        number of rows on the first side, which the tested column tells at the root of the whole table, and, for each
        code but the most frequent, how many of these rows have it. A final stage has no trees and takes no bits. With
        splits that are kept every node takes the first bit, a side may have any number of rows, and no test tells it.
        """
        if self.is_final or not len(given.names):
            return 0.0, 0.0
        trees, floor = self.trees, max(floor, 1) if self.kept is None else 0
        inner = np.flatnonzero(trees.tested >= 0)
        size = self._counts(None, 0, 1)[:, 0]
        smaller = np.minimum(size[trees.first[inner]], size[trees.first[inner] + 1])
        codes, logs, largest = np.zeros(len(trees)), np.zeros(len(inner)), np.zeros(len(inner))
        width = int(self.code.max(initial=0)) + 1
        for begin in range(0, width, CODES_AT_ONCE):
            counts = self._counts(self.code, begin, min(begin + CODES_AT_ONCE, width))
            codes += (counts > 0).sum(axis=1)
            possible = np.log2(np.minimum(counts[inner], smaller[:, None]) + 1.0)
            logs, largest = logs + possible.sum(axis=1), np.maximum(largest, possible.max(axis=1))
        sizes = np.log2(np.maximum(size[inner] - 2 * floor + 1, 1))
        if not self.start.any() and self.kept is None:
            sizes[trees.parent[inner] < 0] = 0.0
        asked = int(np.count_nonzero((size >= 2 * floor) & ((codes > 1) | (self.kept is not None))))
        of_trees = asked + len(inner) * log2(len(given.names)) + trees.choice_bits(given)
        return of_trees, float((sizes + logs - largest).sum())

    def _counts(self, code: Codes | None, begin: int, end: int) -> Rows:
        """The rows of every node with each code from ``begin`` up to ``end``; all rows of it without codes."""
        trees, width = self.trees, end - begin
        place: Array = self.leaf
        if code is not None:
            here = slice(None) if width > int(code.max(initial=0)) else np.flatnonzero((code >= begin) & (code < end))
            place = _numbered(self.leaf[here], width, code[here]) - begin
        counts = np.bincount(place, minlength=len(trees) * width).reshape(len(trees), width)
        depth = np.zeros(len(trees), np.int64)
        for node in np.flatnonzero(trees.parent >= 0):  # a parent comes before its children
            depth[node] = depth[trees.parent[node]] + 1
        for level in range(int(depth.max(initial=0)) - 1, -1, -1):
            inner = np.flatnonzero((depth == level) & (trees.tested >= 0))
            counts[inner] = counts[trees.first[inner]] + counts[trees.first[inner] + 1]
        return counts

    @property
    def own_share(self) -> Floats:
        """For each row, the log of the share of its own code in its leaf over what the others of the leaf predict.

        The others predict with one row added for each of the m codes that are possible (Laplace). In a leaf of n rows
        the ratio is (n + m - 1) / n, whatever the code. It is left out where the tree has no split.
        """
        if not self.trees.attributes:
            return np.zeros(len(self.leaf))
        rows = np.maximum(np.bincount(self.leaf, minlength=len(self.trees)), 1)
        possible = _codes_in(self.start, self.code)  # of start cells up to the last that occurs
        others = np.maximum(possible[np.minimum(self.trees.root, len(possible) - 1)] - 1, 0)
        return np.where(self.trees.parent >= 0, np.log1p(others / rows), 0.0)[self.leaf]


def codings(column: Column, groups: int = NUMBER_GROUPS, bins: int | None = None, apart: bool = False) -> list[Coding]:
    """The codings of a column from coarse to fine; if ``apart``, no level shares a code with missing values."""
    attribute = Attribute(column.name, column.levels, not column.is_category)
    if column.is_category:
        return _codings_of_levels(column, attribute, 2 * groups, apart)
    if bins is not None:
        classes = quantile_edges(column.values, bins=bins)
        parts = min(groups * groups, MAX_BINS - len(classes))
        edges = np.union1d(_parts(column.values, parts)[0], classes) if parts > 0 else classes
        coarse, count = np.searchsorted(classes, edges), len(classes)
    else:
        edges, middle = _parts(column.values, min(groups * groups, MAX_BINS))
        coarse, count = (middle * groups).astype(np.int64), groups
    fine = np.arange(len(edges) + 1, dtype=np.int32)
    found = [Coding(attribute, edges, fine, len(fine))]
    if len(edges) > count:
        found.insert(0, Coding(attribute, edges, np.append(coarse, count).astype(np.int32), count + 1))
    return found


def _parts(values: Floats, parts: int) -> tuple[Floats, Floats]:
    """The largest value of each of a number's parts, and where the middle of each lies between 0 and 1.

    Parts have about equal weight. A row weighs more the further its value is from the median, so that the few values
    on which a correlation depends are distinguished: half of the weight is that of rows, half of their distances.
    """
    values = sample_values(values)
    distinct, rows = np.unique(values[~np.isnan(values)], return_counts=True)
    if not len(distinct):
        return distinct, distinct
    scaled = distinct / max(np.abs(distinct[[0, -1]]).max(), TINY)  # sums of large numbers would overflow
    away = np.abs(scaled - scaled[np.searchsorted(np.cumsum(rows), rows.sum() / 2)])
    weight = rows / rows.sum()
    if away.any():
        weight = (weight + away * rows / (away * rows).sum()) / 2
    part = np.arange(len(distinct)) if len(distinct) <= parts else (_middles(weight) * parts).astype(np.int64)
    last = np.flatnonzero(np.append(part[1:] != part[:-1], True))
    return distinct[last], _middles(np.diff(np.append(0.0, np.cumsum(weight)[last])))


def _middles(weight: Floats) -> Floats:
    """The middle of each weight on a line from 0 to 1, below 1."""
    return np.minimum((np.cumsum(weight) - weight / 2) / weight.sum(), 1 - 1e-9)


def _codings_of_levels(column: Column, attribute: Attribute, groups: int, apart: bool) -> list[Coding]:
    """Common levels and one code for all others, then all levels but the rare ones, which have one code."""
    rows = _rows_of_levels(column.values, len(column.levels))
    rows[-1] = len(column) + 1 if apart else rows[-1]  # more than any level has
    pool = np.setdiff1d(_pool(rows), [len(column.levels)] if apart else [])
    stands_for = np.arange(len(rows))
    stands_for[pool] = pool[:1]
    rows = np.bincount(stands_for, rows, len(rows))
    common = np.argsort(-rows, kind="stable")
    found = []
    for count in (groups, MAX_CLASSES):
        if count == groups and (rows > 0).sum() <= groups:
            continue
        number = np.full(len(rows), count - 1, np.int32)
        number[common[: count - 1]] = np.arange(min(count - 1, len(common)))
        found.append(Coding(attribute, np.empty(0), number[stands_for], int(number.max()) + 1))
    return found


def stages_of(
    column: Column,
    binned: Binned,
    *,
    given: Sequence[str],
    floor: int,
    price: float,
    groups: int = NUMBER_GROUPS,
    bins: int | None = None,
    one_level: bool = False,
    part_price: float | None = None,
    among: tuple[str, float] | None = None,
    keep: Callable[[Codes, int, Codes], FixedSplits] | None = None,
) -> tuple[Stage, ...]:
    """The stages of dealing a column given others; ``part_price`` is that of splits inside the groups of a number.

    The first stage begins with the test ``among``; all rows that fail it must have no value. ``keep`` gives splits for
    every stage, from the codes before, their number, and the codes afterwards.
    """
    start, cells = np.zeros(len(column), np.int32), 1
    found: list[Stage] = []
    for coding in codings(column, groups, bins, apart=among is not None):
        code, kept = coding.codes(column), None
        alike = _rare_together(start, code) if column.is_category else code
        if among is not None and column.is_category and not found:  # no split must separate few from missing values
            alike = np.where(np.bincount(alike)[alike] < FEW, coding.number[-1], alike)
        target, classes = _within(start, alike)
        how: dict[str, Any] = {"given": given, "floor": floor, "price": price, "one_level": one_level}
        if among is not None and not found:
            trees, leaf, _ = grow_below(binned, target, classes, start, least_value(binned, *among), **how)
        elif keep is not None:
            trees, leaf, kept = grow_below(binned, target, classes, start, keep(start, cells, code), **how)
        else:
            trees, leaf = grow_binary(binned, target, classes, start, cells, **how)
        found.append(Stage(coding, start, code, trees, leaf, kept=kept, is_among=among is not None and not found))
        start, cells = code, coding.count
        if part_price is not None and not column.is_category:
            price, one_level = part_price, False
    if not _determines(column, found[-1].coding, start):
        last = _every_level(found[-1].coding)
        code = start if last is found[-1].coding else last.codes(column)
        found.append(Stage(last, start, code, no_trees(cells), start, is_final=True))
    return tuple(found)


def _every_level(coding: Coding) -> Coding:
    """A code for each level of a category, unless they are many; a number has the codes it had."""
    levels = len(coding.attribute.levels)
    if coding.attribute.is_number or levels >= MAX_CLASSES:
        return coding
    return Coding(coding.attribute, coding.edges, np.arange(levels + 1, dtype=np.int32), levels + 1)


def _numbered(label: Codes, width: int, code: Codes) -> Rows:
    """One number for each pair of a label and a code below ``width``, in 64 bits: 32 could overflow."""
    found = label.astype(np.int64)
    found *= width
    found += code
    return found


def _shares(label: Codes, code: Codes) -> int:
    """How many codes occur in each cell beyond the first, summed over cells."""
    width = int(code.max(initial=0)) + 1
    return _occurring(_numbered(label, width, code)) - _occurring(label)


def _codes_in(start: Codes, code: Codes) -> Rows:
    """How many codes occur in each start cell."""
    width, cells = int(code.max(initial=0)) + 1, int(start.max(initial=0)) + 1
    found = np.zeros(cells * width, np.bool_)
    found[_numbered(start, width, code)] = True
    return found.reshape(cells, width).sum(axis=1)


def _occurring(numbers: Array) -> int:
    """How many numbers occur, in few passes where they are small."""
    if int(numbers.max(initial=0)) > 8 * len(numbers):
        return len(np.unique(numbers))
    return int(np.count_nonzero(np.bincount(numbers)))


def _rare_together(start: Codes, code: Codes) -> Codes:
    """Codes in which all rare levels of a start cell are one: a split must not pay by separating few people.

    A level that one person has gains a bit by any split in halves, whatever is tested, which is more than a split pays
    for it at the usual price.
    """
    rows = np.bincount(code)
    before = np.zeros(len(rows), np.int64)
    before[code] = start
    rare = np.flatnonzero((rows > 0) & (rows < COMMON))
    new = np.arange(len(rows), dtype=np.int32)
    for cell in np.unique(before[rare]):
        here = rare[before[rare] == cell]
        new[here] = here[0]
    return new[code]


def _within(start: Codes, code: Codes) -> tuple[Codes, int]:
    """Codes numbered from 0 inside the code of the stage before, which each determines, and the most in one of them."""
    before = np.full(int(code.max(initial=0)) + 1, -1, np.int64)
    before[code] = start
    present = np.flatnonzero(before >= 0)
    ordered = present[np.argsort(before[present], kind="stable")]
    number = np.zeros(len(before), np.int32)
    number[ordered] = np.arange(len(ordered)) - np.searchsorted(before[ordered], before[ordered])
    return number[code], int(number.max(initial=0)) + 1


def _determines(column: Column, coding: Coding, code: Codes) -> bool:
    """Whether rows with equal codes have equal values."""
    if column.is_category:
        rows = _rows_of_levels(column.values, len(column.levels))
        return len(np.unique(coding.number[rows > 0])) == np.count_nonzero(rows)
    largest = np.append(coding.edges, np.nan)[code]  # of the group
    return bool((column.values == largest)[~column.missing].all())
