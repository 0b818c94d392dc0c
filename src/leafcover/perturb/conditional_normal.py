"""GADP, EGADP and IPSO: confidential numbers drawn from a normal distribution given columns that stay as they are.

- GADP, Muralidhar, Parsa and Sarathy (1999): with X the confidential numbers and S the columns given, Y = X̂ + αE + N,
  where X̂ is the regression of X on S, E = X - X̂, and N is normal with (1 - α²) times the covariance of E. Means,
  variances and all covariances among Y and S are those of X and S in expectation. α, the similarity, is 0 by default:
  Y then depends on X only through S.
- EGADP, Muralidhar and Sarathy (2005): the same, with N replaced by numbers whose sample mean is 0, whose sample
  covariance is exactly that of N, and whose sample covariance with S and E is exactly 0.
- IPSO, Burridge (2003): the same as EGADP with α = 0, where N need not be uncorrelated with E in the sample.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from math import sqrt
from typing import ClassVar, NamedTuple

import numpy as np

from leafcover.arrays import Array, Bools, Floats, Rows
from leafcover.cells import Cells
from leafcover.errors import PlanError, ValueOutOfRange
from leafcover.keyed_random import Draws
from leafcover.perturb.additive import SMALLEST_STEP, free_broken, free_promises, grid_for, on_points
from leafcover.perturb.base import (
    FIXED_PROBABILITY,
    Changed,
    Chunk,
    Perturbation,
    Promise,
    Scope,
    Summary,
    fixed_by_likelihood,
    methods,
    perturbation,
)
from leafcover.perturb.bounded import FINE, Normal, between
from leafcover.perturb.covariance import (
    SINGULAR,
    PairMoments,
    Unit,
    combined,
    indicators,
    known_of,
    pair_moments,
    predicted,
    regression,
    square_root,
)
from leafcover.table.recoding import FEWEST
from leafcover.table.table import Column, Kind

NUMBERS: frozenset[Kind] = frozenset({"number", "date", "time"})


class _Fitted(NamedTuple):
    """The moments of the columns of a step, and of the indicators of the columns given."""

    names: tuple[str, ...]
    moments: PairMoments


@dataclass(frozen=True, eq=False)
class Regressed:
    """The regression of numbers on the columns given, in halves of each number's domain."""

    names: tuple[str, ...]
    constants: Floats  # (numbers,)
    weights: Floats  # (numbers, indicators)
    covariance: Floats  # (numbers, numbers) that is left
    root: Floats  # its symmetric root

    @classmethod
    def of(cls, names: tuple[str, ...], moments: PairMoments) -> "Regressed":
        """The first numbers are those of the names; the others are given."""
        many, covariance = len(names), moments.covariance
        weights, left = regression(covariance, many)
        constants = moments.means[:many] - weights @ moments.means[many:]
        return cls(names, constants, weights, left, square_root(left))

    def expected(self, part: Chunk) -> Floats:
        """(columns, rows) what the columns given say of each number of a part."""
        at = self.places(part.columns)
        found = predicted(part.given, self.weights[at], len(part))
        found += self.constants[at, None]
        return found

    def places(self, columns: Sequence[Column]) -> list[int]:
        """The positions of some columns."""
        return [self.names.index(column.name) for column in columns]


