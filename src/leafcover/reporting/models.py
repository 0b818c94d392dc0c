"""What models learn from the release: how well they predict rows they never saw, and how alike they answer."""

from collections.abc import Iterator, Sequence
from math import isnan

from leafcover.metrics.estimates import Estimate
from leafcover.metrics.utility.prediction import Agreement, Agreements, Prediction
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
from leafcover.reporting.disclosure_rules import DisclosureRules, counted, curled, listed, started
from leafcover.reporting.trees import forest_comparison_parts

NAMES = {"sysfor": "SysFor, a forest"}
SHOWN = 20  # columns as targets that are not folded away


def models_section(subject: ReportContext) -> Section | None:
    """Prediction and agreement, where rows outside the release are known; the rules of a forest, where a target is."""
    if subject.measures is None:
        return None
    utility = subject.measures.utility
    unseen = utility.prediction is not None or utility.agreement is not None
    lead = Words(f"Tested on rows that no model had seen: {curled(subject.measures.control)}.", tone="lead")
    return section(
        "models",
        "What models learn from it",
        lead if unseen else None,
        *([] if utility.prediction is None else _accuracy(subject, utility.prediction)),
        *([] if utility.agreement is None else _agreements(subject, utility.agreement)),
        *([] if utility.forest is None else forest_comparison_parts(subject, utility.forest)),
    )


def _accuracy(subject: ReportContext, found: Prediction) -> Iterator[Part | None]:
    voice = subject.rules
    scores = [one for one in found.scores if not isnan(one.released.value)]
    if not scores or voice.suppresses(found.tests):
        few = f"Too few unseen rows have a known {found.target} to tell how well models predict it."
        yield Words(few if scores else f"No unseen row has a known {found.target} that a model could predict.")
        return
    yield Heading(f"Predicting {found.target}")
    yield Words(
        f"The share of unseen rows whose {found.target} a model predicts rightly. Always giving the value that most "
        f"rows have is right in {voice.format_estimate(found.majority, found.tests)} of cases."
    )
    ends = lower_end([score for one in scores for score in (one.released, one.original)])
    rows: list[list[str | Cell]] = []
    for one in scores:
        value, interval = voice.estimate(one.released, found.tests)
        before, around = voice.estimate(one.original, found.tests)
        words = f"Grown on the release {value}, on the original {before}"
        rows.append(
            [
                _model(one.model),
                Cell("", strip=_strip(voice, one.released, one.original, found.tests, words, ends)),
                Cell(value, interval),
                Cell(before, around),
                Cell(*voice.points(one.difference, found.tests)),
                Cell(*voice.estimate(one.alike, found.tests)),
            ]
        )
    yield listing(
        "Accuracy",
        (
            "Model",
            span_words(ends),
            "Grown on the release",
            "Grown on the original",
            "Difference, points",
            "Both answer alike",
        ),
        rows,
        "Dot and line: the model of the release with its 95% interval; upright mark: the model of the original. Both "
        "answer alike: rightly or not." + (f" {started(curled(found.how))}." if subject.internal else ""),
    )
    if subject.internal:
        yield fold(
            "Accuracy by class, averaged over classes",
            listing(
                "Balanced accuracy",
                ("Model", "Grown on the release", "Grown on the original", "Difference, points"),
                [
                    [
                        _model(one.model),
                        Cell(*voice.estimate(one.balanced_released, found.tests)),
                        Cell(*voice.estimate(one.balanced_original, found.tests)),
                        Cell(*voice.points(one.balanced_difference, found.tests)),
                    ]
                    for one in scores
                ],
                "Every class counts as much as any other, however few rows it has.",
            ),
        )


def _strip(
    voice: DisclosureRules, figure: Estimate, mark: Estimate, tests: int, words: str, ends: tuple[float, float]
) -> Strip | None:
    """The figure and what it is compared with, as far as they may be drawn."""
    if not voice.can_draw(figure.value, tests):
        return None
    place = voice.rounded(mark).value if voice.can_draw(mark.value, tests) else None
    return strip(voice.rounded(figure), words, ends, place)


def _model(name: str) -> str:
    return NAMES.get(name, started(name))


def _agreements(subject: ReportContext, found: Agreements) -> Iterator[Part | None]:
    if subject.rules.suppresses(found.tests):
        yield Words("Too few rows outside the release are known to tell how alike models answer.")
        return
    first = [] if found.target is None else [found.target]
    others = sorted(found.others, key=lambda one: one.agreement.value - one.floor.value)
    both = [*first, *([_mean(found)] if others else [])]
    if all(isnan(one.agreement.value) for one in both):
        return
    yield Heading("Answering as the original’s model does")
    grown = "smaller trees than those compared above, grown anew for each column" if found.model == "tree" else "trees"
    yield Words(
        "The share of unseen rows that a tree grown on the release answers as the one grown on the original does, with "
        f"each column as target in turn ({grown}). The floor is the same for a tree grown on a new sample of the same "
        "people: a release at its floor has cost the tree nothing but the luck of a sample."
    )
    shown = [*both, *others] if subject.internal else both
    ends = lower_end([e for one in shown for e in (one.agreement, one.floor)])
    if not subject.internal:
        yield _alike(subject, both, found.tests, ends, "Agreement", "")
        return
    note = (
        "Dot and line: agreement with its 95% interval; upright mark: its floor. By chance: had both trees given their "
        "answers as often, but to rows at random. Furthest below the floor first."
    )
    if found.left_out:
        note += f" Left out, with one class or one for nearly every row: {listed(found.left_out)}."
    if found.not_asked:
        note += f" Not asked, for their number: {listed(found.not_asked)}."
    note += f" {started(curled(found.how))}."
    yield _alike(subject, [*both, *others[:SHOWN]], found.tests, ends, "Agreement", note)
    if len(others) > SHOWN:
        rest = others[SHOWN:]
        more = counted(len(rest), "more column", "more columns")
        yield fold(more, _alike(subject, rest, found.tests, ends, "Agreement of the others", ""))


def _mean(found: Agreements) -> Agreement:
    count = len(found.others)
    name = f"mean of {count} other columns" if count > 1 else "the one other column"
    return Agreement(name, 0, found.mean, found.mean_floor, found.mean_chance, found.mean, found.mean)


def _alike(
    subject: ReportContext, found: Sequence[Agreement], tests: int, ends: tuple[float, float], name: str, note: str
) -> Part | None:
    voice = subject.rules

    def said(estimate: Estimate) -> Cell:
        return Cell(*voice.estimate(estimate, tests))

    rows: list[list[str | Cell]] = []
    for one in found:
        value, floor = said(one.agreement), said(one.floor)
        words = f"Agreement {value.text}, floor {floor.text}"
        dots = Cell("", strip=_strip(voice, one.agreement, one.floor, tests, words, ends))
        rows.append([one.target, dots, value, floor, *([said(one.chance)] if subject.internal else [])])
    head = ("Target", span_words(ends), "Agreement", "Floor", *(["By chance"] if subject.internal else []))
    return listing(name, head, rows, note)
