"""`leafcover measure`, and the limit of `release --max-risk`."""

import json
import re
import stat

import jsonschema
import pytest

from leafcover.cli.app import as_options
from leafcover.messages import catalogue
from leafcover.metrics.suite import Measures, schema
from tests.cli.helpers import leafcover, refused, rows_of


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """An original and releases of it, dealt and by cells, each whole and with rows held out."""
    found = tmp_path_factory.mktemp("measure")
    (found / "in.csv").write_text(rows_of(rows=240))
    held, cells = ("--hold-out", "0.3"), ("--recipe", "cells")
    releases = {"out.csv": (), "held.csv": held, "cells.csv": cells, "cells_held.csv": (*cells, *held)}
    for out, more in releases.items():
        result = leafcover(
            "release", found / "in.csv", "-o", found / out, "--target", "class", "--sensitive", "job", *more
        )
        assert result.exit_code == 0, result.output
    return found


def whole_job(folder, name):
    """Everything but the two tables is found beside the release."""
    figures, report = folder / f"{name}.json", folder / f"{name}.html"
    result = leafcover("measure", folder / "in.csv", folder / f"{name}.csv", "--json", figures, "--report", report)
    assert result.exit_code == 0, result.output
    return result, json.loads(figures.read_text())


@pytest.fixture(scope="module")
def measured(folder):
    """The whole job once, for the default recipe."""
    return whole_job(folder, "out")


@pytest.fixture(scope="module")
def by_cells(folder):
    """The same for a release whose rows descend from original rows."""
    return whole_job(folder, "cells")


def test_words_say_what_was_kept_and_what_is_hidden(measured, by_cells):
    say = catalogue("measures")
    for result, figures in (measured, by_cells):
        assert say("heading-risks") in result.stdout
        assert "An attacker who knows the method and is granted its trees or cells" in result.stdout
        assert "repeated 3 times" in result.stdout
        linked = figures["descends"]
        assert ("Record linkage:" in result.stdout) == linked
        assert ("everything but the secret key" in result.stdout) == linked
        assert (say("absent-pairs.dealt") in result.stdout) == (not linked)
        assert as_options(say("absent-pairs.reason")) not in result.stdout


def test_figures_follow_the_documented_schema(measured, by_cells):
    for _, found in (measured, by_cells):
        jsonschema.validate(found, schema(Measures))
        assert found["target"] == "class"
        assert found["sensitive"] == ["job"]
        assert [i["column"] for i in found["risks"]["inferences"]] == ["job"]


def test_what_needs_pairs_is_measured_only_where_rows_descend(measured, by_cells):
    dealt, found = measured[1], by_cells[1]
    assert (dealt["paired"], dealt["descends"]) == (False, False)
    assert (found["paired"], found["descends"]) == (True, True)
    for name in ("informed", "learned", "linkage", "reconstruction", "unmoved"):
        assert dealt["risks"][name] is None
        assert found["risks"][name] is not None
    for risks in (dealt["risks"], found["risks"]):
        assert risks["informed_attacks"]["granted"] is not None
        assert risks["membership"] is not None


def test_what_is_for_the_steward_is_private(folder, measured):
    for name in ("out.json", "out.html"):
        assert stat.S_IMODE((folder / name).stat().st_mode) == 0o600
    assert (folder / "out.external.html").exists()


@pytest.mark.parametrize("name", ["held", "cells_held"])
def test_rows_that_were_held_out_are_the_control(folder, name):
    result = leafcover("measure", folder / "in.csv", folder / f"{name}.csv", "--json", "-")
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    assert found["descends"] == (name == "cells_held")
    assert found["rows"] == 168
    assert found["control"] == "rows that were held out"
    assert found["utility"]["prediction"]["tests"] == 72


