"""The short text for a terminal."""

from dataclasses import replace
from math import nan

import pytest

from leafcover.metrics.estimates import Attack, Estimate, wilson
from leafcover.metrics.suite import measures, words
from leafcover.metrics.utility.forest import RuleShares
from tests.metrics.pairs import copy_of
from tests.tables import mixed


@pytest.fixture(scope="module")
def found():
    """All measures of a table that was released as it is."""
    pair = copy_of(mixed(1, rows=120), target="class", control=mixed(2, rows=120))
    return measures(pair, tests=[pair], control="rows that were held out")


def inferred(found, inside, outside, count):
    """The same with a column told so often of people in the release, and of others, as the only attack on it."""
    attack = Attack(wilson(inside, 1_000), wilson(outside, 1_000), wilson(200, 1_000))
    told = [replace(one, nearest=attack, trusted=None, learned=None) for one in found.risks.inferences[:count]]
    return words(replace(found, risks=replace(found.risks, inferences=tuple(told))))


def test_rules_of_a_forest_stand_beside_a_resample_and_chance(found):
    shares = RuleShares(0.31, 0.62, 0.2, 0.4)
    rules = replace(found.utility.forest.rules, kept=shares, floor=RuleShares(0.3, 0.6, 0, 0))
    forest = replace(found.utility.forest, rules=replace(rules, chance=RuleShares(0.0, 0.02, 0, 0)))
    told = words(replace(found, utility=replace(found.utility, forest=forest)))
    assert "one grown on the release holds 62% (31% when no cut may move)" in told
    assert "on a resample of the original 60% (30%), one grown for a shuffled target 2% (0%)." in told
    assert "hold the classes that they held for 100.0% of the rows; with a resample for" in told
    none = replace(forest, rules=replace(rules, rules=0))
    assert "forest of" not in words(replace(found, utility=replace(found.utility, forest=none)))


def test_the_column_told_furthest_above_control_says_of_how_many(found):
    told = inferred(found, 500, 400, 2)
    assert f"furthest above control, of 2 of {found.columns} columns tried: right in 0.500 (0.469 to 0.531)" in told
    assert "0.100 (0.056 to 0.143) above control." in told


def test_a_difference_that_may_be_chance_shows_no_effect(found):
    assert "above control, so no effect was shown." in inferred(found, 401, 400, 2)
    assert "no effect" not in inferred(found, 500, 400, 2)


def test_a_control_that_nobody_stands_in_is_none(found):
    attack = Attack(wilson(500, 1_000), wilson(0, 0), wilson(200, 1_000))
    (one, *_) = found.risks.inferences
    risks = replace(found.risks, inferences=(replace(one, nearest=attack, trusted=None, learned=None),))
    assert "no control says how much of it is a pattern" in words(replace(found, risks=risks))


def test_figures_that_do_not_exist_are_left_out_and_shares_end_at_0_and_1(found):
    none, wide = Estimate(nan, nan, nan, 0), Estimate(0.58, -0.14, 1.31, 3)
    agreements = found.utility.agreement
    agreements = replace(agreements, target=replace(agreements.target, agreement=none), others=agreements.others[:1])
    agreements = replace(agreements, mean=wide, mean_floor=wide)
    scores = tuple(replace(one, released=none) for one in found.utility.prediction.scores)
    prediction = replace(found.utility.prediction, scores=scores)
    told = words(replace(found, utility=replace(found.utility, agreement=agreements, prediction=prediction)))
    assert "nan" not in told
    assert "For the other column as target: 0.580 (0.000 to 1.000) against 0.580 (0.000 to 1.000)." in told
    assert "Accuracy" not in told
