"""Results: true shares lie in the intervals as often as is said, none is negative, few answers say nothing."""

import numpy as np
import pytest
from scipy import stats

from leafcover.errors import LeafcoverError, PlanError, TableError
from leafcover.randomized_response import estimate
from leafcover.survey.questionnaire import survey_from
from leafcover.survey.results import (
    LEAST_ANSWERS,
    by_group,
    conjunction,
    cross,
    groups_text,
    percent,
    results,
    results_text,
    table_of,
    wilson,
)
from leafcover.survey.results import as_json as groups_json
from tests.survey.people import from_codes, people, reported
from tests.survey.surveys import habits, one_coin

SURVEY = habits()


def shares_of(table, name):  # type: ignore[no-untyped-def]
    column = table[name]
    return {level: float(np.mean(column.values == code)) for code, level in enumerate(column.levels)}


def test_shares_are_near_the_truth_and_add_up() -> None:
    truth = people(SURVEY, 20_000)
    found = results(SURVEY, reported(SURVEY, truth))
    assert (found.answers, found.warnings) == (20_000, ())
    for one, question in zip(found.questions, SURVEY.questions, strict=True):
        assert one.question == question
        if question.between:
            assert one.mean is not None
            assert one.mean.value == pytest.approx(truth["years"].values.mean())
            continue
        assert tuple(choice.choice for choice in one.choices) == question.choices
        assert sum(choice.share for choice in one.choices) == pytest.approx(1)
        true = shares_of(truth, question.name)
        for choice in one.choices:
            low, high = choice.interval
            assert low <= choice.share <= high
            assert abs(choice.share - true[choice.choice]) < 5 * choice.estimate.error + 1e-9


def test_intervals_hold_the_population_as_often_as_they_say() -> None:
    everybody = people(SURVEY, 200_000, seed=9)
    population = {name: shares_of(everybody, name) for name in ("taken", "days", "site")}
    years, held, asked = 30.0, 0, 0
    for run in range(120):
        found = results(SURVEY, reported(SURVEY, people(SURVEY, 600, seed=100 + run), run=run))
        for one in found.questions:
            if one.mean is not None:
                held += one.mean.interval[0] <= years <= one.mean.interval[1]
                asked += 1
            elif one.question.name in population:
                true = population[one.question.name]
                held += sum(c.interval[0] <= true[c.choice] <= c.interval[1] for c in one.choices[:2])
                asked += 2
    assert 0.92 < held / asked < 0.975


def test_few_answers_say_nothing() -> None:
    few = reported(SURVEY, people(SURVEY, LEAST_ANSWERS - 1))
    for ask in (
        lambda: results(SURVEY, few),
        lambda: conjunction(SURVEY, few, {"taken": "yes"}),
        lambda: cross(SURVEY, few, "taken", "site"),
        lambda: by_group(SURVEY, few, "site", {"taken": "yes"}),
    ):
        with pytest.raises(TableError, match=r"at least 100 answers\. Got 99\."):
            ask()
    assert results(SURVEY, reported(SURVEY, people(SURVEY, LEAST_ANSWERS))).answers == 100


def test_no_share_is_negative_where_nobody_has_it() -> None:
    nobody = from_codes(SURVEY, np.zeros((300, 5), int))
    for run in range(20):
        found = results(SURVEY, reported(SURVEY, nobody, run=run))
        for one in found.questions:
            for choice in one.choices:
                assert 0 <= choice.interval[0] <= choice.share <= choice.interval[1] <= 1
                assert "-" not in percent(choice.share)
        assert found.warnings == ()
        assert "-0" not in results_text(found)


@pytest.mark.parametrize(("true", "rows"), [(0.01, 100), (0.3, 150), (0.97, 200)])
def test_wilsons_interval_holds_the_share_as_often_as_it_says(true: float, rows: int) -> None:
    counts = np.arange(rows + 1)
    held = np.array([low <= true <= high for low, high in (wilson(count / rows, rows) for count in counts)])
    assert 0.92 < stats.binom.pmf(counts, rows, true)[held].sum() < 0.98
    centre = stats.binomtest(30, 100).proportion_ci(method="wilson")
    assert wilson(0.3, 100) == pytest.approx((centre.low, centre.high), abs=1e-6)


def test_an_open_choice_that_nobody_made_may_still_have_its_people() -> None:
    found = results(SURVEY, from_codes(SURVEY, np.zeros((300, 5), int)))
    east = found.questions[4].choices[2]
    assert (east.share, east.interval[0]) == (0.0, 0.0)
    assert 0.005 < east.interval[1] < 0.02


