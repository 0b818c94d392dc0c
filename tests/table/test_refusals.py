"""Every way a table is refused: one line that says what is wrong, what was received and what to do.

`python -m tests.table.test_refusals` rewrites the golden messages, for a change that is meant to change them.
"""

import gzip
import json
import os
import re
import tempfile
from pathlib import Path

import pyarrow as pa
import pytest

from leafcover.errors import LeafcoverError, NameUnknown, OutputError, TableError
from leafcover.table.io import read, sample, write

GOLDEN = Path(__file__).parents[1] / "golden" / "table_refusals.json"

# What is wrong: the content, and what the message must name (a regular expression of figures and short terms).
CSV = {
    "empty file": (b"", "empty"),
    "only blank lines": (b"\n\n \n", "empty"),
    "header only": (b"a,b\n", "only a header"),
    "one row": (b"a,b\n1,2\n", "only 1 row"),
    "duplicate names": (b"a,b,a\n1,2,3\n4,5,6\n", "two .* 'a'"),
    "a name missing": (b"a,,c\n1,2,3\n3,4,5\n", "Column 2 .* no name"),
    "a first name missing": (b",b\n1,2\n1,4\n", "Column 1 .* no name"),
    "a first name missing over dates": (b",b\n2020-01-05,2\n2020-01-06,4\n", "Column 1 .* no name"),
    "a first name missing over fractions": (b",b\n0.5,2\n0.25,4\n", "Column 1 .* no name"),
    "a header without the last name": (b"a,b\n1,2,3\n2,4,5\n", "Line 2 .* 3 cells, .* 2"),
    "delimiters at the ends of rows": (b"a,b\nx,2,\ny,4,\n", "Line 2 .* 3 cells, .* 2"),
    "row names that repeat": (b'a,b\n"1",2,3\n"1",4,5\n', "Line 2 .* 3 cells, .* 2"),
    "decimal commas without quotes": (b"a,b\n1,5,3\n2,5,5\n", "Line 2 .* 3 cells, .* 2"),
    "a short row": (b"a,b\n1,2\n3\n4,5\n", "Line 3 .* 1 cell, .* 2"),
    "a long row": (b"a,b\n1,2\n3,4\n4,5,6\n", "Line 4 .* 3 cells, .* 2"),
    "a long row after quoted newlines": (b'a,b\n1,"x\ny"\n4,5,6\n', "Line 4 .* 3 cells"),
    "an unclosed quote": (b'a,b\n1,"2\n3,4\n', "Line 2 .* quote"),
    "an unclosed quote late": (b'a,b\n1,2\n3,"x\n5,6\n7,8\n', "Line 3 .* quote"),
    "infinity": (b"a,b\n1,2\ninf,3\n", "'a' .* infinite .* row 2"),
    "minus infinity": (b"a,b\n1,2\n4,-Infinity\n", "'b' .* infinite .* row 2"),
    "a number too large": (b"a,b\n1,2\n1e999,3\n", "'a' .* infinite .* row 2"),
    "latin-1 in a cell": ("a,b\n1,é\n2,x\n".encode("latin-1"), "not utf-8 .* encoding='cp1252'"),
    "latin-1 in the header": ("é,b\n1,y\n2,x\n".encode("latin-1"), "not utf-8 .* encoding='cp1252'"),
    "cp850 in a cell": ("a,b\n1,ü\n2,x\n".encode("cp850"), "not utf-8 .* encoding='cp850'"),
    "UTF-16 without a mark": ("a,b\n1,2\n3,4\n".encode("utf-16-le"), "encoding='utf-16-le'"),
    "UTF-16": ("a,b\n1,2\n3,4\n".encode("utf-16"), "encoding='utf-16'"),
    "NUL bytes": (b"a,b\n1,\x00\n3,4\n", "NUL bytes"),
    "binary rubbish": (bytes(range(256)) * 20, "not text|not utf-8"),
    "a picture": (b"\x89PNG\r\n\x1a\n" + b"\x01\x02\xff\xfe" * 50, "not text|not utf-8"),
}


