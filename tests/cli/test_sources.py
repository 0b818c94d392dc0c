"""Databases and workbooks at the command line: every command reads them, and no password leaves."""

import json
import sqlite3
from pathlib import Path

import pytest

from leafcover.table.io import read, write
from tests.cli.helpers import leafcover, refused, rows_of

SECRET = "hunter2-PLANTED"


@pytest.fixture
def folder(tmp_path, monkeypatch, compiled):
    """The current folder, with a table in a file, in SQLite and in Excel."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "in.csv").write_text(rows_of())
    table = read("in.csv")
    for place in ("in.sqlite#people", "in.xlsx", "in.dta"):
        write(table, place)
    return tmp_path


def names_in(folder):
    return sorted(path.name for path in folder.iterdir())


def released(*words):
    result = leafcover("release", *words, "--target", "class")
    assert result.exit_code == 0, result.output
    return result


@pytest.mark.parametrize("given", ["in.sqlite", "in.xlsx", "in.dta"])
def test_every_command_reads_every_format(folder, given):
    for words in (
        ("inspect", given),
        ("tree", given, "--target", "class", "--test", "in.csv"),
        ("plan", given, "--target", "class"),
    ):
        assert leafcover(*words).exit_code == 0, words
    facts = json.loads(leafcover("inspect", given, "--json").stdout)
    assert [facts["rows"], [column["kind"] for column in facts["columns"]]] == [
        60,
        [*["number"] * 2, *["category"] * 2],
    ]


def test_a_release_into_a_database_has_its_companions_beside_it(folder):
    before = names_in(folder)
    out = "out.sqlite#released"
    words = ("in.sqlite", "-o", out, "--key-file", "K", "--hold-out", "0.3", "--recipe", "cells")
    shown = released(*words).stdout
    assert "sqlite:///out.sqlite#released" in shown
    beside = [f"out.sqlite.released.{one}" for one in ("held-out.parquet", "internal.json", "manifest.json", "pairs")]
    assert sorted(set(names_in(folder)) - set(before)) == sorted(["K", "out.sqlite", *beside])
    assert read(out).names == ("age", "pay", "job", "class")
    checks = leafcover("verify", out, "--original", "in.sqlite", "--key-file", "K")
    assert checks.exit_code == 0, checks.output
    assert leafcover("measure", "in.sqlite", out, "--only", "record_linkage").exit_code == 0
    assert "already exists" in refused("release", *words, "--target", "class")
    assert "both the original and the released table" in refused(
        "release", "in.sqlite", "-o", "sqlite:///in.sqlite#people", "--force", "--target", "class"
    )
    assert "-o" in refused("release", "in.sqlite", "--target", "class")


def test_verify_notices_a_changed_row_of_a_database(folder):
    released("in.xlsx", "-o", "out.sqlite#released")
    connection = sqlite3.connect("out.sqlite")
    with connection:
        connection.execute("UPDATE released SET age = age + 1 WHERE rowid = 1")
    connection.close()
    checks = {
        one["what"]: one["holds"] for one in json.loads(leafcover("verify", "out.sqlite#released", "--json").stdout)
    }
    assert not checks["the table has the names, values and order that were released"]


def test_a_query_is_repeated_by_verify_unless_it_holds_a_password(folder):
    query = "SELECT * FROM people WHERE age > 20"
    released("in.sqlite", "--query", query, "-o", "out.csv")
    assert json.loads((folder / "out.csv.internal.json").read_text())["reading"]["query"] == query
    assert "WHERE" not in (folder / "out.csv.manifest.json").read_text()
    assert leafcover("verify", "out.csv", "--original", "in.sqlite").exit_code == 0
    assert leafcover("measure", "in.sqlite", "out.csv", "--only", "k_anonymity").exit_code == 0
    released("in.sqlite", "--query", f"{query} -- password={SECRET}", "-o", "other.csv")
    assert all(SECRET not in path.read_text() for path in folder.glob("other.csv*"))


def test_a_password_leaves_with_nothing(folder, postgresql):
    """A planted password is in no file, and in nothing that any command prints."""
    (folder / "project").mkdir()
    database = postgresql.fresh().replace("//tests@", f"//tests:{SECRET}@")
    write(read("in.csv"), f"{database}#people")
    printed = [
        released(f"{database}#people", "-o", f"{database}#released", "--project", "project", "--key-file", "K").output,
        released(f"{database}", "--query", "SELECT * FROM people", "-o", "out.xlsx", "--recipe", "cells").output,
    ]
    commands = (
        ("inspect", database),
        ("inspect", f"{database}#none"),
        ("inspect", f"{database}#people", "--json"),
        ("verify", f"{database}#released", "--original", f"{database}#people", "--key-file", "K"),
        ("measure", f"{database}#people", f"{database}#released", "--only", "k_anonymity"),
        ("release", f"{database}#people", "-o", f"{database}#released", "--target", "class"),
        ("release", f"{database}#people", "--target", "class"),
    )
    printed += [leafcover(*words).output for words in commands]
    assert read(f"{database}#released").names == ("age", "pay", "job", "class")
    assert (folder / "released.manifest.json").exists()
    assert SECRET not in "".join(printed)
    files = [path for path in folder.rglob("*") if path.is_file()]
    assert len(files) > 8
    assert [path.name for path in files if SECRET.encode() in path.read_bytes()] == []


def test_a_sheet_is_chosen_and_remembered(folder):
    import openpyxl

    book = openpyxl.load_workbook("in.xlsx")
    book.copy_worksheet(book.active).title = "again"
    book.save("two.xlsx")
    assert "--sheet Sheet1" in refused("inspect", "two.xlsx")
    released("two.xlsx", "--sheet", "2", "-o", "out.xlsx")
    assert leafcover("verify", "out.xlsx", "--original", "two.xlsx").exit_code == 0
    assert leafcover("measure", "two.xlsx", "out.xlsx", "--only", "k_anonymity").exit_code == 0
    assert leafcover("verify", "out.xlsx", "--original", "in.csv").exit_code == 0


def test_a_project_uses_its_sheet_in_every_command(folder):
    import openpyxl

    book = openpyxl.load_workbook("in.xlsx")
    book.copy_worksheet(book.active).title = "again"
    book.save("two.xlsx")
    assert leafcover("init", "two.xlsx", "--sheet", "again", "--target", "class").exit_code == 0
    text = Path("leafcover.toml").read_text()
    Path("leafcover.toml").write_text(text.replace('audience = "?"', "").replace("\nreport = ", "\n# report = "))
    for command in ("verify", "measure", "report"):
        assert "There is no released table" in refused(command)
    for command in (
        ("inspect",),
        ("tree",),
        ("plan",),
        ("release",),
        ("verify",),
        ("measure", "--only", "k_anonymity"),
    ):
        result = leafcover(*command)
        assert result.exit_code == 0, (command, result.stderr)


def test_text_like_a_formula_is_warned_of_in_a_text_file(folder):
    for job, warned in (("-clerk", True), ("-", False)):
        (folder / "in.csv").write_text(rows_of().replace("clerk", job))
        for out in ("out.csv", "out.xlsx"):
            result = released("in.csv", "-o", out, "--force")
            assert ("spreadsheet" in result.stderr) == (warned and out == "out.csv")
            assert job in read(out)["job"].levels


def test_a_format_that_cannot_be_written_is_said_before_the_work(folder, monkeypatch):
    def fail(*given, **how):
        raise AssertionError

    monkeypatch.setattr("leafcover.api.run", fail)
    (folder / "in.csv").write_text(rows_of().replace("age", "age in years"))
    assert "age in years" in refused("release", "in.csv", "-o", "out.dta", "--target", "class")
    assert ".sav" in refused("release", "in.csv", "-o", "out.por", "--target", "class")


def test_a_project_reads_a_query_and_writes_into_a_database(folder, monkeypatch):
    asked = ("--query", "SELECT age, pay, class FROM people", "--target", "class", "--audience", "researchers")
    assert leafcover("init", "in.sqlite", *asked, "--quiet").exit_code == 0
    text = (folder / "leafcover.toml").read_text("utf-8")
    assert 'file = "sqlite:///in.sqlite"' in text
    assert 'query = "SELECT age, pay, class FROM people"' in text
    assert 'table = "table.released.parquet"' in text
    fast = ("--recipe", "cells", "--set", "k=5", "--max-risk", "1")
    done = leafcover("release", "-o", "out.sqlite#released", "--save", *fast, "--seed", "1")
    assert done.exit_code == 0, done.output
    (folder / "below").mkdir()
    monkeypatch.chdir(folder / "below")
    checks = json.loads(leafcover("verify", "--json").stdout)
    assert [one["what"] for one in checks if not one["holds"]] == ["made with a secret key, rows in a secret order"]
    assert read("../out.sqlite#released").names == ("age", "pay", "class")
    assert sorted(path.name for path in folder.glob("out*")) == [
        "out.sqlite",
        "out.sqlite.released.internal.json",
        "out.sqlite.released.manifest.json",
        "out.sqlite.released.pairs",
    ]


def test_a_project_of_a_database_needs_an_output(folder):
    assert leafcover("init", "in.sqlite", "--target", "class", "--quiet").exit_code == 0
    file = folder / "leafcover.toml"
    text = file.read_text("utf-8")
    assert 'file = "sqlite:///in.sqlite#people"' in text
    lines = [line for line in text.replace('"?"', '"researchers"').splitlines() if not line.startswith("table =")]
    file.write_text("\n".join(lines), "utf-8")
    assert "output.table" in refused("release")
    file.write_text(text.replace("in.sqlite", "gone.sqlite"), "utf-8")
    assert "gone.sqlite" in refused("inspect")


def test_a_project_of_postgresql_has_its_files_in_its_folder(folder, postgresql, monkeypatch):
    database = postgresql.fresh()
    write(read("in.csv"), f"{database}#people")
    (folder / "project").mkdir()
    words = ("init", f"{database}#people", "-o", "project", "--target", "class", "--audience", "researchers", "--quiet")
    assert leafcover(*words).exit_code == 0
    fast = ("--recipe", "cells", "--set", "k=5", "--max-risk", "1", "--seed", "1")
    done = leafcover("release", "--project", "project", "-o", f"{database}#released", "--save", *fast)
    assert done.exit_code == 0, done.output
    assert sorted(path.name for path in (folder / "project").iterdir()) == [
        "leafcover.toml",
        "people.report.external.html",
        "people.report.html",
        "released.internal.json",
        "released.manifest.json",
        "released.pairs",
    ]
    monkeypatch.chdir(folder / "project")
    assert json.loads(leafcover("verify", "--json").stdout)[0]["holds"]
