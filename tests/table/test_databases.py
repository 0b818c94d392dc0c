"""PostgreSQL, SQLite and DuckDB: real ones. A query changes nothing, a table appears whole, a password nowhere."""

import datetime as dt
import re
import sqlite3
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest

from leafcover.errors import LeafcoverError, OutputError, TableError
from leafcover.table.database_drivers import Database
from leafcover.table.frames import from_frame
from leafcover.table.io import DatabaseTable, place_of, read, write
from leafcover.table.sql import table_digest, written_table

PEOPLE = pa.table({"name": ["ann", "bob", None], "age": [31, None, 4]})
SECRET = "hunter2-PLANTED"


@pytest.fixture(params=["sqlite", "duckdb", "postgresql"])
def database(request, tmp_path):
    """The address of an empty database."""
    if request.param == "postgresql":
        return request.getfixturevalue("postgresql").fresh()
    if request.param == "duckdb":
        pytest.importorskip("duckdb", reason="needs the package duckdb: make test installs it")
    return f"{request.param}:///{tmp_path / 'db'}"


@pytest.fixture
def people(database):
    """The same with a table."""
    write(PEOPLE, f"{database}#people")
    return database


def run(database, *statements):
    """Execute statements with the database's own driver."""
    place = place_of(database)
    if place.scheme == "sqlite":
        connection = sqlite3.connect(place.path, isolation_level=None)
    elif place.scheme == "duckdb":
        import duckdb

        connection = duckdb.connect(place.path)
    else:
        import psycopg

        connection = psycopg.connect(place.address, autocommit=True)
    for statement in statements:
        connection.execute(statement)
    connection.close()


def refused(term, source, kind=TableError, **how):
    with pytest.raises(kind) as caught:
        read(source, **how)
    assert "\n" not in str(caught.value)
    assert re.search(term, str(caught.value)), caught.value


# Reading.


def test_a_table_is_read_by_its_name_or_alone(people):
    table = read(f"{people}#people")
    assert table.equals(from_frame(PEOPLE))
    assert read(people).equals(table)
    assert table.reading.name == read(people).reading.name == "people"
    refused(r"'.*#peple' does not exist. It has 'people'", f"{people}#peple")
    run(people, "CREATE VIEW old AS SELECT * FROM people WHERE age > 9")
    refused("'old', 'people'", people)


def test_a_query_is_read(people):
    query = "SELECT name, age AS years FROM people WHERE age > 9 UNION ALL SELECT 'cid', 50 -- both\n;"
    table = read(people, query=query)
    assert [table.names, table["years"].values.tolist(), table.reading.name] == [("name", "years"), [31, 50], "query"]
    refused("names a table, and a query", f"{people}#people", query=query)
    refused("cannot be read: .*nothing", people, query="SELECT * FROM nothing")


@pytest.mark.parametrize(
    "query",
    [
        "DROP TABLE people",
        "DELETE FROM people RETURNING *",
        "SELECT 1; DROP TABLE people",
        "SELECT 1) x; DROP TABLE people --",
    ],
)
def test_a_query_changes_nothing(query, people):
    before = table_digest(place_of(f"{people}#people"))
    refused("cannot be read", people, query=query)
    assert table_digest(place_of(f"{people}#people")) == before


def test_columns_can_be_dropped_and_missing_values_named(people):
    assert read(f"{people}#people", drop=["age"]).names == ("name",)
    assert read(f"{people}#people", missing={"age": 4})["age"].missing.tolist() == [False, True, True]


def test_a_file_takes_no_query_and_a_missing_database_is_an_error(tmp_path):
    (tmp_path / "in.csv").write_text("a\n1\n2\n")
    refused("query .* a file", tmp_path / "in.csv", query="SELECT 1")
    for name in ("none.sqlite", "none.duckdb", "sqlite:///none"):
        refused("no file", tmp_path / name if "/" not in name else name)
    assert list(tmp_path.iterdir()) == [tmp_path / "in.csv"]
    (tmp_path / "text.sqlite").write_text("no database" * 100)
    refused("cannot be read", tmp_path / "text.sqlite")


