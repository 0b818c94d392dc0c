"""Noise with the covariance of the numbers themselves, with or without a correction of the variances.

Correlated-noise additive data perturbation (CADP): Y = X + e with e ~ N(0, d Σ), where Σ is the covariance of a cell
and d = spread². Means and correlations among the changed columns are preserved, variances grow by the factor 1 + d.
Bias-corrected (BCADP): Y = m + (X + e - m) / sqrt(1 + d), which preserves the variances, too. Correlations with other
columns shrink by 1 / sqrt(1 + d) in both. Kim (1986), Tendick and Matloff (1994).
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import sqrt
from typing import ClassVar

import numpy as np

from leafcover.arrays import Array, Floats, Rows
from leafcover.errors import ValueOutOfRange
from leafcover.keyed_random import Draws
from leafcover.perturb.additive import MOST_SPREAD, SMALLEST_STEP, free_broken, free_promises, grid_for, on_points
from leafcover.perturb.base import Changed, Chunk, Perturbation, Promise, Scope, Summary, methods, perturbation
from leafcover.perturb.bounded import FINE, Normal
from leafcover.perturb.conditional_normal import normal_chance, same_known
from leafcover.perturb.covariance import SINGULAR
from leafcover.table.table import Column, Kind


@perturbation("correlated")
@dataclass(frozen=True)
class Correlated(Perturbation):
    """Normal noise whose covariance is ``spread``² times that of the numbers of the cell.

    Where numbers determine each other linearly, noise does not break that, apart from rounding; a constant number
    stays. A cell with fewer rows than two more than there are columns takes the moments of the whole table. Covariances
    with missing values are those of the rows that have both; negative eigenvalues that come of that become 0. Nothing
    is truncated, because that would bias the moments: values may leave the column's domain and their cells.

    Parameters
    ----------
    spread : float
        The standard deviation of the noise, as a multiple of the column's.
    bias_corrected : bool, default False
        Shrink the noisy values towards the mean of the cell, so that variances stay the same.
    on_grid : bool, default True
        Round to the column's grid, such as whole years or cents. Dates and times are always rounded.

    Examples
    --------
    >>> import leafcover as lc
    >>> table = lc.read(lc.sample("wine"))
    >>> noise = lc.Correlated(spread=0.5, bias_corrected=True)
    >>> step = lc.Step(["alcohol", "flavanoids"], within=lc.Whole(), perturb=noise)
    >>> release = lc.release(table, lc.Plan(step), seed=7)
    >>> before, after = table["alcohol"].values.std(), release.table["alcohol"].values.std()
    >>> bool(abs(after / before - 1) < 0.1)
    True
    """

    frozen_id: ClassVar[str] = "correlated"
    new_values: ClassVar[Promise] = "noise"
    kinds: ClassVar[frozenset[Kind]] = frozenset({"number", "date", "time"})
    joint: ClassVar[bool] = True
    spread: float
    bias_corrected: bool = False
    on_grid: bool = True

    def __post_init__(self) -> None:
        if not 0 < self.spread <= MOST_SPREAD:
            allowed = f"a share of the columns' deviations, above 0 and at most {MOST_SPREAD:g}"
            raise ValueOutOfRange("Correlated.spread", self.spread, allowed)

    def describe(self, *, detailed: bool = True) -> str:
        """What happens to a value."""
        spread = f"{self.spread:g}" if detailed else "none"
        return methods()("correlated", spread=spread, corrected="yes" if self.bias_corrected else "no")

    @property
    def why_fixed(self) -> str:
        """The noise is too small."""
        return methods()("fixed-noise")

    @property
    def scope(self) -> Scope:
        """The covariance of a cell, and of the whole table for small ones."""
        return "table"

    @property
    def guarantees(self) -> tuple[str, ...]:
        """The guarantees."""
        return ("a number that is constant in the table stays", *free_promises(self.on_grid))

    def fit(self, part: Chunk) -> Summary:
        """The means and covariances of every cell."""
        return moments_of_cells(part)

    def change(self, part: Chunk, summary: Summary, draws: Draws) -> Mapping[str, Changed]:
        """Add noise to every known value."""
        normal = [Normal().inverse(draws.sub(c.name).uniform(part.rows)) for c in part.columns]
        changed = {}
        for column, moved in zip(part.columns, self._moved(part, summary, normal), strict=True):
            known, values = ~column.missing, column.values.copy()
            with np.errstate(over="ignore"):  # what grew too large is refused by violations
                if (grid := grid_for(column, self.on_grid)) is not None:
                    steps = np.rint(moved[known] / grid.step)
                    values[known] = on_points(grid, grid.index(values[known]) + steps)
                else:
                    values[known] += moved[known]
            changed[column.name] = Changed(values)
        return changed

    def violations(self, before: Chunk, after: Mapping[str, Array]) -> tuple[str, ...]:
        """Sentences about constants that changed, values off their grid or too large, and missing values that moved."""
        constant = [c.name for c in before.columns if _is_constant(c) and (after[c.name] != c.values)[~c.missing].any()]
        moved = tuple(f"column {name!r}: a constant changed" for name in constant)
        return (*moved, *free_broken(before, after, self.on_grid))

    def likelihood(self, part: Chunk, released: Mapping[str, Array], summary: Summary) -> Floats:
        """The probability of the released values together: of their grid points, else of a millionth of the range.

        It is that of each column given those before it, which rounding changes little.
        """
        total = np.ones(len(part))
        moments = summary.only([c.name for c in part.columns])
        known = np.column_stack([~c.missing for c in part.columns])
        for column, there in zip(part.columns, known.T, strict=True):
            total[there == np.isnan(released[column.name])] = 0.0
        residuals = self._residuals(part, released, moments)
        steps = np.array([self._resolution(c) / unit for c, unit in zip(part.columns, moments.units, strict=True)])
        scale = self.spread**2 * self._shrink**2
        for columns, rows in same_known((known & ~np.isnan(residuals)).T):
            for cell, here in _by_label(part.cells.label, rows):
                covariance = scale * moments.covariances[cell][np.ix_(columns, columns)]
                total[here] *= normal_chance(residuals[np.ix_(here, columns)].T, covariance, steps[columns])
        return total

    @property
    def _shrink(self) -> float:
        """What deviations from the mean are multiplied by."""
        return 1 / sqrt(1 + self.spread**2) if self.bias_corrected else 1.0

    def _moved(self, part: Chunk, summary: "CellMoments", normal: list[Floats]) -> Iterator[Floats]:
        """By how much the values of each column move."""
        label, roots = part.cells.label, summary.roots
        for at, column in enumerate(part.columns):
            noise = np.zeros(len(part))
            for one, drawn in enumerate(normal):
                if roots[:, one, at].any():
                    noise += drawn * _by_cell(roots[:, one, at], label)
            moved = noise * (self.spread * self._shrink)
            if self.bias_corrected:
                centre = _by_cell(summary.means[:, at], label)
                moved += (centre - column.values / summary.units[at]) * (1 - self._shrink)
            with np.errstate(over="ignore"):
                yield moved * summary.units[at]

    def _residuals(self, part: Chunk, released: Mapping[str, Array], moments: "CellMoments") -> Floats:
        """(rows, columns) by how much values moved, apart from shrinking, in the units of the moments."""
        found = np.empty((len(part), len(part.columns)))
        for at, column in enumerate(part.columns):
            unit, centre = moments.units[at], _by_cell(moments.means[:, at], part.cells.label)
            own, new = column.values / unit, released[column.name] / unit
            found[:, at] = new - own - (centre - own) * (1 - self._shrink)
        return found

    def _resolution(self, column: Column) -> float:
        """The width of the interval of values that are released as one."""
        grid = grid_for(column, self.on_grid)
        bottom, top = column.domain
        return grid.step if grid is not None else max(top / FINE - bottom / FINE, SMALLEST_STEP)


# Means and covariances of cells. Values are divided by a power of two, so that squares of large ones do not overflow.


@dataclass(frozen=True, eq=False)
class CellMoments:
    """The moments of numbers in every cell, in units of each column; those of the whole table where a cell is small."""

    names: tuple[str, ...]
    units: Floats  # (columns,) powers of two
    means: Floats  # (cells, columns)
    covariances: Floats  # (cells, columns, columns) positive semidefinite
    roots: Floats  # (cells, columns, columns) a factor of each: noise @ root has this covariance

    def only(self, names: list[str]) -> "CellMoments":
        """The moments of some of the columns; their roots are not meant to be used."""
        at = np.array([self.names.index(name) for name in names])
        return CellMoments(
            tuple(names), self.units[at], self.means[:, at], self.covariances[:, at][:, :, at], self.roots
        )


def moments_of_cells(part: Chunk) -> CellMoments:
    """The moments of every cell."""
    units = np.array([unit_of(column.values) for column in part.columns])
    values = [column.values / unit for column, unit in zip(part.columns, units, strict=True)]
    means, covariances, known = _moments(values, part.cells.label, part.cells.count)
    if part.cells.count > 1:
        all_means, every, all_known = _moments(values, np.zeros(len(part), np.int64), 1)
        with_values = np.flatnonzero(np.diagonal(all_known[0]) > 0)
        small = known[:, with_values][:, :, with_values].min(axis=(1, 2), initial=len(part)) < len(values) + 2
        means[small], covariances[small], known[small] = all_means[0], every[0], all_known[0]
    covariances, roots = _factored(covariances)
    return CellMoments(tuple(c.name for c in part.columns), units, means, covariances, roots)


def _moments(values: list[Floats], label: Rows, cells: int) -> tuple[Floats, Floats, Floats]:
    """The means, the covariances and the numbers of rows they are of, by cell; 0 where there are too few rows."""
    columns = len(values)
    means, covariances = np.zeros((cells, columns)), np.zeros((cells, columns, columns))
    known = np.zeros((cells, columns, columns))
    there = [~np.isnan(one) for one in values]
    centred = []
    for at, (one, some) in enumerate(zip(values, there, strict=True)):
        count = _sums(some, label, cells)
        filled = np.where(some, one, 0.0)
        means[:, at] = _sums(filled, label, cells) / np.maximum(count, 1)
        apart = np.where(some, filled - _by_cell(means[:, at], label), 0.0)
        means[:, at] += _sums(apart, label, cells) / np.maximum(count, 1)  # what rounding left
        centred.append(np.where(some, filled - _by_cell(means[:, at], label), 0.0))
    for i in range(columns):
        for j in range(i + 1):
            both = _sums(there[i] & there[j], label, cells)
            sums = _sums(centred[i] * centred[j], label, cells) / np.maximum(both - 1, 1)
            covariances[:, i, j] = covariances[:, j, i] = sums
            known[:, i, j] = known[:, j, i] = both
    return means, covariances, known


def _sums(values: Array, label: Rows, cells: int) -> Floats:
    """The sum of each cell."""
    if cells == 1:
        return np.array([values.sum()], np.float64)
    return np.asarray(np.bincount(label, values, cells), np.float64)


def _factored(covariances: Floats) -> tuple[Floats, Floats]:
    """Covariances without negative eigenvalues, and a factor of each, by the symmetric root of the correlations.

    A root by Cholesky would need a definite matrix, and eigenvectors alone are not unique.
    """
    deviations = np.sqrt(np.maximum(np.diagonal(covariances, axis1=1, axis2=2), 0.0))
    both = deviations[:, :, None] * deviations[:, None, :]
    correlations = np.divide(covariances, both, out=np.zeros_like(covariances), where=both > 0)
    values, vectors = np.linalg.eigh(correlations)
    values = np.where(values > SINGULAR, values, 0.0)
    root = (vectors * np.sqrt(values)[:, None, :]) @ vectors.swapaxes(1, 2)
    length = np.sqrt((root**2).sum(axis=1, keepdims=True))  # 1 but for what clipping added
    root = np.divide(root, length, out=np.zeros_like(root), where=length > 0) * deviations[:, None, :]
    return root.swapaxes(1, 2) @ root, root


def unit_of(values: Floats) -> float:
    """A power of two that the largest known number is near.

    >>> unit_of(np.array([3.0, np.nan, -7.5]))
    8.0
    """
    largest = float(np.abs(values[~np.isnan(values)]).max(initial=0.0))
    return float(np.ldexp(1.0, min(int(np.frexp(largest)[1]), 1023))) if 0 < largest < np.inf else 1.0


def _by_cell(figures: Floats, label: Rows) -> Array:
    """The figure of each row's cell; a single one if there is one cell."""
    return figures if len(figures) == 1 else figures[label]


def _is_constant(column: Column) -> bool:
    known = column.values[~column.missing]
    return bool(len(known)) and bool((known == known[0]).all())


def _by_label(label: Rows, rows: Rows) -> Iterator[tuple[int, Rows]]:
    """The rows of each label."""
    order = rows[np.argsort(label[rows], kind="stable")]
    for here in np.split(order, np.flatnonzero(np.diff(label[order])) + 1):
        if len(here):
            yield int(label[here[0]]), here
