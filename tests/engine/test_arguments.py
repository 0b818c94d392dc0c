"""What somebody may hand to the library by mistake gets one line."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import leafcover as lc
from leafcover.engine.evaluate import refuse_same_people
from leafcover.errors import LeafcoverError, PlanError, TableError, ValueOutOfRange
from leafcover.metrics.pair import pair_of, source_of
from tests.tables import category, mixed, table


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(1)
    ages, classes = rng.integers(18, 80, 90), rng.choice(["a", "b"], 90)
    return pd.DataFrame({"age": ages, "pay": rng.normal(size=90).round(2), "class": classes})


@pytest.fixture(scope="module")
def plan(frame):
    return lc.recipes.cover(frame, target="class")


@pytest.mark.parametrize(
    "pairs",
    [
        ["a", "b"], [None, None], [0.5, 1.0], [np.nan, 1.0], [1e300, 0.0], [10**30, 1], [True, False], "01", 5, {0: 1},
        [[0], [1]], [[0], [1, 2]], None,
    ],
    ids=str,
)  # fmt: skip
def test_pairs_that_are_no_row_numbers_get_one_line(pairs):
    with pytest.raises(TableError, match="Pairs must be a list of integers") as caught:
        source_of(pairs)
    assert "counted from 0" in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("pairs", [[1, 0], (1.0, 0.0), range(2), np.array([1, 0], np.uint8), pd.Series([1, 0]), []])
def test_row_numbers_in_any_form_are_pairs(pairs):
    assert source_of(pairs).tolist() == list(pairs)
    assert source_of(pairs).dtype == np.int64


@pytest.mark.parametrize(
    ("pairs", "said"),
    [
        (range(1, 91), "name row 90, but the original's 90 rows are 0 to 89"),
        (range(-1, 89), "name row -1, but the original's 90 rows are 0 to 89"),
        (range(5), "name 5 rows, the release has 90"),
        ([], "name 0 rows, the release has 90"),
        ([0] * 90, "an original row twice"),
        ([0.5] * 90, "integers"),
    ],
)
def test_pairs_of_another_table_get_one_line(frame, pairs, said):
    with pytest.raises(TableError, match=said):
        lc.measure(frame, frame.copy(), pairs=pairs, target="class")


@pytest.mark.parametrize("hold_out", [None, 0.2])
@pytest.mark.parametrize("only", [None, ["record_linkage"]])
def test_a_release_is_not_measured_against_a_smaller_original(frame, hold_out, only):
    release = lc.release(frame, "additive", seed=1, hold_out=hold_out)
    last = int(release.rows.max())
    with pytest.raises(TableError, match=f"at least {last + 1} rows, but the original has {last}") as caught:
        lc.measure(frame.head(last), release, only=only)
    assert "\n" not in str(caught.value)
    assert lc.measure(frame, release, only=["record_linkage"])["record_linkage"].first.tries


def test_a_path_is_no_table_and_the_line_says_how_to_read_it(frame, plan, tmp_path):
    for path in ("in.csv", tmp_path / "in.csv"):
        for call in (
            lambda path=path: lc.measure(path, frame),
            lambda path=path: lc.measure(frame, path),
            lambda path=path: lc.measure(frame, frame.copy(), target="class", control=path),
            lambda path=path: lc.release(path, plan),
            lambda path=path: lc.sweep(path, target="class"),
            lambda path=path: lc.recipes.cover(path, target="class"),
            lambda path=path: lc.recipes.framework(path, target="class"),
            lambda path=path: lc.recipes.detective(path),
            lambda path=path: lc.recipes.random(path),
        ):
            with pytest.raises(TableError, match=r"in\.csv'.*leafcover\.read"):
                call()


def test_recipes_take_frames(frame, plan):
    assert lc.recipes.plan_for(frame, "cover", target="class") == plan
    assert lc.recipes.framework(frame, target="class") == lc.recipes.framework(lc.from_frame(frame), target="class")


def test_what_is_no_plan_or_key_gets_one_line(frame, plan):
    with pytest.raises(PlanError, match="A plan is needed"):
        lc.release(frame, None)
    with pytest.raises(LeafcoverError, match="recipe 'covr'"):
        lc.release(frame, "covr", target="class")
    with pytest.raises(PlanError, match="A plan is needed"):
        lc.measure(frame, frame.copy(), target="class", plan="cover")
    with pytest.raises(PlanError, match=r"must be a leafcover\.Key"):
        lc.release(frame, plan, key="secret")


def test_labels_that_are_no_text_are_names_by_their_text(frame):
    numbered = frame.set_axis([0, 1, 2], axis=1)
    made = lc.release(numbered, lc.recipes.cover(numbered, target="2"), seed=1)
    assert list(made.frame.columns) == [0, 1, 2]
    for call in (
        lambda: lc.recipes.cover(numbered, target=2),
        lambda: lc.recipes.plan_for(numbered, "framework", target=2),
        lambda: lc.measure(numbered, made.frame, target=2),
        lambda: lc.measure(numbered, made.frame, target="2", quasi_identifiers=[0]),
        lambda: lc.measure(numbered, made.frame, target="2", weight=1),
        lambda: lc.sweep(numbered, target=2),
    ):
        with pytest.raises(ValueOutOfRange, match=r"a column name as text, such as '[012]'"):
            call()


def same(original, control):
    return pair_of(original, original, np.arange(len(original)), target="class", control=control)


def test_a_control_of_the_same_people_is_refused(frame, plan):
    made = lc.release(frame, plan, seed=1)
    for released in (made, made.frame):
        with pytest.raises(TableError, match="100% of the control's 90 rows are rows of the original"):
            lc.measure(frame, released, target="class", control=frame)
    half = pd.concat([frame[:30], frame[:20].assign(pay=99.0)])
    with pytest.raises(TableError, match="60% of the control's 50 rows"):
        lc.measure(frame, made, control=half)


def test_a_control_that_is_alike_by_chance_is_welcome():
    rng = np.random.default_rng(2)

    def coarse(rows):  # nine kinds of row: nearly every row of a control is one of the original's
        a, b = (category(name, rng.choice(["x", "y", "z"], rows)) for name in ("a", "class"))
        return table(a, b)

    refuse_same_people(same(coarse(300), coarse(100)))
    refuse_same_people(same(mixed(1, rows=300), mixed(2, rows=100)))
    with pytest.raises(TableError, match="as if the same people"):
        refuse_same_people(same(mixed(1, rows=300), mixed(1, rows=300)))


@pytest.mark.parametrize(
    ("values", "said"),
    [
        (["a", "b"] * 45, "'w' must be a column of numbers, but is read as a category"),
        (["1,5", "2,5"] * 45, "is read as a category"),
        ([True, False] * 45, "is read as a category"),
        (pd.to_datetime(["2020-01-01", "2020-01-02"] * 45), "is read as a time"),
        ([None] * 90, "has no known values"),
        ([1.0, 2.0, -0.5] * 30, "has 30 negative numbers, the first in row 3"),
        ([-1, *range(89)], "has 1 negative number, the first in row 1"),
    ],
)
def test_a_weight_that_is_no_number_or_negative_gets_one_line(frame, values, said, tmp_path):
    weighted = frame.assign(w=values)
    weighted.to_parquet(tmp_path / "in.parquet")
    bare = lc.read(weighted)
    wrong = (
        lambda: lc.read(weighted, roles={"w": "weight"}),
        lambda: lc.read(tmp_path / "in.parquet", roles={"w": "weight"}),
        lambda: lc.measure(bare, bare, weight="w", only=["totals"]),
        lambda: lc.release(replace(bare, roles={"w": "weight"}), "random", seed=1),
    )
    for call in wrong:
        with pytest.raises(TableError, match=said) as caught:
            call()
        assert "\n" not in str(caught.value)


def test_weights_of_zero_and_missing_weights_are_accepted(frame):
    weighted = frame.assign(w=[0, -9, 2.5] * 30)
    table = lc.read(weighted, roles={"w": "weight"}, missing={"w": "-9"})
    assert table["w"].missing.sum() == 30
    assert len(lc.release(table, "random", seed=1).table) == 90
    assert lc.measure(table, table, only=["totals"])["totals"].reason == ""
