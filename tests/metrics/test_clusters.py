"""Whether k-means finds the same groups, on tables small enough to see them, and by laws on larger ones."""

from itertools import permutations
from math import isnan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from leafcover.errors import ValueOutOfRange
from leafcover.metrics.pair import pair_of
from leafcover.metrics.utility.clusters import adjusted_rand, clusters, misclassification_error
from leafcover.table.table import Table
from tests.metrics.pairs import apart, awkward, copy_of, reordered, tables
from tests.tables import mixed, number, table

labellings = st.integers(1, 12).flatmap(
    lambda n: st.tuples(*(st.lists(st.integers(0, 3), min_size=n, max_size=n).map(np.array) for _ in range(2)))
)


def naive_error(one, other):
    """Every way of naming the clusters anew."""
    best = max(sum(name[b] == a for a, b in zip(one, other, strict=True)) for name in permutations(range(4)))
    return 1 - best / len(one)


def naive_rand(one, other):
    """Pairs of rows, one by one: (together in both - expected) / (mean of both - expected)."""
    pairs = [(i, j) for i in range(len(one)) for j in range(i)]
    ours, theirs = (np.array([x[i] == x[j] for i, j in pairs], float) for x in (one, other))
    expected = ours.sum() * theirs.sum() / max(len(pairs), 1)
    most = (ours.sum() + theirs.sum()) / 2
    return 1.0 if most == expected else (ours @ theirs - expected) / (most - expected)


def test_the_error_by_hand():
    # contingency: 0 with b 2, with a 1; 1 with a 2, with b 1. Best names: 0 = b, 1 = a, 4 of 6 rows keep their cluster.
    one, other = np.array([0, 0, 0, 1, 1, 1]), np.array([7, 7, 5, 5, 5, 7])
    assert misclassification_error(one, other) == pytest.approx(2 / 6)
    # one cluster falls in two: only the larger part is matched
    assert misclassification_error(np.zeros(5, int), np.array([0, 0, 0, 1, 1])) == pytest.approx(2 / 5)
    assert isnan(misclassification_error(np.empty(0, int), np.empty(0, int)))


def test_the_printed_form_sees_sizes_alone():
    # half of the rows exchanged their clusters, but both still hold two
    assert misclassification_error(np.array([0, 0, 1, 1]), np.array([0, 1, 1, 0]), mode="sizes") == 0
    assert misclassification_error(np.array([0, 0, 1, 1]), np.array([0, 1, 1, 0])) == 0.5
    # sizes 3 and 1 against 1 and 3: (2 + 2) / 4
    assert misclassification_error(np.array([0, 0, 0, 1]), np.array([0, 1, 1, 1]), mode="sizes") == 1.0
    with pytest.raises(ValueOutOfRange, match="mode"):
        misclassification_error(np.zeros(2), np.zeros(2), mode="printed")


@given(labellings)
def test_the_error_is_that_of_the_best_names(both):
    one, other = both
    assert misclassification_error(one, other) == pytest.approx(naive_error(one, other))
    assert misclassification_error(other, one) == pytest.approx(naive_error(one, other))
    assert misclassification_error(one, 3 - one) == 0


@given(labellings)
def test_rand_by_pairs(both):
    assert adjusted_rand(*both) == pytest.approx(naive_rand(*both))
    assert adjusted_rand(*both) == pytest.approx(adjusted_rand(*reversed(both)))


def test_one_person_who_changes_sides():
    """Ten people in two far groups; the release moves one: 1 of 10 rows, and sizes 5 and 5 become 4 and 6."""
    near = np.linspace(0, 1, 5)
    before = np.concatenate([near, near + 100])
    after = before.copy()
    after[0] = 100.5
    found = clusters(pair_of(*(table(number("x", v, None)) for v in (before, after)), np.arange(10)), counts=(2,))[0]
    assert found.error == pytest.approx(0.1)
    assert found.sizes == pytest.approx(0.2)
    # independent clusterings of sizes 5, 5 and 4, 6 would match 5/10 * 4/10 + 5/10 * 6/10 = half of the rows
    assert found.chance == pytest.approx(0.5)
    # the centres still tell both groups apart
    assert (found.centre_error, found.centre_rand) == (0, 1)


@pytest.mark.parametrize("name", tables())
def test_the_original_keeps_its_clusters(name):
    for found in clusters(copy_of(tables()[name])):
        assert (found.error, found.sizes, found.centre_error) == (0, 0, 0)
        assert (found.rand, found.centre_rand) == (1, 1)
        assert found.how == "every row"


def test_columns_shuffled_apart_leave_chance():
    for found in clusters(apart(mixed(3, rows=3000, missing=0.0))):
        assert abs(found.error - found.chance) < 0.04
        assert abs(found.rand) < 0.02
        assert found.centre_floor < found.error


def test_moving_the_whole_table_moves_no_one():
    """A translation keeps all distances, so from the same people k-means must find the same clusters."""
    original = table(*(number(n, np.random.default_rng(i).normal(size=300), None) for i, n in enumerate("xyz")))
    moved = Table(tuple(number(c.name, c.values + 20, None) for c in original))
    for found in clusters(pair_of(original, moved, np.arange(300))):
        assert found.error == 0
        assert found.centre_error > 0.3  # all original rows lie far from the release's centres, near one of them


def test_without_pairs_only_centres_are_compared():
    original = mixed(5, missing=0.0)
    shuffled = original.take(np.random.default_rng(1).permutation(len(original)))
    for found in clusters(pair_of(original, shuffled), counts=(2, 3)):
        assert all(isnan(v) for v in (found.error, found.sizes, found.rand, found.chance))
        assert found.centre_error < 0.02


def test_a_sample_is_said_and_seeded():
    pair = apart(mixed(9, rows=900))
    first, again = (clusters(pair, counts=(3,), most=200)[0] for _ in range(2))
    assert first == again
    assert (first.rows, first.of, first.how) == (200, 900, "a sample of 200 of 900 rows")


def test_order_does_not_matter_to_the_groups():
    """Starts are drawn by row, but far groups are found from anywhere."""
    rng = np.random.default_rng(2)
    places = np.repeat([0.0, 50.0, 130.0], 60)
    before, after = (table(*(number(n, places + rng.normal(size=180), None) for n in "xy")) for _ in range(2))
    pair = pair_of(before, after, np.arange(180))
    assert clusters(pair, counts=(3,))[0].error == clusters(reordered(pair), counts=(3,))[0].error == 0


@pytest.mark.parametrize("name", awkward())
@pytest.mark.parametrize("make", [copy_of, apart])
def test_awkward_tables_have_figures(name, make):
    for found in clusters(make(awkward()[name], target="class")):
        values = [found.error, found.sizes, found.rand, found.chance]
        values += [found.centre_error, found.centre_rand, found.centre_floor]
        assert np.isfinite(values).all()


def test_more_clusters_than_rows_are_left_out():
    few = copy_of(table(number("x", [1, 2, 3])))
    assert [found.count for found in clusters(few)] == [2, 3]
