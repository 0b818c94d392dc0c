"""`leafcover init`, and every command without a table: the project file is read, overridden for a run, and saved to."""

import json

import numpy as np
import pytest

import leafcover as lc
from leafcover.cli.project import FILE, KEYS, ROLES
from leafcover.engine.project_file import FILE_NAME, ProjectFile, parse_project
from tests.cli.helpers import leafcover, refused


def people(rows=300, seed=1):
    """A table with what an office's file has: an identifier, zip codes, a token for missing, a weight, a class."""
    rng = np.random.default_rng(seed)
    lines = ["email,zip,flat,age,until,pay,job,svyweight,class"]
    for row in range(rows):
        age, pay = rng.integers(18, 70), rng.integers(100, 9000)
        zipcode = f"0{rng.integers(1000, 1006)}"
        pay = "none" if rng.random() < 0.1 else pay
        job = rng.choice(["clerk", "nurse", "smith"]) if row else "queen"
        label = "yes" if age > 40 else "no"
        flat = f"{rng.integers(1, 9)}{rng.choice(['', 'a', 'b'])}"
        home = f"p{row}@post.org,{zipcode},{flat}"
        lines.append(f"{home},{age},{age + rng.integers(0, 9)},{pay},{job},{rng.integers(1, 9)}.5,{label}")
    return "\n".join(lines) + "\n"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    (tmp_path / "people.csv").write_text(people())
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def project(folder):
    """A folder with a project in which everything is decided, and nothing slow is asked for."""
    done("init", "people.csv", "--target", "class")
    text = FILE.read_text().replace('audience = "?"', '# audience = "?"').replace("\nreport = ", "\n# report = ")
    FILE.write_text(text.replace('recipe = "cover"', 'recipe = "cells"'))
    return folder


def done(*words):
    result = leafcover(*words)
    assert result.exit_code == 0, (result.output, result.exception)
    return result


def saved():
    return parse_project(FILE.read_text())


def test_a_draft_decides_what_it_can_and_says_why(folder):
    printed = done("init", "people.csv").stdout
    found = saved()
    names = ("email", "zip", "flat", "age", "until", "pay", "job", "svyweight", "class")
    assert dict(found.columns) == {**dict.fromkeys(names, ""), "email": "drop", "svyweight": "weight"}
    assert found.input.category == ("zip", "flat")
    assert found.input.missing == {"pay": ("none",)}
    assert found.undecided == ("audience", "target")
    for name in ("email", "svyweight", "zip", "flat", "pay", "audience", "target"):
        assert f"  {name}: " in printed
    lines = FILE.read_text().splitlines()
    chosen = [line for line in lines if line and line[0] not in "#[" and not line.startswith("version")]
    assert [line for line in chosen if "  # " not in line] == []  # a comment for each choice
    assert "p1@post.org" not in FILE.read_text()
    assert "queen" not in FILE.read_text()


def test_nothing_is_released_before_the_steward_decides(folder):
    done("init", "people.csv")
    line = refused("release")
    assert "audience, target" in line
    assert FILE_NAME in line
    assert {p.name for p in folder.iterdir()} == {"people.csv", FILE_NAME}
    assert "--target" in leafcover("tree").stderr


def test_a_project_file_is_not_overwritten_unasked(folder):
    done("init", "people.csv")
    FILE.write_text(FILE.read_text() + "# mine\n")
    assert "--force" in refused("init", "people.csv")
    assert FILE.read_text().endswith("# mine\n")
    done("init", "people.csv", "--force")
    refused("init", "nothing.csv", "--force")
    assert "no column 'clas'" in refused("init", "people.csv", "--target", "clas", "--force")
    assert "--audience" in refused("init", "people.csv", "--audience", "all", "--force")


def test_a_release_without_arguments_is_that_of_its_options_byte_for_byte(project):
    done("release", "--key-file", "key", "--save")
    assert saved().output.key_file == "key"
    table = (
        "--drop",
        "email",
        "--category",
        "zip",
        "--category",
        "flat",
        "--missing",
        "pay=none",
        "--weight",
        "svyweight",
        "--rare",
        "pool",
    )
    method = ("--target", "class", "--recipe", "cells", "--find-rules", "--weights", "calibrated")
    done("release", "people.csv", "-o", "other.csv", "--key-file", "key", *table, *method)
    assert (project / "people.released.csv").read_bytes() == (project / "other.csv").read_bytes()
    assert (project / ".leafcover" / "ledger.json").exists()


