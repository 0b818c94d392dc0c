"""Means and covariances of numbers, exact however a table is divided, and regressions on columns that are given.

Numbers are measured in halves of their domain, from its middle, and rounded to 2 ** -20 of that for the moments alone:
products of two such numbers, summed over 2,048 rows, are whole numbers below 2 ** 53, so that matrix products add them
exactly in any order. Of n rows the standard deviation is at least the range divided by sqrt(2n), so the rounding is
invisible: at a million rows below a thousandth of a standard deviation.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from leafcover.arrays import Array, Bools, Floats
from leafcover.table.column_rules import level_codes
from leafcover.table.table import Column

FINE = 2**20  # parts of half a domain
BLOCK = 2**11  # rows of a matrix product
PART = 2**16  # rows whose products are added as 64-bit integers
SINGULAR = 1e-10  # a smaller share of the largest eigenvalue counts as zero


@dataclass(frozen=True)
class Unit:
    """The middle of a column's domain and half its range: the origin and the unit of its numbers."""

    middle: float
    half: float

    @classmethod
    def of(cls, column: Column) -> "Unit":
        """Halved before they are added, as 1e308 + 1e308 overflows; 0 if no value is known."""
        low, high = column.domain
        return cls(0.0, 0.0) if np.isnan(low) else cls(low / 2 + high / 2, high / 2 - low / 2)

    def scaled(self, values: Floats) -> Floats:
        """The numbers in this unit; 0 for those of a constant column, nan for missing ones."""
        if self.half == 0:
            return np.where(np.isnan(values), np.nan, 0.0)
        return (values / 2 - self.middle / 2) / (self.half / 2)

    def value(self, scaled: Floats) -> Floats:
        """The numbers themselves."""
        with np.errstate(over="ignore"):  # what grew too large is refused by the check of the result
            return self.middle + self.half * scaled


@dataclass(frozen=True, eq=False)
class PairMoments:
    """For every two numbers: the rows that have both, and the sums of the first and of the products there.

    >>> both = pair_moments([np.array([0.5, -0.5, np.nan]), np.array([0.25, -0.25, 1.0])])
    >>> both.counts.tolist(), both.means.round(3).tolist(), both.covariance[0].round(3).tolist()
    ([[2, 2], [2, 3]], [0.0, 0.333], [0.5, 0.25])
    """

    counts: Array  # (columns, columns) whole numbers of Python, which have any size
    sums: Array  # in units of 1 / FINE
    products: Array  # in units of 1 / FINE ** 2

    def plus(self, other: "PairMoments") -> "PairMoments":
        """The merged moments."""
        return PairMoments(self.counts + other.counts, self.sums + other.sums, self.products + other.products)

    @cached_property
    def rows(self) -> int:
        """The largest number of rows that have a number."""
        return int(max(np.diag(self.counts), default=0))

    @cached_property
    def means(self) -> Floats:
        """The mean of each number; 0 if no row has it."""
        return np.array([s / max(c, 1) / FINE for s, c in zip(np.diag(self.sums), np.diag(self.counts), strict=True)])

    @cached_property
    def covariance(self) -> Floats:
        """The sample covariances, each over the rows that have both numbers, made positive semidefinite."""
        apart = self.counts * self.products - self.sums * self.sums.T
        below = np.maximum(self.counts * (self.counts - 1), 1)
        found = np.array(apart / below, np.float64) / FINE**2
        complete = (self.counts == self.counts.flat[0]).all() if self.counts.size else True
        return found if complete else positive_semidefinite(found)


