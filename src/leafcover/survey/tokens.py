"""One-time tokens: a number and a proof that the holder issued it, as letters for a link.

A token is 4 bytes of number and 12 bytes of HMAC-SHA256 under the survey's secret, so none is kept anywhere: the
collector recomputes the proof, and remembers only which numbers are spent, as one block of bits. That block shares no
id, time or order with the answers.
"""

import base64
import binascii
import hashlib
import hmac

TOKEN_LETTERS = 26  # of base32 for 16 bytes
MOST_TOKENS = 1 << 22  # their block of bits takes half a megabyte


def token(secret: bytes, fingerprint: str, number: int) -> str:
    """The token of a number.

    >>> made = token(bytes(32), "00" * 16, 7)
    >>> number_of(bytes(32), "00" * 16, made), number_of(bytes(32), "00" * 16, "a" * 26)
    (7, None)
    """
    if not 0 <= number < MOST_TOKENS:
        raise ValueError(f"A token's number must be from 0 to {MOST_TOKENS - 1}. Got {number}.")
    head = number.to_bytes(4, "big")
    return base64.b32encode(head + _proof(secret, fingerprint, head)).decode().rstrip("=").lower()


def number_of(secret: bytes, fingerprint: str, text: str) -> int | None:
    """The number of a token, or None when it was not issued for this survey."""
    try:
        content = base64.b32decode(text.upper() + "=" * (-len(text) % 8))
    except (binascii.Error, ValueError):
        return None
    head, proof = content[:4], content[4:]
    number = int.from_bytes(head, "big")
    # Several texts can stand for the same bytes; only the one that was issued is taken.
    genuine = hmac.compare_digest(proof, _proof(secret, fingerprint, head)) and number < MOST_TOKENS
    return number if genuine and text == token(secret, fingerprint, number) else None


def _proof(secret: bytes, fingerprint: str, head: bytes) -> bytes:
    return hmac.new(secret, b"token" + fingerprint.encode() + head, hashlib.sha256).digest()[:12]
