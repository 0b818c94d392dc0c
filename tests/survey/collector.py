"""A collector for tests: it serves a page on loopback, replies as it is told, and records every request."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from leafcover.survey.pages import Page

RECEIVED = (201, b'{"received":true}')
DROP = (0, b"")  # the connection is closed without a reply


@dataclass(frozen=True)
class Request:
    method: str
    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def content(self) -> dict[str, object]:
        return json.loads(self.body)


@dataclass
class Collector:
    """The page to serve, the reply to an answer (both may be changed at any time), and all requests so far."""

    page: Page | None = None
    reply: tuple[int, bytes] = RECEIVED
    earlier: list[tuple[int, bytes]] = field(default_factory=list)  # replies that come first, each once
    location: str = ""
    requests: list[Request] = field(default_factory=list)
    address: str = ""

    @property
    def answers(self) -> list[Request]:
        return [request for request in self.requests if request.method == "POST"]

    @property
    def bodies(self) -> list[bytes]:
        return [request.body for request in self.requests]

    @property
    def paths(self) -> list[str]:
        return [request.path for request in self.requests]

    @property
    def headers(self) -> list[dict[str, str]]:
        return [request.headers for request in self.requests]

    def reply_to(self, request: Request) -> tuple[int, bytes, str]:
        """Status, body and content type; without a page every request gets the reply to an answer."""
        if request.method == "POST" or self.page is None:
            return (*(self.earlier.pop(0) if self.earlier else self.reply), "application/json")
        if request.method == "OPTIONS":
            return 204, b"", "text/plain"
        if request.path == "/":
            return 200, self.page.html.encode(), "text/html; charset=utf-8"
        return 200, b"another page", "text/plain"


@contextmanager
def collector(*replies: tuple[int, bytes], page: Page | None = None, location: str = "") -> Iterator[Collector]:
    """Serve on loopback; the last of the replies is repeated."""
    *earlier, last = replies or (RECEIVED,)
    seen = Collector(page, last, earlier, location)
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(seen))
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    seen.address = f"http://127.0.0.1:{server.server_port}"
    try:
        yield seen
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def _handler(seen: Collector) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        wbufsize = -1  # head and body in one packet: two would wait for each other

        def handle_any(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            request = Request(self.command, self.path, dict(self.headers), body)
            seen.requests.append(request)
            status, content, kind = seen.reply_to(request)
            if not status:
                self.close_connection = True
                return
            self.send_response(status)
            for name, value in self.named(kind).items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        do_GET = do_POST = do_OPTIONS = handle_any  # noqa: N815  # names that http.server requires

        def named(self, kind: str) -> dict[str, str]:
            headers = {"Content-Type": kind, "Cache-Control": "no-store"}
            if seen.location:
                headers["Location"] = seen.location
            if kind.startswith("text/html") and seen.page is not None:
                headers["Content-Security-Policy"] = seen.page.policy
            if self.headers.get("Origin") == "null":  # a page in a file has no origin of its own
                headers["Access-Control-Allow-Origin"] = "null"
                headers["Access-Control-Allow-Methods"] = "POST"
                headers["Access-Control-Allow-Headers"] = "Content-Type"
            return headers

        def log_message(self, *_: object) -> None:
            """Nothing."""

    return Handler
