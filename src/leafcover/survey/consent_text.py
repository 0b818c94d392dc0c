"""What a survey does, in plain words for the people who answer it: one place for all of them, so that all agree."""

from fractions import Fraction
from math import ceil, exp, floor, log, log10

from leafcover.randomized_response import DisguisedColumns, Kary, OneCoin, UnrelatedQuestion, Warner
from leafcover.survey.schema import Question, Survey, strength

MOST_TIMES = 1_000_000  # beyond, the figure says nothing to anybody
HARDLY_A_LIMIT = 100


def about_question(survey: Survey, question: Question) -> str:
    """What the coin does with the answer to one question.

    >>> from leafcover.survey.schema import survey_from
    >>> asked = survey_from('title = "T"\\n[[questions]]\\nname = "a"\\ntext = "A?"\\nchoices = ["no", "yes"]')
    >>> print(about_question(asked, asked.questions[0]))
    In 3 of 4 cases your true answer is sent, in 1 of 4 the other one. Whoever reads it cannot tell which.
    """
    part = _part(survey, question)
    if part is None:
        chosen = " or chose it" if question.choices else ""
        return f"Sent as you typed it{chosen}: no coin disguises this answer."
    channel, cannot = part.channel, "Whoever reads it cannot tell which."
    if isinstance(channel, UnrelatedQuestion):
        no, yes = question.choices
        return (
            f"In {_cases(channel.asked)[0]} your true answer is sent. Otherwise your device draws a harmless answer, "
            f"whatever yours is: “{yes}” in {_cases(channel.alpha)[0]}, else “{no}”. {cannot}"
        )
    if isinstance(channel, OneCoin) and channel.columns > 1:
        kept, turned = _cases(channel.theta)
        return (
            f"One coin decides for {_numbered(survey, part)} together: in {kept} all these answers are sent as they "
            f"are, in {turned} each is changed to the other choice. Whoever knows one of your true answers to them "
            "knows them all."
        )
    if isinstance(channel, Kary) and channel.levels > 2:
        kept, other = _cases(channel.keep)
        return (
            f"In {kept} your true answer is sent, in {other} one of the {channel.levels - 1} others, drawn blindly. "
            f"{cannot}"
        )
    assert isinstance(channel, Warner | OneCoin | Kary)
    kept, other = _cases(channel.keep if isinstance(channel, Kary) else channel.theta)
    return f"In {kept} your true answer is sent, in {other} the other one. {cannot}"


def about_all(survey: Survey) -> tuple[str, ...]:
    """How the whole survey protects an answer and what all answers together still give away, as paragraphs."""
    if not survey.scheme.parts:
        return (
            "This survey tosses no coins. Every answer is sent as you typed it or chose it. Such answers are not "
            "protected at all, and together they may show who you are.",
        )
    plain = _has_open(survey)
    but = ", except where a question says that it is sent as you typed it" if plain else ""
    said = [
        f"Before anything is sent, your own device tosses coins that may change your answers. Your true answers never "
        f"leave your device{but}. How the coins fell is shown to nobody, not even to you.",
        f"So {'a disguised answer' if plain else 'what is sent'} is by itself no proof of what you answered. Over many "
        f"people chance evens out, and this is what {survey.holder} can work out: about how many gave each answer.",
        *_given_away(survey),
    ]
    if plain:
        said.append(
            "Answers that are sent as you typed or chose them are not protected at all, and together they may show who "
            "you are."
        )
    return tuple(said)


def threat_model(survey: Survey) -> tuple[str, ...]:
    """Against whom this protects and against whom it does not, as paragraphs."""
    day = "only the day it arrived" if survey.keep_day else "not even the day it arrived"
    unsafe, could, kept = "It does not protect you", "send your true answers", "the disguised answer"
    if not survey.scheme.parts:
        unsafe, could, kept = "Nothing protects you", "send your answers elsewhere", "your answer as you gave it,"
    elif _has_open(survey):
        kept = "the answer, disguised except where a question says that it is not,"
    return (
        _later(survey),
        f"{unsafe} from somebody who changes the script of this page before you open it: a changed script could "
        f"{could}. {_file(survey)}",
        f"{unsafe} from anybody who watches your screen or controls your device.",
        _only_once(survey),
        _who_answered(survey),
        f"What is kept is {kept} under a random number, and {day}. Your network address is not kept. As "
        "with every page, those who run the network can see that your device visited it; every message has the same "
        "length, so its length does not show what you answered.",
    )


def sent_words(survey: Survey) -> str:
    """What a person reads once the answer has arrived."""
    forgotten = "what you chose, and how the coins fell" if survey.scheme.parts else "what you answered"
    return (
        f"Thank you. Your answer has arrived. This page has forgotten {forgotten}. Please do not answer a second time. "
        "You can close this page."
    )


def why_no_sum(survey: Survey) -> str:
    """Why no single figure says what all reports give away together; empty when one does."""
    shared = [_numbered(survey, part) for part in survey.scheme.parts if _is_shared(part)]
    if not shared:
        return ""
    return (
        f"No figure limits what all reports give away together: one coin covers {' and another one '.join(shared)}, so "
        "the truth is the report or its exact opposite, and whoever knows one of these true answers knows them all."
    )


def _given_away(survey: Survey) -> list[str]:
    """The sum of epsilon in words, or why there is none."""
    shared = [part for part in survey.scheme.parts if _is_shared(part)]
    own = [strength(part) for part in survey.scheme.parts if not _is_shared(part)]
    said = [
        f"{_capital(_numbered(survey, part))} share one coin, so nothing limits what they give away together: "
        "your true answers to them are those that were sent or the exact opposite, nothing in between. Whoever "
        "knows one of your true answers to them knows them all. Whoever knows none can change the odds between "
        f"these two by at most {times(strength(part))} times."
        for part in shared
    ]
    if own:
        plain = _has_open(survey)
        which = "All other disguised answers" if shared else "All disguised answers" if plain else "All answers"
        said.append(_hint(f"{which} together", sum(own), max(own), several=len(own) > 1))
    return said


