"""Where results go: devices, standard output, links, places without a right to write."""

import errno
import json
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from leafcover.errors import OutputError
from leafcover.table.atomic import atomic_write
from tests.cli.helpers import leafcover, refused, rows_of

unix = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such files.")
FULL = pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full, a disk that is always full")


@pytest.fixture
def good(tmp_path):
    path = tmp_path / "in.csv"
    path.write_text(rows_of())
    return path


def names_in(folder):
    return sorted(path.name for path in folder.iterdir())


@unix
@pytest.mark.parametrize(
    "words",
    [
        ("release", "-o", "pipe.csv", "--target", "class"),
        ("release", "-o", "out.csv", "--target", "class", "--report", "pipe.html"),
        ("release", "-o", "out.csv", "--target", "class", "--key-file", "pipe.csv"),
        ("measure", "in.csv", "--json", "pipe.csv"),
        ("measure", "in.csv", "--report", "pipe.html"),
        ("sweep", "--target", "class", "--scores", "pipe.csv"),
        ("sweep", "--target", "class", "--report", "pipe.html"),
    ],
)
def test_what_is_no_file_is_never_replaced(good, tmp_path, monkeypatch, words):
    monkeypatch.chdir(tmp_path)
    for name in ("pipe.csv", "pipe.html"):
        os.mkfifo(name)
    before = names_in(tmp_path)
    assert "is a device or a pipe" in refused(
        words[0], good, *words[1:], *([] if "--key-file" in words else ["--force"])
    )
    assert all(stat.S_ISFIFO(Path(name).stat().st_mode) for name in ("pipe.csv", "pipe.html"))
    assert names_in(tmp_path) == before


@unix
def test_a_device_stays_a_device():
    for name in ("/dev/null", "/dev/stdout"):
        with pytest.raises(OutputError, match="device or a pipe"), atomic_write(name, force=True):
            pass


@unix
def test_a_link_stays_a_link_and_its_file_is_replaced(tmp_path):
    (tmp_path / "real").write_text("old")
    (tmp_path / "link").symlink_to("real")
    with atomic_write(tmp_path / "link", force=True) as part:
        part.write_text("new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_text() == "new"


@pytest.mark.parametrize(
    "words",
    [
        ("release", "-o", "-", "--target", "class"),
        ("release", "-o", "out.csv", "--target", "class", "--report", "-"),
        ("release", "-o", "out.csv", "--target", "class", "--key-file", "-"),
        ("sweep", "--target", "class", "--scores", "-"),
        ("measure", "in.csv", "--report", "-"),
    ],
)
def test_no_file_is_called_minus(good, tmp_path, monkeypatch, words):
    monkeypatch.chdir(tmp_path)
    refused(words[0], good, *words[1:])
    assert names_in(tmp_path) == ["in.csv"]


def test_figures_can_go_to_standard_output_alone(good, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = leafcover("measure", good, good, "--target", "class", "--json", "-")
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["target"] == "class"
    assert names_in(tmp_path) == ["in.csv"]


@pytest.mark.parametrize(
    ("number", "advice"),
    [
        (errno.ENOSPC, "Free some space or choose another path."),
        (errno.EACCES, "Choose a directory where you may write."),
        (errno.EROFS, "Choose a directory where you may write."),
        (errno.ENAMETOOLONG, "Choose another path."),
    ],
)
def test_the_advice_fits_what_is_wrong(tmp_path, monkeypatch, number, advice):
    def fail(*words):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, "open", fail)
    with pytest.raises(OutputError) as caught, atomic_write(tmp_path / "out"):
        pass
    assert str(caught.value).endswith(f"{os.strerror(number)}. {advice}")


@FULL
@pytest.mark.parametrize("words", [["recipes"], ["--help"], ["inspect", "in.csv"], ["inspect", "in.csv", "--json"]])
def test_a_full_standard_output_is_one_line(good, words):
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [sys.executable, "-m", "leafcover", *words],
            stdout=full, stderr=subprocess.PIPE, text=True, check=False, cwd=good.parent,
        )  # fmt: skip
    assert done.returncode == 1
    assert done.stderr.startswith("error: ")
    assert "standard output: No space left on device" in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_closed_standard_output_is_no_mistake(good):
    shell = f"{sys.executable} -m leafcover recipes >&-"
    done = subprocess.run(["sh", "-c", shell], stderr=subprocess.PIPE, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_file_that_may_not_be_read_is_a_mistake_like_one_that_is_missing(good, tmp_path, monkeypatch):
    monkeypatch.setattr(os, "access", lambda *words, **given: False)  # the tests may run as somebody who may read all

    def denied(*words, **given):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

    monkeypatch.setattr("leafcover.table.io._read_raw", denied)
    for words in (["inspect", good], ["tree", good, "--target", "class"], ["measure", good, good]):
        assert "Permission denied" in refused(*words)
