"""The data model: immutable tables of typed columns, with roles and a record of how they were read."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias

import numpy as np

from leafcover.arrays import MISSING, Array, Bools, Floats, Rows, Words
from leafcover.errors import NameUnknown, TableError, ValueOutOfRange
from leafcover.registry import check_fields

if TYPE_CHECKING:
    from leafcover.table.unit_layout import UnitLayout

# Source: the input format of a table, so that it can be written back in the same way.


Format: TypeAlias = Literal["csv", "parquet", "arrow", "arff", "c45", "frame", "excel", "statistical", "database"]


@dataclass(frozen=True)
class Source:
    """The format of the input file or the library of the input frame, with the details needed to write it back."""

    format: Format
    delimiter: str = ","  # empty: determined by the suffix
    newline: str = "\n"
    encoding: str = "utf-8"
    byte_order_mark: bool = False
    relation: str = ""  # relation name of an ARFF file, or the table of a database
    library: str = ""  # pandas, polars, pyarrow
    types: Mapping[str, Any] = field(default_factory=dict)  # column types of a frame or a typed file
    labels: Mapping[str, Any] = field(default_factory=dict)  # pandas column labels, which need not be text
    pandas_types: Mapping[str, str] = field(default_factory=dict)  # of a frame of pandas or a file that pandas wrote
    enums: frozenset[str] = frozenset()  # columns whose type is an Enum of polars
    about: Mapping[str, Any] = field(default_factory=dict)  # labels and display formats of a column

    @property
    def is_typed(self) -> bool:
        """Whether the columns were read with types rather than as text."""
        return self.format not in ("csv", "arff", "c45")


@dataclass(frozen=True, eq=False)
class RawColumn:
    """A column as a file or frame holds it, before its kind is inferred."""

    name: str
    stored: Any  # pyarrow Array or ChunkedArray: text, or typed
    typed: bool = False
    tokens: tuple[str, ...] | None = None  # texts that always mean missing in this format
    declared: Literal["number", "category"] | None = None  # kind declared by a .names or ARFF file
    warnings: tuple[str, ...] = ()
    levels: tuple[str, ...] | None = None  # levels declared by a .names or ARFF file, in code point order
    is_index: bool = False  # whether it is the index of a pandas frame, which is not part of the table


def check_names(names: Sequence[str], where: object) -> None:
    """Refuse a header with an empty or duplicate column name."""
    seen: set[str] = set()
    for position, name in enumerate(names, 1):
        if not name.strip():
            raise TableError(f"Column {position} of '{where}' has no name. Name it in the header.")
        if name in seen:
            raise TableError(f"'{where}' has two columns named {name!r}. Rename one of them.")
        seen.add(name)


def check_rows(rows: int, where: object) -> None:
    """Refuse a table with fewer than two rows, in which nothing can be protected."""
    if rows < 2:
        found = "only a header" if rows == 0 else "only 1 row"
        raise TableError(f"'{where}' has {found}. A table needs at least 2 rows.")


# Columns: kind, grid of possible values, text format and role.


Kind: TypeAlias = Literal["number", "category", "date", "time"]
Role: TypeAlias = Literal["target", "identifier", "quasi-identifier", "sensitive", "unit", "weight", "unchanged"]

MAX_DECIMALS = 9  # a number with more decimal places counts as continuous
OFF_GRID = 2.0**62  # index of a value that is not on the grid
MAX_GRID_POINTS = 2.0**53  # float64 cannot count more grid points than this


@dataclass(frozen=True)
class Grid:
    """The values a number may take: integer multiples of ``every * 10 ** -decimals``.

    >>> cents = Grid(2)
    >>> cents.value(cents.index(np.array([0.07, 1.1])))
    array([0.07, 1.1 ])
    >>> Grid(0, every=60).step
    60.0
    """

    decimals: int
    every: int = 1  # greater than one for times that are all whole minutes, hours or days

    @property
    def step(self) -> float:
        """The distance between adjacent grid points."""
        return self.every / self._scale

    @property
    def _scale(self) -> float:
        return float(10**self.decimals)

    def index(self, values: Floats) -> Rows:
        """The index of the nearest grid point; missing and out-of-range values get an index of ±OFF_GRID."""
        with np.errstate(over="ignore"):  # an infinite result is clipped below
            number = np.rint(values * self._scale / self.every)
        # Converting nan to an integer is undefined: without the clipping the result would depend on the processor.
        return np.fmax(np.fmin(number, OFF_GRID), -OFF_GRID).astype(np.int64)

    def value(self, index: Rows) -> Floats:
        """The grid point at an index, as the float64 that its decimal text parses to."""
        # One correctly rounded division of two exact integers gives the same result as float(text).
        points: Floats = index.astype(np.float64) * self.every / self._scale
        return points


@dataclass(frozen=True)
class TextFormat:
    """How a text file writes the numbers or dates of a column, so that new values look like the old ones."""

    decimals: int = 0  # largest number of decimal places seen
    fixed: bool = True  # whether every value has exactly that many places
    width: int = 0  # leading zeros pad the integer part to this many digits
    thousands: str = ""  # the separator between thousands, such as the comma in 1,234,567
    pattern: str = ""  # strptime pattern of dates and times
    decimal: str = "."  # the decimal separator
    before: str = ""  # the sign of a currency or of percent before the numbers, or after them
    after: str = ""


@dataclass(frozen=True)
class ReadingOptions:
    """How a table was read, so that it, its release or a control can be read the same way."""

    name: str = ""  # of the file
    drop: tuple[str, ...] = ()
    category: tuple[str, ...] = ()
    missing: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    encoding: str = "utf-8"
    delimiter: str | None = None
    decimal: str | Mapping[str, str] | None = None  # of all number columns in text, or of each
    thousands: Mapping[str, str] | None = None  # of the number columns that have such separators
    sheet: str | int | None = None  # of a workbook
    query: str | None = None  # of a database


@dataclass(frozen=True, eq=False)
class Column:
    """One column: values to compute with, and the stored form they came from.

    Numbers, dates (days since 1970) and times (seconds since 1970) are float64 with nan for missing. Categories are
    int32 codes into ``levels``, which are in code point order, with -1 for missing. ``stored`` is the pyarrow array as
    it was read: text for text files, a typed array otherwise.
    """

    name: str
    kind: Kind
    values: Array  # float64 or int32, depending on the kind
    levels: tuple[str, ...] = ()
    grid: Grid | None = None
    text_format: TextFormat | None = None
    stored: Any = None  # pyarrow.Array or ChunkedArray; None for a column created in memory
    declared: tuple[float, float] | None = None  # domain given by the user; otherwise the observed range
    coarser: Callable[[Floats], Floats] | None = None  # what recoding made of its numbers, and makes of any others

    def __len__(self) -> int:
        return len(self.values)

    @property
    def is_category(self) -> bool:
        """Whether the values are codes of levels. All other kinds are ordered like numbers."""
        return self.kind == "category"

    @property
    def missing(self) -> Bools:
        """Which rows have a missing value."""
        return self.values == MISSING if self.is_category else np.isnan(self.values)

    @property
    def domain(self) -> tuple[float, float]:
        """Smallest and largest allowed value: declared, otherwise observed; (nan, nan) if every value is missing."""
        if self.declared is not None:
            return self.declared
        known = self.values[~self.missing]
        return (float(known.min()), float(known.max())) if len(known) else (np.nan, np.nan)

    def take(self, rows: Rows) -> "Column":
        """The column at the given rows."""
        stored = None if self.stored is None else self.stored.take(rows)
        return replace(self, values=self.values[rows], stored=stored)


@check_fields
@dataclass(frozen=True, eq=False)
class Table:
    """An immutable table: named columns of equal length, with roles.

    Use `leafcover.read` or `leafcover.from_frame` to create one. Methods that change something return a new table.

    Parameters
    ----------
    columns : tuple of Column
        The columns, in order. Names are unique and all columns have the same length.
    roles : mapping of str to str, optional
        The role of some columns: "target", "identifier", "quasi-identifier", "sensitive", "unit", "weight" or
        "unchanged".
    warnings : tuple of str, optional
        Warnings issued while the table was read.
    source : Source, optional
        The input format, so that the table can be written back in the same way.
    reading : ReadingOptions, optional
        How the file was read, so that its release can be read in the same way.
    units : UnitLayout, optional
        How the rows of each unit became one row, if they did.

    Examples
    --------
    >>> import leafcover as lc
    >>> table = lc.read(lc.sample("wine"), roles={"class": "target"})
    >>> len(table), table.names[:3]
    (178, ('alcohol', 'malic_acid', 'ash'))
    >>> table["alcohol"].domain
    (11.03, 14.83)
    >>> table.with_role("target")
    ('class',)
    """

    columns: tuple[Column, ...]
    roles: Mapping[str, Role] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    source: Any = None
    reading: ReadingOptions = field(default_factory=ReadingOptions)
    units: "UnitLayout | None" = None

    def __post_init__(self) -> None:
        seen: set[str] = set()
        for column in self.columns:
            if column.name in seen:
                raise TableError(f"Two columns are named {column.name!r}. Rename or drop one of them.")
            seen.add(column.name)
        if len({len(column) for column in self.columns}) > 1:
            lengths = ", ".join(f"{column.name!r} {len(column)}" for column in self.columns[:5])
            raise TableError(f"The columns have different lengths ({lengths}). Give every column one value per row.")

    def __len__(self) -> int:
        return len(self.columns[0]) if self.columns else 0

    def __iter__(self) -> Iterator[Column]:
        return iter(self.columns)

    def __getitem__(self, name: str) -> Column:
        for column in self.columns:
            if column.name == name:
                return column
        raise NameUnknown("column", name, self.names)

    @property
    def names(self) -> tuple[str, ...]:
        """The column names, in order."""
        return tuple(column.name for column in self.columns)

    def with_role(self, role: Role) -> tuple[str, ...]:
        """The names of the columns with a role.

        Parameters
        ----------
        role : str
            "target", "identifier", "quasi-identifier", "sensitive", "unit", "weight" or "unchanged".

        Returns
        -------
        tuple of str
            The names, in table order.

        Examples
        --------
        >>> import leafcover as lc
        >>> lc.read(lc.sample("wine"), roles={"ash": "sensitive"}).with_role("sensitive")
        ('ash',)
        """
        return tuple(name for name in self.names if self.roles.get(name) == role)

    def replace(self, columns: Iterable[Column]) -> "Table":
        """The table with some columns replaced by others of the same name.

        Parameters
        ----------
        columns : iterable of Column
            The new columns.

        Returns
        -------
        Table

        Examples
        --------
        >>> from dataclasses import replace
        >>> import leafcover as lc
        >>> table = lc.read(lc.sample("wine"))
        >>> doubled = replace(table["ash"], values=2 * table["ash"].values)
        >>> table.replace([doubled])["ash"].domain
        (2.72, 6.46)
        """
        new = {column.name: column for column in columns}
        return replace(self, columns=tuple(new.get(column.name, column) for column in self.columns))

    def equals(self, other: "Table") -> bool:
        """Whether two tables have the same columns, kinds and values, in the same order.

        Parameters
        ----------
        other : Table
            The table to compare with.

        Returns
        -------
        bool

        Examples
        --------
        >>> import numpy as np
        >>> import leafcover as lc
        >>> table = lc.read(lc.sample("wine"))
        >>> table.equals(lc.read(lc.sample("wine"))), table.equals(table.take(np.arange(9)))
        (True, False)
        """
        if self.names != other.names or len(self) != len(other):
            return False
        return all(
            a.kind == b.kind
            and a.levels == b.levels
            and np.array_equal(a.values, b.values, equal_nan=not a.is_category)
            for a, b in zip(self, other, strict=True)
        )

    def select(self, names: Iterable[str]) -> "Table":
        """The table with only some columns.

        Parameters
        ----------
        names : iterable of str
            The columns, in the order they shall have.

        Returns
        -------
        Table

        Examples
        --------
        >>> import leafcover as lc
        >>> lc.read(lc.sample("wine")).select(["class", "ash"]).names
        ('class', 'ash')
        """
        return replace(self, columns=tuple(self[name] for name in names))

    def take(self, rows: Rows | Array) -> "Table":
        """The table with only some rows.

        Parameters
        ----------
        rows : array of int
            The row numbers, in the order they shall have; the first is 0.

        Returns
        -------
        Table

        Examples
        --------
        >>> import numpy as np
        >>> import leafcover as lc
        >>> len(lc.read(lc.sample("wine")).take(np.arange(0, 178, 2)))
        89
        """
        return replace(self, columns=tuple(column.take(rows) for column in self.columns))


class Frame(Protocol):
    """A pandas or polars data frame or a pyarrow table, as far as a type checker needs to know it."""

    @property
    def columns(self) -> Any:
        """The columns, or their names."""

    def join(self, *others: Any, **options: Any) -> Any:
        """The frame joined with another."""


IntoTable: TypeAlias = Table | Frame  # what a function accepts as a table


def column_name(what: str, name: Any) -> str:
    """Check that a column name is text. A frame's labels that are not text are named by their text form."""
    if isinstance(name, str):
        return name
    raise ValueOutOfRange(what, name, f"a column name as text, such as {str(name)!r}")


