"""Comparison of the trees grown on a table and on its release: rules, leaves of rows, answers, moved thresholds.

Islam and Brankovic (2004, 2005) judged trees by eye, by these criteria and with these four grades; the figures are
ours, and their limits are taken from the printed examples. C4.5 is unstable: on a perturbed table a threshold moves
easily, and strict coverage falls. So strict, tolerant and partition figures are given together.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf, nan
from typing import Literal, TypeAlias

import numpy as np

from leafcover.arrays import MISSING, Bools, Codes, Floats, Rows
from leafcover.errors import TableError
from leafcover.metrics.models import BINS, classes_for
from leafcover.metrics.pair import Pair, coverage_note, sample_rows
from leafcover.metrics.utility.clusters import adjusted_rand
from leafcover.metrics.utility.rules import (
    KINDS,
    Allowed,
    Difference,
    Kind,
    allowance,
    differences_of,
    rows_by_leaf,
    rules_of,
)
from leafcover.table.table import Column, Table
from leafcover.tree.c45 import assemble, grow_from, resolve_grower
from leafcover.tree.predict import classify, leaf_membership
from leafcover.tree.tree import (
    MAX_NUMERIC_CLASSES,
    Attribute,
    LeafMembership,
    Training,
    Tree,
    attribute_names,
    classes_of,
    levels,
    training,
)

# Two trees traversed together from the root: where they diverge, and whether one is a pruned form of the other.


_NOTHING: Mapping[str, float] = {}
_NONE = -1  # the other tree has no such branch


def differing_nodes(one: Tree, other: Tree, allowed: Mapping[str, float] = _NOTHING) -> tuple[Bools, Bools]:
    """Which nodes of each tree the other lacks: another attribute, threshold or class, there or at an ancestor.

    ``allowed`` is how far a threshold of an attribute may have moved; by default not at all.
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
    """Whether one tree is the other with some subtrees replaced by leaves, each with a class of the subtree.

    The test at the root must remain: a single leaf is trivially a pruned form of every tree.
    """
    if one.size >= other.size or one.tested[0] < 0:
        return False
    for a, b in pairs(one, other, allowed):
        if _NONE in (a, b):
            return False
        cut_short = one.tested[a] < 0 <= other.tested[b]
        if cut_short and one.classes[one.label[a]] in _classes_below(other, b):
            continue
        if not alike(one, a, other, b, allowed):
            return False
    return True


def pairs(one: Tree, other: Tree, allowed: Mapping[str, float]) -> Iterator[tuple[int, int]]:
    """The corresponding nodes of both trees, down to the first difference on each path (that one included).

    A branch that only one tree has is paired with -1.
    """
    waiting = [(0, 0)]
    while waiting:
        a, b = waiting.pop()
        yield a, b
        if alike(one, a, other, b, allowed) and one.tested[a] >= 0:
            waiting += _children(one, a, other, b)


def alike(one: Tree, a: int, other: Tree, b: int, allowed: Mapping[str, float]) -> bool:
    """Whether two nodes test the same attribute at about the same threshold, or have the same class."""
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


def _classes_below(tree: Tree, node: int) -> set[str]:
    """The classes of the leaves below a node."""
    waiting, found = [node], set()
    while waiting:
        at = waiting.pop()
        if tree.tested[at] < 0:
            found.add(tree.classes[tree.label[at]])
        waiting += range(int(tree.first[at]), int(tree.first[at]) + int(tree.branches[at]))
    return found


# The thresholds of both trees on the same attribute, and how far each moved.


@dataclass(frozen=True)
class CutMoves:
    """The distinct thresholds of one number in two trees. Moves are shares of its domain: no threshold is disclosed."""

    attribute: str
    matched: int  # thresholds of the original's tree with a partner within what is allowed
    unmoved: int  # of these, the ones that did not move
    mean: float  # the mean move of the matched ones; nan if there are no matches
    largest: float  # the largest move; nan if there are no matches
    only_original: int
    only_released: int


def cut_moves(original: Tree, released: Tree, table: Table, allowed: Allowed) -> tuple[CutMoves, ...]:
    """The moves of every number that either tree tests, by name."""
    names = {a.name for tree in (original, released) for a in tree.attributes if a.is_number}
    found = (_moves_of(name, original, released, table, allowed) for name in sorted(names & set(table.names)))
    return tuple(moves for moves in found if moves is not None)


