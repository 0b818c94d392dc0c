"""Additive and multiplicative noise on numbers, and the exact sums that they need.

Simple additive noise (SAN): Y = X + e, where e has c times the column's standard deviation. The mean is preserved; the
variance grows by the factor 1 + c²; correlations shrink by 1 / (1 + c²) between two noisy columns and by
1 / sqrt(1 + c²) between a noisy and an unchanged one.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from math import inf, isqrt, ldexp, log, sqrt
from typing import ClassVar, Literal

import numpy as np

from leafcover.arrays import Array, Floats
from leafcover.cells import Cells
from leafcover.errors import ValueOutOfRange
from leafcover.keyed_random import Draws
from leafcover.perturb.base import (
    Changed,
    Chunk,
    Perturbation,
    Promise,
    Scope,
    Summary,
    methods,
    missing_moved,
    perturbation,
)
from leafcover.perturb.bounded import FINE, DistributionName, Normal, between, distribution_named
from leafcover.table.table import Column, Grid, Kind


@perturbation("additive")
@dataclass(frozen=True)
class Additive(Perturbation):
    """Noise with ``spread`` times the column's sample standard deviation, the same for every row of the table.

    Nothing is truncated, because that would bias the mean: values may leave the column's domain and their cells.

    Parameters
    ----------
    spread : float
        The standard deviation of the noise, as a multiple of the column's.
    distribution : {"normal", "uniform", "laplace"}, default "normal"
        The distribution of the noise.
    on_grid : bool, default True
        Round the noise to whole steps of the column's grid, such as whole years or cents. Dates and times are always
        rounded.

    Examples
    --------
    >>> import leafcover as lc
    >>> table = lc.read(lc.sample("cps1985"))
    >>> step = lc.Step("wage", within=lc.Whole(), perturb=lc.Additive(spread=0.5))
    >>> release = lc.release(table, lc.Plan(step), seed=7)
    >>> bool(release.table["wage"].values.std() > table["wage"].values.std())
    True
    """

    frozen_id: ClassVar[str] = "additive"
    new_values: ClassVar[Promise] = "noise"
    kinds: ClassVar[frozenset[Kind]] = frozenset({"number", "date", "time"})
    uses_cells: ClassVar[bool] = False
    spread: float
    distribution: DistributionName = field(default="normal", metadata={"frozen_id": "law"})
    on_grid: bool = True

    def __post_init__(self) -> None:
        if not 0 < self.spread <= MOST_SPREAD:
            allowed = f"a share of the column's deviation, above 0 and at most {MOST_SPREAD:g}"
            raise ValueOutOfRange("Additive.spread", self.spread, allowed)
        distribution_named(self.distribution)

    def describe(self, *, detailed: bool = True) -> str:
        """What happens to a value."""
        return methods()("additive", spread=f"{self.spread:g}" if detailed else "none")

    @property
    def why_fixed(self) -> str:
        """The noise is too small."""
        return methods()("fixed-noise")

    @property
    def scope(self) -> Scope:
        """The standard deviation of each column needs the whole table."""
        return "moments"

    @property
    def guarantees(self) -> tuple[str, ...]:
        """The guarantees."""
        return free_promises(self.on_grid)

    def fit(self, part: Chunk) -> Summary:
        """Exact sums, so that the result does not depend on the chunks."""
        return {column.name: moments_of(column.values[~column.missing]) for column in part.columns}

    def merge(self, one: Summary, other: Summary) -> Summary:
        """Add the sums."""
        return {name: one[name].plus(other[name]) for name in one}

    def finalize(self, summary: Summary, cells: Cells) -> Summary:
        """The standard deviation of each column's noise."""
        return {name: self.spread * moments.deviation for name, moments in summary.items()}

    def change(self, part: Chunk, summary: Summary, draws: Draws) -> Mapping[str, Changed]:
        """Add a random number to every known value."""
        distribution = distribution_named(self.distribution)
        changed = {}
        for column in part.columns:
            known = ~column.missing
            noise = distribution.inverse(draws.sub(column.name).uniform(part.rows[known])) * summary[column.name]
            values = column.values.copy()
            with np.errstate(over="ignore"):  # what grew too large is refused by broken
                if (grid := grid_for(column, self.on_grid)) is not None:
                    values[known] = on_points(grid, grid.index(values[known]) + np.rint(noise / grid.step))
                else:
                    values[known] += noise
            changed[column.name] = Changed(values)
        return changed

    def violations(self, before: Chunk, after: Mapping[str, Array]) -> tuple[str, ...]:
        """Sentences about values off their grid or too large, and about missing values that appeared or disappeared."""
        return free_broken(before, after, self.on_grid)

    def likelihood(self, part: Chunk, released: Mapping[str, Array], summary: Summary) -> Floats:
        """The probability of each released value: of its grid point, else of a millionth of the column's range."""
        return free_likelihood(
            part, released, lambda column, old, new: self._chance(column, old, new, summary[column.name])
        )

    def _chance(self, column: Column, old: Floats, new: Floats, deviation: float) -> Floats:
        if deviation == 0:
            return (old == new).astype(np.float64)
        with np.errstate(over="ignore"):
            if (grid := grid_for(column, self.on_grid)) is not None:
                apart: Array = grid.index(new) - grid.index(old)
                step = grid.step
            else:
                bottom, top = column.domain
                step = max(top / FINE - bottom / FINE, SMALLEST_STEP)
                apart = (new - old) / step
            points = deviation / step
            return between(distribution_named(self.distribution), (apart - 0.5) / points, (apart + 0.5) / points)


