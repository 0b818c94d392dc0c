"""Connections to PostgreSQL, SQLite and DuckDB: what is there, reading it as pyarrow arrays, writing those.

PostgreSQL is reached through psycopg and libpq, and its data travel as CSV text, which is exact and which pyarrow reads
fast; DuckDB gives and takes Arrow; SQLite comes with Python.
"""

import re
import sqlite3
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from io import BytesIO
from typing import Any
from urllib.parse import quote

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from leafcover.errors import TableError
from leafcover.table.formatting import plain_text
from leafcover.table.output import duration_seconds, parse_times_of_day
from leafcover.table.table import RawColumn

CONNECT_SECONDS = 15
BATCH_ROWS = 65_536


class Database(ABC):
    """A connection. Reading cannot change anything; writing is one transaction."""

    _connection: Any

    @abstractmethod
    def __init__(self, driver: Any, address: str, *, write: bool) -> None: ...

    @property
    @abstractmethod
    def tables(self) -> list[str]:
        """The names of tables and views."""

    @abstractmethod
    def _read(self, name: str, query: str | None, drop: Sequence[str]) -> list[RawColumn]: ...

    @abstractmethod
    def _create(self, name: str, columns: dict[str, Any]) -> None: ...

    def has(self, name: str) -> bool:
        """Whether there is a table or view of this name."""
        return name.lower() in [one.lower() for one in self.tables]

    def read(self, name: str, query: str | None = None, drop: Sequence[str] = ()) -> list[RawColumn]:
        """The columns of a table, in the order in which its rows were written, or those of a query."""
        return self._read(name, query, drop)

    def create(self, name: str, columns: dict[str, Any]) -> None:
        """Make a table of pyarrow arrays, in place of one of the same name."""
        if self.has(name):
            self._rows(f"DROP TABLE {_dotted(name)}")
        self._create(name, columns)

    def _rows(self, statement: str, values: Sequence[Any] = ()) -> list[Any]:
        """Execute a statement; the rows that it gives, if any."""
        return list(self._connection.execute(statement, values).fetchall())

    def commit(self) -> None:
        """Make everything visible."""
        self._connection.commit()

    def close(self) -> None:
        """End the connection; what was not committed is gone."""
        self._connection.close()


def _refuse_type(name: str, kind: str) -> TableError:
    return TableError(
        f"Column {name!r} has the unsupported type {kind}. Convert it to single values in a query, or drop it."
    )


def _refuse_months(name: str) -> TableError:
    return TableError(
        f"Column {name!r} has intervals of months or years, which have no fixed length. "
        "Convert them in a query, or drop it."
    )


def _quoted(name: str) -> str:
    """A name in a statement."""
    return '"' + name.replace('"', '""') + '"'


def _dotted(name: str) -> str:
    """A table's name in a statement, with its schema if it names one."""
    return ".".join(_quoted(part) for part in name.split("."))


def _source(name: str, query: str | None) -> str:
    return _dotted(name) if query is None else f"(\n{query}\n) AS leafcover_query"


# PostgreSQL: data travels as CSV, which is exact and, with pyarrow, fast.

SETTINGS = "SET TimeZone = 'UTC'; SET DateStyle = 'ISO'; SET IntervalStyle = 'postgres'; SET client_encoding = 'UTF8'"
POSTGRESQL_TYPES = {
    "bool": pa.bool_(),
    "int2": pa.int16(),
    "int4": pa.int32(),
    "int8": pa.int64(),
    "oid": pa.int64(),
    "float4": pa.float32(),
    "float8": pa.float64(),
    "date": pa.date32(),
    "timestamp": pa.timestamp("us"),
    "timestamptz": pa.timestamp("us", "UTC"),
    "time": pa.time64("us"),
}
POSTGRESQL_TEXT = (
    *("text", "varchar", "bpchar", "name", "char", "citext", "unknown", "uuid", "json", "jsonb", "xml"),
    *("inet", "cidr", "macaddr", "macaddr8", "bit", "varbit", "numeric", "money"),
)


