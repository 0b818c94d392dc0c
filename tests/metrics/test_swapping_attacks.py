"""Attacks by the parameters of PRAM and of swaps: they find what they should, and say when a parameter is wrong."""

import numpy as np
import pytest

import leafcover as lc
from leafcover.errors import NameUnknown, ValueOutOfRange
from leafcover.metrics.disclosure.swapping_attacks import (
    bounded_swap_linkage,
    original_shares,
    pram_inversion,
    rank_swap_linkage,
)
from leafcover.metrics.pair import pair_of
from leafcover.recipes.plan import Plan, Step
from tests.tables import category, number, table

SHARES = np.array([0.7, 0.2, 0.1])


def paired(original, plan):
    release = lc.release(original, plan, seed=1, keep_order=True)
    return pair_of(original, release.table, release.source)


def numbers(columns, rows=300, seed=1):
    rng = np.random.default_rng(seed)
    return table(*(number(f"x{at}", rng.normal(size=rows), None) for at in range(columns)))


@pytest.mark.parametrize("probability", [0.3, 0.6])
def test_inversion_estimates_the_original_shares(probability):
    """30,000 rows: within five standard errors, where released shares are far off."""
    original = table(category("c", np.repeat(list("abc"), (SHARES * 30_000).astype(int)).tolist()))
    noise = lc.Pram(probability, invariant="none")
    matrix = noise.transition(original["c"])
    found = pram_inversion(paired(original, Plan(Step("c", lc.Whole(), noise))), "c", matrix)
    assert np.abs(SHARES @ matrix - SHARES).max() > 0.1
    assert found.largest_error < 5 * 0.5 / np.sqrt(30_000) / abs(1 - 1.5 * probability)
    assert found.shares == pytest.approx(SHARES, abs=found.largest_error + 1e-9)


def test_inversion_guesses_by_bayes_rule():
    """A rare level that is seldom true when it is released: the most frequent one is the better guess."""
    original = table(category("c", ["a"] * 9_000 + ["b"] * 1_000))
    noise = lc.Pram(0.3, invariant="none")
    found = pram_inversion(paired(original, Plan(Step("c", lc.Whole(), noise))), "c", noise.transition(original["c"]))
    assert found.inverted.value == found.most_frequent.value == 0.9
    assert found.as_released.value == pytest.approx(0.7, abs=0.03)
    weak = lc.Pram(0.05, invariant="none")
    found = pram_inversion(paired(original, Plan(Step("c", lc.Whole(), weak))), "c", weak.transition(original["c"]))
    assert found.inverted.value == found.as_released.value == pytest.approx(0.95, abs=0.02)


def test_shares_are_never_negative():
    flip = np.array([[0.8, 0.2], [0.2, 0.8]])
    assert original_shares(np.array([0.1, 0.9]), flip) == pytest.approx([0, 1], abs=1e-3)
    assert original_shares(np.array([0.3, 0.7]), np.full((2, 2), 0.5)) == pytest.approx([0.3, 0.7])  # nothing is known


def test_the_window_of_more_columns_leaves_fewer_rows():
    found = []
    for columns in (1, 3, 6):
        original = numbers(columns)
        plan = Plan(Step(original.names, lc.Whole(), lc.RankSwap(0.1)))
        found.append(rank_swap_linkage(paired(original, plan), original.names, 0.1))
    assert [one.ruled_out for one in found] == [0, 0, 0]
    assert found[0].candidates > 40 > found[1].candidates > found[2].candidates == 1
    assert found[0].linked.value < 0.05
    assert found[2].linked.low > 0.9
    assert found[2].linked.low > found[2].by_distance.high - 0.1


def test_a_window_that_is_too_small_rules_out_the_own_row():
    original = numbers(2)
    plan = Plan(Step(original.names, lc.Whole(), lc.RankSwap(0.2)))
    assert rank_swap_linkage(paired(original, plan), original.names, 0.05).ruled_out > 0.5


def test_windows_within_cells_that_are_known():
    original = numbers(3, rows=200)
    original = table(*original, category("s", list("ab") * 100))
    plan = lc.recipes.rank_swap(original, window=0.2, strata="s")
    pair = paired(original, plan)
    found = rank_swap_linkage(pair, plan.columns, 0.2, groups=original["s"].values)
    assert found.ruled_out == 0
    assert found.linked.value > rank_swap_linkage(pair, plan.columns, 0.2 * 200 / 100).linked.value


def test_a_distance_finds_people_whom_nearness_does_not():
    """In cells of 20 to 39 rows and six columns, hardly another row is far enough away in all of them."""
    original = numbers(6, rows=600)
    plan = lc.recipes.bounded_swap(original, leaf=40, distance=10)
    cells = plan.steps[0].within.cells(original).cells.label
    pair = paired(original, plan)
    found = bounded_swap_linkage(pair, plan.columns, 10, cells)
    assert found.ruled_out == 0
    assert found.linked.low > 0.5 > found.by_distance.high
    assert bounded_swap_linkage(pair, plan.columns, 18, cells).ruled_out > 0.5
    few = bounded_swap_linkage(pair, plan.columns[:1], 10, cells)
    assert few.linked.value == pytest.approx(1 / few.candidates, abs=0.03)


def test_missing_values_link_too():
    rng = np.random.default_rng(2)
    original = table(number("x", np.where(rng.random(200) < 0.3, np.nan, rng.normal(size=200)), None))
    pair = paired(original, Plan(Step("x", lc.Whole(), lc.RankSwap(0.1))))
    found = rank_swap_linkage(pair, ["x"], 0.1)
    assert found.ruled_out == 0
    assert not np.isnan(found.linked.value)


def test_what_cannot_be_attacked_is_refused():
    original = table(number("x", np.arange(20.0) % 7), category("c", list("ab") * 10))
    pair = pair_of(original, original, np.arange(20))
    with pytest.raises(NameUnknown):
        rank_swap_linkage(pair, ["y"], 0.1)
    with pytest.raises(ValueOutOfRange, match="a row and a column for each level"):
        pram_inversion(pair, "c", np.eye(3))
    with pytest.raises(ValueOutOfRange, match="a row and a column for each level"):
        pram_inversion(pair, "x", np.eye(3))
    with pytest.raises(ValueOutOfRange, match="paired"):
        rank_swap_linkage(pair_of(original, original), ["x"], 0.1)
