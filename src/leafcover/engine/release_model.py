"""The models of releases that informed attackers use: dealing in leaves, shuffles in cells; which model a plan has.

Counts come from the release. The trees or cells are those of the plan (granted), or those that the recipe grows from
the released table (regrown). Rows that the attacker knows can be subtracted.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from leafcover.arrays import Array, Codes, Floats, Rows
from leafcover.engine.attacker import Known, candidates_of, log_sum
from leafcover.engine.descent_model import descent_model
from leafcover.engine.run import partitions_of
from leafcover.errors import LeafcoverError
from leafcover.metrics.disclosure.informed_inference import MOST_PEOPLE, ReleaseModel
from leafcover.partition.base import Partition, PartitionMethod
from leafcover.recipes import RECIPES, plan_for
from leafcover.recipes.plan import Plan
from leafcover.table.table import Column, Table
from leafcover.tree.binary import BinaryTrees, Coding, Stage, codings, no_trees

REGROWN_BINS = 8  # groups of a numeric target in a chain of trees
TOWARDS = (10.0, 100.0, 1000.0)  # smoothing of shares in a reference sample, by the rows around the leaf
RARE = 1e-5  # share of a value that the release does not have
WIDE = 300.0  # smoothing of the share that a leaf or cell is compared with, for membership


@dataclass(frozen=True, eq=False)
class Coded:
    """Some people, as the trees of one factor see them."""

    tested: Array  # (people, tested columns) bins
    starts: Codes  # start cells
    codes: Codes  # of the values of the factor's own column


@dataclass(frozen=True, eq=False)
class Factor:
    """One stage of dealing a column: how often each code occurs in each leaf, and in each start cell."""

    name: str  # the column
    trees: BinaryTrees
    before: Coding | None  # of the stage before, whose codes are the start cells
    coding: Coding
    counts: Floats  # (nodes, codes) in the leaves
    roots: Floats  # (start cells, codes)
    _shares: dict[float, Floats] = field(default_factory=dict, repr=False)  # by smoothing

    def starts(self, column: Column) -> Codes:
        """The start cells of values."""
        return np.zeros(len(column), np.int32) if self.before is None else self.before.codes(column)

    @cached_property
    def prior(self) -> Floats:
        """(nodes, codes) the share of each code in the start cell of each node."""
        found: Floats = (self.roots + RARE) / (self.roots.sum(axis=1, keepdims=True) + RARE * self.coding.count)
        return found[self.trees.root]

    def coded(self, people: Table) -> Coded:
        """People as the trees see them."""
        column = people[self.name]
        return Coded(self.trees.codes(people), self.starts(column), self.coding.codes(column))

    def placed(self, coded: Coded) -> tuple[Codes, Codes]:
        """The leaf that each person reaches, and the code of the person's value there."""
        return self.trees.place(coded.tested, coded.starts), coded.codes

    def log_shares(self, smoothing: float) -> Floats:
        """(nodes, codes) the log share of each code in each leaf, smoothed by its share in the start cell."""
        if smoothing not in self._shares:
            rows = self.counts.sum(axis=1, keepdims=True)
            self._shares[smoothing] = np.log((self.counts + smoothing * self.prior) / (rows + smoothing))
        return self._shares[smoothing]

    def log_references(self, reference: Table) -> list[Floats]:
        """(nodes, codes) the log share of each code in each leaf of a reference sample, for each smoothing.

        The share is smoothed by that around the leaf: in its sibling, by the counts of the release and of the sample.
        """
        counts, _ = _counted(self.name, self.trees, self.before, self.coding, reference)
        parent, below, first = self.trees.parent, self.counts + counts, self.trees.first.tolist()
        for node in np.flatnonzero(self.trees.first >= 0)[::-1].tolist():
            below[node] += below[first[node]] + below[first[node] + 1]
        around = np.where((parent >= 0)[:, None], below[parent] - below, 0.0)
        near = (around + self.prior) / (around.sum(axis=1, keepdims=True) + 1)
        rows = counts.sum(axis=1, keepdims=True)
        return [np.log((counts + weight * near) / (rows + weight)) for weight in TOWARDS]

    def add_own_scores(self, total: Floats, coded: Coded, candidates: Column, shares: Sequence[Floats]) -> None:
        """Add (people, candidates) the log share of each value of this factor's own column, for each smoothing."""
        starts, codes = self.starts(candidates), self.coding.codes(candidates)
        for start in np.unique(starts):
            here = np.flatnonzero(starts == start)
            leaves = self.trees.place(coded.tested, np.full(len(coded.starts), start))
            for number, table in enumerate(shares):
                total[number][:, here] += table[:, codes[here]].take(leaves, axis=0)

    def treated_alike(self, candidates: Column) -> tuple[Rows, Rows]:
        """Groups of values of an earlier column that every test here treats alike: a bin of each, and each group."""
        test = self.trees.names.index(candidates.name)
        bins = _bins(self.trees, test, candidates)
        nodes = np.flatnonzero(self.trees.tested == test)
        sides = (self.trees.side[nodes][:, bins >> 6] >> (bins & 63).astype(np.uint64)) & np.uint64(1)
        _, first, group = np.unique(sides, axis=1, return_index=True, return_inverse=True)
        return bins[first], group.ravel()

    def add_later_scores(
        self, total: Floats, coded: Coded, column: str, alike: tuple[Rows, Rows], shares: Sequence[Floats]
    ) -> None:
        """Add (people, candidates) the log share of the person's value here, in the leaf that each candidate leads to.

        Candidates that are `treated_alike` are placed once.
        """
        test, (bins, group) = self.trees.names.index(column), alike
        tested = coded.tested.copy(order="K")
        leaves = np.empty((len(coded.starts), len(bins)), np.int64)
        for number, one in enumerate(bins):
            tested[:, test] = one
            leaves[:, number] = self.trees.place(tested, coded.starts)
        at = leaves * self.coding.count + coded.codes[:, None]
        for number, table in enumerate(shares):
            total[number] += table.take(at).take(group, axis=1)

    def against_wide(self, placed: tuple[Codes, Codes], smoothing: Sequence[float]) -> Floats:
        """(smoothings, people) the log share of the person's value in its leaf, against that in a wider one."""
        wide = self.log_shares(WIDE)[placed]
        return np.array([self.log_shares(one)[placed] - wide for one in smoothing])

    def without(self, known: Table) -> "Factor":
        """The same without the counts of rows that the attacker knows."""
        counts, roots = _counted(self.name, self.trees, self.before, self.coding, known)
        return replace(
            self, counts=np.maximum(self.counts - counts, 0.0), roots=np.maximum(self.roots - roots, 0.0), _shares={}
        )


