"""Before a survey starts: how many answers it needs, and what an answer gives away."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from itertools import combinations
from math import ceil, exp, log, prod, sqrt
from typing import Any

import numpy as np

from leafcover.errors import NameUnknown, PlanError, ValueOutOfRange
from leafcover.randomized_response.estimate import DEVIATIONS, DisguisedColumns, code_of
from leafcover.randomized_response.mechanism import inverse, matrix
from leafcover.survey.consent_text import MOST_TIMES, percent_upwards, times, upwards, why_no_sum
from leafcover.survey.results import side_by_side
from leafcover.survey.schema import Question, Survey, cost, strength

# How well a share can be known from n answers, before any has come.
#
# Every answer counts a weight w for a conjunction E, as in ``leafcover.randomized_response.estimate``. With m the
# expectation of w² for a person who meets E, u the largest one for a person who does not, and s the share of E, the
# variance of one weight about the population is at most s m + (1 - s) u - s². For one question that is exact: all who
# do not meet E are alike.


FINEST = 1e-6  # a precision beyond which no survey on earth has enough people


@dataclass(frozen=True)
class WeightMoments:
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


def moments(survey: Survey, literals: Mapping[str, str]) -> WeightMoments:
    """Those of a conjunction of answers, open ones and disguised ones; independent coins multiply."""
    left = {name: _code(survey, name, text) for name, text in literals.items()}
    if not left:
        raise PlanError("A share needs something that holds. Name at least one question and its answer.")
    factors = [
        _of_part(part, own)
        for part in survey.scheme.parts
        if (own := {place: left.pop(name) for place, name in enumerate(part.names) if name in left})
    ]
    return product(factors + [WeightMoments(1.0, 0.0)] * len(left))  # what is left is open


def product(factors: list[WeightMoments]) -> WeightMoments:
    """All of them together: who meets all, and the worst of those who fail at least one."""
    most = [max(one.met, one.unmet) for one in factors]
    fails = [one.unmet * prod(most[:place] + most[place + 1 :]) for place, one in enumerate(factors)]
    return WeightMoments(prod(one.met for one in factors), max(fails))


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


def _of_part(part: DisguisedColumns, literals: Mapping[int, int]) -> WeightMoments:
    alone = part.channel.on(list(literals))
    cell = int(np.ravel_multi_index(tuple(literals.values()), alone.shape))
    squares = np.square(inverse(alone)[cell]) @ matrix(alone)  # for each truth
    return WeightMoments(float(squares[cell]), float(np.delete(squares, cell).max()))


def _code(survey: Survey, name: str, text: str) -> int:
    for question in survey.questions:
        if question.name == name:
            if question.between:
                raise PlanError(f"Question {name!r} asks for a number, not for a choice. Ask about another question.")
            return code_of(question.choices, name, text)
    raise NameUnknown("question", name, [question.name for question in survey.questions])


PAIRS_SHOWN = 10


@dataclass(frozen=True)
class Needs:
    """What the share of an answer, or of two together, takes; "worst" means whatever the share is."""

    questions: tuple[str, ...]
    answers: int  # at the share that is expected
    answers_worst: int
    reached: float | None  # half width with the answers that were promised, at the share expected
    reached_worst: float | None


@dataclass(frozen=True)
class GivenAway:
    """What one report tells of one answer to somebody who knows no other."""

    question: str
    way: str
    epsilon: float | None  # None for an open question: the report is the answer
    odds: float | None  # e^epsilon: as many times can the odds change
    belief: float  # what a belief as strong as the share expected becomes at most
    cost: float  # so many times the answers of an open question


@dataclass(frozen=True)
class SurveyDesign:
    """The plan of a survey in figures."""

    title: str
    error: float  # the half width of a 95 % interval that is wanted
    share: float
    answers: int | None
    given_away: tuple[GivenAway, ...]
    questions: tuple[Needs, ...]
    pairs: tuple[Needs, ...]  # the share of people who gave a certain answer to both
    epsilon: float | None  # of all disguised answers together
    why_no_epsilon: str

    def as_json(self) -> dict[str, Any]:
        """For machines."""
        return asdict(self)


def design(survey: Survey, *, error: float = 0.05, share: float = 0.1, answers: int | None = None) -> SurveyDesign:
    """What a survey needs so that a 95 % interval reaches ``error`` to either side where ``share`` is expected."""
    if not 0 < share < 1:
        raise ValueOutOfRange("The expected share", share, "above 0 and below 1, such as 0.1")

    def needs(names: tuple[str, ...], found: list[WeightMoments]) -> Needs:
        here, worst = max(one.variance(share) for one in found), max(one.worst for one in found)
        reached = None if answers is None else half_width(here, answers)
        reached_worst = None if answers is None else half_width(worst, answers)
        return Needs(names, answers_needed(here, error), answers_needed(worst, error), reached, reached_worst)

    alone = {q.name: [moments(survey, {q.name: text}) for text in _different(q)] for q in survey.questions if q.choices}
    singles = [needs((name,), found) for name, found in alone.items()]
    asked = {question.name: question for question in survey.questions}
    pairs = [
        needs((one, two), _of_two(survey, asked[one], asked[two], alone[one], alone[two]))
        for one, two in combinations(alone, 2)
    ]
    return SurveyDesign(
        title=survey.title,
        error=error,
        share=share,
        answers=answers,
        given_away=tuple(_given_away(survey, question, share) for question in survey.questions),
        questions=tuple(singles),
        pairs=tuple(sorted(pairs, key=lambda pair: -pair.answers_worst)),
        epsilon=survey.scheme.privacy.epsilon if survey.scheme.parts else None,
        why_no_epsilon=why_no_sum(survey) if survey.scheme.parts else "No answer is disguised.",
    )


def belief(part: DisguisedColumns, place: int, prior: float) -> float:
    """The most that a belief in some answer can become by one report, for who knows nothing else (Bayes).

    >>> from leafcover.randomized_response import Warner
    >>> belief(DisguisedColumns({"a": ("no", "yes")}, Warner(0.75)), 0, 0.1)
    0.25
    """
    law = matrix(part.channel.on([place]))
    least, second = np.sort(law, axis=1)[:, :2].T[..., None]
    others = np.where(law == least, second, least)  # of who answers otherwise, the one who reports so least
    return float((prior * law / (prior * law + (1 - prior) * others)).max())


def as_text(found: SurveyDesign) -> str:
    """The design as plain text."""
    head = [
        found.title,
        "",
        "What one report gives away",
        side_by_side(
            ("question", "disguise", "epsilon", "odds change", f"{100 * found.share:.6g}% becomes", "costs"),
            [
                (
                    one.question,
                    one.way,
                    "none" if one.epsilon is None else upwards(one.epsilon),
                    "it is known" if one.epsilon is None else f"{times(one.epsilon)} times",
                    f"{percent_upwards(one.belief)}%",
                    f"{one.cost:.1f} x",
                )
                for one in found.given_away
            ],
        ),
        _sum(found),
        "",
        f"Answers needed to know a share to within {100 * found.error:g} points either way, 95 times out of 100",
        _needs(found, found.questions),
    ]
    if found.pairs:
        shown = found.pairs[:PAIRS_SHOWN]
        more = f" (the {len(shown)} dearest of {len(found.pairs)})" if len(found.pairs) > len(shown) else ""
        head += ["", f"The same for answers to two questions together{more}", _needs(found, shown)]
    return "\n".join(head)


def _needs(found: SurveyDesign, needs: tuple[Needs, ...]) -> str:
    reached = () if found.answers is None else (f"with {found.answers:,} answers", "at worst")
    heads = ("question", f"at a share of {100 * found.share:.6g}%", "at any share", *reached)
    rows = []
    for one in needs:
        errors = () if one.reached is None else (one.reached, one.reached_worst or 0.0)
        named = " and ".join(one.questions)
        rows.append((named, f"{one.answers:,}", f"{one.answers_worst:,}", *(f"± {100 * e:.1f} points" for e in errors)))
    return side_by_side(heads, rows)


def _sum(found: SurveyDesign) -> str:
    if found.epsilon is None:
        return found.why_no_epsilon
    said = (
        f"All disguised answers of a person together: epsilon {upwards(found.epsilon)}, so the odds between any two "
        "truths "
    )
    if found.epsilon > log(MOST_TIMES):
        return f"{said}can change by more than a million times."
    return f"{said}change by at most {times(found.epsilon)} times."


def _given_away(survey: Survey, question: Question, share: float) -> GivenAway:
    for part in survey.scheme.parts:
        if question.name in part.names:
            epsilon, seen = strength(part), belief(part, part.names.index(question.name), share)
            return GivenAway(question.name, question.way, epsilon, exp(epsilon), seen, cost(part))
    return GivenAway(question.name, question.way, None, None, 1.0, 1.0)


def _different(question: Question) -> tuple[str, ...]:
    """Choices that differ in their figures: all are alike but for a harmless question, whose yes and no differ."""
    return question.choices if question.way == "unrelated" else question.choices[:1]


def _of_two(
    survey: Survey, one: Question, two: Question, alone_one: list[WeightMoments], alone_two: list[WeightMoments]
) -> list[WeightMoments]:
    if one.coin is not None and one.coin == two.coin:
        return [moments(survey, {one.name: one.choices[0], two.name: two.choices[0]})]
    return [product([a, b]) for a in alone_one for b in alone_two]
