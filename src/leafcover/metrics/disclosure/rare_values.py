"""Rare values that give their people away: released rows that hold one have what its people have in another column.

No record need be whole for that, and no value of the other column need be rare. Chance is how often a person and a
released row with *different* rare values agree. Where a rare value is attached to more than that, it may be what people
with the same value have in common in the population: so it is compared, too, with pairs of people who share a common or
a rare value in the original, or, of a number, have neighbouring rare values, and with people of the control who hold
the same rare values.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from leafcover.arrays import Array, Floats, Rows
from leafcover.metrics.disclosure.k_anonymity import quantile_cuts
from leafcover.metrics.estimates import fisher
from leafcover.metrics.pair import Pair, sample_rows
from leafcover.table.table import Column

SHARED = 5  # a value that fewer rows hold is rare
SIGNIFICANT = 0.001  # the probability of any finding about a release that copies nothing
MOST_VALUES = 5_000  # rare values of a column that are looked for
LEAST_PAIRS = 10  # of people who share a value, from which something can be learned
GROUPS = 4  # of a number, which are compared with rare values of another column


class Attached(NamedTuple):
    """Rare values of one column, and how often they are attached to their people's values of another."""

    columns: tuple[str, str]
    hits: int  # rare values of which a person and a released row agree in the second column; parts of hits are summed
    values: int  # rare values of the first column that occur in the release
    chance: float  # the share of hits by chance
    p: float  # of at least so many hits


def worst_attached(pair: Pair) -> tuple[Attached | None, int]:
    """The two columns of which values are attached most significantly, and how many pairs of columns were tried."""
    names = [name for name in pair.names if name != pair.weight]
    tables = [pair.original, pair.released, *([] if pair.control is None else [pair.control])]
    rare = [one for name in names if (one := _RareValues.of([table[name] for table in tables])) is not None]
    found = []
    for other in names if rare else ():
        columns = [table[other] for table in tables]
        cuts = np.empty(0) if columns[0].is_category else quantile_cuts(columns[0], GROUPS)
        found += [one.attached(columns, cuts) for one in rare if one.column.name != other]
    matches = [match for match in found if match is not None]
    return min(matches, key=lambda m: (m.p, -m.hits / m.values), default=None), len(matches)


@dataclass(frozen=True, eq=False)
class _RareValues:
    """The rare values of a column that occur in the release, and the rows of each table that hold them."""

    column: Column  # of the original
    rows: Sequence[Rows]  # of the original, the release and the control
    held: Sequence[Rows]  # the place of the value that each of these rows holds

    @staticmethod
    def of(columns: Sequence[Column]) -> "_RareValues | None":
        distinct, counts = np.unique(known_values(columns[0]), return_counts=True)
        rare = distinct[counts < SHARED]
        rare = rare[sample_rows(len(rare), MOST_VALUES)]
        if len(rare):
            rare = np.unique(columns[1].values[_holding(columns[1], rare)])
        if not len(rare):
            return None
        rows = [_holding(one, rare) for one in columns]
        held = [np.searchsorted(rare, one.values[some]) for one, some in zip(columns, rows, strict=True)]
        return _RareValues(columns[0], rows, held)

    def attached(self, others: Sequence[Column], cuts: Array) -> Attached | None:
        """The match of another column, a number by its groups; None if it could not be significant."""
        from scipy.stats import binom

        kinds = [_kinds(one, cuts, some) for one, some in zip(others, self.rows, strict=True)]
        most = max(int(one.max(initial=0)) for one in kinds) + 1
        shares = [_Shares.of(held, kind, most) for held, kind in zip(self.held, kinds, strict=True)]
        members, released = shares[:2]
        chance = float(members.of_kinds @ released.of_kinds)  # of a person and a row with different rare values
        if chance**members.values >= SIGNIFICANT:
            return None
        hits = int(members.agreeing(released) + 1e-9)
        p = float(binom.sf(hits - 1, members.values, chance))
        if p < SIGNIFICANT:  # it may be what people with one value have in common
            known = [*self._agreement(others[0], cuts), *((one.agreeing(released), one.values) for one in shares[2:])]
            known = [(agree, tries) for agree, tries in known if tries >= LEAST_PAIRS]
            p = p if known else 1.0  # nothing tells the people of a value from the population's association
            for agree, tries in known:
                p = max(p, float(fisher(hits, members.values, int(agree + 1e-9), tries)))
                chance = max(chance, agree / tries)
        return Attached((self.column.name, others[0].name), hits, members.values, chance, p)

    def _agreement(self, other: Column, cuts: Array) -> Iterator[tuple[float, int]]:
        """In how many of so many pairs two people with the same value agree in another column.

        For pairs with common values, and for those with rare values: people who share one may have more in common. Of
        a number also for people with neighbouring rare values, since nearly all may be held by one person.
        """
        known = np.flatnonzero(~self.column.missing)
        _, value, rows = np.unique(self.column.values[known], return_inverse=True, return_counts=True)
        kind = _kinds(other, cuts, known)
        most = int(kind.max()) + 1
        keys, both = np.unique(value.astype(np.int64) * most + kind, return_counts=True)
        equal = np.bincount(keys // most, both * (both - 1.0), len(rows))
        for some in (rows >= SHARED, (rows > 1) & (rows < SHARED)):
            if some.any():
                pairs = int(rows[some].sum() // 2)
                yield float((equal[some] / (rows[some] * (rows[some] - 1.0))).mean()) * pairs, pairs
        if not self.column.is_category:
            in_order = kind[np.argsort(value, kind="stable")][np.repeat(rows < SHARED, rows)]
            pairs = len(in_order) // 2
            yield float((in_order[: 2 * pairs : 2] == in_order[1 : 2 * pairs : 2]).sum()), pairs


def _holding(column: Column, values: Array) -> Rows:
    """The rows that hold one of these values, which are in order; faster than numpy's isin if they are few."""
    place = np.minimum(np.searchsorted(values, column.values), len(values) - 1)
    return np.flatnonzero(values[place] == column.values)


def _kinds(column: Column, cuts: Array, rows: Rows) -> Rows:
    """The levels of some rows, or the groups of a number, from 1; missing is 0."""
    values = column.values[rows]
    kinds = values.astype(np.int64) if column.is_category else np.searchsorted(cuts, values, side="left")
    return np.where(column.missing[rows], 0, kinds + 1)


class _Shares(NamedTuple):
    """The shares of kinds of another column among the rows with each rare value; each value weighs as much."""

    key: Rows  # value and kind
    share: Floats
    of_kinds: Floats  # in all values
    values: int  # that occur

    @staticmethod
    def of(held: Rows, kind: Rows, kinds: int) -> "_Shares":
        weight = 1 / np.bincount(held)[held]
        key, place = np.unique(held * kinds + kind, return_inverse=True)
        values = len(np.unique(held))
        share = np.bincount(place, weight).astype(np.float64)
        return _Shares(key, share, np.bincount(kind, weight, kinds) / max(values, 1), values)

    def agreeing(self, other: "_Shares") -> float:
        """The probability that two rows with the same value, one of each table, agree, summed over values."""
        _, ours, theirs = np.intersect1d(self.key, other.key, assume_unique=True, return_indices=True)
        return float(self.share[ours] @ other.share[theirs])


def known_values(column: Column) -> Array:
    """The values that are not missing."""
    return column.values[~column.missing]
