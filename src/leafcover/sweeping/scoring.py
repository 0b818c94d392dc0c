"""One score: some of the rows are released, the others show what the release is good for and whom it gives away."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from leafcover.draws import Draws
from leafcover.errors import TableError
from leafcover.fast.arrays import MISSING, Rows
from leafcover.measuring.classes import BINS, classes_for, mostly_unique
from leafcover.measuring.figures import Estimate, Risk
from leafcover.measuring.models import MOST, MOST_TESTS, answers, sides_of
from leafcover.measuring.pair import Pair, pair_of
from leafcover.measuring.risk.inference import inferences
from leafcover.measuring.risk.informed import informed
from leafcover.measuring.risk.linkage import linkage
from leafcover.measuring.shares import share_of
from leafcover.measuring.utility.agreement import Agreement, Agreements, agreement
from leafcover.releasing.again import again
from leafcover.releasing.evidence import evidence_of
from leafcover.releasing.recipes import plan_for
from leafcover.sweeping.candidates import Candidate
from leafcover.table.table import Table
from leafcover.tree.training import attribute_names

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
        informed=informed(evidence_of(made.known, pair.released, pair.keys)).first,
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
    first = [n for n in names if table.roles.get(n) == "confidential"]
    rest = [n for n in names if n not in first]
    wanted = max(0, OTHERS - len(first))
    spread = np.linspace(0, len(rest) - 1, min(wanted, len(rest))).round().astype(int)
    return (*first[:OTHERS], *(rest[i] for i in spread))


def attacked_columns(table: Table, target: str) -> tuple[str, ...]:
    """What an attacker wants to learn: the confidential columns, or the target."""
    return table.with_role("confidential") or (target,)


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
