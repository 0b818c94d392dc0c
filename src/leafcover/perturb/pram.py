"""The post-randomisation method (PRAM): each level of a category becomes another one with known probabilities.

Gouweleeuw, Kooiman, Willenborg and De Wolf (1998). The probabilities form a transition matrix P, whose row k belongs to
the original level k. A matrix is *invariant* if it keeps the expected frequencies p, that is, if pP = p. Two ways give
one: redraw a share of the values by the frequencies of the column, or follow any matrix by its Bayes inverse.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal, NamedTuple, TypeAlias

import numpy as np

from leafcover.arrays import Array, Codes, Floats, Rows
from leafcover.cells import Cells, one_cell
from leafcover.errors import PlanError, ValueOutOfRange
from leafcover.keyed_random import Draws
from leafcover.perturb.base import (
    Changed,
    Chunk,
    Perturbation,
    Scope,
    Summary,
    by_missing,
    left_their_place,
    methods,
    perturbation,
)
from leafcover.table.table import Column, Kind

Invariant: TypeAlias = Literal["proportional", "two-stage", "none"]
Matrix: TypeAlias = tuple[tuple[float, ...], ...]
MOST_ENTRIES = 20_000_000  # of the matrices of all cells of a column
SUM_OF_ROW = 1e-9  # how far the sum of a given row may be from 1


@perturbation("pram")
@dataclass(frozen=True)
class Pram(Perturbation):
    """Post-randomisation: each known value of a category becomes another level with known probabilities.

    Missing values stay missing. A column with one level stays as it is.

    Parameters
    ----------
    probability : float, default 0.2
        With "proportional" the probability that a value is redrawn, otherwise that it becomes one of the other levels,
        all equally likely, before the matrix is made invariant.
    matrix : tuple of tuple of float, optional
        A transition matrix of your own instead of ``probability``: row k has the probabilities of all released levels
        for the original level k.
    levels : tuple of str, optional
        The levels of the rows and columns of ``matrix``, in order.
    invariant : {"proportional", "two-stage", "none"}, optional
        How expected frequencies are kept. "proportional" redraws values by the frequencies of their cell.
        "two-stage" follows the matrix by its Bayes inverse. "none" uses the matrix as it is. Default: proportional, or
        none with a matrix of your own.

    Examples
    --------
    >>> import leafcover as lc
    >>> table = lc.read(lc.sample("cps1985"))
    >>> step = lc.Step(["occupation", "sector"], within=lc.Whole(), perturb=lc.Pram(probability=0.3))
    >>> release = lc.release(table, lc.Plan(step), seed=7)
    >>> release.table["sector"].levels == table["sector"].levels
    True

    The matrix, which is no secret:

    >>> lc.Pram(probability=0.3).transition(table["union"]).round(3)
    array([[0.946, 0.054],
           [0.246, 0.754]])
    """

    frozen_id: ClassVar[str] = "pram"
    kinds: ClassVar[frozenset[Kind]] = frozenset({"category"})
    probability: float = 0.2
    matrix: Matrix | None = None
    levels: tuple[str, ...] = ()
    invariant: Invariant | None = None

    def __post_init__(self) -> None:
        if not 0 < self.probability <= 1:
            raise ValueOutOfRange("Pram.probability", self.probability, "a probability above 0 and at most 1")
        if self.matrix is None and self.levels:
            raise PlanError("Pram got levels but no matrix. Give both, or neither.")
        if self.matrix is not None:
            _check(self.matrix, self.levels)
            if self.invariant == "proportional":
                raise PlanError(
                    "Pram(invariant='proportional') makes a matrix of its own, but one was given. "
                    "Use invariant='two-stage' or 'none', or leave out the matrix."
                )

    def describe(self, *, detailed: bool = True) -> str:
        """What happens to a value."""
        given = "none" if not detailed or self.matrix is not None else f"{self.probability:g}"
        return methods()("pram", invariant=self._way, probability=given)

    @property
    def why_fixed(self) -> str:
        """The matrix seldom changes the value."""
        return methods()("fixed-matrix")

    @property
    def scope(self) -> Scope:
        """The frequencies of every cell are needed."""
        return "counts"

    @property
    def guarantees(self) -> tuple[str, ...]:
        """The guarantees."""
        return ("every value is a level of its column", "missing stays missing")

    def transition(self, column: Column) -> Floats:
        """The matrix for a column, without cells: row k has the probabilities of the released levels for level k.

        Parameters
        ----------
        column : Column
            The original category.

        Returns
        -------
        array
            (levels, levels) probabilities; each row has the sum 1.

        Examples
        --------
        >>> import leafcover as lc
        >>> union = lc.read(lc.sample("cps1985"))["union"]
        >>> lc.Pram(probability=0.3, invariant="none").transition(union)
        array([[0.7, 0.3],
               [0.3, 0.7]])
        """
        counts = np.bincount(column.values[~column.missing], minlength=len(column.levels))[None]
        matrix: Floats = self._law(column.name, counts, self._start(column.name, column.levels)).matrices()[0]
        return matrix

    def fit(self, part: Chunk) -> Summary:
        """The frequency of each level in each cell, and the matrix to start with."""
        found = {}
        for column in part.columns:
            known, levels = ~column.missing, len(column.levels)
            at = part.cells.label[known] * levels + column.values[known]
            counts = np.bincount(at, minlength=part.cells.count * levels).reshape(part.cells.count, levels)
            found[column.name] = counts, self._start(column.name, column.levels)
        return found

    def merge(self, one: Summary, other: Summary) -> Summary:
        """Add the counts."""
        return {name: (one[name][0] + other[name][0], one[name][1]) for name in one}

    def finalize(self, summary: Summary, cells: Cells) -> Summary:
        """The probabilities of every cell."""
        return {name: self._law(name, counts, start) for name, (counts, start) in summary.items()}

    def change(self, part: Chunk, summary: Summary, draws: Draws) -> Mapping[str, Changed]:
        """Draw a released level for every known value."""
        changed = {}
        for column in part.columns:
            known = np.flatnonzero(~column.missing)
            values = column.values.copy()
            uniform = draws.sub(column.name).uniform(part.rows[known])
            values[known] = summary[column.name].drawn(part.cells.label[known], values[known], uniform)
            changed[column.name] = Changed(values)
        return changed

    def violations(self, before: Chunk, after: Mapping[str, Array]) -> tuple[str, ...]:
        """Sentences about values that are no level, and about missing values that appeared or disappeared."""
        return left_their_place(Chunk(before.rows, before.columns, one_cell(len(before))), after)

    def likelihood(self, part: Chunk, released: Mapping[str, Array], summary: Summary) -> Floats:
        """The product over columns of the matrix's entries."""
        total = np.ones(len(part))
        for column in part.columns:
            new = released[column.name]
            total[column.missing != (new < 0)] = 0.0
            known = np.flatnonzero(~column.missing & (new >= 0))
            total[known] *= summary[column.name].chance(part.cells.label[known], column.values[known], new[known])
        return total

    def observable_class(self, part: Chunk) -> Rows:
        """Which columns are missing: a released level is possible in every cell."""
        return by_missing(np.zeros(len(part), np.int64), part.columns)

    @property
    def _way(self) -> Invariant:
        return self.invariant or ("proportional" if self.matrix is None else "none")

    def _start(self, name: str, levels: tuple[str, ...]) -> Floats | None:
        """The matrix that is given or made invariant, in the order of a column's levels; else None."""
        count = len(levels)
        if self.matrix is not None:
            if lacking := [level for level in levels if level not in self.levels]:
                raise PlanError(
                    f"Pram has no row for {len(lacking)} of the {count} levels of column {name!r}. "
                    "Give levels and matrix for all of them."
                )
            if set(self.levels) - set(levels):
                raise PlanError(
                    f"Pram has rows for {len(self.levels)} levels, but column {name!r} has {count}. "
                    "Give levels and matrix for these alone."
                )
            at = [self.levels.index(level) for level in levels]
            return np.array(self.matrix, np.float64)[np.ix_(at, at)]
        if self._way == "proportional":
            return None
        if count**2 > MOST_ENTRIES:
            raise PlanError(
                f"Column {name!r} has {count} levels, too many for a matrix. "
                "Use invariant='proportional', or leave the column out."
            )
        matrix = np.full((count, count), self.probability / max(count - 1, 1))
        np.fill_diagonal(matrix, 1 - self.probability if count > 1 else 1.0)
        return matrix

    def _law(self, name: str, counts: Array, start: Floats | None) -> "_Law":
        shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
        if start is None:
            return _Law(shares, self.probability, None)
        if self._way == "none":
            return _Law(shares, 1.0, start[None])
        if counts.size * counts.shape[1] > MOST_ENTRIES:
            raise PlanError(
                f"Column {name!r} has {counts.shape[1]} levels in {counts.shape[0]} cells, too many for matrices. "
                "Use invariant='proportional', or larger cells."
            )
        return _Law(shares, 1.0, np.array([two_stage(start, share) for share in shares]))


