"""Rare levels become one level: in files and frames, before anything else, and written down in the plan."""

from itertools import combinations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import leafcover as lc
from leafcover.engine.evaluate import pair_from
from leafcover.errors import InvariantViolated, LeafcoverError, NameUnknown, PlanError
from leafcover.kernels.microaggregation import optimal_groups
from leafcover.table.recoding import FEWEST, Pooled, pool_levels, rare_levels, share_numbers, shared_values
from tests.cli.helpers import leafcover, refused


def people(rows=400, seed=0):
    rng = np.random.default_rng(seed)
    jobs = np.array(["baker", "clerk", "nurse", "smith"], object)[rng.integers(0, 4, rows)]
    jobs[:6] = ["diver", "judge", "judge", "mayor", "mayor", "pilot"]
    return pd.DataFrame({"job": jobs, "age": rng.integers(20, 60, rows), "member": rng.choice(["no", "yes"], rows)})


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(0, 12), min_size=1, max_size=9).filter(any), st.booleans())
def test_every_level_has_enough_people_afterwards(counts, other):
    names = ["Other" if other and at == 0 else f"l{at}" for at in range(len(counts))]
    levels = [name for name, count in zip(names, counts, strict=True) for _ in range(count)]
    frame = pd.DataFrame({"x": [*levels, None], "y": range(len(levels) + 1)})
    table = lc.read(frame, category=["x"])
    after = pool_levels(table, rare_levels(table))
    left = pd.Series([after["x"].levels[code] for code in after["x"].values if code >= 0]).value_counts()
    assert left.sum() == len(levels)
    if len(levels) >= FEWEST:
        assert (left >= FEWEST).all()
    assert {name for name, count in zip(names, counts, strict=True) if count >= FEWEST} <= set(left.index)


def test_people_count_not_rows():
    frame = pd.DataFrame({"who": np.repeat(np.arange(40), 5), "job": ["smith"] * 15 + ["baker"] * 185})
    assert rare_levels(lc.read(frame)) == ()
    assert rare_levels(lc.read(frame, roles={"who": "unit"})) == (Pooled("job", ("smith",), "baker"),)


@pytest.mark.parametrize("make", [lambda f: f, pl.from_pandas, lambda f: f.astype({"job": "category"})])
def test_a_release_pools_in_every_kind_of_frame(make):
    made = lc.release(lc.read(make(people())), "cover", target="member", seed=1, rare="pool")
    job = made.frame["job"]
    assert sorted(set(job.to_list())) == ["baker", "clerk", "nurse", "other", "smith"]
    assert job.to_list().count("other") >= FEWEST
    assert any("'job' were pooled as 'other'" in one for one in made.warnings)
    assert lc.parse_plan(lc.plan_text(made.plan)) == made.plan
    assert made.copies is not None


def test_a_number_that_was_read_as_a_category_is_pooled():
    frame = people().assign(code=lambda f: np.where(f.index < 6, f.index + 100, f.index % 3))
    made = lc.release(lc.read(frame, category=["code"]), "cover", target="member", seed=1, rare="pool")
    assert "other" in set(made.frame["code"].astype(str))


def test_rare_levels_are_refused_without_naming_them(tmp_path):
    people().to_csv(tmp_path / "in.csv", index=False)
    words = ("release", tmp_path / "in.csv", "-o", tmp_path / "out.csv", "--target", "member")
    line = refused(*words, "--rare", "refuse")
    assert "'job'" in line
    assert "diver" not in line
    assert "--rare pool" in line
    assert "allow, pool, refuse" in refused(*words, "--rare", "hide")


def test_a_pooled_release_is_saved_verified_and_measured(tmp_path):
    people().to_csv(tmp_path / "in.csv", index=False)
    out, key = tmp_path / "out.csv", tmp_path / "key"
    words = ("--target", "member", "--rare", "pool", "--key-file", key, "--hold-out", "0.2")
    made = leafcover("release", tmp_path / "in.csv", "-o", out, *words)
    assert made.exit_code == 0, made.output
    checked = leafcover("verify", out, "--original", tmp_path / "in.csv", "--key-file", key)
    assert checked.exit_code == 0, checked.output
    assert "diver" not in out.read_text() + (tmp_path / "out.csv.manifest.json").read_text()
    found = leafcover("measure", tmp_path / "in.csv", out, "--only", "membership_inference")
    assert found.exit_code == 0, found.output


