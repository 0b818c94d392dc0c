"""The tree that predicts one question from the others, grown and tested on disguised answers alone."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from leafcover.errors import NameUnknown, PlanError
from leafcover.fast.arrays import Bools
from leafcover.response import Estimate, estimate
from leafcover.response.tree.grow import grow_tree
from leafcover.response.tree.rules import Rules
from leafcover.response.tree.score import accuracy
from leafcover.survey.questionnaire import Question, Survey
from leafcover.survey.results import checked_number, estimate_json, percent
from leafcover.table.describe import mixed
from leafcover.table.table import Column, Table
from leafcover.tree.bins import quantile_codes
from leafcover.tree.picture import picture
from leafcover.tree.show import nested
from leafcover.tree.show import rules as rules_of
from leafcover.tree.show import text as text_of
from leafcover.tree.tree import Tree

GROUPS = 4  # that an open number is cut into, of about equal size
TEST_SHARE = 0.3
LEAST_PART = 30  # answers to grow from, and to test with
SOUND = Rules()


@dataclass(frozen=True)
class Grown:
    """A tree with what it is worth."""

    tree: Tree
    answers: int  # it was grown from
    accuracy: Estimate  # on answers it was not grown from
    guessing: Estimate  # on the same: always the most frequent answer

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
            "root": nested(self.tree),
        }

    @property
    def picture(self) -> str:
        """The tree as SVG."""
        return picture(self.tree)


def predictable(survey: Survey) -> list[str]:
    """The questions a tree can predict: those with choices, when there is another question."""
    return [question.name for question in survey.questions if question.choices] if len(survey.questions) > 1 else []


def tree_of(survey: Survey, table: Table, target: str, rules: Rules = SOUND, test_share: float = TEST_SHARE) -> Grown:
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
    return Grown(tree, len(growing), accuracy(tree, testing, survey.scheme), guessing)


def _set_aside(table: Table, share: float) -> Bools:
    """Which answers are tested with, by what they say and not by where they stand.

    The n-th answer of those that say the same has its own number, so that the same answers in another order are
    parted the same way, and one answer more moves no other.
    """
    words = np.zeros(len(table), np.uint64)
    for column in table:
        words = mixed(words ^ column.values.astype(np.uint64))
    order = np.argsort(words, kind="stable")
    first = np.flatnonzero(np.diff(words[order], prepend=words[order[:1]] ^ np.uint64(1)))
    nth = np.empty(len(words), np.uint64)
    nth[order] = np.arange(len(words)) - np.repeat(first, np.diff(first, append=len(words)))
    return np.asarray(mixed(words ^ mixed(nth)) < np.uint64(share * 2**63) * np.uint64(2))


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
