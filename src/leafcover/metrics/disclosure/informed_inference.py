"""Attribute and membership inference by an attacker who knows the method.

The attacker knows every other value of a person, the recipe, its parameters, and how a release is made: the probability
of each value given the others, read from counts of the release. A `ReleaseModel` supplies these probabilities. It is
granted the true trees or cells, or knows only what the recipe regrows from the release. All figures are compared with
the same attack on people who are not in the release.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol, TypeAlias

import numpy as np

from leafcover.arrays import Array, Floats, Rows
from leafcover.metrics.disclosure.attribute_inference import best_guess, labels_of, reach_of, right
from leafcover.metrics.disclosure.membership_inference import folds, found_at, is_tuning, placements
from leafcover.metrics.disclosure.nearest_record import nearest, scaled, searchable
from leafcover.metrics.estimates import Attack, Estimate, Risk, risk_of, wilson
from leafcover.metrics.models import learning
from leafcover.metrics.pair import SEED, Pair, sample_rows
from leafcover.table.table import Column, Table

SMOOTHING = (0.1, 0.3, 1.0, 3.0)  # rows added to each leaf in the shares of the whole; the best one is used
MOST_PEOPLE = 4_000  # attacked on either side of one test
FALSE_ALARMS = (0.01, 0.001)  # shares of people outside the release who are taken for members
BACKGROUND = (0.5, 0.9, 0.99)  # shares of the other rows that an attacker may know


class ReleaseModel(Protocol):
    """What an attacker knows about how released values came about."""

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that can be inferred."""

    @property
    def most_people(self) -> int:
        """The largest number of people that it attacks in reasonable time, on either side of a test."""

    def candidates(self, column: str) -> Column:
        """The possible values of a column, one row each; groups of neighbouring numbers by one of their values."""

    def scores(self, people: Table, column: str, smoothing: Sequence[float]) -> Floats:
        """For each smoothing, person and candidate, the log probability of the person with that value.

        It is known up to a constant for each person.
        """

    def membership(self, people: Table, smoothing: Sequence[float], reference: Table | None = None) -> Floats:
        """For each way to compare and each person, the log likelihood ratio of being in the release.

        The ways are one for each smoothing; further ones may use a reference sample of the population.
        """

    def evidence(self, people: Table) -> Floats:
        """(people, parts) the evidence of membership, part by part: by leaf, by block or by column."""

    def without(self, known: Table, rows: Rows) -> "ReleaseModel":
        """The model of an attacker who knows some of the released people and subtracts them."""


@dataclass(frozen=True)
class InformedInference:
    """How often the attacker infers a column, for people in the release and outside it."""

    column: str
    attack: Attack

    @property
    def above_control(self) -> Estimate:
        """How much more often for people in the release."""
        found = self.attack.above_control
        return Estimate(0.0, 0.0, 0.0, 0) if found is None else found


@dataclass(frozen=True)
class InformedMembership:
    """How well the attacker distinguishes people in the release from others."""

    area: Risk  # under the ROC curve; 0.5 is chance
    found: Risk  # the share of members found at 1 % false alarms
    found_rarely: Risk  # the same at 0.1 %


@dataclass(frozen=True)
class InformedAttack:
    """What an attacker with some knowledge infers."""

    known_rows: float  # the share of the other released rows that the attacker knows
    inferences: tuple[InformedInference, ...]
    membership: InformedMembership

    @property
    def largest(self) -> InformedInference | None:
        """The column inferred furthest above control."""
        return max(self.inferences, key=lambda one: one.above_control.value, default=None)


@dataclass(frozen=True)
class InformedAttacks:
    """The attacks of someone who knows the method, by what else is known."""

    granted: InformedAttack | None  # the true trees or cells; None if the method has none
    regrown: InformedAttack | None  # only the release: trees or cells are grown from it
    background: tuple[InformedAttack, ...]  # the true trees, and shares of the other rows
    trained: InformedMembership | None = None  # a classifier that has seen some members and others


@dataclass(frozen=True, eq=False)
class Test:
    """A release with people inside and outside it, and the models of an attacker."""

    __test__ = False  # tells pytest that this is not a test case

    pair: Pair
    granted: ReleaseModel | None
    regrown: ReleaseModel | None


Sides: TypeAlias = tuple[Table, Table]  # people in the release, and others


@dataclass(frozen=True, eq=False)
class People:
    """The people who are attacked: in the release, and some rows of the control."""

    members: Table
    control: Table
    sampled: Rows

    @property
    def others(self) -> Table:
        """The people outside the release."""
        return self.control.take(self.sampled)

    def tuning(self) -> Sides:
        """A third of each, on whom the smoothing is chosen."""
        return self._chosen(tuning=True)

    def testing(self) -> Sides:
        """The other two thirds."""
        return self._chosen(tuning=False)

    def _chosen(self, *, tuning: bool) -> Sides:
        one, two = (t.take(np.flatnonzero(is_tuning(len(t)) == tuning)) for t in (self.members, self.others))
        return one, two


