"""What a report is about: a pair of tables, how the release was made when that is known, what was measured."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

from leafcover.engine.audience import RiskLimit, limit_in_force
from leafcover.engine.run import Release, TreeFact
from leafcover.messages import catalogue
from leafcover.metrics.disclosure.informed_inference import InformedAttack
from leafcover.metrics.estimates import Attack, Estimate, Risk
from leafcover.metrics.pair import Pair
from leafcover.metrics.suite import Measures, Risks
from leafcover.metrics.summary import Method, by_knowledge, measured_risks
from leafcover.recipes.plan import Step
from leafcover.reporting.components import Cell
from leafcover.reporting.disclosure_rules import HIDDEN, DisclosureRules

say = catalogue("report")

Absence: TypeAlias = Literal["suppressed", "dealt", "not-asked", "impossible"]


@dataclass(frozen=True)
class InferenceResult:
    """The strongest attribute inference attack on one column, and how far it lies above its control."""

    column: str
    method: Method
    attack: Attack
    above: Estimate

    @property
    def shown(self) -> bool:
        """Whether the whole interval lies above 0: a person's own record reveals more than patterns do."""
        return self.above.low > 0


@dataclass(frozen=True)
class MembershipResult:
    """The membership inference that finds most members at 1 % false alarms, and the largest area of any."""

    method: Method
    area: Risk  # under the ROC curve, of the attack with the largest
    found: Risk  # members found at 1 % false alarms


