"""What is concluded from figures, and how it is reasoned."""

from dataclasses import replace

import pytest

from leafcover.engine.evaluate import pair_from
from leafcover.metrics.estimates import Attack, Estimate, Risk, wilson
from leafcover.reporting.context import ReportContext
from leafcover.reporting.disclosure_rules import DisclosureRules
from leafcover.reporting.fitness import FAR, FIRM, HIGH, LOW, NEAR, STILL, verdicts
from leafcover.reporting.overview import plain
from leafcover.rng import Key
from tests.engine.report.pages import released, subject_of, verdict
from tests.tables import mixed

MANY = 100_000


def attack(inside, outside, *, tries=MANY):
    """An attack that is right so often on people in the release, and on others."""
    return Attack(wilson(inside * tries, tries), wilson(outside * tries, tries), wilson(0.2 * tries, tries))


def risks_of(measures, *, linked=0.01, inferred=0.0, member=0.0, sets=0.0, out=0.0):
    """Risks of which each lies so far above its control; the share of people that are found, or None without pairs."""
    risks = measures.risks
    alone = attack(0.3 + out, 0.3)
    found = tuple(
        replace(one, nearest=attack(0.3 + inferred, 0.3), trusted=None, learned=None) for one in risks.inferences
    )
    informed = None if linked is None else replace(risks.informed, first=wilson(linked * MANY, MANY))
    return replace(
        risks,
        informed=informed,
        learned=informed,
        linkage=None if linked is None else risks.linkage,
        inferences=found,
        singling_out=replace(risks.singling_out, univariate=alone, multivariate=alone),
        column_sets=replace(risks.column_sets, attack=attack(0.3 + sets, 0.3)),
        membership=replace(risks.membership, attack=attack(0.3 + member, 0.3)),
    )


def outside(case, *, strict=False, **raised):
    return verdict(subject_of(case, strict=strict, risks=risks_of(case[2], **raised)), "Readers outside")


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize(
    ("raised", "fit"),
    [
        ({}, "yes"),
        ({"linked": 0.1}, "with care"),
        ({"linked": 0.3}, "no"),
        ({"inferred": 0.1}, "with care"),
        ({"inferred": 0.4}, "no"),
        ({"member": 0.1}, "with care"),
        ({"member": 0.4}, "no"),
        ({"sets": 0.4}, "no"),
        ({"out": 0.4}, "with care"),  # descriptions, not people
        ({"linked": None}, "not known"),
        ({"linked": None, "inferred": 0.1}, "not known"),
        ({"linked": None, "inferred": 0.4}, "no"),
        ({"linked": None, "member": 0.4}, "no"),
        ({"linked": None, "sets": 0.4}, "no"),
    ],
)
def test_readers_outside_are_judged_by_every_attack_with_or_without_pairs(mixed_release, raised, fit, strict):
    assert outside(mixed_release, strict=strict, **raised).fit == fit


def test_a_no_without_pairs_says_which_attack_and_how_far(mixed_release):
    told = outside(mixed_release, linked=None, inferred=0.4).why
    assert "not known which released row is whose" in told
    assert "+40.0 points (+39.6 to +40.4). The upper end, 40.4%, is above 20%." in told
    member = outside(mixed_release, linked=None, member=0.4).why
    assert "Telling members works better on people in the release than on others by +40.0 points" in member
    assert "the lower end, 39.6, is above 20." in member


@pytest.mark.parametrize(("high", "worse"), [(LOW - 0.01, False), (LOW + 0.01, True), (0.5, True)])
def test_readers_outside_are_judged_by_the_upper_end_of_the_risk(mixed_release, high, worse):
    risks = risks_of(mixed_release[2])
    risks = replace(risks, informed=replace(risks.informed, first=Risk(0.01, 0.0, high, 500, 0.1)))
    found = verdict(subject_of(mixed_release, risks=risks), "Readers outside")
    assert (found.fit != "yes") == worse
    assert (found.fit == "no") == (high > HIGH)


def test_an_upper_end_that_would_round_to_its_limit_is_told_with_more_digits(mixed_release):
    risks = risks_of(mixed_release[2])
    risks = replace(risks, informed=replace(risks.informed, first=Risk(0.04, 0.03, LOW + 0.0003, MANY, 0.1)))
    found = verdict(subject_of(mixed_release, risks=risks), "Readers outside")
    assert found.fit == "with care"
    assert "The upper end, 5.03%, is above 5%." in found.why


