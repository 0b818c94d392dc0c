"""Kernels both histogram growers stand on: exact n·log2 n, counting rows into bins, moving rows.

Rows are moved as whole records (their codes side by side) and never through an index: a node's rows are then
read in one stream, whatever its depth. Counting 1M rows of 15 attributes takes 15 ms so, and 160 ms
through an index once the rows of a node lie scattered.
"""

import math
from typing import Any, NamedTuple

import numpy as np
from numba import njit

from leafcover.arrays import Array, Bools, Codes, Floats, Rows

# n·log2 n is rounded to a multiple of 2^-20. Sums of such numbers are exact in double precision (up to 2^33,
# 290 million rows), so scores do not depend on the order of rows, bins or classes, and equal splits tie exactly.
_LOG_UNIT = 1048576.0
_MAX_LOG_TABLE = 65_536  # 512 kB: what fits in the second-level cache


# A kernel that only kernels call has no door to Python: that saves a quarter of the compiling, 8 of 32 s.
_INNER: dict[str, Any] = {"cache": True, "error_model": "numpy", "no_cpython_wrapper": True, "no_cfunc_wrapper": True}
inner = njit(**_INNER)


class Records(NamedTuple):
    """Rows that stand in the order of the nodes: the same memory as codes and as words, and what goes along."""

    codes: Array  # (rows, width) bins
    words: Array  # (rows, width in words of 8 bytes) uint64: the same memory, to be moved
    target: Codes  # (rows,) class
    carried: Array  # (rows,) what else goes with a row: its number, its weight; no places when nothing does


@inner
def log_term(count: float, table: Floats) -> float:
    """count · log2(count) on a grid of 2^-20; 0 for 0."""
    place = int(count)
    if place == count and place < table.size:
        return table[np.uint64(place)]  # an unsigned index needs no look at its sign
    return np.rint(count * math.log2(count) * _LOG_UNIT) / _LOG_UNIT if count > 0 else 0.0


@inner
def log_table(rows: int) -> Floats:
    """The first values of ``log_term``, as many as a table of this many rows can use."""
    table = np.zeros(min(rows + 1, _MAX_LOG_TABLE))
    for count in range(2, table.size):
        table[count] = np.rint(count * math.log2(count) * _LOG_UNIT) / _LOG_UNIT
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
def resize_stack(stack: Rows, used: int, size: int) -> Rows:
    """The same stack with space for at least ``size`` entries."""
    if size <= len(stack):
        return stack
    new = np.empty((2 * size, stack.shape[1]), stack.dtype)
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
    words, target, carried = records.words, records.target, records.carried
    for w in range(words.shape[1]):
        words[a, w], words[b, w] = words[b, w], words[a, w]
    target[a], target[b] = target[b], target[a]
    if carried.size:
        carried[a], carried[b] = carried[b], carried[a]


@inner
def partition_rows(records: Records, start: int, stop: int, attribute: int, goes_first: Array) -> int:
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
def group_rows(records: Records, attribute: int, groups: int, begins: Rows, place: Rows) -> None:
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


# Kernels that turn values into small bin codes: 0 is missing, 1 the lowest bin.


MAX_BINS = 255  # with the code of missing values they fill one byte


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
        average = (ordered.size - done) / (most - place)
        full = end - done >= average or after - end >= average
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


# Rows into the order of their cells, and back to numbers of cells.


@njit(cache=True)
def gather(words: Array, target: Codes, labels: Rows, n_labels: int) -> tuple[Array, Codes, Rows, Rows]:
    """Words, classes and row numbers in the order of the labels, and where each label starts."""
    starts = np.zeros(n_labels + 1, np.int64)
    for i in range(labels.size):
        starts[labels[i] + 1] += 1
    place = np.zeros(n_labels + 1, np.int64)
    for k in range(n_labels):
        starts[k + 1] += starts[k]
        place[k] = starts[k]
    moved = np.empty(words.shape, np.uint64)
    classes = np.empty(labels.size, np.int32)
    row = np.empty(labels.size, np.int64)
    for i in range(labels.size):
        to = place[labels[i]]
        place[labels[i]] += 1
        for w in range(words.shape[1]):
            moved[to, w] = words[i, w]
        classes[to] = target[i]
        row[to] = i
    return moved, classes, row, starts


