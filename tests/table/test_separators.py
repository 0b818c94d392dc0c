"""Decimal and thousands separators: numbers as offices write them are read as they were meant, or a doubt is said."""

import io
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, assume, example, given, settings
from hypothesis import strategies as st

import leafcover as lc
from leafcover.errors import NameUnknown, ValueOutOfRange
from leafcover.table.formatting import format_values, parse_numbers
from leafcover.table.infer import from_text
from leafcover.table.io import read, sample, write
from leafcover.table.output import replace_values
from leafcover.table.separators import Separators
from tests.table.test_delimited import as_csv

anywhere = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=40)
CONVENTIONS = [(".", ""), (".", ","), (".", " "), (".", "'"), (".", "\u2019"), (",", ""), (",", "."), (",", " ")]
CONVENTIONS += [(",", "\u00a0"), (",", "\u202f"), (",", "'")]


def written(number, separators):
    """A number as people write it; the slow twin of the formatting."""
    decimal, thousands = separators
    return f"{number:,}".replace(",", "T").replace(".", decimal).replace("T", thousands)


def table_of(folder, columns, delimiter=";"):
    """A file with named columns of texts, and one more, so that the header shows the delimiter."""
    columns = {**columns, "job": ["clerk", "nurse", "clerk", "nurse"][: len(next(iter(columns.values())))]}
    path = folder / "in.csv"
    path.write_bytes(as_csv(list(columns), zip(*columns.values(), strict=True), delimiter=delimiter).encode())
    return path


numbers = st.integers(0, 4).flatmap(
    lambda places: st.lists(
        st.integers(-(10**8), 10**8).map(lambda n: Decimal(n).scaleb(-places)), min_size=3, max_size=3
    )
)


@given(
    separators=st.sampled_from(CONVENTIONS),
    delimiter=st.sampled_from(";\t|,"),
    columns=st.lists(numbers, min_size=1, max_size=3),
)
@example(separators=(",", "."), delimiter=";", columns=[[Decimal(1234), Decimal(2345), Decimal(999)]])
@anywhere
def test_no_mean_differs_without_a_warning(separators, delimiter, columns, tmp_path):
    texts = {f"c{at}": [written(number, separators) for number in one] for at, one in enumerate(columns)}
    path = table_of(tmp_path, texts, delimiter)
    table = read(path, delimiter=delimiter)
    for column, one in zip(table, columns, strict=False):
        right = column.kind == "number" and column.values.tolist() == [float(number) for number in one]
        assert right or any(f"'{column.name}'" in warning for warning in table.warnings)
    sure = read(path, delimiter=delimiter, decimal=separators[0], thousands=separators[1])
    assert [column.values.tolist() for column in sure][:-1] == [[float(number) for number in one] for one in columns]
    write(table, tmp_path / "out.csv", force=True)
    assert (tmp_path / "out.csv").read_bytes() == path.read_bytes()


@given(separators=st.sampled_from(CONVENTIONS), old=numbers, new=numbers)
@anywhere
def test_drawn_and_averaged_values_are_written_as_the_column_writes_its_own(separators, old, new):
    places = -old[0].as_tuple().exponent
    column = from_text("c", pa.array([written(n, separators) for n in old]), separators=Separators(*separators)).column
    drawn = [number.quantize(old[0]) + 0 for number in new]  # no -0
    assume(column.grid is not None)
    texts = replace_values(column, np.array([float(number) for number in drawn])).stored.to_pylist()
    form = column.text_format
    grouped = (".", "") if separators == (".", ",") and all(abs(n) < 1000 for n in old) else separators
    if form.fixed and form.decimals == places == column.grid.decimals:
        assert texts == [written(number, grouped) for number in drawn]
    between = np.array([float(number) for number in drawn]) + 1 / 3
    texts = format_values(column, between)
    assert parse_numbers(texts, None, Separators(*separators)).values.tolist() == between.tolist()


@pytest.mark.parametrize(
    ("texts", "separators", "values"),
    [
        (("3,5", "12,75"), (",", ""), (3.5, 12.75)),
        (("3,1", "7", " -0,5 "), (",", ""), (3.1, 7, -0.5)),
        (("1.234,50", "12"), (",", "."), (1234.5, 12)),
        (("1.234.567", "890"), (",", "."), (1234567, 890)),
        (("1,234.50", "1,234,567"), (".", ","), (1234.5, 1234567)),
        (("1,234", "0,5"), (",", ""), (1.234, 0.5)),
        (("1,234", "0,125"), (",", ""), (1.234, 0.125)),  # nobody writes 125 so
        (("1234,567", "1,234"), (",", ""), (1234.567, 1.234)),
        (("1 234,5", "1\u202f000,1", "12\u00a0"), (",", " "), (1234.5, 1000.1, 12)),
        (("1'234.5", "12\u2019345"), (".", "'"), (1234.5, 12345)),
        ((",5", "+1,5e3"), (",", ""), (0.5, 1500)),
    ],
)
def test_a_column_with_one_reading_is_read_so(texts, separators, values, tmp_path):
    path = table_of(tmp_path, {"c": texts})
    table = read(path, delimiter=";")
    form = table["c"].text_format
    assert (form.decimal, form.thousands) == separators
    assert table["c"].values.tolist() == list(values)
    assert len(table.warnings) == (separators[0] == "," or separators[1] not in ("", ","))
    assert read(path, delimiter=";", decimal=separators[0], thousands=separators[1]).warnings == ()
    write(table, tmp_path / "out.csv")
    assert (tmp_path / "out.csv").read_bytes() == path.read_bytes()


