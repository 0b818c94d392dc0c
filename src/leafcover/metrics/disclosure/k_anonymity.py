"""Equivalence classes over quasi-identifiers, and k-anonymity, l-diversity and t-closeness of them.

A row is represented by a 64-bit hash of its values. Two different rows collide with a probability of about 1 in 10^19,
and any two of a million rows with one below 10^-7: in practice the classes are exact.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

import numpy as np

from leafcover.arrays import Array, Bools, Floats, Rows, Words
from leafcover.errors import ValueOutOfRange
from leafcover.metrics.estimates import Risk, risk_of, risk_over_keys
from leafcover.metrics.pair import Pair, coverage_note, sample_rows
from leafcover.table.table import Column, Table
from leafcover.table.units import HomogeneousGroups, homogeneous_groups

MISSING_MARK = np.int64(np.iinfo(np.int64).min)  # not a code, nor the bits of a number but -0.0, stored as 0.0
MOST_MATCHES = 10_000_000  # rows times patterns of missing values up to which "missing matches all" is computed for all
PEOPLE = 300  # computed one by one beyond that
MOST_PATTERNS = 64


class EquivalenceClasses(NamedTuple):
    """The equivalence class of each row."""

    label: Rows  # (rows,) the class of each row
    size: Rows  # (classes,)

    @property
    def of_row(self) -> Rows:
        """The size of each row's class, the row itself included."""
        return self.size[self.label]


def chosen_keys(pair: Pair, columns: Sequence[str] = (), *, without: Sequence[str] = ()) -> tuple[str, ...]:
    """The columns that the attacker is assumed to know: those named, or the pair's quasi-identifiers."""
    return tuple(name for name in (tuple(columns) or pair.quasi_identifiers) if name not in without)


def classes_of(table: Table, columns: Sequence[str], *, bins: int = 0, like: Table | None = None) -> EquivalenceClasses:
    """Classes of rows that are equal in all these columns; missing is a value of its own.

    With ``bins`` numbers are first cut into groups of about equal size, at the quantiles of the table ``like``.
    """
    return grouped(row_marks(table, columns, bins=bins, like=like))


def row_marks(table: Table, columns: Sequence[str], *, bins: int = 0, like: Table | None = None) -> Words:
    """A hash of each row's values in these columns, equal for equal rows of two tables."""
    total = np.zeros(len(table), np.uint64)
    for mark in column_marks(table, columns, bins=bins, like=like):
        total += mark
    return total


def grouped(marks: Words) -> EquivalenceClasses:
    """Rows with the same hash are in one class."""
    _, label, size = np.unique(marks, return_inverse=True, return_counts=True)
    return EquivalenceClasses(label.astype(np.int64), size.astype(np.int64))


def column_marks(table: Table, columns: Sequence[str], *, bins: int = 0, like: Table | None = None) -> Iterator[Words]:
    """A hash of each row's value in each column; the hash of the row is their sum."""
    if bins < 0 or bins == 1:
        raise ValueOutOfRange("bins", bins, "0 for numbers that are not grouped, or at least 2")
    source = table if like is None else like
    return (_mixed(_bits(table[name], source[name], bins), place) for place, name in enumerate(columns))


def matching_sizes(
    table: Table, columns: Sequence[str], *, bins: int = 0, like: Table | None = None
) -> tuple[Rows, Rows]:
    """People (all, or a sample) and how many rows each matches if a missing value may be any value.

    Two rows match if they are equal in every column that is known in both. This is not an equivalence: a may match b
    and b match c although a and c differ.
    """
    known = np.array([~table[name].missing for name in columns]).reshape(len(columns), len(table))
    if known.all():
        return np.arange(len(table)), classes_of(table, columns, bins=bins, like=like).of_row
    marks = np.empty(known.shape, np.uint64)
    which = np.zeros(len(table), np.uint64)  # columns are known, as a hash
    for c, mark in enumerate(column_marks(table, columns, bins=bins, like=like)):
        marks[c] = mark
        which += _mixed(known[c], c)
    patterns = grouped(which)
    count = len(patterns.size)
    if count <= MOST_PATTERNS and count * len(table) <= MOST_MATCHES:
        return np.arange(len(table)), _by_pattern(marks, known, patterns)
    people = sample_rows(len(table), PEOPLE)
    return people, _one_by_one(marks, known, people)


