"""Distances to the closest records by hand, and at their ends: copies, and fresh rows of the same population."""

import numpy as np
import pytest

from leafcover.metrics.disclosure.nearest_record import distances, ratios
from leafcover.metrics.pair import pair_of
from tests.metrics.pairs import apart, awkward, copy_of, reordered, tables
from tests.tables import category, mixed, number, table


def small(control=None):
    # x has the range 0 .. 10, so a step of 1 is 0.1; another category is 1
    original = table(number("x", [0, 4, 10]), category("c", "aab"))
    released = table(number("x", [0, 3, 9]), category("c", "aaa"))
    return pair_of(original, released, np.arange(3), control=control)


def test_distances_by_hand():
    # released (0, a): to 0a 0, to 4a 0.4, to 10b 2: closest 0, ratio 0
    # released (3, a): 0.3, 0.1, 1.7: closest 0.1, ratio 1/3
    # released (9, a): 0.9, 0.5, 1.1: closest 0.5, ratio 5/9
    found = distances(small())
    assert found.closest.median == pytest.approx(0.1)
    assert found.ratio.median == pytest.approx(1 / 3)
    assert found.closest.fifth == pytest.approx(np.quantile([0, 0.1, 0.5], 0.05))
    assert found.ratio.fifth == pytest.approx(np.quantile([0, 1 / 3, 5 / 9], 0.05))
    assert found.copies.value == pytest.approx(1 / 3)
    assert (found.control_closest, found.control_ratio, found.control_copies, found.closer) == (None,) * 4


def test_the_control_by_hand():
    # control (4, a): equal to an original; (8, b): 0.2 from 10b, then 1.4; (3, a): 0.1, then 0.3
    control = table(number("x", [4, 8, 3]), category("c", "aba"))
    found = distances(small(control))
    assert found.control_closest.median == pytest.approx(0.1)
    assert found.control_ratio.median == pytest.approx(1 / 7)
    assert found.control_copies.value == pytest.approx(1 / 3)
    # released 0a is nearer to the original (0 against 0.3), 3a to the control (0.1 against 0), 9a to neither: 4a is in
    # both, 0.5 away, and a tie is half. (1 + 0 + 0.5) / 3
    assert found.closer.value == pytest.approx(0.5)
    assert found.closer.tries == 3


def test_the_ratio_of_a_row_with_twins_is_one():
    assert list(ratios(np.array([0.0, 0.0, 0.2]), np.array([0.0, 0.5, 0.2]))) == [1.0, 0.0, 1.0]


def test_a_copy_against_its_control():
    whole = mixed(3, rows=500, missing=0.0)
    original, control = whole.take(np.arange(300)), whole.take(np.arange(300, 500))
    found = distances(copy_of(original, control=control))
    assert (found.closest.median, found.copies.value) == (0.0, 1.0)
    assert found.control_closest.fifth > 0
    assert found.control_copies.value == 0.0
    # the original's part is cut to the control's 200 rows, so 200/300 of the copies are found at distance 0
    assert found.closer.low > 0.75


def test_fresh_rows_are_as_near_to_the_original_as_to_the_control():
    whole = mixed(4, rows=1200, missing=0.1)
    original, control, fresh = (whole.take(np.arange(*part)) for part in ((0, 400), (400, 600), (800, 1200)))
    found = distances(pair_of(original, fresh, None, control=control))  # of the original, too, 200 rows are taken
    assert found.closer.value == pytest.approx(0.5, abs=0.1)
    assert found.closest.median == pytest.approx(found.control_closest.median, abs=0.15)
    assert found.copies.value == 0.0


def test_shuffled_columns_are_no_nearer_than_the_control():
    whole = mixed(5, rows=800, missing=0.0)
    original, control = whole.take(np.arange(400)), whole.take(np.arange(400, 800))
    found = distances(apart(original, control=control))
    assert found.closer.value == pytest.approx(0.5, abs=0.15)  # rows share neighbours, so it varies more than Wilson's
    assert found.closest.fifth > 0
    assert found.ratio.median > 0.5


@pytest.mark.parametrize("name", awkward())
def test_awkward_tables_give_finite_distances(name):
    original = awkward()[name]
    for pair in (copy_of(original, control=original.take(np.arange(9))), apart(original), copy_of(original.take([0]))):
        found = distances(pair)
        values = [found.closest.fifth, found.closest.median, found.ratio.fifth, found.ratio.median, found.copies.value]
        assert np.isfinite(values).all()
    empty = distances(copy_of(original, control=original.take(np.arange(0))))
    assert empty.closer is None


def test_order_does_not_matter_and_samples_say_so():
    pair = apart(tables()["with missing values"], control=tables()["full"])
    first, again = distances(pair), distances(reordered(pair))
    assert first.closest.median == pytest.approx(again.closest.median)
    assert first.ratio.fifth == pytest.approx(again.ratio.fifth)
    assert first.closer.value == pytest.approx(again.closer.value)
    assert distances(pair, most=70).how == "a sample of 70 of 400 rows"
    assert distances(pair, comparisons=8_000).rows == 20
    assert distances(pair, columns=["age"]).columns == ("age",)
