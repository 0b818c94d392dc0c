"""Stata, SPSS and SAS files: codes, labels and formats come back, what never occurs does not."""

import datetime as dt
import re

import numpy as np
import pandas as pd
import pyarrow as pa
import pyreadstat
import pytest

import leafcover as lc
from leafcover.errors import LeafcoverError, OutputError, TableError
from leafcover.table.frames import from_frame
from leafcover.table.io import read, write
from leafcover.table.output import replace_values
from leafcover.table.table import without_unused_levels

HEALTH = {3: "poor", 2: "fair", 1: "good", 97: "refused", 5: "PLANTED"}


def spss(path, **more):
    """A survey in SPSS: codes in an order of their own, labels that nobody has, declared missing values."""
    frame = pd.DataFrame(
        {
            "health": [1.0, 3, 2, 97, 1],
            "sex": ["m", "f", "f", "m", ""],
            "income": [1200.5, 0, 98, 99, 3],
            "born": pd.array([13_797_216_000.0, None, 10_021_104_000.0, 11_903_760_000.0, 13_797_216_000.0]),
            "month": [1.0, 2, 3, 4, 5],
        }
    )
    settings = {
        "file_label": "PLANTED",
        "note": "PLANTED",
        "column_labels": {"health": "How is your health?"},
        "variable_value_labels": {
            "health": {float(code): text for code, text in HEALTH.items()},
            "sex": {"m": "male", "f": "female", "x": "PLANTED"},
            "income": {0.0: "nothing", 99.0: "PLANTED"},
        },
        "missing_ranges": {"health": [{"lo": 90, "hi": 99}], "income": [98, 99]},
        "variable_measure": {"health": "ordinal", "income": "scale"},
        "variable_format": {"born": "ADATE10", "income": "F10.2", "month": "MONTH9"},
    }
    pyreadstat.write_sav(frame, str(path), **(settings | more))
    return path


def test_labelled_codes_are_a_category_in_the_order_of_the_codes(tmp_path):
    table = read(spss(tmp_path / "in.sav"))
    assert [column.kind for column in table] == ["category", "category", "number", "date", "number"]
    assert table["health"].stored.dictionary.to_pylist() == ["good", "fair", "poor"]
    assert table["health"].stored.type.ordered
    assert not table["sex"].stored.type.ordered
    assert table["sex"].levels == ("female", "male")
    assert table["born"].stored.to_pylist()[0] == dt.date(2020, 1, 1)


def test_declared_missing_values_are_missing_with_a_warning(tmp_path):
    table = read(spss(tmp_path / "in.sav"))
    assert table["health"].missing.tolist() == [False, False, False, True, False]
    assert table["income"].values.tolist()[:2] + table["income"].missing.tolist()[2:] == [1200.5, 0, True, True, False]
    assert [re.search("'(.*?)'", warning)[1] for warning in table.warnings] == ["health", "income", "income"]


@pytest.mark.parametrize("suffix", [".sav", ".zsav", ".dta"])
def test_codes_and_labels_are_written_again(suffix, tmp_path):
    table = read(spss(tmp_path / "in.sav"))
    out = tmp_path / f"out{suffix}"
    write(table, out)
    reader = pyreadstat.read_dta if suffix == ".dta" else pyreadstat.read_sav
    frame, meta = reader(str(out), disable_datetime_conversion=True, user_missing=True)
    assert frame["health"].tolist()[:3] == [1, 3, 2]
    assert np.isnan(frame["health"][3])
    assert meta.variable_value_labels["health"] == {1: "good", 2: "fair", 3: "poor"}
    assert meta.column_names_to_labels["health"] == "How is your health?"
    assert meta.missing_ranges == meta.missing_user_values == {}
    assert read(out).select(["health", "sex", "income", "born", "month"]).equals(table)
    if suffix != ".dta":
        formats = [meta.original_variable_types[name] for name in ("born", "income", "month")]
        assert formats == ["ADATE10", "F10.2", "MONTH9"]
        assert meta.variable_value_labels["income"] == {0: "nothing"}
        assert [meta.variable_measure["health"], frame["sex"][0]] == ["ordinal", "m"]


@pytest.mark.parametrize("suffix", [".sav", ".zsav", ".dta", ".xpt"])
def test_nothing_but_what_occurs_leaves(suffix, tmp_path):
    table = read(spss(tmp_path / "in.sav"))
    out = tmp_path / f"out{suffix}"
    write(table.take(np.array([0, 0, 4])), out)
    assert b"PLANTED" not in out.read_bytes()
    if suffix != ".zsav":  # which is compressed
        assert b"fair" not in out.read_bytes()


