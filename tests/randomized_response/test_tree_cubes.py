"""Cubes count as entries do, in every node and for every scheme, and hand over to entries when they are small."""

from contextlib import contextmanager
from math import prod

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import leafcover as lc
from leafcover.randomized_response import (
    PAPER,
    DisguisedColumns,
    Groups,
    Kary,
    OneCoin,
    Scheme,
    StoppingRules,
    UnrelatedQuestion,
    Warner,
    disguise,
    grow_tree,
)
from leafcover.randomized_response import tree_counts as cubes
from leafcover.randomized_response.tree import grown
from leafcover.randomized_response.tree_counts import Cubes, Fringe, branches, counted, fits, margins
from leafcover.randomized_response.tree_entries import OPEN, answers
from leafcover.table.io import sample
from leafcover.table.table import Column, Table
from leafcover.tree.tree import Attribute
from tests.naive_response_tree import NaiveCounter
from tests.randomized_response.answers import SCHEME, YES_NO, people
from tests.randomized_response.mechanisms import DRAWS
from tests.randomized_response.trees import TARGETS, any_rules, any_scheme, binary, coin_each, letters, one_coin, same
from tests.tables import category, table


@contextmanager
def cells_a_node(least):
    """Cubes hand over to entries when their nodes have fewer cells; 0 for never."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cubes, "CELLS_A_NODE", least)
        yield


def tree_of(counter, found, rules):
    attributes = tuple(Attribute(n, lv, is_number=False) for n, lv in zip(found.names, found.levels, strict=True))
    return grown(counter.root(found), attributes[:-1], found.names[-1], found.levels[-1], rules)


def agree(ours, theirs, rng):
    """The tallies of two counters, where columns are free."""
    scale = max(abs(theirs.classes().counts).max(), 1)
    np.testing.assert_allclose(ours.classes().counts, theirs.classes().counts, atol=1e-9 * scale)
    np.testing.assert_array_equal(ours.free, theirs.free)
    for column in range(ours.free.shape[1]):
        one, other, free = ours.column(column), theirs.column(column), ours.free[:, column]
        p, q = (rng.dirichlet(np.ones(size), ours.nodes) for size in one.counts.shape[1:])
        for a, b in (
            (one.counts, other.counts),
            (one.sizes(ours.rows)[1], other.sizes(ours.rows)[1]),
            (one.noise(p, q), other.noise(p, q)),
        ):
            np.testing.assert_allclose(a[free], b[free], rtol=1e-6, atol=1e-6 * max(abs(b).max(initial=0), 1))


def some_tests(counter, rng):
    return np.array([rng.choice([-1, *np.flatnonzero(free)]) for free in counter.free])


@settings(max_examples=60)
@given(any_scheme(), st.integers(0, 999), st.sampled_from([0, 3, 20]))
def test_cubes_and_entries_count_alike_whatever_is_tested(given_scheme, seed, least):
    scheme, reported, names = given_scheme
    found = answers(reported, scheme, names)
    ours, theirs, rng = Cubes.root(found), Fringe.root(found), np.random.default_rng(seed)
    with cells_a_node(least):
        for _ in range(3):
            agree(ours, theirs, rng)
            tested = some_tests(ours, rng)
            if (tested < 0).all():
                break
            ours, theirs = ours.children(tested), theirs.children(tested)


@settings(max_examples=15)
@given(any_scheme(), st.integers(0, 999))
def test_cubes_count_as_the_estimator_does(given_scheme, seed):
    scheme, reported, names = given_scheme
    reported = reported.take(np.flatnonzero(~reported[names[-1]].missing))
    ours, slow = Cubes.root(answers(reported, scheme, names)), NaiveCounter(reported, scheme, names)
    rng = np.random.default_rng(seed)
    tested = np.array([rng.integers(len(names) - 1)])
    agree(ours, slow, rng)
    with cells_a_node(0):
        agree(ours.children(tested), slow.children(tested), rng)


@settings(max_examples=30)
@given(
    st.integers(0, 999),
    st.sampled_from(TARGETS),
    st.permutations(TARGETS),
    any_rules(),
    st.sampled_from([0, 10, 10**9]),
)
def test_trees_from_cubes_and_from_entries_are_the_same(seed, target, order, rules, least):
    names = (*[name for name in order if name != target][:5], target)
    found = answers(disguise(people(80, seed, missing=0.1), SCHEME, DRAWS.sub(str(seed))), SCHEME, names)
    with cells_a_node(least):
        same(tree_of(Cubes, found, rules), tree_of(Fringe, found, rules))


@settings(max_examples=20)
@given(
    st.integers(0, 9999), st.sampled_from([PAPER, StoppingRules(), StoppingRules(criterion="ratio", significance=0.5)])
)
def test_a_coin_that_always_falls_alike_gives_exactly_the_plain_tree_from_cubes(seed, rules):
    plain, names = binary(300, 5, seed), letters(5)
    expected = tree_of(Fringe, answers(plain, Scheme(), names), rules)
    for theta in (0.0, 1.0):
        groups = Scheme(DisguisedColumns(dict.fromkeys(names, YES_NO), Groups(theta, ((0, 3), (1, 5), (2,), (4,)))))
        for scheme in (Scheme(), one_coin(theta, 5), coin_each(theta, 5), groups):
            with cells_a_node(0):
                tree = tree_of(Cubes, answers(disguise(plain, scheme, DRAWS), scheme, names), rules)
            for field in ("tested", "first", "counts", "label", "errors"):
                np.testing.assert_array_equal(getattr(tree, field), getattr(expected, field))


@pytest.mark.parametrize("least", [0, 60, 2048])
def test_a_real_table_with_many_levels_and_missing_answers(least):
    adult = lc.read(sample("adult")).select(["relationship", "sex", "race", "workclass", "income"])
    assert adult["workclass"].missing.any()
    scheme = Scheme(
        DisguisedColumns({"relationship": adult["relationship"].levels}, Kary(0.9, 6)),
        DisguisedColumns({"sex": adult["sex"].levels, "income": adult["income"].levels}, OneCoin(0.8, 2)),
        DisguisedColumns({"workclass": adult["workclass"].levels}, Kary(0.8, len(adult["workclass"].levels))),
    )
    names = ("relationship", "sex", "race", "workclass", "income")
    for given_scheme in (scheme, Scheme()):
        found = answers(disguise(adult, given_scheme, DRAWS), given_scheme, names)
        assert fits(found)
        with cells_a_node(least):
            tree = tree_of(Cubes, found, StoppingRules(significance=0.5))
        assert tree.size > 20
        same(tree, tree_of(Fringe, found, StoppingRules(significance=0.5)))


# Reports (a, b, class): yes no p twice, no no p four times, no and b missing q once.
REPORTS = (
    category("a", ["yes"] * 2 + ["no"] * 5),
    Column("b", "category", np.array([0] * 6 + [-1], np.int32), YES_NO),
    category("class", ["p"] * 6 + ["q"]),
)


@pytest.mark.parametrize(
    ("columns", "yes"),
    [
        # What reports no counts -1/2 for yes, with b turned to yes where it is answered.
        ({"a", "b"}, [[[3, -2, 0], [0, 0, -0.5]], [[4.5, 1, 0], [0, 0, 0.25]]]),
        # And with the class turned, too.
        ({"a", "b", "class"}, [[[3, 0, -0.5], [0, -2, 0]], [[4.5, 0, 0.25], [0, 1, 0]]]),
        # Alone it turns nothing else.
        ({"a"}, [[[1, 0, 0], [0, 0, -0.5]], [[5.5, 0, 0], [0, 0, 0.25]]]),
        (set(), [[[2, 0, 0], [0, 0, 0]], [[2, 0, 0], [0, 0, 0]]]),
    ],
    ids=["shared", "shared with the class", "alone", "open"],
)
def test_a_branch_by_hand(columns, yes):
    """A coin of 3/4: w = 3/2 for a report that is the truth, -1/2 for one that is not."""
    levels = {"a": YES_NO, "b": YES_NO, "class": ("p", "q")}
    coin = {name: levels[name] for name in levels if name in columns}
    scheme = Scheme(DisguisedColumns(coin, OneCoin(0.75, len(coin)))) if coin else Scheme()
    found = answers(table(*REPORTS), scheme, tuple(levels))
    mechanism = None if found.mechanism_of[0] == OPEN else found.mechanisms[found.mechanism_of[0]]
    cube = counted(found)
    assert (cube.columns, cube.bins) == ((0, 1), (2, 3))
    assert cube.sums.tolist() == [[[4, 0, 0, 2, 0, 0], [0, 0, 1, 0, 0, 0]]] * 2
    no, branch = branches(cube, 0, found, mechanism)
    assert (branch.columns, branch.bins) == ((1,), (3,))
    np.testing.assert_allclose(branch.sums, yes)
    if mechanism is not None:  # whatever is reported counts 1 over both truths
        assert (no.sums[0] + branch.sums[0]).sum() == pytest.approx(7)


@given(st.lists(st.integers(1, 4), min_size=0, max_size=6), st.integers(0, 999))
def test_margins_are_the_sums_over_all_other_columns(bins, seed):
    sums = np.random.default_rng(seed).normal(size=(2, 3, prod(bins)))
    whole = sums.reshape(2, 3, *bins)
    found = margins(sums, bins)
    assert len(found) == len(bins)
    for axis, one in enumerate(found):
        others = tuple(2 + other for other in range(len(bins)) if other != axis)
        np.testing.assert_allclose(one, whole.sum(axis=others), atol=1e-12)


def test_small_cubes_hand_over_to_entries_and_large_ones_do_not():
    scheme, rng = coin_each(0.9, 5), np.random.default_rng(1)
    found = answers(disguise(binary(500, 5, 2), scheme, DRAWS), scheme, letters(5))
    root, tested = Cubes.root(found), np.array([2])
    with cells_a_node(32):  # two nodes of 2^5 cells
        large = root.children(tested)
    with cells_a_node(33):
        small = root.children(tested)
    assert isinstance(large, Cubes)
    assert isinstance(small, Fringe)
    assert len(small.entries) == sum(np.count_nonzero(cube.sums[1]) for cube in large.cubes) <= 64
    agree(small, large, rng)
    further = some_tests(small, rng)
    assert (further >= 0).any()
    agree(small.children(further), large.children(further), rng)


def test_a_branch_without_rows_hands_over_nothing():
    a = Column("a", "category", np.array([0, 0, 2], np.int32), ("x", "y", "z"))
    plain = table(a, category("b", ["no", "no", "yes"]), category("class", ["p", "p", "q"]))
    root = Cubes.root(answers(plain, Scheme(), ("a", "b", "class")))
    branch = root.children(np.array([0]))
    assert isinstance(branch, Fringe)
    assert branch.entries.node.tolist() == [0, 2]  # two rows alike are one entry
    assert branch.entries.weights.values.tolist() == [2, 1]


def test_cubes_are_used_up_to_their_limits(monkeypatch):
    def rows(count, columns=3, missing=0):
        codes = np.zeros((columns + 1, count), np.int32)
        codes[:missing, 0] = -1
        return Table(tuple(Column(f"x{i}", "category", c, YES_NO) for i, c in enumerate(codes)))

    def used(given_table, *parts):
        return fits(answers(given_table, Scheme(*parts), given_table.names))

    assert used(rows(2))  # 16 cells, 8 a row
    assert not used(rows(1))
    assert not used(rows(2, missing=1))  # 24 cells
    assert used(rows(3, missing=1))
    assert not used(rows(2, columns=100))  # 2^101 cells overflow nothing
    coins = DisguisedColumns({"x0": YES_NO}, Warner(0.8)), DisguisedColumns({"x1": YES_NO}, UnrelatedQuestion(0.5, 0.4))
    assert used(rows(2, columns=5), *coins)  # 64 cells, 32 a row
    assert not used(rows(2, columns=6), *coins)
    assert not used(rows(2, columns=5), coins[0])
    monkeypatch.setattr(cubes, "MOST_CELLS", 16)
    assert used(rows(100))
    assert not used(rows(100, missing=1))


def test_the_grower_takes_the_counter_that_fits(monkeypatch):
    """The same tree either way, and rows are counted into cubes only within the limits."""
    scheme = coin_each(0.9, 5)
    reported = disguise(binary(2000, 5, 6), scheme, DRAWS)
    made = []
    monkeypatch.setattr(Cubes, "root", staticmethod(lambda found, root=Cubes.root: made.append(1) or root(found)))
    from_cubes = grow_tree(reported, scheme, target="class")
    assert made == [1]
    monkeypatch.setattr(cubes, "MOST_CELLS", 63)
    same(grow_tree(reported, scheme, target="class"), from_cubes)
    assert made == [1]
    assert from_cubes.size > 3
