"""Move a number inside the box of its cell, on its column's grid.

A row keeps its leaf, so the tree grown on the released table can be the same tree. LINAPT, LIAPT and TIAPT of the
Framework (paper 001) are this one noise: for a column that no test on the way to the leaf asks about, the box is
open and the range is the column's domain.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar, Literal, NamedTuple, Protocol, TypeAlias

import numpy as np
from scipy.special import ndtr, ndtri

from leafcover.arrays import Array, Bools, Floats, Rows
from leafcover.errors import NameUnknown, ValueOutOfRange
from leafcover.perturb.base import Changed, Chunk, Perturbation, Scope, Summary, methods, perturbation
from leafcover.rng import Draws
from leafcover.table.table import Column, Kind

# The laws a number's noise may follow: mean 0, standard deviation 1, known by cdf and inverse cdf.


DistributionName: TypeAlias = Literal["normal", "uniform", "laplace"]


class Distribution(Protocol):
    """Any symmetric law scaled to standard deviation 1; give an object with these two methods to use your own."""

    def cdf(self, x: Floats) -> Floats:
        """The probability of at most x."""

    def inverse(self, u: Floats) -> Floats:
        """The x with probability u of at most x."""


class Normal:
    """The bell of paper 001."""

    def cdf(self, x: Floats) -> Floats:
        """The probability of at most x."""
        return np.asarray(ndtr(x))

    def inverse(self, u: Floats) -> Floats:
        """The x with probability u of at most x."""
        return np.asarray(ndtri(u))


class Uniform:
    """Flat between -sqrt(3) and sqrt(3)."""

    def cdf(self, x: Floats) -> Floats:
        """The probability of at most x."""
        return np.clip(x / (2 * np.sqrt(3.0)) + 0.5, 0.0, 1.0)

    def inverse(self, u: Floats) -> Floats:
        """The x with probability u of at most x."""
        return (u - 0.5) * 2 * np.sqrt(3.0)


class Laplace:
    """Two exponentials back to back."""

    def cdf(self, x: Floats) -> Floats:
        """The probability of at most x."""
        tail = 0.5 * np.exp(-np.abs(x) * np.sqrt(2.0))
        return np.where(x < 0, tail, 1.0 - tail)

    def inverse(self, u: Floats) -> Floats:
        """The x with probability u of at most x."""
        near = np.minimum(u, 1.0 - u)
        with np.errstate(divide="ignore"):
            size = -np.log(2.0 * near) / np.sqrt(2.0)
        return np.where(u < 0.5, -size, size)


_LAWS: dict[str, Distribution] = {"normal": Normal(), "uniform": Uniform(), "laplace": Laplace()}


def distribution_named(law: DistributionName | Distribution) -> Distribution:
    """The law of a name, or the law itself."""
    if isinstance(law, str):
        if law not in _LAWS:
            raise NameUnknown("noise law", law, _LAWS)
        return _LAWS[law]
    return law


def between(law: Distribution, low: Floats, high: Floats) -> Floats:
    """The probability of more than low and at most high, told by the nearer tail, where rounding takes nothing away.

    >>> between(Normal(), np.array([-1.0, 9.0]), np.array([1.0, np.inf]))
    array([6.82689492e-01, 1.12858841e-19])
    """
    upper = low > 0
    return law.cdf(np.where(upper, -low, high)) - law.cdf(np.where(upper, -high, low))


# How noise is made to stay between two ends: drawn again, mirrored, wrapped round, or cut off.
#
# Everything is counted in points from the low end: a value at ``place`` among ``size`` points (0 .. size - 1) moves by
# noise of deviation ``spread`` points. ``size`` may be a count of grid points or of ranks.


LEAST = 1e-200  # of a deviation, in points: less cannot move a value, and a distance of 1e100 points stays finite

Boundary: TypeAlias = Literal["redraw", "reflect", "wrap", "clip"]


def fitted(place: Floats, size: Floats, spread: Floats, u: Floats, law: Distribution, boundary: Boundary) -> Rows:
    """The new place of each value, a whole number from 0 to size - 1."""
    if boundary == "redraw":
        return _redrawn(place, size, spread, u, law)
    step = np.rint(law.inverse(u) * spread)
    new = place + step
    if boundary == "wrap":
        new = np.mod(new, size)
    elif boundary == "reflect":
        new = np.mod(new, 2 * size)
        new = np.minimum(new, 2 * size - 1 - new)  # mirrors stand half a point outside the ends
    return np.clip(new, 0, size - 1).astype(np.int64)


def _redrawn(place: Floats, size: Floats, spread: Floats, u: Floats, law: Distribution) -> Rows:
    """Draw until inside, without a loop: one uniform through the inverse cdf of the law between the ends.

    Rounding to the nearest point first and drawing again when outside is the same law as this.
    """
    safe = np.maximum(spread, LEAST)
    low, high = law.cdf((-0.5 - place) / safe), law.cdf((size - 0.5 - place) / safe)
    new = place + np.rint(law.inverse(low + u * (high - low)) * safe)
    return np.clip(new, 0, size - 1).astype(np.int64)


def probability(
    place: Floats, to: Floats, size: Floats, spread: Floats, law: Distribution, boundary: Boundary
) -> Floats:
    """The probability that a value at ``place`` is released at ``to``."""
    safe = np.maximum(spread, LEAST)

    def between(point: Floats) -> Floats:
        return law.cdf((point - place + 0.5) / safe) - law.cdf((point - place - 0.5) / safe)

    if boundary == "redraw":
        inside = law.cdf((size - 0.5 - place) / safe) - law.cdf((-0.5 - place) / safe)
        return between(to) / np.maximum(inside, 1e-300)
    if boundary == "clip":
        below = law.cdf((0.5 - place) / safe)
        above = 1.0 - law.cdf((size - 1.5 - place) / safe)
        ends = np.where(to <= 0, below, np.where(to >= size - 1, above, between(to)))
        return np.where(size <= 1, 1.0, ends)
    # How many times round the noise can go before less than 1e-12 is left; the widest row decides.
    turns = int(np.ceil(8.0 * float(np.max(spread / size, initial=0.0)))) + 1
    total = np.zeros(len(place))
    for turn in range(-turns, turns + 1):
        if boundary == "wrap":
            total += between(to + turn * size)
        else:
            total += between(to + turn * 2 * size) + between(2 * size - 1 - to + turn * 2 * size)
    return total


FINE = 2.0**20  # points into which a range without a grid is divided, so that one law serves both


@perturbation("bounded")
@dataclass(frozen=True)
class Bounded(Perturbation):
    """Noise of deviation ``spread`` times the allowed range, kept inside box and domain.

    ``scale="range"`` measures the range in the column's own units, as the paper does; ``"rank"`` moves the value among
    the column's sorted values inside the box, so that skew, zeros and other heaps survive. ``innocent`` says whether
    columns that a leaf does not test move in all cells or only in cells with more than one class.
    """

    frozen_id: ClassVar[str] = "bounded"
    kinds: ClassVar[frozenset[Kind]] = frozenset({"number", "date", "time"})
    keeps_boxes: ClassVar[bool] = True
    spread: float = 0.276
    scale: Literal["range", "rank"] = "range"
    boundary: Boundary = field(default="redraw", metadata={"frozen_id": "fit"})
    distribution: DistributionName | Distribution = field(
        default="normal", metadata={"frozen_id": "law", "plan_type": DistributionName}
    )
    innocent: Literal["all", "heterogeneous"] = "all"

    def __post_init__(self) -> None:
        if not 0 < self.spread <= 1:
            raise ValueOutOfRange("Bounded.spread", self.spread, "a share of the allowed range, above 0 and at most 1")
        distribution_named(self.distribution)

    def describe(self, *, detailed: bool = True) -> str:
        """What happens to a value."""
        spread = f"{self.spread:g}" if detailed else "none"
        return methods()("bounded", scale=self.scale, spread=spread)

    @property
    def why_fixed(self) -> str:
        """The allowed range is too narrow."""
        return methods()("fixed-range")

    @property
    def scope(self) -> Scope:
        """A row alone for a range; how often each value occurs for ranks."""
        return "row" if self.scale == "range" else "counts"

    @property
    def guarantees(self) -> tuple[str, ...]:
        """What holds afterwards."""
        return ("every value stays in its box and domain and on its grid", "missing stays missing")

    def fit(self, part: Chunk) -> Summary:
        """For ranks, the distinct values of each column and how often they occur."""
        if self.scale == "range":
            return None
        found = {}
        for column in part.columns:
            found[column.name] = np.unique(column.values[~column.missing], return_counts=True)
        return found

    def merge(self, one: Summary, other: Summary) -> Summary:
        """Counts add up."""
        if self.scale == "range":
            return None
        return {name: _merged(one[name], other[name]) for name in one}

    def change(self, part: Chunk, summary: Summary, draws: Draws) -> Mapping[str, Changed]:
        """Move every known value that its cell lets move."""
        changed = {}
        for column in part.columns:
            moving = self._moving(part, column)
            rail = self._rail(part, column, summary, moving)
            u = draws.sub(column.name).uniform(part.rows[moving])
            new = fitted(rail.place, rail.size, rail.spread, u, distribution_named(self.distribution), self.boundary)
            values = column.values.copy()
            values[moving] = rail.value(new)
            changed[column.name] = Changed(values)
        return changed

    def likelihood(self, part: Chunk, released: Mapping[str, Array], summary: Summary) -> Floats:
        """The product over columns of the probability of each released value given the row's own."""
        total = np.ones(len(part))
        for column in part.columns:
            moving = self._moving(part, column)
            new = released[column.name]
            same = (new == column.values) | (np.isnan(new) & column.missing)
            total[~moving & ~same] = 0.0
            rail = self._rail(part, column, summary, moving)
            total[moving] *= rail.chance(new[moving], distribution_named(self.distribution), self.boundary)
        return total

    def _moving(self, part: Chunk, column: Column) -> Bools:
        """Rows whose value may move at all."""
        moving = ~column.missing
        if self.innocent == "heterogeneous" and part.cells.mixed is not None:
            low, high = part.ranges(column.name)
            moving &= part.cells.mixed[part.cells.label] | np.isfinite(low) | np.isfinite(high)
        return moving

    def _rail(self, part: Chunk, column: Column, summary: Summary, moving: Bools) -> "_Rail":
        low, high = (end[moving] for end in part.ranges(column.name))
        values = column.values[moving]
        if self.scale == "rank":
            distinct, counts = summary[column.name]
            return _Rail.of_ranks(values, low, high, distinct, counts, self.spread)
        return _Rail.of_range(values, low, high, column, self.spread)


