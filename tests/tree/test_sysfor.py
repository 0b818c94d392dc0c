"""SysFor beside its twin, by hand, and on tables that leave it little to choose from."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leafcover.errors import TableError, ValueOutOfRange
from leafcover.table.io import read, sample
from leafcover.tree import sysfor
from leafcover.tree.c45 import grow_from
from leafcover.tree.predict import classify
from leafcover.tree.sysfor import (
    SearchSettings,
    TrainingPart,
    branch_parts,
    good_attributes,
    grow_forest,
    grow_forest_from,
    levels_of,
    roots,
    training_sample,
    value_ranges,
)
from leafcover.tree.tree import Attribute, Training, training
from tests import naive_sysfor as naive
from tests import naive_tree
from tests.tree.strategies import shuffled, trainings

SEARCHES = st.builds(
    SearchSettings,
    goodness=st.sampled_from([0.0, 0.05, 0.3, 1.0]),
    separation=st.sampled_from([0.0, 0.1, 0.3, 1.0]),
    min_records=st.sampled_from([1, 2, 5]),
)


def whole(training):
    return TrainingPart(np.arange(len(training.labels)), np.ones(len(training.labels)))


def told(goods):
    return [(g.attribute, None if np.isnan(g.middle) else g.middle, pytest.approx(g.ratio, abs=1e-9)) for g in goods]


def forest_of(training, search, **given):
    return grow_forest_from(
        training,
        goodness=search.goodness,
        separation=search.separation,
        min_records=search.min_records,
        **given,
    )


@settings(max_examples=100, deadline=None)
@given(trainings(most_rows=30), SEARCHES)
def test_good_attributes_are_the_twins_at_the_root_and_in_its_branches(training, search):
    spans, cases = value_ranges(training), [(row, 1.0) for row in range(len(training.labels))]
    given = (search.goodness, search.separation, search.min_records)
    found, twin = (
        good_attributes(training, whole(training), spans, search),
        naive.good_attributes(training, cases, *given),
    )
    assert told(found) == twin
    for good, same in list(zip(found, twin, strict=True))[:3]:
        parts, twins = list(branch_parts(training, whole(training), good)), naive.branch_parts(training, cases, same)
        for part, inside in zip(parts, twins, strict=True):
            assert sorted(part.rows.tolist()) == sorted(row for row, _ in inside)
            assert part.weight.sum() == pytest.approx(naive.total(inside))
            assert told(good_attributes(training, part, spans, search)) == naive.good_attributes(
                training, inside, *given
            )


@settings(max_examples=100, deadline=None)
@given(trainings(most_rows=30), SEARCHES, st.sampled_from([1, 3, 12]))
def test_every_tree_is_the_twins(training, search, n_trees):
    trees = forest_of(training, search, n_trees=n_trees, incomplete="share")
    twin = naive.forest(training, n_trees, search.goodness, search.separation, search.min_records)
    assert [naive_tree.told_tree(tree) for tree in trees] == twin


# By hand: x parts the classes at 4.5, c says nothing about them. Two rows a side.
#   x 4.5: gain 1, ratio 1; x 3.5 (3 | 5): 0.5488 / 0.9544 = 0.5750; x 2.5 (2 | 6): 0.3113 / 0.8113 = 0.3837;
#   5.5 and 6.5 mirror them; c: gain 0.
HAND = Training(
    "y",
    ("p", "q"),
    np.array([0, 0, 0, 0, 1, 1, 1, 1], np.int32),
    (Attribute("x"), Attribute("c", ("u", "v"), False)),
    (np.arange(1.0, 9), np.array([0, 0, 1, 1, 0, 0, 1, 1], np.int32)),
    np.arange(8),
)


@pytest.mark.parametrize(
    ("goodness", "separation", "middles", "ratios"),
    [
        (0.3, 0.3, [4.5], [1.0]),  # a range of 7: every other cut is nearer than 2.1
        (1.0, 0.3, [4.5, None], [1.0, 0.0]),
        (0.7, 0.2, [4.5, 2.5, 6.5], [1.0, 0.3837, 0.3837]),  # of equal ones the lower first
        (0.43, 0.0, [4.5, 3.5, 5.5], [1.0, 0.5750, 0.5750]),
        (0.42, 0.0, [4.5], [1.0]),
    ],
)
def test_good_attributes_by_hand(goodness, separation, middles, ratios):
    found = good_attributes(HAND, whole(HAND), value_ranges(HAND), SearchSettings(goodness, separation, 2))
    assert [None if np.isnan(g.middle) else g.middle for g in found] == middles
    assert [g.ratio for g in found] == pytest.approx(ratios, abs=5e-5)


def test_a_forest_by_hand():
    # Level 0: x 4.5, x 2.5, x 6.5, c. Level 1 below x 4.5: both branches are pure, no tree. Below x 2.5: the branch
    # above has x 4.5 (1.0), x 6.5 (0.2740) and c (0.2740), the branch below is pure: floor(3 * 6 / 8) = 2 trees.
    trees = grow_forest_from(HAND, goodness=1.0, separation=0.2, min_records=2, n_trees=6)
    assert levels_of(trees) == (0, 0, 0, 0, 1, 1)
    assert [(root.attribute, root.cut) for root in roots(trees)] == [("x", 4), ("x", 2), ("x", 6), ("c", None)]
    assert trees[0].size == 3
    assert trees[3].size == 7  # x parts the classes in each branch of c
    for tree, (tested, cut) in zip(trees[4:], [(0, 6.0), (1, np.nan)], strict=True):
        assert (tree.tested[0], tree.cut[0]) == (0, 2)
        assert tree.tested[1] == -1
        assert tree.tested[2] == tested
        np.testing.assert_equal(tree.cut[2], cut)
    assert all(classify(tree, HAND).tolist() == HAND.labels.tolist() for tree in trees[:4])


@settings(max_examples=60, deadline=None)
@given(trainings(most_rows=60), SEARCHES, st.integers(1, 20))
def test_what_holds_for_every_forest(training, search, n_trees):
    trees = forest_of(training, search, n_trees=n_trees)
    used = training_sample(training)
    goods = good_attributes(used, whole(used), value_ranges(used), search)[:n_trees]
    assert 1 <= len(trees) <= n_trees
    assert all(tree.attributes == training.attributes and tree.classes == training.classes for tree in trees)
    if goods:
        first = trees[: len(goods)]
        assert [tree.tested[0] for tree in first] == [good.attribute for good in goods]
        assert levels_of(trees) == (0,) * len(goods) + (1,) * (len(trees) - len(goods))
        assert len(roots(trees)) == len(goods)
    for tree in trees:
        assert tree.counts[0].sum() == len(used.labels)
        for leaf in tree.leaves:
            assert tree.counts[leaf, tree.label[leaf]] == tree.counts[leaf].max()
    spans = value_ranges(used)
    for one in goods:
        for other in goods:
            if one is not other and one.attribute == other.attribute:
                assert abs(one.middle - other.middle) > search.separation * spans[one.attribute] * (1 - 1e-12)
    same = [(tree.tested.tobytes(), tree.cut.tobytes(), tree.first.tobytes()) for tree in trees]
    assert len(set(same)) == len(same)


@settings(max_examples=40, deadline=None)
@given(trainings(missing=False), SEARCHES, st.randoms(use_true_random=False))
def test_the_order_of_rows_does_not_matter_when_nothing_is_missing(training, search, random):
    order = np.arange(len(training.labels))
    random.shuffle(order)
    one, other = (forest_of(rows, search, n_trees=8) for rows in (training, shuffled(training, order)))
    assert [naive_tree.told_tree(tree) for tree in one] == [naive_tree.told_tree(tree) for tree in other]


def test_a_level_that_nobody_has_gains_nothing():
    # An empty branch has no entropy to tell; were it counted as pure, the category would seem perfect.
    labels = np.array([0, 1] * 10, np.int32)
    columns = (np.array([0, 0, 1, 1] * 5, np.int32), np.array([0] * 8 + [1] * 12, np.float64))
    attributes = (Attribute("c", ("a", "b", "nobody"), False), Attribute("x"))
    rows = Training("y", ("p", "q"), labels, attributes, columns, np.arange(20))
    found = good_attributes(rows, whole(rows), value_ranges(rows), SearchSettings(0.3, 0.3, 5))
    assert [(good.attribute, good.ratio) for good in found] == [(0, 0.0), (1, 0.0)]
    tree = grow_forest_from(rows, min_records=5)[0]
    assert tree.counts[1:4].sum(axis=1).tolist() == [10, 10, 0]
    assert tree.label[3] == tree.label[0]


def test_a_forced_leaf_answers_the_majority_and_not_its_first_row():
    labels = np.array([1] + [0] * 9 + [1] * 10, np.int32)  # the first row is of the minority in its branch
    rows = Training("y", ("p", "q"), labels, (Attribute("x"),), (np.repeat([1.0, 2.0], 10),), np.arange(20))
    (tree,) = grow_forest_from(rows)
    assert tree.label.tolist()[1:] == [0, 1]


def test_the_root_is_never_pruned():
    # x says nothing: C4.5 answers with one leaf, the forest keeps the test it was told to make.
    labels = np.array([0, 0, 0, 1] * 10, np.int32)
    rows = Training("y", ("p", "q"), labels, (Attribute("x"),), (np.repeat([1.0, 2.0], 20),), np.arange(40))
    assert grow_from(rows, min_records=10).size == 1
    (tree,) = grow_forest_from(rows)
    assert (tree.size, tree.tested[0]) == (3, 0)
    assert tree.estimate[0] == tree.estimate[1] + tree.estimate[2]


def test_the_last_turn_of_level_1_is_not_the_first_tree_again():
    # Both branches of x have the same two good tests, so the second turn would fall back to the best one everywhere.
    rng = np.random.default_rng(5)
    x, a, b = (rng.integers(0, 2, 400) for _ in range(3))
    labels = (a ^ (rng.random(400) < 0.2)).astype(np.int32)
    attributes = tuple(Attribute(name, ("no", "yes"), False) for name in "xab")
    columns = tuple(column.astype(np.int32) for column in (x, a, b))
    rows = Training("y", ("p", "q"), labels, attributes, columns, np.arange(400))
    trees = grow_forest_from(rows, goodness=1.0)
    # the roots a, x and b; below each of them one tree that begins with the second-best test, and no third one
    assert levels_of(trees) == (0, 0, 0, 1, 1, 1)
    assert [tree.tested[0] for tree in trees] == [1, 0, 2, 1, 0, 2]
    assert [tree.tested[1] for tree in trees[3:]] == [2, 2, 0]


# Tables that leave little to choose from


def rows_of(labels, *columns):
    attributes = tuple(
        Attribute(f"a{i}") if column.dtype == np.float64 else Attribute(f"a{i}", tuple("uvwxyz"), False)
        for i, column in enumerate(columns)
    )
    names = tuple("pqrst"[: max(labels) + 1])
    return Training("y", names, np.array(labels, np.int32), attributes, tuple(columns), np.arange(len(labels)))


AWKWARD = {
    "two classes with one row each": rows_of([0, 1], np.array([1.0, 2.0])),
    "constant columns": rows_of([0, 1] * 30, np.ones(60), np.zeros(60, np.int32)),
    "fewer than two leaves of rows": rows_of([0, 1] * 9, np.arange(18.0)),
    "no attribute": rows_of([0, 1] * 30),
    "missing everywhere": rows_of([0, 1] * 30, np.full(60, np.nan), np.full(60, -1, np.int32)),
    "one class among the complete rows": rows_of(
        [0] * 40 + [1] * 20, np.where(np.arange(60) < 40, np.arange(60.0), np.nan)
    ),
}


@pytest.mark.parametrize("name", AWKWARD)
def test_without_a_good_test_the_forest_is_the_one_tree_of_c45(name):
    rows = AWKWARD[name]
    (tree,) = grow_forest_from(rows)
    assert naive_tree.told_tree(tree) == naive_tree.told_tree(grow_from(training_sample(rows), min_records=10))
    assert tree.size == 1
    assert len(classify(tree, rows)) == len(rows.labels)


def test_one_usable_attribute_makes_one_tree_for_each_of_its_cuts():
    rows = rows_of([0, 1] * 50, np.arange(100.0), np.zeros(100, np.int32))
    trees = grow_forest_from(rows, goodness=1.0)
    cuts = [tree.cut[0] for tree in trees if tree.tested[0] == 0]
    assert len(set(cuts)) == levels_of(trees).count(0) >= 2
    assert len(grow_forest_from(rows, goodness=1.0, separation=1.0)) < len(trees)


def test_all_categories():
    rng = np.random.default_rng(2)
    codes = rng.integers(0, 3, (4, 300)).astype(np.int32)
    rows = rows_of((codes[0] == codes[1]).astype(int).tolist(), *codes)
    trees = grow_forest_from(rows)
    assert {root.attribute for root in roots(trees)} == {"a0", "a1", "a2", "a3"}
    assert len(trees) > 4
    first = next(tree for tree in trees if tree.tested[0] == 0)  # by itself a0 tells next to nothing of the class
    assert classify(first, rows).tolist() == rows.labels.tolist()


def test_incomplete_rows_are_dropped_while_most_are_complete_and_shared_otherwise():
    rng = np.random.default_rng(4)
    x = rng.normal(size=200)
    labels = (x > 0).astype(int).tolist()
    some, most = (np.where(np.arange(200) < gone, np.nan, rng.normal(size=200)) for gone in (100, 101))
    for gaps, weight in ((some, 100), (most, 200)):
        rows = rows_of(labels, x, gaps)
        assert len(training_sample(rows).labels) == weight
        assert all(tree.counts[0].sum() == weight for tree in grow_forest_from(rows))
    assert len(training_sample(rows, "drop").labels) == 99
    assert len(training_sample(rows_of(labels, x, some), "share").labels) == 200
    empty = rows_of(labels, x, np.full(200, np.nan))  # a column without any value makes no row incomplete
    assert len(training_sample(empty).labels) == 200
    nowhere = rows_of(labels, np.where(np.arange(200) % 2, x, np.nan), np.where(np.arange(200) % 2, np.nan, x))
    with pytest.raises(TableError, match="missing value"):
        grow_forest_from(nowhere, incomplete="drop")
    assert len(grow_forest_from(nowhere)) >= 2


def test_large_tables_are_grown_from_rows_evenly_spaced(monkeypatch):
    monkeypatch.setattr(sysfor, "MAX_ROWS_EXACT", 100)
    x = np.arange(1000.0)
    x[:7] = np.nan
    used = training_sample(rows_of((np.nan_to_num(x) > 500).astype(int).tolist(), x))
    assert len(used.labels) == 100
    assert used.rows[0] == 7
    assert np.diff(used.rows).tolist().count(10) > 80
    (tree,) = grow_forest_from(rows_of((x > 500).astype(int).tolist(), x))
    assert tree.counts[0].sum() == 100


def test_a_forest_of_a_table_has_the_trees_of_its_arrays():
    data = read(sample("wine"))
    trees = grow_forest(data, target="class", n_trees=9)
    arrays = grow_forest_from(training(data, "class"), n_trees=9)
    assert [naive_tree.told_tree(tree) for tree in trees] == [naive_tree.told_tree(tree) for tree in arrays]
    some = grow_forest(data, target="class", attributes=["alcohol", "hue"])
    assert [attribute.name for attribute in some[0].attributes] == ["alcohol", "hue"]
    binned = grow_forest(data, target="proline", bins=3, n_trees=4)
    assert len(binned[0].classes) == 3


@pytest.mark.parametrize(
    "given",
    [
        {"n_trees": 0},
        {"goodness": -0.1},
        {"goodness": float("nan")},
        {"separation": 1.1},
        {"separation": -0.1},
        {"min_records": 0},
        {"confidence": 0.0},
        {"incomplete": "maybe"},
    ],
)
def test_parameters_out_of_range_are_refused(given):
    with pytest.raises(ValueOutOfRange, match=next(iter(given))):
        grow_forest_from(HAND, **given)


def test_tables_of_this_project_give_the_forests_they_gave():
    adult = read(sample("adult"))
    trees = grow_forest(adult, target="income")
    assert len(trees) == 60
    assert levels_of(trees).count(0) == 13
    assert trees[0].counts[0].sum() == 30_162  # the rows without a gap
    wbc = grow_forest(read(sample("wbc"), drop=["sample_code_number"]), target="class")
    assert (len(wbc), levels_of(wbc).count(0)) == (60, 19)
