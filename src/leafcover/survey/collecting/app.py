"""The collector of one survey as a web application."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import FastAPI
from fastapi.responses import HTMLResponse, Response

from leafcover.survey.collecting.answers import answering
from leafcover.survey.collecting.headers import Headers
from leafcover.survey.collecting.holder import holding
from leafcover.survey.collecting.writer import Writer
from leafcover.survey.page import page_of
from leafcover.survey.questionnaire import Survey
from leafcover.survey.storing.store import Opens

API_VERSION = "1"


def application(survey: Survey, opened: Opens, secret: bytes) -> FastAPI:
    """The page, the answers and the holder's pages; ``opened`` opens the store, once for writing and once a reading."""
    writer = Writer(opened)

    @asynccontextmanager
    async def running(app: FastAPI) -> AsyncIterator[None]:
        writer.start()
        yield
        writer.stop()

    # The interactive pages of the framework load scripts from elsewhere, so they are off.
    app = FastAPI(title=survey.title, version=API_VERSION, docs_url=None, redoc_url=None, lifespan=running)
    page = page_of(survey)

    @app.head("/", include_in_schema=False)
    @app.get("/", response_class=HTMLResponse)
    async def survey_page() -> Response:
        """The survey."""
        return HTMLResponse(page.html, headers={"Content-Security-Policy": page.policy})

    app.include_router(answering(survey, writer, secret))
    app.include_router(holding(survey, opened, secret))
    app.add_middleware(Headers)
    return app
