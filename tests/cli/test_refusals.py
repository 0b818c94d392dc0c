"""What is refused, in one line, with nothing half-written; and what is handled by a stated rule."""

import gzip
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from leafcover.cli.main import _run as run_command_line
from leafcover.messages import catalogue
from tests.cli.helpers import leafcover, refused, rows_of

BAD = {
    "empty.csv": (b"", "empty"),
    "header.csv": (b"a,class\n", "row"),
    "one.csv": (b"a,class\n1,x\n", "row"),
    "twice.csv": (b"a,a,class\n1,2,x\n3,4,y\n", "a"),
    "ragged.csv": (b"a,class\n1,x\n2,y,3\n4,x\n", "Line 3"),
    "constant.csv": (b"a,class\n1,x\n2,x\n3,x\n", "only 'x'"),
    "infinite.csv": (b"a,class\n1,x\ninf,y\n3,x\n", "inf"),
    "latin.csv": ("a,class\n1,naïve\n2,y\n3,y\n".encode("latin-1"), "--encoding"),
    "rubbish.csv": (bytes(range(256)) * 20, ""),
    "rubbish.parquet": (b"PAR1" + bytes(100), ""),
    "rubbish.arrow": (b"nothing", ""),
    "rubbish.csv.gz": (b"not packed", ""),
    "cut.csv.gz": (gzip.compress(b"a,class\n" + b"1,x\n2,y\n" * 5000)[:-20], ""),
    "what.docx": (b"PK", "suffix"),
}


@pytest.mark.parametrize("name", BAD)
def test_a_table_that_cannot_be_released_is_refused(tmp_path, name):
    content, word = BAD[name]
    (tmp_path / name).write_bytes(content)
    said = refused("release", tmp_path / name, "-o", tmp_path / "out.csv", "--target", "class")
    assert word in said
    assert [p.name for p in tmp_path.iterdir()] == [name]


@pytest.fixture
def good(tmp_path):
    path = tmp_path / "in.csv"
    path.write_text(rows_of())
    return path


def test_a_missing_file_and_a_directory_are_refused(tmp_path):
    refused("release", tmp_path / "no.csv", "-o", tmp_path / "out.csv", "--target", "class")
    refused("release", tmp_path, "-o", tmp_path / "out.csv", "--target", "class")
    assert not list(tmp_path.iterdir())


def test_an_unknown_column_recipe_or_setting_gets_a_near_name(good, tmp_path):
    out = ["-o", tmp_path / "out.csv"]
    assert "Did you mean 'class'?" in refused("release", good, *out, "--target", "clas")
    assert "Did you mean 'framework'?" in refused("release", good, *out, "--target", "class", "--recipe", "framwork")
    assert "Did you mean 'job'?" in refused("release", good, *out, "--target", "class", "--drop", "jop")
    assert "Did you mean 'job'?" in refused("release", good, *out, "--target", "class", "--unchanged", "jop")
    assert "'kk'" in refused("release", good, *out, "--target", "class", "--set", "kk=3")
    assert "k" in refused("release", good, *out, "--target", "class", "--set", "k=many")
    assert "NAME=VALUE" in refused("release", good, *out, "--target", "class", "--set", "k")
    refused("release", good, *out, "--target", "class", "--set", "k=1")
    refused("release", good, *out, "--target", "class", "--recipe", "framework", "--set", "spread=7")
    assert "--target" in refused("release", good, *out)


def step(columns="age", within='method = "whole"', noise='method="shuffle"'):
    return f'[[step]]\ncolumns=["{columns}"]\nwithin={{{within}}}\nperturb={{{noise}}}\n'


PLANS = {
    "twice": ("version = 1\n" + step() + step(), "once"),
    "unknown key": ('version = 1\ncolour = "red"\n', "colour"),
    "unknown key in a step": ("version = 1\n" + step().replace("within", "withn"), "within"),
    "unknown noise": ("version=1\n" + step(noise='method="shufle"'), "shuffle"),
    "unknown parameter": ("version=1\n" + step(noise='method="bounded", spred=0.1'), "spread"),
    "out of range": ("version=1\n" + step(noise='method="bounded", spread=3.0'), "spread"),
    "wrong type": ("version=1\n" + step(noise='method="bounded", spread="much"'), "spread"),
    "unknown column": ("version=1\n" + step("agge"), "age"),
    "category moved as a number": ("version=1\n" + step("job", noise='method="bounded"'), "category"),
    "number redrawn": ("version=1\n" + step(noise='method="redraw"'), "number"),
    "siblings of nothing": ("version=1\n" + step("job", noise='method="redraw", siblings=0.2'), "leaves"),
    "a floor of nothing": ("version=1\n" + step(within='method = "leaves", of="class", min_cell=0'), "min_cell"),
    "no version": (step(), "version"),
    "no step": ("version = 1\n", "step"),
    "not TOML": ("{", "TOML"),
}


