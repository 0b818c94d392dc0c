"""The map and its page: everything is drawn inside, nothing covers anything, every text is escaped."""

import builtins
import re
from dataclasses import replace
from html.parser import HTMLParser
from itertools import combinations, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leafcover.errors import LeafcoverError
from leafcover.metrics.estimates import Estimate, Risk
from leafcover.recipes import RECIPES
from leafcover.tuning.grid import LeftOut
from leafcover.tuning.plot import (
    COLOURS,
    NARROW,
    SIGNS,
    WIDE,
    Box,
    Look,
    drawing,
    looks_of,
    place_labels,
    risk_ticks,
    scale_of,
    ticks_between,
)
from leafcover.tuning.report import reasons, report, what_to_take, what_was_tried
from tests.tuning.made import point, swept

FULL = (
    point("cover k=20", 0.02, 0.92, on_front=True),
    point("cover k=5", 0.06, 0.94, on_front=True),
    point("framework spread=0.276", 0.15, 0.93),
    point("detective siblings=0.2", 0.99, 0.90),
    point("random spread=0.5", 0.2, 0.6),
)


class Outline(HTMLParser):
    """Every tag and attribute, in order; tags must close in order."""

    def __init__(self):
        super().__init__()
        self.tags, self.attributes, self.open = [], [], []

    def handle_starttag(self, tag, attrs):
        self.handle_startendtag(tag, attrs)
        if tag != "meta":
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += [(tag, *one) for one in attrs]

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def outline(html):
    seen = Outline()
    seen.feed(html)
    assert not seen.open
    return seen


def test_the_page_says_first_what_to_take():
    html = report(swept(*FULL, max_risk=0.1))
    assert "<h1>Recommended: cover k=5</h1>" in html
    words = html[html.index('id="words"') : html.index('id="map"')]
    assert "Under the limit of 0.1, cover k=5 keeps most of the rules for class." in words
    assert "points at that person’s row in 0.060 (0.050 to 0.070) of his tries, about one person in 17." in words
    assert html.index('id="map"') < html.index('id="table"') < html.index('id="not"')


def test_the_page_says_when_nothing_is_below_the_limit_or_no_limit_was_set():
    none = report(swept(*FULL, max_risk=0.01))
    assert "Nothing to recommend below 0.01" in none
    assert "cover k=20 comes nearest, with informed linkage of up to 0.030." in none
    assert 'class="ring"' not in none
    free = report(swept(*FULL))
    assert "No limit was set" in free
    assert "stand cover k=20 and cover k=5." in free
    assert 'class="limit"' not in free


def test_the_page_says_when_what_is_below_the_limit_is_of_no_use():
    html = report(swept(*FULL, max_risk=0.1, commonest=0.935))
    assert "Nothing to recommend below 0.1" in html
    words = "Nothing below the limit of 0.1 surely keeps more of the rules for class than always giving the commonest"
    assert words in html
    assert "which agrees on 0.935: cover k=5 comes nearest, with an agreement of 0.940 (0.930 to 0.950)." in html
    assert "Not even a fresh sample of the original does" in html  # 0.9
    assert "weaker settings" in html
    assert 'class="ring"' not in html
    assert "Not even" not in what_to_take(swept(point("cover k=5", 0.06, 0.86), max_risk=0.1, commonest=0.86))


