"""Recipes that average: k is guaranteed in what is released, means stay, settings are checked."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, note
from hypothesis import strategies as st

import leafcover as lc
from leafcover.errors import LeafcoverError
from leafcover.recipes.plan_file import parse_plan, plan_text
from tests.tables import category, mixed, mixed_tables, number, table

RECIPES = {
    "microaggregate": [
        {},
        {"groups": "each"},
        {"method": "v-mdav"},
        {"average": "median"},
        {"on_grid": True},
        {"block": 12},
    ],
    "microaggregate-univariate": [{}, {"sizes": "fixed"}],
    "perturbation-tree": [
        {},
        {"groups": "mdav", "leaf": 20},
        {"groups": "k-means", "leaf": 20},
        {"cut": "median"},
        {"own_tree": True},
        {"tree": "halves"},
        {"tree": "halves", "leaf": 20, "groups": "mdav"},
    ],
}
CASES = [(recipe, settings) for recipe, several in RECIPES.items() for settings in several]


@given(original=mixed_tables(), k=st.integers(2, 4), first=st.integers(0, 2))
def test_every_released_average_rests_on_k_values(original, k, first):
    """A third of the cases on each table: drawing tables for each case would take longer than releasing them."""
    for recipe, settings in CASES[first::3]:
        note(f"{recipe} {settings}")
        try:
            plan = lc.recipes.plan_for(original, recipe, settings={"k": k, **settings})
            release = lc.release(original, plan, seed=1)
        except LeafcoverError:  # no number that varies, or fewer than k known values: refused, not leaked
            continue
        for name in plan.columns:
            column = release.table[name]
            known = column.values[~column.missing]
            assert np.unique(known, return_counts=True)[1].min(initial=k) >= k
            assert (column.missing.sum()) == original[name].missing.sum()


@pytest.mark.parametrize(("recipe", "settings"), CASES)
def test_means_stay_and_variances_do_not_grow(recipe, settings):
    if settings.get("average") == "median" or settings.get("on_grid"):
        return
    original = mixed(3, rows=300, missing=0.0)
    release = lc.release(original, lc.recipes.plan_for(original, recipe, settings=settings), seed=1)
    for name in release.plan.columns:
        before, after = original[name].values, release.table[name].values
        assert after.mean() == pytest.approx(before.mean())
        assert after.var() <= before.var() * (1 + 1e-12)


def test_categories_are_averaged_by_their_mode_when_they_are_named():
    original = mixed(3, rows=300)
    plan = lc.recipes.plan_for(original, "microaggregate", settings={"columns": "age,job", "k": 5})
    release = lc.release(original, plan, seed=1, keep_order=True)
    assert release.unprotected == ("pay", "noise", "town", "class")
    label = release.partitions[plan.steps[0].within].cells.label
    checked = 0
    for group in range(label.max() + 1):
        before, after = (
            t["job"].values[(label == group) & ~original["job"].missing] for t in (original, release.table)
        )
        if len(before) >= 5:  # smaller ones are averaged together
            assert (after == np.bincount(before).argmax()).all()
            checked += 1
    assert checked > 10


def test_strata_are_named():
    original = mixed(3, rows=300)
    plan = lc.recipes.plan_for(original, "microaggregate", settings={"strata": "job,town"})
    assert plan.steps[0].within.start == lc.Strata(("job", "town"), min_cell=3)
    with pytest.raises(LeafcoverError, match="no column 'jobs'"):
        lc.recipes.plan_for(original, "microaggregate", settings={"strata": "jobs"})
    with pytest.raises(LeafcoverError, match="defines strata"):
        lc.recipes.plan_for(original, "microaggregate", settings={"strata": "age", "columns": "age,pay"})
    plan = lc.recipes.plan_for(original, "microaggregate", settings={"strata": "age"})
    assert "age" not in plan.columns  # it has another task


def test_confidential_columns_alone_are_averaged_by_the_tree():
    original = mixed(3, rows=300)
    from dataclasses import replace

    marked = replace(original, roles={"pay": "sensitive"})
    plan = lc.recipes.plan_for(marked, "perturbation-tree", settings={"split_on": "others"})
    assert plan.columns == ("pay",)
    assert "pay" not in plan.steps[0].within.by


@pytest.mark.parametrize(("recipe", "settings"), CASES)
def test_plans_survive_a_file(recipe, settings):
    plan = lc.recipes.plan_for(mixed(3, rows=100), recipe, settings={"k": 4, **settings})
    assert parse_plan(plan_text(plan)) == plan


@pytest.mark.parametrize(
    ("recipe", "settings"),
    [
        ("microaggregate", {"k": 0}),
        ("microaggregate", {"k": 1}),
        ("perturbation-tree", {"k": 1}),
        ("microaggregate", {"columns": "nobody"}),
        ("microaggregate", {"columns": " , "}),
        ("microaggregate", {"groups": "age+age"}),
        ("microaggregate", {"groups": "+"}),
        ("microaggregate", {"groups": "job+age"}),
        ("microaggregate-univariate", {"columns": "job"}),
        ("perturbation-tree", {"columns": "job"}),
        ("perturbation-tree", {"columns": "age,pay,noise", "split_on": "others"}),
        ("perturbation-tree", {"tree": "halves", "cut": "median"}),
        ("perturbation-tree", {"tree": "halves", "axes": "cycle"}),
        ("perturbation-tree", {"tree": "halves", "preset": "table-5.1"}),
        ("perturbation-tree", {"groups": "mdav", "preset": "table-5.2"}),
        ("microaggregate", {"gamma": 0.5}),
        ("microaggregate", {"method": "v-mdav", "block": 50}),
    ],
)
def test_wrong_settings_are_one_clear_line(recipe, settings):
    with pytest.raises(LeafcoverError) as caught:
        lc.recipes.plan_for(mixed(3, rows=100), recipe, settings=settings)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("recipe", ["microaggregate", "microaggregate-univariate", "perturbation-tree"])
def test_rows_without_a_value_are_told_of(recipe):
    original = mixed(3, rows=300, missing=0.1)
    release = lc.release(original, lc.recipes.plan_for(original, recipe), seed=1)
    assert any("no value in" in warning for warning in release.warnings)
    whole = mixed(3, rows=300, missing=0.0)
    release = lc.release(whole, lc.recipes.plan_for(whole, recipe), seed=1)
    assert not any("no value in" in warning for warning in release.warnings)


def test_times_at_midnight_become_days():
    days = np.array([0.0, 1.0, 2.0, 4.0, 5.0, 9.0, 9.0, 11.0, 12.0])
    moments = pa.table({"when": pa.array((days * 86_400).astype(np.int64)).cast(pa.timestamp("s"))})
    original = lc.from_frame(moments)
    release = lc.release(original, lc.recipes.plan_for(original, "microaggregate-univariate"), seed=1)
    # the mean days are 1, 6 and 32/3, the last of which is a time of day
    assert sorted(set((release.table["when"].values / 86_400).tolist())) == [1.0, 6.0, 11.0]


def test_one_group_of_all_rows_is_said():
    original = mixed(3, rows=30)
    release = lc.release(original, lc.recipes.plan_for(original, "microaggregate", settings={"k": 16}), seed=1)
    assert release.warnings[0] in str(release)
    assert "k = 16 all rows form one group" in release.warnings[0]


def test_noise_on_single_values_speaks_of_no_cells():
    original = mixed(3, rows=60)
    said = str(lc.release(original, lc.recipes.plan_for(original, "additive"), seed=1))
    assert "smallest cell" not in said


def test_a_parameter_that_is_not_given_is_named():
    text = plan_text(lc.recipes.plan_for(mixed(3, rows=100), "microaggregate"))
    with pytest.raises(LeafcoverError, match=r"'leaves' has no of\. Add it"):
        parse_plan(text.replace('method = "mdav"', 'method = "mdav", start = { method = "leaves" }'))


def test_lists_of_names_are_taken_like_text_with_commas():
    original = mixed(3, rows=100)
    for listed, text in (
        ({"columns": ["age", "pay"]}, {"columns": "age,pay"}),
        ({"columns": ("age",), "strata": ["job"]}, {"columns": "age", "strata": "job"}),
        ({"columns": ["age", "pay"], "groups": ["age+pay"]}, {"columns": "age,pay", "groups": "age+pay"}),
    ):
        assert lc.recipes.microaggregate(original, **listed) == lc.recipes.microaggregate(original, **text)
    with pytest.raises(LeafcoverError, match="groups"):
        lc.recipes.microaggregate(original, groups=[["age"]])


def test_groups_with_too_few_values_stay_in_their_stratum():
    # A tenth of all values is missing, so most groups of 5 know fewer than 5 of a column.
    original = mixed(3, rows=600)
    plan = lc.recipes.plan_for(original, "microaggregate", settings={"k": 5, "strata": "class", "columns": "age,pay"})
    release = lc.release(original, plan, seed=1, keep_order=True)
    for name in ("age", "pay"):
        before, after = original[name].values, release.table[name].values
        for one in (0, 1):
            rows = (original["class"].values == one) & ~np.isnan(before)
            assert after[rows].mean() == pytest.approx(before[rows].mean())
        assert np.unique(after[~np.isnan(after)]).size > 60


def test_table_4_1_of_the_paper():
    from tests.kd_tables import TABLE_41

    plan = lc.recipes.plan_for(
        TABLE_41, "perturbation-tree", settings={"preset": "table-4.1", "columns": TABLE_41.names[-1]}
    )
    release = lc.release(TABLE_41, plan, seed=1, keep_order=True)
    found = sorted(set(np.round(release.table[TABLE_41.names[-1]].values, 2)))
    assert found == [52.0, 57.0, 61.33, 71.5]


def test_table_5_1_of_the_paper():
    # One tree for each confidential column, which does not ask for it; the means as printed, two misprints apart.
    original = lc.read(lc.sample("cps1985")).select(["education", "experience", "wage"]).take(np.arange(19))
    settings = {"preset": "table-5.1", "columns": "experience,wage"}
    plan = lc.recipes.plan_for(original, "perturbation-tree", settings=settings)
    release = lc.release(original, plan, seed=1)
    for name, expected in {
        "wage": {4.375: 2, 8.355: 6, 10.621: 9, 14.75: 2},
        "experience": {29.571: 7, 14.857: 7, 16.8: 5},
    }.items():
        values, counts = np.unique(release.table[name].values, return_counts=True)
        assert dict(zip(values.round(3).tolist(), counts.tolist(), strict=True)) == pytest.approx(expected)


def test_table_5_2_of_the_paper():
    """All 19 Wages as printed, single rows among them, and 10 of 19 values of Experience."""
    original = lc.read(lc.sample("cps1985")).select(["education", "experience", "wage"]).take(np.arange(19))
    plan = lc.recipes.plan_for(
        original, "perturbation-tree", settings={"preset": "table-5.2", "columns": "experience,wage"}
    )
    released = lc.release(original, plan, seed=1, keep_order=True).table
    wages = [4.375, 6.03, 6.73, 6.73, 6.73, 12.3, 6.03, 19.47, 12.3, 6.73, 12.3, 12.3, 6.03, 6.03, 19.98, 14.75, 6.03]
    assert released["wage"].values.round(3).tolist() == [*wages, 14.75, 4.375]
    printed = [18.5, 43, 2.5, 2.5, 22.5, 9.67, 28, 9.67, 9.67, 9, 22.5, 22.5, 28, 28, 29, 22.5, 43, 26, 18.5]
    assert (np.abs(released["experience"].values - printed) < 0.005).sum() == 10


def test_a_table_without_numbers_is_refused():
    letters = table(category("c", list("abab")), number("x", [1.0, 1.0, 1.0, 1.0]))
    for recipe in RECIPES:
        with pytest.raises(LeafcoverError, match="none that vary"):
            lc.recipes.plan_for(letters, recipe)


@pytest.mark.parametrize("settings", [{}, {"average": "median"}, {"on_grid": True}])
def test_no_spelling_tells_who_held_the_average_all_along(tmp_path, settings):
    # the middle value of every three is their mean and median; the odd rows write it in their own way
    numbers = [(base + step, odd) for base in range(0, 300, 10) for step, odd in ((-1, 0), (0, base % 20), (1, 0))]
    large = 2**60  # numbers that float64 holds exactly
    lines = ["x,y", *(f"{'0' * bool(odd)}{value},{large + 1024 * value}" for value, odd in numbers)]
    lines[1:] = [
        lines[1:][(37 * place) % 90] for place in range(90)
    ]  # in another order: ascending ones are numbers of rows
    (tmp_path / "in.csv").write_text("\n".join(lines) + "\n")
    original = lc.read(tmp_path / "in.csv")
    for recipe in ("microaggregate", "microaggregate-univariate"):
        plan = lc.recipes.plan_for(original, recipe, settings=settings)
        release = lc.release(original, plan, seed=1)
        for name in ("x", "y"):
            texts = [str(text) for text in release.table[name].stored.to_pylist()]
            assert min(texts.count(text) for text in texts) >= 3
