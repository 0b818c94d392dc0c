"""Nearest records by Gower's distance: the exact search that attacks use, and how near released rows are to originals.

The distance is a sum over columns: the difference of scaled numbers, 1 for codes that differ; a missing value is at
distance 0 from a missing one and 1 from a known one. Distances within a billionth of each other are ties.

Measured are the distance to the closest record (DCR) and the ratio of the nearest to the second nearest distance
(NNDR), as usual for synthetic data, and how many originals a released record may come from. Small figures are not
harmful by themselves: rows of one population are near each other. Only the comparison with rows outside the release
shows whether people are copied.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from leafcover.arrays import Array, Bools, Codes, Floats, Rows
from leafcover.metrics.disclosure.k_anonymity import row_marks
from leafcover.metrics.estimates import WORST, Estimate, Risk, mean_of, risk_of
from leafcover.metrics.pair import Pair, coverage_note, sample_rows
from leafcover.table.table import Column, Table

if TYPE_CHECKING:
    from leafcover.kernels.neighbors import NeighborTree


# Rows as matrices for Gower's distance: numbers scaled by their original range, categories by code.


class ScaledTable(NamedTuple):
    """Numbers between 0 and 1 (nan where missing; outside it if the value is outside the original range), and codes."""

    numbers: Floats  # (rows, numbers)
    codes: Codes  # (rows, categories) -1 where missing


def scaled(tables: Sequence[Table], columns: Sequence[str]) -> list[ScaledTable]:
    """Each table's columns as matrices; the first table is the original, whose ranges scale all tables."""
    original = tables[0]
    numbers = [name for name in columns if not original[name].is_category]
    codes = [name for name in columns if original[name].is_category]
    limits = {name: original[name].domain for name in numbers}
    found = []
    for table in tables:
        wide = [_share(table[name], *limits[name]) for name in numbers]
        coded = [table[name].values for name in codes]
        found.append(ScaledTable(_matrix(wide, len(table), np.float64), _matrix(coded, len(table), np.int32)))
    return found


def _share(column: Column, low: float, high: float) -> Floats:
    width = high / 2 - low / 2 if high > low else 0.5  # halves, since 1e308 minus -1e308 overflows
    share: Floats = (column.values / 2 - low / 2) / width
    return share


def _matrix(columns: list[Array], rows: int, kind: type) -> Array:
    return np.ascontiguousarray(np.column_stack(columns), kind) if columns else np.empty((rows, 0), kind)


TIE = 1e-9  # distances no further apart are equal up to rounding
FEW_PEOPLE = 64  # people for whom comparing every row is faster than building a tree


class Nearest(NamedTuple):
    """For each person the nearest other rows, nearest first; inf and -1 if there are fewer rows."""

    distance: Floats  # (people, count)
    row: Rows  # (people, count)


def searchable(others: ScaledTable) -> "NeighborTree":
    """An index of rows that are searched more than once; every search below accepts it instead of the rows."""
    from leafcover.kernels.neighbors import grow

    return grow(_columns(others), others.numbers.shape[1])


def matches_among_nearest(
    people: ScaledTable,
    others: "ScaledTable | NeighborTree",
    wanted: Floats,
    labels: Floats,
    *,
    tolerance: Floats | float = 0.0,
    own: Rows | None = None,
) -> Floats:
    """For each person the share of the nearest other rows (ties together) whose label is the wanted one.

    A label counts if it lies within ``tolerance`` (one for all, or one each) of the wanted one; nan equals nan.
    ``own`` is a row of the others to leave out for each person, -1 for none. If there is no other row, the share is 0.
    """
    from leafcover.kernels.neighbors import shares_among_nearest

    reach = np.full(len(people.numbers), tolerance, np.float64)
    return shares_among_nearest(_rows(people), _boxes(others, people), _own(own, people), wanted, reach, labels)


def nearest(
    people: ScaledTable, others: "ScaledTable | NeighborTree", *, count: int = 1, own: Rows | None = None
) -> Nearest:
    """The nearest other rows of each person, ascending, ties to the lowest row; ``own`` leaves one out for each.

    Here distances are ties if they are equal after rounding to a billionth.

    >>> numbers = ScaledTable(np.array([[0.1], [0.5], [0.9]]), np.empty((3, 0), np.int32))
    >>> nearest(numbers, numbers, count=2).row.tolist()
    [[0, 1], [1, 0], [2, 1]]
    """
    from leafcover.kernels.neighbors import nearest_rows

    distance, row = nearest_rows(_rows(people), _boxes(others, people), _own(own, people), count)
    order = np.lexsort((row, np.rint(distance / TIE)), axis=1)
    return Nearest(np.take_along_axis(distance, order, 1), np.take_along_axis(row, order, 1))


