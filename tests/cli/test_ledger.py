"""`leafcover release --project`: people who were released before are refused, and --again says what it gains."""

import json

import pytest

from tests.cli.helpers import leafcover, refused, rows_of


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "in.csv").write_text(rows_of(rows=300))
    (tmp_path / "project").mkdir()
    return tmp_path


def words(folder, out, *more):
    return ("release", folder / "in.csv", "-o", folder / out, "--target", "class", "--recipe", "cells", *more)


def released(folder, out, *more):
    result = leafcover(*words(folder, out, "--project", folder / "project", *more))
    assert result.exit_code == 0, result.output
    return result.stdout


def test_a_second_release_is_refused_with_code_3_and_goes_on_with_again(folder):
    released(folder, "a.csv")
    line = refused(*words(folder, "b.csv", "--project", folder / "project"), code=3)
    assert "release 1 ('a.csv'): 100.0% of these rows" in line
    assert "--again" in line
    assert not list(folder.glob("b.csv*"))
    assert "71%" in released(folder, "b.csv", "--again")
    assert {path.name for path in (folder / "project").rglob("*")} == {".leafcover", "ledger.json", "ledger.key"}


def test_an_extract_with_other_columns_is_found(folder):
    released(folder, "a.csv", "--drop", "job")
    refused(*words(folder, "b.csv", "--project", folder / "project"), code=3)
    refused(*words(folder, "c.csv", "--project", folder / "project", "--drop", "age"), code=3)


def test_json_has_what_the_ledger_says_and_the_manifest_does_not(folder):
    released(folder, "a.csv")
    found = json.loads(released(folder, "b.csv", "--again", "--json"))["ledger"]
    assert found["kept"] is True
    assert (found["compared"], found["not_compared"], found["same_as"]) == (1, [], None)
    (overlap,) = found["overlaps"]
    assert overlap["number"] == 1
    assert overlap["share"] == overlap["share_of_earlier"] == {"value": 1.0, "low": 1.0, "high": 1.0}
    assert found["averaging"] == {"releases": 2, "error": pytest.approx(0.5**0.5), "bits_per_person": None}
    assert "ledger" not in (folder / "b.csv.manifest.json").read_text()
    without = leafcover(*words(folder, "c.csv", "--json"))
    assert json.loads(without.stdout)["ledger"]["kept"] is False


def test_the_same_key_and_plan_repeat_a_release(folder):
    released(folder, "a.csv", "--key-file", folder / "key")
    found = json.loads(released(folder, "b.csv", "--key-file", folder / "key", "--json"))["ledger"]
    assert found["same_as"] == 1
    assert (folder / "a.csv").read_bytes() == (folder / "b.csv").read_bytes()
    refused(
        *words(folder, "c.csv", "--key-file", folder / "key", "--set", "k=9", "--project", folder / "project"), code=3
    )


def test_without_a_project_one_line_says_so_and_quiet_says_nothing(folder):
    assert "there is no ledger" in leafcover(*words(folder, "a.csv")).stdout
    quiet = leafcover(*words(folder, "b.csv", "--quiet"))
    assert (quiet.stdout, quiet.stderr) == ("", "")


def test_mistakes_are_one_line(folder):
    assert "--project" in refused(*words(folder, "a.csv", "--again"))
    assert "no project folder" in refused(*words(folder, "a.csv", "--project", folder / "nowhere"))
    released(folder, "a.csv")
    assert "private folder" in refused(*words(folder, "project/.leafcover/out.csv"))
    (folder / "project" / ".leafcover" / "ledger.json").write_text("spoilt")
    assert "damaged" in refused(*words(folder, "b.csv", "--project", folder / "project"))
