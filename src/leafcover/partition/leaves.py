"""Cells from one tree: its leaves, with small leaves pooled; or the whole table as one cell."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Literal

import numpy as np

from leafcover.arrays import MISSING, Array, Bools, Codes, Rows
from leafcover.cells import Cells, LevelSet, Range, Side, one_cell
from leafcover.errors import PlanError, ValueOutOfRange
from leafcover.partition.base import Partition, PartitionMethod, column_names, methods, partition
from leafcover.table.table import Column, Table
from leafcover.tree.binary import FEW, NUMBER_GROUPS, rare_as_one, stages_of
from leafcover.tree.c45 import grow
from leafcover.tree.histogram import Binned, FixedSplit, FixedSplits, bin_columns
from leafcover.tree.predict import leaf_membership
from leafcover.tree.tree import ANY_LEVEL, Attribute, LeafMembership, Tree, classes_of, group_of, leaf_boxes, set_boxes

MOST_ROWS = 1_000_000_000  # that a parameter may ask for
DEGREES = 20  # generations of ancestors that are recorded, for siblings and cousins


@partition("whole")
@dataclass(frozen=True)
class Whole(PartitionMethod):
    """One cell that contains every row.

    Examples
    --------
    >>> import leafcover as lc
    >>> table = lc.read(lc.sample("cps1985"))
    >>> lc.Whole().cells(table).cells.count
    1
    """

    frozen_id: ClassVar[str] = "whole"
    places_released: ClassVar[bool] = True

    def describe(self, *, own: str | None = None) -> str:
        """Which rows share a cell."""
        return methods()("whole")

    @property
    def needs(self) -> tuple[str, ...]:
        """No column."""
        return ()

    def cells(self, table: Table) -> Partition:
        """One cell."""
        return Partition(one_cell(len(table)))


@partition("leaves")
@dataclass(frozen=True)
class Leaves(PartitionMethod):
    """The leaves of the tree that predicts ``of`` from the other columns, none smaller than ``min_cell`` rows.

    A row with missing values shares a cell with the rows that reach the same leaves.

    Parameters
    ----------
    of : str
        The target of the tree.
    min_cell : int, default 5
        The minimum number of rows in a cell. A smaller leaf is pooled with its siblings.
    min_records : int, optional
        At least two branches of every test must have this many rows. Default: the larger of 2 and ``min_cell``.
    confidence : float, default 0.25
        Confidence level of the pessimistic error estimate used for pruning. Smaller values prune more.
    bins : int, optional
        Group a numeric target into this many classes of about equal size. Required if it has more than 10 distinct
        values.
    grower : {"auto", "exact", "histogram"}, default "auto"
        "exact" reproduces C4.5. "histogram" bins numbers and is faster. "auto" uses histograms above 200,000 rows.

    Examples
    --------
    >>> import leafcover as lc
    >>> table = lc.read(lc.sample("cps1985"))
    >>> cells = lc.Leaves(of="occupation", min_cell=20).cells(table).cells
    >>> cells.count, int(cells.sizes.min())
    (7, 23)
    """

    frozen_id: ClassVar[str] = "leaves"
    of: str
    min_cell: int = 5
    min_records: int | None = None
    confidence: float = 0.25
    bins: int | None = None
    grower: Literal["auto", "exact", "histogram"] = "auto"

    def __post_init__(self) -> None:
        for name, rows in (("min_cell", self.min_cell), ("min_records", self.min_records)):
            if rows is not None and not 1 <= rows <= MOST_ROWS:
                raise ValueOutOfRange(f"Leaves.{name}", rows, f"a whole number of rows from 1 to {MOST_ROWS:,}")
        if not 0 < self.confidence <= 1:
            raise ValueOutOfRange("Leaves.confidence", self.confidence, "above 0 and at most 1")

    def describe(self, *, own: str | None = None) -> str:
        """Which rows share a cell."""
        return methods()("leaves-own" if self.of == own else "leaves", of=self.of, rows=self.min_cell)

    @property
    def min_rows(self) -> int:
        """The minimum number of rows, from the parameters."""
        return self.min_cell

    @property
    def tree_target(self) -> str:
        """The tree's target."""
        return self.of

    @property
    def tree_bins(self) -> int | None:
        """The number of classes of a numeric target, from the parameters."""
        return self.bins

    @property
    def needs(self) -> tuple[str, ...]:
        """The target."""
        return (self.of,)

    def cells(self, table: Table) -> Partition:
        """Grow the tree and pool its small leaves."""
        tree = grow(
            table,
            target=self.of,
            min_records=max(2, self.min_cell) if self.min_records is None else self.min_records,
            confidence=self.confidence,
            bins=self.bins,
            grower=self.grower,
        )
        return leaves(table, tree, min_cell=self.min_cell, classes=classes_of(table[self.of], bins=self.bins)[1])


