"""Releases with all their measures, made once."""

import pytest

from tests.engine.report.pages import RECIPES, measured, planted, released
from tests.tables import mixed


@pytest.fixture(scope="session", params=RECIPES)
def planted_release(request):
    """A release of the planted table, and everything that can be measured of it."""
    original = planted()
    release = released(original, request.param)
    return original, release, measured(original, release, planted(200, seed=6))


@pytest.fixture(scope="session")
def mixed_release():
    """A release of a table of every kind, row by row, and everything that can be measured of it."""
    original = mixed(1, rows=600)
    release = released(original, "cells", target="class")
    return original, release, measured(original, release, mixed(2, rows=200))


@pytest.fixture(scope="session")
def dealt_release():
    """A release of the same table whose rows come from no one original row."""
    original = mixed(1, rows=600)
    release = released(original, "cover", target="class")
    assert not release.descends
    return original, release, measured(original, release, mixed(2, rows=200))