def _counted(
    name: str, trees: BinaryTrees, before: Coding | None, coding: Coding, table: Table
) -> tuple[Floats, Floats]:
    """How often each code occurs in each leaf and in each start cell of a table."""
    from leafcover.kernels.dealing import count_pairs

    column = table[name]
    start = np.zeros(len(table), np.int32) if before is None else before.codes(column)
    code, cells = coding.codes(column), int((trees.parent < 0).sum())
    leaf = trees.place(trees.codes(table), start)
    return count_pairs(leaf, code, len(trees), coding.count), count_pairs(start, code, cells, coding.count)


def factors_of(table: Table, name: str, stages: Sequence[Stage]) -> Iterator[Factor]:
    """The factors of one column, counted in a released table; the last stage of a number has no trees and no factor."""
    before: Coding | None = None
    for stage in stages:
        if before is None or before is not stage.coding:
            yield Factor(
                name, stage.trees, before, stage.coding, *_counted(name, stage.trees, before, stage.coding, table)
            )
        before = stage.coding


@dataclass(frozen=True, eq=False)
class _Kept:
    """What depends on the trees but not on the counts, kept because every column and every attacker needs it."""

    candidates: dict[str, Column] = field(default_factory=dict)
    alike: dict[tuple[int, str], tuple[Rows, Rows]] = field(default_factory=dict)  # by factor and column
    people: dict[int, tuple[Table, list[Coded]]] = field(default_factory=dict)  # by id, with one entry for each factor


