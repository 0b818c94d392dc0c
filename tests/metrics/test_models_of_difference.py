"""Propensity and regression: hand-worked, against another library, and by the laws of chance from both sides."""

from math import isnan, log, sqrt

import numpy as np
import pytest

from leafcover.metrics.estimates import Estimate
from leafcover.metrics.pair import pair_of, say
from leafcover.metrics.utility.propensity import propensity, propensity_of_trees
from leafcover.metrics.utility.regression import design, independent, logistic, overlap, regression
from tests.metrics.pairs import apart, copy_of
from tests.tables import category, mixed, number, table


def test_logistic_regression_by_hand():
    # one feature of 0 and 1: odds 1:3 where it is 0, 3:1 where it is 1. Intercept -log 3, slope 2·log 3.
    # Variance of a log odds is 1/successes + 1/failures: intercept 1/1 + 1/3, slope twice that.
    matrix = np.column_stack([np.ones(8), [0, 0, 0, 0, 1, 1, 1, 1]])
    found = logistic(matrix, np.array([1.0, 0, 0, 0, 1, 1, 1, 0]))
    assert found.coefficients == pytest.approx([-log(3), 2 * log(3)], rel=1e-4)
    assert found.errors == pytest.approx([sqrt(4 / 3), sqrt(8 / 3)], rel=1e-4)
    assert found.probabilities == pytest.approx([0.25] * 4 + [0.75] * 4, rel=1e-4)


def test_logistic_regression_is_scikit_learns():
    from sklearn.linear_model import LogisticRegression

    rng = np.random.default_rng(2)
    matrix = np.column_stack([np.ones(500), rng.normal(size=(500, 4))])
    outcome = (rng.random(500) < 1 / (1 + np.exp(-matrix @ [0.5, 2, -1, 0, 0.3]))).astype(float)
    theirs = LogisticRegression(C=np.inf, fit_intercept=False, tol=1e-9, max_iter=1000).fit(matrix, outcome)
    assert logistic(matrix, outcome).coefficients == pytest.approx(theirs.coef_[0], rel=1e-3, abs=1e-4)


def test_a_perfect_feature_stays_finite():
    x = np.linspace(-1, 1, 50)
    found = logistic(np.column_stack([np.ones(50), x]), (x > 0).astype(float))
    assert np.isfinite(found.coefficients).all()
    assert np.isfinite(found.errors).all()
    assert ((found.probabilities > 0.5) == (x > 0)).all()


def test_a_design_by_hand():
    before = table(number("x", [0, 2, np.nan, 4]), category("c", ["a", "a", "b", None]))
    after = table(number("x", [2, 2, 2, 8]), category("c", ["a", "b", "b", "b"]))
    found = design(pair_of(before, after), ["x", "c"])
    # x has mean 2 and sd 2; a is the most common level before, so it has no column;
    # the three others hold 1/4 or 3/4 of a table, so they vary alike and stand by name
    assert [(f.column, f.level) for f in found.features] == [("x", ""), ("c", "missing"), ("c", "b"), ("x", "missing")]
    assert found.before.T.tolist() == [[1] * 4, [-1, 0, 0, 1], [0, 0, 0, 1], [0, 0, 1, 0], [0, 0, 1, 0]]
    assert found.after.T.tolist() == [[1] * 4, [0, 0, 0, 3], [0] * 4, [0, 1, 1, 1], [0] * 4]
    assert len(design(pair_of(before, after), ["x", "c"], most=2).features) == 2


def test_dependent_columns_are_dropped_in_order():
    rng = np.random.default_rng(1)
    one, two = rng.normal(size=(2, 100))
    assert independent(np.column_stack([one, np.zeros(100), two, one - 2 * two, one**2])) == [0, 2, 4]
    mixtures = [a * one + b * two for a, b in rng.normal(size=(30, 2))]  # what rounding leaves of them is not news
    assert independent(np.column_stack([one, two, *mixtures])) == [0, 1]


