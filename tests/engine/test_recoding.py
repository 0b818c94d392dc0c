"""Releases of recoded tables: with every recipe, rules, units, weights and people held out; and what attackers find."""

import json
from collections import Counter
from functools import cache

import numpy as np
import pandas as pd
import pytest

import leafcover as lc
from leafcover.engine.evaluate import compared_to, pair_from
from leafcover.errors import LeafcoverError, RiskTooHigh
from leafcover.metrics.utility.prediction import agreement
from leafcover.recipes.plan import canonical, recoded_table
from leafcover.table.rule_text import parse_rule
from tests.cli.helpers import leafcover, refused

RECODE = ("pay: round 10", "age: intervals 30, 45", "hours: top share=0.1 to=mean")


def frame(rows=240, seed=0):
    rng = np.random.default_rng(seed)
    age = rng.integers(18, 80, rows)
    pay = np.round(rng.lognormal(6, 0.7, rows), 2)
    job = rng.choice(["baker", "clerk", "nurse", "smith"], rows)
    good = np.where((age > 40) ^ (rng.random(rows) < 0.2), "yes", "no")
    return pd.DataFrame({"age": age, "pay": pay, "hours": rng.integers(10, 60, rows), "job": job, "good": good})


@cache
def table():
    return lc.read(frame())


@cache
def only_recoded():
    recode = [lc.Round("pay", to=200), lc.Intervals("age", edges=[30, 45]), lc.Intervals("hours", count=3)]
    return lc.release(table(), lc.Plan(recode=recode), seed=1)


@pytest.mark.parametrize("recipe", ["cover", "cells", "framework", "forest", "microaggregate", "detective", "additive"])
def test_recodings_come_before_every_recipe(recipe):
    named = {} if recipe in ("microaggregate", "additive") else {"target": "good"}
    made = lc.release(table(), recipe, recode=RECODE, seed=1, **named)
    age = made.table["age"]
    assert set(age.levels) <= {"under 30", "30-44", "45 or more"}
    for name in ("age", "pay", "hours"):
        assert made.promises[name][0] == "recoded"
    assert lc.parse_plan(lc.plan_text(made.plan)) == made.plan
    recoded = recoded_table(made.plan, table())
    if recipe in ("cover", "cells"):
        assert sorted(recoded["age"].values) == sorted(age.values)
    if recipe in ("cells", "framework", "forest"):  # others leave the grid
        assert set(np.unique(made.table["pay"].values % 10)) == {0.0}
    known = compared_to(table(), made).known
    assert known.table.names == made.table.names


def test_an_attacker_links_people_within_equal_recoded_rows():
    """Recoding draws nothing: the anonymity set of a person is the rows that are equal in all that is known."""
    made = only_recoded()
    released = [tuple(row) for row in zip(*(values(made.table[name]) for name in made.table.names), strict=True)]
    counts = Counter(released)
    linked = sum(1 / counts[row] for row in released) / len(released)
    found = lc.measure(table(), made, only=["record_linkage"])["record_linkage"]
    assert found.first.value == pytest.approx(linked)
    assert found.smallest_crowd == min(counts.values())


def values(column):
    return np.array([*column.levels, None], object)[column.values] if column.is_category else column.values


def test_a_release_of_recodings_alone_holds_recoded_rows():
    made = only_recoded()
    assert made.descends
    assert made.unprotected == ("job", "good")
    assert made.only_recoded == ("age", "pay", "hours")
    recoded = recoded_table(made.plan, table())
    for name in made.table.names:
        assert values(made.table[name]).tolist() == values(recoded[name].take(made.source)).tolist()
    fact = next(one for one in made.columns if one.name == "pay")
    before, after = table()["pay"].values[made.source], made.table["pay"].values
    assert fact.changed == pytest.approx((before != after).mean())


def test_exact_columns_beside_recoded_ones_are_refused():
    """Top coding alone leaves everything else exact; so do intervals of one column."""
    few = table().select(["age", "pay", "good"])
    for recode in ([lc.TopCode("pay", share=0.05)], [lc.Intervals("age", count=3)]):
        made = lc.release(few, lc.Plan(recode=recode, target="good"), seed=1)
        with pytest.raises(RiskTooHigh):
            made.check_risk(0.05)


def test_people_outside_the_release_are_recoded_like_those_in_it():
    made = lc.release(table(), "cover", target="good", recode=RECODE, seed=1, hold_out=0.3)
    pair = pair_from(made.original, made, made.held_out).for_attacks
    assert pair.control["age"].levels == pair.original["age"].levels == pair.released["age"].levels
    assert set(np.unique(pair.control["pay"].values % 10)) == {0.0}
    top = next(one for one in made.plan.recode if isinstance(one, lc.TopCode))
    assert pair.control["hours"].values.max() <= float(top.to)


