"""`leafcover tree` through its JSON, as a script of somebody else would use it."""

import csv
import gzip
import json
from pathlib import Path

import pytest

from tests.cli.helpers import leafcover, refused, rows_of
from tests.data import table_path

# C4.5 Release 8: size and errors before pruning; size, errors and estimate (%) after; test errors before and after.
GOLDEN = {
    "wbc, first 349 rows": ("wbc", "class", 349, ["sample_code_number"], (29, 9), (25, 10, 7.9)),
    "wbc": ("wbc", "class", None, ["sample_code_number"], (45, 8), (31, 11, 4.7)),
    "wine": ("wine", "class", None, [], (9, 2), (9, 2, 5.1)),
    "cps1985": ("cps1985", "union", None, [], (128, 45), (30, 72, 19.0)),
    "german_credit": ("german_credit", "class", None, [], (441, 60), (135, 145, 25.0)),
    "credit_approval": ("credit_approval", "class", None, [], (132, 35), (41, 64, 13.7)),
    "pima_diabetes": ("pima_diabetes", "class", None, [], (43, 120), (43, 120, 20.9)),
    "nursery": ("nursery", "class", None, [], (944, 65), (511, 242, 5.5)),
}
C45 = {
    "golf": ((8, 0, None), (8, 0, None, 38.5)),
    "labor-neg": ((11, 1, 4), (7, 1, 3, 17.4)),
    "vote": ((25, 8, 7), (7, 13, 4, 6.9)),
    "crx": ((90, 19, 34), (58, 24, 34, 11.9)),
}


def lines_of(path):
    data = path.read_bytes()
    return (gzip.decompress(data) if path.suffix == ".gz" else data).decode().splitlines()


def tree_json(*words):
    result = leafcover("tree", *words, "--format", "json")
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


@pytest.mark.parametrize("name", GOLDEN)
def test_the_figures_of_release_8(name, tmp_path):
    data, target, rows, drop, before, after = GOLDEN[name]
    path = table_path(data)
    if rows is not None:
        cut = tmp_path / "cut.csv"
        cut.write_text("\n".join(lines_of(path)[: rows + 1]) + "\n")
        path = cut
    found = tree_json(path, "--target", target, *(word for d in drop for word in ("--drop", d)))
    assert (found["unpruned"]["size"], found["unpruned"]["train_errors"]) == before
    assert (found["size"], found["train_errors"]) == after[:2]
    assert round(100 * found["estimated_error"], 1) == after[2]
    bare = tree_json(path, "--target", target, "--no-prune", *(word for d in drop for word in ("--drop", d)))
    assert (bare["size"], bare["train_errors"]) == before
    assert "unpruned" not in bare


def test_adult_with_its_test_rows():
    found = tree_json(table_path("adult"), "--target", "income", "--test", table_path("adult_test"))
    assert (found["size"], found["train_errors"], found["test_errors"]) == (653, 3976, 2285)
    assert round(100 * found["estimated_error"], 1) == 13.9
    assert found["unpruned"]["size"] == pytest.approx(7744, rel=0.01)
    assert found["unpruned"]["train_errors"] == pytest.approx(2937, rel=0.01)
    assert found["unpruned"]["test_errors"] == pytest.approx(2549, rel=0.01)


@pytest.mark.parametrize("name", C45)
def test_c45s_own_sets(name):
    before, after = C45[name]
    path = table_path(f"c45/{name}.data")
    test = Path(path).with_suffix(".test")
    words = ["--test", test] if before[2] is not None else []
    found = tree_json(path, "--target", "class", *words)
    assert (found["unpruned"]["size"], found["unpruned"]["train_errors"]) == before[:2]
    assert (found["size"], found["train_errors"], found.get("test_errors")) == after[:3]
    assert round(100 * found["estimated_error"], 1) == after[3]
    if before[2] is not None:
        assert tree_json(path, "--target", "class", *words, "--no-prune")["test_errors"] == before[2]


