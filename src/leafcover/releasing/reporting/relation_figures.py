"""Statistics of several columns at once, for those who know them by name; folded away for all others."""

from collections.abc import Iterator
from math import isnan

from leafcover.measuring.measures import Utility
from leafcover.measuring.utility.biases import Biases
from leafcover.measuring.utility.clusters import Clusters
from leafcover.measuring.utility.differences import Differences
from leafcover.measuring.utility.regression import Regression
from leafcover.measuring.utility.totals import Totals
from leafcover.releasing.reporting.charts import compact
from leafcover.releasing.reporting.phrases import counted, curled, started
from leafcover.releasing.reporting.shapes import Cell, Part, Words, fold, listing
from leafcover.releasing.reporting.subject import Subject

MOST = 12  # lines of a table


def figures(subject: Subject, utility: Utility) -> Iterator[Part | None]:
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


def _loss(subject: Subject, utility: Utility) -> Part | None:
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


def _regression(subject: Subject, found: Regression) -> Iterator[Part | None]:
    if found.reason or isnan(found.overlap):
        yield Words(curled(found.reason) or "There was no regression to run.")
        return
    voice = subject.voice
    yield Words(
        f"A {found.model} of {found.target} on all other columns was run on both tables. The 95% intervals of a "
        f"coefficient share {_said(found.overlap)} of their width on average (1 is best, intervals that lie apart "
        f"count 0), of the worst 1% {_said(found.worst)}; {voice.share(found.disjoint)} of the coefficients lie apart."
    )
    worst = sorted(found.coefficients, key=lambda c: c.overlap)[:MOST]
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


def _clusters(subject: Subject, found: tuple[Clusters, ...]) -> Part | None:
    share = subject.voice.share
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
            for t in found.numbers[:MOST]
        ],
        f"Counted with {curled(found.weights)} weights. Totals moved by {_percent(found.totals.mean)} on average, the "
        f"worst by {_percent(found.totals.worst)}; counts of levels by {_percent(found.counts.mean)} and "
        f"{_percent(found.counts.worst)}.",
    )


def _percent(value: float) -> str:
    return "–" if isnan(value) else f"{value:.1%}"
