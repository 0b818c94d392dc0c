"""Tables of databases: PostgreSQL, SQLite and DuckDB.

    table = read("postgresql://steward@host/health#people")
    table = read("people.duckdb", query="select * from people where year = 2024")
    write(table, "sqlite:///out.db#released")

An address names a database and, after ``#``, a table. A query is read in a transaction that can change nothing. A table
is written in one transaction, so that it appears complete or not at all. Passwords are left to the driver (for
PostgreSQL PGPASSWORD, ~/.pgpass or a service file); one in an address is shown nowhere.
"""

import os
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from hashlib import sha256
from importlib import import_module
from typing import Any
from urllib.parse import unquote

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from leafcover.errors import LeafcoverError, OutputError, TableError, install
from leafcover.table.database_drivers import Database, DuckDB, PostgreSQL, SQLite
from leafcover.table.formatting import plain_text
from leafcover.table.io import POSTGRESQL, SECRET, DatabaseTable, Scheme
from leafcover.table.output import as_typed
from leafcover.table.table import RawColumn, Source, Table

PROGRAMS = {"postgresql": "PostgreSQL", "sqlite": "SQLite", "duckdb": "DuckDB"}
LISTED = 20  # tables that an error names
CONNECTIONS: dict[Scheme, Any] = {"postgresql": PostgreSQL, "sqlite": SQLite, "duckdb": DuckDB}


# Reading and writing.


def read_database(
    place: DatabaseTable, *, query: str | None = None, drop: Sequence[str] = ()
) -> tuple[list[RawColumn], Source]:
    """The columns of a table or of a query."""
    if query is not None and place.name:
        raise TableError(f"'{place}' names a table, and a query was given too. Leave out one of them.")
    with _opened(place, write=False) as database:
        if query is None and not place.name:
            place = _only_table(place, database.tables)
        if query is None and not database.has(place.name):
            known = database.tables
            raise TableError(f"'{place}' does not exist. {_listed(known)}")
        plain = None if query is None else query.strip().rstrip(";").strip()
        return database.read(place.name, plain, drop), Source("database", relation=place.name)


def _only_table(place: DatabaseTable, tables: list[str]) -> DatabaseTable:
    if len(tables) == 1:
        return place.named(tables[0])
    advice = f"Add one to the address, as in #{tables[0]}, or give query=..." if tables else "Check the address"
    raise TableError(f"'{place}' names no table. {_listed(tables)} {advice}.")


def _listed(tables: list[str]) -> str:
    more = ", …" if len(tables) > LISTED else ""
    return f"It has {', '.join(map(repr, tables[:LISTED]))}{more}." if tables else "It has no tables."


def check_database_output(place: DatabaseTable, *, force: bool) -> None:
    """Refuse an output table that has no name, exists, or cannot be reached, before the work is done."""
    if not place.name:
        raise OutputError(f"Output '{place}' names no table. Add a name: '{place}#released'.")
    if place.path is not None and not place.path.exists():
        if not place.path.parent.is_dir():
            raise OutputError(f"Output '{place}' cannot be written: there is no directory '{place.path.parent}'.")
        return
    with _opened(place, write=False, error=OutputError) as database:
        _check_absent(place, database, force=force)


def check_database_columns(place: DatabaseTable, table: Table) -> None:
    """Refuse numbers that a database cannot hold."""
    for column in table if place.scheme == "sqlite" else ():
        large = column.kind == "number" and bool((column.values[~column.missing] >= 2.0**63).any())
        if large and column.stored is not None and pa.types.is_uint64(column.stored.type):
            raise OutputError(
                f"Column {column.name!r} has numbers of 64 bits without a sign, which SQLite cannot hold. Drop it."
            )


def _check_absent(place: DatabaseTable, database: Database, *, force: bool) -> None:
    if not force and database.has(place.name):
        raise OutputError(f"Output '{place}' already exists. Give another name, or overwrite it with force=True.")