def test_rows_keep_the_order_in_which_they_were_written(database):
    order = np.random.default_rng(3).permutation(20_000)
    write(pa.table({"row": order, "text": order.astype(str)}), f"{database}#long")
    np.testing.assert_array_equal(read(f"{database}#long")["row"].values, order)


def test_odd_names_and_texts_survive(database):
    content = {'odd "name"': ["", "a,b", 'say "x"\nand\r\nmore', None], "Größe %s": ["=1+1", "\\N", "t", "NULL"]}
    write(pa.table(content), f"{database}#Odd table")
    again = read(f"{database}#Odd table")
    for name, texts in content.items():
        assert again[name].stored.to_pylist() == texts


# Types.


def test_types_of_postgresql(postgresql):
    database = postgresql.fresh()
    run(database, "CREATE TYPE mood AS ENUM ('low', 'unused', 'mid', 'high')", "CREATE DOMAIN years AS int")
    columns = {
        "mood": ("'high'::mood", "'low'::mood"),
        "id": ("'9f0c1fae-2bd1-4b8a-9c4e-1f0a8a1b0c11'::uuid", "NULL"),
        "doc": ("'{\"a\": 1}'::json", "NULL"),
        "exact": ("1.10::numeric(9,2)", "NULL::numeric(9,2)"),
        "free": ("1.123::numeric", "12345678901234567890.5"),
        "padded": ("'ab'::char(5)", "NULL"),
        "years": ("4::years", "5"),
        "spent": ("interval '1 day 02:00:00.5'", "NULL"),
        "small": ("1::smallint", "NULL"),
        "address": ("inet '10.0.0.1'", "NULL"),
        "pay": ("12.5::numeric::money", "NULL"),
        "zoned": ("timestamptz '2020-01-01 02:00:00+02'", "NULL"),
    }
    first, second = (", ".join(f"{both[row]} AS {name}" for name, both in columns.items()) for row in (0, 1))
    table = read(database, query=f"SELECT {first} UNION ALL SELECT {second}")
    stored = {column.name: column.stored for column in table}
    assert stored["mood"].type.ordered
    assert stored["mood"].dictionary.to_pylist() == ["low", "high"]
    assert [table[name].levels[0] for name in ("doc", "padded", "address")] == ['{"a": 1}', "ab", "10.0.0.1"]
    assert table["id"].levels == ("9f0c1fae-2bd1-4b8a-9c4e-1f0a8a1b0c11",)
    assert stored["exact"].type == pa.decimal128(9, 2)
    assert stored["free"].to_pylist() == [Decimal("1.123"), Decimal("12345678901234567890.500")]
    assert stored["spent"][0].as_py() == dt.timedelta(days=1, hours=2, milliseconds=500)
    assert [stored["small"].type, stored["years"].type] == [pa.int16(), pa.int32()]
    assert stored["pay"][0].as_py() == Decimal("12.50")
    assert stored["zoned"][0].as_py() == dt.datetime(2020, 1, 1, tzinfo=dt.UTC)


@pytest.mark.parametrize(
    ("value", "term"),
    [
        ("array[1, 2]", r"integer\[\]"),
        ("row(1, 2)", "record"),
        ("'x'::bytea", "bytea"),
        ("int4range(1, 2)", "int4range"),
        ("interval '1 month'", "months or years"),
        ("date 'infinity'", "infinite dates"),
        ("'inf'::float8", "infinite number"),
    ],
)
def test_what_postgresql_has_beyond_single_values_is_refused(value, term, postgresql):
    query = f"SELECT 1 AS n, {value} AS odd UNION ALL SELECT 2, {value}"
    refused(f"'odd' .*{term}", postgresql.address(), query=query)
    assert read(postgresql.address(), query=query, drop=["odd"]).names == ("n",)


