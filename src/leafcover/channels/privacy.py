"""What a report gives away: a figure where there is one, and a true sentence always."""

from dataclasses import dataclass
from math import exp, inf, log

import numpy as np

from leafcover.errors import ValueOutOfRange
from leafcover.fast.arrays import Floats


@dataclass(frozen=True)
class Privacy:
    """What one report of a channel gives away.

    ``epsilon`` bounds how much any report can change the odds between any two truths (by a factor of e^epsilon,
    local differential privacy); None where no bound exists. ``words`` say what is disclosed.
    """

    epsilon: float | None
    words: str

    def __str__(self) -> str:
        if self.epsilon is None:
            return f"No epsilon: {self.words}"
        return f"Epsilon {self.epsilon:.3f} (odds change by at most {exp(self.epsilon):.3g} times): {self.words}"


def log_ratio(likely: float, unlikely: float) -> float:
    """How far two chances of the same report are apart; infinite when one of them is impossible.

    >>> round(log_ratio(0.75, 0.25), 3), log_ratio(1.0, 0.0)
    (1.099, inf)
    """
    return inf if min(likely, unlikely) <= 0 else abs(log(likely / unlikely))


def finite(epsilon: float) -> float | None:
    """An epsilon, or None when it is infinite and so says nothing."""
    return None if epsilon == inf else epsilon


def posterior(matrix: Floats, report: int, prior: Floats) -> Floats:
    """The chance of each truth after a report, for who believed ``prior`` before it (Bayes).

    >>> posterior(np.array([[0.8, 0.2], [0.2, 0.8]]), 1, np.array([0.9, 0.1])).round(3)
    array([0.692, 0.308])
    """
    believed = np.asarray(prior, np.float64)
    if believed.shape != matrix.shape[1:] or (believed < 0).any() or abs(believed.sum() - 1) > 1e-9:
        raise ValueOutOfRange("A prior", f"{believed.size} chances", f"{matrix.shape[1]} chances that add up to 1")
    if not 0 <= report < len(matrix):
        raise ValueOutOfRange("A report", report, f"a code from 0 to {len(matrix) - 1}")
    joint = matrix[report] * believed
    if joint.sum() == 0:
        raise ValueOutOfRange("A prior", "one that makes this report impossible", "one under which it can happen")
    return np.asarray(joint / joint.sum())


def odds(chances: Floats, value: int) -> float:
    """The odds of one truth against all others.

    >>> odds(np.array([0.25, 0.75]), 1)
    3.0
    """
    rest = float(np.delete(chances, value).sum())
    return inf if rest == 0 else float(chances[value]) / rest
