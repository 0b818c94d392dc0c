"""A store as another program sees it."""

import sqlite3
from contextlib import closing


def kind_of(address):
    return "postgresql" if address.startswith("postgresql://") else "sqlite"


def rows(address, table):
    """All rows of a table, as another program reads them."""
    if kind_of(address) == "sqlite":
        with closing(sqlite3.connect(address)) as connection:
            return connection.execute(f"SELECT * FROM {table}").fetchall()
    import psycopg

    with psycopg.connect(address) as connection:
        return connection.execute(f"SELECT * FROM leafcover_{table}".encode()).fetchall()


def columns(address):
    if kind_of(address) == "sqlite":
        with closing(sqlite3.connect(address)) as connection:
            tables = [name for (name,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")]
            return {name: [row[1] for row in connection.execute(f"PRAGMA table_info({name})")] for name in tables}
    import psycopg

    asked = """SELECT table_name, column_name FROM information_schema.columns
               WHERE table_schema = current_schema() AND table_name <> 'leafcover_store'
               ORDER BY table_name, ordinal_position"""
    found: dict[str, list[str]] = {}
    with psycopg.connect(address) as connection:
        for table, column in connection.execute(asked).fetchall():
            found.setdefault(table.removeprefix("leafcover_"), []).append(column)
    return found


def block(address):
    """The bits of spent tokens."""
    ((_, bits),) = rows(address, "spent")
    return bytes(bits)
