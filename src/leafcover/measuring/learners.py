"""What models of scikit-learn need of a table: the library itself, and the columns as one matrix of features."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from types import ModuleType

import numpy as np

from leafcover.errors import LeafcoverError
from leafcover.fast.arrays import MISSING, Array, Codes, Rows, Singles
from leafcover.table.table import Column, Table

MOST_LEVELS = 50  # of one category with a feature of their own; the rarer ones share one
MOST_FEATURES = 2_000  # of all categories together; with very many columns each gets fewer
FURTHEST = 100.0  # deviations from the mean; at most a row in ten thousand lies beyond, and models overflow there


def scikit_learn() -> ModuleType:
    """The library scikit-learn, an extra; a clear line when it is not there."""
    try:
        import sklearn
    except ImportError:
        raise LeafcoverError(
            "Install leafcover[measure] to measure this (scikit-learn is missing): pip install 'leafcover[measure]'."
        ) from None
    return sklearn


@contextmanager
def learning() -> Iterator[None]:
    """While models learn: one thread of linear algebra, and no word when a model has not wholly converged.

    Small matrices lose by threads: a network on 22,000 rows of Adult took 14 s on two, 1.4 s on one.
    """
    import warnings

    scikit_learn()
    from sklearn.exceptions import ConvergenceWarning
    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        yield


@dataclass(frozen=True)
class NumberFeature:
    """A number in deviations from the original's mean; a missing one stands at the median, beside a mark."""

    name: str
    unit: float  # values are divided by it first, so that 1e308 has a square
    mean: float
    deviation: float
    median: float
    marked: bool  # whether a second feature says where the value is missing

    @property
    def width(self) -> int:
        """How many features the column becomes."""
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
    """A category with a feature for every level of the original, missing as one of them, rare ones as one."""

    name: str
    place: Codes  # (levels + 1,) feature of each code, that of a missing value last; -1 for none
    width: int

    def fill(self, column: Column, matrix: Singles) -> None:
        """Write the column's features; a level that the original never had has none of them."""
        place = self.place[column.values]
        rows = np.flatnonzero(place >= 0)
        matrix[rows, place[rows]] = 1.0


@dataclass(frozen=True, eq=False)
class Features:
    """How columns become one matrix, learned from one table (the original's training rows) and applied to others."""

    columns: tuple[NumberFeature | CategoryFeature, ...]

    @property
    def width(self) -> int:
        """How many features there are."""
        return sum(column.width for column in self.columns)

    @property
    def origin(self) -> tuple[str, ...]:
        """For each feature the column it comes from."""
        return tuple(column.name for column in self.columns for _ in range(column.width))

    def matrix(self, table: Table) -> Singles:
        """The features of a table whose codes mean what they meant in the first."""
        found = np.zeros((len(table), self.width), np.float32)
        start = 0
        for column in self.columns:
            column.fill(table[column.name], found[:, start : start + column.width])
            start += column.width
        return found


def features_of(original: Table, names: Sequence[str] | None = None) -> Features:
    """Learn from a table how its columns (all, unless named) become features: numbers first, then categories."""
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
    # a constant column must become zeros, whatever rounding leaves of its deviation
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
    """How often each level of a category occurs, and last how often none is known."""
    codes: Array = np.where(column.values == MISSING, len(column.levels), column.values)
    return np.bincount(codes, minlength=len(column.levels) + 1)


def most_frequent(counts: Rows, most: int) -> Rows:
    """The places of the largest counts above zero, at most so many (of equal ones the first), in ascending order.

    >>> most_frequent(np.array([3, 0, 9, 3, 1]), 3).tolist()
    [0, 2, 3]
    """
    order = np.argsort(-counts, kind="stable")[:most]
    return np.sort(order[counts[order] > 0])