@pytest.mark.parametrize("suffix", [".sav", ".zsav", ".dta", ".xpt"])
def test_the_same_table_gives_the_same_bytes(suffix, tmp_path, monkeypatch):
    table = read(spss(tmp_path / "in.sav"))
    write(table, tmp_path / f"a{suffix}")
    content = (tmp_path / f"a{suffix}").read_bytes()
    year = dt.date.today().year
    assert not re.search(rf"\d\d ?[A-Za-z]{{3}} ?({year}|{year % 100})\D".encode(), content[:1024])
    write(table, tmp_path / f"b{suffix}")
    assert (tmp_path / f"b{suffix}").read_bytes() == content


def test_levels_that_a_release_pools_get_a_free_code(tmp_path):
    table = read(spss(tmp_path / "in.sav"))
    health = table["health"]
    pooled = table.replace([from_frame(pa.table({"health": ["good", "other", "other", None, "good"]}))["health"]])
    write(pooled, tmp_path / "out.sav")
    _, meta = pyreadstat.read_sav(str(tmp_path / "out.sav"))
    assert meta.variable_value_labels["health"] == {1: "good", 4: "other"}
    drawn = replace_values(health, np.array([0, 0, 1, -1, 1], np.int32))
    write(without_unused_levels(table.replace([drawn]), np.arange(5)), tmp_path / "drawn.sav")
    assert read(tmp_path / "drawn.sav")["health"].levels == ("fair", "good")


def test_values_with_the_same_label_stay_apart(tmp_path):
    labels = {"health": {1.0: "other", 2.0: "other", 3.0: "poor", 97.0: "refused"}}
    table = read(spss(tmp_path / "in.sav", variable_value_labels=labels, missing_ranges={}))
    assert table["health"].levels == ("other [1]", "other [2]", "poor", "refused")


def test_a_labelled_number_can_be_read_as_codes(tmp_path):
    table = read(spss(tmp_path / "in.sav", missing_ranges={}), category=["income"])
    assert table["income"].levels == ("0", "1200.5", "3", "98", "99")
    write(table, tmp_path / "out.sav")
    assert read(tmp_path / "out.sav", category=["income"])["income"].levels == table["income"].levels


# Stata.


def test_extended_missing_values_and_display_formats_of_stata(tmp_path):
    frame = pd.DataFrame({"q": [1, "a", 3, "b"], "x": [0.1, 0.2, 0.3, 0.4], "ym": [700, 701, 702, 703]})
    pyreadstat.write_dta(
        frame,
        str(tmp_path / "in.dta"),
        missing_user_values={"q": ["a", "b"]},
        variable_value_labels={"q": {1: "yes", 3: "no", "a": "PLANTED"}},
        variable_format={"x": "%8.3f", "ym": "%tm"},
    )
    table = read(tmp_path / "in.dta")
    assert table["q"].missing.tolist() == [False, True, False, True]
    assert "'q'" in table.warnings[0]
    write(table, tmp_path / "out.dta")
    again, meta = pyreadstat.read_dta(str(tmp_path / "out.dta"), user_missing=True, disable_datetime_conversion=True)
    assert [meta.original_variable_types["x"], meta.original_variable_types["ym"]] == ["%8.3f", "%tm"]
    assert meta.variable_value_labels == {"q": {1: "yes", 3: "no"}}
    assert again["ym"].tolist() == [700, 701, 702, 703]
    assert (tmp_path / "out.dta").read_bytes()[:40].count(b"<release>118<") == 1  # Stata 14 and later


def test_long_strings_and_large_numbers(tmp_path):
    content = {"text": ["x" * 5000, "ä", None], "big": [2**40, 1, None], "edge": [2**31 - 1, -(2**31), 5]}
    table = from_frame(pa.table(content))
    for suffix in (".dta", ".sav", ".xpt"):
        write(table, tmp_path / f"out{suffix}")
        assert read(tmp_path / f"out{suffix}").equals(table)


def test_an_old_file_is_read_in_its_encoding(tmp_path):
    frame = pd.DataFrame({"word": ["caf#", "x"], "n": [1, 2]})
    pyreadstat.write_dta(frame, str(tmp_path / "in.dta"), version=10)
    content = (tmp_path / "in.dta").read_bytes().replace(b"caf#", b"caf\xe9")
    (tmp_path / "in.dta").write_bytes(content)
    assert read(tmp_path / "in.dta")["word"].levels == ("café", "x")
    assert read(tmp_path / "in.dta", encoding="cp1251")["word"].levels == ("cafй", "x")
    write(read(tmp_path / "in.dta", encoding="cp1251"), tmp_path / "out.dta")
    assert read(tmp_path / "out.dta", encoding="cp1251")["word"].levels == ("cafй", "x")


# Times: each program counts from a day of its own.

