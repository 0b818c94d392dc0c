"""The collector of one survey: the web application, and how it is run.

`application` joins the pages and routes; `serve` runs it as one process without an access log. `Headers` adds the
security headers to every response, and `Connection` closes connections that stay silent.
"""

import asyncio
import ipaddress
import logging
import socket
import ssl
from collections.abc import AsyncIterator
from contextlib import ExitStack, asynccontextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from fastapi import FastAPI
from fastapi.responses import HTMLResponse, Response
from starlette.datastructures import MutableHeaders
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from leafcover.errors import OutputError, PlanError
from leafcover.messages import catalogue
from leafcover.survey.pages import page_of
from leafcover.survey.questionnaire import Survey
from leafcover.survey.server.admin import owner_routes
from leafcover.survey.server.answers import PATIENCE_SECONDS, Writer, answering
from leafcover.survey.storage import Opens

API_VERSION = "1"

log = logging.getLogger(__name__)
say = catalogue("survey")


def application(survey: Survey, opened: Opens, secret: bytes) -> FastAPI:
    """The respondent's page, the answers and the survey owner's pages.

    ``opened`` opens the store: once for the writer, and once for every reading.
    """
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
    app.include_router(owner_routes(survey, opened, secret))
    app.add_middleware(Headers)
    return app


# Running the collector: one process, no access log, on loopback by default.


@dataclass(frozen=True)
class Certificate:
    """The files of a TLS certificate."""

    chain: Path
    key: Path


def checked_certificate(certificate: Certificate) -> None:
    """Refuse a certificate or key that cannot be used; never ask for a password."""

    def no_password() -> str:
        raise PlanError(
            f"The key '{certificate.key}' is encrypted. Give a key without a password, readable by you only."
        )

    try:
        ssl.create_default_context(ssl.Purpose.CLIENT_AUTH).load_cert_chain(
            certificate.chain, certificate.key, no_password
        )
    except OSError as error:
        why = {"KEY_VALUES_MISMATCH": "the key belongs to another certificate"}.get(
            getattr(error, "reason", None) or "", "they are not both readable PEM files"
        )
        raise PlanError(
            f"'{certificate.chain}' and '{certificate.key}' cannot be used as certificate and key: {why}. "
            "Give a certificate chain and its key."
        ) from None


def checked_installed() -> None:
    """Refuse when the packages of the collector are not installed."""
    if missing := [name for name in ("fastapi", "jinja2", "uvicorn") if find_spec(name) is None]:
        raise PlanError(f"Serving a survey needs {', '.join(missing)}. Install them: pip install 'leafcover[survey]'.")


def listening(host: str, port: int) -> socket.socket:
    """A listening socket, or an error that says why there cannot be one."""
    try:
        family, kind, protocol, _, place = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        with ExitStack() as unless_it_listens:
            waiting = unless_it_listens.enter_context(socket.socket(family, kind, protocol))
            waiting.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            waiting.bind(place)
            waiting.listen(1024)
            unless_it_listens.pop_all()
            return waiting
    except (OSError, OverflowError, UnicodeError) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise OutputError(f"Cannot listen on {host} port {port}: {why}. Choose another port or host.") from None


def is_loopback(host: str) -> bool:
    """Whether a host is reachable from this machine only."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def serve(
    survey: Survey,
    opened: Opens,
    secret: bytes,
    waiting: socket.socket,
    certificate: Certificate | None = None,
) -> None:
    """Serve requests until stopped."""
    import uvicorn

    logging.basicConfig(level=logging.WARNING, format="%(levelname)s %(name)s: %(message)s")
    config = uvicorn.Config(
        application(survey, opened, secret),
        http=Connection,
        access_log=False,  # it would record who answered when
        server_header=False,
        log_config=None,
        log_level="error",
        timeout_keep_alive=20,
        timeout_graceful_shutdown=10,
        ssl_certfile=None if certificate is None else certificate.chain,
        ssl_keyfile=None if certificate is None else certificate.key,
    )
    uvicorn.Server(config).run(sockets=[waiting])


# The headers of every response: no caching, framing, sniffing or referrer; an internal error shows no detail.


ALWAYS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "browsing-topics=(), camera=(), geolocation=(), microphone=()",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}


class Headers:
    """Adds the headers, and replies to an internal error without its message, which could contain what was sent."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on and add the headers to its response."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        begun = False

        async def with_headers(message: Message) -> None:
            nonlocal begun
            if message["type"] == "http.response.start":
                begun = True
                headers = MutableHeaders(scope=message)
                for name, value in ALWAYS.items():
                    headers.setdefault(name, value)
            await send(message)

        try:
            await self.app(scope, receive, with_headers)
        except Exception as error:
            # Without the message and the traceback, which may contain what was sent.
            log.error("a request failed: %s at %s", type(error).__name__, _place(error))  # noqa: TRY400
            if begun:
                raise ConnectionAbortedError from None
            await JSONResponse({"why": say("refused-fault")}, 500)(scope, receive, with_headers)


def _place(error: BaseException) -> str:
    trace: Any = error.__traceback__
    while trace.tb_next:
        trace = trace.tb_next
    return f"{trace.tb_frame.f_globals.get('__name__', '?')}:{trace.tb_lineno}"


# Silent connections are closed; otherwise someone could open many of them and lock everybody else out.


class Connection(H11Protocol):
    """One device's connection. The head of a request must arrive in time, like its body (see `body_of`)."""

    def __init__(self, *given: Any, patience: float = PATIENCE_SECONDS, **named: Any) -> None:
        super().__init__(*given, **named)
        self._patience = patience
        self._waiting: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as in uvicorn
        """Start waiting for the first request."""
        super().connection_made(transport)
        self._wait()

    def data_received(self, data: bytes) -> None:
        """Receive bytes; when they end inside the head of a request, wait for the rest."""
        super().data_received(data)
        if self.cycle is not None and not self.cycle.response_complete:
            self._stop_waiting()
        elif self._waiting is None:
            self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop waiting."""
        self._stop_waiting()
        super().connection_lost(exc)

    def _wait(self) -> None:
        self._waiting = self.loop.call_later(self._patience, self.transport.close)

    def _stop_waiting(self) -> None:
        if self._waiting is not None:
            self._waiting.cancel()
            self._waiting = None
