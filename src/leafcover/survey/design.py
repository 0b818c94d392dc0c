"""The design of a survey before it starts: what one answer reveals, and how many answers a precision needs.

`design` works out both; `moments` holds the variance of one answer's weight that they rest on. The sentences are in
``locales/en/survey.ftl``.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from itertools import combinations
from math import ceil, exp, log, prod, sqrt
from typing import Any

import numpy as np

from leafcover.errors import NameUnknown, PlanError, ValueOutOfRange
from leafcover.messages import catalogue
from leafcover.randomized_response.estimate import DEVIATIONS, DisguisedColumns, code_of
from leafcover.randomized_response.mechanism import inverse, matrix
from leafcover.survey.consent_text import MOST_TIMES, percent_upwards, times, upwards, why_no_sum
from leafcover.survey.questionnaire import Question, Survey, cost, strength
from leafcover.survey.results import side_by_side

FINEST = 1e-6  # a higher precision would need more people than there are
PAIRS_SHOWN = 10

say = catalogue("survey")

# The precision of a share estimated from n answers, before any answer exists.
#
# Every answer has a weight w for a conjunction E, as in ``leafcover.randomized_response.estimate``. With m the
# expectation of w² for a person who satisfies E, u the largest one for a person who does not, and s the share of E, the
# variance of one weight is at most s m + (1 - s) u - s². For one question that is exact, since all people who do not
# satisfy E have the same expectation.


@dataclass(frozen=True)
class WeightMoments:
    """The expected squared weight of people who satisfy a condition, and the largest one of those who do not.

    >>> WeightMoments(met=1.75, unmet=0.75).variance(0.5)  # Warner's mechanism with theta = 3/4
    1.0
    """

    met: float
    unmet: float

    def variance(self, share: float) -> float:
        """The variance of one weight when this share of the population satisfies the condition."""
        return share * self.met + (1 - share) * self.unmet - share**2

    @property
    def worst_share(self) -> float:
        """The share with the largest variance."""
        return min(max((self.met - self.unmet) / 2, 0.0), 1.0)

    @property
    def worst(self) -> float:
        """The largest variance over all shares."""
        return self.variance(self.worst_share)


def moments(survey: Survey, literals: Mapping[str, str]) -> WeightMoments:
    """The moments of a conjunction of answers; those of independent coins are multiplied."""
    left = {name: _code(survey, name, text) for name, text in literals.items()}
    if not left:
        raise PlanError("literals must not be empty. Name at least one question and its answer.")
    factors = [
        _of_part(part, own)
        for part in survey.scheme.parts
        if (own := {place: left.pop(name) for place, name in enumerate(part.names) if name in left})
    ]
    return product(factors + [WeightMoments(1.0, 0.0)] * len(left))  # the remaining questions are open


def product(factors: list[WeightMoments]) -> WeightMoments:
    """The moments of independent conditions together: of people who satisfy all, and the largest of all others."""
    most = [max(one.met, one.unmet) for one in factors]
    fails = [one.unmet * prod(most[:place] + most[place + 1 :]) for place, one in enumerate(factors)]
    return WeightMoments(prod(one.met for one in factors), max(fails))


def answers_needed(variance: float, half_width: float) -> int:
    """The number of answers for a 95% interval of this half width.

    >>> answers_needed(0.25, 0.05), answers_needed(1.0, 0.05)  # an open question; Warner with theta = 3/4
    (385, 1537)
    """
    if not FINEST <= half_width < 1:
        raise ValueOutOfRange("error", half_width, f"a half width from {FINEST:f} to below 1, such as 0.05")
    return max(1, ceil(variance * (DEVIATIONS / half_width) ** 2))


def half_width(variance: float, answers: int) -> float:
    """The half width of the 95% interval with this many answers."""
    if answers < 1:
        raise ValueOutOfRange("answers", answers, "at least 1")
    return DEVIATIONS * sqrt(variance / answers)


def _of_part(part: DisguisedColumns, literals: Mapping[int, int]) -> WeightMoments:
    alone = part.mechanism.on(list(literals))
    cell = int(np.ravel_multi_index(tuple(literals.values()), alone.shape))
    squares = np.square(inverse(alone)[cell]) @ matrix(alone)  # for each true cell
    return WeightMoments(float(squares[cell]), float(np.delete(squares, cell).max()))


def _code(survey: Survey, name: str, text: str) -> int:
    for question in survey.questions:
        if question.name == name:
            if question.between:
                raise PlanError(f"Question {name!r} asks for a number. Name a question with choices.")
            return code_of(question.choices, name, text)
    raise NameUnknown("question", name, [question.name for question in survey.questions])


@dataclass(frozen=True)
class Needs:
    """The answers that the share of one answer, or of two together, needs; "worst" is over all shares."""

    questions: tuple[str, ...]
    answers: int  # at the expected share
    answers_worst: int
    reached: float | None  # half width with the planned answers, at the expected share
    reached_worst: float | None


@dataclass(frozen=True)
class Disclosure:
    """What one report reveals about one answer to someone who knows no other answer of the person."""

    question: str
    mechanism: str
    epsilon: float | None  # None for an open question: the report is the answer
    odds: float | None  # e^epsilon: the factor by which the odds can change
    belief: float  # what a prior probability equal to the expected share becomes at most
    cost: float  # multiple of the answers that an open question needs


@dataclass(frozen=True)
class SurveyDesign:
    """The design of a survey in figures."""

    title: str
    error: float  # the required half width of a 95% interval
    share: float
    answers: int | None
    disclosures: tuple[Disclosure, ...]
    questions: tuple[Needs, ...]
    pairs: tuple[Needs, ...]  # the share of people who gave one answer to each of two questions
    epsilon: float | None  # of all randomised answers together
    why_no_epsilon: str

    def as_json(self) -> dict[str, Any]:
        """A dictionary for JSON."""
        return asdict(self)


def design(survey: Survey, *, error: float = 0.05, share: float = 0.1, answers: int | None = None) -> SurveyDesign:
    """What a survey reveals and how many answers it needs.

    ``error``: the required half width of a 95% interval. ``share``: the expected share of an answer. ``answers``: a
    planned number of answers, to work out the half width that they reach.
    """
    if not 0 < share < 1:
        raise ValueOutOfRange("share", share, "above 0 and below 1, such as 0.1")

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
        disclosures=tuple(_disclosure(survey, question, share) for question in survey.questions),
        questions=tuple(singles),
        pairs=tuple(sorted(pairs, key=lambda pair: -pair.answers_worst)),
        epsilon=survey.scheme.privacy.epsilon if survey.scheme.parts else None,
        why_no_epsilon=why_no_sum(survey) if survey.scheme.parts else say("design-unprotected"),
    )


def belief(part: DisguisedColumns, place: int, prior: float) -> float:
    """The largest posterior probability of an answer after one report, by Bayes' theorem.

    >>> from leafcover.randomized_response import Warner
    >>> belief(DisguisedColumns({"a": ("no", "yes")}, Warner(0.75)), 0, 0.1)
    0.25
    """
    chances = matrix(part.mechanism.on([place]))
    least, second = np.sort(chances, axis=1)[:, :2].T[..., None]
    others = np.where(chances == least, second, least)  # the other answer that leads to this report least often
    return float((prior * chances / (prior * chances + (1 - prior) * others)).max())


def as_text(found: SurveyDesign) -> str:
    """The design as plain text."""
    lines = [
        found.title,
        "",
        say("design-reveals"),
        side_by_side(
            (
                say("design-question"),
                say("design-mechanism"),
                say("design-epsilon"),
                say("design-odds"),
                say("design-belief", share=f"{100 * found.share:.6g}"),
                say("design-cost"),
            ),
            [
                (
                    one.question,
                    one.mechanism,
                    say("design-no-epsilon") if one.epsilon is None else upwards(one.epsilon),
                    say("design-disclosed") if one.epsilon is None else say("design-factor", times=times(one.epsilon)),
                    f"{percent_upwards(one.belief)}%",
                    f"{one.cost:.1f} x",
                )
                for one in found.disclosures
            ],
        ),
        _total(found),
        "",
        say("design-needed", points=f"{100 * found.error:g}"),
        _needs(found, found.questions),
    ]
    if found.pairs:
        shown, heading = found.pairs[:PAIRS_SHOWN], say("design-needed-pairs")
        if len(found.pairs) > len(shown):
            heading = say("design-needed-pairs-some", shown=len(shown), all=len(found.pairs))
        lines += ["", heading, _needs(found, shown)]
    return "\n".join(lines)


def _needs(found: SurveyDesign, needs: tuple[Needs, ...]) -> str:
    heads = [say("design-question"), say("design-expected", share=f"{100 * found.share:.6g}"), say("design-any")]
    if found.answers is not None:
        heads += [say("design-reached", answers=found.answers), say("design-reached-any")]
    rows = []
    for one in needs:
        reached = () if one.reached is None else (one.reached, one.reached_worst or 0.0)
        errors = (say("design-points", points=f"{100 * error:.1f}") for error in reached)
        named = one.questions[0] if len(one.questions) == 1 else say("design-pair", **_pair(one))
        rows.append((named, f"{one.answers:,}", f"{one.answers_worst:,}", *errors))
    return side_by_side(heads, rows)


def _pair(needs: Needs) -> dict[str, str]:
    return dict(zip(("one", "two"), needs.questions, strict=True))


def _total(found: SurveyDesign) -> str:
    if found.epsilon is None:
        return found.why_no_epsilon
    if found.epsilon > log(MOST_TIMES):
        return say("design-total-huge", epsilon=upwards(found.epsilon), times=MOST_TIMES)
    return say("design-total", epsilon=upwards(found.epsilon), times=times(found.epsilon))


def _disclosure(survey: Survey, question: Question, share: float) -> Disclosure:
    for part in survey.scheme.parts:
        if question.name in part.names:
            epsilon, seen = strength(part), belief(part, part.names.index(question.name), share)
            return Disclosure(question.name, question.mechanism_name, epsilon, exp(epsilon), seen, cost(part))
    return Disclosure(question.name, question.mechanism_name, None, None, 1.0, 1.0)


def _different(question: Question) -> tuple[str, ...]:
    """The choices with different figures: only for the unrelated question do the choices differ."""
    return question.choices if question.mechanism_name == "unrelated" else question.choices[:1]


def _of_two(
    survey: Survey, one: Question, two: Question, alone_one: list[WeightMoments], alone_two: list[WeightMoments]
) -> list[WeightMoments]:
    if one.coin is not None and one.coin == two.coin:
        return [moments(survey, {one.name: one.choices[0], two.name: two.choices[0]})]
    return [product([a, b]) for a in alone_one for b in alone_two]
