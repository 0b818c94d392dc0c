"""What is tried: defaults, grids, settings, and what is refused."""

import pytest

from leafcover.errors import LeafcoverError, NameUnknown, ValueOutOfRange
from leafcover.recipes import RECIPES
from leafcover.tuning.grid import GRIDS, candidates, grid_of
from tests.tables import category, mixed, number, table


def names(*, original=None, **asked):
    found, _ = candidates(original or mixed(1, rows=120), target="class", **asked)
    return [one.name for one in found]


def test_without_a_wish_every_recipe_is_tried_at_its_own_strengths():
    found = names()
    assert len(found) == sum(len(GRIDS[recipe]) for recipe in RECIPES)
    assert found[:3] == ["cover", "cover price=0.3", "cover price=1"]
    assert [name for name in found if name.startswith("cells")] == [f"cells k={k}" for k in (5, 10, 20, 40, 80)]


def test_every_default_strength_is_a_parameter_of_its_recipe():
    assert set(GRIDS) == set(RECIPES)
    for recipe, strengths in GRIDS.items():
        assert {name for one in strengths for name in one} <= set(RECIPES[recipe].parameters)
        assert len({tuple(one.items()) for one in strengths}) == len(strengths) > 1


def test_a_grid_goes_to_every_recipe_that_has_the_parameter_and_a_named_one_wins():
    grid = {"spread": ["0.1", "0.2"], "random:spread": [0.9]}
    assert names(recipes=["random", "framework", "cells"], grid=grid) == [
        "random spread=0.9",
        "framework spread=0.1",
        "framework spread=0.2",
        *(f"cells k={one['k']}" for one in GRIDS["cells"]),
    ]


def test_two_parameters_make_every_combination_and_equal_values_one():
    grid = {"spread": ["0.1", "0.10", 0.2], "siblings": [0.0, 0.5]}
    assert names(recipes=["framework"], grid=grid) == [
        "framework spread=0.1 siblings=0",
        "framework spread=0.1 siblings=0.5",
        "framework spread=0.2 siblings=0",
        "framework spread=0.2 siblings=0.5",
    ]


def test_settings_stay_the_same_and_are_not_part_of_the_name_unless_they_are_the_strength():
    found, _ = candidates(mixed(1), target="class", recipes=["framework"], settings={"cousins": "2"})
    assert [one.settings for one in found][:2] == [{"spread": 0.05, "cousins": 2}, {"spread": 0.1, "cousins": 2}]
    assert names(recipes=["cells"], settings={"k": "7"}) == ["cells k=7"]
    two = names(recipes=["cover"], settings={"k": "7"})  # the other parameter still varies
    assert two == ["cover k=7", *(f"cover price={price} k=7" for price in ("0.3", "1", "2", "4"))]


def test_a_recipe_that_cannot_run_is_left_out_unless_it_was_asked_for():
    numbers = table(number("x", range(80)), number("class", [i % 2 for i in range(80)]))
    found, left = candidates(numbers, target="class")
    assert "detective" not in {one.recipe for one in found}
    assert [(one.name, "has none" in one.reason) for one in left] == [("detective", True), ("pram", True)]
    with pytest.raises(LeafcoverError, match="has none"):
        candidates(numbers, target="class", recipes=["detective"])


def test_a_table_whose_sample_is_awkward_is_looked_at_whole():
    rows = 6_000  # every third is looked at first, and there the category never varies
    odd = ["b" if i % 3 == 1 else "a" for i in range(rows)]
    original = table(category("c", odd), category("class", ["x" if i % 2 else "y" for i in range(rows)]))
    assert "detective siblings=0.1" in names(original=original, recipes=["detective"])


@pytest.mark.parametrize(
    ("asked", "error", "words"),
    [
        ({"recipes": ["covr"]}, NameUnknown, "Did you mean 'cover'"),
        ({"recipes": []}, ValueOutOfRange, "at least one"),
        ({"recipes": ["cover"], "grid": {"spread": [0.1]}}, NameUnknown, "no parameter 'spread' of cover"),
        ({"recipes": ["cover"], "grid": {"random:spread": [0.1]}}, NameUnknown, "no recipe 'random' in this sweep"),
        ({"grid": {"k": []}}, ValueOutOfRange, "at least one value"),
        ({"grid": {"k": ["many"]}}, LeafcoverError, "Parameter k of recipe 'cover'"),
        ({"grid": {"spread": [7]}}, ValueOutOfRange, "spread of recipe .framework."),
        ({"settings": {"frobnicate": 1}}, NameUnknown, "frobnicate"),
    ],
)
def test_what_cannot_be_tried_is_refused(asked, error, words):
    with pytest.raises(error, match=words):
        candidates(mixed(1, rows=60), target="class", **asked)


@pytest.mark.parametrize("text", ["k", "k=", "=5", "k=,", ""])
def test_a_grid_without_values_is_refused(text):
    with pytest.raises(ValueOutOfRange, match=r"such as k=5,20,100"):
        grid_of([text])


def test_a_grid_given_twice_is_refused():
    with pytest.raises(ValueOutOfRange, match="given once"):
        grid_of(["k=5", "k=6"])
