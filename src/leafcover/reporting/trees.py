"""The trees of original and release side by side, and what became of every rule."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from leafcover.engine.run import Release, least_kept
from leafcover.metrics.utility.forest import ForestComparison
from leafcover.metrics.utility.rules import KINDS, Difference, difference_in_words, rule_differences, rule_in_words
from leafcover.metrics.utility.trees import SIMILAR, VERY_SIMILAR, TreeComparison, TwoTrees, differing_nodes, two_trees
from leafcover.recipes.plan import bins_of, leaves_of
from leafcover.reporting.components import (
    Cell,
    Heading,
    Listing,
    Part,
    Picture,
    Pictures,
    Section,
    Words,
    fold,
    listing,
    section,
)
from leafcover.reporting.context import ReportContext
from leafcover.reporting.disclosure_rules import FEWEST, RARE, counted, curled, rare_levels, started
from leafcover.table.table import Table
from leafcover.tree.export import Spell, asked, largest_branch, rule_text, spelling
from leafcover.tree.plot import picture
from leafcover.tree.sysfor import shared_rules
from leafcover.tree.tree import Attribute, Tree

DEPTH = 3  # tests one below another that are drawn; what lies deeper is counted
MOST_RULES = 30  # that are listed, those of most rows first
PUBLISHED = 20  # rows in a branch of a tree that is shown to others, where no plan says how many
RARE_NAME = "a rare value"
MOST_KD = 3  # kd trees that are drawn
GRADES = {"exactly same": "exactly the same"}  # in a sentence


def trees_section(subject: ReportContext) -> Section | None:
    """The trees, as far as the reader may see them."""
    title = f"Trees for {subject.target}" if subject.target else "Trees"
    measured = None if subject.measures is None else subject.measures.utility.trees
    if measured is None:
        return section("trees", title, *_guide(subject))
    guide = list(_guide(subject, another=True)) if subject.internal or subject.forest else []
    shown = _shown(subject)
    return section(
        "trees",
        title,
        *_figures(subject, measured),
        *([] if shown is None else _side_by_side(subject, shown)),
        *([] if subject.show_plan else [Words(_CLOSED)]),
        fold(f"The {'forest' if subject.forest else 'tree'} that guided the release", *guide) if guide else None,
    )


_CLOSED = "The trees are not shown, because the cuts of a tree are values of the original table."


def _guide(subject: ReportContext, *, another: bool = False) -> Iterator[Part]:
    """The tree by which cells were made."""
    release = subject.release
    if release is None:
        return
    if subject.forest:
        yield from forest_parts(subject, release)
    elif subject.guide is None:
        yield from _kd_trees(subject, release)
    elif not subject.show_plan:
        yield Words(_CLOSED)
    else:
        found = next(t for p in release.partitions.values() for t in p.trees if t.target == subject.target)
        yield Words(
            f"{'Another tree than those above: its' if another else 'Its'} leaves shaped the cells, and its rules are "
            "those that the release keeps. Each line is a test or an answer; the bar shows the mix of "
            f"{subject.target} among the rows that arrive there.",
            tone="lead",
        )
        yield Pictures((Picture("", _drawn(subject, found, subject.pair.original)),))


def _kd_trees(subject: ReportContext, release: Release) -> Iterator[Part]:
    """Trees that made cells of near rows, whatever the target."""
    found = [tree for p in release.partitions.values() for tree in p.trees if not tree.answers]
    if not found:
        yield Words("No tree for a target guided this release, so there is none to show.")
    elif not subject.show_plan:
        yield Words(_CLOSED)
    else:
        yield Words("Its leaves are the cells in which values were averaged: near rows stand in the same.", tone="lead")
        yield Pictures(tuple(Picture("", _drawn(subject, tree, subject.pair.original)) for tree in found[:MOST_KD]))


def _figures(subject: ReportContext, found: TreeComparison) -> Iterator[Part]:
    voice = subject.rules
    guide = " Neither is the tree that guided the release and whose leaves were kept." if subject.guide else ""
    guide = " Neither is one of the forest that guided the release." if subject.forest else guide
    yield Words(
        f"To measure, a decision tree for {found.target} was grown on the original and another on the release.{guide} "
        f"They are {GRADES.get(found.grade, found.grade)}: {voice.share(found.tolerant)} of the rows stand in a leaf "
        "whose rule is also in the other tree (cuts may move by 5% of a column’s range), and both trees answer "
        f"{voice.share(found.answers)} of the rows alike. Had the release’s tree always given the original tree’s most "
        f"frequent answer, that would be {voice.share(found.guess)} (of answers, not of true values).{_pruned(found)}",
        tone="lead",
    )
    rows = [
        ("Rows whose rule is kept, cuts equal", voice.share(found.strict), "100% when the same"),
        ("Rows whose rule is kept, cuts near", voice.share(found.tolerant), "100% when the same"),
        ("Rows put together alike", voice.figure(found.partition), "adjusted Rand index: 1 when the same, 0 by chance"),
        (
            "Rows answered alike",
            voice.share(found.answers),
            f"{voice.share(found.guess)} by the original tree’s most frequent answer",
        ),
    ]
    if subject.internal:
        ours, theirs = found.original, found.released
        rows += [
            ("Leaves", f"{theirs.leaves:,}", f"{ours.leaves:,} before"),
            ("Rows answered wrongly", f"{theirs.misclassified:,}", f"{ours.misclassified:,} before"),
            ("Columns tested", f"{len(theirs.attributes)}", _tested(found)),
        ]
    note = (
        f"Grades go by the rows whose rule is kept, cuts near: from {100 * VERY_SIMILAR:.0f}% very similar, from "
        f"{100 * SIMILAR:.0f}% similar, or when one tree is a pruned form of the other. Trees change easily; a low "
        "grade alone says little."
    )
    if subject.internal:
        note += f" {started(curled(found.how))}."
    yield listing("How alike the trees are", ("Figure", "Release", "Beside it"), rows, note) or Words(note)


def _pruned(found: TreeComparison) -> str:
    """Why trees are called similar that share few rules."""
    if found.grade != "similar" or found.tolerant >= SIMILAR:
        return ""
    ours, theirs = "the original’s tree", "the release’s"
    small, large = (ours, theirs) if found.pruned == "original" else ("the release’s tree", "the original’s")
    return (
        f" They count as similar although fewer rows keep their rule, because {small} is a pruned form of {large}: the "
        "same tests, but some branches end earlier, so that rules there are shorter."
    )


def _tested(found: TreeComparison) -> str:
    both, ours = len(found.tested_in_both), len(found.original.attributes)
    return f"{ours} before, {both} in both"


def _shown(subject: ReportContext) -> TwoTrees | None:
    """Both trees: the ones that were measured, or for others such that no branch holds few rows."""
    if not subject.show_plan:
        return None
    plan = None if subject.release is None else subject.release.plan
    cells = [] if plan is None else [leaves.min_cell for leaves in leaves_of(plan)]
    least = 2 if subject.internal else max(PUBLISHED, *cells, FEWEST)
    return two_trees(subject.pair, min_records=least, bins=None if plan is None else bins_of(plan))


def _side_by_side(subject: ReportContext, two: TwoTrees) -> Iterator[Part]:
    marks = differing_nodes(two.original, two.released)
    yield Words(
        "Each line is a test or an answer; the bar shows the mix of answers among the rows that arrive there. What the "
        "other tree has not is marked.",
        tone="aside",
    )
    yield Pictures(
        (
            Picture("Original", _drawn(subject, two.original, two.table, marks[0])),
            Picture("Release", _drawn(subject, two.released, two.table, marks[1])),
        )
    )
    found = rule_differences(two.original, two.released, two.table)
    if (rules := _rules(subject, found, two.table)) is not None:
        counts = Counter(difference.kind for difference in found)
        told = ", ".join(f"{counts[kind]:,} {kind}" for kind in KINDS if counts[kind])
        yield fold(f"Rule by rule: {told}" if subject.internal else "Rule by rule", rules) or rules


def _rules(subject: ReportContext, found: Sequence[Difference], table: Table) -> Listing | None:
    """What became of the rules that most rows obey."""
    rare, few = rare_levels(table), max(FEWEST, RARE * len(table))
    named = [one for one in found if subject.internal or (one.rows >= few and not _names(one, rare, subject.target))]
    spell = spelling(table)
    rows: list[tuple[str | Cell, ...]] = [
        (one.kind.capitalize(), _said(one, spell), *([f"{one.rows:,.0f}"] if subject.internal else []))
        for one in named[:MOST_RULES]
    ]
    left = len(named) - len(rows)
    note = f"{left:,} more rules, of fewer rows each, are not listed." if left and subject.internal else ""
    if not subject.internal:
        note = "Rules of few rows, and rules that name a rare value, are not listed."
    head = ("What became of it", "Rule", *(["Rows"] if subject.internal else []))
    return listing("What became of each rule", head, rows, note)


def _said(one: Difference, spell: Spell) -> Cell:
    """A rule, and what of it is otherwise in the release."""
    rule = one.original or one.released
    changed = difference_in_words(one, spell=spell).partition("; in the release ")[2].rstrip(".")
    said = "" if rule is None else rule_in_words(rule, spell=spell)
    return Cell(said, f"in the release {changed}" if changed else "")


def _names(one: Difference, rare: dict[str, set[str]], target: str) -> bool:
    """Whether a rule names a rare value."""
    rules = [rule for rule in (one.original, one.released) if rule is not None]
    levels = {(c.attribute, level) for rule in rules for c in rule.conditions for level in c.levels}
    levels |= {(target, rule.answer) for rule in rules}
    return any(level in rare.get(name, ()) for name, level in levels)


def _drawn(subject: ReportContext, tree: Tree, table: Table, marks: Any = None) -> Any:
    """A tree's picture; for others without counts and without the names of rare values."""
    from markupsafe import Markup

    shown = tree if subject.internal else without_rare(tree, table)
    # made by our own drawing, which escapes every name
    return Markup(picture(shown, depth=DEPTH, table=table, counts=subject.internal, marks=marks))


