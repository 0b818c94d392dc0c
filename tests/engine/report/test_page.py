"""The page: it says what it must, in every situation, and is whole in itself."""

import re
from dataclasses import replace
from importlib.util import find_spec
from itertools import pairwise

import numpy as np
import pytest

from leafcover.engine.evaluate import Comparison, measure_all, pair_from
from leafcover.errors import LeafcoverError
from leafcover.keyed_random import Key
from leafcover.messages import catalogue
from leafcover.metrics.pair import pair_of
from leafcover.metrics.summary import copied_part, measured_risks
from leafcover.metrics.utility.forest import LeafShares, RuleShares
from leafcover.reporting.components import fold, listing
from leafcover.reporting.disclosure_rules import DisclosureRules
from leafcover.reporting.html_page import _template, report
from leafcover.table.units import homogeneous_groups
from tests.engine.report.pages import outline, page, released, text_of
from tests.metrics.pairs import copy_of
from tests.tables import category, mixed, number, table

PAGES = [catalogue("report_details"), catalogue("report")]


def say(message, **values):
    """A sentence of the report, from the catalogue that has it."""
    page = next(one for one in PAGES if any(bundle.has_message(message.partition(".")[0]) for bundle in one.bundles))
    return page(message, **values)


def test_the_internal_page_says_what_it_must(mixed_release):
    original, release, measures = mixed_release
    html = page(original, release, measures=measures)
    for words in (
        'class="banner private"',
        'class="block kept"',
        'class="block hidden"',
        'class="block unsafe"',
        'class="block fit"',
        "300 rows",
        say("tile-changed"),
        say("tile-leaves"),
        say("tile-inference"),
        say("tile-agreement"),
        "Decision tree for class",
        say("rules-fold"),
        say("models-accuracy-table"),
        say("head-floor"),
        say("columns-title", audience="internal"),
        say("relations-table"),
        say("anonymity-sets-table"),
        say("reconstruction-fold"),
        say("standards-head-release", guarantee="none"),
        "Fixed values",
        "Unchanged values",
        "not differential privacy",
        "every count is exact",
        "How it was made",
        say("informed-title"),
        say("informed-membership-table"),
        say("informed-background-table"),
        say("copies-table"),
        say("section-absent-impossible"),
        "Weighted totals",
        "cryptography",
    ):
        assert words in html, words
    places = [
        html.index(f'id="{name}"')
        for name in [
            "figures",
            "summary",
            "trees",
            "models",
            "columns",
            "relations",
            "informed",
            "risks",
            "made",
            "absent",
            "versions",
            "glossary",
        ]
    ]
    assert places == sorted(places)
    assert html.count('class="chart"') == len(original.names) + 1  # and the square of relations
    assert len(html) < 3_000_000


@pytest.mark.parametrize("recipe", ["cells", "cover"])
def test_what_was_not_measured_is_said_to_be_unknown(recipe):
    original = mixed(1, rows=600)
    release = released(original, recipe, target="class")
    for face in ("internal", "external"):
        html = page(original, release, face)
        assert say("linkage-unmeasured", absence="not-asked") in html
        assert say("conclusion-unmeasured", absence="not-asked") in html
        assert 'id="models"' not in html
        assert 'id="relations"' not in html
        assert 'id="informed"' not in html
        assert (say("tile-smallest-cell") in html) == (recipe == "cells")
        assert (say("tile-smallest-leaf") in html) == (recipe == "cover" and face == "internal")


def test_the_page_of_a_dealt_release_has_no_figure_by_row(dealt_release):
    original, release, measures = dealt_release
    method = catalogue("report_method")
    for face in ("internal", "external"):
        html = page(original, release, face, measures=measures)
        outline(html)
        text = text_of(html)
        for words in (
            say("tile-changed"),
            say("tile-leaves"),
            say("column-changed"),
            say("column-fixed"),
            say("linkage-table"),
            say("reconstruction-fold"),
            say("intervals-fold"),
            say("clusters-head-error"),
            say("loss-il1s"),
            say("trees-no-guide"),
            method("fixed-heading"),
            method("stayed-fold"),
            say("linkage-unmeasured", absence="impossible"),
        ):
            assert f"\n{words}\n" not in text, words
        assert text.count(say("finding-dealt")) == 3  # summary, verdict, further attacks
        assert say("why-records", known="dealt") in text
        assert say("informed-table", how="granted", what="trees") in text
        tiles = [say(one) for one in ("tile-inference", "tile-membership", "tile-agreement")]  # none of linkage
        assert re.findall(r'<span class="label">(.*?)</span>', html) == tiles


