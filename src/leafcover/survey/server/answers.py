"""The one place that takes answers: checked field by field, acknowledged when on disk."""

import asyncio
import logging
import queue
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

from fastapi import APIRouter, Request, Response
from fastapi.responses import JSONResponse
from pydantic import BaseModel
from starlette.requests import ClientDisconnect

from leafcover.survey.client import Answer, Message, Outdated, Refused, length, number_of, received
from leafcover.survey.schema import Survey
from leafcover.survey.storage.base import Acceptance, Opens, Store

# A request's body, read no further than an honest one is long, and no longer than patience lasts.


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


# Answers that arrive together are written together: one thread, one transaction, one wait for the disk.


MOST_TOGETHER = 256  # answers in one transaction; at 200 a second a few wait at a time

log = logging.getLogger(__name__)


class Unavailable(Exception):
    """The store cannot be written to at this moment; nothing is known to be kept."""


@dataclass(frozen=True)
class _Waiting:
    answer: Answer
    token: int | None
    loop: asyncio.AbstractEventLoop
    verdict: asyncio.Future[Acceptance]

    def tell(self, verdict: Acceptance | None) -> None:
        self.loop.call_soon_threadsafe(self._tell, verdict)

    def _tell(self, verdict: Acceptance | None) -> None:
        if self.verdict.done():  # the device hung up meanwhile
            return
        if verdict is None:
            self.verdict.set_exception(Unavailable())
        else:
            self.verdict.set_result(verdict)


class Writer:
    """The one thread that writes to the store. ``add`` returns when the answer is on disk."""

    def __init__(self, opened: Opens) -> None:
        self._opened = opened
        self._waiting: queue.SimpleQueue[_Waiting | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._work, name="writer", daemon=True)

    def start(self) -> None:
        """Begin to write."""
        self._thread.start()

    def stop(self) -> None:
        """Write what waits, then end."""
        self._waiting.put(None)
        self._thread.join()

    async def add(self, answer: Answer, token: int | None) -> Acceptance:
        """Keep an answer."""
        loop = asyncio.get_running_loop()
        one = _Waiting(answer, token, loop, loop.create_future())
        self._waiting.put(one)
        return await one.verdict

    def _work(self) -> None:
        store: Store | None = None
        ended = False
        while not ended:
            batch = self._next()
            ended = None in batch
            waiting = [one for one in batch if one is not None]
            if not waiting:
                continue
            try:
                store = store or self._opened()
                verdicts = store.add([(one.answer, one.token) for one in waiting])
            except Exception as error:  # whatever a database throws, the devices must be told
                # Without its words and its trace, which may hold an address or an answer.
                log.error("answers could not be written: %s", type(error).__name__)  # noqa: TRY400
                for one in waiting:
                    one.tell(None)
            else:
                for one, verdict in zip(waiting, verdicts, strict=True):
                    one.tell(verdict)
        if store is not None:
            store.close()

    def _next(self) -> list[_Waiting | None]:
        """The next answer, and those that wait behind it."""
        batch = [self._waiting.get()]
        while len(batch) < MOST_TOGETHER:
            try:
                batch.append(self._waiting.get_nowait())
            except queue.Empty:
                break
        return batch


SLACK_BYTES = 1024  # for programs that write JSON with spaces
AGAIN = "This answer was not taken: one had come before. Coins tossed again would average out and give you away."


class Received(BaseModel):
    """What a device is told."""

    received: bool
    why: str = ""


def answering(survey: Survey, writer: Writer, secret: bytes) -> APIRouter:
    """The routes that take answers."""
    router = APIRouter()
    most = length(survey) + SLACK_BYTES

    @router.post(
        "/answers",
        status_code=201,
        response_model=Received,
        responses={
            status: {"model": Received, "description": words}
            for status, words in {
                200: "Received before; counted once.",
                400: "The message broke off.",
                403: "From another site, or with a token that was never issued.",
                408: "Not complete in time.",
                409: "The token or the id was used, or the survey has changed.",
                413: "Too long.",
                415: "Not JSON.",
                422: "Not an answer to this survey.",
                503: "The store cannot be written to; send the same bytes again.",
            }.items()
        },
        openapi_extra={
            "requestBody": {"required": True, "content": {"application/json": {"schema": Message.model_json_schema()}}}
        },
    )
    async def take(request: Request) -> Response:
        """Keep one disguised answer."""
        headers = _shared(survey, request)
        try:
            verdict = await _taken(request)
        except Declined as refused:
            return _told(refused.status, refused.why, headers)
        if verdict in (Acceptance.spent, Acceptance.taken):
            return _told(409, AGAIN, headers)
        return _told(201 if verdict is Acceptance.stored else 200, "", headers)

    async def _taken(request: Request) -> Acceptance:
        if is_foreign(request) and not (survey.offline and is_from_file(request)):
            raise Declined(403, "Answers are taken from the survey's own page alone.")
        try:
            answer, token = received(survey, await body_of(request, kind="application/json", most=most))
        except Refused as error:
            raise Declined(409 if isinstance(error, Outdated) else 422, str(error)) from None
        number = number_of(secret, survey.fingerprint, token) if survey.tokens else None
        if survey.tokens and number is None:
            raise Declined(403, "This token was not issued for this survey.")
        try:
            return await writer.add(answer, number)
        except Unavailable:
            raise Declined(503, "The store cannot be written to now. Send again.") from None

    @router.options("/answers", include_in_schema=False)
    async def may_send(request: Request) -> Response:
        """Whether a page opened as a file may send here."""
        return Response(status_code=204, headers=_shared(survey, request))

    return router


def _shared(survey: Survey, request: Request) -> Mapping[str, str]:
    """What lets the survey's offline file read the acknowledgement; no other place may."""
    if not (survey.offline and is_from_file(request)):
        return {}
    return {
        "Access-Control-Allow-Origin": "null",
        "Access-Control-Allow-Methods": "POST",
        "Access-Control-Allow-Headers": "content-type",
        "Access-Control-Allow-Private-Network": "true",
        "Cross-Origin-Resource-Policy": "cross-origin",
        "Vary": "Origin",
    }


def _told(status: int, why: str, headers: Mapping[str, str]) -> Response:
    return JSONResponse(Received(received=status < 300, why=why).model_dump(), status, headers)
