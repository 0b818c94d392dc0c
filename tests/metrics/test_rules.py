"""Rules of two trees: worked out by hand, against slow twins, and in words."""

from collections import Counter
from dataclasses import replace
from itertools import product
from math import inf

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leafcover.metrics.utility.rules import (
    KINDS,
    Condition,
    Difference,
    Rule,
    allowance,
    difference_in_words,
    differences_in_words,
    differences_of,
    nearest,
    rows_by_leaf,
    rule_differences,
    rule_in_words,
    rules_of,
)
from leafcover.metrics.utility.trees import cut_moves, matched_cuts
from leafcover.tree.c45 import grow, grow_from
from leafcover.tree.predict import leaf_membership
from tests.metrics.made_trees import made
from tests.tables import category, mixed, number, table
from tests.tree.strategies import trainings


def rule(answer="a", rows=1.0, **asked):
    found = [
        Condition(name, levels=(ends,)) if isinstance(ends, str) else Condition(name, *ends)
        for name, ends in sorted(asked.items())
    ]
    return Rule(tuple(found), answer, rows)


def test_rules_are_one_interval_or_level_an_attribute_whatever_the_order_of_tests():
    one = made(("x", 5.0, ("job", {"p": ("x", 2.0, "a", "b"), "q": "a"}), "b"))
    other = made(("job", {"p": ("x", 2.0, "a", ("x", 5.0, "b", "b")), "q": ("x", 5.0, "a", "b")}))
    expected = {
        rule("a", x=(-inf, 2.0), job="p"),
        rule("b", x=(2.0, 5.0), job="p"),
        rule("a", x=(-inf, 5.0), job="q"),
    }
    assert set(rules_of(one)) == expected | {rule("b", x=(5.0, inf))}
    assert set(rules_of(other)) == expected | {rule("b", x=(5.0, inf), job="p"), rule("b", x=(5.0, inf), job="q")}
    assert {r.rows for r in rules_of(one)} == {10.0}
    assert rules_of(made("a")) == (Rule((), "a"),)


def test_a_row_without_a_value_is_shared_among_its_rules_by_their_training_rows():
    # x <= 3 holds 30 training rows, above 10: a row without x is 3/4 of a row here and 1/4 there.
    tree = made(("x", 3.0, "a", "b"))
    tree.counts[1], tree.counts[2] = (30.0, 0.0), (0.0, 10.0)
    rows = table(number("x", [1, 2, 9, np.nan]), category("class", list("aabb")))
    assert rows_by_leaf(tree, leaf_membership(tree, rows)).tolist() == [2.75, 1.25]


def test_the_five_ends_of_a_rule_by_hand():
    # Cuts of x may move by 1. The first rule is kept; x <= 20 becomes x <= 21; y <= 4 now answers b; the rule of z
    # is lost; and of the release the one of w is new (1,000 rows of the table stand in it).
    ours = [
        rule("a", 4, x=(-inf, 10)),
        rule("a", 50, x=(15, 20)),
        rule("a", 3, y=(-inf, 4)),
        rule("b", 7, z=(0, inf)),
    ]
    theirs = [
        rule("a", 5, x=(-inf, 10)),
        rule("a", 40, x=(15, 21)),
        rule("b", 2, y=(-inf, 4)),
        rule("b", 1000, w=(-inf, 2)),
    ]
    found = differences_of(ours, theirs, {"x": 1.0})
    assert [(d.kind, d.rows) for d in found] == [
        ("new", 1000),
        ("cut moved", 50),
        ("lost", 7),
        ("kept", 4),
        ("class changed", 3),
    ]
    assert [d.original for d in found] == [None, ours[1], ours[3], ours[0], ours[2]]
    assert [d.released for d in found] == [theirs[3], theirs[1], None, theirs[0], theirs[2]]