def check_weight(column: Column) -> None:
    """Refuse a survey weight that is not a number, or negative; a missing weight counts as 0."""
    if column.kind != "number":
        got = "has no known values" if column.missing.all() else f"is read as a {column.kind}"
        raise TableError(
            f"Weight {column.name!r} must be a column of numbers, but {got}. "
            "Correct its values, or name another column as the weight."
        )
    negative = np.flatnonzero(column.values < 0)
    if len(negative):
        count = "1 negative number" if len(negative) == 1 else f"{len(negative):,} negative numbers"
        raise TableError(
            f"Weight {column.name!r} must not be negative, but has {count}, the first in row {negative[0] + 1}. "
            "Correct them, or declare them missing."
        )


def target_of(table: Table, target: str | None) -> str | None:
    """The target that was given, otherwise the column with the role "target"; None if there is neither."""
    if target is not None:
        if column_name("target", target) not in table.names:
            raise NameUnknown("column", target, table.names)
        return target
    found = table.with_role("target")
    if len(found) > 1:
        listed = ", ".join(map(repr, found))
        raise TableError(f"{len(found)} columns have the role target: {listed}. Name one of them as the target.")
    return found[0] if found else None


def without_unused_levels(table: Table, rows: Rows) -> Table:
    """The given rows, without the levels that occur only in other rows, so that no held-out level can be drawn."""
    subset = table.take(rows)
    return subset.replace(_drop_unused_levels(subset[column.name], column) for column in table if column.is_category)


