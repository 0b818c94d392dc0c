"""What is concluded from figures, and how it is reasoned."""

import re
from dataclasses import replace

import pytest

from leafcover.engine.audience import AUDIENCES, PUBLIC, RESEARCHERS, Limits, Thresholds
from leafcover.engine.evaluate import (
    compared_to,
    limited_risks,
    measure_all,
    pair_from,
    refuse_above,
)
from leafcover.errors import RiskTooHigh
from leafcover.keyed_random import Key
from leafcover.messages import catalogue
from leafcover.metrics.estimates import Attack, Estimate, Risk, wilson
from leafcover.metrics.summary import exceeds, measured_risks
from leafcover.reporting.context import ReportContext
from leafcover.reporting.disclosure_rules import DisclosureRules
from leafcover.reporting.fitness import FAR, FIRM, NEAR, STILL, conclusion, verdicts
from leafcover.reporting.html_page import overview, tiles
from tests.engine.report.pages import context_of, released, verdict
from tests.tables import mixed

MANY = 100_000
LOW, HIGH = PUBLIC, RESEARCHERS  # without a limit that was set
say = catalogue("report")


def attack(inside, outside, *, tries=MANY):
    """An attack that is right so often on people in the release, and on others."""
    return Attack(wilson(inside * tries, tries), wilson(outside * tries, tries), wilson(0.2 * tries, tries))


def risks_of(
    measures,
    *,
    linked=0.01,
    inferred=0.0,
    granted=0.0,
    regrown=0.0,
    member=0.0,
    present=0.0,
    copied=0.0,
    sets=0.0,
    out=0.0,
):
    """Risks of which each lies so far above its control, or above 1 % false alarms; linked is None without pairs."""
    risks = measures.risks
    informed = None if linked is None or risks.informed is None else wilson(linked * MANY, MANY)
    linkage = None if informed is None else replace(risks.informed, first=informed)
    alone = attack(0.3 + out, 0.3)
    return replace(
        risks,
        informed=linkage,
        learned=linkage,
        linkage=None if linkage is None else risks.linkage,
        inferences=tuple(
            replace(one, nearest=attack(0.3 + inferred, 0.3), trusted=None, learned=None) for one in risks.inferences
        ),
        informed_attacks=replace(
            risks.informed_attacks,
            granted=informed_attack(risks.informed_attacks.granted, granted, member),
            regrown=informed_attack(risks.informed_attacks.regrown, regrown, 0.0),
            trained=None,
        ),
        membership=replace(
            risks.membership,
            alarms=wilson(0.01 * MANY, MANY),
            presence=replace(risks.membership.presence, found=wilson((0.01 + present) * MANY, MANY)),
        ),
        copies=copies_of(risks.copies, copied),
        singling_out=replace(risks.singling_out, univariate=alone, multivariate=alone),
        column_sets=replace(risks.column_sets, attack=attack(0.3 + sets, 0.3)),
    )


def informed_attack(found, above, member):
    """An attack that infers the first column so far above control, and finds so many members beyond 1 %."""
    first, *others = found.inferences
    inferences = (
        replace(first, attack=attack(0.3 + above, 0.3)),
        *(replace(o, attack=attack(0.3, 0.3)) for o in others),
    )
    found_at = wilson((0.01 + member) * MANY, MANY)
    return replace(found, inferences=inferences, membership=replace(found.membership, found=found_at))


def copies_of(found, above):
    """Copies of whole records so far above control; none that is significant without any."""
    records = replace(found.records, attack=attack(0.3 + above, 0.3), p=0.0 if above else 1.0)
    return replace(
        found, records=records, unique=None, groups=(), block=None, values=(), reproduced=None, attached=None
    )


def outside(case, *, strict=False, **raised):
    return verdict(context_of(case, strict=strict, risks=risks_of(case[2], **raised)), "publication")


