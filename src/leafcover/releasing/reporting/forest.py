"""The forest that guided a release: its trees, what became of each, and the rules they share.

Only the steward sees tests and rules: a forest looks for many, and some of its branches hold few rows.
"""

from collections.abc import Iterator

from leafcover.releasing.reporting.shapes import Cell, Listing, Part, Words, fold, listing
from leafcover.releasing.reporting.subject import Subject
from leafcover.releasing.run import Release, least_kept
from leafcover.table.table import Table
from leafcover.tree.shared import shared_rules
from leafcover.tree.show import Spell, rule_text, spelling
from leafcover.tree.show_forest import asked, largest_branch
from leafcover.tree.tree import Tree

MOST_RULES = 20  # that are listed, those of most trees first


def forest_parts(subject: Subject, release: Release) -> Iterator[Part]:
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


def _trees(subject: Subject, release: Release) -> tuple[Tree, ...]:
    found = {id(tree): tree for part in release.partitions.values() for tree in part.trees}
    return tuple(tree for tree in found.values() if tree.target == subject.target)


def _tree_by_tree(subject: Subject, trees: tuple[Tree, ...], spell: Spell) -> Listing | None:
    rows: list[list[str | Cell]] = []
    for number, (tree, fact) in enumerate(zip(trees, subject.forest, strict=True), 1):
        kept = Cell(subject.voice.kept(fact.kept), bar=subject.voice.bar(fact.kept))
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
        for rule in every[:MOST_RULES]
    ]
    note = f"{len(every) - len(rows):,} more rules stand in several trees." if len(every) > len(rows) else ""
    found = listing("Rules that several trees share", ("Rule", "Trees", "Rows"), rows, note)
    return found or Words("No two trees share a whole rule.", tone="aside")
