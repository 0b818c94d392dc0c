"""What someone who takes a whole store can learn: not which token came with which answer."""

import random
import sqlite3
import stat
import struct
from contextlib import closing

import pytest

from leafcover.survey.client import Answer
from leafcover.survey.storage import Acceptance, open_store
from leafcover.survey.storage.sqlite import AT_LEAST
from tests.survey.surveys import habits

SURVEY = habits(tokens=True)
ANSWERS = [
    Answer(f"{place * 0x9E3779B97F4A7C15:032x}", ("1", "2", "0", f"{place % 60:02d}", "2")) for place in range(120)
]
NUMBERS = list(range(100, 100 + len(ANSWERS)))


def filled(address, answers, numbers):
    store = open_store(address, SURVEY)
    for answer, number in zip(answers, numbers, strict=True):
        store.add([(answer, number)])
    return store


@pytest.fixture
def mixed():
    """The same in another order."""
    return lambda things: random.Random(5).sample(things, len(things))


def test_a_file_is_the_same_byte_for_byte_whichever_token_came_with_which_answer(tmp_path, mixed):
    paths = [tmp_path / "one", tmp_path / "two"]
    stores = [filled(str(paths[0]), ANSWERS, NUMBERS), filled(str(paths[1]), ANSWERS, mixed(NUMBERS))]
    assert paths[0].read_bytes() == paths[1].read_bytes()
    for store in stores:
        store.close()
    assert paths[0].read_bytes() == paths[1].read_bytes()


def test_a_closed_file_is_the_same_in_whatever_order_answers_came(tmp_path, mixed):
    filled(str(tmp_path / "one"), ANSWERS, NUMBERS).close()
    filled(str(tmp_path / "two"), mixed(ANSWERS), NUMBERS).close()
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


def test_a_file_in_use_is_written_anew_in_the_order_of_ids_now_and_then(tmp_path, mixed):
    paths = [tmp_path / "one", tmp_path / "two"]
    assert len(ANSWERS) % AT_LEAST == 0
    with (
        closing(filled(str(paths[0]), ANSWERS, NUMBERS)) as one,
        closing(filled(str(paths[1]), mixed(ANSWERS), NUMBERS)) as two,
    ):
        assert paths[0].read_bytes() == paths[1].read_bytes()
        for store, last in ((one, ANSWERS[:9]), (two, ANSWERS[8::-1])):
            for answer in last:
                store.add([(Answer(answer.id[::-1], answer.reports), None)])
        assert paths[0].read_bytes() != paths[1].read_bytes()  # the last few still lie as they came


def test_a_file_that_was_left_by_a_kill_is_put_in_order_when_it_is_opened(tmp_path, mixed):
    paths = [tmp_path / "one", tmp_path / "two"]
    few = ANSWERS[: AT_LEAST - 1]
    left = [
        filled(str(path), answers, NUMBERS[: len(few)]) for path, answers in zip(paths, (few, mixed(few)), strict=True)
    ]
    assert paths[0].read_bytes() != paths[1].read_bytes()
    again = [open_store(str(path), SURVEY) for path in paths]
    assert paths[0].read_bytes() == paths[1].read_bytes()
    for store in (*left, *again):
        store.close()


def test_a_file_that_cannot_be_written_anew_still_takes_answers(tmp_path):
    with closing(open_store(str(tmp_path / "store"), SURVEY)) as store:
        tried = []
        store._connection.set_trace_callback(lambda said: tried.append(said) if said == "VACUUM" else None)
        store.add([(answer, None) for answer in ANSWERS[: AT_LEAST - 1]])
        assert not tried
        store._connection.set_authorizer(
            lambda action, *given: sqlite3.SQLITE_DENY if action == sqlite3.SQLITE_ATTACH else sqlite3.SQLITE_OK
        )
        for answer in ANSWERS[AT_LEAST - 1 :]:
            assert store.add([(answer, None)]) == [Acceptance.stored]
        assert len(tried) == len(ANSWERS) // AT_LEAST
        assert store._unsorted == store.count() == len(ANSWERS)
        store._connection.set_authorizer(None)


