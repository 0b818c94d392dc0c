"""Columns, heaps, ends and weighted totals: against hand-worked tables, slow twins, and their symmetry."""

from collections import Counter
from dataclasses import replace
from math import isnan, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from leafcover.metrics.pair import pair_of, say
from leafcover.metrics.utility.propensity import totals
from leafcover.metrics.utility.univariate import (
    QUANTILES,
    columns,
    deviation,
    differences,
    ends,
    heaps,
    heaps_of,
    hellinger,
    in_units,
    kolmogorov_smirnov,
    mean,
    number_column,
    quantiles,
    tails,
    total_variation,
    unit,
    worst_mean,
)
from tests.metrics.pairs import apart
from tests.tables import category, mixed, number, table

numbers = st.lists(st.integers(-6, 6).map(float), min_size=1, max_size=25)
counts = st.lists(st.integers(0, 9), min_size=4, max_size=4).filter(any)


def test_a_number_worked_out_by_hand():
    # before 1 2 3 4 5: mean 3, variance (4+1+0+1+4)/4 = 2.5. After 3 4 5 6 7 of which one is missing (5): mean 5,
    # variance (4+1+1+4)/3 = 10/3. KS: at 2 the original has 2 of 5, the release 0 of 4; at 3 it is 3/5 against 1/4,
    # at 4 4/5 against 2/4, at 5 1 against 2/4: the largest is 0.5. The median moves from 3 to (4+6)/2 = 5.
    found = number_column(number("x", [1, 2, 3, 4, 5]), number("x", [3, 4, np.nan, 6, 7]))
    assert (found.mean.before, found.mean.after) == (3.0, 5.0)
    assert found.variance.before == pytest.approx(2.5)
    assert found.variance.after == pytest.approx(10 / 3)
    assert found.mean_difference == pytest.approx(2 / sqrt(2.5))
    assert found.deviation_difference == pytest.approx((sqrt(10 / 3) - sqrt(2.5)) / sqrt(2.5))
    assert found.distance == pytest.approx(0.5)
    assert found.quantiles[9].before == 3.0
    assert found.quantiles[9].after == 5.0
    assert found.quantile_differences[9] == pytest.approx(2 / sqrt(2.5))
    assert (found.missing.before, found.missing.after) == (0.0, 0.2)


def test_a_category_worked_out_by_hand():
    # shares before: a 1/2, b 1/4, c 1/4; after (one missing): a 1/3, d 2/3. Total variation: (1/6+1/4+1/4+2/3)/2 = 2/3.
    # Hellinger² = 1 - Σ√(p·q) = 1 - √(1/6). Lost: b and c; new: d.
    before, after = category("c", ["a", "a", "b", "c"]), category("c", ["a", "d", "d", None])
    found = columns(pair_of(table(before), table(after))).categories[0]
    assert found.distance == pytest.approx(2 / 3)
    assert found.hellinger == pytest.approx(sqrt(1 - sqrt(1 / 6)))
    assert (found.levels, found.lost, found.new) == (3, 2, 1)
    assert found.missing.difference == pytest.approx(0.25)


def test_columns_sum_up_what_each_column_shows():
    found = columns(pair_of(mixed(1), mixed(2), np.arange(300)))
    assert found.means.largest == max(abs(n.mean_difference) for n in found.numbers)
    assert found.category_distances.mean == pytest.approx(np.mean([c.distance for c in found.categories]))
    assert found.quantiles.count == 19 * len(found.numbers)
    assert found.missing.count == 6


@given(numbers, numbers)
def test_kolmogorov_smirnov_is_its_twin_and_symmetric(before, after):
    twin = max(abs(np.mean([b <= v for b in before]) - np.mean([a <= v for a in after])) for v in before + after)
    one, other = np.sort(np.array(before)), np.sort(np.array(after))
    assert kolmogorov_smirnov(one, other) == pytest.approx(twin)
    assert kolmogorov_smirnov(one, other) == kolmogorov_smirnov(other, one)
    assert kolmogorov_smirnov(one, one) == 0


