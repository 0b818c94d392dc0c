"""Figures behind "at most" are never too small, and not much too large."""

from math import exp

from hypothesis import given
from hypothesis import strategies as st

from leafcover.survey.consent_text import percent_upwards, times, upwards


@given(st.floats(0.01, 13.8))
def test_times_are_never_told_too_small_nor_far_too_large(epsilon: float) -> None:
    told = float(times(epsilon).replace(",", ""))
    assert exp(epsilon) * (1 - 1e-8) <= told <= exp(epsilon) * 1.11


@given(st.floats(0.0001, 0.9999))
def test_per_cent_are_never_told_too_small_nor_as_all(chance: float) -> None:
    told = float(percent_upwards(chance)) / 100
    assert chance - 1e-9 <= told < 1
    assert told - chance <= 0.1 * min(chance, 1 - chance) + 1e-9
    assert percent_upwards(1.0) == "100"


def test_per_cent_of_the_smallest_and_the_largest_chance_can_be_told() -> None:
    assert float(percent_upwards(5e-324)) <= 1e-12
    assert percent_upwards(1 - 2**-53).startswith(("99.99", "100"))


@given(st.floats(0.01, 100))
def test_an_epsilon_is_never_told_too_small(epsilon: float) -> None:
    assert epsilon - 1e-8 <= float(upwards(epsilon)) <= epsilon + 0.01
