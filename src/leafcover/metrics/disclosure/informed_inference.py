"""Attribute and membership inference by an attacker who knows the method.

The attacker knows every other value of a person, the recipe, its parameters, and how a release is made: the probability
of each value given the others, read from counts of the release. A `ReleaseModel` supplies these probabilities. It is
granted the true trees or cells, or knows only what the recipe regrows from the release. All figures are compared with
the same attack on people who are not in the release.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import sqrt
from typing import Protocol

import numpy as np

from leafcover.arrays import Array, Floats, Rows
from leafcover.metrics.disclosure.attribute_inference import reach_of, right
from leafcover.metrics.estimates import Attack, Estimate, Risk, risk_of, wilson
from leafcover.metrics.pair import SEED, Pair, sample_rows
from leafcover.table.table import Column, Table

SMOOTHING = (0.1, 0.3, 1.0, 3.0)  # rows added to each leaf in the shares of the whole; the best one is used
MOST_PEOPLE = 3_000  # attacked on either side
FALSE_ALARMS = (0.01, 0.001)  # shares of people outside the release who are taken for members


class ReleaseModel(Protocol):
    """What an attacker knows about how released values came about."""

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that can be inferred."""

    def candidates(self, column: str) -> Column:
        """The possible values of a column, one row each; groups of neighbouring numbers by one of their values."""

    def scores(self, people: Table, column: str, smoothing: float) -> Floats:
        """For each person and candidate, the log probability of the person with that value, up to a constant each."""

    def membership(self, people: Table, smoothing: float) -> Floats:
        """For each person, the log likelihood ratio of being in the release."""


@dataclass(frozen=True)
class InformedInference:
    """How often the attacker infers a column, in the release and outside it."""

    column: str
    attack: Attack
    smoothing: float


@dataclass(frozen=True)
class InformedMembership:
    """How well the attacker tells people in the release from others."""

    area: Estimate  # under the curve of found members against false alarms; 0.5 is guessing
    found: tuple[Risk, ...]  # the share of members found at each share of `FALSE_ALARMS`
    smoothing: float


@dataclass(frozen=True, eq=False)
class People:
    """The people who are attacked: in the release, and outside it. Half of each choose the smoothing."""

    members: Table
    others: Table

    def halves(self) -> tuple["People", "People"]:
        """Two disjoint halves."""
        one, two = (
            People(*(t.take(np.arange(first, len(t), 2)) for t in (self.members, self.others))) for first in (0, 1)
        )
        return one, two


def people_of(pair: Pair, most: int = MOST_PEOPLE, *, seed: int = SEED) -> People | None:
    """A sample of the people of a pair; None without a control."""
    if pair.control is None or len(pair.control) < 2 or len(pair.original) < 2:
        return None
    return People(
        pair.original.take(sample_rows(len(pair.original), most, seed=seed)),
        pair.control.take(sample_rows(len(pair.control), most, seed=seed)),
    )


def informed_inferences(
    model: ReleaseModel, people: People, original: Table, *, columns: Sequence[str] | None = None
) -> tuple[InformedInference, ...]:
    """Infer every column of the model, or those named, from all the others."""
    chosen = [name for name in model.columns if columns is None or name in columns]
    return tuple(_infer(model, people, original[name]) for name in chosen)


def _infer(model: ReleaseModel, people: People, column: Column) -> InformedInference:
    candidates = model.candidates(column.name)
    reach = reach_of(column)
    tuned, tested = people.halves()

    def success(table: Table, smoothing: float) -> Floats:
        known = table.take(np.flatnonzero(~table[column.name].missing))
        if not len(known):
            return np.empty(0)
        scores = model.scores(known, column.name, smoothing)
        return _successes(scores, candidates, known[column.name], reach)

    def above(one: People, smoothing: float) -> float:
        members, others = success(one.members, smoothing), success(one.others, smoothing)
        return float(members.mean() - others.mean()) if len(members) and len(others) else 0.0

    best = max(SMOOTHING, key=lambda smoothing: above(tuned, smoothing))
    members, others = success(people.members, best), success(people.others, best)
    guess = _baseline(candidates, column, people.members[column.name], reach)
    return InformedInference(column.name, Attack(risk_of(members), risk_of(others), risk_of(guess)), best)


