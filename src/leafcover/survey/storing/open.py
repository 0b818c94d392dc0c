"""A store by its address: a file, or a PostgreSQL database."""

from collections.abc import Callable
from datetime import UTC, date, datetime
from pathlib import Path

from leafcover.survey.questionnaire import Survey
from leafcover.survey.storing.store import Store

SCHEMES = ("postgresql://", "postgres://")


def open_store(
    address: str, survey: Survey, *, create: bool = True, today: Callable[[], date] = lambda: datetime.now(UTC).date()
) -> Store:
    """The store of a survey's answers at an address: ``postgresql://...``, else the path of an SQLite file.

    With ``create=False`` a store that is not there yet is an error. ``today`` is asked only when the survey keeps days.
    """
    if address.startswith(SCHEMES):
        from leafcover.survey.storing.postgresql import PostgresqlStore

        return PostgresqlStore(address, survey, create=create, today=today)
    from leafcover.survey.storing.sqlite import SqliteStore

    return SqliteStore(Path(address), survey, create=create, today=today)