def test_what_others_may_not_hear_does_not_judge_either(mixed_release):
    risks = risks_of(mixed_release[2])

    def judged(count):
        informed = replace(risks.informed, first=wilson(count, 100))
        return verdict(subject_of(mixed_release, strict=True, risks=replace(risks, informed=informed)), "Readers")

    assert judged(0) == judged(1) == judged(4)  # exactly, none would be low and one not
    assert judged(0) != judged(30)


@pytest.mark.parametrize(
    ("short", "fit", "words"),
    [
        (-0.1, "yes", "not below that"),
        (NEAR - 0.001, "yes", "1.9 points below that"),
        (NEAR + 0.0004, "with care", "2.04 points below that"),
        (FAR + 0.0004, "no", "5.04 points below that"),
    ],
)
def test_miners_are_judged_by_how_far_agreement_lies_below_its_floor(mixed_release, short, fit, words):
    agreements = mixed_release[2].utility.agreement
    own = replace(agreements.target, agreement=Estimate(0.9 - short, 0.8, 1.0, 3), floor=Estimate(0.9, 0.85, 0.95, 3))
    utility = replace(mixed_release[2].utility, agreement=replace(agreements, target=own))
    found = verdict(subject_of(mixed_release, utility=utility), "Miners who study class")
    assert found.fit == fit
    assert words in found.why
    told = verdict(subject_of(mixed_release, strict=True, utility=utility), "Miners who study class")
    assert told.fit == fit
    assert {"yes": "at most 2", "with care": "over 2", "no": "over 5"}[fit] in told.why


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
    found = verdict(subject_of(mixed_release, utility=replace(utility, relations=relations)), "Exact relations")
    assert found.fit == fit
    assert words in found.why


@pytest.mark.parametrize(("largest", "fit", "words"), [(STILL, "yes", "2.0"), (STILL + 0.0004, "with care", "2.04")])
def test_shares_just_over_their_limit_are_told_with_digits_enough(mixed_release, largest, fit, words):
    utility = mixed_release[2].utility
    distances = replace(utility.columns.number_distances, largest=largest)
    columns = replace(utility.columns, number_distances=distances)
    found = verdict(subject_of(mixed_release, utility=replace(utility, columns=columns)), "Counts and shares")
    assert found.fit == fit
    assert f"by at most {words} points." in found.why


def test_a_difference_whose_interval_holds_0_is_not_called_owed_to_a_row(mixed_release):
    nothing, much = (
        " ".join(plain(subject_of(mixed_release, risks=risks_of(mixed_release[2], inferred=by))).hidden)
        for by in (0.001, 0.1)
    )
    assert "may be chance" in nothing
    assert "is owed to their own row" not in nothing
    assert "may be chance" not in much
    assert "is owed to their own row" in much


def test_the_column_told_furthest_says_of_how_many(mixed_release):
    risks, every = risks_of(mixed_release[2], inferred=0.1), len(mixed_release[0].names)
    subject = subject_of(mixed_release, risks=replace(risks, inferences=risks.inferences[:3]))
    said = " ".join(plain(subject).hidden)
    assert f"of 3 of {every} columns tried, {subject.inferences[0].column} is told furthest above control" in said
    assert "told best" not in said
    whole = replace(risks, inferences=(risks.inferences * every)[:every])
    assert subject_of(mixed_release, risks=whole).columns_tried == f"all {every} columns tried"


def test_nothing_measured_is_not_known_and_a_seed_is_no():
    original = mixed(1, rows=200)
    release = released(original, target="class", key=Key.from_seed(3))
    subject = ReportContext(
        pair_from(original, release), release, None, DisclosureRules(200, strict=False), show_plan=True
    )
    first, *others = verdicts(subject)
    assert first.fit == "no"
    assert "seed" in first.why
    assert all(one.fit in ("no", "not known") for one in others)


def test_no_sentence_calls_a_release_anonymous_or_safe(mixed_release):
    for strict in (False, True):
        said = plain(subject_of(mixed_release, strict=strict))
        words = " ".join([*said.kept, *said.hidden, *(f"{a} {b}" for a, b in said.open), *(v.why for v in said.fit)])
        assert "anonym" not in words.casefold()
        assert "is safe" not in words.casefold()
        assert "% to " in words  # the risk with its interval
