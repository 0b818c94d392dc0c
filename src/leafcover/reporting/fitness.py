"""For whom a release is fit, derived from what was measured by limits that are said beside each verdict."""

from collections.abc import Iterator
from dataclasses import dataclass
from math import ceil, isnan
from typing import Literal, TypeAlias

from leafcover.metrics.estimates import Estimate
from leafcover.metrics.suite import Measures, Risks
from leafcover.metrics.utility.prediction import Agreement
from leafcover.reporting.context import InferenceResult, ReportContext, above_of
from leafcover.reporting.disclosure_rules import FEWEST, DisclosureRules, beside, counted, listed, started

# A judgement and why; the reasons say every limit that they go by.


Fit: TypeAlias = Literal["yes", "with care", "no", "not known"]
ROUNDING = 1e-9  # a figure this little above its limit is at it


@dataclass(frozen=True)
class Verdict:
    """Whether the release is fit for somebody, and why."""

    fit: Fit
    whom: str
    why: str


def judged(value: float, first: float, second: float) -> Fit:
    """Fit up to the first limit, with care up to the second.

    >>> judged(0.05, 0.05, 0.2), judged(0.0501, 0.05, 0.2), judged(0.3, 0.05, 0.2)
    ('yes', 'with care', 'no')
    """
    return "yes" if value <= first + ROUNDING else "with care" if value <= second + ROUNDING else "no"


NEAR, FAR = 0.02, 0.05  # how far an agreement may lie below its floor: fit, and fit with care
STILL, MOVED = 0.02, 0.05  # how far a column's shares may have moved: the same
FIRM, LOOSE = 0.05, 0.1  # how far a relation of two columns may have moved: the same
SEEN = 0.01  # rows with a pair of values that nobody had


def verdicts(subject: ReportContext) -> Iterator[Verdict]:
    """For whom the release is fit and for whom not; the hardest no first."""
    for why in subject.refusals:
        yield Verdict("no", "Anybody outside the house", f"Do not publish. {why}")
    if not subject.refusals:
        yield outside(subject)
    measures = subject.measures
    if measures is None:
        yield Verdict("not known", "Miners", f"What models and statistics lose {subject.untold}.")
    else:
        yield from _mining(subject, measures)
        yield from _counting(subject, measures)
    changed = subject.changed
    if changed is None or changed > 0:
        how = "Which values are the person’s own is not known."
        if changed is not None:
            some = "Some" if subject.voice.silent else started(subject.voice.share(changed))
            how = f"{some} of the values are not the person’s own."
        yield Verdict("no", "Work on single rows", f"{how} A row is nobody’s record.")


def _mining(subject: ReportContext, measures: Measures) -> Iterator[Verdict]:
    agreements = measures.utility.agreement
    if agreements is None:
        yield Verdict("not known", "Miners", "No rows outside the release are known to test models on.")
        return
    voice, tests = subject.voice, agreements.tests
    if voice.strict and tests * FAR < FEWEST:  # a limit would tell fewer than five people
        yield Verdict("not known", "Miners", "Too few rows outside the release are known to test models on.")
        return
    if (own := agreements.target) is not None and not isnan(own.agreement.value):
        yield Verdict(
            _near(own.agreement, own.floor),
            f"Miners who study {own.target}",
            f"A tree grown on it answers unseen rows as the original’s does in "
            f"{voice.estimate(own.agreement, tests)[0]} of cases; one grown on a new sample of the same people would "
            f"in {voice.estimate(own.floor, tests)[0]}.{_gap(own.agreement, own.floor, voice)} "
            f"Fit means at most {100 * NEAR:.0f} points below.",
        )
    if agreements.others and not isnan(agreements.mean.value):
        low = [one for one in agreements.others if _near(one.agreement, one.floor) != "yes"]
        yield Verdict(
            _near(agreements.mean, agreements.mean_floor),
            "Miners who study the other columns",
            f"On average {voice.estimate(agreements.mean, tests)[0]} alike, where a new sample would give "
            f"{voice.estimate(agreements.mean_floor, tests)[0]}."
            f"{_gap(agreements.mean, agreements.mean_floor, voice)}{_less(low)}",
        )


