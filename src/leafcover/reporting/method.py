"""How the release was made, and what that does not protect.

The section on the method: steps, cells, trees, and the plan as a file, as far as the reader may see them. Then, for the
summary and the section on risks, what stays open by design, what did not change, and what averages disclose.
"""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from leafcover.engine.run import FEWEST, CellFact, Release
from leafcover.engine.statement import RuleFact, assumed, reversible_columns
from leafcover.messages import catalogue
from leafcover.metrics.disclosure.interval_disclosure import Averages, Stayed, most_alike, most_dominated
from leafcover.perturb.base import FIXED_PROBABILITY
from leafcover.recipes.plan import Step
from leafcover.recipes.plan_file import plan_text
from leafcover.reporting.components import Bullets, Cell, Heading, Part, Section, Text, Words, fold, listing, section
from leafcover.reporting.context import ReportContext, risk_cell
from leafcover.reporting.disclosure_rules import HIDDEN, NONE, DisclosureRules, listed, started
from leafcover.table.table import Column

COMMON = 0.8  # a value that this share of all rows has is common in the whole table
MOST_COLUMNS = 40  # in a table
EXPOSED = 0.05  # a tail risk above this, and above twice the mean, is pointed out

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
        *_recodings(subject, release),
        *_promises(release),
        *_rules(subject, release),
        *_proved(release),
        Heading(say("limits")) if release.limits is not None else None,
        Bullets(release.limits.sentences) if release.limits is not None else None,
        Heading(say("warnings")) if warned else None,
        Bullets(release.warnings) if warned else None,
        fold(say("plan-file"), Text(say("plan"), _plan(subject, release))) if subject.show_plan else None,
    )


def _plan(subject: ReportContext, release: Release) -> str:
    """The plan file; in an external report without the names of rare levels, which were pooled for that."""
    if subject.internal:
        return plan_text(release.plan)
    plan = release.plan.published
    return plan_text(plan.replaced(pools=[replace(one, levels=(say("rare-levels"),)) for one in plan.pools]))


def _recodings(subject: ReportContext, release: Release) -> Iterator[Part | None]:
    """What happened to values before any step, in this order."""
    shown = release.plan.recode if subject.internal else release.plan.published.recode
    rows: list[list[str | Cell]] = [[", ".join(one.columns), one.describe()] for one in shown]
    yield listing(say("recode-table"), (say("recode-table-columns"), say("recode-table-values")), rows)


def recoded_words(release: Release, name: str) -> str:
    """How a column was recoded, in a sentence; nothing if it was not."""
    ways = [one.describe(detailed=False) for one in release.plan.recode if name in one.columns]
    return say("recoded", ways=say("and").join(ways)) if ways else ""


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
    if (units := release.plan.units) is not None:
        example = next((units.columns_at(name)[-1] for name in (*units.varying, *units.rising)), units.size)
        figures = {"count": len(release.step_table), "most": units.most}
        yield Words(say("units", unit=units.unit, **figures, example=example))
    share = shared_by(release)
    if share > 1 and not all(release.step_table[name].is_category for step in steps for name in step.columns):
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
    head = ("rule", "origin", "way", *(("before",) if subject.internal else ()), "after")
    rows: list[list[str | Cell]] = []
    for fact in shown:
        words: list[str | Cell] = [
            say("rule-origin", found="yes" if fact.found else "no"),
            say("rule-way", way=fact.way),
        ]
        broken = say("rule-broken", rows=fact.broken) if subject.internal and fact.broken else ""
        before = [_kept(subject, fact, fact.before)] if subject.internal else []
        rows.append([fact.text, *words, *before, Cell(_kept(subject, fact, fact.after), broken)])
    yield listing(say("rule-table"), tuple(say(f"rule-table-{name}") for name in head), rows, say("rule-table-note"))


def _kept(subject: ReportContext, fact: RuleFact, share: float) -> str:
    """A share of the rows that a rule applies to."""
    return replace(subject.rules, rows=fact.rows).kept(share)


def _promises(release: Release) -> Iterator[Part | None]:
    """What holds of each column as a whole, columns with the same promise together."""
    same: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for name, words in release.promises.items():
        if name not in release.no_values:
            same[words].append(name)
    told = [[", ".join(names), " ".join(say("promise", word=word) for word in words)] for words, names in same.items()]
    head = tuple(say(f"promise-table-{name}") for name in ("columns", "promise"))
    yield listing(say("promise-table"), head, told)


