"""Shares of rows with their intervals: over the rows of one test, or over several tests."""

from collections.abc import Sequence
from math import nan, sqrt

import numpy as np

from leafcover.fast.arrays import Codes, Floats
from leafcover.measuring.figures import DEVIATIONS, Estimate, mean_of, wilson

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
    """One mean success less another of the same rows, with the normal interval of the differences row by row."""
    apart = [one - other for one, other in zip(ones, others, strict=True)]
    if len(apart) != 1:
        return mean_of(np.array([run.mean() if len(run) else nan for run in apart]))
    return _normal([apart[0]])


def balanced_share_of(runs: Sequence[Floats], labels: Sequence[Codes]) -> Estimate:
    """The mean over classes of their mean success (macro recall), so that rare classes count like frequent ones.

    For one run the interval is made from Wilson's of each class, as Newcombe's of a difference is made from two.
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
    """One macro recall less another of the same rows, with a normal interval."""
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
    """The mean of the parts' means; none of one row, since that tells nothing of its error."""
    rows = sum(len(part) for part in parts)
    if not rows:
        return NOT_KNOWN
    value = float(np.mean([part.mean() for part in parts]))
    if min(len(part) for part in parts) < 2:
        return Estimate(value, nan, nan, rows)
    half = DEVIATIONS * sqrt(sum(float(part.var(ddof=1)) / len(part) for part in parts)) / len(parts)
    return Estimate(value, value - half, value + half, rows)
