"""``leafcover init``, and what lets commands read a project file instead of arguments.

A command that is given no table takes everything that its options do not say from the project file in the current
folder. With --save, options that the file can hold are written into it.
"""

import inspect
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

from leafcover.cli.app import (
    Force,
    Place,
    Quiet,
    Reading,
    app,
    guarded,
    place,
    refuse_unknown,
    separators,
    warn,
    with_reading,
)
from leafcover.errors import LeafcoverError

if TYPE_CHECKING:
    from leafcover.project import Project
    from leafcover.table.table import Table

Predicted = Annotated[str | None, typer.Option("--target", metavar="COL", help="The column to predict.")]
AudienceOption = Annotated[
    str | None,
    typer.Option(
        "--audience",
        metavar="public|researchers",
        help="Who gets the release: sets --max-risk, --share, --rare, k and singletons, with a source for each.",
    ),
]

FILE = Path("leafcover.toml")

# Where each option stands in a project file. Lists are added to, roles and settings replaced one by one.
KEYS = {
    **{name: (name,) for name in ("title", "date", "target", "audience")},
    **{name: ("input", name) for name in ("encoding", "delimiter", "sheet", "query")},
    **{name: ("method", name) for name in ("recipe", "bins", "plan", "find_rules", "sequence", "most_rows")},
    **{name: ("method", name) for name in ("rare", "share", "weights", "hold_out", "sample")},
    **{name: ("method", name) for name in ("rules", "keep_tables", "recode")},
    "max_risk": ("limits", "max_risk"),
    "out": ("output", "table"),
    **{name: ("output", name) for name in ("report", "key_file", "publish_tree")},
}
ROLES = ("drop", "unchanged", "quasi_identifier", "sensitive", "unit", "weight")
PATHS = ("out", "report", "key_file", "plan")
LISTS = ("rules", "keep_tables", "recode")
OF_A_RECIPE = (
    "recipe",
    "bins",
    "rules",
    "find_rules",
    "rare",
    "share",
    "sequence",
    "most_rows",
    "weights",
    "keep_tables",
    "recode",
)


REFUSED = 3  # the exit code of a release that is possible, but not wanted


@dataclass
class Given:
    """What was given on the command line: which options, which project, and whether to save them."""

    context: typer.Context
    folder: Path | None
    save: bool
    own: frozenset[str]  # options that mean something else in this command; "folder" if it may have a ledger
    opened: "Project | None" = None  # the project, once it was read
    changes: dict[str, Any] = field(default_factory=dict)  # the options, as changes of the file
    chosen: dict[str, Any] = field(default_factory=dict)  # what the command chose, in the same way

    def project(self, *tables: Place | None) -> "Project | None":
        """The project with the options of the command line, if no table was given."""
        if any(one is not None for one in tables):
            if self.save:
                self.fail("--save writes options into a project file, but a table was given. Leave one of them out.")
            if self.folder is not None and "folder" not in self.own:
                self.fail("--project names a project to read, but a table was given. Leave one of them out.")
            if self.folder is None and FILE.is_file():
                warn("The project file of this folder is not used, because a table was given.")
            if any(one is None for one in tables):
                self.fail("Missing argument: give both tables, or none in the folder of a project.")
            return None
        from leafcover.engine.project_file import find_project
        from leafcover.project import Project

        if self.folder is None and find_project(Path()) is None:
            self.fail(
                "Missing argument: there is no project file here. Give a table, or make one: leafcover init TABLE"
            )
        project = Project.read(Path() if self.folder is None else self.folder)
        if len(project.path.parts) > 1 and not self.context.params.get("quiet"):
            typer.echo(f"project   {project.path}", err=True)
        self.changes = self._options(project)
        self.opened = project.changed(**self.changes)
        return self.opened

    def _options(self, project: "Project") -> dict[str, Any]:
        """The options as changes of the project file."""
        given = {name: value for name, value in self.context.params.items() if self._is_given(name)}
        found = _changes(given, project)
        for name in ROLES:
            for column in given.get(name, ()):
                found.setdefault("columns", {})[column] = name.replace("_", "-")
        return found

    def _is_given(self, name: str) -> bool:
        source = self.context.get_parameter_source(name)
        return source is not None and source.name == "COMMANDLINE" and name not in self.own

    def keep(self) -> None:
        """Write the options, and what the command chose, into the project file, if that was asked for."""
        from leafcover.engine.project_file import update_project

        if self.opened is not None and self.save:
            for name, value in self.chosen.items():
                self.changes[name] = {**self.changes.get(name, {}), **value}
            update_project(self.opened.path, self.changes)
            typer.echo(f"saved     {self.opened.path}", err=True)

    def fail(self, words: str) -> NoReturn:
        """End the command as one that was called wrongly."""
        self.context.fail(words)


