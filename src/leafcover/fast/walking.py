"""Lead rows down a tree: to one leaf, or by several branches where a value is missing or was never seen."""

from typing import NamedTuple

import numpy as np
from numba import njit

from leafcover.fast.arrays import Array, Codes, Floats, Rows, Singles
from leafcover.fast.dealing import longer

SEVERAL = -1


class Ways(NamedTuple):
    """What walking needs of a tree."""

    tested: Codes  # (nodes,) which column of the values, -1 at a leaf
    is_number: Array  # (nodes,)
    cut: Floats  # (nodes,)
    first: Codes  # (nodes,)
    branches: Codes  # (nodes,)
    weight: Singles  # (nodes,) weighted training rows


@njit(cache=True)
def take(ways: Ways, node: int, value: float) -> int:
    """The child a value leads to; SEVERAL when it is missing or no branch is known for it."""
    if np.isnan(value):
        return SEVERAL
    if ways.is_number[node]:
        return ways.first[node] + int(value > ways.cut[node])
    level = int(value)
    if 0 <= level < ways.branches[node]:
        return ways.first[node] + level
    return SEVERAL


@njit(cache=True)
def one_leaf(ways: Ways, values: Floats, leaf: Codes) -> None:
    """The leaf of each row of ``values`` (rows, columns), or SEVERAL."""
    for row in range(len(values)):
        node = 0
        while node >= 0 and ways.tested[node] >= 0:
            node = take(ways, node, values[row, ways.tested[node]])
        leaf[row] = node


@njit(cache=True)
def many_leaves(ways: Ways, values: Floats, rows: Rows) -> tuple[Rows, Codes]:
    """All leaves that each of some rows reaches through branches with training rows: ends, leaves in order."""
    ends = np.empty(len(rows), np.int64)
    found, count = np.empty(1024, np.int32), 0
    stack = np.empty(len(ways.tested), np.int32)
    for i in range(len(rows)):
        stack[0], height = 0, 1
        while height:
            height -= 1
            node = stack[height]
            if ways.tested[node] < 0:
                if count == len(found):
                    found = longer(found, 2 * count)
                found[count] = node
                count += 1
                continue
            child = take(ways, node, values[rows[i], ways.tested[node]])
            if child >= 0:
                stack[height] = child
                height += 1
                continue
            for b in range(ways.branches[node] - 1, -1, -1):
                if ways.weight[ways.first[node] + b] > 0:
                    stack[height] = ways.first[node] + b
                    height += 1
        ends[i] = count
    return ends, found[:count]


@njit(cache=True)
def votes(ways: Ways, counts: Singles, label: Codes, values: Floats, rows: Rows) -> Singles:
    """Class weights (rows, classes) of rows that reach several leaves, each by its share, summed in 32 bits."""
    sums = np.zeros((len(rows), counts.shape[1]), np.float32)
    stack, share = np.empty(len(ways.tested), np.int32), np.empty(len(ways.tested), np.float32)
    for i in range(len(rows)):
        stack[0], share[0], height = 0, 1.0, 1
        while height:
            height -= 1
            node, part = stack[height], share[height]
            if ways.tested[node] < 0:
                if ways.weight[node] > 0:
                    for c in range(counts.shape[1]):
                        sums[i, c] += np.float32(np.float32(part * counts[node, c]) / ways.weight[node])
                else:
                    sums[i, label[node]] += part
                continue
            child = take(ways, node, values[rows[i], ways.tested[node]])
            if child >= 0:
                stack[height], share[height] = child, part
                height += 1
                continue
            for b in range(ways.branches[node] - 1, -1, -1):
                child = ways.first[node] + b
                if ways.weight[child] > 0:
                    stack[height] = child
                    share[height] = np.float32(np.float32(part * ways.weight[child]) / ways.weight[node])
                    height += 1
    return sums
