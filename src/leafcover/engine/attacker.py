"""What an attacker who knows the plan can infer, from the plan alone and from a release (for record linkage)."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from leafcover.arrays import Array, Floats, Rows
from leafcover.cells import intersect_labels
from leafcover.engine.run import partitions_of, share_fixed, whole_part
from leafcover.metrics.pair import sample_rows
from leafcover.partition.base import Partition, PartitionMethod
from leafcover.perturb.base import Chunk, Perturbation, Summary
from leafcover.recipes.plan import Plan, Step, step_table
from leafcover.table.table import Column, Table, in_codes_of


@dataclass(frozen=True, eq=False)
class Known:
    """A table that was released, the plan, and its cells."""

    table: Table  # what was released, as the steps see it: without columns that rules compute, a row for each unit
    plan: Plan
    partitions: Mapping[PartitionMethod, Partition]
    original: Table  # the rows that were released, in their original order, with every column

    @classmethod
    def rebuilt(cls, original: Table, plan: Plan) -> "Known":
        """Recompute the cells from the original and the plan."""
        table = step_table(plan, original)
        return cls(table, plan, partitions_of(table, plan, lambda words, share: None), original)


def fixed(known: Known) -> dict[str, float]:
    """For each column, the share of known values that are fixed: unchanged with a probability of at least 0.95."""
    found = {column.name: share_fixed(column, ~column.missing) for column in known.table}
    for step in known.plan.steps:
        part = whole_part(known.table, step, known.partitions)
        summary = step.perturb.finalize(step.perturb.fit(part), part.cells)
        is_fixed = step.perturb.fixed(part, summary)
        found |= {column.name: share_fixed(column, is_fixed[column.name]) for column in part.columns}
    return found


def widths(known: Known) -> dict[str, float]:
    """For each column, the mean width of the range that a row's value must lie in, relative to the column's range.

    0 means that the value is known, 1 that nothing is known. For a category it is the share of possible levels.
    """
    found = {column.name: 0.0 for column in known.table}
    for step in known.plan.steps:
        if step.perturb.reversible:  # the values can be computed
            continue
        part = whole_part(known.table, step, known.partitions)
        for column in part.columns:
            wide = _choices(part, column, step.perturb.is_exchangeable) if column.is_category else None
            if wide is None:
                wide = _range(part, column, step.perturb.is_exchangeable)
            found[column.name] = float(wide.mean()) if len(wide) else 0.0
    return found


def singletons(known: Known) -> float:
    """The share of rows that are the only one in a cell of some step."""
    single = np.zeros(len(known.table), bool)
    for step in known.plan.steps:
        cells = known.partitions[step.within].cells
        single |= cells.sizes[cells.label] == 1
    return float(single.mean())


def disclosed(known: Known) -> float:
    """The share of rows whose class is disclosed, because all rows of the target's cell have the same class."""
    step = next((s for s in known.plan.steps if known.plan.target in s.columns), None)
    if step is None or not known.plan.target:
        return 1.0 if known.plan.target else 0.0
    label = known.partitions[step.within].cells.label
    values = known.table[known.plan.target].values
    low, high = _ends(label, _comparable(values))
    return float((low == high)[label].mean())


def averaged(known: Known) -> Iterator[tuple[tuple[str, ...], Rows, bool]]:
    """For each step that replaces values by averages: its columns, each row's group, and whether averages are means."""
    for step in known.plan.steps:
        if step.perturb.average is not None:
            yield step.columns, known.partitions[step.within].cells.label, step.perturb.average == "mean"


def _range(part: Chunk, column: Column, among: bool) -> Floats:
    """The known range of each number; the range of the cell's rows if values are only exchanged there."""
    bottom, top = column.domain
    rows = ~column.missing
    if not rows.any() or top <= bottom:
        return np.zeros(0)
    if among:
        label = np.unique(part.cells.label[rows], return_inverse=True)[1].ravel()
        low, high = (end[label] for end in _ends(label, column.values[rows]))
    else:
        low, high = (np.clip(end[rows], bottom, top) for end in part.ranges(column.name))
    return (high / 2 - low / 2) / (top / 2 - bottom / 2)  # halved first: 1e308 - (-1e308) overflows


