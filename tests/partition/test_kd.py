"""Cells from a kd tree: every row in one, none too small, each inside its box."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import leafcover as lc
from leafcover.errors import LeafcoverError, NameUnknown
from leafcover.partition.kd_tree import Kd
from tests.kd_tables import TABLE_41, number_tables, settings_of_trees
from tests.tables import category, mixed, number, table


@settings(max_examples=80)
@given(number_tables(max_rows=40), settings_of_trees())
def test_every_row_stands_in_one_cell_that_is_large_enough_and_inside_its_box(data, how):
    found = Kd(data.names, **how).cells(data)
    cells, tree = found.cells, found.trees[0]
    assert cells.count == len(tree.leaves) == len(set(cells.label.tolist()))
    assert cells.smallest >= min(how["min_child"], len(data))
    for name, side in cells.box.items():
        values = data[name].values
        known = ~np.isnan(values)
        assert (values[known] > side.low[cells.label[known]]).all()
        assert (values[known] <= side.high[cells.label[known]]).all()
    assert set(cells.box) == {tree.attributes[a].name for a in tree.tested if a >= 0}


@settings(max_examples=50)
@given(number_tables(), settings_of_trees(), st.randoms(use_true_random=False))
def test_the_order_of_rows_does_not_matter(data, how, random):
    order = list(range(len(data)))
    random.shuffle(order)
    split = Kd(data.names, **how)
    one, other = split.cells(data).cells, split.cells(data.take(np.array(order))).cells
    np.testing.assert_array_equal(one.label[order], other.label)


def test_the_default_is_the_setting_of_table_41_with_three_rows_guaranteed():
    cells = Kd(("Age", "YearEdu", "Income")).cells(TABLE_41).cells
    # 40.5 cuts as in the paper; the four rows on the left can no longer be two and two, the five on the right stay
    assert sorted(cells.sizes.tolist()) == [4, 5]
    paper = Kd(("Age", "YearEdu", "Income"), min_child=1).cells(TABLE_41).cells
    assert sorted(paper.sizes.tolist()) == [2, 2, 2, 3]
    assert paper.box["Age"].high.tolist() == [40.5, 40.5, np.inf, np.inf]
    assert paper.box["YearEdu"].low.tolist() == [-np.inf, 15.0, -np.inf, 16.5]


def test_a_table_of_fewer_rows_than_two_cells_is_one_cell_and_told():
    data = table(number("x", [1, 2, 3, 4, 5]))
    found = Kd(("x",)).cells(data)
    assert found.cells.count == 1
    (note,) = found.notes
    assert "one cell with all 5 rows" in note


def test_what_could_not_be_cut_and_what_is_missing_is_told():
    data = table(number("x", [1] * 20 + [2] * 5 + [np.nan] * 2))
    found = Kd(("x",)).cells(data)
    assert found.cells.sizes.tolist() == [22, 5]  # the mean, 1.2, is left of the midrange, 1.5; alone it may not stand
    large, missing = found.notes
    assert large.startswith("22 rows")
    assert "leaf_max (3 rows)" in large
    assert "2 rows have no value in x" in missing


def test_cells_of_a_larger_table():
    data = mixed(4, rows=5000)
    found = Kd(("age", "pay", "noise"), leaf_max=20, min_child=10).cells(data)
    assert found.cells.smallest >= 10
    assert found.cells.sizes.max() <= 25
    again = Kd(("age", "pay", "noise"), leaf_max=20, min_child=10).cells(data)
    np.testing.assert_array_equal(found.cells.label, again.cells.label)


@pytest.mark.parametrize(
    "wrong",
    [
        {"by": ()},
        {"scale": "unit"},
        {"cut": "mean"},
        {"scope": "table"},
        {"tie": "random"},
        {"leaf_max": 0},
        {"min_child": 0},
        {"min_child": 10**10},
    ],
)
def test_a_wrong_parameter_is_refused(wrong):
    with pytest.raises(LeafcoverError):
        Kd(**{"by": ("x",), **wrong})


def test_columns_that_cannot_be_cut_are_refused():
    data = table(number("x", [1, 2]), category("job", ["a", "b"]))
    with pytest.raises(LeafcoverError, match="'job' is a category"):
        Kd(["x", "job"]).cells(data)
    with pytest.raises(NameUnknown):
        Kd(["y"]).cells(data)
    assert Kd(["x"]).needs == ("x",)


def test_a_plot_draws_the_cells_of_figure_4_2(tmp_path):
    """Nine people: the first cut at age 40.5, then the years of education at 15 and at 16.5."""
    pytest.importorskip("matplotlib")
    ages, years = [25, 31, 32, 36, 43, 48, 50, 53, 56], [16, 14, 18, 12, 16, 20, 13, 18, 14]
    people = table(number("Age", ages), number("YearEdu", years), category("c", list("ababababa")))
    cells = lc.Kd(["Age", "YearEdu"], min_child=2).cells(people)
    figure = cells.plot(people, "Age", "YearEdu", size="Age")
    corners = [one.get_corners() for one in figure.axes[0].patches]
    assert len(corners) == 4
    assert sorted({round(float(x), 1) for one in corners for x in one[:, 0]})[1:-1] == [40.5]
    assert sorted({round(float(y), 1) for one in corners for y in one[:, 1]})[1:-1] == [15, 16.5]
    figure.savefig(tmp_path / "cells.svg")
    groups = lc.Mdav(["Age", "YearEdu"], k=3).cells(people).plot(people, "Age", "YearEdu")
    assert len(groups.axes[0].patches) == 0
    with pytest.raises(LeafcoverError, match="category"):
        cells.plot(people, "Age", "c")
    with pytest.raises(LeafcoverError, match="no column"):
        cells.plot(people, "Age", "d")
