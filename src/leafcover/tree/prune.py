"""Pessimistic pruning with subtree raising, on the rows a tree was grown from (C4.5 Release 8)."""

import numpy as np

from leafcover.errors import ValueOutOfRange
from leafcover.fast.arrays import Array, Bools, Floats
from leafcover.tree.assemble import assemble
from leafcover.tree.training import Training
from leafcover.tree.tree import Attribute, Tree

_NONE_KEPT: Bools = np.zeros(0, np.bool_)


def pruned(tree: Tree, training: Training, *, confidence: float = 0.25, kept: Bools = _NONE_KEPT) -> Tree:
    """The tree with every subtree replaced by a leaf or by its largest branch where that errs no more.

    ``estimate`` of the result is the pessimistic number of errors; ``training`` must be what grew the tree.
    ``kept`` says which of the first nodes, from the root on, keep their tests whatever these err.
    """
    from leafcover.fast import pruning
    from leafcover.fast.pessimism import squared_deviation

    check_confidence(confidence)
    used = np.unique(tree.tested[tree.tested >= 0])
    place = np.zeros(len(tree.attributes) + 1, np.int32)
    place[used] = np.arange(len(used))
    tested = np.where(tree.tested >= 0, place[tree.tested], -1)
    figures = np.zeros((tree.size, pruning.COUNTS + len(tree.classes)), np.float32)
    figures[:, pruning.ITEMS] = tree.counts.sum(axis=1)
    figures[:, pruning.COUNTS :] = tree.counts
    standing = pruning.Standing(
        node=np.column_stack([tested, tree.first, tree.branches, tree.label]).astype(np.int32),
        figures=figures,
        cut=tree.cut.copy(),
        is_number=np.array([tree.attributes[a].is_number for a in used], np.bool_),
        values=stacked(tree.attributes, training.columns, used),
        labels=np.ascontiguousarray(training.labels, np.int32),
        kept=kept,
        confidence=float(np.float32(confidence)),
        coefficient=float(np.float32(squared_deviation(confidence))),
    )
    pruning.prune_nodes(standing)
    left = standing.node[:, pruning.TESTED]
    return assemble(
        training,
        tested=np.where(left >= 0, used[left] if len(used) else -1, -1),
        cut=standing.cut,
        first=standing.node[:, pruning.FIRST],
        branches=standing.node[:, pruning.BRANCHES],
        counts=figures[:, pruning.COUNTS :],
        label=standing.node[:, pruning.LABEL],
        estimate=figures[:, pruning.ESTIMATE],
    )


def check_confidence(confidence: float) -> None:
    """Refuse what is not a probability of pruning."""
    if not 0 < confidence <= 1:
        raise ValueOutOfRange("confidence", confidence, "above 0 and at most 1")


def stacked(attributes: tuple[Attribute, ...], columns: tuple[Array, ...], used: Array) -> Floats:
    """The used columns one under the other as float64: numbers as they are, levels by code, nan for missing."""
    rows = len(columns[0]) if columns else 0
    values = np.empty((len(used), rows), np.float64)
    for place, a in enumerate(used):
        values[place] = columns[a] if attributes[a].is_number else np.where(columns[a] < 0, np.nan, columns[a])
    return values
