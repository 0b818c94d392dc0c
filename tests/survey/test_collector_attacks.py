"""Requests that no browser sends: each is refused, none is a fault, none leaves a row, and the collector goes on."""

import asyncio
import json
import re
import socket
from contextlib import ExitStack, closing
from functools import partial

import pytest
import uvicorn
from uvicorn.server import ServerState

from leafcover.survey.client import body, length, token
from leafcover.survey.server.app import Connection, application
from leafcover.survey.storage import open_store
from tests.survey.looking import rows
from tests.survey.serving import KEY, serving
from tests.survey.surveys import habits

REPORTS = (1, 2, 1, 33, 2)
POST = b"POST /answers HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n"
JSON = b"Content-Type: application/json\r\n"
NUMBERS = iter(range(1_000_000))


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    folder = tmp_path_factory.mktemp("served")
    with serving(folder, str(folder / "answers.sqlite"), tokens=True) as started:
        yield started
        assert started.process.poll() is None
        assert started.said == ""


def raw(served, request):
    """The status of the response to these bytes; 0 when the connection was closed without one."""
    with closing(socket.create_connection(("127.0.0.1", served.port), timeout=60)) as connection:
        try:
            connection.sendall(request)
            said = connection.recv(65536)
        except ConnectionError:  # it answered and closed before it had read everything
            return 0
    return int(said.split(b" ", 2)[1]) if said else 0


def posted(content, *headers):
    lines = b"".join(header + b"\r\n" for header in headers)
    return POST + JSON + lines + b"Content-Length: %d\r\n\r\n" % len(content) + content


def answer(served):
    """A message that is taken."""
    return body(served.survey, REPORTS, token(KEY.secret, served.survey.fingerprint, next(NUMBERS)))


def chunked(size, parts):
    return (
        POST
        + JSON
        + b"Transfer-Encoding: chunked\r\n\r\n"
        + (b"%x\r\n" % size + b"1" * size + b"\r\n") * parts
        + b"0\r\n\r\n"
    )


