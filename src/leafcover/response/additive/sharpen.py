"""The shares of truths that explain counted reports, by EM, and where to stop it.

Every round multiplies each share by the mean, over reports, of its law's chance against the expected one. Run to its
end that fits the noise of the sample, so where it stops matters:

``halves``  each half of the reports is sharpened by itself, and the other says how likely it finds the result. The
            first round is taken at which the logarithm of that likelihood is within 1 of its highest.
``change``  the published rule: when the shares of two rounds differ by a chi-square below 1 % of its 5 % point.
``never``   at the limit of rounds alone, for the likeliest shares.
"""

from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

import numpy as np

from leafcover.draws import Draws
from leafcover.errors import NameUnknown, ValueOutOfRange
from leafcover.fast.arrays import Codes, Floats

Stop: TypeAlias = Literal["halves", "change", "never"]
MOST_ROUNDS = 2_000
SMALL_CHANGE = 0.01  # of the 5 % point of chi-square
AS_LIKELY = 1.0  # in logarithms: no difference that data could show
PATIENCE = 50  # rounds more than twice as many, without a likelier one, end the search
TINY = 1e-300


@dataclass(frozen=True, eq=False)
class Sharpened:
    """Shares of truths, after how many rounds, and whether a rule stopped them."""

    shares: Floats
    rounds: int
    settled: bool


def halves(rows: int) -> Codes:
    """The half of every row, 0 or 1: by a coin that anybody may know, so that sorted rows are halved as any others."""
    word = Draws(bytes(32)).sub("halves").words(np.arange(rows))
    return (word >> np.uint64(63)).astype(np.int32)


def sharpened(counts: Floats, chances: Floats, *, stop: Stop = "halves", most_rounds: int = MOST_ROUNDS) -> Sharpened:
    """The shares of truths from reports counted in two halves, from equal shares on.

    >>> chances = np.array([[0.75, 0.25], [0.25, 0.75]])
    >>> sharpened(np.array([[33.0, 17.0], [27.0, 23.0]]), chances, stop="never", most_rounds=200).shares.round(3)
    array([0.7, 0.3])
    """
    if stop not in get_args(Stop):
        raise NameUnknown("rule to stop", stop, get_args(Stop))
    if most_rounds < 1:
        raise ValueOutOfRange("most_rounds", most_rounds, "a whole number of at least 1")
    settled = False
    if stop == "halves":
        most_rounds, settled = rounds_by_halves(counts, chances, most_rounds)
    rows, bins = float(counts.sum()), chances.shape[1]
    reported = counts.sum(axis=0) / rows
    small = _small_change(bins) / rows if stop == "change" else 0.0
    shares = np.full(bins, 1.0 / bins)
    for rounds in range(1, most_rounds + 1):
        before, shares = shares, _round(shares, shares @ chances.T, reported, chances)
        if small and (np.square(shares - before) / np.maximum(before, TINY)).sum() < small:
            return Sharpened(shares, rounds, settled=True)
    return Sharpened(shares, most_rounds, settled)


def rounds_by_halves(counts: Floats, chances: Floats, most_rounds: int) -> tuple[int, bool]:
    """The first round at which each half finds the other's shares as likely as at any, and whether that is sure.

    It is when the likelihood has fallen, or did not rise while the rounds doubled.
    """
    rows = counts.sum(axis=1)
    if not rows.all():
        return 0, True  # one report says nothing of another
    reported = counts / rows[:, None]
    shares = np.full((2, chances.shape[1]), 1.0 / chances.shape[1])
    likely: list[float] = []
    first, best = 0, -np.inf
    for rounds in range(most_rounds + 1):
        expected = shares @ chances.T
        likely.append(float((counts[::-1] * np.log(np.maximum(expected, TINY))).sum()))
        best = max(best, likely[-1])
        while likely[first] < best - AS_LIKELY:
            first += 1
        if likely[-1] < best - AS_LIKELY or rounds > 2 * first + PATIENCE:
            return first, True
        shares = _round(shares, expected, reported, chances)
    return first, False


def _round(shares: Floats, expected: Floats, reported: Floats, chances: Floats) -> Floats:
    """One round for shares, or for several rows of them at once; ``expected`` are the reports they would give."""
    ratio = np.divide(reported, expected, out=np.zeros_like(expected), where=expected > TINY)
    shares = shares * (ratio @ chances)
    return np.asarray(shares / shares.sum(axis=-1, keepdims=True))


def _small_change(bins: int) -> float:
    from scipy.special import chdtri

    return SMALL_CHANGE * float(chdtri(max(bins - 1, 1), 0.05))
