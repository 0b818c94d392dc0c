"""The sections on columns: each column before and after, and what became of the relations between columns.

A column is a card: its chart, how much of it changed, and how. Relations are associations of two columns and pairs of
values that no original row has; folded below them, for the internal report, the statistics of several columns at once:
biases, information loss, regression, clusters, weighted totals.
"""

from collections.abc import Iterator
from math import isnan
from typing import Any

import numpy as np

from leafcover.engine.run import Release
from leafcover.messages import catalogue
from leafcover.metrics.estimates import Estimate
from leafcover.metrics.suite import Measures, Utility
from leafcover.metrics.utility.bivariate import Relation
from leafcover.metrics.utility.clusters import Clusters
from leafcover.metrics.utility.information_loss import Biases
from leafcover.metrics.utility.propensity import Totals
from leafcover.metrics.utility.regression import Regression
from leafcover.metrics.utility.univariate import Differences
from leafcover.reporting.charts import chart, compact, square
from leafcover.reporting.components import (
    Beside,
    Card,
    Cards,
    Cell,
    Heading,
    Part,
    Picture,
    Pictures,
    Section,
    Words,
    fold,
    listing,
    section,
)
from leafcover.reporting.context import ReportContext
from leafcover.reporting.disclosure_rules import NONE, curled, started
from leafcover.reporting.method import column_words, dealt_words, recoded_words, words_without_step
from leafcover.reporting.method import say as method_words
from leafcover.table.table import Column

say = catalogue("report_details")

MAX_CHARTS = 60  # columns that are drawn, in table order: a chart takes 30 ms and a reader's patience
MAX_HEAPS = 2  # of a column, those of most rows first
MAX_PAIRS_LISTED = 10  # associations, and pairs of columns with new pairs of values
MAX_ROWS_LISTED = 12  # coefficients and totals
NEGLIGIBLE = 0.0005  # a smaller change of a share is not worth a figure


def columns_section(subject: ReportContext) -> Section | None:
    """Every column: its chart, how much of it changed, and how."""
    cells = _common_cells(subject)
    names = subject.pair.names
    cards = tuple(_card(subject, name, number < MAX_CHARTS, not cells) for number, name in enumerate(names))
    undrawn = max(0, len(names) - MAX_CHARTS)
    return section(
        "columns",
        say("columns-title", audience="internal" if subject.internal else "external"),
        *_lead(subject, cells),
        Words(say("columns-without-chart", count=undrawn)) if undrawn else None,
        Cards(cards, before=subject.internal),
    )


def _common_cells(subject: ReportContext) -> str:
    """The cells in which all columns were perturbed, if they are the same for all."""
    found = {step.within for step in subject.release.plan.steps} if subject.release is not None else set()
    return next(iter(found)).describe() if subject.show_plan and len(found) == 1 else ""


def _lead(subject: ReportContext, cells: str) -> Iterator[Part]:
    words = []
    if not subject.internal:
        words.append(say("columns-lead-external"))
    elif not all(column.is_category for column in subject.pair.released):
        words.append(say("columns-lead-internal"))
    if not subject.descends:
        words.append(say("columns-dealt"))
    elif cells:
        words.append(say("columns-one-partition", cells=cells))
    if words:
        yield Words(" ".join(words), tone="lead")


def _card(subject: ReportContext, name: str, drawn: bool, placed: bool) -> Card:
    from markupsafe import Markup

    before, after = subject.pair.original[name], subject.pair.released[name]
    own = "" if name == subject.target else name
    words = ""
    if subject.release is not None and name in subject.release.no_values:
        words = method_words("column-no-values")
    elif subject.release is not None:
        step, detailed = subject.step_of(name), subject.show_plan
        if step is None:
            words = words_without_step(subject.release, name)
        elif not step.perturb.descends:
            words = dealt_words(subject.release, step, name) if detailed else ""
        else:
            words = column_words(step, name, own=own, detailed=detailed, placed=placed and detailed)
        if recoded := recoded_words(subject.release, name):
            words = f"{recoded} {words if step is not None else method_words('recoded-only')}"
    # matplotlib escapes every text
    picture: Any = Markup(chart(before, after, strict=not subject.internal) if drawn else "")
    return Card(name, _tag(subject, after), picture, tuple(_facts(subject, after)), words, name in subject.unprotected)


def _tag(subject: ReportContext, column: Column) -> str:
    roles = {} if subject.release is None else subject.release.table.roles
    role = roles.get(column.name) or ("weight" if column.name == subject.pair.weight else column.kind)
    if column.name in subject.pair.sensitive:
        role = "sensitive"
    return say("column-tag", role="target" if column.name == subject.target else role)


