"""Frames of three libraries: the same table in, the same library and types out."""

import datetime as dt
from types import SimpleNamespace

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import leafcover as lc
from leafcover.errors import TableError
from leafcover.table.frames import from_frame, to_frame
from leafcover.table.io import read, sample, write
from leafcover.table.output import replace_values


def pandas_frame():
    return pd.DataFrame(
        {
            "int": [1, 2, 3],
            "small": np.array([1, 2, 3], np.int8),
            "float": [1.5, None, 2.25],
            "single": np.array([0.1, 0.2, 0.3], np.float32),
            "bool": [True, False, True],
            "text": ["a", None, "b"],
            "object": pd.Series(["a", None, "b"], dtype=object),
            "Int": pd.array([1, None, 3], dtype="Int64"),
            "Bool": pd.array([True, None, False], dtype="boolean"),
            "string": pd.array(["a", None, "c"], dtype="string"),
            "arrow": pd.array([1, None, 3], dtype="int32[pyarrow]"),
            "time": pd.to_datetime(["2020-01-01", "2020-01-02", None]),
            "zoned": pd.to_datetime(["2020-01-01", "2020-01-02", "2020-01-03"]).tz_localize("Europe/Vienna"),
            "date": pd.Series([dt.date(2020, 1, 1), dt.date(2020, 1, 2), None], dtype=object),
            "span": pd.to_timedelta([1, 2, 3], unit="s"),
            "level": pd.Categorical(["x", "y", "x"], categories=["y", "x"], ordered=True),
            "number level": pd.Categorical([3, 1, 3]),
        }
    ).set_index(pd.Index([5, 6, 7]))


def polars_frame():
    return pl.DataFrame(
        {
            "int": [1, 2, None],
            "small": pl.Series([1, 2, 3], dtype=pl.UInt8),
            "float": [1.5, 2.0, None],
            "bool": [True, None, False],
            "text": ["a", None, "b"],
            "level": pl.Series(["x", "y", "x"], dtype=pl.Categorical),
            "enum": pl.Series(["x", "y", "x"], dtype=pl.Enum(["y", "x"])),
            "date": [dt.date(2020, 1, 1), None, dt.date(2020, 1, 3)],
            "time": [dt.datetime(2020, 1, 1), None, dt.datetime(2020, 1, 3)],
            "clock": [dt.time(1, 2), dt.time(3, 4), None],
            "cents": pl.Series(["1.10", "0.69", None]).cast(pl.Decimal(10, 2)),
        }
    )


def test_a_pandas_frame_comes_back_with_its_types_and_a_fresh_index():
    frame = pandas_frame()
    back = to_frame(from_frame(frame))
    pd.testing.assert_frame_equal(back, frame.reset_index(drop=True))


def test_a_polars_frame_comes_back_with_its_types():
    from polars.testing import assert_frame_equal

    frame = polars_frame()
    back = to_frame(from_frame(frame))
    assert back.schema == frame.schema
    assert_frame_equal(back, frame)


def test_a_pyarrow_table_comes_back_with_its_types_and_without_metadata():
    table = polars_frame().to_arrow().replace_schema_metadata({"note": "x"})
    back = to_frame(from_frame(table))
    assert back.schema.metadata is None
    assert back.to_pylist() == table.to_pylist()
    assert back.schema.types == table.schema.types


