"""Membership: whether the distance to the nearest released row tells that a person is in the release.

The attacker has a whole row of somebody and finds the released row nearest to it (Gower's distance over all columns).
If people in the release stand nearer to it than others do, a small distance gives them away. As a test of a synthetic
table by distance: Hilprecht and others (2019), van Breugel and others (2023); as an advantage: Yeom and others (2018).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from leafcover.arrays import Floats
from leafcover.metrics.estimates import Attack, Estimate, Risk, difference, risk_of, wilson
from leafcover.metrics.neighbors import TIE, bearable, nearest, of_rows, scaled, searchable
from leafcover.metrics.pair import SEED, Pair, sample_rows

MOST = 3_000  # people of either kind
FALSE_ALARMS = 0.01


@dataclass(frozen=True)
class Membership:
    """As many people in the release as not, told apart by their distance to the nearest released row."""

    area: Risk  # under the ROC curve: how often a member stands nearer than somebody else, ties half; 0.5 is nothing
    attack: Attack  # called members: of members (main), of others (control), of both (baseline)
    accuracy: Risk  # called rightly, members and others alike; 0.5 is nothing
    alarms: Risk  # members found when one in a hundred others is called a member
    rows: int  # members judged, and as many others
    of: int

    @property
    def advantage(self) -> Estimate:
        """Members called members less others called members, between -1 and 1; 0 is nothing."""
        return difference(self.attack.main, self.attack.control or self.attack.baseline)


def membership(pair: Pair, *, columns: Sequence[str] | None = None, most: int = MOST) -> Membership | None:
    """Judge members and others by all columns but the weight, or those named; None without a control."""
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
    """Judge by the distances of as many members as others.

    The limit is chosen on a random half of the people and tried on the other.
    """
    inside, outside = np.rint(inside / TIE), np.rint(outside / TIE)  # rounding apart, equal distances
    order = np.random.default_rng(SEED).permutation(len(inside))
    first, second = order[: len(order) // 2], order[len(order) // 2 :]
    limit = _limit(inside[first], outside[first])
    called, wrongly = (inside[second] <= limit).astype(np.float64), (outside[second] <= limit).astype(np.float64)
    both = np.concatenate([called, wrongly])
    return Membership(
        risk_of(_placements(inside, outside)),
        Attack(risk_of(called), risk_of(wrongly), risk_of(both)),
        risk_of(np.concatenate([called, 1 - wrongly])),
        wilson(found_at(inside, outside, FALSE_ALARMS) * len(inside), len(inside)),
        len(inside),
        len(inside) if of is None else of,
    )


def found_at(inside: Floats, outside: Floats, alarms: float) -> float:
    """The share of members found when that share of the others is called a member; equal distances by lot.

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
    """The distance up to which calling people members is right most often; below all when it never helps."""
    limits = np.unique(np.concatenate([inside, outside, [-1.0]]))
    gain = np.searchsorted(np.sort(inside), limits, side="right") - np.searchsorted(
        np.sort(outside), limits, side="right"
    )
    return float(limits[np.argmax(gain)])


def _placements(inside: Floats, outside: Floats) -> Floats:
    """For each member the share of the others who stand farther, ties half; their mean is the area.

    Its variance is at most that of as many coins (Birnbaum and Klose 1957), so Wilson's interval is never too narrow.
    """
    ordered = np.sort(outside)
    nearer = np.searchsorted(ordered, inside, side="left") + np.searchsorted(ordered, inside, side="right")
    return 1 - nearer / (2 * len(outside))
