"""Some rows of a table, as if the others had never been."""

from dataclasses import replace

import numpy as np

from leafcover.fast.arrays import MISSING, Rows
from leafcover.table.table import Column, Table


def taken_alone(table: Table, rows: Rows) -> Table:
    """The rows without the levels that only other rows have: a level held out must not be drawn for anybody."""
    part = table.take(rows)
    return part.replace(_without_others(part[column.name], column) for column in table if column.is_category)


def _without_others(kept: Column, whole: Column) -> Column:
    """The column without levels that occur in the whole table but not here; declared ones that nobody has stay."""
    here, everywhere = (np.unique(column.values[~column.missing]) for column in (kept, whole))
    stay = np.setdiff1d(np.arange(len(whole.levels)), np.setdiff1d(everywhere, here))
    if len(stay) == len(whole.levels):
        return kept
    lookup = np.full(len(whole.levels) + 1, MISSING, np.int32)
    lookup[stay] = np.arange(len(stay))
    return replace(kept, values=lookup[kept.values], levels=tuple(whole.levels[code] for code in stay))
