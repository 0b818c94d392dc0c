"""The survey owner's pages: live estimates, the tree, the design and all answers as a file.

The routes come first (`owner_routes`), then the pages as HTML, then the check of the survey's secret and of the cookie
that proves it for some hours.
"""

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
from leafcover.messages import catalogue
from leafcover.survey.design import design
from leafcover.survey.pages import owner_page
from leafcover.survey.questionnaire import Survey
from leafcover.survey.results import LEAST_ANSWERS, export, predictable, results, stored_answers, tree_of
from leafcover.survey.server.answers import Declined, body_of, is_foreign
from leafcover.survey.storage import Opens, StoreFailed
from leafcover.table.table import Table

MOST_FORM_BYTES = 1024
FORM = "application/x-www-form-urlencoded"
KINDS = {"csv": "text/csv; charset=utf-8", "parquet": "application/vnd.apache.parquet"}
CLOSED: dict[int | str, dict[str, Any]] = {401: {"description": "The secret of the survey is required."}}
REFRESH_SECONDS = 30
HOURS = 8  # that the cookie is valid

say = catalogue("survey")


def owner_routes(survey: Survey, opened: Opens, secret: bytes) -> APIRouter:
    """The routes of the survey owner; all but the login need the secret."""
    router = APIRouter(prefix="/owner", responses=CLOSED)

    cookie = cookie_name(survey.fingerprint)
    targets = predictable(survey)
    first = targets[0] if targets else ""

    def answers() -> Table:
        with closing(opened(create=False)) as store:
            return stored_answers(survey, store)

    async def for_owner(request: Request, made: Callable[[], Response]) -> Response:
        """The page for the survey owner; for anyone else the login."""
        if not is_owner(secret, cookie, request):
            return shown(survey, "enter", {"wrong": False}, status=401)
        try:
            return await run_in_threadpool(made)
        except StoreFailed as error:
            return shown(survey, "refused", {"why": str(error)}, status=503)
        except LeafcoverError as error:
            return shown(survey, "refused", {"why": str(error)}, status=409)

    @router.get("", response_class=Response, responses={503: {"description": "The store cannot be read."}})
    async def overview(request: Request) -> Response:
        """The estimates, from a hundred answers upwards."""

        def made() -> Response:
            table = answers()
            enough = len(table) >= LEAST_ANSWERS
            found = results(survey, table) if enough else None
            return shown(survey, "results", {"answers": len(table), "least": LEAST_ANSWERS, "found": found})

        return await for_owner(request, made)

    @router.get(
        "/tree", response_class=Response, responses={409: {"description": "Too few answers, or an unknown question."}}
    )
    async def tree(request: Request, target: str = "") -> Response:
        """The tree that predicts one question from the others."""

        def made() -> Response:
            chosen = target or first
            found = tree_of(survey, answers(), chosen)
            return shown(survey, "tree", {"targets": targets, "target": chosen, "found": found})

        return await for_owner(request, made)

    @router.get(
        "/tree.svg",
        response_class=Response,
        responses={409: {"description": "Too few answers, or an unknown question."}},
    )
    async def tree_picture(request: Request, target: str = "") -> Response:
        """The same tree as a picture."""
        return await for_owner(request, lambda: drawn(tree_of(survey, answers(), target or first).picture))

    @router.get("/design", response_class=Response, responses={409: {"description": "A figure is out of range."}})
    async def designed(request: Request, error: str = "0.05", share: str = "0.1") -> Response:
        """What an answer reveals, and how many answers are needed."""

        def made() -> Response:
            wanted, expected = _number("error", error), _number("share", share)
            return shown(survey, "design", {"found": design(survey, error=wanted, share=expected)})

        return await for_owner(request, made)

    @router.get(
        "/answers.{kind}", response_class=Response, responses={404: {}, 409: {"description": "No answers yet."}}
    )
    async def exported(request: Request, kind: str) -> Response:
        """All answers in a random order, without ids and days."""

        def made() -> Response:
            if kind not in KINDS:
                return shown(survey, "refused", {"why": say("refused-export")}, status=404)
            with TemporaryDirectory() as folder:  # readable by its owner only
                place = Path(folder, f"answers.{kind}")
                export(survey, answers(), place)
                content = place.read_bytes()
            saved = {"Content-Disposition": f'attachment; filename="answers.{kind}"'}
            return Response(content, media_type=KINDS[kind], headers=saved)

        return await for_owner(request, made)

    @router.post("/enter", response_class=Response, responses=_login_responses(), openapi_extra=_login_form())
    async def enter(request: Request) -> Response:
        """Log in with the secret; a cookie then proves it for some hours."""
        if is_foreign(request):
            return shown(survey, "refused", {"why": say("refused-secret-site")}, status=403)
        try:
            sent = await body_of(request, kind=FORM, most=MOST_FORM_BYTES)
        except Declined as declined:
            return shown(survey, "refused", {"why": declined.why}, status=declined.status)
        if not is_secret(secret, parse_qs(sent.decode("utf-8", "replace")).get("secret", [""])[0]):
            return shown(survey, "enter", {"wrong": True}, status=401)
        inside = RedirectResponse("/owner", 303)
        inside.set_cookie(
            cookie, cookie_value(secret), max_age=HOURS * 3600, path="/owner",
            secure=request.url.scheme == "https", httponly=True, samesite="strict",
        )  # fmt: skip
        return inside

    @router.post("/leave", response_class=Response, responses={303: {"description": "To the login."}})
    async def leave() -> Response:
        """Log out: delete the cookie."""
        outside = RedirectResponse("/owner", 303)
        outside.delete_cookie(cookie, path="/owner")
        return outside

    return router


