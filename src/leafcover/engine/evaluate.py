"""Prepare a release for measuring: pair, plan knowledge, control rows, repeated releases, limits on disclosure risk."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Sized
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np

from leafcover.arrays import Rows
from leafcover.engine.attacker import (
    Known,
    PlanEvidence,
    averaged,
    certain,
    disclosed,
    evidence_of,
    fixed,
    singletons,
    widths,
)
from leafcover.engine.audience import Refused, RiskVerdict, limit_in_force, risk_advice, verdict_of
from leafcover.engine.release_model import granted_model, regrown_model
from leafcover.engine.run import Progress, Release, is_dealt, run
from leafcover.engine.statement import dealt_share
from leafcover.errors import LeafcoverError, PlanError, RiskTooHigh, TableError, ValueOutOfRange
from leafcover.keyed_random import Draws, Key
from leafcover.metrics.disclosure.attribute_inference import inferences
from leafcover.metrics.disclosure.copies import Copies, copies
from leafcover.metrics.disclosure.informed_inference import Test, informed_attacks
from leafcover.metrics.disclosure.k_anonymity import homogeneity
from leafcover.metrics.disclosure.membership_inference import membership
from leafcover.metrics.disclosure.probabilistic_linkage import learned_linkage
from leafcover.metrics.disclosure.record_linkage import Informed, informed
from leafcover.metrics.estimates import wilson
from leafcover.metrics.pair import SEED, Pair, Recode, pair_of, sample_rows
from leafcover.metrics.registry import MEASURES, Context, Facts
from leafcover.metrics.suite import Measures, measures, take_measures
from leafcover.metrics.summary import (
    DecisiveRisk,
    copied_risks,
    decisive_risks,
    exceeds,
    homogeneous_sentences,
    measured_risks,
)
from leafcover.recipes.plan import Plan, recoded_table, step_table
from leafcover.recipes.registry import rewritten
from leafcover.recode.base import apply_all
from leafcover.table.table import Table, row_hashes, without_unused_levels
from leafcover.table.units import owners

# Repeat a release on some of the rows, so that the others serve as a control: people who are not in the release.


MOST_ROWS = 60_000  # of a repeated release; two thirds are released, the others are attacked and predicted


@dataclass(frozen=True, eq=False)
class Rerun:
    """A release of some of the rows, with the others as control, and how it was made."""

    pair: Pair
    known: Known


def rerun(table: Table, plan: Plan, rows: Rows, *, seed: int) -> Rerun:
    """Release only these rows, by a plan rewritten from them; the other rows are the pair's control.

    A plan that no recipe wrote is used unchanged, but its trees and cells are recomputed from these rows.
    """
    return release_some(table, partial(rewritten, plan), rows, seed=seed)


def release_some(table: Table, write: Callable[[Table], Plan], rows: Rows, *, seed: int) -> Rerun:
    """Release only these rows, by a plan that is written for them; the other rows are the pair's control."""
    inside = np.zeros(len(table), bool)
    inside[rows] = True
    part = without_unused_levels(table, rows)
    written = write(part)
    # These releases are never published, so a fixed seed is safe and makes the figures reproducible.
    release = run(part, written, key=Key.from_seed(seed))
    pair = pair_from(part, release, control=table.take(np.flatnonzero(~inside)))
    return Rerun(pair, Known(step_table(release.plan, part), release.plan, release.partitions, part))


def folds(
    table: Table,
    plan: Plan,
    *,
    count: int = 3,
    most: int = MOST_ROWS,
    tell: Callable[[float], None] = lambda share: None,
) -> Iterator[Rerun]:
    """Releases of the table without one fold each, whose rows are the control; a large table is sampled.

    A fold for which the plan fails is left out.
    """
    owner = owners(table)
    people = sample_rows(int(owner.max()) + 1, most)
    order = people[np.random.default_rng(SEED).permutation(len(people))]
    table, owner = table.take(kept := np.flatnonzero(np.isin(owner, people))), owner[kept]
    for number, fold in enumerate(np.array_split(order, count)):
        rest = np.flatnonzero(~np.isin(owner, fold))
        tell(number / count)
        try:
            yield rerun(table, plan, rest, seed=SEED + number)
        except LeafcoverError:
            continue


FOLDS = 3


