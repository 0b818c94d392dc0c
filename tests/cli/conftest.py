"""What tests of commands may use."""

import pytest

from leafcover.survey.results import export
from tests.cli.helpers import leafcover, rows_of
from tests.small_models import small_models
from tests.survey.people import people, reported
from tests.survey.surveys import HABITS, habits


@pytest.fixture(scope="module", autouse=True)
def small():
    """Small models: commands are tested here, and half of a measurement goes into models."""
    with small_models():
        yield


@pytest.fixture(scope="module")
def compiled(tmp_path_factory):
    """Kernels that a release needs, compiled here, where tests wait for each other, and not by processes of tests."""
    folder = tmp_path_factory.mktemp("compiled")
    (folder / "in.csv").write_text(rows_of())
    for recipe in ("cover", "cells"):
        words = ("release", folder / "in.csv", "-o", folder / f"{recipe}.csv", "--target", "class", "--recipe", recipe)
        assert leafcover(*words).exit_code == 0


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
