"""Reconstruction: how well an original value is told by the whole released row of the same person.

The attacker has seen the original values of half of the people beside their released rows, learns from them what the
noise did, and answers for the other half: by a forest, and by a list of what each released value mostly was, which
forgets no level however many there are. Two others stand beside him: one who takes the released value as it is, and one
who only knows how common the original values are.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from leafcover.errors import NameUnknown
from leafcover.fast.arrays import Floats, Rows
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
    attack: Attack  # learned from the other half by a forest; its baseline is the best one answer for everybody
    looked_up: Risk  # the original value that the same released value mostly had in the other half
    as_released: Risk  # the released value taken as the answer
    tolerance: float  # for a number, the share of the middle range an answer may be off; 0 for a category

    @property
    def best(self) -> Risk:
        """The best of the three answers: by the forest, by the list, and the released value as it is."""
        return max(self.attack.main, self.looked_up, self.as_released, key=lambda risk: risk.value)


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
    guess = best_guess(labels[seen], reach)
    shown = labels_of(pair.released[name])
    listed = _looked_up(shown[seen], labels[seen], shown[asked], guess)
    return Reconstructed(
        name,
        Attack(risk_of(right(answers, wanted, reach)), None, risk_of(right(guess, wanted, reach))),
        risk_of(right(listed, wanted, reach)),
        risk_of(right(shown[asked], wanted, reach)),
        0.0 if original.is_category else tolerance,
    )


def _looked_up(shown: Floats, labels: Floats, asked: Floats, guess: float) -> Floats:
    """For each asked value the label most often seen with it (the lowest of equals), or the guess.

    >>> _looked_up(np.array([5.0, 5.0, 5.0, 6.0]), np.array([1.0, 2.0, 2.0, 9.0]), np.array([5.0, 6.0, 7.0]), 0.0)
    array([2., 9., 0.])
    """
    known = ~np.isnan(labels)
    if not known.any():
        return np.full(len(asked), guess)
    values, code = np.unique(shown[known], return_inverse=True)  # nan equals nan here
    answers, answer = np.unique(labels[known], return_inverse=True)
    both, count = np.unique(code.ravel() * len(answers) + answer.ravel(), return_counts=True)
    order = np.lexsort((-both, count))  # the commonest is written last, of equals the lowest
    mostly = np.empty(len(values))
    mostly[both[order] // len(answers)] = answers[both[order] % len(answers)]
    place = np.minimum(np.searchsorted(values, asked), len(values) - 1)
    same = (values[place] == asked) | (np.isnan(values[place]) & np.isnan(asked))
    return np.where(same, mostly[place], guess)
