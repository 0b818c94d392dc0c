"""A tree for people and programs: C4.5's own text, rules, and the object behind ``tree --format json``."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from leafcover.fast.arrays import Floats
from leafcover.table.table import Table
from leafcover.table.text import text_of
from leafcover.tree.box import Test, conditions
from leafcover.tree.training import Training
from leafcover.tree.tree import Tree
from leafcover.tree.walk import errors_on, training_errors

Spell = Callable[[str, float], str]  # the text of a value of an attribute


def spelling(table: Table | None = None) -> Spell:
    """How cuts are written: as the table spells its column, else as the shortest number."""

    def spell(name: str, value: float) -> str:
        if table is not None and name in table.names and not table[name].is_category:
            return text_of(table[name], np.array([value]))[0]
        return short(value)

    return spell


def short(value: float) -> str:
    """The shortest text that parses to the same number.

    >>> short(3.0), short(0.1), short(1e20)
    ('3', '0.1', '1e+20')
    """
    return str(int(value)) if value == int(value) and abs(value) < 1e16 else repr(float(value))


def text(tree: Tree, *, table: Table | None = None) -> str:
    """The tree as C4.5 prints it: leaves before subtrees, ``(rows/errors)`` at each leaf.

    Errors are the pessimistic estimate after pruning and those seen before.
    """
    spell = spelling(table)
    if tree.tested[0] < 0:
        return f" {_leaf(tree, 0)}\n"
    lines, waiting = [], _branches(tree, 0, 0)
    while waiting:
        node, depth = waiting.pop()
        head = "|   " * depth + _condition(tree, node, spell)
        if tree.tested[node] < 0:
            lines.append(f"{head} {_leaf(tree, node)}")
        else:
            lines.append(head)
            waiting += _branches(tree, node, depth + 1)
    return "\n".join(lines) + "\n"


def _branches(tree: Tree, node: int, depth: int) -> list[tuple[int, int]]:
    """The children of a node, last to be shown first: subtrees below leaves."""
    children = range(tree.first[node], tree.first[node] + tree.branches[node])
    shown = sorted(children, key=lambda child: tree.tested[child] >= 0)
    return [(child, depth) for child in reversed(shown)]


def _condition(tree: Tree, node: int, spell: Spell) -> str:
    above = tree.parent[node]
    attribute, branch = tree.attributes[tree.tested[above]], node - tree.first[above]
    if attribute.is_number:
        return f"{attribute.name} {'>' if branch else '<='} {spell(attribute.name, tree.cut[above])} :"
    return f"{attribute.name} = {attribute.levels[branch]}:"


def _leaf(tree: Tree, node: int) -> str:
    return f"{tree.classes[tree.label[node]]} {figures(tree, node)}" if tree.answers else held(tree, node)


def held(tree: Tree, node: int) -> str:
    """How many rows a node holds, in words."""
    count = tree.counts[node].sum()
    return "1 row" if count == 1 else f"{count:,.0f} rows"


def figures(tree: Tree, node: int) -> str:
    """``(rows/errors)`` of a node, only ``(rows)`` when there are no errors."""
    count = tree.counts[node].sum()
    errors = tree.errors[node] if np.isnan(tree.estimate[node]) else tree.estimate[node]
    return f"({count:.1f}/{errors:.1f})" if errors > 0 else f"({count:.1f})"


def rules(tree: Tree, *, table: Table | None = None) -> str:
    """One line a leaf: ``if a <= 3 and b = x then class (rows/errors)``."""
    spell = spelling(table)
    lines = [rule_text(conditions(tree, node), _leaf(tree, node), spell) for node in tree.leaves.tolist()]
    return "\n".join(lines) + "\n"


def rule_text(tests: Sequence[Test], answer: str, spell: Spell, *, at_most: str = "<=") -> str:
    """A rule on one line; ``at_most`` is the sign where others than programs read it."""
    said = [
        f"{test.attribute} {at_most if test.operator == '<=' else test.operator} "
        + (test.value if isinstance(test.value, str) else spell(test.attribute, test.value))
        for test in tests
    ]
    return f"if {' and '.join(said)} then {answer}" if said else f"always {answer}"


def as_json(
    tree: Tree, training: Training, *, unpruned: Tree | None = None, test: Table | None = None,
    confidence: float = 0.25,
) -> dict[str, Any]:  # fmt: skip
    """The object that ``leafcover tree --format json`` prints; see docs for its contract."""
    found = _three(tree, training)
    found["estimated_error"] = float(estimates(tree, confidence=confidence)[0] / tree.counts[0].sum())
    if test is not None:
        found["test_errors"] = errors_on(tree, test)
    tested = sorted(set(tree.tested[tree.tested >= 0].tolist()))
    found["attributes"] = [tree.attributes[a].name for a in tested]
    if unpruned is not None:
        found["unpruned"] = _three(unpruned, training)
        if test is not None:
            found["unpruned"]["test_errors"] = errors_on(unpruned, test)
    found["root"] = nested(tree)
    return found


def _three(tree: Tree, training: Training) -> dict[str, Any]:
    return {"size": tree.size, "leaves": len(tree.leaves), "train_errors": training_errors(tree, training)}


def estimates(tree: Tree, *, confidence: float = 0.25) -> Floats:
    """Pessimistic errors of each node: those of pruning, or for an unpruned tree the sum over its leaves."""
    from leafcover.fast.pessimism import extra_errors, squared_deviation

    if not np.isnan(tree.estimate[0]):
        return tree.estimate
    coefficient = squared_deviation(confidence)
    estimate = np.zeros(tree.size)
    for node in range(tree.size - 1, -1, -1):
        count = float(tree.counts[node].sum())
        if tree.tested[node] < 0 and count > 0:
            errors = float(tree.errors[node])
            estimate[node] = errors + extra_errors(count, errors, confidence, coefficient)
        if node:
            estimate[tree.parent[node]] += estimate[node]
    return estimate


def nested(tree: Tree) -> dict[str, Any]:
    """The root with its children inside it; built from the last node up, so that depth is no limit."""
    made: list[dict[str, Any]] = [{} for _ in range(tree.size)]
    for node in range(tree.size - 1, -1, -1):
        if tree.tested[node] < 0:
            made[node] = {
                "class": tree.classes[tree.label[node]],
                "count": float(tree.counts[node].sum()),
                "errors": float(tree.errors[node]),
            }
            continue
        attribute = tree.attributes[tree.tested[node]]
        made[node] = {"attribute": attribute.name}
        if attribute.is_number:
            made[node]["cut"] = float(tree.cut[node])
        else:
            made[node]["values"] = list(attribute.levels)
        made[node]["children"] = made[tree.first[node] : tree.first[node] + tree.branches[node]]
    return made[0]
