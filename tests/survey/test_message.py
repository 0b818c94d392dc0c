import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leafcover.survey.client import MOST_TOKENS, Refused, body, length, number_of, received, token
from tests.survey.surveys import habits

SURVEY = habits()
codes = st.tuples(st.integers(0, 1), st.integers(0, 3), st.integers(0, 1), st.integers(0, 60), st.integers(0, 2))


@given(codes)
def test_every_message_has_the_same_length_and_comes_back(reports: tuple[int, ...]) -> None:
    sent = body(SURVEY, reports)
    assert len(sent) == length(SURVEY)
    answer, given_token = received(SURVEY, sent)
    assert tuple(map(int, answer.reports)) == reports
    assert given_token == ""


@pytest.mark.parametrize(
    "changed",
    [
        {"survey": "0" * 32},
        {"survey": "x"},
        {"id": "A" * 32},
        {"id": 5},
        {"token": "a" * 26},
        {"reports": ["1", "2", "1", "33"]},
        {"reports": ["2", "2", "1", "33", "2"]},
        {"reports": ["1", "2", "1", "61", "2"]},
        {"reports": ["01", "2", "1", "33", "2"]},
        {"reports": ["1", "2", "1", "7", "2"]},
        {"reports": [1, 2, 1, 33, 2]},
        {"reports": ["1", "2", "1", "33", "-1"]},
        {"reports": ["1", "2", "1", "٣٣", "2"]},
        {"truth": "1"},
    ],
)
def test_a_field_that_is_not_as_it_must_be_is_refused(changed: dict[str, object]) -> None:
    content = json.loads(body(SURVEY, (1, 2, 1, 33, 2)))
    with pytest.raises(Refused):
        received(SURVEY, json.dumps(content | changed).encode())


@given(st.binary(max_size=300))
def test_any_bytes_are_refused_or_are_an_answer(sent: bytes) -> None:
    with pytest.raises(Refused):
        received(SURVEY, sent)


def test_deep_nesting_is_refused() -> None:
    with pytest.raises(Refused):
        received(SURVEY, b"[" * 100_000)


@given(st.integers(0, MOST_TOKENS - 1), st.binary(min_size=32, max_size=32))
def test_a_token_is_known_only_with_its_secret_and_survey(number: int, secret: bytes) -> None:
    made = token(secret, SURVEY.fingerprint, number)
    assert len(made) == 26
    assert number_of(secret, SURVEY.fingerprint, made) == number
    assert number_of(secret[::-1] + b"x", SURVEY.fingerprint, made) is None
    assert number_of(secret, "0" * 32, made) is None
    changed = ("b" if made[0] == "a" else "a") + made[1:]
    assert number_of(secret, SURVEY.fingerprint, changed) is None


@given(st.text("abcdefghijklmnopqrstuvwxyz234567", min_size=26, max_size=26))
def test_a_forged_token_is_not_known(text: str) -> None:
    assert number_of(bytes(32), SURVEY.fingerprint, text) is None
