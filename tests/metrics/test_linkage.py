"""Linkage against its twins, by hand, and at its two ends: a copy is linked, independent columns are not."""

from itertools import permutations
from math import isnan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from leafcover.metrics.disclosure.record_linkage import chance_among, distance_linkage, linkage, optimal_linkage
from leafcover.metrics.estimates import wilson
from leafcover.metrics.pair import pair_of
from leafcover.table.table import Table
from tests.metrics.pairs import apart, awkward, copy_of, reordered, tables
from tests.tables import category, mixed, mixed_tables, number
from tests.tables import table as table_of

NAMES = ["whole", "cents", "kind", "other"]


def distances(original, released, columns):
    """Every pair of rows, one column after the other."""
    found = np.zeros((len(original), len(released)))
    for name in columns:
        for i in range(len(original)):
            for j in range(len(released)):
                a, b = original[name].values[i], released[name].values[j]
                if original[name].is_category:
                    found[i, j] += a != b
                    continue
                low, high = original[name].domain
                if np.isnan(a) or np.isnan(b):
                    found[i, j] += float(np.isnan(a) != np.isnan(b))
                else:
                    found[i, j] += abs(a - b) / ((high - low) if high > low else 1.0)
    return found


def twin(original, released, source, columns):
    """The own row's chance to be the nearest, and to be one of the two nearest."""
    first, second = [], []
    for i, row in enumerate(distances(original, released, columns)):
        own = list(source).index(i)
        nearer = [j for j in range(len(row)) if row[j] < row[own] - 1e-9]
        level = [j for j in range(len(row)) if abs(row[j] - row[own]) <= 1e-9]
        orders = [[*nearer, *level[k:], *level[:k]] for k in range(len(level))]  # each of the level rows first once
        first.append(np.mean([own in order[:1] for order in orders]))
        second.append(np.mean([own in order[:2] for order in orders]))
    return np.mean(first), np.mean(second)


@given(mixed_tables(max_rows=15), st.randoms(use_true_random=False))
def test_linkage_is_its_twin(table, random):
    source = np.array(random.sample(range(len(table)), len(table)))
    released = table.take(np.array([random.randrange(len(table)) for _ in range(len(table))]))
    pair = pair_of(table, released, source)
    first, second = twin(table, released, source, NAMES)
    assert linkage(pair, columns=NAMES).value == pytest.approx(first)
    found = distance_linkage(pair, columns=NAMES)
    assert found.nearest.value == pytest.approx(first)
    assert found.second.value == pytest.approx(second)
    assert found.nearest.value <= found.second.value


@given(mixed_tables(max_rows=6), st.randoms(use_true_random=False))
def test_optimal_linkage_is_one_of_the_best_pairings(table, random):
    rows = len(table)
    source = np.array(random.sample(range(rows), rows))
    released = table.take(np.array([random.randrange(rows) for _ in range(rows)]))
    pair = pair_of(table, released, source)
    full = distances(pair.original, pair.released, NAMES)
    totals = {order: full[np.arange(rows), list(order)].sum() for order in permutations(range(rows))}
    best = [order for order, total in totals.items() if total <= min(totals.values()) + 1e-9]
    hits = {np.mean([j == i for i, j in enumerate(order)]) for order in best}
    assert optimal_linkage(pair, columns=NAMES).value in [pytest.approx(h) for h in hits]


def test_by_hand():
    # x ranges over 0 to 10, so a difference of 1 is 0.1; a colour that differs is 1. Released rows, in people's order:
    #   person   knows        released     distances to the four released rows     own      closer   level
    #   0        (0, red)     (1, red)     0.1  0.2  1.5  1.0                       0.1      0        0
    #   1        (2, red)     (2, red)     0.1  0.0  1.3  1.2                       0.0      0        0
    #   2        (1, red)     (5, blue)    0.0  0.1  1.4  1.1                       1.4      3        0
    #   3        (10, blue)   (0, blue)    1.9  1.8  0.5  1.0                       1.0      1        0
    # The nearest row is the own for 0 and 1; the second nearest is for 3.
    # Pairings: person 2 lies nearest to row 0, but taken as a whole 0→0, 1→1 leave 2 and 3 the blue rows:
    # 2→2, 3→3 costs 0.1 + 0 + 1.4 + 1.0 = 2.5, 2→3, 3→2 costs 0.1 + 0 + 1.1 + 0.5 = 1.7, 0→3, 2→0, 3→2 the least with
    # 1.0 + 0 + 0 + 0.5 = 1.5: only person 1 is paired with the own row.
    original = table_of(number("x", [0, 2, 1, 10]), category("colour", ["red", "red", "red", "blue"]))
    released = table_of(number("x", [1, 2, 5, 0]), category("colour", ["red", "red", "blue", "blue"]))
    found = distance_linkage(pair_of(original, released, np.arange(4)))
    assert found.nearest.value == 0.5
    assert found.second.value == 0.75
    assert found.optimal.value == 0.25
    assert (found.rows, found.of, found.how) == (4, 4, "every row")


def test_ties_fall_in_random_order():
    # four released rows alike, the own one among them: 1/4 to come first, 2/4 to be among two
    original = table_of(category("c", ["a", "b", "c", "d"]))
    released = table_of(category("c", ["a", "a", "a", "a"]))
    found = distance_linkage(pair_of(original, released, np.arange(4)))
    assert (found.nearest.value, found.second.value) == (0.25, 0.5)
    # one nearer, the own and two others level behind it: 1 of the 3 is second
    assert chance_among(2, np.array([1.0]), np.array([2.0])).tolist() == [pytest.approx(1 / 3)]