def test_propensity_by_hand():
    # a: 3 original, 1 released; b: 1 and 3. Chances 1/4 and 3/4, so pMSE = 1/16. Chance alone: k = 2, c = 1/2, N = 8:
    # (1/2)²·(1/2)/8 = 1/64. Ratio 4. Its standard deviation is √2/64.
    found = propensity(pair_of(table(category("k", list("aaab"))), table(category("k", list("abbb")))))
    assert found.value == pytest.approx(1 / 16, rel=1e-3)
    assert found.expected == pytest.approx(1 / 64)
    assert found.ratio == pytest.approx(4, rel=1e-3)
    assert found.deviations == pytest.approx(3 / sqrt(2), rel=1e-3)
    assert (found.parameters, found.rows, found.of, found.how) == (2, 4, 4, "every row")


def test_a_copy_cannot_be_told_and_a_moved_table_can():
    original = mixed(1, rows=2000)
    assert propensity(copy_of(original)).ratio == pytest.approx(0, abs=1e-6)
    assert propensity(copy_of(original), most=500).ratio == pytest.approx(0, abs=1e-6)
    assert propensity_of_trees(copy_of(original), most=300).ratio == pytest.approx(0, abs=1e-6)
    moved = original.replace([number("age", original["age"].values + 5)])
    assert propensity(pair_of(original, moved)).ratio > 10
    assert propensity_of_trees(pair_of(original, moved)).ratio > 2
    full = mixed(1, missing=0.0)
    gone = full.replace([number("age", full["age"].values + 1e9)])
    assert propensity(pair_of(full, gone)).value == pytest.approx(0.25, abs=1e-3)  # never wrong: c·(1 - c)


def test_columns_apart_are_told_by_a_tree_alone():
    pair = apart(mixed(4, rows=3000, missing=0.0))
    assert propensity(pair).ratio == pytest.approx(0, abs=1e-6)  # it looks at one column at a time
    assert propensity_of_trees(pair).ratio > 2
    assert propensity_of_trees(pair).deviations > 5


@pytest.mark.parametrize("most", [400, 100])
def test_chance_gives_what_is_expected_of_it(most):
    # original rows, and as many drawn from the normal law fitted to them: the ratio is 1 on average, whether all rows
    # are used or a sample. It is a chi-square of 8 degrees by 8, so the mean of 60 has a standard deviation of 0.065
    rng = np.random.default_rng(most)
    ratios = []
    for _ in range(60):
        values = rng.normal(size=(400, 8))
        drawn = rng.normal(values.mean(0), values.std(0), (400, 8))
        before, after = (table(*(number(f"x{i}", v, None) for i, v in enumerate(m.T))) for m in (values, drawn))
        ratios.append(propensity(pair_of(before, after), most=most).ratio)
    assert 0.75 < np.mean(ratios) < 1.35  # without the sample's own share in it, a sample would give 1.75
    assert 0.3 < np.std(ratios) < 0.8  # √(2/8) = 0.5


def test_a_tree_knows_two_samples_of_one_law_by_nothing():
    found = propensity_of_trees(pair_of(mixed(1, rows=1500), mixed(2, rows=1500)))
    assert 0.7 < found.ratio < 1.3
    assert (found.rows, found.parameters) == (1500, 0)


def test_regression_by_hand():
    # y on x: slope 6/10, residuals 0.2 -0.4 0 0.4 -0.2 with squares 0.4, so the standard error is √(0.4/3/10).
    # Student's 97.5 % with 3 degrees: 3.18245. The release adds 0.3·x to y: the same interval, 0.3 further up.
    x, y = np.array([-2, -1, 0, 1, 2]), np.array([-1, -1, 0, 1, 1])
    before = table(number("x", x), number("y", y))
    found = regression(pair_of(before, before.replace([number("y", y + 0.3 * x, 1)]), target="y"))
    width = 2 * 3.18245 * sqrt(0.4 / 3 / 10)
    assert found.model == "least squares"
    assert found.overlap == pytest.approx((width - 0.3) / width, rel=1e-5)
    assert found.worst == found.overlap
    (slope,) = found.coefficients
    # in standard deviations: of x √2.5, of y 1
    assert slope.before.value == pytest.approx(0.6 * sqrt(2.5))
    assert slope.before.high - slope.before.low == pytest.approx(width * sqrt(2.5), rel=1e-5)
    assert slope.after.value == pytest.approx(0.9 * sqrt(2.5))
    assert found.disjoint == 0


