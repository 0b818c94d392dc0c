"""What a release is fit for, judged by limits that are stated beside each verdict; and the report's conclusion."""

from collections.abc import Iterator
from dataclasses import dataclass
from math import ceil, isnan
from typing import Literal, TypeAlias

from leafcover.engine.run import FEWEST
from leafcover.messages import catalogue
from leafcover.metrics.estimates import Estimate, Risk
from leafcover.metrics.suite import Measures
from leafcover.metrics.summary import DecisiveRisk, copied_part, exceeds, measured_risks
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
    column: str = ""  # of models; of publication, whose limit of the risk is in force

    @property
    def label(self) -> str:
        """The use in words."""
        return say("use", use=self.use, column=self.column)

    @property
    def fit_label(self) -> str:
        """The verdict in words."""
        return say("fit", fit=self.fit.replace(" ", "-"))


LEVELS: dict[str, Fit] = {"low": "yes", "moderate": "with care", "high": "no"}


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
        share = "" if changed is None else started(context.rules.share(changed))
        yield Verdict("no", "records", say("why-records", known=_whose_values(context), share=share))


def _whose_values(context: ReportContext) -> str:
    """What is known about how many values are the person's own, as the catalogue selects by it."""
    if not context.descends:
        return "dealt"
    return "no" if context.changed is None else "suppressed" if context.rules.suppressed else "yes"


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


# Publication: the risks that decide, by the figures that `--max-risk` goes by.


SEVERITY: dict[Fit, int] = {"yes": 0, "not known": 1, "with care": 2, "no": 3}


@dataclass(frozen=True)
class _Finding:
    """What one attack shows."""

    fit: Fit
    sentence: str
    risk: DecisiveRisk
    bound: float  # the figure that was judged


def publication(context: ReportContext) -> Verdict:
    """Whether the measured risks are low; whether low is enough, the data steward decides.

    Without a figure for record linkage other attacks can still rule publication out, but not allow it, unless no
    released row comes from one person.
    """
    if context.measures is None:
        return Verdict("not known", "publication", say("finding-unmeasured", absence=context.absence))
    found = _findings(context, context.measures)
    sentences = [one.sentence for one in found if one.risk.kind == "linkage"]
    sentences = sentences or [say("finding-not-linked" if context.descends else "finding-dealt")]
    sentences += [one.sentence for one in found if one.risk.kind == "inference"] or [
        say("finding-no-inference", few="yes" if context.inferences else "no")
    ]
    sentences += [one.sentence for one in found if one.risk.kind not in ("linkage", "inference")]
    sentences += _advice(context, context.measures)
    linked = "yes" if context.descends else "no"
    sentences.append(say("why-publication-limit", linked=linked, **_limit(context, context.limit.value)))
    return Verdict(_fit(context, found), "publication", " ".join(sentences), context.limit.source)


def _advice(context: ReportContext, measures: Measures) -> Iterator[str]:
    """What to do about columns above the limit; for the steward alone."""
    risks = [one for one in measured_risks(measures) if context.limit.level(one.bound) != "low"]
    columns = [one.column for one in sorted(risks, key=lambda one: -one.bound) if one.column]
    if context.internal and columns:
        dealt = "no" if context.descends else "yes"
        yield say("finding-advice", columns=listed(columns, most=5), count=len(columns), dealt=dealt)


def _fit(context: ReportContext, found: list[_Finding]) -> Fit:
    kinds, fits = {one.risk.kind for one in found}, {one.fit for one in found}
    if "no" in fits:
        return "no"
    if "linkage" not in kinds and context.descends:
        return "not known"
    return "with care" if "with care" in fits or "inference" not in kinds else "yes"


def _findings(context: ReportContext, measures: Measures) -> list[_Finding]:
    """What every deciding attack that may be published shows; of attribute inference the column that decides."""
    rules = context.rules
    shown = [_finding(context, one) for one in measured_risks(measures) if _is_shown(rules, one)]
    columns = {one.risk.column for one in shown if one.risk.kind == "inference"}
    worst = next((one.column for one in context.inferences if one.column in columns), None)
    return [one for one in shown if one.risk.kind != "inference" or one.risk.column == worst]


