"""The external face: nothing in it could tell a person."""

import json
import re
from dataclasses import replace

import numpy as np
import pytest

import leafcover as lc
from leafcover.engine.evaluate import pair_from
from leafcover.engine.manifest import external
from leafcover.engine.run import run
from leafcover.messages import catalogue
from leafcover.metrics.estimates import Estimate, Risk
from leafcover.reporting.disclosure_rules import FEWEST
from leafcover.reporting.html_page import report
from tests.engine.report.pages import KEY, RARE, RECIPES, context_of, measured, page, planted, released, text_of
from tests.tables import category, mixed, table

say = catalogue("report_details")

SECRETS = (RARE, "Zyx", "987654", "987,654", "987k", "988k", "1M", "43.217")


@pytest.mark.parametrize("publish_tree", [False, True])
def test_no_planted_value_reaches_an_external_artefact(planted_release, publish_tree):
    original, release, measures = planted_release
    elsewhere = pair_from(original, release)
    pages = [
        page(original, release, "external", measures=measures, publish_tree=publish_tree),
        page(original, release, "external", publish_tree=publish_tree),
        report(elsewhere, release=None, measures=measures, audience="external", publish_tree=publish_tree),
        json.dumps(external(release, file="out.csv", sha256="0" * 64, publish_tree=publish_tree)),
    ]
    for outward in pages:
        for secret in SECRETS:
            assert secret not in outward, secret


def test_no_value_that_recoding_hid_reaches_an_external_artefact():
    """Suppressed and generalised levels, and extremes that were coded; the plan is published, too."""
    original = planted()
    ways = [
        [lc.Suppress("job", values=[RARE])],
        [lc.Generalise("job", groups={"other": [RARE, "smith"]})],
        [lc.Suppress("age", where=f"job == '{RARE}'"), lc.Suppress("job", values=[RARE])],
    ]
    for way in ways:
        coded = [lc.TopCode("pay", share=0.05), lc.TopCode("age", share=0.05), lc.Round("pay", to=0.1)]
        release = run(original, lc.Plan(recode=[*way, *coded], target="good"), key=KEY)
        outward = [page(original, release, "external", publish_tree=True)]
        outward.append(json.dumps(external(release, file="out.csv", sha256="0" * 64, publish_tree=True)))
        for text in outward:
            for secret in SECRETS:
                assert secret not in text, secret
        assert RARE in page(original, release)


def test_the_planted_rare_value_is_seen_where_it_may_be():
    original = planted()
    assert RARE in page(original, released(original))  # else the search above would prove nothing


def test_the_external_page_tells_no_figure_of_the_original(mixed_release):
    original, release, measures = mixed_release
    outward, inward = (page(original, release, face, measures=measures) for face in ("external", "internal"))
    for words in (
        say("special-uniques"),
        say("reconstruction-table"),
        say("relations-table"),
        say("standards-fold"),
        say("standards-k"),
    ):
        assert words not in outward, words
        assert words in inward, words


@pytest.mark.parametrize("recipe", RECIPES)
def test_no_external_share_tells_fewer_than_five_rows(recipe):
    original = planted(rows=120)
    release = released(original, recipe)
    # of a dealt release the page has no share that was not measured
    measures = None if release.descends else measured(original, release, planted(60, seed=6))
    html = page(original, release, "external", measures=measures)
    text = re.sub(r"<svg.*?</svg>|<style>.*?</style>| style=\"[^\"]*\"", "", html, flags=re.S)
    text = text.split('class="tiles"')[1].split('id="made"')[0].replace("at least 95%", "")
    if release.descends:
        shares = re.findall(r"(?<!under )(?<!over )\b(\d+)%", text)
        assert shares
    else:  # measured on 60 people outside, of whom some are left to tune by
        shares = re.findall(r'<span class="value">(\d+)%', text)
        assert len(shares) > 5
    for percent in shares:
        assert int(percent) in (0, 100) or FEWEST / 120 <= int(percent) / 100 <= 1 - FEWEST / 120


