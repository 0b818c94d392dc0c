"""Library messages name parameters; the command line maps them to options that exist."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest
from typer.main import get_command

import leafcover
from leafcover.cli.app import ANYWHERE, FIRST, GIVEN, as_options, option_of
from leafcover.cli.main import application

SOURCE = Path(leafcover.__file__).parent
OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]+")
COMMAND = re.compile(r"leafcover [a-z][^.:;]*")  # a command to type, which may have options
STYLE = {"reporting/charts.py"}  # custom properties of a style sheet
# Parameters that no message on a command line can name: they have no option, or belong to a recipe or a method.
PYTHON_ONLY = {"by_row", "class_noise", "columns", "distribution", "insecure", "method", "of", "preset", "siblings"}
PYTHON_ONLY |= {"invariant", "k", "split_on", "tree", "within"}


def modules():
    found = [path for path in SOURCE.rglob("*.py") if "cli" not in path.relative_to(SOURCE).parts]
    assert len(found) > 100
    return found


@cache
def parsed(path):
    return ast.parse(path.read_text("utf-8"))


def texts(tree):
    """Every text of a module that is no docstring, with the parts of an f-string joined."""
    skipped = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            skipped |= {id(part) for part in node.values}
            yield "".join(str(part.value) if isinstance(part, ast.Constant) else "{}" for part in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in skipped:
            yield node.value


def options_of(group):
    for one in getattr(group, "commands", {}).values():
        yield from options_of(one)
    for parameter in group.params:
        yield from getattr(parameter, "opts", ())


def test_no_text_of_the_library_names_an_option():
    named = {
        f"{path.relative_to(SOURCE)}: {found[0]}"
        for path in modules()
        if path.relative_to(SOURCE).as_posix() not in STYLE
        for text in texts(parsed(path))
        for found in OPTION.finditer(COMMAND.sub("", text))
    }
    assert not named


def test_no_sentence_of_a_catalogue_names_an_option():
    for path in (SOURCE / "locales").rglob("*.ftl"):
        lines = [line for line in path.read_text("utf-8").splitlines() if not line.startswith("#")]
        assert OPTION.findall(COMMAND.sub("", "\n".join(lines))) == [], path.name


def test_every_parameter_that_an_error_names_is_mapped():
    named = {
        found[1]
        for path in modules()
        for node in ast.walk(parsed(path))
        if isinstance(node, ast.Raise)
        for text in texts(node)
        for found in re.finditer(r"(?<![\w.'])([a-z_]+)=(?=\.\.\.|\[|\{|'|True|\d|[A-Z])", text)
    }
    assert named > {"pairs", "control", "original"}
    assert named - set(GIVEN) - PYTHON_ONLY == set()


def test_every_parameter_is_mapped_to_an_option_that_exists():
    known = set(options_of(get_command(application())))
    assert {option_of(name) for name in (*GIVEN, *FIRST, *ANYWHERE)} - known == {"--roles"}


@pytest.mark.parametrize(
    ("message", "words"),
    [
        ("Add target=COLUMN.", "Add --target COLUMN."),
        ("Add bins=N to predict N groups.", "Add --bins N to predict N groups."),
        ("Give pairs=..., or more.", "Give --pairs, or more."),
        ("Set most_rows=1.", "Set --most-rows 1."),
        ("Set encoding='utf-16'.", "Set --encoding utf-16."),
        ("Overwrite it with force=True.", "Overwrite it with --force."),
        ("Allow them with max_singletons=1.", "Allow them with --force."),
        ('Read it with category=["it\'s"].', "Read it with --category 'it'\"'\"'s'."),
        ("Use roles={'pay': 'quasi-identifier'}.", "Use --quasi-identifier pay."),
        ("Or settings={'price': '1'} or recode=...", "Or --set price=1 or --recode"),
        ("Say missing={'pay slip': ['99']}.", "Say --missing 'pay slip=99'."),
        ("Give max_risk=... or audience=... here.", "Give --max-risk or --audience here."),
        ("runs must be 1. Got 'bins=3'.", "--runs must be 1. Got 'bins=3'."),
        ("The runs must be short.", "The runs must be short."),
    ],
)
def test_parameters_become_options(message, words):
    assert as_options(message) == words