class _Rail(NamedTuple):
    """The points each value may move on: where it stands, how many there are, and what they mean."""

    place: Array  # of the value itself, from 0
    size: Array  # how many points
    spread: Array  # deviation of the noise, in points
    first: Array  # the number of point 0, of the grid or among all ranks; for a fine range its low end
    last: Array  # of a fine range its high end
    column: Column | None  # whose grid the points are; None for ranks and fine ranges
    ranks: tuple[Array, Array] | None  # distinct values and how many values lie below each

    @classmethod
    def of_range(cls, values: Floats, low: Floats, high: Floats, column: Column, spread: float) -> "_Rail":
        bottom, top = column.domain
        if column.grid is not None:
            ends = np.array([bottom, top])
            finite_low, finite_high = np.where(np.isfinite(low), low, bottom), np.where(np.isfinite(high), high, top)
            lowest, highest = (float(end) for end in column.grid.index(ends))
            first = np.maximum(np.where(np.isfinite(low), column.grid.index(finite_low) + 1.0, lowest), lowest)
            last = np.minimum(column.grid.index(finite_high), highest)
            place = column.grid.index(values) - first
            return cls(place, last - first + 1, spread * (last - first), first, last, column, None)
        first = np.maximum(np.nextafter(low, np.inf), bottom)
        last = np.minimum(high, top)
        place = np.rint(_share(values, first, last) * (FINE - 1))
        size = np.where(last > first, FINE, 1.0)
        return cls(place, size, spread * (size - 1), first, last, None, None)

    @classmethod
    def of_ranks(
        cls, values: Floats, low: Floats, high: Floats, distinct: Floats, counts: Rows, spread: float
    ) -> "_Rail":
        below = np.concatenate([[0], np.cumsum(counts)])
        first = below[np.searchsorted(distinct, low, side="right")]
        last = below[np.searchsorted(distinct, high, side="right")]
        at = np.searchsorted(distinct, values)
        middle = np.floor((below[at] + below[at + 1] - 1) / 2.0)  # the middle of the ranks that share the value
        size = (last - first).astype(np.float64)
        return cls(middle - first, size, spread * (size - 1), first.astype(np.float64), last, None, (distinct, below))

    def value(self, new: Rows) -> Floats:
        """What the new places mean."""
        if self.column is not None and self.column.grid is not None:
            return self.column.grid.value(new + self.first.astype(np.int64))
        if self.ranks is not None:
            distinct, below = self.ranks
            found: Floats = distinct[np.searchsorted(below, new + self.first, side="right") - 1]
            return found
        share = new / np.maximum(self.size - 1, 1.0)
        return np.clip(self.first * (1 - share) + self.last * share, self.first, self.last)

    def chance(self, released: Floats, law: Distribution, boundary: Boundary) -> Floats:
        """The probability of each released value (0 where it lies outside)."""
        if self.ranks is not None:
            return self._chance_of_ranks(released, law, boundary)
        if self.column is not None and self.column.grid is not None:
            to: Array = self.column.grid.index(released) - self.first
        else:
            to = np.rint(_share(released, self.first, self.last) * (FINE - 1))
        inside = (to >= 0) & (to < self.size)
        return np.where(inside, probability(self.place, to, self.size, self.spread, law, boundary), 0.0)

    def _chance_of_ranks(self, released: Floats, law: Distribution, boundary: Boundary) -> Floats:
        """A value's probability is that of all ranks that share it."""
        distinct, below = self.ranks  # type: ignore[misc]  # only called when there are ranks
        at = np.clip(np.searchsorted(distinct, released), 0, len(distinct) - 1)
        start, stop = below[at] - self.first, below[at + 1] - 1 - self.first
        inside = (distinct[at] == released) & (start >= 0) & (stop < self.size)
        if boundary == "redraw":  # one difference of the cdf covers the whole run of ranks
            safe = np.maximum(self.spread, 1e-300)
            ends = [law.cdf((end - self.place) / safe) for end in (start - 0.5, stop + 0.5, -0.5, self.size - 0.5)]
            return np.where(inside, (ends[1] - ends[0]) / np.maximum(ends[3] - ends[2], 1e-300), 0.0)
        total = np.zeros(len(released))
        for i in np.flatnonzero(inside):
            points = np.arange(start[i], stop[i] + 1, dtype=np.float64)
            one = np.ones(len(points))
            args = (self.place[i] * one, points, self.size[i] * one, self.spread[i] * one)
            total[i] = probability(*args, law, boundary).sum()
        return total


def _share(values: Array, first: Array, last: Array) -> Array:
    """Where values lie between two ends, from 0 to 1; halves first, since 1e308 less -1e308 is too much for a float."""
    width = last / 2 - first / 2
    return np.where(width > 0, (values / 2 - first / 2) / np.where(width > 0, width, 1.0), 0.0)


def _merged(one: tuple[Array, Array], other: tuple[Array, Array]) -> tuple[Array, Array]:
    values = np.concatenate([one[0], other[0]])
    distinct, place = np.unique(values, return_inverse=True)
    return distinct, np.bincount(place, weights=np.concatenate([one[1], other[1]])).astype(np.int64)
