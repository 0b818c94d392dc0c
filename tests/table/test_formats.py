"""Parquet, Arrow, ARFF and C4.5: every format holds the same table."""

import csv
import datetime as dt
import json
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import leafcover as lc
from leafcover.errors import LeafcoverError
from leafcover.table.io import SAMPLES, read, sample, write
from leafcover.table.legacy_formats import parse_names_file
from leafcover.table.output import as_typed, replace_values
from leafcover.table.table import Table
from tests.cli.helpers import leafcover
from tests.table import strategies
from tests.table.test_delimited import as_csv

anywhere = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
TYPED = [".parquet", ".arrow", ".feather"]
easy = st.sampled_from(
    [
        strategies.integers,
        strategies.decimals,
        strategies.dates,
        st.sampled_from(["yes", "no", "it's", "a,b", "ß 😀", "%"]),
    ]
)


def same_values(one, other, *, grids=True):
    assert one.names == other.names
    for left, right in zip(one, other, strict=True):
        assert (left.name, left.kind) == (right.name, right.kind)
        assert not grids or left.grid == right.grid
        if left.is_category:
            assert texts(left) == texts(right)
        else:
            np.testing.assert_array_equal(left.values, right.values)


def texts(column):
    return [None if code < 0 else column.levels[code] for code in column.values]


@pytest.mark.parametrize("suffix", [*TYPED, ".arff", ".csv.gz", ".tsv"])
@pytest.mark.parametrize("name", SAMPLES)
def test_a_csv_table_has_the_same_values_in_every_format(name, suffix, tmp_path):
    table = read(sample(name))
    write(table, tmp_path / f"out{suffix}")
    same_values(table, read(tmp_path / f"out{suffix}"))


@given(table=strategies.text_tables(cell=easy))
@anywhere
def test_csv_and_other_formats_of_one_table_agree(table, tmp_path):
    header, rows = table
    (tmp_path / "in.csv").write_bytes(as_csv(header, rows, quoting=csv.QUOTE_ALL).encode())
    first = read(tmp_path / "in.csv", delimiter=",")
    for suffix in (".parquet", ".arrow", ".arff"):
        write(first, tmp_path / f"out{suffix}", force=True)
        second = read(tmp_path / f"out{suffix}")
        for left, right in zip(first, second, strict=True):
            if left.levels:  # a column without known values has no kind to agree on
                same_values(Table((left,)), Table((right,)))


def typed_table():
    return pa.table(
        {
            "whole": pa.array([1, None, 3], pa.int32()),
            "float": pa.array([0.1, 2.5, None], pa.float64()),
            "single": pa.array([0.1, 2.5, None], pa.float32()),
            "cents": pa.array([Decimal("0.69"), Decimal("2.00"), None], pa.decimal128(9, 2)),
            "flag": pa.array([True, None, False]),
            "word": pa.array(["b", "a", None]),
            "day": pa.array([0, None, 18000], pa.date32()),
            "moment": pa.array([0, None, 1_600_000_000_123], pa.timestamp("ms")),
            "utc": pa.array([0, None, 1_600_000_000_123], pa.timestamp("ms", "UTC")),
            "coded": pa.DictionaryArray.from_arrays(pa.array([2, 0, None], pa.int32()), ["u", "unused", "v"]),
            "nothing": pa.nulls(3, pa.string()),
        }
    )


@pytest.mark.parametrize("suffix", TYPED)
def test_types_survive(suffix, tmp_path):
    original = typed_table()
    pa.feather.write_feather(original, tmp_path / "in.arrow")
    table = read(tmp_path / "in.arrow")
    assert [column.kind for column in table] == ["number"] * 4 + ["category"] * 2 + ["date"] + ["time"] * 2 + [
        "category"
    ] * 2
    write(table, tmp_path / f"out{suffix}")
    again = read(tmp_path / f"out{suffix}")
    same_values(table, again)
    for column in again:
        if column.name != "coded":
            assert column.stored.type == original[column.name].type
            assert column.stored.to_pylist() == original[column.name].to_pylist()


def test_an_arrow_stream_is_read_too(tmp_path):
    with pa.ipc.new_stream(tmp_path / "in.arrow", typed_table().schema) as out:
        out.write_table(typed_table())
    assert read(tmp_path / "in.arrow").names == tuple(typed_table().column_names)


