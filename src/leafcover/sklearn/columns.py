"""What scikit-learn's users hand over, as columns and labels: frames, arrays, objects, with gaps."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from numbers import Real
from typing import Any

import narwhals.stable.v1 as nw
import numpy as np
import pyarrow as pa
from sklearn.utils import assert_all_finite, column_or_1d
from sklearn.utils.multiclass import check_classification_targets

from leafcover.errors import LeafcoverError
from leafcover.fast.arrays import MISSING, Array
from leafcover.table.frames import from_frame
from leafcover.table.table import Column
from leafcover.table.typed import from_typed
from leafcover.tree.show import short

PLAIN = (str, bool, np.bool_, Real)  # what an array of objects may hold; dates come typed


@contextmanager
def value_errors() -> Iterator[None]:
    """Leafcover's errors as the one that scikit-learn's users expect."""
    try:
        yield
    except LeafcoverError as error:
        raise ValueError(str(error)) from error


def columns_of_frame(frame: nw.DataFrame[Any], *, model: str) -> tuple[Column, ...]:
    """The columns of a frame with at least one row; ``model`` is named in errors."""
    if not len(frame):
        raise ValueError(f"Found a frame with 0 sample(s), while a minimum of 1 is required by {model}.")
    with value_errors():
        if len(frame) == 1:  # too few for a table to release, enough to be answered
            return from_frame(frame[[0, 0]].to_native()).take(np.zeros(1, np.int64)).columns
        return from_frame(frame.to_native()).columns


def columns_of_array(array: Array) -> tuple[Column, ...]:
    """The columns of a checked array: numbers at once, all else by the types that pyarrow finds.

    A float32 is taken by its shortest text, as in a frame: 0.1 is at most 0.1.
    """
    names = [f"x{i}" for i in range(array.shape[1])]
    if array.dtype.kind in "iu" or (array.dtype.kind == "f" and array.dtype.itemsize >= 8):
        values = np.array(array.T, np.float64, order="C")
        return tuple(Column(name, "number", column) for name, column in zip(names, values, strict=True))
    with value_errors():
        return tuple(from_typed(name, _typed(array[:, i], name)).column for i, name in enumerate(names))


def _typed(values: Array, name: str) -> Any:
    """An arrow array of one column; objects are numbers if all are, else texts."""
    try:
        array = pa.array(np.ascontiguousarray(values), from_pandas=True)
    except (pa.ArrowException, OverflowError):
        array = None
    if array is not None and not pa.types.is_nested(array.type):
        return array
    known = [value for value in values if _is_known(value)]
    for value in known:
        if not isinstance(value, PLAIN):
            raise TypeError(
                f"Column {name!r} holds a {type(value).__name__}; each value given as argument must be a string or a "
                f"number. Convert or drop the column."
            )
    is_number = all(isinstance(value, Real) and not isinstance(value, bool) for value in known)
    if is_number:
        return pa.array([float(value) if _is_known(value) else None for value in values], pa.float64())
    return pa.array([str(value) if _is_known(value) else None for value in values], pa.string())


def _is_known(value: Any) -> bool:
    """Whether an object is a value: not None, nan, NaT or pandas' NA."""
    try:
        return value is not None and bool(value == value)  # noqa: PLR0124 -- nan is not itself
    except TypeError:  # NA is neither equal to itself nor different
        return False


def labels_of(y: Any, *, model: str) -> Array:
    """The classes of the rows, one known label each."""
    labels = column_or_1d(np.asarray(y), warn=True)
    if labels.dtype == object:
        for row, label in enumerate(labels):
            if not _is_known(label):
                raise ValueError(f"Input y contains NaN or None: row {row} has no class. Drop such rows.")
    assert_all_finite(labels, input_name="y", estimator_name=model)
    check_classification_targets(labels)
    return labels


def text_of_label(label: Any) -> str:
    """The text of a class as a table has it: 2, not 2.0; true, not True."""
    if isinstance(label, bool):
        return str(label).lower()
    return short(label) if isinstance(label, float) else str(label)


def alike(column: Column, fitted: Column, *, model: str) -> Column:
    """A column to answer from, of the kind it had in training; else an error, since every answer would be wrong."""
    if column.missing.all() or (fitted.is_category and not fitted.levels):
        nothing = np.full(len(column), MISSING, np.int32) if fitted.is_category else np.full(len(column), np.nan)
        return replace(fitted, values=nothing)
    # Codes that were declared categories may come back as plain numbers: they are matched by their text.
    codes = fitted.is_category and column.kind == "number" and any(_is_number(level) for level in fitted.levels)
    if column.kind != fitted.kind and not codes:
        raise ValueError(
            f"Column {fitted.name!r} was a {fitted.kind} when {model} was fitted; now it is a {column.kind}. "
            f"Give it the type it had."
        )
    return column


def _is_number(level: str) -> bool:
    try:
        float(level)
    except ValueError:
        return False
    return True
