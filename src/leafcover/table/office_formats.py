"""Excel workbooks (.xlsx): one sheet is read; the output is a new workbook with one sheet.

    table = read("survey.xlsx", sheet="answers")
    write(table, "released.xlsx")

A worksheet is made for people. It is read if what it means is beyond doubt, with a warning where something was left
out: titles above the header, notes below the table, empty rows. Merged cells, columns without a name and several sheets
with data, of which none is named, are errors. Formulas are read as the values that Excel computed last.

Dates, times, truth values and number formats are kept. Nothing else of the input's workbook reaches the output: no
properties, comments, names, hidden sheets or formulas. The same table gives the same bytes.
"""

import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from io import BytesIO
from pathlib import Path
from typing import Any
from xml.etree import ElementTree
from zipfile import ZIP_DEFLATED, BadZipFile, ZipFile, ZipInfo

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from leafcover.arrays import Floats
from leafcover.errors import NameUnknown, OutputError, TableError, install
from leafcover.table.formatting import SECOND_DIGITS, as_floats, is_text, parse_numbers, parse_timestamps, plain_text
from leafcover.table.infer import MISSING_TOKENS, has_padded_codes, is_missing, padded, padded_codes_warning
from leafcover.table.output import as_typed, duration_seconds, observed_levels, seconds_of_day
from leafcover.table.table import MAX_GRID_POINTS, Column, RawColumn, Source, Table

MOST_ROWS = 1_048_576
MOST_COLUMNS = 16_384
MOST_CHARACTERS = 32_767  # of a cell
OLE = b"\xd0\xcf\x11\xe0"  # begins an old workbook, and one with a password
ERRORS = ("#NULL!", "#DIV/0!", "#VALUE!", "#REF!", "#NAME?", "#NUM!", "#N/A", "#GETTING_DATA", "#SPILL!", "#CALC!")
MAIN = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
RELATION = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"
FORMAT_ROWS = 200  # rows in which the number format of a column is looked for

Cells = tuple[Any, ...]


def library() -> Any:
    """Openpyxl, or a one-line error."""
    try:
        import openpyxl
    except ImportError:
        raise TableError(f"Excel workbooks need openpyxl. {install('office')}") from None
    return openpyxl


# Reading.


@dataclass(frozen=True)
class _Block:
    """The table in a sheet: its names, its cells, and where they are in the sheet."""

    names: list[str]
    letters: list[str]
    columns: list[Cells]
    rows: list[int]  # numbers as Excel shows them
    header: int
    left_out: tuple[str, ...]  # warnings


def read_excel(
    path: Path,
    *,
    sheet: str | int | None = None,
    missing: Mapping[str, Sequence[str]] | None = None,
    category: Sequence[str] = (),
    drop: Sequence[str] = (),
) -> tuple[list[RawColumn], Source]:
    """The columns of a sheet; the other options are needed where a column mixes types."""
    with _opened(path) as book:
        worksheet = _chosen(book, path, sheet)
        worksheet.reset_dimensions()  # programs write wrong ones
        rows = list(worksheet.iter_rows(values_only=True))
        formats = _number_formats(worksheet)
        part = _sheet_part(path, worksheet.title)
    block = _block(rows, path)
    _refuse_merged(part, block, path)
    found = [*block.left_out, *_hidden(part), *_formulas(part, block, path, drop)]
    about = {name: formats.get(letter, "") for name, letter in zip(block.names, block.letters, strict=True)}
    raws = []
    for name, held in zip(block.names, block.columns, strict=True):
        cells = held if name not in drop else (None,) * len(held)
        tokens = (missing or {}).get(name, MISSING_TOKENS)
        raw = padded(_raw_column(name, cells, block, tokens, category=name in category), about[name])
        raws.append(RawColumn(raw.name, raw.stored, raw.typed, warnings=(*found, *raw.warnings)))
        found = []
    return raws, Source("excel", about=about)