def informed_attacks(
    tests: Sequence[Test],
    *,
    most: int = MOST_PEOPLE,
    background: Sequence[float] = BACKGROUND,
    trained: bool = True,
) -> InformedAttacks | None:
    """All attacks, over all tests; None without people outside the release.

    The attack of a trained classifier works on the first test.
    """
    tests = [test for test in tests if test.pair.control is not None and len(test.pair.control) > 2]
    if not tests:
        return None

    def runs(models: Sequence[ReleaseModel | None]) -> list[tuple[ReleaseModel, People, Pair]]:
        both = zip(models, tests, strict=True)
        return [(m, _people(test.pair, min(most, m.most_people)), test.pair) for m, test in both if m is not None]

    return InformedAttacks(
        _attack(0.0, runs([test.granted for test in tests])),
        _attack(0.0, runs([test.regrown for test in tests])),
        tuple(found for share in background if (found := _with_background(share, tests[:1], most)) is not None),
        _trained(tests[0], most) if trained else None,
    )


def _with_background(share: float, tests: Sequence[Test], most: int) -> InformedAttack | None:
    """The attack of someone who knows a share of the released rows; those who are not known are attacked."""
    runs = []
    for test in tests:
        rows = len(test.pair.original)
        hidden = sample_rows(rows, max(3, round((1 - share) * rows)))
        known = np.setdiff1d(np.arange(rows), hidden)
        if test.granted is None or not len(known):
            continue
        model = test.granted.without(test.pair.original.take(known), known)
        few = min(most, model.most_people)
        people = _people(test.pair, few)
        members = test.pair.original.take(hidden[sample_rows(len(hidden), few)])
        runs.append((model, replace(people, members=members), test.pair))
    return _attack(share, runs)


def _people(pair: Pair, most: int) -> People:
    assert pair.control is not None
    members = pair.original.take(sample_rows(len(pair.original), most))
    return People(members, pair.control, sample_rows(len(pair.control), most))


def _attack(known: float, runs: Sequence[tuple[ReleaseModel, People, Pair]]) -> InformedAttack | None:
    if not runs:
        return None
    columns = dict.fromkeys(name for model, _, _ in runs for name in model.columns)
    split = [(model, people.tuning(), people.testing(), pair) for model, people, pair in runs]
    inferences = []
    for name in columns:
        sides = [
            _infer(m, tuning, testing, pair.original[name])
            for m, tuning, testing, pair in split
            if name in m.columns and len(m.candidates(name))  # a column may be released without any value
        ]
        if not sides:
            continue
        members, others, guesses = (np.concatenate(side) for side in zip(*sides, strict=True))
        if len(members) and len(others):
            attack = Attack(risk_of(members), risk_of(others), risk_of(guesses))
            inferences.append(InformedInference(name, attack))
    scores = [_membership(model, people) for model, people, _ in runs]
    return InformedAttack(known, tuple(inferences), _pooled(scores))


def _infer(model: ReleaseModel, tuning: Sides, testing: Sides, column: Column) -> tuple[Floats, Floats, Floats]:
    """The success on members, on others, and of the best single answer; smoothing is chosen on other people."""
    candidates, reach = model.candidates(column.name), reach_of(column)

    def success(table: Table, smoothing: Sequence[float]) -> list[Floats]:
        known = ~table[column.name].missing
        if not known.any():
            return [np.empty(0)] * len(smoothing)
        truth = table[column.name].take(np.flatnonzero(known))
        scores = model.scores(table, column.name, smoothing)  # the same table for all columns: models may keep sums
        return [successes(one[known], candidates, truth, reach) for one in scores]

    members, others = (success(side, SMOOTHING) for side in tuning)
    above = [
        one.mean() - two.mean() if len(one) and len(two) else 0.0 for one, two in zip(members, others, strict=True)
    ]
    best = (SMOOTHING[int(np.argmax(above))],)
    truth = testing[0][column.name]
    single = best_guess(labels_of(column), reach)
    guesses = right(single, labels_of(truth)[~truth.missing], reach)
    return success(testing[0], best)[0], success(testing[1], best)[0], guesses


def successes(scores: Floats, candidates: Column, truth: Column, reach: float) -> Floats:
    """Whether the answer that is most probably right is right."""
    if candidates.is_category:
        return (_texts(candidates)[scores.argmax(axis=1)] == _texts(truth)).astype(np.float64)
    chance = np.exp(scores - scores.max(axis=1, keepdims=True))
    with np.errstate(over="ignore"):
        near = np.abs(candidates.values[:, None] - candidates.values[None]) <= reach
    answer = (chance @ near).argmax(axis=1)
    return right(candidates.values[answer], truth.values, reach)