MOMENTS = {
    "day": pa.array([0, None, 18_000, -141_000], pa.date32()),
    "moment": pa.array([0, None, 1_600_000_000_123, -9_000_000_000_000], pa.timestamp("ms")),
    "clock": pa.array([0, None, 30_600_500, 86_399_000], pa.time32("ms")),
}


@pytest.mark.parametrize("suffix", [".dta", ".sav", ".xpt"])
def test_dates_and_times_are_those_of_the_programs(suffix, tmp_path):
    write(from_frame(pa.table(MOMENTS)), tmp_path / f"out{suffix}")
    assert read(tmp_path / f"out{suffix}").equals(from_frame(pa.table(MOMENTS)))
    reader = {".dta": pyreadstat.read_dta, ".sav": pyreadstat.read_sav, ".xpt": pyreadstat.read_xport}[suffix]
    frame, _ = reader(str(tmp_path / f"out{suffix}"))
    assert frame["day"][2] == dt.date(2019, 4, 14)
    assert str(frame["moment"][2])[:22] == "2020-09-13 12:26:40.12"
    assert frame["clock"][2].replace(microsecond=0) == dt.time(8, 30)


FORMATS = {
    ".sav": (13_797_216_000.0, {
        "date": ["DATE11", "ADATE10", "EDATE10", "SDATE10", "JDATE7", "QYR8", "MOYR8", "WKYR10"],
        "time": ["DATETIME20"],
        "number": ["MONTH9", "WKDAY9", "F8.2", "COMMA12.2", "DTIME12"],
    }),
    ".xpt": (21_915.0, {
        "date": ["DATE9", "DDMMYY10", "MMDDYY10", "YYMMDD10", "E8601DA10", "MONYY7"],
        "time": ["DATETIME20", "E8601DT19"],
        "category": ["TIME8", "HHMM5"],
        "number": ["BEST12", "COMMA12.2", "DOLLAR8.2"],
    }),
    ".dta": (21_915.0, {
        "date": ["%td", "%tdCCYY-NN-DD"],
        "time": ["%tc", "%tcDDmonCCYY_HH:MM"],
        "category": ["%tcHH:MM", "%tchh:MM_AM"],
        "number": ["%tw", "%tm", "%tq", "%th", "%ty", "%9.0g", "%8.2f"],
    }),
}  # fmt: skip


@pytest.mark.parametrize("suffix", FORMATS)
def test_a_display_format_says_what_numbers_mean(suffix, tmp_path):
    value, kinds = FORMATS[suffix]
    names = {f"c{place}": (kind, one) for place, (kind, one) in enumerate((k, f) for k in kinds for f in kinds[k])}
    frame = pd.DataFrame({name: [value, 0.0] for name in names})
    writer = {".sav": pyreadstat.write_sav, ".xpt": pyreadstat.write_xport, ".dta": pyreadstat.write_dta}[suffix]
    writer(frame, str(tmp_path / f"in{suffix}"), variable_format={name: one for name, (_, one) in names.items()})
    table = read(tmp_path / f"in{suffix}")
    assert {one: table[name].kind for name, (_, one) in names.items()} == {one: kind for kind, one in names.values()}
    assert {column.stored[0].as_py() for column in table if column.kind == "date"} == {dt.date(2020, 1, 1)}


def test_a_date_with_a_fraction_is_a_moment(tmp_path):
    frame = pd.DataFrame({"day": [21_915.5, 0.0], "n": [1, 2]})
    pyreadstat.write_dta(frame, str(tmp_path / "in.dta"), variable_format={"day": "%td"})
    assert read(tmp_path / "in.dta")["day"].stored.to_pylist() == [dt.datetime(2020, 1, 1, 12), dt.datetime(1960, 1, 1)]


def test_durations_of_spss_may_be_longer_than_a_day(tmp_path):
    table = from_frame(pa.table({"spent": pa.array([90_000, None, 3600], pa.duration("s"))}))
    write(table, tmp_path / "out.sav")
    assert read(tmp_path / "out.sav").equals(table)
    assert pa.types.is_duration(read(tmp_path / "out.sav")["spent"].stored.type)


# Names, and other refusals.


@pytest.mark.parametrize(
    ("suffix", "names", "term"),
    [
        (".dta", ["a b"], "Stata .* 'a b'"),
        (".dta", ["x" * 33], "Stata .* 1 to 32"),
        (".dta", ["if"], "'if': it is reserved"),
        (".sav", ["1a"], "SPSS .* '1a'"),
        (".sav", ["all"], "'all': it is reserved"),
        (".sav", ["age", "Age"], "'age' and 'Age' apart"),
        (".xpt", ["naïve"], "SAS .* 'naïve'"),
        (".xpt", ["x" * 33], "SAS .* 1 to 32"),
        (".por", ["a"], r"Write \.sav"),
        (".sas7bdat", ["a"], r"Write \.xpt"),
    ],
)
def test_what_a_format_does_not_permit_is_refused(suffix, names, term, tmp_path):
    with pytest.raises(OutputError, match=term):
        write(from_frame(pa.table({name: [1, 2] for name in names})), tmp_path / f"out{suffix}")
    assert list(tmp_path.iterdir()) == []


