"""How far two ways to part the same rows agree."""

import numpy as np

from leafcover.fast.arrays import Array


def adjusted_rand(one: Array, other: Array) -> float:
    """How far two partitions put the same rows together, luck left out: 1 when they are the same, about 0 by chance.

    Hubert and Arabie (1985).

    >>> adjusted_rand(np.array([0, 0, 1, 1]), np.array([1, 1, 0, 0]))
    1.0
    """
    rows = len(one)
    first, second = (np.unique(labels, return_inverse=True)[1].astype(np.int64) for labels in (one, other))
    both = np.unique(first * (second.max(initial=0) + 1) + second, return_counts=True)[1]
    together, ours, theirs = (_pairs(counts) for counts in (both, np.bincount(first), np.bincount(second)))
    most = (ours + theirs) / 2
    chance = ours * theirs / max(rows * (rows - 1) / 2, 1.0)
    return 1.0 if most == chance else (together - chance) / (most - chance)


def _pairs(counts: Array) -> float:
    counts = counts.astype(np.float64)
    return float((counts * (counts - 1)).sum() / 2)
