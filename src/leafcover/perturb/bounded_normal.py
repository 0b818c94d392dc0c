"""GADP inside cells, bounded by their boxes: the numbers of the extended Framework.

Islam and Brankovic (2004) apply GADP in every leaf "where the domain of each LINA is bounded by the conditional values
for that leaf". Nothing is given, so a leaf's numbers become Y = m + α (X - m) + N: m is the leaf's mean, α the
similarity, and N is normal with (1 - α²) times the leaf's covariance. How a leaf bounds its values is not said. Here a
row is drawn until all of its numbers are inside the leaf and the domain; after some tries its numbers are drawn one by
one, each inside.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from math import sqrt
from typing import ClassVar, NamedTuple

import numpy as np

from leafcover.arrays import Array, Bools, Floats, Rows
from leafcover.cells import Cells
from leafcover.errors import ValueOutOfRange
from leafcover.keyed_random import Draws
from leafcover.perturb.additive import SMALLEST_STEP
from leafcover.perturb.base import Changed, Chunk, Perturbation, Promise, Scope, Summary, methods, perturbation
from leafcover.perturb.bounded import FINE, LEAST, Normal, Rail, between, fitted
from leafcover.perturb.conditional_normal import normal_chance, same_known
from leafcover.perturb.covariance import Unit, known_of, positive_semidefinite, square_root
from leafcover.table.table import Column, Kind

TRIES = 30  # of a row as a whole
MOST_FROM = 1_000_000


class _CellSums(NamedTuple):
    """For each cell and every two numbers: the rows that have both, the sums of the first, and of the products."""

    names: tuple[str, ...]
    counts: Floats  # (cells, numbers, numbers)
    sums: Floats
    products: Floats  # of differences from the first number's mean in its cell


@dataclass(frozen=True, eq=False)
class InCells:
    """The means of numbers in every cell, and the root of their covariance, in halves of the domains."""

    names: tuple[str, ...]
    means: Floats  # (cells, numbers)
    covariance: Floats  # (cells, numbers, numbers)
    root: Floats


@perturbation("bounded-gadp")
@dataclass(frozen=True)
class BoundedGadp(Perturbation):
    """GADP within each cell, inside its box and the domain: numbers drawn with the means and correlations of the cell.

    A row is drawn until all of its numbers are inside, at most 30 times; then its numbers are drawn one by one. This
    moves means and shrinks variances where the box or the domain cuts off much of the normal distribution.

    Parameters
    ----------
    similarity : float, default 0.35
        How much of the difference between a number and the mean of its cell is released: their correlation, at least 0
        and below 1.
    own_from : int, default 20
        A cell of at least so many rows has its own covariance. A smaller one has a mean of its own covariance and that
        within all cells, in proportion to its rows: one row alone has that of all cells.

    Examples
    --------
    Every row keeps its leaf of the tree.

    >>> import leafcover as lc
    >>> table = lc.read(lc.sample("cps1985"))
    >>> step = lc.Step(["age", "wage"], within=lc.Leaves(of="occupation"), perturb=lc.BoundedGadp())
    >>> release = lc.release(table, lc.Plan(step), seed=7)
    >>> release.trees[0].kept
    1.0
    """

    frozen_id: ClassVar[str] = "bounded-gadp"
    kinds: ClassVar[frozenset[Kind]] = frozenset({"number", "date", "time"})
    keeps_boxes: ClassVar[bool] = True
    joint: ClassVar[bool] = True
    new_values: ClassVar[Promise] = "drawn"
    similarity: float = 0.35
    own_from: int = 20

    def __post_init__(self) -> None:
        if not 0 <= self.similarity < 1:
            raise ValueOutOfRange("BoundedGadp.similarity", self.similarity, "at least 0 and below 1")
        if not 2 <= self.own_from <= MOST_FROM:
            raise ValueOutOfRange("BoundedGadp.own_from", self.own_from, f"a number of rows from 2 to {MOST_FROM:,}")

    def describe(self, *, detailed: bool = True) -> str:
        """What happens to a value."""
        return methods()("bounded-gadp", similarity=f"{self.similarity:g}" if detailed else "none")

    @property
    def why_fixed(self) -> str:
        """The allowed range is too narrow."""
        return methods()("fixed-range")

    @property
    def scope(self) -> Scope:
        """The moments of a cell need all of its rows."""
        return "cell"

    @property
    def guarantees(self) -> tuple[str, ...]:
        """The guarantees."""
        return ("every value stays in its box and domain and on its grid", "missing stays missing")

    @property
    def not_guaranteed(self) -> tuple[str, ...]:
        """Moments are those of GADP only as far as bounds and small cells allow."""
        return (
            "means and covariances are not exact: rows outside their leaf or the domain are drawn again",
            f"cells of fewer than {self.own_from} rows share their covariances with all cells",
        )

    def fit(self, part: Chunk) -> Summary:
        """Sums of each cell, which is in one chunk."""
        label, count, many = part.cells.label, part.cells.count, len(part.columns)
        scaled = [Unit.of(column).scaled(column.values) for column in part.columns]
        known = known_of(part.columns)
        counts, sums, products = (np.zeros((count, many, many)) for _ in range(3))
        rows = np.array([np.bincount(label, one, minlength=count) for one in known])
        totals = [
            np.bincount(label, np.where(there, x, 0.0), minlength=count) for there, x in zip(known, scaled, strict=True)
        ]
        means = np.array(totals) / np.maximum(rows, 1)
        apart = [np.where(there, x - m[label], 0.0) for there, x, m in zip(known, scaled, means, strict=True)]
        for i in range(many):
            for j in range(many):
                both = known[i] & known[j]
                counts[:, i, j] = np.bincount(label, both, minlength=count)
                sums[:, i, j] = totals[i] if i == j else np.bincount(label, apart[i] * both, minlength=count)
                products[:, i, j] = np.bincount(label, apart[i] * apart[j], minlength=count)
        return _CellSums(tuple(column.name for column in part.columns), counts, sums, products)

    def merge(self, one: Summary, other: Summary) -> Summary:
        """Each cell is in one of the two chunks; in the other its sums are 0."""
        return _CellSums(one.names, *(a + b for a, b in zip(one[1:], other[1:], strict=True)))

    def finalize(self, summary: Summary, cells: Cells) -> Summary:
        """The mean and the covariance of every cell; a small cell's covariance is drawn towards that of all."""
        names, counts, sums, products = summary
        diagonal = np.arange(len(names))
        rows = counts[:, diagonal, diagonal]
        means = sums[:, diagonal, diagonal] / np.maximum(rows, 1)
        offset = sums.copy()
        offset[:, diagonal, diagonal] = 0.0  # differences from a mean add up to 0
        apart = products - offset * np.swapaxes(offset, 1, 2) / np.maximum(counts, 1)
        own = apart / np.maximum(counts - 1, 1)
        free = np.maximum((counts - 1).clip(0).sum(axis=0), 1)
        share = np.minimum((rows.max(axis=1, initial=0) - 1).clip(0) / (self.own_from - 1), 1.0)[:, None, None]
        covariance = positive_semidefinite(share * own + (1 - share) * apart.sum(axis=0) / free)
        return InCells(names, means, covariance, square_root(covariance))

    def change(self, part: Chunk, summary: Summary, draws: Draws) -> Mapping[str, Changed]:
        """Draw every row until its known numbers are inside, then those that are not one by one."""
        tracks = [self._track(part, column, summary) for column in part.columns]
        known, sources = known_of(part.columns), [draws.sub(column.name) for column in part.columns]
        found = np.zeros(known.shape)
        waiting = np.flatnonzero(known.any(axis=0))
        for attempt in range(TRIES):
            normals = [Normal().inverse(one.uniform(part.rows[waiting], attempt)) for one in sources]
            new = self._drawn(part, summary, tracks, normals, waiting)
            inside = self._inside(tracks, known, new, waiting)
            found[:, waiting[inside]] = new[:, inside]
            waiting = waiting[~inside]
            if not len(waiting):
                break
        for at, (track, source) in enumerate(zip(tracks, sources, strict=True)):
            rows = waiting[known[at, waiting]]
            u = source.uniform(part.rows[rows], TRIES)
            found[at, rows] = fitted(track.mean[rows], track.rail.size[rows], track.spread[rows], u, Normal(), "redraw")
        return {c.name: Changed(t.values(c, new)) for c, t, new in zip(part.columns, tracks, found, strict=True)}

    def likelihood(self, part: Chunk, released: Mapping[str, Array], summary: Summary) -> Floats:
        """The probability of the released values: of the normal distribution, divided by that of each range.

        That rows are drawn until all of their numbers are inside at once relates the columns a little more.
        """
        tracks = [self._track(part, column, summary) for column in part.columns]
        total, shown = np.ones(len(part)), np.zeros((len(tracks), len(part)), np.bool_)
        apart = np.zeros(shown.shape)
        for at, (column, track) in enumerate(zip(part.columns, tracks, strict=True)):
            new = released[column.name]
            total[column.missing != np.isnan(new)] = 0.0
            known = ~column.missing & ~np.isnan(new)
            total[known & ~track.moves & (new != column.values)] = 0.0
            shown[at] = known & track.moves
            total[shown[at]] *= track.within(column, new, shown[at])
            apart[at] = Unit.of(column).scaled(new) - self._means(part, column, summary)
        return total * self._joint(part, apart, shown, summary)

    def _joint(self, part: Chunk, apart: Floats, shown: Bools, summary: InCells) -> Floats:
        """(rows,) the probability of numbers so far from their means; (columns, rows)."""
        found, label = np.ones(len(part)), part.cells.label
        at = [summary.names.index(column.name) for column in part.columns]
        steps = np.array([_step(column) / (Unit.of(column).half or 1.0) for column in part.columns])
        for cell in np.flatnonzero(np.bincount(label)):
            here = np.flatnonzero(label == cell)
            covariance = (1 - self.similarity**2) * summary.covariance[cell][np.ix_(at, at)]
            for columns, some in same_known(shown[:, here]):
                rows, both = here[some], np.ix_(columns, columns)
                found[rows] = normal_chance(apart[np.ix_(columns, rows)], covariance[both], steps[columns])
        return found

    def _means(self, part: Chunk, column: Column, summary: InCells) -> Floats:
        """The mean of each row's normal distribution, in halves of the domain; nan if its number is missing."""
        middle = summary.means[part.cells.label, summary.names.index(column.name)]
        found: Floats = middle + self.similarity * (Unit.of(column).scaled(column.values) - middle)
        return found

    def _track(self, part: Chunk, column: Column, summary: InCells) -> "_Track":
        low, high = part.ranges(column.name)
        unit, at, label = Unit.of(column), summary.names.index(column.name), part.cells.label
        mean = unit.value(self._means(part, column, summary))
        rail = Rail.of_range(np.where(column.missing, column.domain[0], column.values), low, high, column, 1.0)
        deviation = unit.half * sqrt(1 - self.similarity**2) * np.sqrt(summary.covariance[label, at, at])
        points = rail.points(column)
        place = rail.place_of(np.where(column.missing, rail.place, mean), column)
        with np.errstate(over="ignore"):  # a range of 1e308 has more points than a float can count
            spread, width = np.minimum(deviation * points, 1e15), np.minimum(unit.half * points, 1e300)
        return _Track(rail, place, spread, width, deviation > 0)

    def _drawn(
        self, part: Chunk, summary: InCells, tracks: list["_Track"], normals: list[Floats], rows: Rows
    ) -> Floats:
        """(columns, rows) the points that some rows move to."""
        label, found = part.cells.label[rows], np.empty((len(tracks), len(rows)))
        at = [summary.names.index(column.name) for column in part.columns]
        for one, track in enumerate(tracks):
            noise = sum(summary.root[label, at[one], at[k]] * normals[k] for k in range(len(tracks)))
            found[one] = np.rint(track.mean[rows] + sqrt(1 - self.similarity**2) * track.unit[rows] * noise)
        return found

    def _inside(self, tracks: list["_Track"], known: Bools, new: Floats, rows: Rows) -> Bools:
        """Whether all known numbers of a row are inside."""
        found = np.ones(len(rows), np.bool_)
        for at, track in enumerate(tracks):
            found &= ~known[at, rows] | ~track.moves[rows] | ((new[at] >= 0) & (new[at] < track.rail.size[rows]))
        return found