def leaves(table: Table, tree: Tree, *, min_cell: int, classes: Array) -> Partition:
    """The cells of a tree that has already been grown."""
    reached = leaf_membership(tree, table)
    sizes = np.bincount(reached.set_of_row, minlength=len(reached))
    number = pool(tree, reached, sizes, min_cell)
    count = int(number.max()) + 1
    label = number[reached.set_of_row]
    pooled = np.bincount(number[number >= 0], minlength=count) > 1
    cells = Cells(
        label,
        count,
        box=_hulls(tree, reached, number, count),
        groups=_groups(tree, number, pooled),
        mixed=mixed_cells(label, classes, count),
        pooled=pooled,
    )
    small = int(sizes[sizes < min_cell].sum())
    return Partition(cells, (tree,), _notes(tree, table, cells, min_cell, small))


def _notes(tree: Tree, table: Table, cells: Cells, min_cell: int, small: int) -> tuple[str, ...]:
    notes = []
    if cells.pooled_rows:
        notes.append(
            f"{small} rows are in leaves of the tree for {tree.target!r} smaller than {min_cell} rows; these leaves "
            f"are pooled with their siblings. The {cells.pooled_rows} pooled rows may change their leaf."
        )
    if cells.count == 1:
        notes.append(f"The leaves of the tree for {tree.target!r} form one cell with all {len(table)} rows.")
    return tuple(notes)


def mixed_cells(label: Rows, classes: Array, count: int) -> Bools:
    """Which cells contain more than one class."""
    known = classes != MISSING
    low, high = np.full(count, np.iinfo(np.int32).max), np.full(count, -1)
    np.minimum.at(low, label[known], classes[known])
    np.maximum.at(high, label[known], classes[known])
    return high > low


def _groups(tree: Tree, number: Array, pooled: Bools) -> tuple[Array, ...]:
    """For each degree, the ancestor of each cell that is a single leaf; -1 for pools and sets of leaves."""
    single = np.flatnonzero(number[: len(tree.leaves)] >= 0)  # the first sets are the single leaves
    single = single[~pooled[number[single]]]
    found = []
    for degree in range(1, DEGREES + 1):
        group = np.full(len(pooled), -1, np.int64)
        group[number[single]] = group_of(tree, degree)[single]
        found.append(group)
        if not group.max(initial=-1) > 0:  # all have reached the root
            break
    return tuple(found)


def _hulls(tree: Tree, reached: LeafMembership, number: Array, count: int) -> dict[str, Side]:
    """The box of each cell: the intersection over the leaves of a set, the union over the sets of a pool."""
    box = set_boxes(leaf_boxes(tree), reached)
    used = np.flatnonzero(number >= 0)
    cell = number[used]
    sides: dict[str, Side] = {}
    for a in sorted({int(a) for a in tree.tested if a >= 0}):
        attribute = tree.attributes[a]
        if attribute.is_number:
            low, high = np.full(count, np.inf), np.full(count, -np.inf)
            np.minimum.at(low, cell, box.low[used, a])
            np.maximum.at(high, cell, box.high[used, a])
            sides[attribute.name] = Range(low, high)
        else:
            code = box.allowed[used, a]
            one = (code[:, None] == np.arange(len(attribute.levels))) | (code[:, None] == ANY_LEVEL)
            allowed = np.zeros((count, len(attribute.levels)), np.bool_)
            np.logical_or.at(allowed, cell, one)
            sides[attribute.name] = LevelSet(allowed, np.arange(count))
    return sides


# Pooling of small leaves: with siblings, smallest first, then with cousins.


@dataclass(frozen=True)
class _Pool:
    size: int
    places: tuple[int, ...]

    def __add__(self, other: "_Pool") -> "_Pool":
        return _Pool(self.size + other.size, self.places + other.places)


