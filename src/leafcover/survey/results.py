"""The results of a survey: estimated shares with intervals, shares within groups, and a decision tree.

Also here: the answers of a store or an exported file as a table, and their export. Nothing is estimated from fewer than
a hundred answers. The sentences are in ``locales/en/survey.ftl``.
"""

import secrets
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from math import sqrt
from pathlib import Path
from typing import Any

import numpy as np

from leafcover.arrays import MISSING, Array, Bools, Floats
from leafcover.errors import NameUnknown, OutputError, PlanError, TableError
from leafcover.messages import catalogue
from leafcover.randomized_response import JointDistribution, ProportionEstimate, estimate, joint
from leafcover.randomized_response.estimate import DEVIATIONS, of_weights, recoded_column, weights
from leafcover.randomized_response.tree import StoppingRules, accuracy, grow_tree
from leafcover.survey.questionnaire import Question, Survey
from leafcover.survey.storage import Store
from leafcover.table.io import read, write
from leafcover.table.table import Column, Grid, Table, splitmix64
from leafcover.tree.export import nested_nodes, picture
from leafcover.tree.export import rules as rules_of
from leafcover.tree.export import text as text_of
from leafcover.tree.histogram import quantile_codes
from leafcover.tree.tree import Tree

LEAST_ANSWERS = 100  # the intervals use the normal approximation, and results about a few people could identify them
MOST_OUTSIDE = 4  # standard errors: chance alone exceeds this once in 30,000 times

say = catalogue("survey")


@dataclass(frozen=True)
class ChoiceEstimate:
    """One choice of a question: its share, scaled to sum to 1 with the others, and its own unbiased estimate."""

    choice: str
    share: float
    estimate: ProportionEstimate
    is_open: bool = False

    @property
    def interval(self) -> tuple[float, float]:
        """The 95% interval for the population, widened where needed to contain the share."""
        low, high = wilson(self.share, self.estimate.rows) if self.is_open else self.estimate.sampling_interval
        return min(low, self.share), max(high, self.share)


@dataclass(frozen=True)
class Mean:
    """The mean of an open number."""

    value: float
    error: float

    @property
    def interval(self) -> tuple[float, float]:
        """The 95% interval for the population."""
        return self.value - DEVIATIONS * self.error, self.value + DEVIATIONS * self.error


@dataclass(frozen=True)
class QuestionResult:
    """The result of one question: the shares of its choices, or the mean of a number."""

    question: Question
    choices: tuple[ChoiceEstimate, ...] = ()
    mean: Mean | None = None


@dataclass(frozen=True)
class Results:
    """The results of a survey, question by question."""

    title: str
    answers: int
    questions: tuple[QuestionResult, ...]
    warnings: tuple[str, ...]

    def as_json(self) -> dict[str, Any]:
        """A dictionary for JSON."""
        return {
            "title": self.title,
            "answers": self.answers,
            "questions": [_question_json(found) for found in self.questions],
            "warnings": list(self.warnings),
        }


def results(survey: Survey, table: Table) -> Results:
    """The share of every choice; refused below `LEAST_ANSWERS` answers."""
    checked_number(table)
    found = tuple(_found(survey, table, question) for question in survey.questions)
    warnings = tuple(warning for one in found for warning in _warnings(one))
    return Results(survey.title, len(table), found, warnings)


def conjunction(survey: Survey, table: Table, literals: Mapping[str, str | float]) -> ProportionEstimate:
    """The share of people who gave all of these answers."""
    checked_number(table)
    return estimate(table, survey.scheme, literals)


def interval_of(survey: Survey, found: ProportionEstimate, literals: Mapping[str, str | float]) -> tuple[float, float]:
    """The 95% interval for the population; Wilson's interval where no question involved is randomised."""
    disguised = {name for part in survey.scheme.parts for name in part.names}
    return found.sampling_interval if disguised & set(literals) else wilson(found.share, found.rows)