def test_a_table_from_elsewhere_is_measured_without_pairs(folder, tmp_path):
    (tmp_path / "other.csv").write_text(rows_of(seed=2, rows=240))
    result = leafcover(
        "measure", folder / "in.csv", tmp_path / "other.csv", "--target", "class", "--json", tmp_path / "m.json"
    )
    assert result.exit_code == 0, result.output
    assert as_options(catalogue("measures")("absent-pairs.reason")) in result.stdout
    found = json.loads((tmp_path / "m.json").read_text())
    assert found["risks"]["informed"] is None
    assert found["utility"]["columns"]["rows"] == 240


def test_a_control_file_serves_a_table_from_elsewhere(folder, tmp_path):
    (tmp_path / "other.csv").write_text(rows_of(seed=2, rows=240))
    (tmp_path / "more.csv").write_text(rows_of(seed=3, rows=100))
    result = leafcover(
        "measure", folder / "in.csv", tmp_path / "other.csv", "--target", "class", "--control", tmp_path / "more.csv",
        "--json", tmp_path / "m.json", "--quiet",
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    assert result.stdout == ""
    found = json.loads((tmp_path / "m.json").read_text())
    assert found["utility"]["prediction"]["tests"] == 100
    assert found["risks"]["membership"] is not None


def test_a_control_of_the_people_who_were_released_is_refused(folder, tmp_path):
    given = ("measure", folder / "in.csv", folder / "cells.csv", "--quiet", "--control")
    assert "100% of the control's" in refused(*given[:2], folder / "out.csv", *given[3:], folder / "in.csv")
    assert "100% of the control's 240 rows are rows of the original" in refused(*given, folder / "in.csv")
    head, *rows = rows_of(rows=240).splitlines()
    (tmp_path / "most.csv").write_text("\n".join([head, *rows[:60], *rows_of(seed=3, rows=40).splitlines()[1:]]))
    assert "60% of the control's 100 rows" in refused(*given, tmp_path / "most.csv")


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (rows_of(rows=239), "The release has 239 rows, the original 240"),
        (rows_of(rows=240).replace("age,pay", "height,pay"), "column 'height' that the original"),
        (rows_of(rows=240).replace("clerk", "1").replace("nurse", "2").replace("smith", "3"), ""),
        ("age,pay,job,class\n" + "x,1.0,clerk,yes\n" * 240, "Column 'age' is a number in the original and a category"),
        ("wholly,other\n1,2\n3,4\n", "column 'wholly'"),
    ],
)
def test_files_that_do_not_match_get_one_line(folder, tmp_path, content, words):
    (tmp_path / "other.csv").write_text(content)
    given = ("measure", folder / "in.csv", tmp_path / "other.csv", "--target", "class", "--json", tmp_path / "m.json")
    if not words:  # the original's category is one here, too, though it looks like a number
        assert leafcover(*given[:-2], "--only", "k_anonymity").exit_code == 0
        return
    assert words in refused(*given)
    assert not (tmp_path / "m.json").exists()


def test_a_smaller_original_is_refused(folder, tmp_path):
    (tmp_path / "small.csv").write_text(rows_of(rows=99))
    assert "the original's 99 rows" in refused("measure", tmp_path / "small.csv", folder / "cells.csv")
    assert "the original 99" in refused("measure", tmp_path / "small.csv", folder / "out.csv")
    assert "but the original has 99" in refused("measure", tmp_path / "small.csv", folder / "held.csv")


def test_a_dealt_release_has_no_pairs(folder, tmp_path):
    beside = [folder / f"{name}.csv.pairs" for name in ("out", "held", "cells", "cells_held")]
    assert [path.exists() for path in beside] == [False, False, True, True]
    given = ("measure", folder / "in.csv", folder / "out.csv", "--pairs", folder / "cells.csv.pairs")
    line = refused(*given)
    assert "--pairs" in line
    assert "no released row descends from one original row" in line


