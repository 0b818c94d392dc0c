"""Who the rows of a table belong to: people or households with several rows each, and their members."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from leafcover.arrays import Floats, Rows
from leafcover.errors import TableError
from leafcover.table.table import Column, Table

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
