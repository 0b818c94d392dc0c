"""What an attacker who knows how a release was made is told by that alone, before he looks at a single released row."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from leafcover.arrays import MISSING, Array, Floats, Rows
from leafcover.cells import intersect_labels
from leafcover.engine.run import partitions_of, share_stuck, whole_part
from leafcover.metrics.pair import sample_rows
from leafcover.partition.base import Partition, PartitionMethod
from leafcover.perturb.base import Chunk, Perturbation, Summary
from leafcover.recipes.plan import Plan, Step
from leafcover.table.table import Column, Table


@dataclass(frozen=True, eq=False)
class Known:
    """A table that was released, the plan, and the cells it made."""

    table: Table  # the rows that were released, in their original order
    plan: Plan
    partitions: Mapping[PartitionMethod, Partition]

    @classmethod
    def rebuilt(cls, table: Table, plan: Plan) -> "Known":
        """The same, rebuilt from the original and the plan alone."""
        return cls(table, plan, partitions_of(table, plan, lambda words, share: None))


def fixed(known: Known) -> dict[str, float]:
    """Per column the share of its known values that could not change: their law gives them at least 0.95."""
    found = {column.name: share_stuck(column, ~column.missing) for column in known.table}
    for step in known.plan.steps:
        part = whole_part(known.table, step, known.partitions)
        summary = step.perturb.finalize(step.perturb.fit(part), part.cells)
        stuck = step.perturb.fixed(part, summary)
        found |= {column.name: share_stuck(column, stuck[column.name]) for column in part.columns}
    return found


def widths(known: Known) -> dict[str, float]:
    """Per column how wide the range is that a row's value is known to lie in, against the column's, on average.

    0 says that the value is known, 1 that nothing is. For a category it is the share of its levels that are possible.
    """
    found = {column.name: 0.0 for column in known.table}
    for step in known.plan.steps:
        part = whole_part(known.table, step, known.partitions)
        for column in part.columns:
            wide = _choices(part, column, step.perturb.is_exchangeable) if column.is_category else None
            if wide is None:
                wide = _range(part, column, step.perturb.is_exchangeable)
            found[column.name] = float(wide.mean()) if len(wide) else 0.0
    return found


def alone(known: Known) -> float:
    """The share of rows that stand alone in a cell of some step."""
    single = np.zeros(len(known.table), bool)
    for step in known.plan.steps:
        cells = known.partitions[step.within].cells
        single |= cells.sizes[cells.label] == 1
    return float(single.mean())


def disclosed(known: Known) -> float:
    """The share of rows whose class the cell of the target gives away, because all its rows have the same."""
    step = next((s for s in known.plan.steps if known.plan.target in s.columns), None)
    if step is None or not known.plan.target:
        return 1.0 if known.plan.target else 0.0
    label = known.partitions[step.within].cells.label
    values = known.table[known.plan.target].values
    low, high = _ends(label, _comparable(values))
    return float((low == high)[label].mean())


def averaged(known: Known) -> Iterator[tuple[tuple[str, ...], Rows, bool]]:
    """Of each step that puts averages in the place of values: its columns, each row's group, whether they are means."""
    for step in known.plan.steps:
        if step.perturb.average is not None:
            yield step.columns, known.partitions[step.within].cells.label, step.perturb.average == "mean"


def _range(part: Chunk, column: Column, among: bool) -> Floats:
    """The known range of each number; among the rows of a cell when values only change places there."""
    bottom, top = column.domain
    rows = ~column.missing
    if not rows.any() or top <= bottom:
        return np.zeros(0)
    if among:
        label = np.unique(part.cells.label[rows], return_inverse=True)[1].ravel()
        low, high = (end[label] for end in _ends(label, column.values[rows]))
    else:
        low, high = (np.clip(end[rows], bottom, top) for end in part.ranges(column.name))
    return (high / 2 - low / 2) / (top / 2 - bottom / 2)  # halves: 1e308 less -1e308 is too much


def _choices(part: Chunk, column: Column, among: bool) -> Floats:
    """The share of the levels that occur which each row's own may be, apart from none."""
    occurring = np.unique(column.values[~column.missing])
    rows = ~column.missing
    if len(occurring) < 2:
        return np.zeros(0)
    if among:
        seen = np.zeros((part.cells.count, len(column.levels)), bool)
        seen[part.cells.label[rows], column.values[rows]] = True
        possible = seen[part.cells.label[rows]]
    else:
        allowed = part.allowed(column.name)
        if allowed is None:
            return np.ones(int(rows.sum()))
        possible = allowed[rows]
    return (possible[:, occurring].sum(axis=1) - 1) / (len(occurring) - 1)


def _ends(label: Rows, values: Array) -> tuple[Array, Array]:
    """The least and the greatest value of each label."""
    order = np.argsort(label, kind="stable")
    starts = np.searchsorted(label[order], np.arange(int(label.max()) + 1))
    return np.minimum.reduceat(values[order], starts), np.maximum.reduceat(values[order], starts)


def _comparable(values: Array) -> Array:
    """Missing as a value of its own."""
    return values if values.dtype.kind != "f" else np.nan_to_num(values, nan=np.inf)


# What an attacker who knows the plan can say of a release: the law of every step, the cells a row still shows.


FEWEST_ASKED, MOST_ASKED = 16, 3_000  # people of a group whose laws say how common a released row is
FULLY_ASKED = 300  # rows of a group that costs nothing to ask wholly
BACKGROUND_WORK = 500_000  # likelihoods of a group's background in one column, about
ALL_WORK = 10_000_000  # the same over all large groups
AT_ONCE = 2_000_000  # likelihoods spelled out at once
LEAST = 1e-300  # a likelihood of 0 as a logarithm that still compares


