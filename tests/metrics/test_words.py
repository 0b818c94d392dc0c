"""The text summary of measures: its figures, and its sentences as a golden file."""

import re
from dataclasses import replace
from math import nan

import pytest

from leafcover.messages import catalogue
from leafcover.metrics.disclosure.copies import copies
from leafcover.metrics.estimates import Attack, Estimate, Risk, wilson
from leafcover.metrics.suite import measures
from leafcover.metrics.summary import copies_alone, measured_risks, record_of, words
from leafcover.metrics.utility.forest import RuleShares
from tests.metrics.pairs import copy_of
from tests.prose import check_golden
from tests.tables import mixed

say = catalogue("measures")


@pytest.fixture(scope="module")
def found():
    """All measures of a table that was released unchanged."""
    pair = copy_of(mixed(1, rows=120), target="class", control=mixed(2, rows=120))
    return measures(pair, tests=[pair], control="rows that were held out")


def inferred(found, inside, outside, count):
    """The same with one attack on each column, which succeeds so often for people in the release and for others."""
    attack = Attack(wilson(inside, 1_000), wilson(outside, 1_000), wilson(200, 1_000))
    attacked = [replace(one, nearest=attack, trusted=None, learned=None) for one in found.risks.inferences[:count]]
    return words(replace(found, risks=replace(found.risks, inferences=tuple(attacked))))


def test_the_summary_reads_as_its_golden_text(found):
    check_golden("measures_summary.txt", words(found))


def test_disclosure_risk_comes_first_and_in_order(found):
    lines = words(found).splitlines()
    heads = [say("heading-risks"), say("heading-decisive"), say("heading-utility"), say("heading-absent")]
    assert [line for line in lines if not line.startswith(" ")] == heads
    attacks = [line.split(":")[0].strip() for line in lines[1:7]]
    ids = ("record-linkage", "copies", "near-copies", "inference", "membership", "singling-out")
    known = {one: FIRST_WORDS[one] for one in ids}
    assert attacks == list(known.values())
    risks = found.risks
    for figure in (risks.informed.first, risks.membership.area, risks.singling_out.multivariate.main):
        assert str(figure) in words(found)


def test_the_summary_names_every_figure_that_decides(found):
    lines = words(found).splitlines()
    start = lines.index(say("heading-decisive")) + 1
    shown = lines[start : lines.index(say("heading-utility"))]
    risks = measured_risks(found)
    assert {one.kind for one in risks} == {"linkage", "inference", "membership", "copies"}
    assert len(shown) == len(risks)
    for line, one in zip(shown, risks, strict=True):
        assert line.startswith(f"  {one.name}: {one.risk};")


@pytest.mark.parametrize("larger", ["univariate", "multivariate"])
def test_singling_out_by_one_column_is_shown_and_does_not_decide(found, larger):
    other = {"univariate": "multivariate", "multivariate": "univariate"}[larger]
    high = Attack(wilson(900, 1_000), wilson(100, 1_000), wilson(200, 1_000))
    low = Attack(wilson(110, 1_000), wilson(100, 1_000), wilson(200, 1_000))
    singled = replace(found.risks.singling_out, **{larger: high, other: low})
    changed = replace(found, risks=replace(found.risks, singling_out=singled))
    assert measured_risks(changed) == measured_risks(found)
    for figure in (high.main, low.main):
        assert str(figure) in words(changed)


@pytest.mark.parametrize(("value", "worst"), [(0.003, 0.004), (0.0006, 0.001), (0.25, 0.251)])
def test_the_most_exposed_never_look_less_exposed_than_the_mean(found, value, worst):
    first = Risk(value, value / 2, value * 1.5, 4_000, worst)
    text = words(replace(found, risks=replace(found.risks, informed=replace(found.risks.informed, first=first))))
    assert f"{first} of cases ({worst:.3f} for" in text


FIRST_WORDS = {
    "record-linkage": "Record linkage",
    "copies": "Copies",
    "near-copies": "Near-copies",
    "inference": "Attribute inference",
    "membership": "Membership inference",
    "singling-out": "Singling out",
}


