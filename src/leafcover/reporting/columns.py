"""The columns before and after, one card each."""

from collections.abc import Iterator
from math import isnan
from typing import Any

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
from leafcover.reporting.disclosure_rules import counted, curled, started
from leafcover.reporting.method import column_words, within_words
from leafcover.table.table import Column

MOST_CHARTS = 60  # columns that are drawn, in table order: a chart takes 30 ms and a reader's patience
MOST_HEAPS = 2  # of a column that are told
SMALL = 0.0005  # a difference below this is said to be none


def columns_section(subject: ReportContext) -> Section | None:
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


def _everywhere(subject: ReportContext) -> str:
    """The cells that all columns changed in, when there is one sort alone."""
    splits = {step.within for step in subject.release.plan.steps} if subject.release is not None else set()
    return within_words(next(iter(splits))) if subject.show_plan and len(splits) == 1 else ""


def _lead(subject: ReportContext, everywhere: str) -> Iterator[Part]:
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


def _card(subject: ReportContext, name: str, drawn: bool, placed: bool) -> Card:
    from markupsafe import Markup

    before, after = subject.pair.original[name], subject.pair.released[name]
    own = "" if name == subject.target else name
    words = ""
    if subject.release is not None:
        placed = placed and subject.show_plan
        words = column_words(subject.step_of(name), name, own=own, detailed=subject.show_plan, placed=placed)
    # matplotlib escapes every text
    picture: Any = Markup(chart(before, after, strict=not subject.internal) if drawn else "")
    return Card(name, _tag(subject, after), picture, tuple(_facts(subject, after)), words, name in subject.unprotected)


def _tag(subject: ReportContext, column: Column) -> str:
    if column.name == subject.target:
        return "target"
    roles = {} if subject.release is None else subject.release.table.roles
    if column.name in subject.pair.sensitive:
        return "sensitive"
    return roles.get(column.name) or ("weight" if column.name == subject.pair.weight else column.kind)


def _facts(subject: ReportContext, column: Column) -> Iterator[tuple[str, str]]:
    voice, name = subject.rules, column.name
    if voice.suppressed:
        return
    if subject.release is not None:
        fact = next(f for f in subject.release.columns if f.name == name)
        whole = subject.step_of(name) is None
        yield "changed", "0%" if whole else voice.share(fact.changed)
        yield "could not change", "100%" if whole else voice.share(fact.fixed)
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


# What became of the relations between columns, and what statistics of several columns would say.


MOST_RELATIONS = 10  # relations, and pairs of columns, that are listed


def relations_section(subject: ReportContext) -> Section | None:
    """Relations of two columns; for others without a figure of any two."""
    if subject.measures is None:
        return None
    utility = subject.measures.utility
    parts: list[Part | None] = [*_words(subject, utility)]
    if subject.internal:
        parts += [*_moved(subject, utility), *_new_pairs(subject, utility), *figures(subject, utility)]
    return section("relations", "Relations between columns", *parts)


def _words(subject: ReportContext, utility: Utility) -> Iterator[Part]:
    found, voice = utility.relations, subject.rules
    if found.every.count:
        yield Words(
            "How strongly two columns go together, from 0 (not at all) to 1 (one tells the other): correlation of two "
            "numbers, Cramér’s V of two categories, the correlation ratio of a number and a category. "
            + _moved_by(subject, utility),
            tone="lead",
        )
    pairs = utility.value_pairs
    if pairs.pairs and not subject.internal:
        yield Words(f"{started(voice.share(pairs.rows_with_new))} of the rows show a pair of values that nobody had.")


def _moved_by(subject: ReportContext, utility: Utility) -> str:
    every, voice = utility.relations.every, subject.rules
    if every.count == 1:
        return f"The strength of the one relation there is moved by {voice.coarse(every.largest)}."
    return (
        f"Of {counted(every.count, 'relation')} the strength moved by {voice.figure(every.mean)} on average, of the "
        f"worst 1% by {voice.coarse(every.worst)}."
    )


