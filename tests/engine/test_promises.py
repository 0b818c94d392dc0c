"""What a release keeps, on random mixed tables and on real ones."""

import json
from dataclasses import replace
from functools import cache

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import leafcover as lc
from leafcover.engine.run import run
from leafcover.engine.verify import _aligned
from leafcover.errors import InvariantViolated, PlanError
from leafcover.keyed_random import Key
from leafcover.perturb.base import Changed
from leafcover.perturb.bounded import Bounded
from leafcover.recipes import RECIPES, plan_for
from leafcover.recipes.plan import recoded_table
from leafcover.table.frames import from_frame
from leafcover.table.io import read
from leafcover.tree.c45 import grow
from leafcover.tree.predict import leaf_membership
from tests.cli.helpers import leafcover
from tests.data import table_path
from tests.table.test_rules import people
from tests.tables import mixed, mixed_tables

KEY = Key.from_seed(11)

DATA = {
    "wbc": ("class", {"drop": ["sample_code_number"]}, {}),
    "adult": ("income", {}, {}),
    "german_credit": ("class", {}, {}),
    "boston": ("medv", {}, {"bins": 3}),
    "cps1985": ("union", {}, {}),
    "laeken_eusilc": ("pl030", {"drop": ["rb030"]}, {}),
    "census_income_kdd_train": ("income", {}, {}),
}
SLOW = {"census_income_kdd_train"}
MOST = 12_000  # rows


