"""The holder's pages as HTML: no script runs in them, and nothing is loaded from elsewhere."""

from collections.abc import Mapping
from typing import Any

from fastapi.responses import HTMLResponse, Response

from leafcover.survey.questionnaire import Survey
from leafcover.survey.templates import holder_page

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
