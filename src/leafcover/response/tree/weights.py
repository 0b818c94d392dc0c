"""What entries count. Most weigh one of a few values, so that they are counted as whole numbers and weighed after.

A value and its square are kept apart: entries that are put together add up both.
"""

from dataclasses import dataclass

import numpy as np

from leafcover.fast.arrays import Array, Floats, Rows

FEW = 4  # kinds that are counted apart, in one pass; more are added up in two, one for values and one for squares
MANY = 256  # kinds, above which every entry has a kind of its own
BLOCK = 1 << 16  # entries counted at once: their cells stay in the cache, which halves the time of a million


@dataclass(frozen=True, eq=False)
class Weights:
    """The value of each kind, its square, and the kind of each entry; without kinds every entry has its own value."""

    values: Floats
    squares: Floats
    kind: Array | None  # (entries,)

    @staticmethod
    def ones(entries: int) -> "Weights":
        """Every entry counts 1."""
        return Weights(np.ones(1), np.ones(1), np.zeros(entries, np.uint8))

    @property
    def few(self) -> int:
        """How many kinds are counted apart; 0 when they are added up."""
        return len(self.values) if self.kind is not None and len(self.values) <= FEW else 0

    def take(self, entries: Array) -> "Weights":
        """The weights of some entries."""
        if self.kind is None:
            return Weights(self.values[entries], self.squares[entries], None)
        return Weights(self.values, self.squares, self.kind[entries])

    def each(self) -> "Weights":
        """The same with one kind an entry."""
        if self.kind is None:
            return self
        return Weights(self.values[self.kind], self.squares[self.kind], None)

    def times(self, factors: Floats, which: Array) -> "Weights":
        """Each entry's value times the factor that ``which`` names for it."""
        if self.kind is None:
            return Weights(self.values * factors[which], self.squares * factors[which] ** 2, None)
        return Weights(
            np.outer(self.values, factors).ravel(),
            np.outer(self.squares, factors**2).ravel(),
            self.kind.astype(np.int32) * len(factors) + which,
        )


def tidied(weights: Weights) -> Weights:
    """The same weights with as few kinds as there are values; above many, with one kind an entry."""
    if weights.kind is None or len(weights.values) > MANY:
        return weights.each()
    used = np.flatnonzero(np.bincount(weights.kind, minlength=len(weights.values)))
    distinct, place = np.unique(np.stack([weights.values, weights.squares])[:, used], axis=1, return_inverse=True)
    new = np.zeros(len(weights.values), np.uint8)
    new[used] = place
    return Weights(distinct[0], distinct[1], new[weights.kind])


def summed(weights: Weights, base: Rows, codes: Array, cells: int, bins: int) -> tuple[Floats, Floats]:
    """The sums of values and of squares (cells, bins) by base and code.

    ``base`` is the number of an entry's cell; when kinds are few, that times their number, plus the kind.
    """
    if weights.few:
        counted = _counted(base, codes, cells * weights.few, bins).reshape(cells, weights.few, bins).astype(np.float64)
        return np.einsum("ckb,k->cb", counted, weights.values), np.einsum("ckb,k->cb", counted, weights.squares)
    one = weights.each()
    place = base * bins + codes
    values, squares = (np.bincount(place, each, cells * bins) for each in (one.values, one.squares))
    return np.asarray(values.reshape(cells, bins), np.float64), np.asarray(squares.reshape(cells, bins), np.float64)


def _counted(base: Rows, codes: Array, cells: int, bins: int) -> Rows:
    block = max(BLOCK, cells * bins)
    place, total = np.empty(min(block, len(base)), np.int64), np.zeros(cells * bins, np.int64)
    for begin in range(0, len(base), block):
        some = base[begin : begin + block]
        here = np.multiply(some, bins, out=place[: len(some)])
        here += codes[begin : begin + block]
        total += np.bincount(here, minlength=cells * bins)
    return total