def pool(tree: Tree, reached: LeafMembership, sizes: Rows, min_cell: int) -> Array:
    """The pool number of each set of leaves that some rows reach; every pool has at least ``min_cell`` rows.

    A set of one leaf is placed at that leaf, a set of several at the node where their paths diverge. Sets that no row
    reaches get -1. Only a table of fewer than ``min_cell`` rows has a smaller pool, which is the whole table.
    """
    if min_cell == 1:  # every set that some row reaches is its own pool
        return np.where(sizes > 0, np.cumsum(sizes > 0) - 1, -1)
    waiting: list[list[_Pool]] = [[] for _ in range(tree.size)]
    leaves = tree.leaves
    for place in np.flatnonzero(sizes).tolist():
        node = _meeting(tree, leaves[reached.leaves_of(place)])
        waiting[node].append(_Pool(int(sizes[place]), (place,)))
    for node in range(tree.size - 1, -1, -1):  # nodes are numbered breadth-first, so children come before parents here
        waiting[node] = _enough(waiting[node], min_cell)
        if node:
            waiting[tree.parent[node]].extend(waiting[node])
    number = np.full(len(sizes), -1, np.int64)
    done = sorted(waiting[0], key=lambda one: min(one.places))
    for i, one in enumerate(done):
        number[list(one.places)] = i
    return number


def _enough(pools: list[_Pool], min_cell: int) -> list[_Pool]:
    """Merge pools until each is large enough or only one is left."""
    small = sorted((p for p in pools if p.size < min_cell), key=_by_size)
    if not small:
        return pools
    large = sorted((p for p in pools if p.size >= min_cell), key=_by_size, reverse=True)
    while small:
        one = small.pop(0)
        while one.size < min_cell and (small or large):
            one = one + (small.pop(0) if small else large.pop())
        if one.size < min_cell:
            return [one]
        large.append(one)
    return large


def _by_size(one: _Pool) -> tuple[int, int]:
    return one.size, min(one.places)


def _meeting(tree: Tree, leaves: Array) -> int:
    """The lowest common ancestor of the leaves (the leaf itself if there is only one)."""
    nodes = {int(leaf) for leaf in leaves}
    while len(nodes) > 1:
        deepest = max(nodes)  # nodes are numbered breadth-first, so a parent has the smaller number
        nodes.remove(deepest)
        nodes.add(int(tree.parent[deepest]))
    return nodes.pop()


# Leaves for a column given others: binary trees that also place rows which are released so far.


PRICE = 0.7  # of a split; 1 is the full cost of choosing it and of fitting its two sides by chance
MOST_GROUPS = 15


