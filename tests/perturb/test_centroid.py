"""Centroids of cells: by hand, against a slow twin, and what must hold of every one."""

from collections import Counter
from dataclasses import replace
from fractions import Fraction
from functools import reduce
from statistics import median

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import leafcover as lc
from leafcover.cells import Cells
from leafcover.engine.attacker import Known, groups_of
from leafcover.errors import InvariantViolated, PlanError, ValueOutOfRange
from leafcover.kernels.dealing import rows_by_cell
from leafcover.kernels.microaggregation import centres_of_cells, modes_of_cells
from leafcover.keyed_random import Draws
from leafcover.perturb.base import Changed, Chunk
from leafcover.perturb.centroid import Centroid
from leafcover.table.table import Column, Grid
from tests.cli.helpers import leafcover
from tests.tables import category, mixed, number, table

DRAWS = Draws(bytes(32))
NAN = np.nan


def part_of(label, *columns):
    label = np.array(label, np.int64)
    return Chunk(np.arange(len(label)), columns, Cells(label, int(label.max()) + 1))


def released(noise, part):
    summary = noise.finalize(noise.fit(part), part.cells)
    return {name: one.values for name, one in noise.change(part, summary, DRAWS).items()}


def test_means_medians_and_modes_by_hand():
    # cell 0: 1, 2, 6 -> mean 3, median 2; cell 1: 10, 20, 40, missing -> mean 70/3, median 20
    label = [0, 0, 1, 0, 1, 1, 1]
    x = number("x", [1, 2, 10, 6, 20, 40, NAN])
    # cell 0: b, a, a -> a; cell 1: c, b, missing, missing -> a tie, so the lowest: b
    c = category("c", ["b", "a", "c", "a", "b", None, None])
    part = part_of(label, x, c)
    means = released(Centroid(), part)
    np.testing.assert_array_equal(means["x"], [3, 3, 70 / 3, 3, 70 / 3, 70 / 3, NAN])
    assert means["c"].tolist() == [0, 0, 1, 0, 1, -1, -1]
    np.testing.assert_array_equal(released(Centroid("median"), part)["x"], [2, 2, 20, 2, 20, 20, NAN])
    np.testing.assert_array_equal(released(Centroid(on_grid=True), part)["x"], [3, 3, 23, 3, 23, 23, NAN])


def test_the_median_of_an_even_count_is_the_middle_of_the_middle_two():
    part = part_of([0, 0, 0, 0], number("x", [9, 1, 2, 4]))
    assert released(Centroid("median"), part)["x"].tolist() == [3, 3, 3, 3]


def test_table_4_1_of_the_perturbation_tree():
    # Records 2 and 4, 1 and 3, 5 and 7 and 9, 6 and 8 stand together; the paper prints 57.0, 52.0, 61.3 and 71.5.
    income = number("income", [54, 55, 60, 49, 65, 70, 57, 73, 62])
    found = released(Centroid(), part_of([1, 0, 1, 0, 2, 3, 2, 3, 2], income))["income"]
    assert np.round(found, 1).tolist() == [57, 52, 57, 52, 61.3, 71.5, 61.3, 71.5, 61.3]


def test_cells_that_know_too_few_are_pooled():
    # least 3. Known values: cell 0: 1, 2 | cell 1: 9 | cell 2: 5, 5, 8 | cell 3: none. Pool 0 and 1: mean 4, of three.
    label = [0, 0, 1, 2, 2, 2, 3, 1]
    x = number("x", [1, 2, 9, 5, 5, 8, NAN, NAN])
    np.testing.assert_array_equal(released(Centroid(least=3), part_of(label, x))["x"], [4, 4, 4, 6, 6, 6, NAN, NAN])


def test_a_pool_that_is_too_small_takes_the_cell_that_knows_the_next_fewest():
    # least 3. Cell 0 knows 10 alone; cells 1 and 2 know three each: the lower one joins. (10 + 1 + 2 + 3) / 4 = 4.
    label = [0, 1, 1, 1, 2, 2, 2]
    x = number("x", [10, 1, 2, 3, 7, 8, 9])
    assert released(Centroid(least=3), part_of(label, x))["x"].tolist() == [4, 4, 4, 4, 8, 8, 8]
    # With a fourth value in cell 1, cell 2 is the smaller: (10 + 7 + 8 + 9) / 4 = 8.5.
    x = number("x", [10, 1, 2, 3, 7, 8, 9, 4])
    found = released(Centroid(least=3), part_of([*label, 1], x))["x"]
    assert found.tolist() == [8.5, 2.5, 2.5, 2.5, 8.5, 8.5, 8.5, 2.5]


