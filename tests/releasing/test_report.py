"""The report: both faces say what they must, and the external one nothing that could tell a person."""

import builtins
import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from itertools import pairwise

import numpy as np
import pytest

from leafcover.draws import Key
from leafcover.errors import LeafcoverError
from leafcover.measuring.figures import wilson
from leafcover.releasing.charts import FEWEST, bars_of, chart, steps_of
from leafcover.releasing.manifest import external
from leafcover.releasing.recipes import plan_for
from leafcover.releasing.report import report
from leafcover.releasing.run import run
from leafcover.releasing.summary import linkage_of
from leafcover.releasing.wording import Voice
from tests.tables import category, mixed, number, table

RARE, EXTREME, MIDDLE = "Zyx-unheard-of", 987654.0, 43.217
RECIPES = ["cover", "framework", "framework-paper", "detective", "random"]


def planted(rows=400, seed=5):
    """A table in which one person has a rare category, one an extreme number, one a number nobody else has."""
    rng = np.random.default_rng(seed)
    age = rng.integers(18, 80, rows).astype(float)
    pay = np.round(rng.normal(50, 10, rows), 1)
    job = rng.choice(["clerk", "nurse", "smith"], rows, p=[0.5, 0.3, 0.2]).tolist()
    good = (age > 45) ^ (rng.random(rows) < 0.15)
    job[7], pay[11], age[13], pay[17] = RARE, EXTREME, EXTREME, MIDDLE
    return table(
        number("age", age),
        number("pay", pay, decimals=3),
        category("job", job),
        category("good", ["yes" if g else "no" for g in good]),
    )


def released(original, recipe="cover", *, target="good", key=None, keep_order=False):
    return run(original, plan_for(original, recipe, target=target), key=key or Key.fresh(), keep_order=keep_order)


def page(original, release, face="internal", *, publish_tree=False, risk=None):
    return report(original, release, risk, face=face, publish_tree=publish_tree)


class Outline(HTMLParser):
    """Every tag opened, in order, and whether they close in order."""

    VOID = frozenset({"meta", "wbr", "br", "img", "link", "input", "hr"})

    def __init__(self):
        super().__init__()
        self.tags, self.attributes, self.stack = [], [], []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += [(tag, *one) for one in attrs]
        if tag not in self.VOID:
            self.stack.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += [(tag, *one) for one in attrs]

    def handle_endtag(self, tag):
        assert self.stack.pop() == tag


def outline(html):
    seen = Outline()
    seen.feed(html)
    assert not seen.stack
    return seen


@pytest.mark.parametrize("publish_tree", [False, True])
@pytest.mark.parametrize("recipe", RECIPES)
def test_no_planted_value_reaches_an_external_artefact(recipe, publish_tree):
    original = planted()
    release = released(original, recipe)
    risk = linkage_of(original, release)
    outward = page(original, release, "external", risk=risk, publish_tree=publish_tree)
    manifest = json.dumps(external(release, file="out.csv", sha256="0" * 64, publish_tree=publish_tree))
    for secret in (RARE, "Zyx", "987654", "987,654", "987k", "988k", "1M", "43.217"):
        assert secret not in outward, secret
        assert secret not in manifest, secret


def test_the_planted_rare_value_is_seen_where_it_may_be():
    original = planted()
    assert RARE in page(original, released(original))  # else the search above would prove nothing


@pytest.mark.parametrize("recipe", RECIPES)
def test_no_external_figure_tells_fewer_than_five_rows(recipe):
    original = planted(rows=120)
    text = re.sub(
        r"<svg.*?</svg>|<style>.*?</style>", "", page(original, released(original, recipe), "external"), flags=re.S
    )
    text = re.sub(r"no count under 5|fewer than 5 rows|under 5", "", text)
    for percent in re.findall(r"(?<!under )(?<!over )\b(\d+)%", text.split('id="stuck"')[0].split('class="tiles"')[1]):
        assert int(percent) in (0, 100) or FEWEST / 120 <= int(percent) / 100 <= 1 - FEWEST / 120


