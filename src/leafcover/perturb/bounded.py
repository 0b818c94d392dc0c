"""Bounded noise: move a number inside the box of its cell, on its column's grid.

A row keeps its leaf, so the tree grown on the released table can be the same tree. LINAPT, LIAPT and TIAPT of Islam and
Brankovic (2004), "A Framework for Privacy Preserving Classification in Data Mining", are all this perturbation: for a
column that no test on the path to the leaf uses, the box is open and the range is the column's domain.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar, Literal, NamedTuple, Protocol, TypeAlias, get_args

import numpy as np

from leafcover.arrays import Array, Bools, Floats, Rows
from leafcover.errors import NameUnknown, ValueOutOfRange
from leafcover.keyed_random import Draws
from leafcover.perturb.base import (
    Changed,
    Chunk,
    Delivered,
    Perturbation,
    Promise,
    Scope,
    Summary,
    methods,
    perturbation,
)
from leafcover.table.table import Column, Kind

# Noise distributions with mean 0 and standard deviation 1, given by cdf and inverse cdf.


DistributionName: TypeAlias = Literal["normal", "uniform", "laplace"]
Where: TypeAlias = Literal["all", "heterogeneous", "none"]  # the cells in which values are perturbed


class Distribution(Protocol):
    """A symmetric distribution with standard deviation 1. To use your own, pass an object with these two methods."""

    def cdf(self, x: Floats) -> Floats:
        """The probability of at most x."""

    def inverse(self, u: Floats) -> Floats:
        """The x with probability u of at most x."""


class Normal:
    """The normal distribution of Islam and Brankovic (2004)."""

    def cdf(self, x: Floats) -> Floats:
        """The probability of at most x."""
        from scipy.special import ndtr

        return np.asarray(ndtr(x))

    def inverse(self, u: Floats) -> Floats:
        """The x with probability u of at most x."""
        from scipy.special import ndtri

        return np.asarray(ndtri(u))


class Uniform:
    """Uniform between -sqrt(3) and sqrt(3)."""

    def cdf(self, x: Floats) -> Floats:
        """The probability of at most x."""
        return np.clip(x / (2 * np.sqrt(3.0)) + 0.5, 0.0, 1.0)

    def inverse(self, u: Floats) -> Floats:
        """The x with probability u of at most x."""
        return (u - 0.5) * 2 * np.sqrt(3.0)


class Laplace:
    """The Laplace distribution."""

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


@dataclass(frozen=True)
class Tabulated:
    """A distribution by a table: noise, and how probable it is, both up to a factor; even between half steps.

    Only its shape matters: it is scaled to standard deviation 1.
    """

    noise: tuple[float, ...]  # ascending
    weights: tuple[float, ...]

    def cdf(self, x: Floats) -> Floats:
        """The probability of at most x."""
        edges, below, deviation = self._law
        return np.interp(np.asarray(x) * deviation, edges, below)

    def inverse(self, u: Floats) -> Floats:
        """The x with probability u of at most x."""
        edges, below, deviation = self._law
        return np.interp(u, below, edges) / deviation

    @property
    def _law(self) -> tuple[Floats, Floats, float]:
        noise, weights = np.array(self.noise, np.float64), np.array(self.weights, np.float64)
        middle = (noise[1:] + noise[:-1]) / 2
        edges = np.concatenate([[2 * noise[0] - middle[0]], middle, [2 * noise[-1] - middle[-1]]])
        shares = weights / weights.sum()
        variance = (shares * (noise**2 + np.diff(edges) ** 2 / 12)).sum()
        return edges, np.concatenate([[0.0], np.cumsum(shares)[:-1], [1.0]]), float(np.sqrt(variance))


def _figure_2() -> Tabulated:
    """The Framework's Figure 2 as far as its text describes it: in steps of 5 % of the range, deviation 27.6 %."""
    noise = range(-100, 101, 5)
    return Tabulated(tuple(map(float, noise)), tuple(float(np.exp(-((x / 27.6) ** 2) / 2)) for x in noise))


_DISTRIBUTIONS: dict[str, Distribution] = {
    "normal": Normal(),
    "uniform": Uniform(),
    "laplace": Laplace(),
    "figure-2": _figure_2(),
}


