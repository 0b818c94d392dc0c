"""Whom the release still shows: what attackers find, what did not move."""

from collections.abc import Iterator

from leafcover.measuring.figures import Risk
from leafcover.measuring.measures import Measures
from leafcover.measuring.risk.informed import Crowd, Informed
from leafcover.releasing.reporting.attacks import attacks, by_column
from leafcover.releasing.reporting.averages import averages
from leafcover.releasing.reporting.phrases import counted, curled
from leafcover.releasing.reporting.shapes import (
    Cell,
    Heading,
    Part,
    Section,
    Words,
    listing,
    section,
    span_words,
    strip,
    upper_end,
)
from leafcover.releasing.reporting.standards import standards
from leafcover.releasing.reporting.subject import Subject
from leafcover.releasing.reporting.unmoved import stuck, unmoved

TEN = 10  # rows or fewer, among which ten guesses are always right


def risks_section(subject: Subject) -> Section | None:
    """Attacks, most dangerous first; then what stayed."""
    measures = subject.measures
    parts: list[Part | None] = []
    if measures is None:
        parts.append(Words(f"How often people can be found {subject.untold}, so nothing here says that it is seldom."))
    else:
        parts += [*_linkage(subject, measures), *attacks(subject, measures)]
        if subject.internal:
            parts += [*by_column(subject, measures), *standards(subject, measures)]
    return section("risks", "Risks", *parts, *stuck(subject), *unmoved(subject), *averages(subject))


def _linkage(subject: Subject, measures: Measures) -> Iterator[Part | None]:
    risks, voice = measures.risks, subject.voice
    yield Words(
        "Every risk is a share of tries that succeed, with its 95% interval. A mean can hide a few people who are easy "
        "to find, so the 1% of people attacked most successfully stand beside it. Where a try either succeeds or "
        "fails, that is 100% as soon as one try in a hundred succeeds.",
        tone="lead",
    )
    yield Heading("Finding a person’s row")
    found = list(_linkages(measures))
    if not found:
        yield Words("It is not known which released row is whose, so no linkage could be scored.")
        return
    if (first := risks.informed) is not None and voice.tells(first.ten) and voice.rows > TEN:
        yield Words(
            f"Among the ten best guesses of the strongest attacker the right row stands in {voice.said(first.ten)} of "
            "cases"
            + (
                f"; in the middle case its place among all {voice.rows:,} is {first.median_rank:,.0f}. Whoever is "
                f"hidden worst has {counted(first.smallest_crowd, 'row')} that could be theirs."
                if subject.internal
                else "."
            )
        )
    ends = upper_end([risk for _, risk in found])
    yield listing(
        "Linkage",
        ("Attacker", span_words(ends), "Right", "Worst 1%", "Tries"),
        [_row(subject, name, risk, ends) for name, risk in found],
        f"A blind guess is right once in {voice.rows:,}. Who pairs a sample has fewer rows to choose from, so that "
        "figure is too high for a larger table.",
    )
    if subject.internal and risks.informed is not None:
        yield _crowds(subject, risks.informed)


def _linkages(measures: Measures) -> Iterator[tuple[str, Risk]]:
    risks = measures.risks
    if risks.informed is not None:
        yield f"Informed: knows the law of the noise ({_law(risks.informed)})", risks.informed.first
    if risks.learned is not None and risks.learned is not risks.informed:
        yield f"Informed: knows the law of the noise ({_law(risks.learned)})", risks.learned.first
    if (linkage := risks.linkage) is not None:
        yield "Takes the released row most like the person", linkage.nearest
        yield "Looks at the two released rows most like the person", linkage.second
        if linkage.optimal is not None:
            yield "Pairs a sample of people with their rows as a whole, so that all fit best", linkage.optimal


def _law(found: Informed) -> str:
    return curled(found.law)


def _row(subject: Subject, name: str, risk: Risk, ends: tuple[float, float]) -> list[str | Cell]:
    value, interval = subject.voice.risk(risk)
    shown = subject.voice.draws(risk.value, risk.tries)
    dots = strip(subject.voice.drawn(risk), f"{value}, interval {interval}", ends) if shown else None
    return [
        name,
        Cell("", strip=dots),
        Cell(value, interval),
        subject.voice.worst(risk) or "–",
        subject.voice.count(risk.tries),
    ]


def _crowds(subject: Subject, found: Informed) -> Part | None:
    """The same by how many rows could be a person's."""
    shown = [crowd for crowd in found.crowds if crowd.risk.tries]
    ends = upper_end([crowd.risk for crowd in shown])
    return listing(
        "Informed linkage by the size of the crowd",
        ("Rows that could be the person’s", span_words(ends), "Right", "Worst 1%", "People tried"),
        [_row(subject, _size(crowd), crowd.risk, ends) for crowd in shown],
        "The attacker can rule out every row outside the crowd for certain.",
    )


def _size(crowd: Crowd) -> str:
    if crowd.most is None:
        return f"{crowd.fewest} or more"
    return f"{crowd.fewest}" if crowd.most == crowd.fewest else f"{crowd.fewest} to {crowd.most}"
