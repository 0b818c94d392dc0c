"""Near-copies: released rows that agree with one person in nearly every column, as no other row does.

A close match in a dense region is no evidence. So members, released rows and control are searched together, without
regard to which is which, for pairs of rows that are each other's closest, and ordered by how much farther every third
row is. Closeness is the information in the columns that agree: minus the logarithm of the share of all rows that agree
with a row there. Categories agree if they are equal, numbers within a tolerance.

In the pairs that stand out most, two members are as likely as two released rows and half as likely as one of each, if
both are independent draws from one population. If the release is drawn from another one, or is denser in some places,
pairs of one member and one released row are fewer still, as heterozygotes are in a mixed population. So the exact test
for an excess of heterozygotes (Levene 1949, Haldane 1954) tests for near-copies without any control and without a model
of the release. Members are no sample if they are unlike each other by design, as after duplicates were removed: then
nothing is tested. With a control, pairs of a released row and a member are also compared with those of a released row
and a person of the control.
"""

from collections.abc import Iterator, Sequence
from math import sqrt
from typing import NamedTuple

import numpy as np

from leafcover.arrays import Bools, Codes, Floats, Rows, Singles
from leafcover.metrics.disclosure.k_anonymity import row_marks
from leafcover.metrics.estimates import Attack, Estimate, Risk, difference, fisher, wilson
from leafcover.metrics.pair import SEED, Pair
from leafcover.table.table import Column, Table

TOLERANCES = (0.01, 0.025, 0.05)  # of a number, or of the standard deviation of its column if that is larger
FAR_FROM_ZERO = 5  # standard deviations: numbers that are all farther from 0, such as dates, have no size of their own
AGREEING = (0.999, 0.8)  # the least share of the information of a record that agrees
COUNTS = (60, 150)  # pairs that stand out most
COMMON = 10  # rows, at least, that agree with a row in a column
UNLIKELY = 0.1  # rows, at most, that agree in so much by chance if columns are independent
FARTHER = 10  # the row by whose distance a pair stands out
LEAST = 0.025  # the probability of either end of an interval
FEW_EQUAL = 10  # pairs of equal rows, from which it is clear whether there are too few
COMPARISONS = 9_000_000_000  # of values, for each tolerance
MEMBER, RELEASED, OTHER = 0, 1, 2


class NearCopies(NamedTuple):
    """The near-copies that are most significant, of all tolerances."""

    tolerance: float
    attack: Attack  # baseline: members who are as near to another member
    people: Estimate  # members with a near-copy that chance does not explain
    p: float
    tests: int


