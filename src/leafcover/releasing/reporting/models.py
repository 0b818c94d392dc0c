"""What models learn from the release: how well they predict rows they never saw, and how alike they answer."""

from collections.abc import Iterator, Sequence

from leafcover.measuring.figures import Estimate
from leafcover.measuring.utility.agreement import Agreement, Agreements
from leafcover.measuring.utility.prediction import Prediction
from leafcover.releasing.reporting.shapes import (
    Cell,
    Heading,
    Part,
    Section,
    Words,
    fold,
    listing,
    lower_end,
    section,
    span_words,
    strip,
)
from leafcover.releasing.reporting.subject import Subject
from leafcover.releasing.reporting.voice import curled, listed, started

SHOWN = 20  # columns as targets that are not folded away


def models_section(subject: Subject) -> Section | None:
    """Prediction and agreement, where rows outside the release are known."""
    if subject.measures is None:
        return None
    utility = subject.measures.utility
    if utility.prediction is None and utility.agreement is None:
        return None
    return section(
        "models",
        "What models learn from it",
        Words(f"Tested on rows that no model had seen: {curled(subject.measures.control)}.", tone="lead"),
        *([] if utility.prediction is None else _accuracy(subject, utility.prediction)),
        *([] if utility.agreement is None else _agreements(subject, utility.agreement)),
    )


def _accuracy(subject: Subject, found: Prediction) -> Iterator[Part | None]:
    voice = subject.voice
    yield Heading(f"Predicting {found.target}")
    yield Words(
        f"The share of unseen rows whose {found.target} a model predicts rightly. Always giving the most frequent "
        f"answer is right in {voice.told(found.majority)}."
    )
    figures = [score for one in found.scores for score in (one.released, one.original)]
    ends = lower_end(figures)
    rows: list[list[str | Cell]] = []
    for one in found.scores:
        value, interval = voice.estimate(one.released)
        before, around = voice.estimate(one.original)
        points, between = voice.points(one.difference)
        words = f"Grown on the release {value}, on the original {before}"
        rows.append(
            [
                _model(one.model),
                Cell("", strip=strip(voice.drawn(one.released), words, ends, voice.drawn(one.original).value)),
                Cell(value, interval),
                Cell(before, around),
                Cell(points, between),
            ]
        )
    yield listing(
        "Accuracy",
        ("Model", span_words(ends), "Grown on the release", "Grown on the original", "Difference, points"),
        rows,
        "Dot and line: the model of the release with its 95% interval; upright mark: the model of the original."
        + (f" {started(curled(found.how))}." if subject.internal else ""),
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
                        Cell(*voice.estimate(one.balanced_released)),
                        Cell(*voice.estimate(one.balanced_original)),
                        Cell(*voice.points(one.balanced_difference)),
                    ]
                    for one in found.scores
                ],
                "Every class counts as much as any other, however few rows it has.",
            ),
        )


def _model(name: str) -> str:
    return started(name)


def _agreements(subject: Subject, found: Agreements) -> Iterator[Part | None]:
    yield Heading("Answering as the original’s model does")
    yield Words(
        "The share of unseen rows that a tree grown on the release answers as the one grown on the original does, with "
        "each column as target in turn. The floor is the same for a tree grown on a new sample of the same people: a "
        "release at its floor has cost the tree nothing but the luck of a sample."
    )
    mean = Agreement(
        f"mean of {len(found.others)} other columns",
        0,
        found.mean,
        found.mean_floor,
        found.mean_chance,
        found.mean,
        found.mean,
    )
    others = sorted(found.others, key=lambda one: one.agreement.value - one.floor.value)
    first = [] if found.target is None else [found.target]
    both = [*first, *([mean] if others else [])]
    shown = [*both, *others] if subject.internal else both
    ends = lower_end([e for one in shown for e in (one.agreement, one.floor)])
    if not subject.internal:
        yield _alike(subject, both, ends, "Agreement", "")
        return
    note = "Dot and line: agreement with its 95% interval; upright mark: its floor. Furthest below the floor first."
    if found.left_out:
        note += f" Left out, with one class or one for nearly every row: {listed(found.left_out)}."
    if found.not_asked:
        note += f" Not asked, for their number: {listed(found.not_asked)}."
    yield _alike(subject, [*both, *others[:SHOWN]], ends, "Agreement", f"{note} {started(curled(found.how))}.")
    if len(others) > SHOWN:
        rest = others[SHOWN:]
        yield fold(f"{len(rest)} more columns", _alike(subject, rest, ends, "Agreement of the others", ""))


def _alike(
    subject: Subject, found: Sequence[Agreement], ends: tuple[float, float], name: str, note: str
) -> Part | None:
    voice = subject.voice

    def said(estimate: Estimate) -> Cell:
        return Cell(*voice.estimate(estimate))

    rows: list[list[str | Cell]] = [
        [
            one.target,
            Cell(
                "",
                strip=strip(
                    voice.drawn(one.agreement),
                    f"Agreement {voice.estimate(one.agreement)[0]}, floor {voice.estimate(one.floor)[0]}",
                    ends,
                    voice.drawn(one.floor).value,
                ),
            ),
            said(one.agreement),
            said(one.floor),
            *([said(one.chance)] if subject.internal else []),
        ]
        for one in found
    ]
    head = ("Target", span_words(ends), "Agreement", "Floor", *(["By chance"] if subject.internal else []))
    return listing(name, head, rows, note)
