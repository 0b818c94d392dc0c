"""The section on attackers who know the method: what they infer of every column, who is in the release, and copies.

These attacks decide (`leafcover.metrics.summary`). The attacker is granted the true trees or cells, or regrows them
from the release, and may know other rows. Every figure has the same one for people outside the release beside it.
"""

from collections.abc import Iterator

from leafcover.messages import catalogue
from leafcover.metrics.disclosure.copies import Copies, Match
from leafcover.metrics.disclosure.informed_inference import InformedAttack, InformedAttacks, InformedInference
from leafcover.metrics.disclosure.membership_inference import Membership
from leafcover.metrics.disclosure.near_copies import AGREEING, TOLERANCES
from leafcover.metrics.disclosure.rare_values import SIGNIFICANT
from leafcover.metrics.estimates import Attack, Estimate, Risk
from leafcover.metrics.summary import above_control, copied_part, near_people, record_of
from leafcover.reporting.components import (
    Bullets,
    Cell,
    Heading,
    Part,
    Section,
    Strip,
    Words,
    fold,
    listing,
    section,
    strip,
    upper_end,
)
from leafcover.reporting.context import ReportContext, risk_cell
from leafcover.reporting.disclosure_rules import NONE, curled, started

say = catalogue("report_details")

MAX_COLUMNS_LISTED = 40  # those inferred best first
MAX_VALUES_LISTED = 6  # near-unique columns, the worst first


def informed_section(subject: ReportContext) -> Section | None:
    """Inference, membership, background knowledge, copies."""
    measures = subject.measures
    if measures is None:
        return None
    attacks = measures.risks.informed_attacks
    parts: list[Part | None] = []
    if attacks is None:
        parts.append(Words(say("informed-no-control"), tone="lead"))
    else:
        parts.append(Words(say("informed-lead", what=_what(subject)), tone="lead"))
        parts.append(Words(say("informed-repeated")) if subject.repeated else None)
        parts += [*_inference(subject, attacks), *_membership(subject, attacks, measures.risks.membership)]
        parts += _background(subject, attacks)
    parts += _copies(subject, measures.risks.copies)
    return section("informed", say("informed-title"), *parts)


def _what(subject: ReportContext) -> str:
    """What an attacker is granted or regrows."""
    return say("informed-what", dealt="no" if subject.descends else "yes")


# Attribute inference, column by column.


def _inference(subject: ReportContext, attacks: InformedAttacks) -> Iterator[Part | None]:
    first, second = attacks.granted or attacks.regrown, attacks.regrown if attacks.granted else None
    if first is None or not first.inferences:
        return
    yield Heading(say("informed-inference-heading"))
    if attacks.granted is None:
        yield Words(say("informed-not-granted"))
    how, what = "regrown" if attacks.granted is None else "granted", _what(subject)
    note = [say("informed-note", limit=f"{100 * subject.limit.value:g}")]
    if (tried := len(first.inferences)) < (columns := len(subject.pair.names)):
        note.append(say("informed-some-columns", tried=tried, columns=columns))
    yield _by_column(subject, first, second, say("informed-table", how=how, what=what), " ".join(note))
    if second is not None:
        name = say("informed-table", how="regrown", what=what)
        yield fold(say("informed-regrown-fold", what=what), _by_column(subject, second, None, name))


def _by_column(
    subject: ReportContext, found: InformedAttack, beside: InformedAttack | None, name: str, note: str = ""
) -> Part | None:
    """The success on each column; beside it the difference that another attack makes."""
    ranked = sorted(found.inferences, key=lambda one: subject.worst_first(one.above_control))
    shown = [one for one in ranked if subject.rules.shows(one.attack.main)][:MAX_COLUMNS_LISTED]
    ends = _ends([one.above_control for one in shown], subject.limit.value)
    others = {} if beside is None else {one.column: one for one in beside.inferences}
    head = [say("head-column"), say("attacks-head-members"), say("attacks-head-control")]
    head += [_scale(ends), say("informed-head-above")]
    head += [] if beside is None else [say("informed-head-regrown")]
    rows: list[list[str | Cell]] = []
    limit = subject.limit.value
    for one in shown:
        row: list[str | Cell] = [one.column, _risk(subject, one.attack.main), _risk(subject, one.attack.control)]
        row += [_strip_cell(subject, one.above_control, ends, mark=limit), _points(subject, one.above_control)]
        row += [] if beside is None else [_points_of(subject, others.get(one.column))]
        rows.append(row)
    return listing(name, head, rows, note)


