"""The counts a tree grows from are those of the estimator, in every node and for every scheme."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leafcover.randomized_response import DisguisedColumns, Scheme, StoppingRules, Warner, disguise, grow_tree
from leafcover.randomized_response.tree import gains, grown, noise_p_value, shared_out
from leafcover.randomized_response.tree_counts import Fringe
from leafcover.randomized_response.tree_entries import FEW, MANY, Weights, answers, summed, tidied
from leafcover.table.table import Column, Table
from leafcover.tree.tree import Attribute
from tests.naive_response_tree import NaiveCounter
from tests.randomized_response.answers import SCHEME, YES_NO, people
from tests.randomized_response.mechanisms import DRAWS
from tests.randomized_response.trees import TARGETS, any_rules, any_scheme, binary, coin_each, letters, same


@settings(max_examples=30)
@given(st.integers(0, 999), st.sampled_from(TARGETS), st.permutations(TARGETS), any_rules())
def test_every_count_and_noise_is_that_of_the_estimator(seed, target, order, rules):
    """One grower, two counters: the fast one, and one that weighs every row for every conjunction."""
    names = (*[name for name in order if name != target][:4], target)
    reported = disguise(people(60, seed, missing=0.1), SCHEME, DRAWS.sub(str(seed)))
    reported = reported.take(np.flatnonzero(~reported[target].missing))
    found = answers(reported, SCHEME, names)
    attributes = tuple(Attribute(n, lv, is_number=False) for n, lv in zip(names, found.levels, strict=True))[:-1]
    naive = NaiveCounter(reported, SCHEME, names)
    trees = [grown(counter, attributes, target, found.levels[-1], rules) for counter in (Fringe.root(found), naive)]
    same(*trees)


@settings(max_examples=30)
@given(st.integers(0, 999), st.sampled_from(TARGETS), st.permutations(TARGETS), st.booleans())
def test_tallies_agree_in_every_node_whatever_is_tested(seed, target, order, by_row):
    names = (*[name for name in order if name != target][:4], target)
    reported = disguise(people(40, seed, missing=0.1), SCHEME, DRAWS.sub(str(seed)))
    reported = reported.take(np.flatnonzero(~reported[target].missing))
    fast, slow = Fringe.root(answers(reported, SCHEME, names), by_row=by_row), NaiveCounter(reported, SCHEME, names)
    rng = np.random.default_rng(seed)
    for _ in range(3):
        np.testing.assert_allclose(fast.classes().counts, slow.classes().counts, atol=1e-8)
        for column in range(4):
            ours, theirs, free = fast.column(column), slow.column(column), fast.free[:, column]
            np.testing.assert_allclose(ours.counts[free], theirs.counts[free], atol=1e-8)
            for one, other in zip(ours.sizes(40), theirs.sizes(40), strict=True):
                np.testing.assert_allclose(one[free], other[free], atol=1e-6)
            p = rng.dirichlet(np.ones(ours.counts.shape[1]), fast.nodes)
            q = rng.dirichlet(np.ones(ours.counts.shape[2]), fast.nodes)
            np.testing.assert_allclose(ours.noise(p, q)[free], theirs.noise(p, q)[free], rtol=1e-8, atol=1e-8)
        tested = np.array([rng.choice([-1, *np.flatnonzero(free)]) for free in fast.free])
        if (tested < 0).all():
            break
        fast, slow = fast.children(tested), slow.children(tested)


@settings(max_examples=60)
@given(any_scheme(), st.integers(0, 999))
def test_any_scheme_is_counted_as_the_estimator_does(given_scheme, seed):
    scheme, reported, names = given_scheme
    reported = reported.take(np.flatnonzero(~reported[names[-1]].missing))
    fast, slow = Fringe.root(answers(reported, scheme, names)), NaiveCounter(reported, scheme, names)
    rng = np.random.default_rng(seed)
    for _ in range(2):
        tested = np.array([rng.choice([-1, *np.flatnonzero(free)]) for free in fast.free])
        if (tested < 0).all():
            break
        fast, slow = fast.children(tested), slow.children(tested)
    for column in range(len(names) - 1):
        ours, theirs, free = fast.column(column), slow.column(column), fast.free[:, column]
        p, q = (rng.dirichlet(np.ones(size), fast.nodes) for size in ours.counts.shape[1:])
        for one, other in (
            (ours.counts, theirs.counts),
            (ours.sizes(30)[1], theirs.sizes(30)[1]),
            (ours.noise(p, q), theirs.noise(p, q)),
        ):
            np.testing.assert_allclose(one[free], other[free], rtol=1e-6, atol=1e-6 * max(abs(other).max(), 1))


def test_many_kinds_of_coins_are_counted_all_the_same():
    """Coins of many chances make more weights than are counted apart."""
    rng = np.random.default_rng(5)
    names = letters(6)
    codes = (rng.random((7, 50)) < 0.5).astype(np.int32)
    truth = Table(tuple(Column(n, "category", c, YES_NO) for n, c in zip(names, codes, strict=True)))
    scheme = Scheme(*(DisguisedColumns({name: YES_NO}, Warner(0.6 + 0.05 * i)) for i, name in enumerate(names)))
    reported = disguise(truth, scheme, DRAWS)
    fast = Fringe.root(answers(reported, scheme, names), by_row=True)
    merging = Fringe.root(answers(reported, scheme, names))
    slow = NaiveCounter(reported, scheme, names)
    for column in range(4):
        tested = np.full(fast.nodes, column)
        fast, slow, merging = fast.children(tested), slow.children(tested), merging.children(tested)
    assert len(fast.entries.weights.values) > FEW
    assert len(merging.entries) < len(fast.entries)  # 2^3 answers are left in 16 nodes
    for fringe in (fast, merging):
        np.testing.assert_allclose(fringe.column(5).counts, slow.column(5).counts, atol=1e-8)
        np.testing.assert_allclose(fringe.column(5).sizes(50)[1], slow.column(5).sizes(50)[1], atol=1e-6)


@pytest.mark.parametrize("most", [1, 700, 5000])
def test_a_tree_grown_in_parts_is_the_same(monkeypatch, most):
    """Where memory would not hold the entries of a depth, some nodes wait."""
    monkeypatch.setattr("leafcover.randomized_response.tree_counts.MOST_CELLS", 0)
    scheme = coin_each(0.9, 5)
    reported = disguise(binary(2000, 5, 6), scheme, DRAWS)
    rules = StoppingRules("gain", 0, 0, 1)
    whole = grow_tree(reported, scheme, target="class", rules=rules)
    assert whole.size > 40
    monkeypatch.setattr("leafcover.randomized_response.tree.MOST_ENTRIES", most)
    same(grow_tree(reported, scheme, target="class", rules=rules), whole)


@pytest.mark.parametrize("kinds", [1, FEW, FEW + 1, MANY, MANY + 1])
def test_weights_add_up_whatever_the_number_of_kinds(kinds):
    rng = np.random.default_rng(kinds)
    values, kind = rng.normal(size=kinds), rng.integers(0, kinds, 200_000)
    cell, codes = rng.integers(0, 3, 200_000), rng.integers(0, 2, 200_000).astype(np.uint8)
    weights = tidied(Weights(values, values**2, kind))
    assert (weights.kind is None) == (kinds > MANY)
    base = cell * weights.few + weights.kind if weights.few else cell
    for found, each in zip(summed(weights, base, codes, 3, 2), (values, values**2), strict=True):
        np.testing.assert_allclose(found.ravel(), np.bincount(cell * 2 + codes, each[kind]), atol=1e-8)


def test_negative_counts_are_clipped_and_branches_add_up_to_their_node():
    counts = np.array([[[-2.0, 12.0], [10.0, -1.0], [4.0, 5.0]]])
    node = np.array([[12.0, 16.0]])
    shared = shared_out(counts, node)[0]
    np.testing.assert_allclose(shared, [[0, 16 * 12 / 17], [12 * 10 / 14, 0], [12 * 4 / 14, 16 * 5 / 17]])
    # A class that nobody with an answer has goes by the size of the branches: 3 to 1.
    np.testing.assert_allclose(
        shared_out(np.array([[[3.0, 0.0], [1.0, 0.0]]]), np.array([[4.0, 2.0]]))[0], [[3, 1.5], [1, 0.5]]
    )


def test_gain_and_split_information_by_hand():
    # The play-tennis table: outlook has gain 0.247 and split information 1.577 (Quinlan 1986).
    outlook = np.array([[[2.0, 3.0], [4.0, 0.0], [3.0, 2.0]]])
    gain, split = gains(outlook)
    assert gain[0] == pytest.approx(0.2467, abs=1e-4)
    assert split[0] == pytest.approx(1.5774, abs=1e-4)


def test_the_gain_of_noise_is_that_of_plain_counts_times_what_the_disguise_adds():
    """Plain counts give (levels - 1)(classes - 1) / (2 n ln 2) bits; a coin of 3/4 on an even class four times as many.

    A report counts 3/2 or -1/2 for a class: the spread of a class of share q is 3/4 / (q (1 - q)) + 1 times as large.
    """
    rng = np.random.default_rng(2)
    codes = np.stack([rng.integers(0, 3, 900), rng.random(900) < 0.5]).astype(np.int32)
    plain = Table((Column("x", "category", codes[0], tuple("pqr")), Column("class", "category", codes[1], YES_NO)))
    tally = Fringe.root(answers(plain, Scheme(), ("x", "class"))).column(0)
    assert noise_p_value(tally, tally.counts)[1][0] == pytest.approx(2 / (2 * 900 * np.log(2)), rel=0.02)
    scheme = Scheme(DisguisedColumns({"class": YES_NO}, Warner(0.75)))
    tally = Fringe.root(answers(disguise(plain, scheme, DRAWS), scheme, ("x", "class"))).column(0)
    assert noise_p_value(tally, tally.counts)[1][0] == pytest.approx(4 * 2 / (2 * 900 * np.log(2)), rel=0.05)
