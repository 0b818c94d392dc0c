"""Units: people or households with several rows each, as a table with one row for each unit.

A column that is constant in every unit stays one column. Every other column becomes one column for each position, the
first row of a unit, the second, and so on; a unit with fewer rows has no values there. A column that never falls within
a unit, such as a date or an age, becomes its first value and its increases. Whatever is released, attacked or counted
in this table counts units. `UnitLayout.fold` makes rows of units again.

Members of a unit may have several rows each, too: then a column has one column for each row of each member.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import groupby, product
from typing import TypeAlias

import numpy as np

from leafcover.arrays import MISSING, Bools, Floats, Rows
from leafcover.errors import NameUnknown, PlanError, TableError, ValueOutOfRange
from leafcover.registry import checks_arguments
from leafcover.table.output import as_recoded, new_values
from leafcover.table.table import Column, Grid, Role, Table
from leafcover.table.units import (
    LEAST_UNITS,
    Units,
    exchanged,
    first_date,
    is_constant,
    is_rising,
    is_within,
    seen_rising,
    unit_columns,
    units_of,
)

MOST_COLUMNS = 2_000  # of a table of units

Place: TypeAlias = tuple[int, ...]  # the number of a row in its unit, or of a member and of its row; 0 for all rows


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
    member : str, optional
        The column that says which rows of a unit belong to one member, such as a person of a household.
    member_constant : tuple of str
        The columns with one value for each member.
    member_lengths : tuple of tuple of int
        The numbers of rows that members have in the release: of the first member of a unit, of the second, and so on.
        Then ``lengths`` are numbers of members. Default: every member has one row.

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
    member: str | None = None
    member_constant: tuple[str, ...] = ()
    member_lengths: tuple[tuple[int, ...], ...] = ()

    def __post_init__(self) -> None:
        for lengths in (self.lengths, *self.member_lengths):
            if not lengths or list(lengths) != sorted({one for one in lengths if one >= 1}):
                raise PlanError(f"The lengths of a unit must be rising numbers of rows from 1. Got {list(lengths)}.")
        if self.member_lengths and (self.member is None or len(self.member_lengths) != self.most):
            raise PlanError(
                f"The unit needs a member, and member_lengths for each of {self.most} members. "
                f"Got member {self.member!r} and {len(self.member_lengths)} member_lengths."
            )
        if self.member_constant and not self.member_lengths:
            raise PlanError("The unit has member_constant but no member_lengths. Add them, or leave both out.")
        names = (self.unit, *self.numbered[1:], *self.constant, *self.member_constant, *self.rising, *self.varying)
        if twice := [name for name in names if names.count(name) > 1]:
            raise PlanError(f"The unit names column {twice[0]!r} twice. Name it once.")

    @property
    def most(self) -> int:
        """The largest number of rows of a released unit; of members, if these have several rows each."""
        return self.lengths[-1]

    @property
    def most_rows(self) -> int:
        """The largest number of rows of a released unit; of a member, if these have several rows each."""
        return max((lengths[-1] for lengths in self.member_lengths), default=self.most)

    @property
    def numbered(self) -> tuple[str, ...]:
        """The columns that say to whom a row belongs."""
        return (self.unit,) if self.member is None else (self.unit, self.member)

    @cached_property
    def members(self) -> tuple["UnitLayout", ...]:
        """How the rows of the first member become one row, those of the second, and so on; none without members."""
        if self.member is None:
            return ()
        return tuple(
            UnitLayout(self.member, lengths, self.sequence, self.member_constant, self.rising, self.varying)
            for lengths in self.member_lengths
        )

    @cached_property
    def size(self) -> str:
        """The name of the column that holds the number of rows of each unit, or of its members."""
        name = f"{self.member if self.member_lengths else 'rows'} per {self.unit}"
        while name in (*self.constant, *self.member_constant, *self.rising, *self.varying):
            name += "'"
        return name

    @cached_property
    def _columns(self) -> dict[str, tuple[str, Place]]:
        """Of each column of the table of units: the column of the rows, and where in a unit the row is."""
        none = (0,) if not self.members else (0, 0)
        named: dict[str, tuple[str, Place]] = {name: (name, none) for name in (*self.constant, self.size)}
        for position in range(1, self.most + 1):
            if self.members:
                inside = self.members[position - 1]._columns.items()
                named |= {f"{name} [{position}]": (own, (position, *place)) for name, (own, place) in inside}
            else:
                named |= {f"{name} [{position}]": (name, (position,)) for name in (*self.rising, *self.varying)}
        return named

    @cached_property
    def _at(self) -> dict[tuple[str, Place], str]:
        return {place: name for name, place in self._columns.items()}

    @property
    def sizes(self) -> tuple[str, ...]:
        """The columns that hold numbers of rows or of members."""
        own = (self.size, *(one.size for one in self.members))
        return tuple(name for name, (column, _) in self._columns.items() if column in own)

    @cached_property
    def places(self) -> tuple[Place, ...]:
        """Where the rows of a unit are: the number of the row, or of the member and its row; the first is 1."""
        if self.members:
            return tuple((p, *place) for p, one in enumerate(self.members, 1) for place in one.places)
        return tuple((position,) for position in range(1, self.most + 1))

    def at(self, name: str, place: Place) -> str:
        """The name of the column of the table of units that holds a column of the rows at a place."""
        if name in self.constant:
            return name
        return self._at[name, (place[0], 0) if name in self.member_constant else place]

    def place(self, name: str) -> Place:
        """Where a column of the table of units is in a unit; zeros for one that is constant."""
        return self._columns[name][1]

    def column_of(self, name: str) -> str:
        """The column of the rows that a column of the table of units comes from."""
        return self._columns[name][0]

    def columns_at(self, name: str) -> tuple[str, ...]:
        """The columns of the table of units that a column of the rows becomes."""
        return tuple(dict.fromkeys(self.at(name, place) for place in self.places))

    def is_near(self, name: str, other: str) -> bool:
        """Whether ``other`` may be tested to predict ``name``.

        It may if it is constant, at the same place or the one before; of the member before, at the same place.
        """
        own, place = self.place(name), self.place(other)
        if not own[0] or not place[0]:
            return True
        if not self.members:
            return own[0] - 1 <= place[0] <= own[0]
        if own[0] == place[0]:
            return not own[1] or not place[1] or own[1] - 1 <= place[1] <= own[1]
        return place[0] == own[0] - 1 and place[1] in (0, own[1])

    def presence(self, name: str) -> tuple[str, int] | None:
        """The column of sizes, and the size from which a unit has a value in a column; None if every unit has."""
        position, *inside = self.place(name)
        if self.members and inside[0]:
            member = self.members[position - 1]
            if inside[0] > member.lengths[0]:
                return self._at[member.size, (position, 0)], inside[0]
        return (self.size, position) if position > self.lengths[0] else None

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
        if self.members:
            return self._unfold_members(table)
        found = units_of(table, (self.unit,), self.sequence)
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
        return self._units(columns, table)

    def _units(self, columns: Sequence[Column], table: Table) -> Table:
        roles = {name: role for name in self._columns if (role := self._role(name, table)) is not None}
        return replace(
            table, columns=tuple(columns), roles=roles, units=self, warnings=(*table.warnings, *self.left_out(table))
        )

    def _unfold_members(self, table: Table) -> Table:
        found, members = units_of(table, (self.unit,), None), self._members(table)
        length = self._lengths(members.usable)
        kept = np.flatnonzero(length)
        columns = [replace(table[name].take(found.rows[found.begins[kept]]), stored=None) for name in self.constant]
        columns.append(Column(self.size, "number", length[kept].astype(np.float64), grid=Grid(0)))
        for position, layout in enumerate(self.members, 1):
            there = length[kept] >= position
            chosen = members.numbers(kept[there], position)
            own = members.rows.of(chosen)
            whose = Column(layout.unit, "number", np.repeat(np.arange(len(chosen)), members.rows.sizes[chosen]) + 0.0)
            rows = table.take(own)
            rows = replace(rows, columns=tuple(whose if c.name == layout.unit else c for c in rows))
            columns += [_spread(c, f"{c.name} [{position}]", there) for c in layout.unfold(rows)]
        return self._units(columns, table)

    def _members(self, table: Table) -> "_Members":
        rows = units_of(table, self.numbered, self.sequence)
        household = units_of(table, (self.unit,), None).owner[rows.rows[rows.begins]]
        count = np.bincount(household)
        begins = np.cumsum(count) - count
        number = np.argsort(household, kind="stable")  # members in the order in which they first occur
        position = np.empty(len(number), np.int64)
        position[number] = np.arange(len(number)) - np.repeat(begins, count) + 1
        least = np.array([one.lengths[0] for one in self.members])
        enough = (position <= self.most) & (rows.sizes >= least[np.minimum(position, self.most) - 1])
        # A household gives its members before the first with too few rows.
        first = np.full(len(count), np.iinfo(np.int64).max)
        np.minimum.at(first, household[~enough], position[~enough])
        return _Members(rows, household, position, begins, number, np.minimum(first - 1, count))

    def _column(self, column: Column, position: int, values: Floats, there: Bools) -> Column:
        name = self.at(column.name, (position,))
        if column.is_category:
            return Column(name, column.kind, np.where(there, values, MISSING).astype(np.int32), column.levels)
        values = np.where(there, values, np.nan)
        if column.name not in self.rising or position == 1:
            return Column(name, column.kind, values, grid=column.grid, coarser=column.coarser)
        return Column(name, "number", on_grid(column.grid, values), grid=column.grid)

    def _role(self, name: str, table: Table) -> Role | None:
        role = table.roles.get(self.column_of(name))
        return None if role == "target" and max(self.place(name)) > 1 else role

    def _lengths(self, sizes: Rows) -> Rows:
        """The number of rows that each unit gives."""
        place = np.searchsorted(self.lengths, sizes, side="right")
        return np.append(0, self.lengths)[place]

    def check(self, table: Table) -> None:
        """Raise an error if the table does not have the columns of the layout, or they are of another sort."""
        for name in (*self.numbered, *self.constant, *self.member_constant, *self.rising, *self.varying):
            if name not in table.names:
                raise NameUnknown("column", name, table.names, "that the unit of the plan needs")
        inner = self.numbered if self.members else (self.unit,)
        for names, whose, fits, what in (
            (self.constant, (self.unit,), is_constant, "differs between rows of one"),
            (self.member_constant, inner, is_constant, "differs between rows of one"),
            (self.rising, inner, is_rising, "is missing or falls from one row to the next of a"),
        ):
            found = units_of(table, whose, self.sequence) if names else None
            for name in names:
                if found is not None and not fits(table[name], found):
                    raise PlanError(f"Column {name!r} {what} {whose[-1]!r}, unlike in the plan. Write a new plan.")

    def kept(self, table: Table) -> Rows:
        """The numbers of the rows that `unfold` uses, in table order."""
        if not self.members:
            found = units_of(table, (self.unit,), self.sequence)
            return np.sort(found.first(self._lengths(found.sizes)))
        members = self._members(table)
        length = np.zeros(len(members.position), np.int64)
        for position, layout in enumerate(self.members, 1):
            here = members.position == position
            length[here] = layout._lengths(members.rows.sizes[here])
        length[members.position > self._lengths(members.usable)[members.household]] = 0
        return np.sort(members.rows.first(length))

    @cached_property
    def as_released(self) -> "UnitLayout":
        """The layout of a release, whose rows are in order: they are sorted only by a column that never falls."""
        return self if self.sequence in self.rising else replace(self, sequence=None)

    def left_out(self, table: Table) -> tuple[str, ...]:
        """A sentence about rows and units that the layout leaves out."""
        owner = units_of(table, (self.unit,), None).owner
        count, left = np.bincount(owner), np.bincount(owner[self.kept(table)], minlength=int(owner.max(initial=-1)) + 1)
        notes = []
        if rows := int((count - left)[left > 0].sum()):
            units = int(np.count_nonzero((count > left) & (left > 0)))
            most = f"{self.most:,} of each" if not self.members else f"{self.most:,} {self.member!r} of each"
            notes.append(
                f"{rows:,} of {int(count.sum()):,} rows are left out, the last ones of {units:,} units: at most {most} "
                f"are released, and only as many as at least {LEAST_UNITS} units have."
            )
        if units := int(np.count_nonzero(left == 0)):
            notes.append(
                f"{units:,} of {len(count):,} units are left out: they have fewer rows than {self.lengths[0]:,}, as so "
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
        parts = list(self._parts(units))
        owner = np.concatenate([one.owner for one in parts])
        position = np.concatenate([one.member for one in parts])
        row = np.concatenate([one.row for one in parts])
        order = np.lexsort((row, position, owner))
        columns = []
        for column in original:
            if column.name in self.numbered:
                if not self.unnumbered:
                    columns.append(self._pseudonyms(column, original, owner[order], position[order]))
            elif column.name in self.constant and column.name in units.names:
                columns.append(new_values(column, units[column.name].values[owner[order]]))
            elif self.at(column.name, self.places[0]) in units.names:
                values = [one.layout._folded(column, one.units, one.place, one.row) for one in parts]
                columns.append(new_values(column, np.concatenate(values)[order]))
        return replace(original, columns=tuple(columns), warnings=units.warnings)

    def in_range(self, units: Table, original: Table) -> Table:
        """The same units; where increases lead beyond the largest value of the original, first values are exchanged."""
        sequences = [list(places) for _, places in groupby(self.places, key=lambda place: place[:-1])]
        for name, places in product(self.rising, sequences):
            first, *increases = (units[self.at(name, place)] for place in places)
            values = exchanged(first.values, [one.values for one in increases], original[name].domain[1])
            units = units.replace([replace(first, values=values, stored=None)])
        return units

    def recoded_differences(self, table: Table) -> tuple[str, ...]:
        """The columns of units that change when they are added up, because recoding changes the sums."""
        rising = (at for name in self.rising if table[name].coarser is not None for at in self.columns_at(name))
        return tuple(name for name in rising if max(self.place(name)) > 1)

    def _parts(self, units: Table) -> Iterator["_MemberRows"]:
        """The rows of the first members, of the second, and so on; without members all rows."""
        length = units[self.size].values.astype(np.int64)
        if not self.members:
            owner = np.repeat(np.arange(len(units)), length)
            row = np.arange(len(owner)) - np.repeat(np.cumsum(length) - length, length) + 1
            yield _MemberRows(self, units, owner, row if self.member else np.zeros_like(row), row, owner)
            return
        for position, layout in enumerate(self.members, 1):
            there = np.flatnonzero(length >= position)
            ending = f" [{position}]"
            names = [name for name in units.names if self.place(name)[0] == position]
            own = [replace(units[name].take(there), name=name.removesuffix(ending)) for name in names]
            for inside in layout._parts(replace(units, columns=tuple(own), roles={}, units=None)):
                member = np.full(len(inside.row), position)
                yield replace(inside, owner=there[inside.place], member=member)

    def _pseudonyms(self, column: Column, original: Table, owner: Rows, member: Rows) -> Column:
        """New numbers of units; of members within a unit if the original has such, otherwise over all units."""
        number = owner
        if column.name == self.member:
            number = member - 1
            if not is_within(original, self.unit, column.name):
                number = np.cumsum(np.append(0, (np.diff(owner) != 0) | (np.diff(member) != 0)))
        if not column.is_category:
            return Column(column.name, "number", number + 1.0, grid=Grid(0))
        count = int(number.max(initial=-1)) + 1
        levels = tuple(f"{at + 1:0{len(str(count))}}" for at in range(count))
        return Column(column.name, "category", number.astype(np.int32), levels)

    def _folded(self, column: Column, units: Table, owner: Rows, position: Rows) -> Floats:
        if column.name in self.constant:
            return units[column.name].values[owner]
        wide = np.stack([units[name].values for name in self.columns_at(column.name)])
        if column.name in self.rising:
            wide = as_recoded(column, on_grid(column.grid, np.cumsum(wide, axis=0)))
        return wide[position - 1, owner]


def on_grid(grid: Grid | None, values: Floats) -> Floats:
    """Values without the binary rounding of sums and differences; values between grid points stay."""
    if grid is None:
        return values
    near = grid.value(grid.index(values))
    return np.where(np.abs(near - values) <= 1e-6 * grid.step, near, values)


def _spread(column: Column, name: str, there: Bools) -> Column:
    """A column of some units as a column of all; the others have no value."""
    empty = MISSING if column.is_category else np.nan
    values = np.full(len(there), empty, column.values.dtype)
    values[there] = column.values
    return replace(column, name=name, values=values, stored=None)


@dataclass(frozen=True, eq=False)
class _MemberRows:
    """Rows that one layout made of units: all, or those of the first members, the second, and so on."""

    layout: UnitLayout
    units: Table
    owner: Rows  # of each row, the unit
    member: Rows  # its member, from 1
    row: Rows  # the row of the member, from 1
    place: Rows  # the row of ``units``


@dataclass(frozen=True, eq=False)
class _Members:
    """The members of units."""

    rows: Units  # of each member
    household: Rows  # of each member, the unit
    position: Rows  # in the unit, from 1
    begins: Rows  # of each unit, the place of its first member
    number: Rows  # the members unit by unit
    usable: Rows  # of each unit, how many members it can give

    def numbers(self, units: Rows, position: int) -> Rows:
        """The member of each unit at a position."""
        return self.number[self.begins[units] + position - 1]


@checks_arguments()
def unit_layout(table: Table, *, sequence: str | None = None, most_rows: int | None = None) -> UnitLayout:
    """How to make one row of each unit's rows: the unit is the column with the role "unit".

    Parameters
    ----------
    table : Table
        The rows of all units.
    sequence : str, optional
        The column by which the rows of a unit are sorted. Default: the first date or time that is always known and
        varies within units; without one, the order of the table.
    most_rows : int, optional
        The largest number of rows that a unit gives; a member, if members have several rows each. Default: as many as
        enough units have.

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
    named = unit_columns(table)
    if not named:
        raise TableError("One column must have the role unit, or two, a household and a person. Got none.")
    if sequence is not None and sequence not in table.names:
        raise NameUnknown("column", sequence, table.names, "to sort the rows of a unit by")
    most = MOST_COLUMNS if most_rows is None else most_rows
    if most < 1:
        raise ValueOutOfRange("most_rows", most, "an integer of at least 1")
    columns = [c for c in table if c.name not in named and table.roles.get(c.name) != "identifier"]
    members = units_of(table, named, None)
    nested = len(named) == 2 and int(members.sizes.max(initial=0)) > 1
    _check_nested(table, named)
    whole = units_of(table, named[:1], None)
    inner = named if nested else named[:1]
    constant = tuple(c.name for c in columns if is_constant(c, whole))
    inside = tuple(c.name for c in columns if nested and c.name not in constant and is_constant(c, members))
    sequence = first_date(table) if sequence is None else sequence
    found = units_of(table, inner, sequence)
    others = [c for c in columns if c.name not in (*constant, *inside)]
    rising = tuple(c.name for c in others if (is_rising if c.name == sequence else seen_rising)(c, found))
    varying = tuple(c.name for c in others if c.name not in rising)
    member = named[1] if len(named) == 2 else None
    if not nested:
        lengths = _common_lengths(found.sizes, min(MOST_COLUMNS // max(len(others), 1), most), named[0])
        return UnitLayout(named[0], lengths, sequence, constant, rising, varying, member=member)
    lengths = _common_lengths(np.bincount(whole.owner[members.rows[members.begins]]), MOST_COLUMNS // 4, named[0])
    plain = UnitLayout(
        named[0], lengths, sequence, constant, rising, varying,
        member=member, member_constant=inside, member_lengths=((1,),) * lengths[-1],
    )  # fmt: skip
    return replace(plain, member_lengths=_member_lengths(plain, table, len(others), most))


def _member_lengths(layout: UnitLayout, table: Table, columns: int, at_most: int) -> tuple[tuple[int, ...], ...]:
    """Numbers of rows that enough members at each position give; every member gives some."""
    members = layout._members(table)
    length = layout._lengths(members.usable)
    most = min(max(MOST_COLUMNS // (max(columns, 1) * layout.most), 1), at_most)
    found = []
    for position in range(1, layout.most + 1):
        sizes = members.rows.sizes[members.numbers(np.flatnonzero(length >= position), position)]
        common = _common_lengths(sizes, most, layout.numbered[-1])
        found.append((int(min(common[0], sizes.min())), *common[1:]))
    return tuple(found)


def _check_nested(table: Table, named: Sequence[str]) -> None:
    """Raise an error if a person belongs to several households."""
    if len(named) < 2 or is_within(table, named[0], named[1]):
        return
    moved = len(units_of(table, named, None).sizes) - len(units_of(table, named[1:], None).sizes)
    if moved:
        raise TableError(
            f"{moved:,} {named[1]!r} occur in more than one {named[0]!r}. Give each the household that it had first, "
            f"or let {named[1]!r} alone be the unit."
        )


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
