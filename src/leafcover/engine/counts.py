"""Tables of counts as a release: counted, perturbed by cell keys, attacked by differencing, and saved.

Totals are the same people counted by fewer columns. Each table is perturbed on its own, so that sums of cells differ
from totals; or totals are sums of perturbed cells.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import numpy as np

from leafcover.arrays import Floats, Rows
from leafcover.engine.run import fingerprint
from leafcover.errors import PlanError, ValueOutOfRange
from leafcover.keyed_random import Draws, Key, choose_key
from leafcover.messages import catalogue
from leafcover.metrics.disclosure.differencing import Differencing
from leafcover.metrics.suite import plain
from leafcover.perturb.cell_key import MOST_CERTAIN, CellKeys, PerturbationTable, table_draws, uniform_of
from leafcover.registry import checks_arguments
from leafcover.table.cross_tabulation import (
    CountedPeople,
    CountedTable,
    Rare,
    Totals,
    counted,
    counted_from,
    people_of,
    tables_of,
)
from leafcover.table.frames import from_frame, to_frame
from leafcover.table.table import Column, Grid, IntoTable, Source, Table
from leafcover.table.units import unit_columns
from leafcover.table.weights import kept_tables

if TYPE_CHECKING:
    from leafcover.engine.count_attacks import CountAttacks

TOTAL, COUNT = "Total", "count"
DRAWS = "leafcover counts 1"  # a change here changes every released count
MOST_CELLS = 5_000_000
HEAVY = 5.0  # a person's weight, times the mean weight of the cell, that noise does not hide


@dataclass(frozen=True, eq=False)
class PerturbedTable:
    """A table of counts, and what is released of it."""

    table: CountedTable
    released: Rows
    weighted: Floats | None = None  # released weighted counts


@dataclass(frozen=True, eq=False)
class CountRelease:
    """Released tables of counts, and what is known about them.

    Attributes
    ----------
    table : Table
        All released counts: a row for each cell, with a column for each by-variable and one for the count. In totals
        the variable has the value "Total"; a missing value is a level like others.
    tables : tuple of PerturbedTable
        The same table by table, with the true counts: secret.
    noise : PerturbationTable
        The probabilities of the noise.
    settings : mapping
        The other settings: the tables, their totals, cell keys, rare levels and impossible levels.
    unit : str
        The column whose people or households are counted; empty if rows are.
    weight : str
        The column by which counts are weighted; empty if they are not.
    fingerprint : str
        A keyed hash of the columns that were used.
    publishable : bool
        Whether the key is one to publish with, not one derived from a seed.
    people : CountedPeople
        Who was counted: secret.
    draws : Draws
        The secret draws of the release, for attacks that repeat it without one person.
    original : Table
        The table that was counted: secret.
    new_key : Key or None
        The secret key if it is a new one, to keep or to discard.

    Examples
    --------
    >>> import leafcover as lc
    >>> counts = lc.count_table(lc.read(lc.sample("cps1985")), by=["gender x sector"], seed=7)
    >>> counts.frame.num_rows, counts.publishable
    (12, False)
    """

    table: Table
    tables: tuple[PerturbedTable, ...] = field(repr=False)
    noise: PerturbationTable
    settings: Mapping[str, Any]
    unit: str
    weight: str
    fingerprint: str
    publishable: bool
    people: CountedPeople = field(repr=False)
    draws: Draws = field(repr=False)
    original: Table = field(repr=False)
    new_key: Key | None = field(default=None, repr=False)

    @property
    def frame(self) -> Any:
        """The released counts as pandas, polars or pyarrow, like the table that was counted."""
        return to_frame(self.table)

    @cached_property
    def attacks(self) -> "CountAttacks | None":
        """The attacks, run on the released counts; None if no column has two levels.

        Columns with the role "sensitive" are attacked, or all of them if no column has it.
        """
        from leafcover.engine.count_attacks import attacks

        return attacks(self)

    @property
    def figures(self) -> dict[str, Any]:
        """Plain figures for a report; those of cells are for the steward only."""
        own = [one for one in self.tables if one.table.is_own]
        noise = np.concatenate([one.released - one.table.counts for one in own])
        empty = np.concatenate([(one.table.counts == 0) & ~one.table.impossible for one in own])
        found = {
            "cells": sum(len(one.released) for one in self.tables),
            "cells_changed": float(np.mean(noise != 0)),
            "noise_mean": float(noise[~empty].mean()) if (~empty).any() else 0.0,
            "noise_variance": float(noise[~empty].var()) if (~empty).any() else 0.0,
            "zero_cells": int(empty.sum()),
            "zero_cells_released_as_more": int((noise[empty] > 0).sum()),
            "largest_gap": largest_gap(self.tables),
            "heaviest_person": _heaviest(self),
            "certain_per_count": self.noise.certain,
        }
        return {**found, "attacks": None if self.attacks is None else plain(self.attacks)}

    @property
    def warnings(self) -> tuple[str, ...]:
        """What the steward should know before the counts are published."""
        return tuple(_warnings(self))

    @property
    def summary(self) -> str:
        """What was released and what the attacks found, in sentences."""
        return "\n".join(_sentences(self))

    def __str__(self) -> str:
        return "\n".join([self.summary, *self.warnings])

    def with_key(self, key: Key) -> "CountRelease":
        """The same tables with another key, for attacks."""
        draws, people = Draws(key.secret).sub(DRAWS), self.people
        tables = [one.table for one in self.tables]
        if people.record_keys is not None:
            people = replace(people, record_keys=draws.sub("record keys").words(people.owner))
            tables = counted_tables(people, {one.columns: one.is_own for one in tables})
        return replace(self, people=people, draws=draws, tables=perturbed_tables(tables, self.noise, draws))

    @checks_arguments("self")
    def save(self, path: str | Path, *, key_file: str | Path | None = None, force: bool = False) -> dict[str, Any]:
        """Write the counts and both manifests, all or none.

        Parameters
        ----------
        path : str or Path
            The path of the table; its suffix determines the format.
        key_file : str or Path, optional
            Keep the secret key here, so that later tables have the same noise in the same cells.
        force : bool, default False
            Overwrite files that exist.

        Returns
        -------
        dict
            The manifest that may be published.

        Examples
        --------
        >>> import tempfile
        >>> from pathlib import Path
        >>> import leafcover as lc
        >>> counts = lc.count_table(lc.read(lc.sample("cps1985")), by=["gender x sector"], seed=7)
        >>> with tempfile.TemporaryDirectory() as directory:
        ...     manifest = counts.save(Path(directory) / "counts.csv")
        >>> manifest["counts"]["tables"], manifest["output"]["rows"]
        ([['gender', 'sector']], 12)
        """
        from leafcover.engine.files import save_counts

        return save_counts(self, Path(path), key_file=None if key_file is None else Path(key_file), force=force)


@checks_arguments("key")
def count_table(
    table: IntoTable,
    by: str | Sequence[str | Sequence[str]],
    *,
    totals: Totals = "own",
    max_noise: int = 20,
    variance: float = 4.0,
    zeros: float = 0.1,
    minimum: int = 1,
    cell_keys: CellKeys = "drawn",
    rare: Rare = "pool",
    impossible: Sequence[str | Mapping[str, str]] = (),
    key: Key | None = None,
    key_file: str | Path | None = None,
    seed: int | None = None,
) -> CountRelease:
    """Count rows, people or households by some columns, and perturb the counts by the cell-key method.

    If a column has the role "unit", its people or households are counted; if one has the role "weight", counts are
    weighted.

    Parameters
    ----------
    table : Table or frame
        What `read` gives, or a pandas, polars or pyarrow frame.
    by : str or sequence of str or of sequences of str
        The tables, each one column or several: ``"sex"``, ``"sex x region"`` or ``("sex", "region")``.
    totals : {"own", "sum", "none"}, default "own"
        Whether totals are perturbed on their own, are the sums of perturbed cells, or are left out.
    max_noise : int, default 20
        The largest noise; 0 for exact counts.
    variance : float, default 4
        The variance of the noise.
    zeros : float, default 0.1
        The probability with which a zero is perturbed as if it were a one. With 0 zeros stay zero, so a positive count
        proves that somebody is in the cell.
    minimum : int, default 1
        The smallest count that is released, apart from zero.
    cell_keys : {"drawn", "summed"}, default "drawn"
        Whether noise is drawn for each table, or chosen by the sum of the keys of the people in the cell, as in the
        publications. Summed keys give people away by differencing.
    rare : {"pool", "allow", "refuse"}, default "pool"
        What happens to levels that fewer than 5 people have: they become one level, they stay, or nothing is released.
    impossible : sequence of str or mapping
        Combinations of levels that nobody can have, such as ``"age=0-14 x marital=married"``: their zeros stay zero.
    key, key_file, seed : Key, str or Path, int, optional
        The secret key, a file that holds it, or a seed for experiments; without any of them a new key is generated.

    Returns
    -------
    CountRelease

    Examples
    --------
    >>> import leafcover as lc
    >>> table = lc.read(lc.sample("cps1985"))
    >>> counts = lc.count_table(table, by=["gender", "sector"], seed=7)
    >>> counts.frame.slice(0, 2).to_pylist()
    [{'gender': 'female', 'sector': 'Total', 'count': 248}, {'gender': 'male', 'sector': 'Total', 'count': 289}]
    >>> attack = counts.attacks
    >>> attack.knowing.tries, attack.knowing.certain.value
    (534, 0.0)
    """
    if cell_keys not in get_args(CellKeys):
        raise ValueOutOfRange("cell_keys", cell_keys, f"one of {', '.join(get_args(CellKeys))}")
    noise = PerturbationTable(max_noise, variance, zeros, minimum)
    data = from_frame(table)
    asked = kept_tables(by, data, "table of counts")
    _refuse_names(asked)
    chosen, is_new = choose_key(key, key_file, seed)
    units, weights = unit_columns(data)[:1], data.with_role("weight")[:1]
    used = dict.fromkeys((*(name for one in asked for name in one), *units, *weights))
    mark, draws = fingerprint(data.select(used), chosen), Draws(chosen.secret).sub(DRAWS)
    # Without units nothing names the people of another table, so their keys are those of this table alone.
    record_draws = draws.sub("record keys", *(() if units else (mark,))) if cell_keys == "summed" else None
    people = people_of(data, asked, rare=rare, impossible=impossible, record_draws=record_draws)
    found = perturbed_tables(counted_tables(people, tables_of(asked, totals)), noise, draws)
    return CountRelease(
        table=_released_table(found, people, data, TOTAL if totals != "none" or len(asked) > 1 else ""),
        tables=found,
        noise=noise,
        settings={
            "tables": [list(one) for one in asked],
            "totals": totals,
            "cell_keys": cell_keys,
            "rare": rare,
            "impossible": [one if isinstance(one, str) else dict(one) for one in impossible],
        },
        unit="".join(units),
        weight="".join(weights),
        fingerprint=mark,
        publishable=chosen.publishable,
        people=people,
        draws=draws,
        original=data,
        new_key=chosen if is_new else None,
    )


def _refuse_names(asked: Iterable[Sequence[str]]) -> None:
    if not asked:
        raise PlanError("No table of counts is named. Name its columns with by=..., such as 'sex x region'.")
    if any(COUNT in one for one in asked):
        raise PlanError(f"A column of a table of counts is called {COUNT!r}, as the counts are. Rename it.")


def counted_tables(people: CountedPeople, columns: Mapping[tuple[str, ...], bool]) -> list[CountedTable]:
    """Count all tables, each with whether it is perturbed on its own."""
    cells = sum(prod(len(people.levels[name]) for name in one) for one in columns)
    if cells > MOST_CELLS:
        raise PlanError(
            f"The tables of counts have {cells:,} cells, and at most {MOST_CELLS:,} are supported. "
            "Name fewer columns for each table, or group their levels."
        )
    if not (people.is_once or all(columns.values())):
        raise PlanError(
            "totals='sum' was given, but people are in several cells of a table, so sums would count them more than "
            "once. Use totals='own'."
        )
    found: list[CountedTable] = []
    for one, is_own in columns.items():
        finer = next((other for other in found if people.is_once and set(one) < set(other.columns)), None)
        found.append(
            counted(people, one, is_own=is_own) if finer is None else counted_from(finer, people, one, is_own=is_own)
        )
    return found


def perturbed_tables(
    tables: Iterable[CountedTable], noise: PerturbationTable, draws: Draws
) -> tuple[PerturbedTable, ...]:
    """Perturb all tables; those that are not perturbed on their own are sums of the first that has their columns."""
    found: list[PerturbedTable] = []
    for one in tables:
        finer = next((other for other in found if set(one.columns) < set(other.table.columns)), None)
        found.append(perturbed(one, noise, draws) if one.is_own or finer is None else _summed(one, finer))
    return tuple(found)


def perturbed(table: CountedTable, noise: PerturbationTable, draws: Draws) -> PerturbedTable:
    """A table with noise in every cell that is not impossible; weighted counts have noise times the mean weight."""
    cells = np.arange(len(table.counts))
    released = released_cells(table, noise, draws, cells)
    if table.weights is None:
        return PerturbedTable(table, released)
    # Without a part of a person, the weighted counts would be multiples of the mean weight, and give it away.
    part = _draws(table, noise, draws).uniform(cells, attempt=1) - 0.5
    return PerturbedTable(table, released, np.where(released > 0, (released + part) * table.mean_weights, 0.0))


def released_cells(table: CountedTable, noise: PerturbationTable, draws: Draws, cells: Rows) -> Rows:
    """The released counts of some cells."""
    counts = table.counts[cells]
    if table.record_keys is None:
        uniform = _draws(table, noise, draws).uniform(cells)
    else:  # a cell of nobody has no record keys; its key is drawn, the same in every table
        empty = draws.sub("empty cells", repr((table.columns, table.levels)).encode("utf-8", "surrogatepass"))
        uniform = np.where(counts > 0, uniform_of(table.record_keys[cells]), empty.uniform(cells))
    return np.where(table.impossible[cells], 0, counts + noise.noise(counts, uniform))


def _draws(table: CountedTable, noise: PerturbationTable, draws: Draws) -> Draws:
    return table_draws(draws, noise, (table.columns, table.levels), table.counts)


def _summed(table: CountedTable, finer: PerturbedTable) -> PerturbedTable:
    """The totals of a table as sums of the released cells of a finer one."""
    weighted = None if finer.weighted is None else finer.table.summed(finer.weighted, table.columns)
    return PerturbedTable(table, finer.table.summed(finer.released, table.columns), weighted)


def _released_table(tables: Sequence[PerturbedTable], people: CountedPeople, original: Table, total: str) -> Table:
    """All released counts, one below the other."""
    columns = [_label_column(tables, people, name, total) for name in people.names]
    counts = np.concatenate([one.released if one.weighted is None else one.weighted for one in tables]).astype(float)
    if people.weight is not None and people.weight.sum() >= len(people.owner):  # weights count members of a population
        counts = np.rint(counts)
    whole = bool((counts == np.rint(counts)).all())
    source = original.source
    if isinstance(source, Source) and source.format != "csv":
        source = Source("frame", library=source.library or "pyarrow")
    return Table((*columns, Column(COUNT, "number", counts, grid=Grid(0) if whole else None)), source=source)


def _label_column(tables: Sequence[PerturbedTable], people: CountedPeople, name: str, total: str) -> Column:
    """The level of a column in every cell."""
    known = [level for level in people.levels[name] if level is not None]
    if total in known:
        raise PlanError(
            f"Column {name!r} has a level {total!r}, which marks totals. Rename the level, or leave totals out with "
            "totals='none'."
        )
    levels = tuple(sorted([*known, *([total] if total else [])]))
    number = {level: at for at, level in enumerate(levels)}
    code = np.array([number.get(level, -1) if level is not None else -1 for level in people.levels[name]], np.int32)
    parts = []
    for one in (one.table for one in tables):
        size = len(one.counts)
        if name in one.columns:
            at = np.unravel_index(np.arange(size), one.shape)[one.columns.index(name)]
            parts.append(code[at])
        else:
            parts.append(np.full(size, number[total], np.int32))
    return Column(name, "category", np.concatenate(parts), levels)


def largest_gap(tables: Sequence[PerturbedTable]) -> int:
    """The largest difference between a released total and the sum of the released cells of a finer table."""
    found = [0]
    for one in tables:
        for finer in tables:
            if set(one.table.columns) < set(finer.table.columns):
                total, cells = (each.released if each.weighted is None else each.weighted for each in (one, finer))
                found.append(int(np.abs(total - finer.table.summed(cells, one.table.columns)).max()))
    return max(found)


def _heaviest(release: CountRelease) -> float:
    """The largest weight of a person, times the mean weight of the cell."""
    people = release.people
    if people.weight is None:
        return 1.0
    own = [one.table for one in release.tables if one.table.is_own]
    shares = (people.weight / np.maximum(one.mean_weights[people.cells_of(one.columns)], 1e-300) for one in own)
    return float(max(one.max(initial=0.0) for one in shares))


# What `print(counts)` and ``leafcover counts`` show.


def _sentences(release: CountRelease) -> Iterator[str]:
    say, noise, settings = catalogue("counts"), release.noise, release.settings
    own = [one for one in release.tables if one.table.is_own]
    cells = sum(len(one.released) for one in release.tables)
    of = "weighted" if release.weight else "units" if release.unit else "rows"
    yield say("counted", cells=cells, tables=len(own), of=of, column=release.weight or release.unit)
    if noise.max_noise:
        yield say("noise", variance=f"{noise.variance:g}", most=noise.max_noise, minimum=noise.minimum)
        yield say("zeros", kept="no" if noise.zeros else "yes", chance=f"{noise.zeros:g}")
    if settings["impossible"]:
        yield say("impossible", count=len(settings["impossible"]))
    yield say("totals", how=settings["totals"], gap=largest_gap(release.tables))
    if (found := release.attacks) is None:
        return
    yield say("here", tries=found.here.tries, certain=round(found.here.certain.value * found.here.tries))
    yield say("knowing", column=found.column, **_success(found.knowing))
    if found.two_tables is not None:
        yield say("two-tables", **_success(found.two_tables))
    yield say("tables", tables=found.tables, column=found.column, decides=f"{found.decides:.0%}")
    if (mean := found.averaging) is not None:
        exact = {"exact": f"{mean.exact:.0%}", "averaged": f"{mean.averaged_exact:.0%}"}
        yield say("averaging", sums=mean.sums, error=f"{mean.error:.2f}", after=f"{mean.averaged_error:.2f}", **exact)


def _success(found: Differencing) -> dict[str, Any]:
    """The figures of an attack, for a sentence."""
    right, tries = found.correct, {"tries": found.tries, "keys": found.keys}
    shares = {"correct": right.value, "low": max(right.low, 0.0), "high": min(right.high, 1.0)}
    shares["guessing"] = found.guessing.value
    certain = round(found.certain.value * found.tries)
    return {**tries, "certain": certain, **{name: f"{share:.3f}" for name, share in shares.items()}}


def _warnings(release: CountRelease) -> Iterator[str]:
    say, noise = catalogue("counts"), release.noise
    if not release.publishable:
        yield say("seeded")
    if not noise.max_noise:
        yield say("exact")
    elif (chance := noise.at_limit) > MOST_CERTAIN:
        yield say("certain", chance=f"{chance:.1g}", most=noise.max_noise)
    if not noise.zeros and noise.max_noise:
        yield say("zeros-kept")
    if release.settings["cell_keys"] == "summed":
        yield say("summed")
    if (heaviest := _heaviest(release)) > HEAVY:
        yield say("heavy", times=f"{heaviest:.1f}")
