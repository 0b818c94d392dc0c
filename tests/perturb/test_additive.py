"""Additive noise: unbiased, with the biases that theory says it has, from two sides."""

from dataclasses import replace
from functools import reduce

import numpy as np
import pytest
from scipy.stats import kstest

import leafcover as lc
from leafcover.cells import Cells, one_cell
from leafcover.errors import InvariantViolated, NameUnknown, ValueOutOfRange
from leafcover.keyed_random import Draws, Key
from leafcover.perturb.additive import Additive
from leafcover.perturb.base import Chunk
from leafcover.table.table import Column, Grid
from tests.tables import category, number, table

ROWS = 200_000
DRAWS = Draws(Key.from_seed(5).secret)


def part_of(*columns):
    fixed = tuple(replace(c, declared=c.domain) for c in columns)
    return Chunk(np.arange(len(columns[0])), fixed, one_cell(len(columns[0])))


def released(noise, part, draws=DRAWS):
    summary = noise.finalize(noise.fit(part), part.cells)
    return {name: one.values for name, one in noise.change(part, summary, draws).items()}


def three(seed=1):
    """Two correlated columns to move and one that stays; integers, a coarse and a fine number."""
    rng = np.random.default_rng(seed)
    base = rng.normal(size=(3, ROWS))
    x = np.round(1000 + 100 * base[0])
    y = -5 + 2 * (0.8 * base[0] + 0.6 * base[1])
    s = 0.6 * base[0] - 0.8 * base[2]
    return number("x", x), number("y", y, None), s


def near(found, expected, sigma):
    return abs(found - expected) < 4 * sigma


@pytest.mark.parametrize("law", ["normal", "uniform", "laplace"])
@pytest.mark.parametrize("spread", [0.3, 1.0])
def test_the_mean_stays_and_the_variance_grows_as_theory_says(spread, law):
    x, y, _ = three()
    after = released(Additive(spread, distribution=law), part_of(x, y))
    for column in (x, y):
        old, new = column.values, after[column.name]
        deviation = old.std(ddof=1)
        error = spread * deviation / np.sqrt(ROWS)
        assert near(new.mean(), old.mean(), error)
        assert not near(new.mean(), old.mean() + 0.05 * deviation, error)
        # Var Y / Var X = 1 + c²; the variance of a variance is known from the fourth moment of the law.
        fourth = {"normal": 3.0, "uniform": 1.8, "laplace": 6.0}[law]
        error = np.sqrt((4 * spread**2 + (fourth - 1) * spread**4) / ROWS)
        ratio = (new.std(ddof=1) / deviation) ** 2
        assert near(ratio, 1 + spread**2, error)
        assert not near(ratio, 1, error)
        assert not near(ratio, 1 + 1.2 * spread**2, error)


@pytest.mark.parametrize("spread", [0.5, 1.0])
def test_biases_a_b_and_c_are_those_of_theory(spread):
    x, y, s = three(2)
    d = spread**2
    after = released(Additive(spread), part_of(x, y))

    def correlation(one, other):
        return np.corrcoef(one, other)[0, 1]

    error = 1 / np.sqrt(ROWS)
    # B: between two noisy columns times 1 / (1 + d); C: with a column that stays times 1 / sqrt(1 + d).
    among, among_before = correlation(after["x"], after["y"]), correlation(x.values, y.values)
    assert near(among, among_before / (1 + d), error)
    assert not near(among, among_before / np.sqrt(1 + d), error)
    assert not near(among, among_before, error)
    for column in (x, y):
        others, others_before = correlation(after[column.name], s), correlation(column.values, s)
        assert near(others, others_before / np.sqrt(1 + d), error)
        assert not near(others, others_before / (1 + d), error)
        assert not near(others, others_before, error)


def test_noise_is_the_law_and_independent_between_columns_and_of_the_value():
    x, y, _ = three(3)
    part = part_of(replace(x, grid=None), y)
    after = released(Additive(0.5), part)
    noise = {c.name: (after[c.name] - c.values) / (0.5 * c.values.std(ddof=1)) for c in part.columns}
    for name, column in (("x", x), ("y", y)):
        assert kstest(noise[name], "norm").pvalue > 1e-6
        assert kstest(noise[name] * 1.05, "norm").pvalue < 1e-6
        assert abs(np.corrcoef(noise[name], column.values)[0, 1]) < 4 / np.sqrt(ROWS)
    assert abs(np.corrcoef(noise["x"], noise["y"])[0, 1]) < 4 / np.sqrt(ROWS)


def test_by_hand_a_step_of_noise_is_a_step_of_the_grid():
    # Deviation of 0, 10: 7.07; half of it 3.54. Uniforms of these rows through the normal's inverse give the noise.
    from scipy.special import ndtri

    x = number("x", [0, 10])
    u = DRAWS.sub("x").uniform(np.arange(2))
    deviation = 0.5 * np.sqrt(50)
    expected = np.array([0, 10]) + ndtri(u) * deviation
    assert released(Additive(0.5), part_of(x))["x"].tolist() == np.rint(expected).tolist()
    assert released(Additive(0.5, on_grid=False), part_of(x))["x"] == pytest.approx(expected, rel=1e-14)


