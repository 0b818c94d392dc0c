"""For whom a release is fit, derived from what was measured by limits that are said beside each verdict."""

from collections.abc import Iterator
from math import ceil, isnan

from leafcover.measuring.figures import Estimate
from leafcover.measuring.measures import Measures
from leafcover.measuring.utility.agreement import Agreement
from leafcover.releasing.reporting.outside import outside
from leafcover.releasing.reporting.phrases import counted, listed, started
from leafcover.releasing.reporting.subject import Subject
from leafcover.releasing.reporting.verdict import Fit, Verdict, judged
from leafcover.releasing.reporting.voice import FEWEST, Voice, beside

NEAR, FAR = 0.02, 0.05  # how far an agreement may lie below its floor: fit, and fit with care
STILL, MOVED = 0.02, 0.05  # how far a column's shares may have moved: the same
FIRM, LOOSE = 0.05, 0.1  # how far a relation of two columns may have moved: the same
SEEN = 0.01  # rows with a pair of values that nobody had


def verdicts(subject: Subject) -> Iterator[Verdict]:
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


def _mining(subject: Subject, measures: Measures) -> Iterator[Verdict]:
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


def _gap(found: Estimate, floor: Estimate, voice: Voice) -> str:
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


def _counting(subject: Subject, measures: Measures) -> Iterator[Verdict]:
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


def _told(moved: float, subject: Subject) -> float:
    """How far shares moved; for others in steps of five people at least."""
    if subject.internal or moved == 0:
        return moved
    step = max(1, ceil(100 * FEWEST / subject.voice.rows))
    return step * ceil(round(100 * moved / step, 6)) / 100


def _points(moved: float, subject: Subject) -> str:
    if not subject.internal:
        return counted(round(100 * moved), "point")
    return f"{beside(100 * moved, 100 * (MOVED if judged(moved, STILL, MOVED) == 'no' else STILL), 1)} points"
