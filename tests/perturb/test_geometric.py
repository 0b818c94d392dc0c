"""Geometric transformations: distances stay, nothing else does, and a release says that it is not private."""

import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import pdist
from scipy.stats import kstest

import leafcover as lc
from leafcover.cells import one_cell
from leafcover.engine.attacker import Known, evidence_of
from leafcover.engine.evaluate import pair_from
from leafcover.engine.run import run
from leafcover.errors import PlanError, RiskTooHigh, ValueOutOfRange
from leafcover.keyed_random import Draws, Key
from leafcover.metrics.disclosure.record_linkage import informed
from leafcover.perturb.base import Chunk
from leafcover.perturb.geometric_transformation import Geometric
from tests.cli.helpers import leafcover
from tests.tables import category, number, table

OPERATIONS = ("translate", "scale", "rotate", "hybrid")
REVERSIBLE = ("translate", "scale", "rotate", "hybrid")


def released(method, columns, key=5):
    part = Chunk(
        np.arange(len(columns[0])), tuple(replace(c, declared=c.domain) for c in columns), one_cell(len(columns[0]))
    )
    summary = method.finalize(method.fit(part), part.cells)
    changed = method.change(part, summary, Draws(Key.from_seed(key).secret))
    return np.array([changed[c.name].values for c in columns])


def columns_of(values, decimals=None):
    return [number(f"n{at}", one, decimals) for at, one in enumerate(values)]


def normal(count, rows=60, seed=1):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(count, rows)) * 10.0 ** rng.integers(-3, 4, (count, 1)) + 3


@settings(max_examples=30)
@given(st.sampled_from(["translate", "rotate"]), st.integers(2, 7), st.integers(0, 99))
def test_isometries_keep_all_distances(operation, count, seed):
    values = normal(count, seed=seed)
    after = released(Geometric(operation), columns_of(values), seed)
    assert pdist(after.T) == pytest.approx(pdist(values.T), rel=1e-9)
    assert not np.allclose(after, values)


@pytest.mark.parametrize("count", [2, 3, 6])
def test_standardised_rotations_keep_the_distances_between_scores(count):
    values = normal(count, seed=count)
    after = released(Geometric("rotate", standardised=True), columns_of(values))
    scores = [
        (one - values.mean(axis=1, keepdims=True)) / values.std(axis=1, ddof=1, keepdims=True)
        for one in (values, after)
    ]
    assert pdist(scores[1].T) == pytest.approx(pdist(scores[0].T), rel=1e-9)
    assert after.mean(axis=1) == pytest.approx(values.mean(axis=1), rel=1e-9)


def test_scaling_keeps_the_distances_between_scores_and_a_hybrid_does_not():
    values = normal(4)
    after = released(Geometric("scale"), columns_of(values))
    ratios = after / values
    assert ratios == pytest.approx(np.tile(ratios[:, :1], (1, 60)), rel=1e-12)
    assert (np.abs(np.log2(ratios[:, 0])) > 0.49).all()
    assert (np.abs(np.log2(ratios[:, 0])) < 1.51).all()
    mixed = released(Geometric("hybrid"), columns_of(normal(8)), key=3)
    assert not np.allclose(pdist(mixed.T), pdist(normal(8).T), rtol=0.01)


def test_a_translation_is_whole_steps_and_keeps_integer_distances_exactly():
    values = np.random.default_rng(2).integers(0, 90, (3, 50)).astype(float)
    for key in range(20):
        shift = released(Geometric("translate"), columns_of(values, 0), key) - values
        assert (shift == shift[:, :1]).all()
        assert np.array_equal(shift, np.rint(shift))
        assert (np.abs(shift[:, 0]) >= 0.4 * values.std(axis=1)).all()


def test_parameters_are_spread_over_keys_as_described():
    """1,000 keys: shifts and angles are uniform in their ranges, on both sides; other ranges are noticed."""
    values = normal(2, rows=30)
    deviation = values.std(axis=1, ddof=1)
    shifts = np.array(
        [released(Geometric("translate"), columns_of(values), key)[0, 0] - values[0, 0] for key in range(1000)]
    )
    size = np.abs(shifts) / deviation[0]
    assert kstest(size - 0.5, "uniform").pvalue > 1e-4
    assert kstest((size - 0.5) * 0.8, "uniform").pvalue < 1e-4
    assert abs((shifts > 0).mean() - 0.5) < 4 * 0.5 / np.sqrt(1000)
    flat = columns_of([np.array([1.0, 2.0, 3.0]), np.array([0.0, 0.5, 0.0])])
    turned = np.array([released(Geometric("rotate"), flat, key)[:, 0] for key in range(1000)])
    angle = np.mod(np.arctan2(-turned[:, 1], turned[:, 0]), 2 * np.pi)
    within = (np.mod(angle, np.pi) - np.pi / 6) / (np.pi * 2 / 3)
    assert kstest(within, "uniform").pvalue > 1e-4
    assert ((within > 0) & (within < 1)).all()
    assert abs((angle > np.pi).mean() - 0.5) < 4 * 0.5 / np.sqrt(1000)


