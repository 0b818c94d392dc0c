"""One-time links in a real browser: each answer goes with the token of its own link."""

import pytest

from leafcover.survey.client import received, token
from tests.survey.surveys import habits

TRUTH = (1, 2, 1, 7, 2)


def test_a_token_goes_from_the_link_into_the_message_and_out_of_the_address(visit) -> None:
    survey = habits(tokens=True)
    mine = token(bytes(32), survey.fingerprint, 3)
    visited = visit(survey, fragment=f"#token={mine}")
    assert all(mine not in request.path for request in visited.recorder.requests)
    visited.answer(*TRUTH)
    visited.send()
    visited.sees("Sent")
    (sent,) = visited.recorder.answers
    assert received(survey, sent.body)[1] == mine
    assert all(mine not in str(request.headers) + request.path for request in visited.recorder.requests)
    assert visited.page.evaluate("location.href") == visited.recorder.address + "/"


@pytest.mark.parametrize("way", ["code", "link", "address"])
def test_without_a_token_it_says_so_before_it_asks(visit, way: str) -> None:
    survey = habits(tokens=True)
    mine = token(bytes(32), survey.fingerprint, 3)
    visited = visit(survey, fragment="#token=short")
    page = visited.page
    visited.sees("You need your own link")
    assert not page.locator("fieldset").first.is_visible()
    page.get_by_label("Your link").fill("nonsense")
    page.get_by_role("button", name="Continue to the questions").click()
    page.locator("#code-lacks").wait_for()
    if way == "address":
        page.goto(f"{visited.recorder.address}/#token={mine}")
    else:
        page.get_by_label("Your link").fill(mine if way == "code" else f"https://survey.example.org/#token={mine} ")
        page.get_by_role("button", name="Continue to the questions").click()
    visited.answer(*TRUTH)
    visited.send()
    visited.sees("Sent")
    assert visited.recorder.answers[0].content["token"] == mine


def two_links(visit):
    """A page opened by a first link, and where a second one leads; only what stands behind the # differs."""
    survey = habits(tokens=True)
    mine, theirs = (token(bytes(32), survey.fingerprint, number) for number in (3, 4))
    visited = visit(survey, fragment=f"#token={mine}")
    return visited, mine, theirs, f"{visited.recorder.address}/#token={theirs}"


def test_a_second_link_in_the_same_tab_is_answered_with_its_own_token(visit) -> None:
    visited, _, theirs, second = two_links(visit)
    visited.answer(1)
    visited.send()
    visited.page.goto(f"{visited.recorder.address}/#elsewhere")
    assert visited.chosen() == ["answer-0"]  # no other link, so nothing is lost
    visited.page.goto(second)
    visited.page.wait_for_function("document.querySelectorAll(':checked').length === 0")
    assert visited.page.locator(".lacks:visible").count() == 0
    visited.answer(*TRUTH)
    visited.send()
    visited.sees("Sent")
    assert [one.content["token"] for one in visited.recorder.answers] == [theirs]


@pytest.mark.parametrize(
    ("reply", "heading"),
    [((201, b'{"received":true}'), "Sent"), ((403, b'{"received":false}'), "Your answer was not accepted")],
)
def test_after_an_answer_a_second_link_opens_the_page_anew(visit, reply: tuple[int, bytes], heading: str) -> None:
    visited, mine, theirs, second = two_links(visit)
    visited.recorder.reply = reply
    visited.answer(*TRUTH)
    visited.send()
    visited.sees(heading)
    visited.page.goto(second)
    visited.sees("The questions")
    assert visited.chosen() == []
    visited.answer(*TRUTH)
    visited.send()
    visited.sees(heading)
    assert [one.content["token"] for one in visited.recorder.answers] == [mine, theirs]


def test_a_second_link_does_not_touch_an_answer_that_waits(visit) -> None:
    visited, mine, _, second = two_links(visit)
    visited.recorder.reply = (503, b"busy")
    visited.answer(*TRUTH)
    visited.send()
    visited.sees("Your answer has not arrived yet")
    visited.page.goto(second)
    visited.recorder.reply = (201, b'{"received":true}')
    visited.page.get_by_role("button", name="Send again").click()
    visited.sees("Sent")
    first, again = visited.recorder.answers
    assert first.body == again.body
    assert again.content["token"] == mine