def _number(what: str, given: str) -> float:
    """A number in a form; the framework would refuse it before it checks the secret."""
    try:
        return float(given)
    except ValueError:
        raise ValueOutOfRange(what, given, "a number such as 0.1") from None


def _login_responses() -> dict[int | str, dict[str, Any]]:
    descriptions = {
        303: "To the results.",
        400: "The connection ended before the form was complete.",
        403: "Sent by another site.",
        408: "The form did not arrive in time.",
        413: "The form is too long.",
        415: "The content is not a form.",
    }
    return {status: {"description": text} for status, text in descriptions.items()}


def _login_form() -> dict[str, Any]:
    form = {"type": "object", "properties": {"secret": {"type": "string"}}, "required": ["secret"]}
    return {"requestBody": {"required": True, "content": {FORM: {"schema": form}}}}


# The pages as HTML: they contain no script and load nothing from elsewhere.


def shown(survey: Survey, page: str, content: Mapping[str, Any], *, status: int = 200) -> Response:
    """A page of the survey owner."""
    made = owner_page(f"owner_{page}.html.jinja", survey=survey, page=page, refresh=REFRESH_SECONDS, **content)
    # Without a referrer the collector could not see that its own form was sent.
    return HTMLResponse(made.html, status, {"Content-Security-Policy": made.policy, "Referrer-Policy": "same-origin"})


def drawn(svg: str) -> Response:
    """A picture on a page of the survey owner; its styles are inline."""
    policy = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'"
    return Response(svg, media_type="image/svg+xml", headers={"Content-Security-Policy": policy})


# Access: the survey's secret, then a cookie that proves it for some hours.


def cookie_name(fingerprint: str) -> str:
    """The name of the cookie, different for each survey, because all ports of a machine share their cookies.

    >>> cookie_name("0123456789abcdef")
    'leafcover_owner_01234567'
    """
    return f"leafcover_owner_{fingerprint[:8]}"


def cookie_value(secret: bytes, now: float | None = None) -> str:
    """A proof that expires after some hours."""
    until = str(int((time.time() if now is None else now) + HOURS * 3600))
    return f"{until}.{_proof(secret, until)}"


def is_owner(secret: bytes, cookie: str, request: Request) -> bool:
    """Whether a request carries the proof in this cookie, or the secret itself as a bearer token."""
    bearer, _, given = request.headers.get("authorization", "").partition(" ")
    if bearer.lower() == "bearer" and is_secret(secret, given):
        return True
    return _proven(secret, request.cookies.get(cookie, ""))


def is_secret(secret: bytes, given: str) -> bool:
    """Whether a text is the secret, compared in constant time."""
    return hmac.compare_digest(given.strip().lower().encode("utf-8", "replace"), secret.hex().encode())


def _proven(secret: bytes, value: str, now: float | None = None) -> bool:
    until, _, proof = value.partition(".")
    if not until.isascii() or not until.isdigit() or len(until) > 12:
        return False
    genuine = hmac.compare_digest(proof.encode("utf-8", "replace"), _proof(secret, until).encode())
    return genuine and int(until) > (time.time() if now is None else now)


def _proof(secret: bytes, until: str) -> str:
    return hmac.new(secret, b"owner" + until.encode(), hashlib.sha256).hexdigest()
