"""A collector for tests: serves a page on the loopback address and writes down every byte that arrives."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from leafcover.survey.pages import Page

RECEIVED = (201, b'{"received":true}')


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
class Recorder:
    """What to serve and how to answer, to be changed at will, and all requests so far."""

    page: Page
    reply: tuple[int, bytes] = RECEIVED
    requests: list[Request] = field(default_factory=list)
    address: str = ""

    @property
    def answers(self) -> list[Request]:
        return [request for request in self.requests if request.method == "POST"]


@contextmanager
def recording(page: Page) -> Iterator[Recorder]:
    recorder = Recorder(page)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        wbufsize = -1  # head and body in one packet: two would wait for each other

        def handle_any(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            recorder.requests.append(Request(self.command, self.path, dict(self.headers), body))
            if self.command == "POST":
                self.answer(*recorder.reply, kind="application/json")
            elif self.command == "OPTIONS":
                self.answer(204, b"", kind="text/plain")
            elif self.path == "/":
                self.answer(200, recorder.page.html.encode(), kind="text/html; charset=utf-8")
            else:
                self.answer(200, b"another page", kind="text/plain")

        do_GET = do_POST = do_OPTIONS = handle_any  # noqa: N815  # names that http.server asks for

        def answer(self, status: int, body: bytes, kind: str) -> None:
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.send_header("Cache-Control", "no-store")
            if kind.startswith("text/html"):
                self.send_header("Content-Security-Policy", recorder.page.policy)
            if self.headers.get("Origin") == "null":  # a page in a file has no origin of its own
                self.send_header("Access-Control-Allow-Origin", "null")
                self.send_header("Access-Control-Allow-Methods", "POST")
                self.send_header("Access-Control-Allow-Headers", "Content-Type")
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    recorder.address = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield recorder
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
