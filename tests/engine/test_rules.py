"""Releases keep rules between columns: found or declared, for every recipe, in files and under attack."""

import json

import numpy as np
import pandas as pd
import pytest

import leafcover as lc
from leafcover.errors import InvariantViolated, PlanError
from leafcover.messages import catalogue
from leafcover.table.frames import from_frame
from leafcover.table.rule_search import check_rule
from leafcover.table.rule_text import parse_rule
from tests.cli.helpers import leafcover
from tests.engine.report.pages import page, text_of
from tests.table.test_rules import people


@pytest.fixture(scope="module")
def frame():
    return people(500)


@pytest.fixture(scope="module")
def found(frame):
    return lc.release(frame, "cover", target="sex", find_rules=True, seed=7)


def test_rules_that_are_found_are_kept(frame, found):
    table = from_frame(frame)
    assert len(found.rules) >= 5
    assert all(fact.found and fact.before == fact.after == 1 and not fact.broken for fact in found.rules)
    assert found.table.names == table.names
    assert found.descends is False
    assert found.unprotected == ()
    for fact in found.rules:
        kept = check_rule(parse_rule(fact.text), found.table, table)
        assert kept.kept == kept.rows


def test_without_rules_they_are_broken(frame):
    assert lc.release(frame, "cover", target="sex", seed=7).rules
    release = lc.release(frame, "cover", target="sex", find_rules=False, seed=7)
    assert release.rules == ()
    total = check_rule(parse_rule("total == food + rent"), release.table, from_frame(frame))
    assert total.kept < total.rows / 2


@pytest.mark.parametrize("recipe", ["cover", "cells", "framework", "random"])
def test_declared_rules_hold_for_every_recipe(frame, recipe):
    rules = ["total == food + rent", "start <= end"]
    columns = ["start", "end", "food", "rent", "total", "sex"]
    release = lc.release(frame[columns], recipe, target="sex", rules=rules, seed=7)
    assert [(fact.text, fact.found, fact.broken) for fact in release.rules] == [(text, False, 0) for text in rules]


def test_noise_without_limits_keeps_sums_but_no_orders(frame):
    columns = ["start", "end", "food", "rent", "total"]
    release = lc.release(frame[columns], "additive", rules=["total == food + rent"], seed=7)
    assert release.rules[0].broken == 0
    with pytest.raises(InvariantViolated, match="start <= end"):
        lc.release(frame[columns], "additive", rules=["start <= end"], seed=7)


def test_a_declared_rule_that_cannot_hold_is_refused(frame):
    with pytest.raises(InvariantViolated, match="city -> two"):
        lc.release(frame, "cover", target="sex", rules=["city -> two"], seed=7)
    plan = lc.recipes.cover(from_frame(frame), target="sex", find_rules=False)
    with pytest.raises(PlanError, match="Step"):
        lc.release(frame, plan.replaced(rules=[parse_rule("total == food + rent")]), seed=7)
    with pytest.raises(PlanError, match="recipe"):
        lc.release(frame, plan, rules=["start <= end"])


@pytest.mark.parametrize("rule", ["food == rent", "total == food + 2 * rent", "end <= start", "food == year(start)"])
def test_a_declared_rule_that_the_table_does_not_keep_is_refused_with_the_rows_that_do(frame, rule):
    holds = check_rule(parse_rule(rule), from_frame(frame), from_frame(frame))
    plan = lc.recipes.cover(from_frame(frame), target="sex", find_rules=False)
    for made in ("cover", "additive", plan.replaced(rules=[parse_rule(rule)])):
        given = {} if isinstance(made, lc.Plan) else {"rules": [rule], "target": "sex"}
        with pytest.raises(PlanError, match=f" {holds.kept} of {holds.rows} rows keep it"):
            lc.release(frame, made, **given, seed=7)


def test_rows_whose_values_a_declared_equation_changes_are_counted(frame, tmp_path):
    wrong = frame.copy()
    wrong.loc[[3, 77], "total"] += 1
    release = lc.release(wrong, "cover", target="sex", rules=["total == food + rent"], seed=7)
    fact = release.rules[0]
    assert (fact.computed, fact.corrected, fact.rows, fact.broken) == ("total", 2, 500, 0)
    assert "total (2 of 500 original rows had another value)" in str(release)
    release.save(tmp_path / "o.csv")
    inner, outer = (json.loads((tmp_path / f"o.csv.{name}.json").read_text()) for name in ("internal", "manifest"))
    assert inner["rules"][0]["corrected"] == 2
    assert outer["rules"][0]["computed"] == "total"
    assert "corrected" not in outer["rules"][0]  # fewer than five people
    wrong.loc[range(6), "total"] += 1
    with pytest.raises(PlanError, match=r"49[34] of 500"):
        lc.release(wrong, "cover", target="sex", rules=["total == food + rent"], seed=7)


def test_an_equation_of_the_original_computes_recoded_columns(frame):
    release = lc.release(
        frame, "cover", target="sex", rules=["total == food + rent"], recode=["food: round 50"], seed=7
    )
    fact = release.rules[0]
    assert fact.broken == 0
    assert fact.corrected == round((1 - fact.before) * 500) > 250


def test_a_plan_file_holds_its_rules(frame, found):
    again = lc.parse_plan(lc.plan_text(found.plan))
    assert again == found.plan
    assert again.found_rules == found.plan.found_rules
    same = lc.release(frame, again, seed=7)
    assert same.table.equals(found.table)


