"""Moved and drawn columns: unchanged values keep their text, new ones look like the old."""

import datetime

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from leafcover.table.arrow import from_typed
from leafcover.table.infer import from_text
from leafcover.table.io import read
from leafcover.table.output import replace_values, take_values
from leafcover.table.table import Column


def text_column(*texts, **how):
    return from_text("c", pa.array(texts, pa.string()), **how).column


@pytest.mark.parametrize(
    ("texts", "new", "expected"),
    [
        (["1", "2", "3"], [1, 5, 3], ["1", "5", "3"]),
        (["1.50", "2.25"], [1.5, 3], ["1.50", "3.00"]),
        (["1.5", "2.25"], [2, 2.5], ["2", "2.5"]),
        (["296.0", "242.0"], [296, 300], ["296.0", "300.0"]),
        (["007", "012"], [7, 5], ["007", "005"]),
        (["1,234", "7"], [1234567, -1000], ["1,234,567", "-1,000"]),
        (["1,234.50", "7.25"], [7.25, 1000.75], ["7.25", "1,000.75"]),
        ([" 1", "2"], [1, 3], ["1", "3"]),  # nothing tells that the first stayed
        (["1", "?", "2"], [2, np.nan, 1], ["2", "?", "1"]),
        (["0.1", "0.30000000000000004"], [0.2, 1e-20], ["0.2", "1e-20"]),
        (["1", "2"], [1.5, 2], ["1.5", "2"]),  # a mean may stand between the grid's points
        (["-0.05", "0.5"], [-0.25, -0.05], ["-0.25", "-0.05"]),
        (["1970-01-02", "1970-01-03"], [1, 30], ["1970-01-02", "1970-01-31"]),
        (["02.01.1970", "03.01.1970"], [30, 1], ["31.01.1970", "02.01.1970"]),
        (["01/13/1970", "01/14/1970"], [12, 0], ["01/13/1970", "01/01/1970"]),
        (["1970-01-01T00:00:01Z", "1970-01-01T00:00:02Z"], [59, 60], ["1970-01-01T00:00:59Z", "1970-01-01T00:01:00Z"]),
        (
            ["1970-01-01 00:00:01.5", "1970-01-01 00:00:02.0"],
            [0.2, 2],
            ["1970-01-01 00:00:00.2", "1970-01-01 00:00:02.0"],
        ),
        (
            ["9007199254740994", "9007199254740996"],
            [9007199254740992.0, 2.0**54],
            ["9007199254740992", "18014398509481984"],  # nor do digits that float64 has not
        ),
        (["1", "1180591620717411303424"], [3, 2e23], ["3", "199999999999999983222784"]),
    ],
)
def test_drawn_values_are_spelled_as_the_column_spells(texts, new, expected):
    column = text_column(*texts)
    result = replace_values(column, np.array(new, float))
    assert result.stored.to_pylist() == expected
    np.testing.assert_array_equal(result.values, new)
    assert column.stored.to_pylist() == texts  # never change what you were given


def test_drawn_codes_take_the_levels_text_and_missing_stays_as_it_was():
    column = text_column("b", "?", "a", "NA")
    result = replace_values(column, np.array([0, -1, 1, -1], np.int32))
    assert result.stored.to_pylist() == ["a", "?", "b", "NA"]


def test_a_newly_missing_value_gets_the_columns_own_token_or_is_null():
    assert replace_values(text_column("b", "?"), np.array([-1, -1], np.int32)).stored.to_pylist() == ["?", "?"]
    assert replace_values(text_column("b", "a"), np.array([-1, 0], np.int32)).stored.to_pylist() == [None, "a"]
    assert replace_values(text_column("1", "2"), np.array([np.nan, 2])).stored.to_pylist() == [None, "2"]


def test_a_grid_ends_where_a_value_leaves_it():
    assert replace_values(text_column("1", "2"), np.array([1.5, 2.0])).grid is None
    assert replace_values(text_column("1", "2"), np.array([3.0, 2.0])).grid is not None


def test_a_date_between_two_days_is_the_nearer_day():
    result = replace_values(text_column("1970-01-02", "1970-01-05"), np.array([2.6, 4.0]))
    assert result.values.tolist() == [3.0, 4.0]
    assert result.stored.to_pylist() == ["1970-01-04", "1970-01-05"]