def cross(survey: Survey, table: Table, first: str, second: str) -> JointDistribution:
    """The joint distribution of the answers to two questions, with the choices in the order of the survey."""
    checked_number(table)
    found = joint(table, survey.scheme, [first, second])
    asked = [question_named(survey, name).choices for name in (first, second)]
    shares = found.shares
    for axis, (levels, choices) in enumerate(zip(found.levels, asked, strict=True)):
        shares = shares.take([levels.index(choice) for choice in choices], axis=axis)
    return JointDistribution(found.columns, tuple(asked), shares, found.rows, found.missing, found.settled)


def checked_number(table: Table) -> None:
    """Refuse to estimate from a few people."""
    if len(table) < LEAST_ANSWERS:
        raise TableError(f"Estimates need at least {LEAST_ANSWERS} answers. Got {len(table)}. Wait for more answers.")


def question_named(survey: Survey, name: str) -> Question:
    """The question with this name, which must have choices."""
    for question in survey.questions:
        if question.name == name:
            if question.between:
                raise PlanError(f"Question {name!r} asks for a number. Name a question with choices.")
            return question
    raise NameUnknown("question", name, [question.name for question in survey.questions])


def results_text(found: Results) -> str:
    """The results as plain text."""
    lines = [say("results-title", title=found.title, answers=found.answers)]
    heads = (say("results-answer"), say("results-share"), say("results-interval"))
    for one in found.questions:
        kind = "unchanged" if one.question.is_open else "randomised"
        lines += ["", say("results-question", name=one.question.name, text=one.question.text, kind=kind)]
        if one.mean is not None:
            low, high = one.mean.interval
            lines.append(say("results-mean", mean=f"{one.mean.value:.2f}", low=f"{low:.2f}", high=f"{high:.2f}"))
        else:
            rows = [(choice.choice, percent(choice.share), _range(choice.interval)) for choice in one.choices]
            lines.append(side_by_side(heads, rows))
    return "\n".join(lines)


def wilson(share: float, rows: int) -> tuple[float, float]:
    """Wilson's 95% interval of a counted share; it does not shrink to a point when nobody chose an answer.

    >>> low, high = wilson(0.0, 100)
    >>> round(low, 3), round(high, 3)
    (0.0, 0.037)
    """
    extra = DEVIATIONS**2 / rows
    middle = (share + extra / 2) / (1 + extra)
    half = sqrt(extra * share * (1 - share) + extra**2 / 4) / (1 + extra)
    return max(0.0, middle - half), min(1.0, middle + half)


def percent(share: float) -> str:
    """A share in per cent.

    >>> percent(0.1234)
    '12.3%'
    """
    return f"{100 * share:.1f}%"


def _range(interval: tuple[float, float]) -> str:
    low, high = interval
    return say("results-range", low=percent(low), high=percent(high))


def _found(survey: Survey, table: Table, question: Question) -> QuestionResult:
    if question.between:
        values = table[question.name].values
        return QuestionResult(question, mean=Mean(float(values.mean()), float(values.std(ddof=1)) / sqrt(len(values))))
    shares = joint(table, survey.scheme, [question.name])
    by_choice = dict(zip(shares.levels[0], shares.shares.tolist(), strict=True))
    return QuestionResult(
        question,
        tuple(
            ChoiceEstimate(
                choice, by_choice[choice], estimate(table, survey.scheme, {question.name: choice}), question.is_open
            )
            for choice in question.choices
        ),
    )


def _warnings(found: QuestionResult) -> list[str]:
    return [
        say(
            "results-outside",
            question=found.question.name,
            choice=one.choice,
            errors=f"{one.estimate.outside:.1f}",
        )
        for one in found.choices
        if one.estimate.outside > MOST_OUTSIDE
    ]


def _question_json(found: QuestionResult) -> dict[str, Any]:
    content: dict[str, Any] = {"name": found.question.name, "mechanism": found.question.mechanism_name}
    if found.mean is not None:
        return content | {"mean": found.mean.value, "error": found.mean.error, "interval": list(found.mean.interval)}
    return content | {"choices": [_choice_json(one) for one in found.choices]}


def _choice_json(one: ChoiceEstimate) -> dict[str, Any]:
    return {"choice": one.choice, "share": one.share, "interval": list(one.interval)} | estimate_json(one.estimate)


