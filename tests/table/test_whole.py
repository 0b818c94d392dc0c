"""An output appears complete or not at all."""

import errno
import os
import signal
import stat
import subprocess
import sys

import pytest

from leafcover.errors import OutputError
from leafcover.table.atomic import atomic_write

unix = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such modes and limits.")


def test_a_file_appears_when_the_block_ends_well(tmp_path):
    with atomic_write(tmp_path / "out.txt") as temporary:
        temporary.write_text("done")
        assert not (tmp_path / "out.txt").exists()
    assert (tmp_path / "out.txt").read_text() == "done"
    assert [path.name for path in tmp_path.iterdir()] == ["out.txt"]


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_nothing_appears_when_the_block_fails(error, tmp_path):
    def fail():
        with atomic_write(tmp_path / "out.txt") as temporary:
            temporary.write_text("half")
            raise error

    with pytest.raises(error):
        fail()
    assert list(tmp_path.iterdir()) == []


def test_an_existing_output_needs_force(tmp_path):
    (tmp_path / "out.txt").write_text("old")
    with (
        pytest.raises(OutputError, match=r"exists.*force=True"),
        atomic_write(tmp_path / "out.txt"),
    ):
        pass
    assert (tmp_path / "out.txt").read_text() == "old"
    with atomic_write(tmp_path / "out.txt", force=True) as temporary:
        temporary.write_text("new")
    assert (tmp_path / "out.txt").read_text() == "new"


def test_an_output_that_appears_meanwhile_is_not_overwritten(tmp_path):
    def race():
        with atomic_write(tmp_path / "out.txt") as temporary:
            temporary.write_text("ours")
            (tmp_path / "out.txt").write_text("theirs")

    with pytest.raises(OutputError, match="exists"):
        race()
    assert (tmp_path / "out.txt").read_text() == "theirs"


def test_a_directory_that_is_missing_or_in_the_way_is_named(tmp_path):
    with pytest.raises(OutputError, match="directory"), atomic_write(tmp_path / "no" / "out.txt"):
        pass
    (tmp_path / "folder").mkdir()
    with pytest.raises(OutputError, match="directory"), atomic_write(tmp_path / "folder", force=True):
        pass


@unix
def test_private_means_0600_from_the_first_byte(tmp_path):
    with atomic_write(tmp_path / "secret", private=True) as temporary:
        assert stat.S_IMODE(temporary.stat().st_mode) == 0o600
        temporary.write_text("x")
    assert stat.S_IMODE((tmp_path / "secret").stat().st_mode) == 0o600


def test_a_full_disk_is_one_line_and_leaves_nothing(tmp_path, monkeypatch):
    def full(handle):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with (
        pytest.raises(OutputError, match=os.strerror(errno.ENOSPC)) as caught,
        atomic_write(tmp_path / "out.txt") as temporary,
    ):
        temporary.write_text("x")
    assert "\n" not in str(caught.value)
    assert list(tmp_path.iterdir()) == []


LIMITED = """
import resource, sys
from leafcover.errors import OutputError
from leafcover.table.io import read, write
from leafcover.table.io import sample
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
try:
    write(read(sample("wine")), sys.argv[1])
except OutputError as error:
    print(error)
"""


@unix
@pytest.mark.parametrize("name", ["out.csv", "out.parquet", "out.arrow", "out.csv.gz", "out.arff"])
def test_a_table_that_does_not_fit_leaves_nothing(name, tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", LIMITED, str(tmp_path / name)], capture_output=True, text=True, check=True
    )
    assert str(tmp_path / name) in done.stdout
    assert "space" in done.stdout
    assert list(tmp_path.iterdir()) == []


SLOW = """
import sys, time
from leafcover.table.atomic import atomic_write
with atomic_write(sys.argv[1]) as temporary:
    temporary.write_text("half")
    print("writing", flush=True)
    time.sleep(60)
"""


@unix
def test_a_kill_during_writing_leaves_no_output(tmp_path):
    with subprocess.Popen(
        [sys.executable, "-c", SLOW, str(tmp_path / "out.csv")], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout.readline() == "writing\n"
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert not (tmp_path / "out.csv").exists()
