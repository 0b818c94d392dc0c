"""Numbers reported with added noise, and the reconstruction of their distribution (Agrawal and Srikant 2000).

First the noise distributions, then `Noisy` (a column with its range and noise) and `add_noise`, then the probabilities
between bins of true values and bins of reports, then the EM iteration with its stopping rules, and last `reconstruct`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from math import ceil, floor, inf, log, log2, sqrt
from typing import Literal, Protocol, TypeAlias, get_args

import numpy as np
from scipy.special import ndtr, ndtri

from leafcover.arrays import Bools, Codes, Floats
from leafcover.errors import NameUnknown, PlanError, TableError, ValueOutOfRange
from leafcover.keyed_random import Draws
from leafcover.randomized_response.mechanism import Privacy
from leafcover.table.table import Column, Table

NOTHING = 1e-5  # the probability of noise beyond ``reach`` on either side, for unbounded noise


class NoiseDistribution(Protocol):
    """A distribution symmetric about 0. Any object with these members can be used."""

    @property
    def spread(self) -> float:
        """The scale parameter."""
        ...

    @property
    def bounded(self) -> bool:
        """Whether noise never exceeds ``reach``."""
        ...

    @property
    def reach(self) -> float:
        """The largest noise, up to a probability of ``NOTHING`` on either side."""
        ...

    def density(self, noise: Floats) -> Floats:
        """The probability density."""
        ...

    def cdf(self, noise: Floats) -> Floats:
        """The cumulative distribution function."""
        ...

    def inverse(self, chance: Floats) -> Floats:
        """The quantile function."""
        ...

    def width(self, confidence: float) -> float:
        """The width of the shortest interval around a report that contains the true value with this probability."""
        ...


@dataclass(frozen=True)
class UniformNoise:
    """Uniform noise from -spread to spread.

    >>> UniformNoise(10.0).width(0.95)
    19.0
    """

    spread: float
    bounded = True

    def __post_init__(self) -> None:
        _checked(self)

    @staticmethod
    def with_width(width: float, confidence: float = 0.95) -> "UniformNoise":
        """The distribution whose interval at this confidence has this width."""
        return UniformNoise(width / (2 * _chance(confidence)))

    @property
    def reach(self) -> float:
        """The spread itself."""
        return self.spread

    def density(self, noise: Floats) -> Floats:
        """1 / (2 · spread) within the spread."""
        return np.where(np.abs(noise) <= self.spread, 0.5 / self.spread, 0.0)

    def cdf(self, noise: Floats) -> Floats:
        """Linear within the spread."""
        return np.clip(noise / (2 * self.spread) + 0.5, 0.0, 1.0)

    def inverse(self, chance: Floats) -> Floats:
        """Linear."""
        return (chance - 0.5) * (2 * self.spread)

    def width(self, confidence: float) -> float:
        """2 · spread · confidence."""
        return 2 * self.spread * _chance(confidence)


@dataclass(frozen=True)
class GaussianNoise:
    """Gaussian noise with standard deviation ``spread``.

    >>> [round(GaussianNoise(1.0).width(confidence), 2) for confidence in (0.5, 0.95, 0.999)]
    [1.35, 3.92, 6.58]
    """

    spread: float
    bounded = False

    def __post_init__(self) -> None:
        _checked(self)

    @staticmethod
    def with_width(width: float, confidence: float = 0.95) -> "GaussianNoise":
        """The distribution whose interval at this confidence has this width."""
        return GaussianNoise(width / GaussianNoise(1.0).width(confidence))

    @property
    def reach(self) -> float:
        """4.26 standard deviations."""
        return -self.spread * float(ndtri(NOTHING))

    def density(self, noise: Floats) -> Floats:
        """The Gaussian density."""
        return np.exp(-0.5 * np.square(noise / self.spread)) / (self.spread * sqrt(2 * np.pi))

    def cdf(self, noise: Floats) -> Floats:
        """The cumulative distribution function."""
        return np.asarray(ndtr(noise / self.spread))

    def inverse(self, chance: Floats) -> Floats:
        """The quantile function."""
        return np.asarray(ndtri(chance)) * self.spread

    def width(self, confidence: float) -> float:
        """Twice the two-sided quantile."""
        return 2 * self.spread * float(ndtri(0.5 + _chance(confidence) / 2))


@dataclass(frozen=True)
class LaplaceNoise:
    """Laplace noise with scale ``spread``; over a bounded range the only distribution here with an epsilon.

    >>> round(LaplaceNoise(10.0).width(0.95), 1)
    59.9
    """

    spread: float
    bounded = False

    def __post_init__(self) -> None:
        _checked(self)

    @staticmethod
    def with_width(width: float, confidence: float = 0.95) -> "LaplaceNoise":
        """The distribution whose interval at this confidence has this width."""
        return LaplaceNoise(width / LaplaceNoise(1.0).width(confidence))

    @property
    def reach(self) -> float:
        """10.8 times the spread."""
        return -self.spread * log(2 * NOTHING)

    def density(self, noise: Floats) -> Floats:
        """The Laplace density."""
        return np.exp(-np.abs(noise) / self.spread) / (2 * self.spread)

    def cdf(self, noise: Floats) -> Floats:
        """The cumulative distribution function."""
        tail = 0.5 * np.exp(-np.abs(noise) / self.spread)
        return np.where(noise < 0, tail, 1.0 - tail)

    def inverse(self, chance: Floats) -> Floats:
        """The quantile function."""
        size = -np.log(2.0 * np.minimum(chance, 1.0 - chance)) * self.spread
        return np.where(chance < 0.5, -size, size)

    def width(self, confidence: float) -> float:
        """Twice the two-sided quantile."""
        return -2 * self.spread * log(1 - _chance(confidence))


def _checked(distribution: NoiseDistribution) -> None:
    if not 0 < distribution.spread < np.inf:
        raise ValueOutOfRange(f"{type(distribution).__name__}.spread", distribution.spread, "a number above 0")


def _chance(confidence: float) -> float:
    if not 0 < confidence < 1:
        raise ValueOutOfRange("confidence", confidence, "between 0 and 1")
    return confidence


# A column of numbers that is reported with noise.


MOST_SPREAD = 10.0  # multiples of the range: with more noise nothing can be reconstructed
POINTS = 8  # per bin, over which probabilities are averaged: more change no share by 0.001
FINE = 20  # reports are rounded to 2⁻²⁰ of the spread, because the last bits of a float sum would reveal the true value

Widths: TypeAlias = (
    type[UniformNoise] | type[GaussianNoise] | type[LaplaceNoise]
)  # can be constructed from an interval width

BINS_AT_ONCE = 500  # take four seconds and 170 MB


@dataclass(frozen=True)
class Noisy:
    """A column of numbers from ``low`` to ``high``, each reported as true value + noise.

    The range is public: state the possible answers, never the observed range. ``step`` is the distance between possible
    values, such as 1 for years; 0 allows any number.
    """

    distribution: NoiseDistribution
    low: float
    high: float
    step: float = 0.0

    def __post_init__(self) -> None:
        if not -inf < self.low < self.high < inf:
            raise ValueOutOfRange("Noisy.low and Noisy.high", (self.low, self.high), "finite, with low below high")
        if not 0 <= self.step <= self.range:
            raise ValueOutOfRange("Noisy.step", self.step, f"from 0 to the range, {self.range:g}")
        if self.step and abs(self._steps - round(self._steps)) > 1e-6:
            raise ValueOutOfRange("Noisy.step", self.step, f"a divisor of the range from {self.low:g} to {self.high:g}")
        if self.distribution.spread > MOST_SPREAD * self.range:
            allowed = f"at most {MOST_SPREAD:g} times the range of {self.range:g}: more noise leaves no information"
            raise ValueOutOfRange("Noisy.distribution.spread", self.distribution.spread, allowed)

    @staticmethod
    def with_privacy(
        share: float,
        low: float,
        high: float,
        *,
        distribution: Widths = GaussianNoise,
        confidence: float = 0.95,
        step: float = 0.0,
    ) -> "Noisy":
        """Noise whose interval for the true value is as wide as a share of the range.

        >>> Noisy.with_privacy(1.0, 0.0, 95.0, distribution=UniformNoise).distribution  # 100% of the range, at 95%
        UniformNoise(spread=50.0)
        """
        if not 0 < share < inf:
            raise ValueOutOfRange("share", share, "a share of the range, above 0")
        return Noisy(distribution.with_width(share * (high - low), confidence), low, high, step)

    @property
    def range(self) -> float:
        """The difference between ``high`` and ``low``."""
        return self.high - self.low

    @property
    def _steps(self) -> float:
        return self.range / self.step

    def share_hidden(self, confidence: float = 0.95) -> float:
        """The width of the interval that contains the true value at this confidence, as a share of the range."""
        return self.distribution.width(confidence) / self.range

    def edges(self, bins: int) -> Floats:
        """The edges of at most this many bins of equal width; with steps, all but the last have equally many values.

        >>> Noisy(UniformNoise(2.0), low=0, high=4, step=1).edges(3)
        array([-0.5,  1.5,  3.5,  5.5])
        """
        if not 1 <= bins <= BINS_AT_ONCE:
            raise ValueOutOfRange(
                "bins", bins, f"a whole number from 1 to {BINS_AT_ONCE}: time and memory grow as its square"
            )
        if not self.step:
            return np.linspace(self.low, self.high, bins + 1)
        values = round(self._steps) + 1
        together = ceil(values / bins)
        starts = np.arange(ceil(values / together) + 1, dtype=np.float64)
        return self.low - self.step / 2 + self.step * together * starts

    def truths(self, edges: Floats) -> tuple[Floats, Floats]:
        """Points that represent the true values of every bin, (points, bins), and the weight of each point in its bin.

        They are the steps when a bin contains few of them, otherwise spread over the bin.
        """
        wide = edges[1] - edges[0]
        count = min(round(wide / self.step), POINTS) if self.step else POINTS
        points = edges[:-1] + wide * ((np.arange(count) + 0.5) / count)[:, None]
        inside = points < self.high + (self.step / 2 if self.step else wide)
        return points, inside / inside.sum(axis=0)

    def admitted(self, values: Floats) -> Floats:
        """True values moved into the range and onto its steps. Missing stays missing."""
        inside = np.minimum(np.maximum(values, self.low), self.high)
        return self.low + self.step * np.rint((inside - self.low) / self.step) if self.step else inside

    @property
    def privacy(self) -> Privacy:
        """What one report reveals; only Laplace noise has an epsilon."""
        often = (
            f"without other knowledge a report narrows the true value to {self.share_hidden(0.95):.0%} of the range at "
            "95%; the reconstructed shares can make that much narrower, and repeated reports average out."
        )
        if isinstance(self.distribution, LaplaceNoise):
            return Privacy(self.range / self.distribution.spread, often)
        if self.distribution.bounded:
            return Privacy(
                None,
                f"a report rules out every value more than {self.distribution.reach:g} away, and an extreme report "
                f"reveals a true value at the end of the range; {often}",
            )
        return Privacy(None, f"a report far outside the range all but reveals a true value at its end; {often}")

    def posterior(self, report: float, edges: Floats, prior: Floats) -> Floats:
        """The probability of every bin of true values after a report, from a prior, by Bayes' theorem.

        >>> flat = Noisy(UniformNoise(5.0), low=0, high=10)
        >>> flat.posterior(-4.0, flat.edges(5), np.full(5, 0.2))  # only a low value leads to such a low report
        array([1., 0., 0., 0., 0.])
        """
        if prior.shape != (len(edges) - 1,) or (prior < 0).any() or abs(prior.sum() - 1) > 1e-9:
            raise ValueOutOfRange("prior", f"{prior.size} values", f"{len(edges) - 1} probabilities that sum to 1")
        points, weights = self.truths(edges)
        believed = (self.distribution.density(report - points) * weights).sum(axis=0) * prior
        if believed.sum() == 0:
            raise ValueOutOfRange(
                "prior", "one that makes this report impossible", "one that makes the report possible"
            )
        return np.asarray(believed / believed.sum())


def add_noise(table: Table, noisy: Mapping[str, Noisy], draws: Draws, *, start: int = 0) -> Table:
    """The table with noise added to some numbers; the first row uses the noise of row ``start``.

    Values outside their range are first moved to its nearer end. Never add noise twice to one value: the mean of two
    reports reveals more than one.
    """
    rows = np.arange(start, start + len(table))
    return table.replace(
        _reported(table[name], one, draws.sub("add noise", name).uniform(rows)) for name, one in noisy.items()
    )


def _reported(column: Column, noisy: Noisy, chance: Floats) -> Column:
    if column.is_category:
        raise PlanError(
            f"Noise can be added to numbers only. Column {column.name!r} is a category. Use randomised response for it."
        )
    fine = 2.0 ** (floor(log2(noisy.distribution.spread)) - FINE)
    sums = noisy.admitted(column.values) + noisy.distribution.inverse(chance)
    # A new column: it must carry nothing over from the true column.
    return Column(column.name, "number", fine * np.rint(sums / fine))


# The probability of every bin of reports, for true values in every bin.


Method: TypeAlias = Literal["integrated", "midpoint"]


@dataclass(frozen=True, eq=False)
class TransitionMatrix:
    """The probabilities of bins of reports given bins of true values.

    Both kinds of bins have the same width. The bins of reports extend as far as the noise; the outermost two are
    unbounded.
    """

    edges: Floats  # (bins + 1,) of the true values
    report_edges: Floats  # (report bins - 1,) between the bins of reports
    chances: Floats  # (report bins, bins): every column sums to 1

    def counted(self, reports: Floats, half: Codes, weights: Floats | None = None) -> Floats:
        """The weight of reports in every bin, for each half separately: (2, report bins), without missing reports."""
        known = ~np.isnan(reports)
        size = len(self.chances)
        places = half[known] * size + np.searchsorted(self.report_edges, reports[known], side="right")
        heavy = None if weights is None else weights[known]
        return np.bincount(places, heavy, minlength=2 * size).reshape(2, size).astype(np.float64)


def transition_matrix(noisy: Noisy, edges: Floats, method: Method = "integrated") -> TransitionMatrix:
    """The matrix of a noisy column: ``integrated`` over both bins, or from the density between their midpoints.

    >>> transition_matrix(Noisy(UniformNoise(1.0), low=0, high=2, step=1), np.array([-0.5, 0.5, 1.5, 2.5])).chances
    array([[0.25, 0.  , 0.  ],
           [0.5 , 0.25, 0.  ],
           [0.25, 0.5 , 0.25],
           [0.  , 0.25, 0.5 ],
           [0.  , 0.  , 0.25]])
    """
    if method not in get_args(Method):
        raise NameUnknown("method", method, get_args(Method))
    wide = edges[1] - edges[0]
    beyond = ceil(noisy.distribution.reach / wide - 1e-9)
    every = edges[0] + wide * np.arange(-beyond, len(edges) + beyond)
    if method == "midpoint":
        chances = noisy.distribution.density((every[:-1] + wide / 2)[:, None] - (edges[1:] + edges[:-1]) / 2)
        some = np.flatnonzero(chances.any(axis=1))  # no midpoint reaches the others: their reports go to the next bin
        first, last = some[0], some[-1]
        return TransitionMatrix(edges, every[first + 1 : last + 1], chances[first : last + 1] / chances.sum(axis=0))
    inner = np.concatenate([[-np.inf], every[1:-1], [np.inf]])
    points, weights = noisy.truths(edges)
    below = (noisy.distribution.cdf(inner[:, None, None] - points) * weights).sum(axis=1)
    return TransitionMatrix(edges, every[1:-1], np.diff(below, axis=0))


def possible(noisy: Noisy, reports: Floats) -> Bools:
    """Which reports are possible for a true value in the range; missing reports always are."""
    if not noisy.distribution.bounded:
        return ~np.isinf(reports)
    slack = 1e-6 * noisy.distribution.spread  # reports are rounded
    low, high = noisy.low - noisy.distribution.reach - slack, noisy.high + noisy.distribution.reach + slack
    return np.isnan(reports) | ((reports >= low) & (reports <= high))


def check_possible(name: str, noisy: Noisy, reports: Floats) -> None:
    """Refuse reports that are impossible under the stated range and noise."""
    if strange := int((~possible(noisy, reports)).sum()):
        raise TableError(
            f"{strange} reports of {name} are impossible for {noisy.low:g} to {noisy.high:g} plus this noise. "
            "State the range and the distribution with which the noise was added."
        )


# The shares of true values that explain counted reports, by EM, and its stopping rules.
#
# Every round multiplies each share by the mean, over the reports, of their probability given this bin divided by their
# expected probability. Run to convergence, the result fits the noise of the sample, so the stopping rule matters:
#
# ``halves``  Each half of the reports is reconstructed on its own and scored by the likelihood of the other half. The
#             result is the first round whose log likelihood is within 1 of the highest.
# ``change``  The published rule: the chi-square between the shares of two rounds is below 1% of its 5% point.
# ``never``   Only the limit of rounds, for the shares of maximum likelihood.


Stop: TypeAlias = Literal["halves", "change", "never"]
MOST_ROUNDS = 2_000
SMALL_CHANGE = 0.01  # of the 5% point of chi-square
AS_LIKELY = 1.0  # of the log likelihood: not a meaningful difference
PATIENCE = 50  # the search ends when a best round r is not beaten until round 2 r + this
TINY = 1e-300


@dataclass(frozen=True, eq=False)
class EmResult:
    """The shares of true values, the number of rounds, and whether the stopping rule was met."""

    shares: Floats
    rounds: int
    settled: bool


def halves(rows: int) -> Codes:
    """The half of every row, 0 or 1, by a public coin, so that sorted rows are divided at random as well."""
    word = Draws(bytes(32)).sub("halves").words(np.arange(rows))
    return (word >> np.uint64(63)).astype(np.int32)


def em_shares(counts: Floats, chances: Floats, *, stop: Stop = "halves", most_rounds: int = MOST_ROUNDS) -> EmResult:
    """The shares of true values from reports counted in two halves, starting from equal shares.

    >>> chances = np.array([[0.75, 0.25], [0.25, 0.75]])
    >>> em_shares(np.array([[33.0, 17.0], [27.0, 23.0]]), chances, stop="never", most_rounds=200).shares.round(3)
    array([0.7, 0.3])
    """
    if stop not in get_args(Stop):
        raise NameUnknown("stopping rule", stop, get_args(Stop))
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
            return EmResult(shares, rounds, settled=True)
    return EmResult(shares, most_rounds, settled)


def rounds_by_halves(counts: Floats, chances: Floats, most_rounds: int) -> tuple[int, bool]:
    """The first round whose cross-validated likelihood is as good as any, and whether the search was completed.

    It is complete when the likelihood has fallen, or has not risen while the number of rounds doubled.
    """
    rows = counts.sum(axis=1)
    if not rows.all():
        return 0, True  # one half is empty, so nothing can be validated
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
    """One round of EM for one or several rows of shares; ``expected`` are their expected shares of reports."""
    ratio = np.divide(reported, expected, out=np.zeros_like(expected), where=expected > TINY)
    shares = shares * (ratio @ chances)
    return np.asarray(shares / shares.sum(axis=-1, keepdims=True))


def _small_change(bins: int) -> float:
    from scipy.special import chdtri

    return SMALL_CHANGE * float(chdtri(max(bins - 1, 1), 0.05))


# The reconstruction of a distribution from noisy reports.


ROWS_A_BIN = 100  # and from 10 to 100 bins, as published
FEWEST_BINS, MOST_BINS = 10, 100


@dataclass(frozen=True, eq=False)
class Reconstruction:
    """The shares of true values in bins; ``settled`` is False when the limit of rounds was reached."""

    edges: Floats  # (bins + 1,)
    shares: Floats  # (bins,) not negative; they sum to 1
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
        """The mean of the true values, from the midpoints of their bins."""
        return float(self.shares @ self.middles)


def reconstruct(
    reports: Floats,
    noisy: Noisy,
    *,
    bins: int | None = None,
    method: Method = "integrated",
    stop: Stop = "halves",
    most_rounds: int = MOST_ROUNDS,
) -> Reconstruction:
    """The shares of the true values behind some reports; NaN is missing and counted separately.

    By default there is one bin per 100 reports, at least 10 and at most 100.
    """
    known = int((~np.isnan(reports)).sum())
    if not known:
        raise TableError("There are no reports to reconstruct from. Wait for answers, or choose another column.")
    check_possible("this column", noisy, reports)
    matrix = transition_matrix(noisy, noisy.edges(bins_for(known) if bins is None else bins), method)
    found = em_shares(matrix.counted(reports, halves(len(reports))), matrix.chances, stop=stop, most_rounds=most_rounds)
    return Reconstruction(matrix.edges, found.shares, found.rounds, found.settled, known, len(reports) - known)


def bins_for(rows: int) -> int:
    """The default number of bins: one per 100 rows, at least 10 and at most 100."""
    return min(max(rows // ROWS_A_BIN, FEWEST_BINS), MOST_BINS)