def _proved(release: Release) -> Iterator[Part]:
    """What is proved where every column was dealt, and what the proof assumes."""
    if release.statement is not None:
        proved = release.statement.published
        yield Heading(say("proved"))
        yield Bullets(proved.sentences)
        yield Words(say("proved-assumptions", assumptions=" ".join(assumed(proved, release.plan.weights))))


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


def words_without_step(release: Release, name: str) -> str:
    """What happened to a column that no step names: it has a place in each row of a unit, or is computed."""
    units = release.plan.units
    if units is not None and name in (*units.member_constant, *units.rising, *units.varying):
        places = units.columns_at(name)
        rising = "yes" if name in units.rising else "no"
        return say("column-of-rows", first=places[0], last=places[-1], places=len(places), rising=rising)
    words = release.promises.get(name, ())
    return say("unchanged") if words in ((), ("unchanged",)) else " ".join(say("promise", word=word) for word in words)


def column_words(step: Step, name: str, *, own: str, detailed: bool, placed: bool) -> str:
    """What happened to one column, in a sentence; ``placed`` adds within which cells.

    ``own`` is the column whose tree is called its own tree; empty for the target, whose tree has a name.
    """
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


# What the release does not protect.


def not_protected(subject: ReportContext) -> Iterator[tuple[str, str]]:
    """What is still open: a few words and a sentence or two each, the worst first."""
    release = subject.release
    if subject.unprotected:
        yield _item("columns-unchanged", columns=listed(subject.unprotected, most=60))
    if release is not None:
        yield from _by_the_plan(subject, release)
    else:
        yield from _by_the_pairs(subject)
    if subject.internal:
        yield from _reconstructed(subject)
    yield from leaks(subject)
    yield from _homogeneous(subject)
    yield from _most_exposed(subject)
    yield say("all-but-one"), " ".join(_all_but_one(subject))


def _homogeneous(subject: ReportContext) -> Iterator[tuple[str, str]]:
    """Groups of which everybody has the same sensitive value; those of the original are for the steward alone."""
    if subject.measures is None or subject.rules.suppressed:
        return
    risks, rules = subject.measures.risks, subject.rules
    for after, before in zip(risks.k_anonymity_of_release.homogeneous, risks.k_anonymity.homogeneous, strict=True):
        yield (
            say("homogeneous", column=after.column),
            say(
                "homogeneous-text",
                column=after.column,
                known=listed(after.quasi_identifiers, most=6),
                people=rules.count(after.people),
                share=rules.share(after.people / max(after.of, 1)),
                alone=rules.count(after.alone),
                original="yes" if subject.internal else "no",
                before=before.people,
                before_alone=before.alone,
            ),
        )


def _all_but_one(subject: ReportContext) -> Iterator[str]:
    yield say("all-but-one-text") if subject.descends else say("all-but-one-dealt")
    attacks = None if subject.measures is None else subject.measures.risks.informed_attacks
    if attacks is not None and attacks.background:
        yield say("all-but-one-measured")


def _item(message: str, *, text: str = "", **values: object) -> tuple[str, str]:
    """A heading and its sentence, from the catalogue."""
    return say(message), say(text or f"{message}-text", **values)


def _by_the_plan(subject: ReportContext, release: Release) -> Iterator[tuple[str, str]]:
    if names := reversible_columns(release.plan):
        yield _item("reversible", columns=listed(names, most=60))
    if release.kept_order:
        yield _item("row-order")
    if not release.publishable:
        yield _item("seed")
    yield from _fixed(subject, release)
    yield from _small_cells(subject, release)
    yield from _missing(subject, release)
    yield from _exact(release)


def _fixed(subject: ReportContext, release: Release) -> Iterator[tuple[str, str]]:
    fixed = [f for f in release.columns if f.fixed > 0 and f.name not in release.unprotected]
    if fixed:
        worst = sorted(fixed, key=lambda f: -f.fixed)[:3]
        named = [
            f.name
            if subject.rules.suppressed
            else say("fixed-values-column", column=f.name, share=subject.rules.share(f.fixed))
            for f in worst
        ]
        yield _item("fixed-values", columns=listed(named))


def _small_cells(subject: ReportContext, release: Release) -> Iterator[tuple[str, str]]:
    voice = subject.rules
    if release.singletons:
        yield _item("singletons", share=_share(voice, release.singletons))
    if pooled := max((c.pooled for c in release.cells), default=0):
        yield _item("pooled", share=_share(voice, pooled / voice.rows))


def _share(voice: DisclosureRules, share: float) -> str:
    return say("some") if voice.suppressed else started(voice.share(share))