def estimate_json(found: ProportionEstimate) -> dict[str, float | int]:
    """The figures of an estimate, for JSON."""
    return {
        "raw": found.raw,
        "error": found.error,
        "sampling_error": found.sampling_error,
        "answers": found.rows,
    }


# The share of an answer within each group, where the groups are the answers to another question.
#
# Both shares are means of weights. Their ratio r has the variance mean((w - r g)²) / (n mean(g)²), where w is the
# weight of "answer and group" and g the weight of "group".


@dataclass(frozen=True)
class Group:
    """The people who gave one answer to the grouping question."""

    choice: str
    size: ProportionEstimate  # their share of all people
    within: ProportionEstimate | None  # the requested share among them; None where there are too few people


def by_group(survey: Survey, table: Table, name: str, literals: Mapping[str, str | float]) -> tuple[Group, ...]:
    """The share of people who gave all these answers, within each group."""
    checked_number(table)
    if name in literals:
        raise PlanError(f"Question {name!r} defines the groups, so its shares within them are trivial. Name another.")
    groups = []
    for choice in question_named(survey, name).choices:
        group = weights(table, survey.scheme, {name: choice})
        both = weights(table, survey.scheme, {name: choice, **literals})
        size = of_weights(group)
        if (
            size.raw_count < LEAST_ANSWERS or size.interval[0] <= 0
        ):  # the share within a group that may be empty is undefined
            groups.append(Group(choice, size, None))
            continue
        ratio, rows = float(both.sum() / group.sum()), len(group)
        error = sqrt(float(np.square(both - ratio * group).mean()) / rows) / size.raw
        groups.append(Group(choice, size, ProportionEstimate(ratio, error, error, round(size.raw_count), 0)))
    return tuple(groups)


def groups_text(groups: tuple[Group, ...]) -> str:
    """The groups as plain text."""
    rows = []
    for group in groups:
        people = say("results-about", people=max(0, round(group.size.raw_count)))
        share, interval = say("results-too-few"), ""
        if group.within is not None:
            share, interval = percent(group.within.share), _range(group.within.sampling_interval)
        rows.append((group.choice, people, share, interval))
    heads = (say("results-group"), say("results-people"), say("results-share"), say("results-interval"))
    return side_by_side(heads, rows)


def as_json(groups: tuple[Group, ...]) -> list[dict[str, Any]]:
    """The groups as a list for JSON."""
    return [
        {
            "group": group.choice,
            "size": estimate_json(group.size),
            "share": None if group.within is None else group.within.share,
            "interval": None if group.within is None else list(group.within.sampling_interval),
            "within": None if group.within is None else estimate_json(group.within),
        }
        for group in groups
    ]