@pytest.mark.parametrize("name", PLANS)
def test_a_wrong_plan_is_refused(good, tmp_path, name):
    text, word = PLANS[name]
    (tmp_path / "plan.toml").write_text(text)
    said = refused("release", good, "-o", tmp_path / "out.csv", "--plan", tmp_path / "plan.toml")
    assert word in said
    assert not (tmp_path / "out.csv").exists()


@pytest.mark.parametrize("content", [b"age,job\n1,x\n", b"a = 1\n", b"\xff\xfe\x00"])
def test_a_file_that_is_no_plan_is_named_and_told_what_a_plan_is(good, tmp_path, content):
    (tmp_path / "other.csv").write_bytes(content)
    for words in (("release", good, "-o", tmp_path / "out.csv"), ("measure", good, good)):
        said = refused(*words, "--plan", tmp_path / "other.csv")
        assert f"'{tmp_path / 'other.csv'}' is no plan" in said
        assert "leafcover plan TABLE" in said


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (("--share", 0), "error: --share must be"),
        (("--set", "share=0"), "error: --set share=... of recipe 'cover' must be"),
        (("--set", "k=1"), "error: --set k=... of recipe 'cover' must be"),
        (("--recipe", "framework", "--set", "spread=7"), "error: --set spread=... of recipe 'framework' must be"),
        (("--recipe", "round", "--set", "to=0"), "error: --set to=... of recipe 'round' must be"),
        (("--recode", "age: round -1"), "error: In the recoding 'age: round -1', to must be"),
        (("--recode", "age: round x"), "error: In the recoding 'age: round x', to must be"),
    ],
)
def test_a_value_out_of_range_is_said_in_the_words_that_were_given(good, tmp_path, given, said):
    assert refused("release", good, "-o", tmp_path / "out.csv", "--target", "class", *given).startswith(said)


def test_a_sheet_of_a_file_that_has_none_is_refused(good):
    assert "--sheet" in refused("inspect", good, "--sheet", "one")


def test_outputs_that_exist_need_force(good, tmp_path):
    for name in ("out.csv", "out.csv.pairs", "out.csv.manifest.json"):
        (tmp_path / name).write_text("mine")
        said = refused("release", good, "-o", tmp_path / "out.csv", "--target", "class")
        assert "--force" in said
        assert (tmp_path / name).read_text() == "mine"
        (tmp_path / name).unlink()
    (tmp_path / "out.csv").write_text("mine")
    assert leafcover("release", good, "-o", tmp_path / "out.csv", "--target", "class", "--force").exit_code == 0
    assert (tmp_path / "out.csv").read_text() != "mine"


def test_a_place_that_cannot_be_written_is_refused(good, tmp_path):
    assert "directory" in refused("release", good, "-o", tmp_path / "no" / "out.csv", "--target", "class")
    (tmp_path / "folder.csv").mkdir()
    assert "directory" in refused("release", good, "-o", tmp_path / "folder.csv", "--target", "class", "--force")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full, a disk that is always full")
def test_a_full_disk_leaves_nothing_behind(good, tmp_path, monkeypatch):
    from leafcover.table import atomic as whole

    real = whole._sync

    def full(path):
        if path.is_file():
            with Path("/dev/full").open("wb") as disk:
                disk.write(b"x" * 100_000)
        real(path)

    monkeypatch.setattr(whole, "_sync", full)
    said = refused("release", good, "-o", tmp_path / "out.csv", "--target", "class")
    assert "space" in said.lower()
    assert [p.name for p in tmp_path.iterdir()] == ["in.csv"]


def test_a_kill_during_writing_leaves_no_output(good, tmp_path):
    script = (
        "import os, signal, sys\n"
        "from leafcover.engine import files\n"
        "real = files.write_to\n"
        "def write_to(*words):\n"
        "    real(*words)\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
        "files.write_to = write_to\n"
        "from leafcover.cli import main\n"
        "main()\n"
    )
    words = ["release", str(good), "-o", str(tmp_path / "out.csv"), "--target", "class"]
    done = subprocess.run([sys.executable, "-c", script, *words], capture_output=True, check=False)
    assert done.returncode == -signal.SIGKILL
    assert not [p.name for p in tmp_path.iterdir() if p.name != "in.csv" and not p.name.endswith(".part")]


