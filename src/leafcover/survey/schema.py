"""A survey as its holder writes it: questions, their choices, and how each answer is disguised."""

import hashlib
import json
import tomllib
from functools import cached_property
from math import exp
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from leafcover.errors import LeafcoverError, PlanError, TableError
from leafcover.randomized_response import DisguisedColumns, Kary, Mechanism, OneCoin, Scheme, UnrelatedQuestion, Warner
from leafcover.randomized_response.mechanism import log_ratio

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
    def law(self) -> Mechanism | None:
        """The channel of this question alone; None when it is open or shares a coin."""
        if self.way in ("open", "shared"):
            return None
        if self.way == "unrelated":
            assert self.asked is not None
            assert self.alpha is not None
            return UnrelatedQuestion(self.asked, self.alpha)
        if self.theta is not None:
            return Warner(self.theta) if self.way == "warner" else Kary(self.theta, len(self.choices))
        kept = Kary.with_epsilon(self.epsilon or DEFAULT_EPSILON, len(self.choices))
        return Warner(kept.keep) if self.way == "warner" else kept

    @property
    def asked_how(self) -> list[Any]:
        """What an answer to it means: its words, its choices and its law, however the file spells that."""
        law = [] if self.law is None else [self.law.frozen_id, vars(self.law)]
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
        parts = [DisguisedColumns({q.name: q.choices}, q.law) for q in self.questions if q.law is not None]
        for coin, theta in self.coins.items():
            together = {q.name: q.choices for q in self.questions if q.coin == coin}
            parts.append(DisguisedColumns(together, OneCoin(theta, len(together))))
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


# Which laws a survey may use: neither one that gives the answer away nor one that says nothing.


MOST_ANSWERS = 100.0  # as many times the answers of an open question, and no more


def checked_law(part: DisguisedColumns, *, most: float) -> None:
    """Refuse a coin near 0 or 1, which hides almost nothing, and one near 1/2, which says almost nothing."""
    names = ", ".join(map(repr, part.names))
    epsilon = strength(part)
    if epsilon > most:
        raise PlanError(
            f"A report on {names} would change the odds by {exp(min(epsilon, 50)):.3g} times (epsilon {epsilon:.3g}), "
            f"more than max_epsilon = {most:g} allows. Choose a chance nearer to a fair draw."
        )
    if (times := cost(part)) > MOST_ANSWERS:
        raise PlanError(
            f"A report on {names} says almost nothing: it would need {times:,.0f} times the answers of an open "
            f"question (at most {MOST_ANSWERS:g}). Choose a chance further from a fair draw."
        )


def strength(part: DisguisedColumns) -> float:
    """The epsilon of one answer of a part; for a shared coin that of each answer alone, to who knows no other."""
    channel = part.channel
    if isinstance(channel, OneCoin):
        return log_ratio(channel.theta, 1 - channel.theta)
    epsilon = channel.privacy.epsilon
    return float("inf") if epsilon is None else epsilon


def cost(part: DisguisedColumns) -> float:
    """How many times the answers of an open question one needs for the same error, for a share of one half."""
    channel, half = part.channel, 0.5
    if isinstance(channel, OneCoin):
        extra = channel.variance(half, half, rows=1)
    elif isinstance(channel, Warner):
        extra = channel.variance(rows=1)
    elif isinstance(channel, Kary | UnrelatedQuestion):
        extra = channel.variance(half, rows=1)
    else:
        raise TypeError(type(channel).__name__)
    return 1 + extra / (half * (1 - half))


# A survey to begin with: every key explained beside a question that uses it.


_HEAD = """# A survey whose answers are disguised on the devices of the people who give them.
# Change what you like, then see what it needs and gives away:   leafcover survey design {name}
# Questions, choices and coins must stay as they are once people answer; the words around them may be mended.

version = 1
title = "Habits at work"
holder = "the works council"       # who asks; people read it
introduction = "We want to know how common some habits are, not who has them."
language = "en"                    # of your words, for screen readers

# tokens = true                    # only who has a one-time link can answer: leafcover survey tokens {name} --count 200
# offline = true                   # people may also answer from a file they were given: leafcover survey page {name}
# keep_day = true                  # keep the day an answer came; otherwise nothing tells when
# max_epsilon = 3.0                # refuse a question whose report would change the odds by more than e^3, 20 times
"""

_COIN_EACH = """
# Every question must be answered: a gap would be seen. Offer "I would rather not say" as a choice.
# Each question tosses a coin of its own.

# Two choices: the true answer with chance theta, else the other one. The further theta is from 1/2, the fewer answers
# you need and the less it hides. Without theta or epsilon a question tells the truth three times out of four.
[[questions]]
name = "taken"                     # a short name, for tables
text = "Have you ever taken something home from work that was not yours?"
help = "Pens count, too."          # may be left out
choices = ["no", "yes"]
theta = 0.75

# More choices: the true answer, or one of the others, all as likely. epsilon says how much a report may tell: it
# changes the odds between two answers by at most e^epsilon times. (theta, the chance of the true answer, does as well.)
[[questions]]
name = "ill"
text = "How often did you say you were ill last year when you were not?"
choices = ["never", "once or twice", "more often", "I would rather not say"]
channel = "k-ary"
epsilon = 1.5

# The true answer with chance asked; otherwise the device draws "yes" (the second choice) with chance alpha, else "no".
[[questions]]
name = "cash"
text = "Were you ever paid in cash without a receipt?"
choices = ["no", "yes"]
channel = "unrelated"
asked = 0.6
alpha = 0.5

# Open questions are sent as they were answered, and the page says so. Ask few: together they may show who answered.
[[questions]]
name = "site"
text = "Where do you work?"
choices = ["office", "workshop", "outdoors"]
channel = "open"

# An open question may also ask for a whole number.
[[questions]]
name = "years"
text = "For how many years have you worked here?"
channel = "open"
between = [0, 60]

# Questions can share one coin: leafcover survey new FILE --one-coin writes an example and says what that costs.
"""

_ONE_COIN = """
# One coin for all questions: with chance "all" every answer is sent as it is, otherwise every one is turned round.
# Trees and tables over many questions then need far fewer answers. But there is no limit to what is given away: whoever
# knows one true answer of a person knows them all, and the page tells people so. Only questions with two choices can
# share a coin. Other questions may stand beside them; each then has a coin of its own.
[coins]
all = 0.75

[[questions]]
name = "taken"                     # a short name, for tables
text = "Have you ever taken something home from work that was not yours?"
choices = ["no", "yes"]
coin = "all"

[[questions]]
name = "ill"
text = "Did you ever say you were ill when you were not?"
choices = ["no", "yes"]
coin = "all"

[[questions]]
name = "cash"
text = "Were you ever paid in cash without a receipt?"
choices = ["no", "yes"]
coin = "all"

# An open question is sent as it was answered, and the page says so.
[[questions]]
name = "site"
text = "Where do you work?"
choices = ["office", "workshop", "outdoors"]
channel = "open"
"""


def example(name: str, *, one_coin: bool = False) -> str:
    """The text of a survey file; ``name`` is what the file is called."""
    return _HEAD.format(name=name) + (_ONE_COIN if one_coin else _COIN_EACH)