def _by_pattern(marks: Words, known: Bools, patterns: EquivalenceClasses) -> Rows:
    """Matches by pattern of missing columns: counts of equal hashes over the columns that both patterns know."""
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
    """For each person the rows that still match after each column, the most selective column first."""
    telling = sorted(range(len(marks)), key=lambda c: -len(np.unique(marks[c][people])))
    found = np.zeros(len(people), np.int64)
    for i, person in enumerate(people):
        rows: Rows | slice = slice(None)
        left = marks.shape[1]
        for c in telling:
            if not known[c, person]:
                continue
            matching = np.flatnonzero((marks[c][rows] == marks[c][person]) | ~known[c][rows])
            rows = matching if isinstance(rows, slice) else rows[matching]
            left = len(rows)
        found[i] = left
    return found


def summed(marks: Words, columns: Sequence[int] | Rows, rows: Rows) -> Words:
    """The hashes of some rows over some columns."""
    total = np.zeros(len(rows), np.uint64)
    for c in columns:
        total += marks[c][rows]
    return total


def _bits(column: Column, source: Column, bins: int) -> Array:
    """The values as integers, equal exactly if the values are."""
    if column.is_category:
        return np.where(column.missing, MISSING_MARK, column.values.astype(np.int64))
    if bins:
        cuts = quantile_cuts(source, bins)
        return np.where(column.missing, MISSING_MARK, np.searchsorted(cuts, column.values, side="left"))
    return np.where(column.missing, MISSING_MARK, (column.values + 0.0).view(np.int64))


def quantile_cuts(column: Column, bins: int) -> Floats:
    """The values that end all groups but the last, if a number is cut into groups of about equal size."""
    known: Floats = column.values[~column.missing]
    shares = np.arange(1, bins) / bins
    return np.unique(np.quantile(known, shares, method="inverted_cdf")) if len(known) else known


def _mixed(bits: Array, place: int) -> Words:
    """The finaliser of SplitMix64 (Steele, Lea and Flood 2014) of each value, different for each column."""
    x = bits.astype(np.int64).view(np.uint64) + np.uint64((place + 1) * 0x9E3779B97F4A7C15 % 2**64)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    mixed: Words = x ^ (x >> np.uint64(31))
    return mixed


# l-diversity and t-closeness: the values of a column within an equivalence class.


@dataclass(frozen=True)
class Diversity:
    """l-diversity: distinct values of a column in a class; 1 discloses the value. Missing values are left out."""

    column: str
    distinct: int  # l, the fewest values in a class; 0 if the column has no value
    entropy: float  # the lowest exp of the entropy of a class: its effective number of values
    told: Risk  # rows whose class has a single value


@dataclass(frozen=True)
class Closeness:
    """t-closeness: the distance of a column's distribution in a class from that in the table, from 0 to 1."""

    column: str
    farthest: float  # t, the largest distance of a class
    mean: float  # over rows
    worst: float  # over the 1 % of rows in the classes with the largest distance


class Spread(NamedTuple):
    """The known values of a column by class."""

    column: str
    ordered: bool  # a number, whose values have an order
    label: Rows  # (rows,) the class of each row
    owner: Rows  # (cells,) a class, ascending
    value: Rows  # (cells,) a value of it, ascending within the class
    share: Floats  # (cells,) of the class's rows
    classes: int
    overall: Floats  # (values,) of the table's rows


def spread_of(column: Column, label: Rows, classes: int) -> Spread:
    """Count values by class."""
    known = ~column.missing
    if column.is_category:
        values, code = len(column.levels), column.values[known].astype(np.int64)
    else:
        found, code = np.unique(column.values[known], return_inverse=True)
        values = len(found)
    label = label[known]
    cells, counts = np.unique(label * max(values, 1) + code, return_counts=True)
    owner, value = cells // max(values, 1), cells % max(values, 1)
    size = np.bincount(label, minlength=classes)
    overall = np.bincount(code, minlength=values) / max(len(code), 1)
    return Spread(column.name, not column.is_category, label, owner, value, counts / size[owner], classes, overall)


