"""One tree for many columns: within each cell, cuts that reduce the dependence between the columns.

Shuffling columns independently within a cell destroys their dependence there (the total correlation). A cut on column j
reduces it by the information gained about every other column, so the score of a cut is that sum.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from leafcover.arrays import Array, Bools, Codes, Floats, Rows
from leafcover.kernels import ENTRY, INNER

# Bits gained by chance per degree of freedom: 1 / (2 ln 2).
CHANCE_BITS = 0.7213475204444817


class JointSettings(NamedTuple):
    """The binned columns, and the criteria of a cut."""

    codes: Array  # (rows, columns) bin of each value; bin 0 is missing
    is_number: Bools  # (columns,)
    classes: Codes  # (columns, most bins) class of each bin when its column is the target
    first: Rows  # (columns + 1,) start of a column's classes among all classes
    floor: int  # minimum rows on either side of a cut
    most: int  # rows that determine a cut; a larger node is sampled evenly


class JointWorkspace(NamedTuple):
    """Working memory, allocated once."""

    bins: Codes  # (columns, most)
    groups: Codes  # (most, columns) class of each value among all classes
    left: Rows  # (all classes,)
    right: Rows
    node: Rows
    counts: Rows  # (most bins, all classes) joint counts of levels and classes; all zero between calls
    held: Rows  # (most bins,) rows of each bin
    place: Codes  # (most bins,) position of a bin in the order that is cut
    order: Rows  # (most,)
    growth: Floats  # growth[n] = n log2 n - (n - 1) log2 (n - 1)
    terms: Floats  # n log2 n
    logs: Floats  # log2 n


@njit(**INNER)
def _load(settings: JointSettings, rows: Rows, work: JointWorkspace) -> None:
    """Load the bins and classes of the sampled rows, and count each class."""
    work.node[:] = 0
    for i in range(len(rows)):
        for j in range(len(settings.is_number)):
            code = settings.codes[rows[i], j]
            work.bins[j, i] = code
            group = settings.first[j] + settings.classes[j, code]
            work.groups[i, j] = group
            work.node[group] += 1


@njit(**ENTRY)
def _order_levels(settings: JointSettings, j: int, size: int, varying: Codes, work: JointWorkspace) -> int:
    """Order the levels of a category by their share of the most common class of the column they explain best.

    Returns the number of levels that occur; ``work.place`` is the order.
    """
    bins = work.bins[j]
    for i in range(size):
        work.held[bins[i]] += 1
        for t in varying:
            work.counts[bins[i], work.groups[i, t]] += 1
    best, chosen = -1.0, -1
    for t in varying:
        if t == j:
            continue
        information = 0.0
        for i in range(size):  # the sum of n log n over values, as the sum of log n over rows
            group = work.groups[i, t]
            information += work.logs[work.counts[bins[i], group]] - work.logs[work.node[group]]
        if chosen < 0 or information > best + 1e-9:  # ties, up to rounding, go to the first column
            best, chosen = information, t
    common = 0
    if chosen >= 0:
        begin, end = settings.first[chosen], settings.first[chosen + 1]
        common = begin + np.argmax(work.node[begin:end])
    present = np.flatnonzero(work.held)
    share = np.empty(len(present))
    for i in range(len(present)):
        share[i] = work.counts[present[i], common] / work.held[present[i]]
    ranked = np.argsort(share, kind="mergesort")
    for i in range(len(ranked)):
        work.place[present[ranked[i]]] = i
    for i in range(size):
        work.held[bins[i]] = 0
        for t in varying:
            work.counts[bins[i], work.groups[i, t]] = 0
    return len(present)


@njit(**INNER)
def _sorted_rows(j: int, size: int, ordered: int, work: JointWorkspace) -> Rows:
    """Sort the rows by the position of their bin, and return the end of each position."""
    ends = np.zeros(ordered + 1, np.int64)
    for i in range(size):
        ends[work.place[work.bins[j, i]] + 1] += 1
    for p in range(ordered):
        ends[p + 1] += ends[p]
    at = ends[:-1].copy()
    for i in range(size):
        p = work.place[work.bins[j, i]]
        work.order[at[p]] = i
        at[p] += 1
    return ends[1:]


@njit(**ENTRY)
def _best_cut(
    settings: JointSettings, j: int, size: int, ordered: int, floor: int, varying: Codes, work: JointWorkspace
) -> tuple[float, int]:
    """Score of the best cut of one column, and the last position of its first side; (-inf, -1) if no cut is valid."""
    ends = _sorted_rows(j, size, ordered, work)
    tries = 0
    for p in range(ordered - 1):
        if ends[p] >= floor and size - ends[p] >= floor and ends[p] > (ends[p - 1] if p else 0):
            tries += 1
    if tries == 0:
        return -np.inf, -1
    others, cost, held = 0, 0.0, 0.0
    for t in varying:
        begin, end = settings.first[t], settings.first[t + 1]
        for group in range(begin, end):
            work.left[group] = 0
            work.right[group] = work.node[group]
        if t != j:
            others += 1
            present = 0
            for group in range(begin, end):
                present += work.node[group] > 0
                held += work.terms[work.node[group]]
            cost += CHANCE_BITS * (present - 1)
    cost += np.log2(tries) if settings.is_number[j] else ordered - 1.0
    best, last, gained, row = -np.inf, -1, 0.0, 0
    for p in range(ordered - 1):
        while row < ends[p]:
            i = work.order[row]
            for t in varying:
                if t != j:
                    group = work.groups[i, t]
                    gained += work.growth[work.left[group] + 1] - work.growth[work.right[group]]
                    work.left[group] += 1
                    work.right[group] -= 1
            row += 1
        if row < floor or size - row < floor:
            continue
        sides = work.terms[size] - work.terms[row] - work.terms[size - row]
        # Bits saved, summed over all other columns: N H - N_left H_left - N_right H_right.
        score = others * sides + gained - cost
        if score > best + 1e-9:
            best, last = score, p
    return best, last


@njit(**INNER)
def _best_split(
    settings: JointSettings, rows: Rows, floor: int, work: JointWorkspace, side: Bools
) -> tuple[int, float]:
    """The best column to cut a node by (-1 for none) and its score; ``side`` marks the bins on the first side."""
    size = len(rows)
    _load(settings, rows, work)
    columns = len(settings.is_number)
    varying = np.empty(columns, np.int32)
    count = 0
    for t in range(columns):
        present = 0
        for group in range(settings.first[t], settings.first[t + 1]):
            present += work.node[group] > 0
        if present > 1:
            varying[count] = t
            count += 1
    varying = varying[:count]
    chosen, best = -1, 0.0
    for at in range(count):
        j = int(varying[at])
        if settings.is_number[j]:
            ordered = 0
            for i in range(size):
                ordered = max(ordered, work.bins[j, i] + 1)
            for b in range(ordered):
                work.place[b] = b
        else:
            ordered = _order_levels(settings, j, size, varying, work)
        if ordered < 2:
            continue
        score, last = _best_cut(settings, j, size, ordered, floor, varying, work)
        if score > best + 1e-9:
            chosen, best = j, score
            side[:] = False
            for i in range(size):
                side[work.bins[j, i]] = work.place[work.bins[j, i]] <= last
            if settings.is_number[j]:  # also bins that do not occur in the sample
                for b in range(len(side)):
                    side[b] = b <= last
    return chosen, best


@njit(**ENTRY)
def refine_jointly(settings: JointSettings, order: Rows, starts: Rows, work: JointWorkspace) -> tuple[Bools, float]:
    """Cut the ranges of ``order`` between ``starts`` as long as the net gain is positive; reorders ``order``.

    Returns which positions of ``order`` start a cell, and the bits gained after costs.
    """
    begins = np.zeros(len(order), np.bool_)
    side = np.zeros(len(work.place), np.bool_)
    moved = np.empty(len(order), np.int64)
    total = 0.0
    stack = [(0, 0)]
    stack.pop()
    for c in range(len(starts) - 1):
        if starts[c + 1] > starts[c]:
            stack.append((starts[c], starts[c + 1]))
            begins[starts[c]] = True
    while len(stack) > 0:
        start, stop = stack.pop()
        size = stop - start
        if size < 2 * settings.floor:
            continue
        sample = order[start:stop]
        floor = settings.floor
        if size > settings.most:
            sample = np.empty(settings.most, np.int64)
            for i in range(settings.most):
                sample[i] = order[start + i * size // settings.most]
            floor = max(1, settings.floor * settings.most // size)
        column, score = _best_split(settings, sample, floor, work, side)
        if column < 0:
            continue
        count, rest = 0, 0
        for i in range(start, stop):
            row = order[i]
            if side[settings.codes[row, column]]:
                order[start + count] = row
                count += 1
            else:
                moved[rest] = row
                rest += 1
        for i in range(rest):
            order[start + count + i] = moved[i]
        if count < settings.floor or rest < settings.floor:
            order[start:stop] = np.sort(order[start:stop])  # the sample overestimated the rows on one side
            continue
        total += score
        begins[start + count] = True
        stack.append((start, start + count))
        stack.append((start + count, stop))
    return begins, total


# Mutual information of two columns within cells.


@njit(**ENTRY)
def value_bits(codes: Codes, size: int, order: Rows, starts: Rows, growth: Floats) -> float:
    """The sum of n log2 n over cells and values; ``growth[n]`` is the contribution of the n-th row of a value."""
    counts = np.zeros(size, np.int64)
    total = 0.0
    for c in range(len(starts) - 1):
        for i in range(starts[c], starts[c + 1]):
            code = codes[order[i]]
            counts[code] += 1
            total += growth[counts[code]]
        for i in range(starts[c], starts[c + 1]):
            counts[codes[order[i]]] = 0
    return total


@njit(**ENTRY)
def pair_bits(codes: Codes, sizes: Rows, order: Rows, starts: Rows, source: Rows, growth: Floats) -> Floats:
    """`value_bits` of the pairs of values of every pair of columns, with the first column taken from ``source`` rows.

    ``codes`` is (columns, rows). The result is (columns, columns), filled above the diagonal.
    """
    columns = len(codes)
    found = np.zeros((columns, columns))
    counts = np.zeros(sizes.max() * sizes.max(), np.int64)
    for one in range(columns):
        for other in range(one + 1, columns):
            width = sizes[other]
            total = 0.0
            for c in range(len(starts) - 1):
                for i in range(starts[c], starts[c + 1]):
                    at = codes[one, source[order[i]]] * width + codes[other, order[i]]
                    counts[at] += 1
                    total += growth[counts[at]]
                for i in range(starts[c], starts[c + 1]):
                    counts[codes[one, source[order[i]]] * width + codes[other, order[i]]] = 0
            found[one, other] = total
    return found