def test_a_column_that_knows_too_little_is_refused_and_one_that_knows_nothing_is_not():
    few, none = number("few", [1, NAN, 2, NAN]), number("none", [NAN] * 4)
    with pytest.raises(PlanError, match="'few' has 2 known values, fewer than the 3 that"):
        released(Centroid(least=3), part_of([0, 0, 1, 1], few))
    assert np.isnan(released(Centroid(least=3), part_of([0, 0, 1, 1], none))["none"]).all()
    original = table(few, category("class", list("abab")))
    with pytest.raises(PlanError, match="known values"):
        lc.release(original, lc.Plan(lc.Step("few", lc.Whole(), lc.Centroid(least=3))), seed=1)


@pytest.mark.parametrize("number_of", ["mean", "median"])
def test_numbers_of_any_size(number_of):
    large = [1.7e308, 1.7e308, 1.6e308]
    apart = [-1.7e308, 1.7e308, 1.6e308, -1.6e308]
    far = [1e9 + 0.1, 1e9 + 0.2, 1e9 + 0.4]
    tiny = [5e-324, 5e-324, 5e-324]
    equal = [0.1, 0.1, 0.1]
    lost = [1e16, 1.0, -1e16]  # in this order a plain sum gives 0
    for values in (large, apart, far, tiny, equal, lost):
        found = released(Centroid(number_of), part_of([0] * len(values), number("x", values, None)))["x"][0]
        exact = sorted(map(Fraction, values))
        middle = sum(exact) / len(exact) if number_of == "mean" else median(exact)
        assert found == pytest.approx(float(middle), rel=4e-16)
        assert min(values) <= found <= max(values)


def test_dates_land_on_days_and_times_on_seconds():
    day = Column("day", "date", np.array([0.0, 1.0, 0.0]), grid=Grid(0))
    second = Column("second", "time", np.array([0.0, 0.0, 5.0]), grid=Grid(0))
    found = released(Centroid(), part_of([0, 0, 0], day, second))
    assert found["day"].tolist() == [0, 0, 0]
    assert found["second"].tolist() == [2, 2, 2]  # 1.67


def test_what_is_shown_is_the_centroids_and_what_is_missing():
    # Cells 0 and 1 have the same mean of x and the same commonest c: their rows cannot be told apart.
    x = number("x", [1, 3, 2, 2, 9, 9, NAN, NAN])
    c = category("c", ["a", "a", "a", "a", "a", "a", "a", "a"])
    label = [0, 0, 1, 1, 2, 2, 2, 0]
    assert same_as(Centroid().observable_class(part_of(label, x, c)), [0, 0, 0, 0, 1, 1, 2, 2])
    original = table(x, c, category("class", list("abababab")))
    assert same_as(Centroid().observable_class(part_of([0] * 8, x)), [0] * 6 + [1] * 2)
    known = Known.rebuilt(original, lc.Plan(lc.Step(["x", "c"], lc.Whole(), lc.Centroid())))
    assert same_as(groups_of(known, ["x", "c"]), [0] * 6 + [1] * 2)


def same_as(label, other):
    pairs = set(zip(np.asarray(label).tolist(), other, strict=True))
    return len(pairs) == len({a for a, _ in pairs}) == len({b for _, b in pairs})


def test_the_likelihood_is_one_for_the_own_centroid_alone_and_pinned_values_are_their_centroid():
    noise, part = Centroid(), part_of([0, 0, 0, 1, 1], number("x", [1, 2, 3, 7, 7]))
    summary = noise.finalize(noise.fit(part), part.cells)
    for value, likely in ((2.0, [1, 1, 1, 0, 0]), (7.0, [0, 0, 0, 1, 1]), (2.5, [0] * 5), (NAN, [0] * 5)):
        assert noise.likelihood(part, {"x": np.full(5, value)}, summary).tolist() == likely
    assert noise.fixed(part, summary)["x"].tolist() == [False, True, False, True, True]


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (lambda x: x + np.arange(len(x)), "not the centroid of their group"),
        (lambda x: x + 0.001, "not their mean"),
        (lambda x: np.where(np.arange(len(x)) == 2, NAN, x), "missing"),
    ],
)
def test_a_release_that_is_no_centroid_is_refused(monkeypatch, wrong, said):
    right = Centroid.change
    monkeypatch.setattr(
        Centroid,
        "change",
        lambda *args: {name: Changed(wrong(one.values)) for name, one in right(*args).items()},
    )
    plan = lc.Plan(lc.Step(["pay", "noise"], lc.Leaves(of="class"), lc.Centroid(least=3)))
    with pytest.raises(InvariantViolated, match=said):
        lc.release(mixed(1, missing=0.0), plan, seed=1)


