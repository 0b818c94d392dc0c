"""Grow a tree from counts alone: the ID3 of Du and Zhan (2003) for disguised answers, with rules against noise.

The grower never sees a row. It asks a counter for the counts of levels and classes in the nodes of a depth, chooses
tests, and asks for the counter of their branches; estimated counts, being additive, serve as plain ones do.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from leafcover.errors import NameUnknown, PlanError
from leafcover.fast.arrays import Array, Floats
from leafcover.response.scheme import Scheme
from leafcover.response.tree.choice import Choice, Counter, choice
from leafcover.response.tree.front import Front
from leafcover.response.tree.laws import answers
from leafcover.response.tree.rules import Rules
from leafcover.table.table import Table
from leafcover.tree.assemble import subtree_errors
from leafcover.tree.training import attribute_names
from leafcover.tree.tree import Attribute, Tree

_SOUND = Rules()


def grow_tree(
    table: Table, scheme: Scheme, *, target: str, attributes: Sequence[str] | None = None, rules: Rules = _SOUND
) -> Tree:
    """The tree that predicts ``target`` from the other columns (or from ``attributes``), disguised or open.

    Its counts are estimates, none negative, and branches add up to their node. Rows without an answer to the target are
    left out; a row without an answer to a test counts in none of its branches, and these share out its node's rows by
    the rows that answered. A number must be binned before: every column is a category.
    """
    chosen = attribute_names(table, target) if attributes is None else tuple(attributes)
    for name in (*chosen, target):
        if name not in table.names:
            raise NameUnknown("column", name, table.names)
    if target in chosen or len(set(chosen)) != len(chosen) or not chosen:
        raise PlanError(f"A tree needs different columns that are not its target. Got {list(chosen)}. Name each once.")
    found = answers(table, scheme, (*chosen, target))
    columns = tuple(
        Attribute(name, levels, is_number=False) for name, levels in zip(chosen, found.levels, strict=False)
    )
    return grown(Front.root(found), columns, target, found.levels[-1], rules)


@dataclass(frozen=True, eq=False)
class _Depth:
    """The nodes of one depth."""

    tested: Array
    counts: Floats
    label: Array
    parent: Array  # number within the depth above


def grown(
    counter: Counter, attributes: tuple[Attribute, ...], target: str, classes: tuple[str, ...], rules: Rules
) -> Tree:
    """The tree that a counter's counts give."""
    counts = np.maximum(counter.classes().counts[:, 0, :], 0.0)
    counts *= counter.rows / counts.sum()
    label, parent = counts.argmax(axis=1), np.array([-1])
    depths: list[_Depth] = []
    while True:
        if rules.max_depth is not None and len(depths) >= rules.max_depth:
            made = Choice(np.full(counter.nodes, -1), [])
        else:
            made = choice(counter, counts, rules)
        depths.append(_Depth(made.tested, counts, label, parent))
        if not (made.tested >= 0).any():
            return _tree(depths, attributes, target, classes)
        counter = counter.children(made.tested)
        counts, parent = _branches(made, counts.shape[1])
        label = np.where(counts.sum(axis=1) > 0, counts.argmax(axis=1), label[parent])


def _branches(made: Choice, classes: int) -> tuple[Floats, Array]:
    """Counts of the branches of all nodes, in order, and the node each belongs to."""
    levels = np.array([0 if one is None else one.shape[1] for one in made.branches])
    width = np.where(made.tested >= 0, levels[made.tested], 0)
    first = np.cumsum(width) - width
    counts = np.empty((int(width.sum()), classes))
    for column in np.unique(made.tested[made.tested >= 0]).tolist():
        nodes, tried = np.flatnonzero(made.tested == column), made.branches[column]
        if tried is not None:
            counts[first[nodes][:, None] + np.arange(levels[column])] = tried[nodes]
    return counts, np.repeat(np.arange(len(width)), width)


def _tree(depths: list[_Depth], attributes: tuple[Attribute, ...], target: str, classes: tuple[str, ...]) -> Tree:
    """The depths one under the other: nodes are already in breadth-first order."""
    starts = np.cumsum([0, *(len(depth.tested) for depth in depths)])
    tested = np.concatenate([depth.tested for depth in depths]).astype(np.int32)
    parent = np.concatenate([d.parent + start for d, start in zip(depths, [0, *starts[:-2]], strict=True)]).astype(
        np.int32
    )
    counts = np.concatenate([depth.counts for depth in depths])
    label = np.concatenate([depth.label for depth in depths]).astype(np.int32)
    levels = np.array([len(attribute.levels) for attribute in attributes], np.int32)
    branches = np.where(tested >= 0, levels[tested], 0).astype(np.int32)
    first = np.where(tested >= 0, 1 + np.cumsum(branches) - branches, -1).astype(np.int32)
    return Tree(
        target=target,
        classes=classes,
        attributes=attributes,
        tested=tested,
        cut=np.full(len(tested), np.nan),
        first=first,
        branches=branches,
        parent=parent,
        counts=counts,
        label=label,
        errors=subtree_errors(tested, parent, counts, label),
        estimate=np.full(len(tested), np.nan),
    )
