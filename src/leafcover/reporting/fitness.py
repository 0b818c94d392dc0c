"""What a release is fit for, judged by limits that are stated beside each verdict; and the report's conclusion."""

from collections.abc import Iterator
from dataclasses import dataclass
from math import ceil, isnan
from typing import Literal, TypeAlias

from leafcover.engine.run import FEWEST
from leafcover.messages import catalogue
from leafcover.metrics.estimates import Estimate, Risk
from leafcover.metrics.suite import Measures
from leafcover.metrics.summary import DecisiveRisk, exceeds, measured_risks
from leafcover.metrics.utility.prediction import Agreement
from leafcover.reporting.context import ReportContext
from leafcover.reporting.disclosure_rules import DisclosureRules, beside, listed, started

say = catalogue("report")

Fit: TypeAlias = Literal["yes", "with care", "no", "not known"]
Use: TypeAlias = Literal[
    "publication", "target-models", "other-models", "models", "counts", "associations", "combinations", "records"
]


@dataclass(frozen=True)
class Verdict:
    """Whether the release is fit for a use, and why."""

    fit: Fit
    use: Use
    why: str
    column: str = ""

    @property
    def label(self) -> str:
        """The use in words."""
        return say("use", use=self.use, column=self.column)

    @property
    def fit_label(self) -> str:
        """The verdict in words."""
        return say("fit", fit=self.fit.replace(" ", "-"))


def judged(value: float, first: float, second: float) -> Fit:
    """Fit up to the first limit, with care up to the second.

    >>> judged(0.05, 0.05, 0.2), judged(0.0501, 0.05, 0.2), judged(0.3, 0.05, 0.2)
    ('yes', 'with care', 'no')
    """
    return "yes" if not exceeds(value, first) else "with care" if not exceeds(value, second) else "no"


NEAR, FAR = 0.02, 0.05  # how far an agreement may lie below its floor: fit, and fit with care
STILL, MOVED = 0.02, 0.05  # how far a column's shares may have moved: the same
FIRM, LOOSE = 0.05, 0.1  # how far an association of two columns may have moved: the same
SEEN = 0.01  # share of rows with a pair of values that does not occur in the original


def verdicts(context: ReportContext) -> Iterator[Verdict]:
    """What the release is fit for and what not; publication first."""
    for why in context.refusals:
        yield Verdict("no", "publication", say("why-refused", reason=why))
    if not context.refusals:
        yield publication(context)
    measures = context.measures
    if measures is None:
        yield Verdict("not known", "models", say("why-utility-unmeasured", absence=context.absence))
    else:
        yield from _models(context, measures)
        yield from _statistics(context, measures)
    changed = context.changed
    if changed is None or changed > 0:
        known = "no" if changed is None else "suppressed" if context.rules.suppressed else "yes"
        share = "" if changed is None else started(context.rules.share(changed))
        yield Verdict("no", "records", say("why-records", known=known, share=share))


def _models(context: ReportContext, measures: Measures) -> Iterator[Verdict]:
    agreements = measures.utility.agreement
    if agreements is None:
        yield Verdict("not known", "models", say("why-models-untested", few="no"))
        return
    rules, tests = context.rules, agreements.tests
    if rules.strict and tests * FAR < FEWEST:  # a limit would reveal fewer than five people
        yield Verdict("not known", "models", say("why-models-untested", few="yes"))
        return
    if (own := agreements.target) is not None and not isnan(own.agreement.value):
        why = [
            say(
                "why-target-models",
                agreement=rules.estimate(own.agreement, tests)[0],
                floor=rules.estimate(own.floor, tests)[0],
            ),
            *_gap(own.agreement, own.floor, rules),
            say("why-models-limit", limit=_percent(NEAR)),
        ]
        yield Verdict(_near(own.agreement, own.floor), "target-models", " ".join(why), own.target)
    if agreements.others and not isnan(agreements.mean.value):
        why = [
            say(
                "why-other-models",
                agreement=rules.estimate(agreements.mean, tests)[0],
                floor=rules.estimate(agreements.mean_floor, tests)[0],
            ),
            *_gap(agreements.mean, agreements.mean_floor, rules),
            _lower([one for one in agreements.others if _near(one.agreement, one.floor) != "yes"]),
        ]
        yield Verdict(_near(agreements.mean, agreements.mean_floor), "other-models", " ".join(why))


def _gap(found: Estimate, floor: Estimate, rules: DisclosureRules) -> Iterator[str]:
    """How far below its floor an agreement lies; the external report says only which limit it keeps."""
    fit, short = _near(found, floor), 100 * (floor.value - found.value)
    if isnan(short):
        return
    limit = FAR if fit == "no" else NEAR
    if rules.strict:
        yield say("why-gap", gap="at-most" if fit == "yes" else "over", points=_percent(limit))
    else:
        yield say("why-gap", gap="exact" if short > 0 else "none", points=beside(short, 100 * limit, 1))


