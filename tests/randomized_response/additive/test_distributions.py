"""Laws and noise: what is drawn follows the distribution that is said, and nothing of the truth goes with it."""

from math import exp

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from leafcover.errors import NameUnknown, PlanError, ValueOutOfRange
from leafcover.keyed_random import Draws, Key
from leafcover.randomized_response.additive_noise import GaussianNoise, LaplaceNoise, Noisy, UniformNoise, add_noise
from tests.tables import category, number, table

DRAWS = Draws(Key.from_seed(3).secret)
DISTRIBUTIONS = (UniformNoise, GaussianNoise, LaplaceNoise)
each_law = pytest.mark.parametrize("kind", DISTRIBUTIONS)
SCIPY = {
    UniformNoise: lambda spread: stats.uniform(-spread, 2 * spread),
    GaussianNoise: lambda spread: stats.norm(0, spread),
    LaplaceNoise: lambda spread: stats.laplace(0, spread),
}


@each_law
@given(spread=st.floats(1e-3, 1e3), at=st.floats(-5, 5), chance=st.floats(1e-6, 1 - 1e-6))
def test_a_law_is_the_one_scipy_knows(kind, spread, at, chance):
    distribution, known = kind(spread), SCIPY[kind](spread)
    place = np.array([at * spread])
    if abs(abs(at) - 1) > 1e-9:  # at its end the uniform density may be either
        assert distribution.density(place)[0] == pytest.approx(known.pdf(place)[0])
    assert distribution.cdf(place)[0] == pytest.approx(known.cdf(place)[0], abs=1e-12)
    assert distribution.inverse(np.array([chance]))[0] == pytest.approx(known.ppf(chance), rel=1e-9, abs=1e-9 * spread)
    assert distribution.cdf(-np.array([distribution.reach]))[0] <= 1.0001e-5


@each_law
@given(width=st.floats(0.1, 100), confidence=st.floats(0.05, 0.999))
def test_an_interval_of_the_width_holds_the_noise_as_often_as_is_said(kind, width, confidence):
    distribution = kind.with_width(width, confidence)
    assert distribution.width(confidence) == pytest.approx(width)
    held = distribution.cdf(np.array([width / 2])) - distribution.cdf(np.array([-width / 2]))
    assert held[0] == pytest.approx(confidence)


def test_privacy_by_hand():
    assert UniformNoise(10).width(0.5) == 10
    assert GaussianNoise(1).width(0.95) == pytest.approx(3.92, abs=0.001)
    assert Noisy(UniformNoise(50), 0, 95).share_hidden(0.95) == pytest.approx(1)
    assert Noisy.with_privacy(
        0.5, 0, 10, distribution=GaussianNoise, confidence=0.5
    ).distribution.spread == pytest.approx(5 / 1.349, rel=1e-3)


@each_law
def test_noise_follows_its_law_and_not_one_of_another_spread(kind):
    noisy = Noisy(kind(7.0), 0, 100)
    truth = np.random.default_rng(1).uniform(0, 100, 20_000)
    noise = add_noise(table(number("x", truth, None)), {"x": noisy}, DRAWS)["x"].values - truth
    assert stats.kstest(noise, SCIPY[kind](7.0).cdf).pvalue > 1e-6
    for factor in (0.9, 1.1):
        assert stats.kstest(noise, SCIPY[kind](7.0 * factor).cdf).pvalue < 1e-6
    assert abs(np.corrcoef(noise, truth)[0, 1]) < 5 / np.sqrt(len(truth))


def test_rows_draw_their_own_noise_in_parts_as_whole_and_columns_apart():
    some = table(number("x", np.zeros(50)), number("y", np.zeros(50)), category("c", ["a"] * 50))
    noisy = {"x": Noisy(GaussianNoise(1), 0, 1), "y": Noisy(GaussianNoise(1), 0, 1)}
    whole = add_noise(some, noisy, DRAWS)
    part = add_noise(some.take(np.arange(20, 50)), noisy, DRAWS, start=20)
    assert (whole["x"].values[20:] == part["x"].values).all()
    assert len(set(whole["x"].values) | set(whole["y"].values)) == 100
    assert whole["c"].values.tolist() == some["c"].values.tolist()


