"""Classes in the leaves of the original's forest: by hand, against a slow twin, and what is 1 by construction."""

from dataclasses import astuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leafcover.metrics.pair import pair_of
from leafcover.metrics.utility.forest import (
    Growth,
    counts_by_leaf,
    forest_for,
    forests,
    leaf_counts,
    leaves_alike,
    walked,
)
from leafcover.metrics.utility.rules import rows_by_leaf
from leafcover.table.io import read, sample
from leafcover.table.table import Table
from leafcover.tree.predict import leaf_membership
from tests.metrics.made_trees import made
from tests.tables import category, mixed, mixed_tables, number, table


def test_counts_of_leaves_by_hand():
    # x <= 5 holds 4 a and 1 b before, 3 a and 2 b after; x > 5 the other 1 a and 4 b, then 2 a and 3 b: of ten rows one
    # has lost its like in each leaf. In the second tree, cut at 9, one leaf holds 5 a and 4 b both times, one 1 b.
    trees = [made(("x", 5.0, "a", "b")), made(("x", 9.0, "a", "b"))]
    before = table(number("x", range(1, 11)), category("class", list("aaaababbbb")))
    after = table(number("x", range(1, 11)), category("class", list("aaabbaabbb")))
    classes = before["class"].values, after["class"].values
    ours, theirs = (walked(trees, rows) for rows in (before, after))
    every, first = np.arange(10), np.zeros(10, np.int64)
    found = leaf_counts(ours, theirs, classes, [every, first], classes[0][::-1])
    assert astuple(found.kept) == (0.5, 0.9)
    # The one resample is the table itself, the other its first row ten times: leaves of 10 a, and none.
    assert astuple(found.floor) == pytest.approx(((1.0 + 0.0) / 2, (1.0 + (0.4 + 0.5) / 2) / 2))
    # Backwards the classes are bbbbabaaaa: 1 a and 4 b, 4 a and 1 b; and 4 a and 5 b, 1 a.
    assert astuple(found.chance) == (0.0, pytest.approx((0.4 + 0.8) / 2))
    assert found.leaves == 4


def test_a_row_without_a_value_is_shared_and_one_without_a_class_counted():
    tree = made(("x", 3.0, "a", "b"))
    tree.counts[1], tree.counts[2] = (30.0, 0.0), (0.0, 10.0)
    rows = table(number("x", [1, 2, 9, np.nan]), category("class", ["a", None, "b", "b"]))
    found = counts_by_leaf(tree, leaf_membership(tree, rows), rows["class"].values, 3)
    np.testing.assert_allclose(found, [[1, 1, 0.75], [0, 0, 1.25]])


@settings(max_examples=30)
@given(mixed_tables(), st.integers(0, 1000))
def test_counts_are_those_of_rows_class_by_class(rows, seed):
    classes = np.random.default_rng(seed).integers(-1, 3, len(rows)).astype(np.int32)
    for tree in forest_for(rows, "class", Growth(n_trees=3, min_records=2)):
        found = counts_by_leaf(tree, leaf_membership(tree, rows), classes, 4)
        for code in range(-1, 3):
            alone = leaf_membership(tree, rows.take(np.flatnonzero(classes == code)))
            np.testing.assert_allclose(found[:, code + 1], rows_by_leaf(tree, alone), atol=1e-9)


def within_cells(rows, trees, seed=0):
    """Every column shuffled on its own among the rows that share their leaves in all trees."""
    rng = np.random.default_rng(seed)
    leaves = np.column_stack([leaf_membership(tree, rows).set_of_row for tree in trees])
    cell = np.unique(leaves, axis=0, return_inverse=True)[1].ravel()
    columns = []
    for column in rows:
        source = np.empty(len(rows), np.int64)
        source[np.argsort(cell, kind="stable")] = np.lexsort([rng.random(len(rows)), cell])
        columns.append(column.take(source))
    return Table(tuple(columns))


@settings(max_examples=30)
@given(mixed_tables(), st.integers(0, 1000))
def test_what_moves_within_the_cells_of_a_forest_keeps_every_count(rows, seed):
    trees = forest_for(rows, "class", Growth(n_trees=4, min_records=2))
    after = within_cells(rows, trees, seed)
    found = leaves_alike(walked(trees, rows), walked(trees, after), rows["class"].values, after["class"].values)
    assert astuple(found) == (1.0, 1.0)


@pytest.mark.parametrize(("name", "target"), [("wbc", "class"), ("german_credit", "class"), ("cps1985", "union")])
def test_a_release_within_the_cells_of_the_same_forest_keeps_its_rules_by_construction(name, target):
    rows, growth = read(sample(name)), Growth(n_trees=3)
    after = within_cells(rows, forest_for(rows, target, growth))
    assert any((after[column].values != rows[column].values).mean() > 0.02 for column in rows.names)
    found = forests(pair_of(rows, after, np.arange(len(rows)), target=target), growth)
    assert astuple(found.leaves.kept) == (1.0, 1.0)
    assert found.leaves.floor.rows < 1.0
    assert found.rules.kept.near < 1.0  # a forest grown anew is not the same one


def test_classes_that_leave_their_cells_are_seen():
    rows = mixed(7, rows=600, missing=0.0)
    trees = forest_for(rows, "class")
    after = rows.replace([rows["class"].take(np.random.default_rng(1).permutation(600))])
    found = leaves_alike(walked(trees, rows), walked(trees, after), rows["class"].values, after["class"].values)
    assert found.rows < 0.8
    assert found.leaves < 0.1
