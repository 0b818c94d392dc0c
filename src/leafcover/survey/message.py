"""What a device sends: the same number of bytes whatever was answered, checked field by field when it arrives."""

import json
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from leafcover.errors import LeafcoverError
from leafcover.survey.questionnaire import Question, Survey
from leafcover.survey.tokens import TOKEN_LETTERS

ID_DIGITS = 32

Digits = Annotated[str, Field(pattern=rf"^[0-9a-f]{{{ID_DIGITS}}}$")]


class Refused(LeafcoverError):
    """A message that is not an answer to this survey; says why without repeating any of it."""


class Outdated(Refused):
    """A message for questions that have changed since."""


class Message(BaseModel):
    """The fields of a message. Every text has a length that the survey fixes."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    survey: Annotated[str, Field(pattern=r"^[0-9a-f]{32}$", description="The fingerprint of the survey's text.")]
    id: Annotated[
        str, Field(pattern=r"^[0-9a-f]{32}$", description="Random, new for every answer; a retry repeats it.")
    ]
    token: Annotated[str, Field(pattern=rf"^([a-z2-7]{{{TOKEN_LETTERS}}})?$", description="One-time, or empty.")] = ""
    reports: Annotated[
        list[Annotated[str, Field(pattern=r"^[0-9]{1,9}$")]],
        Field(min_length=1, max_length=200, description="The disguised codes, question by question."),
    ]


@dataclass(frozen=True)
class Answer:
    """A disguised answer as it is stored: a random id and the reports, nothing of who sent it or when."""

    id: str
    reports: tuple[str, ...]


def width(question: Question) -> int:
    """How many digits the code of any answer to a question takes."""
    largest = question.between[1] if question.between else len(question.choices) - 1
    return len(str(largest))


def length(survey: Survey) -> int:
    """The bytes of every message of a survey."""
    smallest = [question.between[0] if question.between else 0 for question in survey.questions]
    return len(body(survey, smallest, "a" * TOKEN_LETTERS if survey.tokens else ""))


def body(survey: Survey, reports: Sequence[int], token: str = "") -> bytes:
    """The bytes to send for disguised codes; made once, since a retry must repeat them."""
    texts = [f"{code:0{width(question)}d}" for code, question in zip(reports, survey.questions, strict=True)]
    content = {"survey": survey.fingerprint, "id": secrets.token_hex(ID_DIGITS // 2), "token": token, "reports": texts}
    return json.dumps(content, separators=(",", ":")).encode()


def received(survey: Survey, sent: bytes) -> tuple[Answer, str]:
    """The answer and the token in a message, every field checked."""
    try:
        message = Message.model_validate_json(sent)
    except ValidationError as error:
        place = ".".join(str(part) for part in error.errors()[0]["loc"]) or "it"
        raise Refused(f"This is not an answer to the survey: {place} is not as it must be.") from None
    if message.survey != survey.fingerprint:
        raise Outdated("The survey has changed since this page was loaded. Load the page again.")
    if bool(message.token) != survey.tokens:
        raise Refused(f"A token must be {'given' if survey.tokens else 'left out'}.")
    if len(message.reports) != len(survey.questions):
        raise Refused("The number of reports is not that of the questions.")
    for text, question in zip(message.reports, survey.questions, strict=True):
        low, high = question.between or (0, len(question.choices) - 1)
        if len(text) != width(question) or not low <= int(text) <= high:
            raise Refused(f"The report on {question.name!r} is none of its choices.")
    return Answer(message.id, tuple(message.reports)), message.token