MISSING = {"", "?", "NA", "NaN"}


def leaves_reached(node, row, path=()):
    """The leaves a row reaches, by the text of its cells alone."""
    if "class" in node:
        return [path]
    text = row[node["attribute"]]
    if text.strip() in MISSING:
        branches = [i for i, child in enumerate(node["children"]) if child["weight"] > 0]
    elif "cut" in node:
        branches = [0 if float(text) <= node["cut"] else 1]
    else:
        branches = [node["values"].index(text)]
    return [leaf for b in branches for leaf in leaves_reached(node["children"][b], row, (*path, b))]


def weighed(node):
    """The same tree with the weight of every node, which is looked up for each missing value."""
    children = [weighed(child) for child in node.get("children", ())]
    return {**node, "children": children, "weight": node.get("count", 0) + sum(c["weight"] for c in children)}


@pytest.mark.parametrize(
    ("name", "target", "drop"),
    [
        ("wbc", "class", "sample_code_number"),
        ("german_credit", "class", None),
        ("cps1985", "union", None),
        ("credit_approval", "class", None),
        ("laeken_eusilc", "pl030", "rb030"),
    ],
)
def test_framework_paper_keeps_every_leaf_of_that_tree(name, target, drop, tmp_path):
    path, out = tmp_path / "in.csv", tmp_path / "out.csv"
    head, *rows = table_path(name).read_text().splitlines(keepends=True)
    path.write_text(head + "".join(rows[:: 1 + len(rows) // 5_000]))  # of a large table every third row
    dropped = ["--drop", drop] if drop else []
    done = leafcover(
        "release", path, "-o", out, "--target", target, "--recipe", "framework-paper", "--keep-order", *dropped
    )
    assert done.exit_code == 0, done.output
    root = weighed(tree_json(path, "--target", target, *dropped)["root"])
    counts = [{}, {}]
    with path.open(newline="") as one, out.open(newline="") as two:
        for before, after in zip(csv.DictReader(one), csv.DictReader(two), strict=True):
            leaves = tuple(leaves_reached(root, before))
            assert leaves == tuple(leaves_reached(root, after))
            for row, count in ((before, counts[0]), (after, counts[1])):
                count[leaves, row[target]] = count.get((leaves, row[target]), 0) + 1
            for column in after:
                assert (before[column].strip() in MISSING) == (after[column].strip() in MISSING)
    assert counts[0] == counts[1]


def test_every_way_to_show_a_tree(tmp_path):
    path = tmp_path / "in.csv"
    path.write_text(rows_of())
    assert "age <= " in leafcover("tree", path, "--target", "class").stdout
    assert leafcover("tree", path, "--target", "class", "--format", "rules").stdout.startswith("if ")
    picture = leafcover("tree", path, "--target", "class", "--format", "svg").stdout
    assert picture.lstrip().startswith("<svg")
    tested = leafcover("tree", path, "--target", "class", "--test", path)
    assert "errors 0 of 60" in tested.stdout


def test_parameters_out_of_range_are_refused(tmp_path):
    path = tmp_path / "in.csv"
    path.write_text(rows_of())
    refused("tree", path, "--target", "class", "--min-records", "0")
    refused("tree", path, "--target", "class", "--confidence", "0")
    refused("tree", path, "--target", "pay")
    refused("tree", path, "--target", "class", "--test", tmp_path / "no.csv")
    assert leafcover("tree", path, "--target", "class", "--format", "pdf").exit_code == 2


def test_a_very_deep_tree_can_be_printed_as_json(tmp_path):
    path = tmp_path / "deep.csv"
    rows = [f"{i},{'ab'[(i // 2) % 2]}" for i in range(4000)]
    path.write_text("x,class\n" + "\n".join(rows) + "\n")
    found = leafcover("tree", path, "--target", "class", "--format", "json", "--no-prune", "--min-records", "1")
    assert found.exit_code == 0, found.exception
