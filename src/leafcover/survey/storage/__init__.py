"""Stores of randomised answers: their protocol, the rules that every store follows, and `open_store`.

`judged` decides what becomes of each answer of a batch; `is_spent` and `with_spent` keep spent tokens as one block of
bits, which shows neither when nor in which order they were spent. `open_store` opens an SQLite file or a PostgreSQL
database by its address.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from enum import StrEnum
from pathlib import Path
from typing import Protocol

from leafcover.errors import LeafcoverError
from leafcover.survey.client import Answer
from leafcover.survey.questionnaire import Survey


class StoreFailed(LeafcoverError):
    """A store that cannot be opened, read or written; the message never contains an answer, a token or a password."""


class Acceptance(StrEnum):
    """What became of an answer."""

    stored = "stored"
    repeated = "repeated"  # the same answer as before: acknowledged again, counted once
    spent = "spent"  # its token was used by another answer
    taken = "taken"  # its id belongs to an answer with other reports or another token


class Store(Protocol):
    """The answers of one survey, each once, and which tokens are spent.

    Any thread may call it, and it can be used again after an error.
    """

    def add(self, answers: Sequence[tuple[Answer, int | None]]) -> list[Acceptance]:
        """Store answers, each with the number of its token or None, in one transaction.

        When it returns, the result is on disk. An answer and its token are stored both or neither.
        """
        ...

    def count(self) -> int:
        """The number of answers."""
        ...

    def others(self) -> int:
        """The number of answers to other surveys, or to earlier versions of this one, in the same place."""
        ...

    def reports(self) -> Iterator[tuple[str, ...]]:
        """The reports of every answer, in the order of their random ids."""
        ...

    def close(self) -> None:
        """Close the store."""
        ...


class Opens(Protocol):
    """Opens a store, such as ``functools.partial(open_store, address, survey)``."""

    def __call__(self, *, create: bool = True) -> Store:
        """The store; with ``create=False`` a missing store is an error and nothing is created."""
        ...


# What becomes of a batch of answers, given what is already stored.


@dataclass(frozen=True)
class Judged:
    """The result for each answer, and what to write: texts by id, and numbers of tokens."""

    verdicts: list[Acceptance]
    new: dict[str, str]
    numbers: frozenset[int]


def judged(answers: Sequence[tuple[Answer, int | None]], *, known: Mapping[str, str], block: bytes) -> Judged:
    """Judge answers in order; ``known`` are the stored texts of their ids.

    >>> twice = [(Answer("a", ("1",)), 7), (Answer("b", ("0",)), 7)]
    >>> [str(verdict) for verdict in judged(twice, known={}, block=b"").verdicts]
    ['stored', 'spent']
    """
    verdicts: list[Acceptance] = []
    new: dict[str, str] = {}
    numbers: set[int] = set()
    for answer, number in answers:
        text = as_text(answer.reports)
        before = new.get(answer.id, known.get(answer.id))
        used = number is not None and (number in numbers or is_spent(block, number))
        if before is not None:
            # The token of the stored answer is unknown, but it is spent: an unspent token is a different one.
            same = before == text and (number is None or used)
            verdicts.append(Acceptance.repeated if same else Acceptance.taken)
        elif used:
            verdicts.append(Acceptance.spent)
        else:
            verdicts.append(Acceptance.stored)
            new[answer.id] = text
            numbers |= set() if number is None else {number}
    return Judged(verdicts, new, frozenset(numbers))


def as_text(reports: Sequence[str]) -> str:
    """Reports as they are stored; all answers to a survey have the same length."""
    return ",".join(reports)


def as_reports(text: str) -> tuple[str, ...]:
    """The reports of a stored text."""
    return tuple(text.split(","))


# Spent tokens as one block of bits, which depends on the set of numbers alone.


SMALLEST = 1024  # bytes: the block does not grow below 8,192 tokens


def is_spent(block: bytes, number: int) -> bool:
    """Whether a number is in a block.

    >>> is_spent(with_spent(b"", [9]), 9), is_spent(b"", 9)
    (True, False)
    """
    byte, bit = divmod(number, 8)
    return byte < len(block) and bool(block[byte] >> bit & 1)


def with_spent(block: bytes, numbers: Iterable[int]) -> bytes:
    """The block with these numbers added; its length is a power of two."""
    numbers = tuple(numbers)
    if not numbers:
        return block
    needed = max(SMALLEST, len(block), 1 << (max(numbers) // 8).bit_length())
    grown = bytearray(block.ljust(needed, b"\0"))
    for number in numbers:
        grown[number // 8] |= 1 << number % 8
    return bytes(grown)


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