class PostgreSQL(Database):
    """A connection through psycopg and libpq, which finds passwords and services in the usual places."""

    def __init__(self, driver: Any, address: str, *, write: bool) -> None:
        waiting = {} if "connect_timeout" in address else {"connect_timeout": CONNECT_SECONDS}
        self._connection = driver.connect(address, **waiting)
        self._connection.isolation_level = driver.IsolationLevel.REPEATABLE_READ
        self._connection.read_only = not write
        self._rows(SETTINGS)

    def _rows(self, statement: str, values: Sequence[Any] = ()) -> list[Any]:
        found = self._connection.execute(statement.encode(), values or None)
        return [] if found.description is None else found.fetchall()

    @property
    def tables(self) -> list[str]:
        """The names of tables and views."""
        found = self._rows(
            "SELECT relname FROM pg_class WHERE relkind IN ('r', 'p', 'v', 'm', 'f') AND pg_table_is_visible(oid) "
            "AND relnamespace NOT IN ('pg_catalog'::regnamespace, 'information_schema'::regnamespace) ORDER BY 1"
        )
        return [name for (name,) in found]

    def _kind(self, name: str) -> str | None:
        """The kind of relation: r is an ordinary table."""
        found = self._rows("SELECT relkind FROM pg_class WHERE oid = to_regclass(%s)", (_dotted(name),))
        return str(found[0][0]) if found else None

    def has(self, name: str) -> bool:
        """Whether there is a table or view of this name."""
        return self._kind(name) is not None

    def _read(self, name: str, query: str | None, drop: Sequence[str]) -> list[RawColumn]:
        source = _source(name, query)
        with self._connection.cursor() as cursor:
            cursor.execute(f"SELECT * FROM {source} LIMIT 0".encode())
            fields = [field for field in cursor.description if field.name not in drop]
            dropped = [field.name for field in cursor.description if field.name in drop]
        types = self._types({field.type_code for field in fields})
        columns = [_PostgreSQLColumn(field, *types[field.type_code]) for field in fields]
        for months in [column.name for column in columns if column.type == "interval"]:
            part = f"extract(year FROM {_quoted(months)}) <> 0 OR extract(month FROM {_quoted(months)}) <> 0"
            if self._rows(f"SELECT 1 FROM {source} WHERE {part} LIMIT 1"):
                raise _refuse_months(months)
        chosen = ", ".join(column.expression for column in columns) or "NULL"
        order = " ORDER BY ctid" if query is None and self._kind(name) == "r" else ""
        data = BytesIO()
        copying = f"COPY (SELECT {chosen} FROM {source}{order}) TO STDOUT (FORMAT csv)"
        with self._connection.cursor() as cursor, cursor.copy(copying.encode()) as copied:
            for part in copied:
                data.write(part)
        arrays = _from_csv(data.getvalue(), columns)
        raws = [RawColumn(c.name, c.finished(a), typed=True) for c, a in zip(columns, arrays, strict=True)]
        rows = len(arrays[0]) if arrays else 0
        return raws + [RawColumn(name, pa.nulls(rows, pa.string()), typed=True) for name in dropped]

    def _types(self, oids: set[int]) -> dict[int, tuple[str, str, list[str] | None]]:
        """Of each type its name, its name for people and, of an enum, its labels in order."""
        found = self._rows(
            "SELECT oid, typname, typtype, format_type(oid, NULL), "
            "ARRAY(SELECT enumlabel FROM pg_enum WHERE enumtypid = pg_type.oid ORDER BY enumsortorder) "
            "FROM pg_type WHERE oid = ANY(%s)",
            (list(oids),),
        )
        return {oid: (name, shown, labels if kind == "e" else None) for oid, name, kind, shown, labels in found}

    def _create(self, name: str, columns: dict[str, Any]) -> None:
        declared = ", ".join(f"{_quoted(one)} {_postgresql_type(a.type)}" for one, a in columns.items())
        self._rows(f"CREATE TABLE {_dotted(name)} ({declared})")
        names = ", ".join(map(_quoted, columns))
        copying = f"COPY {_dotted(name)} ({names}) FROM STDIN (FORMAT csv)"
        with self._connection.cursor() as cursor, cursor.copy(copying.encode()) as copied:
            for data in _as_csv(list(columns.values())):
                copied.write(data)


