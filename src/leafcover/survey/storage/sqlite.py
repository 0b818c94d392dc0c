"""Answers in an SQLite file for one or more surveys, readable by its owner only.

The file must not show which token came with which answer, or in which order answers arrived. Answers are stored in the
order of their random ids, and tokens as one block of bits. A write-ahead log would keep earlier states of both, and two
states of the block differ by the token between them. Therefore each transaction uses a journal that is truncated at its
end, and deleted content is overwritten with zeros.

Within a page of the file answers are in order of arrival. Therefore the file is rewritten in the order of ids when it
is opened for writing, when it is closed, and whenever a hundredth of its answers (at least twenty) is new; only later
answers show their order. The file's modification time shows when the last answer arrived. A disk may still hold deleted
content.
"""

import os
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from datetime import date
from pathlib import Path
from threading import Lock

from leafcover.survey.client import Answer
from leafcover.survey.questionnaire import Survey
from leafcover.survey.storage import Acceptance, StoreFailed, as_reports, judged, with_spent

OURS = 0x4C656166  # "Leaf", in the header of every store
VERSION = 1
PATIENCE = 20.0  # seconds that one process waits for another
PAGE = 10_000  # answers read at once
AT_LEAST = 20  # new answers before the file is rewritten
SHARE = 100  # and 1 in 100: with 100,000 answers it takes 0.1 to 0.2 s, once in 1,000 answers

SETTINGS = (
    "PRAGMA synchronous = FULL",  # with a truncated journal: on disk when the transaction ends
    "PRAGMA fullfsync = ON",  # the same on macOS, where a plain sync stops at the disk's cache
    "PRAGMA secure_delete = ON",
    "PRAGMA temp_store = MEMORY",
)
TABLES = (
    """CREATE TABLE answers (survey TEXT NOT NULL, id TEXT NOT NULL, day TEXT, reports TEXT NOT NULL,
       PRIMARY KEY (survey, id)) WITHOUT ROWID""",
    "CREATE TABLE spent (survey TEXT NOT NULL PRIMARY KEY, bits BLOB NOT NULL) WITHOUT ROWID",
    f"PRAGMA application_id = {OURS}",
    f"PRAGMA user_version = {VERSION}",
)


