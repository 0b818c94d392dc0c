"""Where rows stand: leaves, sets of leaves, boxes around them."""

import numpy as np
import pytest
from hypothesis import given, settings

from leafcover.errors import NameUnknown, TableError
from leafcover.table.table import Column, Table
from leafcover.tree.c45 import grow, grow_from
from leafcover.tree.predict import classify, errors_on, leaf_membership, match_columns
from leafcover.tree.tree import (
    ANY_LEVEL,
    ancestors,
    conditions,
    depths,
    group_of,
    leaf_boxes,
    node_boxes,
    path,
    set_boxes,
    siblings,
)
from leafcover.tree.tree import Test as Condition
from tests.tree.strategies import shuffled, trainings


def reached(tree, training, row, node=0):
    """All leaves a row reaches, by recursion: the twin."""
    if tree.tested[node] < 0:
        return {node: 1.0}
    attribute = tree.tested[node]
    value = training.columns[attribute][row]
    children = list(range(tree.first[node], tree.first[node] + tree.branches[node]))
    if tree.attributes[attribute].is_number and not np.isnan(value):
        return reached(tree, training, row, children[int(value > tree.cut[node])])
    if not tree.attributes[attribute].is_number and value >= 0:
        return reached(tree, training, row, children[value])
    found = {}
    for child in children:
        share = tree.counts[child].sum() / tree.counts[node].sum()
        if share > 0:
            for leaf, part in reached(tree, training, row, child).items():
                found[leaf] = found.get(leaf, 0.0) + part * share
    return found


@settings(max_examples=80, deadline=None)
@given(trainings())
def test_places_and_classes_are_the_twins(training):
    tree = grow_from(training, prune=False)
    found, answers = leaf_membership(tree, training.columns), classify(tree, training.columns)
    for row in range(len(training.labels)):
        leaves = reached(tree, training, row)
        assert tree.leaves[found.leaves_of(found.set_of_row[row])].tolist() == sorted(leaves)
        votes = np.zeros(len(tree.classes))
        for leaf, share in leaves.items():
            count = tree.counts[leaf].sum()
            votes += share * (tree.counts[leaf] / count if count else np.eye(len(votes))[tree.label[leaf]])
        assert votes[answers[row]] == pytest.approx(votes.max(), abs=1e-5)


@settings(max_examples=80, deadline=None)
@given(trainings())
def test_boxes_hold_their_rows(training):
    tree = grow_from(training, prune=False)
    found = leaf_membership(tree, training.columns)
    boxes = set_boxes(leaf_boxes(tree), found)
    assert len(boxes) == len(found)
    for a, attribute in enumerate(tree.attributes):
        values = training.columns[a]
        low, high = boxes.low[found.set_of_row, a], boxes.high[found.set_of_row, a]
        allowed = boxes.allowed[found.set_of_row, a]
        known = ~np.isnan(values) if attribute.is_number else values >= 0
        if attribute.is_number:
            assert ((low < values) & (values <= high))[known].all()
        else:
            assert ((allowed == ANY_LEVEL) | (allowed == values))[known].all()


@settings(max_examples=60, deadline=None)
@given(trainings())
def test_sets_do_not_depend_on_the_order_of_rows(training):
    tree = grow_from(training, prune=False)
    order = np.arange(len(training.labels))[::-1]
    straight, turned = leaf_membership(tree, training.columns), leaf_membership(tree, shuffled(training, order).columns)
    assert turned.set_of_row.tolist() == straight.set_of_row[order].tolist()
    assert turned.leaves.tolist() == straight.leaves.tolist()


@settings(max_examples=60, deadline=None)
@given(trainings())
def test_weighted_rows_of_a_leaf_add_up(training):
    tree = grow_from(training, prune=False)
    sums = np.zeros(tree.size)
    for row in range(len(training.labels)):
        for leaf, share in reached(tree, training, row).items():
            sums[leaf] += share
    expected = tree.counts[tree.leaves].sum(axis=1)
    if not any(np.isnan(c).any() if c.dtype == float else (c < 0).any() for c in training.columns):
        assert sums[tree.leaves] == pytest.approx(expected)
    assert sums.sum() == pytest.approx(len(training.labels), rel=1e-4)


