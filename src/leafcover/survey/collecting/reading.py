"""A request's body, read no further than an honest one is long, and no longer than patience lasts."""

import asyncio
from urllib.parse import urlsplit

from starlette.requests import ClientDisconnect, Request

PATIENCE_SECONDS = 10.0


class Declined(Exception):
    """A request that is not served, with its status and one line for whoever sent it."""

    def __init__(self, status: int, why: str) -> None:
        super().__init__(why)
        self.status, self.why = status, why


async def body_of(request: Request, *, kind: str, most: int) -> bytes:
    """The bytes of a body of one content type, at most so many."""
    given = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if given != kind:
        raise Declined(415, f"The content type must be {kind}.")
    announced = request.headers.get("content-length", "")
    if announced.isdigit() and int(announced[:12]) > most:
        raise Declined(413, "The message is too long.")
    try:
        async with asyncio.timeout(PATIENCE_SECONDS):
            content = bytearray()
            async for part in request.stream():
                content += part
                if len(content) > most:
                    raise Declined(413, "The message is too long.")
            return bytes(content)
    except TimeoutError:
        raise Declined(408, "The message did not arrive in time.") from None
    except ClientDisconnect:
        raise Declined(400, "The message broke off.") from None


def is_foreign(request: Request) -> bool:
    """Whether another site's page made the browser send this; programs that are no browsers say nothing of it.

    A browser tells it itself, in a header that no script can set, wherever the connection is secure or local;
    elsewhere the origin is held against the host.
    """
    site = request.headers.get("sec-fetch-site")
    if site is not None:
        return site not in ("same-origin", "none")
    origin = request.headers.get("origin")
    return origin is not None and not _same_place(origin, request.headers.get("host", ""))


def is_from_file(request: Request) -> bool:
    """Whether the sender is a file opened in a browser (or a page that hides where it comes from)."""
    return request.headers.get("origin") == "null"


def _same_place(origin: str, host: str) -> bool:
    try:
        parts = urlsplit(origin)
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and bool(host) and parts.netloc.lower() == host.lower()
