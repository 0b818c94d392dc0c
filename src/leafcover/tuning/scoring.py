"""The scores of candidates, and the points of the risk-utility map that they make.

A trial releases some of the rows; the held-out rows measure its utility and serve as the control of the attacks. The
trials of a candidate make one point; the Pareto front and the recommendation are chosen among the points.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import isnan, nan, sqrt

import numpy as np

from leafcover.arrays import MISSING, Rows
from leafcover.engine.attacker import evidence_of
from leafcover.engine.evaluate import Rerun, attacker_of, release_some
from leafcover.errors import TableError
from leafcover.keyed_random import Draws
from leafcover.metrics.disclosure.attribute_inference import inferences
from leafcover.metrics.disclosure.copies import copies
from leafcover.metrics.disclosure.informed_inference import informed_attacks
from leafcover.metrics.disclosure.membership_inference import membership
from leafcover.metrics.disclosure.record_linkage import informed, linkage
from leafcover.metrics.estimates import Estimate, Risk, share_of
from leafcover.metrics.models import BINS, MOST, MOST_TESTS, answers, classes_for, mostly_unique, sides_of
from leafcover.metrics.pair import Pair, pair_of
from leafcover.metrics.summary import DecisiveRisk, attempts, exceeds, strongest
from leafcover.metrics.utility.prediction import Agreement, Agreements, agreement
from leafcover.recipes.plan import Plan
from leafcover.recipes.registry import plan_for
from leafcover.recode.base import Recoding
from leafcover.table.table import Table
from leafcover.tree.tree import attribute_names
from leafcover.tuning.grid import Candidate, Value

FOLDS = 3  # one is held out, the others are released
OTHERS = 4  # columns besides the target that are predicted
COMPARISONS = 20_000_000  # of two rows, to find the nearest record: 1,000 people among 20,000

# People attacked in each trial, fewer than for a limit on one release; inference and membership are pooled over trials.
LINKED = 1_000
INFERRED = 1_000
INFORMED = 1_000  # by the method, if no released row descends from one original row
INFORMED_BESIDE_LINKAGE = 500


@dataclass(frozen=True, eq=False)
class Task:
    """The table and the settings that all trials of a sweep share."""

    table: Table
    target: str
    other_targets: tuple[str, ...]  # further columns that trees predict
    bins: int | None  # of equal size, for a numeric target
    draws: Draws
    recode: tuple[Recoding, ...] = ()  # before every recipe


@dataclass(frozen=True)
class Score:
    """The utility and the disclosure risk of one release."""

    agreement: Estimate  # for the target
    other_agreement: Estimate  # mean over other columns
    accuracy: Estimate  # of a tree grown on the release, for the target
    record_linkage: Risk | None  # by an attacker who knows everything but the key; None if no row descends from one
    nearest_record: Risk | None  # linkage to the most similar row
    attempts: tuple[DecisiveRisk, ...]  # inference of each column and membership by each attack; copies


@dataclass(frozen=True)
class BaselineScore:
    """What every candidate is compared with in one trial: a resample, the original, and two uninformed predictions."""

    floor: Estimate  # agreement of a resample of the original, for the target
    other_agreement: Estimate  # the same, mean over other columns
    accuracy: Estimate  # of a tree grown on the original
    chance: Estimate  # agreement of two independent predictions with the original's class shares (Cohen's)
    majority: Estimate  # agreement of always giving the most common answer; never below chance


def score(task: Task, candidate: Candidate, run: int) -> Score:
    """Release all but one fold by a recipe, then measure."""

    def write(rows: Table) -> Plan:
        given = {"target": task.target, "settings": candidate.settings, "recode": task.recode}
        return plan_for(rows, candidate.recipe, **given)  # type: ignore[arg-type]

    made = release_some(task.table, write, released_rows(task, run), seed=_seed(task, candidate, run))
    pair = made.pair
    found = agreement([pair], targets=[task.target, *task.other_targets], bins=task.bins or BINS, floors=0)
    target = _for_target(found, task.target)
    linked = None
    if pair.paired:
        known = pair.for_attacks
        linked = informed(evidence_of(made.known, known.released, known.quasi_identifiers), most=LINKED).first
    return Score(
        agreement=target.agreement,
        other_agreement=found.mean,
        accuracy=target.released,
        record_linkage=linked,
        nearest_record=linkage(pair, comparisons=COMPARISONS) if pair.paired else None,
        attempts=_attempts(made, regrow=run == 0),
    )


def _attempts(made: Rerun, *, regrow: bool) -> tuple[DecisiveRisk, ...]:
    """The attacks that decide about a limit, but for record linkage; trees are regrown in one trial, as for a limit."""
    pair = made.pair.for_attacks
    people = INFORMED_BESIDE_LINKAGE if pair.paired else INFORMED
    found = tuple(
        attempts(
            linked=None,
            inferred=inferences(pair, learned=False, most=INFERRED),
            informed=informed_attacks(
                [attacker_of(made.pair, made.known, regrow=regrow)], background=(), most=people, trained=False
            ),
            membership=membership(pair),
            copied=copies(pair),
        )
    )
    if not any(one.kind == "inference" for one in found):
        raise TableError("No value could be inferred of anybody outside the release. Use more rows or other columns.")
    return found


def score_baselines(task: Task, run: int) -> BaselineScore:
    """The same fold, with the original as its own release."""
    rows = released_rows(task, run)
    inside = np.zeros(len(task.table), bool)
    inside[rows] = True
    part = task.table.take(rows)
    held = task.table.take(np.flatnonzero(~inside))
    pair = pair_of(part, part, np.arange(len(part)), target=task.target, control=held)
    found = agreement([pair], targets=[task.target, *task.other_targets], bins=task.bins or BINS)
    target = _for_target(found, task.target)
    majority = majority_answer(pair, bins=task.bins or BINS)
    return BaselineScore(target.floor, found.mean_floor, target.original, target.chance, majority)


def majority_answer(pair: Pair, *, bins: int) -> Estimate:
    """The share of the held-out rows to which the original's tree gives its most common answer.

    Always giving that answer agrees with the tree this often, without having seen a single row.
    """
    sides = sides_of(pair, most=MOST, most_tests=MOST_TESTS)
    classes = classes_for(sides.original[pair.target], bins=bins, with_missing=True)
    labels = classes.of(sides.original[pair.target])
    given = answers("tree", sides.original.without(pair.target), labels, sides.test.without(pair.target))
    counts = np.bincount(given - MISSING)  # no answer, -1, has the first place
    return share_of([(given - MISSING == counts.argmax()).astype(np.float64)])


def released_rows(task: Task, run: int) -> Rows:
    """Two thirds of the rows: each fold of a secret order is held out once before the rows are reordered."""
    order = np.argsort(task.draws.sub("folds", str(run // FOLDS)).words(np.arange(len(task.table))))
    held = np.array_split(order, FOLDS)[run % FOLDS]
    return np.setdiff1d(order, held)


def released_count(table: Table) -> int:
    """The fewest rows that a trial releases: the first folds may have one row more than the others."""
    return len(table) - -(-len(table) // FOLDS)


def other_targets(table: Table, target: str) -> tuple[str, ...]:
    """A few further columns for trees to predict: sensitive ones first, then evenly spread over the table."""
    names = [n for n in attribute_names(table, target) if _is_predictable(table, n)]
    first = [n for n in names if table.roles.get(n) == "sensitive"]
    rest = [n for n in names if n not in first]
    wanted = max(0, OTHERS - len(first))
    spread = np.linspace(0, len(rest) - 1, min(wanted, len(rest))).round().astype(int)
    return (*first[:OTHERS], *(rest[i] for i in spread))


def _is_predictable(table: Table, name: str) -> bool:
    column = table[name]
    if column.is_category and mostly_unique(column):
        return False
    return classes_for(column, bins=BINS, with_missing=True).count > 1


def _for_target(found: Agreements, target: str) -> Agreement:
    if found.target is None:
        raise TableError(f"Column {target!r} has a single value, so nothing can be predicted. Choose another target.")
    return found.target


def _seed(task: Task, candidate: Candidate, run: int) -> int:
    """The seed of one release, as secret as the sweep's own key."""
    return int.from_bytes(task.draws.sub("release", candidate.name, repr(candidate.fixed), str(run)).secret, "big")


