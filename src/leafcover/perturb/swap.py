"""Rank swapping and bounded swapping: numbers exchanged between rows whose ranks are near, or far enough apart.

Rank swapping (Moore 1996) exchanges each number with a random one among the next ranks of its cell. Bounded swapping
(Li and Sarkar 2011) exchanges it with a random one in its cell whose rank is at least so many away. Both keep the
values of every column exactly, in every cell.

How probable a rank is to receive another one's value has no closed form. It is counted over many runs of the method
itself with public random words, once for each number of ranks and reach; where there are many ranks, on fewer ranks of
the same proportions.
"""

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import ClassVar, NamedTuple

import numpy as np

from leafcover.arrays import Array, Floats, Rows, Words
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
from leafcover.perturb.shuffle import same_values
from leafcover.table.table import Column, Kind

FINE_REACH, FINE_WIDTHS = 24, 14  # ranks of a window, and windows, to which larger ones are brought down
FINE_RANKS = 64  # of a cell in which ranks are swapped with far ones
RUNS_NEAR, RUNS_FAR = 1_500_000, 500_000  # times ranks, that are counted
RANKS_OF_VALUE = 16  # ranks of a value that many rows share, at most, whose chances are averaged
LEAST = 1e-9  # the chance of what the method can do, where no run did it


class _Swap(Perturbation):
    """What both methods share: values of a column are exchanged between rows of a cell, by rank."""

    kinds: ClassVar[frozenset[Kind]] = frozenset({"number", "date", "time"})
    new_values: ClassVar[Promise] = "permuted"

    @abstractmethod
    def reach(self, rows: int) -> int:
        """By how many ranks values move, at most or at least, in a cell with so many known values."""

    @abstractmethod
    def swapped(self, reach: int, words: Words) -> Rows:
        """For each rank, the rank whose value it receives."""

    @abstractmethod
    def law(self, rows: int) -> "RankLaw":
        """How probable ranks are to receive each other's values."""

    @abstractmethod
    def out_of_reach(self, own: "_Ranks", new: "_Ranks", reach: int) -> int:
        """How many rows have a value of a rank that they cannot have."""

    @property
    def why_fixed(self) -> str:
        """Nearly every value within reach is the same."""
        return methods()("fixed-cell")

    @property
    def scope(self) -> Scope:
        """The whole cell is needed for ranks."""
        return "cell"

    def fit(self, part: Chunk) -> Summary:
        """The known values of each column, and their cells."""
        return {c.name: (part.cells.label[~c.missing], c.values[~c.missing]) for c in part.columns}

    def merge(self, one: Summary, other: Summary) -> Summary:
        """Put them together."""
        return {name: tuple(map(np.concatenate, zip(one[name], other[name], strict=True))) for name in one}

    def finalize(self, summary: Summary, cells: Cells) -> Summary:
        """The sorted values of each cell."""
        return {name: _Sorted.of(label, values, cells.count) for name, (label, values) in summary.items()}

    def change(self, part: Chunk, summary: Summary, draws: Draws) -> Mapping[str, Changed]:
        """Exchange the values of each column, independently of the other columns."""
        changed = {}
        for column in part.columns:
            known = np.flatnonzero(~column.missing)
            mine = draws.sub(column.name)
            label, rows = part.cells.label[known], part.rows[known]
            order = known[_order(label, column.values[known], mine.words(rows))]  # equal values in random order
            source = np.arange(len(part))
            words = mine.words(part.rows[order], attempt=1)
            for start, end in _runs(part.cells.label[order]):
                here = order[start:end]
                source[here] = here[self.swapped(self.reach(end - start), words[start:end])]
            changed[column.name] = Changed(column.values[source], part.rows[source])
        return changed

    def violations(self, before: Chunk, after: Mapping[str, Array]) -> tuple[str, ...]:
        """Sentences about cells with other values than before, values out of reach, and missing values that moved."""
        found = []
        for column in before.columns:
            new, label = after[column.name], before.cells.label
            if missing_moved(column, new):
                found.append(f"column {column.name!r}: missing values moved")
            elif not same_values(label, column.values, new):
                found.append(f"column {column.name!r}: a cell lost or gained values")
            elif out := self._out_of_reach(column, new, label):
                found.append(f"column {column.name!r}: {out} values come from ranks that are out of reach")
        return tuple(found)

    def likelihood(self, part: Chunk, released: Mapping[str, Array], summary: Summary) -> Floats:
        """The product over columns of the chance that a rank of the own value receives one of the released value."""
        total = np.ones(len(part))
        for column in part.columns:
            new = released[column.name]
            total[column.missing != np.isnan(new)] = 0.0
            known = np.flatnonzero(~column.missing & ~np.isnan(new))
            label, own = part.cells.label[known], column.values[known]
            total[known] *= self._chance(summary[column.name], label, own, new[known])
        return total

    def _chance(self, ranked: "_Sorted", label: Rows, own: Floats, new: Floats) -> Floats:
        found = np.zeros(len(own))
        for cell in np.unique(label):
            here = np.flatnonzero(label == cell) if ranked.cells > 1 else np.arange(len(own))
            values = ranked.of_cell(int(cell))
            if len(values):
                before, after = _Ranks.of(values, own[here]).at_least_one(len(values)), _Ranks.of(values, new[here])
                found[here] = self.law(len(values)).chance(before, after)
        return found

    def _out_of_reach(self, column: Column, new: Array, label: Rows) -> int:
        known = np.flatnonzero(~column.missing)
        ranked = _Sorted.of(label[known], column.values[known], int(label.max(initial=0)) + 1)
        count = 0
        for cell in range(ranked.cells):
            here = known[label[known] == cell] if ranked.cells > 1 else known
            values = ranked.of_cell(cell)
            own, new_ranks = (_Ranks.of(values, some[here]) for some in (column.values, new))
            count += self.out_of_reach(own, new_ranks, self.reach(len(values)))
        return count