class _ConditionalNormal(Perturbation):
    """What GADP and EGADP share: regression on the columns given, and the likelihood of a released value."""

    kinds: ClassVar[frozenset[Kind]] = NUMBERS
    uses_cells: ClassVar[bool] = False
    joint: ClassVar[bool] = True
    new_values: ClassVar[Promise] = "drawn"
    given: tuple[str, ...]
    similarity: float
    on_grid: bool

    def __post_init__(self) -> None:
        object.__setattr__(self, "given", tuple(self.given))
        if not 0 <= self.similarity < 1:
            raise ValueOutOfRange(f"{type(self).__name__}.similarity", self.similarity, "at least 0 and below 1")

    @property
    def why_fixed(self) -> str:
        """The columns given determine it."""
        return methods()("fixed-given")

    def fit(self, part: Chunk) -> Summary:
        """Exact sums, so that the result does not depend on the chunks."""
        numbers = [Unit.of(column).scaled(column.values) for column in part.columns]
        given = [one for column in part.given for one in indicators(column)]
        return _Fitted(tuple(column.name for column in part.columns), pair_moments([*numbers, *given]))

    def merge(self, one: Summary, other: Summary) -> Summary:
        """Add the sums."""
        return _Fitted(one.names, one.moments.plus(other.moments))

    def finalize(self, summary: Summary, cells: Cells) -> Summary:
        """The regression on the columns given."""
        names, moments = summary
        if self.given:
            check_rows(type(self).__name__, moments, len(names))
        return Regressed.of(names, moments)

    def fixed(self, part: Chunk, summary: Summary) -> Mapping[str, Bools]:
        """A value is fixed if the columns given determine it up to its grid."""
        found = {}
        for column, place in zip(part.columns, summary.places(part.columns), strict=True):
            step, deviation = self._step(column), self._deviation(column, summary.covariance[place, place])
            if deviation > 0 and Normal().cdf(np.array(step / deviation / 2)) * 2 - 1 < FIXED_PROBABILITY:
                found[column.name] = np.zeros(len(part), np.bool_)
            else:
                found |= fixed_by_likelihood(self, replace(part, columns=(column,)), summary)
        return found

    def likelihood(self, part: Chunk, released: Mapping[str, Array], summary: Summary) -> Floats:
        """The probability of the released values: of their grid points, else of a millionth of each range."""
        total, new = np.ones(len(part)), np.array([released[column.name] for column in part.columns])
        known = known_of(part.columns)
        total[(known == np.isnan(new)).any(axis=0)] = 0.0
        means = self._expected(part, summary)
        at = summary.places(part.columns)
        covariance = (1 - self.similarity**2) * summary.covariance[np.ix_(at, at)]
        units = [Unit.of(column) for column in part.columns]
        apart = np.array([unit.scaled(y) for unit, y in zip(units, new, strict=True)]) - means
        steps = [self._step(c) / unit.half if unit.half else 0.0 for c, unit in zip(part.columns, units, strict=True)]
        for together, rows in same_known(known & ~np.isnan(new)):
            some = np.ix_(together, together)
            total[rows] *= normal_chance(apart[np.ix_(together, rows)], covariance[some], np.array(steps)[together])
        return total

    def _drawn(self, part: Chunk, summary: Summary, normals: Sequence[Floats] | Floats) -> Floats:
        """(columns, rows) new numbers from standard normal ones, in halves of their domains."""
        drawn = self._expected(part, summary)
        noise = combined(sqrt(1 - self.similarity**2) * summary.root, normals)
        drawn += noise
        return drawn

    def _expected(self, part: Chunk, summary: Summary) -> Floats:
        """(columns, rows) the mean of each released number, in halves of its domain; nan if its own is missing."""
        found: Floats = summary.expected(part)
        if self.similarity:
            for at, column in enumerate(part.columns):
                found[at] += self.similarity * (Unit.of(column).scaled(column.values) - found[at])
        return found

    def _step(self, column: Column) -> float:
        """The width of the range of drawn numbers that are released as one."""
        if (grid := grid_for(column, self.on_grid)) is not None:
            return grid.step
        bottom, top = column.domain
        return max(top / FINE - bottom / FINE, SMALLEST_STEP)

    def _deviation(self, column: Column, variance: float) -> float:
        """The standard deviation of a released value."""
        return Unit.of(column).half * sqrt((1 - self.similarity**2) * variance)


def check_rows(method: str, moments: PairMoments, many: int) -> None:
    """Raise an error if the columns given, after so many that are drawn, determine every value."""
    needed = many + 1 + int(np.linalg.matrix_rank(moments.covariance[many:, many:], hermitian=True))
    if moments.rows < needed:
        refuse_rows(method, moments.rows, needed)


