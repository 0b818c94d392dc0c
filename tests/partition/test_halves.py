"""Cells by halving: against a twin on rows without ties, and what they promise on any table."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leafcover.errors import LeafcoverError
from leafcover.partition.kd_tree import SCALES, Halves
from tests.kd_tables import number_tables
from tests.tables import category, number, table


def twin(values, rows, most):
    """Halve rows (numbers) by the eigenvector of the largest eigenvalue; sets of rows."""
    if len(rows) < most:
        return {frozenset(rows.tolist())}
    here = values[rows] - values[rows].mean(axis=0)
    direction = np.linalg.eigh(here.T @ here)[1][:, -1]
    direction *= np.sign(direction[np.argmax(abs(direction))])
    order = rows[np.argsort(here @ direction)]
    half = len(rows) // 2
    return twin(values, order[:half], most) | twin(values, order[half:], most)


def scaled(values, scale):
    by = {"minmax": np.ptp(values, 0), "max": abs(values).max(0), "raw": 1.0, "z": values.std(0)}
    return values / by[scale]


def sets_of(label):
    return {frozenset(np.flatnonzero(label == cell).tolist()) for cell in range(label.max() + 1)}


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("most", [2, 7, 30])
@pytest.mark.parametrize("rows", [1, 6, 500])
def test_halves_are_their_twin(scale, most, rows):
    rng = np.random.default_rng(most)
    values = rng.normal(size=(rows, 4)) @ rng.normal(size=(4, 4)) + 20
    data = table(*(number(name, values[:, c], None) for c, name in enumerate("abcd")))
    found = Halves(tuple("abcd"), most, scale).cells(data).cells
    if rows == 1:
        assert found.label.tolist() == [0]
    else:
        assert sets_of(found.label) == twin(scaled(values, scale), np.arange(rows), most)
    assert (found.sizes < most).all()


@settings(max_examples=100)
@given(number_tables(max_rows=50), st.integers(2, 12), st.sampled_from(SCALES))
def test_cells_have_at_least_half_the_rows_and_equal_rows_stay_together(data, most, scale):
    cells = Halves(data.names, most, scale).cells(data).cells
    least = most // 2
    assert cells.smallest >= min(least, len(data))
    home = {}
    for row, cell in enumerate(cells.label.tolist()):
        words = tuple(str(c.values[row] + 0.0) for c in data)
        assert home.setdefault(words, cell) == cell
    rows = np.stack([_standing(c) for c in data], axis=1)
    for cell in np.flatnonzero(cells.sizes >= most):  # only a run of equal rows keeps so many together
        run = np.unique(rows[cells.label == cell], axis=0, return_counts=True)[1].max()
        assert run >= cells.sizes[cell] - 2 * (least - 1)


def _standing(column):
    """The values, missing ones at the mean; rounded, so that a value beside the mean is the mean."""
    known = column.values[~column.missing]
    return np.round(np.where(column.missing, known.mean() if len(known) else 0.0, column.values), 9)


@settings(max_examples=80)
@given(number_tables(), st.integers(2, 12), st.randoms(use_true_random=False))
def test_the_order_of_rows_does_not_matter(data, most, random):
    order = list(range(len(data)))
    random.shuffle(order)
    split = Halves(data.names, most)
    one, other = split.cells(data).cells, split.cells(data.take(np.array(order))).cells
    np.testing.assert_array_equal(one.label[order], other.label)


def test_a_cut_follows_the_direction_of_the_rows():
    # two long clusters side by side along the diagonal: one column alone cannot part the halves
    along = np.repeat(np.arange(20.0), 2)
    data = table(number("x", along + np.tile([0.0, 0.5], 20), None), number("y", along - np.tile([0.0, 0.5], 20), None))
    label = Halves(("x", "y"), 21).cells(data).cells.label
    assert sets_of(label) == {frozenset(range(20)), frozenset(range(20, 40))}


def test_directions_that_explain_equally_much_give_that_of_the_first_column():
    data = table(number("x", [0, 0, 1, 1]), number("y", [0, 1, 0, 1]))
    label = Halves(("x", "y"), 3).cells(data).cells.label
    assert sets_of(label) == {frozenset({0, 1}), frozenset({2, 3})}


def test_equal_rows_move_the_cut_or_stop_it():
    data = table(number("x", [1, 2, 2, 2, 2, 3, 4, 5]))  # the half, 4, is inside the twos: 5 is nearer than 1
    assert Halves(("x",), 8).cells(data).cells.count == 1  # 3 rows on the right would be fewer than 8 // 2
    assert sorted(Halves(("x",), 6).cells(data).cells.sizes.tolist()) == [3, 5]
    same = table(number("x", [7] * 30), number("y", [np.nan] * 30))
    found = Halves(("x", "y"), 4).cells(same)
    assert found.cells.count == 1
    whole, missing = found.notes
    assert "one cell with all 30 rows" in whole
    assert "30 rows have no value in one of x, y" in missing


@pytest.mark.parametrize("wrong", [{"by": ()}, {"fewer_than": 1}, {"fewer_than": 10**10}, {"scale": "unit"}])
def test_a_wrong_parameter_is_refused(wrong):
    with pytest.raises(LeafcoverError):
        Halves(**{"by": ("x",), **wrong})


def test_a_category_is_refused():
    with pytest.raises(LeafcoverError, match="'job' is a category"):
        Halves(["job"]).cells(table(category("job", ["a", "b"])))
    assert Halves(["job"]).needs == ("job",)
