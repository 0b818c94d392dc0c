"""What the release does not hide: a few words and a sentence or two each, the worst first."""

from collections.abc import Iterator

from leafcover.engine.run import Release
from leafcover.metrics.disclosure.interval_disclosure import Averages, Stayed, most_alike, most_dominated
from leafcover.perturb.additive import Additive, Multiplicative
from leafcover.perturb.centroid import Centroid
from leafcover.perturb.shuffle import Shuffle
from leafcover.reporting.components import Cell, Heading, Part, Words, fold, listing
from leafcover.reporting.context import ReportContext, risk_cell
from leafcover.reporting.disclosure_rules import FEWEST, HIDDEN, DisclosureRules, counted, listed, started
from leafcover.reporting.method import why_pinned


def not_protected(subject: ReportContext) -> Iterator[tuple[str, str]]:
    """What is still open."""
    release = subject.release
    if subject.unprotected:
        names = listed(subject.unprotected, most=60)
        yield "Columns released unchanged", f"{names}: every value is the original one."
    if release is not None:
        yield from _by_the_plan(subject, release)
    else:
        yield from _by_the_pairs(subject)
    if subject.internal:
        yield from _told(subject)
    yield from leaks(subject)
    yield from _small_groups(subject)
    yield (
        "From someone who knows nearly everything",
        "This is not differential privacy. An attacker who knows every row but one can take away what they know and "
        "read much of the last row from what is left.",
    )


def _by_the_plan(subject: ReportContext, release: Release) -> Iterator[tuple[str, str]]:
    if release.kept_order:
        yield "The order of rows", "Rows stand in their original order, so the n-th row is still the n-th person."
    if not release.publishable:
        yield "The noise itself", "It was made with a seed, so it can be repeated and undone. It hides nothing."
    yield from _stuck(subject, release)
    yield from _small_cells(subject, release)
    yield from _missing(subject, release)
    yield from _exact(release)


def _stuck(subject: ReportContext, release: Release) -> Iterator[tuple[str, str]]:
    stuck = [f for f in release.columns if f.fixed > 0 and f.name not in release.unprotected]
    if stuck:
        worst = sorted(stuck, key=lambda f: -f.fixed)[:3]
        shares = ["" if subject.rules.suppressed else f" ({subject.rules.share(f.fixed)} of the rows)" for f in worst]
        named = listed([f"{f.name}{share}" for f, share in zip(worst, shares, strict=True)])
        yield (
            "Values that could not change",
            f"Where nearly everyone in a cell has the same value, a released value is as good as the original one. "
            f"Most of all in {named}.",
        )


def _small_cells(subject: ReportContext, release: Release) -> Iterator[tuple[str, str]]:
    voice = subject.rules
    if release.alone:
        yield (
            "Rows alone in their cell",
            f"{_part(voice, release.alone)} of the rows share their cell with nobody: what their leaf says of them is "
            "published.",
        )
    if pooled := max((c.pooled for c in release.cells), default=0):
        yield (
            "Rows in pools",
            f"{_part(voice, pooled / voice.rows)} of the rows stood in leaves, or where leaves meet, too few "
            "together to hide them, and were pooled with others. They may have changed their leaf.",
        )


def _part(voice: DisclosureRules, share: float) -> str:
    return "Some" if voice.suppressed else started(voice.share(share))


def _missing(subject: ReportContext, release: Release) -> Iterator[tuple[str, str]]:
    left = [
        name
        for step in release.plan.steps
        if not (isinstance(step.perturb, Shuffle) and step.perturb.missing == "moves")
        for name in step.columns
        if subject.pair.original[name].missing.sum() >= (1 if subject.internal else FEWEST)
    ]
    if left:
        yield (
            "Missing values",
            f"They stay with their row in {listed(left)}. Who knows what a person left out may use it.",
        )


