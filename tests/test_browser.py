"""Reports in a real browser: whole in themselves, nothing cut off, readable on a wide screen, a phone and paper.

They need Debian's chromium (``make browser`` installs it where it may) or any other named in $LEAFCOVER_BROWSER.
"""

from contextlib import ExitStack

import pytest

from leafcover.engine.evaluate import compared_to, measure_all
from leafcover.engine.run import run
from leafcover.keyed_random import Key
from leafcover.recipes import plan_for
from leafcover.reporting.html_page import report
from leafcover.tuning.report import report as sweep_report
from tests.small_models import small_models
from tests.tables import mixed
from tests.tuning.made import point, swept

FACES = ("internal", "external", "published", "elsewhere")
WIDTHS = (1280, 390)


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """Every sort of report of a small release with all its measures, as files."""
    original = mixed(1, rows=300)
    release = run(original, plan_for(original, "framework", target="class"), key=Key.fresh())
    compared = compared_to(original, release, mixed(2, rows=120))
    with small_models():
        told = {"measures": measure_all(compared), "release": release}
    folder = tmp_path_factory.mktemp("reports")
    texts = {
        "internal": report(compared.pair, audience="internal", publish_tree=True, **told),
        "external": report(compared.pair, audience="external", publish_tree=False, **told),
        "published": report(compared.pair, audience="external", publish_tree=True, **told),
        "elsewhere": report(compared.pair, audience="internal", publish_tree=True, **{**told, "release": None}),
    }
    for name, text in texts.items():
        (folder / f"{name}.html").write_text(text, "utf-8")
    return {name: (folder / f"{name}.html").as_uri() for name in texts}


@pytest.fixture(scope="module")
def tab(browser):
    """One page for all tests: opening a new one takes most of the time of a visit."""
    context = browser.new_context()
    yield context.new_page()
    context.close()


@pytest.fixture
def opened(browser, tab, pages):
    """Open a page at a width; gives it together with all it asked for and complained of.

    With settings it is in a context of its own.
    """
    with ExitStack() as closing:

        def open_page(face, width=1280, **settings):
            page = tab
            if settings:
                context = browser.new_context(**settings)
                closing.callback(context.close)
                page = context.new_page()
            seen = {"requests": [], "complaints": []}

            def listen(event, told):
                page.on(event, told)
                closing.callback(page.remove_listener, event, told)

            listen("request", lambda request: seen["requests"].append(request.url))
            listen("console", lambda message: seen["complaints"].append(message.text))
            listen("pageerror", lambda error: seen["complaints"].append(str(error)))
            page.set_viewport_size({"width": width, "height": 900})
            page.goto(pages[face])
            return page, seen

        yield open_page
    tab.emulate_media(media="null")
    tab.goto("about:blank")


def unfold(page):
    page.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")


@pytest.mark.parametrize("face", FACES)
def test_no_request_leaves_the_file_and_nothing_is_complained_of(opened, pages, face):
    page, seen = opened(face)
    unfold(page)
    page.wait_for_load_state("networkidle")
    assert seen["requests"] == [pages[face]]
    assert seen["complaints"] == []


# Visible pieces of text that stick out of the window, or of the box that they belong to.
CUT_OFF = """() => {
  const found = [], range = document.createRange();
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const text = walker.currentNode.textContent.trim(), one = walker.currentNode.parentElement;
    const head = one.closest('thead');
    if (!text || !one.checkVisibility() || head && getComputedStyle(head).clipPath !== 'none') continue;
    range.selectNodeContents(walker.currentNode);
    const box = range.getBoundingClientRect();
    const sheet = one.closest('.sheet, .tiles li, .card, .block, .drawing, details');
    const scrolls = sheet && getComputedStyle(sheet).overflowX === 'auto' && sheet.matches('.drawing');
    if (!box.width || scrolls) continue;
    if (box.left < -1 || box.right > innerWidth + 1) found.push('outside: ' + text.slice(0, 60));
    const around = sheet ? sheet.getBoundingClientRect() : box;
    if (box.left < around.left - 1 || box.right > around.right + 1 || box.bottom > around.bottom + 1)
      found.push('out of its box: ' + text.slice(0, 60));
  }
  return found;
}"""

