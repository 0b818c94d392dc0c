"""The kernel of refining: inside every cell a tree of two-way splits whose leaves all keep the floor."""

import math
from typing import NamedTuple

import numpy as np
from numba import njit

from leafcover.fast.arrays import Array, Bools, Codes, Floats, Rows
from leafcover.fast.histogram import (
    Records,
    count_rows,
    list_filled,
    list_marked,
    log_table,
    log_term,
    move_apart,
)

_FRESH = 0  # count the node's rows
_SMALLER = 1  # count the rows and take them from the counts of the parent, which wait for the sibling
_REST = 2  # what is left in the parent's counts is this node's


class Question(NamedTuple):
    """What may be tested and how a split is judged."""

    tests: Rows  # (tests,) attributes that may be tested, rising
    sizes: Rows  # (tests,) number of codes of each
    offsets: Rows  # (tests + 1,) where the counts of each begin
    is_number: Bools  # (tests,)
    classes: int
    floor: int
    min_gain_bits: float
    max_depth: int


class Scratch(NamedTuple):
    """Room that every node uses again."""

    table: Floats  # n·log2 n
    bins: Codes  # (largest size,) bins that hold rows
    ordered: Codes  # (largest size,) the same in the order a cut runs through
    left: Rows  # (classes,) rows on the first side
    totals: Rows  # (classes,) rows of the node
    present: Codes  # (classes,) classes in the node, rising
    place: Codes  # (classes,) the place of a class among those present, -1 elsewhere
    local: Codes  # (small limit,) places of the rows' classes
    marks: Array  # bits of the bins that hold rows
    best: Codes  # (largest size,) codes on the first side of the best split so far
    goes_first: Bools  # (largest size,) the same as marks; all False between nodes


@njit(cache=True)
def _cut(
    counts: Codes, offset: int, classes: int, ordered: Codes, filled: int, floor: int, spread: float, scratch: Scratch
) -> tuple[float, int, int, int]:
    """The best cut through ordered bins: bits gained, last bin and rows of the first side, cuts allowed."""
    table, left, totals = scratch.table, scratch.left, scratch.totals
    rows, right_sum = 0, 0.0
    for k in range(classes):
        left[k] = 0
        rows += totals[k]
        right_sum += log_term(totals[k], table)
    least, at, first_rows, tries, below, left_sum = np.inf, -1, 0, 0, 0, 0.0
    for i in range(filled - 1):
        begin = offset + ordered[i] * classes
        for k in range(classes):
            here = counts[begin + k]
            if here:
                was = left[k]
                rest = totals[k] - was
                left_sum += log_term(was + here, table) - log_term(was, table)
                right_sum += log_term(rest - here, table) - log_term(rest, table)
                left[k] = was + here
                below += here
        if below < floor:
            continue
        if rows - below < floor:
            break
        tries += 1
        score = log_term(below, table) - left_sum + log_term(rows - below, table) - right_sum
        if score < least:
            least, at, first_rows = score, i, below
    return spread - least, at, first_rows, tries


@njit(cache=True)
def _by_share(counts: Codes, offset: int, classes: int, main: int, filled: int, scratch: Scratch) -> None:
    """Order the levels by their share of the main class: with two classes the best subset is then a cut."""
    share = np.empty(filled)
    for i in range(filled):
        begin = offset + scratch.bins[i] * classes
        rows = 0
        for k in range(classes):
            rows += counts[begin + k]
        share[i] = counts[begin + main] / rows
    rank = np.argsort(share, kind="mergesort")
    for i in range(filled):
        scratch.ordered[i] = scratch.bins[rank[i]]


@njit(cache=True)
def complexity(classes: int, rows: int) -> float:
    """The bits that fitting class shares to rows gains by chance: the multinomial's parametric complexity.

    Kontkanen and Myllymäki 2007: C(k + 2) = C(k + 1) + rows/k · C(k), from C(1) = 1 and Szpankowski's C(2).
    """
    if classes < 2 or rows < 1:
        return 0.0
    root = math.sqrt(rows * math.pi / 2.0)
    ratio = root + 2.0 / 3.0 + math.sqrt(2.0 * math.pi) / (24.0 * math.sqrt(rows))
    bits = math.log2(ratio)
    for k in range(1, classes - 1):
        ratio = 1.0 + rows / (k * ratio)
        bits += math.log2(ratio)
    return bits


