"""How surprising an association is, given the noise of the disguise.

The counts of a node and its margins give Pearson's X² = Σ d² / (n p q). Without a disguise it has the expectation
(levels - 1)(classes - 1) when column and class have nothing to do with each other; the weights of a disguise make it
larger, by a factor that the squared weights tell. X² divided by that factor is compared with the chi-squared law, as
Rao and Scott (1981) do for samples with weights. For two levels and two classes that is exact but for the normal law.
"""

from math import log

import numpy as np

from leafcover.fast.arrays import Floats
from leafcover.response.tree.tally import Tally


def chance_of_noise(tally: Tally, branches: Floats) -> tuple[Floats, Floats]:
    """For each node the chance of an association at least this strong by noise alone, and the gain of noise in bits.

    ``branches`` are the clipped counts (nodes, levels, classes), whose margins are the expected shares. The chance is 1
    where nothing is to be told. X² is 2 n ln 2 times the gain, but for higher orders, and so is their expectation.
    """
    from scipy.special import gammaincc

    whole = branches.sum(axis=(1, 2))
    whole = np.where(whole > 0, whole, 1.0)
    shares, classes = branches.sum(axis=2) / whole[:, None], branches.sum(axis=1) / whole[:, None]
    freedom = ((shares > 0).sum(axis=1) - 1) * ((classes > 0).sum(axis=1) - 1)
    strength, noise = _strength(tally.counts, shares, classes), tally.noise(shares, classes)
    told = (freedom > 0) & (noise > 0)
    scaled = np.divide(strength * freedom, noise, out=np.zeros_like(noise), where=told)
    chance = np.ones(len(noise))
    chance[told] = gammaincc(freedom[told] / 2, scaled[told] / 2)
    return chance, noise / (2 * log(2) * whole**2)


def _strength(counts: Floats, shares: Floats, classes: Floats) -> Floats:
    """Σ d² / (p q), where d is a count less what its margins let expect."""
    rows, columns, whole = counts.sum(axis=2), counts.sum(axis=1), counts.sum(axis=(1, 2))
    apart = (
        counts
        - rows[:, :, None] * classes[:, None, :]
        - shares[:, :, None] * columns[:, None, :]
        + shares[:, :, None] * classes[:, None, :] * whole[:, None, None]
    )
    expected = shares[:, :, None] * classes[:, None, :]
    return np.divide(apart**2, expected, out=np.zeros_like(apart), where=expected > 0).sum(axis=(1, 2))