def _moves_of(name: str, original: Tree, released: Tree, table: Table, allowed: Allowed) -> CutMoves | None:
    ours, theirs = _cuts(original, name), _cuts(released, name)
    if not len(ours) + len(theirs):
        return None
    one, other = matched_cuts(ours, theirs, allowed.get(name, 0.0))
    low, high = table[name].domain
    half = high / 2 - low / 2 if high > low else 0.5  # halves, since 1e308 minus -1e308 overflows
    moved = np.abs(ours[one] / 2 - theirs[other] / 2) / half
    return CutMoves(
        attribute=name,
        matched=len(moved),
        unmoved=int(np.count_nonzero(moved == 0)),
        mean=float(moved.mean()) if len(moved) else nan,
        largest=float(moved.max()) if len(moved) else nan,
        only_original=len(ours) - len(moved),
        only_released=len(theirs) - len(moved),
    )


def _cuts(tree: Tree, name: str) -> Floats:
    """The distinct thresholds of a number, ascending."""
    tested = [number for number, a in enumerate(tree.attributes) if a.name == name and a.is_number]
    return np.unique(tree.cut[np.isin(tree.tested, tested)])


def matched_cuts(ours: Floats, theirs: Floats, limit: float) -> tuple[Rows, Rows]:
    """Partners in two ascending lists of thresholds, the closest first, all within the limit.

    >>> matched_cuts(np.array([1.0, 5.0, 9.0]), np.array([2.0, 5.0, 6.0]), 1.0)
    (array([0, 1]), array([0, 1]))
    """
    free = np.ones(len(ours), np.bool_), np.ones(len(theirs), np.bool_)
    one, other = [], []
    while free[0].any() and free[1].any():
        a, b = _mutual(ours, theirs, *free)
        near = np.abs(ours[a] / 2 - theirs[b] / 2) <= limit * (1 + 1e-9) / 2
        one.append(a[near])
        other.append(b[near])
        free[0][a], free[1][b] = False, False  # those beyond the limit have no nearer partner
    none: list[Rows] = [np.empty(0, np.int64)]
    first, second = np.concatenate(one + none), np.concatenate(other + none)
    order = np.argsort(first)
    return first[order], second[order]


def _mutual(ours: Floats, theirs: Floats, free: Bools, open_: Bools) -> tuple[Rows, Rows]:
    """The free thresholds that are each other's nearest; there is always one such pair, the closest of all."""
    a, b = np.flatnonzero(free), np.flatnonzero(open_)
    to_theirs, to_ours = _nearest(ours[a], theirs[b]), _nearest(theirs[b], ours[a])
    back = to_ours[to_theirs] == np.arange(len(a))
    return a[back], b[to_theirs[back]]


def _nearest(values: Floats, among: Floats) -> Rows:
    """For each value the position of the nearest of some ascending ones; the lower of two equally near."""
    above = np.minimum(np.searchsorted(among, values), len(among) - 1)
    below = np.maximum(above - 1, 0)
    lower = np.abs(values / 2 - among[below] / 2) <= np.abs(among[above] / 2 - values / 2)
    return np.where(lower, below, above)


# The trees of a pair: the target with the same classes in both tables, and C4.5 grown on each table.


MOST_GROWN = 1_000_000  # rows that each tree is grown on
MOST_JUDGED = 200_000  # rows that both trees are compared on


@dataclass(frozen=True, eq=False)
class TwoTrees:
    """The trees of a pair, and the original rows to compare them on, with the target as classes.

    Thresholds are original values: for the data steward only.
    """

    original: Tree
    released: Tree
    table: Table
    grown_on: int
    of: int

    @property
    def how(self) -> str:
        """As text, how the trees were grown and on which rows they are compared."""
        grower = resolve_grower("auto", self.grown_on)
        grown, judged = coverage_note(self.grown_on, self.of), coverage_note(len(self.table), self.of)
        return f"trees by the {grower} grower on {grown}, judged by {judged}"


def two_trees(
    pair: Pair,
    *,
    min_records: int = 2,
    confidence: float = 0.25,
    bins: int | None = None,
    most: int = MOST_GROWN,
    judged: int = MOST_JUDGED,
) -> TwoTrees:
    """C4.5 for the target on both tables, each grown on at most ``most`` rows and compared on at most ``judged``."""
    pair = with_classes(pair, bins=bins)
    rows = len(pair.original)
    grown, seen = sample_rows(rows, most), sample_rows(rows, judged)
    ours, theirs = (
        tree_for(some(table, grown), pair.target, min_records=min_records, confidence=confidence)
        for table in (pair.original, pair.released)
    )
    return TwoTrees(ours, theirs, some(pair.original, seen), len(grown), rows)


def some(table: Table, rows: Rows) -> Table:
    """Some rows of a table, with the domains of all rows."""
    if len(rows) == len(table):
        return table
    taken = table.take(rows)
    return taken.replace(replace(c, declared=table[c.name].domain) for c in taken if not c.is_category)


