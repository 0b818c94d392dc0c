"""Answers in a PostgreSQL database; several collectors may write to it at once.

The tables do not show which token came with which answer: spent tokens are one block of bits in one row, always
rewritten as a whole. Two states of the block would differ by the token between them, and a row's ``xmin`` would match
it with an answer. Therefore the table of spent tokens is rewritten from time to time, which removes earlier states.

This module cannot prevent what the server itself keeps: its write-ahead log and backups, the order of the answers
(``ctid``, ``xmin``), and what its operator may switch on (``track_commit_timestamp``, ``log_statement``). Choose an
operator you trust with that.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from datetime import date
from threading import Lock
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from leafcover.survey.client import Answer
from leafcover.survey.questionnaire import Survey
from leafcover.survey.storage import Acceptance, StoreFailed, as_reports, judged, with_spent

if TYPE_CHECKING:
    import psycopg

    Connection: TypeAlias = psycopg.Connection[tuple[Any, ...]]

Result = TypeVar("Result")

VERSION = 1
PAGE = 10_000  # answers read at once
OLD_STATES = 256  # of the block, after which they are removed
TABLES_LOCK = 0x4C656166  # the advisory lock under which tables are created

SETTINGS = """
    SET lock_timeout = '20s';
    SET idle_in_transaction_session_timeout = '30s';  -- a disconnected collector must not lock others out
    SET default_transaction_isolation = 'read committed'
"""
AT_LEAST_ON = """
    SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off'
"""
# From the catalogue itself: to_regclass may have cached, before the lock, that there was no table.
THERE = "SELECT EXISTS (SELECT FROM pg_class WHERE relname = 'leafcover_store' AND pg_table_is_visible(oid))"
TABLES = f"""
    CREATE TABLE leafcover_store (version integer NOT NULL);
    CREATE TABLE leafcover_answers (survey text NOT NULL, id text COLLATE "C" NOT NULL, day date, reports text NOT NULL,
                                    PRIMARY KEY (survey, id));
    CREATE TABLE leafcover_spent (survey text PRIMARY KEY, bits bytea NOT NULL);
    INSERT INTO leafcover_store VALUES ({VERSION})
