"""Exact nearest-neighbour search by Gower's distance, and how many people an attack can afford to search for.

The distance is a sum over columns: the difference of scaled numbers, 1 for codes that differ; a missing value is at
distance 0 from a missing one and 1 from a known one. Distances within a billionth of each other are ties.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from leafcover.arrays import Array, Codes, Floats, Rows
from leafcover.metrics.pair import Pair, sample_rows
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
FEW = 64  # people for whom comparing every row is faster than building a tree


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
    few = len(people.numbers) < FEW
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
