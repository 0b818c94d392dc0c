"""CSV and TSV: what comes in goes out, byte for byte where nothing needs quotes."""

import csv
import gzip
import io

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

from leafcover.table.io import SAMPLES, read, sample, write
from tests.table.strategies import text_tables

anywhere = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)


def as_csv(header, rows, **how):
    out = io.StringIO(newline="")
    writer = csv.writer(out, lineterminator="\n", **how)
    writer.writerow(header)
    writer.writerows(rows)
    return out.getvalue()


def cells_of(path):
    return list(csv.reader(io.StringIO(path.read_bytes().decode(), newline="")))


@given(table=text_tables())
@anywhere
def test_writing_what_was_read_keeps_header_order_and_every_text(table, tmp_path):
    header, rows = table
    (tmp_path / "in.csv").write_bytes(as_csv(header, rows, quoting=csv.QUOTE_ALL).encode())
    write(read(tmp_path / "in.csv", delimiter=","), tmp_path / "out.csv", force=True)
    assert cells_of(tmp_path / "out.csv") == [header, *rows]


@given(table=text_tables())
@anywhere
def test_what_was_written_reads_the_same(table, tmp_path):
    header, rows = table
    (tmp_path / "in.csv").write_bytes(as_csv(header, rows, quoting=csv.QUOTE_ALL).encode())
    first = read(tmp_path / "in.csv", delimiter=",")
    write(first, tmp_path / "out.csv", force=True)
    second = read(tmp_path / "out.csv", delimiter=",")
    assert first.names == second.names
    assert first.warnings == second.warnings
    for one, other in zip(first, second, strict=True):
        assert (one.kind, one.levels, one.grid, one.text_format) == (
            other.kind,
            other.levels,
            other.grid,
            other.text_format,
        )
        np.testing.assert_array_equal(one.values, other.values)


@pytest.mark.parametrize("name", SAMPLES)
def test_a_shipped_table_comes_out_byte_for_byte(name, tmp_path):
    path = sample(name)
    out = tmp_path / path.name
    write(read(path), out)
    unpack = gzip.decompress if path.suffix == ".gz" else bytes
    assert unpack(out.read_bytes()) == unpack(path.read_bytes())


@pytest.mark.parametrize(
    "name", ["laeken_eusilc.csv", "credit_approval.csv", "nursery.csv", "casc_census.csv", "pima_diabetes.csv"]
)
def test_a_shared_table_comes_out_byte_for_byte(name, shared, tmp_path):
    write(read(shared(name)), tmp_path / "out.csv")
    assert (tmp_path / "out.csv").read_bytes() == shared(name).read_bytes()


@pytest.mark.parametrize(
    "content",
    [
        b"\xef\xbb\xbfa,b\n1,x\n2,y\n",  # byte order mark
        b"a,b\r\n1,x\r\n2,y\r\n",  # Windows line ends
        b'a,b\n1,"two\nlines"\n2,y\n',  # a newline that belongs to its cell
        b'a,b\n1,"say ""x"""\n2,"a,b"\n',
        b"a;b\n1;x,y\n2;z\n",
        b"a\tb\n1\tx\n2\ty\n",
        b"a|b\n1|x\n2|y\n",
        b'a\n""\n1\n',  # one column with an empty cell
        b"a,b\n1,\n?,NA\n",
        b'"a ""1""",b\n1,x\n2,y\n',
    ],
)
def test_what_is_special_about_a_file_is_written_back(content, tmp_path):
    (tmp_path / "in.csv").write_bytes(content)
    write(read(tmp_path / "in.csv"), tmp_path / "out.csv")
    assert (tmp_path / "out.csv").read_bytes() == content


def test_a_last_line_without_an_end_gets_one(tmp_path):
    (tmp_path / "in.csv").write_bytes(b"a,b\n1,x\n2,y")
    write(read(tmp_path / "in.csv"), tmp_path / "out.csv")
    assert (tmp_path / "out.csv").read_bytes() == b"a,b\n1,x\n2,y\n"


def test_empty_lines_are_skipped(tmp_path):
    (tmp_path / "in.csv").write_bytes(b"a,b\n1,x\n\n2,y\n\n")
    assert len(read(tmp_path / "in.csv")) == 2


@pytest.mark.parametrize("encoding", ["latin-1", "cp1252", "utf-16", "utf-8-sig"])
def test_another_encoding_is_read_and_written_back(encoding, tmp_path):
    content = "town,n\nZürich,1\nMünchen,2\n".encode(encoding)
    (tmp_path / "in.csv").write_bytes(content)
    table = read(tmp_path / "in.csv", encoding=encoding)
    assert table["town"].levels == ("München", "Zürich")
    write(table, tmp_path / "out.csv")
    assert (tmp_path / "out.csv").read_bytes() == content


def test_tsv_and_gzip_go_by_their_suffix(tmp_path):
    (tmp_path / "in.tsv").write_bytes(b"a,1\tb\n1\tx\n2\ty\n")
    table = read(tmp_path / "in.tsv")
    assert table.names == ("a,1", "b")
    write(table, tmp_path / "out.csv.gz")
    assert gzip.decompress((tmp_path / "out.csv.gz").read_bytes()) == b'"a,1",b\n1,x\n2,y\n'
    assert read(tmp_path / "out.csv.gz").names == table.names


def test_the_same_table_packs_to_the_same_bytes(tmp_path):
    table = read(sample("wine"))
    write(table, tmp_path / "one.csv.gz")
    write(table, tmp_path / "two.csv.gz")
    assert (tmp_path / "one.csv.gz").read_bytes() == (tmp_path / "two.csv.gz").read_bytes()


def test_more_rows_than_one_block_are_written_in_order(tmp_path):
    text = "n,m\n" + "".join(f"{i},{i % 7}\n" for i in range(150_000))
    (tmp_path / "in.csv").write_text(text)
    write(read(tmp_path / "in.csv"), tmp_path / "out.csv")
    assert (tmp_path / "out.csv").read_text() == text
