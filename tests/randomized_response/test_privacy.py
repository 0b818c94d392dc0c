"""What a report gives away: figures by going through every report, and none where none exists."""

from math import exp, inf, log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from leafcover.errors import ValueOutOfRange
from leafcover.randomized_response import Groups, Kary, OneCoin, UnrelatedQuestion, Warner, matrix
from leafcover.randomized_response.mechanism import odds
from tests.naive_response import probabilities_of
from tests.randomized_response.mechanisms import any_mechanism


def largest_ratio(mechanism):
    """Over every report and every two truths."""
    probabilities = probabilities_of(mechanism)
    most = 0.0
    for chances in probabilities:
        if chances.max() > 0:
            most = inf if chances.min() <= 0 else max(most, log(chances.max() / chances.min()))
        if most == inf:
            break
    return most


@given(any_mechanism())
def test_epsilon_is_the_largest_ratio_of_chances_or_none(mechanism):
    most = largest_ratio(mechanism)
    if most == inf:
        assert mechanism.privacy.epsilon is None
        assert str(mechanism.privacy).startswith("No epsilon: ")
    else:
        assert mechanism.privacy.epsilon == pytest.approx(most)
        assert "Epsilon" in str(mechanism.privacy)


def test_by_hand():
    assert Warner(0.75).privacy.epsilon == pytest.approx(log(3))
    assert Warner(0.25).privacy.epsilon == pytest.approx(log(3))
    assert Kary(0.5, levels=4).privacy.epsilon == pytest.approx(log(3))  # 1/2 against 1/6
    assert Kary.with_epsilon(2.0, levels=7).privacy.epsilon == pytest.approx(2)
    # A yes: 1/2 + 1/8 against 1/8; a no: 1/2 + 3/8 against 3/8.
    assert UnrelatedQuestion(0.5, alpha=0.25).privacy.epsilon == pytest.approx(log(5))
    assert Groups(0.75, ((0,), (1,))).privacy.epsilon == pytest.approx(2 * log(3))


def test_one_coin_over_two_columns_or_more_shows_the_pair():
    mechanism = OneCoin(0.6, columns=3)
    probabilities = matrix(mechanism)
    for truth in range(8):
        possible = set(np.flatnonzero(probabilities[:, truth]))
        assert possible == {truth, 7 - truth}
        for other in range(8):
            if other not in possible:  # disjoint supports: one report tells these two apart for certain
                assert not possible & set(np.flatnonzero(probabilities[:, other]))
    assert mechanism.privacy.epsilon is None
    assert "one known true answer reveals all" in mechanism.privacy.words
    assert Groups(0.6, ((0, 1), (2,))).privacy.epsilon is None
    assert OneCoin(0.6, columns=1).privacy.epsilon == pytest.approx(log(1.5))


def test_what_protects_nothing_says_so():
    for mechanism in (Warner(1.0), Warner(0.0), Kary(1.0, 3), UnrelatedQuestion(1.0, 0.5), OneCoin(1.0, 4)):
        assert mechanism.privacy.epsilon is None
        assert "true answer" in mechanism.privacy.words
    assert "rules out one level" in Kary(0.0, 3).privacy.words


@given(st.floats(0.51, 0.99), st.floats(0.01, 0.99), st.integers(0, 1))
def test_a_report_moves_the_odds_by_no_more_than_epsilon(theta, prior, report):
    mechanism = Warner(theta)
    after = mechanism.posterior(report, np.array([1 - prior, prior]))
    moved = odds(after, 1) / (prior / (1 - prior))
    assert moved == pytest.approx(exp(mechanism.privacy.epsilon) ** (1 if report else -1))


def test_posterior_by_hand():
    # 10 % have it; of 1000, 80 of 100 and 180 of 900 report it.
    assert Warner(0.8).posterior(1, np.array([0.9, 0.1]))[1] == pytest.approx(80 / 260)
    assert Kary(0.6, 3).posterior(0, np.array([0.5, 0.25, 0.25]))[0] == pytest.approx(0.3 / 0.4)
    assert UnrelatedQuestion(0.5, 0.2).posterior(1, np.array([0.5, 0.5]))[1] == pytest.approx(0.6 / 0.7)
    assert odds(np.array([0.0, 1.0]), 1) == inf
    assert OneCoin(0.7, 4).odds(0.2, 0.1) == pytest.approx(14 / 3)
    assert OneCoin(0.7, 4).odds(0.2, 0.0) == inf


@pytest.mark.parametrize(
    "make",
    [
        lambda: Warner(0.8).posterior(1, np.array([0.5, 0.6])),
        lambda: Warner(0.8).posterior(1, np.array([1.0])),
        lambda: Warner(0.8).posterior(2, np.array([0.5, 0.5])),
        lambda: Warner(1.0).posterior(1, np.array([1.0, 0.0])),
        lambda: OneCoin(0.7, 2).odds(-0.1, 0.5),
        lambda: OneCoin(0.7, 2).odds(0.0, 0.0),
    ],
)
def test_priors_that_cannot_be_are_refused(make):
    with pytest.raises(ValueOutOfRange):
        make()