def closer_than_own(
    people: ScaledTable, others: "ScaledTable | NeighborTree", own: Rows, *, enough: int | None = None
) -> tuple[Floats, Floats]:
    """For each person how many other rows are strictly nearer than their own row, and how many are tied with it.

    With ``enough`` a search stops early at that many nearer rows, and returns that number and no ties.
    """
    from leafcover.kernels.neighbors import rows_before_own

    boxes = _boxes(others, people)
    return rows_before_own(_rows(people), boxes, own, len(boxes.order) if enough is None else enough)


def every_distance(people: ScaledTable, others: ScaledTable) -> Floats:
    """All distances (people, others), for few rows."""
    total = np.zeros((len(people.numbers), len(others.numbers)))
    for one, other in zip(people.numbers.T, others.numbers.T, strict=True):
        apart = np.abs(one[:, None] - other)
        lost = np.isnan(one)[:, None] != np.isnan(other)
        total += np.where(np.isnan(apart), lost, apart)
    for codes, other_codes in zip(people.codes.T, others.codes.T, strict=True):
        total += codes[:, None] != other_codes
    return total


def _boxes(others: "ScaledTable | NeighborTree", people: ScaledTable) -> "NeighborTree":
    """The given index, or a new one: a single box if few people are searched for."""
    from leafcover.kernels.neighbors import grow

    if not isinstance(others, ScaledTable):
        return others
    few = len(people.numbers) < FEW_PEOPLE
    return grow(_columns(others), others.numbers.shape[1], len(others.numbers)) if few else searchable(others)


def _rows(table: ScaledTable) -> Floats:
    return np.ascontiguousarray(np.hstack((table.numbers, table.codes)), np.float64)


def _columns(table: ScaledTable) -> Floats:
    return np.ascontiguousarray(np.vstack((table.numbers.T, table.codes.T)), np.float64)


def _own(own: Rows | None, people: ScaledTable) -> Rows:
    return np.full(len(people.numbers), -1, np.int64) if own is None else own.astype(np.int64)


# Whom an attack by the nearest released row tries: everybody, or a seeded sample of an affordable size.


COMPARISONS = 1_000_000_000  # the approximate limit of people times released rows in one search
FEWEST = 200  # people, however large the release
# With more numeric columns than this a search must compare most rows. Measured in a million rows, for each person:
# 0.8 ms with 10 numbers, 8 ms with 16, 0.1 ms with 10 numbers and 5 categories.
MANY_NUMBERS = 10
SLOWER = 5


