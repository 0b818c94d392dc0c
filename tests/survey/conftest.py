"""What tests of surveys may use: real stores, and a survey's page in a real browser."""

from contextlib import ExitStack

import pytest

from leafcover.survey.pages import page_of
from tests.survey.collector import collector
from tests.survey.surveys import habits
from tests.survey.visiting import new_page, visited


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


@pytest.fixture(scope="module")
def tab(browser):
    """One page for the tests of a file: opening a page of its own takes three times the work of a visit."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    yield new_page(context)
    context.close()


@pytest.fixture
def visit_address(browser, tab):
    """Open a page at an address as a respondent would: the first in the tab, others and odd ones in a new context."""
    with ExitStack() as closing:
        free = [tab]

        def opened(address, *, width=1280, **settings):
            if free and not settings:
                page = free.pop()
                page.set_viewport_size({"width": width, "height": 900})
            else:
                context = browser.new_context(viewport={"width": width, "height": 900}, **settings)
                closing.callback(context.close)
                page = new_page(context)
            return visited(page, address, closing)

        yield opened
    if not free:  # leave it as it was
        tab.context.set_offline(False)
        tab.context.clear_cookies()
        tab.goto("about:blank")


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
