"""Plans as TOML, and the fingerprint of a table."""

from dataclasses import replace

import numpy as np
import pytest

from leafcover.draws import Key
from leafcover.errors import PlanError
from leafcover.noise.bounded import Bounded
from leafcover.noise.law import Normal
from leafcover.noise.redraw import Redraw
from leafcover.noise.shuffle import Shuffle
from leafcover.releasing.fingerprint import fingerprint
from leafcover.releasing.plan import Plan, Step
from leafcover.releasing.planfile import from_toml, to_toml
from leafcover.releasing.recipes import RECIPES, plan_for
from leafcover.releasing.run import run
from leafcover.split.refine import Refine
from leafcover.split.trees import Leaves, Whole
from leafcover.table.files import read, write
from tests.data import table_path
from tests.tables import category, mixed, table

PLAN = Plan(
    Step(["age", "pay"], within=Refine(Leaves(of="class", min_cell=3), by=["town"], floor=9), noise=Shuffle("moves")),
    Step("noise", within=Whole(), noise=Bounded(0.1, "rank", "wrap", "laplace", "heterogeneous")),
    Step("job", within=Leaves(of="job", bins=3), noise=Redraw("shares", 0.1, 2, 0.05), keep=[Leaves(of="class")]),
)


def test_a_plan_survives_its_file():
    assert from_toml(to_toml(PLAN)) == PLAN


@pytest.mark.parametrize("recipe", RECIPES)
def test_every_recipes_plan_survives_its_file(recipe):
    plan = plan_for(mixed(1), recipe, target="class")
    assert from_toml(to_toml(plan)) == plan


def test_a_law_of_ones_own_has_no_place_in_a_file():
    class Own(Normal):
        pass

    plan = Plan(Step("age", within=Whole(), noise=Bounded(law=Own())))
    with pytest.raises(PlanError, match="law"):
        to_toml(plan)
    assert run(mixed(1), plan, key=Key.from_seed(1)).columns[0].changed > 0.5  # but it can be used


def test_the_fingerprint_is_the_same_in_every_format_and_depends_on_the_key(tmp_path):
    key = Key.from_seed(1)
    original = read(table_path("cps1985"))
    marks = {fingerprint(original, key)}
    for ending in (".parquet", ".arrow", ".tsv", ".csv.gz"):
        write(original, tmp_path / f"t{ending}")
        marks.add(fingerprint(read(tmp_path / f"t{ending}"), key))
    assert len(marks) == 1
    assert fingerprint(original, Key.from_seed(2)) not in marks


def test_the_fingerprint_sees_every_cell_name_and_order():
    key, t = Key.from_seed(1), mixed(1, rows=50, missing=0.0)
    marks = {fingerprint(t, key)}
    for name in t.names:
        values = t[name].values.copy()
        values[3] = values[3] + 1 if not t[name].is_category else (values[3] + 1) % len(t[name].levels)
        marks.add(fingerprint(t.replace([replace(t[name], values=values)]), key))
    marks.add(fingerprint(t.take(np.arange(50)[::-1].copy()), key))
    assert len(marks) == len(t.names) + 2


def test_levels_that_nobody_has_are_no_part_of_the_fingerprint():
    key = Key.from_seed(1)
    plain = category("job", ["a", "c", "a"])
    declared = replace(plain, levels=("a", "b", "c"), values=np.array([0, 2, 0], np.int32))
    assert fingerprint(table(plain), key) == fingerprint(table(declared), key)
