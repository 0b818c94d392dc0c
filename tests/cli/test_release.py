"""`leafcover release` and `verify`, as the contract says."""

import csv
import json
import re
import stat
from collections import Counter

import pytest

from leafcover.messages import catalogue
from tests.cli.helpers import leafcover, refused, rows_of
from tests.data import table_path


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "in.csv").write_text(rows_of(rows=300))
    return tmp_path


def released(folder, *words, out="out.csv"):
    result = leafcover("release", folder / "in.csv", "-o", folder / out, "--target", "class", *words)
    assert result.exit_code == 0, result.output
    return folder / out


@pytest.mark.parametrize(("recipe", "more"), [("cells", {"out.csv.pairs"}), ("cover", set())])
def test_a_release_stands_with_its_manifests_and_pairs_if_rows_descend(folder, recipe, more):
    out = released(folder, "--recipe", recipe)
    assert out.read_text().splitlines()[0] == "age,pay,job,class"
    assert len(out.read_text().splitlines()) == 301
    manifest = json.loads((folder / "out.csv.manifest.json").read_text())
    assert manifest["publishable"] is True
    assert manifest["output"]["rows"] == 300
    assert "plan" not in manifest
    for private in {"out.csv.internal.json"} | more:
        assert stat.S_IMODE((folder / private).stat().st_mode) == 0o600
    names = {"in.csv", "out.csv", "out.csv.manifest.json", "out.csv.internal.json"} | more
    assert {p.name for p in folder.iterdir()} == names
    changed = [column.get("changed") for column in manifest["columns"]]
    assert (None in changed) == (recipe == "cover")  # there is no row to compare with


def columns_of(path):
    """The values of each column in a fixed order."""
    head, *rows = [line.split(",") for line in path.read_text().splitlines()]
    return dict(zip(head, map(sorted, zip(*rows, strict=True)), strict=True))


def test_each_column_of_the_default_release_is_a_permutation_of_itself_up_to_shared_numbers(folder):
    before, after = columns_of(folder / "in.csv"), columns_of(released(folder))
    assert before.keys() == after.keys()
    for name in ("job", "class"):
        assert after[name] == before[name]
    for name in ("age", "pay"):
        numbers, shared = (sorted(map(float, one[name])) for one in (before, after))
        assert min(shared.count(value) for value in set(shared)) >= 5
        assert sum(shared) == pytest.approx(sum(numbers), rel=0.01)
    exact = columns_of(released(folder, "--set", "share=1", out="exact.csv"))
    assert exact == before


def test_the_rows_released_stand_beside_a_default_release_with_rows_held_out(folder):
    out = released(folder, "--hold-out", "0.2", "--key-file", folder / "key")
    rows = folder / "out.csv.rows"
    assert stat.S_IMODE(rows.stat().st_mode) == 0o600
    numbers = [int(line) for line in rows.read_text().split()]
    assert numbers == sorted(set(numbers))
    assert len(numbers) == 240
    assert not (folder / "out.csv.pairs").exists()
    lines, aside = ((folder / name).read_text().splitlines()[1:] for name in ("in.csv", "out.held-out.csv"))
    assert aside == [line for at, line in enumerate(lines) if at not in set(numbers)]
    words = ("verify", out, "--original", folder / "in.csv")
    for more in ((), ("--key-file", folder / "key")):
        check = leafcover(*words, *more)
        assert check.exit_code == 0, check.output
    rows.rename(folder / "moved")  # without it nobody knows which rows were released
    check = leafcover(*words)
    assert check.exit_code == 1
    assert "'out.csv.rows' are missing" in check.output


