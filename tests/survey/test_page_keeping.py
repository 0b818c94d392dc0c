"""The page keeps nothing of the truth, survives a broken network, and is the same as a file."""

import hashlib

import pytest

from leafcover.survey.client import received
from leafcover.survey.pages import offline_page
from tests.survey.surveys import habits

TRUTH = (1, 2, 1, 7, 2)


def test_answering_leaves_no_mark_in_the_document(visit) -> None:
    visited = visit(habits())
    markup = "document.documentElement.outerHTML"
    before = visited.page.evaluate(markup)
    visited.answer(*TRUTH)
    assert len(visited.chosen()) == 5
    assert visited.page.evaluate(markup) == before


KEPT = """async () => ({
  stores: [localStorage.length, sessionStorage.length, await indexedDB.databases(), await caches.keys()],
  words: [document.cookie, window.name, document.title],
  history: [history.state, history.length, location.href],
})"""


def test_nothing_is_kept_after_sending(visit) -> None:
    left = []
    for truth in (TRUTH, (0, 0, 0, 60, 0)):
        visited = visit(habits())
        page = visited.page
        before = page.evaluate(KEPT)
        assert before["stores"] == [0, 0, [], []]
        visited.answer(*truth)
        visited.send()
        visited.sees("Sent")
        assert visited.chosen() == []
        assert page.evaluate(KEPT) == before
        assert page.context.cookies() == []
        assert visited.complaints == []
        left.append(page.evaluate("document.documentElement.outerHTML"))
    assert left[0] == left[1]


@pytest.mark.parametrize("sent", [True, False])
def test_coming_back_by_any_way_finds_an_empty_form(visit, sent: bool) -> None:
    visited = visit(habits())
    page = visited.page

    def fill() -> None:
        visited.answer(*TRUTH)
        if sent:
            visited.send()
            visited.sees("Sent")

    fill()
    page.reload()
    assert visited.chosen() == []
    fill()
    page.goto(visited.recorder.address + "/elsewhere")
    page.go_back()
    page.locator("fieldset").first.wait_for()
    assert visited.chosen() == []
    page.go_forward()
    page.go_back()
    page.locator("fieldset").first.wait_for()
    assert visited.chosen() == []


@pytest.mark.parametrize("moment", ["pagehide", "pageshow"])
def test_a_page_that_the_browser_keeps_whole_is_emptied(visit, moment: str) -> None:
    visited = visit(habits())
    visited.answer(*TRUTH)
    assert len(visited.chosen()) == 5
    visited.page.evaluate(f"dispatchEvent(new PageTransitionEvent('{moment}', {{persisted: true}}))")
    assert visited.chosen() == []


def test_with_the_network_cut_it_can_be_answered_and_sends_the_same_bytes_later(visit) -> None:
    visited = visit(habits())
    tried = []
    visited.on("request", lambda request: tried.append(request.post_data_buffer))
    visited.page.context.set_offline(True)
    visited.answer(*TRUTH)
    visited.send()
    visited.sees("Your answer has not arrived yet")
    assert visited.chosen() == []
    again = visited.page.get_by_role("button", name="Send again")
    again.click()
    again.wait_for()
    assert visited.recorder.answers == []
    visited.page.context.set_offline(False)
    again.click()
    visited.sees("Sent")
    assert not again.is_visible()
    (arrived,) = visited.recorder.answers
    assert tried == [arrived.body] * 3


@pytest.mark.parametrize(
    "reply",
    [
        (500, b'{"received":false}'),
        (503, b"busy"),
        (408, b'{"received":false,"why":"late"}'),
        (429, b'{"received":false,"why":"later"}'),
        (404, b"<html>no such page</html>"),
        (200, b"<html>Log in to this network</html>"),
        (200, b'{"received":"yes"}'),
        (302, b""),
    ],
)
def test_whatever_is_not_the_collectors_word_is_tried_again_with_the_same_bytes(
    visit, reply: tuple[int, bytes]
) -> None:
    visited = visit(habits())
    visited.recorder.reply = reply
    visited.answer(*TRUTH)
    visited.send()
    visited.sees("Your answer has not arrived yet")
    visited.recorder.reply = (200, b'{"received":true}')
    visited.page.get_by_role("button", name="Send again").click()
    visited.sees("Sent")
    first, second = visited.recorder.answers
    assert first.body == second.body


@pytest.mark.parametrize(
    ("status", "words"),
    [
        (403, "does not know the link"),
        (409, "were changed after you opened this page"),
        (413, "too long"),
        (415, "not an answer"),
        (422, "not an answer"),
    ],
)
def test_a_refusal_is_told_in_words_of_our_own(visit, status: int, words: str) -> None:
    visited = visit(habits())
    visited.recorder.reply = (status, b'{"received":false,"why":"<b>theirs</b>"}')
    visited.answer(*TRUTH)
    visited.send()
    visited.sees("Your answer was not accepted")
    told = visited.page.locator("[data-status]:visible")
    assert told.count() == 1
    assert words in told.inner_text()
    assert "theirs" not in visited.page.content()
    assert visited.page.get_by_role("button").filter(visible=True).count() == 0
    assert visited.chosen() == []


def test_the_file_sends_to_its_collector_and_nowhere_else(visit, tmp_path) -> None:
    visited = visit(habits())
    page, recorder = visited.page, visited.recorder
    content, digest = offline_page(habits(), recorder.address + "/answers")
    file = tmp_path / "survey.html"
    file.write_bytes(content)
    assert hashlib.sha256(file.read_bytes()).hexdigest() == digest
    recorder.requests.clear()
    asked = []
    visited.on("request", lambda request: asked.append(request.url))
    page.goto(file.as_uri())
    assert page.locator(".address strong").inner_text() == f"{recorder.address}/answers"
    visited.answer(*TRUTH)
    assert recorder.requests == []
    visited.send()
    visited.sees("Sent")
    assert [request.method for request in recorder.requests] == ["OPTIONS", "POST"]
    assert received(habits(), recorder.answers[0].body)[0].reports[3:] == ("07", "2")
    assert asked == [file.as_uri(), recorder.address + "/answers"]
    assert visited.complaints == []
    assert page.evaluate("fetch('http://127.0.0.1:1/').then(() => 'sent', () => 'refused')") == "refused"
    assert any("violates the following Content Security Policy" in complaint for complaint in visited.complaints)
