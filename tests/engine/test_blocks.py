"""Columns that belong together: found inside cells, against a slow twin."""

import numpy as np
import pytest
from hypothesis import given, settings

from leafcover.cells import Cells, one_cell
from leafcover.errors import LeafcoverError
from leafcover.kernels.dealing import rows_by_cell
from leafcover.kernels.joint import pair_bits, value_bits
from leafcover.recipes.cells import association, cells
from leafcover.recipes.cells import found_blocks as blocks
from leafcover.table.io import read
from tests import naive_joint
from tests.data import table_path
from tests.tables import category, mixed, mixed_tables, number, table


@settings(max_examples=40)
@given(mixed_tables())
def test_information_inside_cells_is_its_twins(random):
    label = np.arange(len(random)) % 3
    codes = np.array([random[n].values + 1 for n in ("kind", "other", "class")], np.int64)
    order, starts = rows_by_cell(label, 3)
    n = np.arange(len(random) + 1, dtype=float)
    growth = np.diff(n * np.log2(np.maximum(n, 1)), prepend=0.0)
    same = np.arange(len(random))
    pairs = pair_bits(codes, np.array([5, 5, 5]), order, starts, same, growth)
    memory = np.zeros(5, np.int64)
    alone = [value_bits(row, order, starts, growth, memory) for row in codes]
    everything = value_bits(np.zeros(len(random), np.int64), order, starts, growth, memory)
    for i, j in ((0, 1), (0, 2), (1, 2)):
        found = pairs[i, j] + everything - alone[i] - alone[j]
        assert found == pytest.approx(naive_joint.information(codes[i].tolist(), codes[j].tolist(), label.tolist()))


def pairs_table(rows=2000):
    rng = np.random.default_rng(1)
    town = rng.integers(0, 4, rows)
    zone = (town + (rng.random(rows) < 0.1)) % 4
    return table(
        category("town", [f"t{v}" for v in town]),
        category("zone", [f"z{v}" for v in zone]),
        number("age", rng.integers(20, 60, rows)),
        number("id", rng.permutation(rows)),
        category("class", [str(v) for v in rng.integers(0, 2, rows)]),
    )


def test_columns_that_tell_of_each_other_form_a_block_and_others_do_not():
    t = pairs_table()
    assert blocks(t, ["town", "zone", "age", "id"], one_cell(2000), k=20) == [("town", "zone"), ("age",), ("id",)]


def test_what_the_cells_already_explain_is_no_reason_for_a_block():
    t = pairs_table()
    found = Cells(t["town"].values.astype(np.int64), 4)
    assert association(t, ["town", "zone"], found).share[0, 1] == 0.0


def test_a_near_unique_column_stays_alone():
    t = pairs_table()
    twin = number("twin", t["id"].values * 2)
    wide = table(*t.columns, twin)
    assert ("id",) in blocks(wide, ["town", "id", "twin"], one_cell(2000), k=20)


def test_adults_blocks_are_those_a_person_would_name():
    t = read(table_path("adult"))
    found = {step.columns for step in cells(t, target="income").steps if len(step.columns) > 1}
    assert ("education", "education_num") in found
    assert ("relationship", "sex") in found
    assert all(len(block) == 2 for block in found)


def test_blocks_and_refined_columns_can_be_overridden():
    t = mixed(1)
    plan = cells(t, target="class", blocks="age+pay,job", refine="town")
    assert [s.columns for s in plan.steps] == [("age", "pay"), ("job",), ("noise",), ("town",), ("class",)]
    assert plan.steps[0].within.by == ("town",)
    alone = cells(t, target="class", blocks="none", refine="none")
    assert all(len(s.columns) == 1 for s in alone.steps)


WRONG = [
    {"blocks": "age+agee"},
    {"blocks": "age+pay,pay+job"},
    {"blocks": "class+age"},
    {"refine": "agee"},
    {"k": 1},
]


@pytest.mark.parametrize("wrong", WRONG)
def test_a_wrong_choice_is_refused(wrong):
    with pytest.raises(LeafcoverError):
        cells(mixed(1), target="class", **wrong)
