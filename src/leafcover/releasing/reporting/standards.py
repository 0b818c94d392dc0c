"""The standard figures of disclosure control: of the original's keys, and of the pair."""

from collections.abc import Iterator
from math import isnan

from leafcover.measuring.measures import Measures
from leafcover.measuring.risk.distances import Low
from leafcover.measuring.risk.keys import RULES, KeyClasses
from leafcover.releasing.reporting.attacks import risk_cell
from leafcover.releasing.reporting.phrases import curled, listed, started
from leafcover.releasing.reporting.shapes import Cell, Part, Words, fold, listing
from leafcover.releasing.reporting.subject import Subject


def standards(subject: Subject, measures: Measures) -> Iterator[Part | None]:
    """All of them, folded away."""
    risks = measures.risks
    keys = listed(measures.keys, most=6)
    yield fold(
        "Standard figures: k, l, t, special uniques, individual risk",
        Words(
            f"Of rows with the same key; the key columns are {keys}." if measures.keys else "There is no key column."
        ),
        listing(
            "Keys",
            ("Figure", "Original", _heading(risks.keys_of_release)),
            [*_anonymity(subject, risks.keys, risks.keys_of_release), *_sameness(subject, measures)],
            curled(risks.keys_of_release.why),
        ),
        _people(subject, measures),
    )
    yield fold("Distances between released and original rows", _distances(subject, measures))


def _heading(found: KeyClasses) -> str:
    return f"Release ({found.label})" if found.label else "Release"


def _anonymity(subject: Subject, before: KeyClasses, after: KeyClasses) -> Iterator[list[str | Cell]]:
    for one, other in zip(before.anonymity, after.anonymity, strict=True):
        yield [
            Cell("k: the fewest rows that share a key", RULES[one.rule]),
            f"{one.smallest:,}",
            Cell(f"{other.smallest:,}", after.label),
        ]
        yield [
            Cell("Rows whose key nobody shares", RULES[one.rule]),
            risk_cell(subject, one.unique),
            _labelled(risk_cell(subject, other.unique), after.label),
        ]


def _labelled(cell: Cell, label: str) -> Cell:
    return Cell(cell.text, f"{cell.note}; {label}" if label else cell.note)


def _sameness(subject: Subject, measures: Measures) -> Iterator[list[str | Cell]]:
    before, after = measures.risks.keys, measures.risks.keys_of_release
    for one, other in zip(before.diversity, after.diversity, strict=True):
        yield [
            Cell("l: the fewest values in a class", one.column),
            Cell(f"{one.distinct:,}", f"{one.entropy:.1f} by entropy"),
            Cell(f"{other.distinct:,}", f"{other.entropy:.1f} by entropy; {after.label}".rstrip("; ")),
        ]
    for near, far in zip(before.closeness, after.closeness, strict=True):
        yield [
            Cell("t: the class most unlike the table", near.column),
            Cell(_figure(near.farthest), f"mean {_figure(near.mean)}; worst 1% {_figure(near.worst)}"),
            Cell(
                _figure(far.farthest),
                f"mean {_figure(far.mean)}; worst 1% {_figure(far.worst)}; {after.label}".rstrip("; "),
            ),
        ]


def _figure(value: float) -> str:
    return "–" if isnan(value) else f"{value:.3f}"


def _short(value: float) -> str:
    """A count or score without digits that say nothing."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def _people(subject: Subject, measures: Measures) -> Part | None:
    """What the original's keys alone say of people, had the table been published as it was."""
    risks = measures.risks
    special, people = risks.suda, risks.individual
    most = listed([one.column for one in special.contributions[:3]])
    few = f"alone on few columns; most by {most}" if special.contributions else "alone on few columns"
    rows: list[list[str | Cell]] = [
        ["Individual risk, on average", risk_cell(subject, people.risk), f"the {people.model} model"],
        ["Expected re-identifications", f"{people.expected:,.0f}", f"of {people.rows:,}, were everybody looked up"],
        ["People with a risk above 20%", risk_cell(subject, people.high), "fewer than five to hide among"],
        ["Special uniques", risk_cell(subject, special.special), few],
        [
            "Special uniques score",
            Cell(_short(special.mean), f"worst 1% {_short(special.worst)}"),
            f"ranks rows of one table; {curled(special.how)}",
        ],
    ]
    if (sers := risks.sers) is not None:
        rows.append(
            [
                "SERS: original rows as near as one’s own",
                Cell(f"{sers.share.value:.1%}", f"worst 1% {sers.worst:.1%}"),
                f"0% is bad; our definition; {curled(sers.how)}",
            ]
        )
    if (who := risks.candidates) is not None:
        rows.append(
            [
                "Original rows a released one may come from",
                Cell(_short(who.median), f"5th percentile {_short(who.fifth)}; worst 1% {_short(who.worst)}"),
                f"by the entropy of a posterior; {curled(who.how)}",
            ]
        )
    return listing("People", ("Figure", "Value", "How to read it"), rows, "The first five are of the original alone.")


def _distances(subject: Subject, measures: Measures) -> Part | None:
    found = measures.risks.distances

    def low(one: Low | None) -> Cell:
        return Cell("no control") if one is None else Cell(f"{one.fifth:.3f}", f"median {one.median:.3f}")

    rows: list[list[str | Cell]] = [
        ["DCR: distance to the closest original row, 5th percentile", low(found.closest), low(found.control_closest)],
        ["NNDR: nearest by second nearest distance, 5th percentile", low(found.ratio), low(found.control_ratio)],
        [
            "Rows equal to an original one",
            risk_cell(subject, found.copies),
            Cell("no control") if found.control_copies is None else risk_cell(subject, found.control_copies),
        ],
    ]
    note = "Small distances are no harm by themselves; much smaller ones than the control’s are. "
    note += f"{started(curled(found.how))}."
    if found.closer is not None:
        note += (
            f" Released rows are nearer to the original than to as many control rows in "
            f"{subject.voice.said(found.closer)} of cases; 50% is ideal."
        )
    return listing("Distances", ("Figure", "Released rows", "Control rows"), rows, note)
