"""Two trees walked together from the root: where they part, and whether one is the other cut short."""

from collections.abc import Iterator, Mapping

import numpy as np

from leafcover.fast.arrays import Bools
from leafcover.tree.box import levels
from leafcover.tree.tree import Tree

_NOTHING: Mapping[str, float] = {}
_NONE = -1  # the other tree has no such branch


def differing_nodes(one: Tree, other: Tree, allowed: Mapping[str, float] = _NOTHING) -> tuple[Bools, Bools]:
    """Which nodes of each tree the other has not: another attribute, cut or class, here or at a node above.

    ``allowed`` says how far a cut of an attribute may have moved; by default not at all.
    """
    marks = np.zeros(one.size, np.bool_), np.zeros(other.size, np.bool_)
    for a, b in pairs(one, other, allowed):
        if not alike(one, a, other, b, allowed):
            for mark, node in zip(marks, (a, b), strict=True):
                if node != _NONE:
                    mark[node] = True
    for mark, tree in zip(marks, (one, other), strict=True):
        for nodes in levels(tree)[1:]:
            mark[nodes] |= mark[tree.parent[nodes]]
    return marks


def pruned_form(one: Tree, other: Tree, allowed: Mapping[str, float] = _NOTHING) -> bool:
    """Whether one tree is the other with some subtrees made leaves, each answering a class that stood below.

    The test at the root must be left: a single leaf is a pruned form of every tree and says nothing of any.
    """
    if one.size >= other.size or one.tested[0] < 0:
        return False
    for a, b in pairs(one, other, allowed):
        if _NONE in (a, b):
            return False
        cut_short = one.tested[a] < 0 <= other.tested[b]
        if cut_short and one.classes[one.label[a]] in _answers(other, b):
            continue
        if not alike(one, a, other, b, allowed):
            return False
    return True


def pairs(one: Tree, other: Tree, allowed: Mapping[str, float]) -> Iterator[tuple[int, int]]:
    """The nodes at the same place in both trees, down to the first difference on each path (that one included).

    A branch that only one tree has is paired with -1.
    """
    waiting = [(0, 0)]
    while waiting:
        a, b = waiting.pop()
        yield a, b
        if alike(one, a, other, b, allowed) and one.tested[a] >= 0:
            waiting += _children(one, a, other, b)


def alike(one: Tree, a: int, other: Tree, b: int, allowed: Mapping[str, float]) -> bool:
    """Whether two nodes test the same attribute at about the same cut, or answer the same class."""
    if _NONE in (a, b):
        return False
    if one.tested[a] < 0 or other.tested[b] < 0:
        both = one.tested[a] < 0 and other.tested[b] < 0
        return bool(both and one.classes[one.label[a]] == other.classes[other.label[b]])
    ours, theirs = one.attributes[one.tested[a]], other.attributes[other.tested[b]]
    if ours.name != theirs.name or ours.is_number != theirs.is_number:
        return False
    limit = allowed.get(ours.name, 0.0) * (1 + 1e-9)
    return not ours.is_number or bool(abs(one.cut[a] / 2 - other.cut[b] / 2) <= limit / 2)


def _children(one: Tree, a: int, other: Tree, b: int) -> list[tuple[int, int]]:
    """The branches of two nodes that test the same attribute; levels are matched by their text."""
    ours, theirs = one.attributes[one.tested[a]], other.attributes[other.tested[b]]
    first, second = int(one.first[a]), int(other.first[b])
    if ours.is_number or ours.levels == theirs.levels:
        return [(first + branch, second + branch) for branch in range(int(one.branches[a]))]
    place = {level: second + branch for branch, level in enumerate(theirs.levels)}
    shared = [(first + branch, place.pop(level, _NONE)) for branch, level in enumerate(ours.levels)]
    return shared + [(_NONE, node) for node in place.values()]


def _answers(tree: Tree, node: int) -> set[str]:
    """The classes that leaves below a node answer."""
    waiting, found = [node], set()
    while waiting:
        at = waiting.pop()
        if tree.tested[at] < 0:
            found.add(tree.classes[tree.label[at]])
        waiting += range(int(tree.first[at]), int(tree.first[at]) + int(tree.branches[at]))
    return found
