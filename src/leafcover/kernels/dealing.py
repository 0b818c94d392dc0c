"""Dealing: which node of binary trees a row reaches, and who receives whose value inside the nodes.

Original rows give their values, released rows take one each. Both are in the leaf that their columns lead to. Inside a
leaf the assignment is uniform. Where a leaf has more givers than takers, or fewer, the rest meets at the parent, and so
on up to the root, where both sides are equally many. Permuting rows within cells is the simpler case of one table.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numba import njit

from leafcover.arrays import Array, Bools, Codes, Floats, Rows, Words
from leafcover.kernels import ENTRY, INNER, ZERO
from leafcover.kernels.sorting import sort_pairs


@njit(**ENTRY)
def find_nodes(tested: Codes, first: Codes, side: Words, codes: Array, node_of_row: Codes) -> None:
    """Follow the tests from the node that each row starts at; ``codes[test, row]`` is the bin of a tested value."""
    for i in range(len(node_of_row)):
        node = ZERO + node_of_row[i]
        while tested[node] >= 0:
            code = np.int64(codes[tested[node], i])
            on_first = (side[node, code >> 6] >> np.uint64(code & 63)) & np.uint64(1)
            node = first[node] + (ZERO if on_first else ZERO + 1)
        node_of_row[i] = node


def deal(giving: Codes, taking: Codes, parent: Codes, words: Words) -> tuple[Rows, Codes]:
    """For each taker the giver whose value it receives, and the node where they met.

    ``giving`` and ``taking`` are the nodes of the rows; a parent has a smaller number than its children. One secret
    word for each row orders the givers of a node, and another one, made from it, the takers.
    """
    rows, nodes = len(giving), len(parent)
    source, met = np.empty(rows, np.int64), np.empty(rows, np.int32)
    givers, giver_starts = rows_by_cell(giving, nodes)
    takers, taker_starts = rows_by_cell(taking, nodes)
    heads, following = np.full((2, nodes), -1, np.int32), np.empty((2, rows), np.int32)
    memory = np.empty((2, rows), np.int32)
    _deal(givers, giver_starts, takers, taker_starts, parent, words, source, met, heads, following, memory)
    return source, met


@njit(**INNER)
def _mixed(word: np.uint64, node: int) -> np.uint64:
    """A new random word from a row's word: rows that meet again at another node are ordered anew."""
    x = word + np.uint64(node + 1) * np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


@njit(**INNER)
def _collect(
    side: int, node: int, order: Codes, start: int, stop: int, head: Codes, following: Codes, rows: Codes
) -> int:  # fmt: skip
    """List the rows of a node: its own, and those left over below it; returns their number."""
    count = ZERO
    for i in range(start, stop):
        rows[side, count] = order[i]
        count += 1
    row = ZERO + head[side, node]
    while row >= 0:
        rows[side, count] = row
        count += 1
        row = ZERO + following[side, row]
    return count


@njit(**INNER)
def _shuffle(side: int, node: int, count: int, words: Words, rows: Codes) -> None:
    """Permute the rows of a node uniformly (Fisher and Yates), by a word of each row for this node and side.

    From the front, so that the row at place i has not moved before: each word decides once. The upper 32 bits of a word
    choose among at most 2^32 places, with a bias below 2^-12 for a million rows.
    """
    for i in range(1, count):
        word = _mixed(words[rows[side, i]], 2 * node + side)
        other = np.int64(((word >> np.uint64(32)) * np.uint64(i + 1)) >> np.uint64(32))
        rows[side, i], rows[side, other] = rows[side, other], rows[side, i]


@njit(**ENTRY)
def _deal(
    givers: Codes, giver_starts: Rows, takers: Codes, taker_starts: Rows, parent: Codes, words: Words, source: Rows,
    met: Codes, head: Codes, following: Codes, rows: Codes,
) -> None:  # fmt: skip
    for below in range(len(parent)):
        node = ZERO + len(parent) - 1 - below
        give = _collect(ZERO, node, givers, giver_starts[node], giver_starts[node + 1], head, following, rows)
        take = _collect(ZERO + 1, node, takers, taker_starts[node], taker_starts[node + 1], head, following, rows)
        _shuffle(ZERO, node, give, words, rows)
        if take > give:  # otherwise every taker receives a value: the order of the givers is random enough
            _shuffle(ZERO + 1, node, take, words, rows)
        for i in range(min(give, take)):
            source[rows[1, i]] = rows[0, i]
            met[rows[1, i]] = node
        above = parent[node]
        for i in range(take, give):
            row = rows[0, i]
            following[0, row] = head[0, above]
            head[0, above] = row
        for i in range(give, take):
            row = rows[1, i]
            following[1, row] = head[1, above]
            head[1, above] = row


