"""What an original value is expected to become, by what was seen of others: a release may turn, stretch or rename.

A release that turns numbers around, stretches them, rotates several together or renames levels hides nobody from an
attacker who has seen some pairs.
"""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from leafcover.fast.arrays import MISSING, Floats, Rows
from leafcover.measuring.pair import Pair
from leafcover.measuring.sampling import some_rows
from leafcover.table.table import Column

NEIGHBOURS = 5  # values seen before that say what a number becomes
MOST_LINES = 20_000  # rows that the lines are learned from


def foreseen(pair: Pair, seen: Rows, tried: Rows) -> Iterator[Column]:
    """Each key column as it is expected to be released, learned from the rows seen.

    A number is foreseen by the numbers nearest to it, or by a line through all number columns: by whichever comes
    nearer on the rows tried.
    """
    numbers = [name for name in pair.keys if not pair.original[name].is_category]
    lines = dict(zip(numbers, _by_lines(pair, numbers, seen).T, strict=True))
    for name in pair.keys:
        before, after = pair.original[name], pair.released[name]
        if before.is_category:
            yield _renamed(before, after, seen)
            continue
        near, line = _by_neighbours(before, after, seen), lines[name]
        best = line if _off(line, after, tried) < _off(near, after, tried) else near
        yield replace(before, values=np.where(before.missing, np.nan, best), declared=after.domain)


def _renamed(before: Column, after: Column, rows: Rows) -> Column:
    """The level that each level mostly became."""
    seen = np.full(len(before.levels) + 1, MISSING, np.int32)
    both, count = np.unique(np.column_stack([before.values[rows], after.values[rows]]), axis=0, return_counts=True)
    order = np.argsort(count, kind="stable")  # the commonest is written last
    seen[both[order, 0]] = both[order, 1]
    return replace(before, values=seen[before.values])


def _by_neighbours(before: Column, after: Column, rows: Rows) -> Floats:
    """The middle of what the nearest values seen became."""
    known = rows[~(before.missing | after.missing)[rows]]
    if not len(known):
        return before.values
    order = known[np.argsort(before.values[known], kind="stable")]
    at, became = before.values[order], after.values[order]
    window = min(NEIGHBOURS, len(order))
    middle: Floats = np.median(np.lib.stride_tricks.sliding_window_view(became, window), axis=1)
    place = np.clip(np.searchsorted(at, before.values) - window // 2, 0, len(middle) - 1)
    return middle[place]


def _by_lines(pair: Pair, names: list[str], rows: Rows) -> Floats:
    """(rows, numbers) each released number as a linear function of all original ones, by least squares."""
    if not names:
        return np.empty((len(pair.original), 0))
    units = np.array([_unit(pair.original[name]) for name in names])
    ours, theirs = (
        np.column_stack([_shares(table[name], unit) for name, unit in zip(names, units, strict=True)])
        for table in (pair.original, pair.released)
    )
    with_one = np.column_stack([ours, np.ones(len(ours))])
    some = rows[some_rows(len(rows), MOST_LINES)]
    found, *_ = np.linalg.lstsq(with_one[some], theirs[some], rcond=None)
    lines: Floats = with_one @ found * units
    return lines


def _shares(column: Column, unit: float) -> Floats:
    """Values as shares of a unit, so that 1e308 has a square; a missing one at the mean."""
    shares = column.values / unit
    mean = np.nanmean(shares) if not column.missing.all() else 0.0
    return np.where(column.missing, mean, shares)


def _unit(original: Column) -> float:
    """The largest known value, whatever its sign."""
    known = original.values[~original.missing]
    return float(np.abs(known).max(initial=0.0)) or 1.0


def _off(expected: Floats, after: Column, rows: Rows) -> float:
    """How far what was expected lies from what was released, in the middle; inf when nothing was."""
    known = rows[~after.missing[rows]]
    with np.errstate(over="ignore"):
        return float(np.median(np.abs(expected[known] - after.values[known]))) if len(known) else np.inf
