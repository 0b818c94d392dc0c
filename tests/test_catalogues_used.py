"""Every sentence of a catalogue is used, and every sentence that the code asks for exists."""

import re
from pathlib import Path

import pytest

from leafcover.messages import catalogue
from leafcover.metrics.registry import MEASURES

SOURCE = Path(__file__).resolve().parents[1] / "src" / "leafcover"
BUILT_IN = [name for name, one in MEASURES.items() if one.place or one.by_name]  # each shows a message when taken
USERS = {
    "sweep": ("tuning", "cli/sweep.py"),
    "measures": ("metrics", "table/units.py"),
    "counts": ("engine/counts.py",),
    "release": (
        "engine/run.py",
        "engine/statement.py",
        "engine/ledger.py",
        "engine/audience.py",
        "released.py",
        "table/weights.py",
    ),
    "project": ("engine/project_draft.py", "cli/project.py", "cli/measure.py"),
}


def ids_of(page):
    """Every id of a catalogue, those of attributes as well."""
    text = (SOURCE / "locales" / "en" / f"{page}.ftl").read_text("utf-8")
    found = set()
    for line in text.splitlines():
        if message := re.match(r"([a-z][a-z0-9-]*) =", line):
            name = message[1]
            found.add(name)
        elif attribute := re.match(r"    \.([a-z][a-z0-9-]*) =", line):
            found.add(f"{name}.{attribute[1]}")
    return found


def ids_asked(page):
    """Every id that the code and the templates of a page name."""
    found = {f"progress-{name.replace('_', '-')}" for name in BUILT_IN} if page == "measures" else set()
    for user in USERS[page]:
        path = SOURCE / user
        files = [path] if path.is_file() else [*path.rglob("*.py"), *path.rglob("*.jinja")]
        for file in files:
            text = file.read_text("utf-8")
            found |= set(re.findall(r"""\bsay\(\s*["']([a-z0-9.-]+)["']""", text))
    return found


@pytest.mark.parametrize("page", USERS)
def test_every_sentence_exists_and_is_used(page):
    assert ids_asked(page) == ids_of(page)


@pytest.mark.parametrize("page", USERS)
def test_every_sentence_is_well_formed(page):
    broken = {name: why for name in ids_of(page) if (why := fault(page, name))}
    assert broken == {}


def fault(page, name):
    """What is wrong with a sentence, but for values that are missing here."""
    try:
        return "" if catalogue(page)(name) else "empty"
    except KeyError as error:
        return "" if "Unknown external" in str(error) else str(error)
