"""A survey is answered in a real browser by mouse, by keyboard alone and on a phone."""

import json

import pytest

from leafcover.survey.client import length, received
from leafcover.survey.questionnaire import survey_from
from tests.survey.surveys import HABITS, habits, one_coin
from tests.test_browser import contrast

TRUTH = (1, 2, 1, 7, 2)


def test_by_mouse_one_message_leaves_the_page_and_nothing_before_it(visit) -> None:
    visited = visit(habits())
    visited.answer(*TRUTH)
    assert [request.method for request in visited.recorder.requests] == ["GET"]
    visited.send()
    visited.sees("Sent")
    assert [request.method for request in visited.recorder.requests] == ["GET", "POST"]
    (sent,) = visited.recorder.answers
    assert sent.path == "/answers"
    assert len(sent.body) == length(habits())
    answer, _ = received(habits(), sent.body)
    assert answer.reports[3:] == ("07", "2")
    assert visited.complaints == []


def test_by_keyboard_alone(visit) -> None:
    visited = visit(habits())
    press = visited.page.keyboard.press

    def tab_to(selector: str) -> None:
        for _ in range(30):
            press("Tab")
            if visited.page.evaluate(f"document.activeElement.matches({json.dumps(selector)})"):
                return
        raise AssertionError(selector)

    tab_to("summary")
    press("Enter")
    assert visited.page.locator("details").get_attribute("open") is not None
    tab_to("[name=answer-0]")
    press("Space")
    tab_to("[name=answer-1]")
    press("ArrowDown")
    press("ArrowDown")
    tab_to("[name=answer-2]")
    press("Space")
    press("ArrowDown")
    tab_to("[name=answer-3]")
    visited.page.keyboard.type("33")
    tab_to("[name=answer-4]")
    press("ArrowUp")  # from the first round to the last
    assert visited.page.eval_on_selector_all(":checked", "all => all.map(one => one.value)") == ["0", "2", "1", "2"]
    tab_to("button")
    press("Enter")
    visited.sees("Sent")
    assert visited.recorder.answers[0].content["reports"][3:] == ["33", "2"]


@pytest.mark.parametrize("survey", [habits(), habits(tokens=True), one_coin()])
def test_on_a_phone_nothing_is_cut_off_and_every_target_can_be_hit(visit, survey) -> None:
    visited = visit(survey, width=360, has_touch=True, is_mobile=True)
    page = visited.page
    for _ in range(2):
        assert page.evaluate("document.scrollingElement.scrollWidth") <= 360
        for target in page.locator(".choice:visible, button:visible, summary:visible, [type=text]:visible").all():
            box = target.bounding_box()
            assert box["height"] >= 44
            assert box["width"] >= 44
        page.locator("summary").tap()
    if not survey.tokens:
        for place in range(len(survey.questions)):
            field = page.locator(f"#question-{place}")
            if field.locator(".choice").count():
                field.locator(".choice").last.tap()
            else:
                field.locator("input").fill("5")
        page.get_by_role("button", name="Send").tap()
        visited.sees("Sent")
        assert page.evaluate("document.scrollingElement.scrollWidth") <= 360


def test_every_question_must_be_answered(visit) -> None:
    visited = visit(habits())
    visited.answer(1)
    visited.send()
    lacking = visited.page.locator("fieldset .lacks:visible")
    assert lacking.count() == 4
    assert visited.page.get_by_role("alert").inner_text() == "4 questions still need an answer."
    assert visited.page.evaluate("document.activeElement.name") == "answer-1"
    visited.page.locator("[name=answer-1]").first.check()
    assert lacking.count() == 3
    for wrong in ("61", "-1", "1.5", "many", "1e1"):
        visited.page.locator("[name=answer-3]").fill(wrong)
        assert lacking.count() == 3
    visited.page.locator("[name=answer-3]").fill(" 60 ")
    assert lacking.count() == 2
    visited.answer(*TRUTH)
    assert lacking.count() == 0
    visited.send()
    visited.sees("Sent")
    assert len(visited.recorder.answers) == 1