@pytest.mark.parametrize(
    ("texts", "values", "drawn"),
    [
        (("€ 1.234,50", "€ 12,00"), (1234.5, 12), "-€ 3.000,25"),
        (("-$1,234.50", "$12.00"), (-1234.5, 12), "-$3,000.25"),
        (("12 %", "?", "7 %"), (12, np.nan, 7), "-3000.25 %"),
        (("1 234,50 €", "-7,00 €"), (1234.5, -7), "-3 000,25 €"),
        (("CHF 1'234.50", "CHF 12.00"), (1234.5, 12), "-CHF 3'000.25"),
    ],
)
def test_signs_of_currencies_and_percent_are_read_and_written(texts, values, drawn, tmp_path):
    path = table_of(tmp_path, {"c": texts})
    table = read(path)
    np.testing.assert_array_equal(table["c"].values, values)
    assert len(table.warnings) == 1
    assert replace_values(table["c"], np.full(len(texts), -3000.25)).stored.to_pylist() == [drawn] * len(texts)
    write(table, tmp_path / "out.csv")
    assert (tmp_path / "out.csv").read_bytes() == path.read_bytes()
    write(table, tmp_path / "out.arff")
    np.testing.assert_array_equal(read(tmp_path / "out.arff")["c"].values, values)
    assert len(read(table_of(tmp_path, {"c": ("1.234 %", "5.678 %")})).warnings) == 1  # in doubt as without the sign


@pytest.mark.parametrize(
    "texts",
    [
        ("€ 5", "$ 5"),
        ("€ 5", "5"),
        ("5 km", "7 km"),
        ("A 5", "A 7"),
        ("%", "5 %"),
        ("1,2,3", "4,5"),
        ("a,b", "1,5"),
        ("Doe, Jane", "1"),
        (",", "1,5"),
        ("1,", "2"),
        ("12.5", "3,5"),  # both in one column
        ("1 234,5", "1'000,25"),
        ("12 34", "1"),
        ("12.34.56", "1"),
        ("1.5,000", "1"),
        ("0123 456", "0123 45 67"),
    ],
)
def test_texts_that_no_separators_explain_are_a_category(texts):
    assert from_text("c", pa.array(texts)).column.kind == "category"


@pytest.mark.parametrize(("text", "usual", "other"), [("1,234", 1234, 1.234), ("1.234", 1.234, 1234)])
def test_a_doubt_is_read_with_points_and_said_until_the_user_or_another_column_settles_it(text, usual, other, tmp_path):
    doubt = {"c": (text, text)}
    table = read(table_of(tmp_path, doubt))
    assert table["c"].values[0] == usual
    assert len(table.warnings) == 1
    assert "decimal={'c': ','}" in table.warnings[0]
    assert "decimal={'c': '.'}" in table.warnings[0]
    for how, value in (
        ({"decimal": "."}, usual),
        ({"decimal": ","}, other),
        ({"decimal": {"c": ","}}, other),
        ({"thousands": "."}, 1234 if "." in text else 1.234),
        ({"thousands": ","}, 1234 if "," in text else 1.234),
        ({"thousands": ""}, 1.234),
    ):
        settled = read(table_of(tmp_path, doubt), **how)
        assert settled["c"].values[0] == value
        assert settled.warnings == ()
    points = read(table_of(tmp_path, {**doubt, "rate": ("0.5", "12.25")}))
    assert (points["c"].values[0], points.warnings) == (usual, ())
    commas = read(table_of(tmp_path, {**doubt, "rate": ("0,5", "12,25")}))
    assert commas["c"].values[0] == other
    assert sum("'c'" in warning for warning in commas.warnings) == 1
    both = read(table_of(tmp_path, {**doubt, "rate": ("0,5", "12,25"), "at": ("48.21", "16.5")}))
    assert both["c"].values[0] == usual
    assert (both["rate"].values[0], both["at"].values[0]) == (0.5, 48.21)
    assert any("'c'" in warning for warning in both.warnings)


