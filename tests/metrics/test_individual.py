"""The individual risk against the practice guide's table and the negative binomial law, summed term by term."""

from math import comb, log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from leafcover.metrics.disclosure.individual_risk import individual, mean_reciprocal
from leafcover.metrics.pair import pair_of
from tests.metrics.pairs import awkward, copy_of, reordered, tables
from tests.metrics.surveys import KEYS, respondents
from tests.tables import category, number, table


def term_by_term(size, share):
    """The mean of 1/F when F is the try at which the size-th success comes."""
    terms = (comb(n - 1, size - 1) * share**size * (1 - share) ** (n - size) / n for n in range(size, size + 3000))
    return sum(terms)


@given(st.integers(1, 40), st.floats(0.05, 1.0))
def test_the_formula_is_the_series(size, share):
    found = mean_reciprocal(np.array([float(size)]), np.array([size / share]))[0]
    assert found == pytest.approx(term_by_term(size, min(1.0, size / (size / share))), rel=1e-6)


def test_the_printed_formulas_for_one_and_two():
    p = 1 / 180
    odds = p / (1 - p)
    found = mean_reciprocal(np.array([1.0, 2.0]), np.array([180.0, 360.0]))
    assert found == pytest.approx([odds * log(1 / p), odds * (1 - odds * log(1 / p))])


def test_large_classes_and_populations_stay_near_one_in_the_population():
    sizes = np.array([2, 5, 30, 31, 1e3, 1e6])
    for population in (1.0, 1.5, 1e3, 1e7):
        risk = mean_reciprocal(sizes, sizes * population)
        assert (risk >= 1 / (sizes * population) - 1e-15).all()  # the mean of 1/F is at least 1 over the mean
        assert (risk <= 1 / ((sizes - 1) * population) + 1e-15).all()


def test_the_ten_respondents_of_the_practice_guide():
    printed = np.array([0.0054, 0.0054, 0.0251, 0.0126, 0.0282, 0.0126, 0.0290, 0.0251, 0.0074, 0.0074])
    found = individual(respondents(weight="weight"))
    assert found.model == "survey weights"
    assert found.expected == pytest.approx(printed.sum(), abs=5e-4)
    assert found.risk.value == pytest.approx(printed.mean(), abs=5e-5)
    assert found.risk.worst == pytest.approx(0.0290, abs=5e-5)
    assert found.high.value == 0.0


def test_without_weights_everybody_is_in_the_table():
    # seven keys: the expected re-identifications are 7, one for each; four rows alone have 1, six have 1/2
    found = individual(respondents(), columns=KEYS)
    assert found.model == "prosecutor"
    assert found.expected == pytest.approx(7.0)
    assert found.risk.value == pytest.approx(0.7)
    assert (found.risk.worst, found.high.value) == (1.0, 1.0)


def test_weights_below_one_or_missing_stand_for_the_row_itself():
    original = table(category("c", "aabb"), number("w", [0.1, 0.2, np.nan, 1.0], None))
    found = individual(pair_of(original, original, None, quasi_identifiers=["c"], weight="w"))
    assert found.expected == pytest.approx(2.0)
    assert found.risk.value == pytest.approx(0.5)


def test_weights_of_one_are_no_weights_and_larger_ones_lower_the_risk():
    original = tables()["full"]
    rows = len(original)
    risks = []
    for weight in (1.0, 2.0, 50.0):
        weighted = table(*original, number("w", [weight] * rows))
        risks.append(
            individual(pair_of(weighted, weighted, None, quasi_identifiers=["job", "town"], weight="w")).risk.value
        )
    plain = individual(pair_of(original, original, None, quasi_identifiers=["job", "town"])).risk.value
    assert risks[0] == pytest.approx(plain)
    assert risks[0] > risks[1] > risks[2]


@pytest.mark.parametrize("name", awkward())
def test_awkward_tables_give_finite_risks(name):
    found = individual(copy_of(awkward()[name], target="class"))
    assert 0 < found.risk.low <= found.risk.value <= found.risk.high
    assert found.risk.value <= found.risk.worst <= 1.0
    if name == "every row unique":
        assert found.risk.value == 1.0
        assert found.expected == found.rows


def test_order_does_not_matter_and_bins_hide():
    pair = copy_of(tables()["with missing values"], target="class")
    assert individual(reordered(pair)).risk.value == pytest.approx(individual(pair).risk.value)
    assert individual(pair, bins=2).expected < individual(pair, bins=5).expected < individual(pair).expected
