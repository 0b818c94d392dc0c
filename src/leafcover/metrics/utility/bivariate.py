"""Associations between two columns before and after, and pairs of values that only one table has.

Associations are covariance and correlation of numbers, Cramér's V of categories, and the correlation ratio of a number
on a category, over the rows with a value in both columns, in each table separately. They need no pairs of rows, and
show names of columns and figures, no value of the original.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb
from typing import Literal, NamedTuple, TypeAlias

import numpy as np

from leafcover.arrays import Array, Codes, Floats, Rows
from leafcover.metrics.pair import Pair, coverage_note, sample_rows
from leafcover.metrics.utility.univariate import Differences, differences, in_units, known, mean, unit, worst_mean

# The association of two columns: arrays in, one figure out, over the rows with a value in both.
#
# A constant column has no association: its figure is 0.


DENSE = 4  # cells for each row up to which a contingency table is dense; a larger one is counted by sorting
SMALL = 65_536  # cells that are always counted directly


class Association(NamedTuple):
    """Covariance (n - 1) and Pearson's correlation of two numbers."""

    covariance: float
    correlation: float


class Centred(NamedTuple):
    """A number minus its mean, and the root of its sum of squares; nan where missing."""

    values: Floats
    complete: bool
    size: float


def centred(values: Floats) -> Centred:
    """Prepare a number for many associations; exactly 0 if all of its values are equal."""
    missing = np.isnan(values)
    complete = not missing.any()
    there = values if complete else values[~missing]
    if not len(there) or there.min() == there.max():
        return Centred(np.where(missing, np.nan, 0.0), complete, 0.0)
    less = values - there.mean()
    known = less if complete else less[~missing]
    return Centred(less, complete, float(np.sqrt(known @ known)))


def association(first: Centred, second: Centred) -> Association:
    """Covariance and correlation over rows where both are known; 0 and 0 if there are fewer than two.

    >>> one, other = np.array([1.0, 2.0, 2.0, 3.0, np.nan]), np.array([0.0, 1.0, -1.0, 0.0, 8.0])
    >>> association(centred(one), centred(other))
    Association(covariance=0.0, correlation=0.0)
    """
    if not (first.complete and second.complete):
        both = ~(np.isnan(first.values) | np.isnan(second.values))
        first, second = centred(first.values[both]), centred(second.values[both])
    rows = len(first.values)
    if rows < 2 or not first.size or not second.size:
        return Association(0.0, 0.0)
    product = float(first.values @ second.values)
    return Association(product / (rows - 1), min(1.0, max(-1.0, product / first.size / second.size)))


def correlation(first: Floats, second: Floats) -> float:
    """Pearson's correlation over rows where both are known."""
    return association(centred(first), centred(second)).correlation


