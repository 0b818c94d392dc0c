"""ARFF (the format of Weka) and the file format of C4.5. Both declare their columns, and declarations are binding."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

from leafcover.errors import OutputError, TableError
from leafcover.table.csv import decode_to_utf8, not_utf8, read_bytes, write_delimited
from leafcover.table.formatting import has_byte, plain_numbers, plain_text
from leafcover.table.output import as_text, observed_levels
from leafcover.table.table import Column, RawColumn, Source, Table

MISSING_TOKENS = ("?",)
CELL = re.compile(r"""\s*(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)"|([^,]*?))\s*(?:,|$)""", re.DOTALL)
NAME = re.compile(r"""\s*(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)"|([^\s'"{]+))""", re.DOTALL)
NUMERIC = ("numeric", "real", "integer")
ESCAPES = {"n": "\n", "r": "\r", "t": "\t"}
JAVA_DATE_CODES = {"%Y": "yyyy", "%m": "MM", "%d": "dd", "%H": "HH", "%M": "mm", "%S": "ss", "%f": ".SSS"}


@dataclass(frozen=True)
class Header:
    """The declarations before @data."""

    relation: str = ""
    names: list[str] = field(default_factory=list)
    kinds: list[Literal["number", "category"] | None] = field(default_factory=list)
    levels: list[tuple[str, ...] | None] = field(default_factory=list)


def read_arff(path: Path, *, encoding: str) -> tuple[list[RawColumn], Source]:
    """The declared columns of an ARFF file."""
    data, marked = decode_to_utf8(read_bytes(path), path, encoding)
    start = re.search(rb"^[ \t]*@data[^\n]*(\n|$)", data, re.IGNORECASE | re.MULTILINE)
    if start is None:
        raise TableError(
            f"'{path}' has no @data line, so it is not a complete ARFF file. Add one, or rename it to .csv."
        )
    header = _header(_decode(data[: start.start()], path), path)
    if not header.names:
        raise TableError(f"'{path}' has no @attribute line. Add one for each column.")
    first_line = data[: start.end()].count(b"\n") + 1
    columns = _arff_columns(data[start.end() :], path, len(header.names), first_line)
    raws = [
        RawColumn(name, column, tokens=MISSING_TOKENS, declared=kind, levels=levels)
        for name, column, kind, levels in zip(header.names, columns, header.kinds, header.levels, strict=True)
    ]
    return raws, Source("arff", encoding=encoding, byte_order_mark=marked, relation=header.relation)


def _decode(data: bytes, path: Path) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise not_utf8(path, error.start, data) from error


def _header(text: str, path: Path) -> Header:
    header, relation = Header(), ""
    for number, line in enumerate(text.splitlines(), 1):
        word, _, rest = (
            line.strip().partition(" ") if "\t" not in line else line.strip().replace("\t", " ").partition(" ")
        )
        if word.lower() == "@relation":
            relation = _name(rest)[0]
        elif word.lower() == "@attribute":
            _arff_attribute(rest, header, path, number)
        elif word and not word.startswith("%"):
            raise TableError(
                f"Line {number} of '{path}' is not an ARFF declaration. Use @relation, @attribute or @data."
            )
    return Header(relation, header.names, header.kinds, header.levels)


def _name(text: str) -> tuple[str, str]:
    found = NAME.match(text)
    return (_cell(found), text[found.end() :].strip()) if found else ("", text.strip())


def _arff_attribute(rest: str, header: Header, path: Path, number: int) -> None:
    name, kind = _name(rest)
    header.names.append(name)
    levels = None
    declared: Literal["number", "category"] | None = "category"
    if kind.startswith("{") and kind.endswith("}"):
        levels = tuple(sorted(set(parse_arff_line(kind[1:-1]))))
    elif kind.lower().split(" ")[0] in NUMERIC:
        declared = "number"
    elif kind.lower().split(" ")[0] == "date":
        declared = None  # the pattern is inferred from the values
    elif kind.lower() != "string":
        raise TableError(
            f"Line {number} of '{path}' declares {name!r} with the unsupported type {kind!r}. "
            f"Use numeric, string, date or {{values}}."
        )
    header.kinds.append(declared)
    header.levels.append(levels)


def parse_arff_line(line: str) -> list[str]:
    r"""The cells of one ARFF line, without quotes and escapes.

    >>> parse_arff_line("5.1, 'it\\'s', ?")
    ['5.1', "it's", '?']
    """
    if not line.strip():
        return []
    found: list[str] = []
    at = 0
    while True:
        match = CELL.match(line, at)
        if match is None:  # unclosed quote: the rest of the line is the cell
            return [*found, line[at:].strip()]
        found.append(_cell(match))
        at = match.end()
        if at >= len(line):
            return [*found, ""] if line.endswith(",") else found


