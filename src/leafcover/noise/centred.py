"""Whether released values are centroids of large enough groups, found without the code that made them."""

import numpy as np

from leafcover.cells import Cells
from leafcover.fast.arrays import Array, Bools, Floats, Rows
from leafcover.table.table import Column

# What rounding may take, as a share of a group's largest number: at once, for each value, in single precision.
DOUBLE, EACH, SINGLE = 2.0**-45, 2.0**-53, 2.0**-23
SMALLEST = 2.0**-1060  # below which floats lose their digits


def not_centred(column: Column, after: Array, cells: Cells, least: int, *, means: bool) -> list[str]:
    """Sentences about groups that are too small, show several values, or a value that is not their middle.

    A number must lie between those of its group; with ``means`` it must be their mean.
    """
    rows = np.flatnonzero(~column.missing)
    if not len(rows):
        return []
    old, new = column.values[rows], after[rows]
    group = groups_of(cells.label[rows], cells.count, least, new)
    sizes = np.bincount(group)
    released = np.zeros(len(sizes), new.dtype)
    released[group] = new
    said = []
    if small := int((sizes[sizes > 0] < least).sum()):
        said.append(f"column {column.name!r}: {small} centroids rest on fewer than {least} known values")
    if several := int((new != released[group]).sum()):
        said.append(f"column {column.name!r}: {several} values are not the centroid of their group")
    elif column.is_category:
        if rare := int((_most_held(group, old) > np.bincount(group, old == new)).sum()):
            said.append(f"column {column.name!r}: {rare} groups show a category that is not their commonest")
    elif away := int(_moved(group, old, released, means).sum()):
        what = "is not their mean" if means else "lies outside their own"
        said.append(f"column {column.name!r}: {away} groups show a number that {what}")
    return said


def groups_of(label: Rows, count: int, least: int, new: Array) -> Rows:
    """The group of each known value: its cell, or the values of cells that know too few which show the same.

    When all of these are too few, the cell with the next fewest belongs to them.

    >>> groups_of(np.array([0, 0, 0, 1, 2, 2, 2, 2]), 3, 3, np.zeros(8))
    array([3, 3, 3, 3, 2, 2, 2, 2])
    """
    known = np.bincount(label, minlength=count)
    pool = (known > 0) & (known < least)
    if not pool.any():
        return label
    if known[pool].sum() < least and (known >= least).any():
        pool[np.where(known >= least, known, known.max() + 1).argmin()] = True
    inside = pool[label]
    shown = np.unique(new[inside], return_inverse=True)[1].ravel()
    found = label.copy()
    found[inside] = count + shown
    return found


def _moved(group: Rows, old: Floats, released: Floats, means: bool) -> Bools:
    """Which groups show a number outside their own, or not their mean."""
    from leafcover.fast.mix import rows_by_cell

    sizes = np.bincount(group)
    there = sizes > 0
    order, starts = rows_by_cell(group, len(sizes))
    ordered = old[order]
    low, high = (end.reduceat(ordered, starts[:-1][there]) for end in (np.minimum, np.maximum))
    shown, largest = released[there], np.maximum(np.abs(low), np.abs(high))
    away = np.maximum(low / 2 - shown / 2, shown / 2 - high / 2)  # halves: 1e308 twice is too much
    if means:  # what lies above the mean and what lies below cancel
        rest = np.bincount(group, (old / 2 - released[group] / 2) / sizes[group])[there]
        away = np.maximum(away, np.abs(rest))
    out: Bools = away > (DOUBLE + EACH * sizes[there]) * largest + SMALLEST
    doubtful = np.flatnonzero(out & (away <= SINGLE * largest))
    out[doubtful] = ~_of_single_precision(shown[doubtful])
    return out


def _most_held(group: Rows, codes: Array) -> Rows:
    """How many of a group hold its commonest category."""
    levels = int(codes.max()) + 1
    pairs, counts = np.unique(group * levels + codes, return_counts=True)
    most = np.zeros(int(group.max()) + 1, np.int64)
    np.maximum.at(most, pairs // levels, counts)
    return most


def _of_single_precision(values: Floats) -> Bools:
    """Which numbers read as a column of single precision writes them; such a column cannot hold a mean better.

    >>> _of_single_precision(np.array([0.1, 1 / 3, 0.33333334]))
    array([ True, False,  True])
    """
    with np.errstate(over="ignore"):
        short = [float(str(value)) for value in values.astype(np.float32)]
    return np.asarray(short) == values
