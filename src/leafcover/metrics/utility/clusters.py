"""Whether k-means finds the same clusters in the release as in the original.

Every column gives features (numbers in the original's deviations, one feature for each level), both runs start at the
same people, and the best of several starts counts. Clusters are matched so that most rows keep theirs.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import nan
from typing import Literal, NamedTuple, TypeAlias

import numpy as np

from leafcover.arrays import Array, Codes, Rows, Singles
from leafcover.errors import ValueOutOfRange
from leafcover.metrics.models import features_of, learning, scikit_learn
from leafcover.metrics.pair import SEED, Pair, coverage_note, sample_rows
from leafcover.tree.tree import attribute_names

COUNTS = (2, 3, 4, 5, 6)
STARTS = 4
MOST = 25_000

Mode: TypeAlias = Literal["matched", "sizes"]


@dataclass(frozen=True)
class Clusters:
    """The difference of two clusterings with the same number of clusters: shares of rows, and adjusted Rand indices.

    ``error``, ``sizes``, ``rand`` and ``chance`` compare the cluster of each person's original row, among the
    original's clusters, with that of their released row among the release's; nan without pairs. Those
    that begin with ``centre`` need no pairs: original rows are assigned to the nearest centre of either clustering.
    """

    count: int
    error: float
    sizes: float  # the form printed in Roy, which depends only on the sizes of clusters
    rand: float
    chance: float  # the error of independent clusterings of these sizes
    centre_error: float
    centre_rand: float
    centre_floor: float  # the centre error of a bootstrap resample of the original
    rows: int
    of: int
    how: str


class Clustering(NamedTuple):
    """The centres, and the cluster of each row."""

    centres: Singles
    labels: Codes


def clusters(
    pair: Pair, *, counts: Sequence[int] = COUNTS, starts: int = STARTS, most: int = MOST
) -> tuple[Clusters, ...]:
    """Compare the clusterings for each number of clusters that the original has rows for."""
    telling = attribute_names(pair.original, "")
    names = [name for name in pair.names if name != pair.weight and name in telling]
    rows, theirs = sample_rows(len(pair.original), most), sample_rows(len(pair.released), most)
    features = features_of(pair.original.select(names).take(rows))
    before = features.matrix(pair.original.take(rows))
    after = features.matrix(pair.released.take(theirs))
    fit = [count for count in counts if 1 <= count <= min(len(before), len(after))]
    return tuple(_compared(before, after, count, starts, pair.paired, len(pair.original)) for count in fit)


def _compared(before: Singles, after: Singles, count: int, starts: int, paired: bool, of: int) -> Clusters:
    seeds = _seeds(before, count, starts)
    drawn = np.random.default_rng(SEED).integers(0, len(before), len(before))
    ours = _clustering(before, [before[rows] for rows in seeds])
    theirs = _clustering(after, [(after if paired else before)[rows] for rows in seeds])
    again = _clustering(before[drawn], [before[rows] for rows in seeds])
    nearest = _nearest(before, ours.centres)
    moved = _nearest(before, theirs.centres)
    return Clusters(
        count=count,
        error=misclassification_error(ours.labels, theirs.labels) if paired else nan,
        sizes=_sizes(ours.labels, _matched(ours.labels, theirs.labels)) if paired else nan,
        rand=adjusted_rand(ours.labels, theirs.labels) if paired else nan,
        chance=_chance(ours.labels, theirs.labels) if paired else nan,
        centre_error=misclassification_error(nearest, moved),
        centre_rand=adjusted_rand(nearest, moved),
        centre_floor=misclassification_error(nearest, _nearest(before, again.centres)),
        rows=len(before),
        of=of,
        how=coverage_note(len(before), of),
    )


def misclassification_error(one: Array, other: Array, *, mode: Mode = "matched") -> float:
    """M_E: the share of rows whose cluster changed, under the best matching of clusters.

    ``mode="sizes"`` is the form printed in Roy, "Performance Analysis of Clustering in Privacy Preserving Data Mining":
    the summed differences of the sizes of clusters with the same label, over the number of rows. It does not see rows
    that swap clusters.

    >>> misclassification_error(np.array([0, 0, 1, 1]), np.array([1, 1, 0, 1]))
    0.25
    >>> misclassification_error(np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1]), mode="sizes")
    0.0
    """
    if mode not in ("matched", "sizes"):
        raise ValueOutOfRange("mode", mode, "'matched' or 'sizes'")
    if not len(one):
        return nan
    if mode == "sizes":
        return _sizes(one, other)
    return float(np.count_nonzero(one != _matched(one, other))) / len(one)


def _sizes(one: Array, other: Array) -> float:
    labels = np.union1d(one, other)
    ours, theirs = (np.bincount(np.searchsorted(labels, x), minlength=len(labels)) for x in (one, other))
    return float(np.abs(ours - theirs).sum()) / len(one)


def _chance(one: Array, other: Array) -> float:
    """If released rows are in a cluster with a probability by its size only, matching by size is best."""
    shares = [np.sort(np.bincount(labels)) / len(labels) for labels in (one, other)]
    size = max(map(len, shares))
    ours, theirs = (np.pad(share, (size - len(share), 0)) for share in shares)
    return float(1 - ours @ theirs)


def _matched(one: Array, other: Array) -> Array:
    """The other labels renamed one to one to those of the first with which they share most rows."""
    from scipy.optimize import linear_sum_assignment

    names, place = np.unique(one, return_inverse=True)
    theirs, column = np.unique(other, return_inverse=True)
    size = max(len(names), len(theirs))
    shared = np.zeros((size, size), np.int64)
    np.add.at(shared, (place, column), 1)
    ours, columns = linear_sum_assignment(shared, maximize=True)
    # a cluster without a counterpart: labels above all of the first's
    spare = np.arange(size) + (int(names.max()) + 1)
    renamed = np.where(ours < len(names), names[np.minimum(ours, len(names) - 1)], spare)
    return renamed[np.argsort(columns)][column]


def _seeds(matrix: Singles, count: int, starts: int) -> list[Rows]:
    """Starting rows chosen by k-means++."""
    scikit_learn()
    from sklearn.cluster import kmeans_plusplus

    with learning():
        return [kmeans_plusplus(matrix, count, random_state=start)[1] for start in range(starts)]


def _clustering(matrix: Singles, centres: Sequence[Singles]) -> Clustering:
    """k-means from each set of centres; the result with the least squared distance."""
    scikit_learn()
    from sklearn.cluster import KMeans

    with learning():
        runs = [KMeans(len(start), init=start, n_init=1).fit(matrix) for start in centres]
    best = min(runs, key=lambda run: run.inertia_)
    return Clustering(best.cluster_centers_, best.labels_)


def _nearest(matrix: Singles, centres: Singles) -> Codes:
    """The nearest centre of each row; the first of equal ones."""
    squares = (centres**2).sum(axis=1) - 2 * (matrix @ centres.T)
    return squares.argmin(axis=1).astype(np.int32)


# The agreement of two partitions of the same rows.


def adjusted_rand(one: Array, other: Array) -> float:
    """The adjusted Rand index of two partitions: 1 if they are the same, about 0 by chance.

    Hubert and Arabie (1985).

    >>> adjusted_rand(np.array([0, 0, 1, 1]), np.array([1, 1, 0, 0]))
    1.0
    """
    rows = len(one)
    first, second = (np.unique(labels, return_inverse=True)[1].astype(np.int64) for labels in (one, other))
    both = np.unique(first * (second.max(initial=0) + 1) + second, return_counts=True)[1]
    together, ours, theirs = (_pairs(counts) for counts in (both, np.bincount(first), np.bincount(second)))
    most = (ours + theirs) / 2
    chance = ours * theirs / max(rows * (rows - 1) / 2, 1.0)
    return 1.0 if most == chance else (together - chance) / (most - chance)


def _pairs(counts: Array) -> float:
    counts = counts.astype(np.float64)
    return float((counts * (counts - 1)).sum() / 2)
