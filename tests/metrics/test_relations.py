"""Relations and pairs of values: against hand-worked tables and slow twins, and bounded where columns are many."""

from itertools import combinations
from math import sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from leafcover.metrics.pair import pair_of
from leafcover.metrics.utility import bivariate as associations
from leafcover.metrics.utility.bivariate import (
    centred,
    column_pairs,
    correlation,
    correlation_ratio,
    cramers_v,
    joint_counts,
    relations,
    value_pairs,
)
from tests.metrics.pairs import apart, copy_of, tables
from tests.tables import category, mixed, mixed_tables, number, table

some = st.lists(
    st.tuples(
        st.sampled_from([-1, 0, 1, 2]),
        st.sampled_from([-1, 0, 1, 3]),
        st.sampled_from([np.nan, -1.0, 0.0, 2.0, 5.0]),
        st.sampled_from([np.nan, 1.0, 2.0, 3.5]),
    ),
    min_size=1,
    max_size=25,
)


def as_arrays(rows):
    first, second, x, y = zip(*rows, strict=True)
    return np.array(first, np.int32), np.array(second, np.int32), np.array(x), np.array(y)


def test_associations_by_hand():
    # [[3, 1], [1, 3]]: χ² = 8·(9-1)²/(4·4·4·4) = 2, V = √(2/8)
    first = np.array([0] * 4 + [1] * 4, np.int32)
    second = np.array([0, 0, 0, 1, 0, 1, 1, 1], np.int32)
    assert cramers_v(first, second) == pytest.approx(0.5)
    # levels {1, 3} and {5, 7}: between 2·(2-4)² + 2·(6-4)² = 16, whole 9+1+1+9 = 20
    codes = np.array([0, 0, 1, 1], np.int32)
    assert correlation_ratio(codes, centred(np.array([1.0, 3.0, 5.0, 7.0]))) == pytest.approx(sqrt(16 / 20))
    # x - 2: -1 0 1, y - 2: -1 1 0 -> 1 / √(2·2)
    assert correlation(np.array([1.0, 2.0, 3.0]), np.array([1.0, 3.0, 2.0])) == pytest.approx(0.5)


@given(some)
def test_associations_are_their_twins(rows):
    first, second, x, y = as_arrays(rows)
    known = [(a, b) for a, b in zip(x, y, strict=True) if not np.isnan(a + b)]
    one, other = ([pair[i] for pair in known] for i in (0, 1))
    varies = len(set(one)) > 1 and len(set(other)) > 1
    assert correlation(x, y) == pytest.approx(np.corrcoef(one, other)[0, 1] if varies else 0.0)
    assert cramers_v(first, second) == pytest.approx(twin_of_cramer(first, second))
    assert cramers_v(first, second) == pytest.approx(cramers_v(second, first))
    assert correlation_ratio(first, centred(x)) == pytest.approx(twin_of_ratio(first, x), abs=1e-12)


def twin_of_cramer(first, second):
    rows = [(a, b) for a, b in zip(first, second, strict=True) if a >= 0 and b >= 0]
    ones, others = sorted({a for a, _ in rows}), sorted({b for _, b in rows})
    if min(len(ones), len(others)) < 2:
        return 0.0
    levels = min(len({a for a in first if a >= 0}), len({b for b in second if b >= 0}))
    square = 0.0
    for a in ones:
        for b in others:
            expected = sum(r[0] == a for r in rows) * sum(r[1] == b for r in rows) / len(rows)
            square += (rows.count((a, b)) - expected) ** 2 / expected
    return sqrt(square / len(rows) / (levels - 1))


def twin_of_ratio(codes, values):
    rows = [(c, v) for c, v in zip(codes, values, strict=True) if c >= 0 and not np.isnan(v)]
    if len({v for _, v in rows}) < 2:
        return 0.0
    middle = np.mean([v for _, v in rows])
    groups = [[v for c, v in rows if c == code] for code in {c for c, _ in rows}]
    return sqrt(sum(len(g) * (np.mean(g) - middle) ** 2 for g in groups) / sum((v - middle) ** 2 for _, v in rows))


@given(some)
def test_counting_by_sorting_gives_the_same(rows):
    first, second, *_ = as_arrays(rows)
    direct = joint_counts(first, second)
    limits = associations.DENSE, associations.SMALL
    associations.DENSE, associations.SMALL = 0, 0
    try:
        places, counts, width = joint_counts(first, second)
    finally:
        associations.DENSE, associations.SMALL = limits
    assert (places.tolist(), counts.tolist(), width) == (direct[0].tolist(), direct[1].tolist(), direct[2])


def test_relations_by_hand():
    # x, y before: correlation 1/2, sds both 1, covariance 1/2. After: x doubled and y turned: correlation -1/2,
    # covariance -1, in the original's standard deviations.
    before = table(number("x", [1, 2, 3]), number("y", [1, 3, 2]), number("same", [4, 4, 4]))
    after = table(number("x", [2, 4, 6]), number("y", [-1, -3, -2]), number("same", [4, 4, 4]))
    found = relations(pair_of(before, after))
    assert [(e.first, e.second, e.figure) for e in found.entries] == [
        ("x", "y", "correlation"),
        ("x", "y", "covariance"),
    ]
    assert [e.before for e in found.entries] == pytest.approx([0.5, 0.5])
    assert [e.after for e in found.entries] == pytest.approx([-0.5, -1.0])
    assert found.correlations.largest == pytest.approx(1.0)
    assert found.covariances.largest == pytest.approx(1.5)
    assert (found.rows, found.pairs, found.of_pairs, found.how) == (3, 1, 1, "every row")


