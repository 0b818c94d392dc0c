"""A table: named columns of equal length that never change; every change makes a new table."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, TypeAlias

import numpy as np

from leafcover.arrays import MISSING, Array, Bools, Floats, Rows
from leafcover.errors import NameUnknown, TableError, ValueOutOfRange

# How a table came in, so that it can go out alike.


Format: TypeAlias = Literal["csv", "parquet", "arrow", "arff", "c45", "frame"]


@dataclass(frozen=True)
class Source:
    """The format of a file, or the library of a frame, with what each needs to be repeated."""

    format: Format
    delimiter: str = ","  # empty: what the suffix says
    newline: str = "\n"
    encoding: str = "utf-8"
    byte_order_mark: bool = False
    relation: str = ""  # the name an ARFF file gives its table
    library: str = ""  # pandas, polars, pyarrow
    types: Mapping[str, Any] = field(default_factory=dict)  # a frame's own column types
    labels: Mapping[str, Any] = field(default_factory=dict)  # pandas names that are not text

    @property
    def is_typed(self) -> bool:
        """Whether columns came with types of their own, and not as text."""
        return self.format in ("parquet", "arrow", "frame")


@dataclass(frozen=True, eq=False)
class RawColumn:
    """One column as a file or frame holds it, before it is decided what it is."""

    name: str
    stored: Any  # pyarrow Array or ChunkedArray: text, or typed
    typed: bool = False
    tokens: tuple[str, ...] | None = None  # texts that mean missing, unless the user names others
    declared: Literal["number", "category"] | None = None  # what .names or ARFF says it is
    warnings: tuple[str, ...] = ()
    levels: tuple[str, ...] | None = None  # the values .names or ARFF allows, in code point order


def check_names(names: Sequence[str], where: str | Path) -> None:
    """Refuse a header that cannot tell its columns apart: a name twice, or none."""
    seen: set[str] = set()
    for place, name in enumerate(names, 1):
        if not name.strip():
            raise TableError(f"Column {place} of '{where}' has no name. Give it one in the header.")
        if name in seen:
            raise TableError(f"'{where}' has two columns called {name!r}. Rename one of them.")
        seen.add(name)


def check_rows(rows: int, where: str | Path) -> None:
    """Refuse a table too small to hide anyone in."""
    if rows < 2:
        found = "only a header" if rows == 0 else "only 1 row"
        raise TableError(f"'{where}' has {found}. A table needs at least 2 rows.")


# What a column is: its kind, its grid, the roles it may play.


Kind: TypeAlias = Literal["number", "category", "date", "time"]
Role: TypeAlias = Literal["target", "identifier", "quasi-identifier", "sensitive", "unit", "weight", "unchanged"]

MAX_DECIMALS = 9  # a grid finer than this is a continuous number
OFF_GRID = 2.0**62  # the number of a point that no grid has
MAX_GRID_POINTS = 2.0**53  # a grid with more points than this cannot be counted in float64


@dataclass(frozen=True)
class Grid:
    """The values a number may take: whole multiples of ``10 ** -decimals``, or of ``every`` so many.

    >>> cents = Grid(2)
    >>> cents.value(cents.index(np.array([0.07, 1.1])))
    array([0.07, 1.1 ])
    >>> Grid(0, every=60).step
    60.0
    """

    decimals: int
    every: int = 1  # more than one for times, which may all stand on whole minutes, hours or days

    @property
    def step(self) -> float:
        """The distance between neighbouring values."""
        return self.every / self._scale

    @property
    def _scale(self) -> float:
        return float(10**self.decimals)

    def index(self, values: Floats) -> Rows:
        """The number of the nearest grid point; of what is not known, or beyond every grid, one beyond every grid."""
        with np.errstate(over="ignore"):  # infinite is far enough
            number = np.rint(values * self._scale / self.every)
        # Without this what a missing value becomes would depend on the processor.
        return np.fmax(np.fmin(number, OFF_GRID), -OFF_GRID).astype(np.int64)

    def value(self, index: Rows) -> Floats:
        """The grid point as the float64 that its decimal text parses to."""
        # One correctly rounded division of two exact integers: what float(text) gives.
        points: Floats = index.astype(np.float64) * self.every / self._scale
        return points


@dataclass(frozen=True)
class TextFormat:
    """How a text file writes the numbers of a column, so that new values look like the old ones."""

    decimals: int = 0  # the most places seen
    fixed: bool = True  # every value has exactly that many places
    width: int = 0  # leading zeros pad the whole part to this many digits
    thousands: bool = False  # 1,234,567
    pattern: str = ""  # strptime form of dates and times


@dataclass(frozen=True, eq=False)
class Column:
    """One column: values to compute with, and the stored form they came from.

    Numbers, dates (days since 1970) and times (seconds since 1970) are float64 with nan for missing;
    categories are int32 codes into ``levels``, which stand in code point order, with -1 for missing.
    ``stored`` is the pyarrow array as it was read: text for text files, the typed array otherwise.
    """

    name: str
    kind: Kind
    values: Array  # float64 or int32, as the kind says
    levels: tuple[str, ...] = ()
    grid: Grid | None = None
    text_format: TextFormat | None = None
    stored: Any = None  # pyarrow.Array or ChunkedArray; None for a column made in memory
    declared: tuple[float, float] | None = None  # a domain the user gave; else what was observed

    def __len__(self) -> int:
        return len(self.values)

    @property
    def is_category(self) -> bool:
        """Whether the values are codes of levels; everything else is ordered like a number."""
        return self.kind == "category"

    @property
    def missing(self) -> Bools:
        """Which rows have no value."""
        return self.values == MISSING if self.is_category else np.isnan(self.values)

    @property
    def domain(self) -> tuple[float, float]:
        """Lowest and highest legal value of a number: declared, else observed; (nan, nan) if all missing."""
        if self.declared is not None:
            return self.declared
        known = self.values[~self.missing]
        return (float(known.min()), float(known.max())) if len(known) else (np.nan, np.nan)

    def take(self, rows: Rows) -> "Column":
        """The same column at other rows."""
        stored = None if self.stored is None else self.stored.take(rows)
        return replace(self, values=self.values[rows], stored=stored)


@dataclass(frozen=True, eq=False)
class Table:
    """Columns in order, the roles they play, and what reading them warned of."""

    columns: tuple[Column, ...]
    roles: Mapping[str, Role] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    source: Any = None  # how it came in (a file's format or a frame's library), so that it can go out alike

    def __post_init__(self) -> None:
        seen: set[str] = set()
        for column in self.columns:
            if column.name in seen:
                raise TableError(f"Two columns are called {column.name!r}. Rename or drop one of them.")
            seen.add(column.name)
        if len({len(column) for column in self.columns}) > 1:
            raise TableError("The columns have different lengths. Give every column one value a row.")

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
        """The columns that play a role, in table order."""
        return tuple(name for name in self.names if self.roles.get(name) == role)

    def replace(self, columns: Iterable[Column]) -> "Table":
        """The same table with some columns exchanged for others of the same name."""
        new = {column.name: column for column in columns}
        return replace(self, columns=tuple(new.get(column.name, column) for column in self.columns))

    def select(self, names: Iterable[str]) -> "Table":
        """Only these columns, in the order given."""
        return replace(self, columns=tuple(self[name] for name in names))

    def take(self, rows: Rows | Array) -> "Table":
        """The same columns at other rows."""
        return replace(self, columns=tuple(column.take(rows) for column in self.columns))


def column_name(what: str, name: Any) -> str:
    """The name of a column; labels of a frame that are no text are names by their text, and must be given so."""
    if isinstance(name, str):
        return name
    raise ValueOutOfRange(what, name, f"the name of a column as text, such as {str(name)!r}")


# Some rows of a table, as if the others had never been.


def without_unused_levels(table: Table, rows: Rows) -> Table:
    """The rows without the levels that only other rows have: a level held out must not be drawn for anybody."""
    part = table.take(rows)
    return part.replace(_drop_unused_levels(part[column.name], column) for column in table if column.is_category)


def _drop_unused_levels(kept: Column, whole: Column) -> Column:
    """The column without levels that occur in the whole table but not here; declared ones that nobody has stay."""
    here, everywhere = (np.unique(column.values[~column.missing]) for column in (kept, whole))
    stay = np.setdiff1d(np.arange(len(whole.levels)), np.setdiff1d(everywhere, here))
    if len(stay) == len(whole.levels):
        return kept
    lookup = np.full(len(whole.levels) + 1, MISSING, np.int32)
    lookup[stay] = np.arange(len(stay))
    return replace(kept, values=lookup[kept.values], levels=tuple(whole.levels[code] for code in stay))
