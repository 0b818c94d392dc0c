"""Two-way and three-way margins, and associations, of the release against those of a bootstrap sample of the original.

A bootstrap sample, drawn from the rows of the original with replacement, differs from it as a new sample of the same
population would. A release whose error is that of a bootstrap sample loses no more than sampling variation does.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb, sqrt
from typing import NamedTuple

import numpy as np

from leafcover.arrays import Codes, Floats, Rows
from leafcover.metrics.models import classes_for
from leafcover.metrics.pair import SEED, Pair, coverage_note, sample_rows
from leafcover.metrics.utility.bivariate import (
    MOST,
    Centred,
    Figure,
    Ready,
    centred,
    column_pairs,
    figures,
    levels_of,
    prepared,
    varies,
)

# Margins: the joint distribution of two or three columns.
#
# The score is that of the k-marginal metric of NIST: 1000 times one minus the total variation between the two
# margins, averaged over margins. The expected score of a bootstrap sample needs no sample: the count of a cell is
# binomial, and its mean absolute deviation has a closed form.


BINS = 20  # groups of equal size of a number with more than ten values
MOST_MARGINS = 1_000  # of three columns; a fixed choice if there are more
MOST_ROWS = 200_000  # of each table
WHOLE = 1_000.0  # the score of a copy
SHOWN = 10  # margins


@dataclass(frozen=True)
class Margin:
    """The joint distribution of some columns: total variation between two tables, from 0 to 1."""

    columns: tuple[str, ...]
    distance: float  # between release and original
    expected: float  # between a bootstrap sample and the original, on average
    ratio: float  # of the two; the expected one counts as at least one row


@dataclass(frozen=True)
class MarginScore:
    """All margins of so many columns; nan without any."""

    ways: int
    score: float  # 1000 for a copy, 0 if the tables have no combination of values in common
    expected: float  # the score of a bootstrap sample
    ratio: float  # mean over margins of the distance over a bootstrap sample's; 1 is a bootstrap sample
    worst: tuple[Margin, ...]  # with the largest ratios, the largest first
    margins: int  # compared
    of: int


@dataclass(frozen=True)
class Margins:
    """The margins of every two and every three columns."""

    pairs: MarginScore
    triples: MarginScore
    rows: int  # used
    of_rows: int
    how: str


class Classes(NamedTuple):
    """One column of both tables as classes from 0, and how many classes there may be."""

    before: Codes
    after: Codes
    size: int


def margins(pair: Pair, *, most: int = MOST_MARGINS, most_rows: int = MOST_ROWS) -> Margins:
    """Compare the two-way and three-way margins of release and original; without the weight.

    The fifty most frequent levels of a category, each value of a number with up to ten, and twenty groups of any other
    number are classes; so is a missing value.
    """
    names = sorted(name for name in pair.names if name != pair.weight)
    rows = sample_rows(len(pair.original), most_rows), sample_rows(len(pair.released), most_rows)
    classes = {name: _classes(pair, name, rows) for name in names}
    return Margins(
        _scored(2, column_pairs(names), comb(len(names), 2), classes),
        _scored(3, column_triples(names, most), comb(len(names), 3), classes),
        len(rows[0]),
        len(pair.original),
        coverage_note(len(rows[0]), len(pair.original)),
    )


def column_triples(names: Sequence[str], most: int) -> list[tuple[str, ...]]:
    """Every three names in alphabetical order, or a fixed random choice of so many.

    >>> column_triples(["town", "age", "job"], 5)
    [('age', 'job', 'town')]
    """
    chosen = set(sample_rows(comb(len(names), 3), most).tolist())
    return [one for number, one in enumerate(combinations(sorted(names), 3)) if number in chosen]


def _classes(pair: Pair, name: str, rows: tuple[Rows, Rows]) -> Classes:
    found = classes_for(pair.original[name], bins=BINS, with_missing=True)
    before, after = (
        found.of(table[name].take(some)) for table, some in zip((pair.original, pair.released), rows, strict=True)
    )
    return Classes(before, after, found.missing + 1)


def _scored(ways: int, chosen: Sequence[tuple[str, ...]], of: int, classes: dict[str, Classes]) -> MarginScore:
    found = [_margin(names, [classes[name] for name in names]) for names in chosen]
    if not found:
        return MarginScore(ways, float("nan"), float("nan"), float("nan"), (), 0, of)
    score, expected = (
        WHOLE * (1 - float(np.mean(distances)))
        for distances in ([one.distance for one in found], [one.expected for one in found])
    )
    worst = sorted(found, key=lambda one: (-one.ratio, one.columns))[:SHOWN]
    return MarginScore(
        ways, score, expected, float(np.mean([one.ratio for one in found])), tuple(worst), len(found), of
    )


def _margin(names: tuple[str, ...], columns: Sequence[Classes]) -> Margin:
    before, after, size = np.zeros(1, np.int64), np.zeros(1, np.int64), 1
    for column in columns:
        before, after = before * column.size + column.before, after * column.size + column.after
        size *= column.size
    ours, theirs = np.bincount(before, minlength=size), np.bincount(after, minlength=size)
    distance = float(np.abs(ours / max(len(before), 1) - theirs / max(len(after), 1)).sum()) / 2
    expected = bootstrap_distance(ours)
    return Margin(names, distance, expected, distance / max(expected, 1 / max(len(before), 1)))


def bootstrap_distance(counts: Rows) -> float:
    """The expected total variation between a table with these counts and a bootstrap sample of it.

    Half the sum of the mean absolute deviations of binomial counts, 2 c (1 - c/n) P(X = c) each, over n (de Moivre).

    >>> round(bootstrap_distance(np.array([1, 1])), 12)  # samples 2:0, 1:1, 1:1, 0:2
    0.25
    """
    from scipy.stats import binom

    rows = int(counts.sum())
    if not rows:
        return 0.0
    held, cells = np.unique(counts[counts > 0], return_counts=True)
    deviations = 2 * held * (1 - held / rows) * binom.pmf(held, rows, held / rows)
    return float((cells * deviations).sum()) / rows / 2


# Associations: how far each is from the original's, in units of a bootstrap sample's error.


RESAMPLES = 40
FEWEST_RESAMPLES = 10
MOST_WORK = 500_000_000  # pairs of columns times rows times resamples; fewer resamples, then fewer rows beyond that
LEAST = 0.1  # of 1/√rows: errors of bootstrap samples count as no smaller


@dataclass(frozen=True)
class RelationError:
    """One association of two columns: how far that of the release is from the original's."""

    first: str
    second: str
    figure: Figure
    before: float
    after: float
    resampled: float  # mean absolute difference between bootstrap samples and the original
    ratio: float  # absolute difference between release and original, divided by it


