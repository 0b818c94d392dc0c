"""Releases with all their measures, made once."""

import pytest

from tests.engine.report.pages import RECIPES, measured, mixed_case, planted, released
from tests.small_models import small_models


@pytest.fixture(scope="module", autouse=True)
def small():
    """Small models: pages are tested here, and half of a measurement goes into models."""
    with small_models():
        yield


@pytest.fixture(scope="session", params=RECIPES)
def planted_release(request):
    """A release of the planted table, and everything that can be measured of it."""
    original = planted()
    release = released(original, request.param)
    return original, release, measured(original, release, planted(100, seed=6))


@pytest.fixture(scope="session")
def mixed_release():
    """A release of a table of every kind, row by row, and everything that can be measured of it."""
    return mixed_case("cells")


@pytest.fixture(scope="session")
def dealt_release():
    """A release of the same table whose rows come from no one original row."""
    case = mixed_case("cover")
    assert not case[1].descends
    return case
