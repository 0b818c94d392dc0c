"""The distributions that noise added to a number may follow: symmetric about 0, known by density, cdf and inverse cdf."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import ceil, floor, inf, log, log2, sqrt
from typing import Literal, Protocol, TypeAlias, get_args

import numpy as np
from scipy.special import ndtr, ndtri

from leafcover.arrays import Bools, Codes, Floats
from leafcover.errors import NameUnknown, PlanError, TableError, ValueOutOfRange
from leafcover.randomized_response.mechanism import Privacy
from leafcover.rng import Draws
from leafcover.table.table import Column, Table

NOTHING = 1e-5  # of the noise lies further away than its reach, when it has no end


class NoiseDistribution(Protocol):
    """Any symmetric distribution; give an object with these to use your own."""

    @property
    def spread(self) -> float:
        """The parameter by which the distribution grows."""
        ...

    @property
    def bounded(self) -> bool:
        """Whether noise never goes further than ``reach``."""
        ...

    @property
    def reach(self) -> float:
        """How far noise goes, but for a chance of ``NOTHING`` on either side."""
        ...

    def density(self, noise: Floats) -> Floats:
        """How dense noise is at each place."""
        ...

    def cdf(self, noise: Floats) -> Floats:
        """The chance of at most so much noise."""
        ...

    def inverse(self, chance: Floats) -> Floats:
        """The noise with that chance of at most so much."""
        ...

    def width(self, confidence: float) -> float:
        """The width of the shortest interval that holds the truth with this chance, for who knows but the report."""
        ...


@dataclass(frozen=True)
class UniformNoise:
    """Any noise from -spread to spread, all alike.

    >>> UniformNoise(10.0).width(0.95)
    19.0
    """

    spread: float
    bounded = True

    def __post_init__(self) -> None:
        _checked(self)

    @staticmethod
    def with_width(width: float, confidence: float = 0.95) -> "UniformNoise":
        """The distribution whose interval of that confidence is so wide: 2 · spread · confidence."""
        return UniformNoise(width / (2 * _chance(confidence)))

    @property
    def reach(self) -> float:
        """The spread itself."""
        return self.spread

    def density(self, noise: Floats) -> Floats:
        """1 / (2 · spread) inside."""
        return np.where(np.abs(noise) <= self.spread, 0.5 / self.spread, 0.0)

    def cdf(self, noise: Floats) -> Floats:
        """A straight line inside."""
        return np.clip(noise / (2 * self.spread) + 0.5, 0.0, 1.0)

    def inverse(self, chance: Floats) -> Floats:
        """A straight line."""
        return (chance - 0.5) * (2 * self.spread)

    def width(self, confidence: float) -> float:
        """2 · spread · confidence."""
        return 2 * self.spread * _chance(confidence)


@dataclass(frozen=True)
class GaussianNoise:
    """The bell, with ``spread`` as its standard deviation.

    >>> [round(GaussianNoise(1.0).width(confidence), 2) for confidence in (0.5, 0.95, 0.999)]
    [1.35, 3.92, 6.58]
    """

    spread: float
    bounded = False

    def __post_init__(self) -> None:
        _checked(self)

    @staticmethod
    def with_width(width: float, confidence: float = 0.95) -> "GaussianNoise":
        """The distribution whose interval of that confidence is so wide."""
        return GaussianNoise(width / GaussianNoise(1.0).width(confidence))

    @property
    def reach(self) -> float:
        """4.26 deviations."""
        return -self.spread * float(ndtri(NOTHING))

    def density(self, noise: Floats) -> Floats:
        """The bell."""
        return np.exp(-0.5 * np.square(noise / self.spread)) / (self.spread * sqrt(2 * np.pi))

    def cdf(self, noise: Floats) -> Floats:
        """The chance of at most so much noise."""
        return np.asarray(ndtr(noise / self.spread))

    def inverse(self, chance: Floats) -> Floats:
        """The noise with that chance of at most so much."""
        return np.asarray(ndtri(chance)) * self.spread

    def width(self, confidence: float) -> float:
        """Twice the deviations either side."""
        return 2 * self.spread * float(ndtri(0.5 + _chance(confidence) / 2))


@dataclass(frozen=True)
class LaplaceNoise:
    """Two exponentials back to back, each of mean ``spread``; over a bounded range the one distribution here with an epsilon.

    >>> round(LaplaceNoise(10.0).width(0.95), 1)
    59.9
    """

    spread: float
    bounded = False

    def __post_init__(self) -> None:
        _checked(self)

    @staticmethod
    def with_width(width: float, confidence: float = 0.95) -> "LaplaceNoise":
        """The distribution whose interval of that confidence is so wide."""
        return LaplaceNoise(width / LaplaceNoise(1.0).width(confidence))

    @property
    def reach(self) -> float:
        """10.8 spreads."""
        return -self.spread * log(2 * NOTHING)

    def density(self, noise: Floats) -> Floats:
        """Two exponentials."""
        return np.exp(-np.abs(noise) / self.spread) / (2 * self.spread)

    def cdf(self, noise: Floats) -> Floats:
        """The chance of at most so much noise."""
        tail = 0.5 * np.exp(-np.abs(noise) / self.spread)
        return np.where(noise < 0, tail, 1.0 - tail)

    def inverse(self, chance: Floats) -> Floats:
        """The noise with that chance of at most so much."""
        size = -np.log(2.0 * np.minimum(chance, 1.0 - chance)) * self.spread
        return np.where(chance < 0.5, -size, size)

    def width(self, confidence: float) -> float:
        """Twice the place that a share of 1 - confidence is beyond."""
        return -2 * self.spread * log(1 - _chance(confidence))


def _checked(distribution: NoiseDistribution) -> None:
    if not 0 < distribution.spread < np.inf:
        raise ValueOutOfRange(f"{type(distribution).__name__}.spread", distribution.spread, "a number above 0")


def _chance(confidence: float) -> float:
    if not 0 < confidence < 1:
        raise ValueOutOfRange("A confidence", confidence, "between 0 and 1")
    return confidence


# A number that people report with noise added: its distribution, the range its truth lies in, and what a report gives away.


MOST_SPREAD = 10.0  # ranges: more noise leaves nothing to reconstruct
POINTS = 8  # of a bin, whose chances are averaged: more change no share by a thousandth
FINE = 20  # reports are rounded to 2⁻²⁰ of the spread: the last bits of a sum of floats would tell of the truth

Widths: TypeAlias = (
    type[UniformNoise] | type[GaussianNoise] | type[LaplaceNoise]
)  # distributions that can be chosen by a width

BINS_AT_ONCE = 500  # these take four seconds and 170 MB


@dataclass(frozen=True)
class Noisy:
    """A column of numbers from ``low`` to ``high``, each reported as truth + noise.

    The range is public: state what may be answered, never what was observed. ``step`` is the distance between
    possible truths, such as 1 for years; 0 allows any number.
    """

    distribution: NoiseDistribution
    low: float
    high: float
    step: float = 0.0

    def __post_init__(self) -> None:
        if not -inf < self.low < self.high < inf:
            raise ValueOutOfRange("The range of a noisy column", (self.low, self.high), "from low to a higher high")
        if not 0 <= self.step <= self.range:
            raise ValueOutOfRange("Noisy.step", self.step, f"from 0 to the range, {self.range:g}")
        if self.step and abs(self._steps - round(self._steps)) > 1e-6:
            raise ValueOutOfRange("Noisy.step", self.step, f"one that leads from {self.low:g} to {self.high:g} exactly")
        if self.distribution.spread > MOST_SPREAD * self.range:
            allowed = f"at most {MOST_SPREAD:g} times the range, {self.range:g}: more noise leaves nothing"
            raise ValueOutOfRange("The spread of the noise", self.distribution.spread, allowed)

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
        """Noise that hides the truth in an interval as wide as a share of the range.

        >>> Noisy.with_privacy(1.0, 0.0, 95.0, distribution=UniformNoise).distribution  # 100 % of the range, at 95 %
        Uniform(spread=50.0)
        """
        if not 0 < share < inf:
            raise ValueOutOfRange("A privacy", share, "a share of the range, above 0")
        return Noisy(distribution.with_width(share * (high - low), confidence), low, high, step)

    @property
    def range(self) -> float:
        """How far the highest truth is from the lowest."""
        return self.high - self.low

    @property
    def _steps(self) -> float:
        return self.range / self.step

    def share_hidden(self, confidence: float = 0.95) -> float:
        """The width of the interval that holds the truth with this chance, as a share of the range."""
        return self.distribution.width(confidence) / self.range

    def edges(self, bins: int) -> Floats:
        """The edges of at most so many bins of equal width; with steps all hold as many values, the last perhaps less.

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
        """Where the truths of every bin stand, (points, bins), and the weight of each point in its bin.

        On their steps when a bin holds few of these, else all over it.
        """
        wide = edges[1] - edges[0]
        count = min(round(wide / self.step), POINTS) if self.step else POINTS
        points = edges[:-1] + wide * ((np.arange(count) + 0.5) / count)[:, None]
        inside = points < self.high + (self.step / 2 if self.step else wide)
        return points, inside / inside.sum(axis=0)

    def admitted(self, values: Floats) -> Floats:
        """Truths as they may be: moved into the range and onto its steps. Missing stays missing."""
        inside = np.minimum(np.maximum(values, self.low), self.high)
        return self.low + self.step * np.rint((inside - self.low) / self.step) if self.step else inside

    @property
    def privacy(self) -> Privacy:
        """What one report gives away, in true words; an epsilon for Laplace noise alone."""
        often = (
            f"a report leaves an interval of {self.share_hidden(0.95):.0%} of the range at 95 % to who knows nothing "
            "else; with the reconstructed shares it can be much narrower, and reports of one truth average out."
        )
        if isinstance(self.distribution, LaplaceNoise):
            return Privacy(self.range / self.distribution.spread, often)
        if self.distribution.bounded:
            return Privacy(
                None,
                f"a report rules out every truth further away than {self.distribution.reach:g}, and one near the end of what "
                f"can be reported gives a truth at the end of the range away; {often}",
            )
        return Privacy(None, f"a report far outside the range all but gives an end of it away; {often}")

    def posterior(self, report: float, edges: Floats, prior: Floats) -> Floats:
        """The chance of every bin of truths after a report, for who believed ``prior`` before (Bayes).

        >>> flat = Noisy(UniformNoise(5.0), low=0, high=10)
        >>> flat.posterior(-4.0, flat.edges(5), np.full(5, 0.2))  # so low a report comes from a low truth alone
        array([1., 0., 0., 0., 0.])
        """
        if prior.shape != (len(edges) - 1,) or (prior < 0).any() or abs(prior.sum() - 1) > 1e-9:
            raise ValueOutOfRange("A prior", f"{prior.size} chances", f"{len(edges) - 1} chances that add up to 1")
        points, weights = self.truths(edges)
        believed = (self.distribution.density(report - points) * weights).sum(axis=0) * prior
        if believed.sum() == 0:
            raise ValueOutOfRange("A prior", "one that makes this report impossible", "one under which it can happen")
        return np.asarray(believed / believed.sum())