def test_pairs_of_another_release_are_refused(folder, tmp_path):
    (tmp_path / "short").write_text("0\n1\n")
    (tmp_path / "twice").write_text("0\n" * 240)
    (tmp_path / "far").write_text("".join(f"{i + 5}\n" for i in range(240)))
    (tmp_path / "below").write_text("".join(f"{i - 1}\n" for i in range(240)))
    (tmp_path / "words").write_text("no numbers\n")
    (tmp_path / "huge").write_text(f"{10**30}\n" * 240)
    (tmp_path / "empty").write_text("\n")
    for name, said in (
        ("short", "2 rows"),
        ("twice", "twice"),
        ("far", "row 240, but the original's 240 rows are 0 to 239 (row 0 is the first)"),
        ("below", "row -1, but"),
        ("words", "row numbers"),
        ("huge", "row numbers"),
        ("empty", "The pairs name 0 rows, the release has 240"),
        ("none", "no pairs"),
    ):
        line = refused("measure", folder / "in.csv", folder / "cells.csv", "--pairs", tmp_path / name)
        assert said in line


def test_names_and_places_are_checked_before_any_work(folder, tmp_path):
    given = ("measure", folder / "in.csv", folder / "out.csv")
    assert "clas" in refused(*given, "--target", "clas")
    assert "must end in .html" in refused(*given, "--report", tmp_path / "r.txt")
    assert "named twice" in refused(*given, "--json", folder / "out.csv", "--force")
    assert "0 to 1" in refused(*given, "--max-risk", "2")
    assert "There is no" in refused("measure", folder / "none.csv", folder / "out.csv", "--target", "class")


def test_a_limit_ends_with_three_and_writes_nothing(folder, tmp_path):
    for name, words in (("cells", "record linkage"), ("out", "above control")):
        limit = ("--max-risk", "0.0001")
        given = ("measure", folder / "in.csv", folder / f"{name}.csv", *limit, "--json", tmp_path / "m.json")
        result = leafcover(*given)
        assert (result.exit_code, words in result.stderr) == (3, True)
        assert catalogue("measures")("heading-risks") in result.stdout  # what was measured is shown all the same
        assert not (tmp_path / "m.json").exists()
        recipe = "cells" if name == "cells" else "cover"
        given = ("release", folder / "in.csv", "-o", tmp_path / "o.csv", "--target", "class", "--recipe", recipe)
        assert words in refused(*given, *limit, code=3)
        assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("command", ["release", "measure"])
def test_a_report_is_named_by_its_files_or_by_a_title_and_dated_only_when_asked(folder, measured, tmp_path, command):
    def headings(name, *more):
        report = tmp_path / f"{name}.html"
        if command == "release":
            given = ("release", folder / "in.csv", "-o", tmp_path / f"{name}.csv", "--target", "class")
            released = f"{name}.csv"
        else:
            given, released = ("measure", folder / "in.csv", folder / "out.csv"), "out.csv"
        if command == "measure" and not more:  # this was done already
            report = folder / "out.html"
        else:
            assert leafcover(*given, "--report", report, *more).exit_code == 0
        pages = [path.read_text("utf-8") for path in (report, report.with_suffix(".external.html"))]
        return [re.search("<h1>(.*?)</h1>", page)[1].replace("<wbr>", "") for page in pages], released, pages

    names, released, pages = headings("a")
    assert names == ["in.csv", released]  # the original's file name is not for publication
    assert all("2026-08-01" not in page for page in pages)
    names, _, pages = headings("b", "--title", "Pay of 1985", "--date", "2026-08-01")
    assert names == ["Pay of 1985"] * 2
    assert all("2026-08-01" in page for page in pages)


