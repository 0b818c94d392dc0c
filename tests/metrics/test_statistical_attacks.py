"""Regression, subtraction and value presence: against other computations, and on releases that hide or give away."""

import numpy as np
import pytest

import leafcover as lc
from leafcover.errors import TableError
from leafcover.metrics.disclosure.statistical_attacks import regression_disclosure, subtraction, value_presence
from leafcover.perturb.conditional_normal import Egadp, Gadp
from tests.tables import category, number, table


def correlated(rows=4000, seed=1):
    """Two confidential numbers, of which a public one explains 36 % and 9 %, and a category that explains nothing."""
    rng = np.random.default_rng(seed)
    base = rng.normal(size=(3, rows))
    x, y = 0.6 * base[0] + 0.8 * base[1], 0.3 * base[0] + np.sqrt(0.91) * base[2]
    job = category("job", list(rng.choice(list("abc"), rows)))
    return table(number("x", x, None), number("y", y, None), number("s", base[0], None), job)


def released(original, perturb):
    plan = lc.Plan(lc.Step(["x", "y"], within=lc.Whole(), perturb=perturb))
    return lc.release(original, plan, seed=3, keep_order=True).table


def test_regression_by_the_columns_given_is_their_share_of_the_variance():
    original = correlated()
    found = regression_disclosure(original, original, ["x", "y"], ["s", "job"])
    assert [one.by_given for one in found.columns] == pytest.approx([0.36, 0.09], abs=0.03)
    assert [one.by_release for one in found.columns] == pytest.approx([1, 1])
    assert found.canonical_release == pytest.approx(1)
    assert found.rows == 4000
    # λ of x and y by s: Σ_XX⁻¹ Σ_XS Σ_SS⁻¹ Σ_SX
    numbers = np.cov([original[name].values for name in "xys"])
    expected = np.linalg.eigvals(
        np.linalg.inv(numbers[:2, :2]) @ np.outer(numbers[:2, 2], numbers[2, :2]) / numbers[2, 2]
    )
    alone = regression_disclosure(original, original, ["x", "y"], ["s"])
    assert alone.canonical_given == pytest.approx(expected.real.max())


@pytest.mark.parametrize("similarity", [0.0, 0.35, 0.8])
def test_gadp_adds_what_theory_says_to_a_regression(similarity):
    """1 - (1 - α²)(1 - R²), and nothing if the similarity is 0."""
    original = correlated()
    after = released(original, Gadp(given=("s",), similarity=similarity))
    found = regression_disclosure(original, after, ["x", "y"], ["s"])
    for one in found.columns:
        expected = 1 - (1 - similarity**2) * (1 - one.by_given)
        assert one.by_release == pytest.approx(expected, abs=0.02)
    assert found.gained == pytest.approx(similarity**2 * (1 - found.columns[1].by_given), abs=0.02)


def test_subtraction_recovers_from_exact_means_alone():
    original = correlated(rows=200)
    for perturb, recovered in ((Egadp(given=("s",)), True), (Egadp(uncorrelated=False), True), (Gadp(), False)):
        assert [one.recovered for one in subtraction(original, released(original, perturb), ["x", "y"])] == [
            recovered
        ] * 2
    whole = table(number("x", range(50)))
    off = table(number("x", np.append(np.arange(49), 52)))
    found = subtraction(whole, off, ["x"])[0]
    assert found.error == pytest.approx(3 / whole["x"].values.std())
    assert not found.recovered
    assert subtraction(whole, whole, ["x"])[0].recovered


def test_presence_is_that_of_members_above_others():
    rng = np.random.default_rng(1)
    inside, outside = (
        table(number("x", rng.normal(size=500), None), number("few", rng.integers(0, 3, 500))) for _ in "ab"
    )
    shuffled = inside.take(rng.permutation(500))
    first, second = value_presence(inside, shuffled, outside, ["few", "x"])
    assert (first.column, first.attack.main.value, first.attack.control.value) == ("x", 1.0, 0.0)
    assert (second.attack.main.value, second.attack.control.value, second.attack.baseline.value) == (1.0, 1.0, 1.0)
    assert first.attack.above_control.low > 0.9
    assert value_presence(inside, outside, outside, ["x"])[0].attack.main.value == 0.0


def test_missing_values_and_unequal_tables():
    original = table(number("x", [1, 2, np.nan, 4, 5, 9]), number("s", [1, np.nan, 3, 4, 6, 7]))
    assert regression_disclosure(original, original, ["x"], ["s"]).rows == 4
    assert subtraction(original, original, ["x"])[0].recovered
    with pytest.raises(TableError, match="has 2 rows"):
        regression_disclosure(original, original.take(np.arange(2)), ["x"], ["s"])
