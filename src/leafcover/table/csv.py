"""CSV and TSV files. Every cell is read as text, and unchanged cells are written back from that text.

Output keeps the byte order mark, line ending, delimiter and encoding of the input. A cell is quoted only when it must
be. Empty lines are skipped. A newline inside quotes belongs to its cell. Row names, as R and pandas write them, are
no column of the table.
"""

import csv
import gzip
import io
import re
from collections.abc import Collection
from pathlib import Path
from typing import Any, BinaryIO, cast

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

from leafcover.errors import TableError
from leafcover.table.formatting import has_byte, is_text, parse_numbers, parse_timestamps, plain_text
from leafcover.table.infer import combine_chunks
from leafcover.table.table import RawColumn, Source

BOM = b"\xef\xbb\xbf"
BATCH_ROWS = 65_536
ARROW_BLOCK_BYTES = 2**20  # block size of pyarrow's reader


def read_bytes(path: Path) -> bytes:
    """The bytes of a file, decompressed if its name ends in .gz."""
    data = path.read_bytes()
    if path.suffix.lower() != ".gz":
        return data
    try:
        return gzip.decompress(data)
    except (OSError, EOFError, gzip.zlib.error) as error:  # type: ignore[attr-defined]
        raise TableError(f"'{path}' is not a complete gzip file ({error}). Compress it again.") from error


def decode_to_utf8(data: bytes, path: Path, encoding: str) -> tuple[bytes, bool]:
    """The same text in UTF-8 without a byte order mark, and whether there was one."""
    if not data[:4096].strip() and not data.strip():  # the first test avoids copying a large file
        raise TableError(f"'{path}' is empty. A table needs a header line and at least 2 rows.")
    try:
        utf8 = "".encode(encoding) is not None and _is_utf8(encoding)
    except LookupError as error:
        raise TableError(f"Unknown encoding {encoding!r}. Use a name such as utf-8, latin-1 or cp1252.") from error
    if not utf8:
        try:
            text = data.decode(encoding)
        except UnicodeError as error:
            raise TableError(
                f"'{path}' is not {encoding} text ({_byte_position(error)}). Set encoding=... to its encoding."
            ) from error
        has_bom = text.startswith("\ufeff")
        data = text.removeprefix("\ufeff").encode()
    else:
        has_bom = data.startswith(BOM)
        data = data[3:] if has_bom else data
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise TableError(f"'{path}' looks like UTF-16 text. Set encoding='utf-16'.")
    if b"\0" in data:
        for order, ends in (("le", data[1:200:2]), ("be", data[:200:2])):
            if not ends.strip(b"\0"):
                raise TableError(f"'{path}' looks like UTF-16 text. Set encoding='utf-16-{order}'.")
        raise TableError(f"'{path}' is not text: it contains NUL bytes. Give a CSV file, or use its format's suffix.")
    return data, has_bom


def _is_utf8(encoding: str) -> bool:
    return encoding.lower().replace("_", "-") in ("utf-8", "utf8", "utf-8-sig")


def _byte_position(error: UnicodeError) -> str:
    return f"byte {error.start + 1}" if isinstance(error, UnicodeDecodeError) else str(error)


def read_delimited(path: Path, *, encoding: str, delimiter: str | None) -> tuple[list[RawColumn], Source]:
    """The text columns of a CSV or TSV file, and the source description needed to write it back."""
    data, has_bom = decode_to_utf8(read_bytes(path), path, encoding)
    header_end = data.find(b"\n")
    newline = "\r\n" if header_end > 0 and data[header_end - 1 : header_end] == b"\r" else "\n"
    if header_end < 0 and b"\r" in data:
        newline = "\r"
    if delimiter is not None and (len(delimiter) != 1 or not delimiter.isascii() or delimiter in '"\r\n'):
        raise TableError(f"delimiter must be a single ASCII character, such as ';'. Got {delimiter!r}.")
    by_suffix = delimiter is None and ".tsv" in [suffix.lower() for suffix in path.suffixes]
    delimiter = "\t" if by_suffix else delimiter or _delimiter(data)
    encoding = "utf-8" if _is_utf8(encoding) else encoding
    source = Source("csv", "" if by_suffix else delimiter, newline, encoding, has_bom)
    names, cells = _first_lines(data, path, delimiter)
    if 1 < len(names) == len(cells) - 1:
        return _read_with_row_names(data, path, delimiter, names), source
    return _read_cells(data, path, delimiter, names), source


