"""The sections on decision trees and on models trained on the release.

The section on trees has three parts. The comparison of two trees trained for the report, with the outcome of every
rule. The tree or forest whose leaves became the cells of the release; of a forest, only the internal report shows tests
and rules, because some branches hold few rows. The comparison of two whole forests, which the section on models shows.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import isnan
from typing import Any

import numpy as np

from leafcover.engine.run import FEWEST, Release, least_kept
from leafcover.messages import catalogue
from leafcover.metrics.estimates import Estimate
from leafcover.metrics.utility.forest import ForestComparison
from leafcover.metrics.utility.prediction import Agreement, Agreements, ModelAccuracy, Prediction
from leafcover.metrics.utility.rules import KINDS, Difference, rule_differences, rule_in_words
from leafcover.metrics.utility.trees import SIMILAR, VERY_SIMILAR, TreeComparison, TwoTrees, differing_nodes, two_trees
from leafcover.reporting.components import (
    Cell,
    Heading,
    Listing,
    Part,
    Picture,
    Pictures,
    Section,
    Strip,
    Words,
    fold,
    listing,
    lower_end,
    section,
    span_words,
    strip,
)
from leafcover.reporting.context import ReportContext
from leafcover.reporting.disclosure_rules import RARE, DisclosureRules, curled, listed, rare_levels, started
from leafcover.table.table import Table
from leafcover.tree.export import ValueFormatter, largest_branch, node_text, picture, rule_text, value_formatter
from leafcover.tree.sysfor import shared_rules
from leafcover.tree.tree import Attribute, Tree

say = catalogue("report_details")

MAX_DRAWN_DEPTH = 3  # tests one below another that are drawn; what is deeper is counted
MAX_RULES_LISTED = 30  # those that cover most rows first
MAX_SHARED_RULES_LISTED = 20  # of a forest, those of most trees first
MAX_KD_TREES_DRAWN = 3
MIN_PUBLISHED_BRANCH = 20  # rows in a branch of a published tree, where no plan sets a minimum


def trees_section(subject: ReportContext) -> Section | None:
    """The trees, as far as the reader may see them."""
    title = say("trees-title-for", target=subject.target) if subject.target else say("trees-title")
    measured = None if subject.measures is None else subject.measures.utility.trees
    if measured is None:
        return section("trees", title, *_guide(subject))
    guide = list(_guide(subject, after_others=True)) if subject.internal or subject.forest else []
    shown = _trees_to_show(subject)
    return section(
        "trees",
        title,
        *_comparison(subject, measured),
        *([] if shown is None else _side_by_side(subject, shown)),
        *([] if subject.show_plan else [Words(say("trees-closed"))]),
        fold(say("trees-guide-fold", kind="forest" if subject.forest else "tree"), *guide) if guide else None,
    )


# The tree whose leaves became the cells of the release.


def _guide(subject: ReportContext, *, after_others: bool = False) -> Iterator[Part]:
    release = subject.release
    if release is None or (after_others and not subject.descends):
        return
    if not subject.descends:
        yield Words(say("trees-dealt") if subject.show_plan else say("trees-closed"))
    elif subject.forest:
        yield from _guiding_forest(subject, release)
    elif subject.guide is None:
        yield from _kd_trees(subject, release)
    elif not subject.show_plan:
        yield Words(say("trees-closed"))
    else:
        found = next(t for p in release.partitions.values() for t in p.trees if t.target == subject.target)
        words = [say("trees-guide-lead", place="after-others" if after_others else "alone")]
        if not subject.rules.suppressed:
            words.append(say("trees-guide-kept", kept=subject.rules.kept(subject.guide.kept)))
        yield Words(" ".join([*words, say("trees-guide-legend", target=subject.target)]), tone="lead")
        yield Pictures((Picture("", _drawing(subject, found, subject.pair.original)),))


def _kd_trees(subject: ReportContext, release: Release) -> Iterator[Part]:
    """Trees that group close rows, whatever the target."""
    found = [tree for p in release.partitions.values() for tree in p.trees if not tree.answers]
    if not found:
        yield Words(say("trees-no-guide"))
    elif not subject.show_plan:
        yield Words(say("trees-closed"))
    else:
        shown = found[:MAX_KD_TREES_DRAWN]
        yield Words(say("trees-kd-lead"), tone="lead")
        yield Pictures(tuple(Picture("", _drawing(subject, tree, subject.pair.original)) for tree in shown))


# Two trees trained for the report, one on each table.


def _comparison(subject: ReportContext, found: TreeComparison) -> Iterator[Part]:
    yield Words(" ".join(_comparison_words(subject, found)), tone="lead")
    notes = [say("trees-note", very=f"{100 * VERY_SIMILAR:.0f}", similar=f"{100 * SIMILAR:.0f}")]
    if subject.internal:
        notes.append(say("trees-note-basis", basis=started(curled(found.how))))
    head = (say("head-measure"), say("head-release"), say("trees-head-comparison"))
    note = " ".join(notes)
    yield listing(say("trees-table"), head, _comparison_rows(subject, found), note) or Words(note)


def _comparison_words(subject: ReportContext, found: TreeComparison) -> Iterator[str]:
    voice = subject.rules
    yield say("trees-compared", target=found.target)
    if subject.guide or subject.forest:
        yield say("trees-compared-not-the-guide", kind="forest" if subject.forest else "tree")
    yield say("trees-grade", grade=_key(found.grade))
    yield say(
        "trees-agreement",
        rules=voice.share(found.tolerant),
        answers=voice.share(found.answers),
        guess=voice.share(found.guess),
    )
    if found.grade == "similar" and found.tolerant < SIMILAR:
        yield say("trees-pruned", smaller=found.pruned)


def _comparison_rows(subject: ReportContext, found: TreeComparison) -> list[tuple[str, str, str]]:
    voice, ours, theirs = subject.rules, found.original, found.released
    rows = [
        (say("trees-rules-exact"), voice.share(found.strict), say("trees-identical")),
        (say("trees-rules-near"), voice.share(found.tolerant), say("trees-identical")),
        (say("trees-partition"), voice.figure(found.partition), say("trees-partition-how")),
        (say("trees-answers"), voice.share(found.answers), say("trees-answers-how", guess=voice.share(found.guess))),
    ]
    if subject.internal:
        tested = say("trees-before-and-both", count=len(ours.attributes), both=len(found.tested_in_both))
        rows += [
            (say("trees-leaves"), f"{theirs.leaves:,}", say("trees-before", count=ours.leaves)),
            (say("trees-misclassified"), f"{theirs.misclassified:,}", say("trees-before", count=ours.misclassified)),
            (say("trees-columns-tested"), f"{len(theirs.attributes)}", tested),
        ]
    return rows


def _key(name: str) -> str:
    """A grade or an outcome as the key of a variant in the catalogue."""
    return name.replace(" ", "-")


def _trees_to_show(subject: ReportContext) -> TwoTrees | None:
    """Both trees: those that were compared, or in an external report two without branches of few rows."""
    if not subject.show_plan:
        return None
    plan = None if subject.release is None else subject.release.plan
    cells = [] if plan is None else [one.min_rows for one in plan.partitions if one.tree_target is not None]
    least = 2 if subject.internal else max(MIN_PUBLISHED_BRANCH, *cells, FEWEST)
    return two_trees(subject.pair, min_records=least, bins=None if plan is None else plan.bins)


def _side_by_side(subject: ReportContext, two: TwoTrees) -> Iterator[Part]:
    marks = differing_nodes(two.original, two.released)
    yield Words(say("trees-legend"), tone="aside")
    yield Pictures(
        (
            Picture(say("picture-original"), _drawing(subject, two.original, two.table, marks[0])),
            Picture(say("picture-release"), _drawing(subject, two.released, two.table, marks[1])),
        )
    )
    found = rule_differences(two.original, two.released, two.table)
    if (rules := _rules(subject, found, two.table)) is not None:
        counts = Counter(difference.kind for difference in found)
        named = [say("rules-count", kind=_key(kind), count=counts[kind]) for kind in KINDS if counts[kind]]
        title = say("rules-fold-counts", counts=", ".join(named)) if subject.internal else say("rules-fold")
        yield fold(title, rules) or rules


def _rules(subject: ReportContext, found: Sequence[Difference], table: Table) -> Listing | None:
    """The outcome of the rules that cover most rows."""
    rare, few = rare_levels(table), max(FEWEST, RARE * len(table))
    shown = [
        one
        for one in found
        if subject.internal or (one.rows >= few and not _names_rare_value(one, rare, subject.target))
    ]
    spell = value_formatter(table)
    rows: list[tuple[str | Cell, ...]] = [
        (
            say("rules-outcome", kind=_key(one.kind)),
            _rule_cell(one, spell),
            *([f"{one.rows:,.0f}"] if subject.internal else []),
        )
        for one in shown[:MAX_RULES_LISTED]
    ]
    left = len(shown) - len(rows)
    note = say("rules-not-listed", count=left) if left and subject.internal else ""
    if not subject.internal:
        note = say("rules-not-published")
    head = (say("rules-head-outcome"), say("rules-head-rule"), *([say("head-rows")] if subject.internal else []))
    return listing(say("rules-table"), head, rows, note)


def _rule_cell(one: Difference, spell: ValueFormatter) -> Cell:
    """A rule, and where the release's form of it differs."""
    rule = one.original or one.released
    changes = ", ".join(_rule_changes(one, spell))
    text = "" if rule is None else rule_in_words(rule, spell=spell)
    return Cell(text, say("rules-in-release", changes=changes) if changes else "")


