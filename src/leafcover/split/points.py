"""Rows as points, so that "similar" is a squared distance: numbers in their deviations, categories by their levels.

A number is standardised by its mean and sample deviation; a missing one stands at the mean. A category becomes a
coordinate for every level, 1/√2 where the row has it: two rows of different levels are then 1 apart, squared, and two
of the same level 0. A missing category is a level of its own.
"""

from collections.abc import Iterable, Sequence

import numpy as np

from leafcover.fast.arrays import MISSING, Floats
from leafcover.table.table import Column, Table

MOST_LEVELS = 40  # of a category with a coordinate of their own; the rarer ones share one
APART = np.sqrt(0.5)  # the coordinate of a level: two of them are 1 apart, squared


def points(table: Table, names: Sequence[str]) -> Floats:
    """(rows, coordinates) of some columns; a column that does not vary has none."""
    found = [one for name in names for one in _coordinates(table[name])]
    return np.ascontiguousarray(np.column_stack(found)) if found else np.zeros((len(table), 1))


def _coordinates(column: Column) -> Iterable[Floats]:
    if not column.is_category:
        standard = standardised(column)
        return [standard] if standard.any() else []
    codes = np.where(column.values == MISSING, len(column.levels), column.values)
    counts = np.bincount(codes, minlength=len(column.levels) + 1)
    common = np.argsort(-counts, kind="stable")[:MOST_LEVELS]
    common = np.sort(common[counts[common] > 0])
    if len(common) < 2:
        return []
    levels = [np.where(codes == code, APART, 0.0) for code in common]
    rare = ~np.isin(codes, common)
    return [*levels, np.where(rare, APART, 0.0)] if rare.any() else levels


def standardised(column: Column) -> Floats:
    """A number less its mean, by its sample deviation; 0 where it is missing, and everywhere when it does not vary."""
    known = ~column.missing
    values = column.values[known]
    found = np.zeros(len(column))
    if len(values) < 2 or values.min() == values.max():
        return found
    values = values / np.abs(values).max()  # the squares of values beyond 1e154 would be infinite
    found[known] = (values - values.mean()) / values.std(ddof=1)
    return found


def at_the_mean(table: Table, by: Sequence[str]) -> tuple[str, ...]:
    """What to tell of rows without a number: nothing when there are none."""
    gone = [table[name].missing for name in by if not table[name].is_category]
    rows = int(np.any(gone, axis=0).sum()) if gone else 0
    if not rows:
        return ()
    of = f"{by[0]}" if len(by) == 1 else f"one of {', '.join(by)}"
    verb = "row has" if rows == 1 else "rows have"
    return (f"{rows} {verb} no value in {of}; to find similar rows it stands at the column's mean.",)
