"""Information loss of numbers: changes of values, biases by type, and means and variances kept.

IL1s and SSE/SST compare each person's row with its own released row, so they need pairs; without pairs they are nan,
and the reason is given. The distance of eigenvalues and the biases need no pairs.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import nan, sqrt

import numpy as np

from leafcover.arrays import Floats, Rows
from leafcover.metrics.pair import Pair, sample_rows, say
from leafcover.metrics.utility.bivariate import MOST_WORK, Relation, association, centred, relations
from leafcover.metrics.utility.univariate import (
    Differences,
    deviation,
    differences,
    in_units,
    known,
    mean,
    number_column,
    unit,
    worst_mean,
)

MOST_COLUMNS = 60  # for eigenvalues; beyond that a fixed choice by name
APPEARED = 1.0  # the change of a value that appears or disappears: √2·SD, the root mean square distance of two rows


@dataclass(frozen=True)
class InformationLoss:
    """Information loss from changed values; 0 is no loss."""

    il1s: float  # the mean of |x - x'| / (√2·SD) over rows and numbers
    il1s_worst: float  # the mean of the worst 1 % of rows
    squares: float  # SSE/SST: squared changes over squared distances from the mean, each number in its own SD
    eigenvalues: float  # Σ|e - e'| / Σ|e| of both correlation matrices, eigenvalues in order
    numbers: int  # columns used for changes
    eigenvalue_numbers: int  # columns used for eigenvalues
    rows: int  # of each table: changes use all
    eigenvalue_rows: int
    reason: str = ""  # why a figure is nan


def information_loss(pair: Pair) -> InformationLoss:
    """Measure the information loss of the numbers."""
    rows, names = len(pair.original), pair.numbers
    chosen = [sorted(names)[i] for i in sample_rows(len(names), MOST_COLUMNS)]
    used = sample_rows(rows, max(2, 2 * MOST_WORK // max(1, len(chosen) ** 2)))
    turned = eigenvalue_distance(*_columns(pair, chosen, used)) if chosen else nan
    il1s = worst = squares = nan
    reason = ""
    if not names:
        reason = say("reason-no-numbers")
    elif not pair.paired:
        reason = say("reason-no-pairs")
    else:
        moved, squares = _moves(pair)
        il1s, worst = float(moved.mean()), worst_mean(moved)
    return InformationLoss(il1s, worst, squares, turned, len(names), len(chosen), rows, len(used), reason)


def il1s(pair: Pair) -> float:
    """Mateo-Sanz and others' IL1s: the mean of |x - x'| / (√2·SD).

    A value missing in both tables has not changed. One that is missing in one of them counts 1.
    """
    return information_loss(pair).il1s


def _moves(pair: Pair) -> tuple[Floats, float]:
    """The mean change of each row over the numbers, and SSE/SST over values known in both tables."""
    moved = np.zeros(len(pair.original))
    errors = total = 0.0
    for name in pair.numbers:
        before, after = pair.original[name].values, pair.released[name].values
        ours = known(before)
        centre, step = mean(ours), unit(ours, known(after))
        x, y = in_units(before, centre, step), in_units(after, centre, step)
        lost, gone = np.isnan(before), np.isnan(after)
        both = ~(lost | gone)
        apart = np.where(both, y - x, 0.0)
        moved += np.where(lost != gone, APPEARED, np.abs(apart) / sqrt(2))
        errors += float(apart @ apart)
        total += float(x[both] @ x[both])
    squares = errors / total if total > 0 else (0.0 if errors == 0 else nan)
    return moved / len(pair.numbers), squares


def _columns(pair: Pair, names: list[str], rows: Rows) -> tuple[list[Floats], list[Floats]]:
    before, after = (
        [table[name].values if len(rows) == len(table) else table[name].values[rows] for name in names]
        for table in (pair.original, pair.released)
    )
    return before, after


def eigenvalue_distance(before: Sequence[Floats], after: Sequence[Floats]) -> float:
    """The distance of the eigenvalues of two correlation matrices, from each table's columns.

    >>> line, cross = np.array([1.0, 2.0, 3.0, 4.0]), np.array([1.0, -1.0, -1.0, 1.0])
    >>> round(eigenvalue_distance((line, line), (line, cross)), 9)
    1.0
    """
    ours, theirs = (np.linalg.eigvalsh(correlation_matrix(columns)) for columns in (before, after))
    return float(np.abs(ours - theirs).sum() / np.abs(ours).sum())


def correlation_matrix(columns: Sequence[Floats]) -> Floats:
    """Correlations over rows where both columns are known; 0 off the diagonal for a constant column."""
    ready = [centred(in_units(values, mean(known(values)), unit(known(values), known(values)))) for values in columns]
    found = np.eye(len(columns))
    for i, first in enumerate(ready):
        for j in range(i):
            found[i, j] = found[j, i] = association(first, ready[j]).correlation
    return found


# The biases of perturbed numbers by type, as the literature on additive noise names them.
#
# A: variance. B: correlations among sensitive attributes. C: correlations of sensitive attributes with the others.
# D: the shape of the distribution. DM: patterns that data mining no longer finds (Wilson and Rosen 2002). Measured on
# numbers; associations of categories are in `bivariate`. Needs no pairs of rows.


LEAST_CORRELATION = 1e-9  # a smaller one is 0 up to rounding, and no change is divided by it


@dataclass(frozen=True)
class Biases:
    """Biases by type; 0 is no bias. A type that does not exist is nan, and ``reasons`` says why."""

    spread: Differences  # A: (sd after - sd before) / sd before, of each sensitive number
    among: Differences  # B: correlation after - before, of pairs of sensitive numbers
    across: Differences  # C: the same, of a sensitive number and another one
    distance: Differences  # D: Kolmogorov-Smirnov, of each sensitive number
    quantiles: Differences  # D: at 5 % to 95 %, in standard deviations of the original
    accuracy_difference: float  # DM: accuracy of a model of the release minus that of the original
    rule_similarity: float  # DM: the similarity of their rules, between 0 and 1
    abisd: float  # Li and Sarkar: the mean of A, with signs
    abico: float  # Li and Sarkar: the mean of |change / correlation before|, over the pairs of B and C
    sensitive: tuple[str, ...]  # the numbers that count as sensitive
    reasons: tuple[str, ...]
    rows: int  # used for correlations; everything else uses all
    of: int


def biases(pair: Pair, *, accuracy_difference: float = nan, rule_similarity: float = nan) -> Biases:
    """Measure every type; the figures for DM are passed in.

    Without sensitive attributes, every number counts as sensitive; then there is no bias C.
    """
    sensitive = tuple(n for n in pair.numbers if not pair.sensitive or n in pair.sensitive)
    numbers = [number_column(pair.original[n], pair.released[n]) for n in sensitive]
    found = relations(pair, columns=pair.numbers) if pair.numbers else relations(pair)
    pairs = [entry for entry in found.entries if entry.figure == "correlation"]
    inside = [_inside(entry, sensitive) for entry in pairs]
    among = [entry for entry, many in zip(pairs, inside, strict=True) if many == 2]
    across = [entry for entry, many in zip(pairs, inside, strict=True) if many == 1]
    relative = [e.difference / e.before for e in (*among, *across) if abs(e.before) > LEAST_CORRELATION]
    spread = differences(number.deviation_difference for number in numbers)
    return Biases(
        spread,
        differences(entry.difference for entry in among),
        differences(entry.difference for entry in across),
        differences(number.distance for number in numbers),
        differences(part for number in numbers for part in number.quantile_differences),
        accuracy_difference,
        rule_similarity,
        spread.signed,
        differences(relative).mean,
        sensitive,
        _reasons(pair, sensitive, among, across),
        found.rows,
        found.of,
    )


def _inside(entry: Relation, sensitive: tuple[str, ...]) -> int:
    return (entry.first in sensitive) + (entry.second in sensitive)


def _reasons(pair: Pair, sensitive: tuple[str, ...], among: list[Relation], across: list[Relation]) -> tuple[str, ...]:
    if not sensitive:
        return (say("reason-no-sensitive-number"),)
    found = []
    if not among:
        found.append(say("reason-bias-b"))
    if not across and not pair.sensitive:
        found.append(say("reason-bias-c-all-sensitive"))
    elif not across:
        found.append(say("reason-bias-c"))
    return tuple(found)


# Means kept and variances not larger: two of the three properties of perturbed data in Roy, "Performance Analysis of
# Clustering in Privacy Preserving Data Mining"; the third, similar trees, is in `trees`.


KEPT = 0.1  # of a standard error: a mean or variance that moved by less leads to the same conclusions


@dataclass(frozen=True)
class Properties:
    """How many numbers keep their mean, and how many do not gain variance, within a tenth of a standard error."""

    numbers: int
    means_kept: int
    variances_not_larger: int
    mean_moved_most: float  # in deviations of the original
    variance_grown_most: float  # the largest of s'²/s² - 1; below 0 when every variance shrank

    @property
    def kept(self) -> bool:
        """Whether all numbers have both properties."""
        return self.means_kept == self.variances_not_larger == self.numbers


def properties(pair: Pair) -> Properties:
    """Compare the mean and the variance of every number that varies."""
    moved, grown, known_rows = [], [], []
    for name in pair.numbers:
        before, after = known(pair.original[name].values), known(pair.released[name].values)
        if not len(before) or not len(after) or before.min() == before.max():
            continue
        step = unit(before, after)
        moved.append(abs(mean(after) / step - mean(before) / step))
        grown.append((deviation(after) / step) ** 2 - 1)
        known_rows.append(len(before))
    error = KEPT / np.sqrt(np.array(known_rows))  # of a mean, in deviations; a normal variance has √2 times this
    return Properties(
        len(moved),
        int((moved <= error).sum()),
        int((grown <= np.sqrt(2) * error).sum()),
        max(moved, default=0.0),
        max(grown, default=0.0),
    )
