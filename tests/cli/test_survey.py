"""``leafcover survey``: a survey is written, designed, read and exported; every mistake ends with one line."""

import json
import os
import stat

import numpy as np
import pytest

from leafcover.survey.client import Client, number_of, survey_secret
from leafcover.survey.questionnaire import read_survey
from leafcover.survey.results import export, read_answers
from tests.cli.helpers import leafcover, refused
from tests.survey.kept import kept
from tests.survey.people import from_codes, people, reported, texts
from tests.survey.surveys import HABITS, habits


def said(*words):
    result = leafcover("survey", *words)
    assert result.exit_code == 0, (result.output, result.exception)
    return result.stdout


@pytest.mark.parametrize("words", [(), ("--one-coin",)])
def test_a_new_survey_works_and_names_every_key(tmp_path, words):
    path = tmp_path / "mine.toml"
    shown = said("new", path, *words)
    assert "leafcover survey design" in shown
    assert "leafcover survey serve" in shown
    survey = read_survey(path)
    text = path.read_text()
    assert "leafcover survey tokens mine.toml" in text
    for key in type(survey).model_fields:
        if words or key != "coins":
            assert f"{key} =" in text or f"[{key}]" in text or f"[[{key}]]" in text
    if not words:
        ways = {question.mechanism_name for question in survey.questions}
        assert ways == {"warner", "k-ary", "unrelated", "open"}
        for key in ("name", "text", "help", "choices", "between", "mechanism", "theta", "epsilon", "asked", "alpha"):
            assert f"\n{key} = " in text
    for line in ("tokens", "offline", "keep_day", "max_epsilon"):  # what is only suggested works, too
        text = text.replace(f"# {line} =", f"{line} =")
    path.write_text(text)
    assert read_survey(path).tokens
    said("design", path)


def test_a_new_survey_overwrites_nothing(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text("mine")
    assert "--force" in refused("survey", "new", path)
    assert path.read_text() == "mine"
    assert said("new", path, "--force", "--quiet") == ""
    assert "must be a name that ends in .toml" in refused("survey", "new", tmp_path / "mine.txt")
    assert sorted(one.name for one in tmp_path.iterdir()) == ["mine.toml"]


def test_a_design_as_text_and_for_machines(habits_file):
    shown = said("design", habits_file, "--error", 0.02, "--share", 0.3, "--answers", 800)
    assert "± 2 points" in shown
    assert "at a share of 30%" in shown
    assert "with 800 answers" in shown
    found = json.loads(said("design", habits_file, "--json"))
    assert [one["question"] for one in found["disclosures"]] == ["taken", "days", "paid", "years", "site"]
    assert found["questions"][0]["answers"] == 1291
    assert "error: --error must be" in refused("survey", "design", habits_file, "--error", 2)
    assert "share must be" in refused("survey", "design", habits_file, "--share", 0)


def test_a_survey_that_is_wrong_is_refused_everywhere(tmp_path):
    path = tmp_path / "habits.toml"
    assert "There is no survey file" in refused("survey", "design", path)
    path.write_text(HABITS.replace("theta = 0.75", "theta = 0.5"))
    for words in (("design",), ("estimate", "a.csv"), ("tokens", "--count", 3), ("export", "a.csv", "-o", "b.csv")):
        assert "away from 1/2" in refused("survey", words[0], path, *words[1:])
    assert leafcover("survey", "estimate").exit_code == 2


def test_estimates_of_an_export(habits_file, answers_file):
    shown = said("estimate", habits_file, answers_file)
    assert shown.startswith("Habits at work: 4,000 answers")
    found = json.loads(said("estimate", habits_file, answers_file, "--json"))
    assert [len(one.get("choices", [])) for one in found["questions"]] == [2, 4, 2, 0, 3]
    assert sum(choice["share"] for choice in found["questions"][1]["choices"]) == pytest.approx(1)


def test_estimates_of_a_store(habits_file, tmp_path):
    rows = list(texts(habits(), reported(habits(), people(habits(), 150))))
    store = kept(tmp_path / "habits.sqlite", habits(), rows[:99])
    line = refused("survey", "estimate", habits_file, store)
    assert "at least 100 answers. Got 99." in line
    kept(store, habits(), rows[99:])
    assert "150 answers" in said("estimate", habits_file, store)
    out = tmp_path / "out.parquet"
    said("export", habits_file, store, "-o", out)
    assert sorted(texts(habits(), read_answers(habits(), out))) == sorted(rows)
    assert "There is no store" in refused("survey", "estimate", habits_file, tmp_path / "none.sqlite")
    assert not (tmp_path / "none.sqlite").exists()


def test_the_share_of_a_conjunction(habits_file, answers_file):
    words = ("--where", "taken=yes", "--where", "site=north")
    shown = said("estimate", habits_file, answers_file, *words)
    assert shown.startswith("taken = yes and site = north: ")
    assert shown.endswith(" of 4,000 answers\n")
    found = json.loads(said("estimate", habits_file, answers_file, *words, "--json"))
    assert f"{100 * found['share']:.1f}%" in shown
    assert found["where"] == {"taken": "yes", "site": "north"}
    assert "years = 7: " in said("estimate", habits_file, answers_file, "--where", "years=7")


def test_groups(habits_file, answers_file):
    shown = said("estimate", habits_file, answers_file, "--by", "site", "--where", "taken=yes")
    assert [line.split()[0] for line in shown.splitlines()[4:]] == ["north", "south", "east"]
    whole = said("estimate", habits_file, answers_file, "--by", "site")
    assert [line for line in whole.splitlines() if " = " in line] == [
        *("taken = no", "taken = yes", "days = none", "days = one to five", "days = more"),
        *("days = I would rather not say", "paid = no", "paid = yes"),
    ]
    found = json.loads(said("estimate", habits_file, answers_file, "--by", "site", "--json"))
    assert len(found["found"]) == 8


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("--where", "taken"), "--where must be QUESTION=ANSWER"),
        (("--where", "token=yes"), "Did you mean 'taken'?"),
        (("--where", "taken=maybe"), "There is no choice 'maybe' of question 'taken'"),
        (("--where", "years=many"), "a whole number"),
        (("--where", "taken=yes", "--where", "taken=no"), "names a question twice"),
        (("--by", "years"), "asks for a number"),
        (("--by", "sites"), "Did you mean 'site'?"),
        (("--by", "taken", "--where", "taken=yes"), "defines the groups"),
    ],
)
def test_a_wrong_question_is_refused(habits_file, answers_file, words, why):
    assert why in refused("survey", "estimate", habits_file, answers_file, *words)


