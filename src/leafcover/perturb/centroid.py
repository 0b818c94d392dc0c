"""Replace every value by the centroid of its cell, as microaggregation and the perturbation tree do.

The centroid is the mean or median of numbers and the mode of categories. Nothing is random: an attacker who knows the
cells and their values knows what is released. An independent check confirms that released values are centroids of
large enough groups.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal, NamedTuple

import numpy as np

from leafcover.arrays import MISSING, Array, Bools, Floats, Rows
from leafcover.cells import Cells, intersect_labels
from leafcover.errors import PlanError, ValueOutOfRange
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
from leafcover.table.table import Column, Grid


@perturbation("centroid")
@dataclass(frozen=True)
class Centroid(Perturbation):
    """The mean (or median) of the numbers of a cell, or the mode of its categories, for every row that has a value.

    Parameters
    ----------
    number : {"mean", "median"}, default "mean"
        The average that replaces numbers.
    least : int, default 1
        No released centroid is based on fewer known values than this: cells with fewer known values of a column are
        pooled, those of the same outer cell and with similar values first.
    on_grid : bool, default False
        Round means to the column's grid, such as whole years or cents. Dates and times are always rounded.

    Examples
    --------
    Averages preserve the mean of a column.

    >>> import leafcover as lc
    >>> table = lc.read(lc.sample("cps1985"))
    >>> groups = lc.InOrder("wage", k=5)
    >>> step = lc.Step("wage", within=groups, perturb=lc.Centroid(least=5))
    >>> release = lc.release(table, lc.Plan(step), seed=7)
    >>> before, after = table["wage"].values.mean(), release.table["wage"].values.mean()
    >>> bool(abs(after - before) < 1e-9)
    True
    """

    frozen_id: ClassVar[str] = "centroid"
    new_values: ClassVar[Promise] = "averaged"
    deterministic: ClassVar[bool] = True
    number: Literal["mean", "median"] = "mean"
    least: int = 1
    on_grid: bool = False

    def __post_init__(self) -> None:
        if self.number not in ("mean", "median"):
            raise ValueOutOfRange("Centroid.number", self.number, "'mean' or 'median'")
        if self.least < 1:
            raise ValueOutOfRange("Centroid.least", self.least, "a number of values, at least 1")

    @property
    def average(self) -> Literal["mean", "median"]:
        """The average that replaces the numbers of a cell."""
        return self.number

    def describe(self, *, detailed: bool = True) -> str:
        """What happens to a value."""
        return methods()("centroid", average=self.number, least=self.least if detailed else 0)

    @property
    def why_fixed(self) -> str:
        """The value equals the average."""
        return methods()("fixed-average")

    @property
    def scope(self) -> Scope:
        """A centroid needs every row of its cell."""
        return "cell"

    @property
    def guarantees(self) -> tuple[str, ...]:
        """The guarantees."""
        least_size = f"every released value is a centroid of at least {self.least} known values"
        kept = () if self.number == "median" or self.on_grid else ("the mean of every group of numbers is preserved",)
        return (least_size, *kept, "missing stays missing")

    def fit(self, part: Chunk) -> Summary:
        """The centroids of whole cells, and the values of cells with too few known values."""
        from leafcover.kernels.dealing import rows_by_cell

        order, starts = rows_by_cell(part.cells.label, part.cells.count)
        return {column.name: self._middles(part, column, order, starts) for column in part.columns}

    def merge(self, one: Summary, other: Summary) -> Summary:
        """Each cell is in one of the two chunks."""
        return {name: _merged(one[name], other[name]) for name in one}

    def finalize(self, summary: Summary, cells: Cells) -> Summary:
        """The centroid of every cell, with cells of too few known values pooled."""
        outer = cells.groups[0] if cells.groups else np.zeros(cells.count, np.int64)
        return {name: self._pooled(name, middles, outer) for name, middles in summary.items()}

    def change(self, part: Chunk, summary: Summary, draws: Draws) -> Mapping[str, Changed]:
        """Every known value becomes the centroid of its cell."""
        changed = {}
        for column in part.columns:
            values = column.values.copy()
            known = ~column.missing
            values[known] = summary[column.name][part.cells.label[known]]
            changed[column.name] = Changed(values)
        return changed

    def violations(self, before: Chunk, after: Mapping[str, Array]) -> tuple[str, ...]:
        """Sentences about groups that are too small, have several released values, or a wrong centroid."""
        found: list[str] = []
        for column in before.columns:
            new = after[column.name]
            if lost := missing_moved(column, new):
                found.append(f"column {column.name!r}: {lost} values became or ceased to be missing")
                continue
            means = self.number == "mean" and not self.on_grid and column.kind == "number"
            found += not_centred(column, new, before.cells, self.least, means=means)
        return tuple(found)

    def fixed(self, part: Chunk, summary: Summary) -> Mapping[str, Bools]:
        """Values that equal their centroid."""
        return {c.name: ~c.missing & (c.values == summary[c.name][part.cells.label]) for c in part.columns}

    def likelihood(self, part: Chunk, released: Mapping[str, Array], summary: Summary) -> Floats:
        """1 for the row's own centroids, 0 for anything else."""
        possible = np.ones(len(part), bool)
        for column in part.columns:
            new = released[column.name]
            gone = (new < 0) if column.is_category else np.isnan(new)
            own = summary[column.name][part.cells.label] == new
            possible &= np.where(column.missing, gone, own)
        return possible.astype(np.float64)

    def observable_class(self, part: Chunk) -> Rows:
        """Rows with the same centroids and the same missing columns are indistinguishable."""
        summary = self.finalize(self.fit(part), part.cells)
        codes = {c.name: np.unique(summary[c.name], return_inverse=True)[1].ravel() + 1 for c in part.columns}
        full = [c for c in part.columns if not c.missing.any()]
        cells = np.zeros(part.cells.count, np.int64)
        for column in full:  # cells are fewer than rows
            cells = intersect_labels(cells, codes[column.name])
        found: Rows = cells[part.cells.label]
        for column in part.columns:
            if column.missing.any():
                found = intersect_labels(found, np.where(column.missing, 0, codes[column.name][part.cells.label]))
        return found

    @property
    def is_exchangeable(self) -> bool:
        """Rows with the same centroids are equally likely."""
        return True

    def _middles(self, part: Chunk, column: Column, order: Rows, starts: Rows) -> "_Middles":
        rounded = self.on_grid or column.kind != "number"
        known, centre = self._centres(order, starts, column.values, column.grid, rounded)
        known_rows = ~column.missing
        few = known < self.least
        too_few = known_rows & few[part.cells.label]
        enough = np.where(few, np.iinfo(np.int64).max, known)
        joins = int(enough.argmin()) if not few.all() else -1
        return _Middles(
            known,
            centre,
            few=column.values[too_few],
            cell=part.cells.label[too_few],
            joins=joins,
            joining=column.values[known_rows & (part.cells.label == joins)],
            grid=column.grid,
            rounded=rounded,
        )

    def _centres(
        self, order: Rows, starts: Rows, values: Array, grid: Grid | None, rounded: bool
    ) -> tuple[Rows, Array]:
        from leafcover.kernels.microaggregation import centres_of_cells, modes_of_cells

        if values.dtype.kind != "f":
            return modes_of_cells(order, starts, values)
        counted, steps = values, 1.0
        if grid is not None and grid.decimals and grid.every == 1:  # in grid steps, whose sums are exact
            counted, steps = np.where(np.isnan(values), np.nan, grid.index(values)), 10.0**grid.decimals
        known, centre = centres_of_cells(order, starts, counted, steps, self.number == "median")
        if grid is not None and rounded:
            there = known > 0
            centre[there] = grid.value(grid.index(centre[there]))
        return known, centre

    def _pooled(self, name: str, middles: "_Middles", outer: Array) -> Array:
        values, cell = middles.few, middles.cell
        if not len(values):
            return middles.centre
        pool = pools(middles.known, middles.centre, outer, self.least)
        if len(values) < self.least:
            if middles.joins < 0:
                raise PlanError(
                    f"Column {name!r} has {len(values)} known values, fewer than the {self.least} that an average "
                    "needs. Choose a smaller k, drop the column, or choose another perturbation for it."
                )
            values = np.concatenate([values, middles.joining])
            cell = np.concatenate([cell, np.full(len(middles.joining), middles.joins)])
            pool[middles.joins] = 0
        order = np.argsort(pool[cell], kind="stable")
        starts = np.searchsorted(pool[cell][order], np.arange(int(pool.max()) + 2))
        _, centre = self._centres(order, starts, values, middles.grid, middles.rounded)
        found = middles.centre.copy()
        found[pool >= 0] = centre[pool[pool >= 0]]
        return found


