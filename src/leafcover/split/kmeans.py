"""Sub-groups by k-means inside cells that are too large, as paper 004 makes them."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from leafcover.errors import ValueOutOfRange
from leafcover.fast.arrays import Floats, Rows
from leafcover.split.groups import WHOLE, Start, check_k, columns_named, grouped, needed
from leafcover.split.partition import Partition
from leafcover.split.points import points
from leafcover.split.trees import MOST_ROWS
from leafcover.table.table import Table

ROUNDS = 100  # of moving centres, at most
AT_ONCE = 4_000_000  # differences held in memory


@dataclass(frozen=True)
class KMeans:
    """The cells of ``start``; one of more than ``most`` rows is cut into sub-groups by k-means, none below k rows.

    The paper lets a sub-group be a single row, whose value is then published unchanged. Here a sub-group of fewer than
    k rows joins the one with the nearest centre, smallest first; k = 1 is the paper's way.
    """

    frozen_id: ClassVar[str] = "k-means"
    by: tuple[str, ...]
    most: int = 5
    k: int = 3
    start: Start = WHOLE

    def __post_init__(self) -> None:
        object.__setattr__(self, "by", columns_named("KMeans", self.by))
        check_k("KMeans", self.k)
        if not self.k <= self.most <= MOST_ROWS:
            raise ValueOutOfRange("KMeans.most", self.most, f"at least k = {self.k} rows")

    @property
    def needs(self) -> tuple[str, ...]:
        """The columns that make rows similar, and those of the outer cells."""
        return needed(self.start, self.by)

    def cells(self, table: Table) -> Partition:
        """Cut every cell that is too large."""
        return grouped(table, self.start, self.by, points(table, self.by), self._labels)

    def _labels(self, some: Floats) -> Rows:
        if len(some) <= self.most:
            return np.zeros(len(some), np.int64)
        return joined(some, k_means(some, -(-len(some) // self.most)), self.k)


def k_means(where: Floats, count: int) -> Rows:
    """Lloyd's rounds from centres far apart: the point farthest from the mean, then always the one farthest from all.

    >>> k_means(np.array([[0.0], [0.1], [9.0], [9.2]]), 2)
    array([1, 1, 0, 0])
    """
    centres = where[_far_apart(where, count)]
    label = _nearest(where, centres)
    for _ in range(ROUNDS):
        moved = np.array([where[label == c].mean(axis=0) if (label == c).any() else centres[c] for c in range(count)])
        again = _nearest(where, moved)
        centres = moved
        if (again == label).all():
            break
        label = again
    return label


def joined(where: Floats, label: Rows, least: int) -> Rows:
    """The same groups, those of fewer than ``least`` rows joined to the one with the nearest centre, smallest first."""
    number = np.unique(label, return_inverse=True)[1].ravel()
    while True:
        sizes = np.bincount(number)
        if len(sizes) < 2 or sizes.min() >= least:
            return number
        centres = np.array([where[number == c].mean(axis=0) for c in range(len(sizes))])
        small = int(np.argmin(sizes))
        apart = ((centres - centres[small]) ** 2).sum(axis=1)
        apart[small] = np.inf
        number = np.unique(np.where(number == small, int(np.argmin(apart)), number), return_inverse=True)[1].ravel()


def _far_apart(where: Floats, count: int) -> Rows:
    apart = ((where - where.mean(axis=0)) ** 2).sum(axis=1)
    chosen = [int(np.argmax(apart))]
    apart = np.full(len(where), np.inf)
    for _ in range(1, count):
        apart = np.minimum(apart, ((where - where[chosen[-1]]) ** 2).sum(axis=1))
        chosen.append(int(np.argmax(apart)))
    return np.array(chosen)


def _nearest(where: Floats, centres: Floats) -> Rows:
    found = np.empty(len(where), np.int64)
    step = max(1, AT_ONCE // centres.size)
    for begin in range(0, len(where), step):
        some = where[begin : begin + step]
        apart = ((some[:, None, :] - centres[None, :, :]) ** 2).sum(axis=2)
        found[begin : begin + step] = apart.argmin(axis=1)
    return found