def test_the_method_of_a_dealt_release_gives_order_leaves_and_price(dealt_release):
    original, release, measures = dealt_release
    text = text_of(page(original, release, measures=measures))
    made = text[text.index(catalogue("report_method")("dealt-table")) :]
    rows = [f"\n{number}. {' + '.join(step.columns)}\n" for number, step in enumerate(release.plan.steps, 1)]
    places = [made.index(row) for row in rows]
    assert places == sorted(places)
    assert release.plan.steps[-1].columns == ("class",)
    for place, step, fact in zip(places, release.plan.steps, release.cells, strict=True):
        row = [line for line in made[place : place + 400].splitlines() if line]
        assert f"{fact.count:,}" in row[:6]
        assert f"{fact.smallest:,}" in row[:6]
        if hasattr(step.within, "price"):
            assert f"{step.within.price:g}" in row[:7]


def test_every_attack_that_knows_the_method_has_its_figures(dealt_release):
    original, release, measures = dealt_release
    attacks = measures.risks.informed_attacks
    rules = DisclosureRules(len(original), strict=False)
    lines = text_of(page(original, release, measures=measures)).splitlines()
    for attack in (attacks.granted, attacks.regrown):
        for one in attack.inferences:
            value, interval = rules.points(one.above_control, one.above_control.runs)
            assert value in lines
            assert interval in lines
            assert rules.risk(one.attack.main)[1] in lines
            assert rules.risk(one.attack.control)[1] in lines
        member = attack.membership
        for risk in (member.area, member.found, member.found_rarely):
            assert rules.risk(risk)[1] in lines
    for one in attacks.background:
        assert say("informed-known", none="no", share=f"{one.known_rows:.0%}") in lines
        assert rules.risk(one.membership.found)[1] in lines
    copies = measures.risks.copies
    for match in (copies.records, copies.unique, copies.block, *copies.values):
        assert match is None or rules.risk(match.attack.main)[0] in lines


def test_significant_copies_are_named_in_words(dealt_release):
    original, release, measures = dealt_release
    copies = measures.risks.copies
    records = replace(copies.records, p=0.0)
    value = replace(copies.records, kind="highest", columns=("age",), p=0.0)
    found = replace(copies, records=records, groups=(value,))
    measures = replace(measures, risks=replace(measures.risks, copies=found))
    for face in ("internal", "external"):
        text = text_of(page(original, release, face, measures=measures))
        assert say("copies-lead", findings=2, tests=found.tests) in text
        assert "\nWhole records\n" in text
        assert "\nPeople with the highest values of age\n" in text
        assert say("conclusion-copies", part="whole records") in text


def test_reproduced_rare_records_are_named_in_words(dealt_release):
    original, release, measures = dealt_release
    copies = measures.risks.copies
    found = replace(copies, reproduced=replace(copies.reproduced, p=0.0))
    measures = replace(measures, risks=replace(measures.risks, copies=found))
    part = copied_part("reproduced", (), ())
    for face in ("internal", "external"):
        text = text_of(page(original, release, face, measures=measures))
        assert say("copies-lead", findings=1, tests=found.tests) in text
        assert say("conclusion-copies", part=part) in text
        assert f"the release holds {part}" in text
    assert part in str(measures)
    assert [one.kind for one in measured_risks(measures)][-1] == "copies"


def test_a_table_from_elsewhere_has_a_page_without_plan_and_cells(mixed_release):
    original, release, measures = mixed_release
    pair = pair_from(original, release)
    for face in ("internal", "external"):
        html = report(pair, release=None, measures=measures, audience=face, publish_tree=False)
        outline(html)
        assert say("method-unknown") in html
        assert 'id="made"' not in html
        assert "of a row’s values are still its own" in html


