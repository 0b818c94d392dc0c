"""A store that cannot be used says so in one line, without an answer, a token or a password."""

import sqlite3
import sys
from contextlib import closing

import pytest

from leafcover.survey.client import Answer
from leafcover.survey.results import read_answers
from leafcover.survey.storage import Acceptance, StoreFailed, checked_place, open_store
from tests.survey.surveys import habits

SURVEY = habits(tokens=True)
REPORTS = ("1", "2", "0", "33", "2")


def answer(number):
    return Answer(f"{number:032x}", REPORTS)


def said(address, **settings):
    with pytest.raises(StoreFailed) as failed:
        open_store(str(address), SURVEY, **settings)
    text = str(failed.value)
    assert "\n" not in text
    assert "password-of-mine" not in text
    assert failed.value.__cause__ is None
    assert failed.value.__suppress_context__ or failed.value.__context__ is None
    return text


def test_a_file_that_is_no_database(tmp_path):
    (tmp_path / "store").write_text("title = 'Habits'\n" * 100)
    assert "file is not a database" in said(tmp_path / "store")


def test_a_database_of_another_program(tmp_path):
    with closing(sqlite3.connect(tmp_path / "store")) as connection:
        connection.execute("CREATE TABLE answers (id)")
    assert "not a store of answers" in said(tmp_path / "store")


def test_a_file_of_another_version(tmp_path):
    open_store(str(tmp_path / "store"), SURVEY).close()
    with closing(sqlite3.connect(tmp_path / "store")) as connection:
        connection.execute("PRAGMA user_version = 9")
    assert "Got 9." in said(tmp_path / "store")


def test_a_folder_that_is_not_there(tmp_path):
    assert "cannot be written (No such file or directory)" in said(tmp_path / "none" / "store")
    assert "There is no store" in said(tmp_path / "store", create=False)


def test_reading_an_empty_file_writes_nothing_into_it(tmp_path):
    (tmp_path / "store").touch()
    assert "is empty, not a store" in said(tmp_path / "store", create=False)
    assert [(path.name, path.stat().st_size) for path in tmp_path.iterdir()] == [("store", 0)]


def test_a_file_that_keeps_a_log_elsewhere(tmp_path):
    open_store(str(tmp_path / "store"), SURVEY).close()
    with closing(sqlite3.connect(tmp_path / "store")) as other:
        other.execute("PRAGMA journal_mode = WAL")
        other.execute("SELECT * FROM answers").fetchall()
        text = said(tmp_path / "store")
    assert "cannot be used" in text or "keeps a log" in text


def test_a_full_disk_refuses_an_answer_and_the_store_goes_on(tmp_path):
    with closing(open_store(str(tmp_path / "store"), SURVEY)) as store:
        (pages,) = store._connection.execute("PRAGMA page_count").fetchone()
        store._connection.execute(f"PRAGMA max_page_count = {pages}")
        batch = [(answer(number), number) for number in range(200)]
        with pytest.raises(StoreFailed, match="disk is full") as failed:
            store.add(batch)
        assert all(sent.id not in str(failed.value) for sent, _ in batch)
        assert store.count() == 0
        store._connection.execute(f"PRAGMA max_page_count = {pages + 100}")
        assert store.add(batch) == [Acceptance.stored] * 200  # none of their tokens was spent


def test_a_file_in_use_for_long_is_an_error_and_no_wrong_verdict(tmp_path, monkeypatch):
    monkeypatch.setattr("leafcover.survey.storage.sqlite.PATIENCE", 0.05)
    with closing(open_store(str(tmp_path / "store"), SURVEY)) as store:
        with closing(sqlite3.connect(tmp_path / "store", isolation_level=None)) as other:
            other.execute("BEGIN EXCLUSIVE")
            with pytest.raises(StoreFailed, match="locked"):
                store.add([(answer(1), 1)])
            other.execute("ROLLBACK")
        assert store.add([(answer(1), 1)]) == [Acceptance.stored]


@pytest.mark.parametrize(
    "address",
    [
        "postgresql://me:password-of-mine@127.0.0.1:1/none",
        "postgresql://me:password-of-mine@127.0.0.1:password-of-mine/none",
        "postgresql://me:password-of-mine@/none?host=/nowhere/password-of-mine",
        "postgres://me:password-of-mine@127.0.0.1/none?nothing=password-of-mine",
        "postgresql://me:password-of-mine%zz@127.0.0.1/none",
    ],
)
def test_an_address_that_leads_nowhere(address, caplog):
    pytest.importorskip("psycopg")
    said(address)
    assert "password-of-mine" not in caplog.text


