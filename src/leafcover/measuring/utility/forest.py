"""EDUDS: how far two forests, grown on a table and on its release, leave each value the same room.

The name is from the Forest Framework (Islam and others, 2015), whose formula we could not read; the definition is
ours. So is the forest, until one is handed in: C4.5 trees, each without the root attributes of those before it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, nan

import numpy as np

from leafcover.fast.arrays import Bools, Codes, Floats
from leafcover.measuring.figures import WORST
from leafcover.measuring.pair import Pair
from leafcover.measuring.sampling import how, some_rows
from leafcover.measuring.utility.gains import Gains, edusc
from leafcover.measuring.utility.growing import some, tree_for, with_classes
from leafcover.table.table import Column, Table
from leafcover.tree.box import Boxes, leaf_boxes, set_boxes
from leafcover.tree.tree import Tree
from leafcover.tree.walk import places

TREES = 10
MOST_ROWS = 50_000  # that grow the forests and are led down them


@dataclass(frozen=True)
class Overlap:
    """EDUDS: 1 when every value has the same room under both forests, near 0 when hardly any is shared."""

    value: float  # mean over rows of the mean over a row's known values; nan when there are none
    worst: float  # the same over the 1 % of rows with the least overlap
    floor: float  # the first, had the release's forest tested nothing
    tested: float  # mean over the known values of attributes that either forest tests; 1 when there are none
    attributes: tuple[tuple[str, float], ...]  # the mean of each; nan where no value is known
    rows: int


@dataclass(frozen=True)
class ForestComparison:
    """What two forests and the attributes alone say of the target, before and after."""

    eduds: Overlap
    edusc: Gains
    trees: tuple[int, int]  # in the forest of the original and of the release
    rows: int
    of: int
    how: str


def forests(
    pair: Pair,
    *,
    trees: int = TREES,
    min_records: int = 2,
    confidence: float = 0.25,
    bins: int | None = None,
    most: int = MOST_ROWS,
) -> ForestComparison:
    """EDUDS and EDUSC of a pair, from forests of C4.5 trees for its target."""
    pair = with_classes(pair, bins=bins)
    rows = some_rows(len(pair.original), most)
    before, after = some(pair.original, rows), some(pair.released, rows)
    ours, theirs = (
        forest(table, pair.target, trees=trees, min_records=min_records, confidence=confidence)
        for table in (before, after)
    )
    return ForestComparison(
        eduds=eduds(ours, theirs, before),
        edusc=edusc(before, after, pair.target, min_records=min_records),
        trees=(len(ours), len(theirs)),
        rows=len(rows),
        of=len(pair.original),
        how=how(len(rows), len(pair.original)),
    )


def forest(
    table: Table, target: str, *, trees: int = TREES, min_records: int = 2, confidence: float = 0.25
) -> tuple[Tree, ...]:
    """At most ``trees`` trees for a target, each without the root attributes of those before it.

    It ends early where a tree finds nothing more to test; the first tree stands in any case.
    """
    found: list[Tree] = []
    without: tuple[str, ...] = ()
    while len(found) < trees:
        tree = tree_for(table, target, without=without, min_records=min_records, confidence=confidence)
        if tree.tested[0] < 0:
            break
        found.append(tree)
        without += (tree.attributes[tree.tested[0]].name,)
    return tuple(found) or (tree_for(table, target, min_records=min_records, confidence=confidence),)


def eduds(original: Sequence[Tree], released: Sequence[Tree], table: Table) -> Overlap:
    """The overlap of the room that each known value of the table has under two forests, as a mean.

    The room of a value is what is left of its attribute's domain where the leaves of its row in all trees meet: an
    interval of a number, one level or all levels of a category. The overlap is the length (or number of levels) that
    both rooms share as a part of what either covers. On a grid a length is a number of grid points.
    """
    ours, theirs = ([_walked(tree, table) for tree in trees] for trees in (original, released))
    known_to = {attribute.name for tree in (*original, *released) for attribute in tree.attributes}
    names = [name for name in table.names if name in known_to]
    sums, alone, known = np.zeros(len(table)), np.zeros(len(table)), np.zeros(len(table))
    means, tested = [], []
    for name in names:
        there = np.flatnonzero(~table[name].missing)
        one, other, whole = (_room(name, trees, len(table)) for trees in (ours, theirs, ()))
        shares = _shared(table[name], one, other)[there]
        sums[there] += shares
        alone[there] += _shared(table[name], one, whole)[there]
        known[there] += 1
        means.append(float(shares.mean()) if len(there) else nan)
        tested += [shares] * (one.is_tested or other.is_tested)
    some_known = known > 0
    by_row = np.sort(sums[some_known] / known[some_known])
    values = np.concatenate([*tested, np.empty(0)])
    return Overlap(
        value=_mean(by_row),
        worst=_mean(by_row[: ceil(WORST * len(by_row))]),
        floor=_mean(alone[some_known] / known[some_known]),
        tested=float(values.mean()) if len(values) else 1.0,
        attributes=tuple(zip(names, means, strict=True)),
        rows=len(table),
    )


@dataclass(frozen=True, eq=False)
class _Walked:
    """A tree and the box in which each row stands."""

    tree: Tree
    boxes: Boxes
    place: Codes  # (rows,) number of the box


def _walked(tree: Tree, table: Table) -> _Walked:
    found = places(tree, table)
    return _Walked(tree, set_boxes(leaf_boxes(tree), found), found.place)


@dataclass(frozen=True, eq=False)
class _Room:
    """What the leaves of each row leave of one attribute."""

    low: Floats  # exclusive
    high: Floats  # inclusive
    single: Bools  # whether one level alone is left
    is_tested: bool


def _room(name: str, trees: Sequence[_Walked], rows: int) -> _Room:
    low, high, single, is_tested = np.full(rows, -np.inf), np.full(rows, np.inf), np.zeros(rows, np.bool_), False
    for walked in trees:
        for number, attribute in enumerate(walked.tree.attributes):
            if attribute.name == name and (walked.tree.tested == number).any():
                low = np.maximum(low, walked.boxes.low[walked.place, number])
                high = np.minimum(high, walked.boxes.high[walked.place, number])
                single = single | (walked.boxes.allowed[walked.place, number] >= 0)
                is_tested = True
    return _Room(low, high, single, is_tested)


def _shared(column: Column, one: _Room, other: _Room) -> Floats:
    """The overlap of two rooms of each row."""
    if column.is_category:
        # Two single levels are the same, for the row has it; a single one is one among those that occur.
        occur = len(np.unique(column.values[~column.missing]))
        return np.where(one.single == other.single, 1.0, 1.0 / max(1, occur))
    return _length_shared(column, one, other)


def _length_shared(column: Column, one: _Room, other: _Room) -> Floats:
    lowest, highest = column.domain
    if column.grid is not None:
        lowest -= column.grid.step  # the low end is exclusive: now a length counts grid points
    lows = [_at(room.low, lowest, highest) for room in (one, other)]
    highs = [_at(room.high, lowest, highest) for room in (one, other)]
    both = np.minimum(*highs) - np.maximum(*lows)
    # Both rooms hold the value itself, so what either covers has no hole.
    either = np.maximum(*highs) - np.minimum(*lows)
    return np.divide(np.maximum(both, 0), either, out=np.ones_like(both), where=either > 0)


def _at(ends: Floats, lowest: float, highest: float) -> Floats:
    """Ends of intervals as places between 0 and 1 in the domain."""
    half = highest / 2 - lowest / 2 if highest > lowest else 1.0
    shares: Floats = (np.clip(ends, lowest, highest) / 2 - lowest / 2) / half  # halves do not overflow
    return shares


def _mean(values: Floats) -> float:
    return float(values.mean()) if len(values) else nan
