"""What only the holder sees: live estimates, the tree, the design, and all answers as a file."""

import hashlib
import hmac
import time
from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import parse_qs

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from starlette.concurrency import run_in_threadpool

from leafcover.errors import LeafcoverError, ValueOutOfRange
from leafcover.survey.design import design
from leafcover.survey.pages import holder_page
from leafcover.survey.results import LEAST_ANSWERS, export, predictable, results, stored_answers, tree_of
from leafcover.survey.schema import Survey
from leafcover.survey.server.answers import Declined, body_of, is_foreign
from leafcover.survey.storage.base import Opens, StoreFailed
from leafcover.table.table import Table

MOST_FORM_BYTES = 1024
FORM = "application/x-www-form-urlencoded"
KINDS = {"csv": "text/csv; charset=utf-8", "parquet": "application/vnd.apache.parquet"}
CLOSED: dict[int | str, dict[str, Any]] = {401: {"description": "The secret is asked for."}}


def holding(survey: Survey, opened: Opens, secret: bytes) -> APIRouter:
    """The routes of the holder; every one but the door needs the secret."""
    router = APIRouter(prefix="/holder", responses=CLOSED)

    cookie = cookie_name(survey.fingerprint)
    targets = predictable(survey)
    first = targets[0] if targets else ""

    def answers() -> Table:
        with closing(opened(create=False)) as store:
            return stored_answers(survey, store)

    async def for_holder(request: Request, made: Callable[[], Response]) -> Response:
        """What is made for the holder; for others the door."""
        if not is_holder(secret, cookie, request):
            return shown(survey, "enter", {"wrong": False}, status=401)
        try:
            return await run_in_threadpool(made)
        except StoreFailed as error:
            return shown(survey, "refused", {"why": str(error)}, status=503)
        except LeafcoverError as error:
            return shown(survey, "refused", {"why": str(error)}, status=409)

    @router.get("", response_class=Response, responses={503: {"description": "The store cannot be read."}})
    async def overview(request: Request) -> Response:
        """What the answers add up to, from a hundred on."""

        def made() -> Response:
            table = answers()
            enough = len(table) >= LEAST_ANSWERS
            found = results(survey, table) if enough else None
            return shown(survey, "results", {"answers": len(table), "least": LEAST_ANSWERS, "found": found})

        return await for_holder(request, made)

    @router.get(
        "/tree", response_class=Response, responses={409: {"description": "Too few answers, or no such question."}}
    )
    async def tree(request: Request, target: str = "") -> Response:
        """The tree that predicts one question from the others."""

        def made() -> Response:
            chosen = target or first
            found = tree_of(survey, answers(), chosen)
            return shown(survey, "tree", {"targets": targets, "target": chosen, "found": found})

        return await for_holder(request, made)

    @router.get(
        "/tree.svg", response_class=Response, responses={409: {"description": "Too few answers, or no such question."}}
    )
    async def tree_picture(request: Request, target: str = "") -> Response:
        """The same tree as a picture."""
        return await for_holder(request, lambda: drawn(tree_of(survey, answers(), target or first).picture))

    @router.get("/design", response_class=Response, responses={409: {"description": "Figures out of their range."}})
    async def designed(request: Request, error: str = "0.05", share: str = "0.1") -> Response:
        """What an answer gives away, and how many are needed."""

        def made() -> Response:
            wanted, expected = _number("The half width", error), _number("The expected share", share)
            return shown(survey, "design", {"found": design(survey, error=wanted, share=expected)})

        return await for_holder(request, made)

    @router.get(
        "/answers.{kind}", response_class=Response, responses={404: {}, 409: {"description": "No answers yet."}}
    )
    async def exported(request: Request, kind: str) -> Response:
        """All answers in a new random order, without ids and days."""

        def made() -> Response:
            if kind not in KINDS:
                return shown(survey, "refused", {"why": "Answers are exported as .csv or .parquet."}, status=404)
            with TemporaryDirectory() as folder:  # only its owner may look into it
                place = Path(folder, f"answers.{kind}")
                export(survey, answers(), place)
                content = place.read_bytes()
            saved = {"Content-Disposition": f'attachment; filename="answers.{kind}"'}
            return Response(content, media_type=KINDS[kind], headers=saved)

        return await for_holder(request, made)

    @router.post("/enter", response_class=Response, responses=_door_responses(), openapi_extra=_door_form())
    async def enter(request: Request) -> Response:
        """Give the secret; a cookie then proves it for some hours."""
        if is_foreign(request):
            return shown(
                survey, "refused", {"why": "The secret is taken from the holder's own page alone."}, status=403
            )
        try:
            sent = await body_of(request, kind=FORM, most=MOST_FORM_BYTES)
        except Declined as declined:
            return shown(survey, "refused", {"why": declined.why}, status=declined.status)
        if not is_secret(secret, parse_qs(sent.decode("utf-8", "replace")).get("secret", [""])[0]):
            return shown(survey, "enter", {"wrong": True}, status=401)
        inside = RedirectResponse("/holder", 303)
        inside.set_cookie(
            cookie, cookie_value(secret), max_age=HOURS * 3600, path="/holder",
            secure=request.url.scheme == "https", httponly=True, samesite="strict",
        )  # fmt: skip
        return inside

    @router.post("/leave", response_class=Response, responses={303: {"description": "To the door."}})
    async def leave() -> Response:
        """Forget the cookie."""
        outside = RedirectResponse("/holder", 303)
        outside.delete_cookie(cookie, path="/holder")
        return outside

    return router


def _number(what: str, given: str) -> float:
    """A field of a form; not left to the framework, which would refuse it before it asks for the secret."""
    try:
        return float(given)
    except ValueError:
        raise ValueOutOfRange(what, given, "a number such as 0.1") from None


def _door_responses() -> dict[int | str, dict[str, Any]]:
    words = {
        303: "Come in.",
        400: "Broken off.",
        403: "From another site.",
        408: "Not in time.",
        413: "Too long.",
        415: "Not a form.",
    }
    return {status: {"description": said} for status, said in words.items()}


def _door_form() -> dict[str, Any]:
    form = {"type": "object", "properties": {"secret": {"type": "string"}}, "required": ["secret"]}
    return {"requestBody": {"required": True, "content": {FORM: {"schema": form}}}}


# The holder's pages as HTML: no script runs in them, and nothing is loaded from elsewhere.


REFRESH_SECONDS = 30


def shown(survey: Survey, page: str, content: Mapping[str, Any], *, status: int = 200) -> Response:
    """A page of the holder."""
    made = holder_page(f"holder_{page}.html.jinja", survey=survey, page=page, refresh=REFRESH_SECONDS, **content)
    # Without a referrer a browser would hide from the collector that its own form was sent.
    return HTMLResponse(made.html, status, {"Content-Security-Policy": made.policy, "Referrer-Policy": "same-origin"})


def drawn(svg: str) -> Response:
    """A picture that a page of the holder shows; its styles stand inside it."""
    policy = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'"
    return Response(svg, media_type="image/svg+xml", headers={"Content-Security-Policy": policy})


# Who may see the holder's pages: whoever gives the survey's secret, then a cookie that proves it for some hours.


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
