"""A release repeated on some rows: the others never guide it."""

import numpy as np
import pytest

import leafcover as lc
from leafcover.engine.evaluate import folds, rerun
from leafcover.recipes import plan_for
from leafcover.table.table import without_unused_levels
from tests.small_models import small_models
from tests.tables import category, mixed, number, table


def test_the_other_rows_are_the_control_and_guide_nothing():
    original = mixed(1, rows=200)
    plan = plan_for(original, "cover", target="class", settings={"k": 5})
    rows = np.arange(0, 200, 2)
    one = rerun(original, plan, rows, seed=1)
    assert len(one.pair.original) == 100
    assert np.array_equal(one.pair.control["age"].values, original["age"].values[1::2], equal_nan=True)
    # The control rows changed beyond recognition: the release of the others stays the same.
    kept = np.where(np.arange(200) % 2, 0, np.arange(200))
    spoilt = original.replace([original["age"].take(kept), original["class"].take(kept)])
    other = rerun(spoilt, plan, rows, seed=1)
    for name in original.names:
        assert np.array_equal(one.pair.released[name].values, other.pair.released[name].values, equal_nan=True)


def test_a_recipe_writes_its_plan_anew_and_a_plan_by_hand_stays():
    original = mixed(2, rows=300, missing=0.0)
    plan = plan_for(original, "cover", target="class", settings={"k": "7"})
    assert plan.settings == {"k": 7}
    found = rerun(original, plan, np.arange(150), seed=1).known.plan
    assert (found.recipe, found.settings) == ("cover", {"k": 7})
    by_hand = lc.Plan(lc.Step("age", lc.Whole(), lc.Shuffle()), target="class")
    assert rerun(original, by_hand, np.arange(150), seed=1).known.plan == by_hand


def test_recipes_called_in_python_remember_their_settings():
    original = mixed(2)
    plan = lc.recipes.framework_paper(original, target="class", spread=0.1)
    assert (plan.recipe, plan.target, plan.settings) == ("framework-paper", "class", {"spread": 0.1})
    assert lc.recipes.cover(original, target="class").settings == {}


def test_levels_of_the_others_are_never_drawn():
    rare = [f"only{i}" for i in range(40)]
    original = table(category("c", ["a", "b", "c"] * 20 + rare), category("class", list("pq") * 50))
    for recipe in ("random", "detective"):
        plan = plan_for(original, recipe, target="class", settings={"others": 0.9})
        shown = rerun(original, plan, np.arange(60), seed=1).pair.released["c"]
        assert {shown.levels[code] for code in np.unique(shown.values)} == {"a", "b", "c"}


def test_units_are_left_out_of_release_and_control():
    original = mixed(2)
    with_unit = lc.Table((*original.columns, number("who", np.arange(300))), roles={"who": "unit"})
    plan = lc.Plan(lc.Step("age", lc.Whole(), lc.Shuffle()), target="class")
    assert rerun(with_unit, plan, np.arange(150), seed=1).pair.names == original.names


@pytest.mark.parametrize("hold_out", [None, 0.3])
def test_a_release_with_a_unit_is_measured(hold_out):
    original = mixed(2, rows=120)
    with_unit = lc.Table((*original.columns, number("who", np.arange(120) // 3)), roles={"who": "unit"})
    release = lc.release(with_unit, "cover", target="class", seed=1, hold_out=hold_out)
    assert release.table.names == with_unit.names
    held = release.held_out
    with small_models():
        figures = lc.measure(with_unit, release)
    assert figures.rows == len(release.table) == 120 - (0 if held is None else len(held))
    assert "who" not in figures.quasi_identifiers
    if held is not None:  # the same as a control that is given
        assert figures.control == "rows that were held out"
        given = lc.measure(
            without_unused_levels(with_unit, release.rows), release, control=held, only=["nearest_record"]
        )
        assert given["nearest_record"] == figures.risks.distances


def test_folds_hold_out_every_row_once():
    original = mixed(3, rows=90)
    plan = plan_for(original, "random", target="class")
    found = list(folds(original, plan, count=3))
    assert [len(one.pair.control) for one in found] == [30, 30, 30]
    seen = np.sort(np.concatenate([one.pair.control["noise"].values for one in found]))
    assert np.array_equal(seen, np.sort(original["noise"].values), equal_nan=True)
    assert [len(one.pair.original) for one in folds(original, plan, count=2, most=20)] == [10, 10]


def test_rows_that_the_plan_refuses_are_left_out():
    original = table(number("x", [1.0, 2, 3, 4]), category("class", ["a", "b", "b", "b"]))
    plan = lc.Plan(lc.Step("x", lc.Leaves(of="class"), lc.Shuffle()), target="class")
    assert len(list(folds(original, plan, count=4))) <= 4
    with pytest.raises(lc.LeafcoverError):
        rerun(original, plan, np.array([0]), seed=1)
