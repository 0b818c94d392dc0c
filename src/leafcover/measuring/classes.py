"""A column as classes to predict, settled on the original alone and applied to any table of the pair."""

from dataclasses import dataclass

import numpy as np

from leafcover.errors import ValueOutOfRange
from leafcover.fast.arrays import MISSING, Codes, Floats
from leafcover.measuring.learners import MOST_LEVELS, counts_of, most_frequent
from leafcover.table.table import Column
from leafcover.tree.training import MOST_CLASSES_OF_A_NUMBER

BINS = 4  # groups of equal size that a number with many values is cut into


@dataclass(frozen=True, eq=False)
class Classes:
    """Which class each value belongs to: a number by the edge it does not pass, a category by its code."""

    count: int  # classes that occur in the original
    edges: Floats  # of a number: values up to and with edge i are of class i, the rest of the last
    place: Codes | None  # (levels,) of a category: the class of each level; None for a number
    missing: int  # the class of a missing value; -1 when it is none

    def of(self, column: Column) -> Codes:
        """The class of each row; -1 where it has none."""
        if self.place is not None:
            known = np.append(self.place, self.missing).astype(np.int32)
            return known[column.values]
        found = np.searchsorted(self.edges, column.values).astype(np.int32)
        return np.where(column.missing, self.missing, found).astype(np.int32)


def classes_for(column: Column, *, bins: int = BINS, with_missing: bool = False) -> Classes:
    """The classes of an original column; ``with_missing`` makes missing values a class like any other.

    The levels of a category: the fifty most frequent, and one class for all other levels. A number with ten or
    fewer distinct values: each value, to which nearest ones belong; with more: ``bins`` groups of equal size.
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
        return Classes(count + gaps, np.empty(0), place, len(kept) + 1 if with_missing else MISSING)
    edges = _edges(column.values[~column.missing], bins)
    count = len(edges) + 1 if not column.missing.all() else 0
    return Classes(count + gaps, edges, None, len(edges) + 1 if with_missing else MISSING)


def mostly_unique(column: Column) -> bool:
    """Whether a category has so many levels that it names rows rather than groups of them."""
    counts = counts_of(column)[:-1]
    return 2 * int(np.count_nonzero(counts)) > int(counts.sum())


def _edges(known: Floats, bins: int) -> Floats:
    """Where a number is cut: between its few values, or after the last value of each group."""
    distinct, counts = np.unique(known, return_counts=True)
    if len(distinct) <= MOST_CLASSES_OF_A_NUMBER:
        between: Floats = distinct[:-1] / 2 + distinct[1:] / 2
        return between
    below = np.cumsum(counts)
    wanted = below[-1] * np.arange(1, bins) / bins
    ends = np.unique(np.searchsorted(below, wanted - 1e-9))  # the same groups as those of a tree grown with bins
    return distinct[ends[ends < len(distinct) - 1]]