ALIKE = [
    ({}, "yes"),
    ({"inferred": 0.1}, "with care"),
    ({"inferred": 0.4}, "no"),
    ({"granted": 0.1}, "with care"),
    ({"granted": 0.4}, "no"),
    ({"regrown": 0.1}, "with care"),
    ({"regrown": 0.4}, "no"),
    ({"member": 0.1}, "with care"),
    ({"member": 0.4}, "no"),
    ({"copied": 0.4}, "no"),
    ({"copied": 0.01}, "no"),  # no chance explains them, however few they are
    ({"sets": 0.4}, "yes"),  # measured, but they do not decide
    ({"out": 0.4}, "yes"),
]


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize(
    ("raised", "fit"),
    [
        *ALIKE,
        ({"linked": 0.1}, "with care"),
        ({"linked": 0.3}, "no"),
        ({"linked": None}, "not known"),
        ({"linked": None, "inferred": 0.1}, "not known"),
        ({"linked": None, "inferred": 0.4}, "no"),
        ({"linked": None, "granted": 0.4}, "no"),
        ({"linked": None, "member": 0.4}, "no"),
        ({"linked": None, "present": 0.4}, "no"),
        ({"linked": None, "copied": 0.1}, "no"),
    ],
)
def test_readers_outside_are_judged_by_every_deciding_attack(mixed_release, raised, fit, strict):
    assert outside(mixed_release, strict=strict, **raised).fit == fit


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize(("raised", "fit"), ALIKE)
def test_a_dealt_release_is_judged_without_record_linkage(dealt_release, raised, fit, strict):
    found = outside(dealt_release, strict=strict, **raised)
    assert found.fit == fit
    assert say("finding-dealt") in found.why
    assert say("finding-not-linked") not in found.why


def test_a_no_says_which_attack_and_how_far(mixed_release):
    points = "+40.0 percentage points (+39.6 to +40.4)"
    why = outside(mixed_release, linked=None, inferred=0.4).why
    assert say("finding-not-linked") in why
    assert points in why
    assert say("finding-above-limit", end="upper", bound="40.4", limit="20") in why
    first = mixed_release[2].risks.informed_attacks.granted.inferences[0].column
    granted = outside(mixed_release, granted=0.4).why
    assert say("finding-inference", column=first, method="granted", points=points) in granted
    found = outside(mixed_release, member=0.4).why
    assert say("finding-membership", method="granted", points="+40.0 percentage points (+39.7 to +40.3)") in found
    assert say("finding-above-limit", end="lower", bound="39.7", limit="20") in found
    copied = say("finding-copies", kind="records", part="whole records", points=points)
    assert copied in outside(mixed_release, copied=0.4).why


@pytest.mark.parametrize(("high", "worse"), [(LOW - 0.01, False), (LOW + 0.01, True), (0.5, True)])
def test_readers_outside_are_judged_by_the_upper_end_of_the_risk(mixed_release, high, worse):
    risks = risks_of(mixed_release[2])
    risks = replace(risks, informed=replace(risks.informed, first=Risk(0.01, 0.0, high, 500, 0.1)))
    found = verdict(context_of(mixed_release, risks=risks), "publication")
    assert (found.fit != "yes") == worse
    assert (found.fit == "no") == (high > HIGH)


@pytest.mark.parametrize(("share", "fit"), [(0.0, "yes"), (0.05, "with care"), (0.5, "no")])
def test_attribute_inference_is_judged_by_its_upper_end(dealt_release, share, fit):
    risks = risks_of(dealt_release[2])
    first, *others = risks.informed_attacks.granted.inferences
    few = replace(first, attack=attack(0.3 + share, 0.3, tries=MANY if share == 0 else 500))
    granted = replace(risks.informed_attacks.granted, inferences=(few, *others))
    risks = replace(risks, informed_attacks=replace(risks.informed_attacks, granted=granted))
    context = context_of(dealt_release, risks=risks)
    assert verdict(context, "publication").fit == fit
    assert share == 0 or context.inferences[0].column == first.column


@pytest.mark.parametrize(("low", "fit"), [(0.0, "yes"), (LOW, "yes"), (LOW + 0.01, "with care"), (HIGH + 0.01, "no")])
def test_membership_is_judged_by_its_lower_end(dealt_release, low, fit):
    risks = risks_of(dealt_release[2])
    member = replace(risks.informed_attacks.granted.membership, found=Risk(0.5, low + 0.01, 0.9, MANY))
    granted = replace(risks.informed_attacks.granted, membership=member)
    risks = replace(risks, informed_attacks=replace(risks.informed_attacks, granted=granted))
    assert verdict(context_of(dealt_release, risks=risks), "publication").fit == fit


