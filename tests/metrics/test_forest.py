"""Forests of a pair, EDUDS and EDUSC: worked out by hand, against slow twins, and the laws of every measure."""

from dataclasses import astuple
from math import log2

import numpy as np
import pytest
from hypothesis import given, settings

from leafcover.metrics.models import work_of_forest
from leafcover.metrics.pair import pair_of
from leafcover.metrics.utility.forest import Growth, eduds, edusc, forest_for, forests, gain_ratios, resamples, walked
from leafcover.table.io import read, sample
from leafcover.tree.c45 import grow
from leafcover.tree.predict import leaf_membership
from leafcover.tree.sysfor import grow_forest
from leafcover.tree.tree import conditions
from tests.metrics.made_trees import made
from tests.metrics.pairs import apart, awkward, copy_of, reordered, tables
from tests.tables import category, mixed, mixed_tables, number, table

ORIGINALS = tables() | awkward()
SMALL = Growth(n_trees=6)


def overlap(original, released, rows, shuffled=None):
    """EDUDS of two forests, trees handed in; that of the shuffled target tests nothing unless given."""
    return eduds(*(walked(trees, rows) for trees in (original, released, shuffled or [made("a")])), rows)


def ten():
    return table(number("x", range(1, 11)), category("class", list("aaaaabbbbb")))


def test_the_overlap_of_two_intervals_by_hand():
    # x <= 5 against x <= 6, of ten whole numbers. Rows 1 to 5: {1..5} and {1..6} share 5 of 6. Row 6: {6..10} and
    # {1..6} share 1 of 10. Rows 7 to 10: {6..10} and {7..10} share 4 of 5. The worst row is row 6.
    # A forest without any test would share 5 of 10 with every row.
    one, other = made(("x", 5.0, "a", "b")), made(("x", 6.0, "a", "b"))
    found = overlap([one], [other], ten())
    assert found.value == pytest.approx((5 * 5 / 6 + 1 / 10 + 4 * 4 / 5) / 10)
    assert found.worst == pytest.approx(0.1)
    assert found.chance == pytest.approx(0.5)
    assert found.tested == found.attributes[0][1] == pytest.approx(found.value)
    assert overlap([other], [one], ten()).value == pytest.approx(found.value)


def test_the_trees_of_a_forest_meet():
    # x <= 5 and x <= 8 leave {1..5}, {6..8}, {9, 10}; the release tests x <= 8 alone: {1..8}, {9, 10}.
    five, eight = made(("x", 5.0, "a", "b")), made(("x", 8.0, "a", "b"))
    assert overlap([five, eight], [eight], ten()).value == pytest.approx((5 * 5 / 8 + 3 * 3 / 8 + 2) / 10)


def test_the_overlap_of_levels_and_of_untested_attributes_by_hand():
    # One forest asks for the job, of which three occur: 1 of 3 levels is shared. Nothing tests y: all of it is.
    rows = table(category("job", list("pqrp")), number("y", [1, 2, 3, 4]), category("class", list("aabb")))
    one = made(("job", {"p": "a", "q": "b", "r": "b"}))
    other = made(("y", 9.0, "a", "b"))
    found = overlap([one], [other], rows)
    assert found.attributes == (("job", pytest.approx(1 / 3)), ("y", 1.0))
    assert found.value == pytest.approx(2 / 3)


def test_a_value_that_is_missing_has_no_room():
    rows = table(number("x", [1, 2, 10, np.nan]), number("y", [np.nan, 1, 1, np.nan]), category("class", list("aabb")))
    found = overlap([made(("x", 2.0, "a", "b"))], [made("a")], rows)
    # {1, 2} of ten for the rows 1 and 2, {3..10} for row 3; row 4 knows nothing.
    assert found.attributes[0] == ("x", pytest.approx((0.2 + 0.2 + 0.8) / 3))
    nothing = table(number("x", [np.nan] * 3, None), category("class", list("aab")))
    assert np.isnan(overlap([made(("x", 2.0, "a", "b"))], [made("a")], nothing).value)


def slow_eduds(original, released, rows):
    """Every room as a set of whole numbers or levels, leaf by leaf."""
    means = []
    rooms = [[leaf_membership(tree, rows) for tree in trees] for trees in (original, released)]
    for row in range(len(rows)):
        overlaps = []
        for column in rows:
            if column.name == "class" or column.missing[row]:
                continue
            low, high = (0, 0) if column.is_category else map(int, column.domain)
            every = (
                {column.levels[c] for c in column.values[~column.missing]}
                if column.is_category
                else range(low, high + 1)
            )
            left = []
            for trees, found in zip((original, released), rooms, strict=True):
                room = set(every)
                for tree, at in zip(trees, found, strict=True):
                    for leaf in at.leaves_of(at.set_of_row[row]).tolist():
                        for test in conditions(tree, int(tree.leaves[leaf])):
                            if test.attribute == column.name:
                                room &= {
                                    v
                                    for v in room
                                    if (
                                        v == test.value
                                        if test.operator == "="
                                        else (v <= test.value) == (test.operator == "<=")
                                    )
                                }
                left.append(room)
            overlaps.append(len(left[0] & left[1]) / len(left[0] | left[1]))
        if overlaps:
            means.append(np.mean(overlaps))
    return np.mean(means)