def _exact(release: Release) -> Iterator[tuple[str, str]]:
    mixed = [name for step in release.plan.steps if isinstance(step.perturb, Shuffle) for name in step.columns]
    if mixed:
        which = "every column" if len(mixed) == len(release.table.names) else listed(mixed, most=6)
        yield (
            "Rare and extreme values",
            f"The values of {which} only changed places, so all counts are exact: a value that one person had is still "
            "in the table once, with another row of its cell or the same one.",
        )
    free = [s for s in release.plan.steps if isinstance(s.perturb, Additive | Multiplicative)]
    if free:
        yield (
            "Extreme values",
            f"Noise was added to {listed([name for step in free for name in step.columns], most=6)} or multiplied in, "
            "each value on its own: a row stays near where it was, and an extreme value stays extreme.",
        )
    kept = [s for s in release.plan.steps if s not in free and not isinstance(s.perturb, Shuffle)]
    if kept:
        named = listed([name for step in kept for name in step.columns], most=6)
        which = named if free else "Columns that were moved or drawn anew"
        yield (
            "The range of values",
            f"{which} still use only values between the lowest and the highest original one, and only categories that "
            "occurred.",
        )


def _by_the_pairs(subject: ReportContext) -> Iterator[tuple[str, str]]:
    """What can be said of a table from elsewhere."""
    if subject.measures is None:
        yield "What stayed", f"How many values stayed {subject.absence_text}."
        return
    unmoved = subject.measures.risks.unmoved
    if unmoved is None:
        yield "What stayed", "It is not known which released row is whose, so nobody can say which values stayed."
        return
    voice = subject.rules
    worst = voice.worst(unmoved.values)
    yield (
        "Values that stayed",
        f"{started(voice.format_risk(unmoved.values))} of a row’s values are still its own"
        + (f", in the worst 1% of the rows {worst}" if worst not in ("", HIDDEN) else "")
        + f"; {voice.format_risk(unmoved.whole)} of the rows did not change at all.",
    )
    left = [c.column for c in unmoved.columns if c.missing is not None and c.missing.value > 0.5]
    if left:
        yield "Missing values", f"Most of them stay with their row in {listed(left)}."


def _told(subject: ReportContext) -> Iterator[tuple[str, str]]:
    """What the released row as a whole tells of its own original."""
    rebuilt = None if subject.measures is None else subject.measures.risks.reconstruction
    column = None if rebuilt is None else rebuilt.most_told
    if column is None or column.best.low <= column.attack.baseline.high:
        return
    voice = subject.rules
    yield (
        "People whose released row is known",
        f"Who knows which row is a person’s reads {column.column} from it, of all columns furthest beyond guessing: "
        f"rightly in {voice.format_risk(column.best)} of cases; the commonest value would be right in "
        f"{voice.format_risk(column.attack.baseline)}.",
    )


def _small_groups(subject: ReportContext) -> Iterator[tuple[str, str]]:
    """People who are found far more easily than the mean says."""
    risk = subject.risk
    if risk is None:
        yield (
            "From someone who looks for a person",
            f"How often a person can be found {subject.absence_text}, so nothing here says that it is seldom.",
        )
    elif risk.worst > max(2 * risk.value, 0.05) and (worst := subject.rules.worst(risk)) not in ("", HIDDEN):
        yield (
            "The people easiest to find",
            f"Of the 1% of people who are found most easily, an informed attacker finds {worst}; of all people "
            f"{subject.rules.format_risk(risk)}.",
        )


# What did not move: values that stayed, and values that could not change.


MOST_UNCHANGED = 40  # columns in a table


def stuck(subject: ReportContext) -> Iterator[Part | None]:
    """What could not change, by the plan alone."""
    release, voice = subject.release, subject.rules
    if release is None or voice.suppressed:
        return
    yield Heading("What could not change")
    rows: list[list[str | Cell]] = []
    for fact in sorted(release.columns, key=lambda f: -f.fixed):
        bar = voice.bar(fact.fixed)
        if bar < 1:
            continue
        whole = fact.name in release.unprotected
        share = "100%" if whole else voice.share(fact.fixed)
        why = why_pinned(release, subject.pair.original[fact.name], detailed=subject.show_plan)
        rows.append([fact.name, Cell(share, bar=bar), "0%" if whole else voice.share(fact.changed), why])
    if not rows:
        yield Words("Nearly every value could change.")
        return
    averaged = all(isinstance(step.perturb, Centroid) for step in release.plan.steps)
    yield Words(
        "A value could not change when it is the average of its group. Nobody sees which of the group held it before, "
        "unless all of them did."
        if averaged
        else "A value is pinned when its row would have got it back with a probability of at least 95%: its cell holds "
        "hardly anything else. Whoever knows a person’s cell knows that value."
    )
    yield listing(
        "Columns with values that could not change",
        ("Column", "Could not change", "Changed", "Because"),
        rows[:MOST_UNCHANGED],
        "Columns that are not listed could change in nearly every row.",
    )