@contextmanager
def _opened(path: Path) -> Iterator[Any]:
    openpyxl = library()
    with path.open("rb") as file:
        start = file.read(4)
    if start == OLE:
        raise TableError(
            f"'{path}' has a password, or is an old .xls workbook. Save it as .xlsx without a password, and give that."
        )
    try:
        with warnings.catch_warnings():  # of parts of the workbook that are not read
            warnings.simplefilter("ignore")
            with closing(openpyxl.load_workbook(path, read_only=True, data_only=True)) as book:
                yield book
    except (BadZipFile, KeyError, ValueError, ElementTree.ParseError) as error:
        reason = str(error).strip().splitlines()[0].rstrip(".") if str(error).strip() else type(error).__name__
        raise TableError(f"'{path}' is not a complete Excel workbook ({reason}). Save it again in Excel.") from error


def _chosen(book: Any, path: Path, sheet: str | int | None) -> Any:
    """The sheet that was named, by name or number, or the only visible one with data."""
    names = [one.title for one in book.worksheets]
    if sheet is not None:
        if str(sheet) in names:
            return book[str(sheet)]
        if str(sheet).isdigit() and 1 <= int(sheet) <= len(names):
            return book.worksheets[int(sheet) - 1]
        raise NameUnknown("sheet", str(sheet), names, f"in '{path}'")
    filled = [one for one in book.worksheets if one.sheet_state == "visible" and _has_data(one)]
    if not filled:
        raise TableError(f"'{path}' has no visible sheet with data. Name a sheet with sheet=..., or save it again.")
    if len(filled) == 1:
        return filled[0]
    listed = ", ".join(repr(one.title) for one in filled)
    raise TableError(f"'{path}' has {len(filled)} sheets with data: {listed}. Name one with sheet={filled[0].title!r}.")


def _has_data(worksheet: Any) -> bool:
    worksheet.reset_dimensions()
    return any(_is_filled(value) for row in worksheet.iter_rows(values_only=True) for value in row)


def _is_filled(value: Any) -> bool:
    return value is not None and not (isinstance(value, str) and not value.strip())


def _number_formats(worksheet: Any) -> dict[str, str]:
    """The number format of each column, by its letter: that of the last of the first cells with a value."""
    from openpyxl.utils import get_column_letter

    found: dict[str, str] = {}
    for row in worksheet.iter_rows(max_row=FORMAT_ROWS):
        for cell in row:
            if _is_filled(cell.value) and not isinstance(cell.value, str):
                found[get_column_letter(cell.column)] = cell.number_format
    return found


def _block(rows: list[Cells], path: Path) -> _Block:
    """Find the header and the rows of the table; what stands above and below is left out."""
    from openpyxl.utils import get_column_letter

    filled = [[place for place, value in enumerate(row) if _is_filled(value)] for row in rows]
    wide = any(len(places) > 1 for places in filled)
    header = next((row for row, places in enumerate(filled) if len(places) > (1 if wide else 0)), None)
    if header is None:
        raise TableError(f"'{path}' is empty. A table needs a header line and at least 2 rows.")
    last = _end_of_table(rows, filled, header)
    kept = [row for row in range(header + 1, last + 1) if filled[row]]
    used = sorted({place for row in kept for place in filled[row]} | set(filled[header]))
    for place in used:
        if place not in filled[header]:
            raise TableError(
                f"Column {get_column_letter(place + 1)} of '{path}' has values, but no name in row {header + 1}, the "
                "first row with several cells. Name it there, or delete the rows above the header."
            )
    names = [str(rows[header][place]).strip() for place in used]
    if not any(isinstance(rows[header][place], str) for place in used):
        raise TableError(f"Row {header + 1} of '{path}' has no names, but numbers. Put the names of the columns there.")
    columns = list(zip(*([_cell(rows[row], place) for place in used] for row in kept), strict=True))
    return _Block(
        names,
        [get_column_letter(place + 1) for place in used],
        columns or [() for _ in used],
        [row + 1 for row in kept],
        header + 1,
        _left_out(filled, header, last, len(kept)),
    )


def _cell(row: Cells, place: int) -> Any:
    value = row[place] if place < len(row) else None
    return value if _is_filled(value) else None


