"""How figures are said, and what is concluded from them."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from leafcover.draws import Key
from leafcover.measuring.figures import Estimate, Risk, risk_of, wilson
from leafcover.releasing.pairing import pair_from
from leafcover.releasing.reporting.fitness import FAR, LOW, NEAR, verdicts
from leafcover.releasing.reporting.plain import plain
from leafcover.releasing.reporting.subject import Subject
from leafcover.releasing.reporting.voice import FEWEST, Voice
from tests.releasing.report.pages import released
from tests.tables import mixed

ROWS = st.integers(1, 50_000)


@given(rows=ROWS, first=st.integers(0, FEWEST - 1), second=st.integers(0, FEWEST - 1))
def test_counts_under_five_are_said_alike_as_shares_and_as_risks(rows, first, second):
    voice = Voice(rows, strict=True)
    one, other = (min(rows, count) for count in (first, second))
    assert voice.share(one / rows) == voice.share(other / rows)
    assert voice.share(1 - one / rows) == voice.share(1 - other / rows)
    assert voice.risk(wilson(one, rows)) == voice.risk(wilson(other, rows))
    assert voice.count(one) == voice.count(other)


@given(rows=st.integers(1_000, 50_000), percent=st.integers(5, 94), offset=st.floats(-0.4, 0.4))
def test_others_hear_whole_percents_alone(rows, percent, offset):
    voice = Voice(rows, strict=True)
    value = (percent + offset) / 100
    assert voice.share(value) == f"{percent}%"
    assert voice.estimate(Estimate(value, 0.01, 0.99, 3)) == (f"{percent}%", "1% to 99%")
    assert voice.points(Estimate(value, 0.0101, 0.9899, 3)) == (f"+{percent}", "+1 to +99")
    drawn = voice.drawn(Risk(value, value, value, rows))
    assert [round(100 * x, 6) % 1 for x in (drawn.value, drawn.low, drawn.high)] == [0, 0, 0]


def test_the_worst_of_few_people_is_not_told_to_others():
    few, many = (risk_of(np.eye(1, rows)[0]) for rows in (300, 600))  # one person is found
    assert Voice(300, strict=True).worst(few) == "not shown"
    assert Voice(600, strict=True).worst(many) == "not shown"  # 17 % of six people would be one
    assert Voice(2000, strict=True).worst(risk_of((np.arange(2000) < 10).astype(float))) == "50%"
    assert Voice(300, strict=False).worst(few) == "33%"


def test_what_does_not_exist_is_a_dash():
    nan = float("nan")
    voice = Voice(100, strict=False)
    assert {voice.share(nan), voice.figure(nan), voice.estimate(Estimate(nan, nan, nan, 0))[0]} == {"–"}
    assert voice.risk(wilson(0, 0)) == ("–", "nobody to try")


def verdict(subject, whom):
    return next(one for one in verdicts(subject) if one.whom.startswith(whom))


def subject_of(case, *, strict=False, **changed):
    original, release, measures = case
    measures = replace(measures, **changed)
    return Subject(pair_from(original, release), release, measures, Voice(len(original), strict), not strict)


@pytest.mark.parametrize(
    ("short", "fit"),
    [(-0.1, "yes"), (NEAR - 0.001, "yes"), (NEAR + 0.001, "with care"), (FAR + 0.001, "no")],
)
def test_miners_are_judged_by_how_far_agreement_lies_below_its_floor(mixed_release, short, fit):
    agreements = mixed_release[2].utility.agreement
    own = replace(agreements.target, agreement=Estimate(0.9 - short, 0.8, 1.0, 3), floor=Estimate(0.9, 0.85, 0.95, 3))
    utility = replace(mixed_release[2].utility, agreement=replace(agreements, target=own))
    assert verdict(subject_of(mixed_release, utility=utility), "Miners who study class").fit == fit


@pytest.mark.parametrize(("high", "worse"), [(LOW - 0.01, False), (LOW + 0.01, True), (0.5, True)])
def test_readers_outside_are_judged_by_the_upper_end_of_the_risk(mixed_release, high, worse):
    risks = mixed_release[2].risks
    quiet = replace(risks.singling_out, univariate=risks.column_sets.attack, multivariate=risks.column_sets.attack)
    told = tuple(
        replace(one, nearest=replace(one.nearest, main=wilson(30_000, 100_000), control=wilson(30_000, 100_000)))
        for one in risks.inferences
    )
    informed = replace(risks.informed, first=Risk(0.01, 0.0, high, 500, 0.1))
    risks = replace(risks, informed=informed, inferences=told, singling_out=quiet, membership=None)
    found = verdict(subject_of(mixed_release, risks=risks), "Readers outside")
    assert (found.fit != "yes") == worse
    assert (found.fit == "no") == (high > 0.2)


def test_nothing_measured_is_not_known_and_a_seed_is_no():
    original = mixed(1, rows=200)
    release = released(original, target="class", key=Key.from_seed(3))
    subject = Subject(pair_from(original, release), release, None, Voice(200, strict=False), opened=True)
    first, *others = verdicts(subject)
    assert first.fit == "no"
    assert "seed" in first.why
    assert all(one.fit in ("no", "not known") for one in others)


def test_no_sentence_calls_a_release_anonymous_or_safe(mixed_release):
    for strict in (False, True):
        said = plain(subject_of(mixed_release, strict=strict))
        words = " ".join([*said.kept, *said.hidden, *(f"{a} {b}" for a, b in said.open), *(v.why for v in said.fit)])
        assert "anonym" not in words.casefold()
        assert "is safe" not in words.casefold()
        assert "% to " in words  # the risk with its interval