def test_a_repeated_release_fits_recodings_to_its_own_rows():
    for plan in (lc.Plan(recode=[lc.Intervals("pay", count=7)]), "additive"):
        recode = [lc.Intervals("pay", count=7, to="mean")] if isinstance(plan, str) else ()
        made = lc.release(table(), plan, recode=recode, seed=1)
        again = [one.known.plan.recode for one in compared_to(table(), made)._reruns]
        assert len({made.plan.recode, *again}) == 4


def test_models_of_the_original_see_what_recoding_hides():
    """A release of the recoded table agrees with the original less the coarser it is."""
    found = []
    for count in (2, 8):
        made = lc.release(
            table(), lc.Plan(recode=[lc.Intervals("age", count=count)], target="good"), seed=1, hold_out=0.4
        )
        pair = pair_from(made.original, made, made.held_out)
        assert pair.raw.original["age"].kind == "number"
        assert pair.original["age"].is_category
        found.append(agreement([pair], targets=["good"], floors=0).target.agreement.value)
    assert found[0] < found[1] < 1


def test_a_saved_release_is_verified_loaded_and_measured(tmp_path):
    frame().to_csv(tmp_path / "in.csv", index=False)
    out, key = tmp_path / "out.csv", tmp_path / "key"
    given = [word for one in RECODE for word in ("--recode", one)]
    words = ("--target", "good", "--recipe", "cells", "--key-file", key, "--hold-out", "0.2", *given)
    made = leafcover("release", tmp_path / "in.csv", "-o", out, *words)
    assert made.exit_code == 0, made.output
    checked = leafcover("verify", out, "--original", tmp_path / "in.csv", "--key-file", key)
    assert checked.exit_code == 0, checked.output
    assert checked.output.count("recoded: ") == 3
    found = leafcover("measure", tmp_path / "in.csv", out, "--only", "membership_inference")
    assert found.exit_code == 0, found.output
    loaded = lc.load(out, original=tmp_path / "in.csv").facts
    assert loaded.plan.recode_as_given == tuple(
        lc.release(table(), "cells", target="good", recode=RECODE, seed=1).plan.recode_as_given
    )
    manifest = json.loads((tmp_path / "out.csv.manifest.json").read_text())
    assert [one["columns"] for one in manifest["recoded"]] == [["pay"], ["age"], ["hours"]]
    kinds = {one["name"]: (one["kind"], one.get("original_kind")) for one in manifest["columns"]}
    assert kinds["age"] == ("category", "number")


def test_verify_finds_a_value_that_is_not_recoded(tmp_path):
    frame().to_csv(tmp_path / "in.csv", index=False)
    out = tmp_path / "out.csv"
    lc.release(lc.read(tmp_path / "in.csv"), lc.Plan(recode=[lc.Round("pay", to=10)]), key=lc.Key.fresh()).save(out)
    lines = out.read_text().splitlines()
    cells = lines[1].split(",")
    out.write_text("\n".join([lines[0], ",".join([cells[0], "123.45", *cells[2:]]), *lines[2:]]) + "\n")
    failed = {one.what for one in lc.verify(out) if not one.holds}
    assert any(one.startswith("recoded: pay") for one in failed)
    failed = {one.what for one in lc.verify(out, original=tmp_path / "in.csv") if not one.holds}
    assert "promise: unchanged" in failed


def test_plans_without_recodings_have_the_same_canonical_form():
    plan = lc.recipes.cover(table(), target="good")
    assert b"recode" not in canonical(plan)
    assert canonical(plan.replaced(recode=[lc.Round("pay", to=5)])) != canonical(plan)


def test_a_plan_with_neither_steps_nor_recodings_is_refused():
    with pytest.raises(LeafcoverError, match="nothing would change"):
        lc.Plan()
    with pytest.raises(LeafcoverError, match="Round"):
        lc.Plan(recode=["pay: round 5"])
    with pytest.raises(LeafcoverError, match="plan"):
        lc.release(table(), only_recoded().plan, recode=RECODE, seed=1)


# Together with rules, pools, weights, units and tables that are kept.


def test_rules_hold_among_recoded_columns():
    own = frame().assign(half=lambda f: (f["pay"] / 2).round(2))
    made = lc.release(lc.read(own), "cover", target="good", seed=1, rules=["half <= pay"], recode=["hours: round 5"])
    assert made.rules[0].broken == 0
    with pytest.raises(LeafcoverError, match="category"):
        lc.release(lc.read(own), "cover", target="good", seed=1, rules=["half <= age"], recode=["age: intervals 30"])