# Multiplicative noise (MN): Y = X e, where e has mean 1 and standard deviation c. Large values move far, small ones
# little, zero not at all. The mean is preserved; the variance grows from s² to s² + c² (m² + s²), where m is the
# column's mean.


@perturbation("multiplicative")
@dataclass(frozen=True)
class Multiplicative(Perturbation):
    """Multiply every value by a random factor with mean 1; a zero stays zero, and is counted as fixed.

    Parameters
    ----------
    spread : float
        The standard deviation of the factor.
    distribution : {"lognormal", "normal"}, default "lognormal"
        The distribution of the factor. "lognormal" preserves every sign, "normal" may flip it.
    on_grid : bool, default True
        Round the product to the column's grid, such as whole years or cents.

    Examples
    --------
    >>> import leafcover as lc
    >>> table = lc.read(lc.sample("cps1985"))
    >>> step = lc.Step("wage", within=lc.Whole(), perturb=lc.Multiplicative(spread=0.2))
    >>> release = lc.release(table, lc.Plan(step), seed=7)
    >>> bool((release.table["wage"].values > 0).all())
    True
    """

    frozen_id: ClassVar[str] = "multiplicative"
    new_values: ClassVar[Promise] = "noise"
    kinds: ClassVar[frozenset[Kind]] = frozenset({"number"})  # a date has no zero
    uses_cells: ClassVar[bool] = False
    spread: float
    distribution: Literal["lognormal", "normal"] = field(default="lognormal", metadata={"frozen_id": "law"})
    on_grid: bool = True

    def __post_init__(self) -> None:
        if not 0 < self.spread <= MOST_SPREAD:
            allowed = f"the deviation of a factor of mean 1, above 0 and at most {MOST_SPREAD:g}"
            raise ValueOutOfRange("Multiplicative.spread", self.spread, allowed)
        if self.distribution not in ("lognormal", "normal"):
            raise ValueOutOfRange("Multiplicative.distribution", self.distribution, "'lognormal' or 'normal'")

    def describe(self, *, detailed: bool = True) -> str:
        """What happens to a value."""
        return methods()("multiplicative", spread=f"{self.spread:g}" if detailed else "none")

    @property
    def why_fixed(self) -> str:
        """The noise is too small."""
        return methods()("fixed-noise")

    @property
    def scope(self) -> Scope:
        """Each row is changed independently of the others."""
        return "row"

    @property
    def guarantees(self) -> tuple[str, ...]:
        """The guarantees."""
        signs = ("no value changes its sign",) if self.distribution == "lognormal" else ()
        return (*signs, "zero stays zero", *free_promises(self.on_grid))

    def change(self, part: Chunk, summary: Summary, draws: Draws) -> Mapping[str, Changed]:
        """Multiply every known value by a random factor."""
        changed = {}
        for column in part.columns:
            known = ~column.missing
            factor = self._factor(draws.sub(column.name).uniform(part.rows[known]))
            values = column.values.copy()
            with np.errstate(over="ignore"):  # what grew too large is refused by broken
                if (grid := grid_for(column, self.on_grid)) is not None:
                    values[known] = on_points(grid, grid.index(values[known]) * factor)
                else:
                    values[known] = values[known] * factor + 0.0  # + 0.0 turns -0.0 into 0.0
            changed[column.name] = Changed(values)
        return changed

    def violations(self, before: Chunk, after: Mapping[str, Array]) -> tuple[str, ...]:
        """Sentences about values off their grid or too large, changed zeros or signs, and changes of missing values."""
        found = []
        for column in before.columns:
            old, new = np.sign(column.values), np.sign(after[column.name])
            moved = (old == 0) & (new != 0)
            if self.distribution == "lognormal":
                moved |= old * new < 0
            if moved.any():
                found.append(f"column {column.name!r}: {int(moved.sum())} values left zero or changed their sign")
        return (*found, *free_broken(before, after, self.on_grid))

    def likelihood(self, part: Chunk, released: Mapping[str, Array], summary: Summary) -> Floats:
        """The probability of each released value: of its grid point, else of a millionth of the column's largest."""
        return free_likelihood(part, released, self._chance)

    @property
    def _width(self) -> float:
        """The standard deviation of the factor's logarithm."""
        return sqrt(log(1 + self.spread**2))

    def _factor(self, u: Floats) -> Floats:
        drawn = Normal().inverse(u)
        if self.distribution == "normal":
            return 1 + self.spread * drawn
        return np.exp(self._width * drawn - self._width**2 / 2)

    def _chance(self, column: Column, old: Floats, new: Floats) -> Floats:
        zero = old == 0
        found = (new == 0).astype(np.float64)
        old, new = old[~zero], new[~zero]
        if (grid := grid_for(column, self.on_grid)) is not None:
            size, to = grid.index(old).astype(np.float64), grid.index(new).astype(np.float64)
        else:
            step = max(max(abs(end) for end in column.domain) / FINE, SMALLEST_STEP)
            size, to = old / step, new / step
        still = size == 0  # indistinguishable from zero on this grid
        chance = (to == 0).astype(np.float64)
        size, to = size[~still], to[~still]
        ends = [(np.copysign(1.0, size) * to + half) / np.abs(size) for half in (-0.5, 0.5)]
        chance[~still] = between(Normal(), *(self._drawn(end) for end in ends))
        found[~zero] = chance
        return found

    def _drawn(self, factor: Floats) -> Floats:
        """The normal draw that gives a factor."""
        if self.distribution == "normal":
            return (factor - 1) / self.spread
        with np.errstate(divide="ignore"):  # a factor of 0 is never drawn: minus infinity
            return np.log(np.maximum(factor, 0.0)) / self._width + self._width / 2