def _read_cells(data: bytes, path: Path, delimiter: str, names: list[str]) -> list[RawColumn]:
    quoted = b'"' in data
    if quoted and data.count(b'"') % 2:  # pyarrow would read the rest of the file as one cell
        _check_open_quote(data, path, delimiter)
    try:
        read = pyarrow.csv.read_csv(
            pa.BufferReader(data),
            # If an error ends the process while pyarrow's threads are starting, they can abort it.
            read_options=pyarrow.csv.ReadOptions(use_threads=len(data) > ARROW_BLOCK_BYTES),
            parse_options=pyarrow.csv.ParseOptions(delimiter=delimiter, newlines_in_values=quoted),
            convert_options=pyarrow.csv.ConvertOptions(
                column_types=dict.fromkeys(names, pa.string()), strings_can_be_null=False
            ),
        )
    except pa.ArrowInvalid as error:
        raise _parse_error(data, path, delimiter, names, error) from error
    if read.column_names != names:
        raise TableError(f"The header of '{path}' cannot be read. Check its quotes and its delimiter.")
    return [RawColumn(name, column) for name, column in zip(names, read.columns, strict=True)]


# Row names. R's write.csv and pandas' to_csv give their column an empty name, which pandas reads as "Unnamed: 0"; R's
# write.table gives it no cell in the header, so that this is one cell shorter than the rows.

ROW_NAMES = re.compile(r"(Unnamed: 0(\.[0-9]+)?)?")


def without_row_names(
    raws: list[RawColumn], path: Path, named: Collection[str]
) -> tuple[list[RawColumn], tuple[str, ...]]:
    """The columns without row names, and a warning if there were some; columns in ``named`` are kept."""
    first = 0
    while first < len(raws) - 1 and ROW_NAMES.fullmatch(raws[first].name.strip()) and raws[first].name not in named:
        if not _is_row_names(combine_chunks(raws[first].stored)):
            break
        first += 1
    if not first:
        return raws, ()
    which = "first column" if first == 1 else f"first {first} columns"
    return raws[first:], (
        f"The {which} of {path.name!r} only names or numbers the rows, as R and pandas write them, and is left out. "
        "Give a column that you want to keep another name.",
    )


def _is_row_names(text: Any) -> bool:
    """Whether texts differ in every row and are neither fractions nor dates."""
    if pc.count_distinct(text).as_py() < len(text) or pc.any(pc.equal(pc.utf8_trim_whitespace(text), "")).as_py():
        return False
    whole = pc.match_substring_regex(text, "^[0-9]+$")
    return bool(pc.all(whole).as_py() or (parse_numbers(text, None) is None and parse_timestamps(text, None) is None))


def _read_with_row_names(data: bytes, path: Path, delimiter: str, names: list[str]) -> list[RawColumn]:
    """The columns of a file whose header lacks a name for row names; refused if they could be anything else."""
    try:
        raws = _read_cells(delimiter.encode() + data.lstrip(b"\r\n"), path, delimiter, ["", *names])
    except TableError:
        raise _parse_error(data, path, delimiter, names) from None
    labels, last = combine_chunks(raws[0].stored), combine_chunks(raws[-1].stored)
    header_end = data.find(b"\n", len(data) - len(data.lstrip(b"\r\n")))
    quoted = data[header_end + 1 : header_end + 2] == b'"'
    numbers = not quoted and pc.any(pc.match_substring_regex(labels, "^[0-9]+$")).as_py()  # 1,5 cut at its comma?
    ends = pc.all(pc.equal(last, "")).as_py()  # delimiters at the ends of all rows
    if numbers or ends or not _is_row_names(labels):
        raise _parse_error(data, path, delimiter, names)
    return raws


def _delimiter(data: bytes) -> str:
    """A comma, unless the header has no comma but a semicolon, tab or vertical bar."""
    first = data[: data.find(b"\n") if b"\n" in data else None]
    if b"," in first:
        return ","
    return next((mark for mark in (";", "\t", "|") if mark.encode() in first), ",")


def _first_lines(data: bytes, path: Path, delimiter: str) -> tuple[list[str], list[str]]:
    """The cells of the header and of the first row."""
    head = data[: 2**20].decode(errors="surrogateescape").lstrip("\r\n")
    lines = csv.reader(io.StringIO(head, newline=""), delimiter=delimiter)
    try:
        names = next(lines, [])
    except csv.Error as error:
        raise TableError(f"The header of '{path}' cannot be read: {error}. Check its quotes.") from error
    if any("\udc80" <= char <= "\udcff" for name in names for char in name):
        raise not_utf8(path, _first_wrong_byte(data), data)
    try:
        return names, next((line for line in lines if line), [])
    except csv.Error:  # reading the rows will say more
        return names, []


def _first_wrong_byte(data: bytes) -> int:
    try:
        data.decode()
    except UnicodeDecodeError as error:
        return error.start
    return 0


def _check_open_quote(data: bytes, path: Path, delimiter: str) -> None:
    reader = csv.reader(io.StringIO(data.decode(errors="replace"), newline=""), delimiter=delimiter, strict=True)
    line = 1
    try:
        for _ in reader:
            line = reader.line_num + 1
    except csv.Error as error:
        if "unexpected end" in str(error):
            raise TableError(
                f"Line {line} of '{path}' opens a quote that is never closed. Close it, or double a literal quote."
            ) from error


