"""Whether the rules of the original's forest still hold in the release: the classes in its leaves, before and after.

Nothing is grown on the release here. A release that moves rows only inside the cells of this very forest, and classes
only within them, keeps every count by construction.
"""

from collections.abc import Sequence
from dataclasses import astuple, dataclass, replace

import numpy as np

from leafcover.fast.arrays import Codes, Floats, Rows
from leafcover.measuring.utility.forest_growing import Walked
from leafcover.measuring.utility.rules import shares_of_sets
from leafcover.tree.tree import Tree
from leafcover.tree.walk import Places

ALIKE = 1e-6  # rows: counts no further apart are equal, for rows shared among leaves are summed with rounding


@dataclass(frozen=True)
class LeafShares:
    """How far the leaves of one forest hold the same, filled with the rows of two tables."""

    leaves: float  # share of the leaves that hold rows: as many of each class in both
    rows: float  # share of the rows, mean over trees: what leaves hold of each class in both


@dataclass(frozen=True)
class LeafCounts:
    """Rules of the original's forest that hold in the release. A rule in several trees counts in each of them."""

    kept: LeafShares  # original and release
    floor: LeafShares  # original and a resample of it, mean over resamples
    chance: LeafShares  # original and the same with its target shuffled
    leaves: int  # of the original's forest that hold original rows


def leaf_counts(
    before: Walked, after: Walked, classes: tuple[Codes, Codes], resamples: Sequence[Rows], shuffled: Codes
) -> LeafCounts:
    """Count classes in the leaves of one forest, down which original and released rows have been walked.

    ``classes`` are those of both tables' rows, as codes of one list; ``shuffled`` are the original's in another order.
    ``resamples`` are numbers of original rows, at least one list of them.
    """
    ours, theirs = classes
    floors = [leaves_alike(before, _taken(before, rows), ours, ours[rows]) for rows in resamples]
    return LeafCounts(
        kept=leaves_alike(before, after, ours, theirs),
        floor=LeafShares(*np.mean([astuple(shares) for shares in floors], axis=0).tolist()),
        chance=leaves_alike(before, before, ours, shuffled),
        leaves=sum(int(np.count_nonzero(tree.counts[tree.leaves].sum(axis=1))) for tree in before.trees),
    )


def leaves_alike(before: Walked, after: Walked, ours: Codes, theirs: Codes) -> LeafShares:
    """Compare the counts of classes in the leaves of one forest, tree by tree; rows without a class count as one."""
    count = int(max(ours.max(initial=-1), theirs.max(initial=-1))) + 2
    same, lost = [], []
    for tree, first, second in zip(before.trees, before.places, after.places, strict=True):
        one, other = counts_by_leaf(tree, first, ours, count), counts_by_leaf(tree, second, theirs, count)
        fewer = np.where(np.abs(one - other) <= ALIKE, 0.0, one - other)
        same.append((fewer == 0).all(axis=1)[(one + other).any(axis=1)])
        lost.append(np.maximum(fewer, 0).sum() / len(ours))
    return LeafShares(float(np.concatenate(same).mean()), 1.0 - float(np.mean(lost)))


def counts_by_leaf(tree: Tree, found: Places, classes: Codes, count: int) -> Floats:
    """Rows of each leaf and class (leaves, count), those without a class first; shared as in `rows_by_leaf`."""
    from scipy.sparse import coo_array, csr_array

    # Both are sparse, for a table with gaps has nearly as many sets of leaves as rows.
    shares = csr_array((shares_of_sets(tree, found), found.leaves, found.start), shape=(len(found), len(tree.leaves)))
    rows = coo_array((np.ones(len(classes)), (found.place, classes + 1)), shape=(len(found), count))
    counts: Floats = (shares.T @ rows.tocsr()).toarray()
    return counts


def _taken(walked: Walked, rows: Rows) -> Walked:
    """The same forest with some of the rows that were walked down it."""
    return Walked(walked.trees, tuple(replace(found, place=found.place[rows]) for found in walked.places))