def test_overlap_is_symmetric_and_below_zero_when_apart():
    one, other, far = Estimate(0, -1, 1, 9), Estimate(0, -2, 2, 9), Estimate(5, 4, 6, 9)
    assert overlap(one, other) == overlap(other, one) == (2 / 2 + 2 / 4) / 2
    assert overlap(one, one) == 1
    assert overlap(one, far) == overlap(far, one) == -1.5


@pytest.mark.parametrize("target", ["class", "age", "job"])
def test_a_copy_has_the_same_regression(target):
    found = regression(copy_of(mixed(3, rows=500), target=target))
    assert found.overlap == pytest.approx(1)
    assert found.worst == pytest.approx(1)
    assert found.disjoint == 0
    assert len(found.coefficients) >= 5
    bare = pair_of(mixed(3, rows=500), mixed(3, rows=500).take(np.arange(500)[::-1]))
    assert regression(bare, target=target).overlap == pytest.approx(1, abs=1e-6)


def test_a_relation_that_is_lost_leaves_disjoint_intervals():
    found = regression(apart(mixed(3, rows=5000, missing=0.0), target="class"))
    assert found.model == "logistic regression"
    assert found.disjoint > 0
    assert found.worst == 0
    town = next(c for c in regression(apart(mixed(3, rows=5000), target="age")).coefficients if c.column == "town")
    assert town.overlap < 0


def test_two_samples_of_one_population_overlap():
    # both estimates vary with the same error s: intervals 2·1.96·s wide, apart by √2·s·|z|, so on average
    # 1 - √2·0.798/3.92 = 0.712 of them overlaps
    shares = [regression(pair_of(mixed(i, rows=1500), mixed(99 + i, rows=1500)), target="noise") for i in range(8)]
    assert np.mean([found.overlap for found in shares]) == pytest.approx(0.71, abs=0.08)


def test_a_feature_the_release_cannot_tell_is_lost():
    original = mixed(3, rows=500, missing=0.0)
    flat = original.replace([number("pay", [1.0] * 500)])
    found = regression(pair_of(original, flat, target="class"))
    assert found.lost == 1
    assert next(c for c in found.coefficients if c.column == "pay").after is None
    assert found.worst == 0
    single = original.replace([category("class", ["yes"] * 500)])
    assert regression(pair_of(original, single, target="class")).disjoint == 1
    empty = original.replace([category("class", [None] * 500)])
    assert regression(pair_of(original, empty, target="class")).disjoint == 1


def test_a_perfect_fit_is_compared_without_rounding():
    x = np.arange(40.0)
    original = table(number("x", x), number("twice", 2 * x), number("y", 3 * x - 1))
    pair = pair_of(original, original.take(np.random.default_rng(1).permutation(40)), target="y")
    found = regression(pair)
    assert len(found.coefficients) == 1  # "twice" says nothing that "x" does not
    assert found.overlap == pytest.approx(1, abs=1e-3)


def test_a_regression_that_cannot_be_run_says_why():
    original = mixed(1)
    assert regression(copy_of(original)).reason == say("reason-no-target")
    assert isnan(regression(copy_of(original)).overlap)
    same = original.replace([category("class", ["yes"] * 300)])
    assert regression(copy_of(same, target="class")).reason == say("reason-constant-target")
    gone = original.replace([category("class", [None] * 300)])
    assert regression(copy_of(gone, target="class")).reason == say("reason-constant-target")
    alone = table(category("class", ["a", "b"] * 10), number("x", [1] * 20))
    assert regression(copy_of(alone, target="class")).reason.startswith("No other column varies")


def test_large_tables_are_sampled():
    pair = copy_of(mixed(1, rows=1000), target="class")
    assert regression(pair, most=200).how == "a sample of 200 of 1,000 rows"
    assert propensity(pair, most=200).how == "a sample of 200 of 1,000 rows"
