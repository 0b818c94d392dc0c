"""The documentation as a site: it builds, asks for nothing from elsewhere, and fits a phone."""

import json
import os
import subprocess
import sys
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PAGES = (
    "index.html",
    "tutorial.html",
    "reference/python-api.html",
    "reference/measures/index.html",
    "results/scoreboard.html",
)
WIDTHS = (1280, 390)


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The built site, a folder: that of ``make check`` where it was run just now, since building takes long."""
    if built := os.environ.get("LEAFCOVER_SITE"):
        return ROOT / built
    for package in ("mkdocs", "material", "mkdocstrings"):
        if find_spec(package) is None:
            pytest.skip(f"needs the package {package} to build the documentation: make docs installs it")
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(folder)]
    done = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, check=False, env=os.environ | {"NO_MKDOCS_2_WARNING": "1"}
    )
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture(scope="module")
def address(site):
    """The site served on the loopback interface."""

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *words):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(site))) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.fixture(scope="module")
def tab(browser):
    """One page for all tests: opening a new one takes most of the time of a visit."""
    context = browser.new_context()
    yield context.new_page()
    context.close()


@pytest.fixture
def opened(tab):
    """Open an address on a wide screen; gives the page with all it asked for and complained of."""
    listening = []

    def listen(event, told):
        tab.on(event, told)
        listening.append((event, told))

    def open_page(url):
        seen = {"requests": [], "complaints": []}
        listen("request", lambda request: seen["requests"].append(request.url))
        listen("console", lambda message: seen["complaints"].append(message.text))
        listen("pageerror", lambda error: seen["complaints"].append(str(error)))
        tab.set_viewport_size({"width": WIDTHS[0], "height": 900})
        tab.goto(url)
        tab.wait_for_load_state("networkidle")
        return tab, seen

    yield open_page
    for event, told in listening:
        tab.remove_listener(event, told)
    tab.goto("about:blank")


@pytest.mark.parametrize("name", PAGES)
def test_a_page_asks_only_the_server_it_came_from_and_fits(opened, address, name):
    page, seen = opened(f"{address}/{name}")
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 900})
        page.wait_for_load_state("networkidle")
        assert page.evaluate("innerWidth") == width
        assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.locator("h1").count() == 1
    assert f"{address}/{name}" in seen["requests"]
    assert [url for url in seen["requests"] if not url.startswith((address, "data:", "blob:"))] == []
    assert seen["complaints"] == []


@pytest.mark.parametrize("name", ["index.html", "tutorial.html"])
def test_a_page_opens_from_a_folder(opened, site, name):
    _, seen = opened((site / name).as_uri())
    assert [url for url in seen["requests"] if not url.startswith(("file:", "data:", "blob:"))] == []
    assert seen["complaints"] == []


@pytest.mark.parametrize("place", ["server", "folder"])
def test_search_finds_a_term(opened, address, site, place):
    page, seen = opened(f"{address}/index.html" if place == "server" else (site / "index.html").as_uri())
    page.locator(".md-search__input").click()
    page.locator(".md-search__input").press_sequentially("singling")
    page.wait_for_selector(".md-search-result__item", state="attached")
    assert any(
        "attacks" in link for link in page.locator(".md-search-result__link").evaluate_all("a => a.map(x => x.href)")
    )
    assert seen["complaints"] == []


def test_every_picture_of_a_page_is_there_and_described(opened, address):
    page, _ = opened(f"{address}/tutorial.html")
    shown = page.evaluate(
        "[...document.querySelectorAll('article img')].map(i => [i.complete && i.naturalWidth, i.alt.length])"
    )
    assert len(shown) == 3
    assert all(width and words for width, words in shown)


def test_parameters_of_the_api_are_a_list(opened, address):
    page, _ = opened(f"{address}/reference/python-api.html")
    section = page.locator(".doc-function:has(> #leafcover\\.read)")
    assert [one.split(" ")[0] for one in section.locator("li").all_inner_texts()][:3] == ["source", "roles", "category"]


def test_the_search_index_has_every_page(site):
    found = {
        entry["location"].partition("#")[0]
        for entry in json.loads((site / "search/search_index.json").read_text("utf-8"))["docs"]
    }
    pages = {path.relative_to(ROOT / "docs").with_suffix(".html").as_posix() for path in (ROOT / "docs").rglob("*.md")}
    assert pages <= found
