"""Every way a table is refused: one line that says what, what it got and what to do."""

import gzip
import re

import pyarrow as pa
import pytest

from leafcover.errors import LeafcoverError, NameUnknown, OutputError, TableError
from leafcover.table.io import read, sample, write

CSV = {
    "empty file": (b"", "is empty"),
    "only blank lines": (b"\n\n \n", "is empty"),
    "header only": (b"a,b\n", "only a header"),
    "one row": (b"a,b\n1,2\n", "only 1 row"),
    "duplicate names": (b"a,b,a\n1,2,3\n4,5,6\n", "two columns called 'a'"),
    "a name missing": (b",b\n1,2\n3,4\n", "Column 1 .* has no name"),
    "a short row": (b"a,b\n1,2\n3\n4,5\n", "Line 3 .* has 1 cell, but the header has 2"),
    "a long row": (b"a,b\n1,2\n3,4\n4,5,6\n", "Line 4 .* has 3 cells, but the header has 2"),
    "a long row after quoted newlines": (b'a,b\n1,"x\ny"\n4,5,6\n', "Line 4 .* has 3 cells"),
    "an unclosed quote": (b'a,b\n1,"2\n3,4\n', "Line 2 .* never closed"),
    "an unclosed quote late": (b'a,b\n1,2\n3,"x\n5,6\n7,8\n', "Line 3 .* never closed"),
    "infinity": (b"a,b\n1,2\ninf,3\n", "'a' holds an infinite number in row 2"),
    "minus infinity": (b"a,b\n1,2\n4,-Infinity\n", "'b' holds an infinite number in row 2"),
    "a number too large": (b"a,b\n1,2\n1e999,3\n", "'a' holds an infinite number in row 2"),
    "latin-1 in a cell": ("a,b\n1,é\n2,x\n".encode("latin-1"), "not utf-8 text .* --encoding"),
    "latin-1 in the header": ("é,b\n1,y\n2,x\n".encode("latin-1"), "not utf-8 text .* --encoding"),
    "UTF-16": ("a,b\n1,2\n3,4\n".encode("utf-16"), "--encoding utf-16"),
    "NUL bytes": (b"a,b\n1,\x00\n3,4\n", "NUL bytes"),
    "binary rubbish": (bytes(range(256)) * 20, "not text|not utf-8"),
    "a picture": (b"\x89PNG\r\n\x1a\n" + b"\x01\x02\xff\xfe" * 50, "not text|not utf-8"),
}


@pytest.mark.parametrize("what", CSV)
def test_a_bad_csv_file_is_refused_in_one_line(what, tmp_path):
    content, said = CSV[what]
    (tmp_path / "in.csv").write_bytes(content)
    refused(tmp_path / "in.csv", said)


def refused(path, said, **how):
    with pytest.raises(TableError) as caught:
        read(path, **how)
    message = str(caught.value)
    assert "\n" not in message
    assert re.search(said, message), message
    assert message.endswith((".", "?"))


OTHERS = {
    "broken.parquet": (b"PAR1 and then nothing", "not a whole Parquet file"),
    "empty.parquet": (b"", "not a whole Parquet file"),
    "broken.arrow": (b"ARROW1 and then nothing", "not a whole Arrow file"),
    "rubbish.feather": (b"what is this", "not a whole Arrow file"),
    "empty.arrow": (b"", "not a whole Arrow file"),
    "broken.csv.gz": (b"not packed at all", "gzip"),
    "cut.csv.gz": (gzip.compress(b"a,b\n1,2\n3,4\n" * 1000)[:40], "gzip"),
    "nodata.arff": (b"@relation x\n@attribute a numeric\n", "no @data"),
    "noattribute.arff": (b"@relation x\n@data\n1\n2\n", "no @attribute"),
    "odd.arff": (b"@relation x\nwhat?\n@data\n1\n2\n", "Line 2 .* no ARFF declaration"),
    "type.arff": (b"@attribute a relational\n@data\n1\n2\n", "Line 1 .* 'relational'"),
    "ragged.arff": (b"@attribute a numeric\n@data\n1\n2,3\n", "Line 4 .* 2 cells, but 1 attributes"),
    "sparse.arff": (b"@attribute a numeric\n@data\n{0 1}\n{0 2}\n", "sparse"),
    "stray.arff": (b"@attribute a {x,y}\n@data\nx\nz\n", "'a' holds 'z' in row 2"),
    "text.arff": (b"@attribute a numeric\n@data\n1\nz\n", "'a' is declared a number, but row 2 holds 'z'"),
    "empty.arff": (b"", "is empty"),
    "alone.data": (b"1,a\n2,b\n", "no file .*alone.names"),
    "table.xlsx": (b"PK", "the suffix '.xlsx'"),
    "table": (b"a,b\n", "no suffix"),
    "table.parquet.gz": (b"", "the suffix '.parquet.gz'"),
}


