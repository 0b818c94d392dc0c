"""Trees and forests as text, as rules, and as the objects behind ``leafcover tree|forest --format json``."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from leafcover.arrays import Floats
from leafcover.table.formatting import text_of
from leafcover.table.table import Table
from leafcover.tree.predict import Forest, errors_on, forest_errors, forest_errors_on, training_errors
from leafcover.tree.sysfor import SharedRule, attributes_tested, levels_of, roots, shared_rules
from leafcover.tree.tree import Test, Training, Tree, conditions

ValueFormatter = Callable[[str, float], str]  # (attribute, value) -> text


def value_formatter(table: Table | None = None) -> ValueFormatter:
    """A function that formats cuts, in the format of the table's column or as the shortest text."""

    def format_value(name: str, value: float) -> str:
        if table is not None and name in table.names and not table[name].is_category:
            return text_of(table[name], np.array([value]))[0]
        return shortest_text(value)

    return format_value


def shortest_text(value: float) -> str:
    """The shortest text that parses to the same number.

    >>> shortest_text(3.0), shortest_text(0.1), shortest_text(1e20)
    ('3', '0.1', '1e+20')
    """
    return str(int(value)) if value == int(value) and abs(value) < 1e16 else repr(float(value))


def text(tree: Tree, *, table: Table | None = None) -> str:
    """The tree in the text format of C4.5: leaves before subtrees, with ``(rows/errors)`` at each leaf.

    For a pruned tree the errors are the pessimistic estimate, for an unpruned one the training errors.
    """
    format_value = value_formatter(table)
    if tree.tested[0] < 0:
        return f" {_leaf(tree, 0)}\n"
    lines, waiting = [], _branches(tree, 0, 0)
    while waiting:
        node, depth = waiting.pop()
        head = "|   " * depth + _condition(tree, node, format_value)
        if tree.tested[node] < 0:
            lines.append(f"{head} {_leaf(tree, node)}")
        else:
            lines.append(head)
            waiting += _branches(tree, node, depth + 1)
    return "\n".join(lines) + "\n"


def _branches(tree: Tree, node: int, depth: int) -> list[tuple[int, int]]:
    """The children of a node in reverse order of output, which is leaves before subtrees."""
    children = range(tree.first[node], tree.first[node] + tree.branches[node])
    ordered = sorted(children, key=lambda child: tree.tested[child] >= 0)
    return [(child, depth) for child in reversed(ordered)]


def _condition(tree: Tree, node: int, format_value: ValueFormatter) -> str:
    above = tree.parent[node]
    attribute, branch = tree.attributes[tree.tested[above]], node - tree.first[above]
    if attribute.is_number:
        return f"{attribute.name} {'>' if branch else '<='} {format_value(attribute.name, tree.cut[above])} :"
    return f"{attribute.name} = {attribute.levels[branch]}:"


def _leaf(tree: Tree, node: int) -> str:
    return (
        f"{tree.classes[tree.label[node]]} {leaf_figures(tree, node)}" if tree.answers else row_count_text(tree, node)
    )


def row_count_text(tree: Tree, node: int) -> str:
    """The number of rows of a node as text, such as "12 rows"."""
    count = tree.counts[node].sum()
    return "1 row" if count == 1 else f"{count:,.0f} rows"


def leaf_figures(tree: Tree, node: int) -> str:
    """``(rows/errors)`` of a node, or only ``(rows)`` if there are no errors."""
    count = tree.counts[node].sum()
    errors = tree.errors[node] if np.isnan(tree.estimate[node]) else tree.estimate[node]
    return f"({count:.1f}/{errors:.1f})" if errors > 0 else f"({count:.1f})"


def rules(tree: Tree, *, table: Table | None = None) -> str:
    """One line per leaf: ``if a <= 3 and b = x then class (rows/errors)``."""
    format_value = value_formatter(table)
    lines = [rule_text(conditions(tree, node), _leaf(tree, node), format_value) for node in tree.leaves.tolist()]
    return "\n".join(lines) + "\n"


def rule_text(tests: Sequence[Test], answer: str, format_value: ValueFormatter, *, at_most: str = "<=") -> str:
    """A rule on one line; ``at_most`` is the sign for "less than or equal"."""
    parts = [
        f"{test.attribute} {at_most if test.operator == '<=' else test.operator} "
        + (test.value if isinstance(test.value, str) else format_value(test.attribute, test.value))
        for test in tests
    ]
    return f"if {' and '.join(parts)} then {answer}" if parts else f"always {answer}"


def as_json(
    tree: Tree, training: Training, *, unpruned: Tree | None = None, test: Table | None = None,
    confidence: float = 0.25,
) -> dict[str, Any]:  # fmt: skip
    """The object that ``leafcover tree --format json`` prints; the documentation describes its contract."""
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
    """Pessimistic errors of each node: from pruning, or for an unpruned tree summed over its leaves."""
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
    """The root as a nested object with its children; built from the last node up, without recursion."""
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


# Forests: one line per tree, the rules that trees share, and an object for JSON.


MAX_RULES_SHOWN = 10  # shared rules in the text output


@dataclass(frozen=True, eq=False)
class ForestExport:
    """A forest with its training data and, optionally, a test table."""

    trees: Forest
    training: Training
    table: Table | None = None  # its text formats are used for cuts
    test: Table | None = None
    test_name: str = "the test rows"


def forest_text(forest: ForestExport) -> str:
    """One line per tree, the rules shared by most trees, and the errors of the vote and of the first tree."""
    format_value = value_formatter(forest.table)
    blocks = (_tree_lines(forest, format_value), _shared_rule_lines(forest, format_value), _error_lines(forest))
    return "\n\n".join("\n".join(block) for block in blocks) + "\n"