def test_missing_constant_and_single_values_stay_and_are_pinned():
    columns = (
        number("gap", [1, np.nan, 30, np.nan]),
        number("same", [7, 7, 7, 7]),
        number("alone", [np.nan, 5, np.nan, np.nan], None),
        number("none", [np.nan] * 4),
    )
    noise, part = Additive(2.0), part_of(*columns)
    after = released(noise, part)
    assert np.isnan(after["gap"]).tolist() == [False, True, False, True]
    assert after["same"].tolist() == [7] * 4
    assert after["alone"][1] == 5
    assert noise.violations(part, after) == ()
    fixed = noise.fixed(part, noise.finalize(noise.fit(part), part.cells))
    assert {name: int(stuck.sum()) for name, stuck in fixed.items()} == {"gap": 0, "same": 4, "alone": 1, "none": 0}


def test_values_leave_the_domain_and_dates_stay_days():
    rng = np.random.default_rng(1)
    day = Column("day", "date", rng.integers(0, 1000, 500).astype(float), grid=Grid(0))
    cents = number("cents", np.round(rng.random(500), 2), 2)
    for on_grid in (True, False):
        noise, part = Additive(1.0, on_grid=on_grid), part_of(day, cents)
        after = released(noise, part)
        assert after["day"].min() < 0
        assert after["day"].max() > 1000
        np.testing.assert_array_equal(after["day"], np.rint(after["day"]))
        assert np.array_equal(np.round(after["cents"], 2), after["cents"]) == on_grid
        assert noise.violations(part, after) == ()


def test_the_check_sees_values_off_the_grid_too_large_or_missing():
    part = part_of(number("x", [1, 2, 3]))
    assert "left their grid" in Additive(1.0).violations(part, {"x": np.array([1.5, 2, 3])})[0]
    assert Additive(1.0, on_grid=False).violations(part, {"x": np.array([1.5, 2, 3])}) == ()
    assert "too large" in Additive(1.0).violations(part, {"x": np.array([1e300, 2, 3])})[0]
    assert "too large" in Additive(1.0, on_grid=False).violations(part, {"x": np.array([np.inf, 2, 3])})[0]
    assert "missing" in Additive(1.0).violations(part, {"x": np.array([np.nan, 2, 3])})[0]


def test_enormous_numbers_move_or_are_refused():
    large = number("x", [1e15, 1e15 + 3, 1e15 + 8])
    after = released(Additive(1.0), part_of(large))["x"]
    assert np.array_equal(after, np.rint(after))
    assert abs(after - 1e15).max() < 100
    original = table(number("x", [-1.7e308, 1.7e308, 0], None), category("class", list("aba")))
    with pytest.raises(InvariantViolated, match="too large"):
        lc.release(original, lc.Plan(lc.Step("x", lc.Whole(), lc.Additive(spread=5.0))), seed=1)


@pytest.mark.parametrize("law", ["normal", "uniform", "laplace"])
def test_the_likelihood_adds_up_to_one(law):
    rng = np.random.default_rng(1)
    whole_numbers = number("x", rng.integers(-40, 40, 50))
    fine = number("y", rng.normal(size=50), None)
    # Of a number without a grid every point counts for a millionth of its range; every 64th will do.
    for column, points, every in ((whole_numbers, np.arange(-2000.0, 2001), 1), (fine, None, 64)):
        noise, part = Additive(0.4, distribution=law), part_of(column)
        summary = noise.finalize(noise.fit(part), part.cells)
        low, high = part.columns[0].domain
        grid = np.arange(-30, 30, every * (high - low) / 2**20) if points is None else points
        one = part.take(np.full(len(grid), 7))
        chances = every * noise.likelihood(one, {column.name: grid}, summary)
        assert chances.sum() == pytest.approx(1, abs=1e-3)
        # The centre of the law is the value, its deviation the column's times 0.4; rounding adds a twelfth.
        mean = (chances * grid).sum()
        assert mean == pytest.approx(column.values[7], abs=1e-3)
        expected = (0.4 * column.values.std(ddof=1)) ** 2 + (1 / 12 if column.grid else 0)
        assert (chances * (grid - mean) ** 2).sum() == pytest.approx(expected, rel=1e-3)


def test_far_from_the_value_the_likelihood_is_still_told():
    noise, part = Additive(0.1), part_of(number("x", np.arange(100.0), None))
    summary = noise.finalize(noise.fit(part), part.cells)
    up, down = (noise.likelihood(part, {"x": part.columns[0].values + far}, summary)[0] for far in (60, -60))
    assert up == pytest.approx(down)
    assert 0 < up < 1e-80


def test_parts_of_any_size_give_the_same():
    rng = np.random.default_rng(4)
    part = part_of(number("x", rng.normal(1e6, 1, 997), None), number("y", rng.integers(0, 9, 997)))
    noise, expected = Additive(0.5), released(Additive(0.5), part)
    for pieces in (2, 10, 400):
        parts = [part.take(rows) for rows in np.array_split(rng.permutation(997), pieces)]
        summary = noise.finalize(reduce(noise.merge, [noise.fit(p) for p in parts]), part.cells)
        for piece in parts:
            for name, one in noise.change(piece, summary, DRAWS).items():
                np.testing.assert_array_equal(one.values, expected[name][piece.rows])


def test_cells_change_nothing():
    x = number("x", np.arange(60.0))
    cells = Cells(np.arange(60) // 10, 6)
    part = part_of(x)
    np.testing.assert_array_equal(
        released(Additive(0.5), part)["x"], released(Additive(0.5), replace(part, cells=cells))["x"]
    )


@pytest.mark.parametrize("spread", [0, -0.1, 11, np.nan])
def test_a_spread_out_of_range_is_refused(spread):
    with pytest.raises(ValueOutOfRange, match=r"Additive\.spread"):
        Additive(spread)
    with pytest.raises(NameUnknown, match="cauchy"):
        Additive(0.5, distribution="cauchy")
