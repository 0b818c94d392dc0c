"""EDUDS: how far two forests, grown on a table and on its release, leave each value the same room.

The name is from the Forest Framework (Islam and others, 2015), whose formula we could not read; the definition is
ours.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import ceil, nan

import numpy as np

from leafcover.fast.arrays import Bools, Codes, Floats
from leafcover.measuring.figures import WORST
from leafcover.measuring.utility.forest_growing import Walked
from leafcover.table.table import Column, Table
from leafcover.tree.box import Boxes, leaf_boxes, set_boxes
from leafcover.tree.tree import Tree


@dataclass(frozen=True)
class Overlap:
    """EDUDS: 1 when every value has the same room under both forests, near 0 when hardly any is shared."""

    value: float  # mean over rows of the mean over a row's known values; nan when there are none
    worst: float  # the same over the 1 % of rows with the least overlap
    chance: float  # the first, had the release's forest been grown for a shuffled target
    tested: float  # mean over the known values of attributes that either forest tests; 1 when there are none
    attributes: tuple[tuple[str, float], ...]  # the mean of each; nan where no value is known
    rows: int


def eduds(original: Walked, released: Walked, shuffled: Walked, table: Table) -> Overlap:
    """The overlap of the room that each known value of the table has under two forests, as a mean.

    The room of a value is what is left of its attribute's domain where the leaves of its row in all trees meet: an
    interval of a number, one level or all levels of a category. The overlap is the length (or number of levels) that
    both rooms share as a part of what either covers. On a grid a length is a number of grid points. ``shuffled`` is
    the forest of the original with its target shuffled, to say what chance by_chance would share.
    """
    ours, theirs, blind = (list(_boxed(forest)) for forest in (original, released, shuffled))
    known_to = {attribute.name for tree in (*original.trees, *released.trees) for attribute in tree.attributes}
    names = [name for name in table.names if name in known_to]
    sums, by_chance, known = np.zeros(len(table)), np.zeros(len(table)), np.zeros(len(table))
    means, tested = [], []
    for name in names:
        there = np.flatnonzero(~table[name].missing)
        one, other, third = (_room(name, trees, len(table)) for trees in (ours, theirs, blind))
        shares = _shared(table[name], one, other)[there]
        sums[there] += shares
        by_chance[there] += _shared(table[name], one, third)[there]
        known[there] += 1
        means.append(float(shares.mean()) if len(there) else nan)
        tested += [shares] * (one.is_tested or other.is_tested)
    some_known = known > 0
    by_row = np.sort(sums[some_known] / known[some_known])
    values = np.concatenate([*tested, np.empty(0)])
    return Overlap(
        value=_mean(by_row),
        worst=_mean(by_row[: ceil(WORST * len(by_row))]),
        chance=_mean(by_chance[some_known] / known[some_known]),
        tested=float(values.mean()) if len(values) else 1.0,
        attributes=tuple(zip(names, means, strict=True)),
        rows=len(table),
    )


@dataclass(frozen=True, eq=False)
class _Boxed:
    """A tree and the box in which each row stands."""

    tree: Tree
    boxes: Boxes
    place: Codes  # (rows,) number of the box


def _boxed(forest: Walked) -> Iterator[_Boxed]:
    for tree, found in zip(forest.trees, forest.places, strict=True):
        yield _Boxed(tree, set_boxes(leaf_boxes(tree), found), found.place)


@dataclass(frozen=True, eq=False)
class _Room:
    """What the leaves of each row leave of one attribute."""

    low: Floats  # exclusive
    high: Floats  # inclusive
    single: Bools  # whether one level by_chance is left
    is_tested: bool


def _room(name: str, trees: Sequence[_Boxed], rows: int) -> _Room:
    low, high, single, is_tested = np.full(rows, -np.inf), np.full(rows, np.inf), np.zeros(rows, np.bool_), False
    for boxed in trees:
        for number, attribute in enumerate(boxed.tree.attributes):
            if attribute.name == name and (boxed.tree.tested == number).any():
                low = np.maximum(low, boxed.boxes.low[boxed.place, number])
                high = np.minimum(high, boxed.boxes.high[boxed.place, number])
                single = single | (boxed.boxes.allowed[boxed.place, number] >= 0)
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