@njit(cache=True)
def bits_of_cells(target: Codes, starts: Rows, classes: int) -> float:
    """Rows times entropy of the classes, summed over cells."""
    bits, rows = 0.0, np.zeros(classes, np.int64)
    for cell in range(starts.size - 1):
        fill(rows, 0, classes, 0)
        for i in range(starts[cell], starts[cell + 1]):
            rows[target[i]] += 1
        for k in range(classes):
            if rows[k]:
                bits += rows[k] * math.log2((starts[cell + 1] - starts[cell]) / rows[k])
    return bits


@njit(cache=True)
def number_cells(begins: Bools, row: Rows) -> tuple[Rows, int]:
    """The number of the cell of each row, cells counted in the order they stand."""
    labels = np.empty(row.size, np.int64)
    cell = -1
    for i in range(row.size):
        cell += begins[i]
        labels[row[i]] = cell
    return labels, cell + 1


# C4.5's gain and split information of an attribute, from the rows of each class in each of its bins.


EPSILON = 1e-3  # C4.5's own
NO_GAIN = -EPSILON  # an attribute that cannot be tested
SLACK = 1e-6  # shares of rows add up to whole rows only nearly; a limit is not missed by rounding
_SMALLEST_GAP = 1e-5  # values nearer than this are not cut apart


class GrowthSettings(NamedTuple):
    """The attributes, and when a split is allowed."""

    tests: Rows  # (attributes,) 0, 1, ..
    numbers: Rows  # those of the attributes that are numbers
    categories: Rows  # the others
    sizes: Rows  # (attributes,) number of codes, the code of missing values included
    offsets: Rows  # (attributes + 1,) where the counts of each begin
    is_number: Bools  # (attributes,)
    many_values: Bools  # (attributes,) a category with so many levels that it stays out of the average gain
    edges: Floats  # (attributes, 256) the upper edge of each code of a number
    classes: int
    min_records: float  # two branches at least must have this many rows


TOTAL, KNOWN, LEFT = 0, 1, 2  # of each class: rows of the node, with a known value, below the cut


class Scratch(NamedTuple):
    """Room that every node uses again; integers while rows are whole, doubles once they are split."""

    table: Floats  # n·log2 n
    bins: Codes  # (largest size,) bins that hold rows
    marks: Array  # bits of the bins that hold rows
    rows: Array  # (3, classes) see above
    few_counts: Array  # (largest size · classes,) counts of one attribute; zero between uses
    gain: Floats  # (attributes,)
    info: Floats  # (attributes,)
    cut: Codes  # (attributes, 2) the last code of the first side of the best cut, and the next that holds rows


# The functions below have no ``return`` before their end and no branch that alone uses an array: numba would
# count references to every array at each call, and a tree of tiny nodes would take half as long again.


@inner
def _scan(
    counts: Array,
    offset: int,
    bins: Codes,
    first: int,
    filled: int,
    classes: int,
    of_class: Array,
    right_sum: float,
    rows: float,
    min_records: float,
    edges: Floats,
    attribute: int,
    table: Floats,
) -> tuple[float, int, float, int]:
    """Try every cut of a number: bits left over by the best, its place (-1: none), rows below it, cuts tried."""
    small = 0.1 * rows / classes
    small = (min_records if small <= min_records else min(small, 25.0)) - SLACK
    needed = max(small, min_records - SLACK)
    below = rows * 0  # whole or real, as the counts are
    least, at, tries, left_sum, best_below = np.inf, -1, 0, 0.0, below
    i = first if rows >= 2 * (min_records - SLACK) else filled
    while i < filled - 1 and rows - below >= small:
        begin = offset + bins[i] * classes
        for k in range(classes):
            here = counts[begin + k]
            if here:
                was = of_class[LEFT, k]
                rest = of_class[KNOWN, k] - was
                left_sum += log_term(was + here, table) - log_term(was, table)
                right_sum += log_term(rest - here, table) - log_term(rest, table)
                of_class[LEFT, k] = was + here
                below += here
        apart = edges[attribute, bins[i + 1]] - edges[attribute, bins[i]] > _SMALLEST_GAP
        if below >= small and rows - below >= small and apart:
            tries += 1
            score = log_term(below, table) - left_sum + log_term(rows - below, table) - right_sum
            if score < least and below >= needed and rows - below >= needed:
                least, at, best_below = score, i, below
        i += 1
    return least, at, best_below, tries