def distribution_named(distribution: str | Distribution) -> Distribution:
    """The distribution of a name, or of a table such as "-1:1 0:2 1:1"; a distribution is returned unchanged.

    >>> round(float(distribution_named("-20:1 0:2 20:1").inverse(np.array([0.9]))[0]), 3)
    1.44
    """
    if not isinstance(distribution, str):
        if not (callable(getattr(distribution, "cdf", None)) and callable(getattr(distribution, "inverse", None))):
            raise ValueOutOfRange("distribution", distribution, "a name, or an object with the methods cdf and inverse")
        return distribution
    if distribution in _DISTRIBUTIONS:
        return _DISTRIBUTIONS[distribution]
    if ":" not in distribution:
        raise NameUnknown("noise distribution", distribution, _DISTRIBUTIONS)
    return _tabulated(distribution)


def _tabulated(text: str) -> Tabulated:
    """The distribution of a table in words, if it is symmetric: likelihoods are computed in the nearer tail."""
    try:
        pairs = [tuple(map(float, part.split(":"))) for part in text.replace(",", " ").split()]
        noise, weights = (np.array(side) for side in zip(*pairs, strict=True))
    except ValueError:
        noise = weights = np.empty(0)
    right = len(noise) > 1 and bool(np.isfinite(noise).all() and np.isfinite(weights).all())
    if right:
        right = bool((np.diff(noise) > 0).all() and (weights >= 0).all() and weights.sum() > 0)
    if not right or not (np.allclose(noise, -noise[::-1]) and np.allclose(weights, weights[::-1])):
        allowed = "a table of noise and weights, ascending and symmetric, such as '-20:1 -10:3 0:4 10:3 20:1'"
        raise ValueOutOfRange("distribution", text, allowed)
    return Tabulated(tuple(noise.tolist()), tuple(weights.tolist()))


def between(distribution: Distribution, low: Floats, high: Floats) -> Floats:
    """The probability of more than low and at most high, computed in the nearer tail to avoid cancellation.

    >>> between(Normal(), np.array([-1.0, 9.0]), np.array([1.0, np.inf]))
    array([6.82689492e-01, 1.12858841e-19])
    """
    upper = low > 0
    return distribution.cdf(np.where(upper, -low, high)) - distribution.cdf(np.where(upper, -high, low))


# How noise is kept between two ends: redrawn, mirrored, wrapped around, or clipped. Positions are counted in points
# from the low end: a value at ``place`` among ``size`` points (0 .. size - 1) moves by noise with a standard deviation
# of ``spread`` points. ``size`` may be a number of grid points or of ranks.


LEAST = 1e-200  # limits of a standard deviation, in points: less cannot move a value, and 1e100 points stay finite

Boundary: TypeAlias = Literal["redraw", "reflect", "wrap", "clip"]


def fitted(
    place: Floats, size: Floats, spread: Floats, u: Floats, distribution: Distribution, boundary: Boundary
) -> Rows:
    """The new position of each value, an integer from 0 to size - 1."""
    if boundary == "redraw":
        return _redrawn(place, size, spread, u, distribution)
    step = np.rint(distribution.inverse(u) * spread)
    new = place + step
    if boundary == "wrap":
        new = np.mod(new, size)
    elif boundary == "reflect":
        new = np.mod(new, 2 * size)
        new = np.minimum(new, 2 * size - 1 - new)  # the mirrors are half a point outside the ends
    return np.clip(new, 0, size - 1).astype(np.int64)


def _redrawn(place: Floats, size: Floats, spread: Floats, u: Floats, distribution: Distribution) -> Rows:
    """Draw from the distribution truncated to the ends, by one uniform number and the inverse cdf.

    Rounding to the nearest point and redrawing until the point is inside gives the same distribution.
    """
    safe = np.maximum(spread, LEAST)
    low, high = distribution.cdf((-0.5 - place) / safe), distribution.cdf((size - 0.5 - place) / safe)
    new = place + np.rint(distribution.inverse(low + u * (high - low)) * safe)
    return np.clip(new, 0, size - 1).astype(np.int64)