def _moved(subject: ReportContext, utility: Utility) -> Iterator[Part | None]:
    from markupsafe import Markup

    found = utility.relations
    worst = [one for one in found.worst(MOST_RELATIONS) if one.difference]
    if found.every.count and not worst:
        yield Words("No relation moved at all.")
    table = listing(
        "The relations that moved most",
        ("Columns", "Before", "After", "Moved by"),
        [_row(subject, one) for one in worst],
        f"Over {curled(found.how)}; {found.pairs:,} of {counted(found.of_pairs, 'pair')} of columns.",
    )
    drawn = square(found)
    title = "Strength before (below the diagonal) and after (above it): alike when kept"
    picture = Pictures((Picture(title, Markup(drawn)),)) if drawn else None  # matplotlib escapes every text
    if picture is not None and table is not None:
        yield Beside((picture, table))
    else:
        yield picture or table


def _row(subject: ReportContext, one: Relation) -> list[str | Cell]:
    said = subject.rules.figure
    columns = Cell(f"{one.first} with {one.second}", curled(one.figure))
    return [columns, said(one.before), said(one.after), said(one.difference)]


def _new_pairs(subject: ReportContext, utility: Utility) -> Iterator[Part | None]:
    found, voice = utility.value_pairs, subject.rules
    if not found.pairs:
        return
    yield Heading("Pairs of values that nobody had")
    yield Words(
        f"Of values that now stand in one row but never did before there are {counted(found.new, 'pair')}; "
        f"{voice.share(found.rows_with_new)} of the released rows show at least one, the worst 1% of the rows "
        f"{found.new_in_worst_rows:.1f} on average. Lost from the original: {counted(found.lost, 'pair')}, which "
        f"{voice.share(found.rows_with_lost)} of the original rows had."
    )
    yield fold(
        "Where they are",
        listing(
            "Pairs of columns with most of them",
            ("Columns", "New pairs", "Released rows", "Lost pairs", "Original rows"),
            [
                [f"{e.first} with {e.second}", f"{e.new:,}", f"{e.new_rows:,}", f"{e.lost:,}", f"{e.lost_rows:,}"]
                for e in found.worst(MOST_RELATIONS)
            ],
            f"Categories and numbers of at most 20 values; {found.pairs:,} of {counted(found.of_pairs, 'pair')} of "
            "columns.",
        ),
    )


# Statistics of several columns at once, for those who know them by name; folded away for all others.


MOST_LINES = 12  # lines of a table


def figures(subject: ReportContext, utility: Utility) -> Iterator[Part | None]:
    """Biases, models of the difference, regression, clusters, totals."""
    yield fold("Biases, loss and models that tell the tables apart", *_biases(utility.biases), _loss(subject, utility))
    if utility.regression is not None:
        yield fold("What a regression would say", *_regression(subject, utility.regression))
    if utility.clusters:
        yield fold("Clusters", _clusters(subject, utility.clusters))
    if utility.totals is not None:
        yield fold("Weighted totals", *_totals(utility.totals))


def _sizes(found: Differences) -> tuple[str, str, str]:
    return (_said(found.mean), _said(found.worst), f"{found.count:,}")


def _said(value: float) -> str:
    return "–" if isnan(value) else f"{value:.3f}".replace("-", "−")


def _biases(found: Biases) -> Iterator[Part | None]:
    rows = [
        ("A: spread of a number", *_sizes(found.spread)),
        ("B: correlations among confidential numbers", *_sizes(found.among)),
        ("C: correlations with other numbers", *_sizes(found.across)),
        ("D: distribution, largest difference of shares", *_sizes(found.distance)),
        ("D: quantiles, in standard deviations", *_sizes(found.quantiles)),
        ("DM: accuracy of a model, release less original", _said(found.accuracy_difference), "–", "1"),
        ("DM: rules that both trees share", _said(found.rule_similarity), "–", "1"),
    ]
    yield listing(
        "Biases of numbers",
        ("Bias", "Mean size", "Worst 1%", "Of"),
        rows,
        " ".join(["0 is none; for shared rules 1 is best.", *(curled(reason) for reason in found.reasons)]),
    )