class SqliteStore:
    """The answers of one survey in an SQLite file; several processes may have it open."""

    def __init__(self, path: Path, survey: Survey, *, create: bool, today: Callable[[], date]) -> None:
        self._path, self._survey, self._today = path, survey, today
        self._lock = Lock()
        self._unsorted, self._due = 0, AT_LEAST  # answers in order of arrival, and how many are allowed
        if create:
            self._make_file()
        elif not path.is_file():
            raise StoreFailed(f"There is no store {str(path)!r}. Name the file that the survey writes to.")
        with self._errors():
            # autocommit: transactions are started explicitly, because one that starts with a read could fail to write
            self._connection = sqlite3.connect(path, PATIENCE, isolation_level=None, check_same_thread=False)
        try:
            self._set_up(create=create)
        except BaseException:
            self._connection.close()
            raise
        if create:
            self._sort()  # another process may have been killed

    def add(self, answers: Sequence[tuple[Answer, int | None]]) -> list[Acceptance]:
        """Store answers; see ``Store.add``."""
        fingerprint = self._survey.fingerprint
        day = self._today().isoformat() if self._survey.keep_day else None
        with self._writing() as connection:
            block = self._block()
            result = judged(answers, known=self._known({answer.id for answer, _ in answers}), block=block)
            rows = ((fingerprint, name, day, text) for name, text in sorted(result.new.items()))
            connection.executemany("INSERT INTO answers VALUES (?, ?, ?, ?)", rows)
            if result.numbers:
                changed = with_spent(block, result.numbers)
                connection.execute("INSERT OR REPLACE INTO spent VALUES (?, ?)", (fingerprint, changed))
        with self._lock:
            self._unsorted += len(result.new)
            if self._unsorted >= self._due:
                self._sort()
        return result.verdicts

    def count(self) -> int:
        """The number of answers."""
        return self._number("SELECT count(*) FROM answers WHERE survey = ?")

    def others(self) -> int:
        """The number of answers to other surveys in the file."""
        return self._number("SELECT count(*) FROM answers WHERE survey <> ?")

    def reports(self) -> Iterator[tuple[str, ...]]:
        """The reports of every answer, in the order of their random ids."""
        after, some = "", "SELECT id, reports FROM answers WHERE survey = ? AND id > ? ORDER BY id LIMIT ?"
        while True:
            # a page at a time, so that a slow reader does not block writers
            with self._lock, self._errors():
                page = self._connection.execute(some, (self._survey.fingerprint, after, PAGE)).fetchall()
            if not page:
                return
            yield from (as_reports(text) for _, text in page)
            after = page[-1][0]

    def close(self) -> None:
        """Rewrite the file in the order of ids if answers were added, and close it."""
        with self._lock, closing(self._connection):
            if self._unsorted:
                self._sort()

    def _sort(self) -> None:
        """Rewrite the file in the order of ids; if that fails, try again after some more answers."""
        with suppress(sqlite3.Error):  # another process has it open and will do it, or the disk is full
            (count,) = self._connection.execute("SELECT count(*) FROM answers").fetchone()
            self._due = self._unsorted + max(AT_LEAST, count // SHARE)
            self._connection.execute("VACUUM")
            self._due -= self._unsorted
            self._unsorted = 0

    def _make_file(self) -> None:
        try:
            os.close(os.open(self._path, os.O_CREAT | os.O_RDWR, 0o600))
        except OSError as error:
            raise StoreFailed(
                f"The store {str(self._path)!r} cannot be written ({error.strerror}). Name another file."
            ) from None

    def _set_up(self, *, create: bool) -> None:
        with self._errors():
            for setting in SETTINGS:
                self._connection.execute(setting)
            # The first access to the file: anything but a database fails here.
            (mode,) = self._connection.execute("PRAGMA journal_mode = TRUNCATE").fetchone()
            empty = self._connection.execute("SELECT count(*) FROM sqlite_schema").fetchone() == (0,)
        if mode != "truncate":
            raise StoreFailed(
                f"The store {str(self._path)!r} is open in a program that keeps a log of it. Close that program."
            )
        if empty and not create:
            raise StoreFailed(
                f"The file {str(self._path)!r} is empty, not a store. Name the file that the survey writes to."
            )
        if empty:
            with self._writing() as connection:
                # another process may have been quicker
                if connection.execute("SELECT count(*) FROM sqlite_schema").fetchone() == (0,):
                    for statement in TABLES:
                        connection.execute(statement)
        self._checked_version()

    def _checked_version(self) -> None:
        with self._errors():
            (ours,) = self._connection.execute("PRAGMA application_id").fetchone()
            (version,) = self._connection.execute("PRAGMA user_version").fetchone()
        if ours != OURS:
            raise StoreFailed(
                f"The file {str(self._path)!r} is a database, but not a store of answers. Name another file."
            )
        if version != VERSION:
            raise StoreFailed(
                f"The store {str(self._path)!r} must have version {VERSION}. Got {version}. "
                "Use the version of Leafcover that wrote it."
            )

    def _block(self) -> bytes:
        asked = "SELECT bits FROM spent WHERE survey = ?"
        row = self._connection.execute(asked, (self._survey.fingerprint,)).fetchone()
        return b"" if row is None else bytes(row[0])

    def _known(self, names: set[str]) -> dict[str, str]:
        asked = "SELECT reports FROM answers WHERE survey = ? AND id = ?"
        found = ((name, self._connection.execute(asked, (self._survey.fingerprint, name)).fetchone()) for name in names)
        return {name: row[0] for name, row in found if row is not None}

    def _number(self, asked: str) -> int:
        with self._lock, self._errors():
            return int(self._connection.execute(asked, (self._survey.fingerprint,)).fetchone()[0])

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        with self._lock, self._errors():
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield self._connection
                self._connection.execute("COMMIT")
            finally:
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")

    @contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise StoreFailed(
                f"The store {str(self._path)!r} cannot be used: {error}. "
                "Check that Leafcover wrote the file, that it is writable, and that the disk is not full."
            ) from None
