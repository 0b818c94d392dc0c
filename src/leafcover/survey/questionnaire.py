"""The survey file: questions, their choices, and the mechanism that randomises each answer.

`Survey` and `Question` are the TOML file with all its checks, `read_survey` reads it. `check_mechanism` refuses
mechanisms that reveal too much or too little. `example` is a survey file to start from.
"""

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

DEFAULT_EPSILON = 1.0986122886681098  # ln 3: with two choices the true answer is sent three times out of four
MOST_DIGITS = 9  # of an open number: nine digits fit a 32-bit code
MOST_ANSWERS = 100.0  # a mechanism may cost at most this multiple of the answers of an open question

# Plain words for errors that pydantic describes in terms of Python.
MISTAKES = {
    "extra_forbidden": "is not a key of a survey; check its spelling",
    "missing": "is missing",
    "tuple_type": "must be a list in square brackets",
    "string_type": "must be text in quotes",
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
    """A table of the file: unknown keys are refused, values cannot be changed."""

    model_config = ConfigDict(frozen=True, extra="forbid", str_strip_whitespace=True)


class Question(_Part):
    """One question; ``mechanism`` names what randomises its answer, "open" sends the answer unchanged.

    >>> question = Question(name="taken", text="Have you ever taken something home?", choices=("no", "yes"), theta=0.8)
    >>> question.response_mechanism
    Warner(theta=0.8)
    """

    name: Name
    text: Line
    help: Annotated[str, Field(max_length=400)] = ""
    choices: Annotated[tuple[Name, ...], Field(max_length=200)] = ()
    between: tuple[int, int] | None = None  # for an open whole number: the smallest and the largest
    mechanism: Literal["warner", "k-ary", "unrelated", "shared", "open"] | None = None
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
            raise ValueError("has the same choice twice")
        if self.mechanism_name in ("warner", "unrelated", "shared") and len(self.choices) != 2:
            raise ValueError(
                f"mechanism {self.mechanism_name!r} needs two choices, got {len(self.choices)}; use 'k-ary'"
            )
        self._checked_keys()
        return self

    def _checked_number(self) -> None:
        assert self.between is not None
        low, high = self.between
        if self.choices or self.mechanism_name != "open":
            raise ValueError("'between' is for open numbers only: write mechanism = 'open' and no choices")
        if not 0 <= low < high < 10**MOST_DIGITS:
            raise ValueError(f"'between' must be two whole numbers from 0 to {10**MOST_DIGITS - 1}, the smaller first")

    def _checked_keys(self) -> None:
        """Refuse keys that the mechanism would ignore, and miss none that it needs."""
        read = {
            "warner": {"theta", "epsilon"},
            "k-ary": {"theta", "epsilon"},
            "unrelated": {"asked", "alpha"},
            "shared": {"coin"},
            "open": set(),
        }[self.mechanism_name]
        given = {key for key in ("theta", "epsilon", "asked", "alpha", "coin") if getattr(self, key) is not None}
        if extra := sorted(given - read):
            raise ValueError(
                f"mechanism {self.mechanism_name!r} has no {extra[0]!r}; remove it or choose another mechanism"
            )
        if {"theta", "epsilon"} <= given:
            raise ValueError("write 'theta' or 'epsilon', not both: each determines the other")
        if self.mechanism_name in ("unrelated", "shared") and (lacks := sorted(read - given)):
            raise ValueError(f"mechanism {self.mechanism_name!r} needs {lacks[0]!r}")

    @property
    def mechanism_name(self) -> str:
        """The name of the mechanism; by default Warner's for two choices and k-ary for more."""
        if self.mechanism is not None:
            return self.mechanism
        if self.coin is not None:
            return "shared"
        return "warner" if len(self.choices) == 2 else "k-ary"

    @property
    def is_open(self) -> bool:
        """Whether the answer is sent unchanged."""
        return self.mechanism_name == "open"

    @property
    def response_mechanism(self) -> Mechanism | None:
        """The mechanism of this question alone; None when it is open or shares a coin."""
        if self.mechanism_name in ("open", "shared"):
            return None
        if self.mechanism_name == "unrelated":
            assert self.asked is not None
            assert self.alpha is not None
            return UnrelatedQuestion(self.asked, self.alpha)
        if self.theta is not None:
            return Warner(self.theta) if self.mechanism_name == "warner" else Kary(self.theta, len(self.choices))
        kept = Kary.with_epsilon(self.epsilon or DEFAULT_EPSILON, len(self.choices))
        return Warner(kept.keep) if self.mechanism_name == "warner" else kept

    @property
    def fingerprint_fields(self) -> list[Any]:
        """What determines the meaning of an answer, independent of how the file spells it."""
        found = self.response_mechanism
        mechanism = [] if found is None else [found.frozen_id, vars(found)]
        return [self.name, self.text, self.choices, self.between, self.mechanism_name, self.coin, mechanism]


class Survey(_Part):
    """A whole survey. Every question must be answered, because a gap would be sent unchanged.

    Offer "I would rather not say" as a choice instead; it is randomised like the others.
    """

    version: Literal[1] = 1
    title: Line
    owner: Line = "the survey owner"
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
        asked = {question.coin for question in self.questions if question.mechanism_name == "shared"}
        if unknown := sorted(str(coin) for coin in asked - set(self.coins)):
            raise ValueError(f"a question uses the coin {unknown[0]!r}, which [coins] does not define; add its theta")
        if unused := sorted(set(self.coins) - asked):
            raise ValueError(f"no question uses the coin {unused[0]!r}; remove it from [coins]")
        for number, question in enumerate(self.questions, 1):
            try:
                _ = question.response_mechanism
            except LeafcoverError as error:
                raise PlanError(f"Question {number}, {question.name!r}: {error}") from None
        for part in self.scheme.parts:
            check_mechanism(part, most=self.max_epsilon)
        return self

    @cached_property
    def scheme(self) -> Scheme:
        """Which questions are randomised by which mechanism; open questions are not in it."""
        parts = [
            DisguisedColumns({q.name: q.choices}, q.response_mechanism)
            for q in self.questions
            if q.response_mechanism is not None
        ]
        for coin, theta in self.coins.items():
            together = {q.name: q.choices for q in self.questions if q.coin == coin}
            parts.append(DisguisedColumns(together, OneCoin(theta, len(together))))
        return Scheme(*parts)

    @cached_property
    def fingerprint(self) -> str:
        """Thirty-two hexadecimal digits that change with every question, choice and coin.

        They keep answers to different questions apart. The texts around the questions do not change them.
        """
        content = [self.version, self.coins, [question.fingerprint_fields for question in self.questions]]
        text = json.dumps(content, sort_keys=True, ensure_ascii=True)
        return hashlib.sha256(text.encode()).hexdigest()[:32]


def read_survey(path: str | Path) -> Survey:
    """The survey in a TOML file; an error names the first mistake in one line."""
    try:
        text = Path(path).read_text("utf-8-sig")
    except FileNotFoundError:
        raise TableError(f"There is no survey file {str(path)!r}. Create one: leafcover survey new FILE.") from None
    except (OSError, UnicodeDecodeError) as error:
        raise TableError(
            f"The survey file {str(path)!r} cannot be read as text ({type(error).__name__}). Save it as UTF-8."
        ) from None
    return survey_from(text)


def survey_from(text: str) -> Survey:
    """The survey in a TOML text."""
    try:
        content = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise PlanError(f"The survey is not valid TOML: {error}. Correct the file.") from None
    try:
        return Survey.model_validate(content)
    except ValidationError as error:
        raise PlanError(f"The survey is invalid: {_mistake(error)}.") from None
    except LeafcoverError as error:
        raise PlanError(f"The survey is invalid: {error}") from None


def _mistake(error: ValidationError) -> str:
    """The first mistake, with the number of its question."""
    # An unknown key comes first: often it is a missing key, misspelt.
    first = min(error.errors(), key=lambda one: one["type"] != "extra_forbidden")
    place = [str(part + 1) if isinstance(part, int) else str(part) for part in first["loc"]]
    about = MISTAKES.get(first["type"], first["msg"].replace("Input should be ", "must be ", 1))
    message = about.removeprefix("Value error, ")
    if place[:1] == ["questions"] and len(place) > 1:
        place[:2] = [f"question {place[1]}"]
    where = ", ".join(place)
    text = f"{message[0].lower()}{message[1:]}"
    if first["type"] not in ("extra_forbidden", "missing") and isinstance(first["input"], str | int | float):
        text += f". Got {first['input']!r}"
    if not where:
        return text
    return f"{where} {text}" if text.startswith(("is ", "must be ")) else f"{where}: {text}"


# Which mechanisms a survey may use.


def check_mechanism(part: DisguisedColumns, *, most: float) -> None:
    """Refuse a mechanism that reveals more than ``most`` allows, and one whose reports say almost nothing."""
    names = ", ".join(map(repr, part.names))
    epsilon = strength(part)
    if epsilon > most:
        raise PlanError(
            f"max_epsilon is {most:g}, but a report on {names} changes the odds by a factor of "
            f"{exp(min(epsilon, 50)):.3g} (epsilon {epsilon:.3g}). Choose a probability closer to a fair draw."
        )
    if (times := cost(part)) > MOST_ANSWERS:
        raise PlanError(
            f"A report on {names} says almost nothing: it needs {times:,.0f} times the answers of an open question, "
            f"and at most {MOST_ANSWERS:g} are allowed. Choose a probability further from a fair draw."
        )


def strength(part: DisguisedColumns) -> float:
    """The epsilon of one answer; with a shared coin, that of each answer to someone who knows no other answer."""
    mechanism = part.mechanism
    if isinstance(mechanism, OneCoin):
        return log_ratio(mechanism.theta, 1 - mechanism.theta)
    epsilon = mechanism.privacy.epsilon
    return float("inf") if epsilon is None else epsilon


def cost(part: DisguisedColumns) -> float:
    """The multiple of the answers of an open question that the same error needs, at a share of one half."""
    mechanism, half = part.mechanism, 0.5
    if isinstance(mechanism, OneCoin):
        extra = mechanism.variance(half, half, rows=1)
    elif isinstance(mechanism, Warner):
        extra = mechanism.variance(rows=1)
    elif isinstance(mechanism, Kary | UnrelatedQuestion):
        extra = mechanism.variance(half, rows=1)
    else:
        raise TypeError(type(mechanism).__name__)
    return 1 + extra / (half * (1 - half))


# The example survey: every key is explained beside a question that uses it.


_HEAD = """# A survey whose answers are randomised on the respondents' devices.
# Change what you like, then see what it reveals and how many answers it needs:   leafcover survey design {name}
# Do not change questions, choices or coins once people answer; other texts may be corrected.

version = 1
title = "Habits at work"
owner = "the works council"        # who asks; shown to respondents
introduction = "We want to know how common some habits are, not who has them."
language = "en"                    # of your texts, for screen readers

# tokens = true                    # require a one-time link: leafcover survey tokens {name} --count 200
# offline = true                   # also accept answers from a file: leafcover survey page {name}
# keep_day = true                  # store the day an answer arrived; otherwise no time is stored
# max_epsilon = 3.0                # refuse a question whose report changes the odds by a factor above e^3, about 20
"""

_COIN_EACH = """
# Every question must be answered, because a gap would be visible. Offer "I would rather not say" as a choice.
# Each of these questions has a coin of its own.

# Two choices: the true answer with probability theta, else the other one. The further theta is from 1/2, the fewer
# answers you need and the less it protects. The default sends the true answer three times out of four.
[[questions]]
name = "taken"                     # a short name, for tables
text = "Have you ever taken something home from work that was not yours?"
help = "Pens count, too."          # optional
choices = ["no", "yes"]
theta = 0.75

# More choices: the true answer, or one of the others, each equally likely. epsilon limits what a report reveals: it
# changes the odds between two answers by a factor of at most e^epsilon. (Or write theta, the chance of the truth.)
[[questions]]
name = "ill"
text = "How often did you say you were ill last year when you were not?"
choices = ["never", "once or twice", "more often", "I would rather not say"]
mechanism = "k-ary"
epsilon = 1.5

# The true answer with probability asked; otherwise the device draws "yes" (the second choice) with probability alpha.
[[questions]]
name = "cash"
text = "Were you ever paid in cash without a receipt?"
choices = ["no", "yes"]
mechanism = "unrelated"
asked = 0.6
alpha = 0.5

# Open answers are sent unchanged, and the page says so. Ask few: together they may identify the respondent.
[[questions]]
name = "site"
text = "Where do you work?"
choices = ["office", "workshop", "outdoors"]
mechanism = "open"

# An open question may also ask for a whole number.
[[questions]]
name = "years"
text = "For how many years have you worked here?"
mechanism = "open"
between = [0, 60]

# Questions can share one coin: leafcover survey new FILE --one-coin writes an example and explains the risk.
"""

_ONE_COIN = """
# One coin for all questions: with probability "all" every answer is sent unchanged, otherwise every one is flipped.
# Trees and tables over many questions then need far fewer answers. But nothing limits what is revealed: anyone who
# knows one true answer of a person knows them all, and the page says so. Only questions with two choices can share a
# coin. Other questions can be added; each then has a coin of its own.
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

# The answer to an open question is sent unchanged, and the page says so.
[[questions]]
name = "site"
text = "Where do you work?"
choices = ["office", "workshop", "outdoors"]
mechanism = "open"
"""


def example(name: str, *, one_coin: bool = False) -> str:
    """The text of an example survey file; ``name`` is the name of the file."""
    return _HEAD.format(name=name) + (_ONE_COIN if one_coin else _COIN_EACH)
