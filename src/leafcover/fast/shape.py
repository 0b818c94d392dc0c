"""What follows from the shape of a tree: breadth-first numbers, sums over subtrees, cuts as original values."""

import numpy as np
from numba import njit

from leafcover.fast.arrays import Codes, Floats, Singles


@njit(cache=True)
def breadth_first(first: Codes, branches: Codes) -> tuple[Codes, Codes, Codes]:
    """The old number of each new node, its first child and its parent."""
    most = len(first)
    old, new_first, parent = np.empty(most, np.int32), np.full(most, -1, np.int32), np.full(most, -1, np.int32)
    old[0], count, done = 0, 1, 0
    while done < count:
        node = old[done]
        if branches[node]:
            new_first[done] = count
            for b in range(branches[node]):
                old[count], parent[count] = first[node] + b, done
                count += 1
        done += 1
    return old[:count].copy(), new_first[:count].copy(), parent[:count].copy()


@njit(cache=True)
def add_up(values: Floats, parent: Codes) -> None:
    """Add every node's value to those of all nodes above it; every node stands before its children."""
    for node in range(len(values) - 1, 0, -1):
        values[parent[node]] += values[node]


@njit(cache=True)
def largest_originals(cuts: Singles, ascending: Singles, order: Codes, column: Floats) -> Floats:
    """For each cut, a value of ``ascending``, the largest value of ``column`` that rounds to it.

    ``order`` are the rows by single value, missing ones last, and ``ascending`` their single values.
    """
    found = np.empty(len(cuts), np.float64)
    for i in range(len(cuts)):
        low, high = 0, len(order)
        while low < high:
            middle = (low + high) // 2
            if ascending[middle] >= cuts[i] or np.isnan(ascending[middle]):
                high = middle
            else:
                low = middle + 1
        found[i] = column[order[low]]
        while low < len(order) and ascending[low] == cuts[i]:
            found[i] = max(found[i], column[order[low]])
            low += 1
    return found
