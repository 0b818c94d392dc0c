"""New values for a column, and the stored form in which columns are written to files and frames.

`replace_values` formats every value anew in the column's format, even one that did not change. If an unchanged value
kept its own text, an unusual format (or digits beyond float64) would reveal that it did not change:

    text    value   new value   new text
    7.50    7.5     7.5         7.50
    8.0     8.0     8.0         8.00
    08.00   8.0     9.1         9.10
"""

from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from leafcover.arrays import MISSING, Array, Bools, Codes, Floats, Rows
from leafcover.table.formatting import SECOND_DIGITS, as_floats, format_values, is_text, plain_text, zone_of
from leafcover.table.table import Column, Grid

LARGEST_UINT64 = np.nextafter(2.0**64, 0.0)  # the largest number below 2^64


def take_values(column: Column, source_rows: Rows) -> Column:
    """The column in which row i holds the value of row ``source_rows[i]``, including its text."""
    return column.take(source_rows)


def replace_values(column: Column, values: Array) -> Column:
    """The column with new values (or codes), all formatted anew; a value that stays missing keeps its token.

    >>> price = Column("price", "number", np.array([1.5, 2.0, np.nan]), stored=pa.array(["1.50", "2", "?"]))
    >>> replace_values(price, np.array([1.5, 3.25, np.nan])).stored.to_pylist()
    ['1.5', '3.25', '?']
    """
    if column.is_category:
        codes = np.asarray(values, np.int32)
        stored = None if column.stored is None else _stored_codes(column, codes)
        return replace(column, values=codes, stored=stored)
    new = np.asarray(values, np.float64)
    if column.grid is not None and column.kind != "number":
        new = _snap_to_grid(column.grid, new)
    if column.grid is not None and column.kind == "number" and not _on_grid(column, new):
        stored = None if column.stored is None else _stored_numbers(column, new, continuous=True)
        return replace(column, values=new, stored=stored, grid=None)
    stored = None if column.stored is None else _stored_numbers(column, new, continuous=column.grid is None)
    return replace(column, values=new, stored=stored)


def new_values(column: Column, values: Array) -> Column:
    """A column of other rows in the format of a column; every missing value has the token of the column's first one.

    With `replace_values` a row would keep the token of the row that was in its place, which shows where values were
    missing.

    >>> price = Column("price", "number", np.array([1.5, np.nan, 2.0]), stored=pa.array(["1.50", "?", "2"]))
    >>> new_values(price, np.array([np.nan, np.nan, 3.0, 1.5])).stored.to_pylist()
    ['?', '?', '3', '1.5']
    """
    gone = values == MISSING if column.is_category else np.isnan(values)
    known, missing = (np.flatnonzero(one) for one in (~column.missing, column.missing))
    first, first_missing = (int((one if len(one) else other)[0]) for one, other in ((known, missing), (missing, known)))
    return replace_values(column.take(np.where(gone, first_missing, first)), values)


def as_recoded(column: Column, values: Floats, least: Floats | None = None, most: Floats | None = None) -> Floats:
    """Numbers that were computed for a recoded column, as recoding leaves them, none below ``least`` or above ``most``.

    Where recoding would move a number again or make it missing, the column's nearest value takes its place.
    """
    if column.coarser is None:
        return values
    new, own = column.coarser(values), np.unique(column.values[~column.missing])
    moved = ~np.isnan(values) & (column.coarser(new) != new)
    if moved.any():
        new[moved] = own[np.searchsorted(own[:-1] / 2 + own[1:] / 2, values[moved])]
    if least is not None and (low := (new < least) & (least <= own[-1:].max(initial=-np.inf))).any():
        new[low] = own[np.searchsorted(own, least[low])]
    if most is not None and (high := (new > most) & (most >= own[:1].min(initial=np.inf))).any():
        new[high] = own[np.searchsorted(own, most[high], side="right") - 1]
    return new


