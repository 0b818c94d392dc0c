"""Frames of pandas, polars and pyarrow: taken as tables, and given back by the same library.

A type is kept, except that unused levels go. An index is no column: it is dropped, and the result has a fresh one.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import narwhals.stable.v1 as nw
import numpy as np
import pyarrow as pa
from narwhals.exceptions import DuplicateError

from leafcover.errors import TableError
from leafcover.table.arrow import plain_type
from leafcover.table.io import build_table
from leafcover.table.output import as_typed
from leafcover.table.table import Column, RawColumn, Role, Source, Table


def from_frame(
    frame: Any,
    *,
    missing: Mapping[str, Sequence[str]] | None = None,
    category: Sequence[str] = (),
    drop: Sequence[str] = (),
    roles: Mapping[str, Role] | None = None,
) -> Table:
    """The table in a pandas, polars or pyarrow frame; a `Table` is returned as it is.

    >>> from_frame(pa.table({"age": [31, 4], "job": ["b", "a"]})).names
    ('age', 'job')
    """
    if isinstance(frame, Table):
        return frame
    if isinstance(frame, str | Path):
        raise TableError(f"A table is needed, and {str(frame)!r} is a path. Read it first: leafcover.read(path).")
    try:
        native = nw.from_native(frame, eager_only=True)
    except DuplicateError as error:
        raise TableError("The frame has two columns of one name. Rename one of them.") from error
    except TypeError as error:
        got = f"{type(frame).__module__.partition('.')[0]}.{type(frame).__name__}"
        raise TableError(
            f"A table is needed: a pandas, polars or pyarrow frame, or what leafcover.read gives. Got {got}."
        ) from error
    library = native.implementation.value
    if library == "pandas":
        raws, source = _from_pandas(frame)
    elif library in ("polars", "pyarrow"):
        arrow = frame if library == "pyarrow" else native.to_arrow()
        raws = [RawColumn(n, plain_type(c), typed=True) for n, c in zip(arrow.column_names, arrow.columns, strict=True)]
        source = Source("frame", library=library, types=_types(frame, library))
    else:
        raise TableError(f"A table is needed: a pandas, polars or pyarrow frame. Got one of {library}.")
    return build_table(raws, source, "frame", missing=missing, category=category, drop=drop, roles=roles)


def _types(frame: Any, library: str) -> dict[str, Any]:
    if library == "polars":
        return dict(frame.schema)
    return {field.name: field.type for field in frame.schema}


def _from_pandas(frame: Any) -> tuple[list[RawColumn], Source]:
    raws, types, labels = [], {}, {}
    for place, label in enumerate(frame.columns):
        series = frame.iloc[:, place]
        name = str(label)
        if str(series.dtype).startswith("period"):  # inside they are whole numbers, and would be taken for such
            raise TableError(f"Column {name!r} holds periods. Turn it into times with .dt.to_timestamp().")
        array, mixed = _series_array(name, series)
        warnings = (f"Column {name!r} mixes types; it is read as a category of their texts.",) if mixed else ()
        raws.append(RawColumn(name, array, typed=True, warnings=warnings))
        types[name], labels[name] = series.dtype, label
    return raws, Source("frame", library="pandas", types=types, labels=labels)


def _series_array(name: str, series: Any) -> tuple[Any, bool]:
    """A series in arrow, and whether it mixed types: then every value is taken by its text."""
    try:
        return plain_type(pa.Array.from_pandas(series)), False
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError) as error:
        known = series[series.notna()]
        if not all(isinstance(value, (str, int, float, bool, np.generic)) for value in known):
            raise TableError(f"Column {name!r} holds objects that are no plain values. Convert or drop it.") from error
        gone = series.isna().to_numpy()
        return pa.array([None if no else str(value) for value, no in zip(series, gone, strict=True)]), True


def to_frame(table: Table) -> Any:
    """The table as a frame of the library it came from; pyarrow when it came from a file."""
    source = table.source if isinstance(table.source, Source) else Source("frame", library="pyarrow")
    arrays = {column.name: as_typed(column, own_type=source.is_typed) for column in table}
    if source.library == "pandas":
        return _to_pandas(table, arrays, source)
    if source.library == "polars":
        return _to_polars(arrays, source)
    return pa.table({name: _restore_type(array, source.types.get(name)) for name, array in arrays.items()})


def _restore_type(array: Any, kind: Any) -> Any:
    if kind is None or array.type == kind or pa.types.is_floating(array.type):
        return array
    return array if _was_widened(array, kind) else array.cast(kind)


def _was_widened(array: Any, kind: Any) -> bool:
    """Whether noise needed more room than the whole numbers of the original had: then the type is int64."""
    return bool(array.type == pa.int64()) and str(kind).lower().removesuffix("[pyarrow]") != "int64"


def _to_polars(arrays: dict[str, Any], source: Source) -> Any:
    import polars

    made = []
    for name, array in arrays.items():
        series = polars.Series(name, polars.from_arrow(array))
        kind = source.types.get(name)
        if isinstance(kind, polars.Enum):
            used = array.dictionary.cast(pa.string()).to_pylist() if pa.types.is_dictionary(array.type) else None
            order = kind.categories.to_list()
            seen = set(used if used is not None else series.drop_nulls().cast(polars.String).unique().to_list())
            series = series.cast(polars.String).cast(polars.Enum([level for level in order if level in seen]))
        elif (
            kind is not None and series.dtype != kind and not series.dtype.is_float() and not _was_widened(array, kind)
        ):
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
    if dtype is None or series.dtype == dtype or isinstance(dtype, pandas.CategoricalDtype):
        return series
    if pa.types.is_floating(array.type) and not pandas.api.types.is_float_dtype(dtype):
        return series  # means of whole numbers
    if dtype.kind in "iu" and _was_widened(array, dtype):
        return series
    if dtype.kind in "iub" and isinstance(dtype, np.dtype):
        return series.astype(dtype)
    if isinstance(dtype, np.dtype) and dtype.kind == "O":
        return pandas.Series(array.to_pylist(), dtype=object)
    # Through arrow's own array, since the plain way turns whole numbers with gaps into floats.
    return pandas.Series(pandas.array(array, dtype=pandas.ArrowDtype(array.type))).astype(dtype)


def as_table(given: Any) -> Table:
    """A table, or the one in a frame; the library for frames is loaded only when one comes."""
    if isinstance(given, Table):
        return given
    from leafcover.table.frames import from_frame

    return from_frame(given)