def table_of(tmp_path, text, name="in.csv"):
    path = tmp_path / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def test_byte_order_mark_and_line_ends_are_kept(tmp_path):
    text = "\ufeff" + rows_of().replace("\n", "\r\n")
    out = tmp_path / "out.csv"
    assert leafcover("release", table_of(tmp_path, text), "-o", out, "--target", "class").exit_code == 0
    assert out.read_bytes().startswith("\ufeffage".encode())
    assert out.read_bytes().count(b"\r\n") == 61


def test_a_quoted_newline_is_read_and_kept(tmp_path):
    text = "note,class\n" + '"two\nlines",a\n"one, line",b\n' * 30
    out = tmp_path / "out.csv"
    assert leafcover("release", table_of(tmp_path, text), "-o", out, "--target", "class").exit_code == 0
    assert out.read_text().count('"two\nlines"') == 30


def test_a_column_with_nothing_in_it_is_left_as_it_is(tmp_path):
    text = "".join(line + (",gone\n" if i == 0 else ",\n") for i, line in enumerate(rows_of().splitlines()))
    for recipe in ("cover", "cells", "framework", "random"):
        out = tmp_path / f"{recipe}.csv"
        done = leafcover("release", table_of(tmp_path, text), "-o", out, "--target", "class", "--recipe", recipe)
        assert done.exit_code == 0, done.output
        assert "gone" in done.stderr
        assert all(line.endswith(",") for line in out.read_text().splitlines()[1:])
        assert catalogue("release")("no-values", columns="gone") in done.stdout
        manifest = json.loads((tmp_path / f"{recipe}.csv.manifest.json").read_text())
        assert (manifest["no_values"], manifest["not_protected"]) == (["gone"], [])


def test_a_target_with_missing_values_is_released(tmp_path):
    lines = rows_of(rows=200).splitlines()
    text = "\n".join(line.rsplit(",", 1)[0] + ",?" if i % 10 == 5 else line for i, line in enumerate(lines)) + "\n"
    for recipe in ("cover", "cells", "framework-paper"):
        out = tmp_path / f"{recipe}.csv"
        done = leafcover("release", table_of(tmp_path, text), "-o", out, "--target", "class", "--recipe", recipe)
        assert done.exit_code == 0, done.output
        assert out.read_text().count(",?") == text.count(",?")


def test_large_integers_thousands_and_mixed_types_have_a_rule(tmp_path):
    rows = [f'{2**60 + 7 * i},"{1000 + i:,}",{"x" if i % 7 == 0 else i % 5},{"ab"[i % 2]}' for i in range(60)]
    path = table_of(tmp_path, "big,money,odd,class\n" + "\n".join(rows) + "\n")
    out = tmp_path / "out.csv"
    words = ["--target", "class", "--unchanged", "money"]
    done = leafcover("release", path, "-o", out, *words, "--unchanged", "big")
    assert done.exit_code == 0, done.output
    assert "odd" in done.stderr
    values = {line.split(",")[0] for line in out.read_text().splitlines()[1:]}
    assert values == {str(2**60 + 7 * i) for i in range(60)}
    assert '"1,000"' in out.read_text()


def test_two_rows_and_one_column_have_a_rule(tmp_path):
    out = tmp_path / "out.csv"
    two = leafcover("release", table_of(tmp_path, "a,class\n1,x\n2,y\n"), "-o", out, "--target", "class", "--force")
    assert two.exit_code == 1
    assert "--rare allow" in two.stderr
    two = leafcover("release", tmp_path / "in.csv", "-o", out, "--target", "class", "--force", "--rare", "allow")
    assert two.exit_code == 0, two.output
    assert "one cell" in two.stderr
    one = leafcover("release", table_of(tmp_path, "class\n" + "x\ny\n" * 20), "-o", out, "--target", "class", "--force")
    assert one.exit_code == 0, one.output


def test_missing_tokens_can_be_values(tmp_path):
    text = "country,class\n" + "NA,a\nDE,b\n-,a\n" * 20
    path, out = table_of(tmp_path, text), tmp_path / "out.csv"
    plain = leafcover("inspect", path)
    assert "20" in plain.stdout
    told = leafcover("inspect", path, "--missing", "country=-", "--json")
    assert '"missing": 20' in told.stdout
    assert '"NA"' in told.stdout
    done = leafcover("release", path, "-o", out, "--target", "class", "--missing", "country=-")
    assert done.exit_code == 0, done.output
    assert sorted(out.read_text().splitlines()[1:]) != []
    assert "COLUMN=TOKENS" in refused("inspect", path, "--missing", "country")


