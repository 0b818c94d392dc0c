"""Random requests by the collector's own description, right and wrong ones: no fault, no bad row, no way in."""

import json
from collections import Counter

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from leafcover.survey.client import received
from tests.survey.looking import rows
from tests.survey.serving import KEY, serving

BEHIND_THE_DOOR = "/owner/answers.csv"  # a link that every page of the owner has, and the door has not
HOLDER = {"Authorization": f"Bearer {KEY.secret.hex()}"}
REPORTS = st.tuples(*(st.integers(0, largest) for largest in (1, 3, 1, 60, 2)))


@pytest.fixture
def served(tmp_path):
    with serving(tmp_path, str(tmp_path / "answers.sqlite")) as started:
        yield started


def requests_of(served):
    """Random requests, right and wrong ones, to each place that the collector describes and that takes something."""
    schemathesis = pytest.importorskip("schemathesis", reason="needs the package schemathesis: make test installs it")
    schema = schemathesis.openapi.from_url(f"http://127.0.0.1:{served.port}/openapi.json")
    for found in schema.get_all_operations():
        operation = found.ok()
        if operation.body or any(operation.iter_parameters()):
            yield st.one_of(*(operation.as_strategy(generation_mode=mode) for mode in schemathesis.GenerationMode))


def nearer(content, codes, fingerprint):
    """Messages nearer to an answer: one made by the description alone is never about this very survey."""
    texts = [f"{code:0{2 if place == 3 else 1}d}" for place, code in enumerate(codes)]
    about = content | {"survey": fingerprint}
    return about, about | {"reports": texts, "token": ""}


@pytest.mark.parametrize(("examples", "least"), [(12, 120), pytest.param(1_000, 10_000, marks=pytest.mark.slow)])
def test_random_requests_find_no_fault_and_no_way_in(served, examples, least):
    """Each is sent without the secret and with it."""
    from requests import Session

    statuses, stored = Counter(), set()

    def sent(case, session):
        told = case.call(session=session)
        statuses[told.status_code] += 1
        assert told.status_code < 500
        if case.path.startswith("/owner"):
            assert told.status_code != 200
            assert BEHIND_THE_DOOR not in told.text
            assert "leafcover_owner=1" not in told.headers.get("set-cookie", "")  # a proof begins with its last second
        inside = case.call(session=session, headers=HOLDER)
        statuses[inside.status_code] += 1
        assert inside.status_code < 500
        if case.path == "/answers" and told.status_code == 201:
            stored.add(case.body["id"])
            assert inside.status_code == 200  # the same bytes again

    with Session() as session:
        for requests in requests_of(served):

            @settings(
                max_examples=examples, deadline=None, database=None, phases=[Phase.generate],
                suppress_health_check=list(HealthCheck),
            )  # fmt: skip
            @given(requests, REPORTS)
            def send(case, codes):
                sent(case, session)
                if case.path == "/answers" and isinstance(case.body, dict):
                    for content in nearer(case.body, codes, served.survey.fingerprint):
                        case.body = content
                        sent(case, session)

            send()
    assert statuses.total() >= least
    assert served.process.poll() is None
    assert served.said == ""
    kept = rows(served.store, "answers")
    assert {name for _, name, _, _ in kept} == stored
    assert stored
    for survey, name, day, reports in kept:
        assert day is None
        received(served.survey, json.dumps({"survey": survey, "id": name, "reports": reports.split(",")}).encode())
