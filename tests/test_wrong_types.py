"""Every argument of every public function and class: a value of a wrong type gets one line, or it just works."""

import inspect
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest

import leafcover as lc
from leafcover.errors import LeafcoverError

WRONG = (
    None, 3, 2.5, -1, float("nan"), "a", "", True, [], [3], ["a"], {"a": 1}, {3: 4}, object(), b"x", (1, 2), int,
    np.array([1, 2]), Path("zz"), set(), pd.DataFrame({"a": [1, 2], "b": ["x", "y"]}),
)  # fmt: skip
PEOPLE = pd.DataFrame({"a": np.arange(40) % 5, "x": np.arange(40) % 7 / 2, "b": ["p", "q"] * 20, "c": [*"uuvv"] * 10})


@pytest.fixture(scope="module")
def calls(tmp_path_factory):
    """For each public function arguments that it accepts."""
    folder = tmp_path_factory.mktemp("wrong")
    PEOPLE.to_csv(folder / "in.csv", index=False)
    table = lc.read(folder / "in.csv")
    made = lc.release(table, "additive", seed=1)
    made.save(folder / "out.csv")
    (folder / "plan.toml").write_text(lc.plan_text(made.plan))
    units = lc.read(PEOPLE.assign(a=np.arange(40) // 4), roles={"a": "unit"})
    return {
        "read": {"source": folder / "in.csv"},
        "inspect": {"table": table},
        "release": {"table": table, "plan": "additive", "seed": 1},
        "measure": {"original": table, "released": made, "only": ["totals"]},
        "verify": {"path": folder / "out.csv", "original": table},
        "load": {"path": folder / "out.csv"},
        "sweep": {"table": table, "target": "c", "recipes": ["nothing"]},  # refused before anything is computed
        "from_frame": {"frame": PEOPLE},
        "count_table": {"table": table, "by": ["b x c"], "seed": 1},
        "grow": {"table": table, "target": "c"},
        "init": {"table": folder / "in.csv", "path": folder / "leafcover.toml", "force": True},
        "parse_plan": {"text": lc.plan_text(made.plan)},
        "plan_text": {"plan": made.plan},
        "read_plan": {"path": folder / "plan.toml"},
        "sample": {"name": "wine"},
        "shadow": {"make": lambda rows: rows, "table": table, "releases": 1, "people": 4},  # too few to begin
        "unit_layout": {"table": units},
        "write": {"table": table, "path": folder / "written.csv"},
        "recipe": {"name": "b"},
        "noise_filtering": {"original": table, "released": made.table, "spread": 0.1},
        "known_sample": {"original": table, "released": made.table, "known": 5},
    }


PARTS = {
    "Additive": {"spread": 0.1},
    "BottomCode": {"column": "a", "at": 1.0},
    "Bounded": {},
    "BoundedGadp": {},
    "BoundedSwap": {},
    "Centroid": {},
    "Conditional": {"of": "c", "given": ("b",)},
    "Cgadp": {},
    "Correlated": {"spread": 0.1},
    "DataShuffle": {},
    "Deal": {},
    "Egadp": {},
    "Forest": {"of": "c", "n_trees": 2},
    "Gadp": {},
    "Geometric": {"operation": "scale"},
    "Generalise": {"column": "b", "prefix": 1},
    "Halves": {"by": ("a", "x")},
    "InOrder": {"by": "a"},
    "Intervals": {"column": "a", "edges": [2.0, 3.0]},
    "KMeans": {"by": ("a", "x")},
    "Kd": {"by": ("a", "x")},
    "Key": {"secret": b"0" * 32},
    "Leaves": {"of": "c"},
    "LocalSuppression": {"columns": ("a", "b"), "k": 2},
    "Mdav": {"by": ("a", "x")},
    "Multiplicative": {"spread": 0.1},
    "PerturbationTable": {},
    "Plan": {"recode": [lc.Round("x", to=1.0)]},
    "Pram": {},
    "RankSwap": {},
    "Redraw": {},
    "Refine": {"start": lc.Whole(), "by": lc.Leaves(of="c")},
    "Round": {"column": "x", "to": 1.0},
    "Shuffle": {},
    "Step": {"columns": "c", "within": lc.Whole(), "perturb": lc.Shuffle()},
    "Strata": {"by": ("b",)},
    "Suppress": {"column": "a", "values": ["1"]},
    "Table": {"columns": lc.from_frame(PEOPLE).columns},
    "TopCode": {"column": "a", "at": 3.0},
    "Truncate": {"column": "a"},
    "VariableMdav": {"by": ("a", "x")},
    "Whole": {},
}
RESULTS = {"CountRelease", "Loaded", "Measures", "Project", "Released"}  # the functions above make them


def test_every_public_name_is_tried(calls):
    functions = {name for name in lc.__all__ if inspect.isfunction(getattr(lc, name))}
    classes = {name for name in lc.__all__ if inspect.isclass(getattr(lc, name))} - {"LeafcoverError"}
    assert functions == set(calls)
    assert classes == set(PARTS) | RESULTS


def tried(call, given):
    """What does not become one line: the parameter, the value and the exception."""
    found = []
    for parameter in inspect.signature(call).parameters.values():
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            continue
        for value in WRONG:
            if parameter.name == "progress" and callable(value):
                continue
            try:
                call(**(given | {parameter.name: value}))
            except LeafcoverError as error:
                if "\n" in str(error):
                    found.append((parameter.name, value, str(error)))
            except Exception as error:
                found.append((parameter.name, value, repr(error)))
    return found


FUNCTIONS = sorted(name for name in lc.__all__ if inspect.isfunction(getattr(lc, name)))


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.filterwarnings("ignore")
def test_functions_say_in_one_line_what_they_were_given(calls, name, monkeypatch):
    monkeypatch.chdir(calls["read"]["source"].parent)
    assert tried(getattr(lc, name), calls[name]) == []


@pytest.mark.parametrize("name", sorted(PARTS))
def test_parts_of_plans_say_in_one_line_what_they_were_given(name):
    assert tried(getattr(lc, name), PARTS[name]) == []


@pytest.mark.parametrize("name", ["measure_only", "check_risk", "write", "report", "save"])
def test_methods_of_a_release_say_in_one_line_what_they_were_given(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    made = lc.release(PEOPLE, "additive", seed=1)
    given = {"save": {"path": "o.csv"}, "report": {"path": "o.html"}, "measure_only": {"names": ["totals"]}}
    given["check_risk"] = {"max_risk": 0.5}
    call = getattr(made, name)
    for parameter in inspect.signature(call).parameters:
        for value in (3.5, object(), {3: 4}):
            if (parameter, value) == ("max_risk", 3.5):
                continue
            with pytest.raises(LeafcoverError) as caught:
                call(**given.get(name, {}) | {parameter: value})
            assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "given",
    [
        {"hold_out": "a"}, {"max_risk": "a"}, {"keep_tables": [3]}, {"rules": [5]}, {"settings": {"k": object()}},
        {"recode": [3]}, {"recode": 3}, {"share": "a"}, {"rare": 3}, {"weights": []}, {"audience": 5}, {"sample": [1]},
    ],
    ids=lambda given: next(iter(given)),
)  # fmt: skip
def test_arguments_of_a_recipe_name_themselves(given):
    with pytest.raises(LeafcoverError) as caught:
        lc.release(PEOPLE, "cover", **{"target": "c", "seed": 1} | given)
    assert next(iter(given.get("settings", given))) in str(caught.value)
    assert "\n" not in str(caught.value)
    with pytest.raises(LeafcoverError, match="whole number"):
        lc.release(PEOPLE, "cover", target="c", seed="a")


# Frames of odd types.


def released(frame, **given):
    return lc.release(frame, "cover", **({"target": "c"} | given), seed=1).frame


def test_sparse_columns_of_pandas_are_released():
    for values in (PEOPLE["a"].astype(float), PEOPLE["a"], PEOPLE["a"] > 2):
        shown = released(PEOPLE.assign(a=pd.arrays.SparseArray(values)))
        assert sorted(shown["a"]) == sorted(values)


def test_integers_of_128_bits_are_released_if_64_are_enough():
    frame = pl.DataFrame(PEOPLE)
    shown = released(frame.with_columns(pl.col("a").cast(pl.Int128)))
    assert shown["a"].dtype == pl.Int128
    assert sorted(shown["a"]) == sorted(PEOPLE["a"])
    with pytest.raises(LeafcoverError, match=r"'a' .*64 bits.*Convert"):
        lc.read(frame.with_columns(pl.lit(2**90).cast(pl.Int128).alias("a")))


def test_objects_of_polars_are_refused_by_name():
    frame = pl.DataFrame(PEOPLE).with_columns(pl.Series("o", [1, "x"] * 20, dtype=pl.Object))
    with pytest.raises(LeafcoverError, match=r"'o' .*Object.*Convert"):
        lc.read(frame)


def test_labels_without_a_name_or_of_several_levels_are_released():
    nameless = PEOPLE.rename(columns={"a": None})
    assert released(nameless).columns.equals(nameless.columns)
    several = PEOPLE.set_axis(pd.MultiIndex.from_tuples([("p", "a"), ("p", "x"), ("q", "b"), ("q", "c")]), axis=1)
    assert list(released(several, target="('q', 'c')").columns) == list(several.columns)
    for target in (("q", "c"), "c"):
        with pytest.raises(LeafcoverError, match="column"):
            released(several, target=target)
