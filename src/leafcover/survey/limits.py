"""Which laws a survey may use: neither one that gives the answer away nor one that says nothing."""

from math import exp

from leafcover.channels import Kary, OneCoin, Unrelated, Warner
from leafcover.channels.privacy import log_ratio
from leafcover.errors import PlanError
from leafcover.response import Part

MOST_ANSWERS = 100.0  # as many times the answers of an open question, and no more


def checked_law(part: Part, *, most: float) -> None:
    """Refuse a coin near 0 or 1, which hides almost nothing, and one near 1/2, which says almost nothing."""
    names = ", ".join(map(repr, part.names))
    epsilon = strength(part)
    if epsilon > most:
        raise PlanError(
            f"A report on {names} would change the odds by {exp(min(epsilon, 50)):.3g} times (epsilon {epsilon:.3g}), "
            f"more than max_epsilon = {most:g} allows. Choose a chance nearer to a fair draw."
        )
    if (times := cost(part)) > MOST_ANSWERS:
        raise PlanError(
            f"A report on {names} says almost nothing: it would need {times:,.0f} times the answers of an open "
            f"question (at most {MOST_ANSWERS:g}). Choose a chance further from a fair draw."
        )


def strength(part: Part) -> float:
    """The epsilon of one answer of a part; for a shared coin that of each answer alone, to who knows no other."""
    channel = part.channel
    if isinstance(channel, OneCoin):
        return log_ratio(channel.theta, 1 - channel.theta)
    epsilon = channel.privacy.epsilon
    return float("inf") if epsilon is None else epsilon


def cost(part: Part) -> float:
    """How many times the answers of an open question one needs for the same error, for a share of one half."""
    channel, half = part.channel, 0.5
    if isinstance(channel, OneCoin):
        extra = channel.variance(half, half, rows=1)
    elif isinstance(channel, Warner):
        extra = channel.variance(rows=1)
    elif isinstance(channel, Kary | Unrelated):
        extra = channel.variance(half, rows=1)
    else:
        raise TypeError(type(channel).__name__)
    return 1 + extra / (half * (1 - half))