def near_copies(pair: Pair, *, comparisons: int = COMPARISONS) -> NearCopies | None:
    """Look for near-copies of members by all columns but the weight; None if no two rows stand out."""
    names = [name for name in pair.names if name != pair.weight]
    tables = [pair.original, pair.released, *([] if pair.control is None else [pair.control])]
    side = np.repeat(np.arange(len(tables)), [len(table) for table in tables])
    order = np.random.default_rng(SEED).permutation(len(side))  # who comes first must not depend on the side
    few = min(len(side), max(1, comparisons // max(1, len(side) * len(names))))
    found = []
    for tolerance in TOLERANCES if len(pair.released) and _is_sample(pair.original, names) else ():
        pairs = _closest_pairs(_agreement(tables, names, order, tolerance), few)
        for some in _standing_out(pairs):
            sides = _Sides.of(side[order[pairs.one[some]]], side[order[pairs.two[some]]])
            found += [(p, -sides.near, tolerance, sides) for p in sides.tests(pair)]
    if not found:
        return None
    p, _, tolerance, sides = min(found, key=lambda one: one[:2])
    sampled = 1 - (1 - few / len(side)) ** 2  # the share of pairs of which a row was searched for
    return NearCopies(tolerance, *sides.found(pair, sampled), p, len(found))


def _is_sample(table: Table, names: Sequence[str]) -> bool:
    """Whether there are rows, and at least half as many equal ones as if the columns were independent."""
    _, rows = np.unique(row_marks(table, names), return_counts=True)
    expected = len(table) * (len(table) - 1) / 2
    for name in names:
        _, many = np.unique(table[name].values, return_counts=True)
        expected *= float(many @ (many / len(table) ** 2))
    return len(table) > 0 and (expected < FEW_EQUAL or float(rows @ (rows - 1)) >= expected)


# Agreement: for each row and column, with which ranks it agrees, and the information in that.


class RowAgreement(NamedTuple):
    """(columns, rows) ranks of values, the lowest and highest rank that agrees with each, and its information."""

    ranks: Codes
    low: Codes
    high: Codes
    information: Singles


def _agreement(tables: Sequence[Table], names: Sequence[str], order: Rows, tolerance: float) -> RowAgreement:
    """Of all rows of the tables, in an order."""
    parts = [_agreement_of([table[name] for table in tables], tolerance) for name in names]
    ranks, low, high, information = (np.array(part)[:, order] for part in zip(*parts, strict=True))
    one, two, three = (np.ascontiguousarray(part, np.int32) for part in (ranks, low, high))
    return RowAgreement(one, two, three, np.ascontiguousarray(information, np.float32))


def _agreement_of(columns: Sequence[Column], tolerance: float) -> tuple[Rows, Rows, Rows, Floats]:
    """Rare levels agree with each other, and a rare number with the rows next to it.

    Otherwise a column that is a permutation of the original would by itself show who is in the release.
    """
    values = np.concatenate([column.values for column in columns])
    known = ~np.concatenate([column.missing for column in columns])
    distinct, place, rows = np.unique(values[known], return_inverse=True, return_counts=True)
    if columns[0].is_category:
        merged = np.append(np.where(rows < COMMON, len(rows), np.arange(len(rows))), 0)
        place, distinct = merged[place], np.arange(len(rows) + 1)
        rows = np.bincount(place, minlength=len(distinct))
    reach = np.zeros(len(distinct)) if columns[0].is_category else _reach(columns[0], distinct, rows, tolerance)
    with np.errstate(over="ignore"):  # near the largest float
        first = np.searchsorted(distinct, distinct - reach, side="left")
        last = np.searchsorted(distinct, distinct + reach, side="right")
    before = np.concatenate([[0], np.cumsum(rows)])
    if not columns[0].is_category:
        wider = (np.maximum(COMMON - (before[last] - before[first]), 0) + 1) // 2
        first = np.searchsorted(before, np.maximum(before[first] - wider, 0), side="right") - 1
        last = np.searchsorted(before, np.minimum(before[last] + wider, before[-1]), side="left")
    ranks, low, high = (np.full(len(values), -1, np.int64) for _ in range(3))
    many = np.full(len(values), len(values) - len(place))
    ranks[known], low[known], high[known] = place, first[place], last[place] - 1
    many[known] = (before[last] - before[first])[place]
    return ranks, low, high, -np.log(many / len(values))


def _reach(column: Column, distinct: Floats, rows: Rows, tolerance: float) -> Floats:
    """How far a number may be from each of these to agree: the tolerance, and half a step of the grid by rounding."""
    if not len(distinct):
        return distinct
    with np.errstate(over="ignore", invalid="ignore"):
        mean = float(distinct @ rows / rows.sum())
        spread = float(sqrt(rows @ (distinct - mean) ** 2 / rows.sum()))
        sized = 0 <= distinct[0] <= FAR_FROM_ZERO * spread
        size = np.maximum(distinct, spread) if sized else np.full(len(distinct), spread)
        step = 0.0 if column.grid is None else column.grid.step
        found: Floats = np.nan_to_num((tolerance * size + step / 2) * (1 + 1e-9))
    return found


# Pairs of rows that are each other's closest.


class ClosePairs(NamedTuple):
    """Places of two rows that are each other's closest, and how close they are."""

    one: Rows
    two: Rows
    agreeing: Floats  # the share of the information that agrees, of the row with less
    margin: Floats  # by how much information the tenth closest row agrees less, for the row with less


def _closest_pairs(rows: RowAgreement, few: int) -> ClosePairs:
    """The pairs that the first rows are in."""
    from leafcover.kernels.neighbors import most_agreeing

    total = rows.information.sum(axis=0)
    enough = np.maximum(min(AGREEING) * total, np.log(len(total) / UNLIKELY))
    count = min(FARTHER, len(total) - 1)
    best, closest = np.zeros((len(total), count), np.float32), np.full(len(total), -1)
    asked = np.arange(few)
    for _ in range(2):  # the first rows, then those that are closest to them
        best[asked], closest[asked] = most_agreeing(*rows, asked, count)
        near = best[:, 0] >= enough
        asked = np.setdiff1d(closest[near & (closest >= 0)], asked)
    one = np.flatnonzero(near)
    one = one[(closest[closest[one]] == one) & (one < closest[one])]
    two = closest[one]
    margin = np.minimum(best[one, 0] - best[one, -1], best[two, 0] - best[two, -1])
    return ClosePairs(one, two, np.minimum(best[one, 0] / total[one], best[two, 0] / total[two]), margin)


def _standing_out(pairs: ClosePairs) -> Iterator[Rows]:
    """Several sets of pairs, chosen without regard to whose rows they are."""
    for least in AGREEING:
        some = np.flatnonzero(pairs.agreeing >= least)
        some = some[np.argsort(-pairs.margin[some], kind="stable")]
        for count, fewer in zip(COUNTS, (0, *COUNTS), strict=False):
            if len(some) > fewer:
                yield some[:count]


# Tests.


class _Sides(NamedTuple):
    """How many pairs there are of two members, of a member and a released row, and so on."""

    members: int
    near: int  # a member and a released row
    released: int
    others: int  # a person of the control and a released row

    @staticmethod
    def of(one: Rows, two: Rows) -> "_Sides":
        least, most = np.minimum(one, two), np.maximum(one, two)

        def count(first: int, second: int) -> int:
            return int(((least == first) & (most == second)).sum())

        return _Sides(count(MEMBER, MEMBER), count(MEMBER, RELEASED), count(RELEASED, RELEASED), count(RELEASED, OTHER))

    def tests(self, pair: Pair) -> Iterator[float]:
        """The probability of so many near-copies, by the pairs alone and in comparison with the control."""
        yield mixed_excess(self.members, self.near, self.released)
        if pair.control is not None and len(pair.control):
            yield float(fisher(self.near, len(pair.original), self.others, len(pair.control)))

    def found(self, pair: Pair, sampled: float) -> tuple[Attack, Estimate]:
        """Near-copies of people, and how many of them chance does not explain."""
        tries = max(round(sampled * len(pair.original)), self.near)
        main, baseline = wilson(self.near, tries), wilson(min(2 * self.members, tries), tries)
        if pair.control is not None and len(pair.control):
            control = wilson(self.others, max(round(sampled * len(pair.control)), self.others))
            above = difference(main, control)
            value, low, high = (max(0.0, end) * len(pair.original) for end in (above.value, above.low, above.high))
            return Attack(main, control, baseline), Estimate(value, low, high, len(pair.original))
        value, low, high = self._excess()
        chance = (self.near - value) / tries
        share = Risk(chance, chance, chance, tries)
        people = Estimate(value / sampled, low / sampled, high / sampled, len(pair.original))
        return Attack(main, share, baseline), people

    def _excess(self) -> tuple[float, int, int]:
        """Near-copies beyond those by chance, with the interval of numbers that the exact test does not reject."""
        value = max(0.0, self.near - 2 * sqrt(self.members * self.released))
        left = np.arange(self.near + 1)  # near-copies by chance
        tails = [mixed_tails(self.members, one, self.released) for one in left.tolist()]
        likely = [one for one, (most, least) in zip(left.tolist(), tails, strict=True) if min(most, least) >= LEAST]
        low, high = (self.near - max(likely), self.near - min(likely)) if likely else (0, self.near)
        return value, min(low, int(value)), max(high, int(value))


def mixed_excess(members: int, near: int, released: int) -> float:
    """The probability of at least so many pairs of one of each, if all rows in pairs are paired at random.

    >>> round(mixed_excess(0, 2, 0), 6)
    0.666667
    """
    return mixed_tails(members, near, released)[1]


def mixed_tails(members: int, near: int, released: int) -> tuple[float, float]:
    """The probabilities of at most, and of at least, so many pairs of one of each."""
    from scipy.special import gammaln

    pairs, ours, theirs = members + near + released, 2 * members + near, 2 * released + near
    mixed = np.arange(near % 2, min(ours, theirs) + 1, 2)
    log = mixed * np.log(2) - gammaln((ours - mixed) / 2 + 1) - gammaln(mixed + 1) - gammaln((theirs - mixed) / 2 + 1)
    log += gammaln(pairs + 1) + gammaln(ours + 1) + gammaln(theirs + 1) - gammaln(2 * pairs + 1)
    chance = np.exp(log)
    at_most: Bools = mixed <= near
    at_least: Bools = mixed >= near
    return min(1.0, float(chance[at_most].sum())), min(1.0, float(chance[at_least].sum()))
