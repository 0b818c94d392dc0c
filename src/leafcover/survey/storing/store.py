"""What every store of answers can do."""

from collections.abc import Iterator, Sequence
from enum import StrEnum
from typing import Protocol

from leafcover.errors import LeafcoverError
from leafcover.survey.message import Answer


class StoreFailed(LeafcoverError):
    """A store that cannot be opened, read or written; never shows an answer, a token or a password."""


class Verdict(StrEnum):
    """What became of an answer."""

    stored = "stored"
    repeated = "repeated"  # the same bytes as before: acknowledged again, counted once
    spent = "spent"  # its token was used by another answer
    taken = "taken"  # its id belongs to an answer with other reports, or one sent with another token


class Store(Protocol):
    """Answers of one survey, each once, and which tokens are spent.

    Any thread may call it, and after an error it may be called again.
    """

    def add(self, answers: Sequence[tuple[Answer, int | None]]) -> list[Verdict]:
        """Keep answers, each with the number of its token or None, in one transaction.

        When it returns, what it says is on disk. An answer and its token are kept both or neither.
        """
        ...

    def count(self) -> int:
        """How many answers there are."""
        ...

    def others(self) -> int:
        """How many answers to other surveys, or to this one before a question changed, are in the same place."""
        ...

    def reports(self) -> Iterator[tuple[str, ...]]:
        """The reports of every answer, in the order of their random ids."""
        ...

    def close(self) -> None:
        """Let go of the store."""
        ...


class Opens(Protocol):
    """Opens a store, such as ``functools.partial(open_store, address, survey)``."""

    def __call__(self, *, create: bool = True) -> Store:
        """The store; with ``create=False`` one that is not there is an error, and nothing is made."""
        ...
