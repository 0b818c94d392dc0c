"""Trees from noisy numbers: placing, splits and pruning against slow twins, and the published experiment in small."""

import numpy as np
import pytest
from benchmarks.agrawal import RANGES, people
from hypothesis import given
from hypothesis import strategies as st

import leafcover as lc
from leafcover.errors import NameUnknown, PlanError, TableError, ValueOutOfRange
from leafcover.keyed_random import Draws, Key
from leafcover.randomized_response.additive_noise import GaussianNoise, Noisy, UniformNoise, add_noise
from leafcover.randomized_response.additive_tree import (
    AdditiveTreeSettings,
    IntervalCoding,
    IntervalSplit,
    Node,
    Sample,
    assign_bins,
    best_split,
    counted,
    grow_reconstructed,
    grown,
    pruned,
    split_rows,
)
from leafcover.tree.export import rules, text
from leafcover.tree.predict import errors_on
from tests import naive_additive as naive
from tests.tables import category, number, table

DRAWS = Draws(Key.from_seed(11).secret)
ALGORITHMS = ("global", "byclass", "local")
SIZES, NUMBERS = (5, 4, 3), (True, True, False)


@st.composite
def samples(draw, missing=True):
    """Rows with two numbers and a category in codes, and three classes."""
    rng = np.random.default_rng(draw(st.integers(0, 9999)))
    rows = draw(st.integers(2, 40))
    least = -1 if missing else 0
    codes = tuple(rng.integers(least, size, rows).astype(np.int32) for size in SIZES)
    weights = rng.choice([0.25, 0.5, 1.0], rows) if missing else np.ones(rows)
    labels = rng.integers(0, 3, rows).astype(np.int32)
    return Sample(labels, np.zeros(rows, np.int32), weights, codes, (None, None, None))


CODING = IntervalCoding(SIZES, (np.arange(4.0), np.arange(3.0), np.empty(0)), NUMBERS, (None, None, None), 3)


@given(st.lists(st.one_of(st.just(np.nan), st.floats(-9, 9)), min_size=1, max_size=30), st.integers(1, 6), st.data())
def test_reports_fill_bins_in_order_as_the_slow_twin_does(reports, bins, data):
    parts = np.array(data.draw(st.lists(st.integers(0, 5), min_size=bins, max_size=bins)), float) + 0.01
    shares = parts / parts.sum()
    reports = np.array(reports) + 1e-6 * np.arange(len(reports))  # no ties
    assert assign_bins(reports, shares).tolist() == naive.assign_bins(reports, shares)


def test_weights_fill_bins_as_whole_rows_do():
    reports = np.array([1.0, 5.0, 2.0, 8.0])
    twice = np.repeat(reports, 2)
    shares = np.array([0.5, 0.25, 0.25])
    assert assign_bins(reports, shares, np.full(4, 2.0)).tolist() == assign_bins(twice, shares)[::2].tolist()


@given(samples(), st.integers(1, 4))
def test_the_best_split_gains_what_no_other_does(sample, min_records):
    tables = sample.tables(CODING)
    every = {
        (place, last): gain
        for place, (codes, size, is_number) in enumerate(zip(sample.codes, SIZES, NUMBERS, strict=True))
        for last, gain in naive.gains(codes, sample.labels, sample.weights, size, is_number, min_records).items()
    }
    found = best_split(tables, NUMBERS, min_records)
    most = max(every.values(), default=0.0)
    if found is None:
        assert most < 1e-6
    else:
        assert found.gain == pytest.approx(most)
        assert every[found.attribute, found.last] == pytest.approx(most)