def test_nothing_is_left_beside_a_file(tmp_path):
    path = tmp_path / "store"
    with closing(open_store(str(path), SURVEY)) as store:
        for answer, number in zip(ANSWERS[:20], NUMBERS[:20], strict=True):
            store.add([(answer, number)])
            beside = {other.name: other.stat().st_size for other in tmp_path.iterdir() if other != path}
            assert beside == {"store-journal": 0}
    assert [other.name for other in tmp_path.iterdir() if other.stat().st_size] == ["store"]


def test_a_file_is_its_owners_alone(tmp_path):
    path = tmp_path / "store"
    with closing(open_store(str(path), SURVEY)) as store:
        store.add([(ANSWERS[0], 1)])
        for other in tmp_path.iterdir():
            assert stat.S_IMODE(other.stat().st_mode) == 0o600


def test_rows_of_a_database_are_the_same_whichever_token_came_with_which_answer(postgresql, mixed):
    import psycopg

    seen = []
    for numbers in (NUMBERS[:40], mixed(NUMBERS[:40])):
        address = postgresql.fresh()
        filled(address, ANSWERS[:40], numbers).close()
        with psycopg.connect(address) as connection:
            answers = connection.execute("SELECT ctid::text, * FROM leafcover_answers").fetchall()
            seen.append((answers, connection.execute("SELECT ctid::text, * FROM leafcover_spent").fetchall()))
    assert seen[0] == seen[1]


def test_no_earlier_state_of_the_spent_tokens_stays_in_a_database(postgresql, monkeypatch):
    """Two states differ by the token between them, and their xmin is that of an answer: one may be there, not two."""
    monkeypatch.setattr("leafcover.survey.storage.postgresql.OLD_STATES", 10)
    address = postgresql.fresh()
    store = open_store(address, SURVEY)
    seen = []
    for answer, number in zip(ANSWERS[:30], NUMBERS, strict=False):
        store.add([(answer, number)])
        seen.append(states(postgresql, address))
    assert max(seen) <= 11
    assert seen.count(1) == 3  # swept after the first, and whenever ten had been added to it
    store.close()
    assert states(postgresql, address) == 1


def test_what_a_killed_collector_left_is_swept_by_the_next(postgresql):
    address = postgresql.fresh()
    killed = filled(address, ANSWERS[:20], NUMBERS[:20])
    killed._connection.close()
    left = states(postgresql, address)
    assert left > 1
    with closing(open_store(address, SURVEY)) as store:
        assert store.count() == 20
    assert states(postgresql, address) == left  # a reader writes nothing
    with closing(open_store(address, SURVEY)) as store:
        store.add([(ANSWERS[20], 999)])
        assert states(postgresql, address) == 1


def test_somebody_who_reads_for_long_does_not_stop_the_collector(postgresql, monkeypatch):
    """A backup holds its lock on every table; sweeping gives up and answers are stored."""
    import psycopg

    monkeypatch.setattr("leafcover.survey.storage.postgresql.OLD_STATES", 1)
    address = postgresql.fresh()
    with closing(open_store(address, SURVEY)) as store:
        with psycopg.connect(address) as backup:
            backup.execute("SELECT * FROM leafcover_spent")
            store.add([(ANSWERS[0], 1)])
            assert store.count() == 1
        store.add([(ANSWERS[1], 2)])
    assert states(postgresql, address) == 1


def states(server, address):
    """How many states of the one row its file holds, by the page layout of PostgreSQL; what is free must be zeros."""
    import psycopg

    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute("CHECKPOINT")
        row = connection.execute("SELECT pg_relation_filepath('leafcover_spent')").fetchone()
    page = (server.data / row[0]).read_bytes()
    lower, upper = struct.unpack_from("<HH", page, 12)
    items = (lower - 24) // 4
    if items == 1 and len(page) == 8192:
        assert not any(page[lower:upper])
    return items