def test_a_typed_table_as_csv_has_the_same_values(tmp_path):
    pa.parquet.write_table(typed_table().drop(["coded", "nothing", "single"]), tmp_path / "in.parquet")
    table = read(tmp_path / "in.parquet")
    write(table, tmp_path / "out.csv")
    same_values(table, read(tmp_path / "out.csv"))
    assert (tmp_path / "out.csv").read_text().splitlines()[3] == (
        "3,,,false,,2019-04-14,2020-09-13 12:26:40.123,2020-09-13 12:26:40.123Z"
    )


@pytest.mark.parametrize("suffix", TYPED)
def test_nothing_but_the_values_leaves(suffix, tmp_path):
    """A planted level nobody has, a value under a null and the metadata of pandas must not be in the file."""
    hidden = pa.Array.from_buffers(
        pa.int64(), 3, [pa.py_buffer(b"\x05"), pa.array([1, 7777777777777777, 3]).buffers()[1]]
    )
    coded = pa.DictionaryArray.from_arrays(pa.array([0, 2, 0], pa.int32()), ["a", "PLANTED", "b"])
    planted = pa.table({"hidden": hidden, "coded": coded}).replace_schema_metadata({"pandas": "{}", "note": "SECRET"})
    pa.feather.write_feather(planted, tmp_path / "in.arrow", compression="uncompressed")
    write(read(tmp_path / "in.arrow"), tmp_path / f"out{suffix}")
    content = (tmp_path / f"out{suffix}").read_bytes()
    assert b"PLANTED" not in content
    assert b"SECRET" not in content
    assert (7777777777777777).to_bytes(8, "little") not in content
    if suffix == ".parquet":
        meta = pa.parquet.ParquetFile(tmp_path / "out.parquet").metadata
        schema = pa.parquet.ParquetFile(tmp_path / "out.parquet").schema_arrow
        assert list(meta.metadata) == [b"ARROW:schema"]  # encoded in base64, so that a search of the file would miss it
        assert schema.metadata is None
        assert all(field.metadata is None for field in schema)
        assert not any(meta.row_group(0).column(i).is_stats_set for i in range(2))


def test_a_pandas_index_that_was_stored_is_no_column(tmp_path):
    frame = pd.DataFrame({"a": [1, 2], "b": ["x", "y"]}, index=[7, 9])
    frame.to_parquet(tmp_path / "in.parquet")
    assert read(tmp_path / "in.parquet").names == ("a", "b")


# Types through the command line and in Python: those of the original, whatever library wrote the file.


def typed_frame(rows=60):
    """Every type of pandas that a table may have; an index and levels nobody has, which must not leave."""
    days = [dt.date(2020, 1, 1 + i % 3) for i in range(rows)]

    def some(*values):
        return [values[i % len(values)] for i in range(rows)]

    return pd.DataFrame(
        {
            "int": some(1, 2, 3),
            "small": np.array(some(1, 2, 3), np.int8),
            "Int": pd.array(some(1, None, 3), dtype="Int64"),
            "UInt": pd.array(some(1, None, 3, 4), dtype="UInt8"),
            "float": some(0.5, 1.25, None),
            "single": np.array(some(0.5, 1.25, 2), np.float32),
            "Float": pd.array(some(0.5, None, 1.5), dtype="Float64"),
            "bool": some(True, False),
            "Bool": pd.array(some(True, None, False), dtype="boolean"),
            "text": some("a", None, "b"),
            "string": pd.array(some("a", None, "b"), dtype="string"),
            "arrow": pd.array(some(1, None, 3), dtype="int32[pyarrow]"),
            "arrow text": pd.array(some("a", "b"), dtype=pd.ArrowDtype(pa.string())),
            "low to high": pd.Categorical(some("low", "mid", "high"), ["low", "mid", "high", "PLANTED"], ordered=True),
            "level": pd.Categorical(some("x", "y")),
            "time": pd.to_datetime(days).as_unit("ns"),
            "zoned": pd.to_datetime(days).tz_localize("Europe/Vienna"),
            "span": pd.to_timedelta(some(1, 2, 3), unit="s"),
            "day": pd.Series(days, dtype=object),
        },
        index=pd.Index([f"PLANTED {i}" for i in range(rows)], name="person"),
    )