def without_rare(tree: Tree, table: Table) -> Tree:
    """The same tree with rare levels and classes unnamed, and counts only in fives."""
    rare = rare_levels(table)

    def unnamed(name: str, levels: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(RARE_NAME if level in rare.get(name, ()) else level for level in levels)

    attributes = tuple(
        a if a.is_number else Attribute(a.name, unnamed(a.name, a.levels), False) for a in tree.attributes
    )
    counts = np.ceil(tree.counts / FEWEST) * FEWEST  # up, so that a small branch is not called empty
    return replace(tree, attributes=attributes, classes=unnamed(tree.target, tree.classes), counts=counts)


# The forest that guided a release: its trees, what became of each, and the rules they share.
#
# Only the steward sees tests and rules: a forest looks for many, and some of its branches hold few rows.


MOST_SHARED_RULES = 20  # that are listed, those of most trees first


def forest_parts(subject: ReportContext, release: Release) -> Iterator[Part]:
    """Trees and shared rules, as far as the reader may see them."""
    trees = _trees(subject, release)
    pooled = (
        " Cells of too few rows were pooled with the most alike; rows of these pools may change some of their leaves."
    )
    closed = " Its tests and rules are not shown, because some of them tell of few rows."
    yield Words(
        f"{len(trees):,} trees for {subject.target} shaped the cells: rows stand together where their leaves of all "
        f"trees meet.{pooled if least_kept(subject.forest) < 1 else ''}{'' if subject.internal else closed}",
        tone="lead",
    )
    table = subject.pair.original
    if subject.internal:
        yield _shared(trees, table)
    if (each := fold("Tree by tree", _tree_by_tree(subject, trees, spelling(table)))) is not None:
        yield each


def _trees(subject: ReportContext, release: Release) -> tuple[Tree, ...]:
    found = {id(tree): tree for part in release.partitions.values() for tree in part.trees}
    return tuple(tree for tree in found.values() if tree.target == subject.target)


def _tree_by_tree(subject: ReportContext, trees: tuple[Tree, ...], spell: Spell) -> Listing | None:
    rows: list[list[str | Cell]] = []
    for number, (tree, fact) in enumerate(zip(trees, subject.forest, strict=True), 1):
        kept = Cell(subject.rules.kept(fact.kept), bar=subject.rules.bar(fact.kept))
        if subject.internal:
            then = asked(tree, largest_branch(tree), spell)
            rows.append([f"{number}. {asked(tree, 0, spell)}", then, f"{fact.leaves:,}", kept])
        else:
            rows.append([f"{number}", kept])
    head = ["First test", "Then, for most rows", "Leaves"] if subject.internal else ["Tree"]
    return listing("The trees of the forest", [*head, "Rows in the same leaf as before"], rows)


def _shared(trees: tuple[Tree, ...], table: Table) -> Part:
    """The rules that most trees hold."""
    every = [rule for rule in shared_rules(trees) if len(rule.trees) > 1]
    spell = spelling(table)
    rows = [
        [rule_text(rule.tests, rule.label, spell, at_most="≤"), f"{len(rule.trees):,}", f"{rule.rows:,.0f}"]
        for rule in every[:MOST_SHARED_RULES]
    ]
    note = f"{len(every) - len(rows):,} more rules stand in several trees." if len(every) > len(rows) else ""
    found = listing("Rules that several trees share", ("Rule", "Trees", "Rows"), rows, note)
    return found or Words("No two trees share a whole rule.", tone="aside")


# What became of the rules of a whole forest, for both faces.


NOTE = (
    "100% when the same. Cuts near: they may move by 5% of a column’s range. In the original forest’s leaves: nothing "
    "is grown on the release here, but its rows are led down the original’s forest, and what its leaves hold of each "
    "class is compared; 100% by construction when the release was made within the cells of this very forest."
)


def forest_comparison_parts(subject: ReportContext, found: ForestComparison) -> Iterator[Part | None]:
    """Rules kept over the forest, and whether the original's own still hold."""
    if not found.rules.rules:
        return
    target = subject.pair.target
    yield Heading("Rules of a forest")
    yield Words(
        f"A forest for {target} was grown on the original and another on the release (SysFor: "
        f"{counted(found.trees[0], 'tree')} of C4.5 that begin with different tests). How many of the original’s rules "
        "are also in the release’s forest, in whatever tree, counted by the rows that each covers? The floor is the "
        f"same for one grown on a new sample of the same people; by chance, for one grown after {target} was shuffled."
    )
    head = ("Figure", "Release", "Floor", "By chance")
    note = f"{NOTE} {_rests_on(found)}" if subject.internal else NOTE
    yield listing("Rules kept over the forest", head, _rows(subject, found), note)


def _rests_on(found: ForestComparison) -> str:
    rules, trees = found.rules, found.trees
    return (
        f"{counted(rules.rules, 'rule')} in {counted(trees[0], 'tree')} before, {counted(rules.released, 'rule')} in "
        f"{counted(trees[1], 'tree')} after; one that stands in several trees counts once. The floor is the mean of "
        f"{counted(found.resamples, 'new sample')}. Grown on {curled(found.how)}."
    )


def _rows(subject: ReportContext, found: ForestComparison) -> list[tuple[str, str, str, str]]:
    voice = subject.rules
    rules = found.rules.kept, found.rules.floor, found.rules.chance
    leaves = found.leaves.kept, found.leaves.floor, found.leaves.chance
    rows = [
        ("Rules kept, cuts near", [shares.near for shares in rules]),
        ("Rules kept, cuts equal", [shares.exact for shares in rules]),
        ("Rows of the same class in the original forest’s leaves", [shares.rows for shares in leaves]),
    ]
    if subject.internal:
        rows[2:2] = [
            ("Rules kept, cuts near, each counted as one", [shares.near_alike for shares in rules]),
            ("Rules kept, cuts equal, each counted as one", [shares.exact_alike for shares in rules]),
        ]
        rows.append(("Leaves of that forest with the same classes", [shares.leaves for shares in leaves]))
    return [(name, voice.kept(kept), voice.share(floor), voice.share(chance)) for name, (kept, floor, chance) in rows]
