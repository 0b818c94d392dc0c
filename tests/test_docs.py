"""Documentation under test: what can be asked for is documented, and what is documented can be asked for."""

from dataclasses import fields
from pathlib import Path

import pytest
import typer

import leafcover
from leafcover.cli.main import application
from leafcover.partition.base import PARTITIONS
from leafcover.perturb.base import PERTURBATIONS
from leafcover.recipes import RECIPES
from leafcover.survey.schema import Question, Survey

ROOT = Path(__file__).resolve().parents[1]
COMMAND_LINE = (ROOT / "docs" / "command-line.md").read_text("utf-8")
README = (ROOT / "README.md").read_text("utf-8")


def test_every_command_and_option_is_documented():
    group = typer.main.get_command(application())
    inner = [
        (f"{name} {own}", one) for name, c in group.commands.items() for own, one in getattr(c, "commands", {}).items()
    ]
    for name, command in [*group.commands.items(), *inner]:
        assert f"leafcover {name}" in COMMAND_LINE
        for option in command.params:
            for word in [w for w in option.opts if w.startswith("--")]:
                assert f"{word}" in COMMAND_LINE, f"{name} {word}"


def test_every_parameter_of_a_plan_is_documented():
    for name, kind in {**PARTITIONS, **PERTURBATIONS}.items():
        line = next(line for line in COMMAND_LINE.splitlines() if line.startswith(f"| `{name}`"))
        for field in fields(kind):
            assert f"`{field.name}`" in line, f"{name}.{field.name}"


def test_every_key_of_a_survey_is_documented():
    page = (ROOT / "docs" / "survey.md").read_text("utf-8")
    tables = "\n".join(line for line in page.splitlines() if line.startswith("| `"))
    for key in [*Survey.model_fields, *Question.model_fields]:
        if key != "questions":
            assert f"`{key}`" in tables or f"`[{key}]`" in tables, key


def test_every_recipe_is_in_the_readme():
    for name in RECIPES:
        assert f"`{name}`" in README


def test_public_names_are_the_list_and_load():
    assert leafcover.__all__ == sorted(leafcover.__all__)
    assert set(leafcover.__all__) == set(leafcover._HOMES)
    for name in leafcover.__all__:
        assert getattr(leafcover, name) is not None
    with pytest.raises(AttributeError):
        _ = leafcover.nothing


def test_links_between_pages_lead_somewhere():
    import re

    for page in [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")]:
        for target in re.findall(r"\]\(([^)#]+)\)", page.read_text("utf-8")):
            assert (page.parent / target).exists(), f"{page.name}: {target}"


def test_the_version_stands_in_one_place():
    assert "dynamic" in (ROOT / "pyproject.toml").read_text("utf-8")
    assert leafcover.__version__.count(".") == 2