def test_without_pairs_and_control_the_page_says_what_is_missing():
    original = mixed(1, rows=100).select(("age", "job", "class"))
    release = released(original, target="class")
    pair = pair_of(original, release.table, target="class")
    measures = measure_all(Comparison(pair))
    for face in ("internal", "external"):
        html = report(pair, release=None, measures=measures, audience=face, publish_tree=False)
        assert "no control" in html.casefold()
        assert say("linkage-not-scored") in html
        assert ("Give the pairs" in html) == (face == "internal")
        assert say("models-lead", control="#").partition("#")[0] not in html
        assert say("models-accuracy-table") not in text_of(html).splitlines()
        assert say("forest-rules-table") in html


def test_a_risk_never_stands_without_its_interval(mixed_release):
    original, release, measures = mixed_release
    risks = (
        say("linkage-head-correct"),
        say("attacks-head-members"),
        say("attacks-head-control"),
        say("attacks-head-baseline"),
        say("reconstruction-head-best"),
        "Unchanged",
    )
    for face in ("internal", "external"):
        html = page(original, release, face, measures=measures)
        found = re.findall(r'data-head="([^"]*)"><span class="value">(.*?)</span></td>', html)
        told = [value for head, value in found if head in risks]
        assert len(told) > 5
        for value in told:
            assert re.search(rf"<small>.*% to .*%|{say('interval-nobody-attacked')}", value) or value == "no control", (
                value
            )
        tile = html[html.index('class="tiles"') :][:400]
        assert "95% interval" in tile
        assert "most exposed 1%" in tile


def test_a_seed_or_a_kept_order_is_a_red_banner_without_the_seed():
    original = mixed(1, rows=200)
    release = released(original, "cells", target="class", key=Key.from_seed(90210417), keep_order=True)
    for face in ("internal", "external"):
        html = page(original, release, face)
        assert 'class="banner stop" role="alert"' in html
        assert say("conclusion-refused") in html
        assert "made with a seed" in html
        assert "original order" in html
        assert "90210417" not in html


def test_unchanged_columns_are_named_first_under_not_protected():
    base = mixed(4, rows=300)
    original = table(*base, job="unchanged")
    html = page(original, released(original, "framework", target="class"))
    section = html[html.index("<h3>What is not protected") :]
    assert section.index("Columns released unchanged") < section.index("Missing values")
    assert "job: every value is the original" in section
    assert "They stay with their row in" in section


@pytest.mark.parametrize("publish_tree", [False, True])
@pytest.mark.parametrize("audience", ["internal", "external"])
def test_a_column_without_values_is_not_said_to_be_changed(audience, publish_tree):
    original = table(*mixed(4, rows=300), category("note", [None] * 300))
    words = catalogue("report_method")
    text = text_of(page(original, released(original, target="class"), audience, publish_tree=publish_tree))
    assert words("no-values", columns="note") in text
    assert words("column-no-values") in text
    if audience == "internal" or publish_tree:
        dealt = [line for line in text.splitlines() if re.match(r"\d+\. ", line)]
        assert len(dealt) > 3
        assert not any(re.search(r"\bnote\b", line) for line in dealt)
    text = text_of(page(original, released(original, "cells", target="class"), audience, publish_tree=publish_tree))
    shuffled = [line for line in text.splitlines() if "shuffled among" in line]
    assert shuffled
    assert not any(re.search(r"\bnote\b", line) for line in shuffled)


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
            seen = outline(page(original, release, face, publish_tree=True))
            assert not {"script", "b", "img"} & set(seen.tags)
            assert not [a for a in seen.attributes if a[1].startswith("on")]


def test_every_text_is_escaped_where_figures_name_it():
    rng = np.random.default_rng(1)
    original = table(
        number("<b>n", rng.integers(0, 9, 120)),
        category("<b>bold", [f"<img src={i}>" for i in rng.integers(0, 3, 120)]),
        category("<i>class", ["</style>" if r else "no" for r in rng.random(120) < 0.4]),
    )
    pair = copy_of(original, target="<i>class")
    html = report(pair, release=None, measures=measure_all(Comparison(pair)), audience="internal", publish_tree=True)
    assert not {"script", "b", "img"} & set(outline(html).tags)