def _rule_changes(one: Difference, spell: ValueFormatter) -> Iterator[str]:
    before, after = one.original, one.released
    if before is None or after is None:
        return
    for old, new in zip(before.conditions, after.conditions, strict=True):
        if old.low != new.low:
            yield say("rules-threshold-above", column=new.attribute, value=spell(new.attribute, new.low))
        if old.high != new.high:
            yield say("rules-threshold-at-most", column=new.attribute, value=spell(new.attribute, new.high))
    if after.answer != before.answer:
        yield after.answer


def _names_rare_value(one: Difference, rare: dict[str, set[str]], target: str) -> bool:
    rules = [rule for rule in (one.original, one.released) if rule is not None]
    levels = {(c.attribute, level) for rule in rules for c in rule.conditions for level in c.levels}
    levels |= {(target, rule.answer) for rule in rules}
    return any(level in rare.get(name, ()) for name, level in levels)


def _drawing(subject: ReportContext, tree: Tree, table: Table, marks: Any = None) -> Any:
    """A tree's picture; in an external report without counts and without the names of rare values."""
    from markupsafe import Markup

    shown = tree if subject.internal else without_rare(tree, table)
    # made by our own drawing, which escapes every name
    return Markup(picture(shown, depth=MAX_DRAWN_DEPTH, table=table, counts=subject.internal, marks=marks))