@perturbation("rank-swap")
@dataclass(frozen=True)
class RankSwap(_Swap):
    """Swap each number with a random one among the next ranks: at most a share of the known values of its cell away.

    From the lowest rank, each value that is not swapped yet swaps with a random one of those above it within the
    window that are not swapped either. Equal values are ranked in random order, missing values stay. If the number of
    values is odd, one stays where it is. The window is at least two ranks.

    Parameters
    ----------
    window : float, default 0.1
        The largest difference of ranks, as a share of the known values of a cell.

    Examples
    --------
    >>> import leafcover as lc
    >>> table = lc.read(lc.sample("cps1985"))
    >>> step = lc.Step(["age", "wage"], within=lc.Whole(), perturb=lc.RankSwap(window=0.05))
    >>> release = lc.release(table, lc.Plan(step), seed=7)
    >>> sorted(release.table["wage"].values) == sorted(table["wage"].values)
    True
    """

    frozen_id: ClassVar[str] = "rank-swap"
    window: float = 0.1

    def __post_init__(self) -> None:
        if not 0 < self.window <= 1:
            raise ValueOutOfRange("RankSwap.window", self.window, "a share of the ranks, above 0 and at most 1")

    def describe(self, *, detailed: bool = True) -> str:
        """What happens to a value."""
        return methods()("rank-swap", window=f"{100 * self.window:g}" if detailed else "none")

    @property
    def guarantees(self) -> tuple[str, ...]:
        """The guarantees."""
        return (
            "each cell holds the same values as before",
            "no value moves out of its window",
            "missing stays missing",
        )

    def reach(self, rows: int) -> int:
        """The window in ranks."""
        return max(2, int(self.window * rows))

    def swapped(self, reach: int, words: Words) -> Rows:
        """Each rank with one of its window."""
        from leafcover.kernels.swapping import swap_near

        source = np.empty(len(words), np.int64)
        swap_near(reach, words, source)
        return source

    def law(self, rows: int) -> "RankLaw":
        """Counted in windows of a few ranks."""
        return law_of_near(rows, min(self.reach(rows), max(rows - 1, 1)))

    def out_of_reach(self, own: "_Ranks", new: "_Ranks", reach: int) -> int:
        """Values whose nearest ranks are further away than the window."""
        apart = np.maximum(new.first - (own.end - 1), own.first - (new.end - 1))
        return int((apart > reach).sum())


