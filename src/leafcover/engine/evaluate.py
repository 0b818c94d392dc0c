"""A release ready to be measured: the pair, what its plan tells an attacker, and rows that it never saw."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from leafcover.arrays import Rows
from leafcover.engine.attacker import (
    Known,
    PlanEvidence,
    alone,
    averaged,
    certain,
    disclosed,
    evidence_of,
    fixed,
    widths,
)
from leafcover.engine.run import Progress, Release, run
from leafcover.errors import LeafcoverError, RiskTooHigh, TableError
from leafcover.metrics.disclosure.attribute_inference import attacked_columns, inferences
from leafcover.metrics.disclosure.probabilistic_linkage import learned_linkage
from leafcover.metrics.disclosure.record_linkage import Informed, informed
from leafcover.metrics.estimates import Estimate, Risk, wilson
from leafcover.metrics.pair import SEED, Pair, pair_of, sample_rows
from leafcover.metrics.registry import MEASURES, Context, Facts
from leafcover.metrics.suite import Measures, measures, take_measures
from leafcover.recipes import RECIPES, plan_for
from leafcover.recipes.plan import Plan
from leafcover.rng import Draws, Key
from leafcover.table.identifiers import row_hashes
from leafcover.table.table import Table, without_unused_levels

# Do a release again on some of the rows, so that the others can tell what it says of people it never saw.


MOST_ROWS = (
    60_000  # released again at most: two thirds of them go into a release, the others are attacked and predicted
)


@dataclass(frozen=True, eq=False)
class Again:
    """A release of some of the rows, with the others as control, and how it was made."""

    pair: Pair
    known: Known


def again(table: Table, plan: Plan, rows: Rows, *, seed: int) -> Again:
    """Release these rows alone, by the plan written anew from them; the other rows are the pair's control.

    A plan that no recipe wrote is carried out as it is: its trees and cells are made anew from these rows all the same.
    """
    table = table.select(name for name in table.names if table.roles.get(name) != "unit")  # never released
    inside = np.zeros(len(table), bool)
    inside[rows] = True
    part = without_unused_levels(table, rows)
    written = plan
    if plan.settings is not None and plan.recipe in RECIPES:
        written = plan_for(part, plan.recipe, target=plan.target or None, settings=plan.settings)
    # These rows never leave the machine, so that a fixed seed may make the same figures come out twice.
    release = run(part, written, key=Key.from_seed(seed))
    pair = pair_from(part, release, control=table.take(np.flatnonzero(~inside)))
    return Again(pair, Known(part, written, release.partitions))


def folds(
    table: Table,
    plan: Plan,
    *,
    count: int = 3,
    most: int = MOST_ROWS,
    tell: Callable[[float], None] = lambda share: None,
) -> Iterator[Again]:
    """Releases of the table without one fold each, whose rows are the control; large tables are cut to a sample.

    A fold whose rows the plan refuses is left out.
    """
    table = table.take(sample_rows(len(table), most))
    order = np.random.default_rng(SEED).permutation(len(table))
    for number, fold in enumerate(np.array_split(order, count)):
        rest = np.setdiff1d(order, fold)
        tell(number / count)
        try:
            yield again(table, plan, rest, seed=SEED + number)
        except LeafcoverError:
            continue


FOLDS = 3


@dataclass(frozen=True, eq=False)
class Comparison:
    """A pair and, when it is known, how its release was made.

    Rows that were not released are needed to tell patterns from people. Where the pair has none and the plan is known,
    the release is done again without a fold of the rows, once for each fold; the first serves the attacks, too.
    """

    pair: Pair
    known: Known | None = None
    tell: Callable[[float], None] = lambda share: None  # how far the repeated releases are

    @cached_property
    def evidence(self) -> PlanEvidence | None:
        """What the plan tells of the key columns."""
        if self.known is None or not self.pair.paired:
            return None
        return evidence_of(self.known, self.pair.released, self.pair.quasi_identifiers)

    @cached_property
    def _again(self) -> tuple[Again, ...]:
        if self.known is None or self.pair.control is not None:
            return ()
        return tuple(folds(self.known.table, self.known.plan, count=FOLDS, tell=self.tell))

    @property
    def tests(self) -> tuple[Pair, ...]:
        """Pairs with rows that guided nothing: the pair itself, or one for each fold; none when there is no way."""
        return (self.pair,) if self.pair.control is not None else tuple(one.pair for one in self._again)

    @property
    def attacked(self) -> Pair:
        """The pair that attacks with a control work on; without any it is the pair itself, and they say so."""
        return self.tests[0] if self.tests else self.pair

    @property
    def control(self) -> str:
        """Where the rows that were not released come from, in words."""
        if self.pair.control is not None:
            return "rows that were held out"
        if self._again:
            if len(self._again) == 1:
                return "the release was done again without some of the rows"
            return f"the release was done again {len(self._again)} times, each time without some of the rows"
        return "no control"


def compared_to(original: Table, release: Release, control: Table | None = None) -> Comparison:
    """A release of ours and its original, ready to be measured."""
    table = original.select(name for name in original.names if name in release.table.names)
    return Comparison(pair_from(table, release, control), Known(table, release.plan, release.partitions))


# Measure a release: what its plan tells an attacker is handed down to measures that know nothing of plans.


def measure_all(compared: Comparison, *, tell: Progress = lambda words, share: None) -> Measures:
    """Every measure that the pair, its plan and the rows that were not released allow."""
    known = compared.known
    tell("releasing again without some rows", 0.0)
    tests = compared.tests
    return measures(
        compared.pair,
        tests=tests,
        control=compared.control,
        evidence=compared.evidence,
        facts=None if known is None else facts_of(known),
        bins=None if known is None else known.plan.bins,
        tell=tell,
    )


def measure_some(
    compared: Comparison, names: Sequence[str], *, tell: Progress = lambda words, share: None
) -> dict[str, Any]:
    """What the named measures found; repeated releases are made only for those that need a control."""
    known = compared.known
    chosen = [MEASURES.named(name) for name in names]
    control = compared.pair.control is not None or any(one.uses_control for one in chosen)
    context = Context(
        compared.pair,
        compared.tests if control else (),
        compared.evidence,
        Facts() if known is None else facts_of(known),
        None if known is None else known.plan.bins,
        tell,
    )
    return take_measures(context, names)


def facts_of(known: Known) -> Facts:
    """What the plan alone tells of the original."""
    return Facts(fixed(known), widths(known), alone(known), disclosed(known), tuple(averaged(known)))


# A release and its original, as the pair that measures are handed.


MOST = 0.5  # of the control's rows that may be the original's, beyond those that are alike by chance


def pair_from(original: Table, release: Release, control: Table | None = None) -> Pair:
    """The pair of a release; roles say what an attacker knows, or without any everything but the target."""
    names = release.table.names
    return pair_of(
        original,
        release.table,
        release.source,
        target=release.plan.target if release.plan.target in names else "",
        quasi_identifiers=quasi_identifiers_of(original, release),
        sensitive=[n for n in original.with_role("sensitive") if n in names],
        weight="".join([n for n in original.with_role("weight") if n in names][:1]),
        control=control,
    )


def quasi_identifiers_of(original: Table, release: Release) -> list[str]:
    """What an attacker is taken to know of a person: the key columns, or without any all but target and weight."""
    names = release.table.names
    named = [n for n in original.with_role("quasi-identifier") if n in names]
    return named or [n for n in names if n != release.plan.target and original.roles.get(n) != "weight"]


def refuse_same_people(pair: Pair) -> None:
    """Refuse a control that holds the very rows that were released: it would show what is learned of nobody.

    In a table of few columns many rows are alike; as many of the control's may be, as of the original's are by chance.
    """
    if pair.control is None or not len(pair.control):
        return
    words, others = row_hashes(pair.original), row_hashes(pair.control)
    _, place, counts = np.unique(words, return_inverse=True, return_counts=True)
    twins = wilson(float((counts[place] > 1).sum()), len(words))
    same = wilson(float(np.isin(others, words).sum()), len(others))
    if same.low > twins.high and same.value - twins.value >= MOST * (1 - twins.value):
        raise TableError(
            f"{same.value:.0%} of the control's {len(others):,} rows are rows of the original, as if the same people "
            "stood in both. Give a control of rows that were not released."
        )


# The risks that a limit is set on: informed linkage, and what is learned of people beyond what a pattern tells.
#
# Both count by the upper end of their interval: a small table, of which little is known, must not pass for a safe one.


MOST_SINGLETONS = 0.05  # share of rows alone in their cell that is released without being forced


@dataclass(frozen=True)
class Limited:
    """A risk and the words for it."""

    what: str
    risk: Risk | Estimate


def limited_risks(compared: Comparison, *, tell: Callable[[float], None] = lambda share: None) -> tuple[Limited, ...]:
    """Informed linkage, and inference above control, both by the strongest attack that is known here.

    Inference is of the confidential columns, else of the target, else of all.
    """
    pair = compared.pair
    evidence = compared.evidence
    linked = learned_linkage(pair) if evidence is None else informed(evidence, tell=tell)
    if linked is None:
        raise TableError("A limit was set on the risk, but no pairs say which released row is whose. Give --pairs.")
    found = [Limited("informed linkage", linked.first)]
    columns = pair.sensitive or ((pair.target,) if pair.target else attacked_columns(pair))
    for one in inferences(compared.attacked, columns=columns):
        column, above = one.column, one.strongest.above_control
        if above is None:
            raise TableError(
                f"A limit was set on the risk, but without rows that were not released nobody can tell what is learned "
                f"of {column} above control. Give --control, or release with --hold-out."
            )
        found.append(Limited(f"inference of {column} above control", above))
    return tuple(found)


def certain_linkage(original: Table, release: Release) -> Informed | None:
    """Informed linkage where it costs nothing: when the plan makes every row of a group as likely as any other."""
    evidence = certain(Known(original, release.plan, release.partitions), quasi_identifiers_of(original, release))
    return None if evidence is None else informed(evidence)


def refuse_singletons(release: Release, limit: float = MOST_SINGLETONS) -> None:
    """Raise when many rows are alone in a cell."""
    if release.singletons > limit:
        raise RiskTooHigh(
            f"{release.singletons:.1%} of the rows are alone in their cell, more than {limit:.0%}: what their leaves "
            "say about them would be published. Nothing was written. Raise min_cell, or allow singletons (--force)."
        )


def refuse_above(risks: tuple[Limited, ...], limit: float) -> None:
    """End with one line when the upper end of a risk is above the limit."""
    for one in risks:
        if one.risk.high > limit:
            raise RiskTooHigh(
                f"The risk of {one.what} is {one.risk}, its upper end above the limit {limit}. Nothing was written. "
                "Hide more (a larger k, more noise, another recipe), drop columns, or raise --max-risk."
            )


# Set rows aside before anything is learned from the table.


def hold_out(table: Table, share: float | None, key: Key) -> tuple[Rows, Rows]:
    """The rows to release and those set aside at random, both in table order; none is set aside without a share."""
    rows = np.arange(len(table), dtype=np.int64)
    if share is None:
        return rows, rows[:0]
    order = np.argsort(Draws(key.secret).sub("leafcover hold out").words(rows), kind="stable")
    count = round(share * len(table))
    if count < 1 or len(table) - count < 2:
        raise TableError(f"Holding out {share} of {len(table)} rows leaves too few on one side. Choose another share.")
    return np.sort(order[count:]), np.sort(order[:count])
