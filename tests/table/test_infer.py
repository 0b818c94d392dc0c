"""What kind a text column is, and how it spells."""

import re

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from leafcover.table.arrow import from_typed
from leafcover.table.formatting import infer_grid, parse_numbers, text_of
from leafcover.table.infer import decimal_comma_warning, from_text, no_values_warning
from leafcover.table.table import Grid
from tests.table import strategies


def column(*texts, **how):
    return from_text("c", pa.array(texts, pa.string()), **how).column


def warnings(*texts, **how):
    return from_text("c", pa.array(texts, pa.string()), **how).warnings


@pytest.mark.parametrize("text", ["1", " 1", "1 ", "+1", "1.0", "1e0", "10E-1", "01", "1."])
def test_a_number_may_be_written_in_many_ways(text):
    assert column(text, "2").values.tolist() == [1.0, 2.0]


@pytest.mark.parametrize("text", ["1_0", "0x10", "1,", "12.34.5", "1d5", "--1", "1 2", "true", "nan(1)", "１"])
def test_what_is_no_number_makes_a_category_with_a_warning(text):
    assert column(text, "2").kind == "category"
    assert "category" in warnings(text, "2")[0]


@pytest.mark.parametrize("token", ["", "?", "NA", "NaN", "nan", " ? ", "  "])
def test_missing_tokens_are_missing_in_numbers_and_categories(token):
    assert column("1", token).missing.tolist() == [False, True]
    assert column("a", token).missing.tolist() == [False, True]
    assert column("a", token).levels == ("a",)


def test_own_tokens_replace_the_usual_ones_and_the_empty_cell_stays_missing():
    found = column("NA", "?", "none", "", tokens=["none"])
    assert found.levels == ("?", "NA")
    assert found.missing.tolist() == [False, False, True, True]
    assert column("nan", "1", tokens=[]).kind == "category"


def test_levels_are_the_raw_text_in_code_point_order():
    found = column("b", " a", "a", "Z", "é", "b")
    assert found.levels == (" a", "Z", "a", "b", "é")
    assert found.values.tolist() == [3, 0, 2, 1, 4, 3]


def test_a_column_without_known_values_is_left_as_it_is():
    found = from_text("c", pa.array(["?", "", "NA"]))
    assert (found.column.kind, found.column.levels) == ("category", ())
    assert found.column.stored.to_pylist() == ["?", "", "NA"]
    assert found.warnings == (no_values_warning("c"),)


@pytest.mark.parametrize(
    ("texts", "grid"),
    [
        (["1", "2"], Grid(0)),
        (["1.5", "2"], Grid(1)),
        (["2.50", "3.10"], Grid(1)),  # the grid comes from the values, the places from the text
        (["0.000000001", "1"], Grid(9)),
        (["0.0000000001", "1"], None),
        (["0.1", "1e15"], None),  # more grid points than float64 can count
        (["1e2", "1.5e-1"], Grid(2)),
    ],
)
def test_the_grid_is_the_coarsest_all_values_stand_on(texts, grid):
    assert column(*texts).grid == grid


def test_text_format_knows_places_zeros_and_commas():
    assert column("1.50", "2.25").text_format.fixed
    assert not column("1.5", "2.25").text_format.fixed
    assert column("007", "012").text_format.width == 3
    assert "category=['c']" in warnings("007", "012")[0]
    assert column("1,234", "7").text_format.thousands == ","
    assert column("1,234.5", "-1,000,000").values.tolist() == [1234.5, -1e6]
    assert column("0", "0.5", "-0.25").text_format.width == 0


def test_a_declared_category_keeps_leading_zeros():
    found = column("007", "7", category=True)
    assert found.levels == ("007", "7")


@pytest.mark.parametrize(
    "texts",
    [
        ["9007199254740993", "9007199254740992", "1", "?"],
        ["-9007199254740993", "2", "2", ""],
        ["9,007,199,254,740,993", "1", "2", "?"],
        ["1234567890123456789012345", "1234567890123456789012346", "1", "?"],
    ],
)
def test_integers_that_float64_cannot_hold_are_levels(texts):
    found = from_text("c", pa.array(texts))
    assert set(found.column.levels) == set(texts) - {"?", ""}
    assert "2^53" in found.warnings[0]
    assert found.is_too_long


