"""A store in memory, for tests of what reads stores."""

import sys
from collections.abc import Iterator, Sequence
from types import ModuleType

import pytest

from leafcover.survey.message import Answer
from leafcover.survey.questionnaire import Survey
from leafcover.survey.storing.store import Store, Verdict


class MemoryStore:
    """Reports only."""

    def __init__(self, reports: Sequence[tuple[str, ...]]) -> None:
        self.kept = list(reports)
        self.closed = False

    def add(self, answers: Sequence[tuple[Answer, int | None]]) -> list[Verdict]:
        raise NotImplementedError

    def count(self) -> int:
        return len(self.kept)

    def reports(self) -> Iterator[tuple[str, ...]]:
        assert not self.closed
        return iter(self.kept)

    def close(self) -> None:
        self.closed = True


def put_in_place(monkeypatch: pytest.MonkeyPatch, store: MemoryStore) -> list[str]:
    """Let every address open this store; gives the addresses that were asked for."""
    asked: list[str] = []

    def open_store(address: str, survey: Survey, **given: object) -> Store:
        asked.append(address)
        return store

    opening = ModuleType("leafcover.survey.storing.open")
    opening.open_store = open_store  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "leafcover.survey.storing.open", opening)
    return asked
