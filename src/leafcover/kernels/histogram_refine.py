"""Refine cells: within every cell, grow a tree of binary splits whose leaves all have a minimum size."""

import math
from typing import NamedTuple

import numpy as np
from numba import njit

from leafcover.arrays import Array, Bools, Codes, Floats, Rows
from leafcover.kernels import ENTRY, INNER, ZERO
from leafcover.kernels.histogram import (
    MAX_LOG_TABLE,
    Records,
    count_rows,
    fill,
    fill_log_table,
    list_filled,
    list_marked,
    log_term,
    partition_rows,
)
from leafcover.kernels.sorting import sort_levels

_COUNT = 0  # count the node's rows
_COUNT_AND_SUBTRACT = 1  # count the rows and subtract them from the parent's counts, for the largest sibling
_REMAINDER = 2  # the remainder in the parent's buffer is this node's counts

_TOTAL, _LEFT = 0, 1  # rows of RefineScratch.rows: all rows of the node, rows on the first side


class RefineSettings(NamedTuple):
    """The attributes that may be tested, and the criteria of a split."""

    tests: Rows  # (tests,) attributes that may be tested, ascending
    sizes: Rows  # (tests,) number of codes of each
    offsets: Rows  # (tests + 1,) start of each test's counts
    is_number: Bools  # (tests,)
    classes: int
    floor: int
    min_gain_bits: float
    max_depth: int
    price: float  # factor of the cost of a split
    one_level: bool  # a split of a category separates one level from the others


class RefineScratch(NamedTuple):
    """Working memory that is reused for every node."""

    table: Floats  # n·log2 n
    bins: Codes  # (largest size,) non-empty bins
    ordered: Codes  # (largest size,) the same in the order in which they are cut
    best: Codes  # (largest size,) codes on the first side of the best split so far
    seen: Codes  # (largest size + 1,) their number, and the codes that occur in the node, of the best split so far
    share: Floats  # (largest size,) share of the main class in each level
    rows: Rows  # (2, classes) see _TOTAL and _LEFT
    place: Codes  # (classes,) index of a class among those present in a small node
    local: Codes  # (rows of a small node,) class indices of its rows
    marks: Array  # bit set of non-empty bins
    side: Codes  # (largest size,) 1 for the codes on the first side
    few_counts: Codes  # counts of a small node, all zero between calls
    stack: Rows  # (depths, 6) pending nodes: start, stop, depth, slot, how to count, number


class Splits(NamedTuple):
    """The splits of all cells as one forest: cell c starts at node c; children follow in pairs."""

    test: Codes  # (nodes,) index of the attribute among the tests, -1 at a leaf
    first: Codes  # (nodes,) the child of the first side; the next node is the other child
    side: Array  # (nodes, words) uint64: bit set of the codes on the first side
    net: Floats  # (nodes,) bits gained by the split, less its cost; 0 at a leaf


class BestSplit(NamedTuple):
    """The best split of a node so far."""

    test: int  # -1: ZERO
    value: float  # bits gained, less the bits that encode the choice of the split
    gain: float  # bits gained
    firsts: int  # number of codes in ``scratch.best``
    below: int  # rows on the first side
    classes: int  # number of classes in the node


@njit(**ENTRY)
def complexity(classes: int, rows: int) -> float:
    """The parametric complexity of the multinomial: the bits that fitting class shares to rows gains by chance.

    Kontkanen and Myllymäki (2007): C(k + 2) = C(k + 1) + rows/k · C(k), from C(1) = 1 and Szpankowski's C(2).
    """
    if classes < 2 or rows < 1:
        return 0.0
    ratio = math.sqrt(rows * math.pi / 2.0) + 2.0 / 3.0 + math.sqrt(2.0 * math.pi / rows) / 24.0
    bits = math.log2(ratio)
    for k in range(1, classes - 1):
        ratio = 1.0 + rows / (k * ratio)
        bits += math.log2(ratio)
    return bits


