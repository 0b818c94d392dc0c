"""How strongly two columns go together: arrays in, one figure out, over the rows where both have a value.

A column that holds one value goes together with nothing: its figure is 0.
"""

from typing import NamedTuple

import numpy as np

from leafcover.fast.arrays import Array, Codes, Floats

DENSE = 4  # a table of counts may have this many cells a row; a larger one is counted by sorting
SMALL = 65_536  # cells that are always counted directly


class Association(NamedTuple):
    """Covariance (n - 1) and Pearson's correlation of two numbers."""

    covariance: float
    correlation: float


class Centred(NamedTuple):
    """A number less its mean, and the root of its sum of squares; nan where missing."""

    values: Floats
    complete: bool
    size: float


def centred(values: Floats) -> Centred:
    """Make a number ready for many associations; exactly 0 where all of its values are the same."""
    missing = np.isnan(values)
    complete = not missing.any()
    there = values if complete else values[~missing]
    if not len(there) or there.min() == there.max():
        return Centred(np.where(missing, np.nan, 0.0), complete, 0.0)
    less = values - there.mean()
    known = less if complete else less[~missing]
    return Centred(less, complete, float(np.sqrt(known @ known)))


def association(first: Centred, second: Centred) -> Association:
    """Covariance and correlation over rows where both are known; 0 and 0 where fewer than two rows are.

    >>> one, other = np.array([1.0, 2.0, 2.0, 3.0, np.nan]), np.array([0.0, 1.0, -1.0, 0.0, 8.0])
    >>> association(centred(one), centred(other))
    Association(covariance=0.0, correlation=0.0)
    """
    if not (first.complete and second.complete):
        both = ~(np.isnan(first.values) | np.isnan(second.values))
        first, second = centred(first.values[both]), centred(second.values[both])
    rows = len(first.values)
    if rows < 2 or not first.size or not second.size:
        return Association(0.0, 0.0)
    product = float(first.values @ second.values)
    return Association(product / (rows - 1), min(1.0, max(-1.0, product / first.size / second.size)))


def correlation(first: Floats, second: Floats) -> float:
    """Pearson's correlation over rows where both are known."""
    return association(centred(first), centred(second)).correlation


def cramers_v(first: Codes, second: Codes) -> float:
    """Cramér's V of two categories, not corrected for chance: V² = χ² / (n · (fewer of their levels - 1)).

    It grows with the number of levels even where nothing goes together, in the original as in the release.

    >>> cramers_v(np.array([0, 0, 1, 1], np.int32), np.array([1, 1, 0, 0], np.int32))
    1.0
    """
    places, counts, width = joint_counts(first, second)
    if not len(counts):
        return 0.0
    rows, columns = (
        np.unique(places // width, return_inverse=True)[1],
        np.unique(places % width, return_inverse=True)[1],
    )
    ours, theirs = np.bincount(rows, weights=counts), np.bincount(columns, weights=counts)
    fewer = min(len(ours), len(theirs)) - 1
    if fewer < 1:
        return 0.0
    # χ²/n = Σ O²/(R·C) - 1 over the cells that are not empty
    square = float((counts / ours[rows] * (counts / theirs[columns])).sum()) - 1
    return float(np.sqrt(min(1.0, max(0.0, square / fewer))))


def joint_counts(first: Codes, second: Codes) -> tuple[Array, Array, int]:
    """Cells of the table of two categories that are not empty (first · width + second), their counts, the width."""
    width = int(second.max(initial=0)) + 2
    cells = (int(first.max(initial=0)) + 2) * width
    codes = (first.astype(np.int64) + 1) * width + (second + 1)  # 0 stands for missing
    if cells <= max(DENSE * len(codes), SMALL):
        counts = np.bincount(codes, minlength=cells)
        places = np.flatnonzero(counts)
        counts = counts[places]
    else:
        places, counts = np.unique(codes, return_counts=True)
    whole = (places >= width) & (places % width > 0)
    return places[whole], counts[whole], width


def correlation_ratio(codes: Codes, number: Centred) -> float:
    """The correlation ratio η of a number on a category: η² = variation between levels / whole variation.

    >>> correlation_ratio(np.array([0, 0, 1, 1], np.int32), centred(np.array([1.0, 1.0, 5.0, 5.0])))
    1.0
    """
    if not number.complete or codes.min(initial=0) < 0:
        both = (codes >= 0) & ~np.isnan(number.values)
        codes, number = codes[both], centred(number.values[both])
    if not number.size:
        return 0.0
    counts = np.bincount(codes)
    sums = np.bincount(codes, weights=number.values)
    used = counts > 0
    between = float((sums[used] / number.size * (sums[used] / number.size) / counts[used]).sum())
    return float(np.sqrt(min(1.0, between)))