def test_a_rule_may_name_a_level_that_is_pooled(tmp_path):
    """No released row has the level: a rule with it as condition holds, one that demands it is refused."""
    rows = 300
    code = np.array(["a", "b", "c"])[np.arange(rows) % 3].astype(object)
    code[:4], code[10:13] = "rare", "odd"
    side = np.where(code == "rare", "left", np.where(np.arange(rows) % 2 == 0, "left", "right"))
    frame = pd.DataFrame({"code": code, "side": side, "age": np.arange(rows) % 50})
    given = {"target": "side", "rules": ['if code == "rare" then side == "left"'], "seed": 1}
    release = lc.release(frame, "cover", **given)
    assert "rare" not in release.table["code"].levels
    assert [fact.broken for fact in release.rules if not fact.found] == [0]
    lc.write(frame, tmp_path / "t.csv")
    release.save(tmp_path / "r.csv")
    checks = lc.verify(tmp_path / "r.csv", original=tmp_path / "t.csv")
    assert [check.holds for check in checks].count(False) == 1  # the seed
    with pytest.raises(InvariantViolated):
        lc.release(frame, "cover", **given | {"rules": ['if side == "left" then code == "rare"']})
    with pytest.raises(NameUnknown):
        lc.release(frame, "cover", **given | {"rules": ['if code == "no such" then side == "left"']})


