"""Accuracy and pruning with a disguised test set."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from leafcover.errors import PlanError, TableError, ValueOutOfRange
from leafcover.randomized_response import (
    PAPER,
    DisguisedColumns,
    Groups,
    OneCoin,
    Scheme,
    StoppingRules,
    Warner,
    accuracy,
    disguise,
    grow_tree,
    pruned,
)
from leafcover.randomized_response.estimate import of_weights, weights
from leafcover.randomized_response.tree_counts import Fringe
from leafcover.randomized_response.tree_entries import answers
from leafcover.table.table import Table
from leafcover.tree.c45 import grow
from leafcover.tree.predict import errors_on
from leafcover.tree.tree import conditions
from tests.naive_response_tree import accuracy_of_one_coin
from tests.randomized_response.answers import SCHEME, YES_NO, people
from tests.randomized_response.mechanisms import DRAWS
from tests.randomized_response.trees import TARGETS, binary, coin_each, letters, one_coin, same
from tests.tables import category, number, table


def naive_rows(tree, table, scheme, leaves=None):
    """What each row counts for being answered rightly: over leaves, the weights of path and label."""
    found = np.zeros(len(table))
    for leaf in tree.leaves if leaves is None else leaves:
        path = {test.attribute: test.value for test in conditions(tree, int(leaf))}
        found += weights(table, scheme, path | {tree.target: tree.classes[tree.label[leaf]]})
    return found


@settings(max_examples=30)
@given(st.integers(0, 999), st.sampled_from(TARGETS), st.permutations(TARGETS))
def test_accuracy_is_the_mean_over_leaves_of_the_weights_of_path_and_label(seed, target, order):
    names = [name for name in order if name != target][:4]
    reported = disguise(people(80, seed, missing=0.05), SCHEME, DRAWS.sub(str(seed)))
    rules = StoppingRules(min_support=0, deviations=0, significance=1, max_depth=3)
    tree = grow_tree(reported, SCHEME, target=target, attributes=names, rules=rules)
    used = [tree.attributes[a].name for a in np.unique(tree.tested[tree.tested >= 0])]
    full = ~np.any([reported[name].missing for name in (*used, target)], axis=0)
    told = accuracy(tree, reported, SCHEME)
    assert told.missing == (~full).sum()
    expected = of_weights(naive_rows(tree, reported, SCHEME)[full])
    assert (told.raw, told.error) == pytest.approx((expected.raw, expected.error))
    assert 0 <= told.share <= 1


@pytest.mark.parametrize("open_class", [False, True])
@given(st.integers(0, 999), st.floats(0.55, 1))
def test_with_one_coin_it_is_the_papers_formula(open_class, seed, theta):
    names = letters(4)
    disguised = names[:-1] if open_class else names
    scheme = Scheme(DisguisedColumns(dict.fromkeys(disguised, YES_NO), OneCoin(theta, len(disguised))))
    truth = binary(120, 4, seed)
    tree = grow_tree(truth, Scheme(), target="class", rules=StoppingRules("gain", 0, 0, 1, max_depth=seed % 4))
    reported = disguise(truth, scheme, DRAWS.sub(str(seed)))
    by_name = {name: reported[name].values.tolist() for name in names}
    assert accuracy(tree, reported, scheme).raw == pytest.approx(accuracy_of_one_coin(tree, by_name, theta, disguised))


def test_by_hand():
    """θ = 0.7: a row counts 1.75 where only its report is answered rightly, -0.75 where only its complement is."""
    tree = grow_tree(
        table(category("x", ["no", "yes"]), category("class", ["no", "yes"])), Scheme(), target="class", rules=PAPER
    )
    scheme = Scheme(DisguisedColumns({"x": YES_NO}, OneCoin(0.7, 1)))  # an open class: the complement turns x alone
    told = accuracy(tree, table(category("x", ["yes", "yes", "no"]), category("class", ["yes", "no", "no"])), scheme)
    assert told.raw == pytest.approx((1.75 - 0.75 + 1.75) / 3)


def test_a_plain_test_set_gives_the_plain_share():
    truth, other = binary(500, 5, 1), binary(400, 5, 1)
    tree = grow_tree(truth, Scheme(), target="class")
    told = accuracy(tree, other, Scheme())
    share = 1 - errors_on(tree, other) / 400
    assert told.raw == pytest.approx(share)
    assert told.error == pytest.approx(0, abs=1e-9)
    assert told.sampling_error == pytest.approx(np.sqrt(share * (1 - share) / 400))


RUNS = 500


@pytest.mark.parametrize(
    "scheme",
    [
        one_coin(0.7, 4),
        coin_each(0.8, 4),
        Scheme(DisguisedColumns(dict.fromkeys(letters(4), YES_NO), Groups(0.75, ((0, 1), (2, 4), (3,))))),
    ],
    ids=["one coin", "a coin each", "groups"],
)
def test_accuracy_is_unbiased_with_the_error_that_is_told(scheme):
    truth = binary(400, 4, 8)
    tree = grow_tree(binary(2000, 4, 9), Scheme(), target="class", rules=StoppingRules("gain", 0, 0, 1, max_depth=3))
    assert tree.size > 5
    share = 1 - errors_on(tree, truth) / 400
    told = [accuracy(tree, disguise(truth, scheme, DRAWS.sub(str(run))), scheme) for run in range(RUNS)]
    raw, error = np.array([(one.raw, one.error) for one in told]).T
    assert abs(raw.mean() - share) < 5 * raw.std(ddof=1) / np.sqrt(RUNS)
    low, high = stats.chi2.ppf([5e-7, 1 - 5e-7], RUNS - 1) / (RUNS - 1)
    ratio = raw.var(ddof=1) / (error**2).mean()
    assert low < ratio < high
    for factor in (0.6, 1.6):
        assert not low < ratio * factor < high


@settings(max_examples=25)
@given(st.integers(0, 999), st.sampled_from([0.0, 1.0, 2.0]), st.sampled_from(["one", "each", "plain"]))
def test_pruning_is_what_going_up_node_by_node_gives(seed, deviations, coins):
    scheme = {"one": one_coin(0.8, 4), "each": coin_each(0.9, 4), "plain": Scheme()}[coins]
    tree = grow_tree(binary(150, 4, seed), Scheme(), target="class", rules=PAPER)
    reported = disguise(binary(200, 4, seed), scheme, DRAWS.sub(str(seed)))

    def best(node):
        """(rights of each row, leaves) of the best subtree."""
        own = naive_rows(tree, reported, scheme, [node])
        if tree.tested[node] < 0:
            return own, [node]
        below = [best(child) for child in range(tree.first[node], tree.first[node] + tree.branches[node])]
        whole = np.sum([rows for rows, _ in below], axis=0)
        better = whole - own
        error = np.sqrt(max((better**2).sum() - better.sum() ** 2 / len(better), 0))
        if better.sum() > deviations * error + 1e-9:
            return whole, [leaf for _, leaves in below for leaf in leaves]
        return own, [node]

    rows, leaves = best(0)
    found = pruned(tree, reported, scheme, deviations=deviations)
    assert len(found.leaves) == len(leaves)
    np.testing.assert_allclose(naive_rows(found, reported, scheme), rows, atol=1e-9)
    assert found.counts[0].tolist() == tree.counts[0].tolist()
    assert found.size == 1 + found.branches.sum()


def test_pruning_with_disguised_rows_helps():
    names = letters(8)
    scheme, gained, smaller = one_coin(0.7, 8), [], 0
    for run in range(12):
        truth = binary(9000, 8, 100 + run)
        reported = disguise(truth, scheme, DRAWS.sub(str(run)))
        grow_on, prune_on, test_on = (np.arange(begin, begin + 3000) for begin in (0, 3000, 6000))
        tree = grow_tree(reported.take(grow_on), scheme, target=names[-1], rules=PAPER)
        less = pruned(tree, reported.take(prune_on), scheme)
        sure = pruned(tree, reported.take(prune_on), scheme, deviations=2)
        unseen = truth.take(test_on)
        gained.append((errors_on(tree, unseen) - errors_on(less, unseen)) / 3000)
        smaller += sure.size <= less.size < tree.size
    assert smaller == 12
    assert np.mean(gained) > 5 * np.std(gained, ddof=1) / np.sqrt(12)


def test_nothing_is_pruned_from_a_leaf_and_what_is_better_stays():
    truth = binary(3000, 3, 4)
    leaf = grow_tree(truth, Scheme(), target="class", rules=StoppingRules(max_depth=0))
    same(pruned(leaf, truth, Scheme()), leaf)
    tree = grow_tree(truth, Scheme(), target="class")
    assert errors_on(pruned(tree, truth, Scheme()), truth) <= errors_on(tree, truth)
    same(pruned(tree, truth, Scheme()), pruned(pruned(tree, truth, Scheme()), truth, Scheme()))


def test_open_levels_are_matched_by_their_text_and_unmet_classes_are_wrong():
    grown_on = table(category("x", ["p", "q", "r"] * 9), category("class", ["a", "b", "a"] * 9))
    tree = grow_tree(grown_on, Scheme(), target="class", rules=PAPER)
    other = table(category("x", ["q", "r", "s", "q"]), category("class", ["b", "b", "a", "c"]))
    told = accuracy(tree, other, Scheme())
    assert (told.raw, told.rows, told.missing) == (pytest.approx(1 / 3), 3, 1)


def test_what_cannot_be_tested_is_refused():
    truth = binary(50, 2, 0)
    tree = grow_tree(truth, Scheme(), target="class", rules=PAPER)
    turned = Scheme(DisguisedColumns({"a": YES_NO[::-1]}, Warner(0.8)))
    with pytest.raises(PlanError, match="other levels"):
        accuracy(tree, truth, turned)
    with pytest.raises(ValueOutOfRange):
        pruned(tree, truth, Scheme(), deviations=-1)
    empty = Table(tuple(category(name, [None] * 3) for name in letters(2)))
    with pytest.raises(TableError):
        accuracy(tree, empty, Scheme())
    half = table(category("a", ["no", None]), category("b", [None, "no"]), category("class", ["no", "no"]))
    with pytest.raises(TableError, match="No row has a value in all"):
        accuracy(tree, half, Scheme())
    numbers = table(number("x", [1, 2, 3, 4] * 5), category("class", ["a", "a", "b", "b"] * 5))
    with pytest.raises(PlanError, match="cuts the number"):
        accuracy(grow(numbers, target="class"), numbers, Scheme())
    with pytest.raises(ValueError, match="by_row"):
        Fringe.root(answers(truth, Scheme(), letters(2))).rows_of(np.ones(50, bool))
