"""Ctrl-C ends with exit code 130 and one line, whenever it comes and whoever catches it on the way."""

import json
import os
import signal
import subprocess
import sys

import pytest

import leafcover.api  # before a test replaces what it imports
from leafcover.messages import catalogue
from tests.cli.helpers import leafcover, rows_of

pytestmark = [
    pytest.mark.skipif(sys.platform == "win32", reason="Windows sends no SIGINT to a process."),
    pytest.mark.usefixtures("compiled"),
]

PRESS = "os.kill(os.getpid(), signal.SIGINT)"

# Each is run before the command and presses Ctrl-C at one moment of it, so that nothing has to be waited for.
LOADING = """
class Finder:
    def find_spec(self, name, *rest):
        if name == "typer":
            sys.meta_path.remove(self)
            {press}
sys.meta_path.insert(0, Finder())
"""
MOMENTS = {
    "while the first table is read": """
from leafcover.table import io as files
def read(*words, **given):
    {press}
files.read = read
""",
    "and it is lost in a callback": """
import weakref
from leafcover.table import io as files
real = files.read
class Thing: pass
def press(_): {press}
def read(*words, **given):
    thing = Thing()
    kept = weakref.ref(thing, press)
    del thing  # Python can only report what the callback raises
    return real(*words, **given)
files.read = read
""",
    "and compiled code makes another error of it": """
from leafcover.table import io as files
def read(*words, **given):
    try:
        {press}
    except KeyboardInterrupt:
        raise SystemError("<built-in> returned a result with an exception set") from None
files.read = read
""",
    "and somebody turns it into a mistake of the user's": """
from leafcover.errors import TableError
from leafcover.table import io as files
def read(*words, **given):
    try:
        {press}
    except KeyboardInterrupt:
        raise TableError("no") from None
files.read = read
""",
    "and it is lost while the table is filled": """
from leafcover.engine import run as module
real = module.partitions_of
def lost(*words):
    try:
        {press}
    except KeyboardInterrupt:
        pass
    return real(*words)
module.partitions_of = lost
""",
}


@pytest.fixture
def good(tmp_path):
    path = tmp_path / "in.csv"
    path.write_text(rows_of())
    return path


# A shell may start its background jobs, and so all they start, deaf to Ctrl-C.
HEARD = "signal.signal(signal.SIGINT, signal.default_int_handler)"


def pressed(moment, *words, **given):
    script = f"import os, signal, sys\n{HEARD}\n{moment}\nfrom leafcover.cli import main\nmain()\n"
    return subprocess.run(
        [sys.executable, "-c", script, *map(str, words)], capture_output=True, text=True, check=False, **given
    )


# One process loads the library, and splits for each moment: to start one for each takes ten times as long.
SPLIT = f"""
import json, os, signal, sys
import leafcover.api, leafcover.engine.run
from leafcover.cli import main
{HEARD}
codes = {{}}
for name, (moment, folder) in json.load(sys.stdin).items():
    child = os.fork()
    if not child:
        for stream in ("stdout", "stderr"):
            os.dup2(os.open(os.path.join(folder, stream), os.O_WRONLY | os.O_CREAT), getattr(sys, stream).fileno())
        os.chdir(os.path.join(folder, "work"))
        sys.argv = ["leafcover", "release", "in.csv", "-o", "out.csv", "--target", "class"]
        exec(moment)
        main()
        sys.exit()
    codes[name] = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
print(json.dumps(codes))
"""


@pytest.fixture(scope="module")
def ended(tmp_path_factory):
    """How a release ended in which Ctrl-C was pressed, for each moment: code, output, error output, files left."""
    folders, asked = {}, {}
    for name, moment in MOMENTS.items():
        folders[name] = folder = tmp_path_factory.mktemp("moment")
        (folder / "work").mkdir()
        (folder / "work" / "in.csv").write_text(rows_of())
        asked[name] = moment.format(press=PRESS), str(folder)
    done = subprocess.run(
        [sys.executable, "-c", SPLIT], input=json.dumps(asked), capture_output=True, text=True, check=True
    )
    codes = json.loads(done.stdout)
    return {
        name: (
            codes[name],
            *((folder / stream).read_text() for stream in ("stdout", "stderr")),
            [path.name for path in (folder / "work").iterdir()],
        )
        for name, folder in folders.items()
    }


@pytest.mark.parametrize("name", MOMENTS)
def test_ctrl_c_is_heeded_at_any_moment(ended, name):
    assert ended[name] == (130, "", "stopped; no output was left half-written.\n", ["in.csv"])


def test_ctrl_c_is_heeded_while_the_program_is_loaded(good, tmp_path):
    done = pressed(LOADING.format(press=PRESS), "release", good, "-o", tmp_path / "out.csv", "--target", "class")
    assert (done.returncode, done.stdout) == (130, ""), done.stderr
    assert done.stderr == "stopped; no output was left half-written.\n"
    assert [path.name for path in tmp_path.iterdir()] == ["in.csv"]


def test_outputs_that_belong_together_appear_together(good, tmp_path):
    # The first file is in its place, the others are not, when Ctrl-C comes.
    moment = f"""
from pathlib import Path
real = Path.replace
def replace(self, target):
    done = real(self, target)
    Path.replace = real
    {PRESS}
    return done
Path.replace = replace
"""
    done = pressed(
        moment, "release", good, "-o", tmp_path / "out.csv", "--target", "class", "--quiet", "--recipe", "cells"
    )
    assert (done.returncode, done.stderr) == (130, "stopped; no output was left half-written.\n")
    names = {path.name for path in tmp_path.iterdir()}
    assert names == {"in.csv", "out.csv", "out.csv.manifest.json", "out.csv.internal.json", "out.csv.pairs"}


def test_processes_of_a_sweep_say_nothing_when_all_are_interrupted(good):
    # A terminal sends Ctrl-C to every process; here to the whole group, as soon as the processes were asked for.
    moment = """
from leafcover.tuning import sweep as work
real = work._block_sigint
from contextlib import contextmanager
@contextmanager
def children():
    with real():
        yield
        os.killpg(0, signal.SIGINT)
work._block_sigint = children
"""
    words = ("sweep", good, "--target", "class", "--recipes", "cover", "--grid", "k=5", "--runs", 1, "--jobs", 2)
    done = pressed(moment, *words, start_new_session=True)
    assert (done.returncode, done.stdout) == (130, "")
    assert done.stderr == f"stopped; {catalogue('sweep')('stopped-unsaved')}.\n"


def test_a_process_that_was_told_to_ignore_ctrl_c_does(good):
    done = pressed(
        f"signal.signal(signal.SIGINT, signal.SIG_IGN)\n{PRESS}", "inspect", good, env={**os.environ, "TERM": "dumb"}
    )
    assert done.returncode == 0
    assert "60 rows" in done.stdout


def test_an_interrupt_that_is_raised_without_a_signal_ends_alike(good, monkeypatch):
    def stop(*words, **given):
        raise KeyboardInterrupt

    monkeypatch.setattr("leafcover.table.io.read", stop)
    done = leafcover("inspect", good)
    assert (done.exit_code, done.stderr) == (130, "stopped; no output was left half-written.\n")


def test_the_handler_of_whoever_uses_the_library_is_put_back(tmp_path):
    from leafcover.table.atomic import atomic_group

    before = signal.getsignal(signal.SIGINT)
    with atomic_group() as part:
        part(tmp_path / "a", False).write_text("a")
    assert signal.getsignal(signal.SIGINT) is before