@dataclass(frozen=True)
class _PostgreSQLColumn:
    """How a column of PostgreSQL is read."""

    field: Any
    type: str
    shown: str
    labels: list[str] | None

    @property
    def name(self) -> str:
        return str(self.field.name)

    @property
    def expression(self) -> str:
        """What is selected, in a spelling that pyarrow reads."""
        own = _quoted(self.name)
        special = {
            "interval": f"(extract(epoch FROM {own}) * 1000000)::bigint",
            "money": f"{own}::numeric",
            "bpchar": f"rtrim({own}::text)",
        }
        return special.get(self.type, own)

    @property
    def arrow(self) -> Any:
        """The type as which the text is parsed."""
        if self.type == "interval":
            return pa.int64()
        if self.labels is not None or self.type in POSTGRESQL_TEXT:
            return pa.string()
        if self.type not in POSTGRESQL_TYPES:
            raise _refuse_type(self.name, self.shown)
        return POSTGRESQL_TYPES[self.type]

    def finished(self, array: Any) -> Any:
        """The column in its own type."""
        if self.type == "interval":
            return array.cast(pa.duration("us"))
        if self.type in ("numeric", "money"):
            return _decimals(array, self.field.precision, self.field.scale)
        if self.labels is not None:
            return _enumerated(array, self.labels)
        return array


def _decimals(texts: Any, precision: int | None, scale: int | None) -> Any:
    """Numbers as decimals of the declared type, or of as many places as they need; floats if those are too many."""
    texts = pc.if_else(pc.equal(texts, "NaN"), None, texts)
    places = pc.max(pc.binary_length(pc.replace_substring_regex(texts, r"^[^.]*\.?", ""))).as_py() or 0
    digits = precision if precision is not None and scale is not None and 0 <= scale <= precision else 38
    try:
        return texts.cast(pa.decimal128(min(digits, 38), scale if digits == precision else places))
    except (pa.ArrowInvalid, ValueError):
        return texts.cast(pa.float64())


def _enumerated(texts: Any, labels: Sequence[str]) -> Any:
    """An ordered category with the labels that occur."""
    occurring = set(texts.unique().to_pylist())
    used = pa.array([label for label in labels if label in occurring], pa.string())
    return pa.DictionaryArray.from_arrays(pc.index_in(texts, value_set=used), used, ordered=True)


def _from_csv(data: bytes, columns: Sequence[_PostgreSQLColumn]) -> list[Any]:
    import pyarrow.csv

    names = [str(place) for place in range(len(columns))]
    types = {place: column.arrow for place, column in zip(names, columns, strict=True)}
    if not data or not columns:
        return [pa.array([], one) for one in types.values()]
    try:
        table = pyarrow.csv.read_csv(
            pa.BufferReader(data),
            read_options=pyarrow.csv.ReadOptions(column_names=names, use_threads=len(data) > 2**20),
            parse_options=pyarrow.csv.ParseOptions(newlines_in_values=True, ignore_empty_lines=False),
            convert_options=pyarrow.csv.ConvertOptions(
                column_types=types,
                null_values=[""],
                strings_can_be_null=True,
                quoted_strings_can_be_null=False,
                true_values=["t"],
                false_values=["f"],
            ),
        )
    except pa.ArrowInvalid as error:
        place = re.search(r"column #(\d+)", str(error))
        name = columns[int(place[1])].name if place else ""
        raise TableError(
            f"Column {name!r} has values that cannot be read, such as infinite dates. "
            "Convert them in a query, or drop it."
        ) from None
    return [column.combine_chunks() for column in table.columns]


