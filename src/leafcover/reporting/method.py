"""How the release was made: steps, cells, trees, and the plan as a file, as far as the reader may see them."""

from collections import defaultdict
from collections.abc import Iterator
from typing import Any

import numpy as np

from leafcover.engine.run import CellFact, Release
from leafcover.messages import catalogue
from leafcover.recipes.plan import Step
from leafcover.recipes.plan_file import plan_text
from leafcover.reporting.components import Bullets, Cell, Heading, Part, Section, Text, Words, fold, listing, section
from leafcover.reporting.context import ReportContext
from leafcover.reporting.disclosure_rules import NONE, DisclosureRules, listed, started
from leafcover.table.table import Column

COMMON = 0.8  # a value that this share of all rows has is common in the whole table

say = catalogue("report_method")


def made_section(subject: ReportContext) -> Section | None:
    """The plan, as far as the reader may see it; nothing for a table from elsewhere."""
    release = subject.release
    if release is None:
        return None
    warned = subject.internal and bool(release.warnings)
    described = _dealt if not release.plan.descends else _steps if subject.show_plan else _ways
    return section(
        "made",
        say("heading"),
        *described(subject, release),
        *_trees(subject, release),
        *_rules(subject, release),
        *_proved(release),
        Heading(say("warnings")) if warned else None,
        Bullets(release.warnings) if warned else None,
        fold(say("plan-file"), Text(say("plan"), plan_text(release.plan))) if subject.show_plan else None,
    )


def _steps(subject: ReportContext, release: Release) -> Iterator[Part | None]:
    """Steps that go the same way as one line; the columns of a block stay joined."""
    blocks = any(_moves_together(step) for step in release.plan.steps)
    yield Words(say("steps-with-blocks" if blocks else "steps"), tone="lead")
    same: dict[Any, list[tuple[Step, CellFact]]] = defaultdict(list)
    for step, fact in zip(release.plan.steps, release.cells, strict=True):
        if not set(step.columns) <= set(release.no_values):
            same[_within(step, release.plan.target), step.perturb, step.keep].append((step, fact))
    rows = []
    for (within, perturb, keep), group in same.items():
        facts = [fact for _, fact in group]
        kept = say("and").join(one.describe() for one in keep)
        rows.append(
            [
                ", ".join((" + " if _moves_together(s) else ", ").join(_with_values(s, release)) for s, _ in group),
                perturb.describe(),
                say("within-kept", within=within, kept=kept) if kept else within,
                *(_span([getattr(f, name) for f in facts], subject.rules) for name in ("count", "smallest", "median")),
            ]
        )
    head = ("columns", "each-value-is", "within", "cells", "smallest", "median")
    yield listing(say("step-table"), tuple(say(f"step-table-{name}") for name in head), rows)
    yield from _no_values(release)


def _dealt(subject: ReportContext, release: Release) -> Iterator[Part | None]:
    """The order of dealing; for readers of the plan the leaves of each column's trees, too."""
    steps = [step for step in release.plan.steps if _with_values(step, release)]
    yield Words(
        say("dealt", target=release.plan.target, has_target="yes" if release.plan.target else "no"), tone="lead"
    )
    share = shared_by(release)
    if share > 1 and not all(release.table[name].is_category for step in steps for name in step.columns):
        yield Words(say("dealt-shared", rows=share))
    if subject.show_plan:
        yield Words(say("dealt-price"))
        facts = {fact.columns: fact for fact in release.cells}
        rows = [_dealt_row(release, number, step, facts[step.columns]) for number, step in enumerate(steps, 1)]
        head = ("columns", "tests", "leaves", "smallest", "price")
        note = say("dealt-table-note", blocks="yes" if any(len(step.columns) > 1 for step in steps) else "no")
        yield listing(say("dealt-table"), tuple(say(f"dealt-table-{name}") for name in head), rows, note)
    yield from _no_values(release)


def _rules(subject: ReportContext, release: Release) -> Iterator[Part | None]:
    """How many rows keep each rule between columns; outside, rules that name no level, and released rows only."""
    shown = [fact for fact in release.rules if subject.internal or fact.is_public]
    head = ("rule", *(("origin", "before") if subject.internal else ()), "after")
    rows = []
    for fact in shown:
        inside = [say("rule-origin", found="yes" if fact.found else "no"), subject.rules.kept(fact.before)]
        rows.append([fact.text, *(inside if subject.internal else ()), subject.rules.kept(fact.after)])
    yield listing(say("rule-table"), tuple(say(f"rule-table-{name}") for name in head), rows, say("rule-table-note"))


def _proved(release: Release) -> Iterator[Part]:
    """What is proved where every column was dealt, and what the proof assumes."""
    if release.statement is not None:
        proved = release.statement.published
        yield Heading(say("proved"))
        yield Bullets(proved.sentences)
        yield Words(say("proved-assumptions", assumptions=" ".join(proved.assumptions)))


