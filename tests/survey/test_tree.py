"""The tree of a survey: parted by what answers say, so that neither their order nor one more answer moves it."""

from dataclasses import replace

import numpy as np

from leafcover.messages import catalogue
from leafcover.survey.results import _set_aside, tree_of
from leafcover.tree.export import text
from tests.survey.people import people, reported
from tests.survey.surveys import habits

SENT = reported(habits(), people(habits(), 3000))


def test_the_order_of_answers_changes_nothing() -> None:
    turned = SENT.take(np.random.default_rng(1).permutation(len(SENT)))
    one, two = (tree_of(habits(), table, "taken") for table in (SENT, turned))
    assert text(one.tree) == text(two.tree)
    assert one.accuracy == two.accuracy


def test_one_answer_more_moves_no_other() -> None:
    aside = _set_aside(SENT, 0.3)
    assert (_set_aside(SENT.take(np.arange(2999)), 0.3) == aside[:2999]).mean() > 0.999
    assert 0.27 < aside.mean() < 0.33


def test_answers_that_say_the_same_are_parted_too() -> None:
    alike = SENT.take(np.zeros(2000, np.int64))
    assert 0.25 < _set_aside(alike, 0.3).mean() < 0.35


def test_a_tree_that_is_no_better_than_guessing_says_so() -> None:
    found = tree_of(habits(), SENT, "taken")
    assert found.tree.size > 1
    worse = replace(found, accuracy=replace(found.accuracy, raw=found.guessing.raw - 0.01))
    better = replace(found, accuracy=replace(found.accuracy, raw=found.guessing.raw + 0.01))
    assert catalogue("survey")("tree-no-better") in worse.words
    assert catalogue("survey")("tree-no-better") not in better.words