def _is_shown(rules: DisclosureRules, one: DecisiveRisk) -> bool:
    return rules.shows(one.risk) if isinstance(one.risk, Risk) else not rules.suppresses(one.risk.runs)


def _finding(context: ReportContext, one: DecisiveRisk) -> _Finding:
    """One attack, judged by the figures that are published."""
    rules = context.rules
    if isinstance(one.risk, Risk):
        bound = one.bound_of(*rules.interval_of(one.risk, one.risk.tries))
        figure = rules.format_risk(one.risk)
    else:
        bound = one.bound_of(*rules.difference_interval(one.risk, one.risk.runs))
        figure = rules.format_points(one.risk, one.risk.runs)
    fit = LEVELS[context.limit.level(bound)]
    if one.kind == "linkage":
        sentences = [say("finding-linkage", risk=figure)]
    elif one.kind == "inference":
        sentences = [say("finding-inference", column=one.column, method=one.method, points=figure)]
    elif one.kind == "membership":
        sentences = [say("finding-membership", method=one.method, points=figure)]
    else:
        kind = context.measures.risks.copies.findings[0].kind if context.measures else ""
        sentences = [say("finding-copies", kind=kind, part=_copied(context), points=figure)]
    if one.kind != "copies" and fit != "yes":
        limit = context.limit.high if fit == "no" else context.limit.value
        end = "upper" if one.by_upper_end else "lower"
        bound_text = _digits(100 * bound, 100 * limit, rules)
        sentences.append(say("finding-above-limit", end=end, bound=bound_text, limit=f"{100 * limit:g}"))
    return _Finding(fit, " ".join(sentences), one, bound)


def _copied(context: ReportContext) -> str:
    """The most significant copies, in words."""
    found = () if context.measures is None else context.measures.risks.copies.findings
    return copied_part(found[0].kind, found[0].columns, found[0].without) if found else ""


def _digits(value: float, limit: float, rules: DisclosureRules) -> str:
    return beside(value, limit, 0 if rules.strict else 1)


# The conclusion: a label and one sentence, by the same findings.


@dataclass(frozen=True)
class Conclusion:
    """What the measured risks amount to."""

    level: Literal["low", "partly-known", "moderate", "high", "refused", "unmeasured", "not-known"]
    sentence: str
    figure: str = ""  # the one that decides, and the limit

    @property
    def label(self) -> str:
        """The level in a few words."""
        return say("chip", level=self.level)


def conclusion(context: ReportContext) -> Conclusion:
    """What the measured risks amount to."""
    if context.refusals:
        return Conclusion("refused", say("conclusion-refused"))
    if context.measures is None:
        return Conclusion("unmeasured", say("conclusion-unmeasured", absence=context.absence))
    found = _findings(context, context.measures)
    verdict = _fit(context, found)
    worst = max(found, key=_weight, default=None)
    if verdict == "not known" or worst is None:
        reason = "linkage" if context.descends else "inference"
        return Conclusion("not-known", say("conclusion-not-known", reason=reason))
    if worst.risk.kind == "copies":
        return Conclusion("high", say("conclusion-copies", part=_copied(context)))
    level: Literal["low", "partly-known", "moderate", "high"] = "high"
    if verdict != "no":
        level = "low" if verdict == "yes" else "partly-known" if worst.fit == "yes" else "moderate"
    limit = context.limit.high if worst.fit == "no" else context.limit.value
    figures = {
        "unit": "percent" if worst.risk.kind == "linkage" else "points",
        "bound": _digits(100 * worst.bound, 100 * limit, context.rules),
        **_limit(context, limit),
    }
    end = "upper" if worst.risk.by_upper_end else "lower"
    sentence = say("conclusion", level=level, name=worst.risk.name, end=end, **figures)
    return Conclusion(level, sentence, say("chip-figure", **figures))


def _limit(context: ReportContext, limit: float) -> dict[str, str]:
    """A limit in per cent, and whose it is."""
    above = not context.limit.is_set and limit == context.limit.high
    return {"limit": f"{100 * limit:g}", "source": "none-high" if above else context.limit.source}


def _weight(one: _Finding) -> tuple[int, float]:
    """The worst verdict first; among equals the higher figure."""
    return SEVERITY[one.fit], one.bound
