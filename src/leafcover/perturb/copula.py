"""CGADP and data shuffling: GADP on normal scores, so that numbers of any distribution keep theirs.

Both replace every number by its normal score, the normal quantile of its rank, draw new scores by GADP given the
columns that stay, and turn them back into numbers:

- CGADP, Sarathy, Muralidhar and Parsa (2002): into the quantile of the column's own values that the score says.
- Data shuffling, Muralidhar and Sarathy (2006): into the value of the same rank, so that each column is a permutation
  of itself.

Correlations of ranks are kept on average. The correlation of scores is that of the scores themselves, divided by their
deviations, which ties make smaller.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import sqrt
from typing import ClassVar

import numpy as np

from leafcover.arrays import Array, Floats
from leafcover.cells import Cells
from leafcover.errors import ValueOutOfRange
from leafcover.keyed_random import Draws
from leafcover.perturb.additive import grid_for, on_points
from leafcover.perturb.base import (
    Changed,
    Chunk,
    Perturbation,
    Promise,
    Scope,
    Summary,
    became_missing,
    methods,
    perturbation,
)
from leafcover.perturb.bounded import Normal
from leafcover.perturb.conditional_normal import (
    Regressed,
    check_rows,
    interval_chance,
    same_known,
)
from leafcover.perturb.covariance import Unit, combined, indicators, known_of, pair_moments
from leafcover.table.table import Column, Kind


@dataclass(frozen=True, eq=False)
class Ranked:
    """The known values of a column in order, and the deviation of their normal scores."""

    values: Floats
    deviation: float

    @classmethod
    def of(cls, column: Column) -> "Ranked":
        """The known values."""
        found = cls(np.sort(column.values[~column.missing]), 1.0)
        scores = found.scores(column.values[~column.missing])
        return replace(found, deviation=float(scores.std(ddof=1)) if len(scores) > 1 else 0.0)

    def places(self, values: Floats) -> tuple[Floats, Floats]:
        """The shares of values that are smaller, and at most as large; half a row around one that nobody has."""
        low, high = np.searchsorted(self.values, values), np.searchsorted(self.values, values, side="right")
        new = np.where(low == high, 0.5, 0.0)
        many = max(len(self.values), 1)
        return np.clip((low - new) / many, 0.0, 1.0), np.clip((high + new) / many, 0.0, 1.0)

    def scores(self, values: Floats) -> Floats:
        """Normal scores with deviation 1, by the mean rank of equal values; nan for missing ones."""
        low, high = self.places(values)
        edge = 0.5 / max(len(self.values), 1)
        found = Normal().inverse(np.clip((low + high) / 2, edge, 1 - edge))
        return np.where(np.isnan(values), np.nan, found / (self.deviation or 1.0))

    def column(self, column: Column) -> Column:
        """The column of scores, with a domain that has all of them."""
        scores = self.scores(column.values)
        most = self.scores(self.values[[0, -1]]) if len(self.values) else np.zeros(2)
        varies = len(self.values) > 1 and self.values[0] < self.values[-1]
        ends = (float(most[0]), float(most[1])) if varies else (0.0, 0.0)
        return replace(column, kind="number", values=scores, grid=None, stored=None, declared=ends)


@dataclass(frozen=True, eq=False)
class Scored:
    """The order of each column's values, and the regression of scores on the columns given."""

    columns: Mapping[str, Ranked]
    regressed: Regressed

    def scores(self, part: Chunk) -> Chunk:
        """The part with normal scores instead of numbers."""
        return scored_part(part, self.columns)


def scored_part(part: Chunk, ranked: Mapping[str, Ranked]) -> Chunk:
    """A part with normal scores instead of numbers."""
    columns = tuple(ranked[column.name].column(column) for column in part.columns)
    given = tuple(column if column.is_category else ranked[column.name].column(column) for column in part.given)
    return replace(part, columns=columns, given=given, known={})