def forest_rules(forest: ForestExport) -> str:
    """All distinct rules, most widely shared first: ``60 of 60: if a <= 3 then class (rows/errors)``."""
    format_value, trees = value_formatter(forest.table), forest.trees
    return "".join(f"{_shared_rule_text(rule, len(trees), format_value)}\n" for rule in shared_rules(trees))


def forest_json(forest: ForestExport, *, confidence: float = 0.25) -> dict[str, Any]:
    """The object that ``leafcover forest --format json`` prints; trees are numbered from 1."""
    trees = forest.trees
    tree_objects = [
        {"number": number + 1, "level": level} | as_json(tree, forest.training, test=forest.test, confidence=confidence)
        for number, (tree, level) in enumerate(zip(trees, levels_of(trees), strict=True))
    ]
    return {
        "target": forest.training.target,
        "classes": list(forest.training.classes),
        "trees": tree_objects,
        "roots": [
            {"attribute": root.attribute}
            | ({} if root.cut is None else {"cut": root.cut})
            | {"trees": [number + 1 for number in root.trees]}
            for root in roots(trees)
        ],
        "attributes": attributes_tested(trees),
        "shared_rules": [_rule_json(rule) for rule in shared_rules(trees) if len(rule.trees) > 1],
        "figures": _forest_figures(forest),
    }


def _forest_figures(forest: ForestExport) -> dict[str, int]:
    first = forest.trees[0]
    found = {
        "rows": len(forest.training.labels),
        "rows_grown_from": round(float(first.counts[0].sum())),
        "train_errors": forest_errors(forest.trees, forest.training),
        "first_tree_train_errors": training_errors(first, forest.training),
    }
    if forest.test is not None:
        found["test_rows"] = int((~forest.test[forest.training.target].missing).sum())
        found["test_errors"] = forest_errors_on(forest.trees, forest.test)
        found["first_tree_test_errors"] = errors_on(first, forest.test)
    return found


def _rule_json(rule: SharedRule) -> dict[str, Any]:
    return {
        "tests": [{"attribute": test.attribute, "operator": test.operator, "value": test.value} for test in rule.tests],
        "class": rule.label,
        "trees": [number + 1 for number in rule.trees],
        "count": rule.rows,
        "errors": rule.errors,
    }


def _tree_lines(forest: ForestExport, format_value: ValueFormatter) -> list[str]:
    trees, levels = forest.trees, levels_of(forest.trees)
    first, then = (
        [node_text(tree, 0, format_value) for tree in trees],
        [node_text(tree, largest_branch(tree), format_value) for tree in trees],
    )
    wide, wider = (max(len(word) for word in ("root", *words)) for words in (first, then))
    by_level = f"{levels.count(0)} of level 0, {levels.count(1)} of level 1"
    lines = [
        f"{len(trees)} tree{'s' * (len(trees) != 1)} for {forest.training.target}: {by_level}",
        f"tree  level  {'root':{wide}}  {'then':{wider}}  size  leaves  errors",
    ]
    for number, (tree, level, root, below) in enumerate(zip(trees, levels, first, then, strict=True), 1):
        errors = _share(training_errors(tree, forest.training), forest)
        lines.append(
            f"{number:4d}  {level:5d}  {root:{wide}}  {below:{wider}}  {tree.size:4d}  {len(tree.leaves):6d}  {errors}"
        )
    return lines


def largest_branch(tree: Tree) -> int:
    """The largest child of the root, where trees with the same root first differ; the root if it is a leaf."""
    children = tree.counts[tree.first[0] : tree.first[0] + tree.branches[0]].sum(axis=1)
    return int(tree.first[0] + children.argmax()) if len(children) else 0


def node_text(tree: Tree, node: int, format_value: ValueFormatter) -> str:
    """The test of a node, or the class that a leaf predicts."""
    if tree.tested[node] < 0:
        return f"leaf: {tree.classes[tree.label[node]]}"
    attribute = tree.attributes[tree.tested[node]]
    if attribute.is_number:
        return f"{attribute.name} <= {format_value(attribute.name, float(tree.cut[node]))}"
    return f"{attribute.name}, {tree.branches[node]} values"


def _shared_rule_lines(forest: ForestExport, format_value: ValueFormatter) -> list[str]:
    every = shared_rules(forest.trees)
    several = [rule for rule in every if len(rule.trees) > 1]
    heading = f"{len(every)} rule{'s' * (len(every) != 1)}, {len(several)} of them in more than one tree"
    return [heading, *(_shared_rule_text(rule, len(forest.trees), format_value) for rule in several[:MAX_RULES_SHOWN])]


def _shared_rule_text(rule: SharedRule, trees: int, format_value: ValueFormatter) -> str:
    figures = f"({rule.rows:.1f}/{rule.errors:.1f})" if rule.errors > 0 else f"({rule.rows:.1f})"
    return f"{len(rule.trees)} of {trees}: {rule_text(rule.tests, f'{rule.label} {figures}', format_value)}"


def _error_lines(forest: ForestExport) -> list[str]:
    found = _forest_figures(forest)
    lines = [
        f"grown from {found['rows_grown_from']} of {found['rows']} rows",
        f"errors of the vote {_share(found['train_errors'], forest)}, "
        f"of the first tree {_share(found['first_tree_train_errors'], forest)}",
    ]
    if forest.test is not None:
        lines.append(
            f"on {forest.test_name}: errors of the vote {found['test_errors']} of {found['test_rows']}, "
            f"of the first tree {found['first_tree_test_errors']}"
        )
    return lines


def _share(errors: int, forest: ForestExport) -> str:
    return f"{errors} ({errors / len(forest.training.labels):.1%})"
