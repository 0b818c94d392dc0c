"""SysForClassifier grows the forest that leafcover grows; scikit-learn's contract is checked beside C45Classifier's."""

import pickle

import numpy as np
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV

from leafcover.sklearn.trees import SysForClassifier
from leafcover.table.frames import from_frame
from leafcover.tree.predict import VOTING_RULES, classify_forest, votes
from leafcover.tree.sysfor import grow_forest
from tests.test_sklearn import FRAMES, people, same_tree, wbc


@pytest.mark.parametrize("library", FRAMES)
@pytest.mark.parametrize("voting", VOTING_RULES)
def test_a_frame_of_every_kind_gives_the_forest_that_leafcover_grows(library, voting):
    lists, y = people()
    frame = FRAMES[library](lists)
    model = SysForClassifier(n_estimators=12, voting=voting).fit(frame, y)
    table = from_frame(FRAMES[library](lists | {"class": y.tolist()}))
    trees = grow_forest(table, target="class", n_trees=12)
    assert len(model.trees_) == len(trees) == 12
    for one, other in zip(model.trees_, trees, strict=True):
        same_tree(one, other)
    answers = np.array(trees[0].classes)[classify_forest(trees, table, voting=voting)]
    np.testing.assert_array_equal(model.predict(frame), answers)
    shares = model.predict_proba(frame)
    np.testing.assert_allclose(shares.sum(axis=1), 1)
    if voting == "majority":
        np.testing.assert_allclose(shares * 12, votes(trees, table))
    single = FRAMES[library]({name: values[3:4] for name, values in lists.items()})
    np.testing.assert_array_equal(model.predict_proba(single), shares[[3]])


def test_labels_of_a_forest_come_back_exactly():
    labels = np.array([9, 10, 100])  # by text 10 < 100 < 9
    codes = np.repeat(np.arange(3), 30)
    model = SysForClassifier().fit(codes[:, None].astype(float), labels[codes])
    np.testing.assert_array_equal(model.predict(codes[:, None].astype(float)), labels[codes])
    assert model.classes_[model.predict_proba([[0.0]]).argmax()] == 9


def test_a_forest_is_pickled_cloned_and_shown():
    x, y = wbc()
    model = SysForClassifier(n_estimators=3).fit(x, y)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict_proba(x), model.predict_proba(x))
    assert clone(model).get_params() == {
        "n_estimators": 3, "goodness": 0.3, "separation": 0.3, "min_records": 10, "confidence": 0.25,
        "voting": "majority",
    }  # fmt: skip
    words = model.export_text().split("\n\n")
    assert [part.splitlines()[0] for part in words] == ["tree 1:", "tree 2:", "tree 3:"]
    assert "uniformity_of_cell_size <= 3 :" in words[0]
    assert model.score(x, y) > 0.95
    with pytest.raises(NotFittedError):
        clone(model).export_text()


@pytest.mark.parametrize(
    ("parameters", "match"),
    [
        ({"n_estimators": 0}, "n_estimators"),
        ({"goodness": -1.0}, "goodness"),
        ({"voting": "loud"}, "voting"),
    ],
)
def test_parameters_of_a_forest_out_of_range_are_value_errors(parameters, match):
    with pytest.raises(ValueError, match=match):
        SysForClassifier(**parameters).fit([[1.0], [2.0]], [0, 1])
    with pytest.raises(ValueError, match=r"0 sample.*SysForClassifier"):
        SysForClassifier().fit(pl.DataFrame({"a": []}), [])


def test_a_forest_stands_in_a_grid_search():
    grid = {"n_estimators": [1, 8], "voting": list(VOTING_RULES)}
    search = GridSearchCV(SysForClassifier(), grid, cv=3, error_score="raise").fit(*wbc())
    assert set(search.best_params_) == set(grid)
    assert search.best_score_ > 0.9