def test_an_upper_end_that_would_round_to_its_limit_is_told_with_more_digits(mixed_release):
    risks = risks_of(mixed_release[2])
    risks = replace(risks, informed=replace(risks.informed, first=Risk(0.04, 0.03, LOW + 0.0003, MANY, 0.1)))
    found = verdict(context_of(mixed_release, risks=risks), "publication")
    assert found.fit == "with care"
    assert say("finding-above-limit", end="upper", bound="5.03", limit="5") in found.why


LIMITS = [
    (Limits("public", AUDIENCES["public"]), None, 0.05, "public"),
    (Limits("researchers", AUDIENCES["researchers"]), None, 0.2, "researchers"),
    (Limits("researchers", replace(AUDIENCES["researchers"], max_risk=0.1)), None, 0.1, "given"),
    (Limits(None, Thresholds(max_risk=0.125)), None, 0.125, "given"),
    (Limits("public", AUDIENCES["public"]), 0.3, 0.3, "given"),
    (None, 0.01, 0.01, "given"),
]


@pytest.mark.parametrize("case", ["mixed_release", "dealt_release"])
@pytest.mark.parametrize(("limits", "max_risk", "limit", "source"), LIMITS)
def test_verdict_and_conclusion_go_by_the_limit_in_force(request, case, limits, max_risk, limit, source):
    release = request.getfixturevalue(case)
    named = say("limit-named", limit=f"{100 * limit:g}", source=source)
    for above in (0.0, limit - 0.008, limit + 0.008, 0.5):
        context = context_of(release, risks=risks_of(release[2], inferred=max(above, 0.0), linked=0.001))
        context = replace(context, release=replace(release[1], limits=limits), max_risk=max_risk)
        found = verdict(context, "publication")
        assert found.fit == ("no" if above > limit else "yes")
        assert f" {'high' if above > limit else 'low'}: " in conclusion(context).sentence
        assert named in conclusion(context).sentence
        assert named in found.why
        others = [other for other in (5, 20) if other != 100 * limit]
        assert all(f"limit of {other}%" not in conclusion(context).sentence + found.why for other in others)


@pytest.mark.parametrize("case", ["mixed_release", "dealt_release"])
@pytest.mark.parametrize("kind", ["linked", "inferred", "granted", "regrown", "member", "copied", "sets", "out"])
@pytest.mark.parametrize("risk", [0.0, 0.04, 0.049, 0.05, 0.0503, 0.06, 0.15, 0.199, 0.2, 0.203, 0.21, 0.4])
def test_verdict_and_limit_agree(request, case, kind, risk):
    release = request.getfixturevalue(case)
    context = context_of(release, risks=risks_of(release[2], **{kind: risk}))
    risks = measured_risks(context.measures)
    fit = verdict(context, "publication").fit

    def passes(limit):
        try:
            refuse_above(risks, limit)
        except RiskTooHigh:
            return False
        return True

    assert passes(LOW) == (fit == "yes")
    assert passes(HIGH) == (fit != "no")
    assert passes(LOW) == (not any(exceeds(one.bound, LOW) for one in risks))


@pytest.mark.parametrize("held_out", [False, True])
@pytest.mark.parametrize("case", ["mixed_release", "dealt_release"])
def test_the_limit_measures_what_the_report_measures(request, case, held_out):
    original, release, measures = request.getfixturevalue(case)
    compared = compared_to(original, release, mixed(2, rows=120) if held_out else None)
    if not held_out:  # the plan is repeated on parts of the table: a small one
        original = mixed(1, rows=90)
        compared = compared_to(original, released(original, release.plan.recipe, target="class"), None)
        measures = measure_all(compared)
    alone, reported = limited_risks(compared), measured_risks(measures)
    assert [(one.kind, one.column, one.risk) for one in alone] == [(one.kind, one.column, one.risk) for one in reported]
    assert [one.bound for one in limited_risks(compared, measures)] == [one.bound for one in alone]
    kinds = {one.kind for one in alone} - {"copies"}
    assert kinds == {"inference", "membership"} | ({"linkage"} if release.descends else set())