def _cell(match: re.Match[str]) -> str:
    quoted = match[1] if match[1] is not None else match[2]
    if quoted is None:
        return match[3]
    return re.sub(r"\\(.)", lambda found: ESCAPES.get(found[1], found[1]), quoted, flags=re.DOTALL)


def _arff_columns(data: bytes, path: Path, width: int, first_line: int) -> list[Any]:
    plain = not any(mark in data for mark in (b"'", b'"', b"\\", b"%", b"{"))
    if plain:
        names = [str(place) for place in range(width)]
        try:
            table = pyarrow.csv.read_csv(
                pa.BufferReader(data),
                read_options=pyarrow.csv.ReadOptions(column_names=names),
                parse_options=pyarrow.csv.ParseOptions(quote_char=False),
                convert_options=pyarrow.csv.ConvertOptions(
                    column_types=dict.fromkeys(names, pa.string()), strings_can_be_null=False
                ),
            )
            return [_trim(column) for column in table.columns]
        except pa.ArrowInvalid:
            pass  # the slower parser below finds the line at fault
    rows = []
    for number, line in enumerate(_decode(data, path).split("\n"), first_line):
        content = line.strip()
        if not content or content.startswith("%"):
            continue
        if content.startswith("{"):
            raise TableError(
                f"Line {number} of '{path}' is sparse ARFF, which is not supported. Write out every value."
            )
        row = parse_arff_line(content)
        if len(row) != width:
            raise TableError(
                f"Line {number} of '{path}' has {len(row)} cells, but {width} attributes are declared. Fix the line."
            )
        rows.append(row)
    return [pa.array(column, pa.string()) for column in zip(*rows, strict=True)] or [pa.array([], pa.string())] * width


def _trim(column: Any) -> Any:
    spaced = any(has_byte(chunk, b" \t\r") for chunk in column.chunks)
    return pc.utf8_trim_whitespace(column) if spaced else column


def write_arff(table: Table, target: Path) -> None:
    """Write a table with its declarations. The caller is responsible for writing atomically."""
    source = table.source if isinstance(table.source, Source) else Source("arff")
    lines = [f"@relation {_quoted_name(source.relation or 'table')}", ""]
    lines += [f"@attribute {_quoted_name(column.name)} {_kind(column)}" for column in table]
    head = "\n".join([*lines, "", "@data"]) + "\n"
    texts = [_arff_text(column) for column in table]
    encoding = source.encoding if source.format == "arff" else "utf-8"
    write_delimited(head, texts, Source("csv", encoding=encoding), target, packed=False, quotes=False)


def _kind(column: Column) -> str:
    if column.is_category:
        levels = observed_levels(column)
        return "{" + ",".join(_quoted_name(level) for level in levels) + "}" if levels else "string"
    if column.kind == "number":
        return "numeric"
    pattern = (column.text_format.pattern if column.text_format else "") or (
        "%Y-%m-%d" if column.kind == "date" else "%Y-%m-%d %H:%M:%S"
    )
    for strptime_code, java_code in JAVA_DATE_CODES.items():
        pattern = pattern.replace(strptime_code, java_code)
    return '"'.join(("date ", pattern.replace("ddT", "dd'T'").replace("Z", "'Z'"), ""))


def _quoted_name(text: str) -> str:
    found: str = _quote(pa.array([text]))[0].as_py()
    return found


def _arff_text(column: Column) -> Any:
    text = plain_text(as_text(column, missing="?", replace_tokens=True))
    if column.kind == "number":
        return pc.utf8_trim_whitespace(plain_numbers(text, column.text_format))
    known = _quote(text)
    return pc.if_else(pa.array(column.missing), pa.scalar("?", known.type), known) if column.missing.any() else known


def _quote(text: Any) -> Any:
    """Quote and escape the texts that contain special characters."""
    special = pc.or_(
        pc.match_substring_regex(text, r"""[\s,'"%{}\\]"""), pc.is_in(text, pa.array(["", "?"], text.type))
    )
    if not pc.any(special).as_py():
        return text
    inner = pc.replace_substring_regex(text, r"""(['"\\])""", r"\\\1")
    for char, mark in (("\n", "\\n"), ("\r", "\\r"), ("\t", "\\t")):
        inner = pc.replace_substring(inner, char, mark)
    quote, nothing = (pa.scalar(mark, text.type) for mark in ("'", ""))  # text of a frame may be large_string
    return pc.if_else(special, pc.binary_join_element_wise(quote, inner, quote, nothing), text)


