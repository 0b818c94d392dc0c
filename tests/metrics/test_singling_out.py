"""Descriptions that fit one released row: by hand, what each must hold, and both ends."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given

from leafcover.errors import ValueOutOfRange
from leafcover.metrics.disclosure.singling_out import _by_more, _by_one_column, _fits, _scaled, _view, singling_out
from leafcover.metrics.estimates import wilson
from leafcover.metrics.pair import pair_of
from tests.metrics.attacks import awkward_pairs, check_sound, with_control
from tests.metrics.pairs import apart, copy_of
from tests.tables import category, mixed, mixed_tables, number, table


def test_one_column_by_hand():
    original = table(number("x", [1, 2, 2.1, 10]))
    released = table(number("x", [1, 2, 3, 4]))
    control = table(number("x", [0, 1, 3, 3.2]))
    found = singling_out(pair_of(original, released, np.arange(4), control=control)).univariate
    # Released values stand 1 apart, so the descriptions are: up to 1.5; 1.5 to 2.5; 2.5 to 3.5; from 3.5 on.
    # Of the original they fit 1, 2, 0 and 1 rows, of the control 2, 0, 2 and 0.
    assert found.main.value == 0.5
    assert found.control.value == 0.0
    assert found.main.tries == 4
    # Each fits a quarter of the released rows: exactly one of 4 random rows fits with 4 * 1/4 * (3/4)^3.
    assert found.baseline.value == pytest.approx(0.75**3)


def test_two_columns_by_hand():
    # x and c alone tell nobody apart, together everybody; the release has the letters of the first pair exchanged,
    # which fits the same four rows, and those of the second pair made alike, which fits none alone.
    original = table(category("x", ["1", "1", "2", "2"]), category("c", ["a", "b", "a", "b"]))
    told = singling_out(pair_of(original, original.take([1, 0, 3, 2]), np.arange(4)))
    assert told.multivariate.main.value == 1.0
    assert told.univariate.main == wilson(0, 0)
    # Each column's condition fits half of the rows: a quarter, were they independent.
    assert told.multivariate.baseline.value == pytest.approx(0.75**3)
    released = table(category("x", ["1", "1", "2", "2"]), category("c", ["a", "a", "b", "b"]))
    assert singling_out(pair_of(original, released, np.arange(4))).multivariate.main.tries == 0


@given(mixed_tables(max_rows=20))
def test_every_description_fits_one_released_row(released):
    view = _view(released, released, released.names)
    more, alone = _by_more(view, 20, 4), _by_one_column(view, 20)
    for description in [*more, *alone]:
        assert _fits(view, description).sum() == 1
    assert all(len({c.column for c in d}) == 1 for d in alone)
    # every value that occurs once is described
    single = 0
    for column in view.columns:
        _, counts = np.unique(column, return_counts=True)
        single += (counts == 1).sum()
    assert len(alone) == min(single, 20)


def test_a_description_is_as_wide_as_half_the_gap():
    released = table(number("x", [0, 4, 10, 10]), number("y", [0, 2, 0, 1], 1))
    view = _view(released, released, released.names)  # x in tenths, y in halves
    widths = {round(float(c.high - c.low), 9) for d in _by_more(view, 50, 2) for c in d if np.isfinite(c.high - c.low)}
    # from (0, 0) the nearest other is (10, 1) with 1 and 0.5, or (10, 0) with 1, or (4, 2) with 0.4 and 1: 1 each;
    # from (4, 2): (10, 1) with 0.6 and 0.5 is nearest, 0.6; from (10, 0) and (10, 1) each other: 0.5
    assert widths <= {1.0, 0.6, 0.5}
    assert 0.6 in widths


def test_a_copy_singles_out_and_columns_shuffled_apart_do_not():
    copied = singling_out(with_control(copy_of, rows=1000), predicates=400)
    assert copied.multivariate.main.value == 1.0
    assert copied.univariate.main.value == 1.0
    assert copied.multivariate.above_control.low > 0.4
    shuffled = singling_out(with_control(apart, rows=1000), predicates=400)
    assert shuffled.multivariate.main.low <= shuffled.multivariate.baseline.high
    assert shuffled.multivariate.baseline.low <= shuffled.multivariate.main.high
    assert shuffled.multivariate.above_control.value < 0.15  # not 0, for the reason below
    # A shuffled column still has the values that only one person has: it singles out as the copy does.
    assert shuffled.univariate.main.value == 1.0
    assert shuffled.univariate.above_control.low > 0.4


def test_release_and_original_are_whole_whatever_the_control_has():
    small = copy_of(mixed(1, rows=600), control=mixed(2, rows=200))
    found = singling_out(small, predicates=50)
    assert (found.rows, found.control_rows) == (600, 200)
    assert (found.univariate.main.value, found.multivariate.main.value) == (1.0, 1.0)
    assert singling_out(replace(small, paired=False), predicates=50) == found
    without = singling_out(replace(small, control=None), predicates=50)
    assert (without.univariate.main, without.multivariate.main) == (found.univariate.main, found.multivariate.main)
    large = copy_of(mixed(1, rows=200), control=mixed(2, rows=600))
    assert singling_out(large, predicates=50).control_rows == 200
    for rows in (20, 99):
        tiny = singling_out(copy_of(mixed(1, rows=300), control=mixed(2, rows=rows)), predicates=50)
        assert (tiny.rows, tiny.control_rows, tiny.multivariate.control) == (300, 0, None)
    tenth = singling_out(copy_of(mixed(1, rows=1200), control=mixed(2, rows=120)), predicates=20)
    assert tenth.univariate.control is None


@pytest.mark.parametrize("share", [0.25, 0.5, 0.8])
@pytest.mark.parametrize("weights", ["one", "several", "spread"])
def test_a_smaller_control_is_scaled_to_the_rows_of_the_original(share, weights):
    rng, rows, many = np.random.default_rng(1), 4_000, 1_000
    expected = {"one": np.ones(many), "several": rng.choice([0, 0.3, 1, 3], many), "spread": rng.gamma(0.3, 5, many)}
    chance = expected[weights] / rows
    truth = (rows * chance * (1 - chance) ** (rows - 1)).mean()
    found = [_scaled(rng.binomial(int(share * rows), chance), int(share * rows), rows) for _ in range(8)]
    assert np.mean([one.value for one in found]) == pytest.approx(truth, abs=0.04)
    assert sum(one.low <= truth <= one.high for one in found) >= 6
    cut = np.mean(rng.binomial(int(share * rows), chance) == 1)  # what a smaller table would show
    if share < 0.5 and weights == "one":
        assert abs(cut - truth) > 0.04


def test_a_control_of_half_the_rows_agrees_with_one_of_all_rows():
    original, rows = mixed(1, rows=1500), np.arange(1500)
    every = mixed(2, rows=1500)
    whole = singling_out(copy_of(original, control=every), predicates=400)
    half = singling_out(copy_of(original, control=every.take(rows[:750])), predicates=400)
    for one, other in ((whole.univariate, half.univariate), (whole.multivariate, half.multivariate)):
        assert other.control.low <= one.control.value <= other.control.high
        assert other.main == one.main


def test_of_a_large_release_fewer_descriptions_are_tried():
    whole = copy_of(mixed(1, rows=600))
    assert singling_out(whole, predicates=300, most=300).multivariate.main.tries == 150
    assert singling_out(whole, predicates=300, most=50).multivariate.main.tries == 100
    assert singling_out(whole, predicates=300).multivariate.main.tries == 300


def test_awkward_tables_have_figures():
    for _, pair in awkward_pairs():
        check_sound(singling_out(pair, predicates=50))


def test_wrong_numbers_are_refused():
    with pytest.raises(ValueOutOfRange, match="at least"):
        singling_out(copy_of(mixed(1)), predicates=0)
