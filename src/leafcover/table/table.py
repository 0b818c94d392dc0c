"""A table: named columns of equal length that never change; every change makes a new table."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from leafcover.errors import NameUnknown, TableError, ValueOutOfRange
from leafcover.fast.arrays import MISSING, Array, Bools, Rows
from leafcover.table.schema import Grid, Kind, Role, Spelling


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
    spelling: Spelling | None = None
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


def as_table(given: Any) -> Table:
    """A table, or the one in a frame; the library for frames is loaded only when one comes."""
    if isinstance(given, Table):
        return given
    from leafcover.table.frames import from_frame

    return from_frame(given)


def column_name(what: str, name: Any) -> str:
    """The name of a column; labels of a frame that are no text are names by their text, and must be given so."""
    if isinstance(name, str):
        return name
    raise ValueOutOfRange(what, name, f"the name of a column as text, such as {str(name)!r}")
