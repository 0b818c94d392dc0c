"""Two column sets joined through a release: by hand, against a twin that tries all draws, and at both ends."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from leafcover.errors import NameUnknown, ValueOutOfRange
from leafcover.metrics.disclosure.singling_out import column_sets, two_halves
from leafcover.metrics.pair import SEED, pair_of
from tests.metrics.attacks import awkward_pairs, check_sound, with_control
from tests.metrics.pairs import apart, copy_of, reordered
from tests.tables import category, mixed, mixed_tables, number, table


def test_column_sets_by_hand():
    original = table(number("a", [0, 10, 20]), number("b", [0, 20, 10]))
    released = table(number("a", [0, 10, 20]), number("b", [0, 10, 20]))
    pair = pair_of(original, released, np.arange(3))
    # The first person's halves both find row 0. The second's find rows 1 and 2, the third's rows 2 and 1.
    found = column_sets(pair, ["a"], ["b"])
    assert found.attack.main.value == pytest.approx(1 / 3)
    assert found.attack.baseline.value == pytest.approx(1 / 3)
    assert found.attack.control is None
    # With two rows each, row 1 is among the nearest of every half but perhaps the second ones of 10.
    assert column_sets(pair, ["a"], ["b"], count=2).attack.main.value == 1.0
    assert column_sets(pair, ["a"], ["b"], count=2).attack.baseline.value == 1.0
    # When all released rows are alike in b, the row found by a is drawn with chance 1 in 3.
    blank = pair_of(original, table(number("a", [0, 10, 20]), number("b", [5, 5, 5])), np.arange(3))
    assert column_sets(blank, ["a"], ["b"]).attack.main.value == pytest.approx(1 / 3)
    assert (found.one, found.other, found.count, found.rows, found.of) == (("a",), ("b",), 1, 3, 3)


def test_chance_by_hand():
    # Two sets of 2 of 5 rows miss each other in C(3, 2) of C(5, 2) cases: 3 of 10.
    original = table(number("a", [0, 1, 2, 3, 4]), number("b", [1, 1, 1, 1, 1]))
    assert column_sets(copy_of(original), ["a"], ["b"], count=2).attack.baseline.value == pytest.approx(0.7)
    assert column_sets(copy_of(original), ["a"], ["b"], count=2).attack.main.value == pytest.approx(0.7)


def distances(pair, people, i, names):
    found = []
    for j in range(len(pair.released)):
        total = 0.0
        for name in names:
            a, b = people[name].values[i], pair.released[name].values[j]
            if people[name].is_category or np.isnan(a) or np.isnan(b):
                total += a != b and not (np.isnan(a) and np.isnan(b))
            else:
                low, high = pair.original[name].domain
                total += abs(a - b) / ((high - low) if high > low else 1.0)
        found.append(round(total / 1e-9))
    return found


def twin(pair, people, one, other, count):
    """The first half's ties in the attack's own order, the second half's in every order."""
    order = list(np.random.default_rng(SEED).permutation(len(pair.released)))
    chances = []
    for i in range(len(people)):
        first = distances(pair, people, i, one)
        rows = set(sorted(order, key=lambda j: (first[j], order.index(j)))[:count])
        second = distances(pair, people, i, other)
        limit = sorted(second)[count - 1]
        sure = {j for j, d in enumerate(second) if d < limit}
        tied = [j for j, d in enumerate(second) if d == limit]
        draws = [sure | set(c) for c in combinations(tied, count - len(sure))]
        chances.append(np.mean([bool(rows & draw) for draw in draws]))
    return np.mean(chances)


@given(mixed_tables(max_rows=8), st.integers(1, 3), st.randoms(use_true_random=False))
def test_column_sets_are_their_twin(original, count, random):
    rows = len(original)
    released = original.take(np.array([random.randrange(rows) for _ in range(rows)]))
    control = original.take(np.array([random.randrange(rows) for _ in range(3)]))
    pair = pair_of(original, released, np.arange(rows), control=control)
    one, other = ["whole", "kind"], ["cents", "class", "other"]
    found = column_sets(pair, one, other, count=count)
    assert found.attack.main.value == pytest.approx(twin(pair, pair.original, one, other, count))
    assert found.attack.control.value == pytest.approx(twin(pair, pair.control, one, other, count))


def test_a_copy_joins_the_halves_and_columns_shuffled_apart_do_not():
    halves = ["age", "pay", "town"], ["noise", "job", "class"]
    copied = column_sets(with_control(copy_of), *halves)
    assert copied.attack.main.value > 0.97
    assert copied.attack.above_control.low > 0.8
    shuffled = column_sets(with_control(apart, rows=1500), *halves)
    assert shuffled.attack.main.value < 0.01
    assert shuffled.attack.main.low <= shuffled.attack.baseline.high
    assert shuffled.attack.above_control.low <= 0.0 <= shuffled.attack.above_control.high


def test_which_half_is_named_first_does_not_matter_without_ties():
    pair = pair_of(mixed(4, missing=0.0), mixed(4, missing=0.0), np.arange(300))
    halves = ["age", "pay"], ["noise", "job"]
    one, other = column_sets(pair, *halves), column_sets(pair, *halves[::-1])
    assert one.attack.main.value == pytest.approx(other.attack.main.value)


def test_more_rows_looked_at_join_more():
    pair = pair_of(mixed(4), mixed(5), np.arange(300), target="class")
    values = [column_sets(pair, count=count).attack.main.value for count in (1, 5, 20)]
    assert values == sorted(values)
    assert values[0] < values[-1]
    assert column_sets(pair, count=1000).attack.main.value == 1.0  # every row is looked at


def test_keys_are_dealt_to_both_parties():
    pair = copy_of(mixed(1), target="class")
    one, other = two_halves(pair)
    assert set(one) | set(other) == set(pair.quasi_identifiers)
    assert abs(len(one) - len(other)) <= 1
    assert one[0] == "noise"  # most distinct values
    assert two_halves(reordered(pair)) == (one, other)
    assert column_sets(pair, ["age"]).other == tuple(n for n in pair.quasi_identifiers if n != "age")
    assert column_sets(pair, other=["age"]).one == tuple(n for n in pair.quasi_identifiers if n != "age")


def test_wrong_sets_are_refused():
    pair = copy_of(table(number("x", [1, 2]), category("c", ["a", "b"])))
    with pytest.raises(NameUnknown, match="There is no column 'd'"):
        column_sets(pair, ["x"], ["d"])
    with pytest.raises(ValueOutOfRange, match="first party"):
        column_sets(pair, ["x"], ["x"])
    with pytest.raises(ValueOutOfRange, match="count"):
        column_sets(pair, count=0)


def test_awkward_tables_have_figures():
    for _, pair in awkward_pairs():
        check_sound(column_sets(pair))
        check_sound(column_sets(pair, count=3))


def test_large_tables_are_attacked_by_a_sample():
    found = column_sets(copy_of(mixed(1, rows=1000), target="class"), most=100)
    assert (found.rows, found.of) == (100, 1000)