def add_noise(table: Table, noisy: Mapping[str, Noisy], draws: Draws, *, start: int = 0) -> Table:
    """The table with noise added to some numbers; the first row draws the noise of row ``start``.

    Truths outside their range are moved to its nearer end first. Noise must never be drawn twice for one truth:
    the mean of two reports tells more than one.
    """
    rows = np.arange(start, start + len(table))
    return table.replace(
        _reported(table[name], one, draws.sub("add noise", name).uniform(rows)) for name, one in noisy.items()
    )


def _reported(column: Column, noisy: Noisy, chance: Floats) -> Column:
    if column.is_category:
        raise PlanError(f"Column {column.name!r} is a category, and noise is added to numbers. Use a mechanism for it.")
    fine = 2.0 ** (floor(log2(noisy.distribution.spread)) - FINE)
    sums = noisy.admitted(column.values) + noisy.distribution.inverse(chance)
    # A new column: nothing that was stored of the truth may go with it.
    return Column(column.name, "number", fine * np.rint(sums / fine))


# What noise does to shares: the chance of every bin of reports, for truths of every bin.


Method: TypeAlias = Literal["integrated", "midpoint"]


@dataclass(frozen=True, eq=False)
class TransitionMatrix:
    """Bins of truths, bins of reports, and the distribution between them.

    Report bins are as wide as those of truths and reach as far as the noise; the two outermost have no end.
    """

    edges: Floats  # (bins + 1,) of the truths
    report_edges: Floats  # (report bins - 1,) between the reports' bins
    chances: Floats  # (report bins, bins): every column adds up to 1

    def counted(self, reports: Floats, half: Codes, weights: Floats | None = None) -> Floats:
        """The weight of reports in every bin, either half by itself: (2, report bins). Missing ones count nowhere."""
        known = ~np.isnan(reports)
        size = len(self.chances)
        places = half[known] * size + np.searchsorted(self.report_edges, reports[known], side="right")
        heavy = None if weights is None else weights[known]
        return np.bincount(places, heavy, minlength=2 * size).reshape(2, size).astype(np.float64)