def _successes(scores: Floats, candidates: Column, truth: Column, reach: float) -> Floats:
    """Whether the answer with the highest probability of being right is right."""
    if candidates.is_category:
        return (_texts(candidates)[scores.argmax(axis=1)] == _texts(truth)).astype(np.float64)
    chance = np.exp(scores - scores.max(axis=1, keepdims=True))
    near = np.abs(candidates.values[:, None] - candidates.values[None]) <= reach
    answer = (chance @ near.T).argmax(axis=1)
    return right(candidates.values[answer], truth.values, reach)


def _texts(column: Column) -> Array:
    return np.array([*column.levels, ""], object)[column.values]


def _baseline(candidates: Column, column: Column, truth: Column, reach: float) -> Floats:
    """The success of the best single answer, without the release."""
    from leafcover.metrics.disclosure.attribute_inference import best_guess, labels_of

    known = truth.values[~truth.missing]
    labels = labels_of(column)
    return right(best_guess(labels, reach), known.astype(np.float64), reach)


def informed_membership(model: ReleaseModel, people: People) -> InformedMembership:
    """Tell members from others by the likelihood ratio; the smoothing is chosen on half of the people."""
    tuned, _ = people.halves()

    def scores(one: People, smoothing: float) -> tuple[Floats, Floats]:
        return model.membership(one.members, smoothing), model.membership(one.others, smoothing)

    best = max(SMOOTHING, key=lambda smoothing: area_of(*scores(tuned, smoothing)).value)
    members, others = scores(people, best)
    return InformedMembership(
        area_of(members, others), tuple(found_at(members, others, share) for share in FALSE_ALARMS), best
    )


def area_of(members: Floats, others: Floats) -> Estimate:
    """The area under the curve with the interval of Hanley and McNeil (1982).

    >>> print(area_of(np.array([1.0, 2.0, 3.0]), np.array([0.0, 0.5, 2.0])))
    0.833 (0.461 to 1.000)
    """
    m, n = len(members), len(others)
    if not m or not n:
        return Estimate(0.5, 0.0, 1.0, 0)
    ordered = np.sort(others)
    below = np.searchsorted(ordered, members) + np.searchsorted(ordered, members, side="right")
    area = float(below.mean() / 2 / n)
    q1, q2 = area / (2 - area), 2 * area**2 / (1 + area)
    variance = (area * (1 - area) + (m - 1) * (q1 - area**2) + (n - 1) * (q2 - area**2)) / (m * n)
    half = 1.959964 * sqrt(max(variance, 0.0))
    return Estimate(area, max(0.0, area - half), min(1.0, area + half), min(m, n))


def found_at(members: Floats, others: Floats, share: float) -> Risk:
    """The share of members found when at most this share of the others raise a false alarm."""
    if not len(members) or not len(others):
        return wilson(0.0, 0)
    allowed = int(share * len(others))
    threshold = np.sort(others)[len(others) - 1 - allowed]
    return wilson(float((members > threshold).sum()), len(members))


def background(pair: Pair, share: float, most: int = MOST_PEOPLE, *, seed: int = SEED) -> tuple[People, Rows] | None:
    """People to attack by someone who knows a share of the released rows, and the rows that are known."""
    found = people_of(pair, most, seed=seed)
    if found is None:
        return None
    rows = len(pair.original)
    hidden = sample_rows(rows, max(2, round((1 - share) * rows)), seed=seed)
    known = np.ones(rows, np.bool_)
    known[hidden] = False
    members = pair.original.take(hidden[sample_rows(len(hidden), most, seed=seed)])
    return replace(found, members=members), np.flatnonzero(known)
