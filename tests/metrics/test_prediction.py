"""Models grown on the release against models grown on the original: by hand, at both ends, and on awkward tables."""

import sys
from math import isnan, nan, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from leafcover.errors import LeafcoverError, NameUnknown, TableError, ValueOutOfRange
from leafcover.metrics.estimates import balanced_difference_of, balanced_share_of, difference_of, share_of
from leafcover.metrics.models import (
    answers,
    classes_for,
    features_of,
    forest_of,
    learning,
    mostly_unique,
    prepared,
    scikit_learn,
)
from leafcover.metrics.pair import pair_of
from leafcover.metrics.utility.prediction import SIX, agree, agreement, prediction
from leafcover.table.io import read, sample
from leafcover.tree.predict import classify_forest
from leafcover.tree.sysfor import grow_forest
from leafcover.tree.tree import classes_of
from tests import quality
from tests.metrics.pairs import apart, awkward, copy_of, reordered
from tests.small_models import small_models
from tests.tables import category, mixed, number, table

CONTROL = mixed(21, rows=500, missing=0.0)


def estimates(*objects):
    """Every estimate in some results."""
    found = []
    for one in objects:
        found += [v for v in vars(one).values() if type(v).__name__ == "Estimate"]
    return found


@pytest.mark.parametrize("target", ["class", "job"])
def test_forests_are_those_of_scikit_learn(target):
    from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

    whole, asked = mixed(4, rows=430, missing=0.0), mixed(5, rows=150, missing=0.0)
    features = features_of(whole)
    training, test = (prepared(one, features).without(target) for one in (whole, asked))
    labels = whole[target].values
    forest = RandomForestClassifier(50, min_samples_leaf=2, random_state=0)
    expected = forest.fit(training.matrix, labels).predict(test.matrix)
    assert answers("random forest", training, labels, test).tolist() == expected.tolist()
    regressor = RandomForestRegressor(5, max_features=0.5, random_state=3).fit(training.matrix, whole["pay"].values)
    trees = forest_of(training.matrix, whole["pay"].values, 5, 3, is_category=False, max_features=0.5)
    leaves = np.column_stack([tree.apply(test.matrix) for tree in trees])
    assert leaves.tolist() == regressor.apply(test.matrix).tolist()


class TestFeatures:
    def test_numbers_by_hand(self):
        # known 1, 3, 5: mean 3, deviation sqrt(8 / 3); the missing one stands at the median 3, with a mark
        features = features_of(table(number("x", [1, nan, 3, 5])))
        edge = 2 / sqrt(8 / 3)
        found = features.matrix(table(number("x", [1, nan, 3, 5])))
        np.testing.assert_allclose(found, [[-edge, 0], [0, 1], [0, 0], [edge, 0]], atol=1e-6)
        assert found.dtype == np.float32
        # another table is measured by the first's figures
        np.testing.assert_allclose(features.matrix(table(number("x", [7.0]))), [[2 * edge, 0]], atol=1e-6)

    def test_categories_by_hand(self):
        columns = category("c", ["a", None, "b", "a"]), category("unseen", ["p", "p", "p", "p"])
        features = features_of(table(*columns))
        assert features.origin == ("c", "c", "c", "unseen")
        assert features.matrix(table(*columns)).tolist() == [[1, 0, 0, 1], [0, 0, 1, 1], [0, 1, 0, 1], [1, 0, 0, 1]]

    def test_a_level_that_training_never_met_is_none_of_them(self):
        whole = table(category("c", ["a", "b", "z"]))
        assert features_of(whole.take(np.array([0, 1]))).matrix(whole).tolist() == [[1, 0], [0, 1], [0, 0]]

    def test_rare_levels_share_a_feature(self):
        many = table(category("c", [f"{i % 80:02d}" for i in range(140)]))  # 60 levels twice, 20 once
        found = features_of(many).matrix(many)
        assert found.shape == (140, 51)
        assert found.sum(axis=1).tolist() == [1] * 140
        assert found[:, 50].sum() == 140 - 2 * 50

    def test_far_numbers_stay_finite(self):
        features = features_of(table(number("x", [-1e308, 1e308, 0]), number("same", [1e-320] * 3)))
        found = features.matrix(table(number("x", [1e308, nan, 3]), number("same", [1e300, 0, 1e-320])))
        assert np.isfinite(found).all()
        assert np.abs(found).max() <= 100


