"""A tree as an outline: one line a node, from the root down, with what lies deeper told in one line."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from leafcover.fast.arrays import Array, Bools
from leafcover.tree.show import Spell, held
from leafcover.tree.tree import Tree

_MOST_BRANCHES = 8  # of a category; the rest is one line


@dataclass(frozen=True)
class Line:
    """One line of the picture."""

    depth: int
    edge: str  # the branch that leads here
    name: str  # what the box says
    node: int  # whose mix of classes is shown; -1 for none
    kind: str  # "test", "leaf" or "more"
    marked: bool = False
    follows: bool = False  # marked because the node above is


@dataclass(frozen=True, eq=False)
class Drawn:
    """What is drawn, and how."""

    tree: Tree
    depth: int
    spell: Spell
    marks: Bools
    counts: bool = True  # whether a leaf without a class may tell its rows


def lines(drawn: Drawn) -> Iterator[Line]:
    """The lines from top to bottom."""
    waiting = [_line_of(drawn, 0, 0)]
    while waiting:
        line = waiting.pop()
        yield line
        if line.kind == "test":
            waiting += reversed(list(_below(drawn, line)))


def _below(drawn: Drawn, line: Line) -> Iterator[Line]:
    tree = drawn.tree
    children = np.arange(tree.first[line.node], tree.first[line.node] + tree.branches[line.node])
    weight = tree.counts[children].sum(axis=1)
    seen = children[weight > 0]
    shown = seen
    if len(seen) > _MOST_BRANCHES:
        largest = np.argsort(-weight[weight > 0], kind="stable")[: _MOST_BRANCHES - 1]
        shown = np.sort(seen[largest])
    for child in shown.tolist():
        yield _line_of(drawn, child, line.depth + 1)
    if len(shown) < len(children):
        rare, empty = len(seen) - len(shown), len(children) - len(seen)
        words = [f"{rare} rarer values"] * (rare > 0) + [f"{empty} without rows"] * (empty > 0)
        hidden = np.setdiff1d(children, shown)
        differ = sum(bool(drawn.marks[_leaves_under(tree, child)].any()) for child in hidden.tolist())
        words += [f"{differ} differ{'s' * (differ == 1)}"] * (0 < differ < len(hidden))
        yield Line(line.depth + 1, "", "… " + ", ".join(words), -1, "more", differ > 0, line.marked)


def _line_of(drawn: Drawn, node: int, level: int) -> Line:
    tree, edge = drawn.tree, ""
    if node:
        above = tree.parent[node]
        attribute, branch = tree.attributes[tree.tested[above]], node - tree.first[above]
        if attribute.is_number:
            edge = f"{'>' if branch else '≤'} {drawn.spell(attribute.name, float(tree.cut[above]))}"
        else:
            edge = f"= {attribute.levels[branch]}"
    marked = bool(drawn.marks[node])
    follows = bool(node and drawn.marks[tree.parent[node]])
    if tree.tested[node] < 0:
        name = held(tree, node) if drawn.counts and not tree.answers else tree.classes[tree.label[node]]
        return Line(level, edge, name, node, "leaf", marked, follows)
    if level >= drawn.depth:
        leaves = _leaves_under(tree, node)
        differ = int(drawn.marks[leaves].sum())
        name = f"… {differ} of {len(leaves)} leaves" if 0 < differ < len(leaves) else f"… {len(leaves)} more leaves"
        return Line(level, edge, name, node, "more", differ > 0, follows)
    return Line(level, edge, tree.attributes[tree.tested[node]].name, node, "test", marked, follows)


def _leaves_under(tree: Tree, node: int) -> Array:
    waiting, leaves = [node], []
    while waiting:
        at = waiting.pop()
        if tree.tested[at] < 0:
            leaves.append(at)
        waiting += range(tree.first[at], tree.first[at] + tree.branches[at])
    return np.array(leaves, np.intp)