def _postgresql_type(kind: Any) -> str:
    for test, found in (
        (pa.types.is_boolean, "boolean"),
        (pa.types.is_date, "date"),
        (pa.types.is_time, "time"),
        (pa.types.is_duration, "interval"),
        (pa.types.is_float32, "real"),
        (pa.types.is_floating, "double precision"),
        (pa.types.is_uint64, "numeric(20)"),
    ):
        if test(kind):
            return found
    if pa.types.is_decimal(kind):
        return f"numeric({kind.precision}, {kind.scale})"
    if pa.types.is_timestamp(kind):
        return "timestamptz" if kind.tz else "timestamp"
    if pa.types.is_integer(kind):
        sizes = {8: "smallint", 16: "smallint" if pa.types.is_signed_integer(kind) else "integer", 32: "integer"}
        return "bigint" if pa.types.is_uint32(kind) else sizes.get(kind.bit_width, "bigint")
    return "text"


def _as_csv(arrays: Sequence[Any]) -> Iterator[bytes]:
    """The rows as CSV: text in quotes, so that an empty text is not missing."""
    import pyarrow.csv

    options = pyarrow.csv.WriteOptions(include_header=False, quoting_style="needed")
    for start in range(0, len(arrays[0]), BATCH_ROWS):
        texts = [_sql_text(array.slice(start, BATCH_ROWS)) for array in arrays]
        out = pa.BufferOutputStream()
        pyarrow.csv.write_csv(pa.table(texts, names=[str(place) for place in range(len(texts))]), out, options)
        yield out.getvalue().to_pybytes()


def _sql_text(array: Any) -> Any:
    """Values as a database reads them. Nothing is finer than a microsecond."""
    kind = array.type
    if pa.types.is_duration(kind):
        count = array.cast(pa.duration("us"), safe=False).cast(pa.int64()).cast(pa.string())
        return pc.binary_join_element_wise(count, " microseconds", "")
    if pa.types.is_timestamp(kind):
        array = array.cast(pa.timestamp("us" if kind.unit == "ns" else kind.unit, kind.tz and "UTC"), safe=False)
    if pa.types.is_time64(kind):
        array = array.cast(pa.time64("us"), safe=False)
    return plain_text(array).cast(pa.string())


# SQLite: values have types, columns have declarations.


class SQLite(Database):
    """A connection of the standard library."""

    def __init__(self, driver: Any, address: str, *, write: bool) -> None:
        address = f"file:{quote(address)}?mode={'rwc' if write else 'ro'}"
        self._connection = driver.connect(address, uri=True, isolation_level=None, timeout=CONNECT_SECONDS)
        if write:
            self._connection.execute("BEGIN IMMEDIATE")

    @property
    def tables(self) -> list[str]:
        """The names of tables and views."""
        found = self._rows(
            "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'"
        )
        return sorted(name for (name,) in found)

    def _read(self, name: str, query: str | None, drop: Sequence[str]) -> list[RawColumn]:
        connection = self._connection
        chosen = f"SELECT * FROM {_quoted(name)}" if query is None else query
        connection.execute(f"CREATE TEMP VIEW leafcover_query AS {chosen}")  # which also knows the declared types
        declared = {row[1]: row[2].upper() for row in connection.execute("PRAGMA temp.table_info(leafcover_query)")}
        connection.execute("DROP VIEW temp.leafcover_query")
        try:
            cursor = connection.execute(chosen + (" ORDER BY rowid" if query is None else ""))
        except sqlite3.OperationalError:  # a view, or a table without row numbers
            cursor = connection.execute(chosen)
        names = [field[0] for field in cursor.description]
        rows = cursor.fetchall()
        columns = list(zip(*rows, strict=True)) or [() for _ in names]
        return [
            _sqlite_column(one, declared.get(one, ""), values if one not in drop else (None,) * len(values))
            for one, values in zip(names, columns, strict=True)
        ]

    def _create(self, name: str, columns: dict[str, Any]) -> None:
        declared = ", ".join(f"{_quoted(one)} {_sqlite_type(array.type)}" for one, array in columns.items())
        self._connection.execute(f"CREATE TABLE {_quoted(name)} ({declared})")
        values = [_sqlite_values(array) for array in columns.values()]
        marks = ", ".join("?" for _ in values)
        self._connection.executemany(f"INSERT INTO {_quoted(name)} VALUES ({marks})", zip(*values, strict=True))


