"""Permutation of rows within cells by one random word per row, and hashes and majorities of cell values."""

import numpy as np
from numba import njit

from leafcover.arrays import Array, Bools, Rows, Words
from leafcover.kernels import ENTRY
from leafcover.kernels.sorting import sort_pairs


def rows_by_cell(label: Rows, count: int) -> tuple[Rows, Rows]:
    """Rows sorted by cell, then by row number, and the start of each cell (count + 1 entries)."""
    order, starts = np.empty(len(label), np.int64), np.zeros(count + 2, np.int64)
    _sort_by_cell(label, order, starts)
    return order, starts[:-1]


@njit(**ENTRY)
def _sort_by_cell(label: Rows, order: Rows, starts: Rows) -> None:
    """A counting sort; ``starts`` is zero before, and the start of each cell afterwards."""
    for i in range(len(label)):
        starts[label[i] + 2] += 1
    for c in range(2, len(starts)):
        starts[c] += starts[c - 1]
    for i in range(len(label)):  # starts[c + 1] moves from the start of a cell to its end
        order[starts[label[i] + 1]] = i
        starts[label[i] + 1] += 1


def permute_within_cells(order: Rows, starts: Rows, words: Words) -> Rows:
    """For each row, the row it takes its value from: within each cell, rows sorted by their word.

    A counting sort by cell and a small sort in each cell take 60 ms for a million rows; sorting (cell, word) pairs
    takes 350 ms.
    """
    keys, rows, source = words[order], order.copy(), np.empty_like(order)
    _sort_cells(starts, keys, rows, np.empty_like(keys), source)
    source[order] = rows
    return source


@njit(**ENTRY)
def _sort_cells(starts: Rows, keys: Words, rows: Rows, spare_keys: Words, spare_rows: Rows) -> None:
    for c in range(len(starts) - 1):
        sort_pairs(keys, rows, spare_keys, spare_rows, starts[c], starts[c + 1])  # stable: equal words keep row order


def hash_by_cell(label: Rows, bits: Array, count: int) -> Words:
    """An order-independent hash of the values in each cell: the sum of the 64-bit hashes of the values."""
    marks = np.zeros(count, np.uint64)
    _add_hashes(label, bits, marks)
    return marks


@njit(**ENTRY)
def _add_hashes(label: Rows, bits: Array, marks: Words) -> None:
    for i in range(len(label)):
        x = np.uint64(bits[i]) + np.uint64(0x9E3779B97F4A7C15)
        x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        marks[label[i]] += x ^ (x >> np.uint64(31))


def has_majority_value(order: Rows, starts: Rows, bits: Array, share: float) -> Bools:
    """Rows whose value is shared by at least ``share`` (above one half) of their cell."""
    found = np.zeros(len(order), np.bool_)
    _mark_majorities(order, starts, bits, share, found)
    return found


@njit(**ENTRY)
def _mark_majorities(order: Rows, starts: Rows, bits: Array, share: float, found: Bools) -> None:
    """Majority vote, then count."""
    for c in range(len(starts) - 1):
        start, stop = starts[c], starts[c + 1]
        candidate, lead = bits[order[start]] if stop > start else 0, 0
        for i in range(start, stop):
            if lead == 0:
                candidate = bits[order[i]]
            lead += 1 if bits[order[i]] == candidate else -1
        held = 0
        for i in range(start, stop):
            held += bits[order[i]] == candidate
        if held >= share * (stop - start):
            for i in range(start, stop):
                found[order[i]] = bits[order[i]] == candidate