def test_a_double_click_sends_once(visit) -> None:
    visited = visit(habits())
    visited.answer(*TRUTH)
    visited.page.get_by_role("button", name="Send").dblclick(no_wait_after=True)
    visited.page.evaluate("document.getElementById('questions').requestSubmit()")
    visited.sees("Sent")
    assert len(visited.recorder.answers) == 1
    assert visited.page.locator(".lacking").count() == 0


def test_without_scripts_it_says_why_it_cannot_be_answered(visit) -> None:
    visited = visit(habits(), java_script_enabled=False)
    shown = visited.page.locator('[data-screen="cannot"]')
    assert shown.is_visible()
    assert "JavaScript" in shown.inner_text()
    assert not visited.page.locator("#questions").is_visible()
    assert not visited.page.locator('[data-screen="unlinked"]').is_visible()


def test_texts_of_a_survey_are_shown_as_text(visit) -> None:
    wild = """</script><script>document.title = 'x'</script> <b>"quoted" & 'so'</b> {{ 7 * 7 }} <!-- <img src=x>"""
    written = json.dumps(wild)
    text = HABITS.replace('"Have you ever taken something home from work?"', written)
    text = text.replace('"Habits at work"', written).replace('"The works council"', written)
    text = text.replace('"south"', '"<i onclick=alert(1)>"').replace('"Four questions about habits at work."', written)
    visited = visit(survey_from(text))
    page = visited.page
    assert page.title() == wild
    assert page.locator("h1").inner_text() == wild
    assert page.locator("legend").first.inner_text().endswith(wild)
    assert page.locator("label.choice").nth(-2).inner_text() == "<i onclick=alert(1)>"
    assert page.locator("main i, main b, main img, main script").count() == 0
    visited.answer(*TRUTH)
    visited.send()
    visited.sees("Sent")
    assert len(visited.recorder.requests) == 2
    assert visited.complaints == []


# Visible pieces of text with the colour of their letters and of the ground beneath them.
COLOURS = """() => {
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT), found = [];
  while (walker.nextNode()) {
    const one = walker.currentNode.parentElement;
    if (!walker.currentNode.textContent.trim() || !one.checkVisibility()) continue;
    let ground = one;
    while (getComputedStyle(ground).backgroundColor === 'rgba(0, 0, 0, 0)') ground = ground.parentElement;
    found.push([walker.currentNode.textContent.trim(), getComputedStyle(one).color,
                getComputedStyle(ground).backgroundColor]);
  }
  return found;
}"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_all_letters_stand_out_from_their_ground(visit, scheme: str) -> None:
    visited = visit(habits(), color_scheme=scheme, reduced_motion="reduce")

    def readable(least: int) -> None:
        seen = visited.page.evaluate(COLOURS)
        assert len(seen) >= least
        assert [text for text, ink, ground in seen if contrast(ink, ground) < 4.5] == []

    visited.page.locator("summary").click()
    visited.answer(1)
    visited.send()
    readable(50)
    visited.answer(*TRUTH)
    visited.recorder.reply = (500, b"")
    visited.send()
    visited.sees("Your answer has not arrived yet")
    readable(6)


def test_landmarks_and_names_can_be_read_out(visit) -> None:
    page = visit(habits()).page
    assert page.get_by_role("banner").count() == page.get_by_role("main").count() == 1
    assert page.get_by_role("contentinfo").count() == page.get_by_role("form").count() == 1
    assert page.get_by_role("heading", level=1).count() == 1
    assert page.get_by_role("group", name="Have you ever taken something home from work?").count() == 1
    assert page.get_by_role("radio").count() == 11
    assert page.get_by_role("textbox", name="A whole number from 0 to 60").count() == 1
    described = page.locator("fieldset").first.get_attribute("aria-describedby").split()
    assert "3 of 4 cases" in page.locator(f"#{described[0]}").inner_text()
    assert page.locator(".about.open").count() == 2