def refuse_rows(method: str, rows: int, needed: int) -> None:
    """Raise an error that there are too few rows."""
    raise PlanError(
        f"{method} needs at least {needed} rows without missing values for so many columns and "
        f"levels given, but got {rows}. Name fewer columns, or give fewer."
    )


def same_known(known: Bools) -> Iterator[tuple[Rows, Rows]]:
    """For each combination of known columns: the columns, and the rows that know just these; (columns, rows)."""
    if known.all():
        yield np.arange(len(known)), np.arange(known.shape[1])
        return
    packed, label = np.unique(np.packbits(known, axis=0), axis=1, return_inverse=True)
    order = np.argsort(label.ravel(), kind="stable")
    ends = np.searchsorted(label.ravel()[order], np.arange(packed.shape[1] + 1))
    for first, last in pairwise(ends.tolist()):
        rows = order[first:last]
        yield np.flatnonzero(known[:, rows[0]]), rows


def normal_chance(apart: Floats, covariance: Floats, steps: Floats) -> Floats:
    """(rows,) the probability of numbers that are rounded to steps, so far from their means; (numbers, rows).

    Column by column, each given those before it: what was rounded knows a number up to a twelfth of its squared step.

    >>> normal_chance(np.zeros((2, 1)), np.eye(2), np.array([2.0, 2.0])).round(3).tolist()
    [0.466]
    """
    half = steps[:, None] / 2
    return interval_chance(apart - half, apart, apart + half, covariance, steps / sqrt(12))


def interval_chance(low: Floats, middle: Floats, high: Floats, covariance: Floats, blur: Floats) -> Floats:
    """(rows,) the probability of numbers between two ends, seen from their means; (numbers, rows).

    Column by column, each given the middles of those before it, which are known up to a deviation of ``blur``.
    """
    blurred = covariance + np.diag(blur**2)
    total = np.ones(middle.shape[1])
    for at in range(len(middle)):
        weights = np.asarray(np.linalg.lstsq(blurred[:at, :at], covariance[:at, at], rcond=None)[0], np.float64)
        shift = weights @ middle[:at]
        deviation = sqrt(max(covariance[at, at] - float(weights @ covariance[:at, at]), 0.0))
        if deviation <= 0:
            total *= (low[at] - shift <= 1e-9) & (high[at] - shift >= -1e-9)
        else:
            total *= between(Normal(), (low[at] - shift) / deviation, (high[at] - shift) / deviation)
    return total


def written(column: Column, scaled: Floats, on_grid: bool) -> Floats:
    """New numbers on their grid, if there is one, and missing where the old ones are; from halves of the domain."""
    grid, unit = grid_for(column, on_grid), Unit.of(column)
    values = unit.value(scaled) if unit.half else column.values
    with np.errstate(over="ignore", invalid="ignore"):
        found = values if grid is None else on_points(grid, np.rint(values / grid.step))
    return np.where(column.missing, np.nan, found)


