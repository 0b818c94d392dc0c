"""The page and the real collector: what is tossed in the browser is what is stored, once."""

from itertools import count

import pytest

from leafcover.survey.client import token
from leafcover.survey.pages import offline_page
from tests.survey.looking import rows
from tests.survey.serving import KEY, serving

TRUTH = (1, 2, 1, 7, 2)


@pytest.fixture(scope="module")
def collector(tmp_path_factory):
    """A collector of a survey with tokens, which also takes answers from the survey's file."""
    folder = tmp_path_factory.mktemp("collector")
    with serving(folder, str(folder / "habits.sqlite"), tokens=True, offline=True) as started:
        yield started


@pytest.fixture(scope="module")
def tokens(collector):
    """Tokens that nobody has used."""
    return (token(KEY.secret, collector.survey.fingerprint, number) for number in count())


@pytest.fixture
def arrive(visit_address, collector):
    """Open the survey with a token, choose the answers, and note what is sent."""

    def opened(mine):
        visit = visit_address(f"http://127.0.0.1:{collector.port}/#token={mine}")
        visit.sent = []
        visit.on("request", lambda request: visit.sent.append(request.post_data_json))
        visit.answer(*TRUTH)
        return visit

    return opened


def stored(collector):
    """The id and the reports of every answer."""
    return {(one, tuple(reports.split(","))) for _, one, _, reports in rows(collector.store, "answers")}


def test_what_the_browser_sends_is_stored_once(arrive, collector, tokens) -> None:
    mine = next(tokens)
    before = stored(collector)
    visit = arrive(mine)
    visit.send()
    visit.sees("Sent")
    assert visit.complaints == []
    (sent,) = visit.sent
    assert stored(collector) - before == {(sent["id"], tuple(sent["reports"]))}
    again = arrive(mine)
    again.send()
    again.sees("Your answer was not accepted")
    assert "already sent with your link" in again.page.locator("[data-status]:visible").inner_text()
    assert len(stored(collector)) == len(before) + 1


def test_a_forged_link_is_refused(arrive, collector) -> None:
    before = stored(collector)
    visit = arrive("a" * 26)
    visit.send()
    visit.sees("Your answer was not accepted")
    assert "does not know the link" in visit.page.locator("[data-status]:visible").inner_text()
    assert stored(collector) == before


def test_an_answer_waits_in_the_page_until_the_collector_is_back(arrive, collector, tokens) -> None:
    before = stored(collector)
    visit = arrive(next(tokens))
    collector.kill()
    visit.send()
    visit.sees("Your answer has not arrived yet")
    collector.start()
    visit.page.get_by_role("button", name="Send again").click()
    visit.sees("Sent")
    assert visit.sent[0] == visit.sent[1]
    assert len(stored(collector)) == len(before) + 1


def test_the_file_sends_to_the_collector(visit_address, collector, tokens, tmp_path) -> None:
    before = stored(collector)
    content, _ = offline_page(collector.survey, f"http://127.0.0.1:{collector.port}/answers")
    file = tmp_path / "survey.html"
    file.write_bytes(content)
    visit = visit_address(file.as_uri())
    visit.page.get_by_label("Your link").fill(f"http://127.0.0.1:{collector.port}/#token={next(tokens)}")
    visit.page.get_by_role("button", name="Continue to the questions").click()
    visit.answer(*TRUTH)
    visit.send()
    visit.sees("Sent")
    assert visit.complaints == []
    assert len(stored(collector)) == len(before) + 1
