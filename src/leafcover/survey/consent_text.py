"""What respondents read: how each answer is sent, what all answers reveal, and what the survey protects from.

The sentences are in ``locales/en/survey.ftl``; this module chooses them and works out their figures. Every figure that
follows "at most" is rounded up.
"""

from fractions import Fraction
from math import ceil, exp, floor, log, log10
from typing import Any

from leafcover.messages import catalogue
from leafcover.randomized_response import DisguisedColumns, Kary, OneCoin, UnrelatedQuestion, Warner
from leafcover.survey.questionnaire import Question, Survey, strength

MOST_TIMES = 1_000_000  # a larger factor would mean nothing to a reader
HARDLY_A_LIMIT = 100
MOST_DIGITS = 12  # decimals of a probability: a double holds hardly more

say = catalogue("survey")


def about_question(survey: Survey, question: Question) -> str:
    """How the answer to one question is sent.

    >>> from leafcover.survey.questionnaire import survey_from
    >>> asked = survey_from('title = "T"\\n[[questions]]\\nname = "a"\\ntext = "A?"\\nchoices = ["no", "yes"]')
    >>> about_question(asked, asked.questions[0]).split(",")[0]
    'Your true answer is sent in 3 of 4 cases'
    """
    part = _part(survey, question)
    if part is None:
        return say("question-unchanged", answer="choice" if question.choices else "number")
    mechanism, uncertain = part.mechanism, say("question-uncertain")
    if isinstance(mechanism, UnrelatedQuestion):
        no, yes = question.choices
        sent = say("question-unrelated", **_cases(mechanism.asked))
        return f"{sent} {say('question-unrelated-otherwise', no=no, yes=yes, **_cases(mechanism.alpha))} {uncertain}"
    if isinstance(mechanism, OneCoin) and mechanism.columns > 1:
        sent = say("question-shared-coin", **_numbers(survey, part), **_cases(mechanism.theta))
        return f"{sent} {say('question-shared-coin-risk')}"
    if isinstance(mechanism, Kary) and mechanism.levels > 2:
        sent = say("question-several-choices", others=mechanism.levels - 1, **_cases(mechanism.keep))
        return f"{sent} {uncertain}"
    assert isinstance(mechanism, Warner | OneCoin | Kary)
    kept = mechanism.keep if isinstance(mechanism, Kary) else mechanism.theta
    return f"{say('question-two-choices', **_cases(kept))} {uncertain}"


def about_all(survey: Survey) -> tuple[str, ...]:
    """How the whole survey protects an answer and what all answers together still reveal, as paragraphs."""
    if not survey.scheme.parts:
        return (f"{say('overview-unchanged')} {say('overview-unprotected')}",)
    unchanged = _has_unchanged(survey)
    shared = _yes(any(map(_is_shared, survey.scheme.parts)))
    device, uncertain = say("overview-device", unchanged=unchanged), say("overview-uncertain", shared=shared)
    paragraphs = [
        f"{device} {uncertain} {say('overview-draw')}",
        f"{say('overview-no-proof', unchanged=unchanged)} {say('overview-estimates', owner=survey.owner)}",
        *_revealed(survey),
    ]
    if unchanged == "yes":
        paragraphs.append(say("overview-unprotected"))
    return tuple(paragraphs)


def threat_model(survey: Survey) -> tuple[str, ...]:
    """What the survey protects from and what it does not protect from, as paragraphs; the two main ones come first."""
    coins, unchanged, owner = bool(survey.scheme.parts), _has_unchanged(survey), survey.owner
    later = say("threat-later", unchanged=unchanged, owner=owner)
    script, device, once = say("threat-script"), say("threat-device"), say("threat-once")
    if not coins:
        later = say("threat-later-unprotected", owner=owner)
        script, device = say("threat-script-unprotected"), say("threat-device-unprotected")
        once = say("threat-once-unprotected")
    link = say("threat-link", unchanged=unchanged) if survey.tokens else say("threat-no-link", unchanged=unchanged)
    stored = say("threat-stored", kind="unchanged" if not coins else "mixed" if unchanged == "yes" else "randomised")
    return (
        later,
        f"{script} {say('threat-file') if survey.offline else say('threat-no-file')}",
        device,
        once,
        link,
        f"{stored} {say('threat-day', kept=_yes(survey.keep_day))} {say('threat-network')}",
    )


def sent_words(survey: Survey) -> str:
    """What a respondent reads once the answer has arrived."""
    return say("sending-done") if survey.scheme.parts else say("sending-done-unchanged")


