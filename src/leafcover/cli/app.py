"""The command-line application: what commands share. Options for reading a table, errors, warnings, progress bars."""

import inspect
import re
import sys
import time
from ast import literal_eval
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import typer

from leafcover import __version__
from leafcover.cli.main import check_interrupt, stoppable
from leafcover.errors import LeafcoverError, NameUnknown, PlanError, ValueOutOfRange, quoted

if TYPE_CHECKING:
    from leafcover.table import io
    from leafcover.table.table import Table

    Place: TypeAlias = io.Place
else:
    Place = Path  # typer knows no unions; `place` decides

app = typer.Typer(
    name="leafcover",
    help="Release perturbed microdata, and measure its utility and disclosure risk.",
    no_args_is_help=True,
    add_completion=False,
    # A traceback with local variables would print original values.
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
)

Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print only errors.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]
Force = Annotated[bool, typer.Option("--force", help="Overwrite outputs that exist.")]


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"leafcover {__version__}")
        raise typer.Exit


@app.callback()
def common(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Release perturbed microdata, and measure its utility and disclosure risk."""


def place(text: str) -> "Place":
    """A file, or a table of a database."""
    from leafcover.table.io import place_of

    return place_of(text)


def guarded(command: Callable[..., None]) -> Callable[..., None]:
    """Print a user error as one line and exit with its code, never with a traceback."""

    @wraps(command)
    def run(*args: Any, **given: Any) -> None:
        try:
            with stoppable():
                command(*args, **given)
        except LeafcoverError as error:
            words = " ".join(str(error).split())
            typer.echo(f"error: {words if error.names_keys else as_options(words)}", err=True)
            raise typer.Exit(error.exit_code) from None
        except MemoryError:
            typer.echo("error: There is not enough memory for this table. Release fewer rows or columns.", err=True)
            raise typer.Exit(1) from None

    return run


SECONDS = 5  # between two lines of progress where there is no terminal

# Library messages name parameters; people at a command line know options. A parameter is recognised by its value
# (``bins=N``), as the first word of a message, or, if it is no word of English, anywhere.
GIVEN = (
    *(
        "target",
        "bins",
        "category",
        "drop",
        "roles",
        "encoding",
        "delimiter",
        "decimal",
        "thousands",
        "missing",
        "sheet",
        "query",
        "original",
        "manifest",
        "pairs",
        "control",
        "plan",
        "report",
        "sequence",
        "rare",
        "project",
        "again",
        "replaces",
        "weights",
        "by",
        "totals",
        "share",
        "most_rows",
        "output",
        "recode",
        "settings",
        "audience",
    ),
    *("hold_out", "sample", "key_file", "seed", "force", "max_risk", "max_singletons", "incomplete", "rows", "jobs"),
)
FIRST = (
    *(
        "n_trees",
        "min_records",
        "confidence",
        "goodness",
        "separation",
        "bins",
        "delimiter",
        "decimal",
        "thousands",
        "encoding",
        "grid",
        "runs",
    ),
    *("rows", "jobs", "recipes", "error", "share", "answers", "count", "first", "significance", "min_support"),
    *("test_share", "weights", "audience", "variance", "zeros", "minimum", "totals", "impossible", "rare", "sample"),
)
ANYWHERE = (
    "max_risk",
    "most_rows",
    "keep_order",
    "key_file",
    "hold_out",
    "publish_tree",
    "keep_tables",
    "max_noise",
    "cell_keys",
)
OTHER_NAMES = {
    "n_trees": "--trees",
    "max_singletons": "--force",
    "keep_tables": "--keep-table",
    "replaces": "--replace",
    "settings": "--set",
    "output": "-o",
}

_TEXT = r"""(?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")"""
_VALUE = rf"(?:\.\.\.|True|\d+|[A-Z]+\b|\[{_TEXT}\]|\{{{_TEXT}: (?:{_TEXT}|\[{_TEXT}\])\}}|{_TEXT})"
_GIVEN = re.compile(rf"(?<!['\w.])({'|'.join(GIVEN)})=({_VALUE})")
_FIRST = re.compile(rf"^({'|'.join(FIRST)})(?= must be )")
_SETTING = re.compile(r"^Parameter (\w+)(?= of recipe )")
_ANYWHERE = re.compile(rf"\b({'|'.join(ANYWHERE)})\b")


def as_options(message: str) -> str:
    """A library message with parameters written as options.

    >>> as_options("max_risk must be a share from 0 to 1. Got 3.")
    '--max-risk must be a share from 0 to 1. Got 3.'
    >>> as_options("n_trees must be an integer from 1 to 1,000. Got 0.")
    '--trees must be an integer from 1 to 1,000. Got 0.'
    >>> as_options("Remove it with drop=['pay slip'], or keep it with roles={'pay slip': 'unchanged'}.")
    "Remove it with --drop 'pay slip', or keep it with --unchanged 'pay slip'."
    >>> as_options("Read it with category=['PLZ'], or with bins=N.")
    'Read it with --category PLZ, or with --bins N.'
    """
    message = _GIVEN.sub(lambda found: _given(found[1], found[2]), message)
    message = _FIRST.sub(lambda found: option_of(found[1]), message)
    message = _SETTING.sub(r"--set \1=...", message)
    return _ANYWHERE.sub(lambda found: option_of(found[1]), message)


def option_of(parameter: str) -> str:
    """The option of a parameter."""
    return OTHER_NAMES.get(parameter, "--" + parameter.replace("_", "-"))


def _given(parameter: str, text: str) -> str:
    """An option with its value; ``...``, or a value that the option implies, is left out."""
    option = option_of(parameter)
    if text.isidentifier() and text.isupper():  # a placeholder, such as N
        return f"{option} {text}"
    value = literal_eval(text)
    if isinstance(value, dict):  # the role of a column, or something else about it
        (name, held), *_ = value.items()
        role = held[0] if isinstance(held, list) else held
        return f"--{role} {quoted(name)}" if parameter == "roles" else f"{option} {quoted(f'{name}={role}')}"
    if value is ... or value is True or parameter in OTHER_NAMES:
        return option
    return f"{option} {quoted(str(value[0] if isinstance(value, list) else value))}"


def warn(words: str) -> None:
    """Print a warning on standard error, so that results can be piped."""
    typer.echo(f"warning: {as_options(words)}", err=True)


@contextmanager
def progress(quiet: bool) -> Iterator[Callable[[str, float], None]]:
    """A progress bar on a terminal, now and then a line elsewhere; every step checks for a Ctrl-C that was lost."""
    if quiet or sys.stderr is None:
        yield lambda words, share: check_interrupt()
        return
    if not sys.stderr.isatty():
        yield _lines_of_progress()
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("reading", total=1.0)

        def tell(words: str, share: float) -> None:
            check_interrupt()
            bar.update(task, description=words, completed=share)

        yield tell


def _lines_of_progress() -> Callable[[str, float], None]:
    """For logs: a line for a step that begins `SECONDS` or more after the last line, so that short work is silent."""
    began = last = time.monotonic()

    def tell(words: str, share: float) -> None:
        nonlocal last
        check_interrupt()
        now = time.monotonic()
        if now - last >= SECONDS:
            last = now
            typer.echo(f"[{now - began:.0f} s] {words}", err=True)

    return tell


# The options for reading a table: roles, missing values, encoding.

_Names = list[str]


def _option(*names: str, words: str, metavar: str = "COL") -> Any:
    return Annotated[_Names, typer.Option(*names, help=words, metavar=metavar, rich_help_panel="Columns")]


OPTIONS: dict[str, tuple[Any, Any]] = {
    "drop": (_option("--drop", words="Leave the column out. Repeat the option for more columns."), []),
    "unchanged": (_option("--unchanged", words="Release the column unchanged (it is then not protected)."), []),
    "quasi_identifier": (
        _option("--quasi-identifier", "--qi", words="A quasi-identifier: an attacker may know this column."),
        [],
    ),
    "sensitive": (
        _option("--sensitive", words="A sensitive attribute: its value must not be inferred for a person."),
        [],
    ),
    "unit": (
        _option(
            "--unit",
            words="The column that says to which person or household a row belongs, or both; released as new numbers.",
        ),
        [],
    ),
    "weight": (_option("--weight", words="The survey weight of each row; trees do not test it."), []),
    "category": (_option("--category", words="Read the column as a category, with its text unchanged."), []),
    "missing": (
        _option(
            "--missing",
            words="Texts or numbers that mean a missing value, separated by commas; in text they replace ?, NA, NaN.",
            metavar="COL=TOKENS",
        ),
        [],
    ),
    "encoding": (
        Annotated[str, typer.Option("--encoding", help="Encoding of a text file.", rich_help_panel="Columns")],
        "utf-8",
    ),
    "delimiter": (
        Annotated[
            str | None,
            typer.Option(
                "--delimiter",
                help="Delimiter of a .csv or .tsv file; by default inferred from its header.",
                rich_help_panel="Columns",
            ),
        ],
        None,
    ),
    "decimal": (
        _option(
            "--decimal",
            words="Decimal separator of a .csv or .tsv file, or of a column; by default found, with a warning.",
            metavar="[COL=]MARK",
        ),
        [],
    ),
    "thousands": (
        _option(
            "--thousands",
            words="Separator between thousands of such a file, such as a space, or of a column; by default found.",
            metavar="[COL=]MARK",
        ),
        [],
    ),
    "sheet": (
        Annotated[
            str | None,
            typer.Option(
                "--sheet", metavar="SHEET", help="Name or number of the sheet of a workbook.", rich_help_panel="Columns"
            ),
        ],
        None,
    ),
    "query": (
        Annotated[
            str | None,
            typer.Option(
                "--query", metavar="SQL", help="A query of a database instead of a table.", rich_help_panel="Columns"
            ),
        ],
        None,
    ),
}


@dataclass(frozen=True)
class Reading:
    """The reading options of a table."""

    drop: tuple[str, ...] = ()
    unchanged: tuple[str, ...] = ()
    quasi_identifier: tuple[str, ...] = ()
    sensitive: tuple[str, ...] = ()
    unit: tuple[str, ...] = ()
    weight: tuple[str, ...] = ()
    category: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    encoding: str = "utf-8"
    delimiter: str | None = None
    decimal: tuple[str, ...] = ()
    thousands: tuple[str, ...] = ()
    sheet: str | None = None
    query: str | None = None

    def read(self, path: "Place", *, target: str | None = None) -> "Table":
        """Read the table with its roles."""
        from leafcover.table.io import read

        used = [*self.roles(target), *self.category, *self.missing_tokens()]
        if both := [name for name in used if name in self.drop]:
            raise PlanError(f"Column {both[0]!r} is dropped by --drop and named by another option. Remove one of them.")
        return read(path, **self.arguments(), query=self.query, drop=self.drop, roles=self.roles(target))

    def options(self) -> list[str]:
        """The options as command-line arguments, without those at their defaults."""
        found: list[str] = []
        for one in fields(self):
            given, option = getattr(self, one.name), f"--{one.name.replace('_', '-')}"
            if given != one.default:
                values = given if isinstance(given, tuple) else (given,)
                found += [part for value in values for part in (option, value)]
        return found

    def arguments(self) -> dict[str, Any]:
        """The options for reading text, the same for the original and its release."""
        return {
            "missing": self.missing_tokens(),
            "category": list(self.category),
            "encoding": self.encoding,
            "delimiter": self.delimiter,
            "decimal": separators("--decimal", self.decimal),
            "thousands": separators("--thousands", self.thousands),
            "sheet": self.sheet,
        }

    def like(self, table: "Table", path: "Place") -> "Reading":
        """The same options for a second table, with the separators found in the first; a sheet only for a workbook."""
        from leafcover.table.io import is_workbook

        found = self.with_separators(table.reading.decimal, table.reading.thousands)
        return replace(found, query=None, sheet=self.sheet if is_workbook(path) else None)

    def with_separators(self, decimal: Any, thousands: Any) -> "Reading":
        """These options, with separators where none are given."""
        return replace(
            self, decimal=self.decimal or _each_column(decimal), thousands=self.thousands or _each_column(thousands)
        )

    def roles(self, target: str | None) -> dict[str, Any]:
        """The role of each column; more than one is an error."""
        found: dict[str, Any] = {}
        for role in ("unchanged", "quasi-identifier", "sensitive", "unit", "weight"):
            for name in getattr(self, role.replace("-", "_")):
                if name in found:
                    raise ValueOutOfRange(f"Column {name!r}", f"{found[name]} and {role}", "given one role")
                found[name] = role
        if target is not None and found.get(target) in ("unit", "weight"):
            raise ValueOutOfRange(f"Column {target!r}", f"target and {found[target]}", "given one role")
        if target is not None and found.get(target) not in ("unchanged", "sensitive", "quasi-identifier"):
            found[target] = "target"
        return found

    def missing_tokens(self) -> dict[str, list[str]]:
        """The missing-value texts of each column."""
        found = {}
        for one in self.missing:
            name, sign, tokens = one.partition("=")
            if not sign:
                raise ValueOutOfRange("--missing", one, "COLUMN=TOKENS, such as --missing country=-,unknown")
            found[name] = [token for token in tokens.split(",") if token]
        return found


def separators(option: str, given: tuple[str, ...]) -> str | dict[str, str] | None:
    """What an option says for all columns, or for each.

    >>> separators("--decimal", (",",)), separators("--decimal", ("pay=,", "rate=."))
    (',', {'pay': ',', 'rate': '.'})
    """
    if len(given) == 1 and "=" not in given[0]:
        return given[0]
    if any("=" not in one for one in given):
        raise ValueOutOfRange(option, " ".join(given), "one separator for all columns, or COLUMN=SEPARATOR for each")
    return dict(one.rpartition("=")[::2] for one in given) or None


def _each_column(given: str | Mapping[str, str] | None) -> tuple[str, ...]:
    """The inverse of `_for_columns`."""
    if given is None or isinstance(given, str):
        return () if given is None else (given,)
    return tuple(f"{name}={mark}" for name, mark in given.items())


def with_reading(command: Callable[..., None]) -> Callable[..., None]:
    """Add the reading options to a command, which receives them as one argument ``reading``."""
    own = inspect.signature(command)

    def run(**given: Any) -> None:
        taken = {name: given.pop(name) for name in OPTIONS}
        frozen: dict[str, Any] = {n: tuple(v) if isinstance(v, list) else v for n, v in taken.items()}
        command(**given, reading=Reading(**frozen))

    parameters = [p for p in own.parameters.values() if p.name != "reading"]
    parameters += [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, annotation=kind, default=default)
        for name, (kind, default) in OPTIONS.items()
    ]
    run.__name__, run.__doc__ = command.__name__, command.__doc__
    run.__signature__ = own.replace(parameters=parameters)  # type: ignore[attr-defined]  # read by typer
    run.__annotations__ = {p.name: p.annotation for p in parameters}
    return run


def refuse_unknown(table: "Table", reading: Reading, *names: str | None) -> None:
    """Raise an error, with a similar name, if a role or target names no column."""
    given = (*reading.unchanged, *reading.quasi_identifier, *reading.sensitive, *reading.unit, *reading.weight)
    for name in (*given, *(n for n in names if n is not None)):
        if name not in table.names:
            raise NameUnknown("column", name, table.names)


# The options for the opening of a report.

Title = Annotated[
    str | None, typer.Option("--title", metavar="TEXT", help="The table's name in the report. [the file's name]")
]
Date = Annotated[str | None, typer.Option("--date", metavar="TEXT", help="A date to print in the report. [no date]")]