def _gap(found: Estimate, floor: Estimate, voice: DisclosureRules) -> str:
    """How far below its floor an agreement lies; others are told which limit it keeps."""
    fit, short = _near(found, floor), 100 * (floor.value - found.value)
    if isnan(short):
        return ""
    if voice.strict:
        least = {"yes": f"at most {100 * NEAR:.0f}", "with care": f"over {100 * NEAR:.0f}"}
        return f" The release is {least.get(fit, f'over {100 * FAR:.0f}')} points below that."
    limit = 100 * (FAR if fit == "no" else NEAR)
    return f" The release is {f'{beside(short, limit, 1)} points' if short > 0 else 'not'} below that."


def _less(low: list[Agreement]) -> str:
    if not low:
        return f" Each of them is at most {100 * NEAR:.0f} points below."
    names = [one.target for one in sorted(low, key=lambda one: one.agreement.value - one.floor.value)]
    return f" Fit means at most {100 * NEAR:.0f} points below; further below: {listed(names, most=4)}."


def _near(found: Estimate, floor: Estimate) -> Fit:
    if isnan(found.value) or isnan(floor.value):
        return "not known"
    return judged(floor.value - found.value, NEAR, FAR)


def _counting(subject: ReportContext, measures: Measures) -> Iterator[Verdict]:
    columns, relations, pairs = measures.utility.columns, measures.utility.relations, measures.utility.value_pairs
    voice = subject.voice
    distances = [d.largest for d in (columns.number_distances, columns.category_distances) if d.count]
    if distances:
        most = _told(max(distances), subject)
        how = "Every count is exact." if most == 0 else f"Shares of a column moved by at most {_points(most, subject)}."
        yield Verdict(
            judged(most, STILL, MOVED),
            "Counts and shares of one column",
            f"{how} Fit means that no share moved by more than {100 * STILL:.0f} points.{_means(measures)}",
        )
    if relations.every.count:
        most = relations.every.largest
        fit = judged(most, FIRM, LOOSE)
        (first,) = relations.worst(1)
        how = f", by {beside(most, LOOSE if fit == 'no' else FIRM, 3)}" if subject.internal else ""
        moved = (
            f"They moved by {voice.figure(relations.every.mean)} on average (0 is no relation, 1 a perfect one), most "
            f"of all {first.first} with {first.second}{how}."
            if most > 0
            else "No relation moved at all."
        )
        yield Verdict(
            fit,
            "Exact relations between two columns",
            f"{moved} Fit means that none moved by more than {FIRM:g}.",
        )
    if pairs.pairs and pairs.rows_with_new > SEEN:
        yield Verdict(
            "no",
            "Rare combinations of values",
            f"{started(voice.share(pairs.rows_with_new))} of the rows show a pair of values that nobody had.",
        )


def _means(measures: Measures) -> str:
    """What of the averages that a miner may take instead."""
    kept, numbers = measures.utility.properties.means_kept, measures.utility.properties.numbers
    if not numbers:
        return ""
    if kept == numbers:
        return " The means of all number columns are as they were."
    return f" Of {counted(numbers, 'number column')} {counted(kept, 'mean')} stayed exactly."


def _told(moved: float, subject: ReportContext) -> float:
    """How far shares moved; for others in steps of five people at least."""
    if subject.internal or moved == 0:
        return moved
    step = max(1, ceil(100 * FEWEST / subject.voice.rows))
    return step * ceil(round(100 * moved / step, 6)) / 100


def _points(moved: float, subject: ReportContext) -> str:
    if not subject.internal:
        return counted(round(100 * moved), "point")
    return f"{beside(100 * moved, 100 * (MOVED if judged(moved, STILL, MOVED) == 'no' else STILL), 1)} points"


# Whether readers outside the house may have the release: every attack that was run has a say.


LOW, HIGH = 0.05, 0.2  # upper ends of risks: up to the first they are called low, above the second high
WHOM = "Readers outside the house"
MEANT = (
    f"Fit means that the upper ends of both intervals, of linkage and of inference, are at most {100 * LOW:.0f}%, and "
    f"that no other attack works better on people in the release than on others by more than {100 * LOW:.0f} points, "
    "even at the lower end of its interval. Whether that is enough is the steward’s to decide."
)


@dataclass(frozen=True)
class _Finding:
    """What one attack says."""

    fit: Fit
    words: str


