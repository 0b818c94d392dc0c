"""Columns of both tables as one matrix of features: what a regression is fed with.

Numbers stand in standard deviations of the original around its mean, missing ones at 0; categories as one column of 0
and 1 for each level above 1 % but the most common one. A missing value is a level of its own, of numbers too.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from leafcover.fast.arrays import Bools, Floats
from leafcover.measuring.pair import Pair
from leafcover.measuring.utility.units import in_units, known, mean, unit
from leafcover.table.table import Column

RARE = 0.01  # a level that is rarer in both tables has no feature of its own
MOST_FEATURES = 50
FARTHEST = 1e3  # in standard deviations; a table of a million rows holds nothing further from its own mean
DEPENDENT = 1e-9  # share of a feature's square that is left, below which the others before it say all it says
LOST = "missing"  # the level of a missing value


@dataclass(frozen=True)
class Feature:
    """One column of the matrix: a number, or a level of a column."""

    column: str
    level: str = ""  # "" for the number itself


class Filled(NamedTuple):
    """A feature, how much it varies, and its values in both tables."""

    feature: Feature
    spread: float
    before: Floats
    after: Floats


@dataclass(frozen=True, eq=False)
class Design:
    """The same features of both tables, the intercept first. Internal: levels have names."""

    features: tuple[Feature, ...]
    before: Floats  # (rows, 1 + features)
    after: Floats


def design(pair: Pair, columns: Sequence[str], *, most: int = MOST_FEATURES) -> Design:
    """Build the matrices, of the ``most`` features that vary most; ties by name."""
    found = [filled for name in sorted(columns) for filled in _features(pair.original[name], pair.released[name])]
    kept = sorted(found, key=lambda filled: -filled.spread)[:most]
    return Design(
        tuple(filled.feature for filled in kept),
        _matrix([np.ones(len(pair.original)), *(filled.before for filled in kept)]),
        _matrix([np.ones(len(pair.released)), *(filled.after for filled in kept)]),
    )


def _features(original: Column, released: Column) -> list[Filled]:
    found = []
    before, after = original.values, released.values
    if not original.is_category:
        there, still = known(before), known(after)
        centre, step = mean(there if len(there) else still), unit(there, still)
        ours, theirs = (_bounded(in_units(values, centre, step)) for values in (before, after))
        found.append(Filled(Feature(original.name), float(np.ptp(ours) > 0 or np.ptp(theirs) > 0), ours, theirs))
        before, after = (np.where(np.isnan(values), -1, 0).astype(np.int32) for values in (before, after))
    levels = original.levels if original.is_category else ("",)
    counts, others = (np.bincount(codes + 1, minlength=len(levels) + 1) for codes in (before, after))
    shares = np.array([counts / len(before), others / len(after)])
    spreads = (shares * (1 - shares)).max(axis=0)
    common = int(np.argmax(counts))
    for place in np.flatnonzero(shares.max(axis=0) > RARE):
        if place != common:
            feature = Feature(original.name, levels[place - 1] if place else LOST)
            held = ((codes == place - 1).astype(np.float64) for codes in (before, after))
            found.append(Filled(feature, float(spreads[place]), *held))
    return found


def _bounded(values: Floats) -> Floats:
    return np.nan_to_num(np.clip(values, -FARTHEST, FARTHEST), nan=0.0)


def _matrix(columns: list[Floats]) -> Floats:
    return np.ascontiguousarray(columns).T  # column after column: products of columns then take half the time


def part(matrix: Floats, rows: Bools, columns: Sequence[int]) -> Floats:
    """Some rows and columns, kept column after column; the matrix itself where that is all of it."""
    if len(columns) < matrix.shape[1]:
        matrix = np.ascontiguousarray(matrix.T[columns]).T
    return matrix if rows.all() else np.ascontiguousarray(matrix.T[:, rows]).T


def independent(matrix: Floats) -> list[int]:
    """The columns that say something those before them do not, in order.

    >>> independent(np.array([[1.0, 2.0, 1.0], [1.0, 2.0, 0.0], [1.0, 2.0, 3.0]]))
    [0, 2]
    """
    left = matrix.T @ matrix
    sizes = np.sqrt(np.diag(left))
    sizes[sizes == 0] = 1.0
    left = left / sizes / sizes[:, None]
    kept = []
    for column in range(len(left)):
        if left[column, column] > DEPENDENT:
            kept.append(column)
            left = left - np.outer(left[:, column], left[column]) / left[column, column]
    return kept