def pair_moments(columns: Sequence[Floats]) -> PairMoments:
    """The moments of numbers between -1 and 1; nan is missing."""
    many, rows = len(columns), len(columns[0]) if columns else 0
    found = PairMoments(*(np.zeros((many, many), object) for _ in range(3)))
    for start in range(0, rows, PART):
        part = np.zeros((-(-min(PART, rows - start) // BLOCK) * BLOCK, many))
        for at, column in enumerate(columns):
            piece = column[start : start + PART]
            np.rint(piece * FINE, out=part[: len(piece), at])
        found = found.plus(_part_moments(part, min(PART, rows - start)))
    return found


def _part_moments(part: Floats, rows: int) -> PairMoments:
    missing = np.isnan(part)
    if not missing.any():
        sums = np.repeat(part.sum(0).astype(np.int64)[:, None], part.shape[1], axis=1)
        counts = np.full(sums.shape, rows, np.int64)
        return PairMoments(counts.astype(object), sums.astype(object), _products(part, part))
    part[missing] = 0.0
    known = (~missing).astype(np.float64)
    known[rows:] = 0.0
    return PairMoments(_products(known, known), _products(part, known), _products(part, part))


def _products(one: Floats, other: Floats) -> Array:
    """The exact products of the columns of two matrices of whole numbers, block by block."""
    blocks, many = len(one) // BLOCK, one.shape[1]
    first, second = (matrix.reshape(blocks, BLOCK, many) for matrix in (one, other))
    total: Array = (first.transpose(0, 2, 1) @ second).astype(np.int64).sum(0).astype(object)
    return total


# One repair serves every covariance that is not positive semidefinite: those of rows with different missing values, of
# cells with fewer rows than columns, and of ranks. Eigenvalues below zero become zero and the variances stay.


def positive_semidefinite(covariance: Floats) -> Floats:
    """The nearest correlation matrix without negative eigenvalues, with the same variances; (..., n, n) at once.

    >>> wrong = np.array([[4.0, 3.0], [3.0, 1.0]])
    >>> bool(np.linalg.eigvalsh(positive_semidefinite(wrong)).min() > -1e-12)
    True
    >>> np.diag(positive_semidefinite(wrong)).tolist()
    [4.0, 1.0]
    """
    deviations = np.sqrt(np.maximum(np.diagonal(covariance, axis1=-2, axis2=-1), 0.0))
    safe = np.where(deviations > 0, deviations, 1.0)
    values, vectors = np.linalg.eigh(covariance / (safe[..., :, None] * safe[..., None, :]))
    clipped = (vectors * np.maximum(values, 0.0)[..., None, :]) @ np.swapaxes(vectors, -1, -2)
    lengths = np.sqrt(np.maximum(np.diagonal(clipped, axis1=-2, axis2=-1), 0.0))
    scale = np.where(lengths > 0, deviations / np.where(lengths > 0, lengths, 1.0), 0.0)
    found: Floats = clipped * (scale[..., :, None] * scale[..., None, :])
    exact = np.arange(covariance.shape[-1])
    found[..., exact, exact] = deviations**2
    return found


def square_root(covariance: Floats) -> Floats:
    """The symmetric root of positive semidefinite matrices (..., n, n); eigenvalues below zero count as zero.

    >>> square_root(np.array([[4.0, 0.0], [0.0, 9.0]])).tolist()
    [[2.0, 0.0], [0.0, 3.0]]
    """
    values, vectors = np.linalg.eigh(covariance)
    found: Floats = (vectors * np.sqrt(np.maximum(values, 0.0))[..., None, :]) @ np.swapaxes(vectors, -1, -2)
    return found


def regression(covariance: Floats, many: int) -> tuple[Floats, Floats]:
    """The weights of the regression of the first ``many`` numbers on the others, and the covariance that is left.

    Others that depend on each other share their weights.

    >>> weights, left = regression(np.array([[4.0, 2.0, 2.0], [2.0, 1.0, 1.0], [2.0, 1.0, 1.0]]), 1)
    >>> weights.round(6).tolist(), left.round(6).tolist()
    ([[1.0, 1.0]], [[0.0]])
    """
    inner, across = covariance[:many, :many], covariance[:many, many:]
    deviations = np.sqrt(np.maximum(np.diag(covariance)[many:], 0.0))
    safe = np.where(deviations > 0, deviations, 1.0)
    inverse = np.linalg.pinv(covariance[many:, many:] / np.outer(safe, safe), rcond=SINGULAR, hermitian=True)
    weights = across / safe @ inverse / safe
    left = inner - weights @ across.T
    left = (left + left.T) / 2
    np.fill_diagonal(left, np.clip(np.diag(left), 0.0, np.diag(inner)))
    return weights, positive_semidefinite(left)


# Columns that are given enter a regression as numbers: a number by itself and by whether it is missing, a category by
# one indicator for each level, the missing one too. Prediction looks the weights of a level up.


def given_width(columns: Sequence[Column]) -> int:
    """The number of indicators."""
    return sum(len(column.levels) + 1 if column.is_category else 2 for column in columns)


def indicators(column: Column) -> Iterator[Floats]:
    """A given column as numbers."""
    if column.is_category:
        codes = level_codes(column, column)
        for level in range(len(column.levels) + 1):
            yield (codes == level).astype(np.float64)
    else:
        scaled = Unit.of(column).scaled(column.values)
        yield np.where(np.isnan(scaled), 0.0, np.clip(scaled, -1.0, 1.0))
        yield np.isnan(scaled).astype(np.float64)


def predicted(columns: Sequence[Column], weights: Floats, rows: int) -> Floats:
    """(numbers, rows) the weighted sums of given columns; (numbers, indicators) weights."""
    found = np.zeros((len(weights), rows))
    at = 0
    for column in columns:
        if column.is_category:
            width = len(column.levels) + 1
            codes = level_codes(column, column)
            for number in range(len(found)):
                found[number] += weights[number, at : at + width][codes]
            at += width
        else:
            found += combined(weights[:, at : at + 2], tuple(indicators(column)))
            at += 2
    return found


def combined(weights: Floats, numbers: Sequence[Floats] | Floats) -> Floats:
    """(results, rows) the weighted sums of numbers, each row alone: the same however rows are divided into parts."""
    found = np.zeros((len(weights), len(numbers[0]) if len(numbers) else 0))
    for (result, number), weight in np.ndenumerate(weights):
        if weight:
            found[result] += weight * numbers[number]
    return found


def known_of(columns: Sequence[Column]) -> Bools:
    """(columns, rows) which values are known."""
    return np.array([~column.missing for column in columns])
