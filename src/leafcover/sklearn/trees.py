# ruff: noqa: N803 -- scikit-learn names the attribute matrix X
"""The C4.5 decision tree and the SysFor forest as scikit-learn classifiers."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from sklearn.utils import check_consistent_length
from sklearn.utils.validation import check_is_fitted

from leafcover.arrays import MISSING, Array, Codes, Floats
from leafcover.errors import PlanError, ValueOutOfRange
from leafcover.randomized_response.estimate import ProportionEstimate, Scheme
from leafcover.randomized_response.tree import Criterion, StoppingRules, accuracy, grow_tree
from leafcover.sklearn.base import SingleTreeMixin, TableClassifier, labels_of, text_of_label, value_errors
from leafcover.table.table import Column, Table
from leafcover.tree.c45 import Grower, grow_from
from leafcover.tree.export import shortest_text, text
from leafcover.tree.predict import Voting, check_voting, classify, classify_forest, distribution, forest_shares
from leafcover.tree.sysfor import grow_forest_from
from leafcover.tree.tree import Training, Tree


class C45Classifier(SingleTreeMixin, TableClassifier):
    """The decision tree of C4.5 Release 8 (Quinlan 1993, 1996).

    Categories get one branch per level. A missing value, or a level that did not occur in training, follows every
    branch, weighted by the branch's share of the training rows. Sample weights are not supported, as in C4.5.

    Parameters
    ----------
    min_records : int, default 2
        At least two branches of every test must have this many training rows. (Unlike ``min_samples_leaf`` of
        scikit-learn, the other branches of a test may be smaller.)
    confidence : float, default 0.25
        Confidence level of the pessimistic error estimate used for pruning. Smaller values prune more.
    prune : bool, default True
        Whether to prune the tree.
    grower : {"auto", "exact", "histogram"}, default "auto"
        "exact" reproduces C4.5. "histogram" bins numbers and is faster on large tables. "auto" uses histograms above
        200,000 rows.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The class labels, sorted.
    tree_ : leafcover.tree.tree.Tree
        The fitted tree. Its classes are texts, in code point order.
    n_features_in_ : int
        The number of features seen in ``fit``.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        The names of the features, if ``X`` was a frame.

    Notes
    -----
    If classes tie, ``predict`` returns the first in code point order of their text, as C4.5 does. ``predict_proba`` is
    the share of each class among the training rows of the leaves that a row reaches.

    Examples
    --------
    >>> import pyarrow as pa
    >>> weather = pa.table({"sky": ["sun", "sun", "rain", "rain", None], "wind": [1, 9, 1, 9, 1]})
    >>> model = C45Classifier(prune=False).fit(weather, ["walk", "walk", "read", "read", "walk"])
    >>> model.predict(weather).tolist()
    ['walk', 'walk', 'read', 'read', 'walk']
    >>> print(model.export_text(), end="")
    sky = rain: read (2.5/0.5)
    sky = sun: walk (2.5)
    """

    def __init__(
        self, *, min_records: int = 2, confidence: float = 0.25, prune: bool = True, grower: Grower = "auto"
    ) -> None:
        self.min_records = min_records
        self.confidence = confidence
        self.prune = prune
        self.grower = grower

    def _grow(self, training: Training) -> None:
        self.tree_ = grow_from(
            training,
            min_records=self.min_records,
            confidence=self.confidence,
            prune=self.prune,
            grower=self.grower,
        )

    def _predict_codes(self, table: Table) -> Codes:
        return classify(self.tree_, table)

    def _predict_shares(self, table: Table) -> Floats:
        return distribution(self.tree_, table)

    def export_text(self) -> str:
        """The tree in the text format of C4.5."""
        check_is_fitted(self)
        return text(self.tree_, table=self._header)


class SysForClassifier(TableClassifier):
    """The SysFor forest (Islam and Giggins 2011): each tree starts from another good test, with C4.5 below.

    Rows with a missing value are dropped if at least half of the rows are complete. Otherwise all rows are kept, and a
    row with a missing value is distributed over the branches by weight, as in C4.5.

    Parameters
    ----------
    n_estimators : int, default 60
        The maximum number of trees. There are fewer if the table has fewer good tests, but at least one.
    goodness : float, default 0.3
        How far the gain ratio of a root test may fall below the best one.
    separation : float, default 0.3
        The minimum distance between two root cuts of the same number, as a fraction of its range.
    min_records : int, default 10
        At least two branches of every test must have this many training rows.
    confidence : float, default 0.25
        Confidence level of the pessimistic error estimate used for pruning. Smaller values prune more.
    voting : {"majority", "most-accurate-leaf", "combined"}, default "majority"
        "majority": one vote per tree; if classes tie, the one with the larger sum of class shares in the leaves that
        voted for it. Experimental: "most-accurate-leaf", the leaf in which its class has the largest share decides;
        "combined", the class with the largest sum of such shares wins.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The class labels, sorted.
    trees_ : tuple of leafcover.tree.tree.Tree
        The fitted trees.
    n_features_in_ : int
        The number of features seen in ``fit``.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        The names of the features, if ``X`` was a frame.

    Notes
    -----
    ``predict_proba`` is the share of votes ("combined": of the summed shares; "most-accurate-leaf": the class shares of
    the deciding leaf). It measures how far the trees agree, not how accurate they are. If votes tie, ``predict`` need
    not return the first class with the largest probability.

    Examples
    --------
    >>> import pyarrow as pa
    >>> weather = pa.table({"sky": ["sun", "sun", "rain", "rain"] * 10, "wind": [1, 9, 1, 9] * 10})
    >>> model = SysForClassifier(goodness=1.0).fit(weather, ["walk", "walk", "read", "read"] * 10)
    >>> len(model.trees_)
    2
    >>> print(model.export_text(), end="")
    tree 1:
    sky = rain: read (20.0/1.3)
    sky = sun: walk (20.0/1.3)
    <BLANKLINE>
    tree 2:
    wind <= 1 :
    |   sky = rain: read (10.0/1.3)
    |   sky = sun: walk (10.0/1.3)
    wind > 1 :
    |   sky = rain: read (10.0/1.3)
    |   sky = sun: walk (10.0/1.3)
    """

    def __init__(
        self,
        *,
        n_estimators: int = 60,
        goodness: float = 0.3,
        separation: float = 0.3,
        min_records: int = 10,
        confidence: float = 0.25,
        voting: Voting = "majority",
    ) -> None:
        self.n_estimators = n_estimators
        self.goodness = goodness
        self.separation = separation
        self.min_records = min_records
        self.confidence = confidence
        self.voting = voting

    def export_text(self) -> str:
        """All trees in the text format of C4.5."""
        check_is_fitted(self)
        texts = (text(tree, table=self._header) for tree in self.trees_)
        return "\n".join(f"tree {number}:\n{tree_text}" for number, tree_text in enumerate(texts, 1))

    def _grow(self, training: Training) -> None:
        check_voting(self.voting)
        try:
            self.trees_ = grow_forest_from(
                training,
                n_trees=self.n_estimators,
                goodness=self.goodness,
                separation=self.separation,
                min_records=self.min_records,
                confidence=self.confidence,
            )
        except ValueOutOfRange as error:
            if error.name != "n_trees":
                raise
            raise ValueOutOfRange("n_estimators", error.value, error.allowed) from error

    def _predict_codes(self, table: Table) -> Codes:
        return classify_forest(self.trees_, table, voting=self.voting)

    def _predict_shares(self, table: Table) -> Floats:
        return forest_shares(self.trees_, table, voting=self.voting)


# Trees from disguised answers.


class RandomizedResponseTreeClassifier(SingleTreeMixin, TableClassifier):
    """The tree of Du and Zhan (2003): ID3 from counts estimated from randomised answers.

    ``scheme``: a `leafcover.randomized_response.Scheme` that names the randomised columns and their mechanisms; columns
    have their names in a frame, or x0, x1, ..., and the class has the name of ``y``, or "class". Levels are texts: "0"
    and "1" for numbers. None, the default, means that nothing is randomised. ``criterion``, ``min_support``,
    ``deviations``, ``significance``, ``purity`` and ``max_depth``: as in `leafcover.randomized_response.StoppingRules`.
    ``bins``: the number of bins, of about equally many rows, for open numbers.

    ``fit`` takes the reported answers. ``predict``, ``predict_proba`` and ``score`` take true answers;
    ``disguised_score`` estimates the accuracy from reported answers. There are no sample weights.

    After ``fit``: ``classes_``, ``tree_`` (a `leafcover.tree.tree.Tree` whose counts are estimates),
    ``n_features_in_``, and ``feature_names_in_`` for a frame.

    >>> from leafcover.randomized_response import DisguisedColumns, OneCoin
    >>> levels = {"x0": ("0", "1"), "x1": ("0", "1"), "class": ("0", "1")}
    >>> scheme = Scheme(DisguisedColumns(levels, OneCoin(0.9, columns=3)))
    >>> truth = np.array([[0, 0], [0, 1], [1, 0], [1, 1]] * 100)
    >>> heads = (np.arange(400) % 10 > 0)[:, None]  # nine of ten coins show heads, fixed for this example
    >>> reported = np.where(heads, truth, 1 - truth)
    >>> label = np.where(heads[:, 0], truth[:, 0], 1 - truth[:, 0])
    >>> model = RandomizedResponseTreeClassifier(scheme=scheme).fit(reported, label)
    >>> print(model.export_text(), end="")
    x0 = 0: 0 (200.0)
    x0 = 1: 1 (200.0)
    """

    def __init__(
        self,
        *,
        scheme: Scheme | None = None,
        criterion: Criterion = "gain",
        min_support: float = 10.0,
        deviations: float = 2.0,
        significance: float = 0.05,
        purity: float = 1.0,
        max_depth: int | None = None,
        bins: int = 8,
    ) -> None:
        self.scheme = scheme
        self.criterion = criterion
        self.min_support = min_support
        self.deviations = deviations
        self.significance = significance
        self.purity = purity
        self.max_depth = max_depth
        self.bins = bins

    def export_text(self) -> str:
        """The tree in the format of C4.5; its counts and errors are estimates."""
        check_is_fitted(self)
        return text(self.tree_)

    def disguised_score(self, X: Any, y: Any) -> ProportionEstimate:
        """The accuracy for people whose reports are ``X`` and ``y``, with its standard errors."""
        table = self._known(X)
        labels = labels_of(y, model=type(self).__name__)
        check_consistent_length(table.columns[0].values, labels)
        texts = [text_of_label(label) for label in labels.tolist()]
        levels = tuple(sorted(set(texts)))
        codes = np.array([levels.index(one) for one in texts], np.int32)
        with value_errors():
            return accuracy(self.tree_, self._with_class(table, codes, levels), self._coins)

    def _grow(self, training: Training) -> None:
        rules = StoppingRules(
            criterion=self.criterion,
            min_support=self.min_support,
            deviations=self.deviations,
            significance=self.significance,
            purity=self.purity,
            max_depth=self.max_depth,
        )
        self._target = training.target
        pairs = zip(training.attributes, training.columns, strict=True)
        given = Table(
            tuple(Column(a.name, "number" if a.is_number else "category", values, a.levels) for a, values in pairs)
        )
        self._refuse_other_names(given)
        self._coding = coding(given, self._coins, self.bins)
        table = self._with_class(given, training.labels, training.classes)
        self.tree_ = grow_tree(table, self._coins, target=training.target, rules=rules)
        self._of_tree = _places(self.tree_, training.classes)

    def _predict_codes(self, table: Table) -> Codes:
        return self._of_tree[classify(self.tree_, self._coding.table(table))]

    def _predict_shares(self, table: Table) -> Floats:
        shares = distribution(self.tree_, self._coding.table(table))
        found = np.empty_like(shares)
        found[:, self._of_tree] = shares
        return found

    @property
    def _coins(self) -> Scheme:
        if self.scheme is None:
            return Scheme()
        if not isinstance(self.scheme, Scheme):
            raise PlanError(f"scheme must be a leafcover.randomized_response.Scheme. Got {type(self.scheme).__name__}.")
        return self.scheme

    def _refuse_other_names(self, table: Table) -> None:
        """Refuse a scheme with unknown columns: it would be ignored, and reports would be used as true answers."""
        here = {*table.names, self._target}
        if other := [name for part in self._coins.parts for name in part.names if name not in here]:
            known = ", ".join(map(repr, table.names[:10]))
            raise PlanError(
                f"The scheme names an unknown column {other[0]!r}. The columns are {known}, and the class is "
                f"{self._target!r}. Use the column names of X and the name of y."
            )

    def _with_class(self, table: Table, codes: Codes, levels: tuple[str, ...]) -> Table:
        label = Column(self._target, "category", codes, levels)
        return Table((*self._coding.table(table).columns, label))


def _places(tree: Tree, classes: tuple[str, ...]) -> Codes:
    """For each class of a tree its position among the reported classes."""
    if unknown := [name for name in tree.classes if name not in classes]:
        raise PlanError(
            f"The scheme declares class {unknown[0]!r}, which is never reported. Give more rows, or remove it."
        )
    return np.array([classes.index(name) for name in tree.classes], np.int32)


# Every column as a category: randomised columns by their values, open numbers by bins of about equally many rows.


MOST_BINS = 1000


@dataclass(frozen=True, eq=False)
class AnswerCoding:
    """The upper edges of the bins of each open number; randomised columns keep their values as levels."""

    edges: Mapping[str, Floats]
    reports: Collection[str]

    def table(self, table: Table) -> Table:
        """The table with all columns as categories."""
        return Table(tuple(self._column(column) for column in table))

    def _column(self, column: Column) -> Column:
        if column.is_category:
            return Column(column.name, "category", column.values, column.levels)
        if column.name in self.reports:
            return as_levels(column)
        edges = self.edges[column.name]
        codes = np.searchsorted(edges, column.values).astype(np.int32)
        return Column(column.name, "category", np.where(column.missing, MISSING, codes).astype(np.int32), _names(edges))


def coding(table: Table, scheme: Scheme, bins: int) -> AnswerCoding:
    """How the columns of a table become categories."""
    if not 2 <= bins <= MOST_BINS:
        raise ValueOutOfRange("bins", bins, f"a whole number from 2 to {MOST_BINS}")
    reports = {name for part in scheme.parts for name in part.names}
    edges = {
        column.name: _edges(column.values[~column.missing], bins)
        for column in table
        if not column.is_category and column.name not in reports
    }
    return AnswerCoding(edges, reports)


def as_levels(column: Column) -> Column:
    """A number as a category of its values, written as 1 rather than 1.0."""
    known = ~column.missing
    distinct, place = np.unique(column.values[known], return_inverse=True)
    texts = [shortest_text(value) for value in distinct.tolist()]
    order = sorted(range(len(texts)), key=texts.__getitem__)
    rank = np.empty(len(texts), np.int32)
    rank[order] = np.arange(len(texts), dtype=np.int32)
    codes = np.full(len(column), MISSING, np.int32)
    codes[known] = rank[place]
    return Column(column.name, "category", codes, tuple(texts[number] for number in order))


def _edges(values: Array, bins: int) -> Floats:
    """The largest value of each bin except the last."""
    if not len(values):
        return np.zeros(0)
    wanted = np.quantile(values, np.arange(1, bins) / bins, method="inverted_cdf")
    return np.unique(wanted[wanted < values.max()])


def _names(edges: Floats) -> tuple[str, ...]:
    texts = [shortest_text(edge) for edge in edges.tolist()]
    if not texts:
        return ("any",)
    between = (f"above {low} to {high}" for low, high in pairwise(texts))
    return (f"to {texts[0]}", *between, f"above {texts[-1]}")
