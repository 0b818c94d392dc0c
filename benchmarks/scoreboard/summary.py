"""The figures of a method over all splits, with their intervals, and how two methods compare split by split."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from benchmarks.scoreboard.contenders import Contender
from benchmarks.scoreboard.score import Score, Share

from leafcover.metrics.estimates import Estimate, Risk, difference, mean_of, wilson


@dataclass(frozen=True)
class Summary:
    """One row of the scoreboard: the scores of every split, or the reason why it has no scores."""

    contender: Contender
    scores: tuple[Score, ...]
    trouble: str = ""

    @property
    def name(self) -> str:
        """The name of the row."""
        return self.contender.name

    @property
    def releases(self) -> bool:
        """Whether a table is released, so that people can be linked."""
        return bool(self.scores) and self.scores[0].learned is not None

    def estimate(self, figure: str) -> Estimate:
        """A mean over splits with Student's interval."""
        return mean_of(np.array([getattr(score, figure) for score in self.scores]))

    def risk(self, figure: str) -> Risk | None:
        """The share of all people attacked in all splits, with Wilson's interval."""
        shares = [getattr(score, figure) for score in self.scores]
        return None if not shares or None in shares else pooled(shares)

    def above_control(self, figure: str) -> Estimate | None:
        """Inference of the released less inference of others, with Newcombe's interval."""
        both = [getattr(score, figure) for score in self.scores]
        if not both or None in both:
            return None
        return difference(pooled([main for main, _ in both]), pooled([control for _, control in both]))

    @property
    def informed(self) -> Risk | None:
        """Maximum-knowledge linkage: the better of the attack with the plan known and the probabilistic attack."""
        found = [risk for risk in (self.risk("by_plan"), self.risk("learned")) if risk is not None]
        return max(found, key=lambda risk: risk.value) if found else None


def summarised(contender: Contender, found: Sequence[Score | str | None]) -> Summary:
    """The scores of a method; if one split failed, the row failed."""
    for one in found:
        if isinstance(one, str):
            return Summary(contender, (), one)
    return Summary(contender, tuple(one for one in found if isinstance(one, Score)))


def pooled(shares: Sequence[Share]) -> Risk:
    """Successes and tries pooled over all splits.

    >>> print(pooled([Share(0.5, 10), Share(0.0, 10)]))
    0.250 (0.112 to 0.469)
    """
    return wilson(sum(one.value * one.tries for one in shares), sum(one.tries for one in shares))


@dataclass(frozen=True)
class Figure:
    """A figure that methods are compared by."""

    words: str
    of: Callable[[Score], float | None]
    more_is_better: bool


def _informed(score: Score) -> float | None:
    found = [one.value for one in (score.by_plan, score.learned) if one is not None]
    return max(found, default=None)


def _beyond(both: tuple[Share, Share] | None) -> float | None:
    return None if both is None else both[0].value - both[1].value


FIGURES = (
    Figure("accuracy", lambda score: score.accuracy, True),
    Figure("agreement", lambda score: score.agreement, True),
    Figure("agreement for other targets", lambda score: score.others, True),
    Figure("Gower linkage", lambda score: None if score.gower is None else score.gower.value, False),
    Figure("maximum-knowledge linkage", _informed, False),
    Figure("inference of occupation", lambda score: _beyond(score.occupation), False),
    Figure("inference of income", lambda score: _beyond(score.income), False),
    Figure("CPU seconds", lambda score: score.cpu, False),
)

FEWEST = 3  # minimum number of splits for a verdict
Verdict = Literal["better", "alike", "worse"]


def verdict(one: Summary, other: Summary, figure: Figure) -> Verdict | None:
    """How one method compares with another, split by split: "alike" when Student's interval holds 0.

    None when one of them has no such figure, or there are too few splits to say.
    """
    pairs = [(figure.of(ours), figure.of(theirs)) for ours, theirs in zip(one.scores, other.scores, strict=False)]
    if len(pairs) < FEWEST or any(a is None or b is None for a, b in pairs):
        return None
    found = mean_of(np.array([a - b for a, b in pairs], float))
    if found.low <= 0 <= found.high:
        return "alike"
    return "better" if (found.value > 0) == figure.more_is_better else "worse"


def front(rows: Sequence[Summary], utility: str) -> list[Summary]:
    """The Pareto front: rows that no other beats in both maximum-knowledge linkage and utility, safest first."""
    shown = [row for row in rows if row.informed is not None]
    shown.sort(key=lambda row: (row.informed.value, -row.estimate(utility).value))
    best, found = -np.inf, []
    for row in shown:
        if row.estimate(utility).value > best:
            best = row.estimate(utility).value
            found.append(row)
    return found
