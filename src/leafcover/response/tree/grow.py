"""Grow a tree from counts alone: the ID3 of Du and Zhan (2003) for disguised answers, with rules against noise.

The grower never sees a row. It asks a counter for the counts of levels and classes in the nodes of a depth, chooses
tests, and asks for the counter of their branches; estimated counts, being additive, serve as plain ones do.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from leafcover.errors import NameUnknown, PlanError
from leafcover.fast.arrays import Array, Bools, Floats
from leafcover.response.scheme import Scheme
from leafcover.response.tree.choice import Choice, Counter, choice
from leafcover.response.tree.cubes import Cubes, fits
from leafcover.response.tree.fringe import Fringe
from leafcover.response.tree.gain import ROUNDING, clipped
from leafcover.response.tree.laws import answers
from leafcover.response.tree.rules import Rules
from leafcover.table.table import Table
from leafcover.tree.assemble import subtree_errors
from leafcover.tree.training import attribute_names
from leafcover.tree.tree import Attribute, Tree

MOST_ENTRIES = 1 << 23  # made at once: about half a gigabyte for 20 columns
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
    counter = Cubes.root(found) if fits(found) else Fringe.root(found)
    return grown(counter, columns, target, found.levels[-1], rules)


@dataclass(frozen=True, eq=False)
class _Nodes:
    """Nodes that are decided together: those of a depth, or a part of them where memory would not hold all."""

    above: Counter | None  # of the nodes above; None for the root
    tested: Array  # what the nodes above test, -1 for those whose branches are others
    counts: Floats
    label: Array
    parent: Array  # number in the tree
    depth: int


@dataclass(frozen=True, eq=False)
class _Decided:
    """The same nodes with their tests."""

    tested: Array
    counts: Floats
    label: Array
    parent: Array


def grown(
    counter: Counter, attributes: tuple[Attribute, ...], target: str, classes: tuple[str, ...], rules: Rules
) -> Tree:
    """The tree that a counter's counts give."""
    counts = clipped(counter.classes().counts[:, 0, :])
    counts *= counter.rows / counts.sum()
    waiting = [_Nodes(None, np.zeros(0), counts, _largest(counts), np.array([-1]), 0)]
    decided: list[_Decided] = []
    start = 0
    while waiting:
        nodes = waiting.pop()
        here = counter if nodes.above is None else nodes.above.children(nodes.tested)
        made = Choice(np.full(here.nodes, -1), [])
        if rules.max_depth is None or nodes.depth < rules.max_depth:
            made = choice(here, nodes.counts, rules)
        decided.append(_Decided(made.tested, nodes.counts, nodes.label, nodes.parent))
        for some in _parts(here.made(made.tested), made.tested >= 0):
            tested = np.where(some, made.tested, -1)
            counts, parent = _branches(Choice(tested, made.branches), counts.shape[1])
            label = np.where(counts.sum(axis=1) > 0, _largest(counts), nodes.label[parent])
            waiting.append(_Nodes(here, tested, counts, label, start + parent, nodes.depth + 1))
        start += here.nodes
    return _tree(decided, attributes, target, classes)


def _largest(counts: Floats) -> Array:
    """The class of each node; of those that only rounding tells apart the first."""
    return (counts >= counts.max(axis=1, keepdims=True) - ROUNDING).argmax(axis=1)


def _parts(made: Array, split: Bools) -> Iterator[Bools]:
    """The nodes that are split, in parts whose branches make about MOST_ENTRIES each, of one node at least."""
    number = np.cumsum(made) // MOST_ENTRIES
    for part in np.unique(number[split]):
        yield split & (number == part)


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


def _tree(decided: list[_Decided], attributes: tuple[Attribute, ...], target: str, classes: tuple[str, ...]) -> Tree:
    """All nodes as a tree, in breadth-first order."""
    from leafcover.fast.shape import breadth_first

    tested, counts, label, parent = (
        np.concatenate([getattr(one, field) for one in decided]) for field in ("tested", "counts", "label", "parent")
    )
    levels = np.array([len(attribute.levels) for attribute in attributes], np.int32)
    branches = np.where(tested >= 0, levels[tested], 0).astype(np.int32)
    first = np.full(len(tested), -1, np.int32)
    first[parent[:0:-1]] = np.arange(len(tested) - 1, 0, -1)  # of several children the first is written last
    old, first, parent = breadth_first(first, branches)
    tested, label = tested[old].astype(np.int32), label[old].astype(np.int32)
    return Tree(
        target=target,
        classes=classes,
        attributes=attributes,
        tested=tested,
        cut=np.full(len(old), np.nan),
        first=first,
        branches=branches[old],
        parent=parent,
        counts=counts[old],
        label=label,
        errors=subtree_errors(tested, parent, counts[old], label),
        estimate=np.full(len(old), np.nan),
    )
