"""From the browser of who answers to the browser of the owner, through a collector as people run it."""

import json
from contextlib import closing
from datetime import UTC, datetime

import pytest

from leafcover.survey.client import Client, token
from leafcover.survey.storage import open_store
from tests.cli.helpers import leafcover
from tests.survey.serving import KEY, serving

TRUTH = (1, 2, 0, 7, 2)
ANSWERS = {"taken": "yes", "days": "more", "paid": "no", "years": 7, "site": "east"}


def kept(running):
    with closing(open_store(running.store, running.survey)) as store:
        return list(store.reports())


def answered(page, address):
    page.goto(address)
    for place, code in enumerate(TRUTH):
        field = page.locator(f"[name=answer-{place}]")
        if field.first.get_attribute("type") == "radio":
            field.nth(code).check()
        else:
            field.fill(str(code))
    page.get_by_role("button", name="Send", exact=True).click()


@pytest.fixture
def page(browser):
    context = browser.new_context(viewport={"width": 390, "height": 844})
    context.set_default_timeout(30_000)
    yield context.new_page()
    context.close()


def test_an_answer_in_the_browser_reaches_the_store_and_the_owner(page, tmp_path):
    with serving(tmp_path, str(tmp_path / "a.sqlite"), tokens=True) as running:
        address = f"http://127.0.0.1:{running.port}"
        link = f"{address}/#token={token(KEY.secret, running.survey.fingerprint, 0)}"
        answered(page, link)
        page.get_by_role("heading", name="Sent").wait_for()
        assert [reports[3:] for reports in kept(running)] == [("07", "2")]

        page.goto("about:blank")
        answered(page, link)  # with other coins
        page.get_by_role("heading", name="Your answer was not accepted").wait_for()
        assert len(kept(running)) == 1

        for number in range(1, 120):
            own = token(KEY.secret, running.survey.fingerprint, number)
            client = Client(running.survey, address, token=own)
            client.prepare(ANSWERS)
            client.send()
        assert len(kept(running)) == 120

        page.goto(f"{address}/owner")
        page.get_by_label("Secret of this survey").fill(KEY.secret.hex())
        page.get_by_role("button", name="Log in").click()
        page.get_by_role("heading", name="Where do you work?").wait_for()
        assert "120" in page.locator(".tiles").inner_text()
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
        for name in ("Tree", "Design"):
            page.get_by_role("link", name=name).click()
            page.get_by_role("link", name=name).and_(page.locator("[aria-current]")).wait_for(
                timeout=120_000  # it may compile first
            )
            assert page.evaluate("document.documentElement.scrollWidth") <= 390
        with page.expect_download() as download:
            page.get_by_role("link", name="Download CSV").click()
        exported = download.value.path().read_text()
        assert exported.splitlines()[0] == "taken,days,paid,years,site"
        assert len(exported.splitlines()) == 121
        page.get_by_role("button", name="Log out").click()
        page.get_by_label("Secret of this survey").wait_for()

        found = leafcover("survey", "estimate", running.file, running.store, "--json")
        assert json.loads(found.stdout)["answers"] == 120
        running.stop()
        assert running.said == ""  # no access log, no complaint


def test_nothing_that_is_kept_tells_the_hour(tmp_path):
    with serving(tmp_path, str(tmp_path / "a.sqlite")) as running:
        client = Client(running.survey, f"http://127.0.0.1:{running.port}")
        client.prepare(ANSWERS)
        client.send()
        running.stop()
    content = (tmp_path / "a.sqlite").read_bytes()
    assert datetime.now(UTC).strftime("%Y-%m-%d").encode() not in content
