"""Excel workbooks: the table in a sheet is found or refused in one line, and only its values and formats leave."""

import datetime as dt
import re
import zipfile
from decimal import Decimal

import openpyxl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from openpyxl.comments import Comment
from openpyxl.workbook.defined_name import DefinedName

from leafcover.errors import LeafcoverError, NameUnknown, OutputError, TableError
from leafcover.table import office_formats
from leafcover.table.frames import from_frame
from leafcover.table.io import read, write

ROWS = [("name", "age", "born"), ("ann", 31, dt.datetime(1990, 1, 5)), ("bob", 4, dt.datetime(2020, 12, 31))]


def book(path, rows=ROWS, *, title="people", change=None, **sheets):
    """A workbook with sheets of rows; ``change`` edits the first one."""
    made = openpyxl.Workbook()
    made.active.title = title
    for sheet, content in [(made.active, rows), *((made.create_sheet(name), one) for name, one in sheets.items())]:
        for row in content:
            sheet.append(row)
    if change is not None:
        change(made.active)
    made.save(path)
    return path


def rewritten(path, old, new):
    """Replace a text in the XML of the first sheet, as Excel would have written it."""
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    sheet = "xl/worksheets/sheet1.xml"
    assert old in parts[sheet]
    parts[sheet] = parts[sheet].replace(old, new)
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return path


def refused(path, term, kind=TableError, **how):
    with pytest.raises(kind) as caught:
        read(path, **how)
    assert "\n" not in str(caught.value)
    assert re.search(term, str(caught.value)), caught.value


def test_the_only_sheet_with_data_is_read(tmp_path):
    table = read(book(tmp_path / "in.xlsx", empty=[]))
    assert [column.kind for column in table] == ["category", "number", "date"]
    assert table.warnings == ()
    assert table["age"].stored.type == pa.int64()
    assert table["born"].stored.to_pylist() == [dt.date(1990, 1, 5), dt.date(2020, 12, 31)]


def test_one_of_several_sheets_must_be_named(tmp_path):
    path = book(tmp_path / "in.xlsx", other=[("x",), (1,), (2,)])
    refused(path, r"2 sheets .*'people', 'other'.* sheet='people'")
    assert read(path, sheet="other").names == ("x",)
    assert read(path, sheet=2).names == read(path, sheet="2").names == ("x",)
    assert read(path, sheet="other").reading.sheet == "other"
    refused(path, "'othr'.*'other'", NameUnknown, sheet="othr")


def test_a_hidden_sheet_is_read_only_by_name(tmp_path):
    path = book(tmp_path / "in.xlsx", other=[("x",), (1,), (2,)])
    made = openpyxl.load_workbook(path)
    made["other"].sheet_state = "hidden"
    made.save(path)
    assert read(path).names[0] == "name"
    assert read(path, sheet="other").names == ("x",)


def test_titles_notes_and_empty_rows_are_left_out(tmp_path):
    rows = [("Survey 2024",), (), *ROWS[:2], (None, None, None), *ROWS[2:], (), ("Source: census",), ("Page 1",)]
    table = read(book(tmp_path / "in.xlsx", rows))
    assert table["name"].levels == ("ann", "bob")
    (warning,) = table.warnings
    assert re.findall(r"\d+ rows?", warning) == ["1 row", "2 rows", "1 row"]
    assert "2024" not in warning


def test_a_row_with_a_single_value_in_the_middle_stays(tmp_path):
    table = read(book(tmp_path / "in.xlsx", [*ROWS, ("cid", None, None), *ROWS[1:]]))
    assert len(table) == 5


@pytest.mark.parametrize(
    ("rows", "term"),
    [
        ([], "no visible sheet"),
        ([ROWS[0]], "only a header"),
        ([("a", None, "c"), (1, 2, 3), (1, 2, 3)], "Column B .* row 1"),
        ([("Report", "2024"), *ROWS], "Column C .* row 1"),
        ([(1, 2), (3, 4), (5, 6)], "Row 1 .* no names"),
        ([("a", "a"), (1, 2), (3, 4)], "two columns named 'a'"),
        ([("a", "born"), (1, dt.datetime(2020, 1, 5)), (2, "last week")], "'born' .* row 3"),
        ([("a", "born"), (1, dt.datetime(2020, 1, 5)), (2, 43835)], "'born' .* row 3"),
    ],
)
def test_a_sheet_in_doubt_is_refused(rows, term, tmp_path):
    refused(book(tmp_path / "in.xlsx", rows), term)


def test_merged_cells_in_the_table_are_refused_and_above_it_ignored(tmp_path):
    rows = [("A title across", None, None), *ROWS]
    refused(book(tmp_path / "in.xlsx", rows, change=lambda sheet: sheet.merge_cells("A3:A4")), "A3:A4")
    assert len(read(book(tmp_path / "in.xlsx", rows, change=lambda sheet: sheet.merge_cells("A1:C1")))) == 2


