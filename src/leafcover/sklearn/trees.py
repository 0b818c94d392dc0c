"""C4.5 for scikit-learn."""

from sklearn.utils.validation import check_is_fitted

from leafcover.arrays import Codes, Floats
from leafcover.sklearn.base import SingleTreeMixin, TableClassifier
from leafcover.table.table import Table
from leafcover.tree.c45 import Grower, grow_from
from leafcover.tree.export import text
from leafcover.tree.predict import Voting, check_voting, classify, classify_forest, distribution, forest_shares
from leafcover.tree.sysfor import grow_forest_from
from leafcover.tree.training import Training


class C45Classifier(SingleTreeMixin, TableClassifier):
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


# SysFor for scikit-learn.


class SysForClassifier(TableClassifier):
    """The forest of SysFor: trees that begin with one good test after the other, C4.5 below (Islam and Giggins 2011).

    ``n_trees``: at most so many; fewer when there are not so many good tests, one at least. ``goodness``: how much the
    gain ratio of a root may fall short of the best one. ``separation``: how far apart two cuts of one number must be,
    as a share of its range. ``min_records`` and ``confidence``: as in `C45Classifier`. Rows with a missing value are
    dropped while at least half of all are complete; otherwise all are shared by weight, as in C4.5.

    ``voting``: "majority", one vote a tree; of classes with equally many votes the one whose trees are surer. The other
    two are experimental: "most-accurate-leaf", the leaf in which its class has the largest share decides;
    "combined", the class with the largest sum of such shares. ``predict_proba`` is the share of the votes (of the sums,
    or the shares in the deciding leaf): how much the trees agree, not how often they are right. In a tie of votes
    ``predict`` need not be the first of its largest values.

    After ``fit``: ``classes_``, ``trees_`` (a tuple of `leafcover.tree.tree.Tree`), ``n_features_in_``, and
    ``feature_names_in_`` for a frame.

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
        n_trees: int = 60,
        goodness: float = 0.3,
        separation: float = 0.3,
        min_records: int = 10,
        confidence: float = 0.25,
        voting: Voting = "majority",
    ) -> None:
        self.n_trees = n_trees
        self.goodness = goodness
        self.separation = separation
        self.min_records = min_records
        self.confidence = confidence
        self.voting = voting

    def export_text(self) -> str:
        """The trees one after the other, as C4.5 prints them."""
        check_is_fitted(self)
        shown = (text(tree, table=self._header) for tree in self.trees_)
        return "\n".join(f"tree {number}:\n{words}" for number, words in enumerate(shown, 1))

    def _grow(self, training: Training) -> None:
        check_voting(self.voting)
        self.trees_ = grow_forest_from(
            training,
            n_trees=self.n_trees,
            goodness=self.goodness,
            separation=self.separation,
            min_records=self.min_records,
            confidence=self.confidence,
        )

    def _answers(self, table: Table) -> Codes:
        return classify_forest(self.trees_, table, voting=self.voting)

    def _shares(self, table: Table) -> Floats:
        return forest_shares(self.trees_, table, voting=self.voting)
