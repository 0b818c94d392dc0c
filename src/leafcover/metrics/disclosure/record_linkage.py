"""Record linkage: how often an attacker links a person to that person's own released row.

Two attackers know the person's original quasi-identifiers. One compares them with every released row by Gower's
distance, as other tools do. The other knows the method, everything but the secret key (maximum-knowledge linkage).
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from leafcover.arrays import Floats, Rows
from leafcover.metrics.disclosure.nearest_record import ScaledTable, closer_than_own, every_distance, of_rows, scaled
from leafcover.metrics.estimates import Risk, risk_of, risk_over_keys
from leafcover.metrics.pair import SEED, Pair, coverage_note, sample_rows

QUICK_COMPARISONS = 1_000_000_000  # people times released rows, for the summary of a release
MOST_COMPARISONS = 4_000_000_000  # the same, when a release is measured
MOST_PEOPLE = 10_000
SAMPLE = 1_000  # people linked to their released rows in one assignment
SAMPLES = 3


@dataclass(frozen=True)
class Linkage:
    """How often a person is linked to their own released row by distance alone."""

    nearest: Risk  # the own row is the nearest
    second: Risk  # the own row is the nearest or the second nearest
    optimal: Risk | None  # the optimal assignment of a sample pairs the own row; None if there are no rows
    rows: int  # people attacked, each with every released row
    of: int

    @property
    def how(self) -> str:
        """Whether everybody was attacked, or a sample."""
        return coverage_note(self.rows, self.of)


def linkage(pair: Pair, *, columns: Sequence[str] = (), comparisons: int = QUICK_COMPARISONS) -> Risk:
    """The share of people whose own released row is the nearest by quasi-identifiers (or columns); ties averaged."""
    rows = len(pair.original)
    people = attacked(rows, min(rows, max(1, comparisons // max(rows, 1))))
    ours, theirs = scaled([pair.original, pair.released], columns or pair.quasi_identifiers)
    return risk_of(chance_among(1, *closer_than_own(of_rows(ours, people), theirs, people, enough=1)))


def distance_linkage(
    pair: Pair, *, columns: Sequence[str] = (), most: int = MOST_PEOPLE, comparisons: int = MOST_COMPARISONS
) -> Linkage | None:
    """Nearest, second nearest and optimal linkage by the quasi-identifiers or columns named; None without pairs.

    At most ``most`` people are attacked, or fewer so that people times released rows stay within ``comparisons``: a
    seeded sample, always among all released rows. Tied rows are equally likely to come first.
    """
    if not pair.paired:
        return None
    rows = len(pair.original)
    people = sample_rows(rows, min(most, max(1, comparisons // max(rows, 1))))
    ours, theirs = scaled([pair.original, pair.released], columns or pair.quasi_identifiers)
    closer, tied = closer_than_own(of_rows(ours, people), theirs, people, enough=2)
    nearest, second = (risk_of(chance_among(count, closer, tied)) for count in (1, 2))
    return Linkage(nearest, second, optimal_linkage(pair, columns=columns), len(people), rows)


def chance_among(count: int, closer: Floats, tied: Floats) -> Floats:
    """The chance that a row is among the first ``count`` if so many are closer and ties are in random order.

    >>> chance_among(2, np.array([0, 0, 1, 2]), np.array([0, 3, 3, 0]))
    array([1.  , 0.5 , 0.25, 0.  ])
    """
    return np.clip((count - closer) / (1 + tied), 0.0, 1.0)


def optimal_linkage(
    pair: Pair, *, columns: Sequence[str] = (), sample: int = SAMPLE, samples: int = SAMPLES
) -> Risk | None:
    """The share of people paired with their own row in the assignment of least total distance.

    Every person gets a different row, so a row near to many people goes to one of them (the assignment problem). It is
    solved for disjoint seeded samples of people and their released rows. Among a thousand rows a person is easier to
    link than among all, so the figure of a larger table is too high; compare tables at equal size. None without pairs
    or rows.
    """
    if not pair.paired or not len(pair.original):
        return None
    order = np.random.default_rng(SEED).permutation(len(pair.original))
    ours, theirs = scaled([pair.original, pair.released], columns or pair.quasi_identifiers)
    count = max(1, min(samples, len(order) // sample))
    found = [_paired(ours, theirs, order[i * sample : (i + 1) * sample], i) for i in range(count)]
    return risk_of(np.concatenate(found))


def _paired(ours: ScaledTable, theirs: ScaledTable, people: Rows, number: int) -> Floats:
    """Whether each person is paired with their own row; rows are shuffled, so that ties do not reveal the pairs."""
    from scipy.optimize import linear_sum_assignment

    mixed = np.random.default_rng([SEED, number]).permutation(people)
    partner = mixed[linear_sum_assignment(every_distance(of_rows(ours, people), of_rows(theirs, mixed)))[1]]
    return (partner == people).astype(np.float64)


def attacked(rows: int, wanted: int) -> Rows:
    """Evenly spaced rows: no randomness, and every part of the file is covered."""
    return np.unique(np.linspace(0, rows - 1, wanted).astype(np.int64))


# Maximum-knowledge record linkage: the attacker knows recipe, parameters, trees, boxes and the distribution of the
# perturbation, everything but the secret key.
#
# For a person whose quasi-identifiers are known, the attacker computes for every released row the likelihood ratio of
# being that person's row, and picks the highest; ties are drawn at random. The likelihoods are passed in as `Evidence`:
# from the plan that made the release, or estimated from pairs (see `probabilistic_linkage`).


MOST_PEOPLE_INFORMED = 3_000  # attacked one by one where the likelihood differs between rows
FEWEST_PEOPLE = 40  # however much it costs
MOST_SCORES = 200_000_000  # the approximate limit of scores of a person against a row and a column
AT_ONCE = 1_000_000  # scores held in memory: larger arrays cost more to allocate than to fill
TIED = 1e-9  # scores no further apart are ties
SIZES = ((1, 1), (2, 4), (5, 9), (10, 19), (20, 49), (50, 199), (200, None))  # of anonymity sets, in the report


class Evidence(Protocol):
    """What the attacker can infer about a pair's rows, both tables in the order of the original."""

    @property
    def groups(self) -> Rows:
        """(rows,) group numbers: a person and a released row in different groups certainly do not match."""

    @property
    def is_exchangeable(self) -> bool:
        """Whether nothing more can be inferred: every released row of the group is equally likely."""

    @property
    def columns(self) -> int:
        """How many columns each score is computed from: its cost."""

    def scores(self, people: Rows, rows: Rows) -> tuple[Floats, ...]:
        """(people, rows) the score of each released row for each person; one matrix for each way to score."""