class Split(NamedTuple):
    """The best split of a node so far."""

    test: int  # -1: none
    value: float  # bits gained less the bits it takes to name the split
    gain: float  # bits gained
    firsts: int  # how many codes ``scratch.best`` lists
    below: int  # rows on the first side
    classes: int  # classes that the node holds


@njit(cache=True)
def _judge(
    best: Split,
    test: int,
    counts: Codes,
    offset: int,
    classes: int,
    filled: int,
    spread: float,
    question: Question,
    scratch: Scratch,
) -> Split:
    """The better of the best split so far and the best one of this attribute; the earlier wins a tie."""
    if filled < 2:
        return best
    number = question.is_number[test]
    ordered = scratch.bins
    if not number:
        main = 0
        for k in range(1, classes):
            if scratch.totals[k] > scratch.totals[main]:
                main = k
        _by_share(counts, offset, classes, main, filled, scratch)
        ordered = scratch.ordered
    gain, at, below, tries = _cut(counts, offset, classes, ordered, filled, question.floor, spread, scratch)
    if at < 0 or gain <= 0.0:
        return best
    # A cut is one of ``tries``; a set of levels is one of 2^(levels - 1) - 1.
    value = gain - (math.log2(tries) if number else float(filled - 1))
    if best.test >= 0 and value <= best.value:
        return best
    scratch.best[: at + 1] = ordered[: at + 1]
    present = 0
    for k in range(classes):
        present += scratch.totals[k] > 0
    return Split(test, value, gain, at + 1, below, present)


@njit(cache=True)
def _spread(classes: int, scratch: Scratch) -> float:
    """The bits it takes to tell the classes of a node's rows: rows times entropy."""
    rows, of_classes = 0, 0.0
    for k in range(classes):
        rows += scratch.totals[k]
        of_classes += log_term(scratch.totals[k], scratch.table)
    return log_term(rows, scratch.table) - of_classes


@njit(cache=True)
def _split_large(counts: Codes, question: Question, scratch: Scratch) -> Split:
    """The best split of a node whose rows are counted already."""
    classes = question.classes
    scratch.totals[:classes] = 0
    for b in range(question.sizes[0]):
        for k in range(classes):
            scratch.totals[k] += counts[b * classes + k]
    best = Split(-1, 0.0, 0.0, 0, 0, 0)
    spread = _spread(classes, scratch)
    if spread <= 0.0:
        return best
    for t in range(question.tests.size):
        offset = question.offsets[t]
        filled = list_filled(counts, offset, question.sizes[t], classes, scratch.bins)
        best = _judge(best, t, counts, offset, classes, filled, spread, question, scratch)
    return best


