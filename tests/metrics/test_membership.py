"""Membership by distance: by hand, at its two ends, and its interval."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from leafcover.metrics.disclosure.membership_inference import found_at, membership, membership_of
from leafcover.metrics.pair import pair_of
from tests.metrics.attacks import awkward_pairs, check_sound, with_control
from tests.metrics.pairs import apart, copy_of
from tests.tables import mixed, number, table


def test_membership_by_hand():
    original = table(number("x", [0, 10, 5, 6]))
    released = table(number("x", [0, 10, 4, 8]))
    control = table(number("x", [1, 2, 7, 5]))
    pair = pair_of(original, released, np.arange(4), control=control)
    # Members: 0 and 10 are in the release, 5 is 1 from 4, 6 is 2 from 4 and 8.
    # Others: 1 is 1 from 0, 2 is 2 from 0 and 4, 7 is 1 from 8, 5 is 1 from 4.
    # To 0 and 10 all 4 others are farther, to 5 one and 3 are tied (2.5 of 4), to 6 none and one is tied (0.5 of 4).
    found = membership(pair)
    assert found.area.value == pytest.approx((4 + 4 + 2.5 + 0.5) / 16)
    # With one in a hundred others called: 2 of 4 members stand before all others; at distance 1 stand 3 of the others,
    # of whom 0.01 of 4 may be called, which finds 0.04 / 3 of the one member there.
    assert found.alarms.value == pytest.approx((2 + 0.04 / 3) / 4)
    assert (found.rows, found.of) == (4, 4)


@given(st.lists(st.integers(0, 5), min_size=1, max_size=8), st.lists(st.integers(0, 5), min_size=1, max_size=8))
def test_finding_at_a_rate_of_false_alarms_is_its_twin(inside, outside):
    members, others = np.array(inside, float), np.array(outside, float)
    for alarms in (0.0, 0.01, 0.3, 0.5, 1.0):
        # walk up the distances; the last is called by lot, as far as alarms allow
        left, found = alarms * len(others), 0.0
        for limit in sorted(set(inside) | set(outside)):
            here, wrong = (members == limit).sum(), (others == limit).sum()
            share = 1.0 if wrong <= left + 1e-12 else left / wrong
            found += share * here
            left -= share * wrong
            if share < 1:
                break
        assert found_at(members, others, alarms) == pytest.approx(found / len(members))


def test_members_of_a_copy_are_known_and_columns_shuffled_apart_know_nobody():
    copied = membership(with_control(copy_of, rows=800))
    assert copied.area.value > 0.99
    assert copied.accuracy.value > 0.99
    assert copied.advantage.low > 0.97
    assert copied.alarms.value > 0.99
    shuffled = membership(with_control(apart, rows=800))
    assert shuffled.area.low <= 0.5 <= shuffled.area.high
    assert shuffled.accuracy.low <= 0.5 <= shuffled.accuracy.high
    assert shuffled.advantage.low <= 0.0 <= shuffled.advantage.high
    assert shuffled.alarms.value < 0.04


def test_the_interval_holds_the_area_and_a_small_shift_is_caught():
    rng = np.random.default_rng(1)
    areas = [membership_of(rng.random(100), rng.random(100)).area for _ in range(600)]
    assert 0.94 < np.mean([a.low <= 0.5 <= a.high for a in areas]) <= 1.0
    shifted = membership_of(rng.normal(0, 1, 2000), rng.normal(0.3, 1, 2000))
    assert shifted.area.low > 0.5
    assert shifted.area.low <= 0.584 <= shifted.area.high  # of two normal laws, Phi(0.3 / sqrt 2)
    assert shifted.accuracy.low <= 0.5596 <= shifted.accuracy.high  # Phi(0.15)


def test_the_limit_is_tried_on_people_it_was_not_chosen_on():
    # Chosen and tried on the same few people, pure noise would look like an advantage.
    rng = np.random.default_rng(2)
    advantages = [membership_of(rng.random(20), rng.random(20)).advantage.value for _ in range(400)]
    assert abs(np.mean(advantages)) < 0.05


def test_as_many_members_as_others():
    pair = copy_of(mixed(1, rows=300), control=mixed(2, rows=50))
    found = membership(pair)
    assert (found.rows, found.of, found.area.tries) == (50, 300, 50)
    assert membership(pair, most=20).rows == 20


def test_without_control_there_is_none():
    assert membership(copy_of(mixed(1))) is None


def test_awkward_tables_have_figures():
    for _, pair in awkward_pairs():
        if pair.control is not None:
            check_sound(membership(pair))