@pytest.mark.parametrize("name", OTHERS)
def test_a_bad_file_of_another_format_is_refused_in_one_line(name, tmp_path):
    content, said = OTHERS[name]
    (tmp_path / name).write_bytes(content)
    refused(tmp_path / name, said)


@pytest.mark.parametrize(
    ("names", "data", "said"),
    [
        ("", "1,a\n2,b\n", "is empty"),
        ("a, b.\n", "1,a\n2,b\n", "declares no attribute"),
        ("a, b.\nx continuous.\n", "1,a\n2,b\n", "no ':' after"),
        ("a, b.\nx: continuous.\n", "1,a\n2,b,c\n", "Line 2 .* 3 values, but the .names file declares 2"),
        ("a, b.\nx: continuous.\n", "1,a\nz,b\n", "'x' is declared a number, but row 2 holds 'z'"),
        ("a, b.\nx: u, v.\n", "u,a\nw,b\n", "'x' holds 'w' in row 2"),
        ("a, b.\nx: continuous.\n", "1,a\n2,c\n", "'class' holds 'c' in row 2"),
        ("a, b.\nclass: continuous.\n", "1,a\n2,b\n", "two columns called 'class'"),
    ],
)
def test_a_bad_c45_pair_is_refused_in_one_line(names, data, said, tmp_path):
    (tmp_path / "x.names").write_text(names)
    (tmp_path / "x.data").write_text(data)
    refused(tmp_path / "x.data", said)


def test_a_missing_file_and_a_directory_are_refused(tmp_path):
    refused(tmp_path / "nothing.csv", "There is no file")
    (tmp_path / "folder.csv").mkdir()
    refused(tmp_path / "folder.csv", "is a directory")


def test_an_unknown_encoding_is_refused(tmp_path):
    (tmp_path / "in.csv").write_bytes(b"a,b\n1,2\n3,4\n")
    refused(tmp_path / "in.csv", "no encoding 'utf-9'", encoding="utf-9")
    (tmp_path / "in.csv").write_bytes(b"a,b\n1,\x81\n3,4\n")
    refused(tmp_path / "in.csv", "not cp1252 text", encoding="cp1252")


@pytest.mark.parametrize(
    "how", [{"category": ["alcool"]}, {"drop": ["alcool"]}, {"missing": {"alcool": []}}, {"roles": {"alcool": "key"}}]
)
def test_an_unknown_column_is_refused_with_the_nearest_name(how):
    with pytest.raises(NameUnknown, match="Did you mean 'alcohol'"):
        read(sample("wine"), **how)


@pytest.mark.parametrize("delimiter", ["", "ab", "\n", '"', "é"])
def test_a_delimiter_that_is_none_is_refused(delimiter):
    refused(sample("wine"), "one plain character", delimiter=delimiter)


def test_dropping_every_column_is_refused(tmp_path):
    (tmp_path / "in.csv").write_bytes(b"a\n1\n2\n")
    refused(tmp_path / "in.csv", "no column left", drop=["a"])


@pytest.mark.parametrize(
    "kind", [pa.list_(pa.int64()), pa.struct([("x", pa.int64())]), pa.map_(pa.string(), pa.int64())]
)
def test_nested_columns_are_refused(kind, tmp_path):
    import pyarrow.parquet

    pyarrow.parquet.write_table(
        pa.table({"n": pa.array([None, []], kind) if pa.types.is_list(kind) else pa.nulls(2, kind), "a": [1, 2]}),
        tmp_path / "in.parquet",
    )
    refused(tmp_path / "in.parquet", "'n' is nested")


def test_bytes_are_refused(tmp_path):
    import pyarrow.parquet

    pyarrow.parquet.write_table(pa.table({"n": [b"\xff", b"x"]}), tmp_path / "in.parquet")
    refused(tmp_path / "in.parquet", "'n' has type binary")


def test_typed_infinities_are_refused(tmp_path):
    import pyarrow.parquet

    pyarrow.parquet.write_table(pa.table({"n": [1.0, float("-inf")]}), tmp_path / "in.parquet")
    refused(tmp_path / "in.parquet", "'n' holds an infinite number in row 2")


def test_an_output_with_an_unknown_suffix_is_refused(tmp_path):
    with pytest.raises(OutputError, match=r"'\.xlsx'"):
        write(read(sample("wine")), tmp_path / "out.xlsx")


def test_c45_output_needs_a_class(tmp_path):
    with pytest.raises(OutputError, match="category called 'class'"):
        write(read(sample("boston")), tmp_path / "out.data")
    assert list(tmp_path.iterdir()) == []


def test_every_refusal_is_a_leafcover_error():
    assert issubclass(TableError, LeafcoverError)
    assert TableError.exit_code == 1


@pytest.mark.parametrize("content", [b"a,b\n1,x\n2,y\n", b"a\n1\n2\n"])
def test_two_rows_and_one_column_are_enough(content, tmp_path):
    (tmp_path / "in.csv").write_bytes(content)
    assert len(read(tmp_path / "in.csv")) == 2
