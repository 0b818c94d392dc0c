"""Attacks of someone who knows the parameters of PRAM or of a swap: Bayes inversion, and linkage by ranks.

PRAM's matrix is published. With it, frequencies of released levels give those of the original ones, and Bayes' rule
the most probable original level of each row. A swap's window or distance says which released rows can be a person's in
one column; few can in all of them (Nin, Herranz and Torra 2008).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import TypeAlias

import numpy as np

from leafcover.arrays import Array, Bools, Floats, Rows
from leafcover.errors import NameUnknown, ValueOutOfRange
from leafcover.metrics.disclosure.nearest_record import closer_than_own, of_rows, scaled
from leafcover.metrics.disclosure.record_linkage import chance_among
from leafcover.metrics.estimates import Risk, risk_of
from leafcover.metrics.pair import Pair, sample_rows

MOST_PEOPLE = 1_000
TIED = 1e-12  # differences of ranks no further apart are equal
EM_STEPS = 200  # of the estimate of frequencies that no inverse of the matrix makes negative


@dataclass(frozen=True)
class PramInversion:
    """What the matrix of PRAM gives away about a column."""

    inverted: Risk  # the most probable original level is right
    as_released: Risk  # the released level is right
    most_frequent: Risk  # the most frequent level is right
    shares: tuple[float, ...]  # estimated shares of the original levels
    largest_error: float  # of these shares

    def __str__(self) -> str:
        return (
            f"Bayes inversion {self.inverted.value:.3f}, as released {self.as_released.value:.3f}, "
            f"most frequent level {self.most_frequent.value:.3f}"
        )


def pram_inversion(pair: Pair, column: str, matrix: Floats) -> PramInversion:
    """Infer the original levels of a column from the released ones and the transition matrix.

    Parameters
    ----------
    pair : Pair
        Original and release, row by row.
    column : str
        A category.
    matrix : array
        Row k has the probabilities of all released levels for level k, such as ``Pram(...).transition(column)``.

    Returns
    -------
    PramInversion
        Shares of the known values.

    Examples
    --------
    >>> import leafcover as lc
    >>> from leafcover.metrics.pair import pair_of
    >>> table, pram = lc.read(lc.sample("cps1985")), lc.Pram(probability=0.3, invariant="none")
    >>> step = lc.Step("union", within=lc.Whole(), perturb=pram)
    >>> release = lc.release(table, lc.Plan(step), seed=1, keep_order=True)
    >>> pair = pair_of(table, release.table, release.source)
    >>> print(pram_inversion(pair, "union", pram.transition(table["union"])))
    Bayes inversion 0.820, as released 0.723, most frequent level 0.820
    """
    original, released = _columns(pair, (column,))[0]
    levels = len(pair.original[column].levels)
    if not pair.original[column].is_category or np.shape(matrix) != (levels, levels):
        raise ValueOutOfRange("matrix", f"shape {np.shape(matrix)}", f"a row and a column for each level of {column!r}")
    known = (original >= 0) & (released >= 0)
    truth, shown = original[known], released[known]
    rows = max(len(shown), 1)
    shares = original_shares(np.bincount(shown, minlength=levels) / rows, matrix, error=1 / sqrt(rows))
    guess = (shares[:, None] * matrix).argmax(axis=0)  # for each released level
    actual = np.bincount(truth, minlength=levels) / max(len(truth), 1)
    return PramInversion(
        risk_of((guess[shown] == truth).astype(np.float64)),
        risk_of((shown == truth).astype(np.float64)),
        risk_of((truth == actual.argmax()).astype(np.float64)),
        tuple(shares.tolist()),
        float(np.abs(shares - actual).max(initial=0.0)),
    )


def original_shares(released: Floats, matrix: Floats, *, error: float = 0.0) -> Floats:
    """The shares of original levels that make those of the released ones most probable: none is negative.

    If the matrix keeps the released shares, up to an error of sampling, they are the answer: to solve for others would
    multiply the error.

    >>> original_shares(np.array([0.62, 0.38]), np.array([[0.8, 0.2], [0.2, 0.8]])).round(3)
    array([0.7, 0.3])
    """
    if np.abs(released @ matrix - released).max() <= error / 2:
        return np.asarray(released, np.float64)
    if abs(np.linalg.det(matrix)) > 1e-9:
        solved: Floats = np.asarray(np.linalg.solve(matrix.T, released), np.float64)
        if (solved >= 0).all():
            return solved
    found: Floats = np.asarray(released, np.float64)  # what an invariant matrix keeps
    for _ in range(EM_STEPS):
        found = np.asarray(found * (matrix @ (released / np.maximum(found @ matrix, TIED))), np.float64)
    return found


@dataclass(frozen=True)
class SwapLinkage:
    """How often someone who knows the parameter of a swap links a person to the own row."""

    linked: Risk  # the own row is drawn among the rows that the parameter leaves, or the nearest of them
    by_distance: Risk  # the own row is the nearest of all, without the parameter
    candidates: float  # the median number of rows that the parameter leaves
    alone: float  # the share of people with a single one
    ruled_out: (
        float  # the share of people whose own row is not among them: more than 0 says that the parameter is wrong
    )

    def __str__(self) -> str:
        return (
            f"linked {self.linked.value:.3f}, by distance alone {self.by_distance.value:.3f}, "
            f"{self.candidates:g} candidates, {self.alone:.3f} with a single one"
        )


def rank_swap_linkage(
    pair: Pair, columns: Sequence[str], window: float, *, most: int = MOST_PEOPLE, groups: Rows | None = None
) -> SwapLinkage:
    """Link people by their values of rank-swapped columns and the window.

    A released value more than the window of ranks away cannot be the person's. Of the rows that are left by all
    columns, the attacker takes the nearest one in ranks.

    Parameters
    ----------
    pair : Pair
        Original and release, row by row.
    columns : sequence of str
        The swapped columns whose values the attacker knows.
    window : float
        The largest difference of ranks, as a share of the known values.
    most : int, default 1000
        How many people are attacked: a seeded sample.
    groups : array, optional
        A number for the cell of each original row, if values were swapped within cells that the attacker knows.

    Returns
    -------
    SwapLinkage

    Examples
    --------
    >>> import leafcover as lc
    >>> from leafcover.metrics.pair import pair_of
    >>> table = lc.read(lc.sample("wine"))
    >>> plan = lc.recipes.rank_swap(table, window=0.2)
    >>> release = lc.release(table, plan, seed=1, keep_order=True)
    >>> pair = pair_of(table, release.table, release.source)
    >>> print(rank_swap_linkage(pair, plan.columns, 0.2))
    linked 0.963, by distance alone 0.545, 1 candidates, 0.955 with a single one
    """
    cell = np.zeros(len(pair.original), np.int64) if groups is None else np.asarray(groups)

    def within(near: Rows, _: Rows, known: int) -> Bools:
        return near <= max(2, int(window * known))

    return _linked(pair, columns, cell, within, most, nearest=True)


def bounded_swap_linkage(
    pair: Pair, columns: Sequence[str], distance: int, groups: Rows, *, most: int = MOST_PEOPLE
) -> SwapLinkage:
    """Link people by their values of columns after bounded swapping, the distance and the cells.

    A released row of another cell, or with a value that is fewer ranks away, cannot be the person's. Of the rows that
    are left the attacker takes a random one.

    Parameters
    ----------
    pair : Pair
        Original and release, row by row.
    columns : sequence of str
        The swapped columns whose values the attacker knows.
    distance : int
        The smallest difference of ranks.
    groups : array
        A number for the cell of each original row.
    most : int, default 1000
        How many people are attacked: a seeded sample.

    Returns
    -------
    SwapLinkage

    Examples
    --------
    >>> import leafcover as lc
    >>> from leafcover.metrics.pair import pair_of
    >>> table = lc.read(lc.sample("wine"))
    >>> plan = lc.recipes.bounded_swap(table, leaf=40, distance=10)
    >>> release = lc.release(table, plan, seed=1, keep_order=True)
    >>> pair = pair_of(table, release.table, release.source)
    >>> cells = plan.steps[0].within.cells(table).cells.label
    >>> print(bounded_swap_linkage(pair, plan.columns, 10, cells))
    linked 1.000, by distance alone 0.000, 1 candidates, 1.000 with a single one
    """

    def beyond(_: Rows, far: Rows, known: int) -> Bools:
        return far >= min(distance, known // 2)

    return _linked(pair, columns, np.asarray(groups), beyond, most, nearest=False)


def _columns(pair: Pair, names: Sequence[str]) -> list[tuple[Array, Array]]:
    """The values of columns, if there are such columns and pairs of rows."""
    for name in names:
        if name not in pair.names:
            raise NameUnknown("column", name, pair.names)
    if not pair.paired:
        raise ValueOutOfRange("pair", "without pairs", "a release whose rows are paired with the original's")
    return [(pair.original[name].values, pair.released[name].values) for name in names]


@dataclass(frozen=True, eq=False)
class _Ranked:
    """The ranks of original and released values of a column among the values of their cell."""

    known: Rows  # (rows,) known values of the row's cell
    own: tuple[Rows, Rows]  # (rows,) first and last rank of the original value; -1 if it is missing
    new: tuple[Rows, Rows]

    @classmethod
    def of(cls, before: Floats, after: Floats, cell: Rows) -> "_Ranked":
        known = np.zeros(len(cell), np.int64)
        ranks = np.full((4, len(cell)), -1)
        for rows in _by_cell(cell):
            values = np.sort(after[rows][~np.isnan(after[rows])])
            known[rows] = len(values)
            for at, shown in ((0, before), (2, after)):
                some = rows[~np.isnan(shown[rows])]
                ranks[at, some] = np.searchsorted(values, shown[some], "left")
                ranks[at + 1, some] = np.maximum(np.searchsorted(values, shown[some], "right") - 1, ranks[at, some])
        return cls(known, (ranks[0], ranks[1]), (ranks[2], ranks[3]))

    def possible(self, person: int, test: "_Test") -> Bools:
        """The rows whose released value may come from a person's: both missing, or ranks that pass the test."""
        first, last = self.own[0][person], self.own[1][person]
        if first < 0:
            return self.new[0] < 0
        near = np.maximum(self.new[0] - last, first - self.new[1])
        far = np.maximum(self.new[1] - first, last - self.new[0])
        return (self.new[0] >= 0) & test(near, far, int(self.known[person]))

    def apart(self, person: int) -> Floats:
        """How far the middle ranks are from the person's, as a share of all."""
        first, last = self.own[0][person], self.own[1][person]
        return np.abs(self.new[0] + self.new[1] - first - last) / (2 * max(self.known[person], 1))


