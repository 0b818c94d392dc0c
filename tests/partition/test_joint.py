"""The joint refinement against its twin, and what it promises on any table."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leafcover.errors import LeafcoverError
from leafcover.partition.forest import Refine, _bin_columns, explained_shares, refine_jointly
from leafcover.partition.leaves import Leaves, Whole
from tests import naive_joint
from tests.tables import mixed, mixed_tables


def parts_of(label):
    return {frozenset(np.flatnonzero(label == c).tolist()) for c in range(int(label.max()) + 1)}


@settings(max_examples=80)
@given(mixed_tables(min_rows=12, max_rows=50), st.integers(2, 6), st.integers(1, 3))
def test_refinement_is_its_twin(table, floor, cells):
    columns = [c for c in table if not c.missing.all()]
    label = np.arange(len(table)) % cells
    found = refine_jointly(columns, label, cells, floor=floor)
    codes, of_bin, _ = _bin_columns(columns)
    bins = [codes[:, j].tolist() for j in range(len(columns))]
    classes = [[int(of_bin[j][b]) for b in bins[j]] for j in range(len(columns))]
    is_number = [not c.is_category for c in columns]
    twin = [
        part
        for cell in range(cells)
        for part in naive_joint.refine(np.flatnonzero(label == cell).tolist(), bins, classes, is_number, floor)
    ]
    assert parts_of(found.label) == {frozenset(part) for part in twin}


@given(mixed_tables(min_rows=2), st.integers(2, 20))
def test_no_part_is_smaller_than_the_floor_unless_its_cell_was(table, floor):
    label = np.zeros(len(table), np.int64)
    found = refine_jointly(list(table), label, 1, floor=floor)
    assert np.bincount(found.label).min() >= min(floor, len(table))


def test_large_nodes_are_cut_by_a_sample_and_keep_the_floor():
    table = mixed(1, rows=9000)
    found = refine_jointly(list(table), np.zeros(9000, np.int64), 1, floor=40)
    sizes = np.bincount(found.label)
    assert sizes.min() >= 40
    assert found.count > 4
    again = refine_jointly(list(table), np.zeros(9000, np.int64), 1, floor=40)
    np.testing.assert_array_equal(found.label, again.label)


def test_refined_cells_lie_in_the_leaves_they_came_from():
    table = mixed(2, rows=1000)
    leaves = Leaves(of="class", min_cell=20)
    outer = leaves.cells(table).cells
    inner = Refine(leaves, by=("age", "town", "class"), floor=20).cells(table).cells
    assert inner.count > outer.count
    for cell in range(inner.count):
        assert len(set(outer.label[inner.label == cell])) == 1
    assert set(inner.box) == set(outer.box)


def test_only_columns_that_others_tell_of_are_explained():
    rng = np.random.default_rng(0)
    table = mixed(1, rows=5000, missing=0.0)
    label = np.zeros(5000, np.int64)
    apart = [replace(c, values=rng.permutation(c.values)) for c in table]
    assert max(explained_shares(apart, label, 1, floor=40)) < 0.01
    shares = dict(zip(table.names, explained_shares(list(table), label, 1, floor=40), strict=True))
    assert shares["town"] > 0.1
    assert shares["class"] > 0.3
    assert shares["noise"] < 0.01


@pytest.mark.parametrize("wrong", [{"by": ()}, {"by": ("age",), "floor": 1}])
def test_a_wrong_refinement_is_refused(wrong):
    with pytest.raises(LeafcoverError):
        Refine(Whole(), **wrong)
