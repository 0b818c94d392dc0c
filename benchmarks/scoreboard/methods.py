"""Textbook methods, a few lines each: microaggregation and sequential CART.

Arrays in, arrays out. They are baselines, written as in the literature.
"""

from collections.abc import Sequence

import numpy as np

from leafcover.arrays import Array, Floats, Rows


def mdav(numbers: Floats, k: int) -> Rows:
    """The group of every row, each of at least k and fewer than 2k rows (all in one when there are fewer than 2k).

    MDAV (Domingo-Ferrer and Torra 2005), on standardised columns: the row farthest from the centre takes its k - 1
    nearest, then the row farthest from that one does, until fewer than 3k rows are left.
    """
    points = standardised(numbers)
    group: Rows = np.zeros(len(points), np.int64)
    left = np.arange(len(points))
    groups = 0
    while len(left) >= 3 * k:
        first = _farthest(points, left, points[left].mean(axis=0))
        second = _farthest(points, left, points[first])
        for centre in (first, second):
            near = _nearest(points, left, centre, k)
            group[near] = groups
            groups += 1
            left = np.setdiff1d(left, near, assume_unique=True)
    if len(left) >= 2 * k:
        near = _nearest(points, left, _farthest(points, left, points[left].mean(axis=0)), k)
        group[near] = groups
        groups += 1
        left = np.setdiff1d(left, near, assume_unique=True)
    group[left] = groups
    return group


def standardised(numbers: Floats) -> Floats:
    """Every column with mean 0 and standard deviation 1; a constant one is 0."""
    spread = numbers.std(axis=0)
    found: Floats = (numbers - numbers.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    return found


def _squared(points: Floats, rows: Rows, centre: Floats) -> Floats:
    apart = points[rows] - centre
    found: Floats = np.einsum("ij,ij->i", apart, apart)
    return found


def _farthest(points: Floats, left: Rows, centre: Floats) -> int:
    return int(left[np.argmax(_squared(points, left, centre))])


def _nearest(points: Floats, left: Rows, centre: int, k: int) -> Rows:
    """The k rows nearest to a row, always including itself, even if others are equal to it."""
    squared = _squared(points, left, points[centre])
    squared[left == centre] = -1.0
    near: Rows = left[np.argpartition(squared, k - 1)[:k]]
    return near


def group_means(values: Floats, group: Rows) -> Floats:
    """Every value replaced by the mean of its group.

    >>> group_means(np.array([1.0, 3.0, 10.0]), np.array([0, 0, 1]))
    array([ 2.,  2., 10.])
    """
    means: Floats = np.bincount(group, values) / np.bincount(group)
    return means[group]


def sequential_cart(
    columns: Sequence[Array], is_category: Sequence[bool], rng: np.random.Generator, *, least: int = 5
) -> list[Array]:
    """A synthetic table: every column drawn from a tree of the columns before it (Reiter 2005).

    The first column is a bootstrap sample. For each later one a tree with at least ``least`` rows per leaf is grown on
    the original; each synthetic row gets the value of a random original row of the leaf that it falls into.
    """
    from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

    drawn = [columns[0][rng.integers(len(columns[0]), size=len(columns[0]))]]
    for place in range(1, len(columns)):
        grow = DecisionTreeClassifier if is_category[place] else DecisionTreeRegressor
        tree = grow(min_samples_leaf=least, random_state=int(rng.integers(2**31)))
        before = [_features(columns[p], columns[p], is_category[p]) for p in range(place)]
        leaves = tree.fit(np.hstack(before), columns[place]).apply(np.hstack(before))
        reached = tree.apply(np.hstack([_features(columns[p], drawn[p], is_category[p]) for p in range(place)]))
        drawn.append(columns[place][_donors(leaves, reached, rng)])
    return drawn


def _features(seen: Array, values: Array, is_category: bool) -> Floats:
    """A number as it is; a category as one indicator for each level that was seen."""
    return (values[:, None] == np.unique(seen) if is_category else values[:, None]).astype(np.float32)


def _donors(leaves: Rows, reached: Rows, rng: np.random.Generator) -> Rows:
    """For every leaf that is reached, a random one of the rows in it, with replacement."""
    order = np.argsort(leaves, kind="stable")
    first, last = (np.searchsorted(leaves[order], reached, side=side) for side in ("left", "right"))
    found: Rows = order[rng.integers(first, last)]
    return found
