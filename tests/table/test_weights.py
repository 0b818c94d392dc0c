"""Weights leave dropped, in classes or calibrated; tables to keep are kept, and what is not kept is said."""

import json

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import leafcover as lc
from leafcover.errors import NameUnknown, PlanError, TableError, ValueOutOfRange
from leafcover.metrics.disclosure.membership_inference import placements
from leafcover.partition.leaves import kept_splits
from leafcover.table.recoding import FEWEST
from leafcover.table.weights import (
    KeptMargin,
    cells_of,
    class_weights,
    kept_tables,
    margins_of,
    nearest_weights,
    raked,
    rounded_totals,
)
from tests.cli.helpers import leafcover, refused

REGIONS = ["east", "north", "south", "west"]


def survey(rows=900, seed=0, shares=(0.4, 0.3, 0.2, 0.1)):
    """People with weights that depend on their region and are all different."""
    rng = np.random.default_rng(seed)
    region = rng.choice(4, rows, p=shares)
    frame = pd.DataFrame({"sex": rng.choice(["f", "m"], rows), "region": np.array(REGIONS)[region]})
    frame["age"] = rng.integers(18, 90, rows)
    frame["children"] = rng.integers(0, 4, rows)
    frame["job"] = np.where(frame["age"] > 60, "none", rng.choice(["clerk", "smith"], rows))
    return frame.assign(w=(100 * (1 + region) + 20 * rng.random(rows)).round(4))


def households(units=400, seed=0):
    rng = np.random.default_rng(seed)
    who = np.repeat(np.arange(units), rng.integers(1, 5, units))
    frame = pd.DataFrame({"home": who + 500, "sex": rng.choice(["f", "m"], len(who))})
    frame["region"] = rng.choice(REGIONS, units)[who]
    frame["age"] = rng.integers(1, 90, len(who))
    frame["job"] = rng.choice(["clerk", "smith"], len(who))
    return frame.assign(w=rng.uniform(100, 900, units).round(3)[who])


def read(frame, **roles):
    return lc.read(frame, roles={"w": "weight", **roles})


def totals(frame, names, by="w"):
    return frame.groupby(names)[by].sum()


# What leaves.


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(0, 30), min_size=1, max_size=80), st.integers(1, 4))
def test_every_class_has_enough_people_and_totals_are_kept(numbers, rows_each):
    owner = np.arange(len(numbers)) // rows_each
    values = np.array(numbers, float)[owner * rows_each]
    found = class_weights(values, owner)
    people = pd.Series(owner).groupby(found).nunique()
    assert len(people) == 1 or people.min() >= FEWEST
    assert found.sum() == pytest.approx(values.sum())
    assert (np.diff(found[np.argsort(values, kind="stable")]) >= 0).all()
    common = pd.Series(owner).groupby(values).nunique()
    if (common >= FEWEST).all():
        assert found is values


@pytest.mark.parametrize("recipe", ["cover", "cells", "framework", "microaggregate", "additive"])
@pytest.mark.parametrize("leave", ["drop", "classes", "calibrated", None])
def test_no_recipe_releases_a_weight_as_it_is(recipe, leave):
    frame = survey()
    target = {} if recipe in ("microaggregate", "additive") else {"target": "job"}
    made = lc.release(read(frame), recipe, seed=1, weights=leave, **target)
    assert made.plan.weights.leave == (leave or "calibrated")
    if leave == "drop":
        assert "w" not in made.frame.columns
        return
    held = made.frame["w"].value_counts()
    rare = frame["w"].value_counts()
    exact = held[held.index.isin(rare[rare < FEWEST].index)]
    assert (exact >= FEWEST).all()
    assert (made.frame["w"] > 0).all()
    if leave == "classes":
        assert held.min() >= FEWEST
    else:
        assert made.frame["w"].sum() == pytest.approx(frame["w"].sum(), rel=2e-3)


def test_weights_in_cover_are_dealt_last_and_tested_by_no_tree():
    plan = lc.recipes.cover(read(survey()), target="job")
    assert plan.steps[-1].columns == ("w",)
    assert all("w" not in step.within.needs_released for step in plan.steps)


