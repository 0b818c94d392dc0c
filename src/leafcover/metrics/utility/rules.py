"""The rules of a tree, how the rules of two trees differ, and both as text.

A rule is a leaf: one interval or one level for each attribute on its path, and its class. The order of the tests does
not matter. Rules contain thresholds and levels, which are original values: they are for the data steward only.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import inf, isfinite
from typing import Literal, TypeAlias

import numpy as np

from leafcover.arrays import Floats, Rows
from leafcover.table.table import Table
from leafcover.tree.export import ValueFormatter, value_formatter
from leafcover.tree.predict import leaf_membership
from leafcover.tree.tree import LeafMembership, Tree, leaf_boxes

Kind: TypeAlias = Literal["kept", "cut moved", "class changed", "lost", "new"]
KINDS: tuple[Kind, ...] = ("kept", "cut moved", "class changed", "lost", "new")
Allowed: TypeAlias = Mapping[str, float]  # how far a threshold of an attribute may move and still count as equal

SHARE = 0.05  # of the domain: how far a threshold may move, or one step of the grid if that is more
_ROUNDING = 1 + 1e-9


@dataclass(frozen=True, order=True)
class Condition:
    """The condition of a rule on one attribute: above ``low`` and at most ``high``, or one of ``levels``."""

    attribute: str
    low: float = -inf
    high: float = inf
    levels: tuple[str, ...] = ()


@dataclass(frozen=True)
class Rule:
    """One leaf: its conditions by name of the attribute, its class, and its rows.

    Two rules are equal if conditions and class are.
    """

    conditions: tuple[Condition, ...]
    answer: str
    rows: float = field(compare=False, default=0.0)


@dataclass(frozen=True)
class Difference:
    """A rule in both trees. ``original`` is None for a new rule, ``released`` for a lost one."""

    kind: Kind
    original: Rule | None
    released: Rule | None
    rows: float  # original rows of the original rule, or of a new released one


def allowance(table: Table, *, share: float = SHARE) -> dict[str, float]:
    """How far a threshold of each number may move: a share of its domain, or one step of its grid if that is more."""
    found = {}
    for column in table:
        if not column.is_category:
            low, high = column.domain
            wide = share * high - share * low if high > low else 0.0
            found[column.name] = max(wide, column.grid.step if column.grid is not None else 0.0)
    return found


def rules_of(tree: Tree, rows: Floats | None = None) -> tuple[Rule, ...]:
    """The rule of every leaf, in the order of ``tree.leaves``; with ``rows`` of each, or its training rows."""
    boxes, leaves = leaf_boxes(tree), tree.leaves
    weight = tree.counts[leaves].sum(axis=1) if rows is None else rows
    by_name = np.array(sorted(range(len(tree.attributes)), key=lambda a: tree.attributes[a].name), np.intp)
    asked = (boxes.low > -inf) | (boxes.high < inf) | (boxes.allowed >= 0)
    lines, columns = np.nonzero(asked[:, by_name])
    at = (lines, by_name[columns])
    parts = (found.tolist() for found in (*at, boxes.low[at], boxes.high[at], boxes.allowed[at]))
    conditions: list[list[Condition]] = [[] for _ in leaves]
    for leaf, a, low, high, level in zip(*parts, strict=True):
        attribute = tree.attributes[a]
        levels = (attribute.levels[level],) if level >= 0 else ()
        conditions[leaf].append(Condition(attribute.name, low, high, levels))
    answers = [tree.classes[label] for label in tree.label[leaves]]
    return tuple(
        Rule(tuple(found), answer, number)
        for found, answer, number in zip(conditions, answers, weight.tolist(), strict=True)
    )


def rows_by_leaf(tree: Tree, found: LeafMembership) -> Floats:
    """The number of rows in each leaf; a row in several leaves is shared in proportion to their training rows."""
    in_set = np.bincount(found.set_of_row, minlength=len(found))
    part = shares_of_sets(tree, found) * np.repeat(in_set, np.diff(found.start))
    return np.bincount(found.leaves, part, minlength=len(tree.leaves)).astype(np.float64)


def shares_of_sets(tree: Tree, found: LeafMembership) -> Floats:
    """For each of ``found.leaves`` its fraction of a row in its set of leaves."""
    weight = np.maximum(tree.counts[tree.leaves].sum(axis=1), 1e-9)[found.leaves]  # leaves without rows share equally
    of_set = np.repeat(np.arange(len(found)), np.diff(found.start))
    shares: Floats = weight / np.bincount(of_set, weight, minlength=len(found))[of_set]
    return shares


def rule_differences(
    original: Tree, released: Tree, table: Table, *, allowed: Allowed | None = None
) -> tuple[Difference, ...]:
    """Which rules of the original's tree are kept, changed or lost, and which rules are new; most rows first.

    A rule is *kept* if the other tree has an equal one, *cut moved* if it has one with the same attributes, ends and
    class and no end moved further than allowed, *class changed* if such a one has another class, otherwise *lost*. A
    released rule is *new* if it is near no original rule of its class and is not the changed class of another. Rows are
    counted in ``table``. Thresholds are original values: for the data steward only.
    """
    ours = rules_of(original, rows_by_leaf(original, leaf_membership(original, table)))
    theirs = rules_of(released, rows_by_leaf(released, leaf_membership(released, table)))
    return differences_of(ours, theirs, allowance(table) if allowed is None else allowed)


def differences_of(ours: Sequence[Rule], theirs: Sequence[Rule], allowed: Allowed) -> tuple[Difference, ...]:
    """The same from rules."""
    equal = {rule: number for number, rule in enumerate(theirs)}
    near = nearest(ours, theirs, allowed)
    other = nearest(ours, theirs, allowed, same_class=False)
    found, used = [], set()
    for rule, close, changed in zip(ours, near.tolist(), other.tolist(), strict=True):
        if rule in equal:
            found.append(Difference("kept", rule, theirs[equal[rule]], rule.rows))
        elif close >= 0:
            found.append(Difference("cut moved", rule, theirs[close], rule.rows))
        elif changed >= 0:
            used.add(changed)
            found.append(Difference("class changed", rule, theirs[changed], rule.rows))
        else:
            found.append(Difference("lost", rule, None, rule.rows))
    for number, (rule, close) in enumerate(zip(theirs, nearest(theirs, ours, allowed).tolist(), strict=True)):
        if close < 0 and number not in used:
            found.append(Difference("new", None, rule, rule.rows))
    return tuple(sorted(found, key=lambda difference: -difference.rows))


def nearest(ours: Sequence[Rule], theirs: Sequence[Rule], allowed: Allowed, *, same_class: bool = True) -> Rows:
    """For each rule the number of the nearest other rule with the same conditions up to what is allowed, or -1."""
    groups: dict[tuple[object, ...], list[int]] = {}
    for number, rule in enumerate(theirs):
        groups.setdefault(_kind_of(rule, same_class), []).append(number)
    ends = {kind: np.array([_ends(theirs[i]) for i in numbers], np.float64) for kind, numbers in groups.items()}
    found = np.full(len(ours), -1, np.int64)
    for number, rule in enumerate(ours):
        kind = _kind_of(rule, same_class)
        if kind in groups:
            limit = np.array(_limits(rule, allowed)) * _ROUNDING
            with np.errstate(over="ignore"):
                moved = np.abs(ends[kind] - np.array(_ends(rule), np.float64))
            close = np.asarray((moved <= limit).all(axis=1))
            if close.any():
                parts = np.divide(moved, limit, out=np.zeros_like(moved), where=limit > 0)
                found[number] = groups[kind][int(np.where(close, parts.sum(axis=1), inf).argmin())]
    return found


def _kind_of(rule: Rule, same_class: bool) -> tuple[object, ...]:
    """A rule without the values of its thresholds."""
    asked = tuple((c.attribute, isfinite(c.low), isfinite(c.high), c.levels) for c in rule.conditions)
    return (asked, rule.answer) if same_class else (asked,)


def _ends(rule: Rule) -> list[float]:
    return [end for c in rule.conditions for end in (c.low, c.high) if isfinite(end)]


def _limits(rule: Rule, allowed: Allowed) -> list[float]:
    return [allowed.get(c.attribute, 0.0) for c in rule.conditions for end in (c.low, c.high) if isfinite(end)]


# Rules and their differences as text, for the data steward only: thresholds are original values.


def rule_in_words(rule: Rule, *, spell: ValueFormatter | None = None) -> str:
    """A rule as a clause.

    >>> rule_in_words(Rule((Condition("age", 17, 30), Condition("job", levels=("clerk",))), "poor"))
    'if age is above 17 and at most 30 and job is clerk, then poor'
    """
    asked = " and ".join(_asked(condition, spell or value_formatter()) for condition in rule.conditions)
    return f"if {asked}, then {rule.answer}" if asked else f"always {rule.answer}"


def _asked(condition: Condition, spell: ValueFormatter) -> str:
    if condition.levels:
        return f"{condition.attribute} is {' or '.join(condition.levels)}"
    ends = []
    if condition.low > -inf:
        ends.append(f"above {spell(condition.attribute, condition.low)}")
    if condition.high < inf:
        ends.append(f"at most {spell(condition.attribute, condition.high)}")
    return f"{condition.attribute} is {' and '.join(ends)}"


def difference_in_words(difference: Difference, *, spell: ValueFormatter | None = None) -> str:
    """The difference of a rule in one line.

    >>> old, new = (Rule((Condition("age", high=end),), "poor") for end in (30, 32))
    >>> difference_in_words(Difference("cut moved", old, new, 120))
    'Cut moved (120 rows): if age is at most 30, then poor; in the release age at most 32.'
    """
    spell = spell or value_formatter()
    before, after = difference.original, difference.released
    shown = after if before is None else before
    words = "" if shown is None else rule_in_words(shown, spell=spell)
    changes: list[str] = []
    if before is not None and after is not None:
        changes = [*_moves(before, after, spell), *([after.answer] if after.answer != before.answer else [])]
    count = f"{difference.rows:,.0f}"
    line = f"{difference.kind.capitalize()} ({count} row{'' if count == '1' else 's'}): {words}"
    return line + (f"; in the release {' and '.join(changes)}." if changes else ".")


def _moves(before: Rule, after: Rule, spell: ValueFormatter) -> Iterator[str]:
    for old, new in zip(before.conditions, after.conditions, strict=True):
        if old.low != new.low:
            yield f"{new.attribute} above {spell(new.attribute, new.low)}"
        if old.high != new.high:
            yield f"{new.attribute} at most {spell(new.attribute, new.high)}"


def differences_in_words(differences: Sequence[Difference], *, table: Table | None = None, most: int = 20) -> str:
    """The number of rules of each kind, then the ``most`` with most rows, kept ones last.

    ``table`` gives the format of numbers and dates.
    """
    spell = value_formatter(table)
    counts = Counter(difference.kind for difference in differences)
    head = "Rules: " + ", ".join(f"{counts[kind]:,} {kind}" for kind in KINDS) + "."
    changed = [d for d in differences if d.kind != "kept"]
    shown = (changed + [d for d in differences if d.kind == "kept"])[:most]
    left = len(differences) - len(shown)
    more = [f"… and {left:,} more."] if left else []
    return "\n".join([head, *(difference_in_words(d, spell=spell) for d in shown), *more]) + "\n"
