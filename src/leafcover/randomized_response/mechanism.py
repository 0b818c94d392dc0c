"""The protocol of a randomised-response mechanism, and what the mechanisms share.

First the secret coins, then what a report reveals (`Privacy`), then the `Mechanism` protocol with its checks. A
mechanism covers one or more columns. Codes have the shape (rows,) for one column and (columns, rows) for several; a
table of shares has one axis per column first, and may have further axes.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import exp, inf, log, prod
from typing import ClassVar, Protocol

import numpy as np

from leafcover.arrays import MISSING, Array, Bools, Codes, Floats, Words
from leafcover.errors import PlanError, ValueOutOfRange
from leafcover.keyed_random import Draws

# Secret coins, one per row, from a cryptographic keystream that can be read at any row.
#
# Row r owns the r-th 64-bit word of an AES-256-CTR stream, and its coin shows heads when the word is below
# probability · 2⁶⁴. That product is an integer for every double of at least 2⁻¹¹, so the probability is exact.


ROWS_AT_ONCE = 1 << 16  # half a megabyte of words fits the cache; a million rows at once take three times as long
ALL_WORDS = 1 << 64
LEAST_CHANCE = 2.0**-11  # a smaller double has more bits than 64 random ones can match


def words(draws: Draws, rows: int, start: int = 0) -> Words:
    """Sixty-four random bits for each of some consecutive rows.

    >>> draws = Draws(bytes(32))
    >>> bool((words(draws, 9)[3:6] == words(draws, 3, start=3)).all())
    True
    """
    from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

    block, odd = divmod(start, 2)  # a block of the cipher holds the words of two rows
    # A separate name: the same draws, read by row elsewhere, must not give the same bits.
    secret = draws.sub("coins").secret
    stream = Cipher(algorithms.AES(secret), modes.CTR(block.to_bytes(16, "big"))).encryptor()
    return np.frombuffer(stream.update(bytes(16 * ((odd + rows + 1) // 2))), "<u8")[odd : odd + rows]


def heads(draws: Draws, rows: int, chance: float, start: int = 0) -> Bools:
    """Whether the coin of each row shows heads.

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
    """A number from 0 to count - 1 for each row, uniform up to a bias of count · 2⁻⁶⁴."""
    drawn = np.empty(rows, np.int32)
    for first in range(0, rows, ROWS_AT_ONCE):
        part = drawn[first : first + ROWS_AT_ONCE]
        word = words(draws, len(part), start + first)
        # NumPy divides by a scalar fast but computes remainders slowly: this halves the time.
        part[:] = word - word // np.uint64(count) * np.uint64(count)
    return drawn


def chosen(heads: Bools, codes: Codes, others: Array) -> Codes:
    """The codes where a coin shows heads, else the others.

    >>> chosen(np.array([True, False]), np.array([3, 3], np.int32), np.array([0, 1], np.int32))
    array([3, 1], dtype=int32)
    """
    # np.where suffers from branch misprediction on random coins: this takes a sixth of its time.
    return others + heads * (codes - others)


# What a report reveals: a figure where there is one, and always a sentence.


@dataclass(frozen=True)
class Privacy:
    """What one report of a mechanism reveals.

    ``epsilon`` is that of local differential privacy: no report changes the odds between two true values by more than a
    factor of e^epsilon. None where there is no such bound. ``words`` describe what is disclosed.
    """

    epsilon: float | None
    words: str

    def __str__(self) -> str:
        if self.epsilon is None:
            return f"No epsilon: {self.words}"
        return f"Epsilon {self.epsilon:.3f} (odds change by a factor of at most {exp(self.epsilon):.3g}): {self.words}"


def log_ratio(likely: float, unlikely: float) -> float:
    """The absolute log ratio of two probabilities of the same report; infinite when one of them is 0.

    >>> round(log_ratio(0.75, 0.25), 3), log_ratio(1.0, 0.0)
    (1.099, inf)
    """
    return inf if min(likely, unlikely) <= 0 else abs(log(likely / unlikely))


def finite(epsilon: float) -> float | None:
    """An epsilon, or None when it is infinite."""
    return None if epsilon == inf else epsilon


def posterior(matrix: Floats, report: int, prior: Floats) -> Floats:
    """The probability of each true value after a report, from a prior, by Bayes' theorem.

    >>> posterior(np.array([[0.8, 0.2], [0.2, 0.8]]), 1, np.array([0.9, 0.1])).round(3)
    array([0.692, 0.308])
    """
    believed = np.asarray(prior, np.float64)
    if believed.shape != matrix.shape[1:] or (believed < 0).any() or abs(believed.sum() - 1) > 1e-9:
        raise ValueOutOfRange("prior", f"{believed.size} values", f"{matrix.shape[1]} probabilities that sum to 1")
    if not 0 <= report < len(matrix):
        raise ValueOutOfRange("report", report, f"a code from 0 to {len(matrix) - 1}")
    joint = matrix[report] * believed
    if joint.sum() == 0:
        raise ValueOutOfRange("prior", "one that makes this report impossible", "one that makes the report possible")
    return np.asarray(joint / joint.sum())