def probability(
    place: Floats, to: Floats, size: Floats, spread: Floats, distribution: Distribution, boundary: Boundary
) -> Floats:
    """The probability that a value at ``place`` is released at ``to``."""
    safe = np.maximum(spread, LEAST)

    def between(point: Floats) -> Floats:
        return distribution.cdf((point - place + 0.5) / safe) - distribution.cdf((point - place - 0.5) / safe)

    if boundary == "redraw":
        inside = distribution.cdf((size - 0.5 - place) / safe) - distribution.cdf((-0.5 - place) / safe)
        return between(to) / np.maximum(inside, 1e-300)
    if boundary == "clip":
        below = distribution.cdf((0.5 - place) / safe)
        above = 1.0 - distribution.cdf((size - 1.5 - place) / safe)
        ends = np.where(to <= 0, below, np.where(to >= size - 1, above, between(to)))
        return np.where(size <= 1, 1.0, ends)
    # The number of wraps after which less than 1e-12 of the probability is left, for the widest row.
    turns = int(np.ceil(8.0 * float(np.max(spread / size, initial=0.0)))) + 1
    total = np.zeros(len(place))
    for turn in range(-turns, turns + 1):
        if boundary == "wrap":
            total += between(to + turn * size)
        else:
            total += between(to + turn * 2 * size) + between(2 * size - 1 - to + turn * 2 * size)
    return total


FINE = 2.0**20  # points into which a range without a grid is divided, so that the same code serves both


@perturbation("bounded")
@dataclass(frozen=True)
class Bounded(Perturbation):
    """Noise with a standard deviation of ``spread`` times the allowed range, kept inside box and domain.

    Parameters
    ----------
    spread : float, default 0.276
        The standard deviation of the noise, as a share of the allowed range: above 0 and at most 1.
    scale : {"range", "rank", "value"}, default "range"
        "range" measures the allowed range in the column's units, as Islam and Brankovic (2004) do. "rank" moves the
        value among the column's sorted values inside the box, which preserves skew, zeros and other frequent values.
        "value" measures the noise by the value itself, as Islam and Brankovic (2003) did; a zero stays.
    boundary : {"redraw", "reflect", "wrap", "clip"}, default "redraw"
        How noise is kept inside the allowed range: drawn until the value is inside, mirrored at the end, continued
        from the other end, or cut off at the end.
    distribution : str or object, default "normal"
        The distribution of the noise: "normal", "uniform", "laplace", "figure-2" (the Framework's, in steps of 5 %), or
        a symmetric table of noise and weights, "-20:1 -10:3 0:4 10:3 20:1", whose shape counts. An object of your own
        needs the methods ``cdf`` and ``inverse`` of a symmetric distribution with standard deviation 1.
    innocent : {"all", "heterogeneous", "none"}, default "all"
        Where numbers that a leaf does not test are perturbed: in all cells, in cells with more than one class, or
        nowhere.
    influential : {"all", "heterogeneous", "none"}, optional
        The same for numbers that a leaf tests. Default: all.

    Examples
    --------
    Every row keeps its leaf of the tree.

    >>> import leafcover as lc
    >>> table = lc.read(lc.sample("cps1985"))
    >>> leaves = lc.Leaves(of="occupation")
    >>> step = lc.Step(["age", "wage"], within=leaves, perturb=lc.Bounded(spread=0.1))
    >>> release = lc.release(table, lc.Plan(step), seed=7)
    >>> release.trees[0].kept
    1.0
    """

    frozen_id: ClassVar[str] = "bounded"
    new_values: ClassVar[Promise] = "noise"
    kinds: ClassVar[frozenset[Kind]] = frozenset({"number", "date", "time"})
    keeps_boxes: ClassVar[bool] = True
    spread: float = 0.276
    scale: Literal["range", "rank", "value"] = "range"
    boundary: Boundary = field(default="redraw", metadata={"frozen_id": "fit"})
    distribution: str | Distribution = field(default="normal", metadata={"frozen_id": "law", "plan_type": str})
    innocent: Where = "all"
    influential: Where | None = None

    def __post_init__(self) -> None:
        if not 0 < self.spread <= 1:
            raise ValueOutOfRange("Bounded.spread", self.spread, "a share of the allowed range, above 0 and at most 1")
        distribution_named(self.distribution)
        for name, where in (("innocent", self.innocent), ("influential", self.influential)):
            if where not in (None, *get_args(Where)):
                raise ValueOutOfRange(f"Bounded.{name}", where, f"one of {', '.join(get_args(Where))}")

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
        """The row for a range; the frequency of each value for ranks."""
        return "counts" if self.scale == "rank" else "row"

    @property
    def guarantees(self) -> tuple[str, ...]:
        """The guarantees."""
        return ("every value stays in its box and domain and on its grid", "missing stays missing")

    def fit(self, part: Chunk) -> Summary:
        """For ranks, the distinct values of each column and their frequencies."""
        if self.scale != "rank":
            return None
        found = {}
        for column in part.columns:
            found[column.name] = np.unique(column.values[~column.missing], return_counts=True)
        return found

    def merge(self, one: Summary, other: Summary) -> Summary:
        """Add the counts."""
        if self.scale != "rank":
            return None
        return {name: _merged(one[name], other[name]) for name in one}

    def change(self, part: Chunk, summary: Summary, draws: Draws) -> Mapping[str, Changed]:
        """Move every known value that is not fixed by its cell."""
        changed = {}
        for column in part.columns:
            moving = self._moving(part, column)
            rail = self._rail(part, column, summary, moving)
            u = draws.sub(column.name).uniform(part.rows[moving])
            new = fitted(rail.place, rail.size, rail.spread, u, distribution_named(self.distribution), self.boundary)
            values = column.values.copy()
            values[moving] = rail.value(new)
            wide = rail.size > 1
            width = rail.size[wide] - 1
            delivered = Delivered.of(rail.place[wide] / width, (new[wide] - rail.place[wide]) / width)
            changed[column.name] = Changed(values, noise=delivered)
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
        """The rows whose value may move."""
        low, high = part.ranges(column.name)
        tested: Bools = np.isfinite(low) | np.isfinite(high)
        innocent, influential = (_cells_of(where, part) for where in (self.innocent, self.influential))
        return ~column.missing & np.where(tested, influential, innocent)

    def _rail(self, part: Chunk, column: Column, summary: Summary, moving: Bools) -> "Rail":
        low, high = (end[moving] for end in part.ranges(column.name))
        values = column.values[moving]
        if self.scale == "rank":
            distinct, counts = summary[column.name]
            return Rail.of_ranks(values, low, high, distinct, counts, self.spread)
        rail = Rail.of_range(values, low, high, column, self.spread)
        return rail.by_value(values, self.spread) if self.scale == "value" else rail


