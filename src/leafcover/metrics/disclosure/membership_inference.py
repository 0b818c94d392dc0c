"""Membership inference: whether the distance to the nearest released record reveals that a person is in the release.

The attacker has the complete record of a person and finds the nearest released record (Gower's distance over all
columns). If people in the release are nearer to it than others are, a small distance reveals membership. As a test of
synthetic data by distance: Hilprecht and others (2019), van Breugel and others (2023); the advantage: Yeom and others
(2018).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from leafcover.arrays import Floats
from leafcover.metrics.estimates import Attack, Estimate, Risk, difference, risk_of, wilson
from leafcover.metrics.neighbors import TIE, bearable, nearest, of_rows, scaled, searchable
from leafcover.metrics.pair import SEED, Pair, sample_rows

MOST = 3_000  # members, and as many non-members
FALSE_ALARMS = 0.01


@dataclass(frozen=True)
class Membership:
    """Equally many members and non-members, distinguished by their distance to the nearest released record."""

    area: Risk  # under the ROC curve: how often a member is nearer than a non-member, ties half; 0.5 is chance
    attack: Attack  # classified as members: members (main), non-members (control), both (baseline)
    accuracy: Risk  # classified correctly, members and non-members; 0.5 is chance
    alarms: Risk  # members detected at a false positive rate of 1 %
    rows: int  # members classified, and as many non-members
    of: int

    @property
    def advantage(self) -> Estimate:
        """True positive rate minus false positive rate, between -1 and 1; 0 is chance."""
        return difference(self.attack.main, self.attack.control or self.attack.baseline)


def membership(pair: Pair, *, columns: Sequence[str] | None = None, most: int = MOST) -> Membership | None:
    """Classify members and non-members by all columns but the weight, or those named; None without a control."""
    if pair.control is None or not len(pair.control) or not len(pair.released):
        return None
    names = [name for name in pair.names if name != pair.weight] if columns is None else columns
    count = min(len(pair.original), len(pair.control), bearable(most, pair, names))
    ours, theirs, others = scaled([pair.original, pair.released, pair.control], names)
    released = searchable(theirs)
    inside = nearest(of_rows(ours, sample_rows(len(pair.original), count)), released).distance[:, 0]
    outside = nearest(of_rows(others, sample_rows(len(pair.control), count)), released).distance[:, 0]
    return membership_of(inside, outside, of=len(pair.original))


def membership_of(inside: Floats, outside: Floats, *, of: int | None = None) -> Membership:
    """Classify by the distances of equally many members and non-members.

    The threshold is chosen on a random half of the people and tested on the other.
    """
    inside, outside = np.rint(inside / TIE), np.rint(outside / TIE)  # equal up to rounding
    order = np.random.default_rng(SEED).permutation(len(inside))
    first, second = order[: len(order) // 2], order[len(order) // 2 :]
    limit = _limit(inside[first], outside[first])
    called, wrongly = (inside[second] <= limit).astype(np.float64), (outside[second] <= limit).astype(np.float64)
    both = np.concatenate([called, wrongly])
    return Membership(
        risk_of(placements(inside, outside)),
        Attack(risk_of(called), risk_of(wrongly), risk_of(both)),
        risk_of(np.concatenate([called, 1 - wrongly])),
        wilson(found_at(inside, outside, FALSE_ALARMS) * len(inside), len(inside)),
        len(inside),
        len(inside) if of is None else of,
    )


def found_at(inside: Floats, outside: Floats, alarms: float) -> float:
    """The share of members detected at this false positive rate; equal distances at random.

    >>> found_at(np.array([0.0, 1.0]), np.array([1.0, 2.0]), 0.25)
    0.75
    """
    limits = np.unique(outside)
    called = np.searchsorted(np.sort(outside), limits, side="right") / len(outside)
    upto = np.searchsorted(np.sort(inside), limits, side="right") / len(inside)
    below = np.searchsorted(np.sort(inside), limits, side="left") / len(inside)
    at = int(np.searchsorted(called, alarms, side="right"))
    if at == len(limits):
        return 1.0
    before = called[at - 1] if at else 0.0
    return float(below[at] + (upto[at] - below[at]) * (alarms - before) / (called[at] - before))


def _limit(inside: Floats, outside: Floats) -> float:
    """The threshold with the best classification; below all distances if none helps."""
    limits = np.unique(np.concatenate([inside, outside, [-1.0]]))
    gain = np.searchsorted(np.sort(inside), limits, side="right") - np.searchsorted(
        np.sort(outside), limits, side="right"
    )
    return float(limits[np.argmax(gain)])


def placements(inside: Floats, outside: Floats) -> Floats:
    """For each member the share of non-members who are farther, ties half; their mean is the area.

    Its variance is at most binomial (Birnbaum and Klose 1957), so Wilson's interval is never too narrow.
    """
    ordered = np.sort(outside)
    nearer = np.searchsorted(ordered, inside, side="left") + np.searchsorted(ordered, inside, side="right")
    return 1 - nearer / (2 * len(outside))
