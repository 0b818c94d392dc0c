"""Trees and forests as text, as rules, and as the objects behind ``leafcover tree|forest --format json``."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np

from leafcover.arrays import Array, Bools, Floats
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


# A tree as an SVG image: an outline that is legible on a wide screen and on a phone. Each line is a node: the branch
# that leads to it, the attribute it tests or the class it predicts, and on the right the class distribution. Nodes
# below ``depth`` tests are summarised in one line. Nodes can be marked as differing from those of another tree, to
# compare two images side by side.


# The outline: one line per node, from the root down, with deeper nodes summarised.


_MAX_BRANCHES = 8  # branches of a category that are drawn; the rest is summarised in one line


@dataclass(frozen=True)
class PlotLine:
    """One line of the image."""

    depth: int
    edge: str  # text of the branch that leads here
    name: str  # text in the box
    node: int  # node whose class distribution is shown; -1 for none
    kind: str  # "test", "leaf" or "more"
    marked: bool = False
    follows: bool = False  # whether the parent is marked too


@dataclass(frozen=True, eq=False)
class PlotInput:
    """The tree to draw, and the drawing options."""

    tree: Tree
    depth: int
    format_value: ValueFormatter
    marks: Bools
    counts: bool = True  # whether a leaf without a class shows its number of rows


def outline(plot: PlotInput) -> Iterator[PlotLine]:
    """The lines from top to bottom."""
    waiting = [_line_of(plot, 0, 0)]
    while waiting:
        line = waiting.pop()
        yield line
        if line.kind == "test":
            waiting += reversed(list(_child_lines(plot, line)))


def _child_lines(plot: PlotInput, line: PlotLine) -> Iterator[PlotLine]:
    tree = plot.tree
    children = np.arange(tree.first[line.node], tree.first[line.node] + tree.branches[line.node])
    weight = tree.counts[children].sum(axis=1)
    seen = children[weight > 0]
    shown = seen
    if len(seen) > _MAX_BRANCHES:
        largest = np.argsort(-weight[weight > 0], kind="stable")[: _MAX_BRANCHES - 1]
        shown = np.sort(seen[largest])
    for child in shown.tolist():
        yield _line_of(plot, child, line.depth + 1)
    if len(shown) < len(children):
        rare, empty = len(seen) - len(shown), len(children) - len(seen)
        words = [f"{rare} rarer values"] * (rare > 0) + [f"{empty} without rows"] * (empty > 0)
        hidden = np.setdiff1d(children, shown)
        differ = sum(bool(plot.marks[_leaves_under(tree, child)].any()) for child in hidden.tolist())
        words += [f"{differ} differ{'s' * (differ == 1)}"] * (0 < differ < len(hidden))
        yield PlotLine(line.depth + 1, "", "… " + ", ".join(words), -1, "more", differ > 0, line.marked)


def _line_of(plot: PlotInput, node: int, level: int) -> PlotLine:
    tree, edge = plot.tree, ""
    if node:
        above = tree.parent[node]
        attribute, branch = tree.attributes[tree.tested[above]], node - tree.first[above]
        if attribute.is_number:
            edge = f"{'>' if branch else '≤'} {plot.format_value(attribute.name, float(tree.cut[above]))}"
        else:
            edge = f"= {attribute.levels[branch]}"
    marked = bool(plot.marks[node])
    follows = bool(node and plot.marks[tree.parent[node]])
    if tree.tested[node] < 0:
        name = row_count_text(tree, node) if plot.counts and not tree.answers else tree.classes[tree.label[node]]
        return PlotLine(level, edge, name, node, "leaf", marked, follows)
    if level >= plot.depth:
        leaves = _leaves_under(tree, node)
        differ = int(plot.marks[leaves].sum())
        name = f"… {differ} of {len(leaves)} leaves" if 0 < differ < len(leaves) else f"… {len(leaves)} more leaves"
        return PlotLine(level, edge, name, node, "more", differ > 0, follows)
    return PlotLine(level, edge, tree.attributes[tree.tested[node]].name, node, "test", marked, follows)


def _leaves_under(tree: Tree, node: int) -> Array:
    waiting, leaves = [node], []
    while waiting:
        at = waiting.pop()
        if tree.tested[at] < 0:
            leaves.append(at)
        waiting += range(tree.first[at], tree.first[at] + tree.branches[at])
    return np.array(leaves, np.intp)


COLOURS = ("#2f6db0", "#d07a1f", "#3d8f63", "#8a5fb0", "#c24f74", "#2c929b", "#8c8425", "#6b7280")

WIDTH = 520  # narrow enough that 14-pixel text is still legible when a phone shrinks it
_LINE = 34
_INDENT = 22  # indentation per test; less in a deep tree
_MAX_INDENT = 176
_MARGIN = 16
_BAR = 64
_FIGURES = 96  # width of "12,345 · 100 %"
_MARK_SIGN = "◆"  # a mark must not rely on colour alone; "≠ 2" would be read as "not 2"
_MARK = f'<tspan class="mark">{_MARK_SIGN}</tspan>'
_MARK_COLOUR = "#b3261e"
_WIDE, _NARROW = frozenset("mwMW@%—…<>=+≤◆"), frozenset("iljtfrI.,:;'|!()- ")
_STYLE = (
    "text{font:14px system-ui,-apple-system,'Segoe UI',Roboto,sans-serif;fill:#1f2933}"
    ".head{font-size:16px;font-weight:600}.soft{fill:#616e7c;font-size:12.5px}"
    ".edge{fill:#52606d;font-size:13px}.class{font-weight:600}"
    ".wire{fill:none;stroke:#b8c2cc;stroke-width:1.5}"
    f".mark{{fill:{_MARK_COLOUR};font-weight:600}}"
)


def picture(
    tree: Tree, *, depth: int = 4, table: Table | None = None, counts: bool = True, marks: Bools | None = None
) -> str:
    """The tree as SVG text; ``counts=False`` hides numbers of rows and shares.

    Branches without training rows are only counted. Of a category with many levels only the largest branches are drawn.
    ``marks`` is true for each node that differs from the other tree. The bars of a kd tree, which has no classes, show
    the share of all rows.
    """
    flags = np.zeros(tree.size, np.bool_) if marks is None else marks
    rows = list(outline(PlotInput(tree, depth, value_formatter(table), flags, counts)))
    legend, legend_height = _legend(tree, marks)
    top, step = 46 + legend_height, _step(rows)
    height = top + _LINE * len(rows) + 10
    head = tree.target if tree.answers else f"Cells by {', '.join(a.name for a in tree.attributes)}"
    title = f"Decision tree for {head}" if tree.answers else head
    title += f": {tree.size} nodes, {len(tree.leaves)} leaves"
    if flags.any():
        title += f"; {np.count_nonzero(flags)} nodes differ from the other tree"
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" '
        f'style="max-width:100%;height:auto" role="img" aria-label="{escape(title)}">',
        f"<style>{_STYLE}</style>",
        f'<rect width="{WIDTH}" height="{height}" rx="10" fill="#ffffff"/>',
        f'<text class="head" x="{_MARGIN}" y="30">{escape(_truncate(head, 210))}</text>',
        f'<text class="soft" x="{WIDTH - _MARGIN}" y="30" text-anchor="end">'
        f"{tree.size:,} nodes · {len(tree.leaves):,} leaves · {tree.counts[0].sum():,.0f} rows</text>"
        if counts
        else "",
        legend,
        *_connectors(rows, top, step),
        *(_draw_line(tree, row, top + _LINE * i, step, counts) for i, row in enumerate(rows)),
        "</svg>",
    ]
    return "\n".join(part for part in parts if part) + "\n"


def _legend(tree: Tree, marks: Bools | None) -> tuple[str, int]:
    """The legend, with one dot and name per class and the meaning of a mark, and its height."""
    x, y, parts = _MARGIN, 56, []
    for code, name in enumerate(tree.classes[:12] if tree.answers else ()):
        label = _truncate(name, 160)
        if x > _MARGIN and x + 18 + _width(label) > WIDTH - _MARGIN:
            x, y = _MARGIN, y + 22
        parts.append(f'<circle cx="{x + 5}" cy="{y - 4}" r="5" fill="{_colour(code)}"/>')
        parts.append(f'<text class="soft" x="{x + 15}" y="{y}">{escape(label)}</text>')
        x += int(15 + _width(label) * 0.92) + 18
    if len(tree.classes) > 12:
        parts.append(f'<text class="soft" x="{x}" y="{y}">… {len(tree.classes) - 12} more classes</text>')
    if marks is not None:
        y += 22
        means = f"{_MARK} differs from the other tree; dashed: below a difference"
        means = means if marks.any() else "No node differs from the other tree"
        parts.append(f'<text class="soft" x="{_MARGIN}" y="{y}">{means}</text>')
    return "\n".join(parts), y - 36 if parts else 0


def _step(rows: list[PlotLine]) -> int:
    """The indentation per test, small enough that the deepest line fits."""
    return max(3, min(_INDENT, _MAX_INDENT // max(1, *(row.depth for row in rows))))


def _connectors(rows: list[PlotLine], top: int, step: int) -> Iterator[str]:
    """The connecting lines from each node to its children."""
    last: dict[int, int] = {}
    for i, row in enumerate(rows):
        last[row.depth] = i
        if row.depth == 0:
            continue
        x = _MARGIN + step * (row.depth - 1) + min(9, step // 2)
        begin, y = top + _LINE * last[row.depth - 1] + 27, top + _LINE * i + 14
        yield f'<path class="wire" d="M{x} {begin}V{y - 5}q0 5 5 5h{max(0, step - 12)}"/>'


def _draw_line(tree: Tree, row: PlotLine, y: int, step: int, counts: bool) -> str:
    """The branch's text, the box, and the class distribution on the right."""
    x: float = _MARGIN + step * row.depth
    right = WIDTH - _MARGIN - (_FIGURES if counts else 0) - _BAR - 14
    title = f"{row.edge} {row.name}{' (differs from the other tree)' if row.marked else ''}"
    parts = [f"<g><title>{escape(title.strip())}</title>"]
    label = f"{_MARK_SIGN} {row.name}" if row.marked else row.name
    if row.edge:
        edge = _truncate(row.edge, max((right - x) * 0.5, right - x - _width(label) - 32))
        parts.append(f'<text class="edge" x="{x + 4:.0f}" y="{y + 19}">{escape(edge)}</text>')
        x += _width(edge) * 0.93 + 12
    name = _truncate(label, (right - x) / 0.85 if row.kind == "more" else right - x - 18)
    wide = min(_width(name) * (1.08 if row.kind == "leaf" else 1.0) + 18, right - x)
    if row.kind == "more":
        parts.append(f'<text class="soft" x="{x + 4:.0f}" y="{y + 19}">{_escaped(name, row)}</text>')
    else:
        colour = _colour(int(tree.label[row.node])) if row.kind == "leaf" else "#e4e9ee"
        opacity = ' fill-opacity="0.14"' if row.kind == "leaf" else ""
        dashes = ' stroke-dasharray="3 3"' if row.follows else ' stroke-width="1.7"'
        outline = f' stroke="{_MARK_COLOUR}"{dashes}' if row.marked else ""
        parts.append(
            f'<rect x="{x:.0f}" y="{y + 1}" width="{wide:.0f}" height="26" rx="{13 if row.kind == "leaf" else 6}" '
            f'fill="{colour}"{opacity}{outline}/>'
        )
        kind = ' class="class"' if row.kind == "leaf" else ""
        middle = x + wide / 2
        parts.append(f'<text{kind} x="{middle:.0f}" y="{y + 19}" text-anchor="middle">{_escaped(name, row)}</text>')
    if row.node >= 0 and (tree.answers or counts):
        parts += _class_bar(tree, row, y, counts)
    return "".join(parts) + "</g>"