def types_of(frame):
    """The type of each column, and the levels in their order without those that nobody has."""
    return {
        name: (str(dtype), dtype.ordered, [level for level in dtype.categories if level in set(frame[name])])
        if isinstance(dtype, pd.CategoricalDtype)
        else str(dtype)
        for name, dtype in frame.dtypes.items()
    }


@pytest.mark.parametrize(("recipe", "suffix"), [("cover", ".parquet"), ("additive", ".arrow")])
def test_types_of_pandas_are_the_same_from_the_command_line_and_in_python(recipe, suffix, tmp_path):
    frame = typed_frame()
    reader = pd.read_parquet if suffix == ".parquet" else pd.read_feather
    pa_table = pa.Table.from_pandas(frame)
    (pa.parquet.write_table if suffix == ".parquet" else pa.feather.write_feather)(pa_table, tmp_path / f"in{suffix}")
    words = ("release", tmp_path / f"in{suffix}", "-o", tmp_path / f"out{suffix}", "--target", "level")
    done = leafcover(*words, "--recipe", recipe, "--hold-out", 0.2, "--seed", 1)
    assert done.exit_code == 0, done.output
    assert "'person'" in done.stderr  # the index is left out
    expected = types_of(reader(tmp_path / f"in{suffix}"))
    found = reader(tmp_path / f"out{suffix}")
    assert types_of(found) == expected
    assert isinstance(found.index, pd.RangeIndex)
    release = lc.release(frame, recipe, target="level", hold_out=0.2, seed=1)
    release.save(tmp_path / f"python{suffix}")
    assert types_of(reader(tmp_path / f"python{suffix}")) == expected
    assert types_of(release.frame) == types_of(frame)
    for path in (tmp_path / f"out{suffix}", tmp_path / f"python{suffix}"):
        reads = pa.parquet.read_schema if suffix == ".parquet" else lambda path: pa.feather.read_table(path).schema
        described = reads(path).metadata
        assert list(described) == [b"pandas"]
        assert set(json.loads(described[b"pandas"])) == {"index_columns", "column_indexes", "columns"}
        assert json.loads(described[b"pandas"])["index_columns"] == []
        assert b"PLANTED" not in path.read_bytes() + described[b"pandas"]


def test_means_of_whole_numbers_are_of_the_nullable_type_that_holds_them(tmp_path):
    kinds = {"int8": "float64", "Int64": "Float64", "UInt8": "Float64", "int32[pyarrow]": "double[pyarrow]"}
    frame = pd.DataFrame({kind: pd.array([1, 2, 3], dtype=kind) for kind in kinds})
    table = lc.from_frame(frame)
    write(
        table.replace(replace_values(column, np.array([1.5, 2.5, 2.5])) for column in table), tmp_path / "out.parquet"
    )
    assert {name: str(dtype) for name, dtype in pd.read_parquet(tmp_path / "out.parquet").dtypes.items()} == kinds


def test_types_of_polars_are_the_same_from_the_command_line_and_in_python(tmp_path):
    rows = 60
    at = pl.Series(range(rows))
    frame = pl.DataFrame(
        {
            "enum": pl.Series(["é", "y", "é"] * 20, dtype=pl.Enum(["y", "PLANTED", "é"])),
            "category": pl.Series(["b", "a"] * 30, dtype=pl.Categorical),
            "small": (at % 3).cast(pl.UInt8),
            "flag": [True, None, False] * 20,
            "text": ["a", None, "b"] * 20,
            "zoned": pl.Series([dt.datetime(2020, 1, 1), dt.datetime(2020, 1, 2)] * 30).dt.replace_time_zone(
                "Asia/Tokyo"
            ),
            "span": [dt.timedelta(seconds=1), dt.timedelta(seconds=2)] * 30,
            "clock": [dt.time(1), dt.time(2)] * 30,
            "cents": pl.Series(["1.10", "0.69", None] * 20).cast(pl.Decimal(10, 2)),
        }
    )
    expected = dict(frame.schema) | {"enum": pl.Enum(["y", "é"])}
    for suffix, write_file, read_file in (
        (".parquet", pl.DataFrame.write_parquet, pl.read_parquet),
        (".arrow", pl.DataFrame.write_ipc, pl.read_ipc),
    ):
        write_file(frame, tmp_path / f"in{suffix}")
        words = ("release", tmp_path / f"in{suffix}", "-o", tmp_path / f"out{suffix}", "--target", "category")
        done = leafcover(*words, "--seed", 1)
        assert done.exit_code == 0, done.output
        assert dict(read_file(tmp_path / f"out{suffix}").schema) == expected
        release = lc.release(frame, "cover", target="category", seed=1)
        release.save(tmp_path / f"python{suffix}")
        assert dict(read_file(tmp_path / f"python{suffix}").schema) == expected
        assert dict(release.frame.schema) == expected
        assert b"PLANTED" not in (tmp_path / f"out{suffix}").read_bytes()


