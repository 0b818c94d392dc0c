"""CSV and TSV: what comes in goes out, byte for byte where nothing needs quotes."""

import csv
import gzip
import io

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

from leafcover.errors import TableError
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


# Row names, as R and pandas write them, are no column; what could be anything else is kept or refused.

ROW_NAMES = {
    "R's write.csv": '"","age","job"\n"1",31,"b"\n"2",4,"a"\n"3",4,"a"\n',
    "R's write.csv of some rows": '"","age","job"\n"17",31,"b"\n"2",4,"a"\n"30",4,"a"\n',
    "R's write.csv with names": '"","age","job"\n"Wien",31,"b"\n"Linz",4,"a"\n"Graz",4,"a"\n',
    "R's write.csv2": '"";"age";"job"\n"1";31;"b"\n"2";4;"a"\n"3";4;"a"\n',
    "R's write.table": '"age","job"\n"1",31,"b"\n"2",4,"a"\n"3",4,"a"\n',
    "R's write.table with names": "age\tjob\nWien\t31\tb\nLinz\t4\ta\nGraz\t4\ta\n",
    "pandas": ",age,job\n0,31,b\n1,4,a\n2,4,a\n",
    "pandas, read and written again": ",Unnamed: 0,age,job\n0,0,31,b\n1,1,4,a\n2,2,4,a\n",
    "pandas, read again": "Unnamed: 0.1,Unnamed: 0,age,job\r\n0,0,31,b\r\n1,1,4,a\r\n2,2,4,a\r\n",
}


@pytest.mark.parametrize("mark", ["", "\ufeff"])
@pytest.mark.parametrize("program", ROW_NAMES)
def test_row_names_are_left_out_with_a_warning(program, mark, tmp_path):
    (tmp_path / "in.csv").write_bytes((mark + ROW_NAMES[program]).encode())
    table = read(tmp_path / "in.csv")
    assert table.names == ("age", "job")
    assert table["age"].values.tolist() == [31, 4, 4]
    assert table["job"].levels == ("a", "b")
    assert len(table.warnings) == 1
    write(table, tmp_path / "out.csv")
    assert read(tmp_path / "out.csv").warnings == ()


@pytest.mark.parametrize(
    ("content", "how", "first"),
    [
        ("Unnamed: 0,a\n1,x\n1,y\n", {}, "Unnamed: 0"),  # not row names: they repeat
        ("Unnamed: 0,a\n1,x\n2,y\n", {"roles": {"Unnamed: 0": "identifier"}}, "Unnamed: 0"),
        ("Unnamed: 0,a\n1,x\n2,y\n", {"drop": ["Unnamed: 0"]}, "a"),
        ("Unnamed: 0\n1\n2\n", {}, "Unnamed: 0"),  # nothing else would be left
        ("X,a\n1,x\n2,y\n", {}, "X"),
        ("id,a\n1,x\n2,y\n", {}, "id"),
    ],
)
def test_a_first_column_with_a_name_or_a_use_is_kept(content, how, first, tmp_path):
    (tmp_path / "in.csv").write_text(content)
    table = read(tmp_path / "in.csv", **how)
    assert table.names[0] == first
    assert table.warnings == ()


# Files as offices have them: each is read right, or refused in one line that says how to read it.


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("delimiter", [";", "\t", "|", ","])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "cp1252", "utf-16"])
def test_an_office_file_is_read_right_and_written_back(encoding, delimiter, newline, tmp_path):
    rows = [["Straße", "Gehalt", "Stand"], ["Hügel 1", "1.234,50", "05.01.2020"], ["Tor €", "908,25", "31.12.2019"]]
    text = as_csv(rows[0], rows[1:], delimiter=delimiter).replace("\n", newline)
    (tmp_path / "in.csv").write_bytes(text.encode(encoding))
    how = {} if encoding.startswith("utf-8") else {"encoding": encoding}
    if how:
        with pytest.raises(TableError, match=f"encoding='{encoding}'"):
            read(tmp_path / "in.csv")
    table = read(tmp_path / "in.csv", **how)
    assert [column.kind for column in table] == ["category", "number", "date"]
    assert table["Gehalt"].values.tolist() == [1234.5, 908.25]
    write(table, tmp_path / "out.csv")
    assert (tmp_path / "out.csv").read_bytes() == (tmp_path / "in.csv").read_bytes()
