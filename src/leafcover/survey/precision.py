"""How well a share can be known from n answers, before any has come.

Every answer counts a weight w for a conjunction E, as in ``leafcover.response.estimate``. With m the expectation of w²
for a person who meets E, u the largest one for a person who does not, and s the share of E, the variance of one weight
about the population is at most s m + (1 - s) u - s². For one question that is exact: all who do not meet E are alike.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from math import ceil, prod, sqrt

import numpy as np

from leafcover.channels.channel import inverse, matrix
from leafcover.errors import NameUnknown, PlanError, ValueOutOfRange
from leafcover.response.estimate import DEVIATIONS
from leafcover.response.scheme import Part, code_of
from leafcover.survey.questionnaire import Survey

FINEST = 1e-6  # a precision beyond which no survey on earth has enough people


@dataclass(frozen=True)
class Moments:
    """The expected square of the weight of an answer, for who meets what is asked, and the most for who does not.

    >>> Moments(met=1.75, unmet=0.75).variance(0.5)  # a coin that tells the truth three times out of four
    1.0
    """

    met: float
    unmet: float

    def variance(self, share: float) -> float:
        """Of one weight, when this share of the population meets what is asked."""
        return share * self.met + (1 - share) * self.unmet - share**2

    @property
    def worst_share(self) -> float:
        """The share for which the variance is largest."""
        return min(max((self.met - self.unmet) / 2, 0.0), 1.0)

    @property
    def worst(self) -> float:
        """The largest variance, whatever the share."""
        return self.variance(self.worst_share)


def moments(survey: Survey, literals: Mapping[str, str]) -> Moments:
    """Those of a conjunction of answers, open ones and disguised ones; independent coins multiply."""
    left = {name: _code(survey, name, text) for name, text in literals.items()}
    if not left:
        raise PlanError("A share needs something that holds. Name at least one question and its answer.")
    factors = [
        _of_part(part, own)
        for part in survey.scheme.parts
        if (own := {place: left.pop(name) for place, name in enumerate(part.names) if name in left})
    ]
    return product(factors + [Moments(1.0, 0.0)] * len(left))  # what is left is open


def product(factors: list[Moments]) -> Moments:
    """All of them together: who meets all, and the worst of those who fail at least one."""
    most = [max(one.met, one.unmet) for one in factors]
    fails = [one.unmet * prod(most[:place] + most[place + 1 :]) for place, one in enumerate(factors)]
    return Moments(prod(one.met for one in factors), max(fails))


def answers_needed(variance: float, half_width: float) -> int:
    """How many answers make the 95 % interval reach this far to either side.

    >>> answers_needed(0.25, 0.05), answers_needed(1.0, 0.05)  # asked openly; with a coin of 3/4
    (385, 1537)
    """
    if not FINEST <= half_width < 1:
        allowed = f"a half width from {FINEST:f} to below 1, such as 0.05"
        raise ValueOutOfRange("The wanted precision", half_width, allowed)
    return max(1, ceil(variance * (DEVIATIONS / half_width) ** 2))


def half_width(variance: float, answers: int) -> float:
    """How far the 95 % interval of so many answers reaches to either side."""
    if answers < 1:
        raise ValueOutOfRange("The number of answers", answers, "at least 1")
    return DEVIATIONS * sqrt(variance / answers)


def _of_part(part: Part, literals: Mapping[int, int]) -> Moments:
    alone = part.channel.on(list(literals))
    cell = int(np.ravel_multi_index(tuple(literals.values()), alone.shape))
    squares = np.square(inverse(alone)[cell]) @ matrix(alone)  # for each truth
    return Moments(float(squares[cell]), float(np.delete(squares, cell).max()))


def _code(survey: Survey, name: str, text: str) -> int:
    for question in survey.questions:
        if question.name == name:
            if question.between:
                raise PlanError(f"Question {name!r} asks for a number, not for a choice. Ask about another question.")
            return code_of(question.choices, name, text)
    raise NameUnknown("question", name, [question.name for question in survey.questions])
