"""What noises share that move numbers past every box: where a value may land, and what can still be promised."""

from collections.abc import Callable, Mapping

import numpy as np

from leafcover.fast.arrays import Array, Floats
from leafcover.noise.part import Part, missing_moved
from leafcover.table.schema import Grid
from leafcover.table.table import Column

MOST_SPREAD = 10.0  # more noise than this leaves nothing of a column
SMALLEST_STEP = 2.0**-1074  # a range of the smallest floats has no smaller part
FARTHEST = 2.0**62  # points of a grid that can still be counted


def grid_for(column: Column, on_grid: bool) -> Grid | None:
    """The grid on which new values land; a date between two dates cannot be written."""
    return column.grid if on_grid or column.kind != "number" else None


def on_points(grid: Grid, points: Array) -> Floats:
    """The values of points, which may be too far away for a whole number of 64 bits."""
    return grid.value(np.rint(points)) + 0.0  # + 0.0: one zero


def free_promises(on_grid: bool) -> tuple[str, ...]:
    """What holds afterwards; nothing is said of the lowest and the highest value, which noise goes beyond."""
    return (*(("every value is on its grid",) if on_grid else ()), "missing stays missing")


def free_likelihood(
    part: Part, released: Mapping[str, Array], chance: Callable[[Column, Floats, Floats], Floats]
) -> Floats:
    """Per row the product over columns of the chance of its released value; 0 where one of both is missing."""
    total = np.ones(len(part))
    for column in part.columns:
        new = released[column.name]
        total[column.missing != np.isnan(new)] = 0.0
        known = ~column.missing & ~np.isnan(new)
        total[known] *= chance(column, column.values[known], new[known])
    return total


def free_broken(before: Part, after: Mapping[str, Array], on_grid: bool) -> tuple[str, ...]:
    """Values that left their grid or grew too large; missing values that appeared or went."""
    said = []
    for column in before.columns:
        new = after[column.name]
        if lost := missing_moved(column, new):
            said.append(f"column {column.name!r}: {lost} values became or ceased to be missing")
        known = new[~np.isnan(new)]
        grid = grid_for(column, on_grid)
        large = ~np.isfinite(known) if grid is None else ~(np.abs(known) < FARTHEST * grid.step)
        if large.any():
            said.append(f"column {column.name!r}: {int(large.sum())} values grew too large to be written")
        elif grid is not None and (off := int((grid.value(grid.index(known)) != known).sum())):
            said.append(f"column {column.name!r}: {off} values left their grid")
    return tuple(said)
