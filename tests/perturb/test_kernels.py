"""Fast noise kernels against their slow twins."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from leafcover.kernels.dealing import has_majority_value, hash_by_cell, rows_by_cell
from leafcover.perturb.bounded import distribution_named, fitted, probability
from leafcover.perturb.redraw import with_siblings
from leafcover.perturb.shuffle import shuffle
from tests import naive

LABELS = hnp.arrays(np.int64, st.integers(1, 40), elements=st.integers(0, 5))


@given(LABELS, st.randoms(use_true_random=False))
def test_shuffle_is_its_twin(label, random):
    words = np.array([random.choice([1, 2, 3, random.getrandbits(64)]) for _ in label], np.uint64)
    assert shuffle(label, words).tolist() == naive.shuffle(label.tolist(), words.tolist())


@given(LABELS, st.data())
def test_held_by_nearly_all_is_its_twin(label, data):
    values = np.array(data.draw(st.lists(st.integers(0, 2), min_size=len(label), max_size=len(label))), np.int64)
    order, starts = rows_by_cell(label, 6)
    for share in (0.6, 0.95):
        found = has_majority_value(order, starts, values, share)
        assert found.tolist() == naive.has_majority_value(label.tolist(), values.tolist(), share)


@given(LABELS, st.data())
def test_marks_tell_whether_a_cell_holds_other_values(label, data):
    values = np.array(data.draw(st.lists(st.integers(-3, 3), min_size=len(label), max_size=len(label))), np.int64)
    marks = hash_by_cell(label, values, 6)
    assert (marks == hash_by_cell(label[::-1].copy(), values[::-1].copy(), 6)).all()
    row = data.draw(st.integers(0, len(label) - 1))
    other = values.copy()
    other[row] += 1
    assert (np.flatnonzero(marks != hash_by_cell(label, other, 6)) == [label[row]]).all()


@given(st.lists(st.lists(st.integers(0, 3), max_size=8), min_size=1, max_size=6), st.data())
def test_detectives_law_is_its_twin(cells, data):
    groups = data.draw(st.lists(st.integers(-1, 1), min_size=len(cells), max_size=len(cells)))
    counts = np.array([[c.count(v) for v in range(4)] for c in cells])
    shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    law = with_siblings(shares, counts, (np.array(groups),), 0.3)
    for row, twin in zip(law, naive.detective_law(cells, groups, 0.3), strict=True):
        if twin:
            assert row == pytest.approx([twin[v] for v in range(4)])


@pytest.mark.parametrize("fit", ["redraw", "reflect", "wrap", "clip"])
@pytest.mark.parametrize(("place", "size", "spread"), [(0, 5, 1.4), (3, 4, 2.0), (2, 9, 0.5), (0, 1, 0.0001)])
def test_the_probability_of_each_point_is_its_twins(fit, place, size, spread):
    to = np.arange(size, dtype=float)
    one = np.ones(size)
    found = probability(place * one, to, size * one, spread * one, distribution_named("normal"), fit)
    assert found == pytest.approx(naive.bounded_chances(place, size, spread, fit), abs=1e-9)
    assert found.sum() == pytest.approx(1)


@pytest.mark.parametrize("fit", ["redraw", "reflect", "wrap", "clip"])
@pytest.mark.parametrize("law", ["normal", "uniform", "laplace"])
def test_noise_follows_its_probability_and_not_a_law_a_little_off(fit, law):
    from scipy.stats import chisquare

    n, size, spread, place = 200_000, 12, 4.0, 2
    u = np.random.default_rng(1).random(n)
    one = np.ones(n)
    new = fitted(place * one, size * one, spread * one, u, distribution_named(law), fit)
    counts = np.bincount(new, minlength=size)

    def p(spread):
        few = np.ones(size)
        chances = probability(
            place * few, np.arange(size) * 1.0, size * few, spread * few, distribution_named(law), fit
        )
        kept = chances > 1e-9
        if counts[~kept].sum() > 10:
            return 0.0  # values where this law has none
        expected = chances[kept] / chances[kept].sum() * counts[kept].sum()
        return chisquare(counts[kept], expected).pvalue

    assert p(spread) > 1e-6
    assert p(spread * 1.15) < 1e-6
    assert p(spread * 0.85) < 1e-6


def test_laws_are_scaled_to_deviation_one_and_inverse_undoes_cdf():
    u = (np.arange(100_000) + 0.5) / 100_000
    for name in ("normal", "uniform", "laplace"):
        law = distribution_named(name)
        x = law.inverse(u)
        assert x.std() == pytest.approx(1, abs=2e-3)
        assert law.cdf(x) == pytest.approx(u)