def test_formulas_are_read_as_their_computed_values(tmp_path):
    path = book(tmp_path / "in.xlsx", [("a", "twice"), (1, "=A2*2"), (2, 4)])
    refused(path, "B2 .* formula")
    rewritten(path, b"<f>A2*2</f><v />", b"<f>A2*2</f><v>2</v>")
    table = read(path)
    assert table["twice"].values.tolist() == [2, 4]
    assert "'twice'" in table.warnings[0]
    assert read(path, drop=["twice"]).warnings == ()


def test_error_cells_are_missing(tmp_path):
    table = read(book(tmp_path / "in.xlsx", [("a", "b"), (1, "x"), ("#N/A", "y"), ("#DIV/0!", "y")]))
    assert table["a"].missing.tolist() == [False, True, True]
    assert "2 cells" in table.warnings[0]


def test_numbers_stored_as_text(tmp_path):
    rows = [("some", "all", "na"), (1, "01", 1), ("2.5", "02", "NA"), (3, "03", 3)]
    table = read(book(tmp_path / "in.xlsx", rows))
    assert [column.kind for column in table] == ["number", "category", "number"]
    assert table["some"].values.tolist() == [1, 2.5, 3]
    assert ["1 number" in table.warnings[0], "'all'" in table.warnings[1], len(table.warnings)] == [True, True, 2]
    assert read(tmp_path / "in.xlsx", missing={"na": ["none"]})["na"].kind == "category"


def test_dates_with_text_that_is_missing_or_a_date(tmp_path):
    rows = [("a", "b"), (dt.datetime(2020, 1, 5), dt.datetime(2020, 1, 5, 8)), ("unknown", "?"), ("2020-02-01", None)]
    table = read(book(tmp_path / "in.xlsx", rows), missing={"a": "unknown"})
    assert [column.kind for column in table] == ["date", "time"]
    assert table["a"].missing.tolist() == [False, True, False]
    assert read(tmp_path / "in.xlsx", category=["a"])["a"].levels == ("2020-01-05", "2020-02-01", "unknown")


def test_hidden_rows_are_read_and_said(tmp_path):
    def hide(sheet):
        sheet.row_dimensions[3].hidden = True

    table = read(book(tmp_path / "in.xlsx", change=hide))
    assert len(table) == 2
    assert "hidden" in table.warnings[0]


def test_dates_of_1904_are_read(tmp_path):
    path = book(tmp_path / "in.xlsx")
    made = openpyxl.load_workbook(path)
    made.epoch = openpyxl.utils.datetime.CALENDAR_MAC_1904
    made.active["C2"].value = dt.datetime(1990, 1, 5)
    made.active["C3"].value = dt.datetime(2020, 12, 31)
    made.save(path)
    assert read(path)["born"].stored.to_pylist() == [dt.date(1990, 1, 5), dt.date(2020, 12, 31)]


@pytest.mark.parametrize(
    ("name", "content", "term"),
    [
        ("old.xls", b"", "Save it as .xlsx"),
        ("locked.xlsx", b"\xd0\xcf\x11\xe0" + b"\0" * 500, "password"),
        ("torn.xlsx", b"PK\x03\x04" + b"\0" * 500, "not a complete"),
        ("text.xlsx", b"a,b\n1,2\n", "not a complete"),
    ],
)
def test_other_files_are_refused(name, content, term, tmp_path):
    (tmp_path / name).write_bytes(content)
    refused(tmp_path / name, term)


# Output.


def cells(path):
    sheet = openpyxl.load_workbook(path).active
    return {cell.coordinate: cell for row in sheet.iter_rows() for cell in row}


@pytest.mark.parametrize("text", ["=1+1", "+1 a", "-unknown", "@sum(a1)", "\tx", "\rx", "=HYPERLINK(1)"])
def test_text_that_excel_would_evaluate_stays_the_same_text(text, tmp_path):
    write(from_frame(pa.table({"=a": [text, "plain"], "n": [-1, 1]})), tmp_path / "out.xlsx")
    found = cells(tmp_path / "out.xlsx")
    assert [found[one].quotePrefix for one in ("A1", "A2", "A3", "B2")] == [True, True, False, False]
    assert {cell.data_type for cell in found.values()} == {"s", "n"}
    assert set(read(tmp_path / "out.xlsx")["=a"].levels) == {text, "plain"}


def test_the_same_table_gives_the_same_bytes(tmp_path):
    table = read(book(tmp_path / "in.xlsx"))
    for name in ("a.xlsx", "b.xlsx"):
        write(table, tmp_path / name)
    assert (tmp_path / "a.xlsx").read_bytes() == (tmp_path / "b.xlsx").read_bytes()
    with zipfile.ZipFile(tmp_path / "a.xlsx") as archive:
        assert {one.date_time for one in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}


