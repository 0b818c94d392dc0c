"""Classifiers keep scikit-learn's contract, and grow the trees that leafcover grows."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import leafcover
from leafcover.sklearn.trees import C45Classifier, SysForClassifier
from leafcover.table.frames import from_frame
from leafcover.tree.c45 import grow
from leafcover.tree.predict import classify, distribution

# No check is expected to fail, with either grower and with every voting.
ESTIMATORS = [
    C45Classifier(),
    C45Classifier(prune=False, grower="histogram"),
    SysForClassifier(),
    SysForClassifier(min_records=2, voting="combined"),
    SysForClassifier(n_estimators=20, voting="most-accurate-leaf"),
]


@parametrize_with_checks(ESTIMATORS)
def test_scikit_learn_contract(estimator, check):
    check(estimator)


def people(rows=300, seed=1):
    """Columns of every kind with gaps, as Python lists, and classes that depend on them."""
    rng = np.random.default_rng(seed)
    age = rng.integers(18, 80, rows)
    pay = np.round(rng.lognormal(3, 1, rows), 2)
    job = rng.choice(["clerk", "nurse", "smith", "weaver"], rows)
    married = rng.random(rows) < 0.5
    born = np.datetime64("1950-01-01") + rng.integers(0, 20000, rows)
    good = ((age > 45) ^ (job == "nurse") ^ married) ^ (rng.random(rows) < 0.08)
    gaps = rng.random((5, rows)) < 0.08

    def with_gaps(values, hide):
        return [None if gone else value for value, gone in zip(values.tolist(), hide, strict=True)]

    columns = {"age": age, "pay": pay, "job": job, "married": married, "born": born}
    lists = {name: with_gaps(column, hide) for (name, column), hide in zip(columns.items(), gaps, strict=True)}
    return lists, np.where(good, "yes", "no")


def as_pandas(lists):
    types = {"job": "category", "born": "datetime64[s]", "married": "boolean", "age": "Int64"}
    return pd.DataFrame(lists).astype({name: types[name] for name in types if name in lists})


def as_polars(lists):
    return pl.DataFrame(lists, schema_overrides={"job": pl.Categorical})


FRAMES = {"pandas": as_pandas, "polars": as_polars, "pyarrow": pa.table}


def same_tree(one, other):
    assert one.classes == other.classes
    for field in ("tested", "cut", "first", "counts", "label", "errors", "estimate"):
        np.testing.assert_array_equal(getattr(one, field), getattr(other, field))


@pytest.mark.parametrize("library", FRAMES)
@pytest.mark.parametrize("prune", [True, False])
def test_a_frame_of_every_kind_gives_the_tree_that_leafcover_grows(library, prune):
    lists, y = people()
    frame = FRAMES[library](lists)
    model = C45Classifier(prune=prune).fit(frame, y)
    table = from_frame(FRAMES[library](lists | {"class": y.tolist()}))
    tree = grow(table, target="class", prune=prune)
    assert {tree.attributes[a].name for a in tree.tested[tree.tested >= 0]} >= {"age", "job", "married"}
    same_tree(model.tree_, tree)
    assert model.feature_names_in_.tolist() == list(lists)
    assert model.classes_.tolist() == ["no", "yes"]
    np.testing.assert_array_equal(model.predict(frame), np.array(tree.classes)[classify(tree, table)])
    np.testing.assert_array_equal(model.predict_proba(frame), distribution(tree, table))
    assert model.score(frame, y) > 0.8


def test_the_frames_of_all_libraries_give_one_tree():
    lists, y = people()
    del lists["born"]  # a time in pandas, a date elsewhere
    trees = [C45Classifier().fit(make(lists), y).tree_ for make in FRAMES.values()]
    for tree in trees[1:]:
        same_tree(tree, trees[0])


@pytest.mark.parametrize("library", FRAMES)
def test_rows_one_at_a_time_are_answered_alike(library):
    lists, y = people(rows=120)
    model = C45Classifier(prune=False).fit(FRAMES[library](lists), y)
    together = model.predict_proba(FRAMES[library](lists))
    for row in range(0, 120, 10):
        single = FRAMES[library]({name: values[row : row + 1] for name, values in lists.items()})
        np.testing.assert_array_equal(model.predict_proba(single), together[[row]])


def test_an_array_of_objects_is_read_as_the_frame_is():
    lists, y = people()
    frame = pd.DataFrame({name: lists[name] for name in ("age", "pay", "job", "married")}, dtype=object)
    array = frame.to_numpy().copy()
    array[0, 0], array[1, 0], array[2, 2] = np.nan, pd.NA, None
    from_array = C45Classifier().fit(array, y)
    from_lists = C45Classifier().fit([[None if value is pd.NA else value for value in row] for row in array], y)
    frame.iloc[[0, 1], 0] = None
    frame.iloc[2, 2] = None
    same_tree(from_array.tree_, C45Classifier().fit(frame, y).tree_)
    same_tree(from_array.tree_, from_lists.tree_)
    assert not hasattr(from_array, "feature_names_in_")
    assert [a.name for a in from_array.tree_.attributes] == ["x0", "x1", "x2", "x3"]
    assert [a.is_number for a in from_array.tree_.attributes] == [True, True, False, False]
    np.testing.assert_array_equal(from_array.predict(array), from_lists.predict(array))


def test_text_and_truth_values_in_arrays_are_categories():
    text = C45Classifier(prune=False).fit(np.array([["1"], ["1"], ["2"], ["2"]]), [0, 0, 1, 1])
    assert text.tree_.attributes[0].levels == ("1", "2")
    truth = C45Classifier(prune=False).fit(np.array([[True], [True], [False], [False]]), [0, 0, 1, 1])
    assert truth.tree_.attributes[0].levels == ("false", "true")
    assert truth.predict(np.array([[True], [False]])).tolist() == [0, 1]


def test_objects_that_are_numbers_or_texts_are_taken_as_such_and_others_refused():
    mixed = np.array([[1, 10**30, "a"], [2.5, 1, 7], [np.float32(3), 2, True], [None, None, None]], object)
    attributes = C45Classifier().fit(mixed, [0, 1, 0, 1]).tree_.attributes
    assert [a.is_number for a in attributes] == [True, True, False]
    assert attributes[2].levels == ("7", "True", "a")
    with pytest.raises(TypeError, match=r"'x0' .* dict"):
        C45Classifier().fit(np.array([[{"a": 1}], [{"a": 2}]], object), [0, 1])


def test_single_precision_is_read_by_its_text_so_that_double_precision_finds_the_same_branch():
    x = np.array([[0.1], [0.1], [0.7], [0.7]])
    y = [0, 0, 1, 1]
    double = C45Classifier(prune=False).fit(x, y)
    assert double.tree_.cut[0] == 0.1
    single = C45Classifier(prune=False).fit(x.astype(np.float32), y)
    assert single.tree_.cut[0] == 0.1
    for model in (double, single):
        assert model.predict(x).tolist() == model.predict(x.astype(np.float32)).tolist() == y


def test_an_unseen_level_goes_down_every_branch_by_its_share():
    frame = pa.table({"job": ["a"] * 6 + ["b"] * 4})
    model = C45Classifier(prune=False).fit(frame, [1] * 6 + [0] * 3 + [1])
    np.testing.assert_allclose(model.predict_proba(frame)[[0, 9]], [[0, 1], [0.75, 0.25]])
    for stranger in ("z", None):
        shares = model.predict_proba(pa.table({"job": pa.array([stranger], pa.string())}))
        np.testing.assert_allclose(shares, [[0.4 * 0.75, 0.6 + 0.4 * 0.25]], rtol=1e-6)


def test_an_empty_leaf_answers_its_parents_class():
    # Level c occurs only where x > 1, so its branch under x <= 1 is empty.
    frame = pa.table({"x": [1] * 10 + [2] * 30, "job": ["a"] * 4 + ["b"] * 6 + ["a", "b", "c"] * 10})
    model = C45Classifier(prune=False).fit(frame, [0] * 4 + [1] * 6 + [2] * 30)
    weights = model.tree_.counts[model.tree_.leaves].sum(axis=1)
    assert sorted(weights.tolist()) == [0, 4, 6, 30]
    stranger = pa.table({"x": [1], "job": ["c"]})
    assert model.predict(stranger).tolist() == [1]
    assert model.predict_proba(stranger).tolist() == [[0.0, 1.0, 0.0]]


@pytest.mark.parametrize(
    "labels",
    [
        np.array([9, 10, 100]),  # by text 10 < 100 < 9
        np.array([-1, 0, 1], np.int8),
        np.array([0.5, 2.0, 10.0]),
        np.array(["b", "ä", "Z"]),
        np.array(["b", "ä", "Z"], object),
        np.array([False, True]),
    ],
    ids=lambda labels: f"{labels.dtype}",
)
def test_labels_come_back_exactly(labels):
    if labels.dtype.kind == "f":
        with pytest.raises(ValueError, match="Unknown label type"):  # 0.5 is no class for scikit-learn
            C45Classifier().fit(np.arange(3.0)[:, None], labels)
        labels = np.array([1.0, 2.0, 10.0])
    codes = np.repeat(np.arange(len(labels)), 10)
    x = codes[:, None].astype(float)
    model = C45Classifier().fit(x, labels[codes])
    np.testing.assert_array_equal(model.classes_, np.unique(labels))
    assert model.classes_.dtype == labels.dtype
    assert list(model.tree_.classes) == sorted(model.tree_.classes)
    assert model.predict(x).dtype == labels.dtype
    np.testing.assert_array_equal(model.predict(x), labels[codes])
    shares = model.predict_proba(x)
    np.testing.assert_array_equal(model.classes_[shares.argmax(axis=1)], labels[codes])


@pytest.mark.parametrize(
    ("y", "kind"),
    [
        (pd.Series([1, 2, 1, 2], dtype="Int64", name="good"), "i"),
        (pd.Series([True, False, True, False], dtype="boolean", name="good"), "b"),
        (pd.Series(["a", "b", "a", "b"], dtype="category", name="good"), "O"),
        (pl.Series("good", ["a", "b", "a", "b"]), "OU"),
    ],
)
def test_a_series_gives_labels_and_the_name_of_the_target(y, kind):
    model = C45Classifier().fit(np.array([[0.0], [1], [0], [1]]), y)
    assert model.classes_.dtype.kind in kind
    assert model.classes_.tolist() == sorted(set(y))
    assert model.tree_.target == "good"


@pytest.mark.parametrize("y", [["a", None, "b"], [1.0, np.nan, 2.0], pd.Series([1, None, 2], dtype="Int64")])
def test_a_missing_class_is_refused(y):
    with pytest.raises(ValueError, match="Input y contains NaN"):
        C45Classifier().fit(np.arange(3.0)[:, None], y)


def wbc():
    frame = pd.read_csv(leafcover.sample("wbc"), na_values="?")
    return frame.drop(columns=["sample_code_number", "class"]), frame["class"]


def test_breast_cancer_is_golden():
    x, y = wbc()
    model = C45Classifier().fit(x, y)
    assert model.tree_.size == 31
    assert model.get_n_leaves() == 16
    assert int((model.predict(x) != y).sum()) == 11
    assert model.classes_.tolist() == [2, 4]
    by_array = C45Classifier().fit(x.to_numpy(), y.to_numpy())
    same_tree(by_array.tree_, model.tree_)
    assert by_array.export_text().count("\n") == model.export_text().count("\n")


def test_the_tree_is_shown_in_words_of_the_frame():
    x, y = wbc()
    model = C45Classifier().fit(x, y)
    assert "uniformity_of_cell_size <= 2 :" in model.export_text()
    deepest = max(line.count("|   ") for line in model.export_text().splitlines()) + 1
    assert model.get_depth() == deepest
    dates = pa.table({"born": pa.array(["1999-01-31"] * 3 + ["2001-05-06"] * 3).cast(pa.date32())})
    assert "born <= 1999-01-31 :" in C45Classifier().fit(dates, [0, 0, 0, 1, 1, 1]).export_text()


def test_a_tree_of_one_leaf_answers():
    x = np.array([[1.0], [1.0], [1.0]])
    model = C45Classifier().fit(x, [5, 5, 7])
    assert (model.get_depth(), model.get_n_leaves()) == (0, 1)
    assert model.predict(x).tolist() == [5, 5, 5]
    np.testing.assert_allclose(model.predict_proba(x), [[2 / 3, 1 / 3]] * 3)
    alone = C45Classifier().fit(x, [5, 5, 5])
    assert alone.predict_proba(x).tolist() == [[1.0]] * 3


def test_shares_sum_to_one_and_agree_with_the_answer():
    lists, y = people(rows=500, seed=3)
    frame = as_polars(lists)
    model = C45Classifier().fit(frame, y)
    shares = model.predict_proba(frame)
    np.testing.assert_allclose(shares.sum(axis=1), 1, atol=1e-15)
    np.testing.assert_array_equal(model.classes_[shares.argmax(axis=1)], model.predict(frame))


def test_a_pickle_and_a_clone_are_as_good():
    lists, y = people()
    frame = as_pandas(lists)
    model = C45Classifier(min_records=5).fit(frame, y)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict_proba(frame), model.predict_proba(frame))
    assert again.export_text() == model.export_text()
    fresh = clone(model)
    assert fresh.get_params() == {"min_records": 5, "confidence": 0.25, "prune": True, "grower": "auto"}
    with pytest.raises(NotFittedError):
        fresh.export_text()


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_grid_search_tries_parameters_on_a_frame(library):
    lists, y = people()
    grid = {"min_records": [2, 10], "confidence": [0.1, 0.25], "prune": [True, False]}
    search = GridSearchCV(C45Classifier(), grid, cv=3, scoring="neg_log_loss", error_score="raise")
    search.fit(FRAMES[library](lists), y)
    assert set(search.best_params_) == set(grid)
    assert cross_val_score(search.best_estimator_, FRAMES[library](lists), y, cv=3).min() > 0.6


def test_it_stands_at_the_end_of_a_pipeline():
    lists, y = people()
    frame = pd.DataFrame({"age": lists["age"], "pay": lists["pay"], "job": lists["job"]})
    scale = ColumnTransformer([("scale", StandardScaler(), ["age", "pay"])], remainder="passthrough")
    model = make_pipeline(scale.set_output(transform="pandas"), C45Classifier()).fit(frame, y)
    plain = C45Classifier().fit(frame, y)
    assert model[-1].tree_.size == plain.tree_.size
    np.testing.assert_array_equal(model.predict(frame), plain.predict(frame))


def test_columns_of_a_polars_frame_in_another_order_are_an_error():
    lists, y = people(rows=50)
    frame = as_polars(lists)
    with pytest.raises(ValueError, match="feature names should match"):
        C45Classifier().fit(frame, y).predict(frame.select(frame.columns[::-1]))


def test_other_feature_names_are_an_error():
    lists, y = people(rows=50)
    frame = as_pandas(lists)
    model = C45Classifier().fit(frame, y)
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(frame.rename(columns={"age": "years"}))
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(frame[frame.columns[::-1]])
    with pytest.raises(ValueError, match="is expecting 5 features"), pytest.warns(UserWarning, match="feature names"):
        model.predict(np.zeros((3, 4)))


def test_a_column_that_changed_its_kind_is_an_error():
    fitted = pa.table({"n": [1, 1, 2, 2], "b": [True, False, True, False], "none": pa.nulls(4), "c": list("1122")})
    model = C45Classifier().fit(fitted, [0, 0, 1, 1])
    good = {"n": [0.5, 2], "b": [True, None], "none": [1, 2], "c": [1, 2]}  # c: codes matched by their text
    assert model.predict(pa.table(good)).tolist() == [0, 1]
    assert len(model.predict(pa.table(good | {"n": pa.nulls(2), "b": pa.nulls(2)}))) == 2
    with pytest.raises(ValueError, match=r"'n' is a category.* number"):
        model.predict(pa.table(good | {"n": ["one", "two"]}))
    with pytest.raises(ValueError, match=r"'b' is a number.* category"):
        model.predict(pa.table(good | {"b": [0, 1]}))


@pytest.mark.parametrize(
    ("parameters", "match"),
    [
        ({"min_records": 0}, "min_records"),
        ({"confidence": 2.0}, "confidence"),
        ({"grower": "fast"}, "grower"),
    ],
)
def test_parameters_out_of_range_are_value_errors(parameters, match):
    with pytest.raises(ValueError, match=match):
        C45Classifier(**parameters).fit([[1.0], [2.0]], [0, 1])


def test_frames_that_are_no_table_are_value_errors():
    with pytest.raises(ValueError, match="infinite"):
        C45Classifier().fit(pd.DataFrame({"a": [1.0, np.inf]}), [0, 1])
    with pytest.raises(ValueError, match="'a'"):
        C45Classifier().fit(pd.DataFrame([[1, 2], [3, 4]], columns=["a", "a"]), [0, 1])
    with pytest.raises(ValueError, match="0 sample"):
        C45Classifier().fit(pl.DataFrame({"a": []}), [])
    with pytest.raises(ValueError, match="inconsistent numbers"):
        C45Classifier().fit(pl.DataFrame({"a": [1, 2]}), [0, 1, 0])


def test_columns_numbered_in_pandas_are_named_by_place():
    model = C45Classifier().fit(pd.DataFrame([[1.0, 5], [2, 5], [3, 5], [4, 5]]), [0, 0, 1, 1])
    assert model.predict(np.array([[1.0, 5], [4, 5]])).tolist() == [0, 1]
    assert "x0 <= 2 :" in model.export_text()