@cache
def data(name):
    """A table, read once for all recipes; of a large one every second or third row, but for the slow one."""
    table = read(table_path(name), **DATA[name][1])
    return table if name in SLOW else table.take(np.arange(0, len(table), 1 + len(table) // MOST))


def named():
    return [pytest.param(name, marks=pytest.mark.slow if name in SLOW else ()) for name in DATA]


def leaf_sets(tree, table):
    found = leaf_membership(tree, table)
    return [tuple(found.leaves_of(p)) for p in found.set_of_row]


def framework_keeps_every_leaf(table, target, bins=None):
    settings = {} if bins is None else {"bins": bins}
    tree = grow(table, target=target, bins=bins)
    plan = plan_for(table, "framework-paper", target=target, settings=settings)
    release = run(table, plan, key=KEY, keep_order=True)
    before, after = leaf_sets(tree, table), leaf_sets(tree, release.table)
    assert before == after
    labels = table[target].values, release.table[target].values
    counts = [{}, {}]
    for values, count in zip(labels, counts, strict=True):
        for leaves, value in zip(before, values, strict=True):
            at = leaves, str(value)  # as text, since nan equals nothing
            count[at] = count.get(at, 0) + 1
    assert counts[0] == counts[1]
    for column in table:
        new = release.table[column.name]
        np.testing.assert_array_equal(column.missing, new.missing)
        known = new.values[~new.missing]
        if column.is_category:
            assert set(np.unique(known)) <= set(range(len(column.levels)))
            continue
        low, high = column.domain
        assert len(known) == 0 or (low <= known.min() and known.max() <= high)
        if column.grid is not None and len(known):
            np.testing.assert_array_equal(column.grid.value(column.grid.index(known)), known)


def cells_permutes_blocks_in_cells(table, target, bins=None, k=None):
    settings = {name: value for name, value in (("bins", bins), ("k", k)) if value is not None}
    plan = plan_for(table, "cells", target=target, settings=settings)
    release = run(table, plan, key=KEY, keep_order=True)
    k = k or (20 if len(table) >= 5000 else 10)
    for step in plan.steps:
        cells = release.partitions[step.within].cells
        assert cells.smallest >= min(k, len(table))
        rows = [blocks(t, step.columns, cells.label) for t in (table, release.table)]
        np.testing.assert_array_equal(*rows)
    for column in table:
        np.testing.assert_array_equal(np.sort(column.values), np.sort(release.table[column.name].values))


def cover_deals_each_column(table, target, **settings):
    plan = plan_for(table, "cover", target=target, settings=settings, find_rules=False, rare="allow")
    release = run(table, plan, key=KEY)
    assert not release.descends
    assert sorted(name for step in plan.steps for name in step.columns) == sorted(table.names)
    k = settings.get("k", min(50, max(10, len(table) // 400)))
    for step in plan.steps:
        least = max(min(k, 10), k // 2) if step.columns[0] == target else k
        assert release.partitions[step.within].cells.smallest >= min(least, len(table))
    for column in table:
        new = release.table[column.name]
        assert new.missing.sum() == column.missing.sum()
        if column.is_category:
            np.testing.assert_array_equal(np.sort(new.values), np.sort(column.values))
        else:
            numbers_are_shared(column, new, settings.get("share", 5))


def numbers_are_shared(column, new, share):
    """A permutation of the column in which each number is the rounded mean of enough neighbours in rank."""
    before, after = (np.sort(one.values[~one.missing]) for one in (column, new))
    if not len(before):
        return
    starts = np.flatnonzero(np.diff(after, prepend=-np.inf))
    ends = np.append(starts[1:], len(after))
    tiny = 1e-9 * np.abs(before).max()
    assert before[0] - tiny <= after[0]
    assert after[-1] <= before[-1] + tiny
    for group, (start, end) in enumerate(zip(starts, ends, strict=True)):
        old, held = before[start:end], after[start]
        assert end - start >= min(share, len(after))
        assert old[0] < old[-1] or held == old[0]  # a number that enough rows hold stays as it is
        around = before[ends[min(group + 4, len(ends) - 1)] - 1] - before[starts[max(group - 4, 0)]]
        assert abs(held - old.mean()) <= around + tiny


def blocks(table, columns, label):
    """The values of a block in each cell, in a fixed order."""
    values = [label] + [np.nan_to_num(table[name].values.astype(float), nan=-1e99) for name in columns]
    wide = np.column_stack(values)
    return wide[np.lexsort(wide.T)]


@settings(max_examples=60)
@given(mixed_tables())
def test_framework_paper_keeps_every_row_in_its_leaf_on_random_tables(table):
    framework_keeps_every_leaf(table, "class")


@settings(max_examples=60)
@given(mixed_tables(), st.integers(2, 12))
def test_cells_permutes_each_block_of_each_cell_on_random_tables(table, k):
    cells_permutes_blocks_in_cells(table, "class", k=k)


@pytest.mark.parametrize("name", named())
def test_framework_paper_keeps_every_row_in_its_leaf(name):
    framework_keeps_every_leaf(data(name), DATA[name][0], DATA[name][2].get("bins"))


@pytest.mark.parametrize("name", named())
def test_cells_permutes_each_block_of_each_cell(name):
    cells_permutes_blocks_in_cells(data(name), DATA[name][0], DATA[name][2].get("bins"))


@settings(max_examples=60)
@given(mixed_tables(), st.integers(2, 12), st.integers(1, 6))
def test_cover_deals_each_column_on_random_tables(table, k, share):
    cover_deals_each_column(table, "class", k=k, share=share)


@pytest.mark.parametrize("name", named())
def test_cover_deals_each_column(name):
    cover_deals_each_column(data(name), DATA[name][0], **DATA[name][2])


@pytest.mark.parametrize("recipe", ["cover", "cells", "framework", "framework-paper", "forest", "detective", "random"])
@settings(max_examples=25)
@given(table=mixed_tables())
def test_every_recipe_releases_every_table(recipe, table):
    if recipe == "detective":  # it changes categories other than the class
        assume(any(c.is_category and c.name != "class" and len(np.unique(c.values[~c.missing])) > 1 for c in table))
    release = run(table, plan_for(table, recipe, target="class", rare="allow"), key=KEY)
    assert release.table.names == table.names
    assert sorted(release.source) == list(range(len(table)))


@pytest.mark.parametrize("noise", ["rpt", "ppt", "alpt"])
def test_class_noises_work_and_only_rpt_keeps_counts(noise):
    table = mixed(1, missing=0.0)
    release = run(
        table, plan_for(table, "framework", target="class", settings={"class_noise": noise}), key=KEY, keep_order=True
    )
    cells = next(iter(release.partitions.values())).cells
    same = [
        np.array_equal(
            np.sort(table["class"].values[cells.label == c]), np.sort(release.table["class"].values[cells.label == c])
        )
        for c in range(cells.count)
    ]
    assert all(same) == (noise == "rpt")


def test_two_tables_that_differ_in_one_cell_share_no_noise():
    table = mixed(2, rows=2000, missing=0.0)
    values = table["pay"].values.copy()
    values[7] += 0.01
    other = table.replace([replace(table["pay"], values=values)])
    plan = plan_for(table, "random")
    one, two = (run(t, plan, key=KEY, keep_order=True).table["pay"].values for t in (table, other))
    noise = [new - t["pay"].values for new, t in ((one, table), (two, other))]
    assert np.array_equal(one, run(table, plan, key=KEY, keep_order=True).table["pay"].values)
    shared_noise = np.mean(noise[0] == noise[1])
    assert shared_noise < 0.01
    assert abs(np.corrcoef(noise[0], noise[1])[0, 1]) < 0.15


def test_rows_leave_in_an_order_that_only_the_key_knows():
    table = mixed(2, rows=500)
    plan = plan_for(table, "cover", target="class")
    one, same, other = (run(table, plan, key=key).source for key in (KEY, KEY, Key.from_seed(12)))
    assert np.array_equal(one, same)
    assert not np.array_equal(one, other)
    assert abs(np.corrcoef(one, np.arange(500))[0, 1]) < 0.2


def test_ppt_on_a_number_says_what_to_do():
    table = read(table_path("wbc"), drop=["sample_code_number"])
    with pytest.raises(PlanError, match=r"category=\['class'\]"):
        plan_for(table, "framework", target="class", settings={"class_noise": "ppt"})


def test_a_broken_promise_stops_the_release(monkeypatch):
    table = mixed(1, missing=0.0)
    plan = plan_for(table, "framework", target="class")
    right = Bounded.change

    def wrong(self, part, summary, draws):
        changed = dict(right(self, part, summary, draws))
        name = next(iter(changed))
        changed[name] = Changed(changed[name].values + 1000.0)
        return changed

    monkeypatch.setattr(Bounded, "change", wrong)
    with pytest.raises(InvariantViolated, match="nothing is written"):
        run(table, plan, key=KEY)


# What the manifest promises of each column.


RULED = ("total == food + rent", "start <= end")


@cache
def promised_table(name):
    if name == "people":
        return from_frame(people(300)[["start", "end", "food", "rent", "total", "sex", "city"]])
    return mixed(3, missing=0.1) if name == "mixed" else data(name)


def released_by(recipe, name):
    """A release with rules and pooled levels where the table has them."""
    table = promised_table(name)
    target = {"people": "sex", "mixed": "class"}.get(name) or DATA[name][0]
    asked = {} if recipe in NO_TARGET or RECIPES[recipe].recodes else {"target": target}
    kept = 0 if RECIPES[recipe].recodes else 1 if recipe in UNBOUNDED else 2
    rules = {"rules": RULED[:kept]} if name == "people" else {}
    return table, lc.release(table, recipe, rare="pool", seed=7, **asked, **rules)


UNBOUNDED = (  # numbers that exceed the smallest difference
    *("additive", "correlated", "bias-corrected", "multiplicative"),
    *("translate", "scale", "rotate", "hybrid"),
    *("gadp", "egadp", "ipso", "cgadp", "shuffle"),
)
NO_TARGET = (
    *UNBOUNDED,
    *("microaggregate", "microaggregate-univariate", "perturbation-tree", "random"),
    *("pram", "rank-swap", "bounded-swap"),
)


def is_promised(word, words, before, after, share):
    """Whether a word is true of a column; the words before it say what happened first."""
    if word == "permuted" and "shared" in words:
        numbers_are_shared(before, after, share)
        return True
    if word in ("permuted", "unchanged"):
        return np.array_equal(np.sort(before.values), np.sort(after.values), equal_nan=not before.is_category)
    if word in ("shared", "averaged"):
        least = share if word == "shared" else 2
        held = np.unique(after.values[~after.missing], return_counts=True)[1]
        return held.min(initial=least) >= min(least, np.count_nonzero(~after.missing))
    return word in ("noise", "drawn", "transformed", "recomputed", "recoded", "suppressed")


@pytest.mark.parametrize("name", ["people", "mixed", "cps1985"])
@pytest.mark.parametrize("recipe", sorted(RECIPES))
def test_what_is_promised_of_each_column_is_true(recipe, name):
    table, release = released_by(recipe, name)
    recoded = recoded_table(release.plan, table)
    assert set(release.promises) == set(table.names)
    for column, words in release.promises.items():
        for at, word in enumerate(words):
            after = release.table[column]
            after = replace(after, values=_aligned(recoded[column], after), levels=recoded[column].levels)
            assert is_promised(word, words[:at], recoded[column], after, 5), (column, word)
    if name == "people" and not RECIPES[recipe].recodes:
        assert release.promises["total"] == ("recomputed",)
        assert (release.promises["end"] == ("recomputed",)) == (recipe not in UNBOUNDED)


def test_promises_name_what_happens():
    _, cover = released_by("cover", "people")
    assert cover.promises["food"] == ("shared", "permuted")
    assert cover.promises["city"] == ("permuted",)
    assert released_by("framework", "mixed")[1].promises["age"] == ("noise",)
    assert released_by("microaggregate", "mixed")[1].promises["age"] == ("averaged",)
    assert released_by("additive", "mixed")[1].promises["job"] == ("unchanged",)
    table = from_frame(
        people(300)[["food", "rent", "city", "sex"]].assign(city=lambda f: f["city"].where(f.index > 1, "x"))
    )
    assert lc.release(table, "cover", target="sex", rare="pool", seed=7).promises["city"] == ("recoded", "permuted")


@pytest.mark.parametrize("recipe", ["cover", "cells"])
def test_verify_finds_a_value_that_was_not_there(recipe, tmp_path):
    """Every promise holds of the file that was written, and not when one value is another one."""
    table, out = tmp_path / "in.csv", tmp_path / "out.csv"
    people(300)[["food", "rent", "total", "city", "sex"]].to_csv(table, index=False)
    words = ("release", table, "-o", out, "--target", "sex", "--recipe", recipe, "--rule", RULED[0])
    assert leafcover(*words).exit_code == 0

    def promises():
        found = json.loads(leafcover("verify", out, "--original", table, "--json").stdout)
        return {one["what"]: one["holds"] for one in found if one["what"].startswith("promise: ")}

    assert set(promises().values()) == {True}
    assert {"promise: permuted", "promise: as the manifest names it"} <= set(promises())
    frame = pd.read_csv(out)
    frame.loc[7, "food"] += 0.01
    frame["total"] = (frame["food"] + frame["rent"]).round(2)
    frame.to_csv(out, index=False)
    assert not promises()["promise: permuted"]
    assert promises()["promise: as the manifest names it"]
    manifest = tmp_path / "out.csv.manifest.json"
    manifest.write_text(manifest.read_text().replace('"recomputed"', '"permuted"'))
    assert not promises()["promise: as the manifest names it"]
