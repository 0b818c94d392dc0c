"""The sets of leaves that rows reach: each numbered once, by hash and comparison, and where its boxes meet."""

from typing import NamedTuple

import numpy as np
from numba import njit

from leafcover.fast.arrays import Codes, Floats, Rows, Words
from leafcover.fast.dealing import longer

EMPTY = -1


class LeafSets(NamedTuple):
    """Sets of leaves in the order they were met; set s holds ``leaves[start[s]:start[s + 1]]``, ascending."""

    slot: Rows  # (a power of two,) the set whose hash leads there, or EMPTY
    mark: Words  # (sets,) the hash of each set
    start: Rows  # (sets + 1,)
    leaves: Codes


def no_sets() -> LeafSets:
    """No set yet."""
    return LeafSets(np.full(16, EMPTY), np.empty(0, np.uint64), np.zeros(1, np.int64), np.empty(0, np.int32))


@njit(cache=True)
def add_sets(sets: LeafSets, ends: Rows, leaves: Codes) -> tuple[LeafSets, Codes]:
    """The sets with new ones beside them, and the number of each new one; the leaves of each are put in order."""
    known, held = len(sets.mark), len(sets.leaves)
    mark, start = longer(sets.mark, known + len(ends)), longer(sets.start, known + len(ends) + 1)
    members = longer(sets.leaves, held + len(leaves))
    slot = _roomy(sets, known + len(ends))
    number, begin = np.empty(len(ends), np.int32), 0
    for i in range(len(ends)):
        one = leaves[begin : ends[i]]
        one.sort()
        begin = ends[i]
        hashed = _hash(one)
        at = _find(slot, mark, start, members, hashed, one)
        if slot[at] == EMPTY:
            slot[at], mark[known] = known, hashed
            members[held : held + len(one)] = one
            known, held = known + 1, held + len(one)
            start[known] = held
        number[i] = slot[at]
    return LeafSets(slot, mark[:known].copy(), start[: known + 1].copy(), members[:held].copy()), number


@njit(cache=True)
def _roomy(sets: LeafSets, count: int) -> Rows:
    """The slots of the sets, at least twice as many as ``count``."""
    size = len(sets.slot)
    if size >= 2 * count:
        return sets.slot
    while size < 2 * count:
        size *= 2
    slot = np.full(size, EMPTY)
    for number in range(len(sets.mark)):
        at = sets.mark[number] & np.uint64(size - 1)
        while slot[at] != EMPTY:
            at = (at + np.uint64(1)) & np.uint64(size - 1)
        slot[at] = number
    return slot


@njit(cache=True)
def _find(slot: Rows, mark: Words, start: Rows, members: Codes, hashed: np.uint64, one: Codes) -> np.uint64:
    """The slot of a set, or the empty one where it belongs."""
    last = np.uint64(len(slot) - 1)
    at = hashed & last
    while slot[at] != EMPTY:
        number = slot[at]
        if mark[number] == hashed and np.array_equal(members[start[number] : start[number + 1]], one):
            break
        at = (at + np.uint64(1)) & last
    return at


@njit(cache=True)
def _hash(one: Codes) -> np.uint64:
    x = np.uint64(len(one))
    for leaf in one:
        x = (x ^ np.uint64(leaf)) * np.uint64(0xBF58476D1CE4E5B9)
        x ^= x >> np.uint64(29)
    x *= np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(32))


@njit(cache=True)
def meet(
    low: Floats, high: Floats, allowed: Codes, start: Rows, leaves: Codes, any_level: int, no_level: int
) -> tuple[Floats, Floats, Codes]:
    """Where the boxes of each set's leaves meet: the ends of numbers; the one level of a category, or any, or none."""
    shape = (len(start) - 1, low.shape[1])
    lows, highs, levels = np.empty(shape), np.empty(shape), np.empty(shape, np.int32)
    for s in range(len(start) - 1):
        first = leaves[start[s]]
        lows[s], highs[s], levels[s] = low[first], high[first], allowed[first]
        for leaf in leaves[start[s] + 1 : start[s + 1]]:
            for a in range(low.shape[1]):
                lows[s, a] = max(lows[s, a], low[leaf, a])
                highs[s, a] = min(highs[s, a], high[leaf, a])
                if levels[s, a] == any_level:
                    levels[s, a] = allowed[leaf, a]
                elif allowed[leaf, a] != any_level and allowed[leaf, a] != levels[s, a]:
                    levels[s, a] = no_level
    return lows, highs, levels