class _Middles(NamedTuple):
    """The known values of a column before small cells are pooled."""

    known: Rows  # (cells,) number of known values
    centre: Array  # (cells,) their centroid
    few: Array  # the values of cells with too few known values
    cell: Rows  # the cell of each of them
    joins: int  # the smallest cell that has enough known values, the lowest number if several; -1: no such cell
    joining: Array  # its values
    grid: Grid | None  # of the column
    rounded: bool  # whether centroids are rounded to it


def _merged(one: _Middles, other: _Middles) -> _Middles:
    first, second = ((m.known[m.joins], m.joins) if m.joins >= 0 else (np.inf, 0) for m in (one, other))
    fewest = one if first <= second else other
    return _Middles(
        one.known + other.known,
        np.where(one.known > 0, one.centre, other.centre),
        np.concatenate([one.few, other.few]),
        np.concatenate([one.cell, other.cell]),
        fewest.joins,
        fewest.joining,
        one.grid,
        one.rounded,
    )


def pools(known: Rows, centre: Array, outer: Array, least: int) -> Rows:
    """The pool number of each cell with fewer than ``least`` known values; -1 for the others.

    Neighbours in the order of centroids are pooled, inside one outer cell as far as they suffice for a pool. The rest
    of an outer cell joins its last pool; outer cells without any full pool are pooled with each other.

    >>> pools(np.array([2, 2, 9, 2, 1]), np.array([5.0, 1.0, 0.0, 1.2, 5.1]), np.zeros(5, np.int64), 3)
    array([ 1,  0, -1,  0,  1])
    """
    number = np.full(len(known), MISSING, np.int64)
    few = np.flatnonzero((known > 0) & (known < least))
    order = few[np.lexsort((few, centre[few], outer[few]))]
    ends = np.flatnonzero(np.diff(outer[order])) + 1
    count = 0
    left: list[int] = []
    for cells in np.split(order, ends):
        made = _filled(known, cells, least, number, count)
        left += cells.tolist() if made == count else []
        count = made
    rest = np.array(left, np.int64)
    made = _filled(known, rest[np.lexsort((rest, centre[rest]))], least, number, count)
    if made == count:
        number[rest] = max(count - 1, 0)
    return number


