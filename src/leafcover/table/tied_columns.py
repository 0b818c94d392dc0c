"""Columns that rules tie to others: left out before values change, and computed again afterwards.

A column that an equation or a date determines is left out. Of two ordered columns the larger one is replaced by its
difference from the smaller one. Whatever happens to the remaining columns, the rules hold when both are undone. Tied
columns so count as one: no attacker is credited with computing one of them from the others.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from leafcover.arrays import Bools, Floats
from leafcover.errors import PlanError
from leafcover.table.column_rules import ColumnRule, Implies, LevelCondition, Linear, Moment, Sum
from leafcover.table.output import as_recoded, new_values
from leafcover.table.table import Column, Grid, Table

STAYS = ("unchanged", "unit", "identifier")  # roles of columns that nothing computes


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
class Above:
    """A column that is at least as large as some sums: it becomes the difference from the largest of them."""

    column: str
    floors: tuple[Sum, ...]

    @property
    def needs(self) -> tuple[str, ...]:
        """The columns of the sums."""
        return tuple(dict.fromkeys(name for one in self.floors for _, name in one.terms))

    def floor(self, table: Table) -> Floats:
        """The largest of the sums that are known in a row; nan if none is."""
        return np.fmax.reduce([one.values(table) for one in self.floors])


@dataclass(frozen=True)
class TiedColumns:
    """How the columns of a table are tied, in the order in which they are computed."""

    ties: tuple[Computed | Above, ...] = ()
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
        return tuple(one.column for one in self.ties if isinstance(one, Above))

    def recoded_differences(self, table: Table) -> tuple[str, ...]:
        """Differences that change when they are added: the sums of a recoded column are recoded."""
        return tuple(name for name in self.differences if table[name].coarser is not None)

    def untie(self, table: Table) -> Table:
        """The table without computed columns, and with differences in place of ordered ones."""
        if not self.ties:
            return table
        new = {one.column: _difference(table, one) for one in self.ties if isinstance(one, Above)}
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
            if isinstance(one, Computed):
                values = _on_grid(like.grid, one.values(so_far))
            else:
                floor, more = one.floor(so_far), found[one.column].values
                least = np.where(more > 0, np.nextafter(floor, np.inf), floor)
                values = as_recoded(like, _on_grid(like.grid, floor + more), least)
            found[one.column] = new_values(like, values)
        names = [name for name in original.names if name in found]
        return replace(untied, columns=tuple(found[name] for name in names))

    @property
    def implied(self) -> tuple[Implies, ...]:
        """What the untied table must keep so that no value is lost: a known difference has a known floor."""
        known = LevelCondition("", (None,), negated=True)
        return tuple(
            Implies(replace(known, column=one.column), replace(known, column=name))
            for one in self.ties
            if isinstance(one, Above) and len(one.needs) == 1
            for name in self._sources(one.needs[0])
        )

    def between_sources(self, one: str, other: str, pairs: Bools, table: Table) -> Iterator[tuple[str, str, Bools]]:
        """Forbidden pairs of levels as pairs of columns of the untied table.

        A computed column is missing where one of its sources is. If it must be missing, one source is chosen for that.
        """
        if one in self.computed:
            yield from ((a, b, found.T) for b, a, found in self.between_sources(other, one, pairs.T, table))
        elif other not in self.computed:
            yield one, other, pairs
        else:
            sources = [name for name in self._sources(other) if table[name].missing.any()]
            for name in (source for source in sources if source != one):
                known = pairs[:, :1] & (one not in sources and name == sources[0])
                yield one, name, np.hstack([known, pairs[:, 1:]])

    def _sources(self, name: str) -> tuple[str, ...]:
        """The columns of the untied table from which a column is computed; the column itself if it is not."""
        made = next((one for one in self.ties if one.column == name and isinstance(one, Computed)), None)
        if made is None:
            return (name,)
        return tuple(dict.fromkeys(source for need in made.needs for source in self._sources(need)))


def _difference(table: Table, one: Above) -> Column:
    column = table[one.column]
    values = _on_grid(column.grid, column.values - one.floor(table))
    return Column(column.name, "number", values, grid=column.grid)


def _on_grid(grid: Grid | None, values: Floats) -> Floats:
    """Values without the binary rounding of sums and differences; values between grid points stay."""
    if grid is None:
        return values
    near = grid.value(grid.index(values))
    return np.where(np.abs(near - values) <= 1e-6 * grid.step, near, values)


def tied_columns(
    rules: Sequence[ColumnRule], found: Sequence[ColumnRule], table: Table, *, target: str = ""
) -> TiedColumns:
    """How declared rules, then rules that were found, tie the columns of a table.

    A rule that cannot be kept together with those before it, or whose columns stay unchanged, ties nothing. Of a
    declared rule that is an error.
    """
    ties: dict[str, Computed | Above] = {}
    kept = []
    for rule in dict.fromkeys((*rules, *found)):  # a declared rule may be found, too
        made = _tie(rule, table, ties, target)
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


def _tie(rule: ColumnRule, table: Table, ties: Mapping[str, Computed | Above], target: str) -> Computed | Above | None:
    """The tie that a rule adds; None if it cannot."""
    for candidate in _candidates(rule, table, ties):
        free = table.roles.get(candidate.column) not in STAYS and candidate.column != target
        if free and not _is_circular(candidate, ties):
            return candidate
    return None


def _candidates(rule: ColumnRule, table: Table, ties: Mapping[str, Computed | Above]) -> Sequence[Computed | Above]:
    if isinstance(rule, Moment):
        return [Computed(rule.column, rule)] if rule.column not in ties and _covers(rule, rule.column, table) else []
    if not isinstance(rule, Linear):
        return []
    terms = rule.difference.terms
    if rule.relation == "==":
        single = [name for side in (rule.left, rule.right) if len(side.terms) == 1 for _, name in side.terms]
        names = dict.fromkeys([*single, *(name for _, name in reversed(terms))])
        return [Computed(name, rule) for name in names if name not in ties and _covers(rule, name, table)]
    found = []
    for coefficient, name in terms:  # the rule says that their sum is at most 0
        tie = ties.get(name)
        if coefficient < 0 and not isinstance(tie, Computed):
            floor = rule.solved_for(name)
            above = Above(name, (*(tie.floors if tie else ()), floor))
            if not (np.isnan(above.floor(table)) & ~table[name].missing).any():
                found.append(above)
    return found


def _covers(rule: ColumnRule, column: str, table: Table) -> bool:
    """Whether a column is known exactly where all others of a rule are, so that computing it loses nothing."""
    others = np.logical_or.reduce([table[name].missing for name in rule.columns if name != column])
    return bool((table[column].missing == others).all())


def _is_circular(candidate: Computed | Above, ties: Mapping[str, Computed | Above]) -> bool:
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


def _in_order(ties: Mapping[str, Computed | Above]) -> list[Computed | Above]:
    """Each tie after those that it needs."""
    found: dict[str, Computed | Above] = {}

    def add(name: str) -> None:
        if name in ties and name not in found:
            for other in ties[name].needs:
                add(other)
            found[name] = ties[name]

    for name in ties:
        add(name)
    return list(found.values())
