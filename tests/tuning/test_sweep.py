"""A sweep as a whole: the same in any number of processes, never doing anything twice, silent about values."""

import json
import os
from dataclasses import replace
from pathlib import Path

import jsonschema
import numpy as np
import pytest

from leafcover.errors import LeafcoverError, NameUnknown, TableError, ValueOutOfRange
from leafcover.keyed_random import Draws, Key
from leafcover.metrics.pair import pair_of
from leafcover.metrics.suite import plain, schema
from leafcover.metrics.utility.prediction import agreement
from leafcover.tuning.report import report
from leafcover.tuning.scoring import Task, majority_answer, other_targets, released_count, released_rows
from leafcover.tuning.sweep import Sweep, read_scores, score_trials, sweep
from tests.metrics.pairs import awkward
from tests.tables import category, mixed, number, table
from tests.tuning.made import Counted

SECRET_LEVEL, SECRET_NUMBER = "Zyx-unheard-of", 98765.25


def planted(rows=300):
    original = mixed(4, rows=rows, missing=0.05)
    jobs = [None if c < 0 else original["job"].levels[c] for c in original["job"].values]
    pay = original["pay"].values.copy()
    jobs[17], pay[23] = SECRET_LEVEL, SECRET_NUMBER
    return original.replace([category("job", jobs), number("pay", pay, decimals=2)])


@pytest.fixture(scope="module")
def alone(tmp_path_factory):
    """A real sweep in this process, and its file of scores."""
    file = tmp_path_factory.mktemp("sweep") / "scores.json"
    return sweep(planted(), **ASKED, scores=file), file


ASKED = {"target": "class", "recipes": ["cover", "random"], "grid": {"k": [10], "spread": [0.1]}, "runs": 2, "seed": 1}


def test_two_processes_find_what_one_finds(alone):
    assert plain(sweep(planted(), **ASKED, jobs=2)) == plain(alone[0])


def test_a_real_sweep_puts_cover_on_the_safe_side(alone):
    found = alone[0]
    safe, open_ = found.points
    assert [safe.name, open_.name] == ["cover k=10", "random spread=0.1"]
    assert safe.on_front
    assert safe.record_linkage is None  # no released row comes from one original row
    assert open_.risk.kind == "linkage"
    assert safe.risk.risk.high < open_.risk.risk.low
    assert safe.deciding.bound < open_.deciding.bound
    assert (found.released_rows, found.rows, found.table_rows, found.runs) == (200, 300, 300, 2)
    for point in found.points:
        assert all(
            0 <= one.low <= one.value <= one.high <= 1
            for one in (point.agreement, point.other_agreement, point.nearest_record)
            if one is not None
        )
        inferred = {one.column for one in point.risks if one.kind == "inference"}
        assert inferred == set(planted().names)  # every column
        assert point.membership is not None
    assert 0.5 < found.baselines.floor.value <= 1
    assert found.baselines.chance.value <= found.baselines.majority.value <= 1


def test_no_value_of_the_table_stands_in_the_scores(alone):
    text = alone[1].read_text("utf-8")
    for secret in (SECRET_LEVEL, "Zyx", "98765", *mixed(4)["job"].levels):
        assert secret not in text
    assert "cover" in text
    assert oct(alone[1].stat().st_mode & 0o777) == "0o600"


def test_the_plain_form_keeps_to_its_schema(alone):
    jsonschema.validate(json.loads(json.dumps(plain(alone[0]))), schema(Sweep))


def test_scores_read_back_are_the_scores_written(alone):
    again = sweep(planted(), **ASKED, scores=alone[1])
    assert again == alone[0]


