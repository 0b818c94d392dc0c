"""What a survey found: the share of every choice with its interval, from a hundred answers on."""

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
from leafcover.randomized_response import JointDistribution, ProportionEstimate, estimate, joint
from leafcover.randomized_response.estimate import DEVIATIONS, of_weights, recoded_column, weights
from leafcover.randomized_response.tree import StoppingRules, accuracy, grow_tree
from leafcover.survey.schema import Question, Survey
from leafcover.survey.storage.base import Store
from leafcover.table.identifiers import splitmix64
from leafcover.table.io import read, write
from leafcover.table.table import Column, Grid, Table
from leafcover.tree.export import nested_nodes
from leafcover.tree.export import rules as rules_of
from leafcover.tree.export import text as text_of
from leafcover.tree.histogram import quantile_codes
from leafcover.tree.plot import picture
from leafcover.tree.tree import Tree

LEAST_ANSWERS = 100  # intervals are those of the normal law, and fewer answers hide nobody in a crowd
MOST_OUTSIDE = 4  # standard errors: chance alone goes further once in 30,000 times


@dataclass(frozen=True)
class ChoiceEstimate:
    """One choice of a question: its share, made to add up to 1 with the others, and what was estimated of it alone."""

    choice: str
    share: float
    estimate: ProportionEstimate
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
class QuestionResult:
    """What is known of one question: its choices, or the mean of a number."""

    question: Question
    choices: tuple[ChoiceEstimate, ...] = ()
    mean: Mean | None = None


@dataclass(frozen=True)
class Results:
    """What a survey found, question by question."""

    title: str
    answers: int
    questions: tuple[QuestionResult, ...]
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


def conjunction(survey: Survey, table: Table, literals: Mapping[str, str | float]) -> ProportionEstimate:
    """The share of people who gave all of these answers."""
    checked_number(table)
    return estimate(table, survey.scheme, literals)


def interval_of(survey: Survey, found: ProportionEstimate, literals: Mapping[str, str | float]) -> tuple[float, float]:
    """95 % about the population: Wilson's where nothing that was asked for is disguised."""
    disguised = {name for part in survey.scheme.parts for name in part.names}
    return found.sampling_interval if disguised & set(literals) else wilson(found.share, found.rows)


def cross(survey: Survey, table: Table, first: str, second: str) -> JointDistribution:
    """The shares of all pairs of answers to two questions with choices; choices in the order of the survey."""
    checked_number(table)
    found = joint(table, survey.scheme, [first, second])
    asked = [question_named(survey, name).choices for name in (first, second)]
    shares = found.shares
    for axis, (levels, choices) in enumerate(zip(found.levels, asked, strict=True)):
        shares = shares.take([levels.index(choice) for choice in choices], axis=axis)
    return JointDistribution(found.columns, tuple(asked), shares, found.rows, found.missing, found.settled)


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


def results_text(found: Results) -> str:
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
        f"Question {found.question.name!r}, {one.choice!r}: the estimate lies {one.estimate.outside:.1f} standard "
        "errors outside 0 to 1. Some people did not answer by the coins, or somebody sent made-up answers."
        for one in found.choices
        if one.estimate.outside > MOST_OUTSIDE
    ]


def _question_json(found: QuestionResult) -> dict[str, Any]:
    said: dict[str, Any] = {"name": found.question.name, "disguise": found.question.way}
    if found.mean is not None:
        return said | {"mean": found.mean.value, "error": found.mean.error, "interval": list(found.mean.interval)}
    return said | {"choices": [_choice_json(one) for one in found.choices]}


def _choice_json(one: ChoiceEstimate) -> dict[str, Any]:
    return {"choice": one.choice, "share": one.share, "interval": list(one.interval)} | estimate_json(one.estimate)


def estimate_json(found: ProportionEstimate) -> dict[str, float | int]:
    """The figures of an estimate for machines."""
    return {
        "raw": found.raw,
        "error": found.error,
        "sampling_error": found.sampling_error,
        "answers": found.rows,
    }


# The share of an answer within each group of people, where the groups are the answers to another question.
#
# Both shares are means of weights, and their ratio r has the variance of mean((w - r g)²) / (n mean(g)²), with w the
# weight of "answer and group" and g that of "group".


@dataclass(frozen=True)
class Group:
    """People who gave one answer to the question that makes the groups."""

    choice: str
    size: ProportionEstimate  # their share of all
    within: ProportionEstimate | None  # the share asked for among them; None where there are too few to say