def _facts(subject: ReportContext, column: Column) -> Iterator[tuple[str, str]]:
    voice, name = subject.rules, column.name
    if voice.suppressed:
        return
    if subject.release is not None:
        yield from () if name in subject.release.no_values else _changed(subject, subject.release, name)
    elif subject.measures is not None and (unmoved := subject.measures.risks.unmoved) is not None:
        stayed = next(one for one in unmoved.columns if one.column == name)
        yield say("column-changed"), voice.share(1 - stayed.unchanged.value)
    missing = float(column.missing.mean())
    if missing > 0:
        yield say("column-missing"), voice.share(missing)
    if subject.internal and subject.measures is not None:
        yield from _measured(subject.measures, column)


def _changed(subject: ReportContext, release: Release, name: str) -> Iterator[tuple[str, str]]:
    """How many values changed, and how many could not; nothing where no row has a value of its own."""
    if not subject.descends:
        return
    voice, whole = subject.rules, subject.step_of(name) is None
    fact = next(f for f in release.columns if f.name == name)
    yield say("column-changed"), "0%" if whole else voice.share(fact.changed)
    yield say("column-fixed"), "100%" if whole else voice.share(fact.fixed)
    if not whole and fact.range_fraction < 1:
        yield say("column-range"), voice.share(fact.range_fraction)
    if fact.noise is not None:
        yield say("column-noise"), voice.share(fact.noise)
        yield say("column-pull"), voice.share(max(fact.pull or 0.0, 0.0))


def _measured(measures: Measures, column: Column) -> Iterator[tuple[str, str]]:
    """How far the column's distribution moved."""
    utility, name = measures.utility, column.name
    number = next((one for one in utility.columns.numbers if one.name == name), None)
    category = next((one for one in utility.columns.categories if one.name == name), None)
    found = number or category
    if found is None:
        return
    if found.distance == 0:
        yield say("column-distribution"), say("column-distribution-identical")
        return
    yield say("column-shift"), _points(found.distance)
    if category is not None and (category.lost or category.new):
        yield say("column-levels"), say("column-levels-counts", lost=category.lost, new=category.new)
    tail = next((one for one in utility.tails.columns if one.column == name), None)
    if tail is not None:
        for name_of_end, end, moved in (
            (say("column-lowest"), tail.lowest, tail.lowest_difference),
            (say("column-highest"), tail.highest, tail.highest_difference),
        ):
            if not isnan(moved) and abs(moved) >= NEGLIGIBLE:
                yield (
                    name_of_end,
                    say("column-before-after", before=_value(column, end.before), after=_value(column, end.after)),
                )
    heaps = sorted((h for h in utility.heaps.heaps if h.column == name), key=lambda h: -h.share.before)
    for heap in heaps[:MAX_HEAPS]:
        shares = say("column-before-after", before=f"{heap.share.before:.0%}", after=f"{heap.share.after:.0%}")
        yield say("column-heap", value=_value(column, heap.value)), shares


def _points(value: float) -> str:
    if value < NEGLIGIBLE:
        return say("column-shift-negligible")
    return say("column-shift-points", points=f"{100 * value:.1f}")


def _value(column: Column, value: float) -> str:
    """A number with three digits, a date as its day, a time to the minute."""
    if column.kind == "number":
        return compact(float(f"{value:.3g}"))
    if column.kind == "date":
        return str(np.datetime64(round(value), "D"))
    return str(np.datetime64(round(value), "s").astype("datetime64[m]")).replace("T", " ")


# Relations between columns: association of two columns, and pairs of values that no original row has.


def relations_section(subject: ReportContext) -> Section | None:
    """Relations of two columns; in an external report without a figure of any two."""
    if subject.measures is None:
        return None
    utility = subject.measures.utility
    parts: list[Part | None] = [*_relations_lead(subject, utility)]
    if subject.internal:
        parts += [*_associations(subject, utility), *_value_pairs(subject, utility), *_statistics(subject, utility)]
    return section("relations", say("relations-title"), *parts)


def _relations_lead(subject: ReportContext, utility: Utility) -> Iterator[Part]:
    if utility.relations.every.count:
        yield Words(f"{say('relations-lead')} {_association_change(subject, utility)}", tone="lead")
    pairs = utility.value_pairs
    if pairs.pairs and not subject.internal:
        yield Words(say("value-pairs-external", share=started(subject.rules.share(pairs.rows_with_new))))


def _association_change(subject: ReportContext, utility: Utility) -> str:
    every, voice = utility.relations.every, subject.rules
    if every.count == 1:
        return say("relations-one-moved", largest=voice.coarse(every.largest))
    mean, worst = voice.figure(every.mean), voice.coarse(every.worst)
    return say("relations-moved", count=every.count, mean=mean, worst=worst)