def test_a_column_that_decides_the_weight_is_not_dealt_with_it():
    frame = survey().assign(w=lambda f: f["region"].map({name: 50.0 + 10 * at for at, name in enumerate(REGIONS)}))
    plan = lc.recipes.cover(read(frame), target="job")
    assert ("w",) in [step.columns for step in plan.steps]


@pytest.mark.parametrize("make", [lambda f: f, pl.from_pandas])
def test_missing_weights_stay_missing_and_zeros_stay(make):
    frame = survey()
    frame["w"] = frame["w"].where(frame.index % 10 != 0)
    frame.loc[frame.index % 10 == 1, "w"] = 0.0
    made = lc.release(lc.read(make(frame), roles={"w": "weight"}), "cover", target="job", seed=1, keep_tables=["sex"])
    weights = pd.Series(made.frame["w"].to_list(), dtype=float)
    assert weights.isna().sum() == 90
    assert (weights.dropna() >= 0).all()
    assert (weights == 0).sum() == 90
    assert weights.sum() == pytest.approx(frame["w"].sum(), rel=2e-3)


def test_several_weights_leave_alike():
    frame = survey().assign(v=lambda f: f["w"] * 2 + f["age"])
    made = lc.release(read(frame, v="weight"), "cover", target="job", seed=1, keep_tables=["region"])
    for name in ("w", "v"):
        wanted = totals(frame, "region", name).to_dict()
        assert totals(made.frame, "region", name).to_dict() == pytest.approx(wanted, rel=5e-3)


# Calibration.


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10_000), st.booleans())
def test_raking_keeps_every_total_that_can_be_kept(seed, of_units):
    rng = np.random.default_rng(seed)
    owner = np.sort(rng.integers(0, 60, 200)) if of_units else np.arange(200)
    owner = np.unique(owner, return_inverse=True)[1].ravel()
    units = int(owner.max()) + 1
    start, true = rng.uniform(1, 9, units)[owner], rng.uniform(1, 9, units)[owner]
    groups = [np.zeros(200, int), rng.integers(0, 3, 200), rng.integers(0, 2, 200)]
    margins = [KeptMargin(group, np.bincount(group, true)) for group in groups]
    found = raked(start, margins, owner)
    for one in margins:
        assert np.bincount(one.after, found) == pytest.approx(one.totals, rel=1e-9)
    assert (found > 0).all()
    first = np.zeros(units)
    first[owner] = found
    assert (first[owner] == found).all()


def test_raking_agrees_with_iterative_proportional_fitting():
    rng = np.random.default_rng(3)
    start = rng.uniform(1, 9, 300)
    margins = [KeptMargin(group, rng.uniform(100, 200, size)) for group, size in _groups(rng)]
    scale = margins[0].totals.sum() / margins[1].totals.sum()
    margins[1] = KeptMargin(margins[1].after, margins[1].totals * scale)
    slow = start.copy()
    for _ in range(2000):
        for one in margins:
            slow *= (one.totals / np.bincount(one.after, slow))[one.after]
    assert raked(start, margins, np.arange(300)) == pytest.approx(slow, rel=1e-6)


def _groups(rng):
    return [(rng.integers(0, size, 300), size) for size in (3, 4)]


def test_totals_that_contradict_each_other_leave_the_last_table_out():
    group = np.repeat([0, 1], 50)
    margins = [KeptMargin(group, np.array([60.0, 40.0])), KeptMargin(1 - group, np.array([60.0, 40.0]))]
    found = raked(np.ones(100), margins, np.arange(100))
    assert np.bincount(group, found) == pytest.approx([60.0, 40.0])


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 1000))
def test_calibrated_totals_are_those_of_the_original(seed):
    frame = survey(700, seed)
    made = lc.release(read(frame), "cover", target="job", seed=seed, keep_tables=["sex x region", "children"])
    for names in (["sex", "region"], "children"):
        found, wanted = totals(made.frame, names), totals(frame, names)
        people = frame.groupby(names).size()
        within = max(fact.within for fact in made.kept)
        assert 0 < within < 0.05
        assert found[people >= 20].to_dict() == pytest.approx(wanted[people >= 20].to_dict(), rel=within)
    assert all(fact.missed == 0 for fact in made.kept)
    assert all(fact.weight_moved <= fact.within for fact in made.kept)