def test_types_of_arrow_are_the_same_in_a_file_and_as_a_table(tmp_path):
    rows = typed_table().slice(0, 3)
    types = {
        **dict(zip(rows.column_names, rows.columns, strict=True)),
        "view": pa.array(["a", "b", None], pa.string_view()),
        "large": pa.array(["a", "b", None], pa.large_string()),
        "span": pa.array([1, 2, None], pa.duration("ns")),
        "zoned": pa.array([0, None, 1], pa.timestamp("us", "Europe/Vienna")),
        "ordered": pa.DictionaryArray.from_arrays(pa.array([1, 0, 1], pa.int8()), ["z", "a"], ordered=True),
        "clock": pa.array([1, 2, None], pa.time64("us")),
    }
    original = pa.table(types)
    pa.parquet.write_table(original, tmp_path / "in.parquet")
    write(read(tmp_path / "in.parquet"), tmp_path / "out.parquet")
    with pa.OSFile(str(tmp_path / "in.arrow"), "wb") as file, pa.ipc.new_file(file, original.schema) as out:
        out.write_table(original)
    write(read(tmp_path / "in.arrow"), tmp_path / "out.arrow")
    with pa.OSFile(str(tmp_path / "out.arrow")) as file:
        assert pa.ipc.open_file(file).schema == original.schema
    assert pa.parquet.read_schema(tmp_path / "out.parquet") == pa.parquet.read_schema(tmp_path / "in.parquet")
    write(lc.from_frame(original), tmp_path / "frame.parquet")
    assert pa.parquet.read_schema(tmp_path / "frame.parquet") == pa.parquet.read_schema(tmp_path / "in.parquet")


def test_a_named_index_is_left_out_with_a_warning_unless_an_option_names_it(tmp_path):
    frame = pd.DataFrame({"person": [1, 1, 2], "a": [1, 2, 3]}).set_index("person")
    frame.to_parquet(tmp_path / "in.parquet")
    for table in (read(tmp_path / "in.parquet"), lc.from_frame(frame)):
        assert table.names == ("a",)
        assert len(table.warnings) == 1
        assert "'person'" in table.warnings[0]
    kept = read(tmp_path / "in.parquet", roles={"person": "unit"})
    assert (kept.names, kept.warnings) == (("a", "person"), ())


def test_unordered_levels_do_not_say_which_row_came_first(tmp_path):
    coded = pa.array(["m", "z", "a", "m"]).dictionary_encode()
    assert coded.dictionary.to_pylist() == ["m", "z", "a"]  # in the order of the rows
    pa.feather.write_feather(pa.table({"c": coded, "n": [1, 2, 3, 4]}), tmp_path / "in.arrow")
    table = read(tmp_path / "in.arrow")
    assert table["c"].stored.dictionary.to_pylist() == ["a", "m", "z"]
    assert table["c"].stored.to_pylist() == ["m", "z", "a", "m"]
    kept = pa.DictionaryArray.from_arrays(pa.array([1, 0, 2, 1]), ["z", "m", "a"])
    assert lc.from_frame(pa.table({"c": kept, "n": [1, 2, 3, 4]}))["c"].stored.dictionary.to_pylist() == ["z", "m", "a"]