def odds(chances: Floats, value: int) -> float:
    """The odds of one true value against all others.

    >>> odds(np.array([0.25, 0.75]), 1)
    3.0
    """
    rest = float(np.delete(chances, value).sum())
    return inf if rest == 0 else float(chances[value]) / rest


LEAST_DISTANCE = 0.01  # of 2θ - 1 from 0: below, an estimate needs more than 10,000 times the answers
MOST_CELLS = 4096  # a matrix with this many rows and columns takes 128 MB


class Mechanism(Protocol):
    """A distribution of reports given the true values, with its exact inverse."""

    frozen_id: ClassVar[str]  # identifies the mechanism in the fingerprint of a survey

    @property
    def shape(self) -> tuple[int, ...]:
        """The number of levels of each column."""
        ...

    def apply(self, codes: Codes, draws: Draws, start: int = 0) -> Codes:
        """Reports for true codes; row i uses the coins of row start + i. Missing stays missing."""
        ...

    def mix(self, shares: Floats) -> Floats:
        """The expected shares of reports for shares of true values."""
        ...

    def unmix(self, shares: Floats) -> Floats:
        """The inverse of ``mix``: unbiased, so shares may be negative."""
        ...

    def mix_back(self, values: Floats) -> Floats:
        """The transpose of ``mix``: for each true value, the expected value of its report."""
        ...

    def weights(self, literals: Mapping[int, int], reports: Codes) -> Floats:
        """For each row a weight with expectation 1 where the true row satisfies all literals, else 0.

        ``literals`` maps column numbers to codes. A row with a missing value in one of them has weight 0.
        """
        ...

    def on(self, columns: Sequence[int]) -> "Mechanism":
        """The mechanism restricted to some columns, in the order given."""
        ...

    @property
    def privacy(self) -> Privacy:
        """What one report reveals."""
        ...


def matrix(mechanism: Mechanism) -> Floats:
    """The mechanism as a matrix: the probability of each report (row) given each true cell (column).

    The levels of the last column vary fastest.


    >>> from leafcover.randomized_response.mechanisms import Warner
    >>> matrix(Warner(0.75))
    array([[0.75, 0.25],
           [0.25, 0.75]])
    """
    return mechanism.mix(_identity(mechanism.shape)).reshape(prod(mechanism.shape), -1)


def inverse(mechanism: Mechanism) -> Floats:
    """The inverse of ``matrix``, by formula: the row of a true cell holds the weight of each report."""
    return mechanism.unmix(_identity(mechanism.shape)).reshape(prod(mechanism.shape), -1)


def _identity(shape: tuple[int, ...]) -> Floats:
    cells = prod(shape)
    if cells > MOST_CELLS:
        allowed = f"at most {MOST_CELLS} for a matrix; use mix and unmix instead"
        raise ValueOutOfRange("The number of cells of a mechanism", cells, allowed)
    return np.eye(cells).reshape(*shape, cells)


def checked_chance(name: str, chance: float) -> None:
    """Refuse a number that is not a probability, or one too small to be applied exactly."""
    if not 0 <= chance <= 1:
        raise ValueOutOfRange(name, chance, "a probability from 0 to 1")
    if 0 < chance < LEAST_CHANCE:
        raise ValueOutOfRange(name, chance, f"0 or at least {LEAST_CHANCE:.6f}, the smallest exact probability")


def checked_coin(name: str, theta: float) -> None:
    """Refuse a number that is not a probability, or one so close to 1/2 that reports say almost nothing."""
    checked_chance(name, theta)
    if abs(2 * theta - 1) < LEAST_DISTANCE:
        gap = LEAST_DISTANCE / 2
        raise ValueOutOfRange(
            name,
            theta,
            f"at least {gap:g} away from 1/2, where both reports are equally likely and nothing can be estimated",
        )


def checked_codes(codes: Codes, shape: tuple[int, ...]) -> Codes:
    """The codes, if they fit the columns and their levels; a refusal contains no value."""
    columns = codes.shape[:-1]
    if columns != (() if len(shape) == 1 else (len(shape),)):
        wanted = "(rows,)" if len(shape) == 1 else f"({len(shape)}, rows)"
        raise PlanError(f"codes must have the shape {wanted}. Got {codes.shape}. Give one row of codes per column.")
    for column, levels in zip(np.atleast_2d(codes), shape, strict=True):
        if len(column) and (column.min() < MISSING or column.max() >= levels):
            raise PlanError(
                f"codes must be from 0 to {levels - 1}, or {MISSING} for missing. Got others. "
                "Declare every level of the column."
            )
    return codes


def checked_literals(literals: Mapping[int, int], shape: tuple[int, ...]) -> None:
    """Refuse a literal with an unknown column or level."""
    for column, code in literals.items():
        if not 0 <= column < len(shape):
            raise ValueOutOfRange("The column of a literal", column, f"from 0 to {len(shape) - 1}")
        if not 0 <= code < shape[column]:
            raise ValueOutOfRange("The code of a literal", code, f"from 0 to {shape[column] - 1}")


def only_column(columns: Sequence[int]) -> None:
    """Refuse anything but the only column of a mechanism."""
    if tuple(columns) != (0,):
        raise PlanError(f"A mechanism with one column has only column 0. Got {list(columns)}. Use [0].")
