"""What entries count. Most weigh one of a few values, so that they are counted as whole numbers and weighed after.

A value and its square are kept apart: entries that are put together add up both.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from leafcover.fast.arrays import Array, Floats, Rows

FEW = 4  # kinds that are counted apart, in one pass; more are added up in two, one for values and one for squares
MANY = 256  # kinds, above which every entry has a kind of its own


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


def joined(parts: Sequence[Weights]) -> Weights:
    """The weights of several lists of entries, one after the other; equal kinds become one."""
    if any(part.kind is None for part in parts) or sum(len(part.values) for part in parts) > MANY:
        singles = [part.each() for part in parts]
        return Weights(
            np.concatenate([one.values for one in singles]), np.concatenate([one.squares for one in singles]), None
        )
    starts = np.cumsum([0, *(len(part.values) for part in parts)])
    kind = np.concatenate([part.kind + start for part, start in zip(parts, starts[:-1], strict=True)])
    pairs = np.concatenate([np.stack([part.values, part.squares]) for part in parts], axis=1)
    used = np.flatnonzero(np.bincount(kind, minlength=starts[-1]))
    distinct, place = np.unique(pairs[:, used], axis=1, return_inverse=True)
    new = np.zeros(starts[-1], np.uint8)
    new[used] = place
    return Weights(distinct[0], distinct[1], new[kind])


def summed(weights: Weights, cell: Rows, cells: int, bins: int) -> tuple[Floats, Floats]:
    """The sums of values and of squares (cells, bins); ``cell`` numbers cell, kind when these are few, and bin."""
    if weights.few:
        counted = np.bincount(cell, minlength=cells * weights.few * bins).reshape(cells, weights.few, bins)
        return np.einsum("ckb,k->cb", counted, weights.values), np.einsum("ckb,k->cb", counted, weights.squares)
    one = weights.each()
    values, squares = (np.bincount(cell, each, cells * bins) for each in (one.values, one.squares))
    return values.reshape(cells, bins), squares.reshape(cells, bins)