def _drop_unused_levels(subset: Column, full: Column) -> Column:
    """The subset's column without levels that occur only elsewhere; declared levels that never occur are kept."""
    here, everywhere = (np.unique(column.values[~column.missing]) for column in (subset, full))
    kept = np.setdiff1d(np.arange(len(full.levels)), np.setdiff1d(everywhere, here))
    if len(kept) == len(full.levels):
        return subset
    lookup = np.full(len(full.levels) + 1, MISSING, np.int32)
    lookup[kept] = np.arange(len(kept))
    return replace(subset, values=lookup[subset.values], levels=tuple(full.levels[code] for code in kept))


def in_codes_of(column: Column, other: Column) -> Array:
    """The values of another table's column, with categories in the codes of this one."""
    if not column.is_category:
        return other.values
    number = {level: code for code, level in enumerate(column.levels)}
    lookup = np.array([number.get(level, MISSING) for level in other.levels] + [MISSING], np.int32)
    return lookup[other.values]


# Hashes of rows, to compare rows of different tables.


def row_hashes(table: Table) -> Words:
    """A 64-bit hash of each row: equal rows have equal hashes, also across tables with the same columns and levels.

    The probability that any two different rows among a million collide is 3e-8.
    """
    hashes = np.zeros(len(table), np.uint64)
    for column in table:
        hashes = splitmix64(hashes ^ _bits(column.values))
    return hashes


def _bits(values: Array) -> Words:
    if values.dtype.kind == "f":
        plain = np.where(np.isnan(values), np.nan, values + 0.0)  # a single nan and a single zero
        return plain.view(np.uint64)
    return values.astype(np.int64).view(np.uint64)


def splitmix64(words: Words) -> Words:
    """The finalizer of splitmix64: every input bit affects every output bit."""
    words = words + np.uint64(0x9E3779B97F4A7C15)
    words = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    words = (words ^ (words >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return words ^ (words >> np.uint64(31))