def test_rules_and_pools_go_together():
    frame = people().assign(half=lambda f: f["age"] // 2)
    frame["rest"] = frame["age"] - frame["half"]
    made = lc.release(lc.read(frame), "cover", target="member", seed=1, rare="pool", rules=["age == half + rest"])
    assert made.rules[0].broken == 0
    assert "diver" not in made.table["job"].levels


# Numbers that few rows hold, by any recipe.


def amounts(rows=400, seed=3):
    rng = np.random.default_rng(seed)
    pay = np.round(rng.lognormal(8, 1, rows), 2)
    start = rng.integers(0, 3000, rows)
    return pa.table(
        {
            "pay": pay,
            "start": start,
            "end": start + rng.integers(0, 3, rows),
            "class": np.where(pay + rng.normal(0, 2000, rows) > 3000, "a", "b"),
        }
    )


@pytest.mark.parametrize("recipe", ["cover", "cells", "framework", "random"])
def test_a_share_is_kept_by_every_recipe_that_permutes(recipe):
    table = lc.read(amounts())
    made = lc.release(table, recipe, target="class", rules=["start <= end"], share=7, seed=1)
    for name in ("pay", "start"):
        held = np.unique(made.table[name].values, return_counts=True)[1]
        if recipe in ("cover", "cells"):  # the others draw or add noise
            assert held.min() >= 7
    assert (made.table["end"].values >= made.table["start"].values).all()
    before, after = np.sort(table["pay"].values), np.sort(made.table["pay"].values)
    assert before[0] < after[0]
    assert after[-1] < before[-3]
    again = lc.parse_plan(lc.plan_text(made.plan))
    assert again == made.plan
    assert lc.release(table, again, seed=1).table.equals(made.table)


SALARIES = 600


def salaries(seed=1):
    """Salaries in cents of a population, no two equal; and who of it is released."""
    rng = np.random.default_rng(seed)
    cents = np.unique(np.rint(np.exp(10 + 0.3 * rng.normal(size=SALARIES)) * 100))
    return cents, rng.random(len(cents)) < 0.5


def members_found(cents, member, shown, wide):
    """The share of members that an attacker who knows all salaries finds at 1 % false alarms, by sums of subsets.

    A released number stands for so many neighbours in rank among the members, whose mean is at most ``wide`` steps
    away. Every set of neighbours that fits counts; groups follow each other, so a person's chance sums over chains.
    """
    values, rows = np.unique(shown, return_counts=True)
    sets = [fitting(cents, value, count, wide) for value, count in zip(values, rows, strict=True)]
    upto = [np.ones(len(cents) + 1)]  # the weight of all chains so far whose last member is below each place
    for one in sets:
        ends = np.bincount(one[:, -1], weights=upto[-1][one[:, 0]], minlength=len(cents)) if len(one) else np.zeros(1)
        upto.append(np.append(0, np.cumsum(ends)) / ends.sum() if ends.sum() else upto[-1])
    since, score = np.ones(len(cents) + 1), np.zeros(len(cents))
    for one, before in zip(sets[::-1], upto[-2::-1], strict=True):
        weight = before[one[:, 0]] * since[one[:, -1] + 1] if len(one) else np.zeros(1)
        if not weight.sum():
            continue
        for place in one.T:
            score += np.bincount(place, weights=weight / weight.sum(), minlength=len(cents))
        begins = np.bincount(one[:, 0], weights=since[one[:, -1] + 1], minlength=len(cents))
        since = np.append(np.cumsum(begins[::-1])[::-1], 0) / begins.sum()
    return float((score[member] > np.quantile(score[~member], 0.99)).mean())


def fitting(cents, value, rows, wide):
    """(sets, rows) the places of so many people near a value whose mean is within half a step of it."""
    if rows > 9:
        return np.zeros((0, rows), np.int64)
    span, at = min(2 * rows + 3, 18), int(np.searchsorted(cents, value))
    inner = np.array(list(combinations(range(1, span), rows - 1)))
    inner = np.column_stack([np.zeros(len(inner), np.int64), inner])
    found = []
    for first in range(max(at - span, 0), min(at, len(cents) - span) + 1):
        means = cents[first + inner].mean(axis=1)
        step = wide * (cents[first + span - 1] - cents[first]) + 1.0
        found.append(first + inner[np.abs(means - value) <= step / 2])
    return np.concatenate(found) if found else np.zeros((0, rows), np.int64)


def exact_means(column):
    """The mean of each group of at least five neighbours, to the cent."""
    group = optimal_groups(column.values, 5)
    return np.rint((np.bincount(group, column.values) / np.bincount(group))[group])


def test_shared_numbers_do_not_give_their_members_away():
    """Exact means do: few sets of five people have the same mean."""
    cents, member = salaries()
    column = lc.read(pa.table({"pay": cents}))["pay"].take(np.flatnonzero(member))
    assert members_found(cents, member, exact_means(column), 0.0) > 0.5
    shown = shared_values(column, 5)
    assert max(members_found(cents, member, shown, wide) for wide in (0.0, 0.1, 0.3, 0.6)) < 0.12
    assert np.corrcoef(shown, column.values)[0, 1] > 0.98


def test_one_distant_value_cannot_be_computed_from_its_mean():
    rng = np.random.default_rng(2)
    income = np.rint(rng.lognormal(10, 1, 500))
    for sign in (1, -1):
        table = lc.read(pa.table({"income": sign * np.append(income, 5e8), "class": ["a", "b", "c"] * 167}))
        made = lc.release(table, "cover", target="class", seed=1)
        assert np.abs(made.table["income"].values).max() <= income.max()
        assert "totals are not those" in str(made.warnings)


def test_a_share_is_refused_unless_it_is_a_number_of_rows(tmp_path):
    table = lc.read(amounts())
    for share in (0, 1001, 2.5, True, "five"):
        with pytest.raises(LeafcoverError, match="share"):
            lc.release(table, "cells", target="class", share=share, seed=1)
    plan = lc.recipes.cells(table, target="class")
    with pytest.raises(PlanError, match="share"):
        lc.release(table, plan, share=5, seed=1)


def test_others_take_the_nearest_shared_number():
    table = lc.read(pa.table({"x": [1.5, 2.5, 10.5, 11.5]}))
    other = lc.read(pa.table({"x": [0.0, 5.0, 7.0, None, 99.0]}))
    assert share_numbers(table, 2)["x"].values.tolist() == [2.0, 2.0, 11.0, 11.0]
    found = share_numbers(other, 2, table)["x"].values
    np.testing.assert_array_equal(found, [2.0, 2.0, 11.0, np.nan, 11.0])
    assert share_numbers(table, 1) is table


def test_attacks_know_shared_numbers():
    """An attacker recodes the people first, so that every released record is one that the attacker knows."""
    table = lc.read(amounts())
    step = lc.Step(("pay", "start", "end", "class"), within=lc.Leaves(of="class"), perturb=lc.Shuffle())
    made = lc.release(table, lc.Plan(step, target="class", share=5), seed=1)
    pair = pair_from(table, made)
    rows = {tuple(row) for row in np.column_stack([pair.for_attacks.original[n].values for n in ("pay", "start")])}
    shown = {tuple(row) for row in np.column_stack([made.table[n].values for n in ("pay", "start")])}
    assert shown <= rows
