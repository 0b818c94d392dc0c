"""A column on its way out: as text for text formats, typed for the others; nothing but its values leaves.

What leaves holds no unused level, no value under a null and no metadata.
"""

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from leafcover.fast.arrays import MISSING
from leafcover.table.change import typed
from leafcover.table.dates import zone_of
from leafcover.table.table import Column
from leafcover.table.text import is_text, plain_text, spelled


def as_text(column: Column, *, missing: str = "", replace_tokens: bool = False) -> Any:
    """The column as a text array without nulls; ``missing`` where there is no value.

    Text keeps its own missing tokens unless ``replace_tokens``: ARFF and C4.5 know only '?'.
    """
    stored = column.stored
    if stored is None:
        text = _fresh_text(column)
    elif is_text(stored):
        text = stored
    elif column.is_category:
        text = _fresh_text(column)
    else:
        text = _number_text(column)
    if replace_tokens and bool(column.missing.any()):
        text = pc.if_else(pa.array(column.missing), None, plain_text(text))
    if text.null_count:
        text = plain_text(text).fill_null(missing)
    if pa.types.is_dictionary(text.type):
        return text if pa.types.is_string(text.type.value_type) else text.cast(pa.dictionary(pa.int32(), pa.string()))
    return text if pa.types.is_string(text.type) or pa.types.is_large_string(text.type) else text.cast(pa.string())


def _fresh_text(column: Column) -> Any:
    if column.is_category:
        codes = pa.array(column.values, pa.int32(), mask=column.values == MISSING)
        return pa.DictionaryArray.from_arrays(codes, pa.array(column.levels, pa.string()))
    return spelled(column, column.values)


def _number_text(column: Column) -> Any:
    """Typed numbers as text: whole numbers and decimals exactly, floats by their shortest text."""
    kind = column.stored.type
    if pa.types.is_integer(kind) or (pa.types.is_decimal(kind) and kind.scale <= 6):
        return column.stored.cast(pa.string())
    return spelled(column, column.values)


def as_typed(column: Column, *, own_type: bool) -> Any:
    """The column as a typed array: with ``own_type`` the one it came with, else the one its kind suggests."""
    if column.stored is None or not own_type:
        return _fresh_typed(column)
    return bare(column.stored)


def _fresh_typed(column: Column) -> Any:
    if column.is_category:
        return plain_text(_fresh_text(column))
    if column.kind == "date":
        return typed("date", pa.date32(), column.values)
    if column.kind == "time":
        zone = zone_of(column.spelling.pattern) if column.spelling else ""
        unit = "us" if column.spelling and column.spelling.decimals else "s"
        return typed("time", pa.timestamp(unit, tz="UTC" if zone == "Z" else zone or None), column.values)
    if column.grid is not None and column.grid.decimals == 0:
        return typed("number", pa.int64(), column.values)
    spelling = column.spelling
    if column.grid is None and spelling and spelling.fixed and not spelling.decimals and column.stored is not None:
        exact = pc.if_else(pa.array(column.missing), None, plain_text(column.stored))
        try:
            return pc.utf8_trim_whitespace(exact).cast(pa.int64())
        except pa.ArrowInvalid:  # beyond int64, or with commas
            pass
    return typed("number", pa.float64(), column.values)


def observed_levels(column: Column) -> tuple[str, ...]:
    """The levels that occur, in code point order."""
    seen = np.zeros(len(column.levels) + 1, np.bool_)
    seen[column.values] = True  # a missing value marks the last place, which no level has
    return tuple(level for level, there in zip(column.levels, seen, strict=False) if there)


def bare(stored: Any) -> Any:
    """The same values in fresh memory: no unused dictionary level, nothing left under a null."""
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