def test_interrupting_says_so(good, tmp_path, monkeypatch):
    from leafcover.engine import run as module

    def stop(*words, **given):
        raise KeyboardInterrupt

    monkeypatch.setattr(module, "partitions_of", stop)
    done = leafcover("release", good, "-o", tmp_path / "out.csv", "--target", "class")
    assert done.exit_code == 130
    assert not (tmp_path / "out.csv").exists()


def test_long_categories_are_shortened_on_the_screen(tmp_path):
    long = "q" * 400
    path = table_of(tmp_path, "a,class\n" + f'{long},x\n"two\nlines",y\n' * 20)
    shown = leafcover("inspect", path).stdout
    assert f"{'q' * 39}… (20)" in shown
    assert "two·lines (20)" in shown
    assert "q" * 40 not in shown
    assert long in leafcover("inspect", path, "--json").stdout


def test_help_is_quick():
    began = time.process_time()
    children = os.times()
    subprocess.run([sys.executable, "-m", "leafcover", "--help"], capture_output=True, check=True)
    spent = os.times().children_user + os.times().children_system - children.children_user - children.children_system
    assert spent < 1.0, spent  # 0.35 s measured; the bound allows for a loaded machine
    assert time.process_time() - began < 1


def test_no_output_may_be_the_original_or_another_output(good, tmp_path):
    out, before = tmp_path / "out.csv", good.read_text()
    target = ["--target", "class", "--force"]
    for words in (
        ["-o", good],
        ["-o", out, "--report", out],
        ["-o", out, "--key-file", out],
        ["-o", out, "--key-file", tmp_path / "out.csv.pairs"],
        ["-o", out, "--key-file", tmp_path / "out.csv.internal.json"],
        ["-o", out, "--report", tmp_path / "r.html", "--key-file", tmp_path / "r.external.html"],
        ["-o", out, "--report", tmp_path / "r.external.html"],
        ["-o", out, "--report", tmp_path / "report.txt"],
        ["-o", "."],
    ):
        refused("release", good, *words, *target)
        assert [p.name for p in tmp_path.iterdir()] == ["in.csv"]
    assert good.read_text() == before


def test_a_key_is_kept_only_when_the_release_is(good, tmp_path):
    words = ["-o", tmp_path / "out.csv", "--target", "class", "--key-file", tmp_path / "key"]
    refused("release", good, *words, "--max-risk", "0", code=3)
    assert not (tmp_path / "key").exists()
    assert leafcover("release", good, *words).exit_code == 0
    assert (tmp_path / "key").stat().st_mode & 0o777 == 0o600


def test_contradictions_are_refused(good, tmp_path):
    start = ["release", good, "-o", tmp_path / "out.csv"]
    assert "dropped" in refused(*start, "--target", "class", "--drop", "class")
    assert "one role" in refused(*start, "--target", "class", "--unit", "class")
    assert "one role" in refused(*start, "--target", "class", "--quasi-identifier", "age", "--sensitive", "age")
    assert "twice" in refused(*start, "--target", "class", "--set", "k=5", "--set", "k=6")
    assert "category" in refused(*start, "--target", "class", "--bins", "3")
    assert "k" in refused(*start, "--target", "class", "--set", "k=99999999999999999999999")
    (tmp_path / "plan.toml").write_text("version=1\ntarget='class'\n" + step())
    assert "plan" in refused(*start, "--plan", tmp_path / "plan.toml", "--bins", "3")
    assert "plan" in refused(*start, "--plan", tmp_path / "plan.toml", "--target", "job")
    (tmp_path / "plan.toml").write_text("version=true\n" + step())
    assert "version" in refused(*start, "--plan", tmp_path / "plan.toml")


