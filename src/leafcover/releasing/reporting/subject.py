"""What a report is about: a pair of tables, how the release was made when that is known, what was measured."""

from collections.abc import Iterator
from dataclasses import dataclass

from leafcover.measuring.figures import Estimate, Risk
from leafcover.measuring.measures import Measures
from leafcover.measuring.pair import Pair
from leafcover.measuring.risk.inference import Inference
from leafcover.releasing.plan import Step
from leafcover.releasing.reporting.voice import Voice, counted
from leafcover.releasing.run import Release, TreeFact


@dataclass(frozen=True, eq=False)
class Subject:
    """Everything that the sections speak of, and to whom."""

    pair: Pair
    release: Release | None  # None: the table comes from elsewhere
    measures: Measures | None  # None: nothing was measured
    voice: Voice
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
    def guide(self) -> TreeFact | None:
        """What happened to the target's tree, when one guided the release."""
        trees = self.release.trees if self.release is not None else ()
        return next((fact for fact in trees if fact.target == self.target), None)

    @property
    def risk(self) -> Risk | None:
        """Informed linkage: the headline."""
        informed = None if self.measures is None else self.measures.risks.informed
        return informed.first if informed is not None and informed.first.tries else None

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

    def inferred(self) -> Iterator[tuple[Inference, Estimate]]:
        """What the nearest released row tells of each column, and how much of it above control."""
        for one in () if self.measures is None else self.measures.risks.inferences:
            above = one.nearest.above_control
            if above is not None:
                yield one, above