@pytest.mark.parametrize("missing", [0.0, 0.15])
def test_eduds_is_its_slow_twin(missing):
    names = ["age", "job", "town", "class"]
    one, other = (mixed(seed, rows=150, missing=missing).select(names) for seed in (41, 42))
    ours, theirs = (forest_for(rows, "class", Growth(n_trees=6, min_records=5)) for rows in (one, other))
    assert len(ours) == 6
    found = overlap(ours, theirs, one, shuffled=theirs[:1])
    assert found.value == pytest.approx(slow_eduds(ours, theirs, one))
    assert found.chance == pytest.approx(slow_eduds(ours, theirs[:1], one))
    assert found.value < 1


def test_the_forest_is_sysfors_whatever_the_order_of_columns():
    rows = mixed(51, rows=600, missing=0.0)
    names = sorted(name for name in rows.names if name != "class")
    trees = forest_for(rows, "class", Growth(n_trees=12))
    for one, other in zip(trees, grow_forest(rows, target="class", n_trees=12, attributes=names), strict=True):
        np.testing.assert_array_equal(one.tested, other.tested)
        np.testing.assert_array_equal(one.cut, other.cut)
    turned = forest_for(rows.select(rows.names[::-1]), "class", Growth(n_trees=12))
    for one, other in zip(trees, turned, strict=True):
        np.testing.assert_array_equal(one.cut, other.cut)
    assert len(forest_for(rows, "class", Growth(n_trees=2))) == 2
    assert len(forest_for(rows, "class")) == 20


@pytest.mark.parametrize("name", ["one class", "missing everywhere"])
def test_there_is_always_a_tree(name):
    assert len(forest_for(ORIGINALS[name], "class")) >= 1
    assert len(forest_for(ORIGINALS[name].select(["class"]), "class")) == 1


def slow_ratios(column, labels, min_records=2):
    """The gain ratios that C4.5 may find for an attribute at the root: several only where cuts are equally good."""

    def entropy(counts):
        total = sum(counts)
        return -sum(n / total * log2(n / total) for n in counts if n)

    def counted(rows):
        return [sum(labels[r] == c for r in rows) for c in sorted(set(labels))]

    known = [r for r in range(len(labels)) if not column.missing[r]]
    unknown = len(labels) - len(known)
    if len(known) < 2 * min_records:
        return [0.0]

    def ratio(parts, cost):
        rest = sum(len(part) / len(known) * entropy(counted(part)) for part in parts if part)
        gain = len(known) / len(labels) * (entropy(counted(known)) - rest) - cost
        split = entropy([*map(len, parts), unknown])
        return gain, gain / split if gain > 1e-12 and split > 1e-3 else 0.0

    if column.is_category:
        parts = [[r for r in known if column.values[r] == c] for c in range(len(column.levels))]
        return [ratio(parts, 0.0)[1] if sum(len(part) >= min_records for part in parts) >= 2 else 0.0]
    least = max(min_records, min(25, 0.1 * len(known) / len(set(labels))))
    cuts = []
    for value in sorted({column.values[r] for r in known}):
        low, high = ([r for r in known if (column.values[r] <= value) == side] for side in (True, False))
        if len(low) >= least and len(high) >= least and min(column.values[r] for r in high) - value > 1e-5:
            cuts.append([low, high])
    found = [ratio(cut, log2(len(cuts)) / len(labels)) for cut in cuts]
    best = max((gain for gain, _ in found), default=0.0)
    return [each for gain, each in found if gain > best - 1e-9] or [0.0]


@settings(max_examples=60)
@given(mixed_tables())
def test_gain_ratios_are_their_slow_twin(rows):
    names = [name for name in rows.names if name != "class"]
    for name, found in zip(names, gain_ratios(rows, "class", names), strict=True):
        assert min(abs(found - each) for each in slow_ratios(rows[name], rows["class"].values.tolist())) < 1e-9


def test_the_root_has_the_best_gain_ratio():
    rows = mixed(61, rows=500, missing=0.0)
    names = [name for name in rows.names if name != "class"]
    tree = grow(rows, target="class", attributes=["age", "job"])
    root = tree.attributes[tree.tested[0]].name
    assert root == max(("age", "job"), key=lambda name: gain_ratios(rows, "class", names)[names.index(name)])