@dataclass(frozen=True)
class Crowd:
    """The risk of people whose anonymity set (the rows that could be theirs) has a size in this range."""

    fewest: int
    most: int | None  # None: no upper limit
    risk: Risk


@dataclass(frozen=True)
class Informed:
    """How often the attacker links a person to their own released row."""

    first: Risk  # the best guess is right, ties drawn at random
    ten: Risk  # the own row is among the ten best guesses
    median_rank: float  # the rank of the own row among all, averaged over ties; 1 is the best guess
    crowds: tuple[Crowd, ...]  # the first risk by the size of the anonymity set
    smallest_crowd: int
    law: str  # "the plan's own" or "learned from half of the pairs"
    rows: int
    of: int

    @property
    def how(self) -> str:
        """Whether everybody was attacked, or a sample."""
        return coverage_note(self.rows, self.of)


def informed(
    evidence: Evidence,
    *,
    law: str = "the plan's own",
    people: Rows | None = None,
    most: int = MOST_PEOPLE_INFORMED,
    tell: Callable[[float], None] = lambda share: None,
) -> Informed:
    """Attack people: all, or a sample where likelihoods must be computed row by row."""
    groups = evidence.groups
    sizes = np.bincount(groups)[groups]
    if evidence.is_exchangeable:
        chosen = np.arange(len(groups)) if people is None else people
        better, tied = np.zeros(len(chosen)), sizes[chosen].astype(np.float64)
    else:
        cost = max(1.0, float(sizes.mean()) * max(evidence.columns, 1))
        wanted = int(np.clip(MOST_SCORES / cost, FEWEST_PEOPLE, most))
        pool = np.arange(len(groups)) if people is None else people
        chosen = pool[sample_rows(len(pool), wanted)]
        better, tied = _strongest(_standing(evidence, groups, chosen, tell))
    first = np.where(better < 1, 1 / tied, 0.0)
    ten = np.clip((10 - better) / tied, 0.0, 1.0)
    crowd = sizes[chosen]
    risk = risk_over_keys if evidence.is_exchangeable else risk_of  # by scores, people are attacked under one key
    return Informed(
        risk(first),
        risk(ten),
        float(np.median(better + (tied + 1) / 2)) if len(chosen) else 0.0,
        tuple(_by_crowd(first, crowd)),
        int(sizes.min()) if len(sizes) else 0,
        law,
        len(chosen),
        len(groups),
    )


def _strongest(standings: list[tuple[Floats, Floats]]) -> tuple[Floats, Floats]:
    """The way to score that links most people; the attacker is assumed to use the best one."""
    return max(standings, key=lambda one: float(np.where(one[0] < 1, 1 / one[1], 0.0).sum()))


def _standing(
    evidence: Evidence, groups: Rows, people: Rows, tell: Callable[[float], None]
) -> list[tuple[Floats, Floats]]:
    """For each way to score and each person: how many rows score better than the own row, and how many tie."""
    found: list[tuple[Floats, Floats]] = []
    order = np.argsort(groups, kind="stable")
    starts = np.searchsorted(groups[order], np.arange(int(groups.max(initial=0)) + 2))
    done = 0
    for places in _by_group(groups[people]):
        group = int(groups[people[places[0]]])
        rows = order[starts[group] : starts[group + 1]]
        own = np.searchsorted(rows, people[places])  # a stable order keeps the rows of a group ascending
        step = max(1, AT_ONCE // max(len(rows), 1))
        for begin in range(0, len(places), step):
            some = places[begin : begin + step]
            for way, scores in enumerate(evidence.scores(people[some], rows)):
                if way == len(found):
                    found.append((np.zeros(len(people)), np.ones(len(people))))
                mine = scores[np.arange(len(some)), own[begin : begin + step]][:, None]
                better, tied = found[way]
                better[some] = (scores > mine + TIED).sum(axis=1)
                tied[some] = (np.abs(scores - mine) <= TIED).sum(axis=1)
        done += len(places)
        tell(done / len(people))
    return found


def _by_group(label: Rows) -> Iterator[Rows]:
    """The positions of each label that occurs."""
    order = np.argsort(label, kind="stable")
    ends = np.flatnonzero(np.diff(label[order])) + 1
    return (part for part in np.split(order, ends) if len(part))


def _by_crowd(first: Floats, crowd: Rows) -> Iterator[Crowd]:
    for fewest, most in SIZES:
        inside = (crowd >= fewest) & (crowd <= (most or crowd.max(initial=0)))
        if inside.any():
            yield Crowd(fewest, most, risk_of(first[inside]))
