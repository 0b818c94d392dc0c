"""Units: people or households with several rows each, as a table with one row for each unit.

A column that is constant in every unit stays one column. Every other column becomes one column for each position, the
first row of a unit, the second, and so on; a unit with fewer rows has no values there. A column that never falls within
a unit, such as a date or an age, becomes its first value and its increases. Whatever is released, attacked or counted
in this table counts units. `UnitLayout.fold` makes rows of units again.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from leafcover.arrays import MISSING, Bools, Floats, Rows
from leafcover.errors import NameUnknown, PlanError, TableError
from leafcover.table.output import replace_values
from leafcover.table.table import Column, Grid, Role, Table

LEAST_UNITS = 10  # that have as many rows as a released unit; a rarer number of rows would be recognised
LEAST_STEPS = 20  # from one row of a unit to the next, before a column is said never to fall
MOST_COLUMNS = 2_000  # of a table of units


@dataclass(frozen=True)
class UnitLayout:
    """How the rows of each unit become one row.

    Parameters
    ----------
    unit : str
        The column that says to whom a row belongs.
    lengths : tuple of int
        The numbers of rows that units have in the release, rising. A unit gives as many of its first rows as the
        largest of these that it has; a unit with fewer rows than the smallest is left out.
    sequence : str, optional
        The column by which the rows of a unit are sorted. Default: the order of the table.
    constant : tuple of str
        The columns with one value for each unit.
    rising : tuple of str
        The columns that never fall from one row of a unit to the next.
    varying : tuple of str
        All other columns.
    unnumbered : bool, default False
        Whether the release has no column that says which rows belong together.

    Examples
    --------
    >>> import pandas as pd
    >>> import leafcover as lc
    >>> visits = pd.DataFrame({"patient": [1, 1, 2, 2] * 10, "sex": [0, 0, 1, 1] * 10, "year": [1990, 1992] * 20})
    >>> visits["patient"] += [10 * (at // 4) for at in range(40)]
    >>> layout = lc.unit_layout(lc.read(visits, roles={"patient": "unit"}))
    >>> layout.constant, layout.rising, layout.lengths
    (('sex',), ('year',), (2,))
    """

    unit: str
    lengths: tuple[int, ...]
    sequence: str | None = None
    constant: tuple[str, ...] = ()
    rising: tuple[str, ...] = ()
    varying: tuple[str, ...] = ()
    unnumbered: bool = False

    def __post_init__(self) -> None:
        if not self.lengths or list(self.lengths) != sorted({one for one in self.lengths if one >= 1}):
            raise PlanError(f"The lengths of a unit must be rising numbers of rows from 1. Got {list(self.lengths)}.")
        names = (self.unit, *self.constant, *self.rising, *self.varying)
        if twice := [name for name in names if names.count(name) > 1]:
            raise PlanError(f"The unit names column {twice[0]!r} twice. Name it once.")

    @property
    def most(self) -> int:
        """The largest number of rows of a released unit."""
        return self.lengths[-1]

    @cached_property
    def size(self) -> str:
        """The name of the column that holds the number of rows of each unit."""
        name = f"rows per {self.unit}"
        while name in (*self.constant, *self.rising, *self.varying):
            name += "'"
        return name

    @cached_property
    def _places(self) -> dict[str, tuple[str, int]]:
        named = {name: (name, 0) for name in (*self.constant, self.size)}
        for name in (*self.rising, *self.varying):
            named |= {self.at(name, position): (name, position) for position in range(1, self.most + 1)}
        return named

    def at(self, name: str, position: int) -> str:
        """The name of a column at a position; the first is 1."""
        return name if name in self.constant else f"{name} [{position}]"

    def position(self, name: str) -> int:
        """The position of a column of the table of units; 0 for one that is constant."""
        return self._places[name][1]

    def column_of(self, name: str) -> str:
        """The column of the rows that a column of the table of units comes from."""
        return self._places[name][0]

    def columns_at(self, name: str) -> tuple[str, ...]:
        """The columns of the table of units that a column of the rows becomes."""
        if name in self.constant:
            return (name,)
        return tuple(self.at(name, position) for position in range(1, self.most + 1))

    def is_near(self, name: str, other: str) -> bool:
        """Whether ``other`` may be tested to predict ``name``: constant, at the same position, or the one before."""
        own, position = self.position(name), self.position(other)
        return own == 0 or position == 0 or own - 1 <= position <= own

    def least_rows(self, name: str) -> int | None:
        """The number of rows from which a unit has a value in a column; None if every unit has."""
        position = self.position(name)
        return position if position > self.lengths[0] else None

    def unfold(self, table: Table) -> Table:
        """One row for each unit.

        Parameters
        ----------
        table : Table
            The rows of all units.

        Returns
        -------
        Table
            The units in the order in which they first occur, with this layout as ``units``.

        Examples
        --------
        >>> import pandas as pd
        >>> import leafcover as lc
        >>> visits = pd.DataFrame({"patient": [at // 2 for at in range(40)], "weight": range(40)})
        >>> table = lc.read(visits, roles={"patient": "unit"})
        >>> units = lc.unit_layout(table).unfold(table)
        >>> len(units), units.names
        (20, ('rows per patient', 'weight [1]', 'weight [2]'))
        """
        self.check(table)
        found = units_of(table, self.unit, self.sequence)
        length = self._lengths(found.sizes)
        kept = np.flatnonzero(length)
        begins, length = found.begins[kept], length[kept]
        columns = [table[name].take(found.rows[begins]) for name in self.constant]
        columns = [replace(column, stored=None) for column in columns]
        columns.append(Column(self.size, "number", length.astype(np.float64), grid=Grid(0)))
        for position in range(1, self.most + 1):
            there = length >= position
            rows = found.rows[np.where(there, begins + position - 1, begins)]
            for name in (*self.rising, *self.varying):
                values = table[name].values[rows]
                if name in self.rising and position > 1:
                    values = values - table[name].values[found.rows[begins + np.where(there, position - 2, 0)]]
                columns.append(self._column(table[name], position, values, there))
        roles = {name: role for name in self._places if (role := self._role(name, table)) is not None}
        return replace(
            table, columns=tuple(columns), roles=roles, units=self, warnings=(*table.warnings, *self.left_out(table))
        )

    def _column(self, column: Column, position: int, values: Floats, there: Bools) -> Column:
        name = self.at(column.name, position)
        if column.is_category:
            return Column(name, column.kind, np.where(there, values, MISSING).astype(np.int32), column.levels)
        values = np.where(there, values, np.nan)
        if column.name in self.rising and position > 1:
            return Column(name, "number", on_grid(column.grid, values), grid=column.grid)
        return Column(name, column.kind, values, grid=column.grid)

    def _role(self, name: str, table: Table) -> Role | None:
        role = table.roles.get(self.column_of(name))
        return None if role == "target" and self.position(name) > 1 else role

    def _lengths(self, sizes: Rows) -> Rows:
        """The number of rows that each unit gives."""
        place = np.searchsorted(self.lengths, sizes, side="right")
        return np.append(0, self.lengths)[place]

    def check(self, table: Table) -> None:
        """Raise an error if the table does not have the columns of the layout, or they are of another sort."""
        for name in (self.unit, *self.constant, *self.rising, *self.varying):
            if name not in table.names:
                raise NameUnknown("column", name, table.names, "that the unit of the plan needs")
        found = units_of(table, self.unit, self.sequence)
        for names, fits, what in (
            (self.constant, is_constant, "differs between rows of one"),
            (self.rising, is_rising, "is missing or falls from one row to the next of a"),
        ):
            for name in names:
                if not fits(table[name], found):
                    raise PlanError(f"Column {name!r} {what} {self.unit!r}, unlike in the plan. Write a new plan.")

    def kept(self, table: Table) -> Rows:
        """The numbers of the rows that `unfold` uses, in table order."""
        found = units_of(table, self.unit, self.sequence)
        place = np.arange(len(found.rows)) - np.repeat(found.begins, found.sizes)
        return np.sort(found.rows[place < np.repeat(self._lengths(found.sizes), found.sizes)])

    def left_out(self, table: Table) -> tuple[str, ...]:
        """A sentence about rows and units that the layout leaves out."""
        sizes = units_of(table, self.unit, None).sizes
        length = self._lengths(sizes)
        notes = []
        if rows := int((sizes - length)[length > 0].sum()):
            units = int(np.count_nonzero((sizes > length) & (length > 0)))
            notes.append(
                f"{rows:,} of {int(sizes.sum()):,} rows are left out: so few units have as many rows as these "
                f"{units:,}, at most {self.most:,} of each are released."
            )
        if units := int(np.count_nonzero(length == 0)):
            notes.append(
                f"{units:,} of {len(sizes):,} units are left out: they have fewer rows than {self.lengths[0]:,}, as so "
                "few others have."
            )
        return tuple(notes)

    def fold(self, units: Table, original: Table) -> Table:
        """The rows of each unit again, in order, under a new number for each unit.

        Parameters
        ----------
        units : Table
            A table of units with the columns that `unfold` makes; columns may be absent.
        original : Table
            The rows that were unfolded: kinds and formats are theirs.

        Returns
        -------
        Table

        Examples
        --------
        >>> import pandas as pd
        >>> import leafcover as lc
        >>> visits = pd.DataFrame({"patient": [at // 2 for at in range(40)], "weight": range(40)})
        >>> table = lc.read(visits, roles={"patient": "unit"})
        >>> layout = lc.unit_layout(table)
        >>> layout.fold(layout.unfold(table), table)["weight"].values.tolist() == list(range(40))
        True
        """
        length = units[self.size].values.astype(np.int64)
        owner = np.repeat(np.arange(len(units)), length)
        position = np.arange(len(owner)) - np.repeat(np.cumsum(length) - length, length) + 1
        columns = []
        for column in original:
            if column.name == self.unit and not self.unnumbered:
                columns.append(_pseudonyms(column, owner, len(units)))
            elif self.at(column.name, 1) in units.names:
                values = self._folded(column, units, owner, position)
                columns.append(replace_values(_of_length(column, len(owner)), values))
        return replace(original, columns=tuple(columns), warnings=units.warnings)

    def _folded(self, column: Column, units: Table, owner: Rows, position: Rows) -> Floats:
        if column.name in self.constant:
            return units[column.name].values[owner]
        wide = np.stack([units[name].values for name in self.columns_at(column.name)])
        if column.name in self.rising:
            wide = np.cumsum(wide, axis=0)
            # Increases of several units together may lead beyond the last date of the table: the unit begins earlier.
            wide = wide - np.maximum(np.nanmax(wide, axis=0) - column.domain[1], 0.0)
            wide = on_grid(column.grid, wide)
        return wide[position - 1, owner]


def on_grid(grid: Grid | None, values: Floats) -> Floats:
    """Values without the binary rounding of sums and differences; values between grid points stay."""
    if grid is None:
        return values
    near = grid.value(grid.index(values))
    return np.where(np.abs(near - values) <= 1e-6 * grid.step, near, values)


def _of_length(column: Column, rows: int) -> Column:
    return column if len(column) == rows else column.take(np.arange(rows) % len(column))


def _pseudonyms(column: Column, owner: Rows, units: int) -> Column:
    """A new number for each unit, as text if the original has text."""
    if not column.is_category:
        return Column(column.name, "number", owner + 1.0, grid=Grid(0))
    width = len(str(units))
    return Column(column.name, "category", owner.astype(np.int32), tuple(f"{at + 1:0{width}}" for at in range(units)))


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


def owners(table: Table) -> Rows:
    """The number of the person or household that each row belongs to; without a unit every row is another person."""
    named = table.with_role("unit")
    return units_of(table, named[0], None).owner if named else np.arange(len(table), dtype=np.int64)


def units_of(table: Table, unit: str, sequence: str | None) -> Units:
    """The rows of each unit, in the order in which units first occur."""
    column = table[unit]
    if column.missing.any():
        raise TableError(
            f"{int(column.missing.sum()):,} rows have no value in the unit {unit!r}, so nobody knows whose they are. "
            "Fill them in, or leave these rows out."
        )
    _, first, code = np.unique(column.values, return_index=True, return_inverse=True)
    number = np.empty(len(first), np.int64)
    number[np.argsort(first)] = np.arange(len(first))
    owner = number[code.ravel()]
    by = np.zeros(len(table)) if sequence is None else table[sequence].values
    rows = np.lexsort((np.arange(len(table)), by, owner))
    sizes = np.bincount(owner, minlength=len(first))
    return Units(rows, np.cumsum(sizes) - sizes, sizes)


def unit_layout(table: Table, *, sequence: str | None = None, apart: Sequence[str] = ()) -> UnitLayout:
    """How to make one row of each unit's rows: the unit is the column with the role "unit".

    Parameters
    ----------
    table : Table
        The rows of all units.
    sequence : str, optional
        The column by which the rows of a unit are sorted. Default: the first date or time that is always known and
        varies within units; without one, the order of the table.
    apart : sequence of str, optional
        Columns that are not taken as increases, even if they never fall.

    Returns
    -------
    UnitLayout

    Examples
    --------
    >>> import pandas as pd
    >>> import leafcover as lc
    >>> visits = pd.DataFrame({"patient": [at // 2 for at in range(40)], "weight": range(40)})
    >>> lc.unit_layout(lc.read(visits, roles={"patient": "unit"})).size
    'rows per patient'
    """
    named = table.with_role("unit")
    if len(named) != 1:
        listed = ", ".join(map(repr, named)) or "none"
        raise TableError(f"One column must have the role unit. Got {listed}.")
    unit = named[0]
    if sequence is not None and sequence not in table.names:
        raise NameUnknown("column", sequence, table.names, "to sort the rows of a unit by")
    columns = [c for c in table if c.name != unit and table.roles.get(c.name) != "identifier"]
    found = units_of(table, unit, None)
    constant = tuple(c.name for c in columns if is_constant(c, found))
    if sequence is None:
        dates = [c.name for c in columns if c.kind in ("date", "time") and not c.missing.any()]
        sequence = next((name for name in dates if name not in constant), None)
    found = units_of(table, unit, sequence)
    rising = tuple(c.name for c in columns if c.name not in (*constant, *apart) and _seen_rising(c, found))
    varying = tuple(c.name for c in columns if c.name not in (*constant, *rising))
    most = MOST_COLUMNS // max(len(rising) + len(varying), 1)
    return UnitLayout(unit, _common_lengths(found.sizes, most, unit), sequence, constant, rising, varying)


def _common_lengths(sizes: Rows, most: int, unit: str) -> tuple[int, ...]:
    """Numbers of rows such that enough units give each: from the largest down, so that few rows are left out."""
    count = np.bincount(np.minimum(sizes, most))
    found, waiting = [], 0
    for size in range(len(count) - 1, 0, -1):
        waiting += int(count[size])
        if waiting >= LEAST_UNITS:
            found.append(size)
            waiting = 0
    if not found:
        raise TableError(
            f"The unit {unit!r} has {len(sizes):,} values, too few to hide anybody among: a release needs at least "
            f"{LEAST_UNITS} people or households."
        )
    return tuple(reversed(found))


def is_constant(column: Column, units: Units) -> bool:
    """Whether a column has one value in each unit."""
    values = column.values[units.rows]
    first = np.repeat(values[units.begins], units.sizes)
    same = values == first
    return bool((same | (np.isnan(values) & np.isnan(first))).all() if not column.is_category else same.all())


def is_rising(column: Column, units: Units) -> bool:
    """Whether a column is always known and never falls within a unit."""
    return not column.is_category and not column.missing.any() and bool((_steps(column, units) >= 0).all())


def _seen_rising(column: Column, units: Units) -> bool:
    """The same, seen often enough to say so."""
    return is_rising(column, units) and len(_steps(column, units)) >= LEAST_STEPS


def _steps(column: Column, units: Units) -> Floats:
    """From each row of a unit to the next."""
    inside = np.ones(len(units.rows), np.bool_)
    inside[units.begins] = False
    return np.diff(column.values[units.rows], prepend=0.0)[inside]
