"""Who the rows of a table belong to: people or households with several rows each, and their members."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np

from leafcover.arrays import Floats, Rows
from leafcover.errors import TableError
from leafcover.messages import catalogue
from leafcover.table.identifier_patterns import TIMES, name_words
from leafcover.table.table import Column, Table, row_hashes

say = catalogue("measures")

LEAST_UNITS = 10  # that have as many rows as a released unit; a rarer number of rows would be recognised
EXACT = 1e-12  # relative difference of sums of the same numbers
LEAST_STEPS = 20  # from one row of a unit to the next, before a column is said never to fall


@dataclass(frozen=True, eq=False)
class Units:
    """The rows of a table unit by unit."""

    rows: Rows  # row numbers, those of a unit next to each other and in order
    begins: Rows  # (units,) where the rows of each unit begin
    sizes: Rows  # (units,) how many there are

    @property
    def owner(self) -> Rows:
        """(rows,) the unit of each row of the table."""
        found = np.empty(len(self.rows), np.int64)
        found[self.rows] = np.repeat(np.arange(len(self.sizes)), self.sizes)
        return found

    def of(self, chosen: Rows) -> Rows:
        """The rows of the chosen units, unit by unit."""
        size = self.sizes[chosen]
        inside = np.arange(int(size.sum())) - np.repeat(np.cumsum(size) - size, size)
        return self.rows[np.repeat(self.begins[chosen], size) + inside]

    def first(self, length: Rows) -> Rows:
        """The first rows of each unit, as many as ``length`` says."""
        place = np.arange(len(self.rows)) - np.repeat(self.begins, self.sizes)
        return self.rows[place < np.repeat(length, self.sizes)]


def owners(table: Table) -> Rows:
    """The number of the person or household that each row belongs to; without a unit every row is another person."""
    named = unit_columns(table)
    return units_of(table, named[:1], None).owner if named else np.arange(len(table), dtype=np.int64)


def unit_columns(table: Table) -> tuple[str, ...]:
    """The columns with the role "unit": the household, or the person, or both, the household first."""
    named = table.with_role("unit")
    if len(named) > 2:
        raise TableError(f"At most two columns can have the role unit, a household and a person. Got {len(named)}.")
    if len(named) < 2:
        return tuple(named)
    few, many = sorted(named, key=lambda name: len(np.unique(table[name].values)))
    within = len(np.unique(table[few].values)) < LEAST_UNITS or is_within(table, few, many)
    return (many, few) if within else (few, many)


def is_within(table: Table, unit: str, member: str) -> bool:
    """Whether members are numbered within their unit: most numbers occur in several units."""
    pairs = np.unique(np.column_stack([distinct_numbers(table[member]), distinct_numbers(table[unit])]), axis=0)
    units = np.bincount(pairs[:, 0])
    return bool(np.count_nonzero(units > 1) * 2 > len(units))


def distinct_numbers(column: Column) -> Rows:
    """The distinct values of a column as numbers from 0."""
    return np.unique(column.values, return_inverse=True)[1].ravel().astype(np.int64)


def units_of(table: Table, names: Sequence[str], sequence: str | None) -> Units:
    """The rows of each unit, or of each member of a unit, in the order in which they first occur."""
    for name in names:
        if table[name].missing.any():
            raise TableError(
                f"{int(table[name].missing.sum()):,} rows have no value in the unit {name!r}, so nobody knows whose "
                "they are. Fill them in, or leave these rows out."
            )
    value = distinct_numbers(table[names[0]])
    for name in names[1:]:
        inner = distinct_numbers(table[name])
        value = value * (int(inner.max(initial=0)) + 1) + inner
    _, first, code = np.unique(value, return_index=True, return_inverse=True)
    number = np.empty(len(first), np.int64)
    number[np.argsort(first)] = np.arange(len(first))
    owner = number[code.ravel()]
    by = np.zeros(len(table)) if sequence is None else table[sequence].values
    rows = np.lexsort((np.arange(len(table)), by, owner))
    sizes = np.bincount(owner, minlength=len(first))
    return Units(rows, np.cumsum(sizes) - sizes, sizes)


def is_constant(column: Column, units: Units) -> bool:
    """Whether a column has one value in each unit."""
    values = column.values[units.rows]
    first = np.repeat(values[units.begins], units.sizes)
    same = values == first
    return bool((same | (np.isnan(values) & np.isnan(first))).all() if not column.is_category else same.all())


def first_date(table: Table) -> str | None:
    """The first date or time that is always known and varies within units, or within members; None without one."""
    named = unit_columns(table)
    members = units_of(table, named, None)
    whose = members if int(members.sizes.max(initial=0)) > 1 else units_of(table, named[:1], None)
    dates = (c for c in table if c.kind in ("date", "time") and table.roles.get(c.name) != "identifier")
    return next((c.name for c in dates if not c.missing.any() and not is_constant(c, whose)), None)


def is_rising(column: Column, units: Units) -> bool:
    """Whether a column is always known and never falls within a unit."""
    return not column.is_category and not column.missing.any() and bool((_steps(column, units) >= 0).all())


def seen_rising(column: Column, units: Units) -> bool:
    """The same, seen often enough to say so."""
    return is_rising(column, units) and len(_steps(column, units)) >= LEAST_STEPS


def _steps(column: Column, units: Units) -> Floats:
    """From each row of a unit to the next."""
    inside = np.ones(len(units.rows), np.bool_)
    inside[units.begins] = False
    return np.diff(column.values[units.rows], prepend=0.0)[inside]


# Who is in a group of which everybody has the same sensitive value: to find the group is then to learn the value.


@dataclass(frozen=True)
class HomogeneousGroups:
    """People in groups that agree in the quasi-identifiers and have a single value of a sensitive attribute."""

    column: str
    quasi_identifiers: tuple[str, ...]
    people: int  # in groups of at least two
    alone: int  # the only one with these quasi-identifiers
    of: int

    def __str__(self) -> str:
        return say("homogeneous", where="original", **self.figures())

    def figures(self) -> dict[str, str | int]:
        """What sentences say."""
        many = len(self.quasi_identifiers)
        return {
            "column": self.column,
            "people": self.people,
            "of": self.of,
            "share": f"{self.people / max(self.of, 1):.1%}",
            "alone": self.alone,
            "known": "none" if not many else "few" if many <= MOST_NAMED else many,
            "columns": ", ".join(self.quasi_identifiers),
        }


MOST_NAMED = 6  # quasi-identifiers


def homogeneous_groups(table: Table, column: str, known: Sequence[str]) -> HomogeneousGroups:
    """Count the people, or else the rows, whose group has one value; groups without a known value have none."""
    names = tuple(name for name in known if name != column)
    owner, value = owners(table), distinct_numbers(table[column])
    marks = row_hashes(table.select(names)) if names else np.zeros(len(table), np.uint64)
    group = np.unique(marks, return_inverse=True)[1].ravel().astype(np.int64)
    groups = int(group.max(initial=-1)) + 1
    values = np.bincount(_pairs(group, value)[0], minlength=groups)
    known_by_all = np.bincount(group, table[column].missing, minlength=groups) == 0
    where, who = _pairs(group, owner)
    size = np.bincount(where, minlength=groups)[where]
    same = (values[where] == 1) & known_by_all[where]
    together = np.unique(who[same & (size > 1)])
    alone = np.setdiff1d(who[same & (size == 1)], together)
    return HomogeneousGroups(column, names, len(together), len(alone), int(owner.max(initial=-1)) + 1)


def _pairs(one: Rows, other: Rows) -> tuple[Rows, Rows]:
    """The distinct pairs of two numbers."""
    many = int(other.max(initial=0)) + 1
    found = np.unique(one * many + other)
    return found // many, found % many


def sensitive_groups(table: Table) -> tuple[HomogeneousGroups, ...]:
    """The same for each sensitive attribute; without quasi-identifiers all columns but target and weight count."""
    named, hidden = table.with_role("quasi-identifier"), table.with_role("sensitive")
    others = [name for name in table.names if table.roles.get(name) not in ("target", "weight", "unit", "identifier")]
    known = [name for name in named or others if name not in hidden]
    return tuple(homogeneous_groups(table, name, known) for name in hidden)


MOST_TRIED = 500  # units before and after the wanted place that one unit is compared with


def exchanged(first: Floats, increases: Sequence[Floats], most: float) -> Floats:
    """First values, exchanged between units until no unit's increases lead beyond a value, as far as that is possible.

    Increases are dealt apart from first values, so a unit that begins late may get long ones. Every value stays, but is
    another unit's, which ends in time with it. The unit then ends about as long before the last value as it would have
    ended after it: if all ended as late as they can, the last day would have most rows.

    >>> exchanged(np.array([1.0, 6.0, 9.0]), [np.array([0.0, 1.0, 5.0])], 10.0).tolist()
    [9.0, 6.0, 1.0]
    """
    span = sum((np.nan_to_num(one, nan=0.0) for one in increases), np.zeros(len(first)))
    order = np.argsort(first, kind="stable")[: np.count_nonzero(~np.isnan(first))]
    values = first[order]  # of each place in the order; units change places
    late = np.flatnonzero(values + span[order] > most + abs(most) * EXACT)
    for place in late[np.argsort(-span[order[late]], kind="stable")]:
        room = most - span[order[place]]
        latest = int(np.searchsorted(values, room, side="right"))
        goal = int(np.searchsorted(values, 2 * room - values[place], side="right"))
        tried = np.append(np.arange(goal, latest)[:MOST_TRIED], np.arange(goal)[::-1][:MOST_TRIED])
        fitting = tried[values[place] + span[order[tried]] <= most]
        if len(fitting):
            order[[place, fitting[0]]] = order[[fitting[0], place]]
    found = first.copy()
    found[order] = values
    return found


# Rows of the same people in a table without their id. Nobody has two rows of one wave. Rows with the same sex, year of
# birth and region therefore differ in their wave more often than any two rows do, if they belong to the same people.


MOST_COMPARED = 20_000  # rows; of a larger table as many are drawn
LEAST_REPEATED = 0.5  # other rows of the same person, on average over rows
BEYOND_CHANCE = 1.5  # how many times as often as by chance rows agree
LEAST_SCORE = 5.0  # standard deviations
BETTER = 0.5  # by as many standard deviations another column must make it clearer
MOST_WAVES = 60  # of a column of consecutive whole numbers with any name
SEED = 20
DAY = 86_400  # seconds


@dataclass(frozen=True)
class RepeatedRows:
    """Rows that seem to belong to the same people."""

    same: tuple[str, ...]  # the columns in which they agree
    wave: str  # the column in which they differ
    others: float  # other rows of the same person, on average over rows
    beyond_chance: float  # how many times as often as by chance they agree

    def __str__(self) -> str:
        columns = ", ".join(map(repr, self.same[:-1])) + (" and " if self.same[1:] else "") + repr(self.same[-1])
        others = f"{self.others:.1f} others" if f"{self.others:.1f}" != "1.0" else "one other"
        return (
            f"Rows look like repeated rows of the same people or households: on average a row has {others} with the "
            f"same {columns} and another {self.wave!r}, where chance explains "
            f"{self.others / (self.beyond_chance - 1):.1f}. Every group size and every risk would then count rows, not "
            "people. Keep the id of the person in the table and read it with roles={'id': 'unit'}."
        )


@dataclass(frozen=True)
class _Agreement:
    """Pairs of rows that agree in some columns, and how many of them belong to one wave."""

    pairs: float
    within: float
    chance: float  # that two rows belong to one wave
    deviation: float  # of ``within``, if waves are dealt at random

    @property
    def score(self) -> float:
        """How many standard deviations fewer pairs than by chance belong to one wave."""
        return (self.pairs * self.chance - self.within) / self.deviation if self.deviation else 0.0

    @property
    def expected(self) -> float:
        """Pairs of different people, at most: those within waves with three standard deviations, and as many others."""
        return (self.within + 3 * sqrt(max(self.within, 1.0))) / self.chance


def repeated_rows(table: Table) -> RepeatedRows | None:
    """The clearest sign that people have several rows each, though no column says which; None without any."""
    if unit_columns(table) or len(table) < 2:
        return None
    rows = np.sort(np.random.default_rng(SEED).permutation(len(table))[:MOST_COMPARED])
    few = table.take(rows) if len(table) > MOST_COMPARED else table
    found = []
    for wave, numbers in _waves(few):
        same, agreed = _clearest(dict(_constant(few, wave, numbers)), np.unique(numbers, return_inverse=True)[1])
        if same and (repeats := _repeats(same, wave, agreed, len(few), len(table))) is not None:
            found.append((agreed.score, repeats))
    return max(found, key=lambda one: one[0])[1] if found else None


def _waves(table: Table) -> Iterator[tuple[str, Floats]]:
    """The columns that may say when a row was written, as numbers: dates also by their week, month and year."""
    for column in table:
        if column.missing.any():
            continue
        if column.kind in ("date", "time"):
            days = np.floor(column.values / (DAY if column.kind == "time" else 1))
            yield column.name, days
            yield column.name, np.floor(days / 7)
            for unit in "MY":
                yield column.name, days.astype("datetime64[D]").astype(f"datetime64[{unit}]").astype(np.float64)
        elif TIMES & {*name_words(column.name)} or _is_consecutive(column):
            yield column.name, column.values.astype(np.float64)


def _is_consecutive(column: Column) -> bool:
    """Whether a number has every value from 0 or 1 to a last one, as numbers of waves have."""
    values = np.unique(column.values) if column.kind == "number" else np.zeros(0)
    start = values[:1].tolist()
    return start in ([0.0], [1.0]) and 2 <= len(values) <= MOST_WAVES and bool((np.diff(values) == 1).all())


def _constant(table: Table, wave: str, numbers: Floats) -> Iterator[tuple[str, Rows]]:
    """The columns in which rows of one person may agree; age counts by the year of birth that it implies."""
    for column in table:
        if column.name == wave:
            continue
        values = column.values if column.is_category else np.where(column.missing, np.inf, column.values)
        if column.kind == "number" and {"age", "alter", "edad"} & {*name_words(column.name)}:
            yield f"{column.name} minus {wave}", np.unique(values - numbers, return_inverse=True)[1].ravel()
        codes = np.unique(values, return_inverse=True)[1].ravel().astype(np.int64)
        if 1 <= codes.max() < 0.9 * len(codes):
            yield column.name, codes


def _clearest(columns: Mapping[str, Rows], wave: Rows) -> tuple[tuple[str, ...], _Agreement]:
    """The columns, chosen one after the other, whose agreement differs most from chance."""
    chosen: list[str] = []
    group = np.zeros(len(wave), np.int64)
    best = _agreement(group, wave)
    while len(chosen) < len(columns):
        tried = {name: _joined(group, columns[name]) for name in columns if name not in chosen}
        scores = {name: _agreement(one, wave) for name, one in tried.items()}
        name = max(scores, key=lambda one: scores[one].score)
        if scores[name].score < max(best.score, 0.0) + BETTER:
            break
        chosen.append(name)
        group, best = tried[name], scores[name]
    return tuple(chosen), best


def _joined(group: Rows, codes: Rows) -> Rows:
    return np.unique(group * (int(codes.max()) + 1) + codes, return_inverse=True)[1].ravel().astype(np.int64)


def _agreement(group: Rows, wave: Rows) -> _Agreement:
    share = np.bincount(wave) / len(wave)
    sizes = np.bincount(group).astype(np.float64)
    within = np.unique(group * (int(wave.max()) + 1) + wave, return_counts=True)[1]
    chance = float(share @ (share * len(wave) - 1)) / max(len(wave) - 1, 1)
    pairs = float(sizes @ (sizes - 1)) / 2
    uneven = max(float((share**3).sum()) - chance**2, 0.0)  # pairs with a common row depend on each other
    variance = pairs * chance * (1 - chance) + float((sizes * (sizes - 1)) @ (sizes - 2)) * uneven
    return _Agreement(pairs, float(within @ (within - 1)) / 2, chance, sqrt(variance))


def _repeats(same: tuple[str, ...], wave: str, agreed: _Agreement, compared: int, rows: int) -> RepeatedRows | None:
    """What the pairs of rows say, if it is beyond chance; of a sample of rows, for all of them."""
    scale = 2 / compared * max((rows - 1) / max(compared - 1, 1), 1.0)
    beyond = agreed.pairs / agreed.expected
    others = (agreed.pairs - agreed.within / agreed.chance) * scale
    surely = (agreed.pairs - agreed.expected) * scale
    if agreed.score < LEAST_SCORE or beyond < BEYOND_CHANCE or not LEAST_REPEATED <= surely <= MOST_WAVES:
        return None
    return RepeatedRows(same, wave, others, beyond)
