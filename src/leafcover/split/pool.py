"""Pool leaves that hold too few rows with their siblings, smallest first, then with cousins."""

from dataclasses import dataclass

import numpy as np

from leafcover.fast.arrays import Array, Rows
from leafcover.tree.tree import Tree
from leafcover.tree.walk import Places


@dataclass(frozen=True)
class _Pool:
    size: int
    places: tuple[int, ...]

    def __add__(self, other: "_Pool") -> "_Pool":
        return _Pool(self.size + other.size, self.places + other.places)


def pool(tree: Tree, reached: Places, sizes: Rows, min_cell: int) -> Array:
    """For each set of leaves that some rows reach the number of its pool, each of at least ``min_cell`` rows.

    A set of one leaf stands at that leaf; a set of several stands at the node where their paths part. Sets that nobody
    reaches have number -1. Only a table of fewer than ``min_cell`` rows can leave a smaller pool: the whole table.
    """
    if min_cell == 1:  # every set that somebody reaches stands alone
        return np.where(sizes > 0, np.cumsum(sizes > 0) - 1, -1)
    waiting: list[list[_Pool]] = [[] for _ in range(tree.size)]
    leaves = tree.leaves
    for place in np.flatnonzero(sizes).tolist():
        node = _meeting(tree, leaves[reached.leaves_of(place)])
        waiting[node].append(_Pool(int(sizes[place]), (place,)))
    for node in range(tree.size - 1, -1, -1):  # breadth-first numbers: children before parents
        waiting[node] = _enough(waiting[node], min_cell)
        if node:
            waiting[tree.parent[node]].extend(waiting[node])
    number = np.full(len(sizes), -1, np.int64)
    done = sorted(waiting[0], key=lambda one: min(one.places))
    for i, one in enumerate(done):
        number[list(one.places)] = i
    return number


def _enough(pools: list[_Pool], min_cell: int) -> list[_Pool]:
    """Join pools until each is large enough or only one is left."""
    small = sorted((p for p in pools if p.size < min_cell), key=_by_size)
    if not small:
        return pools
    large = sorted((p for p in pools if p.size >= min_cell), key=_by_size, reverse=True)
    while small:
        one = small.pop(0)
        while one.size < min_cell and (small or large):
            one = one + (small.pop(0) if small else large.pop())
        if one.size < min_cell:
            return [one]
        large.append(one)
    return large


def _by_size(one: _Pool) -> tuple[int, int]:
    return one.size, min(one.places)


def _meeting(tree: Tree, leaves: Array) -> int:
    """The lowest node above all of the leaves (the leaf itself when there is one)."""
    nodes = {int(leaf) for leaf in leaves}
    while len(nodes) > 1:
        deepest = max(nodes)  # breadth-first numbers: a parent's is smaller
        nodes.remove(deepest)
        nodes.add(int(tree.parent[deepest]))
    return nodes.pop()