@perturbation("gadp")
@dataclass(frozen=True)
class Gadp(_ConditionalNormal):
    """General additive data perturbation: numbers drawn from a normal distribution given columns that stay.

    Means, variances and correlations are preserved on average. Nothing is truncated, because that would bias them:
    values may leave the column's domain and their cells. Numbers that are not normal become normal given the others.

    Parameters
    ----------
    given : sequence of str, optional
        Columns of any kind that are released unchanged, and with which the relations are preserved. A missing value of
        them counts as a value.
    similarity : float, default 0
        How much of what a number is beyond the columns given is released: its correlation with the released number, at
        least 0 and below 1. With 0 the released number depends on the person's own only through the columns given.
    on_grid : bool, default True
        Round new values to the column's grid, such as whole years or cents. Dates and times are always rounded.

    Examples
    --------
    >>> import leafcover as lc
    >>> table = lc.read(lc.sample("cps1985"))
    >>> draw = lc.Gadp(given=["education", "gender"])
    >>> step = lc.Step(["wage", "experience"], within=lc.Whole(), perturb=draw)
    >>> release = lc.release(table, lc.Plan(step), seed=7)
    >>> before, after = (t["wage"].values.mean() for t in (table, release.table))
    >>> bool(abs(after - before) < 1)
    True
    """

    frozen_id: ClassVar[str] = "gadp"
    given: tuple[str, ...] = ()
    similarity: float = 0.0
    on_grid: bool = True

    def describe(self, *, detailed: bool = True) -> str:
        """What happens to a value."""
        similarity = f"{self.similarity:g}" if detailed and self.similarity else "none"
        return methods()("gadp", given=len(self.given), similarity=similarity)

    @property
    def scope(self) -> Scope:
        """Means and covariances need the whole table."""
        return "moments"

    @property
    def guarantees(self) -> tuple[str, ...]:
        """The guarantees."""
        return free_promises(self.on_grid)

    @property
    def not_guaranteed(self) -> tuple[str, ...]:
        """Ranges and shapes are not kept, and moments only on average."""
        return ("means and covariances are kept on average, not exactly", "values may leave the range of their column")

    def change(self, part: Chunk, summary: Summary, draws: Draws) -> Mapping[str, Changed]:
        """Draw every known value anew."""
        normals = [Normal().inverse(draws.sub(column.name).uniform(part.rows)) for column in part.columns]
        drawn = self._drawn(part, summary, normals)
        return {c.name: Changed(written(c, v, self.on_grid)) for c, v in zip(part.columns, drawn, strict=True)}

    def violations(self, before: Chunk, after: Mapping[str, Array]) -> tuple[str, ...]:
        """Sentences about values off their grid or too large, and about missing values that appeared or disappeared."""
        return free_broken(before, after, self.on_grid)