def test_an_interval_that_goes_on_beyond_the_edge_ends_in_an_arrow_head():
    def heads(*points):
        bars = re.findall(r'class="bar [^>]*d="([^"]*)"', drawing(swept(*points), utility="target", form=WIDE))
        return [bar.count("L") // 2 for bar in bars]

    inside = replace(point("cover k=5", 0.1, 0.7), informed=Risk(0.1, 0.09, 0.12, 100))
    assert heads(inside) == [0]
    never = replace(inside, informed=Risk(0.1, 0.0, 0.12, 100))  # no logarithm reaches 0
    assert heads(never) == [1]
    wide = replace(inside, informed=Risk(0.1, 0.0, 1.0, 100), agreement=Estimate(0.7, 0.1, 1.0, 100))
    assert heads(wide) == [4]


def test_every_point_is_drawn_in_every_map_and_stands_in_the_table():
    html = report(swept(*FULL, max_risk=0.1))
    marks = re.findall(r'class="mark (r\d)( filled)?"', html)
    assert len(marks) == 4 * len(FULL)  # for the target and for others, wide and narrow
    assert sum(bool(filled) for _, filled in marks) == 4 * 2
    assert html.count('class="ring"') == 4
    body = html[html.index("<tbody>") : html.index("</tbody>")]
    assert body.count("<tr") == len(FULL)
    assert body.count("★") == 2
    assert body.count('class="beyond"') == 3


def test_recipes_differ_by_colour_and_by_shape():
    looks = looks_of(swept(*FULL))
    assert list(looks) == [name for name in RECIPES if name in looks]
    assert len({look.sign for look in looks.values()}) == len({look.style for look in looks.values()}) == len(looks)
    assert len(set(SIGNS)) == len(SIGNS)
    every = [Look(number) for number in range(len(RECIPES))]
    assert len({(look.sign, look.style) for look in every}) == len(RECIPES)
    assert all(f".r{colour} {{" in report(swept(*FULL)) for colour in range(COLOURS))


def test_the_page_is_whole_in_itself_and_in_order():
    html = report(swept(*FULL, max_risk=0.1, left_out=[LeftOut("detective", "There is no category.")]))
    seen = outline(html)
    assert not {"script", "link", "img", "iframe", "object", "image", "use"} & set(seen.tags)
    assert not [a for a in seen.attributes if a[1] in ("src", "href", "xlink:href", "srcset", "action")]
    assert "url(" not in html
    assert ("html", "lang", "en") in seen.attributes
    headings = [int(tag[1]) for tag in seen.tags if re.fullmatch(r"h[1-6]", tag)]
    assert headings[0] == 1
    assert all(after - before <= 1 for before, after in pairwise(headings))
    assert seen.tags.count("svg") == len([a for a in seen.attributes if a[:2] == ("svg", "aria-label")]) == 4
    assert "Left out: detective. There is no category." in html
    assert 'detective</th><td colspan="7">left out: There is no category.</td>' in html


def test_every_text_is_escaped():
    nasty = '<script>alert("1")</script> & {{ 7 * 7 }}'
    asked = swept(*FULL, max_risk=0.1, left_out=[LeftOut(nasty, nasty)])
    for field in ("target", "others", "attacked", "keys"):
        object.__setattr__(asked, field, nasty if field == "target" else (nasty,))
    html = report(asked)
    assert "script" not in outline(html).tags
    assert "49" not in re.sub(r"[\d.]*49[\d.]+|[\d.]+49[\d.]*", "", html[html.index("<body>") :])


@given(
    st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=1, max_size=25),
    st.sampled_from([WIDE, NARROW]),
)
def test_everything_is_drawn_inside_the_frame(places, form):
    svg = drawing(swept(*(point("cover k=5", *place) for place in places)), utility="target", form=form)
    for x, y in re.findall(r'class="mark[^>]*d="M([\d.-]+) ([\d.-]+)', svg):
        assert form.left - 7 <= float(x) <= form.width
        assert 0 <= float(y) <= form.height - form.bottom
    for x, y in re.findall(r'<text [^>]*x="([\d.-]+)" y="([\d.-]+)"', svg):
        assert 0 <= float(x) <= form.width
        assert 0 <= float(y) <= form.height


@given(st.lists(st.floats(0, 1), min_size=1, max_size=9), st.lists(st.floats(0, 1), min_size=1, max_size=9))
def test_scales_keep_the_order_and_have_ticks_to_read(risks, utilities):
    for form in (WIDE, NARROW):
        scale = scale_of(form, risks, utilities)
        xs, ys = [scale.x(r) for r in sorted(risks)], [scale.y(u) for u in sorted(utilities)]
        assert xs == sorted(xs)
        assert ys == sorted(ys, reverse=True)
        assert 2 <= len(ticks_between(scale.bottom, scale.top)) <= 8
        assert 1 <= len(risk_ticks(scale)) <= 12


boxes = st.tuples(st.integers(0, 90), st.integers(0, 90)).map(lambda p: Box(p[0], p[1], p[0] + 8, p[1] + 8))


@given(st.lists(boxes, min_size=1, max_size=12))
def test_no_label_covers_a_mark_or_another_label(marks):
    frame, taken = Box(0, 0, 100, 100), [Box(40, 40, 60, 60)]
    found = place_labels(marks, [(12, 9)] * len(marks), frame, taken)
    placed = [box for box in found if box is not None]
    assert all(box.inside(frame) for box in placed)
    assert not any(box.meets(other) for box in placed for other in (*marks, *taken))
    assert not any(one.meets(other) for one, other in combinations(placed, 2))


def test_a_lone_label_finds_its_place():
    (found,) = place_labels([Box(50, 50, 60, 60)], [(10, 10)], Box(0, 0, 100, 100), [])
    assert found == Box(50, 37, 60, 47)
    line = Box(54, 0, 56, 100)  # through the mark: the text goes to its corner
    assert place_labels([Box(50, 50, 60, 60)], [(10, 10)], Box(0, 0, 100, 100), avoided=[line]) == [Box(63, 42, 73, 52)]
    wall = Box(0, 0, 100, 100)  # nothing can be avoided
    assert place_labels([Box(50, 50, 60, 60)], [(10, 10)], Box(0, 0, 100, 100), avoided=[wall]) == [found]
    assert place_labels([Box(0, 0, 100, 100)], [(10, 10)], Box(0, 0, 100, 100), []) == [None]


def test_sentences_count_and_list_as_people_do():
    one = swept(point("cover k=5", 0.02, 0.9, on_front=True))
    assert "stands cover k=5." in what_to_take(one)
    assert what_was_tried(one).startswith("1 way to release this table, each tried twice: cover at 1 strength.")
    assert list(reasons(one)) == []
    chosen = swept(point("cover k=5", 0.3, 0.9), point("cover k=9", 0.1, 0.895), max_risk=0.5)
    assert list(reasons(chosen))[-1].startswith("Consider cover k=9: its agreement of 0.895 lies inside")


def test_without_jinja_one_line_says_what_to_install(monkeypatch):
    real = builtins.__import__

    def without(name, *rest, **more):
        if name.partition(".")[0] == "jinja2":
            raise ImportError("no", name="jinja2")
        return real(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(LeafcoverError, match=r"^Install leafcover\[report\] .*jinja2 is missing"):
        report(swept(*FULL))
