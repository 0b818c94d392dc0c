"""Every documented threshold has one place, and moving it by a fifth is noticed."""

import json
from dataclasses import asdict, replace
from html import escape
from pathlib import Path

import numpy as np
import pytest

import leafcover as lc
from leafcover.engine.attacker import Known, singletons
from leafcover.engine.audience import (
    AUDIENCES,
    Limits,
    RiskLimit,
    Thresholds,
    limit_in_force,
    limits_from,
    risk_advice,
    verdict_of,
)
from leafcover.engine.evaluate import MOST_SINGLETONS, pair_from, refuse_above, refuse_singletons
from leafcover.errors import RiskTooHigh
from leafcover.metrics.disclosure.individual_risk import individual
from leafcover.metrics.estimates import Risk
from leafcover.metrics.pair import pair_of
from leafcover.metrics.summary import DecisiveRisk
from leafcover.partition.base import Partition
from leafcover.perturb.base import fixed_by_likelihood
from leafcover.perturb.redraw import Redraw
from leafcover.reporting.disclosure_rules import DisclosureRules
from leafcover.reporting.html_page import report
from tests.tables import category, mixed, number, table

ROOT = Path(__file__).resolve().parents[1]


def released_with(singletons):
    """A release of 1,000 rows of which so many are alone in their cell."""
    label = np.concatenate([np.arange(singletons), np.full(1000 - singletons, singletons)])
    original = table(category("c", ["a", "b"] * 500))
    made = lc.release(original, lc.Plan(lc.Step("c", within=lc.Whole(), perturb=lc.Shuffle())), seed=1)
    cells = replace(made.cells[0], single=singletons / 1000, count=len(np.unique(label)))
    return replace(made, cells=(cells,))


def test_more_than_one_row_in_twenty_alone_is_refused():
    refuse_singletons(released_with(50))
    with pytest.raises(RiskTooHigh, match=r"5\.1%"):
        refuse_singletons(released_with(51))
    assert MOST_SINGLETONS == 0.05


def test_a_value_that_stays_with_nineteen_in_twenty_is_fixed():
    """A category redrawn as itself, but with probability v as another value: fixed from 1 - v of 0.95 on."""
    from leafcover.cells import one_cell
    from leafcover.perturb.base import Chunk

    column = category("c", ["a", "b"] * 20)
    part = Chunk(np.arange(40), (column,), one_cell(40))
    for others, fixed in ((0.049, True), (0.051, False)):
        noise = Redraw(distribution="own", others=others)
        summary = noise.finalize(noise.fit(part), part.cells)
        assert fixed_by_likelihood(noise, part, summary)["c"].all() == fixed


def test_an_individual_risk_above_one_in_five_is_high():
    """Equivalence classes of five rows have a risk of 0.2, which is not above it; those of four are."""
    for size, high in ((5, 0.0), (4, 1.0)):
        original = table(number("x", np.repeat(np.arange(20.0), size)))
        found = individual(pair_of(original, original, None, quasi_identifiers=["x"]))
        assert found.high.value == high


def test_rows_alone_in_a_cell_of_any_step_are_counted():
    original = mixed(1, rows=100)
    step = lc.Step("age", within=lc.Whole(), perturb=lc.Shuffle())
    cells = replace(lc.Whole().cells(original).cells, label=np.minimum(np.arange(100), 7), count=8)
    known = Known(original, lc.Plan(step), {step.within: Partition(cells)}, original)
    assert singletons(known) == 0.07


def test_a_count_below_five_is_not_published():
    rules = DisclosureRules(1000, True)
    assert rules.count(5) == "5"
    assert rules.count(4) != "4"


@pytest.mark.parametrize(
    ("audience", "thresholds"),
    [
        ("public", {"max_risk": 0.05, "max_singletons": 0.0, "k": 20, "share": 11, "rare": "pool"}),
        ("researchers", {"max_risk": 0.2, "max_singletons": 0.05, "k": 5, "share": 5, "rare": "pool"}),
    ],
)
def test_each_audience_has_its_thresholds_and_a_sentence_for_each(audience, thresholds):
    assert asdict(AUDIENCES[audience]) == thresholds
    sentences = Limits(audience, AUDIENCES[audience]).sentences
    assert len(sentences) == len(thresholds) + 2
    page = (ROOT / "docs" / "how-to" / "project-file.md").read_text("utf-8")
    rows = [one for one in page.partition("## Who gets it")[2].splitlines() if one.startswith("| `")]
    line = {one.split("|")[1].strip(" `"): one for one in reversed(rows)}
    column = 2 if audience == "public" else 3
    for name, value in thresholds.items():
        assert any(name in sentence and str(value) in sentence for sentence in sentences)
        assert line[name].split("|")[column].strip(" `") == str(value)


def released_for(audience, **given):
    """A table of which one level and one number are rare, released for an audience."""
    rng = np.random.default_rng(1)
    pay = np.repeat(np.arange(60.0), 7)[:400]
    original = table(
        category("job", ["queen"] * 4 + ["clerk", "nurse"] * 198),
        number("pay", rng.permutation(pay)),
        category("class", rng.choice(["yes", "no"], 400).tolist()),
    )
    return lc.release(original, "cover", target="class", seed=1, audience=audience, max_risk=1.0, **given)


