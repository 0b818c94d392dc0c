"""The owner's pages: behind the secret, from a hundred answers on, never a script."""

import io
import re
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow.csv
import pyarrow.parquet
import pytest
from fastapi.testclient import TestClient

from leafcover.survey.client import Answer, disguised, width
from leafcover.survey.questionnaire import Survey
from leafcover.survey.server import admin as session
from leafcover.survey.server.app import application
from leafcover.survey.storage import open_store
from tests.survey.surveys import one_coin

SECRET = bytes(range(32))
PATHS = ("", "/tree", "/tree.svg?target=taken", "/tree.svg", "/design", "/answers.csv", "/answers.parquet")


@pytest.fixture
def client(survey: Survey, place: str) -> Iterator[TestClient]:
    open_store(place, survey).close()
    # Secure cookies and the origin check see what a browser would send.
    app = application(survey, partial(open_store, place, survey), SECRET)
    with TestClient(app, base_url="https://survey.example", follow_redirects=False) as started:
        yield started


def answer(survey: Survey, place: str, count: int) -> None:
    generator = np.random.default_rng(3)

    def below(bound: int) -> int:
        return int.from_bytes(generator.bytes(16), "big") % bound  # 128 bits: no bias that a test could see

    answers = []
    for number in range(count):
        taken = int(generator.random() < 0.3)
        paid = int(generator.random() < 0.5)
        truth = (taken, int(generator.integers(4)), paid, 5 + 40 * taken, int(generator.integers(3)))
        texts = [f"{c:0{width(q)}d}" for c, q in zip(disguised(survey, truth, below), survey.questions, strict=True)]
        answers.append((Answer(f"{number:032x}", tuple(texts)), None))
    store = open_store(place, survey)
    store.add(answers)
    store.close()


def enter(client: TestClient, secret: str = SECRET.hex(), **headers: str) -> int:
    form = {"Content-Type": "application/x-www-form-urlencoded", **headers}
    return client.post("/owner/enter", content=f"secret={secret}", headers=form).status_code


def test_without_the_secret_there_is_only_the_door(client: TestClient, survey: Survey, place: str) -> None:
    answer(survey, place, 200)
    for path in PATHS:
        told = client.get("/owner" + path)
        assert told.status_code == 401
        assert 'name="secret"' in told.text
        assert "interval" not in re.sub(r"<style>.*?</style>", "", told.text, flags=re.S)


@pytest.mark.parametrize("wrong", ["", "0", "0" * 64, "%FF%FE", SECRET.hex()[:-1], SECRET.hex() + "0"])
def test_a_wrong_secret_opens_nothing(client: TestClient, wrong: str) -> None:
    assert enter(client, wrong) == 401
    assert client.get("/owner").status_code == 401


def test_the_secret_opens_the_pages_for_some_hours(client: TestClient, survey: Survey, place: str) -> None:
    answer(survey, place, 300)
    assert enter(client) == 303
    cookie = client.cookies.get(session.cookie_name(survey.fingerprint))
    assert cookie is not None
    assert SECRET.hex() not in cookie
    for path in PATHS:
        assert client.get("/owner" + path).status_code == 200
    client.post("/owner/leave")
    assert client.get("/owner").status_code == 401


def test_the_cookie_is_for_the_owners_pages_alone(client: TestClient) -> None:
    form = {"Content-Type": "application/x-www-form-urlencoded"}
    given = client.post("/owner/enter", content=f"secret={SECRET.hex()}", headers=form).headers["Set-Cookie"]
    for word in ("HttpOnly", "Path=/owner", "SameSite=strict", "Secure"):
        assert word in given


def test_a_cookie_ends_and_cannot_be_prolonged(client: TestClient, survey: Survey) -> None:
    name = session.cookie_name(survey.fingerprint)
    old = session.cookie_value(SECRET, now=time.time() - 9 * 3600)
    longer = f"{int(time.time()) + 3600}.{old.partition('.')[2]}"
    other = session.cookie_value(bytes(32))
    for value in (old, longer, other, "9" * 400 + ".x", "x", "٣.x"):
        client.cookies.clear()
        told = client.get("/owner", headers={"Cookie": f"{name}={value}".encode()})
        assert told.status_code == 401


def test_the_owner_of_two_surveys_on_one_machine_stays_in_both(
    client: TestClient, survey: Survey, tmp_path: Path
) -> None:
    other, place = one_coin(), str(tmp_path / "other.sqlite")
    open_store(place, other).close()
    app = application(other, partial(open_store, place, other), bytes(32))
    with TestClient(app, base_url="https://survey.example", follow_redirects=False) as second:
        assert enter(client) == enter(second, bytes(32).hex()) == 303
        second.cookies.update(client.cookies)
        client.cookies.update(second.cookies)
        for one in (client, second):
            assert one.get("/owner").status_code == 200