def test_python_does_what_the_command_does(project):
    done("release", "--key-file", "key", "--save", "--quiet")
    before = (project / "people.released.csv").read_bytes()
    own = lc.Project.read(project)
    own.save(own.release(), force=True)  # the same again is no second release
    assert (project / "people.released.csv").read_bytes() == before
    assert all(check.holds for check in own.verify())
    assert own.load().manifest["recipe"] == "cells"
    assert own.plan().recipe == "cells"


def test_every_command_reads_the_project(project):
    assert "email" not in done("inspect").stdout
    assert "size" in json.loads(done("tree", "--format", "json").stdout)
    assert done("forest", "--trees", "2").exit_code == 0
    assert 'recipe = "cells"' in done("plan").stdout
    done("release", "--quiet")
    assert done("verify").exit_code == 0
    found = json.loads(done("measure", "--only", "k_anonymity").stdout)
    assert "k_anonymity" in found


def test_options_override_for_a_run_and_save_writes_them(project):
    text = FILE.read_text()
    done("plan", "--recipe", "additive", "--set", "spread=0.3", "--drop", "job", "--rule", "age <= until")
    assert FILE.read_text() == text
    words = ("--recipe", "additive", "--set", "spread=0.3", "--drop", "job", "--no-rules", "--rule", "age <= until")
    plan = done("plan", *words, "--missing", "age=-9", "--save").stdout
    found = saved()
    assert (found.method.recipe, found.method.settings) == ("additive", {"spread": 0.3})
    assert found.columns["job"] == "drop"
    assert found.columns["email"] == "drop"
    assert (found.method.find_rules, found.method.rules) == (False, ("age <= until",))
    assert found.input.missing == {"pay": ("none",), "age": ("-9",)}
    assert done("plan").stdout == plan
    done("plan", "--recipe", "cover", "--save")
    assert saved().method.settings == {}
    assert text.count("#") <= FILE.read_text().count("#")


def test_a_plan_takes_the_place_of_the_recipe(project):
    (project / "plan.toml").write_text(done("plan").stdout)
    done("release", "--plan", "plan.toml", "--save", "--quiet")
    assert (saved().method.plan, saved().method.recipe) == ("plan.toml", None)
    assert "plan cannot be combined" in refused("release", "--set", "k=3", "--replace")
    done("release", "--recipe", "cells", "--replace", "--save", "--quiet")
    assert (saved().method.plan, saved().method.recipe) == (None, "cells")


def test_options_are_saved_when_the_release_is_refused_for_its_risk(project):
    refused("release", "--recipe", "additive", "--max-risk", "0.0001", "--save", code=3)
    assert saved().limits.max_risk == 0.0001
    refused("release", "--recipe", "nothing", "--save")
    assert saved().method.recipe == "additive"


def test_paths_are_relative_to_the_file(project, monkeypatch):
    (project / "deep").mkdir()
    monkeypatch.chdir(project / "deep")
    result = done("release", "-o", "here.csv", "--save")
    assert f"../{FILE_NAME}" in result.stderr
    assert (project / "deep" / "here.csv").exists()
    assert parse_project((project / FILE_NAME).read_text()).output.table == "deep/here.csv"
    monkeypatch.chdir(project.parent)
    done("verify", "--project", project)


def test_an_earlier_release_that_never_left_is_replaced(project):
    done("release", "--quiet")
    assert "--force" in refused("release", "--set", "k=7")
    assert "--replace" in refused("release", "--set", "k=7", "--force", code=3)
    done("release", "--set", "k=7", "--replace", "--quiet")
    entries = json.loads((project / ".leafcover" / "ledger.json").read_text())["releases"]
    assert [one["name"] for one in entries] == ["people.released.csv"]
    done("release", "--seed", "1", "-o", "trial.csv", "--quiet")  # an experiment is no release
    assert json.loads((project / ".leafcover" / "ledger.json").read_text())["releases"] == entries


def test_a_table_is_named_or_the_project_is_read(project):
    result = done("plan", "people.csv", "--target", "class", "--drop", "email", "--recipe", "cells")
    assert "not used" in result.stderr
    assert leafcover("plan", "people.csv", "--target", "class", "--save").exit_code == 2
    assert leafcover("measure", "people.csv").exit_code == 2
    assert leafcover("inspect", "people.csv", "--project", project).exit_code == 2


