"""Two hundred answers a second on one process, with no error."""

import random

import pytest

from leafcover.survey.client import body
from tests.survey.load import offered
from tests.survey.looking import rows
from tests.survey.serving import serving

RATE = 200
PATIENCE = 20  # seconds after which a device takes the collector for lost


@pytest.mark.parametrize("seconds", [3, pytest.param(30, marks=pytest.mark.slow)])
def test_two_hundred_answers_a_second_are_taken_without_an_error(fresh, tmp_path, seconds):
    address, draws = fresh(), random.Random(7)
    with serving(tmp_path, address) as served:
        bodies = [body(served.survey, (1, 2, 0, draws.randrange(61), 2)) for _ in range(RATE * seconds)]
        load = offered(served.port, bodies, rate=RATE)
        assert dict(load.statuses) == {201: len(bodies)}
        assert load.wait(1.0) < PATIENCE
        if seconds == 30:  # in a short time the last few decide
            assert load.rate > RATE * 0.9
        assert served.said == ""
    assert len(rows(address, "answers")) == len(bodies)