def _cells_of(where: Where | None, part: Chunk) -> Bools:
    """The rows of cells in which values are perturbed."""
    if where == "heterogeneous" and part.cells.mixed is not None:
        return part.cells.mixed[part.cells.label]
    return np.full(len(part), where != "none")


class Rail(NamedTuple):
    """The points each value may move to: its own position, their number, and the values they represent."""

    place: Array  # position of the value itself, from 0
    size: Array  # number of points
    spread: Array  # standard deviation of the noise, in points
    first: Array  # index of point 0 in the grid or among all ranks; low end of a range without a grid
    last: Array  # high end of a range without a grid
    column: Column | None  # column whose grid is used; None for ranks and ranges without a grid
    ranks: tuple[Array, Array] | None  # distinct values, and the number of values below each

    @classmethod
    def of_range(cls, values: Floats, low: Floats, high: Floats, column: Column, spread: float) -> "Rail":
        """The points of a range: of the column's grid, or a fixed number."""
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

    def by_value(self, values: Floats, spread: float) -> "Rail":
        """The same, with noise that is a share of each value."""
        points = self.column.grid.step if self.column is not None and self.column.grid is not None else None
        step = (self.last - self.first) / np.maximum(self.size - 1, 1.0) if points is None else points
        with np.errstate(divide="ignore", invalid="ignore"):
            moved = np.where(self.size > 1, spread * np.abs(values) / step, 0.0)
        return self._replace(spread=np.nan_to_num(moved))

    @classmethod
    def of_ranks(
        cls, values: Floats, low: Floats, high: Floats, distinct: Floats, counts: Rows, spread: float
    ) -> "Rail":
        """The ranks of the values in a range."""
        below = np.concatenate([[0], np.cumsum(counts)])
        first = below[np.searchsorted(distinct, low, side="right")]
        last = below[np.searchsorted(distinct, high, side="right")]
        at = np.minimum(np.searchsorted(distinct, values), len(distinct) - 1)  # an attacker may ask about other values
        middle = np.floor((below[at] + below[at + 1] - 1) / 2.0)  # the middle of the ranks that share the value
        size = (last - first).astype(np.float64)
        return cls(middle - first, size, spread * (size - 1), first.astype(np.float64), last, None, (distinct, below))

    def points(self, column: Column) -> Floats:
        """Points in a distance of 1, of a range."""
        if column.grid is not None:
            return np.full(len(self.place), 1 / column.grid.step)
        width = self.last / 2 - self.first / 2
        return np.where(width > 0, (FINE - 1) / 2 / np.where(width > 0, width, 1.0), 0.0)

    def place_of(self, values: Floats, column: Column) -> Floats:
        """The positions of numbers between the points of a range, or beyond its ends."""
        if column.grid is not None:
            return np.asarray(values / column.grid.step - self.first)
        return _share(values, self.first, self.last) * (FINE - 1)

    def value(self, new: Rows) -> Floats:
        """The values at the new positions."""
        if self.column is not None and self.column.grid is not None:
            return self.column.grid.value(new + self.first.astype(np.int64))
        if self.ranks is not None:
            distinct, below = self.ranks
            found: Floats = distinct[np.searchsorted(below, new + self.first, side="right") - 1]
            return found
        share = new / np.maximum(self.size - 1, 1.0)
        return np.clip(self.first * (1 - share) + self.last * share, self.first, self.last)

    def chance(self, released: Floats, distribution: Distribution, boundary: Boundary) -> Floats:
        """The probability of each released value (0 where it lies outside)."""
        if self.ranks is not None:
            return self._chance_of_ranks(released, distribution, boundary)
        if self.column is not None and self.column.grid is not None:
            to: Array = self.column.grid.index(released) - self.first
        else:
            to = np.rint(_share(released, self.first, self.last) * (FINE - 1))
        inside = (to >= 0) & (to < self.size)
        return np.where(inside, probability(self.place, to, self.size, self.spread, distribution, boundary), 0.0)

    def _chance_of_ranks(self, released: Floats, distribution: Distribution, boundary: Boundary) -> Floats:
        """A value's probability is that of all ranks that share it."""
        distinct, below = self.ranks  # type: ignore[misc]  # only called when there are ranks
        at = np.clip(np.searchsorted(distinct, released), 0, len(distinct) - 1)
        start, stop = below[at] - self.first, below[at + 1] - 1 - self.first
        inside = (distinct[at] == released) & (start >= 0) & (stop < self.size)
        if boundary == "redraw":  # one difference of the cdf covers the whole run of ranks
            safe = np.maximum(self.spread, 1e-300)
            ends = [
                distribution.cdf((end - self.place) / safe) for end in (start - 0.5, stop + 0.5, -0.5, self.size - 0.5)
            ]
            return np.where(inside, (ends[1] - ends[0]) / np.maximum(ends[3] - ends[2], 1e-300), 0.0)
        total = np.zeros(len(released))
        for i in np.flatnonzero(inside):
            points = np.arange(start[i], stop[i] + 1, dtype=np.float64)
            one = np.ones(len(points))
            args = (self.place[i] * one, points, self.size[i] * one, self.spread[i] * one)
            total[i] = probability(*args, distribution, boundary).sum()
        return total


def _share(values: Array, first: Array, last: Array) -> Array:
    """The relative position of values between two ends, from 0 to 1; halved first, as 1e308 - (-1e308) overflows."""
    width = last / 2 - first / 2
    return np.where(width > 0, (values / 2 - first / 2) / np.where(width > 0, width, 1.0), 0.0)


def _merged(one: tuple[Array, Array], other: tuple[Array, Array]) -> tuple[Array, Array]:
    values = np.concatenate([one[0], other[0]])
    distinct, place = np.unique(values, return_inverse=True)
    return distinct, np.bincount(place, weights=np.concatenate([one[1], other[1]])).astype(np.int64)
