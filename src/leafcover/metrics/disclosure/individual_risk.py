"""Re-identification risk of each person: individual risk, and special uniques (SUDA).

Individual risk is the probability that a match on the quasi-identifiers is the right person. In a table of the whole
population it is 1/f for a class of f rows (prosecutor risk). In a survey it is smaller: the estimate of Benedetti and
Franconi, used in mu-Argus, takes the population frequency F of the class as negative binomial given f, with
p = f / (sum of the weights), and the risk as the mean of 1/F.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from math import ceil, comb, prod
from typing import NamedTuple

import numpy as np

from leafcover.arrays import Bools, Floats, Rows, Words
from leafcover.errors import ValueOutOfRange
from leafcover.metrics.disclosure.k_anonymity import EquivalenceClasses, chosen_keys, classes_of, column_marks, summed
from leafcover.metrics.estimates import WORST, Risk, risk_of, risk_over_keys
from leafcover.metrics.pair import Pair, coverage_note, sample_rows

HIGH = 0.2  # a risk above it is high: an anonymity set of fewer than five


@dataclass(frozen=True)
class Individual:
    """Re-identification risk over the rows of the original."""

    risk: Risk  # the mean over rows, with the most exposed 1 %
    expected: float  # re-identifications if everybody were looked up: the sum
    high: Risk  # rows with a risk above 0.2
    model: str  # "prosecutor" or "survey weights"
    columns: tuple[str, ...]
    rows: int


def individual(pair: Pair, *, columns: Sequence[str] = (), bins: int = 0) -> Individual:
    """Individual risk over the original's quasi-identifiers; with survey weights if the pair names them.

    Missing is a value of its own. A weight that is missing, or below 1, counts as 1: the row represents itself.
    """
    keys = chosen_keys(pair, columns)
    classes = classes_of(pair.original, keys, bins=bins)
    by_class = _with_weights(pair, classes) if pair.weight else 1.0 / classes.size
    rows = by_class[classes.label]
    return Individual(
        risk_over_keys(rows),
        float(rows.sum()),
        risk_of((rows > HIGH).astype(np.float64)),
        "survey weights" if pair.weight else "prosecutor",
        keys,
        len(rows),
    )


def mean_reciprocal(sizes: Floats, populations: Floats) -> Floats:
    """The mean of 1/F for classes of so many rows that represent so many people.

    The mean is (p/f) 2F1(1, 1; f+1; 1-p). For f = 1 that is p/(1-p) log(1/p), for f = 2
    p/(1-p) (1 - p/(1-p) log(1/p)).

    >>> mean_reciprocal(np.array([1.0, 2.0, 4.0]), np.array([215.0, 360.0, 4.0])).round(4)
    array([0.0251, 0.0054, 0.25  ])
    """
    from scipy.special import hyp2f1

    sampled = np.minimum(sizes / populations, 1.0)
    few = sizes <= 30
    function = np.ones(len(sizes))
    function[few] = hyp2f1(1.0, 1.0, sizes[few] + 1.0, 1.0 - sampled[few])
    term = np.where(few, 0.0, 1.0)
    for n in range(20):  # above 30 the library overflows, and terms fall faster than 1 / binomial(30 + n, n)
        term *= (n + 1) / (sizes + n + 1) * (1.0 - sampled)
        function += term
    found: Floats = sampled / sizes * function
    return found


def _with_weights(pair: Pair, classes: EquivalenceClasses) -> Floats:
    weights = np.fmax(pair.original[pair.weight].values.astype(np.float64), 1.0)
    populations: Floats = np.zeros(len(classes.size))
    np.add.at(populations, classes.label, weights)
    return mean_reciprocal(classes.size.astype(np.float64), populations)


# Special uniques: rows that are unique on only a few columns, although each value by itself is common.
#
# A minimal sample unique of a row is a set of columns on which no other row equals it, while on every proper subset
# some row does. They are those that SUDA2 finds (Manning, Haglin and Keane 2008), here level by level: a row that is
# unique on a set is unique on every superset, so it leaves the search without affecting other rows.
# The score is that of Elliot, Manning, Mayes, Gurd and Bane 2005, as the SDC Practice Guide prints it.


MOST_ROWS = 50_000
AMONG = 10  # columns searched if none are named
LARGEST = 6
MOST_SETS = 1_000  # of columns searched; ten columns have 847 sets of up to six


@dataclass(frozen=True)
class Contribution:
    """The share of all scores that comes from sets with this column; a set counts for each of its columns."""

    column: str
    share: float


@dataclass(frozen=True)
class Suda:
    """SUDA scores of the original. Scores have no unit: they rank the rows of one table."""

    special: Risk  # rows with a minimal sample unique
    mean: float  # score of a row
    high: float  # the score that 1 % of the rows exceed
    worst: float  # the mean of the 1 % of rows with the highest scores
    sets: tuple[int, ...]  # counts of minimal sample uniques of 1, 2, ... columns
    contributions: tuple[Contribution, ...]  # highest first
    columns: tuple[str, ...]  # searched
    largest: int  # the most columns in a set
    rows: int
    of: int

    @property
    def how(self) -> str:
        """The rows that the figures are computed from; a sample overstates them."""
        note = "" if self.rows >= self.of else "; a sample has more unique rows than the table"
        return coverage_note(self.rows, self.of) + note


class SudaResult(NamedTuple):
    """The result of the search."""

    score: Floats  # (rows,)
    by_column: Floats  # (columns,) summed scores of the sets that hold each column
    sets: Rows  # (largest,) minimal sample uniques by size


def suda(
    pair: Pair,
    *,
    columns: Sequence[str] = (),
    most_columns: int = LARGEST,
    bins: int = 0,
    most: int = MOST_ROWS,
) -> Suda:
    """Search the original's quasi-identifiers for minimal sample uniques of at most ``most_columns`` columns.

    Of more than ten quasi-identifiers the ten with the fewest values are searched: to be unique on those is special,
    and they are what people know about each other. Named columns are all searched, in smaller sets if they are many.
    Missing is a value of its own.
    """
    if most_columns < 1:
        raise ValueOutOfRange("most_columns", most_columns, "at least 1")
    rows = sample_rows(len(pair.original), most)
    keys = chosen_keys(pair, columns)
    sample = pair.original.select(keys).take(rows)
    marks = np.empty((len(keys), len(rows)), np.uint64)
    for place, mark in enumerate(column_marks(sample, keys, bins=bins, like=pair.original)):
        marks[place] = mark
    places = list(range(len(keys))) if columns else _coarsest(marks, keys)
    chosen = tuple(keys[place] for place in places)
    largest = _largest(len(chosen), most_columns)
    found = search(marks[places], largest)
    total = max(found.score.sum(), 1.0)
    contributions = [Contribution(name, float(s / total)) for name, s in zip(chosen, found.by_column, strict=True)]
    ascending = np.sort(found.score)
    return Suda(
        risk_of((found.score > 0).astype(np.float64)),
        float(ascending.mean()) if len(rows) else 0.0,
        float(np.quantile(ascending, 1 - WORST)) if len(rows) else 0.0,
        float(ascending[len(rows) - ceil(WORST * len(rows)) :].mean()) if len(rows) else 0.0,
        tuple(int(n) for n in found.sets),
        tuple(sorted(contributions, key=lambda c: (-c.share, c.column))),
        chosen,
        largest,
        len(rows),
        len(pair.original),
    )


def intrusion(pair: Pair, *, columns: Sequence[str] = (), bins: int = 0, fraction: float = 0.01) -> float:
    """The probability that a unique match with an outside list is correct (DIS; Skinner and Elliot 2002).

    With U unique rows, P rows in classes of two and a sampling fraction s: U s / (U s + P (1-s)). Survey weights, if
    the pair has them, give s; otherwise ``fraction`` does.
    """
    if not 0 < fraction <= 1:
        raise ValueOutOfRange("fraction", fraction, "a share of the population, above 0 and at most 1")
    if pair.weight:
        weights = pair.original[pair.weight].values
        fraction = min(1.0, len(weights) / max(float(np.nansum(weights)), 1.0))
    sizes = classes_of(pair.original, chosen_keys(pair, columns), bins=bins).of_row
    alone, paired = float((sizes == 1).sum()), float((sizes == 2).sum())
    rivals = alone * fraction + paired * (1 - fraction)
    return alone * fraction / rivals if rivals else 0.0


def search(marks: Words, largest: int) -> SudaResult:
    """All minimal sample uniques of at most ``largest`` of the columns; ``marks`` is (columns, rows)."""
    columns, rows = marks.shape
    score, by_column, sets = np.zeros(rows), np.zeros(columns), np.zeros(largest, np.int64)
    before: dict[tuple[int, ...], Bools] = {(): np.zeros(rows, bool)}
    for size in range(1, largest + 1):
        points = score_of(size, columns, largest)
        alone: dict[tuple[int, ...], Bools] = {}
        for chosen in combinations(range(columns), size):
            settled = np.logical_or.reduce([before[_without(chosen, c)] for c in chosen])
            open_rows = np.flatnonzero(~settled)
            minimal = open_rows[_alone(summed(marks, chosen, open_rows))]
            settled[minimal] = True
            alone[chosen] = settled
            score[minimal] += points
            by_column[list(chosen)] += points * len(minimal)
            sets[size - 1] += len(minimal)
        before = alone
    return SudaResult(score, by_column, sets)


def score_of(size: int, columns: int, largest: int) -> float:
    """The score of one minimal sample unique: the product of (columns - i) for i from its size to the largest size.

    If the largest size is the number of columns, one less is used, or the product would be 0.

    >>> [score_of(size, 4, 3) for size in (1, 2, 3)]
    [6.0, 2.0, 1.0]
    """
    return float(prod(columns - i for i in range(size, min(largest, columns - 1) + 1)))


def _coarsest(marks: Words, names: tuple[str, ...]) -> list[int]:
    """The columns with the fewest different values, at most ten, in their order."""
    values = [len(np.unique(mark)) for mark in marks]
    return sorted(sorted(range(len(names)), key=lambda place: (values[place], names[place]))[:AMONG])


def _largest(columns: int, wanted: int) -> int:
    """The largest size of a set for which the number of sets is small enough."""
    largest = min(wanted, columns)
    while largest > 1 and sum(comb(columns, size) for size in range(1, largest + 1)) > MOST_SETS:
        largest -= 1
    return largest


def _without(chosen: tuple[int, ...], column: int) -> tuple[int, ...]:
    return tuple(c for c in chosen if c != column)


def _alone(marks: Words) -> Bools:
    """Which hashes occur once."""
    order = np.argsort(marks)
    ascending = marks[order]
    differs = np.concatenate([[True], ascending[1:] != ascending[:-1], [True]])
    found = np.zeros(len(marks), bool)
    found[order] = differs[:-1] & differs[1:]
    return found
