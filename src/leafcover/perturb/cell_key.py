"""Noise for counts: a perturbation table, and the cell keys by which noise is looked up in it.

The cell-key method (Fraser and Wooton 2006; Marley and Leaver 2011; Thompson, Broadfoot and Elazar 2013) perturbs each
count of a table by a whole number. A row of the *perturbation table* has the probabilities of the noise for one count;
a uniform *cell key* chooses the noise. Rows have the largest entropy for their mean and variance (Giessing 2016).

There are two kinds of cell keys. *Summed* keys, as published, add up random numbers of the people in the cell (record
keys), so cells of the same people have the same noise. That gives people away: if two cells differ by one person at
most, different counts prove that they do, in most cases. *Drawn* keys, the default, come from the secret key, the
counts of the whole table and the cell. A table of the same counts has the same noise, and a table that differs in one
person has new noise in every cell.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Literal, TypeAlias

import numpy as np

from leafcover.arrays import Floats, Rows, Words
from leafcover.errors import ValueOutOfRange
from leafcover.keyed_random import Draws
from leafcover.registry import check_fields

CellKeys: TypeAlias = Literal["drawn", "summed"]
MOST_NOISE, HIGHEST_MINIMUM = 1000, 100
MOST_CERTAIN = 2e-6  # probability with which noise at its limit may prove a count, before a warning
NARROW = 0.01  # variances this near to the smallest one that the support permits are that one


@check_fields
@dataclass(frozen=True)
class PerturbationTable:
    """The probabilities of the noise for each count.

    Parameters
    ----------
    max_noise : int, default 20
        The largest noise, in either direction; 0 for none. A zero that is perturbed may become one more.
    variance : float, default 4
        The variance of the noise. Small counts, which must not become negative, may have less: a count of 1 has 2 at
        most, a count of n at most n(n + 1).
    zeros : float, default 0.1
        The probability with which a zero is perturbed as if it were a one; 0: zeros stay zero. Each zero adds so much
        to the sum, on average.
    minimum : int, default 1
        The smallest count that is released, apart from zero.

    Examples
    --------
    >>> noise = PerturbationTable(max_noise=2, variance=1)
    >>> noise.chances[2].round(4).tolist()  # of a count of 2: noise from -3 to 3
    [0.0, 0.0638, 0.2447, 0.383, 0.2447, 0.0638, 0.0]
    """

    max_noise: int = 20
    variance: float = 4.0
    zeros: float = 0.1
    minimum: int = 1

    def __post_init__(self) -> None:
        _whole("max_noise", self.max_noise, 0, MOST_NOISE)
        _whole("minimum", self.minimum, 1, HIGHEST_MINIMUM)
        if not 0 <= self.zeros <= 1:
            raise ValueOutOfRange("zeros", self.zeros, "a probability from 0 to 1")
        most = self.max_noise * (self.max_noise + 1) / 3  # of equal probabilities
        if self.max_noise == 0:
            if self.variance != 0:
                raise ValueOutOfRange("variance", self.variance, "0 if max_noise is 0")
        elif not 0 < self.variance <= most:
            limit = f"above 0 and at most {most:g} if max_noise is {self.max_noise}"
            raise ValueOutOfRange("variance", self.variance, limit)

    @property
    def chances(self) -> Floats:
        """(counts, noise) the probabilities: row n for a count of n, the last for all larger ones.

        Columns are the noise from ``-max_noise - 1`` to ``max_noise + 1``.
        """
        return _chances(self)

    def noise(self, counts: Rows, uniform: Floats) -> Rows:
        """The noise of each count, looked up by its cell key, a number between 0 and 1."""
        ladder, width = _ladder(self), 2 * self.max_noise + 3
        row = np.minimum(counts, len(ladder) // width - 1)
        found = np.searchsorted(ladder, uniform + row, side="right") - row * width
        return np.minimum(found, width - 1) - self.max_noise - 1

    def likelihood(self, counts: Rows, released: Rows) -> Floats:
        """The probability that a count is released as another; 0 for negative counts."""
        noise = released - counts
        inside = (np.abs(noise) <= self.max_noise + 1) & (counts >= 0)
        chances = self.chances
        row = np.minimum(counts, len(chances) - 1) * inside
        return chances[row, noise * inside + self.max_noise + 1] * inside

    @property
    def certain(self) -> float:
        """The largest probability with which a released count rules out that it was one more or one less.

        >>> PerturbationTable(max_noise=2, variance=1, zeros=0).certain > 0.05
        True
        """
        counts = np.arange(len(self.chances) + 1)[:, None]
        released = np.arange(counts.max() + self.max_noise + 3)[None, :]
        own = self.likelihood(counts, released)
        proofs = [(own * (self.likelihood(counts + step, released) == 0)).sum(1) for step in (-1, 1)]
        return float(max(proofs[0][1:].max(), proofs[1].max()))

    @property
    def at_limit(self) -> float:
        """The same without zeros that stay zero: the probability that noise at its limit proves a count."""
        return self.certain if self.zeros else replace(self, zeros=0.1).certain

    def posterior(self, released: Sequence[int], most: int = 100) -> Floats:
        """(released, counts) the probability of each true count from 0 to ``most``, all equally likely before.

        >>> PerturbationTable().posterior([0, 1])[:, :3].round(3).tolist()
        [[0.506, 0.266, 0.147], [0.033, 0.326, 0.294]]
        """
        counts, seen = np.arange(most + 1)[None, :], np.asarray(released)[:, None]
        found = self.likelihood(counts, seen)
        return found / found.sum(1, keepdims=True)


def _whole(name: str, value: object, least: int, most: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise ValueOutOfRange(name, value, f"a whole number from {least} to {most:,}")


@cache
def _chances(table: PerturbationTable) -> Floats:
    """The rows of a perturbation table."""
    reach, least = table.max_noise, table.minimum
    rows = reach + (least if least > 1 else 0)
    found = np.zeros((rows + 1, 2 * reach + 3))
    middle = reach + 1
    for count in range(1, rows + 1) if reach else ():
        noise = np.arange(max(-count, -reach), reach + 1)
        noise = noise[(count + noise == 0) | (count + noise >= least)]
        found[count, noise + middle] = largest_entropy(noise, table.variance)
    found[0, middle] = 1.0
    if reach and table.zeros:  # as if it were a one, with some probability
        found[0] *= 1 - table.zeros
        found[0, 1:] += table.zeros * found[1, :-1]
    if not reach:
        found[:, middle] = 1.0
    found.setflags(write=False)
    return found


@cache
def _ladder(table: PerturbationTable) -> Floats:
    """The cumulative probabilities of all rows one after the other, so that one search finds every noise."""
    upto = np.cumsum(table.chances, axis=1)
    upto[:, -1] = 1.0
    found: Floats = (upto + np.arange(len(upto))[:, None]).ravel()
    return found


def largest_entropy(noise: Rows, variance: float) -> Floats:
    """The distribution on some whole numbers with mean 0, at most this variance, and the largest entropy.

    It is proportional to exp(a v + b v²) with b at most 0: with a larger variance the extremes would be more likely
    than what lies between. If the numbers permit only larger variances, it has the smallest of them.

    >>> largest_entropy(np.array([-1, 0, 1]), 0.5).round(6).tolist()
    [0.25, 0.5, 0.25]
    """
    from scipy.optimize import brentq

    below, above = noise[noise <= 0].max(), noise[noise >= 0].min()
    if variance <= -below * above + NARROW and below < above:  # two values, next to zero on either side
        return np.where(noise == below, above, np.where(noise == above, -below, 0)) / (above - below)

    def centred(b: float) -> Floats:
        reach = 1.0
        while _mean(noise, -reach, b) > 0 or _mean(noise, reach, b) < 0:
            reach *= 2
        return _exponential(noise, brentq(lambda a: _mean(noise, a, b), -reach, reach, xtol=1e-15), b)

    def excess(b: float) -> float:
        return float((centred(b) * noise**2).sum()) - variance

    if excess(0.0) <= 0:
        return centred(0.0)
    lowest = -1.0
    while excess(lowest) > 0:
        lowest *= 2
    return centred(brentq(excess, lowest, 0.0, xtol=1e-15))


def _exponential(noise: Rows, a: float, b: float) -> Floats:
    power = a * noise + b * noise**2
    weight = np.exp(power - power.max())
    return weight / weight.sum()


def _mean(noise: Rows, a: float, b: float) -> float:
    return float((_exponential(noise, a, b) * noise).sum())


# Cell keys.


def table_draws(draws: Draws, noise: PerturbationTable, axes: Sequence[object], counts: Rows) -> Draws:
    """The draws of a table of counts: they depend on the secret key, the noise, what the cells are, and every count.

    With other noise for the same table the draws are others, too: the difference of two noises of one cell key would
    all but tell the key.
    """
    mark = hashlib.sha256(repr((noise, *axes)).encode("utf-8", "surrogatepass"))
    mark.update(counts.astype("<i8").tobytes())
    return draws.sub("counts", mark.digest())


def uniform_of(keys: Words) -> Floats:
    """Keys as uniform numbers strictly between 0 and 1."""
    return ((keys >> np.uint64(11)).astype(np.float64) + 0.5) * 2.0**-53
