"""The one place that takes answers: checked field by field, acknowledged when on disk."""

from collections.abc import Mapping

from fastapi import APIRouter, Request, Response
from fastapi.responses import JSONResponse
from pydantic import BaseModel

from leafcover.survey.collecting.reading import Declined, body_of, is_foreign, is_from_file
from leafcover.survey.collecting.writer import Unavailable, Writer
from leafcover.survey.message import Message, Outdated, Refused, length, received
from leafcover.survey.questionnaire import Survey
from leafcover.survey.storing.store import Verdict
from leafcover.survey.tokens import number_of

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
        if verdict in (Verdict.spent, Verdict.taken):
            return _told(409, AGAIN, headers)
        return _told(201 if verdict is Verdict.stored else 200, "", headers)

    async def _taken(request: Request) -> Verdict:
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
