"""Interval disclosure by hand, against a twin that sorts and cuts, and at its two ends."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import leafcover as lc
from leafcover.errors import ValueOutOfRange
from leafcover.metrics.disclosure.interval_disclosure import intervals, ranks_apart, within_deviations
from leafcover.metrics.pair import pair_of
from tests.metrics.pairs import apart, awkward, copy_of, reordered, tables
from tests.tables import category, number, table


def naive_share(before, after):
    """For each width the interval itself: from the released value so many ranks below to the one so many above."""
    released = sorted(after)
    count = len(released)
    found = []
    for x, y in zip(before, after, strict=True):
        inside = []
        for percent in range(1, 11):
            reach = percent * count // 100
            first = released.index(y)
            last = count - 1 - released[::-1].index(y)
            inside.append(released[max(0, first - reach)] <= x <= released[min(count - 1, last + reach)])
        found.append(np.mean(inside))
    return np.mean(found)


@given(st.integers(1, 80), st.integers(1, 12), st.randoms(use_true_random=False))
def test_rank_intervals_are_their_twin(rows, spread, random):
    before = np.array([random.randrange(spread) for _ in range(rows)], float)
    after = np.array([x + random.randrange(-3, 4) for x in before], float)
    original, released = table(number("x", before)), table(number("x", after))
    found = intervals(pair_of(original, released, np.arange(rows)))
    assert found.columns[0].rank.value == pytest.approx(naive_share(before, after))
    assert found.rank.value == pytest.approx(found.columns[0].rank.value)  # one number is the whole record


def test_ranks_by_hand():
    # released 10 20 20 30 50, ranks 0 [1 2] 3 4. Original 10: at home. Original 30 at the second 20: the next rank up
    # from its highest. Original 10 at 30: down from rank 3 to rank 0. Original 25 at 50: 20 is the first not above, its
    # highest rank is 2, two below 4. Original 60 lies beyond all.
    before = np.array([10.0, 60.0, 30.0, 10.0, 25.0])
    after = np.array([10.0, 20.0, 20.0, 30.0, 50.0])
    assert ranks_apart(before, after) == pytest.approx([0, np.inf, 1 / 5, 3 / 5, 2 / 5])


def test_deviations_and_records_by_hand():
    # x released 0 and 2 twice: standard deviation 1, half-width 0.5; rows 0, 1, 3 inside, row 2 not
    # y is missing in both tables in row 1 (passed over), in one of them in row 3 (not disclosed)
    original = table(
        number("x", [0.5, 2.0, 0.6, 2.0], 1), number("y", [1.0, np.nan, 1.0, 4.0]), category("c", ["a", "b", "c", "d"])
    )
    released = table(
        number("x", [0.0, 2.0, 0.0, 2.0], 1),
        number("y", [1.0, np.nan, 1.0, np.nan]),
        category("c", ["b", "b", "b", "b"]),
    )
    found = intervals(pair_of(original, released, np.arange(4)), deviations=0.5)
    by_name = {c.column: c for c in found.columns}
    assert by_name["x"].deviation.value == pytest.approx(3 / 4)
    assert (by_name["y"].deviation.value, by_name["y"].deviation.tries) == (1.0, 2)
    assert found.deviation.value == pytest.approx(2 / 4)  # rows 0 and 1
    assert found.deviation.tries == 4


def test_huge_numbers_do_not_overflow():
    near = within_deviations(np.array([1e308, -1e308, 0.0]), np.array([1e308, 1e308, -1e308]), 0.05)
    assert list(near) == [True, False, False]


@pytest.mark.parametrize("name", [*tables(), *awkward()])
def test_a_copy_is_disclosed(name):
    found = intervals(copy_of({**tables(), **awkward()}[name], target="class"))
    for risk in (found.rank, found.deviation, *(r for c in found.columns for r in (c.rank, c.deviation))):
        assert risk.value == 1.0 or risk.tries == 0
        assert np.isfinite([risk.low, risk.high]).all()


def test_shuffled_columns_are_disclosed_by_chance():
    found = intervals(apart(tables()["full"]))
    for column in found.columns:
        assert abs(column.rank.value - column.rank_chance.value) < 0.06
        assert abs(column.deviation.value - column.deviation_chance.value) < 0.06
    # about 2 p % of the ranks are inside, a little less at the ends: 11 % on average over the widths, for all-different
    # numbers
    assert 0.08 < next(c for c in found.columns if c.column == "noise").rank_chance.value < 0.14
    assert found.rank.value < 0.03
    assert found.deviation.value < 0.02


def test_order_does_not_matter_and_the_worst_column_stands_first():
    pair = copy_of(tables()["with missing values"])
    noisy = np.random.default_rng(1).normal(0, 20, len(pair.original))
    moved = table(*(number(c.name, c.values + noisy, None) if c.name == "age" else c for c in pair.released))
    pair = pair_of(pair.original, moved, np.arange(len(moved)))
    first, again = intervals(pair), intervals(reordered(pair))
    assert [c.column for c in first.columns][-1] == "age"
    assert first.rank == again.rank
    assert first.deviation == again.deviation
    assert [(c.column, c.rank) for c in first.columns] == [(c.column, c.rank) for c in again.columns]


def test_samples_and_pairs_and_bounds():
    original = tables()["full"]
    assert intervals(pair_of(original, original, None)) is None
    assert intervals(copy_of(original), most=50).how == "a sample of 50 of 400 rows"
    with pytest.raises(ValueOutOfRange, match="deviations"):
        intervals(copy_of(original), deviations=0.0)


def test_a_recoded_number_is_confined_to_its_interval():
    """By hand: 100 ages, intervals of 2, 8 and 90 rows, of which only the first is narrow at 1 % to either side."""
    ages = np.concatenate([[1.0, 2.0], np.arange(10.0, 18.0), np.linspace(20, 199, 90)])
    people = lc.from_frame(pa.table({"age": ages, "job": ["a", "b"] * 50}))
    made = lc.release(people, lc.Plan(recode=[lc.Intervals("age", edges=[5, 19])]), seed=1)
    found = lc.measure(people, made, only=["interval_disclosure"])["interval_disclosure"].columns
    assert [one.column for one in found] == ["age"]
    shares = np.repeat([0.01, 0.04, 0.45], [2, 8, 90])  # half of the rows of each interval
    expected = np.mean([shares <= p / 100 + 1e-12 for p in range(1, 11)])
    assert found[0].rank.value == pytest.approx(expected)
    narrow = np.repeat([0.5, 3.5, 89.5], [2, 8, 90]) <= 0.05 * ages.std()
    assert found[0].deviation.value == pytest.approx(narrow.mean())
    assert found[0].rank_chance.value < found[0].rank.value


def test_a_recoded_number_that_was_dealt_is_not_confined():
    ages = np.random.default_rng(0).integers(0, 200, 200).astype(float)
    people = lc.from_frame(pa.table({"age": ages, "job": ["a", "b"] * 100}))
    step = lc.Step("age", within=lc.Whole(), perturb=lc.Shuffle())
    made = lc.release(people, lc.Plan(step, recode=[lc.Intervals("age", width=20)]), seed=1)
    assert lc.measure(people, made, only=["interval_disclosure"])["interval_disclosure"].columns == ()
