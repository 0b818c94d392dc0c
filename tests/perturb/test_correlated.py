"""Correlated noise where covariances are awkward: singular, constant, few rows, missing values, small cells."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import multivariate_normal

import leafcover as lc
from leafcover.cells import Cells, one_cell
from leafcover.engine.attacker import Known
from leafcover.engine.descent_model import descent_model
from leafcover.engine.run import run
from leafcover.errors import InvariantViolated, PlanError, ValueOutOfRange
from leafcover.keyed_random import Draws, Key
from leafcover.perturb.base import Chunk
from leafcover.perturb.correlated_noise import Correlated, moments_of_cells
from leafcover.table.table import Column, Grid
from tests.tables import category, number, table

BOTH = (Correlated(0.5, on_grid=False), Correlated(0.5, bias_corrected=True, on_grid=False))


def part_of(*columns, cells=None):
    fixed = tuple(replace(c, declared=c.domain) for c in columns)
    return Chunk(np.arange(len(columns[0])), fixed, cells or one_cell(len(columns[0])))


def released(noise, part, key=5):
    summary = noise.finalize(noise.fit(part), part.cells)
    changed = noise.change(part, summary, Draws(Key.from_seed(key).secret))
    return {name: one.values for name, one in changed.items()}


@pytest.mark.parametrize("noise", BOTH)
def test_a_total_is_still_the_sum_of_its_parts(noise):
    rng = np.random.default_rng(1)
    food, rent = rng.lognormal(3, 1, (2, 500))
    part = part_of(number("food", food, None), number("rent", rent, None), number("total", food + rent, None))
    after = released(noise, part)
    assert after["food"] + after["rent"] == pytest.approx(after["total"], rel=1e-9)
    assert np.abs(after["food"] - food).min() > 0
    assert noise.violations(part, after) == ()


@pytest.mark.parametrize("noise", BOTH)
@pytest.mark.parametrize("rows", [2, 3, 5])
def test_with_fewer_rows_than_columns_noise_stays_in_the_space_of_the_rows(noise, rows):
    values = np.random.default_rng(rows).normal(size=(8, rows))
    part = part_of(*(number(f"n{at}", one, None) for at, one in enumerate(values)))
    after = np.array(list(released(noise, part).values()))
    assert np.isfinite(after).all()
    centred = values - values.mean(axis=1, keepdims=True)
    moved = after - values
    inside = centred @ np.linalg.pinv(centred) @ moved
    assert moved == pytest.approx(inside, abs=1e-8)
    assert np.abs(moved).max() > 0.01


def test_constant_and_empty_columns_stay_and_are_pinned():
    rng = np.random.default_rng(2)
    part = part_of(
        number("x", rng.normal(size=50), None),
        number("same", np.full(50, 0.1), 1),
        number("none", np.full(50, np.nan)),
        number("one", [5.0] + [np.nan] * 49),
    )
    for noise in BOTH:
        after = released(noise, part)
        assert after["same"].tolist() == [0.1] * 50
        assert after["one"][0] == 5
        assert np.isnan(after["none"]).all()
        assert np.isnan(after["one"][1:]).all()
        summary = noise.finalize(noise.fit(part), part.cells)
        assert {n: int(f.sum()) for n, f in noise.fixed(part, summary).items()} == {
            "x": 0,
            "same": 50,
            "none": 0,
            "one": 1,
        }
        assert noise.violations(part, after) == ()
        assert "constant" in noise.violations(part, {**after, "same": after["same"] + 1})[0]


@settings(max_examples=40)
@given(st.integers(2, 40), st.integers(1, 6), st.integers(0, 99), st.booleans())
def test_no_value_is_missing_that_was_not(rows, columns, seed, corrected):
    """Whatever is missing, and however contradictory the covariances of the pairs that are left."""
    rng = np.random.default_rng(seed)
    values = rng.normal(size=(columns, 1)) * rng.normal(size=(1, rows)) * 10.0 ** rng.integers(-8, 9)
    values[rng.random(values.shape) < 0.5] = np.nan
    cells = Cells(rng.integers(0, 3, rows), 3)
    part = part_of(*(number(f"n{at}", one, None) for at, one in enumerate(values)), cells=cells)
    noise = Correlated(1.0, bias_corrected=corrected, on_grid=False)
    after = np.array(list(released(noise, part).values()))
    assert np.array_equal(np.isnan(after), np.isnan(values))
    summary = noise.finalize(noise.fit(part), part.cells)
    assert np.isfinite(
        noise.likelihood(part, dict(zip((c.name for c in part.columns), after, strict=True)), summary)
    ).all()
    eigenvalues = np.linalg.eigvalsh(summary.covariances)
    assert (eigenvalues >= -1e-12 * np.abs(eigenvalues).max(initial=1.0)).all()


def test_moments_are_numpys_in_every_cell_and_the_tables_in_small_ones():
    rng = np.random.default_rng(3)
    values = rng.normal(size=(3, 100)) + 5
    label = np.repeat([0, 1, 2], [60, 36, 4])  # the last has fewer rows than two more than there are columns
    part = part_of(*(number(f"n{at}", one, None) for at, one in enumerate(values)), cells=Cells(label, 3))
    found = moments_of_cells(part)
    for cell, rows in ((0, label == 0), (1, label == 1), (2, label >= 0)):
        assert found.means[cell] * found.units == pytest.approx(values[:, rows].mean(axis=1), rel=1e-13)
        scaled = found.covariances[cell] * np.outer(found.units, found.units)
        assert scaled == pytest.approx(np.cov(values[:, rows]), rel=1e-12)
        assert found.roots[cell].T @ found.roots[cell] == pytest.approx(found.covariances[cell], rel=1e-12)


def test_noise_has_the_covariance_of_its_cell():
    """40,000 rows in two cells whose correlations are 0.8 and -0.8: within four standard errors."""
    rng = np.random.default_rng(4)
    base = rng.normal(size=(2, 40_000))
    label = np.arange(40_000) % 2
    x, y = base[0], np.where(label, 0.8, -0.8) * base[0] + 0.6 * base[1]
    part = part_of(number("x", x, None), number("y", y, None), cells=Cells(label, 2))
    after = released(Correlated(0.5, on_grid=False), part)
    noise = np.array([after["x"] - x, after["y"] - y])
    for cell, expected in ((0, -0.8), (1, 0.8)):
        own = noise[:, label == cell]
        assert np.corrcoef(own)[0, 1] == pytest.approx(expected, abs=4 * (1 - 0.64) / np.sqrt(20_000))
        assert own.std(axis=1) == pytest.approx([0.5, 0.5], rel=0.02)


def test_values_stay_on_their_grid_and_dates_are_days():
    rng = np.random.default_rng(5)
    base = rng.integers(0, 1000, 300).astype(float)
    day = Column("day", "date", base, grid=Grid(0))
    part = part_of(day, number("cents", np.round(base / 7, 2), 2))
    for noise in (Correlated(0.5), Correlated(0.5, bias_corrected=True)):
        after = released(noise, part)
        assert np.array_equal(after["day"], np.rint(after["day"]))
        assert np.array_equal(np.round(after["cents"], 2), after["cents"])
        assert noise.violations(part, after) == ()


@pytest.mark.parametrize("corrected", [False, True])
def test_the_likelihood_is_the_normal_density_of_all_columns_together(corrected):
    """Of numbers without a grid, up to a factor that does not depend on the values: the steps of their ranges."""
    rng = np.random.default_rng(6)
    base = rng.normal(size=(3, 400))
    values = np.array([base[0], base[0] + 0.3 * base[1], 100 + 20 * base[2] - 15 * base[0]])
    part = part_of(*(number(f"n{at}", one, None) for at, one in enumerate(values)))
    noise = Correlated(0.6, bias_corrected=corrected, on_grid=False)
    after = released(noise, part)
    summary = noise.finalize(noise.fit(part), part.cells)
    shrink = 1 / np.sqrt(1.36) if corrected else 1.0
    mean = values.mean(axis=1, keepdims=True)
    law = multivariate_normal(np.zeros(3), 0.36 * shrink**2 * np.cov(values))
    off = multivariate_normal(np.zeros(3), 0.36 * shrink**2 * np.diag(np.diag(np.cov(values))))
    moved = np.array(list(after.values())) - mean - shrink * (values - mean)
    steps = np.prod([(c.domain[1] - c.domain[0]) / 2**20 for c in part.columns])
    found = np.log(noise.likelihood(part, after, summary) / steps)
    assert found == pytest.approx(law.logpdf(moved.T), abs=1e-4)
    assert np.abs(found - off.logpdf(moved.T)).mean() > 0.5


def test_a_likelihood_on_a_coarse_grid_adds_up_to_one():
    rng = np.random.default_rng(7)
    base = rng.integers(-4, 5, 200).astype(float)
    part = part_of(number("x", base), number("y", base + rng.integers(-1, 2, 200)))
    noise = Correlated(0.5)
    summary = noise.finalize(noise.fit(part), part.cells)
    x, y = (axis.ravel().astype(float) for axis in np.meshgrid(np.arange(-20, 21), np.arange(-20, 21)))
    one = part.take(np.full(len(x), 3))
    assert noise.likelihood(one, {"x": x, "y": y}, summary).sum() == pytest.approx(1, abs=0.01)


def test_a_likelihood_with_missing_values_is_that_of_the_known_ones():
    rng = np.random.default_rng(8)
    base = rng.normal(size=(2, 100))
    base[1, 10] = np.nan
    part = part_of(number("x", base[0], None), number("y", base[0] + base[1], None))
    noise = BOTH[0]
    after, summary = released(noise, part), noise.finalize(noise.fit(part), part.cells)
    both = noise.likelihood(part, after, summary)
    alone = noise.likelihood(replace(part, columns=part.columns[:1]), {"x": after["x"]}, summary)
    assert both[10] == pytest.approx(alone[10])
    appeared = {"x": after["x"], "y": np.where(np.arange(100) == 10, 1.0, after["y"])}
    assert noise.likelihood(part, appeared, summary)[10] == 0


def test_enormous_numbers_are_refused_and_small_ones_move():
    original = table(number("x", [-1.7e308, 1.7e308, 0], None), number("y", [1e-300, 3e-300, 2e-300], None))
    with pytest.raises(InvariantViolated, match="too large"):
        lc.release(original, lc.Plan(lc.Step(["x", "y"], lc.Whole(), lc.Correlated(5.0))), seed=1)
    tiny = part_of(number("y", [1e-300, 3e-300, 2e-300], None))
    assert (released(BOTH[0], tiny)["y"] != tiny.columns[0].values).all()


def test_categories_and_spreads_out_of_range_are_refused():
    original = table(number("x", [1, 2, 3]), category("c", list("aba")))
    with pytest.raises(PlanError, match="does not accept a category"):
        lc.release(original, lc.Plan(lc.Step(["x", "c"], lc.Whole(), lc.Correlated(0.5))), seed=1)
    with pytest.raises(PlanError, match="'c', a category"):
        lc.recipes.correlated(original, columns="x,c")
    for spread in (0, -1, 11, np.nan):
        with pytest.raises(ValueOutOfRange, match=r"Correlated\.spread"):
            Correlated(spread)


# What an attacker infers who knows the covariance of the noise.


def model_of(recipe, original, **settings):
    plan = lc.recipes.plan_for(original, recipe, settings=settings)
    release = run(original, plan, key=Key.from_seed(1), keep_order=True)
    return descent_model(Known(original, plan, release.partitions, original), release.table)


def inferred(model, original, column):
    """The share of people whose value is the most probable candidate."""
    candidates = model.candidates(column).values
    best = candidates[model.scores(original, column, (0.1,))[0].argmax(axis=1)]
    return float((best == original[column].values).mean())


def test_the_noise_of_known_columns_reveals_that_of_others():
    """Two numbers with a correlation of 0.995, and a column by which the row is known."""
    rng = np.random.default_rng(9)
    x = rng.integers(0, 12, 200).astype(float)
    original = table(
        number("x", x),
        number("y", 10 * x + rng.integers(0, 8, 200)),
        category("row", [f"r{at}" for at in range(200)]),
        row="unchanged",
    )
    model = model_of("correlated", original, spread=1.0)
    assert [one.names for one in model.blocks] == [("x", "y")]
    apart = replace(model, blocks=(), _seen={}, _kept={})
    assert inferred(model, original, "x") > 0.75  # the noise of y leaves 0.23 of that of x, and rounding
    assert inferred(apart, original, "x") < 0.3
    assert model_of("additive", original, spread=1.0).blocks == ()


def test_evidence_about_a_row_is_the_joint_likelihood_of_the_known_columns():
    rng = np.random.default_rng(10)
    base = rng.normal(size=(3, 40))
    original = table(*(number(f"n{at}", base[0] + 0.5 * one, None) for at, one in enumerate(base)))
    model = model_of("correlated", original)
    (block,) = model.blocks
    seen = model._weighed(original)
    part = block.part.take(seen.rows[7])
    for column, names in (("n1", ("n0", "n2")), ("other", ("n0", "n1", "n2"))):
        own = tuple(replace(c, values=np.full(40, original[c.name].values[7])) for c in part.columns if c.name in names)
        new = {name: block.shown[name][seen.rows[7]] for name in names}
        expected = np.log(block.perturb.likelihood(replace(part, columns=own), new, block.summary))
        assert model._about_row(seen, column)[7] == pytest.approx(
            np.maximum(expected, len(names) * np.log(1e-12)), rel=1e-5
        )