@njit(**INNER)
def _total_information(rows: Rows, classes: int, table: Floats) -> float:
    """The entropy of a node's classes times its number of rows, in bits."""
    total, of_classes = ZERO, 0.0
    for k in range(classes):
        total += rows[_TOTAL, k]
        of_classes += log_term(rows[_TOTAL, k], table)
    return log_term(total, table) - of_classes


# The functions below have no early ``return`` and no branch that alone uses an array; see the note in `histogram`.


@njit(**INNER)
def _best_cut(
    counts: Codes, offset: int, classes: int, ordered: Codes, filled: int, floor: int, rows: Rows, table: Floats
) -> tuple[float, int, int, int, int]:
    """The best cut of ordered bins: remaining bits, last bin and rows of the first side, valid cuts, classes."""
    total, right_sum, present = 0, 0.0, 0
    for k in range(classes):
        rows[_LEFT, k] = 0
        total += rows[_TOTAL, k]
        present += rows[_TOTAL, k] > 0
        right_sum += log_term(rows[_TOTAL, k], table)
    least, at, first_rows, tries, below, left_sum = np.inf, -1, 0, 0, 0, 0.0
    i = 0
    while i < filled - 1 and total - below >= floor:
        begin = offset + ordered[i] * classes
        for k in range(classes):
            here = counts[begin + k]
            if here:
                was = rows[_LEFT, k]
                rest = rows[_TOTAL, k] - was
                left_sum += log_term(was + here, table) - log_term(was, table)
                right_sum += log_term(rest - here, table) - log_term(rest, table)
                rows[_LEFT, k] = was + here
                below += here
        if below >= floor and total - below >= floor:
            tries += 1
            score = log_term(below, table) - left_sum + log_term(total - below, table) - right_sum
            if score < least:
                least, at, first_rows = score, i, below
        i += 1
    return least, at, first_rows, tries, present


@njit(**INNER)
def _best_level(
    counts: Codes, offset: int, classes: int, ordered: Codes, filled: int, floor: int, rows: Rows, table: Floats
) -> tuple[float, int, int, int, int]:
    """The best level to separate from the others, moved to the front; returns the same as `_best_cut`."""
    total, present = 0, 0
    for k in range(classes):
        total += rows[_TOTAL, k]
        present += rows[_TOTAL, k] > 0
    least, at, first_rows, tries = np.inf, -1, 0, 0
    for i in range(filled):
        begin = offset + ordered[i] * classes
        inside, left_sum, right_sum = 0, 0.0, 0.0
        for k in range(classes):
            here = counts[begin + k]
            inside += here
            left_sum += log_term(here, table)
            right_sum += log_term(rows[_TOTAL, k] - here, table)
        if inside >= floor and total - inside >= floor:
            tries += 1
            score = log_term(inside, table) - left_sum + log_term(total - inside, table) - right_sum
            if score < least:
                least, at, first_rows = score, i, inside
    if at > 0:
        ordered[0], ordered[at] = ordered[at], ordered[0]
    return least, min(at, 0), first_rows, tries, present


@njit(**INNER)
def _order_levels(
    counts: Codes, offset: int, classes: int, levels: int, bins: Codes, ordered: Codes, share: Floats, rows: Rows
) -> None:
    """Order levels by their share of the most frequent class: with two classes the best subset is a cut of it."""
    main = 0
    for k in range(1, classes):
        if rows[_TOTAL, k] > rows[_TOTAL, main]:
            main = k
    for i in range(levels):
        begin = offset + bins[i] * classes
        of_level = 0
        for k in range(classes):
            of_level += counts[begin + k]
        share[bins[i]] = counts[begin + main] / of_level
    sort_levels(ordered, levels, share)