def _snap_to_grid(grid: Grid, values: Floats) -> Floats:
    """Round to the nearest day or second: unlike a number, a date between two dates cannot be written."""
    known = ~np.isnan(values)
    snapped = values.copy()
    snapped[known] = grid.value(grid.index(values[known]))
    return snapped


def _on_grid(column: Column, values: Floats) -> bool:
    assert column.grid is not None
    known = values[~np.isnan(values)]
    return bool(np.array_equal(column.grid.value(column.grid.index(known)), known))


def _stored_codes(column: Column, codes: Codes) -> Any:
    stored = column.stored
    gone = codes == MISSING
    if is_text(stored) and pa.types.is_dictionary(stored.type) and _starts_with_levels(stored, column.levels):
        # The index of a known value is its code. A missing value keeps its token; a newly missing one gets the first,
        # or null.
        old = np.asarray(stored.indices.fill_null(0), np.int32)
        nulls = np.asarray(stored.indices.is_null())
        fresh = gone & ~column.missing
        texts = stored.dictionary
        token = len(column.levels) if len(texts) > len(column.levels) else None
        index = np.where(fresh, np.int32(token or 0), np.where(gone, old, codes))
        mask = (nulls & gone) | fresh if token is None else nulls & gone
        return pa.DictionaryArray.from_arrays(pa.array(index, mask=mask if mask.any() else None), texts)
    if pa.types.is_dictionary(stored.type):  # keep the dictionary's own order of levels
        position = pc.index_in(pa.array(column.levels, pa.string()), value_set=stored.dictionary.cast(pa.string()))
        index = position.take(pa.array(codes, mask=gone)).cast(stored.type.index_type)
        keep = column.missing & gone  # keep a missing token given by the user
        index = pc.if_else(pa.array(keep), stored.indices, index) if keep.any() else index
        return pa.DictionaryArray.from_arrays(index, stored.dictionary, ordered=stored.type.ordered)
    texts = pa.array(column.levels, pa.string())
    levels = parse_times_of_day(texts, stored.type) if pa.types.is_time(stored.type) else texts.cast(stored.type)
    new = levels.take(pa.array(codes, mask=gone))
    keep = column.missing & gone  # keep the token or null
    return pc.if_else(pa.array(keep), stored, new) if keep.any() else new


def _starts_with_levels(stored: Any, levels: tuple[str, ...]) -> bool:
    texts = stored.dictionary
    return len(texts) >= len(levels) and texts[: len(levels)].to_pylist() == list(levels)


def _stored_numbers(column: Column, values: Floats, *, continuous: bool) -> Any:
    written = ~(np.isnan(values) & np.isnan(column.values))
    if not written.any():
        return column.stored
    if is_text(column.stored):
        text = plain_text(column.stored)
        new = format_values(column, values[written])
        return _replace_where(text, written, new.cast(text.type))
    if continuous and pa.types.is_integer(column.stored.type) and not _all_whole(values):
        return pa.array(values, from_pandas=True)
    if continuous and pa.types.is_decimal(column.stored.type):
        return pa.array(values, from_pandas=True)
    if pa.types.is_integer(column.stored.type) and not _fits(values, column.stored.type):
        return to_arrow(column.kind, pa.int64(), values)
    return _replace_where(column.stored, written, to_arrow(column.kind, column.stored.type, values[written]))


def _replace_where(stored: Any, written: Bools, new: Any) -> Any:
    return new if written.all() else pc.replace_with_mask(stored, pa.array(written), new)


def _fits(values: Floats, to: Any) -> bool:
    """Whether whole numbers fit an integer type; a perturbed value may exceed the range of int8, for example."""
    ends = np.iinfo(to.to_pandas_dtype())
    known = values[~np.isnan(values)]
    return not len(known) or bool(ends.min <= known.min() and known.max() <= ends.max)


def _all_whole(values: Floats) -> bool:
    known = values[~np.isnan(values)]
    return bool(np.array_equal(np.rint(known), known))


