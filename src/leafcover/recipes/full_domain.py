"""Full-domain generalisation: the least coarse levels of some columns that make enough rows equal in them.

Every column has a ladder of recodings, each coarser than the one before. The search finds the combination of steps that
loses least among all that reach k-anonymity but for a share of the rows (Samarati 2001; LeFevre and others 2005; El
Emam and others 2009).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from heapq import heappop, heappush
from math import prod
from typing import TypeAlias

import numpy as np

from leafcover.arrays import Rows, Words
from leafcover.errors import PlanError
from leafcover.recode.base import Recoding
from leafcover.recode.generalise import Generalise, Hierarchy
from leafcover.recode.intervals import Intervals, equal_frequency_edges
from leafcover.recode.numbers import Period, Truncate, as_given
from leafcover.recode.suppress import Suppress
from leafcover.table.table import Column, Table, splitmix64

FINEST = 16  # intervals of a number, which are then joined two by two
RARE = (0.02, 0.1)  # shares below which levels without a hierarchy become "other", step by step
OTHER = "other"
CODE_LENGTHS = (3, 12)  # of levels that are cut character by character
MOST_COMBINATIONS = 5_000_000  # of steps; with more the search is greedy from the beginning
MOST_WORK = 1_000_000_000  # rows that are sorted, in all, before the search becomes greedy: about 20 seconds

TIMES: tuple[Period, ...] = ("day", "month", "year")
DATES: tuple[Period, ...] = ("month", "quarter", "year")
Steps: TypeAlias = tuple[int, ...]  # of each column; 0 leaves it as it is


@dataclass(frozen=True, eq=False)
class Ladder:
    """The recodings of a column, each coarser than the one before; the first step changes nothing."""

    column: str
    recodings: tuple[Recoding, ...]
    codes: tuple[Rows, ...]  # (rows,) the value of each row after each step; a missing value is one of its own
    losses: tuple[float, ...]  # of each step, from 0 to 1

    @property
    def top(self) -> int:
        """The number of the last step."""
        return len(self.recodings)


def ladder_of(table: Table, name: str, hierarchy: Hierarchy | None = None) -> Ladder:
    """The ladder of a column: by its hierarchy, or one that suits its kind."""
    column = table[name]
    chosen: list[Recoding] = []
    codes = [codes_of(column)]
    for one in (*_recodings(column, hierarchy), Suppress(name, every=True)):
        code = codes_of(one.apply(table)[name])
        if code.max(initial=0) < codes[-1].max(initial=0):  # otherwise nothing became equal
            chosen.append(one)
            codes.append(code)
    return Ladder(name, tuple(chosen), tuple(codes), tuple(_loss(code, codes[0]) for code in codes))


def _loss(code: Rows, finest: Rows) -> float:
    """The loss of a step: the mean of the share of information that is lost, and its square.

    So two columns that lose half of their information each are better than one that loses all of it.
    """
    whole = entropy(finest)
    share = 0.0 if whole == 0 else 1 - entropy(code) / whole
    return (share + share**2) / 2


def _recodings(column: Column, hierarchy: Hierarchy | None) -> Iterator[Recoding]:
    """Coarser and coarser recodings of a column, before it is hidden."""
    name, known = column.name, np.sort(column.values[~column.missing])
    if hierarchy is not None:
        for level in range(1, hierarchy.depth + 1):
            yield Generalise(name, groups=tuple(hierarchy.groups(level).items()), others="refuse")
    elif column.is_category:
        yield from _of_levels(column)
    elif column.kind == "time":
        yield from (Truncate(name, period) for period in TIMES)
    elif column.kind == "date" and len(np.unique(known // 365)) > 2:
        yield from (Truncate(name, period) for period in DATES)
    elif len(known) and known[0] < known[-1]:
        edges = equal_frequency_edges(known, FINEST, column)
        while len(edges):
            yield Intervals(name, edges=tuple(as_given(column, float(edge)) for edge in edges))
            edges = edges[1::2]


def _of_levels(column: Column) -> Iterator[Recoding]:
    """Codes are cut character by character; other levels become "other", the rarest first."""
    lengths = {len(level) for level in column.levels}
    low, high = CODE_LENGTHS
    if len(lengths) == 1 and low <= (size := lengths.pop()) <= high and any(c.isdigit() for c in column.levels[0]):
        for prefix in range(size - 1, 0, -1):
            yield Generalise(column.name, prefix=prefix)
        return
    counts = np.bincount(column.values[~column.missing], minlength=len(column.levels))
    for share in RARE:
        rare = [level for level, count in zip(column.levels, counts, strict=True) if count < share * len(column)]
        if len(rare) > 1:
            yield Generalise(column.name, groups=((OTHER, tuple(level for level in rare if level != OTHER)),))


def codes_of(column: Column) -> Rows:
    """A number for each distinct value; a missing value has one, too."""
    values = column.values
    comparable = np.where(column.missing, np.inf, values) if values.dtype.kind == "f" else values
    return np.unique(comparable, return_inverse=True)[1].ravel().astype(np.int64)


def entropy(code: Rows) -> float:
    """The entropy of codes in bits."""
    shares = np.bincount(code) / max(len(code), 1)
    shares = shares[shares > 0]
    return float(-(shares * np.log2(shares)).sum())


@dataclass(frozen=True, eq=False)
class Search:
    """Ladders of some columns, and how many rows may be in classes of fewer than k."""

    ladders: tuple[Ladder, ...]
    k: int
    most: int

    @cached_property
    def words(self) -> tuple[tuple[Words, ...], ...]:
        """For each column and step a random word for the value of each row.

        Rows are equal in all columns if their sums of words are: classes are counted by one sort, in a fifth of the
        time that it takes to number them. The probability that any two of a million sums are equal by chance is 3e-8.
        """
        return tuple(
            tuple(splitmix64(code.astype(np.uint64) + np.uint64(number << 40)) for code in ladder.codes)
            for number, ladder in enumerate(self.ladders)
        )

    def loss(self, steps: Steps) -> float:
        """The mean loss of the columns."""
        return sum(one.losses[step] for one, step in zip(self.ladders, steps, strict=True)) / len(steps)

    def in_small_classes(self, steps: Steps) -> int:
        """How many rows are in classes of fewer than k."""
        total = self.words[0][steps[0]].copy()
        for column, step in zip(self.words[1:], steps[1:], strict=True):
            total += column[step]
        total.sort()
        begin = np.flatnonzero(np.append(True, total[1:] != total[:-1]))
        sizes = np.diff(np.append(begin, len(total)))
        return int(sizes[sizes < self.k].sum())

    def fails(self, steps: Steps) -> bool:
        """Whether too many rows are in small classes."""
        return self.in_small_classes(steps) > self.most

    def best(self) -> Steps:
        """The steps that lose least.

        Whatever is as coarse as a combination that fails, or finer, fails, too. So from a combination that fails the
        search climbs to one that fails although every further step would mend it, and goes on beyond that.
        """
        start = tuple(0 for _ in self.ladders)
        waiting, seen = [(0.0, start)], {start}
        failing = np.empty((0, len(start)), np.int64)
        each = sum(ladder.top for ladder in self.ladders) + len(start)  # combinations that are tried for a climb
        most = max(1, MOST_WORK // (each * max(len(self.ladders[0].codes[0]), 1)))
        if prod(ladder.top + 1 for ladder in self.ladders) > MOST_COMBINATIONS:
            most = 0
        while waiting:
            steps = heappop(waiting)[1]
            over = np.flatnonzero((failing >= steps).all(axis=1))
            if len(over):
                ceiling: Steps = tuple(failing[over[0]].tolist())
            elif not self.fails(steps):
                return steps
            elif len(failing) >= most:
                return self._greedy()
            else:
                ceiling = self._climbed(steps)
                failing = np.vstack([failing, ceiling])
            for column, ladder in enumerate(self.ladders):
                if ceiling[column] < ladder.top:
                    after = (*steps[:column], ceiling[column] + 1, *steps[column + 1 :])
                    if after not in seen:
                        seen.add(after)
                        heappush(waiting, (self.loss(after), after))
        raise PlanError(f"The table has fewer than {self.k} rows, so no recoding makes so many equal. Use a smaller k.")

    def _climbed(self, steps: Steps) -> Steps:
        """A combination that is at least as coarse and fails, of which any further step would mend it."""
        for column, ladder in enumerate(self.ladders):
            while steps[column] < ladder.top:
                after = (*steps[:column], steps[column] + 1, *steps[column + 1 :])
                if not self.fails(after):
                    break
                steps = after
        return steps

    def _greedy(self) -> Steps:
        """Steps that do not fail: as coarse as possible, and then finer again where that gains most."""
        steps: Steps = tuple(ladder.top for ladder in self.ladders)
        while True:
            finer = [
                (self.loss(after), after)
                for column, step in enumerate(steps)
                if step and not self.fails(after := (*steps[:column], step - 1, *steps[column + 1 :]))
            ]
            if not finer:
                return steps
            steps = min(finer)[1]
