"""Who may see the holder's pages: whoever gives the survey's secret, then a cookie that proves it for some hours."""

import hashlib
import hmac
import time

from starlette.requests import Request

HOURS = 8


def cookie_name(fingerprint: str) -> str:
    """Another for each survey: cookies of one machine are shared by all its ports.

    >>> cookie_name("0123456789abcdef")
    'leafcover_holder_01234567'
    """
    return f"leafcover_holder_{fingerprint[:8]}"


def cookie_value(secret: bytes, now: float | None = None) -> str:
    """A proof that ends after some hours."""
    until = str(int((time.time() if now is None else now) + HOURS * 3600))
    return f"{until}.{_proof(secret, until)}"


def is_holder(secret: bytes, cookie: str, request: Request) -> bool:
    """Whether a request carries the proof in the cookie of this name, or the secret itself as a bearer's."""
    bearer, _, given = request.headers.get("authorization", "").partition(" ")
    if bearer.lower() == "bearer" and is_secret(secret, given):
        return True
    return _proven(secret, request.cookies.get(cookie, ""))


def is_secret(secret: bytes, given: str) -> bool:
    """Whether a text is the secret, in a time that does not tell how near it was."""
    return hmac.compare_digest(given.strip().lower().encode("utf-8", "replace"), secret.hex().encode())


def _proven(secret: bytes, value: str, now: float | None = None) -> bool:
    until, _, proof = value.partition(".")
    if not until.isascii() or not until.isdigit() or len(until) > 12:
        return False
    genuine = hmac.compare_digest(proof.encode("utf-8", "replace"), _proof(secret, until).encode())
    return genuine and int(until) > (time.time() if now is None else now)


def _proof(secret: bytes, until: str) -> str:
    return hmac.new(secret, b"holder" + until.encode(), hashlib.sha256).hexdigest()
