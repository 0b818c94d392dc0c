"""C4.5's own files: ``stem.names`` declares classes and attributes, ``stem.data`` and ``stem.test`` hold the rows.

Rules, as C4.5 Release 8 reads them: ``|`` starts a comment, a backslash takes the next character as it is, a full stop
before white space ends an entry, spaces around a value do not count and runs of them are one. The class stands last and
is called ``class``; ``ignore`` attributes are left out; declared values are the levels, observed or not.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

from leafcover.errors import OutputError, TableError
from leafcover.table.delimited import contents, decoded, write_delimited
from leafcover.table.numbers import has_byte
from leafcover.table.output import as_text, observed_levels
from leafcover.table.source import Raw, Source
from leafcover.table.table import Column, Table
from leafcover.table.text import plain_text

MISSING_TOKENS = ("?",)


@dataclass(frozen=True)
class Attribute:
    """One line of a .names file."""

    name: str
    kind: Literal["number", "category", "ignore"]
    levels: tuple[str, ...] | None = None


def entries(text: str) -> Iterator[tuple[str, str]]:
    r"""The names in a C4.5 text, each with what ended it: ``,`` ``:`` ``.`` or a new line.

    >>> list(entries("yes, no.  | the classes\nwage: continuous."))
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


def names_of(text: str, path: Path) -> list[Attribute]:
    """What a .names file declares: the attributes in order, then the class."""
    found = entries(text)
    classes = _values(found)
    if not classes:
        raise TableError(f"'{path}' names no class. Its first entry must list the classes.")
    attributes = []
    for name, end in found:
        if end != ":":
            raise TableError(f"'{path}' has no ':' after the attribute {name!r}. Write 'name: values'.")
        attributes.append(_attribute(name, _values(found), path))
    if not attributes:
        raise TableError(f"'{path}' declares no attribute. Add lines such as 'age: continuous'.")
    return [*attributes, Attribute("class", "category", tuple(sorted(set(classes))))]


def _values(found: Iterator[tuple[str, str]]) -> list[str]:
    values = []
    for name, end in found:
        values.append(name)
        if end != ",":
            break
    return values


def _attribute(name: str, values: list[str], path: Path) -> Attribute:
    if not values:
        raise TableError(f"'{path}' says nothing about the attribute {name!r}. Write 'continuous' or its values.")
    if len(values) == 1:
        if values[0] in ("continuous", "ignore"):
            return Attribute(name, "number" if values[0] == "continuous" else "ignore")
        if values[0].startswith("discrete"):
            return Attribute(name, "category")
    return Attribute(name, "category", tuple(sorted(set(values))))


def read_c45(path: Path, *, encoding: str) -> tuple[list[Raw], Source]:
    """The columns of a .data or .test file, declared by the .names file beside it."""
    declaration = path.with_suffix(".names")
    if not declaration.exists():
        raise TableError(f"There is no file '{declaration}' beside '{path}'. C4.5 data needs it.")
    text, _ = decoded(contents(declaration), declaration, encoding)
    attributes = names_of(_text(text, declaration), declaration)
    data, marked = decoded(contents(path), path, encoding)
    columns = _columns(data, path, len(attributes))
    raws = [
        Raw(attribute.name, column, tokens=MISSING_TOKENS, declared=attribute.kind, levels=attribute.levels)
        for attribute, column in zip(attributes, columns, strict=True)
        if attribute.kind != "ignore"
    ]
    return raws, Source("c45", encoding=encoding, byte_order_mark=marked)


def _text(data: bytes, path: Path) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise TableError(
            f"'{path}' is not utf-8 text (byte {error.start + 1}). Add --encoding, such as --encoding latin-1."
        ) from error


def _columns(data: bytes, path: Path, width: int) -> list[Any]:
    names = [str(place) for place in range(width)]
    if b"|" in data or b"\\" in data:  # comments and escapes: read entry by entry
        return _slow_columns(_text(data, path), path, width)
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
        return _slow_columns(_text(data, path), path, width)
    columns = [_tidy(column) for column in table.columns]
    columns[-1] = pc.utf8_trim_whitespace(pc.replace_substring_regex(columns[-1], r"\.$", ""))
    return columns


def _tidy(column: Any) -> Any:
    spaced = any(has_byte(chunk, b" \t\r") for chunk in column.chunks)
    return pc.replace_substring_regex(pc.utf8_trim_whitespace(column), r"\s+", " ") if spaced else column


def _slow_columns(text: str, path: Path, width: int) -> list[Any]:
    rows: list[list[str]] = []
    for line, content in enumerate(text.split("\n"), 1):
        row = [name for name, _ in entries(content)]
        if content.rstrip().endswith(","):
            row.append("")
        if row and len(row) != width:
            raise TableError(
                f"Line {line} of '{path}' has {len(row)} values, but the .names file declares {width}. Mend the line."
            )
        if row:
            rows.append(row)
    return [pa.array(column, pa.string()) for column in zip(*rows, strict=True)] or [pa.array([], pa.string())] * width


def write_c45(table: Table, target: Path) -> None:
    """Write the rows, the column called ``class`` last; whoever calls makes the file appear whole."""
    texts = [_escaped(_c45_text(column)) for column in _class_last(table)]
    write_delimited(None, texts, Source("csv"), target, quotes=False)


def _class_last(table: Table) -> list[Column]:
    if "class" not in table.names or not table["class"].is_category:
        raise OutputError("A C4.5 file needs a category called 'class'. Rename the target, or write a .csv file.")
    return [*(column for column in table if column.name != "class"), table["class"]]


def _c45_text(column: Column) -> Any:
    text = plain_text(as_text(column, missing="?", replace_tokens=True))
    if column.spelling is not None and column.spelling.thousands:
        text = pc.replace_substring(text, ",", "")
    if has_byte(text, b"\r\n"):
        raise OutputError(f"Column {column.name!r} holds line breaks, which C4.5 files cannot. Write a .csv file.")
    return text


def _escaped(text: Any) -> Any:
    if has_byte(text, b",:|\\"):
        text = pc.replace_substring_regex(text, r"([,:|\\])", r"\\\1")
    if has_byte(text, b"."):
        text = pc.replace_substring_regex(text, r"\.(\s|$)", r"\\.\1")
    return text


def names_text(table: Table) -> str:
    """What the .names file of a table says: observed levels only."""
    columns = _class_last(table)
    lines = [", ".join(_escaped_names(observed_levels(columns[-1]))) + ".", ""]
    for column in columns[:-1]:
        levels = _escaped_names(observed_levels(column)) if column.is_category else ["continuous"]
        # One value alone would read as a keyword or as nothing; 'discrete' says: whatever occurs.
        said = ", ".join(levels) if len(levels) > 1 or not column.is_category else f"discrete {max(len(levels), 1)}"
        lines.append(f"{_escaped_names((column.name,))[0]}: {said}.")
    return "\n".join(lines) + "\n"


def _escaped_names(names: tuple[str, ...]) -> list[str]:
    found: list[str] = _escaped(pa.array(names, pa.string())).to_pylist()
    return found