class _Copula(Perturbation):
    """What CGADP and data shuffling share: new normal scores, and the likelihood of a released value."""

    kinds: ClassVar[frozenset[Kind]] = frozenset({"number", "date", "time"})
    uses_cells: ClassVar[bool] = False
    joint: ClassVar[bool] = True
    given: tuple[str, ...]
    similarity: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "given", tuple(self.given))
        if not 0 <= self.similarity < 1:
            raise ValueOutOfRange(f"{type(self).__name__}.similarity", self.similarity, "at least 0 and below 1")

    @property
    def why_fixed(self) -> str:
        """The columns given determine it."""
        return methods()("fixed-given")

    @property
    def scope(self) -> Scope:
        """Ranks need the whole table."""
        return "table"

    def fit(self, part: Chunk) -> Summary:
        """The order of the values, and the regression of their scores."""
        ranked = {c.name: Ranked.of(c) for c in (*part.columns, *part.given) if not c.is_category}
        names = tuple(column.name for column in part.columns)
        scored = scored_part(part, ranked)
        numbers = [Unit.of(column).scaled(column.values) for column in scored.columns]
        given = [one for column in scored.given for one in indicators(column)]
        moments = pair_moments([*numbers, *given])
        if self.given:
            check_rows(type(self).__name__, moments, len(names))
        return Scored(ranked, Regressed.of(names, moments))

    def finalize(self, summary: Summary, cells: Cells) -> Summary:
        """Everything is known of the whole table."""
        return summary

    def likelihood(self, part: Chunk, released: Mapping[str, Array], summary: Summary) -> Floats:
        """The probability of the ranks that the released values have, given the row's own score.

        In a table of many rows; what the rows of a small one have in common is left out.
        """
        scored, at = summary.scores(part), summary.regressed.places(part.columns)
        shown = np.array([released[column.name] for column in part.columns])
        known = known_of(part.columns)
        total: Floats = (known != np.isnan(shown)).all(axis=0).astype(np.float64)
        ends = np.zeros((3, *shown.shape))
        for one, column in enumerate(part.columns):
            low, high = summary.columns[column.name].places(shown[one])
            scores = Normal().inverse(np.array([low, (low + high) / 2, high]))
            ends[:, one] = Unit.of(scored.columns[one]).scaled(np.clip(scores, -FARTHEST, FARTHEST))
        ends -= self._expected(scored, summary.regressed)
        covariance = (1 - self.similarity**2) * summary.regressed.covariance[np.ix_(at, at)]
        blur = np.array([BLUR / (Unit.of(column).half or 1.0) for column in scored.columns])
        for together, rows in same_known(known & ~np.isnan(shown)):
            low, middle, high = (end[np.ix_(together, rows)] for end in ends)
            inner = covariance[np.ix_(together, together)]
            total[rows] *= interval_chance(low, middle, high, inner, blur[together])
        return total

    def _expected(self, scored: Chunk, regressed: Regressed) -> Floats:
        """(columns, rows) the mean of each new score, in halves of its domain; nan if its own is missing."""
        found = regressed.expected(scored)
        if self.similarity:
            for at, column in enumerate(scored.columns):
                found[at] += self.similarity * (Unit.of(column).scaled(column.values) - found[at])
        return found

    def _new_scores(self, part: Chunk, summary: Scored, draws: Draws) -> Floats:
        """(columns, rows) new normal scores."""
        scored = summary.scores(part)
        normals = [Normal().inverse(draws.sub(column.name).uniform(part.rows)) for column in part.columns]
        new = self._expected(scored, summary.regressed)
        new += combined(sqrt(1 - self.similarity**2) * summary.regressed.root, normals)
        return np.array([Unit.of(column).value(one) for column, one in zip(scored.columns, new, strict=True)])


BLUR = 0.05  # the deviation of a score that is known from a released value
FARTHEST = 40.0  # deviations, beyond which no score is