def test_intervals_that_few_people_have_are_pooled():
    made = lc.release(table(), "cover", target="good", recode=["age: intervals 19, 60"], rare="pool", seed=1)
    assert set(made.table["age"].levels) <= {"under 19", "19-59", "60 or more", "other"}
    counts = np.bincount(made.table["age"].values)
    assert counts.min() >= 5


def test_weights_are_not_recoded_and_are_kept_beside_recoded_columns():
    own = lc.read(frame().assign(w=lambda f: 1 + f["age"] / 40), roles={"w": "weight"})
    made = lc.release(own, "cover", target="good", recode=["age: intervals 30, 45"], keep_tables=["age x good"], seed=1)
    assert made.kept[0].missed == 0
    with pytest.raises(LeafcoverError, match="weight"):
        lc.release(own, "cover", target="good", recode=["w: round 1"], seed=1)


def test_rows_of_units_are_recoded():
    own = frame().assign(who=lambda f: np.repeat(np.arange(len(f) // 2), 2))
    people = lc.read(own, roles={"who": "unit"})
    made = lc.release(people, "cover", target="good", recode=["age: intervals 30, 45", "pay: round 10"], seed=1)
    assert set(made.table["age"].levels) <= {"under 30", "30-44", "45 or more"}
    with pytest.raises(LeafcoverError, match="unit"):
        lc.release(people, "cover", target="good", recode=["who: round 10"], seed=1)
    assert compared_to(people, made).pair.for_attacks.original.names == made.step_table.names


def test_errors_of_the_command_line_are_one_line(tmp_path):
    frame(60).to_csv(tmp_path / "in.csv", index=False)
    for text in ("pay: rund 5", "pey: round 5", "pay round 5", "job: intervals 3"):
        refused("release", tmp_path / "in.csv", "-o", tmp_path / "o.csv", "--target", "good", "--recode", text)
    assert "round" in refused("plan", tmp_path / "in.csv", "--target", "good", "--recode", "pay: rund 5")


# A secret sample of the rows.


def test_a_sample_is_released_and_the_others_are_held_out(tmp_path):
    frame().to_csv(tmp_path / "in.csv", index=False)
    out, key = tmp_path / "out.csv", tmp_path / "key"
    words = ("release", tmp_path / "in.csv", "-o", out, "--target", "good", "--sample", "0.25", "--key-file", key)
    done = leafcover(*words)
    assert done.exit_code == 0, done.output
    assert "25%" in done.output
    assert json.loads((tmp_path / "out.csv.manifest.json").read_text())["sampled"] == 0.25
    assert len(pd.read_csv(out)) == 60
    assert len(pd.read_csv(tmp_path / "out.held-out.csv")) == 180
    checked = leafcover("verify", out, "--original", tmp_path / "in.csv", "--key-file", key)
    assert checked.exit_code == 0, checked.output
    assert lc.load(out, original=tmp_path / "in.csv").facts.sampled == 0.25
    line = refused(*words, "--hold-out", "0.2", "--force")
    assert "--sample" in line
    assert "--hold-out" in line
    assert "--sample" in refused(*words[:-4], "--sample", "1.5", "--force")


def test_only_the_key_knows_whose_rows_are_in_a_sample():
    one, same, other = (
        set(lc.release(table(), "cover", target="good", sample=0.5, seed=seed).rows.tolist()) for seed in (1, 1, 2)
    )
    assert one == same
    assert 30 < len(one & other) < 90  # as many as by chance


def test_a_sample_of_units_has_whole_units():
    own = frame().assign(who=lambda f: np.repeat(np.arange(len(f) // 2), 2))
    made = lc.release(lc.read(own, roles={"who": "unit"}), "cover", target="good", sample=0.5, seed=1)
    assert len(made.rows) == 120
    assert (np.bincount(made.rows // 2, minlength=120) != 1).all()


def test_rules_hold_in_a_release_of_recodings_alone():
    """A column that a rule computes is computed from recoded ones; an order may be lost by coding one end."""
    own = lc.read(frame().assign(rest=lambda f: f["pay"] * 2, total=lambda f: f["pay"] * 3))
    made = lc.release(own, "round", settings={"to": 100.0}, rules=["total == pay + rest"], seed=1)
    assert [fact.broken for fact in made.rules] == [0]
    assert set(np.unique(made.table["total"].values % 100)) == {0.0}
    capped = lc.Plan(recode=[lc.TopCode("total", at=100)], rules=[parse_rule("pay <= total")])
    with pytest.raises(LeafcoverError, match="rule"):
        lc.release(own, capped, seed=1)


# Shared numbers of recoded columns.


def stays(rows=120, seed=0):
    """Stays in a hospital with few rows in a month."""
    rng = np.random.default_rng(seed)
    begin = pd.Timestamp("2019-01-05") + pd.to_timedelta(rng.integers(0, 1500, rows), "D")
    end = begin + pd.to_timedelta(rng.integers(0, 90, rows), "D")
    pay = np.round(rng.lognormal(6, 0.9, rows), 2)
    return pd.DataFrame({"begin": begin, "end": end, "pay": pay, "good": rng.choice(["yes", "no"], rows)})


BOTH = ("begin: truncate month", "end: truncate month")
CHAINS = [
    (("begin: truncate month",), ()),
    (("begin: truncate week",), ()),
    (("pay: round 100",), ()),
    (("pay: round digits=1",), ()),
    (("pay: round digits=2",), ()),
    (("pay: round 10", "pay: top-code 955"), ()),
    (("pay: top-code 955", "pay: round 10"), ()),
    (("pay: top-code rows=3 to=mean",), ()),
    (("pay: bottom-code rows=3 to=mean",), ()),
    (("pay: intervals count=40 to=mean",), ()),
    (("pay: intervals width=7 to=midpoint",), ()),
    (("begin: intervals count=40 to=midpoint",), ()),
    (("pay: round 10", "pay: suppress 250, 260, 270, 280, 290, 310, 320, 330, 340"), ()),
    (BOTH, ("begin <= end",)),
]


@pytest.mark.parametrize(("recode", "rules"), CHAINS, ids=str)
@pytest.mark.parametrize("recipe", ["cover", "cells"])
def test_shared_numbers_stay_recoded(tmp_path, recode, rules, recipe):
    stays().to_csv(tmp_path / "in.csv", index=False)
    table = lc.read(tmp_path / "in.csv")
    made = lc.release(table, recipe, target="good", recode=recode, rules=rules, share=5, key=lc.Key.fresh())
    recoded = recoded_table(made.plan, table)
    for name in {one.column for one in made.plan.recode}:
        new = made.table[name].values
        again = recoded[name].coarser(new)
        assert np.isin(new, recoded[name].values).all() | np.array_equal(again, new, equal_nan=True)
        if not rules:
            assert np.unique(new[~np.isnan(new)], return_counts=True)[1].min() >= 5
    assert made.plan.recode[-1].violations(made.table) == ()
    made.save(tmp_path / "out.csv")
    checks = lc.verify(tmp_path / "out.csv", original=tmp_path / "in.csv")
    assert [one.what for one in checks if one.what.startswith("recoded: ")] != []
    assert [(one.what, one.detail) for one in checks if not one.holds and one.what[:4] != "made"] == []


def test_recoded_dates_that_rise_within_a_unit_stay_recoded(tmp_path):
    own = stays().assign(who=lambda f: np.repeat(np.arange(len(f) // 3), 3)).sort_values(["who", "begin"])
    own.drop(columns="end").to_csv(tmp_path / "in.csv", index=False)
    table = lc.read(tmp_path / "in.csv", roles={"who": "unit"})
    made = lc.release(table, "cover", target="good", recode=["begin: truncate month"], seed=1)
    assert made.plan.units.rising == ("begin",)
    assert made.plan.recode[0].violations(made.table) == ()
    made.save(tmp_path / "out.csv")
    checks = lc.verify(tmp_path / "out.csv", original=tmp_path / "in.csv")
    assert [(one.what, one.detail) for one in checks if not one.holds and one.what[:4] != "made"] == []


def test_verify_finds_a_shared_number_that_is_not_recoded(tmp_path):
    stays().to_csv(tmp_path / "in.csv", index=False)
    made = lc.release(lc.read(tmp_path / "in.csv"), "cover", target="good", recode=BOTH[:1], key=lc.Key.fresh())
    made.save(tmp_path / "out.csv")
    text = (tmp_path / "out.csv").read_text()
    day = text.splitlines()[1].split(",")[0]
    (tmp_path / "out.csv").write_text(text.replace(day, day[:8] + "02"))
    assert "recoded: begin" in str([one.what for one in lc.verify(tmp_path / "out.csv") if not one.holds])


def test_attackers_compare_recoded_differences_with_those_that_were_dealt():
    """A sum that was recoded changes its difference, which must not look like one that nobody can have."""
    table = lc.read(stays())
    made = lc.release(table, "cover", target="good", recode=BOTH, rules=["begin <= end"], seed=1)
    pair = pair_from(table, made).for_attacks
    step = next(one for one in made.plan.steps if one.columns == ("end",))
    assert set(pair.released["end"].values) <= set(step.perturb.shared(pair.original["end"]))