@dataclass(frozen=True, eq=False)
class _Lens:
    """One column whose released values say more than the group of their row."""

    part: Chunk  # the column alone, every original row
    perturb: Perturbation
    summary: Summary
    released: Array  # (rows,) in the order and the codes of the original


@dataclass(frozen=True, eq=False)
class PlanEvidence:
    """The law of a plan, as evidence about a release of a table by it."""

    groups: Rows
    lenses: tuple[_Lens, ...]

    @property
    def is_exchangeable(self) -> bool:
        """Whether the groups say all there is to say."""
        return not self.lenses

    @property
    def columns(self) -> int:
        """How many columns are weighed."""
        return len(self.lenses)

    def scores(self, people: Rows, rows: Rows) -> tuple[Floats, ...]:
        """How likely each released row is for each person, weighed in three ways.

        Against how likely it is for the people of the group together (what Bayes asks for, and best where the group is
        small enough to ask everybody); the same column by column (for large groups, where few people can be asked); and
        by itself (where noise is so narrow that those few are near no row).
        """
        likely = np.zeros((len(people), len(rows)))
        by_column = np.zeros(len(rows))
        everyone = rows[sample_rows(len(rows), self._asked(len(rows)))]
        together = np.zeros((len(everyone), len(rows)))
        for lens in self.lenses:
            distinct, at = np.unique(lens.released[rows], return_inverse=True)
            at = at.ravel()
            likely += _log(_likelihood(lens, people, distinct))[:, at]
            common = _likelihood(lens, everyone, distinct)
            together += _log(common)[:, at]
            by_column += _log(common.mean(axis=0))[at]
        highest = together.max(axis=0)
        joint = highest + np.log(np.exp(together - highest).sum(axis=0))
        return likely - joint, likely - by_column, likely

    def _asked(self, size: int) -> int:
        """How many people of a group say how common its rows are: all of a small one."""
        large = max(1, int((np.bincount(self.groups) > FULLY_ASKED).sum()))
        return int(np.clip(min(BACKGROUND_WORK, ALL_WORK / large) / size, FEWEST_ASKED, MOST_ASKED))


def evidence_of(known: Known, released: Table, keys: Sequence[str]) -> PlanEvidence:
    """What the key columns of a release say, to whoever knows the plan; rows stand in the table's order."""
    lenses: list[_Lens] = []
    for part, noise in _known_parts(known, keys):
        if not noise.is_exchangeable:
            lenses += _lenses(part, noise, released)
    return PlanEvidence(groups_of(known, keys), tuple(lenses))


def groups_of(known: Known, keys: Sequence[str]) -> Rows:
    """What a released row shows for certain: rows with different numbers are not each other's."""
    written = set(known.plan.columns)
    # Released as it is: only rows with the very value can be the person's.
    labels = [
        np.unique(known.table[name].values, return_inverse=True)[1].ravel() for name in keys if name not in written
    ]
    for part, noise in _known_parts(known, keys):
        labels += [noise.observable_class(part), *(cells.label for cells in part.keep)]
    groups = np.zeros(len(known.table), np.int64)
    for label in {id(label): label for label in labels}.values():  # steps of one split share their labels
        groups = intersect_labels(groups, label)
    return groups


def certain(known: Known, keys: Sequence[str]) -> PlanEvidence | None:
    """The evidence of a plan that makes every row of a group as likely as any other; no released row is needed."""
    uniform = all(noise.is_exchangeable for _, noise in _known_parts(known, keys))
    return PlanEvidence(groups_of(known, keys), ()) if uniform else None


def _known_parts(known: Known, keys: Sequence[str]) -> Iterator[tuple[Chunk, Perturbation]]:
    """The quasi-identifiers of each step."""
    for step in known.plan.steps:
        names = [name for name in step.columns if name in keys]
        if names:
            yield (
                whole_part(known.table, Step(names, step.within, step.perturb, step.keep), known.partitions),
                step.perturb,
            )


def _lenses(part: Chunk, noise: Perturbation, released: Table) -> Iterator[_Lens]:
    summary = noise.finalize(noise.fit(part), part.cells)
    for column in part.columns:
        values = _in_codes_of(column, released[column.name])
        yield _Lens(replace(part, columns=(column,)), noise, summary, values)


def _log(likelihood: Floats) -> Floats:
    found: Floats = np.log(np.maximum(likelihood, LEAST))
    return found


def _likelihood(lens: _Lens, people: Rows, values: Array) -> Floats:
    """(people, values) how probable each released value is for each person."""
    found = np.empty((len(people), len(values)))
    name = lens.part.columns[0].name
    step = max(1, AT_ONCE // max(len(values), 1))
    for begin in range(0, len(people), step):
        some = people[begin : begin + step]
        part = lens.part.take(np.repeat(some, len(values)))
        new = {name: np.tile(values, len(some))}
        found[begin : begin + step] = lens.perturb.likelihood(part, new, lens.summary).reshape(len(some), len(values))
    return found


def _in_codes_of(column: Column, other: Column) -> Array:
    """The values of another table's column, a category in the codes of this one."""
    if not column.is_category:
        return other.values
    number = {level: code for code, level in enumerate(column.levels)}
    lookup = np.array([number.get(level, MISSING) for level in other.levels] + [MISSING], np.int32)
    return lookup[other.values]
