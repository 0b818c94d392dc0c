"""Swapping of ranks: partners near by, or far away; levels by inverse cdf; and how often ranks receive each other.

Every function works on the ranks of one cell, from 0. ``source[rank]`` is the rank whose value a rank receives.
"""

import numpy as np
from numba import njit

from leafcover.arrays import Codes, Floats, Rows, Words
from leafcover.kernels import ENTRY, INNER

TRIES = 64  # random ranks that are tried before the free ones are counted
ATTEMPTS = 5  # times that a cell is swapped anew, where the last ranks are too near to each other


@njit(**INNER)
def _next(word: np.uint64) -> np.uint64:
    """The next random word of a sequence (splitmix64)."""
    x = word + np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


@njit(**INNER)
def _below(word: np.uint64, count: int) -> np.int64:
    """A whole number below ``count``, fewer than 2^32."""
    return np.int64(((word >> np.uint64(32)) * np.uint64(count)) >> np.uint64(32))


@njit(**ENTRY)
def swap_near(window: int, words: Words, source: Rows) -> None:
    """Each free rank in turn, from the lowest, swaps with a random free one at most ``window`` above."""
    ranks = len(words)
    source[:] = -1
    for rank in range(ranks):
        if source[rank] >= 0:
            continue
        reach, word, other = min(window, ranks - 1 - rank), words[rank], rank
        for _ in range(TRIES if reach > 0 else 0):  # about every second rank is free
            word = _next(word)
            found = rank + 1 + _below(word, reach)
            if source[found] < 0:
                other = found
                break
        if other == rank:  # few are left at the end
            free = 0
            for found in range(rank + 1, rank + 1 + reach):
                free += source[found] < 0
            chosen = _below(_next(word), free)
            for found in range(rank + 1, rank + 1 + reach):
                if source[found] < 0:
                    if chosen == 0:
                        other = found
                        break
                    chosen -= 1
        source[rank], source[other] = other, rank


