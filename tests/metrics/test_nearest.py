"""Searches for near rows against a naive twin: ties, duplicates, missing values, every shape of table and of tree."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from leafcover.kernels import neighbors as near
from leafcover.kernels.neighbors import grow
from leafcover.metrics.disclosure.nearest_record import (
    TIE,
    ScaledTable,
    closer_than_own,
    every_distance,
    matches_among_nearest,
    nearest,
    searchable,
)


def gower(one, other):
    """One row with another, column by column."""
    total = float(sum(a != b for a, b in zip(one.codes, other.codes, strict=True)))
    for a, b in zip(one.numbers, other.numbers, strict=True):
        lost = int(np.isnan(a)) + int(np.isnan(b))
        total += {0: abs(a - b), 1: 1.0, 2: 0.0}[lost]
    return total


def row_of(table, i):
    return ScaledTable(table.numbers[i], table.codes[i])


class Twin:
    """Every distance of one person, and what follows from it by the definitions."""

    def __init__(self, people, others, i, own):
        rows = [j for j in range(len(others.numbers)) if j != own]
        self.pairs = [(gower(row_of(people, i), row_of(others, j)), j) for j in rows]

    def nearest(self, count):
        found = sorted(self.pairs, key=lambda pair: (round(pair[0] / TIE), pair[1]))[:count]
        return found + [(np.inf, -1)] * (count - len(found))

    def share(self, wanted, labels, tolerance):
        if not self.pairs:
            return 0.0
        least = min(d for d, _ in self.pairs)
        near = [labels[j] for d, j in self.pairs if d <= least + TIE]
        both = [(np.isnan(x) and np.isnan(wanted)) or abs(x - wanted) <= tolerance for x in near]
        return sum(both) / len(both)

    def before(self, own):
        mine = next(d for d, j in self.pairs if j == own)
        closer = sum(d < mine - TIE for d, _ in self.pairs)
        return closer, sum(abs(d - mine) <= TIE for d, _ in self.pairs) - 1


@st.composite
def searches(draw):
    """People and others with few values, so that ties and duplicates abound; and how large a leaf may be."""
    seed, numbers, codes = draw(st.integers(0, 2**32)), draw(st.integers(0, 3)), draw(st.integers(0, 3))
    rng = np.random.default_rng(seed)
    grid, levels = draw(st.sampled_from([1, 3, 60, 10**6])), draw(st.sampled_from([1, 2, 9, 300]))
    missing = draw(st.sampled_from([0.0, 0.1, 0.6, 1.0]))

    def table(rows):
        values = rng.integers(-1, grid + 2, (rows, numbers)) / grid  # a little beyond the original range too
        values[rng.random(values.shape) < missing] = np.nan
        coded = rng.integers(0, levels, (rows, codes)).astype(np.int32)
        coded[rng.random(coded.shape) < missing] = -1
        return ScaledTable(values, coded)

    return table(draw(st.integers(1, 4))), table(draw(st.integers(0, 60))), draw(st.sampled_from([1, 2, 7, 64])), rng


def tree(others, leaf):
    values = np.vstack((others.numbers.T, others.codes.T))
    return grow(np.ascontiguousarray(values), others.numbers.shape[1], leaf)  # as in use: no kernel for another order


@given(searches(), st.integers(1, 70))
def test_nearest_rows_are_the_twins(search, count):
    people, others, leaf, rng = search
    own = rng.integers(-1, max(len(others.numbers), 1), len(people.numbers))
    for given_as in (others, tree(others, leaf)):
        found = nearest(people, given_as, count=count, own=own)
        for i in range(len(own)):
            twin = Twin(people, others, i, own[i]).nearest(count)
            assert found.row[i].tolist() == [j for _, j in twin]
            assert found.distance[i] == pytest.approx([d for d, _ in twin])


@given(searches(), st.sampled_from([0.0, 1.0]))
def test_shares_among_the_nearest_are_the_twins(search, tolerance):
    people, others, leaf, rng = search
    rows = len(others.numbers)
    labels = np.where(rng.random(rows) < 0.2, np.nan, rng.integers(0, 3, rows))
    wanted = np.where(rng.random(len(people.numbers)) < 0.2, np.nan, rng.integers(0, 3, len(people.numbers)))
    own = rng.integers(-1, max(rows, 1), len(wanted))
    for given_as in (others, tree(others, leaf)):
        found = matches_among_nearest(people, given_as, wanted, labels, tolerance=tolerance, own=own)
        twins = [Twin(people, others, i, own[i]).share(wanted[i], labels, tolerance) for i in range(len(own))]
        assert found == pytest.approx(twins)


@given(searches())
def test_rows_before_the_own_are_the_twins(search):
    people, others, leaf, rng = search
    rows = len(others.numbers)
    if rows == 0:
        return
    own = rng.integers(0, rows, len(people.numbers))
    twins = np.array([Twin(people, others, i, -1).before(own[i]) for i in range(len(own))], float)
    for given_as in (others, tree(others, leaf)):
        closer, tied = closer_than_own(people, given_as, own)
        assert closer.tolist() == twins[:, 0].tolist()
        assert tied.tolist() == twins[:, 1].tolist()
        closer, tied = closer_than_own(people, given_as, own, enough=2)
        assert closer.tolist() == np.minimum(twins[:, 0], 2).tolist()
        assert tied.tolist() == np.where(twins[:, 0] < 2, twins[:, 1], 0).tolist()


def test_kernels_mean_the_same_by_a_tie():
    assert near.TIE == TIE


def mixed(rng, rows, numbers=4, codes=3):
    values = rng.normal(0.5, 0.2, (rows, numbers))
    values[rng.random(values.shape) < 0.05] = np.nan
    return ScaledTable(values, rng.integers(-1, 6, (rows, codes)).astype(np.int32))


@pytest.mark.parametrize(("numbers", "codes"), [(4, 3), (9, 0), (0, 18), (11, 6)])
def test_a_large_table_is_searched_exactly(numbers, codes):
    rng = np.random.default_rng(1)
    people, others = mixed(rng, 150, numbers, codes), mixed(rng, 3000, numbers, codes)
    full = every_distance(people, others)
    own = rng.integers(0, 3000, 150)
    mine = full[np.arange(150), own][:, None]
    boxes = searchable(others)
    assert boxes.depth >= 5
    found = nearest(people, boxes, count=5)
    assert np.array_equal(found.row, np.argsort(np.rint(full / TIE), axis=1, kind="stable")[:, :5])
    assert found.distance == pytest.approx(np.sort(full, axis=1)[:, :5])
    closer, tied = closer_than_own(people, boxes, own)
    assert np.array_equal(closer, (full < mine - TIE).sum(axis=1))
    assert np.array_equal(tied, (np.abs(full - mine) <= TIE).sum(axis=1) - 1)


def test_every_distance_is_the_sum_over_columns():
    rng = np.random.default_rng(2)
    people, others = mixed(rng, 6), mixed(rng, 40)
    twins = [[gower(row_of(people, i), row_of(others, j)) for j in range(40)] for i in range(6)]
    assert every_distance(people, others) == pytest.approx(np.array(twins))


def test_by_hand():
    # a person (0.5, red) and rows (0.6, red), (0.4, red), (0.5, blue), (missing, red):
    # 0.1, 0.1, 0 + 1 and 1 + 0. The nearest two tie; the third and fourth tie.
    person = ScaledTable(np.array([[0.5]]), np.array([[0]], np.int32))
    rows = ScaledTable(np.array([[0.6], [0.4], [0.5], [np.nan]]), np.array([[0], [0], [1], [0]], np.int32))
    found = nearest(person, rows, count=5)
    assert found.row[0].tolist() == [0, 1, 2, 3, -1]
    assert found.distance[0] == pytest.approx([0.1, 0.1, 1.0, 1.0, np.inf])
    assert nearest(person, rows, own=np.array([0])).row[0].tolist() == [1]
    labels = np.array([7.0, 8.0, 7.0, 7.0])
    assert matches_among_nearest(person, rows, np.array([7.0]), labels)[0] == 0.5
    assert matches_among_nearest(person, rows, np.array([7.0]), labels, own=np.array([0]))[0] == 0.0
    assert [float(x[0]) for x in closer_than_own(person, rows, np.array([3]))] == [2.0, 1.0]


@pytest.mark.parametrize("order", [[0, 1, 2], [2, 1, 0], [1, 2, 0], [1, 0, 2]])
def test_ties_are_counted_from_the_nearest_whatever_the_order(order):
    # 0, 0.6 and 1.2 billionths away: the third ties with the second, but not with the nearest
    steps = np.array([0.0, 0.6e-9, 1.2e-9])[order]
    others, labels = ScaledTable(steps[:, None], np.empty((3, 0), np.int32)), np.array([1.0, 1.0, 0.0])[order]
    person = ScaledTable(np.zeros((1, 1)), np.empty((1, 0), np.int32))
    assert matches_among_nearest(person, others, np.array([1.0]), labels)[0] == 1.0
    assert matches_among_nearest(person, others, np.array([0.0]), labels)[0] == 0.0


def test_many_rows_alike_and_a_few_others():
    rows = 1000
    numbers, codes = np.full((rows, 2), 0.5), np.zeros((rows, 1), np.int32)
    numbers[[3, 700]], codes[800] = [0.1, np.nan], 4
    others = ScaledTable(numbers, codes)
    people = ScaledTable(np.tile([0.1, np.nan], (70, 1)), np.zeros((70, 1), np.int32))
    assert nearest(people, others, count=3).row[69].tolist() == [3, 700, 0]
    wanted, labels = np.ones(70), (np.arange(rows) == 3).astype(float)
    assert matches_among_nearest(people, others, wanted, labels).tolist() == [0.5] * 70
    closer, tied = closer_than_own(people, others, np.full(70, 5))  # the own row is one of those alike
    assert (closer[0], tied[0]) == (2.0, 996.0)  # 1000 less two nearer, one farther and the own


def test_without_rows_or_columns():
    none = ScaledTable(np.empty((0, 1)), np.empty((0, 0), np.int32))
    person = ScaledTable(np.zeros((1, 1)), np.empty((1, 0), np.int32))
    assert nearest(person, none).row.tolist() == [[-1]]
    assert matches_among_nearest(person, none, np.zeros(1), np.zeros(0)).tolist() == [0.0]
    assert len(nearest(none, person).row) == 0
    bare = ScaledTable(np.empty((4, 0)), np.empty((4, 0), np.int32))
    assert closer_than_own(bare, bare, np.arange(4))[1].tolist() == [3.0] * 4


def test_a_tolerance_for_each_person():
    others = ScaledTable(np.zeros((1, 1)), np.empty((1, 0), np.int32))
    people = ScaledTable(np.zeros((3, 1)), np.empty((3, 0), np.int32))
    reach = np.array([0.5, 1.0, np.inf])
    found = matches_among_nearest(people, others, np.zeros(3), np.ones(1), tolerance=reach)
    assert found.tolist() == [0.0, 1.0, 1.0]
