"""Who looks alike: rows with the same values in some columns stand in one class.

A row is known by a 64-bit mark of its values. Two different rows share one by accident with a probability of about
1 in 10^19, and any two of a million rows with one below 10^-7: in practice the classes are exact.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from leafcover.errors import ValueOutOfRange
from leafcover.fast.arrays import Array, Bools, Floats, Rows, Words
from leafcover.measuring.pair import Pair
from leafcover.measuring.sampling import some_rows
from leafcover.table.table import Column, Table

MISSING_MARK = np.int64(np.iinfo(np.int64).min)  # no code, and the bits of no number but -0.0, which is written as 0.0
MOST_MATCHES = 10_000_000  # rows times patterns of missing values for which "missing matches all" is worked out for all
PEOPLE = 300  # who are asked one by one beyond that
MOST_PATTERNS = 64


class Classes(NamedTuple):
    """Rows by class."""

    label: Rows  # (rows,) the class of each row
    size: Rows  # (classes,)

    @property
    def of_row(self) -> Rows:
        """How many rows stand in each row's class, itself counted."""
        return self.size[self.label]


def chosen_keys(pair: Pair, columns: Sequence[str] = (), *, without: Sequence[str] = ()) -> tuple[str, ...]:
    """The columns an attacker is taken to know: those named, else the pair's keys."""
    return tuple(name for name in (tuple(columns) or pair.keys) if name not in without)


def classes_of(table: Table, columns: Sequence[str], *, bins: int = 0, like: Table | None = None) -> Classes:
    """Rows alike in all these columns; a missing value is a value of its own.

    With ``bins`` numbers are first cut into so many parts of about equal counts; ``like`` is the table that says where.
    """
    return grouped(row_marks(table, columns, bins=bins, like=like))


def row_marks(table: Table, columns: Sequence[str], *, bins: int = 0, like: Table | None = None) -> Words:
    """A mark of each row's values in these columns; rows of two tables with the same values have the same."""
    total = np.zeros(len(table), np.uint64)
    for mark in column_marks(table, columns, bins=bins, like=like):
        total += mark
    return total


def grouped(marks: Words) -> Classes:
    """Rows with the same mark stand together."""
    _, label, size = np.unique(marks, return_inverse=True, return_counts=True)
    return Classes(label.astype(np.int64), size.astype(np.int64))


def column_marks(table: Table, columns: Sequence[str], *, bins: int = 0, like: Table | None = None) -> Iterator[Words]:
    """A mark of each row's value, column by column; their sum marks the row."""
    if bins < 0 or bins == 1:
        raise ValueOutOfRange("bins", bins, "0 for numbers as they are, or at least 2")
    source = table if like is None else like
    return (_mixed(_bits(table[name], source[name], bins), place) for place, name in enumerate(columns))


def matching_sizes(
    table: Table, columns: Sequence[str], *, bins: int = 0, like: Table | None = None
) -> tuple[Rows, Rows]:
    """People (all, or a sample) and with how many rows each may be confused if a missing value may be anything.

    Two rows match when they are equal in every column that both know. It is no equivalence: a may match b and b match
    c though a and c differ.
    """
    known = np.array([~table[name].missing for name in columns]).reshape(len(columns), len(table))
    if known.all():
        return np.arange(len(table)), classes_of(table, columns, bins=bins, like=like).of_row
    marks = np.empty(known.shape, np.uint64)
    which = np.zeros(len(table), np.uint64)  # columns are known, as a mark
    for c, mark in enumerate(column_marks(table, columns, bins=bins, like=like)):
        marks[c] = mark
        which += _mixed(known[c], c)
    patterns = grouped(which)
    count = len(patterns.size)
    if count <= MOST_PATTERNS and count * len(table) <= MOST_MATCHES:
        return np.arange(len(table)), _by_pattern(marks, known, patterns)
    people = some_rows(len(table), PEOPLE)
    return people, _one_by_one(marks, known, people)


def _by_pattern(marks: Words, known: Bools, patterns: Classes) -> Rows:
    """Rows with the same columns missing, against each other such set: a count of equal marks of what both know."""
    found = np.zeros(marks.shape[1], np.int64)
    parts = [np.flatnonzero(patterns.label == p) for p in range(len(patterns.size))]
    for ours in parts:
        for theirs in parts:
            both = np.flatnonzero(known[:, ours[0]] & known[:, theirs[0]])
            values, counts = np.unique(summed(marks, both, theirs), return_counts=True)
            wanted = summed(marks, both, ours)
            place = np.minimum(np.searchsorted(values, wanted), len(values) - 1)
            found[ours] += np.where(values[place] == wanted, counts[place], 0)
    return found


def _one_by_one(marks: Words, known: Bools, people: Rows) -> Rows:
    """For each person the rows that are left after one column after the other, the most telling first."""
    telling = sorted(range(len(marks)), key=lambda c: -len(np.unique(marks[c][people])))
    found = np.zeros(len(people), np.int64)
    for i, person in enumerate(people):
        rows: Rows | slice = slice(None)
        left = marks.shape[1]
        for c in telling:
            if not known[c, person]:
                continue
            alike = np.flatnonzero((marks[c][rows] == marks[c][person]) | ~known[c][rows])
            rows = alike if isinstance(rows, slice) else rows[alike]
            left = len(rows)
        found[i] = left
    return found


def summed(marks: Words, columns: Sequence[int] | Rows, rows: Rows) -> Words:
    """The marks of some rows over some columns."""
    total = np.zeros(len(rows), np.uint64)
    for c in columns:
        total += marks[c][rows]
    return total


def _bits(column: Column, source: Column, bins: int) -> Array:
    """The values as whole numbers, equal exactly when the values are."""
    if column.is_category:
        return np.where(column.missing, MISSING_MARK, column.values.astype(np.int64))
    if bins:
        known: Floats = source.values[~source.missing]
        shares = np.arange(1, bins) / bins
        cuts = np.unique(np.quantile(known, shares, method="inverted_cdf")) if len(known) else known
        return np.where(column.missing, MISSING_MARK, np.searchsorted(cuts, column.values, side="left"))
    return np.where(column.missing, MISSING_MARK, (column.values + 0.0).view(np.int64))


def _mixed(bits: Array, place: int) -> Words:
    """The finaliser of SplitMix64 (Steele, Lea and Flood 2014) of each value, different for each column."""
    x = bits.astype(np.int64).view(np.uint64) + np.uint64((place + 1) * 0x9E3779B97F4A7C15 % 2**64)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    mixed: Words = x ^ (x >> np.uint64(31))
    return mixed
