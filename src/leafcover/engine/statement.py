"""What is proved of a release in which every column was dealt: how much it can add to what an attacker knows.

The released table depends on the original only through a description: the trees, the counts of codes in their leaves
(a code is a level, all rare levels, or a group of numbers), the pairs of levels that are avoided, and the counts and
sums that are compared, beyond the values of each column. So it cannot reveal more bits about the people than the
description is long. The proof and what it does not say are in ``docs/explanation/what-is-proved.md``.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from math import ceil, exp, floor, log, log10

import numpy as np

from leafcover.arrays import Array
from leafcover.messages import catalogue
from leafcover.perturb.base import Described
from leafcover.table.table import Column
from leafcover.table.weights import ReleasedWeights

BITS = log(2)  # nats in a bit


@dataclass(frozen=True)
class Statement:
    """The figures of the statement, exact: for the steward. `published` rounds them."""

    rows: int
    trees: float  # bits that describe the trees
    counts: float  # bits that describe the counts in their leaves
    pairs: float  # bits that say which pairs of levels are avoided, and the counts and sums that are compared
    copy: float  # bits that the rows hold at least, beyond the values of each column and the order of the rows
    own_share: float  # log of the share of a person's own values over what the others predict, mean over people
    own_share_most: float  # the same for the person with the largest

    @property
    def bits(self) -> float:
        """The length of the description in bits."""
        return self.trees + self.counts + self.pairs

    @property
    def published(self) -> "Published":
        """The figures that may be published."""
        return Published(
            upwards(self.bits / self.rows), 0.0 - upwards(-self.copy / self.rows), upwards(exp(self.own_share))
        )


@dataclass(frozen=True)
class Published:
    """Figures with two digits, rounded to the safe side. The proof counts them as known to the attacker."""

    bits_per_person: float
    bits_per_person_in_a_copy: float
    own_share_factor: float

    @property
    def sentences(self) -> tuple[str, ...]:
        """What is proved."""
        say = catalogue("release")
        bits = say("proved-bits", bits=f"{self.bits_per_person:g}")
        if self.bits_per_person_in_a_copy > 0:  # the bound is empty for few rows of many values
            bits += " " + say("proved-copy", copy=f"{self.bits_per_person_in_a_copy:g}")
        return bits, say("proved-own-share", factor=f"{self.own_share_factor:g}")

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What the proof assumes, and what it leaves open."""
        say = catalogue("release")
        return say("proved-key"), say("proved-known"), say("proved-average"), say("proved-open")


def assumed(proved: Published, weights: ReleasedWeights | None) -> tuple[str, ...]:
    """What the proof assumes for a release; totals that calibrated weights keep count as known."""
    say = catalogue("release")
    is_calibrated = weights is not None and weights.leave == "calibrated"
    return (*proved.assumptions, *((say("proved-weights"),) if is_calibrated else ()))


def upwards(figure: float) -> float:
    """Two digits, rounded up.

    >>> upwards(1.921), upwards(0.30000001), upwards(-25.65), upwards(0.0)
    (2.0, 0.31, -25.0, 0.0)
    """
    if figure == 0:
        return 0.0
    decimals = 1 - floor(log10(abs(figure)))
    return round(ceil(round(figure * 10.0**decimals, 6)) / 10.0**decimals, max(decimals, 0))


def statement(blocks: Iterable[tuple[Column, Described | None]], rows: int) -> Statement | None:
    """The statement for a table whose columns were all dealt: a released column of each block, and what describes it.

    None if something is not described.
    """
    trees = counts = pairs = 0.0
    copy, own = -_log_factorial(np.array([rows])), np.zeros(rows)
    for column, described in blocks:
        if described is None:
            return None
        trees, counts, pairs = trees + described.trees, counts + described.counts, pairs + described.pairs
        held = np.unique(column.values, return_counts=True)[1]  # nan is one value
        copy += _log_factorial(np.array([rows])) - _log_factorial(held)
        own += described.own
    return Statement(rows, trees, counts, pairs, max(copy, 0.0) / BITS, float(own.mean()), float(own.max()))


def _log_factorial(numbers: Array) -> float:
    """The sum of the logs of the factorials."""
    from scipy.special import gammaln

    return float(gammaln(numbers + 1.0).sum())