def diversity_of(spread: Spread) -> Diversity:
    """Distinct and entropy l-diversity."""
    if not len(spread.label):
        return Diversity(spread.column, 0, 0.0, risk_of(np.zeros(0)))
    distinct = np.bincount(spread.owner, minlength=spread.classes)
    entropy = np.bincount(spread.owner, -spread.share * np.log(spread.share), minlength=spread.classes)
    there = distinct > 0
    disclosed = (distinct == 1)[spread.label].astype(np.float64)
    return Diversity(spread.column, int(distinct[there].min()), float(np.exp(entropy[there].min())), risk_of(disclosed))


def closeness_of(spread: Spread) -> Closeness:
    """The earth mover's distance: over ranks for numbers, with equal distances between levels for categories."""
    if not len(spread.label):
        return Closeness(spread.column, 0.0, 0.0, 0.0)
    distance = _ordered(spread) if spread.ordered else _equal(spread)
    rows = risk_over_keys(np.clip(distance, 0.0, 1.0)[spread.label])
    return Closeness(spread.column, float(distance[spread.owner].max()), rows.value, rows.worst)


def _equal(spread: Spread) -> Floats:
    """Half of the summed differences of shares; values that a class lacks differ by their share in the table."""
    usual = spread.overall[spread.value]
    inside = np.bincount(spread.owner, np.abs(spread.share - usual) - usual, minlength=spread.classes)
    return (inside + 1.0) / 2


def _ordered(spread: Spread) -> Floats:
    """The area between the two cumulative shares over ranks 0..V-2, divided by V-1, for V values in the table.

    A class's cumulative share is flat between its values, so a stretch of ranks is summed at once: with S the running
    sum of the table's cumulative shares Q, and x the rank where Q passes the level c, the stretch a..b-1 gives
    c (2x - a - b) - 2 S(x) + S(a) + S(b).
    """
    last = len(spread.overall) - 1
    if last < 1:
        return np.zeros(spread.classes)
    below = np.cumsum(spread.overall)
    running = np.concatenate([[0.0], np.cumsum(below)])
    first = np.concatenate([[True], np.diff(spread.owner) > 0])
    level = np.cumsum(spread.share)
    level -= np.maximum.accumulate(np.where(first, level - spread.share, 0.0))
    start = spread.value
    stop = np.where(np.append(first[1:], True), last, np.append(start[1:], last))
    passed = np.clip(np.searchsorted(below, level), start, stop)
    area = level * (2 * passed - start - stop) - 2 * running[passed] + running[start] + running[stop]
    area[first] += running[start[first]]  # before its first value the share of the class is 0
    found: Floats = np.bincount(spread.owner, area, minlength=spread.classes) / last
    return found


# k-anonymity, l-diversity and t-closeness over the quasi-identifiers.
#
# Sources: Samarati and Sweeney 1998 (k), Machanavajjhala and others 2007 (l), Li, Li and Venkatasubramanian 2007 (t).
# With many quasi-identifiers nearly every row is unique; name the few that an outsider can really know, or group
# numbers with ``bins``.


Of = Literal["original", "release"]
Rule = Literal["own", "matches", "drop"]

RULES: dict[Rule, str] = {
    "own": "a missing value is a value of its own",
    "matches": "a missing value may be any value",
    "drop": "rows with a missing quasi-identifier are left out",
}
NOT_PROTECTION = "not protection"
WHY = (
    "The quasi-identifiers of a perturbed row are not the person's own: a row in a large class may still be linked by "
    "its nearest values, and a unique row need not belong to the person it resembles. Only attacks show the risk."
)


@dataclass(frozen=True)
class Anonymity:
    """k-anonymity under one rule for missing values."""

    rule: Rule
    smallest: int  # k, the size of the smallest class among the rows examined; 0 if no row is left
    unique: Risk  # rows that are the only one of their class
    below_three: Risk
    below_five: Risk
    how: str


@dataclass(frozen=True)
class KAnonymity:
    """k-anonymity, l-diversity and t-closeness of one of the two tables."""

    of: Of
    label: str  # "" or "not protection"
    why: str  # the meaning of the label
    columns: tuple[str, ...]
    bins: int  # 0: numbers are not grouped
    anonymity: tuple[Anonymity, ...]  # one for each rule
    diversity: tuple[Diversity, ...]  # one for each sensitive attribute, or for the target
    closeness: tuple[Closeness, ...]
    homogeneous: tuple[HomogeneousGroups, ...]  # one for each sensitive attribute