def _sqlite_column(name: str, declared: str, values: tuple[Any, ...]) -> RawColumn:
    kinds = {type(value) for value in values if value is not None}
    if bytes in kinds:
        raise _refuse_type(name, "blob")
    if str in kinds and len(kinds) > 1:  # SQLite does not keep to declarations
        return RawColumn(name, pa.array(["" if value is None else str(value) for value in values], pa.string()))
    if str in kinds or not kinds:
        return RawColumn(name, _sqlite_moments(declared, pa.array(values, pa.string())), typed=True)
    if "BOOL" in declared and {value for value in values if value is not None} <= {0, 1}:
        return RawColumn(name, pa.array([None if one is None else bool(one) for one in values]), typed=True)
    numbers = pa.array(values, pa.int64() if kinds == {int} else pa.float64())
    places = re.fullmatch(r"(?:DECIMAL|NUMERIC) *\((\d+) *, *(\d+)\)", declared)
    if places:
        texts = pa.array([None if one is None else repr(one) for one in values], pa.string())
        numbers = _decimals(texts, int(places[1]), int(places[2]))
    elif any(word in declared for word in ("REAL", "FLOA", "DOUB")):
        numbers = numbers.cast(pa.float64())
    return RawColumn(name, numbers, typed=True)


def _sqlite_moments(declared: str, texts: Any) -> Any:
    """Text as the dates, times or times of day that it is declared as, if all of it is."""
    kind = {"DATE": pa.date32(), "TIME": pa.time64("us")}.get(declared)
    if declared.startswith(("DATETIME", "TIMESTAMP")):
        zoned = pc.all(pc.ends_with(texts, "Z")).as_py() and texts.null_count < len(texts)
        kind = pa.timestamp("us", "UTC" if zoned else None)
    try:
        if declared == "TIME":
            return parse_times_of_day(texts, kind)
        return texts if kind is None else texts.cast(kind)
    except pa.ArrowInvalid:
        return texts


def _sqlite_type(kind: Any) -> str:
    for test, found in (
        (pa.types.is_boolean, "BOOLEAN"),
        (pa.types.is_date, "DATE"),
        (pa.types.is_time, "TIME"),
        (pa.types.is_timestamp, "TIMESTAMP"),
        (pa.types.is_floating, "REAL"),
        (pa.types.is_integer, "INTEGER"),
        (pa.types.is_duration, "NUMERIC"),
    ):
        if test(kind):
            return found
    return f"DECIMAL({kind.precision}, {kind.scale})" if pa.types.is_decimal(kind) else "TEXT"


def _sqlite_values(array: Any) -> list[Any]:
    kind = array.type
    if pa.types.is_duration(kind):  # SQLite has none: seconds
        seconds = duration_seconds(array)
        whole = bool((np.rint(seconds) == seconds)[~np.isnan(seconds)].all())
        array = pa.array(seconds, from_pandas=True)
        array = array.cast(pa.int64()) if whole else array
    elif pa.types.is_float32(kind):  # 0.1, not 0.10000000149011612
        array = array.cast(pa.string()).cast(pa.float64())
    elif not (pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind)):
        array = _sql_text(array)
    return array.to_pylist()


# DuckDB: Arrow in and out.