def test_a_name_may_hold_the_sign(tmp_path):
    path, answers = tmp_path / "s.toml", tmp_path / "a.csv"
    path.write_text(
        'title = "T"\n[[questions]]\nname = "a"\ntext = "A?"\nchoices = ["b=c", "x"]\nmechanism = "open"\n'
        '[[questions]]\nname = "a=b"\ntext = "B?"\nchoices = ["c", "d"]\nmechanism = "open"'
    )
    answers.write_text("a,a=b\n" + "x,c\n" * 60 + "b=c,d\n" * 40)
    assert "a=b = c: 60.0%" in said("estimate", path, answers, "--where", "a=b=c")
    assert "a = x: 60.0%" in said("estimate", path, answers, "--where", "a=x")


def test_warnings_go_to_the_error_stream(habits_file, tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("taken,days,paid,years,site\n" + "no,none,no,3,north\n" * 300)
    result = leafcover("survey", "estimate", habits_file, path)
    assert "standard errors outside" in result.stderr
    assert "standard errors outside" not in result.stdout
    assert leafcover("survey", "estimate", habits_file, path, "--quiet").stderr == ""
    assert json.loads(said("estimate", habits_file, path, "--json", "-q"))["warnings"]


def test_links_work_and_are_private(habits_file):
    assert "tokens = true" in refused("survey", "tokens", habits_file, "--count", 3)
    assert not habits_file.with_suffix(".secret").exists()
    habits_file.write_text("tokens = true\n" + HABITS)
    survey = read_survey(habits_file)
    shown = said("tokens", habits_file, "--count", 3, "--address", "https://survey.example/ask/")
    links, secret = habits_file.with_suffix(".links"), habits_file.with_suffix(".secret")
    for path in (links, secret):
        assert os.name == "nt" or stat.S_IMODE(path.stat().st_mode) == 0o600
    lines = links.read_text().splitlines()
    assert all(line.startswith("https://survey.example/ask/#token=") for line in lines)
    made = [line.split("=")[1] for line in lines]
    assert not any(one in shown for one in (*made, secret.read_text().strip()))
    key = survey_secret(habits_file)
    assert [number_of(key.secret, survey.fingerprint, one) for one in made] == [0, 1, 2]
    Client(survey, lines[0])
    assert "--force" in refused("survey", "tokens", habits_file, "--count", 3)
    assert links.read_text().splitlines() == lines
    said("tokens", habits_file, "--count", 2, "--first", 3, "-o", habits_file.parent / "more.txt", "-q")
    more = (habits_file.parent / "more.txt").read_text().splitlines()
    assert [number_of(key.secret, survey.fingerprint, one.removeprefix("/#token=")) for one in more] == [3, 4]


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("--count", 0), "--count must be at least 1"),
        (("--count", 3, "--first", -1), "--first and --count"),
        (("--count", 3, "--first", 1 << 22), "--first and --count"),
        (("--count", 3, "--address", "survey.example"), "--address must be"),
        (("--count", 3, "--address", "https://survey.example/?a=b#c"), "--address must be"),
        (("--count", 3, "-o", "habits.secret", "--force"), "Choose another --out"),
        (("--count", 3, "-o", "habits.toml", "--force"), "Choose another --out"),
    ],
)
def test_wrong_links_are_refused(habits_file, monkeypatch, words, why):
    habits_file.write_text("tokens = true\n" + HABITS)
    monkeypatch.chdir(habits_file.parent)
    assert why in refused("survey", "tokens", "habits.toml", *words)
    assert sorted(one.name for one in habits_file.parent.iterdir()) == ["habits.toml"]


