"""Who goes where: the branch of each row at a node, and the stable copy of records to the branches.

A row without a value goes to every branch that has rows, weighted by the branch's share of the known rows.

A record is 64 bits: row number and class below, a 32-bit number above. It is read as a whole (``records``) or,
through two views of the same memory, by halves (``words`` and ``singles``, at 2 i and 2 i + 1). So a scan reads
one stream: with values, classes and codes each looked up by row number in columns of their own, growth at 100,000
rows took 0.27 s instead of 0.15.
"""

from typing import NamedTuple, TypeAlias

import numpy as np
from numba import njit
from numpy.typing import NDArray

from leafcover.arrays import Array, Codes, Rows, Singles, Words

UNKNOWN = -1
LOWER_HALF = np.uint64(0xFFFFFFFF)
UNSIGNED = np.uint64  # an index of this kind spares numba the look whether it counts from the end

Halves: TypeAlias = NDArray[np.uint32]


class Packing(NamedTuple):
    """How row number and class share 32 bits; when they do not fit, the class is looked up."""

    shift: np.uint64
    mask: np.uint64  # 0: not packed
    labels: Codes  # (rows,)


def packing_of(labels: Codes, classes: int) -> Packing:
    """The packing for so many rows and classes.

    >>> packing = packing_of(np.zeros(9, np.int32), 3)
    >>> int(packing.shift), int(packing.mask)
    (2, 3)
    """
    bits = max(1, (classes - 1).bit_length())
    if len(labels) << bits > 1 << 32:
        bits = 0
    return Packing(np.uint64(bits), np.uint64((1 << bits) - 1), labels)


@njit(cache=True)
def row_of(word: np.uint32, packing: Packing) -> np.uint64:
    """The row number of a record's lower half."""
    return np.uint64(word) >> packing.shift


@njit(cache=True)
def label_of(word: np.uint32, packing: Packing) -> int:
    """Its class."""
    if packing.mask:
        return int(np.int64(np.uint64(word) & packing.mask))
    return int(np.int64(packing.labels[np.uint64(word)]))


@njit(cache=True)
def word_of(row: int, packing: Packing) -> np.uint64:
    """The lower half of the record of a row."""
    return (np.uint64(row) << packing.shift) | (np.uint64(packing.labels[row]) & packing.mask)


@njit(cache=True)
def resize(array: Array, size: int) -> Array:
    """The same array with room for ``size`` elements."""
    new = np.empty(size, array.dtype)
    for i in range(len(array)):
        new[i] = array[i]
    return new


@njit(cache=True)
def resize_rows(array: Array, size: int) -> Array:
    """The same matrix with room for ``size`` rows."""
    new = np.empty((size, array.shape[1]), array.dtype)
    for i in range(array.shape[0]):
        for j in range(array.shape[1]):
            new[i, j] = array[i, j]
    return new


@njit(cache=True)
def resize_lines(records: Words, lines: int, size: int) -> Words:
    """The same lines of records, each with room for ``size``."""
    new, old = np.empty(lines * size, np.uint64), len(records) // lines
    for line in range(lines):
        for i in range(old):
            new[line * size + i] = records[line * old + i]
    return new


@njit(cache=True)
def known_end(singles: Singles, base: int, rows: int) -> int:
    """How many values there are before the missing ones, which stand last."""
    if not np.isnan(singles[2 * (base + rows) - 1]):
        return rows
    low, high = 0, rows
    while low < high:
        middle = (low + high) // 2
        if np.isnan(singles[2 * (base + middle) + 1]):
            high = middle
        else:
            low = middle + 1
    return low


@njit(cache=True)
def branch_by_number(
    words: Halves, singles: Singles, base: int, known: int, rows: int, cut: np.float32, packing: Packing,
    branch_of: Array,
) -> int:  # fmt: skip
    """0 for at most the cut, 1 for above, UNKNOWN when missing; ``branch_of`` is by row number.

    The node's records stand from ``base`` on by value, so this takes no look at the column. Returns how many are 0.
    """
    low, high = 0, known
    while low < high:
        middle = (low + high) // 2
        if singles[2 * (base + middle) + 1] <= cut:
            low = middle + 1
        else:
            high = middle
    for i in range(base, base + low):
        branch_of[row_of(words[2 * i], packing)] = 0
    for i in range(base + low, base + known):
        branch_of[row_of(words[2 * i], packing)] = 1
    for i in range(base + known, base + rows):
        branch_of[row_of(words[2 * i], packing)] = UNKNOWN
    return low


@njit(cache=True)
def branch_by_level(
    words: Halves, base: int, rows: int, codes: Array, category: int, packing: Packing, branch_of: Array
) -> None:
    """The code of the level is the branch; missing is -1 in both."""
    for i in range(base, base + rows):
        row = row_of(words[2 * i], packing)
        branch_of[row] = codes[row, category]