# C4.5 files: ``stem.names`` declares classes and attributes, ``stem.data`` and ``stem.test`` contain the rows.
#
# Syntax of C4.5 Release 8: ``|`` starts a comment, a backslash escapes the next character, and a full stop before white
# space ends an entry. Surrounding spaces are ignored and runs of spaces count as one. The class is the last column and
# is named ``class``. Attributes declared ``ignore`` are left out. Declared values are the levels, observed or not.


@dataclass(frozen=True)
class DeclaredAttribute:
    """One line of a .names file."""

    name: str
    kind: Literal["number", "category", "ignore"]
    levels: tuple[str, ...] | None = None


def parse_c45_entries(text: str) -> Iterator[tuple[str, str]]:
    r"""The entries of a C4.5 text, each with its terminator: ``,`` ``:`` ``.`` or a newline.

    >>> list(parse_c45_entries("yes, no.  | the classes\nwage: continuous."))
    [('yes', ','), ('no', '.'), ('wage', ':'), ('continuous', '.')]
    """
    at, size = 0, len(text)
    while at < size:
        if text[at].isspace():
            at += 1
        elif text[at] == "|":
            at = _line_end(text, at)
        else:
            name, end, at = _entry(text, at)
            yield name, end


def _entry(text: str, at: int) -> tuple[str, str, int]:
    size, name = len(text), ""
    while at < size:
        char = text[at]
        if char == "\\" and at + 1 < size:
            name, at = name + text[at + 1], at + 2
            continue
        if char in ",:\n":
            return name.rstrip(), char, at + 1
        if char == "|":
            return name.rstrip(), "\n", _line_end(text, at)
        if char == "." and (at + 1 == size or text[at + 1].isspace()):
            return name.rstrip(), ".", at + 1
        if char.isspace():
            char = "" if name.endswith(" ") else " "
        name, at = name + char, at + 1
    return name.rstrip(), "\n", size


def _line_end(text: str, at: int) -> int:
    end = text.find("\n", at)
    return len(text) if end < 0 else end + 1


def parse_names_file(text: str, path: Path) -> list[DeclaredAttribute]:
    """Parse a .names file: the attributes in order, then the class."""
    found = parse_c45_entries(text)
    classes = _values(found)
    if not classes:
        raise TableError(f"'{path}' declares no classes. List the classes in its first entry.")
    attributes = []
    for name, end in found:
        if end != ":":
            raise TableError(f"'{path}' has no ':' after attribute {name!r}. Write 'name: values'.")
        attributes.append(_c45_attribute(name, _values(found), path))
    if not attributes:
        raise TableError(f"'{path}' declares no attributes. Add lines such as 'age: continuous'.")
    return [*attributes, DeclaredAttribute("class", "category", tuple(sorted(set(classes))))]


def _values(found: Iterator[tuple[str, str]]) -> list[str]:
    values = []
    for name, end in found:
        values.append(name)
        if end != ",":
            break
    return values


def _c45_attribute(name: str, values: list[str], path: Path) -> DeclaredAttribute:
    if not values:
        raise TableError(f"'{path}' does not declare the values of attribute {name!r}. Add 'continuous' or the values.")
    if len(values) == 1:
        if values[0] in ("continuous", "ignore"):
            return DeclaredAttribute(name, "number" if values[0] == "continuous" else "ignore")
        if values[0].startswith("discrete"):
            return DeclaredAttribute(name, "category")
    return DeclaredAttribute(name, "category", tuple(sorted(set(values))))


def read_c45(path: Path, *, encoding: str) -> tuple[list[RawColumn], Source]:
    """The columns of a .data or .test file, declared by the .names file in the same directory."""
    declaration = path.with_suffix(".names")
    if not declaration.exists():
        raise TableError(f"There is no file '{declaration}', which '{path}' needs. Create it, or use another format.")
    text, _ = decode_to_utf8(read_bytes(declaration), declaration, encoding)
    attributes = parse_names_file(_decode(text, declaration), declaration)
    data, marked = decode_to_utf8(read_bytes(path), path, encoding)
    columns = _c45_columns(data, path, len(attributes))
    raws = [
        RawColumn(attribute.name, column, tokens=MISSING_TOKENS, declared=attribute.kind, levels=attribute.levels)
        for attribute, column in zip(attributes, columns, strict=True)
        if attribute.kind != "ignore"
    ]
    return raws, Source("c45", encoding=encoding, byte_order_mark=marked)


