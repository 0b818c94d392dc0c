"""Models that learn a class from rows and answer others, and the rows in the two forms that they want."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, TypeAlias

import numpy as np

from leafcover.errors import NameUnknown, TableError
from leafcover.fast.arrays import MISSING, Array, Codes, Rows, Singles
from leafcover.measuring.learners import Features, features_of, learning, scikit_learn
from leafcover.measuring.pair import Pair
from leafcover.measuring.sampling import some_rows
from leafcover.table.table import Column, Table
from leafcover.tree.forest import classify_forest
from leafcover.tree.grow import grow_from
from leafcover.tree.sysfor import ENOUGH_COMPLETE, grow_forest_from
from leafcover.tree.training import Training, attribute_names, take
from leafcover.tree.tree import Attribute
from leafcover.tree.walk import classify

MOST = 22_000  # rows that models learn from
MOST_TESTS = 12_000  # held-out rows that they are asked
MIN_LEAF = 50  # rows in a leaf of the one-hot tree, for tables of 5,000 rows or more
NEIGHBOURS = 15
FOREST = 50  # trees of the random forest
SYSFOR = 20  # trees of SysFor's forest: the first of its own sixty, at a third of the time
MOST_WORK = 5_000_000  # rows x attributes x classes that such a forest is grown on: about 3.5 seconds
SHARED = 10  # times as long as without missing values
FEWEST_ROWS = 1_000  # that it is grown on all the same, where there are so many
HIDDEN = 32  # units of the network's one hidden layer
ROUNDS = 25  # times the network sees the training rows
PACE = 0.01  # of its learning; at the usual tenth of it a table of 300 rows needs 200 rounds
SEED = 0  # the same for both sides, so that equal rows give equal models


@dataclass(frozen=True, eq=False)
class Prepared:
    """Rows as columns for C4.5 and as a matrix of features for scikit-learn's models."""

    columns: tuple[Column, ...]
    matrix: Singles  # (rows, features)
    origin: Array  # (features,) the name of the column each feature comes from

    def __len__(self) -> int:
        return len(self.matrix)

    def __getitem__(self, name: str) -> Column:
        return next(column for column in self.columns if column.name == name)

    def without(self, name: str) -> "Prepared":
        """All but one column: what its values are predicted from."""
        kept = self.origin != name
        columns = tuple(column for column in self.columns if column.name != name)
        return Prepared(columns, self.matrix[:, kept], self.origin[kept])

    def take(self, rows: Rows) -> "Prepared":
        """The same at other rows."""
        return Prepared(tuple(column.take(rows) for column in self.columns), self.matrix[rows], self.origin)


@dataclass(frozen=True, eq=False)
class Sides:
    """What models are grown on, and what they are asked: held-out rows that nothing was learned from."""

    original: Prepared
    released: Prepared
    test: Prepared


def prepared(table: Table, features: Features) -> Prepared:
    """A table in the form of its features."""
    names = [column.name for column in features.columns]
    columns = tuple(replace(column, stored=None) for column in table if column.name in names)
    return Prepared(columns, features.matrix(table), np.array(features.origin))


def sides_of(pair: Pair, *, most: int, most_tests: int) -> Sides:
    """Original, release and control of a pair, each cut to a sample of its rows when it has more.

    Of tables with as many rows the same rows are taken, so of a pair the same people.
    """
    if pair.control is None:
        raise TableError("No rows were held out, so no prediction can be tested. Give a control, or release again.")
    telling = attribute_names(pair.original, "")
    names = [n for n in pair.names if n == pair.target or (n in telling and n != pair.weight)]
    original, released, test = (
        table.select(names).take(some_rows(len(table), rows))
        for table, rows in ((pair.original, most), (pair.released, most), (pair.control, most_tests))
    )
    features = features_of(original)
    return Sides(prepared(original, features), prepared(released, features), prepared(test, features))


Learner: TypeAlias = Callable[[Prepared, Codes, Prepared, int], Array]


def answers(model: str, training: Prepared, labels: Codes, test: Prepared, *, min_leaf: int | None = None) -> Codes:
    """The class that a model grown on some rows answers to others; rows of no class (-1) teach nothing.

    Where there is nothing to learn the answer is the most frequent class, or none (-1) when no class is known.
    """
    if model not in MODELS:
        raise NameUnknown("model", model, MODELS)
    known = np.flatnonzero(labels != MISSING)
    if not len(known):
        return np.full(len(test), MISSING, np.int32)
    if len(known) < len(labels):
        training, labels = training.take(known), labels[known]
    distinct, place, counts = np.unique(labels, return_inverse=True, return_counts=True)
    if len(distinct) == 1 or not training.matrix.shape[1] or not len(test):
        return np.full(len(test), distinct[counts.argmax()], np.int32)
    leaf = leaf_for(len(labels)) if min_leaf is None else min_leaf
    found = MODELS[model](training, place.astype(np.int32), test, leaf)
    return distinct[found].astype(np.int32)


