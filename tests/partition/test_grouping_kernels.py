"""Kernels that make groups, beside twins that look at every row."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from leafcover.kernels.microaggregation import blocked_mdav, fixed_groups, mdav, optimal_groups, vmdav
from tests import naive_groups

SIZES = (1, 2, 3, 10)


@st.composite
def matrices(draw, most=300):
    """Grids full of ties, duplicates, constant columns, and numbers far from zero; one column or more."""
    rows, columns = draw(st.integers(1, most)), draw(st.integers(1, 5))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    kind = draw(st.sampled_from(["normal", "grid", "duplicates", "skewed", "offset", "tiny"]))
    if kind == "grid":
        values = rng.integers(0, draw(st.integers(1, 6)), (rows, columns)).astype(float)
    elif kind == "duplicates":
        values = rng.normal(size=(rows, columns))[rng.integers(0, max(1, rows // 5), rows)]
    elif kind == "skewed":
        values = np.exp(3 * rng.normal(size=(rows, columns)))
    else:
        values = rng.normal(size=(rows, columns)) * (1e-160 if kind == "tiny" else 1.0)
        values += 1e9 if kind == "offset" else 0.0
    if draw(st.booleans()):
        values[:, draw(st.integers(0, columns - 1))] = draw(st.sampled_from([0.0, 0.1, -7.0]))
    return values


def standardised(path):
    values = np.loadtxt(path, delimiter=",", skiprows=1)
    return (values - values.mean(axis=0)) / values.std(axis=0, ddof=1)


def loss(values, label):
    """Squares inside groups in percent of all squares."""
    count = np.bincount(label)
    means = np.column_stack([np.bincount(label, column) / count for column in values.T])
    return 100 * ((values - means[label]) ** 2).sum() / ((values - values.mean(axis=0)) ** 2).sum()


@given(matrices(), st.sampled_from(SIZES))
def test_mdav_makes_the_groups_of_its_twin(values, k):
    assert mdav(values, k).tolist() == naive_groups.mdav(values, k).tolist()


@pytest.mark.parametrize("columns", [2, 10])
@pytest.mark.parametrize("digits", [0, 1, 12])
def test_mdav_makes_the_groups_of_its_twin_in_a_larger_table(columns, digits):
    # Large enough: the index has 47 blocks and is rebuilt whenever 0.6 of its rows remain.
    values = np.random.default_rng(columns + digits).normal(size=(3000, columns)).round(digits)
    assert mdav(values, 10).tolist() == naive_groups.mdav(values, 10).tolist()


@given(matrices(), st.sampled_from(SIZES))
def test_groups_of_mdav_have_k_rows_and_the_last_up_to_twice_as_many(values, k):
    counts = np.bincount(mdav(values, k))
    assert (counts[:-1] == k).all()
    assert min(k, len(values)) <= counts[-1] < 2 * k


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("casc_tarragona.csv", {3: 16.9326, 4: 19.546, 5: 22.462, 10: 33.193}),
        ("casc_census.csv", {3: 5.6922, 4: 7.4947, 5: 9.0884, 10: 14.1559}),
    ],
)
def test_mdav_loses_what_is_known_of_the_reference_tables(shared, name, expected):
    values = standardised(shared(name))
    for k, known in expected.items():
        digits = len(str(known).split(".")[1])
        assert round(loss(values, mdav(values, k)), digits) == known


@given(matrices(), st.sampled_from(SIZES), st.integers(2, 8))
def test_mdav_inside_blocks_makes_the_groups_of_its_twin(values, k, times):
    label = blocked_mdav(values, k, times * k)
    assert label.tolist() == naive_groups.blocked_mdav(values, k, times * k).tolist()
    counts = np.bincount(label)
    assert counts.min() >= min(k, len(values))
    assert counts.max() < 2 * k


def test_mdav_inside_one_block_is_mdav():
    values = np.random.default_rng(3).normal(size=(500, 4))
    assert blocked_mdav(values, 3, 500).tolist() == mdav(values, 3).tolist()


def test_small_blocks_lose_more_and_large_ones_little():
    values = np.random.default_rng(4).normal(size=(20_000, 5))
    exact, large, small = (
        loss(values, mdav(values, 10)),
        *(loss(values, blocked_mdav(values, 10, most)) for most in (10_000, 100)),
    )
    assert exact < large < 1.1 * exact
    assert large < small < 1.5 * exact


@given(matrices(150), st.sampled_from(SIZES), st.sampled_from([0.0, 0.2, 1.1, 5.0]))
def test_vmdav_makes_the_groups_of_its_twin(values, k, gamma):
    label = vmdav(values, k, gamma)
    assert label.tolist() == naive_groups.vmdav(values, k, gamma).tolist()
    assert np.bincount(label).min() >= min(k, len(values))


def test_vmdav_keeps_a_cluster_together_that_mdav_cuts():
    values = np.array([[0.0], [0.1], [0.2], [0.3], [9.0], [9.1], [9.2]])
    assert vmdav(values, 3, 1.1).tolist() == [1, 1, 1, 1, 0, 0, 0]
    assert vmdav(values[::-1].copy(), 3, 0.0).tolist() == [0, 0, 0, 1, 1, 1, 1]


def test_vmdav_loses_what_is_known_of_the_census_table(shared):
    values = standardised(shared("casc_census.csv"))
    for k, known in {3: 5.662, 4: 7.514, 5: 9.007, 10: 14.073}.items():
        assert round(loss(values, vmdav(values, k, 0.2)), 3) == known


@given(st.lists(st.integers(0, 9) | st.integers(-1000, 1000), min_size=1, max_size=11), st.integers(1, 4))
def test_optimal_groups_are_as_good_as_the_best_of_all_groupings(numbers, k):
    numbers.sort()
    label = optimal_groups(np.array(numbers, float), k)
    exact = [[Fraction(n) for n, own in zip(numbers, label, strict=True) if own == g] for g in range(label[-1] + 1)]
    assert (np.diff(label) >= 0).all()
    assert sum(naive_groups.squares(group) for group in exact) == naive_groups.least_squares(
        [Fraction(n) for n in numbers], k
    )
    if len(numbers) >= k:
        assert all(k <= len(group) < 2 * k for group in exact)


@pytest.mark.parametrize("k", [2, 3, 10])
def test_optimal_groups_of_values_far_from_zero_are_those_near_zero(k):
    steps = np.sort(np.random.default_rng(k).integers(0, 1 << 20, 5000)) / 1024
    assert optimal_groups(steps + 1e9, k).tolist() == optimal_groups(steps, k).tolist()


def test_an_outlier_far_behind_does_not_blur_later_groups():
    steps = np.sort(np.random.default_rng(1).integers(0, 1 << 20, 3000)) / (1 << 20)
    behind = np.array([-1e12, -3e11, -1.0])
    assert (optimal_groups(np.concatenate((behind, steps)), 3)[3:] - 1).tolist() == optimal_groups(steps, 3).tolist()


def test_an_outlier_far_behind_does_not_blur_later_groups_of_values_with_several_rows():
    rng = np.random.default_rng(2)
    steps = np.unique(rng.integers(0, 1 << 20, 3000)) / (1 << 20)
    held = rng.integers(1, 5, len(steps))
    plain = optimal_groups(steps, 5, held)
    behind = optimal_groups(np.append([-1e12, -3e11], steps), 5, np.append([4, 4], held))[2:]
    assert np.diff(behind)[20:].tolist() == np.diff(plain)[20:].tolist()


@pytest.mark.slow  # the other package compiles for a minute when it is first imported
def test_optimal_groups_are_as_good_as_those_of_another_program():
    microagg1d = pytest.importorskip("microagg1d")
    values = np.sort(np.exp(np.random.default_rng(5).normal(size=100_000)))
    for k in (2, 3, 10, 50):
        # its own choice of method, "simple" with stable=1, lost up to half a percent more in 0.4.0
        other = microagg1d.univariate_microaggregation(values, k, method="staggered").astype(np.int64)
        ours = optimal_groups(values, k)
        assert loss(values[:, None], ours) == pytest.approx(loss(values[:, None], other), rel=1e-9)


def test_fixed_groups_have_k_values_and_the_last_one_the_rest():
    assert fixed_groups(8, 3).tolist() == [0, 0, 0, 1, 1, 1, 1, 1]
    assert fixed_groups(2, 3).tolist() == [0, 0]
    assert fixed_groups(6, 3).tolist() == [0, 0, 0, 1, 1, 1]
