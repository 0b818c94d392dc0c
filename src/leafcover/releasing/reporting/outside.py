"""Whether readers outside the house may have the release: every attack that was run has a say."""

from collections.abc import Iterator
from dataclasses import dataclass

from leafcover.measuring.figures import Estimate
from leafcover.measuring.measures import Risks
from leafcover.releasing.reporting.subject import Subject, Told, above_of
from leafcover.releasing.reporting.verdict import Fit, Verdict, judged
from leafcover.releasing.reporting.voice import Voice, beside

LOW, HIGH = 0.05, 0.2  # upper ends of risks: up to the first they are called low, above the second high
WHOM = "Readers outside the house"
MEANT = (
    f"Fit means that the upper ends of both intervals, of linkage and of inference, are at most {100 * LOW:.0f}%, and "
    f"that no other attack works better on people in the release than on others by more than {100 * LOW:.0f} points, "
    "even at the lower end of its interval. Whether that is enough is the steward’s to decide."
)


@dataclass(frozen=True)
class _Finding:
    """What one attack says."""

    fit: Fit
    words: str


def outside(subject: Subject) -> Verdict:
    """Whether the measured risks are low; whether low is enough, the steward decides.

    Where nobody could count how often people are found, other attacks can still forbid it, but not allow it.
    """
    if subject.measures is None:
        return Verdict("not known", WHOM, f"How often a person can be found in it {subject.untold}.")
    found = [*_inferred(subject), *_others(subject, subject.measures.risks)]
    linked = _linked(subject)
    fits = [one.fit for one in (*found, *linked)]
    fit: Fit = "no" if "no" in fits else "with care" if "with care" in fits else "yes"
    if fit != "no" and not linked:
        fit = "not known"
    unlinked = "How often a person can be found was not measured: it is not known which released row is whose."
    said = [one.words for one in linked or [_Finding("not known", unlinked)]] + [one.words for one in found]
    return Verdict(fit, WHOM, " ".join([*said, MEANT]))


def _linked(subject: Subject) -> list[_Finding]:
    risk, voice = subject.risk, subject.voice
    if risk is None:
        return []
    high = voice.ends(risk, risk.tries)[1]
    words = f"An informed attacker finds a person in {voice.said(risk)} of tries.{_too_high(high, voice)}"
    return [_Finding(judged(high, LOW, HIGH), words)]


def _inferred(subject: Subject) -> Iterator[_Finding]:
    """What is told above control of the columns that matter: the one whose upper end is highest."""
    voice = subject.voice
    matter = subject.pair.confidential or ((subject.pair.target,) if subject.pair.target else ())
    told = [one for one in subject.told if one.column in matter] or subject.told
    if not told:
        yield _Finding("with care", "Without a control nobody can say what it tells of a person beyond patterns.")
        return
    told = [one for one in told if not voice.hides(one.above.runs)]
    if not told:
        yield _Finding("with care", "Too few people were tried to say what it tells of a person beyond patterns.")
        return

    def upper(one: Told) -> float:
        return voice.outer(one.above, one.above.runs)[1]

    worst = max(told, key=upper)
    yield _Finding(
        judged(upper(worst), LOW, HIGH),
        f"By {worst.by} {worst.column} is told of people in the release more often than of others by "
        f"{voice.by(worst.above, worst.above.runs)}.{_too_high(upper(worst), voice)}",
    )


def _too_high(high: float, voice: Voice) -> str:
    """The reason, where an upper end is too high, with digits enough to see that it is."""
    limit = HIGH if judged(high, LOW, HIGH) == "no" else LOW
    if judged(high, LOW, HIGH) == "yes":
        return ""
    return f" The upper end, {_digits(100 * high, 100 * limit, voice)}%, is above {100 * limit:.0f}%."


def _digits(value: float, limit: float, voice: Voice) -> str:
    return beside(value, limit, 0 if voice.strict else 1)


def _others(subject: Subject, risks: Risks) -> Iterator[_Finding]:
    """Other attacks that certainly learn more of people in the release than of others.

    Singling out tries descriptions, not people, so that it alone never says no.
    """
    voice = subject.voice
    for name, above, of_people in _above_control(risks):
        if voice.hides(above.runs):
            continue
        low = voice.outer(above, above.runs)[0]
        fit: Fit = judged(low, LOW, HIGH if of_people else 1.0)
        if fit != "yes":
            limit = 100 * (HIGH if fit == "no" else LOW)
            yield _Finding(
                fit,
                f"{name} works better on people in the release than on others by {voice.by(above, above.runs)}: "
                f"the lower end, {_digits(100 * low, limit, voice)}, is above {limit:.0f}.",
            )


def _above_control(risks: Risks) -> Iterator[tuple[str, Estimate, bool]]:
    alone = [above_of(attack) for attack in (risks.singling_out.univariate, risks.singling_out.multivariate)]
    out = max((above for above in alone if above is not None), key=lambda above: above.value, default=None)
    member = None if risks.membership is None else above_of(risks.membership.attack)
    sets = above_of(risks.column_sets.attack)
    for name, above, of_people in (
        ("Telling members", member, True),
        ("Joining two parties’ columns", sets, True),
        ("Singling out", out, False),
    ):
        if above is not None:
            yield name, above, of_people
