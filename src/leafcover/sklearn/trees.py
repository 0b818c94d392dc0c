"""The C4.5 decision tree and the SysFor forest as scikit-learn classifiers."""

from sklearn.utils.validation import check_is_fitted

from leafcover.arrays import Codes, Floats
from leafcover.errors import ValueOutOfRange
from leafcover.sklearn.base import SingleTreeMixin, TableClassifier
from leafcover.table.table import Table
from leafcover.tree.c45 import Grower, grow_from
from leafcover.tree.export import text
from leafcover.tree.predict import Voting, check_voting, classify, classify_forest, distribution, forest_shares
from leafcover.tree.sysfor import grow_forest_from
from leafcover.tree.tree import Training


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
