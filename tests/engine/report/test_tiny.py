"""Pages of tables so small or so odd that careless words show: nan, plurals, shares of nothing."""

import re

import numpy as np
import pytest

from leafcover.engine.evaluate import Comparison, measure_all
from leafcover.messages import catalogue
from leafcover.metrics.pair import pair_of
from leafcover.reporting.disclosure_rules import FEW
from leafcover.reporting.html_page import report
from tests.engine.report.pages import measured, outline, page, released, text_of
from tests.metrics.pairs import awkward, copy_of
from tests.tables import category, number, table

say = catalogue("report")
ODD = re.compile(
    r"\b(?:nan|inf|None)\b"
    r"|(?<![\d.,])1 (?:other )?(?:rows|columns|pairs|people|points|relations|coefficients)\b"
    r"|[Nn]ot shown of|From 100% to 100%|– of |–%|\(\)"
)


def plain(rows):
    rng = np.random.default_rng(rows)
    return table(
        number("age", rng.integers(20, 60, rows)),
        category("job", rng.choice(["clerk", "smith"], rows).tolist()),
        category("y", rng.choice(["yes", "no"], rows).tolist()),
    )


def tiny():
    """Originals of 2 to 12 rows, by name; ``y`` is the target of each."""
    half = ["a", "b"] * 6
    return {
        **{f"{rows} rows": plain(rows) for rows in (2, 3, 12)},
        "one column": table(category("y", half)),
        "two columns": table(number("x", range(12)), category("y", half)),
        "all unique": table(number("x", range(6)), category("y", list("abcdef"))),
        "constant": table(number("x", [1.0] * 6), category("y", ["a"] * 6)),
    }


def odd_words(html):
    """The lines of a page that have odd words."""
    return [line for line in text_of(html).splitlines() if ODD.search(line)]


def test_odd_words_are_seen():
    seen = ["1 rows", "The 1 other columns", "Not shown of all", "nan", "– of cases", "+1 points", "From 100% to 100%"]
    assert odd_words("<p>".join(seen)) == seen
    assert odd_words("<p>1 row<p>21 rows<p>0.1 points<p>1,001 rows<p>not shown") == []


@pytest.mark.parametrize("name", [name for name in tiny() if name not in ("all unique", "constant")])
def test_a_tiny_release_has_pages_without_odd_words(name):
    original = tiny()[name]
    release = released(original, target="y")
    measures = measured(original, release)
    for face in ("internal", "external"):
        html = page(original, release, face, measures=measures, publish_tree=True)
        outline(html)
        assert odd_words(html) == []
    assert not re.search(r"\b(nan|inf)\b", str(measures))
    assert "The 1 other" not in str(measures)


@pytest.mark.parametrize("name", tiny())
def test_a_tiny_table_from_elsewhere_has_pages_without_odd_words(name):
    original = tiny()[name]
    pair = pair_of(original, original, target="y", control=original)
    measures = measure_all(Comparison(pair))
    for face in ("internal", "external"):
        html = report(pair, release=None, measures=measures, audience=face, publish_tree=False)
        outline(html)
        assert odd_words(html) == []
    assert not re.search(r"\b(nan|inf)\b", str(measures))


@pytest.mark.parametrize("name", awkward())
def test_awkward_tables_have_pages_without_odd_words(name):
    pair = copy_of(awkward()[name], target="class")
    measures = measure_all(Comparison(pair))
    for face in ("internal", "external"):
        html = report(pair, release=None, measures=measures, audience=face, publish_tree=True)
        outline(html)
        assert odd_words(html) == []


@pytest.mark.parametrize("rows", [2, FEW])
def test_an_external_page_of_ten_rows_or_fewer_tells_no_share_of_them(rows):
    original = plain(rows)
    release = released(original, target="y")
    html = page(original, release, "external", measures=measured(original, release))
    # what the method guarantees, and what terms of the glossary mean
    text = text_of(html).split("\nGlossary\n", 2)
    text = (text[0] + text[1]).replace(say("kept-leaves", share="100%", target="y"), "").replace("at least 95%", "")
    assert re.findall(r".*\d+%.*", text) == (["100%"] if ">100%<" in html else [])
    assert say("linkage-unmeasured", absence="suppressed") in text
    assert say("conclusion-unmeasured", absence="suppressed") in text
    assert "was not measured" not in text


def test_an_external_page_tells_no_accuracy_of_few_rows():
    original = plain(100)
    pair = pair_of(original, original, np.arange(100), target="y", control=plain(8))
    measures = measure_all(Comparison(pair))
    inward, outward = (
        text_of(report(pair, release=None, measures=measures, audience=face, publish_tree=False))
        for face in ("internal", "external")
    )
    assert "Neural network" in inward
    assert "Neural network" not in outward
    assert catalogue("report_details")("models-accuracy-too-few", target="y") in outward
    assert catalogue("report")("why-models-untested", few="yes") in outward
    assert catalogue("report")("tile-inference.too-few") in outward