def test_the_page_is_whole_in_itself_and_in_order(mixed_release):
    original, release, measures = mixed_release
    html = page(original, release, measures=measures)
    seen = outline(html)
    assert not {"script", "link", "img", "iframe", "object", "image", "use"} & set(seen.tags)
    assert not [a for a in seen.attributes if a[1] in ("src", "xlink:href", "srcset", "action")]
    ids = [a[2] for a in seen.attributes if a[1] == "id"]
    assert all(a[2].removeprefix("#") in ids for a in seen.attributes if a[1] == "href")
    assert "url(" not in html
    assert "@import" not in html
    assert ("html", "lang", "en") in seen.attributes
    headings = [int(tag[1]) for tag in seen.tags if re.fullmatch(r"h[1-6]", tag)]
    assert headings[0] == 1
    assert all(after - before <= 1 for before, after in pairwise(headings))
    assert len(ids) == len(set(ids))
    assert seen.attributes.count(("svg", "role", "img")) == seen.tags.count("svg")


def test_the_trees_compared_are_told_from_the_tree_that_guided_the_release(mixed_release):
    original, release, measures = mixed_release
    for face in ("internal", "external"):
        html = text_of(page(original, release, face, measures=measures))
        assert say("trees-compared-not-the-guide", kind="tree") in html
        share = re.search(rf"\n{say('kept-leaves', share='(.+?)', target='class')}\n", html)
        assert share is not None
        assert f"\n{say('tile-leaves.tree', target='class')}\n" in html
    assert say("trees-guide-lead", place="after-others") in text_of(page(original, release, measures=measures))
    elsewhere = report(
        pair_from(original, release), release=None, measures=measures, audience="internal", publish_tree=False
    )
    assert say("trees-compared-not-the-guide", kind="tree") not in elsewhere


@pytest.mark.parametrize(
    ("tolerant", "pruned", "said"), [(0.44, "released", True), (0.44, "original", True), (0.8, "released", False)]
)
def test_trees_called_similar_for_being_pruned_say_so(mixed_release, tolerant, pruned, said):
    original, release, measures = mixed_release
    trees = replace(measures.utility.trees, grade="similar", tolerant=tolerant, pruned=pruned)
    measures = replace(measures, utility=replace(measures.utility, trees=trees))
    other = {"released": "original", "original": "released"}[pruned]
    for face in ("internal", "external"):
        html = text_of(page(original, release, face, measures=measures))
        assert (say("trees-pruned", smaller=pruned) in html) == said
        assert say("trees-pruned", smaller=other) not in html
    assert ("They count as similar because" in str(measures)) == said


def test_rules_of_a_forest_stand_beside_floor_and_chance_in_both_faces(mixed_release):
    original, release, measures = mixed_release
    forest = measures.utility.forest
    kept, floor = RuleShares(0.123, 0.456, 0.2, 0.3), RuleShares(0.137, 0.478, 0.2, 0.3)
    rules = replace(forest.rules, kept=kept, floor=floor, chance=RuleShares(0.0, 0.0, 0.0, 0.0), rules=77, released=1)
    leaves = replace(forest.leaves, kept=LeafShares(1.0, 1.0))
    changed = replace(forest, rules=rules, leaves=leaves, resamples=1)
    measures = replace(measures, utility=replace(measures.utility, forest=changed))
    inward, outward = (
        re.sub(r"\n+", "\n", text_of(page(original, release, face, measures=measures)))
        for face in ("internal", "external")
    )
    near = say("forest-rules-near")
    assert f"\n{near}\n46%\n48%\n0%" in inward
    assert f"\n{near}\n46%\n48%\nunder 2%" in outward  # five of 300 rows
    ours, theirs = forest.trees
    counts = {"rules": 77, "trees": ours, "released": 1, "released_trees": theirs, "resamples": 1}
    assert say("forest-rules-basis", **counts, coverage="every row") in inward
    for told in (inward, outward):
        assert f"\n{say('forest-rules-leaf-rows')}\n100%" in told
        assert say("models-sysfor") in told
        assert say("models-head-same-answer") in told
    for words in ("77 rules", say("forest-rules-near-unweighted"), say("forest-rules-leaves")):
        assert words in inward
        assert words not in outward


