"""What forests answer, what their trees share, and how they are shown."""

import json

import numpy as np
import pytest
from hypothesis import given, settings

from leafcover.errors import NameUnknown, ValueOutOfRange
from leafcover.table.io import read, sample
from leafcover.table.table import Table
from leafcover.tree import predict as forests
from leafcover.tree.export import ForestExport, as_json, forest_json, forest_rules, forest_text
from leafcover.tree.predict import (
    VOTING_RULES,
    classify,
    classify_forest,
    distribution,
    forest_errors,
    forest_errors_on,
    forest_shares,
    leaf_membership,
    votes,
)
from leafcover.tree.sysfor import attributes_tested, grow_forest, grow_forest_from, levels_of, roots, shared_rules
from leafcover.tree.tree import Attribute, Test, Training, Tree, conditions, training
from tests.tree.strategies import trainings

X, COLOUR = Attribute("x"), Attribute("colour", ("blue", "red"), False)


def stump(cut, low, high):
    """x <= cut with these counts of classes p, q, r below and above."""
    return tree_of([0, -1, -1], [cut, np.nan, np.nan], [np.add(low, high), low, high])


def tree_of(tested, cut, counts):
    tested, counts = np.array(tested, np.int32), np.array(counts, np.float64)
    inner = np.flatnonzero(tested >= 0)
    first = np.full(len(tested), -1, np.int32)
    first[inner] = 1 + 2 * np.arange(len(inner))
    parent = np.full(len(tested), -1, np.int32)
    parent[1:] = np.repeat(inner, 2)
    errors = counts.sum(axis=1) - counts.max(axis=1)
    return Tree(
        "y", ("p", "q", "r"), (X, COLOUR), tested, np.array(cut, np.float64), first,
        np.where(tested >= 0, 2, 0).astype(np.int32), parent, counts, counts.argmax(axis=1).astype(np.int32), errors,
        np.full(len(tested), np.nan),
    )  # fmt: skip


# Three trees; what they say of x = 1, 2 and 3:
#   1: p 0.9 | q 0.6 above 1;   2: q 0.8 up to 2 | r 1.0;   3: r 0.7 up to 2 | r 0.7 above
TREES = (
    stump(1, [9, 1, 0], [2, 6, 2]),
    stump(2, [1, 8, 1], [0, 0, 4]),
    stump(2, [1, 2, 7], [3, 0, 7]),
)
ROWS = (np.array([1.0, 2.0, 3.0]), np.zeros(3, np.int32))


def test_every_tree_has_one_vote():
    assert votes(TREES, ROWS).tolist() == [[1, 1, 1], [0, 2, 1], [0, 1, 2]]


def test_votes_decide_and_the_surer_trees_in_a_tie():
    # x = 1: one vote each, p 0.9, q 0.8, r 0.7. Without the first tree: q 0.8 against r 0.7.
    assert classify_forest(TREES, ROWS).tolist() == [0, 1, 2]
    assert classify_forest(TREES[1:], ROWS).tolist() == [1, 1, 2]
    # Two unsure trees beat a sure one, unless sureness is what is summed and theirs is less.
    unsure = (stump(2, [3, 0, 2], [1, 1, 1]), stump(1, [3, 0, 2], [1, 1, 1]), stump(2, [0, 1, 0], [0, 1, 0]))
    assert classify_forest(unsure, ROWS).tolist()[0] == 0
    assert classify_forest(unsure, ROWS, voting="combined").tolist()[0] == 0  # 0.6 + 0.6 > 1
    even = (stump(2, [2, 1, 1], [1, 1, 1]), stump(1, [2, 1, 1], [1, 1, 1]), stump(2, [0, 2, 0], [0, 1, 0]))
    assert classify_forest(even, ROWS, voting="combined").tolist()[0] == 0  # 0.5 + 0.5 = 1: the first class


def test_the_most_accurate_leaf_decides_and_of_equal_ones_the_larger():
    assert classify_forest(TREES, ROWS, voting="most-accurate-leaf").tolist() == [0, 1, 2]
    pair = (stump(2, [3, 0, 0], [3, 1, 0]), stump(2, [0, 4, 0], [0, 3, 1]))
    assert classify_forest(pair, ROWS, voting="most-accurate-leaf").tolist() == [1, 1, 0]
    assert forest_shares(pair, ROWS, voting="most-accurate-leaf").tolist() == [[0, 1, 0], [0, 1, 0], [0.75, 0.25, 0]]


def test_a_row_without_a_value_is_answered_by_all_leaves():
    gap = (np.array([np.nan]), np.zeros(1, np.int32))
    shares = [distribution(tree, gap)[0] for tree in TREES]
    np.testing.assert_array_equal(votes(TREES, gap), [np.bincount([s.argmax() for s in shares], minlength=3)])
    surest = max(range(3), key=lambda t: shares[t].max())
    assert classify_forest(TREES, gap, voting="most-accurate-leaf")[0] == shares[surest].argmax()