def offsets_of(tables: Sequence[Array]) -> Rows:
    """Where each table begins, if one follows the other."""
    return np.cumsum([0, *(len(one) for one in tables)])[:-1]


def count_pairs(code: Codes, value: Codes, codes: int, values: int) -> Floats:
    """(codes, values) how often each code and value occur together; half the time of numpy's bincount."""
    found = np.zeros((codes, values))
    _count_pairs(code, value, found)
    return found


@njit(**ENTRY)
def _count_pairs(code: Codes, value: Codes, found: Floats) -> None:
    for i in range(len(code)):
        found[code[i], value[i]] += 1


@njit(**ENTRY)
def score_values(values: Floats, scale: float, mean: float, spread: float, most: float, scores: Floats) -> None:
    """Deviations of scaled values from a mean in units of a spread, at most so many; 0 for missing values."""
    for i in range(len(values)):
        score = (values[i] / scale - mean) / spread
        scores[i] = 0.0 if np.isnan(score) else min(max(score, -most), most)


def sum_scores(groups: Codes, scores: Floats, code: Codes, of_codes: Floats, size: int) -> Floats:
    """Sums of scores by code; or, where codes have scores, of the products of both by group. See `ScoreSums`.

    A fifth of the time of numpy's bincount. No scores are scores of one, no groups one group.
    """
    found = np.zeros(size)
    _sum_scores(groups, scores, code, of_codes, found)
    return found


@njit(**ENTRY)
def _sum_scores(groups: Codes, scores: Floats, code: Codes, of_codes: Floats, found: Floats) -> None:
    if not len(of_codes):
        for i in range(len(code)):
            found[code[i]] += scores[i]
    elif not len(scores):
        for i in range(len(code)):
            found[groups[i]] += of_codes[code[i]]
    else:
        total = 0.0
        for i in range(len(code)):
            total += scores[i] * of_codes[code[i]]
        found[0] = total


# Pairs of levels that no original row has: a taker may exchange its value with another of the same node.


TRIES = 64  # other takers that are tried in each node


def swap_new_pairs(
    taking: Codes,
    parent: Codes,
    first: Codes,
    source: Rows,
    value: Codes,
    levels: Sequence[Codes],
    tables: Sequence[Bools],
    codes: int,
    words: Words,
    *,
    search_all: bool = False,
) -> int:
    """Exchange values between takers so that fewer rows have a new pair; returns the number of rows that keep one.

    With ``search_all`` every row is tried in the end, not only some in each node.

    ``value`` is the code of each giver. For each column, ``levels`` is what takers already have, and
    ``tables[level * codes + value]`` whether the pair is to be avoided. Changes ``source``.
    """
    before, new, offsets = np.column_stack(levels), np.concatenate(tables), offsets_of(tables)
    nodes = len(parent)
    size = np.bincount(taking, minlength=nodes)
    for node in range(nodes - 1, -1, -1):
        if parent[node] >= 0:
            size[parent[node]] += size[node]
    size, begin = size.astype(np.int64), np.zeros(nodes, np.int64)
    roots = np.flatnonzero(parent < 0)
    begin[roots] = np.cumsum(size[roots]) - size[roots]
    for node in np.flatnonzero(first >= 0).tolist():
        begin[first[node]] = begin[node]
        begin[first[node] + 1] = begin[node] + size[first[node]]
    place = np.empty(nodes, np.int32)  # of each node in the order of the tree, so that the rows below one are a range
    place[np.argsort(begin, kind="stable")] = np.arange(nodes)
    order, _ = rows_by_cell(place[taking], nodes)
    given = (order, begin, size, taking, parent, source, value, before, offsets, new, words, np.int64(codes))
    return int(_swap(*given, search_all))


@njit(**INNER)
def _is_new(taker: int, code: int, before: Codes, offsets: Rows, new: Bools, levels: int) -> bool:
    found = False
    for column in range(len(offsets)):
        found = found or new[offsets[column] + before[taker, column] * levels + code]
    return found