class TestClasses:
    def test_by_hand(self):
        few = number("x", [1, 2, 2, 4, nan])
        # each value is a class, cut half-way: up to 1.5, up to 3, above
        assert classes_for(few).of(number("x", [0, 1.5, 2.9, 3.1, nan])).tolist() == [0, 0, 1, 2, -1]
        assert classes_for(few, with_missing=True).of(few).tolist() == [0, 1, 1, 2, 3]
        assert classes_for(few, with_missing=True).count == 4
        levels = category("c", ["a", "b", "b", None])
        assert classes_for(levels, with_missing=True).of(levels).tolist() == [0, 1, 1, 3]
        assert classes_for(levels).of(levels).tolist() == [0, 1, 1, -1]

    @given(st.lists(st.integers(-40, 40), min_size=20, max_size=60), st.integers(2, 6))
    def test_bins_are_those_of_trees(self, values, bins):
        column = number("x", values)
        if len(set(values)) <= 10:
            return
        names, codes = classes_of(column, bins=bins)
        found = classes_for(column, bins=bins)
        assert found.of(column).tolist() == codes.tolist()
        assert found.count == len(names)

    def test_what_cannot_be_a_target(self):
        assert classes_for(number("x", [nan, nan])).count == 0
        assert classes_for(category("c", [None, None]), with_missing=True).count == 1
        assert mostly_unique(category("c", ["a", "b", "c", "c", None]))
        assert not mostly_unique(category("c", ["a", "b", "b", "a"]))
        with pytest.raises(ValueOutOfRange, match="bins"):
            classes_for(number("x", [1, 2]), bins=1)


class TestShares:
    labels = np.array([0, 0, 0, 1], np.int32)
    right = np.array([1.0, 1.0, 0.0, 1.0])

    def test_by_hand(self):
        assert share_of([self.right]).value == 0.75
        assert share_of([self.right]).runs == 4
        # recalls 2/3 and 1
        assert balanced_share_of([self.right], [self.labels]).value == pytest.approx(5 / 6)
        # differences 0, 0, -1, 0: mean -1/4, variance 1/4, so 1.96 * sqrt(1/4 / 4) either side
        apart_ = difference_of([self.right], [np.ones(4)])
        assert apart_.value == -0.25
        assert apart_.high == pytest.approx(-0.25 + 1.959964 * 0.25)
        # a class of one row says nothing of its error
        assert isnan(balanced_difference_of([self.right], [np.ones(4)], [self.labels]).low)

    def test_several_runs_are_weighed_alike(self):
        runs = [np.ones(1), np.zeros(9)]
        assert share_of(runs).value == 0.5
        assert share_of(runs).runs == 2
        assert balanced_share_of(runs, [self.labels[:1], np.zeros(9, np.int32)]).value == 0.5

    def test_nothing_is_not_known(self):
        none, no_labels = [np.empty(0)], [np.empty(0, np.int32)]
        for found in (share_of(none), difference_of(none, none), balanced_share_of(none, no_labels), share_of([])):
            assert isnan(found.value)
            assert found.runs == 0

    def test_intervals_hold_what_they_say(self):
        """Of 400 samples about 95 % of the intervals of a balanced share must hold it; neither all nor few."""
        rng = np.random.default_rng(0)
        labels = np.repeat([0, 1], [150, 50]).astype(np.int32)
        truth = np.where(labels == 0, 0.9, 0.4)
        found = [balanced_share_of([(rng.random(200) < truth).astype(float)], [labels]) for _ in range(400)]
        assert 0.91 <= np.mean([f.low <= 0.65 <= f.high for f in found]) <= 0.99


def stripes(cut, rows=range(10)):
    """Class b above a cut."""
    return table(number("x", list(rows)), category("class", ["b" if x > cut else "a" for x in rows]))


