"""Attacks by many releases: shadow releases with and without people, and two releases of the same people.

A shadow run repeats a release on random halves of the rows, so that everybody is in about half of the releases, and
fits the score of an attack for each person with and without them: the likelihood ratio attack (LiRA) of Carlini and
others (2022), "Membership Inference Attacks From First Principles".
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from leafcover.arrays import Floats, Rows
from leafcover.engine.evaluate import Comparison, Rerun, attacker_of, rerun
from leafcover.engine.release_model import regrown_model
from leafcover.errors import TableError, ValueOutOfRange
from leafcover.metrics.disclosure.attribute_inference import reach_of
from leafcover.metrics.disclosure.informed_inference import (
    InformedAttack,
    ReleaseModel,
    Test,
    informed_attacks,
    successes,
)
from leafcover.metrics.disclosure.membership_inference import found_at, placements
from leafcover.metrics.disclosure.nearest_record import nearest, scaled, searchable
from leafcover.metrics.estimates import Estimate, Risk, mean_of, risk_of, wilson
from leafcover.metrics.pair import SEED, Pair, pair_of, sample_rows
from leafcover.registry import checks_arguments
from leafcover.table.frames import from_frame
from leafcover.table.table import Column, IntoTable, Table, without_unused_levels

RELEASES = 16  # at least
PEOPLE = 500  # whose scores are fitted
MOST_ROWS = 30_000  # of the table; half of them are in each release
SMOOTHING = (0.3,)
NARROWEST = 1e-4  # the least variance of a score with or without a person, as a share of its variance
REMOVED = 10  # people who are removed one by one


@dataclass(frozen=True)
class ShadowInference:
    """How often a column is inferred for the same people, in releases with them and in releases without them."""

    column: str
    inside: float
    outside: float
    above: Estimate  # the mean difference over people
    most_exposed: float  # of the 1 % exposed most in half of the releases, the difference in the other half


@dataclass(frozen=True)
class Shadow:
    """What an attacker learns who has made many releases of the same kind; expected values over keys."""

    releases: int
    people: int
    area: Risk  # under the ROC curve; 0.5 is chance
    found: Risk  # members found at 1 % false alarms
    found_rarely: Risk  # the same at 0.1 %
    inferences: tuple[ShadowInference, ...]

    @property
    def largest(self) -> ShadowInference | None:
        """The column inferred furthest above releases without the person."""
        return max(self.inferences, key=lambda one: one.above.value, default=None)


@dataclass(frozen=True, eq=False)
class _Trial:
    """One shadow release: who is in it, and what the attacks find of each person."""

    inside: Rows  # (people,) 1 for people in the release
    scores: Floats  # (attacks, people) high for members
    right: dict[str, Floats]  # by column, (people,) whether it is inferred; nan if the value is missing


@checks_arguments("target")
def shadow(
    make: Callable[[Table], IntoTable],
    table: IntoTable,
    *,
    target: str = "",
    releases: int = RELEASES,
    people: int = PEOPLE,
) -> Shadow:
    """Attack a program that releases tables, with shadow releases of random halves of a table.

    Parameters
    ----------
    make : callable
        The program: takes a table of some rows and returns the released table, with as many rows.
    table : Table or frame
        The original.
    target : str, optional
        The column to predict; the attacker's chain of trees ends with it.
    releases : int, default 16
        The number of releases, even and at least 4.
    people : int, default 500
        The number of people who are attacked.

    Returns
    -------
    Shadow
        Membership and expected attribute inference.

    Examples
    --------
    >>> import leafcover as lc
    >>> table = lc.read(lc.sample("cps1985"))
    >>> found = lc.shadow(lambda half: half, table, releases=4, people=100)  # publishes the rows as they are
    >>> found.area.value > 0.9
    True
    """

    def test(original: Table, rows: Rows, number: int) -> Test:
        part = without_unused_levels(original, rows)
        made = from_frame(make(part))
        rest = original.take(np.setdiff1d(np.arange(len(original)), rows))
        pair = pair_of(part, made.select(part.names), target=target, control=rest)
        return Test(pair, None, regrown_model(pair.released, None, target))

    return _shadow(test, from_frame(table), releases, people)


def shadow_of(compared: Comparison) -> Shadow:
    """The same for a release of this program, by its own recipe and settings; trees or cells are granted."""
    if compared.known is None:
        raise TableError(
            "A shadow run repeats the release, so it needs the plan. Measure a release with its internal manifest, "
            "or for another program use leafcover.shadow(make, table) with a function that makes a release."
        )
    plan = compared.known.plan

    def test(original: Table, rows: Rows, number: int) -> Test:
        again = rerun(original, plan, rows, seed=SEED + 100 + number)
        return attacker_of(again.pair, again.known, regrow=False)

    return _shadow(test, compared.known.original, RELEASES, PEOPLE, compared.tell)


def _shadow(
    test: Callable[[Table, Rows, int], Test],
    table: Table,
    releases: int,
    people: int,
    tell: Callable[[float], None] = lambda share: None,
) -> Shadow:
    if releases < 4 or releases % 2:
        raise ValueOutOfRange("shadow's releases", releases, "an even number, at least 4")
    table = table.take(sample_rows(len(table), MOST_ROWS))
    chosen = sample_rows(len(table), people)
    rng = np.random.default_rng(SEED)
    trials = []
    for number in range(releases):
        tell(number / releases)
        if number % 2 == 0:  # a half and the other half, so that everybody is in half of the releases
            order = rng.permutation(len(table))
        half = order[: len(table) // 2] if number % 2 == 0 else order[len(table) // 2 :]
        rows = np.sort(half)
        trials.append(_trial(test(table, rows, number), table, rows, chosen))
    inside = np.array([one.inside for one in trials])
    attacks = range(len(trials[0].scores))
    ratios = np.sum([_ratios(np.array([one.scores[at] for one in trials]), inside) for at in attacks], axis=0)
    members, others = ratios[inside == 1], ratios[inside == 0]
    placed = placements(-members, -others)
    person = np.broadcast_to(np.arange(len(chosen)), inside.shape)[inside == 1]
    area = np.bincount(person, placed, minlength=len(chosen)) / np.maximum(
        np.bincount(person, minlength=len(chosen)), 1
    )
    found = [wilson(found_at(-members, -others, share) * len(chosen), len(chosen)) for share in (0.01, 0.001)]
    names = [name for name in table.names if all(name in one.right for one in trials)]
    inferences = tuple(_expected(name, np.array([one.right[name] for one in trials]), inside) for name in names)
    return Shadow(releases, len(chosen), risk_of(area), found[0], found[1], inferences)


def _trial(test: Test, table: Table, rows: Rows, chosen: Rows) -> _Trial:
    """The attacks on chosen people, in the release or outside it."""
    pair, model = test.pair, test.granted or test.regrown
    assert pair.control is not None
    inside = np.isin(chosen, rows)
    rest = np.setdiff1d(np.arange(len(table)), rows)
    sides = (
        (np.flatnonzero(inside), pair.original.take(np.searchsorted(rows, chosen[inside]))),
        (np.flatnonzero(~inside), pair.control.take(np.searchsorted(rest, chosen[~inside]))),
    )
    scores = np.zeros((1 if model is None else 2, len(chosen)))
    right: dict[str, Floats] = {} if model is None else {name: np.full(len(chosen), np.nan) for name in model.columns}
    for at, people in sides:
        _, theirs, ours = scaled([pair.original, pair.released, people], pair.names)
        scores[0, at] = -nearest(ours, searchable(theirs)).distance[:, 0]
        if model is not None:
            scores[1, at] = model.membership(people, SMOOTHING)[0]
            for name in model.columns:
                right[name][at] = _right(model, people, table[name])  # one tolerance for all releases
    return _Trial(inside.astype(np.int64), scores, right)


def _right(model: ReleaseModel, people: Table, column: Column) -> Floats:
    truth = people[column.name]
    scores = model.scores(people, column.name, SMOOTHING)[0]
    found = successes(scores, model.candidates(column.name), truth, reach_of(column))
    return np.where(truth.missing, np.nan, found)


def _ratios(scores: Floats, inside: Rows) -> Floats:
    """(releases, people) the log likelihood ratio of a score, by normal distributions fitted to the other releases.

    Each person has own means; with few releases one variance for all is more accurate (Carlini and others, 2022), one
    with and one without the person: a score may be certain for members and vary for others, as a distance of 0 is.
    Releases 2i and 2i + 1 are of complementary halves. Both are left out, so that everybody is in half of the rest:
    otherwise the numbers of releases in the fit would tell who is in the one that is left out.
    """
    found = np.zeros(scores.shape)
    for at in range(len(scores)):
        rest = np.arange(len(scores)) // 2 != at // 2
        least = max(NARROWEST * float(scores[rest].var()), 1e-300)
        for side, sign in ((0, -1.0), (1, 1.0)):
            there = inside[rest] == side
            whole = scores[rest][there].mean()
            mean = (np.where(there, scores[rest], 0.0).sum(axis=0) + whole) / (there.sum(axis=0) + 1)  # one in general
            variance = float(((scores[rest] - mean) ** 2)[there].mean()) + least
            found[at] -= sign * ((scores[at] - mean) ** 2 / variance + np.log(variance)) / 2
    return found


def _expected(name: str, right: Floats, inside: Rows) -> ShadowInference:
    """The expected success on each person, in releases with and without them."""
    first = np.arange(len(right)) < len(right) // 2
    ones, others = (_means(right, inside == side) for side in (1, 0))
    above = ones - others
    halves = [
        _means(right[half], inside[half] == 1) - _means(right[half], inside[half] == 0) for half in (first, ~first)
    ]
    both = ~np.isnan(halves[0]) & ~np.isnan(halves[1])
    most = np.argsort(-halves[0][both])[: max(1, int(0.01 * both.sum()))]
    exposed = float(halves[1][both][most].mean()) if both.any() else float("nan")
    return ShadowInference(name, float(np.nanmean(ones)), float(np.nanmean(others)), mean_of(above), exposed)


def _means(right: Floats, there: Floats) -> Floats:
    known = there & ~np.isnan(right)
    count = known.sum(axis=0)
    total = np.where(known, right, 0.0).sum(axis=0)
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)


# Two releases of the same people, by different keys; and of the table with and without one person.


@dataclass(frozen=True)
class TwoReleases:
    """What an attacker gains from a second release of the same rows, and from one without a person."""

    one: InformedAttack
    both: InformedAttack
    removed: int  # people who were removed, one by one
    recovered: Risk  # the share of their values that the difference of the columns' values gives away
    recovered_whole: Risk  # the share of these people of whom every value is given away

    @property
    def gain(self) -> float:
        """How much further above control the column that gains most is inferred from both."""
        alone = {one.column: one.above_control.value for one in self.one.inferences}
        gains = (one.above_control.value - alone.get(one.column, 0.0) for one in self.both.inferences)
        return max(gains, default=0.0)


@dataclass(frozen=True, eq=False)
class _Together:
    """The models of several releases of the same rows, used together."""

    models: Sequence[ReleaseModel]

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that all models infer, from the same candidates."""

        def same(name: str) -> bool:
            if not all(name in model.columns for model in self.models):
                return False
            values = [model.candidates(name).values for model in self.models]
            return all(np.array_equal(values[0], one) for one in values[1:])

        return tuple(name for name in self.models[0].columns if same(name))

    @property
    def most_people(self) -> int:
        """As many as every model attacks."""
        return min(model.most_people for model in self.models)

    def candidates(self, column: str) -> Column:
        """Those of the first."""
        return self.models[0].candidates(column)

    def scores(self, people: Table, column: str, smoothing: Sequence[float]) -> Floats:
        """The sum of the log probabilities: the releases were made independently."""
        return np.sum([model.scores(people, column, smoothing) for model in self.models], axis=0)

    def membership(self, people: Table, smoothing: Sequence[float], reference: Table | None = None) -> Floats:
        """The sum of the evidence."""
        return np.sum([model.membership(people, smoothing, reference) for model in self.models], axis=0)

    def evidence(self, people: Table) -> Floats:
        """The evidence of all."""
        return np.column_stack([model.evidence(people) for model in self.models])

    def without(self, known: Table, rows: Rows) -> "_Together":
        """Each without the known rows."""
        return _Together([model.without(known, rows) for model in self.models])


