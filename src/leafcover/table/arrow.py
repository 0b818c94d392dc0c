"""Parquet, Arrow and Feather files, and columns from typed pyarrow arrays.

Files are written without metadata or statistics, which could disclose original values.
"""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from leafcover.arrays import MISSING, Bools, Floats
from leafcover.errors import TableError
from leafcover.table.formatting import (
    SECOND_DIGITS,
    Timestamps,
    as_floats,
    has_decimal_commas,
    infer_grid,
    infer_time_grid,
    is_text,
    parse_timestamps,
    zone_of,
)
from leafcover.table.infer import (
    MISSING_TOKENS,
    InferredColumn,
    category_column,
    check_finite,
    combine_chunks,
    decimal_comma_warning,
    is_missing,
    large_integer_warning,
    no_values_warning,
    text_timestamps,
    token_numbers,
)
from leafcover.table.output import duration_seconds, time_of_day_text
from leafcover.table.table import MAX_GRID_POINTS, Column, Grid, RawColumn, Source, TextFormat


def read_parquet(path: Path) -> tuple[list[RawColumn], Source]:
    """The typed columns of a Parquet file."""
    import pyarrow.parquet

    try:
        table = pyarrow.parquet.ParquetFile(path).read()
    except (pa.ArrowException, OSError) as error:
        raise _read_error(path, "Parquet", error) from error
    return _raw_columns(table), Source("parquet")


def read_arrow(path: Path) -> tuple[list[RawColumn], Source]:
    """The typed columns of an Arrow file or stream, or of a Feather file."""
    import pyarrow.feather
    import pyarrow.ipc

    try:
        with path.open("rb") as file:
            start = file.read(6)
        if start == b"ARROW1":
            with pa.OSFile(str(path)) as data:
                table = pyarrow.ipc.open_file(data).read_all()
        elif start.startswith(b"FEA1"):
            table = pyarrow.feather.read_table(path, memory_map=False)
        else:
            with pa.OSFile(str(path)) as data:
                table = pyarrow.ipc.open_stream(data).read_all()
    except (pa.ArrowException, OSError) as error:
        raise _read_error(path, "Arrow", error) from error
    return _raw_columns(table), Source("arrow")


def _read_error(path: Path, kind: str, error: Exception) -> TableError:
    reason = str(error).strip().splitlines()[0].rstrip(".") if str(error).strip() else type(error).__name__
    return TableError(f"'{path}' is not a complete {kind} file ({reason}). Export it again, or correct its suffix.")


def _raw_columns(table: Any) -> list[RawColumn]:
    # A pandas index that was stored as a column is not part of the table.
    hidden = _index_names(table.schema.metadata)
    return [
        RawColumn(name, plain_type(column), typed=True)
        for name, column in zip(table.column_names, table.columns, strict=True)
        if name not in hidden
    ]


def _index_names(metadata: dict[bytes, bytes] | None) -> set[str]:
    import json

    if not metadata or b"pandas" not in metadata:
        return set()
    try:
        index = json.loads(metadata[b"pandas"]).get("index_columns", [])
    except ValueError:
        return set()
    return {name for name in index if isinstance(name, str) and name.startswith("__index_level_")}


def plain_type(column: Any) -> Any:
    """The column without extension type, run-end encoding or string views, for which pyarrow lacks functions."""
    if pa.types.is_string_view(column.type):
        return column.cast(pa.large_string())
    if isinstance(column.type, pa.BaseExtensionType):
        return column.cast(column.type.storage_type)
    if pa.types.is_run_end_encoded(column.type):
        return column.cast(column.type.value_type)
    return column


def write_parquet(names: list[str], columns: list[Any], target: Path) -> None:
    """Write typed columns as Parquet. Parquet stores only UTC, so other time zones become UTC."""
    import pyarrow.parquet

    pyarrow.parquet.write_table(
        pa.table(columns, names=names), target, write_statistics=False, store_schema=False, compression="zstd"
    )


def write_arrow(names: list[str], columns: list[Any], target: Path) -> None:
    """Write typed columns as an Arrow file (identical to Feather, version 2)."""
    import pyarrow.ipc

    table = pa.table(columns, names=names)
    with pa.OSFile(str(target), "wb") as file, pyarrow.ipc.new_file(file, table.schema) as out:
        out.write_table(table)


# Columns from typed arrays (Parquet, Arrow, frames). A type is a declaration, except that text may be dates or times.
#
# Integers, floats, decimals and durations (in seconds) are numbers. Dates and timestamps keep their unit and time
# zone. Booleans, text, times of day and dictionary-encoded columns (pandas or polars categoricals) are categories. Text
# that looks like a number stays text: pandas and polars convert numbers when they read a file, so it was meant. They
# leave dates as text, so text in which every known value is a date or time is read as in a text file, and stays text in
# the output.