def _associations(subject: ReportContext, utility: Utility) -> Iterator[Part | None]:
    from markupsafe import Markup

    found = utility.relations
    worst = [one for one in found.worst(MAX_PAIRS_LISTED) if one.difference]
    if found.every.count and not worst:
        yield Words(say("relations-unchanged"))
    table = listing(
        say("relations-table"),
        (
            say("head-columns"),
            say("relations-head-before"),
            say("relations-head-after"),
            say("relations-head-change"),
        ),
        [_association_row(subject, one) for one in worst],
        say("coverage-by-pairs", coverage=curled(found.how), pairs=found.pairs, of=found.of_pairs),
    )
    drawn = square(found)
    # matplotlib escapes every text
    picture = Pictures((Picture(say("relations-picture"), Markup(drawn)),)) if drawn else None
    if picture is not None and table is not None:
        yield Beside((picture, table))
    else:
        yield picture or table


def _association_row(subject: ReportContext, one: Relation) -> list[str | Cell]:
    figure = subject.rules.figure
    columns = Cell(say("pair-of-columns", first=one.first, second=one.second), curled(one.figure))
    return [columns, figure(one.before), figure(one.after), figure(one.difference)]


def _value_pairs(subject: ReportContext, utility: Utility) -> Iterator[Part | None]:
    found, voice = utility.value_pairs, subject.rules
    if not found.pairs:
        return
    yield Heading(say("value-pairs-heading"))
    yield Words(
        say(
            "value-pairs-lead",
            new=found.new,
            rows_with_new=started(voice.share(found.rows_with_new)),
            in_worst=f"{found.new_in_worst_rows:.1f}",
            lost=found.lost,
            rows_with_lost=voice.share(found.rows_with_lost),
        )
    )
    yield fold(
        say("value-pairs-fold"),
        listing(
            say("value-pairs-table"),
            (
                say("head-columns"),
                say("value-pairs-head-new"),
                say("value-pairs-head-new-rows"),
                say("value-pairs-head-lost"),
                say("value-pairs-head-lost-rows"),
            ),
            [
                [
                    say("pair-of-columns", first=e.first, second=e.second),
                    *(f"{count:,}" for count in (e.new, e.new_rows, e.lost, e.lost_rows)),
                ]
                for e in found.worst(MAX_PAIRS_LISTED)
            ],
            say("value-pairs-note", pairs=found.pairs, of=found.of_pairs),
        ),
    )


# Statistics of several columns at once, folded away.


def _statistics(subject: ReportContext, utility: Utility) -> Iterator[Part | None]:
    yield fold(say("biases-fold"), _biases(utility.biases), _loss(subject, utility))
    if utility.regression is not None:
        yield fold(say("regression-fold"), *_regression(subject, utility.regression))
    if utility.clusters:
        yield fold(say("clusters-fold"), _clusters(subject, utility.clusters))
    if utility.totals is not None:
        yield fold(say("totals-fold"), *_totals(utility.totals))


def _decimals(value: float) -> str:
    return NONE if isnan(value) else f"{value:.3f}".replace("-", "−")


def _mean_and_largest(found: Differences) -> tuple[str, str, str]:
    return (_decimals(found.mean), _decimals(found.worst), f"{found.count:,}")


def _biases(found: Biases) -> Part | None:
    rows = [
        (say("biases-spread"), *_mean_and_largest(found.spread)),
        (say("biases-among"), *_mean_and_largest(found.among)),
        (say("biases-across"), *_mean_and_largest(found.across)),
        (say("biases-distance"), *_mean_and_largest(found.distance)),
        (say("biases-quantiles"), *_mean_and_largest(found.quantiles)),
        (say("biases-accuracy"), _decimals(found.accuracy_difference), NONE, "1"),
        (say("biases-rules"), _decimals(found.rule_similarity), NONE, "1"),
    ]
    head = (say("biases-head-bias"), say("biases-head-mean"), say("biases-head-worst"), say("biases-head-count"))
    notes = [say("biases-note"), *(curled(reason) for reason in found.reasons)]
    return listing(say("biases-table"), head, rows, " ".join(notes))


