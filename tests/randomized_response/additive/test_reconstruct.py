"""Reconstruction: the matrix between bins follows the noise, EM equals its naive twin, and the stopping rules work."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import leafcover as lc
from leafcover.errors import NameUnknown, TableError, ValueOutOfRange
from leafcover.keyed_random import Draws, Key
from leafcover.randomized_response.additive_noise import (
    GaussianNoise,
    LaplaceNoise,
    Noisy,
    UniformNoise,
    add_noise,
    bins_for,
    em_shares,
    halves,
    reconstruct,
    rounds_by_halves,
    transition_matrix,
)
from tests import naive_additive as naive
from tests.tables import number, table

DRAWS = Draws(Key.from_seed(5).secret)
KINDS = (UniformNoise, GaussianNoise, LaplaceNoise)
any_noisy = st.builds(
    lambda kind, privacy, step: Noisy.with_privacy(privacy, 0, 12, distribution=kind, step=step),
    st.sampled_from(KINDS),
    st.floats(0.1, 2),
    st.sampled_from([0, 1, 3]),
)


def bimodal(rows, seed=1):
    rng = np.random.default_rng(seed)
    return np.clip(np.where(rng.random(rows) < 0.5, rng.normal(25, 7, rows), rng.normal(72, 9, rows)), 0, 99.99)


def reports_of(truth, noisy, name="x"):
    return add_noise(table(number(name, truth, None)), {name: noisy}, DRAWS)[name].values


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("step", "bins"), [(0, 5), (1, 4), (1, 99), (3, 2)])
def test_the_law_of_the_bins_is_that_of_drawn_reports(kind, step, bins):
    noisy = Noisy.with_privacy(0.6, 0, 12, distribution=kind, step=step)
    edges = noisy.edges(bins)
    matrix = transition_matrix(noisy, edges)
    beyond = (len(matrix.chances) - len(edges) + 1) // 2
    np.testing.assert_allclose(matrix.chances.sum(axis=0), 1)
    for place, drawn in enumerate(naive.chances(noisy, edges, np.random.default_rng(7))):
        shares = np.bincount(np.clip(drawn + beyond, 0, len(matrix.chances) - 1), minlength=len(matrix.chances)) / len(
            drawn
        )
        assert abs(shares - matrix.chances[:, place]).max() < 0.006


@given(any_noisy, st.integers(1, 9), st.integers(0, 999), st.sampled_from(["integrated", "midpoint"]))
def test_the_iteration_is_that_of_the_slow_twin(noisy, bins, seed, method):
    matrix = transition_matrix(noisy, noisy.edges(bins), method)
    reports = reports_of(np.random.default_rng(seed).uniform(0, 12, 40), noisy)
    counts = matrix.counted(reports, halves(40))
    assert counts.sum() == 40
    for rounds in (1, 3):
        found = em_shares(counts, matrix.chances, stop="never", most_rounds=rounds)
        twin = naive.reconstructed(counts.sum(axis=0), matrix.chances, rounds)
        np.testing.assert_allclose(found.shares, twin, atol=1e-12)
        assert (found.rounds, found.settled) == (rounds, False)


@given(
    any_noisy,
    st.integers(1, 400),
    st.integers(0, 999),
    st.sampled_from(["halves", "change", "never"]),
    st.sampled_from(["integrated", "midpoint"]),
)
def test_shares_are_shares_whatever_comes(noisy, rows, seed, stop, method):
    rng = np.random.default_rng(seed)
    truth = np.where(rng.random(rows) < 0.1, np.nan, rng.uniform(0, 12, rows))
    truth[0] = 6
    found = reconstruct(reports_of(truth, noisy), noisy, stop=stop, method=method, most_rounds=200)
    assert found.shares.min() >= 0
    assert found.shares.sum() == pytest.approx(1)
    assert (found.rows, found.missing) == ((~np.isnan(truth)).sum(), np.isnan(truth).sum())
    assert found.counts.sum() == pytest.approx(found.rows)
    assert len(found.edges) == len(found.shares) + 1
    assert found.settled <= (found.rounds <= 200)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("method", ["integrated", "midpoint"])
def test_reports_at_the_very_end_of_what_can_be_are_explained(kind, method):
    noisy = Noisy(kind(1.0), 0, 10)
    ends = np.array([-noisy.distribution.reach, 10 + noisy.distribution.reach])
    for reports in (ends, ends[:1], ends[1:]):
        found = reconstruct(reports, noisy, bins=7, method=method, stop="never", most_rounds=50)
        assert found.shares.sum() == pytest.approx(1)
        assert found.shares[[0, -1]].sum() > 0.9


def test_one_round_by_hand():
    # Equal shares expect 50 reports in either bin; 60 and 40 came. A truth of the first bin is worth
    # 0.75 · 60 / 50 + 0.25 · 40 / 50 = 1.1 times what it was.
    counts, chances = np.array([[30.0, 20], [30, 20]]), np.array([[0.75, 0.25], [0.25, 0.75]])
    np.testing.assert_allclose(em_shares(counts, chances, stop="never", most_rounds=1).shares, [0.55, 0.45])


def test_halves_that_contradict_each_other_stop_at_once_and_those_that_agree_go_on():
    chances = np.array([[0.75, 0.25], [0.25, 0.75]])
    assert rounds_by_halves(np.array([[60.0, 40], [40, 60]]), chances, 100) == (0, True)
    rounds, reached = rounds_by_halves(np.array([[600.0, 400], [600, 400]]), chances, 100)
    assert rounds > 3
    assert reached
    assert rounds_by_halves(np.array([[6000.0, 4000], [6000, 4000]]), chances, 2) == (2, False)
    assert rounds_by_halves(np.array([[1.0, 0], [0, 0]]), chances, 100) == (0, True)


@given(any_noisy, st.integers(0, 999))
def test_the_round_of_the_halves_is_that_of_the_slow_twin(noisy, seed):
    rng = np.random.default_rng(seed)
    matrix = transition_matrix(noisy, noisy.edges(4))
    counts = matrix.counted(reports_of(rng.uniform(0, 12, 60) ** 2 / 12, noisy), halves(60))
    first, _ = rounds_by_halves(counts, matrix.chances, 6)
    likely = []
    for rounds in range(7):
        either = [matrix.chances @ naive.reconstructed(part, matrix.chances, rounds) for part in counts]
        one, other = np.maximum(either, 1e-300)
        likely.append(counts[1] @ np.log(one) + counts[0] @ np.log(other))
    assert first == next(rounds for rounds, value in enumerate(likely) if value >= max(likely) - 1 - 1e-9)


def test_every_row_has_a_half_by_a_fair_coin():
    half = halves(40_000)
    assert set(half.tolist()) == {0, 1}
    assert abs(half.mean() - 0.5) < 5 * 0.5 / 200
    assert (halves(100) == half[:100]).all()


def test_the_likelihood_never_falls():
    noisy = Noisy.with_privacy(1.0, 0, 100, distribution=GaussianNoise)
    matrix = transition_matrix(noisy, noisy.edges(30))
    counts = matrix.counted(reports_of(bimodal(1000), noisy), halves(1000))

    def likelihood(rounds):
        shares = em_shares(counts, matrix.chances, stop="never", most_rounds=rounds).shares
        return counts.sum(axis=0) @ np.log(matrix.chances @ shares)

    found = [likelihood(rounds) for rounds in (1, 2, 5, 20, 100)]
    assert (np.diff(found) > 0).all()


def error_of(truth, found):
    return abs(np.histogram(truth, found.edges)[0] / len(truth) - found.shares).sum()


def test_early_stopping_matters_as_published():
    # Two bells, 2,000 reports, 60 bins, noise as wide as the range: ignored noise, two rules, far too many rounds.
    noisy = Noisy(UniformNoise(50.0), 0, 100)
    found = {"ignored": [], "change": [], "halves": [], "never": []}
    for run in range(5):
        truth = bimodal(2000, seed=run)
        reports = reports_of(truth, noisy, str(run))
        edges = noisy.edges(60)
        found["ignored"].append(abs(np.histogram(truth, edges)[0] - np.histogram(reports, edges)[0]).sum() / 2000)
        for stop in ("change", "halves", "never"):
            found[stop].append(error_of(truth, reconstruct(reports, noisy, bins=60, stop=stop, most_rounds=3000)))
    mean = {name: np.mean(errors) for name, errors in found.items()}
    assert mean["ignored"] > 0.65
    assert mean["change"] < 0.45
    assert mean["halves"] < 0.45
    assert mean["never"] > 1.5 * mean["halves"]


def test_where_the_published_rule_stops_too_soon_the_halves_go_on():
    noisy = Noisy.with_privacy(1.0, 0, 100, distribution=GaussianNoise)
    truth = bimodal(20_000)
    reports = reports_of(truth, noisy)
    soon, later = (reconstruct(reports, noisy, bins=50, stop=stop) for stop in ("change", "halves"))
    assert soon.rounds < later.rounds
    assert later.settled
    assert error_of(truth, later) < 0.7 * error_of(truth, soon)


@pytest.mark.parametrize("kind", KINDS)
def test_a_wrong_law_is_seen_and_the_right_one_is_near(kind):
    right = Noisy.with_privacy(0.8, 0, 100, distribution=kind)
    truth = bimodal(20_000)
    reports = reports_of(truth, right)
    wrong = Noisy.with_privacy(0.5, 0, 100, distribution=kind)
    near = error_of(truth, reconstruct(reports, right, bins=20))
    ignored = abs(np.histogram(truth, 20, (0, 100))[0] - np.histogram(reports, 20, (0, 100))[0]).sum() / len(truth)
    assert near < 0.6 * ignored
    if right.distribution.bounded:
        with pytest.raises(TableError, match="impossible for 0 to 100"):
            reconstruct(reports, wrong, bins=20)
    else:
        assert near < error_of(truth, reconstruct(reports, wrong, bins=20))


def test_the_integrated_law_is_better_where_noise_is_not_much_wider_than_a_bin():
    noisy = Noisy(UniformNoise(15.0), 0, 100)
    errors = {"integrated": 0.0, "midpoint": 0.0}
    for run in range(5):
        truth = np.random.default_rng(run).exponential(15, 4000).clip(0, 99)
        reports = reports_of(truth, noisy, str(run))
        for method in errors:
            errors[method] += error_of(truth, reconstruct(reports, noisy, bins=20, method=method))
    assert errors["integrated"] < 0.8 * errors["midpoint"]


def test_the_ages_of_adult():
    people = lc.read(lc.sample("adult"))
    age = people["age"].values
    noisy = Noisy.with_privacy(1.0, 17, 90, distribution=GaussianNoise, step=1)
    reported = add_noise(people, {"age": noisy}, DRAWS)
    found = reconstruct(reported["age"].values, noisy, bins=25)
    ignored = abs(np.histogram(age, found.edges)[0] - np.histogram(reported["age"].values, found.edges)[0]).sum()
    assert error_of(age, found) < 0.35 * ignored / len(age)
    assert found.mean == pytest.approx(age.mean(), abs=0.7)


def test_bins_without_a_wish():
    assert [bins_for(rows) for rows in (1, 1_000, 5_000, 1_000_000)] == [10, 10, 50, 100]


def test_what_cannot_be_reconstructed_is_refused():
    noisy = Noisy(UniformNoise(5.0), 0, 10)
    with pytest.raises(TableError, match="no report"):
        reconstruct(np.array([np.nan]), noisy)
    with pytest.raises(NameUnknown, match="stopping rule"):
        reconstruct(np.array([1.0]), noisy, stop="soon")
    with pytest.raises(NameUnknown, match="method"):
        reconstruct(np.array([1.0]), noisy, method="mid")
    with pytest.raises(ValueOutOfRange, match="most_rounds"):
        reconstruct(np.array([1.0]), noisy, most_rounds=0)
    with pytest.raises(TableError, match="1 reports") as refused:
        reconstruct(np.array([1.0, 15.1]), noisy)
    assert "15.1" not in str(refused.value)


def test_more_bins_than_memory_holds_are_refused():
    with pytest.raises(ValueOutOfRange, match="from 1 to 500"):
        reconstruct(np.zeros(500), Noisy(UniformNoise(1.0), low=0, high=1), bins=10_000)


def test_a_report_without_end_is_refused():
    with pytest.raises(TableError, match="1 reports of"):
        reconstruct(np.append(np.zeros(500), np.inf), Noisy(GaussianNoise(1.0), low=0, high=1))
