"""The kernels that compare values, against plain NumPy."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from leafcover.kernels import neighbors as weigh

FLOATS = st.one_of(
    st.just(np.nan),
    st.sampled_from([0.0, -0.0, 1.0, 0.5, 5e-324, 1e-9, 1e308, -1e308]),
    st.floats(-2.0, 2.0),
)


def twin(one, other):
    """Comparisons by the exponent that NumPy finds."""
    if np.isnan(one) or np.isnan(other):
        return 0 if np.isnan(one) and np.isnan(other) else weigh.MAX_HALVINGS + 2
    apart = abs(one - other)
    return 0 if apart == 0 else int(np.clip(1 - np.frexp(min(apart, 1e300))[1], 0, weigh.MAX_HALVINGS)) + 1


@given(st.lists(FLOATS, min_size=1, max_size=5), st.lists(FLOATS, min_size=1, max_size=5))
def test_numbers_compare_as_by_their_exponent(ours, theirs):
    weights = np.arange(weigh.COMPARISONS, dtype=float)
    expected = np.array([[twin(one, other) for other in theirs] for one in ours], float)
    total = np.full(expected.shape, 0.5)
    weigh.add_by_distance(total, np.array(ours), np.array(theirs), weights)
    assert (total == expected + 0.5).all()
    both = [np.repeat(ours, len(theirs)), np.tile(theirs, len(ours))]
    assert (weigh.compare_numbers(*both) == expected.ravel()).all()


def test_many_numbers_are_compared_in_pieces():
    theirs = np.random.default_rng(1).normal(size=10_000)
    total, weights = np.zeros((2, 10_000)), np.arange(weigh.COMPARISONS, dtype=float)
    weigh.add_by_distance(total, np.array([0.0, 1.0]), theirs, weights)
    assert (total[1] == weigh.compare_numbers(np.ones(10_000), theirs)).all()


def test_codes_compare_by_both_or_by_sameness():
    ours, theirs = np.array([0, -1], np.int32), np.array([1, -1, 0], np.int32)
    weights = np.arange(9.0).reshape(3, 3)  # two levels, and missing last
    total = np.zeros((2, 3))
    weigh.add_by_level(total, ours, theirs, weights)
    assert total.tolist() == [[1, 2, 0], [7, 8, 6]]
    weigh.add_by_equality(total, ours, theirs, np.array([100.0, 0.0]))
    assert total.tolist() == [[1, 2, 100], [7, 108, 6]]
