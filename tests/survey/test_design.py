"""How many answers a survey needs: by hand, against a naive count over all truths and reports, and by simulation."""

from itertools import product as every
from math import exp, log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from leafcover.errors import LeafcoverError, ValueOutOfRange
from leafcover.messages import catalogue
from leafcover.randomized_response import DisguisedColumns, Kary, UnrelatedQuestion, Warner, estimate, matrix
from leafcover.randomized_response.estimate import DEVIATIONS
from leafcover.randomized_response.mechanism import posterior
from leafcover.survey.consent_text import about_all
from leafcover.survey.design import WeightMoments, answers_needed, as_text, belief, design, half_width, moments, product
from leafcover.survey.questionnaire import Survey, survey_from
from tests.survey.people import from_codes, people, reported
from tests.survey.surveys import ONE_COIN, habits, one_coin

say = catalogue("survey")
ASKED = [
    (habits(), {"taken": "yes"}),
    (habits(), {"days": "more"}),
    (habits(), {"paid": "yes"}),
    (habits(), {"paid": "no"}),
    (habits(), {"site": "south"}),
    (habits(), {"taken": "yes", "days": "none"}),
    (habits(), {"taken": "no", "paid": "yes", "site": "east"}),
    (one_coin(), {"drinks": "no"}),
    (one_coin(), {"smokes": "yes", "drives": "no"}),
    (survey_from(ONE_COIN.replace("0.8", "0.3")), {"smokes": "yes", "drives": "yes"}),
]
RUNS, ROWS = 500, 150
LOW, HIGH = stats.chi2.ppf([5e-7, 1 - 5e-7], RUNS - 1) / (RUNS - 1)


def naive(survey: Survey, literals: dict[str, str]) -> dict[tuple[int, ...], float]:
    """For each truth about the questions asked for, the expected square of the weight, report by report."""
    asked = [question for question in survey.questions if question.name in literals]
    squares = {}
    for truth in every(*(range(len(question.choices)) for question in asked)):
        factor = 1.0
        for question, code in zip(asked, truth, strict=True):
            if question.is_open:
                factor *= question.choices[code] == literals[question.name]
        for part in survey.scheme.parts:
            own = {place: q for place, name in enumerate(part.names) for q in asked if q.name == name}
            if own:
                mechanism = part.mechanism.on(list(own))
                wanted = {n: q.choices.index(literals[q.name]) for n, q in enumerate(own.values())}
                cell = np.ravel_multi_index([truth[asked.index(q)] for q in own.values()], mechanism.shape)
                reports = np.array(np.unravel_index(range(len(matrix(mechanism))), mechanism.shape))
                weights = mechanism.weights(wanted, reports if len(own) > 1 else reports[0])
                factor *= float(matrix(mechanism)[:, int(cell)] @ weights**2)
        squares[truth] = factor
    return squares


@pytest.mark.parametrize(("survey", "literals"), ASKED)
def test_moments_are_those_of_the_naive_count(survey: Survey, literals: dict[str, str]) -> None:
    squares = naive(survey, literals)
    asked = [question for question in survey.questions if question.name in literals]
    met = squares.pop(tuple(question.choices.index(literals[question.name]) for question in asked))
    found = moments(survey, literals)
    assert found.met == pytest.approx(met)
    assert found.unmet == pytest.approx(max(squares.values()))


@given(st.floats(0.05, 0.95))
def test_one_question_has_the_variance_of_its_mechanism(share: float) -> None:
    survey, sampling = habits(), share * (1 - share)
    taken, days, paid = (part.mechanism for part in survey.scheme.parts)
    assert isinstance(taken, Warner)
    assert isinstance(days, Kary)
    assert isinstance(paid, UnrelatedQuestion)
    expected = {
        ("taken", "yes"): taken.variance(1),
        ("taken", "no"): taken.variance(1),
        ("days", "more"): days.variance(share, 1),
        ("paid", "yes"): paid.variance(share, 1),
        ("paid", "no"): paid.variance(1 - share, 1),
        ("site", "east"): 0.0,
    }
    for (name, text), variance in expected.items():
        assert moments(survey, {name: text}).variance(share) == pytest.approx(variance + sampling)


@given(st.floats(0, 5), st.floats(0, 5), st.floats(0, 1))
def test_the_worst_share_is_the_worst(met: float, unmet: float, share: float) -> None:
    found = WeightMoments(met, unmet)
    assert found.worst >= found.variance(share) - 1e-12
    assert 0 <= found.worst_share <= 1


