"""Attacks on people in the release, on people who are not in it, and by guessing."""

from collections.abc import Iterator
from math import isnan

from leafcover.measuring.figures import Attack, Risk
from leafcover.measuring.measures import Measures
from leafcover.measuring.risk.inference import Inference
from leafcover.releasing.reporting.shapes import Cell, Heading, Part, Words, fold, listing
from leafcover.releasing.reporting.subject import Subject
from leafcover.releasing.reporting.voice import curled, listed

MOST = 40  # columns in a table


def attacks(subject: Subject, measures: Measures) -> Iterator[Part | None]:
    """The table of attacks, each with its control."""
    yield Heading("Learning about a person")
    control = (
        f"Control: {curled(measures.control)}."
        if measures.control != "no control"
        else "There is no control: no rows are known that were not released, so patterns cannot be told from people."
    )
    yield Words(
        "The same attack on people who are not in the release shows what patterns alone tell; only what lies above "
        f"that is owed to a person’s own row. {control}"
    )
    rows = [[Cell(name, what), *_cells(subject, attack)] for name, what, attack in _attacks(subject, measures)]
    yield listing(
        "Attacks",
        ("Attack", "People in the release", "People not in it", "By guessing", "Above control, points"),
        rows,
        "Small print: 95% interval, then the worst 1% of the people (or descriptions) tried.",
    )
    if (member := measures.risks.membership) is not None:
        voice = subject.voice
        yield Words(
            f"Whether somebody is in the release at all: of two people, one of them in it, the one nearer to a "
            f"released row is the right one in {voice.said(member.area)} of cases; 50% is a coin."
        )


def _attacks(subject: Subject, measures: Measures) -> Iterator[tuple[str, str, Attack]]:
    risks = measures.risks
    if (one := _told_best(subject, measures)) is not None:
        yield f"Inference of {one.column}", "read off the released row nearest to what is known", one.nearest
        if one.learned is not None:
            yield f"Inference of {one.column}", "by a model grown on the release", one.learned
    out = risks.singling_out
    yield "Singling out by one column", "a description that fits one released row fits one person, too", out.univariate
    yield "Singling out by two to four columns", "the same with a longer description", out.multivariate
    sets = risks.column_sets
    halves = f"{len(sets.one)} and {len(sets.other)} columns of the same people, joined by way of the release"
    yield "Joining two parties’ columns", halves, sets.attack
    if (member := risks.membership) is not None:
        yield "Membership", "called a member because a released row is near", member.attack
    told = risks.attribution
    yield f"Attribution of {told.target}", f"by released rows with the same {listed(told.keys, most=4)}", told.attack


def _told_best(subject: Subject, measures: Measures) -> Inference | None:
    """The column told best above control; without a control, best above guessing."""
    found = list(subject.inferred())
    if found:
        return max(found, key=lambda both: both[1].value)[0]
    others = measures.risks.inferences
    return max(others, key=lambda one: one.nearest.main.value - one.nearest.baseline.value, default=None)


def _cells(subject: Subject, attack: Attack) -> list[Cell]:
    above = attack.above_control
    return [
        risk_cell(subject, attack.main),
        Cell("no control") if attack.control is None else risk_cell(subject, attack.control),
        risk_cell(subject, attack.baseline),
        Cell("no control") if above is None else Cell(*subject.voice.points(above, above.runs)),
    ]


def risk_cell(subject: Subject, risk: Risk) -> Cell:
    """A risk, its interval, its worst rows."""
    value, interval = subject.voice.risk(risk)
    worst = subject.voice.worst(risk)
    return Cell(value, interval + (f"; worst {worst}" if worst and worst != "not shown" else ""))


def by_column(subject: Subject, measures: Measures) -> Iterator[Part | None]:
    """Inference, reconstruction and intervals, column by column."""
    risks, voice = measures.risks, subject.voice
    ranked = sorted(risks.inferences, key=_above, reverse=True)[:MOST]
    yield fold(
        "Inference, column by column",
        listing(
            "Read off the nearest released row",
            ("Column", "People in the release", "People not in it", "By guessing", "Above control, points"),
            [[one.column, *_cells(subject, one.nearest)] for one in ranked],
            "All other columns are known. A number counts as right when it is off by at most 5% of its middle range.",
        ),
        listing(
            "By a model grown on the release",
            ("Column", "People in the release", "People not in it", "By guessing", "Above control, points"),
            [[one.column, *_cells(subject, one.learned)] for one in ranked if one.learned is not None],
        ),
    )
    if (rebuilt := risks.reconstruction) is not None:
        most = sorted(rebuilt.columns, key=lambda c: c.attack.baseline.value - c.best.value)[:MOST]
        yield fold(
            "Reconstruction, column by column",
            Words(
                "How well an original value is told by the whole released row of the same person, to somebody who has "
                "seen both tables of half of the people. There is no control: nobody else has a row in the release."
            ),
            listing(
                "Reconstruction",
                ("Column", "Told by the released row", "By guessing", "Released value taken as it is"),
                [
                    [c.column, *(risk_cell(subject, r) for r in (c.attack.main, c.attack.baseline, c.as_released))]
                    for c in most
                ],
                f"{rebuilt.rows:,} of {rebuilt.of:,} people, half to learn from.",
            ),
        )
    if (found := risks.intervals) is not None and found.columns:
        yield fold(
            "Narrow intervals around released numbers",
            Words(
                f"Every number of a record lies near its released value, by rank in {voice.said(found.rank)} of the "
                f"records, within {found.deviations:g} standard deviations in {voice.said(found.deviation)}."
            ),
            listing(
                "Interval disclosure",
                ("Column", "By rank", "By chance", "By deviation", "By chance"),
                [
                    [
                        one.column,
                        *(
                            risk_cell(subject, r)
                            for r in (one.rank, one.rank_chance, one.deviation, one.deviation_chance)
                        ),
                    ]
                    for one in found.columns[:MOST]
                ],
                f"Over {curled(found.how)}.",
            ),
        )


def _above(one: Inference) -> float:
    above = one.nearest.above_control
    value = one.nearest.main.value - one.nearest.baseline.value if above is None else above.value
    return -1.0 if isnan(value) else value