@njit(**INNER)
def _may_swap(
    taker: int, other: int, source: Rows, value: Codes, before: Codes, offsets: Rows, new: Bools, levels: int
) -> bool:  # fmt: skip
    """Whether neither of two takers has a new pair if they exchange their values."""
    mine, theirs = ZERO + value[source[taker]], ZERO + value[source[other]]
    return (
        theirs != mine
        and not _is_new(taker, theirs, before, offsets, new, levels)
        and not _is_new(other, mine, before, offsets, new, levels)
    )


@njit(**ENTRY)
def _swap(
    order: Codes, begin: Rows, size: Rows, taking: Codes, parent: Codes, source: Rows, value: Codes, before: Codes,
    offsets: Rows, new: Bools, words: Words, levels: int, search_all: bool,
) -> int:  # fmt: skip
    left = 0
    for taker in range(len(source)):
        if not _is_new(taker, ZERO + value[source[taker]], before, offsets, new, levels):
            continue
        node, root, done, tried = ZERO + taking[taker], ZERO, False, 0
        while node >= 0 and not done:
            for _ in range(min(TRIES, size[node])):
                step = np.int64(_mixed(words[taker], tried) % np.uint64(size[node]))
                tried += 1
                other = ZERO + order[begin[node] + step]
                if not done and _may_swap(taker, other, source, value, before, offsets, new, levels):
                    source[taker], source[other] = source[other], source[taker]
                    done = True
            node, root = ZERO + parent[node], node
        start, ahead = np.int64(_mixed(words[taker], tried) % np.uint64(size[root])), ZERO
        while search_all and not done and ahead < size[root]:
            other = ZERO + order[begin[root] + (start + ahead) % size[root]]
            ahead += 1
            if _may_swap(taker, other, source, value, before, offsets, new, levels):
                source[taker], source[other] = source[other], source[taker]
                done = True
        left += not done
    return left


# Pairs of columns that no tree asked for: takers of one leaf exchange values until the counts of pairs are as near to
# the original's as a new sample's would be. The counts of the leaf stay.


SWEEPS = 40  # passes over all takers, at most
LAST = 0.002  # share of takers that exchange in a pass, below which it is the last


class PairCounts(NamedTuple):
    """Counts of pairs of a group of a column and a code: how far takers are from givers."""

    groups: Codes  # (takers, columns) what takers have; row by row, so that two takers are two places in memory
    offsets: Rows  # (columns,) where each column's figures begin
    more: Floats  # at offset + group * codes + code: how many more takers than givers have the pair
    weight: Floats  # what the square of each counts


class ScoreSums(NamedTuple):
    """Sums of scores: how far takers are from givers.

    Where codes have scores, a sum is of the score of a column times that of the code, for each group of the column.
    Where they have none, it is of the score of a column, for each code.
    """

    groups: Codes  # (takers, columns)
    offsets: Rows
    more: Floats
    weight: Floats
    scores: Floats  # (takers, columns)
    of_codes: Floats  # (codes,) or empty


def relate_pairs(
    taking: Codes, nodes: int, source: Rows, value: Codes, pairs: PairCounts, sums: ScoreSums, limit: Floats,
    codes: int, words: Words,
) -> None:  # fmt: skip
    """Exchange values between takers of a leaf where it reduces the errors; changes ``source`` and the figures.

    A column's error is the weighted sum of its squared figures. ``limit`` is for each column of the counts, then for
    each of the sums; columns whose error is at most their limit are left alone.
    """
    order, starts = rows_by_cell(taking, nodes)
    errors = [np.add.reduceat(one.more**2 * one.weight, one.offsets) for one in (pairs, sums) if len(one.offsets)]
    error = np.concatenate(errors)
    for sweep in range(SWEEPS):
        if (error <= limit).all():
            return
        swapped = _relate(
            order, starts, taking, source, value, pairs, sums, error, limit, words, np.int64(codes), np.int64(sweep)
        )
        if swapped < LAST * len(source):
            return


@njit(**INNER)
def _change(one: int, two: int, mine: int, theirs: int, more: Floats, weight: Floats) -> float:
    """How an exchange changes the error of a column, a sum of weighted squares; nothing if both are in one group."""
    if one == two:
        return 0.0
    first = (1 - 2 * more[one + mine]) * weight[one + mine] + (1 + 2 * more[one + theirs]) * weight[one + theirs]
    return first + (1 + 2 * more[two + mine]) * weight[two + mine] + (1 - 2 * more[two + theirs]) * weight[two + theirs]