@pytest.mark.parametrize(("audience", "k", "share"), [("public", 20, 11), ("researchers", 10, 5)])
def test_an_audience_sets_the_method_as_far_as_nothing_else_is_asked_for(audience, k, share):
    made = released_for(audience)
    assert made.limits.used.k == k
    assert min(cell.smallest for cell in made.cells) >= k
    assert made.limits.used.share == share
    assert np.unique(made.table["pay"].values, return_counts=True)[1].min() >= share
    assert "queen" not in made.table["job"].levels
    other = released_for(audience, settings={"k": 6, "share": 2}, rare="allow")
    assert (other.limits.used.k, other.limits.used.share, other.limits.used.rare) == (6, 2, "allow")
    assert "queen" in other.table["job"].levels
    assert other.limits.audience == audience
    assert limits_from(json.loads(json.dumps(made.limits.facts))) == made.limits


@pytest.mark.parametrize("face", ["internal", "external"])
def test_the_report_names_the_audience_and_each_threshold(face):
    made = released_for("public", share=7)
    page = report(pair_from(made.original, made), release=made, measures=None, audience=face, publish_tree=False)
    for sentence in made.limits.sentences:
        assert escape(sentence, quote=False) in page
    assert "share = 7 instead of 11" in page


@pytest.mark.parametrize("audience", AUDIENCES)
def test_an_audience_refuses_a_risk_above_its_limit_unless_another_is_set(audience):
    original = mixed(1, rows=200, missing=0)
    with pytest.raises(RiskTooHigh, match=f"limit of {AUDIENCES[audience].max_risk}"):
        lc.release(original, "additive", settings={"spread": 0.001}, seed=1, audience=audience)


def test_a_limit_without_an_audience_is_kept_with_the_release_and_named_in_its_report(tmp_path):
    made = lc.release(mixed(1, rows=200, missing=0), "cover", target="class", seed=1, max_risk=0.9)
    assert made.limits == Limits(None, Thresholds(max_risk=0.9))
    assert limit_in_force(made.limits) == RiskLimit(0.9, 0.9, "given")
    made.save(tmp_path / "released.csv")
    loaded = lc.load(tmp_path / "released.csv", original=mixed(1, rows=200, missing=0), target="class")
    assert loaded.facts.limits == made.limits
    assert limits_from(json.loads(json.dumps(made.limits.facts))) == made.limits


@pytest.mark.parametrize("audience", AUDIENCES)
def test_the_limit_of_an_audience_is_in_force_unless_another_is_given(audience):
    own, other = AUDIENCES[audience].max_risk, 0.125
    limits = Limits(audience, AUDIENCES[audience])
    assert limit_in_force(limits) == RiskLimit(own, own, audience)
    assert limit_in_force(limits, other) == RiskLimit(other, other, "given")
    assert limit_in_force(None) == RiskLimit(AUDIENCES["public"].max_risk, AUDIENCES["researchers"].max_risk, "none")
    assert [limit_in_force(None).level(one) for one in (0.05, 0.051, 0.2, 0.201)] == ["low", *["moderate"] * 2, "high"]
    assert [limit_in_force(limits).level(one) for one in (own, own + 0.001)] == ["low", "high"]


def risk(kind, bound, column=""):
    """A risk that decides, of which this end of the interval counts."""
    return DecisiveRisk(kind, Risk(bound, bound, bound, 100), column)


def test_the_verdict_names_the_highest_figure_and_its_limit():
    risks = [risk("linkage", 0.03), risk("inference", 0.11, "pay"), risk("inference", 0.15, "job")]
    public = limit_in_force(Limits("public", AUDIENCES["public"]))
    found = verdict_of(risks, public, descends=True)
    assert (found.level, found.passes, found.worst.column) == ("high", False, "job")
    for part in (
        "high risk",
        "0.150",
        "of job above control",
        "limit 0.05",
        "public",
        "'job', 'pay'",
        "recode=",
        "drop=",
    ):
        assert part in str(found)
    assert "\n" not in str(found)
    researchers = verdict_of(risks, limit_in_force(Limits("researchers", AUDIENCES["researchers"])), descends=True)
    assert (researchers.level, researchers.passes, researchers.above) == ("low", True, ())
    assert "pass. The highest risk is 0.150" in str(researchers)
    assert "limit 0.2 (for researchers)" in str(researchers)
    assert "'job'" not in str(researchers)
    unset = verdict_of(risks, limit_in_force(None), descends=True)
    assert (unset.level, unset.passes) == ("moderate", False)
    assert not verdict_of(risks, limit_in_force(None, 0.5), descends=True, refused="seed").passes


def test_what_was_not_measured_does_not_pass_and_copies_never_do():
    limit = limit_in_force(None, 0.5)
    inference, linkage = risk("inference", 0.1, "job"), risk("linkage", 0.1)
    assert verdict_of([], limit, descends=False, measured=False).level == "nothing"
    assert verdict_of([inference], limit, descends=True).level == "no-linkage"
    assert verdict_of([linkage], limit, descends=True).level == "no-control"
    assert verdict_of([risk("linkage", 0.6)], limit, descends=True).level == "high"
    assert verdict_of([inference], limit, descends=False).level == "low"
    assert verdict_of([inference], limit, descends=False, measured=False).level == "nothing"
    copies = risk("copies", 0.01, "job")
    for measured in (True, False):
        found = verdict_of([copies], limit, descends=False, measured=measured)
        assert found.level == "copies"
        assert "job" in str(found)


def test_advice_names_the_columns_above_the_limit_and_no_others():
    columns = "abcdefgh"
    risks = tuple(risk("inference", 0.1 + i / 100, name) for i, name in enumerate(columns))
    (said,) = risk_advice(risks, descends=False)
    assert "'h', 'g', 'f', 'e', 'd' and 3 more" in said
    with pytest.raises(RiskTooHigh, match="'h', 'g' is above it") as refused:
        refuse_above(risks, 0.155)
    assert "'f'" not in str(refused.value)
