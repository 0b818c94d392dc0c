"""Numbers and dates recoded as intervals: categories with readable labels, or one number for each interval."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, ClassVar, Literal, TypeAlias

import numpy as np
import pyarrow as pa

from leafcover.arrays import MISSING, Codes, Floats
from leafcover.errors import PlanError, ValueOutOfRange
from leafcover.recode.base import ColumnRecoding, methods, recoding
from leafcover.recode.numbers import Moment, mean_of, moment_number, moment_text, plain, roundest, with_numbers
from leafcover.table.formatting import infer_grid, is_text, plain_text
from leafcover.table.table import Column, Kind, Table

Shown: TypeAlias = Literal["label", "midpoint", "mean"]
MOST = 1_000  # intervals
LEAST = 5  # rows in the first and in the last interval, if widths are given


@recoding("intervals")
@dataclass(frozen=True)
class Intervals(ColumnRecoding):
    """Replace numbers or dates by intervals: a category such as "20-24", or one number for each interval.

    The first and the last interval are open, so that they hide the extremes.

    Parameters
    ----------
    column : str
        The column of numbers or dates.
    edges : sequence of float or str, optional
        Where intervals begin, in ascending order: 18 and 65 make "under 18", "18-64" and "65 or more". Dates are text.
    width : float, optional
        The width of all intervals instead, from multiples of it; in days for dates. Intervals at the ends that fewer
        than 5 rows have are joined with the next.
    count : int, optional
        The number of intervals instead, with about equally many rows in each.
    to : {"label", "midpoint", "mean"}, default "label"
        What a value becomes: the label of its interval, the middle of it, or the mean of the values in it.
    values : sequence of float, optional
        The number of each interval, which a plan holds where ``to`` is not "label".

    Examples
    --------
    >>> import leafcover as lc
    >>> table = lc.read(lc.sample("cps1985"))
    >>> ages = lc.Intervals("age", edges=[25, 35, 50])
    >>> ages.apply(table)["age"].levels
    ('25-34', '35-49', '50 or more', 'under 25')
    >>> lc.Intervals("age", count=3).fitted(table).edges
    (31.0, 41.0)
    """

    frozen_id: ClassVar[str] = "intervals"
    kinds: ClassVar[frozenset[Kind]] = frozenset({"number", "date"})
    main: ClassVar[str] = "edges"
    edges: tuple[Moment, ...] | None = None
    width: float | None = None
    count: int | None = None
    to: Shown = "label"
    values: tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        if sum(one is not None for one in (self.edges, self.width, self.count)) != 1:
            raise PlanError("Intervals needs to know where they begin. Give one of edges, width and count.")
        if self.edges is not None:
            given: Any = self.edges
            edges = (given,) if isinstance(given, str | int | float) else tuple(given)
            object.__setattr__(self, "edges", tuple(one if isinstance(one, str) else float(one) for one in edges))
            if not 1 <= len(edges) < MOST:
                raise ValueOutOfRange("Intervals.edges", len(edges), f"at least 1 and fewer than {MOST:,} edges")
        if self.width is not None and not 0 < self.width < np.inf:
            raise ValueOutOfRange("Intervals.width", self.width, "a number above 0")
        if self.count is not None and not 2 <= self.count <= MOST:
            raise ValueOutOfRange("Intervals.count", self.count, f"a number of intervals from 2 to {MOST:,}")
        if self.to not in ("label", "midpoint", "mean"):
            raise ValueOutOfRange("Intervals.to", self.to, "'label', 'midpoint' or 'mean'")
        if self.values is not None:
            shown: Any = self.values
            listed = (shown,) if isinstance(shown, int | float) else shown
            object.__setattr__(self, "values", tuple(map(float, listed)))
            if self.to == "label" or self.edges is None or len(self.values) != len(self.edges) + 1:
                raise PlanError("Intervals.values are one number for each interval between edges. Leave them out.")

    def fitted(self, table: Table) -> "Intervals":
        """The same with edges, and with the number of each interval, as they are for this table."""
        column = table[self.column]
        if self._is_recoded(column):
            return self
        edges = self._edges(column)
        given = tuple(float(e) if column.kind == "number" else moment_text(column, float(e)) for e in edges)
        values = self.values if self.to == "label" or self.values is not None else self._values(column, edges)
        return replace(self, edges=given, width=None, count=None, values=values)

    def _edges(self, column: Column) -> Floats:
        """Where intervals begin."""
        if self.edges is not None:
            edges = np.array([_number(column, one) for one in self.edges])
            if not (np.diff(edges) > 0).all() or not np.isfinite(edges).all():
                raise ValueOutOfRange("Intervals.edges", [plain(e) for e in self.edges], "in ascending order")
            return edges
        known = np.sort(column.values[~column.missing])
        if not len(known) or known[0] == known[-1]:
            raise PlanError(f"Column {column.name!r} has no two values to divide. Leave out the recoding.")
        if self.count is not None:
            return equal_frequency_edges(known, self.count, column)
        return _equal_width_edges(known, self.width or 1.0, column)

    def _values(self, column: Column, edges: Floats) -> tuple[float, ...]:
        """The number of each interval: its middle or mean; the mean of an open one, or its edge if it is empty."""
        found = []
        code = np.searchsorted(edges, column.values, side="right")
        for at in range(len(edges) + 1):
            inside = column.values[(code == at) & ~column.missing]
            closed = 0 < at < len(edges)
            if self.to == "midpoint" and closed:
                last = edges[at] - column.grid.step if column.grid is not None else edges[at]
                value = edges[at - 1] / 2 + last / 2
            elif len(inside):
                value = mean_of(inside)
            else:
                value = edges[at - 1] if at else edges[0] - (column.grid.step if column.grid is not None else 1.0)
            found.append(_within(column, float(value), edges, at))
        return tuple(found)

    def recoded(self, column: Column) -> Column:
        """The intervals; a column that has their labels already stays."""
        if self._is_recoded(column):
            return column
        if self.edges is None or (self.to != "label" and self.values is None):
            raise PlanError(f"Intervals of {column.name!r} are not fitted to a table yet. Use fitted().")
        edges = self._edges(column)
        code = np.searchsorted(edges, column.values, side="right").astype(np.int32)
        if self.values is None:
            return _labelled(column, np.where(column.missing, np.int32(MISSING), code), labels_of(column, edges))
        values = np.array(self.values)[code]
        return with_numbers(
            column, values, infer_grid(np.array(self.values)) if column.kind == "number" else column.grid
        )

    def _is_recoded(self, column: Column) -> bool:
        if self.to != "label" or self.edges is None or not column.is_category:
            return False
        return set(column.levels) <= set(self.labels(column))

    def violations(self, released: Table) -> tuple[str, ...]:
        """Values that are no label, or no number of an interval."""
        column = released[self.column]
        if self.values is not None:
            other = ~np.isin(column.values, self.values) & ~column.missing
        else:
            labels = self.labels(column)
            other = np.array([one not in labels for one in (*column.levels, "")], bool)[column.values] & ~column.missing
        rows = int(other.sum())
        return (f"column {self.column!r}: {rows} values are not recoded",) if rows else ()

    def labels(self, column: Column) -> tuple[str, ...]:
        """The labels of the intervals of a released column."""
        kind: Kind = "date" if any(isinstance(one, str) for one in self.edges or ()) else "number"
        plain_column = Column(column.name, kind, np.empty(0), grid=None)
        edges = self._edges(plain_column)
        whole = labels_of(replace(plain_column, grid=infer_grid(edges)), edges)
        return (*whole, *labels_of(plain_column, edges))

    def describe(self, *, detailed: bool = True) -> str:
        """How many intervals there are, and what a value becomes."""
        return methods()("intervals", count=len(self.edges) + 1 if self.edges and detailed else 0, to=self.to)


def _number(column: Column, given: Moment) -> float:
    if column.kind == "date":
        return moment_number(column, str(given))
    try:
        return float(given)
    except ValueError:
        raise ValueOutOfRange(f"An edge of column {column.name!r}", given, "a number") from None


def equal_frequency_edges(known: Floats, count: int, column: Column) -> Floats:
    """Edges of about equally many sorted values each; fewer if many values are equal.

    No interval has less than half of its part of the values. Edges have as few digits as the gaps between values allow.

    >>> equal_frequency_edges(np.array([1.0, 1.0, 1.0, 2.0, 3.07, 4.0]), 3, Column("x", "number", np.empty(0)))
    array([2., 3.])
    """
    first = np.flatnonzero(np.append(True, known[1:] != known[:-1]))[1:]  # of each distinct value but the lowest
    wanted = np.arange(1, count) * len(known) / count
    place = np.searchsorted(first, wanted)
    lower, upper = first[np.maximum(place - 1, 0)], first[np.minimum(place, len(first) - 1)]
    places = np.unique(np.where(np.abs(wanted - lower) <= np.abs(upper - wanted), lower, upper)).tolist()
    kept: list[int] = []
    for at in places:
        if min(at - (kept[-1] if kept else 0), len(known) - at) * 2 * count >= len(known):
            kept.append(at)
    return np.array([roundest(column, known[at - 1], known[at]) for at in kept or places[:1]])


def _equal_width_edges(known: Floats, width: float, column: Column) -> Floats:
    """Edges at multiples of a width, without those beyond which too few rows lie."""
    low, high = np.floor(known[0] / width), np.floor(known[-1] / width)
    if high - low >= MOST:
        raise ValueOutOfRange(
            f"The width of intervals of {column.name!r}", width, f"so large that there are at most {MOST:,} intervals"
        )
    edges = np.arange(low + 1, high + 1) * width
    below, above = np.searchsorted(known, edges), len(known) - np.searchsorted(known, edges)
    enough = edges[(below >= LEAST) & (above >= LEAST)]
    if not len(enough):
        raise PlanError(
            f"Intervals of width {plain(width)} leave column {column.name!r} one value. Use a smaller width."
        )
    return enough


def _within(column: Column, value: float, edges: Floats, at: int) -> float:
    """The value on the column's grid, if it stays in its interval there."""
    if column.grid is not None:
        near = float(column.grid.value(column.grid.index(np.array([value])))[0])
        if np.searchsorted(edges, near, side="right") == at:
            return near
    return value


