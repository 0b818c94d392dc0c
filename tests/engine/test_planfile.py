"""Plans as TOML, and the fingerprint of a table."""

from dataclasses import replace

import numpy as np
import pytest

import leafcover as lc
from leafcover.engine.run import fingerprint, run
from leafcover.errors import LeafcoverError, PlanError
from leafcover.keyed_random import Key
from leafcover.partition.forest import Forest, Refine
from leafcover.partition.leaves import Leaves, Whole
from leafcover.perturb.additive import Additive, Multiplicative
from leafcover.perturb.bounded import Bounded, Normal
from leafcover.perturb.centroid import Centroid
from leafcover.perturb.redraw import Redraw
from leafcover.perturb.shuffle import Shuffle
from leafcover.recipes import RECIPES, plan_for
from leafcover.recipes.plan import Plan, Step, check
from leafcover.recipes.plan_file import parse_plan, plan_text
from leafcover.table.io import read, write
from tests.data import table_path
from tests.tables import category, mixed, table

PLAN = Plan(
    Step(["age", "pay"], within=Refine(Leaves(of="class", min_cell=3), by=["town"], floor=9), perturb=Shuffle("moves")),
    Step("noise", within=Whole(), perturb=Bounded(0.1, "rank", "wrap", "laplace", "heterogeneous")),
    Step("job", within=Leaves(of="job", bins=3), perturb=Redraw("shares", 0.1, 2, 0.05), keep=[Leaves(of="class")]),
)


NOISY = Plan(
    Step(["age", "job"], within=Leaves(of="class"), perturb=Centroid("median", 3, on_grid=True)),
    Step("pay", within=Whole(), perturb=Additive(0.5, "laplace", on_grid=False)),
    Step("noise", within=Whole(), perturb=Multiplicative(0.2, "normal", on_grid=False)),
)


FOREST = Plan(
    Step("age", within=Forest(of="class", n_trees=12, min_cell=3, goodness=0.2, bins=4), perturb=Bounded()),
    Step("pay", within=Refine(Forest(of="class"), by=["town"]), perturb=Shuffle("moves")),
    Step("job", within=Whole(), perturb=Redraw("own", others=0.1), keep=[Forest(of="class", min_cell=1)]),
)


@pytest.mark.parametrize("plan", [PLAN, NOISY, FOREST])
def test_a_plan_survives_its_file(plan):
    assert parse_plan(plan_text(plan)) == plan


@pytest.mark.parametrize(
    ("noise", "said"),
    [
        ('{ method = "additive" }', "spread"),
        ('{ method = "additive", spread = -1.0 }', "above 0"),
        ('{ method = "additive", spread = 1.0, distribution = "cauchy" }', "distribution"),
        ('{ method = "multiplicative", spread = 0.1, distribution = "laplace" }', "distribution"),
        ('{ method = "centroid", least = 0 }', "at least 1"),
        ('{ method = "centroid", number = "mode" }', "number"),
    ],
)
def test_a_noise_with_a_wrong_parameter_is_refused(noise, said):
    text = f'version = 1\n[[step]]\ncolumns = ["age"]\nwithin = {{ method = "whole" }}\nperturb = {noise}\n'
    with pytest.raises(PlanError, match=said):
        parse_plan(text)


@pytest.mark.parametrize(
    ("within", "said"),
    [
        ('{ method = "forest" }', "no of"),
        ('{ method = "forest", of = "class", n_trees = 0 }', "n_trees"),
        ('{ method = "forest", of = "class", trees = 5 }', "n_trees"),
        ('{ method = "refine", by = ["age"], start = { method = "kd", by = ["age"] } }', "whole, leaves, forest"),
    ],
)
def test_a_split_with_a_wrong_parameter_is_refused(within, said):
    text = f'version = 1\n[[step]]\ncolumns = ["age"]\nwithin = {within}\nperturb = {{ method = "shuffle" }}\n'
    with pytest.raises(LeafcoverError, match=said):
        parse_plan(text)


@pytest.mark.parametrize("noise", [Additive(0.5), Multiplicative(0.2), Bounded()])
def test_a_category_cannot_be_moved_as_a_number(noise):
    with pytest.raises(PlanError, match="category"):
        check(Plan(Step("job", within=Whole(), perturb=noise)), mixed(1))
    check(Plan(Step("job", within=Whole(), perturb=Centroid())), mixed(1))


@pytest.mark.parametrize("noise", [Additive(0.5), Multiplicative(0.2), Centroid()])
def test_a_noise_that_knows_no_box_cannot_keep_another_trees_leaves(noise):
    plan = Plan(Step("age", within=Whole(), perturb=noise, keep=[Leaves(of="class")]))
    with pytest.raises(PlanError, match="keep"):
        check(plan, mixed(1))


@pytest.mark.parametrize("recipe", RECIPES)
def test_every_recipes_plan_survives_its_file(recipe):
    plan = plan_for(mixed(1), recipe, target="class")
    assert parse_plan(plan_text(plan)) == plan


def test_a_law_of_ones_own_has_no_place_in_a_file():
    class Own(Normal):
        pass

    plan = Plan(Step("age", within=Whole(), perturb=Bounded(distribution=Own())))
    with pytest.raises(PlanError, match="distribution"):
        plan_text(plan)
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


def test_the_canonical_form_knows_no_names_of_classes_files_or_recipes():
    from dataclasses import dataclass, field
    from typing import ClassVar

    from leafcover.recipes.plan import canonical

    @dataclass(frozen=True)
    class Renamed(lc.Shuffle):
        frozen_id: ClassVar[str] = "shuffle"
        missing: ClassVar[str] = "stays"
        gaps: str = field(default="stays", metadata={"frozen_id": "missing"})

    step = lc.Step("a", within=lc.Whole(), perturb=lc.Shuffle())
    same = lc.Step("a", within=lc.Whole(), perturb=Renamed())
    assert canonical(lc.Plan(step)) == canonical(lc.Plan(same, recipe="cover", target="a"))
    assert canonical(lc.Plan(step)) == b'[[["a"],["whole",{}],["shuffle",{"missing":"stays"}],[]]]'


def test_the_canonical_form_tells_parameters_apart_and_not_how_a_number_is_written():
    from leafcover.recipes.plan import canonical

    def of(noise, within=lc.Whole()):  # noqa: B008  # frozen
        return canonical(lc.Plan(lc.Step("a", within=within, perturb=noise)))

    assert of(lc.Bounded(spread=1)) == of(lc.Bounded(spread=1.0)) != of(lc.Bounded(spread=0.5))
    assert of(lc.Bounded(), lc.Leaves("a", bins=None)) != of(lc.Bounded(), lc.Leaves("a", bins=4))

    class Own:
        def __init__(self, width):
            self.width = width

        def cdf(self, x):
            return x

        inverse = cdf

    assert of(lc.Bounded(distribution=Own(1))) != of(lc.Bounded(distribution=Own(2)))