@njit(cache=True)
def count_halves(
    words: Halves, base: int, low: int, packing: Packing, totals: Rows, sizes: Rows, items: Singles, counts: Singles
) -> None:
    """Weight and class counts of two branches when the first ``low`` of the node's whole rows take the first."""
    classes, rows = counts.shape[1], 0
    for c in range(classes):
        counts[0, c], counts[1, c] = 0.0, np.float32(totals[c])
        rows += totals[c]
    for i in range(base, base + low):
        label = label_of(words[2 * i], packing)
        counts[0, label] += np.float32(1.0)
    for c in range(classes):
        counts[1, c] -= counts[0, c]
    sizes[0], sizes[1] = low, rows - low
    items[0], items[1] = np.float32(low), np.float32(rows - low)


@njit(cache=True)
def weigh_branches(
    words: Halves, singles: Singles, base: int, rows: int, packing: Packing, branch_of: Array, n_branches: int,
    shares: Singles, sizes: Rows, items: Singles, counts: Singles,
) -> int:  # fmt: skip
    """Weight and class counts of each branch, summed in row order; returns how many rows are unknown.

    From ``base`` on stand the node's records in row order, with weights. ``sizes`` counts known rows; ``shares``
    is each branch's part of the known weight when some are unknown.
    """
    classes = counts.shape[1]
    for b in range(n_branches):
        items[b], sizes[b] = 0.0, 0
        for c in range(classes):
            counts[b, c] = 0.0
    unknown, total = 0, np.float32(0.0)
    for i in range(base, base + rows):
        branch, full = np.int64(branch_of[row_of(words[2 * i], packing)]), singles[2 * i + 1]
        if branch == UNKNOWN:
            unknown += 1
            continue
        items[branch] += full
        counts[branch, label_of(words[2 * i], packing)] += full
        sizes[branch] += 1
        total = np.float32(total + full)
    if unknown == 0:
        return 0
    for b in range(n_branches):
        shares[b] = np.float32(items[b] / total)
        items[b] = 0.0
        for c in range(classes):
            counts[b, c] = 0.0
    for i in range(base, base + rows):  # once more, for sums in row order with the unknown rows in their places
        branch, full = np.int64(branch_of[row_of(words[2 * i], packing)]), singles[2 * i + 1]
        label = label_of(words[2 * i], packing)
        if branch != UNKNOWN:
            items[branch] += full
            counts[branch, label] += full
            continue
        for b in range(n_branches):
            if sizes[b]:
                part = np.float32(full * shares[b])
                items[b] += part
                counts[b, label] += part
    return unknown


@njit(cache=True)
def partition_rows_in_two(
    records: Words, source: int, rows: int, branch_of: Array, shift: np.uint64, low: int, low_step: int,
    high: int, high_step: int,
) -> None:  # fmt: skip
    """Copy records to two segments, in order; one with a step of 0 is thrown away where it points.

    Both ends stay in registers and no jump depends on the data.
    """
    for i in range(source, source + rows):
        record = records[UNSIGNED(i)]
        branch = int(np.int64(branch_of[(record & LOWER_HALF) >> shift]))
        records[UNSIGNED(high if branch else low)] = record
        high += branch * high_step
        low += (1 - branch) * low_step


@njit(cache=True)
def partition_rows(
    records: Words, source: int, rows: int, branch_of: Array, shift: np.uint64, n_branches: int, begins: Rows,
    steps: Rows, ends: Rows, target: int,
) -> None:  # fmt: skip
    """The same for any number of segments and unknown rows; the segments begin at ``target + begins``."""
    for b in range(n_branches):
        ends[b] = target + begins[b]
    for i in range(source, source + rows):
        record = records[UNSIGNED(i)]
        branch = branch_of[(record & LOWER_HALF) >> shift]
        if branch != UNKNOWN:
            taken = UNSIGNED(branch)
            records[UNSIGNED(ends[taken])] = record
            ends[taken] += steps[taken]
            continue
        for b in range(n_branches):
            if steps[b]:
                records[ends[b]] = record
                ends[b] += 1


@njit(cache=True)
def share_weights(
    words: Halves, singles: Singles, source: int, rows: int, branch_of: Array, packing: Packing, n_branches: int,
    shares: Singles, begins: Rows, steps: Rows, ends: Rows, target: int,
) -> None:  # fmt: skip
    """Give the unknown rows that were dealt their part of each branch."""
    for b in range(n_branches):
        ends[b] = target + begins[b]
    for i in range(source, source + rows):
        branch = np.int64(branch_of[row_of(words[2 * i], packing)])
        if branch != UNKNOWN:
            ends[branch] += steps[branch]
            continue
        for b in range(n_branches):
            if steps[b]:
                singles[2 * ends[b] + 1] = np.float32(singles[2 * i + 1] * shares[b])
                ends[b] += 1
