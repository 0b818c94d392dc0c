"""Retired expressions stay retired: in pages, in messages, in help."""

import re
from pathlib import Path

import pytest
import typer

from leafcover.cli.main import application

ROOT = Path(__file__).resolve().parents[1]
LINES = (ROOT / "docs" / "style" / "retired_phrases.txt").read_text("utf-8").splitlines()
EXPRESSIONS = [line for line in LINES if line and not line.startswith("#")]
EXACT = [re.compile(line) for line in EXPRESSIONS if line.startswith("(?-i:")]
# Searched in text of small letters: to ignore case takes re ten times as long.
RETIRED = [re.compile(line.lower()) for line in EXPRESSIONS if not line.startswith("(?-i:")]

# Files that are searched, by glob from the root of the repository; "--help" is the help of every command.
SCOPES = [
    "docs/**/*.md",
    "README.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    "Makefile",
    "mkdocs.yml",
    "pyproject.toml",
    "src/**/*.jinja",
    "src/**/*.ftl",
    "src/**/*.js",
    "src/**/*.css",
    "src/**/*.py",
    "benchmarks/**/*.py",
    "--help",
]

# (file, expression as found, why it may stand there)
EXCEPTIONS: list[tuple[str, str | None, str]] = []


def texts(scope):
    """Name and text of everything in a scope."""
    if scope != "--help":
        paths = sorted(path for path in ROOT.glob(scope) if path.is_file())
        return [(path.relative_to(ROOT).as_posix(), path.read_text("utf-8")) for path in paths]
    group = typer.main.get_command(application())
    inner = [
        (f"{name} {own}", one) for name, c in group.commands.items() for own, one in vars(c).get("commands", {}).items()
    ]
    return [
        (
            f"leafcover {name} --help",
            " ".join([command.help or "", *(getattr(p, "help", "") or "" for p in command.params)]),
        )
        for name, command in [*group.commands.items(), *inner]
    ]


def retired_in(name, text):
    """Every retired expression in a text, exceptions aside; line breaks count as spaces."""
    text = " ".join(text.split())
    excused = {found for file, found, _ in EXCEPTIONS if file == name}
    if None in excused:
        return []
    both = ((EXACT, text), (RETIRED, text.lower()))
    found = [m[0] for some, here in both for one in some for m in one.finditer(here)]
    return [f"{name}: {one}" for one in found if one not in excused]


@pytest.mark.parametrize("scope", SCOPES)
def test_no_retired_expression_is_used(scope):
    found = texts(scope)
    assert found, f"nothing to search in {scope}"
    assert [one for name, text in found for one in retired_in(name, text)] == []


def test_an_expression_is_found_across_a_line_break():
    assert retired_in("page.md", "The rows are\nparted, and each\nstands\nalone.") == [
        "page.md: parted",
        "page.md: stands alone",
    ]


def test_every_exception_is_still_needed():
    for name, found, _ in EXCEPTIONS:
        assert (ROOT / name).exists(), name
        if found is not None:
            assert found in " ".join((ROOT / name).read_text("utf-8").split()).lower(), f"{name} no longer has: {found}"
