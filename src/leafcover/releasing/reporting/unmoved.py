"""What did not move: values that stayed, and values that could not change."""

from collections.abc import Iterator

from leafcover.measuring.risk.unmoved import Stayed
from leafcover.noise.centroid import Centroid
from leafcover.releasing.reporting.attacks import risk_cell
from leafcover.releasing.reporting.phrases import started
from leafcover.releasing.reporting.shapes import Cell, Heading, Part, Words, fold, listing
from leafcover.releasing.reporting.subject import Subject
from leafcover.releasing.reporting.wording import why_pinned

MOST = 40  # columns in a table


def stuck(subject: Subject) -> Iterator[Part | None]:
    """What could not change, by the plan alone."""
    release, voice = subject.release, subject.voice
    if release is None or voice.silent:
        return
    yield Heading("What could not change")
    rows: list[list[str | Cell]] = []
    for fact in sorted(release.columns, key=lambda f: -f.pinned):
        bar = voice.bar(fact.pinned)
        if bar < 1:
            continue
        whole = fact.name in release.unprotected
        share = "100%" if whole else voice.share(fact.pinned)
        why = why_pinned(release, subject.pair.original[fact.name], detailed=subject.opened)
        rows.append([fact.name, Cell(share, bar=bar), "0%" if whole else voice.share(fact.changed), why])
    if not rows:
        yield Words("Nearly every value could change.")
        return
    averaged = all(isinstance(step.noise, Centroid) for step in release.plan.steps)
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
        rows[:MOST],
        "Columns that are not listed could change in nearly every row.",
    )


def unmoved(subject: Subject) -> Iterator[Part | None]:
    """What stayed, person by person."""
    found = None if subject.measures is None else subject.measures.risks.unmoved
    if found is None or not subject.internal:
        return
    voice = subject.voice
    said = [
        f"{started(voice.said(found.values))} of a row’s values are unchanged, in the worst 1% of the rows "
        f"{voice.worst(found.values)}; {voice.said(found.whole)} of the rows did not change at all."
    ]
    if found.single_cells is not None:
        said.append(f"{voice.share(found.single_cells)} of the rows stand alone in a cell.")
    if found.pure_cells is not None:
        said.append(f"The cell alone gives away the {subject.target} of {voice.share(found.pure_cells)} of the rows.")
    columns = sorted(found.columns, key=lambda one: one.chance - one.unchanged.value)[:MOST]
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


def _row(subject: Subject, one: Stayed) -> list[str | Cell]:
    share = subject.voice.share
    return [
        one.column,
        risk_cell(subject, one.unchanged),
        share(one.chance),
        "–" if one.pinned is None else share(one.pinned),
        "–" if one.width is None else share(one.width),
        "none missing" if one.missing is None else risk_cell(subject, one.missing),
    ]
