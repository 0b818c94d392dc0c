"""What tests of commands may use."""

import pytest

from leafcover.survey.results import export
from tests.survey.people import people, reported
from tests.survey.surveys import HABITS, habits


@pytest.fixture
def habits_file(tmp_path):
    """A survey."""
    path = tmp_path / "habits.toml"
    path.write_text(HABITS)
    return path


@pytest.fixture
def answers_file(tmp_path):
    """Four thousand answers to it, as they are exported."""
    path = tmp_path / "answers.csv"
    export(habits(), reported(habits(), people(habits(), 4000)), path)
    return path
