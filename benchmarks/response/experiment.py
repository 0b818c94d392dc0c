"""The accuracy of trees from randomised answers on Adult, by the probability of the truth."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

import leafcover as lc
from leafcover.keyed_random import Draws, Key
from leafcover.randomized_response import (
    PAPER,
    DisguisedColumns,
    OneCoin,
    Scheme,
    StoppingRules,
    Warner,
    disguise,
    grow_tree,
    pruned,
)
from leafcover.table.io import sample
from leafcover.table.table import Column, Table
from leafcover.tree.predict import errors_on, leaf_of
from leafcover.tree.tree import Tree

THETAS = (0.0, 0.1, 0.2, 0.3, 0.4, 0.45, 0.51, 0.55, 0.6, 0.7, 0.8, 0.9, 1.0)
RUNS, FEWER_RUNS = 50, 10
ROWS = 10_000
TRAINING = 2 / 3  # share of training rows, and again of these if some are kept for pruning
TARGET = "income"
NO_YES = ("no", "yes")

Way = Callable[[Table, Scheme], Tree]


def by_paper(table: Table, scheme: Scheme) -> Tree:
    """ID3 as published."""
    return grow_tree(table, scheme, target=TARGET, rules=PAPER)


def by_paper_pruned(table: Table, scheme: Scheme) -> Tree:
    """The same from two thirds of the rows, pruned with the others, which are randomised as well."""
    some, others = parts(table)
    return pruned(grow_tree(some, scheme, target=TARGET, rules=PAPER), others, scheme)


def by_rules(table: Table, scheme: Scheme) -> Tree:
    """With the default rules against noise."""
    return grow_tree(table, scheme, target=TARGET, rules=StoppingRules())


def by_looser_rules(table: Table, scheme: Scheme) -> Tree:
    """With rules that accept less certain splits."""
    return grow_tree(table, scheme, target=TARGET, rules=StoppingRules(significance=0.5, deviations=1))


WAYS: dict[str, Way] = {
    "the paper's way": by_paper,
    "the paper's way, pruned": by_paper_pruned,
    "rules against noise": by_rules,
    "looser rules": by_looser_rules,
}


@dataclass(frozen=True)
class Outcome:
    """The trees of one variant at one θ, tested on the same rows, which are new to them and not randomised."""

    accuracy: np.ndarray  # (runs,)
    nodes: np.ndarray  # (runs,) of the trees
    mislabelled: np.ndarray  # (runs,) share of the true training rows in leaves with another label than most of them
    same: bool  # every tree is the plain one

    @property
    def mean(self) -> float:
        """The mean accuracy in per cent."""
        return 100 * float(self.accuracy.mean())

    @property
    def variance(self) -> float:
        """The variance of the accuracy in squared per cent."""
        return 1e4 * float(self.accuracy.var(ddof=1)) if len(self.accuracy) > 1 else 0.0


def adult(middle: Callable[[np.ndarray], float], rows: int = ROWS) -> Table:
    """The first rows of Adult with two levels per column: above the middle, or equal to the most frequent level."""
    table = lc.read(sample("adult")).take(np.arange(rows))
    return Table(tuple(two_levels(column, middle) for column in table))


def two_levels(column: Column, middle: Callable[[np.ndarray], float]) -> Column:
    """A column as no and yes; a missing value counts as no."""
    if column.name == TARGET:
        high = column.values == column.levels.index(">50K")
    elif column.is_category:
        high = column.values == np.bincount(column.values[~column.missing]).argmax()
    else:
        high = column.values > middle(column.values[~column.missing])
    return Column(column.name, "category", high.astype(np.int32), NO_YES)


def midrange(values: np.ndarray) -> float:
    """The midpoint between the smallest and the largest value."""
    return float(values.min() + values.max()) / 2


READINGS: dict[str, Callable[[np.ndarray], float]] = {"median": lambda v: float(np.median(v)), "midrange": midrange}


def parts(table: Table) -> tuple[Table, Table]:
    """The first two thirds of the rows, and the others."""
    many = round(TRAINING * len(table))
    return table.take(np.arange(many)), table.take(np.arange(many, len(table)))


def one_coin(theta: float, names: Sequence[str]) -> Scheme:
    """One coin for all answers of a person, including the class."""
    return Scheme(DisguisedColumns(dict.fromkeys(names, NO_YES), OneCoin(theta, len(names))))


def coin_each(theta: float, names: Sequence[str]) -> Scheme:
    """A coin for every answer."""
    return Scheme(*(DisguisedColumns({name: NO_YES}, Warner(theta)) for name in names))


def outcome(table: Table, scheme: Scheme, way: Way, runs: int) -> Outcome:
    """Randomise the training rows repeatedly, grow trees, and test them on the other rows."""
    training, others = parts(table)
    plain = way(training, Scheme())
    figures, same = [], True
    for run in range(runs):
        tree = way(disguise(training, scheme, Draws(Key.from_seed(run).secret)), scheme)
        same &= same_tree(tree, plain)
        figures.append((1 - errors_on(tree, others) / len(others), tree.size, mislabelled(tree, training)))
    return Outcome(*np.array(figures).T, same)


def same_tree(tree: Tree, other: Tree) -> bool:
    """Whether two trees are equal, including counts."""
    fields = ("tested", "first", "label", "counts")
    return all(np.array_equal(getattr(tree, field), getattr(other, field)) for field in fields)


def mislabelled(tree: Tree, truth: Table) -> float:
    """The share of true rows in leaves whose label differs from the majority of the true rows there."""
    leaf, codes = leaf_of(tree, truth), truth[TARGET].values
    counts = np.zeros((tree.size, len(tree.classes)))
    np.add.at(counts, (leaf, codes), 1)
    own = counts[np.arange(tree.size), tree.label]
    return float(counts.sum(axis=1)[own < counts.max(axis=1)].sum() / len(leaf))


@dataclass(frozen=True)
class Found:
    """The results for the page."""

    plain: dict[tuple[str, str], float]  # by reading and way: accuracy of the tree from undisguised rows, per cent
    by_theta: dict[tuple[str, str, float], Outcome]  # by reading, way and θ
    each: dict[float, Outcome]  # a coin for every answer, rules against noise, by θ
    runs: int
    seconds: float


def experiment(runs: int = RUNS, fewer: int = FEWER_RUNS, thetas: Sequence[float] = THETAS, rows: int = ROWS) -> Found:
    """The whole experiment; the second reading and one coin per answer have fewer runs."""
    began = time.process_time()
    plain, by_theta, each = {}, {}, {}
    for reading, middle in READINGS.items():
        table = adult(middle, rows)
        some = runs if reading == "median" else fewer
        for name, way in WAYS.items():
            training, others = parts(table)
            plain[reading, name] = 100 * (1 - errors_on(way(training, Scheme()), others) / len(others))
            for theta in thetas:
                by_theta[reading, name, theta] = outcome(table, one_coin(theta, table.names), way, some)
                print(reading, name, theta, f"{by_theta[reading, name, theta].mean:.2f}", flush=True)
        if reading == "median":
            for theta in (one for one in thetas if 0.6 <= one <= 0.9):
                each[theta] = outcome(table, coin_each(theta, table.names), by_rules, fewer)
    return Found(plain, by_theta, each, runs, time.process_time() - began)