def test_digits_in_groups_of_one_length_stay_a_category_until_it_is_clear_that_they_are_numbers(tmp_path):
    codes = {"c": ("123 456", "789 012"), "d": ("12.345.678", "87.654.321")}
    table = read(table_of(tmp_path, codes))
    assert [column.kind for column in table] == ["category"] * 3
    assert len(table.warnings) == 2
    table = read(table_of(tmp_path, codes), thousands={"c": " ", "d": "."})
    assert table["c"].values.tolist() == [123456, 789012]
    assert table["d"].values.tolist() == [12345678, 87654321]
    assert table.warnings == ()
    assert read(table_of(tmp_path, codes), category=["c", "d"]).warnings == ()
    table = read(table_of(tmp_path, {**codes, "pay": ("1 234,5", "12,25")}))
    assert [column.kind for column in table] == ["number", "category", "number", "category"]


def test_pairs_of_codes_in_a_file_of_decimal_points_stay_a_category(tmp_path):
    columns = {"chosen": ("1,3", "2,5", "4"), "rate": ("0.5", "1.25", "2")}
    table = read(table_of(tmp_path, columns, ","))
    assert [column.kind for column in table] == ["category", "number", "category"]
    assert "decimal={'chosen': ','}" in table.warnings[0]
    assert read(table_of(tmp_path, columns, ","), decimal={"chosen": ","})["chosen"].values[0] == 1.3
    assert read(table_of(tmp_path, columns, ";"))["chosen"].values[0] == 1.3


def test_separators_that_a_column_contradicts_are_not_used_and_this_is_said(tmp_path):
    table = read(table_of(tmp_path, {"c": ("3,5", "12,75")}), decimal=".")
    assert table["c"].values.tolist() == [3.5, 12.75]
    assert len(table.warnings) == 1
    with pytest.raises(ValueOutOfRange):
        read(table_of(tmp_path, {"c": ("3,5", "1")}), decimal=";")
    with pytest.raises(ValueOutOfRange):
        read(table_of(tmp_path, {"c": ("3,5", "1")}), decimal=",", thousands=",")
    with pytest.raises(NameUnknown):
        read(table_of(tmp_path, {"c": ("3,5", "1")}), decimal={"d": ","})


def test_means_of_whole_numbers_have_the_decimal_comma_of_the_other_columns(tmp_path):
    table = read(table_of(tmp_path, {"n": ("1", "4"), "rate": ("0,5", "12,25")}))
    assert replace_values(table["n"], np.array([2.5, 2.5])).stored.to_pylist() == ["2,5", "2,5"]


def test_missing_values_are_missing_with_any_separators(tmp_path):
    table = read(table_of(tmp_path, {"c": ("3,5", "?", "-9,0", "1.000,25")}), missing={"c": ["?", "-9"]})
    assert np.isnan(table["c"].values).tolist() == [False, True, True, False]


@pytest.mark.parametrize("suffix", [".arff", ".parquet", ".csv"])
def test_other_formats_get_the_numbers(suffix, tmp_path):
    table = read(table_of(tmp_path, {"pay": ("1.234,50", "908,25")}))
    write(table, tmp_path / f"out{suffix}")
    assert read(tmp_path / f"out{suffix}")["pay"].values.tolist() == [1234.5, 908.25]
    assert ("1.234,50" in (tmp_path / f"out{suffix}").read_bytes().decode(errors="replace")) == (suffix == ".csv")


def test_shipped_tables_give_no_warning_about_separators():
    for name in ("adult", "boston", "cps1985", "german_credit", "wbc", "wine"):
        assert not any("separat" in warning or "decimal" in warning for warning in read(sample(name)).warnings)


@pytest.fixture(scope="module")
def pay(tmp_path_factory):
    """People with pay in the writing of a German office."""
    rng = np.random.default_rng(3)
    rows = [
        (int(age), written(Decimal(int(pay)).scaleb(-2), (",", ".")), written(Decimal(int(500 + age * 31)), (",", ".")))
        for age, pay in zip(rng.integers(18, 66, 120), rng.integers(50_000, 900_000, 120), strict=True)
    ]
    out = io.StringIO()
    out.write("age;pay;rent;job\n")
    for at, row in enumerate(rows):
        out.write(";".join([*map(str, row), "clerk" if at % 3 else "nurse"]) + "\n")
    path = tmp_path_factory.mktemp("office") / "pay.csv"
    path.write_text(out.getvalue())
    return path


@pytest.mark.parametrize("recipe", ["cover", "microaggregate"])
def test_a_release_is_written_read_measured_and_verified_with_the_separators_of_its_original(recipe, pay, tmp_path):
    table = lc.read(pay)
    release = lc.release(table, recipe, target="job", seed=5)
    release.save(tmp_path / "out.csv")
    lines = [line.split(";") for line in (tmp_path / "out.csv").read_text().splitlines()[1:]]
    assert all("," in line[1] and "." not in line[1].partition(",")[2] for line in lines)
    loaded = lc.load(tmp_path / "out.csv", original=pay)
    for one in (loaded.table, lc.load(tmp_path / "out.csv").table):
        for name in ("pay", "rent", "age"):
            np.testing.assert_array_equal(np.sort(one[name].values), np.sort(release.table[name].values))
    checks = lc.verify(tmp_path / "out.csv", original=pay)
    assert [check.what for check in checks if not check.holds] == ["made with a secret key, rows in a secret order"]
