"""A size of groups that the table cannot hold is said wherever the release is told of."""

import json
import re
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

import leafcover as lc
from leafcover.engine.statement import not_reached
from tests.cli.helpers import leafcover, rows_of
from tests.tables import mixed


def released(rows, recipe="cover", **settings):
    table = mixed(1, rows=rows)
    return lc.release(
        table, lc.recipes.plan_for(table, recipe, target="class", settings=settings, rare="allow"), seed=1
    )


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
    assert not_reached(made.table, made.plan, made.partitions) == ()
    assert "requested" not in str(made)


def test_what_is_published_tells_no_count_under_five():
    made = released(4)
    said = "k = 10 was requested; the smallest group has fewer than 5 rows, the whole table."
    assert not_reached(made.table, made.plan, made.partitions, published=True)[0] == said
    assert not_reached(made.table, made.plan, made.partitions)[0] == said.replace("fewer than 5", "4")


def test_fewer_than_five_rows_are_said_to_be_unprotected():
    said = "The table has fewer than 5 rows: no method protects so few people."
    assert [said in released(rows).warnings for rows in (4, 5)] == [True, False]


def test_fewer_numbers_than_must_share_one_are_said_to_share_one(tmp_path):
    table = mixed(1, rows=60)
    rare = table.columns[0]
    few = np.where(np.arange(60) < 3, np.arange(60.0), np.nan)
    table = table.replace([replace(rare, values=few, stored=None)])
    said = f"share = 5 was requested; fewer rows have a number in {rare.name!r}: they share one."
    made = lc.release(table, "cover", target="class", seed=1)
    assert said in made.warnings
    assert str(made).count(said) == 1
    known = made.table[rare.name].values
    assert len(np.unique(known[~np.isnan(known)])) == 1
    made.save(tmp_path / "out.csv")
    assert json.loads((tmp_path / "out.csv.manifest.json").read_text())["not_reached"] == [said]


def test_two_rows_share_one_number_and_verify_agrees(tmp_path):
    (tmp_path / "in.csv").write_text("age,pay,class\n30,1.5,a\n40,2.5,b\n")
    assert (
        leafcover(
            "release", tmp_path / "in.csv", "-o", tmp_path / "out.csv", "--target", "class", "--rare", "allow"
        ).exit_code
        == 0
    )
    outward = json.loads((tmp_path / "out.csv.manifest.json").read_text())
    assert [words[:9] for words in outward["not_reached"]] == ["k = 10 wa", "share = 5", "The table"]
    assert "copy" not in outward["proved"]["statements"][0]  # of two rows a copy adds nothing that could be bounded
    (guarantee,) = outward["guarantees"]
    assert guarantee.endswith("numbers shared by at least 5 rows, or by all rows that have one if there are fewer")
    assert (tmp_path / "out.csv").read_text().count("35,2.0,") == 2
    assert leafcover("verify", tmp_path / "out.csv", "--original", tmp_path / "in.csv", "--json").exit_code == 0


def test_rows_whose_number_was_replaced_are_counted(tmp_path):
    rows = ["age,pay,class", *(f"{20 + i % 4},{100 + i},{'ab'[i % 2]}" for i in range(80)), *["99999,50,a"] * 3]
    (tmp_path / "in.csv").write_text("\n".join(rows) + "\n")
    done = leafcover("release", tmp_path / "in.csv", "-o", tmp_path / "out.csv", "--target", "class", "--seed", 1)
    assert "age (3 rows)" in done.output
    inward = json.loads((tmp_path / "out.csv.internal.json").read_text())
    original = lc.read(tmp_path / "in.csv")
    counted = {column["name"]: column["shared"] for column in inward["columns"]}
    expected = {c.name: int((lc.Deal().shared(c) != c.values).sum()) for c in original}
    assert counted == expected
    assert counted["age"] == 3
    assert counted["class"] == 0
    assert "shared" not in json.loads((tmp_path / "out.csv.manifest.json").read_text())["columns"][0]
    assert lc.release(original, "cover", target="class", settings={"share": 1}, seed=1).columns[0].shared == 0


def numbers(rows, columns):
    draws = np.random.default_rng(1)
    common = draws.normal(size=rows)
    values = (common[:, None] + 0.7 * draws.normal(size=(rows, columns))).round(3)
    named = {f"x{number}": values[:, number] for number in range(columns)}
    return lc.read(pa.table({**named, "class": np.where(common > 0, "a", "b")}))


def test_lost_correlations_are_warned_of_with_their_number():
    small = numbers(150, 20)
    plan = lc.recipes.cover(small, target="class")
    (said,) = lc.release(small, plan, seed=1).warnings
    assert [int(word) for word in re.findall(r"\b\d+\b(?!\.)", said)[:2]] == [190, 18]
    assert plan.steps[0].perturb.correlated > 0
    assert lc.release(numbers(600, 5), "cover", target="class", seed=1).warnings == ()


def test_a_price_that_was_raised_much_is_warned_of_and_one_that_was_given_is_not():
    table = numbers(500, 12)
    plan = lc.recipes.cover(table, target="class")
    price = max(getattr(step.within, "price", 0) for step in plan.steps)
    (said,) = lc.release(table, plan, seed=1).warnings
    assert f"{price:.1f}" in said
    (said,) = lc.release(table, "cover", target="class", settings={"price": 3.0}, seed=1).warnings
    assert "3.0" not in said


def test_terminal_and_manifests_say_it(tmp_path):
    (tmp_path / "in.csv").write_text(rows_of(rows=6))
    words = (
        "release",
        tmp_path / "in.csv",
        "-o",
        tmp_path / "out.csv",
        "--target",
        "class",
        "--set",
        "k=20",
        "--rare",
        "allow",
    )
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