# The scores of several trials as one point of the map.


@dataclass(frozen=True)
class Point:
    """The utility and the disclosure risk of one candidate."""

    name: str
    recipe: str
    settings: Mapping[str, Value]
    strength: Mapping[str, Value]  # the settings that differ between the points of a recipe
    agreement: Estimate  # for the target
    other_agreement: Estimate  # mean over other columns
    accuracy: Estimate  # of a tree grown on the release, for the target
    record_linkage: Risk | None  # by an attacker who knows everything but the key; None if no row descends from one
    nearest_record: Risk | None  # linkage to the most similar row
    risks: tuple[DecisiveRisk, ...]  # that a limit is compared with
    runs: int
    on_front: bool = False

    @property
    def risk(self) -> DecisiveRisk:
        """Record linkage or the inference of one column, whichever has the highest upper bound: the axis of the map."""
        return max((one for one in self.risks if one.by_upper_end), key=lambda one: one.bound)

    @property
    def deciding(self) -> DecisiveRisk:
        """The risk of any kind that a limit excludes first."""
        return max((self.risk, *self.risks), key=lambda one: one.bound)

    @property
    def membership(self) -> DecisiveRisk | None:
        """The share of members found at 1 % false alarms, above these."""
        return next((one for one in self.risks if one.kind == "membership"), None)

    @property
    def copied(self) -> bool:
        """Whether records or rare values occur in the release more often than chance explains."""
        return any(one.kind == "copies" for one in self.risks)

    def within(self, limit: float) -> bool:
        """Whether a release would not be refused at this limit."""
        return not any(exceeds(one.bound, limit) for one in self.risks)


