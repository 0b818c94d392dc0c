"""A respondent's device: coins once, the same bytes again, nothing elsewhere, never the truth in an error."""

import json
import traceback

import numpy as np
import pytest
from scipy.stats import binomtest, chisquare

from leafcover.errors import LeafcoverError, PlanError
from leafcover.randomized_response import matrix
from leafcover.survey.client import Client, NotReceived, length, received
from tests.survey.collector import DROP, RECEIVED, collector
from tests.survey.surveys import habits, one_coin

SURVEY = habits()
TRUTH: dict[str, str | int] = {"taken": "yes", "days": "more", "paid": "no", "years": 33, "site": "east"}
NOWHERE = "http://127.0.0.1:9"


def no_pause(seconds: float) -> None:
    assert seconds > 0


def ready(address: str, **given: object) -> Client:
    client = Client(SURVEY, address, **given)  # type: ignore[arg-type]
    client.prepare(TRUTH)
    return client


def test_an_answer_arrives_and_is_then_forgotten() -> None:
    with collector(RECEIVED) as seen:
        client = ready(seen.address + "/survey/")
        assert not client.arrived
        client.send(pause=no_pause)
    assert client.arrived
    assert seen.paths == ["/survey/answers"]
    assert len(seen.bodies[0]) == length(SURVEY)
    answer, token = received(SURVEY, seen.bodies[0])
    assert (answer.reports[3:], token) == (("33", "2"), "")
    assert seen.headers[0]["Content-Type"] == "application/json"
    assert "Python" not in str(seen.headers[0])
    assert seen.bodies[0] not in [value for value in vars(client).values() if isinstance(value, bytes)]
    with pytest.raises(PlanError, match="already"):
        client.send()


def test_every_try_sends_the_same_bytes() -> None:
    with collector((503, b""), DROP, (200, b"<html>"), (200, b'{"received": "true"}'), RECEIVED) as seen:
        client = ready(seen.address)
        with pytest.raises(NotReceived, match="Call send again"):
            client.send(tries=4, pause=no_pause)
        assert not client.arrived
        client.send(pause=no_pause)
    assert len(seen.bodies) == 5
    assert len(set(seen.bodies)) == 1


def test_coins_are_tossed_once() -> None:
    client = ready(NOWHERE)
    with pytest.raises(PlanError, match="already randomised"):
        client.prepare(TRUTH)
    with pytest.raises(PlanError, match="prepare"):
        Client(SURVEY, NOWHERE).send()


def test_an_answer_that_was_refused_before_the_toss_may_be_mended() -> None:
    client = Client(SURVEY, NOWHERE)
    with pytest.raises(PlanError):
        client.prepare(TRUTH | {"site": "west"})
    client.prepare(TRUTH)


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"taken": "PERHAPS"}, "one of its choices: no, yes"),
        ({"taken": 1}, "one of its choices"),
        ({"years": 61987}, "whole number from 0 to 60"),
        ({"years": "61987"}, "whole number"),
        ({"years": True}, "whole number"),
        ({"other": "PERHAPS"}, "no question 'other'"),
    ],
)
def test_what_was_answered_stands_in_no_refusal(changed: dict[str, str | int], words: str) -> None:
    client = Client(SURVEY, NOWHERE)
    with pytest.raises(LeafcoverError, match=words) as refused:
        client.prepare(TRUTH | changed)
    shown = "".join(traceback.format_exception_only(refused.value))
    assert "PERHAPS" not in shown
    assert "61987" not in shown
    assert "\n" not in str(refused.value)


def test_a_gap_is_refused() -> None:
    with pytest.raises(PlanError, match="'days' has no answer"):
        Client(SURVEY, NOWHERE).prepare({name: text for name, text in TRUTH.items() if name != "days"})


def test_nothing_of_the_answer_is_shown_or_kept() -> None:
    client = ready(NOWHERE)
    assert repr(client) == "Client('Habits at work', 'http://127.0.0.1:9/answers')"
    kept = {name: value for name, value in vars(client).items() if name not in ("_survey", "_sent")}
    assert set(kept.values()) == {"http://127.0.0.1:9/answers", "", True, False}


