"""Nearest-neighbour linkage: how often the released row most like a person is that person's own.

The attacker knows the person's original values of the key columns and takes the nearest released row by Gower's
distance. An attacker who also knows the method can do better; this is the figure other tools report.
"""

from collections.abc import Sequence

import numpy as np

from leafcover.fast.arrays import Array, Rows
from leafcover.measuring.risk import Risk, wilson
from leafcover.table.table import Table

MOST_COMPARISONS = 100_000_000  # pairs of rows compared at most; beyond that a fixed sample of people is attacked


def linkage(
    original: Table, released: Table, source: Rows, *, columns: Sequence[str], comparisons: int = MOST_COMPARISONS
) -> Risk:
    """The share of people whose own released row is nearest; ``source`` is the original row of each released one."""
    from leafcover.fast.near import own_among_nearest

    people = attacked(len(original), max(1, min(len(original), comparisons // max(len(released), 1))))
    place = np.full(len(original), -1, np.int64)
    place[source] = np.arange(len(source))
    people = people[place[people] >= 0]
    ours, theirs = _scaled(original, released, columns)
    hits = own_among_nearest(ours[0][people], ours[1][people], theirs[0], theirs[1], place[people])
    return wilson(float(hits.sum()), len(people))


def attacked(rows: int, wanted: int) -> Rows:
    """Evenly spaced rows, so that no draw is needed and every part of the file is met."""
    return np.unique(np.linspace(0, rows - 1, wanted).astype(np.int64))


def _scaled(
    original: Table, released: Table, columns: Sequence[str]
) -> tuple[tuple[Array, Array], tuple[Array, Array]]:
    """Numbers divided by their original range, categories by their text, as two matrices for each table."""
    numbers: tuple[list[Array], list[Array]] = ([], [])
    codes: tuple[list[Array], list[Array]] = ([], [])
    for name in columns:
        ours, theirs = original[name], released[name]
        if ours.is_category:
            number_of = {level: i for i, level in enumerate(ours.levels)}
            lookup = np.array([number_of.get(level, len(number_of)) for level in theirs.levels] + [-1], np.int32)
            codes[0].append(ours.values)
            codes[1].append(lookup[theirs.values])
        else:
            low, high = ours.domain
            width = high / 2 - low / 2 if high > low else 0.5  # halves, since 1e308 less -1e308 is too much
            numbers[0].append((ours.values / 2 - low / 2) / width)
            numbers[1].append((theirs.values / 2 - low / 2) / width)

    def matrix(found: list[Array], rows: int, kind: type) -> Array:
        return np.ascontiguousarray(np.column_stack(found), kind) if found else np.empty((rows, 0), kind)

    return (
        (matrix(numbers[0], len(original), np.float64), matrix(codes[0], len(original), np.int32)),
        (matrix(numbers[1], len(released), np.float64), matrix(codes[1], len(released), np.int32)),
    )
