"""What the release does not protect: what stays open by design, what did not change, what averages disclose."""

from collections.abc import Iterator

from leafcover.engine.run import FEWEST, Release
from leafcover.messages import catalogue
from leafcover.metrics.disclosure.interval_disclosure import Averages, Stayed, most_alike, most_dominated
from leafcover.perturb.base import FIXED_PROBABILITY
from leafcover.reporting.components import Cell, Heading, Part, Words, fold, listing
from leafcover.reporting.context import ReportContext, risk_cell
from leafcover.reporting.disclosure_rules import HIDDEN, DisclosureRules, listed, started
from leafcover.reporting.method import shared_by, why_fixed

MOST_COLUMNS = 40  # in a table
EXPOSED = 0.05  # a tail risk above this, and above twice the mean, is pointed out

say = catalogue("report_method")


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
    yield from _most_exposed(subject)
    yield say("all-but-one"), " ".join(_all_but_one(subject))


def _all_but_one(subject: ReportContext) -> Iterator[str]:
    yield say("all-but-one-text") if subject.descends else say("all-but-one-dealt")
    attacks = None if subject.measures is None else subject.measures.risks.informed_attacks
    if attacks is not None and attacks.background:
        yield say("all-but-one-measured")


def _item(message: str, *, text: str = "", **values: object) -> tuple[str, str]:
    """A heading and its sentence, from the catalogue."""
    return say(message), say(text or f"{message}-text", **values)


def _by_the_plan(subject: ReportContext, release: Release) -> Iterator[tuple[str, str]]:
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
    yield from _dealt(release)
    moved = [name for step in steps if step.perturb.moves_rows and step.perturb.descends for name in step.columns]
    if moved:
        every = len(moved) == len(release.table.names)
        yield _item("exact-counts", columns=say("every-column") if every else listed(moved, most=6))
    free = [step for step in steps if not step.perturb.uses_cells]
    if free:
        yield _item("free-noise", columns=listed([name for step in free for name in step.columns], most=6))
    kept = [step for step in steps if step.perturb.uses_cells and not step.perturb.moves_rows]
    if kept:
        named = listed([name for step in kept for name in step.columns], most=6)
        yield _item("domain", columns=named if free else say("changed-columns"))


def _dealt(release: Release) -> Iterator[tuple[str, str]]:
    """Columns that were dealt and whose counts are exact: categories, and numbers that were not shared."""
    dealt = [name for step in release.plan.steps if not step.perturb.descends for name in step.columns]
    exact = [name for name in dealt if release.table[name].is_category or shared_by(release) == 1]
    if exact:
        categories = [c.name for c in release.table if c.is_category]
        every = "every-column" if len(exact) == len(release.table.names) else "every-category"
        whole = set(exact) == set(categories) or every == "every-column"
        yield _item("exact-counts", text="exact-counts-dealt", columns=say(every) if whole else listed(exact, most=6))


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