def transition_matrix(noisy: Noisy, edges: Floats, method: Method = "integrated") -> TransitionMatrix:
    """The distribution between bins: ``integrated`` over both bins, or by the density between their midpoints.

    >>> from leafcover.randomized_response.additive_noise import Uniform
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
        some = np.flatnonzero(chances.any(axis=1))  # no midpoint reaches the others: their reports go to the next
        first, last = some[0], some[-1]
        return TransitionMatrix(edges, every[first + 1 : last + 1], chances[first : last + 1] / chances.sum(axis=0))
    inner = np.concatenate([[-np.inf], every[1:-1], [np.inf]])
    points, weights = noisy.truths(edges)
    below = (noisy.distribution.cdf(inner[:, None, None] - points) * weights).sum(axis=1)
    return TransitionMatrix(edges, every[1:-1], np.diff(below, axis=0))


def possible(noisy: Noisy, reports: Floats) -> Bools:
    """Which reports some truth of the range can have given; a missing one can always be."""
    if not noisy.distribution.bounded:
        return ~np.isinf(reports)
    slack = 1e-6 * noisy.distribution.spread  # reports are rounded
    low, high = noisy.low - noisy.distribution.reach - slack, noisy.high + noisy.distribution.reach + slack
    return np.isnan(reports) | ((reports >= low) & (reports <= high))


def check_possible(name: str, noisy: Noisy, reports: Floats) -> None:
    """Refuse reports that the distribution and the range rule out: then one of them is not what was said."""
    if strange := int((~possible(noisy, reports)).sum()):
        raise TableError(
            f"{strange} reports of {name} are further from {noisy.low:g} to {noisy.high:g} than their noise goes. "
            "State the range and the distribution as they were when the noise was added."
        )


# The shares of truths that explain counted reports, by EM, and where to stop it.
#
# Every round multiplies each share by the mean, over reports, of its distribution's chance against the expected one. Run to its
# end that fits the noise of the sample, so where it stops matters:
#
# ``halves``  each half of the reports is em_shares by itself, and the other says how likely it finds the result. The
#             first round is taken at which the logarithm of that likelihood is within 1 of its highest.
# ``change``  the published rule: when the shares of two rounds differ by a chi-square below 1 % of its 5 % point.
# ``never``   at the limit of rounds alone, for the likeliest shares.


Stop: TypeAlias = Literal["halves", "change", "never"]
MOST_ROUNDS = 2_000
SMALL_CHANGE = 0.01  # of the 5 % point of chi-square
AS_LIKELY = 1.0  # in logarithms: no difference that data could show
PATIENCE = 50  # rounds more than twice as many, without a likelier one, end the search
TINY = 1e-300


@dataclass(frozen=True, eq=False)
class EmResult:
    """Shares of truths, after how many rounds, and whether a rule stopped them."""

    shares: Floats
    rounds: int
    settled: bool


def halves(rows: int) -> Codes:
    """The half of every row, 0 or 1: by a coin that anybody may know, so that sorted rows are halved as any others."""
    word = Draws(bytes(32)).sub("halves").words(np.arange(rows))
    return (word >> np.uint64(63)).astype(np.int32)


def em_shares(counts: Floats, chances: Floats, *, stop: Stop = "halves", most_rounds: int = MOST_ROUNDS) -> EmResult:
    """The shares of truths from reports counted in two halves, from equal shares on.

    >>> chances = np.array([[0.75, 0.25], [0.25, 0.75]])
    >>> em_shares(np.array([[33.0, 17.0], [27.0, 23.0]]), chances, stop="never", most_rounds=200).shares.round(3)
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
            return EmResult(shares, rounds, settled=True)
    return EmResult(shares, most_rounds, settled)


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


# From noisy reports back to the shares of the truths, by the iteration of Agrawal and Srikant (2000).


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
    stop: Stop = "halves",
    most_rounds: int = MOST_ROUNDS,
) -> Reconstruction:
    """The shares of the truths behind some reports; nan is missing and counted apart.

    Without ``bins`` there is one for every 100 reports, but from 10 to 100 of them.
    """
    known = int((~np.isnan(reports)).sum())
    if not known:
        raise TableError("There is no report to reconstruct from. Wait for answers, or ask for another column.")
    check_possible("this column", noisy, reports)
    blur = transition_matrix(noisy, noisy.edges(bins_for(known) if bins is None else bins), method)
    found = em_shares(blur.counted(reports, halves(len(reports))), blur.chances, stop=stop, most_rounds=most_rounds)
    return Reconstruction(blur.edges, found.shares, found.rounds, found.settled, known, len(reports) - known)


def bins_for(rows: int) -> int:
    """One for every 100 rows, but from 10 to 100."""
    return min(max(rows // ROWS_A_BIN, FEWEST_BINS), MOST_BINS)