def _choices(part: Chunk, column: Column, among: bool) -> Floats:
    """For each row, the share of the occurring levels that its own level may be, scaled so that a single one is 0."""
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
    """The minimum and maximum of each label."""
    order = np.argsort(label, kind="stable")
    starts = np.searchsorted(label[order], np.arange(int(label.max()) + 1))
    return np.minimum.reduceat(values[order], starts), np.maximum.reduceat(values[order], starts)


def _comparable(values: Array) -> Array:
    """Codes with missing as a separate value."""
    return values if values.dtype.kind != "f" else np.nan_to_num(values, nan=np.inf)


# Evidence for an attacker who knows the plan: the distribution of every step, and the cells that a row reveals.


FEWEST_ASKED, MOST_ASKED = 16, 3_000  # people of a group from whom the frequency of a released row is estimated
FULLY_ASKED = 300  # groups up to this many rows are used completely
BACKGROUND_WORK = 500_000  # approximate number of likelihoods for a group's background in one column
ALL_WORK = 10_000_000  # the same over all large groups
AT_ONCE = 2_000_000  # likelihoods computed at once
LEAST = 1e-300  # replaces a likelihood of 0, so that logarithms stay comparable


@dataclass(frozen=True, eq=False)
class _Lens:
    """Columns whose released values reveal more than the group of their row: one, or several that change together."""

    part: Chunk  # only these columns, every original row
    perturb: Perturbation
    summary: Summary
    released: Mapping[str, Array]  # by column, (rows,) in the order and the codes of the original
    kind: Rows  # (rows,) rows with the same released values have the same number


@dataclass(frozen=True, eq=False)
class PlanEvidence:
    """The distributions of a plan, as evidence about a release made by it."""

    groups: Rows
    lenses: tuple[_Lens, ...]

    @property
    def is_exchangeable(self) -> bool:
        """Whether the groups contain all evidence."""
        return not self.lenses

    @property
    def columns(self) -> int:
        """The number of columns with likelihoods."""
        return sum(len(lens.part.columns) for lens in self.lenses)

    def scores(self, people: Rows, rows: Rows) -> tuple[Floats, ...]:
        """The log likelihood of each released row for each person, normalised in three ways.

        First, by its likelihood for the whole group (Bayes' rule, best if the group is small enough to use everybody);
        second, the same column by column (for large groups, where only some people can be used); third, not normalised
        (for perturbations so narrow that those people are near no row).
        """
        likely = np.zeros((len(people), len(rows)))
        by_column = np.zeros(len(rows))
        everyone = rows[sample_rows(len(rows), self._background_size(len(rows)))]
        together = np.zeros((len(everyone), len(rows)))
        for lens in self.lenses:
            _, first, at = np.unique(lens.kind[rows], return_index=True, return_inverse=True)
            distinct, at = rows[first], at.ravel()
            likely += _log(_likelihood(lens, people, distinct))[:, at]
            common = _likelihood(lens, everyone, distinct)
            together += _log(common)[:, at]
            by_column += _log(common.mean(axis=0))[at]
        return likely - log_sum(together, 0), likely - by_column, likely

    def _background_size(self, size: int) -> int:
        """The number of people of a group that are used for the background; a small group is used completely."""
        large = max(1, int((np.bincount(self.groups) > FULLY_ASKED).sum()))
        return int(np.clip(min(BACKGROUND_WORK, ALL_WORK / large) / size, FEWEST_ASKED, MOST_ASKED))


def evidence_of(known: Known, released: Table, keys: Sequence[str]) -> PlanEvidence:
    """The evidence in a release's quasi-identifiers for an attacker who knows the plan, in the table's order."""
    lenses: list[_Lens] = []
    for part, perturbation in _known_parts(known, keys):
        if not perturbation.is_exchangeable:
            lenses += _lenses(part, perturbation, released)
    return PlanEvidence(groups_of(known, keys), tuple(lenses))