def with_classes(pair: Pair, *, bins: int | None = None) -> Pair:
    """The pair with its target as a category in both tables, and without its weights.

    A number with ten or fewer distinct values in the original has these as classes, and a released value belongs to
    the nearest. Any other number has ``bins`` groups of equal size in the original (four by default), and the
    release is cut at the same values.
    """
    if not pair.target:
        raise TableError("Trees are compared for a target, but no target is named. Add target=COLUMN.")
    kept = [name for name in pair.names if name != pair.weight]
    before, after = pair.original.select(kept), pair.released.select(kept)
    if not before[pair.target].is_category:
        ours, theirs = _classes_of_both(before[pair.target], after[pair.target], bins or BINS)
        before, after = before.replace([ours]), after.replace([theirs])
    return replace(pair, original=before, released=after)


def _classes_of_both(ours: Column, theirs: Column, bins: int) -> tuple[Column, Column]:
    known = ~ours.missing
    few = len(np.unique(ours.values[known])) <= MAX_NUMERIC_CLASSES
    names, codes = classes_of(ours, bins=None if few else bins)
    classes = classes_for(ours, bins=bins)
    # classes are numbered by value, names by code point; the last position is for missing values, -1
    lookup: Codes = np.full(len(names) + 1, MISSING, np.int32)
    lookup[classes.of(ours)[known]] = codes[known]
    found = lookup[classes.of(theirs)]
    return Column(ours.name, "category", codes, names), Column(theirs.name, "category", found, names)


def tree_for(
    table: Table,
    target: str,
    *,
    without: tuple[str, ...] = (),
    min_records: int = 2,
    confidence: float = 0.25,
) -> Tree:
    """The tree for a category from all other columns but some; a single leaf if fewer than two classes are known.

    Among attributes with the same gain ratio the first by name is used, so that the order of columns does not matter.
    """
    names = tuple(sorted(name for name in attribute_names(table, target) if name not in without))
    column = table[target]
    if names and len(np.unique(column.values[~column.missing])) > 1:
        rows = training(table, target, attributes=names)
        return grow_from(rows, min_records=min_records, confidence=confidence)
    return _leaf(table, target, names)


def _leaf(table: Table, target: str, names: tuple[str, ...]) -> Tree:
    """A tree that always answers the most frequent class."""
    column = table[target]
    classes = column.levels or ("no known class",)
    counts = np.bincount(column.values[~column.missing], minlength=len(classes))
    attributes = tuple(Attribute(c.name, c.levels, not c.is_category) for c in (table[name] for name in names))
    return assemble(
        Training(target, classes, np.empty(0, np.int32), attributes, (), np.empty(0, np.int64)),
        tested=np.array([-1]),
        cut=np.array([np.nan]),
        first=np.array([-1]),
        branches=np.array([0]),
        counts=counts[None, :],
        label=np.array([counts.argmax()]),
        estimate=np.zeros(1),
    )


Grade: TypeAlias = Literal["exactly same", "very similar", "similar", "dissimilar"]

VERY_SIMILAR = 0.94  # 329 of 349 rows is called very similar in the paper
SIMILAR = 0.75  # ours


@dataclass(frozen=True)
class TreeFigures:
    """One tree: its size, the attributes it tests, and how many original rows with a known class it misclassifies."""

    nodes: int
    leaves: int
    attributes: tuple[str, ...]
    misclassified: int


@dataclass(frozen=True)
class TreeComparison:
    """Two trees for one target. No figure discloses a threshold or a level; every share is of original rows."""

    target: str
    grade: Grade  # by tolerant coverage
    strict_grade: Grade  # by strict coverage
    strict: float  # share of rows whose rule is in the release's tree, thresholds equal
    tolerant: float  # the same, where a threshold may move by one step of the grid or 5 % of the domain
    partition: float  # adjusted Rand index of the leaves that both trees give the rows
    answers: float  # share of rows with the same answer of both trees
    guess: float  # the same if the release's tree always gave the original tree's most frequent answer
    rules: tuple[tuple[Kind, int], ...]  # how many rules were kept, have a moved threshold, ...
    original: TreeFigures
    released: TreeFigures
    tested_in_both: tuple[str, ...]
    cuts: tuple[CutMoves, ...]
    pruned: Literal["", "original", "released"]  # the tree that is a pruned form of the other
    rows: int  # compared
    classified: int  # of these, with a known class: the base of misclassified rows
    of: int
    how: str


def trees(
    pair: Pair,
    *,
    min_records: int = 2,
    confidence: float = 0.25,
    bins: int | None = None,
    most: int = MOST_GROWN,
    judged: int = MOST_JUDGED,
) -> TreeComparison:
    """Grow C4.5 for the pair's target on both tables and compare the trees over the original's rows.

    ``bins`` groups a numeric target with many values. At most ``most`` rows grow each tree, and at most ``judged``
    rows compare them.
    """
    two = two_trees(pair, min_records=min_records, confidence=confidence, bins=bins, most=most, judged=judged)
    return replace(compare_trees(two.original, two.released, two.table), of=two.of, how=two.how)