def _scale(ends: tuple[float, float]) -> str:
    return say("informed-scale", high=f"{100 * ends[1]:.0f}")


def _ends(figures: list[Estimate], limit: float) -> tuple[float, float]:
    """A scale that holds every interval and the limit."""
    low, high = upper_end(figures)
    return low, max(high, min(2 * limit, 1.0))


def _strip_cell(subject: ReportContext, above: Estimate, ends: tuple[float, float], mark: float | None = None) -> Cell:
    value, interval = subject.rules.points(above, above.runs)
    drawn: Strip | None = None
    if not subject.rules.suppresses(above.runs):
        shown = subject.rules.rounded_difference(above, above.runs)
        drawn = strip(shown, say("strip-label", value=value, interval=interval), ends, mark)
    return Cell("", strip=drawn)


def _points(subject: ReportContext, above: Estimate) -> Cell:
    return Cell(*subject.rules.points(above, above.runs))


def _points_of(subject: ReportContext, one: InformedInference | None) -> Cell:
    return Cell(NONE) if one is None else _points(subject, one.above_control)


def _risk(subject: ReportContext, risk: Risk | None) -> Cell:
    """A risk and its interval; the most exposed 1 % would say nothing where an attempt succeeds or fails."""
    return Cell(say("attacks-cell-no-control")) if risk is None else Cell(*subject.rules.risk(risk))


# Membership.


def _membership(subject: ReportContext, attacks: InformedAttacks, nearest: Membership | None) -> Iterator[Part | None]:
    yield Heading(say("informed-membership-heading"))
    head = (
        say("informed-head-attacker"),
        say("informed-head-area"),
        say("informed-head-found"),
        say("informed-head-found-rarely"),
    )
    rows: list[list[str | Cell]] = []
    granted, regrown = (None if one is None else one.membership for one in (attacks.granted, attacks.regrown))
    for name, member in (("granted", granted), ("regrown", regrown), ("trained", attacks.trained)):
        if member is not None and subject.rules.shows(member.area):
            three = (_risk(subject, one) for one in (member.area, member.found, member.found_rarely))
            rows.append([say("informed-attacker", how=name, what=_what(subject)), *three])
    if nearest is not None and subject.rules.shows(nearest.area):
        two = (_risk(subject, one) for one in (nearest.area, nearest.alarms))
        rows.append([say("informed-attacker", how="distance", what=""), *two, NONE])
    if nearest is not None and (values := nearest.presence) is not None and subject.rules.shows(values.area):
        three = (_risk(subject, one) for one in (values.area, values.found, values.found_rarely))
        rows.append([say("informed-attacker", how="presence", what=""), *three])
    yield listing(say("informed-membership-table"), head, rows, say("informed-membership-note"))


# Background knowledge.


def _background(subject: ReportContext, attacks: InformedAttacks) -> Iterator[Part | None]:
    if not attacks.background or attacks.granted is None:
        return
    found = [one for one in (attacks.granted, *attacks.background) if one.largest is not None]
    shown = [one for one in found if subject.rules.shows(one.membership.area)]
    largest = [one.largest.above_control for one in shown if one.largest is not None]
    ends = _ends(largest, subject.limit.value)
    yield Heading(say("informed-background-heading"))
    yield Words(say("informed-background-lead", what=_what(subject)))
    head = (
        say("informed-head-known"),
        _scale(ends),
        say("informed-head-largest"),
        say("informed-head-area"),
        say("informed-head-found"),
    )
    rows = [_background_row(subject, one, ends) for one in shown]
    yield listing(say("informed-background-table"), head, rows, say("informed-background-note"))


