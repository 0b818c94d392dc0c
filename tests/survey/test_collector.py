"""The collector takes what is an answer, once, and nothing else; what it says and keeps gives nobody away."""

import json
import sqlite3
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from leafcover.survey.client import body, length, token
from leafcover.survey.questionnaire import Survey, survey_from
from leafcover.survey.server.app import application
from leafcover.survey.storage import open_store
from tests.survey.surveys import HABITS, habits

SECRET = bytes(range(32))
REPORTS = (1, 2, 1, 33, 2)
JSON = {"Content-Type": "application/json"}


@pytest.fixture
def client(survey: Survey, place: str) -> Iterator[TestClient]:
    with TestClient(application(survey, partial(open_store, place, survey), SECRET)) as started:
        yield started


def send(client: TestClient, content: bytes, **headers: str) -> int:
    return client.post("/answers", content=content, headers=JSON | headers).status_code


def stored(place: str, survey: Survey) -> list[tuple[str, ...]]:
    store = open_store(place, survey)
    try:
        return list(store.reports())
    finally:
        store.close()


def test_an_answer_is_kept_once_however_often_it_is_sent(client: TestClient, survey: Survey, place: str) -> None:
    sent = body(survey, REPORTS)
    assert [send(client, sent) for _ in range(3)] == [201, 200, 200]
    assert stored(place, survey) == [("1", "2", "1", "33", "2")]


def test_an_id_that_comes_again_with_other_reports_is_refused(client: TestClient, survey: Survey, place: str) -> None:
    sent = body(survey, REPORTS)
    other = json.loads(sent) | {"reports": ["0", "2", "1", "33", "2"]}
    assert [send(client, sent), send(client, json.dumps(other).encode())] == [201, 409]
    assert stored(place, survey) == [("1", "2", "1", "33", "2")]


@pytest.mark.parametrize(
    ("content", "headers", "status"),
    [
        (b"", {}, 422),
        (b"{", {}, 422),
        (b"\xff\xfe", {}, 422),
        (b"[" * 900, {}, 422),
        (b"x" * 10_000, {}, 413),
        (b"{}", {"Content-Type": "text/plain"}, 415),
        (b"{}", {"Content-Type": "application/x-www-form-urlencoded"}, 415),
        (b"{}", {"Origin": "https://elsewhere.example"}, 403),
        (b"{}", {"Origin": "null"}, 403),
        (b"{}", {"Sec-Fetch-Site": "cross-site"}, 403),
        (b"{}", {"Sec-Fetch-Site": "same-site"}, 403),
        (b"{}", {"Origin": "http://["}, 403),
        (b"{}", {"Origin": "http://testserver.elsewhere.example"}, 403),
        (b"{}", {"Origin": "ftp://testserver"}, 403),
        (b"{}", {"Origin": "http://testserver"}, 422),
        (b"{}", {"Origin": "http://behind-a-proxy.example", "Sec-Fetch-Site": "same-origin"}, 422),
    ],
)
def test_what_is_no_answer_is_refused(
    client: TestClient, survey: Survey, place: str, content: bytes, headers: dict[str, str], status: int
) -> None:
    assert send(client, content, **headers) == status
    assert stored(place, survey) == []


def test_a_body_without_length_is_cut_off(client: TestClient) -> None:
    def parts() -> Iterator[bytes]:
        for _ in range(1000):
            yield b"x" * 1000

    assert client.post("/answers", content=parts(), headers=JSON).status_code == 413


def test_an_answer_to_other_questions_is_refused(client: TestClient) -> None:
    other = survey_from(HABITS.replace("0.75", "0.8"))
    assert send(client, body(other, REPORTS)) == 409


def test_a_token_serves_once(tmp_path: Path) -> None:
    survey, place = habits(tokens=True), str(tmp_path / "answers.sqlite")
    issued, forged = token(SECRET, survey.fingerprint, 3), token(bytes(32), survey.fingerprint, 3)
    with TestClient(application(survey, partial(open_store, place, survey), SECRET)) as client:
        first = body(survey, REPORTS, issued)
        assert len(first) == length(survey)
        assert send(client, first) == 201
        assert send(client, first) == 200  # a retry
        assert send(client, body(survey, REPORTS, issued)) == 409  # other coins
        assert send(client, body(survey, REPORTS, forged)) == 403
        assert send(client, body(survey, REPORTS, "")) == 422
    assert len(stored(place, survey)) == 1


def test_the_offline_file_may_send_when_the_survey_says_so(tmp_path: Path) -> None:
    survey, place = survey_from("offline = true\n" + HABITS), str(tmp_path / "answers.sqlite")
    with TestClient(application(survey, partial(open_store, place, survey), SECRET)) as client:
        asked = client.options("/answers", headers={"Origin": "null", "Access-Control-Request-Method": "POST"})
        assert asked.headers["Access-Control-Allow-Origin"] == "null"
        headers = JSON | {"Origin": "null", "Sec-Fetch-Site": "cross-site"}
        told = client.post("/answers", content=body(survey, REPORTS), headers=headers)
        assert (told.status_code, told.headers["Access-Control-Allow-Origin"]) == (201, "null")
        headers["Origin"] = "https://elsewhere.example"
        told = client.post("/answers", content=body(survey, REPORTS), headers=headers)
        assert told.status_code == 403
        assert "Access-Control-Allow-Origin" not in told.headers


def test_every_response_is_not_kept_nor_framed(client: TestClient) -> None:
    for path in ("/", "/answers", "/owner", "/nothing", "/owner/answers.csv"):
        headers = client.get(path).headers
        assert headers["Cache-Control"] == "no-store"
        assert "frame-ancestors 'none'" in headers["Content-Security-Policy"]
        assert headers["Referrer-Policy"] == ("same-origin" if path.startswith("/owner") else "no-referrer")
        assert headers["X-Content-Type-Options"] == "nosniff"


def test_the_head_of_the_page_may_be_asked_for(client: TestClient) -> None:
    whole, head = client.get("/"), client.head("/")
    assert head.status_code == 200
    assert head.headers == whole.headers


def test_a_store_that_fails_is_told_and_the_same_bytes_may_come_again(survey: Survey, place: str) -> None:
    fails = True

    def opened(*, create=True):  # type: ignore[no-untyped-def]
        if fails:
            raise sqlite3.OperationalError("disk I/O error")
        return open_store(place, survey, create=create)

    with TestClient(application(survey, opened, SECRET)) as client:
        sent = body(survey, REPORTS)
        assert send(client, sent) == 503
        fails = False
        assert send(client, sent) == 201


def test_nothing_of_an_answer_or_a_fault_is_logged(
    survey: Survey, place: str, caplog: pytest.LogCaptureFixture
) -> None:
    class Broken:
        def __init__(self, *, create: bool = True) -> None: ...

        def add(self, answers):  # type: ignore[no-untyped-def]
            raise RuntimeError("postgresql://owner:password@somewhere " + str(answers))

        def close(self) -> None: ...

    with TestClient(application(survey, Broken, SECRET)) as client:  # type: ignore[arg-type]
        sent = body(survey, REPORTS)
        assert send(client, sent) == 503
    assert "RuntimeError" in caplog.text
    assert "password" not in caplog.text
    assert json.loads(sent)["id"] not in caplog.text