def by_group(survey: Survey, table: Table, name: str, literals: Mapping[str, str | float]) -> tuple[Group, ...]:
    """The share of people who gave all these answers, in each group."""
    checked_number(table)
    if name in literals:
        raise PlanError(f"Question {name!r} makes the groups, so it cannot be asked for in them. Name another one.")
    groups = []
    for choice in question_named(survey, name).choices:
        group = weights(table, survey.scheme, {name: choice})
        both = weights(table, survey.scheme, {name: choice, **literals})
        size = of_weights(group)
        if size.raw_count < LEAST_ANSWERS or size.interval[0] <= 0:  # a group that may be empty has no share
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
        found = group.within
        shown = (f"about {max(0, round(group.size.raw_count)):,}", f"fewer than {LEAST_ANSWERS} or none", "")
        if found is not None:
            shown = (shown[0], percent(found.share), "{} to {}".format(*map(percent, found.sampling_interval)))
        rows.append((group.choice, *shown))
    return side_by_side(("group", "people", "share", "95 % interval"), rows)


def as_json(groups: tuple[Group, ...]) -> list[dict[str, Any]]:
    """The groups for machines."""
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


# Figures as plain text.


def side_by_side(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Columns side by side, the first to the left, the others to the right.

    >>> print(side_by_side(("answer", "share"), [("no", "70.0 %"), ("yes", "30.0 %")]))
    answer   share
    no      70.0 %
    yes     30.0 %
    """
    widths = [max(map(len, column)) for column in zip(heads, *rows, strict=True)]
    return "\n".join(
        "  ".join(
            cell.ljust(width) if place == 0 else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in (heads, *rows)
    )


# The tree that predicts one question from the others, grown and tested on disguised answers alone.


GROUPS = 4  # that an open number is cut into, of about equal size
TEST_SHARE = 0.3
LEAST_PART = 30  # answers to grow from, and to test with
SOUND = StoppingRules()


@dataclass(frozen=True)
class SurveyTree:
    """A tree with what it is worth."""

    tree: Tree
    answers: int  # it was grown from
    accuracy: ProportionEstimate  # on answers it was not grown from
    guessing: ProportionEstimate  # on the same: always the most frequent answer

    @cached_property
    def words(self) -> str:
        """What the tree is worth, in a sentence."""
        low, high = self.accuracy.sampling_interval
        usual = self.tree.classes[self.tree.label[0]]
        said = (
            f"Grown from {self.answers:,} answers. On {self.accuracy.rows:,} others it is right for "
            f"{percent(self.accuracy.share)} (95 %: {percent(low)} to {percent(high)}); "
            f"always answering “{usual}” would be right for {percent(self.guessing.share)}."
        )
        if self.tree.size > 1 and self.accuracy.raw <= self.guessing.raw:
            said += " So it tells no more than that; more answers may show whether it does."
        if self.tree.size == 1:
            said += " No question tells more of it than the noise of the coins would; more answers may show one."
        return said

    @property
    def text(self) -> str:
        """The tree in lines, with estimated numbers of people."""
        return text_of(self.tree)

    @property
    def rules(self) -> str:
        """One line a leaf."""
        return rules_of(self.tree)

    def as_json(self) -> dict[str, Any]:
        """For machines."""
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
    """The questions a tree can predict: those with choices, when there is another question."""
    return [question.name for question in survey.questions if question.choices] if len(survey.questions) > 1 else []


def tree_of(
    survey: Survey, table: Table, target: str, rules: StoppingRules = SOUND, test_share: float = TEST_SHARE
) -> SurveyTree:
    """Grow from some answers and test with the others; refused below a hundred answers."""
    if target not in predictable(survey):
        raise NameUnknown("question", target, predictable(survey), "that a tree can predict")
    checked_number(table)
    if not 0 < test_share < 1:
        raise PlanError(f"The share of answers to test with must be above 0 and below 1. Got {test_share!r}.")
    ready = Table(tuple(_grouped(question, table[question.name]) for question in survey.questions))
    aside = _set_aside(table.select(question.name for question in survey.questions), test_share)
    growing, testing = ready.take(np.flatnonzero(~aside)), ready.take(np.flatnonzero(aside))
    if min(len(growing), len(testing)) < LEAST_PART:
        raise PlanError(
            f"Of {len(ready):,} answers {len(growing):,} would grow the tree and {len(testing):,} test it; each part "
            f"needs {LEAST_PART}. Choose a --test-share nearer to a half."
        )
    tree = grow_tree(growing, survey.scheme, target=target, rules=rules)
    guessing = estimate(testing, survey.scheme, {target: tree.classes[tree.label[0]]})
    return SurveyTree(tree, len(growing), accuracy(tree, testing, survey.scheme), guessing)


def _set_aside(table: Table, share: float) -> Bools:
    """Which answers are tested with, by what they say and not by where they stand.

    The n-th answer of those that say the same has its own number, so that the same answers in another order are
    parted the same way, and one answer more moves no other.
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
    """An open number in groups of about equal size; anything else as it is."""
    if not question.between:
        return column
    codes, groups = quantile_codes(column.values, bins=GROUPS)
    spans = [column.values[codes == group] for group in range(groups)]
    # In the order of the numbers, in which the tree shows them; this table goes nowhere else.
    return Column(column.name, "category", codes, levels=tuple(_span(int(s.min()), int(s.max())) for s in spans))


def _span(low: int, high: int) -> str:
    return str(low) if low == high else f"{low} to {high}"


# Disguised answers as a table: from a store, from an exported file, and out again in an order that means nothing.


FILES = (".csv", ".parquet")  # that answers are exported to


def table_of(survey: Survey, reports: Iterable[Sequence[str]]) -> Table:
    """A table of the texts that a store keeps: a category with all its choices for a question, or a number."""
    rows, width = list(reports), len(survey.questions)
    if any(len(row) != width for row in rows):
        raise TableError("The answers are not those of this survey: they have another number of reports.")
    try:
        codes = np.fromiter(map(int, chain.from_iterable(rows)), np.int64).reshape(-1, width)
    except ValueError:
        raise TableError("The answers are not those of this survey: a report is no number.") from None
    return Table(tuple(_column(question, codes[:, place]) for place, question in enumerate(survey.questions)))


def read_answers(survey: Survey, source: str | Path) -> Table:
    """The answers in a file that was exported, or in a store by its file or address; every value is checked."""
    from leafcover.survey.storage import checked_place, open_store

    place = checked_place(str(source))
    if Path(place).suffix.lower() in FILES and "://" not in place:
        return _read_file(survey, Path(place))
    with closing(open_store(place, survey, create=False)) as store:
        if not store.count() and (others := store.others()):
            raise TableError(
                f"The store holds no answer to this survey, but {others:,} to other questions or coins. Name the "
                "survey as it was when they were given."
            )
        return stored_answers(survey, store)


def stored_answers(survey: Survey, store: Store) -> Table:
    """All answers of a store."""
    return table_of(survey, store.reports())


def export(survey: Survey, table: Table, path: str | Path, *, force: bool = False) -> None:
    """Write answers as CSV or Parquet, by the suffix: reports only, no id, no day, in a new secret order."""
    place = Path(path)
    checked_export(place)
    if not len(table):
        raise TableError("There are no answers yet, so there is nothing to export. Wait for answers.")
    order = np.frombuffer(secrets.token_bytes(8 * len(table)), np.uint64).argsort(kind="stable")
    write(table.select(question.name for question in survey.questions).take(order), place, force=force)


def checked_export(path: Path) -> None:
    """Refuse a file that answers are not exported to."""
    if path.suffix.lower() not in FILES:
        raise OutputError(f"Answers are exported as .csv or .parquet. Got '{path}'. Name a file that ends so.")


def _read_file(survey: Survey, path: Path) -> Table:
    names = [question.name for question in survey.questions]
    texts = [question.name for question in survey.questions if question.choices]
    try:
        found = read(
            path, category=texts, missing=dict.fromkeys(names, ()), delimiter=","
        )  # a choice may be called "NA"
    except NameUnknown as error:
        raise TableError(f"'{path}' lacks the question {error.name!r} of this survey. Name another file.") from None
    if len(found.names) != len(names):
        raise TableError(f"'{path}' has columns that this survey does not ask for. Name another file.")
    return Table(tuple(_column(question, _codes(question, found[question.name])) for question in survey.questions))


def _codes(question: Question, column: Column) -> Array:
    """The codes of a column that was read, among the choices; what is missing or none of them is refused later."""
    if question.between:
        if column.kind != "number":
            raise TableError(f"The answers to {question.name!r} are no numbers. Name another file.")
        return np.nan_to_num(column.values, nan=MISSING)
    places = {text: code for code, text in enumerate(question.choices)}
    moved = np.array([places.get(text, MISSING) for text in column.levels] + [MISSING])  # the last serves code -1
    return moved[column.values]


def _column(question: Question, codes: Array) -> Column:
    low, high = question.between or (0, len(question.choices) - 1)
    wrong = (codes < low) | (codes > high) | (codes != np.floor(codes))
    if wrong.any():
        raise TableError(
            f"{int(wrong.sum()):,} of {len(codes):,} answers to {question.name!r} are none that the survey allows. "
            "Name the survey that they were given to."
        )
    if question.between:
        values: Floats = codes.astype(np.float64)
        return Column(question.name, "number", values, grid=Grid(0), declared=(float(low), float(high)))
    return recoded_column(question.name, codes.astype(np.int32), question.choices)
