"""Whatever the bytes: a table or one of our own errors, never a traceback from below."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from leafcover.errors import LeafcoverError
from leafcover.table.io import read, write

anywhere = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=100)
pieces = st.sampled_from(
    [b"a", b"1", b"-", b".", b",", b";", b"\n", b"\r\n", b"\r", b'"', b"'", b" ", b"\t", b"|", b"\\", b"?", b"NA",
     b"1e5", b"inf", b"\xff", b"\xc3\xa9", b"\xef\xbb\xbf", b"\0", b"{", b"}", b"%", b"@data\n",
     b"@attribute a numeric\n", b"@attribute b {x,y}\n", b"@relation r\n", b":", b"1970-01-01", b"1,000", b"00"]
)  # fmt: skip


@pytest.mark.parametrize("name", ["in.csv", "in.tsv", "in.arff", "in.data"])
@given(content=st.lists(pieces, max_size=40).map(b"".join))
@anywhere
def test_bytes_are_a_table_or_refused(name, content, tmp_path):
    (tmp_path / "in.names").write_text("x, y.\na: continuous.\nb: u, v.\n")
    (tmp_path / name).write_bytes(content)
    try:
        table = read(tmp_path / name)
    except LeafcoverError as error:
        said = str(error)
    else:
        said = ""
        write(table, tmp_path / "out.csv", force=True)
        write(table, tmp_path / "out.parquet", force=True)
    assert "\n" not in said


@pytest.mark.parametrize("name", ["in.parquet", "in.arrow"])
@given(content=st.binary(max_size=200), start=st.sampled_from([b"", b"PAR1", b"ARROW1\0\0", b"FEA1"]))
@anywhere
def test_binary_files_are_refused(name, content, start, tmp_path):
    (tmp_path / name).write_bytes(start + content + start)
    with pytest.raises(LeafcoverError):
        read(tmp_path / name)
