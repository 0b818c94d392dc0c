"""Answers in a PostgreSQL database; several collectors may write to it at once.

What its tables show tells no token from another: spent ones are one block of bits in one row, rewritten whole. Two
states of the block would differ by the token that came between them, and a row's ``xmin`` would match it with an
answer. So the table of spent tokens is written anew now and then, which leaves no earlier state in it.

Beyond our reach are the server's own log of changes and its backups, which keep both for a while; the order in which
answers came (``ctid``, ``xmin``); and what its operator may switch on (``track_commit_timestamp``, ``log_statement``).
Who must not be trusted with that must not run the server.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from datetime import date
from threading import Lock
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from leafcover.survey.client import Answer
from leafcover.survey.schema import Survey
from leafcover.survey.storage.base import Acceptance, StoreFailed, as_reports, judged, with_spent

if TYPE_CHECKING:
    import psycopg

    Connection: TypeAlias = psycopg.Connection[tuple[Any, ...]]

Result = TypeVar("Result")

VERSION = 1
PAGE = 10_000  # answers read at once
OLD_STATES = 256  # of the block, after which they are swept away
DOOR = 0x4C656166  # the advisory lock under which tables are made

SETTINGS = """
    SET lock_timeout = '20s';
    SET idle_in_transaction_session_timeout = '30s';  -- a collector that is cut off must not lock others out
    SET default_transaction_isolation = 'read committed'
"""
AT_LEAST_ON = """
    SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off'
"""
# From the catalogue itself: to_regclass may remember from before the lock that there was no table.
THERE = "SELECT EXISTS (SELECT FROM pg_class WHERE relname = 'leafcover_store' AND pg_table_is_visible(oid))"
TABLES = f"""
    CREATE TABLE leafcover_store (version integer NOT NULL);
    CREATE TABLE leafcover_answers (survey text NOT NULL, id text COLLATE "C" NOT NULL, day date, reports text NOT NULL,
                                    PRIMARY KEY (survey, id));
    CREATE TABLE leafcover_spent (survey text PRIMARY KEY, bits bytea NOT NULL);
    INSERT INTO leafcover_store VALUES ({VERSION})