def test_what_is_done_is_not_done_again(monkeypatch, tmp_path):
    counted = Counted(monkeypatch)
    file = tmp_path / "s.json"
    asked = {"target": "class", "recipes": ["cover"], "grid": {"k": [5, 10]}, "scores": file}
    first = sweep(mixed(1), **asked, runs=2)
    assert counted.scores == [("cover k=5", 0), ("cover k=10", 0), ("cover k=5", 1), ("cover k=10", 1)]
    assert counted.floors == [0, 1]
    assert sweep(mixed(1), **asked, runs=2) == first
    assert len(counted.scores) == 4
    sweep(mixed(1), **asked, runs=3)
    assert counted.scores[4:] == [("cover k=5", 2), ("cover k=10", 2)]
    sweep(mixed(1), **{**asked, "grid": {"k": [10, 20]}}, runs=1)
    assert counted.scores[6:] == [("cover k=20", 0)]
    assert counted.floors == [0, 1, 2]


def test_an_interrupted_sweep_goes_on_and_ends_as_if_it_had_not_been(monkeypatch, tmp_path):
    asked = {"target": "class", "recipes": ["cover", "random"], "runs": 2, "seed": 3}
    counted = Counted(monkeypatch)
    whole = sweep(mixed(1), **asked)
    counted = Counted(monkeypatch, stop_after=7)
    file = tmp_path / "s.json"
    with pytest.raises(KeyboardInterrupt):
        sweep(mixed(1), **asked, scores=file)
    assert len([1 for place in read_scores(file).scores if place[0] is not None]) == 7
    counted = Counted(monkeypatch)
    assert sweep(mixed(1), **asked, scores=file) == whole
    assert len(counted.scores) == 2 * (7 + 4) - 7


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"table": mixed(2)}, "another table"),
        ({"table": replace(mixed(1), roles={"job": "sensitive"})}, "another choice of roles"),
        ({"target": "town"}, "another target"),
        ({"rows": 200}, "another choice of rows="),
        ({"seed": 9}, "another seed"),
    ],
)
def test_scores_of_another_sweep_are_refused(monkeypatch, tmp_path, change, words):
    Counted(monkeypatch)
    asked = {"table": mixed(1), "target": "class", "recipes": ["cover"], "runs": 1, "scores": tmp_path / "s.json"}
    sweep(**asked)
    before = asked["scores"].read_bytes()
    with pytest.raises(LeafcoverError, match=words):
        sweep(**{**asked, **change})
    assert asked["scores"].read_bytes() == before


def test_scores_of_an_earlier_format_are_refused(monkeypatch, tmp_path):
    Counted(monkeypatch)
    file = tmp_path / "s.json"
    asked = {"target": "class", "recipes": ["cover"], "runs": 1, "scores": file}
    sweep(mixed(1), **asked)
    file.write_text(file.read_text("utf-8").replace('"leafcover_scores": 4', '"leafcover_scores": 3'), "utf-8")
    with pytest.raises(TableError, match="made by an earlier Leafcover"):
        sweep(mixed(1), **asked)


def test_always_giving_the_commonest_answer_by_hand():
    # The class says whether x is 1. Of the rows held out 7 in 10 have x = 1, so the tree answers 7 in 10 alike; two who
    # guess by those shares agree on 0.7² + 0.3² = 0.58.
    def rows(ones, of):
        return [1.0 if i < ones else 0.0 for i in range(of)]

    learned, held = rows(50, 100), rows(35, 50)
    one, other = (table(number("x", x), category("class", ["yes" if v else "no" for v in x])) for x in (learned, held))
    pair = pair_of(one, one, np.arange(100), target="class", control=other)
    assert majority_answer(pair, bins=4).value == pytest.approx(0.7)
    assert agreement([pair], targets=["class"], floors=0).target.chance.value == pytest.approx(0.58)