def _c45_columns(data: bytes, path: Path, width: int) -> list[Any]:
    names = [str(place) for place in range(width)]
    if b"|" in data or b"\\" in data:  # comments and escapes need the entry-by-entry parser
        return _c45_columns_by_entry(_decode(data, path), path, width)
    try:
        table = pyarrow.csv.read_csv(
            pa.BufferReader(data),
            read_options=pyarrow.csv.ReadOptions(column_names=names),
            parse_options=pyarrow.csv.ParseOptions(quote_char=False),
            convert_options=pyarrow.csv.ConvertOptions(
                column_types=dict.fromkeys(names, pa.string()), strings_can_be_null=False
            ),
        )
    except pa.ArrowInvalid:
        return _c45_columns_by_entry(_decode(data, path), path, width)
    columns = [_normalize_spaces(column) for column in table.columns]
    columns[-1] = pc.utf8_trim_whitespace(pc.replace_substring_regex(columns[-1], r"\.$", ""))
    return columns


def _normalize_spaces(column: Any) -> Any:
    spaced = any(has_byte(chunk, b" \t\r") for chunk in column.chunks)
    return pc.replace_substring_regex(pc.utf8_trim_whitespace(column), r"\s+", " ") if spaced else column


def _c45_columns_by_entry(text: str, path: Path, width: int) -> list[Any]:
    rows: list[list[str]] = []
    for line, content in enumerate(text.split("\n"), 1):
        row = [name for name, _ in parse_c45_entries(content)]
        if content.rstrip().endswith(","):
            row.append("")
        if row and len(row) != width:
            raise TableError(
                f"Line {line} of '{path}' has {len(row)} values, but the .names file declares {width}. Fix the line."
            )
        if row:
            rows.append(row)
    return [pa.array(column, pa.string()) for column in zip(*rows, strict=True)] or [pa.array([], pa.string())] * width


def check_c45_output(table: Table) -> None:
    """Refuse a table without a class, and columns that C4.5 cannot hold."""
    for column in _columns_class_last(table):
        if column.kind in ("date", "time"):
            raise OutputError(f"C4.5 has no dates; column {column.name!r} has. Drop it, or write a .csv file.")
        if column.is_category and has_byte(pa.array(observed_levels(column), pa.string()), b"\r\n"):
            raise OutputError(
                f"C4.5 has no line breaks, and column {column.name!r} has. Drop it, or write a .csv file."
            )


def write_c45(table: Table, target: Path) -> None:
    """Write the rows with the column ``class`` last. The caller is responsible for writing atomically."""
    texts = [_escape(_c45_text(column)) for column in _columns_class_last(table)]
    write_delimited(None, texts, Source("csv"), target, quotes=False)


def _columns_class_last(table: Table) -> list[Column]:
    if "class" not in table.names or not table["class"].is_category:
        raise OutputError("A C4.5 file needs a category column named 'class'. Rename the target, or write a .csv file.")
    return [*(column for column in table if column.name != "class"), table["class"]]


def _c45_text(column: Column) -> Any:
    text = plain_text(as_text(column, missing="?", replace_tokens=True))
    if column.kind == "number":
        text = plain_numbers(text, column.text_format)
    return text


def _escape(text: Any) -> Any:
    if has_byte(text, b",:|\\"):
        text = pc.replace_substring_regex(text, r"([,:|\\])", r"\\\1")
    if has_byte(text, b"."):
        text = pc.replace_substring_regex(text, r"\.(\s|$)", r"\\.\1")
    return text


def names_text(table: Table) -> str:
    """The .names file of a table; it declares only levels that occur."""
    columns = _columns_class_last(table)
    lines = [", ".join(_escaped_names(observed_levels(columns[-1]))) + ".", ""]
    for column in columns[:-1]:
        levels = _escaped_names(observed_levels(column)) if column.is_category else ["continuous"]
        # A single value would be parsed as a keyword; 'discrete' allows whatever occurs.
        values = ", ".join(levels) if len(levels) > 1 or not column.is_category else f"discrete {max(len(levels), 1)}"
        lines.append(f"{_escaped_names((column.name,))[0]}: {values}.")
    return "\n".join(lines) + "\n"


def _escaped_names(names: tuple[str, ...]) -> list[str]:
    found: list[str] = _escape(pa.array(names, pa.string())).to_pylist()
    return found