def test_the_best_pairing_knows_nothing_of_who_is_who_when_rows_tie():
    rows = 1000
    same = table_of(category("c", ["a"] * rows), category("d", ["b"] * rows))
    found = optimal_linkage(pair_of(same, same, np.arange(rows)), columns=["c", "d"])
    assert found.tries == rows
    assert found.value < 0.01  # one in a thousand by chance; in file order all


@pytest.mark.parametrize("name", tables())
def test_a_copy_is_linked_and_independent_columns_are_not(name):
    table = tables()[name]
    copied = distance_linkage(copy_of(table), columns=table.names)
    assert min(copied.nearest.value, copied.second.value, copied.optimal.value) > 0.98
    mixed_up = distance_linkage(apart(table), columns=table.names)
    for risk, chance in ((mixed_up.nearest, 1 / 400), (mixed_up.second, 2 / 400), (mixed_up.optimal, 1 / 400)):
        assert risk.low <= chance <= risk.high
        assert risk.value < 0.03


def test_the_nearest_of_a_copy_and_of_columns_apart():
    table = mixed(1, rows=400, missing=0.0)
    source = np.random.default_rng(1).permutation(400)
    assert linkage(pair_of(table, table.take(source), source), columns=table.names).value > 0.99
    rng = np.random.default_rng(2)
    mixed_up = Table(tuple(c.take(rng.permutation(400)) for c in table))
    risk = linkage(pair_of(table, mixed_up, source), columns=table.names)
    assert risk.low <= 1 / 400 <= risk.high
    assert risk.value < 0.03


def test_no_order_matters():
    table = mixed(3, rows=300)
    released = table.take(np.random.default_rng(4).permutation(300))
    noisy = released.replace([released["age"].take(np.random.default_rng(5).permutation(300))])
    pair = pair_of(table, noisy, np.random.default_rng(6).permutation(300), target="class")
    one, other = distance_linkage(pair), distance_linkage(reordered(pair))
    assert other.nearest.value == pytest.approx(one.nearest.value)
    assert other.second.value == pytest.approx(one.second.value)


def test_columns_of_every_kind_count():
    # neighbours exchanged: the numbers alone point at the wrong row, the categories at the right one
    original = table_of(number("x", range(50)), category("c", [f"v{i}" for i in range(50)]))
    released = table_of(number("x", [i ^ 1 for i in range(50)]), category("c", [f"v{i}" for i in range(50)]))
    pair = pair_of(original, released, np.arange(50))
    assert distance_linkage(pair, columns=["x"]).nearest.value == 0.0
    assert distance_linkage(pair).nearest.value == 1.0


@pytest.mark.parametrize("name", awkward())
def test_awkward_tables_have_figures(name):
    table = awkward()[name]
    for made in (copy_of, apart):
        found = distance_linkage(made(table, target="class"))
        for risk in (found.nearest, found.second, found.optimal):
            assert 0.0 <= risk.low <= risk.value + 1e-12
            assert risk.value <= risk.high <= 1.0
            assert isnan(risk.worst)  # under one key
        assert found.nearest.value <= found.second.value


def test_without_pairs_or_rows_there_is_no_figure():
    table = mixed(1, rows=40)
    assert distance_linkage(pair_of(table, table)) is None
    assert optimal_linkage(pair_of(table, table)) is None
    nobody = table.take(np.arange(0))
    found = distance_linkage(pair_of(nobody, nobody, np.arange(0)))
    assert found.optimal is None
    assert (found.nearest.tries, found.nearest.high) == (0, 1.0)
    assert linkage(pair_of(nobody, nobody, np.arange(0))).tries == 0


def test_large_tables_are_attacked_by_a_sample():
    table = mixed(1, rows=2000)
    pair = pair_of(table, table, np.arange(2000))
    assert linkage(pair, columns=["age", "pay", "noise"], comparisons=200_000).tries == 100
    found = distance_linkage(pair, most=150)
    assert found.nearest.tries == found.rows == 150
    assert found.how == "a sample of 150 of 2,000 rows"
    assert distance_linkage(pair, comparisons=200_000).rows == 100
    everyone = distance_linkage(pair)
    assert found.nearest.low <= everyone.nearest.value <= found.nearest.high


def test_a_sample_is_easier_to_link_than_the_table():
    table = mixed(1, rows=3000, missing=0.0)
    rng = np.random.default_rng(7)
    moved = table.replace([number("pay", table["pay"].values + rng.normal(0, 3, 3000), None)])
    pair = pair_of(table, moved, np.arange(3000), target="class")
    small = optimal_linkage(pair, columns=["age", "pay", "job"], sample=50, samples=20)
    large = optimal_linkage(pair, columns=["age", "pay", "job"], sample=500, samples=6)
    assert (small.tries, large.tries) == (1000, 3000)
    assert small.low > large.high


def test_wilsons_interval_holds_its_share():
    rng = np.random.default_rng(3)
    inside = [w.low <= 0.03 <= w.high for w in (wilson(float(rng.binomial(200, 0.03)), 200) for _ in range(4000))]
    assert 0.93 < np.mean(inside) < 0.98
    assert wilson(0, 0).high == 1.0