def from_typed(
    name: str, stored: Any, *, tokens: Sequence[str] | None = None, category: bool = False
) -> InferredColumn:
    """A column from a typed pyarrow array; ``tokens`` are texts that mean a missing value (none by default).

    A token is compared by value with numbers, dates and times. The stored array keeps it, and so does the output.

    >>> from_typed("married", pa.array([True, None, False])).column.levels
    ('false', 'true')
    >>> from_typed("born", pa.array(["2020-01-05", None])).column.kind
    'date'
    >>> from_typed("cents", pa.array([1.25, 3.5])).column.grid
    Grid(decimals=2, every=1)
    """
    kind = stored.type
    if pa.types.is_dictionary(kind):
        return _category(name, _unify_dictionary(stored), tokens)
    _refuse_nested(name, kind)
    stored = combine_chunks(stored)
    if stored.null_count == len(stored):
        column = Column(name, "category", np.full(len(stored), MISSING, np.int32), stored=stored)
        return InferredColumn(column, (no_values_warning(name),))
    if category:
        return _category(name, stored, tokens)
    if is_text(stored) and (parsed := _text_timestamps(stored, tokens)) is not None:
        return InferredColumn(text_timestamps(name, stored, parsed))
    if _is_label(kind):
        found = _category(name, stored, tokens)
        commas = (decimal_comma_warning(name),) if has_decimal_commas(found.column.levels) else ()
        return replace(found, warnings=(*found.warnings, *commas))
    if tokens and pa.types.is_duration(kind):
        raise TableError(f"Column {name!r} has durations, which cannot mean missing. Replace them by nulls.")
    if tokens:
        return _without_tokens(name, stored, tokens)
    if pa.types.is_integer(kind):
        return _integers(name, stored)
    if pa.types.is_duration(kind):
        seconds = duration_seconds(stored)
        grid = infer_grid(seconds[~np.isnan(seconds)])
        return InferredColumn(Column(name, "number", seconds, (), grid, None, stored))
    if pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        return _floats(name, stored)
    if pa.types.is_date(kind):
        days = as_floats(stored.cast(pa.date32()).cast(pa.int32()))
        return InferredColumn(Column(name, "date", days, (), Grid(0), None, stored))
    if pa.types.is_timestamp(kind):
        return _times(name, stored, _seconds(stored))
    raise TableError(
        f"Column {name!r} has the unsupported type {kind}. Convert it to a number, text or date, or drop it."
    )


def _without_tokens(name: str, stored: Any, tokens: Sequence[str]) -> InferredColumn:
    """A column of numbers, dates or times in which the values of tokens are missing."""
    kind = stored.type
    gone = _is_token(stored, tokens)
    found = from_typed(name, pc.if_else(pa.array(gone), pa.scalar(None, kind), stored) if gone.any() else stored)
    moments = pa.types.is_date(kind) or pa.types.is_timestamp(kind)
    texts = [token for token in tokens if token.strip() not in MISSING_TOKENS]
    used = sum(_moment(token) is not None for token in texts) if moments else len(token_numbers(texts))
    unused = (
        f"Column {name!r} has the type {kind}: texts given for its missing values that are not of this type are "
        f"ignored{'. Write a date as YYYY-MM-DD' if moments else ''}."
    )
    warnings = (*found.warnings, unused) if used < len(texts) else found.warnings
    return InferredColumn(replace(found.column, stored=stored), warnings)


def _text_timestamps(stored: Any, tokens: Sequence[str] | None) -> Timestamps | None:
    """Dates or times in a text column, missing where a text file has them missing; None if a known text is neither."""
    missing = is_missing(stored, MISSING_TOKENS if tokens is None else tokens)
    return parse_timestamps(stored, missing if missing.any() else None)


def _is_token(stored: Any, tokens: Sequence[str]) -> Bools:
    """Which numbers, dates or times are the value of a token for missing values, in any spelling: -9 and -9.0."""
    kind = stored.type
    none = np.zeros(len(stored), np.bool_)
    if pa.types.is_date(kind) or pa.types.is_timestamp(kind):
        return np.logical_or.reduce([none, *(_is_moment(stored, token) for token in tokens)])
    numbers = token_numbers(tokens)
    if not numbers or not (pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)):
        return none  # a duration, whose unit a token does not name, among them
    if pa.types.is_integer(kind):  # exactly: float64 cannot tell large integers apart
        ends = np.iinfo(kind.to_pandas_dtype())
        whole = [int(n) for n in numbers if ends.min <= n <= ends.max and n == n.to_integral_value()]
        found = pc.is_in(stored, value_set=pa.array(whole, kind))
        return np.asarray(found.to_numpy(zero_copy_only=False), np.bool_)
    return np.isin(_float_values(stored), np.array(numbers, np.float64))


