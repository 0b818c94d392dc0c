"""The three properties paper 004 asks of perturbed data: means kept, variances not larger, trees alike."""

from dataclasses import dataclass

from leafcover.measuring.pair import Pair
from leafcover.measuring.utility.units import deviation, known, mean, unit

KEPT = 1e-6  # of a deviation: a mean that moved by less is kept; sums of a million values round


@dataclass(frozen=True)
class Properties:
    """How many numbers keep each property; whether trees are alike stands with the trees."""

    numbers: int
    means_kept: int
    variances_not_larger: int
    mean_moved_most: float  # in deviations of the original
    variance_grown_most: float  # the largest of s'²/s² - 1; below 0 when every variance shrank

    @property
    def kept(self) -> bool:
        """Whether all numbers keep both."""
        return self.means_kept == self.variances_not_larger == self.numbers


def properties(pair: Pair) -> Properties:
    """Compare the mean and the variance of every number that varies."""
    moved, grown = [], []
    for name in pair.numbers:
        before, after = known(pair.original[name].values), known(pair.released[name].values)
        if not len(before) or not len(after) or before.min() == before.max():
            continue
        step = unit(before, after)
        moved.append(abs(mean(after) / step - mean(before) / step))
        grown.append((deviation(after) / step) ** 2 - 1)
    return Properties(
        len(moved),
        sum(one <= KEPT for one in moved),
        sum(one <= KEPT for one in grown),
        max(moved, default=0.0),
        max(grown, default=0.0),
    )