def test_files_that_an_overwritten_release_leaves_go_with_it(folder):
    def names(*words):
        released(folder, "--force", *words)
        return {p.name.removeprefix("out.") for p in folder.glob("out.*")} - {
            "csv", "csv.manifest.json", "csv.internal.json",
        }  # fmt: skip

    cells, held = ("--recipe", "cells"), ("--hold-out", "0.2")
    assert names(*cells, *held) == {"csv.pairs", "held-out.csv"}
    assert names() == set()
    assert names(*held) == {"csv.rows", "held-out.csv"}
    assert names(*cells) == {"csv.pairs"}
    assert names(*held) == {"csv.rows", "held-out.csv"}
    assert names() == set()
    (folder / "other.csv.rows").write_text("mine")  # of no release of ours
    words = ("release", folder / "in.csv", "-o", folder / "other.csv", "--target", "class", *held)
    assert "other.csv.rows" in refused(*words)
    assert (folder / "other.csv.rows").read_text() == "mine"


def test_a_key_file_replays_a_release_byte_for_byte(folder):
    one = released(folder, "--key-file", folder / "key")
    assert stat.S_IMODE((folder / "key").stat().st_mode) == 0o600
    two = released(folder, "--key-file", folder / "key", out="again.csv")
    other = released(folder, out="other.csv")
    assert one.read_bytes() == two.read_bytes() != other.read_bytes()
    assert (folder / "key").read_text().strip() not in (folder / "out.csv.internal.json").read_text()
    check = leafcover("verify", one, "--original", folder / "in.csv", "--key-file", folder / "key")
    assert check.exit_code == 0, check.output
    assert "same key gives the same bytes" in check.output


def test_a_seed_is_for_experiments(folder):
    out = released(folder, "--seed", "7")
    manifest = (folder / "out.csv.manifest.json").read_text()
    assert json.loads(manifest)["publishable"] is False
    assert leafcover("verify", out).exit_code == 1


def test_kept_order_is_named_and_not_publishable(folder):
    out = released(folder, "--keep-order", "--recipe", "cells")
    manifest = json.loads((folder / "out.csv.manifest.json").read_text())
    assert manifest["row_order"] == "kept"
    assert manifest["publishable"] is False
    assert leafcover("verify", out).exit_code == 1


def test_a_dealt_release_has_no_order_to_keep(folder):
    line = refused("release", folder / "in.csv", "-o", folder / "out.csv", "--target", "class", "--keep-order")
    assert "--keep-order" in line
    assert "no released row descends from one original row" in line
    assert [p.name for p in folder.iterdir()] == ["in.csv"]
    # A column that stays unchanged ties a released row to one original row.
    assert released(folder, "--keep-order", "--unchanged", "job").with_name("out.csv.pairs").exists()


def test_the_verdict_is_the_first_line_of_what_is_printed(folder):
    given = ("release", folder / "in.csv", "--target", "class")
    plain = leafcover(*given, "-o", folder / "a.csv").stdout.splitlines()
    assert plain[0].startswith("Verdict: not measured")
    assert "--max-risk" in plain[0]
    limited = leafcover(*given, "-o", folder / "b.csv", "--max-risk", "1").stdout.splitlines()
    assert limited[0].startswith("Verdict: pass")
    assert "limit 1 (as set)" in limited[0]
    measured = leafcover("measure", folder / "in.csv", folder / "b.csv", "--max-risk", "0.9").stdout.splitlines()
    assert "limit 0.9 (as set)" in measured[0]
    assert "limit 1 (as set)" in leafcover("measure", folder / "in.csv", folder / "b.csv").stdout.splitlines()[0]


def test_verify_prints_a_line_for_each_group_and_every_check_that_failed(folder):
    out = released(folder, "--key-file", folder / "key")
    words = ("verify", out, "--original", folder / "in.csv", "--key-file", folder / "key")
    checks = json.loads(leafcover(*words, "--json").stdout)
    lines = leafcover(*words).stdout.splitlines()
    assert lines[0] == f"Verdict: all {len(checks)} checks hold."
    groups = list(dict.fromkeys(one["group"] for one in checks))
    assert [line.split()[1] for line in lines[1:]] == [f"{group}:" for group in groups]
    assert {"files", "guarantees", "promises", "key"} <= {*groups}
    every = leafcover(*words, "--all").stdout.splitlines()
    assert every == [f"ok      {one['what']}" for one in checks]
    out.write_text(out.read_text() + "\n")
    lines = leafcover("verify", out).stdout.splitlines()
    assert lines[0].startswith("Verdict: 1 of ")
    assert lines[1].startswith("FAILED  files: 1 of")
    assert lines[2].startswith("  FAILED  the file is byte for byte")


