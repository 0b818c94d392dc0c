"""How alike the trees grown on a table and on its release are: rules, places of rows, answers.

Islam and Brankovic judged trees by eye, by these criteria and with these four grades; the figures are ours, their
limits taken from the examples that were printed. C4.5 is unstable: on a perturbed table a cut moves easily, and strict
coverage with it. So strict, tolerant and partition figures stand side by side.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import inf
from typing import Literal, TypeAlias

import numpy as np

from leafcover.fast.arrays import MISSING, Codes
from leafcover.measuring.pair import Pair
from leafcover.measuring.sampling import how
from leafcover.measuring.utility.cuts import CutMoves, cut_moves
from leafcover.measuring.utility.growing import MOST_GROWN, MOST_JUDGED, two_trees
from leafcover.measuring.utility.partitions import adjusted_rand
from leafcover.measuring.utility.rules import (
    KINDS,
    Allowed,
    Difference,
    Kind,
    allowance,
    differences_of,
    rows_by_leaf,
    rules_of,
)
from leafcover.measuring.utility.together import differing_nodes, pruned_form
from leafcover.table.table import Table
from leafcover.tree.tree import Tree
from leafcover.tree.walk import Places, classify, places

Grade: TypeAlias = Literal["exactly same", "very similar", "similar", "dissimilar"]

VERY_SIMILAR = 0.94  # 329 of 349 rows was called very similar
SIMILAR = 0.75  # ours


@dataclass(frozen=True)
class TreeFigures:
    """One tree: its size, what it tests, and how many rows of the original table with a known class it gets wrong."""

    nodes: int
    leaves: int
    attributes: tuple[str, ...]
    misclassified: int


@dataclass(frozen=True)
class TreeComparison:
    """Two trees for one target. No figure tells a cut or a level; every share is of original rows."""

    target: str
    grade: Grade  # by tolerant coverage
    strict_grade: Grade  # by strict coverage
    strict: float  # share of rows whose rule is in the release's tree, cuts equal
    tolerant: float  # the same, where a cut may move by one step of the grid or 5 % of the domain
    partition: float  # adjusted Rand index of the places that both trees give the rows
    answers: float  # share of rows that both trees answer alike
    guess: float  # the same, had the release's tree given every row the original tree's most frequent answer
    rules: tuple[tuple[Kind, int], ...]  # how many rules were kept, have a moved cut, ...
    original: TreeFigures
    released: TreeFigures
    tested_in_both: tuple[str, ...]
    cuts: tuple[CutMoves, ...]
    pruned: Literal["", "original", "released"]  # the tree that is a pruned form of the other
    rows: int  # judged
    classified: int  # of these, with a known class: what misclassified rows are a part of
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

    ``bins`` groups a target that is a number with many values. At most ``most`` rows grow each tree, and at most
    ``judged`` are led down both.
    """
    two = two_trees(pair, min_records=min_records, confidence=confidence, bins=bins, most=most, judged=judged)
    return replace(compare_trees(two.original, two.released, two.table), of=two.of, how=two.how)


def compare_trees(original: Tree, released: Tree, table: Table, *, allowed: Allowed | None = None) -> TreeComparison:
    """Two trees for one target over the rows of a table, whose target column holds their classes.

    ``allowed`` is how far a cut of each attribute may move in tolerant figures. A row that reaches several leaves
    for want of a value is shared among their rules by training rows, and its place is the set of leaves.
    """
    allowed = allowance(table) if allowed is None else allowed
    ours, theirs = places(original, table), places(released, table)
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
        partition=adjusted_rand(ours.place, theirs.place),
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
        how=how(len(table), len(table)),
    )


def coverage(differences: Sequence[Difference], *kinds: Kind) -> float:
    """The share of original rows whose rule met one of these ends; 1 when there are no rows."""
    of_ours = [difference for difference in differences if difference.original is not None]
    left = sum(difference.rows for difference in of_ours if difference.kind not in kinds)
    return 1.0 - left / total if (total := sum(difference.rows for difference in of_ours)) > 0 else 1.0


def _same(original: Tree, released: Tree, ours: Places, theirs: Places) -> bool:
    """Whether tests and classes are the same at every node, and the cuts too or at least the place of every row."""
    if not any(marks.any() for marks in differing_nodes(original, released)):
        return True
    anywhere = {attribute.name: inf for attribute in original.attributes}
    if any(marks.any() for marks in differing_nodes(original, released, anywhere)):
        return False
    return np.array_equal(ours.place, theirs.place) and np.array_equal(ours.leaves, theirs.leaves)


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
    """What each tree answers every row, and the truth, as numbers of one list of classes; -1 where unknown."""
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
