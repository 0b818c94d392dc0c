"""Heaps: values that many rows share, such as a legal limit, a rounded guess or a code for "none".

Noise spreads a heap and swapping keeps it. Internal: heaps are values of the original. Exact; needs no pairs.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from leafcover.fast.arrays import Floats
from leafcover.measuring.pair import Pair
from leafcover.measuring.utility.differences import Change, Differences, differences
from leafcover.measuring.utility.units import known
from leafcover.table.table import Column

LEAST = 0.05  # a value held by a larger share of all rows is a heap


@dataclass(frozen=True)
class Heap:
    """A value of a number that more than 5 % of the rows of either table hold. Internal."""

    column: str
    value: float
    share: Change  # of all rows


@dataclass(frozen=True)
class Heaps:
    """Every heap, and how its share changed. Internal."""

    heaps: tuple[Heap, ...]
    differences: Differences  # of shares; nan when no number has a heap
    gone: int  # heaps of the original that are none in the release
    new: int  # heaps of the release that are none in the original
    rows: int  # of each table: every row is used


def heaps(pair: Pair) -> Heaps:
    """Find the heaps of every number in both tables."""
    found = tuple(heap for name in pair.numbers for heap in heaps_of(pair.original[name], pair.released[name]))
    return Heaps(
        found,
        differences(heap.share.difference for heap in found),
        sum(heap.share.after <= LEAST for heap in found),
        sum(heap.share.before <= LEAST for heap in found),
        len(pair.original),
    )


def heaps_of(original: Column, released: Column) -> tuple[Heap, ...]:
    """The heaps of one number, lowest value first."""
    before, after = Shares.of(original), Shares.of(released)
    values = np.union1d(before.values[before.shares > LEAST], after.values[after.shares > LEAST])
    return tuple(Heap(original.name, value, Change(before.at(value), after.at(value))) for value in values.tolist())


class Shares(NamedTuple):
    """Each value of a column, in order, and the share of all rows that hold it."""

    values: Floats
    shares: Floats

    @staticmethod
    def of(column: Column) -> "Shares":
        """Count a column."""
        values, counts = np.unique(known(column.values), return_counts=True)
        return Shares(values, counts / len(column))

    def at(self, value: float) -> float:
        """The share of rows that hold a value."""
        place = int(np.searchsorted(self.values, value))
        return float(self.shares[place]) if place < len(self.values) and self.values[place] == value else 0.0