def test_another_site_cannot_enter(client: TestClient) -> None:
    assert enter(client, Origin="https://elsewhere.example") == 403
    assert enter(client, **{"Sec-Fetch-Site": "cross-site"}) == 403
    assert enter(client, Origin="https://survey.example") == 303


def test_a_program_gives_the_secret_as_a_bearer(client: TestClient, survey: Survey, place: str) -> None:
    answer(survey, place, 150)
    told = client.get("/owner/answers.csv", headers={"Authorization": f"Bearer {SECRET.hex()}"})
    assert told.status_code == 200
    assert client.get("/owner/answers.csv", headers={"Authorization": "Bearer x"}).status_code == 401


def inside(client: TestClient, path: str) -> str:
    told = client.get("/owner" + path, headers={"Authorization": f"Bearer {SECRET.hex()}"})
    assert "<script" not in told.text
    return told.text


def test_estimates_come_from_a_hundred_answers_on(client: TestClient, survey: Survey, place: str) -> None:
    answer(survey, place, 99)
    few = inside(client, "")
    assert "at least 100 answers" in few
    assert "interval</th>" not in few
    assert "Got 99." in inside(client, "/tree")
    store = open_store(place, survey)
    store.add([(Answer("f" * 32, ("0", "0", "0", "07", "0")), None)])
    store.close()
    assert "at least 100 answers" not in inside(client, "")
    assert "95% interval" in inside(client, "")


def test_the_tree_names_what_predicts(client: TestClient, survey: Survey, place: str) -> None:
    answer(survey, place, 3000)
    shown = inside(client, "/tree?target=taken")
    assert "years = 5: no" in shown
    assert "years = 45: yes" in shown
    assert "<svg" in inside(client, "/tree.svg?target=taken")
    assert "There is no question" in inside(client, "/tree?target=nothing")
    assert "There is no question" in inside(client, "/tree?target=years")


def test_the_design_says_how_many_answers_are_needed(client: TestClient) -> None:
    shown = inside(client, "/design?error=0.02&share=0.3")
    assert 'value="0.02"' in shown
    assert 'value="0.3"' in shown
    assert "epsilon" in shown
    assert "must be" in inside(client, "/design?share=7")


@pytest.mark.parametrize("path", ["/design?error=", "/design?share=much", "/design?error=1e999", "/design?share=nan"])
def test_a_figure_that_is_none_is_refused_on_a_page_and_only_to_the_owner(client: TestClient, path: str) -> None:
    told = client.get("/owner" + path)
    assert told.status_code == 401
    assert 'name="secret"' in told.text
    told = client.get("/owner" + path, headers={"Authorization": f"Bearer {SECRET.hex()}"})
    assert told.status_code == 409
    assert told.headers["Content-Type"].startswith("text/html")
    assert "must be" in told.text


def test_exports_are_the_reports_in_another_order_each_time(client: TestClient, survey: Survey, place: str) -> None:
    answer(survey, place, 400)
    one, two = inside(client, "/answers.csv"), inside(client, "/answers.csv")
    assert one != two
    assert sorted(one.splitlines()) == sorted(two.splitlines())
    table = pyarrow.csv.read_csv(io.BytesIO(one.encode()))
    assert table.column_names == [question.name for question in survey.questions]
    told = client.get("/owner/answers.parquet", headers={"Authorization": f"Bearer {SECRET.hex()}"})
    parquet = pyarrow.parquet.read_table(io.BytesIO(told.content))
    assert parquet.num_rows == table.num_rows == 400
    assert sorted(map(str, parquet["taken"].to_pylist())) == sorted(table["taken"].to_pylist())
    assert client.get("/owner/answers.exe", headers={"Authorization": f"Bearer {SECRET.hex()}"}).status_code == 404


def test_an_empty_store_has_nothing_to_export(client: TestClient) -> None:
    assert "There are no answers" in inside(client, "/answers.csv")


def test_a_store_that_was_moved_away_is_said_and_not_made_anew(client: TestClient, place: str) -> None:
    Path(place).rename(place + ".moved")
    for path in ("", "/tree", "/answers.csv"):
        told = client.get("/owner" + path, headers={"Authorization": f"Bearer {SECRET.hex()}"})
        assert told.status_code == 503
        assert "There is no store" in told.text
    assert not Path(place).exists()