def test_rounded_totals_add_up_and_depend_on_nothing_but_rounded_totals():
    """Tables that cross: the rounded totals of both must be those of some weights."""
    rng = np.random.default_rng(5)
    groups = [np.zeros(400, int), rng.integers(0, 4, 400), rng.integers(0, 3, 400)]
    groups.append(groups[1] * 3 + groups[2])
    weights = rng.lognormal(5, 0.6, 400)

    def margins(more):
        found = []
        for group in groups:
            exact = np.bincount(group, weights)
            step = np.full(len(exact), 100.0)
            found.append(KeptMargin(group, (np.rint(exact / step) + more) * step, steps=step, exact=exact))
        return found

    found = rounded_totals(margins(0.0))
    for fine, coarse in ((1, 0), (2, 0), (3, 1), (3, 2)):
        sums = np.zeros(len(found[coarse]))
        sums[:] = [found[fine][np.unique(groups[fine][groups[coarse] == g])].sum() for g in range(len(sums))]
        np.testing.assert_allclose(sums, found[coarse], rtol=1e-9)
    for one, wanted in zip(found, margins(0.0), strict=True):
        assert np.abs(one - wanted.totals).max() < 100
    for one, other in zip(found, rounded_totals(margins(0.3)), strict=True):
        np.testing.assert_allclose(one, other)


# Who is in the table? The attacker knows everybody's weight and group, and sums those of every set of people.


def population(cells=25, people=20, seed=1):
    """People of whom half are released: their cell, their weight, all different, and who is released."""
    rng = np.random.default_rng(seed)
    cell = np.repeat(np.arange(cells), people)
    weights = np.round((1 + cell % 4) * (100 + 20 * rng.random(len(cell))), 4)
    member = np.argsort(np.argsort(rng.random(len(cell)) + cell)) % people < people // 2
    return pd.DataFrame({"cell": [f"c{one:02}" for one in cell], "w": weights}), member


def chances(weights, members, low, high):
    """How many of the sets of so many people whose weights sum to this have each of them: all sets, in two halves."""
    half = len(weights) // 2
    bits = [(np.arange(1 << len(one))[:, None] >> np.arange(len(one))) & 1 for one in (weights[:half], weights[half:])]
    sums = [bits[0] @ weights[:half], bits[1] @ weights[half:]]
    found = np.zeros(len(weights))
    for count in range(members + 1):
        first, second = np.flatnonzero(bits[0].sum(1) == count), np.flatnonzero(bits[1].sum(1) == members - count)
        second = second[np.argsort(sums[1][second])]
        begin, end = (np.searchsorted(sums[1][second], at - sums[0][first]) for at in (low, high))
        found[:half] += (end - begin) @ bits[0][first]
        upto = np.vstack([np.zeros(len(weights) - half), np.cumsum(bits[1][second], axis=0)])
        found[half:] += (upto[end] - upto[begin]).sum(axis=0)
    return found / max(found.sum() / members, 1)


def found_by_totals(exact, seed=1):
    """The share of members who are found at 1 % false alarms, and the area, from the totals of cells."""
    frame, member = population(seed=seed)
    table = read(frame[member])
    one = margins_of((("cell",),), table, table, "w", table["w"].values)[1]
    score = np.zeros(len(frame))
    for at in range(len(one.totals)):
        people = np.flatnonzero(frame["cell"] == f"c{at:02}")
        step = one.steps[at]
        middle = one.exact[at] if exact else np.rint(one.totals[at] / step) * step
        wide = 1e-4 if exact else step / 2
        score[people] = chances(frame["w"].to_numpy()[people], int(member[people].sum()), middle - wide, middle + wide)
    found = (score[member] > np.quantile(score[~member], 0.99)).mean()
    return found, placements(-score[member], -score[~member]).mean()