@dataclass(frozen=True)
class RelationErrors:
    """Every association; mean and largest are nan without any."""

    entries: tuple[RelationError, ...]  # the largest ratio first
    mean: float  # of the ratios; 1 is a bootstrap sample
    largest: float
    resamples: int
    rows: int  # used
    of: int
    pairs: int  # pairs of columns compared
    of_pairs: int
    how: str


def relation_errors(
    pair: Pair, *, resamples: int = RESAMPLES, most_pairs: int = MOST, most_work: int = MOST_WORK
) -> RelationErrors:
    """Compare the change of every association (correlation, Cramér's V, correlation ratio) with a bootstrap's.

    The weight, and columns constant in both tables, are left out.
    """
    names = tuple(name for name in pair.names if name != pair.weight)
    tried = max(1, min(most_pairs, comb(len(names), 2)))
    rows = sample_rows(len(pair.original), max(2, most_work // (tried * (FEWEST_RESAMPLES + 2))))
    count = min(resamples, max(FEWEST_RESAMPLES, most_work // (tried * max(1, len(rows)))))
    columns = {name: prepared(pair, name, rows) for name in names}
    used = [name for name in names if any(varies(column) for column in columns[name])]
    pairs = column_pairs(used, most_pairs)
    levels = {(one, two): levels_of(columns[one][0], columns[two][0]) for one, two in pairs}
    before, after = (_associations(levels, {name: columns[name][side] for name in used}) for side in (0, 1))
    errors = np.zeros((count, len(before)))
    for number in range(count):
        drawn = np.random.default_rng([SEED, number]).integers(0, len(rows), len(rows))
        sample = {name: _resampled(columns[name][0], drawn) for name in used}
        errors[number] = np.abs(_values(_associations(levels, sample)) - _values(before))
    least = LEAST / sqrt(max(1, len(rows)))
    resampled = np.maximum(errors.mean(axis=0), least)
    ratios = np.abs(_values(after) - _values(before)) / resampled
    entries = [
        RelationError(*key, before[key], after[key], float(error), float(ratio))
        for key, error, ratio in zip(before, resampled, ratios, strict=True)
    ]
    return RelationErrors(
        tuple(sorted(entries, key=lambda e: (-e.ratio, e.first, e.second))),
        float(ratios.mean()) if len(ratios) else float("nan"),
        float(ratios.max()) if len(ratios) else float("nan"),
        count,
        len(rows),
        len(pair.original),
        len(pairs),
        comb(len(used), 2),
        coverage_note(len(rows), len(pair.original)),
    )


def _associations(
    levels: Mapping[tuple[str, str], int | None], columns: dict[str, Ready]
) -> dict[tuple[str, str, Figure], float]:
    """The associations of one table by columns and kind; covariances say nothing that correlations do not."""
    return {
        (one, two, figure): value
        for (one, two), fewer in levels.items()
        for figure, value in figures(columns[one], columns[two], fewer).items()
        if figure != "covariance"
    }


def _values(associations: dict[tuple[str, str, Figure], float]) -> Floats:
    return np.array(list(associations.values()), np.float64)


def _resampled(column: Ready, rows: Rows) -> Ready:
    return centred(column.values[rows]) if isinstance(column, Centred) else column[rows]