@pytest.mark.parametrize("what", CSV)
def test_a_bad_csv_file_is_refused_in_one_line(what, tmp_path):
    content, term = CSV[what]
    (tmp_path / "in.csv").write_bytes(content)
    refused(tmp_path / "in.csv", term)


def refused(path, term, **how):
    with pytest.raises(TableError) as caught:
        read(path, **how)
    message = str(caught.value)
    assert "\n" not in message
    assert re.search(term, message), message
    assert message.endswith((".", "?"))


OTHERS = {
    "broken.parquet": (b"PAR1 and then nothing", "Parquet"),
    "empty.parquet": (b"", "Parquet"),
    "broken.arrow": (b"ARROW1 and then nothing", "Arrow"),
    "rubbish.feather": (b"what is this", "Arrow"),
    "empty.arrow": (b"", "Arrow"),
    "broken.csv.gz": (b"not packed at all", "gzip"),
    "cut.csv.gz": (gzip.compress(b"a,b\n1,2\n3,4\n" * 1000)[:40], "gzip"),
    "nodata.arff": (b"@relation x\n@attribute a numeric\n", "no @data"),
    "noattribute.arff": (b"@relation x\n@data\n1\n2\n", "no @attribute"),
    "odd.arff": (b"@relation x\nwhat?\n@data\n1\n2\n", "Line 2 .* ARFF"),
    "type.arff": (b"@attribute a relational\n@data\n1\n2\n", "Line 1 .* 'relational'"),
    "ragged.arff": (b"@attribute a numeric\n@data\n1\n2,3\n", "Line 4 .* 2 cells, .* 1 attributes"),
    "sparse.arff": (b"@attribute a numeric\n@data\n{0 1}\n{0 2}\n", "sparse"),
    "stray.arff": (b"@attribute a {x,y}\n@data\nx\nz\n", "'a' .* 'z' in row 2"),
    "text.arff": (b"@attribute a numeric\n@data\n1\nz\n", "'a' .* numeric, .* row 2 .* 'z'"),
    "empty.arff": (b"", "empty"),
    "alone.data": (b"1,a\n2,b\n", "no file .*alone.names"),
    "table.docx": (b"PK", "suffix '.docx'"),
    "table": (b"a,b\n", "no suffix"),
    "table.parquet.gz": (b"", "suffix '.parquet.gz'"),
}


@pytest.mark.parametrize("name", OTHERS)
def test_a_bad_file_of_another_format_is_refused_in_one_line(name, tmp_path):
    content, term = OTHERS[name]
    (tmp_path / name).write_bytes(content)
    refused(tmp_path / name, term)


def messages(folder):
    """The message of every refusal above, without those that quote another library."""
    found = {}
    for what, (content, _) in {**CSV, **OTHERS}.items():
        name = what if what in OTHERS else "in.csv"
        if name.endswith((".parquet", ".arrow", ".feather", ".gz")):
            continue
        (folder / name).write_bytes(content)
        with pytest.raises(TableError) as caught:
            read(folder / name)
        found[what] = str(caught.value).replace(f"{folder}{os.sep}", "")
    return found


def test_the_messages_are_the_golden_ones(tmp_path):
    assert messages(tmp_path) == json.loads(GOLDEN.read_text("utf-8"))


@pytest.mark.parametrize(
    ("names", "data", "term"),
    [
        ("", "1,a\n2,b\n", "empty"),
        ("a, b.\n", "1,a\n2,b\n", "no attributes"),
        ("a, b.\nx continuous.\n", "1,a\n2,b\n", "no ':' after"),
        ("a, b.\nx: continuous.\n", "1,a\n2,b,c\n", "Line 2 .* 3 values, .* 2"),
        ("a, b.\nx: continuous.\n", "1,a\nz,b\n", "'x' .* numeric, .* row 2 .* 'z'"),
        ("a, b.\nx: u, v.\n", "u,a\nw,b\n", "'x' .* 'w' in row 2"),
        ("a, b.\nx: continuous.\n", "1,a\n2,c\n", "'class' .* 'c' in row 2"),
        ("a, b.\nclass: continuous.\n", "1,a\n2,b\n", "two .* 'class'"),
    ],
)
def test_a_bad_c45_pair_is_refused_in_one_line(names, data, term, tmp_path):
    (tmp_path / "x.names").write_text(names)
    (tmp_path / "x.data").write_text(data)
    refused(tmp_path / "x.data", term)


