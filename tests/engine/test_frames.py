"""Frames of any library go in and come out alike, whatever kinds of columns they have."""

import datetime as dt
from inspect import signature

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import leafcover as lc

ROWS = 120


def columns():
    rng = np.random.default_rng(4)
    age = rng.integers(18, 80, ROWS)
    start = dt.date(2020, 1, 1)
    return {
        "age": [int(a) for a in age],
        "pay": [round(float(v), 2) for v in rng.lognormal(3, 1, ROWS)],
        "fine": [float(v) for v in rng.normal(size=ROWS)],
        "smoker": [bool(b) for b in rng.random(ROWS) < 0.3],
        "job": [None if rng.random() < 0.1 else str(j) for j in rng.choice(["clerk", "nurse", "smith"], ROWS)],
        "seen": [start + dt.timedelta(days=int(d)) for d in rng.integers(0, 900, ROWS)],
        "at": [dt.datetime(2024, 5, 1, 8) + dt.timedelta(seconds=int(s)) for s in rng.integers(0, 400, ROWS)],
        "class": ["yes" if a > 45 else "no" for a in age],
    }


FRAMES = {
    "pandas": lambda: pd.DataFrame(columns()).astype({"job": "category"}),
    "polars": lambda: pl.DataFrame(columns()).with_columns(pl.col("job").cast(pl.Categorical)),
    "pyarrow": lambda: pa.table(columns()),
}
RECIPES = [
    "cover", "cells", "framework", "framework-paper", "forest", "detective", "random", "additive", "multiplicative",
]  # fmt: skip


def types(frame):
    return frame.dtypes.to_dict() if isinstance(frame, pd.DataFrame) else frame.schema


@pytest.mark.parametrize("recipe", RECIPES)
@pytest.mark.parametrize("library", FRAMES)
def test_a_frame_comes_out_as_it_went_in(library, recipe):
    frame = FRAMES[library]()
    table = lc.from_frame(frame)
    make = getattr(lc.recipes, recipe.replace("-", "_"))
    plan = make(table, target="class") if "target" in signature(make).parameters else make(table)
    made = lc.release(frame, plan, seed=3)
    out = made.frame
    assert type(out) is type(frame)
    assert len(out) == ROWS
    if library == "pandas":
        assert list(out.index) == list(range(ROWS))
    assert types(out) == types(frame)


@pytest.mark.parametrize(("recipe", "settings"), [("cells", {}), ("cover", {"share": 1})])
def test_permutations_keep_every_marginal_of_a_frame_of_many_kinds(recipe, settings):
    frame = FRAMES["pandas"]()
    out = lc.release(frame, recipe, target="class", settings=settings).frame
    for name in frame.columns:
        pd.testing.assert_series_equal(
            frame[name].value_counts(dropna=False).sort_index(),
            out[name].value_counts(dropna=False).sort_index(),
        )
    assert not frame.equals(out)


def test_cover_keeps_every_marginal_of_a_frame_but_for_rare_numbers_dates_and_times():
    frame = FRAMES["pandas"]()
    out = lc.release(frame, "cover", target="class").frame
    for name in frame.columns:
        before, after = (one[name].value_counts(dropna=False).sort_index() for one in (frame, out))
        if name in ("smoker", "job", "class"):
            pd.testing.assert_series_equal(before, after)
        else:
            assert after.min() >= 5 > before.min()
            assert before.index.min() <= after.index.min() <= after.index.max() <= before.index.max()


def test_a_frame_that_was_released_was_not_changed():
    frame = FRAMES["pandas"]()
    before = frame.copy(deep=True)
    lc.release(frame, lc.recipes.framework(lc.from_frame(frame), target="class"), seed=1)
    pd.testing.assert_frame_equal(frame, before)


def test_a_key_and_a_seed_together_are_refused():
    frame = FRAMES["pyarrow"]()
    plan = lc.recipes.random(lc.from_frame(frame))
    with pytest.raises(lc.LeafcoverError, match="there is one key"):
        lc.release(frame, plan, key=lc.Key.fresh(), seed=1)


