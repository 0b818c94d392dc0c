"""Every bad release is refused by a limit of 0.05, and every good one passes: without plan and pairs, as of others."""

from dataclasses import replace

import pytest

import leafcover as lc
from leafcover.engine.evaluate import Comparison, limited_risks, refuse_above
from leafcover.errors import RiskTooHigh
from leafcover.metrics.disclosure.copies import copies
from leafcover.metrics.summary import copied_part, decisive_risks, measured_risks
from tests.metrics.bad_releases import AMOUNT, AMOUNT_COPIES, BAD, CODE_COPIES, FEW, RECODED, SIX, TARGET, cases

LIMIT = 0.05
BY_COPIES = {  # `test_copies` finds them in the ordinary tests, too
    "copy",
    "shuffled rows",
    "half copy",
    "3 % verbatim",
    "40 outliers verbatim",
    "all but the target one block",
    "near-unique column untouched",
    "true rows, target permuted",
    "permuted apart, amount exact",
    "extremes coded",
    "k-anonymous in two columns",
    "chain without price",
}
BY_ATTACKS = {"copy with tiny noise": "inference", "six columns one block": "inference"}
KNOWN = (*SIX, AMOUNT, "age", TARGET)  # the block, and what stands apart from it
ATTACKED = ("education", "occupation", AMOUNT, TARGET)  # some of both
GOOD = ("permuted apart, shared", "independent sample")


@pytest.fixture(scope="module")
def made():
    return cases()


def decided(case, **roles):
    """The risks that are compared with a limit; record linkage is not measured, and does not stop the others."""
    risks = limited_risks(Comparison(case.pair(**roles)))
    assert not any(one.kind == "linkage" for one in risks)
    return risks


def decided_by_few(case):
    """The same of some columns, known from some others."""
    tables = {side: getattr(case, side).select(KNOWN) for side in ("original", "released", "control")}
    return decided(replace(case, **tables), sensitive=ATTACKED)


def above(risks, kind):
    return [one for one in risks if one.kind == kind and one.bound > LIMIT]


def test_every_release_has_its_test(made):
    assert {*BY_COPIES, *BY_ATTACKS} == {*BAD, *RECODED, "chain without price"}
    assert set(made) == {*BAD, *RECODED, "chain without price", *AMOUNT_COPIES, *CODE_COPIES, *GOOD}
    assert [name for name, case in made.items() if not case.refused] == list(GOOD)


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(BY_COPIES))
def test_copies_are_refused(made, name):
    risks = decided(made[name])
    assert above(risks, "copies")
    with pytest.raises(RiskTooHigh):
        refuse_above(risks, LIMIT)


@pytest.mark.parametrize("name", BY_ATTACKS)
def test_releases_that_copy_no_record_are_refused_by_attacks(made, name):
    risks = decided_by_few(made[name])
    assert above(risks, BY_ATTACKS[name])
    with pytest.raises(RiskTooHigh):
        refuse_above(risks, LIMIT)


@pytest.mark.parametrize("name", [*AMOUNT_COPIES, *CODE_COPIES])
def test_copies_of_rare_values_are_refused_without_a_control(made, name):
    nothing = {"linked": None, "inferred": (), "informed": None, "membership": None}
    risks = decisive_risks(**nothing, copied=copies(made[name].pair()))
    assert above(risks, "copies")
    with pytest.raises(RiskTooHigh):
        refuse_above(risks, LIMIT)


def test_measuring_a_copy_of_near_unique_numbers_finds_it(made):
    case = made["copy of amounts"]
    measures = lc.measure(case.original, case.released)
    assert above(measured_risks(measures), "copies")
    finding = measures.risks.copies.findings[0]
    assert copied_part(finding.kind, finding.columns, finding.without) in str(measures)


def test_a_chain_whose_splits_cost_nothing_is_refused_by_its_copies_alone(made):
    risks = decided(made["chain without price"])
    assert {one.kind for one in risks if one.bound > LIMIT} == {"copies"}
    with pytest.raises(RiskTooHigh):
        refuse_above(risks, LIMIT)


def test_a_chain_whose_splits_cost_nothing_is_the_original_up_to_order(made):
    case = made["chain without price"]
    before, after = (
        sorted(zip(*(table[name].values.tolist() for name in FEW), strict=True))
        for table in (case.original, case.released)
    )
    assert before == after


@pytest.mark.parametrize("name", GOOD)
def test_good_releases_pass(made, name):
    risks = decided_by_few(made[name])
    assert {one.kind for one in risks} == {"inference", "membership"}
    refuse_above(risks, LIMIT)