def test_nothing_of_the_truth_goes_with_a_report():
    some = table(number("age", [1.0, 2.0, np.nan]))
    reported = add_noise(some, {"age": Noisy(UniformNoise(5), 0, 10, step=1)}, DRAWS)["age"]
    assert reported.stored is None
    assert reported.grid is None
    assert np.isnan(reported.values).tolist() == [False, False, True]
    fine = 2.0**-18  # 2⁻²⁰ of the power of two below 5
    assert (reported.values[:2] / fine == np.rint(reported.values[:2] / fine)).all()


def test_truths_are_moved_into_the_range_and_onto_steps():
    noisy = Noisy(UniformNoise(1), 10, 20, step=2.5)
    np.testing.assert_array_equal(
        noisy.admitted(np.array([-3.0, 11.0, 12.0, 99.0, np.nan])), [10, 10, 12.5, 20, np.nan]
    )
    assert Noisy(UniformNoise(1), 0, 1).admitted(np.array([0.3, 7])).tolist() == [0.3, 1]


def test_edges_stand_between_values():
    assert Noisy(UniformNoise(1), 0, 10).edges(5).tolist() == [0, 2, 4, 6, 8, 10]
    assert Noisy(UniformNoise(1), 1, 4, step=1).edges(99).tolist() == [0.5, 1.5, 2.5, 3.5, 4.5]


def test_epsilon_of_laplace_bounds_the_odds_and_the_others_have_none():
    noisy = Noisy(LaplaceNoise(50.0), 0, 100)
    assert noisy.privacy.epsilon == pytest.approx(2.0)
    reports = np.linspace(-500, 600, 2001)
    ratio = noisy.distribution.density(reports) / noisy.distribution.density(reports - 100)
    assert max(ratio.max(), (1 / ratio).max()) <= exp(2.0) * (1 + 1e-9)
    assert max(ratio.max(), (1 / ratio).max()) == pytest.approx(exp(2.0))
    for distribution in (UniformNoise(50.0), GaussianNoise(50.0)):
        said = Noisy(distribution, 0, 100).privacy
        assert said.epsilon is None
        assert "average out" in said.words
        assert "much narrower" in said.words


def test_posterior_by_hand():
    # Two values, the report 1.2: noise 1.2 or 0.2, densities 1 and 1 within the reach of 2; then only the prior counts.
    noisy = Noisy(UniformNoise(2.0), 0, 1, step=1)
    np.testing.assert_allclose(noisy.posterior(1.2, noisy.edges(2), np.array([0.9, 0.1])), [0.9, 0.1])
    np.testing.assert_allclose(noisy.posterior(2.5, noisy.edges(2), np.array([0.9, 0.1])), [0, 1])
    with pytest.raises(ValueOutOfRange, match="2 probabilities"):
        noisy.posterior(1.2, noisy.edges(2), np.array([0.9, 0.2]))
    with pytest.raises(ValueOutOfRange, match="impossible"):
        noisy.posterior(9.0, noisy.edges(2), np.array([0.9, 0.1]))


@pytest.mark.parametrize(
    "make",
    [
        lambda: UniformNoise(0.0),
        lambda: GaussianNoise(-1.0),
        lambda: LaplaceNoise(float("nan")),
        lambda: GaussianNoise(1.0).width(1.0),
        lambda: Noisy(UniformNoise(1.0), 2, 2),
        lambda: Noisy(UniformNoise(1.0), 0, float("inf")),
        lambda: Noisy(UniformNoise(1.0), 0, 10, step=3),
        lambda: Noisy(UniformNoise(1.0), 0, 10, step=11),
        lambda: Noisy(UniformNoise(101.0), 0, 10),
        lambda: Noisy(UniformNoise(1.0), 0, 10).edges(0),
        lambda: Noisy.with_privacy(0.0, 0, 10),
    ],
)
def test_what_cannot_be_is_refused(make):
    with pytest.raises(ValueOutOfRange):
        make()


def test_columns_that_cannot_carry_noise_are_refused():
    some = table(category("c", ["a", "b"]))
    with pytest.raises(PlanError, match="'c' is a category"):
        add_noise(some, {"c": Noisy(UniformNoise(1.0), 0, 1)}, DRAWS)
    with pytest.raises(NameUnknown):
        add_noise(some, {"d": Noisy(UniformNoise(1.0), 0, 1)}, DRAWS)
