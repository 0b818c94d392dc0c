"""Kernels both histogram growers stand on: exact n·log2 n, counting rows into bins, moving rows.

Rows are moved as whole records (their codes side by side) and never through an index: a node's rows are then
read in one stream, whatever its depth. Counting 1M rows of 15 attributes takes 15 ms so, and 160 ms
through an index once the rows of a node lie scattered.
"""

import math
from typing import Any, NamedTuple

import numpy as np
from numba import njit

from leafcover.fast.arrays import Array, Codes, Floats, Rows

# n·log2 n is rounded to a multiple of 2^-20. Sums of such numbers are exact in double precision (up to 2^33,
# 290 million rows), so scores do not depend on the order of rows, bins or classes, and equal splits tie exactly.
_UNIT = 1048576.0
_TABLE = 65_536  # 512 kB: what fits in the second-level cache


# A kernel that only kernels call has no door to Python: that saves a quarter of the compiling, 8 of 32 s.
_INNER: dict[str, Any] = {"cache": True, "error_model": "numpy", "no_cpython_wrapper": True, "no_cfunc_wrapper": True}
inner = njit(**_INNER)


class Records(NamedTuple):
    """Rows that stand in the order of the nodes: the same memory as codes and as words, and what goes along."""

    codes: Array  # (rows, width) bins
    words: Array  # (rows, width in words of 8 bytes) uint64: the same memory, to be moved
    target: Codes  # (rows,) class
    along: Array  # (rows,) what else goes with a row: its number, its weight; no places when nothing does


@inner
def log_term(count: float, table: Floats) -> float:
    """count · log2(count) on a grid of 2^-20; 0 for 0."""
    place = int(count)
    if place == count and place < table.size:
        return table[np.uint64(place)]  # an unsigned index needs no look at its sign
    return np.rint(count * math.log2(count) * _UNIT) / _UNIT if count > 0 else 0.0


@inner
def log_table(rows: int) -> Floats:
    """The first values of ``log_term``, as many as a table of this many rows can use."""
    table = np.zeros(min(rows + 1, _TABLE))
    for count in range(2, table.size):
        table[count] = np.rint(count * math.log2(count) * _UNIT) / _UNIT
    return table


@inner
def count_rows(
    records: Records, start: int, stop: int, tests: Rows, offsets: Rows, classes: int, step: int, counts: Codes
) -> None:
    """Add ``step`` for every row to the place of its (attribute, bin, class)."""
    codes, target = records.codes, records.target
    for i in range(start, stop):
        of_class = target[i]
        for t in range(tests.size):
            counts[offsets[t] + codes[i, tests[t]] * classes + of_class] += step


@inner
def fill(values: Array, start: int, stop: int, value: float) -> None:
    """Set a stretch of an array. (Loops for slices and fewer arrays in a tuple halved the compiling, 71 to 32 s.)"""
    for i in range(start, stop):
        values[i] = value


@inner
def longer(stack: Rows, used: int, room: int) -> Rows:
    """The same stack with room for more entries, if it has not got it."""
    if room <= len(stack):
        return stack
    new = np.empty((2 * room, stack.shape[1]), stack.dtype)
    for i in range(used):
        for j in range(stack.shape[1]):
            new[i, j] = stack[i, j]
    return new


def _zeros_of_products() -> Array:
    """How many zeros the word 2^z ends in, found by the first six bits of its product with a de Bruijn number."""
    zeros = np.empty(64, np.int64)
    for z in range(64):
        zeros[(_DE_BRUIJN << z & 0xFFFFFFFFFFFFFFFF) >> 58] = z
    return zeros


_DE_BRUIJN = 0x03F79D71B4CB0A89
_ZEROS = _zeros_of_products()


@inner
def trailing_zeros(word: np.uint64) -> int:
    """How many zeros a word ends in; the word is not 0."""
    lowest = word & (~word + np.uint64(1))
    return _ZEROS[(lowest * np.uint64(_DE_BRUIJN)) >> np.uint64(58)]


@inner
def list_marked(marks: Array, words: int, bins: Codes) -> int:
    """List the bins marked in the first words of a set of bits in rising order, and clear the set."""
    found = 0
    for w in range(words):
        word = marks[w]
        while word:
            bins[found] = w * 64 + trailing_zeros(word)
            found += 1
            word &= word - np.uint64(1)
        marks[w] = 0
    return found


@inner
def list_filled(counts: Codes, offset: int, size: int, classes: int, bins: Codes) -> int:
    """List the bins that hold rows, in rising order."""
    found = 0
    for b in range(size):
        rows = 0
        for k in range(classes):
            rows |= counts[offset + b * classes + k]
        bins[found] = b
        found += rows != 0
    return found


@inner
def swap_rows(records: Records, a: int, b: int) -> None:
    """Exchange two rows with all that goes along."""
    words, target, along = records.words, records.target, records.along
    for w in range(words.shape[1]):
        words[a, w], words[b, w] = words[b, w], words[a, w]
    target[a], target[b] = target[b], target[a]
    if along.size:
        along[a], along[b] = along[b], along[a]


@inner
def move_apart(records: Records, start: int, stop: int, attribute: int, goes_first: Array) -> int:
    """Move the rows whose code goes first to the front of the range; return where the others begin."""
    codes = records.codes
    low, high = start, stop - 1
    while True:
        while low <= high and goes_first[codes[low, attribute]]:
            low += 1
        while low <= high and not goes_first[codes[high, attribute]]:
            high -= 1
        if low > high:
            return low
        swap_rows(records, low, high)
        low += 1
        high -= 1


@inner
def move_into_groups(records: Records, attribute: int, groups: int, begins: Rows, place: Rows) -> None:
    """Bring rows of the same code together; those of code c + 1 come to stand from begins[c] to begins[c + 1].

    No row has code 0. ``place`` is room for as many numbers as there are codes.
    """
    codes = records.codes
    for group in range(groups):
        place[group] = begins[group]
    for group in range(groups):
        while place[group] < begins[group + 1]:
            other = np.int64(codes[place[group], attribute]) - 1
            if other != group:
                swap_rows(records, place[group], place[other])
            place[other] += 1
