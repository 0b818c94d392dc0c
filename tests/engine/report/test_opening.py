"""The opening of a report: title, method, conclusion, who decides; and the catalogue that its sentences come from.

After a change of wording, look at the difference and write the golden files again:
``REWRITE_GOLDEN=1 pytest tests/engine/report/test_opening.py``.
"""

import re
from copy import copy
from dataclasses import replace
from pathlib import Path

import pytest
from fluent.syntax import FluentParser, ast

import leafcover
import leafcover as lc
from leafcover.engine.evaluate import pair_from
from leafcover.keyed_random import Key
from leafcover.messages import catalogue
from leafcover.recipes import RECIPES
from leafcover.reporting.context import ReportContext
from leafcover.reporting.disclosure_rules import DisclosureRules
from leafcover.reporting.html_page import opening
from tests.engine.report.pages import measured, page, planted, released, text_of
from tests.prose import check_golden

say = catalogue("report")
SOURCES = Path(leafcover.__file__).parent


@pytest.fixture(scope="module")
def fixed():
    """A small release by a fixed key, with all its measures."""
    original = planted(300)
    release = replace(released(original, key=Key.from_seed(11)), publishable=True)
    return original, release, measured(original, release, planted(150, seed=6))


@pytest.mark.parametrize("audience", ["internal", "external"])
def test_the_opening_and_summary_read_as_they_were_last_approved(fixed, audience):
    original, release, measures = fixed
    html = page(original, release, audience, measures=measures, title="Survey of 2024", date="1 August 2026")
    head = html.split('<section aria-labelledby="trees"')[0]
    head = re.sub(r'<nav.*?</nav>|<div class="block unsafe">.*?</dl></div>', "", head, flags=re.S)
    text = re.sub(r"\n\s*\n+", "\n", text_of(head)).strip() + "\n"
    check_golden(f"report_opening_{audience}.txt", text)


def test_title_and_date_are_printed_as_given_and_no_date_otherwise(fixed):
    original, release, measures = fixed
    html = page(original, release, measures=measures, title="Pay & <age>", date="2026-08-01")
    assert "<h1>Pay &amp; &lt;age&gt;</h1>" in html
    assert say("date", date="2026-08-01") in html
    plain = page(original, release, measures=measures)
    assert say("title-default") in plain
    assert not re.search(r"\b20\d\d-\d\d-\d\d\b", plain)
    assert plain == page(original, release, measures=measures)


@pytest.mark.parametrize("audience", ["internal", "external"])
def test_the_opening_concludes_in_one_sentence_and_leaves_the_decision_to_the_steward(fixed, audience):
    original, release, measures = fixed
    html = text_of(page(original, release, audience, measures=measures))
    head = html[: html.index("Summary")]
    assert say("decision") in head
    strict = audience == "external"
    rules = DisclosureRules(len(original), strict)
    found = opening(ReportContext(pair_from(original, release), release, measures, rules, not strict))
    assert len(re.findall(r"[.!?](?:\s|$)", found.conclusion.sentence)) == 1
    assert found.conclusion.sentence in head
    assert found.conclusion.label in head


@pytest.mark.parametrize("recipe", RECIPES)
def test_every_recipe_has_its_citation(fixed, recipe):
    original, release, _ = fixed
    plan = copy(release.plan)
    object.__setattr__(plan, "recipe", recipe)
    made = replace(release, plan=plan)
    found = opening(ReportContext(pair_from(original, release), made, None, DisclosureRules(300, strict=False), True))
    assert recipe in found.method
    assert lc.recipes.RECIPES[recipe].source in found.method
    assert bool(found.limits) == (recipe == "cells")


@pytest.mark.parametrize("recipe", ["cells", "cover"])
def test_the_known_limit_of_cells_is_stated_with_cells_alone(recipe):
    original = planted(120)
    release = released(original, recipe)
    for audience in ("internal", "external"):
        text = page(original, release, audience)
        for figure in ("22,000", "22 percentage points", "0.99", "0.96"):
            assert (figure in text) == (recipe == "cells")


def messages():
    """Every message and attribute of the catalogue."""
    text = (SOURCES / "locales" / "en" / "report.ftl").read_text("utf-8")
    for entry in FluentParser().parse(text).body:
        assert not isinstance(entry, ast.Junk), entry.content
        if isinstance(entry, ast.Message):
            yield from [entry.id.name, *(f"{entry.id.name}.{one.id.name}" for one in entry.attributes)]


def sources():
    """The code and the templates."""
    paths = [*SOURCES.rglob("*.py"), *SOURCES.rglob("*.jinja")]
    return {path: path.read_text("utf-8") for path in paths}


def test_every_message_of_the_catalogue_is_used():
    text = "\n".join(sources().values())
    catalogue_text = (SOURCES / "locales" / "en" / "report.ftl").read_text("utf-8")
    unused = [one for one in messages() if f'"{one}"' not in text and f"{{ {one} }}" not in catalogue_text]
    assert unused == []


def test_every_message_that_is_used_exists():
    known = set(messages())
    wanted = [
        (path.name, one)
        for path, text in sources().items()
        if re.search(r'^say = catalogue\("report"\)', text, flags=re.M)
        for one in re.findall(r'\bsay\(\s*"([^"]+)"', text)
    ]
    assert len(wanted) > 50
    assert [(name, one) for name, one in wanted if one not in known] == []


def test_no_retired_phrase_is_in_the_catalogue_or_the_templates():
    listed = (SOURCES.parents[1] / "docs" / "style" / "retired_phrases.txt").read_text("utf-8").splitlines()
    retired = [re.compile(one, re.IGNORECASE) for one in listed if one and not one.startswith("#")]
    paths = [SOURCES / "locales" / "en" / "report.ftl", *(SOURCES / "reporting" / "templates").glob("*.jinja")]
    for path in paths:
        text = " ".join(path.read_text("utf-8").split())
        assert [one.pattern for one in retired if one.search(text)] == []