def _is_moment(stored: Any, token: str) -> Bools:
    """Which dates or times a token names. A date names its midnight; without a zone, in the column's own time zone."""
    found = _moment(token)
    if found is None:
        return np.zeros(len(stored), np.bool_)
    moment = float(found.values[0]) * (86_400.0 if found.kind == "date" else 1.0)
    if pa.types.is_date(stored.type):
        return np.asarray(as_floats(stored.cast(pa.date32()).cast(pa.int32())) * 86_400.0 == moment)
    local = stored.type.tz is not None and not (found.kind == "time" and zone_of(found.text_format.pattern))
    return np.asarray(_seconds(pc.local_timestamp(stored) if local else stored) == moment)


def _moment(token: str) -> Timestamps | None:
    return parse_timestamps(pa.array([token.strip()], pa.string()), None)


def _seconds(stored: Any) -> Floats:
    return as_floats(stored.cast(pa.int64())) / 10.0 ** SECOND_DIGITS[stored.type.unit]


def _is_label(kind: Any) -> bool:
    return bool(
        pa.types.is_boolean(kind)
        or pa.types.is_string(kind)
        or pa.types.is_large_string(kind)
        or pa.types.is_string_view(kind)
        or pa.types.is_time(kind)
    )


def _refuse_nested(name: str, kind: Any) -> None:
    if pa.types.is_nested(kind):
        raise TableError(f"Column {name!r} has the nested type {kind}. Convert it to single values, or drop it.")


def _unify_dictionary(stored: Any) -> Any:
    if isinstance(stored, pa.ChunkedArray):
        chunks = stored.unify_dictionaries().chunks
        return pa.concat_arrays(chunks) if chunks else pa.array([], stored.type)
    return stored


def _category(name: str, stored: Any, tokens: Sequence[str] | None) -> InferredColumn:
    """A category whose levels are the values as text; the stored array keeps its type."""
    encoded = stored if pa.types.is_dictionary(stored.type) else stored.dictionary_encode()
    values = encoded.dictionary
    _refuse_nested(name, values.type)
    try:
        texts = time_of_day_text(values) if pa.types.is_time(values.type) else values.cast(pa.string())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise TableError(
            f"Column {name!r} has the unsupported type {values.type}. Convert it to text, or drop it."
        ) from error
    used = np.zeros(len(texts), np.bool_)
    used[np.asarray(encoded.indices.drop_null(), np.int64)] = True
    empty = np.asarray(texts.is_null())
    missing: Bools = ~used | empty
    if tokens is not None:
        missing |= is_missing(texts.fill_null(""), tokens) | _is_token(values, tokens)
    indices = encoded.indices.cast(pa.int32())
    plain = pa.DictionaryArray.from_arrays(indices, texts.fill_null(""))
    column = category_column(name, plain, missing)
    warnings = () if column.levels else (no_values_warning(name),)
    return InferredColumn(Column(name, "category", column.values, column.levels, stored=stored), warnings)


def _integers(name: str, stored: Any) -> InferredColumn:
    values = as_floats(stored)
    largest = max(abs(end or 0) for end in pc.min_max(stored).as_py().values())
    if largest >= MAX_GRID_POINTS:
        return InferredColumn(Column(name, "number", values, (), None, None, stored), (large_integer_warning(name),))
    return InferredColumn(Column(name, "number", values, (), Grid(0), None, stored))


def _float_values(stored: Any) -> Floats:
    values: Floats = np.asarray(stored.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False), np.float64)
    if pa.types.is_decimal(stored.type):
        # Via text, which parses to the nearest float64; pyarrow's own cast of 0.69 does not.
        values = np.asarray(stored.cast(pa.string()).cast(pa.float64()).to_numpy(zero_copy_only=False))
    if pa.types.is_float32(stored.type) or pa.types.is_float16(stored.type):
        # Users see the shortest text of a float32: 0.1, not 0.10000000149011612.
        values = np.asarray(
            stored.cast(pa.float32()).cast(pa.string()).cast(pa.float64()).to_numpy(zero_copy_only=False)
        )
    return values


def _floats(name: str, stored: Any) -> InferredColumn:
    values = _float_values(stored)
    check_finite(name, values)
    known = values[~np.isnan(values)]
    if not len(known):
        column = Column(name, "category", np.full(len(stored), MISSING, np.int32), stored=stored)
        return InferredColumn(column, (no_values_warning(name),))
    return InferredColumn(Column(name, "number", values, (), infer_grid(known), None, stored))


def _times(name: str, stored: Any, seconds: Floats) -> InferredColumn:
    """Times on a grid of whole seconds or of their decimal fractions, down to microseconds.

    Today's time in nanoseconds needs more than 53 bits, so such a column has no grid: existing values are moved
    exactly, and a new value is written to the microsecond.
    """
    grid = infer_time_grid(seconds[~np.isnan(seconds)])
    places = 6 if grid is None else min(grid.decimals, 6)
    pattern = "%Y-%m-%d %H:%M:%S" + ("%f" if places else "") + ("Z" if stored.type.tz else "")
    return InferredColumn(Column(name, "time", seconds, (), grid, TextFormat(decimals=places, pattern=pattern), stored))