def test_a_column_that_became_constant_has_lost_its_relations():
    before = table(number("x", [1, 2, 3, 4]), category("c", ["a", "a", "b", "b"]))
    after = table(number("x", [1, 2, 3, 4]), category("c", ["a"] * 4))
    (entry,) = relations(pair_of(before, after)).entries
    assert entry.figure == "correlation ratio"
    assert entry.before == pytest.approx(sqrt(4 / 5))
    assert entry.after == 0


def test_columns_shuffled_apart_lose_every_relation():
    found = relations(apart(mixed(3, rows=4000, missing=0.0)))
    assert max(e.after for e in found.entries) < 0.1
    worst = found.worst(1)[0]
    assert (worst.first, worst.second) == ("age", "town")
    assert worst.difference < -0.5
    assert found.every.largest == pytest.approx(-worst.difference)


def test_missing_values_leave_the_relation_of_the_others():
    full = mixed(8, rows=2000, missing=0.0)
    holes = mixed(8, rows=2000, missing=0.2)
    assert relations(pair_of(full, holes)).every.largest < 0.06


def test_many_columns_and_rows_are_bounded_by_names_alone():
    pair = copy_of(mixed(2, rows=500))
    found = relations(pair, most_pairs=4, most_work=4 * 100)
    assert (found.pairs, found.of_pairs, found.rows, found.of) == (4, 15, 100, 500)
    assert found.how == "a sample of 100 of 500 rows"
    assert column_pairs("abcdef", 4) == column_pairs("fdbeca", 4)
    assert len(set(column_pairs("abcdef", 4))) == 4
    assert column_pairs([]) == ()


def test_value_pairs_by_hand():
    # the release shows (a, 2) in one row of four and (c, 1) in another; it lost (b, 1) of two original rows.
    # A missing partner makes no pair. No number beside "wide" has more than 20 values.
    before = table(
        category("k", ["a", "b", "b", "c", "c"]), number("n", [1, 1, 1, np.nan, 2]), number("wide", range(5))
    )
    after = table(category("k", ["a", "a", "c", "b", "c"]), number("n", [1, 2, 1, np.nan, 2]), number("wide", range(5)))
    found = value_pairs(pair_of(before.select(["k", "n"]), after.select(["k", "n"])))
    (entry,) = found.entries
    assert (entry.new, entry.new_rows, entry.lost, entry.lost_rows) == (2, 2, 1, 2)
    assert (found.new, found.rows_with_new, found.lost, found.rows_with_lost) == (2, 0.4, 1, 0.4)
    assert (found.new_a_row, found.new_in_worst_rows) == (0.4, 1.0)
    assert found.worst() == (entry,)


def test_a_value_left_out_makes_no_pair():
    full, holes = mixed(5, rows=200, missing=0.0), mixed(5, rows=200, missing=0.3)
    assert value_pairs(pair_of(full, holes)).rows_with_new == 0
    assert value_pairs(pair_of(holes, full)).rows_with_lost == 0


def test_numbers_with_many_values_make_no_pairs():
    before = table(number("few", [1, 2] * 20), number("many", range(40)), category("k", ["a", "b"] * 20))
    spread = before.replace([number("few", np.linspace(1, 2, 40), None)])
    assert value_pairs(pair_of(before, before)).columns == ("few", "k")
    assert value_pairs(pair_of(before, spread)).columns == ("k",)
    assert value_pairs(pair_of(before, before), most_work=40).pairs == 1


@given(mixed_tables(max_rows=12), st.randoms(use_true_random=False), st.booleans())
def test_value_pairs_are_their_twin(original, random, by_sorting):
    released = original.take(np.arange(len(original)))
    moved = [c.take(np.array([random.randrange(len(c)) for _ in range(len(c))])) for c in released]
    pair = pair_of(original, released.replace(moved))
    from leafcover.metrics.utility import bivariate as module

    limits = module.DENSE, module.SMALL
    if by_sorting:
        module.DENSE, module.SMALL = 0, 0
    try:
        found = value_pairs(pair)
    finally:
        module.DENSE, module.SMALL = limits
    rows_with_new, new, lost = twin_of_value_pairs(pair, found.columns)
    assert (found.new, found.lost) == (new, lost)
    assert found.rows_with_new == pytest.approx(rows_with_new)


def twin_of_value_pairs(pair, names):
    def shown(source, i, one, two):
        first, second = source[one], source[two]
        return None if first.missing[i] or second.missing[i] else (one, two, first.values[i], second.values[i])

    every = list(combinations(names, 2))
    rows = range(len(pair.original))
    before = {shown(pair.original, i, *names) for i in rows for names in every} - {None}
    after = {shown(pair.released, i, *names) for i in rows for names in every} - {None}
    marked = [any(shown(pair.released, i, *names) in after - before for names in every) for i in rows]
    return np.mean(marked), len(after - before), len(before - after)


@pytest.mark.parametrize("name", tables())
def test_exchanging_the_tables_turns_every_difference_round(name):
    original = tables()[name]
    there = apart(original)
    back = pair_of(there.released, there.original)
    one, other = relations(there), relations(back)
    assert other.every.signed == pytest.approx(-one.every.signed)
    assert other.every.worst == pytest.approx(one.every.worst)
    new, old = value_pairs(there), value_pairs(back)
    assert (new.new, new.lost, new.rows_with_new) == (old.lost, old.new, old.rows_with_lost)


def test_shuffling_one_column_makes_pairs_that_never_were():
    original = table(category("a", list("xyxyxyxyxy")), category("b", list("pqpqpqpqpq")))
    assert value_pairs(apart(original, seed=3)).rows_with_new > 0.2
    assert value_pairs(copy_of(original)).rows_with_new == 0