def test_types_of_duckdb(tmp_path):
    pytest.importorskip("duckdb", reason="needs the package duckdb: make test installs it")
    database = f"duckdb:///{tmp_path / 'db'}"
    run(
        database, "CREATE TABLE t (mood ENUM('low', 'unused', 'high'), id UUID, doc JSON, huge HUGEINT, spent INTERVAL)"
    )
    run(database, "INSERT INTO t VALUES ('high', uuid(), '{}', 5, '1 day 2 hours'), ('low', NULL, NULL, NULL, NULL)")
    stored = {column.name: column.stored for column in read(f"{database}#t")}
    assert [stored["mood"].type.ordered, stored["mood"].dictionary.to_pylist()] == [True, ["low", "high"]]
    assert len(stored["id"][0].as_py()) == 36
    assert stored["spent"][0].as_py() == dt.timedelta(days=1, hours=2)
    for value, term in (("[1, 2]", r"integer\[\]"), ("{'a': 1}", "struct"), ("INTERVAL 1 YEAR", "months or years")):
        refused(f"'odd' .*{term}", database, query=f"SELECT {value} AS odd, 1 AS n UNION ALL SELECT {value}, 2")


def test_types_of_sqlite(tmp_path):
    database = f"sqlite:///{tmp_path / 'db'}"
    declared = "flag BOOLEAN, day DATE, at TIMESTAMP, pay DECIMAL(9, 2), mixed, other DATE, real REAL"
    rows = "(1, '2020-01-05', '2020-01-05 10:00:00', 1.1, 1, 'unknown', 2), (0, NULL, NULL, 2, 'NA', 'never', 3)"
    run(database, f"CREATE TABLE t ({declared})", f"INSERT INTO t VALUES {rows}")
    table = read(f"{database}#t")
    types = {column.name: str(column.stored.type) for column in table if column.name != "mixed"}
    assert types == {
        "flag": "bool",
        "day": "date32[day]",
        "at": "timestamp[us]",
        "pay": "decimal128(9, 2)",
        "other": "string",
        "real": "double",
    }
    assert table["mixed"].kind == "number"
    refused("'b' .* blob", database, query="SELECT x'00' AS b, 1 AS n UNION ALL SELECT x'00', 2")


# Writing.


def test_an_existing_table_is_replaced_only_with_force(people):
    other = pa.table({"name": ["x", "y"]})
    with pytest.raises(OutputError, match="already exists"):
        write(other, f"{people}#people")
    assert read(f"{people}#people").equals(from_frame(PEOPLE))
    write(other, f"{people}#people", force=True)
    assert read(f"{people}#people").names == ("name",)
    with pytest.raises(OutputError, match="names no table"):
        write(other, people)


def test_a_table_appears_when_everything_else_is_done(people):
    before = table_digest(place_of(f"{people}#people"))
    table = from_frame(pa.table({"name": ["x", "y"]}))
    with pytest.raises(ZeroDivisionError), written_table(table, place_of(f"{people}#people"), force=True):
        raise ZeroDivisionError
    assert table_digest(place_of(f"{people}#people")) == before
    with written_table(table, place_of(f"{people}#people"), force=True) as digest:
        assert len(digest) == 64
    assert table_digest(place_of(f"{people}#people")) == digest != before


def test_a_new_database_is_gone_if_its_table_cannot_be_written(tmp_path, monkeypatch):
    def fail(*given):
        raise ZeroDivisionError

    monkeypatch.setattr(Database, "create", fail)
    for name in ("new.sqlite", "new.duckdb"):
        with pytest.raises(ZeroDivisionError):
            write(PEOPLE, f"{tmp_path / name}#people")
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_does_not_exist_is_an_error(tmp_path):
    with pytest.raises(OutputError, match="no directory"):
        write(PEOPLE, f"{tmp_path / 'none' / 'new.sqlite'}#people")


def test_a_category_of_numbers_stays_a_category(database):
    codes = pa.DictionaryArray.from_arrays(pa.array([1, 0, 1]), pa.array([7, 10]))
    table = from_frame(pa.table({"code": codes, "nothing": pa.nulls(3)}))
    write(table, f"{database}#codes")
    assert read(f"{database}#codes").equals(table)


def test_a_schema_can_be_named(postgresql):
    database = postgresql.fresh()
    run(database, "CREATE SCHEMA IF NOT EXISTS open_data")
    write(PEOPLE, f"{database}#open_data.people", force=True)
    assert read(f"{database}#open_data.people").equals(from_frame(PEOPLE))


