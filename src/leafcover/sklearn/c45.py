"""C4.5 for scikit-learn."""

from sklearn.utils.validation import check_is_fitted

from leafcover.fast.arrays import Codes, Floats
from leafcover.sklearn.one_tree import OneTree
from leafcover.sklearn.table_classifier import TableClassifier
from leafcover.table.table import Table
from leafcover.tree.grow import Grower, grow_from
from leafcover.tree.show import text
from leafcover.tree.training import Training
from leafcover.tree.walk import classify, distribution


class C45Classifier(OneTree, TableClassifier):
    """The decision tree of C4.5 Release 8.

    ``min_records``: at least two branches of every test hold so many rows. ``confidence``: of the pessimistic
    error estimate; smaller prunes more. ``grower``: "exact", "histogram", or "auto" by the number of rows.
    There are no sample weights: C4.5 has none but those of missing values.

    ``predict`` answers the first by text of classes with equal weight, as C4.5 does; ``predict_proba`` the share of
    each class among the training rows of the leaves that a row reaches.

    After ``fit``: ``classes_`` in the order of `numpy.unique`, ``tree_`` (a `leafcover.tree.tree.Tree`, whose
    classes stand by their text), ``n_features_in_``, and ``feature_names_in_`` for a frame.

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

    def _answers(self, table: Table) -> Codes:
        return classify(self.tree_, table)

    def _shares(self, table: Table) -> Floats:
        return distribution(self.tree_, table)

    def export_text(self) -> str:
        """The tree as C4.5 prints it."""
        check_is_fitted(self)
        return text(self.tree_, table=self._header)
