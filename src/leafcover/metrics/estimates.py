"""Risks and estimates with their 95 % intervals: shares of successes, means, and differences between them.

A risk always has an interval. Where the success on each person is a probability that no key changes, it also has the
mean of the most exposed 1 % of the people. Under one key most attempts succeed or fail: their upper hundredth is 1 as
soon as 1 % succeed, and the people in it are others under another key.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import ceil, isnan, nan, sqrt

import numpy as np

from leafcover.arrays import Codes, Floats, Rows

DEVIATIONS = 1.959964  # of the normal distribution, to either side, for 95 %
WORST = 0.01  # the share of the most exposed rows, which a mean would hide


@dataclass(frozen=True)
class Risk:
    """A share of successes among tries, with Wilson's 95 % interval, and the mean of the most exposed 1 % of people.

    >>> print(wilson(3.0, 200))
    0.015 (0.005 to 0.043)
    """

    value: float
    low: float
    high: float
    tries: int
    worst: float = nan  # the mean probability over the 1 % of people with the highest; nan: known under one key only

    def __str__(self) -> str:
        return f"{self.value:.3f} ({self.low:.3f} to {self.high:.3f})"

    def worst_as_text(self) -> str:
        """The mean of the most exposed 1 %, with as many digits as the risk itself."""
        return f"{self.worst:.3f}"


@dataclass(frozen=True)
class Estimate:
    """A mean over repetitions (or rows) with a 95 % interval."""

    value: float
    low: float
    high: float
    runs: int

    def __str__(self) -> str:
        return f"{self.value:.3f} ({self.low:.3f} to {self.high:.3f})"


@dataclass(frozen=True)
class Attack:
    """How often an attack succeeds on people in the release, on people outside it (control), and by guessing.

    ``control`` is the same attack on rows that were not released: its success there comes from general patterns, not
    from the person's own record. Without such rows it is None, and the report says "no control".
    """

    main: Risk
    control: Risk | None
    baseline: Risk

    @property
    def above_control(self) -> Estimate | None:
        """How much more often the attack succeeds on people in the release than on people outside it."""
        return None if self.control is None else difference(self.main, self.control)


def wilson(successes: float, tries: int, deviations: float = DEVIATIONS) -> Risk:
    """A share with Wilson's interval, which is sound near 0 and 1. Ties may count as fractions of a success."""
    if tries == 0:
        return Risk(0.0, 0.0, 1.0, 0)
    share, z2 = successes / tries, deviations**2
    middle = (share + z2 / (2 * tries)) / (1 + z2 / tries)
    half = deviations * sqrt(max(0.0, share * (1 - share) / tries + z2 / (4 * tries**2))) / (1 + z2 / tries)
    return Risk(
        share, min(share, max(0.0, middle - half)), max(share, min(1.0, middle + half)), tries
    )  # up to rounding


def risk_of(successes: Floats) -> Risk:
    """The risk over people, from the success of each between 0 and 1 (a fraction where ties are averaged).

    >>> print(risk_of(np.array([1.0, 0.5, 0.0, 0.0])))
    0.375 (0.092 to 0.781)
    """
    return wilson(float(successes.sum()), len(successes))


def risk_over_keys(chances: Floats) -> Risk:
    """The risk over people, from the probability of success of each, which holds for every key.

    >>> risk_over_keys(np.array([0.5] + [0.0] * 199)).worst
    0.25
    """
    found = risk_of(chances)
    if not len(chances):
        return found
    most = ceil(WORST * len(chances))
    return replace(found, worst=float(np.partition(chances, len(chances) - most)[-most:].mean()))


def mean_of(values: Floats) -> Estimate:
    """The mean of independent repetitions, with Student's interval; a single one has no interval.

    >>> print(mean_of(np.array([0.8, 0.9, 0.85])))
    0.850 (0.726 to 0.974)
    """
    from scipy.stats import t

    values = values[~np.isnan(values)]
    if len(values) == 0:
        return Estimate(nan, nan, nan, 0)
    mean = float(values.mean())
    if len(values) == 1:
        return Estimate(mean, nan, nan, 1)
    half = float(t.ppf(0.975, len(values) - 1) * values.std(ddof=1) / sqrt(len(values)))
    return Estimate(mean, mean - half, mean + half, len(values))


