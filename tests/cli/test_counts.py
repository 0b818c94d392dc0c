"""The command for tables of counts parses, calls one function and prints; its mistakes are one line."""

import json

import pytest

from tests.cli.helpers import leafcover, refused, rows_of


@pytest.fixture
def good(tmp_path):
    path = tmp_path / "in.csv"
    path.write_text(rows_of())
    return path


def test_counts_are_written_and_verified(good, tmp_path):
    out, key = tmp_path / "c.csv", tmp_path / "k.key"
    made = leafcover("counts", good, "--by", "job x class", "-o", out, "--key-file", key, "--sensitive", "class")
    assert made.exit_code == 0, made.output
    assert str(out) in made.stdout
    assert "c.csv.internal.json" in made.stdout
    assert {path.name for path in tmp_path.iterdir()} == {
        *("in.csv", "k.key", "c.csv", "c.csv.manifest.json", "c.csv.internal.json"),
    }
    assert leafcover("verify", out, "--original", good, "--key-file", key).exit_code == 0
    # The same key and table: the same counts, alone or with another table.
    words = ("--by", "class", "--by", "job", "-o", tmp_path / "d.csv", "--key-file", key)
    printed = json.loads(leafcover("counts", good, *words, "--totals", "none", "--json").stdout)
    assert printed["figures"]["attacks"]["here"]["tries"] == 60
    alone = {tuple(line.rsplit(",", 1)) for line in (tmp_path / "d.csv").read_text().splitlines()[1:]}
    both = {tuple(line.rsplit(",", 1)) for line in out.read_text().splitlines()[1:]}
    assert {(f"{job},{label}", count) for label, job, count in (row_of(line) for line in alone)} <= both


def row_of(line):
    """Class, job and count of a row, whose columns are in the order of the options."""
    labels, count = line
    return (*labels.split(","), count)


def test_warnings_are_on_the_error_output(good, tmp_path):
    words = ("--by", "job x class", "-o", tmp_path / "c.csv", "--cell-keys", "summed", "--zeros", 0, "--seed", 1)
    made = leafcover("counts", good, *words)
    assert made.stderr.count("warning: ") == 3
    assert "warning: " not in made.stdout


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (("--by", "jobs"), "Did you mean 'job'?"),
        (("--by", "age"), "'age'"),
        (("--by", "job", "--max-noise", -1), "--max-noise must be"),
        (("--by", "job", "--max-noise", 2, "--variance", 9), "--variance must be"),
        (("--by", "job", "--zeros", 2), "--zeros must be"),
        (("--by", "job", "--minimum", 0), "--minimum must be"),
        (("--by", "job", "--totals", "all"), "--totals must be"),
        (("--by", "job", "--cell-keys", "none"), "--cell-keys must be"),
        (("--by", "job", "--rare", "hide"), "--rare must be"),
        (("--by", "job", "--impossible", "job"), "--impossible must be"),
        (("--by", "job", "--unit", "no"), "'no'"),
    ],
)
def test_a_mistake_is_one_line_and_nothing_is_written(good, tmp_path, words, named):
    assert named in refused("counts", good, *words, "-o", tmp_path / "c.csv")
    assert [path.name for path in tmp_path.iterdir()] == ["in.csv"]


def test_an_output_is_not_overwritten_and_counts_are_not_measured(good, tmp_path):
    out = tmp_path / "c.csv"
    assert leafcover("counts", good, "--by", "job", "-o", out, "--quiet").exit_code == 0
    assert "--force" in refused("counts", good, "--by", "job", "-o", out)
    assert "table of counts" in refused("measure", good, out, "--target", "class")