def test_a_table_is_taken_as_it_is_and_a_files_table_becomes_pyarrow():
    table = read(sample("cps1985"))
    assert from_frame(table) is table
    frame = to_frame(table)
    assert isinstance(frame, pa.Table)
    assert frame.schema.field("wage").type == pa.float64()
    assert frame.schema.field("age").type == pa.int64()
    assert frame.schema.field("union").type == pa.string()


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_frames_of_all_libraries_give_the_same_values(library, tmp_path):
    table = read(sample("wine"))
    arrow = to_frame(table)
    frame = {"pandas": arrow.to_pandas, "polars": lambda: pl.from_arrow(arrow), "pyarrow": lambda: arrow}[library]()
    taken = from_frame(frame, category=["class"], roles={"class": "target"})
    for one, other in zip(table, taken, strict=True):
        if one.name != "class":
            assert one.grid == other.grid
            np.testing.assert_array_equal(one.values, other.values)
    assert taken["class"].levels == ("1", "2", "3")
    assert taken.with_role("target") == ("class",)
    assert type(to_frame(taken)) is type(frame)
    write(taken, tmp_path / "out.csv")
    np.testing.assert_array_equal(read(tmp_path / "out.csv")["hue"].values, table["hue"].values)


@pytest.mark.parametrize("dtype", [object, "string", "string[pyarrow]", "str"])
def test_dates_as_text_in_a_frame_are_read_as_in_a_csv_file_and_released_as_text(dtype, tmp_path):
    days = [f"{day:02}.0{month}.2020" for day in range(1, 21) for month in range(1, 4)]
    times = [f"2020-01-05 10:{minute:02}:00" for minute in range(60)]
    frame = pd.DataFrame({"day": pd.Series(days, dtype=dtype), "time": pd.Series(times, dtype=dtype)})
    frame["kind"] = ["a", "b", "c"] * 20
    frame.loc[7, "day"] = None
    frame.loc[8, "time"] = "NA"
    frame.to_csv(tmp_path / "frame.csv", index=False)
    from_file, table = read(tmp_path / "frame.csv"), from_frame(frame)
    assert table.equals(from_file)
    assert [c.kind for c in table] == ["date", "time", "category"]
    assert [int(c.missing.sum()) for c in table] == [1, 1, 0]
    assert from_frame(frame, category=["day"])["day"].kind == "category"
    assert from_frame(frame.astype({"day": "category"}))["day"].kind == "category"
    pd.testing.assert_frame_equal(to_frame(table), frame)
    table = from_frame(frame, roles={"time": "sensitive"})  # unique moments are refused until said
    released = lc.release(table, "cover", target="kind", seed=1).frame
    assert (released.dtypes == frame.dtypes).all()
    assert released["day"].isna().sum() == 1
    assert (released["time"] == "NA").sum() == 1
    assert released["day"].value_counts().min() >= 5
    assert set(released["day"].dropna().str.len()) == {10}


def test_numbers_as_text_in_a_frame_stay_categories():
    table = from_frame(pd.DataFrame({"code": ["01", "02", "13"], "mixed": ["2020-01-05", "later", None]}))
    assert [c.kind for c in table] == ["category", "category"]


def test_unused_levels_go():
    level = pd.Series(pd.Categorical(["x", "y"], categories=["z", "y", "x"]))
    back = to_frame(from_frame(pd.DataFrame({"level": level})))
    assert list(back["level"].cat.categories) == ["y", "x"]
    enum = pl.DataFrame({"enum": pl.Series(["x", "y"], dtype=pl.Enum(["z", "y", "x"]))})
    assert to_frame(from_frame(enum)).schema["enum"] == pl.Enum(["y", "x"])


def test_drawn_values_come_back_in_the_columns_type():
    frame = pandas_frame()
    table = from_frame(frame)
    changed = [
        replace_values(table[name], table[name].values[::-1].copy())
        for name in ("int", "small", "Int", "time", "level", "number level", "bool")
    ]
    back = to_frame(table.replace(changed))
    assert (back.dtypes == frame.dtypes).all()
    assert back["small"].tolist() == [3, 2, 1]
    assert back["number level"].tolist() == [3, 1, 3]
    assert back["Int"].tolist() == [3, pd.NA, 1]


def test_means_of_whole_numbers_come_back_as_floats():
    for frame in (pd.DataFrame({"n": [1, 2]}), pl.DataFrame({"n": [1, 2]}), pa.table({"n": [1, 2]})):
        table = from_frame(frame)
        back = to_frame(table.replace([replace_values(table["n"], np.array([1.5, 2.0]))]))
        assert list(back["n"].to_numpy()) == [1.5, 2.0]


