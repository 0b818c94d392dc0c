"""A collector for tests: it answers as it is told, and remembers what it was sent."""

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

RECEIVED = (201, b'{"received": true}')
DROP = (0, b"")  # the connection is closed before anything is said


@dataclass
class Collector:
    address: str = ""
    bodies: list[bytes] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)


@contextmanager
def collector(*says: tuple[int, bytes], location: str = "") -> Iterator[Collector]:
    """Serve on loopback; the last answer is repeated."""
    seen = Collector()
    left = list(says)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            seen.paths.append(self.path)
            seen.headers.append(dict(self.headers))
            seen.bodies.append(self.rfile.read(int(self.headers["Content-Length"])))
            status, content = left.pop(0) if len(left) > 1 else left[0]
            if not status:
                self.close_connection = True
                return
            self.send_response(status)
            if location:
                self.send_header("Location", location)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        do_GET = do_POST  # noqa: N815  # the name is inherited

        def log_message(self, format: str, *args: Sequence[object]) -> None:  # noqa: A002  # the name is inherited
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    seen.address = f"http://127.0.0.1:{server.server_port}"
    try:
        yield seen
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