MISTYPED = [
    "postgress://me:password-of-mine@localhost/db",
    "postgresql+psycopg://me:password-of-mine@localhost/db",
    "postgresql:/me:password-of-mine@localhost/db",
    "'postgresql:/me:password-of-mine@localhost/db.csv'",
    "mysql://me:password-of-mine@localhost/db.parquet",
    "me:password-of-mine@localhost/db",
    "host=localhost password=password-of-mine dbname=x",
    "host=localhost PASSWORD = password-of-mine dbname=x.csv",
]


@pytest.mark.parametrize("address", MISTYPED)
def test_a_mistyped_address_is_taken_for_no_file_and_not_repeated(address, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for create in (True, False):
        assert "Write postgresql://USER@HOST:PORT/DATABASE" in said(address, create=create)
    with pytest.raises(StoreFailed) as failed:
        read_answers(SURVEY, address)
    assert "password-of-mine" not in str(failed.value)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "path",
    ["habits.sqlite", "C:/surveys/habits.sqlite", r"C:\me@work\habits.sqlite", "/home/me@work/a:b", "../x-y/passwords"],
)
def test_a_file_is_no_address(path):
    assert checked_place(path) == path


def test_an_address_may_be_written_in_capitals(postgresql):
    address = postgresql.fresh()
    open_store("PostgreSQL" + address.removeprefix("postgresql"), SURVEY).close()
    open_store(address, SURVEY, create=False).close()


def test_tables_of_another_program_and_of_another_version(postgresql):
    import psycopg

    address = postgresql.fresh()
    with psycopg.connect(address) as connection:
        connection.execute("CREATE TABLE leafcover_answers (id text)")
    assert "refused an operation of the store (DuplicateTable)" in said(address)
    with psycopg.connect(address) as connection:
        connection.execute("CREATE TABLE leafcover_store (version integer)")
        connection.execute("INSERT INTO leafcover_store VALUES (9)")
    assert "Got 9." in said(address)


def test_a_user_who_may_not_write(postgresql):
    import psycopg

    address = postgresql.fresh()
    open_store(address, SURVEY).close()
    with psycopg.connect(address) as connection:
        connection.execute("DROP ROLE IF EXISTS guest")
        connection.execute("CREATE ROLE guest LOGIN")
        (schema,) = connection.execute("SELECT current_schema()").fetchone()
        connection.execute(
            f"GRANT USAGE ON SCHEMA {schema} TO guest; GRANT SELECT ON ALL TABLES IN SCHEMA {schema} TO guest"
        )
    with closing(open_store(address.replace("tests@", "guest@"), SURVEY)) as store:
        assert store.count() == 0  # reading is allowed, and opening writes nothing
        with pytest.raises(StoreFailed, match="InsufficientPrivilege"):
            store.add([(answer(1), 1)])


def test_a_lost_connection_is_made_again(postgresql):
    import psycopg

    address = postgresql.fresh()
    with closing(open_store(address, SURVEY)) as store, psycopg.connect(address, autocommit=True) as other:
        assert store.add([(answer(1), 1)]) == [Acceptance.stored]
        theirs = "FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND datname = 'postgres'"
        other.execute(f"SELECT pg_terminate_backend(pid) {theirs}")
        assert store.add([(answer(1), 1), (answer(2), 2)]) == [Acceptance.repeated, Acceptance.stored]
        assert store.count() == 2


def test_a_transaction_whose_end_is_unknown_is_acknowledged_once_it_is_found(postgresql, monkeypatch):
    """The server committed, and the connection broke before it could say so."""
    import psycopg

    with closing(open_store(postgresql.fresh(), SURVEY)) as store:
        through = store._added
        broken = []

        def breaks_after(connection, answers):
            result = through(connection, answers)
            if not broken:
                broken.append(connection)
                connection.close()
                raise psycopg.OperationalError("the connection is closed")
            return result

        monkeypatch.setattr(store, "_added", breaks_after)
        assert store.add([(answer(1), 1)]) == [Acceptance.repeated]
        assert store.count() == 1


def test_a_server_that_acknowledges_before_it_writes_is_told_to_wait(postgresql):
    address = postgresql.fresh()
    with closing(open_store(address + "%20-csynchronous_commit%3Doff", SURVEY)) as store:
        assert store._rows("SHOW synchronous_commit", ()) == [("on",)]
    with closing(open_store(address + "%20-csynchronous_commit%3Dremote_apply", SURVEY)) as store:
        assert store._rows("SHOW synchronous_commit", ()) == [("remote_apply",)]


def test_without_its_driver_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "psycopg", None)
    assert "pip install 'leafcover[postgresql]'" in said("postgresql:///none")
