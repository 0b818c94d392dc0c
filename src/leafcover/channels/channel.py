"""What every channel can do, and the checks they share.

A channel covers one column or more. Codes are given as (rows,) for one column and (columns, rows) for more; a table
of shares has one axis a column first, and may have others behind them.
"""

from collections.abc import Mapping, Sequence
from math import prod
from typing import Protocol

import numpy as np

from leafcover.channels.coins import LEAST_CHANCE
from leafcover.channels.privacy import Privacy
from leafcover.draws import Draws
from leafcover.errors import PlanError, ValueOutOfRange
from leafcover.fast.arrays import MISSING, Codes, Floats

LEAST_DISTANCE = 0.01  # of 2θ - 1 from 0: nearer, an estimate needs more than 10,000 times the answers
MOST_CELLS = 4096  # a matrix of this many rows and columns takes 128 MB


class Channel(Protocol):
    """A law of reports given the truth, with its exact inverse."""

    @property
    def shape(self) -> tuple[int, ...]:
        """How many levels each column has."""
        ...

    def apply(self, codes: Codes, draws: Draws, start: int = 0) -> Codes:
        """Reports for true codes; row i tosses the coins of row start + i. Missing stays missing."""
        ...

    def mix(self, shares: Floats) -> Floats:
        """The expected shares of reports, from shares of truths."""
        ...

    def unmix(self, shares: Floats) -> Floats:
        """The inverse of ``mix``: unbiased, and so perhaps negative."""
        ...

    def mix_back(self, values: Floats) -> Floats:
        """The transposed law: for each truth, the expected value of a report."""
        ...

    def weights(self, literals: Mapping[int, int], reports: Codes) -> Floats:
        """For each row a number whose expectation is 1 where the truth meets all literals, else 0.

        ``literals`` gives codes by the number of the column. A row where one of these is missing weighs 0.
        """
        ...

    def on(self, columns: Sequence[int]) -> "Channel":
        """The law of some of the columns alone, in the order given."""
        ...

    @property
    def privacy(self) -> Privacy:
        """What one report gives away."""
        ...


def matrix(channel: Channel) -> Floats:
    """The law as a matrix: chance of each report (row) for each truth (column), levels of the last column fastest.

    >>> from leafcover.channels.warner import Warner
    >>> matrix(Warner(0.75))
    array([[0.75, 0.25],
           [0.25, 0.75]])
    """
    return channel.mix(_identity(channel.shape)).reshape(prod(channel.shape), -1)


def inverse(channel: Channel) -> Floats:
    """The inverse of ``matrix``, by formula: its row of a truth holds what each report counts for it."""
    return channel.unmix(_identity(channel.shape)).reshape(prod(channel.shape), -1)


def _identity(shape: tuple[int, ...]) -> Floats:
    cells = prod(shape)
    if cells > MOST_CELLS:
        allowed = f"at most {MOST_CELLS} to be written as a matrix; use mix and unmix instead"
        raise ValueOutOfRange("The number of cells of a channel", cells, allowed)
    return np.eye(cells).reshape(*shape, cells)


def checked_chance(name: str, chance: float) -> None:
    """Refuse what is no chance, or one so small that it would not be tossed as it is stated."""
    if not 0 <= chance <= 1:
        raise ValueOutOfRange(name, chance, "a chance from 0 to 1")
    if 0 < chance < LEAST_CHANCE:
        raise ValueOutOfRange(name, chance, f"0 or at least {LEAST_CHANCE:.6f}, the smallest chance tossed exactly")


def checked_coin(name: str, theta: float) -> None:
    """Refuse a coin that is no chance, or so fair that reports say almost nothing."""
    checked_chance(name, theta)
    if abs(2 * theta - 1) < LEAST_DISTANCE:
        gap = LEAST_DISTANCE / 2
        raise ValueOutOfRange(
            name,
            theta,
            f"at least {gap:g} away from 1/2, where truth and lie are alike and the estimate divides by 2 theta - 1",
        )


def checked_codes(codes: Codes, shape: tuple[int, ...]) -> Codes:
    """The codes, when they fit the columns and their levels; never a value in the refusal."""
    columns = codes.shape[:-1]
    if columns != (() if len(shape) == 1 else (len(shape),)):
        said = "(rows,)" if len(shape) == 1 else f"({len(shape)}, rows)"
        raise PlanError(f"This channel takes codes of shape {said}. Got {codes.shape}. Give one row of codes a column.")
    for column, levels in zip(np.atleast_2d(codes), shape, strict=True):
        if len(column) and (column.min() < MISSING or column.max() >= levels):
            raise PlanError(
                f"This channel takes codes from 0 to {levels - 1}, and {MISSING} for missing. Got others. "
                "Name every level of the column."
            )
    return codes


def checked_literals(literals: Mapping[int, int], shape: tuple[int, ...]) -> None:
    """Refuse a literal about a column or a level that the channel does not have."""
    for column, code in literals.items():
        if not 0 <= column < len(shape):
            raise ValueOutOfRange("The column of a literal", column, f"from 0 to {len(shape) - 1}")
        if not 0 <= code < shape[column]:
            raise ValueOutOfRange("The code of a literal", code, f"from 0 to {shape[column] - 1}")


def only_column(columns: Sequence[int]) -> None:
    """Refuse to take anything but the one column of a channel."""
    if tuple(columns) != (0,):
        raise PlanError(f"A channel over one column has only column 0. Got {list(columns)}. Ask for [0].")
