"""Full-domain generalisation finds what trying every combination finds; local suppression reaches k on every table."""

from itertools import product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import leafcover as lc
from leafcover.engine.evaluate import certain_linkage, refuse_above
from leafcover.errors import LeafcoverError
from leafcover.metrics.summary import decisive_risks
from leafcover.recipes import recoding
from leafcover.recipes.recoding import Search, codes_of, ladder_of
from tests.recode.test_recodings import people

NAMES = ("age", "pay", "zip", "birth")


def search_of(table, names=NAMES, k=3, most=0):
    return Search(tuple(ladder_of(table, name) for name in names), k, most)


def small(table, names, recodings, k):
    """Row by row: how many rows share all recoded values with fewer than k."""
    for one in recodings:
        table = one.apply(table)
    rows = list(zip(*(codes_of(table[name]).tolist() for name in names), strict=True))
    return sum(rows.count(row) < k for row in rows)


@settings(max_examples=30, deadline=None)
@given(people(), st.integers(2, 5), st.integers(0, 3))
def test_the_search_finds_the_least_loss_of_all_combinations(table, k, most):
    search = search_of(table, k=k, most=most)
    every = product(*(range(ladder.top + 1) for ladder in search.ladders))
    if len(table) < k and len(table) > most:
        with pytest.raises(LeafcoverError, match="fewer than"):
            search.best()
        return
    able = [steps for steps in every if not search.fails(steps)]
    best = search.best()
    assert search.loss(best) == min(search.loss(steps) for steps in able)
    chosen = [ladder.recodings[step - 1] for ladder, step in zip(search.ladders, best, strict=True) if step]
    assert search.in_small_classes(best) == small(table, NAMES, chosen, k) <= most


@settings(max_examples=20, deadline=None)
@given(people())
def test_each_step_of_a_ladder_is_coarser(table):
    for name in (*NAMES, "seen", "rate"):
        ladder = ladder_of(table, name)
        assert list(ladder.losses) == sorted(ladder.losses)
        assert ladder.losses[0] == 0
        for fine, coarse in zip(ladder.codes, ladder.codes[1:], strict=False):
            both = pd.Series(coarse).groupby(fine).nunique()
            assert (both == 1).all()
            assert coarse.max() < fine.max()


@settings(max_examples=20, deadline=None)
@given(people())
def test_a_greedy_search_finds_what_does_not_fail(table):
    search = search_of(table, k=2)
    steps = search._greedy()
    assert not search.fails(steps)
    assert search.loss(steps) >= search.loss(search.best())


def test_a_search_that_takes_too_long_is_greedy(monkeypatch):
    rng = np.random.default_rng(0)
    table = lc.read(pd.DataFrame({name: rng.integers(0, 40, 200) for name in "abcde"}))
    search = search_of(table, tuple("abcde"), k=5)
    best = search.best()
    monkeypatch.setattr(recoding, "MOST_WORK", 0)
    assert not search.fails(search.best())
    assert search.loss(search.best()) >= search.loss(best)


def survey(rows=400, seed=0):
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "zip": [f"{at:05d}" for at in rng.integers(10_000, 10_080, rows)],
            "age": rng.integers(18, 90, rows),
            "job": rng.choice(["baker", "clerk", "nurse", "pilot", "smith"], rows, p=[0.3, 0.3, 0.3, 0.02, 0.08]),
            "ill": rng.choice(["no", "yes"], rows, p=[0.8, 0.2]),
        }
    )


def classes(table, names):
    return pd.DataFrame({name: codes_of(table[name]) for name in names}).groupby(list(names)).size()


@pytest.mark.parametrize("k", [3, 10])
@pytest.mark.parametrize("recipe", ["generalise", "suppress"])
def test_a_release_has_k_equal_rows(recipe, k):
    roles = dict.fromkeys(("zip", "age", "job"), "quasi-identifier")
    table = lc.read(survey(), category=["zip"], roles=roles)
    made = lc.release(table, recipe, settings={"k": k}, seed=1)
    assert classes(made.table, roles).min() >= k
    assert made.plan.recode[-1].violations(made.table) == ()
    linked = lc.measure(table, made, only=["record_linkage"])["record_linkage"]
    assert linked.smallest_crowd >= k
    assert linked.first.value <= 1 / k
    assert lc.parse_plan(lc.plan_text(made.plan)) == made.plan


