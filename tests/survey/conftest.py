"""What tests of surveys may use: real stores, and a survey's page in a real browser."""

from dataclasses import dataclass, field

import pytest

from leafcover.survey.page import page_of
from tests.survey.postgresql import Server, programs
from tests.survey.recorder import recording

WATCH = "addEventListener('securitypolicyviolation', event => console.error('refused: ' + event.violatedDirective))"


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


@dataclass
class Visit:
    """One open page: the browser's page, the collector behind it, and what was complained of."""

    page: object
    recorder: object
    complaints: list[str] = field(default_factory=list)

    def send(self) -> None:
        self.page.get_by_role("button", name="Send", exact=True).click()

    def answer(self, *codes: int) -> None:
        """Choose or type a true answer to each question."""
        for place, code in enumerate(codes):
            field = self.page.locator(f"[name=answer-{place}]")
            if field.first.get_attribute("type") == "radio":
                field.nth(code).check()
            else:
                field.fill(str(code))

    def sees(self, heading: str) -> None:
        self.page.get_by_role("heading", name=heading).wait_for()

    def chosen(self) -> list[str]:
        """Whatever the fields of the form still hold."""
        return self.page.eval_on_selector_all(
            "input", "all => all.filter(one => one.type === 'radio' ? one.checked : one.value).map(one => one.name)"
        )


@pytest.fixture
def visit(browser):
    """Open the page of a survey as a respondent would."""
    closing = []

    def opened(survey, *, width=1280, fragment="", before="", **settings):
        running = recording(page_of(survey))
        recorder = running.__enter__()
        context = browser.new_context(viewport={"width": width, "height": 900}, **settings)
        closing.append((running, context))
        context.set_default_timeout(20_000)
        visited = Visit(context.new_page(), recorder)
        visited.page.add_init_script(WATCH)
        if before:
            visited.page.add_init_script(before)
        visited.page.on("console", lambda message: visited.complaints.append(message.text))
        visited.page.on("pageerror", lambda error: visited.complaints.append(str(error)))
        visited.page.goto(recorder.address + "/" + fragment)
        return visited

    yield opened
    for running, context in reversed(closing):
        context.close()
        running.__exit__(None, None, None)