# Labels.


def labels_of(column: Column, edges: Floats) -> tuple[str, ...]:
    """A readable label for each interval.

    >>> labels_of(Column("age", "number", np.empty(0), grid=infer_grid(np.array([1.0]))), np.array([18.0, 19.0, 65.0]))
    ('under 18', '18', '19-64', '65 or more')
    >>> labels_of(Column("rate", "number", np.empty(0)), np.array([-0.5, 1.25]))
    ('under -0.5', '-0.5 to under 1.25', '1.25 or more')
    """
    if column.kind == "date":
        first = [moment_text(column, one) for one in edges.tolist()]
        last = [moment_text(column, one - 1) for one in edges[1:].tolist()]
        middle = [one if one == other else f"{one} to {other}" for one, other in zip(first, last, strict=False)]
        return (f"before {first[0]}", *middle, f"{first[-1]} or later")
    first = [plain(one) for one in edges.tolist()]
    return (f"under {first[0]}", *_middle(column, edges, first), f"{first[-1]} or more")


def _middle(column: Column, edges: Floats, first: Sequence[str]) -> list[str]:
    whole = column.grid is not None and column.grid.decimals == 0 and bool((np.rint(edges) == edges).all())
    if not whole:
        return [f"{one} to under {other}" for one, other in pairwise(first)]
    last = [plain(one - 1) for one in edges[1:].tolist()]
    sign = " to " if edges[0] < 0 else "-"
    return [one if one == other else f"{one}{sign}{other}" for one, other in zip(first, last, strict=False)]


def _labelled(column: Column, code: Codes, labels: Sequence[str]) -> Column:
    """A category of labels; typed columns keep the order of the intervals."""
    kept = sorted({labels[one] for one in np.unique(code[code != MISSING]).tolist()})
    number = {label: at for at, label in enumerate(kept)}
    lookup = np.array([number.get(label, MISSING) for label in labels] + [MISSING], np.int32)
    gone = code == MISSING
    ordered = [label for label in labels if label in number]
    place = np.array([ordered.index(label) if label in number else 0 for label in labels] + [0], np.int32)[code]
    stored = pa.DictionaryArray.from_arrays(pa.array(place, mask=gone), pa.array(ordered, pa.string()), ordered=True)
    if column.stored is not None and is_text(column.stored):  # a missing value keeps its token
        stored = pa.array(np.array([*labels, None], object)[code], pa.string())
        if gone.any():
            stored = pa.compute.if_else(pa.array(gone), plain_text(column.stored).cast(pa.string()), stored)
    return Column(column.name, "category", lookup[code], tuple(kept), stored=stored)
