"""Joint tables: inversion, the nearest and the likeliest table, against slow twins."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from leafcover.errors import NameUnknown, PlanError, TableError, ValueOutOfRange
from leafcover.randomized_response import (
    DisguisedColumns,
    Kary,
    Scheme,
    Warner,
    disguise,
    estimate,
    joint,
    joint_inverted,
    matrix,
)
from leafcover.randomized_response.estimate import likeliest, nearest
from tests import naive_response as naive
from tests.randomized_response.answers import SCHEME, TOWNS, YES_NO, people
from tests.randomized_response.mechanisms import DRAWS, any_mechanism
from tests.tables import category, number, table

COLUMNS = ["town", "evades", "sex", "a", "cheats", "ill"]


@given(arrays(np.float64, st.integers(1, 6), elements=st.floats(-3, 3)))
def test_the_nearest_shares_are_the_best_over_all_supports(shares):
    found = nearest(shares)
    assert found.min() >= 0
    assert found.sum() == pytest.approx(1)
    np.testing.assert_allclose(found, naive.nearest(shares), atol=1e-9)


def test_shares_that_can_be_stay():
    shares = np.array([[0.2, 0.3], [0.1, 0.4]])
    np.testing.assert_allclose(nearest(shares), shares)


@given(st.floats(0.55, 0.95), st.integers(0, 50), st.integers(0, 50))
def test_the_likeliest_share_is_that_of_a_fine_grid(theta, no, yes):
    counts = np.array([no, yes + 1.0])
    mechanism = Warner(theta)
    found = likeliest(counts, mechanism.mix, mechanism.mix_back)
    expected = naive.likeliest_of_two(counts, matrix(mechanism), 2001)
    best = naive.log_likelihood(counts, matrix(mechanism), np.array([1 - expected, expected]))
    assert found.settled
    assert best - naive.log_likelihood(counts, matrix(mechanism), found.shares) <= 0.01


@given(any_mechanism(), st.data())
def test_no_other_table_is_likelier_by_more_than_the_rule_allows(mechanism, data):
    counts = data.draw(arrays(np.float64, mechanism.shape, elements=st.integers(0, 30)))
    counts.flat[0] += 1
    found = likeliest(counts, mechanism.mix, mechanism.mix_back)
    probabilities = naive.probabilities_of(mechanism)
    reached = naive.log_likelihood(counts.ravel(), probabilities, found.shares.ravel())
    rng = np.random.default_rng(1)
    candidates = [
        *rng.dirichlet(np.full(counts.size, 0.3), 30),
        nearest(mechanism.unmix(counts / counts.sum())).ravel(),
    ]
    for other in candidates:
        with np.errstate(divide="ignore"):
            assert naive.log_likelihood(counts.ravel(), probabilities, other) <= reached + max(found.gap, 0) + 1e-6
    assert found.shares.min() >= 0
    assert found.shares.sum() == pytest.approx(1)


@given(any_mechanism(), st.integers(0, 999))
def test_where_inversion_can_be_the_likeliest_table_is_it(mechanism, seed):
    shares = np.random.default_rng(seed).dirichlet(np.full(int(np.prod(mechanism.shape)), 5.0)).reshape(mechanism.shape)
    found = likeliest(1000 * mechanism.mix(shares), mechanism.mix, mechanism.mix_back, near=1e-9, most_rounds=500)
    closer = likeliest(1000 * mechanism.mix(shares), mechanism.mix, mechanism.mix_back, near=1e-9, most_rounds=5)
    assert abs(found.shares - shares).sum() <= abs(closer.shares - shares).sum() + 1e-9
    assert found.gap <= closer.gap + 1e-9


def test_one_round_by_hand():
    # From (1/2, 1/2) half of the reports are expected to be yes, 8 of 10 are. A truth yes is worth
    # 0.75 · 0.8 / 0.5 + 0.25 · 0.2 / 0.5 = 1.3 times what it was.
    mechanism = Warner(0.75)
    found = likeliest(np.array([2.0, 8.0]), mechanism.mix, mechanism.mix_back, most_rounds=1)
    np.testing.assert_allclose(found.shares, [0.35, 0.65])


def test_the_limit_of_rounds_is_told():
    mechanism = Kary(0.4, 4)
    found = likeliest(np.array([90.0, 3, 3, 4]), mechanism.mix, mechanism.mix_back, most_rounds=2)
    assert found.rounds == 2
    assert not found.settled


@pytest.mark.parametrize("columns", [COLUMNS, ["c", "sex", "b", "a"], ["b", "town", "c"], ["evades", "cheats"]])
def test_inversion_agrees_with_the_estimate_of_every_cell(columns):
    truth = people(3000, missing=0.05)
    reported = disguise(truth, SCHEME, DRAWS)
    table_of = joint_inverted(reported, SCHEME, columns)
    answered = np.all([~reported[name].missing for name in columns], axis=0)
    complete = reported.take(np.flatnonzero(answered))
    assert (table_of.rows, table_of.missing) == (answered.sum(), (~answered).sum())
    assert table_of.shares.sum() == pytest.approx(1)
    for place in np.ndindex(*table_of.shares.shape):
        asked = {n: table_of.levels[axis][code] for axis, (n, code) in enumerate(zip(columns, place, strict=True))}
        assert table_of.shares[place] == pytest.approx(estimate(complete, SCHEME, asked).raw, abs=1e-9)


@pytest.mark.parametrize("method", ["nearest", "likeliest"])
def test_tables_are_near_the_truth_never_negative_and_better_than_inversion(method):
    errors = {"raw": 0.0, "reported": 0.0, method: 0.0}
    columns = ["ill", "town", "cheats", "evades"]
    plain = Scheme()
    for run in range(20):
        truth = people(2000, seed=run)
        reported = disguise(truth, SCHEME, DRAWS.sub(str(run)))
        exact = joint_inverted(truth, SCHEME_OPEN, columns).shares
        found = joint(reported, SCHEME, columns, method=method)
        assert found.settled
        assert found.shares.min() >= 0
        assert found.counts.sum() == pytest.approx(2000)
        errors[method] += abs(found.shares - exact).sum()
        errors["raw"] += abs(joint_inverted(reported, SCHEME, columns).shares - exact).sum()
        naive_shares = joint_inverted(reported, plain, columns).shares[:, [2, 0, 1]]  # levels as a table orders them
        errors["reported"] += abs(naive_shares - exact).sum()
    assert errors[method] < 0.9 * errors["raw"]
    assert errors[method] < 0.8 * errors["reported"]


SCHEME_OPEN = Scheme(DisguisedColumns({"town": TOWNS}, Kary(1.0, 3)))  # the order of levels alone


def test_marginals_of_one_column_of_a_group():
    truth = people(40_000)
    reported = disguise(truth, SCHEME, DRAWS)
    for name in ("evades", "c", "drinks", "ill"):
        share = (truth[name].values == 1).mean()
        found = joint(reported, SCHEME, [name])
        one = estimate(reported, SCHEME, {name: "yes"})
        assert found.shares[1] == pytest.approx(one.raw, abs=0.002)
        assert abs(found.shares[1] - share) < 5 * one.error


def test_what_cannot_be_tabled_is_refused():
    scheme = Scheme(DisguisedColumns({"x": YES_NO}, Warner(0.7)))
    some = table(category("x", ["yes", "no"]), number("n", [1, 2]), category("gone", [None, None]))
    with pytest.raises(PlanError, match="must be a category"):
        joint(some, scheme, ["x", "n"])
    with pytest.raises(PlanError, match="different columns"):
        joint(some, scheme, ["x", "x"])
    with pytest.raises(PlanError, match="different columns"):
        joint(some, scheme, [])
    with pytest.raises(NameUnknown, match="method"):
        joint(some, scheme, ["x"], method="best")
    with pytest.raises(TableError, match="No row"):
        joint(some, scheme, ["x", "gone"])
    wide = table(*(category(f"x{i}", ["yes", "no"]) for i in range(23)))
    with pytest.raises(ValueOutOfRange, match="cells"):
        joint(wide, Scheme(), wide.names)