def _end_of_table(rows: list[Cells], filled: list[list[int]], header: int) -> int:
    """The last row of the table. Single texts below an empty row, or at the end of a wide table, are notes."""

    def is_note(row: int) -> bool:
        return filled[row] == filled[header][:1] and isinstance(rows[row][filled[row][0]], str)

    last = max(row for row, places in enumerate(filled) if places)
    if len(filled[header]) == 1:
        return last
    while last > header:
        first = next(row for row in range(last, header - 1, -1) if row == header or not filled[row]) + 1
        if filled[first - 1] or not all(is_note(row) for row in range(first, last + 1)):
            break
        last = max(row for row in range(first) if filled[row])
    while len(filled[header]) > 2 and last > header and is_note(last):
        last -= 1
    return last


def _left_out(filled: list[list[int]], header: int, last: int, kept: int) -> tuple[str, ...]:
    """A warning about the rows that are not read."""
    counts = {
        "above the header": sum(1 for places in filled[:header] if places),
        "of notes below the table": sum(1 for places in filled[last + 1 :] if places),
        "without values": last - header - kept,
    }
    parts = [f"{count:,} {'row' if count == 1 else 'rows'} {where}" for where, count in counts.items() if count]
    return (f"The sheet has {' and '.join(parts)}: left out.",) if parts else ()


# What openpyxl does not tell of a sheet whose rows it reads one after the other.


def _sheet_part(path: Path, title: str) -> bytes:
    """The XML of a sheet."""
    with ZipFile(path) as archive:
        book = ElementTree.fromstring(archive.read("xl/workbook.xml"))
        relations = ElementTree.fromstring(archive.read("xl/_rels/workbook.xml.rels"))
        targets = {one.get("Id"): one.get("Target", "") for one in relations}
        ids = {one.get("name"): one.get(RELATION) for one in book.iter() if one.tag.endswith("}sheet")}
        target = targets[ids[title]]
        return archive.read(target.lstrip("/") if target.startswith("/") else f"xl/{target}")


def _refuse_merged(xml: bytes, block: _Block, path: Path) -> None:
    for found in re.finditer(rb'mergeCell ref="([A-Z]+)(\d+):([A-Z]+)(\d+)"', xml):
        if block.header <= int(found[4]) and (not block.rows or int(found[2]) <= block.rows[-1]):
            where = "{}{}:{}{}".format(*(part.decode() for part in found.groups()))
            raise TableError(
                f"Cells {where} of '{path}' are merged, so that it is unclear which rows have their value. "
                "Unmerge them, and fill in every row."
            )


def _hidden(part: bytes) -> list[str]:
    if re.search(rb'<(?:\w+:)?(?:row|col) [^>]*hidden="(?:1|true)"', part):
        return ["The sheet has hidden rows or columns, which are read too. Delete them if they shall not be."]
    return []


FORMULA = re.compile(
    rb"<(?:\w+:)?c ([^>]*)>\s*<(?:\w+:)?f\b(?:[^>]*/>|.*?</(?:\w+:)?f>)\s*(<(?:\w+:)?v>[^<])?", re.DOTALL
)


def _formulas(part: bytes, block: _Block, path: Path, drop: Sequence[str]) -> list[str]:
    """A warning about formulas in the table, whose computed values are read; one without a value is an error."""
    if b"f>" not in part and b"<f" not in part and b":f" not in part:
        return []
    name_of = {letter: name for name, letter in zip(block.names, block.letters, strict=True) if name not in drop}
    rows = set(block.rows)
    found: set[str] = set()
    for cell in FORMULA.finditer(part):
        place = re.search(rb'\br="([A-Z]+)(\d+)"', cell[1])
        if place is None or place[1].decode() not in name_of or int(place[2]) not in rows:
            continue
        if cell[2] is None and b't="str"' not in cell[1]:
            raise TableError(
                f"Cell {place[1].decode()}{int(place[2])} of '{path}' has a formula without a computed value. "
                "Open the workbook in Excel and save it."
            )
        found.add(place[1].decode())
    names = [repr(name) for letter, name in name_of.items() if letter in found]
    some = f"Columns {', '.join(names)} have" if len(names) > 1 else f"Column {''.join(names)} has"
    return (
        [f"{some} formulas, read as the values that Excel computed last; the release has no formulas."] if names else []
    )