@dataclass(frozen=True)
class Baselines:
    """The baselines that every point is compared with."""

    floor: Estimate  # agreement of a resample of the original, for the target
    other_agreement: Estimate  # the same, mean over other columns
    accuracy: Estimate  # of a tree grown on the original
    chance: Estimate  # agreement of two independent predictions with the original's class shares (Cohen's)
    majority: Estimate  # agreement of always giving the most common answer; never below chance


def point_of(candidate: Candidate, scores: Sequence[Score]) -> Point:
    """The point of a candidate, from the scores of its trials."""
    linked = _known_risk([one.record_linkage for one in scores])
    tried = pooled([one.attempts for one in scores])
    risks = strongest([*([] if linked is None else [DecisiveRisk("linkage", linked)]), *tried])
    return Point(
        name=candidate.name,
        recipe=candidate.recipe,
        settings=candidate.settings,
        strength=dict(candidate.strength),
        agreement=over_runs([one.agreement for one in scores]),
        other_agreement=over_runs([one.other_agreement for one in scores]),
        accuracy=over_runs([one.accuracy for one in scores]),
        record_linkage=linked,
        nearest_record=_known_risk([one.nearest_record for one in scores]),
        risks=risks,
        runs=len(scores),
    )


def _known_risk(runs: Sequence[Risk | None]) -> Risk | None:
    found = [one for one in runs if one is not None]
    return risk_over_runs(found) if found else None


def pooled(runs: Sequence[Sequence[DecisiveRisk]]) -> list[DecisiveRisk]:
    """Each attack over all runs: people of several runs are attacked as if in one, as for a limit on one release.

    Copies are a finding if they are one in at least half of the runs.
    """
    together: dict[tuple[str, ...], list[DecisiveRisk]] = {}
    for one in (one for run in runs for one in run):
        method = "nearest" if one.method == "stable" else one.method  # the stronger of the two in each run
        key = (one.kind,) if one.kind == "copies" else (one.kind, one.column, method)
        together.setdefault(key, []).append(one)
    copied = together.pop(("copies",), [])
    found = [replace(tried[0], risk=_pool([one.risk for one in tried])) for tried in together.values()]
    if copied and 2 * len(copied) >= len(runs):
        found.append(max(copied, key=lambda one: one.risk.value))
    return found


