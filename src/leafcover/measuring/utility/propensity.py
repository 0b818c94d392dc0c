"""The propensity score: how well a model tells released rows from original ones (Snoke and others 2018).

Rows of both tables are stacked, a model gives each its chance of being a released one, and pMSE is the mean squared
distance of that chance from the released rows' share. It is told by what chance alone would give: a ratio near or
below 1 means that the model sees nothing. A copy gives 0. Needs no pairs of rows.
"""

from dataclasses import dataclass
from math import ceil, sqrt
from typing import NamedTuple

import numpy as np

from leafcover.fast.arrays import Floats
from leafcover.measuring.learners import scikit_learn
from leafcover.measuring.pair import Pair
from leafcover.measuring.sampling import SEED, how, some_rows
from leafcover.measuring.utility.design import design, independent, part
from leafcover.measuring.utility.logistic import logistic

MOST_ROWS = 50_000  # of each table
MOST_ROWS_OF_TREES = 5_000
PERMUTATIONS = 10
LEAST_LEAF = 0.01  # of the stacked rows, at least 5 of them


@dataclass(frozen=True)
class Propensity:
    """How well a model tells the tables apart."""

    model: str
    value: float  # pMSE: 0 when it sees nothing, c·(1 - c) when it is never wrong, c the share of released rows
    expected: float  # by chance alone
    ratio: float  # value by expected; 0 where the model had nothing to look at
    deviations: float  # (value - expected) in standard deviations of chance
    parameters: int  # of a regression, the intercept among them; 0 for a tree
    rows: int  # of each table, used
    of: int
    how: str


class Stacked(NamedTuple):
    """The rows of both tables on top of each other, and which of them are released ones."""

    matrix: Floats  # the intercept first
    released: Floats  # 0 and 1
    rows: int  # of each table


def propensity(pair: Pair, *, most: int = MOST_ROWS) -> Propensity:
    """By logistic regression on the columns themselves, without their products.

    Chance gives (k - 1)·c·(1 - c)·(1 - c·f) / N for k parameters, N rows in both tables and a share f of the
    original's rows used. With all rows this is Snoke's (k - 1)·(1 - c)²·c / N: the release varies, the original does
    not. A sample of the original varies too.
    """
    stacked = _stacked(pair, most)
    every = np.ones(len(stacked.released), bool)
    matrix = part(stacked.matrix, every, independent(stacked.matrix))
    fitted = logistic(matrix, stacked.released)
    total, more = matrix.shape[0], matrix.shape[1] - 1
    share = float(stacked.released.mean())
    value = float(((fitted.probabilities - share) ** 2).mean())
    used = stacked.rows / len(pair.original)
    each = share * (1 - share) * (1 - share * used) / total
    found = (value, more * each, sqrt(2 * more) * each)  # a chi-square of k - 1 degrees of freedom
    return _propensity("logistic regression", found, more + 1, stacked.rows, len(pair.original))


def propensity_of_trees(pair: Pair, *, most: int = MOST_ROWS_OF_TREES, permutations: int = PERMUTATIONS) -> Propensity:
    """By a classification tree, which sees relations between columns too.

    Chance is what the same tree gives when the rows' tables are named at random; needs scikit-learn.
    """
    scikit_learn()
    from sklearn.tree import DecisionTreeClassifier

    stacked = _stacked(pair, most)
    total = len(stacked.released)
    leaf = max(5, ceil(LEAST_LEAF * total))
    rng = np.random.default_rng(SEED)

    def error(labels: Floats) -> float:
        tree = DecisionTreeClassifier(min_samples_leaf=leaf, random_state=0).fit(stacked.matrix, labels)
        return float(((tree.predict_proba(stacked.matrix)[:, -1] - labels.mean()) ** 2).mean())

    value = error(stacked.released)
    chance = np.array([error(rng.permutation(stacked.released)) for _ in range(permutations)])
    found = (value, float(chance.mean()), float(chance.std(ddof=1)))
    return _propensity("classification tree", found, 0, stacked.rows, len(pair.original))


def _stacked(pair: Pair, most: int) -> Stacked:
    """The same rows of both tables: where they are paired, the same people."""
    rows = some_rows(len(pair.original), most)
    taken = pair if len(rows) == len(pair.original) else pair.take(rows)
    found = design(taken, [name for name in pair.names if name != pair.weight])
    released = np.repeat([0.0, 1.0], [len(found.before), len(found.after)])
    return Stacked(np.hstack([found.before.T, found.after.T]).T, released, len(rows))


def _propensity(model: str, found: tuple[float, float, float], parameters: int, rows: int, of: int) -> Propensity:
    value, expected, spread = found
    ratio = value / expected if expected > 0 else 0.0
    away = (value - expected) / spread if spread > 0 else 0.0
    return Propensity(model, value, expected, ratio, away, parameters, rows, of, how(rows, of))
