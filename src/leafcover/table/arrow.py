"""Parquet, Arrow and Feather files, and columns from typed pyarrow arrays.

Files are written without statistics, which could disclose original values. Their metadata hold the types of the
released columns and nothing else; no metadata of the input are copied.
"""

import json
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
    long_integers,
    no_values_warning,
    odd_values_warnings,
    text_timestamps,
    token_numbers,
)
from leafcover.table.output import duration_seconds, time_of_day_text
from leafcover.table.table import MAX_GRID_POINTS, Column, Format, Grid, RawColumn, Source, TextFormat


def read_parquet(path: Path) -> tuple[list[RawColumn], Source]:
    """The typed columns of a Parquet file."""
    import pyarrow.parquet

    try:
        table = pyarrow.parquet.ParquetFile(path).read()
    except (pa.ArrowException, OSError) as error:
        raise _read_error(path, "Parquet", error) from error
    return _raw_columns(table), _source("parquet", table.schema)


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
    return _raw_columns(table), _source("arrow", table.schema)


def _read_error(path: Path, kind: str, error: Exception) -> TableError:
    reason = str(error).strip().splitlines()[0].rstrip(".") if str(error).strip() else type(error).__name__
    return TableError(f"'{path}' is not a complete {kind} file ({reason}). Export it again, or correct its suffix.")


def _raw_columns(table: Any) -> list[RawColumn]:
    index = _pandas_metadata(table.schema).get("index_columns", [])
    return [
        RawColumn(name, plain_type(column), typed=True, is_index=name in index)
        for name, column in zip(table.column_names, table.columns, strict=True)
        if not (name in index and name.startswith("__index_level_"))
    ]


def _source(kind: Format, schema: Any) -> Source:
    """The types of the columns, those of pandas and the enums of polars, which only metadata tell from others."""
    listed = _pandas_metadata(schema).get("columns", [])
    return Source(
        kind,
        types={field.name: field.type for field in schema},
        pandas_types={one["field_name"]: str(one["numpy_type"]) for one in listed if one.get("field_name")},
        enums=frozenset(field.name for field in schema if field.metadata and ENUM in field.metadata),
    )


def _pandas_metadata(schema: Any) -> dict[str, Any]:
    try:
        found = json.loads((schema.metadata or {}).get(b"pandas", b"{}"))
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def plain_type(column: Any) -> Any:
    """The column without extension type, run-end encoding or string views, for which pyarrow lacks functions."""
    kind = column.type
    if pa.types.is_string_view(kind):
        return column.cast(pa.large_string())
    if pa.types.is_dictionary(kind) and pa.types.is_string_view(kind.value_type):
        return column.cast(pa.dictionary(kind.index_type, pa.large_string(), kind.ordered))
    if isinstance(kind, pa.BaseExtensionType):
        return column.cast(kind.storage_type)
    if pa.types.is_run_end_encoded(kind):
        return column.cast(kind.value_type)
    return column


def restore_type(array: Any, kind: Any) -> Any:
    """Released values with the original type of their column, as far as they are of that type."""
    if kind is None or array.type == kind or pa.types.is_floating(array.type):
        return array
    if is_text(array) and (pa.types.is_integer(kind) or pa.types.is_boolean(kind)):
        return array  # pooled levels of numbers that were read as a category
    return array if was_widened(array, kind) or pa.types.is_run_end_encoded(kind) else array.cast(kind)


def was_widened(array: Any, kind: Any) -> bool:
    """Whether the perturbed integers did not fit the original type and became int64."""
    return bool(array.type == pa.int64()) and str(kind).lower().removesuffix("[pyarrow]") not in ("int64", "int128")


def write_parquet(table: Any, target: Path) -> None:
    """Write a pyarrow table as Parquet."""
    import pyarrow.parquet

    pyarrow.parquet.write_table(table, target, write_statistics=False, compression="zstd")


def write_arrow(table: Any, target: Path) -> None:
    """Write a pyarrow table as an Arrow file (identical to Feather, version 2)."""
    import pyarrow.ipc

    with pa.OSFile(str(target), "wb") as file, pyarrow.ipc.new_file(file, table.schema) as out:
        out.write_table(table)


# The types of released columns, as pandas and polars find them in a file. Arrow's own types say most; metadata say
# which numbers, truth values and texts are of a nullable type of pandas, and which categories are an Enum of polars.
# Everything is made from the released columns: no index, no unused level, no number of rows of the original.

ENUM = b"_PL_ENUM_VALUES2"
UNNAMED = {"name": None, "field_name": None, "pandas_type": "unicode", "numpy_type": "object", "metadata": None}
NO_PANDAS_NAME = (pa.types.is_dictionary, pa.types.is_decimal)  # pandas cannot read these types by name
PANDAS_TEXTS = ("object", "str", "string", "string[python]", "string[pyarrow]")


