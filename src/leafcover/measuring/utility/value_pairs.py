"""Pairs of values that only one table shows: combinations a release made up, and combinations it lost.

A widow of four years looks wrong, whatever the means say. Looked at are categories and numbers with few distinct
values, in every pair of columns, over rows where both have a value. Exact, since a pair is new only when no row of
the original has it; where columns are many, a fixed choice of their pairs. Needs no pairs of rows. Shows names of
columns and counts, no values.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from leafcover.fast.arrays import Array, Codes, Floats
from leafcover.measuring.pair import Pair
from leafcover.measuring.utility.associations import DENSE, SMALL
from leafcover.measuring.utility.column_pairs import MOST, column_pairs
from leafcover.measuring.utility.differences import worst_mean
from leafcover.measuring.utility.units import known

FEW = 20  # distinct values, of both tables together, up to which a number is looked at
MOST_WORK = 250_000_000  # pairs of columns times rows; beyond that fewer pairs are looked at


@dataclass(frozen=True)
class ColumnPair:
    """What two columns show together in one table alone."""

    first: str
    second: str
    new: int  # pairs of values in the release alone
    new_rows: int  # released rows that show them
    lost: int  # pairs of values in the original alone
    lost_rows: int  # original rows that show them


@dataclass(frozen=True)
class ValuePairs:
    """New and lost pairs of values. Shares are of rows; 0 where no two columns could be looked at."""

    new: int  # pairs of values in the release alone, over all pairs of columns
    rows_with_new: float  # share of released rows that show at least one
    new_a_row: float  # how many a released row shows, on average
    new_in_worst_rows: float  # how many the worst 1 % of released rows show, on average
    lost: int
    rows_with_lost: float  # share of original rows that show at least one
    entries: tuple[ColumnPair, ...]  # pairs of columns with any, most rows with new pairs first
    columns: tuple[str, ...]  # looked at
    pairs: int  # pairs of columns looked at
    of_pairs: int
    rows: int  # of each table: every row is used

    def worst(self, many: int = 5) -> tuple[ColumnPair, ...]:
        """The pairs of columns with the most rows that show a new pair of values."""
        return tuple(entry for entry in self.entries[:many] if entry.new)


class Coded(NamedTuple):
    """One column of both tables as codes, -1 where missing, and how many codes there are."""

    before: Codes
    after: Codes
    size: int


def value_pairs(pair: Pair, *, most_pairs: int = MOST, most_work: int = MOST_WORK) -> ValuePairs:
    """Count the pairs of values that one table alone shows."""
    coded = {name: found for name in pair.names if name != pair.weight and (found := _coded(pair, name)) is not None}
    ours, theirs = len(pair.original), len(pair.released)
    pairs = column_pairs(coded, min(most_pairs, 2 * most_work // (ours + theirs)))
    new, lost = np.zeros(theirs), np.zeros(ours)  # of each row
    entries = []
    for one, two in pairs:
        before, after, size = _joint(coded[one], coded[two])
        counts, counts_after = np.bincount(before, minlength=size), np.bincount(after, minlength=size)
        added, gone = (counts == 0) & (counts_after > 0), (counts > 0) & (counts_after == 0)
        added[0] = gone[0] = False  # where one of the two is missing
        if added.any():
            new += added[after]
        if gone.any():
            lost += gone[before]
        if added.any() or gone.any():
            shown, hidden = int(counts_after[added].sum()), int(counts[gone].sum())
            entries.append(ColumnPair(one, two, int(added.sum()), shown, int(gone.sum()), hidden))
    return ValuePairs(
        sum(entry.new for entry in entries),
        float((new > 0).mean()),
        float(new.mean()),
        worst_mean(new),
        sum(entry.lost for entry in entries),
        float((lost > 0).mean()),
        tuple(sorted(entries, key=lambda e: (-e.new_rows, -e.lost_rows, e.first, e.second))),
        tuple(sorted(coded)),
        len(pairs),
        len(coded) * (len(coded) - 1) // 2,
        ours,
    )


def _coded(pair: Pair, name: str) -> Coded | None:
    """A column as codes; None for a number with many distinct values."""
    before, after = pair.original[name], pair.released[name]
    if before.is_category:
        return Coded(before.values, after.values, len(before.levels))
    found: Floats = np.unique(known(before.values))
    if len(found) <= FEW:
        found = np.union1d(found, known(after.values))
    if len(found) > FEW:
        return None
    return Coded(_codes(before.values, found), _codes(after.values, found), len(found))


def _codes(values: Floats, found: Floats) -> Codes:
    codes = np.searchsorted(found, values).astype(np.int32)  # nan sorts last
    codes[np.isnan(values)] = -1
    return codes


def _joint(first: Coded, second: Coded) -> tuple[Array, Array, int]:
    """Both columns as one code, 0 where either is missing; codes are closed up where they would be too many."""
    before, after = (
        np.where((a >= 0) & (b >= 0), a.astype(np.int64) * second.size + b + 1, 0)
        for a, b in ((first.before, second.before), (first.after, second.after))
    )
    size = first.size * second.size + 1
    if size <= max(DENSE * len(before), SMALL):
        return before, after, size
    found, codes = np.unique(np.concatenate([[0], before, after]), return_inverse=True)
    return codes[1 : len(before) + 1], codes[len(before) + 1 :], len(found)