def _hint(which: str, total: float, most: float, *, several: bool) -> str:
    one = f" For a single question it is at most {times(most)} times." if several else ""
    one += f" Researchers call this an epsilon of {upwards(total)}{' for all together' if several else ''}."
    if total > log(MOST_TIMES):
        return (
            f"What is sent is still a hint. {which} could change what can be believed about you by more than a million "
            f"times: put together, they can give away nearly all.{one}"
        )
    hardly = " That is a lot: put together, they can give away much." if total > log(HARDLY_A_LIMIT) else ""
    return (
        f"What is sent is still a hint. {which} change what can be believed about you by at most {times(total)} times: "
        f"where two things about you seemed equally likely, one can now seem up to {times(total)} times as likely as "
        f"the other, and no more.{hardly}{one}"
    )


def _later(survey: Survey) -> str:
    """What somebody finds who gets hold of the answers after they were collected."""
    if not survey.scheme.parts:
        return (
            f"Nothing protects these answers later: {survey.holder} has them as you gave them, and so has a thief who "
            "breaks in, a court that demands them, or a new owner."
        )
    openly = ", and the answers that were sent openly" if _has_open(survey) else ""
    undo = "nobody can undo what the coins did" if openly else "nobody can undo that"
    return (
        f"This protects you if {survey.holder} collects answers honestly, and also later: from a thief who breaks in, "
        f"a court that demands the answers, or a new owner. They find only what the coins left{openly}, and {undo}."
    )


def _only_once(survey: Survey) -> str:
    if not survey.scheme.parts:
        return (
            "Answer only once, so that everybody counts once. To send the same answer again because the network failed "
            "is safe: it is counted once."
        )
    return (
        "Answer only once. Every new answer tosses new coins, and from several answers of one person the true ones "
        "can be seen, as chance evens out. To send the same answer again because the network failed is safe: the "
        "coins are not tossed again."
    )


def _file(survey: Survey) -> str:
    if survey.offline:
        return (
            "This survey also comes as one file with a published fingerprint (SHA-256), which somebody you trust can "
            "check before you open it."
        )
    return "If that worries you, do not answer, or ask for the survey as one file that can be checked beforehand."


def _who_answered(survey: Survey) -> str:
    unless = ", unless what you answer openly shows it" if _has_open(survey) else ""
    if survey.tokens:
        return (
            "Your link works once. Whoever gave it to you may find out that you answered, but the link is not kept "
            f"with the answer, so an honest collector cannot tell afterwards which answer is yours{unless}."
        )
    return (
        "No name and no link of your own is sent with your answer, so the answer itself does not say who sent it"
        f"{unless}."
    )


def _has_open(survey: Survey) -> bool:
    return any(question.is_open for question in survey.questions)


def _part(survey: Survey, question: Question) -> DisguisedColumns | None:
    return next((part for part in survey.scheme.parts if question.name in part.names), None)


def _is_shared(part: DisguisedColumns) -> bool:
    return len(part.names) > 1


def _numbered(survey: Survey, part: DisguisedColumns) -> str:
    """The questions of a part by their numbers, as people count them."""
    numbers = [str(number) for number, question in enumerate(survey.questions, 1) if question.name in part.names]
    return f"questions {', '.join(numbers[:-1])} and {numbers[-1]}"


def _capital(words: str) -> str:
    return words[0].upper() + words[1:]


def _cases(chance: float) -> tuple[str, str]:
    """A chance and its opposite as cases: exactly where that takes small numbers, else nearly."""
    small = Fraction(chance).limit_denominator(20)
    if 0 < small < 1 and abs(small - chance) < 1e-9:
        whole, part, about = small.denominator, small.numerator, ""
    else:
        whole = next((size for size in (100, 1000, 10_000) if 0 < round(size * chance) < size), 100_000)
        part, about = round(whole * chance), "about "
    return f"{about}{part:,} of {whole:,} cases", f"{about}{whole - part:,} of {whole:,}"


# Figures that stand behind "at most": rounded up, so that what is said is never less than what is.


MOST_DIGITS = 12  # of a chance behind the point: a double holds hardly more


def times(epsilon: float) -> str:
    """How many times odds can change, with two digits.

    >>> times(1.0986122886681098), times(1.5), times(3 * 1.5)
    ('3', '4.5', '91')
    """
    factor = exp(epsilon) * (1 - 1e-9)  # rounding errors of ln 3 must not make 3 times into 3.1
    step = 10.0 ** (floor(log10(factor)) - 1)
    return f"{round(ceil(factor / step) * step, 1):,.10g}"


def upwards(epsilon: float) -> str:
    """An epsilon with two digits, never below what it is.

    >>> upwards(1.0986122886681098), upwards(1.5), upwards(1.5001)
    ('1.10', '1.50', '1.51')
    """
    return f"{ceil(epsilon * 100 - 1e-7) / 100:.2f}"


def percent_upwards(chance: float) -> str:
    """A chance in per cent, never below what it is; the nearer to none or all, the more digits.

    >>> percent_upwards(0.25), percent_upwards(0.3324), percent_upwards(0.00401), percent_upwards(0.99961)
    ('25', '34', '0.41', '99.961')
    """
    if chance >= 1:
        return "100"
    digits = min(max(0, 1 - floor(log10(100 * min(chance, 1 - chance)))), MOST_DIGITS)
    return f"{ceil(chance * 10 ** (digits + 2) - 1e-7) / 10**digits:.{digits}f}"
