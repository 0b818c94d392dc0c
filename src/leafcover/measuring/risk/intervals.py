"""Interval disclosure: how often a number's original lies in a narrow interval around its released value.

By rank (Domingo-Ferrer and Torra 2001): the interval holds the released values at most p % of the rows away in rank,
and the share is averaged over p = 1 .. 10. By standard deviation (Mateo-Sanz, Sebé and Domingo-Ferrer 2004): the
interval is a multiple of the released column's standard deviation to either side, and a record is at risk when every
number of it is inside. Both look at numbers (dates and times too), not at categories.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from leafcover.errors import ValueOutOfRange
from leafcover.fast.arrays import Bools, Floats
from leafcover.measuring.figures import Risk, risk_of
from leafcover.measuring.pair import Pair
from leafcover.measuring.sampling import SEED, how, some_rows

MOST_ROWS = 100_000
PERCENTS = tuple(range(1, 11))
DEVIATIONS = 0.05


@dataclass(frozen=True)
class ColumnInterval:
    """One number, over the rows where both tables know it."""

    column: str
    rank: Risk
    rank_chance: Risk  # the same for released values dealt out at random
    deviation: Risk
    deviation_chance: Risk


@dataclass(frozen=True)
class Intervals:
    """Interval disclosure by column, the worst first, and by record: every number of it is inside."""

    columns: tuple[ColumnInterval, ...]
    rank: Risk  # records, averaged over the ten widths
    deviation: Risk  # records
    deviations: float  # half of the interval's width, in standard deviations
    rows: int
    of: int

    @property
    def how(self) -> str:
        """Whether every row was compared."""
        return how(self.rows, self.of)


def intervals(
    pair: Pair, *, columns: Sequence[str] = (), deviations: float = DEVIATIONS, most: int = MOST_ROWS
) -> Intervals | None:
    """Interval disclosure over all numbers unless some are named; None when rows are not paired.

    A number that only one of the tables knows is not disclosed; one that neither knows is passed over, and a record
    without any number is left out.
    """
    if not deviations > 0:
        raise ValueOutOfRange("deviations", deviations, "above 0")
    if not pair.paired:
        return None
    rows = some_rows(len(pair.original), most)
    dealt = np.random.default_rng(SEED).permutation(len(rows))
    found, met = [], np.zeros(len(rows), bool)
    ranks, inside = np.zeros(len(rows)), np.ones(len(rows), bool)
    for name in columns or pair.numbers:
        before, after = pair.original[name].values[rows], pair.released[name].values[rows]
        apart, close = ranks_apart(before, after), within_deviations(before, after, deviations)
        both = ~(np.isnan(before) | np.isnan(after))
        other = ~(np.isnan(before) | np.isnan(after[dealt]))
        found.append(
            ColumnInterval(
                name,
                risk_of(_disclosed(apart[both])),
                risk_of(_disclosed(ranks_apart(before, after[dealt])[other])),
                risk_of(close[both].astype(np.float64)),
                risk_of(within_deviations(before, after[dealt], deviations)[other].astype(np.float64)),
            )
        )
        neither = np.isnan(before) & np.isnan(after)
        met |= ~neither
        ranks = np.where(neither, ranks, np.maximum(ranks, apart))
        inside &= neither | close
    return Intervals(
        tuple(sorted(found, key=lambda c: (-c.rank.value, -c.deviation.value, c.column))),
        risk_of(_disclosed(ranks[met])),
        risk_of(inside[met].astype(np.float64)),
        deviations,
        len(rows),
        len(pair.original),
    )


def ranks_apart(before: Floats, after: Floats) -> Floats:
    """How many ranks, as a share of the rows, the interval must reach so that it holds the original value.

    Ranks are those of the released values; a tied value's interval reaches from its lowest and highest rank. An
    original beyond all released values, or a missing value, is never reached.

    >>> ranks_apart(np.array([1.0, 2.0, 9.0]), np.array([1.0, 3.0, 4.0]))
    array([0.        , 0.33333333,        inf])
    """
    known = ~(np.isnan(before) | np.isnan(after))
    released = np.sort(after[known])
    own, original = after[known], before[known]
    lowest, highest = np.searchsorted(released, own, "left"), np.searchsorted(released, own, "right") - 1
    down = np.searchsorted(released, original, "right") - 1  # the highest released value not above the original
    up = np.searchsorted(released, original, "left")  # the lowest not below it
    steps = np.maximum(np.maximum(lowest - down, up - highest), 0) / max(len(released), 1)
    found = np.full(len(before), np.inf)
    found[known] = np.where((down < 0) | (up == len(released)), np.inf, steps)
    return found


def within_deviations(before: Floats, after: Floats, deviations: float) -> Bools:
    """Rows where the original lies so many standard deviations, or fewer, from the released value."""
    known = after[~np.isnan(after)]
    size = float(np.abs(known).max()) if len(known) else 0.0
    scale = size if size > 0 else 1.0  # numbers near the largest that exist would overflow when squared
    reach = deviations * float(np.std(known / scale)) if len(known) else 0.0
    return np.abs(before / scale - after / scale) <= reach


def _disclosed(apart: Floats) -> Floats:
    """The share of the widths 1 .. 10 % at which each row is inside."""
    found: Floats = np.mean([apart <= percent / 100 + 1e-12 for percent in PERCENTS], axis=0)
    return found