def typed_table(names: Sequence[str], columns: Sequence[Any], source: Source) -> Any:
    """Released typed columns as a pyarrow table, with metadata about their types for pandas and polars."""
    kinds = {name: kind for name, kind in source.types.items() if isinstance(kind, pa.DataType)}
    arrays = [restore_type(column, kinds.get(name)) for name, column in zip(names, columns, strict=True)]
    fields = [
        pa.field(name, array.type, metadata=_enum_metadata(array) if name in source.enums else None)
        for name, array in zip(names, arrays, strict=True)
    ]
    metadata = None
    if source.pandas_types:
        described = [
            _pandas_column(name, a, source.pandas_types.get(name, "")) for name, a in zip(names, arrays, strict=True)
        ]
        whole = {"index_columns": [], "column_indexes": [UNNAMED], "columns": described}
        metadata = {"pandas": json.dumps(whole)}
    return pa.table(arrays, schema=pa.schema(fields, metadata=metadata))


def _enum_metadata(array: Any) -> dict[bytes, bytes] | None:
    """The levels of an Enum of polars: each after its length in bytes."""
    if not pa.types.is_dictionary(array.type):
        return None
    levels = [level.encode() for level in array.dictionary.cast(pa.string()).to_pylist()]
    return {ENUM: b"".join(b"%d;%s" % (len(level), level) for level in levels)}


def _pandas_column(name: str, array: Any, dtype: str) -> dict[str, Any]:
    kind, details = array.type, None
    if pa.types.is_dictionary(kind):
        described, numpy_type = "categorical", "int32"
        details = {"num_categories": len(array.dictionary), "ordered": kind.ordered}
    elif pa.types.is_timestamp(kind) and kind.tz and not dtype.endswith("[pyarrow]"):
        described, numpy_type, details = "datetimetz", f"datetime64[{kind.unit}]", {"timezone": kind.tz}
    else:
        described, numpy_type = str(kind), _pandas_dtype(kind, dtype)
    return {"name": name, "field_name": name, "pandas_type": described, "numpy_type": numpy_type, "metadata": details}


def _pandas_dtype(kind: Any, dtype: str) -> str:
    """A type of pandas for values of an Arrow type, nullable or of Arrow if that of the original was."""
    if dtype.endswith("[pyarrow]") and dtype not in PANDAS_TEXTS and not any(of(kind) for of in NO_PANDAS_NAME):
        return f"{kind}[pyarrow]"
    numpy_type = "object" if pa.types.is_time(kind) else np.dtype(kind.to_pandas_dtype()).name
    if numpy_type[:1] in "iuf" and dtype[:1] in ("I", "U", "F"):  # Int64 rather than int64
        return numpy_type.capitalize().replace("Uint", "UInt")
    if pa.types.is_boolean(kind):
        return "boolean" if dtype == "boolean" else "bool"
    return dtype if _is_label(kind) and dtype in PANDAS_TEXTS else numpy_type


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
        return _category(name, _without_order_of_rows(_unify_dictionary(stored)), tokens)
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
        odd = odd_values_warnings(found.column, numbers=False) if is_text(stored) else ()
        return replace(found, warnings=(*found.warnings, *commas, *odd))
    if _is_too_long(stored):
        return long_integers(_category(name, stored, tokens))
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


def _without_order_of_rows(stored: Any) -> Any:
    """A dictionary whose values are in the order in which rows hold them, sorted: it would say who comes first."""
    indices = np.asarray(stored.indices.drop_null(), np.int64)
    _, first = np.unique(indices, return_index=True)
    if stored.type.ordered or not _is_label(stored.type.value_type) or (np.diff(first) < 0).any():
        return stored
    order = pc.sort_indices(stored.dictionary)
    place = np.argsort(np.asarray(order)).astype(np.int64)
    nulls = np.asarray(stored.indices.is_null())
    at = place[np.asarray(stored.indices.fill_null(0), np.int64)] if len(place) else np.zeros(len(stored), np.int64)
    indices = pa.array(at, mask=nulls if nulls.any() else None).cast(stored.type.index_type)
    return pa.DictionaryArray.from_arrays(indices, stored.dictionary.take(order))


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
    is_large = bool(np.nanmax(np.abs(values), initial=0) >= MAX_GRID_POINTS)
    return InferredColumn(Column(name, "number", values, (), None if is_large else Grid(0), None, stored))


def _is_too_long(stored: Any) -> bool:
    """Whether integers, or decimals of so many digits, are not those that float64 makes of them."""
    if not (pa.types.is_integer(stored.type) or pa.types.is_decimal(stored.type)):
        return False
    known = stored.drop_null()
    values = _float_values(known)
    large = np.flatnonzero(np.abs(values) >= MAX_GRID_POINTS)
    exact = known.take(pa.array(large)).to_pylist()
    return any(one != int(value) for one, value in zip(exact, values[large].tolist(), strict=True))


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