def side_by_side(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table as plain text: the first column is aligned left, the others right.

    >>> print(side_by_side(("answer", "share"), [("no", "70.0%"), ("yes", "30.0%")]))
    answer  share
    no      70.0%
    yes     30.0%
    """
    widths = [max(map(len, column)) for column in zip(heads, *rows, strict=True)]
    return "\n".join(
        "  ".join(
            cell.ljust(width) if place == 0 else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in (heads, *rows)
    )


# The tree that predicts one question from the others, grown and tested on randomised answers alone.


GROUPS = 4  # of about equal size, for an open number
TEST_SHARE = 0.3
LEAST_PART = 30  # answers to grow from and to test with, each
SOUND = StoppingRules()


@dataclass(frozen=True)
class SurveyTree:
    """A tree and its accuracy."""

    tree: Tree
    answers: int  # that it was grown from
    accuracy: ProportionEstimate  # on other answers than it was grown from
    guessing: ProportionEstimate  # the accuracy of always predicting the most frequent answer

    @cached_property
    def words(self) -> str:
        """The accuracy of the tree, in sentences."""
        low, high = self.accuracy.sampling_interval
        usual = self.tree.classes[self.tree.label[0]]
        sentences = say(
            "tree-accuracy",
            answers=self.answers,
            tested=self.accuracy.rows,
            share=percent(self.accuracy.share),
            low=percent(low),
            high=percent(high),
            usual=usual,
            baseline=percent(self.guessing.share),
        )
        if self.tree.size == 1:
            return f"{sentences} {say('tree-leaf')}"
        if self.accuracy.raw <= self.guessing.raw:
            return f"{sentences} {say('tree-no-better')}"
        return sentences

    @property
    def text(self) -> str:
        """The tree as indented lines, with estimated counts."""
        return text_of(self.tree)

    @property
    def rules(self) -> str:
        """The tree as rules, one line per leaf."""
        return rules_of(self.tree)

    def as_json(self) -> dict[str, Any]:
        """A dictionary for JSON."""
        return {
            "target": self.tree.target,
            "size": self.tree.size,
            "leaves": len(self.tree.leaves),
            "answers": self.answers,
            "accuracy": {
                "share": self.accuracy.share,
                "interval": list(self.accuracy.sampling_interval),
                **estimate_json(self.accuracy),
            },
            "guessing": self.guessing.share,
            "root": nested_nodes(self.tree),
        }

    @property
    def picture(self) -> str:
        """The tree as SVG."""
        return picture(self.tree)


def predictable(survey: Survey) -> list[str]:
    """The questions that a tree can predict: those with choices, if there is another question to predict from."""
    return [question.name for question in survey.questions if question.choices] if len(survey.questions) > 1 else []


def tree_of(
    survey: Survey, table: Table, target: str, rules: StoppingRules = SOUND, test_share: float = TEST_SHARE
) -> SurveyTree:
    """Grow a tree from some answers and test it on the others; refused below `LEAST_ANSWERS` answers."""
    if target not in predictable(survey):
        raise NameUnknown("question", target, predictable(survey), "that a tree can predict")
    checked_number(table)
    if not 0 < test_share < 1:
        raise PlanError(f"test_share must be above 0 and below 1. Got {test_share!r}.")
    ready = Table(tuple(_grouped(question, table[question.name]) for question in survey.questions))
    aside = _set_aside(table.select(question.name for question in survey.questions), test_share)
    growing, testing = ready.take(np.flatnonzero(~aside)), ready.take(np.flatnonzero(aside))
    if min(len(growing), len(testing)) < LEAST_PART:
        raise PlanError(
            f"Growing and testing a tree need {LEAST_PART} answers each. Got {len(growing):,} and {len(testing):,}. "
            "Choose a test_share closer to 0.5."
        )
    tree = grow_tree(growing, survey.scheme, target=target, rules=rules)
    guessing = estimate(testing, survey.scheme, {target: tree.classes[tree.label[0]]})
    return SurveyTree(tree, len(growing), accuracy(tree, testing, survey.scheme), guessing)


def _set_aside(table: Table, share: float) -> Bools:
    """Which answers the tree is tested on, chosen by a hash of their content and not by their position.

    The n-th of several identical answers has its own hash. So the same answers in another order are split in the same
    way, and one more answer moves no other.
    """
    words = np.zeros(len(table), np.uint64)
    for column in table:
        words = splitmix64(words ^ column.values.astype(np.uint64))
    order = np.argsort(words, kind="stable")
    first = np.flatnonzero(np.diff(words[order], prepend=words[order[:1]] ^ np.uint64(1)))
    nth = np.empty(len(words), np.uint64)
    nth[order] = np.arange(len(words)) - np.repeat(first, np.diff(first, append=len(words)))
    return np.asarray(splitmix64(words ^ splitmix64(nth)) < np.uint64(share * 2**63) * np.uint64(2))


def _grouped(question: Question, column: Column) -> Column:
    """An open number in groups of about equal size; any other column unchanged."""
    if not question.between:
        return column
    codes, groups = quantile_codes(column.values, bins=GROUPS)
    spans = [column.values[codes == group] for group in range(groups)]
    # Levels in numerical order, as the tree shows them, although tables keep levels sorted by text.
    return Column(column.name, "category", codes, levels=tuple(_span(int(s.min()), int(s.max())) for s in spans))


def _span(low: int, high: int) -> str:
    return str(low) if low == high else f"{low} to {high}"


# Answers as a table: read from a store or an exported file, and exported in a random order.


FILES = (".csv", ".parquet")  # formats of an export


def table_of(survey: Survey, reports: Iterable[Sequence[str]]) -> Table:
    """The reports of a store as a table, one column per question: a category with all choices, or a number."""
    rows, width = list(reports), len(survey.questions)
    if any(len(row) != width for row in rows):
        raise TableError(
            "The answers are those of another survey with more or fewer questions. Name the survey they were given to."
        )
    try:
        codes = np.fromiter(map(int, chain.from_iterable(rows)), np.int64).reshape(-1, width)
    except ValueError:
        raise TableError(
            "The answers belong to another survey: a report is not a number. Name the survey they were given to."
        ) from None
    return Table(tuple(_column(question, codes[:, place]) for place, question in enumerate(survey.questions)))


def read_answers(survey: Survey, source: str | Path) -> Table:
    """The answers in an exported file, or in a store given by its file or address; every value is checked."""
    from leafcover.survey.storage import checked_place, open_store

    place = checked_place(str(source))
    if Path(place).suffix.lower() in FILES and "://" not in place:
        return _read_file(survey, Path(place))
    with closing(open_store(place, survey, create=False)) as store:
        if not store.count() and (others := store.others()):
            raise TableError(
                f"The store holds no answers to this survey, but {others:,} to other or changed questions. Name the "
                "survey file as it was when they were given."
            )
        return stored_answers(survey, store)


def stored_answers(survey: Survey, store: Store) -> Table:
    """All answers of a store."""
    return table_of(survey, store.reports())


def export(survey: Survey, table: Table, path: str | Path, *, force: bool = False) -> None:
    """Write answers as CSV or Parquet, by the suffix: reports only, without id or day, in a random order."""
    place = Path(path)
    checked_export(place)
    if not len(table):
        raise TableError("There are no answers to export yet. Wait for answers.")
    order = np.frombuffer(secrets.token_bytes(8 * len(table)), np.uint64).argsort(kind="stable")
    write(table.select(question.name for question in survey.questions).take(order), place, force=force)


def checked_export(path: Path) -> None:
    """Refuse a file format that answers are not exported to."""
    if path.suffix.lower() not in FILES:
        raise OutputError(
            f"Answers are exported as .csv or .parquet. Got '{path}'. Choose a file name with one of these endings."
        )


def _read_file(survey: Survey, path: Path) -> Table:
    names = [question.name for question in survey.questions]
    texts = [question.name for question in survey.questions if question.choices]
    try:
        found = read(
            path, category=texts, missing=dict.fromkeys(names, ()), delimiter=",", decimal="."
        )  # a choice may be called "NA"
    except NameUnknown as error:
        raise TableError(
            f"'{path}' has no column {error.name!r}, which this survey asks for. Name another file."
        ) from None
    if len(found.names) != len(names):
        raise TableError(f"'{path}' has columns that this survey does not ask for. Name another file.")
    return Table(tuple(_column(question, _codes(question, found[question.name])) for question in survey.questions))


def _codes(question: Question, column: Column) -> Array:
    """The codes of a column among the choices; `MISSING` for any other value, which `_column` refuses."""
    if question.between:
        if column.kind != "number":
            raise TableError(f"Column {question.name!r} must contain numbers. Name another file.")
        return np.nan_to_num(column.values, nan=MISSING)
    places = {text: code for code, text in enumerate(question.choices)}
    moved = np.array([places.get(text, MISSING) for text in column.levels] + [MISSING])  # the last serves code -1
    return moved[column.values]


def _column(question: Question, codes: Array) -> Column:
    low, high = question.between or (0, len(question.choices) - 1)
    wrong = (codes < low) | (codes > high) | (codes != np.floor(codes))
    if wrong.any():
        raise TableError(
            f"{int(wrong.sum()):,} of {len(codes):,} answers to {question.name!r} are outside what the survey allows. "
            "Name the survey they were given to."
        )
    if question.between:
        values: Floats = codes.astype(np.float64)
        return Column(question.name, "number", values, grid=Grid(0), declared=(float(low), float(high)))
    return recoded_column(question.name, codes.astype(np.int32), question.choices)