def not_utf8(path: Path, byte: int, data: bytes) -> TableError:
    """The error about text in another encoding, with one that is likely."""
    # Windows writes cp1252 in Western Europe and America; the text consoles of DOS used the bytes it lacks for letters.
    likely = "cp850" if any(mark in data for mark in b"\x81\x8d\x8f\x90\x9d") else "cp1252"
    return TableError(f"'{path}' is not utf-8 text (byte {byte + 1}). Set the encoding, such as encoding={likely!r}.")


def _parse_error(
    data: bytes, path: Path, delimiter: str, names: list[str], error: Exception | None = None
) -> TableError:
    """Parse the file again with the slower csv module to find the line at fault."""
    try:
        text = data.decode()
    except UnicodeDecodeError as decode_error:
        return not_utf8(path, decode_error.start, data)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    line = 1
    try:
        for row in reader:
            if row and len(row) != len(names):
                found = "1 cell" if len(row) == 1 else f"{len(row)} cells"
                return TableError(
                    f"Line {line} of '{path}' has {found}, but the header has {len(names)}. "
                    f"Fix the line, or set delimiter=... to its delimiter."
                )
            line = reader.line_num + 1
    except csv.Error as csv_error:
        return TableError(f"Line {line} of '{path}' cannot be read: {csv_error}. Check its quotes.")
    reason = "" if error is None else f": {str(error).splitlines()[0]}"
    return TableError(f"'{path}' cannot be read{reason}. Check its quotes and its delimiter.")


def write_delimited(
    header: str | None, columns: list[Any], source: Source, target: Path, *, packed: bool = False, quotes: bool = True
) -> None:
    """Write text columns below a header. The caller is responsible for writing atomically."""
    with target.open("wb") as raw:
        if packed:
            # Neither name nor time in the gzip header: the same table gives the same bytes.
            with gzip.GzipFile(filename="", mode="wb", fileobj=raw, mtime=0, compresslevel=6) as out:
                _write(header or "", columns, source, cast(BinaryIO, out), quotes=quotes)
        else:
            _write(header or "", columns, source, raw, quotes=quotes)


def header_line(names: list[str], source: Source) -> str:
    """The header line of a CSV file."""
    texts: list[str] = _quote(pa.array(names, pa.string()), source.delimiter).to_pylist()
    return source.delimiter.join(texts) + source.newline


def _write(header: str, columns: list[Any], source: Source, out: BinaryIO, *, quotes: bool) -> None:
    recode = not _is_utf8(source.encoding)
    encoding = source.encoding
    if source.byte_order_mark and not recode:
        out.write(BOM)
    out.write(header.encode(encoding))
    if recode and encoding.lower().replace("-", "").replace("_", "") in ("utf16", "utf32"):
        encoding += "-le" if header.encode(encoding)[:1] == b"\xff" else "-be"  # only one byte order mark, at the start
    if not quotes:
        ready = columns
    else:
        ready = [_quote(column, source.delimiter) for column in columns]
        if len(ready) == 1:  # an empty line would be skipped on reading
            ready = [pc.if_else(pc.equal(plain_text(ready[0]), ""), '""', plain_text(ready[0]))]
    for start in range(0, len(columns[0]), BATCH_ROWS):
        batch = [plain_text(column.slice(start, BATCH_ROWS)).cast(pa.string()) for column in ready]
        batch[-1] = pc.binary_join_element_wise(batch[-1], "", source.newline)
        lines = pc.binary_join_element_wise(*batch, source.delimiter)
        data = _bytes(lines)
        out.write(bytes(data).decode().encode(encoding) if recode else data)


def _bytes(lines: Any) -> Any:
    """The concatenated bytes of a string array, without a copy."""
    width = np.int64 if pa.types.is_large_string(lines.type) else np.int32
    _, offsets, data = lines.buffers()
    ends = np.frombuffer(offsets, width)
    return data.slice(int(ends[lines.offset]), int(ends[lines.offset + len(lines)] - ends[lines.offset]))


def _quote(column: Any, delimiter: str) -> Any:
    """The column with quotes around the texts that need them; a dictionary-encoded column stays encoded."""
    if pa.types.is_dictionary(column.type):
        texts = _quote(column.dictionary, delimiter)
        return column if texts is column.dictionary else pa.DictionaryArray.from_arrays(column.indices, texts)
    assert is_text(column)
    if not has_byte(column, b'"\r\n' + delimiter.encode()):
        return column
    special = pc.match_substring_regex(column, '["\r\n' + ("\\" if delimiter in "|^]" else "") + delimiter + "]")
    inner = pc.replace_substring(column, '"', '""') if has_byte(column, b'"') else column
    quote, nothing = (pa.scalar(text, column.type) for text in ('"', ""))  # text of a frame may be large_string
    return pc.if_else(special, pc.binary_join_element_wise(quote, inner, quote, nothing), column)
