"""How figures are formatted, in the internal and in the external report."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from leafcover.messages import catalogue
from leafcover.metrics.estimates import Estimate, Risk, risk_over_keys, wilson
from leafcover.reporting.components import lower_end, span_words
from leafcover.reporting.disclosure_rules import FEW, FEWEST, HIDDEN, DisclosureRules, beside, listed

ROWS = st.integers(1, 50_000)
say = catalogue("report")


@given(rows=ROWS, first=st.integers(0, FEWEST - 1), second=st.integers(0, FEWEST - 1))
def test_counts_under_five_are_formatted_equally_as_shares_and_as_risks(rows, first, second):
    rules = DisclosureRules(rows, strict=True)
    one, other = (min(rows, count) for count in (first, second))
    assert rules.share(one / rows) == rules.share(other / rows)
    assert rules.share(1 - one / rows) == rules.share(1 - other / rows)
    assert rules.risk(wilson(one, rows)) == rules.risk(wilson(other, rows))
    assert rules.count(one) == rules.count(other)
    assert rules.estimate(_mean(one, rows), rows) == rules.estimate(_mean(other, rows), rows)
    assert rules.estimate(_mean(rows - one, rows), rows) == rules.estimate(_mean(rows - other, rows), rows)


def _mean(count, rows):
    found = wilson(count, rows)
    return Estimate(found.value, found.low, found.high, 1)


@given(tries=st.integers(1, FEW), right=st.integers(0, FEW))
def test_of_ten_tries_or_fewer_the_external_report_gives_nothing(tries, right):
    rules, found = DisclosureRules(1_000, strict=True), wilson(min(right, tries), tries)
    estimate = Estimate(found.value, found.low, found.high, tries)
    said = rules.risk(found)[0], rules.estimate(estimate, tries)[0], rules.points(estimate, tries)[0]
    assert set(said) == {HIDDEN}
    assert not rules.shows(found)
    assert rules.worst(found) == ""
    assert DisclosureRules(1_000, strict=False).shows(found)


@given(limit=st.sampled_from([0.05, 0.1, 2.0, 5.0, 20.0]), over=st.floats(1e-4, 1), digits=st.integers(0, 3))
def test_a_figure_over_its_limit_never_looks_as_if_it_were_at_it(limit, over, digits):
    assert float(beside(limit + over, limit, digits)) > limit
    assert float(beside(limit - over, limit, digits)) < limit


@given(tries=st.integers(1, 3_000), share=st.floats(0, 1))
def test_an_interval_is_told_no_narrower_than_it_is(tries, share):
    found = wilson(round(share * tries), tries)
    for strict in (False, True):
        rules = DisclosureRules(5_000, strict=strict)
        low, high = rules.interval_of(found, tries)
        assert 0 <= low <= found.low + 1e-12
        assert 1 >= high >= found.high - 1e-12
    told = DisclosureRules(5_000, strict=False).risk(found)[1].replace("%", "").split(" to ")
    assert float(told[0]) <= 100 * found.value + 0.05
    assert float(told[1]) >= 100 * found.value - 0.05


def test_intervals_of_shares_and_differences_end_where_these_end():
    wide = Estimate(0.58, -0.14, 1.31, 3)
    assert DisclosureRules(30, strict=False).estimate(wide, 30) == ("58.0%", "0.0% to 100.0%")
    assert DisclosureRules(30, strict=True).estimate(wide, 30) == ("58%", "0% to 100%")
    assert DisclosureRules(30, strict=False).points(Estimate(0.5, -1.4, 1.3, 3), 30) == ("+50.0", "−100.0 to +100.0")


def test_a_point_is_one_and_no_names_are_none():
    rules = DisclosureRules(900, strict=True)
    assert rules.format_points(Estimate(0.012, 0.001, 0.03, 900), 900) == "+1 percentage point (0 to +3)"
    assert rules.format_points(Estimate(0.022, 0.001, 0.03, 900), 900) == "+2 percentage points (0 to +3)"
    assert listed(()) == "none"


def test_the_scale_of_strips_is_never_a_single_point():
    assert span_words(lower_end([Estimate(1.0, 1.0, 1.0, 3)])) == "From 90% to 100%"


@given(rows=st.integers(1_000, 50_000), percent=st.integers(5, 94), offset=st.floats(-0.4, 0.4))
def test_the_external_report_gives_whole_percents_alone(rows, percent, offset):
    rules = DisclosureRules(rows, strict=True)
    value = (percent + offset) / 100
    assert rules.share(value) == f"{percent}%"
    assert rules.estimate(Estimate(value, 0.01, 0.99, 3), rows) == (f"{percent}%", "1% to 99%")
    assert rules.points(Estimate(value, 0.0101, 0.9899, 3), rows) == (f"+{percent}", "+1 to +99")
    drawn = rules.rounded(Risk(value, value, value, rows))
    assert [round(100 * x, 6) % 1 for x in (drawn.value, drawn.low, drawn.high)] == [0, 0, 0]


def test_the_worst_of_few_people_is_not_told_to_others():
    few, many = (risk_over_keys(np.eye(1, rows)[0]) for rows in (300, 600))  # one person is found
    assert DisclosureRules(300, strict=True).worst(few) == "not shown"
    assert DisclosureRules(600, strict=True).worst(many) == "not shown"  # 17 % of six people would be one
    assert DisclosureRules(2000, strict=True).worst(risk_over_keys((np.arange(2000) < 10).astype(float))) == "50%"
    assert DisclosureRules(300, strict=False).worst(few) == "33%"


def test_the_worst_is_never_written_as_less_than_the_risk():
    risk = Risk(0.003, 0.002, 0.004, 200_000, 0.0044)
    assert (DisclosureRules(200_000, strict=True).risk(risk)[0], DisclosureRules(200_000, strict=True).worst(risk)) == (
        "under 1%",
        "under 1%",
    )
    assert DisclosureRules(200_000, strict=False).worst(risk) == "0.4%"


def test_what_does_not_exist_is_a_dash():
    nan = float("nan")
    rules = DisclosureRules(100, strict=False)
    assert {rules.share(nan), rules.figure(nan), rules.estimate(Estimate(nan, nan, nan, 0), 0)[0]} == {"–"}
    assert rules.risk(wilson(0, 0)) == ("–", say("interval-nobody-attacked"))