# The cells of a column.


def _raw_column(name: str, cells: Cells, block: _Block, tokens: Sequence[str], *, category: bool) -> RawColumn:
    """A column of one type, or the text of a column that mixes types."""
    broken = sum(1 for value in cells if isinstance(value, str) and value in ERRORS)
    warned = [_error_cells(name, broken)] if broken else []
    if broken:
        cells = tuple(None if isinstance(value, str) and value in ERRORS else value for value in cells)
    kinds = {_kind(value) for value in cells if value is not None}
    if kinds <= {"text"}:
        texts = pa.array([None if value is None else _unescaped(value) for value in cells], pa.string())
        if not category and len(texts.drop_null()) and parse_numbers(texts.drop_null(), None) is not None:
            codes = has_padded_codes(texts.drop_null())
            warned.append(padded_codes_warning(name) if codes else _numbers_as_text(name))
        return RawColumn(name, texts, typed=True, warnings=tuple(warned))
    if len(kinds) == 1 or kinds == {"date", "datetime"}:
        return RawColumn(name, _typed(cells, kinds), typed=True, warnings=tuple(warned))
    if kinds & {"date", "datetime"} and not category:
        texts = _dates_and_text(name, cells, block, tokens)
    else:
        texts = pa.array(["" if value is None else _text_of(value) for value in cells], pa.string())
        if kinds == {"number", "text"} and not category:
            _count_numbers_as_text(name, cells, tokens, warned)
    return RawColumn(name, texts, warnings=tuple(warned))


def _kind(value: Any) -> str:
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int | float):
        return "number"
    if isinstance(value, datetime):
        return "date" if value.time() == time() else "datetime"
    if isinstance(value, timedelta):
        return "duration"
    return "time" if isinstance(value, time) else "date" if isinstance(value, date) else "text"


def _typed(cells: Cells, kinds: set[str]) -> Any:
    if kinds == {"number"}:
        whole = all(value is None or (isinstance(value, int) and abs(value) < MAX_GRID_POINTS) for value in cells)
        return pa.array(cells, pa.int64() if whole else pa.float64())
    if kinds == {"date"}:
        return pa.array([None if value is None else value.date() for value in cells], pa.date32())
    types = {"boolean": pa.bool_(), "time": pa.time64("us"), "duration": pa.duration("ms")}
    return pa.array(cells, types.get(next(iter(kinds)), pa.timestamp("ms")) if len(kinds) == 1 else pa.timestamp("ms"))


