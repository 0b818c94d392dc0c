"""The layout of the source: sizes, names, doors, and whether a stranger finds a thing in two guesses."""

import ast
import json
import re
import statistics
import subprocess
import sys
import tomllib
from collections import Counter, defaultdict
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src" / "leafcover"
FILES = sorted(SOURCE.rglob("*.py"))
FREE_NAMES = ("__init__.py", "base.py")  # may repeat in every package
METHODS = re.compile(r"^class (\w+)\((?:PartitionMethod|Perturbation|ABC)\):", re.MULTILINE)


@cache
def trees():
    """The syntax of every file; not read before it is needed, since every process of the tests loads this file."""
    return {path: ast.parse(path.read_text("utf-8")) for path in FILES}


def test_files_are_few_and_none_is_long():
    assert len(FILES) <= 220
    assert [path.name for path in FILES if len(path.read_text("utf-8").splitlines()) > 600] == []


def test_functions_are_short():
    functions = (n for tree in trees().values() for n in ast.walk(tree) if isinstance(n, ast.FunctionDef))
    assert statistics.median(n.end_lineno - n.lineno + 1 for n in functions) <= 12


def test_names_seldom_repeat():
    names = Counter(path.name for path in FILES if path.name not in FREE_NAMES)
    assert len([name for name, count in names.items() if count > 1]) <= 15
    classes = defaultdict(set)
    for path, tree in trees().items():
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef):
                classes[node.name].add(path.relative_to(SOURCE).parts[0])
    assert len([name for name, packages in classes.items() if len(packages) > 1]) <= 5


def test_few_files_serve_one_other_alone():
    modules = {"leafcover." + ".".join(path.relative_to(SOURCE).with_suffix("").parts): path for path in FILES}
    users = defaultdict(set)
    for path, tree in trees().items():
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and node.module:
                for name in (node.module, *(f"{node.module}.{alias.name}" for alias in node.names)):
                    if modules.get(name, path) != path:
                        users[name].add(path)
    assert len([name for name in modules if len(users[name]) == 1]) <= 38


def test_nobody_asks_what_class_a_method_is():
    """What a perturbation or partition can do is declared on it."""
    inside = [SOURCE / "partition", SOURCE / "perturb"]
    names = {name for folder in inside for path in folder.glob("*.py") for name in METHODS.findall(path.read_text())}
    assert {"Shuffle", "Leaves", "Perturbation", "PartitionMethod"} <= names
    asked = []
    for path, tree in trees().items():
        if path.parent in inside:
            continue
        for node in ast.walk(tree):
            called = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "isinstance"
            if called and names & {n.id for n in ast.walk(node.args[1]) if isinstance(n, ast.Name)}:
                asked.append(f"{path.name}:{node.lineno}")
            if isinstance(node, ast.MatchClass) and isinstance(node.cls, ast.Name) and node.cls.id in names:
                asked.append(f"{path.name}:{node.lineno}")
    assert asked == []


def found(guess, files):
    """The files whose path contains a guess, folders joined by underscores as words are."""
    word = guess.rstrip("s") if len(guess) > 4 else guess
    return [file for file in files if word in file.removesuffix(".py").replace("/", "_")]


def test_a_stranger_finds_most_things_in_two_guesses():
    tasks = tomllib.loads((Path(__file__).parent / "two_guess.toml").read_text("utf-8"))["task"]
    files = [path.relative_to(SOURCE).as_posix() for path in FILES]
    assert [task["file"] for task in tasks if task["file"] not in files] == []
    hits = [
        any(task["file"] in (some := found(g, files)) and len(some) <= 12 for g in task["guesses"]) for task in tasks
    ]
    assert len(tasks) == 50
    assert sum(hits) >= 45


TRACE = """
import json, sys
seen, source = {}, sys.argv.pop(1)

def note(frame, event, value):
    code = frame.f_code
    file = code.co_filename
    if file in seen or not file.startswith(source) or not file.endswith(".py"):
        return
    loading = frame
    while loading and not (loading.f_code.co_name == "<module>" and loading.f_code.co_filename.startswith(source)):
        loading = loading.f_back
    if loading is None and "__name__" in frame.f_globals:  # neither while a module loads nor compiled by numba
        seen[file] = file[len(source) + 1 :]

from leafcover.cli import main
sys.settrace(note)
try:
    main()
finally:
    sys.settrace(None)
    print(json.dumps(list(seen.values())))
"""


def files_run(*words):
    """The files in which a function runs, in order."""
    given = ["release", SOURCE / "data" / "cps1985.csv", "--target", "union", "--quiet", *words]
    ran = subprocess.run([sys.executable, "-c", TRACE, SOURCE, *given], capture_output=True, text=True, check=True)
    return json.loads(ran.stdout.splitlines()[-1])


def test_a_release_reads_its_table_early(tmp_path):
    files = files_run("-o", tmp_path / "r.csv")
    assert files.index("table/io.py") <= 4
    assert 30 < len(files) <= 50


@pytest.mark.slow
def test_a_release_with_a_report_runs_through_few_files(tmp_path):
    ran = files_run("-o", tmp_path / "r.csv", "--report", tmp_path / "r.html")
    assert 60 < len(ran) <= 98