def test_missing_values_stay_and_constant_columns_stay():
    values = normal(3)
    values[0, :5], values[1, 3:8] = np.nan, np.nan
    same = number("same", np.full(60, 7.0))
    for operation in OPERATIONS:
        after = released(Geometric(operation), [*columns_of(values), same])
        assert np.array_equal(np.isnan(after[:3]), np.isnan(values))
        assert (after[3] == 7).all()
    both = ~np.isnan(values).any(axis=0)
    after = released(Geometric("rotate"), columns_of(values))
    assert pdist(after[:, both].T) == pytest.approx(pdist(values[:, both].T), rel=1e-9)


def test_what_cannot_be_rotated_is_refused():
    original = table(number("x", [1, 2, 3]), number("same", [4, 4, 4]), category("c", list("aba")))
    with pytest.raises(PlanError, match="needs two columns that vary"):
        lc.release(original, lc.Plan(lc.Step(["x", "same"], lc.Whole(), lc.Geometric("rotate"))), seed=1)
    with pytest.raises(PlanError, match="rotates pairs of columns"):
        lc.recipes.rotate(original)
    with pytest.raises(PlanError, match="'c', a category"):
        lc.recipes.translate(original, columns="x,c")
    with pytest.raises(ValueOutOfRange, match="'translate', 'scale'"):
        Geometric("turn")
    with pytest.raises(ValueOutOfRange, match="spread"):
        Geometric("translate", spread=0)


@pytest.mark.parametrize("recipe", REVERSIBLE)
def test_a_reversible_release_says_everywhere_that_it_is_not_private(recipe, tmp_path):
    source, out = lc.sample("wine"), tmp_path / "out.csv"
    settings = ("--set", "columns=alcohol,ash")
    ran = leafcover("release", source, "-o", out, "--recipe", recipe, *settings, "--target", "class", "--seed", 7)
    assert "Not private" in ran.output
    for name in ("out.csv.manifest.json", "out.csv.internal.json"):
        assert json.loads((tmp_path / name).read_text())["reversible"]["columns"] == ["alcohol", "ash"]
    assert "not private" in lc.recipes.RECIPES[recipe].hides
    assert "reversible" in lc.recipes.RECIPES[recipe].hides
    assert "not private: reversible" in lc.release(lc.read(source), recipe, seed=7).plan.steps[0].perturb.describe()


def test_other_releases_do_not_say_so(tmp_path):
    table_ = lc.read(lc.sample("wine"))
    assert "Not private" not in str(lc.release(table_, "correlated", seed=7))
    assert [name for name, one in lc.recipes.RECIPES.items() if "not private" in one.hides] == [*REVERSIBLE]


def test_the_report_names_reversible_columns(tmp_path):
    original = lc.read(lc.sample("wine")).select(["alcohol", "ash", "class"])
    release = lc.release(original, lc.recipes.rotate(original, columns="alcohol,ash"), seed=7)
    for path in release.report(tmp_path / "report.html"):
        page = path.read_text("utf-8")
        assert "which are not private" in page
        assert "alcohol, ash" in page


@pytest.mark.parametrize("recipe", REVERSIBLE)
def test_the_informed_attacker_links_nearly_everybody(recipe):
    original = lc.read(lc.sample("wine"))
    plan = lc.recipes.plan_for(original, recipe, settings={"columns": "alcohol,ash,flavanoids,proline"})
    release = run(original, plan, key=Key.from_seed(1))
    pair = pair_from(original, release)
    keys = ("alcohol", "ash", "flavanoids", "proline")
    found = informed(evidence_of(Known(original, plan, release.partitions, original), pair.released, keys))
    assert found.first.value > 0.95


def test_a_risk_limit_refuses_a_reversible_release():
    original = lc.read(lc.sample("wine")).select(["alcohol", "ash", "proline"])
    release = lc.release(original, "rotate", seed=7)
    with pytest.raises(RiskTooHigh):
        release.check_risk(0.5)