@perturbation("bounded-swap")
@dataclass(frozen=True)
class BoundedSwap(_Swap):
    """Swap each number with a random one of its cell that is at least some ranks away.

    Values are taken in random order. Equal values are ranked in random order, missing values stay. Of an odd number,
    three swap in a ring. In a cell with fewer than twice as many values, the distance is half their number.

    Parameters
    ----------
    distance : int, default 5
        The smallest difference of ranks.

    Examples
    --------
    >>> import leafcover as lc
    >>> table = lc.read(lc.sample("cps1985"))
    >>> step = lc.Step("wage", within=lc.Halves(["age", "wage"], fewer_than=20), perturb=lc.BoundedSwap(distance=5))
    >>> release = lc.release(table, lc.Plan(step), seed=7)
    >>> sorted(release.table["wage"].values) == sorted(table["wage"].values)
    True
    """

    frozen_id: ClassVar[str] = "bounded-swap"
    distance: int = 5

    def __post_init__(self) -> None:
        if self.distance < 1:
            raise ValueOutOfRange("BoundedSwap.distance", self.distance, "a number of ranks, at least 1")

    def describe(self, *, detailed: bool = True) -> str:
        """What happens to a value."""
        return methods()("bounded-swap", distance=self.distance if detailed else 0)

    @property
    def guarantees(self) -> tuple[str, ...]:
        """The guarantees."""
        far = "each value comes from a rank at least the distance away, or half of its cell"
        return ("each cell holds the same values as before", far, "missing stays missing")

    def reach(self, rows: int) -> int:
        """The distance in ranks."""
        return min(self.distance, rows // 2)

    def swapped(self, reach: int, words: Words) -> Rows:
        """Each rank with a far one."""
        from leafcover.kernels.swapping import swap_far

        free, source = np.empty((2, len(words)), np.int64)
        swap_far(reach, words, free, source)
        return source

    def law(self, rows: int) -> "RankLaw":
        """Counted in cells of a few ranks."""
        return law_of_far(rows, self.reach(rows))

    def out_of_reach(self, own: "_Ranks", new: "_Ranks", reach: int) -> int:
        """Values whose furthest ranks are nearer than the distance."""
        apart = np.maximum(new.end - 1 - own.first, own.end - 1 - new.first)
        return int((apart < reach).sum())


class _Ranks(NamedTuple):
    """The ranks of values among sorted ones: from ``first``, below ``end``."""

    first: Rows
    end: Rows

    @classmethod
    def of(cls, values: Floats, some: Floats) -> "_Ranks":
        distinct, place = np.unique(some, return_inverse=True)
        place = place.ravel()
        first, end = (np.searchsorted(values, distinct, side)[place] for side in ("left", "right"))
        return cls(first.astype(np.int64), end.astype(np.int64))

    def at_least_one(self, count: int) -> "_Ranks":
        """A value that nobody has gets the rank where it would stand: attackers ask about people of other tables."""
        first = np.minimum(self.first, count - 1)
        return _Ranks(first, np.maximum(self.end, first + 1))


class _Sorted(NamedTuple):
    """The sorted known values of each cell, one cell after the other."""

    values: Floats
    starts: Rows

    @classmethod
    def of(cls, label: Rows, values: Floats, count: int) -> "_Sorted":
        ordered = np.sort(values) if count == 1 else values[np.lexsort((values, label))]
        starts = np.concatenate([[0], np.cumsum(np.bincount(label, minlength=count))])
        return cls(ordered, starts.astype(np.int64))

    @property
    def cells(self) -> int:
        """The number of cells."""
        return len(self.starts) - 1

    def of_cell(self, cell: int) -> Floats:
        """The sorted values of a cell."""
        return self.values[self.starts[cell] : self.starts[cell + 1]]


def _order(label: Rows, values: Floats, words: Words) -> Rows:
    """The order of values in each cell, equal ones by their random words."""
    if not len(label) or (label == label[0]).all():
        order = np.argsort(words)
        return order[np.argsort(values[order], kind="stable")]
    return np.lexsort((words, values, label))


def _runs(label: Rows) -> list[tuple[int, int]]:
    """The start and end of each run of equal labels."""
    ends = [*(np.flatnonzero(np.diff(label)) + 1).tolist(), len(label)] if len(label) else []
    return list(zip([0, *ends[:-1]], ends, strict=True)) if ends else []


@dataclass(frozen=True, eq=False)
class RankLaw:
    """How probable each rank is to receive the value of another one."""

    ranks: int
    reach: int  # ranks that a value moves at most
    farther: int  # and at least, if it moves
    up: Floats = field(repr=False)  # (rows, width + 1) the chance to receive from at most so far above, on a scale
    down: Floats = field(repr=False)
    stay: Floats = field(repr=False)

    def chance(self, own: _Ranks, new: _Ranks) -> Floats:
        """The chance that a random rank of an own value receives a rank of a new one."""
        from leafcover.kernels.swapping import chance_of_ranks

        found = np.empty(len(own.first))
        is_near = self.farther == 0
        chance_of_ranks(
            *own, *new, self.ranks, self.reach, is_near, self.up, self.down, self.stay, RANKS_OF_VALUE, found
        )
        far = np.maximum(new.end - 1 - own.first, own.end - 1 - new.first)
        near = np.maximum(new.first - (own.end - 1), own.first - (new.end - 1))
        possible = (new.end > new.first) & (far >= self.farther) & (near <= self.reach)
        return np.where(possible, np.maximum(found, LEAST), 0.0)


@lru_cache(maxsize=256)
def law_of_near(ranks: int, window: int) -> RankLaw:
    """The law of rank swapping."""
    width = min(window, FINE_REACH)
    rows = min(round(ranks * width / window), FINE_WIDTHS * width) if ranks > FINE_WIDTHS * width else ranks
    rows += (rows + ranks) % 2  # an odd number of ranks leaves one where it is
    return _law(ranks, window, 0, _counted(rows, width, True), width)


@lru_cache(maxsize=256)
def law_of_far(ranks: int, distance: int) -> RankLaw:
    """The law of bounded swapping."""
    rows = ranks if ranks <= FINE_RANKS else FINE_RANKS + ranks % 2
    far = min(max(1, round(distance * rows / max(ranks, 1))), rows // 2)
    return _law(ranks, ranks, distance, _counted(rows, far, False), rows)


def _law(ranks: int, reach: int, farther: int, chances: Floats, width: int) -> RankLaw:
    rows = len(chances)
    padded = np.pad(chances, ((0, 0), (width, width)))
    own = np.arange(rows)[:, None] + width
    steps = np.arange(1, width + 1)
    every = np.arange(rows)[:, None]
    up, down = (np.cumsum(padded[every, at], axis=1) for at in (own + steps, own - steps))
    up, down = (np.pad(chance, ((0, 0), (1, 0))) for chance in (up, down))
    return RankLaw(ranks, reach, farther, up, down, np.diag(chances).copy())


@lru_cache(maxsize=64)
def _counted(rows: int, reach: int, is_near: bool) -> Floats:
    """(rows, rows) how often each rank receives each other one's value: symmetric, and smoothed far from the ends."""
    from leafcover.kernels.swapping import count_sources

    runs = max((RUNS_NEAR if is_near else RUNS_FAR) // max(rows, 1), 1)
    counts, memory = np.zeros((rows, rows)), np.empty((2, rows), np.int64)
    count_sources(reach, is_near, runs, np.empty(rows, np.uint64), *memory, counts)
    found = (counts + counts.T) / (2 * runs)
    if not is_near:
        return (found + found[::-1, ::-1]) / 2
    for step in range(1, reach + 1):  # a rank's chances depend on how far the lowest and the highest one are
        for start in (4 * reach, 4 * reach + 1):  # even and odd ranks apart
            at = np.arange(start, rows - reach, 2)
            if len(at):
                found[at, at + step] = found[at + step, at] = found[at, at + step].mean()
    return found