@pytest.mark.parametrize("recipe", ["cover", "cells"])
def test_verify_notices_a_changed_file_and_a_broken_promise(folder, recipe):
    out = released(folder, "--recipe", recipe)
    assert leafcover("verify", out).exit_code == 0
    assert leafcover("verify", out, "--original", folder / "in.csv").exit_code == 0
    lines = out.read_text().splitlines()
    age, rest = lines[5].split(",", 1)
    lines[5] = f"{'34' if age == '33' else '33'},{rest}"
    out.write_text("\n".join(lines) + "\n")
    check = leafcover("verify", out, "--original", folder / "in.csv")
    assert check.exit_code == 1
    assert "FAILED  the file is byte for byte" in check.output
    assert "FAILED  step" in check.output


def test_verify_needs_the_table_the_key_was_used_on(folder):
    out = released(folder, "--key-file", folder / "key")
    assert "--original" in refused("verify", out, "--key-file", folder / "key")
    assert "no key file" in refused("verify", out, "--original", folder / "in.csv", "--key-file", folder / "other")
    (folder / "other.csv").write_text(rows_of(seed=2, rows=300))
    wrong = leafcover("verify", out, "--original", folder / "other.csv", "--key-file", folder / "key")
    assert wrong.exit_code == 1


def test_a_risk_above_the_limit_ends_with_3_and_writes_nothing(folder):
    said = refused(
        "release", folder / "in.csv", "-o", folder / "out.csv", "--target", "class", "--max-risk", "0", code=3
    )
    assert "risk" in said
    assert [p.name for p in folder.iterdir()] == ["in.csv"]
    for recipe, linked in (("cells", True), ("cover", False)):  # what was compared is named
        words = ("--target", "class", "--max-risk", "1", "--recipe", recipe)
        result = leafcover("release", folder / "in.csv", "-o", folder / f"{recipe}.csv", *words)
        assert result.exit_code == 0, result.output
        for kind in ("linkage", "inference", "membership"):
            name = catalogue("report")("risk-name", kind=kind, column="class", predicates="none")
            assert (name in result.output) == (kind != "linkage" or linked)


def test_rows_held_out_are_not_released(folder):
    out = released(folder, "--hold-out", "0.2")
    aside = folder / "out.held-out.csv"
    assert stat.S_IMODE(aside.stat().st_mode) == 0o600
    assert len(aside.read_text().splitlines()) == 61
    assert len(out.read_text().splitlines()) == 241
    assert leafcover("verify", out, "--original", folder / "in.csv").exit_code == 0


def test_rows_held_out_go_with_the_release_that_is_overwritten(folder, monkeypatch):
    out = released(folder, "--hold-out", "0.2")
    aside, words = folder / "out.held-out.csv", ("--target", "class", "--force", "--recipe", "cells")
    held = aside.read_text()
    assert leafcover("release", folder / "in.csv", "-o", out, *words, "--hold-out", "0.3").exit_code == 0
    assert aside.read_text() != held  # replaced
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    with monkeypatch.context() as broken:
        broken.setattr("leafcover.engine.files.write_pairs", _no_space)
        refused("release", folder / "in.csv", "-o", out, *words)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before  # all or nothing
    assert leafcover("release", aside, "-o", out, *words).exit_code == 0
    assert aside.exists()  # the original of this release
    assert leafcover("release", folder / "in.csv", "-o", out, *words).exit_code == 0
    assert not aside.exists()
    aside.write_text("mine")
    for path in folder.glob("out.csv*"):
        path.unlink()
    released(folder)
    assert aside.read_text() == "mine"  # no release of ours was overwritten


def _no_space(*given):
    raise OSError(28, "No space left on device")


