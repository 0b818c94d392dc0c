"""Columns that rules tie to others: left out before values change, and computed again afterwards.

A column that an equation or a date determines is left out. Of two ordered columns the larger one is replaced by its
difference from the smaller one. Whatever happens to the remaining columns, the rules hold when both are undone. Tied
columns so count as one: no attacker is credited with computing one of them from the others.

In a table of people or households with several rows each, a column with one value for each of them is only tied to
columns of that kind, so that it keeps one value. The column by which their rows are sorted is treated in the same way,
so that it keeps its order: of two ordered columns the smaller one may then be replaced.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np

from leafcover.arrays import Bools, Floats
from leafcover.errors import PlanError
from leafcover.table.column_rules import ColumnRule, Implies, LevelCondition, Linear, Moment, Sum
from leafcover.table.output import as_recoded, new_values
from leafcover.table.table import Column, Grid, Table
from leafcover.table.units import first_date, is_constant, unit_columns, units_of

STAYS = ("unchanged", "unit", "identifier")  # roles of columns that nothing computes
VARYING = 2  # the level of a column with several values for one member of a unit


@dataclass(frozen=True)
class Computed:
    """A column that is computed from others."""

    column: str
    rule: Linear | Moment

    @property
    def needs(self) -> tuple[str, ...]:
        """The columns it is computed from."""
        return tuple(name for name in self.rule.columns if name != self.column)

    def values(self, table: Table) -> Floats:
        """The column, computed."""
        if isinstance(self.rule, Moment):
            return self.rule.values(table)
        return self.rule.solved_for(self.column).values(table)


@dataclass(frozen=True)
class Ordered:
    """A column that is at least as large as some sums: it becomes the difference from the largest of them.

    If ``is_below``, it is at most as large, and becomes the difference from the smallest.
    """

    column: str
    bounds: tuple[Sum, ...]
    is_below: bool = False

    @property
    def needs(self) -> tuple[str, ...]:
        """The columns of the sums."""
        return tuple(dict.fromkeys(name for one in self.bounds for _, name in one.terms))

    def bound(self, table: Table) -> Floats:
        """The nearest of the sums that are known in a row; nan if none is."""
        nearest = np.fmin if self.is_below else np.fmax
        return nearest.reduce([one.values(table) for one in self.bounds])

    def difference(self, table: Table) -> Floats:
        """How far the column is from the nearest sum."""
        apart = table[self.column].values - self.bound(table)
        return -apart if self.is_below else apart

    def values(self, table: Table) -> Floats:
        """The column again, from a table that has the difference in its place."""
        apart = table[self.column].values
        return self.bound(table) + (-apart if self.is_below else apart)

    def limits(self, table: Table) -> dict[str, Floats]:
        """The least or largest values that the column may have, from the same table."""
        bound, towards = self.bound(table), -np.inf if self.is_below else np.inf
        limit = np.where(table[self.column].values > 0, np.nextafter(bound, towards), bound)
        return {"most" if self.is_below else "least": limit}


Tie: TypeAlias = Computed | Ordered


@dataclass(frozen=True)
class TiedColumns:
    """How the columns of a table are tied, in the order in which they are computed."""

    ties: tuple[Tie, ...] = ()
    rules: tuple[ColumnRule, ...] = ()  # those that the ties keep

    def __bool__(self) -> bool:
        return bool(self.ties)

    @property
    def computed(self) -> tuple[str, ...]:
        """The columns that are left out and computed again."""
        return tuple(one.column for one in self.ties if isinstance(one, Computed))

    @property
    def differences(self) -> tuple[str, ...]:
        """The columns that are replaced by differences."""
        return tuple(one.column for one in self.ties if isinstance(one, Ordered))

    def recoded_differences(self, table: Table) -> tuple[str, ...]:
        """Differences that change when they are added: the sums of a recoded column are recoded."""
        return tuple(name for name in self.differences if table[name].coarser is not None)

    def untie(self, table: Table) -> Table:
        """The table without computed columns, and with differences in place of ordered ones."""
        if not self.ties:
            return table
        new = {one.column: _difference(table, one) for one in self.ties if isinstance(one, Ordered)}
        kept = table.replace(new.values())
        return kept.select(name for name in table.names if name not in self.computed)

    def tie(self, untied: Table, original: Table) -> Table:
        """The table with every column of the original again; rows of the original give missing tokens their text."""
        if not self.ties:
            return untied
        found = {column.name: column for column in untied}
        for one in self.ties:
            like = original[one.column]
            so_far = replace(untied, columns=tuple(found.values()))
            values = _on_grid(like.grid, one.values(so_far))
            if isinstance(one, Ordered):
                values = as_recoded(like, values, **one.limits(so_far))
            found[one.column] = new_values(like, values)
        names = [name for name in original.names if name in found]
        return replace(untied, columns=tuple(found[name] for name in names))

    @property
    def implied(self) -> tuple[Implies, ...]:
        """What the untied table must keep so that no value is lost: a known difference has a known bound."""
        known = LevelCondition("", (None,), negated=True)
        return tuple(
            Implies(replace(known, column=one.column), replace(known, column=name))
            for one in self.ties
            if isinstance(one, Ordered) and len(one.needs) == 1
            for name in self._sources(one.needs[0])
        )

    def between_sources(self, one: str, other: str, pairs: Bools, table: Table) -> Iterator[tuple[str, str, Bools]]:
        """Forbidden pairs of levels as pairs of columns of the untied table.

        A computed column is missing where one of its sources is. If it must be missing, one source is chosen for that.
        """
        if one in self.computed and other in self.computed:
            others = self._missing_sources(other, table)
            for name in (sources := self._missing_sources(one, table)):
                known = pairs[:1] & (name == sources[0] and name not in others)
                yield from self.between_sources(name, other, np.vstack([known, pairs[1:]]), table)
        elif one in self.computed:
            yield from ((a, b, found.T) for b, a, found in self.between_sources(other, one, pairs.T, table))
        elif other not in self.computed:
            yield one, other, pairs
        else:
            sources = self._missing_sources(other, table)
            for name in (source for source in sources if source != one):
                known = pairs[:, :1] & (one not in sources and name == sources[0])
                yield one, name, np.hstack([known, pairs[:, 1:]])

    def _missing_sources(self, name: str, table: Table) -> list[str]:
        """The sources of a column that have missing values."""
        return [source for source in self._sources(name) if table[source].missing.any()]

    def _sources(self, name: str) -> tuple[str, ...]:
        """The columns of the untied table from which a column is computed; the column itself if it is not."""
        made = next((one for one in self.ties if one.column == name and isinstance(one, Computed)), None)
        if made is None:
            return (name,)
        return tuple(dict.fromkeys(source for need in made.needs for source in self._sources(need)))


def _difference(table: Table, one: Ordered) -> Column:
    column = table[one.column]
    values = _on_grid(column.grid, one.difference(table))
    return Column(column.name, "number", values, grid=column.grid)


def _on_grid(grid: Grid | None, values: Floats) -> Floats:
    """Values without the binary rounding of sums and differences; values between grid points stay."""
    if grid is None:
        return values
    near = grid.value(grid.index(values))
    return np.where(np.abs(near - values) <= 1e-6 * grid.step, near, values)


def tied_columns(
    rules: Sequence[ColumnRule],
    found: Sequence[ColumnRule],
    table: Table,
    *,
    target: str = "",
    units: Sequence[str] = (),
    sequence: str | None = None,
) -> TiedColumns:
    """How declared rules, then rules that were found, tie the columns of a table.

    A rule that cannot be kept together with those before it, or whose columns stay unchanged, ties nothing. Of a
    declared rule that is an error. ``units`` are the columns that say whose the rows are, and ``sequence`` is the one
    by which they are sorted.
    """
    ties: dict[str, Tie] = {}
    kept = []
    free = _Free(table, target, sequence or "", _levels(table, units))
    for rule in dict.fromkeys((*rules, *found)):  # a declared rule may be found, too
        made = _tie(rule, free, ties)
        if made is not None:
            ties[made.column] = made
            kept.append(rule)
        elif rule in rules and rule.ties and not _stays(rule, table):
            raise PlanError(
                f"The rule {rule.text!r} cannot be kept together with the others: no column is left that can be "
                "computed from the rest, or values are missing where it needs them. Leave out one of the rules."
            )
    return TiedColumns(tuple(_in_order(ties)), tuple(kept))


def _stays(rule: ColumnRule, table: Table) -> bool:
    return all(table.roles.get(name) in STAYS for name in rule.columns)


def sequenced(
    rules: Sequence[ColumnRule],
    found: Sequence[ColumnRule],
    table: Table,
    *,
    target: str = "",
    sequence: str | None = None,
) -> tuple[TiedColumns, str | None]:
    """The same for the rows of units, and the column by which they are sorted.

    A day or year is replaced by the time that it is computed from. If none was named, the dates and times that are left
    are looked through first, then those that rules would replace.
    """
    moments = [rule for rule in (*rules, *found) if isinstance(rule, Moment) and rule.function != "month"]
    sequence = next((rule.of for rule in moments if rule.column == sequence), sequence)
    units = unit_columns(table)
    tied = tied_columns(rules, found, table, target=target, units=units, sequence=sequence)
    if sequence is not None or first_date(tied.untie(table)) is not None:
        return tied, sequence
    date = first_date(table)
    if date is not None:
        tied = tied_columns(rules, found, table, target=target, units=units, sequence=date)
    return tied, date


@dataclass(frozen=True)
class _Free:
    """Which columns of a table may be computed, from which others."""

    table: Table
    target: str
    sequence: str  # the column by which rows of a unit are sorted
    levels: Mapping[str, int]  # of each column; none if there is no unit

    def permits(self, tie: Tie) -> bool:
        """Whether a column may be computed at all; and if it keeps one value for each unit, or the order of rows."""
        level = min(self.levels.get(tie.column, VARYING), VARYING - (tie.column == self.sequence))
        changes = self.table.roles.get(tie.column) not in STAYS and tie.column != self.target
        return changes and all(self.levels.get(name, VARYING) <= level for name in tie.needs)


def _levels(table: Table, named: Sequence[str]) -> dict[str, int]:
    """0 for columns with one value for each unit, 1 with one for each member of a unit, 2 for all others."""
    found = dict.fromkeys(table.names if named else (), VARYING)
    members = units_of(table, named, None) if len(named) == 2 else None
    if members is not None and int(members.sizes.max(initial=0)) > 1:
        found |= {column.name: 1 for column in table if is_constant(column, members)}
    households = units_of(table, named[:1], None) if named else None
    return found | {c.name: 0 for c in table if households is not None and is_constant(c, households)}


def _tie(rule: ColumnRule, free: _Free, ties: Mapping[str, Tie]) -> Tie | None:
    """The tie that a rule adds; None if it cannot."""
    for candidate in _candidates(rule, free, ties):
        if free.permits(candidate) and not _is_circular(candidate, ties):
            return candidate
    return None


def _candidates(rule: ColumnRule, free: _Free, ties: Mapping[str, Tie]) -> Sequence[Tie]:
    table = free.table
    if isinstance(rule, Moment):
        return [Computed(rule.column, rule)] if rule.column not in ties and _covers(rule, rule.column, table) else []
    if not isinstance(rule, Linear):
        return []
    terms = rule.difference.terms
    if rule.relation == "==":
        single = [name for side in (rule.left, rule.right) if len(side.terms) == 1 for _, name in side.terms]
        names = dict.fromkeys([*single, *(name for _, name in reversed(terms))])
        return [Computed(name, rule) for name in names if name not in ties and _covers(rule, name, table)]
    # The rule says that the sum of its terms is at most 0.
    above = [_ordered(rule, name, ties.get(name), is_below=False) for coefficient, name in terms if coefficient < 0]
    below = [_ordered(rule, name, ties.get(name), is_below=True) for coefficient, name in terms if coefficient > 0]
    every = [*above, *(below if free.levels else ())]
    return [one for one in every if one and not (np.isnan(one.bound(table)) & ~table[one.column].missing).any()]


def _ordered(rule: Linear, name: str, tie: Tie | None, *, is_below: bool) -> Ordered | None:
    """A column above or below a sum, besides those that it is above or below already; None if it is tied otherwise."""
    if tie is not None and not (isinstance(tie, Ordered) and tie.is_below == is_below):
        return None
    return Ordered(name, (*(tie.bounds if tie else ()), rule.solved_for(name)), is_below)


def _covers(rule: ColumnRule, column: str, table: Table) -> bool:
    """Whether a column is known exactly where all others of a rule are, so that computing it loses nothing."""
    others = np.logical_or.reduce([table[name].missing for name in rule.columns if name != column])
    return bool((table[column].missing == others).all())


def _is_circular(candidate: Tie, ties: Mapping[str, Tie]) -> bool:
    """Whether a column would be computed from itself."""
    seen, waiting = {candidate.column}, list(candidate.needs)
    while waiting:
        name = waiting.pop()
        if name == candidate.column:
            return True
        if name not in seen and name in ties:
            waiting += ties[name].needs
        seen.add(name)
    return False


def _in_order(ties: Mapping[str, Tie]) -> list[Tie]:
    """Each tie after those that it needs."""
    found: dict[str, Tie] = {}

    def add(name: str) -> None:
        if name in ties and name not in found:
            for other in ties[name].needs:
                add(other)
            found[name] = ties[name]

    for name in ties:
        add(name)
    return list(found.values())