def difference(one: Risk, other: Risk) -> Estimate:
    """The difference of two shares with Newcombe's interval, built from the Wilson intervals of both.

    >>> print(difference(wilson(50, 100), wilson(40, 100)))
    0.100 (-0.037 to 0.232)
    """
    value = one.value - other.value
    down = sqrt((one.value - one.low) ** 2 + (other.high - other.value) ** 2)
    up = sqrt((one.high - one.value) ** 2 + (other.value - other.low) ** 2)
    return Estimate(value, value - down, value + up, min(one.tries, other.tries))


def known(value: float) -> bool:
    """Whether a figure exists, that is, is not nan."""
    return not isnan(value)


# Shares of rows with their intervals, over the rows of one test or over several tests.


NOT_KNOWN = Estimate(nan, nan, nan, 0)


def share_of(runs: Sequence[Floats]) -> Estimate:
    """The mean success of rows: one run with Wilson's interval over its rows, several with Student's over runs.

    >>> print(share_of([np.array([1.0, 1.0, 0.0, 1.0])]))
    0.750 (0.301 to 0.954)
    """
    if len(runs) != 1:
        return mean_of(np.array([run.mean() if len(run) else nan for run in runs]))
    if not len(runs[0]):
        return NOT_KNOWN
    found = wilson(float(runs[0].sum()), len(runs[0]))
    return Estimate(found.value, found.low, found.high, found.tries)


def difference_of(ones: Sequence[Floats], others: Sequence[Floats]) -> Estimate:
    """The difference of two mean successes on the same rows, with the normal interval of the paired differences."""
    apart = [one - other for one, other in zip(ones, others, strict=True)]
    if len(apart) != 1:
        return mean_of(np.array([run.mean() if len(run) else nan for run in apart]))
    return _normal([apart[0]])


def balanced_share_of(runs: Sequence[Floats], labels: Sequence[Codes]) -> Estimate:
    """The mean over classes of their mean success (macro recall), so that rare classes count like frequent ones.

    For one run the interval is built from the Wilson interval of each class, like Newcombe's for a difference.
    """
    if len(runs) != 1:
        return mean_of(np.array([_balanced(*run) for run in zip(runs, labels, strict=True)]))
    found = [wilson(float(part.sum()), len(part)) for part in _by_class(runs[0], labels[0])]
    if not found:
        return NOT_KNOWN
    value = sum(risk.value for risk in found) / len(found)
    down = sqrt(sum((risk.value - risk.low) ** 2 for risk in found)) / len(found)
    up = sqrt(sum((risk.high - risk.value) ** 2 for risk in found)) / len(found)
    return Estimate(value, value - down, value + up, len(runs[0]))


def balanced_difference_of(ones: Sequence[Floats], others: Sequence[Floats], labels: Sequence[Codes]) -> Estimate:
    """The difference of two macro recalls on the same rows, with a normal interval."""
    apart = [one - other for one, other in zip(ones, others, strict=True)]
    if len(apart) != 1:
        return mean_of(np.array([_balanced(*run) for run in zip(apart, labels, strict=True)]))
    return _normal(_by_class(apart[0], labels[0]))


def _by_class(run: Floats, labels: Codes) -> list[Floats]:
    return [run[labels == label] for label in np.unique(labels)]


def _balanced(run: Floats, labels: Codes) -> float:
    parts = _by_class(run, labels)
    return float(np.mean([part.mean() for part in parts])) if parts else nan


def _normal(parts: Sequence[Floats]) -> Estimate:
    """The mean of the parts' means; a part of one row has no variance, so then there is no interval."""
    rows = sum(len(part) for part in parts)
    if not rows:
        return NOT_KNOWN
    value = float(np.mean([part.mean() for part in parts]))
    if min(len(part) for part in parts) < 2:
        return Estimate(value, nan, nan, rows)
    half = DEVIATIONS * sqrt(sum(float(part.var(ddof=1)) / len(part) for part in parts)) / len(parts)
    return Estimate(value, value - half, value + half, rows)


def fisher(members: int | Rows, of_members: int, others: int | Rows, of_others: int) -> Floats:
    """The probability of at least so many members among all successes, if members and others are exchangeable.

    >>> round(float(fisher(3, 3, 0, 3)), 6)
    0.05
    """
    from scipy.stats import hypergeom

    return hypergeom.sf(np.subtract(members, 1), of_members + of_others, np.add(members, others), of_members)
