"""An attacker who learns: a forest grown on what he has answers for a person by the rows in the same leaves.

Each tree of a random forest (Breiman 2001) names some rows that ended in the person's leaf; the answer is the best
guess among all these rows' values. So one way serves categories and numbers alike, and what is right is right here too.
"""

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from leafcover.fast.arrays import Array, Floats, Rows
from leafcover.measuring.learners import scikit_learn
from leafcover.measuring.risk.guesses import best_guess, best_guesses
from leafcover.measuring.sampling import SEED
from leafcover.table.table import Column, Table

TREES = 16
SMALLEST = 5  # rows in a leaf
MATES = 6  # rows a tree may name
MOST_LEVELS = 64  # that guide the forest; rarer ones are taken together while it grows


def forest_guesses(
    learned: Table, labels: Floats, asked: Sequence[Table], *, is_category: bool, reach: float
) -> list[Floats]:
    """The answers for every row of the tables asked, from rows whose labels the attacker has seen.

    All tables have the same columns. Without any label there is no answer (nan).
    """
    known = np.flatnonzero(~np.isnan(labels))
    learned, labels = learned.take(known), labels[known]
    if len(labels) < 2 * SMALLEST or not learned.columns:
        alone = best_guess(labels, reach)
        return [np.full(len(table), alone) for table in asked]
    features = _features(learned, learned)
    forest = _forest(features, labels, is_category=is_category)
    leaves = forest.apply(features)
    return [
        best_guesses(labels[_mates(leaves, forest.apply(_features(learned, table)))], reach)
        if len(table)
        else np.empty(0)
        for table in asked
    ]


def _forest(features: Floats, labels: Floats, *, is_category: bool) -> Any:
    scikit_learn()
    from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

    settings = {"max_features": 0.5, "min_samples_leaf": SMALLEST, "random_state": SEED}
    if not is_category:
        return RandomForestRegressor(TREES, **settings).fit(features, _ranks(np.sort(labels), labels))
    levels, place, counts = np.unique(labels, return_inverse=True, return_counts=True)
    if len(levels) > MOST_LEVELS:
        place = np.where(np.isin(place, np.argsort(-counts, kind="stable")[:MOST_LEVELS]), place, -1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that many levels have few rows each is no mistake
        return RandomForestClassifier(TREES, **settings).fit(features, place)


def _mates(leaves: Array, asked: Array) -> Rows:
    """Learned rows that share a leaf with each person, as many from every tree: (people, TREES x MATES).

    Both are (rows, trees): the leaf of each row in each tree.
    """
    mixed = np.random.default_rng(SEED).permutation(len(leaves))  # which rows of a large leaf are named is chance
    found = []
    for learned, wanted in zip(leaves.T, asked.T, strict=True):
        order = mixed[np.argsort(learned[mixed], kind="stable")]
        start = np.searchsorted(learned[order], wanted)
        size = np.searchsorted(learned[order], wanted, side="right") - start
        found.append(order[start[:, None] + np.arange(MATES) % size[:, None]])
    return np.hstack(found)


def _features(learned: Table, table: Table) -> Floats:
    """Columns as a matrix: codes, and numbers by their place among the learned ones, so that none is too large.

    A tree needs no more; a feature for every level would take it several times as long.
    """
    return np.column_stack([_feature(seen, column) for seen, column in zip(learned, table, strict=True)])


def _feature(seen: Column, column: Column) -> Floats:
    if column.is_category:
        return column.values.astype(np.float64)
    return np.where(column.missing, -1.0, _ranks(np.sort(seen.values[~seen.missing]), column.values))


def _ranks(ordered: Array, values: Array) -> Floats:
    """The middle place of each value among ordered ones."""
    below, upto = np.searchsorted(ordered, values), np.searchsorted(ordered, values, side="right")
    ranks: Floats = (below + upto) / 2
    return ranks