def test_damaged_manifests_are_refused(good, tmp_path):
    out = tmp_path / "out.csv"
    assert leafcover("release", good, "-o", out, "--target", "class").exit_code == 0
    outward, inward = tmp_path / "out.csv.manifest.json", tmp_path / "out.csv.internal.json"
    for path, part, words in (
        (outward, ("output", "sha256"), ["verify", out]),
        (outward, ("columns",), ["verify", out]),
        (inward, ("reading",), ["verify", out, "--original", good]),
        (inward, ("reading", "roles"), ["measure", good, out]),
        (inward, ("cells",), ["measure", good, out]),
        (inward, ("plan",), ["verify", out]),
    ):
        whole = path.read_text()
        held = json.loads(whole)
        place = held[part[0]] if len(part) > 1 else held
        for damage in ("gone", "odd"):
            if damage == "gone":
                kept = place.pop(part[-1])
            else:
                place[part[-1]] = 5 if not isinstance(kept, int) else "five"
            path.write_text(json.dumps(held))
            assert f"is damaged at '{'.'.join(part)}'" in refused(*words)
        path.write_text(whole)


def test_verify_says_whether_the_table_or_its_manifest_is_missing(good, tmp_path):
    assert refused("verify", tmp_path / "nope.csv") == (
        f"error: There is no released table '{tmp_path / 'nope.csv'}'. Release it first, or name another."
    )
    line = refused("verify", good)
    assert f"There is no manifest '{good}.manifest.json'" in line
    assert "--manifest" in line


def test_a_message_on_the_command_line_names_options(good, tmp_path):
    words = ("release", good, "-o", tmp_path / "o.csv", "--target", "class")
    line = refused(*words, "--key-file", tmp_path / "k", "--seed", 1)
    assert "--key-file and --seed" in line
    (tmp_path / "zip.csv").write_text("zip,x\n" + "".join(f"{i:05d},{i % 3}\n" for i in range(60)))
    shown = leafcover("inspect", tmp_path / "zip.csv")
    assert "--category zip" in shown.stderr
    assert "--drop zip" in shown.stderr
    assert "category=" not in shown.stderr


def test_verify_notices_rubbish_beside_a_release(good, tmp_path):
    out = tmp_path / "out.csv"
    assert leafcover("release", good, "-o", out, "--target", "class").exit_code == 0
    manifest = tmp_path / "out.csv.manifest.json"
    manifest.write_text(manifest.read_text().replace('"guarantees": [', '"guarantees": [\n    "anonymous",'))
    assert "FAILED  the manifest" in leafcover("verify", out).stdout
    (tmp_path / "out.csv.rows").write_bytes(bytes(range(256)))
    refused("verify", out, "--original", good)
    assert leafcover("release", good, "-o", out, "--target", "class", "--recipe", "cells", "--force").exit_code == 0
    (tmp_path / "out.csv.pairs").write_bytes(bytes(range(256)))
    refused("verify", out, "--original", good)


def test_many_rows_alone_in_their_cell_are_refused_unless_forced(tmp_path):
    # every row has a level of its own with two others, so that leaves of the target's tree are as small as they can be
    lines = ["level,class", *(f"{place},{'ab'[place % 2]}" for place in range(60)), *["60,a"] * 200, *["61,b"] * 200]
    (tmp_path / "in.csv").write_text("\n".join(lines) + "\n")
    plan = (
        'version = 1\n[[step]]\ncolumns = ["class"]\nwithin = { method = "leaves", of = "class", min_cell = 1 }\n'
        'perturb = { method = "shuffle" }\n'
    )
    (tmp_path / "plan.toml").write_text(plan)
    asked = ["release", tmp_path / "in.csv", "-o", tmp_path / "out.csv", "--plan", tmp_path / "plan.toml"]
    asked += ["--category", "level", "--unchanged", "level"]
    refused = leafcover(*asked)
    assert refused.exit_code == 3
    assert "13.0% of the rows are singletons" in refused.output
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.csv", "plan.toml"]
    done = leafcover(*asked, "--force")
    assert done.exit_code == 0, done.output
    assert catalogue("release")("singletons", share="13.0%") in done.output


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (("release", "in.csv", "--max-risk", "5%"), "'--max-risk': it must be a number. Got '5%'."),
        (("forest", "in.csv", "--target", "x", "--trees", "ten"), "'--trees': it must be a whole number. Got 'ten'."),
        (("tree", "in.csv", "--target", "x", "--format", "pdf"), "'pdf' is not one of"),
        (("sweep", "in.csv"), "Missing option '--target'."),
        (("relase", "in.csv"), "Did you mean 'release'"),
    ],
)
def test_a_mistake_in_the_options_is_one_line_with_what_was_given(given, words, monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", ["leafcover", *given])
    assert run_command_line() == 2
    said = capsys.readouterr().err
    assert said.startswith("error: ")
    assert said.count("\n") == 1
    assert words in said
    assert "--help" in said
    assert "Value error" not in said
