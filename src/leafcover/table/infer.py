"""From stored text to a column: what kind it is, decided by every known value.

The order of trials is the order of cost: a cast to numbers of the raw text, then of the tidied text, then dates;
what is left is a category. Columns with few distinct texts are tried on those texts only.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from leafcover.arrays import MISSING, Bools, Codes, Rows
from leafcover.errors import TableError
from leafcover.table.formatting import (
    PLAIN,
    ParsedNumbers,
    infer_grid,
    infer_text_format,
    infer_time_grid,
    parse_numbers,
    parse_timestamps,
)
from leafcover.table.table import Column, Grid, RawColumn, TextFormat

MISSING_TOKENS = ("", "?", "NA", "NaN", "nan")  # missing in CSV and TSV; ARFF and C4.5 know only '?' and the empty cell
FEW_DISTINCT_SHARE = 0.25  # a sample with fewer distinct texts than this share of it: work on the distinct ones
SAMPLE = 2000


@dataclass(frozen=True)
class InferredColumn:
    """A column and what its reading warned of. Warnings never hold a value: they go into published files."""

    column: Column
    warnings: tuple[str, ...] = ()


def from_text(
    name: str, stored: Any, *, tokens: Sequence[str] = MISSING_TOKENS, category: bool = False
) -> InferredColumn:
    """A column from the raw text of a file; ``category`` declares it one.

    >>> from_text("age", pa.array(["31", "?", "4"])).column.values
    array([31., nan,  4.])
    >>> from_text("job", pa.array(["b", "?", "a"])).column.levels
    ('a', 'b')
    """
    stored = combine_chunks(stored)
    if category:
        return _category(name, stored.dictionary_encode(), tokens)
    encoded = stored.dictionary_encode() if _few_distinct(stored) else None
    kept = stored if encoded is None else encoded
    text = stored if encoded is None else encoded.dictionary
    rows = None if encoded is None else np.asarray(encoded.indices)
    number = parse_numbers(text, None)  # most columns have no missing token: one cast and done
    missing = None
    if number is None:
        missing = is_missing(text, tokens)
        number = parse_numbers(text, missing) if missing.any() else None
    if missing is not None and missing.all():
        column = Column(name, "category", np.full(len(stored), MISSING, np.int32), stored=kept)
        return InferredColumn(column, (f"Column {name!r} has no known value; it is left as it is.",))
    if number is not None:
        return _number(name, kept, number, rows)
    found = parse_timestamps(text, missing)
    if found is not None:
        values = found.values if rows is None else found.values[rows]
        grid = Grid(0) if found.kind == "date" else infer_time_grid(found.values[~np.isnan(found.values)])
        return InferredColumn(Column(name, found.kind, values, (), grid, found.text_format, kept))
    return _category(name, stored.dictionary_encode() if encoded is None else encoded, tokens)


def from_declared(raw: RawColumn, tokens: Sequence[str]) -> InferredColumn:
    """A column whose kind and levels its file declares; a value outside the declaration is refused."""
    stored = combine_chunks(raw.stored)
    if raw.declared == "number":
        return _declared_number(raw.name, stored, tokens)
    encoded = stored.dictionary_encode()
    missing = is_missing(encoded.dictionary, tokens)
    if raw.levels is None:
        return _category(raw.name, encoded, tokens)
    levels = pa.array(raw.levels, pa.string())
    stray = ~np.asarray(pc.is_in(encoded.dictionary, value_set=levels), np.bool_) & ~missing
    if stray.any():
        place = int(np.argmax(stray[np.asarray(encoded.indices)]))
        raise TableError(
            f"Column {raw.name!r} holds {stored[place].as_py()!r} in row {place + 1}, which its declaration does not "
            f"list. Add it there, or mend the row."
        )
    # Declared levels nobody has come along: a tree has a branch for each, as C4.5 does.
    texts = pa.concat_arrays([levels, encoded.dictionary.filter(pa.array(missing)).cast(pa.string())])
    at = np.asarray(pc.index_in(encoded.dictionary, value_set=texts), np.int32)[np.asarray(encoded.indices)]
    codes = np.where(at < len(levels), at, np.int32(MISSING))
    both = pa.DictionaryArray.from_arrays(pa.array(at), texts)
    return InferredColumn(Column(raw.name, "category", codes, raw.levels, stored=both))


def _declared_number(name: str, stored: Any, tokens: Sequence[str]) -> InferredColumn:
    missing = is_missing(stored, tokens)
    if missing.all():
        column = Column(
            name, "number", np.full(len(stored), np.nan), grid=Grid(0), text_format=TextFormat(), stored=stored
        )
        return InferredColumn(column, (f"Column {name!r} has no known value; it is left as it is.",))
    number = parse_numbers(stored, missing if missing.any() else None)
    if number is None:
        plain = pc.match_substring_regex(stored, PLAIN).to_numpy(zero_copy_only=False)
        row = int(np.argmax(~(np.asarray(plain, np.bool_) | missing)))
        raise TableError(
            f"Column {name!r} is declared a number, but row {row + 1} holds {stored[row].as_py()!r}. "
            f"Mend the row or the declaration."
        )
    return InferredColumn(_number(name, stored, number, None).column)


def combine_chunks(stored: Any) -> Any:
    """One array instead of chunks; large offsets only where the text needs them."""
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
    """Which texts stand for no value, spaces around them aside; the empty cell always does."""
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
            f"Column {name!r} has leading zeros; it is read as a number. If it is a code, add --category {name}."
        )
    if grid is None and text_format.fixed and not text_format.decimals:
        warnings.append(large_integer_warning(name))
    return InferredColumn(Column(name, "number", values, (), grid, text_format, stored), tuple(warnings))


def large_integer_warning(name: str) -> str:
    """The warning for whole numbers that float64 cannot tell apart."""
    return (
        f"Column {name!r} has whole numbers beyond 2^53: they are rounded before they are averaged or moved. "
        f"If it is a code, add --category {name}."
    )


def check_finite(name: str, values: Any) -> None:
    """Refuse infinities: no grid, box or mean can hold them."""
    infinite = np.isinf(values)
    if infinite.any():
        row = int(np.argmax(infinite)) + 1
        raise TableError(
            f"Column {name!r} holds an infinite number in row {row}. Replace it by a number or leave the cell empty."
        )


def _category(name: str, encoded: Any, tokens: Sequence[str]) -> InferredColumn:
    missing = is_missing(encoded.dictionary, tokens)
    column = category_column(name, encoded, missing)
    if not column.levels:
        return InferredColumn(column, (f"Column {name!r} has no known value; it is left as it is.",))
    numbers = pc.match_substring_regex(pa.array(column.levels), PLAIN)
    some = pc.any(numbers).as_py() and not pc.all(numbers).as_py()
    mixed = (f"Column {name!r} mixes numbers and text; it is read as a category.",) if some else ()
    return InferredColumn(column, mixed)


def category_column(name: str, encoded: Any, missing: Bools) -> Column:
    """A category from dictionary-encoded text: levels in code point order, then the missing texts."""
    texts = encoded.dictionary
    # UTF-8 sorts by code point; known texts come first, so that a known row's index is its code.
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