def test_scores_of_another_version_are_refused(monkeypatch, tmp_path):
    Counted(monkeypatch)
    file = tmp_path / "s.json"
    asked = {"target": "class", "recipes": ["cover"], "runs": 1, "scores": file}
    sweep(mixed(1), **asked)
    file.write_text(file.read_text("utf-8").replace('"version": "', '"version": "9'), "utf-8")
    with pytest.raises(TableError, match="made by Leafcover 9"):
        sweep(mixed(1), **asked)


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "{}", '{"leafcover_scores": 3}', '{"leafcover_scores": 4}', "\x00\xff"]
)
def test_a_file_that_holds_no_scores_is_refused(tmp_path, text):
    file = tmp_path / "s.json"
    file.write_bytes(text.encode("latin-1"))
    with pytest.raises(TableError, match=r"scores.*Choose another file"):
        sweep(mixed(1), target="class", scores=file)


def test_a_limit_gives_a_recommendation_and_none_gives_none(monkeypatch):
    Counted(monkeypatch)
    asked = {"target": "class", "recipes": ["cells"], "runs": 1, "seed": 1}
    assert sweep(mixed(1), **asked).recommended is None
    assert sweep(mixed(1), **asked, max_risk=0.2).recommended.name == "cells k=10"  # 0.1, up to 0.174
    assert sweep(mixed(1), **asked, max_risk=0.01).recommended is None


def test_every_row_is_held_out_once_before_any_is_twice():
    original = mixed(1, rows=100)
    task = Task(original, "class", (), None, Draws(Key.from_seed(1).secret))
    held = [np.setdiff1d(np.arange(100), released_rows(task, run)) for run in range(6)]
    for first in (0, 3):
        assert np.array_equal(np.sort(np.concatenate(held[first : first + 3])), np.arange(100))
    assert not np.array_equal(held[0], held[3])
    assert min(100 - len(one) for one in held) == released_count(original) == 66


