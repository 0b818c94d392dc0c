"""Conversion between tables and pandas, polars or pyarrow frames.

A table from a frame is converted back to the same library and the same column types, except that unused levels are
dropped. A pandas index is not a column: it is dropped, and the result has a new one.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import narwhals.stable.v1 as nw
import numpy as np
import pyarrow as pa
from narwhals.exceptions import DuplicateError

from leafcover.errors import TableError
from leafcover.registry import checks_arguments
from leafcover.table.arrow import plain_type, restore_type, was_widened
from leafcover.table.formatting import is_text
from leafcover.table.infer import index_warning
from leafcover.table.io import MissingTokens, build_table
from leafcover.table.output import as_typed
from leafcover.table.table import Column, IntoTable, RawColumn, Role, Source, Table

TOO_LONG = "Column {name!r} contains integers of more than 64 bits. Convert it to text or drop it."


@checks_arguments()
def from_frame(
    frame: IntoTable,
    *,
    missing: MissingTokens | None = None,
    category: Sequence[str] = (),
    drop: Sequence[str] = (),
    roles: Mapping[str, Role] | None = None,
) -> Table:
    """Convert a pandas, polars or pyarrow frame to a table.

    Parameters
    ----------
    frame : data frame or Table
        A pandas, polars or pyarrow frame. A `Table` is returned unchanged.
    missing : mapping of str to str, number or sequence of them, optional
        For each column, the texts or numbers that mean a missing value, in addition to nulls; see `leafcover.read`.
    category : sequence of str, optional
        Columns to read as categories whatever their type.
    drop : sequence of str, optional
        Columns to leave out.
    roles : mapping of str to str, optional
        Roles of columns; see `Table`.

    Returns
    -------
    Table

    Examples
    --------
    >>> table = from_frame(pa.table({"age": [31, 4], "job": ["b", "a"]}))
    >>> table.names, table["job"].levels
    (('age', 'job'), ('a', 'b'))
    """
    if isinstance(frame, Table):
        return frame
    if isinstance(frame, str | Path):
        raise TableError(f"Expected a table, got the path {str(frame)!r}. Read the file first: leafcover.read(path).")
    try:
        native = nw.from_native(frame, eager_only=True)
    except DuplicateError as error:
        raise TableError("The frame has two columns with the same name. Rename one of them.") from error
    except TypeError as error:
        got = f"{type(frame).__module__.partition('.')[0]}.{type(frame).__name__}"
        raise TableError(
            f"Expected a table from leafcover.read or a pandas, polars or pyarrow frame. Got {got}."
        ) from error
    library = native.implementation.value
    if library == "pandas":
        raws, source = _from_pandas(frame)
    elif library in ("polars", "pyarrow"):
        arrow: Any = frame if library == "pyarrow" else _with_known_types(frame).to_arrow()
        raws = [RawColumn(n, plain_type(c), typed=True) for n, c in zip(arrow.column_names, arrow.columns, strict=True)]
        types = _types(frame, library)
        enums = frozenset(name for name, kind in types.items() if str(kind).startswith("Enum("))
        source = Source("frame", library=library, types=types, enums=enums)
    else:
        raise TableError(f"Expected a pandas, polars or pyarrow frame. Got a {library} frame.")
    table = build_table(raws, source, "frame", missing=missing, category=category, drop=drop, roles=roles)
    native_index: Any = nw.maybe_get_index(native)
    index = [str(name) for name in getattr(native_index, "names", ()) if name is not None]
    return replace(table, warnings=(index_warning(index), *table.warnings)) if index else table


def _with_known_types(frame: Any) -> Any:
    """A polars frame without types that Arrow lacks: integers of 128 bits as 64, if they fit."""
    import polars

    for name, kind in frame.schema.items():
        if kind == polars.Object:
            raise TableError(f"Column {name!r} has the type Object of polars. Convert it to text or drop it.")
        if str(kind) in ("Int128", "UInt128"):
            ends = [end for end in (frame[name].min(), frame[name].max()) if end is not None]
            small = next((one for one in (polars.Int64, polars.UInt64) if _fit(ends, one)), None)
            if small is None:
                raise TableError(TOO_LONG.format(name=name))
            frame = frame.with_columns(frame[name].cast(small))
    return frame


def _fit(ends: Sequence[int], kind: Any) -> bool:
    """Whether integers fit a type of 64 bits."""
    low, high = (-(2**63), 2**63) if str(kind) == "Int64" else (0, 2**64)
    return all(low <= end < high for end in ends)


def _types(frame: Any, library: str) -> dict[str, Any]:
    if library == "polars":
        return dict(frame.schema)
    return {field.name: field.type for field in frame.schema}


def _from_pandas(frame: Any) -> tuple[list[RawColumn], Source]:
    raws, types, labels = [], {}, {}
    for position, label in enumerate(frame.columns):
        series = frame.iloc[:, position]
        name = str(label)
        if str(series.dtype).startswith("period"):  # stored as integers, and would be read as such
            raise TableError(f"Column {name!r} contains periods. Convert it to times with .dt.to_timestamp().")
        is_sparse = str(series.dtype).startswith("Sparse")
        array, mixed = _series_array(name, series.sparse.to_dense() if is_sparse else series)
        warnings = (f"Column {name!r} mixes types and is read as a category of their texts.",) if mixed else ()
        raws.append(RawColumn(name, array, typed=True, warnings=warnings))
        types[name], labels[name] = series.dtype.subtype if is_sparse else series.dtype, label
    pandas_types = {name: str(dtype) for name, dtype in types.items()}
    return raws, Source("frame", library="pandas", types=types, labels=labels, pandas_types=pandas_types)


def _series_array(name: str, series: Any) -> tuple[Any, bool]:
    """A series as a pyarrow array, and whether it mixes types; if so, every value is converted to text."""
    try:
        return plain_type(pa.Array.from_pandas(series)), False
    except OverflowError as error:
        raise TableError(TOO_LONG.format(name=name)) from error
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError) as error:
        known = series[series.notna()]
        if not all(isinstance(value, (str, int, float, bool, np.generic)) for value in known):
            raise TableError(
                f"Column {name!r} contains objects other than text, numbers and booleans. Convert or drop it."
            ) from error
        gone = series.isna().to_numpy()
        return pa.array([None if no else str(value) for value, no in zip(series, gone, strict=True)]), True


def to_frame(table: Table) -> Any:
    """The table as a frame of the library it came from; a pyarrow table if it came from a file."""
    source = table.source if isinstance(table.source, Source) else Source("frame", library="pyarrow")
    arrays = {column.name: as_typed(column, own_type=source.is_typed) for column in table}
    if source.library == "pandas":
        return _to_pandas(table, arrays, source)
    if source.library == "polars":
        return _to_polars(arrays, source)
    return pa.table({name: restore_type(array, source.types.get(name)) for name, array in arrays.items()})


def _to_polars(arrays: dict[str, Any], source: Source) -> Any:
    import polars

    made = []
    for name, array in arrays.items():
        series = polars.Series(name, polars.from_arrow(array))
        kind = source.types.get(name)
        if kind is not None and is_text(array) and (kind.is_numeric() or kind == polars.Boolean):
            pass  # pooled levels of numbers that were read as a category
        elif isinstance(kind, polars.Enum):
            used = array.dictionary.cast(pa.string()).to_pylist() if pa.types.is_dictionary(array.type) else None
            order = kind.categories.to_list()
            seen = set(used if used is not None else series.drop_nulls().cast(polars.String).unique().to_list())
            levels = [level for level in order if level in seen] + sorted(seen - set(order))
            series = series.cast(polars.String).cast(polars.Enum(levels))
        elif kind is not None and series.dtype != kind and not series.dtype.is_float() and not was_widened(array, kind):
            series = series.cast(kind)
        made.append(series)
    return polars.DataFrame(made)


def _to_pandas(table: Table, arrays: dict[str, Any], source: Source) -> Any:
    import pandas

    made = [_series(pandas, table[name], array, source.types.get(name)) for name, array in arrays.items()]
    frame = pandas.concat(made, axis=1) if made else pandas.DataFrame()
    frame.columns = pandas.Index([source.labels.get(name, name) for name in arrays])
    return frame


def _series(pandas: Any, column: Column, array: Any, dtype: Any) -> Any:
    series = array.to_pandas()
    if isinstance(dtype, pandas.CategoricalDtype):  # pooled levels come as text
        return series if isinstance(series.dtype, pandas.CategoricalDtype) else series.astype("category")
    if dtype is None or series.dtype == dtype or (is_text(array) and dtype.kind in "iubf"):
        return series
    if pa.types.is_floating(array.type) and not pandas.api.types.is_float_dtype(dtype):
        return series  # means of integers
    if dtype.kind in "iu" and was_widened(array, dtype):
        return series
    if dtype.kind in "iub" and isinstance(dtype, np.dtype) and array.null_count:  # values became missing
        nullable = {"i": "Int", "u": "UInt", "b": "boolean"}[dtype.kind] + str(8 * dtype.itemsize) * (dtype.kind != "b")
        return pandas.Series(pandas.array(array.to_pylist(), dtype=nullable))
    if dtype.kind in "iub" and isinstance(dtype, np.dtype):
        return series.astype(dtype)
    if isinstance(dtype, np.dtype) and dtype.kind == "O":
        return pandas.Series(array.to_pylist(), dtype=object)
    # Via an Arrow-backed array, because a direct conversion turns integers with missing values into floats.
    return pandas.Series(pandas.array(array, dtype=pandas.ArrowDtype(array.type))).astype(dtype)
