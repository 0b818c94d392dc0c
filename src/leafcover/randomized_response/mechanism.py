"""What every mechanism can do, and the checks they share.

A mechanism covers one column or more. Codes are given as (rows,) for one column and (columns, rows) for more; a table
of shares has one axis a column first, and may have others behind them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import exp, inf, log, prod
from typing import ClassVar, Protocol

import numpy as np

from leafcover.arrays import MISSING, Array, Bools, Codes, Floats, Words
from leafcover.errors import PlanError, ValueOutOfRange
from leafcover.rng import Draws

# Secret coins, one a row: a cryptographic keystream read at any row, compared as integers.
#
# A coin needs no double. Row r owns the r-th word of 64 bits of an AES-256-CTR stream, and the coin falls on heads when
# the word is below chance · 2⁶⁴. That number is whole for every double of at least 2⁻¹¹, so the chance is exactly the
# one asked for.


ROWS_AT_ONCE = 1 << 16  # half a megabyte of words stays in the cache; a million rows at once take three times as long
ALL_WORDS = 1 << 64
LEAST_CHANCE = 2.0**-11  # a double below has bits that 64 random ones cannot match


def words(draws: Draws, rows: int, start: int = 0) -> Words:
    """Sixty-four random bits for each of some rows that follow each other.

    >>> draws = Draws(bytes(32))
    >>> bool((words(draws, 9)[3:6] == words(draws, 3, start=3)).all())
    True
    """
    from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

    block, odd = divmod(start, 2)  # a block of the cipher holds the words of two rows
    # A name of its own: the same draws read by row elsewhere must never give the same bits.
    secret = draws.sub("coins").secret
    stream = Cipher(algorithms.AES(secret), modes.CTR(block.to_bytes(16, "big"))).encryptor()
    return np.frombuffer(stream.update(bytes(16 * ((odd + rows + 1) // 2))), "<u8")[odd : odd + rows]


def heads(draws: Draws, rows: int, chance: float, start: int = 0) -> Bools:
    """Whether the coin of each row falls on heads.

    >>> heads(Draws(bytes(32)), 4, 1.0)
    array([ True,  True,  True,  True])
    """
    below = int(chance * float(ALL_WORDS))
    if below >= ALL_WORDS:
        return np.ones(rows, np.bool_)
    fallen = np.empty(rows, np.bool_)
    for first in range(0, rows, ROWS_AT_ONCE):
        part = fallen[first : first + ROWS_AT_ONCE]
        np.less(words(draws, len(part), start + first), np.uint64(below), out=part)
    return fallen


def numbers(draws: Draws, rows: int, count: int, start: int = 0) -> Codes:
    """A number from 0 to count - 1 for each row, each as likely as the others but for count · 2⁻⁶⁴."""
    drawn = np.empty(rows, np.int32)
    for first in range(0, rows, ROWS_AT_ONCE):
        part = drawn[first : first + ROWS_AT_ONCE]
        word = words(draws, len(part), start + first)
        # NumPy divides by one number fast, and takes remainders slowly: this halves the time.
        part[:] = word - word // np.uint64(count) * np.uint64(count)
    return drawn


def chosen(heads: Bools, codes: Codes, others: Array) -> Codes:
    """The codes where a coin fell on heads, else the others.

    >>> chosen(np.array([True, False]), np.array([3, 3], np.int32), np.array([0, 1], np.int32))
    array([3, 1], dtype=int32)
    """
    # np.where guesses which way a coin fell and is wrong half the time: this takes a sixth of its time.
    return others + heads * (codes - others)


# What a report gives away: a figure where there is one, and a true sentence always.


@dataclass(frozen=True)
class Privacy:
    """What one report of a mechanism gives away.

    ``epsilon`` bounds how much any report can change the odds between any two truths (by a factor of e^epsilon,
    local differential privacy); None where no bound exists. ``words`` say what is disclosed.
    """

    epsilon: float | None
    words: str

    def __str__(self) -> str:
        if self.epsilon is None:
            return f"No epsilon: {self.words}"
        return f"Epsilon {self.epsilon:.3f} (odds change by at most {exp(self.epsilon):.3g} times): {self.words}"


def log_ratio(likely: float, unlikely: float) -> float:
    """How far two chances of the same report are apart; infinite when one of them is impossible.

    >>> round(log_ratio(0.75, 0.25), 3), log_ratio(1.0, 0.0)
    (1.099, inf)
    """
    return inf if min(likely, unlikely) <= 0 else abs(log(likely / unlikely))


def finite(epsilon: float) -> float | None:
    """An epsilon, or None when it is infinite and so says nothing."""
    return None if epsilon == inf else epsilon


def posterior(matrix: Floats, report: int, prior: Floats) -> Floats:
    """The chance of each truth after a report, for who believed ``prior`` before it (Bayes).

    >>> posterior(np.array([[0.8, 0.2], [0.2, 0.8]]), 1, np.array([0.9, 0.1])).round(3)
    array([0.692, 0.308])
    """
    believed = np.asarray(prior, np.float64)
    if believed.shape != matrix.shape[1:] or (believed < 0).any() or abs(believed.sum() - 1) > 1e-9:
        raise ValueOutOfRange("A prior", f"{believed.size} chances", f"{matrix.shape[1]} chances that add up to 1")
    if not 0 <= report < len(matrix):
        raise ValueOutOfRange("A report", report, f"a code from 0 to {len(matrix) - 1}")
    joint = matrix[report] * believed
    if joint.sum() == 0:
        raise ValueOutOfRange("A prior", "one that makes this report impossible", "one under which it can happen")
    return np.asarray(joint / joint.sum())


def odds(chances: Floats, value: int) -> float:
    """The odds of one truth against all others.

    >>> odds(np.array([0.25, 0.75]), 1)
    3.0
    """
    rest = float(np.delete(chances, value).sum())
    return inf if rest == 0 else float(chances[value]) / rest


LEAST_DISTANCE = 0.01  # of 2θ - 1 from 0: nearer, an estimate needs more than 10,000 times the answers
MOST_CELLS = 4096  # a matrix of this many rows and columns takes 128 MB


class Mechanism(Protocol):
    """A distribution of reports given the truth, with its exact inverse."""

    frozen_id: ClassVar[str]  # names it in the mark of a survey, whatever the class is called

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
        """The transposed mechanism: for each truth, the expected value of a report."""
        ...

    def weights(self, literals: Mapping[int, int], reports: Codes) -> Floats:
        """For each row a number whose expectation is 1 where the truth meets all literals, else 0.

        ``literals`` gives codes by the number of the column. A row where one of these is missing weighs 0.
        """
        ...

    def on(self, columns: Sequence[int]) -> "Mechanism":
        """The mechanism of some of the columns alone, in the order given."""
        ...

    @property
    def privacy(self) -> Privacy:
        """What one report gives away."""
        ...


def matrix(mechanism: Mechanism) -> Floats:
    """The mechanism as a matrix: chance of each report (row) for each truth (column), levels of the last column fastest.

    >>> from leafcover.randomized_response.mechanisms import Warner
    >>> matrix(Warner(0.75))
    array([[0.75, 0.25],
           [0.25, 0.75]])
    """
    return mechanism.mix(_identity(mechanism.shape)).reshape(prod(mechanism.shape), -1)


def inverse(mechanism: Mechanism) -> Floats:
    """The inverse of ``matrix``, by formula: its row of a truth holds what each report counts for it."""
    return mechanism.unmix(_identity(mechanism.shape)).reshape(prod(mechanism.shape), -1)


def _identity(shape: tuple[int, ...]) -> Floats:
    cells = prod(shape)
    if cells > MOST_CELLS:
        allowed = f"at most {MOST_CELLS} to be written as a matrix; use mix and unmix instead"
        raise ValueOutOfRange("The number of cells of a mechanism", cells, allowed)
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
        raise PlanError(
            f"This mechanism takes codes of shape {said}. Got {codes.shape}. Give one row of codes a column."
        )
    for column, levels in zip(np.atleast_2d(codes), shape, strict=True):
        if len(column) and (column.min() < MISSING or column.max() >= levels):
            raise PlanError(
                f"This mechanism takes codes from 0 to {levels - 1}, and {MISSING} for missing. Got others. "
                "Name every level of the column."
            )
    return codes


def checked_literals(literals: Mapping[int, int], shape: tuple[int, ...]) -> None:
    """Refuse a literal about a column or a level that the mechanism does not have."""
    for column, code in literals.items():
        if not 0 <= column < len(shape):
            raise ValueOutOfRange("The column of a literal", column, f"from 0 to {len(shape) - 1}")
        if not 0 <= code < shape[column]:
            raise ValueOutOfRange("The code of a literal", code, f"from 0 to {shape[column] - 1}")


def only_column(columns: Sequence[int]) -> None:
    """Refuse to take anything but the one column of a mechanism."""
    if tuple(columns) != (0,):
        raise PlanError(f"A mechanism over one column has only column 0. Got {list(columns)}. Ask for [0].")