def test_a_plan_can_be_written_changed_and_used(folder):
    plan = leafcover("plan", folder / "in.csv", "--target", "class", "--recipe", "framework")
    assert plan.exit_code == 0
    (folder / "plan.toml").write_text(plan.stdout.replace("0.276", "0.1"))
    out = released(folder, "--plan", folder / "plan.toml")
    assert leafcover("verify", out, "--original", folder / "in.csv").exit_code == 0


@pytest.mark.parametrize(
    "recipe",
    ["cover", "cells", "framework", "framework-paper", "forest", "detective", "random", "additive", "multiplicative"],
)
def test_every_recipe_releases_and_verifies(folder, recipe):
    (folder / "in.csv").write_text(rows_of(rows=100))
    out = released(folder, "--recipe", recipe, "--report", folder / "report.html")
    check = leafcover("verify", out, "--original", folder / "in.csv")
    assert check.exit_code == 0, check.output
    assert stat.S_IMODE((folder / "report.html").stat().st_mode) == 0o600
    assert (folder / "report.external.html").exists()


TEXT = (".csv", ".csv.gz", ".tsv", ".arff", ".data")
TYPED = (".parquet", ".arrow", ".feather", ".xlsx", ".sav", ".dta", ".xpt", ".duckdb#released")


@pytest.mark.parametrize("ending", [*TEXT, *TYPED])
def test_every_format_can_be_released(folder, ending):
    out = released(folder, out="out" + ending)
    again = leafcover("inspect", out)
    assert again.exit_code == 0, again.output
    assert "300 rows" in again.output


def test_copies_are_searched_for_without_a_report_too(folder):
    words = ("release", folder / "in.csv", "-o", folder / "out.csv", "--target", "class", "--force")
    nothing, untested = (catalogue("measures")(one, found=0, most="") for one in ("copies-alone", "copies-untested"))
    assert nothing in leafcover(*words).stdout
    assert untested in leafcover(*words, "--drop", "age", "--drop", "pay").stdout  # no rare records
    assert nothing in leafcover(*words, "--hold-out", "0.3").stdout
    assert nothing not in leafcover(*words, "--quiet").stdout


def test_settings_reach_the_recipe(folder):
    words = ("plan", folder / "in.csv", "--target", "class", "--set", "k=30")
    plan = leafcover(*words, "--recipe", "cells", "--set", "blocks=age+pay")
    assert "min_cell = 30" in plan.stdout
    assert 'columns = ["age", "pay"]' in plan.stdout
    plan = leafcover(*words, "--set", "order=pay,job")
    assert "min_cell = 30" in plan.stdout
    places = [plan.stdout.index(f'columns = ["{name}"]') for name in ("pay", "job", "age", "class")]
    assert places == sorted(places)
    assert "no parameter 'blocks'" in refused(*words, "--set", "blocks=age+pay")


def test_blocks_and_refined_columns_are_shown_to_the_user(folder):
    out = leafcover(
        "release", folder / "in.csv", "-o", folder / "o.csv", "--target", "class", "--recipe", "cells",
        "--set", "blocks=age+pay",
    )  # fmt: skip
    assert "age + pay" in out.stdout


def test_json_is_for_machines(folder):
    result = leafcover("release", folder / "in.csv", "-o", folder / "o.csv", "--target", "class", "--json")
    assert json.loads(result.stdout)["output"]["rows"] == 300


def test_a_number_as_target_needs_bins(tmp_path):
    path = table_path("boston")
    assert "--bins" in refused("release", path, "-o", tmp_path / "o.csv", "--target", "medv")
    done = leafcover("release", path, "-o", tmp_path / "o.csv", "--target", "medv", "--bins", "3")
    assert done.exit_code == 0, done.output


