"""A size of groups that the table cannot hold is said wherever the release is told of."""

import json

import pytest

import leafcover as lc
from leafcover.engine.run import not_reached
from tests.cli.helpers import leafcover, rows_of
from tests.tables import mixed


def released(rows, recipe="cover", **settings):
    table = mixed(1, rows=rows)
    return lc.release(table, lc.recipes.plan_for(table, recipe, target="class", settings=settings), seed=1)


@pytest.mark.parametrize(
    ("rows", "recipe", "settings", "said"),
    [
        (6, "cover", {"k": 20}, "k = 20 was requested; the smallest group has 6 rows, the whole table."),
        (6, "cover", {}, "k = 10 was requested; the smallest group has 6 rows, the whole table."),
        (40, "cover", {"k": 1000}, "k = 1,000 was requested; the smallest group has 40 rows, the whole table."),
        (6, "cells", {}, "k = 10 was requested; the smallest group has 6 rows, the whole table."),
        (4, "framework", {}, "min_cell = 5 was requested; the smallest group has 4 rows, the whole table."),
    ],
)
def test_a_table_with_fewer_rows_than_a_group_says_so(rows, recipe, settings, said):
    made = released(rows, recipe, **settings)
    assert said in made.warnings
    assert said in str(made)


@pytest.mark.parametrize(("rows", "settings"), [(20, {"k": 20}), (39, {"k": 20}), (200, {})])
def test_a_table_that_holds_a_group_says_nothing(rows, settings):
    made = released(rows, **settings)
    assert not_reached(made.plan, made.partitions) == ()
    assert "requested" not in str(made)


def test_what_is_published_tells_no_count_under_five():
    made = released(4)
    said = "k = 10 was requested; the smallest group has fewer than 5 rows, the whole table."
    assert not_reached(made.plan, made.partitions, published=True) == (said,)
    assert not_reached(made.plan, made.partitions) == (said.replace("fewer than 5", "4"),)


def test_terminal_and_manifests_say_it(tmp_path):
    (tmp_path / "in.csv").write_text(rows_of(rows=6))
    words = ("release", tmp_path / "in.csv", "-o", tmp_path / "out.csv", "--target", "class", "--set", "k=20")
    done = leafcover(*words)
    said = "k = 20 was requested; the smallest group has 6 rows, the whole table."
    assert done.exit_code == 0, done.output
    assert done.output.count(said) == 1
    outward, inward = (json.loads((tmp_path / f"out.csv.{name}.json").read_text()) for name in ("manifest", "internal"))
    assert outward["not_reached"] == [said]
    assert said in inward["warnings"]
    assert leafcover("verify", tmp_path / "out.csv", "--original", tmp_path / "in.csv").exit_code == 0


def test_a_manifest_of_a_table_that_is_large_enough_says_nothing(tmp_path):
    (tmp_path / "in.csv").write_text(rows_of())
    done = leafcover("release", tmp_path / "in.csv", "-o", tmp_path / "out.csv", "--target", "class", "--json")
    assert "not_reached" not in json.loads(done.stdout)
