"""Differencing weighs every category by Bayes' rule; slow twins say the same."""

import numpy as np
import pytest

from leafcover.metrics.disclosure.differencing import (
    averaging,
    decides_right,
    infer,
    knowing_others,
    knowing_weights,
    over_keys,
    with_and_without,
)
from leafcover.perturb.cell_key import PerturbationTable

NOISE = PerturbationTable(4, 2.0)
SHARES = np.array([0.5, 0.3, 0.2])


def chance(count, released, noise=NOISE):
    return noise.likelihood(np.array([count]), np.array([released]))[0]


def naive_posterior(others, released, shares, likelihood):
    """The probability of each category: all counts with the person in it."""
    found = []
    for category, share in enumerate(shares):
        seen = [likelihood(n + (cell == category), y) for cell, (n, y) in enumerate(zip(others, released, strict=True))]
        found.append(share * np.prod(seen))
    return np.array(found) / sum(found)


def test_an_attacker_who_knows_everybody_else_weighs_all_counts():
    rng = np.random.default_rng(1)
    others, truth = rng.integers(0, 6, (60, 3)), rng.integers(0, 3, 60)
    counts = others + (np.arange(3) == truth[:, None])
    released = counts + NOISE.noise(counts, rng.random(counts.shape))
    found = infer([knowing_others(NOISE.likelihood, others, released)], SHARES, truth)
    for row in range(60):
        slow = naive_posterior(others[row], released[row], SHARES, chance)
        assert found.chance[row] == pytest.approx(slow[truth[row]])
        assert found.certain[row] == (np.count_nonzero(slow) == 1)
        assert found.correct[row] == float(slow.argmax() == truth[row])
    assert found.certain.any()
    assert not found.certain.all()


def test_two_tables_weigh_every_true_count():
    first, second = np.array([[9, 4, 0]]), np.array([[7, 4, 1]])
    evidence = with_and_without(NOISE.likelihood, first, second, reach=5)
    for cell in range(3):
        seen = first[0, cell], second[0, cell]
        inside = sum(chance(n + 1, seen[0]) * chance(n, seen[1]) for n in range(30))
        outside = sum(chance(n, seen[0]) * chance(n, seen[1]) for n in range(30))
        assert np.exp(evidence.inside[0, cell]) == pytest.approx(inside)
        assert np.exp(evidence.outside[0, cell]) == pytest.approx(outside)


def test_with_the_same_noise_a_different_count_proves_the_person():
    first, second = np.array([[9, 4, 3]]), np.array([[7, 4, 3]])
    found = infer([with_and_without(NOISE.likelihood, first, second, reach=5, same_noise=True)], SHARES, np.array([0]))
    assert found.certain.tolist() == [True]
    apart = infer([with_and_without(NOISE.likelihood, first, second, reach=5)], SHARES, np.array([0]))
    assert apart.certain.tolist() == [False]


def test_another_cell_of_the_same_people_proves_the_person():
    others, released = np.array([[20, 8, 9]]), np.array([[21, 9, 8]])
    for same, certain in ((np.array([[22, -1, -1]]), True), (np.array([[21, -1, -1]]), False)):
        found = infer([knowing_others(NOISE.likelihood, others, released, same)], SHARES, np.array([0]))
        assert found.certain.tolist() == [certain]


def test_weights_of_one_say_what_counts_say():
    others, released = np.array([[3, 8, 0]]), np.array([[5, 7, 1]])
    plain = knowing_others(NOISE.likelihood, others, released)
    ones = np.ones((1, 3))
    weighed = knowing_weights(NOISE.likelihood, others, released + 0.2, (ones, ones))
    assert np.allclose(np.exp(plain.inside), np.exp(weighed.inside))
    assert np.allclose(np.exp(plain.outside), np.exp(weighed.outside))


def test_success_over_keys_has_the_interval_of_keys():
    rng = np.random.default_rng(3)
    evidence = [knowing_others(NOISE.likelihood, np.full((5, 3), 9), rng.integers(8, 12, (5, 3))) for _ in range(20)]
    runs = [infer([one], SHARES, rng.integers(0, 3, 5)) for one in evidence]
    found = over_keys(runs, 3)
    assert (found.tries, found.keys, found.correct.runs) == (100, 20, 20)
    assert found.correct.low < found.correct.value < found.correct.high


@pytest.mark.parametrize(("variance", "count"), [(4.0, 1), (4.0, 4), (2.0, 8)])
def test_the_formula_is_the_success_between_two_categories(variance, count):
    noise, rng, tries = PerturbationTable(variance=variance), np.random.default_rng(4), 4000
    others, truth = np.full((tries, 2), 100), rng.integers(0, 2, tries)
    evidence = []
    for _ in range(count):
        counts = others + (np.arange(2) == truth[:, None])
        evidence.append(
            knowing_others(noise.likelihood, others, counts + noise.noise(counts, rng.random(counts.shape)))
        )
    measured = infer(evidence, np.array([0.5, 0.5]), truth).correct.mean()
    error = 4 * np.sqrt(0.25 / tries)
    assert abs(measured - decides_right(count, variance)) < error
    assert abs(measured - decides_right(count, 0.6 * variance)) > error


def test_averaging_sharpens_by_the_number_of_cells():
    rng, truth = np.random.default_rng(5), np.full(4000, 1000)
    sums = [(truth + np.rint(rng.normal(0, 2 * np.sqrt(2), 4000)).astype(int), 2) for _ in range(6)]
    found = averaging(truth + np.rint(rng.normal(0, 2, 4000)).astype(int), sums, truth)
    assert found.sums == 7
    assert found.averaged_error == pytest.approx(found.error / 2, rel=0.05)
    assert found.averaged_exact > found.exact + 0.1