def test_a_broken_secret_is_not_replaced(habits_file):
    habits_file.write_text("tokens = true\n" + HABITS)
    secret = habits_file.with_suffix(".secret")
    secret.write_text("not mine")
    line = refused("survey", "tokens", habits_file, "--count", 3)
    assert "64 hexadecimal digits" in line
    assert "not mine" not in line
    assert secret.read_text() == "not mine"
    assert not habits_file.with_suffix(".links").exists()


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_an_export_of_an_export(habits_file, answers_file, tmp_path, suffix):
    out = tmp_path / f"out{suffix}"
    assert "4,000 answers" in said("export", habits_file, answers_file, "-o", out)
    assert sorted(texts(habits(), read_answers(habits(), out))) == sorted(
        texts(habits(), read_answers(habits(), answers_file))
    )
    assert "--force" in refused("survey", "export", habits_file, answers_file, "-o", out)
    assert said("export", habits_file, answers_file, "-o", out, "--force", "-q") == ""
    assert ".csv or .parquet" in refused("survey", "export", habits_file, answers_file, "-o", tmp_path / "out.arff")


def test_made_up_answers_are_told_whatever_is_asked(habits_file, tmp_path):
    fake = tmp_path / "fake.csv"
    fake.write_text("taken,days,paid,years,site\n" + "yes,none,no,5,north\n" * 600)
    for words in ((), ("--where", "taken=yes"), ("--by", "taken")):
        told = leafcover("survey", "estimate", habits_file, fake, *words)
        assert "standard errors outside 0 to 1" in told.stderr
        assert "standard errors outside" not in leafcover("survey", "estimate", habits_file, fake, *words, "-q").stderr


def test_the_share_of_an_open_answer_nobody_gave_is_not_certain(habits_file, answers_file):
    found = json.loads(
        said("estimate", habits_file, answers_file, "--where", "site=east", "--where", "years=59", "--json")
    )
    assert found["interval"][1] > found["share"]
    assert "from 0 to 60" in refused("survey", "estimate", habits_file, answers_file, "--where", "years=99")


def test_a_question_with_another_delimiter_in_its_name_is_exported_and_read(tmp_path):
    asked = tmp_path / "semi.toml"
    asked.write_text('title = "T"\n[[questions]]\nname = "a;b|c"\ntext = "A?"\nchoices = ["no", "yes"]\n')
    export(read_survey(asked), from_codes(read_survey(asked), np.zeros((200, 1), int)), tmp_path / "semi.csv")
    assert json.loads(said("estimate", asked, tmp_path / "semi.csv", "--json"))["answers"] == 200
