"""Rank swapping and bounded swapping: what they keep, how far values move, and that their counted law is right."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare

import leafcover as lc
from leafcover.cells import Cells, one_cell
from leafcover.errors import LeafcoverError, PlanError, ValueOutOfRange
from leafcover.kernels.swapping import swap_far, swap_near
from leafcover.perturb.base import Chunk
from leafcover.perturb.swap import BoundedSwap, RankSwap, law_of_far, law_of_near
from leafcover.recipes import plan_for
from leafcover.recipes.plan import check
from tests.tables import category, mixed, number, table

SWAPS = ["rank-swap", "bounded-swap"]


def words(ranks, seed=1):
    return np.random.default_rng(seed).integers(0, 2**63, ranks).astype(np.uint64)


def near(ranks, window, seed=1):
    source = np.empty(ranks, np.int64)
    swap_near(window, words(ranks, seed), source)
    return source


def far(ranks, distance, seed=1):
    free, source = np.empty((2, ranks), np.int64)
    swap_far(distance, words(ranks, seed), free, source)
    return source


def slow_near(ranks, window, rng):
    """The method as Moore describes it: each free rank in turn, and a random free one of the next ranks."""
    source = np.arange(ranks)
    free = set(range(ranks))
    for rank in range(ranks):
        if rank not in free:
            continue
        free.remove(rank)
        above = sorted(free & set(range(rank + 1, rank + window + 1)))
        if above:
            other = above[rng.integers(len(above))]
            free.remove(other)
            source[rank], source[other] = other, rank
    return source


@given(st.integers(1, 200), st.integers(2, 60), st.integers(0, 99))
def test_near_ranks_swap_in_pairs_within_the_window(ranks, window, seed):
    source = near(ranks, window, seed)
    assert (source[source] == np.arange(ranks)).all()
    assert np.abs(source - np.arange(ranks)).max() <= window
    assert (source == np.arange(ranks)).sum() == ranks % 2


@given(st.integers(2, 200), st.integers(1, 120), st.integers(0, 99))
def test_far_ranks_swap_beyond_the_distance(ranks, distance, seed):
    source = far(ranks, distance, seed)
    assert sorted(source) == list(range(ranks))
    assert np.abs(source - np.arange(ranks)).min() >= min(distance, ranks // 2)
    pairs = source[source] == np.arange(ranks)
    assert (~pairs).sum() == (3 if ranks % 2 else 0)


def test_one_value_stays():
    assert near(1, 2).tolist() == far(1, 3).tolist() == [0]


def test_many_far_ranks_swap_too():
    for distance in (1, 700, 999, 1000):
        assert np.abs(far(2001, distance) - np.arange(2001)).min() >= distance


def test_the_kernel_swaps_as_often_as_its_slow_twin():
    """Rank 5 of 12 with a window of 4: its partners over 4,000 runs; partners drawn evenly are rejected."""
    rng = np.random.default_rng(1)
    fast, slow = (
        np.bincount([swap(run)[5] for run in range(4000)], minlength=12)[[1, 2, 3, 4, 6, 7, 8, 9]]
        for swap in (lambda run: near(12, 4, run), lambda run: slow_near(12, 4, rng))
    )
    both = (fast + slow) / 2
    assert (((fast - slow) ** 2) / (fast + slow)).sum() < 30  # chi-square with 7 degrees of freedom: p > 1e-4
    assert chisquare(both).pvalue < 1e-10


@pytest.mark.parametrize(
    ("ranks", "law", "swap"),
    [
        (41, law_of_near(41, 3), lambda run: near(41, 3, run)),
        (600, law_of_near(600, 60), lambda run: near(600, 60, run)),
        (2000, law_of_near(2000, 30), lambda run: near(2000, 30, run)),
        (19, law_of_far(19, 4), lambda run: far(19, 4, run)),
        (400, law_of_far(400, 100), lambda run: far(400, 100, run)),
    ],
)
def test_the_law_is_how_often_ranks_swap(ranks, law, swap):
    """Eight bands of ranks, 3,000 runs: the law is accepted (p > 1e-7), one with bands 30 % off is not."""
    runs = np.array([swap(run) for run in range(3000)])
    edges = np.linspace(0, ranks, 9).astype(np.int64)
    rejected = 0
    for rank in (0, 1, ranks // 5, ranks // 2, ranks - 2, ranks - 1):
        around = np.unique(np.clip([rank - law.reach, *edges, rank + law.reach + 1], 0, ranks))
        low, high = around[:-1], around[1:]
        own = [np.full(len(low), one) for one in (rank, rank + 1)]
        expected = law.chance(type_of(*own), type_of(low, high))
        assert expected.sum() == pytest.approx(1, abs=0.05)
        seen = np.histogram(runs[:, rank], around)[0]
        often = expected * 3000 > 20
        expected = expected[often] / expected[often].sum() * seen[often].sum()
        if len(expected) < 2:
            continue
        assert chisquare(seen[often], expected).pvalue > 1e-7
        off = expected * np.where(np.arange(len(expected)) % 2, 1.3, 0.7)
        rejected += chisquare(seen[often], off / off.sum() * seen[often].sum()).pvalue < 1e-4
    assert rejected


def type_of(first, end):
    from leafcover.perturb.swap import _Ranks

    return _Ranks(first, end)


@pytest.mark.parametrize("recipe", SWAPS)
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_every_marginal_is_kept_exactly(recipe, seed):
    original = mixed(seed, rows=500)
    plan = plan_for(original, recipe)
    release = lc.release(original, plan, seed=1, keep_order=True)
    for column in original:
        new = release.table[column.name]
        np.testing.assert_array_equal(column.missing, new.missing)
        np.testing.assert_array_equal(np.sort(column.values), np.sort(new.values))
        assert release.promises[column.name] == (("permuted",) if column.name in plan.columns else ("unchanged",))
    moved = original["noise"].values != release.table["noise"].values
    assert moved[~original["noise"].missing].mean() > 0.99


def test_marginals_are_kept_in_every_stratum():
    original = mixed(4, rows=400)
    plan = plan_for(original, "rank-swap", settings={"strata": "class", "window": 0.3})
    released = lc.release(original, plan, seed=1, keep_order=True).table
    for code in (0, 1):
        here = original["class"].values == code
        np.testing.assert_array_equal(np.sort(original["pay"].values[here]), np.sort(released["pay"].values[here]))


def test_values_move_within_their_window_or_beyond_their_distance():
    ranks = np.random.default_rng(1).permutation(np.arange(1000.0))
    original = table(number("x", ranks))
    plans = [lc.Plan(lc.Step("x", lc.Whole(), one)) for one in (RankSwap(0.05), BoundedSwap(200))]
    near_by, away = (
        np.abs(lc.release(original, plan, seed=1, keep_order=True).table["x"].values - ranks) for plan in plans
    )
    assert near_by.min() > 0
    assert 40 < near_by.max() <= 50
    assert away.min() >= 200


@pytest.mark.parametrize(("swap", "wrong"), [(RankSwap(0.1), 30), (BoundedSwap(10), 1)])
def test_values_out_of_reach_are_found(swap, wrong):
    part = Chunk(np.arange(100), (number("x", np.arange(100.0)),), one_cell(100))
    after = np.arange(100.0)
    after = np.roll(after, wrong)
    assert "out of reach" in swap.violations(part, {"x": after})[0]
    assert "gained values" in swap.violations(part, {"x": np.append(after[1:], 7.0)})[0]
    assert "missing" in swap.violations(part, {"x": np.where(after > 5, after, np.nan)})[0]


def test_equal_values_swap_by_ranks_in_random_order():
    """Ties are broken by chance: a value that half of the rows share reaches other rows than the same ones."""
    original = table(number("x", np.repeat([0.0, 1.0], 100)))
    plan = lc.Plan(lc.Step("x", lc.Whole(), RankSwap(0.1)))
    moved = [
        lc.release(original, plan, seed=s, keep_order=True).table["x"].values != original["x"].values for s in (1, 2)
    ]
    assert 0 < moved[0].sum() < 40
    assert (moved[0] != moved[1]).any()


# Bad input: an error of one line, or a stated rule; never a missing value that was not there.


@pytest.mark.parametrize("recipe", SWAPS)
def test_missing_constant_and_tiny_columns_follow_a_rule(recipe):
    rows = 30
    columns = [
        number("same", np.full(rows, 7.0)),
        number("empty", np.full(rows, np.nan)),
        number("one", [np.nan] * (rows - 1) + [3.0]),
        number("two", [np.nan] * (rows - 2) + [3.0, 5.0]),
        number("odd", [np.nan] * (rows - 3) + [3.0, 5.0, 9.0]),
        number("x", np.arange(rows)),
    ]
    original = table(*columns)
    step = {"rank-swap": (lc.Whole(), RankSwap(0.1)), "bounded-swap": (lc.Halves("x", 10), BoundedSwap(4))}[recipe]
    released = lc.release(original, lc.Plan(lc.Step(original.names, *step)), seed=1, keep_order=True).table
    for column in original:
        np.testing.assert_array_equal(np.isnan(released[column.name].values), column.missing)
        np.testing.assert_array_equal(np.sort(released[column.name].values), np.sort(column.values))
    assert plan_for(original, recipe).columns == ("two", "odd", "x")  # what does not vary is left out


@pytest.mark.parametrize("recipe", SWAPS)
def test_what_cannot_be_swapped_is_refused(recipe):
    with pytest.raises(PlanError, match="'job', a category"):
        plan_for(mixed(1), recipe, settings={"columns": "age,job"})
    with pytest.raises(PlanError, match="none that vary"):
        plan_for(mixed(1).select(["job", "class"]), recipe)
    with pytest.raises(PlanError, match="does not accept a category"):
        check(lc.Plan(lc.Step("job", lc.Whole(), RankSwap())), mixed(1))
    with pytest.raises(LeafcoverError, match="at least 2 rows"):
        lc.release(table(number("x", [1.0])), lc.Plan(lc.Step("x", lc.Whole(), RankSwap())), seed=1)
    units = replace(mixed(1), roles={"town": "unit"})
    with pytest.raises(PlanError, match="rows of one 'town' would show whose they are"):
        plan_for(units, recipe)


def test_parameters_out_of_range_are_refused():
    for make in (
        lambda: RankSwap(0),
        lambda: RankSwap(1.5),
        lambda: BoundedSwap(0),
        lambda: plan_for(mixed(1), "bounded-swap", settings={"distance": 10, "leaf": 20}),
    ):
        with pytest.raises(ValueOutOfRange):
            make()
    with pytest.raises(PlanError, match="defines strata"):
        plan_for(mixed(1), "rank-swap", settings={"strata": "age", "columns": "age"})


def test_people_of_another_table_have_a_likelihood():
    """Values that nobody has stand where they would be ranked; a released value that nobody has is impossible."""
    part = Chunk(np.arange(50), (number("x", np.arange(50.0)),), one_cell(50))
    swap = RankSwap(0.2)
    summary = swap.finalize(swap.fit(part), part.cells)
    asked = Chunk(np.arange(3), (number("x", [-9.0, 20.5, 99.0]),), Cells(np.zeros(3, np.int64), 1))
    possible = swap.likelihood(asked, {"x": np.array([5.0, 21.0, 45.0])}, summary)
    assert (possible > 0).all()
    assert (swap.likelihood(asked, {"x": np.array([49.0, 49.0, 0.5])}, summary) == 0).all()


def test_strata_of_categories_in_dates():
    original = table(
        replace(number("day", np.arange(40.0)), kind="date"), category("sex", list("ab") * 20), number("x", range(40))
    )
    assert plan_for(original, "rank-swap", settings={"strata": "sex"}).columns == ("day", "x")
