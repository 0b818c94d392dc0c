"""For whom a release is fit, derived from what was measured by limits that are said beside each verdict."""

from collections.abc import Iterator
from dataclasses import dataclass
from math import isnan
from typing import Literal, TypeAlias

from leafcover.measuring.figures import Estimate
from leafcover.measuring.measures import Measures
from leafcover.measuring.utility.agreement import Agreement
from leafcover.releasing.reporting.subject import Subject
from leafcover.releasing.reporting.voice import listed, started

Fit: TypeAlias = Literal["yes", "with care", "no", "not known"]

NEAR, FAR = 0.02, 0.05  # how far an agreement may lie below its floor: fit, and fit with care
STILL, MOVED = 0.02, 0.05  # how far a column's shares may have moved: the same
FIRM, LOOSE = 0.05, 0.1  # how far a relation of two columns may have moved: the same
SEEN = 0.01  # rows with a pair of values that nobody had
LOW, HIGH = 0.05, 0.2  # upper ends of risks: below the first they are called low, above the second high


@dataclass(frozen=True)
class Verdict:
    """Whether the release is fit for somebody, and why."""

    fit: Fit
    whom: str
    why: str


def verdicts(subject: Subject) -> Iterator[Verdict]:
    """For whom the release is fit and for whom not; the hardest no first."""
    for why in subject.refusals:
        yield Verdict("no", "Anybody outside the house", f"Do not publish. {why}")
    if not subject.refusals:
        yield _outside(subject)
    measures = subject.measures
    if measures is None:
        yield Verdict("not known", "Miners", "What models and statistics lose was not measured.")
    else:
        yield from _mining(subject, measures)
        yield from _counting(subject, measures)
    changed = subject.changed
    if changed is None or changed > 0:
        how = "Which values are the person’s own is not known."
        if changed is not None:
            how = f"{started(subject.voice.share(changed))} of the values are not the person’s own."
        yield Verdict("no", "Work on single rows", f"{how} A row is nobody’s record.")


def _mining(subject: Subject, measures: Measures) -> Iterator[Verdict]:
    agreements = measures.utility.agreement
    if agreements is None:
        yield Verdict("not known", "Miners", "No rows outside the release are known to test models on.")
        return
    voice = subject.voice
    if (own := agreements.target) is not None:
        yield Verdict(
            _near(own.agreement, own.floor),
            f"Miners who study {own.target}",
            f"A tree grown on it answers unseen rows as the original’s does in {voice.estimate(own.agreement)[0]} of "
            f"cases; one grown on a new sample of the same people would in {voice.estimate(own.floor)[0]}. "
            f"Fit means at most {100 * NEAR:.0f} points below.",
        )
    if agreements.others:
        low = [one for one in agreements.others if _near(one.agreement, one.floor) != "yes"]
        yield Verdict(
            _near(agreements.mean, agreements.mean_floor),
            "Miners who study the other columns",
            f"On average {voice.estimate(agreements.mean)[0]} alike, where a new sample would give "
            f"{voice.estimate(agreements.mean_floor)[0]}.{_less(low)}",
        )


def _less(low: list[Agreement]) -> str:
    if not low:
        return " No column falls short."
    names = [one.target for one in sorted(low, key=lambda one: one.agreement.value - one.floor.value)]
    return f" Less so {listed(names, most=4)}."


def _near(found: Estimate, floor: Estimate) -> Fit:
    if isnan(found.value) or isnan(floor.value):
        return "not known"
    short = floor.value - found.value
    return "yes" if short <= NEAR else "with care" if short <= FAR else "no"


def _counting(subject: Subject, measures: Measures) -> Iterator[Verdict]:
    columns, relations, pairs = measures.utility.columns, measures.utility.relations, measures.utility.value_pairs
    voice = subject.voice
    distances = [d.largest for d in (columns.number_distances, columns.category_distances) if d.count]
    if distances:
        most = max(distances)
        how = "Every count is exact." if most == 0 else f"Shares moved by at most {_points(most, subject)}."
        yield Verdict(
            "yes" if most <= STILL else "with care" if most <= MOVED else "no",
            "Counts and averages of one column",
            f"{how} Fit means at most {100 * STILL:.0f} points.",
        )
    if relations.every.count:
        most = relations.every.largest
        (first,) = relations.worst(1)
        how = f", by {voice.figure(most)}" if subject.internal else ""
        yield Verdict(
            "yes" if most <= FIRM else "with care" if most <= LOOSE else "no",
            "Exact relations between two columns",
            f"They moved by {voice.figure(relations.every.mean)} on average (0 is no relation, 1 a perfect one), most "
            f"of all {first.first} with {first.second}{how}. Fit means at most {FIRM:g}.",
        )
    if pairs.pairs and pairs.rows_with_new > SEEN:
        yield Verdict(
            "no",
            "Rare combinations of values",
            f"{started(voice.share(pairs.rows_with_new))} of the rows show a pair of values that nobody had.",
        )


def _points(value: float, subject: Subject) -> str:
    if not subject.internal:
        return f"{100 * value:.0f} points" if value >= 0.01 else "1 point"
    return f"{100 * value:.1f} points"


def _outside(subject: Subject) -> Verdict:
    """Whether the measured risks are low; whether low is enough, the steward decides."""
    whom, risk = "Readers outside the house", subject.risk
    if risk is None:
        return Verdict("not known", whom, "How often a person can be found in it was not measured.")
    voice = subject.voice
    highest, said = risk.high, [f"An informed attacker finds a person in {voice.said(risk)} of tries."]
    wanted = subject.pair.confidential or ((subject.pair.target,) if subject.pair.target else ())
    found = [(one, above) for one, above in subject.inferred() if one.column in wanted]
    if found:
        one, above = max(found, key=lambda both: both[1].high)
        highest = max(highest, above.high)
        value, interval = voice.points(above, above.runs)
        said.append(
            f"The nearest released row tells {one.column} of people in the release better than of others by {value} "
            f"points ({interval})."
        )
    else:
        said.append("Without a control nobody can say what it tells of a person beyond patterns.")
    others = list(_surely_above(subject))
    said += [
        f"{name} works better on people in the release by {voice.points(above, above.runs)[0]} points."
        for name, above in others
    ]
    said.append(
        f"Fit means: the ends of both intervals at most {100 * LOW:.0f}%, and no other attack surely further above its "
        "control. Whether that is enough is the steward’s to decide."
    )
    careful = highest > LOW or not found or bool(others)
    return Verdict("no" if highest > HIGH else "with care" if careful else "yes", whom, " ".join(said))


def _surely_above(subject: Subject) -> Iterator[tuple[str, Estimate]]:
    """Other attacks that certainly learn more of people in the release than of others."""
    if subject.measures is None:
        return
    risks = subject.measures.risks
    out = max(
        (a.above_control for a in (risks.singling_out.univariate, risks.singling_out.multivariate) if a.above_control),
        key=lambda above: above.value,
        default=None,
    )
    member = None if risks.membership is None else risks.membership.advantage
    sets = risks.column_sets.attack.above_control
    for name, above in (("Singling out", out), ("Joining two parties’ columns", sets), ("Telling members", member)):
        if above is not None and above.low > LOW:
            yield name, above
