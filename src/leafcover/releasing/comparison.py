"""A release ready to be measured: the pair, what its plan tells an attacker, and rows that it never saw."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

from leafcover.measuring.pair import Pair
from leafcover.releasing.again import Again, folds
from leafcover.releasing.evidence import PlanEvidence, evidence_of
from leafcover.releasing.known import Known
from leafcover.releasing.pairing import pair_from
from leafcover.releasing.run import Release
from leafcover.table.table import Table

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
        return evidence_of(self.known, self.pair.released, self.pair.keys)

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
