"""Trees of a pair: figures worked out by hand, slow twins, and the laws of every measure."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from leafcover.errors import TableError
from leafcover.metrics.pair import pair_of
from leafcover.metrics.utility.clusters import adjusted_rand
from leafcover.metrics.utility.rules import allowance
from leafcover.metrics.utility.trees import compare_trees, differing_nodes, pruned_form, trees, two_trees, with_classes
from leafcover.table.io import read, sample
from leafcover.tree.c45 import grow
from leafcover.tree.predict import leaf_of
from leafcover.tree.tree import conditions
from tests.metrics.made_trees import made
from tests.metrics.pairs import apart, awkward, copy_of, reordered, tables
from tests.tables import category, mixed, number, table

ORIGINALS = tables() | awkward()


def ten(classes):
    return table(number("x", range(1, 11)), category("class", list(classes)))


def shares(found):
    return found.strict, found.tolerant, found.partition, found.answers


def test_a_cut_that_moved_one_step_by_hand():
    # Trees: x <= 5 is a, else b; in the release x <= 6. No rule is kept strictly; 5 may be 6, one step of the grid.
    # Places: 5 rows are in the lower leaf of both trees, 1 goes up, 4 are in the upper one. Pairs together in both
    # 10 + 0 + 6 = 16, in the original 10 + 10 = 20, in the release 15 + 6 = 21, of 45:
    # (16 - 20 * 21 / 45) / (20.5 - 20 * 21 / 45) = 0.597.
    before, after = ten("aaaaabbbbb"), ten("aaaaaabbbb")
    found = trees(pair_of(before, after, np.arange(10), target="class"))
    assert shares(found) == pytest.approx((0.0, 1.0, (16 - 28 / 3) / (20.5 - 28 / 3), 0.9))
    assert (found.grade, found.strict_grade) == ("very similar", "dissimilar")
    assert dict(found.rules) == {"kept": 0, "cut moved": 2, "class changed": 0, "lost": 0, "new": 0}
    assert (found.original.nodes, found.original.leaves, found.original.misclassified) == (3, 2, 0)
    assert found.released.misclassified == 1  # the row with x = 6
    assert (found.original.attributes, found.tested_in_both) == (("x",), ("x",))
    assert found.cuts[0].mean == pytest.approx(1 / 9)
    assert (found.rows, found.of, found.classified, found.guess) == (10, 10, 10, 0.5)
    assert found.how == "trees by the exact grower on every row, judged by every row"


def test_trees_that_put_every_row_in_the_same_place_are_the_same():
    # The release cuts at 4 instead of 3, but no original row lies between.
    before = table(number("x", [1, 2, 3, 8, 9, 10]), category("class", list("aaabbb")))
    after = table(number("x", [1, 2, 4, 8, 9, 10]), category("class", list("aaabbb")))
    found = trees(pair_of(before, after, np.arange(6), target="class"))
    assert (found.grade, found.strict_grade, found.strict, found.partition) == (
        "exactly same",
        "exactly same",
        0.0,
        1.0,
    )
    between = table(number("x", [1, 2, 3, 4, 9, 10]), category("class", list("aaabbb")))
    assert trees(pair_of(between, after, np.arange(6), target="class")).grade == "very similar"


@pytest.mark.parametrize(("rows", "grade"), [(329, "very similar"), (316, "similar"), (200, "dissimilar")])
def test_grades_are_those_of_the_printed_examples(rows, grade):
    # A rule that covers so many of 349 rows is kept; of the other the class is exchanged, at another cut.
    before = made(("x", 0.5, "a", ("y", 0.5, "a", "b")))
    after = made(("x", 0.5, "a", ("y", 9.5, "b", "a")))
    judged = table(number("x", [0] * rows + [1] * (349 - rows)), number("y", [0] * 349), category("class", ["a"] * 349))
    found = compare_trees(before, after, judged)
    assert found.strict == pytest.approx(rows / 349)
    assert found.grade == grade


def test_a_pruned_form_is_similar_and_one_leaf_is_not():
    whole = made(("x", 5.0, ("y", 2.0, "a", "b"), "b"))
    short = made(("x", 5.0, "a", "b"))
    assert pruned_form(short, whole)
    assert not pruned_form(whole, short)
    assert not pruned_form(whole, whole)
    assert not pruned_form(made("a"), whole)
    assert not pruned_form(made(("x", 6.0, "a", "b")), whole)
    assert pruned_form(made(("x", 6.0, "a", "b")), whole, {"x": 1.0})
    assert not pruned_form(made(("x", 5.0, "c", "b"), classes=("a", "b", "c")), whole)  # no leaf below answers c
    judged = table(number("x", [1] * 8 + [9]), number("y", [1, 9] * 4 + [1]), category("class", list("ababababb")))
    found = compare_trees(whole, short, judged)
    assert (found.strict, found.grade, found.pruned) == (pytest.approx(1 / 9), "similar", "released")
    assert compare_trees(short, whole, judged).pruned == "original"
    assert compare_trees(whole, made("b"), judged).grade == "dissimilar"


def test_nodes_are_marked_from_the_first_difference_down():
    one = made(("x", 5.0, ("job", {"p": "a", "q": ("y", 1.0, "a", "b")}), "b"))
    other = made(("x", 5.5, ("job", {"p": "b", "q": ("y", 4.0, "a", "b")}), "b"))
    # nodes: 0 x, 1 job, 2 leaf, 3 p, 4 q: y, 5 and 6 its leaves
    ours, theirs = differing_nodes(one, other, {"x": 1.0, "y": 1.0})
    assert np.flatnonzero(ours).tolist() == np.flatnonzero(theirs).tolist() == [3, 4, 5, 6]
    ours, theirs = differing_nodes(one, other, {"x": 1.0, "y": 3.0})
    assert np.flatnonzero(ours).tolist() == np.flatnonzero(theirs).tolist() == [3]
    assert all(marks.all() for marks in differing_nodes(one, other))
    assert not any(marks.any() for marks in differing_nodes(one, one))
    ours, theirs = differing_nodes(made("a"), one)
    assert ours.all()
    assert theirs.all()


def test_levels_are_matched_by_their_text():
    one = made(("job", {"p": "a", "q": "b"}))
    other = made(("job", {"o": "a", "q": "b", "p": "b"}))
    ours, theirs = differing_nodes(one, other)
    assert ours.tolist() == [False, True, False]  # p answers another class
    assert theirs.tolist() == [False, True, False, True]  # o is new
    assert not pruned_form(one, other)


def slow_rand(one, other):
    """Hubert and Arabie's index from every pair of rows."""
    pairs = [(i, j) for i in range(len(one)) for j in range(i)]
    both = sum(one[i] == one[j] and other[i] == other[j] for i, j in pairs)
    ours, theirs = (sum(labels[i] == labels[j] for i, j in pairs) for labels in (one, other))
    chance = ours * theirs / max(1, len(pairs))
    most = (ours + theirs) / 2
    return 1.0 if most == chance else (both - chance) / (most - chance)


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(-2, 2)), max_size=12))
def test_partition_agreement_is_its_slow_twin(rows):
    one, other = (np.array([row[k] for row in rows], np.int64) for k in (0, 1))
    assert adjusted_rand(one, other) == pytest.approx(slow_rand(one, other))
    assert adjusted_rand(one, other) == pytest.approx(adjusted_rand(other, one))