@given(samples(), st.sampled_from([IntervalSplit(0, 2, 1.0), IntervalSplit(1, 0, 1.0), IntervalSplit(2, -1, 1.0)]))
def test_dividing_loses_no_row_and_shares_out_those_without_a_value(sample, split):
    parts = split_rows(sample, split, SIZES[split.attribute])
    assert sum(part.weights.sum() for part in parts) == pytest.approx(sample.weights.sum())
    np.testing.assert_allclose(sum(part.counts(CODING) for part in parts), sample.counts(CODING))
    for branch, part in enumerate(parts):
        known = part.codes[split.attribute]
        known = known[known >= 0]
        assert ((known > split.last) == branch).all() if split.is_number else (known == branch).all()


@given(samples(missing=False), st.integers(1, 3), st.integers(0, 4))
def test_a_tree_of_codes_is_that_of_the_slow_twin(sample, min_records, depth):
    empty = sample.take(np.zeros(0, np.int64))
    nodes = grown(sample, empty, CODING, AdditiveTreeSettings(min_records=min_records, max_depth=depth))

    def nested(place):
        node = nodes[place]
        if node.split is None:
            return node.label
        children = [nested(node.first + branch) for branch in range(node.branches)]
        return node.split.attribute, node.split.last, children

    codes = [column.tolist() for column in sample.codes]
    twin = naive.grown(codes, sample.labels.tolist(), [1.0] * len(sample), SIZES, NUMBERS, min_records, depth)
    assert nested(0) == twin


def test_columns_that_say_nothing_are_not_tested():
    some = table(
        number("none", np.full(40, np.nan)),
        number("one", np.ones(40)),
        category("empty", [None] * 40),
        category("alike", ["a"] * 40),
        category("class", ["x", "y"] * 20),
    )
    assert grow_reconstructed(some, {}, target="class", min_records=1, prune=False).size == 1


def test_counts_by_hand():
    codes, labels = np.array([0, 0, 1, -1], np.int32), np.array([0, 1, 1, 1], np.int32)
    np.testing.assert_array_equal(counted(codes, labels, np.array([1.0, 2, 4, 8]), (2, 2)), [[1, 2], [0, 4]])


def test_pruning_by_hand():
    def node(counts, held, label, split=None, first=-1):
        return Node(np.array(counts, float), np.array(held, float), label, split, first, 2 if split else 0)

    split = IntervalSplit(0, 0, 1.0)
    nodes = [
        node([50, 50], [25, 25], 0, split, 1),  # a leaf errs 25 times, its children 5 + 8 times
        node([45, 10], [22, 5], 0, split, 3),  # a leaf errs 5 times, its children 2 + 3: no better, so it is a leaf
        node([5, 40], [8, 20], 1),
        node([40, 3], [20, 2], 0),
        node([5, 7], [3, 3], 1),
    ]
    left = pruned(nodes)
    assert left[0].split is not None
    assert left[1].split is None
    chance = [node([50, 50], [25, 25], 0, split, 1), node([40, 10], [5, 20], 0), node([10, 40], [20, 5], 1)]
    assert pruned(chance)[0].split is None


def test_a_plain_table_gives_the_tree_of_its_rule():
    rng = np.random.default_rng(1)
    age, job = rng.integers(0, 60, 600), rng.choice(["clerk", "nurse"], 600)
    rich = (age > 30) & (job == "nurse")
    answers = category("rich", np.where(rich, "yes", "no").tolist())
    some = table(number("age", age), category("job", job.tolist()), answers)
    tree = grow_reconstructed(some, {}, target="rich", min_records=5)
    assert errors_on(tree, some) == 0
    assert len(tree.leaves) == 3
    assert tree.counts[0].sum() == 600
    assert "age <= 30" in rules(tree)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_rows_without_values_count_in_shares(algorithm):
    rng = np.random.default_rng(3)
    x, y = rng.uniform(0, 10, 3000), rng.uniform(0, 10, 3000)
    labels = np.where((x > 4) & (y > 3), "a", "b").tolist()
    noisy = {"x": Noisy(UniformNoise(2.0), 0, 10), "y": Noisy(UniformNoise(2.0), 0, 10)}
    hidden = table(
        number("x", np.where(rng.random(3000) < 0.1, np.nan, x), None),
        number("y", np.where(rng.random(3000) < 0.1, np.nan, y), None),
        number("lost", np.full(3000, np.nan), None),
        category("class", labels),
    )
    noisy["lost"] = noisy["x"]
    tree = grow_reconstructed(add_noise(hidden, noisy, DRAWS), noisy, target="class", algorithm=algorithm)
    assert tree.counts[0].sum() == pytest.approx(3000)
    assert tree.counts[tree.leaves].sum() == pytest.approx(3000)
    plain = table(number("x", x, None), number("y", y, None), number("lost", x, None), category("class", labels))
    assert errors_on(tree, plain) < 0.1 * 3000
    assert "x" in text(tree)


