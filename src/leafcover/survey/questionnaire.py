"""A survey as its holder writes it: questions, their choices, and how each answer is disguised."""

import hashlib
import json
import tomllib
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from leafcover.channels import Channel, Kary, OneCoin, Unrelated, Warner
from leafcover.errors import LeafcoverError, PlanError, TableError
from leafcover.response import Part, Scheme
from leafcover.survey.limits import checked_law

DEFAULT_EPSILON = 1.0986122886681098  # ln 3, as of a coin that tells the truth three times out of four
MOST_DIGITS = 9  # of an open number: nine fit a 32-bit code

# What pydantic says in the words of programmers.
MISTAKES = {
    "extra_forbidden": "is no key of a survey; look at its spelling",
    "missing": "must be given",
    "tuple_type": "must be a list in square brackets",
    "string_type": "must be a text in quotes",
    "bool_type": "must be true or false",
    "float_type": "must be a number without quotes",
    "int_type": "must be a whole number",
    "model_type": "must be a table, written as [[questions]]",
    "model_attributes_type": "must be a table, written as [[questions]]",
}

Line = Annotated[str, Field(min_length=1, max_length=400)]
Name = Annotated[str, Field(min_length=1, max_length=60, pattern=r"^[^\x00-\x1f]+$")]
Chance = Annotated[float, Field(ge=0, le=1, strict=True)]
YesNo = Annotated[bool, Field(strict=True)]


class _Part(BaseModel):
    """A table of the file: its keys are known, its values cannot change."""

    model_config = ConfigDict(frozen=True, extra="forbid", str_strip_whitespace=True)


class Question(_Part):
    """One question; ``channel`` says how its answer is disguised, "open" that it is not.

    >>> Question(name="taken", text="Have you ever taken something home?", choices=("no", "yes"), theta=0.8).law
    Warner(theta=0.8)
    """

    name: Name
    text: Line
    help: Annotated[str, Field(max_length=400)] = ""
    choices: Annotated[tuple[Name, ...], Field(max_length=200)] = ()
    between: tuple[int, int] | None = None  # of an open question: a whole number, the smallest and the largest
    channel: Literal["warner", "k-ary", "unrelated", "shared", "open"] | None = None
    theta: Chance | None = None
    epsilon: Annotated[float, Field(gt=0, lt=50, strict=True)] | None = None
    asked: Chance | None = None
    alpha: Chance | None = None
    coin: Name | None = None

    @model_validator(mode="after")
    def _consistent(self) -> "Question":
        if self.between is not None:
            self._checked_number()
        elif len(self.choices) < 2:
            raise ValueError("needs at least two choices")
        if len(set(self.choices)) != len(self.choices):
            raise ValueError("names a choice twice")
        if self.way in ("warner", "unrelated", "shared") and len(self.choices) != 2:
            raise ValueError(f"channel {self.way!r} takes two choices, this has {len(self.choices)}; use 'k-ary'")
        self._checked_keys()
        return self

    def _checked_number(self) -> None:
        assert self.between is not None
        low, high = self.between
        if self.choices or self.way != "open":
            raise ValueError("'between' is for a number asked openly: give channel = 'open' and no choices")
        if not 0 <= low < high < 10**MOST_DIGITS:
            raise ValueError(f"'between' must be two whole numbers from 0 to {10**MOST_DIGITS - 1}, the smaller first")

    def _checked_keys(self) -> None:
        """Keys that the channel does not read would be believed to do something."""
        read = {
            "warner": {"theta", "epsilon"},
            "k-ary": {"theta", "epsilon"},
            "unrelated": {"asked", "alpha"},
            "shared": {"coin"},
            "open": set(),
        }[self.way]
        given = {key for key in ("theta", "epsilon", "asked", "alpha", "coin") if getattr(self, key) is not None}
        if extra := sorted(given - read):
            raise ValueError(f"channel {self.way!r} does not read {extra[0]!r}; take it out or choose another channel")
        if {"theta", "epsilon"} <= given:
            raise ValueError("give 'theta' or 'epsilon', not both: each follows from the other")
        if self.way in ("unrelated", "shared") and (lacks := sorted(read - given)):
            raise ValueError(f"channel {self.way!r} needs {lacks[0]!r}")

    @property
    def way(self) -> str:
        """The channel's name; with two choices Warner's unless another was chosen, with more k-ary."""
        if self.channel is not None:
            return self.channel
        if self.coin is not None:
            return "shared"
        return "warner" if len(self.choices) == 2 else "k-ary"

    @property
    def is_open(self) -> bool:
        """Whether the answer is sent as it was given."""
        return self.way == "open"

    @property
    def law(self) -> Channel | None:
        """The channel of this question alone; None when it is open or shares a coin."""
        if self.way in ("open", "shared"):
            return None
        if self.way == "unrelated":
            assert self.asked is not None
            assert self.alpha is not None
            return Unrelated(self.asked, self.alpha)
        if self.theta is not None:
            return Warner(self.theta) if self.way == "warner" else Kary(self.theta, len(self.choices))
        kept = Kary.with_epsilon(self.epsilon or DEFAULT_EPSILON, len(self.choices))
        return Warner(kept.keep) if self.way == "warner" else kept

    @property
    def asked_how(self) -> list[Any]:
        """What an answer to it means: its words, its choices and its law, however the file spells that."""
        law = [] if self.law is None else [type(self.law).__name__, vars(self.law)]
        return [self.name, self.text, self.choices, self.between, self.way, self.coin, law]


