"""One score: some of the rows are released, the others show what the release is good for and whom it gives away."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isnan, nan

import numpy as np

from leafcover.arrays import MISSING, Rows
from leafcover.engine.attacker import evidence_of
from leafcover.engine.evaluate import again
from leafcover.errors import TableError
from leafcover.metrics.disclosure.attribute_inference import inferences
from leafcover.metrics.disclosure.record_linkage import informed, linkage
from leafcover.metrics.estimates import Estimate, Risk, share_of
from leafcover.metrics.models import BINS, MOST, MOST_TESTS, answers, classes_for, mostly_unique, sides_of
from leafcover.metrics.pair import Pair, pair_of
from leafcover.metrics.utility.prediction import Agreement, Agreements, agreement
from leafcover.recipes import plan_for
from leafcover.rng import Draws
from leafcover.table.table import Table
from leafcover.tree.training import attribute_names
from leafcover.tuning.grid import Candidate, Value

FOLDS = 3  # one of them is held out, the others are released
OTHERS = 4  # columns besides the target that are predicted
COMPARISONS = 20_000_000  # of two rows, for the nearest row: 1,000 people of 20,000


@dataclass(frozen=True, eq=False)
class Task:
    """The table and what every score of a sweep has in common."""

    table: Table
    target: str
    others: tuple[str, ...]  # further columns whose rules are looked at
    attacked: tuple[str, ...]  # columns whose values an attacker wants to learn
    bins: int | None  # groups of equal size that a number as target is cut into
    draws: Draws


@dataclass(frozen=True)
class Score:
    """One release, used and attacked."""

    agreement: Estimate  # for the target
    others: Estimate  # mean over other columns
    accuracy: Estimate  # of a tree grown on the release, for the target
    informed: Risk
    gower: Risk
    inference: Mapping[str, Estimate]  # by column, above control


@dataclass(frozen=True)
class Benchmark:
    """What to compare with, the same for every recipe: a fresh sample, the original, and two ways to know nothing."""

    floor: Estimate  # agreement of a resample of the original, for the target
    others: Estimate  # the same for other columns
    accuracy: Estimate  # of a tree grown on the original
    chance: (
        Estimate  # agreement of two trees that answer by the original's shares and know nothing of each other (Cohen's)
    )
    commonest: Estimate  # agreement of always giving the commonest answer; never below chance


def score(task: Task, candidate: Candidate, run: int) -> Score:
    """Release all but one fold by a recipe, then measure."""
    plan = plan_for(task.table, candidate.recipe, target=task.target, settings=candidate.settings)
    made = again(task.table, plan, released_rows(task, run), seed=_seed(task, candidate, run))
    pair = made.pair
    found = agreement([pair], targets=[task.target, *task.others], bins=task.bins or BINS, floors=0)
    target = _for_target(found, task.target)
    told = inferences(pair, columns=task.attacked, learned=False)
    attacks = {one.column: one.strongest.above_control for one in told}
    return Score(
        agreement=target.agreement,
        others=found.mean,
        accuracy=target.released,
        informed=informed(evidence_of(made.known, pair.released, pair.quasi_identifiers)).first,
        gower=linkage(pair, comparisons=COMPARISONS),
        inference={name: above for name, above in attacks.items() if above is not None},
    )


def benchmark(task: Task, run: int) -> Benchmark:
    """The same folds, with the original as its own release."""
    rows = released_rows(task, run)
    inside = np.zeros(len(task.table), bool)
    inside[rows] = True
    part = task.table.take(rows)
    held = task.table.take(np.flatnonzero(~inside))
    pair = pair_of(part, part, np.arange(len(part)), target=task.target, control=held)
    found = agreement([pair], targets=[task.target, *task.others], bins=task.bins or BINS)
    target = _for_target(found, task.target)
    commonest = commonest_answer(pair, bins=task.bins or BINS)
    return Benchmark(target.floor, found.mean_floor, target.original, target.chance, commonest)


def commonest_answer(pair: Pair, *, bins: int) -> Estimate:
    """The share of the held-out rows to which the tree of the original gives the answer that it gives most often.

    Whoever always gives that answer agrees with the tree so often, without having seen a single row.
    """
    sides = sides_of(pair, most=MOST, most_tests=MOST_TESTS)
    classes = classes_for(sides.original[pair.target], bins=bins, with_missing=True)
    labels = classes.of(sides.original[pair.target])
    given = answers("tree", sides.original.without(pair.target), labels, sides.test.without(pair.target))
    counts = np.bincount(given - MISSING)  # no answer, -1, has the first place
    return share_of([(given - MISSING == counts.argmax()).astype(np.float64)])


def released_rows(task: Task, run: int) -> Rows:
    """Two thirds of the rows: each fold of a secret order is held out once before another order is drawn."""
    order = np.argsort(task.draws.sub("folds", str(run // FOLDS)).words(np.arange(len(task.table))))
    held = np.array_split(order, FOLDS)[run % FOLDS]
    return np.setdiff1d(order, held)


def released_count(table: Table) -> int:
    """The rows of a trial's release, at the least: the first folds may have a row more than the others."""
    return len(table) - -(-len(table) // FOLDS)


def other_targets(table: Table, target: str) -> tuple[str, ...]:
    """A few columns that a rule could be about: confidential ones first, then from all over the table."""
    names = [n for n in attribute_names(table, target) if _tells(table, n)]
    first = [n for n in names if table.roles.get(n) == "sensitive"]
    rest = [n for n in names if n not in first]
    wanted = max(0, OTHERS - len(first))
    spread = np.linspace(0, len(rest) - 1, min(wanted, len(rest))).round().astype(int)
    return (*first[:OTHERS], *(rest[i] for i in spread))


def attacked_columns(table: Table, target: str) -> tuple[str, ...]:
    """What an attacker wants to learn: the confidential columns, or the target."""
    return table.with_role("sensitive") or (target,)


def _tells(table: Table, name: str) -> bool:
    column = table[name]
    if column.is_category and mostly_unique(column):
        return False
    return classes_for(column, bins=BINS, with_missing=True).count > 1


def _for_target(found: Agreements, target: str) -> Agreement:
    if found.target is None:
        raise TableError(f"Column {target!r} has a single value, so there is no rule to keep. Choose another target.")
    return found.target


def _seed(task: Task, candidate: Candidate, run: int) -> int:
    """A number for the key of one release that is as secret as the sweep's own."""
    return int.from_bytes(task.draws.sub("release", candidate.name, repr(candidate.fixed), str(run)).secret, "big")


# The scores of several runs as one point of the map.


@dataclass(frozen=True)
class Learned:
    """How much better an attacker tells a column of people in the release than of people who are not."""

    column: str
    above_control: Estimate


@dataclass(frozen=True)
class Point:
    """One recipe at one strength: what its release is good for, and whom it gives away."""

    name: str
    recipe: str
    settings: Mapping[str, Value]
    strength: Mapping[str, Value]  # the settings that differ between the points of a recipe
    agreement: Estimate  # for the target
    others: Estimate  # mean over other columns
    accuracy: Estimate  # of a tree grown on the release, for the target
    informed: Risk
    gower: Risk
    inference: tuple[Learned, ...]
    runs: int
    on_front: bool = False

    @property
    def learned(self) -> float:
        """The upper end of what is learned above control, of the column where it is highest; nan when not known."""
        return max((one.above_control.high for one in self.inference), default=nan)

    @property
    def highest_risk(self) -> float:
        """The upper interval end that a limit is compared with: of informed linkage or of inference above control."""
        return max([self.informed.high, *(one.above_control.high for one in self.inference)])


@dataclass(frozen=True)
class Standard:
    """What every point is compared with."""

    floor: Estimate  # agreement of a resample of the original, for the target
    others: Estimate  # the same, mean over other columns
    accuracy: Estimate  # of a tree grown on the original
    chance: (
        Estimate  # agreement of two trees that answer by the original's shares and know nothing of each other (Cohen's)
    )
    commonest: Estimate  # agreement of always giving the commonest answer; never below chance


def point_of(candidate: Candidate, scores: Sequence[Score]) -> Point:
    """The runs of one candidate taken together."""
    columns = dict.fromkeys(name for one in scores for name in one.inference)
    return Point(
        name=candidate.name,
        recipe=candidate.recipe,
        settings=candidate.settings,
        strength=dict(candidate.strength),
        agreement=over_runs([one.agreement for one in scores]),
        others=over_runs([one.others for one in scores]),
        accuracy=over_runs([one.accuracy for one in scores]),
        informed=risk_over_runs([one.informed for one in scores]),
        gower=risk_over_runs([one.gower for one in scores]),
        inference=tuple(
            Learned(name, over_runs([one.inference[name] for one in scores if name in one.inference]))
            for name in columns
        ),
        runs=len(scores),
    )


def standard_of(found: Sequence[Benchmark]) -> Standard:
    """The runs of what is compared with, taken together."""
    return Standard(
        floor=over_runs([one.floor for one in found]),
        others=over_runs([one.others for one in found]),
        accuracy=over_runs([one.accuracy for one in found]),
        chance=over_runs([one.chance for one in found]),
        commonest=over_runs([one.commonest for one in found]),
    )


def over_runs(runs: Sequence[Estimate]) -> Estimate:
    """The mean over runs, from the lowest lower end to the highest upper end of any run.

    What will be published is one release, not the mean of several; so runs never make the interval narrower.

    >>> print(over_runs([Estimate(0.8, 0.7, 0.9, 100), Estimate(0.9, 0.8, 1.0, 100)]))
    0.850 (0.700 to 1.000)
    """
    return Estimate(*_widest(runs), len(runs))


def risk_over_runs(runs: Sequence[Risk]) -> Risk:
    """The same for a risk; its worst rows are those of the worst run."""
    return Risk(*_widest(runs), sum(one.tries for one in runs), max(one.worst for one in runs))


def _widest(runs: Sequence[Estimate] | Sequence[Risk]) -> tuple[float, float, float]:
    known = [one for one in runs if not isnan(one.value)]
    if not known:
        return nan, nan, nan
    mean = float(np.mean([one.value for one in known]))
    return mean, min(one.low for one in known), max(one.high for one in known)


# Which points of a map are worth a look, and which of them to take.


def front(points: Sequence[tuple[float, float]]) -> list[bool]:
    """For points (risk, utility), whether each is on the Pareto front: none has less risk and as much utility, or
    more utility and no more risk. Equal points are on it together.

    >>> front([(0.1, 0.9), (0.2, 0.9), (0.3, 0.95)])
    [True, False, True]
    """
    order = sorted(range(len(points)), key=lambda i: (points[i][0], -points[i][1]))
    kept = [False] * len(points)
    last = (float("nan"), float("-inf"))
    for i in order:
        risk, utility = points[i]
        if utility > last[1] or (risk, utility) == last:
            kept[i], last = True, (risk, utility)
    return kept


def useful(points: Sequence[Point], standard: Standard) -> list[Point]:
    """The points whose whole interval of agreement lies above that of always giving the commonest answer."""
    return [point for point in points if point.agreement.low > standard.commonest.value]


def recommended(points: Sequence[Point], standard: Standard, max_risk: float) -> Point | None:
    """The most useful point whose risks stay at or below the limit by the upper ends of their intervals.

    Of equally useful ones the one of least risk; None when no point stays below that keeps more of the rules than
    always giving the commonest answer would.
    """
    allowed = [point for point in useful(points, standard) if point.highest_risk <= max_risk]
    return max(allowed, key=lambda point: (point.agreement.value, -point.informed.value), default=None)


def safer(points: Sequence[Point], standard: Standard, chosen: Point, max_risk: float) -> Point | None:
    """A useful point below the limit with at most half of the chosen one's risk and a utility inside its interval.

    Of several the one of least risk; None when there is none.
    """
    near = [
        point
        for point in useful(points, standard)
        if point.highest_risk <= max_risk
        and point.agreement.value >= chosen.agreement.low
        and point.informed.value <= chosen.informed.value / 2
    ]
    return min(near, key=lambda point: point.informed.value, default=None)