def two_releases_of(compared: Comparison) -> TwoReleases | None:
    """Repeat a release of two thirds of the rows with two keys, then without single people; the rest is the control."""
    if compared.known is None:
        raise TableError(
            "Two releases are attacked by repeating the release, which needs the plan. "
            "Measure a release with its internal manifest beside it."
        )
    table = compared.known.original.take(sample_rows(len(compared.known.original), MOST_ROWS))
    order = np.random.default_rng(SEED).permutation(len(table))
    rows = np.sort(order[: 2 * len(table) // 3])
    runs = [rerun(table, compared.known.plan, rows, seed=SEED + number) for number in (0, 1)]
    tests = [attacker_of(one.pair, one.known, regrow=False) for one in runs]
    models = [one.granted for one in tests if one.granted is not None]
    if len(models) < 2:
        return None
    both = Test(tests[0].pair, _Together(models), None)
    attacks = [informed_attacks([one], background=(), trained=False) for one in (tests[0], both)]
    found = [None if one is None else one.granted for one in attacks]
    if found[0] is None or found[1] is None:
        return None
    shares = [
        _difference(table, runs[0], rows, one, number)
        for number, one in enumerate(rows[:: max(1, len(rows) // REMOVED)][:REMOVED])
    ]
    values = np.concatenate(shares)
    whole = np.array([one.all() for one in shares], np.float64)
    return TwoReleases(found[0], found[1], len(shares), risk_of(values), risk_of(whole))


def _difference(table: Table, run: Rerun, rows: Rows, person: int, number: int) -> Floats:
    """Whether each value of a removed person is the one that a column of the release lost."""
    less = rerun(table, run.known.plan, rows[rows != person], seed=SEED + 50 + number)
    return np.array(
        [_lost(run.pair, less.pair, name) == _text(table[name], person) for name in run.pair.names], np.float64
    )


def _lost(before: Pair, after: Pair, name: str) -> object:
    """The value that a column lost most often between two releases."""
    counts: dict[object, int] = {}
    for pair, sign in ((before, 1), (after, -1)):
        column = pair.released[name]
        values, many = np.unique(column.values, return_counts=True)
        for value, count in zip(values, many, strict=True):
            text = _name(column, value)
            counts[text] = counts.get(text, 0) + sign * int(count)
    return max(counts, key=lambda one: counts[one])


def _text(column: Column, row: int) -> object:
    return _name(column, column.values[row])


def _name(column: Column, value: float) -> object:
    if column.is_category:
        return column.levels[int(value)] if value >= 0 else None
    return None if np.isnan(value) else float(value)