@perturbation("cgadp")
@dataclass(frozen=True)
class Cgadp(_Copula):
    """GADP with a normal copula: numbers of any distribution keep it, and the correlations of ranks, on average.

    New values lie between neighbouring original ones, never beyond the smallest and the largest.

    Parameters
    ----------
    given : sequence of str, optional
        Columns of any kind that are released unchanged, and with which the relations are preserved. A missing value of
        them counts as a value.
    similarity : float, default 0
        How much of what a number's score is beyond the columns given is released: its correlation with the new score,
        at least 0 and below 1.
    on_grid : bool, default True
        Round new values to the column's grid, such as whole years or cents. Dates and times are always rounded.

    Examples
    --------
    >>> import leafcover as lc
    >>> table = lc.read(lc.sample("cps1985"))
    >>> step = lc.Step(["wage", "age"], within=lc.Whole(), perturb=lc.Cgadp(given=["education"]))
    >>> release = lc.release(table, lc.Plan(step), seed=7)
    >>> release.table["wage"].domain[0] >= table["wage"].domain[0]
    True
    """

    frozen_id: ClassVar[str] = "cgadp"
    new_values: ClassVar[Promise] = "drawn"
    given: tuple[str, ...] = ()
    similarity: float = 0.0
    on_grid: bool = True

    def describe(self, *, detailed: bool = True) -> str:
        """What happens to a value."""
        similarity = f"{self.similarity:g}" if detailed and self.similarity else "none"
        return methods()("cgadp", given=len(self.given), similarity=similarity)

    @property
    def guarantees(self) -> tuple[str, ...]:
        """The guarantees."""
        on_grid = ("every value is on its grid",) if self.on_grid else ()
        return ("every value is in the range of its column", *on_grid, "missing stays missing")

    @property
    def not_guaranteed(self) -> tuple[str, ...]:
        """Distributions are kept on average."""
        return ("distributions and correlations of ranks are kept on average, not exactly",)

    def change(self, part: Chunk, summary: Summary, draws: Draws) -> Mapping[str, Changed]:
        """The quantiles of the new scores."""
        changed = {}
        for column, scores in zip(part.columns, self._new_scores(part, summary, draws), strict=True):
            values = summary.columns[column.name].values
            if len(values) < 2 or values[0] == values[-1]:
                changed[column.name] = Changed(column.values)
                continue
            middles = (np.arange(len(values)) + 0.5) / len(values)
            new = np.interp(Normal().cdf(scores), middles, values)
            if (grid := grid_for(column, self.on_grid)) is not None:
                new = on_points(grid, grid.index(new))
            changed[column.name] = Changed(np.where(column.missing, np.nan, new))
        return changed

    def violations(self, before: Chunk, after: Mapping[str, Array]) -> tuple[str, ...]:
        """Sentences about values outside the range of their column or off their grid, and about missing values."""
        found = [*became_missing(before, after)]
        for column in before.columns:
            low, high = column.domain
            new = after[column.name][~np.isnan(after[column.name])]
            out = (new < low) | (new > high)
            if (grid := grid_for(column, self.on_grid)) is not None:
                out |= grid.value(grid.index(new)) != new
            if out.any():
                found.append(f"column {column.name!r}: {int(out.sum())} values left their range or grid")
        return tuple(found)


@perturbation("data-shuffle")
@dataclass(frozen=True)
class DataShuffle(_Copula):
    """Data shuffling: the values of each column are exchanged, and the correlations of ranks are kept on average.

    Each column is a permutation of itself. Every released value is a true value, of somebody.

    Parameters
    ----------
    given : sequence of str, optional
        Columns of any kind that are released unchanged, and with which the relations are preserved. A missing value of
        them counts as a value.
    similarity : float, default 0
        How much of what a number's score is beyond the columns given is released: its correlation with the new score,
        at least 0 and below 1.

    Examples
    --------
    >>> import leafcover as lc
    >>> table = lc.read(lc.sample("cps1985"))
    >>> step = lc.Step(["wage", "age"], within=lc.Whole(), perturb=lc.DataShuffle(given=["education"]))
    >>> release = lc.release(table, lc.Plan(step), seed=7)
    >>> sorted(release.table["wage"].values) == sorted(table["wage"].values)
    True
    """

    frozen_id: ClassVar[str] = "data-shuffle"
    new_values: ClassVar[Promise] = "permuted"
    given: tuple[str, ...] = ()
    similarity: float = 0.0

    def describe(self, *, detailed: bool = True) -> str:
        """What happens to a value."""
        similarity = f"{self.similarity:g}" if detailed and self.similarity else "none"
        return methods()("data-shuffle", given=len(self.given), similarity=similarity)

    @property
    def guarantees(self) -> tuple[str, ...]:
        """The guarantees."""
        return ("every column of numbers is a permutation of itself", "missing stays missing")

    @property
    def not_guaranteed(self) -> tuple[str, ...]:
        """Correlations are kept on average."""
        return ("correlations of ranks are kept on average, not exactly",)

    def change(self, part: Chunk, summary: Summary, draws: Draws) -> Mapping[str, Changed]:
        """The known value with the rank of the new score; a keyed draw decides between equal scores and values."""
        changed = {}
        for column, scores in zip(part.columns, self._new_scores(part, summary, draws), strict=True):
            rows = np.flatnonzero(~column.missing)
            words = draws.sub(column.name, "ties").words(part.rows[rows])
            source = np.arange(len(part))
            source[rows[np.lexsort((words, scores[rows]))]] = rows[np.lexsort((words, column.values[rows]))]
            changed[column.name] = Changed(column.values[source], part.rows[source])
        return changed

    def violations(self, before: Chunk, after: Mapping[str, Array]) -> tuple[str, ...]:
        """Sentences about values that were not there, and about missing values."""
        moved = (
            f"column {column.name!r}: the values are not a permutation of themselves"
            for column in before.columns
            if not np.array_equal(np.sort(column.values), np.sort(after[column.name]), equal_nan=True)
        )
        return (*moved, *became_missing(before, after))
