"""Membership by distance: by hand, at its two ends, and its interval."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from leafcover.metrics.disclosure.copies import copies
from leafcover.metrics.disclosure.membership_inference import (
    _exact,
    _nearest,
    folds,
    found_at,
    membership,
    membership_of,
    presence,
)
from leafcover.metrics.pair import pair_of
from leafcover.metrics.summary import attempts, strongest
from leafcover.perturb.deal import shared_values
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


# By values, against a sample of the population.


def test_ratios_by_hand():
    released, reference, asked = (np.array(list(text)) for text in ("aaab", "abbb", "abc"))
    prior = (np.array([4, 4, 0]) + 0.5) / (8 + 0.5 * 3)
    ours, theirs = np.array([3, 1, 0]), np.array([1, 3, 0])
    expected = np.log((ours + 0.1 * prior) / 4.1) - np.log((theirs + 100 * prior) / 104)
    assert _exact(released, reference, asked) == pytest.approx(expected)


def test_a_number_counts_as_the_nearest_released_one():
    released, reference = number("x", [1, 1, 5, 9]), number("x", [0, 2, 4, 6, 7.5])
    asked = number("x", [0, 2.9, 3.1, 100, np.nan])
    ours, theirs = np.array([2, 1, 1]), np.array([2, 2, 1])  # nearest to 1, 5 and 9
    prior = (9 - ours - theirs + 0.5) / 2 / 9  # the mean of the two others
    ratio = np.log((ours + 0.1 * prior) / 4.1) - np.log((theirs + 100 * prior) / 105)
    assert _nearest(released, reference, asked) == pytest.approx([*ratio[[0, 0, 1, 2]], 0.0])


def test_exact_values_give_members_away_and_shared_ones_do_so_less():
    rng = np.random.default_rng(4)
    made = [table(number("x", rng.normal(size=1500), None), number("y", rng.integers(0, 5, 1500))) for _ in range(2)]
    exact = presence(apart(made[0], control=made[1]))  # every column permuted on its own
    assert (exact.exact, exact.area.value) == (True, pytest.approx(1.0, abs=0.01))
    assert exact.found.value > 0.99
    shared = made[0].replace([replace(made[0]["x"], values=shared_values(made[0]["x"], 5))])
    found = presence(pair_of(made[0], shared, control=made[1]))
    assert not found.exact
    assert 0.49 < found.area.value < 0.6


def test_a_release_of_other_people_reveals_nobody():
    rng, found = np.random.default_rng(5), []
    for _ in range(30):
        people = mixed(int(rng.integers(1 << 30)), rows=900, missing=0.1)
        pair = pair_of(
            *(people.take(np.arange(i, i + 300)) for i in (0, 300)), control=people.take(np.arange(600, 900))
        )
        found.append(presence(pair))
    assert np.mean([one.area.value for one in found]) == pytest.approx(0.5, abs=0.02)
    assert np.mean([one.found.value for one in found]) == pytest.approx(0.01, abs=0.01)
    assert np.mean([one.area.low <= 0.5 <= one.area.high for one in found]) > 0.85


def test_the_sample_has_nobody_who_is_judged_by_it():
    sampled = np.array([1, 4, 5, 8, 9])
    (first, without_first), (second, without_second) = folds(sampled, 10)
    assert sorted([*first, *second]) == [0, 1, 2, 3, 4]
    assert set(sampled[first]) | set(without_first) == set(range(10)) == set(sampled[second]) | set(without_second)
    assert not set(sampled[first]) & set(without_first)


def test_presence_joins_the_attacks_that_decide():
    pair = apart(mixed(1, rows=400).select(["noise", "class"]), control=mixed(2, rows=400).select(["noise", "class"]))
    found = membership(pair)
    risks = attempts(linked=None, inferred=(), informed=None, membership=found, copied=copies(pair))
    member = next(one for one in strongest(list(risks)) if one.kind == "membership")
    assert (member.method, member.risk.value) == ("presence", pytest.approx(found.presence.found.value - 0.01))
    assert member.risk.value > found.alarms.value


def test_without_control_there_is_none():
    assert membership(copy_of(mixed(1))) is None


def test_awkward_tables_have_figures():
    for _, pair in awkward_pairs():
        if pair.control is not None:
            check_sound(membership(pair))
