"""A tree for people and programs: C4.5's own text, rules, and the object behind ``tree --format json``."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from leafcover.arrays import Floats
from leafcover.table.formatting import text_of
from leafcover.table.table import Table
from leafcover.tree.predict import Forest, errors_on, forest_errors, forest_errors_on, training_errors
from leafcover.tree.sysfor import SharedRule, attributes_tested, levels_of, roots, shared_rules
from leafcover.tree.training import Training
from leafcover.tree.tree import Test, Tree, conditions

ValueFormatter = Callable[[str, float], str]  # the text of a value of an attribute


def value_formatter(table: Table | None = None) -> ValueFormatter:
    """How cuts are written: as the table spells its column, else as the shortest number."""

    def spell(name: str, value: float) -> str:
        if table is not None and name in table.names and not table[name].is_category:
            return text_of(table[name], np.array([value]))[0]
        return shortest_text(value)

    return spell


def shortest_text(value: float) -> str:
    """The shortest text that parses to the same number.

    >>> shortest_text(3.0), shortest_text(0.1), shortest_text(1e20)
    ('3', '0.1', '1e+20')
    """
    return str(int(value)) if value == int(value) and abs(value) < 1e16 else repr(float(value))


def text(tree: Tree, *, table: Table | None = None) -> str:
    """The tree as C4.5 prints it: leaves before subtrees, ``(rows/errors)`` at each leaf.

    Errors are the pessimistic estimate after pruning and those seen before.
    """
    spell = value_formatter(table)
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


def _condition(tree: Tree, node: int, spell: ValueFormatter) -> str:
    above = tree.parent[node]
    attribute, branch = tree.attributes[tree.tested[above]], node - tree.first[above]
    if attribute.is_number:
        return f"{attribute.name} {'>' if branch else '<='} {spell(attribute.name, tree.cut[above])} :"
    return f"{attribute.name} = {attribute.levels[branch]}:"


def _leaf(tree: Tree, node: int) -> str:
    return (
        f"{tree.classes[tree.label[node]]} {leaf_figures(tree, node)}" if tree.answers else row_count_text(tree, node)
    )


def row_count_text(tree: Tree, node: int) -> str:
    """How many rows a node holds, in words."""
    count = tree.counts[node].sum()
    return "1 row" if count == 1 else f"{count:,.0f} rows"


def leaf_figures(tree: Tree, node: int) -> str:
    """``(rows/errors)`` of a node, only ``(rows)`` when there are no errors."""
    count = tree.counts[node].sum()
    errors = tree.errors[node] if np.isnan(tree.estimate[node]) else tree.estimate[node]
    return f"({count:.1f}/{errors:.1f})" if errors > 0 else f"({count:.1f})"


def rules(tree: Tree, *, table: Table | None = None) -> str:
    """One line a leaf: ``if a <= 3 and b = x then class (rows/errors)``."""
    spell = value_formatter(table)
    lines = [rule_text(conditions(tree, node), _leaf(tree, node), spell) for node in tree.leaves.tolist()]
    return "\n".join(lines) + "\n"


def rule_text(tests: Sequence[Test], answer: str, spell: ValueFormatter, *, at_most: str = "<=") -> str:
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
    found = _summary(tree, training)
    found["estimated_error"] = float(estimates(tree, confidence=confidence)[0] / tree.counts[0].sum())
    if test is not None:
        found["test_errors"] = errors_on(tree, test)
    tested = sorted(set(tree.tested[tree.tested >= 0].tolist()))
    found["attributes"] = [tree.attributes[a].name for a in tested]
    if unpruned is not None:
        found["unpruned"] = _summary(unpruned, training)
        if test is not None:
            found["unpruned"]["test_errors"] = errors_on(unpruned, test)
    found["root"] = nested_nodes(tree)
    return found


def _summary(tree: Tree, training: Training) -> dict[str, Any]:
    return {"size": tree.size, "leaves": len(tree.leaves), "train_errors": training_errors(tree, training)}


def estimates(tree: Tree, *, confidence: float = 0.25) -> Floats:
    """Pessimistic errors of each node: those of pruning, or for an unpruned tree the sum over its leaves."""
    from leafcover.kernels.c45_prune import extra_errors, squared_deviation

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


def nested_nodes(tree: Tree) -> dict[str, Any]:
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


# A forest for people and programs: a line for each tree, the rules that many trees share, one object for JSON.


MAX_RULES_SHOWN = 10  # that the text shows


@dataclass(frozen=True, eq=False)
class ForestExport:
    """A forest, what it grew from, and other rows that test it."""

    trees: Forest
    training: Training
    table: Table | None = None  # spells the cuts
    test: Table | None = None
    test_name: str = "the test rows"


def forest_text(shown: ForestExport) -> str:
    """One line a tree; the rules in most trees; errors of the vote beside those of the first tree."""
    spell = value_formatter(shown.table)
    return (
        "\n\n".join(
            [
                "\n".join(part)
                for part in (_tree_lines(shown, spell), _shared_rule_lines(shown, spell), _error_lines(shown))
            ]
        )
        + "\n"
    )


def forest_rules(shown: ForestExport) -> str:
    """Every rule of the forest once, those of most trees first: ``60 of 60: if a <= 3 then class (rows/errors)``."""
    spell = value_formatter(shown.table)
    return "".join(f"{_shared_rule_text(rule, len(shown.trees), spell)}\n" for rule in shared_rules(shown.trees))


def forest_json(shown: ForestExport, *, confidence: float = 0.25) -> dict[str, Any]:
    """The object that ``leafcover forest --format json`` prints; numbers of trees count from 1."""
    trees = shown.trees
    told = [
        {"number": number + 1, "level": level} | as_json(tree, shown.training, test=shown.test, confidence=confidence)
        for number, (tree, level) in enumerate(zip(trees, levels_of(trees), strict=True))
    ]
    return {
        "target": shown.training.target,
        "classes": list(shown.training.classes),
        "trees": told,
        "roots": [
            {"attribute": root.attribute}
            | ({} if root.cut is None else {"cut": root.cut})
            | {"trees": [number + 1 for number in root.trees]}
            for root in roots(trees)
        ],
        "attributes": attributes_tested(trees),
        "shared_rules": [_rule_json(rule) for rule in shared_rules(trees) if len(rule.trees) > 1],
        "figures": _forest_figures(shown),
    }


def _forest_figures(shown: ForestExport) -> dict[str, int]:
    first = shown.trees[0]
    found = {
        "rows": len(shown.training.labels),
        "rows_grown_from": round(float(first.counts[0].sum())),
        "train_errors": forest_errors(shown.trees, shown.training),
        "first_tree_train_errors": training_errors(first, shown.training),
    }
    if shown.test is not None:
        found["test_rows"] = int((~shown.test[shown.training.target].missing).sum())
        found["test_errors"] = forest_errors_on(shown.trees, shown.test)
        found["first_tree_test_errors"] = errors_on(first, shown.test)
    return found


def _rule_json(rule: SharedRule) -> dict[str, Any]:
    return {
        "tests": [{"attribute": test.attribute, "operator": test.operator, "value": test.value} for test in rule.tests],
        "class": rule.label,
        "trees": [number + 1 for number in rule.trees],
        "count": rule.rows,
        "errors": rule.errors,
    }


def _tree_lines(shown: ForestExport, spell: ValueFormatter) -> list[str]:
    trees, levels = shown.trees, levels_of(shown.trees)
    first, then = (
        [node_text(tree, 0, spell) for tree in trees],
        [node_text(tree, largest_branch(tree), spell) for tree in trees],
    )
    wide, wider = (max(len(word) for word in ("root", *words)) for words in (first, then))
    told = f"{levels.count(0)} of level 0, {levels.count(1)} of level 1"
    lines = [
        f"{len(trees)} tree{'s' * (len(trees) != 1)} for {shown.training.target}: {told}",
        f"tree  level  {'root':{wide}}  {'then':{wider}}  size  leaves  errors",
    ]
    for number, (tree, level, root, below) in enumerate(zip(trees, levels, first, then, strict=True), 1):
        errors = _share(training_errors(tree, shown.training), shown)
        lines.append(
            f"{number:4d}  {level:5d}  {root:{wide}}  {below:{wider}}  {tree.size:4d}  {len(tree.leaves):6d}  {errors}"
        )
    return lines


def largest_branch(tree: Tree) -> int:
    """The child of the root with most rows, where trees of one root differ first; the root if it is a leaf."""
    children = tree.counts[tree.first[0] : tree.first[0] + tree.branches[0]].sum(axis=1)
    return int(tree.first[0] + children.argmax()) if len(children) else 0


def node_text(tree: Tree, node: int, spell: ValueFormatter) -> str:
    """What a node asks, or the class that it answers."""
    if tree.tested[node] < 0:
        return f"leaf: {tree.classes[tree.label[node]]}"
    attribute = tree.attributes[tree.tested[node]]
    if attribute.is_number:
        return f"{attribute.name} <= {spell(attribute.name, float(tree.cut[node]))}"
    return f"{attribute.name}, {tree.branches[node]} values"


def _shared_rule_lines(shown: ForestExport, spell: ValueFormatter) -> list[str]:
    every = shared_rules(shown.trees)
    several = [rule for rule in every if len(rule.trees) > 1]
    told = f"{len(every)} rule{'s' * (len(every) != 1)}, {len(several)} of them in more than one tree"
    return [told, *(_shared_rule_text(rule, len(shown.trees), spell) for rule in several[:MAX_RULES_SHOWN])]


def _shared_rule_text(rule: SharedRule, trees: int, spell: ValueFormatter) -> str:
    figures = f"({rule.rows:.1f}/{rule.errors:.1f})" if rule.errors > 0 else f"({rule.rows:.1f})"
    return f"{len(rule.trees)} of {trees}: {rule_text(rule.tests, f'{rule.label} {figures}', spell)}"


def _error_lines(shown: ForestExport) -> list[str]:
    found = _forest_figures(shown)
    lines = [
        f"grown from {found['rows_grown_from']} of {found['rows']} rows",
        f"errors of the vote {_share(found['train_errors'], shown)}, "
        f"of the first tree {_share(found['first_tree_train_errors'], shown)}",
    ]
    if shown.test is not None:
        lines.append(
            f"on {shown.test_name}: errors of the vote {found['test_errors']} of {found['test_rows']}, "
            f"of the first tree {found['first_tree_test_errors']}"
        )
    return lines


def _share(errors: int, shown: ForestExport) -> str:
    return f"{errors} ({errors / len(shown.training.labels):.1%})"