def _lower(low: list[Agreement]) -> str:
    names = [one.target for one in sorted(low, key=lambda one: one.agreement.value - one.floor.value)]
    return say("why-other-models-limit", limit=_percent(NEAR), low=len(low), names=listed(names, most=4))


def _near(found: Estimate, floor: Estimate) -> Fit:
    if isnan(found.value) or isnan(floor.value):
        return "not known"
    return judged(floor.value - found.value, NEAR, FAR)


def _percent(limit: float) -> str:
    return f"{100 * limit:.0f}"


def _statistics(context: ReportContext, measures: Measures) -> Iterator[Verdict]:
    columns, relations, pairs = measures.utility.columns, measures.utility.relations, measures.utility.value_pairs
    rules = context.rules
    distances = [d.largest for d in (columns.number_distances, columns.category_distances) if d.count]
    if distances:
        most = _published(max(distances), context)
        why = [
            say("why-counts", exact="yes" if most == 0 else "no", points=_points(most, context)),
            say("why-counts-limit", limit=_percent(STILL)),
            *_means(measures),
        ]
        yield Verdict(judged(most, STILL, MOVED), "counts", " ".join(why))
    if relations.every.count:
        most = relations.every.largest
        fit = judged(most, FIRM, LOOSE)
        (first,) = relations.worst(1)
        why = [
            say(
                "why-associations",
                moved="no" if most == 0 else "exactly" if context.internal else "yes",
                mean=rules.figure(relations.every.mean),
                first=first.first,
                second=first.second,
                largest=beside(most, LOOSE if fit == "no" else FIRM, 3),
            ),
            say("why-associations-limit", limit=f"{FIRM:g}"),
        ]
        yield Verdict(fit, "associations", " ".join(why))
    if pairs.pairs and pairs.rows_with_new > SEEN:
        share = started(rules.share(pairs.rows_with_new))
        yield Verdict("no", "combinations", say("why-combinations", share=share))


def _means(measures: Measures) -> Iterator[str]:
    """How many means an analyst may use instead."""
    kept, numbers = measures.utility.properties.means_kept, measures.utility.properties.numbers
    if numbers:
        yield say("why-means", all="yes" if kept == numbers else "no", numbers=numbers, kept=kept)


def _published(moved: float, context: ReportContext) -> float:
    """How far shares moved; in the external report in steps of at least five people."""
    if context.internal or moved == 0:
        return moved
    step = max(1, ceil(100 * FEWEST / context.rules.rows))
    return step * ceil(round(100 * moved / step, 6)) / 100


def _points(moved: float, context: ReportContext) -> str:
    number = f"{round(100 * moved)}"
    if context.internal:
        number = beside(100 * moved, 100 * (MOVED if judged(moved, STILL, MOVED) == "no" else STILL), 1)
    return say("percentage-points", value=number, number="one" if number == "1" else "other")


# Publication: every attack that was run counts, by the figures that `--max-risk` goes by.


SEVERITY: dict[Fit, int] = {"yes": 0, "not known": 1, "with care": 2, "no": 3}
LOW, HIGH = 0.05, 0.2  # up to the first a risk is called low, above the second high


@dataclass(frozen=True)
class _Finding:
    """What one attack shows."""

    fit: Fit
    sentence: str
    risk: DecisiveRisk
    bound: float  # the figure that was judged
    end: float  # the end of the interval that it comes from


def publication(context: ReportContext) -> Verdict:
    """Whether the measured risks are low; whether low is enough, the data steward decides.

    Without a figure for record linkage other attacks can still rule publication out, but not allow it, unless no
    released row comes from one person.
    """
    if context.measures is None:
        return Verdict("not known", "publication", say("finding-unmeasured", absence=context.absence))
    linked, inferred, others = _findings(context, context.measures)
    fits = [one.fit for one in (*linked, *others)] + [inferred if isinstance(inferred, str) else inferred.fit]
    fit: Fit = "no" if "no" in fits else "with care" if "with care" in fits or "not known" in fits else "yes"
    if fit != "no" and not linked and context.measures.descends:
        fit = "not known"
    absent = "finding-not-linked" if context.measures.descends else "finding-dealt"
    sentences = [one.sentence for one in linked] or [say(absent)]
    sentences.append(say("finding-no-inference", few=_few(context)) if isinstance(inferred, str) else inferred.sentence)
    sentences += [one.sentence for one in others]
    return Verdict(fit, "publication", " ".join([*sentences, say("why-publication-limit", limit=_percent(LOW))]))