def outside(subject: ReportContext) -> Verdict:
    """Whether the measured risks are low; whether low is enough, the steward decides.

    Where nobody could count how often people are found, other attacks can still forbid it, but not allow it.
    """
    if subject.measures is None:
        return Verdict("not known", WHOM, f"How often a person can be found in it {subject.untold}.")
    found = [*_inferred(subject), *_others(subject, subject.measures.risks)]
    linked = _linked(subject)
    fits = [one.fit for one in (*found, *linked)]
    fit: Fit = "no" if "no" in fits else "with care" if "with care" in fits else "yes"
    if fit != "no" and not linked:
        fit = "not known"
    unlinked = "How often a person can be found was not measured: it is not known which released row is whose."
    said = [one.words for one in linked or [_Finding("not known", unlinked)]] + [one.words for one in found]
    return Verdict(fit, WHOM, " ".join([*said, MEANT]))


def _linked(subject: ReportContext) -> list[_Finding]:
    risk, voice = subject.risk, subject.voice
    if risk is None:
        return []
    high = voice.ends(risk, risk.tries)[1]
    words = f"An informed attacker finds a person in {voice.said(risk)} of tries.{_too_high(high, voice)}"
    return [_Finding(judged(high, LOW, HIGH), words)]


def _inferred(subject: ReportContext) -> Iterator[_Finding]:
    """What is told above control of the columns that matter: the one whose upper end is highest."""
    voice = subject.voice
    matter = subject.pair.sensitive or ((subject.pair.target,) if subject.pair.target else ())
    told = [one for one in subject.told if one.column in matter] or subject.told
    if not told:
        yield _Finding("with care", "Without a control nobody can say what it tells of a person beyond patterns.")
        return
    told = [one for one in told if not voice.hides(one.above.runs)]
    if not told:
        yield _Finding("with care", "Too few people were tried to say what it tells of a person beyond patterns.")
        return

    def upper(one: InferenceResult) -> float:
        return voice.outer(one.above, one.above.runs)[1]

    worst = max(told, key=upper)
    yield _Finding(
        judged(upper(worst), LOW, HIGH),
        f"By {worst.by} {worst.column} is told of people in the release more often than of others by "
        f"{voice.by(worst.above, worst.above.runs)}.{_too_high(upper(worst), voice)}",
    )


def _too_high(high: float, voice: DisclosureRules) -> str:
    """The reason, where an upper end is too high, with digits enough to see that it is."""
    limit = HIGH if judged(high, LOW, HIGH) == "no" else LOW
    if judged(high, LOW, HIGH) == "yes":
        return ""
    return f" The upper end, {_digits(100 * high, 100 * limit, voice)}%, is above {100 * limit:.0f}%."


def _digits(value: float, limit: float, voice: DisclosureRules) -> str:
    return beside(value, limit, 0 if voice.strict else 1)


def _others(subject: ReportContext, risks: Risks) -> Iterator[_Finding]:
    """Other attacks that certainly learn more of people in the release than of others.

    Singling out tries descriptions, not people, so that it alone never says no.
    """
    voice = subject.voice
    for name, above, of_people in _above_control(risks):
        if voice.hides(above.runs):
            continue
        low = voice.outer(above, above.runs)[0]
        fit: Fit = judged(low, LOW, HIGH if of_people else 1.0)
        if fit != "yes":
            limit = 100 * (HIGH if fit == "no" else LOW)
            yield _Finding(
                fit,
                f"{name} works better on people in the release than on others by {voice.by(above, above.runs)}: "
                f"the lower end, {_digits(100 * low, limit, voice)}, is above {limit:.0f}.",
            )


def _above_control(risks: Risks) -> Iterator[tuple[str, Estimate, bool]]:
    alone = [above_of(attack) for attack in (risks.singling_out.univariate, risks.singling_out.multivariate)]
    out = max((above for above in alone if above is not None), key=lambda above: above.value, default=None)
    member = None if risks.membership is None else above_of(risks.membership.attack)
    sets = above_of(risks.column_sets.attack)
    for name, above, of_people in (
        ("Telling members", member, True),
        ("Joining two parties’ columns", sets, True),
        ("Singling out", out, False),
    ):
        if above is not None:
            yield name, above, of_people