def test_transport_files_have_version_5_if_names_permit(tmp_path):
    for name, mark in (("age", b"LIBRARY HEADER"), ("age_in_years", b"LIBV8 ")):
        write(from_frame(pa.table({name: [1, 2]})), tmp_path / f"{name}.xpt")
        assert mark in (tmp_path / f"{name}.xpt").read_bytes()[:80]
        assert read(tmp_path / f"{name}.xpt").names == (name,)


def test_whole_numbers_beyond_two_to_the_53_are_refused(tmp_path):
    with pytest.raises(OutputError, match=r"'id' .* 2\^53"):
        write(from_frame(pa.table({"id": [2**53 + 1, 2]})), tmp_path / "out.sav")


@pytest.mark.parametrize("suffix", [".dta", ".sav", ".zsav", ".por", ".sas7bdat", ".xpt"])
def test_a_damaged_file_is_refused_in_one_line(suffix, tmp_path):
    (tmp_path / f"in{suffix}").write_bytes(b"a,b\n1,2\n" * 40)
    with pytest.raises(TableError) as caught:
        read(tmp_path / f"in{suffix}")
    assert "\n" not in str(caught.value)
    assert suffix in str(caught.value)


def test_a_portable_file_is_read(tmp_path):
    frame = pd.DataFrame({"AGE": [31.0, 4], "SEX": ["f", "m"]})
    pyreadstat.write_por(frame, str(tmp_path / "in.por"))
    table = read(tmp_path / "in.por")
    assert [table["AGE"].values.tolist(), table["SEX"].levels] == [[31, 4], ("f", "m")]


@pytest.mark.parametrize("missing", ["pyreadstat", "pandas"])
def test_without_a_package_the_extra_is_named(missing, tmp_path, monkeypatch):
    table = from_frame(pa.table({"a": [1, 2]}))
    monkeypatch.setitem(__import__("sys").modules, missing, None)
    with pytest.raises(LeafcoverError, match=r"pip install 'leafcover\[office\]'"):
        write(table, tmp_path / "out.sav")


def income(path):
    """Incomes, codes below zero that are labelled as missing, and answers of which every value has a label."""
    rng = np.random.default_rng(3)
    frame = pd.DataFrame({"pay": rng.integers(0, 60, 200) * 100.0, "answer": rng.choice([1.0, 2.0, -8.0], 200)})
    frame["sex"], frame["class"] = rng.choice(["f", "m"], 200), rng.choice(["no", "yes"], 200)
    frame.loc[:19, "pay"], frame.loc[20:29, "pay"] = -9.0, -8.0
    labels = {"pay": {-9: "refused", -8: "don't know"}, "answer": {1: "yes", 2: "no", -8: "weiß nicht"}}
    write_file = pyreadstat.write_sav if path.suffix == ".sav" else pyreadstat.write_dta
    write_file(frame, str(path), variable_value_labels=labels, column_labels={"pay": "Monthly income"})
    return path


@pytest.mark.parametrize("ending", ["sav", "dta"])
def test_labels_and_codes_for_missing_values_are_inspected_and_proposed(ending, tmp_path):
    path = income(tmp_path / f"in.{ending}")
    table = read(path)
    assert [column.kind for column in table] == ["number", "category", "category", "category"]
    assert set(table["answer"].levels) == {"weiß nicht", "yes", "no"}
    facts = lc.inspect(table)
    assert facts.columns[0].label == "Monthly income"
    assert facts.columns[0].labelled == (("-9", "refused", 20), ("-8", "don't know", 10))
    assert "pay: -9 refused (20), -8 don't know (10)" in str(facts)
    assert "missing=..." in table.warnings[0]
    project = lc.init(path, tmp_path / "leafcover.toml", target="class")
    assert dict(project.settings.input.missing) == {"pay": ("-9", "-8")}
    assert "# pay: -9 refused, -8 don't know" in project.text
    again = project.table()
    assert int(again["pay"].missing.sum()) == 30
    assert again.warnings == ()


def test_a_code_that_is_declared_missing_does_not_hinder_a_category(tmp_path):
    path = income(tmp_path / "in.sav")
    answer = read(path, missing={"answer": [-8]})["answer"]
    assert (set(answer.levels), answer.is_category) == ({"yes", "no"}, True)
    assert answer.missing.sum() == (pyreadstat.read_sav(str(path))[0]["answer"] == -8).sum()
    assert read(path, missing={"pay": ["-9"]})["pay"].missing.sum() == 20