def without_rare(tree: Tree, table: Table) -> Tree:
    """The same tree without the names of rare levels and classes, and with counts in steps of five."""
    rare, name_of_rare = rare_levels(table), say("rare-value")

    def unnamed(name: str, levels: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(name_of_rare if level in rare.get(name, ()) else level for level in levels)

    attributes = tuple(
        a if a.is_number else Attribute(a.name, unnamed(a.name, a.levels), False) for a in tree.attributes
    )
    counts = np.ceil(tree.counts / FEWEST) * FEWEST  # up, so that a small branch is never shown as empty
    return replace(tree, attributes=attributes, classes=unnamed(tree.target, tree.classes), counts=counts)


# The forest whose leaves became the cells of the release.


def _guiding_forest(subject: ReportContext, release: Release) -> Iterator[Part]:
    """Trees and shared rules, as far as the reader may see them."""
    trees = _trees_of_forest(subject, release)
    words = [say("forest-lead", trees=len(trees), target=subject.target)]
    if least_kept(subject.forest) < 1:
        words.append(say("forest-pooled"))
    if not subject.internal:
        words.append(say("forest-closed"))
    yield Words(" ".join(words), tone="lead")
    table = subject.pair.original
    if subject.internal:
        yield _shared_rules(trees, table)
    if (each := fold(say("forest-trees-fold"), _tree_by_tree(subject, trees, value_formatter(table)))) is not None:
        yield each


def _trees_of_forest(subject: ReportContext, release: Release) -> tuple[Tree, ...]:
    found = {id(tree): tree for part in release.partitions.values() for tree in part.trees}
    return tuple(tree for tree in found.values() if tree.target == subject.target)


def _tree_by_tree(subject: ReportContext, trees: tuple[Tree, ...], spell: ValueFormatter) -> Listing | None:
    rows: list[list[str | Cell]] = []
    for number, (tree, fact) in enumerate(zip(trees, subject.forest, strict=True), 1):
        kept = Cell(subject.rules.kept(fact.kept), bar=subject.rules.bar(fact.kept))
        if subject.internal:
            then = node_text(tree, largest_branch(tree), spell)
            rows.append([f"{number}. {node_text(tree, 0, spell)}", then, f"{fact.leaves:,}", kept])
        else:
            rows.append([f"{number}", kept])
    tests = [say("forest-head-first-test"), say("forest-head-second-test"), say("forest-head-leaves")]
    head = tests if subject.internal else [say("forest-head-tree")]
    return listing(say("forest-trees-table"), [*head, say("forest-head-same-leaf")], rows)


def _shared_rules(trees: tuple[Tree, ...], table: Table) -> Part:
    """The rules that most trees hold."""
    every = [rule for rule in shared_rules(trees) if len(rule.trees) > 1]
    spell = value_formatter(table)
    rows = [
        [rule_text(rule.tests, rule.label, spell, at_most="≤"), f"{len(rule.trees):,}", f"{rule.rows:,.0f}"]
        for rule in every[:MAX_SHARED_RULES_LISTED]
    ]
    left = len(every) - len(rows)
    note = say("forest-shared-more", count=left) if left else ""
    head = (say("rules-head-rule"), say("forest-head-trees"), say("head-rows"))
    return listing(say("forest-shared-table"), head, rows, note) or Words(say("forest-shared-nothing"), tone="aside")


# Two whole forests, one trained on each table: how many rules of the original's the release's has, too.


def forest_comparison_parts(subject: ReportContext, found: ForestComparison) -> Iterator[Part | None]:
    """Rules preserved over the forest, and whether the original's own still hold."""
    if not found.rules.rules:
        return
    yield Heading(say("forest-rules-heading"))
    yield Words(say("forest-rules-lead", target=subject.pair.target, trees=found.trees[0]))
    head = (say("head-measure"), say("head-release"), say("head-floor"), say("head-chance"))
    note = say("forest-rules-note")
    if subject.internal:
        note = f"{note} {_forest_basis(found)}"
    yield listing(say("forest-rules-table"), head, _forest_rows(subject, found), note)


def _forest_basis(found: ForestComparison) -> str:
    return say(
        "forest-rules-basis",
        rules=found.rules.rules,
        trees=found.trees[0],
        released=found.rules.released,
        released_trees=found.trees[1],
        resamples=found.resamples,
        coverage=curled(found.how),
    )


def _forest_rows(subject: ReportContext, found: ForestComparison) -> list[tuple[str, str, str, str]]:
    voice = subject.rules
    rules = found.rules.kept, found.rules.floor, found.rules.chance
    leaves = found.leaves.kept, found.leaves.floor, found.leaves.chance
    rows = [
        (say("forest-rules-near"), [shares.near for shares in rules]),
        (say("forest-rules-exact"), [shares.exact for shares in rules]),
        (say("forest-rules-leaf-rows"), [shares.rows for shares in leaves]),
    ]
    if subject.internal:
        rows[2:2] = [
            (say("forest-rules-near-unweighted"), [shares.near_alike for shares in rules]),
            (say("forest-rules-exact-unweighted"), [shares.exact_alike for shares in rules]),
        ]
        rows.append((say("forest-rules-leaves"), [shares.leaves for shares in leaves]))
    return [(name, voice.kept(kept), voice.share(floor), voice.share(chance)) for name, (kept, floor, chance) in rows]


# The section on models: accuracy is for the target alone; agreement with the model of the original takes every column
# as target in turn. The rules of two forests close the section.


MAX_TARGETS_UNFOLDED = 20  # columns as targets; more are folded away


def models_section(subject: ReportContext) -> Section | None:
    """Accuracy and agreement, where rows outside the release are known; the rules of a forest, where a target is."""
    if subject.measures is None:
        return None
    utility = subject.measures.utility
    unseen = utility.prediction is not None or utility.agreement is not None
    return section(
        "models",
        say("models-title"),
        Words(say("models-lead", control=curled(subject.measures.control)), tone="lead") if unseen else None,
        *([] if utility.prediction is None else _accuracy(subject, utility.prediction)),
        *([] if utility.agreement is None else _agreement(subject, utility.agreement)),
        *([] if utility.forest is None else forest_comparison_parts(subject, utility.forest)),
    )


# Accuracy on unseen rows.


def _accuracy(subject: ReportContext, found: Prediction) -> Iterator[Part | None]:
    voice = subject.rules
    scores = [one for one in found.scores if not isnan(one.released.value)]
    if not scores or voice.suppresses(found.tests):
        few = say("models-accuracy-too-few", target=found.target)
        yield Words(few if scores else say("models-accuracy-no-rows", target=found.target))
        return
    yield Heading(say("models-accuracy-heading", target=found.target))
    majority = voice.format_estimate(found.majority, found.tests)
    yield Words(say("models-accuracy-lead", target=found.target, majority=majority))
    ends = lower_end([score for one in scores for score in (one.released, one.original)])
    notes = [say("models-accuracy-note")]
    if subject.internal:
        notes.append(say("models-basis", basis=started(curled(found.how))))
    yield listing(
        say("models-accuracy-table"),
        (say("models-head-model"), span_words(ends), *_accuracy_heads(), say("models-head-same-answer")),
        [_accuracy_row(voice, one, found.tests, ends) for one in scores],
        " ".join(notes),
    )
    if subject.internal:
        yield fold(
            say("models-balanced-fold"),
            listing(
                say("models-balanced-table"),
                (say("models-head-model"), *_accuracy_heads()),
                [
                    [
                        _model_name(one.model),
                        Cell(*voice.estimate(one.balanced_released, found.tests)),
                        Cell(*voice.estimate(one.balanced_original, found.tests)),
                        Cell(*voice.points(one.balanced_difference, found.tests)),
                    ]
                    for one in scores
                ],
                say("models-balanced-note"),
            ),
        )


def _accuracy_heads() -> tuple[str, str, str]:
    return say("models-head-release"), say("models-head-original"), say("models-head-difference")


def _accuracy_row(
    voice: DisclosureRules, one: ModelAccuracy, tests: int, ends: tuple[float, float]
) -> list[str | Cell]:
    value, interval = voice.estimate(one.released, tests)
    before, around = voice.estimate(one.original, tests)
    label = say("models-accuracy-strip", released=value, original=before)
    return [
        _model_name(one.model),
        Cell("", strip=_strip(voice, one.released, one.original, tests, label, ends)),
        Cell(value, interval),
        Cell(before, around),
        Cell(*voice.points(one.difference, tests)),
        Cell(*voice.estimate(one.alike, tests)),
    ]


def _strip(
    voice: DisclosureRules, figure: Estimate, mark: Estimate, tests: int, label: str, ends: tuple[float, float]
) -> Strip | None:
    """The figure and what it is compared with, as far as they may be drawn."""
    if not voice.can_draw(figure.value, tests):
        return None
    place = voice.rounded(mark).value if voice.can_draw(mark.value, tests) else None
    return strip(voice.rounded(figure), label, ends, place)


def _model_name(name: str) -> str:
    return say("models-sysfor") if name == "sysfor" else started(name)


# Agreement: how often the models of release and original predict the same class.


def _agreement(subject: ReportContext, found: Agreements) -> Iterator[Part | None]:
    if subject.rules.suppresses(found.tests):
        yield Words(say("agreement-too-few"))
        return
    first = [] if found.target is None else [found.target]
    others = sorted(found.others, key=lambda one: one.agreement.value - one.floor.value)
    both = [*first, *([_mean(found)] if others else [])]
    if all(isnan(one.agreement.value) for one in both):
        return
    yield Heading(say("agreement-heading"))
    lead = say("agreement-lead", model="tree" if found.model == "tree" else "other")
    yield Words(f"{lead} {say('agreement-floor')}")
    shown = [*both, *others] if subject.internal else both
    ends = lower_end([e for one in shown for e in (one.agreement, one.floor)])
    table = say("agreement-table")
    if not subject.internal:
        yield _agreement_table(subject, both, found.tests, ends, table, "")
        return
    note = " ".join(_agreement_notes(found))
    yield _agreement_table(subject, [*both, *others[:MAX_TARGETS_UNFOLDED]], found.tests, ends, table, note)
    if rest := others[MAX_TARGETS_UNFOLDED:]:
        more = _agreement_table(subject, rest, found.tests, ends, say("agreement-more-table"), "")
        yield fold(say("agreement-more-fold", count=len(rest)), more)


def _agreement_notes(found: Agreements) -> Iterator[str]:
    yield say("agreement-note")
    if found.left_out:
        yield say("agreement-left-out", columns=listed(found.left_out))
    if found.not_asked:
        yield say("agreement-not-tried", columns=listed(found.not_asked))
    yield say("models-basis", basis=started(curled(found.how)))


def _mean(found: Agreements) -> Agreement:
    name = say("agreement-mean", count=len(found.others))
    return Agreement(name, 0, found.mean, found.mean_floor, found.mean_chance, found.mean, found.mean)


def _agreement_table(
    subject: ReportContext, found: Sequence[Agreement], tests: int, ends: tuple[float, float], name: str, note: str
) -> Part | None:
    voice = subject.rules

    def cell(estimate: Estimate) -> Cell:
        return Cell(*voice.estimate(estimate, tests))

    rows: list[list[str | Cell]] = []
    for one in found:
        value, floor = cell(one.agreement), cell(one.floor)
        label = say("agreement-strip", agreement=value.text, floor=floor.text)
        dots = Cell("", strip=_strip(voice, one.agreement, one.floor, tests, label, ends))
        rows.append([one.target, dots, value, floor, *([cell(one.chance)] if subject.internal else [])])
    heads = [say("agreement-head-target"), span_words(ends), say("agreement-head-agreement"), say("head-floor")]
    return listing(name, [*heads, *([say("head-chance")] if subject.internal else [])], rows, note)
