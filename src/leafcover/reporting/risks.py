"""Whom the release still shows: what attackers find, what did not move."""

from collections.abc import Iterator
from dataclasses import dataclass
from math import isnan

from leafcover.engine.evaluate import above_control
from leafcover.metrics.disclosure.attribute_inference import Inference
from leafcover.metrics.disclosure.k_anonymity import RULES, KAnonymity
from leafcover.metrics.disclosure.nearest_record import Low
from leafcover.metrics.disclosure.record_linkage import Crowd, Informed
from leafcover.metrics.disclosure.singling_out import FEWEST as NEEDED
from leafcover.metrics.estimates import Attack, Risk
from leafcover.metrics.suite import Measures
from leafcover.reporting.components import (
    Cell,
    Heading,
    Part,
    Section,
    Words,
    fold,
    listing,
    section,
    span_words,
    strip,
    upper_end,
)
from leafcover.reporting.context import ReportContext, attack_method, risk_cell
from leafcover.reporting.disclosure_rules import FEW, NONE, counted, curled, listed, started
from leafcover.reporting.protection import averages, stuck, unmoved

TEN = 10  # rows or fewer, among which ten guesses are always right


def risks_section(subject: ReportContext) -> Section | None:
    """Attacks, most dangerous first; then what stayed."""
    measures = subject.measures
    parts: list[Part | None] = []
    if measures is None:
        parts.append(
            Words(f"How often people can be found {subject.absence_text}, so nothing here says that it is seldom.")
        )
    else:
        parts += [*_linkage(subject, measures), *attacks(subject, measures)]
        if subject.internal:
            parts += [*by_column(subject, measures), *standards(subject, measures)]
    return section("risks", "Risks", *parts, *stuck(subject), *unmoved(subject), *averages(subject))


def _linkage(subject: ReportContext, measures: Measures) -> Iterator[Part | None]:
    risks, voice = measures.risks, subject.rules
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
    if (first := risks.informed) is not None and voice.shows(first.ten) and voice.rows > TEN:
        yield Words(
            f"Among the ten best guesses of the strongest attacker the right row stands in "
            f"{voice.format_risk(first.ten)} of "
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


def _row(subject: ReportContext, name: str, risk: Risk, ends: tuple[float, float]) -> list[str | Cell]:
    value, interval = subject.rules.risk(risk)
    shown = subject.rules.can_draw(risk.value, risk.tries)
    dots = strip(subject.rules.rounded(risk), f"{value}, interval {interval}", ends) if shown else None
    return [
        name,
        Cell("", strip=dots),
        Cell(value, interval),
        subject.rules.worst(risk) or "–",
        subject.rules.count(risk.tries),
    ]


def _crowds(subject: ReportContext, found: Informed) -> Part | None:
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


# Attacks on people in the release, on people who are not in it, and by guessing.


MOST_ATTACKED = 40  # columns in a table


def attacks(subject: ReportContext, measures: Measures) -> Iterator[Part | None]:
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
    tried = [one for one in _attacks(subject, measures) if subject.rules.shows(one.attack.main)]
    if not tried:
        yield Words(f"No attack was tried on more than {FEW} people, so that none can be told here.")
    yield listing(
        "Attacks",
        HEAD,
        [[Cell(one.name, one.what), *_cells(subject, one.attack, one.uncontrolled)] for one in tried],
        f"Small print: 95% interval, then the worst 1% of the people (or descriptions) tried. {GUESSING}",
    )
    member = measures.risks.membership
    if member is not None and subject.rules.shows(member.area):
        yield Words(
            f"Whether somebody is in the release at all: of two people, one of them in it, the one nearer to a "
            f"released row is the right one in {subject.rules.format_risk(member.area)} of cases; 50% is a coin."
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


def _attacks(subject: ReportContext, measures: Measures) -> Iterator[_Try]:
    risks = measures.risks
    if (one := _furthest(subject, measures)) is not None:
        beyond = "above control" if subject.inferences else "beyond guessing"
        name = f"Inference of {one.column}"
        for attack in _ways(one):
            told = f"by {attack_method(one, attack)}"
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


def _uncontrolled(subject: ReportContext) -> str:
    """Why singling out has no control where other attacks have one."""
    if subject.pair.paired or subject.repeated:
        return f"fewer than {NEEDED} rows were not released"
    return "needs pairs, or as many rows that were not released as were"


def _furthest(subject: ReportContext, measures: Measures) -> Inference | None:
    """The column told furthest above control; without a control, furthest beyond guessing."""
    tried = measures.risks.inferences
    if subject.inferences:
        return next(one for one in tried if one.column == subject.inferences[0].column)
    return max(tried, key=_above, default=None)


def _cells(subject: ReportContext, attack: Attack, uncontrolled: str = "") -> list[Cell]:
    above = above_control(attack)
    known = subject.measures is not None and subject.measures.control != "no control"
    missing = Cell("no control", uncontrolled if known else "")
    return [
        risk_cell(subject, attack.main),
        missing if attack.control is None else risk_cell(subject, attack.control),
        risk_cell(subject, attack.baseline),
        Cell(NONE if attack.control is not None else "no control")
        if above is None
        else Cell(*subject.rules.points(above, above.runs)),
    ]


def by_column(subject: ReportContext, measures: Measures) -> Iterator[Part | None]:
    """Inference, reconstruction and intervals, column by column."""
    risks, voice = measures.risks, subject.rules
    ranked = sorted(risks.inferences, key=_above, reverse=True)[:MOST_ATTACKED]
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
        most = sorted(rebuilt.columns, key=lambda c: c.attack.baseline.value - c.best.value)[:MOST_ATTACKED]
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
                f"Every number of a record lies near its released value, by rank in "
                f"{voice.format_risk(found.rank)} of the "
                f"records, within {found.deviations:g} standard deviations in {voice.format_risk(found.deviation)}."
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
                    for one in found.columns[:MOST_ATTACKED]
                ],
                f"Over {curled(found.how)}.",
            ),
        )


