"""The holder's pages as HTML: no script runs in them, and nothing is loaded from elsewhere."""

from collections.abc import Mapping
from typing import Any

from fastapi.responses import HTMLResponse, Response

from leafcover.survey.questionnaire import Survey
from leafcover.survey.templates import as_is, source, template, text_of

REFRESH_SECONDS = 30


def shown(survey: Survey, page: str, content: Mapping[str, Any], *, status: int = 200) -> Response:
    """A page of the holder."""
    style = text_of("common.css", "holder.css")
    made = template(f"holder_{page}.html.jinja").render(
        survey=survey, page=page, style=as_is(style), refresh=REFRESH_SECONDS, **content
    )
    policy = (
        f"default-src 'none'; style-src {source(style)}; img-src 'self' data:; form-action 'self'; "
        "base-uri 'none'; frame-ancestors 'none'"
    )
    # Without a referrer a browser would hide from the collector that its own form was sent.
    return HTMLResponse(made, status, {"Content-Security-Policy": policy, "Referrer-Policy": "same-origin"})


def drawn(svg: str) -> Response:
    """A picture that a page of the holder shows; its styles stand inside it."""
    policy = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'"
    return Response(svg, media_type="image/svg+xml", headers={"Content-Security-Policy": policy})
