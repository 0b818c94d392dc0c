"""Kernels that turn values into small bin codes: 0 is missing, 1 the lowest bin."""

import numpy as np
from numba import njit

from leafcover.fast.arrays import Array, Floats

MOST_BINS = 255  # with the code of missing values they fill one byte


@njit(cache=True)
def upper_edges(ordered: Floats, most: int) -> tuple[Floats, bool]:
    """The highest value of each bin of sorted values, and whether every bin holds one value only.

    Bins are about equally full; a value with more rows than an average bin stands alone.
    """
    distinct = 0
    for i in range(ordered.size):
        if i + 1 == ordered.size or ordered[i] != ordered[i + 1]:
            distinct += 1
    edges = np.empty(min(distinct, most), np.float64)
    if distinct <= most:
        place = 0
        for i in range(ordered.size):
            if i + 1 == ordered.size or ordered[i] != ordered[i + 1]:
                edges[place] = ordered[i]
                place += 1
        return edges, True
    place, done, i = 0, 0, 0
    while i < ordered.size:
        end = i + 1
        while end < ordered.size and ordered[end] == ordered[i]:
            end += 1
        after = end  # where the run of the next value ends
        while after < ordered.size and ordered[after] == ordered[end]:
            after += 1
        room = (ordered.size - done) / (most - place)
        full = end - done >= room or after - end >= room
        if end == ordered.size or (place < most - 1 and full):
            edges[place] = ordered[i]
            place += 1
            done = end
        i = end
    return edges[:place], False


@njit(cache=True)
def code_numbers(values: Floats, edges: Floats, codes: Array, attribute: int, start: int, stop: int) -> int:
    """Write the bin of each value; return how many are missing.

    ``edges`` has 255 places, the last in use and all after it infinite. 9 ns a value; numpy.searchsorted
    takes 55.
    """
    missing = 0
    for row in range(start, stop):
        value = values[row]
        # The number of edges below the value, by eight steps without a branch.
        place = 128 * (edges[127] < value)
        place += 64 * (edges[place + 63] < value)
        place += 32 * (edges[place + 31] < value)
        place += 16 * (edges[place + 15] < value)
        place += 8 * (edges[place + 7] < value)
        place += 4 * (edges[place + 3] < value)
        place += 2 * (edges[place + 1] < value)
        place += 1 * (edges[place] < value)
        known = value == value  # noqa: PLR0124 - nan is the one value that differs from itself
        codes[row, attribute] = (place + 1) * known
        missing += not known
    return missing


@njit(cache=True)
def code_levels(levels: Array, codes: Array, attribute: int, start: int, stop: int) -> int:
    """Write the code of each level plus one, so that missing (-1) becomes 0; return how many are missing."""
    missing = 0
    for row in range(start, stop):
        codes[row, attribute] = levels[row] + 1
        missing += levels[row] < 0
    return missing


@njit(cache=True)
def every_value_is_an_edge(values: Floats, edges: Floats, codes: Array, attribute: int) -> bool:
    """Whether each known value is the upper edge of its bin, so that the bins lose nothing."""
    for row in range(values.size):
        code = codes[row, attribute]
        if code > 0 and edges[code - 1] != values[row]:
            return False
    return True