class TestPrediction:
    def test_by_hand(self):
        """The release cuts at 6 instead of 4, so it errs on 5 and 6, two of the five rows asked."""
        original, released, test = stripes(4), stripes(6), stripes(4, [0, 4, 5, 6, 9])
        pair = pair_of(original, released, np.arange(10), target="class", control=test)
        found = prediction([pair], models=["c4.5"])
        score = found.scores[0]
        assert (score.original.value, score.released.value) == (1.0, pytest.approx(0.6))
        assert score.difference.value == pytest.approx(-0.4)
        assert score.balanced_released.value == pytest.approx((2 / 2 + 1 / 3) / 2)
        assert score.alike.value == pytest.approx(0.6)
        assert found.majority.value == pytest.approx(0.4)  # a and b have five rows each, the first is answered
        assert (found.classes, found.rows, found.tests) == (2, 10, 5)

    def test_every_model_learns(self):
        """The class hangs on a number and a category together, so that no straight line finds all of it."""
        found = prediction([copy_of(mixed(20, rows=1000, missing=0.0), target="class", control=CONTROL)])
        accuracy = {score.model: score.original.value for score in found.scores}
        assert accuracy.pop("logistic regression") > found.majority.high
        assert min(accuracy.values()) > 0.75

    def test_the_original_loses_nothing(self):
        found = prediction([copy_of(mixed(20), target="class", control=CONTROL)])
        assert [score.model for score in found.scores] == list(SIX)
        for score in found.scores:
            assert score.released == score.original
            assert score.alike.value == 1
            assert (score.difference.low, score.difference.high) == (0, 0)
            assert score.original.value > found.majority.value

    def test_columns_shuffled_apart_teach_nothing(self):
        found = prediction([apart(mixed(20, rows=2000), target="class", control=CONTROL)])
        for score in found.scores:
            assert abs(score.balanced_released.value - 0.5) < 0.12
            assert score.difference.high < -0.1
            assert score.balanced_difference.high < -0.1

    def test_models_may_answer_alike_and_be_wrong(self):
        test = table(number("x", [1, 5, 6, 9]), category("class", ["b", "b", "b", "a"]))
        pair = pair_of(stripes(4), stripes(6), np.arange(10), target="class", control=test)
        score = prediction([pair], models=["c4.5"]).scores[0]  # a, b, b, b against a, a, a, b
        assert (score.released.value, score.original.value, score.alike.value) == (0.0, 0.5, 0.5)

    def test_sysfor_is_the_vote_of_its_forest(self):
        original, released = mixed(20, rows=800, missing=0.05), mixed(23, rows=800)
        pair = pair_of(original, released, np.arange(800), target="class", control=CONTROL)
        score = prediction([pair], models=["sysfor"]).scores[0]
        ours, theirs = (
            classify_forest(grow_forest(rows, target="class", n_trees=20), CONTROL) for rows in (original, released)
        )
        truth = CONTROL["class"].values
        assert score.original.value == pytest.approx((ours == truth).mean())
        assert score.released.value == pytest.approx((theirs == truth).mean())
        assert score.alike.value == pytest.approx((ours == theirs).mean())
        assert 0.6 < score.alike.value < 1

    def test_several_pairs_give_one_mean(self):
        pairs = [apart(mixed(s), seed=s, target="class", control=CONTROL) for s in range(3)]
        found = prediction(pairs, models=["tree"])
        alone = [prediction([pair], models=["tree"]).scores[0].released.value for pair in pairs]
        score = found.scores[0]
        assert score.released.value == pytest.approx(np.mean(alone))
        assert {estimate.runs for estimate in estimates(found, score)} == {3}
        half = 4.302653 * np.std(alone, ddof=1) / sqrt(3)  # Student's, with two degrees of freedom
        assert score.released.high == pytest.approx(np.mean(alone) + half)
        assert (found.pairs, found.tests) == (3, 1500)

    def test_a_number_is_predicted_by_class(self):
        pair = copy_of(mixed(20, missing=0.05), target="age", control=CONTROL)
        assert prediction([pair], models=["tree"], bins=5).classes == 5
        assert prediction([pair], models=["tree"]).scores[0].difference.value == 0

    def test_rows_without_a_target_are_neither_taught_nor_asked(self):
        gaps = table(number("x", range(8)), category("class", ["a", "a", None, None, None, None, "b", "b"]))
        found = prediction([copy_of(gaps, target="class", control=gaps)], models=["tree", "c4.5"])
        assert found.tests == 4
        assert found.how == "learned from every row, tested on every row held out"

    def test_weights_are_no_feature(self):
        rng = np.random.default_rng(0)
        labels = [str(v) for v in rng.choice(["a", "b"], 200)]
        leaking = table(
            number("x", rng.normal(size=200), None),
            number("weight", [1 if v == "a" else 2 for v in labels]),
            category("class", labels),
        )
        pair = copy_of(leaking, target="class", weight="weight", control=leaking)
        assert prediction([pair], models=["tree"]).scores[0].original.value < 0.8

    def test_a_sample_is_said_and_is_of_the_same_people(self):
        pair = copy_of(mixed(20, rows=900), target="class", control=CONTROL)
        found = prediction([pair], models=["tree"], most=300, most_tests=100)
        assert found.how == "learned from a sample of 300 of 900 rows, tested on a sample of 100 of 500 rows held out"
        assert found.scores[0].difference.value == 0

    def test_what_is_missing_is_said(self):
        with pytest.raises(TableError, match="held out"):
            prediction([copy_of(mixed(20), target="class")])
        with pytest.raises(TableError, match="target"):
            prediction([copy_of(mixed(20), control=CONTROL)])
        with pytest.raises(NameUnknown, match="neural network"):
            prediction([copy_of(mixed(20), target="class", control=CONTROL)], models=["neural"])

    def test_without_scikit_learn_the_extra_is_named(self, monkeypatch):
        monkeypatch.setitem(sys.modules, "sklearn", None)
        with pytest.raises(LeafcoverError, match=r"leafcover\[measure\]"):
            scikit_learn()