@inner
def score_number(
    counts: Array, offset: int, filled: int, attribute: int, rules: GrowthSettings, scratch: Scratch
) -> None:
    """Note gain, information and place of the best cut of a number whose filled bins are listed."""
    classes, table, bins, of_class = rules.classes, scratch.table, scratch.bins, scratch.rows
    is_missing = bins[0] == 0
    zero = of_class[TOTAL, 0] * 0
    rows, unknown, right_sum = zero, zero, 0.0
    for k in range(classes):
        without = counts[offset + k] * is_missing
        known = of_class[TOTAL, k] - without
        unknown += without
        of_class[KNOWN, k] = known
        of_class[LEFT, k] = 0
        rows += known
        right_sum += log_term(known, table)
    spread = log_term(rows, table) - right_sum
    first = np.int64(is_missing)
    least, at, below, tries = _scan(
        counts, offset, bins, first, filled, classes, of_class, right_sum, rows, rules.min_records,
        rules.edges, attribute, table,
    )  # fmt: skip
    total = rows + unknown
    parts = log_term(below, table) + log_term(rows - below, table) + log_term(unknown, table)
    gain = spread - least - math.log2(max(tries, 1))
    scratch.gain[attribute] = gain / total if gain > 0.0 else NO_GAIN
    scratch.info[attribute] = (log_term(total, table) - parts) / total
    scratch.cut[attribute, 0] = bins[max(at, 0)]
    scratch.cut[attribute, 1] = bins[max(at, 0) + 1]


@inner
def score_category(
    counts: Array, offset: int, filled: int, attribute: int, rules: GrowthSettings, scratch: Scratch
) -> None:
    """Note gain and information of one branch for each level."""
    classes, table, bins, of_class = rules.classes, scratch.table, scratch.bins, scratch.rows
    is_missing = bins[0] == 0
    zero = of_class[TOTAL, 0] * 0
    rows, unknown, of_classes = zero, zero, 0.0
    for k in range(classes):
        without = counts[offset + k] * is_missing
        known = of_class[TOTAL, k] - without
        unknown += without
        rows += known
        of_classes += log_term(known, table)
    large_branches, after, parts = 0, 0.0, log_term(unknown, table)
    for i in range(np.int64(is_missing), filled):
        begin = offset + bins[i] * classes
        branch = zero
        for k in range(classes):
            here = counts[begin + k]
            branch += here
            after -= log_term(here, table)
        term = log_term(branch, table)
        after += term
        parts += term
        large_branches += branch >= rules.min_records - SLACK
    total = rows + unknown
    gain = (log_term(rows, table) - of_classes - after) / total
    scratch.gain[attribute] = gain if large_branches > 1 else NO_GAIN
    scratch.info[attribute] = (log_term(total, table) - parts) / total


@inner
def choose(rules: GrowthSettings, scratch: Scratch) -> int:
    """The attribute with the best gain ratio among those of at least average gain; -1 if there is none."""
    gain, info = scratch.gain, scratch.info
    possible, total, every_has_many = 0, 0.0, True
    for a in range(gain.size):
        every_has_many &= rules.many_values[a]
    for a in range(gain.size):
        if gain[a] > NO_GAIN and (every_has_many or not rules.many_values[a]):
            possible += 1
            total += gain[a]
    average = total / possible if possible else 1e6
    best, best_ratio = -1, NO_GAIN
    for a in range(gain.size):
        if gain[a] > NO_GAIN and gain[a] >= average - EPSILON and info[a] > EPSILON:
            ratio = gain[a] / info[a]
            if ratio > best_ratio:
                best, best_ratio = a, ratio
    return best