def test_the_check_sees_small_groups_rare_categories_and_numbers_from_outside():
    x, c = number("x", [1, 2, 3, 7]), category("c", ["a", "a", "b", "b"])
    part = part_of([0, 0, 0, 1], x, c)
    own = {"x": np.array([2.0, 2, 2, 7]), "c": np.array([0, 0, 0, 1])}
    assert Centroid().violations(part, own) == ()
    small = Centroid(least=5).violations(part, {"x": np.full(4, 3.25), "c": np.zeros(4, np.int32)})
    assert small[0].startswith("column 'x': 1 centroids")
    assert "fewer than 5 known values" in small[0]
    assert "fewer than 2 known values" in Centroid(least=2).violations(part, own)[0]  # the last row alone
    (rare,) = Centroid().violations(part, {**own, "c": np.array([1, 1, 1, 1])})
    assert rare.startswith("column 'c': 1 groups")
    assert "mode" in rare
    outside = {**own, "x": np.array([4.0, 4, 4, 7])}
    assert "outside their range" in Centroid("median").violations(part, outside)[0]


@pytest.mark.parametrize(("parameter", "value"), [("least", 0), ("number", "mode")])
def test_a_parameter_out_of_range_is_refused(parameter, value):
    with pytest.raises(ValueOutOfRange, match=parameter):
        Centroid(**{parameter: value})


def test_a_released_file_still_keeps_the_promises(tmp_path):
    """Text, integers that become reals, single precision, dates: what is read back is what was promised."""
    import pandas as pd

    rng = np.random.default_rng(1)
    frame = pd.DataFrame(
        {
            "whole": rng.integers(0, 99, 60),
            "single": rng.normal(1000, 1, 60).astype(np.float32),
            "day": pd.to_datetime(rng.integers(0, 9999, 60), unit="D"),
            "job": rng.choice(["a", "b", "c"], 60),
            "class": rng.choice(["p", "q"], 60),
        }
    )
    frame.to_csv(tmp_path / "in.csv", index=False)
    frame.to_parquet(tmp_path / "in.parquet", index=False)
    step = lc.Step(["whole", "single", "day", "job"], lc.Leaves(of="class"), lc.Centroid(least=3))
    (tmp_path / "plan.toml").write_text(lc.plan_text(lc.Plan(step, target="class")))
    for ending in (".csv", ".parquet"):
        original, out = tmp_path / f"in{ending}", tmp_path / f"out{ending}"
        done = leafcover("release", original, "-o", out, "--plan", tmp_path / "plan.toml", "--target", "class")
        assert done.exit_code == 0, done.output
        checked = leafcover("verify", out, "--original", original)
        assert checked.exit_code == 0, checked.output


LABELS = st.lists(st.integers(0, 5), min_size=1, max_size=40)
NUMBERS = st.one_of(
    st.just(NAN), st.integers(-3, 3).map(float), st.floats(allow_nan=False, allow_infinity=False, width=64)
)


@given(LABELS, st.data(), st.booleans())
def test_centres_are_their_twins(label, data, by_median):
    values = np.array(data.draw(st.lists(NUMBERS, min_size=len(label), max_size=len(label))))
    order, starts = rows_by_cell(np.array(label), 6)
    known, centre = centres_of_cells(order, starts, values, 1.0, by_median)
    for cell in range(6):
        here = sorted(Fraction(v) for v, c in zip(values, label, strict=True) if c == cell and not np.isnan(v))
        assert known[cell] == len(here)
        if not here:
            assert np.isnan(centre[cell])
            continue
        exact = median(here) if by_median else sum(here) / len(here)
        assert (
            abs(Fraction(centre[cell]) - exact)
            <= Fraction(2) ** -51 * abs(exact) + Fraction(2) ** -95 * max(map(abs, here)) + Fraction(2) ** -1073
        )


@given(st.integers(1, 4), st.lists(st.integers(-(10**6), 10**6), min_size=1, max_size=12), st.booleans())
def test_the_mean_of_decimals_is_the_decimal_mean(decimals, steps, by_median):
    grid = Grid(decimals)
    column = Column("x", "number", grid.value(np.array(steps)), grid=grid)
    part = part_of([0] * len(steps), column)
    exact = Fraction(median(steps)) if by_median else Fraction(sum(steps), len(steps))
    centre = released(Centroid("median" if by_median else "mean"), part)["x"]
    assert set(centre.tolist()) == {float(exact / 10**decimals)}