def test_a_limit_that_cannot_be_held_is_refused(folder, tmp_path):
    (tmp_path / "other.csv").write_text(rows_of(seed=2, rows=240))
    (tmp_path / "pairs").write_text("".join(f"{i}\n" for i in range(240)))
    given = ("measure", folder / "in.csv", tmp_path / "other.csv", "--target", "class", "--max-risk", "0.9")
    assert "--control" in refused(*given)
    assert "--control" in refused(*given, "--pairs", tmp_path / "pairs")
    assert catalogue("measures")("heading-risks") in leafcover(*given).stdout
    # The plan is known and its rows descend: the pairs exist somewhere.
    for ending in ("", ".manifest.json", ".internal.json"):
        (tmp_path / f"cells.csv{ending}").write_bytes((folder / f"cells.csv{ending}").read_bytes())
    given = ("measure", folder / "in.csv", tmp_path / "cells.csv", "--max-risk", "0.9")
    assert "--pairs" in refused(*given)


def test_a_limit_for_a_table_from_elsewhere_without_pairs_is_judged_on_the_other_risks(folder, tmp_path):
    (tmp_path / "other.csv").write_text(rows_of(seed=2, rows=240))
    (tmp_path / "more.csv").write_text(rows_of(seed=3, rows=200))
    control = ("--control", tmp_path / "more.csv", "--target", "class")
    found = leafcover("measure", folder / "in.csv", tmp_path / "other.csv", *control, "--max-risk", "0.5")
    assert found.exit_code == 0, found.output
    assert as_options(catalogue("measures")("absent-pairs.reason")) in found.stdout  # record linkage is not measured
    (tmp_path / "copy.csv").write_text(rows_of(rows=240))
    refused("measure", folder / "in.csv", tmp_path / "copy.csv", *control, "--max-risk", "0.5", code=3)


def test_a_kept_order_and_a_limit_do_not_go_together(folder, tmp_path):
    given = ("release", folder / "in.csv", "-o", tmp_path / "o.csv", "--target", "class", "--keep-order")
    for recipe in ("cells", "cover"):
        assert "--keep-order" in refused(*given, "--recipe", recipe, "--max-risk", "0.5")


def test_a_limit_counts_inference_above_control(tmp_path):
    # Where age and pay move together, an attacker with the pay of a person in the release infers the age.
    (tmp_path / "in.csv").write_text(rows_of(rows=240))
    within, roles = 'within = { method = "whole" }\nperturb = { method = "shuffle" }\n', ("--quasi-identifier", "job")
    given = ("release", tmp_path / "in.csv", "-o", tmp_path / "o.csv", "--plan", tmp_path / "plan.toml", *roles)

    def planned(columns):
        (tmp_path / "plan.toml").write_text(f'version = 1\ntarget = "class"\n[[step]]\ncolumns = {columns}\n{within}')

    planned('["age", "pay"]')
    line = refused(*given, "--max-risk", "0.5", code=3)
    assert catalogue("report")("risk-name", kind="inference", column="age") in line
    planned('["age"]')
    alone = leafcover(*given, "--max-risk", "0.5", "--drop", "pay")
    assert alone.exit_code == 0, alone.output


def test_a_unit_is_left_out_of_report_and_control(tmp_path):
    lines = rows_of(rows=120).splitlines()
    wide = ["person," + lines[0], *(f"p{i // 3}," + line for i, line in enumerate(lines[1:]))]
    (tmp_path / "in.csv").write_text("\n".join(wide) + "\n")
    out, report = tmp_path / "out.csv", tmp_path / "r.html"
    roles = ("--target", "class", "--unit", "person")
    made = leafcover("release", tmp_path / "in.csv", "-o", out, *roles, "--hold-out", 0.3, "--report", report)
    assert made.exit_code == 0, made.output
    assert report.exists()
    assert out.read_text().splitlines()[0] == wide[0]
    for more in ((), ("--control", tmp_path / "out.held-out.csv")):
        found = leafcover("measure", tmp_path / "in.csv", out, "--json", "-", *more)
        assert found.exit_code == 0, found.output
        figures = json.loads(found.stdout)
        assert (figures["rows"], figures["control"]) == (84, "rows that were held out")
        assert figures["utility"]["prediction"]["tests"] == 36
