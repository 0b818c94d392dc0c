"""What an attacker who knows the plan can say of a release: the law of every step, the cells a row still shows."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from leafcover.cells import finer
from leafcover.fast.arrays import MISSING, Array, Floats, Rows
from leafcover.measuring.sampling import some_rows
from leafcover.noise.part import Noise, Part, Summary
from leafcover.releasing.known import Known
from leafcover.releasing.plan import Step
from leafcover.releasing.run import whole_part
from leafcover.table.table import Column, Table

FEWEST_ASKED, MOST_ASKED = 16, 3_000  # people of a group whose laws say how common a released row is
FULLY_ASKED = 300  # rows of a group that costs nothing to ask wholly
BACKGROUND_WORK = 500_000  # likelihoods of a group's background in one column, about
ALL_WORK = 10_000_000  # the same over all large groups
AT_ONCE = 2_000_000  # likelihoods spelled out at once
LEAST = 1e-300  # a likelihood of 0 as a logarithm that still compares


@dataclass(frozen=True, eq=False)
class _Lens:
    """One column whose released values say more than the group of their row."""

    part: Part  # the column alone, every original row
    noise: Noise
    summary: Summary
    released: Array  # (rows,) in the order and the codes of the original


@dataclass(frozen=True, eq=False)
class PlanEvidence:
    """The law of a plan, as evidence about a release of a table by it."""

    groups: Rows
    lenses: tuple[_Lens, ...]

    @property
    def uniform(self) -> bool:
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
        everyone = rows[some_rows(len(rows), self._asked(len(rows)))]
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
        if not noise.uniform:
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
        labels += [noise.shown(part), *(cells.label for cells in part.keep)]
    groups = np.zeros(len(known.table), np.int64)
    for label in {id(label): label for label in labels}.values():  # steps of one split share their labels
        groups = finer(groups, label)
    return groups


def certain(known: Known, keys: Sequence[str]) -> PlanEvidence | None:
    """The evidence of a plan that makes every row of a group as likely as any other; no released row is needed."""
    uniform = all(noise.uniform for _, noise in _known_parts(known, keys))
    return PlanEvidence(groups_of(known, keys), ()) if uniform else None


def _known_parts(known: Known, keys: Sequence[str]) -> Iterator[tuple[Part, Noise]]:
    """The key columns of each step."""
    for step in known.plan.steps:
        names = [name for name in step.columns if name in keys]
        if names:
            yield whole_part(known.table, Step(names, step.within, step.noise, step.keep), known.partitions), step.noise


def _lenses(part: Part, noise: Noise, released: Table) -> Iterator[_Lens]:
    summary = noise.settle(noise.summarise(part), part.cells)
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
        found[begin : begin + step] = lens.noise.likelihood(part, new, lens.summary).reshape(len(some), len(values))
    return found


def _in_codes_of(column: Column, other: Column) -> Array:
    """The values of another table's column, a category in the codes of this one."""
    if not column.is_category:
        return other.values
    number = {level: code for code, level in enumerate(column.levels)}
    lookup = np.array([number.get(level, MISSING) for level in other.levels] + [MISSING], np.int32)
    return lookup[other.values]