@given(LABELS, st.data())
def test_modes_are_their_twins(label, data):
    codes = np.array(data.draw(st.lists(st.integers(-1, 3), min_size=len(label), max_size=len(label))), np.int32)
    order, starts = rows_by_cell(np.array(label), 6)
    known, mode = modes_of_cells(order, starts, codes)
    for cell in range(6):
        here = [int(v) for v, c in zip(codes, label, strict=True) if c == cell and v >= 0]
        assert known[cell] == len(here)
        assert mode[cell] == (min(here, key=lambda v: (-Counter(here)[v], v)) if here else -1)


@st.composite
def cases(draw):
    """Cells of any size with ties, duplicates, missing values and constant columns."""
    label = draw(LABELS)

    def some(values):
        return draw(st.lists(values, min_size=len(label), max_size=len(label)))

    columns = (
        number("whole", some(st.one_of(st.just(NAN), st.integers(-4, 4)))),
        number("fine", some(st.one_of(st.just(NAN), st.floats(-1e6, 1e6))), None),
        number("same", [7.0] * len(label)),
        category("kind", some(st.sampled_from(["a", "b", "c", None]))),
    )
    return part_of(label, *columns)


@settings(max_examples=120)
@given(cases(), st.integers(1, 9), st.sampled_from(["mean", "median"]), st.booleans())
def test_every_centroid_rests_on_enough_values_or_the_column_is_refused(part, least, number_of, on_grid):
    noise = Centroid(number_of, least, on_grid)
    for column in part.columns:
        alone = replace(part, columns=(column,))
        known = int((~column.missing).sum())
        if 0 < known < least:
            with pytest.raises(PlanError, match=column.name):
                released(noise, alone)
            continue
        after = released(noise, alone)[column.name]
        assert noise.violations(alone, {column.name: after}) == ()
        np.testing.assert_array_equal(column.missing, (after < 0) if column.is_category else np.isnan(after))
        for value, shared in Counter(after[~column.missing].tolist()).items():
            assert shared >= least, value
        new, old = after[~column.missing], column.values[~column.missing]
        if column.is_category or not known:
            continue
        # A pool never reaches further than the column, a cell never further than itself.
        assert old.min() <= new.min() <= new.max() <= old.max()
        if number_of == "mean" and not on_grid:
            size = max(1e-300, np.abs(old).max())
            assert new.mean() == pytest.approx(old.mean(), abs=1e-12 * size)
            assert new.var() <= old.var() * (1 + 1e-9) + 1e-12 * size**2


@settings(max_examples=100)
@given(cases(), st.integers(1, 6), st.randoms(use_true_random=False))
def test_neither_the_order_of_rows_nor_parts_of_whole_cells_matter(part, least, random):
    noise = Centroid(least=least)
    part = replace(part, columns=tuple(c for c in part.columns if (~c.missing).sum() >= least))
    expected = released(noise, part)
    order = np.array(random.sample(range(len(part)), len(part)))
    for name, values in released(noise, part.take(order)).items():
        np.testing.assert_array_equal(values, expected[name][order])
    pieces = [part.take(np.flatnonzero(part.cells.label % 3 == i)) for i in random.sample(range(3), 3)]
    summary = noise.finalize(reduce(noise.merge, [noise.fit(piece) for piece in pieces]), part.cells)
    for piece in pieces:
        for name, one in noise.change(piece, summary, DRAWS).items():
            np.testing.assert_array_equal(one.values, expected[name][piece.rows])


def test_cells_that_know_too_few_pool_with_similar_ones_of_their_outer_cell():
    # Six cells of two rows in two outer cells. Each knows one value of x: the two low ones of an outer cell pool, and
    # the high one, which is left over, joins them; the million of the other outer cell stays there.
    x = number("x", [1, NAN, 2, NAN, 50, NAN, 3, NAN, 1_000_000, NAN, 4, NAN])
    cells = Cells(np.repeat(np.arange(6), 2), 6, groups=(np.array([0, 0, 0, 1, 1, 1]),))
    part = Chunk(np.arange(12), (x,), cells)
    noise = Centroid(least=2)
    new = noise.change(part, noise.finalize(noise.fit(part), cells), Draws(bytes(32)))["x"].values
    known = ~np.isnan(x.values)
    assert new[known] == pytest.approx(np.array([53 / 3] * 3 + [1_000_007 / 3] * 3))
    assert noise.violations(part, {"x": new}) == ()


def test_pools_are_made_of_neighbours():
    values = np.array([5.0, 900.0, 5.2, 901.0, 5.4, 902.0])
    x = number("x", np.column_stack([values, np.full(6, NAN)]).ravel(), None)
    part = part_of(np.repeat(np.arange(6), 2), x)
    noise = Centroid(least=3)
    new = noise.change(part, noise.finalize(noise.fit(part), part.cells), Draws(bytes(32)))["x"].values
    assert new[::2] == pytest.approx(np.array([5.2, 901.0] * 3))