class Survey(_Part):
    """A whole survey. Every question must be answered: a gap would be sent undisguised.

    Offer "I would rather not say" as a choice instead; it is disguised like the others.
    """

    version: Literal[1] = 1
    title: Line
    holder: Line = "the holder of this survey"
    introduction: Annotated[str, Field(max_length=4000)] = ""
    language: Annotated[str, Field(pattern=r"^[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*$")] = "en"
    tokens: YesNo = False
    offline: YesNo = False
    keep_day: YesNo = False
    max_epsilon: Annotated[float, Field(gt=0, le=10, strict=True)] = 3.0
    coins: dict[Name, Chance] = Field(default_factory=dict)
    questions: Annotated[tuple[Question, ...], Field(min_length=1, max_length=200)]

    @field_validator("questions")
    @classmethod
    def _named_once(cls, questions: tuple[Question, ...]) -> tuple[Question, ...]:
        names = [question.name for question in questions]
        if twice := sorted({name for name in names if names.count(name) > 1}):
            raise ValueError(f"two questions are named {twice[0]!r}")
        return questions

    @model_validator(mode="after")
    def _tossed(self) -> "Survey":
        asked = {question.coin for question in self.questions if question.way == "shared"}
        if unknown := sorted(str(coin) for coin in asked - set(self.coins)):
            raise ValueError(f"a question shares the coin {unknown[0]!r}, but [coins] does not give its theta")
        if unused := sorted(set(self.coins) - asked):
            raise ValueError(f"no question shares the coin {unused[0]!r}; take it out of [coins]")
        for number, question in enumerate(self.questions, 1):
            try:
                _ = question.law
            except LeafcoverError as error:
                raise PlanError(f"Question {number}, {question.name!r}: {error}") from None
        for part in self.scheme.parts:
            checked_law(part, most=self.max_epsilon)
        return self

    @cached_property
    def scheme(self) -> Scheme:
        """How the questions are disguised; open ones are in no part."""
        parts = [Part({q.name: q.choices}, q.law) for q in self.questions if q.law is not None]
        for coin, theta in self.coins.items():
            together = {q.name: q.choices for q in self.questions if q.coin == coin}
            parts.append(Part(together, OneCoin(theta, len(together))))
        return Scheme(*parts)

    @cached_property
    def fingerprint(self) -> str:
        """Thirty-two digits that change with every question, choice and coin: answers to other ones are not mixed in.

        The words around the questions may be mended while people answer.
        """
        content = [self.version, self.coins, [question.asked_how for question in self.questions]]
        text = json.dumps(content, sort_keys=True, ensure_ascii=True)
        return hashlib.sha256(text.encode()).hexdigest()[:32]


def read_survey(path: str | Path) -> Survey:
    """The survey in a TOML file, or one line that says where it is wrong."""
    try:
        text = Path(path).read_text("utf-8-sig")
    except FileNotFoundError:
        raise TableError(f"There is no survey file {str(path)!r}. Write one with: leafcover survey new FILE.") from None
    except (OSError, UnicodeDecodeError) as error:
        raise TableError(f"The survey file {str(path)!r} cannot be read as text ({type(error).__name__}).") from None
    return survey_from(text)


def survey_from(text: str) -> Survey:
    """The survey that a TOML text describes."""
    try:
        content = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise PlanError(f"The survey is not TOML: {error}. Correct the file.") from None
    try:
        return Survey.model_validate(content)
    except ValidationError as error:
        raise PlanError(f"The survey says {_said(error)}.") from None
    except LeafcoverError as error:
        raise PlanError(f"The survey cannot be asked so. {error}") from None


def _said(error: ValidationError) -> str:
    """The first mistake, with the number of its question."""
    # A key that is not known is often the misspelt one that is missing.
    first = min(error.errors(), key=lambda one: one["type"] != "extra_forbidden")
    place = [str(part + 1) if isinstance(part, int) else str(part) for part in first["loc"]]
    message = MISTAKES.get(first["type"], first["msg"].removeprefix("Value error, "))
    if place[:1] == ["questions"] and len(place) > 1:
        place[:2] = [f"question {place[1]}"]
    where = ", ".join(place) or "as a whole"
    return f"something that cannot be: {where}: {message[0].lower()}{message[1:]}"
