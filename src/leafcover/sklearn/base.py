# ruff: noqa: N803, N806 -- scikit-learn names the attribute matrix X
"""Base classes of the scikit-learn classifiers: input validation, conversion of rows and labels, and predictions."""

from abc import abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from numbers import Real
from typing import Any, Self

import narwhals.stable.v1 as nw
import numpy as np
import pyarrow as pa
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import assert_all_finite, check_consistent_length, column_or_1d
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from leafcover.arrays import MISSING, Array, Codes, Floats
from leafcover.errors import LeafcoverError
from leafcover.table.arrow import from_typed
from leafcover.table.frames import from_frame
from leafcover.table.table import Column, Table
from leafcover.tree.export import shortest_text
from leafcover.tree.tree import Attribute, Training, Tree, depths


class TableClassifier(ClassifierMixin, BaseEstimator):
    """Base class of classifiers that learn from tables with categories and missing values.

    A subclass implements `_grow`, `_predict_codes` and `_predict_shares`. These see the classes as codes, in code point
    order of their text.
    """

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        # Text is accepted, but `string` stays False: check_dtype_object takes it to mean that any object is accepted.
        return tags

    @abstractmethod
    def _grow(self, training: Training) -> None:
        """Fit to the training rows, and store the result in attributes that end in an underscore."""

    @abstractmethod
    def _predict_codes(self, table: Table) -> Codes:
        """The code of the predicted class of each row."""

    @abstractmethod
    def _predict_shares(self, table: Table) -> Floats:
        """The estimated class probabilities (rows, classes); each row sums to one."""

    def fit(self, X: Any, y: Any) -> Self:
        """Fit the classifier.

        Parameters
        ----------
        X : data frame or array-like of shape (n_samples, n_features)
            A pandas, polars or pyarrow frame, or an array. Text, booleans and categoricals are categories.
        y : array-like of shape (n_samples,)
            The class labels.

        Returns
        -------
        self
        """
        name = type(self).__name__
        if y is None:
            raise ValueError(f"{name} requires y to be passed, but the target y is None.")
        table = self._table(X, reset=True)
        labels = labels_of(y, model=name)
        check_consistent_length(table.columns[0].values, labels)
        self.classes_, codes = np.unique(labels, return_inverse=True)
        texts = [text_of_label(label) for label in self.classes_.tolist()]
        self._order = np.array(sorted(range(len(texts)), key=texts.__getitem__))  # class code of a tree -> classes_
        target = getattr(y, "name", None)
        training = Training(
            target=target if isinstance(target, str) and target else "class",
            classes=tuple(texts[i] for i in self._order),
            labels=np.argsort(self._order)[codes].astype(np.int32),
            attributes=tuple(Attribute(c.name, c.levels, not c.is_category) for c in table),
            columns=tuple(c.values for c in table),
            rows=np.arange(len(table)),
        )
        with value_errors():
            self._grow(training)
        # The columns without rows: the kinds that `predict` expects, and the text format of cuts.
        self._header = Table(tuple(replace(c, values=c.values[:0], stored=None) for c in table))
        return self

    def predict(self, X: Any) -> Array:
        """Predict the class of each row.

        Parameters
        ----------
        X : data frame or array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        table = self._known(X)
        with value_errors():
            return self.classes_[self._order[self._predict_codes(table)]]

    def predict_proba(self, X: Any) -> Floats:
        """Estimate class probabilities.

        Parameters
        ----------
        X : data frame or array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Probabilities in the order of ``classes_``; each row sums to one.
        """
        table = self._known(X)
        with value_errors():
            shares = self._predict_shares(table)
        probabilities = np.empty_like(shares)
        probabilities[:, self._order] = shares
        return probabilities

    def _known(self, X: Any) -> Table:
        """The rows to predict, checked to have the kinds of column that the classifier was fitted to."""
        check_is_fitted(self)
        table, name = self._table(X, reset=False), type(self).__name__
        pairs = zip(table, self._header, strict=True)
        return Table(tuple(match_kind(column, fitted, model=name) for column, fitted in pairs))

    def _table(self, X: Any, *, reset: bool) -> Table:
        """A frame or array as a table; columns are named as in ``feature_names_in_``, otherwise x0, x1, …"""
        if nw.dependencies.is_into_dataframe(X):
            frame = nw.from_native(X, eager_only=True)
            # scikit-learn before 1.9 does not find the column names of recent polars frames, but those of pyarrow.
            named = frame.head(0).to_arrow() if frame.implementation.is_polars() else X
            validate_data(self, named, reset=reset, skip_check_array=True)
            columns = columns_of_frame(frame, model=type(self).__name__)
        else:
            if isinstance(X, (list, tuple)) and np.asarray(X).dtype.kind in "US":
                X = np.array(X, object)  # numpy would convert numbers to text if any value is text
            columns = columns_of_array(validate_data(self, X, reset=reset, dtype=None, ensure_all_finite="allow-nan"))
        names = getattr(self, "feature_names_in_", [f"x{i}" for i in range(len(columns))])
        return Table(tuple(replace(c, name=str(name)) for c, name in zip(columns, names, strict=True)))


# Conversion of the input: frames and arrays to columns, labels to class codes.


PLAIN_TYPES = (str, bool, np.bool_, Real)  # types allowed in an array of objects; dates must be typed


@contextmanager
def value_errors() -> Iterator[None]:
    """Raise Leafcover's errors as ValueError, which scikit-learn's users expect."""
    try:
        yield
    except LeafcoverError as error:
        raise ValueError(str(error)) from error


def columns_of_frame(frame: nw.DataFrame[Any], *, model: str) -> tuple[Column, ...]:
    """The columns of a frame with at least one row; ``model`` appears in error messages."""
    if not len(frame):
        raise ValueError(f"Found a frame with 0 sample(s), while a minimum of 1 is required by {model}.")
    with value_errors():
        if len(frame) == 1:  # a table needs two rows, a prediction only one
            return from_frame(frame[[0, 0]].to_native()).take(np.zeros(1, np.int64)).columns
        return from_frame(frame.to_native()).columns


def columns_of_array(array: Array) -> tuple[Column, ...]:
    """The columns of a validated array: numbers directly, everything else with the types that pyarrow infers.

    A float32 is read as its shortest text, as in a frame, so that 0.1 <= 0.1 holds.
    """
    names = [f"x{i}" for i in range(array.shape[1])]
    if array.dtype.kind in "iu" or (array.dtype.kind == "f" and array.dtype.itemsize >= 8):
        values = np.array(array.T, np.float64, order="C")
        return tuple(Column(name, "number", column) for name, column in zip(names, values, strict=True))
    with value_errors():
        return tuple(from_typed(name, _typed(array[:, i], name)).column for i, name in enumerate(names))


def _typed(values: Array, name: str) -> Any:
    """One column as a pyarrow array; objects are numbers if all of them are, otherwise text."""
    try:
        array = pa.array(np.ascontiguousarray(values), from_pandas=True)
    except (pa.ArrowException, OverflowError):
        array = None
    if array is not None and not pa.types.is_nested(array.type):
        return array
    known = [value for value in values if _is_known(value)]
    for value in known:
        if not isinstance(value, PLAIN_TYPES):
            raise TypeError(
                f"Column {name!r} contains a {type(value).__name__}; each value given as argument must be a string or "
                f"a number. Convert or drop the column."
            )
    is_number = all(isinstance(value, Real) and not isinstance(value, bool) for value in known)
    if is_number:
        return pa.array([float(value) if _is_known(value) else None for value in values], pa.float64())
    return pa.array([str(value) if _is_known(value) else None for value in values], pa.string())


def _is_known(value: Any) -> bool:
    """Whether an object is a value rather than None, nan, NaT or pandas.NA."""
    try:
        return value is not None and bool(value == value)  # noqa: PLR0124 -- nan does not equal itself
    except TypeError:  # comparing pandas.NA gives NA, which has no truth value
        return False


def labels_of(y: Any, *, model: str) -> Array:
    """The labels as a one-dimensional array without missing values."""
    labels = column_or_1d(np.asarray(y), warn=True)
    if labels.dtype == object:
        for row, label in enumerate(labels):
            if not _is_known(label):
                raise ValueError(f"Input y contains NaN or None in row {row}. Drop rows without a label.")
    assert_all_finite(labels, input_name="y", estimator_name=model)
    check_classification_targets(labels)
    return labels


def text_of_label(label: Any) -> str:
    """A label as a table writes it: 2, not 2.0; true, not True."""
    if isinstance(label, bool):
        return str(label).lower()
    return shortest_text(label) if isinstance(label, float) else str(label)


def match_kind(column: Column, fitted: Column, *, model: str) -> Column:
    """The column, checked to have the kind it had in training: otherwise every prediction would be wrong."""
    if column.missing.all() or (fitted.is_category and not fitted.levels):
        no_values = np.full(len(column), MISSING, np.int32) if fitted.is_category else np.full(len(column), np.nan)
        return replace(fitted, values=no_values)
    # Codes that were declared categories may now be plain numbers: they are matched by their text.
    codes = fitted.is_category and column.kind == "number" and any(_is_numeric_text(level) for level in fitted.levels)
    if column.kind != fitted.kind and not codes:
        raise ValueError(
            f"Column {fitted.name!r} is a {column.kind}, but {model} was fitted to a {fitted.kind}. "
            f"Convert it to the type it had in fit."
        )
    return column


def _is_numeric_text(level: str) -> bool:
    try:
        float(level)
    except ValueError:
        return False
    return True


class SingleTreeMixin:
    """Depth and number of leaves of a classifier with one tree, ``tree_``."""

    tree_: Tree

    def get_depth(self) -> int:
        """The depth of the tree: the largest number of tests on a path from the root to a leaf."""
        check_is_fitted(self)
        return int(depths(self.tree_).max())

    def get_n_leaves(self) -> int:
        """The number of leaves of the tree, including empty ones."""
        check_is_fitted(self)
        return len(self.tree_.leaves)
