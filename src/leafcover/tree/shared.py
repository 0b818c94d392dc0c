"""What the trees of a forest have in common: rules, roots and attributes.

A rule is the box of a leaf and its class, whatever the order of the tests that led there; two rules are the same when
all their values are.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from leafcover.tree.box import Boxes, Test, leaf_boxes
from leafcover.tree.forest import Forest
from leafcover.tree.tree import Tree


@dataclass(frozen=True)
class Rule:
    """What one leaf says, and the numbers (from 0) of the trees that say it."""

    tests: tuple[Test, ...]  # in the order of attributes; none for a tree that is one leaf
    label: str
    trees: tuple[int, ...]
    rows: float  # weighted training rows in the leaf of the first of these trees
    errors: float  # those among them that have another class


@dataclass(frozen=True)
class Root:
    """A test at the root of trees."""

    attribute: str
    cut: float | None  # None for a category
    trees: tuple[int, ...]


def shared_rules(trees: Forest) -> tuple[Rule, ...]:
    """Every rule of the forest once: those of most trees first, then those of most rows. Empty leaves say nothing."""
    found: dict[bytes, tuple[Boxes, int, int, list[int]]] = {}
    for number, tree in enumerate(trees):
        boxes = leaf_boxes(tree)
        held = tree.counts[tree.leaves].sum(axis=1)
        for leaf, node in enumerate(tree.leaves.tolist()):
            if held[leaf] > 0:
                key = b"".join(part[leaf].tobytes() for part in (boxes.low, boxes.high, boxes.allowed))
                key += int(tree.label[node]).to_bytes(4)
                found.setdefault(key, (boxes, leaf, node, []))[3].append(number)
    rules = [_rule(trees[numbers[0]], boxes, leaf, node, numbers) for boxes, leaf, node, numbers in found.values()]
    return tuple(sorted(rules, key=lambda rule: (-len(rule.trees), -rule.rows)))


def _rule(tree: Tree, boxes: Boxes, leaf: int, node: int, numbers: list[int]) -> Rule:
    return Rule(
        tests=tuple(_tests(tree, boxes, leaf)),
        label=tree.classes[tree.label[node]],
        trees=tuple(numbers),
        rows=float(tree.counts[node].sum()),
        errors=float(tree.errors[node]),
    )


def _tests(tree: Tree, boxes: Boxes, leaf: int) -> Iterator[Test]:
    for a, attribute in enumerate(tree.attributes):
        if boxes.low[leaf, a] > -np.inf:
            yield Test(attribute.name, ">", float(boxes.low[leaf, a]))
        if boxes.high[leaf, a] < np.inf:
            yield Test(attribute.name, "<=", float(boxes.high[leaf, a]))
        if boxes.allowed[leaf, a] >= 0:
            yield Test(attribute.name, "=", attribute.levels[boxes.allowed[leaf, a]])


def roots(trees: Forest) -> tuple[Root, ...]:
    """The tests at the roots, each once, in the order of the trees; a tree that is one leaf has none."""
    found: dict[tuple[int, bytes], list[int]] = {}
    for number, tree in enumerate(trees):
        if tree.tested[0] >= 0:
            found.setdefault((int(tree.tested[0]), tree.cut[0].tobytes()), []).append(number)
    return tuple(_root(trees[numbers[0]], numbers) for numbers in found.values())


def _root(tree: Tree, numbers: list[int]) -> Root:
    attribute = tree.attributes[tree.tested[0]]
    return Root(attribute.name, float(tree.cut[0]) if attribute.is_number else None, tuple(numbers))


def levels_of(trees: Forest) -> tuple[int, ...]:
    """The level of each tree: 0 when it is the first with its root, 1 when it goes on from an earlier one."""
    first = {root.trees[0] for root in roots(trees)}
    return tuple(int(number not in first and tree.tested[0] >= 0) for number, tree in enumerate(trees))


def attributes_tested(trees: Forest) -> dict[str, int]:
    """How many trees test each attribute, most first; attributes that none tests are left out."""
    count = Counter(a for tree in trees for a in np.unique(tree.tested[tree.tested >= 0]).tolist())
    ordered = sorted(count.items(), key=lambda item: (-item[1], item[0]))
    return {trees[0].attributes[a].name: number for a, number in ordered}