def test_pandas_names_that_are_no_text_are_kept():
    frame = pd.DataFrame({0: [1, 2], "b": ["x", "y"]})
    table = from_frame(frame)
    assert table.names == ("0", "b")
    assert list(to_frame(table).columns) == [0, "b"]


def test_mixed_objects_are_a_category_with_a_warning():
    table = from_frame(pd.DataFrame({"o": [1, "a", None]}))
    assert table["o"].levels == ("1", "a")
    assert "mixes types" in table.warnings[0]


@pytest.mark.parametrize(
    "frame",
    [
        [1, 2],
        {"a": [1, 2]},
        "a.csv",
        pl.DataFrame({"a": [1, 2]}).lazy(),
        pd.DataFrame({"a": [1]}),
        pd.DataFrame([[1, 2], [3, 4]], columns=["a", "a"]),
        pd.DataFrame({"a": [[1], [2]]}),
        pd.DataFrame({"a": [object(), object()]}),
        pa.table({"a": [1.0, float("inf")]}),
        pd.DataFrame(),
    ],
    ids=["list", "dict", "path", "lazy", "one row", "twice", "nested", "objects", "infinite", "empty"],
)
def test_what_is_no_table_is_refused_in_one_line(frame):
    with pytest.raises(TableError) as caught:
        from_frame(frame)
    assert "\n" not in str(caught.value)


def test_a_missing_float_is_missing_whether_null_or_nan():
    table = from_frame(pl.DataFrame({"f": [1.0, float("nan"), None]}))
    assert table["f"].missing.tolist() == [False, True, True]
    assert str(to_frame(table)["f"].to_list()) == "[1.0, nan, None]"


@pytest.mark.parametrize("kind", [pa.int8(), pa.int64(), pa.float32(), pa.float64(), pa.decimal128(21, 2)])
@pytest.mark.parametrize("token", ["-9", " -9.0", -9, -9.0, np.int64(-9), ["x", "-9e0"]])
def test_a_number_means_missing_in_any_spelling_and_type(kind, token):
    table = from_frame(pa.table({"n": pa.array([1, -9, None, 3], pa.int64()).cast(kind)}), missing={"n": token})
    assert table["n"].kind == "number"
    assert table["n"].missing.tolist() == [False, True, True, False]
    assert table["n"].domain == (1.0, 3.0)
    assert to_frame(table)["n"].to_pylist() == [1, -9, None, 3]
    level = from_frame(pa.table({"n": [1.0, -9.0, None, 3.0]}), missing={"n": token}, category=["n"])
    assert level["n"].missing.tolist() == [False, True, True, False]


def test_large_integers_that_mean_missing_are_compared_exactly():
    numbers = pa.table({"n": [2**62, 2**62 + 1, 5]})
    assert from_frame(numbers, missing={"n": str(2**62)})["n"].missing.tolist() == [True, False, False]
    assert not from_frame(numbers, missing={"n": ["1e999", "0.5", "-1e30"]})["n"].missing.any()


@pytest.mark.parametrize(
    ("token", "missing"),
    [("2020-01-01", True), ("2020-01-01 00:00:00", True), ("2019-12-31T23:00:00Z", True), ("2020-01-02", False)],
)
def test_a_date_means_missing_in_the_columns_own_time_zone(token, missing):
    frame = pandas_frame()[["zoned", "time"]]
    table = from_frame(frame, missing={"zoned": token})
    assert table["zoned"].missing.tolist() == [missing, token == "2020-01-02", False]
    assert table.warnings == ()
    pd.testing.assert_frame_equal(to_frame(table), frame.reset_index(drop=True))