def _changes(given: Mapping[str, Any], project: "Project") -> dict[str, Any]:
    """Options as nested changes of a project file."""
    found: dict[str, Any] = {}
    method = project.settings.method

    def put(key: tuple[str, ...], value: Any) -> None:
        table = found
        for name in key[:-1]:
            table = table.setdefault(name, {})
        table[key[-1]] = value

    if "plan" in given:
        for name in (*OF_A_RECIPE, "settings"):
            put(("method", name), None)
    elif "recipe" in given:
        put(("method", "plan"), None)
        if given["recipe"] != method.recipe:
            put(("method", "settings"), dict.fromkeys(method.settings))
    for name, key in KEYS.items():
        if name in given:
            value = given[name]
            value = _from_folder(value, project.folder) if name in PATHS else value
            put(key, [*getattr(method, name), *value] if name in LISTS else value)
    if "no_unit_numbers" in given:
        put(("method", "unit_numbers"), False)
    if "settings" in given:
        from leafcover.cli.release import chosen_recipe

        chosen = chosen_recipe(given.get("recipe") or method.recipe or "cover", given["settings"], None)
        for name, text in (chosen.settings or {}).items():
            put(("method", "settings", name), _typed(text))
    if "category" in given:
        put(("input", "category"), [*dict.fromkeys([*project.settings.input.category, *given["category"]])])
    for name in {"decimal", "thousands"} & {*given}:
        put(("input", name), separators(f"--{name}", tuple(given[name])))
    if "missing" in given:
        for name, tokens in Reading(missing=tuple(given["missing"])).missing_tokens().items():
            put(("input", "missing", name), tokens)
    return found


def _from_folder(path: Place, folder: Path) -> str:
    """A path or address of the command line as a project file names it."""
    from leafcover.project import relative

    return relative(path, folder)


def _typed(text: str) -> Any:
    """A setting as TOML writes it: a number without quotes."""
    try:
        return tomllib.loads(f"x = {text}")["x"]
    except tomllib.TOMLDecodeError:
        return text