@dataclass(frozen=True, eq=False)
class Comparison:
    """A pair and, if known, how its release was made.

    A control, rows that were not released, is needed to separate general patterns from disclosure about individuals. If
    the pair has no control and the plan is known, the release is repeated without each fold of the rows in turn; the
    first repetition is also used for the attacks.
    """

    pair: Pair
    known: Known | None = None
    tell: Callable[[float], None] = lambda share: None  # progress of the repeated releases

    @cached_property
    def evidence(self) -> PlanEvidence | None:
        """The evidence that the plan gives about the quasi-identifiers."""
        if self.known is None or not self.pair.paired:
            return None
        pair = self.pair.for_attacks
        return evidence_of(self.known, pair.released, pair.quasi_identifiers)

    @cached_property
    def _reruns(self) -> tuple[Rerun, ...]:
        if self.known is None or self.pair.control is not None:
            return ()
        return tuple(folds(self.known.original, self.known.plan, count=FOLDS, tell=self.tell))

    @property
    def descends(self) -> bool:
        """Whether a released row comes from one original row, as far as is known."""
        return self.known is None or not is_dealt(self.known.plan, self.known.table)

    def attackers(self) -> tuple[Test, ...]:
        """The models of attackers who know the method, one for each test; only the first has regrown trees."""
        runs = [(self.pair, self.known)] if self.pair.control is not None else [(r.pair, r.known) for r in self._reruns]
        return tuple(attacker_of(pair, known, regrow=number == 0) for number, (pair, known) in enumerate(runs))

    @property
    def tests(self) -> tuple[Pair, ...]:
        """Pairs with control rows: the pair itself, or one for each fold; empty if neither is possible."""
        return (self.pair,) if self.pair.control is not None else tuple(one.pair for one in self._reruns)

    @property
    def attacked(self) -> Pair:
        """The pair for attacks that need a control; without any control, the pair itself."""
        return self.tests[0] if self.tests else self.pair

    @property
    def control(self) -> str:
        """Where the rows that were not released come from, in words."""
        if self.pair.control is not None:
            return "rows that were held out"
        if self._reruns:
            if len(self._reruns) == 1:
                return "the release was repeated without some of the rows"
            return f"the release was repeated {len(self._reruns)} times, each time without some of the rows"
        return "no control"


def attacker_of(pair: Pair, known: Known | None, *, regrow: bool) -> Test:
    """The models of attackers on one release; a pair has the released rows in the order of the original."""
    pair, granted = pair.for_attacks, None
    if known is not None and (pair.paired or not known.plan.descends):  # the cells of rows are known by their pairs
        granted = granted_model(pair.released, known)
    plan = None if known is None else known.plan
    return Test(pair, granted, regrown_model(pair.released, plan, pair.target) if regrow else None)


def compared_to(original: Table, release: Release, control: Table | None = None) -> Comparison:
    """A release made by this program and its original, ready to be measured."""
    return Comparison(pair_from(original, release, control), _known(original, release))


def _known(original: Table, release: Release) -> Known:
    """What an attacker who knows the plan of a release knows of its cells."""
    names = (*release.table.names, *original.with_role("unit"))
    table = original.select(name for name in original.names if name in names)
    return Known(step_table(release.plan, table), release.plan, release.partitions, table)


# Measures get what an attacker can infer from the plan; they do not depend on plans themselves.


def measure_all(compared: Comparison, *, tell: Progress = lambda words, share: None) -> Measures:
    """Every measure that the pair, its plan and the rows that were not released allow."""
    known = compared.known
    tell("repeating the release without some rows", 0.0)
    tests = compared.tests
    return measures(
        compared.pair,
        tests=tests,
        control=compared.control,
        evidence=compared.evidence,
        facts=None if known is None else facts_of(known),
        bins=None if known is None else known.plan.bins,
        attackers=compared.attackers,
        tell=tell,
    )


def measure_some(
    compared: Comparison, names: Sequence[str], *, tell: Progress = lambda words, share: None
) -> dict[str, Any]:
    """The results of the named measures; the release is repeated only for those that need a control."""
    from leafcover.engine.shadow import shadow_of, two_releases_of

    known = compared.known
    chosen = [MEASURES.named(name) for name in names]
    control = compared.pair.control is not None or any(one.uses_control for one in chosen)
    context = Context(
        compared.pair,
        compared.tests if control else (),
        compared.evidence,
        Facts() if known is None else facts_of(known),
        None if known is None else known.plan.bins,
        compared.attackers,
        tell,
        {"shadow": lambda: shadow_of(compared), "two_releases": lambda: two_releases_of(compared)},
    )
    return take_measures(context, names)


def facts_of(known: Known) -> Facts:
    """What the plan alone reveals about the original."""
    if is_dealt(known.plan, known.table):
        return Facts(descends=False)  # nobody's value is fixed to a row
    return Facts(fixed(known), widths(known), singletons(known), disclosed(known), tuple(averaged(known)))


