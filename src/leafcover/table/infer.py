"""Infer the kind of a text column from all of its known values.

Kinds are tried in order of cost: numbers from the raw text, numbers from the trimmed text, dates and times, and
finally categories. If a column has few distinct texts, only those are parsed.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from leafcover.arrays import MISSING, Bools, Codes, Rows
from leafcover.errors import TableError
from leafcover.table.formatting import (
    PLAIN,
    ParsedNumbers,
    Timestamps,
    has_decimal_commas,
    infer_grid,
    infer_text_format,
    infer_time_grid,
    parse_numbers,
    parse_timestamps,
)
from leafcover.table.table import Column, Grid, RawColumn, TextFormat

MISSING_TOKENS = ("", "?", "NA", "NaN", "nan")  # in CSV and TSV; ARFF and C4.5 recognise only '?' and the empty cell
FEW_DISTINCT_SHARE = 0.25  # if no larger share of a sample is distinct, only the distinct texts are parsed
SAMPLE = 2000


@dataclass(frozen=True)
class InferredColumn:
    """A column and the warnings about it. Warnings never contain a value, because they appear in published files."""

    column: Column
    warnings: tuple[str, ...] = ()


def from_text(
    name: str, stored: Any, *, tokens: Sequence[str] = MISSING_TOKENS, category: bool = False
) -> InferredColumn:
    """Infer a column from the raw text of a file; ``category`` declares it a category.

    >>> from_text("age", pa.array(["31", "?", "4"])).column.values
    array([31., nan,  4.])
    >>> from_text("job", pa.array(["b", "?", "a"])).column.levels
    ('a', 'b')
    """
    stored = combine_chunks(stored)
    if category:
        return _category(name, stored.dictionary_encode(), tokens, declared=True)
    encoded = stored.dictionary_encode() if _few_distinct(stored) else None
    kept = stored if encoded is None else encoded
    text = stored if encoded is None else encoded.dictionary
    rows = None if encoded is None else np.asarray(encoded.indices)
    missing = None
    # For most columns one cast is enough: they have no missing values, and no number means a missing one.
    numeric = tokens is not MISSING_TOKENS and bool(token_numbers(tokens))
    number = None if numeric else parse_numbers(text, None)
    if number is None:
        missing = is_missing(text, tokens)
        number = _known_numbers(text, missing, tokens) if numeric or missing.any() else None
    if missing is not None and missing.all():
        column = Column(name, "category", np.full(len(stored), MISSING, np.int32), stored=kept)
        return InferredColumn(column, (no_values_warning(name),))
    if number is not None:
        return _number(name, kept, number, rows)
    found = parse_timestamps(text, missing)
    if found is not None:
        return InferredColumn(text_timestamps(name, kept, found, rows))
    return _category(name, stored.dictionary_encode() if encoded is None else encoded, tokens)


def text_timestamps(name: str, stored: Any, found: Timestamps, rows: Rows | None = None) -> Column:
    """A column of dates or times that are stored as text; ``rows`` are indices of the parsed values."""
    values = found.values if rows is None else found.values[rows]
    grid = Grid(0) if found.kind == "date" else infer_time_grid(found.values[~np.isnan(found.values)])
    return Column(name, found.kind, values, (), grid, found.text_format, stored)


def token_numbers(tokens: Sequence[str]) -> list[Decimal]:
    """The tokens for missing values that are numbers, such as -9; nan is missing anyway.

    >>> token_numbers(["-9", "?", "NaN", " 1,000"])
    [Decimal('-9'), Decimal('1000')]
    """
    numbers = [token for token in tokens if parse_numbers(pa.array([token], pa.string()), None) is not None]
    return [Decimal(token.strip().replace(",", "")) for token in numbers]


def _known_numbers(text: Any, missing: Bools, tokens: Sequence[str]) -> ParsedNumbers | None:
    """Parse numbers. A token that is a number is missing in any spelling: -9 and -9.0; ``missing`` is updated."""
    number = parse_numbers(text, missing if missing.any() else None)
    sentinels = token_numbers(tokens)
    if number is None or not sentinels:
        return number
    respelt = np.isin(number.values, np.array(sentinels, np.float64))
    if not respelt.any():
        return number
    missing |= respelt
    return parse_numbers(text, missing)


def from_declared(raw: RawColumn, tokens: Sequence[str]) -> InferredColumn:
    """A column with the kind and levels that its file declares; a value outside the declaration is refused."""
    stored = combine_chunks(raw.stored)
    if raw.declared == "number":
        return _declared_number(raw.name, stored, tokens)
    encoded = stored.dictionary_encode()
    missing = is_missing(encoded.dictionary, tokens)
    if raw.levels is None:
        return _category(raw.name, encoded, tokens, declared=True)
    levels = pa.array(raw.levels, pa.string())
    undeclared = ~np.asarray(pc.is_in(encoded.dictionary, value_set=levels), np.bool_) & ~missing
    if undeclared.any():
        row = int(np.argmax(undeclared[np.asarray(encoded.indices)]))
        raise TableError(
            f"Column {raw.name!r} has the undeclared value {stored[row].as_py()!r} in row {row + 1}. "
            f"Declare the value or fix the row."
        )
    # Keep declared levels that never occur: a tree has a branch for each, as in C4.5.
    texts = pa.concat_arrays([levels, encoded.dictionary.filter(pa.array(missing)).cast(pa.string())])
    at = np.asarray(pc.index_in(encoded.dictionary, value_set=texts), np.int32)[np.asarray(encoded.indices)]
    codes = np.where(at < len(levels), at, np.int32(MISSING))
    both = pa.DictionaryArray.from_arrays(pa.array(at), texts)
    return InferredColumn(Column(raw.name, "category", codes, raw.levels, stored=both))


def _declared_number(name: str, stored: Any, tokens: Sequence[str]) -> InferredColumn:
    missing = is_missing(stored, tokens)
    number = _known_numbers(stored, missing, tokens)
    if missing.all():
        column = Column(
            name, "number", np.full(len(stored), np.nan), grid=Grid(0), text_format=TextFormat(), stored=stored
        )
        return InferredColumn(column, (no_values_warning(name),))
    if number is None:
        plain = pc.match_substring_regex(stored, PLAIN).to_numpy(zero_copy_only=False)
        row = int(np.argmax(~(np.asarray(plain, np.bool_) | missing)))
        raise TableError(
            f"Column {name!r} is declared numeric, but row {row + 1} contains {stored[row].as_py()!r}. "
            f"Fix the row or the declaration."
        )
    return InferredColumn(_number(name, stored, number, None).column)


def combine_chunks(stored: Any) -> Any:
    """One array instead of chunks, with large offsets only if the text needs them."""
    if not isinstance(stored, pa.ChunkedArray):
        return stored
    if stored.num_chunks == 1:
        return stored.chunk(0)
    if pa.types.is_string(stored.type) and stored.nbytes > 2**31 - 2**20:
        stored = stored.cast(pa.large_string())
    return pa.concat_arrays(stored.chunks) if stored.num_chunks else pa.array([], stored.type)


def _few_distinct(stored: Any) -> bool:
    sample = stored.slice(0, SAMPLE)
    return len(sample) > 0 and len(sample.unique()) <= max(2, len(sample) * FEW_DISTINCT_SHARE)


def is_missing(text: Any, tokens: Sequence[str]) -> Bools:
    """Which texts mean a missing value, ignoring surrounding spaces. The empty cell is always missing."""
    wanted = pa.array([*{"", *(token.strip() for token in tokens)}], text.type)
    trimmed = pc.utf8_trim_whitespace(text)
    return np.asarray(pc.is_in(trimmed, value_set=wanted).to_numpy(zero_copy_only=False), np.bool_)


def _number(name: str, stored: Any, number: ParsedNumbers, rows: Rows | None) -> InferredColumn:
    values = number.values if rows is None else number.values[rows]
    check_finite(name, values)
    known = number.values[~np.isnan(number.values)]
    grid = infer_grid(known)
    text_format = infer_text_format(number, grid)
    warnings = []
    if text_format.width:
        warnings.append(
            f"Column {name!r} has leading zeros and is read as a number. "
            f"If it is a code, read it with category=[{name!r}]."
        )
    if grid is None and text_format.fixed and not text_format.decimals:
        warnings.append(large_integer_warning(name))
    return InferredColumn(Column(name, "number", values, (), grid, text_format, stored), tuple(warnings))


def no_values_warning(name: str) -> str:
    """The warning about a column without any known value."""
    return f"Column {name!r} has no known values and is left unchanged."


def large_integer_warning(name: str) -> str:
    """The warning about integers that float64 cannot represent exactly."""
    return (
        f"Column {name!r} has integers beyond 2^53, which are rounded before they are averaged or perturbed. "
        f"If it is a code, read it with category=[{name!r}]."
    )


def decimal_comma_warning(name: str) -> str:
    """The warning about numbers with decimal commas, which are not read as numbers."""
    return (
        f"Column {name!r} has numbers with decimal commas and is read as a category. "
        f"Write them with decimal points, or accept the category with category=[{name!r}]."
    )


def check_finite(name: str, values: Any) -> None:
    """Refuse infinite numbers, which have no place in a grid, a box or a mean."""
    infinite = np.isinf(values)
    if infinite.any():
        row = int(np.argmax(infinite)) + 1
        raise TableError(
            f"Column {name!r} has an infinite number in row {row}. Replace it with a finite number or an empty cell."
        )


def _category(name: str, encoded: Any, tokens: Sequence[str], *, declared: bool = False) -> InferredColumn:
    missing = is_missing(encoded.dictionary, tokens)
    column = category_column(name, encoded, missing)
    if not column.levels:
        return InferredColumn(column, (no_values_warning(name),))
    if has_decimal_commas(column.levels):
        return InferredColumn(column, () if declared else (decimal_comma_warning(name),))
    numbers = pc.match_substring_regex(pa.array(column.levels), PLAIN)
    some = pc.any(numbers).as_py() and not pc.all(numbers).as_py()
    mixed = (f"Column {name!r} mixes numbers and text and is read as a category.",) if some and not declared else ()
    return InferredColumn(column, mixed)


def category_column(name: str, encoded: Any, missing: Bools) -> Column:
    """A category column from dictionary-encoded text: levels in code point order, followed by the missing tokens."""
    texts = encoded.dictionary
    # UTF-8 sorts by code point. Known texts come first, so that the index of a known value is its code.
    order = np.lexsort((np.asarray(pc.rank(texts, tiebreaker="first")), missing))
    place = np.empty(len(texts), np.int32)
    place[order] = np.arange(len(texts), dtype=np.int32)
    known = len(texts) - int(missing.sum())
    indices = encoded.indices
    empty = indices.is_null()
    at: Codes = place[np.asarray(indices.fill_null(0))] if len(texts) else np.zeros(len(indices), np.int32)
    nulls = np.asarray(empty.to_numpy(zero_copy_only=False), np.bool_)
    sorted_texts = texts.take(pa.array(order))
    stored = pa.DictionaryArray.from_arrays(pa.array(at, mask=nulls if nulls.any() else None), sorted_texts)
    codes = np.where(nulls | (at >= known), np.int32(MISSING), at)
    return Column(name, "category", codes, tuple(sorted_texts[:known].to_pylist()), stored=stored)