def test_a_refusal_gives_the_collectors_reason_on_one_line() -> None:
    with collector((409, json.dumps({"received": False, "why": "The token\nwas used.\x1b[2J"}).encode())) as seen:
        with pytest.raises(NotReceived) as refused:
            ready(seen.address).send(pause=no_pause)
        assert len(seen.bodies) == 1
    assert str(refused.value) == "The collector refused the answer: The token was used. [2J"


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_is_not_followed(status: int) -> None:
    with collector(RECEIVED) as elsewhere, collector((status, b""), location=elsewhere.address + "/x") as seen:
        with pytest.raises(NotReceived, match="was not sent there"):
            ready(seen.address).send(pause=no_pause)
        assert len(seen.bodies) == 1
        assert elsewhere.paths == []


def test_a_proxy_does_not_see_plain_http(monkeypatch: pytest.MonkeyPatch) -> None:
    with collector(RECEIVED) as proxy, collector(RECEIVED) as seen:
        monkeypatch.setenv("http_proxy", proxy.address)
        monkeypatch.delenv("no_proxy", raising=False)
        monkeypatch.delenv("NO_PROXY", raising=False)
        ready(seen.address).send(pause=no_pause)
        assert (len(seen.bodies), proxy.paths) == (1, [])


@pytest.mark.parametrize(
    "address",
    [
        "",
        "survey.example",
        "ftp://survey.example",
        "file:///etc/passwd",
        "https://",
        "https://me:secretword@survey.example/",
        "https://survey.example/?secretword",
        "https://[::1",
        "https://survey.example:99999/#token=secretword",
    ],
)
def test_what_is_no_address_is_refused_and_not_repeated(address: str) -> None:
    with pytest.raises(PlanError, match="address is invalid") as refused:
        Client(SURVEY, address)
    assert "secretword" not in str(refused.value)


def test_plain_http_goes_to_this_machine_only() -> None:
    for address in ("http://localhost", "http://127.0.0.2:80", "http://[::1]:80", "https://survey.example"):
        Client(SURVEY, address)
    for address in ("http://survey.example", "http://192.168.1.2", "http://localhost.example"):
        with pytest.raises(PlanError, match="uses plain http"):
            Client(SURVEY, address)
        Client(SURVEY, address, insecure=True)


def test_a_link_gives_its_token() -> None:
    asks = habits(tokens=True)
    with collector(RECEIVED) as seen:
        client = Client(asks, f"{seen.address}/#token={'b' * 26}")
        client.prepare(TRUTH)
        client.send(pause=no_pause)
        assert seen.paths == ["/answers"]
        assert received(asks, seen.bodies[0])[1] == "b" * 26
        assert "b" * 26 not in str(vars(client)) + repr(client)
    with pytest.raises(PlanError, match="needs a token"):
        Client(asks, NOWHERE)
    with pytest.raises(PlanError, match="uses no tokens"):
        Client(SURVEY, NOWHERE, "b" * 26)


def test_what_is_sent_follows_the_coins() -> None:
    reports = []
    for _ in range(1500):
        sent = ready(NOWHERE)._sent
        assert sent is not None
        reports.append([int(text) for text in received(SURVEY, sent)[0].reports])
    seen = np.array(reports)
    for place, truth, part in zip((0, 1, 2), (1, 2, 0), SURVEY.scheme.parts, strict=True):
        chances = matrix(part.mechanism)[:, truth]
        assert chisquare(np.bincount(seen[:, place], minlength=len(chances)), 1500 * chances).pvalue > 1e-6
    kept = 0
    for _ in range(500):
        client = Client(one_coin(), NOWHERE)
        client.prepare({"smokes": "yes", "drinks": "no", "drives": "no"})
        assert client._sent is not None
        (answer, _) = received(one_coin(), client._sent)
        assert answer.reports in (("1", "0", "0"), ("0", "1", "1"))
        kept += answer.reports == ("1", "0", "0")
    assert binomtest(kept, 500, 0.8).pvalue > 1e-6
