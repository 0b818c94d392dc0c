"""The histogram growers against their slow twins, and what they promise at any size."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leafcover.errors import ValueOutOfRange
from leafcover.kernels.histogram_refine import complexity
from leafcover.tree.histogram import Binned, bin_columns, explained, grow_histogram, quantile_codes, refine_labels
from leafcover.tree.tree import Attribute, Training
from tests import naive_histogram as naive

slow_enough = settings(max_examples=60, deadline=None)


def mixed(seed: int, rows: int, *, classes: int = 2, missing: float = 0.0, steps: int = 12, noise: float = 0.2):
    """A table with three numbers (one constant), three categories (one with one level) and a target."""
    rng = np.random.default_rng(seed)
    first = rng.integers(0, steps, rows).astype(float)
    second = np.round(rng.normal(size=rows), 1)
    third = rng.integers(0, 4, rows).astype(np.int32)
    fourth = rng.integers(0, 7, rows).astype(np.int32)
    signal = (first > steps / 2).astype(int) + (third == 1) * (second > 0)
    target = np.where(rng.random(rows) < noise, rng.integers(0, classes, rows), signal % classes)
    columns = [first, second, np.full(rows, 3.5), third, fourth, np.zeros(rows, np.int32)]
    for column in columns:
        gone = rng.random(rows) < missing
        column[gone] = -1 if column.dtype == np.int32 else np.nan
    levels = [0, 0, 0, 4, 7, 1]
    attributes = [Attribute(f"a{i}", tuple(f"v{v}" for v in range(n)), is_number=n == 0) for i, n in enumerate(levels)]
    return attributes, columns, target.astype(np.int32)


def as_training(attributes, columns, target, classes) -> Training:
    names = tuple(f"k{k}" for k in range(classes))
    return Training("y", names, target, tuple(attributes), tuple(columns), np.arange(len(target)))


def codes_of(binned: Binned):
    return binned.codes[:, : len(binned.attributes)].astype(int)


# ------------------------------------------------------------------------------------------------- bins


def test_few_distinct_values_have_a_bin_each_and_missing_has_code_0():
    binned = bin_columns(
        [Attribute("x"), Attribute("c", ("a", "b"), False)],
        [np.array([2.5, np.nan, -1.0, 2.5]), np.array([1, 0, -1, 1], np.int32)],
    )
    assert codes_of(binned).tolist() == [[2, 2], [0, 1], [1, 0], [2, 2]]
    assert binned.exact.tolist() == [True, True]
    assert binned.missing.tolist() == [1, 1]


@given(st.integers(0, 10_000), st.sampled_from([300, 5_000]))
@slow_enough
def test_a_value_lies_in_the_bin_between_its_edges(seed, rows):
    rng = np.random.default_rng(seed)
    values = np.where(rng.random(rows) < 0.3, 0.0, np.exp(rng.normal(size=rows) * 3))
    values[rng.random(rows) < 0.1] = np.nan
    binned = bin_columns([Attribute("x")], [values])
    edges, code = binned.edges[0], codes_of(binned)[:, 0]
    known = ~np.isnan(values)
    assert (np.isin(edges, values)).all()
    assert (np.diff(edges) > 0).all()
    assert len(edges) <= 255
    assert (code[~known] == 0).all()
    assert (code[known] == np.searchsorted(edges, values[known]) + 1).all()


def test_bins_of_a_smooth_column_are_about_equally_full():
    values = np.random.default_rng(1).normal(size=100_000)
    filled = np.bincount(codes_of(bin_columns([Attribute("x")], [values]))[:, 0])[1:]
    assert len(filled) == 255
    assert filled.min() > 380
    assert filled.max() < 400


def test_a_heap_has_a_bin_of_its_own():
    rng = np.random.default_rng(2)
    values = np.where(rng.random(50_000) < 0.6, 7.0, rng.normal(7, 3, 50_000))
    binned = bin_columns([Attribute("x")], [values])
    heap = codes_of(binned)[values == 7.0, 0]
    assert (values[codes_of(binned)[:, 0] == heap[0]] == 7.0).all()


def test_a_rare_value_that_the_sample_missed_still_has_its_bin():
    values = np.arange(600_000) % 3 * 1.0
    values[100_001] = 17.0
    binned = bin_columns([Attribute("x")], [values])
    assert binned.edges[0].tolist() == [0.0, 1.0, 2.0, 17.0]
    assert binned.exact[0]
    assert binned.codes[100_001, 0] == 4


def test_categories_with_many_levels_take_two_bytes():
    codes = np.arange(1000, dtype=np.int32)
    binned = bin_columns([Attribute("c", tuple(map(str, codes)), False)], [codes])
    assert binned.codes.dtype == np.uint16
    assert (binned.codes[:, 0] == codes + 1).all()


def test_a_column_all_missing_has_no_edges():
    binned = bin_columns([Attribute("x")], [np.full(5, np.nan)])
    assert binned.sizes.tolist() == [1]
    assert binned.missing.tolist() == [5]


def test_quantile_codes_keep_equal_values_together():
    values = np.array([1.0, 1.0, 1.0, 1.0, 2.0, 3.0, np.nan, 4.0])
    codes, groups = quantile_codes(values, bins=3)
    assert codes.tolist() == [0, 0, 0, 0, 1, 1, -1, 2]
    assert groups == 3


# ------------------------------------------------------------------------------------------------- refining


@given(
    seed=st.integers(0, 100_000),
    rows=st.sampled_from([2, 3, 17, 40, 90]),
    classes=st.integers(2, 4),
    cells=st.integers(1, 3),
    floor=st.integers(1, 6),
    missing=st.sampled_from([0.0, 0.2]),
    least=st.sampled_from([-np.inf, -4.0, 0.0]),
    one_level=st.booleans(),
)
@slow_enough
def test_refining_equals_its_twin(seed, rows, classes, cells, floor, missing, least, one_level):
    attributes, columns, target = mixed(seed, rows, classes=classes, missing=missing)
    binned = bin_columns(attributes, columns)
    labels = np.random.default_rng(seed).integers(0, cells, rows)
    refined = refine_labels(
        binned, target, classes, labels, cells, floor=floor, min_gain_bits=least, one_level=one_level
    )
    expected, gains = naive.refine(codes_of(binned), target, labels, binned.is_number, floor, least, one_level)
    assert refined.labels.tolist() == expected.tolist()
    assert refined.gain_by_attribute == pytest.approx(gains)
    assert refined.n_labels == expected.max() + 1


@given(
    seed=st.integers(0, 100_000),
    rows=st.sampled_from([50, 3000, 20_000]),
    floor=st.integers(1, 60),
    cells=st.integers(1, 400),
)
@settings(max_examples=25, deadline=None)
def test_no_cell_falls_below_the_floor_and_every_new_cell_lies_in_an_old_one(seed, rows, floor, cells):
    attributes, columns, target = mixed(seed, rows, classes=3, missing=0.05, steps=200, noise=0.5)
    labels = np.random.default_rng(seed).integers(0, cells, rows)
    refined = refine_labels(
        bin_columns(attributes, columns), target, 3, labels, cells, floor=floor, min_gain_bits=-np.inf
    )
    sizes = np.bincount(refined.labels, minlength=refined.n_labels)
    old = np.full(refined.n_labels, -1)
    old[refined.labels] = labels
    assert (old[refined.labels] == labels).all()
    assert (np.diff(old) >= 0).all()  # numbered by old label first
    untouched = np.bincount(old, minlength=cells)[old] == 1
    assert (sizes[~untouched] >= floor).all()
    assert sizes.sum() == rows


def test_refining_does_not_depend_on_the_order_of_rows():
    attributes, columns, target = mixed(5, 30_000, classes=3, missing=0.05, steps=100, noise=0.4)
    labels = np.random.default_rng(5).integers(0, 7, 30_000)
    order = np.random.default_rng(6).permutation(30_000)
    options = {"floor": 20, "min_gain_bits": -np.inf}
    plain = refine_labels(bin_columns(attributes, columns), target, 3, labels, 7, **options)
    turned = refine_labels(
        bin_columns(attributes, [c[order] for c in columns]), target[order], 3, labels[order], 7, **options
    )
    assert (plain.labels[order] == turned.labels).all()
    assert plain.n_labels > 100


def test_large_cells_give_the_same_as_many_small_looks():
    """A cell of 2,000 rows goes through subtracted histograms; its twin counts every node anew."""
    attributes, columns, target = mixed(8, 2_000, classes=2, missing=0.02, steps=30, noise=0.3)
    binned = bin_columns(attributes, columns)
    labels = np.zeros(2_000, np.int64)
    refined = refine_labels(binned, target, 2, labels, 1, floor=15)
    expected, _ = naive.refine(codes_of(binned), target, labels, binned.is_number, 15, 0.0)
    assert refined.labels.tolist() == expected.tolist()


@pytest.mark.parametrize("classes", [2, 3, 5])
@pytest.mark.parametrize("rows", [1, 4, 11, 20])
def test_the_price_of_fitted_shares_is_near_its_definition(classes, rows):
    assert complexity(classes, rows) == pytest.approx(naive.exact_complexity(classes, rows), abs=0.03)


def test_only_testable_attributes_are_tested():
    attributes, columns, target = mixed(3, 3_000)
    testable = np.array([False, True, True, False, True, True])
    refined = refine_labels(
        bin_columns(attributes, columns), target, 2, np.zeros(3_000, np.int64), 1, floor=5, testable=testable,
        min_gain_bits=-np.inf,
    )  # fmt: skip
    assert (refined.gain_by_attribute[~testable] == 0).all()
    assert refined.gain_by_attribute[testable].sum() > 0


def test_a_missing_target_is_a_class_of_its_own():
    value = np.arange(400.0)
    target = np.where(value < 200, 0, -1).astype(np.int32)
    binned = bin_columns([Attribute("x")], [value])
    refined = refine_labels(binned, target, 1, np.zeros(400, np.int64), 1, floor=5)
    assert refined.n_labels == 2
    assert refined.explained > 0.9


def test_noise_explains_nothing_and_a_copy_explains_nearly_all():
    rng = np.random.default_rng(4)
    rows = 20_000
    chance = rng.integers(0, 20, rows).astype(np.int32)
    columns = [rng.normal(size=rows), rng.integers(0, 15, rows).astype(np.int32), chance.astype(float)]
    attributes = [Attribute("n"), Attribute("c", tuple("abcdefghijklmno"), False), Attribute("copy")]
    binned = bin_columns(attributes, columns)
    cells = np.zeros(rows, np.int64)
    luck = explained(binned, chance, 20, cells, 1, floor=20, testable=np.array([True, True, False]))
    whole = explained(binned, chance, 20, cells, 1, floor=20, most_rows=5_000)
    assert luck < 0.001
    assert whole > 0.95


def test_codes_beyond_the_classes_or_labels_are_refused():
    attributes, columns, target = mixed(3, 30)
    binned, cells = bin_columns(attributes, columns), np.zeros(30, np.int64)
    with pytest.raises(ValueOutOfRange, match="target_codes"):
        refine_labels(binned, target + 5, 2, cells, 1, floor=2)
    with pytest.raises(ValueOutOfRange, match="labels"):
        refine_labels(binned, target, 2, cells + 1, 1, floor=2)


def test_a_floor_below_one_is_refused():
    attributes, columns, target = mixed(3, 30)
    with pytest.raises(ValueOutOfRange, match="floor"):
        refine_labels(bin_columns(attributes, columns), target, 2, np.zeros(30, np.int64), 1, floor=0)


# ------------------------------------------------------------------------------------------------- C4.5


def equal_trees(tree, node, number=0):
    assert tree.counts[number] == pytest.approx(node.counts, abs=1e-9)
    assert tree.label[number] == node.label
    assert tree.errors[number] == pytest.approx(node.errors, abs=1e-9)
    assert tree.tested[number] == node.attribute
    if node.attribute >= 0:
        assert tree.cut[number] == pytest.approx(node.cut, nan_ok=True)
        assert tree.branches[number] == len(node.children)
        for b, child in enumerate(node.children):
            assert tree.parent[tree.first[number] + b] == number
            equal_trees(tree, child, tree.first[number] + b)


def twin_of(attributes, columns, target, classes, **options):
    return naive.c45(
        [c.tolist() for c in columns],
        [a.is_number for a in attributes],
        [len(a.levels) for a in attributes],
        target.tolist(),
        classes,
        **options,
    )


@given(
    seed=st.integers(0, 100_000),
    rows=st.sampled_from([2, 3, 10, 60, 150]),
    classes=st.integers(2, 4),
    min_records=st.sampled_from([1, 2, 7]),
)
@slow_enough
def test_the_tree_equals_its_twin(seed, rows, classes, min_records):
    attributes, columns, target = mixed(seed, rows, classes=classes)
    tree = grow_histogram(as_training(attributes, columns, target, classes), min_records=min_records, prune=False)
    equal_trees(tree, twin_of(attributes, columns, target, classes, min_records=min_records))


@given(
    seed=st.integers(0, 100_000),
    rows=st.sampled_from([2, 3, 10, 60, 150]),
    classes=st.integers(2, 3),
    missing=st.sampled_from([0.02, 0.3]),
)
@slow_enough
def test_the_tree_with_missing_values_equals_its_twin(seed, rows, classes, missing):
    attributes, columns, target = mixed(seed, rows, classes=classes, missing=missing)
    tree = grow_histogram(as_training(attributes, columns, target, classes), prune=False)
    equal_trees(tree, twin_of(attributes, columns, target, classes))


def test_a_large_node_goes_through_subtracted_histograms_to_the_same_tree():
    attributes, columns, target = mixed(11, 3_000, classes=3, steps=40)
    tree = grow_histogram(as_training(attributes, columns, target, 3), prune=False)
    equal_trees(tree, twin_of(attributes, columns, target, 3, log=lambda n: n * np.log2(n) if n else 0.0))


def test_nodes_stand_breadth_first_and_children_side_by_side():
    attributes, columns, target = mixed(12, 5_000, steps=40)
    tree = grow_histogram(as_training(attributes, columns, target, 2))
    inner = np.flatnonzero(tree.tested >= 0)
    assert (np.diff(tree.first[inner]) == tree.branches[inner][:-1]).all()
    assert tree.first[inner[0]] == 1
    assert tree.size == 1 + tree.branches.sum()
    assert np.isfinite(tree.estimate).all()


def test_pruning_only_turns_subtrees_into_leaves():
    attributes, columns, target = mixed(13, 5_000, steps=40)
    training = as_training(attributes, columns, target, 2)
    pruned, full = grow_histogram(training), grow_histogram(training, prune=False)
    assert 1 < pruned.size < full.size
    assert pruned.errors[0] >= full.errors[0]


def test_cuts_are_values_of_the_data():
    rng = np.random.default_rng(14)
    x = rng.normal(size=5_000)
    target = ((x > 0.3) ^ (rng.random(5_000) < 0.1)).astype(np.int32)
    tree = grow_histogram(as_training([Attribute("x")], [x], target, 2))
    assert np.isin(tree.cut[tree.tested >= 0], x).all()
    assert tree.cut[0] == pytest.approx(0.3, abs=0.05)


def test_one_class_gives_one_leaf():
    tree = grow_histogram(as_training([Attribute("x")], [np.arange(5.0)], np.zeros(5, np.int32), 2))
    assert tree.size == 1


def test_without_attributes_there_is_one_leaf():
    tree = grow_histogram(as_training([], [], np.array([0, 1, 1, 0, 1], np.int32), 2))
    assert tree.size == 1
    assert tree.label.tolist() == [1]


def test_a_table_with_many_missing_values_keeps_its_weight():
    attributes, columns, target = mixed(15, 4_000, classes=3, missing=0.2, steps=300)
    tree = grow_histogram(as_training(attributes, columns, target, 3), prune=False)
    assert tree.size > 10
    assert tree.counts[tree.leaves].sum() == pytest.approx(4_000)
    for node in np.flatnonzero(tree.tested >= 0):
        children = slice(tree.first[node], tree.first[node] + tree.branches[node])
        assert tree.counts[children].sum(axis=0) == pytest.approx(tree.counts[node])


def test_rows_in_another_order_give_the_same_tree():
    attributes, columns, target = mixed(16, 6_000, classes=3, steps=90)
    order = np.random.default_rng(1).permutation(6_000)
    plain = grow_histogram(as_training(attributes, columns, target, 3))
    turned = grow_histogram(as_training(attributes, [c[order] for c in columns], target[order], 3))
    assert (plain.tested == turned.tested).all()
    assert (plain.counts == turned.counts).all()
    assert np.array_equal(plain.cut, turned.cut, equal_nan=True)


def test_a_confidence_of_0_is_refused():
    with pytest.raises(ValueOutOfRange, match="confidence"):
        grow_histogram(as_training([Attribute("x")], [np.arange(5.0)], np.zeros(5, np.int32), 2), confidence=0.0)
