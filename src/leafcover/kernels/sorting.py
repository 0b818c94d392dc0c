"""Sorts and selection in the few forms that kernels need.

numba compiles numpy's sorts from source, which takes one to three CPU seconds for each type, and eight for its
partition. These take a few tenths.
"""

import numpy as np
from numba import njit

from leafcover.arrays import Array, Codes, Floats, Rows, Singles, Words
from leafcover.kernels import ENTRY, INNER

_BITS = 11
_SIZE = 1 << _BITS
_RUN = 16  # up to this many items are sorted by insertion


@njit(**ENTRY)
def select(values: Floats, place: int) -> float:
    """The value at a position of the sorted values (quickselect); reorders them so that no earlier value is larger."""
    low, high = 0, len(values) - 1
    while low < high:
        one, two, three = values[low], values[(low + high) // 2], values[high]
        pivot = max(min(one, two), min(max(one, two), three))
        i, j = low, high
        while i <= j:
            while values[i] < pivot:
                i += 1
            while values[j] > pivot:
                j -= 1
            if i <= j:
                values[i], values[j] = values[j], values[i]
                i += 1
                j -= 1
        if place <= j:
            high = j
        elif place >= i:
            low = i
        else:
            break
    return values[place]


def stable_order(values: Singles) -> Codes:
    """Row numbers by ascending value, equal values in row order, missing values last.

    A radix sort in three counting passes; numpy's stable sort takes five times as long.

    >>> stable_order(np.array([2.0, np.nan, -1.0, 2.0], np.float32)).tolist()
    [2, 0, 3, 1]
    """
    bits = (values + np.float32(0.0)).view(np.uint32)  # the sum turns -0.0 into 0.0: equal values have equal bits
    order, spare = np.arange(len(bits), dtype=np.int32), np.empty(len(bits), np.int32)
    passes = _radix_passes(bits, np.zeros((3, _SIZE), np.int64), order, spare)
    return spare if passes % 2 else order


@njit(**ENTRY)
def _radix_passes(keys: Words, counts: Rows, order: Codes, spare: Codes) -> int:
    """Sort by the bits of 32-bit floats; returns the number of passes, after which the arrays have changed places.

    The bits are replaced by keys whose unsigned order is the order of the values.
    """
    n, passes = len(keys), 0
    for i in range(n):
        word = keys[i]
        if word & np.uint32(0x7FFFFFFF) > np.uint32(0x7F800000):
            word = np.uint32(0xFFFFFFFF)  # missing
        elif word >> np.uint32(31):
            word = np.uint32(~word)
        else:
            word = np.uint32(word | np.uint32(0x80000000))
        keys[i] = word
        for turn in range(3):
            counts[turn, (word >> np.uint32(turn * _BITS)) & np.uint32(_SIZE - 1)] += 1
    for turn in range(3):
        shift = np.uint32(turn * _BITS)
        if n == 0 or counts[turn, (keys[0] >> shift) & np.uint32(_SIZE - 1)] == n:
            continue  # all values share these bits
        below = 0
        for digit in range(_SIZE):
            here = counts[turn, digit]
            counts[turn, digit] = below
            below += here
        for i in range(n):
            row = order[i]
            digit = (keys[row] >> shift) & np.uint32(_SIZE - 1)
            spare[counts[turn, digit]] = row
            counts[turn, digit] += 1
        order, spare = spare, order
        passes += 1
    return passes


@njit(**INNER)
def sort_pairs(keys: Words, items: Rows, spare_keys: Words, spare_items: Rows, start: int, stop: int) -> None:
    """Sort items by their keys from ``start`` up to ``stop``, equal keys in the given order (merge sort)."""
    for run in range(start, stop, _RUN):
        for i in range(run + 1, min(run + _RUN, stop)):
            key, item, j = keys[i], items[i], i
            while j > run and keys[j - 1] > key:
                keys[j], items[j] = keys[j - 1], items[j - 1]
                j -= 1
            keys[j], items[j] = key, item
    width = _RUN
    while width < stop - start:
        for begin in range(start, stop, 2 * width):
            middle = min(begin + width, stop)
            end = min(begin + 2 * width, stop)
            i, j = begin, middle
            for at in range(begin, end):
                if j >= end or (i < middle and keys[i] <= keys[j]):
                    spare_keys[at], spare_items[at] = keys[i], items[i]
                    i += 1
                else:
                    spare_keys[at], spare_items[at] = keys[j], items[j]
                    j += 1
        for at in range(start, stop):
            keys[at], items[at] = spare_keys[at], spare_items[at]
        width *= 2


@njit(**INNER)
def sort_values(values: Array) -> None:
    """Sort in place; a Shell sort, which for few values is an insertion sort: kernels sort many short arrays."""
    gap = 1
    while len(values) > _RUN and gap < len(values) // 9:
        gap = 3 * gap + 1
    while gap:
        for i in range(gap, len(values)):
            value, j = values[i], i
            while j >= gap and values[j - gap] > value:
                values[j] = values[j - gap]
                j -= gap
            values[j] = value
        gap //= 3


@njit(**INNER)
def sort_levels(ordered: Codes, count: int, share: Floats) -> None:
    """Sort the first ``count`` codes by (share, code). A Shell sort: there are usually few levels."""
    gap = count // 2
    while gap:
        for i in range(gap, count):
            code, j = ordered[i], i
            while j >= gap and (
                share[ordered[j - gap]] > share[code]
                or (share[ordered[j - gap]] == share[code] and ordered[j - gap] > code)
            ):
                ordered[j] = ordered[j - gap]
                j -= gap
            ordered[j] = code
        gap //= 2