def to_arrow(kind: str, to: Any, values: Floats) -> Any:
    """Values as a pyarrow array of a given type; nan becomes null.

    >>> to_arrow("date", pa.date32(), np.array([0.0, np.nan])).to_pylist()
    [datetime.date(1970, 1, 1), None]
    """
    missing = np.isnan(values)
    mask = missing if missing.any() else None
    if pa.types.is_floating(to):
        return pa.array(values, mask=mask).cast(to, safe=False)
    if pa.types.is_decimal(to):
        return pa.array(values, mask=mask).cast(to, safe=False)
    counted = np.where(missing, 0, values)
    factor = 1
    if pa.types.is_timestamp(to):
        digits = SECOND_DIGITS[to.unit]
        counted = counted * 10.0 ** min(digits, 6)  # float64 represents today's microseconds, but not nanoseconds
        factor = 1000 if digits == 9 else 1
    elif pa.types.is_duration(to):
        counted = counted * 10.0 ** SECOND_DIGITS[to.unit]
    elif pa.types.is_date64(to):
        factor = 86_400_000
    if pa.types.is_uint64(to):
        return pa.array(np.clip(np.rint(counted), 0.0, LARGEST_UINT64).astype(np.uint64), mask=mask)
    whole = pa.array(np.rint(counted).astype(np.int64) * factor, mask=mask)
    if pa.types.is_date32(to):
        return whole.cast(pa.int32()).cast(to)
    return whole.cast(to)


# The stored form of a column in an output: text for text formats, typed for the others.
#
# The output contains only the column's values: no unused levels, no values hidden under nulls, no metadata.


def as_text(column: Column, *, missing: str = "", replace_tokens: bool = False) -> Any:
    """The column as a text array without nulls; missing values become ``missing``.

    Text keeps its own missing tokens unless ``replace_tokens`` is set: ARFF and C4.5 recognise only '?'.
    """
    stored = column.stored
    if stored is None:
        text = _format_text(column)
    elif is_text(stored):
        text = stored
    elif column.is_category:
        text = _format_text(column)
    else:
        text = _number_text(column)
    if replace_tokens and bool(column.missing.any()):
        text = pc.if_else(pa.array(column.missing), None, plain_text(text))
    if text.null_count:
        text = plain_text(text).fill_null(missing)
    if pa.types.is_dictionary(text.type):
        return text if pa.types.is_string(text.type.value_type) else text.cast(pa.dictionary(pa.int32(), pa.string()))
    return text if pa.types.is_string(text.type) or pa.types.is_large_string(text.type) else text.cast(pa.string())


def _format_text(column: Column) -> Any:
    if column.is_category:
        codes = pa.array(column.values, pa.int32(), mask=column.values == MISSING)
        return pa.DictionaryArray.from_arrays(codes, pa.array(column.levels, pa.string()))
    return format_values(column, column.values)


def _number_text(column: Column) -> Any:
    """Typed numbers as text: integers and decimals exactly, floats as their shortest text."""
    kind = column.stored.type
    if pa.types.is_integer(kind) or (pa.types.is_decimal(kind) and kind.scale <= 6):
        return column.stored.cast(pa.string())
    values = column.values
    if pa.types.is_floating(kind) and column.missing.any():  # a number that means a missing value stays
        values = np.where(column.missing, np.asarray(column.stored.to_numpy(zero_copy_only=False), np.float64), values)
    return format_values(column, values)


def as_typed(column: Column, *, own_type: bool) -> Any:
    """The column as a typed array: of its original type with ``own_type``, otherwise of a type that suits its kind."""
    if column.stored is None or not own_type:
        return _infer_typed(column)
    return compact(column.stored)