def _missing(subject: ReportContext, release: Release) -> Iterator[tuple[str, str]]:
    left = [
        name
        for step in release.plan.steps
        if not step.perturb.moves_missing
        for name in step.columns
        if subject.pair.original[name].missing.sum() >= (1 if subject.internal else FEWEST)
    ]
    if left:
        yield _item("missing", columns=listed(left))


def _exact(release: Release) -> Iterator[tuple[str, str]]:
    steps = release.plan.steps
    yield from _exactly_dealt(release)
    moved = [name for step in steps if step.perturb.moves_rows and step.perturb.descends for name in step.columns]
    if moved:
        every = len(moved) == len(release.step_table.names)
        yield _item("exact-counts", columns=say("every-column") if every else listed(moved, most=6))
    free = [step for step in steps if not step.perturb.uses_cells]
    if free:
        yield _item("free-noise", columns=listed([name for step in free for name in step.columns], most=6))
    kept = [step for step in steps if step.perturb.uses_cells and not step.perturb.moves_rows]
    if kept:
        named = listed([name for step in kept for name in step.columns], most=6)
        yield _item("domain", columns=named if free else say("changed-columns"))


def _exactly_dealt(release: Release) -> Iterator[tuple[str, str]]:
    """Columns that were dealt and whose counts are exact: categories, and numbers that were not shared."""
    dealt = [name for step in release.plan.steps if not step.perturb.descends for name in step.columns]
    exact = [name for name in dealt if release.step_table[name].is_category or shared_by(release) == 1]
    if exact:
        categories = [c.name for c in release.step_table if c.is_category]
        every = "every-column" if len(exact) == len(release.step_table.names) else "every-category"
        whole = set(exact) == set(categories) or every == "every-column"
        columns = say(every) if whole else listed(exact, most=6)
        units = release.plan.units
        shown = {name if units is None else units.column_of(name) for name in exact} & {*release.table.names}
        if any(_has_rare_values(release.table[name]) for name in shown):
            yield _item("exact-counts", text="exact-counts-dealt", columns=columns)
        else:
            yield _item("exact-shared-counts", columns=columns, fewest=FEWEST)


def _has_rare_values(column: Column) -> bool:
    """Whether fewer rows than are published hold a value."""
    known = column.values[~column.missing]
    return bool(np.unique(known, return_counts=True)[1].min(initial=FEWEST) < FEWEST)


def _by_the_pairs(subject: ReportContext) -> Iterator[tuple[str, str]]:
    """What can be said of a table from elsewhere."""
    if subject.measures is None:
        yield _item("stayed", text="stayed-not-measured", reason=subject.absence_text)
        return
    unmoved = subject.measures.risks.unmoved
    if unmoved is None and not subject.descends:
        return
    if unmoved is None:
        yield _item("stayed", text="stayed-no-pairs")
        return
    voice = subject.rules
    values, whole = started(voice.format_risk(unmoved.values)), voice.format_risk(unmoved.whole)
    yield _item("stayed", values=values, whole=whole)
    left = [c.column for c in unmoved.columns if c.missing is not None and c.missing.value > 0.5]
    if left:
        yield _item("missing", text="missing-most-text", columns=listed(left))


def _reconstructed(subject: ReportContext) -> Iterator[tuple[str, str]]:
    """What the released row as a whole shows of its own original."""
    rebuilt = None if subject.measures is None else subject.measures.risks.reconstruction
    column = None if rebuilt is None else rebuilt.most_told
    if column is None or column.best.low <= column.attack.baseline.high:
        return
    voice = subject.rules
    yield _item(
        "reconstruction",
        column=column.column,
        success=voice.format_risk(column.best),
        baseline=voice.format_risk(column.attack.baseline),
    )


def _most_exposed(subject: ReportContext) -> Iterator[tuple[str, str]]:
    """People who are re-identified far more easily than the mean says."""
    risk = subject.risk
    if risk is None and not subject.descends:
        return
    if risk is None:
        yield _item("linkage", text="linkage-not-measured", reason=subject.absence_text)
    elif risk.worst > max(2 * risk.value, EXPOSED) and (worst := subject.rules.worst(risk)) not in ("", HIDDEN):
        yield _item("tail-risk", tail=worst, risk=subject.rules.format_risk(risk))


# Values that could not change, and values that did not.


