"""The figures of a method over all splits, and how two methods compare."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import nan
from typing import Literal

import numpy as np
from benchmarks.scoreboard.contenders import Contender
from benchmarks.scoreboard.score import Attempt, Kind, Score, Share

from leafcover.metrics.estimates import Estimate, Risk, difference, wilson

UNMEASURED = "was not measured"


@dataclass(frozen=True)
class Strongest:
    """The attack that succeeds most, and how far."""

    risk: Risk | Estimate  # inference and copies: above control
    attack: str
    column: str


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
        """Whether a table is released and attacked."""
        return bool(self.scores) and bool(self.scores[0].attempts)

    def estimate(self, figure: str) -> Estimate:
        """A mean over splits, between the lowest and the highest of them; one split has no range."""
        found = [float(getattr(score, figure)) for score in self.scores]
        low, high = (min(found), max(found)) if len(found) > 1 else (nan, nan)
        return Estimate(float(np.mean(found)), low, high, len(found))

    def strongest(self, kind: Kind, column: str | None = None) -> Strongest | None:
        """The strongest attack, on one column or on any; None if no attack applies.

        Every attack is pooled over all splits first; then the largest is chosen.
        """
        found: dict[tuple[str, str], list[Attempt]] = {}
        for one in (one for score in self.scores for one in score.attempts):
            if one.kind == kind and column in (None, one.column):
                found.setdefault((one.attack, one.column), []).append(one)
        risks = [Strongest(_risk(attempts), *names) for names, attempts in found.items()]
        return max(risks, key=lambda one: one.risk.value, default=None)

    def value(self, kind: Kind, column: str | None = None) -> float | None:
        """The success of the strongest attack."""
        found = self.strongest(kind, column)
        return None if found is None else found.risk.value

    @property
    def copied(self) -> dict[str, int]:
        """The kinds of copies that chance does not explain, and in how many splits."""
        kinds = [kind for score in self.scores for kind in score.copied]
        return {kind: kinds.count(kind) for kind in dict.fromkeys(kinds)}


def summarised(contender: Contender, found: Sequence[Score | str | None]) -> Summary:
    """The scores of a method; if one split failed, the row failed."""
    for one in found:
        if isinstance(one, str):
            return Summary(contender, (), one)
    scores = tuple(one for one in found if isinstance(one, Score))
    return Summary(contender, scores, "" if scores else UNMEASURED)


def pooled(shares: Sequence[Share]) -> Risk:
    """Successes and tries pooled over all splits.

    >>> print(pooled([Share(0.5, 10), Share(0.0, 10)]))
    0.250 (0.112 to 0.469)
    """
    return wilson(sum(one.value * one.tries for one in shares), sum(one.tries for one in shares))


def _risk(attempts: Sequence[Attempt]) -> Risk | Estimate:
    main = pooled([one.main for one in attempts])
    control = [one.control for one in attempts if one.control is not None]
    return difference(main, pooled(control)) if control else main


@dataclass(frozen=True)
class Figure:
    """A figure that methods are compared by."""

    words: str
    of: Callable[[Summary], float | None]
    margin: float  # a smaller difference does not count
    more_is_better: bool = False


def _mean(figure: str) -> Callable[[Summary], float | None]:
    return lambda row: row.estimate(figure).value


UTILITY_MARGIN, RISK_MARGIN = 0.01, 0.02
FIGURES = (
    Figure("accuracy", _mean("accuracy"), UTILITY_MARGIN, True),
    Figure("agreement", _mean("agreement"), UTILITY_MARGIN, True),
    Figure("agreement for other targets", _mean("others"), UTILITY_MARGIN, True),
    Figure("largest inference", lambda row: row.value("inference"), RISK_MARGIN),
    Figure("inference of occupation", lambda row: row.value("inference", "occupation"), RISK_MARGIN),
    Figure("inference of income", lambda row: row.value("inference", "income"), RISK_MARGIN),
    Figure("membership, area", lambda row: row.value("area"), RISK_MARGIN),
    Figure("members found at 1%", lambda row: row.value("found"), RISK_MARGIN),
    Figure("copies", lambda row: row.value("copies"), RISK_MARGIN),
)

Verdict = Literal["better", "alike", "worse"]


def verdict(one: Summary, other: Summary, figure: Figure) -> Verdict | None:
    """How one method compares with another on the splits that both have: "alike" within the margin.

    None when one of them has no such figure.
    """
    both = min(len(one.scores), len(other.scores))
    a, b = (figure.of(replace(row, scores=row.scores[:both])) if both else None for row in (one, other))
    if a is None or b is None:
        return None
    if abs(a - b) <= figure.margin:
        return "alike"
    return "better" if (a > b) == figure.more_is_better else "worse"


def front(rows: Sequence[Summary], utility: str) -> list[Summary]:
    """The Pareto front: rows that no other beats in both the largest inference and utility, safest first."""
    shown = [row for row in rows if row.releases]
    shown.sort(key=lambda row: (row.value("inference"), -row.estimate(utility).value))
    best, found = -np.inf, []
    for row in shown:
        if row.estimate(utility).value > best:
            best = row.estimate(utility).value
            found.append(row)
    return found
