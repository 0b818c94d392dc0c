"""Documentation under test: what can be asked for is documented, and what is documented can be asked for."""

import importlib.util
import inspect
import re
from dataclasses import fields
from operator import attrgetter
from pathlib import Path

import pytest
import typer

import leafcover
from leafcover.cli.main import application
from leafcover.engine.project_file import ProjectFile
from leafcover.partition.base import PARTITIONS
from leafcover.perturb.base import PERTURBATIONS
from leafcover.recipes import RECIPES
from leafcover.survey.questionnaire import Question, Survey

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
COMMAND_LINE = (DOCS / "reference" / "command-line.md").read_text("utf-8")
PLAN_FILES = (DOCS / "reference" / "plan-files.md").read_text("utf-8")
API = (DOCS / "reference" / "python-api.md").read_text("utf-8")
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
        line = next(line for line in PLAN_FILES.splitlines() if line.startswith(f"| `{name}`"))
        for field in fields(kind):
            assert f"`{field.name}`" in line, f"{name}.{field.name}"


def test_every_key_of_a_survey_is_documented():
    page = (DOCS / "how-to" / "survey.md").read_text("utf-8")
    tables = "\n".join(line for line in page.splitlines() if line.startswith("| `"))
    for key in [*Survey.model_fields, *Question.model_fields]:
        if key != "questions":
            assert f"`{key}`" in tables or f"`[{key}]`" in tables, key


def test_every_key_of_a_project_file_is_documented():
    page = (DOCS / "how-to" / "project-file.md").read_text("utf-8")
    keys = [line.split("|")[1] for line in page.splitlines() if line.startswith("| `")]
    for name, field in ProjectFile.model_fields.items():
        table = f"`[{name}]`" if name in ("input", "columns", "method", "limits", "output") else f"`{name}`"
        assert any(table in key for key in keys), name
        for inner in getattr(field.annotation, "model_fields", ()):
            assert any(f"`{inner}`" in key for key in keys), f"{name}.{inner}"


def test_every_recipe_is_in_the_readme():
    for name in RECIPES:
        assert f"`{name}`" in README


def test_every_public_name_and_recipe_is_on_the_api_page():
    shown = {line.removeprefix("::: ") for line in API.splitlines() if line.startswith("::: ")}
    assert {f"leafcover.{name}" for name in leafcover.__all__} - shown == {"leafcover.recipes"}
    assert {name.replace("-", "_") for name in RECIPES} <= {name.rpartition(".")[2] for name in shown}


def test_public_names_are_the_list_and_load():
    assert set(leafcover.__all__) == set(leafcover._HOMES)
    for name in leafcover.__all__:
        assert getattr(leafcover, name) is not None
    with pytest.raises(AttributeError):
        _ = leafcover.nothing


MET = (
    "Released",
    "Loaded",
    "Project",
    "Plan",
    "Step",
    "Measures",
    "Table",
    "Key",
    "recipes.Recipe",
)  # classes that users meet


def public():
    """Every public class and function, recipes included, and every method with parameters of the classes users meet."""
    for module, prefix in ((leafcover, ""), (leafcover.recipes, "recipes.")):
        for name in module.__all__:
            if inspect.isclass(one := getattr(module, name)) or inspect.isfunction(one):
                yield f"{prefix}{name}", one
    for name in MET:
        kind = attrgetter(name)(leafcover)
        for method, one in inspect.getmembers(kind, inspect.isfunction):
            if not method.startswith("_") and parameters(one):
                yield f"{name}.{method}", one


def parameters(one):
    """The names of all parameters; an exception without its own has none."""
    try:
        return [name for name in inspect.signature(one).parameters if name != "self"]
    except ValueError:
        return []


def sections(one):
    """The sections of a docstring in numpydoc form, by title."""
    _, *found = re.split(r"^(\w+)\n-{3,}\n", inspect.getdoc(one) or "", flags=re.MULTILINE)
    return dict(zip(found[::2], found[1::2], strict=True))


def described(section):
    """The names that a section describes; several may share a description."""
    heads = [line.split(" : ")[0] for line in section.splitlines() if re.match(r"[*\w]", line)]
    return [name.strip(" *") for head in heads for name in head.split(",")]


@pytest.mark.parametrize(("name", "one"), [pytest.param(name, one, id=name) for name, one in public()])
def test_a_public_name_describes_its_parameters_and_has_an_example(name, one):
    found = sections(one)
    assert ">>> " in found.get("Examples", ""), "no example"
    assert inspect.isclass(one) or "Returns" in found, "what it returns is not described"
    told = described(found.get("Parameters", "") + found.get("Attributes", ""))
    assert [parameter for parameter in parameters(one) if parameter not in told] == []
    if inspect.isfunction(one):
        assert [parameter for parameter in told if parameter not in parameters(one)] == []


def test_links_between_pages_lead_somewhere():
    for page in [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md", *DOCS.rglob("*.md")]:
        for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", page.read_text("utf-8")):
            assert (page.parent / target).exists(), f"{page.name}: {target}"


def test_the_drawing_of_layers_is_the_contract():
    spec = importlib.util.spec_from_file_location("layers", DOCS / "layers.py")
    layers = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(layers)
    page = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    assert layers.block() in page, "Run python docs/layers.py --write."
    described = set(re.findall(r"`(\w+)`", "\n".join(line for line in page.splitlines() if line.startswith("| `"))))
    assert {name for layer in layers.contract() for name in layer} <= described


def test_every_paper_that_the_pages_cite_is_in_the_bibliography():
    """Authors cited as "Name 2001" or "Name (2001)" or "Name and others (2001)"."""
    bibliography = (DOCS / "reference" / "bibliography.md").read_text("utf-8")
    entries = [" ".join(entry.split()) for entry in re.split(r"^- ", bibliography, flags=re.MULTILINE)]
    cited = re.compile(r"([A-Z][\w-]+)(?:,? (?:and|&) (?:others|[A-Z][\w-]+))?,? \(?((?:19|20)\d\d)\b(?!-)")
    pages = [ROOT / "README.md", *DOCS.glob("explanation/*.md"), *DOCS.glob("reference/measures/*.md")]
    for page in pages:
        for name, year in cited.findall(page.read_text("utf-8")):
            found = any(name in entry and f"({year})" in entry for entry in entries)
            assert found or name in NOT_PAPERS, f"{page.name}: {name} {year}"


NOT_PAPERS = {"CPS", "Schema"}  # a table and a standard with a year in their names


def test_the_version_stands_in_one_place():
    assert "dynamic" in (ROOT / "pyproject.toml").read_text("utf-8")
    assert leafcover.__version__.count(".") == 2
