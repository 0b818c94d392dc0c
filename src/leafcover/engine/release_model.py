"""The models of releases that informed attackers use: the leaf shares of dealing, and the cells of a shuffle.

Counts come from the release. The trees or cells are those of the plan (granted), or those that the recipe grows from
the released table (regrown). Rows that the attacker knows can be subtracted.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from leafcover.arrays import Array, Floats, Rows
from leafcover.errors import LeafcoverError
from leafcover.metrics.disclosure.informed_inference import ReleaseModel
from leafcover.partition.base import Partition, PartitionMethod
from leafcover.recipes import RECIPES, plan_for
from leafcover.recipes.plan import Plan
from leafcover.table.table import Column, Table
from leafcover.tree.binary import BinaryTrees, Coding, Stage, codings, no_trees

RARE = 1e-5  # share of a value that the release does not have
WIDE = 300.0  # smoothing of the share that a leaf is compared with, for membership
IMPOSSIBLE = -50.0  # log probability of a value that contradicts its block
AT_ONCE = 400_000  # people times candidates that are placed at once


@dataclass(frozen=True, eq=False)
class Factor:
    """One stage of dealing a column: how often each code occurs in each leaf, and in each start cell."""

    name: str  # the column
    trees: BinaryTrees
    before: Coding | None  # of the stage before, whose codes are the start cells
    coding: Coding
    counts: Floats  # (nodes, codes) in the leaves
    roots: Floats  # (start cells, codes)

    def starts(self, column: Column) -> Rows:
        """The start cells of values."""
        return np.zeros(len(column), np.int64) if self.before is None else self.before.codes(column)

    def log_shares(self, leaves: Rows, starts: Rows, codes: Rows, smoothing: float) -> Floats:
        """The log share of each code in its leaf, smoothed by its share in the start cell."""
        prior = (self.roots[starts, codes] + RARE) / (self.roots.sum(axis=1)[starts] + RARE * self.coding.count)
        rows = self.counts.sum(axis=1)[leaves]
        found: Floats = np.log((self.counts[leaves, codes] + smoothing * prior) / (rows + smoothing))
        return found

    def without(self, known: Table) -> "Factor":
        """The same without the counts of rows that the attacker knows."""
        counts, roots = _counted(self.name, self.trees, self.before, self.coding, known)
        return replace(self, counts=np.maximum(self.counts - counts, 0.0), roots=np.maximum(self.roots - roots, 0.0))


def _counted(
    name: str, trees: BinaryTrees, before: Coding | None, coding: Coding, table: Table
) -> tuple[Floats, Floats]:
    """How often each code occurs in each leaf and in each start cell of a table."""
    column = table[name]
    start = np.zeros(len(table), np.int64) if before is None else before.codes(column)
    code, cells = coding.codes(column), int((trees.parent < 0).sum())
    leaf = trees.place(trees.codes(table), start)

    def counts(label: Rows, labels: int) -> Floats:
        place = np.bincount(label * coding.count + code, minlength=labels * coding.count)
        return place.reshape(labels, coding.count).astype(np.float64)

    return counts(leaf, len(trees)), counts(start, cells)


def factors_of(table: Table, name: str, stages: Sequence[Stage]) -> Iterator[Factor]:
    """The factors of one column, counted in a released table; the last stage of a number, without trees, is left out."""
    before: Coding | None = None
    for stage in stages:
        if before is None or before is not stage.coding:
            yield Factor(
                name, stage.trees, before, stage.coding, *_counted(name, stage.trees, before, stage.coding, table)
            )
        before = stage.coding


@dataclass(frozen=True, eq=False)
class DealtModel:
    """The leaf shares along the chain: the share of each value in the leaf that the values before it lead to."""

    released: Table
    factors: tuple[Factor, ...]
    partners: Mapping[str, tuple[str, ...]]  # the other columns of a block, which determine the column

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that no other one determines."""
        return tuple(dict.fromkeys(f.name for f in self.factors if not self.partners.get(f.name)))

    def without(self, known: Table) -> "DealtModel":
        """The model of an attacker who subtracts known rows from every leaf."""
        return replace(self, factors=tuple(factor.without(known) for factor in self.factors))

    def candidates(self, column: str) -> Column:
        """Every level; or a released value from the middle of each fine group of a number."""
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

    def scores(self, people: Table, column: str, smoothing: float) -> Floats:
        """The product of leaf shares over the chain, as far as it depends on the column."""
        candidates = self.candidates(column)
        many = max(1, AT_ONCE // max(len(candidates), 1))
        parts = [
            self._scores(people.take(np.arange(begin, min(begin + many, len(people)))), candidates, smoothing)
            for begin in range(0, len(people), many)
        ]
        return np.concatenate(parts) if parts else np.empty((0, len(candidates)))

    def _scores(self, people: Table, candidates: Column, smoothing: float) -> Floats:
        name, rows, many = candidates.name, len(people), len(candidates)
        total = np.zeros((rows, many))
        for factor in self.factors:
            own = factor.name == name
            if not own and name not in factor.trees.names:
                continue
            codes = np.repeat(factor.trees.codes(people), many, axis=0)
            if own:
                starts = np.tile(factor.starts(candidates), rows)
                code = np.tile(factor.coding.codes(candidates), rows)
            else:
                at = factor.trees.names.index(name)
                codes[:, at] = np.tile(_single(factor.trees, at, candidates), rows)
                starts = np.repeat(factor.starts(people[factor.name]), many)
                code = np.repeat(factor.coding.codes(people[factor.name]), many)
            leaves = factor.trees.place(codes, starts)
            total += factor.log_shares(leaves, starts, code, smoothing).reshape(rows, many)
        return total

    def membership(self, people: Table, smoothing: float) -> Floats:
        """The share of each value in its leaf against its share in the start cell, over the whole chain."""
        total = np.zeros(len(people))
        for factor in self.factors:
            column = people[factor.name]
            starts, code = factor.starts(column), factor.coding.codes(column)
            leaves = factor.trees.place(factor.trees.codes(people), starts)
            total += factor.log_shares(leaves, starts, code, smoothing) - factor.log_shares(leaves, starts, code, WIDE)
        return total


def _single(trees: BinaryTrees, at: int, candidates: Column) -> Array:
    """The bins of candidates in one tested attribute."""
    alone = replace(trees, attributes=trees.attributes[at : at + 1], edges=trees.edges[at : at + 1])
    found: Array = alone.codes(Table((candidates,)))[:, 0]
    return found


def dealt_model(released: Table, plan: Plan, partitions: Mapping[PartitionMethod, Partition]) -> DealtModel:
    """The model of a plan that deals every column, counted in a released table."""
    factors: list[Factor] = []
    partners: dict[str, tuple[str, ...]] = {}
    for step in plan.steps:
        name, *others = step.columns
        stages = partitions[step.within].stages if step.within in partitions else ()
        factors += factors_of(released, name, stages) if stages else [_whole(released, name)]
        partners |= {one: tuple(n for n in step.columns if n != one) for one in step.columns}
    return DealtModel(released, tuple(factors), partners)


def _whole(released: Table, name: str) -> Factor:
    """The factor of a column that is permuted over the whole table."""
    coding, trees = codings(released[name])[-1], no_trees(1)
    return Factor(name, trees, None, coding, *_counted(name, trees, None, coding, released))


# The cells of a shuffle: each block is permuted inside cells, so a cell is the product of its blocks' counts.

PEOPLE_AT_ONCE = 200


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

    def log_shares(self, numbers: Rows, smoothing: float) -> Floats:
        """(rows, cells) the log share of values in each cell, smoothed by their share of the whole."""
        known = np.maximum(numbers, 0)
        seen = np.where(numbers >= 0, self.counts[:, known], 0.0).T
        prior = np.where(numbers >= 0, self.counts.sum(axis=0)[known] / self.counts.sum(), RARE)
        found: Floats = np.log((seen + smoothing * prior[:, None]) / (self.counts.sum(axis=1) + smoothing))
        return found


def _texts(column: Column) -> list[object]:
    if column.is_category:
        names = [*column.levels, None]
        return [names[code] for code in column.values.tolist()]
    return [None if value != value else value for value in column.values.tolist()]  # noqa: PLR0124 - nan


@dataclass(frozen=True, eq=False)
class CellsModel:
    """The cell that a person's other values suggest, and the share of each value there."""

    released: Table
    blocks: tuple[Block, ...]
    sizes: Floats  # (cells,)

    @property
    def columns(self) -> tuple[str, ...]:
        """Every column of a block."""
        return tuple(name for block in self.blocks for name in block.columns)

    def candidates(self, column: str) -> Column:
        """Every released value; of many numbers, evenly spaced ones."""
        shown = self.released[column]
        if shown.is_category:
            occurring = np.unique(shown.values[shown.values >= 0]).astype(np.int32)
        else:
            occurring = np.unique(shown.values[~shown.missing])
            occurring = occurring[np.unique(np.linspace(0, len(occurring) - 1, min(len(occurring), 256)).astype(int))]
        return replace(shown, values=occurring, stored=None)

    def scores(self, people: Table, column: str, smoothing: float) -> Floats:
        """The log probability of each value: over cells, that of the cell given the others times the value's share."""
        candidates, parts = self.candidates(column), []
        block = next(one for one in self.blocks if column in one.columns)
        for begin in range(0, len(people), PEOPLE_AT_ONCE):
            some = people.take(np.arange(begin, min(begin + PEOPLE_AT_ONCE, len(people))))
            weight = self._cells(some, smoothing, without=block)
            chance = np.exp(weight - weight.max(axis=1, keepdims=True))
            shares = np.empty((len(some), len(candidates)))
            for at in range(len(candidates)):
                one = candidates.take(np.full(len(some), at))
                numbers = block.numbers(some.replace([replace(one, name=column)]))
                shares[:, at] = (chance * np.exp(block.log_shares(numbers, smoothing))).sum(axis=1)
            parts.append(np.log(np.maximum(shares, 1e-300)))
        return np.concatenate(parts)

    def _cells(self, people: Table, smoothing: float, without: Block | None = None) -> Floats:
        total = np.tile(np.log(self.sizes), (len(people), 1))
        for block in self.blocks:
            if block is not without:
                total += block.log_shares(block.numbers(people), smoothing)
        return total

    def membership(self, people: Table, smoothing: float) -> Floats:
        """The probability of the person's values by the cells, against that by the whole table."""
        found = []
        for begin in range(0, len(people), PEOPLE_AT_ONCE):
            some = people.take(np.arange(begin, min(begin + PEOPLE_AT_ONCE, len(people))))
            near, far = (self._cells(some, one) for one in (smoothing, WIDE))
            found.append(_log_sum(near) - _log_sum(far))
        return np.concatenate(found)


def _log_sum(values: Floats) -> Floats:
    highest = values.max(axis=1)
    found: Floats = highest + np.log(np.exp(values - highest[:, None]).sum(axis=1))
    return found


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
    return CellsModel(released, tuple(found), np.bincount(label, minlength=cells).astype(np.float64))


# The model of a release: by the plan that made it, or by what the recipe regrows from the released table.


def granted_model(
    released: Table, plan: Plan, partitions: Mapping[PartitionMethod, Partition], source: Rows
) -> ReleaseModel | None:
    """The model of an attacker who is granted the plan's trees or cells; None if the plan has neither."""
    if not any(step.perturb.descends for step in plan.steps):
        return dealt_model(released, plan, partitions)
    within = {step.within for step in plan.steps}
    if len(within) == 1 and all(step.perturb.is_exchangeable for step in plan.steps):
        label = partitions[within.pop()].cells.label[source]
        return cells_model(released, [step.columns for step in plan.steps], label)
    return None


def regrown_model(released: Table, plan: Plan) -> ReleaseModel | None:
    """The model of an attacker who runs the recipe on the released table; a chain of trees if that gives no model."""
    table = replace(released, roles={name: role for name, role in released.roles.items() if role != "unit"})
    for recipe, settings in ((plan.recipe, plan.settings), ("cover", {})):
        if recipe not in RECIPES:
            continue
        try:
            again = plan_for(table, recipe, target=plan.target or None, settings=settings or {})
        except LeafcoverError:
            continue
        made = {} if again.made is None else again.made.of(table)
        model = granted_model(table, again, made, np.arange(len(table)))
        if model is not None:
            return model
    return None
