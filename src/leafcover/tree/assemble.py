"""From kernel arrays to a Tree: breadth first, cuts as the original values of the table."""

import numpy as np

from leafcover.fast.arrays import Array, Floats
from leafcover.tree.training import Training
from leafcover.tree.tree import Tree


def assemble(
    training: Training,
    *,
    tested: Array,
    cut: Array,
    first: Array,
    branches: Array,
    counts: Array,
    label: Array,
    estimate: Array | None = None,
) -> Tree:
    """A tree of the nodes that can be reached from node 0; children of a node stand side by side."""
    from leafcover.fast.shape import breadth_first

    old, new_first, parent = breadth_first(first.astype(np.int32), branches.astype(np.int32))
    tested, label, counts = tested[old].astype(np.int32), label[old].astype(np.int32), counts[old].astype(np.float64)
    return Tree(
        target=training.target,
        classes=training.classes,
        attributes=training.attributes,
        tested=tested,
        cut=cut[old].astype(np.float64),
        first=new_first,
        branches=branches[old].astype(np.int32),
        parent=parent,
        counts=counts,
        label=label,
        errors=subtree_errors(tested, parent, counts, label),
        estimate=np.full(len(old), np.nan) if estimate is None else estimate[old].astype(np.float64),
    )


def subtree_errors(tested: Array, parent: Array, counts: Floats, label: Array) -> Floats:
    """Weighted training errors under each node; every node stands before its children."""
    from leafcover.fast.shape import add_up

    errors: Floats = counts.sum(axis=1) - counts[np.arange(len(label)), label]
    errors[tested >= 0] = 0.0
    add_up(errors, parent.astype(np.int32))
    return errors