def test_two_risks_that_are_said_alike_give_the_same_external_page(mixed_release):
    original, release, measures = mixed_release

    def shown(risk, agreement, face="external"):
        informed = replace(measures.risks.informed, first=Risk(risk, risk - 0.005, risk + 0.005, 600, 0.05))
        own = measures.utility.agreement.target
        alike = Estimate(agreement, agreement - 0.005, agreement + 0.005, 3)
        agreements = replace(measures.utility.agreement, target=replace(own, agreement=alike))
        changed = replace(
            measures,
            risks=replace(measures.risks, informed=informed),
            utility=replace(measures.utility, agreement=agreements),
        )
        return page(original, release, face, measures=changed)

    assert shown(0.0241, 0.9151) == shown(0.0244, 0.9154)  # places of dots included
    assert shown(0.0241, 0.9151) != shown(0.0341, 0.9151)
    assert shown(0.0241, 0.9151, "internal") != shown(0.0249, 0.9151, "internal")


def test_the_external_page_knows_no_cut_warning_or_plan_unless_published():
    original = mixed(3, rows=500)
    release = replace(released(original, "framework", target="class"), warnings=("Row 17 stands out.",))
    tight, wide = (page(original, release, "external", publish_tree=p) for p in (False, True))
    assert "Decision tree for class" not in tight
    assert say("trees-closed") in tight
    assert "[[step]]" not in tight
    assert "Decision tree for class" in wide
    assert "[[step]]" in wide
    assert "Row 17" not in tight + wide
    assert "Row 17" in page(original, release)


def test_the_external_page_of_a_dealt_release_says_nothing_of_its_trees_unless_published(dealt_release):
    original, release, measures = dealt_release
    tight, wide = (
        text_of(page(original, release, "external", measures=measures, publish_tree=p)) for p in (False, True)
    )
    words = catalogue("report_method")
    for text in (words("dealt-table"), words("dealt-price"), " leaves of trees that test "):
        assert text not in tight, text
        assert text in wide, text
    for text in (tight, wide):
        assert words("dealt", has_target="yes", target="class") in text
        assert words("dealt-shared", rows=5) in text


def test_the_area_of_membership_is_that_of_the_attack_with_the_largest(dealt_release):
    """Also if another attack finds more members at 1% false alarms."""
    _, _, measures = dealt_release

    def membership(found, area):
        return {
            "found": Risk(found, found - 0.01, found + 0.01, 600),
            "area": Risk(area, area - 0.01, area + 0.01, 600),
        }

    attacks = measures.risks.informed_attacks
    granted = replace(attacks.granted, membership=replace(attacks.granted.membership, **membership(0.02, 0.91)))
    for found, method in ((0.5, "trained"), (0.01, "granted")):
        trained = replace(attacks.granted.membership, **membership(found, 0.55))
        informed = replace(attacks, granted=granted, regrown=None, background=(), trained=trained)
        risks = replace(measures.risks, informed_attacks=informed, membership=None)
        member = context_of(dealt_release, risks=risks).membership
        assert (member.method, member.found.value) == (method, max(found, 0.02))
        assert member.area.value == 0.91


def test_two_differences_that_are_said_alike_give_the_same_external_page(dealt_release):
    original, release, measures = dealt_release
    attacks = measures.risks.informed_attacks
    first, second, *others = attacks.granted.inferences

    def share(found):
        return Risk(found, found - 0.02, found + 0.02, 600)

    def shown(above, beside, face="external"):
        inferences = [
            replace(one, attack=replace(one.attack, main=share(0.3 + rise), control=share(0.3)))
            for one, rise in ((first, above), (second, beside), *((one, -0.1) for one in others))
        ]
        granted = replace(attacks.granted, inferences=tuple(inferences))
        informed = replace(attacks, granted=granted, regrown=None, background=())
        changed = replace(measures, risks=replace(measures.risks, informed_attacks=informed, inferences=()))
        return page(original, release, face, measures=changed)

    assert shown(0.1003, 0.1001) == shown(0.1001, 0.1003)  # order and places of dots included
    assert shown(0.1003, 0.1001) != shown(0.1303, 0.1001)
    assert shown(0.1003, 0.1001, "internal") != shown(0.1001, 0.1013, "internal")


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


def test_the_external_page_may_go_with_the_table():
    original = mixed(1, rows=600)
    html = page(original, released(original, target="class"), "external")
    assert "External report" in html
    assert 'class="banner stop"' not in html
    assert "as an outline" not in html
    assert "as an outline" in page(original, released(original, target="class"))
