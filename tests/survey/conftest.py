"""What tests of surveys may use: real stores, and a survey's page in a real browser."""

from contextlib import ExitStack

import pytest

from leafcover.survey.pages import page_of
from tests.survey.collector import collector
from tests.survey.postgresql import Server, programs
from tests.survey.surveys import habits
from tests.survey.visiting import visited


@pytest.fixture(scope="session")
def postgresql():
    """A real PostgreSQL server, stopped when the tests end."""
    pytest.importorskip("psycopg", reason="needs the package psycopg: make test installs it")
    if (found := programs()) is None:
        pytest.skip("needs a PostgreSQL server: make postgresql installs it")
    server = Server(found)
    yield server
    server.stop()


@pytest.fixture(params=["sqlite", "postgresql"])
def kind(request):
    """Each kind of store."""
    return request.param


@pytest.fixture
def fresh(kind, tmp_path, request):
    """Make the address of an empty store."""
    numbers = iter(range(1_000_000))
    if kind == "postgresql":
        return request.getfixturevalue("postgresql").fresh
    return lambda: str(tmp_path / f"{next(numbers)}.sqlite")


@pytest.fixture
def visit_address(browser):
    """Open a page at an address as a respondent would."""
    with ExitStack() as closing:

        def opened(address, *, width=1280, before="", **settings):
            context = browser.new_context(viewport={"width": width, "height": 900}, **settings)
            closing.callback(context.close)
            return visited(context, address, before)

        yield opened


@pytest.fixture
def visit(visit_address):
    """Open the page of a survey from a collector that writes everything down."""
    with ExitStack() as closing:

        def opened(survey, *, fragment="", **settings):
            recorder = closing.enter_context(collector(page=page_of(survey)))
            visit = visit_address(recorder.address + "/" + fragment, **settings)
            visit.recorder = recorder
            return visit

        yield opened


@pytest.fixture
def survey():
    """A survey with every mechanism but a shared coin."""
    return habits()


@pytest.fixture
def place(tmp_path):
    """Where answers may be kept."""
    return str(tmp_path / "answers.sqlite")