@perturbation("egadp")
@dataclass(frozen=True)
class Egadp(_ConditionalNormal):
    """GADP with exact means and covariances, even in small tables (EGADP, and IPSO).

    The means of the columns, and their covariances with each other and with the columns given, are exactly those of
    the original among rows with the same columns missing. Combinations of missing columns that too few rows share are
    drawn by GADP, and so are rows of a level of the columns given that fewer than five rows have.

    Parameters
    ----------
    given : sequence of str, optional
        Columns of any kind that are released unchanged. A missing value of them counts as a value.
    similarity : float, default 0
        How much of what a number is beyond the columns given is released: its correlation with the released number, at
        least 0 and below 1.
    uncorrelated : bool, default True
        Whether the new part of a number is exactly uncorrelated with the old one in the sample, as in EGADP, which
        needs 2p + q + 1 rows for p numbers and q columns given. False is IPSO, which needs p + q + 1.
    on_grid : bool, default False
        Round new values to the column's grid, which makes means and covariances inexact. Dates and times are always
        rounded.

    Examples
    --------
    >>> import leafcover as lc
    >>> table = lc.read(lc.sample("cps1985"))
    >>> draw = lc.Egadp(given=["education", "gender"])
    >>> step = lc.Step(["wage", "experience"], within=lc.Whole(), perturb=draw)
    >>> release = lc.release(table, lc.Plan(step), seed=7)
    >>> before, after = (t["wage"].values.mean() for t in (table, release.table))
    >>> bool(abs(after - before) < 1e-12)
    True
    """

    frozen_id: ClassVar[str] = "egadp"
    given: tuple[str, ...] = ()
    similarity: float = 0.0
    uncorrelated: bool = True
    on_grid: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.similarity and not self.uncorrelated:
            raise PlanError("IPSO has no similarity. Use EGADP, or leave the similarity out.")

    def describe(self, *, detailed: bool = True) -> str:
        """What happens to a value."""
        similarity = f"{self.similarity:g}" if detailed and self.similarity else "none"
        return methods()("egadp", given=len(self.given), similarity=similarity)

    @property
    def scope(self) -> Scope:
        """Exact moments need every row at once."""
        return "table"

    @property
    def guarantees(self) -> tuple[str, ...]:
        """The guarantees."""
        exact = (
            ()
            if self.on_grid
            else ("means and covariances are exact over complete rows that share each given level with four others",)
        )
        return (*exact, *free_promises(self.on_grid))

    def change(self, part: Chunk, summary: Summary, draws: Draws) -> Mapping[str, Changed]:
        """Draw every known value anew; rows with the same columns missing together."""
        normals = np.array([Normal().inverse(draws.sub(column.name).uniform(part.rows)) for column in part.columns])
        drawn = self._drawn(part, summary, normals)
        for one in self._exact(part):
            drawn[one.place] = one.redrawn(normals[one.place], self.similarity, uncorrelated=self.uncorrelated)
        return {c.name: Changed(written(c, v, self.on_grid)) for c, v in zip(part.columns, drawn, strict=True)}

    def violations(self, before: Chunk, after: Mapping[str, Array]) -> tuple[str, ...]:
        """Sentences about means and covariances that moved, and about values off their grid or missing."""
        found = free_broken(before, after, self.on_grid)
        if found or self.on_grid or any(column.kind != "number" for column in before.columns):
            return found
        units = [Unit.of(column) for column in before.columns]
        new = np.array([unit.scaled(after[c.name]) for unit, c in zip(units, before.columns, strict=True)])
        rounding = np.array([ROUNDING * (2 + abs(unit.middle) / (unit.half or 1.0)) for unit in units])
        moved = sum(one.moved(new[one.place], rounding) for one in self._exact(before))
        return (f"{moved} means or covariances of {len(new)} columns moved",) if moved else ()

    def _exact(self, part: Chunk) -> Iterator["_Complete"]:
        """The rows of each combination of missing columns that enough rows share."""
        given = np.array([one for column in part.given for one in indicators(column)]).reshape(-1, len(part))
        old = np.array([Unit.of(column).scaled(column.values) for column in part.columns])
        counts, needed = [0], []
        rare = rarely_given(part)
        for together, found in same_known(known_of(part.columns)):
            rows = found[~rare[found]]
            if not len(together):
                continue
            one = _Complete(np.ix_(together, rows), old[np.ix_(together, rows)], given[:, rows])
            needed.append(one.needed(uncorrelated=self.uncorrelated))
            if len(rows) >= needed[-1]:
                yield one
            counts.append(len(rows))
        if needed and all(count < many for count, many in zip(counts[1:], needed, strict=True)):
            refuse_rows(type(self).__name__, max(counts), min(needed))


def rarely_given(part: Chunk) -> Bools:
    """Rows of a level of a given column, or without its value, that fewer than five rows share.

    Their number is nearly fixed by the means of their level: the number of one row, and the sum of two, exactly.
    """
    rare = np.zeros(len(part), np.bool_)
    for column in part.given:
        groups = column.values if column.is_category else column.missing.astype(np.int64)
        _, place, counts = np.unique(groups, return_inverse=True, return_counts=True)
        rare |= counts[place] < FEWEST
    return rare


ROUNDING = 2.0**-49  # of a number, as a share of it
EXACT = 1e-9  # the largest error of a mean or covariance, in standard deviations