@dataclass(frozen=True, eq=False)
class DealtModel:
    """The leaf shares along the chain: the share of each value in the leaf that the values before it lead to."""

    released: Table
    factors: tuple[Factor, ...]
    partners: Mapping[str, tuple[str, ...]]  # the other columns of a block, which determine the column
    _kept: _Kept = field(default_factory=_Kept, repr=False)

    @property
    def most_people(self) -> int:
        """As many as are worth attacking."""
        return MOST_PEOPLE

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that no other one determines."""
        return tuple(dict.fromkeys(f.name for f in self.factors if not self.partners.get(f.name)))

    def without(self, known: Table, rows: Rows) -> "DealtModel":
        """The model of an attacker who subtracts known rows from every leaf."""
        return replace(self, factors=tuple(factor.without(known) for factor in self.factors))

    def candidates(self, column: str) -> Column:
        """Every level; or a released value from the middle of each fine group of a number."""
        if column not in self._kept.candidates:
            self._kept.candidates[column] = self._candidates(column)
        return self._kept.candidates[column]

    def _candidates(self, column: str) -> Column:
        shown, fine = self.released[column], self._fine(column)
        if shown.is_category:
            occurring = np.unique(shown.values[shown.values >= 0])
            return replace(shown, values=occurring.astype(np.int32), stored=None)
        known = np.sort(shown.values[~shown.missing])
        code = fine.codes(replace(shown, values=known, stored=None))
        begin = np.searchsorted(code, np.unique(code))
        middle = (begin + np.append(begin[1:], len(code))) // 2
        return replace(shown, values=known[middle], stored=None)

    def _fine(self, column: str) -> Coding:
        return [factor.coding for factor in self.factors if factor.name == column][-1]

    def scores(self, people: Table, column: str, smoothing: Sequence[float]) -> Floats:
        """The product of leaf shares over the chain, as far as it depends on the column."""
        candidates = self.candidates(column)
        total = np.zeros((len(smoothing), len(people), len(candidates)))
        for number, (factor, coded) in enumerate(zip(self.factors, self._coded(people), strict=True)):
            if factor.name != column and column not in factor.trees.names:
                continue
            shares = [factor.log_shares(one) for one in smoothing]
            if factor.name == column:
                factor.add_own_scores(total, coded, candidates, shares)
                continue
            if (number, column) not in self._kept.alike:
                self._kept.alike[number, column] = factor.treated_alike(candidates)
            factor.add_later_scores(total, coded, column, self._kept.alike[number, column], shares)
        return total

    def _coded(self, people: Table) -> list[Coded]:
        """People as the trees of each factor see them."""
        if id(people) not in self._kept.people or self._kept.people[id(people)][0] is not people:
            self._kept.people[id(people)] = people, [factor.coded(people) for factor in self.factors]
        return self._kept.people[id(people)][1]

    def membership(self, people: Table, smoothing: Sequence[float], reference: Table | None = None) -> Floats:
        """The share of each value in its leaf, over the whole chain, against other shares of it.

        These are, for each smoothing, its share in the start cell, and those in the same leaf of a reference sample.
        """
        total = np.zeros((len(smoothing) + (0 if reference is None else len(TOWARDS)), len(people)))
        for factor, coded in zip(self.factors, self._coded(people), strict=True):
            placed = factor.placed(coded)
            total[: len(smoothing)] += factor.against_wide(placed, smoothing)
            if reference is not None:
                own = factor.log_shares(smoothing[0])[placed]
                for number, table in enumerate(factor.log_references(reference), start=len(smoothing)):
                    total[number] += own - table[placed]
        return total

    def evidence(self, people: Table) -> Floats:
        """The share of each value in its leaf against its share in the start cell."""
        both = zip(self.factors, self._coded(people), strict=True)
        return np.column_stack([factor.against_wide(factor.placed(coded), (0.3,))[0] for factor, coded in both])


def _bins(trees: BinaryTrees, at: int, candidates: Column) -> Rows:
    """The bins of candidates in one tested attribute."""
    alone = replace(trees, attributes=trees.attributes[at : at + 1], edges=trees.edges[at : at + 1])
    return alone.codes(Table((candidates,)))[:, 0].astype(np.int64)


def dealt_model(released: Table, plan: Plan, partitions: Mapping[PartitionMethod, Partition]) -> DealtModel:
    """The model of a plan that deals every column, counted in a released table."""
    factors: list[Factor] = []
    partners: dict[str, tuple[str, ...]] = {}
    for step in plan.steps:
        name = step.columns[0]
        stages = partitions[step.within].stages if step.within in partitions else ()
        factors += factors_of(released, name, stages) if stages else [_whole(released, name)]
        partners |= {one: tuple(n for n in step.columns if n != one) for one in step.columns}
    return DealtModel(released, tuple(factors), partners)


def _whole(released: Table, name: str) -> Factor:
    """The factor of a column that is permuted over the whole table."""
    coding, trees = codings(released[name])[-1], no_trees(1)
    return Factor(name, trees, None, coding, *_counted(name, trees, None, coding, released))


# A shuffle in cells: each block is permuted inside cells, so a cell is the product of its blocks' counts. The attacker
# finds the cell by the person's other values, and reads the value's share there, given the values of its block that are
# known.


MOST_KEPT = 20_000_000  # people times cells whose logarithms are kept from one column to the next
AT_ONCE = 2_000_000  # people times cells computed at once
LEAST = 1e-30  # replaces a probability of 0, so that logarithms stay comparable


@dataclass(frozen=True, eq=False)
class Block:
    """The counts of a block's values in each cell."""

    columns: tuple[str, ...]
    values: Mapping[tuple[object, ...], int]  # the number of each combination of values
    counts: Floats  # (cells, values)

    def numbers(self, table: Table) -> Rows:
        """The number of each row's values; -1 for values that the release does not have."""
        rows = zip(*(_texts(table[name]) for name in self.columns), strict=True)
        return np.array([self.values.get(row, -1) for row in rows], np.int64)

    def combinations(self, people: Table, candidates: Column) -> Rows:
        """(people, candidates) the number of each person's values with each candidate in its column."""
        partners = tuple(name for name in self.columns if name != candidates.name)
        known = list(zip(*(_texts(people[name]) for name in partners), strict=True)) if partners else [()] * len(people)
        at, own = self.columns.index(candidates.name), _texts(candidates)
        table = {k: [self.values.get((*k[:at], one, *k[at:]), -1) for one in own] for k in dict.fromkeys(known)}
        return np.array([table[k] for k in known], np.int64).reshape(len(people), len(candidates))

    def shares(self, numbers: Rows, smoothing: float) -> Floats:
        """(numbers, cells) the share of values in each cell, smoothed by their share of the whole."""
        known = np.maximum(numbers, 0)
        seen = np.where(numbers >= 0, self.counts[:, known], 0.0).T
        whole = max(float(self.counts.sum()), 1.0)  # 0 if every row is known and subtracted
        prior = np.where(numbers >= 0, np.maximum(self.counts.sum(axis=0)[known] / whole, RARE), RARE)
        found: Floats = (seen + smoothing * prior[:, None]) / (self.counts.sum(axis=1) + smoothing)
        return found


