"""Secret coins, one a row: a cryptographic keystream read at any row, compared as integers.

A coin needs no double. Row r owns the r-th word of 64 bits of an AES-256-CTR stream, and the coin falls on heads when
the word is below chance · 2⁶⁴. That number is whole for every double of at least 2⁻¹¹, so the chance is exactly the
one asked for.
"""

import numpy as np

from leafcover.draws import Draws
from leafcover.fast.arrays import Array, Bools, Codes, Words

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
