"""What a report is about: a pair of tables, how the release was made when that is known, what was measured."""

from dataclasses import dataclass

from leafcover.engine.run import Release, TreeFact
from leafcover.metrics.disclosure.attribute_inference import Inference
from leafcover.metrics.estimates import Attack, Estimate, Risk
from leafcover.metrics.pair import Pair
from leafcover.metrics.suite import Measures
from leafcover.recipes.plan import Step
from leafcover.reporting.components import Cell
from leafcover.reporting.disclosure_rules import HIDDEN, DisclosureRules, counted


@dataclass(frozen=True)
class InferenceResult:
    """What the strongest attacker tells of one column, and how much of it above control."""

    column: str
    by: str  # what he goes by
    attack: Attack
    above: Estimate

    @property
    def shown(self) -> bool:
        """Whether it is shown that a person's own row tells more than patterns do."""
        return self.above.low > 0


@dataclass(frozen=True, eq=False)
class ReportContext:
    """Everything that the sections speak of, and to whom."""

    pair: Pair
    release: Release | None  # None: the table comes from elsewhere
    measures: Measures | None  # None: nothing was measured
    voice: DisclosureRules
    opened: bool  # whether trees and plan may be shown

    @property
    def internal(self) -> bool:
        """Whether the steward alone reads it."""
        return not self.voice.strict

    @property
    def target(self) -> str:
        """The column whose rules matter, or none."""
        return self.release.plan.target if self.release is not None else self.pair.target

    @property
    def columns(self) -> str:
        """How many columns there are."""
        return counted(len(self.pair.names), "column")

    @property
    def guides(self) -> tuple[TreeFact, ...]:
        """What happened to the target's trees that guided the release: one tree, a forest, or none."""
        trees = self.release.trees if self.release is not None else ()
        return tuple(fact for fact in trees if fact.target == self.target)

    @property
    def forest(self) -> tuple[TreeFact, ...]:
        """The same where there are several; else none."""
        return self.guides if len(self.guides) > 1 else ()

    @property
    def guide(self) -> TreeFact | None:
        """The same where there is one."""
        return self.guides[0] if len(self.guides) == 1 else None

    @property
    def risk(self) -> Risk | None:
        """Informed linkage: the headline."""
        informed = None if self.measures is None else self.measures.risks.informed
        return informed.first if informed is not None and self.voice.tells(informed.first) else None

    @property
    def changed(self) -> float | None:
        """The share of all values that are not their row's own any more."""
        if self.release is not None:
            return sum(f.changed for f in self.release.columns) / max(len(self.release.columns), 1)
        unmoved = None if self.measures is None else self.measures.risks.unmoved
        return None if unmoved is None else 1 - unmoved.values.value

    @property
    def unprotected(self) -> tuple[str, ...]:
        """Columns that left as they came in."""
        if self.release is not None:
            return self.release.unprotected
        unmoved = None if self.measures is None else self.measures.risks.unmoved
        return () if unmoved is None else tuple(c.column for c in unmoved.columns if c.unchanged.value == 1)

    @property
    def refusals(self) -> list[str]:
        """Why the release must not leave the house."""
        said = []
        if self.release is not None and not self.release.publishable:
            said.append("It was made with a seed: whoever guesses the seed can undo the noise.")
        if self.release is not None and self.release.kept_order:
            said.append("Its rows stand in their original order: whoever knows the order knows every row.")
        return said

    def step_of(self, name: str) -> Step | None:
        """The step that wrote a column."""
        steps = self.release.plan.steps if self.release is not None else ()
        return next((step for step in steps if name in step.columns), None)

    @property
    def untold(self) -> str:
        """Why there is no figure."""
        if self.voice.silent:
            return "cannot be told of so few rows"
        return "was not measured for this report" if self.measures is None else "could not be measured"

    @property
    def repeated(self) -> bool:
        """Whether the release was done again without some of the rows, to have a control."""
        control = "no control" if self.measures is None else self.measures.control
        return self.pair.control is None and control != "no control"

    @property
    def told(self) -> list[InferenceResult]:
        """What is told of each column that was tried, furthest above control first; empty without a control."""
        tried = () if self.measures is None else self.measures.risks.inferences
        found = [
            InferenceResult(one.column, by_what(one, one.strongest), one.strongest, above)
            for one in tried
            if (above := above_of(one.strongest)) is not None
        ]
        return sorted(found, key=lambda one: -one.above.value)

    @property
    def columns_tried(self) -> str:
        """How many columns were attacked by inference, of how many."""
        tried = 0 if self.measures is None else len(self.measures.risks.inferences)
        every = len(self.pair.names)
        return (
            f"all {counted(every, 'column')} tried"
            if tried == every > 1
            else f"{tried:,} of {counted(every, 'column')} tried"
        )


def above_of(attack: Attack) -> Estimate | None:
    """How far an attack lies above its control; none where there was nobody to try it on."""
    if attack.control is None or not attack.control.tries or not attack.main.tries:
        return None
    return attack.above_control


def by_what(one: Inference, attack: Attack) -> str:
    """What an attacker of a column goes by."""
    if attack is one.learned:
        return "a model grown on the release"
    if attack is one.trusted:
        return "the nearest released row, by the columns that moved least"
    return "the nearest released row"


def risk_cell(subject: ReportContext, risk: Risk) -> Cell:
    """A risk, its interval, its worst rows."""
    value, interval = subject.voice.risk(risk)
    worst = subject.voice.worst(risk)
    return Cell(value, interval + (f"; worst {worst}" if worst not in ("", HIDDEN) else ""))