def test_totals_do_not_give_their_members_away():
    """Exact ones do: few sets of ten people have the same total."""
    found, area = found_by_totals(exact=True)
    assert found > 0.5
    assert area > 0.9
    found, area = found_by_totals(exact=False)
    assert found < 0.15
    assert area < 0.7


def test_small_groups_are_kept_together_and_no_difference_tells_them():
    frame = survey(600, 1, shares=(0.5, 0.3, 0.192, 0.008))
    assert 0 < (frame["region"] == "west").sum() < 10
    made = lc.release(read(frame), "cover", target="job", seed=2, rare="allow", keep_tables=["sex x region", "region"])
    found, wanted = totals(made.frame, "region"), totals(frame, "region")
    assert found["west"] != pytest.approx(wanted["west"], rel=1e-6)
    assert found["south"] + found["west"] == pytest.approx(wanted["south"] + wanted["west"], rel=0.01)
    assert found["east"] == pytest.approx(wanted["east"], rel=0.01)
    assert {fact.text: fact.pooled for fact in made.kept}["region"] == 2
    assert any("only together" in one for one in made.warnings)


def test_groups_of_one_table_are_unions_of_groups_of_a_finer_one():
    frame = survey(400, 5, shares=(0.5, 0.3, 0.15, 0.05))
    table = read(frame)
    fine, coarse = margins_of((("sex", "region"), ("region",)), table, table, "w", frame["w"].to_numpy())[1:]
    for group in range(len(fine.totals)):
        assert len(set(coarse.after[fine.after == group])) == 1


# Units.


def test_weights_of_a_unit_stay_one_and_keep_totals_by_rows():
    frame = households()
    table = read(frame, home="unit")
    made = lc.release(table, "cover", target="job", seed=4, keep_tables=["sex x region"])
    assert (made.frame.groupby("home")["w"].nunique() == 1).all()
    names = ["sex", "region"]
    assert totals(made.frame, names).to_dict() == pytest.approx(
        totals(frame, names).to_dict(), rel=max(f.within for f in made.kept)
    )
    classes = lc.release(table, "cover", target="job", seed=4, weights="classes").frame
    assert classes.groupby("w")["home"].nunique().min() >= FEWEST


def test_rows_of_units_cannot_be_kept_without_weights():
    table = read(households(), home="unit")
    with pytest.raises(PlanError, match="calibrated weights"):
        lc.release(table, "cover", target="job", keep_tables=["sex x region"], weights="classes")


# Tables of rows.


@settings(max_examples=15, deadline=None)
@given(
    st.integers(0, 1000), st.sampled_from(["sex x region", "region x job", "children x sex", "sex x region x children"])
)
def test_cover_keeps_every_cell_where_none_is_small(seed, text):
    frame = survey(900, seed, shares=(0.25, 0.25, 0.25, 0.25)).drop(columns="w")
    names = text.split(" x ")
    made = lc.release(lc.read(frame), "cover", target="job", seed=seed, keep_tables=[text], settings={"k": 10})
    before, after = (one.groupby(names).size() for one in (frame, made.frame))
    assert before.min() >= 10
    assert after.to_dict() == before.to_dict()
    assert made.kept[0].same_rows == made.kept[0].cells == len(before)
    assert made.warnings == ()


def test_small_cells_are_not_kept_and_others_nearly():
    frame = survey(900, 7, shares=(0.5, 0.3, 0.192, 0.008)).drop(columns="w")
    before = frame.groupby(["sex", "region"]).size()
    counts = set()
    for seed in range(12):
        settings_of = {"k": 10}
        made = lc.release(
            lc.read(frame), "cover", target="job", seed=seed, keep_tables=["sex x region"], settings=settings_of
        )
        after = made.frame.groupby(["sex", "region"]).size().reindex(before.index, fill_value=0)
        counts.add(int(after["f", "west"]))
        untouched = [(sex, region) for sex in "fm" for region in ("north", "south")]
        assert (after[untouched] == before[untouched]).all()
        assert abs(after["f", "east"] - before["f", "east"]) <= 10
    assert len(counts) > 1
    assert made.kept[0].small == (before < 10).sum()