def _check(matrix: Matrix, levels: tuple[str, ...]) -> None:
    """Raise an error unless a given matrix has a row and a column for each level, with probabilities of the sum 1."""
    if len(levels) != len(matrix) or any(len(row) != len(levels) for row in matrix) or not levels:
        sizes = f"{len(matrix)} rows for {len(levels)} levels"
        raise ValueOutOfRange("Pram.matrix", sizes, "square, with a row and a column for each of its levels")
    if len(set(levels)) < len(levels):
        raise ValueOutOfRange("Pram.levels", list(levels), "different levels")
    given = np.array(matrix, np.float64)
    if not (given >= 0).all() or (np.abs(given.sum(axis=1) - 1) > SUM_OF_ROW).any():
        sums = [round(float(one), 9) for one in given.sum(axis=1)]
        raise ValueOutOfRange("Pram.matrix", f"rows with the sums {sums}", "probabilities whose rows have the sum 1")


def two_stage(matrix: Floats, shares: Floats) -> Floats:
    """A matrix followed by its Bayes inverse: invariant for the given shares of the original levels.

    >>> found = two_stage(np.array([[0.8, 0.2], [0.2, 0.8]]), np.array([0.9, 0.1]))
    >>> (np.array([0.9, 0.1]) @ found).round(9)
    array([0.9, 0.1])
    """
    joint = shares[:, None] * matrix
    reported = joint.sum(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        back = np.where(reported[:, None] > 0, joint.T / reported[:, None], np.eye(len(shares)))
    found: Floats = matrix @ back
    return found / found.sum(axis=1, keepdims=True)


class _Law(NamedTuple):
    """The probabilities of released levels: a matrix for each cell, or for all; or a value redrawn by shares."""

    shares: Floats  # (cells, levels) of original levels
    redrawn: float  # the probability of a draw; otherwise the value stays
    matrix: Floats | None  # (cells or 1, levels, levels)

    def matrices(self) -> Floats:
        """(cells or 1, levels, levels) the transition matrices."""
        if self.matrix is not None:
            return self.matrix
        return (1 - self.redrawn) * np.eye(self.shares.shape[1]) + self.redrawn * self.shares[:, None, :]

    def chance(self, label: Rows, own: Array, new: Array) -> Floats:
        """The probability of each released level."""
        if self.matrix is not None:
            return self.matrix[label if len(self.matrix) > 1 else 0, own, new]
        return np.asarray((1 - self.redrawn) * (own == new) + self.redrawn * self.shares[label, new])

    def drawn(self, label: Rows, own: Codes, uniform: Floats) -> Codes:
        """A released level for each row."""
        from leafcover.kernels.swapping import draw_levels

        if not len(own):
            return own
        if self.matrix is None:
            table, row = _below(self.shares), label
            moved = np.flatnonzero(uniform < self.redrawn)
        else:
            levels = self.shares.shape[1]
            table = _below(self.matrix.reshape(-1, levels))
            row = own + (label * levels if len(self.matrix) > 1 else 0)
            moved = np.arange(len(own))
        found, drawn = own.copy(), np.empty(len(moved), np.int32)
        draw_levels(table, row[moved].astype(np.int64), uniform[moved] / self.redrawn, drawn)
        found[moved] = drawn
        return found


def _below(shares: Floats) -> Floats:
    """Cumulative shares of each row, which no uniform number exceeds at the last level that occurs."""
    found = np.cumsum(shares, axis=1)
    levels = shares.shape[1]
    last = levels - 1 - (shares[:, ::-1] > 0).argmax(axis=1)
    found[np.arange(levels) >= last[:, None]] = 2.0
    return found