@pytest.mark.parametrize(("survey", "literals"), ASKED)
def test_simulated_shares_scatter_as_designed(survey: Survey, literals: dict[str, str]) -> None:
    """The population is the worst one: who does not meet the conjunction is where the weights scatter most."""
    asked = [question for question in survey.questions if question.name in literals]
    squares = naive(survey, literals)
    met = tuple(question.choices.index(literals[question.name]) for question in asked)
    worst = max((truth for truth in squares if truth != met), key=squares.__getitem__)
    share, generator, raw, told = 0.3, np.random.default_rng(3), [], []
    for run in range(RUNS):
        codes = np.zeros((ROWS, len(survey.questions)), int)
        meets = generator.random(ROWS) < share
        for place, question in enumerate(survey.questions):
            if question in asked:
                number = asked.index(question)
                codes[:, place] = np.where(meets, met[number], worst[number])
        found = estimate(reported(survey, from_codes(survey, codes), run=run), survey.scheme, literals)
        raw.append(found.raw)
        told.append(found.sampling_error**2)
    designed = moments(survey, literals).variance(share) / ROWS
    assert abs(np.mean(raw) - share) < 5 * np.sqrt(designed / RUNS)
    assert LOW < np.var(raw, ddof=1) / designed < HIGH
    assert np.mean(told) == pytest.approx(designed, rel=0.05)
    for factor in (0.6, 1.6):  # a design that far off is caught
        assert not LOW < np.var(raw, ddof=1) / (designed * factor) < HIGH


def test_no_population_scatters_more_than_designed() -> None:
    survey = habits()
    answers = reported(survey, people(survey, 50_000))
    for asked in ({"taken": "yes", "days": "none"}, {"taken": "yes", "site": "east"}, {"days": "none", "paid": "yes"}):
        found = estimate(answers, survey.scheme, asked)
        assert found.sampling_error**2 * 50_000 < 1.03 * moments(survey, asked).variance(found.share)


@given(st.floats(0.01, 0.4), st.floats(0.001, 20))
def test_answers_needed_reach_the_width_and_one_less_does_not(width: float, variance: float) -> None:
    needed = answers_needed(variance, width)
    assert half_width(variance, needed) <= width * (1 + 1e-9)
    if needed > 1:
        assert half_width(variance, needed - 1) > width * (1 - 1e-9)


@pytest.mark.parametrize("width", [0.0, 5e-324, 1e-285, 1e-7, 1.0, float("inf"), float("nan")])
def test_a_precision_that_nobody_can_reach_is_refused(width: float) -> None:
    with pytest.raises(ValueOutOfRange, match=r"from 0\.000001 to below 1"):
        answers_needed(1.0, width)


def test_a_design_by_hand() -> None:
    survey = survey_from('title = "T"\n[[questions]]\nname = "a"\ntext = "A?"\nchoices = ["no", "yes"]\ntheta = 0.75')
    found = design(survey, error=0.1, share=0.2, answers=400)
    (needs,) = found.questions
    assert needs.answers == np.ceil((0.75 + 0.16) * (DEVIATIONS / 0.1) ** 2)
    assert needs.answers_worst == np.ceil(DEVIATIONS**2 * 100)
    assert needs.reached_worst == pytest.approx(DEVIATIONS / 20)
    (away,) = found.disclosures
    assert away.epsilon == pytest.approx(log(3))
    assert away.odds == pytest.approx(3)
    assert away.belief == pytest.approx(0.2 * 0.75 / (0.2 * 0.75 + 0.8 * 0.25))
    assert found.epsilon == pytest.approx(log(3))
    assert found.pairs == ()


def test_two_questions_cost_the_product_of_their_scatter() -> None:
    found = design(habits(), share=0.1)
    pair = next(pair for pair in found.pairs if pair.questions == ("taken", "days"))
    both = product([moments(habits(), {"taken": "yes"}), moments(habits(), {"days": "more"})])
    assert pair.answers == answers_needed(both.variance(0.1), 0.05)
    assert pair.answers > max(one.answers for one in found.questions)
    shared = design(one_coin(), share=0.1)
    assert {pair.answers for pair in shared.pairs} == {one.answers for one in shared.questions}
    assert len(found.pairs) == 6  # a number that is asked openly has no shares