# Shared by both kinds of noise, which ignore boxes: the grid of new values, and the guarantees that remain.


MOST_SPREAD = 10.0  # more noise than this destroys a column
SMALLEST_STEP = 2.0**-1074  # a range of the smallest floats has no smaller part
FARTHEST = 2.0**62  # points of a grid that can still be counted


def grid_for(column: Column, on_grid: bool) -> Grid | None:
    """The grid of the new values; a date between two dates cannot be written."""
    return column.grid if on_grid or column.kind != "number" else None


def on_points(grid: Grid, points: Array) -> Floats:
    """The values of grid points, whose numbers may exceed a 64-bit integer."""
    return grid.value(np.rint(points)) + 0.0  # + 0.0 turns -0.0 into 0.0


def free_promises(on_grid: bool) -> tuple[str, ...]:
    """The guarantees. The minimum and maximum are not among them, because noise exceeds them."""
    return (*(("every value is on its grid",) if on_grid else ()), "missing stays missing")


def free_likelihood(
    part: Chunk, released: Mapping[str, Array], chance: Callable[[Column, Floats, Floats], Floats]
) -> Floats:
    """For each row, the product over columns of the probability of its released value; 0 if just one is missing."""
    total = np.ones(len(part))
    for column in part.columns:
        new = released[column.name]
        total[column.missing != np.isnan(new)] = 0.0
        known = ~column.missing & ~np.isnan(new)
        total[known] *= chance(column, column.values[known], new[known])
    return total