def _loss(subject: ReportContext, utility: Utility) -> Part | None:
    loss, forest = utility.information_loss, utility.forest
    rows: list[tuple[str | Cell, ...]] = [
        ("IL1s: how far numbers moved", _said(loss.il1s), f"worst 1%: {_said(loss.il1s_worst)}; 0 is nothing"),
        ("Squared moves by squared spread", _said(loss.squares), "0 is nothing"),
        ("Eigenvalues of the correlations", _said(loss.eigenvalues), "0 is nothing"),
    ]
    rows += [
        (
            f"pMSE ratio, by {one.model}",
            "–" if isnan(one.ratio) else f"{one.ratio:.2f}",
            f"about 1 or less: tables cannot be told apart; {curled(one.how)}",
        )
        for one in utility.propensity
    ]
    if forest is not None:
        rows += [
            (
                "EDUDS: same room under two forests (our definition)",
                _said(forest.eduds.value),
                f"worst 1%: {_said(forest.eduds.worst)}; 1 is best, {_said(forest.eduds.chance)} by chance",
            ),
            ("EDUSC: what columns alone tell of the target (our definition)", _said(forest.edusc.value), "1 is best"),
        ]
    return listing("Loss", ("Figure", "Value", "How to read it"), rows, curled(loss.reason))


def _regression(subject: ReportContext, found: Regression) -> Iterator[Part | None]:
    if found.reason or isnan(found.overlap):
        yield Words(curled(found.reason) or "There was no regression to run.")
        return
    voice = subject.rules
    yield Words(
        f"A {found.model} of {found.target} on all other columns was run on both tables. The 95% intervals of a "
        f"coefficient share {_said(found.overlap)} of their width on average (1 is best, intervals that lie apart "
        f"count 0), of the worst 1% {_said(found.worst)}; {voice.share(found.disjoint)} of the coefficients lie apart."
    )
    worst = sorted(found.coefficients, key=lambda c: c.overlap)[:MOST_LINES]
    yield listing(
        "The coefficients that agree least",
        ("Coefficient", "Before", "After", "Overlap"),
        [
            [
                f"{c.column} = {c.level}" if c.level else c.column,
                Cell(_said(c.before.value), f"{_said(c.before.low)} to {_said(c.before.high)}"),
                Cell("–", "cannot be told")
                if c.after is None
                else Cell(_said(c.after.value), f"{_said(c.after.low)} to {_said(c.after.high)}"),
                _said(c.overlap),
            ]
            for c in worst
        ],
        "Overlap: the part of their width that both intervals share; below 0 they lie apart, and the mean above counts "
        f"that as 0. {started(curled(found.how))}; {counted(len(found.coefficients), 'coefficient')}.",
    )


def _clusters(subject: ReportContext, found: tuple[Clusters, ...]) -> Part | None:
    share = subject.rules.share
    return listing(
        "k-means on both tables",
        ("Clusters", "Rows in another cluster", "By chance", "Adjusted Rand", "Centres: rows moved", "Floor"),
        [
            [
                f"{one.count}",
                share(one.error),
                share(one.chance),
                _said(one.rand),
                share(one.centre_error),
                share(one.centre_floor),
            ]
            for one in found
        ],
        "Rows in another cluster: of a person’s released row, when clusters are matched best. Centres: original rows "
        f"that the release’s centres put elsewhere; the floor is a new sample’s. Over {curled(found[0].how)}.",
    )


def _totals(found: Totals) -> Iterator[Part | None]:
    if found.reason:
        yield Words(curled(found.reason))
        return
    yield listing(
        "Weighted totals and means",
        ("Column", "Total before", "After", "Mean before", "After"),
        [
            [
                t.column,
                *(compact(float(f"{x:.4g}")) for x in (t.total.before, t.total.after, t.mean.before, t.mean.after)),
            ]
            for t in found.numbers[:MOST_LINES]
        ],
        f"Counted with {curled(found.weights)} weights. Totals moved by {_percent(found.totals.mean)} on average, the "
        f"worst by {_percent(found.totals.worst)}; counts of levels by {_percent(found.counts.mean)} and "
        f"{_percent(found.counts.worst)}.",
    )


def _percent(value: float) -> str:
    return "–" if isnan(value) else f"{value:.1%}"
