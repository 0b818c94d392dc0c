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
from leafcover.messages import catalogue
from leafcover.metrics.estimates import Estimate, Risk
from leafcover.metrics.summary import DecisiveRisk
from leafcover.recipes import RECIPES
from leafcover.tuning.grid import Skipped
from leafcover.tuning.plot import (
    COLOURS,
    NARROW,
    SYMBOLS,
    WIDE,
    Box,
    RecipeStyle,
    draw_map,
    place_labels,
    recipe_styles,
    risk_ticks,
    scale_of,
    ticks_between,
)
from leafcover.tuning.report import advice, listed, reasons, recommendation, report, scope
from tests.prose import check_golden, text_of
from tests.tuning.made import point, swept

say = catalogue("sweep")

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


def test_the_page_reads_as_its_golden_text():
    sampled = replace(swept(*FULL, max_risk=0.1, skipped=[Skipped("forest", "It needs two trees.")]), table_rows=1_500)
    text = text_of(report(sampled))
    recipes, terms = text.index(f"\n{say('recipes-heading')}\n"), text.index(f"\n{say('glossary-heading')}\n")
    check_golden("sweep_page.txt", "\n".join((text[:recipes] + text[terms:]).splitlines()[:-2]))  # without versions


def test_the_page_gives_the_recommendation_first():
    html = report(swept(*FULL, max_risk=0.1))
    assert re.search(r"<h1>[^<]*cover k=5</h1>", html)
    summary = html[html.index('id="summary"') : html.index('id="map"')]
    assert summary.index("cover k=5") < summary.index("0.060 (0.050 to 0.070)") < summary.index("one person in 17")
    assert html.index('id="map"') < html.index('id="table"') < html.index('id="limitations"')


def test_a_page_without_a_recommendation_names_the_closest_candidate_or_the_front():
    asked = swept(*FULL, max_risk=0.01)
    assert recommendation(asked) == say(
        "none-within-limit", limit="0.01", name="cover k=20", kind="linkage", end="0.030", column=""
    )
    none = report(asked)
    assert recommendation(asked) in none
    assert advice(asked) == say("advice-stronger")
    assert 'class="ring"' not in none
    inferred = swept(point("cover k=9", 0.02, 0.9, inferred=0.3), max_risk=0.1)
    words = say("none-within-limit", limit="0.1", name="cover k=9", kind="inference", end="0.310", column="class")
    assert recommendation(inferred) == words
    member = swept(point("cells k=9", 0.02, 0.9, found=0.4), max_risk=0.1)
    copied = swept(point("cells k=9", 0.02, 0.9, copied=True), max_risk=0.1)
    assert "0.390" in recommendation(member)  # the lower end
    free = report(swept(*FULL))
    assert recommendation(swept(*FULL)) == say("no-limit", names="cover k=20 and cover k=5")
    assert 'class="limit"' not in free
    check_golden("sweep_none.txt", "\n".join(map(recommendation, (asked, inferred, member, copied, swept(*FULL)))))


def test_a_page_says_when_no_candidate_within_the_limit_is_useful():
    asked = swept(*FULL, max_risk=0.1, majority=0.935)
    figures = {"limit": "0.1", "target": "class", "majority": "0.935", "name": "cover k=5"}
    first = say("none-useful", **figures, agreement="0.940 (0.930 to 0.950)")
    resample = say("none-useful-resample", target="class")
    assert recommendation(asked) == f"{first} {resample}"  # the floor is 0.9
    assert advice(asked) == say("advice-weaker")
    assert 'class="ring"' not in report(asked)
    clear = swept(point("cover k=5", 0.06, 0.86), max_risk=0.1, majority=0.86)
    assert resample not in recommendation(clear)


