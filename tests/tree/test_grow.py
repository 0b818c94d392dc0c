"""The kernels against their twin, and what must hold whatever the table."""

from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leafcover.errors import ValueOutOfRange
from leafcover.kernels import c45_rows as dealing
from leafcover.kernels.sorting import stable_order
from leafcover.table.io import read
from leafcover.tree.c45 import GrownTrees, grow, grow_from, grow_with_unpruned, resolve_grower
from leafcover.tree.predict import training_errors
from leafcover.tree.tree import Attribute, Training, Tree
from tests import naive_tree as naive
from tests.tree.strategies import shuffled, trainings


@settings(max_examples=150, deadline=None)
@given(trainings(), st.sampled_from([1, 2, 5]))
def test_tree_before_pruning_is_the_twins(training, min_records):
    tree = grow_from(training, min_records=min_records, prune=False)
    twin = naive.grow(training, min_records)
    assert naive.told_tree(tree) == naive.told(twin)
    assert tree.errors[0] == pytest.approx(float(twin["errors"]), abs=1e-3)


@settings(max_examples=150, deadline=None)
@given(trainings(), st.sampled_from([1, 2, 5]))
def test_pruned_tree_is_the_twins(training, min_records):
    tree = grow_from(training, min_records=min_records)
    twin = naive.prune(training, naive.grow(training, min_records))
    assert naive.told_tree(tree) == naive.told(twin)
    assert tree.estimate[0] == pytest.approx(float(twin["estimate"]), rel=1e-5)


def test_larger_tables_agree_with_the_twin_too():
    rng = np.random.default_rng(7)
    rows = 900
    columns = (
        np.where(rng.random(rows) < 0.1, np.nan, rng.normal(size=rows).round(2)),
        rng.integers(0, 40, rows) / 4.0,
        np.where(rng.random(rows) < 0.05, -1, rng.integers(0, 6, rows)).astype(np.int32),
    )
    lean = (np.nan_to_num(columns[0]) > 0.3).astype(int) + (columns[2] > 3) * (columns[1] > 5)
    labels = np.where(rng.random(rows) < 0.15, rng.integers(0, 3, rows), lean).astype(np.int32)
    attributes = (Attribute("a"), Attribute("b"), Attribute("c", tuple("uvwxyz"), False))
    training = Training("y", ("p", "q", "r"), labels, attributes, columns, np.arange(rows))
    both = grow_with_unpruned(training)
    twin = naive.grow(training, 2)
    assert naive.told_tree(both.unpruned) == naive.told(twin)
    assert naive.told_tree(both.pruned) == naive.told(naive.prune(training, twin))
    assert 1 < both.pruned.size < both.unpruned.size


def test_classes_that_do_not_fit_beside_the_row_number_are_looked_up(monkeypatch):
    rng = np.random.default_rng(3)
    columns = (np.where(rng.random(400) < 0.1, np.nan, rng.normal(size=400)), rng.integers(0, 3, 400).astype(np.int32))
    labels = (np.nan_to_num(columns[0]) > 0.2).astype(np.int32) + (columns[1] > 1)
    attributes = (Attribute("a"), Attribute("b", tuple("uvw"), False))
    training = Training("y", ("p", "q", "r"), labels, attributes, columns, np.arange(400))
    packed = naive.told_tree(grow_from(training))
    labels32 = labels.astype(np.int32)
    monkeypatch.setattr(dealing, "packing_of", lambda *_: dealing.Packing(np.uint64(0), np.uint64(0), labels32))
    assert naive.told_tree(grow_from(training)) == packed
    monkeypatch.undo()
    many = np.broadcast_to(np.int32(0), 3 << 20)
    assert int(dealing.packing_of(many, 1 << 10).mask) == (1 << 10) - 1
    assert int(dealing.packing_of(many, 1 << 11).mask) == 0


@settings(max_examples=60, deadline=None)
@given(trainings(missing=False), st.randoms(use_true_random=False))
def test_the_order_of_rows_does_not_matter_when_nothing_is_missing(training, random):
    order = np.arange(len(training.labels))
    random.shuffle(order)
    assert naive.told_tree(grow_from(training)) == naive.told_tree(grow_from(shuffled(training, order)))


@settings(max_examples=60, deadline=None)
@given(trainings())
def test_tree_is_well_formed(training):
    both = grow_with_unpruned(training)
    for tree in (both.unpruned, both.pruned):
        _check_shape(tree, training)
    assert both.pruned.size <= both.unpruned.size
    assert np.isnan(both.unpruned.estimate).all()
    assert both.pruned.estimate[0] <= naive.as_leaf(*_root(training))["estimate"] + 0.1


def _root(training):
    cases = [(row, np.float32(1)) for row in range(len(training.labels))]
    return naive._Table(training), {"label": 0}, cases


def _check_shape(tree: Tree, training: Training) -> None:
    inner = np.flatnonzero(tree.tested >= 0)
    assert tree.counts[0].tolist() == np.bincount(training.labels, minlength=len(training.classes)).tolist()
    assert tree.parent[0] == -1
    for node in inner:
        children = np.arange(tree.first[node], tree.first[node] + tree.branches[node])
        assert (tree.parent[children] == node).all()
        assert tree.counts[children].sum(axis=0) == pytest.approx(tree.counts[node], abs=1e-3)
        attribute = tree.attributes[tree.tested[node]]
        assert tree.branches[node] == (2 if attribute.is_number else len(attribute.levels))
        assert np.isnan(tree.cut[node]) != attribute.is_number
        if attribute.is_number:
            assert tree.cut[node] in training.columns[tree.tested[node]]
    assert len(inner) + len(tree.leaves) == tree.size