# Addresses and passwords.


@pytest.mark.parametrize(
    ("given", "shown", "companion"),
    [
        ("postgresql://me:secret@host:5432/db#a.b", "postgresql://me@host:5432/db#a.b", "a.b"),
        ("postgres:///db?service=x&password=secret#t", "postgresql:///db?service=x#t", "t"),
        ("sqlite:////abs/x.db#t", "sqlite:////abs/x.db#t", "/abs/x.db.t"),
        ("duckdb:///x.duckdb#odd name", "duckdb:///x.duckdb#odd name", "x.duckdb.odd_name"),
        ("dir/x.sqlite3#t", "sqlite:///dir/x.sqlite3#t", "dir/x.sqlite3.t"),
    ],
)
def test_an_address_names_a_database_and_a_table(given, shown, companion):
    place = place_of(given)
    assert [str(place), str(place.companion)] == [shown, companion]
    assert "secret" not in f"{place!r} {place}"


@pytest.mark.parametrize("name", ["people.csv", "a#b.csv", "x.parquet", "#people", "a.db.csv"])
def test_other_names_are_files(name):
    assert not isinstance(place_of(name), DatabaseTable)


def test_a_duckdb_file_may_have_another_suffix(tmp_path):
    pytest.importorskip("duckdb", reason="needs the package duckdb: make test installs it")
    write(PEOPLE, f"duckdb:///{tmp_path / 'people.db'}#people")
    assert place_of(tmp_path / "people.db").scheme == "duckdb"
    assert read(str(tmp_path / "people.db")).equals(from_frame(PEOPLE))


@pytest.mark.parametrize(
    "address",
    [
        f"postgresql://me:{SECRET}@127.0.0.1:1/db#people",
        f"postgresql://me:{SECRET}@[bad/db#people",
        f"postgresql://me:{SECRET}#x@127.0.0.1:1/db#people",
        f"postgresql://me:{SECRET}/@127.0.0.1:1/db#people",
        f"postgresql://me@127.0.0.1:1/db?password={SECRET}#people",
        f"postgresql://me@127.0.0.1:1/db?sslmode={SECRET}&password={SECRET}#people",
        f"postgresql://me:{SECRET}@127.0.0.1:{SECRET}/db#people",
    ],
)
def test_an_error_never_shows_a_password(address):
    pytest.importorskip("psycopg", reason="needs the package psycopg: make test installs it")
    for act in (lambda: read(address), lambda: write(PEOPLE, address)):
        with pytest.raises(LeafcoverError) as caught:
            act()
        # Where a part other than the password repeats it, only that part's own error may show it.
        assert "PLANTED" not in str(caught.value).replace(f"sslmode={SECRET}", "").replace(f":{SECRET}/db", "")
        assert caught.value.__suppress_context__ or caught.value.__context__ is None


def test_libpq_finds_a_service_and_the_password_of_the_environment(postgresql, tmp_path, monkeypatch):
    database = postgresql.fresh()
    write(PEOPLE, f"{database}#people")
    schema = database.rpartition("%3D")[2]
    service = f"[census]\nhost={postgresql.folder}\nuser=tests\ndbname=postgres\noptions=-csearch_path={schema}\n"
    (tmp_path / "pg_service.conf").write_text(service)
    monkeypatch.setenv("PGSERVICEFILE", str(tmp_path / "pg_service.conf"))
    monkeypatch.setenv("PGPASSWORD", SECRET)
    assert read("postgresql:///?service=census#people").equals(from_frame(PEOPLE))


@pytest.mark.parametrize(("scheme", "package"), [("duckdb", "duckdb"), ("postgresql", "psycopg")])
def test_without_a_driver_the_extra_is_named(scheme, package, tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, package, None)
    (tmp_path / "db").write_bytes(b"")
    with pytest.raises(LeafcoverError, match=r"pip install 'leafcover\[sql\]'"):
        read(f"{scheme}:///{tmp_path / 'db'}#t")