def test_strict_coverage_is_its_slow_twin():
    one, other = mixed(21, rows=300, missing=0.0), mixed(21, rows=300, missing=0.0)
    changed = other["class"].values.copy()
    changed[:20] = 1 - changed[:20]
    other = other.replace([replace(other["class"], values=changed)])
    ours, theirs = grow(one, target="class"), grow(other, target="class")

    def rule(tree, leaf):
        return frozenset(conditions(tree, leaf)), tree.classes[tree.label[leaf]]

    kept = {rule(theirs, leaf) for leaf in theirs.leaves.tolist()}
    slow = np.mean([rule(ours, leaf) in kept for leaf in leaf_of(ours, one).tolist()])
    found = compare_trees(ours, theirs, one)
    assert found.strict == pytest.approx(slow)
    assert 0.1 < found.strict < 1


@pytest.mark.parametrize("name", ORIGINALS)
def test_a_copy_has_the_same_tree(name):
    found = trees(copy_of(ORIGINALS[name], target="class"))
    assert shares(found) == (1.0, 1.0, 1.0, 1.0)
    assert found.grade == found.strict_grade == "exactly same"
    assert found.original == found.released
    assert sum(count for kind, count in found.rules if kind != "kept") == 0


@pytest.mark.parametrize("name", ORIGINALS)
def test_figures_are_shares_whatever_the_tables(name):
    found = trees(apart(ORIGINALS[name], target="class"))
    assert all(0 <= share <= 1 for share in (found.strict, found.tolerant, found.answers, found.guess))
    assert -1 <= found.partition <= 1
    assert found.strict <= found.tolerant


@pytest.mark.parametrize("missing", [0.0, 0.1])
def test_columns_apart_keep_nothing_of_the_tree(missing):
    found = trees(apart(mixed(14, rows=8000, missing=missing), target="class"))
    assert found.tolerant == 0
    assert abs(found.partition) < 0.05
    assert found.answers == pytest.approx(found.guess, abs=0.05)
    assert found.grade == "dissimilar"


@pytest.mark.parametrize("name", tables())
def test_the_order_of_rows_and_columns_does_not_matter(name):
    original = ORIGINALS[name]
    released = mixed(13, rows=400, missing=0.0)
    found = pair_of(original, released, np.arange(400), target="class")
    one, other = trees(found), trees(reordered(found))
    assert shares(one) == pytest.approx(shares(other), abs=1e-6)  # rows without a value are summed in single precision
    assert (one.grade, one.rules, one.original, one.released) == (
        other.grade,
        other.rules,
        other.original,
        other.released,
    )
    assert one.cuts == other.cuts


