"""The figures of the page: people are those of the published functions, and every method is measured."""

import numpy as np
import pytest
from benchmarks.agrawal import FUNCTIONS, RANGES, people
from benchmarks.reconstruction import (
    ALGORITHMS,
    BEGIN,
    END,
    PAGE,
    TRIED,
    accuracies,
    cells,
    errors_of_shares,
    two_bells,
)

from leafcover.randomized_response.additive_noise import UniformNoise


def person(**given):
    plain = {"age": 50, "salary": 60_000, "commission": 0, "elevel": 0, "loan": 0, "hvalue": 0, "hyears": 0}
    return {name: np.array([value]) for name, value in {**plain, **given}.items()}


@pytest.mark.parametrize(
    ("function", "given", "in_a"),
    [
        (1, {"age": 39}, True),
        (1, {"age": 40}, False),
        (1, {"age": 60}, True),
        (2, {"age": 39, "salary": 50_000}, True),
        (2, {"age": 39, "salary": 100_001}, False),
        (2, {"age": 45, "salary": 60_000}, False),
        (2, {"age": 45, "salary": 125_000}, True),
        (2, {"age": 70, "salary": 30_000}, True),
        (3, {"age": 30, "elevel": 1, "salary": 30_000}, True),
        (3, {"age": 30, "elevel": 2, "salary": 30_000}, False),
        (3, {"age": 30, "elevel": 4, "salary": 60_000}, False),
        (3, {"age": 50, "elevel": 0, "salary": 60_000}, False),
        (3, {"age": 50, "elevel": 4, "salary": 120_000}, True),
        (3, {"age": 70, "elevel": 1, "salary": 30_000}, True),
        (3, {"age": 70, "elevel": 3, "salary": 30_000}, False),
        (4, {"salary": 30_000}, True),  # 20,100 are left
        (4, {"salary": 29_000}, False),
        (4, {"salary": 30_000, "loan": 1_000}, False),
        (5, {"salary": 20_000, "loan": 50_000}, False),  # 3,400 are left
        (5, {"salary": 20_000, "loan": 50_000, "hvalue": 100_000, "hyears": 24}, True),  # and a fifth of 40,000
    ],
)
def test_groups_by_hand(function, given, in_a):
    assert bool(FUNCTIONS[function](person(**given))[0]) is in_a


def test_people_keep_their_ranges_and_laws():
    some = people(5_000, 1, seed=1)
    for name, (low, high, step) in RANGES.items():
        values = some[name].values
        assert values.min() >= low
        assert values.max() <= high
        assert not step or set(values) == set(range(low, high + 1))
    rich = some["salary"].values >= 75_000
    assert (some["commission"].values[rich] == 0).all()
    assert some["commission"].values[~rich].min() >= 10_000
    assert np.corrcoef(some["zipcode"].values, some["hvalue"].values)[0, 1] < -0.5


def test_every_method_has_a_figure():
    errors = errors_of_shares(two_bells, UniformNoise, 1_000, 20, seed=1)
    assert len(errors) == len(TRIED)
    assert errors[-1] < errors[3] < errors[0]
    found = accuracies(UniformNoise, 1, 1, rows=4_000)
    assert len(found) == len(ALGORITHMS)
    assert found[0] > 0.99
    assert found[ALGORITHMS.index("byclass")] > found[ALGORITHMS.index("randomized")]
    assert cells(np.array([[90.0, 80.0], [92.0, 80.0]])) == ["91.0 (1.4)", "80.0 (0.0)"]


def test_the_page_has_its_place_for_the_figures():
    page = PAGE.read_text("utf-8")
    assert page.count(BEGIN) == page.count(END) == 1
