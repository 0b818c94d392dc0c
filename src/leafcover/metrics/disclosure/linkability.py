"""Linkability (Giomi and others 2023): whether the release helps to join two parties' data about the same people.

One party holds some columns of a person, another party other columns. For each half the attacker finds the nearest
released records (Gower's distance); if a record is among the nearest of both halves, the attacker links the halves.
The score is how often the halves of one person are linked.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import comb
from typing import TYPE_CHECKING

import numpy as np

from leafcover.arrays import Floats, Rows
from leafcover.errors import NameUnknown, ValueOutOfRange
from leafcover.metrics.estimates import Attack, risk_of, wilson
from leafcover.metrics.neighbors import (
    TIE,
    ScaledTable,
    bearable,
    closer_than_own,
    nearest,
    of_rows,
    scaled,
    searchable,
)
from leafcover.metrics.pair import SEED, Pair, sample_rows
from leafcover.table.table import Table

if TYPE_CHECKING:
    from leafcover.kernels.neighbors import NeighborTree

MOST = 3_000  # people attacked


@dataclass(frozen=True)
class ColumnSets:
    """How often the two halves of a person are linked."""

    one: tuple[str, ...]
    other: tuple[str, ...]
    count: int  # nearest records compared for each half
    attack: Attack  # its baseline picks rows at random
    rows: int  # people attacked
    of: int


def column_sets(
    pair: Pair,
    one: Sequence[str] | None = None,
    other: Sequence[str] | None = None,
    *,
    count: int = 1,
    most: int = MOST,
) -> ColumnSets:
    """Link two sets of columns: those named, or the quasi-identifiers as divided by `two_halves`."""
    if count < 1:
        raise ValueOutOfRange("count", count, "a whole number of at least 1")
    halves = _halves(pair, one, other)
    count = min(count, len(pair.released))
    tables = [pair.original, *([] if pair.control is None or not len(pair.control) else [pair.control])]
    most = min(bearable(most, pair, half) for half in halves)
    people = [sample_rows(len(table), most) for table in tables]
    joined = _joined(pair, tables, people, halves, count)
    tries = len(people[0])
    return ColumnSets(
        *halves,
        count,
        Attack(
            risk_of(joined[0]),
            risk_of(joined[1]) if len(joined) > 1 else None,
            wilson(_chance(len(pair.released), count) * tries, tries),
        ),
        tries,
        len(pair.original),
    )


def two_halves(pair: Pair) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The quasi-identifiers assigned alternately to two parties, those with most released values first."""

    def distinct(name: str) -> int:
        column = pair.released[name]
        return len(np.unique(column.values[~column.missing]))

    ranked = sorted(pair.quasi_identifiers, key=lambda name: (-distinct(name), name))
    return tuple(ranked[::2]), tuple(ranked[1::2])


def _halves(
    pair: Pair, one: Sequence[str] | None, other: Sequence[str] | None
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    if one is None and other is None:
        return two_halves(pair)
    for name in (*(one or ()), *(other or ())):
        if name not in pair.names:
            raise NameUnknown("column", name, pair.names)
    first = tuple(n for n in pair.quasi_identifiers if n not in (other or ())) if one is None else tuple(one)
    second = tuple(n for n in pair.quasi_identifiers if n not in first) if other is None else tuple(other)
    both = set(first) & set(second)
    if both:
        raise ValueOutOfRange("other", min(both), "columns that the first party does not have")
    return first, second


def _joined(
    pair: Pair,
    tables: Sequence[Table],
    people: Sequence[Rows],
    halves: tuple[tuple[str, ...], tuple[str, ...]],
    count: int,
) -> list[Floats]:
    """For each person of each table the chance that the nearest rows of both halves share one, ties at random.

    Ties of the first half are broken by one random order of the released rows; those of the second are averaged.
    """
    order = np.random.default_rng(SEED).permutation(len(pair.released))
    _, mixed, *first = scaled([pair.original, pair.released.take(order), *tables], halves[0])
    _, released, *second = scaled([pair.original, pair.released, *tables], halves[1])
    near = searchable(mixed), searchable(released)
    found = []
    for one, other, rows in zip(first, second, people, strict=True):
        named = order[nearest(of_rows(one, rows), near[0], count=count).row]  # (people, count)
        found.append(_shared(of_rows(other, rows), released, near[1], named, count))
    return found


def _shared(people: ScaledTable, released: ScaledTable, near: "NeighborTree", named: Rows, count: int) -> Floats:
    """The chance that one of the rows named for each person is among the ``count`` nearest.

    A row nearer than the furthest of these is certainly among them. Of the ``tied`` rows at that distance only some are
    ``drawn``, and some were named: ``held``.
    """
    furthest = nearest(people, near, count=count).distance[:, -1:]
    apart = np.column_stack([_distances(people, of_rows(released, rows)) for rows in named.T])
    chance: Floats = np.any(apart < furthest - TIE, axis=1).astype(np.float64)
    level = np.abs(apart - furthest) <= TIE
    unsure = np.flatnonzero((chance == 0) & level.any(axis=1))
    some = named[unsure, level[unsure].argmax(axis=1)]
    closer, beside = closer_than_own(of_rows(people, unsure), near, some)
    tied = beside + 1
    drawn = np.clip(count - closer, 0, tied)  # rounding may move a row out of a tie
    held = np.minimum(level[unsure].sum(axis=1), tied)
    chance[unsure] = [1 - _missed(*map(int, one)) for one in zip(tied, drawn, held, strict=True)]
    return chance


def _missed(rows: int, drawn: int, held: int) -> float:
    """The chance that no row held is among those drawn.

    >>> _missed(4, 2, 1)
    0.5
    """
    return comb(rows - held, drawn) / comb(rows, drawn)


def _distances(people: ScaledTable, others: ScaledTable) -> Floats:
    """Gower's distance of each person to one row."""
    apart = np.abs(people.numbers - others.numbers)
    lost = np.isnan(people.numbers) != np.isnan(others.numbers)
    return np.where(np.isnan(apart), lost, apart).sum(axis=1) + (people.codes != others.codes).sum(axis=1)


def _chance(rows: int, count: int) -> float:
    """The chance that two random sets of so many rows share one."""
    return 1 - _missed(rows, count, count) if rows else 0.0