@njit(**INNER)
def _moved(
    sums: ScoreSums, column: int, taker: int, other: int, mine: int, theirs: int
) -> tuple[int, float, int, float]:
    """Two sums of a column that an exchange changes, and by how much; the second by nothing if they are the same."""
    scores, offset = sums.scores, sums.offsets[column]
    if len(sums.of_codes):
        higher = sums.of_codes[theirs] - sums.of_codes[mine]
        one, two = offset + sums.groups[taker, column], offset + sums.groups[other, column]
        by_one, by_two = scores[taker, column] * higher, -scores[other, column] * higher
    else:
        one, two = offset + mine, offset + theirs
        by_two = scores[taker, column] - scores[other, column]
        by_one = -by_two
    if one == two:
        by_one, by_two = by_one + by_two, 0.0
    return one, by_one, two, by_two


@njit(**INNER)
def _change_of_sums(
    sums: ScoreSums, column: int, taker: int, other: int, mine: int, theirs: int, moves: bool
) -> float:  # fmt: skip
    """How an exchange changes the error of a column's sums; the sums too if it ``moves`` them."""
    more, weight = sums.more, sums.weight
    one, by_one, two, by_two = _moved(sums, column, taker, other, mine, theirs)
    change = (2 * more[one] + by_one) * by_one * weight[one] + (2 * more[two] + by_two) * by_two * weight[two]
    if moves:
        more[one] += by_one
        more[two] += by_two
    return change


@njit(**ENTRY)
def _relate(
    order: Codes, starts: Rows, taking: Codes, source: Rows, value: Codes, pairs: PairCounts, sums: ScoreSums,
    error: Floats, limit: Floats, words: Words, levels: int, sweep: int,
) -> int:  # fmt: skip
    """Offer each taker the value of another one, chosen by its word; returns how many accept."""
    swapped = 0
    before, offsets, more, weight = pairs.groups, pairs.offsets, pairs.more, pairs.weight
    counted, summed = len(offsets), len(sums.offsets)
    for taker in range(len(source)):
        mine, tries = ZERO + value[source[taker]], False
        for column in range(counted):
            if error[column] > limit[column]:  # an exchange with somebody who has too many is tried in another turn
                tries = tries or more[offsets[column] + before[taker, column] * levels + mine] > 0
        for column in range(summed):
            tries = tries or error[counted + column] > limit[counted + column]
        if not tries:
            continue
        begin = starts[taking[taker]]
        size = starts[taking[taker] + 1] - begin
        other = ZERO + order[begin + np.int64(_mixed(words[taker], -2 - sweep) % np.uint64(size))]
        theirs = ZERO + value[source[other]]
        if mine == theirs:
            continue
        change = 0.0  # of the errors that are too large
        for column in range(counted):
            if error[column] > limit[column]:
                one = offsets[column] + before[taker, column] * levels
                two = offsets[column] + before[other, column] * levels
                change += _change(one, two, mine, theirs, more, weight)
        for column in range(summed):
            if error[counted + column] > limit[counted + column]:
                change += _change_of_sums(sums, column, taker, other, mine, theirs, False)
        if change < 0:
            source[taker], source[other] = source[other], source[taker]
            swapped += 1
            for column in range(counted):
                one = offsets[column] + before[taker, column] * levels
                two = offsets[column] + before[other, column] * levels
                error[column] += _change(one, two, mine, theirs, more, weight)
                more[one + mine] -= 1
                more[one + theirs] += 1
                more[two + mine] += 1
                more[two + theirs] -= 1
            for column in range(summed):
                error[counted + column] += _change_of_sums(sums, column, taker, other, mine, theirs, True)
    return swapped


# Permutation of rows within cells by one random word per row, and hashes and majorities of cell values.


def rows_by_cell(label: Array, count: int) -> tuple[Array, Rows]:
    """Rows sorted by cell, then by row number, and the start of each cell (count + 1 entries).

    The row numbers have the type of the labels, 32 or 64 bits.
    """
    order, starts = np.empty(len(label), label.dtype), np.zeros(count + 2, np.int64)
    _sort_by_cell(label, order, starts)
    return order, starts[:-1]


@njit(**ENTRY)
def _sort_by_cell(label: Array, order: Array, starts: Rows) -> None:
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
