"""What a class of like rows says about a column: how many values it takes there, and how unlike the table it is."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from leafcover.fast.arrays import Floats, Rows
from leafcover.measuring.figures import Risk, risk_of
from leafcover.table.table import Column


@dataclass(frozen=True)
class Diversity:
    """How many values a column takes in a class; 1 tells everybody's value in it. Missing values are left out."""

    column: str
    distinct: int  # l, the fewest values in a class; 0 when the column has no value at all
    entropy: float  # the fewest as exp of the entropy: how many equally common values would be as unsure
    told: Risk  # rows whose class has one value only


@dataclass(frozen=True)
class Closeness:
    """How far the column's values in a class are from those in the table, from 0 (alike) to 1."""

    column: str
    farthest: float  # t, of the class most unlike the table
    mean: float  # over rows
    worst: float  # over the 1 % of rows in the classes most unlike the table


class Spread(NamedTuple):
    """The values of a column by class, those that are known."""

    column: str
    ordered: bool  # a number, whose values have an order
    label: Rows  # (rows,) the class of each row
    owner: Rows  # (cells,) a class, ascending
    value: Rows  # (cells,) a value of it, ascending within the class
    share: Floats  # (cells,) of the class's rows
    classes: int
    overall: Floats  # (values,) of the table's rows


def spread_of(column: Column, label: Rows, classes: int) -> Spread:
    """Count values by class."""
    known = ~column.missing
    if column.is_category:
        values, code = len(column.levels), column.values[known].astype(np.int64)
    else:
        found, code = np.unique(column.values[known], return_inverse=True)
        values = len(found)
    label = label[known]
    cells, counts = np.unique(label * max(values, 1) + code, return_counts=True)
    owner, value = cells // max(values, 1), cells % max(values, 1)
    size = np.bincount(label, minlength=classes)
    overall = np.bincount(code, minlength=values) / max(len(code), 1)
    return Spread(column.name, not column.is_category, label, owner, value, counts / size[owner], classes, overall)


def diversity_of(spread: Spread) -> Diversity:
    """Distinct and entropy l-diversity."""
    if not len(spread.label):
        return Diversity(spread.column, 0, 0.0, risk_of(np.zeros(0)))
    distinct = np.bincount(spread.owner, minlength=spread.classes)
    entropy = np.bincount(spread.owner, -spread.share * np.log(spread.share), minlength=spread.classes)
    there = distinct > 0
    told = (distinct == 1)[spread.label].astype(np.float64)
    return Diversity(spread.column, int(distinct[there].min()), float(np.exp(entropy[there].min())), risk_of(told))


def closeness_of(spread: Spread) -> Closeness:
    """The earth mover's distance: over ranks for numbers, and between any two levels alike for categories."""
    if not len(spread.label):
        return Closeness(spread.column, 0.0, 0.0, 0.0)
    distance = _ordered(spread) if spread.ordered else _equal(spread)
    rows = risk_of(np.clip(distance, 0.0, 1.0)[spread.label])
    return Closeness(spread.column, float(distance[spread.owner].max()), rows.value, rows.worst)


def _equal(spread: Spread) -> Floats:
    """Half of the summed differences of shares; values that a class has not differ by their share of the table."""
    usual = spread.overall[spread.value]
    inside = np.bincount(spread.owner, np.abs(spread.share - usual) - usual, minlength=spread.classes)
    return (inside + 1.0) / 2


def _ordered(spread: Spread) -> Floats:
    """The area between the two cumulative shares over ranks 0..V-2, divided by V-1, for V values in the table.

    A class's cumulative share is flat between its values, so a stretch of ranks is summed at once: with S the running
    sum of the table's cumulative shares Q, and x the rank where Q passes the level c, the stretch a..b-1 gives
    c (2x - a - b) - 2 S(x) + S(a) + S(b).
    """
    last = len(spread.overall) - 1
    if last < 1:
        return np.zeros(spread.classes)
    below = np.cumsum(spread.overall)
    running = np.concatenate([[0.0], np.cumsum(below)])
    first = np.concatenate([[True], np.diff(spread.owner) > 0])
    level = np.cumsum(spread.share)
    level -= np.maximum.accumulate(np.where(first, level - spread.share, 0.0))
    start = spread.value
    stop = np.where(np.append(first[1:], True), last, np.append(start[1:], last))
    passed = np.clip(np.searchsorted(below, level), start, stop)
    area = level * (2 * passed - start - stop) - 2 * running[passed] + running[start] + running[stop]
    area[first] += running[start[first]]  # before its first value the class has nothing
    found: Floats = np.bincount(spread.owner, area, minlength=spread.classes) / last
    return found
