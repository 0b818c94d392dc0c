"""Which numbers of tokens are spent, as one block of bits.

The block follows from the set of numbers alone: it tells neither when nor in which order they were spent.
"""

from collections.abc import Iterable

SMALLEST = 1024  # bytes: up to 8,192 tokens the block never grows


def is_spent(block: bytes, number: int) -> bool:
    """Whether a number is in a block.

    >>> is_spent(with_spent(b"", [9]), 9), is_spent(b"", 9)
    (True, False)
    """
    byte, bit = divmod(number, 8)
    return byte < len(block) and bool(block[byte] >> bit & 1)


def with_spent(block: bytes, numbers: Iterable[int]) -> bytes:
    """The block with more numbers in it; its length is a power of two that holds the largest."""
    numbers = tuple(numbers)
    if not numbers:
        return block
    needed = max(SMALLEST, len(block), 1 << (max(numbers) // 8).bit_length())
    grown = bytearray(block.ljust(needed, b"\0"))
    for number in numbers:
        grown[number // 8] |= 1 << number % 8
    return bytes(grown)
