"""What noise does to shares: the chance of every bin of reports, for truths of every bin."""

from dataclasses import dataclass
from math import ceil
from typing import Literal, TypeAlias, get_args

import numpy as np

from leafcover.errors import NameUnknown, TableError
from leafcover.fast.arrays import Bools, Codes, Floats
from leafcover.response.additive.noisy import Noisy

Method: TypeAlias = Literal["integrated", "midpoint"]


@dataclass(frozen=True, eq=False)
class Blur:
    """Bins of truths, bins of reports, and the law between them.

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


def blur_of(noisy: Noisy, edges: Floats, method: Method = "integrated") -> Blur:
    """The law between bins: ``integrated`` over both bins, or by the density between their midpoints.

    >>> from leafcover.response.additive.laws import Uniform
    >>> blur_of(Noisy(Uniform(1.0), low=0, high=2, step=1), np.array([-0.5, 0.5, 1.5, 2.5])).chances
    array([[0.25, 0.  , 0.  ],
           [0.5 , 0.25, 0.  ],
           [0.25, 0.5 , 0.25],
           [0.  , 0.25, 0.5 ],
           [0.  , 0.  , 0.25]])
    """
    if method not in get_args(Method):
        raise NameUnknown("method", method, get_args(Method))
    wide = edges[1] - edges[0]
    beyond = ceil(noisy.law.reach / wide - 1e-9)
    every = edges[0] + wide * np.arange(-beyond, len(edges) + beyond)
    if method == "midpoint":
        chances = noisy.law.density((every[:-1] + wide / 2)[:, None] - (edges[1:] + edges[:-1]) / 2)
        some = np.flatnonzero(chances.any(axis=1))  # no midpoint reaches the others: their reports go to the next
        first, last = some[0], some[-1]
        return Blur(edges, every[first + 1 : last + 1], chances[first : last + 1] / chances.sum(axis=0))
    inner = np.concatenate([[-np.inf], every[1:-1], [np.inf]])
    points, weights = noisy.truths(edges)
    below = (noisy.law.cdf(inner[:, None, None] - points) * weights).sum(axis=1)
    return Blur(edges, every[1:-1], np.diff(below, axis=0))


def possible(noisy: Noisy, reports: Floats) -> Bools:
    """Which reports some truth of the range can have given; a missing one can always be."""
    if not noisy.law.bounded:
        return ~np.isinf(reports)
    slack = 1e-6 * noisy.law.spread  # reports are rounded
    low, high = noisy.low - noisy.law.reach - slack, noisy.high + noisy.law.reach + slack
    return np.isnan(reports) | ((reports >= low) & (reports <= high))


def check_possible(name: str, noisy: Noisy, reports: Floats) -> None:
    """Refuse reports that the law and the range rule out: then one of them is not what was said."""
    if strange := int((~possible(noisy, reports)).sum()):
        raise TableError(
            f"{strange} reports of {name} are further from {noisy.low:g} to {noisy.high:g} than their noise goes. "
            "State the range and the law as they were when the noise was added."
        )