def test_a_target_with_bins_and_many_levels_is_kept_with_another_column():
    rng = np.random.default_rng(2)
    frame = pd.DataFrame(
        {"sex": rng.choice(["f", "m"], 4000), "town": rng.choice([f"t{at:02}" for at in range(30)], 4000)}
    )
    frame["pay"] = rng.normal(100, 10, 4000).round() + (frame["sex"] == "m") * 10
    made = lc.release(
        lc.read(frame), "cover", target="pay", seed=1, keep_tables=["sex x town"], settings={"bins": 4, "k": 20}
    )
    assert made.frame.groupby(["sex", "town"]).size().to_dict() == frame.groupby(["sex", "town"]).size().to_dict()


def test_two_releases_with_a_table_to_keep_differ_only_by_their_key():
    table = read(survey())
    one, same, other = (
        lc.release(table, "cover", target="job", seed=seed, keep_tables=["sex x region"]).frame for seed in (1, 1, 2)
    )
    assert one.equals(same)
    assert not one.equals(other)


def test_splits_that_are_kept_put_every_row_in_its_combination():
    from leafcover.partition.leaves import bin_given

    table = lc.read(survey(500, 3))
    binned = bin_given([table["sex"], table["region"]])
    code = table["job"].values.astype(np.int32)
    fixed = kept_splits(binned, ("sex", "region"), 10)(np.zeros(500, np.int32), 1, code)
    cells = cells_of(("sex", "region"), table)[0]
    for number in np.unique(cells):
        assert len(set(fixed.leaf[(cells == number) & ~fixed.quiet])) <= 1


def test_a_table_that_is_kept_is_described_in_more_bits():
    frame = survey().drop(columns="w")
    bits = [
        lc.release(lc.read(frame), "cover", target="job", seed=1, keep_tables=tables).statement.bits
        for tables in ([], ["sex x region"], ["sex x region x children"])
    ]
    assert bits == sorted(bits)
    assert bits[0] < bits[2]


# Files, command line, refusals.


def test_a_plan_file_and_manifests_say_it_and_verify_holds(tmp_path):
    survey().to_csv(tmp_path / "in.csv", index=False)
    given = ["--target", "job", "--weight", "w", "--keep-table", "sex x region"]
    leafcover("release", tmp_path / "in.csv", "-o", tmp_path / "out.csv", "--key-file", tmp_path / "key", *given)
    outside = json.loads((tmp_path / "out.csv.manifest.json").read_text())
    assert outside["weights"] == {"columns": ["w"], "leave": "calibrated"}
    assert outside["kept_tables"][0]["table"] == "sex x region"
    assert outside["kept_tables"][0]["totals_kept"] == "in all cells"
    verified = lc.verify(tmp_path / "out.csv", original=tmp_path / "in.csv", key_file=tmp_path / "key")
    assert all(check.holds for check in verified)
    assert any(check.what == "the same key gives the same bytes" for check in verified)
    plan = leafcover("plan", tmp_path / "in.csv", *given).stdout
    assert lc.plan_text(lc.parse_plan(plan)) == plan
    assert '[[keep]]\ncolumns = ["sex", "region"]' in plan
    assert 'leave = "calibrated"' in plan
    loaded = lc.load(tmp_path / "out.csv", original=tmp_path / "in.csv")
    assert loaded.measure_only(["totals"])["totals"].reason == ""


@pytest.mark.parametrize("leave", ["drop", "classes"])
def test_releases_in_classes_and_without_weights_verify(tmp_path, leave):
    survey().to_parquet(tmp_path / "in.parquet")
    made = lc.release(lc.read(tmp_path / "in.parquet", roles={"w": "weight"}), "cells", target="job", weights=leave)
    made.save(tmp_path / "out.csv", key_file=tmp_path / "key")
    checks = lc.verify(tmp_path / "out.csv", original=tmp_path / "in.parquet", key_file=tmp_path / "key")
    assert [check for check in checks if not check.holds] == []


