"""How noise is made to stay between two ends: drawn again, mirrored, wrapped round, or cut off.

Everything is counted in points from the low end: a value at ``place`` among ``size`` points (0 .. size - 1) moves by
noise of deviation ``spread`` points. ``size`` may be a count of grid points or of ranks.
"""

from typing import Literal, TypeAlias

import numpy as np

from leafcover.fast.arrays import Floats, Rows
from leafcover.noise.law import Law

LEAST = 1e-200  # of a deviation, in points: less cannot move a value, and a distance of 1e100 points stays finite

Fit: TypeAlias = Literal["redraw", "reflect", "wrap", "clip"]


def fitted(place: Floats, size: Floats, spread: Floats, u: Floats, law: Law, fit: Fit) -> Rows:
    """The new place of each value, a whole number from 0 to size - 1."""
    if fit == "redraw":
        return _redrawn(place, size, spread, u, law)
    step = np.rint(law.inverse(u) * spread)
    new = place + step
    if fit == "wrap":
        new = np.mod(new, size)
    elif fit == "reflect":
        new = np.mod(new, 2 * size)
        new = np.minimum(new, 2 * size - 1 - new)  # mirrors stand half a point outside the ends
    return np.clip(new, 0, size - 1).astype(np.int64)


def _redrawn(place: Floats, size: Floats, spread: Floats, u: Floats, law: Law) -> Rows:
    """Draw until inside, without a loop: one uniform through the inverse cdf of the law between the ends.

    Rounding to the nearest point first and drawing again when outside is the same law as this.
    """
    safe = np.maximum(spread, LEAST)
    low, high = law.cdf((-0.5 - place) / safe), law.cdf((size - 0.5 - place) / safe)
    new = place + np.rint(law.inverse(low + u * (high - low)) * safe)
    return np.clip(new, 0, size - 1).astype(np.int64)


def probability(place: Floats, to: Floats, size: Floats, spread: Floats, law: Law, fit: Fit) -> Floats:
    """The probability that a value at ``place`` is released at ``to``."""
    safe = np.maximum(spread, LEAST)

    def between(point: Floats) -> Floats:
        return law.cdf((point - place + 0.5) / safe) - law.cdf((point - place - 0.5) / safe)

    if fit == "redraw":
        inside = law.cdf((size - 0.5 - place) / safe) - law.cdf((-0.5 - place) / safe)
        return between(to) / np.maximum(inside, 1e-300)
    if fit == "clip":
        below = law.cdf((0.5 - place) / safe)
        above = 1.0 - law.cdf((size - 1.5 - place) / safe)
        ends = np.where(to <= 0, below, np.where(to >= size - 1, above, between(to)))
        return np.where(size <= 1, 1.0, ends)
    # How many times round the noise can go before less than 1e-12 is left; the widest row decides.
    turns = int(np.ceil(8.0 * float(np.max(spread / size, initial=0.0)))) + 1
    total = np.zeros(len(place))
    for turn in range(-turns, turns + 1):
        if fit == "wrap":
            total += between(to + turn * size)
        else:
            total += between(to + turn * 2 * size) + between(2 * size - 1 - to + turn * 2 * size)
    return total
