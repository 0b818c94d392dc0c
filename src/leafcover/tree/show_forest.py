"""A forest for people and programs: a line for each tree, the rules that many trees share, one object for JSON."""

from dataclasses import dataclass
from typing import Any

from leafcover.table.table import Table
from leafcover.tree.forest import Forest, forest_errors, forest_errors_on
from leafcover.tree.shared import Rule, attributes_tested, levels_of, roots, shared_rules
from leafcover.tree.show import Spell, as_json, rule_text, spelling
from leafcover.tree.training import Training
from leafcover.tree.tree import Tree
from leafcover.tree.walk import errors_on, training_errors

MOST_RULES = 10  # that the text shows


@dataclass(frozen=True, eq=False)
class Shown:
    """A forest, what it grew from, and other rows that test it."""

    trees: Forest
    training: Training
    table: Table | None = None  # spells the cuts
    test: Table | None = None
    test_name: str = "the test rows"


def text(shown: Shown) -> str:
    """One line a tree; the rules in most trees; errors of the vote beside those of the first tree."""
    spell = spelling(shown.table)
    return "\n\n".join(["\n".join(part) for part in (_lines(shown, spell), _most(shown, spell), _errors(shown))]) + "\n"


def rules(shown: Shown) -> str:
    """Every rule of the forest once, those of most trees first: ``60 of 60: if a <= 3 then class (rows/errors)``."""
    spell = spelling(shown.table)
    return "".join(f"{_spelled(rule, len(shown.trees), spell)}\n" for rule in shared_rules(shown.trees))


def forest_json(shown: Shown, *, confidence: float = 0.25) -> dict[str, Any]:
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
        "figures": _figures(shown),
    }


def _figures(shown: Shown) -> dict[str, int]:
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


def _rule_json(rule: Rule) -> dict[str, Any]:
    return {
        "tests": [{"attribute": test.attribute, "operator": test.operator, "value": test.value} for test in rule.tests],
        "class": rule.label,
        "trees": [number + 1 for number in rule.trees],
        "count": rule.rows,
        "errors": rule.errors,
    }


def _lines(shown: Shown, spell: Spell) -> list[str]:
    trees, levels = shown.trees, levels_of(shown.trees)
    first, then = (
        [asked(tree, 0, spell) for tree in trees],
        [asked(tree, largest_branch(tree), spell) for tree in trees],
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


def asked(tree: Tree, node: int, spell: Spell) -> str:
    """What a node asks, or the class that it answers."""
    if tree.tested[node] < 0:
        return f"leaf: {tree.classes[tree.label[node]]}"
    attribute = tree.attributes[tree.tested[node]]
    if attribute.is_number:
        return f"{attribute.name} <= {spell(attribute.name, float(tree.cut[node]))}"
    return f"{attribute.name}, {tree.branches[node]} values"


def _most(shown: Shown, spell: Spell) -> list[str]:
    every = shared_rules(shown.trees)
    several = [rule for rule in every if len(rule.trees) > 1]
    told = f"{len(every)} rule{'s' * (len(every) != 1)}, {len(several)} of them in more than one tree"
    return [told, *(_spelled(rule, len(shown.trees), spell) for rule in several[:MOST_RULES])]


def _spelled(rule: Rule, trees: int, spell: Spell) -> str:
    figures = f"({rule.rows:.1f}/{rule.errors:.1f})" if rule.errors > 0 else f"({rule.rows:.1f})"
    return f"{len(rule.trees)} of {trees}: {rule_text(rule.tests, f'{rule.label} {figures}', spell)}"


def _errors(shown: Shown) -> list[str]:
    found = _figures(shown)
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


def _share(errors: int, shown: Shown) -> str:
    return f"{errors} ({errors / len(shown.training.labels):.1%})"
