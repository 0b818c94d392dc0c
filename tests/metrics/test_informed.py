"""Informed linkage: worked out by hand, at its two ends, and by an attacker who learned the noise from pairs."""

from dataclasses import dataclass, replace

import numpy as np
import pytest
from scipy import stats

from leafcover.metrics.disclosure.probabilistic_linkage import learned_linkage
from leafcover.metrics.disclosure.record_linkage import distance_linkage, informed
from leafcover.metrics.pair import pair_of
from tests.metrics.pairs import apart, awkward, copy_of, reordered, tables
from tests.tables import mixed, number, table


@dataclass(frozen=True, eq=False)
class Told:
    """Evidence written down as a matrix."""

    groups: np.ndarray
    matrix: np.ndarray | None = None
    columns: int = 1

    @property
    def is_exchangeable(self):
        return self.matrix is None

    def scores(self, people, rows):
        return (self.matrix[np.ix_(people, rows)],)


def test_rows_that_cannot_be_told_apart_are_drawn_among():
    found = informed(Told(np.array([0, 0, 1])))
    # Two people share a crowd of two (1/2 each), one stands alone: (1/2 + 1/2 + 1) / 3.
    assert found.first.value == pytest.approx(2 / 3)
    assert found.ten.value == 1.0
    assert found.median_rank == 1.5  # ranks 1.5, 1.5 and 1
    assert [(c.fewest, c.risk.value) for c in found.crowds] == [(1, 1.0), (2, 0.5)]
    assert (found.smallest_crowd, found.rows, found.of) == (1, 3, 3)
    assert found.how == "every row"


def test_the_best_score_decides_and_ties_are_averaged():
    # The first person's own row scores best; the second's ties with another; the third's is beaten by both.
    scores = np.array([[5.0, 1.0, 1.0], [0.0, 2.0, 2.0], [3.0, 2.0, 1.0]])
    found = informed(Told(np.zeros(3, int), scores))
    assert found.first.value == pytest.approx((1 + 0.5 + 0) / 3)
    assert found.median_rank == 1.5  # ranks 1, 1.5 and 3


def test_a_row_of_another_group_is_never_taken():
    scores = np.array([[0, 0, 9, 9], [0, 0, 9, 9], [9, 9, 0, -1], [9, 9, -1, 0]], float)
    found = informed(Told(np.array([0, 0, 1, 1]), scores))
    assert found.first.value == pytest.approx((0.5 + 0.5 + 1 + 1) / 4)


@pytest.mark.parametrize("name", ["full", "with missing values"])
def test_learned_linkage_finds_a_copy_and_nobody_in_columns_apart(name):
    original = tables()[name]
    found = learned_linkage(copy_of(original, target="class"))
    assert found.first.value > 0.95
    assert found.rows == 200
    hits = sum(learned_linkage(apart(original, seed=seed, target="class")).first.value * 200 for seed in range(10))
    # 2,000 attacks find 5 people by chance; the better of two ways is taken, so at most twice as many are expected.
    assert stats.poisson.ppf(0.001, 5) <= hits <= stats.poisson.ppf(0.999, 10)


def test_learned_linkage_learns_noise_that_distance_does_not_see():
    # The release turns every number around: the nearest row is a stranger's, but the law is plain in the pairs.
    original = mixed(4, rows=600, missing=0.0).select(["age", "job"])
    rng = np.random.default_rng(1)
    turned = {"clerk": "weaver", "weaver": "clerk", "nurse": "smith", "smith": "nurse"}
    levels = original["job"].levels
    codes = np.array([levels.index(turned[level]) for level in levels], np.int32)[original["job"].values]
    order = rng.permutation(600)
    released = original.replace([replace(original["job"], values=codes)])
    pair = pair_of(original, released.take(order), order)
    exact = learned_linkage(copy_of(original)).first.value
    assert learned_linkage(pair).first.value == pytest.approx(exact, abs=0.02)


@pytest.mark.parametrize("name", list(awkward()))
def test_learned_linkage_is_finite_on_awkward_tables(name):
    for pair in (copy_of(awkward()[name], target="class"), apart(awkward()[name], target="class")):
        found = learned_linkage(pair)
        assert 0 <= found.first.low <= found.first.value <= found.first.high <= 1
        assert np.isfinite(found.median_rank)


def test_learned_linkage_needs_pairs():
    pair = copy_of(mixed(1))
    assert learned_linkage(replace(pair, paired=False)) is None


def test_the_order_of_rows_and_columns_does_not_matter_much():
    # Which half is learned from depends on the order, so that only intervals can be compared.
    pair = copy_of(tables()["full"], target="class")
    one, other = learned_linkage(pair).first, learned_linkage(reordered(pair)).first
    assert one.low <= other.high
    assert other.low <= one.high


@pytest.mark.parametrize("change", [lambda x: -x, lambda x: 0.1 * x, lambda x: x + 3, np.exp])
def test_numbers_turned_around_or_stretched_hide_nobody(change):
    rng = np.random.default_rng(2)
    columns = {name: rng.normal(size=500) for name in "abcd"}
    order = rng.permutation(500)
    original = table(*(number(name, values, None) for name, values in columns.items()))
    released = table(*(number(name, change(values), None) for name, values in columns.items()))
    found = learned_linkage(pair_of(original, released.take(order), order))
    assert found.first.value > 0.7


def test_numbers_rotated_together_hide_nobody():
    rng = np.random.default_rng(4)
    spun, _ = np.linalg.qr(rng.normal(size=(4, 4)))
    before = rng.normal(size=(600, 4))
    original, released = (
        table(*(number(f"x{i}", column, None) for i, column in enumerate(values.T)))
        for values in (before, before @ spun + 5)
    )
    pair = pair_of(original, released, np.arange(600))
    assert learned_linkage(pair).first.value > 0.99
    assert distance_linkage(pair).nearest.value < 0.1
