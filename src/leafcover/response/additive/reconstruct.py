"""From noisy reports back to the shares of the truths, by the iteration of Agrawal and Srikant (2000), an EM.

Every round multiplies each share by the mean, over reports, of its law's chance against the expected one. Run to its
end that fits the noise of the sample, so where it stops matters: see ``Stop``.
"""

from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

import numpy as np

from leafcover.errors import NameUnknown, TableError, ValueOutOfRange
from leafcover.fast.arrays import Floats
from leafcover.response.additive.blur import Blur, Method, blur_of, check_possible
from leafcover.response.additive.noisy import Noisy

Stop: TypeAlias = Literal["fit", "change", "never"]
"""``change``: the published rule, when the shares of two rounds differ by a chi-square below 1 % of its 5 % point.
``fit``: when that holds and the reports expected from the shares also fit those observed, by Kolmogorov's distance.
``never``: the limit of rounds alone, for the likeliest shares."""

MOST_ROUNDS = 2_000
SMALL_CHANGE = 0.01  # of the 5 % point of chi-square
FARTHEST = 1.02  # over the root of the rows: Kolmogorov's distance at a chance of one in four
ROWS_A_BIN = 100  # and from 10 to 100 bins, as published
FEWEST_BINS, MOST_BINS = 10, 100


@dataclass(frozen=True, eq=False)
class Reconstruction:
    """Shares of the truths in bins; ``settled`` is False when the limit of rounds ended it."""

    edges: Floats  # (bins + 1,)
    shares: Floats  # (bins,) none negative; they add up to 1
    rounds: int
    settled: bool
    rows: int
    missing: int

    @property
    def counts(self) -> Floats:
        """Expected numbers of rows."""
        return self.shares * self.rows

    @property
    def middles(self) -> Floats:
        """The midpoints of the bins."""
        return np.asarray((self.edges[1:] + self.edges[:-1]) / 2)

    @property
    def mean(self) -> float:
        """The mean of the truths, by the midpoints of their bins."""
        return float(self.shares @ self.middles)


def reconstruct(
    reports: Floats,
    noisy: Noisy,
    *,
    bins: int | None = None,
    method: Method = "integrated",
    stop: Stop = "fit",
    most_rounds: int = MOST_ROUNDS,
) -> Reconstruction:
    """The shares of the truths behind some reports; nan is missing and counted apart.

    Without ``bins`` there is one for every 100 reports, but from 10 to 100 of them.
    """
    known = int((~np.isnan(reports)).sum())
    if not known:
        raise TableError("There is no report to reconstruct from. Wait for answers, or ask for another column.")
    check_possible("this column", noisy, reports)
    blur = blur_of(noisy, noisy.edges(bins_for(known) if bins is None else bins), method)
    found = sharpened(blur.counted(reports), blur, stop=stop, most_rounds=most_rounds)
    return Reconstruction(blur.edges, found.shares, found.rounds, found.settled, known, len(reports) - known)


def bins_for(rows: int) -> int:
    """One for every 100 rows, but from 10 to 100."""
    return min(max(rows // ROWS_A_BIN, FEWEST_BINS), MOST_BINS)


@dataclass(frozen=True, eq=False)
class Sharpened:
    """Shares of truths, after how many rounds, and whether a rule stopped them."""

    shares: Floats
    rounds: int
    settled: bool


def sharpened(counts: Floats, blur: Blur, *, stop: Stop = "fit", most_rounds: int = MOST_ROUNDS) -> Sharpened:
    """The shares of truths from counted reports, from equal shares on.

    >>> from leafcover.response.additive.laws import Uniform
    >>> two = Blur(np.array([0.0, 1, 2]), np.array([1.0]), np.array([[0.75, 0.25], [0.25, 0.75]]))
    >>> sharpened(np.array([60.0, 40.0]), two, stop="never", most_rounds=200).shares.round(3)
    array([0.7, 0.3])
    """
    if stop not in get_args(Stop):
        raise NameUnknown("rule to stop", stop, get_args(Stop))
    if most_rounds < 1:
        raise ValueOutOfRange("most_rounds", most_rounds, "a whole number of at least 1")
    rows, bins = float(counts.sum()), blur.chances.shape[1]
    reported = counts / rows
    small = _small_change(bins) / rows
    far = FARTHEST / np.sqrt(rows)
    shares = np.full(bins, 1.0 / bins)
    expected = blur.chances @ shares
    for rounds in range(1, most_rounds + 1):
        ratio = np.divide(reported, expected, out=np.zeros_like(reported), where=expected > 0)
        before, shares = shares, shares * (ratio @ blur.chances)
        shares /= shares.sum()
        expected = blur.chances @ shares
        if stop == "never":
            continue
        change = np.square(shares - before) / np.where(before > 0, before, 1.0)
        if change.sum() < small and (stop == "change" or np.abs(np.cumsum(reported - expected)).max() <= far):
            return Sharpened(shares, rounds, settled=True)
    return Sharpened(shares, most_rounds, settled=False)


def _small_change(bins: int) -> float:
    from scipy.special import chdtri

    return SMALL_CHANGE * float(chdtri(max(bins - 1, 1), 0.05))