def test_every_guess_is_named(mixed_release):
    original, release, measures = mixed_release
    for face in ("internal", "external"):
        html = text_of(page(original, release, face, measures=measures))
        assert say("attack-membership-how") in html
        assert say("attacks-note") in html
        voice, trees = DisclosureRules(len(original), face == "external"), measures.utility.trees
        shares = {name: voice.share(getattr(trees, name)) for name in ("answers", "guess")}
        assert say("trees-agreement", rules=voice.share(trees.tolerant), **shares) in html
        found = measures.utility.prediction
        majority = voice.format_estimate(found.majority, found.tests)
        assert say("models-accuracy-lead", target="class", majority=majority) in html
    for attack in ("attribute inference", "singling out", "linkability", "membership inference", "attribution"):
        assert f"for {attack}," in re.sub(r"\s+", " ", say("attacks-note"))


def test_singling_out_without_a_control_says_why():
    why = re.escape(say("attack-singling-out-no-control", needed=100))
    original = mixed(1, rows=150)
    pair = pair_of(original, original, np.arange(150), target="class", control=mixed(2, rows=60))
    measures = measure_all(Comparison(pair))
    for face in ("internal", "external"):
        html = report(pair, release=None, measures=measures, audience=face, publish_tree=False)
        assert re.search(rf"no control<small>{why}</small>", html)


@pytest.mark.parametrize("rows", [2, 3, 8, 12, 40])
@pytest.mark.parametrize("face", ["internal", "external"])
def test_tiny_tables_have_a_page(rows, face):
    original = table(number("x", range(rows)), category("y", ["a" if i % 2 else "b" for i in range(rows)]))
    html = page(original, released(original, target="y"), face)
    outline(html)


def test_without_jinja_or_matplotlib_one_line_says_what_to_install(monkeypatch):
    original = mixed(1, rows=100)
    release = released(original, target="class")
    real = find_spec
    monkeypatch.setattr(
        "leafcover.reporting.html_page.find_spec", lambda name: None if name == "jinja2" else real(name)
    )
    with pytest.raises(LeafcoverError, match=r"^Install leafcover\[report\] .*jinja2 is missing"):
        page(original, release)


def test_homogeneous_groups_of_a_sensitive_attribute_are_left_exposed(mixed_release):
    original, release, measures = mixed_release
    tables = {"original": original, "release": release.table}
    groups = {of: homogeneous_groups(one, "class", ["job"]) for of, one in tables.items()}
    risks = replace(
        measures.risks,
        k_anonymity=replace(measures.risks.k_anonymity, homogeneous=(groups["original"],)),
        k_anonymity_of_release=replace(measures.risks.k_anonymity_of_release, homogeneous=(groups["release"],)),
    )
    measured = replace(measures, risks=risks)
    for audience in ("internal", "external"):
        text = text_of(page(original, release, audience, measures=measured))
        assert "Groups with one value of class" in text
        assert ("In the original these are" in text) == (audience == "internal")
        assert "Groups with one value of" not in text_of(page(original, release, audience, measures=measures))


def test_a_long_table_shows_its_first_rows_and_folds_the_others():
    rows = [[f"name {i}", f"{i}"] for i in range(15)]
    template = _template().environment.from_string('{% import "parts.jinja" as show %}{{ show.parts(parts) }}')
    long, short = (template.render(parts=[listing("Table", ("a", "b"), some)]) for some in (rows, rows[:14]))
    inside = template.render(parts=[fold("All", listing("Table", ("a", "b"), rows))])
    for html in (long, short, inside):
        outline(html)
    shown, _, more = long.partition('<details class="more">')
    assert (shown.count("<tr"), more.count("<tr")) == (11, 6)
    assert "5 more rows" in more
    assert 'class="more"' not in short + inside
    assert inside.count("<tr") == 16