@dataclass(frozen=True, eq=False)
class ReportContext:
    """Everything that the sections of a report draw on."""

    pair: Pair
    release: Release | None  # None: the table was made by other software
    measures: Measures | None  # None: nothing was measured
    rules: DisclosureRules
    show_plan: bool  # whether trees and plan may be shown
    title: str = ""  # the table's name
    date: str | None = None  # of the run; left out unless given, so that a report can be repeated byte by byte
    max_risk: float | None = None  # the limit of the risk, if another was set than for the release

    @property
    def internal(self) -> bool:
        """Whether the report is for the data steward alone."""
        return not self.rules.strict

    @property
    def limit(self) -> RiskLimit:
        """The limit that the risks are compared with."""
        return limit_in_force(None if self.release is None else self.release.limits, self.max_risk)

    @property
    def recipe(self) -> str:
        """The recipe of the release; empty for a plan of one's own, or a table made by other software."""
        return "" if self.release is None else self.release.plan.recipe

    @property
    def target(self) -> str:
        """The column whose rules are kept, or an empty text."""
        return self.release.plan.target if self.release is not None else self.pair.target

    @property
    def columns(self) -> str:
        """How many columns there are."""
        return catalogue("glossary")("columns", count=len(self.pair.names))

    @property
    def guides(self) -> tuple[TreeFact, ...]:
        """What happened to the target's trees that guided the release: one tree, a forest, or an empty tuple."""
        trees = self.release.trees if self.release is not None else ()
        return tuple(fact for fact in trees if fact.target == self.target)

    @property
    def forest(self) -> tuple[TreeFact, ...]:
        """The guiding trees where there are several; else an empty tuple."""
        return self.guides if len(self.guides) > 1 else ()

    @property
    def guide(self) -> TreeFact | None:
        """The guiding tree where there is one."""
        return self.guides[0] if len(self.guides) == 1 else None

    @property
    def risk(self) -> Risk | None:
        """Maximum-knowledge record linkage, where it may be shown."""
        informed = None if self.measures is None else self.measures.risks.informed
        return informed.first if informed is not None and self.rules.shows(informed.first) else None

    @property
    def descends(self) -> bool:
        """Whether a released row comes from one original row, as far as is known."""
        if self.release is not None:
            return self.release.descends
        return self.measures is None or self.measures.descends

    @property
    def changed(self) -> float | None:
        """The share of all values that differ from the original value of their row; None if no row has one."""
        if not self.descends:
            return None
        if self.release is not None:
            return sum(f.changed for f in self.release.columns) / max(len(self.release.columns), 1)
        unmoved = None if self.measures is None else self.measures.risks.unmoved
        return None if unmoved is None else 1 - unmoved.values.value

    @property
    def unprotected(self) -> tuple[str, ...]:
        """Columns that were released unchanged."""
        if self.release is not None:
            return self.release.unprotected
        unmoved = None if self.measures is None else self.measures.risks.unmoved
        found = () if unmoved is None else tuple(c.column for c in unmoved.columns if c.unchanged.value == 1)
        return tuple(name for name in found if not self.pair.original[name].missing.all())

    @property
    def refusals(self) -> list[str]:
        """Why the release must not be published."""
        found = []
        if self.release is not None and not self.release.publishable:
            found.append(say("refusal-seed"))
        if self.release is not None and self.release.kept_order:
            found.append(say("refusal-order"))
        return found

    def step_of(self, name: str) -> Step | None:
        """The step that wrote a column."""
        steps = self.release.plan.steps if self.release is not None else ()
        return next((step for step in steps if name in step.columns), None)

    @property
    def absence(self) -> Absence:
        """Why there is no figure of record linkage, as catalogues select by it."""
        if self.rules.suppressed:
            return "suppressed"
        return "not-asked" if self.measures is None else "impossible" if self.descends else "dealt"

    @property
    def absence_text(self) -> str:
        """The same in words that follow a subject in the singular."""
        return say("absence", absence=self.absence)

    @property
    def repeated(self) -> bool:
        """Whether the release was repeated without some of the rows, to have a control."""
        control = "no control" if self.measures is None else self.measures.control
        return self.pair.control is None and control != "no control"

    @property
    def inferences(self) -> list[InferenceResult]:
        """The strongest attribute inference attack on each column; the first is the one that decides."""
        if self.measures is None:
            return []
        found = [
            InferenceResult(one.column, one.method, self._attack_on(one.column, one.method), one.risk)
            for one in measured_risks(self.measures)
            if one.kind == "inference" and isinstance(one.risk, Estimate)
        ]

        return sorted(found, key=lambda one: self.worst_first(one.above))

    def worst_first(self, above: Estimate) -> tuple[float, float]:
        """A key that sorts differences as they are published: the highest upper end first, which decides."""
        shown = self.rules.rounded_difference(above, above.runs)
        return -shown.high, -shown.value

    def _attack_on(self, column: str, method: Method) -> Attack:
        assert self.measures is not None
        if (informed := self._informed(method)) is not None:
            return next(one.attack for one in informed.inferences if one.column == column)
        return next(one.strongest for one in self.measures.risks.inferences if one.column == column)

    def _informed(self, method: Method) -> InformedAttack | None:
        attacks = None if self.measures is None else self.measures.risks.informed_attacks
        if attacks is None:
            return None
        return attacks.granted if method == "granted" else attacks.regrown if method == "regrown" else None

    @property
    def membership(self) -> MembershipResult | None:
        """The strongest membership inference, which decides."""
        if self.measures is None:
            return None
        found = next((one for one in measured_risks(self.measures) if one.kind == "membership"), None)
        if found is None:
            return None
        attacks = dict(_membership_attacks(self.measures.risks))
        largest = max((area for area, _ in attacks.values()), key=lambda area: area.value)
        return MembershipResult(found.method, largest, attacks[found.method][1])

    @property
    def columns_tried(self) -> str:
        """How many columns were attacked by attribute inference, of how many."""
        tried = len(self.inferences)
        if not tried and self.measures is not None:
            tried = len(self.measures.risks.inferences)
        every = max(len(self.pair.names), len(self.pair.for_attacks.names))  # of units: one for each position
        return say("columns-attacked", all="yes" if tried == every > 1 else "no", attacked=tried, columns=every)


def _membership_attacks(risks: Risks) -> Iterator[tuple[Method, tuple[Risk, Risk]]]:
    """The area of each attack, and the members it finds at 1 % false alarms."""
    if (nearest := risks.membership) is not None:
        yield "distance", (nearest.area, nearest.alarms)
        if nearest.presence is not None:
            yield "presence", (nearest.presence.area, nearest.presence.found)
    if (informed := risks.informed_attacks) is not None:
        for method, attack in by_knowledge(informed):
            yield method, (attack.membership.area, attack.membership.found)
        if informed.trained is not None:
            yield "trained", (informed.trained.area, informed.trained.found)


def risk_cell(context: ReportContext, risk: Risk) -> Cell:
    """A risk, its interval, its most exposed rows."""
    value, interval = context.rules.risk(risk)
    worst = context.rules.worst(risk)
    if worst in ("", HIDDEN):
        return Cell(value, interval)
    return Cell(value, say("cell-interval", interval=interval, worst=worst))