@pytest.mark.parametrize(
    ("raised", "level"),
    [
        ({}, "low"),
        ({"inferred": 0.1}, "moderate"),
        ({"granted": 0.1}, "moderate"),
        ({"member": 0.1}, "moderate"),
        ({"linked": 0.3}, "high"),
        ({"copied": 0.1}, "high"),
    ],
)
@pytest.mark.parametrize("strict", [False, True])
def test_the_conclusion_names_the_risk_that_decides(mixed_release, raised, level, strict):
    context = context_of(mixed_release, strict=strict, risks=risks_of(mixed_release[2], **raised))
    worst = max(measured_risks(context.measures), key=lambda one: one.bound)
    found, text = conclusion(context), conclusion(context).sentence
    assert (found.level, found.label) == (level, say("chip", level=level))
    assert ("limit 5%" in found.figure or "limit 20%" in found.figure) == (worst.kind != "copies")
    assert worst.name in text
    assert f" {level}: " in text
    if worst.kind != "copies":
        assert re.search(r"\d%" if worst.kind == "linkage" else r"\d percentage points", text)


@pytest.mark.parametrize("strict", [False, True])
def test_tile_summary_verdict_and_conclusion_name_the_same_column(dealt_release, strict):
    context = context_of(dealt_release, strict=strict, risks=risks_of(dealt_release[2], granted=0.1))
    first = dealt_release[2].risks.informed_attacks.granted.inferences[0].column
    tile, member, *_ = tiles(context)
    assert (tile.label, member.label) == (say("tile-inference"), say("tile-membership"))
    assert first in tile.note
    assert f"of {first} above control" in conclusion(context).sentence
    assert f"{first} decides" in verdict(context, "publication").why
    assert any(f"{first} is the most inferable" in one for one in overview(context).protected)


def test_the_conclusion_without_linkage_control_or_measures(mixed_release, dealt_release):
    unlinked = context_of(mixed_release, risks=risks_of(mixed_release[2], linked=None))
    assert conclusion(unlinked).sentence == say("conclusion-not-known", reason="linkage")
    unmeasured = replace(unlinked, measures=None)
    assert conclusion(unmeasured).sentence == say("conclusion-unmeasured", absence="not-asked")
    risks = risks_of(mixed_release[2])
    alone = tuple(replace(one, nearest=replace(one.nearest, control=None)) for one in risks.inferences)
    uncontrolled = {"inferences": alone, "informed_attacks": None}
    context = context_of(mixed_release, risks=replace(risks, **uncontrolled))
    assert verdict(context, "publication").fit == "with care"
    partly = say("conclusion", level="partly-known", name="", end="upper", unit="percent", bound="")
    assert conclusion(context).sentence.startswith(partly.partition(":")[0])
    dealt = replace(risks_of(dealt_release[2]), membership=None, **uncontrolled)
    context = context_of(dealt_release, risks=dealt)
    assert verdict(context, "publication").fit == "with care"
    assert conclusion(context).sentence == say("conclusion-not-known", reason="inference")


def test_a_figure_that_is_not_published_does_not_judge_either(mixed_release):
    risks = risks_of(mixed_release[2])

    def linked(count):
        return {"informed": replace(risks.informed, first=wilson(count, 100))}

    def member(count):
        found = replace(risks.informed_attacks.granted.membership, found=wilson(count, 100))
        granted = replace(risks.informed_attacks.granted, membership=found)
        return {"informed_attacks": replace(risks.informed_attacks, granted=granted)}

    def judged(changed):
        context = context_of(mixed_release, strict=True, risks=replace(risks, **changed))
        return verdict(context, "publication")

    assert judged(linked(0)) == judged(linked(1)) == judged(linked(4))  # exactly, none would be low and one not
    assert judged(linked(0)) != judged(linked(30))
    assert judged(member(2)).fit == judged(member(4)).fit
    assert judged(member(2)) != judged(member(30))