def with_project(*own: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Let a command read a project file: it receives ``given``. ``own`` names options that the file does not take."""

    def decorated(command: Callable[..., None]) -> Callable[..., None]:
        signature = inspect.signature(command)

        @wraps(command)
        def run(**arguments: Any) -> None:
            context, folder, save = (arguments.pop(name, None) for name in ("context", "project", "save"))
            given = Given(context, folder, bool(save), frozenset(own))
            try:
                command(**arguments, given=given)
            except LeafcoverError as error:
                if error.exit_code == REFUSED:  # the options are right, though the release is refused
                    given.keep()
                raise
            given.keep()

        parameters = [p for p in signature.parameters.values() if p.name != "given"]
        only = inspect.Parameter.KEYWORD_ONLY
        parameters += [
            inspect.Parameter("project", only, annotation=PROJECT, default=None),
            inspect.Parameter("save", only, annotation=SAVE, default=False),
            inspect.Parameter("context", only, annotation=typer.Context),
        ]
        run.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]  # read by typer
        run.__annotations__ = {p.name: p.annotation for p in parameters}
        return run

    return decorated


PROJECT = Annotated[
    Path | None,
    typer.Option(
        "--project",
        metavar="DIR",
        help="The folder of a project: its leafcover.toml, if no table is given, and its ledger of releases.",
        readable=False,
        rich_help_panel="Project",
    ),
]
SAVE = Annotated[
    bool,
    typer.Option("--save", help="Write these options into the project file.", rich_help_panel="Project"),
]


@dataclass(frozen=True)
class Original:
    """The table of a command, and the project it belongs to, if any."""

    table: "Table"
    path: Place
    target: str | None
    project: "Project | None"

    def bins(self, given: int | None) -> int | None:
        """The classes of a numeric target."""
        return given if self.project is None else self.project.settings.method.bins

    @property
    def place(self) -> Place:
        """Where the table is, also if it was the only one of its database."""
        return self.path if isinstance(self.path, Path) else self.path.named(self.table.reading.name)

    def read_alike(self, path: Place, reading: Reading) -> "Table":
        """Another table, read in the same way."""
        if self.project is None:
            return reading.like(self.table, path).read(path, target=self.target)
        from leafcover.api import read
        from leafcover.table.io import is_workbook

        found = self.table.reading
        options = {"decimal": found.decimal, "thousands": found.thousands} | self.project.reading
        return read(path, **options | {"query": None} | ({} if is_workbook(path) else {"sheet": None}))


def read_original(
    given: Given, table: Place | None, reading: Reading, target: str | None, *, decided: bool = False
) -> Original:
    """Read the table that was given, or that of the project, in which everything must be ``decided``."""
    project = given.project(table)
    if project is not None:
        if decided:
            project.refuse_undecided()
        return Original(project.table(), project.input, project.target, project)
    assert table is not None
    data = reading.read(table, target=target)
    refuse_unknown(data, reading, target)
    return Original(data, table, target, None)


def read_with_target(given: Given, table: Place | None, reading: Reading, target: str | None) -> tuple[Original, str]:
    """The same for a command that needs a target, and the target."""
    if table is not None and target is None:
        given.fail("Missing option '--target'.")
    source = read_original(given, table, reading, target)
    if source.target is None:
        given.fail("Missing option '--target': the project has no target yet.")
    return source, source.target


# leafcover init


@app.command()
@guarded
@with_reading
def init(
    table: Annotated[Place, typer.Argument(metavar="TABLE", help="The table to release.", parser=place)],
    *,
    out: Annotated[
        Path, typer.Option("-o", "--out", metavar="FILE", help="The project file, or its folder.", readable=False)
    ] = FILE,
    target: Annotated[
        str | None, typer.Option("--target", metavar="COL", help="The column that readers will predict.")
    ] = None,
    audience: AudienceOption = None,
    force: Force = False,
    quiet: Quiet = False,
    reading: Reading,
) -> None:
    """Make a project file for TABLE: what can be decided is, with a comment that says why; "?" marks the rest."""
    from leafcover.messages import catalogue
    from leafcover.project import init as init_project

    say = catalogue("project")
    project = init_project(
        table,
        out,
        target=target,
        audience=audience,  # type: ignore[arg-type]  # checked there
        roles=reading.roles(None),
        drop=reading.drop,
        category=reading.category,
        missing=reading.missing_tokens(),
        encoding=None if reading.encoding == "utf-8" else reading.encoding,
        delimiter=reading.delimiter,
        sheet=reading.sheet,
        query=reading.query,
        decimal=separators("--decimal", reading.decimal),
        thousands=separators("--thousands", reading.thousands),
        force=force,
    )
    if quiet:
        return
    typer.echo(say("made", file=str(project.path)))
    for one in project.notes:
        if one.kind != "undecided":
            typer.echo(f"  {one.name or one.kind}: {one.message}")
    if project.settings.undecided:
        typer.echo(say("made-undecided"))
        for one in project.notes:
            if one.kind == "undecided":
                typer.echo(f"  {one.name}: {one.message}")
    typer.echo(say("made-next"))