def stuck(subject: ReportContext) -> Iterator[Part | None]:
    """What could not change, by the plan alone."""
    release, voice = subject.release, subject.rules
    if release is None or voice.suppressed or not subject.descends:
        return
    yield Heading(say("fixed-heading"))
    rows: list[list[str | Cell]] = []
    for fact in sorted(release.columns, key=lambda f: -f.fixed):
        bar = voice.bar(fact.fixed)
        if bar < 1:
            continue
        whole = fact.name in release.unprotected
        share = "100%" if whole else voice.share(fact.fixed)
        why = why_fixed(release, subject.pair.original[fact.name], detailed=subject.show_plan)
        rows.append([fact.name, Cell(share, bar=bar), "0%" if whole else voice.share(fact.changed), why])
    if not rows:
        yield Words(say("fixed-none"))
        return
    averaged = all(step.perturb.average is not None for step in release.plan.steps)
    defined = say("fixed-averages") if averaged else say("fixed-definition", probability=f"{FIXED_PROBABILITY:.0%}")
    yield Words(defined)
    head = tuple(say(f"fixed-table-{name}") for name in ("column", "fixed", "changed", "because"))
    yield listing(say("fixed-table"), head, rows[:MOST_COLUMNS], say("fixed-table-note"))


def unmoved(subject: ReportContext) -> Iterator[Part | None]:
    """What stayed, person by person."""
    found = None if subject.measures is None else subject.measures.risks.unmoved
    if found is None or not subject.internal:
        return
    voice = subject.rules
    values, whole = started(voice.format_risk(found.values)), voice.format_risk(found.whole)
    lines = [say("stayed-rows", values=values, whole=whole)]
    if found.single_cells is not None:
        lines.append(say("stayed-singletons", share=voice.share(found.single_cells)))
    if found.pure_cells is not None:
        lines.append(say("stayed-pure", target=subject.target, share=voice.share(found.pure_cells)))
    columns = sorted(found.columns, key=lambda one: one.chance - one.unchanged.value)[:MOST_COLUMNS]
    names = ("column", "unchanged", "chance", "fixed", "range", "missing")
    yield fold(
        say("stayed-fold"),
        Words(" ".join(lines)),
        listing(
            say("stayed-table"),
            tuple(say(f"stayed-table-{name}") for name in names),
            [_row(subject, one) for one in columns],
            say("stayed-table-note"),
        ),
    )


def _row(subject: ReportContext, one: Stayed) -> list[str | Cell]:
    share = subject.rules.share
    return [
        one.column,
        risk_cell(subject, one.unchanged),
        share(one.chance),
        "–" if one.fixed is None else share(one.fixed),
        "–" if one.width is None else share(one.width),
        say("none-missing") if one.missing is None else risk_cell(subject, one.missing),
    ]


# What averages of small groups disclose.


def averages(subject: ReportContext) -> Iterator[Part | None]:
    """Group by group, for the steward."""
    found = () if subject.measures is None else subject.measures.risks.averages
    if not found or not subject.internal:
        return
    rows: list[list[str | Cell]] = [
        [one.column, subject.rules.share(one.alike), subject.rules.share(one.dominated), f"{one.smallest:,}"]
        for step in found
        for one in step.columns
    ]
    head = tuple(say(f"averages-table-{name}") for name in ("column", "equal", "dominated", "fewest"))
    yield fold(
        say("averages-fold"),
        *(Words(_groups(subject, step)) for step in found),
        listing(say("averages-table"), head, rows[:MOST_COLUMNS], say("averages-table-note")),
    )


def leaks(subject: ReportContext) -> Iterator[tuple[str, str]]:
    """What averages do not protect, in a sentence or two."""
    found = () if subject.measures is None else subject.measures.risks.averages
    if not found:
        return
    share = subject.rules.share
    others = subject.rules.count(min(step.smallest for step in found) - 1)
    lines = [say("averages-collusion", exact="yes" if all(step.means for step in found) else "no", others=others)]
    if split := max(step.split_by_missingness for step in found):
        lines.append(say("averages-missing", share=share(split)))
    if (one := most_alike(found)).alike:
        lines.append(say("averages-equal", share=share(one.alike), column=one.column))
    if (one := most_dominated(found)).dominated:
        lines.append(say("averages-dominated", share=share(one.dominated), column=one.column))
    yield say("averages"), " ".join(lines)


def _groups(subject: ReportContext, step: Averages) -> str:
    return say(
        "averages-groups",
        columns=listed([one.column for one in step.columns], most=6),
        groups=step.groups,
        smallest=step.smallest,
        median=step.median,
        share=subject.rules.share(step.at_smallest),
    )