def before_send(survey: Survey) -> str:
    """What a respondent reads above the button that sends the answer."""
    return say("sending-before") if survey.scheme.parts else say("sending-before-unchanged")


def why_no_sum(survey: Survey) -> str:
    """Why no single figure limits what all answers reveal together; empty when one does."""
    shared = [part for part in survey.scheme.parts if _is_shared(part)]
    return " ".join(say("design-no-total", **_numbers(survey, part)) for part in shared)


def _revealed(survey: Survey) -> list[str]:
    """The sum of epsilon in words, or why there is no such sum."""
    shared = [part for part in survey.scheme.parts if _is_shared(part)]
    own = [strength(part) for part in survey.scheme.parts if not _is_shared(part)]
    paragraphs = [say("overview-shared-coin", times=times(strength(part)), **_numbers(survey, part)) for part in shared]
    if own:
        which = "other" if shared else "randomised" if _has_unchanged(survey) == "yes" else "all"
        paragraphs.append(" ".join(_limit(which, sum(own), max(own), several=len(own) > 1)))
    return paragraphs


def _limit(which: str, total: float, most: float, *, several: bool) -> list[str]:
    sentences = [say("overview-hint")]
    if total > log(MOST_TIMES):
        sentences.append(say("overview-hardly-limited", which=which, times=MOST_TIMES))
    else:
        sentences.append(say("overview-limit", which=which, times=times(total)))
        sentences.append(say("overview-limit-meaning", times=times(total)))
        if total > log(HARDLY_A_LIMIT):
            sentences.append(say("overview-limit-weak"))
    if several:
        sentences.append(say("overview-limit-single", times=times(most)))
    sentences.append(say("overview-epsilon", epsilon=upwards(total), several=_yes(several)))
    return sentences


def _yes(condition: bool) -> str:
    """A condition as the text by which a message selects its variant."""
    return "yes" if condition else "no"


def _has_unchanged(survey: Survey) -> str:
    return _yes(any(question.is_open for question in survey.questions))


def _part(survey: Survey, question: Question) -> DisguisedColumns | None:
    return next((part for part in survey.scheme.parts if question.name in part.names), None)


def _is_shared(part: DisguisedColumns) -> bool:
    return len(part.names) > 1


def _numbers(survey: Survey, part: DisguisedColumns) -> dict[str, str]:
    """The numbers of the questions of a part: all but the last, and the last."""
    numbers = [str(number) for number, question in enumerate(survey.questions, 1) if question.name in part.names]
    return {"first": ", ".join(numbers[:-1]), "last": numbers[-1]}


def _cases(chance: float) -> dict[str, Any]:
    """A probability and its complement as numbers of cases: exact where small numbers allow it, else rounded."""
    small = Fraction(chance).limit_denominator(20)
    if 0 < small < 1 and abs(small - chance) < 1e-9:
        cases, kept, rounded = small.denominator, small.numerator, False
    else:
        cases = next((size for size in (100, 1000, 10_000) if 0 < round(size * chance) < size), 100_000)
        kept, rounded = round(cases * chance), True
    return {"kept": kept, "changed": cases - kept, "cases": cases, "rounded": _yes(rounded)}


def times(epsilon: float) -> str:
    """The factor by which odds can change, rounded up to two digits.

    >>> times(1.0986122886681098), times(1.5), times(3 * 1.5)
    ('3', '4.5', '91')
    """
    factor = exp(epsilon) * (1 - 1e-9)  # a rounding error of ln 3 must not turn 3 into 3.1
    step = 10.0 ** (floor(log10(factor)) - 1)
    return f"{round(ceil(factor / step) * step, 1):,.10g}"


def upwards(epsilon: float) -> str:
    """An epsilon rounded up to two decimals.

    >>> upwards(1.0986122886681098), upwards(1.5), upwards(1.5001)
    ('1.10', '1.50', '1.51')
    """
    return f"{ceil(epsilon * 100 - 1e-7) / 100:.2f}"


def percent_upwards(chance: float) -> str:
    """A probability in per cent, rounded up; the nearer to 0 or 100, the more decimals.

    >>> percent_upwards(0.25), percent_upwards(0.3324), percent_upwards(0.00401), percent_upwards(0.99961)
    ('25', '34', '0.41', '99.961')
    """
    if chance >= 1:
        return "100"
    digits = min(max(0, 1 - floor(log10(100 * min(chance, 1 - chance)))), MOST_DIGITS)
    return f"{ceil(chance * 10 ** (digits + 2) - 1e-7) / 10**digits:.{digits}f}"