def _infer_typed(column: Column) -> Any:
    if column.is_category:
        return plain_text(_format_text(column))
    if column.kind == "date":
        return to_arrow("date", pa.date32(), column.values)
    if column.kind == "time":
        zone = zone_of(column.text_format.pattern) if column.text_format else ""
        unit = "us" if column.text_format and column.text_format.decimals else "s"
        return to_arrow("time", pa.timestamp(unit, tz="UTC" if zone == "Z" else zone or None), column.values)
    if column.grid is not None and column.grid.decimals == 0:
        return to_arrow("number", pa.int64(), column.values)
    text_format = column.text_format
    if (
        column.grid is None
        and text_format
        and text_format.fixed
        and not text_format.decimals
        and column.stored is not None
    ):
        exact = pc.if_else(pa.array(column.missing), None, plain_text(column.stored))
        try:
            return pc.utf8_trim_whitespace(exact).cast(pa.int64())
        except pa.ArrowInvalid:  # beyond int64, or with commas
            pass
    return to_arrow("number", pa.float64(), column.values)


def observed_levels(column: Column) -> tuple[str, ...]:
    """The levels that occur, in code point order."""
    seen = np.zeros(len(column.levels) + 1, np.bool_)
    seen[column.values] = True  # a missing value (-1) marks the extra last element
    return tuple(level for level, there in zip(column.levels, seen, strict=False) if there)


def compact(stored: Any) -> Any:
    """The same values in new memory, without unused dictionary levels or values hidden under nulls."""
    if pa.types.is_dictionary(stored.type):
        used = np.unique(np.asarray(stored.indices.drop_null(), np.int64))
        new = np.zeros(len(stored.dictionary), np.int64)
        new[used] = np.arange(len(used))
        nulls = np.asarray(stored.indices.is_null())
        at = np.asarray(stored.indices.fill_null(0), np.int64) if len(stored.dictionary) else np.zeros(len(stored), int)
        indices = pa.array(np.where(nulls, 0, new[at] if len(new) else at), mask=nulls if nulls.any() else None)
        return pa.DictionaryArray.from_arrays(
            indices.cast(stored.type.index_type), stored.dictionary.take(pa.array(used)), ordered=stored.type.ordered
        )
    if not stored.null_count:
        return stored
    rows = np.arange(len(stored))
    return stored.take(pa.array(rows, mask=np.asarray(stored.is_null())))


# Durations and times of day, the same whatever their unit.


def duration_seconds(stored: Any) -> Floats:
    """Durations in seconds, whatever their unit; nan where missing."""
    return as_floats(stored.cast(pa.int64())) / 10.0 ** SECOND_DIGITS[stored.type.unit]


def seconds_of_day(times: Any) -> Floats:
    """Times of day in seconds, whatever their unit; nan where missing."""
    return as_floats(times.cast(pa.time64("us"), safe=False).cast(pa.int64())) / 1e6


def time_of_day_text(times: Any) -> Any:
    """Times of day as text without needless zeros: equal times have equal texts, whatever their unit.

    >>> time_of_day_text(pa.array([1_500_000, 60_000_000], pa.time64("us"))).to_pylist()
    ['00:00:01.5', '00:01:00']
    """
    shorter = pc.replace_substring_regex(times.cast(pa.string()), r"(\.[0-9]*?)0+$", r"\1")
    return pc.replace_substring_regex(shorter, r"\.$", "")


def parse_times_of_day(texts: Any, kind: Any) -> Any:
    """Texts such as 14:30:00.5 as times of a type; raises ArrowInvalid if one is not a time.

    >>> parse_times_of_day(pa.array(["00:00:01.5", None]), pa.time32("ms"))[0]
    <pyarrow.Time32Scalar: datetime.time(0, 0, 1, 500000)>
    """
    moments = pc.binary_join_element_wise("1970-01-01 ", texts, "").cast(pa.timestamp(kind.unit))
    counts = moments.cast(pa.int64())
    return (counts.cast(pa.int32()) if pa.types.is_time32(kind) else counts).cast(kind)
