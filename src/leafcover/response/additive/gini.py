"""The best test of a node by Gini's impurity, from counts of classes in every code of every attribute."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from leafcover.fast.arrays import MISSING, Codes, Floats

ROUNDING = 1e-9  # gains that differ by less are equal, and the first is taken


@dataclass(frozen=True)
class Split:
    """A test: ``code <= last`` against more for a number, a branch for every code of a category (``last`` is -1)."""

    attribute: int
    last: int
    gain: float  # by how many rows impurity falls

    @property
    def is_number(self) -> bool:
        """Whether the test has a cut."""
        return self.last >= 0


def counted(codes: Codes, labels: Codes, weights: Floats, shape: tuple[int, int]) -> Floats:
    """The weight of every class (second axis) at every code; missing codes count nowhere.

    >>> counted(np.array([0, 1, 1, -1]), np.array([0, 1, 0, 0]), np.ones(4), (2, 2))
    array([[1., 0.],
           [1., 1.]])
    """
    known = codes != MISSING
    if not known.all():
        codes, labels, weights = codes[known], labels[known], weights[known]
    flat = np.bincount(codes * shape[1] + labels, weights, minlength=shape[0] * shape[1])
    return flat.reshape(shape).astype(np.float64)


def impurity(counts: Floats) -> Floats:
    """Rows times Gini's index, along the last axis: n - sum of squares / n.

    >>> impurity(np.array([[5.0, 5.0], [10.0, 0.0], [0.0, 0.0]]))
    array([5., 0., 0.])
    """
    rows = counts.sum(axis=-1)
    return np.asarray(rows - np.square(counts).sum(axis=-1) / np.where(rows > 0, rows, 1.0))


def best_cut(counts: Floats, min_records: float) -> tuple[int, float]:
    """The last code of the lower side, and the gain; (-1, 0) when no cut leaves enough rows on both sides."""
    total, below = counts.sum(axis=0), np.cumsum(counts, axis=0)[:-1]
    above = total - below
    gains = impurity(total) - impurity(below) - impurity(above)
    gains[(below.sum(axis=1) < min_records) | (above.sum(axis=1) < min_records)] = 0.0
    if not len(gains) or gains.max() <= ROUNDING:
        return MISSING, 0.0
    last = int(np.argmax(gains > gains.max() - ROUNDING))
    return last, float(gains[last])


def gain_of_levels(counts: Floats, min_records: float) -> float:
    """The gain of a branch for every code; 0 when fewer than two of them hold enough rows."""
    if (counts.sum(axis=1) >= min_records).sum() < 2:
        return 0.0
    return float(impurity(counts.sum(axis=0)) - impurity(counts).sum())


def best_split(tables: Sequence[Floats], is_number: Sequence[bool], min_records: float) -> Split | None:
    """The test of the largest gain, of equal ones the first; None when nothing is gained."""
    best = None
    for attribute, (counts, number) in enumerate(zip(tables, is_number, strict=True)):
        last, gain = best_cut(counts, min_records) if number else (MISSING, gain_of_levels(counts, min_records))
        if gain > ROUNDING + (best.gain if best else 0.0):
            best = Split(attribute, last, gain)
    return best
