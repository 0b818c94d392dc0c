# ruff: noqa: N803, N806 -- scikit-learn calls the attributes X
"""What all classifiers here share: rows become a table, classes become codes, answers become classes again."""

from abc import abstractmethod
from dataclasses import replace
from typing import Any, Self

import narwhals.stable.v1 as nw
import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_consistent_length
from sklearn.utils.validation import check_is_fitted, validate_data

from leafcover.fast.arrays import Array, Codes, Floats
from leafcover.sklearn.columns import (
    alike,
    columns_of_array,
    columns_of_frame,
    labels_of,
    text_of_label,
    value_errors,
)
from leafcover.table.table import Table
from leafcover.tree.training import Training
from leafcover.tree.tree import Attribute


class TableClassifier(ClassifierMixin, BaseEstimator):
    """A classifier that learns from a table, with categories and missing values.

    Its kind grows (`_grow`), and answers codes (`_answers`) and shares (`_shares`) of the classes by their text.
    """

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        # Text is taken, but `string` stays False: check_dtype_object reads it as "any object is", and a dict is not.
        return tags

    @abstractmethod
    def _grow(self, training: Training) -> None:
        """Learn from arrays, and keep what was learned in attributes that end in an underscore."""

    @abstractmethod
    def _answers(self, table: Table) -> Codes:
        """The code of the class of each row."""

    @abstractmethod
    def _shares(self, table: Table) -> Floats:
        """What speaks for each class (rows, classes), each row summing to one."""

    def fit(self, X: Any, y: Any) -> Self:
        """Learn from rows ``X`` and their classes ``y``."""
        name = type(self).__name__
        if y is None:
            raise ValueError(f"{name} requires y to be passed, but the target y is None.")
        table = self._table(X, reset=True)
        labels = labels_of(y, model=name)
        check_consistent_length(table.columns[0].values, labels)
        self.classes_, place = np.unique(labels, return_inverse=True)
        texts = [text_of_label(label) for label in self.classes_.tolist()]
        self._order = np.array(sorted(range(len(texts)), key=texts.__getitem__))  # class of a tree -> of classes_
        target = getattr(y, "name", None)
        training = Training(
            target=target if isinstance(target, str) and target else "class",
            classes=tuple(texts[i] for i in self._order),
            labels=np.argsort(self._order)[place].astype(np.int32),
            attributes=tuple(Attribute(c.name, c.levels, not c.is_category) for c in table),
            columns=tuple(c.values for c in table),
            rows=np.arange(len(table)),
        )
        with value_errors():
            self._grow(training)
        # The columns without their rows: what they must be in `predict`, and how their cuts are written.
        self._header = Table(tuple(replace(c, values=c.values[:0], stored=None) for c in table))
        return self

    def predict(self, X: Any) -> Array:
        """The class of each row."""
        table = self._known(X)
        with value_errors():
            return self.classes_[self._order[self._answers(table)]]

    def predict_proba(self, X: Any) -> Floats:
        """What speaks for each class of ``classes_``, as shares that sum to one."""
        table = self._known(X)
        with value_errors():
            shares = self._shares(table)
        probabilities = np.empty_like(shares)
        probabilities[:, self._order] = shares
        return probabilities

    def _known(self, X: Any) -> Table:
        """The rows to answer, in columns of the kinds that were learned from."""
        check_is_fitted(self)
        table, name = self._table(X, reset=False), type(self).__name__
        pairs = zip(table, self._header, strict=True)
        return Table(tuple(alike(column, fitted, model=name) for column, fitted in pairs))

    def _table(self, X: Any, *, reset: bool) -> Table:
        """A frame or an array as a table; columns are named as in ``feature_names_in_``, else x0, x1, ..."""
        if nw.dependencies.is_into_dataframe(X):
            frame = nw.from_native(X, eager_only=True)
            # scikit-learn before 1.9 finds no names in a frame of today's polars, but in arrow's.
            named = frame.head(0).to_arrow() if frame.implementation.is_polars() else X
            validate_data(self, named, reset=reset, skip_check_array=True)
            columns = columns_of_frame(frame, model=type(self).__name__)
        else:
            if isinstance(X, (list, tuple)) and np.asarray(X).dtype.kind in "US":
                X = np.array(X, object)  # numpy would turn the numbers beside a text into texts
            columns = columns_of_array(validate_data(self, X, reset=reset, dtype=None, ensure_all_finite="allow-nan"))
        names = getattr(self, "feature_names_in_", [f"x{i}" for i in range(len(columns))])
        return Table(tuple(replace(c, name=str(name)) for c, name in zip(columns, names, strict=True)))