def compare_trees(original: Tree, released: Tree, table: Table, *, allowed: Allowed | None = None) -> TreeComparison:
    """Two trees for one target over the rows of a table, whose target column holds their classes.

    ``allowed`` is how far a threshold of each attribute may move in tolerant figures. A row that reaches several leaves
    because a value is missing is shared among their rules by training rows, and its place is the set of leaves.
    """
    allowed = allowance(table) if allowed is None else allowed
    ours, theirs = leaf_membership(original, table), leaf_membership(released, table)
    differences = differences_of(
        rules_of(original, rows_by_leaf(original, ours)), rules_of(released, rows_by_leaf(released, theirs)), allowed
    )
    strict, tolerant = coverage(differences, "kept"), coverage(differences, "kept", "cut moved")
    same = _same(original, released, ours, theirs)
    one, other, truth = _answers(original, released, table)
    first, second = _figures(original, one, truth), _figures(released, other, truth)
    counts = Counter(difference.kind for difference in differences)
    return TreeComparison(
        target=original.target,
        grade=_grade(tolerant, same, _pruned(original, released, allowed)),
        strict_grade=_grade(strict, same, _pruned(original, released, {})),
        strict=strict,
        tolerant=tolerant,
        partition=adjusted_rand(ours.set_of_row, theirs.set_of_row),
        answers=float((one == other).mean()) if len(one) else 1.0,
        guess=float(np.bincount(one).max() / len(one)) if len(one) else 1.0,
        rules=tuple((kind, counts[kind]) for kind in KINDS),
        original=first,
        released=second,
        tested_in_both=tuple(name for name in first.attributes if name in second.attributes),
        cuts=cut_moves(original, released, table, allowed),
        pruned=_pruned(original, released, allowed),
        rows=len(table),
        classified=int(np.count_nonzero(truth != MISSING)),
        of=len(table),
        how=coverage_note(len(table), len(table)),
    )


def coverage(differences: Sequence[Difference], *kinds: Kind) -> float:
    """The share of original rows whose rule is of one of these kinds; 1 without rows."""
    of_ours = [difference for difference in differences if difference.original is not None]
    left = sum(difference.rows for difference in of_ours if difference.kind not in kinds)
    return 1.0 - left / total if (total := sum(difference.rows for difference in of_ours)) > 0 else 1.0


def _same(original: Tree, released: Tree, ours: LeafMembership, theirs: LeafMembership) -> bool:
    """Whether tests and classes are equal at every node, and the thresholds or at least the leaf of every row."""
    if not any(marks.any() for marks in differing_nodes(original, released)):
        return True
    anywhere = {attribute.name: inf for attribute in original.attributes}
    if any(marks.any() for marks in differing_nodes(original, released, anywhere)):
        return False
    return np.array_equal(ours.set_of_row, theirs.set_of_row) and np.array_equal(ours.leaves, theirs.leaves)


def _grade(coverage: float, same: bool, pruned: str) -> Grade:
    if same:
        return "exactly same"
    if coverage >= VERY_SIMILAR:
        return "very similar"
    return "similar" if coverage >= SIMILAR or pruned else "dissimilar"


def _pruned(original: Tree, released: Tree, allowed: Allowed) -> Literal["", "original", "released"]:
    if pruned_form(released, original, allowed):
        return "released"
    return "original" if pruned_form(original, released, allowed) else ""


def _answers(original: Tree, released: Tree, table: Table) -> tuple[Codes, Codes, Codes]:
    """The answer of each tree for every row, and the true class, as codes of one list; -1 where unknown."""
    target = table[original.target]
    number = {name: i for i, name in enumerate({*original.classes, *released.classes, *target.levels})}

    def coded(names: tuple[str, ...], codes: Codes) -> Codes:
        lookup: Codes = np.array([*(number[name] for name in names), MISSING], np.int32)  # -1 finds the last
        return lookup[codes]

    one, other = (coded(tree.classes, classify(tree, table)) for tree in (original, released))
    return one, other, coded(target.levels, target.values)


def _figures(tree: Tree, answers: Codes, truth: Codes) -> TreeFigures:
    tested = np.unique(tree.tested[tree.tested >= 0])
    return TreeFigures(
        nodes=tree.size,
        leaves=len(tree.leaves),
        attributes=tuple(sorted(tree.attributes[a].name for a in tested)),
        misclassified=int(np.count_nonzero((truth != MISSING) & (answers != truth))),
    )
