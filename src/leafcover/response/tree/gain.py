"""Information gain from counts that may be negative: clipped, and rescaled so that branches add up to their node."""

import numpy as np

from leafcover.fast.arrays import Floats

ROUNDING = 1e-7  # rows: an estimated count below this is nothing but what sums of weights leave over


def clipped(counts: Floats) -> Floats:
    """The counts, and 0 for negative ones."""
    return np.where(counts > ROUNDING, counts, 0.0)


def shared_out(counts: Floats, node: Floats) -> Floats:
    """Counts of branches (nodes, levels, classes) without negative ones, adding up to their node's (nodes, classes).

    Each class of the node is shared out in proportion to its positive counts. Rows with a missing answer are in no
    branch, and so are shared out with the others. A class that no branch holds goes by the size of the branches.

    >>> shared_out(np.array([[[30.0, -5.0], [10.0, 25.0]]]), np.array([[40.0, 20.0]]))[0]
    array([[30.,  0.],
           [10., 20.]])
    """
    kept = clipped(counts)
    sums = kept.sum(axis=1, keepdims=True)
    sizes = kept.sum(axis=2, keepdims=True)
    whole = sizes.sum(axis=1, keepdims=True)
    by_size = np.divide(sizes, whole, out=np.zeros_like(sizes), where=whole > 0)
    shares = np.where(sums > 0, np.divide(kept, sums, out=np.zeros_like(kept), where=sums > 0), by_size)
    # Multiplied by 1 where nothing was clipped: whole counts stay whole.
    same = sums == node[:, None, :]
    return np.where(same, kept, shares * node[:, None, :])


def gains(branches: Floats) -> tuple[Floats, Floats]:
    """Information gain and split information in bits, from counts (nodes, levels, classes).

    >>> [figure.round(3).tolist() for figure in gains(np.array([[[4.0, 0.0], [0.0, 4.0]], [[1.0, 1.0], [2.0, 2.0]]]))]
    [[1.0, 0.0], [1.0, 0.918]]
    """
    sizes, classes, whole = branches.sum(axis=2), branches.sum(axis=1), branches.sum(axis=(1, 2))
    split = _bits(sizes, whole)
    inside = _times_log(branches).sum(axis=(1, 2)) - _times_log(sizes).sum(axis=1)
    total = np.where(whole > 0, whole, 1.0)
    return np.maximum(_bits(classes, whole) + inside / total, 0.0), split


def _bits(counts: Floats, whole: Floats) -> Floats:
    total = np.where(whole > 0, whole, 1.0)
    return (_times_log(whole) - _times_log(counts).sum(axis=1)) / total


def _times_log(counts: Floats) -> Floats:
    return counts * np.log2(np.where(counts > 0, counts, 1.0))