def _escaped(name: str, row: PlotLine) -> str:
    """A name as SVG text, with the mark sign in its colour."""
    return escape(name).replace(_MARK_SIGN, _MARK, 1) if row.marked else escape(name)


def _class_bar(tree: Tree, row: PlotLine, y: int, counts: bool) -> Iterator[str]:
    """A bar of the class distribution, with the number of rows and the purity (for a kd tree the share of rows)."""
    count = tree.counts[row.node]
    total = count.sum()
    whole = total if tree.answers else tree.counts[0].sum()
    left: float = WIDTH - _MARGIN - (_FIGURES if counts else 0) - _BAR
    height = 10 if row.kind == "leaf" else 6
    for code in np.flatnonzero(count).tolist():
        wide = _BAR * count[code] / whole
        yield (
            f'<rect x="{left:.1f}" y="{y + 14 - height / 2:.0f}" width="{wide:.1f}" height="{height}" '
            f'fill="{_colour(code)}"/>'
        )
        left += wide
    if counts:
        share = 100 * count.max() / whole if whole > 0 else 0
        yield (
            f'<text class="soft" x="{WIDTH - _MARGIN}" y="{y + 18}" text-anchor="end">'
            f"{total:,.0f} · {share:.0f} %</text>"
        )


def _colour(code: int) -> str:
    return COLOURS[code % len(COLOURS)]


def _width(text: str) -> float:
    """The approximate width of a text at 14 pixels, in the widest of the common system fonts."""
    return sum(12.2 if c in _WIDE else 5.4 if c in _NARROW else 9.8 if c.isupper() else 8.5 for c in text)


def _truncate(text: str, width: float) -> str:
    """The text, shortened with an ellipsis if it is wider than ``width``."""
    if _width(text) <= width:
        return text
    while text and _width(text + "…") > width:
        text = text[:-1]
    return text + "…"