"""


class PostgresqlStore:
    """The answers of one survey in a PostgreSQL database; reconnects after a lost connection."""

    def __init__(self, address: str, survey: Survey, *, create: bool, today: Callable[[], date]) -> None:
        self._address, self._survey, self._today, self._create = address, survey, today, create
        self._lock = Lock()
        self._unswept: int | None = (
            None  # old states of the block; unknown at first, as another process may have left some
        )
        self._connection: Connection | None = None
        self._run(lambda connection: None)

    def add(self, answers: Sequence[tuple[Answer, int | None]]) -> list[Acceptance]:
        """Store answers; see ``Store.add``.

        When the connection is lost it may be unknown whether the transaction succeeded. It is then repeated, and an
        answer that was already stored counts as repeated, which gives its sender the same reply.
        """
        verdicts, changed = self._run(lambda connection: self._added(connection, answers))
        if changed:
            if self._unswept is None or self._unswept + 1 >= OLD_STATES:
                self._sweep()
            else:
                self._unswept += 1
        return verdicts

    def count(self) -> int:
        """The number of answers."""
        return self._number("SELECT count(*) FROM leafcover_answers WHERE survey = %s")

    def others(self) -> int:
        """The number of answers to other surveys in the database."""
        return self._number("SELECT count(*) FROM leafcover_answers WHERE survey <> %s")

    def reports(self) -> Iterator[tuple[str, ...]]:
        """The reports of every answer, in the order of their random ids."""
        some = "SELECT id, reports FROM leafcover_answers WHERE survey = %s AND id > %s ORDER BY id LIMIT %s"
        after = ""
        while page := self._rows(some, (self._survey.fingerprint, after, PAGE)):
            yield from (as_reports(text) for _, text in page)
            after = page[-1][0]

    def close(self) -> None:
        """Remove old states of the spent tokens and close the connection."""
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
        """The spent tokens, locked until the transaction ends, so that collectors take turns."""
        asked = "SELECT bits FROM leafcover_spent WHERE survey = %s FOR UPDATE"
        row = connection.execute(asked, (self._survey.fingerprint,)).fetchone()
        if row is None:
            first = "INSERT INTO leafcover_spent VALUES (%s, '') ON CONFLICT DO NOTHING"
            connection.execute(first, (self._survey.fingerprint,))
            row = connection.execute(asked, (self._survey.fingerprint,)).fetchone()
        assert row is not None
        return bytes(row[0])

    def _sweep(self) -> None:
        """Rewrite the table of spent tokens; if it is in use, try again after the next answers."""

        def swept(connection: "Connection") -> None:
            connection.execute("SET lock_timeout = '1s'")
            try:
                connection.execute("VACUUM (FULL) leafcover_spent")
            finally:
                connection.execute("SET lock_timeout = '20s'")

        self._unswept = 1
        with suppress(StoreFailed):  # a backup is reading it, or the table belongs to another role
            self._run(swept)
            self._unswept = 0

    def _number(self, asked: str) -> int:
        return int(self._rows(asked, (self._survey.fingerprint,))[0][0])

    def _rows(self, asked: str, values: tuple[object, ...]) -> list[tuple[Any, ...]]:
        return self._run(lambda connection: connection.execute(asked.encode(), values).fetchall())

    def _run(self, work: "Callable[[Connection], Result]") -> Result:
        """Do some work; repeat it on a new connection when the old one turns out to be lost."""
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
                        raise StoreFailed(self._message(error)) from None
                    once_more = False

    def _connected(self) -> "Connection":
        connection = _driver().connect(self._address, autocommit=True, connect_timeout=10, prepare_threshold=None)
        try:
            connection.execute(SETTINGS)
            # A server may be configured to acknowledge before it writes to disk; a stricter setting is kept.
            connection.execute(AT_LEAST_ON)
            self._check_tables(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    def _check_tables(self, connection: "Connection") -> None:
        if connection.execute(THERE).fetchone() == (False,):
            if not self._create:
                raise StoreFailed(
                    "The database contains no store of answers. Name the database that the survey writes to."
                )
            with connection.transaction():
                connection.execute("SELECT pg_advisory_xact_lock(%s)", (TABLES_LOCK,))
                if connection.execute(THERE).fetchone() == (False,):  # another process may have been quicker
                    connection.execute(TABLES)
        versions = connection.execute("SELECT version FROM leafcover_store").fetchall()
        if versions != [(VERSION,)]:
            found = ", ".join(str(version) for (version,) in versions) or "none"
            raise StoreFailed(
                f"The store must have version {VERSION}. Got {found}. Use the version of Leafcover that wrote it."
            )

    def _message(self, error: "psycopg.Error") -> str:
        """What went wrong, without the driver's message, which can repeat the address with its password."""
        psycopg = _driver()
        if isinstance(error, psycopg.ProgrammingError) and error.sqlstate is None:
            return "The address of the database is invalid. Write postgresql://USER@HOST:PORT/DATABASE."
        if error.sqlstate is None or isinstance(error, psycopg.OperationalError):
            return (
                f"The database of answers cannot be reached or used ({error.sqlstate or 'no connection'}). "
                "Check that the server runs and that address, user and password are correct."
            )
        return (
            f"The database refused an operation of the store ({type(error).__name__}). "
            "Check that the user may create and write tables, and that no other tables have the same names."
        )


def _driver() -> Any:
    try:
        import psycopg
    except ImportError:
        raise StoreFailed(
            "A PostgreSQL store needs the package psycopg. Install it: pip install 'leafcover[postgresql]'."
        ) from None
    return psycopg