def test_the_external_page_knows_no_cut_warning_or_plan_unless_published():
    original = mixed(3, rows=500)
    release = replace(released(original, "framework", target="class"), warnings=("Row 17 stands out.",))
    tight, wide = (page(original, release, "external", publish_tree=p) for p in (False, True))
    assert "Decision tree for class" not in tight
    assert "cuts of a tree are values of the original" in tight
    assert "[[step]]" not in tight
    assert "Decision tree for class" in wide
    assert "[[step]]" in wide
    assert "Row 17" not in tight + wide
    assert "Row 17" in page(original, release)


def test_a_published_tree_names_no_rare_level_and_no_count():
    rng = np.random.default_rng(2)
    job = rng.choice(["clerk", "nurse", "smith"], 1000).tolist()
    job[:2] = [RARE, RARE]
    original = table(category("job", job), category("good", ["yes" if j in ("nurse", RARE) else "no" for j in job]))
    release = released(original, "framework-paper")
    inward, outward = page(original, release), page(original, release, "external", publish_tree=True)
    assert f"= {RARE}" in inward
    assert "= a rare value" in outward
    assert RARE not in outward
    assert "1,000 rows</text>" in inward
    assert "1,000 rows</text>" not in outward


def test_the_internal_page_says_what_it_must():
    original = mixed(1, rows=600)
    release = released(original, target="class")
    risk = wilson(12.0, 600)
    html = page(original, release, risk=risk)
    for words in (
        "for you alone, do not publish",
        "In plain words",
        "600 rows",
        "values changed",
        "in the same leaf",
        "smallest cell",
        "2.0%",
        "95% interval 1.1% to 3.5%",
        "An attacker who also knows the method could do better",
        "Decision tree for class",
        "Columns before and after",
        "What could not change",
        "What is not protected",
        "not differential privacy",
        "all counts are exact",
        "How it was made",
        "cryptography",
        "Words",
    ):
        assert words in html, words
    places = [
        html.index(f'id="{name}"')
        for name in ("words", "glance", "tree", "columns", "stuck", "open", "made", "glossary")
    ]
    assert places == sorted(places)
    assert html.count('class="chart"') == len(original.names)


def test_the_external_page_may_go_with_the_table():
    original = mixed(1, rows=600)
    html = page(original, released(original, target="class"), "external")
    assert "may go with the table" in html
    assert "Do not publish" not in html
    assert "before as an outline" not in html


def test_a_risk_never_stands_without_its_interval_and_none_is_said_to_be_none():
    original = mixed(1, rows=600)
    release = released(original, target="class")
    assert "was not measured" in page(original, release)
    for face in ("internal", "external"):
        assert "95% interval" in page(original, release, face, risk=wilson(30.0, 600))
    assert Voice(600, strict=True).risk(wilson(2.0, 100)) == Voice(600, strict=True).risk(wilson(4.0, 100))


def test_a_seed_or_a_kept_order_is_a_red_banner_without_the_seed():
    original = mixed(1, rows=200)
    release = released(original, target="class", key=Key.from_seed(90210417), keep_order=True)
    for face in ("internal", "external"):
        html = page(original, release, face)
        assert "Do not publish this release." in html
        assert "made with a seed" in html
        assert "original order" in html
        assert "90210417" not in html


def test_unchanged_columns_are_named_first_under_not_protected():
    base = mixed(4, rows=300)
    original = table(*base, job="unchanged")
    html = page(original, released(original, "framework", target="class"))
    section = html[html.index('id="open"') :]
    assert section.index("Columns released unchanged") < section.index("Missing values")
    assert "job: every value is the original one" in section
    assert "They stay with their row in" in section


def test_every_text_is_escaped_in_both_faces():
    nasty = '<script>alert("1")</script> & $x$ {{ 7 * 7 }}'
    rng = np.random.default_rng(1)
    levels = [f"<img src=x onerror=alert({i})>" for i in range(3)]
    original = table(
        number(nasty, rng.integers(0, 9, 200)),
        category("<b>bold", [levels[i] for i in rng.integers(0, 3, 200)]),
        category("a\x00b\nc", ["é\n\x07" if r else "日本" for r in rng.random(200) < 0.5]),
        category("<i>class", ["</style>" if r else "no" for r in rng.random(200) < 0.4]),
    )
    for recipe in ("cover", "framework"):
        release = released(original, recipe, target="<i>class")
        for face in ("internal", "external"):
            seen = outline(page(original, release, face, publish_tree=True, risk=linkage_of(original, release)))
            assert not {"script", "b", "img"} & set(seen.tags)
            assert not [a for a in seen.attributes if a[1].startswith("on")]


