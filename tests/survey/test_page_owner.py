"""The owner's pages on a phone: nothing is cut off without a sign of it."""

import pytest

from leafcover.survey.design import design
from leafcover.survey.pages import owner_page
from leafcover.survey.questionnaire import survey_from
from tests.survey.surveys import HABITS, habits

WHITE = "data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg' width='{}' height='300'/>"
EDGE = {"x": 368, "y": 100, "width": 4, "height": 40}  # just within the right side of the tree's card


@pytest.fixture
def phone(browser):
    """Show a page of the owner on a narrow screen."""
    context = browser.new_context(viewport={"width": 390, "height": 900})

    def shown(html):
        page = context.new_page()
        page.set_content(html)
        return page

    yield shown
    context.close()


@pytest.mark.parametrize("name", ["taken", "n" * 60])
def test_the_design_shows_all_its_figures(phone, name: str) -> None:
    survey = survey_from(HABITS.replace('"taken"', f'"{name}"'))
    page = phone(owner_page("owner_design.html.jinja", survey=survey, page="design", found=design(survey)).html)
    assert page.evaluate("document.scrollingElement.scrollWidth") == 390
    row = page.locator("tbody tr").first
    for cell in row.locator("th, td").all():
        box = cell.bounding_box()
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= 390
    labels = row.locator("td.figures").evaluate_all("all => all.map(one => getComputedStyle(one, '::before').content)")
    assert labels == ['"Epsilon"', '"Odds change at most"', '"A probability of 10% becomes at most"']
    heading = page.get_by_role("heading", name="What one answer reveals").bounding_box()
    assert row.bounding_box()["y"] - (heading["y"] + heading["height"]) < 40


@pytest.mark.parametrize(("width", "shaded"), [(900, True), (200, False)])
def test_a_wide_tree_has_a_shade_where_it_goes_on(phone, width: int, shaded: bool) -> None:
    found = {"words": "It is right.", "text": "no"}
    html = owner_page(
        "owner_tree.html.jinja", survey=habits(), page="tree", targets=["taken"], target="taken", found=found
    ).html
    page = phone(html.replace("/owner/tree.svg?target=taken", WHITE.format(width)))
    card = page.locator(".scroll")
    box = card.bounding_box()
    strip = {**EDGE, "y": box["y"] + EDGE["y"]}
    before = page.screenshot(clip=strip)
    card.evaluate("one => one.scrollTo(one.scrollWidth, 0)")
    assert (page.screenshot(clip=strip) != before) is shaded
