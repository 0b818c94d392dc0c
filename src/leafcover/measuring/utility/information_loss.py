"""How far values moved, person by person, and how far the main directions of the numbers turned.

IL1s and SSE/SST compare each person's row with its own released row, so they need pairs; without, they are nan and
the reason is said. The distance of eigenvalues needs none. Of numbers alone.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import nan, sqrt

import numpy as np

from leafcover.fast.arrays import Floats, Rows
from leafcover.measuring.pair import Pair
from leafcover.measuring.sampling import some_rows
from leafcover.measuring.utility.associations import association, centred
from leafcover.measuring.utility.differences import worst_mean
from leafcover.measuring.utility.relations import MOST_WORK
from leafcover.measuring.utility.units import in_units, known, mean, unit

MOST_COLUMNS = 60  # of which eigenvalues are taken; beyond that a fixed choice by name
APPEARED = 1.0  # what a value lost or made up counts: √2·SD, the usual (root mean square) distance of two rows


@dataclass(frozen=True)
class InformationLoss:
    """What moving values cost: 0 is nothing."""

    il1s: float  # the mean of |x - x'| / (√2·SD) over rows and numbers
    il1s_worst: float  # the mean of the worst 1 % of rows
    squares: float  # SSE/SST: squared moves by squared distances from the mean, each number in its own SD
    eigenvalues: float  # Σ|e - e'| / Σ|e| of both correlation matrices, eigenvalues in order
    numbers: int  # columns that moves are measured on
    eigenvalue_numbers: int  # columns that eigenvalues are taken of
    rows: int  # of each table: moves rest on all
    eigenvalue_rows: int
    reason: str = ""  # why a figure is nan


def information_loss(pair: Pair) -> InformationLoss:
    """Measure what moving the numbers cost."""
    rows, names = len(pair.original), pair.numbers
    chosen = [sorted(names)[i] for i in some_rows(len(names), MOST_COLUMNS)]
    used = some_rows(rows, max(2, 2 * MOST_WORK // max(1, len(chosen) ** 2)))
    turned = eigenvalue_distance(*_columns(pair, chosen, used)) if chosen else nan
    il1s = worst = squares = nan
    reason = ""
    if not names:
        reason = "The table has no numbers."
    elif not pair.paired:
        reason = "No pairs say which released row is whose."
    else:
        moved, squares = _moves(pair)
        il1s, worst = float(moved.mean()), worst_mean(moved)
    return InformationLoss(il1s, worst, squares, turned, len(names), len(chosen), rows, len(used), reason)


def il1s(pair: Pair) -> float:
    """Mateo-Sanz and others' IL1s: the mean of |x - x'| / (√2·SD).

    A value missing in both tables has not moved. One that is missing in one of them counts 1.
    """
    return information_loss(pair).il1s


def _moves(pair: Pair) -> tuple[Floats, float]:
    """The mean move of each row over the numbers, and SSE/SST over values known in both tables."""
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
    """How far the eigenvalues of two correlation matrices lie apart, from each table's columns.

    >>> line, cross = np.array([1.0, 2.0, 3.0, 4.0]), np.array([1.0, -1.0, -1.0, 1.0])
    >>> round(eigenvalue_distance((line, line), (line, cross)), 9)
    1.0
    """
    ours, theirs = (np.linalg.eigvalsh(correlation_matrix(columns)) for columns in (before, after))
    return float(np.abs(ours - theirs).sum() / np.abs(ours).sum())


def correlation_matrix(columns: Sequence[Floats]) -> Floats:
    """Correlations over rows where both columns are known; 0 beside the diagonal for a column of one value."""
    ready = [centred(in_units(values, mean(known(values)), unit(known(values), known(values)))) for values in columns]
    found = np.eye(len(columns))
    for i, first in enumerate(ready):
        for j in range(i):
            found[i, j] = found[j, i] = association(first, ready[j]).correlation
    return found