def _text_of(value: Any, *, exact: bool = False) -> str:
    """The text of a cell in a column that mixes types, as a text file would have it; ``exact`` writes midnight."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return str(pa.scalar(value).cast(pa.string()))
    if isinstance(value, datetime):
        return value.isoformat(" ") if exact or value.time() != time() else value.date().isoformat()
    return _unescaped(value) if isinstance(value, str) else str(value)


def _unescaped(text: str) -> str:
    """The text of a cell; Excel writes characters that XML lacks as _x000D_."""
    if "_x" not in text:
        return text
    return re.sub(r"_x([0-9A-Fa-f]{4})_", lambda found: chr(int(found[1], 16)), text)


def _dates_and_text(name: str, cells: Cells, block: _Block, tokens: Sequence[str]) -> Any:
    """Dates as text, with the texts among them; a text that is neither such a date nor missing is an error."""
    exact = any(value is not None and _kind(value) == "datetime" for value in cells)
    texts = pa.array(["" if value is None else _text_of(value, exact=exact) for value in cells], pa.string())
    gone = is_missing(texts, tokens)
    if parse_timestamps(texts, gone) is None:
        first = next(row for row, value in enumerate(cells) if not gone[row] and not isinstance(value, datetime))
        raise TableError(
            f"Column {name!r} has dates, but also other values, such as that in row {block.rows[first]}. "
            f"Make them dates, declare them missing, or read the column as text with category=[{name!r}]."
        )
    return texts


def _count_numbers_as_text(name: str, cells: Cells, tokens: Sequence[str], warned: list[str]) -> None:
    texts = pa.array([value for value in cells if isinstance(value, str)], pa.string())
    known = texts.filter(pa.array(~is_missing(texts, tokens)))
    if len(known) and parse_numbers(known, None) is not None:
        count = f"{len(known):,} {'number' if len(known) == 1 else 'numbers'}"
        warned.append(f"Column {name!r} has {count} stored as text, read as numbers.")


def _numbers_as_text(name: str) -> str:
    return (
        f"Column {name!r} has numbers stored as text and is read as a category. "
        "Convert them to numbers in Excel if they are no codes."
    )


def _error_cells(name: str, count: int) -> str:
    cells = "1 cell" if count == 1 else f"{count:,} cells"
    return f"Column {name!r} has {cells} with an error such as #N/A, read as missing."


# Writing. The parts around the sheet are openpyxl's; the rows are joined as text by pyarrow, which takes a tenth of the
# time: 100,000 rows of 16 columns in 3 CPU seconds instead of 35.

SHEET, CREATED = "xl/worksheets/sheet1.xml", (1980, 1, 1, 0, 0, 0)
FORMULA_START = r"^[=+\-@\t\r]"  # Excel takes such text for a formula when somebody edits its cell
EXCEL_EPOCH_DAYS = 25_569.0  # 1899-12-30, before 1970
FIRST_DAY = 61.0  # 1900-03-01: before it, Excel counts wrongly or not at all
BATCH_ROWS, GENERAL = 65_536, "General"
DEFAULT_FORMATS = {
    "date": "yyyy-mm-dd",
    "datetime": "yyyy-mm-dd hh:mm:ss",
    "time": "hh:mm:ss",
    "duration": "[h]:mm:ss",
}
# A number format can hold texts and conditions. These parts of one tell nothing.
PLAIN_FORMAT = re.compile(
    r"General|(?:\[(?:h+|m+|s+|\$[^\]\w]{0,3}(?:-[0-9A-F]{1,5})?)\]|\"[^\"\w]{1,3}\"|AM/PM|E\+|\\[^\w]"
    r"|[0#?.,%+\-/ ()_;:dmyhs€$£*])+",
    re.IGNORECASE,
)


@dataclass(frozen=True, eq=False)
class _Cells:
    """The cells of an output column: text of XML values, null where empty."""

    values: Any
    type: str  # n, b or inlineStr
    format: str = GENERAL


def formula_columns(table: Table) -> tuple[str, ...]:
    """The columns with text that a spreadsheet which opens a .csv file may evaluate.

    Such a file keeps the text: with a mark before it, it would be another value.
    """
    levels = {one.name: observed_levels(one) for one in table if one.is_category}
    return tuple(name for name, texts in levels.items() if any(re.match(FORMULA_START + ".", text) for text in texts))


def excel_cells(table: Table) -> list[_Cells]:
    """The cells of each column; an error if a sheet cannot hold the table."""
    library()
    if len(table) >= MOST_ROWS or len(table.names) > MOST_COLUMNS:
        raise OutputError(
            f"The table has {len(table):,} rows and {len(table.names):,} columns, but a sheet of Excel has at most "
            f"{MOST_ROWS - 1:,} rows below its header and {MOST_COLUMNS:,} columns. Write .csv or .parquet instead."
        )
    about = table.source.about if isinstance(table.source, Source) and table.source.format == "excel" else {}
    return [_cells(column, table.source, about.get(column.name, "")) for column in table]


def write_excel(table: Table, target: Path) -> None:
    """Write a workbook with one sheet."""
    columns = excel_cells(table)
    book = _skeleton([column.format for column in columns])
    with ZipFile(target, "w") as archive:
        for name, content in book.items():
            entry = ZipInfo(name, CREATED)
            entry.compress_type = ZIP_DEFLATED
            with archive.open(entry, "w") as part:
                for piece in _sheet(book, table, columns) if name == SHEET else [content]:
                    part.write(piece)


def _skeleton(formats: Sequence[str]) -> dict[str, bytes]:
    """The parts of a workbook with one sheet, by openpyxl, with a fixed time.

    The first row has the style of each format; that of the second also marks text that must not be a formula.
    """
    book = library().Workbook()
    book.properties.creator = None
    sheet = book.active
    sheet.title = "Sheet1"
    for place, one in enumerate(formats, 1):
        for row, marked in ((1, False), (2, True)):
            cell = sheet.cell(row, place, 0)
            cell.number_format, cell.quotePrefix = one, marked
    made = BytesIO()
    book.save(made)
    with ZipFile(made) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    core = "docProps/core.xml"
    return parts | {core: re.sub(rb">\d{4}-\d\d-\d\dT[\d:]+Z<", b">1980-01-01T00:00:00Z<", parts[core])}


def _sheet(book: Mapping[str, bytes], table: Table, columns: Sequence[_Cells]) -> Iterator[bytes]:
    """The XML of the sheet: openpyxl's, with other rows."""
    from openpyxl.utils import get_column_letter

    letters = [get_column_letter(place) for place in range(1, len(columns) + 1)]
    xml = book[SHEET]
    ids = [re.findall(rb'<c r="[A-Z]+%d"(?: s="(\d+)")?' % row, xml) for row in (1, 2)]
    styles = [(plain.decode() or "0", marked.decode() or "0") for plain, marked in zip(*ids, strict=True)]
    before, _, rest = xml.partition(b"<sheetData>")
    yield re.sub(
        rb'<dimension ref="[^"]*"', b'<dimension ref="A1:%s%d"' % (letters[-1].encode(), len(table) + 1), before
    )
    yield b"<sheetData>"
    names = [_Cells(pa.array([name], pa.string()), "inlineStr") for name in table.names]
    yield _rows_of(names, letters, [("0", ids[1][0].decode())] * len(letters), 1, 1).encode()
    for start in range(0, len(table), BATCH_ROWS):
        batch = [_Cells(plain_text(one.values.slice(start, BATCH_ROWS)), one.type) for one in columns]
        yield _rows_of(batch, letters, styles, start + 2, len(batch[0].values)).encode()
    yield b"</sheetData>" + rest.partition(b"</sheetData>")[2]


