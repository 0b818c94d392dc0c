"""Leaves as cells: pooled when small, with the box, the groups and the mixture they must have."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from leafcover.cells import LevelSet, Range
from leafcover.errors import LeafcoverError
from leafcover.partition.leaves import Leaves, pool
from leafcover.tree.c45 import grow
from leafcover.tree.predict import leaf_membership
from tests.tables import mixed, mixed_tables


@given(mixed_tables(), st.integers(1, 30))
def test_no_cell_is_smaller_than_min_cell(table, min_cell):
    cells = Leaves(of="class", min_cell=min_cell, min_records=2).cells(table).cells
    assert cells.smallest >= min(min_cell, len(table))
    assert set(cells.label) == set(range(cells.count))


@given(mixed_tables(), st.integers(1, 12))
def test_every_row_lies_in_the_box_of_its_cell(table, min_cell):
    cells = Leaves(of="class", min_cell=min_cell, min_records=2).cells(table).cells
    for name, side in cells.box.items():
        column = table[name]
        known = ~column.missing
        label, values = cells.label[known], column.values[known]
        if isinstance(side, Range):
            assert ((values > side.low[label]) & (values <= side.high[label])).all()
        else:
            assert isinstance(side, LevelSet)
            assert side.allowed[label, values].all()


@given(mixed_tables(min_rows=10), st.integers(2, 12))
def test_only_small_leaves_are_pooled_and_siblings_first(table, min_cell):
    tree = grow(table, target="class")
    reached = leaf_membership(tree, table)
    sizes = np.bincount(reached.set_of_row, minlength=len(reached))
    number = pool(tree, reached, sizes, min_cell)
    for one in range(int(number.max()) + 1):
        members = np.flatnonzero(number == one)
        if len(members) > 1:  # a pool holds at least one set that was too small
            assert sizes[members].min() < min_cell
    assert (number[sizes == 0] == -1).all()
    assert (number[sizes > 0] >= 0).all()


def test_min_cell_1_leaves_every_leaf_as_it_is():
    table = mixed(4)
    partition = Leaves(of="class", min_cell=1).cells(table)
    reached = leaf_membership(partition.trees[0], table)
    assert partition.cells.count == len(np.unique(reached.set_of_row))
    assert partition.cells.pooled_rows == 0


def test_mixed_says_which_cells_have_more_than_one_class():
    table = mixed(4)
    cells = Leaves(of="class").cells(table).cells
    for cell in range(cells.count):
        assert cells.mixed[cell] == (len(set(table["class"].values[cells.label == cell])) > 1)


def test_siblings_share_a_group():
    table = mixed(4, missing=0.0)
    partition = Leaves(of="job", min_cell=1).cells(table)
    tree, groups = partition.trees[0], partition.cells.groups
    reached = leaf_membership(tree, table)
    for cell in range(partition.cells.count):
        leaf = tree.leaves[reached.set_of_row[np.flatnonzero(partition.cells.label == cell)[0]]]
        assert groups[0][cell] == tree.parent[leaf]


def test_a_table_too_small_for_two_cells_is_one_cell_and_says_so():
    partition = Leaves(of="class", min_cell=20).cells(mixed(1, rows=30))
    assert partition.cells.count == 1
    assert "one cell" in " ".join(partition.notes)


@pytest.mark.parametrize("wrong", [{"min_cell": 0}, {"min_records": 0}, {"confidence": 0.0}])
def test_parameters_out_of_range_are_refused(wrong):
    with pytest.raises(LeafcoverError):
        Leaves(of="class", **wrong)