def _few(context: ReportContext) -> str:
    return "yes" if context.inferences else "no"


def _findings(
    context: ReportContext, measures: Measures
) -> tuple[list[_Finding], _Finding | Literal["not known"], list[_Finding]]:
    """What record linkage, attribute inference and the other attacks show."""
    found = measured_risks(measures)
    rules = context.rules
    linked = [_linked(rules, one) for one in found if one.kind == "linkage" and _is_shown(rules, one)]
    inferred = [_inferred(rules, one) for one in found if one.kind == "inference" and _is_shown(rules, one)]
    others = [_other(rules, one) for one in found if one.kind not in ("linkage", "inference") and _is_shown(rules, one)]
    worst = max(inferred, key=lambda one: one.bound, default=None)
    return linked, "not known" if worst is None else worst, [one for one in others if one.fit != "yes"]


def _is_shown(rules: DisclosureRules, one: DecisiveRisk) -> bool:
    return rules.shows(one.risk) if isinstance(one.risk, Risk) else not rules.suppresses(one.risk.runs)


def _bound(rules: DisclosureRules, one: DecisiveRisk) -> float:
    """The figure that is judged, as it is published."""
    if isinstance(one.risk, Risk):
        return one.bound_of(*rules.interval_of(one.risk, one.risk.tries))
    return one.bound_of(*rules.difference_interval(one.risk, one.risk.runs))


def _linked(rules: DisclosureRules, one: DecisiveRisk) -> _Finding:
    bound = _bound(rules, one)
    risk = rules.format_risk(one.risk) if isinstance(one.risk, Risk) else ""
    sentences = [say("finding-linkage", risk=risk), *_too_high(bound, rules)]
    return _Finding(judged(bound, LOW, HIGH), " ".join(sentences), one, bound, bound)


def _inferred(rules: DisclosureRules, one: DecisiveRisk) -> _Finding:
    bound = _bound(rules, one)
    sentence = say("finding-inference", column=one.column, method=one.method, points=_above(rules, one))
    return _Finding(judged(bound, LOW, HIGH), " ".join([sentence, *_too_high(bound, rules)]), one, bound, bound)


def _other(rules: DisclosureRules, one: DecisiveRisk) -> _Finding:
    """An attack that counts by the lower end: it certainly learns more about people in the release than others."""
    bound = _bound(rules, one)
    fit = judged(bound, LOW, HIGH)
    limit = HIGH if fit == "no" else LOW
    low = rules.difference_interval(one.risk, one.risk.runs)[0] if isinstance(one.risk, Estimate) else bound
    sentence = say(
        "finding-other",
        kind=one.kind,
        points=_above(rules, one),
        low=_digits(100 * low, 100 * limit, rules),
        limit=_percent(limit),
    )
    return _Finding(fit, sentence, one, bound, low)


def _above(rules: DisclosureRules, one: DecisiveRisk) -> str:
    return rules.format_points(one.risk, one.risk.runs) if isinstance(one.risk, Estimate) else ""


def _too_high(high: float, rules: DisclosureRules) -> Iterator[str]:
    """The reason, where an upper end is too high, with enough digits to see that it is."""
    fit = judged(high, LOW, HIGH)
    if fit != "yes":
        limit = HIGH if fit == "no" else LOW
        yield say("finding-above-limit", bound=_digits(100 * high, 100 * limit, rules), limit=_percent(limit))


def _digits(value: float, limit: float, rules: DisclosureRules) -> str:
    return beside(value, limit, 0 if rules.strict else 1)


# The conclusion: one sentence, by the same findings.


def conclusion(context: ReportContext) -> str:
    """What the measured risks amount to."""
    if context.refusals:
        return say("conclusion-refused")
    if context.measures is None:
        return say("conclusion-unmeasured", absence=context.absence)
    linked, inferred, others = _findings(context, context.measures)
    found = [*linked, *([] if isinstance(inferred, str) else [inferred]), *others]
    verdict = publication(context).fit
    worst = max(found, key=_weight, default=None)
    if verdict == "not known" or worst is None:
        return say("conclusion-not-linked")
    level = {"yes": "low", "with care": "moderate"}.get(verdict, "high")
    if level == "moderate" and worst.fit == "yes":
        level = "partly-known"
    limit = HIGH if worst.fit == "no" else LOW
    return say(
        "conclusion",
        level=level,
        name=worst.risk.name,
        end="upper" if worst.risk.by_upper_end else "lower",
        unit="percent" if worst.risk.kind == "linkage" else "points",
        bound=_digits(100 * worst.end, 100 * limit, context.rules),
        limit=_percent(limit),
    )


def _weight(one: _Finding) -> tuple[int, float]:
    """The worst verdict first; among equals the higher figure."""
    return SEVERITY[one.fit], one.bound
