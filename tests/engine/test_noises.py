"""The recipes for noise on every number: which columns they move, and that they hide as little as they say."""

import numpy as np
import pytest
from hypothesis import assume, given, settings

import leafcover as lc
from leafcover.engine.attacker import Known, evidence_of
from leafcover.engine.evaluate import pair_from
from leafcover.engine.run import run
from leafcover.errors import NameUnknown, PlanError
from leafcover.keyed_random import Key
from leafcover.metrics.disclosure.record_linkage import informed, linkage
from leafcover.recipes import plan_for
from leafcover.table.table import Column, Grid, Table
from tests.tables import category, mixed, mixed_tables, number

WITH_DATES = ["additive", "correlated", "bias-corrected"]
REVERSIBLE = ["translate", "scale", "rotate", "hybrid"]
RECIPES = [*WITH_DATES, "multiplicative", *REVERSIBLE]


@pytest.mark.parametrize("recipe", RECIPES)
def test_every_number_that_varies_and_may_be_changed_is_moved(recipe):
    names = ["a", "b", "same", "weight", "fixed"]
    values = np.random.default_rng(1).integers(0, 50, (5, 20)).astype(float)
    values[2] = 3
    columns = [number(name, v) for name, v in zip(names, values, strict=True)]
    day = Column("day", "date", np.arange(20.0), grid=Grid(0))
    roles = {"weight": "weight", "fixed": "unchanged"}
    original = Table((*columns, day, category("job", list("ab") * 10)), roles=roles)
    expected = ("a", "b", "day") if recipe in WITH_DATES else ("a", "b")
    assert plan_for(original, recipe).columns == expected
    assert plan_for(original, recipe, settings={"columns": " b , a"}).columns == ("b", "a")
    if recipe != "rotate":  # turns pairs of columns, and has no spread
        assert plan_for(original, recipe, settings={"columns": "b"}).columns == ("b",)
        assert plan_for(original, recipe, settings={"spread": "0.3"}).steps[0].perturb.spread == 0.3


@pytest.mark.parametrize("recipe", RECIPES)
def test_columns_that_cannot_be_moved_are_refused(recipe):
    original = mixed(1)
    with pytest.raises(NameUnknown, match="Did you mean 'pay'"):
        plan_for(original, recipe, settings={"columns": "age,pai"})
    with pytest.raises(PlanError, match="'job', a category"):
        plan_for(original, recipe, settings={"columns": "age,job"})
    with pytest.raises(PlanError, match="none that vary"):
        plan_for(original.select(["job", "class"]), recipe)


def test_a_column_whose_name_has_a_comma_can_be_named():
    original = Table((number("a,b", [1, 2, 3]), number("a", [1, 2, 3])))
    assert lc.recipes.additive(original, columns="a,b").columns == ("a,b",)


def test_a_number_as_target_is_moved_and_a_category_is_not():
    original = mixed(1)
    assert "pay" in plan_for(original, "additive", target="pay").columns
    assert "class" not in plan_for(original, "additive", target="class").columns


@pytest.mark.parametrize("recipe", RECIPES)
@settings(max_examples=25)
@given(table=mixed_tables())
def test_every_table_with_numbers_is_released(recipe, table):
    varied = [c.name for c in table if not c.is_category and len(np.unique(c.values[~c.missing])) > 1]
    assume(len(varied) > (recipe == "rotate"))
    release = run(table, plan_for(table, recipe, target="class"), key=Key.from_seed(1))
    assert release.table.names == table.names
    assert sorted(release.source) == list(range(len(table)))
    for name in varied:
        assert np.array_equal(np.isnan(release.table[name].values), table[name].missing[release.source])


def test_a_time_moves_by_whole_seconds_in_a_frame():
    pd = pytest.importorskip("pandas")
    days = pd.date_range("2020-01-01", periods=50)
    frame = pd.DataFrame({"day": days, "class": list("pq") * 25})
    out = lc.release(frame, lc.recipes.additive(lc.from_frame(frame)), seed=1).frame
    assert out["day"].dtype == frame["day"].dtype
    assert (out["day"].dt.round("s") == out["day"]).all()
    assert (~out["day"].isin(days)).any()  # noise goes beyond the range


@pytest.mark.parametrize("recipe", [one for one in RECIPES if one not in REVERSIBLE])
def test_noise_hides_little_as_the_recipes_say(recipe):
    original = lc.read(lc.sample("wine"))
    plan = plan_for(original, recipe, target="class")
    release = run(original, plan, key=Key.from_seed(1))
    pair = pair_from(original, release)
    evidence = evidence_of(Known(original, plan, release.partitions, original), pair.released, pair.quasi_identifiers)
    assert linkage(pair).low > 20 / len(original)
    assert informed(evidence).first.low > 0.5