@dataclass(frozen=True, eq=False)
class _Complete:
    """Rows whose numbers are all known, and what is given of them."""

    place: tuple[Array, ...]  # in the arrays they come from
    old: Floats  # (numbers, rows)
    given: Floats  # (indicators, rows)

    def needed(self, *, uncorrelated: bool) -> int:
        """The rows needed: one for the mean, for each column given, and for each number once or twice."""
        return 1 + self._basis.shape[1] + len(self.old) * (2 if uncorrelated else 1)

    @cached_property
    def _means(self) -> Floats:
        rough = self.old.mean(axis=1, keepdims=True)
        found: Floats = rough + (self.old - rough).mean(axis=1, keepdims=True)
        return found

    @cached_property
    def _deviations(self) -> Floats:
        found: Floats = (self.old - self._means).std(axis=1, keepdims=True)
        return np.where((self.old == self.old[:, :1]).all(axis=1, keepdims=True), 0.0, found)

    @cached_property
    def _basis(self) -> Floats:
        """(rows, rank) orthonormal, of the columns given, without the mean."""
        return orthonormal((self.given - self.given.mean(axis=1, keepdims=True)).T)[0]

    def redrawn(self, normals: Floats, similarity: float, *, uncorrelated: bool) -> Floats:
        """(numbers, rows) new numbers from standard normal ones."""
        safe = np.where(self._deviations > 0, self._deviations, 1.0)
        scaled = np.where(self._deviations > 0, (self.old - self._means) / safe, 0.0).T
        residuals = without(scaled, self._basis)
        directions, triangle = orthonormal(residuals)
        outside = np.hstack([self._basis, directions]) if uncorrelated else self._basis
        fresh = normals.T[:, : directions.shape[1]]
        for _ in range(2):  # once more, since what was taken away leaves rounding errors
            fresh = orthonormal(without(fresh, outside), least=0.0)[0]
        drawn = np.einsum("ij,jk->ik", fresh, triangle)
        new = scaled - residuals + similarity * residuals + sqrt(1 - similarity**2) * drawn
        return np.where(self._deviations > 0, self._means + self._deviations * new.T, self.old)

    def moved(self, new: Floats, rounding: Floats) -> int:
        """The number of means and covariances that are not those of the old numbers, which are rounded."""
        others = self.given - self.given.mean(axis=1, keepdims=True)
        allowed = EXACT * self._deviations[:, 0] + rounding[self.place[0].ravel()]
        means = np.abs((new - self._means).mean(axis=1)) > allowed
        first, second = (np.vstack([one - self._means, others]) for one in (self.old, new))
        apart = np.abs(first @ first.T - second @ second.T)[: len(new)] / new.shape[1]
        sizes = np.sqrt((first**2).mean(axis=1))
        tolerance = np.append(allowed, EXACT * sizes[len(new) :])
        limit = 2 * (allowed[:, None] * sizes + sizes[: len(new), None] * tolerance)
        return int(means.sum() + (apart > limit).sum())


def orthonormal(columns: Floats, *, least: float = SINGULAR) -> tuple[Floats, Floats]:
    """Orthonormal directions of the columns of a matrix, and what gives the columns back.

    Gram-Schmidt with pivots, each direction twice. A library's QR fixes signs, and the first row's residual would keep
    its own.

    >>> directions, triangle = orthonormal(np.array([[1.0, 2.0], [1.0, 2.0], [0.0, 0.0]]))
    >>> directions.shape, (directions @ triangle).round(6).tolist()
    ((3, 1), [[1.0, 2.0], [1.0, 2.0], [0.0, 0.0]])
    """
    left, found = np.array(columns, np.float64), np.zeros((len(columns), 0))
    for _ in range(min(left.shape)):
        sizes = np.sqrt(np.einsum("ij,ij->j", left, left))
        at = int(sizes.argmax())
        if sizes[at] <= least * sqrt(len(left)):
            break
        one = left[:, at] / sizes[at]
        one = one - np.einsum("ij,j->i", found, np.einsum("ij,i->j", found, one))
        one = one / sqrt(float(np.einsum("i,i->", one, one)))
        left = left - np.outer(one, np.einsum("i,ij->j", one, left))
        left[:, at] = 0.0
        found = np.column_stack([found, one])
    return found, np.einsum("ij,ik->jk", found, columns)


def without(columns: Floats, directions: Floats) -> Floats:
    """Columns of a matrix, without their mean and what lies in some orthonormal directions.

    >>> without(np.array([[1.0], [2.0], [6.0]]), np.zeros((3, 0))).T.tolist()
    [[-2.0, -1.0, 3.0]]
    """
    for _ in range(2):
        columns = columns - columns.mean(axis=0)
        columns = columns - np.einsum("ij,jk->ik", directions, np.einsum("ij,ik->jk", directions, columns))
    return columns
