"""From noisy reports back to the shares of the truths, by the iteration of Agrawal and Srikant (2000)."""

from dataclasses import dataclass

import numpy as np

from leafcover.errors import TableError
from leafcover.fast.arrays import Floats
from leafcover.response.additive.blur import Method, blur_of, check_possible
from leafcover.response.additive.noisy import Noisy
from leafcover.response.additive.sharpen import MOST_ROUNDS, Stop, halves, sharpened

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
    blur = blur_of(noisy, noisy.edges(bins_for(known) if bins is None else bins), method)
    found = sharpened(blur.counted(reports, halves(len(reports))), blur.chances, stop=stop, most_rounds=most_rounds)
    return Reconstruction(blur.edges, found.shares, found.rounds, found.settled, known, len(reports) - known)


def bins_for(rows: int) -> int:
    """One for every 100 rows, but from 10 to 100."""
    return min(max(rows // ROWS_A_BIN, FEWEST_BINS), MOST_BINS)
