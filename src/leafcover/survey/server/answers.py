"""The route that receives answers: it checks every field and acknowledges an answer once it is on disk.

Reading a request (`body_of`, `is_foreign`) comes first, then the thread that writes to the store (`Writer`), then the
route itself (`answering`).
"""

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

from leafcover.messages import catalogue
from leafcover.survey.client import Answer, Message, Outdated, Refused, length, number_of, received
from leafcover.survey.questionnaire import Survey
from leafcover.survey.storage import Acceptance, Opens, Store

PATIENCE_SECONDS = 10.0  # for the head of a request, and for its body
MOST_TOGETHER = 256  # answers in one transaction; at 200 a second a few wait at a time
SLACK_BYTES = 1024  # for programs that write JSON with spaces

log = logging.getLogger(__name__)
say = catalogue("survey")


class Declined(Exception):
    """A request that is refused, with its status and one line for the sender."""

    def __init__(self, status: int, why: str) -> None:
        super().__init__(why)
        self.status, self.why = status, why


async def body_of(request: Request, *, kind: str, most: int) -> bytes:
    """The body of a request, if it has this content type and at most this many bytes and arrives in time."""
    given = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if given != kind:
        raise Declined(415, say("refused-type", kind=kind))
    announced = request.headers.get("content-length", "")
    if announced.isdigit() and int(announced[:12]) > most:
        raise Declined(413, say("refused-length"))
    try:
        async with asyncio.timeout(PATIENCE_SECONDS):
            content = bytearray()
            async for part in request.stream():
                content += part
                if len(content) > most:
                    raise Declined(413, say("refused-length"))
            return bytes(content)
    except TimeoutError:
        raise Declined(408, say("refused-late")) from None
    except ClientDisconnect:
        raise Declined(400, say("refused-broken")) from None


def is_foreign(request: Request) -> bool:
    """Whether a page of another site made the browser send this; other programs send neither header.

    On a secure or local connection the browser says so in a header that no script can set. Elsewhere the origin is
    compared with the host.
    """
    site = request.headers.get("sec-fetch-site")
    if site is not None:
        return site not in ("same-origin", "none")
    origin = request.headers.get("origin")
    return origin is not None and not _same_place(origin, request.headers.get("host", ""))


def is_from_file(request: Request) -> bool:
    """Whether the sender is a file opened in a browser (or a page that hides its origin)."""
    return request.headers.get("origin") == "null"


def _same_place(origin: str, host: str) -> bool:
    try:
        parts = urlsplit(origin)
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and bool(host) and parts.netloc.lower() == host.lower()


# Answers that arrive together are written together: one thread, one transaction, one wait for the disk.


class Unavailable(Exception):
    """The store cannot be written to at the moment; it is unknown whether anything was stored."""


@dataclass(frozen=True)
class _Waiting:
    answer: Answer
    token: int | None
    loop: asyncio.AbstractEventLoop
    verdict: asyncio.Future[Acceptance]

    def resolve(self, verdict: Acceptance | None) -> None:
        self.loop.call_soon_threadsafe(self._resolve, verdict)

    def _resolve(self, verdict: Acceptance | None) -> None:
        if self.verdict.done():  # the device disconnected in the meantime
            return
        if verdict is None:
            self.verdict.set_exception(Unavailable())
        else:
            self.verdict.set_result(verdict)


class Writer:
    """The only thread that writes to the store. ``add`` returns when the answer is on disk."""

    def __init__(self, opened: Opens) -> None:
        self._opened = opened
        self._waiting: queue.SimpleQueue[_Waiting | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._work, name="writer", daemon=True)

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def stop(self) -> None:
        """Write what is waiting, then end the thread."""
        self._waiting.put(None)
        self._thread.join()

    async def add(self, answer: Answer, token: int | None) -> Acceptance:
        """Store an answer."""
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
            except Exception as error:  # whatever the database raises, the devices must get a reply
                # Without the message and the traceback, which may contain an address or an answer.
                log.error("answers could not be written: %s", type(error).__name__)  # noqa: TRY400
                for one in waiting:
                    one.resolve(None)
            else:
                for one, verdict in zip(waiting, verdicts, strict=True):
                    one.resolve(verdict)
        if store is not None:
            store.close()

    def _next(self) -> list[_Waiting | None]:
        """The next answer and those waiting behind it."""
        batch = [self._waiting.get()]
        while len(batch) < MOST_TOGETHER:
            try:
                batch.append(self._waiting.get_nowait())
            except queue.Empty:
                break
        return batch


# The route itself.


class Received(BaseModel):
    """The reply to a device."""

    received: bool
    why: str = ""


def answering(survey: Survey, writer: Writer, secret: bytes) -> APIRouter:
    """The routes that receive answers."""
    router = APIRouter()
    most = length(survey) + SLACK_BYTES

    @router.post(
        "/answers",
        status_code=201,
        response_model=Received,
        responses={
            status: {"model": Received, "description": words}
            for status, words in {
                200: "Already received; counted once.",
                400: "The connection ended before the message was complete.",
                403: "Sent by another site, or with a token that was not issued.",
                408: "The message did not arrive in time.",
                409: "The token or the id is already used, or the survey has changed.",
                413: "The message is too long.",
                415: "The message is not JSON.",
                422: "The message is not an answer to this survey.",
                503: "The store cannot be written to; send the same bytes again.",
            }.items()
        },
        openapi_extra={
            "requestBody": {"required": True, "content": {"application/json": {"schema": Message.model_json_schema()}}}
        },
    )
    async def take(request: Request) -> Response:
        """Store one randomised answer."""
        headers = _shared(survey, request)
        try:
            verdict = await _taken(request)
        except Declined as refused:
            return _reply(refused.status, refused.why, headers)
        if verdict in (Acceptance.spent, Acceptance.taken):
            return _reply(409, say("refused-again"), headers)
        return _reply(201 if verdict is Acceptance.stored else 200, "", headers)

    async def _taken(request: Request) -> Acceptance:
        if is_foreign(request) and not (survey.offline and is_from_file(request)):
            raise Declined(403, say("refused-site"))
        try:
            answer, token = received(survey, await body_of(request, kind="application/json", most=most))
        except Refused as error:
            raise Declined(409 if isinstance(error, Outdated) else 422, str(error)) from None
        number = number_of(secret, survey.fingerprint, token) if survey.tokens else None
        if survey.tokens and number is None:
            raise Declined(403, say("refused-token"))
        try:
            return await writer.add(answer, number)
        except Unavailable:
            raise Declined(503, say("refused-store")) from None

    @router.options("/answers", include_in_schema=False)
    async def may_send(request: Request) -> Response:
        """Whether a page opened as a file may send here."""
        return Response(status_code=204, headers=_shared(survey, request))

    return router


def _shared(survey: Survey, request: Request) -> Mapping[str, str]:
    """The headers that let the offline file, and nothing else, read the acknowledgement."""
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


def _reply(status: int, why: str, headers: Mapping[str, str]) -> Response:
    return JSONResponse(Received(received=status < 300, why=why).model_dump(), status, headers)
