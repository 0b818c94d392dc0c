"""The columns before and after, one card each."""

from collections.abc import Iterator
from math import isnan
from typing import Any

from leafcover.measuring.measures import Measures
from leafcover.releasing.reporting.charts import chart, compact
from leafcover.releasing.reporting.phrases import counted
from leafcover.releasing.reporting.shapes import Card, Cards, Part, Section, Words, section
from leafcover.releasing.reporting.subject import Subject
from leafcover.releasing.reporting.wording import column_words, within_words
from leafcover.table.table import Column

MOST_CHARTS = 60  # columns that are drawn, in table order: a chart takes 30 ms and a reader's patience
MOST_HEAPS = 2  # of a column that are told
SMALL = 0.0005  # a difference below this is said to be none


def columns_section(subject: Subject) -> Section | None:
    """Every column: its chart, how much of it changed, and how."""
    everywhere = _everywhere(subject)
    names = subject.pair.names
    cards = tuple(_card(subject, name, number < MOST_CHARTS, not everywhere) for number, name in enumerate(names))
    undrawn = max(0, len(names) - MOST_CHARTS)
    return section(
        "columns",
        "Columns before and after" if subject.internal else "Columns as released",
        *_lead(subject, everywhere),
        Words(f"Without a chart, for their number: the last {counted(undrawn, 'column')}.") if undrawn else None,
        Cards(cards, before=subject.internal),
    )


def _everywhere(subject: Subject) -> str:
    """The cells that all columns changed in, when there is one sort alone."""
    splits = {step.within for step in subject.release.plan.steps} if subject.release is not None else set()
    return within_words(next(iter(splits))) if subject.opened and len(splits) == 1 else ""


def _lead(subject: Subject, everywhere: str) -> Iterator[Part]:
    cells = f" All columns changed within the same cells: {everywhere}." if everywhere else ""
    if subject.internal:
        numbers = not all(column.is_category for column in subject.pair.released)
        ends = "The lowest and the highest 1% of the numbers lie outside their charts." if numbers else ""
        if ends or cells:
            yield Words(f"{ends}{cells}".strip(), tone="lead")
    else:
        yield Words(
            "Charts leave out the lowest and the highest values and join bars of fewer than 5 rows; rare values stand "
            f"among the others.{cells}",
            tone="lead",
        )


def _card(subject: Subject, name: str, drawn: bool, placed: bool) -> Card:
    from markupsafe import Markup

    before, after = subject.pair.original[name], subject.pair.released[name]
    own = "" if name == subject.target else name
    words = ""
    if subject.release is not None:
        placed = placed and subject.opened
        words = column_words(subject.step_of(name), name, own=own, detailed=subject.opened, placed=placed)
    # matplotlib escapes every text
    picture: Any = Markup(chart(before, after, strict=not subject.internal) if drawn else "")
    return Card(name, _tag(subject, after), picture, tuple(_facts(subject, after)), words, name in subject.unprotected)


def _tag(subject: Subject, column: Column) -> str:
    if column.name == subject.target:
        return "target"
    roles = {} if subject.release is None else subject.release.table.roles
    if column.name in subject.pair.confidential:
        return "confidential"
    return roles.get(column.name) or ("weight" if column.name == subject.pair.weight else column.kind)


def _facts(subject: Subject, column: Column) -> Iterator[tuple[str, str]]:
    voice, name = subject.voice, column.name
    if voice.silent:
        return
    if subject.release is not None:
        fact = next(f for f in subject.release.columns if f.name == name)
        whole = subject.step_of(name) is None
        yield "changed", "0%" if whole else voice.share(fact.changed)
        yield "could not change", "100%" if whole else voice.share(fact.pinned)
        if not whole and fact.room < 1:
            yield "room left", voice.share(fact.room)
    elif subject.measures is not None and (unmoved := subject.measures.risks.unmoved) is not None:
        stayed = next(one for one in unmoved.columns if one.column == name)
        yield "changed", voice.share(1 - stayed.unchanged.value)
    missing = float(column.missing.mean())
    if missing > 0:
        yield "missing", voice.share(missing)
    if subject.internal and subject.measures is not None:
        yield from _measured(subject.measures, name)


def _measured(measures: Measures, name: str) -> Iterator[tuple[str, str]]:
    """What became of the column's distribution."""
    utility = measures.utility
    number = next((one for one in utility.columns.numbers if one.name == name), None)
    category = next((one for one in utility.columns.categories if one.name == name), None)
    found = number or category
    if found is None:
        return
    if found.distance == 0:
        yield "distribution", "exactly kept"
        return
    yield "shares moved by", _points(found.distance)
    if category is not None and (category.lost or category.new):
        yield "values lost, new", f"{category.lost}, {category.new}"
    tail = next((one for one in utility.tails.columns if one.column == name), None)
    if tail is not None:
        for words, end, moved in (
            ("lowest 5%", tail.lowest, tail.lowest_difference),
            ("highest 5%", tail.highest, tail.highest_difference),
        ):
            if not isnan(moved) and abs(moved) >= SMALL:
                yield words, f"{_short(end.before)} → {_short(end.after)}"
    heaps = sorted((h for h in utility.heaps.heaps if h.column == name), key=lambda h: -h.share.before)
    for heap in heaps[:MOST_HEAPS]:
        yield f"heap at {_short(heap.value)}", f"{heap.share.before:.0%} → {heap.share.after:.0%}"


def _points(value: float) -> str:
    return "under 0.1 points" if value < SMALL else f"{100 * value:.1f} points"


def _short(value: float) -> str:
    return compact(float(f"{value:.3g}"))
