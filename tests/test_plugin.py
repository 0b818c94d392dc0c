"""A plugin from another distribution works everywhere, without an edit in the library.

``tests/plugin`` is installed into a folder of its own; commands run in processes that see this folder.
"""

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest

import leafcover as lc
from leafcover.errors import PluginError
from leafcover.extend import (
    Cells,
    Changed,
    Partition,
    PartitionMethod,
    Perturbation,
    measure,
    partition,
    perturbation,
    recipe,
)
from leafcover.metrics.registry import MEASURES
from leafcover.partition.base import PARTITIONS
from leafcover.perturb.base import PERTURBATIONS
from leafcover.recipes.registry import RECIPES
from tests.cli.helpers import refused, rows_of
from tests.data import table_path
from tests.perturb.test_laws import LAWS

HERE = Path(__file__).parent


@pytest.fixture(scope="module")
def plugin(tmp_path_factory):
    """A folder with the installed plugin and a small table."""
    folder = tmp_path_factory.mktemp("plugin")
    words = ["install", "--quiet", "--disable-pip-version-check", "--no-deps", "--no-index", "--no-build-isolation"]
    command = [sys.executable, "-m", "pip", *words, "--target", str(folder / "site"), str(HERE / "plugin")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    few = lc.read(table_path("cps1985")).select(["wage", "age", "sector", "union"]).take(np.arange(150))
    lc.write(few, folder / "in.csv")
    return folder


WORDS = {
    "plan": ("plan", "in.csv", "--recipe", "rounded-grid", "--set", "base=10"),
    "planned": ("release", "in.csv", "-o", "planned.csv", "--plan", "plan.toml", "--seed", "1"),
    "release": (
        "release", "in.csv", "-o", "out.csv", "--recipe", "rounded-grid", "--set", "base=10", "--target", "union",
        "--recode", "sector: initials 2", "--report", "r.html", "--seed", "1",
    ),
    "sweep": (
        "sweep", "in.csv", "--target", "union", "--recipes", "rounded-grid", "--runs", 1, "--rows", 100, "--jobs", 1,
        "--json", "--seed", 1,
    ),
}  # fmt: skip

# All that is asked of the plugin in one process: to start one takes longer than most of it.
SCRIPT = f"""
import json
from pathlib import Path
import leafcover as lc
from leafcover.metrics.suite import plain
from leafcover_example import GridCells, Round
from tests.cli.helpers import leafcover
from tests.perturb.test_laws import LAWS, SPLITS, part_of
from tests.small_models import small_models
from tests.tables import mixed

found = {{}}
with small_models():
    for name, words in {WORDS!r}.items():
        done = leafcover(*words)
        assert done.exit_code == 0, done.output
        found[name] = done.stdout
        if name == "plan":
            Path("plan.toml").write_text(done.stdout)
found["checks"] = [(one.holds, one.what) for one in lc.verify("out.csv", original="in.csv")]
before, after = lc.read("in.csv"), lc.read("out.csv")
found["alone"] = plain(lc.measure(before, after, only=["hellinger", "k_anonymity"]))
for where in (*SPLITS.values(), GridCells(("age", "pay"))):
    for law in LAWS:
        law(Round(), part_of(Round(), ("age", "pay"), where))
found["laws"] = len(LAWS)
try:
    lc.release(mixed(1), lc.Plan(lc.Step("job", within=lc.Whole(), perturb=Round())))
except lc.errors.PlanError as error:
    found["refused"] = str(error)
print(json.dumps(found))
"""


@pytest.fixture(scope="module")
def used(plugin):
    """What a process that sees the plugin did with it: releases, checks, measures, a sweep, and laws."""
    return json.loads(python(plugin, "-c", SCRIPT).splitlines()[-1])


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


def test_the_recipe_is_listed_with_its_words(plugin):
    found = {one["name"]: one for one in json.loads(python(plugin, "-m", "leafcover", "recipes", "--json"))}
    assert found["rounded-grid"]["source"] == "An example"
    assert found["rounded-grid"]["parameters"] == {"base": 5.0, "parts": 3}


def test_a_plan_file_holds_its_methods_and_is_carried_out(plugin, used):
    assert 'method = "round"' in used["plan"]
    assert "[partition.grid]" in used["plan"]
    wages = [line.split(",")[0] for line in (plugin / "planned.csv").read_text().splitlines()[1:]]
    assert {float(wage) % 10 for wage in wages} == {0.0}


def test_the_release_verifies(used):
    assert any("step 1" in what for _, what in used["checks"])
    assert [what for holds, what in used["checks"] if not holds] == ["made with a secret key, rows in a secret order"]


def test_the_report_describes_its_methods_and_shows_its_measure(plugin, used):
    page = (plugin / "r.html").read_text("utf-8")
    for words in ("rounded to the nearest multiple of 10", "a grid of 3 intervals", "hellinger", "An example"):
        assert words in page, words


def test_its_measure_is_taken_alone_and_with_all_others(used):
    assert "hellinger: " in used["release"]
    assert set(used["alone"]) == {"hellinger", "k_anonymity"}
    assert used["alone"]["hellinger"] == 0.5  # a shuffle keeps every marginal; no recoded level was a level before


def test_a_sweep_tries_its_recipe(used):
    assert "rounded-grid" in json.dumps(json.loads(used["sweep"]))


def test_its_perturbation_keeps_the_laws(used):
    assert used["laws"] == len(LAWS)  # a law that is broken ends the process


def test_a_kind_that_a_perturbation_does_not_take_is_refused(used):
    assert "does not accept a category" in used["refused"]


# Plugins with faults, registered in this process.


@pytest.fixture
def registries(monkeypatch):
    """The four registries, as they were after the test."""
    for one in (PERTURBATIONS, PARTITIONS, RECIPES, MEASURES):
        len(one)  # loads what is built in
        monkeypatch.setattr(one, "_entries", dict(one._entries))


@dataclass(frozen=True)
class Faulty(Perturbation):
    """Fails where it is told to."""

    frozen_id: ClassVar[str] = "test-faulty"

    fault: str = "change"

    def __post_init__(self):
        self._fail("__post_init__")

    def _fail(self, place):
        if self.fault == place:
            raise ValueError("no\nluck")

    @property
    def scope(self):
        self._fail("scope")
        return "row"

    def change(self, part, summary, draws):
        self._fail("change")
        return {column.name: Changed(column.values) for column in part.columns}

    def likelihood(self, part, released, summary):
        self._fail("likelihood")
        return np.ones(len(part))


@dataclass(frozen=True)
class FaultyCells(PartitionMethod):
    """Divides by zero."""

    frozen_id: ClassVar[str] = "test-faulty-cells"

    needs = ()

    def cells(self, table):
        return Partition(Cells(np.zeros(len(table) // 0, np.int64), 1))


def fresh(kind):
    """A copy of a class, because registering one guards its methods."""
    own = {name: one for name, one in vars(kind).items() if name not in ("__dict__", "__weakref__", "_abc_impl")}
    return type(kind)(kind.__name__, kind.__bases__, own)


@pytest.mark.parametrize("place", ["__post_init__", "scope", "change", "likelihood"])
def test_an_exception_in_a_perturbation_is_one_line_that_names_the_method(registries, tmp_path, place):
    faulty = perturbation("faulty")(fresh(Faulty))

    @recipe("faulty")
    def write(table: lc.Table) -> lc.Plan:
        return lc.Plan(*(lc.Step(name, within=lc.Whole(), perturb=faulty(place)) for name in table.names))

    (tmp_path / "in.csv").write_text(rows_of())
    line = refused("release", tmp_path / "in.csv", "-o", tmp_path / "o.csv", "--recipe", "faulty")
    assert f"Faulty.{place}, of the perturbation 'faulty', raised ValueError: no luck." in line
    assert [path.name for path in tmp_path.iterdir()] == ["in.csv"]


def test_an_exception_in_a_partition_recipe_or_measure_is_one_line(registries, tmp_path):
    cells = partition("faulty-cells")(fresh(FaultyCells))

    @recipe("by-cells")
    def by_cells(table: lc.Table) -> lc.Plan:
        return lc.Plan(lc.Step("job", within=cells(), perturb=lc.Shuffle()))

    @recipe("faulty")
    def faulty(table: lc.Table) -> lc.Plan:
        return {}["nobody"]

    @recipe("no-plan")
    def no_plan(table: lc.Table) -> lc.Plan:
        return None

    (tmp_path / "in.csv").write_text(rows_of())
    words = ("release", tmp_path / "in.csv", "-o", tmp_path / "o.csv", "--recipe")
    assert "FaultyCells.cells, of the partition 'faulty-cells', raised ZeroDivisionError" in refused(*words, "by-cells")
    assert "faulty, the recipe 'faulty', raised KeyError: 'nobody'." in refused(*words, "faulty")
    assert "The recipe 'no-plan' must return a Plan. Got NoneType." in refused(*words, "no-plan")

    @measure("faulty", side="risk")
    def count(pair):
        return "many"

    table = lc.read(tmp_path / "in.csv")
    with pytest.raises(PluginError, match=r"count, the measure 'faulty', raised ValueError") as caught:
        lc.measure(table, table, only=["faulty"])
    assert isinstance(caught.value.__cause__, ValueError)  # with its traceback


@pytest.mark.parametrize(
    ("register", "kind", "words"),
    [
        (perturbation, type("No", (Faulty,), {"frozen_id": ""}), "'bad' \\(No\\) has no frozen_id"),
        (perturbation, type("Same", (Faulty,), {"frozen_id": "shuffle"}), "has the frozen_id 'shuffle' of 'shuffle'"),
        (perturbation, type("Half", (Perturbation,), {"frozen_id": "x"}), "does not define change, likelihood"),
        (partition, type("None_", (PartitionMethod,), {}), "has no frozen_id"),
    ],
)
def test_a_class_that_cannot_be_used_is_refused_at_registration(registries, register, kind, words):
    with pytest.raises(PluginError, match=words):
        register("bad")(kind)
    assert "bad" not in PERTURBATIONS
    assert "bad" not in PARTITIONS


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