BROKEN = {
    "no bytes": (posted(b""), 422),
    "half of an object": (posted(b'{"survey": "'), 422),
    "no JSON": (posted(b"survey=1"), 422),
    "a number": (posted(b"7"), 422),
    "not a number": (posted(b"NaN"), 422),
    "no text in any encoding": (posted(b"\xff\xfe\x00{"), 422),
    "a lone surrogate": (posted(b'{"survey": "\\ud800"}'), 422),
    "deep nesting": (posted(b"[" * 1000), 422),
    "deep nesting of objects": (posted(b'{"a":' * 200), 422),
    "a long number": (posted(b"9" * 1000), 422),
    "too long": (posted(b" " * 100_000), 413),
    "said to be longer than it may be": (POST + JSON + b"Content-Length: 99999999999999999999\r\n\r\n", 413),
    "too long, in parts without a length": (chunked(1000, 20), 413),
    "no content type": (POST + b"Content-Length: 2\r\n\r\n{}", 415),
    "the type of a form": (POST + b"Content-Type: text/plain\r\nContent-Length: 2\r\n\r\n{}", 415),
    "a negative length": (POST + JSON + b"Content-Length: -1\r\n\r\n{}", 400),
    "a length in letters": (POST + JSON + b"Content-Length: two\r\n\r\n{}", 400),
    "two lengths": (posted(b"{}", b"Content-Length: 3"), 400),
    "a broken part": (POST + JSON + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n{}", 400),
    "an unknown encoding": (POST + JSON + b"Transfer-Encoding: gzip\r\n\r\n{}", 400),
    "no HTTP": (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\r\n" * 5, 400),
    "a header without end": (POST + b"X: " + b"a" * 200_000, 400),
    "very many headers": (POST + b"".join(b"X-%d: a\r\n" % n for n in range(20_000)) + b"\r\n", 400),
    "a header with a line break": (posted(b"{}", b"X: a\rY: b"), 400),
    "from another site": (posted(b"{}", b"Origin: https://elsewhere.example"), 403),
    "from a site that hides": (posted(b"{}", b"Origin: null"), 403),
    "across sites": (posted(b"{}", b"Sec-Fetch-Site: cross-site"), 403),
    "another method": (b"PUT /answers HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", 405),
    "no such place": (b"GET /../../etc/passwd HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", 404),
    "a zero byte in the place": (b"GET /owner/answers.%00csv HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", 401),
    "the owner's answers": (b"GET /owner/answers.csv HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", 401),
    "an empty proof": (b"GET /owner HTTP/1.1\r\nHost: a\r\nConnection: close\r\nAuthorization: Bearer \r\n\r\n", 401),
    "a forged proof": (
        b"GET /owner HTTP/1.1\r\nHost: a\r\nConnection: close\r\nCookie: leafcover_owner=9999999999."
        + b"0" * 64
        + b"\r\n\r\n",
        401,
    ),
    "a cookie of odd letters": (
        b"GET /owner HTTP/1.1\r\nHost: a\r\nConnection: close\r\nCookie: leafcover_owner=\xb2.\xff\r\n\r\n",
        401,
    ),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_request_is_refused(served, name):
    request, status = BROKEN[name]
    before = rows(served.store, "answers")
    found = raw(served, request)
    assert found == status or (found == 0 and len(request) > 50_000)  # cut off while it still sent
    assert rows(served.store, "answers") == before
    assert raw(served, posted(answer(served))) == 201


def test_a_key_that_comes_twice_leaves_one_good_row(served):
    content = answer(served)
    twice = content.replace(b'"reports":', b'"reports":["7","7","7","77","7"],"reports":')
    assert raw(served, posted(twice)) == 201
    assert rows(served.store, "answers")[0][3].count(",") == 4
    assert all(reports == "1,2,1,33,2" for _, _, _, reports in rows(served.store, "answers"))
    assert raw(served, posted(content)) == 200  # what was kept is the last of each


def test_an_answer_counts_once_and_a_token_serves_once(served):
    content = answer(served)
    again = json.dumps(json.loads(content) | {"id": "0" * 32}).encode()
    assert [raw(served, posted(one)) for one in (content, content, again)] == [201, 200, 409]


@pytest.mark.parametrize("secret", [bytes(32), KEY.secret[::-1]])
def test_a_forged_token_is_refused(served, secret):
    before = len(rows(served.store, "answers"))
    forged = body(served.survey, REPORTS, token(secret, served.survey.fingerprint, 5))
    assert raw(served, posted(forged)) == 403
    other = body(served.survey, REPORTS, token(KEY.secret, "0" * 32, 5))  # issued, but for another survey
    assert raw(served, posted(other)) == 403
    assert len(rows(served.store, "answers")) == before


def test_the_longest_message_that_is_read_is_little_longer_than_an_answer(served):
    content = answer(served)
    assert len(content) == length(served.survey)
    assert raw(served, posted(content + b" " * 1024)) == 201
    assert raw(served, posted(answer(served) + b" " * 1025)) == 413


def test_idle_connections_are_in_nobodys_way(served):
    with ExitStack() as stack:
        for _ in range(200):
            idle = stack.enter_context(closing(socket.create_connection(("127.0.0.1", served.port), timeout=60)))
            idle.sendall(POST + JSON + b"Content-Length: 100\r\n")
        assert raw(served, posted(answer(served))) == 201


def test_two_requests_hidden_in_one_are_two(served):
    """What follows a body is the next request, never a part of the one before."""
    first = POST.replace(b"close", b"keep-alive") + JSON + b"Content-Length: 2\r\n\r\n{}"
    with closing(socket.create_connection(("127.0.0.1", served.port), timeout=60)) as connection:
        connection.sendall(first + posted(answer(served)))
        said = b""
        while part := connection.recv(65536):
            said += part
    assert re.findall(rb"HTTP/1\.1 (\d+)", said) == [b"422", b"201"]


def test_a_body_that_does_not_come_is_waited_for_no_longer_than_patience_lasts(tmp_path, monkeypatch):
    monkeypatch.setattr("leafcover.survey.server.answers.PATIENCE_SECONDS", 0.05)
    survey = habits()
    app = application(survey, partial(open_store, str(tmp_path / "store"), survey), KEY.secret)
    parts = [{"type": "http.request", "body": b"{", "more_body": True}]
    told = []

    async def receive():
        if not parts:
            await asyncio.Event().wait()
        return parts.pop()

    async def send(message):
        told.append(message)

    scope = {
        "type": "http", "method": "POST", "path": "/answers", "raw_path": b"/answers", "query_string": b"",
        "root_path": "", "headers": [(b"content-type", b"application/json")], "http_version": "1.1", "scheme": "http",
    }  # fmt: skip
    asyncio.run(app(scope, receive, send))
    assert told[0]["status"] == 408


HEAD = b"GET / HTTP/1.1\r\nHost: a\r\n"
WHOLE = HEAD + b"\r\n"


@pytest.mark.parametrize(
    ("sent", "responses"),
    [([b""], 0), ([HEAD], 0), ([WHOLE, HEAD], 1), ([WHOLE, WHOLE, b"G"], 2), ([WHOLE + WHOLE + HEAD], 2)],
)
def test_a_connection_that_falls_silent_is_closed_and_a_slow_response_is_not_cut(sent, responses):
    patience = 0.1

    async def slow_app(scope, receive, send):
        await asyncio.sleep(3 * patience)
        await send({"type": "http.response.start", "status": 204, "headers": []})
        await send({"type": "http.response.body"})

    async def spoken():
        config = uvicorn.Config(slow_app, log_config=None, timeout_keep_alive=1)
        config.load()
        state = ServerState()
        made = partial(Connection, config=config, server_state=state, app_state={}, patience=patience)
        server = await asyncio.get_running_loop().create_server(made, "127.0.0.1", 0)
        async with server:
            reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
            said = b""
            for part in sent:
                writer.write(part)
                if part.endswith(b"\r\n\r\n"):
                    said += await reader.readuntil(b"\r\n\r\n")
            said += await asyncio.wait_for(reader.read(), 60)  # until it is closed
            writer.close()
            await writer.wait_closed()
            return said

    assert asyncio.run(spoken()).count(b"HTTP/1.1 204") == responses


@pytest.mark.slow
def test_idle_connections_are_closed_after_ten_seconds(served):
    with closing(socket.create_connection(("127.0.0.1", served.port), timeout=60)) as idle:
        assert idle.recv(1) == b""


@pytest.mark.slow
def test_a_slow_body_is_refused_after_ten_seconds(served):
    assert raw(served, POST + JSON + b"Content-Length: 100\r\n\r\n{") == 408