def test_a_declared_level_nobody_had_can_be_drawn(tmp_path):
    (tmp_path / "x.names").write_text("yes, no.\njob: clerk, smith, unseen.\nn: continuous.\n")
    (tmp_path / "x.data").write_text("clerk,1,yes\n?,2,no\nsmith,3,no\n")
    column = read(tmp_path / "x.data")["job"]
    assert replace_values(column, np.array([2, -1, 0], np.int32)).stored.to_pylist() == ["unseen", "?", "clerk"]


def test_moved_takes_values_and_texts_from_other_rows():
    column = text_column("1.50", "?", "2.5")
    result = take_values(column, np.array([2, 2, 1]))
    assert result.stored.to_pylist() == ["2.5", "2.5", "?"]
    np.testing.assert_array_equal(result.values, [2.5, 2.5, np.nan])


@pytest.mark.parametrize(
    ("stored", "new", "expected"),
    [
        (pa.array([1, 2, None], pa.int16()), [5, 2, np.nan], [5, 2, None]),
        (pa.array([1.5, 2.5], pa.float32()), [0.5, 2.5], [0.5, 2.5]),
        (pa.array([0, 1], pa.date32()), [30, 1], [datetime.date(1970, 1, 31), datetime.date(1970, 1, 2)]),
        (pa.array([0, 86400000], pa.date64()), [2, 1], [datetime.date(1970, 1, 3), datetime.date(1970, 1, 2)]),
        (
            pa.array([0, 1], pa.timestamp("s")),
            [60, 1],
            [datetime.datetime(1970, 1, 1, 0, 1), datetime.datetime(1970, 1, 1, 0, 0, 1)],
        ),
    ],
)
def test_a_typed_column_keeps_its_type(stored, new, expected):
    result = replace_values(from_typed("c", stored).column, np.array(new, float))
    assert result.stored.type == stored.type
    assert result.stored.to_pylist() == expected


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
@pytest.mark.parametrize("zone", [None, "UTC", "Europe/Vienna"])
def test_timestamps_keep_unit_and_zone(unit, zone):
    stored = pa.array([10**9, 2 * 10**9], pa.int64()).cast(pa.timestamp("s", zone)).cast(pa.timestamp(unit, zone))
    result = replace_values(from_typed("c", stored).column, np.array([10.0**9, 1.5e9]))
    assert result.stored.type == stored.type
    assert result.stored.cast(pa.timestamp("s", zone)).cast(pa.int64()).to_pylist() == [10**9, 1_500_000_000]


def test_nanoseconds_move_exactly():
    stored = pa.array([1_700_000_000_123_456_789, 1_700_000_000_123_456_788], pa.timestamp("ns"))
    column = from_typed("c", stored).column
    assert take_values(column, np.array([1, 0])).stored.cast(pa.int64()).to_pylist() == [
        1_700_000_000_123_456_788,
        1_700_000_000_123_456_789,
    ]


@given(st.lists(st.integers(-(10**9), 10**9), min_size=2, max_size=20))
def test_decimals_are_exact(cents):
    scaled = pa.array(cents, pa.int64()).cast(pa.decimal128(19, 0))
    stored = pa.Array.from_buffers(pa.decimal128(18, 2), len(cents), scaled.buffers())
    column = from_typed("c", stored).column
    result = replace_values(column, column.values[::-1].copy())
    assert result.stored.to_pylist() == stored.to_pylist()[::-1]
    assert result.stored.type == stored.type


def test_means_of_whole_numbers_make_a_column_of_floats():
    result = replace_values(from_typed("c", pa.array([1, 2])).column, np.array([1.5, 2.0]))
    assert result.stored.to_pylist() == [1.5, 2.0]


def test_booleans_and_dictionaries_keep_their_type_and_order():
    flags = from_typed("c", pa.array([True, None, False])).column
    assert replace_values(flags, np.array([0, -1, 1], np.int32)).stored.to_pylist() == [False, None, True]
    stored = pa.DictionaryArray.from_arrays(pa.array([0, 1, 0], pa.int8()), pa.array(["low", "high"]), ordered=True)
    sizes = from_typed("c", stored).column
    assert sizes.levels == ("high", "low")
    result = replace_values(sizes, np.array([0, 1, 0], np.int32)).stored
    assert result.to_pylist() == ["high", "low", "high"]
    assert result.type == stored.type
    assert result.dictionary.to_pylist() == ["low", "high"]


def test_a_column_made_in_memory_needs_no_stored_form():
    column = Column("c", "number", np.array([1.0, 2.0]))
    assert replace_values(column, np.array([2.0, 1.0])).stored is None
    assert take_values(column, np.array([1, 0])).values.tolist() == [2.0, 1.0]