@contextmanager
def written_table(table: Table, place: DatabaseTable, *, force: bool = False) -> Iterator[str]:
    """Write a table and yield its digest; it becomes visible when the block succeeds."""
    check_database_output(place, force=force)
    check_database_columns(place, table)
    own_type = isinstance(table.source, Source) and table.source.is_typed
    columns = {column.name: _with_text(as_typed(column, own_type=own_type)) for column in table}
    new = place.path is not None and not place.path.exists()
    try:
        with _opened(place, write=True, error=OutputError) as database:
            _check_absent(place, database, force=force)
            database.create(place.name, columns)
            yield _digest(database.read(place.name))
            database.commit()
            new = False
    finally:
        if new and place.path is not None:
            for path in (place.path, place.path.with_name(place.path.name + ".wal")):
                path.unlink(missing_ok=True)


def _with_text(array: Any) -> Any:
    """A category of numbers as a category of texts, so that it is not read as numbers."""
    if not pa.types.is_dictionary(array.type) or pa.types.is_string(array.type.value_type):
        return array
    levels = array.dictionary.cast(pa.string())
    return pa.DictionaryArray.from_arrays(array.indices, levels, ordered=array.type.ordered)


def table_digest(place: DatabaseTable) -> str:
    """The SHA-256 of a table's names and values, in order."""
    return _digest(read_database(place)[0])


def _digest(raws: Sequence[RawColumn]) -> str:
    found = sha256()
    for raw in raws:
        stored = pa.chunked_array([raw.stored]).combine_chunks() if not isinstance(raw.stored, pa.Array) else raw.stored
        stored = stored.cast(pa.int64()) if pa.types.is_duration(stored.type) else plain_text(stored)
        texts = stored.cast(pa.large_string())
        lengths = pc.binary_length(texts).fill_null(-1)
        found.update(f"{raw.name}\0{len(texts)}\0".encode())
        found.update(np.asarray(lengths, np.int64).tobytes())
        found.update("".join(text or "" for text in texts.to_pylist()).encode("utf-8", "surrogatepass"))
    return found.hexdigest()


@contextmanager
def _opened(place: DatabaseTable, *, write: bool, error: type[LeafcoverError] = TableError) -> Iterator[Database]:
    """A connection that is closed at the end. An error of the driver becomes one line without the password."""
    kind = CONNECTIONS[place.scheme]
    if not place.address:
        raise error(
            f"The address of the {PROGRAMS[place.scheme]} database is not valid. Write it as "
            "postgresql://user@host/database#table, and special characters as %-codes, such as %23 for #."
        )
    if place.path is not None and not write and not place.path.is_file():
        raise TableError(f"There is no file '{place.path}'. Check its name and directory.")
    driver = _driver(place.scheme)
    try:
        with closing(kind(driver, place.address, write=write)) as database:
            yield database
    except driver.Error as problem:
        verb = "written" if issubclass(error, OutputError) else "read"
        raise error(f"'{place}' cannot be {verb}: {_reason(problem, place)}.") from None


def _driver(scheme: Scheme) -> Any:
    if scheme == "sqlite":
        return sqlite3
    try:
        return import_module("psycopg" if scheme == "postgresql" else "duckdb")
    except ImportError as error:
        raise TableError(f"{PROGRAMS[scheme]} needs the package {error.name}. {install('sql')}") from None


def _reason(problem: Exception, place: DatabaseTable) -> str:
    """The first line of what a driver says, unless it holds a password."""
    primary = getattr(getattr(problem, "diag", None), "message_primary", None) or str(problem)
    reason = next((line.strip() for line in primary.splitlines() if line.strip()), type(problem).__name__).rstrip(".")
    return "its address is not valid" if any(secret in reason for secret in _secrets(place)) else reason


def _secrets(place: DatabaseTable) -> set[str]:
    """Every spelling of the passwords that a connection may use."""
    found = {os.environ.get("PGPASSWORD", "")}
    if place.path is None and (parts := POSTGRESQL.fullmatch(place.address)):
        given = (one.partition("=")[2] for one in (parts["query"] or "").split("&") if SECRET.match(one))
        found |= {parts["password"] or "", *given}
    return {text for one in found for text in (one, unquote(one)) if text}