def leaf_for(rows: int) -> int:
    """The rows a leaf of the one-hot tree holds at least: a hundredth of a small table, never below five.

    >>> leaf_for(22_000), leaf_for(1_000), leaf_for(100)
    (50, 10, 5)
    """
    return min(MIN_LEAF, max(5, rows // 100))


def work_of_forest(columns: Sequence[Column], classes: int) -> int:
    """What a row costs SysFor's forest: for every value C4.5 looks at every class.

    Ten times as much where too few rows are complete, so that a row without a value goes down every branch.
    """
    complete = np.ones(len(columns[0]) if columns else 1, np.bool_)
    for column in columns:
        if not (missing := column.missing).all():
            complete &= ~missing
    return max(1, len(columns) * classes) * (1 if complete.mean() >= ENOUGH_COMPLETE else SHARED)


def rows_of_forest(work: int) -> int:
    """How many rows that cost so much SysFor's forest is grown on at most.

    >>> rows_of_forest(14 * 2), rows_of_forest(14 * 20), rows_of_forest(14 * 2_000)
    (178571, 17857, 1000)
    """
    return max(FEWEST_ROWS, MOST_WORK // work)


def _c45(training: Prepared, labels: Codes, test: Prepared, _: int) -> Array:
    return classify(grow_from(_training(training, labels)), [column.values for column in test.columns])


def _sysfor(training: Prepared, labels: Codes, test: Prepared, _: int) -> Array:
    work = work_of_forest(training.columns, int(labels.max()) + 1)
    rows = some_rows(len(labels), rows_of_forest(work))
    trees = grow_forest_from(take(_training(training, labels), rows), n_trees=SYSFOR)
    return classify_forest(trees, [column.values for column in test.columns])


def _training(training: Prepared, labels: Codes) -> Training:
    classes = int(labels.max()) + 1
    return Training(
        target="",
        classes=tuple(f"{i:09d}" for i in range(classes)),
        labels=labels,
        attributes=tuple(Attribute(c.name, c.levels, not c.is_category) for c in training.columns),
        columns=tuple(c.values for c in training.columns),
        rows=np.arange(len(labels)),
    )


def _fitted(model: Any, training: Prepared, labels: Codes, test: Prepared) -> Array:
    with learning():
        return model.fit(training.matrix, labels).predict(test.matrix)


def _tree(training: Prepared, labels: Codes, test: Prepared, leaf: int) -> Array:
    scikit_learn()
    from sklearn.tree import DecisionTreeClassifier

    return _fitted(DecisionTreeClassifier(min_samples_leaf=leaf, random_state=SEED), training, labels, test)


def _logistic(training: Prepared, labels: Codes, test: Prepared, _: int) -> Array:
    scikit_learn()
    from sklearn.linear_model import LogisticRegression

    return _fitted(LogisticRegression(max_iter=200), training, labels, test)


def _neighbours(training: Prepared, labels: Codes, test: Prepared, _: int) -> Array:
    scikit_learn()
    from sklearn.neighbors import KNeighborsClassifier

    return _fitted(KNeighborsClassifier(min(NEIGHBOURS, len(labels))), training, labels, test)


def _forest(training: Prepared, labels: Codes, test: Prepared, _: int) -> Array:
    scikit_learn()
    from sklearn.ensemble import RandomForestClassifier

    return _fitted(RandomForestClassifier(FOREST, min_samples_leaf=2, random_state=SEED), training, labels, test)


def _network(training: Prepared, labels: Codes, test: Prepared, _: int) -> Array:
    scikit_learn()
    from sklearn.neural_network import MLPClassifier

    network = MLPClassifier((HIDDEN,), max_iter=ROUNDS, learning_rate_init=PACE, random_state=SEED)
    return _fitted(network, training, labels, test)


MODELS: Mapping[str, Learner] = MappingProxyType(
    {
        "c4.5": _c45,
        "sysfor": _sysfor,
        "logistic regression": _logistic,
        "nearest neighbours": _neighbours,
        "random forest": _forest,
        "neural network": _network,
        "tree": _tree,
    }
)