def test_attacks_see_tied_columns_once(found):
    pair = found._compared.pair
    assert "total" in pair.names
    assert pair.untied is not None
    assert not {"total", "year"} & set(pair.untied.names)
    measured = found.measure_only(["informed_inference", "univariate"])
    shown = measured["univariate"]
    inferred = {one.column for one in measured["informed_inference"].granted.inferences}
    assert inferred == set(pair.untied.names)
    assert {one.name for one in (*shown.numbers, *shown.categories)} == set(pair.names)


def test_rules_are_in_the_files_and_verified(frame, tmp_path):
    table, out = tmp_path / "in.csv", tmp_path / "out.csv"
    frame.to_csv(table, index=False)
    words = (
        "release",
        table,
        "-o",
        out,
        "--target",
        "sex",
        "--key-file",
        tmp_path / "key",
        "--hold-out",
        "0.2",
        "--find-rules",
    )
    done = leafcover(*words, "--rule", "rent <= total", "--rule", 'if sex == "m" then pregnant == "no"')
    assert done.exit_code == 0, done.stderr
    inner = json.loads((tmp_path / "out.csv.internal.json").read_text())
    outer = json.loads((tmp_path / "out.csv.manifest.json").read_text())
    assert {one["text"] for one in inner["rules"]} >= {"rent <= total", 'if sex == "m" then pregnant == "no"'}
    assert not any("pregnant ==" in one["rule"] for one in outer["rules"])  # a level may be rare
    assert all(one["kept"] == 1 for one in outer["rules"])
    checked = leafcover("verify", out, "--original", table, "--key-file", tmp_path / "key", "--json")
    assert checked.exit_code == 0, checked.stdout
    checks = {one["what"]: one["holds"] for one in json.loads(checked.stdout)}
    assert checks["rule: rent <= total"]
    assert checks["the same key gives the same bytes"]
    loaded = lc.load(out, original=table)
    assert loaded.compared.pair.untied is not None
    assert [fact.broken for fact in loaded.facts.rules] == [0] * len(inner["rules"])


def test_commands_take_rules(frame, tmp_path):
    table = tmp_path / "in.csv"
    frame.to_csv(table, index=False)
    shown = json.loads(leafcover("inspect", table, "--json").stdout)
    assert {"rule": "total == food + rent", "rows": 500, "kept": 500} in shown["rules"]
    plan = leafcover("plan", table, "--target", "sex", "--rule", "rent <= total", "--no-rules").stdout
    assert plan.count("[[rule]]") == 1
    for rule in ("total == fod", "total ==", "sex <= total"):
        wrong = leafcover("plan", table, "--target", "sex", "--rule", rule)
        assert wrong.exit_code == 1
        assert len(wrong.stderr.strip().splitlines()) == 1
    (tmp_path / "plan.toml").write_text(plan)
    both = leafcover("release", table, "-o", tmp_path / "o.csv", "--plan", tmp_path / "plan.toml", "--find-rules")
    assert both.exit_code == 1


def test_values_of_tied_columns_stay_in_their_range(frame, found):
    table = from_frame(frame)
    for name in ("start", "year", "stay"):
        low, high = table[name].domain
        assert low <= found.table[name].domain[0] <= found.table[name].domain[1] <= high
    assert found.table["end"].domain[0] >= table["end"].domain[0] - 30 * 86_400


def test_a_column_may_be_computed_and_bound_another():
    """The day of a moment is computed; a later day is dealt as its difference from it."""
    rng = np.random.default_rng(1)
    stamp = pd.Timestamp("2018-01-01") + pd.to_timedelta(rng.integers(0, 6 * 10**7, 600), unit="s")
    closed = (stamp + pd.to_timedelta(rng.integers(0, 700, 600), unit="D")).strftime("%Y-%m-%d")
    opened = stamp.strftime("%Y-%m-%d")
    frame = pd.DataFrame({"opened": opened, "stamp": stamp, "y": rng.choice(["a", "b"], 600)})
    frame["closed"] = np.where(rng.random(600) < 0.1, None, closed)
    table = from_frame(frame, roles={"stamp": "sensitive"})
    rules = ["opened == day(stamp)", "opened <= closed"]
    release = lc.release(table, "cover", target="y", rules=rules, seed=1)
    assert [(fact.text, fact.broken) for fact in release.rules] == [(rule, 0) for rule in rules]
    assert np.count_nonzero(release.table["closed"].missing) == np.count_nonzero(table["closed"].missing)


def test_a_report_has_a_table_of_rules(frame):
    rules = ["total == food + rent", 'if sex == "f" then city is known']
    release = lc.release(frame, "cover", target="sex", rules=rules, find_rules=True, seed=7)
    inside, outside = (text_of(page(from_frame(frame), release, face)) for face in ("internal", "external"))
    say = catalogue("report_method")
    for fact in release.rules:
        assert fact.text in inside
        assert (fact.text in outside) == (not fact.text.startswith("if "))
    inside = inside[inside.index(say("rule-table")) : inside.index(say("rule-table-note")[:40])]
    assert inside.count(say("rule-origin", found="no")) == 2
    assert say("rule-table-before") not in outside


def test_the_key_derivation_depends_on_rules(frame):
    plan = lc.recipes.cover(from_frame(frame), target="sex", find_rules=False)
    one = lc.release(frame, plan, seed=7)
    other = lc.release(frame, plan.replaced(found_rules=[parse_rule("pairs(sex, pregnant)")]), seed=7)
    assert not np.array_equal(one.table["city"].values, other.table["city"].values)