def test_a_missing_file_and_a_directory_are_refused(tmp_path):
    refused(tmp_path / "nothing.csv", "no file")
    (tmp_path / "folder.csv").mkdir()
    refused(tmp_path / "folder.csv", "directory")


def test_an_unknown_encoding_is_refused(tmp_path):
    (tmp_path / "in.csv").write_bytes(b"a,b\n1,2\n3,4\n")
    refused(tmp_path / "in.csv", "encoding 'utf-9'", encoding="utf-9")
    (tmp_path / "in.csv").write_bytes(b"a,b\n1,\x81\n3,4\n")
    refused(tmp_path / "in.csv", "not cp1252", encoding="cp1252")


@pytest.mark.parametrize(
    "how",
    [{"category": ["alcool"]}, {"drop": ["alcool"]}, {"missing": {"alcool": []}}, {"roles": {"alcool": "unit"}}],
)
def test_an_unknown_column_is_refused_with_the_nearest_name(how):
    with pytest.raises(NameUnknown, match="'alcohol'\\?"):
        read(sample("wine"), **how)


@pytest.mark.parametrize("delimiter", ["", "ab", "\n", '"', "é"])
def test_a_delimiter_must_be_one_character(delimiter):
    refused(sample("wine"), "delimiter .* single", delimiter=delimiter)


def test_dropping_every_column_is_refused(tmp_path):
    (tmp_path / "in.csv").write_bytes(b"a\n1\n2\n")
    refused(tmp_path / "in.csv", "[Nn]o columns", drop=["a"])


@pytest.mark.parametrize(
    "kind", [pa.list_(pa.int64()), pa.struct([("x", pa.int64())]), pa.map_(pa.string(), pa.int64())]
)
def test_nested_columns_are_refused(kind, tmp_path):
    import pyarrow.parquet

    pyarrow.parquet.write_table(
        pa.table({"n": pa.array([None, []], kind) if pa.types.is_list(kind) else pa.nulls(2, kind), "a": [1, 2]}),
        tmp_path / "in.parquet",
    )
    refused(tmp_path / "in.parquet", "'n' .* nested")


def test_bytes_are_refused(tmp_path):
    import pyarrow.parquet

    pyarrow.parquet.write_table(pa.table({"n": [b"\xff", b"x"]}), tmp_path / "in.parquet")
    refused(tmp_path / "in.parquet", "'n' .* binary")


def test_typed_infinities_are_refused(tmp_path):
    import pyarrow.parquet

    pyarrow.parquet.write_table(pa.table({"n": [1.0, float("-inf")]}), tmp_path / "in.parquet")
    refused(tmp_path / "in.parquet", "'n' .* infinite .* row 2")


def test_an_output_with_an_unknown_suffix_is_refused(tmp_path):
    with pytest.raises(OutputError, match=r"'\.docx'"):
        write(read(sample("wine")), tmp_path / "out.docx")


def test_c45_output_needs_a_class(tmp_path):
    with pytest.raises(OutputError, match="'class'"):
        write(read(sample("boston")), tmp_path / "out.data")
    assert list(tmp_path.iterdir()) == []


def test_every_refusal_is_a_leafcover_error():
    assert issubclass(TableError, LeafcoverError)
    assert TableError.exit_code == 1


@pytest.mark.parametrize("content", [b"a,b\n1,x\n2,y\n", b"a\n1\n2\n"])
def test_two_rows_and_one_column_are_enough(content, tmp_path):
    (tmp_path / "in.csv").write_bytes(content)
    assert len(read(tmp_path / "in.csv")) == 2


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        GOLDEN.write_text(json.dumps(messages(Path(folder)), indent=1, ensure_ascii=False) + "\n", "utf-8")
