"""Which bin a report is taken to come from: reports in order fill the bins of their reconstructed truths.

The lowest reports go into the lowest bin until it holds its share, and so on. One person may be placed wrongly; the
shares of the bins are right, and that is what a tree counts.
"""

import numpy as np

from leafcover.fast.arrays import MISSING, Codes, Floats
from leafcover.response.additive.blur import Blur
from leafcover.response.additive.sharpen import Stop, sharpened


def placed(reports: Floats, shares: Floats, weights: Floats | None = None) -> Codes:
    """The bin of every report, -1 where it is missing.

    >>> placed(np.array([7.5, -2.0, np.nan, 3.0, 0.1]), np.array([0.5, 0.0, 0.5]))
    array([ 2,  0, -1,  2,  0], dtype=int32)
    """
    order = np.argsort(reports, kind="stable")[: int((~np.isnan(reports)).sum())]
    heavy = np.ones(len(order)) if weights is None else weights[order]
    until = np.cumsum(heavy)
    codes = np.full(len(reports), MISSING, np.int32)
    if len(order):
        # The middle of a row's own weight decides, so that whole rows are rounded to the nearer bin.
        codes[order] = np.searchsorted(np.cumsum(shares)[:-1], (until - heavy / 2) / until[-1])
    return codes


def placed_by_reconstruction(reports: Floats, half: Codes, weights: Floats, blur: Blur, stop: Stop) -> Codes:
    """Reports placed into bins whose shares are reconstructed from these very reports."""
    counts = blur.counted(reports, half, weights)
    if not counts.any():
        return np.full(len(reports), MISSING, np.int32)
    return placed(reports, sharpened(counts, blur.chances, stop=stop).shares, weights)
