"""The perturbation table has the moments it is asked for, and cell keys choose noise by its probabilities."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare

import leafcover as lc
from leafcover.errors import ValueOutOfRange
from leafcover.keyed_random import Draws
from leafcover.perturb.cell_key import MOST_CERTAIN, PerturbationTable, largest_entropy, table_draws

DRAWS = Draws(bytes(32))


@st.composite
def tables(draw):
    most = draw(st.integers(1, 12))
    share = draw(st.floats(0.01, 1))
    zeros, minimum = draw(st.sampled_from([0.0, 0.1, 1.0])), draw(st.integers(1, min(4, most)))
    return PerturbationTable(most, share * most * (most + 1) / 3, zeros, minimum)


@settings(max_examples=30, deadline=None)
@given(tables())
def test_noise_has_mean_zero_and_no_count_is_negative_or_below_the_minimum(table):
    chances, noise = table.chances, np.arange(-table.max_noise - 1, table.max_noise + 2)
    counts = np.arange(len(chances))[:, None] + noise
    assert np.allclose(chances.sum(1), 1, atol=1e-12)
    assert np.abs((chances * noise)[1:].sum(1)).max() < 1e-9
    assert chances[(counts < 0) | ((counts > 0) & (counts < table.minimum))].max(initial=0) == 0
    assert (chances[:, 0] == 0).all()
    assert (chances[1:, -1] == 0).all()
    assert (chances[0] @ noise) == pytest.approx(table.zeros)


@settings(max_examples=20, deadline=None)
@given(tables())
def test_the_variance_is_as_asked_where_a_count_permits_it(table):
    noise = np.arange(-table.max_noise - 1, table.max_noise + 2)
    variance = table.chances @ noise**2
    assert variance[-1] == pytest.approx(table.variance)
    if table.minimum == 1:
        counts = np.arange(1, len(variance))
        assert (variance[1:] <= table.variance + 1e-9).all()
        # Otherwise it is the largest with which the probabilities fall off towards large noise.
        small = variance[1:] < table.variance - 1e-6
        assert (variance[1:] <= counts * (counts + 1) + 1e-9)[small].all()


def test_no_other_distribution_with_these_moments_has_more_entropy():
    noise = np.arange(-2, 7)
    found = largest_entropy(noise, 3.0)
    directions = np.linalg.svd(np.array([np.ones(9), noise, noise**2], float))[2][3:]  # these keep sum, mean, variance
    for way in (*directions, *-directions):
        other = found + 1e-3 * way
        assert -(other * np.log(other)).sum() < -(found * np.log(found)).sum()


def test_a_published_row():
    """The row for a count of 2 with D = 2 and V = 1 in the introduction to the R package ptable 1.0.0."""
    row = PerturbationTable(2, 1.0, zeros=0).chances[2]
    assert row[1:-1].round(4).tolist() == [0.0638, 0.2447, 0.383, 0.2447, 0.0638]


@pytest.mark.parametrize("count", [0, 1, 7, 500])
def test_cell_keys_choose_noise_by_its_probabilities(count):
    table, rows = PerturbationTable(), 20_000
    noise = table.noise(np.full(rows, count), DRAWS.uniform(np.arange(rows)))
    width = 2 * table.max_noise + 3
    seen = np.bincount(noise + table.max_noise + 1, minlength=width)
    row = table.chances[min(count, len(table.chances) - 1)]
    other = PerturbationTable(variance=4.8, zeros=0.12).chances[min(count, len(table.chances) - 1)]
    assert p_value(seen, row) > 1e-4
    if count != 1:  # whose variance is 2 either way
        assert p_value(seen, other) < 1e-4


def p_value(seen, chances):
    often = chances * seen.sum() > 5
    groups = [np.append(one[often], one[~often].sum()) for one in (seen, chances * seen.sum())]
    groups[1] *= groups[0].sum() / groups[1].sum()
    return chisquare(*groups).pvalue if groups[1][-1] > 0 else chisquare(groups[0][:-1], groups[1][:-1]).pvalue


def test_likelihoods_are_the_probabilities_and_sum_to_one():
    table = PerturbationTable(3, 2.0, minimum=2)
    counts = np.arange(12)
    found = table.likelihood(counts[:, None], np.arange(20)[None, :])
    assert np.allclose(found.sum(1), 1)
    assert table.likelihood(np.array([5, -1, 5]), np.array([5, 0, 9])).tolist() == [table.chances[5, 4], 0.0, 0.0]


def test_the_default_proves_nothing_and_narrow_limits_do():
    assert PerturbationTable().certain < MOST_CERTAIN
    assert PerturbationTable(max_noise=5, variance=2.0).certain > MOST_CERTAIN
    kept = PerturbationTable(zeros=0)
    assert kept.certain == pytest.approx(0.5, abs=1e-5)  # a positive count
    assert kept.at_limit < MOST_CERTAIN


def test_a_posterior_is_bayes():
    table = PerturbationTable(2, 1.0)
    found = table.posterior([1], most=20)[0]
    chances = [table.likelihood(np.array([count]), np.array([1]))[0] for count in range(21)]
    assert np.allclose(found, np.array(chances) / sum(chances))


def test_draws_depend_on_key_noise_cells_and_every_count():
    noise, counts = PerturbationTable(), np.arange(50)
    asked = (DRAWS, noise, ("a",), counts)

    def drawn(*given):
        return table_draws(*given).uniform(np.arange(50))

    changed = counts.copy()
    changed[7] -= 1
    first = drawn(*asked)
    assert np.array_equal(first, drawn(*asked))
    for other in (
        (Draws(bytes([1] * 32)), noise, ("a",), counts),
        (DRAWS, PerturbationTable(variance=3.0), ("a",), counts),
        (DRAWS, noise, ("b",), counts),
        (DRAWS, noise, ("a",), changed),
    ):
        assert not (drawn(*other) == first).any()


@pytest.mark.parametrize(
    "given",
    [
        {"max_noise": -1},
        {"max_noise": 2.5},
        {"variance": 0},
        {"max_noise": 2, "variance": 2.1},
        {"max_noise": 0},
        {"zeros": 1.1},
        {"minimum": 0},
    ],
)
def test_settings_out_of_range_are_refused(given):
    with pytest.raises(ValueOutOfRange):
        lc.PerturbationTable(**given)