class TestAgreement:
    def test_by_hand(self):
        """Cut at 4 in the original, at 6 in the release: of rows 1, 5, 6, 9 the models answer 1 and 9 alike."""
        test = table(number("x", [1, 5, 6, 9]), category("class", ["b", "b", "b", "a"]))
        pair = pair_of(stripes(4), stripes(6), target="class", control=test)
        whole = pair.original, pair.released, pair.control
        assert agree(*whole, "class", min_leaf=1) == (0.5, 0.0)  # a, a, a, b, all of them wrong
        assert agree(*whole, "class", model="c4.5") == (0.5, 0.0)
        found = agreement([pair], targets=["class"], min_leaf=1)
        assert found.target.agreement.value == 0.5
        # original a, b, b, b; release a, a, a, b: by chance 1/4 * 3/4 + 3/4 * 1/4
        assert found.target.chance.value == pytest.approx(6 / 16)
        assert found.target.original.value == 0.5
        assert found.others == ()
        assert isnan(found.mean.value)

    @pytest.mark.parametrize("model", ["tree", "c4.5"])
    def test_the_original_agrees_with_itself(self, model):
        found = agreement([copy_of(mixed(20), target="class", control=CONTROL)], model=model)
        assert [one.target for one in found.others] == ["age", "pay", "noise", "job", "town"]
        for one in (found.target, *found.others):
            assert one.agreement.value == 1
            assert one.chance.value < one.floor.value < 1
            assert one.released == one.original
        assert found.mean.value == 1
        assert found.mean_floor.value == pytest.approx(np.mean([one.floor.value for one in found.others]))

    def test_columns_shuffled_apart_agree_by_chance(self):
        found = agreement([apart(mixed(20, rows=3000, missing=0.0), target="class", control=mixed(22, rows=2000))])
        for one in (found.target, *found.others):
            assert abs(one.agreement.value - one.chance.value) < 0.08
        assert found.target.floor.low > found.target.agreement.high
        assert abs(found.mean.value - found.mean_chance.value) < 0.04

    @pytest.mark.parametrize(("name", "target"), [("wbc", "class"), ("cps1985", "union"), ("german_credit", "class")])
    def test_it_is_the_figure_that_was_published(self, name, target):
        train, test = quality.halves(read(sample(name)), 0.7, 0)
        other = quality.bootstrap(train, np.random.default_rng(0))
        wanted = quality.agreement(train, other, test, target, 50)
        assert agree(train, other, test, target, min_leaf=50) == pytest.approx(wanted, abs=0.01)

    def test_it_is_the_figure_that_was_published_for_adult(self):
        train, test = quality.halves(read(sample("adult")), 22_000, 0)
        other = quality.bootstrap(train, np.random.default_rng(0))
        for target in ("income", "occupation"):
            wanted = quality.agreement(train, other, test, target, 50)
            assert agree(train, other, test, target) == pytest.approx(wanted, abs=0.001)

    def test_several_pairs_give_one_mean(self):
        pairs = [apart(mixed(s), seed=s, target="class", control=CONTROL) for s in range(3)]
        found = agreement(pairs, floors=1)
        alone = [agreement([pair], floors=1) for pair in pairs]
        assert found.target.agreement.value == pytest.approx(np.mean([one.target.agreement.value for one in alone]))
        assert found.mean.value == pytest.approx(np.mean([one.mean.value for one in alone]))
        assert {estimate.runs for estimate in estimates(found, found.target, *found.others)} == {3}

    def test_columns_that_cannot_be_predicted_are_named(self):
        rows = len(CONTROL)
        names = category("name", [f"person {i}" for i in range(rows)])
        whole = table(*CONTROL, number("same", [1.0] * rows), names)
        found = agreement([copy_of(whole, target="class", control=whole)], floors=0)
        assert found.left_out == ("same", "name")
        assert isnan(found.target.floor.value)
        with pytest.raises(NameUnknown, match="clas"):
            agreement([copy_of(whole, control=whole)], targets=["clas"])

    def test_of_very_many_columns_some_are_asked(self):
        rng = np.random.default_rng(0)
        wide = table(*(number(f"x{i}", rng.normal(size=60), None) for i in range(50)))
        found = agreement([copy_of(wide, target="x7", control=wide)], floors=0)
        assert (found.target.target, len(found.others), len(found.not_asked)) == ("x7", 40, 9)
        assert found.left_out == ()
        named = agreement([copy_of(wide, target="x7", control=wide)], targets=found.not_asked, floors=0)
        assert len(named.others) == 9

    def test_without_a_target_every_column_is_another(self):
        found = agreement([copy_of(mixed(20), control=CONTROL)], floors=0)
        assert found.target is None
        assert [one.target for one in found.others] == list(CONTROL.names)

    def test_the_order_of_rows_does_not_matter(self):
        pair = apart(mixed(20), target="class", control=CONTROL)
        ours, theirs = (agreement([p], floors=0) for p in (pair, reordered(pair)))
        assert theirs.target.agreement.value == pytest.approx(ours.target.agreement.value, abs=0.05)  # ties of columns
        rows = np.random.default_rng(0).permutation(len(pair.original))
        shuffled = pair_of(pair.original.take(rows), pair.released, target="class", control=CONTROL)
        assert agreement([shuffled], floors=0).target == ours.target

    def test_missing_values_are_a_class_of_their_own(self):
        """Town is missing just where x is high: both trees must say so, for every row."""
        town = category("town", ["A", "B"] * 30 + [None] * 60)
        whole = table(number("x", range(120)), town)
        found = agreement([copy_of(whole, control=whole)], targets=["town"], floors=0).others[0]
        assert found.classes == 3
        assert found.released.value >= 0.7  # the missing half, and A or B half of the time


