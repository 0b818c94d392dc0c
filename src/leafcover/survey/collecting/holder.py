"""What only the holder sees: live estimates, the tree, the design, and all answers as a file."""

from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import parse_qs

from fastapi import APIRouter, Request
from fastapi.responses import RedirectResponse, Response
from starlette.concurrency import run_in_threadpool

from leafcover.errors import LeafcoverError, ValueOutOfRange
from leafcover.survey.answers import export, stored_answers
from leafcover.survey.collecting.reading import Declined, body_of, is_foreign
from leafcover.survey.collecting.session import HOURS, cookie_name, cookie_value, is_holder, is_secret
from leafcover.survey.collecting.showing import drawn, shown
from leafcover.survey.design import design
from leafcover.survey.questionnaire import Survey
from leafcover.survey.results import LEAST_ANSWERS, results
from leafcover.survey.storing.store import Opens, StoreFailed
from leafcover.survey.tree import predictable, tree_of
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