def test_integers_beyond_two_to_the_53_that_are_exact_are_numbers():
    for texts in (["9007199254740994", "1"], [str(2**70), "0"], ["9.007199254740993e15", "1"], ["1e300", "2"]):
        found = from_text("c", pa.array(texts))
        assert (found.column.kind, found.column.grid, found.warnings) == ("number", None, ())
        assert found.column.values[0] == float(texts[0])


@pytest.mark.parametrize(
    ("texts", "kind", "values", "pattern"),
    [
        (["1970-01-02", "1969-12-31"], "date", [1, -1], "%Y-%m-%d"),
        (["1970/01/02", "?"], "date", [1, np.nan], "%Y/%m/%d"),
        (["02.01.1970", "31.12.1969"], "date", [1, -1], "%d.%m.%Y"),
        (["13/01/1970", "01/01/1970"], "date", [12, 0], "%d/%m/%Y"),
        (["01/13/1970", "01/01/1970"], "date", [12, 0], "%m/%d/%Y"),
        (["1970-01-01 00:01:00", "1970-01-01 00:00:01"], "time", [60, 1], "%Y-%m-%d %H:%M:%S"),
        (["1970-01-01T00:01:00Z", "1970-01-01T00:00:01Z"], "time", [60, 1], "%Y-%m-%dT%H:%M:%SZ"),
        (["1970-01-01T01:00:00+01:00", "1970-01-01T01:00:01+01:00"], "time", [0, 1], "%Y-%m-%dT%H:%M:%S+01:00"),
        (["1970-01-01 00:00:00.250", "1970-01-01 00:00:01.000"], "time", [0.25, 1], "%Y-%m-%d %H:%M:%S%f"),
    ],
)
def test_dates_and_times_are_found_and_spelled_back(texts, kind, values, pattern):
    found = column(*texts)
    assert found.kind == kind
    np.testing.assert_array_equal(found.values, values)
    assert found.text_format.pattern == pattern
    known = [text for text in texts if text != "?"]
    assert text_of(found, found.values[~found.missing]) == known


@pytest.mark.parametrize("text", ["01/02/1970", "1970-02-30", "1970-13-01", "1970-01-01 25:00:00", "1970-1-1"])
def test_what_is_no_certain_date_is_a_category(text):
    assert column(text, text).kind == "category"


def test_two_forms_of_dates_are_a_category():
    assert column("1970-01-02", "02.01.1970").kind == "category"


@given(st.lists(st.one_of(strategies.floats, strategies.decimals, strategies.integers), min_size=1, max_size=20))
def test_numbers_parse_as_python_parses_them(texts):
    assert parse_numbers(pa.array(texts), None).values.tolist() == [float(text) for text in texts]


@given(st.lists(st.integers(-(10**9), 10**9), min_size=1, max_size=20), st.integers(0, 6))
def test_values_on_a_decimal_grid_are_found_to_stand_on_it(whole, places):
    values = np.array([float(f"{number}e-{places}") for number in whole])
    grid = infer_grid(values)
    assert grid is not None
    assert grid.decimals <= places
    np.testing.assert_array_equal(grid.value(grid.index(values)), values)


def test_a_large_column_is_read_like_a_small_one():
    texts = [str(i % 3000) for i in range(5000)]
    assert column(*texts).values.tolist() == [float(text) for text in texts]
    few = ["?" if i % 5 == 0 else str(i % 3) for i in range(5000)]
    assert int(column(*few).missing.sum()) == 1000


def test_text_of_gives_the_files_own_text():
    assert text_of(column("1.0", "1.25"), np.array([1.0, 1.25, 3.5])) == ["1.0", "1.25", "3.5"]
    assert text_of(column(" 2", "4"), np.array([2.0, 4.0])) == ["2", "4"]
    assert text_of(column("01", "1", "10"), np.array([1.0])) == ["1"]  # the shortest, whatever the order


