"""The section on further attacks: record linkage, attacks with a control, risk by column, the standard measures.

Everybody sees linkage and the table of attacks. Risk by column, k-anonymity and its relatives, individual risk and
distances describe the original table and are for the internal report alone. What the cells fix and what did not change
comes from `protection`.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from math import isnan
from typing import Literal

from leafcover.messages import catalogue
from leafcover.metrics.disclosure.attribute_inference import Inference
from leafcover.metrics.disclosure.interval_disclosure import IntervalDisclosure
from leafcover.metrics.disclosure.k_anonymity import KAnonymity
from leafcover.metrics.disclosure.nearest_record import Low
from leafcover.metrics.disclosure.reconstruction import ReconstructionAttack
from leafcover.metrics.disclosure.record_linkage import Crowd, Informed
from leafcover.metrics.disclosure.singling_out import FEWEST as MIN_CONTROL_ROWS
from leafcover.metrics.estimates import Attack, Risk
from leafcover.metrics.suite import Measures
from leafcover.metrics.summary import above_control
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
from leafcover.reporting.context import ReportContext, risk_cell
from leafcover.reporting.disclosure_rules import FEW, NONE, curled, listed
from leafcover.reporting.method import averages, stuck, unmoved

say = catalogue("report_details")

TOP_CANDIDATES = 10  # among so few rows the ten best candidates always hold the right one
MAX_COLUMNS_LISTED = 40  # in each table of risks by column


def risks_section(subject: ReportContext) -> Section | None:
    """Attacks, most dangerous first; then what did not change."""
    measures = subject.measures
    parts: list[Part | None] = []
    if measures is None:
        parts.append(
            Words(say("risks-not-measured", reason="few-rows" if subject.rules.suppressed else "not-measured"))
        )
    else:
        parts += [*_linkage(subject, measures), *_attacks(subject, measures)]
        if subject.internal:
            parts += [*_by_column(subject, measures), *_standard_measures(subject, measures)]
    return section("risks", say("risks-title"), *parts, *stuck(subject), *unmoved(subject), *averages(subject))


# Record linkage: how often an attacker picks a person's own released row.


def _linkage(subject: ReportContext, measures: Measures) -> Iterator[Part | None]:
    strongest, voice = measures.risks.informed, subject.rules
    yield Words(say("risks-lead"), tone="lead")
    yield Heading(say("linkage-heading"))
    found = list(_attackers(measures))
    if not found:
        yield Words(say("linkage-not-scored") if subject.descends else say("linkage-dealt"))
        return
    if strongest is not None and voice.shows(strongest.ten) and voice.rows > TOP_CANDIDATES:
        yield Words(_top_ten(subject, strongest))
    ends = upper_end([risk for _, risk in found])
    yield listing(
        say("linkage-table"),
        (say("linkage-head-attacker"), span_words(ends), *_linkage_heads(), say("linkage-head-attempts")),
        [_linkage_row(subject, name, risk, ends) for name, risk in found],
        say("linkage-note", rows=voice.rows),
    )
    if subject.internal and strongest is not None:
        yield _by_anonymity_set(subject, strongest)


def _linkage_heads() -> tuple[str, str]:
    return say("linkage-head-correct"), say("head-most-exposed")


def _top_ten(subject: ReportContext, found: Informed) -> str:
    share = subject.rules.format_risk(found.ten)
    if not subject.internal:
        return say("linkage-top-ten", found=share)
    return say(
        "linkage-top-ten-internal",
        found=share,
        rank=f"{found.median_rank:,.0f}",
        rows=subject.rules.rows,
        smallest=found.smallest_crowd,
    )


def _attackers(measures: Measures) -> Iterator[tuple[str, Risk]]:
    risks = measures.risks
    if risks.informed is not None and risks.informed is not risks.learned:
        yield say("linkage-attacker-maximum-knowledge"), risks.informed.first
    if risks.learned is not None:
        yield say("linkage-attacker-probabilistic"), risks.learned.first
    if (linkage := risks.linkage) is not None:
        yield say("linkage-attacker-nearest"), linkage.nearest
        yield say("linkage-attacker-two-nearest"), linkage.second
        if linkage.optimal is not None:
            yield say("linkage-attacker-assignment"), linkage.optimal


def _linkage_row(subject: ReportContext, name: str, risk: Risk, ends: tuple[float, float]) -> list[str | Cell]:
    value, interval = subject.rules.risk(risk)
    shown = subject.rules.can_draw(risk.value, risk.tries)
    label = say("strip-label", value=value, interval=interval)
    return [
        name,
        Cell("", strip=strip(subject.rules.rounded(risk), label, ends) if shown else None),
        Cell(value, interval),
        subject.rules.worst(risk) or NONE,
        subject.rules.count(risk.tries),
    ]


def _by_anonymity_set(subject: ReportContext, found: Informed) -> Part | None:
    """The same risk by the number of rows that could be a person's."""
    shown = [crowd for crowd in found.crowds if crowd.risk.tries]
    ends = upper_end([crowd.risk for crowd in shown])
    return listing(
        say("anonymity-sets-table"),
        (say("anonymity-sets-head-size"), span_words(ends), *_linkage_heads(), say("anonymity-sets-head-people")),
        [_linkage_row(subject, _set_size(crowd), crowd.risk, ends) for crowd in shown],
        say("anonymity-sets-note"),
    )


