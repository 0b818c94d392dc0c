"""Models that predict a column: features from columns, the models themselves, and a column as classes.

scikit-learn is an optional extra, loaded here.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache
from types import MappingProxyType, ModuleType
from typing import Any, TypeAlias

import numpy as np

from leafcover.arrays import MISSING, Array, Codes, Floats, Rows, Singles
from leafcover.errors import LeafcoverError, NameUnknown, TableError, ValueOutOfRange
from leafcover.metrics.pair import Pair, bare, same_levels, sample_rows
from leafcover.table.table import Column, Table
from leafcover.tree.c45 import grow_from
from leafcover.tree.predict import classify, classify_forest
from leafcover.tree.sysfor import MIN_COMPLETE_SHARE, grow_forest_from
from leafcover.tree.tree import MAX_NUMERIC_CLASSES, Attribute, Training, attribute_names, take_rows

MOST_LEVELS = 50  # of one category with their own feature; rarer ones share one
MOST_FEATURES = 2_000  # of all categories together; with very many columns each has fewer
FURTHEST = 100.0  # deviations from the mean; values are clipped there, or models would overflow


def scikit_learn() -> ModuleType:
    """The library scikit-learn, an optional extra; a clear error if it is missing."""
    try:
        import sklearn
    except ImportError:
        raise LeafcoverError(
            "Install leafcover[measure] to measure this (scikit-learn is missing): pip install 'leafcover[measure]'."
        ) from None
    return sklearn


@contextmanager
def learning() -> Iterator[None]:
    """While models are fitted: one thread of linear algebra, and no warning if a model has not fully converged.

    Threads slow small matrices down: a network on 22,000 rows of Adult took 14 s with two, 1.4 s with one. Models
    do not check their parameters, nor features, which are finite.
    """
    import warnings

    unchecked = scikit_learn().config_context(skip_parameter_validation=True, assume_finite=True)
    from sklearn.exceptions import ConvergenceWarning

    with _threads().limit(limits=1), warnings.catch_warnings(), unchecked:
        warnings.simplefilter("ignore", ConvergenceWarning)
        yield


@cache
def _threads() -> Any:
    """The pools of threads of the libraries for linear algebra, which are loaded first; to find them takes 3 ms."""
    import scipy.linalg  # noqa: F401
    import sklearn.cluster  # noqa: F401
    from threadpoolctl import ThreadpoolController  # type: ignore[import-untyped]

    return ThreadpoolController()


@dataclass(frozen=True)
class NumberFeature:
    """A number in deviations from the original's mean; a missing value becomes the median, with an indicator."""

    name: str
    unit: float  # values are divided by it first, so that squares do not overflow
    mean: float
    deviation: float
    median: float
    marked: bool  # whether a second feature indicates missing values

    @property
    def width(self) -> int:
        """The number of features of the column."""
        return 1 + self.marked

    def fill(self, column: Column, matrix: Singles) -> None:
        """Write the column's features."""
        missing = column.missing
        known = np.where(missing, self.median, column.values)
        with np.errstate(over="ignore"):  # a released value may lie far outside the original's range
            share = (known / self.unit - self.mean) / self.deviation
        matrix[:, 0] = np.clip(share, -FURTHEST, FURTHEST)
        if self.marked:
            matrix[:, 1] = missing


@dataclass(frozen=True, eq=False)
class CategoryFeature:
    """A category with a feature for every level of the original, one of them for missing, one for rare levels."""

    name: str
    place: Codes  # (levels + 1,) feature of each code, that of a missing value last; -1: no feature
    width: int

    def fill(self, column: Column, matrix: Singles) -> None:
        """Write the column's features; a level that is not in the original sets no feature."""
        place = self.place[column.values]
        rows = np.flatnonzero(place >= 0)
        matrix[rows, place[rows]] = 1.0


@dataclass(frozen=True, eq=False)
class Features:
    """How columns become one matrix: fitted on one table (the original's training rows), applied to others."""

    columns: tuple[NumberFeature | CategoryFeature, ...]

    @property
    def width(self) -> int:
        """The number of features."""
        return sum(column.width for column in self.columns)

    @property
    def origin(self) -> tuple[str, ...]:
        """For each feature the column it comes from."""
        return tuple(column.name for column in self.columns for _ in range(column.width))

    def matrix(self, table: Table) -> Singles:
        """The features of a table that has the same codes for levels."""
        found = np.zeros((len(table), self.width), np.float32)
        start = 0
        for column in self.columns:
            column.fill(table[column.name], found[:, start : start + column.width])
            start += column.width
        return found


