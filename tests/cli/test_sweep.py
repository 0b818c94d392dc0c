"""``leafcover sweep``: its answers, its refusals, its files."""

import json
import shlex

import pytest

from leafcover.cli import sweep as _  # noqa: F401  # adds its command
from leafcover.messages import catalogue
from tests.cli.helpers import leafcover, refused, rows_of
from tests.prose import check_golden
from tests.tuning.made import Counted

say = catalogue("sweep")


@pytest.fixture
def csv(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "t.csv"
    path.write_text(rows_of(rows=80), "utf-8")
    return path


def asked(csv, *more):
    return ("sweep", csv, "--target", "class", "--jobs", 1, "--runs", 1, *more)


def test_a_table_and_a_recommendation_are_printed(csv, monkeypatch):
    Counted(monkeypatch)
    result = leafcover(*asked(csv, "--recipes", "cover,random", "--grid", "k=5,20", "--max-risk", 0.2))
    assert result.exit_code == 0, result.output
    lines = result.stdout.splitlines()
    assert lines[0].split() == ["candidate", "risk", "upper", "of", "members", "agreement", "others", "accuracy"]
    assert lines[1].startswith("→ cover k=20")
    assert lines[2].startswith("★ cover k=5 ")
    assert say("recommended", limit="0.2", name="cover k=20", target="class") in lines
    check_golden("sweep_command.txt", result.stdout.replace(str(csv), "t.csv"))
    assert "--recipe cover --set k=20" in result.stdout


def test_after_the_first_recipe_the_sweep_says_how_long_it_will_take(csv, monkeypatch):
    Counted(monkeypatch)
    given = asked(csv, "--recipes", "cover,random", "--grid", "k=5,20")
    assert "The sweep takes about" not in leafcover(*given).output  # a short one
    monkeypatch.setattr("leafcover.tuning.sweep.LEAST_ESTIMATED", 0.0)
    result = leafcover(*given)
    trials = len(json.loads(leafcover(*given, "--json").stdout)["points"]) + 1
    said = [line for line in result.stderr.splitlines() if line.startswith("The sweep takes about ")]
    figures = {"minutes": 1, "total": trials, "name": "cover k=5", "seconds": 1, "jobs": 1}
    assert said == [say("progress-estimate", **figures)]
    assert "The sweep takes about" not in result.stdout
    assert "The sweep takes about" not in leafcover(*given, "--quiet").output


def test_the_suggested_command_repeats_every_reading_option_and_quotes_for_a_shell(tmp_path, monkeypatch):
    Counted(monkeypatch)
    monkeypatch.chdir(tmp_path)
    lines = [line.split(",") for line in rows_of(rows=80).splitlines()]
    lines[0] = ["age in years", "pay $", "it's job", "class"]
    path = tmp_path / "my table.csv"
    path.write_text("\n".join("|".join([*line, str(i // 2)]) for i, line in enumerate(lines)), "utf-8")
    path.write_text(path.read_text("utf-8").replace("|class|0\n", "|class|house no\n", 1), "utf-8")
    reading = ["--drop", "pay $", "--quasi-identifier", "age in years", "--sensitive", "it's job", "--unit", "house no"]
    reading += [
        "--category",
        "it's job",
        "--missing",
        "it's job=none given,-",
        "--encoding",
        "latin-1",
        "--delimiter",
        "|",
    ]
    asked = ("sweep", "my table.csv", "--target", "class", "--recipes", "cover", "--jobs", 1, "--runs", 1, *reading)
    result = leafcover(*asked, "--max-risk", 0.5)
    assert result.exit_code == 0, result.output
    (command,) = [line for line in result.stdout.splitlines() if "leafcover release" in line]
    words = shlex.split(command)
    assert words[:7] == ["next", "leafcover", "release", "my table.csv", "-o", "OUT", "--target"]
    assert words[8:-4] == reading
    assert words[-4:-1] == ["--recipe", "cover", "--set"]
    made = leafcover("release", *("out.csv" if word == "OUT" else word for word in words[3:]))
    assert made.exit_code == 0, made.output


def test_recipes_by_commas_or_repeated_are_the_same(csv, monkeypatch):
    Counted(monkeypatch)
    one = leafcover(*asked(csv, "--recipes", "cover,random", "--seed", 1, "--json"))
    two = leafcover(*asked(csv, "--recipes", "cover", "--recipes", " random", "--seed", 1, "--json"))
    assert one.stdout == two.stdout
    found = json.loads(one.stdout)
    assert {point["recipe"] for point in found["points"]} == {"cover", "random"}
    assert found["recommended"] is None


def test_quiet_says_nothing_and_the_report_is_written_once(csv, monkeypatch):
    Counted(monkeypatch)
    words = asked(csv, "--quiet", "--report", "map.html", "--recipes", "cover")
    result = leafcover(*words)
    assert (result.exit_code, result.output) == (0, "")
    assert "<svg" in (csv.parent / "map.html").read_text("utf-8")
    assert "--force" in refused(*words)
    assert leafcover(*words, "--force").exit_code == 0


def test_nothing_below_the_limit_ends_with_3_and_still_shows_the_map(csv, monkeypatch):
    Counted(monkeypatch)
    few = ("--recipes", "cover,framework", "--max-risk", 0.001)
    words = asked(csv, *few, "--report", "map.html")
    line = refused(*words, code=3)
    assert "limit of 0.001" in line
    assert line.endswith(say("advice-stronger"))
    assert (csv.parent / "map.html").exists()
    result = leafcover(*asked(csv, *few, "--json"))
    assert (result.exit_code, json.loads(result.stdout)["recommended"]) == (3, None)


def test_stopped_by_hand_it_keeps_its_scores_and_goes_on(csv, monkeypatch):
    words = asked(csv, "--recipes", "cover", "--scores", "s.json")
    Counted(monkeypatch, stop_after=2)
    result = leafcover(*words)
    assert result.exit_code == 130
    assert result.stderr == f"stopped; {say('stopped-saved', file='s.json')}.\n"
    counted = Counted(monkeypatch)
    assert leafcover(*words).exit_code == 0
    assert len(counted.scores) == 6 - 2  # of 80 rows 53 are released, too few for k=100
    Counted(monkeypatch, stop_after=0)
    assert leafcover(*asked(csv)).stderr == f"stopped; {say('stopped-unsaved')}.\n"


def test_groups_larger_than_a_trial_are_not_tried_and_the_table_says_so(csv, monkeypatch):
    Counted(monkeypatch)
    result = leafcover(*asked(csv, "--recipes", "cover", "--grid", "k=5,53,54,1000000", "--max-risk", 0.5))
    assert result.exit_code == 0, result.output
    ways = [line for line in result.stdout.splitlines() if "cover k=" in line[:20]]
    assert [line.rstrip().endswith(say("text-skipped")) for line in ways] == [False, False, True, True]
    reason = say("skipped-group-size", parameter="k", value=1_000_000, rows=53, of=80, sampled="no")
    assert f"warning: {say('warning-skipped', name='cover k=1000000', reason=reason)}" in result.stderr.splitlines()
    line = refused(*asked(csv, "--recipes", "cover", "--grid", "k=54"))
    assert line == "error: " + say("skipped-group-size", parameter="k", value=54, rows=53, of=80, sampled="no")
    line = refused(*asked(csv, "--recipes", "framework", "--set", "min_cell=45", "--rows", 60))
    sampled = say("skipped-group-size", parameter="min_cell", value=45, rows=40, of=60, sampled="yes")
    assert line == f"error: {sampled}"
    assert sampled.endswith("Use more rows.")


def test_nothing_of_use_below_the_limit_ends_with_3_and_says_why(csv, monkeypatch):
    Counted(monkeypatch, majority=0.9)
    line = refused(*asked(csv, "--recipes", "cover", "--grid", "k=20", "--max-risk", 0.2), code=3)
    assert "limit of 0.2" in line
    assert "0.900" in line
    assert line.endswith(say("advice-weaker"))


def test_damaged_scores_are_refused_and_left_as_they_are(csv, monkeypatch):
    Counted(monkeypatch)
    words = asked(csv, "--recipes", "cover", "--grid", "k=20", "--scores", "s.json")
    assert leafcover(*words).exit_code == 0
    whole = json.loads((csv.parent / "s.json").read_text("utf-8"))
    for name, figure, value, said in (
        ("agreement", "value", -5, "agreement is -5"),
        ("agreement", "low", 0.99, "agreement is"),
        ("record_linkage", "high", 7, "record_linkage is"),
        ("nearest_record", "worst", 1.5, "nearest_record is"),
        ("accuracy", "value", float("inf"), "accuracy is inf"),
    ):
        held = json.loads(json.dumps(whole))
        held["scores"][1]["score"][name][figure] = value
        text = json.dumps(held)
        (csv.parent / "s.json").write_text(text, "utf-8")
        line = refused(*words)
        assert f"The scores in 's.json' are damaged: {said}" in line
        assert "Delete the file" in line
        assert (csv.parent / "s.json").read_text("utf-8") == text


def test_recipes_that_cannot_run_are_named(csv, monkeypatch):
    Counted(monkeypatch)
    result = leafcover(*asked(csv, "--drop", "job", "--unchanged", "class"))
    assert result.exit_code == 0
    assert "warning: detective was skipped." in result.stderr


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (["--recipes", "covr"], "Did you mean 'cover'?"),
        (["--grid", "k="], "--grid must be NAME=VALUE,VALUE such as k=5,20,100"),
        (["--grid", "kk=5"], "There is no parameter 'kk'"),
        (["--set", "cousins"], "such as --set cousins=2"),
        (["--set", "k=5", "--set", "k=6"], "given twice"),
        (["--max-risk", "1.1"], "--max-risk must be a share from 0 to 1"),
        (["--runs", "0"], "--runs must be"),
        (["--jobs", "0"], "--jobs must be"),
        (["--target", "clas"], "Did you mean 'class'?"),
        (["--target", "pay"], "--bins"),
        (["--quasi-identifier", "nobody"], "There is no column 'nobody'"),
        (["--report", "map.pdf"], "must end in .html"),
        (["--report", "nowhere/map.html"], "does not exist"),
        (["--scores", "t.csv"], "would be both the table and the scores"),
        (["--report", "a.html", "--scores", "a.html"], "would be both the report and the scores"),
    ],
)
def test_mistakes_end_with_one_line(csv, more, words):
    assert words in refused("sweep", csv, *(() if "--target" in more else ("--target", "class")), *more)


def test_a_missing_target_is_a_matter_of_usage(csv):
    result = leafcover("sweep", csv)
    assert result.exit_code == 2
    assert "--target" in result.output


def test_scores_of_another_table_are_refused(csv, monkeypatch):
    Counted(monkeypatch)
    words = asked(csv, "--recipes", "cover", "--scores", "s.json")
    assert leafcover(*words).exit_code == 0
    csv.write_text(rows_of(seed=2, rows=80), "utf-8")
    assert "belong to another table" in refused(*words)
