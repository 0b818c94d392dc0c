"""What stayed, by hand, and at the two ends."""

import numpy as np
import pytest

from leafcover.metrics.disclosure.interval_disclosure import unmoved
from leafcover.metrics.pair import pair_of
from tests.metrics.pairs import apart, awkward, copy_of, reordered, tables
from tests.tables import category, number, table


def small():
    # rows          0    1    2    3
    # x      before 1    2    ?    ?    after 1 3 ? 5: of two known one stayed, of two missing one
    # c      before a    b    a    ?    after a b b ?: of three known two stayed, of one missing one
    original = table(number("x", [1, 2, np.nan, np.nan]), category("c", ["a", "b", "a", None]))
    released = table(number("x", [1, 3, np.nan, 5]), category("c", ["a", "b", "b", None]))
    return pair_of(original, released, np.arange(4))


def test_what_stayed_by_hand():
    found = unmoved(small(), fixed={"x": 0.25}, widths={"c": 0.5}, single_cells=0.1, pure_cells=0.2)
    x, c = found.columns
    assert (x.unchanged.value, x.unchanged.tries, x.missing.value, x.missing.tries) == (0.5, 2, 0.5, 2)
    assert (c.unchanged.value, c.unchanged.tries, c.missing.value) == (pytest.approx(2 / 3), 3, 1.0)
    assert (x.fixed, x.width, c.fixed, c.width) == (0.25, None, None, 0.5)
    assert (found.single_cells, found.pure_cells) == (0.1, 0.2)
    # rows kept 2, 1, 1, 1 of two values: the mean share is 5/8; one row of four is whole
    assert found.values.value == pytest.approx(5 / 8)
    assert found.whole.value == pytest.approx(1 / 4)


def test_without_pairs_nothing_is_said():
    original = tables()["full"]
    assert unmoved(pair_of(original, original, None)) is None


@pytest.mark.parametrize("name", [*tables(), *awkward()])
def test_a_copy_stays_whole_and_shuffled_columns_stay_by_chance(name):
    original = {**tables(), **awkward()}[name]
    copied = unmoved(copy_of(original))
    assert copied.whole.value == copied.values.value == 1.0
    assert all(c.unchanged.value == 1.0 for c in copied.columns if c.unchanged.tries)
    assert all(c.missing is None or c.missing.value == 1.0 for c in copied.columns)
    for column in unmoved(apart(original)).columns:
        assert abs(column.unchanged.value - column.chance) < 4 * np.sqrt(0.5 / max(column.unchanged.tries, 1))


def test_order_does_not_matter():
    pair = small()
    first, again = unmoved(pair), unmoved(reordered(pair))
    assert first.values == again.values
    assert {c.column: c.unchanged for c in first.columns} == {c.column: c.unchanged for c in again.columns}