_Test: TypeAlias = Callable[[Rows, Rows, int], Bools]  # of the smallest and largest distance, and the known values


def _by_cell(cell: Rows) -> list[Rows]:
    order = np.argsort(cell, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(cell[order])) + 1)


def _linked(pair: Pair, columns: Sequence[str], cell: Rows, test: _Test, most: int, *, nearest: bool) -> SwapLinkage:
    both = [_Ranked.of(before, after, cell) for before, after in _columns(pair, columns)]
    people = sample_rows(len(pair.original), most)
    chance, count = np.zeros(len(people)), np.zeros(len(people), np.int64)
    ruled_out = np.zeros(len(people), np.bool_)
    for at, person in enumerate(people.tolist()):
        left = np.logical_and.reduce([cell == cell[person], *(column.possible(person, test) for column in both)])
        rows = np.flatnonzero(left)
        count[at], ruled_out[at] = len(rows), not left[person]
        if nearest and len(rows):
            apart = np.sum([column.apart(person)[rows] for column in both], axis=0)
            rows = rows[apart <= apart.min() + TIED]
        chance[at] = (person in rows) / max(len(rows), 1)
    ours, theirs = scaled([pair.original, pair.released], columns)
    plain = chance_among(1, *closer_than_own(of_rows(ours, people), theirs, people, enough=1))
    return SwapLinkage(
        risk_of(chance), risk_of(plain), float(np.median(count)), float((count == 1).mean()), float(ruled_out.mean())
    )