def test_edusc_by_hand():
    # c and d tell the class wholly: gain 1, split information 1, ratio 1. In the release d tells nothing, so
    # 1 - (0 + 1) / (1 + 1).
    before = table(category("c", list("uuvv")), category("d", list("uuvv")), category("class", list("aabb")))
    after = table(category("c", list("uuvv")), category("d", list("uvuv")), category("class", list("aabb")))
    found = edusc(before, after, "class")
    assert found.value == pytest.approx(0.5)
    assert [astuple(gain) for gain in found.attributes] == [("c", pytest.approx(1), pytest.approx(1)), ("d", 1, 0)]
    assert edusc(after, before, "class").value == found.value


def shares(found):
    """Every share that forests give, chance and floor apart."""
    return (
        *astuple(found.rules.kept),
        *astuple(found.leaves.kept),
        found.eduds.value,
        found.eduds.worst,
        found.eduds.tested,
        found.edusc.value,
    )


@pytest.mark.parametrize("name", ORIGINALS)
def test_a_copy_has_the_same_forest(name):
    found = forests(copy_of(ORIGINALS[name], target="class"), SMALL)
    assert set(shares(found)) == {1.0}
    assert found.trees[0] == found.trees[1]
    assert found.rules.rules == found.rules.released >= 1
    assert found.how == "every row"


@pytest.mark.parametrize("name", ORIGINALS)
def test_figures_are_shares_whatever_the_tables(name):
    found = forests(apart(ORIGINALS[name], target="class"), SMALL)
    beside = [astuple(kind) for part in (found.rules, found.leaves) for kind in (part.floor, part.chance)]
    assert all(0 <= figure <= 1 for figure in (*shares(found), found.eduds.chance, *np.concatenate(beside)))
    assert found.eduds.worst <= found.eduds.value
    assert found.rules.kept.exact <= found.rules.kept.near


@pytest.mark.parametrize("missing", [0.0, 0.1])
def test_columns_apart_keep_no_more_than_chance_does(missing):
    found = forests(apart(mixed(14, rows=8000, missing=missing), target="class"))
    assert found.eduds.value == pytest.approx(found.eduds.chance, abs=0.05)  # far from 0: all forests test much
    assert found.eduds.value < 0.8
    assert found.edusc.value < 0.1
    assert found.rules.kept.near < 0.1
    assert found.rules.kept.near == pytest.approx(found.rules.chance.near, abs=0.05)
    assert found.rules.floor.near > 0.5
    assert found.leaves.kept.rows < found.leaves.chance.rows + 0.02 < found.leaves.floor.rows


@pytest.mark.parametrize("name", tables())
def test_the_order_of_rows_and_columns_does_not_matter(name):
    pair = pair_of(ORIGINALS[name], mixed(13, rows=400, missing=0.0), np.arange(400), target="class")
    one, other = forests(pair, SMALL), forests(reordered(pair), SMALL)
    assert shares(one) == pytest.approx(shares(other))
    assert (one.trees, one.rules.rules, one.rules.released) == (other.trees, other.rules.rules, other.rules.released)


def test_a_large_table_is_sampled_and_says_so():
    found = forests(copy_of(mixed(15, rows=900), target="class"), most=300)
    assert (found.rows, found.of, found.how) == (300, 900, "a sample of 300 of 900 rows")
    assert set(shares(found)) == {1.0}


def test_small_tables_are_resampled_more_often():
    assert forests(copy_of(mixed(15, rows=60), target="class")).resamples == 8
    adult = read(sample("adult"))
    work = work_of_forest([column for column in adult if column.name != "income"], 2)
    assert (work, len(resamples(len(adult), work)), len(resamples(50_000, 30))) == (28, 2, 1)


def test_a_row_costs_more_with_more_classes_columns_and_gaps():
    x, y = number("x", [1, 2, 3, 4]), number("y", [1, np.nan, np.nan, np.nan])
    assert work_of_forest([x, x], 3) == 6
    assert work_of_forest([x, y], 3) == 60  # of four rows one is complete
    assert work_of_forest([x, number("gone", [np.nan] * 4)], 3) == 6
    assert work_of_forest([], 0) == 1
    many = table(number("x", np.arange(1200)), category("class", [f"{i % 600:03d}" for i in range(1200)]))
    assert forests(copy_of(many, target="class"), Growth(n_trees=1), most=1100).rows == 1100
    several = table(*(number(f"x{i}", np.arange(1200)) for i in range(9)), many["class"])
    assert forests(copy_of(several, target="class"), Growth(n_trees=1)).rows == 1000


def test_a_number_can_be_the_target():
    assert set(shares(forests(copy_of(mixed(16, rows=300), target="pay")))) == {1.0}


def test_a_target_nobody_knows_has_no_rules():
    unknown = table(number("x", [1, 2, 3]), category("class", [None] * 3))
    found = forests(pair_of(unknown, unknown, target="class"))
    assert found.rules.rules == 0
    assert (found.rules.kept.near, found.rules.floor.near, found.leaves.kept.rows) == (1.0, 1.0, 1.0)