@partition("conditional")
@dataclass(frozen=True)
class Conditional(PartitionMethod):
    """The leaves of trees that predict ``of`` from ``given`` alone, each split worth its price.

    The trees are grown from the original and place released rows by their released values, so the columns ``given``
    must be released before. A number is predicted as one of a few groups of neighbouring values, then, inside each
    group, as one of its parts.

    Parameters
    ----------
    of : str
        The column to predict.
    given : str or sequence of str
        The columns that may be tested. A category with more than 1,000 levels is never tested.
    min_cell : int, default 50
        The minimum number of rows in a leaf.
    price : float, default 0.7
        The gain of a split, in bits, must exceed this many times its cost: the bits to choose the split, and what
        fitting both sides gains by chance. 0 splits wherever anything is gained; larger values protect more.
    groups : int, default 8
        The number of groups of a number, and of parts of each group. A category is first predicted as one of twice as
        many levels, the last of which stands for all rarer ones.
    bins : int, optional
        For a numeric target: first predict one of this many groups of about equal size.
    one_level : bool, default False
        Separate one level of a category from the others in a split, and prune branches that do not pay, as programs
        that grow decision trees do. By default a split separates any two sets of levels and must pay for itself.
    part_price : float, optional
        The price of splits inside the groups of a number, which then separate sets of levels; by default all splits are
        made in the same way.
    among, least : str and float, optional
        A number among the columns given, and the least value with which a row has a value in ``of`` at all: the tree
        begins with this test. All other rows must have none.
    kept_with : str or sequence of str, optional
        Some of the columns given, whose table with ``of`` is kept: the trees begin with splits by their values,
        whatever these cost, and no value crosses them. Cells of the table with fewer than ``min_cell`` rows are not
        kept: their rows are dealt together with some rows of the largest cells.

    Examples
    --------
    >>> import leafcover as lc
    >>> table = lc.read(lc.sample("cps1985"))
    >>> cells = lc.Conditional(of="occupation", given=["education", "gender"], min_cell=40).cells(table).cells
    >>> cells.count, int(cells.sizes.min())
    (5, 50)
    """

    frozen_id: ClassVar[str] = "conditional"
    places_released: ClassVar[bool] = True
    of: str
    given: tuple[str, ...]
    min_cell: int = 50
    price: float = PRICE
    groups: int = NUMBER_GROUPS
    bins: int | None = None
    one_level: bool = False
    part_price: float | None = None
    among: str | None = None
    least: float | None = None
    kept_with: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "given", column_names("Conditional.given", self.given))
        if (self.among is None) != (self.least is None):
            raise PlanError("Conditional.among and Conditional.least belong together. Give both or neither.")
        if self.among is not None and self.among not in self.given:
            raise PlanError(f"Conditional.among names {self.among!r}, which is not given. Add it to given.")
        if self.kept_with is not None:
            object.__setattr__(self, "kept_with", column_names("Conditional.kept_with", self.kept_with))
        if unknown := [name for name in self.kept_with or () if name not in self.given]:
            raise PlanError(f"Conditional.kept_with names {unknown[0]!r}, which is not given. Add it to given.")
        if self.kept_with is not None and self.among is not None:
            raise PlanError("Conditional.kept_with cannot be combined with Conditional.among. Leave one out.")
        if self.of in self.given:
            raise PlanError(f"Conditional.given names {self.of!r}, the column to predict. Leave it out.")
        if not 1 <= self.min_cell <= MOST_ROWS:
            raise ValueOutOfRange("Conditional.min_cell", self.min_cell, f"a whole number from 1 to {MOST_ROWS:,}")
        if not 0 <= self.price <= 1000:
            raise ValueOutOfRange("Conditional.price", self.price, "a number from 0 to 1000")
        if self.part_price is not None and not 0 <= self.part_price <= 1000:
            raise ValueOutOfRange("Conditional.part_price", self.part_price, "a number from 0 to 1000")
        if not 2 <= self.groups <= MOST_GROUPS:
            raise ValueOutOfRange("Conditional.groups", self.groups, f"a whole number from 2 to {MOST_GROUPS}")

    def describe(self, *, own: str | None = None) -> str:
        """Which rows share a cell."""
        return methods()("conditional-own" if self.of == own else "conditional", of=self.of, rows=self.min_cell)

    @property
    def min_rows(self) -> int:
        """The minimum number of rows, from the parameters."""
        return self.min_cell

    @property
    def tree_target(self) -> str:
        """The column to predict."""
        return self.of

    @property
    def tree_bins(self) -> int | None:
        """The number of classes of a numeric target, from the parameters."""
        return self.bins

    @property
    def needs(self) -> tuple[str, ...]:
        """The column to predict and those that may be tested."""
        return (self.of, *self.given)

    @property
    def needs_released(self) -> tuple[str, ...]:
        """The columns that must be released before."""
        return self.given

    def cells(self, table: Table) -> Partition:
        """Grow the trees."""
        # In the order of the table, as recipes do: of two tests that separate equally well, a tree takes the first.
        return self.grown(table[self.of], bin_given([column for column in table if column.name in self.given]))

    def grown(self, column: Column, binned: Binned) -> Partition:
        """Grow the trees from columns that are already binned."""
        stages = stages_of(
            column,
            binned,
            given=self.given,
            floor=self.min_cell,
            price=self.price,
            groups=self.groups,
            bins=self.bins,
            one_level=self.one_level,
            part_price=self.part_price,
            among=None if self.among is None or self.least is None else (self.among, self.least),
            keep=None if self.kept_with is None else kept_splits(binned, self.kept_with, self.min_cell),
        )
        cells = one_cell(len(column))
        if stages[0].trees.attributes:
            held = np.bincount(stages[0].leaf) > 0
            cells = Cells((np.cumsum(held) - 1)[stages[0].leaf], int(np.count_nonzero(held)))
        one = f"A tree with leaves of at least {self.min_cell} rows cannot split: all {len(column)} rows form one cell."
        notes = (one,) if len(column) < 2 * self.min_cell else ()
        return Partition(cells, notes=notes, stages=stages)


# A table is kept if the last of its columns is dealt inside the combinations of the others. Rows of small cells are
# put aside at the root: nobody who receives a value reaches their leaf, so they are dealt to those who are left over.