def test_rules_of_a_forest_are_compared_with_a_resample_and_chance(found):
    shares = RuleShares(0.31, 0.62, 0.2, 0.4)
    rules = replace(found.utility.forest.rules, kept=shares, floor=RuleShares(0.3, 0.6, 0, 0))
    forest = replace(found.utility.forest, rules=replace(rules, chance=RuleShares(0.0, 0.02, 0, 0)))
    text = words(replace(found, utility=replace(found.utility, forest=forest)))
    figures = {"kept": "62%", "kept_exact": "31%", "floor": "60%", "floor_exact": "30%"}
    assert say("forest-rules", trees=forest.trees[0], **figures, chance="2%", chance_exact="0%") in text
    floor, chance = f"{forest.leaves.floor.rows:.1%}", f"{forest.leaves.chance.rows:.1%}"
    assert say("forest-leaves", kept="100.0%", floor=floor, chance=chance) in text
    none = words(replace(found, utility=replace(found.utility, forest=replace(forest, rules=replace(rules, rules=0)))))
    assert "62% (31%" not in none


def test_the_most_inferable_column_is_named_with_the_number_tried(found):
    text = inferred(found, 500, 400, 2)
    assert f"among 2 of {found.columns} columns" in text
    assert "0.500 (0.469 to 0.531)" in text
    assert "0.100 (0.056 to 0.143)" in text


def test_a_difference_that_may_be_chance_shows_no_effect(found):
    assert "no effect is shown" in inferred(found, 401, 400, 2)
    assert "no effect" not in inferred(found, 500, 400, 2)


def test_a_control_without_people_counts_as_no_control(found):
    attack = Attack(wilson(500, 1_000), wilson(0, 0), wilson(200, 1_000))
    (one, *_) = found.risks.inferences
    risks = replace(found.risks, inferences=(replace(one, nearest=attack, trusted=None, learned=None),))
    expected = say(
        "inference-no-control",
        scope="some",
        tried=1,
        columns=found.columns,
        column=one.column,
        method="nearest",
        risk=say("cases", risk="0.500 (0.469 to 0.531)"),
        baseline="0.200 (0.176 to 0.226)",
    )
    assert expected in words(replace(found, risks=risks))


def test_an_estimated_distribution_is_not_called_the_method(found):
    by_plan = replace(found.risks.informed, law="the plan's own", first=Risk(0.1, 0.05, 0.2, 120, 0.4))
    text = words(replace(found, risks=replace(found.risks, informed=by_plan)))
    assert "everything but the secret key" in text
    assert "0.100 (0.050 to 0.200) of cases (0.400 for the most exposed 1%)" in text
    estimated = replace(by_plan, law="learned from half of the pairs")
    assert "secret key" not in words(replace(found, risks=replace(found.risks, informed=estimated)))


def test_figures_that_do_not_exist_are_left_out_and_shares_end_at_0_and_1(found):
    none, wide = Estimate(nan, nan, nan, 0), Estimate(0.58, -0.14, 1.31, 3)
    agreements = found.utility.agreement
    agreements = replace(agreements, target=replace(agreements.target, agreement=none), others=agreements.others[:1])
    agreements = replace(agreements, mean=wide, mean_floor=wide)
    scores = tuple(replace(one, released=none) for one in found.utility.prediction.scores)
    prediction = replace(found.utility.prediction, scores=scores)
    text = words(replace(found, utility=replace(found.utility, agreement=agreements, prediction=prediction)))
    assert "nan" not in text
    share = "0.580 (0.000 to 1.000)"
    assert say("agreement-others", target="yes", columns=1, agreement=share, floor=share) in text
    assert "Accuracy" not in text


def copies_line(found, pair):
    """The sentence about copies of another pair, and its figures."""
    other = copies(pair)
    lines = words(replace(found, risks=replace(found.risks, copies=other))).splitlines()
    return other, next(line for line in lines if line.strip().startswith("Copies"))


def test_copies_name_the_record_and_no_others_without_a_control(found):
    original = mixed(1, rows=100)
    got, line = copies_line(found, copy_of(original))
    assert got.near_unique
    assert record_of(got) in line
    assert got.records.attack.control is None
    assert not re.search(r"\bnone\b|of others", line)
    _, line = copies_line(found, copy_of(original, control=mixed(2, rows=50)))
    assert "of others" in line
    one = original.select([*got.near_unique, "town"])
    got, line = copies_line(found, copy_of(one))
    assert got.columns == ("town",)
    assert record_of(got) in line
    got, line = copies_line(found, copy_of(original.select(got.near_unique)))
    assert (got.columns, got.records) == ((), None)
    assert line.strip() == copies_alone(got)