def bearable(most: int, pair: Pair, columns: Sequence[str]) -> int:
    """How many people an attack by some columns can afford to search for."""
    numbers = sum(name in pair.numbers for name in columns)
    comparisons = COMPARISONS // (SLOWER if numbers > MANY_NUMBERS else 1)
    return min(most, max(FEWEST, comparisons // max(1, len(pair.released))))


def with_value(column: Column, most: int) -> Rows:
    """People with a value in the column: all, or a sample of ``most``."""
    known = np.flatnonzero(~column.missing)
    return known[sample_rows(len(known), most)]


def of_rows(matrix: ScaledTable, rows: Rows) -> ScaledTable:
    """Some rows of a matrix."""
    return ScaledTable(matrix.numbers[rows], matrix.codes[rows])


# Distances of released records to original ones: DCR and NNDR.


MOST_PEOPLE = 1_000
MOST_COMPARISONS = 200_000_000  # pairs of rows, for each of the searches


@dataclass(frozen=True)
class Low:
    """The lower tail of a distribution, where copies are, and its median."""

    fifth: float  # the 5th percentile
    median: float


@dataclass(frozen=True)
class Distances:
    """Distances of released rows to the original's, and of control rows to the original's if there are any."""

    closest: Low  # DCR, summed over columns
    ratio: Low  # NNDR: near 0 for a row close to a single original, 1 for a row between two
    copies: Risk  # released rows that equal an original one
    control_closest: Low | None  # None: no control
    control_ratio: Low | None
    control_copies: Risk | None
    closer: Risk | None  # released rows nearer to the original than to as many control rows; 0.5 is ideal
    columns: tuple[str, ...]
    rows: int  # released rows searched for
    of: int

    @property
    def how(self) -> str:
        """The rows that distances are computed for; copies are counted over all."""
        return coverage_note(self.rows, self.of)


def distances(
    pair: Pair,
    *,
    columns: Sequence[str] = (),
    most: int = MOST_PEOPLE,
    comparisons: int = MOST_COMPARISONS,
) -> Distances:
    """DCR and NNDR over all columns but the weight, unless some are named."""
    names = tuple(columns) or tuple(name for name in pair.names if name != pair.weight)
    tables = [pair.original, pair.released] + ([] if pair.control is None else [pair.control])
    original, released, *control = scaled(tables, names)
    some = max(1, min(most, comparisons // max(len(pair.original), 1)))
    people = _some(released, some)
    sought = searchable(original)
    closest, ratio = _low(people, sought)
    aside = control[0] if control and len(control[0].numbers) else None
    outside = None if aside is None else _low(_some(aside, some), sought)
    return Distances(
        closest,
        ratio,
        _copies(pair.released, pair.original, names),
        None if outside is None else outside[0],
        None if outside is None else outside[1],
        None if aside is None or pair.control is None else _copies(pair.control, pair.original, names),
        None if aside is None else _closer(people, original, aside),
        names,
        len(people.numbers),
        len(pair.released),
    )


def _some(table: ScaledTable, most: int) -> ScaledTable:
    return of_rows(table, sample_rows(len(table.numbers), most))


def _low(people: ScaledTable, original: "NeighborTree") -> tuple[Low, Low]:
    first, second = nearest(people, original, count=2).distance.T
    return _ends(first), _ends(ratios(first, second))


def ratios(first: Floats, second: Floats) -> Floats:
    """The nearest distance over the second nearest; 1 if both are 0 (two originals, not one), 0 without a second.

    >>> ratios(np.array([0.0, 0.0, 1.0, 1.0]), np.array([0.0, 2.0, 2.0, np.inf]))
    array([1. , 0. , 0.5, 0. ])
    """
    apart = np.where(second > TIE, second, 1.0)
    found: Floats = np.where(second > TIE, first / apart, 1.0)
    return found


def _ends(values: Floats) -> Low:
    fifth, median = np.quantile(values, [0.05, 0.5]) if len(values) else (0.0, 0.0)
    return Low(float(fifth), float(median))


def _closer(people: ScaledTable, original: ScaledTable, control: ScaledTable) -> Risk:
    """Compared with equally many rows of each, so that neither has an advantage; a tie counts half."""
    rows = min(len(original.numbers), len(control.numbers))
    ours = nearest(people, _some(original, rows)).distance[:, 0]
    theirs = nearest(people, _some(control, rows)).distance[:, 0]
    return risk_of(np.where(np.abs(ours - theirs) <= TIE, 0.5, ours < theirs).astype(np.float64))


def _copies(table: Table, original: Table, names: tuple[str, ...]) -> Risk:
    found: Bools = np.isin(row_marks(table, names), row_marks(original, names))
    return risk_of(found.astype(np.float64))


# How many original rows are as near to a released record as its own, and the effective number of candidates.
#
# SERS is named in Fletcher and Islam (2015), "An anonymization technique using intersected decision trees"; the copy
# we read breaks off before its definition. The definition here is ours, and so is that of the candidates.

EXACT = 2_000  # original rows up to which all are used; of more, the nearest and a sample of the others
NEAR = 100
BANDS = 20  # of distances, each with equally many own originals
FEW = 5.0


@dataclass(frozen=True)
class Sers:
    """SERS: the share of other original rows that are at least as near to a released row as its own original."""

    share: Estimate  # the mean over released rows; 0: each is nearest to its own original
    worst: float  # the mean of the 1 % of rows with the smallest shares
    nearest: Risk  # released rows whose own original is the nearest, ties averaged
    rows: int
    of: int

    @property
    def how(self) -> str:
        """Whether every released row was examined; all original rows are searched."""
        return coverage_note(self.rows, self.of)


@dataclass(frozen=True)
class Candidates:
    """The effective number of originals of a released row: 2 to the entropy of a posterior over all of them."""

    median: float
    fifth: float  # the 5th percentile: the rows with the fewest candidates
    worst: float  # the mean of the 1 % with the fewest
    few: Risk  # released rows with fewer than five
    typical: float  # the median distance of a released row to its own original
    rows: int
    of: int

    @property
    def how(self) -> str:
        """Whether every released row was examined."""
        return coverage_note(self.rows, self.of)


def sers(
    pair: Pair,
    *,
    columns: Sequence[str] = (),
    most: int = MOST_PEOPLE,
    comparisons: int = MOST_COMPARISONS,
) -> Sers | None:
    """SERS over all columns but the weight, unless some are named; None without pairs."""
    if not pair.paired:
        return None
    rows = len(pair.original)
    people = sample_rows(rows, max(1, min(most, comparisons // max(rows, 1))))
    original, released = scaled([pair.original, pair.released], columns or _all(pair))
    closer, tied = closer_than_own(of_rows(released, people), original, people)
    shares = (closer + tied) / max(rows - 1, 1)
    hits = np.where(closer == 0, 1 / (1 + tied), 0.0)
    return Sers(mean_of(shares), _lowest(shares), risk_of(hits), len(people), rows)


def candidates(
    pair: Pair,
    *,
    columns: Sequence[str] = (),
    most: int = MOST_PEOPLE,
    comparisons: int = MOST_COMPARISONS,
) -> Candidates | None:
    """The effective number of candidates over all columns but the weight; None without pairs.

    The attacker knows the distribution of distances: the share of own originals in each band, and the number of
    original rows in it. Their ratio is the weight of every original row at such a distance.
    """
    if not pair.paired:
        return None
    rows = len(pair.original)
    people = sample_rows(rows, max(1, min(most, comparisons // max(rows, 1))))
    original, released = scaled([pair.original, pair.released], columns or _all(pair))
    theirs = of_rows(released, people)
    own = own_distances(theirs, of_rows(original, people))
    numbers = effective_number(*_weighed(theirs, original), own)
    typical = float(np.median(own)) if len(own) else 0.0
    fifth, median = np.quantile(numbers, [0.05, 0.5]) if len(numbers) else (0.0, 0.0)
    few = risk_of((np.round(numbers, 9) < FEW).astype(np.float64))  # five alike are not fewer
    return Candidates(float(median), float(fifth), _lowest(numbers), few, typical, len(people), rows)


def _weighed(people: ScaledTable, original: ScaledTable) -> tuple[Floats, Floats]:
    """Distances from each person, the nearest first, and how many original rows each represents."""
    rows = len(original.numbers)
    if rows <= EXACT:
        distances = nearest(people, original, count=rows).distance
        return distances, np.ones(distances.shape)
    near = nearest(people, original, count=NEAR)
    sample = sample_rows(rows, EXACT)
    far = nearest(people, of_rows(original, sample), count=len(sample))
    others = np.array([~np.isin(sample[found], own) for found, own in zip(far.row, near.row, strict=True)], np.float64)
    others *= (rows - NEAR) / others.sum(axis=1, keepdims=True)
    return np.hstack([near.distance, far.distance]), np.hstack([np.ones(near.distance.shape), others])


def effective_number(distances: Floats, count: Floats, own: Floats) -> Floats:
    """2 to the entropy of each person's posterior, from distances (people, rows) and those of own originals.

    ``count`` is how many rows each distance represents. In the example the own original is always at distance 1: two
    rows at that distance are equally likely, and one farther away is not a candidate.

    >>> effective_number(np.array([[1.0, 1.0, 9.0], [1.0, 2.0, 2.0]]), np.ones((2, 3)), np.array([1.0, 1.0]))
    array([2., 1.])
    """
    if not len(own):
        return np.zeros(0)
    moved = np.rint(own / TIE)
    ends = np.unique(np.quantile(moved, np.arange(1, BANDS + 1) / BANDS, method="inverted_cdf"))
    band = np.searchsorted(ends, np.rint(distances / TIE))  # len(ends): farther than any own original
    ours = np.bincount(np.searchsorted(ends, moved), minlength=len(ends)) / len(own)
    rows = np.bincount(band.ravel(), count.ravel(), minlength=len(ends) + 1)[:-1] / len(own)
    weight = np.append(ours / np.maximum(rows, ours), 0.0)[band]
    share = weight / (count * weight).sum(axis=1, keepdims=True)
    bits = -np.sum(count * share * np.log2(share, where=share > 0, out=np.zeros_like(share)), axis=1)
    found: Floats = 2.0**bits
    return found


def own_distances(one: ScaledTable, other: ScaledTable) -> Floats:
    """Gower's distance between corresponding rows, as in the nearest-neighbour search."""
    apart = np.abs(one.numbers - other.numbers)
    lost = np.isnan(one.numbers) != np.isnan(other.numbers)
    found: Floats = np.where(np.isnan(apart), lost, apart).sum(axis=1) + (one.codes != other.codes).sum(axis=1)
    return found


def _all(pair: Pair) -> tuple[str, ...]:
    return tuple(name for name in pair.names if name != pair.weight)


def _lowest(values: Floats) -> float:
    """The mean of the lowest 1 %."""
    count = int(np.ceil(WORST * len(values)))
    return float(np.sort(values)[:count].mean()) if count else 0.0