def test_an_interval_that_extends_beyond_the_chart_ends_in_an_arrowhead():
    def heads(*points):
        bars = re.findall(r'class="bar [^>]*d="([^"]*)"', draw_map(swept(*points), utility="target", layout=WIDE))
        return [bar.count("L") // 2 for bar in bars]

    def linked(low, high):
        return (DecisiveRisk("linkage", Risk(0.1, low, high, 100)),)

    inside = replace(point("cover k=5", 0.1, 0.7), risks=linked(0.09, 0.12))
    assert heads(inside) == [0]
    never = replace(inside, risks=linked(0.0, 0.12))  # no logarithm reaches 0
    assert heads(never) == [1]
    wide = replace(inside, risks=linked(0.0, 1.0), agreement=Estimate(0.7, 0.1, 1.0, 100))
    assert heads(wide) == [4]


def test_every_point_is_drawn_in_every_map_and_is_in_the_table():
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
    styles = recipe_styles(swept(*FULL))
    assert list(styles) == [name for name in RECIPES if name in styles]
    each = list(styles.values())
    assert len({style.symbol for style in each}) == len({style.css_class for style in each}) == len(styles)
    assert len(set(SYMBOLS)) == len(SYMBOLS)
    every = [RecipeStyle(number) for number in range(len(RECIPES))]
    assert len({(style.symbol, style.css_class) for style in every}) == len(RECIPES)
    assert all(f".r{colour} {{" in report(swept(*FULL)) for colour in range(COLOURS))


def test_the_page_is_whole_in_itself_and_in_order():
    html = report(swept(*FULL, max_risk=0.1, skipped=[Skipped("detective", "There is no category.")]))
    seen = outline(html)
    assert not {"script", "link", "img", "iframe", "object", "image", "use"} & set(seen.tags)
    assert not [a for a in seen.attributes if a[1] in ("src", "href", "xlink:href", "srcset", "action")]
    assert "url(" not in html
    assert ("html", "lang", "en") in seen.attributes
    headings = [int(tag[1]) for tag in seen.tags if re.fullmatch(r"h[1-6]", tag)]
    assert headings[0] == 1
    assert all(after - before <= 1 for before, after in pairwise(headings))
    assert seen.tags.count("svg") == len([a for a in seen.attributes if a[:2] == ("svg", "aria-label")]) == 4
    reason = "There is no category."
    assert say("skipped", name="detective", reason=reason) in html
    assert f'detective</th><td colspan="8">{say("table-skipped", reason=reason)}</td>' in html


def test_every_text_is_escaped():
    nasty = '<script>alert("1")</script> & {{ 7 * 7 }}'
    asked = swept(*FULL, max_risk=0.1, skipped=[Skipped(nasty, nasty)])
    for field in ("target", "other_targets", "quasi_identifiers"):
        object.__setattr__(asked, field, nasty if field == "target" else (nasty,))
    html = report(asked)
    assert "script" not in outline(html).tags
    assert "49" not in re.sub(r"[\d.]*49[\d.]+|[\d.]+49[\d.]*", "", html[html.index("<body>") :])


@given(
    st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=1, max_size=25),
    st.sampled_from([WIDE, NARROW]),
)
def test_everything_is_drawn_inside_the_frame(places, layout):
    svg = draw_map(swept(*(point("cover k=5", *place) for place in places)), utility="target", layout=layout)
    for x, y in re.findall(r'class="mark[^>]*d="M([\d.-]+) ([\d.-]+)', svg):
        assert layout.left - 7 <= float(x) <= layout.width
        assert 0 <= float(y) <= layout.height - layout.bottom
    for x, y in re.findall(r'<text [^>]*x="([\d.-]+)" y="([\d.-]+)"', svg):
        assert 0 <= float(x) <= layout.width
        assert 0 <= float(y) <= layout.height


@given(st.lists(st.floats(0, 1), min_size=1, max_size=9), st.lists(st.floats(0, 1), min_size=1, max_size=9))
def test_scales_keep_the_order_and_have_ticks_to_read(risks, utilities):
    for layout in (WIDE, NARROW):
        scale = scale_of(layout, risks, utilities)
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


def test_sentences_follow_the_numbers():
    one = swept(point("cover k=5", 0.02, 0.9, on_front=True))
    assert recommendation(one) == say("no-limit", names="cover k=5")
    assert scope(one) == say("scope", candidates=1, recipes="cover at 1 setting", runs=2, released=100, held=50)
    assert list(reasons(one)) == []
    assert scope(replace(one, table_rows=900)).endswith(say("scope-sample", rows=150, table_rows=900))
    chosen = swept(point("cover k=5", 0.3, 0.9), point("cover k=9", 0.1, 0.895), max_risk=0.5)
    other = say("reason-alternative", name="cover k=9", agreement="0.895", risk="0.100", recommended="0.300")
    assert list(reasons(chosen))[-1] == other
    assert listed([]) == ""


def test_a_dealt_candidate_has_no_linkage_and_its_figures_are_those_of_inference():
    dealt = point("cover", None, 0.94, inferred=0.04, found=0.02, on_front=True)
    priced = point("cover price=4", None, 0.90, inferred=-0.02)
    found = swept(dealt, priced, max_risk=0.1)
    told = list(reasons(found))
    assert say("reason-no-linkage") in told
    assert any("0.040 (0.030 to 0.050)" in sentence for sentence in told)
    assert any("0.020 (0.010 to 0.030)" in sentence for sentence in told)
    html = report(found)
    row = html[html.index("<tbody>") : html.index("</tbody>")]
    assert f"<small>{say('risk-short', kind='inference', column='class')}</small>" in row
    assert len(re.findall(r"<td[^>]*>–", row)) == 2 * 3  # linkage, the most exposed and the nearest record
    labels = re.findall(r'class="label[^>]*>([^<]*)<', draw_map(found, utility="target", layout=WIDE))
    assert set(labels) == {say("strength-default"), "price=4"}


def test_copies_are_named_in_the_table():
    html = report(swept(point("cells k=5", 0.02, 0.94, copied=True), point("cells k=9", 0.02, 0.9), max_risk=0.5))
    assert html.count(f"<small>{say('table-copies')}</small>") == 1
    assert html[html.index("<tbody>") :].count('class="beyond"') == 1


def test_a_long_target_is_shortened_to_fit_the_chart():
    long = replace(swept(*FULL), target="x" * 200)
    for layout in (WIDE, NARROW):
        title = re.search(r'class="title"[^>]*>([^<]*)</text>', draw_map(long, utility="target", layout=layout))[1]
        assert title.endswith("…")
        assert len(title) * 0.58 * layout.font_size <= layout.width


def test_without_jinja_one_line_says_what_to_install(monkeypatch):
    real = builtins.__import__

    def without(name, *rest, **more):
        if name.partition(".")[0] == "jinja2":
            raise ImportError("no", name="jinja2")
        return real(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(LeafcoverError, match=r"^Install leafcover\[report\] .*jinja2 is missing"):
        report(swept(*FULL))