def test_the_sum_of_epsilon_and_why_there_is_none() -> None:
    found, shared = design(habits()), design(one_coin())
    known = [one.epsilon for one in found.disclosures if one.epsilon is not None]
    assert found.epsilon == pytest.approx(sum(known))
    assert say("design-total", epsilon="3.86", times="48") in as_text(found)
    assert shared.epsilon is None
    assert say("design-no-total", first="1, 2", last="3") in as_text(shared)
    plain = survey_from('title = "T"\n[[questions]]\nname = "a"\ntext = "A?"\nchoices = ["a", "b"]\nmechanism = "open"')
    assert design(plain).epsilon is None
    assert say("design-unprotected") in as_text(design(plain))


def test_figures_behind_at_most_are_rounded_up_and_small_shares_keep_their_digits() -> None:
    question = '[[questions]]\nname = "a"\ntext = "A?"\nchoices = ["no", "yes"]\nepsilon = 1.501'
    survey = survey_from(f'title = "T"\n{question}')
    row = next(line for line in as_text(design(survey)).splitlines() if line.startswith("a "))
    assert row.split()[2:6] == ["1.51", "4.5", "times", "34%"]  # e^1.501 is 4.486, and 10 % become 33.3 %
    shown = as_text(design(survey, share=0.004))
    assert "0.4% becomes" in shown
    assert "at a share of 0.4%" in shown
    assert " 1.8% " in shown


@given(st.floats(0.01, 0.9), st.integers(2, 5), st.sampled_from([0.3, 0.9, 1.8, 2.9]))
def test_belief_is_the_strongest_posterior(prior: float, levels: int, epsilon: float) -> None:
    mechanism = Kary.with_epsilon(epsilon, levels)
    part = DisguisedColumns({"a": tuple(map(str, range(levels)))}, mechanism)
    beliefs = np.full(levels, (1 - prior) / (levels - 1))
    beliefs[0] = prior
    strongest = max(float(posterior(matrix(mechanism), report, beliefs)[0]) for report in range(levels))
    assert belief(part, 0, prior) == pytest.approx(strongest)
    odds = prior / (1 - prior) * exp(epsilon)
    assert belief(part, 0, prior) == pytest.approx(odds / (1 + odds))


def test_belief_never_falls_short_when_a_draw_rarely_tells_the_truth() -> None:
    mechanism = Kary(0.05, 3)
    part = DisguisedColumns({"a": ("x", "y", "z")}, mechanism)
    for rest in (0.0, 0.3, 0.7):
        after = [posterior(matrix(mechanism), report, np.array([0.3, rest, 0.7 - rest]))[0] for report in range(3)]
        assert max(after) <= belief(part, 0, 0.3) + 1e-12


@pytest.mark.parametrize(
    "given_badly", [{"error": 0.0}, {"error": 1.0}, {"share": 0.0}, {"share": 1.0}, {"answers": 0}]
)
def test_figures_that_cannot_be_are_refused(given_badly: dict[str, float]) -> None:
    with pytest.raises(LeafcoverError):
        design(habits(), **given_badly)  # type: ignore[arg-type]


@pytest.mark.parametrize("literals", [{}, {"taken": "perhaps"}, {"years": "3"}, {"other": "yes"}])
def test_a_conjunction_that_cannot_be_is_refused(literals: dict[str, str]) -> None:
    with pytest.raises(LeafcoverError):
        moments(habits(), literals)


def test_the_largest_survey_is_designed_in_moments_and_words() -> None:
    choices = [str(number) for number in range(200)]
    one = f'\n[[questions]]\nname = "q{{}}"\ntext = "Q?"\nchoices = {choices}\nepsilon = 9.0\n'
    survey = survey_from('title = "T"\nmax_epsilon = 10\n' + "".join(one.format(number) for number in range(200)))
    total = say("design-total-huge", epsilon="1800.00", times=1_000_000)
    assert total in as_text(design(survey))  # e^1800 is beyond a double
    assert say("overview-hardly-limited", which="all", times=1_000_000) in " ".join(about_all(survey))


def test_only_the_most_demanding_pairs_are_shown() -> None:
    one = '\n[[questions]]\nname = "q{}"\ntext = "Q?"\nchoices = ["no", "yes"]\n'
    survey = survey_from('title = "T"' + "".join(one.format(number) for number in range(6)))
    shown = as_text(design(survey))
    assert say("design-needed-pairs-some", shown=10, all=15) in shown
    assert len(design(survey).as_json()["pairs"]) == 15
