"""What a release keeps, on random mixed tables and on real ones."""

from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leafcover.engine.run import run
from leafcover.errors import InvariantViolated, PlanError
from leafcover.keyed_random import Key
from leafcover.perturb.base import Changed
from leafcover.perturb.bounded import Bounded
from leafcover.recipes import plan_for
from leafcover.table.io import read
from leafcover.tree.c45 import grow
from leafcover.tree.predict import leaf_membership
from tests.data import table_path
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
    """A permutation of the column in which each number is that of enough neighbours in rank."""
    before, after = (np.sort(one.values[~one.missing]) for one in (column, new))
    if not len(before):
        return
    starts = np.flatnonzero(np.diff(after, prepend=-np.inf))
    for old, held in zip(np.split(before, starts[1:]), np.split(after, starts[1:]), strict=True):
        assert len(held) >= min(share, len(after))
        tiny = 1e-9 * np.abs(old).max()
        assert old[0] - tiny <= held[0] <= old[-1] + tiny
        assert old[0] < old[-1] or held[0] == old[0]  # a number that enough rows hold stays as it is


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
    from dataclasses import replace

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
