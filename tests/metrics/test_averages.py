"""What averages give away, by hand; and the three properties of paper 004."""

import numpy as np
import pytest

from leafcover.metrics.disclosure.interval_disclosure import averages
from leafcover.metrics.pair import pair_of
from leafcover.metrics.utility.information_loss import properties
from tests.metrics.attacks import awkward_pairs
from tests.metrics.pairs import copy_of
from tests.tables import category, mixed, number, table

LABEL = np.array([0, 0, 0, 1, 1, 2, 2, 2])


def small():
    # x: the first group holds one value; in the second 9 of 10 is one row's; in the third none makes more than half.
    original = table(
        number("x", [5, 5, 5, 1, -9, 2, 3, 4]),
        number("y", [1, np.nan, np.nan, 3, 4, 5, 5, 6]),
        category("c", ["a", "a", "b", "b", "b", "a", None, None]),
    )
    return pair_of(original, original, np.arange(8))


def test_by_hand():
    found = averages(small(), ("x", "y", "c"), LABEL)
    x, y, c = found.columns
    assert (x.alike, x.dominated, x.smallest) == (3 / 8, 2 / 8, 2)
    # y: the one known value of the first group is told; 4 of 7 is more than half; of 5, 5, 6 none is.
    assert (y.alike, y.dominated, y.smallest) == pytest.approx((1 / 6, 2 / 6, 1))
    assert (c.alike, c.dominated, c.smallest) == (3 / 6, 0.0, 1)
    assert (found.groups, found.smallest, found.median, found.at_smallest, found.rows) == (3, 2, 3, 2 / 8, 8)


def test_groups_of_one_row_give_everything_away():
    found = averages(small(), ("x",), np.arange(8))
    assert (found.columns[0].alike, found.smallest, found.at_smallest) == (1.0, 1, 1.0)


def test_awkward_tables_have_figures():
    for _, pair in awkward_pairs():
        found = averages(pair, pair.names, np.arange(len(pair.original)) // 3)
        assert all(0 <= share <= 1 for one in found.columns for share in (one.alike, one.dominated))


def test_a_copy_keeps_means_and_variances():
    found = properties(copy_of(mixed(3)))
    assert found.kept
    assert found.numbers > 0
    assert found.mean_moved_most == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize(("errors", "kept"), [(0.0, 1), (0.09, 1), (0.11, 0)])
def test_a_mean_is_kept_within_a_tenth_of_its_standard_error(errors, kept):
    values = np.random.default_rng(1).normal(10, 3, 400)
    moved = values + errors * values.std() / np.sqrt(400)
    found = properties(pair_of(table(number("x", values, None)), table(number("x", moved, None)), np.arange(400)))
    assert (found.numbers, found.means_kept, found.variances_not_larger) == (1, kept, 1)
    assert found.mean_moved_most == pytest.approx(errors / 20, rel=0.01, abs=1e-9)


@pytest.mark.parametrize(("errors", "kept"), [(-9.0, 1), (0.09, 1), (0.11, 0)])
def test_a_variance_is_not_larger_within_a_tenth_of_its_standard_error(errors, kept):
    values = np.random.default_rng(1).normal(10, 3, 400)
    wide = values.mean() + (values - values.mean()) * np.sqrt(1 + errors * np.sqrt(2 / 400))
    found = properties(pair_of(table(number("x", values, None)), table(number("x", wide, None)), np.arange(400)))
    assert (found.means_kept, found.variances_not_larger) == (1, kept)


def test_averages_keep_the_mean_and_shrink_the_variance_and_noise_does_not():
    values = np.array([1.0, 3.0, 5.0, 7.0, 10.0, 14.0])
    mixed_up = table(number("x", values, None))
    halves = table(number("x", [2.0, 2.0, 6.0, 6.0, 12.0, 12.0], None))
    found = properties(pair_of(mixed_up, halves, np.arange(6)))
    assert (found.numbers, found.means_kept, found.variances_not_larger) == (1, 1, 1)
    assert found.variance_grown_most < 0
    wide = table(number("x", 2 * values, None))
    found = properties(pair_of(mixed_up, wide, np.arange(6)))
    assert (found.means_kept, found.variances_not_larger, found.kept) == (0, 0, False)
    assert found.variance_grown_most == pytest.approx(3.0)  # twice as wide: four times the variance