def accuracy(tree, test):
    return 1 - errors_on(tree, test) / len(test)


@pytest.mark.parametrize("distribution", [UniformNoise, GaussianNoise])
@pytest.mark.parametrize("function", [1, 3])
def test_reconstruction_by_class_is_far_better_than_ignored_noise(distribution, function):
    truth, test = people(10_000, function, seed=1), people(3_000, function, seed=2)
    noisy = {
        name: Noisy.with_privacy(1.0, low, high, distribution=distribution, step=step)
        for name, (low, high, step) in RANGES.items()
    }
    reported = add_noise(truth, noisy, DRAWS)
    plain = accuracy(grow_reconstructed(truth, {}, target="group"), test)
    ignored = accuracy(grow_reconstructed(reported, {}, target="group"), test)
    for algorithm in ("byclass", "local"):
        found = accuracy(grow_reconstructed(reported, noisy, target="group", algorithm=algorithm), test)
        assert found > ignored + 0.15 * (plain - ignored)
        assert found > plain - 0.25


def test_incomes_of_adult_from_noisy_ages_and_hours():
    adult = lc.read(lc.sample("adult"))
    training, test = adult.take(np.arange(20_000)), adult.take(np.arange(20_000, len(adult)))
    noisy = {
        "age": Noisy.with_privacy(1.0, 17, 90, distribution=GaussianNoise, step=1),
        "hours_per_week": Noisy.with_privacy(1.0, 1, 99, distribution=GaussianNoise, step=1),
        "education_num": Noisy.with_privacy(1.0, 1, 16, distribution=GaussianNoise, step=1),
    }
    columns = [*noisy, "relationship", "occupation"]
    reported = add_noise(training, noisy, DRAWS)
    plain = accuracy(grow_reconstructed(training, {}, target="income", attributes=columns), test)
    found = accuracy(grow_reconstructed(reported, noisy, target="income", attributes=columns), test)
    assert found > plain - 0.03
    assert found > 0.79  # 0.76 have the lower income


def test_what_cannot_grow_is_refused():
    some = table(number("x", [1, 2, 30]), category("c", ["a", "b", "a"]), category("d", ["a", "b", "a"]))
    noisy = Noisy(UniformNoise(5.0), 0, 10)
    with pytest.raises(NameUnknown, match="column 'y'"):
        grow_reconstructed(some, {"y": noisy}, target="c")
    with pytest.raises(PlanError, match="is a category"):
        grow_reconstructed(some, {"d": noisy}, target="c")
    with pytest.raises(TableError, match="1 reports of column 'x'"):
        grow_reconstructed(some, {"x": noisy}, target="c")
    with pytest.raises(NameUnknown, match="algorithm"):
        grow_reconstructed(some, {}, target="c", algorithm="by class")
    with pytest.raises(NameUnknown, match="stopping rule"):
        grow_reconstructed(some, {}, target="c", stop="soon")
    for wrong in ({"min_records": 0}, {"max_depth": -1}):
        with pytest.raises(ValueOutOfRange):
            grow_reconstructed(some, {}, target="c", **wrong)