def test_nothing_but_the_values_and_formats_leaves(tmp_path):
    def plant(sheet):
        sheet["A2"].comment = Comment("PLANTED", "PLANTED")
        sheet["B2"].number_format = '[=31]"PLANTED";0.0'
        made = sheet.parent
        made.defined_names["PLANTED"] = DefinedName("PLANTED", attr_text="people!$A$1")
        made.properties.creator = made.properties.title = made.properties.lastModifiedBy = "PLANTED"
        made.create_sheet("PLANTED").sheet_state = "veryHidden"
        made["PLANTED"]["A1"] = "PLANTED"
        sheet.print_title_rows = "1:1"
        sheet.oddHeader.center.text = "PLANTED"

    table = read(book(tmp_path / "in.xlsx", title="PLANTED sheet", change=plant), sheet=1)
    write(table, tmp_path / "out.xlsx")
    with zipfile.ZipFile(tmp_path / "out.xlsx") as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    assert [name for name, content in parts.items() if b"PLANTED" in content or "omment" in name] == []
    assert b"Sheet1" in parts["xl/workbook.xml"]


def test_formats_types_and_styles_are_kept(tmp_path):
    formats = {"A": "0.00%", "B": "#,##0.00", "C": "dd.mm.yyyy", "D": "General", "E": "[$€-407]\\ 0.0", "F": "hh:mm"}
    row = (0.5, 1234.5, dt.datetime(2020, 1, 5), True, 2.5, dt.time(8, 30))

    def style(sheet):
        for letter, one in formats.items():
            sheet[f"{letter}2"].number_format = sheet[f"{letter}3"].number_format = one

    table = read(book(tmp_path / "in.xlsx", [tuple("abcdef"), row, row], change=style))
    write(table, tmp_path / "out.xlsx")
    found = cells(tmp_path / "out.xlsx")
    assert {letter: found[f"{letter}3"].number_format for letter in formats} == formats
    assert tuple(found[f"{letter}3"].value for letter in formats) == row
    assert read(tmp_path / "out.xlsx").equals(table)


def test_numbers_keep_the_places_of_text_and_decimals(tmp_path):
    (tmp_path / "in.csv").write_text("price,code\n7.50,007\n8.10,019\n")
    write(read(tmp_path / "in.csv", category=["code"]), tmp_path / "out.xlsx")
    found = cells(tmp_path / "out.xlsx")
    assert [found["A2"].number_format, found["B2"].value] == ["0.00", "007"]
    write(from_frame(pa.table({"p": pa.array([Decimal("1.20"), Decimal("3.00")])})), tmp_path / "decimal.xlsx")
    assert cells(tmp_path / "decimal.xlsx")["A3"].number_format == "0.00"


def test_dates_before_excel_are_text(tmp_path):
    days = [dt.date(1880, 5, 5), dt.date(2020, 1, 1)]
    write(from_frame(pa.table({"day": days, "x": [1, 2]})), tmp_path / "out.xlsx")
    assert cells(tmp_path / "out.xlsx")["A2"].value == "1880-05-05"
    assert read(tmp_path / "out.xlsx")["day"].kind == "date"


@pytest.mark.parametrize(
    ("content", "term"),
    [({"a": ["x" * 32_768, "y"]}, "'a' .* 32,767"), ({"a": [2**53 + 1, 2]}, "'a' .* 2\\^53")],
)
def test_what_a_cell_cannot_hold_is_refused(content, term, tmp_path):
    with pytest.raises(OutputError, match=term):
        write(from_frame(pa.table(content)), tmp_path / "out.xlsx")
    assert list(tmp_path.iterdir()) == []


def test_a_table_too_large_for_a_sheet_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(office_formats, "MOST_ROWS", 3)
    write(from_frame(pa.table({"a": [1, 2]})), tmp_path / "two.xlsx")
    with pytest.raises(OutputError, match=r"3 rows .* at most 2 rows"):
        write(from_frame(pa.table({"a": [1, 2, 3]})), tmp_path / "out.xlsx")


def test_without_openpyxl_the_extra_is_named(tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "openpyxl", None)
    for act in (lambda: read(tmp_path / "in.xlsx"), lambda: write(pa.table({"a": [1, 2]}), tmp_path / "out.xlsx")):
        (tmp_path / "in.xlsx").write_bytes(b"PK")
        with pytest.raises(LeafcoverError, match=r"pip install 'leafcover\[office\]'"):
            act()


@given(st.lists(st.one_of(st.none(), st.text(min_size=1)), min_size=2, max_size=6))
@settings(max_examples=40, deadline=None)
def test_any_text_survives(tmp_path_factory, texts):
    texts = [None if text is None or not text.strip() or text in office_formats.ERRORS else text for text in texts]
    path = tmp_path_factory.mktemp("any") / "out.xlsx"
    try:
        table = from_frame(pa.table({"text": pa.array(texts, pa.string()), "row": range(len(texts))}))
    except UnicodeEncodeError:  # half of a surrogate pair, which Arrow refuses
        return
    write(table, path)
    again = read(path, category=["text"])["text"]
    assert [None if code < 0 else again.levels[code] for code in again.values] == texts