def test_a_hierarchy_decides_on_the_levels(tmp_path):
    (tmp_path / "jobs.csv").write_text("baker;craft\nsmith;craft\nclerk;office\nnurse;care\npilot;care\n")
    table = lc.read(survey(), category=["zip"])
    settings = {"k": 100, "columns": "job", "hierarchies": f"job={tmp_path / 'jobs.csv'}", "most_suppressed": 0.05}
    plan = lc.recipes.plan_for(table, "generalise", settings=settings)
    assert dict(plan.recode[0].groups) == {
        "care": ("nurse", "pilot"),
        "craft": ("baker", "smith"),
        "office": ("clerk",),
    }
    with pytest.raises(LeafcoverError, match="pay"):
        lc.recipes.generalise(table, hierarchies="pay=jobs.csv")


def test_suppression_keeps_several_sensitive_values():
    table = lc.read(survey(), category=["zip"])
    made = lc.release(table, "suppress", settings={"k": 3, "columns": "job,age", "sensitive": "ill", "l": 2}, seed=1)
    assert made.plan.recode[0].violations(made.table) == ()
    frame = pd.DataFrame({name: codes_of(made.table[name]) for name in ("job", "age", "ill")})
    assert frame.groupby(["job", "age"])["ill"].nunique().min() >= 2


def test_people_outside_the_release_are_suppressed_as_if_they_were_in_it():
    roles = dict.fromkeys(("zip", "age", "job"), "quasi-identifier")
    table = lc.read(survey(), category=["zip"], roles=roles)
    one = lc.LocalSuppression(k=3).fitted(table)
    rows = np.arange(0, 400, 3)
    beside = one.apply(table.take(rows), table)
    assert beside["job"].missing.mean() == pytest.approx(one.apply(table)["job"].missing[rows].mean(), abs=0.1)
    made = lc.release(table, "suppress", seed=1, hold_out=0.3, target="ill")
    pair = made._compared.pair.for_attacks
    assert 0 < pair.control["zip"].missing.mean() < 1
    assert pair.original["zip"].missing.sum() == made.table["zip"].missing.sum()


def test_k_anonymity_on_two_columns_beside_exact_ones_is_refused():
    """Ten exact columns find people whatever two quasi-identifiers say."""
    rng = np.random.default_rng(0)
    frame = survey(120).assign(**{f"x{at}": rng.integers(0, 9, 120) for at in range(6)})
    table = lc.read(frame, category=["zip"])
    made = lc.release(table, "suppress", settings={"k": 5, "columns": "zip,age"}, seed=1, target="ill")
    assert made.plan.recode[0].violations(made.table) == ()
    given = {"linked": certain_linkage(table, made), "inferred": (), "informed": None, "membership": None}
    with pytest.raises(lc.errors.RiskTooHigh, match="linkage"):
        refuse_above(decisive_risks(**given, copied=made.copies), 0.05)


@pytest.mark.parametrize(
    ("recipe", "given"),
    [
        ("suppress", {"k": 1}),
        ("suppress", {"columns": "zip", "sensitive": "ill"}),
        ("suppress", {"columns": "zip,ill", "sensitive": "ill", "l": 2}),
        ("suppress", {"columns": "nobody"}),
        ("generalise", {"k": 10_000}),
        ("generalise", {"most_suppressed": 1.0}),
        ("generalise", {"columns": "ill", "k": 2}),
        ("generalise", {"hierarchies": "job=nowhere.csv"}),
        ("intervals", {"count": 1}),
        ("intervals", {"columns": "job"}),
        ("round", {"digits": 0}),
        ("round", {"to": -1.0}),
        ("top-code", {"share": 2.0}),
    ],
)
def test_wrong_settings_are_one_line(recipe, given):
    with pytest.raises(LeafcoverError) as error:
        lc.release(lc.read(survey(60), category=["zip"]), recipe, settings=given, seed=1)
    assert "\n" not in str(error.value)