@njit(cache=True)
def _split_small(
    records: Records, start: int, stop: int, counts: Codes, question: Question, scratch: Scratch
) -> Split:
    """The best split of a node with fewer rows than places to count in: only places in use are touched.

    ``counts`` is all zero before and after. Classes are renumbered among those present.
    """
    codes, target = records.codes, records.target
    place, present, local, totals = scratch.place, scratch.present, scratch.local, scratch.totals
    classes = 0
    for i in range(start, stop):
        if place[target[i]] < 0:
            place[target[i]] = 0
            present[classes] = target[i]
            classes += 1
    best = Split(-1, 0.0, 0.0, 0, 0, 0)
    if classes > 1:
        present[:classes].sort()
        for k in range(classes):
            place[present[k]] = k
            totals[k] = 0
        for i in range(start, stop):
            local[i - start] = place[target[i]]
            totals[local[i - start]] += 1
        spread = _spread(classes, scratch)
        for t in range(question.tests.size):
            attribute = question.tests[t]
            marks = scratch.marks[: (question.sizes[t] + 63) // 64]
            for i in range(start, stop):
                code = np.int64(codes[i, attribute])
                counts[code * classes + local[i - start]] += 1
                marks[code >> 6] |= np.uint64(1) << np.uint64(code & 63)
            filled = list_marked(marks, scratch.bins)
            best = _judge(best, t, counts, 0, classes, filled, spread, question, scratch)
            for i in range(filled):
                begin = scratch.bins[i] * classes
                counts[begin : begin + classes] = 0
    for k in range(classes):
        place[present[k]] = -1
    return best


@njit(cache=True)
def refine(records: Records, starts: Rows, question: Question) -> tuple[Bools, Floats, Floats, int]:
    """Split the ranges between ``starts`` (the last entry is the number of rows) as long as it pays.

    Moves the records. Returns which places begin a new cell, the bits gained by each test, the same after
    costs, and how many of the ranges were split.
    """
    rows, classes, tests = records.target.size, question.classes, question.tests.size
    begins = np.zeros(rows, np.bool_)
    gains, nets = np.zeros(tests), np.zeros(tests)
    places = question.offsets[tests]
    large = max(places // max(tests, 1), 64)  # from here on counting costs more than looking through the counts
    widest = question.sizes.max() if tests else 1
    slots = 2
    while (large << (slots - 2)) < rows:
        slots += 1
    counts = np.zeros((slots, places), np.int32)
    few = np.zeros(widest * min(classes, large), np.int32)
    scratch = Scratch(
        log_table(rows),
        np.empty(widest, np.int32),
        np.empty(widest, np.int32),
        np.empty(classes, np.int64),
        np.empty(classes, np.int64),
        np.empty(classes, np.int32),
        np.full(classes, -1, np.int32),
        np.empty(large, np.int32),
        np.zeros((widest + 63) // 64, np.uint64),
        np.empty(widest, np.int32),
        np.zeros(widest, np.bool_),
    )
    stack = np.empty((2 * question.max_depth + 4, 5), np.int64)  # start, stop, depth, slot, how to count
    split_cells = 0
    for cell in range(starts.size - 1):
        if starts[cell] == starts[cell + 1]:
            continue
        stack[0] = starts[cell], starts[cell + 1], 0, 0, _FRESH
        waiting = 1
        while waiting:
            waiting -= 1
            start, stop, depth, slot, how = stack[waiting]
            begins[start] = True
            is_large = stop - start >= large
            if how == _SMALLER and not is_large:
                count_rows(records, start, stop, question.tests, question.offsets, classes, -1, counts[slot - 1])
            if stop - start < 2 * question.floor or depth >= question.max_depth or tests == 0:
                if how == _SMALLER and is_large:
                    count_rows(records, start, stop, question.tests, question.offsets, classes, -1, counts[slot - 1])
                continue
            if is_large:
                here = counts[slot]
                if how != _REST:
                    here[:] = 0
                    count_rows(records, start, stop, question.tests, question.offsets, classes, 1, here)
                if how == _SMALLER:
                    counts[slot - 1] -= here
                best = _split_large(here, question, scratch)
            else:
                best = _split_small(records, start, stop, few, question, scratch)
            if best.test < 0:
                continue
            extra = complexity(best.classes, best.below) + complexity(best.classes, stop - start - best.below)
            net = best.value - extra + complexity(best.classes, stop - start)
            if net < question.min_gain_bits:
                continue
            split_cells += depth == 0
            gains[best.test] += best.gain
            nets[best.test] += net
            firsts = scratch.best[: best.firsts]
            for code in firsts:
                scratch.goes_first[code] = True
            middle = move_apart(records, start, stop, question.tests[best.test], scratch.goes_first)
            for code in firsts:
                scratch.goes_first[code] = False
            smaller, rest = (start, middle), (middle, stop)
            if middle - start > stop - middle:
                smaller, rest = rest, smaller
            keeps = rest[1] - rest[0] >= large and depth + 1 < question.max_depth
            stack[waiting] = rest[0], rest[1], depth + 1, slot, _REST if keeps else _FRESH
            stack[waiting + 1] = (
                smaller[0], smaller[1], depth + 1, slot + 1 if keeps else slot, _SMALLER if keeps else _FRESH
            )  # fmt: skip
            waiting += 2
    return begins, gains, nets, split_cells


@njit(cache=True)
def gather(words: Array, target: Codes, labels: Rows, n_labels: int) -> tuple[Array, Codes, Rows, Rows]:
    """Words, classes and row numbers in the order of the labels, and where each label starts."""
    starts = np.zeros(n_labels + 1, np.int64)
    for i in range(labels.size):
        starts[labels[i] + 1] += 1
    for k in range(n_labels):
        starts[k + 1] += starts[k]
    place = starts.copy()
    moved = np.empty_like(words)
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
def number_cells(begins: Bools, row: Rows) -> tuple[Rows, int]:
    """The number of the cell of each row, cells counted in the order they stand."""
    labels = np.empty(row.size, np.int64)
    cell = -1
    for i in range(row.size):
        cell += begins[i]
        labels[row[i]] = cell
    return labels, cell + 1