def test_dates_move_by_whole_days_and_times_by_whole_seconds():
    frame = FRAMES["pyarrow"]()
    out = lc.release(frame, lc.recipes.random(lc.from_frame(frame)), seed=1).frame
    assert out.schema.field("seen").type == pa.date32()
    assert set(out["seen"].to_pylist()) != set(frame["seen"].to_pylist())
    assert all(moment.microsecond == 0 for moment in out["at"].to_pylist())
    assert min(frame["seen"].to_pylist()) <= min(out["seen"].to_pylist())
    assert max(out["seen"].to_pylist()) <= max(frame["seen"].to_pylist())


def test_roles_and_lists_that_are_misspelt_are_refused():
    frame = FRAMES["pandas"]()
    name = str(frame.columns[0])
    for given in ({"roles": {name: "senstive"}}, {"drop": name}, {"category": name}, {"missing": {name: None}}):
        with pytest.raises(lc.errors.ValueOutOfRange):
            lc.read(frame, **given)


HOLES = {"age": "-9", "pay": [-9.0, "unknown"], "seen": ["1900-01-01"], "at": "1900-01-01", "job": ["none"]}


def holes(library):
    gone = {"age": -9, "pay": -9.0, "seen": dt.date(1900, 1, 1), "at": dt.datetime(1900, 1, 1), "job": "none"}
    rows = {name: [gone.get(name, v) if i % 10 == 0 else v for i, v in enumerate(v)] for name, v in columns().items()}
    return {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.table}[library](rows)


@pytest.mark.parametrize("library", FRAMES)
def test_numbers_and_dates_that_mean_missing_are_missing_in_frames(library, tmp_path):
    frame = holes(library)
    table = lc.read(frame, missing=HOLES)
    for name in HOLES:
        assert table[name].missing[::10].all(), name
    assert table["age"].domain[0] >= 18
    assert table["seen"].domain[0] > 18_000
    release = lc.release(table, "cover", target="class")
    assert types(release.frame) == types(frame)
    before, after = (np.array(one["age"].to_numpy()) for one in (frame, release.frame))
    assert (after == -9).sum() == (before == -9).sum() == ROWS / 10  # as it was spelled
    assert np.unique(after, return_counts=True)[1].min() >= 5
    for suffix in ("csv", "parquet", "arff"):
        release.save(tmp_path / f"out.{suffix}", key_file=tmp_path / f"{suffix}.key")
        for original in (table, frame):
            checks = lc.verify(tmp_path / f"out.{suffix}", original=original, key_file=tmp_path / f"{suffix}.key")
            assert [check for check in checks if not check.holds] == []


@pytest.mark.parametrize("library", FRAMES)
def test_a_tree_grows_from_a_frame(library):
    frame = FRAMES[library]()
    tree = lc.grow(frame, target="class")
    assert (tree.size, tree.target) == (3, "class")
    assert tree.size == lc.grow(lc.from_frame(frame), target="class").size
    with pytest.raises(lc.LeafcoverError, match="'class'"):
        lc.grow(frame, target="clas")
    with pytest.raises(lc.LeafcoverError, match="target"):
        lc.grow(frame)


@pytest.mark.parametrize("recipe", lc.recipes.RECIPES)
def test_the_column_with_the_role_target_is_the_default_target(recipe):
    frame = FRAMES["pandas"]()
    table = lc.read(frame, roles={"class": "target"})
    made = lc.release(table, recipe, seed=1)
    assert made.plan.target == "class"
    assert made.table.equals(lc.release(table, recipe, target="class", seed=1).table)
    assert lc.recipes.plan_for(table, recipe).columns == made.plan.columns
    if lc.recipes.RECIPES[recipe].needs_target:
        assert lc.release(table, recipe, target="smoker", seed=1).plan.target == "smoker"
        for refused in (lc.recipes.RECIPES[recipe].make, lambda frame: lc.release(frame, recipe)):
            with pytest.raises(lc.errors.PlanError, match="target"):
                refused(frame)