def test_whole_numbers_beyond_two_to_the_53_stay_exact_in_every_format(tmp_path):
    (tmp_path / "in.csv").write_text("id,n\n9007199254740993,1\n9007199254740995,2\n")
    table = read(tmp_path / "in.csv")
    for suffix in (".csv", *TYPED, ".arff"):
        write(table, tmp_path / f"out{suffix}")
        again = read(tmp_path / f"out{suffix}").take(np.array([1, 0]))
        assert [str(value) for value in again["id"].stored.to_pylist()] == ["9007199254740995", "9007199254740993"]


LONG = (2**53 + 1, 2**53, 2**53 + 2, 2**62 + 1)


@pytest.mark.parametrize(
    "make",
    [
        lambda n: pa.table({"n": pa.array(n, pa.int64()), "m": [at % 9 for at in range(len(n))]}),
        lambda n: pa.table({"n": pa.array(n, pa.uint64()), "m": [at % 9 for at in range(len(n))]}),
        lambda n: pa.table({"n": pa.array([*n[:-1], None], pa.int64()), "m": [at % 9 for at in range(len(n))]}),
        lambda n: pa.table(
            {"n": pa.array(map(Decimal, n), pa.decimal128(38, 0)), "m": [at % 9 for at in range(len(n))]}
        ),
        lambda n: pa.table({"n": pa.array(n, pa.int64()), "m": [at % 9 for at in range(len(n))]}).to_pandas(),
        lambda n: pl.DataFrame({"n": n, "m": [at % 9 for at in range(len(n))]}),
    ],
)
def test_integers_of_typed_columns_are_never_rounded(make):
    """They are released as they are, or refused as an identifier."""
    few = lc.from_frame(make(LONG * 50))
    assert few["n"].is_category
    assert few.reading.category == ("n",)
    assert "2^53" in few.warnings[0]
    shown = lc.release(few, "cover", target="m", settings={"bins": 3}, seed=1).frame
    assert {int(n) for n in pa.table(shown)["n"].to_pylist() if n is not None} <= set(LONG)
    distinct = lc.from_frame(make(tuple(2**53 + 2 * at + 1 for at in range(100))))
    with pytest.raises(LeafcoverError, match="'n'"):
        lc.release(distinct, "cover", target="m", settings={"bins": 3}, seed=1)
    assert lc.from_frame(make((2**53, 2**60) * 20))["n"].kind == "number"


ARFF = r"""% a comment
@RELATION 'my table'
@Attribute age numeric
@attribute	"the job" {clerk, 'road worker', 'it\'s', unseen}
@attribute born date "yyyy-MM-dd"
@attribute note string
@data
31, clerk, 1970-01-02, 'a, b'
% another
?, 'road worker', '1970-01-03', ?
4, 'it\'s', 1970-01-04, "say \"x\""
"""


def test_arff_declarations_win(tmp_path):
    (tmp_path / "in.arff").write_text(ARFF)
    table = read(tmp_path / "in.arff")
    assert table.names == ("age", "the job", "born", "note")
    assert table["the job"].levels == ("clerk", "it's", "road worker", "unseen")
    assert table["born"].values.tolist() == [1, 2, 3]
    assert texts(table["note"]) == ["a, b", None, 'say "x"']
    assert table["age"].missing.tolist() == [False, True, False]
    write(table, tmp_path / "out.arff")
    same_values(table, read(tmp_path / "out.arff"))
    content = (tmp_path / "out.arff").read_text()
    assert content.startswith("@relation 'my table'\n")
    assert "unseen" not in content


def test_arff_numbers_declared_as_values_are_categories(tmp_path):
    (tmp_path / "in.arff").write_text("@attribute c {2,10}\n@data\n10\n2\nNA\n".replace("NA", "?"))
    assert read(tmp_path / "in.arff")["c"].levels == ("10", "2")


@pytest.mark.parametrize("name", ["golf", "labor-neg", "vote", "crx"])
def test_c45_files_are_read_and_written(name, shared, tmp_path):
    table = read(shared(f"c45/{name}.data"))
    assert table.names[-1] == "class"
    write(table, tmp_path / "out.data")
    again = read(tmp_path / "out.data")
    same_values(table, again)