def test_held_out_rows_and_repeated_releases_treat_weights_alike():
    made = lc.release(read(survey(400)), "cover", target="job", seed=1, hold_out=0.3, keep_tables=["region"])
    found = made.measure_only(["informed_inference", "totals"])
    assert found["totals"].counts.count > 0
    wanted = totals(_frame(made.original), "region")
    assert totals(made.frame, "region").to_dict() == pytest.approx(wanted.to_dict(), rel=5e-3)


def _frame(table):
    columns = {c.name: np.array((*c.levels, None))[c.values] if c.is_category else c.values for c in table}
    return pd.DataFrame(columns)


def test_groups_that_moved_most_are_named():
    frame = survey(2000, 1)
    moved = frame.assign(w=np.where(frame["region"] == "west", frame["w"] * 0.9, frame["w"]))
    found = lc.measure(read(frame), lc.read(moved), only=["totals"])["totals"].moved
    assert (found[0].column, found[0].level) == ("region", "west")
    assert found[0].difference == pytest.approx(-0.1)
    assert {one.column for one in found} <= set(frame.columns) - {"w", "age"}
    same = lc.measure(read(frame), lc.read(frame), only=["totals"])["totals"].moved
    assert same == ()


def test_attacks_compare_a_weight_with_the_nearest_released_one():
    table, released = read(survey(50)), read(survey(50).assign(w=lambda f: f["w"].round(-2)))
    found = nearest_weights(table, released, ["w"])["w"].values
    values = np.unique(released["w"].values)
    assert set(found) <= set(values)
    assert (np.abs(found - table["w"].values) <= np.abs(table["w"].values[:, None] - values).min(axis=1) + 1e-9).all()


@pytest.mark.parametrize(
    ("given", "error", "said"),
    [
        ({"weights": "exact"}, ValueOutOfRange, "drop, classes, calibrated"),
        ({"keep_tables": ["sex x regoin"]}, NameUnknown, "region"),
        ({"keep_tables": ["sex x age"]}, PlanError, "Cut it into at most 20 groups"),
        ({"keep_tables": ["sex x sex"]}, PlanError, "each named once"),
        ({"keep_tables": ["sex x w"]}, PlanError, "is the weight"),
    ],
)
def test_what_cannot_be_kept_is_refused_in_one_line(given, error, said):
    with pytest.raises(error, match=said) as caught:
        lc.release(read(survey()), "cover", target="job", **given)
    assert "\n" not in str(caught.value)


def test_weights_without_a_weight_and_text_as_a_weight_are_refused(tmp_path):
    frame = survey()
    with pytest.raises(PlanError, match="no column has the role weight"):
        lc.release(lc.read(frame), "cover", target="job", weights="classes")
    frame.assign(w="heavy").to_csv(tmp_path / "in.csv", index=False)
    out = ("-o", tmp_path / "out.csv", "--target", "job", "--weight", "w")
    assert "column of numbers" in refused("release", tmp_path / "in.csv", *out)
    with pytest.raises(TableError):
        lc.read(frame.assign(w="heavy"), roles={"w": "weight"})


def test_tables_are_named_by_text_or_columns():
    table = lc.read(survey().rename(columns={"sex": "a x b"}))
    assert kept_tables(["a x b", ("a x b", "region"), "region x job"], table) == (
        ("a x b",),
        ("a x b", "region"),
        ("region", "job"),
    )


def test_a_plan_that_was_given_says_itself_what_to_keep():
    table = read(survey())
    plan = lc.recipes.cover(table, target="job", weights="classes", keep_tables=["sex x region"])
    with pytest.raises(PlanError, match="Write them into the plan"):
        lc.release(table, plan, weights="drop")
    made = lc.release(table, lc.parse_plan(lc.plan_text(plan)), seed=1)
    assert made.frame["w"].value_counts().min() >= FEWEST
    assert made.kept[0].same_rows == made.kept[0].cells