def cramers_v(first: Codes, second: Codes, levels: int | None = None) -> float:
    """Cramér's V of two categories, not corrected for chance: V² = χ² / (n · (smaller number of levels - 1)).

    It grows with the number of levels even without association, in the original as in the release. Levels count if they
    occur in any row: if a single person decided whether a level occurs where the other column is known, V would jump.
    For the same reason a release is compared with the smaller number of ``levels`` of its original.

    >>> cramers_v(np.array([0, 0, 1, 1], np.int32), np.array([1, 1, 0, 0], np.int32))
    1.0
    """
    places, counts, width = joint_counts(first, second)
    if not len(counts):
        return 0.0
    rows, columns = (
        np.unique(places // width, return_inverse=True)[1],
        np.unique(places % width, return_inverse=True)[1],
    )
    ours, theirs = np.bincount(rows, weights=counts), np.bincount(columns, weights=counts)
    fewer = (smaller_levels(first, second) if levels is None else levels) - 1
    if fewer < 1:
        return 0.0
    # χ²/n = Σ O²/(R·C) - 1 over the cells that are not empty
    square = float((counts / ours[rows] * (counts / theirs[columns])).sum()) - 1
    return float(np.sqrt(min(1.0, max(0.0, square / fewer))))


def smaller_levels(first: Codes, second: Codes) -> int:
    """How many levels occur in the column that has fewer of them."""
    return min(int(np.count_nonzero(np.bincount(codes + 1)[1:])) for codes in (first, second))


def joint_counts(first: Codes, second: Codes) -> tuple[Array, Array, int]:
    """The non-empty cells of the contingency table (first · width + second), their counts, the width."""
    width = int(second.max(initial=0)) + 2
    cells = (int(first.max(initial=0)) + 2) * width
    codes = (first.astype(np.int64) + 1) * width + (second + 1)  # 0 stands for missing
    if cells <= max(DENSE * len(codes), SMALL):
        counts = np.bincount(codes, minlength=cells)
        places = np.flatnonzero(counts)
        counts = counts[places]
    else:
        places, counts = np.unique(codes, return_counts=True)
    whole = (places >= width) & (places % width > 0)
    return places[whole], counts[whole], width


def correlation_ratio(codes: Codes, number: Centred) -> float:
    """The correlation ratio η of a number on a category: η² = variation between levels / total variation.

    >>> correlation_ratio(np.array([0, 0, 1, 1], np.int32), centred(np.array([1.0, 1.0, 5.0, 5.0])))
    1.0
    """
    if not number.complete or codes.min(initial=0) < 0:
        both = (codes >= 0) & ~np.isnan(number.values)
        codes, number = codes[both], centred(number.values[both])
    if not number.size:
        return 0.0
    counts = np.bincount(codes)
    sums = np.bincount(codes, weights=number.values)
    used = counts > 0
    between = float((sums[used] / number.size * (sums[used] / number.size) / counts[used]).sum())
    return float(np.sqrt(min(1.0, between)))


# Which pairs of columns are compared: all of them, or a fixed choice if there are too many.
#
# The choice depends on the names only, so neither the order of columns nor of rows can change it.


MOST = comb(60, 2)  # all pairs of 60 columns


def column_pairs(names: Iterable[str], most: int = MOST) -> tuple[tuple[str, str], ...]:
    """Pairs of names, each in alphabetical order.

    >>> column_pairs(["town", "age", "job"])
    (('age', 'job'), ('age', 'town'), ('job', 'town'))
    """
    every = list(combinations(sorted(names), 2))
    return tuple(every[i] for i in sample_rows(len(every), max(most, 1)))


MOST_WORK = 250_000_000  # pairs of columns times rows; beyond that a sample of rows is used

Figure = Literal["correlation", "covariance", "Cramér's V", "correlation ratio"]
Ready: TypeAlias = Centred | Codes


@dataclass(frozen=True)
class Relation:
    """One association of two columns. Covariances are divided by both standard deviations of the original."""

    first: str
    second: str
    figure: Figure
    before: float
    after: float

    @property
    def difference(self) -> float:
        """The figure of the release minus that of the original."""
        return self.after - self.before


@dataclass(frozen=True)
class Relations:
    """Every association, and a summary of the differences; nan if there is no such pair of columns."""

    entries: tuple[Relation, ...]
    every: Differences  # correlations, Cramér's V and correlation ratios together
    correlations: Differences
    covariances: Differences
    cramers_v: Differences
    correlation_ratios: Differences
    rows: int  # used
    of: int
    pairs: int  # pairs of columns compared
    of_pairs: int
    how: str

    def worst(self, many: int = 5) -> tuple[Relation, ...]:
        """The associations that changed most, without covariances."""
        found = [entry for entry in self.entries if entry.figure != "covariance"]
        return tuple(sorted(found, key=lambda e: (-abs(e.difference), e.first, e.second))[:many])


def relations(
    pair: Pair, *, columns: Sequence[str] = (), most_pairs: int = MOST, most_work: int = MOST_WORK
) -> Relations:
    """Compare the associations of all pairs of columns, or of those named; without the weight.

    A column that is constant in both tables is left out.
    """
    names = tuple(columns) or tuple(name for name in pair.names if name != pair.weight)
    rows = len(pair.original)
    tried = max(1, min(most_pairs, len(names) * (len(names) - 1) // 2))
    chosen = sample_rows(rows, max(2, most_work // tried))
    values = {name: prepared(pair, name, chosen) for name in names}
    varied = [name for name in names if any(varies(column) for column in values[name])]
    pairs = column_pairs(varied, most_pairs)
    entries = tuple(entry for one, two in pairs for entry in _entries(one, two, values))

    def all_of(*figures: Figure) -> Differences:
        return differences(entry.difference for entry in entries if entry.figure in figures)

    return Relations(
        entries,
        all_of("correlation", "Cramér's V", "correlation ratio"),
        all_of("correlation"),
        all_of("covariance"),
        all_of("Cramér's V"),
        all_of("correlation ratio"),
        len(chosen),
        rows,
        len(pairs),
        len(varied) * (len(varied) - 1) // 2,
        coverage_note(len(chosen), rows),
    )


def prepared(pair: Pair, name: str, rows: Rows) -> tuple[Ready, Ready]:
    """A column of both tables: codes, or centred numbers in standard deviations of the original."""
    before, after = pair.original[name].values, pair.released[name].values
    if len(rows) < len(before):
        before, after = before[rows], after[rows]
    if pair.original[name].is_category:
        return before, after
    ours, theirs = known(before), known(after)
    step = unit(ours, theirs)
    return centred(in_units(before, mean(ours), step)), centred(in_units(after, mean(theirs), step))


def varies(column: Ready) -> bool:
    """Whether a column has two different known values."""
    if isinstance(column, Centred):
        return column.size > 0
    found = column[column >= 0]
    return bool(len(found)) and bool(found.min() < found.max())


def _entries(first: str, second: str, values: dict[str, tuple[Ready, Ready]]) -> list[Relation]:
    levels = levels_of(values[first][0], values[second][0])
    before, after = (figures(one, two, levels) for one, two in zip(values[first], values[second], strict=True))
    return [Relation(first, second, figure, before[figure], after[figure]) for figure in before]


def levels_of(first: Ready, second: Ready) -> int | None:
    """The smaller number of levels of two categories of the original, by which V is divided; None for numbers."""
    return None if isinstance(first, Centred) or isinstance(second, Centred) else smaller_levels(first, second)


def figures(first: Ready, second: Ready, levels: int | None) -> dict[Figure, float]:
    """The associations of two columns of one table, by the levels of the original."""
    if not isinstance(first, Centred):
        if isinstance(second, Centred):
            return {"correlation ratio": correlation_ratio(first, second)}
        return {"Cramér's V": cramers_v(first, second, levels)}
    if not isinstance(second, Centred):
        return {"correlation ratio": correlation_ratio(second, first)}
    found = association(first, second)
    return {"correlation": found.correlation, "covariance": found.covariance}


# Pairs of values that only one table has: combinations that the release invented, and combinations it lost.
#
# A widow of four years is implausible, whatever the means are. Compared are categories and numbers with few distinct
# values, in every pair of columns, over rows with a value in both. Exact, since a pair is new only if no row of the
# original has it; with many columns, a fixed choice of pairs. It needs no pairs of rows, and shows names of columns
# and counts, no values.


FEW = 20  # distinct values in both tables up to which a number is compared


@dataclass(frozen=True)
class ColumnPair:
    """New and lost pairs of values of two columns."""

    first: str
    second: str
    new: int  # pairs of values in the release alone
    new_rows: int  # released rows that have them
    lost: int  # pairs of values in the original alone
    lost_rows: int  # original rows that have them


@dataclass(frozen=True)
class ValuePairs:
    """New and lost pairs of values. Shares are of rows; 0 if no two columns could be compared."""

    new: int  # pairs of values in the release alone, over all pairs of columns
    rows_with_new: float  # share of released rows with at least one
    new_a_row: float  # the mean number in a released row
    new_in_worst_rows: float  # the mean number in the worst 1 % of released rows
    lost: int
    rows_with_lost: float  # share of original rows with at least one
    entries: tuple[ColumnPair, ...]  # pairs of columns with new or lost pairs, most rows with new ones first
    columns: tuple[str, ...]  # compared
    pairs: int  # pairs of columns compared
    of_pairs: int
    rows: int  # of each table: every row is used

    def worst(self, many: int = 5) -> tuple[ColumnPair, ...]:
        """The pairs of columns with the most rows that have a new pair of values."""
        return tuple(entry for entry in self.entries[:many] if entry.new)


class Coded(NamedTuple):
    """One column of both tables as codes, -1 where missing, and how many codes there are."""

    before: Codes
    after: Codes
    size: int


def value_pairs(pair: Pair, *, most_pairs: int = MOST, most_work: int = MOST_WORK) -> ValuePairs:
    """Count the pairs of values that only one table has."""
    coded = {name: found for name in pair.names if name != pair.weight and (found := _coded(pair, name)) is not None}
    ours, theirs = len(pair.original), len(pair.released)
    pairs = column_pairs(coded, min(most_pairs, 2 * most_work // (ours + theirs)))
    new, lost = np.zeros(theirs), np.zeros(ours)  # of each row
    entries = []
    for one, two in pairs:
        before, after, size = _joint(coded[one], coded[two])
        counts, counts_after = np.bincount(before, minlength=size), np.bincount(after, minlength=size)
        added, gone = (counts == 0) & (counts_after > 0), (counts > 0) & (counts_after == 0)
        added[0] = gone[0] = False  # one of the two is missing
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
    """Both columns as one code, 0 where either is missing; codes are compacted if there would be too many."""
    before, after = (
        np.where((a >= 0) & (b >= 0), a.astype(np.int64) * second.size + b + 1, 0)
        for a, b in ((first.before, second.before), (first.after, second.after))
    )
    size = first.size * second.size + 1
    if size <= max(DENSE * len(before), SMALL):
        return before, after, size
    found, codes = np.unique(np.concatenate([[0], before, after]), return_inverse=True)
    return codes[1 : len(before) + 1], codes[len(before) + 1 :], len(found)
