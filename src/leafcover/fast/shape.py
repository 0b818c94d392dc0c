"""Number the nodes of a tree anew: breadth first, only those that still hang on it."""

import numpy as np
from numba import njit

from leafcover.fast.arrays import Codes


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
