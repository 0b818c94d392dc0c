"""A plugin from another distribution works everywhere, without an edit in the library.

``tests/plugin`` is installed into a folder of its own; commands run in processes that see this folder.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.data import table_path

HERE = Path(__file__).parent


@pytest.fixture(scope="module")
def plugin(tmp_path_factory):
    """A folder with the installed plugin."""
    folder = tmp_path_factory.mktemp("plugin")
    words = ["install", "--quiet", "--disable-pip-version-check", "--no-deps", "--no-index", "--no-build-isolation"]
    command = [sys.executable, "-m", "pip", *words, "--target", str(folder / "site"), str(HERE / "plugin")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture(scope="module")
def released(plugin):
    """A release by the plugin's recipe, with a report."""
    words = ["--recipe", "rounded-grid", "--set", "base=10", "--target", "union", "--report", "r.html", "--seed", "1"]
    return plugin, run(plugin, "release", table_path("cps1985"), "-o", "out.csv", *words)


def python(plugin, *words):
    """A Python process that sees the plugin, in its folder."""
    inside = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(plugin / "site"), str(HERE.parent / "src"), str(HERE.parent)]),
    }
    done = subprocess.run(
        [sys.executable, *map(str, words)], cwd=plugin, env=inside, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def run(plugin, *words):
    """What a command prints."""
    return python(plugin, "-m", "leafcover", *words)


def test_the_recipe_is_listed_with_its_words(plugin):
    found = {one["name"]: one for one in json.loads(run(plugin, "recipes", "--json"))}
    assert found["rounded-grid"]["source"] == "An example"
    assert found["rounded-grid"]["parameters"] == {"base": 5.0, "parts": 3}


def test_a_plan_file_holds_its_methods_and_is_carried_out(plugin):
    text = run(plugin, "plan", table_path("cps1985"), "--recipe", "rounded-grid", "--set", "base=10")
    assert 'method = "round"' in text
    assert "[partition.grid]" in text
    (plugin / "plan.toml").write_text(text)
    run(plugin, "release", table_path("cps1985"), "-o", "planned.csv", "--plan", "plan.toml", "--seed", "1")
    wages = [line.split(",")[0] for line in (plugin / "planned.csv").read_text().splitlines()[1:]]
    assert {float(wage) % 10 for wage in wages} == {0.0}


def test_the_release_verifies(released):
    plugin, _ = released
    checks = python(
        plugin,
        "-c",
        "import leafcover as lc, sys\n"
        f"for c in lc.verify('out.csv', original={str(table_path('cps1985'))!r}): print(c.holds, c.what)",
    )
    assert "step 1" in checks
    assert [line for line in checks.splitlines() if line.startswith("False")] == [
        "False made with a secret key, rows in a secret order"
    ]


def test_the_report_describes_its_methods_and_shows_its_measure(released):
    plugin, _ = released
    page = (plugin / "r.html").read_text("utf-8")
    for words in ("rounded to the nearest multiple of 10", "a grid of 3 intervals", "hellinger", "An example"):
        assert words in page, words


def test_its_measure_is_taken_alone_and_with_all_others(released):
    plugin, printed = released
    assert "hellinger: " in printed
    alone = run_measure(plugin, "only=['hellinger', 'k_anonymity']")
    assert set(alone) == {"hellinger", "k_anonymity"}
    assert alone["hellinger"] == 0.0  # a shuffle keeps every marginal


def run_measure(plugin, only):
    return json.loads(
        python(
            plugin,
            "-c",
            "import json, leafcover as lc\n"
            "from leafcover.metrics.suite import plain\n"
            f"before, after = lc.read({str(table_path('cps1985'))!r}), lc.read('out.csv')\n"
            f"print(json.dumps(plain(lc.measure(before, after, {only}))))",
        )
    )


def test_a_sweep_tries_its_recipe(plugin):
    words = ["--recipes", "rounded-grid", "--runs", 1, "--rows", 200, "--jobs", 1, "--json", "--seed", 1]
    found = json.loads(run(plugin, "sweep", table_path("cps1985"), "--target", "union", *words))
    assert "rounded-grid" in json.dumps(found)


def test_its_perturbation_keeps_the_laws(plugin):
    python(
        plugin,
        "-c",
        "from leafcover_example import GridCells, Round\n"
        "from tests.perturb.test_laws import LAWS, SPLITS, part_of\n"
        "for where in (*SPLITS.values(), GridCells(('age', 'pay'))):\n"
        "    for law in LAWS: law(Round(), part_of(Round(), ('age', 'pay'), where))",
    )


def test_a_kind_that_a_perturbation_does_not_take_is_refused(plugin):
    printed = python(
        plugin,
        "-c",
        "import leafcover as lc\n"
        "from leafcover_example import Round\n"
        "from tests.tables import mixed\n"
        "try: lc.release(mixed(1), lc.Plan(lc.Step('job', within=lc.Whole(), perturb=Round())))\n"
        "except lc.errors.PlanError as error: print(error)",
    )
    assert "does not accept a category" in printed


def test_a_plugin_that_cannot_be_loaded_is_one_line(plugin, tmp_path):
    info = tmp_path / "broken-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: broken\nVersion: 1\n")
    (info / "entry_points.txt").write_text("[leafcover.plugins]\nbroken = not_there\n")
    done = subprocess.run(
        [sys.executable, "-m", "leafcover", "recipes"],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), str(HERE.parent / "src")])},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert done.stderr.startswith("error: The plugin 'broken' (not_there) cannot be loaded")
    assert "Traceback" not in done.stderr