def _set_size(crowd: Crowd) -> str:
    kind = "open" if crowd.most is None else "single" if crowd.most == crowd.fewest else "range"
    return say("anonymity-set-size", kind=kind, fewest=crowd.fewest, most=crowd.most or crowd.fewest)


# Attacks on people in the release, on people outside it (the control), and without the release (the baseline).


def _attacks(subject: ReportContext, measures: Measures) -> Iterator[Part | None]:
    yield Heading(say("attacks-heading"))
    yield Words(f"{say('attacks-lead')} {_control(subject, measures)}")
    tried = [one for one in _attack_rows(subject, measures) if subject.rules.shows(one.attack.main)]
    if not tried:
        yield Words(say("attacks-too-few", few=FEW))
    yield listing(
        say("attacks-table"),
        (say("attacks-head-attack"), *_attack_heads()),
        [[Cell(one.name, one.how), *_attack_cells(subject, one.attack, one.no_control)] for one in tried],
        say("attacks-note"),
    )
    member = measures.risks.membership
    if member is not None and subject.rules.shows(member.area):
        yield Words(say("membership-area", area=subject.rules.format_risk(member.area)))


def _control(subject: ReportContext, measures: Measures) -> str:
    control = curled(measures.control)
    if measures.control == "no control":
        return say("attacks-no-control")
    return (
        say("attacks-control-repeated", control=control)
        if subject.repeated
        else say("attacks-control", control=control)
    )


def _attack_heads() -> tuple[str, ...]:
    return (
        say("attacks-head-members"),
        say("attacks-head-control"),
        say("attacks-head-baseline"),
        say("attacks-head-difference"),
    )


@dataclass(frozen=True)
class _AttackRow:
    """One row of the table of attacks."""

    name: str
    how: str
    attack: Attack
    no_control: str = ""  # why it has no control where others have one


def _attack_rows(subject: ReportContext, measures: Measures) -> Iterator[_AttackRow]:
    risks = measures.risks
    if (one := _most_inferable(measures)) is not None:
        name, no_control = say("attack-inference", column=one.column), say("attack-inference-no-control")
        for attack in _inference_attacks(one):
            yield _AttackRow(name, _inference_how(subject, one, attack), attack, no_control)
    out, why = risks.singling_out, say("attack-singling-out-no-control", needed=MIN_CONTROL_ROWS)
    yield _AttackRow(say("attack-singling-out-one"), say("attack-singling-out-one-how"), out.univariate, why)
    yield _AttackRow(say("attack-singling-out-several"), say("attack-singling-out-several-how"), out.multivariate, why)
    sets = risks.column_sets
    if sets.one and sets.other:
        how = say("attack-linkability-how", one=len(sets.one), other=len(sets.other))
        yield _AttackRow(say("attack-linkability"), how, sets.attack)
    if (member := risks.membership) is not None:
        yield _AttackRow(say("attack-membership"), say("attack-membership-how"), member.attack)
    given = risks.attribution
    known = say("attack-attribution-how", columns=listed(given.keys, most=4)) if given.keys else ""
    how = known or say("attack-attribution-how-any-row")
    yield _AttackRow(say("attack-attribution", target=given.target), how, given.attack)


def _inference_how(subject: ReportContext, one: Inference, attack: Attack) -> str:
    method: Literal["model", "reliable", "nearest"] = (
        "model" if attack is one.learned else "reliable" if attack is one.trusted else "nearest"
    )
    how = say("attack-inference-how", method=method)
    if attack is not one.strongest:
        return how
    measure = "difference" if above_control(attack) is not None else "gain"
    return say("attack-inference-how-strongest", how=how, measure=measure, **_columns_tried(subject))


def _columns_tried(subject: ReportContext) -> dict[str, int]:
    tried = 0 if subject.measures is None else len(subject.measures.risks.inferences)
    return {"tried": tried, "columns": len(subject.pair.names)}


def _most_inferable(measures: Measures) -> Inference | None:
    """The column with the largest difference from control; without a control, with the largest gain over baseline."""
    tried = measures.risks.inferences
    controlled = [one for one in tried if above_control(one.strongest) is not None]
    return max(controlled or tried, key=_gain, default=None)


