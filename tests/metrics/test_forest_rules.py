"""Rules kept over a whole forest: worked out by hand, and against a slow twin."""

from dataclasses import astuple

import numpy as np
import pytest

from leafcover.metrics.utility.forest import Growth, distinct_rules, forest_for, forest_rules, shares_held, walked
from leafcover.metrics.utility.rules import allowance
from leafcover.table.io import read, sample
from leafcover.tree.predict import leaf_membership
from leafcover.tree.tree import conditions
from tests.metrics.made_trees import made
from tests.metrics.test_rules import rule, shaken, slow_kind
from tests.tables import category, mixed, number, table

ROWS = table(
    number("x", range(1, 11)), number("y", [1, 1, 9, 9, 9, 1, 9, 9, 9, 9]), category("class", list("aaaaabbbbb"))
)
BEFORE = [made(("x", 5.0, "a", "b")), made(("y", 4.0, ("x", 5.0, "a", "b"), "b"))]


def compared(before, after, rows=ROWS, allowed=None):
    """The rules that one forest keeps of another, floor and chance left alone."""
    return forest_rules(walked(before, rows), after, [before], [made("b")], allowed or {"x": 1.0}).kept


def test_the_rules_of_two_forests_by_hand():
    # Rules before, and their rows: x <= 5 -> a (5), x > 5 -> b (5); y <= 4 and x <= 5 -> a (2), y <= 4 and x > 5 -> b
    # (1), y > 4 -> b (7). After: x <= 6 -> a, x > 6 -> b; y <= 4 -> a, y > 4 -> b. The last is kept as it is, the first
    # two have a cut that moved by a step, the others are lost.
    after = [made(("x", 6.0, "a", "b")), made(("y", 4.0, "a", "b"))]
    found = forest_rules(walked(BEFORE, ROWS), after, [BEFORE, after], [made("b")], {"x": 1.0})
    assert astuple(found.kept) == pytest.approx((7 / 20, 17 / 20, 1 / 5, 3 / 5))
    assert astuple(found.floor) == pytest.approx([(1 + share) / 2 for share in astuple(found.kept)])
    assert astuple(found.chance) == (0, 0, 0, 0)
    assert (found.rules, found.released) == (5, 4)
    assert compared(BEFORE, after, allowed={"x": 0.5}).near == pytest.approx(7 / 20)


def test_a_rule_may_be_found_in_another_tree_and_by_another_order_of_tests():
    turned = [made(("x", 5.0, ("y", 4.0, "a", "b"), ("y", 4.0, "b", "b"))), *BEFORE[:1]]
    assert astuple(compared(BEFORE, turned)) == pytest.approx((13 / 20, 13 / 20, 4 / 5, 4 / 5))


def test_a_rule_of_several_trees_counts_once():
    assert len(distinct_rules([*BEFORE, BEFORE[0]])) == 5
    assert compared([*BEFORE, BEFORE[0]], BEFORE[:1]) == compared(BEFORE, BEFORE[:1])


def test_an_empty_leaf_is_no_rule():
    empty = made(("x", 5.0, "a", "b"))
    empty.counts[1] = 0.0
    assert distinct_rules([empty]) == (rule("b", x=(5.0, np.inf)),)
    assert compared(BEFORE[:1], [empty]).exact == 0.5
    assert compared([empty], [empty]).exact == 1.0
    assert shares_held((), distinct_rules(BEFORE), {}).near_alike == 1.0


def slow_rules(trees, rows):
    """Conditions of every leaf with training rows, read test by test along its path, and the rows that stand in it."""
    found = {}
    for tree in trees:
        at = leaf_membership(tree, rows)
        for leaf, node in enumerate(tree.leaves.tolist()):
            asked = {}
            for test in conditions(tree, node):
                low, high = asked.get(test.attribute, (-np.inf, np.inf))
                asked[test.attribute] = (
                    test.value
                    if test.operator == "="
                    else (test.value, high)
                    if test.operator == ">"
                    else (low, test.value)
                )
            if tree.counts[node].sum() > 0:
                covered = float(np.count_nonzero(at.set_of_row == leaf))
                found.setdefault(rule(tree.classes[tree.label[node]], covered, **asked), covered)
    return list(found)


def test_rules_kept_are_those_of_the_slow_twin():
    exact, near = [], []
    for seed in range(6):
        rows = mixed(seed, rows=250, missing=0.0)
        ours, theirs = (forest_for(t, "class", Growth(n_trees=5)) for t in (rows, shaken(rows, seed)))
        allowed = allowance(rows)
        found = compared(ours, theirs, rows, allowed)
        every, others = slow_rules(ours, rows), slow_rules(theirs, rows)
        kinds = [slow_kind(each, others, allowed) for each in every]
        weight = np.array([each.rows for each in every])
        kept, moved = (np.array([kind in wanted for kind in kinds]) for wanted in (("kept",), ("kept", "cut moved")))
        assert astuple(found) == pytest.approx(
            ((kept * weight).sum() / weight.sum(), (moved * weight).sum() / weight.sum(), kept.mean(), moved.mean())
        )
        exact.append(found.exact)
        near.append(found.near)
    assert 0 < np.mean(exact) < np.mean(near) < 1


def test_more_trees_of_sysfor_are_the_same_and_others():
    """So the leaves of the first twenty hold what they held in a release that keeps all sixty."""
    rows = read(sample("german_credit"))
    few, many = (forest_for(rows, "class", Growth(n_trees=count)) for count in (20, 40))
    assert [tree.cut.tobytes() for tree in few] == [tree.cut.tobytes() for tree in many[:20]]
    assert [tree.tested.tolist() for tree in few] == [tree.tested.tolist() for tree in many[:20]]