@settings(max_examples=40, deadline=None)
@given(trainings())
def test_the_votes_are_those_of_the_trees_one_by_one(training):
    trees = grow_forest_from(training, min_records=2, n_trees=7)
    found, classes = votes(trees, training), len(training.classes)
    np.testing.assert_array_equal(found, sum(np.eye(classes)[classify(tree, training)] for tree in trees))
    answer = classify_forest(trees, training)
    line = np.arange(len(answer))
    assert (found[line, answer] == found.max(axis=1)).all()
    sureness = sum(
        np.where(np.eye(classes)[classify(tree, training)] > 0, distribution(tree, training), 0) for tree in trees
    )
    assert (sureness[line, answer] >= np.where(found == found.max(axis=1)[:, None], sureness, 0).max(axis=1)).all()
    for voting in VOTING_RULES:
        shares = forest_shares(trees, training, voting=voting)
        np.testing.assert_allclose(shares.sum(axis=1), 1)
        assert forest_errors(trees, training, voting=voting) <= len(training.labels)


def test_blocks_of_rows_change_nothing(monkeypatch):
    data = read(sample("german_credit"))
    trees = grow_forest(data, target="class", n_trees=5)
    together = [classify_forest(trees, data, voting=voting) for voting in VOTING_RULES]
    shares = [forest_shares(trees, data, voting=voting) for voting in VOTING_RULES]
    monkeypatch.setattr(forests, "_BLOCK", 7)
    for number, voting in enumerate(VOTING_RULES):
        np.testing.assert_array_equal(classify_forest(trees, data, voting=voting), together[number])
        np.testing.assert_array_equal(forest_shares(trees, data, voting=voting), shares[number])


def test_rows_without_attributes_and_no_rows_at_all_are_answered():
    labels = np.array([0, 1, 1], np.int32)
    rows = Training("y", ("p", "q"), labels, (), (), np.arange(3))
    assert classify_forest(grow_forest_from(rows), rows).tolist() == [1, 1, 1]
    nobody = (np.empty(0), np.empty(0, np.int32))
    for voting in VOTING_RULES:
        assert classify_forest(TREES, nobody, voting=voting).tolist() == []
        assert forest_shares(TREES, nobody, voting=voting).shape == (0, 3)


def test_another_table_is_matched_by_text_and_must_have_what_any_tree_tests():
    data = read(sample("cps1985"))
    trees = grow_forest(data, target="union", n_trees=20)
    rows = training(data, "union")
    assert forest_errors_on(trees, data) == forest_errors(trees, rows)
    half = data.take(np.arange(0, len(data), 2))
    np.testing.assert_array_equal(classify_forest(trees, half), classify_forest(trees, data)[::2])
    last = list(attributes_tested(trees))[-1]  # tested by fewest trees, perhaps not by the first
    without = Table(tuple(column for column in data if column.name != last))
    with pytest.raises(NameUnknown, match=last):
        classify_forest(trees, without)


def test_votings_that_there_are_not_are_refused():
    with pytest.raises(ValueOutOfRange, match=r"'majority'.*'most-accurate-leaf'.*'combined'"):
        classify_forest(TREES, ROWS, voting="loud")
    with pytest.raises(ValueOutOfRange, match="voting"):
        forest_shares(TREES, ROWS, voting="loud")


# What trees share


def test_a_rule_is_the_same_whatever_the_order_of_its_tests():
    nan, half = np.nan, [2, 0, 0]
    one = tree_of([0, 1, -1, -1, -1], [5, nan, nan, nan, nan], [[4, 4, 0], [2, 4, 0], [2, 0, 0], half, [0, 4, 0]])
    other = tree_of([1, 0, -1, -1, -1], [nan, 5, nan, nan, nan], [[4, 4, 0], [4, 0, 0], [0, 4, 0], half, [2, 0, 0]])
    found = shared_rules((one, other, one))
    # x <= 5 and blue stands in all three; x > 5 and blue only in the second, x <= 5 and red only in the first and third
    both = (Test("x", "<=", 5.0), Test("colour", "=", "blue"))
    assert (found[0].tests, found[0].label, found[0].trees) == (both, "p", (0, 1, 2))
    assert [rule.trees for rule in found] == [(0, 1, 2), (0, 2), (0, 2), (1,), (1,)]
    assert [rule.rows for rule in found[1:3]] == [4, 2]  # of as many trees, more rows first
    assert found[-1].tests == (Test("x", ">", 5.0), Test("colour", "=", "blue"))
    assert [(root.attribute, root.cut, root.trees) for root in roots((one, other, one))] == [
        ("x", 5.0, (0, 2)),
        ("colour", None, (1,)),
    ]
    assert levels_of((one, other, one)) == (0, 0, 1)
    assert attributes_tested((one, other, TREES[0])) == {"x": 3, "colour": 2}


