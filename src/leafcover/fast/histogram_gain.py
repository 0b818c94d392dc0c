"""C4.5's gain and split information of an attribute, from the rows of each class in each of its bins."""

import math
from typing import NamedTuple

import numpy as np

from leafcover.fast.arrays import Array, Bools, Codes, Floats, Rows
from leafcover.fast.histogram import inner, log_term

EPSILON = 1e-3  # C4.5's own
NO_GAIN = -EPSILON  # an attribute that cannot be tested
SLACK = 1e-6  # shares of rows add up to whole rows only nearly; a limit is not missed by rounding
_SMALLEST_GAP = 1e-5  # values nearer than this are not cut apart


class Rules(NamedTuple):
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
    few: Array  # (largest size · classes,) counts of one attribute; zero between uses
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
def look_at_number(counts: Array, offset: int, filled: int, attribute: int, rules: Rules, scratch: Scratch) -> None:
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
def look_at_category(counts: Array, offset: int, filled: int, attribute: int, rules: Rules, scratch: Scratch) -> None:
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
def choose(rules: Rules, scratch: Scratch) -> int:
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