def _filled(known: Rows, cells: Rows, least: int, number: Rows, count: int) -> int:
    """Number cells in order, with a new number once a pool has enough, and return the next number. The rest get -1."""
    held, start, first = 0, 0, count
    for place, cell in enumerate(cells.tolist(), 1):
        held += int(known[cell])
        if held >= least:
            number[cells[start:place]] = count
            held, start, count = 0, place, count + 1
    if count > first:
        number[cells[start:]] = count - 1
    return count


# Check that released values are centroids of large enough groups, independently of the code above.


# Rounding tolerances, relative to a group's largest number: fixed, per value, in single precision.
DOUBLE, EACH, SINGLE = 2.0**-45, 2.0**-53, 2.0**-23
SMALLEST = 2.0**-1060  # floats below this lose precision


def not_centred(column: Column, after: Array, cells: Cells, least: int, *, means: bool) -> list[str]:
    """Sentences about groups that are too small, have several released values, or a wrong centroid.

    A number must lie within the range of its group; with ``means`` it must be the mean.
    """
    rows = np.flatnonzero(~column.missing)
    if not len(rows):
        return []
    old, new = column.values[rows], after[rows]
    group = groups_of(cells.label[rows], cells.count, least, new)
    sizes = np.bincount(group)
    released = np.zeros(len(sizes), new.dtype)
    released[group] = new
    found = []
    if small := int((sizes[sizes > 0] < least).sum()):
        found.append(f"column {column.name!r}: {small} centroids are based on fewer than {least} known values")
    if several := int((new != released[group]).sum()):
        found.append(f"column {column.name!r}: {several} values are not the centroid of their group")
    elif column.is_category:
        if rare := int((_most_held(group, old) > np.bincount(group, old == new)).sum()):
            found.append(f"column {column.name!r}: {rare} groups have a category that is not their mode")
    elif away := int(_moved(group, old, released, means).sum()):
        what = "is not their mean" if means else "lies outside their range"
        found.append(f"column {column.name!r}: {away} groups have a number that {what}")
    return found