def unmoved(subject: ReportContext) -> Iterator[Part | None]:
    """What stayed, person by person."""
    found = None if subject.measures is None else subject.measures.risks.unmoved
    if found is None or not subject.internal:
        return
    voice = subject.rules
    said = [
        f"{started(voice.format_risk(found.values))} of a row’s values are unchanged, in the worst 1% of the rows "
        f"{voice.worst(found.values)}; {voice.format_risk(found.whole)} of the rows did not change at all."
    ]
    if found.single_cells is not None:
        said.append(f"{voice.share(found.single_cells)} of the rows stand alone in a cell.")
    if found.pure_cells is not None:
        said.append(f"The cell alone gives away the {subject.target} of {voice.share(found.pure_cells)} of the rows.")
    columns = sorted(found.columns, key=lambda one: one.chance - one.unchanged.value)[:MOST_UNCHANGED]
    yield fold(
        "What did not move, column by column",
        Words(" ".join(said)),
        listing(
            "What stayed",
            ("Column", "Unchanged", "By chance", "Could not change", "Known to lie within", "Missing that stayed"),
            [_row(subject, one) for one in columns],
            "By chance: had the column been dealt out at random. Known to lie within: the part of the column’s range "
            "that the plan alone leaves open, on average; 0% says that the value is known.",
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
        "none missing" if one.missing is None else risk_cell(subject, one.missing),
    ]


# What the averages of small groups give away.


MOST_AVERAGED = 40  # columns in a table


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
    yield fold(
        "What averages give away, column by column",
        *(Words(_groups(subject, step)) for step in found),
        listing(
            "What averages give away",
            ("Column", "In groups of one value", "In groups one row makes up", "Fewest values in an average"),
            rows[:MOST_AVERAGED],
            "In groups of one value the average is everybody’s own value. A row makes up a group when more than half "
            "of the sum of its values, whatever their sign, is its own: the average then tells roughly what it has. "
            "The fewest values count rows of a group that have a value; groups with too few were averaged together.",
        ),
    )


def leaks(subject: ReportContext) -> Iterator[tuple[str, str]]:
    """What averages do not protect, in a sentence or two."""
    found = () if subject.measures is None else subject.measures.risks.averages
    if not found:
        return
    share = subject.rules.share
    others = subject.rules.count(min(step.smallest for step in found) - 1)
    exactly = "exactly" if all(step.means for step in found) else "exactly or nearly so, since some are medians"
    told = (
        f"All others of a group who put their values together learn the last one’s {exactly}; in the smallest groups "
        f"that takes {others} people."
    )
    if parted := max(step.parted for step in found):
        told += (
            f" Missing stays missing: {share(parted)} of the rows can be told from others of their group by what they "
            "miss, so that fewer stand together than the group has."
        )
    if (one := most_alike(found)).alike:
        told += (
            f" {share(one.alike)} of the rows stand in a group with one value of {one.column}: the average is theirs."
        )
    if (one := most_dominated(found)).dominated:
        told += f" {share(one.dominated)} stand in a group in which one row makes most of the average of {one.column}."
    yield "Averages of few people", told


def _groups(subject: ReportContext, step: Averages) -> str:
    return (
        f"{listed([one.column for one in step.columns], most=6)}: {counted(step.groups, 'group')} of {step.smallest:,} "
        f"rows at least, {step.median:,} in the middle; {subject.rules.share(step.at_smallest)} of the rows stand in a "
        "group of the smallest size."
    )
