"""`leafcover forest`, as a script of somebody else would use it."""

import json

import pytest

from tests.cli.helpers import leafcover, refused, rows_of
from tests.data import table_path


@pytest.fixture
def path(tmp_path):
    found = tmp_path / "in.csv"
    found.write_text(rows_of(rows=120))
    return found


def told(*words):
    result = leafcover("forest", *words, "--format", "json")
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def test_breast_cancer_and_its_sixty_trees():
    found = told(table_path("wbc"), "--target", "class", "--drop", "sample_code_number")
    assert len(found["trees"]) == 60
    assert [tree["level"] for tree in found["trees"]].count(0) == len(found["roots"]) == 19
    assert found["trees"][0]["root"]["attribute"] == "uniformity_of_cell_size"
    assert found["figures"]["rows"] == 699
    assert found["figures"]["rows_grown_from"] == 683  # 16 rows lack bare_nuclei
    assert found["figures"]["train_errors"] < found["figures"]["first_tree_train_errors"]


def test_every_way_to_show_a_forest(path):
    words = ("forest", path, "--target", "class")
    plain = leafcover(*words, "--test", path)
    assert plain.exit_code == 0
    assert "age <= " in plain.stdout
    assert f"on {path}: errors of the vote 0 of 120, of the first tree 0" in plain.stdout
    assert " of 1: if " in leafcover(*words, "--format", "rules", "--trees", "1").stdout
    assert len(told(path, "--target", "class", "--trees", "3", "--goodness", "1")["trees"]) == 3
    tested = told(path, "--target", "class", "--test", path)
    assert tested["figures"]["test_errors"] == tested["figures"]["train_errors"] == 0
    assert all("test_errors" in tree for tree in tested["trees"])
    assert leafcover(*words, "--format", "svg").exit_code == 2


def test_a_number_as_target_and_columns_that_are_not_asked(path):
    found = told(path, "--target", "pay", "--bins", "3", "--drop", "job", "--weight", "age")
    assert set(found["attributes"]) <= {"class"}
    assert len(found["classes"]) == 3
    assert "--test" in refused("forest", path, "--target", "pay", "--bins", "3", "--test", path)


def test_incomplete_rows(path, tmp_path):
    gaps = tmp_path / "gaps.csv"
    lines = path.read_text().splitlines()
    gaps.write_text("\n".join([lines[0], *("," + line.partition(",")[2] for line in lines[1:41]), *lines[41:]]) + "\n")
    assert told(gaps, "--target", "class")["figures"]["rows_grown_from"] == 80
    assert told(gaps, "--target", "class", "--incomplete", "share")["figures"]["rows_grown_from"] == 120


@pytest.mark.parametrize(
    "words",
    [
        ["--trees", "0"],
        ["--goodness", "-1"],
        ["--goodness", "nan"],
        ["--separation", "2"],
        ["--min-records", "0"],
        ["--confidence", "0"],
        ["--bins", "3"],
        ["--test", "no.csv"],
        ["--quasi-identifier", "nobody"],
    ],
)
def test_parameters_out_of_range_are_refused(path, words):
    refused("forest", path, "--target", "class", *words)


def test_tables_that_cannot_be_are_refused(path, tmp_path):
    refused("forest", path, "--target", "nobody")
    refused("forest", path, "--target", "pay")
    refused("forest", tmp_path / "no.csv", "--target", "class")
    other = tmp_path / "other.csv"
    other.write_text("pay,class\n1.00,yes\n2.00,no\n")
    refused("forest", path, "--target", "class", "--test", other)
    whole = tmp_path / "gaps.csv"
    whole.write_text("a,b,class\n" + "1,,yes\n,2,no\n" * 20)
    refused("forest", whole, "--target", "class", "--incomplete", "drop")
    assert leafcover("forest", whole, "--target", "class").exit_code == 0


def test_an_identifier_is_warned_of(tmp_path):
    path = tmp_path / "in.csv"
    lines = rows_of(rows=60).splitlines()
    path.write_text("\n".join(f"{i or 'id'},{line}" for i, line in enumerate(lines)) + "\n")
    assert "warning: " in leafcover("forest", path, "--target", "class").stderr
    assert leafcover("forest", path, "--target", "class", "--quiet").stderr == ""