def _ways(one: Inference) -> list[Attack]:
    return [attack for attack in (one.nearest, one.trusted, one.learned) if attack is not None]


def _above(one: Inference) -> float:
    above = above_control(one.strongest)
    value = one.strongest.main.value - one.strongest.baseline.value if above is None else above.value
    return -1.0 if isnan(value) else value


# The standard figures of disclosure control: of the original's keys, and of the pair.


def standards(subject: ReportContext, measures: Measures) -> Iterator[Part | None]:
    """All of them, folded away."""
    risks = measures.risks
    keys = listed(measures.quasi_identifiers, most=6)
    yield fold(
        "Standard figures: k, l, t, special uniques, individual risk",
        Words(
            f"Of rows with the same key; the key columns are {keys}."
            if measures.quasi_identifiers
            else "There is no key column."
        ),
        listing(
            "Keys",
            ("Figure", "Original", _heading(risks.k_anonymity_of_release)),
            [*_anonymity(subject, risks.k_anonymity, risks.k_anonymity_of_release), *_sameness(subject, measures)],
            curled(risks.k_anonymity_of_release.why),
        ),
        _people(subject, measures),
    )
    yield fold("Distances between released and original rows", _distances(subject, measures))


def _heading(found: KAnonymity) -> str:
    return f"Release ({found.label})" if found.label else "Release"


def _anonymity(subject: ReportContext, before: KAnonymity, after: KAnonymity) -> Iterator[list[str | Cell]]:
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


def _sameness(subject: ReportContext, measures: Measures) -> Iterator[list[str | Cell]]:
    before, after = measures.risks.k_anonymity, measures.risks.k_anonymity_of_release
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


def _people(subject: ReportContext, measures: Measures) -> Part | None:
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


def _distances(subject: ReportContext, measures: Measures) -> Part | None:
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
            f"{subject.rules.format_risk(found.closer)} of cases; 50% is ideal."
        )
    return listing("Distances", ("Figure", "Released rows", "Control rows"), rows, note)