def k_anonymity(
    pair: Pair, *, of: Of = "original", columns: Sequence[str] = (), bins: int = 0, perturbed: bool = True
) -> KAnonymity:
    """k under every rule, l and t of one of the tables, over the pair's quasi-identifiers or the columns named.

    Pass ``perturbed=False`` for a release that was only generalised (values made coarser, none made false).
    """
    table, keys = _table(pair, of), chosen_keys(pair, columns)
    classes = classes_of(table, keys, bins=bins, like=pair.original)
    doubtful = of == "release" and perturbed
    return KAnonymity(
        of,
        NOT_PROTECTION if doubtful else "",
        WHY if doubtful else "",
        keys,
        bins,
        tuple(_anonymity(pair, table, keys, rule, bins, classes) for rule in RULES),
        diversity(pair, of=of, columns=columns, bins=bins),
        closeness(pair, of=of, columns=columns, bins=bins),
        homogeneity(pair, of=of, columns=columns),
    )


def anonymity(
    pair: Pair, *, of: Of = "original", rule: Rule = "own", columns: Sequence[str] = (), bins: int = 0
) -> Anonymity:
    """k-anonymity of one of the tables under one rule for missing values."""
    table, keys = _table(pair, of), chosen_keys(pair, columns)
    return _anonymity(pair, table, keys, rule, bins, classes_of(table, keys, bins=bins, like=pair.original))


def diversity(pair: Pair, *, of: Of = "original", columns: Sequence[str] = (), bins: int = 0) -> tuple[Diversity, ...]:
    """l-diversity of each sensitive attribute, or of the target, in classes over the other quasi-identifiers."""
    table, classes = _confidential_classes(pair, of, columns, bins)
    return tuple(diversity_of(spread_of(table[name], classes.label, len(classes.size))) for name in _hidden(pair))


def closeness(pair: Pair, *, of: Of = "original", columns: Sequence[str] = (), bins: int = 0) -> tuple[Closeness, ...]:
    """t-closeness of each sensitive attribute, or of the target, in classes over the other quasi-identifiers."""
    table, classes = _confidential_classes(pair, of, columns, bins)
    return tuple(closeness_of(spread_of(table[name], classes.label, len(classes.size))) for name in _hidden(pair))


def homogeneity(pair: Pair, *, of: Of = "release", columns: Sequence[str] = ()) -> tuple[HomogeneousGroups, ...]:
    """People whose class over the quasi-identifiers has a single value of a sensitive attribute, for each of these."""
    table, known = replace(_table(pair, of), roles={}), chosen_keys(pair, columns, without=pair.sensitive)
    return tuple(homogeneous_groups(table, name, known) for name in pair.sensitive)


def _table(pair: Pair, of: Of) -> Table:
    return pair.original if of == "original" else pair.released


def _hidden(pair: Pair) -> tuple[str, ...]:
    return pair.sensitive or ((pair.target,) if pair.target else ())


def _confidential_classes(pair: Pair, of: Of, columns: Sequence[str], bins: int) -> tuple[Table, EquivalenceClasses]:
    """The classes over the quasi-identifiers without the sensitive columns themselves."""
    table, keys = _table(pair, of), chosen_keys(pair, columns, without=_hidden(pair))
    return table, classes_of(table, keys, bins=bins, like=pair.original)


def _anonymity(
    pair: Pair, table: Table, keys: tuple[str, ...], rule: Rule, bins: int, classes: EquivalenceClasses
) -> Anonymity:
    lost = np.zeros(len(table), bool)
    for name in keys:
        lost |= table[name].missing
    sizes, asked = classes.of_row, len(table)
    if rule == "drop":  # rows with a missing value are in classes of their own, so the others do not change
        sizes = sizes[~lost]
    elif rule == "matches" and lost.any():
        people, sizes = matching_sizes(table, keys, bins=bins, like=pair.original)
        asked = len(people)
    return Anonymity(
        rule,
        int(sizes.min()) if len(sizes) else 0,
        _share(sizes == 1),
        _share(sizes < 3),
        _share(sizes < 5),
        coverage_note(asked, len(table)),
    )


def _share(rows: Array) -> Risk:
    return risk_of(rows.astype(np.float64))
