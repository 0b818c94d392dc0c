"""Attacks on people in the release, on people who are not in it, and by guessing."""

from collections.abc import Iterator
from dataclasses import dataclass
from math import isnan

from leafcover.measuring.figures import Attack, Risk
from leafcover.measuring.measures import Measures
from leafcover.measuring.risk.inference import Inference
from leafcover.measuring.risk.singling_out import FEWEST as NEEDED
from leafcover.releasing.reporting.phrases import counted, curled, listed, started
from leafcover.releasing.reporting.shapes import Cell, Heading, Part, Words, fold, listing
from leafcover.releasing.reporting.subject import Subject, above_of, by_what
from leafcover.releasing.reporting.voice import FEW, HIDDEN, NONE

MOST = 40  # columns in a table


def attacks(subject: Subject, measures: Measures) -> Iterator[Part | None]:
    """The table of attacks, each with its control."""
    yield Heading("Learning about a person")
    control = (
        f"Control: {curled(measures.control)}."
        if measures.control != "no control"
        else "There is no control: no rows are known that were not released, so patterns cannot be told from people."
    )
    if subject.repeated:
        control += " The attacks are on the first of these releases, and on the rows that it was made without."
    yield Words(
        "The same attack on people who are not in the release shows what patterns alone tell; only what lies above "
        "that is owed to a person’s own row, and where the interval of the difference holds 0 no effect was shown. "
        f"{control}"
    )
    tried = [one for one in _attacks(subject, measures) if subject.voice.tells(one.attack.main)]
    if not tried:
        yield Words(f"No attack was tried on more than {FEW} people, so that none can be told here.")
    yield listing(
        "Attacks",
        HEAD,
        [[Cell(one.name, one.what), *_cells(subject, one.attack, one.uncontrolled)] for one in tried],
        f"Small print: 95% interval, then the worst 1% of the people (or descriptions) tried. {GUESSING}",
    )
    member = measures.risks.membership
    if member is not None and subject.voice.tells(member.area):
        yield Words(
            f"Whether somebody is in the release at all: of two people, one of them in it, the one nearer to a "
            f"released row is the right one in {subject.voice.said(member.area)} of cases; 50% is a coin."
        )


HEAD = ("Attack", "People in the release", "People not in it", "By guessing", "Above control, points")
GUESSING = (
    "By guessing means: for inference, giving everybody the one value that is right most often; for singling out, a "
    "description as narrow as these but of random values; for joined columns, two released rows at random; for "
    "membership, calling as many people members as the attack does, but at random; for attribution, the value of any "
    "released row."
)


@dataclass(frozen=True)
class _Try:
    """One line of the table."""

    name: str
    what: str
    attack: Attack
    uncontrolled: str = ""  # why it has no control where others have one


def _attacks(subject: Subject, measures: Measures) -> Iterator[_Try]:
    risks = measures.risks
    if (one := _furthest(subject, measures)) is not None:
        beyond = "above control" if subject.told else "beyond guessing"
        name = f"Inference of {one.column}"
        for attack in _ways(one):
            told = f"by {by_what(one, attack)}"
            if attack is one.strongest:
                told += f"; furthest {beyond} of {subject.columns_tried}"
            yield _Try(name, told, attack, "nobody in it has a value there")
    out, why = risks.singling_out, _uncontrolled(subject)
    described = "a description that fits one released row fits one person, too"
    yield _Try("Singling out by one column", described, out.univariate, why)
    yield _Try("Singling out by two to four columns", "the same with a longer description", out.multivariate, why)
    sets = risks.column_sets
    if sets.one and sets.other:
        halves = f"{len(sets.one)} and {counted(len(sets.other), 'column')} of the same people"
        yield _Try("Joining two parties’ columns", f"{halves}, joined by way of the release", sets.attack)
    if (member := risks.membership) is not None:
        called = "called a member because a released row is near; by guessing: as many called so, but at random"
        yield _Try("Membership", called, member.attack)
    given = risks.attribution
    rows = f"released rows with the same {listed(given.keys, most=4)}" if given.keys else "any released row"
    yield _Try(f"Attribution of {given.target}", f"by {rows}", given.attack)


def _uncontrolled(subject: Subject) -> str:
    """Why singling out has no control where other attacks have one."""
    if subject.pair.paired or subject.repeated:
        return f"fewer than {NEEDED} rows were not released"
    return "needs pairs, or as many rows that were not released as were"


def _furthest(subject: Subject, measures: Measures) -> Inference | None:
    """The column told furthest above control; without a control, furthest beyond guessing."""
    tried = measures.risks.inferences
    if subject.told:
        return next(one for one in tried if one.column == subject.told[0].column)
    return max(tried, key=_above, default=None)


def _cells(subject: Subject, attack: Attack, uncontrolled: str = "") -> list[Cell]:
    above = above_of(attack)
    known = subject.measures is not None and subject.measures.control != "no control"
    missing = Cell("no control", uncontrolled if known else "")
    return [
        risk_cell(subject, attack.main),
        missing if attack.control is None else risk_cell(subject, attack.control),
        risk_cell(subject, attack.baseline),
        Cell(NONE if attack.control is not None else "no control")
        if above is None
        else Cell(*subject.voice.points(above, above.runs)),
    ]


def risk_cell(subject: Subject, risk: Risk) -> Cell:
    """A risk, its interval, its worst rows."""
    value, interval = subject.voice.risk(risk)
    worst = subject.voice.worst(risk)
    return Cell(value, interval + (f"; worst {worst}" if worst not in ("", HIDDEN) else ""))


def by_column(subject: Subject, measures: Measures) -> Iterator[Part | None]:
    """Inference, reconstruction and intervals, column by column."""
    risks, voice = measures.risks, subject.voice
    ranked = sorted(risks.inferences, key=_above, reverse=True)[:MOST]
    tried = [(one, attack) for one in ranked for attack in _ways(one)]
    head = ("Column", *HEAD[1:])
    yield fold(
        "Inference, column by column",
        listing(
            "Read off the nearest released row",
            head,
            [[one.column, *_cells(subject, attack)] for one, attack in tried if attack is one.nearest],
            f"{started(subject.columns_tried)}. All other columns are known. A number counts as right when it is off "
            "by at most 5% of its middle range. By guessing: the one value that is right most often.",
        ),
        listing(
            "The same by the columns that moved least",
            head,
            [[one.column, *_cells(subject, attack)] for one, attack in tried if attack is one.trusted],
            "Who knows the noise goes by the columns by which people are found, and leaves the others aside.",
        ),
        listing(
            "By a model grown on the release",
            head,
            [[one.column, *_cells(subject, attack)] for one, attack in tried if attack is one.learned],
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
                    [c.column, *(risk_cell(subject, r) for r in (c.best, c.attack.baseline, c.as_released))]
                    for c in most
                ],
                "Told by the released row: the best of a model, of a list of what each released value mostly was, and "
                f"of the value as it is. {rebuilt.rows:,} of {counted(rebuilt.of, 'person', 'people')}, half to learn "
                "from.",
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


def _ways(one: Inference) -> list[Attack]:
    return [attack for attack in (one.nearest, one.trusted, one.learned) if attack is not None]


def _above(one: Inference) -> float:
    above = above_of(one.strongest)
    value = one.strongest.main.value - one.strongest.baseline.value if above is None else above.value
    return -1.0 if isnan(value) else value