def _loss(subject: ReportContext, utility: Utility) -> Part | None:
    loss, forest = utility.information_loss, utility.forest
    rows: list[tuple[str | Cell, ...]] = [
        (say("loss-eigenvalues"), _decimals(loss.eigenvalues), say("loss-zero-best")),
    ]
    if subject.descends:  # else no released row has an original one to compare it with
        rows[:0] = [
            (say("loss-il1s"), _decimals(loss.il1s), say("loss-il1s-how", worst=_decimals(loss.il1s_worst))),
            (say("loss-squares"), _decimals(loss.squares), say("loss-zero-best")),
        ]
    rows += [
        (
            say("loss-propensity", model=one.model),
            NONE if isnan(one.ratio) else f"{one.ratio:.2f}",
            say("loss-propensity-how", coverage=curled(one.how)),
        )
        for one in utility.propensity
    ]
    if forest is not None:
        worst, chance = _decimals(forest.eduds.worst), _decimals(forest.eduds.chance)
        rows += [
            (say("loss-eduds"), _decimals(forest.eduds.value), say("loss-eduds-how", worst=worst, chance=chance)),
            (say("loss-edusc"), _decimals(forest.edusc.value), say("loss-one-best")),
        ]
    head = (say("head-measure"), say("loss-head-value"), say("head-how-to-read"))
    return listing(say("loss-table"), head, rows, curled(loss.reason) if subject.descends else "")


def _regression(subject: ReportContext, found: Regression) -> Iterator[Part | None]:
    if found.reason or isnan(found.overlap):
        yield Words(curled(found.reason) or say("regression-not-run"))
        return
    model = "logistic" if found.model == "logistic regression" else "linear"
    overlap = say(
        "regression-overlap",
        overlap=_decimals(found.overlap),
        worst=_decimals(found.worst),
        disjoint=subject.rules.share(found.disjoint),
    )
    yield Words(f"{say('regression-lead', model=model, target=found.target)} {overlap}")
    worst = sorted(found.coefficients, key=lambda c: c.overlap)[:MAX_ROWS_LISTED]
    yield listing(
        say("regression-table"),
        (
            say("regression-head-coefficient"),
            say("relations-head-before"),
            say("relations-head-after"),
            say("regression-head-overlap"),
        ),
        [
            [
                say("regression-level", column=c.column, level=c.level) if c.level else c.column,
                _coefficient(c.before),
                _coefficient(c.after),
                _decimals(c.overlap),
            ]
            for c in worst
        ],
        say("regression-note", coverage=curled(found.how), count=len(found.coefficients)),
    )


def _coefficient(found: Estimate | None) -> Cell:
    if found is None:
        return Cell(NONE, say("regression-not-estimated"))
    interval = say("regression-interval", low=_decimals(found.low), high=_decimals(found.high))
    return Cell(_decimals(found.value), interval)


def _clusters(subject: ReportContext, found: tuple[Clusters, ...]) -> Part | None:
    """Clusters of both tables; where no released row has an original one, only where their centres lie."""
    share, paired = subject.rules.share, not all(isnan(one.error) for one in found)
    by_row = (say("clusters-head-error"), say("head-chance"), say("clusters-head-rand")) if paired else ()
    head = (say("clusters-head-count"), *by_row, say("clusters-head-centre"), say("head-floor"))
    rows = [
        [
            f"{one.count}",
            *((share(one.error), share(one.chance), _decimals(one.rand)) if paired else ()),
            share(one.centre_error),
            share(one.centre_floor),
        ]
        for one in found
    ]
    notes = [say("clusters-note-rows")] if paired else []
    notes.append(say("clusters-note", coverage=curled(found[0].how)))
    return listing(say("clusters-table"), head, rows, " ".join(notes))


def _totals(found: Totals) -> Iterator[Part | None]:
    if found.reason:
        yield Words(curled(found.reason))
        return
    weights = say("totals-note", weights="released" if "release" in found.weights else "original")
    changes = say(
        "totals-changes",
        mean=_percent(found.totals.mean),
        worst=_percent(found.totals.worst),
        count_mean=_percent(found.counts.mean),
        count_worst=_percent(found.counts.worst),
    )
    yield listing(
        say("totals-table"),
        (
            say("head-column"),
            say("totals-head-total-before"),
            say("totals-head-total-after"),
            say("totals-head-mean-before"),
            say("totals-head-mean-after"),
        ),
        [
            [
                t.column,
                *(compact(float(f"{x:.4g}")) for x in (t.total.before, t.total.after, t.mean.before, t.mean.after)),
            ]
            for t in found.numbers[:MAX_ROWS_LISTED]
        ],
        f"{weights} {changes}",
    )
    if found.moved:
        yield listing(
            say("totals-moved-table"),
            (
                say("totals-moved-head-group"),
                say("totals-head-total-before"),
                say("totals-head-total-after"),
                say("totals-moved-head-change"),
            ),
            [
                [
                    say("totals-group", column=one.column, level=one.level),
                    *(compact(float(f"{x:.4g}")) for x in (one.count.before, one.count.after)),
                    f"{one.difference:+.1%}",
                ]
                for one in found.moved
            ],
            say("totals-moved-note"),
        )


def _percent(value: float) -> str:
    return NONE if isnan(value) else f"{value:.1%}"
