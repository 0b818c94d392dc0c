"""Kill -9 of a collector, and of its database, while people answer: what was acknowledged is there, once."""

import http.client
import json
import random
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import pytest

from leafcover.survey.client import body, token
from leafcover.survey.storage import is_spent
from tests.survey.load import JSON
from tests.survey.looking import block, rows
from tests.survey.serving import KEY, serving

PEOPLE = 6
LONGEST = 0.8  # seconds from one fault to the next
MOST_NUMBERS = 5_000  # of the tokens of one person's devices


class Crowd:
    """People who answer one survey after the other, and send the same bytes until they are acknowledged."""

    def __init__(self, served, *, tokens):
        self.served, self.tokens = served, tokens
        self.up, self.enough = threading.Event(), threading.Event()
        self.acknowledged, self.repeated = {}, 0
        self._lock = threading.Lock()

    def answer(self, person):
        """Answer until it is enough; the last answer, too, is sent until it is acknowledged."""
        draws = random.Random(person)
        for turn in range(MOST_NUMBERS):
            if self.enough.is_set():
                return
            number = person * MOST_NUMBERS + turn
            given = token(KEY.secret, self.served.survey.fingerprint, number) if self.tokens else ""
            reports = (
                draws.randrange(2),
                draws.randrange(4),
                draws.randrange(2),
                draws.randrange(61),
                draws.randrange(3),
            )
            sent = body(self.served.survey, reports, given)
            while (status := self._send(sent)) not in (200, 201):
                assert status in (None, 503)
            with self._lock:
                self.acknowledged[json.loads(sent)["id"]] = (",".join(json.loads(sent)["reports"]), number)
                self.repeated += status == 200

    def _send(self, sent):
        """The status of the response, or None when there was none."""
        assert self.up.wait(60)
        connection = http.client.HTTPConnection("127.0.0.1", self.served.port, timeout=60)
        with closing(connection):
            try:
                connection.request("POST", "/answers", sent, JSON)
                return connection.getresponse().status
            except (OSError, http.client.HTTPException):
                return None


def faulted(served, fault, *, tokens, faults):
    """Let people answer while faults happen at random moments; gives the crowd when all have their acknowledgement."""
    crowd, draws, moment = Crowd(served, tokens=tokens), random.Random(faults), threading.Event()
    crowd.up.set()
    with ThreadPoolExecutor(PEOPLE) as threads:
        people = [threads.submit(crowd.answer, person) for person in range(PEOPLE)]
        try:
            for _ in range(faults):
                moment.wait(draws.uniform(0.05, LONGEST))
                crowd.up.clear()
                fault()
                crowd.up.set()
            moment.wait(LONGEST / 2)
        finally:
            crowd.enough.set()
            crowd.up.set()
        for person in people:
            person.result()
    return crowd


def check(address, crowd):
    """Exactly what was acknowledged is stored, and exactly its tokens are spent."""
    stored = {name: reports for _, name, _, reports in rows(address, "answers")}
    assert stored == {name: reports for name, (reports, _) in crowd.acknowledged.items()}
    if crowd.tokens:
        bits = block(address)
        spent = {number for number in range(8 * len(bits)) if is_spent(bits, number)}
        assert spent == {number for _, number in crowd.acknowledged.values()}


def killed_and_started(served):
    served.kill()
    served.start()


@pytest.mark.parametrize(
    ("tokens", "faults"),
    [
        pytest.param(True, 2),
        pytest.param(True, 12, marks=pytest.mark.slow),
        pytest.param(False, 12, marks=pytest.mark.slow),
    ],
)
def test_a_killed_collector_loses_and_doubles_no_answer(fresh, tmp_path, tokens, faults):
    address = fresh()
    with serving(tmp_path, address, tokens=tokens) as served:
        crowd = faulted(served, lambda: killed_and_started(served), tokens=tokens, faults=faults)
        check(address, crowd)
        assert len(crowd.acknowledged) > PEOPLE
        served.stop()
    check(address, crowd)
    assert served.said == ""


@pytest.mark.parametrize("faults", [1, pytest.param(10, marks=pytest.mark.slow)])
def test_a_killed_database_loses_and_doubles_no_answer(postgresql, tmp_path, faults):
    address = postgresql.fresh()

    def fault():
        postgresql.kill()
        postgresql.start()

    with serving(tmp_path, address, tokens=True) as served:
        crowd = faulted(served, fault, tokens=True, faults=faults)
        check(address, crowd)
        # the same process goes on after its database came back
        assert len(crowd.acknowledged) > PEOPLE
        assert set(served.said.splitlines()) <= {
            "ERROR leafcover.survey.server.answers: answers could not be written: StoreFailed"
        }