def test_an_identifier_is_refused_until_dropped_or_left_on_purpose(tmp_path):
    path, out = table_path("wbc"), tmp_path / "o.csv"
    said = refused("release", path, "-o", out, "--target", "class")
    assert "--drop sample_code_number" in said
    assert "--unchanged sample_code_number" in said
    kept = leafcover("release", path, "-o", out, "--target", "class", "--unchanged", "sample_code_number")
    assert kept.exit_code == 0
    assert catalogue("release")("unprotected", columns="sample_code_number") in kept.stdout
    manifest = json.loads((tmp_path / "o.csv.manifest.json").read_text())
    assert manifest["not_protected"] == ["sample_code_number"]


def test_tree_and_inspect_warn_of_an_identifier():
    for command in ("inspect", "tree"):
        words = [command, table_path("wbc")] + (["--target", "class"] if command == "tree" else [])
        result = leafcover(*words)
        assert result.exit_code == 0
        assert "looks like an identifier" in result.stderr


def test_a_unit_is_released_as_new_numbers_or_not_at_all(folder):
    lines = (folder / "in.csv").read_text().splitlines()
    wide = ["home," + lines[0]] + [f"{i // 3}," + line for i, line in enumerate(lines[1:])]
    (folder / "in.csv").write_text("\n".join(wide) + "\n")
    out = released(folder, "--unit", "home")
    assert out.read_text().splitlines()[0] == "home,age,pay,job,class"
    numbers = [line.partition(",")[0] for line in out.read_text().splitlines()[1:]]
    assert sorted(numbers, key=int) == numbers
    assert set(Counter(numbers).values()) == {3}
    out = released(folder, "--unit", "home", "--no-unit-numbers", "--force")
    assert out.read_text().splitlines()[0] == "age,pay,job,class"


@pytest.mark.parametrize("delimiter", [";", ","])
def test_decimal_commas_are_read_and_written_with_a_warning_and_an_option(folder, delimiter):
    head, *rows = (line.split(",") for line in (folder / "in.csv").read_text().splitlines())
    rows = [[age, f'"{int(age) // 10}.{100 + int(age)}"', f'"{int(age) // 10},5"', label] for age, _, _, label in rows]
    head[2] = "hours"
    (folder / "in.csv").write_text("\n".join(delimiter.join(row) for row in [head, *rows]) + "\n")
    words = ("release", folder / "in.csv", "-o", folder / "out.csv", "--target", "class", "--sensitive", "pay")
    result = leafcover(*words)
    assert result.exit_code == 0, result.output
    assert "--category hours" in result.stderr
    assert "--decimal pay=." in result.stderr
    assert json.loads((folder / "out.csv.internal.json").read_text())["reading"]["decimal"] == ","
    values = list(csv.reader((folder / "out.csv").read_text().splitlines(), delimiter=delimiter))[1:]
    assert all(re.fullmatch(r"[1-9]\.[0-9]{3}(,[0-9]+)?", row[1]) for row in values)
    assert all(re.fullmatch(r"[0-9](,[0-9]+)?", row[2]) for row in values)
    measured = leafcover("measure", folder / "in.csv", folder / "out.csv", "--only", "margins")
    assert measured.exit_code == 0, measured.output
    assert "warning" not in measured.stderr  # the manifest settles what was in doubt
    assert "warning" not in leafcover(*words, "--force", "--decimal", ",").stderr.replace("warning: Column 'class'", "")
    result = leafcover(*words, "--force", "--decimal", "pay=.", "--decimal", "hours=,")
    assert result.exit_code == 0, result.output
    assert "decimal" not in result.stderr


def test_every_private_file_is_named(folder):
    words = ("release", folder / "in.csv", "-o", folder / "out.csv", "--target", "class", "--force")
    for more, files in (
        ((), "out.csv.internal.json: never publish it"),
        (("--hold-out", 0.3), "out.csv.internal.json, out.csv.rows, out.held-out.csv: never publish these"),
        (("--recipe", "cells"), "out.csv.internal.json, out.csv.pairs: never publish these"),
        (
            ("--recipe", "cells", "--hold-out", 0.3),
            "out.csv.internal.json, out.csv.pairs, out.held-out.csv: never publish these",
        ),
    ):
        assert f"private   {files}\n" in leafcover(*words, *more).stdout
