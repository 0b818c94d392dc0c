"""Stores of randomised answers: `open_store` opens an SQLite file or a PostgreSQL database by its address."""

import re
from collections.abc import Callable
from datetime import UTC, date, datetime
from pathlib import Path

from leafcover.survey.questionnaire import Survey
from leafcover.survey.storage.base import Store, StoreFailed

DATABASE = re.compile("(postgresql|postgres)://", re.IGNORECASE)
# A mistyped address rather than a file name: a scheme (longer than a drive letter), or a password.
MISTYPED = re.compile(r"[\w+.-]{2,}:/|:[^/\\]*@|password\s*=", re.IGNORECASE)


def open_store(
    address: str, survey: Survey, *, create: bool = True, today: Callable[[], date] = lambda: datetime.now(UTC).date()
) -> Store:
    """The store at an address: ``postgresql://...``, else the path of an SQLite file.

    With ``create=False`` a missing store is an error. ``today`` is called only when the survey keeps days.
    """
    address = checked_place(address)
    if DATABASE.match(address):
        from leafcover.survey.storage.postgresql import PostgresqlStore

        return PostgresqlStore(address, survey, create=create, today=today)
    from leafcover.survey.storage.sqlite import SqliteStore

    return SqliteStore(Path(address), survey, create=create, today=today)


def checked_place(place: str) -> str:
    """The address of a database with its scheme in lower case, or the path of a file.

    The refusal of a mistyped address does not repeat it, because it may contain a password.

    >>> checked_place("POSTGRESQL://me@here/answers"), checked_place("C:/habits.sqlite")
    ('postgresql://me@here/answers', 'C:/habits.sqlite')
    """
    if found := DATABASE.match(place):
        return found[0].lower() + place[found.end() :]
    if MISTYPED.search(place):
        raise StoreFailed(
            "The store is neither a valid database address nor a file name. "
            "Write postgresql://USER@HOST:PORT/DATABASE, or the name of a file."
        )
    return place
