"""A survey's page in a real browser, with everything that it complains of written down."""

from dataclasses import dataclass, field
from typing import Any

from tests.survey.collector import Collector

WATCH = "addEventListener('securitypolicyviolation', event => console.error('refused: ' + event.violatedDirective))"
PATIENCE = 20_000  # milliseconds: other tests may keep the machine busy


@dataclass
class Visit:
    """One open page: the browser's page, what was complained of, and the collector behind it where it is a test's."""

    page: Any
    complaints: list[str] = field(default_factory=list)
    recorder: Collector | None = None

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


def visited(context: Any, address: str, before: str = "") -> Visit:
    """Open an address; ``before`` runs ahead of the page's own script."""
    context.set_default_timeout(PATIENCE)
    visit = Visit(context.new_page())
    visit.page.add_init_script(WATCH)
    if before:
        visit.page.add_init_script(before)
    visit.page.on("console", lambda message: visit.complaints.append(message.text))
    visit.page.on("pageerror", lambda error: visit.complaints.append(str(error)))
    visit.page.goto(address)
    return visit
