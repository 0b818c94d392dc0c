"""The recipe `forest`: min_cell=1 keeps every rule of every tree, else no cell is small; and what is told of it."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leafcover.engine.run import run
from leafcover.errors import LeafcoverError
from leafcover.keyed_random import Key
from leafcover.partition.forest import Forest
from leafcover.recipes import plan_for
from leafcover.recipes.plan_file import parse_plan, plan_text
from leafcover.table.io import read
from leafcover.tree.predict import leaf_membership
from tests.cli.helpers import leafcover
from tests.data import table_path
from tests.tables import category, mixed, mixed_tables, number, table

KEY = Key.from_seed(11)
DATA = {
    "wbc": ("class", {"drop": ["sample_code_number"]}, {}),
    "adult": ("income", {}, {}),
    "german_credit": ("class", {}, {}),
    "wine": ("class", {}, {}),
    "boston": ("medv", {}, {"bins": 3}),
    "laeken_eusilc": ("pl030", {"drop": ["rb030"]}, {}),
}


def released(original, target="class", **given):
    plan = plan_for(original, "forest", target=target, settings=given)
    return run(original, plan, key=KEY, keep_order=True)


def forest_of(release, target):
    return next(p for split, p in release.partitions.items() if isinstance(split, Forest) and split.of == target)


def keeps_every_leaf_of_every_tree(original, target, **given):
    release = released(original, target, min_cell=1, **given)
    for tree in forest_of(release, target).trees:
        before, after = leaf_membership(tree, original), leaf_membership(tree, release.table)
        assert [before.leaves_of(p).tolist() for p in range(len(before))] == [
            after.leaves_of(p).tolist() for p in range(len(after))
        ]
        np.testing.assert_array_equal(before.set_of_row, after.set_of_row)
        ours, theirs = (_counts(before.set_of_row, t[target]) for t in (original, release.table))
        assert ours == theirs
    guides = [fact.kept for fact in release.trees if fact.target == target]
    assert len(guides) >= len(forest_of(release, target).trees)
    assert set(guides[: len(forest_of(release, target).trees)]) == {1.0}
    return release


def _counts(place, column):
    """How often each value stands in each set of leaves; a missing one by its text, since nan equals nothing."""
    found = {}
    for at in zip(place.tolist(), map(str, column.values.tolist()), strict=True):
        found[at] = found.get(at, 0) + 1
    return found


@pytest.mark.parametrize("name", DATA)
def test_every_row_keeps_its_leaf_and_every_leaf_its_classes_in_every_tree(name):
    target, options, given = DATA[name]
    original = read(table_path(name), **options)
    few = original.take(np.arange(0, len(original), max(1, len(original) // 2_500)))
    keeps_every_leaf_of_every_tree(few, target, **given)


@settings(max_examples=40)
@given(mixed_tables(), st.integers(1, 12), st.integers(2, 10))
def test_the_same_on_random_tables(original, n_trees, min_records):
    keeps_every_leaf_of_every_tree(original, "class", n_trees=n_trees, min_records=min_records)


@settings(max_examples=40)
@given(mixed_tables(), st.integers(2, 9))
def test_no_cell_is_smaller_than_was_asked(original, min_cell):
    release = released(original, min_cell=min_cell, min_records=2, n_trees=10)
    cells = forest_of(release, "class").cells
    assert cells.smallest >= min(min_cell, len(original))
    for column in original:
        np.testing.assert_array_equal(column.missing, release.table[column.name].missing)


def test_fewer_rules_are_kept_and_more_room_is_left_the_larger_the_cells():
    original = read(table_path("cps1985"))
    kept, room = [], []
    for min_cell in (1, 5, 40):
        release = released(original, "sector", min_cell=min_cell)
        kept.append(np.mean([fact.kept for fact in release.trees if fact.target == "sector"][:60]))
        room.append(np.mean([fact.range_fraction for fact in release.columns]))
    assert kept[0] == 1.0 > kept[1] > kept[2]
    assert room[0] < room[1] < room[2]


@pytest.mark.parametrize("noise", ["rpt", "ppt", "alpt"])
def test_the_class_is_shuffled_or_drawn_within_cells(noise):
    original = mixed(1, missing=0.0)
    release = released(original, class_noise=noise, min_records=2)
    cells = forest_of(release, "class").cells
    pairs = [np.column_stack([cells.label, t["class"].values]) for t in (original, release.table)]
    same = np.array_equal(*(pair[np.lexsort(pair.T)] for pair in pairs))
    assert same == (noise == "rpt")


AWKWARD = {
    "two classes of one row each": table(number("x", [1, 2]), category("class", ["a", "b"])),
    "one usable attribute": table(
        number("x", [*range(30)]), number("one", [7] * 30), category("class", ["a"] * 15 + ["b"] * 15)
    ),
    "categories alone": table(
        category("c", list("abc") * 20), category("d", list("aabb") * 15), category("class", list("ab") * 30)
    ),
    "missing values everywhere": table(
        number("x", [1, np.nan] * 30), number("y", [np.nan, 2] * 30), category("class", list("ab") * 30)
    ),
    "nothing to test": table(number("x", [1] * 20), category("class", list("ab") * 10)),
}


@pytest.mark.parametrize("name", AWKWARD)
@pytest.mark.parametrize("min_cell", [1, 5])
def test_awkward_tables_are_released(name, min_cell):
    original = AWKWARD[name]
    release = released(original, min_cell=min_cell)
    assert release.table.names == original.names
    assert forest_of(release, "class").cells.smallest >= min(min_cell, len(original))
    assert len(forest_of(release, "class").trees) >= 1


@pytest.mark.parametrize(
    "given", [{"n_trees": 0}, {"min_cell": 0}, {"goodness": -1}, {"separation": 2}, {"confidence": 0}, {"trees": 3}]
)
def test_wrong_settings_are_one_line(given):
    with pytest.raises(LeafcoverError) as caught:
        released(mixed(3, rows=60), **given)
    assert "\n" not in str(caught.value)


def test_a_plan_with_a_forest_survives_a_file():
    plan = plan_for(mixed(3, rows=60), "forest", target="class", settings={"n_trees": 7, "min_cell": 3})
    assert parse_plan(plan_text(plan)).steps == plan.steps


def test_cells_can_begin_where_the_leaves_of_a_forest_meet():
    original = mixed(3, rows=400)
    plan = plan_for(original, "cells", target="class", settings={"within": "forest", "n_trees": 5, "k": 8})
    release = run(original, plan, key=KEY, keep_order=True)
    assert any(isinstance(getattr(step.within, "start", step.within), Forest) for step in plan.steps)
    assert min(fact.smallest for fact in release.cells) >= 8
    for column in original:  # only shuffled
        np.testing.assert_array_equal(np.sort(column.values), np.sort(release.table[column.name].values))
    with pytest.raises(LeafcoverError, match="n_trees is a setting of within=forest"):
        plan_for(original, "cells", target="class", settings={"n_trees": 5})


def test_the_command_line_refuses_rows_that_stand_alone_and_tells_of_the_forest(tmp_path):
    asked = ["release", table_path("cps1985"), "-o", tmp_path / "out.csv", "--recipe", "forest", "--target", "sector"]
    refused = leafcover(*asked, "--set", "min_cell=1")
    assert refused.exit_code == 3
    assert "alone in their cell" in refused.output
    assert not list(tmp_path.iterdir())
    done = leafcover(*asked)
    assert done.exit_code == 0, done.output
    assert "over 60 trees" in done.output
    manifest = json.loads((tmp_path / "out.csv.manifest.json").read_text())
    assert [tree["target"] for tree in manifest["trees"][:60]] == ["sector"] * 60
    assert manifest["singleton_rows"] == 0
    assert all(0 <= column["range_fraction"] <= 1 for column in manifest["columns"])
    assert min(column["range_fraction"] for column in manifest["columns"]) < 0.9
    forced = leafcover(*asked, "--set", "min_cell=1", "--force")
    assert forced.exit_code == 0, forced.output
    manifest = json.loads((tmp_path / "out.csv.manifest.json").read_text())
    assert manifest["singleton_rows"] > 0.5
    assert {tree["rows_in_the_same_leaf"] for tree in manifest["trees"][:60]} == {1.0}
    checked = leafcover("verify", tmp_path / "out.csv", "--original", table_path("cps1985"))
    assert checked.exit_code == 0, checked.output