@pytest.mark.parametrize(
    ("short", "fit", "gap"),
    [
        (-0.1, "yes", {"gap": "none", "points": ""}),
        (NEAR - 0.001, "yes", {"gap": "exact", "points": "1.9"}),
        (NEAR + 0.0004, "with care", {"gap": "exact", "points": "2.04"}),
        (FAR + 0.0004, "no", {"gap": "exact", "points": "5.04"}),
    ],
)
def test_models_are_judged_by_how_far_agreement_lies_below_its_floor(mixed_release, short, fit, gap):
    agreements = mixed_release[2].utility.agreement
    own = replace(agreements.target, agreement=Estimate(0.9 - short, 0.8, 1.0, 3), floor=Estimate(0.9, 0.85, 0.95, 3))
    utility = replace(mixed_release[2].utility, agreement=replace(agreements, target=own))
    found = verdict(context_of(mixed_release, utility=utility), "target-models")
    assert found.column == "class"
    assert found.fit == fit
    assert say("why-gap", **gap) in found.why
    public = verdict(context_of(mixed_release, strict=True, utility=utility), "target-models")
    assert public.fit == fit
    limit = {"yes": ("at-most", "2"), "with care": ("over", "2"), "no": ("over", "5")}[fit]
    assert say("why-gap", gap=limit[0], points=limit[1]) in public.why


@pytest.mark.parametrize(
    ("largest", "fit", "words"),
    [
        (FIRM - 0.0002, "yes", "by 0.0498."),
        (FIRM, "yes", "by 0.050."),
        (FIRM + 0.0003, "with care", "by 0.0503."),
        (0.1003, "no", "by 0.1003."),
    ],
)
def test_a_relation_just_over_its_limit_is_told_with_digits_enough(mixed_release, largest, fit, words):
    utility = mixed_release[2].utility
    relations = replace(utility.relations, every=replace(utility.relations.every, largest=largest))
    found = verdict(context_of(mixed_release, utility=replace(utility, relations=relations)), "associations")
    assert found.fit == fit
    assert words in found.why


@pytest.mark.parametrize(("largest", "fit", "words"), [(STILL, "yes", "2.0"), (STILL + 0.0004, "with care", "2.04")])
def test_shares_just_over_their_limit_are_told_with_digits_enough(mixed_release, largest, fit, words):
    utility = mixed_release[2].utility
    distances = replace(utility.columns.number_distances, largest=largest)
    columns = replace(utility.columns, number_distances=distances)
    found = verdict(context_of(mixed_release, utility=replace(utility, columns=columns)), "counts")
    assert found.fit == fit
    assert re.search(rf"\b{re.escape(words)} percentage points\.", found.why)


def test_a_difference_whose_interval_holds_0_is_not_called_an_effect(mixed_release):
    def shown(by):
        context = context_of(mixed_release, risks=risks_of(mixed_release[2], inferred=by))
        above = context.inferences[0].above
        points = context.rules.format_points(above, above.runs)
        sentences = overview(context).protected
        return [one for one in ("no", "largest") if say("inference-difference", shown=one, points=points) in sentences]

    assert shown(0.001) == ["no"]
    assert shown(0.1) == ["largest"]


def test_the_most_inferable_column_says_of_how_many(mixed_release):
    risks, every = risks_of(mixed_release[2], inferred=0.1), len(mixed_release[0].names)
    alone = replace(risks, informed_attacks=None)
    context = context_of(mixed_release, risks=replace(alone, inferences=risks.inferences[:3]))
    sentences = " ".join(overview(context).protected)
    assert re.search(rf"\b3 of {every} columns .*\b{context.inferences[0].column}\b", sentences)
    assert context_of(mixed_release, risks=risks).columns_tried == say(
        "columns-attacked", all="yes", attacked=every, columns=every
    )


def test_nothing_measured_is_not_known_and_a_seed_is_no():
    original = mixed(1, rows=200)
    release = released(original, target="class", key=Key.from_seed(3))
    context = ReportContext(
        pair_from(original, release), release, None, DisclosureRules(200, strict=False), show_plan=True
    )
    first, *others = verdicts(context)
    assert first.fit == "no"
    assert "seed" in first.why
    assert all(one.fit in ("no", "not known") for one in others)


@pytest.mark.parametrize("case", ["mixed_release", "dealt_release"])
def test_no_sentence_calls_a_release_anonymous_or_safe(request, case):
    for strict in (False, True):
        said = overview(context_of(request.getfixturevalue(case), strict=strict))
        exposed = [f"{term} {sentence}" for term, sentence in said.exposed]
        words = " ".join([*said.kept, *said.protected, *exposed, *(one.why for one in said.verdicts)])
        assert "anonym" not in words.casefold()
        assert "is safe" not in words.casefold()
        assert "% to " in words  # the risk with its interval
