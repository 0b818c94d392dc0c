"""Multiplicative noise: mean 1, the variance of the formula, zero stays zero."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import kstest

import leafcover as lc
from leafcover.cells import one_cell
from leafcover.errors import InvariantViolated, PlanError, ValueOutOfRange
from leafcover.keyed_random import Draws, Key
from leafcover.perturb.additive import Multiplicative
from leafcover.perturb.base import Chunk
from leafcover.recipes.plan import check
from leafcover.table.table import Column, Grid
from tests.tables import category, number, table

ROWS = 200_000
DRAWS = Draws(Key.from_seed(6).secret)
LAWS = ["lognormal", "normal"]


def part_of(*columns):
    fixed = tuple(replace(c, declared=c.domain) for c in columns)
    return Chunk(np.arange(len(columns[0])), fixed, one_cell(len(columns[0])))


def released(noise, part, draws=DRAWS):
    return {name: one.values for name, one in noise.change(part, None, draws).items()}


def near(found, expected, sigma):
    return abs(found - expected) < 4 * sigma


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("spread", [0.1, 0.5])
def test_the_mean_stays_and_the_variance_is_that_of_the_formula(spread, law):
    rng = np.random.default_rng(1)
    columns = (
        number("pay", np.round(rng.lognormal(8, 0.5, ROWS))),
        number("balance", rng.normal(-100, 50, ROWS), None),
    )
    after = released(Multiplicative(spread, distribution=law), part_of(*columns))
    for column in columns:
        old, new = column.values, after[column.name]
        error = spread * np.sqrt((old**2).mean() / ROWS)
        assert near(new.mean(), old.mean(), error)
        assert not near(new.mean(), old.mean() * (1 + spread**2 / 2), error)  # a factor of median 1 is biased so
        # Var Y = s² + c² (m² + s²); its error from the values themselves.
        mean, variance = old.mean(), old.var()
        formula = variance + spread**2 * (mean**2 + variance)
        error = ((new - mean) ** 2 - (old - mean) ** 2).std() / np.sqrt(ROWS)
        assert near(new.var(), formula, error)
        assert not near(new.var(), variance, error)
        assert not near(new.var(), variance * (1 + spread**2), error)


@pytest.mark.parametrize("law", LAWS)
def test_factors_follow_their_law(law):
    x = number("x", np.full(ROWS, 3.0), None)
    factor = released(Multiplicative(0.4, distribution=law), part_of(x))["x"] / 3
    width = np.sqrt(np.log(1.16))
    normal = (factor - 1) / 0.4 if law == "normal" else np.log(factor) / width + width / 2
    assert kstest(normal, "norm").pvalue > 1e-6
    assert kstest(normal * 1.05, "norm").pvalue < 1e-6
    assert kstest(normal + 0.05, "norm").pvalue < 1e-6


def test_by_hand_the_product_is_rounded_to_the_grid():
    from scipy.special import ndtri

    x = number("x", [12.25, -7.5, 0], 2)
    z = ndtri(DRAWS.sub("x").uniform(np.arange(3)))
    factor = np.exp(np.sqrt(np.log(1.04)) * z - np.log(1.04) / 2)
    found = released(Multiplicative(0.2), part_of(x))["x"]
    assert found == pytest.approx(np.round(x.values * factor, 2), abs=1e-12)
    assert released(Multiplicative(0.2, distribution="normal", on_grid=False), part_of(x))["x"] == pytest.approx(
        x.values * (1 + 0.2 * z)
    )


@pytest.mark.parametrize("law", LAWS)
def test_zero_missing_and_small_values_stay_and_are_pinned(law):
    x = number("x", [0, 1, 1, 100, np.nan, -100, 0])
    noise, part = Multiplicative(0.2, distribution=law), part_of(x)
    after = released(noise, part)["x"]
    assert after[[0, 6]].tolist() == [0, 0]
    assert np.isnan(after).tolist() == [False] * 4 + [True] + [False] * 2
    # A one stays one unless the factor is below a half or above one and a half: 2.5 deviations.
    assert noise.fixed(part, None)["x"].tolist() == [True, True, True, False, False, False, True]
    fine = part_of(number("y", [0, 1e-300, 5, -3], None))
    assert released(noise, fine)["y"][0] == 0
    assert noise.fixed(fine, None)["y"].tolist() == [True, True, False, False]


def test_only_the_lognormal_law_keeps_every_sign():
    rng = np.random.default_rng(2)
    x = number("x", rng.integers(-50, 50, 2000))
    part = part_of(x)
    kept = released(Multiplicative(2.0), part)["x"]
    assert (np.sign(kept) * np.sign(x.values) >= 0).all()
    turned = released(Multiplicative(2.0, distribution="normal"), part)["x"]
    assert (np.sign(turned) * np.sign(x.values) < 0).mean() == pytest.approx(0.309, abs=0.05)  # P(z < -1/2)
    assert Multiplicative(2.0).violations(part, {"x": kept}) == ()
    assert Multiplicative(2.0, distribution="normal").violations(part, {"x": turned}) == ()
    assert "changed their sign" in Multiplicative(2.0).violations(part, {"x": turned})[0]
    assert "left zero" in Multiplicative(2.0, distribution="normal").violations(part, {"x": kept + 1})[0]


@pytest.mark.parametrize("law", LAWS)
def test_the_likelihood_adds_up_to_one(law):
    # Of a number without a grid every point counts for a millionth of its largest value; every 64th will do.
    columns = (
        (number("x", [40, -60, 3, 0, 500]), np.arange(-9000.0, 9001), 1),
        (number("y", [4, -6, 0.3, 0, 8], None), np.arange(-60, 60, 64 * 8 / 2**20), 64),
    )
    for column, points, every in columns:
        noise, part = Multiplicative(0.3, distribution=law), part_of(column)
        for row in range(4):
            value = column.values[row]
            if value == 0:
                assert noise.likelihood(part, {column.name: np.zeros(5)}, None)[row] == 1
                continue
            chances = every * noise.likelihood(part.take(np.full(len(points), row)), {column.name: points}, None)
            assert chances.sum() == pytest.approx(1, abs=1e-6)
            mean = (chances * points).sum()
            assert mean == pytest.approx(value, abs=2e-3)
            expected = (0.3 * value) ** 2 + (1 / 12 if column.grid else 0)
            assert (chances * (points - mean) ** 2).sum() == pytest.approx(expected, rel=5e-3, abs=1e-12)
        impossible = noise.likelihood(part, {column.name: np.full(5, 1.0)}, None)
        assert impossible[3] == 0  # zero becomes nothing else
        assert (impossible[1] == 0) == (law == "lognormal")


def test_enormous_numbers_move_or_are_refused():
    far = number("x", [1e15, 1e15 + 3, 4e15])
    noise, part = Multiplicative(0.5), part_of(far)
    after = released(noise, part)
    assert noise.violations(part, after) == ()
    assert (after["x"] != far.values).all()
    original = table(number("x", [1.7e308, 1.6e308, 1.5e308] * 9, None), category("class", list("aba") * 9))
    with pytest.raises(InvariantViolated, match="too large"):
        lc.release(original, lc.Plan(lc.Step("x", lc.Whole(), lc.Multiplicative(spread=1.0))), seed=1)


def test_a_date_has_no_zero():
    day = Column("day", "date", np.arange(4.0), grid=Grid(0))
    with pytest.raises(PlanError, match="does not accept a date"):
        check(lc.Plan(lc.Step("day", lc.Whole(), lc.Multiplicative(0.1))), table(day))
    check(lc.Plan(lc.Step("day", lc.Whole(), lc.Additive(0.1))), table(day))


@pytest.mark.parametrize("spread", [0, -0.1, 11, np.nan])
def test_a_parameter_out_of_range_is_refused(spread):
    with pytest.raises(ValueOutOfRange, match=r"Multiplicative\.spread"):
        Multiplicative(spread)
    with pytest.raises(ValueOutOfRange, match=r"Multiplicative\.distribution"):
        Multiplicative(0.5, distribution="laplace")