def _texts(column: Column) -> Array:
    return np.array([*column.levels, ""], object)[column.values]


def _membership(model: ReleaseModel, people: People) -> tuple[Floats, Floats]:
    """The scores of members and of others; smoothing and what to compare with are chosen on other people.

    The reference sample of each half of the people is the control without the half of the others.
    """
    found: list[list[Floats]] = [[], []]
    places: list[list[Rows]] = [[], []]
    for half, (tested, rest) in enumerate(folds(people.sampled, len(people.control))):
        reference = people.control.take(rest)
        mine = np.arange(half, len(people.members), 2)
        sides = (people.members.take(mine), people.control.take(people.sampled[tested]))
        for side, (table, rows) in enumerate(zip(sides, (mine, tested), strict=True)):
            found[side].append(model.membership(table, SMOOTHING, reference))
            places[side].append(rows)
    members, others = (
        np.concatenate(scores, axis=1)[:, np.argsort(np.concatenate(rows))]
        for scores, rows in zip(found, places, strict=True)
    )
    tuned, tuned_others = members[:, is_tuning(members.shape[1])], others[:, is_tuning(others.shape[1])]
    best = int(np.argmax([_area(*both) for both in zip(tuned, tuned_others, strict=True)]))
    return members[best][~is_tuning(members.shape[1])], others[best][~is_tuning(others.shape[1])]


def _area(members: Floats, others: Floats) -> float:
    return float(placements(-members, -others).mean()) if len(members) and len(others) else 0.5


def _pooled(runs: Sequence[tuple[Floats, Floats]]) -> InformedMembership:
    """Each run has its own threshold; what is found is pooled. High scores are members: distances are negated."""
    area = risk_of(np.concatenate([placements(-members, -others) for members, others in runs]))
    many = sum(len(members) for members, _ in runs)
    found = [sum(found_at(-one, -two, share) * len(one) for one, two in runs) for share in FALSE_ALARMS]
    return InformedMembership(area, wilson(found[0], many), wilson(found[1], many))


# A classifier that has seen some members and others. It may learn what no formula says: which leaves, blocks or columns
# give people away, and how the evidence of both models, distances and exact values go together.

MOST_TRAINED = 2_500  # people on either side
FEWEST_TRAINED = 50
NEAREST = 3  # released rows whose distances are used


def _trained(test: Test, most: int) -> InformedMembership | None:
    """Half of the people train a boosted classifier that is tested on the other half, and the other way round."""
    models = [model for model in (test.granted, test.regrown) if model is not None]
    people = _people(test.pair, min([most, MOST_TRAINED, *(model.most_people for model in models)]))
    sides = (people.members, people.others)
    if min(len(side) for side in sides) < FEWEST_TRAINED:
        return None
    members, others = (_signs(test.pair, models, side) for side in sides)
    return _pooled([_classified(members, others, half) for half in (0, 1)])


def _signs(pair: Pair, models: Sequence[ReleaseModel], people: Table) -> Floats:
    """(people, signs) what tells members from others: evidence by the models, distances, how often values occur."""
    found = [part for model in models for part in (*model.membership(people, SMOOTHING), *model.evidence(people).T)]
    names = [name for name in pair.names if name != pair.weight]
    _, theirs, ours = scaled([pair.original, pair.released, people], names)
    found += list(nearest(ours, searchable(theirs), count=NEAREST).distance.T)
    for name in pair.names:
        values, counts = np.unique(pair.released[name].values, return_counts=True)
        at = np.minimum(np.searchsorted(values, people[name].values), len(values) - 1)
        found.append(np.where(values[at] == people[name].values, counts[at], 0))
    return np.column_stack(found).astype(np.float64)


def _classified(members: Floats, others: Floats, half: int) -> tuple[Floats, Floats]:
    """The scores of one half of the people, by a classifier trained on the other."""
    with learning():
        from sklearn.ensemble import HistGradientBoostingClassifier

        model = HistGradientBoostingClassifier(
            max_iter=60,
            learning_rate=0.1,
            max_leaf_nodes=8,
            min_samples_leaf=30,
            early_stopping=False,
            random_state=SEED,
        )
        seen = [side[np.arange(len(side)) % 2 == half] for side in (members, others)]
        model.fit(np.concatenate(seen), np.repeat([1, 0], [len(side) for side in seen]))
        tested = (side[np.arange(len(side)) % 2 != half] for side in (members, others))
        first, second = (np.asarray(model.decision_function(side)) for side in tested)
    return first, second