# Pieces of text whose boxes lie over each other, in tiles, tables and drawings.
OVERLAPS = """() => {
  const found = [];
  for (const group of document.querySelectorAll('.tiles li, tbody tr, svg, .card header, .facts, .block.fit li')) {
    const texts = [...group.querySelectorAll(group.matches('svg') ? 'text' : 'span, small, dt, dd, h3, th')]
      .filter(one => one.getBoundingClientRect().width && one.checkVisibility() && !one.closest('.strip, .meter'))
      .filter(one => ![...one.children].some(child => child.matches('small, .strip, .meter, span')));
    for (let i = 0; i < texts.length; i++) for (let j = i + 1; j < texts.length; j++) {
      if (texts[i].contains(texts[j])) continue;
      const a = texts[i].getBoundingClientRect(), b = texts[j].getBoundingClientRect();
      const wide = Math.min(a.right, b.right) - Math.max(a.left, b.left);
      const high = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
      if (wide > 2 && high > 0.4 * Math.min(a.height, b.height))
        found.push(texts[i].textContent.trim().slice(0, 40) + ' / ' + texts[j].textContent.trim().slice(0, 40));
    }
  }
  return found;
}"""


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("face", FACES)
def test_nothing_is_cut_off_or_overlaps(opened, face, width):
    page, _ = opened(face, width)
    for folded in (True, False):
        if not folded:
            unfold(page)
        assert page.evaluate("document.scrollingElement.scrollWidth") <= width
        assert page.evaluate(CUT_OFF) == []
        assert page.evaluate(OVERLAPS) == []


def test_the_verdict_is_a_coloured_chip_and_cards_stand_one_below_the_other_on_a_phone(opened):
    page, _ = opened("external", 390)
    chip = page.locator(".chip")
    assert chip.count() == 1
    plain, coloured = page.evaluate(
        "() => [document.body, document.querySelector('.chip')].map(one => getComputedStyle(one).backgroundColor)"
    )
    assert plain != coloured
    for group in (".tiles li", ".blocks .block", ".card"):
        left = page.locator(group).evaluate_all("all => all.map(one => one.getBoundingClientRect().left)")
        assert len(left) > 1
        assert max(left) - min(left) < 1


@pytest.mark.parametrize("face", FACES)
def test_every_drawing_has_a_name_that_can_be_read_out(opened, face):
    page, _ = opened(face)
    unfold(page)
    drawings = page.locator("svg, img, [role=img]").all()
    assert len(drawings) > 3
    for drawing in drawings:
        assert len(drawing.get_attribute("aria-label") or "") > 5
    assert page.get_by_role("table").count() > 1
    assert page.get_by_role("heading", level=1).count() == 1


def test_the_page_says_the_same_without_scripts(opened):
    plain, _ = opened("internal", java_script_enabled=False)
    full, _ = opened("internal")
    assert plain.locator("body").inner_text() == full.locator("body").inner_text()
    assert "What is not protected" in plain.locator("body").inner_text()


def test_contents_lead_to_every_section(opened):
    page, _ = opened("internal")
    links = page.locator("nav a").all()
    assert len(links) > 8
    for link in links:
        assert page.locator(link.get_attribute("href")).count() == 1


@pytest.mark.parametrize("face", ["internal", "external"])
def test_it_prints_with_everything_unfolded(opened, face):
    page, _ = opened(face)
    page.emulate_media(media="print")
    heights = page.eval_on_selector_all(
        "details > .folded", "all => all.map(one => one.getBoundingClientRect().height)"
    )
    assert all(height > 10 for height in heights)
    paper = page.pdf(format="A4")
    assert paper.startswith(b"%PDF")
    assert len(paper) > 20_000


def test_letters_stand_out_from_their_ground_in_light_and_dark(opened):
    for scheme in ("light", "dark"):
        page, _ = opened("internal", color_scheme=scheme)
        ink, paper = page.evaluate(
            "() => [getComputedStyle(document.body).color, getComputedStyle(document.body).backgroundColor]"
        )
        assert contrast(ink, paper) > 10
        soft = page.evaluate("() => getComputedStyle(document.querySelector('.meta')).color")
        assert contrast(soft, paper) > 4.5


def contrast(one, other):
    """The contrast ratio of two colours, as the Web Content Accessibility Guidelines define it."""

    def light(colour):
        parts = [int(part) / 255 for part in colour[4:-1].split(",")]
        linear = [p / 12.92 if p <= 0.03928 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    low, high = sorted((light(one), light(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("width", WIDTHS)
def test_names_in_the_table_of_a_sweep_can_be_read(browser, tmp_path, width):
    """A line breaks at most at a hyphen, never between two letters."""
    path = tmp_path / "sweep.html"
    found = swept(point("microaggregate-univariate k=3", 0.9, 0.9, on_front=True), point("cover k=20", 0.02, 0.92))
    path.write_text(sweep_report(found), "utf-8")
    page = browser.new_page(viewport={"width": width, "height": 900})
    page.goto(path.as_uri())
    names = page.locator("tbody th").evaluate_all("all => all.map(one => one.getBoundingClientRect().height)")
    assert max(names) < 110  # four lines and the space around them
    assert page.evaluate("document.scrollingElement.scrollWidth") <= width
    inside = page.evaluate("(box => box.scrollWidth - box.clientWidth)(document.querySelector('.scroll'))")
    assert inside <= 0  # nothing is beside the screen
    page.close()