def test_people_who_do_not_follow_the_coins_are_noticed() -> None:
    always_no = from_codes(SURVEY, np.zeros((400, 5), int))  # sent without any coin
    found = results(SURVEY, always_no)
    assert any("“taken”" in words and "“yes”" in words and "standard errors" in words for words in found.warnings)
    assert not any("“site”" in words for words in found.warnings)  # it has no coin


def test_a_conjunction_is_that_of_the_estimates() -> None:
    table = reported(SURVEY, people(SURVEY, 1000))
    asked = {"taken": "yes", "site": "north", "years": 12.0}
    assert conjunction(SURVEY, table, asked) == estimate(table, SURVEY.scheme, asked)


def test_a_cross_table_stands_in_the_order_of_the_survey() -> None:
    truth = people(SURVEY, 40_000)
    found = cross(SURVEY, reported(SURVEY, truth), "days", "site")
    assert found.levels == (SURVEY.questions[1].choices, SURVEY.questions[4].choices)
    assert found.shares.sum() == pytest.approx(1)
    days, site = truth["days"], truth["site"]
    for row, one in enumerate(found.levels[0]):
        for place, two in enumerate(found.levels[1]):
            true = np.mean((days.values == days.levels.index(one)) & (site.values == site.levels.index(two)))
            assert found.shares[row, place] == pytest.approx(true, abs=0.03)
    with pytest.raises(PlanError):
        cross(SURVEY, truth, "taken", "years")


@pytest.mark.parametrize("by", ["site", "days", "taken"])
def test_shares_within_groups_are_unbiased_with_the_error_told(by: str) -> None:
    truth = people(SURVEY, 3000)
    groups, asked = truth[by], truth["paid"].values == truth["paid"].levels.index("yes")
    runs = [by_group(SURVEY, reported(SURVEY, truth, run=run), by, {"paid": "yes"}) for run in range(150)]
    for place, choice in enumerate(next(q.choices for q in SURVEY.questions if q.name == by)[:2]):
        true = asked[groups.values == groups.levels.index(choice)].mean()
        within = [one[place].within for one in runs]
        assert all(one is not None for one in within)
        raw = np.array([one.raw for one in within if one is not None])
        told = np.mean([one.error**2 for one in within if one is not None])
        assert abs(raw.mean() - true) < 5 * raw.std() / np.sqrt(len(raw)) + 0.01  # a ratio is biased by 1 / n
        assert 0.5 < raw.var(ddof=1) / told < 1.5


def test_groups_by_hand() -> None:
    plain = survey_from(
        'title = "T"\n[[questions]]\nname = "a"\ntext = "A?"\nchoices = ["x", "y", "z"]\nmechanism = "open"\n'
        '[[questions]]\nname = "b"\ntext = "B?"\nchoices = ["no", "yes"]\nmechanism = "open"'
    )
    table = table_of(plain, [("0", "1")] * 30 + [("0", "0")] * 90 + [("1", "1")] * 50 + [("1", "0")] * 50)
    x, y, z = by_group(plain, table, "a", {"b": "yes"})
    assert x.within is not None
    assert (x.within.raw, x.within.rows) == (0.25, 120)
    assert x.within.sampling_error == pytest.approx(np.sqrt(0.25 * 0.75 / 120))
    assert y.within is not None
    assert (y.within.share, z.within) == (0.5, None)
    assert "too few" in groups_text((x, y, z))
    assert [one["share"] for one in groups_json((x, y, z))] == [0.25, 0.5, None]


def test_a_question_cannot_be_asked_within_its_own_groups() -> None:
    table = reported(SURVEY, people(SURVEY, 200))
    for by, literals in (("taken", {"taken": "yes"}), ("years", {"taken": "yes"}), ("other", {"taken": "yes"})):
        with pytest.raises(LeafcoverError):
            by_group(SURVEY, table, by, literals)


def test_results_of_a_shared_coin() -> None:
    survey = one_coin()
    truth = people(survey, 20_000)
    found = results(survey, reported(survey, truth))
    for one in found.questions:
        assert one.choices[1].share == pytest.approx(shares_of(truth, one.question.name)["yes"], abs=0.03)


def test_as_text_and_as_json_tell_the_same() -> None:
    found = results(SURVEY, reported(SURVEY, people(SURVEY, 500)))
    shown, said = results_text(found), found.as_json()
    assert shown.startswith("Habits at work: 500 answers\n")
    assert "site: Where do you work? (" in shown
    for question in said["questions"]:
        for choice in question.get("choices", []):
            assert f"{percent(choice['share'])}" in shown
    assert said["answers"] == 500