def free_broken(before: Chunk, after: Mapping[str, Array], on_grid: bool) -> tuple[str, ...]:
    """Sentences about values off their grid or too large, and about missing values that appeared or disappeared."""
    found = []
    for column in before.columns:
        new = after[column.name]
        if lost := missing_moved(column, new):
            found.append(f"column {column.name!r}: {lost} values became or ceased to be missing")
        known = new[~np.isnan(new)]
        grid = grid_for(column, on_grid)
        large = ~np.isfinite(known) if grid is None else ~(np.abs(known) < FARTHEST * grid.step)
        if large.any():
            found.append(f"column {column.name!r}: {int(large.sum())} values grew too large to be written")
        elif grid is not None and (off := int((grid.value(grid.index(known)) != known).sum())):
            found.append(f"column {column.name!r}: {off} values left their grid")
    return tuple(found)


# Exact count, sum and sum of squares, which merge to the same figures however a table is divided into chunks. The last
# digit of a sum of floats depends on their order, and so would every noisy value. A float64 is a 53-bit integer times a
# power of two, so sums are held as integers in units of the smallest such power.


UNIT = -1074  # every float64 is a whole multiple of 2 ** UNIT


@dataclass(frozen=True)
class ExactMoments:
    """How many numbers there are, their sum and the sum of their squares.

    >>> both = moments_of(np.array([1e9, 1e9 + 1])).plus(moments_of(np.array([1e9 + 2])))
    >>> both.count, both.mean, both.deviation
    (3, 1000000001.0, 1.0)
    """

    count: int
    total: int  # in units of 2 ** UNIT
    squares: int  # in units of 2 ** (2 * UNIT)

    def plus(self, other: "ExactMoments") -> "ExactMoments":
        """The merged moments."""
        return ExactMoments(self.count + other.count, self.total + other.total, self.squares + other.squares)

    @property
    def mean(self) -> float:
        """The mean; 0 if there are no numbers."""
        return _ratio(abs(self.total), max(self.count, 1), UNIT) * (-1 if self.total < 0 else 1)

    @property
    def deviation(self) -> float:
        """The sample standard deviation (n - 1); 0 for fewer than two numbers."""
        apart = self.count * self.squares - self.total**2
        return _ratio(apart, self.count * (self.count - 1), 2 * UNIT, root=True) if self.count > 1 else 0.0


def moments_of(values: Floats) -> ExactMoments:
    """The moments of known numbers."""
    from leafcover.kernels.exact_sums import exact_sums

    return ExactMoments(len(values), *exact_sums(np.ascontiguousarray(values).view(np.int64)))


def _ratio(top: int, bottom: int, exponent: int, *, root: bool = False) -> float:
    """top / bottom * 2 ** exponent, or its square root, from integers with far more digits than a float."""
    shift = 2 * ((140 + bottom.bit_length() - top.bit_length()) // 2)
    found = (top << shift if shift >= 0 else top >> -shift) // bottom
    power = exponent - shift
    try:
        return ldexp(isqrt(found), power // 2) if root else ldexp(found, power)
    except OverflowError:
        return inf