def _rows_of(
    columns: Sequence[_Cells], letters: Sequence[str], styles: Sequence[tuple[str, str]], first: int, rows: int
) -> str:
    numbers = pa.array(np.arange(first, first + rows)).cast(pa.string())
    parts = [pc.binary_join_element_wise('<row r="', numbers, '">', "")]
    for column, letter, (plain, marked) in zip(columns, letters, styles, strict=True):
        values, style = column.values, pa.array([plain] * rows)
        if column.type == "inlineStr":
            formula = pc.match_substring_regex(values, FORMULA_START).fill_null(False)
            style = pc.if_else(formula, marked, plain)
            values = pc.binary_join_element_wise('<is><t xml:space="preserve">', _xml(values), "</t></is>", "")
        else:
            values = pc.binary_join_element_wise("<v>", values, "</v>", "")
        begin = pc.binary_join_element_wise(f'<c r="{letter}', numbers, '" s="', style, f'" t="{column.type}">', "")
        parts.append(pc.binary_join_element_wise(begin, values, "</c>", "").fill_null(""))
    parts.append(pa.array(["</row>"] * rows))
    return "".join(pc.binary_join_element_wise(*parts, "").to_pylist())


def _xml(texts: Any) -> Any:
    """Texts as XML has them; what XML lacks is written as Excel does: _x000D_."""
    for mark, written in (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;")):
        texts = pc.replace_substring(texts, mark, written)
    texts = pc.replace_substring_regex(texts, "_(x[0-9A-Fa-f]{4}_)", r"_x005F_\1")
    if pc.any(pc.match_substring_regex(texts, r"[\x00-\x08\x0b-\x1f\x{fffe}\x{ffff}]")).as_py():
        special = re.compile("[\x00-\x08\x0b-\x1f\ufffe\uffff]")
        known = texts.to_pylist()
        texts = pa.array([one and special.sub(lambda found: f"_x{ord(found[0]):04X}_", one) for one in known])
    return texts


def _cells(column: Column, source: Any, own_format: str) -> _Cells:
    """The cells of a column. Dates and numbers that were read from text are dates and numbers here."""
    typed = isinstance(source, Source) and source.is_typed and column.stored is not None
    array = as_typed(column, own_type=typed and not (is_text(column.stored) and not column.is_category))
    kind = array.type
    if pa.types.is_boolean(kind):
        return _Cells(array.cast(pa.int8()).cast(pa.string()), "b")
    moment = _moment_of(kind)
    if moment:
        days = _days(array, moment)
        if not (days < FIRST_DAY).any() or moment in ("time", "duration"):
            texts = pa.array(days, from_pandas=True).cast(pa.string())
            return _Cells(texts, "n", own_format if _is_plain(own_format, moment=True) else DEFAULT_FORMATS[moment])
    if moment or is_text(array) or pa.types.is_dictionary(kind):
        texts = plain_text(array).cast(pa.string())
        if len(texts) and (pc.max(pc.utf8_length(texts)).as_py() or 0) > MOST_CHARACTERS:
            raise OutputError(
                f"Column {column.name!r} has a text of more than {MOST_CHARACTERS:,} characters, the most in a cell of "
                "Excel. Drop the column, or write another format."
            )
        return _Cells(texts, "inlineStr")
    kept = own_format if _is_plain(own_format, moment=False) else _number_format(column, kind)
    return _Cells(_numbers(column, array), "n", kept)


def _number_format(column: Column, kind: Any) -> str:
    """The decimal places of a text file or of decimals."""
    look = column.text_format
    places = kind.scale if pa.types.is_decimal(kind) else look.decimals if look and look.fixed else 0
    return "0." + "0" * places if places else GENERAL


def _moment_of(kind: Any) -> str:
    for name, test in (
        ("date", pa.types.is_date),
        ("datetime", pa.types.is_timestamp),
        ("time", pa.types.is_time),
        ("duration", pa.types.is_duration),
    ):
        if test(kind):
            return name
    return ""


def _days(array: Any, moment: str) -> Floats:
    """Dates, times (UTC), times of day or durations as Excel counts them: in days."""
    if moment == "date":
        return as_floats(array.cast(pa.date32()).cast(pa.int32())) + EXCEL_EPOCH_DAYS
    if moment == "datetime":
        seconds = as_floats(array.cast(pa.int64())) / 10.0 ** SECOND_DIGITS[array.type.unit]
        return seconds / 86_400.0 + EXCEL_EPOCH_DAYS
    return (duration_seconds(array) if moment == "duration" else seconds_of_day(array)) / 86_400.0


def _is_plain(number_format: str, *, moment: bool) -> bool:
    """Whether a number format may be kept: it holds neither texts nor conditions, and fits what is written."""
    if not PLAIN_FORMAT.fullmatch(number_format):
        return False
    return bool(re.search("[dmyhs]", number_format.lower().replace("general", ""))) == moment


def _numbers(column: Column, array: Any) -> Any:
    if pa.types.is_null(array.type):
        return array.cast(pa.string())
    if pa.types.is_floating(array.type):
        values = (
            np.where(column.missing, as_floats(array), column.values) if column.kind == "number" else as_floats(array)
        )
        return pa.array(values, from_pandas=True).cast(pa.string())
    largest = max((abs(end or 0) for end in pc.min_max(array).as_py().values()), default=0)
    if largest >= MAX_GRID_POINTS:
        raise OutputError(
            f"Column {column.name!r} has numbers beyond 2^53, which Excel cannot hold. "
            f"Read it as text with category=[{column.name!r}], or drop it."
        )
    return array.cast(pa.string())
