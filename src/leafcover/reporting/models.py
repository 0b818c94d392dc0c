"""The section on models: how well those trained on the release predict unseen rows, and how often they agree.

Accuracy is for the target alone; agreement with the model of the original takes every column as target in turn. The
rules of two forests, from `trees`, close the section.
"""

from collections.abc import Iterator, Sequence
from math import isnan

from leafcover.messages import catalogue
from leafcover.metrics.estimates import Estimate
from leafcover.metrics.utility.prediction import Agreement, Agreements, ModelAccuracy, Prediction
from leafcover.reporting.components import (
    Cell,
    Heading,
    Part,
    Section,
    Strip,
    Words,
    fold,
    listing,
    lower_end,
    section,
    span_words,
    strip,
)
from leafcover.reporting.context import ReportContext
from leafcover.reporting.disclosure_rules import DisclosureRules, curled, listed, started
from leafcover.reporting.trees import forest_comparison_parts

say = catalogue("report_details")

MAX_TARGETS_UNFOLDED = 20  # columns as targets; more are folded away


def models_section(subject: ReportContext) -> Section | None:
    """Accuracy and agreement, where rows outside the release are known; the rules of a forest, where a target is."""
    if subject.measures is None:
        return None
    utility = subject.measures.utility
    unseen = utility.prediction is not None or utility.agreement is not None
    return section(
        "models",
        say("models-title"),
        Words(say("models-lead", control=curled(subject.measures.control)), tone="lead") if unseen else None,
        *([] if utility.prediction is None else _accuracy(subject, utility.prediction)),
        *([] if utility.agreement is None else _agreement(subject, utility.agreement)),
        *([] if utility.forest is None else forest_comparison_parts(subject, utility.forest)),
    )


# Accuracy on unseen rows.


def _accuracy(subject: ReportContext, found: Prediction) -> Iterator[Part | None]:
    voice = subject.rules
    scores = [one for one in found.scores if not isnan(one.released.value)]
    if not scores or voice.suppresses(found.tests):
        few = say("models-accuracy-too-few", target=found.target)
        yield Words(few if scores else say("models-accuracy-no-rows", target=found.target))
        return
    yield Heading(say("models-accuracy-heading", target=found.target))
    majority = voice.format_estimate(found.majority, found.tests)
    yield Words(say("models-accuracy-lead", target=found.target, majority=majority))
    ends = lower_end([score for one in scores for score in (one.released, one.original)])
    notes = [say("models-accuracy-note")]
    if subject.internal:
        notes.append(say("models-basis", basis=started(curled(found.how))))
    yield listing(
        say("models-accuracy-table"),
        (say("models-head-model"), span_words(ends), *_accuracy_heads(), say("models-head-same-answer")),
        [_accuracy_row(voice, one, found.tests, ends) for one in scores],
        " ".join(notes),
    )
    if subject.internal:
        yield fold(
            say("models-balanced-fold"),
            listing(
                say("models-balanced-table"),
                (say("models-head-model"), *_accuracy_heads()),
                [
                    [
                        _model_name(one.model),
                        Cell(*voice.estimate(one.balanced_released, found.tests)),
                        Cell(*voice.estimate(one.balanced_original, found.tests)),
                        Cell(*voice.points(one.balanced_difference, found.tests)),
                    ]
                    for one in scores
                ],
                say("models-balanced-note"),
            ),
        )


def _accuracy_heads() -> tuple[str, str, str]:
    return say("models-head-release"), say("models-head-original"), say("models-head-difference")


def _accuracy_row(
    voice: DisclosureRules, one: ModelAccuracy, tests: int, ends: tuple[float, float]
) -> list[str | Cell]:
    value, interval = voice.estimate(one.released, tests)
    before, around = voice.estimate(one.original, tests)
    label = say("models-accuracy-strip", released=value, original=before)
    return [
        _model_name(one.model),
        Cell("", strip=_strip(voice, one.released, one.original, tests, label, ends)),
        Cell(value, interval),
        Cell(before, around),
        Cell(*voice.points(one.difference, tests)),
        Cell(*voice.estimate(one.alike, tests)),
    ]


def _strip(
    voice: DisclosureRules, figure: Estimate, mark: Estimate, tests: int, label: str, ends: tuple[float, float]
) -> Strip | None:
    """The figure and what it is compared with, as far as they may be drawn."""
    if not voice.can_draw(figure.value, tests):
        return None
    place = voice.rounded(mark).value if voice.can_draw(mark.value, tests) else None
    return strip(voice.rounded(figure), label, ends, place)


def _model_name(name: str) -> str:
    return say("models-sysfor") if name == "sysfor" else started(name)


# Agreement: how often the models of release and original predict the same class.


def _agreement(subject: ReportContext, found: Agreements) -> Iterator[Part | None]:
    if subject.rules.suppresses(found.tests):
        yield Words(say("agreement-too-few"))
        return
    first = [] if found.target is None else [found.target]
    others = sorted(found.others, key=lambda one: one.agreement.value - one.floor.value)
    both = [*first, *([_mean(found)] if others else [])]
    if all(isnan(one.agreement.value) for one in both):
        return
    yield Heading(say("agreement-heading"))
    lead = say("agreement-lead", model="tree" if found.model == "tree" else "other")
    yield Words(f"{lead} {say('agreement-floor')}")
    shown = [*both, *others] if subject.internal else both
    ends = lower_end([e for one in shown for e in (one.agreement, one.floor)])
    table = say("agreement-table")
    if not subject.internal:
        yield _agreement_table(subject, both, found.tests, ends, table, "")
        return
    note = " ".join(_agreement_notes(found))
    yield _agreement_table(subject, [*both, *others[:MAX_TARGETS_UNFOLDED]], found.tests, ends, table, note)
    if rest := others[MAX_TARGETS_UNFOLDED:]:
        more = _agreement_table(subject, rest, found.tests, ends, say("agreement-more-table"), "")
        yield fold(say("agreement-more-fold", count=len(rest)), more)


def _agreement_notes(found: Agreements) -> Iterator[str]:
    yield say("agreement-note")
    if found.left_out:
        yield say("agreement-left-out", columns=listed(found.left_out))
    if found.not_asked:
        yield say("agreement-not-tried", columns=listed(found.not_asked))
    yield say("models-basis", basis=started(curled(found.how)))


def _mean(found: Agreements) -> Agreement:
    name = say("agreement-mean", count=len(found.others))
    return Agreement(name, 0, found.mean, found.mean_floor, found.mean_chance, found.mean, found.mean)


def _agreement_table(
    subject: ReportContext, found: Sequence[Agreement], tests: int, ends: tuple[float, float], name: str, note: str
) -> Part | None:
    voice = subject.rules

    def cell(estimate: Estimate) -> Cell:
        return Cell(*voice.estimate(estimate, tests))

    rows: list[list[str | Cell]] = []
    for one in found:
        value, floor = cell(one.agreement), cell(one.floor)
        label = say("agreement-strip", agreement=value.text, floor=floor.text)
        dots = Cell("", strip=_strip(voice, one.agreement, one.floor, tests, label, ends))
        rows.append([one.target, dots, value, floor, *([cell(one.chance)] if subject.internal else [])])
    heads = [say("agreement-head-target"), span_words(ends), say("agreement-head-agreement"), say("head-floor")]
    return listing(name, [*heads, *([say("head-chance")] if subject.internal else [])], rows, note)