# The pair of a release and its original, the input of every measure.


MOST = 0.5  # maximum share of control rows that are also in the original, beyond chance


def pair_from(original: Table, release: Release, control: Table | None = None) -> Pair:
    """The pair of a release. Roles define what an attacker knows; by default everything except the target."""
    plan, names = release.plan, [name for name in release.table.names if original.roles.get(name) != "unit"]
    whose = () if plan.units is None else plan.units.numbered
    tied = plan.tied(recoded_table(plan, original.select(n for n in original.names if n in (*names, *whose))))
    pair = pair_of(
        _rows_in(original, plan),
        release.table.select(names),
        release.source if release.descends else None,
        target=release.plan.target if release.plan.target in names else "",
        quasi_identifiers=quasi_identifiers_of(original, release),
        sensitive=[n for n in original.with_role("sensitive") if n in names],
        weight="".join([n for n in original.with_role("weight") if n in names][:1]),
        control=control,
        recode=recode_of(plan),
    )
    if plan.units is None:
        shown = release.table if release.classed is None else release.classed
        shown = shown.take(np.argsort(release.source)) if release.descends else shown
        pair = pair.without_ties(tied, plan.pools, plan.share, dealt_share(plan))
        return pair.with_nearest_weights(shown.select(plan.weighed))
    aside = None if control is None else step_table(plan, control, tied, original=original)
    pair = pair.of_units(plan.units, step_table(plan, original, tied), release.step_table, aside)
    return pair.with_nearest_weights(release.step_table.select(n for n in plan.weighed if n in plan.units.constant))


def recode_of(plan: Plan) -> Recode | None:
    """How a plan recodes tables, for a pair; None if it does not."""
    return partial(apply_all, plan.recode) if plan.recode else None


def _rows_in(original: Table, plan: Plan) -> Table:
    """The rows of the original that the release has: of large units only the first."""
    return original if plan.units is None else original.take(plan.units.kept(original))


def quasi_identifiers_of(original: Table, release: Release) -> list[str]:
    """The columns an attacker is assumed to know: the quasi-identifiers, or by default all except target and weight."""
    names = release.table.names
    named = [n for n in original.with_role("quasi-identifier") if n in names]
    others = [n for n in names if original.roles.get(n) not in ("weight", "unit")]
    return named or [n for n in others if n != release.plan.target]