def features_of(original: Table, names: Sequence[str] | None = None) -> Features:
    """Fit features to the columns of a table (all, unless named): numbers first, then categories."""
    columns = [original[name] for name in (original.names if names is None else names)]
    categories = [c for c in columns if c.is_category]
    most = max(2, min(MOST_LEVELS, MOST_FEATURES // max(1, len(categories))))
    numbers = [_number(c) for c in columns if not c.is_category]
    return Features((*numbers, *(_category(c, most) for c in categories)))


def _number(column: Column) -> NumberFeature:
    missing = column.missing
    known = column.values[~missing]
    if not len(known):
        return NumberFeature(column.name, 1.0, 0.0, 1.0, 0.0, True)
    unit = float(np.abs(known).max()) or 1.0
    shares = known / unit
    # a constant column must become zeros, whatever the rounding error of its deviation
    spread = float(shares.std()) if known.min() < known.max() else 0.0
    median = float(np.median(shares)) * unit
    return NumberFeature(column.name, unit, float(shares.mean()), spread or 1.0, median, bool(missing.any()))


def _category(column: Column, most: int) -> CategoryFeature:
    counts = counts_of(column)
    kept = most_frequent(counts, most)
    place = np.full(len(counts), MISSING, np.int32)
    place[kept] = np.arange(len(kept), dtype=np.int32)
    pooled = len(kept) < int(np.count_nonzero(counts))
    if pooled:
        place[place == MISSING] = len(kept)
    return CategoryFeature(column.name, place, len(kept) + pooled)


def counts_of(column: Column) -> Rows:
    """The count of each level of a category, and last that of missing values."""
    codes: Array = np.where(column.values == MISSING, len(column.levels), column.values)
    return np.bincount(codes, minlength=len(column.levels) + 1)


def most_frequent(counts: Rows, most: int) -> Rows:
    """The positions of the largest positive counts, at most so many (the first of equal ones), in ascending order.

    >>> most_frequent(np.array([3, 0, 9, 3, 1]), 3).tolist()
    [0, 2, 3]
    """
    order = np.argsort(-counts, kind="stable")[:most]
    return np.sort(order[counts[order] > 0])


# Models that learn a class from rows and predict it for others, and the two forms of rows that they need.


MOST = 22_000  # rows that models are trained on
MOST_TESTS = 12_000  # held-out rows that they predict
MIN_LEAF = 50  # rows in a leaf of the one-hot tree, for tables of 5,000 rows or more
NEIGHBOURS = 15
FOREST = 50  # trees of the random forest
SYSFOR = 20  # trees of SysFor's forest: the first of its sixty, in a third of the time
MOST_WORK = 5_000_000  # rows x attributes x classes for such a forest: about 3.5 seconds
SHARED = 10  # times as long as without missing values
FEWEST_ROWS = 1_000  # the fewest it is grown on, if the table has them
HIDDEN = 32  # units of the network's one hidden layer
ROUNDS = 25  # epochs of the network
PACE = 0.01  # its learning rate; at the usual 0.001 a table of 300 rows needs 200 rounds
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
        """All columns but one, which is to be predicted."""
        kept = self.origin != name
        columns = tuple(column for column in self.columns if column.name != name)
        return Prepared(columns, self.matrix[:, kept], self.origin[kept])

    def take(self, rows: Rows) -> "Prepared":
        """Some of the rows."""
        return Prepared(tuple(column.take(rows) for column in self.columns), self.matrix[rows], self.origin)


@dataclass(frozen=True, eq=False)
class Sides:
    """The rows that models are trained on, and held-out rows to test them.

    If the release was recoded, its models see recoded rows; a model of the original sees the rows before recoding, and
    predicts the same recoded classes.
    """

    original: Prepared
    released: Prepared
    test: Prepared
    raw: tuple[Prepared, Prepared] | None = None  # original and test before recoding

    @property
    def whole(self) -> Prepared:
        """What models of the original learn from."""
        return self.original if self.raw is None else self.raw[0]

    def learned(self, target: str) -> tuple[Prepared, Prepared]:
        """The same without a target, and the rows that they are tested on."""
        test = self.test if self.raw is None else self.raw[1]
        return self.whole.without(target), test.without(target)


def prepared(table: Table, features: Features) -> Prepared:
    """A table as columns and as features."""
    names = [column.name for column in features.columns]
    columns = tuple(replace(column, stored=None) for column in table if column.name in names)
    return Prepared(columns, features.matrix(table), np.array(features.origin))


def sides_of(pair: Pair, *, most: int, most_tests: int) -> Sides:
    """Original, release and control of a pair, each sampled if it has more rows.

    Tables with the same number of rows are sampled at the same rows, so a pair at the same people.
    """
    if pair.control is None:
        raise TableError("No rows were held out, so no prediction can be tested. Give a control.")
    telling = attribute_names(pair.original, "")
    names = [n for n in pair.names if n == pair.target or (n in telling and n != pair.weight)]
    original, released, test = (
        table.select(names).take(sample_rows(len(table), rows))
        for table, rows in ((pair.original, most), (pair.released, most), (pair.control, most_tests))
    )
    features = features_of(original)
    sides = Sides(prepared(original, features), prepared(released, features), prepared(test, features))
    if pair.raw is None or pair.raw.control is None:
        return sides
    both = (table.select(names) for table in (pair.raw.original, pair.raw.control))
    before, aside = same_levels([bare(table) for table in both])
    before, aside = before.take(sample_rows(len(before), most)), aside.take(sample_rows(len(aside), most_tests))
    features = features_of(before)
    return replace(sides, raw=(prepared(before, features), prepared(aside, features)))


Learner: TypeAlias = Callable[[Prepared, Codes, Prepared, int], Array]


def answers(model: str, training: Prepared, labels: Codes, test: Prepared, *, min_leaf: int | None = None) -> Codes:
    """The class that a model trained on some rows predicts for others; rows without a class (-1) are not used.

    If nothing can be learned, the answer is the most frequent class, or -1 if no class is known.
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
    """The fewest rows in a leaf of the one-hot tree: a hundredth of a small table, never below five.

    >>> leaf_for(22_000), leaf_for(1_000), leaf_for(100)
    (50, 10, 5)
    """
    return min(MIN_LEAF, max(5, rows // 100))


def work_of_forest(columns: Sequence[Column], classes: int) -> int:
    """The cost of a row for SysFor's forest: C4.5 counts every class for every value.

    Ten times as much if few rows are complete, because a row with a missing value goes down every branch.
    """
    complete = np.ones(len(columns[0]) if columns else 1, np.bool_)
    for column in columns:
        if not (missing := column.missing).all():
            complete &= ~missing
    return max(1, len(columns) * classes) * (1 if complete.mean() >= MIN_COMPLETE_SHARE else SHARED)


def rows_of_forest(work: int) -> int:
    """The most rows of this cost that SysFor's forest is grown on.

    >>> rows_of_forest(14 * 2), rows_of_forest(14 * 20), rows_of_forest(14 * 2_000)
    (178571, 17857, 1000)
    """
    return max(FEWEST_ROWS, MOST_WORK // work)


def _c45(training: Prepared, labels: Codes, test: Prepared, _: int) -> Array:
    return classify(grow_from(_training(training, labels)), [column.values for column in test.columns])


def _sysfor(training: Prepared, labels: Codes, test: Prepared, _: int) -> Array:
    work = work_of_forest(training.columns, int(labels.max()) + 1)
    rows = sample_rows(len(labels), rows_of_forest(work))
    trees = grow_forest_from(take_rows(_training(training, labels), rows), n_trees=SYSFOR)
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

    with learning():
        tree = DecisionTreeClassifier(min_samples_leaf=leaf, random_state=SEED)
        chance: Floats = tree.fit(training.matrix, labels, check_input=False).tree_.predict(test.matrix)
    return chance.argmax(axis=1)


def _logistic(training: Prepared, labels: Codes, test: Prepared, _: int) -> Array:
    scikit_learn()
    from sklearn.linear_model import LogisticRegression

    return _fitted(LogisticRegression(max_iter=200), training, labels, test)


def _neighbours(training: Prepared, labels: Codes, test: Prepared, _: int) -> Array:
    scikit_learn()
    from sklearn.neighbors import KNeighborsClassifier

    return _fitted(KNeighborsClassifier(min(NEIGHBOURS, len(labels))), training, labels, test)


def _forest(training: Prepared, labels: Codes, test: Prepared, _: int) -> Array:
    settings = {"max_features": "sqrt", "min_samples_leaf": 2}
    trees = forest_of(training.matrix, labels, FOREST, SEED, is_category=True, **settings)
    chance = np.zeros((len(test), int(labels.max()) + 1))
    for tree in trees:
        chance += tree.predict(test.matrix)
    return (chance / FOREST).argmax(axis=1)


def forest_of(
    features: Singles, labels: Array, count: int, seed: int, *, is_category: bool, **settings: Any
) -> list[Any]:
    """The trees of a random forest (Breiman 2001), each of rows drawn with replacement.

    They are those of scikit-learn's forests with the same seed, which clone and check every tree: 50 trees of 356 rows
    take 109 ms there, 50 ms here.
    """
    scikit_learn()
    from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

    kind = DecisionTreeClassifier if is_category else DecisionTreeRegressor
    rows, seeds, draws, trees = len(labels), np.random.RandomState(seed), np.random.RandomState(seed), []
    with learning():
        for own in [seeds.randint(np.iinfo(np.int32).max) for _ in range(count)]:
            draws.seed(own)  # 2 us; a new generator takes 180 us
            drawn = draws.randint(0, rows, rows, dtype=np.int32)
            draws.seed(own)
            tree = kind(random_state=draws, **settings)
            weight = np.bincount(drawn, minlength=rows).astype(np.float64)
            trees.append(tree.fit(features, labels, sample_weight=weight, check_input=False).tree_)
    return trees


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


# A column as classes to predict, defined on the original and applied to any table of the pair.


BINS = 4  # groups of equal size for a number with many values


@dataclass(frozen=True, eq=False)
class ClassLabels:
    """The class of each value: of a number by its edges, of a category by its code."""

    count: int  # classes that occur in the original
    edges: Floats  # of a number: values up to and with edge i are of class i, the rest of the last
    place: Codes | None  # (levels,) of a category: the class of each level; None for a number
    missing: int  # the class of a missing value, or -1

    def of(self, column: Column) -> Codes:
        """The class of each row, or -1."""
        if self.place is not None:
            known = np.append(self.place, self.missing).astype(np.int32)
            return known[column.values]
        found = np.searchsorted(self.edges, column.values).astype(np.int32)
        return np.where(column.missing, self.missing, found).astype(np.int32)


def classes_for(column: Column, *, bins: int = BINS, with_missing: bool = False) -> ClassLabels:
    """The classes of an original column; ``with_missing`` makes missing values a class of their own.

    The levels of a category: the fifty most frequent, and one class for all other levels. A number with ten or
    fewer distinct values: each value, and other values belong to the nearest; with more: ``bins`` groups of equal size.
    """
    if bins < 2:
        raise ValueOutOfRange("bins", bins, "a whole number of at least 2")
    gaps = with_missing and bool(column.missing.any())
    if column.is_category:
        counts = counts_of(column)[:-1]
        kept = most_frequent(counts, MOST_LEVELS)
        place = np.full(len(counts), len(kept), np.int32)
        place[kept] = np.arange(len(kept), dtype=np.int32)
        count = len(kept) + int(len(kept) < np.count_nonzero(counts))
        return ClassLabels(count + gaps, np.empty(0), place, len(kept) + 1 if with_missing else MISSING)
    edges = _edges(column.values[~column.missing], bins)
    count = len(edges) + 1 if not column.missing.all() else 0
    return ClassLabels(count + gaps, edges, None, len(edges) + 1 if with_missing else MISSING)


def mostly_unique(column: Column) -> bool:
    """Whether a category has so many levels that it identifies rows rather than groups."""
    counts = counts_of(column)[:-1]
    return 2 * int(np.count_nonzero(counts)) > int(counts.sum())


def _edges(known: Floats, bins: int) -> Floats:
    """The edges of a number: between its few values, or after the last value of each group."""
    distinct, counts = np.unique(known, return_counts=True)
    if len(distinct) <= MAX_NUMERIC_CLASSES:
        between: Floats = distinct[:-1] / 2 + distinct[1:] / 2
        return between
    below = np.cumsum(counts)
    wanted = below[-1] * np.arange(1, bins) / bins
    ends = np.unique(np.searchsorted(below, wanted - 1e-9))  # the same groups as those of a tree grown with bins
    return distinct[ends[ends < len(distinct) - 1]]
