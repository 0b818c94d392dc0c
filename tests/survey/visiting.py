"""A survey's page in a real browser, with everything that it complains of written down."""

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any

from tests.survey.collector import Collector

WATCH = "addEventListener('securitypolicyviolation', event => console.error('refused: ' + event.violatedDirective))"
PATIENCE = 20_000  # milliseconds: other tests may keep the machine busy


@dataclass
class Visit:
    """One open page: the browser's page, what was complained of, and the collector behind it where it is a test's."""

    page: Any
    closing: ExitStack
    complaints: list[str] = field(default_factory=list)
    recorder: Collector | None = None

    def on(self, event: str, told: Callable[[Any], object]) -> None:
        """Tell of each event of the page, until the visit ends."""
        self.page.on(event, told)
        self.closing.callback(self.page.remove_listener, event, told)

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


def visited(page: Any, address: str, closing: ExitStack) -> Visit:
    """Open an address in a page; when ``closing`` ends, nothing of the visit listens to the page any more."""
    visit = Visit(page, closing)
    visit.on("console", lambda message: visit.complaints.append(message.text))
    visit.on("pageerror", lambda error: visit.complaints.append(str(error)))
    page.goto(address)
    return visit


def new_page(context: Any) -> Any:
    """A page that tells of whatever its policy refuses."""
    context.set_default_timeout(PATIENCE)
    page = context.new_page()
    page.add_init_script(WATCH)
    return page