@given(numbers)
def test_quantiles_are_numpys(values):
    assert quantiles(np.sort(np.array(values))) == pytest.approx(np.quantile(values, QUANTILES))


@given(counts, counts)
def test_distances_of_shares_are_symmetric_and_bound_each_other(before, after):
    one, other = np.array(before), np.array(after)
    variation, apart_ = total_variation(one, other), hellinger(one, other)
    assert variation == pytest.approx(total_variation(other, one))
    assert apart_ == pytest.approx(hellinger(other, one))
    assert apart_**2 <= variation + 1e-12  # a known inequality, as is the next
    assert variation <= sqrt(2) * apart_ + 1e-12
    assert hellinger(one, 3 * one) == pytest.approx(0, abs=1e-7)


def test_a_table_without_values_is_as_far_as_can_be():
    gone, there = np.array([]), np.array([1.0, 2.0])
    assert kolmogorov_smirnov(gone, there) == kolmogorov_smirnov(there, gone) == 1
    assert kolmogorov_smirnov(gone, gone) == total_variation(np.zeros(2), np.zeros(2)) == 0
    assert total_variation(np.zeros(2), np.ones(2)) == hellinger(np.ones(2), np.zeros(2)) == 1
    found = number_column(number("x", [1, 2]), number("x", [np.nan, np.nan]))
    assert isnan(found.mean.after)
    assert found.missing.after == 1


def test_the_unit_of_a_constant_column_is_the_spread_of_both_tables():
    # 4 times 5 and 4 times 9 around 7: squares 8 · 4, by 7: the unit is √(32/7), the mean moved by 4
    found = number_column(number("x", [5] * 4), number("x", [9] * 4))
    assert found.mean_difference == pytest.approx(4 / sqrt(32 / 7))
    assert found.deviation_difference == 0
    assert found.distance == 1
    assert number_column(number("x", [5] * 4), number("x", [5] * 4)).mean_difference == 0


def test_the_largest_floats_and_the_smallest_stay_finite():
    for size in (1e308, 1e-320):
        values = np.array([-1.7, 0.0, 1.7]) * size
        assert mean(values) == 0
        assert 0 < deviation(values) < np.inf
        assert np.isfinite(in_units(values, mean(values), unit(values, values))).all()
    assert np.isfinite(in_units(np.array([1e308, -1e308]), 0.0, 1e-300)).all()
    assert deviation(np.array([0.1] * 7)) == 0
    assert mean(np.array([0.1] * 7)) == 0.1


def test_differences_by_hand():
    # 201 values: 198 zeros, -1, -3, 4 -> worst 1 % are ceil(2.01) = 3 of them: (4 + 3 + 1) / 3
    found = differences([0.0] * 198 + [-1.0, -3.0, 4.0, np.nan])
    assert found.count == 201
    assert found.signed == 0
    assert found.mean == pytest.approx(8 / 201)
    assert found.worst == pytest.approx(8 / 3)
    assert found.largest == 4
    assert differences([]).count == 0
    assert isnan(differences([np.nan]).mean)
    assert isnan(worst_mean(np.array([])))


def test_heaps_by_hand():
    # 20 rows: 0 is held by 10 before and 2 after, 7 by 1 before (5 %, no heap) and 2 after (a heap)
    before = number("x", [0] * 10 + [7] + list(range(100, 109)))
    after = number("x", [0] * 2 + [7] * 2 + list(range(200, 216)))
    found = heaps(pair_of(table(before), table(after)))
    assert [(h.value, h.share.before, h.share.after) for h in found.heaps] == [(0.0, 0.5, 0.1), (7.0, 0.05, 0.1)]
    assert (found.gone, found.new) == (0, 1)
    assert found.differences.largest == pytest.approx(0.4)


@given(numbers, numbers)
def test_heaps_are_their_twin(before, after):
    one, other = Counter(before), Counter(after)
    twin = {
        v: (one[v] / len(before), other[v] / len(after))
        for v in before + after
        if max(one[v] / len(before), other[v] / len(after)) > 0.05
    }
    found = heaps_of(number("x", before), number("x", after))
    assert {h.value: (h.share.before, h.share.after) for h in found} == twin


