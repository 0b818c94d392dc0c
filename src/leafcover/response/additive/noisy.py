"""A number that people report with noise added: its law, the range its truth lies in, and what a report gives away."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import ceil, floor, inf, log2
from typing import TypeAlias

import numpy as np

from leafcover.channels.privacy import Privacy
from leafcover.draws import Draws
from leafcover.errors import PlanError, ValueOutOfRange
from leafcover.fast.arrays import Floats
from leafcover.response.additive.laws import Gaussian, Laplace, Law, Uniform
from leafcover.table.table import Column, Table

MOST_SPREAD = 10.0  # ranges: more noise leaves nothing to reconstruct
POINTS = 8  # of a bin, whose chances are averaged: more change no share by a thousandth
FINE = 20  # reports are rounded to 2⁻²⁰ of the spread: the last bits of a sum of floats would tell of the truth

Widths: TypeAlias = type[Uniform] | type[Gaussian] | type[Laplace]  # laws that can be chosen by a width

BINS_AT_ONCE = 500  # these take four seconds and 170 MB


@dataclass(frozen=True)
class Noisy:
    """A column of numbers from ``low`` to ``high``, each reported as truth + noise.

    The range is public: state what may be answered, never what was observed. ``step`` is the distance between
    possible truths, such as 1 for years; 0 allows any number.
    """

    law: Law
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
        if self.law.spread > MOST_SPREAD * self.range:
            allowed = f"at most {MOST_SPREAD:g} times the range, {self.range:g}: more noise leaves nothing"
            raise ValueOutOfRange("The spread of the noise", self.law.spread, allowed)

    @staticmethod
    def with_privacy(
        share: float, low: float, high: float, *, law: Widths = Gaussian, confidence: float = 0.95, step: float = 0.0
    ) -> "Noisy":
        """Noise that hides the truth in an interval as wide as a share of the range.

        >>> Noisy.with_privacy(1.0, 0.0, 95.0, law=Uniform).law  # 100 % of the range, at 95 %
        Uniform(spread=50.0)
        """
        if not 0 < share < inf:
            raise ValueOutOfRange("A privacy", share, "a share of the range, above 0")
        return Noisy(law.with_width(share * (high - low), confidence), low, high, step)

    @property
    def range(self) -> float:
        """How far the highest truth is from the lowest."""
        return self.high - self.low

    @property
    def _steps(self) -> float:
        return self.range / self.step

    def share_hidden(self, confidence: float = 0.95) -> float:
        """The width of the interval that holds the truth with this chance, as a share of the range."""
        return self.law.width(confidence) / self.range

    def edges(self, bins: int) -> Floats:
        """The edges of at most so many bins of equal width; with steps all hold as many values, the last perhaps less.

        >>> Noisy(Uniform(2.0), low=0, high=4, step=1).edges(3)
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
        if isinstance(self.law, Laplace):
            return Privacy(self.range / self.law.spread, often)
        if self.law.bounded:
            return Privacy(
                None,
                f"a report rules out every truth further away than {self.law.reach:g}, and one near the end of what "
                f"can be reported gives a truth at the end of the range away; {often}",
            )
        return Privacy(None, f"a report far outside the range all but gives an end of it away; {often}")

    def posterior(self, report: float, edges: Floats, prior: Floats) -> Floats:
        """The chance of every bin of truths after a report, for who believed ``prior`` before (Bayes).

        >>> flat = Noisy(Uniform(5.0), low=0, high=10)
        >>> flat.posterior(-4.0, flat.edges(5), np.full(5, 0.2))  # so low a report comes from a low truth alone
        array([1., 0., 0., 0., 0.])
        """
        if prior.shape != (len(edges) - 1,) or (prior < 0).any() or abs(prior.sum() - 1) > 1e-9:
            raise ValueOutOfRange("A prior", f"{prior.size} chances", f"{len(edges) - 1} chances that add up to 1")
        points, weights = self.truths(edges)
        believed = (self.law.density(report - points) * weights).sum(axis=0) * prior
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
        raise PlanError(f"Column {column.name!r} is a category, and noise is added to numbers. Use a channel for it.")
    fine = 2.0 ** (floor(log2(noisy.law.spread)) - FINE)
    sums = noisy.admitted(column.values) + noisy.law.inverse(chance)
    # A new column: nothing that was stored of the truth may go with it.
    return Column(column.name, "number", fine * np.rint(sums / fine))