def _attack_cells(subject: ReportContext, attack: Attack, no_control: str = "") -> list[Cell]:
    above, missing = above_control(attack), say("attacks-cell-no-control")
    others_have_one = subject.measures is not None and subject.measures.control != "no control"
    return [
        risk_cell(subject, attack.main),
        Cell(missing, no_control if others_have_one else "")
        if attack.control is None
        else risk_cell(subject, attack.control),
        risk_cell(subject, attack.baseline),
        Cell(NONE if attack.control is not None else missing)
        if above is None
        else Cell(*subject.rules.points(above, above.runs)),
    ]


def _inference_attacks(one: Inference) -> list[Attack]:
    return [attack for attack in (one.nearest, one.trusted, one.learned) if attack is not None]


def _gain(one: Inference) -> float:
    """How far the strongest attack on a column exceeds its control, or its baseline where it has no control."""
    above = above_control(one.strongest)
    value = one.strongest.main.value - one.strongest.baseline.value if above is None else above.value
    return -1.0 if isnan(value) else value


# Attribute inference, reconstruction and interval disclosure, column by column.


def _by_column(subject: ReportContext, measures: Measures) -> Iterator[Part | None]:
    risks = measures.risks
    yield _inference_by_column(subject, measures)
    if (rebuilt := risks.reconstruction) is not None:
        yield _reconstruction_by_column(subject, rebuilt)
    if (found := risks.intervals) is not None and found.columns:
        yield _intervals_by_column(subject, found)


def _inference_by_column(subject: ReportContext, measures: Measures) -> Part | None:
    ranked = sorted(measures.risks.inferences, key=_gain, reverse=True)[:MAX_COLUMNS_LISTED]
    tried = [(one, attack) for one in ranked for attack in _inference_attacks(one)]
    head = (say("head-column"), *_attack_heads())
    return fold(
        say("inference-fold"),
        listing(
            say("inference-nearest-table"),
            head,
            [[one.column, *_attack_cells(subject, attack)] for one, attack in tried if attack is one.nearest],
            say("inference-nearest-note", **_columns_tried(subject)),
        ),
        listing(
            say("inference-reliable-table"),
            head,
            [[one.column, *_attack_cells(subject, attack)] for one, attack in tried if attack is one.trusted],
            say("inference-reliable-note"),
        ),
        listing(
            say("inference-model-table"),
            head,
            [[one.column, *_attack_cells(subject, attack)] for one, attack in tried if attack is one.learned],
        ),
    )


def _reconstruction_by_column(subject: ReportContext, found: ReconstructionAttack) -> Part | None:
    most = sorted(found.columns, key=lambda c: c.attack.baseline.value - c.best.value)[:MAX_COLUMNS_LISTED]
    return fold(
        say("reconstruction-fold"),
        Words(say("reconstruction-lead")),
        listing(
            say("reconstruction-table"),
            (
                say("head-column"),
                say("reconstruction-head-best"),
                say("reconstruction-head-baseline"),
                say("reconstruction-head-as-released"),
            ),
            [[c.column, *(risk_cell(subject, r) for r in (c.best, c.attack.baseline, c.as_released))] for c in most],
            say("reconstruction-note", rows=found.rows, of=found.of),
        ),
    )


def _intervals_by_column(subject: ReportContext, found: IntervalDisclosure) -> Part | None:
    voice = subject.rules
    return fold(
        say("intervals-fold"),
        Words(
            say(
                "intervals-lead",
                rank=voice.format_risk(found.rank),
                deviation=voice.format_risk(found.deviation),
                deviations=f"{found.deviations:g}",
            )
        ),
        listing(
            say("intervals-table"),
            (
                say("head-column"),
                say("intervals-head-rank"),
                say("intervals-head-rank-chance"),
                say("intervals-head-deviation"),
                say("intervals-head-deviation-chance"),
            ),
            [
                [
                    one.column,
                    *(risk_cell(subject, r) for r in (one.rank, one.rank_chance, one.deviation, one.deviation_chance)),
                ]
                for one in found.columns[:MAX_COLUMNS_LISTED]
            ],
            say("intervals-note", coverage=curled(found.how)),
        ),
    )


# The standard measures of disclosure control: equivalence classes, individual risk, distances.