def test_what_cannot_mean_missing_warns_or_is_refused():
    assert len(from_frame(pa.table({"n": [1, 2]}), missing={"n": ["NA", "", "unknown"]}).warnings) == 1
    assert len(from_frame(polars_frame(), missing={"date": "02/03/2020"}).warnings) == 1
    assert from_frame(pa.table({"n": [1, 2]}), missing={"n": ["NA", "-9"]}).warnings == ()
    with pytest.raises(TableError, match="'span'"):
        from_frame(pandas_frame(), missing={"span": "1"})


@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".arrow", ".arff"])
def test_numbers_that_mean_missing_do_so_in_files(suffix, tmp_path):
    path = tmp_path / f"in{suffix}"
    write(pa.table({"n": [1.5, -9.0, 2.5, None], "i": [1, 2, -9, 3]}), path)
    table = read(path, missing={"n": "-9", "i": "-9.0"})
    assert table["n"].missing.tolist() == [False, True, False, True]
    assert table["i"].missing.tolist() == [False, False, True, False]
    write(table, tmp_path / "out.csv")
    assert (tmp_path / "out.csv").read_text().splitlines()[2].split(",")[0] in ("-9", "-9.0")


def test_a_frame_of_large_texts_is_written_as_a_file(tmp_path):
    texts = pa.array(["plain", 'a "quoted" one', "with, comma", None], pa.large_string())
    for names in (["c", "x"], ["x", "c"], ["c"]):
        frame = pa.table({"x": [1, 2, 3, 4], "c": texts}).select(names)
        write(from_frame(frame), tmp_path / "t.csv")
        again = read(tmp_path / "t.csv")
        assert again["c"].levels == ('a "quoted" one', "plain", "with, comma")
        assert again["c"].missing.tolist() == [False, False, False, True]
        (tmp_path / "t.csv").unlink()


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.string_view()])
def test_a_frame_of_texts_that_need_quotes_is_written_as_arff_and_c45(kind, tmp_path):
    texts = ["it's", 'a "b" c', "x, y", "back\\slash", None, "plain", "%", "{x}"]
    frame = pa.table({"c": pa.array(texts, kind), "class": pa.array(["u v", "w"] * 4, kind)})
    for given in (frame, frame.to_pandas(), pl.from_arrow(frame)):
        for suffix in (".arff", ".data"):
            write(given, tmp_path / f"t{suffix}", force=True)
            again = read(tmp_path / f"t{suffix}")
            assert set(again["c"].levels) == set(texts) - {None}
            assert again["c"].missing.tolist() == [text is None for text in texts]
            assert again["class"].levels == ("u v", "w")


def test_write_takes_a_release_or_a_frame_and_refuses_others_in_one_line(tmp_path):
    frame = pa.table({"age": [31, 4], "table": ["b", "a"]})
    for number, given in enumerate((frame, SimpleNamespace(table=from_frame(frame)), frame.to_pandas())):
        write(given, tmp_path / f"{number}.csv")
        assert (tmp_path / f"{number}.csv").read_text() == "age,table\n31,b\n4,a\n"
    with pytest.raises(TableError) as caught:
        write([1, 2], tmp_path / "list.csv")
    assert "list" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_integers_of_64_bits_without_sign_are_released_and_larger_ones_refused():
    import pandas as pd

    frame = pd.DataFrame({"x": [2**63 + 2**20 * (i // 6) for i in range(60)], "c": ["a", "b"] * 30})
    released = lc.release(frame, "cover", target="c", seed=1).frame
    assert released["x"].dtype == frame["x"].dtype
    assert sorted(released["x"]) == sorted(frame["x"])
    ends = pa.table({"x": pa.array([2**64 - 1, 0] * 30, pa.uint64()), "c": ["a", "b"] * 30})
    assert lc.release(ends, "cover", target="c", seed=1).frame["x"].type == pa.uint64()
    with pytest.raises(TableError, match="64 bits"):
        lc.read(pd.DataFrame({"x": [2**70 + i for i in range(60)]}))