def test_a_cut_that_moved_too_far_is_lost_and_new():
    one, other = rule(x=(-inf, 10)), rule(x=(-inf, 12))
    assert [d.kind for d in differences_of([one], [other], {"x": 1.9})] == ["lost", "new"]
    assert [d.kind for d in differences_of([one], [other], {"x": 2.0})] == ["cut moved"]
    assert [d.kind for d in differences_of([one], [rule(x=(10, inf))], {"x": inf})] == ["lost", "new"]


def test_of_several_rules_within_reach_the_nearest_is_taken():
    theirs = [rule(x=(-inf, 14)), rule(x=(-inf, 11)), rule(x=(-inf, 8))]
    assert nearest([rule(x=(-inf, 10))], theirs, {"x": 5.0}).tolist() == [1]


def test_a_cut_may_move_by_a_step_of_the_grid_or_a_twentieth_of_the_domain():
    rows = table(
        number("few", [1, 2, 10]),  # 5 % of 9 is 0.45: one step, 1, is more
        number("many", [-100, 0, 100]),  # 5 % of 200
        number("fine", [0.0, 0.5, 2.0], None),
        number("gone", [np.nan] * 3, None),
        number("huge", [-1e308, 0.0, 1e308], None),
        category("class", list("aab")),
    )
    assert allowance(rows) == pytest.approx({"few": 1.0, "many": 10.0, "fine": 0.1, "gone": 0.0, "huge": 1e307})


def slow_kind(one, others, allowed):
    """What becomes of a rule, by comparing it with every other one end by end."""
    if any(one.conditions == r.conditions and one.answer == r.answer for r in others):
        return "kept"

    def near(r):
        if [(c.attribute, c.levels) for c in one.conditions] != [(c.attribute, c.levels) for c in r.conditions]:
            return False
        ends = [
            p for c, d in zip(one.conditions, r.conditions, strict=True) for p in ((c.low, d.low), (c.high, d.high))
        ]
        names = [c.attribute for c in one.conditions for _ in range(2)]
        return all(a == b or abs(a - b) <= allowed[name] + 1e-9 for (a, b), name in zip(ends, names, strict=True))

    if any(near(r) and r.answer == one.answer for r in others):
        return "cut moved"
    return "class changed" if any(map(near, others)) else "lost"


def shaken(rows, seed):
    """The same table with some values of its numbers a step or two away and some classes exchanged."""
    rng = np.random.default_rng(seed)
    columns = []
    for column in rows:
        moved = rng.random(len(rows)) < 0.15
        step = 1.0 if column.grid is None else column.grid.step
        if column.name == "class":
            columns.append(column.take(np.where(moved & (rng.random(len(rows)) < 0.6), 0, np.arange(len(rows)))))
        elif column.is_category:
            columns.append(column)
        else:
            columns.append(replace(column, values=column.values + moved * step * rng.integers(-2, 3, len(rows))))
    return table(*columns)


def test_every_rule_ends_as_its_slow_twin_says():
    seen = Counter()
    for seed in range(40):
        one = mixed(seed, rows=80)
        ours, theirs = (rules_of(grow(t, target="class", prune=False)) for t in (one, shaken(one, seed)))
        allowed = allowance(one)
        found = differences_of(ours, theirs, allowed)
        kinds = {d.original.conditions: d.kind for d in found if d.original is not None}
        assert [kinds[each.conditions] for each in ours] == [slow_kind(each, theirs, allowed) for each in ours]
        changed = [d.released for d in found if d.kind == "class changed"]
        new = [each for each in theirs if slow_kind(each, ours, allowed) in ("lost", "class changed")]
        assert {d.released for d in found if d.kind == "new"} == set(new) - set(changed)
        seen.update(d.kind for d in found)
    assert min(seen[kind] for kind in KINDS) >= 5, seen


@settings(max_examples=40)
@given(trainings())
def test_rows_are_shared_out_whole(rows):
    tree = grow_from(rows, min_records=1, prune=False)
    assert rows_by_leaf(tree, leaf_membership(tree, rows)).sum() == pytest.approx(len(rows.labels))


