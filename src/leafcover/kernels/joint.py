"""One tree for many columns: within each cell, cuts that reduce the dependence between the columns.

Shuffling columns independently within a cell destroys their dependence there (the total correlation). A cut on column j
reduces it by the information gained about every other column, so the score of a cut is that sum.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from leafcover.arrays import Array, Bools, Codes, Floats, Rows
from leafcover.kernels import ENTRY, INNER, ZERO
from leafcover.kernels.sorting import sort_levels

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
    levels: Codes  # (most bins,) levels that occur, in that order
    share: Floats  # (most bins,) share of a class in each level
    order: Rows  # (most,)
    ends: Rows  # (most bins + 1,) end of the rows of each position
    varying: Codes  # (columns,) columns with more than one class in the node
    side: Bools  # (most bins,) bins on the first side of the best cut
    sample: Rows  # (most,)
    moved: Rows  # (rows,)
    growth: Floats  # growth[n] = n log2 n - (n - 1) log2 (n - 1)
    terms: Floats  # n log2 n
    logs: Floats  # log2 n


@njit(**INNER)
def _load(settings: JointSettings, size: int, work: JointWorkspace) -> None:
    """Load the bins and classes of the sampled rows, and count each class."""
    codes, first, classes = settings.codes, settings.first, settings.classes
    rows, bins, groups, node = work.sample, work.bins, work.groups, work.node
    for group in range(len(node)):
        node[group] = 0
    for i in range(size):
        for j in range(len(settings.is_number)):
            code = codes[rows[i], j]
            bins[j, i] = code
            group = first[j] + classes[j, code]
            groups[i, j] = group
            node[group] += 1


@njit(**INNER)
def _order_levels(settings: JointSettings, j: int, size: int, varying: int, work: JointWorkspace) -> int:
    """Order the levels of a category by their share of the most common class of the column they explain best.

    Returns the number of levels that occur; ``work.place`` is the order.
    """
    bins, groups, counts, held, node, logs = work.bins, work.groups, work.counts, work.held, work.node, work.logs
    for i in range(size):
        level = bins[j, i]
        held[level] += 1
        for v in range(varying):
            counts[level, groups[i, work.varying[v]]] += 1
    best, chosen = -1.0, -1
    for v in range(varying):
        t = work.varying[v]
        if t == j:
            continue
        information = 0.0
        for i in range(size):  # the sum of n log n over values, as the sum of log n over rows
            group = groups[i, t]
            information += logs[counts[bins[j, i], group]] - logs[node[group]]
        if chosen < 0 or information > best + 1e-9:  # ties, up to rounding, go to the first column
            best, chosen = information, t
    common = ZERO
    if chosen >= 0:
        common = settings.first[chosen]
        for group in range(common + 1, settings.first[chosen + 1]):
            if node[group] > node[common]:
                common = group
    levels, share, present = work.levels, work.share, ZERO
    for level in range(len(held)):
        if held[level]:
            share[level] = counts[level, common] / held[level]
            levels[present] = level
            present += 1
    sort_levels(levels, present, share)
    for i in range(present):
        work.place[levels[i]] = i
    for i in range(size):
        level = bins[j, i]
        held[level] = 0
        for v in range(varying):
            counts[level, groups[i, work.varying[v]]] = 0
    return present


@njit(**INNER)
def _sort_rows(j: int, size: int, ordered: int, work: JointWorkspace) -> None:
    """Sort the rows by the position of their bin into ``work.order``; ``work.ends`` is the end of each position."""
    ends, place, bins = work.ends, work.place, work.bins
    for p in range(ordered + 1):
        ends[p] = 0
    for i in range(size):
        ends[place[bins[j, i]] + 1] += 1
    for p in range(ordered):
        ends[p + 1] += ends[p]
    for i in range(size):  # ends[p] is the start of a position, and its end afterwards
        p = place[bins[j, i]]
        work.order[ends[p]] = i
        ends[p] += 1


@njit(**INNER)
def _best_cut(
    settings: JointSettings, j: int, size: int, ordered: int, floor: int, varying: int, work: JointWorkspace
) -> tuple[float, int]:
    """Score of the best cut of one column, and the last position of its first side; (-inf, -1) if no cut is valid."""
    _sort_rows(j, size, ordered, work)
    ends, left, right, node, first = work.ends, work.left, work.right, work.node, settings.first
    growth, terms, groups = work.growth, work.terms, work.groups
    tries = 0
    for p in range(ordered - 1):
        if ends[p] >= floor and size - ends[p] >= floor and ends[p] > (ends[p - 1] if p else 0):
            tries += 1
    best, last = -np.inf, -1
    if tries == 0:
        return best, last
    cost = np.log2(tries) if settings.is_number[j] else ordered - 1.0
    for v in range(varying):
        t, present = work.varying[v], 0
        for group in range(first[t], first[t + 1]):
            left[group], right[group] = 0, node[group]
            present += node[group] > 0
        if t != j:
            cost += CHANCE_BITS * (present - 1)
    gained, row = 0.0, 0
    for p in range(ordered - 1):
        while row < ends[p]:
            i = work.order[row]
            for v in range(varying):
                t = work.varying[v]
                if t != j:
                    group = groups[i, t]
                    gained += growth[left[group] + 1] - growth[right[group]]
                    left[group] += 1
                    right[group] -= 1
            row += 1
        if row < floor or size - row < floor:
            continue
        sides = terms[size] - terms[row] - terms[size - row]
        # Bits saved, summed over all other columns: N H - N_left H_left - N_right H_right.
        score = (varying - 1) * sides + gained - cost
        if score > best + 1e-9:
            best, last = score, p
    return best, last


@njit(**INNER)
def _best_split(settings: JointSettings, size: int, floor: int, work: JointWorkspace) -> tuple[int, float]:
    """The best column to cut a node by (-1 for none) and its score; ``work.side`` marks the bins on the first side."""
    _load(settings, size, work)
    bins, place, node, side = work.bins, work.place, work.node, work.side
    varying = ZERO
    for t in range(len(settings.is_number)):
        present = 0
        for group in range(settings.first[t], settings.first[t + 1]):
            present += node[group] > 0
        if present > 1:
            work.varying[varying] = t
            varying += 1
    chosen, best = ZERO - 1, 0.0
    for at in range(varying):
        j, ordered = ZERO + work.varying[at], ZERO
        if settings.is_number[j]:
            for i in range(size):
                ordered = max(ordered, ZERO + bins[j, i] + 1)
            for b in range(ordered):
                place[b] = b
        else:
            ordered = _order_levels(settings, j, size, varying, work)
        if ordered < 2:
            continue
        score, last = _best_cut(settings, j, size, ordered, floor, varying, work)
        if score > best + 1e-9:
            chosen, best = j, score
            for b in range(len(side)):  # of a number, also bins that do not occur in the sample
                side[b] = settings.is_number[j] and b <= last
            for i in range(size):
                side[bins[j, i]] = place[bins[j, i]] <= last
    return chosen, best


@njit(**ENTRY)
def refine_jointly(
    settings: JointSettings, order: Rows, starts: Rows, stack: Rows, begins: Bools, work: JointWorkspace
) -> float:
    """Cut the ranges of ``order`` between ``starts`` as long as the net gain is positive; reorders ``order``.

    Sets which positions of ``order`` start a cell, and returns the bits gained after costs. ``stack`` (rows, 2) has
    space for as many ranges as there can be cells.
    """
    codes, side, moved = settings.codes, work.side, work.moved
    total, waiting = 0.0, 0
    for c in range(len(starts) - 1):
        if starts[c + 1] > starts[c]:
            stack[waiting, 0], stack[waiting, 1] = starts[c], starts[c + 1]
            waiting += 1
            begins[starts[c]] = True
    while waiting:
        waiting -= 1
        start, stop = stack[waiting, 0], stack[waiting, 1]
        size, floor = stop - start, settings.floor
        if size < 2 * floor:
            continue
        taken = size
        if size > settings.most:
            taken = settings.most
            floor = max(1, floor * taken // size)
        for i in range(taken):
            work.sample[i] = order[start + i * size // taken]
        column, score = _best_split(settings, taken, floor, work)
        if column < 0:
            continue
        count = 0
        for i in range(start, stop):
            count += side[codes[order[i], column]]
        if count < settings.floor or size - count < settings.floor:
            continue  # the sample overestimated the rows on one side
        low, rest = start, 0
        for i in range(start, stop):
            row = order[i]
            if side[codes[row, column]]:
                order[low] = row
                low += 1
            else:
                moved[rest] = row
                rest += 1
        for i in range(rest):
            order[low + i] = moved[i]
        total += score
        begins[low] = True
        stack[waiting, 0], stack[waiting, 1] = start, low
        stack[waiting + 1, 0], stack[waiting + 1, 1] = low, stop
        waiting += 2
    return total


# Mutual information of columns within cells.


@njit(**ENTRY)
def value_bits(codes: Rows, order: Rows, starts: Rows, growth: Floats, counts: Rows) -> float:
    """The sum of n log2 n over cells and values; ``growth[n]`` is the contribution of the n-th row of a value.

    ``counts`` has space for every code and is all zero before and after.
    """
    total = 0.0
    for c in range(len(starts) - 1):
        for i in range(starts[c], starts[c + 1]):
            code = codes[order[i]]
            counts[code] += 1
            total += growth[counts[code]]
        for i in range(starts[c], starts[c + 1]):
            counts[codes[order[i]]] = 0
    return total


def pair_bits(codes: Rows, sizes: Rows, order: Rows, starts: Rows, source: Rows, growth: Floats) -> Floats:
    """`value_bits` of the pairs of values of every pair of columns, with the first column taken from ``source`` rows.

    ``codes`` is (columns, rows). The result is (columns, columns), filled above the diagonal.
    """
    columns = len(codes)
    found = np.zeros((columns, columns))
    counts = np.zeros(int(sizes.max()) ** 2, np.int64)
    for one in range(columns):
        taken = codes[one, source]
        for other in range(one + 1, columns):
            found[one, other] = value_bits(taken * sizes[other] + codes[other], order, starts, growth, counts)
    return found
