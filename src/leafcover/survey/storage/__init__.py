"""Where disguised answers are kept."""

import re
from collections.abc import Callable
from datetime import UTC, date, datetime
from pathlib import Path

from leafcover.survey.schema import Survey
from leafcover.survey.storage.base import Store, StoreFailed

# A store by its address: a file, or a PostgreSQL database.


DATABASE = re.compile("(postgresql|postgres)://", re.IGNORECASE)
# What no file is called, but an address that was mistyped: a scheme (longer than the letter of a drive), or a password.
MISTYPED = re.compile(r"[\w+.-]{2,}:/|:[^/\\]*@|password\s*=", re.IGNORECASE)


def open_store(
    address: str, survey: Survey, *, create: bool = True, today: Callable[[], date] = lambda: datetime.now(UTC).date()
) -> Store:
    """The store of a survey's answers at an address: ``postgresql://...``, else the path of an SQLite file.

    With ``create=False`` a store that is not there yet is an error. ``today`` is asked only when the survey keeps days.
    """
    address = checked_place(address)
    if DATABASE.match(address):
        from leafcover.survey.storage.postgresql import PostgresqlStore

        return PostgresqlStore(address, survey, create=create, today=today)
    from leafcover.survey.storage.sqlite import SqliteStore

    return SqliteStore(Path(address), survey, create=create, today=today)


def checked_place(place: str) -> str:
    """The address of a database with its scheme in small letters, or the path of a file.

    A mistyped address is refused without its words, which may hold a password.

    >>> checked_place("POSTGRESQL://me@here/answers"), checked_place("C:/habits.sqlite")
    ('postgresql://me@here/answers', 'C:/habits.sqlite')
    """
    if found := DATABASE.match(place):
        return found[0].lower() + place[found.end() :]
    if MISTYPED.search(place):
        raise StoreFailed(
            "The place of the answers looks like the address of a database, but not like one that can be used. "
            "Write postgresql://USER@HOST:PORT/DATABASE, or the name of a file."
        )
    return place