@njit(**INNER)
def _better_split(
    best: BestSplit,
    test: int,
    counts: Codes,
    offset: int,
    classes: int,
    filled: int,
    spread: float,
    settings: RefineSettings,
    scratch: RefineScratch,
) -> BestSplit:
    """The better of the best split so far and the best split of this attribute; ties go to the earlier one."""
    bins, ordered, rows = scratch.bins, scratch.ordered, scratch.rows
    for i in range(filled):
        ordered[i] = bins[i]
    single = settings.one_level and not settings.is_number[test]
    levels = 0 if settings.is_number[test] or single else filled
    _order_levels(counts, offset, classes, levels, bins, ordered, scratch.share, rows)
    if single:
        least, at, below, tries, present = _best_level(
            counts, offset, classes, ordered, filled, settings.floor, rows, scratch.table
        )
    else:
        least, at, below, tries, present = _best_cut(
            counts, offset, classes, ordered, filled, settings.floor, rows, scratch.table
        )
    gain = spread - least
    # A cut is one of ``tries``; a set of levels is one of 2^(levels - 1) - 1.
    value = gain - settings.price * (float(filled - 1) if levels else math.log2(max(tries, 1)))
    better = gain > 0.0 and (best.test < 0 or value > best.value)
    for i in range(at + 1 if better else 0):
        scratch.best[i] = ordered[i]
    for i in range(filled if better else 0):
        scratch.seen[i + 1] = ordered[i]
    if better:
        scratch.seen[0] = filled
        best = BestSplit(test, value, gain, at + 1, below, present)
    return best


@njit(**INNER)
def _split_large(counts: Codes, settings: RefineSettings, scratch: RefineScratch) -> BestSplit:
    """The best split of a node whose rows are already counted."""
    classes = settings.classes
    for k in range(classes):
        scratch.rows[_TOTAL, k] = 0
        for b in range(settings.sizes[0]):
            scratch.rows[_TOTAL, k] += counts[b * classes + k]
    best = BestSplit(-1, 0.0, 0.0, 0, 0, 0)
    spread = _total_information(scratch.rows, classes, scratch.table)
    for t in range(settings.tests.size if spread > 0.0 else 0):
        offset = settings.offsets[t]
        filled = list_filled(counts, offset, settings.sizes[t], classes, scratch.bins)
        best = _better_split(best, t, counts, offset, classes, filled, spread, settings, scratch)
    return best