def _pool(runs: Sequence[Risk | Estimate]) -> Estimate:
    """The mean of independent runs, with the interval that follows from theirs."""
    value = float(np.mean([one.value for one in runs]))
    down = sqrt(sum((one.value - one.low) ** 2 for one in runs)) / len(runs)
    up = sqrt(sum((one.high - one.value) ** 2 for one in runs)) / len(runs)
    people = sum(one.tries if isinstance(one, Risk) else one.runs for one in runs)
    return Estimate(value, value - down, value + up, people)


def baselines_of(found: Sequence[BaselineScore]) -> Baselines:
    """The baselines over all trials."""
    return Baselines(
        floor=over_runs([one.floor for one in found]),
        other_agreement=over_runs([one.other_agreement for one in found]),
        accuracy=over_runs([one.accuracy for one in found]),
        chance=over_runs([one.chance for one in found]),
        majority=over_runs([one.majority for one in found]),
    )


def over_runs(runs: Sequence[Estimate]) -> Estimate:
    """The mean over runs, with an interval from the lowest lower bound to the highest upper bound of any run.

    One release is published, not the mean of several; so more runs never make the interval narrower.

    >>> print(over_runs([Estimate(0.8, 0.7, 0.9, 100), Estimate(0.9, 0.8, 1.0, 100)]))
    0.850 (0.700 to 1.000)
    """
    return Estimate(*_widest(runs), len(runs))


def risk_over_runs(runs: Sequence[Risk]) -> Risk:
    """The same for a risk; its most exposed rows are those of the worst run."""
    return Risk(*_widest(runs), sum(one.tries for one in runs), max(one.worst for one in runs))


def _widest(runs: Sequence[Estimate] | Sequence[Risk]) -> tuple[float, float, float]:
    known = [one for one in runs if not isnan(one.value)]
    if not known:
        return nan, nan, nan
    mean = float(np.mean([one.value for one in known]))
    return mean, min(one.low for one in known), max(one.high for one in known)


# The Pareto front and the recommendation.


def pareto_front(points: Sequence[tuple[float, float]]) -> list[bool]:
    """For points (risk, utility), whether each is on the Pareto front.

    A point is on it if no other has lower risk and at least the same utility, or higher utility and no more risk.
    Equal points are on it together.

    >>> pareto_front([(0.1, 0.9), (0.2, 0.9), (0.3, 0.95)])
    [True, False, True]
    """
    order = sorted(range(len(points)), key=lambda i: (points[i][0], -points[i][1]))
    on_front = [False] * len(points)
    last = (float("nan"), float("-inf"))
    for i in order:
        risk, utility = points[i]
        if utility > last[1] or (risk, utility) == last:
            on_front[i], last = True, (risk, utility)
    return on_front


def useful(points: Sequence[Point], baselines: Baselines) -> list[Point]:
    """The points whose whole interval of agreement lies above the agreement of the most common answer."""
    return [point for point in points if point.agreement.low > baselines.majority.value]


def recommend(points: Sequence[Point], baselines: Baselines, max_risk: float) -> Point | None:
    """The most useful point that a limit would not refuse.

    Among equally useful points, the one with the lowest risk; None if no point within the limit is clearly more useful
    than always giving the most common answer.
    """
    allowed = [point for point in useful(points, baselines) if point.within(max_risk)]
    return max(allowed, key=lambda point: (point.agreement.value, -point.risk.risk.value), default=None)


def safer_alternative(points: Sequence[Point], baselines: Baselines, chosen: Point, max_risk: float) -> Point | None:
    """A useful point within the limit with clearly less than half the chosen one's risk, as useful within its interval.

    Among several, the one with the lowest risk; None if there is no such point.
    """
    near = [
        point
        for point in useful(points, baselines)
        if point.within(max_risk)
        and point.agreement.value >= chosen.agreement.low
        and point.risk.risk.value <= chosen.risk.risk.value / 2
        and point.risk.risk.high < chosen.risk.risk.low
    ]
    return min(near, key=lambda point: point.risk.risk.value, default=None)