def _texts(column: Column) -> list[object]:
    if column.is_category:
        names = [*column.levels, None]
        return [names[code] for code in column.values.tolist()]
    return [None if value != value else value for value in column.values.tolist()]  # noqa: PLR0124 - nan


@dataclass(frozen=True, eq=False)
class _People:
    """Some people, the numbers of their values, and the log probability of all of them in each cell."""

    people: Table
    numbers: tuple[Rows, ...]  # of each block
    cells: dict[float, Array] = field(default_factory=dict)  # by smoothing, (people, cells)


@dataclass(frozen=True, eq=False)
class CellsModel:
    """The cell that a person's other values suggest, and the share of each value there."""

    released: Table
    blocks: tuple[Block, ...]
    label: Rows  # (rows,) the cell of each row
    _seen: dict[int, _People] = field(default_factory=dict, repr=False)  # columns of the same people share the cells

    @property
    def sizes(self) -> Floats:
        """The number of rows in each cell."""
        found: Floats = self.blocks[0].counts.sum(axis=1)
        return found

    def without(self, known: Table, rows: Rows) -> "CellsModel":
        """The model of an attacker who subtracts known rows from every cell."""
        less = []
        for block in self.blocks:
            numbers = block.numbers(known)
            counts = block.counts.copy()
            there = numbers >= 0
            np.subtract.at(counts, (self.label[rows[there]], numbers[there]), 1.0)
            less.append(replace(block, counts=np.maximum(counts, 0.0)))
        return CellsModel(self.released, tuple(less), self.label)

    @property
    def most_people(self) -> int:
        """As many as are worth attacking."""
        return MOST_PEOPLE

    @property
    def columns(self) -> tuple[str, ...]:
        """Every column of a block."""
        return tuple(name for block in self.blocks for name in block.columns)

    def candidates(self, column: str) -> Column:
        """Every released value; of many numbers, evenly spaced ones."""
        return candidates_of(self.released[column])

    def scores(self, people: Table, column: str, smoothing: Sequence[float]) -> Floats:
        """The log probability of each value: over cells, that of the cell given the others times the value's share."""
        candidates = self.candidates(column)
        own = next(number for number, one in enumerate(self.blocks) if column in one.columns)
        asked = self.blocks[own].combinations(people, candidates)
        distinct, place = np.unique(asked, return_inverse=True)
        place = place.reshape(asked.shape)
        known = self._about(people)
        found = np.empty((len(smoothing), *asked.shape))
        for at, one in enumerate(smoothing):
            shares = self.blocks[own].shares(distinct, one).T.astype(np.float32)
            for some in self._parts(len(people)):
                weight = self._cells(known, some, one) - self._block(own, known, some, one)
                chance = np.exp(weight - weight.max(axis=1, keepdims=True)) @ shares
                found[at, some] = np.log(np.maximum(np.take_along_axis(chance, place[some], axis=1), LEAST))
        return found

    def membership(self, people: Table, smoothing: Sequence[float], reference: Table | None = None) -> Floats:
        """The probability of the person's values by the cells, against that by the whole table."""
        known = self._about(people)
        found = np.empty((len(smoothing), len(people)))
        for some in self._parts(len(people)):
            far = log_sum(self._cells(known, some, WIDE), 1)
            for at, one in enumerate(smoothing):
                found[at, some] = log_sum(self._cells(known, some, one), 1) - far
        return found

    def evidence(self, people: Table) -> Floats:
        """The share of each block in the likeliest cell, against its share of the whole; how likely that cell is."""
        known, smoothing = self._about(people), 0.3
        found = np.empty((len(people), len(self.blocks) + 1))
        for some in self._parts(len(people)):
            cells = self._cells(known, some, smoothing)
            best = cells.argmax(axis=1)[:, None]
            found[some, -1] = np.take_along_axis(cells, best, 1)[:, 0] - log_sum(cells, 1)
            for block in range(len(self.blocks)):
                here, far = (self._block(block, known, some, one) for one in (smoothing, WIDE))
                found[some, block] = np.take_along_axis(here - far, best, 1)[:, 0]
        return found

    def _about(self, people: Table) -> _People:
        if id(people) not in self._seen or self._seen[id(people)].people is not people:
            self._seen[id(people)] = _People(people, tuple(block.numbers(people) for block in self.blocks))
        return self._seen[id(people)]

    def _parts(self, people: int) -> list[slice]:
        step = max(1, AT_ONCE // len(self.sizes))
        return [slice(begin, begin + step) for begin in range(0, people, step)]

    def _cells(self, known: _People, some: slice, smoothing: float) -> Array:
        """(people, cells) the log probability of all values of some people in each cell."""
        people = len(known.people)
        if people * len(self.sizes) > MOST_KEPT:
            return self._sum(known, some, smoothing)
        if smoothing not in known.cells:
            known.cells[smoothing] = np.concatenate(
                [self._sum(known, one, smoothing) for one in self._parts(people)]
                or [np.empty((0, len(self.sizes)), np.float32)]
            )
        return known.cells[smoothing][some]

    def _sum(self, known: _People, some: slice, smoothing: float) -> Array:
        total = np.log(np.maximum(self.sizes, RARE)).astype(np.float32)[None]
        for block in range(len(self.blocks)):
            total = total + self._block(block, known, some, smoothing)
        return total

    def _block(self, block: int, known: _People, some: slice, smoothing: float) -> Array:
        """(people, cells) the log share of some people's values in a block; shared values are looked up once."""
        distinct, place = np.unique(known.numbers[block][some], return_inverse=True)
        return np.log(self.blocks[block].shares(distinct, smoothing)).astype(np.float32)[place.ravel()]


def cells_model(released: Table, blocks: Sequence[tuple[str, ...]], label: Rows) -> CellsModel:
    """The model of a table whose blocks were permuted inside cells; ``label`` is the cell of each released row."""
    cells = int(label.max()) + 1
    found = []
    for columns in blocks:
        values: dict[tuple[object, ...], int] = {}
        rows = zip(*(_texts(released[name]) for name in columns), strict=True)
        numbers = np.array([values.setdefault(row, len(values)) for row in rows], np.int64)
        counts = np.bincount(label * len(values) + numbers, minlength=cells * len(values))
        found.append(Block(columns, values, counts.reshape(cells, len(values)).astype(np.float64)))
    return CellsModel(released, tuple(found), label)


# The model of a release: by the plan that made it, or by what the recipe regrows from the released table.


def granted_model(released: Table, known: Known) -> ReleaseModel | None:
    """The model of an attacker who is granted the plan's trees or cells.

    If rows descend from persons, row i of the release must come from row i of the original.
    """
    plan, partitions = known.plan, known.partitions
    if not any(step.perturb.descends for step in plan.steps):
        return dealt_model(released, plan, partitions) if plan.steps else descent_model(known, released)
    within = {step.within for step in plan.steps}
    permuted = all(step.perturb.is_exchangeable and step.perturb.moves_rows for step in plan.steps)
    if permuted and len(within) == 1 and within <= set(partitions):
        unchanged = tuple(name for name in released.names if name not in plan.columns)  # true records of a row's cell
        blocks = [step.columns for step in plan.steps] + ([unchanged] if unchanged else [])
        return cells_model(released, blocks, partitions[within.pop()].cells.label)
    return descent_model(known, released)


def regrown_model(released: Table, plan: Plan | None, target: str) -> ReleaseModel | None:
    """The model of an attacker who runs the recipe on the released table; a chain of trees if that gives no model."""
    table = replace(released, roles={name: role for name, role in released.roles.items() if role != "unit"})
    varied = [c.name for c in table if len(np.unique(c.values[~c.missing])) > 1]
    chosen = target if target in varied or not varied else varied[-1]
    if not chosen:
        return None
    bins = {} if table[chosen].is_category else {"bins": REGROWN_BINS}
    tried = [("cover", bins)] if plan is None else [(plan.recipe, plan.settings or {}), ("cover", bins)]
    for recipe, settings in tried:
        if recipe not in RECIPES:
            continue
        try:
            given = chosen if RECIPES[recipe].takes_target else None
            again = plan_for(table, recipe, target=given, settings=settings, find_rules=False, rare="allow")
        except LeafcoverError:
            continue
        made = partitions_of(
            table, again, lambda words, share: None, None if again.made is None else again.made.of(table)
        )
        model = granted_model(table, Known(table, again, made, table))
        if model is not None:
            return model
    return None
