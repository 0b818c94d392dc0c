"""Linkage by distance: how often the released rows most like a person hold that person's own.

The attacker knows the person's original values of the key columns, of any kind, and compares them with every released
row by Gower's distance. One who also knows the method can do better; these are the figures other tools report.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from leafcover.fast.arrays import Floats, Rows
from leafcover.measuring.figures import Risk, risk_of
from leafcover.measuring.gower import Scaled, scaled
from leafcover.measuring.nearest import closer_than_own, every_distance
from leafcover.measuring.pair import Pair
from leafcover.measuring.risk.people import of_rows
from leafcover.measuring.sampling import SEED, how, some_rows

QUICK_COMPARISONS = 1_000_000_000  # people times released rows, in the short words about a release
MOST_COMPARISONS = 4_000_000_000  # the same, when a release is measured
MOST_PEOPLE = 10_000
SAMPLE = 1_000  # people linked with their released rows all at once
SAMPLES = 3


@dataclass(frozen=True)
class Linkage:
    """How often a person's own released row is found by distance alone."""

    nearest: Risk  # the own row is the nearest
    second: Risk  # the own row is the nearest or the second nearest
    optimal: Risk | None  # the best pairing of samples as a whole pairs the own row; None when there is no row
    rows: int  # people attacked, each with every released row
    of: int

    @property
    def how(self) -> str:
        """Whether everybody was attacked by the nearest and the second nearest row."""
        return how(self.rows, self.of)


def linkage(pair: Pair, *, columns: Sequence[str] = (), comparisons: int = QUICK_COMPARISONS) -> Risk:
    """The share of people whose own released row is nearest, ties averaged; over the key columns unless named."""
    rows = len(pair.original)
    people = attacked(rows, min(rows, max(1, comparisons // max(rows, 1))))
    ours, theirs = scaled([pair.original, pair.released], columns or pair.keys)
    return risk_of(chance_among(1, *closer_than_own(of_rows(ours, people), theirs, people, enough=1)))


def distance_linkage(
    pair: Pair, *, columns: Sequence[str] = (), most: int = MOST_PEOPLE, comparisons: int = MOST_COMPARISONS
) -> Linkage | None:
    """Nearest, second nearest and optimal linkage over the key columns unless named; None when rows are not paired.

    At most ``most`` people are attacked, and fewer when they times the released rows exceed ``comparisons``: a seeded
    sample, but always among all released rows. Of ties each row is equally likely to come first.
    """
    if not pair.paired:
        return None
    rows = len(pair.original)
    people = some_rows(rows, min(most, max(1, comparisons // max(rows, 1))))
    ours, theirs = scaled([pair.original, pair.released], columns or pair.keys)
    closer, tied = closer_than_own(of_rows(ours, people), theirs, people, enough=2)
    nearest, second = (risk_of(chance_among(count, closer, tied)) for count in (1, 2))
    return Linkage(nearest, second, optimal_linkage(pair, columns=columns), len(people), rows)


def chance_among(count: int, closer: Floats, tied: Floats) -> Floats:
    """The chance that a row is among the first ``count`` when so many are closer and ties fall in random order.

    >>> chance_among(2, np.array([0, 0, 1, 2]), np.array([0, 3, 3, 0]))
    array([1.  , 0.5 , 0.25, 0.  ])
    """
    return np.clip((count - closer) / (1 + tied), 0.0, 1.0)


def optimal_linkage(
    pair: Pair, *, columns: Sequence[str] = (), sample: int = SAMPLE, samples: int = SAMPLES
) -> Risk | None:
    """The share of people paired with their own row when all pairs are made at once, at the least total distance.

    Every person gets another row, so a row that is near to many goes to one of them (the assignment problem). It is
    solved for disjoint seeded samples of people with their own released rows: among a thousand rows a person is easier
    to find than among all, so the figure of a larger table is too high, and tables are compared at equal size.
    None when rows are not paired or there are none.
    """
    if not pair.paired or not len(pair.original):
        return None
    order = np.random.default_rng(SEED).permutation(len(pair.original))
    ours, theirs = scaled([pair.original, pair.released], columns or pair.keys)
    count = max(1, min(samples, len(order) // sample))
    found = [_paired(ours, theirs, order[i * sample : (i + 1) * sample], i) for i in range(count)]
    return risk_of(np.concatenate(found))


def _paired(ours: Scaled, theirs: Scaled, people: Rows, number: int) -> Floats:
    """Whether each person is paired with the own row; rows are mixed, so that ties know nothing of who is who."""
    from scipy.optimize import linear_sum_assignment

    mixed = np.random.default_rng([SEED, number]).permutation(people)
    partner = mixed[linear_sum_assignment(every_distance(of_rows(ours, people), of_rows(theirs, mixed)))[1]]
    return (partner == people).astype(np.float64)


def attacked(rows: int, wanted: int) -> Rows:
    """Evenly spaced rows, so that no draw is needed and every part of the file is met."""
    return np.unique(np.linspace(0, rows - 1, wanted).astype(np.int64))
