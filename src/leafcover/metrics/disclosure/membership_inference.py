"""Membership inference: whether distances or values reveal that a person is in the release.

The attacker has the complete record of a person and finds the nearest released record (Gower's distance over all
columns). If people in the release are nearer to it than others are, a small distance reveals membership. As a test of
synthetic data by distance: Hilprecht and others (2019), van Breugel and others (2023); the advantage: Yeom and others
(2018).

An attacker who has a sample of the population also compares how often the person's values occur in the release and in
that sample, column by column: a density ratio, as in DOMIAS (van Breugel and others 2023). Values that only members
have, such as exact amounts, reveal them whatever the other columns say.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from leafcover.arrays import Array, Bools, Floats, Rows
from leafcover.metrics.disclosure.nearest_record import TIE, bearable, nearest, of_rows, scaled, searchable
from leafcover.metrics.estimates import Attack, Estimate, Risk, difference, risk_of, wilson
from leafcover.metrics.pair import SEED, Pair, sample_rows
from leafcover.table.table import Column, Table

MOST = 3_000  # members, and as many non-members
FALSE_ALARMS = 0.01
FALSE_ALARMS_RARELY = 0.001
ABSENT = 0.1  # rows added to the release in the shares of both tables, and to the reference sample:
SHRUNK = 100.0
NEIGHBOURS = 10  # released values on either side, by whose shares a cell of numbers is smoothed


@dataclass(frozen=True)
class Presence:
    """Members and others, distinguished by how often their values occur in the release and in a reference sample."""

    area: Risk
    found: Risk  # the share of members found at 1 % false alarms
    found_rarely: Risk  # at 0.1 %
    exact: bool  # numbers count by their exact value, else by the nearest released one; whichever reveals more
    reference: int  # rows of the reference sample


@dataclass(frozen=True)
class Membership:
    """Equally many members and non-members, distinguished by their distance to the nearest released record."""

    area: Risk  # under the ROC curve: how often a member is nearer than a non-member, ties half; 0.5 is chance
    attack: Attack  # classified as members: members (main), non-members (control), both (baseline)
    accuracy: Risk  # classified correctly, members and non-members; 0.5 is chance
    alarms: Risk  # members detected at a false positive rate of 1 %
    rows: int  # members classified, and as many non-members
    of: int
    presence: Presence | None = None  # by values; None with fewer than six people outside the release

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
    found = membership_of(inside, outside, of=len(pair.original))
    return replace(found, presence=presence(pair, columns=names, most=most))


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


# Values: how often they occur in the release, and in a reference sample.


def folds(sampled: Rows, of: int) -> Iterator[tuple[Rows, Rows]]:
    """Both halves of sampled rows by their place, each with the rows of the table that are not in it."""
    for half in (0, 1):
        yield np.arange(half, len(sampled), 2), np.setdiff1d(np.arange(of), sampled[half::2])


def is_tuning(people: int) -> Bools:
    """Every third of these people, by whom an attack is chosen; it is tested on the others."""
    found: Bools = np.arange(people) % 3 == 0
    return found


def presence(pair: Pair, *, columns: Sequence[str] | None = None, most: int = MOST) -> Presence | None:
    """Compare values with a reference sample: the rows of the control whose people are not judged by it.

    Half of the people are judged by a sample without one half of the control, the others without the other.
    """
    if pair.control is None or min(len(pair.control), len(pair.original)) < 6 or not len(pair.released):
        return None
    names = [name for name in pair.names if name != pair.weight] if columns is None else columns
    count = min(len(pair.original), len(pair.control), most)
    chosen, sampled = sample_rows(len(pair.original), count), sample_rows(len(pair.control), count)
    inside, outside = np.empty((2, count)), np.empty((2, count))
    for places, rest in folds(sampled, len(pair.control)):
        reference = pair.control.take(rest)
        inside[:, places] = _ratios(pair.released, reference, pair.original.take(chosen[places]), names)
        outside[:, places] = _ratios(pair.released, reference, pair.control.take(sampled[places]), names)
    tuning = is_tuning(count)
    areas = [placements(-one[tuning], -two[tuning]).mean() for one, two in zip(inside, outside, strict=True)]
    best = int(np.argmax(areas))
    members, others = -inside[best][~tuning], -outside[best][~tuning]
    found, rarely = (
        wilson(found_at(members, others, alarms) * len(members), len(members))
        for alarms in (FALSE_ALARMS, FALSE_ALARMS_RARELY)
    )
    return Presence(risk_of(placements(members, others)), found, rarely, best == 0, len(rest))


def _ratios(released: Table, reference: Table, people: Table, names: Sequence[str]) -> Floats:
    """(2, people) the log ratio of shares in release and reference, over columns: by exact and by nearest values."""
    total = np.zeros((2, len(people)))
    for name in names:
        three = (released[name], reference[name], people[name])
        exact = _exact(*(column.values for column in three))
        total += (exact, exact if released[name].is_category else _nearest(*three))
    return total


def _exact(released: Array, reference: Array, asked: Array) -> Floats:
    """The log ratio for values asked of, missing ones among them."""
    values, place = np.unique(np.concatenate([released, reference, asked]), return_inverse=True)
    ends = (len(released), len(released) + len(reference))
    ours, theirs = (np.bincount(part, minlength=len(values)) for part in np.split(place, ends)[:2])
    prior = np.divide(ours + theirs + 0.5, ends[1] + 0.5 * len(values), dtype=np.float64)
    return _log_ratio(ours, theirs, prior)[place[ends[1] :]]


def _nearest(released: Column, reference: Column, asked: Column) -> Floats:
    """The log ratio for the released number nearest to each one asked of; 0 for missing ones.

    The prior of a released number is the mean share of its neighbours.
    """
    found = np.zeros(len(asked))
    values, ours = np.unique(released.values[~released.missing], return_counts=True)
    if len(values) < 2:
        return found
    middle = values[1:] / 2 + values[:-1] / 2  # so that no sum overflows
    theirs = np.bincount(np.searchsorted(middle, reference.values[~reference.missing]), minlength=len(values))
    both = np.concatenate([[0], np.cumsum(ours + theirs)])
    first = np.maximum(np.arange(len(values)) - NEIGHBOURS, 0)
    last = np.minimum(np.arange(len(values)) + NEIGHBOURS + 1, len(values))
    near = both[last] - both[first] - ours - theirs
    prior: Floats = (near + 0.5) / (last - first - 1) / both[-1]
    known = ~asked.missing
    found[known] = _log_ratio(ours, theirs, prior)[np.searchsorted(middle, asked.values[known])]
    return found


def _log_ratio(ours: Rows, theirs: Rows, prior: Floats) -> Floats:
    """The share in the release against that in the reference sample, which is smoothed more."""
    released = (ours + ABSENT * prior) / (ours.sum() + ABSENT)
    found: Floats = np.log(released) - np.log((theirs + SHRUNK * prior) / (theirs.sum() + SHRUNK))
    return found