@njit(**INNER)
def _split_small(
    records: Records, start: int, stop: int, settings: RefineSettings, scratch: RefineScratch
) -> BestSplit:
    """The best split of a node with fewer rows than counters; only counters in use are touched.

    Classes are renumbered among those present.
    """
    codes, target, counts = records.codes, records.target, scratch.few_counts
    place, local, rows, bins = scratch.place, scratch.local, scratch.rows, scratch.bins
    best = BestSplit(-1, 0.0, 0.0, 0, 0, 0)
    for k in range(settings.classes):
        rows[_TOTAL, k] = 0
    for i in range(start, stop):
        rows[_TOTAL, target[i]] += 1
    classes = ZERO
    for k in range(settings.classes):
        if rows[_TOTAL, k]:
            place[k] = classes
            rows[_TOTAL, classes] = rows[_TOTAL, k]
            classes += 1
    for i in range(start, stop):
        local[i - start] = place[target[i]]
    spread = _total_information(rows, classes, scratch.table)
    for t in range(settings.tests.size if classes > 1 else 0):
        attribute = settings.tests[t]
        for i in range(start, stop):
            code = np.int64(codes[i, attribute])
            counts[code * classes + local[i - start]] += 1
            scratch.marks[code >> 6] |= np.uint64(1) << np.uint64(code & 63)
        filled = list_marked(scratch.marks, (settings.sizes[t] + 63) // 64, bins)
        best = _better_split(best, t, counts, ZERO, classes, filled, spread, settings, scratch)
        for i in range(filled):
            fill(counts, bins[i] * classes, (bins[i] + 1) * classes, ZERO)
    return best


def _scratch(rows: int, large: int, settings: RefineSettings) -> RefineScratch:
    widest, classes = int(settings.sizes.max(initial=1)), settings.classes
    table = np.zeros(min(rows + 1, MAX_LOG_TABLE))
    fill_log_table(table)
    return RefineScratch(
        table=table,
        bins=np.empty(widest, np.int32),
        ordered=np.empty(widest, np.int32),
        best=np.empty(widest, np.int32),
        seen=np.empty(widest + 1, np.int32),
        share=np.empty(widest),
        rows=np.zeros((2, classes), np.int64),
        place=np.zeros(classes, np.int32),
        local=np.empty(large, np.int32),
        marks=np.zeros((widest + 63) // 64, np.uint64),
        side=np.zeros(widest, np.int32),
        few_counts=np.zeros(widest * min(classes, large), np.int32),
        stack=np.empty((settings.max_depth + 2, 6), np.int64),
    )


@njit(**INNER)
def _partition_node(
    records: Records, start: int, stop: int, attribute: int, firsts: int, scratch: RefineScratch
) -> int:
    """Move the rows on the first side of the best split to the front; return where the second side starts."""
    side, best = scratch.side, scratch.best
    for i in range(firsts):
        side[best[i]] = 1
    middle = partition_rows(records, start, stop, attribute, side)
    for i in range(firsts):
        side[best[i]] = 0
    return middle


@njit(**INNER)
def _push(stack: Rows, at: int, start: int, stop: int, depth: int, slot: int, how: int, node: int) -> None:
    stack[at, 0] = start
    stack[at, 1] = stop
    stack[at, 2] = depth
    stack[at, 3] = slot
    stack[at, 4] = how
    stack[at, 5] = node


@njit(**INNER)
def _record(
    splits: Splits, node: int, best: BestSplit, child: int, first_is_larger: bool, settings: RefineSettings,
    scratch: RefineScratch,
) -> None:  # fmt: skip
    """Write a split down. Codes that do not occur in the node go with a number's neighbours, or to the larger side."""
    test, side = best.test, splits.side
    splits.test[node] = test
    splits.first[node] = child
    if settings.is_number[test]:
        last = scratch.best[best.firsts - 1]
        for code in range(last + 1):
            side[node, code >> 6] |= np.uint64(1) << np.uint64(code & 63)
    elif first_is_larger:
        # every code but those of the second side
        for word in range(side.shape[1]):
            side[node, word] = ~np.uint64(0)
        for i in range(scratch.seen[0]):
            code = scratch.seen[i + 1]
            side[node, code >> 6] &= ~(np.uint64(1) << np.uint64(code & 63))
        for i in range(best.firsts):
            code = scratch.best[i]
            side[node, code >> 6] |= np.uint64(1) << np.uint64(code & 63)
    else:
        for i in range(best.firsts):
            code = scratch.best[i]
            side[node, code >> 6] |= np.uint64(1) << np.uint64(code & 63)


def refine(records: Records, starts: Rows, settings: RefineSettings) -> tuple[Codes, Floats, Floats, int, Splits]:
    """Split the ranges between ``starts`` (the last entry is the number of rows) as long as the net gain suffices.

    Moves the records. Returns the leaf that starts at each position (-1 where none does), the bits gained by each test,
    the same after costs, and the number of ranges that were split. Buffers are shared as in `histogram_grow`.
    """
    rows, tests = len(records.target), len(settings.tests)
    leaf_at, gains, nets = np.full(rows, -1, np.int32), np.zeros(tests), np.zeros(tests)
    places = int(settings.offsets[tests])
    large = max(places // max(tests, 1), 64)  # from this size on, counting costs more than scanning the counts
    slots = 2
    while (large << (slots - 2)) < rows:
        slots += 1
    counts = np.zeros((slots, places), np.int32)
    scratch = _scratch(rows, large, settings)
    cells = len(starts) - 1
    most = cells + 2 * (rows // settings.floor)
    words = (int(settings.sizes.max(initial=1)) + 63) // 64
    none = np.full(most, -1, np.int32)
    splits = Splits(none, none.copy(), np.zeros((most, words), np.uint64), np.zeros(most))
    moved = records._replace(carried=records.carried.astype(np.int32, copy=False))  # one type: compiled once, in 8 s
    split_cells, nodes = _refine(moved, starts, settings, scratch, counts, large, leaf_at, gains, nets, splits)
    if moved.carried is not records.carried:
        records.carried[:] = moved.carried
    return leaf_at, gains, nets, int(split_cells), Splits(*(part[:nodes] for part in splits))  # type: ignore[arg-type]


@njit(**ENTRY)
def _refine(
    records: Records, starts: Rows, settings: RefineSettings, scratch: RefineScratch, counts: Codes, large: int,
    leaf_at: Codes, gains: Floats, nets: Floats, splits: Splits,
) -> tuple[int, int]:  # fmt: skip
    classes, tests, places, stack = settings.classes, settings.tests.size, counts.shape[1], scratch.stack
    split_cells, nodes = 0, starts.size - 1
    for cell in range(starts.size - 1):
        _push(stack, ZERO, starts[cell], starts[cell + 1], ZERO, ZERO, ZERO + _COUNT, cell)
        waiting = 1 if starts[cell] < starts[cell + 1] else 0
        while waiting:
            waiting -= 1
            start, stop, depth = stack[waiting, 0], stack[waiting, 1], stack[waiting, 2]
            slot, how, node = stack[waiting, 3], stack[waiting, 4], stack[waiting, 5]
            leaf_at[start] = node  # a child with the same start comes later
            ends = stop - start < 2 * settings.floor or depth >= settings.max_depth or tests == 0
            is_large = stop - start >= large and not ends
            here, above = counts[slot], counts[max(slot - 1, 0)]
            if is_large and how != _REMAINDER:
                fill(here, ZERO, places, ZERO)
                count_rows(records, start, stop, settings.tests, settings.offsets, classes, ZERO + 1, here)
            if how == _COUNT_AND_SUBTRACT and is_large:
                for i in range(places):
                    above[i] -= here[i]
            elif how == _COUNT_AND_SUBTRACT:
                count_rows(records, start, stop, settings.tests, settings.offsets, classes, ZERO - 1, above)
            if ends:
                continue
            if is_large:
                best = _split_large(here, settings, scratch)
            else:
                best = _split_small(records, start, stop, settings, scratch)
            if best.test < 0:
                continue
            extra = complexity(best.classes, best.below) + complexity(best.classes, stop - start - best.below)
            net = best.value - settings.price * (extra - complexity(best.classes, stop - start))
            if net < settings.min_gain_bits:
                continue
            split_cells += depth == 0
            gains[best.test] += best.gain
            nets[best.test] += net
            middle = _partition_node(records, start, stop, settings.tests[best.test], best.firsts, scratch)
            first_is_rest = middle - start > stop - middle
            _record(splits, node, best, nodes, first_is_rest, settings, scratch)
            splits.net[node] = net
            low, high = (start, middle) if first_is_rest else (middle, stop)
            keeps = is_large and high - low >= large and depth + 1 < settings.max_depth
            rest, other = (_REMAINDER, _COUNT_AND_SUBTRACT) if keeps else (_COUNT, _COUNT)
            _push(stack, waiting, low, high, depth + 1, slot, ZERO + rest, nodes + (not first_is_rest))
            low, high = (middle, stop) if first_is_rest else (start, middle)
            _push(stack, waiting + 1, low, high, depth + 1, slot + keeps, ZERO + other, nodes + first_is_rest)
            waiting += 2
            nodes += 2
    return split_cells, nodes