def test_cut_is_the_largest_original_value_that_single_precision_puts_below():
    close = [1.0, 1.0 + 1e-9, 5.0, 5.0]  # the first two are one 32-bit number
    training = Training(
        "y", ("a", "b"), np.array([0, 0, 1, 1], np.int32), (Attribute("x"),), (np.array(close),), np.arange(4)
    )
    tree = grow_from(training, prune=False)
    assert tree.cut[0] == close[1]
    assert training_errors(tree, training) == 0


def test_numbers_beyond_single_precision_are_cut_all_the_same():
    values = np.array([-1e300, -1e300, 0.0, 0.0, 1e300, 1e300])
    training = Training(
        "y", ("a", "b"), np.array([0, 0, 1, 1, 1, 1], np.int32), (Attribute("x"),), (values,), np.arange(6)
    )
    tree = grow_from(training, prune=False)
    assert tree.size == 3
    assert tree.cut[0] == -1e300


def test_a_table_without_attributes_gives_one_leaf():
    training = Training("y", ("a", "b"), np.array([1, 0, 1], np.int32), (), (), np.arange(3))
    tree = grow_from(training)
    assert tree.size == 1
    assert tree.classes[tree.label[0]] == "b"


def test_no_leaf_of_a_number_is_smaller_than_min_records():
    rng = np.random.default_rng(3)
    values = rng.random(500)
    labels = (rng.random(500) < values).astype(np.int32)
    training = Training("y", ("a", "b"), labels, (Attribute("x"),), (values,), np.arange(500))
    tree = grow_from(training, min_records=30, prune=False)
    assert tree.size > 1
    assert tree.counts[tree.leaves].sum(axis=1).min() >= 30


def test_less_confidence_prunes_more():
    table = read(Path(str(files("leafcover"))) / "data" / "german_credit.csv")
    sizes = [grow(table, target="class", confidence=share).size for share in (0.01, 0.25, 0.9)]
    assert sizes == sorted(sizes)
    assert sizes[0] < sizes[1] < sizes[2]


@pytest.mark.parametrize("wrong", [{"min_records": 0}, {"confidence": 0.0}, {"confidence": 1.5}, {"grower": "fast"}])
def test_a_parameter_out_of_its_range_is_refused(wrong):
    training = Training(
        "y", ("a", "b"), np.array([0, 1], np.int32), (Attribute("x"),), (np.array([1.0, 2.0]),), np.arange(2)
    )
    with pytest.raises(ValueOutOfRange, match=next(iter(wrong))):
        grow_from(training, **wrong)


def test_auto_hands_large_tables_to_the_histogram_grower():
    assert resolve_grower("auto", 200_000) == "exact"
    assert resolve_grower("auto", 200_001) == "histogram"
    assert resolve_grower("exact", 10**7) == "exact"


def test_one_growth_gives_both_trees():
    rng = np.random.default_rng(0)
    values = rng.random(300)
    labels = (rng.random(300) < 0.5).astype(np.int32)
    training = Training("y", ("a", "b"), labels, (Attribute("x"),), (values,), np.arange(300))
    both = grow_with_unpruned(training)
    assert isinstance(both, GrownTrees)
    assert naive.told_tree(both.unpruned) == naive.told_tree(grow_from(training, prune=False))
    assert naive.told_tree(both.pruned) == naive.told_tree(grow_from(training))


@given(st.lists(st.floats(width=32, allow_nan=True)))
def test_stable_order_is_numpys(values):
    column = np.array(values, np.float32)
    assert stable_order(column).tolist() == np.argsort(column, kind="stable").tolist()


def test_the_order_of_a_file_does_not_matter_to_categories_and_classes(tmp_path):
    source = Path(str(files("leafcover"))) / "data" / "german_credit.csv"
    head, *lines = source.read_text().splitlines()
    mixed = [lines[i] for i in np.random.default_rng(2).permutation(len(lines))]
    (tmp_path / "mixed.csv").write_text("\n".join([head, *mixed]) + "\n")
    trees = [grow(read(path), target="class") for path in (source, tmp_path / "mixed.csv")]
    assert naive.told_tree(trees[0]) == naive.told_tree(trees[1])


def test_numbers_beyond_single_precision_end():
    """Cuts between values whose sum no single-precision number holds: the grower once never came back."""
    rng = np.random.default_rng(33)
    rows = 300
    large = np.where(rng.random(rows) < 0.2, np.nan, rng.normal(size=rows) * 1e39)
    other = rng.integers(0, 4, rows).astype(float)
    labels = ((np.nan_to_num(large) > 0) ^ (rng.random(rows) < 0.2)).astype(np.int32)
    data = Training("y", ("0", "1"), labels, (Attribute("large"), Attribute("other")), (large, other), np.arange(rows))
    for min_records in (1, 2):
        assert grow_from(data, min_records=min_records).size >= 3
