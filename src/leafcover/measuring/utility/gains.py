"""EDUSC: how well each attribute alone tells the class, before and after.

The name is from the Forest Framework (Islam and others, 2015), whose formula we could not read; the definition is ours.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import log2

import numpy as np

from leafcover.fast.arrays import MISSING, Array, Codes, Floats, Rows
from leafcover.table.table import Column, Table
from leafcover.tree.training import attribute_names

LEAST_INFORMATION = 1e-3  # a split that tells less than this of the rows is none
GAP = 1e-5  # neighbouring values closer than this cannot be told apart
MOST_ON_A_SIDE = 25.0  # C4.5 asks for no more rows on each side of a cut


@dataclass(frozen=True)
class AttributeGain:
    """The best gain ratio of one attribute at the root of a tree, in each table."""

    attribute: str
    original: float
    released: float


@dataclass(frozen=True)
class Gains:
    """EDUSC: 1 when every attribute tells as much of the class as before, 0 when nothing of it is left."""

    value: float
    attributes: tuple[AttributeGain, ...]


def edusc(original: Table, released: Table, target: str, *, min_records: int = 2) -> Gains:
    """1 - sum |g - g'| / sum max(g, g') over attributes, where g is the best gain ratio in each table.

    The target must be a category. Where no attribute tells anything in either table it is 1.
    """
    names = attribute_names(original, target)
    before, after = (gain_ratios(table, target, names, min_records=min_records) for table in (original, released))
    most = float(np.maximum(before, after).sum())
    value = 1.0 - float(np.abs(before - after).sum()) / most if most > 0 else 1.0
    found = zip(names, before.tolist(), after.tolist(), strict=True)
    return Gains(value, tuple(AttributeGain(*attribute) for attribute in found))


def gain_ratios(table: Table, target: str, attributes: Sequence[str], *, min_records: int = 2) -> Floats:
    """C4.5's gain ratio of each attribute's best test on all rows with a known class; 0 where none gains."""
    labels = table[target].values
    seen = np.unique(labels[labels != MISSING])
    rows = np.flatnonzero(labels != MISSING)
    classes = np.searchsorted(seen, labels[rows]).astype(np.int32)
    found = [_gain_ratio(table[name], rows, classes, len(seen), min_records) for name in attributes]
    return np.array(found, np.float64)


def _gain_ratio(column: Column, rows: Rows, classes: Codes, count: int, min_records: int) -> float:
    values, gone = column.values[rows], column.missing[rows]
    known = len(rows) - int(np.count_nonzero(gone))
    if known < 2 * min_records or known == 0:
        return 0.0
    if column.is_category:
        gain, parts = _multiway(values[~gone], classes[~gone], count, min_records)
        cost = 0.0
    else:
        gain, parts, tries = _best_cut(values[~gone], classes[~gone], count, min_records)
        cost = log2(tries) / len(rows) if tries else 0.0
    gain = known / len(rows) * gain - cost
    information = _bits(np.append(parts, len(rows) - known)) / len(rows)
    return gain / information if gain > 0 and information > LEAST_INFORMATION else 0.0


def _multiway(codes: Codes, classes: Codes, count: int, min_records: int) -> tuple[float, Array]:
    """Gain in bits a row of one branch a level, and the rows of each; 0 when only one level has enough rows."""
    parts = np.bincount(codes)
    if np.count_nonzero(parts >= min_records) < 2:
        return 0.0, parts
    # Counted sparsely: a thousand classes of as many levels are mostly empty.
    both = np.unique(codes.astype(np.int64) * count + classes, return_counts=True)[1]
    left = _terms(parts).sum() - _terms(both).sum()
    return (_bits(np.bincount(classes)) - float(left)) / len(codes), parts


def _best_cut(values: Floats, classes: Codes, count: int, min_records: int) -> tuple[float, Array, int]:
    """Gain in bits a row of the best cut, the rows on both sides, and how many cuts there were to choose from."""
    order = np.argsort(values, kind="stable")
    values, classes, known = values[order], classes[order], len(order)
    least = min(max(0.1 * known / count, float(min_records)), max(MOST_ON_A_SIDE, float(min_records)))
    with np.errstate(over="ignore"):
        below = np.flatnonzero(np.diff(values) > GAP) + 1  # rows at or below each cut
    below = below[(below >= least) & (below <= known - least)]
    if not len(below):
        return 0.0, np.array([known]), 0
    left = _terms(below) + _terms(known - below)
    for label in range(count):
        under = np.cumsum(classes == label)
        left -= _terms(under[below - 1]) + _terms(under[-1] - under[below - 1])
    best = int(left.argmin())
    gain = (_bits(np.bincount(classes)) - float(left[best])) / known
    return gain, np.array([below[best], known - below[best]]), len(below)


def _bits(counts: Array) -> float:
    """What it takes to tell the part each row belongs to: N log2 N - sum of n log2 n."""
    return float(_terms(counts.sum(keepdims=True))[0] - _terms(counts).sum())


def _terms(counts: Array) -> Floats:
    terms: Floats = counts * np.log2(np.maximum(counts, 1))
    return terms