def groups_of(known: Known, keys: Sequence[str]) -> Rows:
    """A number for what a released row reveals for certain; it can only belong to a person with the same number."""
    # Released unchanged, or so that the attacker can compute it: only rows with exactly this value can be the person's.
    written = {name for step in known.plan.steps if not step.perturb.reversible for name in step.columns}
    labels = [
        np.unique(known.table[name].values, return_inverse=True)[1].ravel() for name in keys if name not in written
    ]
    for part, perturbation in _known_parts(known, keys):
        labels += [perturbation.observable_class(part), *(cells.label for cells in part.keep)]
    groups = np.zeros(len(known.table), np.int64)
    for label in {id(label): label for label in labels}.values():  # steps with the same partition share their labels
        groups = intersect_labels(groups, label)
    return groups


def certain(known: Known, keys: Sequence[str]) -> PlanEvidence | None:
    """The evidence of a plan under which all rows of a group are equally likely; needs no released row."""
    uniform = all(perturbation.is_exchangeable for _, perturbation in _known_parts(known, keys))
    return PlanEvidence(groups_of(known, keys), ()) if uniform else None


def _known_parts(known: Known, keys: Sequence[str]) -> Iterator[tuple[Chunk, Perturbation]]:
    """The quasi-identifiers of each step."""
    for step in known.plan.steps:
        names = [name for name in step.columns if name in keys]
        if names and not step.perturb.reversible:
            yield (
                whole_part(known.table, Step(names, step.within, step.perturb, step.keep), known.partitions),
                step.perturb,
            )


def _lenses(part: Chunk, perturbation: Perturbation, released: Table) -> Iterator[_Lens]:
    values = {column.name: in_codes_of(column, released[column.name]) for column in part.columns}
    summary = perturbation.finalize(perturbation.fit(part), part.cells)
    for columns in [part.columns] if perturbation.joint else [(column,) for column in part.columns]:
        shown = {column.name: values[column.name] for column in columns}
        kind = by_values(shown.values())
        yield _Lens(replace(part, columns=columns), perturbation, summary, shown, kind)


def by_values(columns: Iterable[Array]) -> Rows:
    """A number for each distinct combination of a row's values."""
    label: Rows | None = None
    for values in columns:
        own = np.unique(values, return_inverse=True)[1].ravel().astype(np.int64)
        label = own if label is None else intersect_labels(label, own)
    assert label is not None
    return label


def _log(likelihood: Floats) -> Floats:
    found: Floats = np.log(np.maximum(likelihood, LEAST))
    return found


def _likelihood(lens: _Lens, people: Rows, rows: Rows) -> Floats:
    """(people, rows) probability of the values of each released row for each person."""
    found = np.empty((len(people), len(rows)))
    step = max(1, AT_ONCE // max(len(rows), 1))
    for begin in range(0, len(people), step):
        some = people[begin : begin + step]
        part = lens.part.take(np.repeat(some, len(rows)))
        new = {name: np.tile(values[rows], len(some)) for name, values in lens.released.items()}
        found[begin : begin + step] = lens.perturb.likelihood(part, new, lens.summary).reshape(len(some), len(rows))
    return found


def candidates_of(shown: Column, most: int = 256) -> Column:
    """Every level that occurs in a column, or every number; of many numbers, evenly spaced ones."""
    if shown.is_category:
        occurring = np.unique(shown.values[shown.values >= 0]).astype(np.int32)
    else:
        occurring = np.unique(shown.values[~shown.missing])
        occurring = occurring[np.unique(np.linspace(0, len(occurring) - 1, min(len(occurring), most)).astype(int))]
    return replace(shown, values=occurring, stored=None)


def log_sum(values: Array, axis: int) -> Floats:
    """The logarithm of a sum of exponentials, without overflow."""
    highest = values.max(axis=axis, keepdims=True)
    found: Floats = (highest + np.log(np.exp(values - highest).sum(axis=axis, keepdims=True))).squeeze(axis)
    return found