def _background_row(subject: ReportContext, one: InformedAttack, ends: tuple[float, float]) -> list[str | Cell]:
    largest = one.largest
    assert largest is not None
    value, interval = subject.rules.points(largest.above_control, largest.above_control.runs)
    return [
        say("informed-known", share=f"{one.known_rows:.0%}", none="no" if one.known_rows else "yes"),
        _strip_cell(subject, largest.above_control, ends),
        Cell(value, say("informed-largest", column=largest.column, interval=interval)),
        _risk(subject, one.membership.area),
        _risk(subject, one.membership.found),
    ]


# Copies of records, parts of records and rare values.


def _copies(subject: ReportContext, found: Copies) -> Iterator[Part | None]:
    shown = [one for one in _matches(found) if subject.rules.shows(one.attack.main)]
    if not shown:
        return
    yield Heading(say("copies-heading"))
    if found.near_unique:
        names = ", ".join(
            [*found.near_unique[:MAX_VALUES_LISTED], *["…"] * (len(found.near_unique) > MAX_VALUES_LISTED)]
        )
        left_out = {"outside": len(found.near_unique), "names": curled(names), "columns": len(found.columns)}
        record = say("copies-record", record=record_of(found), **left_out)
        yield Words(record if found.columns else say("copies-record-none"))
    if not any(one.attack.control for one in shown if one.kind not in ("reproduced", "attached", "near")):
        yield Words(say("copies-no-control"))
    if found.tests:
        yield Words(say("copies-lead", findings=len(found.findings), tests=found.tests))
    if found.findings:
        parts = (copied_part(one.kind, one.columns, one.without) for one in found.findings[:MAX_VALUES_LISTED])
        yield Bullets(tuple(started(curled(part)) for part in parts))
    if subject.internal and (people := near_people(found)) is not None and people.pop("found") == "yes":
        yield Words(say("copies-near", **people))
    head = [say("copies-head"), say("attacks-head-members"), say("attacks-head-control"), say("informed-head-above")]
    head += [say("copies-head-p")] if subject.internal else []
    rows: list[list[str | Cell]] = [
        [_copied_cell(one), *_copy_cells(subject, one.attack), *([_p(found, one)] if subject.internal else [])]
        for one in shown
    ]
    yield listing(say("copies-table"), head, rows, _copies_note())


def _copies_note() -> str:
    return say("copies-note", p=f"{SIGNIFICANT:g}", least=f"{min(AGREEING):.0%}", tolerance=f"{max(TOLERANCES):.0%}")


def _matches(found: Copies) -> Iterator[Match]:
    """Records, unique and rare ones, the worst block and near-unique values; further ones if they are significant."""
    values = found.values[:MAX_VALUES_LISTED]
    for one in (found.records, found.unique, found.near, found.reproduced, found.attached, found.block, *values):
        if one is not None:
            yield one
    significant = {(one.kind, one.columns) for one in found.findings}
    for one in (*found.groups, *found.values[MAX_VALUES_LISTED:]):
        if (one.kind, one.columns) in significant:
            yield one


def _copied_cell(one: Match) -> Cell:
    note = say("copies-worst-block") if one.kind == "block" else ""
    return Cell(started(curled(copied_part(one.kind, one.columns, one.without))), note)


def _copy_cells(subject: ReportContext, attack: Attack) -> list[Cell]:
    above = above_control(attack)
    return [
        risk_cell(subject, attack.main),
        _risk(subject, attack.control),
        Cell(NONE) if above is None else _points(subject, above),
    ]


def _p(found: Copies, one: Match) -> str:
    """The probability of so many copies by chance, corrected for the number of comparisons."""
    if one.attack.control is None:
        return NONE
    corrected = min(1.0, found.corrected(one))
    return say("copies-p-tiny") if corrected < SIGNIFICANT else f"{corrected:.2g}"