def test_noise_spreads_a_heap_and_a_shuffle_keeps_it():
    rng = np.random.default_rng(4)
    values = np.where(rng.random(1000) < 0.3, 0, rng.normal(size=1000))
    original = table(number("x", values, None), category("c", ["k"] * 1000))
    noisy = original.replace([number("x", values + rng.normal(size=1000) / 100, None)])
    assert heaps(apart(original)).differences.largest == 0
    spread = heaps(pair_of(original, noisy))
    assert spread.gone == 1
    assert spread.differences.largest > 0.25


def test_ends_by_hand():
    # of 100 values 5 at each end: 1..5 and 96..100; the release doubles them. The unit is the sd of 1..100, √(10100/12)
    found = tails(pair_of(table(number("x", range(1, 101))), table(number("x", range(2, 202, 2)))))
    (end,) = found.columns
    assert (end.lowest.before, end.highest.before) == (3.0, 98.0)
    assert (end.lowest.after, end.highest.after) == (6.0, 196.0)
    assert end.highest_difference == pytest.approx(98 / sqrt(10100 / 12))
    assert found.lowest.largest == pytest.approx(3 / sqrt(10100 / 12))


@given(numbers)
def test_ends_are_their_twin(values):
    ordered, many = sorted(values), max(1, -(-len(values) // 20))
    assert ends(np.array(values)) == pytest.approx((np.mean(ordered[:many]), np.mean(ordered[-many:])))


def weighted():
    before = table(number("x", [1, 2, np.nan, 4]), category("c", ["a", "a", "b", None]), number("w", [1, 2, 3, 4]))
    after = table(number("x", [2, 2, 2, 2]), category("c", ["a", "b", "b", "b"]), number("w", [1, 1, 1, np.nan]))
    return before, after


def test_totals_by_hand():
    # before: 1·1 + 2·2 + 4·4 = 21 over weights 7 -> mean 3; after: 2·3 = 6 over 3 -> 2
    # a: 1 + 2 = 3 -> 1, so -2/3; b: 3 -> 2 (a missing weight is 0), so -1/3
    found = totals(pair_of(*weighted(), weight="w"))
    (x,) = found.numbers
    assert (x.total.before, x.total.after, x.mean.before, x.mean.after) == (21.0, 6.0, 3.0, 2.0)
    assert x.total_difference == pytest.approx(-15 / 21)
    assert x.mean_difference == pytest.approx(-1 / 3)
    assert [(c.level, c.count.before, c.count.after) for c in found.levels] == [("a", 3.0, 1.0), ("b", 3.0, 2.0)]
    assert found.counts.mean == pytest.approx((2 / 3 + 1 / 3) / 2)
    assert found.weights == "the release's own"


def test_totals_use_the_originals_weights_only_by_pairs():
    before, after = weighted()
    bare = after.replace([number("w", [np.nan] * 4)])
    paired = totals(pair_of(before, bare, np.arange(4), weight="w"))
    assert paired.weights == "the original's"
    assert paired.numbers[0].total.after == 2 * (1 + 2 + 3 + 4)
    lacking = replace(pair_of(before, after, np.arange(4), weight="w"), released=after.select(["x", "c"]))
    assert totals(lacking).weights == "the original's"
    assert totals(pair_of(before, bare, weight="w")).reason
    assert totals(pair_of(before, after)).reason == say("reason-no-weight")
    assert totals(pair_of(before, after, weight="c")).reason


def test_a_total_of_nothing_has_no_relative_change():
    before = table(number("x", [1, -1]), number("y", [0, 0]), number("w", [1, 1]))
    after = table(number("x", [1, 1]), number("y", [0, 0]), number("w", [1, 1]))
    x, y = totals(pair_of(before, after, weight="w")).numbers
    assert isnan(x.total_difference)
    assert y.total_difference == 0