def test_a_tree_has_every_rule_of_its_own():
    rows = mixed(3)
    tree = grow(rows, target="class")
    found = rule_differences(tree, tree, rows)
    assert {d.kind for d in found} == {"kept"}
    assert sum(d.rows for d in found) == pytest.approx(len(rows))
    assert [d.rows for d in found] == sorted((d.rows for d in found), reverse=True)


def test_rules_and_their_ends_in_words():
    old = rule("poor", 1234, age=(17, 30), job="clerk")
    new = rule("rich", 1, age=(18, 30), job="clerk")
    assert rule_in_words(rule("poor", age=(30, inf))) == "if age is above 30, then poor"
    assert rule_in_words(Rule((), "poor")) == "always poor"
    assert difference_in_words(Difference("class changed", old, new, 1234)) == (
        "Class changed (1,234 rows): if age is above 17 and at most 30 and job is clerk, then poor; "
        "in the release age above 18 and rich."
    )
    assert difference_in_words(Difference("new", None, new, 1.0)).startswith("New (1 row): if age")


def test_the_text_counts_all_and_shows_changes_before_what_was_kept():
    kept, lost = rule("a", 90, x=(-inf, 10)), rule("b", 10, x=(10, inf))
    found = differences_of([kept, lost], [kept], {})
    assert differences_in_words(found) == (
        "Rules: 1 kept, 0 cut moved, 0 class changed, 1 lost, 0 new.\n"
        "Lost (10 rows): if x is above 10, then b.\n"
        "Kept (90 rows): if x is at most 10, then a.\n"
    )
    assert differences_in_words(found, most=1).endswith("then b.\n… and 1 more.\n")


def test_cuts_are_matched_and_their_moves_told_as_shares_of_the_domain():
    # Cuts of x: 10 and 60 against 12 and 90, of a domain of 100 in which 5 may be moved. 10 and 12 are partners, two
    # hundredths apart; 60 and 90 have none. y is cut by the release alone.
    one = made(("x", 10.0, "a", ("x", 60.0, "b", "a")))
    other = made(("x", 12.0, "a", ("x", 90.0, ("y", 1.0, "a", "b"), "a")))
    rows = table(number("x", [0, 50, 100]), number("y", [0, 1, 2]), category("class", list("aab")))
    x, y = cut_moves(one, other, rows, allowance(rows))
    assert (x.attribute, x.matched, x.unmoved, x.only_original, x.only_released) == ("x", 1, 0, 1, 1)
    assert (x.mean, x.largest) == pytest.approx((0.02, 0.02))
    assert (y.matched, y.only_original, y.only_released) == (0, 0, 1)
    assert np.isnan(y.mean)


@given(st.integers(0, 10**6), st.integers(0, 12), st.integers(0, 12), st.sampled_from([0.01, 0.1, 1.0]))
def test_cuts_are_matched_closest_first(seed, m, n, limit):
    rng = np.random.default_rng(seed)
    ours, theirs = np.sort(rng.random(m)), np.sort(rng.random(n))
    pairs = sorted((abs(ours[i] - theirs[j]), i, j) for i, j in product(range(m), range(n)))
    found = {}
    for distance, i, j in pairs:
        if distance <= limit and i not in found and j not in found.values():
            found[i] = j
    one, other = matched_cuts(ours, theirs, limit)
    assert dict(zip(one.tolist(), other.tolist(), strict=True)) == found
    back, forth = matched_cuts(theirs, ours, limit)
    assert sorted(zip(forth.tolist(), back.tolist(), strict=True)) == sorted(found.items())


def test_equal_cuts_never_pair_twice():
    one, other = matched_cuts(np.array([1.0, 3.0]), np.array([2.0]), 5.0)
    assert (len(one), len(other)) == (1, 1)
