"""Reduced-error pruning with a disguised test set: a subtree stays only where it is better than a leaf, and surely so.

Going up from the leaves, every node compares how many rows its subtree, pruned so far, and its own label answer
rightly, both as estimated. Each row has its own difference, so the standard error of their sum is known.
"""

from dataclasses import dataclass, replace

import numpy as np

from leafcover.errors import ValueOutOfRange
from leafcover.fast.arrays import Bools, Floats, Rows
from leafcover.response.scheme import Scheme
from leafcover.response.tree.walk import answers_for, depths, right_answers
from leafcover.table.table import Table
from leafcover.tree.assemble import subtree_errors
from leafcover.tree.tree import Tree

ROUNDING = 1e-9  # rows: a subtree that is better by less is not better


def pruned(tree: Tree, table: Table, scheme: Scheme, *, deviations: float = 0.0) -> Tree:
    """The tree without subtrees that a test set does not show to be better than a leaf.

    Better means by more than ``deviations`` standard errors; 0 is the paper's way. The rows must be others than the
    tree grew from. Rows that do not answer the class and every column tested are left out.
    """
    if not deviations >= 0:
        raise ValueOutOfRange("deviations", deviations, "a number of standard errors, at least 0")
    found = answers_for(tree, table, scheme)
    each = []
    for nodes, fringe in depths(tree, found):
        alive = fringe.entries.node < fringe.nodes
        node = nodes[fringe.entries.node[alive]]
        each.append((nodes, _Rights(node, fringe.rows_of(alive), right_answers(fringe, tree.label[nodes])[alive])))
    stays = tree.tested >= 0
    subtrees = _Rights(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0))
    for nodes, own in reversed(each):
        subtrees = _summed(_Rights(tree.parent[subtrees.node], subtrees.row, subtrees.right), found.rows)
        better = _summed(_joined(subtrees, replace(own, right=-own.right)), found.rows)
        gained, squares = (np.bincount(better.node, one, tree.size) for one in (better.right, better.right**2))
        error = np.sqrt(np.maximum(squares - gained**2 / found.rows, 0.0))
        stays[nodes] &= (gained > deviations * error + ROUNDING)[nodes]
        subtrees = _joined(subtrees.where(stays[subtrees.node]), own.where(~stays[own.node]))
    return _without(tree, stays)


@dataclass(frozen=True, eq=False)
class _Rights:
    """What rows count for being answered rightly in nodes."""

    node: Rows
    row: Rows
    right: Floats

    def where(self, some: Bools) -> "_Rights":
        return _Rights(self.node[some], self.row[some], self.right[some])


def _joined(one: _Rights, other: _Rights) -> _Rights:
    node, row = np.concatenate([one.node, other.node]), np.concatenate([one.row, other.row])
    return _Rights(node, row, np.concatenate([one.right, other.right]))


def _summed(rights: _Rights, rows: int) -> _Rights:
    """One figure for each node and row."""
    key, place = np.unique(rights.node.astype(np.int64) * rows + rights.row, return_inverse=True)
    return _Rights(key // rows, key % rows, np.asarray(np.bincount(place, rights.right, len(key)), np.float64))


def _without(tree: Tree, stays: Bools) -> Tree:
    """The tree with leaves where nodes do not stay."""
    from leafcover.fast.shape import breadth_first

    branches = np.where(stays, tree.branches, 0).astype(np.int32)
    old, first, parent = breadth_first(tree.first.astype(np.int32), branches)
    tested = np.where(stays, tree.tested, -1)[old].astype(np.int32)
    counts, label = tree.counts[old], tree.label[old]
    return replace(
        tree,
        tested=tested,
        cut=np.full(len(old), np.nan),
        first=first,
        branches=branches[old],
        parent=parent,
        counts=counts,
        label=label,
        errors=subtree_errors(tested, parent, counts, label),
        estimate=np.full(len(old), np.nan),
    )
