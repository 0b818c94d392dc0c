"""Exact moments: against fractions, in any order, cut in any way."""

from fractions import Fraction
from statistics import stdev

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from leafcover.perturb.additive import UNIT, moments_of

FLOATS = st.lists(st.floats(allow_nan=False, allow_infinity=False), max_size=30)


@given(FLOATS)
def test_sums_are_exact(values):
    found = moments_of(np.array(values))
    exact = [Fraction(v) for v in values]
    assert found.count == len(values)
    assert found.total * Fraction(2) ** UNIT == sum(exact)
    assert found.squares * Fraction(4) ** UNIT == sum(v * v for v in exact)


@given(FLOATS, FLOATS, st.randoms(use_true_random=False))
def test_neither_parts_nor_order_matter(one, other, random):
    together = [*one, *other]
    random.shuffle(together)
    assert moments_of(np.array(one)).plus(moments_of(np.array(other))) == moments_of(np.array(together))


def test_mean_and_deviation_by_hand_and_by_the_standard_library():
    # 2, 4, 9: mean 5, squares of what is left 9 + 1 + 16 = 26, over two: 13.
    found = moments_of(np.array([2.0, 4.0, 9.0]))
    assert (found.mean, found.deviation) == (5.0, pytest.approx(13**0.5, rel=1e-15))
    for scale, offset in ((1, 0), (1e-3, 1e9), (1e150, 0), (1e-160, 0), (1e307, 0)):
        values = np.random.default_rng(1).normal(offset, scale, 200)
        found = moments_of(values)
        assert found.deviation == pytest.approx(stdev(map(Fraction, values)), rel=1e-15)
        assert found.mean == pytest.approx(float(sum(map(Fraction, values)) / 200), rel=1e-15)


def test_few_equal_and_enormous_numbers():
    assert moments_of(np.array([])).deviation == moments_of(np.array([3.0])).deviation == 0
    assert moments_of(np.full(1000, 0.1)).deviation == 0
    assert moments_of(np.array([-1.0, -3.0])).mean == -2
    assert moments_of(np.array([-1.7e308, 1.7e308])).deviation == np.inf  # 2.4e308 is no float


def test_more_values_than_one_chunk_holds():
    values = np.random.default_rng(2).integers(-1000, 1000, 200_001).astype(float)
    found = moments_of(values)
    assert found.total * Fraction(2) ** UNIT == int(values.sum())
    assert found.squares * Fraction(4) ** UNIT == int((values**2).sum())
