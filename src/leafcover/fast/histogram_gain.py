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


@inner
def _number(counts: Array, offset: int, attribute: int, filled: int, rules: Rules, scratch: Scratch) -> None:
    """Gain, information and place of the best cut of a number."""
    classes, table, bins = rules.classes, scratch.table, scratch.bins
    of_class, edges = scratch.rows, rules.edges
    scratch.gain[attribute] = NO_GAIN
    first = 1 if bins[0] == 0 else 0
    zero = of_class[TOTAL, 0] * 0  # whole or real, as the counts are
    rows, unknown, right_sum = zero, zero, 0.0
    for k in range(classes):
        known = of_class[TOTAL, k]
        if first:
            known -= counts[offset + k]
            unknown += counts[offset + k]
        of_class[KNOWN, k] = known
        of_class[LEFT, k] = 0
        rows += known
        right_sum += log_term(known, table)
    least_rows = rules.min_records - SLACK
    if rows < 2 * least_rows:
        return
    small = 0.1 * rows / classes
    small = least_rows if small <= rules.min_records else min(small, 25.0) - SLACK
    spread = log_term(rows, table) - right_sum
    least, at, tries, below, left_sum, best_below = np.inf, -1, 0, zero, 0.0, zero
    for i in range(first, filled - 1):
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
        if below < small:
            continue
        if rows - below < small:
            break
        if edges[attribute, bins[i + 1]] - edges[attribute, bins[i]] <= _SMALLEST_GAP:
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
    scratch.cut[attribute, 0] = bins[at]
    scratch.cut[attribute, 1] = bins[at + 1]


@inner
def _category(counts: Array, offset: int, attribute: int, filled: int, rules: Rules, scratch: Scratch) -> None:
    """Gain and information of one branch for each level."""
    classes, table, bins = rules.classes, scratch.table, scratch.bins
    scratch.gain[attribute] = NO_GAIN
    first = 1 if bins[0] == 0 else 0
    zero = scratch.rows[TOTAL, 0] * 0
    rows, unknown, of_classes = zero, zero, 0.0
    for k in range(classes):
        here = scratch.rows[TOTAL, k]
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
        large_branches += branch >= rules.min_records - SLACK
    if large_branches < 2:
        return
    total = rows + unknown
    before = log_term(rows, table) - of_classes
    scratch.gain[attribute] = rows / total * ((before - after) / rows)
    scratch.info[attribute] = (log_term(total, table) - parts) / total


@inner
def look_at(counts: Array, offset: int, attribute: int, filled: int, rules: Rules, scratch: Scratch) -> None:
    """Note gain, information and cut of an attribute whose filled bins are listed in the scratch."""
    if filled < 2:
        scratch.gain[attribute] = NO_GAIN
    elif rules.is_number[attribute]:
        _number(counts, offset, attribute, filled, rules, scratch)
    else:
        _category(counts, offset, attribute, filled, rules, scratch)


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
