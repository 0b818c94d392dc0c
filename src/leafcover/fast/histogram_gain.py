"""C4.5's gain and split information of an attribute, from the rows of each class in each of its bins."""

import math
from typing import NamedTuple

import numpy as np
from numba import njit

from leafcover.fast.arrays import Array, Bools, Codes, Floats, Rows
from leafcover.fast.histogram import log_term

EPSILON = 1e-3  # C4.5's own
NO_GAIN = -EPSILON  # an attribute that cannot be tested
_SMALLEST_GAP = 1e-5  # values nearer than this are not cut apart


class Rules(NamedTuple):
    """The attributes, and when a split is allowed."""

    tests: Rows  # (attributes,) 0, 1, ..
    sizes: Rows  # (attributes,) number of codes, the code of missing values included
    offsets: Rows  # (attributes + 1,) where the counts of each begin
    is_number: Bools  # (attributes,)
    many_values: Bools  # (attributes,) a category with so many levels that it stays out of the average gain
    edges: Floats  # (attributes, 256) the upper edge of each code of a number
    classes: int
    min_records: float  # two branches at least must have this many rows


class Scratch(NamedTuple):
    """Room that every node uses again; integers while rows are whole, doubles once they are split."""

    table: Floats  # n·log2 n
    bins: Codes  # (largest size,) bins that hold rows
    marks: Array  # bits of the bins that hold rows
    totals: Array  # (classes,) rows of the node
    known: Array  # (classes,) rows whose value is known
    left: Array  # (classes,) rows below the cut
    few: Array  # (largest size · classes,) counts of one attribute; zero between uses
    gain: Floats  # (attributes,)
    info: Floats  # (attributes,)
    last: Codes  # (attributes,) the last code of the first side of the best cut
    following: Codes  # (attributes,) the next code that holds rows


@njit(cache=True)
def _number(counts: Array, offset: int, attribute: int, filled: int, rules: Rules, scratch: Scratch) -> None:
    """Gain, information and place of the best cut of a number."""
    classes, table, bins = rules.classes, scratch.table, scratch.bins
    left, known, edges = scratch.left, scratch.known, rules.edges[attribute]
    scratch.gain[attribute] = NO_GAIN
    first = 1 if bins[0] == 0 else 0
    rows, right_sum, unknown = left[0] * 0, 0.0, left[0] * 0
    for k in range(classes):
        known[k] = scratch.totals[k]
        if first:
            known[k] -= counts[offset + k]
            unknown += counts[offset + k]
        left[k] = 0
        rows += known[k]
        right_sum += log_term(known[k], table)
    least_rows = rules.min_records
    if rows < 2 * least_rows:
        return
    small = 0.1 * rows / classes
    small = least_rows if small <= least_rows else min(small, 25.0)
    spread = log_term(rows, table) - right_sum
    least, at, tries, below, left_sum, best_below = np.inf, -1, 0, rows * 0, 0.0, rows * 0
    for i in range(first, filled - 1):
        begin = offset + bins[i] * classes
        for k in range(classes):
            here = counts[begin + k]
            was = left[k]
            rest = known[k] - was
            left_sum += log_term(was + here, table) - log_term(was, table)
            right_sum += log_term(rest - here, table) - log_term(rest, table)
            left[k] = was + here
            below += here
        if below < small:
            continue
        if rows - below < small:
            break
        if edges[bins[i + 1]] - edges[bins[i]] <= _SMALLEST_GAP:
            continue
        tries += 1
        if below < least_rows or rows - below < least_rows:
            continue
        score = log_term(below, table) - left_sum + log_term(rows - below, table) - right_sum
        if score < least:
            least, at, best_below = score, i, below
    if at < 0:
        return
    total = rows + unknown
    gain = rows / total * ((spread - least) / rows) - math.log2(tries) / total
    if gain <= 0.0:
        return
    scratch.gain[attribute] = gain
    parts = log_term(best_below, table) + log_term(rows - best_below, table) + log_term(unknown, table)
    scratch.info[attribute] = (log_term(total, table) - parts) / total
    scratch.last[attribute] = bins[at]
    scratch.following[attribute] = bins[at + 1]


@njit(cache=True)
def _category(counts: Array, offset: int, attribute: int, filled: int, rules: Rules, scratch: Scratch) -> None:
    """Gain and information of one branch for each level."""
    classes, table, bins = rules.classes, scratch.table, scratch.bins
    scratch.gain[attribute] = NO_GAIN
    first = 1 if bins[0] == 0 else 0
    zero = scratch.totals[0] * 0
    rows, unknown, of_classes = zero, zero, 0.0
    for k in range(classes):
        here = scratch.totals[k]
        if first:
            here -= counts[offset + k]
            unknown += counts[offset + k]
        rows += here
        of_classes += log_term(here, table)
    large_branches, after, parts = 0, 0.0, log_term(unknown, table)
    for i in range(first, filled):
        begin = offset + bins[i] * classes
        branch = zero
        for k in range(classes):
            here = counts[begin + k]
            branch += here
            after -= log_term(here, table)
        term = log_term(branch, table)
        after += term
        parts += term
        large_branches += branch >= rules.min_records
    if large_branches < 2:
        return
    total = rows + unknown
    before = log_term(rows, table) - of_classes
    scratch.gain[attribute] = rows / total * ((before - after) / rows)
    scratch.info[attribute] = (log_term(total, table) - parts) / total


@njit(cache=True)
def look_at(counts: Array, offset: int, attribute: int, filled: int, rules: Rules, scratch: Scratch) -> None:
    """Note gain, information and cut of an attribute whose filled bins are listed in the scratch."""
    if filled < 2:
        scratch.gain[attribute] = NO_GAIN
    elif rules.is_number[attribute]:
        _number(counts, offset, attribute, filled, rules, scratch)
    else:
        _category(counts, offset, attribute, filled, rules, scratch)


@njit(cache=True)
def choose(rules: Rules, scratch: Scratch) -> int:
    """The attribute with the best gain ratio among those of at least average gain; -1 if there is none."""
    gain, info = scratch.gain, scratch.info
    every_has_many = rules.many_values.all()
    possible, total = 0, 0.0
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