def test_the_class_is_part_of_a_rule_and_values_must_be_exactly_equal():
    low, high = [5, 0, 0], [0, 5, 0]
    assert len(shared_rules((stump(1, low, high), stump(1, high, low)))) == 4
    assert len(shared_rules((stump(1, low, high), stump(np.nextafter(1, 2), low, high)))) == 4
    assert len(shared_rules((stump(1, low, high), stump(1, low, high)))) == 2


@settings(max_examples=30, deadline=None)
@given(trainings())
def test_every_leaf_with_rows_is_counted_in_one_rule(training):
    trees = grow_forest_from(training, min_records=1, n_trees=6)
    found = shared_rules(trees)
    leaves = {
        (frozenset(conditions(tree, node)), tree.classes[tree.label[node]], number)
        for number, tree in enumerate(trees)
        for node in tree.leaves.tolist()
        if tree.counts[node].sum() > 0
    }
    assert {(frozenset(rule.tests), rule.label, number) for rule in found for number in rule.trees} == leaves
    assert [len(rule.trees) for rule in found] == sorted((len(rule.trees) for rule in found), reverse=True)


def test_rules_do_not_depend_on_which_tree_is_walked():
    data = read(sample("wine"))
    trees = grow_forest(data, target="class", n_trees=10)
    rule = shared_rules(trees)[0]
    inside = np.ones(len(data), np.bool_)
    for test in rule.tests:
        values = data[test.attribute].values
        inside &= values <= test.value if test.operator == "<=" else values > test.value
    assert inside.sum() == rule.rows
    for number in rule.trees:
        found = leaf_membership(trees[number], data)
        assert len(np.unique(found.set_of_row[inside])) == 1


# Shown


def shown_wine(**given):
    data = read(sample("wine"))
    return ForestExport(grow_forest(data, target="class", **given), training(data, "class"), table=data)


def test_a_forest_as_text():
    lines = forest_text(shown_wine(n_trees=12)).splitlines()
    assert lines[0] == "12 trees for class: 8 of level 0, 4 of level 1"
    assert lines[1].split() == ["tree", "level", "root", "then", "size", "leaves", "errors"]
    assert lines[2].split()[:5] == ["1", "0", "flavanoids", "<=", "1.39"]
    assert len(lines[2:14]) == 12
    assert lines[13].split()[:2] == ["12", "1"]
    assert lines[15] == "52 rules, 3 of them in more than one tree"
    assert lines[16] == "3 of 12: if flavanoids <= 1.39 and color_intensity > 3.7 then 3 (47.0)"
    assert lines[-2:] == [
        "grown from 178 of 178 rows",
        "errors of the vote 2 (1.1%), of the first tree 6 (3.4%)",
    ]


def test_a_forest_of_one_leaf_is_shown():
    rows = Training("y", ("p", "q"), np.array([0, 0, 1], np.int32), (X,), (np.ones(3),), np.arange(3))
    shown = ForestExport(grow_forest_from(rows), rows)
    assert forest_text(shown).splitlines()[0] == "1 tree for y: 1 of level 0, 0 of level 1"
    assert forest_rules(shown) == "1 of 1: always p (3.0/1.0)\n"
    found = forest_json(shown)
    assert found["roots"] == []
    assert found["trees"][0]["root"] == {"class": "p", "count": 3.0, "errors": 1.0}
    assert found["shared_rules"] == []


def test_a_forest_as_json_holds_the_trees_as_trees_are_told():
    shown = shown_wine(n_trees=12)
    found = json.loads(json.dumps(forest_json(shown)))
    assert [tree["number"] for tree in found["trees"]] == list(range(1, 13))
    for tree, told in zip(shown.trees, found["trees"], strict=True):
        assert {name: told[name] for name in told if name not in ("number", "level")} == as_json(tree, shown.training)
    assert sum(len(root["trees"]) for root in found["roots"]) == 12
    assert found["roots"][0]["attribute"] == "flavanoids"
    assert found["attributes"] == attributes_tested(shown.trees)
    assert all(len(rule["trees"]) > 1 for rule in found["shared_rules"])
    assert found["figures"]["train_errors"] == forest_errors(shown.trees, shown.training)
    assert found["figures"]["rows_grown_from"] == 178


def test_rules_are_one_line_each_and_those_of_most_trees_come_first():
    shown = shown_wine(n_trees=12)
    lines = forest_rules(shown).splitlines()
    assert len(lines) == len(shared_rules(shown.trees))
    numbers = [int(line.split(" of 12: ")[0]) for line in lines]
    assert numbers == sorted(numbers, reverse=True)