@given(st.lists(st.one_of(strategies.decimals, strategies.integers, st.just(" 7"), st.just("007")), min_size=2))
def test_text_of_many_values_is_text_of_each(texts):
    found = column(*texts)
    wanted = np.concatenate([found.values, found.values + 0.5])
    assert text_of(found, np.tile(wanted, 20)) == 20 * [text_of(found, np.array([value]))[0] for value in wanted]


@pytest.mark.parametrize("texts", [("3,14", "2,72", "?"), ("1.234,56", "12,5"), ("1 234,5", "7,0")])
def test_text_with_decimal_commas_in_typed_columns_stays_a_category_with_a_warning(texts):
    stored = pa.array([None if text == "?" else text for text in texts])
    assert from_typed("c", stored).column.kind == "category"
    assert from_typed("c", stored).warnings == (decimal_comma_warning("c"),)
    assert from_typed("c", stored, category=True).warnings == ()
    assert from_typed("c", pa.array(["1,234", "1,2,3"])).warnings == ()


DATES = ["2020-01-05", "2020-02-06", "2020-03-07", "2020-04-08"]


@pytest.mark.parametrize(
    ("texts", "figures"),
    [
        ((*DATES, "n/a"), "1 of 5 .*row 5"),
        (("31.02.2020", "05.01.2020", "06.01.2020"), "1 of 3 .*row 1"),
        ((*DATES, *DATES, "2020", "unknown", "?", "?", "x", "y"), r"4 of 12 .*rows 9, 10, 13, \.\.\."),
        ((*DATES, "05.01.2020"), "1 of 5 .*row 5"),
        (("2020-01-05 10:00:00", "2020-01-05 11:00:00", "2020-01-05"), "1 of 3 .*row 3"),
        (("2020-01-05 10:00:00", "2020-01-05 25:00:00"), "1 of 2 .*row 2"),
        (("1", "2", "30", "many"), "1 of 4 .*row 4"),
        (("1,5", "2,25", "30", "1.000,5", "many"), "1 of 5 .*row 5"),
    ],
)
def test_a_few_odd_values_among_dates_or_numbers_are_warned_of_with_their_rows(texts, figures):
    found = from_text("c", pa.array(texts))
    assert found.column.kind == "category"
    assert len(found.warnings) == 1
    assert re.search(figures, found.warnings[0])
    assert "missing={'c': 'TEXT'}" in found.warnings[0]
    assert not any(f"{text!r}" in found.warnings[0] for text in texts)
    assert warnings(*texts, category=True) == ()
    assert len(from_typed("c", pa.array(texts)).warnings) == ("-" in texts[0] or "2020" in texts[0])


@pytest.mark.parametrize(
    "texts",
    [
        ("03/04/2020", "05/06/2020"),
        ("2020-01-05 10:00:00", "2020-01-05 10:00:00.5"),
        ("2020-01-05 10:00:00Z", "2020-01-05 10:00:00+01:00"),
    ],
)
def test_dates_that_cannot_be_read_for_sure_are_warned_of(texts):
    assert column(*texts).kind == "category"
    assert len(warnings(*texts)) == 1
    assert "category=['c']" in warnings(*texts)[0]


def test_text_with_a_few_dates_or_numbers_is_not_taken_for_them():
    assert warnings("a", "b", "c", DATES[0]) == ()
    assert len(warnings("a", "b", "c", "1")) == 1  # as before: numbers and text


def test_warnings_hold_no_value():
    for texts in (["secret", "1"], ["0099", "7"], ["?", ""], ["9007199254740993", "1"]):
        for warning in warnings(*texts):
            assert not any(text in warning for text in ("secret", "0099", "9007199254740993"))


def test_a_number_can_mean_a_missing_value():
    text = pa.array(["31", "-9", "44", "-9", "60"])
    assert np.isnan(from_text("age", text, tokens=["-9"]).column.values).tolist() == [False, True, False, True, False]
    assert not np.isnan(from_text("age", text).column.values).any()