def test_the_page_is_whole_in_itself_and_in_order():
    original = mixed(1, rows=300)
    html = page(original, released(original, target="class"))
    seen = outline(html)
    assert not {"script", "link", "img", "iframe", "object", "image", "use"} & set(seen.tags)
    assert not [a for a in seen.attributes if a[1] in ("src", "href", "xlink:href", "srcset", "action")]
    assert "url(" not in html
    assert "@import" not in html
    assert ("html", "lang", "en") in seen.attributes
    headings = [int(tag[1]) for tag in seen.tags if re.fullmatch(r"h[1-6]", tag)]
    assert headings[0] == 1
    assert all(after - before <= 1 for before, after in pairwise(headings))
    ids = [a[2] for a in seen.attributes if a[1] == "id"]
    assert len(ids) == len(set(ids))
    assert all(("svg", "role", "img") in seen.attributes for _ in range(seen.tags.count("svg")))


@pytest.mark.parametrize("rows", [2, 3, 8, 12, 40])
@pytest.mark.parametrize("face", ["internal", "external"])
def test_tiny_tables_have_a_page(rows, face):
    original = table(number("x", range(rows)), category("y", ["a" if i % 2 else "b" for i in range(rows)]))
    html = page(original, released(original, target="y"), face, risk=wilson(1.0, rows))
    outline(html)


def test_columns_that_cannot_be_drawn_have_words_instead():
    rng = np.random.default_rng(3)
    original = table(
        number("empty", [np.nan] * 100),
        number("one", [4.0] * 100),
        category("none", [None] * 100),
        category("y", ["a" if r else "b" for r in rng.random(100) < 0.5]),
        number("x", rng.normal(0, 1, 100), decimals=None),
    )
    for face, words in (("internal", "Nothing to draw"), ("external", "Not drawn")):
        assert page(original, released(original, target="y"), face).count(words) >= 2


def test_a_strict_histogram_joins_bins_until_five_rows_and_leaves_out_the_ends():
    values = np.concatenate([np.repeat(np.arange(20.0), 6), [500.0, -500.0, 13.37]])
    column = number("x", values, decimals=2)
    steps = steps_of(column, column, strict=True)
    assert not len(steps.before)
    assert steps.edges[0] >= -2
    assert steps.edges[-1] <= 22
    inner = np.sort(values)[FEWEST:-FEWEST]
    counts = np.histogram(inner, steps.edges)[0]
    assert ((counts >= FEWEST) | (counts == 0)).all()
    assert not np.isin(steps.edges, [13.37, 500, -500]).any()


@pytest.mark.parametrize("rare", [1, 4, 5, 30])
def test_strict_bars_never_let_fewer_than_five_rows_be_worked_out(rare):
    texts = ["a"] * 60 + ["b"] * 40 + ["c"] * rare
    column = category("x", texts)
    bars = bars_of(column, column, strict=True)
    assert ("c" in bars.names) == (rare >= FEWEST)
    if rare < FEWEST:
        assert bars.names == ("a", "others")


def test_a_level_common_only_after_the_release_is_still_rare():
    before, after = category("x", ["a"] * 99 + ["b"]), category("x", ["a"] * 80 + ["b"] * 20)
    assert "b" not in bars_of(before, after, strict=True).names


def test_dates_and_times_are_drawn_with_their_own_ticks():
    days = replace(number("day", np.arange(11000, 14000.0, 10)), kind="date")
    seconds = replace(number("at", np.arange(1.5e9, 1.6e9, 1e6)), kind="time")
    assert "2004" in chart(days, days, strict=True)
    assert "2018" in chart(seconds, seconds, strict=False)


def test_without_jinja_or_matplotlib_one_line_says_what_to_install(monkeypatch):
    original = mixed(1, rows=100)
    release = released(original, target="class")
    real = builtins.__import__

    def without(name, *rest, **more):
        if name.partition(".")[0] == "jinja2":
            raise ImportError("no", name="jinja2")
        return real(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(LeafcoverError, match=r"^Install leafcover\[report\] .*jinja2 is missing"):
        page(original, release)
