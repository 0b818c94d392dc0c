"""PRAM: invariant matrices keep expected frequencies, a given one is followed, and bad ones are refused."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chi2

import leafcover as lc
from leafcover.cells import one_cell
from leafcover.errors import PlanError, ValueOutOfRange
from leafcover.keyed_random import Draws, Key
from leafcover.perturb.base import Chunk
from leafcover.perturb.pram import Pram, two_stage
from leafcover.recipes import plan_for
from leafcover.recipes.plan import Plan, Step
from leafcover.recipes.plan_file import parse_plan, plan_text
from tests.tables import category, mixed, number, table

SHARES = np.array([0.6, 0.3, 0.1])
ROWS = 2000
OWN = ((0.9, 0.1, 0.0), (0.2, 0.7, 0.1), (0.0, 0.5, 0.5))


def column(rows=ROWS):
    return category("c", np.repeat(list("abc"), (SHARES * rows).astype(int)).tolist())


@given(st.integers(1, 6), st.integers(0, 999))
def test_two_stages_are_invariant(levels, seed):
    rng = np.random.default_rng(seed)
    shares = rng.dirichlet(np.ones(levels)) * (rng.random(levels) < 0.8)
    shares = shares / shares.sum() if shares.sum() else np.full(levels, 1 / levels)
    found = two_stage(rng.dirichlet(np.ones(levels), levels), shares)
    assert shares @ found == pytest.approx(shares, abs=1e-12)
    assert found.sum(axis=1) == pytest.approx(1)
    assert (found >= 0).all()


@pytest.mark.parametrize("invariant", ["proportional", "two-stage"])
def test_transition_of_an_invariant_matrix_keeps_shares(invariant):
    matrix = Pram(0.4, invariant=invariant).transition(column())
    assert SHARES @ matrix == pytest.approx(SHARES)
    assert matrix.sum(axis=1) == pytest.approx(1)
    assert matrix[2, 2] < 0.9


def statistic(noise, runs=200):
    """How far mean counts are from the original's: chi-square with 2 degrees of freedom for an invariant matrix.

    A released count has the variance of the sum of the rows' draws, given the original.
    """
    part = Chunk(np.arange(ROWS), (column(),), one_cell(ROWS))
    summary = noise.finalize(noise.fit(part), part.cells)
    counts = np.array(
        [
            np.bincount(noise.change(part, summary, Draws(Key.from_seed(k).secret))["c"].values, minlength=3)
            for k in range(runs)
        ]
    )
    matrix = noise.transition(part.columns[0])
    covariance = sum(
        share * ROWS * (np.diag(row) - np.outer(row, row)) for share, row in zip(SHARES, matrix, strict=True)
    )
    apart = (counts.mean(axis=0) - SHARES * ROWS)[:2]
    return runs * apart @ np.linalg.solve(covariance[:2, :2], apart)


@pytest.mark.parametrize("invariant", ["proportional", "two-stage"])
def test_an_invariant_matrix_keeps_expected_counts(invariant):
    """2,000 rows, 200 keys: accepted at 1e-6. Power: shares 1 % of the rows off have a noncentrality above 60."""
    assert statistic(Pram(0.4, invariant=invariant)) < chi2.isf(1e-6, 2)


def test_a_matrix_that_is_not_invariant_is_found_out():
    """Moving 1 % of the rows from the first level to the last is rejected by the same test, with power above 0.999."""
    slightly = tuple(
        map(tuple, np.array(Pram(0.4).transition(column())) @ [[1 - 1 / 60, 0, 1 / 60], [0, 1, 0], [0, 0, 1]])
    )
    assert statistic(Pram(matrix=slightly, levels=("a", "b", "c"))) > chi2.isf(1e-6, 2)
    assert statistic(Pram(0.4, invariant="none")) > chi2.isf(1e-6, 2)


def test_a_given_matrix_is_followed_whatever_the_order_of_its_levels():
    """30,000 rows: shares of released levels within five standard errors; one of three reversed is far off."""
    original = table(column(30_000))
    order = [2, 0, 1]
    mixed_up = tuple(tuple(OWN[i][j] for j in order) for i in order)
    for noise in (Pram(matrix=OWN, levels=tuple("abc")), Pram(matrix=mixed_up, levels=tuple("cab"))):
        assert noise.transition(original["c"]).tolist() == [list(row) for row in OWN]
        released = lc.release(original, Plan(Step("c", lc.Whole(), noise)), seed=3, keep_order=True).table["c"].values
        for level, row in enumerate(OWN):
            shares = np.bincount(released[original["c"].values == level], minlength=3) / (SHARES[level] * 30_000)
            assert shares == pytest.approx(row, abs=5 * 0.5 / np.sqrt(3_000))
            assert (shares[np.array(row) == 0] == 0).all()
    two = Pram(matrix=OWN, levels=tuple("abc"), invariant="two-stage").transition(original["c"])
    assert SHARES @ two == pytest.approx(SHARES)


def test_each_cell_has_its_own_matrix():
    """In a cell where all rows have one level nothing changes."""
    original = table(category("c", ["a"] * 50 + ["b", "c"] * 25), category("s", ["x"] * 50 + ["y"] * 50))
    for invariant in ("proportional", "two-stage"):
        plan = plan_for(original, "pram", settings={"strata": "s", "probability": 0.9, "invariant": invariant})
        released = lc.release(original, plan, seed=1, keep_order=True).table["c"].values
        assert (released[:50] == original["c"].values[:50]).all()
        assert {1, 2} == set(released[50:])


def test_a_plan_with_a_matrix_survives_its_file():
    plan = Plan(Step("c", lc.Whole(), Pram(matrix=OWN, levels=tuple("abc"))))
    assert parse_plan(plan_text(plan)) == plan


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"probability": 0.0}, "probability"),
        ({"matrix": OWN}, "square"),
        ({"levels": ("a",)}, "no matrix"),
        ({"matrix": ((1.0,),), "levels": ("a", "b")}, "square"),
        ({"matrix": ((0.5, 0.4), (0.5, 0.5)), "levels": ("a", "b")}, "sum 1"),
        ({"matrix": ((1.5, -0.5), (0.5, 0.5)), "levels": ("a", "b")}, "sum 1"),
        ({"matrix": ((np.nan, 1.0), (0.5, 0.5)), "levels": ("a", "b")}, "sum 1"),
        ({"matrix": OWN, "levels": ("a", "a", "b")}, "different levels"),
        ({"matrix": OWN, "levels": ("a", "b", "c"), "invariant": "proportional"}, "matrix of its own"),
    ],
)
def test_a_wrong_matrix_is_refused(given, said):
    with pytest.raises((PlanError, ValueOutOfRange), match=said):
        Pram(**given)


@pytest.mark.parametrize("levels", [("a", "b", "d"), ("a", "b", "c", "d")])
def test_a_matrix_for_other_levels_is_refused_without_naming_them(levels):
    noise = Pram(matrix=tuple(map(tuple, np.eye(len(levels)).tolist())), levels=levels)
    with pytest.raises(PlanError, match="column 'c'") as error:
        lc.release(
            table(column(), number("x", np.random.default_rng(1).permutation(ROWS))),
            Plan(Step("c", lc.Whole(), noise)),
            seed=1,
        )
    assert "'a'" not in str(error.value)


def test_no_invariance_can_be_asked_for_in_words():
    plan = plan_for(mixed(1), "pram", settings={"invariant": "none"})
    assert plan.steps[0].perturb.invariant == "none"


def test_missing_constant_and_empty_categories_follow_a_rule():
    texts = {"one": ["a"] * 30, "empty": [None] * 30, "few": [None] * 28 + ["a", "b"], "full": ["a", "b", None] * 10}
    original = table(*(category(name, values) for name, values in texts.items()))
    for invariant in ("proportional", "two-stage", "none"):
        plan = Plan(Step(original.names, lc.Whole(), Pram(0.5, invariant=invariant)))
        released = lc.release(original, plan, seed=1, keep_order=True).table
        for one in original:
            np.testing.assert_array_equal(released[one.name].missing, one.missing)
        assert (released["one"].values == 0).all()
    assert plan_for(original, "pram").columns == ("few", "full")


def test_what_cannot_be_randomised_is_refused():
    with pytest.raises(PlanError, match="'age', a number"):
        plan_for(mixed(1), "pram", settings={"columns": "age"})
    with pytest.raises(PlanError, match="changes categories, and the table has none that vary"):
        plan_for(mixed(1).select(["age", "pay"]), "pram")
    many = table(category("c", [str(i % 6000) for i in range(12_000)]))
    with pytest.raises(PlanError, match="too many for a matrix"):
        Pram(invariant="two-stage").transition(many["c"])