@njit(**ENTRY)
def swap_far(distance: int, words: Words, free: Rows, source: Rows) -> None:
    """Free ranks in random order swap with a random free one at least ``distance`` away; ``free`` is memory.

    Two that are left and too near to each other take the partners of a random pair that is far enough from both; a
    single one enters a pair. Where that fails all swap anew, and at last each rank with the one half the ranks away.
    """
    ranks = len(words)
    if ranks < 2:
        source[:] = 0
        return
    far = min(distance, ranks // 2)
    if 2 * far < ranks - 1:  # or else there is one way to pair them
        for attempt in range(ATTEMPTS):
            if _swapped_far(far, words[attempt % ranks] + np.uint64(attempt), free, source):
                return
    half = ranks // 2
    for rank in range(half):
        source[rank], source[rank + half] = rank + half, rank
    if ranks % 2:
        _enter(ranks - 1, 0 if words[0] & np.uint64(1) else half, source)


@njit(**INNER)
def _swapped_far(far: int, word: np.uint64, free: Rows, source: Rows) -> bool:
    left = len(free)
    for rank in range(left):
        free[rank] = rank
    source[:] = -1
    while left > 1:
        word = _next(word)
        at = _below(word, left)
        rank = free[at]
        left -= 1
        free[at] = free[left]
        word = _next(word)
        other = _far_one(far, rank, word, free[:left])
        partner = free[max(other, 0)]
        left -= 1
        free[max(other, 0)] = free[left]
        if other >= 0:
            source[rank], source[partner] = partner, rank
        else:
            word = _next(word)
            if not _exchanged(far, word, rank, partner, source):
                return False
    return left == 0 or _entered(far, _next(word), free[0], source)


@njit(**INNER)
def _far_one(far: int, rank: int, word: np.uint64, free: Rows) -> int:
    """The place of a random free rank that is far enough from one, or -1."""
    for _ in range(TRIES):
        word = _next(word)
        at = _below(word, len(free))
        if abs(free[at] - rank) >= far:
            return at
    count = 0
    for at in range(len(free)):
        count += abs(free[at] - rank) >= far
    chosen = _below(_next(word), count)
    for at in range(len(free)):
        if abs(free[at] - rank) >= far:
            if chosen == 0:
                return at
            chosen -= 1
    return -1


@njit(**INNER)
def _exchanged(far: int, word: np.uint64, rank: int, other: int, source: Rows) -> bool:
    """Two ranks take the partners of a random pair that is far enough from both."""
    ranks = len(source)
    for step in range(TRIES + ranks):
        word = _next(word)
        one = _below(word, ranks) if step < TRIES else step - TRIES
        two = source[one]
        if two >= 0 and abs(one - rank) >= far and abs(two - other) >= far:
            source[rank], source[one] = one, rank
            source[other], source[two] = two, other
            return True
    return False


@njit(**INNER)
def _entered(far: int, word: np.uint64, rank: int, source: Rows) -> bool:
    """Let the last rank enter a random pair that is far enough from it."""
    ranks = len(source)
    for step in range(TRIES + ranks):
        word = _next(word)
        one = _below(word, ranks) if step < TRIES else step - TRIES
        if one != rank and abs(one - rank) >= far and abs(source[one] - rank) >= far:
            _enter(rank, one, source)
            return True
    return False


@njit(**INNER)
def _enter(rank: int, one: int, source: Rows) -> None:
    """The rank receives from one of a pair, which receives from its partner, which receives from the rank."""
    other = source[one]
    source[rank], source[one], source[other] = one, other, rank


@njit(**ENTRY)
def count_sources(reach: int, is_near: bool, runs: int, words: Words, free: Rows, source: Rows, counts: Floats) -> None:
    """How often each rank receives the value of each other one, over some runs with public random words."""
    word = np.uint64(1)
    for _ in range(runs):
        for rank in range(len(words)):
            word = _next(word)
            words[rank] = word
        if is_near:
            swap_near(reach, words, source)
        else:
            swap_far(reach, words, free, source)
        for rank in range(len(words)):
            counts[rank, source[rank]] += 1


@njit(**ENTRY)
def chance_of_ranks(
    own: Rows, own_end: Rows, new: Rows, new_end: Rows, size: int, reach: int, is_near: bool, up: Floats, down: Floats,
    stay: Floats, most: int, found: Floats,
) -> None:  # fmt: skip
    """The chance that a random one of the ranks ``own`` to ``own_end`` receives one of ``new`` to ``new_end``.

    ``up[rank, x]`` is the chance to receive from at most x ranks above, on a scale that may be coarser than ranks:
    where rows of ``up`` are fewer than ``size`` ranks, those of the middle share some. At most ``most`` ranks are
    looked at, evenly spaced.
    """
    rows, width = up.shape
    scale = (width - 1) / reach
    shift = 0.0 if is_near else 1 - scale  # so that the end of a window, or the nearest of far ranks, is an edge
    for pair in range(len(own)):
        many = own_end[pair] - own[pair]
        steps = min(many, most)
        total = 0.0
        for step in range(steps):
            rank = own[pair] + np.int64((step + 0.5) * many / steps)
            row = _row_of(rank, size, rows, scale)
            first, end = new[pair] - rank, new_end[pair] - rank
            total += _upto(up, row, (end - 1) * scale - shift) - _upto(up, row, (first - 1) * scale - shift)
            total += _upto(down, row, -first * scale - shift) - _upto(down, row, -end * scale - shift)
            if new[pair] <= rank < new_end[pair]:
                total += stay[row]
        found[pair] = total / max(steps, 1)


@njit(**INNER)
def _row_of(rank: int, size: int, rows: int, scale: float) -> np.int64:
    """The row of a table for fewer ranks: counted from the nearer end, or in the middle, even ranks in even rows."""
    low, high = np.int64((rank + 0.5) * scale), np.int64((size - 1 - rank + 0.5) * scale)
    half = rows // 2
    if low < half and low <= high:
        return low
    if high < half:
        return rows - 1 - high
    return np.int64(half - ((half - rank) & 1))


@njit(**INNER)
def _upto(table: Floats, row: int, at: float) -> float:
    """A cumulative chance between two columns of a table."""
    last = table.shape[1] - 1
    if at <= 0:
        return 0.0
    if at >= last:
        return table[row, last]
    whole = np.int64(at)
    return table[row, whole] + (at - whole) * (table[row, whole + 1] - table[row, whole])


@njit(**ENTRY)
def draw_levels(below: Floats, row: Rows, uniform: Floats, found: Codes) -> None:
    """The first level whose cumulative chance, in a given row of the table, is above a uniform number."""
    for i in range(len(row)):
        low, high = 0, below.shape[1] - 1
        while low < high:
            middle = (low + high) // 2
            if below[row[i], middle] > uniform[i]:
                high = middle
            else:
                low = middle + 1
        found[i] = low