def groups_of(label: Rows, count: int, least: int, new: Array) -> Rows:
    """The group of each known value: its cell, or, for cells with too few known values, those with the same release.

    If these are still too few together, the next smallest cell is added.

    >>> groups_of(np.array([0, 0, 0, 1, 2, 2, 2, 2]), 3, 3, np.zeros(8))
    array([3, 3, 3, 3, 2, 2, 2, 2])
    """
    known = np.bincount(label, minlength=count)
    pool = (known > 0) & (known < least)
    if not pool.any():
        return label
    if known[pool].sum() < least and (known >= least).any():
        pool[np.where(known >= least, known, known.max() + 1).argmin()] = True
    inside = pool[label]
    shown = np.unique(new[inside], return_inverse=True)[1].ravel()
    found = label.copy()
    found[inside] = count + shown
    return found


def _moved(group: Rows, old: Floats, released: Floats, means: bool) -> Bools:
    """Which groups have a released number outside their range, or one that is not their mean."""
    from leafcover.kernels.dealing import rows_by_cell

    sizes = np.bincount(group)
    there = sizes > 0
    order, starts = rows_by_cell(group, len(sizes))
    ordered = old[order]
    low, high = (end.reduceat(ordered, starts[:-1][there]) for end in (np.minimum, np.maximum))
    shown, largest = released[there], np.maximum(np.abs(low), np.abs(high))
    away = np.maximum(low / 2 - shown / 2, shown / 2 - high / 2)  # halved first: twice 1e308 overflows
    if means:  # deviations above and below the mean cancel
        rest = np.bincount(group, (old / 2 - released[group] / 2) / sizes[group])[there]
        away = np.maximum(away, np.abs(rest))
    out: Bools = away > (DOUBLE + EACH * sizes[there]) * largest + SMALLEST
    doubtful = np.flatnonzero(out & (away <= SINGLE * largest))
    out[doubtful] = ~_of_single_precision(shown[doubtful])
    return out


def _most_held(group: Rows, codes: Array) -> Rows:
    """The frequency of each group's mode."""
    levels = int(codes.max()) + 1
    pairs, counts = np.unique(group * levels + codes, return_counts=True)
    most = np.zeros(int(group.max()) + 1, np.int64)
    np.maximum.at(most, pairs // levels, counts)
    return most


def _of_single_precision(values: Floats) -> Bools:
    """Which numbers are exact in single precision; a column stored that way cannot hold a mean more precisely.

    >>> _of_single_precision(np.array([0.1, 1 / 3, 0.33333334]))
    array([ True, False,  True])
    """
    with np.errstate(over="ignore"):
        short = [float(str(value)) for value in values.astype(np.float32)]
    return np.asarray(short) == values
