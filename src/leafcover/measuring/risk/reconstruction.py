"""Reconstruction: how well an original value is told by the whole released row of the same person.

The attacker has seen the original values of half of the people beside their released rows, learns from them what the
noise did, and answers for the other half. Two others stand beside him: one who takes the released value as it is, and
one who only knows how common the original values are.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from leafcover.errors import NameUnknown
from leafcover.fast.arrays import Rows
from leafcover.measuring.figures import Attack, Risk, risk_of
from leafcover.measuring.pair import Pair
from leafcover.measuring.risk.guesses import TOLERANCE, best_guess, labels_of, reach_of, right
from leafcover.measuring.risk.leafmates import forest_guesses
from leafcover.measuring.sampling import SEED, some_rows

MOST = 12_000  # people, learned from and attacked together


@dataclass(frozen=True)
class Reconstructed:
    """One column. People without a value there are not attacked, and there is no control: nobody else has a row."""

    column: str
    attack: Attack  # learned from the other half; its baseline is the best one answer for everybody
    as_released: Risk  # the released value taken as the answer
    tolerance: float  # for a number, the share of the middle range an answer may be off; 0 for a category

    @property
    def best(self) -> Risk:
        """The better of both answers: what was learned, and the released value as it is."""
        return max(self.attack.main, self.as_released, key=lambda risk: risk.value)


@dataclass(frozen=True)
class Reconstruction:
    """Every column that was attacked."""

    columns: tuple[Reconstructed, ...]
    rows: int  # people learned from and attacked
    of: int

    @property
    def most_told(self) -> Reconstructed | None:
        """The column whose values are told most surely beyond guessing; None when none was attacked."""
        return max(self.columns, key=lambda c: c.best.value - c.attack.baseline.value, default=None)


def reconstruction(
    pair: Pair, *, columns: Sequence[str] | None = None, tolerance: float = TOLERANCE, most: int = MOST
) -> Reconstruction | None:
    """Attack the columns named, or all but the weight; None when nobody knows whose row is whose."""
    if not pair.paired:
        return None
    names = tuple(name for name in pair.names if name != pair.weight) if columns is None else tuple(columns)
    for name in names:
        if name not in pair.names:
            raise NameUnknown("column", name, pair.names)
    rows = some_rows(len(pair.original), most)
    seen = np.random.default_rng(SEED).permutation(len(rows)) < len(rows) // 2
    halves = rows[seen], rows[~seen]
    return Reconstruction(tuple(_of(pair, name, *halves, tolerance) for name in names), len(rows), len(pair.original))


def _of(pair: Pair, name: str, seen: Rows, asked: Rows, tolerance: float) -> Reconstructed:
    original = pair.original[name]
    reach, labels = reach_of(original, tolerance), labels_of(original)
    asked = asked[~np.isnan(labels[asked])]
    wanted = labels[asked]
    (answers,) = forest_guesses(
        pair.released.take(seen),
        labels[seen],
        [pair.released.take(asked)],
        is_category=original.is_category,
        reach=reach,
    )
    guess = risk_of(right(best_guess(labels[seen], reach), wanted, reach))
    return Reconstructed(
        name,
        Attack(risk_of(right(answers, wanted, reach)), None, guess),
        risk_of(right(labels_of(pair.released[name])[asked], wanted, reach)),
        0.0 if original.is_category else tolerance,
    )
