"""RandomizedResponseTreeClassifier keeps scikit-learn's contract and grows the tree that leafcover grows."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.utils.estimator_checks import parametrize_with_checks

from leafcover.randomized_response import DisguisedColumns, Kary, OneCoin, Scheme, Warner, accuracy, disguise, grow_tree
from leafcover.sklearn.trees import RandomizedResponseTreeClassifier
from leafcover.table.frames import from_frame
from leafcover.tree.predict import classify
from tests.randomized_response.mechanisms import DRAWS
from tests.randomized_response.trees import binary, letters, one_coin, same

# No check is expected to fail: numbers that nobody disguises are put into bins.
ESTIMATORS = [
    RandomizedResponseTreeClassifier(),
    RandomizedResponseTreeClassifier(criterion="ratio", min_support=0, deviations=0, significance=1),
    RandomizedResponseTreeClassifier(scheme=Scheme(), max_depth=3),
]


@parametrize_with_checks(ESTIMATORS)
def test_scikit_learn_contract(estimator, check):
    check(estimator)


def arrays(table, columns=4):
    """Zeros and ones, and the scheme's names for them."""
    x = np.stack([table[name].values for name in letters(columns)[:-1]]).T
    return x, table["class"].values


def in_numbers(theta, columns=4):
    names = [*(f"x{i}" for i in range(columns)), "class"]
    return Scheme(DisguisedColumns(dict.fromkeys(names, ("0", "1")), OneCoin(theta, columns + 1)))


def test_reports_in_an_array_give_the_tree_that_leafcover_grows():
    truth = binary(3000, 4, 1)
    reported = disguise(truth, one_coin(0.8, 4), DRAWS)
    x, y = arrays(reported)
    model = RandomizedResponseTreeClassifier(scheme=in_numbers(0.8)).fit(x, y)
    tree = grow_tree(reported, one_coin(0.8, 4), target="class")
    assert tree.size > 3
    for field in ("tested", "first", "label", "counts", "errors"):
        np.testing.assert_array_equal(getattr(model.tree_, field), getattr(tree, field))
    true_x, true_y = arrays(truth)
    np.testing.assert_array_equal(model.predict(true_x), classify(tree, truth))
    np.testing.assert_array_equal(model.predict_proba(true_x).argmax(axis=1), classify(tree, truth))
    assert (model.get_depth(), model.get_n_leaves()) == (2, len(tree.leaves))
    told = model.disguised_score(x, y)
    assert told == accuracy(tree, reported, one_coin(0.8, 4))
    assert abs(told.raw - model.score(true_x, true_y)) < 5 * told.error
    assert abs(told.raw - model.score(x, y)) > 5 * told.error  # reports are no truths


def test_a_frame_with_texts_levels_in_another_order_and_open_numbers():
    rng = np.random.default_rng(3)
    rows = 6000
    age = rng.integers(18, 80, rows)
    town = rng.choice(["south", "east", "north"], rows)
    ill = np.where((town == "east") | (age > 60), "yes", "no")
    ill[rng.random(rows) < 0.1] = "no"
    truth = pd.DataFrame({"age": age, "town": town, "ill": ill})
    scheme = Scheme(
        DisguisedColumns({"town": ("south", "east", "north")}, Kary(0.8, 3)),
        DisguisedColumns({"ill": ("yes", "no")}, Warner(0.85)),
    )
    reported = disguise(from_frame(truth), scheme, DRAWS)
    frame = pd.DataFrame({"age": age, "town": np.array(reported["town"].levels)[reported["town"].values]})
    y = pd.Series(np.array(reported["ill"].levels)[reported["ill"].values], name="ill")
    model = RandomizedResponseTreeClassifier(scheme=scheme, bins=6).fit(frame, y)
    assert model.classes_.tolist() == ["no", "yes"]
    assert model.tree_.classes == ("yes", "no")
    right = (model.predict(truth[["age", "town"]]) == truth["ill"]).mean()
    assert right > 0.88
    assert abs(model.disguised_score(frame, y).raw - right) < 0.03
    shares = model.predict_proba(truth[["age", "town"]])
    np.testing.assert_allclose(shares.sum(axis=1), 1)
    assert (model.classes_[shares.argmax(axis=1)] == model.predict(truth[["age", "town"]])).all()
    assert "age = above" in model.export_text()
    assert "town = east" in model.export_text()


def test_a_pickle_a_clone_and_a_grid_are_as_good():
    x, y = arrays(disguise(binary(1500, 4, 2), one_coin(0.8, 4), DRAWS))
    model = RandomizedResponseTreeClassifier(scheme=in_numbers(0.8)).fit(x, y)
    again = pickle.loads(pickle.dumps(model))
    same(again.tree_, model.tree_)
    same(clone(model).fit(x, y).tree_, model.tree_)
    search = GridSearchCV(clone(model), {"significance": [0.05, 1.0], "criterion": ["gain", "ratio"]}, cv=3)
    assert set(search.fit(x, y).best_params_) == {"significance", "criterion"}


def test_what_does_not_fit_is_a_value_error():
    x, y = arrays(binary(100, 4, 2))
    fit = RandomizedResponseTreeClassifier
    with pytest.raises(ValueError, match="never reported"):
        fit(scheme=Scheme(DisguisedColumns({"class": ("0", "1", "2")}, Kary(0.8, 3)))).fit(x, y)
    with pytest.raises(ValueError, match="levels that the scheme does not declare"):
        fit(scheme=Scheme(DisguisedColumns({"x0": ("no", "yes")}, Warner(0.8)))).fit(x, y)
    with pytest.raises(ValueError, match="bins must be"):
        fit(bins=1).fit(x, y)
    with pytest.raises(ValueError, match="min_support must be"):
        fit(min_support=-1).fit(x, y)


def test_numbers_are_binned_by_rows_and_missing_ones_stay_missing():
    x = np.array([[1.0], [1], [2], [3], [np.nan], [4]] * 40)
    y = np.array([0, 0, 0, 1, 1, 1] * 40)
    model = RandomizedResponseTreeClassifier(bins=3).fit(x, y)
    assert model.tree_.attributes[0].levels == ("to 1", "above 1 to 3", "above 3")
    assert model.predict(np.array([[0.5], [9.0]])).tolist() == [0, 1]
    nothing = RandomizedResponseTreeClassifier().fit(np.full((30, 1), np.nan), [0, 1] * 15)
    assert nothing.tree_.size == 1


@pytest.mark.parametrize("wrong", ["zz", "y"])
def test_a_scheme_that_names_what_is_not_there_is_refused(wrong):
    x, y = arrays(binary(200, 4, 1))
    scheme = Scheme(DisguisedColumns({wrong: ("0", "1")}, Warner(0.8)))
    with pytest.raises(ValueError, match=f"unknown column '{wrong}'"):
        RandomizedResponseTreeClassifier(scheme=scheme).fit(x, y)
    with pytest.raises(ValueError, match="scheme must be"):
        RandomizedResponseTreeClassifier(scheme="x").fit(x, y)