def _dealt_row(release: Release, number: int, step: Step, fact: CellFact) -> list[str | Cell]:
    stages = release.partitions[step.within].stages
    inner = sum(len(np.unique(stage.leaf)) for stage in stages[1:] if stage.trees.attributes)
    price = getattr(step.within, "price", None)
    return [
        say("dealt-column", number=number, columns=" + ".join(_with_values(step, release))),
        listed(tested_columns(release, step), most=6) if stages else say("dealt-whole"),
        Cell(f"{fact.count:,}", say("dealt-inner", leaves=inner) if inner else ""),
        f"{fact.smallest:,}",
        NONE if price is None else f"{price:g}",
    ]


def tested_columns(release: Release, step: Step) -> list[str]:
    """The columns that the trees of a dealt step test."""
    stages = release.partitions[step.within].stages
    return list(dict.fromkeys(name for stage in stages for name in stage.trees.names))


def shared_by(release: Release) -> int:
    """How many rows hold a number at least, where numbers were dealt; 1 if they were not shared."""
    return min((getattr(s.perturb, "share", 1) for s in release.plan.steps if not s.perturb.descends), default=1)


def _with_values(step: Step, release: Release) -> list[str]:
    return [name for name in step.columns if name not in release.no_values]


def _no_values(release: Release) -> Iterator[Part]:
    if release.no_values:
        yield Words(say("no-values", columns=", ".join(release.no_values)))


def _within(step: Step, target: str) -> str:
    """Where a step works; a column's own tree is the same place for every column."""
    return step.within.describe(own=step.columns[0] if len(step.columns) == 1 and step.columns[0] != target else None)


def _span(figures: list[int], voice: DisclosureRules) -> str:
    ends = list(dict.fromkeys(voice.count(figure) for figure in (min(figures), max(figures))))
    return say("to").join(ends)


def _moves_together(step: Step) -> bool:
    return step.perturb.moves_rows and len(step.columns) > 1


def _ways(subject: ReportContext, release: Release) -> Iterator[Part]:
    """The same without a plan: which columns were changed in which way."""
    found: dict[str, list[str]] = defaultdict(list)
    for step in release.plan.steps:
        if names := _with_values(step, release):
            found[step.perturb.describe(detailed=False)] += names
    if release.cells:
        smallest = subject.rules.count(min(fact.smallest for fact in release.cells))
        median = subject.rules.count(min(fact.median for fact in release.cells))
        yield Words(say("cells-in-words", smallest=smallest, median=median), tone="lead")
    yield Bullets(tuple(say("column-way", columns=", ".join(names), way=way) for way, names in found.items()))
    yield from _no_values(release)


def _trees(subject: ReportContext, release: Release) -> Iterator[Part | None]:
    others = [tree for tree in release.trees if tree not in subject.forest]
    if len(others) > 1 or (others and subject.guide is None):
        inside = subject.internal
        yield listing(
            say("tree-table"),
            (say("tree-table-target"), *([say("tree-table-leaves")] if inside else []), say("tree-table-kept")),
            [[t.target, *([f"{t.leaves:,}"] if inside else []), subject.rules.kept(t.kept)] for t in others],
        )


# One column in words.


def dealt_words(release: Release, step: Step, name: str) -> str:
    """Where one column was dealt, in a sentence."""
    partners = [other for other in step.columns if other != name]
    return say(
        "column-dealt",
        whole="no" if release.partitions[step.within].stages else "yes",
        leaves=release.partitions[step.within].cells.count,
        tests=listed(tested_columns(release, step), most=4),
        together="yes" if partners else "no",
        partners=listed(partners, most=4),
    )


def column_words(step: Step | None, name: str, *, own: str, detailed: bool, placed: bool) -> str:
    """What happened to one column, in a sentence; ``placed`` adds within which cells.

    ``own`` is the column whose tree is called its own tree; empty for the target, whose tree has a name.
    """
    if step is None:
        return say("unchanged")
    partners = [other for other in step.columns if other != name] if step.perturb.moves_rows else []
    what = started(step.perturb.describe(detailed=detailed))
    if detailed and partners:
        what = say("together-with", what=what, partners=listed(partners, most=4))
    return say("placed", what=what, within=step.within.describe(own=own or None)) if placed else f"{what}."


def why_fixed(release: Release, column: Column, *, detailed: bool) -> str:
    """Why values of a column could not change."""
    step = next((step for step in release.plan.steps if column.name in step.columns), None)
    known = column.values[~column.missing]
    if not len(known) or bool((known == known[0]).all()):
        return say("fixed-constant")
    if step is None:
        return say("fixed-unchanged")
    if np.unique(known, return_counts=True)[1].max() >= COMMON * len(known):
        return say("fixed-common")
    trees = [t for one in step.partitions for t in release.partitions[one].trees if t.answers]
    asked = [t.target for t in trees if any(t.attributes[a].name == column.name for a in set(t.tested[t.tested >= 0]))]
    if detailed and asked:
        return say("fixed-by-tree", target=asked[0])
    return step.perturb.why_fixed
