"""The tutorials, followed as they are printed: every command runs and prints the figures that the page shows.

Console blocks run in order in one folder. A comment before a block says with which code its last command exits, or that
it is slow: then tests that are not leave out what it measures ("slow"), or all of it ("slow: skip"). A text block shows
lines of the output of the commands before it, which are compared by their figures. A line with an ellipsis
at an end is cut there, and an ellipsis alone stands for any lines. Bold figures are in some output of the page.
"""

import os
import re
import shlex
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.cli.helpers import leafcover
from tests.data import table_path

DOCS = Path(__file__).resolve().parents[1] / "docs"
FENCED = re.compile(r"(?P<notes>(?:<!-- [^>]* --> ?\n?)*)^```(?P<kind>console|text)\n(?P<body>.*?)^```$", re.M | re.S)
FIGURE = re.compile(r"\d(?:[\d,]*\d)?(?:\.\d+)?%?")
BOLD = re.compile(r"\*\*(\d[\d,.]*%?)\*\*")
NEEDS = {"tutorial-eusilc": ("laeken_eusilc", "eusilc.csv")}


@dataclass(frozen=True)
class Block:
    kind: str  # "console" or "text"
    lines: tuple[str, ...]
    exit_code: int
    slow: str  # "", "slow", or "skip": runs in full only among the slow tests, or not at all elsewhere


def blocks(page):
    """The blocks of a page in order; commands that continue on the next line are one."""
    for found in FENCED.finditer((DOCS / f"{page}.md").read_text("utf-8")):
        notes = found["notes"]
        code = re.search(r"exits (\d)", notes)
        slow = "skip" if "slow: skip" in notes else "slow" if "slow" in notes else ""
        body = found["body"].replace("\\\n", " ") if found["kind"] == "console" else found["body"]
        lines = tuple(line for line in body.splitlines() if line.strip())
        yield Block(found["kind"], lines, int(code[1]) if code else 0, slow)


def ran(command):
    """Exit code and output of a command of a page."""
    words = shlex.split(command)
    if words[0] == "leafcover":
        result = leafcover(*words[1:])
        return result.exit_code, result.output
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    done = subprocess.run(
        ["sh", "-c", command], capture_output=True, text=True, check=False, env=os.environ | {"PATH": path}
    )
    return done.returncode, done.stdout + done.stderr


def without_measuring(command, block, exit_code):
    """The same command without measuring, which takes longest; nothing if that is all it does."""
    measures = command.startswith("leafcover measure") or (exit_code and command.startswith("leafcover"))
    if measures or block.slow == "skip":
        return ""
    return re.sub(r" --max-risk \S+", "", command)


def figures(line):
    return FIGURE.findall(line)


def has_figures(line, printed):
    """Whether a printed line has the figures of a line of the page, which may be cut at either end."""
    wanted, found = figures(line), figures(printed)
    begins = range(len(found) - len(wanted) + 1) if line.lstrip().startswith("…") else range(1)
    ends = len(found) if not line.rstrip().endswith("…") else None
    return any(found[at : at + len(wanted)] == wanted and (ends is None or at + len(wanted) == ends) for at in begins)


def follow(page, *, measuring):
    """Run the blocks of a page and compare what they print."""
    output, seen, skipped = [], set(), False
    for block in blocks(page):
        if block.kind == "console":
            output, skipped = [], bool(block.slow) and not measuring
            for at, command in enumerate(block.lines):
                expected = block.exit_code if at == len(block.lines) - 1 else 0
                short = without_measuring(command, block, expected) if skipped else command
                if short:
                    code, text = ran(short)
                    assert code == expected, f"{short}\n{text}"
                    output += text.splitlines()
        else:
            shown = list(block.lines) if skipped else output
            seen |= {figure for line in shown for figure in figures(line)}
            for line in block.lines if not skipped else ():
                if figures(line):
                    at = next((at for at, one in enumerate(shown) if has_figures(line, one)), None)
                    assert at is not None, f"not printed, or not in this order: {line}\n" + "\n".join(output)
                    shown = shown[at:]  # the page may break a line into several
        seen |= {figure for line in output for figure in figures(line)}
    return seen


def prepared(page, folder, monkeypatch):
    if shutil.which("sh") is None:
        pytest.skip("The tutorials are for a shell, and there is no sh.")
    if page in NEEDS:
        name, called = NEEDS[page]
        shutil.copy(table_path(name), folder / called)
    monkeypatch.chdir(folder)


def check_bold(page, seen):
    """Every bold figure of the prose was printed by a command of the page."""
    missing = [one for one in BOLD.findall((DOCS / f"{page}.md").read_text("utf-8")) if one not in seen]
    assert missing == []


@pytest.mark.parametrize("page", ["tutorial-hospital", "tutorial-eusilc"])
def test_a_tutorial_without_its_measurements(page, tmp_path, monkeypatch):
    prepared(page, tmp_path, monkeypatch)
    check_bold(page, follow(page, measuring=False))


@pytest.mark.slow
@pytest.mark.parametrize("page", ["tutorial-hospital", "tutorial-eusilc"])
def test_a_tutorial_as_it_is_printed(page, tmp_path, monkeypatch):
    prepared(page, tmp_path, monkeypatch)
    check_bold(page, follow(page, measuring=True))
    private = [path for path in tmp_path.iterdir() if path.name.endswith((".internal.json", ".rows", ".held-out.csv"))]
    assert private
    assert all(path.stat().st_mode & 0o077 == 0 for path in private)
