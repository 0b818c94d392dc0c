"""Attacks on released tables of counts: by an attacker who has the tables, knows the method, and not the key.

The people in the smallest groups are attacked, in this release and in releases of the same tables with other keys.
Under one key people of the same cell have the same noise, so the success over keys says more than that under one.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from leafcover.arrays import Floats, Rows
from leafcover.engine.counts import PerturbedTable, released_cells
from leafcover.keyed_random import Key
from leafcover.metrics.disclosure.differencing import (
    Averaging,
    Differencing,
    Evidence,
    Inference,
    averaging,
    decides_right,
    infer,
    knowing_others,
    knowing_weights,
    over_keys,
    with_and_without,
)
from leafcover.metrics.pair import SEED
from leafcover.table.cross_tabulation import CountedPeople, CountedTable

if TYPE_CHECKING:
    from leafcover.engine.counts import CountRelease

TRIES = 1_000
FEWEST_KEYS, MOST_KEYS = 10, 100  # of the releases with other keys
MOST_REPEATED = 20_000_000  # cells that are perturbed again for an attack
TINY = 1e-300


@dataclass(frozen=True)
class CountAttacks:
    """What attackers find of the people in the smallest groups, for the column that gives away most."""

    column: str
    tables: int  # that have this column and are perturbed on their own
    decides: float  # right between two categories, for an attacker who knows all others: large counts, one cell each
    here: Differencing  # in this release; the attacker knows all others
    knowing: Differencing  # over many keys; the attacker knows all others
    two_tables: Differencing | None  # over many keys; the attacker has tables with and without the person, knows nobody
    averaging: Averaging | None  # of cells that other tables divide


def attacks(release: "CountRelease", *, tries: int = TRIES, most_keys: int = MOST_KEYS) -> CountAttacks | None:
    """Attack every sensitive column, or every column; the figures are those of the one that gives away most."""
    people = release.people
    sensitive = [name for name in release.original.with_role("sensitive") if name in people.names]
    names = [name for name in sensitive or people.names if len(people.levels[name]) > 1]
    targets = [target for name in names if (target := _target(release, name, tries)) is not None]
    if not targets:
        return None
    cells = sum(len(one.released) for one in release.tables) + len(people.owner)
    keys = min(most_keys, max(FEWEST_KEYS, MOST_REPEATED // cells), len(targets[0].entries))
    releases = [release.with_key(Key.from_seed(number)) for number in range(keys)]
    knowing = [_over_keys(target, releases, _Target.infer) for target in targets]
    worst = max(range(len(targets)), key=lambda at: _gravity(knowing[at]))
    return _attacked(release, targets[worst], releases, knowing[worst])


def _gravity(found: Differencing) -> tuple[float, float]:
    return found.certain.value, found.correct.value - found.guessing.value


def _over_keys(target: "_Target", releases: Sequence["CountRelease"], how: Any) -> Differencing:
    """Attack releases with other keys, each with its share of the people."""
    found = [how(target, release, slice(number, None, len(releases))) for number, release in enumerate(releases)]
    return over_keys(found, len(target.shares))


def _attacked(
    release: "CountRelease", target: "_Target", releases: Sequence["CountRelease"], knowing: Differencing
) -> CountAttacks:
    tables = target.tables_in(release)
    # Tables are hashed whole, once without each person.
    is_small = sum(len(one.released) for one in tables) * len(target.entries) <= MOST_REPEATED
    two = _over_keys(target, releases, _Target.infer_from_two) if is_small and not release.weight else None
    return CountAttacks(
        column=target.column,
        tables=len(tables),
        decides=decides_right(len(tables), release.noise.variance),
        here=over_keys([target.infer(release, slice(None))], len(target.shares)),
        knowing=knowing,
        two_tables=two,
        averaging=None if release.weight else _averaged([target.tables_in(one) for one in releases]),
    )


def _target(release: "CountRelease", column: str, tries: int) -> "_Target | None":
    """The people in the smallest groups; None if no table that has the column is perturbed on its own."""
    people = release.people
    tables = [one.table for one in release.tables if one.table.is_own and column in one.table.columns]
    if not tables:
        return None
    finest = max(tables, key=lambda one: len(one.columns))
    held = np.bincount(people.codes[column], minlength=len(people.levels[column])) + 1.0
    return _Target(column, _exposed(people, finest, column, tries), held / held.sum())


def _exposed(people: CountedPeople, finest: CountedTable, column: str, tries: int) -> Rows:
    """The entries in the smallest groups by the other columns, equal ones at random.

    Only people with one entry are attacked. Who is alone in a group is the difference between two published counts. The
    size of the person's own cell does not matter: that would choose people by what the attacker is to find out.
    """
    single = np.arange(len(people.owner))
    if not people.is_once:
        single = np.flatnonzero(np.bincount(people.owner)[people.owner] == 1)
    single = np.random.default_rng(SEED).permutation(single)
    group = people.cells_of([name for name in finest.columns if name != column])
    size = np.bincount(group)[group][single]
    if len(size) <= tries:
        return single
    limit = np.partition(size, tries)[tries]
    return np.concatenate([single[size < limit], single[size == limit]])[:tries]


@dataclass(frozen=True, eq=False)
class _Target:
    """The people who are attacked, and the column."""

    column: str
    entries: Rows
    shares: Floats  # of the levels, among all people

    def tables_in(self, release: "CountRelease") -> list[PerturbedTable]:
        """The tables that have the column and are perturbed on their own."""
        return [one for one in release.tables if one.table.is_own and self.column in one.table.columns]

    def infer(self, release: "CountRelease", some: slice) -> Inference:
        """Infer the column of some people, all others known."""
        entries, others_keys = self.entries[some], _keyed_cells(release.tables)
        evidence = (
            _knowing(release, one, self._candidates(release, one.table, entries), self.column, entries, others_keys)
            for one in self.tables_in(release)
        )
        return infer(evidence, self.shares, release.people.codes[self.column][entries])

    def infer_from_two(self, release: "CountRelease", some: slice) -> Inference:
        """Infer it from this release and one without the person."""
        entries = self.entries[some]
        evidence = (
            _two_tables(release, one, self._candidates(release, one.table, entries), self.column, entries)
            for one in self.tables_in(release)
        )
        return infer(evidence, self.shares, release.people.codes[self.column][entries])

    def _candidates(self, release: "CountRelease", table: CountedTable, entries: Rows) -> Rows:
        """(entries, levels) the cell in which each person would be with each level of the column."""
        at, people = table.columns.index(self.column), release.people
        stride = prod(table.shape[at + 1 :])
        cells = people.cells_of(table.columns, entries) - people.codes[self.column][entries] * stride
        return cells[:, None] + np.arange(table.shape[at]) * stride


def _knowing(
    release: "CountRelease", one: PerturbedTable, cells: Rows, column: str, entries: Rows, others_keys: "_KeyedCells"
) -> Evidence:
    people, table, likelihood = release.people, one.table, release.noise.likelihood
    own = (np.arange(cells.shape[1]) == people.codes[column][entries][:, None]).astype(np.int64)
    others = table.counts[cells] - own
    if one.weighted is not None and table.weights is not None and people.weight is not None:
        mine = people.weight[entries][:, None]
        known = table.weights[cells] - own * mine
        whole = table.weights.sum() / max(int(table.counts.sum()), 1)
        without = np.where(others > 0, known / np.maximum(others, 1), whole)
        means = (np.maximum((known + mine) / (others + 1), TINY), np.maximum(without, TINY))
        return _where_possible(knowing_weights(likelihood, others, one.weighted[cells], means), table.impossible[cells])
    same = None
    if table.record_keys is not None and people.record_keys is not None:
        mine_key = np.where(own == 1, people.record_keys[entries][:, None], np.uint64(0))
        same = np.where(others > 0, others_keys.released(table.record_keys[cells] - mine_key, 2 - own), -1)
    found = knowing_others(likelihood, others, one.released[cells], same)
    return _where_possible(found, table.impossible[cells])


def _two_tables(release: "CountRelease", one: PerturbedTable, cells: Rows, column: str, entries: Rows) -> Evidence:
    """Repeat a table without each person, one by one."""
    people, noise, table = release.people, release.noise, one.table
    is_same = people.record_keys is not None and release.unit != ""  # else record keys are new in every table
    after = np.empty(cells.shape, np.int64)
    for number, entry in enumerate(entries):
        own, counts = cells[number, people.codes[column][entry]], table.counts.copy()
        counts[own] -= 1
        keys = None
        if is_same and table.record_keys is not None and people.record_keys is not None:
            keys = table.record_keys.copy()
            keys[own : own + 1] -= people.record_keys[entry]  # modulo 2^64: of an array, without a warning
        changed = replace(table, counts=counts, record_keys=keys, weights=None)
        after[number] = released_cells(changed, noise, release.draws, cells[number])
    reach = noise.max_noise + 1
    found = with_and_without(noise.likelihood, one.released[cells], after, reach=reach, same_noise=is_same)
    return _where_possible(found, table.impossible[cells])


def _where_possible(evidence: Evidence, impossible: Any) -> Evidence:
    """Cells in which nobody can be say nothing."""
    inside, outside = (np.where(impossible, 0.0, one) for one in (evidence.inside, evidence.outside))
    return Evidence(inside, outside)


@dataclass(frozen=True, eq=False)
class _KeyedCells:
    """The cells of all tables by their summed keys: cells of the same people have the same key."""

    keys: Any
    cells: Rows  # that have each key
    counts: Rows  # released for them

    def released(self, keys: Any, least: Any) -> Rows:
        """The released count of the cells with each key, or -1 where fewer than so many cells have it."""
        if not len(self.keys):
            return np.full(keys.shape, -1)
        at = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
        return np.where((self.keys[at] == keys) & (self.cells[at] >= least), self.counts[at], -1)


def _keyed_cells(tables: Sequence[PerturbedTable]) -> _KeyedCells:
    chosen = [one for one in tables if one.table.is_own and one.table.record_keys is not None]
    keys = np.concatenate([np.empty(0, np.uint64), *(one.table.record_keys for one in chosen)])
    released = np.concatenate([np.empty(0, np.int64), *(one.released for one in chosen)])
    distinct, first, cells = np.unique(keys, return_index=True, return_counts=True)
    return _KeyedCells(distinct, cells, released[first])


def _averaged(releases: Sequence[Sequence[PerturbedTable]]) -> Averaging | None:
    """Average the cells of the table that most other tables divide, in releases with different keys."""
    tables = [one.table.columns for one in releases[0]]
    chosen = max(range(len(tables)), key=lambda at: sum(set(tables[at]) < set(other) for other in tables))
    finer = [at for at, other in enumerate(tables) if set(tables[chosen]) < set(other)]
    if not finer:
        return None
    own = [one[chosen] for one in releases]
    sums = [
        (
            np.concatenate([one[at].table.summed(one[at].released, tables[chosen]) for one in releases]),
            len(releases[0][at].released) // len(own[0].released),
        )
        for at in finer
    ]
    return averaging(np.concatenate([one.released for one in own]), sums, np.tile(own[0].table.counts, len(own)))