def kept_splits(binned: Binned, names: Sequence[str], floor: int) -> Callable[[Codes, int, Codes], FixedSplits]:
    """Splits by the values of some columns in every start cell of several codes; rows of small cells are set aside."""
    tests = [next(i for i, a in enumerate(binned.attributes) if a.name == name) for name in names]
    keys, place = np.unique(binned.codes[:, tests], axis=0, return_inverse=True)
    place = place.ravel().astype(np.int32)
    tree = _by_values(binned, tests, keys, np.arange(len(keys)))
    every = np.arange(int(binned.sizes[tests[0]]))

    def splits(start: Codes, cells: int, code: Codes) -> FixedSplits:
        trees: list[FixedSplit | int] = [0] * cells
        leaves, leaf, aside = np.ones(cells, np.int64), np.zeros(len(start), np.int32), np.zeros(len(start), np.bool_)
        order = np.argsort(start, kind="stable")
        for cell, rows in enumerate(np.split(order, np.searchsorted(start[order], np.arange(1, cells)))):
            small = _set_aside(place[rows], code[rows], floor)
            if small is None:
                continue
            leaf[rows], aside[rows] = np.where(small, len(keys), place[rows]), small
            trees[cell] = FixedSplit(tests[0], every, tree, len(keys)) if small.any() else tree
            leaves[cell] = len(keys) + int(small.any())
        return FixedSplits(tuple(trees), leaves, leaf, aside)

    return splits


def _by_values(binned: Binned, tests: Sequence[int], keys: Array, some: Rows) -> FixedSplit | int:
    """Splits that separate some combinations of codes from each other, the codes of a column in halves."""
    for at, test in enumerate(tests):
        codes = np.unique(keys[some, at]).astype(np.int64)
        if len(codes) > 1:
            half = codes[: len(codes) // 2]
            first = np.isin(keys[some, at], half)
            as_one = binned.as_one[test] if binned.as_one else codes[:0]
            if np.isin(as_one[:1], half).any():  # rare levels that are tested as one
                half = np.union1d(half, as_one)
            parts = (_by_values(binned, tests, keys, some[side]) for side in (first, ~first))
            return FixedSplit(test, half, *parts)
    return int(some[0])


def _set_aside(place: Rows, code: Codes, floor: int) -> Bools | None:
    """Which rows are set aside; None if nothing can be kept, or all rows have one code.

    They are those of cells of fewer than ``floor`` rows, and from the largest cell of the same combination as many
    again, at least five. If they are still few, or nearly all of one combination or code, the numbers of small cells
    would be known: five rows of other combinations are added.
    """
    if not len(code) or (code == code[0]).all():
        return None
    width = int(code.max()) + 1
    pairs, at, rows = np.unique(place.astype(np.int64) * width + code, return_inverse=True, return_counts=True)
    cells = np.stack(np.divmod(pairs, width))  # the combination and the code of each cell
    small = np.where(rows < floor, rows, 0)
    in_small = np.bincount(cells[0], small).astype(np.int64)
    aside = small.copy()

    def is_enough() -> bool:
        most = max(np.bincount(one, aside).max() for one in cells)
        return bool(aside.sum() >= floor and aside.sum() - most >= FEW)

    by_size = np.argsort(-rows, kind="stable")
    largest = by_size[np.unique(cells[0][by_size], return_index=True)[1]]  # of each combination
    for cell in sorted(largest, key=lambda cell: (in_small[cells[0, cell]] == 0, -rows[cell])):
        wanted = max(FEW, int(in_small[cells[0, cell]]))
        if small.any() and rows[cell] >= floor and (in_small[cells[0, cell]] or not is_enough()):
            aside[cell] = wanted if rows[cell] - wanted >= floor else rows[cell]
    if small.any() and (not is_enough() or (aside == rows).all()):
        return None
    order = np.argsort(at.ravel(), kind="stable")
    rank = np.arange(len(order)) - np.repeat(np.cumsum(rows) - rows, rows)
    some, all_of = np.repeat(aside, rows), np.repeat(rows, rows)
    found = np.zeros(len(order), np.bool_)
    found[order] = (rank + 1) * some // all_of > rank * some // all_of  # evenly spaced in each cell
    return found


MOST_LEVELS = 1000  # of a category that is tested


def bin_given(columns: Sequence[Column]) -> Binned:
    """Bin the columns that may be tested; categories with too many levels are left out.

    Rare levels of a category are tested as one. If each could take its own side of a split, it would take the side of
    the few people who have it: with 120 levels of one person each, released rows with such a level were in that
    person's quarter of a number in 75 to 88% of the cases, where 31% are there by chance.
    """
    tested = [c for c in columns if not c.is_category or len(c.levels) <= MOST_LEVELS]
    merged = [rare_as_one(c) for c in tested]
    binned = bin_columns([Attribute(c.name, c.levels, not c.is_category) for c in tested], [v for v, _ in merged])
    return replace(binned, as_one=tuple(codes for _, codes in merged))