class _Track(NamedTuple):
    """Where the numbers of a column may move, in points of their grids."""

    rail: Rail
    mean: Floats  # of the normal distribution
    spread: Floats  # its standard deviation
    unit: Floats  # points in half of the domain
    moves: Bools  # whether the cell has more than one value

    def within(self, column: Column, new: Floats, rows: Bools) -> Floats:
        """1 over the probability of the range, for some rows; 0 for a number outside it."""
        place, size, mean, spread = (
            one[rows] for one in (self.rail.place_of(new, column), self.rail.size, self.mean, self.spread)
        )
        spread = np.maximum(spread, LEAST)
        inside = between(Normal(), (-0.5 - mean) / spread, (size - 0.5 - mean) / spread)
        return np.where((place > -0.5) & (place < size - 0.5), 1 / np.maximum(inside, 1e-300), 0.0)

    def values(self, column: Column, points: Floats) -> Floats:
        """The numbers at some points; those of a cell with a single value, and missing ones, stay."""
        stays = column.missing | ~self.moves
        new = self.rail.value(np.where(stays, 0, points).astype(np.int64))
        return np.where(stays, column.values, new)


def _step(column: Column) -> float:
    """The width of the range of drawn numbers that are released as one."""
    bottom, top = column.domain
    return column.grid.step if column.grid is not None else max(top / FINE - bottom / FINE, SMALLEST_STEP)
