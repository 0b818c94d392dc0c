"""What a survey found: the share of every choice with its interval, from a hundred answers on."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import sqrt
from typing import Any

from leafcover.errors import NameUnknown, PlanError, TableError
from leafcover.response import Estimate, Joint, estimate, joint
from leafcover.response.estimate import DEVIATIONS
from leafcover.survey.listing import side_by_side
from leafcover.survey.questionnaire import Question, Survey
from leafcover.table.table import Table

LEAST_ANSWERS = 100  # intervals are those of the normal law, and fewer answers hide nobody in a crowd
MOST_OUTSIDE = 4  # standard errors: chance alone goes further once in 30,000 times


@dataclass(frozen=True)
class Choice:
    """One choice of a question: its share, made to add up to 1 with the others, and what was estimated of it alone."""

    choice: str
    share: float
    estimate: Estimate
    is_open: bool = False

    @property
    def interval(self) -> tuple[float, float]:
        """95 % about the population, wide enough to hold the share."""
        low, high = wilson(self.share, self.estimate.rows) if self.is_open else self.estimate.sampling_interval
        return min(low, self.share), max(high, self.share)


@dataclass(frozen=True)
class Mean:
    """The mean of a number that was asked openly."""

    value: float
    error: float

    @property
    def interval(self) -> tuple[float, float]:
        """95 % about the population."""
        return self.value - DEVIATIONS * self.error, self.value + DEVIATIONS * self.error


@dataclass(frozen=True)
class Found:
    """What is known of one question: its choices, or the mean of a number."""

    question: Question
    choices: tuple[Choice, ...] = ()
    mean: Mean | None = None


@dataclass(frozen=True)
class Results:
    """What a survey found, question by question."""

    title: str
    answers: int
    questions: tuple[Found, ...]
    warnings: tuple[str, ...]

    def as_json(self) -> dict[str, Any]:
        """For machines."""
        return {
            "title": self.title,
            "answers": self.answers,
            "questions": [_question_json(found) for found in self.questions],
            "warnings": list(self.warnings),
        }


def results(survey: Survey, table: Table) -> Results:
    """The share of every choice; refused below a hundred answers."""
    checked_number(table)
    found = tuple(_found(survey, table, question) for question in survey.questions)
    warnings = tuple(words for one in found for words in _warnings(one))
    return Results(survey.title, len(table), found, warnings)


def conjunction(survey: Survey, table: Table, literals: Mapping[str, str | float]) -> Estimate:
    """The share of people who gave all of these answers."""
    checked_number(table)
    return estimate(table, survey.scheme, literals)


def interval_of(survey: Survey, found: Estimate, literals: Mapping[str, str | float]) -> tuple[float, float]:
    """95 % about the population: Wilson's where nothing that was asked for is disguised."""
    disguised = {name for part in survey.scheme.parts for name in part.names}
    return found.sampling_interval if disguised & set(literals) else wilson(found.share, found.rows)


def cross(survey: Survey, table: Table, first: str, second: str) -> Joint:
    """The shares of all pairs of answers to two questions with choices; choices in the order of the survey."""
    checked_number(table)
    found = joint(table, survey.scheme, [first, second])
    asked = [question_named(survey, name).choices for name in (first, second)]
    shares = found.shares
    for axis, (levels, choices) in enumerate(zip(found.levels, asked, strict=True)):
        shares = shares.take([levels.index(choice) for choice in choices], axis=axis)
    return Joint(found.columns, tuple(asked), shares, found.rows, found.missing, found.settled)


def checked_number(table: Table) -> None:
    """Refuse to say anything of a few people."""
    if len(table) < LEAST_ANSWERS:
        raise TableError(
            f"There are {len(table)} answers, and nothing is estimated from fewer than {LEAST_ANSWERS}. "
            "Wait for more answers."
        )


def question_named(survey: Survey, name: str) -> Question:
    """The question of a name, which must be one with choices."""
    for question in survey.questions:
        if question.name == name:
            if question.between:
                raise PlanError(f"Question {name!r} asks for a number. Name one that is answered by a choice.")
            return question
    raise NameUnknown("question", name, [question.name for question in survey.questions])


def as_text(found: Results) -> str:
    """The results as plain text."""
    said = [f"{found.title}: {found.answers:,} answers"]
    for one in found.questions:
        way = "sent as typed" if one.question.is_open else "disguised"
        said += ["", f"{one.question.name}: {one.question.text} ({way})"]
        if one.mean is not None:
            low, high = one.mean.interval
            said.append(f"mean {one.mean.value:.2f} (95 %: {low:.2f} to {high:.2f})")
        else:
            rows = [(c.choice, percent(c.share), "{} to {}".format(*map(percent, c.interval))) for c in one.choices]
            said.append(side_by_side(("answer", "share", "95 % interval"), rows))
    return "\n".join(said)


def wilson(share: float, rows: int) -> tuple[float, float]:
    """Wilson's 95 % interval of a share that was counted; a choice that nobody made may still have its people.

    >>> low, high = wilson(0.0, 100)
    >>> round(low, 3), round(high, 3)
    (0.0, 0.037)
    """
    extra = DEVIATIONS**2 / rows
    middle = (share + extra / 2) / (1 + extra)
    half = sqrt(extra * share * (1 - share) + extra**2 / 4) / (1 + extra)
    return max(0.0, middle - half), min(1.0, middle + half)


def percent(share: float) -> str:
    """A share for people.

    >>> percent(0.1234)
    '12.3 %'
    """
    return f"{100 * share:.1f} %"


def _found(survey: Survey, table: Table, question: Question) -> Found:
    if question.between:
        values = table[question.name].values
        return Found(question, mean=Mean(float(values.mean()), float(values.std(ddof=1)) / sqrt(len(values))))
    shares = joint(table, survey.scheme, [question.name])
    by_choice = dict(zip(shares.levels[0], shares.shares.tolist(), strict=True))
    return Found(
        question,
        tuple(
            Choice(choice, by_choice[choice], estimate(table, survey.scheme, {question.name: choice}), question.is_open)
            for choice in question.choices
        ),
    )


def _warnings(found: Found) -> list[str]:
    return [
        f"Question {found.question.name!r}, {one.choice!r}: the estimate lies {one.estimate.outside:.1f} standard "
        "errors outside 0 to 1. Some people did not answer by the coins, or somebody sent made-up answers."
        for one in found.choices
        if one.estimate.outside > MOST_OUTSIDE
    ]


def _question_json(found: Found) -> dict[str, Any]:
    said: dict[str, Any] = {"name": found.question.name, "disguise": found.question.way}
    if found.mean is not None:
        return said | {"mean": found.mean.value, "error": found.mean.error, "interval": list(found.mean.interval)}
    return said | {"choices": [_choice_json(one) for one in found.choices]}


def _choice_json(one: Choice) -> dict[str, Any]:
    return {"choice": one.choice, "share": one.share, "interval": list(one.interval)} | estimate_json(one.estimate)


def estimate_json(found: Estimate) -> dict[str, float | int]:
    """The figures of an estimate for machines."""
    return {
        "raw": found.raw,
        "error": found.error,
        "sampling_error": found.sampling_error,
        "answers": found.rows,
    }