def test_c45_sample_sets_have_the_levels_their_names_files_declare(shared):
    golf = read(shared("c45/golf.data"))
    assert golf["class"].levels == ("Don't Play", "Play")
    assert golf["outlook"].levels == ("overcast", "rain", "sunny")
    assert golf["humidity"].kind == "number"
    vote = read(shared("c45/vote.test"))
    assert vote["class"].levels == ("democrat", "republican")
    assert len(vote) == 135
    labor = read(shared("c45/labor-neg.data"))
    assert labor["vacation"].levels == ("average", "below average", "generous")
    assert len(read(shared("c45/crx.data"))) == 490


NAMES = r"""| what this is
yes, no.   | the classes

wage: continuous.
job: clerk,
     road worker, a\,b, St\. Johns.
code: discrete 10.
name: ignore.
"""


def test_c45_names_know_comments_escapes_and_keywords(tmp_path):
    attributes = {attribute.name: attribute for attribute in parse_names_file(NAMES, tmp_path)}
    assert attributes["wage"].kind == "number"
    assert attributes["name"].kind == "ignore"
    assert attributes["job"].levels == ("St. Johns", "a,b", "clerk", "road worker")
    assert attributes["code"].levels is None
    assert attributes["class"].levels == ("no", "yes")


def test_c45_values_are_trimmed_and_unobserved_levels_kept(tmp_path):
    names = "yes, no.\nwage: continuous.\njob: clerk, a\\,b, unseen.\ncode: discrete 10.\nname: ignore.\n"
    (tmp_path / "x.names").write_text(names)
    (tmp_path / "x.data").write_text("1.5,  clerk , 7, Ann, yes.\n| a comment\n?, a\\,b, NA, Bob, no.\n")
    table = read(tmp_path / "x.data")
    assert table.names == ("wage", "job", "code", "class")
    assert table["job"].levels == ("a,b", "clerk", "unseen")
    assert table["job"].values.tolist() == [1, 0]
    assert table["code"].levels == ("7", "NA")  # C4.5 knows only the question mark
    write(table, tmp_path / "out.data")
    same_values(table, read(tmp_path / "out.data"))
    assert "unseen" not in (tmp_path / "out.names").read_text()


def test_c45_rows_outside_the_fast_way_read_the_same(tmp_path):
    (tmp_path / "x.names").write_text("a, b.\nn: continuous.\nw: u, v w.\n")
    (tmp_path / "x.data").write_text("1,u,a.\n2,v  w,b.\n?,?,a\n")
    fast = read(tmp_path / "x.data")
    (tmp_path / "x.data").write_text("1,u,a. | first\n2,v  w,b.\n?,?,a\n")
    same_values(fast, read(tmp_path / "x.data"))
    assert texts(fast["w"]) == ["u", "v w", None]


def test_declared_categories_roles_and_drops_hold_in_every_format(tmp_path):
    table = read(sample("cps1985"))
    for suffix in (".csv", ".parquet", ".arff"):
        write(table, tmp_path / f"out{suffix}")
        again = read(
            tmp_path / f"out{suffix}",
            category=["education"],
            drop=["wage"],
            roles={"union": "target", "wage": "unit"},
        )
        assert again["education"].is_category
        assert again["education"].levels[0] == "10"
        assert again.names == table.names[1:]
        assert again.roles == {"union": "target"}


def test_missing_tokens_of_ones_own_hold_for_typed_text(tmp_path):
    pa.parquet.write_table(pa.table({"a": ["x", "none", "?"]}), tmp_path / "in.parquet")
    assert read(tmp_path / "in.parquet")["a"].levels == ("?", "none", "x")
    assert read(tmp_path / "in.parquet", missing={"a": ["none"]})["a"].levels == ("?", "x")


def test_a_released_column_leaves_without_its_unused_levels():
    coded = pa.DictionaryArray.from_arrays(pa.array([2, 0], pa.int8()), ["u", "unused", "v"])
    from leafcover.table.arrow import from_typed

    column = from_typed("c", coded).column
    assert column.levels == ("u", "v")
    typed = as_typed(column.take(np.array([0, 0])), own_type=True)
    assert typed.dictionary.to_pylist() == ["v"]
    assert typed.to_pylist() == ["v", "v"]