def test_the_report_of_a_saved_release(project):
    FILE.write_text(FILE.read_text().replace('title = "people"', 'title = "Staff of 2024"'))
    done("release", "--quiet", "--drop", "zip", "--drop", "pay", "--drop", "until", "--drop", "flat", "--save")
    assert not (project / "people.report.html").exists()
    done("report", "--quiet")
    outer = (project / "people.report.external.html").read_text()
    assert "Staff of 2024" in outer
    assert "written already" in done("report").stdout
    (project / "people.report.html").unlink()
    assert "--force" in refused("report")


def test_without_a_project_a_table_is_missing(folder):
    for command in ("release", "inspect", "verify", "measure", "report", "sweep", "plan", "tree"):
        result = leafcover(command)
        assert result.exit_code == 2
        assert "leafcover init" in result.stderr
    assert "no project file" in refused("release", "--project", folder)


def test_mistakes_in_the_file_are_one_line_with_its_name(project):
    for old, new, words in (
        ('recipe = "cells"', 'recpie = "cells"', "Did you mean 'recipe'?"),
        ('recipe = "cells"', 'recipe = "cels"', "Did you mean 'cells'?"),
        ('recipe = "cells"', "recipe = 7", "method.recipe must be text"),
        ('age = ""', 'agee = "drop"', "no column 'agee' named by [columns]"),
        ('target = "class"', 'target = "clas"', "no column 'clas' named by target"),
        ('file = "people.csv"', 'file = "persons.csv"', "persons.csv"),
        ('target = "class"', "max_risk = 0.1", "'max_risk' in leafcover.toml. It belongs to [limits]"),
        ("[limits]", "[limits]\nmax_risk = 7", "limits.max_risk must be less than or equal to 1. Got 7"),
        ("[limits]", "[limits]\nmax-risk = 0.1", "Did you mean 'max_risk'? Available: max_risk, max_singletons"),
        ("[limits]", "[limits]\nshare = 7", "It belongs to [method]"),
        ("[limits]", "[limits]\nk = 7", "settings = { k = 20 }"),
        ("[input]", 'drops = ["job"]\n[input]', "under [columns], a line for each column"),
        ("[columns]", '[columns]\ndrop = ["job"]', 'NAME = "drop"'),
        ('# audience = "?"', 'audience = "friends"', "audience must be 'public' or 'researchers'"),
        ("[method]", '[method]\nplan = "plan.toml"', "in [method], plan cannot be combined with recipe"),
        (
            "category = [",
            'category = ["jbo", ',
            "'jbo' named by input.category in 'leafcover.toml'. Did you mean 'job'",
        ),
        ("[input]", '[input]\nsheet = "one"', "workbook"),
        ('file = "people.csv"', 'file = "https://me:hush@host/people.csv"', "password"),
    ):
        text = FILE.read_text()
        FILE.write_text(text.replace(old, new, 1))
        line = refused("release")
        assert words in line
        assert FILE_NAME in line
        assert "--" not in line
        assert "hush" not in line
        FILE.write_text(text)


def test_every_option_has_a_place_in_the_file():
    """Options that the file does not hold are of one run: a seed, the order of rows, what is overwritten."""
    from typer.main import get_command

    from leafcover.cli.main import application

    once = {"seed", "keep_order", "again", "replace", "force", "quiet", "as_json", "save", "project", "table"}
    placed = {*KEYS, *ROLES, "settings", "category", "missing", "decimal", "thousands", "no_unit_numbers"}
    for command in ("release", "plan", "inspect"):
        names = {one.name for one in get_command(application()).commands[command].params}
        assert names - once - placed - {"help"} == set()
    for place in KEYS.values():
        model = ProjectFile
        for name in place:
            assert name in model.model_fields, place
            model = model.model_fields[name].annotation


def test_a_sweep_writes_what_it_recommends(project):
    text = FILE.read_text().replace("# settings = { k = 100 }", "settings = { n_trees = 2 }")
    FILE.write_text(text)
    words = ("--recipes", "additive", "--grid", "spread=0.01", "--runs", "1", "--jobs", "1", "--seed", "1")
    done("sweep", *words, "--max-risk", "1", "--quiet", "--save")
    found = saved()
    assert (found.method.recipe, found.method.settings, found.limits.max_risk) == ("additive", {"spread": 0.01}, 1.0)