def _weather():
    outlook = ["rain", "rain", "sun", "sun", "sun", "cloud", "cloud", "rain"]
    levels = ("cloud", "rain", "sun")
    return Table(
        (
            Column("outlook", "category", np.array([levels.index(v) for v in outlook], np.int32), levels),
            Column("wind", "number", np.array([9.0, 8.0, 1.0, 7.0, 8.0, 9.0, 1.0, 1.0])),
            Column("play", "category", np.array([0, 0, 1, 0, 0, 1, 1, 1], np.int32), ("no", "yes")),
        )
    )


def test_levels_of_another_table_are_matched_by_their_text():
    table = _weather()
    tree = grow(table, target="play", prune=False)
    other = Table(
        (
            Column("wind", "number", np.array([9.0, 9.0, 9.0])),
            Column("outlook", "category", np.array([1, 2, 0], np.int32), ("aurora", "rain", "sun")),
        )
    )
    outlook = match_columns(tree, other)[0]
    assert outlook.tolist() == [1, 2, -1]  # the tree has never met an aurora


def test_a_tested_column_that_is_not_there_is_named():
    tree = grow(_weather(), target="play", prune=False)
    with pytest.raises(NameUnknown, match="wind"):
        classify(tree, _weather().select(["outlook"]))


def test_a_number_that_has_become_text_is_refused():
    table = _weather()
    tree = grow(table, target="play", prune=False)
    wrong = table.replace([Column("wind", "category", np.zeros(8, np.int32), ("strong",))])
    with pytest.raises(TableError, match="strong"):
        classify(tree, wrong)


def test_errors_on_another_table_count_unknown_classes_as_wrong():
    table = _weather()
    tree = grow(table, target="play", prune=False)
    right = errors_on(tree, table)
    other = table.replace(
        [Column("play", "category", np.array([0, 0, 2, 0, 0, 2, 2, -1], np.int32), ("no", "x", "yes"))]
    )
    assert errors_on(tree, other) <= right
    strange = table.replace([Column("play", "category", np.array([0, 1] * 4, np.int32), ("perhaps", "x"))])
    assert errors_on(tree, strange) == 8


def test_paths_siblings_and_groups():
    tree = grow(_weather(), target="play", prune=False)
    boxes = node_boxes(tree)
    for number, node in enumerate(tree.leaves.tolist()):
        line = ancestors(tree, node)
        assert depths(tree)[node] == len(line) == len(path(tree, node))
        assert line[-1] == 0
        assert group_of(tree)[number] == line[0]
        assert group_of(tree, 99)[number] == 0
        brothers = tree.leaves[siblings(tree, number)]
        assert all(tree.parent[other] == tree.parent[node] for other in brothers)
        assert node not in brothers
        for test in conditions(tree, node):
            a = [attribute.name for attribute in tree.attributes].index(test.attribute)
            if test.operator == "<=":
                assert boxes.high[node, a] == test.value
            elif test.operator == ">":
                assert boxes.low[node, a] == test.value
            else:
                assert tree.attributes[a].levels[boxes.allowed[node, a]] == test.value


def test_conditions_keep_only_the_tightest_ends():
    table = Table(
        (
            Column("x", "number", np.repeat([1.0, 2.0, 3.0, 4.0], 3)),
            Column("y", "category", np.repeat([0, 1, 0, 1], 3).astype(np.int32), ("a", "b")),
        )
    )
    tree = grow(table, target="y", prune=False)
    for node in tree.leaves.tolist():
        tests = conditions(tree, node)
        assert len({(test.attribute, test.operator) for test in tests}) == len(tests)
        assert all(isinstance(test, Condition) for test in tests)


def test_leaf_of_names_the_one_leaf_a_row_reaches():
    from leafcover.tree.predict import leaf_of
    from tests.tables import mixed

    table = mixed(1)
    tree = grow(table, target="class")
    nodes, reached = leaf_of(tree, table), leaf_membership(tree, table)
    for row, node in enumerate(nodes):
        leaves = reached.leaves_of(reached.set_of_row[row])
        assert node == (tree.leaves[leaves[0]] if len(leaves) == 1 else -1)
    assert (nodes >= 0).any()
    assert (nodes < 0).any()