def test_other_targets_are_few_and_tell_something():
    rows = 60
    original = table(
        *(number(f"n{i}", range(rows)) for i in range(8)),
        number("constant", [1] * rows),
        category("name", [f"person {i}" for i in range(rows)]),
        number("weight", range(rows)),
        category("secret", ["a", "b"] * (rows // 2)),
        category("class", ["x", "y"] * (rows // 2)),
        weight="weight",
        secret="sensitive",
    )
    assert other_targets(original, "class") == ("secret", "n0", "n4", "n7")
    assert other_targets(original.select(["class"]), "class") == ()


@pytest.mark.parametrize("name", ["constant columns", "missing everywhere", "negative numbers", "categories alone"])
def test_awkward_tables_are_swept(name):
    found = sweep(
        awkward()[name], target="class", recipes=["cover", "random"], grid={"k": [5], "spread": [0.3]}, runs=1
    )
    assert len(found.points) == 2
    assert all(-1 <= point.risk.risk.value <= 1 and 0 <= point.agreement.value <= 1 for point in found.points)
    assert report(found)


QUASI = {"age": "quasi-identifier", "job": "quasi-identifier"}


def test_roles_are_respected():
    house = number("house", np.repeat(np.arange(50), 3))
    original = table(*mixed(1, rows=150).columns, house, house="unit", town="sensitive", **QUASI)
    found = sweep(original, target="class", recipes=["cover"], grid={"k": [5]}, runs=1)
    assert found.quasi_identifiers == ("age", "job")
    assert "house" not in found.other_targets
    inferred = {one.column for one in found.points[0].risks if one.kind == "inference"}
    assert inferred == {*original.names} - {"house"}


def test_a_candidate_that_the_rows_refuse_is_left_out_and_the_rest_stays(monkeypatch):
    counted = Counted(monkeypatch)
    real = counted.score

    def score(task, candidate, run):
        if candidate.name == "cover k=10" and run == 1:
            raise TableError("No.")
        return real(task, candidate, run)

    monkeypatch.setattr("leafcover.tuning.sweep.score", score)
    found = sweep(mixed(1), target="class", recipes=["cover"], grid={"k": [5, 10]}, runs=2)
    assert [one.name for one in found.points] == ["cover k=5"]
    assert [(one.name, one.reason) for one in found.skipped] == [("cover k=10", "No.")]
    with pytest.raises(LeafcoverError, match=r"^No\.$"):
        sweep(mixed(1), target="class", recipes=["cover"], grid={"k": [10]}, runs=2)


@pytest.mark.parametrize(
    ("asked", "error", "words"),
    [
        ({"target": "clas"}, NameUnknown, "Did you mean 'class'"),
        ({"target": "pay"}, TableError, "bins=N"),
        ({"max_risk": 1.5}, ValueOutOfRange, "^max_risk must"),
        ({"max_risk": float("nan")}, ValueOutOfRange, "^max_risk must"),
        ({"runs": 0}, ValueOutOfRange, "^runs must"),
        ({"rows": 3}, ValueOutOfRange, "^rows must"),
        ({"jobs": 0}, ValueOutOfRange, "^jobs must"),
        ({"runs": 1.5}, ValueOutOfRange, "^runs must"),
        ({"max_risk": "much"}, ValueOutOfRange, "^max_risk must"),
        ({"grid": {"k": 5}}, ValueOutOfRange, "a list of at least one value"),
        ({"grid": {"k": "5"}}, ValueOutOfRange, "a list of at least one value"),
        ({"target": 2}, ValueOutOfRange, "as text, such as '2'"),
        ({"table": "in.csv"}, TableError, "'in.csv'"),
        ({"table": mixed(1, rows=20)}, TableError, "20 rows"),
        ({"table": table(number("x", [1, 2] * 30), category("class", ["a"] * 60))}, TableError, "single value"),
        (
            {"table": table(category("who", [f"person {i}" for i in range(60)]), category("class", ["a", "b"] * 30))},
            TableError,
            "who",
        ),
    ],
)
def test_what_cannot_be_swept_is_refused(asked, error, words):
    with pytest.raises(error, match=words):
        sweep(**{"table": mixed(1, rows=90), "target": "class", **asked})


def test_values_beyond_1e300_are_swept_without_a_warning():  # which would be an error here
    x = [(1e300, -1e300, 3.5e299, 1.0, 0.0)[i % 5] for i in range(90)]
    odd = [(1.7e308, -1.7e308, 1e-320, 5.0)[i % 4] for i in range(90)]
    original = table(
        number("x", x, decimals=None),
        number("odd", odd, decimals=None),
        category("kind", list("pqq") * 30),
        category("class", ["a", "b"] * 45),
    )
    found = sweep(original, target="class", grid={"k": [5], "spread": [0.1], "siblings": [0.1]}, runs=1)
    assert {one.recipe for one in found.points} >= {"cover", "framework", "framework-paper", "random"}
    assert all(-1 <= one.risk.risk.value <= 1 for one in found.points)


def test_a_number_in_bins_is_a_target_for_recipes_with_and_without_them(monkeypatch):
    Counted(monkeypatch)
    found = sweep(mixed(1), target="pay", bins=3, recipes=["cover", "random"], grid={"k": [5], "spread": [0.1]}, runs=1)
    assert [(one.name, dict(one.settings)) for one in found.points] == [
        ("cover k=5", {"k": 5, "bins": 3}),
        ("random spread=0.1", {"spread": 0.1}),
    ]


class Deadly:
    """Ends the process that unpickles it."""

    def __reduce__(self):
        return os._exit, (3,)


def test_a_process_that_dies_ends_the_sweep_with_one_line():
    task = Task(mixed(1, rows=60), "class", (), None, Draws(bytes(32)))
    with pytest.raises(LeafcoverError, match="worker process"):
        list(score_trials(task, [(Deadly(), 0), (Deadly(), 1)], jobs=2))


def test_without_a_file_nothing_is_written(monkeypatch, tmp_path):
    Counted(monkeypatch)
    monkeypatch.chdir(tmp_path)
    sweep(mixed(1), target="class", recipes=["cover"], runs=1)
    assert not list(Path().iterdir())
