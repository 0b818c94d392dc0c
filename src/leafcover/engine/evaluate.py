"""A release ready to be measured: the pair, what its plan tells an attacker, and rows that it never saw."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, TypeAlias

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
from leafcover.messages import catalogue
from leafcover.metrics.disclosure.attribute_inference import Inference, attacked_columns, inferences
from leafcover.metrics.disclosure.linkability import ColumnSets, column_sets
from leafcover.metrics.disclosure.membership_inference import Membership, membership
from leafcover.metrics.disclosure.probabilistic_linkage import learned_linkage
from leafcover.metrics.disclosure.record_linkage import Informed, informed
from leafcover.metrics.disclosure.singling_out import SinglingOut, singling_out
from leafcover.metrics.estimates import Attack, Estimate, Risk, wilson
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


# The disclosure risks that decide: the report's verdict and the limit `--max-risk` go by the same figures.
#
# Record linkage and attribute inference count by the upper end of their interval: a small table, of which little is
# known, must not pass for a safe one. Attacks of which a release may well have none count by the lower end.


MOST_SINGLETONS = 0.05  # share of rows alone in their cell that is released without being forced
ROUNDING = 1e-9  # a figure this little above its limit is at it
MOST_BY_DESCRIPTION = 0.2  # singling out tries descriptions, not people: it counts as no higher risk than this

RiskKind: TypeAlias = Literal["linkage", "inference", "membership", "linkability", "singling-out"]


@dataclass(frozen=True)
class DecisiveRisk:
    """One disclosure risk that is held against a limit."""

    kind: RiskKind
    risk: Risk | Estimate  # a share for linkage, percentage points above control for the others
    column: str = ""  # whose values are inferred
    inference: Inference | None = None

    @property
    def name(self) -> str:
        """What the risk is called."""
        return catalogue("report")("risk-name", kind=self.kind, column=self.column)

    @property
    def by_upper_end(self) -> bool:
        """Whether the upper end of the interval counts, else the lower one."""
        return self.kind in ("linkage", "inference")

    @property
    def bound(self) -> float:
        """The figure that is held against a limit."""
        return self.bound_of(self.risk.low, self.risk.high)

    def bound_of(self, low: float, high: float) -> float:
        """The same for an interval as it is published."""
        if self.by_upper_end:
            return high
        return min(low, MOST_BY_DESCRIPTION) if self.kind == "singling-out" else low


def exceeds(bound: float, limit: float) -> bool:
    """Whether a risk is above a limit, rounding apart."""
    return bound > limit + ROUNDING


def decisive_columns(pair: Pair) -> tuple[str, ...]:
    """The columns whose inference decides: the sensitive ones, else the target, else all that are attacked."""
    return pair.sensitive or ((pair.target,) if pair.target else attacked_columns(pair))


def decisive_risks(
    pair: Pair,
    *,
    linked: Informed | None,
    inferred: Sequence[Inference],
    membership: Membership | None,
    sets: ColumnSets,
    singled_out: SinglingOut,
) -> tuple[DecisiveRisk, ...]:
    """The risks that decide, of all that was measured; an attack without a control is not among them."""
    found = [] if linked is None else [DecisiveRisk("linkage", linked.first)]
    decisive = decisive_columns(pair)
    found += [
        DecisiveRisk("inference", above, one.column, one)
        for one in [one for one in inferred if one.column in decisive] or inferred
        if (above := above_control(one.strongest)) is not None
    ]
    by_description = [above_control(attack) for attack in (singled_out.univariate, singled_out.multivariate)]
    others: tuple[tuple[RiskKind, Estimate | None], ...] = (
        ("membership", None if membership is None else above_control(membership.attack)),
        ("linkability", above_control(sets.attack)),
        (
            "singling-out",
            max((a for a in by_description if a is not None), key=lambda above: above.value, default=None),
        ),
    )
    return (*found, *(DecisiveRisk(kind, above) for kind, above in others if above is not None))


def above_control(attack: Attack) -> Estimate | None:
    """How far an attack lies above its control; None where there was nobody to try it on."""
    if attack.control is None or not attack.control.tries or not attack.main.tries:
        return None
    return attack.above_control


def measured_risks(pair: Pair, measures: Measures) -> tuple[DecisiveRisk, ...]:
    """The risks that decide, of a release with all its measures."""
    risks = measures.risks
    return decisive_risks(
        pair,
        linked=risks.informed,
        inferred=risks.inferences,
        membership=risks.membership,
        sets=risks.column_sets,
        singled_out=risks.singling_out,
    )


def limited_risks(compared: Comparison, measured: Measures | None = None) -> tuple[DecisiveRisk, ...]:
    """The same for `--max-risk`: taken from the measures where there are any, else measured alone."""
    pair, attacked = compared.pair, compared.attacked
    if measured is None:
        evidence = compared.evidence
        inferred = inferences(attacked, columns=decisive_columns(pair))
        linked = (None if evidence is None else informed(evidence)) or learned_linkage(pair)
        found = decisive_risks(
            pair,
            linked=linked,
            inferred=inferred,
            membership=membership(attacked),
            sets=column_sets(attacked),
            singled_out=singling_out(attacked),
        )
    else:
        inferred, linked, found = measured.risks.inferences, measured.risks.informed, measured_risks(pair, measured)
    if linked is None:
        raise TableError("A limit was set on the risk, but no pairs say which released row is whose. Give --pairs.")
    decisive = decisive_columns(pair)
    if lacking := [one.column for one in inferred if one.column in decisive and above_control(one.strongest) is None]:
        raise TableError(
            f"A limit was set on the risk, but inference of {lacking[0]} above control needs rows that were not "
            "released. Give --control, or release with --hold-out."
        )
    return found


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


def refuse_above(risks: Iterable[DecisiveRisk], limit: float) -> None:
    """End with one line when a risk is above the limit."""
    for one in risks:
        if exceeds(one.bound, limit):
            end = "upper" if one.by_upper_end else "lower"
            raise RiskTooHigh(
                f"The risk of {one.name} is {one.risk}, its {end} end above the limit {limit}. Nothing was written. "
                "Hide more (a larger k, more perturbation, another recipe), drop columns, or raise --max-risk."
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