def test_partition_answers_and_strict_rules_do_not_depend_on_which_tree_is_which():
    one, other = mixed(31, rows=300), mixed(32, rows=300)
    trees_ = grow(one, target="class"), grow(other, target="class")
    there, back = compare_trees(*trees_, one), compare_trees(*trees_[::-1], one)
    assert there.partition == pytest.approx(back.partition)
    assert there.answers == back.answers
    assert dict(there.rules)["kept"] == dict(back.rules)["kept"]


def test_a_number_as_target_has_the_classes_of_the_original_in_both_tables():
    # Four groups of the original's 40 values end at 10, 20 and 30; the release's 30.4 belongs to the last.
    before = table(number("x", range(1, 41)), number("y", range(1, 41)))
    after = table(number("x", range(1, 41)), number("y", np.arange(1, 41) + 0.4, 1))
    both = with_classes(pair_of(before, after, np.arange(40), target="y"))
    ours, theirs = both.original["y"], both.released["y"]
    assert ours.levels == theirs.levels == ("1: <= 10", "2: <= 20", "3: <= 30", "4: > 30")
    assert np.bincount(ours.values).tolist() == [10, 10, 10, 10]
    assert np.bincount(theirs.values).tolist() == [9, 10, 10, 11]
    assert len(with_classes(pair_of(before, after, target="y"), bins=2).original["y"].levels) == 2
    assert trees(pair_of(before, before, target="y")).grade == "exactly same"


def test_few_numbers_are_classes_and_others_belong_to_the_nearest():
    before = table(number("x", [1, 2, 3, 4, 5]), number("y", [2, 10, 2, 10, 30]))
    after = table(number("x", [1, 2, 3, 4, 5]), number("y", [5, 7, np.nan, 21, -9]))
    both = with_classes(pair_of(before, after, target="y"))
    assert [both.original["y"].levels[c] for c in both.original["y"].values] == ["2", "10", "2", "10", "30"]
    assert [both.released["y"].levels[c] if c >= 0 else None for c in both.released["y"].values] == [
        "2", "10", None, "30", "2",
    ]  # fmt: skip


def test_a_target_nobody_knows_gives_a_tree_of_one_leaf():
    before = table(number("x", [1, 2, 3]), category("class", [None] * 3))
    found = trees(pair_of(before, before, target="class"))
    assert (found.original.nodes, found.classified, found.strict) == (1, 0, 1.0)
    known = table(number("x", [1, 2, 3]), category("class", list("aba")))
    found = trees(pair_of(known, before, target="class"))
    assert (found.released.nodes, found.classified) == (1, 3)


def test_rows_whose_class_is_unknown_cannot_be_misclassified():
    judged = table(number("x", [1, 2, 9, 9]), category("class", ["a", None, None, "a"]))
    found = compare_trees(made(("x", 5.0, "a", "b")), made("b"), judged)
    assert (found.original.misclassified, found.released.misclassified, found.classified, found.rows) == (1, 2, 2, 4)


def test_weights_and_sampling_units_are_not_tested():
    rows = 200
    rng = np.random.default_rng(4)
    labels = rng.choice(["a", "b"], rows)
    weight = np.where(labels == "a", 1.0, 2.0)
    original = table(number("x", rng.random(rows), None), number("w", weight), category("class", labels.tolist()))
    found = trees(pair_of(original, original, target="class", weight="w"))
    assert "w" not in found.original.attributes
    assert trees(pair_of(original, original, target="class")).original.attributes == ("w",)
    named = replace(original, roles={"w": "unit"})
    assert "w" not in trees(pair_of(named, named, target="class")).original.attributes


def test_a_pair_without_a_target_is_told_so():
    with pytest.raises(TableError, match="Add target=COLUMN"):
        trees(pair_of(ten("aaaaabbbbb"), ten("aaaaabbbbb")))


def test_large_tables_are_sampled_and_say_so():
    original = mixed(5, rows=2000)
    two = two_trees(copy_of(original, target="class"), most=900, judged=500)
    assert two.original.counts[0].sum() == pytest.approx(900, abs=1e-2)
    assert allowance(two.table) == allowance(original)  # domains are those of all rows
    found = trees(copy_of(original, target="class"), most=900, judged=500)
    assert (found.rows, found.of) == (500, 2000)
    assert found.how == (
        "trees by the exact grower on a sample of 900 of 2,000 rows, judged by a sample of 500 of 2,000 rows"
    )
    assert found.grade == "exactly same"


def test_the_tree_of_the_349_printed_cases_is_found_again():
    # Islam and Brankovic (2004): 12 inner nodes, 13 leaves, 7 attributes on the first 349 cases of WBC.
    cases = read(sample("wbc")).take(np.arange(349))
    found = trees(copy_of(cases, target="class"))
    assert (found.original.nodes - found.original.leaves, found.original.leaves) == (12, 13)
    assert len(found.original.attributes) == 7