def test_the_role_target_is_the_target_of_trees_and_recipes_and_must_be_one_column():
    table = lc.read(FRAMES["polars"](), roles={"class": "target"})
    assert lc.grow(table).target == "class"
    assert lc.recipes.framework(table).target == "class"
    two = lc.read(FRAMES["polars"](), roles={"class": "target", "smoker": "target"})
    assert lc.grow(two, target="smoker").target == "smoker"
    for call in (lc.grow, lc.release, lc.recipes.cover, lc.sweep):
        with pytest.raises(lc.errors.TableError, match="'smoker', 'class'"):
            call(two)


def kept(frame, recipe, folder, suffix="csv"):
    """The path of a release, and the file of its key."""
    lc.release(frame, recipe, target="class").save(folder / f"out.{suffix}", key_file=folder / "key")
    return {"path": folder / f"out.{suffix}", "key_file": folder / "key"}


def failed(checks):
    return [check for check in checks if not check.holds]


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
@pytest.mark.parametrize("recipe", ["cover", "cells", "framework", "random"])
def test_the_csv_file_of_a_frame_verifies_the_release_of_the_frame(recipe, suffix, tmp_path):
    rows = columns() | {"day": [dt.datetime(2020, 1, 1) + dt.timedelta(days=i % 50) for i in range(ROWS)]}
    frame = pd.DataFrame(rows | {"code": [str(i % 7) for i in range(ROWS)]})
    frame.to_csv(tmp_path / "in.csv", index=False)
    as_read = lc.read(tmp_path / "in.csv")
    assert [as_read[n].kind for n in ("day", "code")] == ["date", "number"]  # a time and a category in the frame
    made = kept(frame, recipe, tmp_path, suffix)
    for original in (frame, tmp_path / "in.csv", pl.from_pandas(frame)):
        assert failed(lc.verify(**made, original=original)) == []
    (tmp_path / "other").mkdir()
    made = kept(as_read, recipe, tmp_path / "other", suffix)
    assert failed(lc.verify(**made, original=frame)) == []


@pytest.mark.parametrize("name", ["smoker", "day", "age"])
def test_a_csv_file_with_another_value_does_not_verify(name, tmp_path):
    rows = columns() | {"day": [dt.datetime(2020, 1, 1) + dt.timedelta(days=i % 50) for i in range(ROWS)]}
    frame = pd.DataFrame(rows)
    made = kept(frame, "cover", tmp_path)
    frame.loc[3, name] = frame[name][frame[name] != frame[name][3]].iloc[0]
    frame.to_csv(tmp_path / "in.csv", index=False)
    found = failed(lc.verify(**made, original=tmp_path / "in.csv"))
    assert "the key and the original are those of the release" in [check.what for check in found]


def test_an_original_of_other_kinds_is_said_to_be_so(tmp_path):
    frame = pd.DataFrame(columns()).assign(span=pd.to_timedelta([i % 9 for i in range(ROWS)], unit="s"))
    made = kept(frame, "cover", tmp_path)
    frame.to_csv(tmp_path / "in.csv", index=False)
    (check,) = failed(lc.verify(**made, original=tmp_path / "in.csv"))
    assert "'span' was released as a number, but is read as a category" in check.detail
    assert "'smoker'" not in check.detail


def test_what_a_release_knows_cannot_be_given_to_measure():
    table = lc.read(lc.sample("cps1985"))
    release = lc.release(table, "random", target="union", seed=1)
    assert lc.measure(table, release, target="union", only=["k_anonymity"])
    for given in ({"sensitive": ["wage"]}, {"target": "nope"}, {"weight": "wage"}, {"pairs": release.source}):
        with pytest.raises(lc.errors.PlanError, match=next(iter(given))):
            lc.measure(table, release, only=["k_anonymity"], **given)


def test_a_notebook_shows_no_value_of_a_release():
    table = lc.read(lc.sample("cps1985"))
    shown = repr(lc.release(table, "random", target="union", seed=1, hold_out=0.3))
    assert "array(" not in shown
    assert "Column(" not in shown
