"""Cells from a forest: the intersections of the leaves of all its trees.

Fletcher and Islam (2015), "An anonymization technique using intersected decision trees". Cells that are too small are
pooled with cells that share most of their leaves. `Refine` divides such cells, or leaves, further.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from leafcover.arrays import MISSING, Array, Bools, Codes, Floats, Rows
from leafcover.cells import Cells, LevelSet, Range, Side, refine_cells
from leafcover.errors import PlanError, TableError, ValueOutOfRange
from leafcover.partition.base import Partition, PartitionMethod, column_names, methods, partition
from leafcover.partition.leaves import MOST_ROWS, Leaves, Whole, mixed_cells
from leafcover.table.table import Column, Table
from leafcover.tree.histogram import bin_columns, quantile_codes, refine_labels
from leafcover.tree.predict import leaf_membership
from leafcover.tree.sysfor import check_settings, grow_forest
from leafcover.tree.tree import ANY_LEVEL, Attribute, LeafMembership, Tree, classes_of, leaf_boxes, set_boxes


@partition("forest")
@dataclass(frozen=True)
class Forest(PartitionMethod):
    """The intersections of the leaves of a SysFor forest for ``of``, none smaller than ``min_cell`` rows.

    Parameters
    ----------
    of : str
        The target of the forest.
    n_trees : int, default 60
        The maximum number of trees. There are fewer if the table has fewer good tests.
    min_cell : int, default 5
        The minimum number of rows in a cell. Smaller cells are pooled, and their rows may change leaf in some trees.
        With 1 every row keeps its leaf in every tree, but with many trees most rows are singletons.
    goodness : float, default 0.3
        How far the gain ratio of a root test may fall below the best one.
    separation : float, default 0.3
        The minimum distance between two root cuts of the same number, as a fraction of its range.
    min_records : int, default 10
        At least two branches of every test must have this many rows.
    confidence : float, default 0.25
        Confidence level of the pessimistic error estimate used for pruning. Smaller values prune more.
    bins : int, optional
        Group a numeric target into this many classes of about equal size. Required if it has more than 10 distinct
        values.

    Examples
    --------
    >>> import leafcover as lc
    >>> table = lc.read(lc.sample("cps1985"))
    >>> partition = lc.Forest(of="occupation", n_trees=3, min_cell=20).cells(table)
    >>> len(partition.trees), int(partition.cells.sizes.min())
    (3, 22)
    """

    frozen_id: ClassVar[str] = "forest"
    of: str
    n_trees: int = 60
    min_cell: int = 5
    goodness: float = 0.3
    separation: float = 0.3
    min_records: int = 10
    confidence: float = 0.25
    bins: int | None = None

    def __post_init__(self) -> None:
        check_settings(self.n_trees, self.goodness, self.separation, self.min_records, self.confidence)
        if not isinstance(self.min_cell, int) or not 1 <= self.min_cell <= MOST_ROWS:
            raise ValueOutOfRange("min_cell", self.min_cell, f"a whole number of rows from 1 to {MOST_ROWS:,}")

    def describe(self, *, own: str | None = None) -> str:
        """Which rows share a cell."""
        return methods()("forest", of=self.of, trees=self.n_trees, rows=self.min_cell)

    @property
    def min_rows(self) -> int:
        """The minimum number of rows, from the parameters."""
        return self.min_cell

    @property
    def tree_target(self) -> str:
        """The target of the forest."""
        return self.of

    @property
    def tree_bins(self) -> int | None:
        """The number of classes of a numeric target, from the parameters."""
        return self.bins

    @property
    def needs(self) -> tuple[str, ...]:
        """The target."""
        return (self.of,)

    def refine(self, min_size: int) -> "Forest":
        """The same forest with cells of at least this many rows. A larger minimum keeps fewer rules and protects more.

        >>> Forest(of="income").refine(20).min_cell
        20
        """
        return replace(self, min_cell=min_size)

    def cells(self, table: Table) -> Partition:
        """Grow the forest and intersect its leaves."""
        trees = grow_forest(
            table,
            target=self.of,
            n_trees=self.n_trees,
            goodness=self.goodness,
            separation=self.separation,
            min_records=self.min_records,
            confidence=self.confidence,
            bins=self.bins,
        )
        found = meeting(table, trees, min_cell=self.min_cell, classes=classes_of(table[self.of], bins=self.bins)[1])
        few = f"The forest for {self.of!r} has {len(trees)} of {self.n_trees} trees: no further good tests were found."
        notes = found.notes if len(trees) == self.n_trees else (few, *found.notes)
        return Partition(found.cells, found.trees, notes)


# A cell holds the rows that reach the same leaves in every tree, and has the box that these leaves share. A row with
# missing values reaches several leaves of a tree; it shares a cell with the rows that reach the same ones. So a row
# that moves inside the box keeps its leaves in every tree, and values exchanged inside a cell preserve the counts of
# every leaf of every tree.


WINDOW = 300  # candidate cells to pool a small one with; a larger window preserves hardly more leaves


def meeting(table: Table, trees: Sequence[Tree], *, min_cell: int, classes: Array) -> Partition:
    """The intersections of the leaves of some trees, none smaller than ``min_cell`` rows.

    A smaller cell is pooled with the cells that share most of its leaves, earlier trees first. The box of a pool
    contains the boxes of its rows. ``classes`` are the codes of the target.
    """
    if not trees:
        raise PlanError("Intersecting leaves needs at least one tree. Got none.")
    met = _met(table, trees, keep_places=min_cell > 1)
    starts = np.flatnonzero(met.apart >= 0)
    sizes = np.diff(starts, append=len(table))
    number = _pools(met, starts, sizes, min_cell)
    count = int(number.max()) + 1
    label = np.empty(len(table), np.int64)
    label[met.order] = np.repeat(number, sizes)
    cells = Cells(
        label,
        count,
        box={name: _side(room, table[name], label, count) for name, room in met.rooms.items()},
        mixed=mixed_cells(label, classes, count),
        pooled=np.bincount(number, minlength=count) > 1,
    )
    return Partition(cells, tuple(trees), _notes(cells, sizes, len(trees), min_cell))


@dataclass(frozen=True, eq=False)
class _Allowed:
    """The range of one column that the leaves of each row allow."""

    low: Floats  # (rows,) low end of a number, exclusive; None for a category
    high: Floats
    named: Bools  # (rows,) whether some leaf requires the row's own level of a category; None for a number


@dataclass(frozen=True, eq=False)
class _Met:
    """The rows sorted by the leaves they reach in all trees."""

    order: Rows
    apart: Codes  # first tree that separates a row from the one before it, or TOGETHER
    rooms: dict[str, _Allowed]  # for each column that some tree tests
    places: Array | None  # (rows, trees) number of the set of leaves reached


def _met(table: Table, trees: Sequence[Tree], *, keep_places: bool) -> _Met:
    from leafcover.kernels.forest_cells import SAME_CELL, split_cells

    rows = len(table)
    apart = np.full(rows, SAME_CELL, np.int32)
    apart[:1] = 0
    kept = np.empty((rows, len(trees)), np.int32) if keep_places else None
    met = _Met(np.arange(rows), apart, _rooms(table, trees), kept)
    for number, tree in enumerate(trees):
        reached = leaf_membership(tree, table)
        split_cells(met.order, met.apart, reached.set_of_row, len(reached), number)
        _narrow(met.rooms, tree, reached)
        if kept is not None:
            kept[:, number] = reached.set_of_row
    return met


def _pools(met: _Met, starts: Rows, sizes: Rows, min_cell: int) -> Array:
    """The pool number of each cell.

    Splitting by one tree after another and merging the smallest parts each time is simpler, but then more rows lose a
    leaf when they move inside their boxes: 5.1 % instead of 4.5 % on Adult, 12.7 % instead of 10.8 % on WBC (60 trees,
    5 rows per cell).
    """
    from leafcover.kernels.forest_cells import pool_cells

    if met.places is None:
        return np.arange(len(starts))
    pools: Codes = pool_cells(met.places, met.order[starts], sizes, met.apart[starts], min_cell, WINDOW)
    return pools


def _rooms(table: Table, trees: Sequence[Tree]) -> dict[str, _Allowed]:
    """The allowed ranges before any tree is applied: the whole domain of each column that some tree tests."""
    tested = {(t.attributes[a].name, t.attributes[a].is_number) for t in trees for a in np.unique(t.tested) if a >= 0}
    for name, is_number in tested:
        if name in table.names and is_number == table[name].is_category:
            grown_as, here = ("number", "category") if is_number else ("category", table[name].kind)
            raise TableError(
                f"Column {name!r} is a {grown_as} where the trees grew, but a {here} here. Read it the same way."
            )
    names, rows = {name for name, _ in tested}, len(table)
    none = np.empty(0)
    return {
        c.name: _Allowed(none, none, np.zeros(rows, np.bool_))
        if c.is_category
        else _Allowed(np.full(rows, -np.inf), np.full(rows, np.inf), np.empty(0, np.bool_))
        for c in table
        if c.name in names
    }


def _narrow(rooms: dict[str, _Allowed], tree: Tree, reached: LeafMembership) -> None:
    """Narrow the allowed ranges by one more tree."""
    from leafcover.kernels.forest_cells import narrow_ranges

    boxes = set_boxes(leaf_boxes(tree), reached)
    for a in np.unique(tree.tested[tree.tested >= 0]):
        room = rooms[tree.attributes[a].name]
        if tree.attributes[a].is_number:
            narrow_ranges(reached.set_of_row, boxes.low[:, a], boxes.high[:, a], room.low, room.high)
        else:
            np.logical_or(room.named, (boxes.allowed[:, a] != ANY_LEVEL)[reached.set_of_row], out=room.named)


def _side(room: _Allowed, column: Column, label: Rows, count: int) -> Side:
    """The range each cell allows of a column: the union over its rows with a value; without such rows, everything."""
    known = np.flatnonzero(~column.missing)
    label = label[known]
    if column.is_category:
        return _choice(column.values[known], room.named[known], len(column.levels), label, count)
    low, high = np.full(count, np.inf), np.full(count, -np.inf)
    np.minimum.at(low, label, room.low[known])
    np.maximum.at(high, label, room.high[known])
    nobody = low > high
    low[nobody], high[nobody] = -np.inf, np.inf
    return Range(low, high)


def _choice(own: Array, named: Bools, levels: int, label: Rows, count: int) -> LevelSet:
    """The level sets: 0, 1, ... hold one level each, the next holds all levels; sets of several levels follow."""
    first, last = np.full(count, levels), np.full(count, -1)
    np.minimum.at(first, label, own)
    np.maximum.at(last, label, own)
    free = first > last
    free[label[~named]] = True
    several = np.flatnonzero(~free & (first < last))
    which = np.where(free, levels, first)
    which[several] = levels + 1 + np.arange(len(several))
    sets = np.zeros((levels + 1 + len(several), levels), np.bool_)
    sets[np.arange(levels), np.arange(levels)] = True
    sets[levels] = True
    there = which[label] > levels
    sets[which[label][there], own[there]] = True
    return LevelSet(sets, which)


def _notes(cells: Cells, sizes: Rows, trees: int, min_cell: int) -> tuple[str, ...]:
    rows, notes = len(cells.label), []
    forest = "1 tree" if trees == 1 else f"{trees} trees"
    small, singletons = int(sizes[sizes < min_cell].sum()), int((cells.sizes == 1).sum())
    if cells.pooled_rows:
        notes.append(
            f"The leaves of {forest} intersect in cells of fewer than {min_cell} rows for {small} of {rows} rows; "
            f"these cells are pooled with the most similar ones. The {cells.pooled_rows} pooled rows may change their "
            "leaf in some trees."
        )
    if singletons:
        notes.append(f"{singletons} of {rows} rows are singletons: no other row shares their leaves in all {forest}.")
    if cells.count == 1:
        notes.append(f"The leaves of {forest} form one cell with all {rows} rows.")
    return tuple(notes)


# Refined cells: one more tree inside each cell, grown for several columns at once, down to a minimum size. The boxes of
# the outer cells still apply, so rows keep the leaves of the outer tree or forest. Associations between the other
# columns are preserved as far as the minimum size permits.


@partition("refine")
@dataclass(frozen=True)
class Refine(PartitionMethod):
    """The cells of ``start``, each divided further by a tree for the columns ``by``, no part below ``floor`` rows.

    Parameters
    ----------
    start : Leaves, Forest or Whole
        The cells to divide. Rows keep the leaves that these cells preserve.
    by : str or sequence of str
        The columns whose associations the smaller cells preserve.
    floor : int, default 40
        The minimum number of rows in a part. A cell of fewer than twice as many rows is not divided.

    Examples
    --------
    >>> import leafcover as lc
    >>> table = lc.read(lc.sample("cps1985"))
    >>> leaves = lc.Leaves(of="occupation", min_cell=40)
    >>> finer = lc.Refine(leaves, by=["age", "wage", "occupation"], floor=40)
    >>> leaves.cells(table).cells.count < finer.cells(table).cells.count
    True
    """

    frozen_id: ClassVar[str] = "refine"
    start: Leaves | Forest | Whole
    by: tuple[str, ...]
    floor: int = 40

    def __post_init__(self) -> None:
        object.__setattr__(self, "by", column_names("Refine.by", self.by))
        if not 2 <= self.floor <= MOST_ROWS:
            raise ValueOutOfRange("Refine.floor", self.floor, f"a whole number of rows from 2 to {MOST_ROWS:,}")

    def describe(self, *, own: str | None = None) -> str:
        """Which rows share a cell."""
        start = self.start.describe(own=own)
        return methods()("refine", start=start, columns=len(self.by), rows=self.floor)

    @property
    def min_rows(self) -> int:
        """The same as for the outer cells."""
        return self.start.min_rows

    @property
    def tree_target(self) -> str | None:
        """The same as for the outer cells."""
        return self.start.tree_target

    @property
    def tree_bins(self) -> int | None:
        """The same as for the outer cells."""
        return self.start.tree_bins

    @property
    def refined_by(self) -> tuple[str, ...]:
        """The columns refined for, from the parameters."""
        return self.by

    @property
    def needs(self) -> tuple[str, ...]:
        """The columns of the outer cells and those refined for."""
        return (*self.start.needs, *self.by)

    def cells(self, table: Table) -> Partition:
        """Compute the outer cells and refine them."""
        return self.refined(table, self.start.cells(table))

    def refined(self, table: Table, outer: Partition) -> Partition:
        """Refine outer cells that are already computed."""
        columns = [table[name] for name in self.by]
        found = refine_jointly(columns, outer.cells.label, outer.cells.count, floor=self.floor)
        return Partition(refine_cells(outer.cells, found.label, found.count), outer.trees, outer.notes)


# Cells are refined jointly for many columns, so that shuffling each column within the cells loses little information.


NUMBER_BINS = 32  # bins of a number; cuts lie between them
TARGET_GROUPS = 6  # classes of a number when cells are refined for it
MAX_LEVELS = 1000  # levels of a category that are distinguished; rarer ones are merged
MAX_SAMPLE_ROWS = 2048  # rows that determine a cut; more would cost much and change little


@dataclass(frozen=True, eq=False)
class RefinedCells:
    """The refined cells."""

    label: Rows  # (rows,)
    count: int
    net_bits: float  # information that the cuts explain about all columns, corrected for chance


def refine_jointly(columns: Sequence[Column], label: Rows, count: int, *, floor: int) -> RefinedCells:
    """Split every cell into parts of at least ``floor`` rows, as long as splits explain the other columns.

    The score of a cut is the information it gives about all columns except its own, less what chance alone would give.
    Mutual information is symmetric: a column that the others do not explain does not explain them either, so leave it
    out.
    """
    from leafcover.kernels.dealing import rows_by_cell
    from leafcover.kernels.joint import JointSettings, JointWorkspace
    from leafcover.kernels.joint import refine_jointly as refine

    codes, classes, sizes = _bin_columns(columns)
    first = np.concatenate([[0], np.cumsum([int(c.max()) + 1 for c in classes])]).astype(np.int64)
    bins, sample_rows = max(sizes), min(MAX_SAMPLE_ROWS, len(label))
    table = np.zeros((len(columns), bins), np.int32)
    for j, of_bin in enumerate(classes):
        table[j, : len(of_bin)] = of_bin
    settings = JointSettings(
        codes,
        np.array([not c.is_category for c in columns]),
        table,
        first,
        floor,
        sample_rows,
    )
    n = np.arange(sample_rows + 1, dtype=np.float64)
    terms = n * np.log2(np.maximum(n, 1))
    every = int(first[-1])
    workspace = JointWorkspace(
        bins=np.zeros((len(columns), sample_rows), np.int32),
        groups=np.zeros((sample_rows, len(columns)), np.int32),
        left=np.zeros(every, np.int64),
        right=np.zeros(every, np.int64),
        node=np.zeros(every, np.int64),
        counts=np.zeros((bins, every), np.int64),
        held=np.zeros(bins, np.int64),
        place=np.zeros(bins, np.int32),
        levels=np.zeros(bins, np.int32),
        share=np.zeros(bins),
        order=np.zeros(sample_rows, np.int64),
        ends=np.zeros(bins + 1, np.int64),
        varying=np.zeros(len(columns), np.int32),
        side=np.zeros(bins, np.bool_),
        sample=np.zeros(sample_rows, np.int64),
        moved=np.zeros(len(label), np.int64),
        growth=np.diff(terms, prepend=0.0),
        terms=terms,
        logs=np.log2(np.maximum(n, 1)),
    )
    order, starts = rows_by_cell(label, count)
    begins, stack = np.zeros(len(label), np.bool_), np.empty((len(label), 2), np.int64)
    net = refine(settings, order, starts, stack, begins, workspace)
    new = np.empty(len(label), np.int64)
    new[order] = np.cumsum(begins) - 1
    return RefinedCells(new, int(begins.sum()), float(net))


def explained_shares(columns: Sequence[Column], label: Rows, count: int, *, floor: int) -> list[float]:
    """For each column, the share of its entropy within cells that a tree would explain, corrected for chance."""
    binned = bin_columns([Attribute(c.name, c.levels, not c.is_category) for c in columns], [c.values for c in columns])
    shares = []
    for at, column in enumerate(columns):
        if column.is_category:
            codes, classes = level_codes(column)
        else:
            codes, classes = quantile_codes(column.values, bins=TARGET_GROUPS)
        others = np.arange(len(columns)) != at
        found = refine_labels(binned, codes, classes, label, count, floor=floor, testable=others)
        shares.append(found.explained)
    return shares


def _bin_columns(columns: Sequence[Column]) -> tuple[Array, list[Codes], list[int]]:
    """The bin of every value (0 for missing), the class of each bin, and the number of bins of each column."""
    bins, classes, sizes = [], [], []
    for column in columns:
        if column.is_category:
            found, size = level_codes(column)
            code, size = found.astype(np.int64) + 1, size + 1
            of_bin = np.arange(size, dtype=np.int32)
        else:
            found, size = quantile_codes(column.values, bins=NUMBER_BINS)
            code, size = found.astype(np.int64) + 1, size + 1
            of_bin = _classes(code, size, column.missing)
        bins.append(code)
        classes.append(of_bin)
        sizes.append(size)
    kind = np.uint16 if max(sizes) < 2**16 else np.int32
    wide = np.empty((len(columns[0]), len(columns)), kind)
    for j, code in enumerate(bins):
        wide[:, j] = code
    return wide, classes, sizes


def level_codes(column: Column) -> tuple[Codes, int]:
    """The codes of a category with at most MAX_LEVELS levels: rarer levels are merged. Missing stays -1.

    Without a limit, a column such as street names would need memory for every pair of levels.
    """
    if len(column.levels) <= MAX_LEVELS:
        return column.values, max(len(column.levels), 1)
    counts = np.bincount(column.values[~column.missing], minlength=len(column.levels))
    common = np.argsort(-counts, kind="stable")[: MAX_LEVELS - 1]
    new = np.full(len(column.levels) + 1, MAX_LEVELS - 1, np.int32)
    new[common] = np.arange(MAX_LEVELS - 1)
    new[-1] = MISSING  # the code of a missing value, -1, refers to the last element
    return new[column.values], MAX_LEVELS


def _classes(code: Rows, size: int, missing: Bools) -> Codes:
    """The class of each bin: a few classes of about equal size, and missing as a class of its own."""
    group, _ = quantile_codes(np.where(missing, np.nan, code.astype(np.float64)), bins=TARGET_GROUPS)
    of_bin = np.zeros(size, np.int32)
    of_bin[code] = group + 1
    return of_bin
