"""What becomes of a batch of answers, given what is stored already. Every store follows it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from leafcover.survey.message import Answer
from leafcover.survey.storing.bits import is_spent
from leafcover.survey.storing.store import Verdict


@dataclass(frozen=True)
class Judged:
    """A verdict for each answer, and what is to be written: texts by id, numbers of tokens."""

    verdicts: list[Verdict]
    new: dict[str, str]
    numbers: frozenset[int]


def judged(answers: Sequence[tuple[Answer, int | None]], *, known: Mapping[str, str], block: bytes) -> Judged:
    """Judge answers one after the other; ``known`` are the stored texts of their ids.

    >>> twice = [(Answer("a", ("1",)), 7), (Answer("b", ("0",)), 7)]
    >>> [str(verdict) for verdict in judged(twice, known={}, block=b"").verdicts]
    ['stored', 'spent']
    """
    verdicts: list[Verdict] = []
    new: dict[str, str] = {}
    numbers: set[int] = set()
    for answer, number in answers:
        text = as_text(answer.reports)
        before = new.get(answer.id, known.get(answer.id))
        used = number is not None and (number in numbers or is_spent(block, number))
        if before is not None:
            # Nobody can tell which token came with the stored answer, only that it is spent: an unspent one is another.
            same = before == text and (number is None or used)
            verdicts.append(Verdict.repeated if same else Verdict.taken)
        elif used:
            verdicts.append(Verdict.spent)
        else:
            verdicts.append(Verdict.stored)
            new[answer.id] = text
            numbers |= set() if number is None else {number}
    return Judged(verdicts, new, frozenset(numbers))


def as_text(reports: Sequence[str]) -> str:
    """Reports as they are stored; all answers to a survey take the same room."""
    return ",".join(reports)


def as_reports(text: str) -> tuple[str, ...]:
    """The reports of a stored text."""
    return tuple(text.split(","))