@pytest.mark.parametrize("name", awkward())
@pytest.mark.parametrize("make", [copy_of, apart])
def test_awkward_tables_have_figures(name, make):
    original = awkward()[name]
    pair = make(original, target="class", control=original.take(np.arange(0, 40, 2)))
    with small_models():
        found = prediction([pair])
    for estimate in estimates(found, *found.scores):
        assert np.isfinite([estimate.value, estimate.low, estimate.high]).all()
    alike = agreement([pair])
    assert (alike.target is None) == (name == "one class")
    for one in (alike.target, *alike.others):
        for estimate in estimates(one) if one else ():
            assert np.isfinite([estimate.value, estimate.low, estimate.high]).all()


def test_a_release_that_lost_its_target_predicts_nothing():
    original = awkward()["numbers alone"]
    released = original.replace([category("class", [None] * 40)])
    pair = pair_of(original, released, np.arange(40), target="class", control=original)
    found = prediction([pair])
    assert {score.released.value for score in found.scores} == {0}
    assert agreement([pair], targets=["class"]).target.agreement.value == 0


def test_a_control_without_rows_has_no_figures():
    original = awkward()["numbers alone"]
    pair = copy_of(original, target="class", control=original.take(np.arange(0)))
    assert isnan(prediction([pair], models=["tree", "c4.5"]).scores[0].released.value)
    assert isnan(agreement([pair]).target.agreement.value)


def test_models_learn_with_one_thread_and_give_the_others_back():
    from threadpoolctl import threadpool_info

    def threads():
        return [pool["num_threads"] for pool in threadpool_info()]

    with learning():
        assert set(threads()) == {1}
    before = threads()
    for _ in range(2):
        with learning():
            assert set(threads()) == {1}
        assert threads() == before