"""


class PostgresqlStore:
    """The answers of one survey in tables of a PostgreSQL database; connects again when the connection was lost."""

    def __init__(self, address: str, survey: Survey, *, create: bool, today: Callable[[], date]) -> None:
        self._address, self._survey, self._today, self._create = address, survey, today, create
        self._lock = Lock()
        self._unswept: int | None = None  # states of the block; unknown at first: another may have left some
        self._connection: Connection | None = None
        self._run(lambda connection: None)

    def add(self, answers: Sequence[tuple[Answer, int | None]]) -> list[Acceptance]:
        """Keep answers; see ``Store.add``.

        When the connection is lost it may be unknown whether the transaction ended well. It is done once more, and an
        answer that was stored is then found to be repeated, which says the same to who sent it.
        """
        verdicts, changed = self._run(lambda connection: self._added(connection, answers))
        if changed:
            if self._unswept is None or self._unswept + 1 >= OLD_STATES:
                self._sweep()
            else:
                self._unswept += 1
        return verdicts

    def count(self) -> int:
        """How many answers there are."""
        return self._number("SELECT count(*) FROM leafcover_answers WHERE survey = %s")

    def others(self) -> int:
        """How many answers to other surveys are in the database."""
        return self._number("SELECT count(*) FROM leafcover_answers WHERE survey <> %s")

    def reports(self) -> Iterator[tuple[str, ...]]:
        """The reports of every answer, in the order of their random ids."""
        some = "SELECT id, reports FROM leafcover_answers WHERE survey = %s AND id > %s ORDER BY id LIMIT %s"
        after = ""
        while page := self._rows(some, (self._survey.fingerprint, after, PAGE)):
            yield from (as_reports(text) for _, text in page)
            after = page[-1][0]

    def close(self) -> None:
        """Sweep away old states of spent tokens, and let go of the database."""
        if self._unswept:
            self._sweep()
        with self._lock:
            if self._connection is not None:
                self._connection.close()
            self._connection = None

    def _added(
        self, connection: "Connection", answers: Sequence[tuple[Answer, int | None]]
    ) -> tuple[list[Acceptance], bool]:
        fingerprint = self._survey.fingerprint
        day = self._today() if self._survey.keep_day else None
        with connection.transaction():
            block = self._locked_block(connection)
            asked = "SELECT id, reports FROM leafcover_answers WHERE survey = %s AND id = ANY(%s)"
            found = connection.execute(asked, (fingerprint, sorted({answer.id for answer, _ in answers}))).fetchall()
            result = judged(answers, known=dict(found), block=block)
            if result.new:
                rows = [list(column) for column in zip(*sorted(result.new.items()), strict=True)]
                connection.execute(
                    "INSERT INTO leafcover_answers SELECT %s, id, %s, reports "
                    "FROM unnest(%s::text[], %s::text[]) AS new (id, reports)",
                    (fingerprint, day, *rows),
                )
            if result.numbers:
                changed = with_spent(block, result.numbers)
                rewrite = "UPDATE leafcover_spent SET bits = %s WHERE survey = %s"
                connection.execute(rewrite, (changed, fingerprint))
        return result.verdicts, bool(result.numbers)

    def _locked_block(self, connection: "Connection") -> bytes:
        """The spent tokens, locked until the transaction ends: collectors take turns, with tokens or without."""
        asked = "SELECT bits FROM leafcover_spent WHERE survey = %s FOR UPDATE"
        row = connection.execute(asked, (self._survey.fingerprint,)).fetchone()
        if row is None:
            first = "INSERT INTO leafcover_spent VALUES (%s, '') ON CONFLICT DO NOTHING"
            connection.execute(first, (self._survey.fingerprint,))
            row = connection.execute(asked, (self._survey.fingerprint,)).fetchone()
        assert row is not None
        return bytes(row[0])

    def _sweep(self) -> None:
        """Write the table of spent tokens anew, unless somebody is reading it: then after the next ones."""

        def swept(connection: "Connection") -> None:
            connection.execute("SET lock_timeout = '1s'")
            try:
                connection.execute("VACUUM (FULL) leafcover_spent")
            finally:
                connection.execute("SET lock_timeout = '20s'")

        self._unswept = 1
        with suppress(StoreFailed):  # a backup reads it, or the table belongs to another role
            self._run(swept)
            self._unswept = 0

    def _number(self, asked: str) -> int:
        return int(self._rows(asked, (self._survey.fingerprint,))[0][0])

    def _rows(self, asked: str, values: tuple[object, ...]) -> list[tuple[Any, ...]]:
        return self._run(lambda connection: connection.execute(asked.encode(), values).fetchall())

    def _run(self, work: "Callable[[Connection], Result]") -> Result:
        """Do some work; once more on a new connection when the old one turns out to be lost."""
        psycopg = _driver()
        with self._lock:
            once_more = self._connection is not None
            while True:
                try:
                    self._connection = self._connection or self._connected()
                    return work(self._connection)
                except psycopg.Error as error:
                    if self._connection is not None and self._connection.closed:
                        self._connection = None
                    if self._connection is not None or not once_more:
                        raise StoreFailed(self._said(error)) from None
                    once_more = False

    def _connected(self) -> "Connection":
        connection = _driver().connect(self._address, autocommit=True, connect_timeout=10, prepare_threshold=None)
        try:
            connection.execute(SETTINGS)
            # A server may be set to acknowledge before it writes to disk; whatever promises more is left alone.
            connection.execute(AT_LEAST_ON)
            self._check_tables(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    def _check_tables(self, connection: "Connection") -> None:
        if connection.execute(THERE).fetchone() == (False,):
            if not self._create:
                raise StoreFailed("The database holds no store of answers. Name the one that the survey writes to.")
            with connection.transaction():
                connection.execute("SELECT pg_advisory_xact_lock(%s)", (DOOR,))
                if connection.execute(THERE).fetchone() == (False,):  # another may have been quicker
                    connection.execute(TABLES)
        versions = connection.execute("SELECT version FROM leafcover_store").fetchall()
        if versions != [(VERSION,)]:
            found = ", ".join(str(version) for (version,) in versions) or "none"
            raise StoreFailed(
                f"The store of answers has version {found}, this Leafcover reads {VERSION}. "
                "Use the Leafcover that wrote it."
            )

    def _said(self, error: "psycopg.Error") -> str:
        """What went wrong in our own words: the driver's can repeat the address with its password."""
        psycopg = _driver()
        if isinstance(error, psycopg.ProgrammingError) and error.sqlstate is None:
            return "The address of the database cannot be read. Write postgresql://USER@HOST:PORT/DATABASE."
        if error.sqlstate is None or isinstance(error, psycopg.OperationalError):
            return (
                f"The database of answers cannot be reached or used ({error.sqlstate or 'no connection'}). "
                "See that the server runs and that the address, user and password are right."
            )
        return (
            f"The database of answers refuses what a store needs ({type(error).__name__}). "
            "See that the user may make and write tables, and that no other tables have their names."
        )


def _driver() -> Any:
    try:
        import psycopg
    except ImportError:
        raise StoreFailed(
            "A PostgreSQL store needs the package psycopg. Install it with: pip install 'leafcover[postgresql]'."
        ) from None
    return psycopg