def _standard_measures(subject: ReportContext, measures: Measures) -> Iterator[Part | None]:
    before, after = measures.risks.k_anonymity, measures.risks.k_anonymity_of_release
    names = listed(measures.quasi_identifiers, most=6)
    yield fold(
        say("standards-fold"),
        Words(
            say("standards-quasi-identifiers", columns=names)
            if measures.quasi_identifiers
            else say("standards-no-quasi-identifiers")
        ),
        listing(
            say("standards-classes-table"),
            (
                say("head-measure"),
                say("head-original"),
                say("standards-head-release", guarantee="none" if after.label else "unknown"),
            ),
            [*_class_sizes(subject, before, after), *_diversity_and_closeness(before, after)],
            say("standards-classes-note") if after.label else "",
        ),
        _individual_risk(subject, measures),
    )
    yield fold(say("distances-fold"), _distances(subject, measures))


def _class_sizes(subject: ReportContext, before: KAnonymity, after: KAnonymity) -> Iterator[list[str | Cell]]:
    for one, other in zip(before.anonymity, after.anonymity, strict=True):
        rule = say("standards-missing-values", rule=one.rule)
        yield [Cell(say("standards-k"), rule), f"{one.smallest:,}", f"{other.smallest:,}"]
        yield [
            Cell(say("standards-unique"), rule),
            risk_cell(subject, one.unique),
            risk_cell(subject, other.unique),
        ]


def _diversity_and_closeness(before: KAnonymity, after: KAnonymity) -> Iterator[list[str | Cell]]:
    for diverse in zip(before.diversity, after.diversity, strict=True):
        yield [
            Cell(say("standards-l"), diverse[0].column),
            *(Cell(f"{one.distinct:,}", say("standards-l-entropy", entropy=f"{one.entropy:.1f}")) for one in diverse),
        ]
    for close in zip(before.closeness, after.closeness, strict=True):
        yield [
            Cell(say("standards-t"), close[0].column),
            *(
                Cell(
                    _distance(one.farthest),
                    say("standards-t-spread", mean=_distance(one.mean), worst=_distance(one.worst)),
                )
                for one in close
            ),
        ]


def _distance(value: float) -> str:
    return NONE if isnan(value) else f"{value:.3f}"


def _short(value: float) -> str:
    """A count or score in about three digits."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def _individual_risk(subject: ReportContext, measures: Measures) -> Part | None:
    """What the original's quasi-identifiers alone would disclose, and how surely a released row leads back."""
    risks = measures.risks
    special, people = risks.suda, risks.individual
    most = listed([one.column for one in special.contributions[:3]])
    how = say("special-uniques-how-columns", columns=most) if special.contributions else say("special-uniques-how")
    model = "prosecutor" if people.model == "prosecutor" else "weights"
    rows: list[list[str | Cell]] = [
        [say("individual-mean"), risk_cell(subject, people.risk), say("individual-mean-how", model=model)],
        [say("individual-expected"), f"{people.expected:,.0f}", say("individual-expected-how", rows=people.rows)],
        [say("individual-high"), risk_cell(subject, people.high), say("individual-high-how")],
        [say("special-uniques"), risk_cell(subject, special.special), how],
        [
            say("special-uniques-score"),
            Cell(_short(special.mean), say("most-exposed", figure=_short(special.worst))),
            say("special-uniques-score-how", coverage=curled(special.how)),
        ],
    ]
    if (sers := risks.sers) is not None:
        share = Cell(f"{sers.share.value:.1%}", say("most-exposed", figure=f"{sers.worst:.1%}"))
        rows.append([say("sers"), share, say("sers-how", coverage=curled(sers.how))])
    if (found := risks.candidates) is not None:
        spread = say("candidates-spread", fifth=_short(found.fifth), worst=_short(found.worst))
        rows.append(
            [
                say("candidates"),
                Cell(_short(found.median), spread),
                say("candidates-how", coverage=curled(found.how)),
            ]
        )
    head = (say("head-measure"), say("individual-head-value"), say("head-how-to-read"))
    return listing(say("individual-table"), head, rows, say("individual-note"))


def _distances(subject: ReportContext, measures: Measures) -> Part | None:
    found, missing = measures.risks.distances, Cell(say("attacks-cell-no-control"))

    def low(one: Low | None) -> Cell:
        if one is None:
            return missing
        return Cell(f"{one.fifth:.3f}", say("distances-median", median=f"{one.median:.3f}"))

    copies = missing if found.control_copies is None else risk_cell(subject, found.control_copies)
    rows: list[list[str | Cell]] = [
        [say("distances-closest"), low(found.closest), low(found.control_closest)],
        [say("distances-ratio"), low(found.ratio), low(found.control_ratio)],
        [say("distances-copies"), risk_cell(subject, found.copies), copies],
    ]
    notes = [say("distances-note", coverage=curled(found.how))]
    if found.closer is not None:
        notes.append(say("distances-closer", share=subject.rules.format_risk(found.closer)))
    head = (say("head-measure"), say("distances-head-released"), say("distances-head-control"))
    return listing(say("distances-table"), head, rows, " ".join(notes))