class DuckDB(Database):
    """A connection in this process."""

    def __init__(self, driver: Any, address: str, *, write: bool) -> None:
        self._connection = driver.connect(
            address, read_only=not write, config={"autoinstall_known_extensions": "false"}
        )
        self._rows("SET TimeZone = 'UTC'")
        if write:
            self._connection.begin()

    @property
    def tables(self) -> list[str]:
        """The names of tables and views."""
        found = self._rows(
            "SELECT CASE WHEN table_schema = current_schema() THEN '' ELSE table_schema || '.' END || table_name "
            "FROM information_schema.tables WHERE table_catalog = current_catalog() ORDER BY 1"
        )
        return [name for (name,) in found]

    def _read(self, name: str, query: str | None, drop: Sequence[str]) -> list[RawColumn]:
        source = _source(name, query)
        described = self._rows(f"DESCRIBE SELECT * FROM {source}")
        chosen = [_duckdb_expression(one, "NULL" if one in drop else kind) for one, kind, *_ in described]
        for one in [one for one, kind, *_ in described if kind == "INTERVAL" and one not in drop]:
            months = f"date_part('year', {_quoted(one)}) <> 0 OR date_part('month', {_quoted(one)}) <> 0"
            if self._rows(f"SELECT 1 FROM {source} WHERE {months} LIMIT 1"):
                raise _refuse_months(one)
        order = " ORDER BY rowid" if query is None and self._is_table(name) else ""
        statement = f"SELECT {', '.join(chosen)} FROM {source}{order}"
        table = self._connection.sql(statement).to_arrow_table()
        return [_duckdb_column(*one) for one in zip(described, table.columns, strict=True)]

    def _is_table(self, name: str) -> bool:
        schema, _, own = name.rpartition(".")
        found = self._rows(
            "SELECT table_type FROM information_schema.tables WHERE lower(table_name) = lower(?) "
            "AND lower(table_schema) = lower(coalesce(nullif(?, ''), current_schema()))",
            [own, schema],
        )
        return bool(found) and found[0][0] == "BASE TABLE"

    def _create(self, name: str, columns: dict[str, Any]) -> None:
        arrays = {one: plain_text(array) for one, array in columns.items()}
        chosen = ", ".join(_duckdb_output(one, array) for one, array in columns.items())
        self._connection.register("leafcover_output", pa.table(arrays))
        self._rows(f"CREATE TABLE {_dotted(name)} AS SELECT {chosen} FROM leafcover_output")
        self._connection.unregister("leafcover_output")


def _duckdb_expression(name: str, kind: str) -> str:
    own = _quoted(name)
    if kind == "NULL":  # dropped
        return f"NULL::VARCHAR AS {own}"
    if kind == "INTERVAL":
        return f"epoch_us({own}) AS {own}"
    if re.search(r"\[\d*\]$|^(STRUCT|MAP|UNION|BLOB|BIT|TIME WITH TIME ZONE|VARIANT|GEOMETRY)", kind):
        raise _refuse_type(name, kind.lower())
    return own


def _duckdb_output(name: str, array: Any) -> str:
    """What is selected for an output column: an ordered category is an enum of the levels that occur."""
    if not pa.types.is_dictionary(array.type) or not array.type.ordered or not len(array.dictionary):
        return _quoted(name)
    levels = ", ".join("'" + level.replace("'", "''") + "'" for level in array.dictionary.cast(pa.string()).to_pylist())
    return f"{_quoted(name)}::ENUM({levels}) AS {_quoted(name)}"


def _duckdb_column(described: tuple[Any, ...], column: Any) -> RawColumn:
    name, kind, *_ = described
    array = column.combine_chunks() if column.num_chunks != 1 else column.chunk(0)
    if kind == "INTERVAL" and pa.types.is_integer(array.type):
        array = array.cast(pa.duration("us"))
    elif pa.types.is_dictionary(array.type):
        array = _enumerated(plain_text(array), array.dictionary.to_pylist())
    return RawColumn(name, array, typed=True)
