"""Releases with all their measures, made once."""

import pytest

from leafcover.reporting import charts, columns
from tests.engine.report.pages import RECIPES, measured, mixed_case, planted, released
from tests.small_models import small_models

DRAWN: dict[tuple, str] = {}


@pytest.fixture(scope="module", autouse=True)
def small():
    """Small models, and no chart drawn twice: pages are tested here, and most of their time goes into these."""
    with small_models(), pytest.MonkeyPatch.context() as patch:
        patch.setattr(columns, "chart", drawn_once)
        yield


def drawn_once(before, after, *, strict):
    """The chart of two columns, kept for every page that shows the same."""
    look = tuple((c.name, c.kind, c.grid, c.levels, c.values.tobytes()) for c in (before, after))
    if (look, strict) not in DRAWN:
        DRAWN[look, strict] = charts.chart(before, after, strict=strict)
    return DRAWN[look, strict]


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