def refuse_same_people(pair: Pair) -> None:
    """Raise an error if the control contains the released rows: it would hide the disclosure.

    In a table of few columns many rows are identical by chance; that share is estimated from the original and allowed.
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
            "were in both. Give a control of rows that were not released."
        )


def refuse_with_a_release(released: Release, given: Mapping[str, Any]) -> None:
    """A release knows its plan, pairs and roles; others would be ignored."""
    for name, value in given.items():
        absent = value is None or (isinstance(value, Sized) and not isinstance(value, Plan) and len(value) == 0)
        if not absent and not (name == "target" and isinstance(value, str) and value == released.plan.target):
            raise PlanError(
                f"{name} cannot be given for a release, which has its own. Name roles when you read the original, "
                f"or measure release.table with pairs=release.source."
            )


def released_rows(table: Table, released: Release) -> Table:
    """The rows of the original that were released."""
    rows = released.source if (given := getattr(released, "rows", None)) is None else given
    if len(rows) == len(table):
        return table
    if len(rows) and rows.max() >= len(table):
        raise TableError(
            f"The release was made from a table with at least {int(rows.max()) + 1} rows, but the original has "
            f"{len(table)}. Give the table that was released."
        )
    return table if given is None else without_unused_levels(table, rows)


# Limits of disclosure risk: of singletons, and of the risks that decide (`leafcover.metrics.summary`).


MOST_SINGLETONS = 0.05  # maximum share of singleton rows that is released without --force


def limited_risks(compared: Comparison, measured: Measures | None = None) -> tuple[DecisiveRisk, ...]:
    """The risks for a limit: from the measures if they exist, otherwise measured separately.

    Of a table that another program made nobody may know the pairs; the other risks are compared then.
    """
    if measured is not None:
        found = measured_risks(measured)
    else:
        evidence, attacked = compared.evidence, compared.attacked.for_attacks
        linked = None
        if compared.descends:
            linked = (None if evidence is None else informed(evidence)) or learned_linkage(compared.pair.for_attacks)
        found = decisive_risks(
            linked=linked,
            inferred=inferences(attacked),
            informed=informed_attacks(compared.attackers(), background=()),
            membership=membership(attacked),
            copied=copies(attacked),
        )
    if compared.known is not None and compared.descends and not any(one.kind == "linkage" for one in found):
        raise TableError(
            "A limit was set on the risk, but there are no pairs of released and original rows. Give pairs=... too."
        )
    if not any(one.kind == "inference" for one in found):
        raise TableError(
            "A limit was set on the risk, but inference above control needs rows that were not released. "
            "Give control=..., or release with hold_out=SHARE."
        )
    return found


def homogeneous_lines(compared: Comparison) -> tuple[str, ...]:
    """A sentence for each sensitive attribute on the groups that have a single value of it."""
    pair = compared.pair.for_attacks  # with one row for each unit
    return tuple(homogeneous_sentences(homogeneity(pair), homogeneity(pair, of="original")))


def verdict_on(
    compared: Comparison,
    release: Release | None,
    risks: Sequence[DecisiveRisk] | None,
    copied: Copies | None,
    max_risk: float | None,
) -> RiskVerdict:
    """The verdict on a release by the risks that were measured, or by copies alone."""
    limit = limit_in_force(None if release is None else release.limits, max_risk)
    refused: Refused = "" if release is None or release.publishable else "seed"
    if release is not None and release.kept_order:
        refused = "order"
    found = risks if risks is not None or copied is None else copied_risks(copied)
    return verdict_of(found or (), limit, descends=compared.descends, measured=risks is not None, refused=refused)


def certain_linkage(original: Table, release: Release) -> Informed | None:
    """Maximum-knowledge linkage without computation, if the plan makes all rows of a group equally likely."""
    if not release.descends:
        return None
    known = _known(original, release)
    names = [name for name in quasi_identifiers_of(original, release) if name in known.table.names]
    evidence = certain(known, names)
    return None if evidence is None else informed(evidence)


def refuse_singletons(release: Release, limit: float = MOST_SINGLETONS) -> None:
    """Raise an error if too many rows are singletons, the only row of their cell."""
    if release.singletons > limit:
        raise RiskTooHigh(
            f"{release.singletons:.1%} of the rows are singletons (alone in their cell), more than {limit:.0%}: "
            "their leaves would disclose values of individuals. Nothing was written. "
            "Raise min_cell, or allow singletons with max_singletons=1."
        )


def check_limit(max_risk: float) -> None:
    """Raise an error if a limit of disclosure risk is not a share."""
    if not 0 <= max_risk <= 1:
        raise ValueOutOfRange("max_risk", max_risk, "a share from 0 to 1")


def refuse_above(risks: Iterable[DecisiveRisk], limit: float) -> None:
    """Raise an error if a risk is above the limit; it names the largest of the first kind that is."""
    risks = tuple(risks)
    above = [one for one in risks if exceeds(one.bound, limit)]
    descends = any(one.kind == "linkage" for one in risks)
    if above:
        worst = max((one for one in above if one.kind == above[0].kind), key=lambda one: one.bound)
        end = "upper" if worst.by_upper_end else "lower"
        others = f" ({len(above)} figures are)" if len(above) > 1 else ""
        wide = ""
        if worst.by_upper_end and not exceeds(worst.risk.value, limit):
            wide = (
                "The estimate is not, but so few people were attacked that its interval is wide: more people outside "
                "the release, by a larger control or hold_out, make it narrower. "
            )
        row = re.search(r" \[([3-9]|[1-9]\d+)\]", worst.column)
        if wide and row is not None:  # the third row of a unit, or a later one
            wide += f"Few units have so many rows: most_rows={int(row[1]) - 1} leaves such rows out. "
        raise RiskTooHigh(
            f"The risk of {worst.name} is {worst.risk}; its {end} end is above the limit of {limit}{others}. {wide}"
            f"Nothing was written. {' '.join(risk_advice(above, descends=descends))} Or raise max_risk."
        )


def hold_out(table: Table, share: float | None, key: Key) -> tuple[Rows, Rows]:
    """The rows to release and those held out at random, both in table order; without a share no row is held out."""
    rows = np.arange(len(table), dtype=np.int64)
    if share is None:
        return rows, rows[:0]
    owner = owners(table)
    people = np.arange(int(owner.max(initial=-1)) + 1, dtype=np.int64)
    order = np.argsort(Draws(key.secret).sub("leafcover hold out").words(people), kind="stable")
    count = round(share * len(people))
    if count < 1 or len(people) - count < 2:
        what = "units" if table.with_role("unit") else "rows"
        raise TableError(
            f"Holding out {share} of {len(people)} {what} leaves too few on one side. Choose another share."
        )
    held = np.isin(owner, order[:count])
    return rows[~held], rows[held]
